/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The clock: publication of lines, and refreshes that are in time, late or stuck, or that find a step or an unusable
 * source.
 */

#include <rte_alarm.h>
#include <rte_cycles.h>

#include "mlxpmd_clock_refresh.h"
#include "rig.h"

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
	static struct mlxpmd_clock_board board;
	static struct mlxpmd_clock clock;
	struct mlxpmd_clock_snap mine, s, host, guarded[4];
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
	board = clock.board;
	mlxpmd_clock_publish(&clock, &s, NULL);
	/* A reader may still copy the generation before, and lcores have copies. */
	CHECK(memcmp(&clock.board.slot[1], &board.slot[1], sizeof(board.slot[1])) == 0, "the other slot was written");
	CHECK(memcmp(clock.board.lcore, board.lcore, sizeof(board.lcore)) == 0, "copies of lcores were written");
	/* The slot was overwritten while it was read: the reader keeps its snapshot. */
	CHECK(!mlxpmd_clock_take(&clock.board, 1, (mlxpmd_clock_word *)&mine, 1), "an old generation from a slot that has moved");
	CHECK(mine.generation == 1, "touched");
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 2 && mine.start == s.start, "did not follow");
	/* A copy of one line or two, and nothing behind it. */
	memset(guarded, 0x55, sizeof(guarded));
	CHECK(mlxpmd_clock_take(&clock.board, 2, (mlxpmd_clock_word *)guarded, 1), "not taken");
	CHECK(guarded[0].start == s.start && guarded[1].start == guarded[2].start, "not one line");
	CHECK(memcmp(&guarded[1], &guarded[2], sizeof(guarded[0])) == 0, "more than a line");
	CHECK(mlxpmd_clock_take(&clock.board, 2, (mlxpmd_clock_word *)guarded, 2), "not taken");
	CHECK(guarded[1].generation == 2 && memcmp(&guarded[2], &guarded[3], sizeof(guarded[0])) == 0, "not two lines");
	lines = mlxpmd_clock_lcore(&clock, &stack);
	CHECK(lines == &clock.board.lcore[rte_lcore_id()] && lines->dev.generation == 2, "no copy per lcore");
	CHECK(lines->host.generation == 2 && lines->host.mult == 0, "a host line without a source");
	board = clock.board;
	clock.board.generation = UINT32_MAX - 1;
	mlxpmd_clock_publish(&clock, &s, &host);
	CHECK(memcmp(&clock.board.slot[0], &board.slot[0], sizeof(board.slot[0])) == 0, "the other slot was written");
	CHECK(memcmp(clock.board.lcore, board.lcore, sizeof(board.lcore)) == 0, "copies of lcores were written");
	mlxpmd_clock_publish(&clock, &s, &host);
	mlxpmd_clock_follow(&clock, &mine);
	CHECK(mine.generation == 2 && mine.start == s.start, "generation 0 is reserved");
	CHECK(((uintptr_t)&clock.board.lcore[1] & (RTE_CACHE_LINE_SIZE - 1)) == 0 && sizeof(s) == RTE_CACHE_LINE_SIZE,
	      "not a cache line");
}

/* Age of the source's reading at each refresh. */
#define AGE_NS 7000000000u

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

	pthread_mutex_lock(&rig_clock_mutex);
	rig_clock_rc = 0;
	rig_clock_open_rc = 0;
	rig_clock_state = (struct mdv_clock_state) {
		.source = MDV_CLOCK_PAGE, .quality = MDV_CLOCK_GOOD, .unit = "ns", .epoch = "test",
		.line = { .mult = 1u << 31, .shift = 31, .mask = (1ull << 41) - 1, .base = 1000,
			  .span = 1ull << 40, .start = 1000000000 },
		.host = { .mult = (1000000000ull << 26) / hz, .shift = 26, .mask = (1ull << 48) - 1,
			  .base = rte_rdtsc() & ((1ull << 48) - 1), .span = 1ull << 46,
			  .start = 3600000000000 },
		.valid_tsc = UINT64_MAX, .next_us = 5000, .age_ns = AGE_NS,
	};
	pthread_mutex_unlock(&rig_clock_mutex);
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
	CHECK(info.age_ns >= AGE_NS && info.age_ns < AGE_NS + 1000000000, "age %" PRIu64, info.age_ns);
	CHECK(info.expires_tsc - info.refreshed_tsc == 2 * rte_get_tsc_hz(), "valid for %" PRIu64 " ticks",
	      info.expires_tsc - info.refreshed_tsc);
	RIG_CLOCK(rc = -EAGAIN);
	refreshes_wait(2);
	pass_us(MLXPMD_CLOCK_VALID_MS * 1000); /* The snapshot must not expire meanwhile. */
	CHECK(usable() && info_get().expired == 0, "timestamps absent while the page is busy");
	before = info_get().generation;
	RIG_CLOCK(rc = 0);
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

