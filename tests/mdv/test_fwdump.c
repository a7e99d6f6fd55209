/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Register dumps of an emulated card: the states of mlx5io(4), the card's registers, stale locks and locks in
  * use, failures of each access. Port 0 has a gateway, port 1 is a virtual function.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mdv_fwdump_int.h>

#include "test_fwdump.h"

const struct rte_pci_addr pf = { 0, 0xc1, 0, 0 };
static const struct rte_pci_addr vf = { 0, 0xc1, 0, 1 };
struct mdv_fwdump_reg regs[MAX_REGS], other[MAX_REGS];
char folder[64];

/* ---- state of the card, read without the code under test ---- */

int
config_open(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/config", pf.domain,
		 pf.bus, pf.devid, pf.function);
	return open(path, O_RDWR | O_CLOEXEC);
}

uint32_t
config_get(uint32_t off)
{
	int fd = config_open();
	uint32_t v = 0;

	CHECK_EQ(pread(fd, &v, sizeof(v), off), sizeof(v));
	close(fd);
	return v;
}

void
config_set(uint32_t off, uint32_t v)
{
	int fd = config_open();

	CHECK_EQ(pwrite(fd, &v, sizeof(v), off), sizeof(v));
	close(fd);
}

/* The semaphore of firmware resets: in a space of its own. */
static void
sw_reset_set(uint32_t v)
{
	config_set(VSC(CONTROL), EMU_VSC_SPACE_SEMAPHORES);
	config_set(VSC(DATA), v);
	config_set(VSC(ADDRESS), EMU_VSC_FLAG | EMU_VSC_SW_RESET);
}

static uint32_t
sw_reset_get(void)
{
	config_set(VSC(CONTROL), EMU_VSC_SPACE_SEMAPHORES);
	config_set(VSC(ADDRESS), EMU_VSC_SW_RESET);
	return config_get(VSC(DATA));
}

static void
locks_clear(void)
{
	sw_reset_set(0);
	config_set(VSC(SEMAPHORE), 0);
}

struct mdv_fwdump *
opened(const struct rte_pci_addr *pci, unsigned int access)
{
	struct mdv_fwdump *h;

	CHECK_EQ(mdv_fwdump_open(pci, access, &h), 0);
	return h;
}

uint64_t
ms_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/* ---- the states ---- */

static void
test_open(void)
{
	const struct rte_pci_addr absent = { 0, 0xfe, 0x1f, 7 };
	struct mdv_fwdump *h;

	CHECK_EQ(mdv_fwdump_open(&absent, BOTH, &h), -ENOENT);
	CHECK(h == NULL && rte_errno == ENOENT);
	CHECK_EQ(mdv_fwdump_open(&pf, 0, &h), -EINVAL);
	CHECK_EQ(mdv_fwdump_open(&pf, 4, &h), -EINVAL);
	mdv_fwdump_close(NULL);
}

/* A function of another vendor: a fault rule changes the vendor ID. */
static void
test_open_others(void)
{
	struct mdv_fwdump *h;

	CHECK_EQ(mdv_fwdump_open(&pf, BOTH, &h), -EINVAL);
}

static void
test_states(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	struct mdv_fwdump_info info;
	size_t n = 99, count;

	log_begin();
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	CHECK_EQ(n, 0);
	CHECK_EQ(mdv_fwdump_info(h, &info), -ENOENT);
	CHECK_EQ(mdv_fwdump_reset(h), -ENOENT);
	CHECK_EQ(mdv_fwdump_get(h, NULL, 0, &count), 0);
	CHECK(count > 900);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_take(h), -EEXIST);
	CHECK_EQ(rte_errno, EEXIST);
	CHECK_EQ(mdv_fwdump_get(h, NULL, 0, &n), 0);
	CHECK_EQ(n, count);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), 0);
	CHECK_EQ(n, count);
	memset(other, 0xee, sizeof(other));
	CHECK_EQ(mdv_fwdump_get(h, other, 7, &n), 0);
	CHECK_EQ(n, 7);
	CHECK(memcmp(other, regs, 7 * sizeof(regs[0])) == 0 && other[7].addr == 0xeeeeeeee);
	CHECK_EQ(mdv_fwdump_get(h, other, 0, &n), 0);
	CHECK_EQ(n, 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, NULL), -EINVAL);
	CHECK_EQ(mdv_fwdump_info(h, &info), 0);
	CHECK_EQ(info.count, count);
	CHECK_EQ(info.unreadable, 0);
	CHECK_EQ(info.route, MDV_FWDUMP_VSC);
	CHECK_EQ(info.pid, getpid());
	/* The dump outlives the handle. */
	mdv_fwdump_close(h);
	h = opened(&pf, BOTH);
	CHECK_EQ(mdv_fwdump_take(h), -EEXIST);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), -ENOENT);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	CHECK_EQ(lines_of(log_end()), 0);
	mdv_fwdump_close(h);
}

