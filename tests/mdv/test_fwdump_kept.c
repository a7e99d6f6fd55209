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
