/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dumps: concurrent users, the file that keeps a dump, cancellation, and parsing of devlink's reply. */

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_fwdump.h"

/* ---- concurrent users ---- */

#define THREADS 4
#define ROUNDS 6

/** Results of all tries, in memory shared with the child processes. */
struct tally {
	unsigned int taken, kept, bad; /* kept: there was a dump already, -EEXIST. */
};

/* Takes, reads and deletes: only one at a time succeeds, and a reader finds a complete dump or none. */
static void
user_run(struct tally *tally)
{
	struct mdv_fwdump_reg *dump = malloc(MAX_REGS * sizeof(*dump));
	struct mdv_fwdump *h = opened(&pf, BOTH);
	size_t n;

	for (int i = 0; i < ROUNDS; i++) {
		int ret = mdv_fwdump_take(h), got = mdv_fwdump_get(h, dump, MAX_REGS, &n);

		__atomic_add_fetch(ret == 0 ? &tally->taken : ret == -EEXIST ? &tally->kept : &tally->bad,
				   1, __ATOMIC_RELAXED);
		if ((got != 0 && got != -ENOENT) ||
		    (got == 0 && (n < 900 || memcmp(dump, regs, n * sizeof(*dump)) != 0)))
			__atomic_add_fetch(&tally->bad, 1, __ATOMIC_RELAXED);
		if (ret == 0 && mdv_fwdump_reset(h) != 0)
			__atomic_add_fetch(&tally->bad, 1, __ATOMIC_RELAXED);
	}
	mdv_fwdump_close(h);
	free(dump);
}

static void *
user_thread(void *tally)
{
	user_run(tally);
	return NULL;
}

void
test_concurrent(void)
{
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct mdv_fwdump *h = opened(&pf, BOTH);
	pthread_t thread[THREADS];
	pid_t pid;
	size_t n;

	REQUIRE(tally != MAP_FAILED);
	CHECK_EQ(mdv_fwdump_get_current(h, regs, MAX_REGS, &n, NULL), 0);
	log_begin();
	pid = child_begin();
	if (pid == 0) {
		user_run(tally);
		_exit(0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, user_thread, tally), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(child_end(pid), 0);
	CHECK_EQ(lines_of(log_end()), 0);
	CHECK_EQ(tally->bad, 0);
	CHECK_EQ(tally->taken + tally->kept, (THREADS + 1) * ROUNDS);
	CHECK(tally->taken > 0);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	mdv_fwdump_close(h);
	munmap(tally, sizeof(*tally));
}

/* ---- the file ---- */

/* A process killed while it wrote; a damaged file; a folder that others may write to. */
void
test_store(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	struct mdv_fwdump_info info;
	char path[256];
	size_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.new", folder, h->name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK_EQ(write(fd, "half a dump", 11), 11);
	close(fd);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK(access(path, F_OK) != 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), 0);
	snprintf(path, sizeof(path), "%s/%s", folder, h->name);
	CHECK_EQ(truncate(path, 100), 0);
	log_begin();
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -EIO);
	CHECK_EQ(n, 0);
	CHECK_EQ(mdv_fwdump_info(h, &info), -EIO);
	CHECK_EQ(lines_with(log_end(), "damaged"), 2);
	CHECK_EQ(mdv_fwdump_take(h), -EEXIST);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	CHECK_EQ(chmod(folder, 0777), 0);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EACCES);
	CHECK_EQ(lines_with(log_end(), "others may write there"), 1);
	CHECK_EQ(chmod(folder, 0700), 0);
	setenv("MLXPMD_FWDUMP_DIR", "/no/such/folder", 1);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ENOTDIR);
	CHECK_EQ(lines_with(log_end(), "cannot be kept in /no/such/folder"), 1);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	setenv("MLXPMD_FWDUMP_DIR", folder, 1);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* The contents of the file are not trusted: each field of the header, and the size. */
