/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dumps: replies of configuration space and of the register gateway, and how long the waits for them last. */

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "test_fwdump.h"

/* Registers of a turn, after which others get the lock; one more read is that of the semaphore of firmware resets. */
#define TURN 512
#define ALWAYS UINT32_MAX

static void
counts_clear(void)
{
	memset(&accesses, 0, sizeof(accesses));
	memset(&host, 0, sizeof(host));
}

/* The first n positions of capabilities have one each; the last one is followed by next. */
static void
chain(uint8_t config[256], unsigned int n, unsigned int next)
{
	memset(config, 0, 256);
	config[0x06] = 0x10;
	config[0x34] = 0x40;
	for (unsigned int i = 0; i < n; i++) {
		config[0x40 + 4 * i] = 0x05;
		config[0x41 + 4 * i] = i + 1 < n ? 0x40 + 4 * (i + 1) : next;
	}
}

/* The list of capabilities: 48 have room; a list without end, and pointers that lead elsewhere. */
void
test_capabilities(void)
{
	uint8_t config[256];
	struct mdv_vsc vsc;
	bool has_config;

	accesses.config = config;
	chain(config, 48, 0);
	config[0xfc] = 0x09;
	CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), 0);
	CHECK_EQ(vsc.cap, 0xfc);
	mdv_vsc_close(&vsc);
	CHECK_EQ(vsc.fd, -1);
	/* The two lowest bits of pointers are reserved. */
	chain(config, 2, 0);
	config[0x34] |= 3;
	config[0x41] |= 3;
	config[0x44] = 0x09;
	CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), 0);
	CHECK_EQ(vsc.cap, 0x44);
	mdv_vsc_close(&vsc);
	config[0x06] = 0xef;
	CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), -ENOENT);
	CHECK(has_config);
	chain(config, 48, 0x40);
	accesses.count = 0;
	CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), -ENOENT);
	CHECK_EQ(accesses.count, 2 + 48);
	for (accesses.fail_at = 1; accesses.fail_at <= 3; accesses.fail_at++) {
		accesses.count = 0;
		CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), -EIO);
	}
	accesses.fail_at = 0;
	chain(config, 2, 0x3c);
	config[0x3c] = 0x09;
	CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), -ENOENT);
	CHECK_EQ(vsc.fd, -1);
	/* Without privileges only 64 bytes can be read. */
	accesses.bytes = 0x40;
	CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), -EACCES);
	accesses.bytes = 0x44;
	CHECK_EQ(mdv_vsc_open(&pf, &vsc, &has_config), -EACCES);
	counts_clear();
}

/* Replies of the gateway. */
void
test_gateway(void)
{
	static const struct {
		uint32_t off, value;
		unsigned int after, left;
		int ret;
		const char *what;
	} rows[] = {
		/* Spaces: there is none; its size is not known, so the walk ends behind the last register. */
		{ VSC(CONTROL), 0, 0, ALWAYS, -EIO, "no scan space, or no semaphores" },
		{ VSC(CONTROL), 1u << 29, 0, ALWAYS, 0, NULL },
		/* The counter of tickets wrapped: 0 is no ticket. */
		{ VSC(COUNTER), 0, 0, 1, 0, NULL },
		{ VSC(SEMAPHORE), 0x77, 0, 3, 0, NULL }, /* It is held at first. */
		/* A register, the semaphore, that has all ones, of a card that is there. */
		{ VSC(SEMAPHORE), UINT32_MAX, 0, 1, 0, NULL }, { VSC(DATA), UINT32_MAX, 3, 1, 0, NULL },
	};
	struct mdv_fwdump *h = opened(&pf, BOTH);
	struct mdv_fwdump_info info;
	const char *log;
	size_t all, n;

	CHECK_EQ(mdv_fwdump_get_current(h, regs, MAX_REGS, &all, NULL), 0);
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		counts_clear();
		accesses.read_as.off = rows[i].off;
		accesses.read_as.value = rows[i].value;
		accesses.read_as.after = rows[i].after;
		accesses.read_as.left = rows[i].left;
		log_begin();
		CHECK_EQ(mdv_fwdump_get_current(h, other, MAX_REGS, &n, &info), rows[i].ret);
		CHECK_EQ(n, rows[i].ret == 0 ? all + (rows[i].off == VSC(CONTROL)) : 0);
		CHECK_EQ(info.count, n);
		CHECK_EQ(info.unreadable, n != 0 && rows[i].off == VSC(CONTROL));
		log = log_end();
		CHECK_EQ(lines_of(log), rows[i].what != NULL);
		CHECK(rows[i].what == NULL || lines_with(log, rows[i].what) == 1);
		CHECK(rows[i].ret != 0 || rows[i].off == VSC(DATA) || memcmp(other, regs, all * sizeof(regs[0])) == 0);
		CHECK_EQ(config_get(VSC(SEMAPHORE)), 0);
	}
	/* The register itself was read as all ones. */
	CHECK_EQ(other[2].val, UINT32_MAX);
	counts_clear();
	mdv_fwdump_close(h);
}

