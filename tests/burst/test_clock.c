/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The clock: conversion compared with exact arithmetic, publication of lines, and refreshes that are in time, late or
 * stuck, or that find a step or an unusable source.
 */

#include <rte_alarm.h>
#include <rte_cycles.h>

#include "mlxpmd_clock_refresh.h"
#include "rig.h"

/* start + floor((off * mult + frac) / 2^shift), computed by long division. */
static uint64_t
exact(const struct mdv_clock_line *l, uint64_t off)
{
	unsigned __int128 sum = (unsigned __int128)off * l->mult + l->frac;
	unsigned __int128 unit = (unsigned __int128)1 << l->shift;

	return (uint64_t)((unsigned __int128)l->start + sum / unit);
}

/* Timestamps sometimes have bits above the mask, which conversion must ignore. */
static void
compare(const struct mdv_clock_line *l, const struct mlxpmd_clock_snap *s, uint64_t off)
{
	uint64_t ts = (l->base + off) & l->mask, got;
	bool ok = mlxpmd_clock_convert(s, ts | (rig_random() & 1 ? 0 : UINT64_C(1) << 62 & ~l->mask), &got);

	CHECK(ok == (off <= l->span), "off %" PRIu64 " span %" PRIu64, off, l->span);
	CHECK(!ok || got == exact(l, off), "off %" PRIu64 ": %" PRIu64 " not %" PRIu64, off, got, exact(l, off));
}

static void
conversion(void)
{
	static const struct mdv_clock_line lines[] = {
		/* 1 GHz; 156.25 MHz with two shifts; then extreme multipliers and shifts. */
		{ .start = 1700000000000000000, .base = 123456789, .mult = 0x80000000u, .shift = 31 },
		{ .start = 1700000000999999999, .base = (1ull << 41) - 5, .mult = 3435973836u, .shift = 29 },
		{ .start = 17, .base = 3, .mult = 53687091, .shift = 23 },
		{ .start = 0, .base = 0, .mult = 4294967295u, .shift = 28 },
		{ .start = 1ull << 62, .base = 1ull << 40, .mult = 1, .shift = 21 },
		{ .start = 5, .base = 77, .mult = 4294967295u, .shift = 32 },
	};
	struct mlxpmd_clock_snap s;
	struct mdv_clock_line l;
	unsigned int i, k;
	uint64_t off;

	for (i = 0; i < RTE_DIM(lines) * 3; i++) {
		l = lines[i / 3];
		l.mask = (1ull << (i % 3 == 1 ? 48 : 41)) - 1;
		l.frac = rig_random() & ((1ull << l.shift) - 1);
		l.span = i % 3 == 2 ? 1000 : l.mask / 2;
		mlxpmd_clock_snap_from(&s, &l);
		for (off = 0; off <= 3; off++) {
			compare(&l, &s, off);
			compare(&l, &s, l.span - off);
			compare(&l, &s, l.span + off);
			compare(&l, &s, l.mask - off);
		}
		for (k = 0; k < 200000; k++)
			compare(&l, &s, ((uint64_t)rig_random() << 20 ^ rig_random()) % (l.span + l.span / 8 + 1));
	}
}

/* Increasing timestamps convert to increasing values, over the whole window. */
static void
monotonic(void)
{
	struct mdv_clock_line l = { .start = 1000, .base = 1ull << 39, .mult = 3435973836u, .shift = 29,
				    .mask = (1ull << 41) - 1, .span = 5000000000 };
	struct mlxpmd_clock_snap s;
	uint64_t last = 0, now = 0, off;

	mlxpmd_clock_snap_from(&s, &l);
	for (off = 0; off <= s.span; off += 1 + rig_random() % 30000) {
		CHECK(mlxpmd_clock_convert(&s, s.base + off, &now), "at %" PRIu64, off);
		CHECK(off == 0 || (int64_t)(now - last) > 0, "%" PRIu64 " after %" PRIu64, now, last);
		last = now;
	}
}

/* Real-time format: the nanoseconds are below 10^9. */
static void
packed(void)
{
	struct mlxpmd_clock clock = { .kind = MDV_CLOCK_PACKED };
	struct mlxpmd_clock_snap s = { 0 };
	uint64_t ns;

	CHECK(mlxpmd_clock_unpack(UINT64_C(1) << 32 | 999999999, &ns) && ns == 1999999999, "%" PRIu64, ns);
	CHECK(!mlxpmd_clock_unpack(UINT64_C(1) << 32 | 1000000000, &ns), "a second of more than 10^9 ns");
	/* Beyond 2038, and the largest number of seconds. */
	CHECK(mlxpmd_clock_value(&clock, &s, UINT64_C(0x80000000) << 32 | 5, &ns) &&
	      ns == UINT64_C(2147483648000000005), "%" PRIu64, ns);
	CHECK(mlxpmd_clock_value(&clock, &s, UINT64_C(0xffffffff) << 32, &ns) &&
	      ns == UINT64_C(4294967295000000000), "%" PRIu64, ns);
	clock.kind = MDV_CLOCK_TICKS;
	CHECK(mlxpmd_clock_value(&clock, &s, UINT64_MAX, &ns) && ns == UINT64_MAX, "ticks are what they are");
}