void
test_store_damaged(void)
{
	static const struct {
		off_t at; /* in the header, or from the end of the file */
		uint64_t value;
		size_t bytes;
		int ret;
	} rows[] = {
		{ 0, 0, 8, -EIO }, /* magic */
		{ 16, MDV_FWDUMP_ROUTES, 4, -EIO }, { 16, MDV_FWDUMP_ROUTES - 1, 4, 0 },
		{ 20, 1, 4, -EIO }, { 20, UINT32_MAX, 4, -EIO }, /* count */
		{ -1, 0, 0, -EIO }, { -1, 0, 9, -EIO }, /* a byte less, 8 bytes more */
	};
	struct mdv_fwdump *h = opened(&pf, BOTH);
	struct mdv_fwdump_info info;
	char path[256];
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, h->name);
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		struct stat st;
		int fd;

		CHECK_EQ(mdv_fwdump_take(h), 0);
		fd = open(path, O_RDWR | O_CLOEXEC);
		CHECK_EQ(fstat(fd, &st), 0);
		CHECK_EQ(st.st_mode & 0777, 0600);
		if (rows[i].at < 0)
			CHECK_EQ(ftruncate(fd, st.st_size - 1 + (off_t)rows[i].bytes), 0);
		else
			CHECK_EQ(pwrite(fd, &rows[i].value, rows[i].bytes, rows[i].at), rows[i].bytes);
		close(fd);
		log_begin();
		memset(&info, 0xee, sizeof(info));
		CHECK_EQ(mdv_fwdump_info(h, &info), rows[i].ret);
		CHECK_EQ(info.count != 0 && info.pid == (uint32_t)getpid(), rows[i].ret == 0);
		n = 1;
		CHECK_EQ(mdv_fwdump_get(h, NULL, 0, &n), rows[i].ret);
		CHECK_EQ(n != 0, rows[i].ret == 0);
		CHECK_EQ(lines_with(log_end(), "damaged"), rows[i].ret == 0 ? 0 : 2);
		CHECK_EQ(mdv_fwdump_reset(h), 0);
	}
	/* Neither a symbolic link nor a folder is a dump. */
	CHECK_EQ(symlink("/dev/zero", path), 0);
	log_begin();
	CHECK_EQ(mdv_fwdump_info(h, &info), -EIO);
	CHECK_EQ(lines_with(log_end(), "the dump that is kept cannot be read: "), 1);
	CHECK_EQ(mdv_fwdump_take(h), -EEXIST);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	CHECK_EQ(mkdir(path, 0700), 0);
	log_begin();
	CHECK_EQ(mdv_fwdump_info(h, &info), -EIO);
	CHECK_EQ(mdv_fwdump_reset(h), -EISDIR);
	CHECK_EQ(lines_with(log_end(), "the dump cannot be dropped: "), 1);
	CHECK_EQ(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/%s.new", folder, h->name);
	CHECK_EQ(symlink("/dev/zero", path), 0);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ELOOP);
	CHECK_EQ(lines_with(log_end(), "a dump cannot be begun: "), 1);
	CHECK_EQ(unlink(path), 0);
	mdv_fwdump_close(h);
}

/* A user without privileges: the folder by the environment, or in /tmp; it is made, and refused if it is another's. */
static void
folder_of_user(struct mdv_fwdump *h)
{
	const uid_t user = 2000000 + getpid(); /* a folder of /tmp that no other test uses */
	const unsigned int before = check_failures;
	char path[64];
	struct stat st;
	size_t n;

	if (seteuid(user) != 0)
		return;
	unsetenv("MLXPMD_FWDUMP_DIR");
	setenv("XDG_RUNTIME_DIR", "/no/such", 1);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ENOTDIR);
	CHECK_EQ(lines_with(log_end(), "a dump cannot be kept in /no/such/mlxpmd: "), 1);
	snprintf(path, sizeof(path), "/tmp/mlxpmd-%u", user);
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			setenv("XDG_RUNTIME_DIR", "no/such", 1);
		else
			unsetenv("XDG_RUNTIME_DIR");
		log_begin();
		CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
		CHECK_EQ(lines_of(log_end()), 0);
		log_begin();
		CHECK(mdv_fwdump_take(h) != 0);
		CHECK_EQ(lines_with(log_end(), "no way to the registers"), 1);
		CHECK_EQ(stat(path, &st), 0);
		CHECK_EQ(st.st_mode & 0777, 0700);
		CHECK_EQ(rmdir(path), 0);
	}
	setenv("MLXPMD_FWDUMP_DIR", "", 1);
	CHECK_EQ(mkdir(path, 0700), 0);
	CHECK_EQ(seteuid(getuid()), 0);
	CHECK_EQ(chown(path, user + 1, -1), 0);
	CHECK_EQ(seteuid(user), 0);
	log_begin();
	CHECK(mdv_fwdump_take(h) != 0);
	CHECK_EQ(lines_with(log_end(), path), 1);
	CHECK_EQ(seteuid(getuid()), 0);
	CHECK_EQ(rmdir(path), 0);
	_exit(check_failures != before);
}