/* How long it is waited for locks and for the flag; and between two turns. */
void
test_gateway_waits(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	char path[256];
	size_t n;
	int fd;

	/* Turns: as many registers as others can wait for, then they have 2 ms. */
	counts_clear();
	host.no_sleep = true;
	CHECK_EQ(mdv_fwdump_get_current(h, regs, MAX_REGS, &n, NULL), 0);
	CHECK_EQ(accesses.data_max, TURN + 1);
	CHECK_EQ(accesses.released, (n + TURN - 1) / TURN);
	CHECK_EQ(host.sleeps, accesses.released - 1);
	CHECK_EQ(host.slept_us, 2000 * host.sleeps);
	/* The semaphore: 2048 reads, 1 to 2 ms apart. */
	counts_clear();
	config_set(VSC(SEMAPHORE), 0x55);
	host.no_sleep = true;
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	CHECK_EQ(lines_with(log_end(), "its holder does nothing"), 1);
	CHECK_EQ(accesses.semaphore, MDV_VSC_TRIES);
	CHECK_EQ(host.sleeps, MDV_VSC_TRIES);
	CHECK(host.sleep_min_ns >= 1000000 && host.sleep_min_ns < 1100000);
	CHECK(host.sleep_max_ns < 2000000 && host.sleep_max_ns > 1900000);
	config_set(VSC(SEMAPHORE), 0);
	/* The flag is always clear: a write ends, two reads do not. 1 ms after each 16 of 2048 polls. */
	counts_clear();
	host.no_sleep = accesses.swallow = true;
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ETIMEDOUT);
	CHECK_EQ(lines_with(log_end(), "its flag never changes"), 1);
	CHECK_EQ(accesses.address, 1 + 2 * MDV_VSC_TRIES);
	CHECK_EQ(host.sleeps, 2 * MDV_VSC_TRIES / 16);
	CHECK_EQ(host.slept_us, 1000 * host.sleeps);
	/* Another process of this driver uses the gateway for 30 s. */
	counts_clear();
	fd = config_open();
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	host.no_sleep = true;
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	CHECK_EQ(lines_with(log_end(), "held by another process"), 1);
	CHECK_EQ(host.slept_us, 30000000);
	CHECK_EQ(accesses.semaphore, 0);
	close(fd);
	/* Another process takes a dump for 60 s. */
	counts_clear();
	snprintf(path, sizeof(path), "%s/%s.new", folder, h->name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	host.no_sleep = true;
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	CHECK_EQ(lines_with(log_end(), "another process makes one and does not end"), 1);
	CHECK_EQ(host.slept_us, 60000000);
	close(fd);
	CHECK_EQ(unlink(path), 0);
	counts_clear();
	mdv_fwdump_close(h);
}

/* Locks of others: each is cleared on request only, and only if it is stale. */
void
test_gateway_lost(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH), *force = opened(&pf, BOTH | MDV_FWDUMP_FORCE);
	const char *log;
	size_t n;

	/* The semaphore of firmware resets is taken: cleared with force only. */
	counts_clear();
	config_set(VSC(CONTROL), EMU_VSC_SPACE_SEMAPHORES);
	config_set(VSC(DATA), 0x1234);
	config_set(VSC(ADDRESS), EMU_VSC_FLAG | EMU_VSC_SW_RESET);
	log_begin();
	CHECK_EQ(mdv_fwdump_get_current(h, other, MAX_REGS, &n, NULL), -EBUSY);
	CHECK_EQ(lines_with(log_end(), "another function of the card"), 1);
	log_begin();
	CHECK_EQ(mdv_fwdump_get_current(force, other, MAX_REGS, &n, NULL), 0);
	log = log_end();
	CHECK_EQ(lines_of(log), 1);
	CHECK_EQ(lines_with(log, "the semaphore of firmware resets was taken: cleared as requested"), 1);
	/* All attempts saw one ticket, but it is another one when it is to be cleared: not stale. */
	counts_clear();
	host.no_sleep = true;
	config_set(VSC(SEMAPHORE), 0x88);
	accesses.read_as.off = VSC(SEMAPHORE);
	accesses.read_as.value = 0x77;
	accesses.read_as.left = MDV_VSC_TRIES;
	log_begin();
	CHECK_EQ(mdv_fwdump_get_current(force, other, MAX_REGS, &n, NULL), -EBUSY);
	log = log_end();
	CHECK_EQ(lines_with(log, "ticket 0x77 did not change in 2048 tries, and is 0x88 now"), 1);
	CHECK_EQ(accesses.released, 0);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), 0x88);
	/* Another process took it after it was seen as free. */
	counts_clear();
	host.no_sleep = true;
	accesses.read_as.off = VSC(SEMAPHORE);
	accesses.read_as.left = 1;
	log_begin();
	CHECK_EQ(mdv_fwdump_get_current(h, other, MAX_REGS, &n, NULL), -EBUSY);
	CHECK_EQ(lines_of(log_end()), 1);
	CHECK_EQ(accesses.released, 0);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), 0x88);
	config_set(VSC(SEMAPHORE), 0);
	/* Another program cleared this one's ticket and has its own: it is not released. */
	counts_clear();
	host.no_sleep = true;
	accesses.read_as.off = VSC(SEMAPHORE);
	accesses.read_as.value = 0x77;
	accesses.read_as.after = 2;
	accesses.read_as.left = ALWAYS;
	log_begin();
	CHECK_EQ(mdv_fwdump_get_current(h, other, MAX_REGS, &n, NULL), -EBUSY);
	log = log_end();
	CHECK_EQ(lines_of(log), 2);
	CHECK_EQ(lines_with(log, "the lock of the register gateway was taken by another process: ticket 0x"), 1);
	CHECK_EQ(lines_with(log, "its holder does nothing"), 1);
	CHECK_EQ(accesses.released, 0);
	counts_clear();
	config_set(VSC(SEMAPHORE), 0);
	mdv_fwdump_close(h);
	mdv_fwdump_close(force);
}