/* All fields of a published line derive from one number, so that a torn copy is detected. */
static void
snap_make(struct mlxpmd_clock_snap *s, uint64_t n)
{
	memset(s, 0, sizeof(*s));
	s->mult = (uint32_t)n * 7 + 1;
	s->base = n * 3;
	s->start = ~n;
	s->expires_tsc = rte_rdtsc() + INT64_MAX;
}

/* A queue copies published lines, and does not wait for a publisher that stopped half-way. */
static void
following(void)
{
	static struct mlxpmd_clock clock;
	struct mlxpmd_clock_snap mine, s, host;
	const struct mlxpmd_clock_lines *lines;
	struct mlxpmd_clock_lines stack;

	memset(&mine, 0, sizeof(mine));
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(!mlxpmd_clock_usable(&mine, rte_rdtsc()), "nothing was published");
	snap_make(&s, 1);
	snap_make(&host, 100);
	mlxpmd_clock_publish(&clock, &s, &host);
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 1 && mine.mult == s.mult, "generation %u", mine.generation);
	CHECK(mlxpmd_clock_usable(&mine, rte_rdtsc()), "not usable");
	/* A publisher stopped in the middle of the next generation, in the other slot: readers get this one. */
	clock.board.slot[0].dev.mult = 12345;
	memset(&mine, 0, sizeof(mine));
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 1 && mine.mult == s.mult, "held up by a publisher at work");
	snap_make(&s, 2);
	mlxpmd_clock_publish(&clock, &s, NULL);
	/* The slot was overwritten while it was read: the reader keeps its snapshot. */
	CHECK(!mlxpmd_clock_take(&clock.board, 1, (mlxpmd_clock_word *)&mine, 1), "an old generation from a slot that has moved");
	CHECK(mine.generation == 1, "touched");
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 2 && mine.start == s.start, "did not follow");
	lines = mlxpmd_clock_lcore(&clock, &stack);
	CHECK(lines == &clock.board.lcore[rte_lcore_id()] && lines->dev.generation == 2, "no copy per lcore");
	CHECK(lines->host.generation == 2 && lines->host.mult == 0, "a host line without a source");
	clock.board.generation = UINT32_MAX;
	mlxpmd_clock_publish(&clock, &s, &host);
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 2 && mine.start == s.start, "generation 0 is reserved");
	CHECK(((uintptr_t)&clock.board.lcore[1] & (RTE_CACHE_LINE_SIZE - 1)) == 0 && sizeof(s) == RTE_CACHE_LINE_SIZE,
	      "not a cache line");
}

static struct mlxpmd_port port;

static uint64_t
now_ns(int *rc)
{
	struct rte_eth_dev_data data = { .dev_private = &port };
	struct rte_eth_dev eth_dev = { .data = &data };
	uint64_t ns = 0;

	*rc = mlxpmd_read_clock(&eth_dev, &ns);
	return ns;
}

static struct mlxpmd_clock_info
info_get(void)
{
	struct mlxpmd_clock_info info;

	mlxpmd_clock_info_get(port.clock, &info);
	return info;
}

static bool
usable(void)
{
	static struct mlxpmd_clock_snap mine;

	mlxpmd_clock_follow(port.clock, &mine);
	return mlxpmd_clock_usable(&mine, rte_rdtsc());
}

/* Waits for n further reads of the source. */
static void
refreshes_wait(unsigned int n)
{
	unsigned int until = __atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED) + n;

	CHECK(AWAIT(__atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED) >= until, 2000), "no refresh");
}

/* A source of one tick per nanosecond, to be read every 5 ms. The host's line has the value of one hour now. */
static void
source_set(void)
{
	uint64_t hz = rte_get_tsc_hz();

	rig_clock_rc = 0;
	rig_clock_open_rc = 0;
	rig_clock_state = (struct mdv_clock_state) {
		.source = MDV_CLOCK_PAGE, .quality = MDV_CLOCK_GOOD, .unit = "ns", .epoch = "test",
		.line = { .mult = 1u << 31, .shift = 31, .mask = (1ull << 41) - 1, .base = 1000,
			  .span = 1ull << 40, .start = 1000000000 },
		.host = { .mult = (1000000000ull << 26) / hz, .shift = 26, .mask = (1ull << 48) - 1,
			  .base = rte_rdtsc() & ((1ull << 48) - 1), .span = 1ull << 46,
			  .start = 3600000000000 },
		.valid_tsc = UINT64_MAX, .next_us = 5000, .age_ns = 7,
	};
}