/* Lets the last line about steps be so many seconds older. */
static void
step_log_age(unsigned int seconds)
{
	struct mlxpmd_clock_refresher *refresher = port.clock->refresher;

	pthread_mutex_lock(&refresher->lock);
	refresher->step_logged_tsc -= seconds * rte_get_tsc_hz();
	pthread_mutex_unlock(&refresher->lock);
	refreshes_wait(2);
}

/* A step is counted and logged, and timestamps include it. Not every one of frequent steps is logged. */
static void
steps(FILE *stream, char **log)
{
	struct mlxpmd_clock_snap mine = { 0 };
	uint64_t ns;

	RIG_CLOCK(state.line.start += 5000000000);
	RIG_CLOCK(state.steps++);
	refreshes_wait(2);
	mlxpmd_clock_follow(port.clock, &mine);
	CHECK(mine.steps == 1 && info_get().state.steps == 1, "steps %u", mine.steps);
	CHECK(mlxpmd_clock_convert(&mine, 1000, &ns) && ns == 6000000000, "%" PRIu64, ns);
	RIG_CLOCK(state.steps += 40);
	refreshes_wait(2);
	CHECK(info_get().state.steps == 41, "steps %" PRIu64, info_get().state.steps);
	fflush(stream);
	CHECK(lines_of(*log, "the clock stepped, the last time by +5000000000 ns; 1 steps") == 1 &&
	      lines_of(*log, "stepped") == 1, "%s", *log);
	/* Every ten seconds. */
	step_log_age(9);
	fflush(stream);
	CHECK(lines_of(*log, "stepped") == 1, "%s", *log);
	step_log_age(1);
	fflush(stream);
	CHECK(lines_of(*log, "by +0 ns; 40 steps since the last such line, 41 in all") == 1 &&
	      lines_of(*log, "stepped") == 2, "%s", *log);
	RIG_CLOCK(state.steps++);
	step_log_age(10);
	fflush(stream);
	CHECK(lines_of(*log, "by +0 ns; 1 steps since the last such line, 42 in all") == 1 &&
	      lines_of(*log, "stepped") == 3, "%s", *log);
}

/* A broken source: timestamps are absent at once, and present again after the first good reading. */
static void
broken(FILE *stream, char **log)
{
	uint64_t expired = info_get().expired;
	uint32_t generation;
	int rc;

	RIG_CLOCK(state.quality = MDV_CLOCK_BROKEN);
	refreshes_wait(2);
	CHECK(!usable(), "a broken clock is used");
	(void)now_ns(&rc);
	CHECK(rc == -EAGAIN, "read_clock of a broken clock: %d", rc);
	RIG_CLOCK(state.quality = MDV_CLOCK_GOOD);
	RIG_CLOCK(rc = -EIO);
	refreshes_wait(2);
	generation = info_get().generation;
	CHECK(generation == port.clock->board.generation, "generation %u", generation);
	refreshes_wait(3);
	CHECK(info_get().generation == generation, "%u generations of an unreadable clock",
	      info_get().generation - generation);
	CHECK(!usable() && info_get().quality == MDV_CLOCK_BROKEN, "an unreadable clock is used");
	CHECK(info_get().expired == expired + 1, "counted %" PRIu64 " times", info_get().expired - expired);
	RIG_CLOCK(rc = 0);
	refreshes_wait(2);
	CHECK(usable() && info_get().quality == MDV_CLOCK_GOOD, "not back");
	/* The end of the line, before the end of its validity. */
	RIG_CLOCK(state.valid_tsc = rte_rdtsc() + rte_get_tsc_hz());
	refreshes_wait(2);
	CHECK(info_get().expires_tsc == rig_clock_state.valid_tsc || rte_rdtsc() > rig_clock_state.valid_tsc,
	      "%" PRId64 " ticks after its line", info_get().expires_tsc - rig_clock_state.valid_tsc);
	RIG_CLOCK(state.valid_tsc = rte_rdtsc() + rte_get_tsc_hz() / 50);
	refreshes_wait(2);
	pass_us(30000); /* Beyond the end of the line. */
	CHECK(!usable(), "used after its end");
	RIG_CLOCK(state.valid_tsc = UINT64_MAX);
	refreshes_wait(2);
	CHECK(usable(), "not back");
	fflush(stream);
	CHECK(lines_of(*log, "timestamps are absent") == 2 && lines_of(*log, "timestamps are back") == 2, "%s", *log);
	CHECK(lines_of(*log, "timestamps are absent: the source cannot be trusted") == 1, "%s", *log);
	/* A busy source, until after the end of its line. */
	RIG_CLOCK(rc = -EAGAIN);
	RIG_CLOCK(state.valid_tsc = 1);
	refreshes_wait(3);
	CHECK(!usable(), "used after its end");
	RIG_CLOCK(rc = 0);
	RIG_CLOCK(state.valid_tsc = UINT64_MAX);
	refreshes_wait(2);
	fflush(stream);
	CHECK(lines_of(*log, "timestamps are absent: the source gave no usable reading for too long") == 1, "%s", *log);
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

static bool got;

static void *
info_main(void *arg __rte_unused)
{
	(void)info_get();
	__atomic_store_n(&got, true, __ATOMIC_RELEASE);
	return NULL;
}

/* While a thread copies the state, none is published, and another one waits for its copy. */
static void
locked(void)
{
	struct mlxpmd_clock_refresher *refresher = port.clock->refresher;
	unsigned int refreshes;
	pthread_t thread;

	__atomic_store_n(&got, false, __ATOMIC_RELEASE);
	pthread_mutex_lock(&refresher->lock);
	refreshes = __atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED);
	CHECK(pthread_create(&thread, NULL, info_main, NULL) == 0, "no thread");
	pass_us(30000); /* Enough for some refreshes that do not wait. */
	CHECK(!__atomic_load_n(&got, __ATOMIC_ACQUIRE), "a copy of a state that changes");
	CHECK(__atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED) - refreshes <= 1, "published meanwhile");
	pthread_mutex_unlock(&refresher->lock);
	pthread_join(thread, NULL);
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
	__atomic_store_n(&rig_clock_hook, hold, __ATOMIC_RELEASE);
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
	CHECK(info_get().age_ns >= AGE_NS + MLXPMD_CLOCK_VALID_MS * 1000000u, "age %" PRIu64, info_get().age_ns);
	CHECK(__atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED) == refreshes, "two refreshes at a time");
	__atomic_store_n(&rig_clock_hook, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&release, true, __ATOMIC_RELEASE);
	refreshes_wait(2);
	CHECK(usable() && info_get().quality == MDV_CLOCK_GOOD, "not back");
	CHECK(info_get().expired == expired + 1, "expired %" PRIu64, info_get().expired - expired);
}