/* The folder: permissions, owner, length of its name. */
void
test_store_folder(void)
{
	static const mode_t refused[] = { 0720, 0702, 0777 };
	struct mdv_fwdump *h = opened(&pf, BOTH);
	char name[520];
	pid_t pid;

	for (size_t i = 0; i < RTE_DIM(refused); i++) {
		CHECK_EQ(chmod(folder, refused[i]), 0);
		log_begin();
		CHECK_EQ(mdv_fwdump_take(h), -EACCES);
		CHECK_EQ(mdv_fwdump_reset(h), -EACCES);
		CHECK_EQ(lines_with(log_end(), "others may write there"), 2);
	}
	CHECK_EQ(chmod(folder, 0755), 0);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	/* The longest name, of a folder that does not exist, and a byte more. */
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = "/a"[i % 2];
	name[511] = '\0';
	setenv("MLXPMD_FWDUMP_DIR", name, 1);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ENOTDIR);
	name[511] = 'a';
	name[512] = '\0';
	setenv("MLXPMD_FWDUMP_DIR", name, 1);
	CHECK_EQ(mdv_fwdump_take(h), -ENAMETOOLONG);
	CHECK_EQ(lines_with(log_end(), "a dump cannot be kept in "), 2);
	pid = child_begin();
	if (pid == 0) {
		folder_of_user(h);
		_exit(0);
	}
	CHECK_EQ(child_end(pid), 0);
	setenv("MLXPMD_FWDUMP_DIR", folder, 1);
	mdv_fwdump_close(h);
}

/* Another process ended its dump between open(2) and flock(2). */
static void
replace_new(void)
{
	char path[256], name[300];
	struct mdv_fwdump *h = opened(&pf, BOTH);
	int fd;

	snprintf(path, sizeof(path), "%s/%s.new", folder, h->name);
	snprintf(name, sizeof(name), "%s.other", path);
	fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	CHECK_EQ(rename(name, path), 0);
	mdv_fwdump_close(h);
}

/* Calls are interrupted, do a part of their work, or fail. */
void
test_store_host(void)
{
	static const struct {
		int err[3], write, ret;
		const char *what;
	} rows[] = {
		{ { EINTR, 0, EINTR }, 0, 0, NULL },
		{ { ENOLCK }, 0, -ENOLCK, "a dump cannot be begun: " },
		{ { 0, ENOLCK }, 0, -ENOLCK, "no way to the registers" },
		{ { 0 }, ENOSPC, -ENOSPC, "the dump cannot be kept: No space left" },
		{ { 0 }, EIO, -EIO, "the dump cannot be kept: " },
		{ { 0 }, -1, -ENOSPC, "the dump cannot be kept: No space left" },
	};
	struct mdv_fwdump *h = opened(&pf, BOTH);
	const char *log;
	size_t all, n;

	CHECK_EQ(mdv_fwdump_get_current(h, regs, MAX_REGS, &all, NULL), 0);
	host.parts = true;
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_get(h, other, MAX_REGS, &n), 0);
	host.parts = false;
	CHECK(n == all && memcmp(other, regs, n * sizeof(regs[0])) == 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	host.flock_begun = replace_new;
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_get(h, other, MAX_REGS, &n), 0);
	CHECK_EQ(n, all);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		memcpy(host.flock_err, rows[i].err, sizeof(host.flock_err));
		host.write_err = rows[i].write;
		log_begin();
		CHECK_EQ(mdv_fwdump_take(h), rows[i].ret);
		log = log_end();
		CHECK_EQ(lines_of(log), rows[i].what != NULL);
		CHECK(rows[i].what == NULL || lines_with(log, rows[i].what) == 1);
		host.write_err = 0;
		CHECK_EQ(mdv_fwdump_reset(h), rows[i].ret == 0 ? 0 : -ENOENT);
	}
	mdv_fwdump_close(h);
}

/* ---- cancellation ---- */

static unsigned int stop_after;

static bool
stop_soon(const void *arg)
{
	unsigned int *left = *(unsigned int *const *)arg;

	return *left == 0 || --*left == 0;
}