/* Opening, refreshes, a page that is busy (-EAGAIN: the line stays), and changes of the line. */
static void
refresh_alone(void)
{
	struct mlxpmd_clock_info info;
	uint64_t before, after;
	int rc;

	source_set();
	CHECK(mlxpmd_clock_open(&port) == 0 && port.clock != NULL, "not opened");
	CHECK(port.clock->kind == MDV_CLOCK_LINE && usable(), "no line");
	before = now_ns(&rc);
	CHECK(rc == 0 && before >= 3600000000000 && before < 3660000000000, "%d: %" PRIu64, rc, before);
	pass_us(20000); /* The clock must measure this period. */
	after = now_ns(&rc);
	CHECK(rc == 0 && after - before >= 19000000 && after - before < 2000000000, "20 ms are %" PRIu64 " ns",
	      after - before);
	refreshes_wait(3);
	info = info_get();
	CHECK(info.attempts >= 3, "%" PRIu64 " refreshes", info.attempts);
	CHECK(info.quality == MDV_CLOCK_GOOD && info.expired == 0, "quality %d, expired %" PRIu64, info.quality,
	      info.expired);
	CHECK(info.age_ns >= 7 && info.age_ns < 1000000000, "age %" PRIu64, info.age_ns);
	rig_clock_rc = -EAGAIN;
	refreshes_wait(2);
	pass_us(MLXPMD_CLOCK_VALID_MS * 1000); /* The snapshot must not expire meanwhile. */
	CHECK(usable() && info_get().expired == 0, "timestamps absent while the page is busy");
	before = info_get().generation;
	rig_clock_rc = 0;
	refreshes_wait(2);
	CHECK(info_get().generation > before, "the generation does not change");
}

/* Number of occurrences in the log. */
static unsigned int
lines_of(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

/* A step is counted and logged, and timestamps include it. Not every one of frequent steps is logged. */
static void
steps(FILE *stream, char **log)
{
	struct mlxpmd_clock_snap mine = { 0 };
	uint64_t ns;

	rig_clock_state.line.start += 5000000000;
	rig_clock_state.steps++;
	refreshes_wait(2);
	mlxpmd_clock_follow(port.clock, &mine);
	CHECK(mine.steps == 1 && info_get().state.steps == 1, "steps %u", mine.steps);
	CHECK(mlxpmd_clock_convert(&mine, 1000, &ns) && ns == 6000000000, "%" PRIu64, ns);
	rig_clock_state.steps += 40;
	refreshes_wait(2);
	CHECK(info_get().state.steps == 41, "steps %" PRIu64, info_get().state.steps);
	fflush(stream);
	CHECK(lines_of(*log, "the clock stepped, the last time by +5000000000 ns; 1 steps") == 1 &&
	      lines_of(*log, "stepped") == 1, "%s", *log);
}

/* A broken source: timestamps are absent at once, and present again after the first good reading. */
static void
broken(FILE *stream, char **log)
{
	uint64_t expired = info_get().expired;
	int rc;

	rig_clock_state.quality = MDV_CLOCK_BROKEN;
	refreshes_wait(2);
	CHECK(!usable(), "a broken clock is used");
	(void)now_ns(&rc);
	CHECK(rc == -EAGAIN, "read_clock of a broken clock: %d", rc);
	rig_clock_state.quality = MDV_CLOCK_GOOD;
	rig_clock_rc = -EIO;
	refreshes_wait(2);
	CHECK(!usable() && info_get().quality == MDV_CLOCK_BROKEN, "an unreadable clock is used");
	CHECK(info_get().expired == expired + 1, "counted %" PRIu64 " times", info_get().expired - expired);
	rig_clock_rc = 0;
	refreshes_wait(2);
	CHECK(usable() && info_get().quality == MDV_CLOCK_GOOD, "not back");
	/* The end of the line, before the end of its validity. */
	rig_clock_state.valid_tsc = rte_rdtsc() + rte_get_tsc_hz() / 50;
	refreshes_wait(2);
	pass_us(30000); /* Beyond the end of the line. */
	CHECK(!usable(), "used after its end");
	rig_clock_state.valid_tsc = UINT64_MAX;
	refreshes_wait(2);
	CHECK(usable(), "not back");
	fflush(stream);
	CHECK(lines_of(*log, "timestamps are absent") == 2 && lines_of(*log, "timestamps are back") == 2, "%s", *log);
}

/* hold() blocks a thread until release is set; held: it is blocked. */
static bool held, release;

static void
hold(void)
{
	__atomic_store_n(&held, true, __ATOMIC_RELEASE);
	AWAIT_CERTAIN(__atomic_load_n(&release, __ATOMIC_ACQUIRE));
}

static void
hold_alarm(void *arg __rte_unused)
{
	hold();
}

static void
hold_wait(void)
{
	AWAIT_CERTAIN(__atomic_load_n(&held, __ATOMIC_ACQUIRE));
}

static void
hold_reset(void)
{
	__atomic_store_n(&held, false, __ATOMIC_RELEASE);
	__atomic_store_n(&release, false, __ATOMIC_RELEASE);
}

/* Processor time of the process. */
static uint64_t
busy_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The refreshes keep their period, and each is done once only; the thread sleeps in between. */
static void
in_time(void)
{
	struct mlxpmd_clock_info before = info_get(), after;
	unsigned int refreshes = __atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED);
	uint64_t begin = rte_rdtsc(), busy, ms;

	busy = busy_ms();
	refreshes_wait(50);
	refreshes = __atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED) - refreshes;
	ms = (rte_rdtsc() - begin) * 1000 / rte_get_tsc_hz();
	after = info_get();
	CHECK(refreshes <= ms / 5 + 3, "%u refreshes in %" PRIu64 " ms: some twice", refreshes, ms);
	CHECK(after.attempts - before.attempts + 1 >= refreshes && after.attempts - before.attempts <= refreshes + 1,
	      "%" PRIu64 " refreshes of %u", after.attempts - before.attempts, refreshes);
	CHECK(after.expired == before.expired, "expired");
	CHECK(busy_ms() - busy < 20 + ms / 4, "%" PRIu64 " ms of a processor in %" PRIu64 " ms", busy_ms() - busy, ms);
}