static void
test_modes(void)
{
	struct mdv_fwdump *r = opened(&pf, MDV_FWDUMP_READ), *w = opened(&pf, MDV_FWDUMP_WRITE);
	size_t n;

	CHECK_EQ(mdv_fwdump_take(r), -EBADF);
	CHECK_EQ(mdv_fwdump_reset(r), -EBADF);
	CHECK_EQ(mdv_fwdump_get_current(r, regs, MAX_REGS, &n, NULL), -EBADF);
	CHECK_EQ(mdv_fwdump_get(w, regs, MAX_REGS, &n), -EBADF);
	CHECK_EQ(mdv_fwdump_get(w, NULL, 0, &n), -EBADF);
	CHECK_EQ(rte_errno, EBADF);
	CHECK_EQ(mdv_fwdump_take(w), 0);
	CHECK_EQ(mdv_fwdump_get(r, regs, MAX_REGS, &n), 0);
	CHECK_EQ(mdv_fwdump_reset(w), 0);
	mdv_fwdump_close(r);
	mdv_fwdump_close(w);
}

/* The dump equals the register space: each register once, in ascending order. */
static void
test_equals(void)
{
	static struct emu_machine m;
	struct mdv_fwdump *h = opened(&pf, BOTH);
	struct mdv_fwdump_info info;
	size_t n = 0;

	REQUIRE(emu_machine_init(&m, 2, emu_profile_default()) == 0);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), 0);
	CHECK_EQ(n, emu_cr_count(&m.dev[0]));
	for (uint32_t i = 0; i < n; i++) {
		CHECK_EQ(regs[i].addr, emu_cr_address(&m.dev[0], i));
		CHECK_EQ(regs[i].val, emu_cr_initial(&m.dev[0], i));
	}
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	emu_machine_fini(&m);
	/* The current registers are equal; reading them keeps no dump. */
	memset(other, 0, sizeof(other));
	CHECK_EQ(mdv_fwdump_get_current(h, other, MAX_REGS, &n, &info), 0);
	CHECK_EQ(info.count, n);
	CHECK(memcmp(other, regs, n * sizeof(regs[0])) == 0);
	CHECK_EQ(mdv_fwdump_get_current(h, NULL, 0, &n, NULL), 0);
	CHECK_EQ(n, info.count);
	CHECK_EQ(mdv_fwdump_get_current(h, other, 3, &n, NULL), 0);
	CHECK_EQ(n, 3);
	CHECK_EQ(mdv_fwdump_info(h, &info), -ENOENT);
	mdv_fwdump_close(h);
}

/* Two dumps, before and after a change, differ in that register only. */
static void
test_change(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	unsigned int differ = 0;
	size_t n = 0, k = 0;

	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	config_set(VSC(CONTROL), EMU_VSC_SPACE_CR);
	config_set(VSC(DATA), 0x12345678);
	config_set(VSC(ADDRESS), EMU_VSC_FLAG | 0x100010);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_get(h, other, MAX_REGS, &n), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(regs[i].addr, other[i].addr);
		if (regs[i].val != other[i].val) {
			differ++;
			k = i;
		}
	}
	CHECK_EQ(differ, 1);
	CHECK_EQ(other[k].addr, 0x100010);
	CHECK_EQ(other[k].val, 0x12345678);
	mdv_fwdump_close(h);
}

static void
test_virtual_function(void)
{
	struct mdv_fwdump *h = opened(&vf, BOTH);
	const char *log;
	size_t n = 9;

	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EIO);
	log = log_end();
	CHECK_EQ(lines_of(log), 1);
	CHECK_EQ(lines_with(log, "no register gateway (a virtual function?)"), 1);
	CHECK_EQ(lines_with(log, "devlink: "), 1);
	log_begin();
	CHECK_EQ(mdv_fwdump_get(h, NULL, 0, &n), -EIO);
	CHECK_EQ(n, 0);
	CHECK_EQ(mdv_fwdump_get_current(h, regs, MAX_REGS, &n, NULL), -EIO);
	CHECK_EQ(lines_of(log_end()), 2);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	mdv_fwdump_close(h);
}