/* The control thread cannot be started, or there is no memory: opening the clock fails, and leaves nothing behind. */
static void
opening_fails(FILE *stream, char **log)
{
	rig_thread_rc = -EAGAIN;
	CHECK(mlxpmd_clock_open(&port) == -EAGAIN && port.clock == NULL, "a clock without refreshes");
	rig_thread_rc = 0;
	fflush(stream);
	CHECK(lines_of(*log, "thread mlxpmd-ctrl cannot be started") == 1, "%s", *log);
	rig_memory_fails_at = 1;
	CHECK(mlxpmd_clock_open(&port) == -ENOMEM && port.clock == NULL, "a clock without memory");
	fflush(stream);
	CHECK(lines_of(*log, "port 0: no memory for the clock") == 1, "%s", *log);
	CHECK(rig_memory_live == 0 && rig_clocks_open == 0, "%d allocations, %d clocks", rig_memory_live, rig_clocks_open);
}

/* A source that cannot be opened: a warning if it was requested, a notice if it should run, else nothing. */
static void
no_source(FILE *stream, char **log)
{
	static const struct {
		enum mdv_clock_source wanted;
		int rc;
		const char *text;
		uint32_t level;
	} rows[] = {
		{ MDV_CLOCK_PAGE, -ENOTSUP, "port 0: clock=page: no timestamps are offered: injected by the rig", RTE_LOG_WARNING },
		{ MDV_CLOCK_PAGE, -ERANGE, "port 0: clock=page: no timestamps are offered: injected by the rig", RTE_LOG_WARNING },
		{ MDV_CLOCK_AUTO, -ERANGE, "port 0: no timestamps are offered: injected by the rig", RTE_LOG_NOTICE },
		{ MDV_CLOCK_AUTO, -ENODATA, "port 0: no timestamps are offered: injected by the rig", RTE_LOG_NOTICE },
		{ MDV_CLOCK_AUTO, -ENOTSUP, "port 0: no timestamps are offered: injected by the rig", RTE_LOG_INFO },
	};
	unsigned int i, before;
	uint32_t level;

	rte_log_set_global_level(RTE_LOG_DEBUG);
	for (i = 0; i < RTE_DIM(rows); i++) {
		for (level = rows[i].level - 1; level <= rows[i].level; level++) {
			rte_log_set_level(mlxpmd_logtype, level);
			fflush(stream);
			before = lines_of(*log, rows[i].text);
			port.args.clock = rows[i].wanted;
			rig_clock_open_rc = rows[i].rc;
			CHECK(mlxpmd_clock_open(&port) == 0 && port.clock == NULL, "row %u", i);
			fflush(stream);
			CHECK(lines_of(*log, rows[i].text) - before == (level == rows[i].level), "row %u at level %u", i, level);
		}
	}
	port.args.clock = MDV_CLOCK_PAGE;
	rig_clock_open_rc = 0;
	rte_log_set_global_level(RTE_LOG_NOTICE);
	rte_log_set_level(mlxpmd_logtype, RTE_LOG_NOTICE);
	CHECK(rig_memory_live == 0 && rig_clocks_open == 0, "%d allocations, %d clocks", rig_memory_live, rig_clocks_open);
}