/* A callback blocks EAL's interrupt thread for longer than a line is valid: timestamps stay present. */
static void
interrupt_thread_stalled(void)
{
	uint64_t expired = info_get().expired;

	hold_reset();
	CHECK(rte_eal_alarm_set(10, hold_alarm, NULL) == 0, "no alarm");
	hold_wait();
	CHECK(!AWAIT(!usable(), MLXPMD_CLOCK_VALID_MS + 500), "absent");
	CHECK(info_get().expired == expired, "expired");
	__atomic_store_n(&release, true, __ATOMIC_RELEASE);
}

/* A read of the source hangs: no other read starts, and timestamps are absent once the line is too old. */
static void
refresh_hangs(void)
{
	uint64_t expired = info_get().expired, begin, ms;
	unsigned int refreshes;
	int rc;

	hold_reset();
	rig_clock_hook = hold;
	hold_wait();
	begin = rte_rdtsc();
	refreshes = __atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED);
	(void)AWAIT(!usable(), 5000);
	ms = (rte_rdtsc() - begin) * 1000 / rte_get_tsc_hz();
	CHECK(!usable() && ms <= MLXPMD_CLOCK_VALID_MS + 1000, "valid for %" PRIu64 " ms", ms);
	(void)now_ns(&rc);
	CHECK(rc == -EAGAIN, "read_clock: %d", rc);
	/* Counted although the refresh has not returned. */
	CHECK(info_get().expired == expired + 1 && info_get().quality == MDV_CLOCK_BROKEN, "expired %" PRIu64,
	      info_get().expired - expired);
	CHECK(__atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED) == refreshes, "two refreshes at a time");
	rig_clock_hook = NULL;
	__atomic_store_n(&release, true, __ATOMIC_RELEASE);
	refreshes_wait(2);
	CHECK(usable() && info_get().quality == MDV_CLOCK_GOOD, "not back");
	CHECK(info_get().expired == expired + 1, "expired %" PRIu64, info_get().expired - expired);
}

/* The control thread cannot be started: opening the clock fails. */
static void
thread_fails(FILE *stream, char **log)
{
	rig_thread_rc = -EAGAIN;
	CHECK(mlxpmd_clock_open(&port) == -EAGAIN && port.clock == NULL, "a clock without refreshes");
	rig_thread_rc = 0;
	fflush(stream);
	CHECK(lines_of(*log, "thread mlxpmd-ctrl cannot be started") == 1, "%s", *log);
}