/* The log states by name why configuration space cannot be opened. */
static void
test_config_open_fails(void)
{
	static const struct {
		int err;
		const char *what;
	} rows[] = {
		{ EROFS, "opened for writing (read-only /sys" }, { EMFILE, "(EMFILE)" }, { ENFILE, "(ENFILE)" },
		{ EACCES, "needs root" }, { EPERM, "not permitted" },
	};
	struct mdv_fwdump *h = opened(&pf, BOTH);

	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		log_begin();
		host.open_err = rows[i].err;
		CHECK_EQ(mdv_fwdump_take(h), -EIO);
		host.open_err = 0;
		CHECK_EQ(lines_with(log_end(), rows[i].what), 1);
	}
	mdv_fwdump_close(h);
}

/* ---- locks ---- */

pid_t
child_begin(void)
{
	fflush(NULL);
	return fork();
}

int
child_end(pid_t pid)
{
	int status = 0;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* Killed between lock and unlock: the ticket stays; with force a process clears it and logs one line. */
static void
test_killed(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	struct mdv_vsc vsc;
	const char *log;
	uint64_t begin;
	bool config;
	pid_t pid = child_begin();
	size_t n;

	if (pid == 0) {
		if (mdv_vsc_open(&pf, &vsc, &config) == 0 && mdv_vsc_lock(&vsc) == 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	CHECK(WIFSIGNALED(child_end(pid)));
	CHECK(config_get(VSC(SEMAPHORE)) != 0);
	/* The holder may be suspended only: its lock is cleared on request. */
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	log = log_end();
	CHECK_EQ(lines_of(log), 1);
	CHECK_EQ(lines_with(log, "its holder does nothing: if no program uses the gateway, clear the lock by"), 1);
	CHECK(config_get(VSC(SEMAPHORE)) != 0);
	mdv_fwdump_close(h);
	h = opened(&pf, BOTH | MDV_FWDUMP_FORCE);
	log_begin();
	begin = ms_now();
	CHECK_EQ(mdv_fwdump_take(h), 0);
	log = log_end();
	/* Not before the holder had its time: a millisecond per try. */
	CHECK(ms_now() - begin >= MDV_VSC_TRIES);
	CHECK_EQ(lines_of(log), 1);
	CHECK_EQ(lines_with(log, "the lock of the register gateway was stale: ticket 0x"), 1);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), 0);
	CHECK(n > 900);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	CHECK_EQ(lines_of(log_end()), 0);
	mdv_fwdump_close(h);
}

/* A reset of the firmware, or the dump of another function, is under way: nothing is read, nothing is cleared. */
static void
test_sw_reset(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	const char *log;

	sw_reset_set(0x1234);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	log = log_end();
	CHECK_EQ(lines_of(log), 1);
	CHECK_EQ(lines_with(log, "another function of the card takes a dump or resets the firmware"), 1);
	CHECK_EQ(sw_reset_get(), 0x1234);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), 0);
	sw_reset_set(0);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(sw_reset_get(), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* During a dump others get the lock: it is released again and again, and nothing is held meanwhile. */
static void
test_turns(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);

	accesses.released = 0;
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK(accesses.released >= 4);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* The lock of another program that uses the gateway is not cleared. */
static void
test_foreign_holder(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	uint32_t ticket = config_get(VSC(COUNTER));
	const char *log;
	pid_t pid;

	config_set(VSC(SEMAPHORE), ticket);
	pid = child_begin();
	if (pid == 0) {
		for (uint32_t addr = 0;; addr += 4) {
			config_set(VSC(ADDRESS), addr & 0xffff);
			pass_us(20000); /* The rate at which another program uses the gateway. */
		}
	}
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	log = log_end();
	CHECK_EQ(lines_of(log), 1);
	CHECK_EQ(lines_with(log, "the gateway's lock is held by another process"), 1);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), ticket);
	kill(pid, SIGKILL);
	child_end(pid);
	config_set(VSC(SEMAPHORE), 0);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* The flag never changes; afterwards nothing is locked or kept, and no process is busy. */
static void
test_flag(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	const char *log;

	accesses.swallow = true;
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ETIMEDOUT);
	log = log_end();
	accesses.swallow = false;
	CHECK_EQ(lines_with(log, "its flag never changes"), 1);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), 0);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* The k-th access fails, for each k around the lock and many values between. */