/* A source that is broken or busy at first: nothing is published until it gives a line, which may have stepped. */
static void
beginnings(FILE *stream, char **log)
{
	struct mlxpmd_clock_info info;
	unsigned int i;
	int rc;

	port.port_id = 3;
	for (i = 0; i < 2; i++) {
		source_set();
		RIG_CLOCK(state.steps = 1);
		RIG_CLOCK(state.quality = i == 0 ? MDV_CLOCK_BROKEN : MDV_CLOCK_GOOD);
		RIG_CLOCK(rc = i == 0 ? 0 : -EAGAIN);
		CHECK(mlxpmd_clock_open(&port) == 0 && port.clock != NULL, "not opened");
		refreshes_wait(2);
		info = info_get();
		CHECK(info.generation == 0 && info.expires_tsc == 0 && info.quality == MDV_CLOCK_BROKEN, "%u: generation %u",
		      i, info.generation);
		CHECK(info.expired == (i == 0), "%u: expired %" PRIu64, i, info.expired);
		(void)now_ns(&rc);
		CHECK(rc == -EAGAIN, "%u: a time: %d", i, rc);
		RIG_CLOCK(state.quality = MDV_CLOCK_GOOD);
		RIG_CLOCK(rc = 0);
		refreshes_wait(2);
		(void)now_ns(&rc);
		CHECK(rc == 0 && info_get().quality == MDV_CLOCK_GOOD, "%u: no time: %d", i, rc);
		fflush(stream);
		CHECK(lines_of(*log, "port 3: the clock stepped, the last time by +0 ns; 1 steps since the last such line, 1 in all") ==
		      i + 1, "%s", *log);
		mlxpmd_clock_close(&port);
	}
	port.port_id = 0;
}

/* The period is 1 ms at least and 100 ms at most, whatever the source requests. */
static void
periods(void)
{
	uint64_t begin, ms;
	unsigned int n;
	int rc;

	source_set();
	RIG_CLOCK(state.next_us = 0);
	CHECK(mlxpmd_clock_open(&port) == 0, "not opened");
	begin = rte_rdtsc();
	n = __atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED);
	refreshes_wait(50);
	n = __atomic_load_n(&rig_clock_refreshes, __ATOMIC_RELAXED) - n;
	ms = (rte_rdtsc() - begin) * 1000 / rte_get_tsc_hz();
	CHECK(n <= ms + 3, "%u refreshes in %" PRIu64 " ms", n, ms);
	/* The time of timestamps alone. */
	RIG_CLOCK(state.host.mult = 0);
	refreshes_wait(2);
	(void)now_ns(&rc);
	CHECK(rc == -ENOTSUP && usable(), "a time by no line: %d", rc);
	RIG_CLOCK(state.next_us = 1000000000);
	refreshes_wait(4);
	CHECK(usable(), "expired");
	mlxpmd_clock_close(&port);
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
	fflush(stream);
	CHECK(lines_of(log, "timestamps are absent: the clock was not refreshed in time") == 2, "%s", log);
	locked();
	mlxpmd_clock_close(&port);
	CHECK(port.clock == NULL, "not closed");
	mlxpmd_clock_close(&port);
	opening_fails(stream, &log);
	no_source(stream, &log);
	beginnings(stream, &log);
	periods();
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
	CHECK(rig_memory_live == 0 && rig_clocks_open == 0, "%d allocations, %d clocks", rig_memory_live, rig_clocks_open);
}

static void
unavailable(void)
{
	uint64_t ticks;
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
	/* With a relation of ticks to the TSC the device is not read. */
	source_set();
	RIG_CLOCK(state.source = MDV_CLOCK_RAW);
	refreshes_wait(2);
	rig_cycles_read = 0;
	ticks = now_ns(&rc);
	CHECK(rc == 0 && ticks >= 3600000000000 && ticks < 3660000000000 && rig_cycles_read == 0, "%d: %" PRIu64, rc, ticks);
	RIG_CLOCK(state.host.mult = 0);
	refreshes_wait(2);
	CHECK(now_ns(&rc) == rig_cycles && rc == 0, "raw read_clock");
	RIG_CLOCK(rc = -EIO);
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
	packed();
	following();
	refresh();
	two_ports();
	unavailable();
	return rig_end("clock");
}