/* A removed device: its clock is unusable whatever the source returns, and the reason is logged. */
static void
device_removed(FILE *stream, char **log)
{
	__atomic_store_n(&rig_mdv.removed, true, __ATOMIC_RELAXED);
	refreshes_wait(2);
	CHECK(!usable() && info_get().quality == MDV_CLOCK_BROKEN, "the time of a removed device");
	fflush(stream);
	CHECK(lines_of(*log, "timestamps are absent: No such device") == 1, "%s", *log);
	__atomic_store_n(&rig_mdv.removed, false, __ATOMIC_RELAXED);
	refreshes_wait(2);
	CHECK(usable(), "not back");
}

static void
refresh(void)
{
	char *log = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&log, &bytes);

	CHECK(stream != NULL, "no stream");
	rte_log_set_global_level(RTE_LOG_NOTICE);
	rte_log_set_level(mlxpmd_logtype, RTE_LOG_NOTICE);
	rte_openlog_stream(stream);
	port.mdv = &rig_mdv;
	port.args.clock = MDV_CLOCK_PAGE;
	refresh_alone();
	fflush(stream);
	CHECK(strcmp(log, "mlxpmd: port 0: injected by the rig\n") == 0, "%s", log);
	steps(stream, &log);
	broken(stream, &log);
	device_removed(stream, &log);
	in_time();
	interrupt_thread_stalled();
	refresh_hangs();
	mlxpmd_clock_close(&port);
	CHECK(port.clock == NULL, "not closed");
	mlxpmd_clock_close(&port);
	thread_fails(stream, &log);
	rte_openlog_stream(NULL);
	rte_log_set_level(mlxpmd_logtype, RTE_LOG_EMERG);
	rte_log_set_global_level(RTE_LOG_ERR);
	fclose(stream);
	free(log);
}

/* Two ports and one thread; closing one leaves the refreshes of the other. */
static void
two_ports(void)
{
	struct mlxpmd_port other = { .mdv = &rig_mdv, .port_id = 1, .args.clock = MDV_CLOCK_PAGE };
	struct mlxpmd_clock_info info;

	source_set();
	CHECK(mlxpmd_clock_open(&port) == 0 && mlxpmd_clock_open(&other) == 0, "not opened");
	mlxpmd_clock_close(&other);
	refreshes_wait(3);
	CHECK(usable(), "port 0 is not refreshed any more");
	CHECK(mlxpmd_clock_open(&other) == 0, "not opened again");
	mlxpmd_clock_close(&port);
	refreshes_wait(3);
	mlxpmd_clock_info_get(other.clock, &info);
	CHECK(info.quality == MDV_CLOCK_GOOD && info.attempts >= 2, "port 1 is not refreshed");
	CHECK(mlxpmd_clock_open(&port) == 0, "not opened");
	refreshes_wait(4);
	CHECK(usable(), "port 0 is not refreshed");
	mlxpmd_clock_close(&port);
	mlxpmd_clock_close(&other);
}

static void
unavailable(void)
{
	int rc;

	rig_clock_open_rc = -ENOTSUP;
	CHECK(mlxpmd_clock_open(&port) == 0 && port.clock == NULL, "a clock without a source");
	(void)now_ns(&rc);
	CHECK(rc == -ENOTSUP, "read_clock without a clock: %d", rc);
	rig_clock_open_rc = 0;
	/* clock=raw needs no source. */
	port.args.clock = MDV_CLOCK_RAW;
	rig_clock_state = (struct mdv_clock_state) { .source = MDV_CLOCK_RAW, .quality = MDV_CLOCK_UNSYNCED };
	rig_cycles = 0x123456789abcdef;
	CHECK(mlxpmd_clock_open(&port) == 0 && port.clock != NULL, "not opened");
	CHECK(port.clock->kind == MDV_CLOCK_TICKS && usable(), "no ticks");
	CHECK(now_ns(&rc) == rig_cycles && rc == 0, "raw read_clock");
	rig_clock_rc = -EIO;
	refreshes_wait(2);
	CHECK(usable(), "ticks need no source");
	rig_cycles_read = 0;
	__atomic_store_n(&rig_mdv.removed, true, __ATOMIC_RELAXED);
	(void)now_ns(&rc);
	CHECK(rc == -ENODEV && rig_cycles_read == 0, "read_clock of a removed device: %d", rc);
	__atomic_store_n(&rig_mdv.removed, false, __ATOMIC_RELAXED);
	mlxpmd_clock_close(&port);
}

int
main(void)
{
	rig_init();
	conversion();
	monotonic();
	packed();
	following();
	refresh();
	two_ports();
	unavailable();
	return rig_end("clock");
}