static void
test_failures(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	unsigned int failed = 0, left = 0;
	const char *log;
	size_t all, n;
	long total;

	accesses.count = accesses.fail_at = 0;
	CHECK_EQ(mdv_fwdump_get_current(h, regs, MAX_REGS, &all, NULL), 0);
	total = accesses.count;
	/* Far more on cards with more registers. */
	CHECK(total > 500);
	for (long k = 1; k <= total; k += k < 40 || k > total - 12 ? 1 : RTE_MIN(total - 11 - k, 499)) {
		int ret;

		log_begin();
		accesses.count = 0;
		accesses.fail_at = k;
		ret = mdv_fwdump_take(h);
		accesses.fail_at = 0;
		failed += ret != 0;
		log = log_end();
		CHECK(ret == 0 || ret == -EIO);
		CHECK_EQ(lines_with(log, "gateway: Input/output error; devlink"), ret != 0);
		/* Only a failing release may leave a lock taken, and it is logged. */
		if (config_get(VSC(SEMAPHORE)) != 0 || sw_reset_get() != 0) {
			left++;
			CHECK_EQ(lines_with(log, "cannot release the "), 1);
			locks_clear();
		}
		/* A failed dump is not kept, and the next one is not refused as busy. */
		CHECK_EQ(mdv_fwdump_get(h, other, MAX_REGS, &n), ret == 0 ? 0 : -ENOENT);
		CHECK_EQ(mdv_fwdump_reset(h), ret == 0 ? 0 : -ENOENT);
	}
	CHECK(failed > 40);
	CHECK(left >= 2);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_get(h, other, MAX_REGS, &n), 0);
	CHECK(n == all && memcmp(other, regs, n * sizeof(regs[0])) == 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* The card is removed at the k-th access: no dump is kept, and the log states that the device does not answer. */
static void
test_card_removed(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	const char *log;
	long total;
	size_t n;

	accesses.count = 0;
	CHECK_EQ(mdv_fwdump_get_current(h, regs, MAX_REGS, &n, NULL), 0);
	total = accesses.count;
	/* The last eight accesses release the locks. */
	for (long k = 1; k <= total - 8; k += k < 40 || k > total - 12 ? 1 : RTE_MIN(total - 11 - k, 499)) {
		log_begin();
		accesses.count = 0;
		accesses.removed_at = k;
		CHECK_EQ(mdv_fwdump_take(h), -EIO);
		accesses.removed_at = 0;
		log = log_end();
		CHECK_EQ(lines_of(log), 1);
		CHECK_EQ(lines_with(log, "the device does not answer"), 1);
		CHECK_EQ(mdv_fwdump_get(h, other, MAX_REGS, &n), -ENOENT);
		locks_clear();
	}
	mdv_fwdump_close(h);
}

/* ---- cases ---- */

static void
rule_none(void)
{
	static void (*const tests[])(void) = {
		test_open, test_states, test_modes, test_equals, test_change, test_virtual_function, test_flag,
		test_config_open_fails, test_failures, test_card_removed, test_concurrent,
		test_store, test_store_damaged, test_store_folder, test_store_host,
		test_capabilities, test_gateway, test_gateway_waits, test_gateway_lost,
		test_devlink, test_devlink_exchange,
	};

	for (size_t i = 0; i < RTE_DIM(tests); i++)
		tests[i]();
}

static void
rule_locks(void)
{
	test_killed();
	test_sw_reset();
	test_turns();
	test_foreign_holder();
	test_cancelled();
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "states", rule_none }, { "locks", rule_locks }, { "lockdown", rule_lockdown },
	{ "stuck", rule_stuck }, { "flag", rule_flag }, { "nothing", rule_nothing },
	{ "others", test_open_others },
};

int
main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	unsigned int done = 0;

	snprintf(folder, sizeof(folder), "%.40s/fwdump.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(folder) == NULL)
		return 2;
	setenv("MLXPMD_FWDUMP_DIR", folder, 1);
	for (size_t i = 0; argc > 1 && i < RTE_DIM(cases); i++) {
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
			done++;
		}
	}
	/* The directory must be empty: rmdir() succeeds. */
	CHECK_EQ(rmdir(folder), 0);
	CHECK_EQ(done, 1);
	return check_exit("fwdump");
}