/* A dump can be cancelled in each wait, and while it reads registers. */
void
test_cancelled(void)
{
	static const unsigned int after[] = { 1, 2, 100, 1500 };
	unsigned int *const left = &stop_after;
	struct mdv_fwdump *h = opened(&pf, BOTH);
	uint64_t begin = ms_now();
	char path[256];
	size_t n;
	int fd;

	mdv_fwdump_stop_by(h, stop_soon, &left);
	/* The ticket of a dead process; without cancellation clearing it takes two seconds. */
	for (size_t i = 0; i < 2 * RTE_DIM(after); i++) {
		config_set(VSC(SEMAPHORE), i < RTE_DIM(after) ? 0 : 0x55);
		stop_after = RTE_MIN(after[i % RTE_DIM(after)], i < RTE_DIM(after) ? 1500u : 100u);
		log_begin();
		CHECK_EQ(mdv_fwdump_take(h), -ECANCELED);
		CHECK_EQ(lines_with(log_end(), "the wait was canceled"), 1);
		CHECK_EQ(config_get(VSC(SEMAPHORE)), i < RTE_DIM(after) ? 0 : 0x55);
		CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	}
	config_set(VSC(SEMAPHORE), 0);
	/* Another process takes a dump and does not finish. */
	snprintf(path, sizeof(path), "%s/%s.new", folder, h->name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	stop_after = 2;
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ECANCELED);
	CHECK_EQ(lines_with(log_end(), "is not waited for any longer"), 1);
	close(fd);
	/* Another process of this driver uses the gateway. */
	fd = config_open();
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	stop_after = 2;
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ECANCELED);
	CHECK_EQ(lines_with(log_end(), "the wait was canceled"), 1);
	close(fd);
	/* No wait lasted until its timeout, 60 s or 30 s. */
	CHECK(ms_now() - begin < 20000);
	stop_after = UINT32_MAX;
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* ---- the reply of devlink ---- */

static size_t
attr_put(uint8_t *at, uint16_t type, const void *data, size_t len)
{
	uint16_t head[2] = { (uint16_t)(4 + len), type };

	memcpy(at, head, sizeof(head));
	memcpy(at + 4, data, len);
	return (4 + len + 3) & ~(size_t)3;
}

void
test_devlink(void)
{
	/* Numbers of linux/devlink.h: FMSG, OBJ_NAME, VALUE_TYPE, VALUE_DATA. */
	enum { FMSG = 106, NAME = 111, TYPE = 112, DATA = 113 };
	const uint32_t first[] = { 0x11, 0x22, MDV_FWDUMP_UNREADABLE }, second[] = { 0x44 }, no[] = { 1 };
	struct mdv_fwdump_set set = { 0 };
	struct mdv_fwdump_devlink p = { .set = &set };
	uint8_t inner[256], outer[300];
	size_t n = 0, len;

	n += attr_put(inner + n, NAME, "devlink", 8);
	n += attr_put(inner + n, DATA, no, sizeof(no));
	n += attr_put(inner + n, NAME, "crdump_data", 12);
	n += attr_put(inner + n, TYPE, "\x0b", 1);
	n += attr_put(inner + n, DATA, first, sizeof(first));
	len = attr_put(outer, FMSG | 0x8000, inner, n);
	CHECK_EQ(mdv_fwdump_devlink_parse(&p, outer, len), 0);
	/* A register continues in the next message, and ends with another name. */
	n = attr_put(inner, DATA, second, sizeof(second));
	n += attr_put(inner + n, NAME, "more", 5);
	n += attr_put(inner + n, DATA, no, sizeof(no));
	len = attr_put(outer, FMSG | 0x8000, inner, n);
	CHECK_EQ(mdv_fwdump_devlink_parse(&p, outer, len), 0);
	CHECK_EQ(set.count, 3);
	CHECK(set.count == 3 && set.regs[0].addr == 0 && set.regs[0].val == 0x11 &&
	      set.regs[1].addr == 4 && set.regs[2].addr == 12 && set.regs[2].val == 0x44);
	/* Truncated at any byte, and with any length field. */
	for (size_t cut = 0; cut <= len; cut++)
		CHECK_EQ(mdv_fwdump_devlink_parse(&p, outer, cut), 0);
	for (int value = 0; value < 256; value++) {
		outer[0] = (uint8_t)value;
		CHECK_EQ(mdv_fwdump_devlink_parse(&p, outer, len), 0);
	}
	free(set.regs);
}
