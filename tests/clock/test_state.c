/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What a clock reports: its counters, age, quality, rates and the time of the next refresh, after each failure. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define S MDV_NS_PER_S
#define SETTLED_US 100000
/* Shortest period while a clock is unsettled. */
#define FAST_US 10000
/* An outlier of the device's clock is accepted as a step when it comes so many times in a row. */
#define CONFIRM 5

static int
refresh(struct rig *r)
{
	return mdv_clock_refresh(r->clock, &r->state);
}

/** The next refresh is due earlier than that of a settled clock. */
static bool
hurries(const struct rig *r)
{
	return r->state.next_us >= FAST_US && r->state.next_us < SETTLED_US;
}

/** Without a refresh, timestamps stay valid for decades. */
static bool
lasts(const struct rig *r)
{
	uint64_t now = sim_read(&r->s, &r->s.tsc, r->s.now_ps);

	return (int64_t)(r->state.valid_tsc - now) > 50ll * 365 * 86400 * SIM_TSC_HZ;
}

static bool
has_frequency(const struct rig *r)
{
	return fabs((double)r->state.frequency_hz - RIG_HZ * (1 + 20e-6)) < 100;
}

/* ------------------------------------------------------------------ realtime */

static void
realtime_open(struct rig *r, uint64_t seed)
{
	rig_init(r, seed);
	r->s.utc_ret = 0;
	CHECK(rig_open(r, MDV_CLOCK_REALTIME, true, true, RIG_HZ / 1000) == 0);
	CHECK_STR(r->state.epoch, "utc");
	rig_run(r, 4);
	CHECK(r->state.quality == MDV_CLOCK_GOOD && r->state.uncertainty_ns == 1 && r->state.steps == 0);
	CHECK(r->state.next_us == SETTLED_US && has_frequency(r) && lasts(r));
	CHECK(strstr(r->why, "as requested") != NULL);
}

/** The device's clock is set: to a time of its own, to TAI, and back. */
static void
test_realtime_set(void)
{
	struct rig r;

	realtime_open(&r, 60);
	sim_step(&r.s, &r.s.utc, S);
	for (int i = 1; i < CONFIRM; i++) {
		/* It may be an outlier: the line from the TSC stays. */
		CHECK(refresh(&r) == 0 && r.state.steps == 0 && r.state.host.mult != 0);
		CHECK(r.state.rejected == (uint64_t)i && hurries(&r));
	}
	CHECK(refresh(&r) == 0 && r.state.steps == 1 && llabs(r.state.offset_ns - (int64_t)S) < 10000);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && strcmp(r.state.epoch, "device") == 0);
	rig_run(&r, 4);
	CHECK(r.state.steps == 1 && r.state.next_us == SETTLED_US);
	sim_step(&r.s, &r.s.utc, -6 * (int64_t)S / 10);
	rig_run(&r, 1);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && strcmp(r.state.epoch, "utc") == 0);
	sim_step(&r.s, &r.s.utc, 37ll * S);
	rig_run(&r, 1);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && strcmp(r.state.epoch, "tai") == 0);
	sim_step(&r.s, &r.s.utc, -4 * (int64_t)S / 10);
	rig_run(&r, 1);
	CHECK(r.state.steps == 4 && r.state.quality == MDV_CLOCK_GOOD && strcmp(r.state.epoch, "tai") == 0);
	r.s.tai_s = 38;
	refresh(&r);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && strcmp(r.state.epoch, "device") == 0);
	sim_step(&r.s, &r.s.utc, S);
	rig_run(&r, 1);
	CHECK(r.state.steps == 5 && r.state.quality == MDV_CLOCK_GOOD && strcmp(r.state.epoch, "tai") == 0);
	mdv_clock_close(r.clock);
}

/** The rate of the device's clock changes: no step. The host loses its synchronisation. */
static void
test_realtime_turns(void)
{
	struct rig r;

	realtime_open(&r, 61);
	r.s.jitter = SIM_EXACT;
	rig_run(&r, 20);
	sim_set_rate(&r.s, &r.s.utc, S * (1 + 2e-7));
	rig_run(&r, 4);
	CHECK(r.state.steps == 0 && r.state.slews > 0 && fabs(r.state.drift_ppm - 0.2) < 0.05);
	sim_set_rate(&r.s, &r.s.utc, S);
	rig_run(&r, 4);
	CHECK(r.state.steps == 0 && r.state.quality == MDV_CLOCK_GOOD);
	r.s.synced = false;
	CHECK(refresh(&r) == 0 && r.state.quality == MDV_CLOCK_UNSYNCED);
	mdv_clock_close(r.clock);
}

/** The device's clock, the host's or the counter cannot be read: stamps need none of them. */
static void
test_realtime_unread(void)
{
	uint64_t refreshes;
	struct rig r;

	realtime_open(&r, 62);
	r.s.utc_ret = -EIO;
	CHECK(refresh(&r) == 0 && r.state.host.mult == 0);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && lasts(&r) && r.state.failed == 0);
	r.s.utc_ret = 0;
	CHECK(refresh(&r) == 0 && r.state.host.mult != 0 && r.state.quality == MDV_CLOCK_GOOD);
	r.s.wall_ret = -EIO;
	sim_step(&r.s, &r.s.utc, 5ll * S);
	refreshes = r.state.refreshes;
	for (int i = 0; i < CONFIRM; i++)
		CHECK(refresh(&r) == 0);
	/* The offset from a clock that cannot be read is not known. */
	CHECK(r.state.refreshes == refreshes + CONFIRM && llabs(r.state.offset_ns) < 100000 && r.state.steps == 1);
	r.s.wall_ret = 0;
	r.s.counter_ret = -EIO;
	CHECK(refresh(&r) == 0 && llabs(r.state.offset_ns - 5 * (int64_t)S) < 100000 && r.state.failed == 0);
	mdv_clock_close(r.clock);
}

/* ------------------------------------------------------------------ raw */

static void
test_raw(void)
{
	struct rig r;

	/* Not measured yet: the nominal frequency. */
	rig_init(&r, 63);
	r.s.counter_ret = -EIO;
	CHECK(rig_open(&r, MDV_CLOCK_RAW, true, false, RIG_HZ / 1000) == 0);
	CHECK(r.state.frequency_hz == RIG_HZ && r.state.host.mult == 0 && r.state.drift_ppm == 0);
	CHECK_STR(r.state.epoch, "device reset");
	/* The host's clock is known by now, but the first readings of the counter have no rate. */
	rig_run(&r, 4);
	r.s.counter_ret = 0;
	CHECK(refresh(&r) == 0 && r.state.frequency_hz == RIG_HZ && r.state.drift_ppm == 0);
	rig_run(&r, 4);
	CHECK(r.state.host.mult != 0 && has_frequency(&r) && fabs(r.state.drift_ppm - 20) < 0.5 && lasts(&r));
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && r.state.offset_ns == 0);
	/* The line from the TSC outlives a reading that was an outlier, and none that failed. */
	r.s.counter_still = true;
	r.s.still = sim_read(&r.s, &r.s.counter, r.s.now_ps);
	CHECK(refresh(&r) == 0 && r.state.host.mult != 0);
	r.s.counter_ret = -EIO;
	CHECK(refresh(&r) == 0 && r.state.host.mult == 0 && r.state.failed == 0);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED && lasts(&r));
	r.s.counter_still = false;
	r.s.counter_ret = 0;
	CHECK(refresh(&r) == 0 && r.state.host.mult != 0);
	mdv_clock_close(r.clock);
}

/* ------------------------------------------------------------------ host */

static void
host_open(struct rig *r, uint64_t seed)
{
	rig_init(r, seed);
	CHECK(rig_open(r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) == 0);
	CHECK_STR(r->state.epoch, "host realtime");
	rig_run(r, 5);
	CHECK(r->state.quality == MDV_CLOCK_GOOD && r->state.next_us == SETTLED_US);
}

/** Readings of the counter that a refresh takes. */
static uint64_t
reads_of_refresh(struct rig *r)
{
	uint64_t reads = r->s.reads;

	refresh(r);
	return r->s.reads - reads;
}

/** A step of either clock makes refreshes more frequent; then fewer readings are enough again. */
static void
test_host_unsettled(void)
{
	struct rig r;

	host_open(&r, 65);
	CHECK(reads_of_refresh(&r) == 25);
	sim_step(&r.s, &r.s.wall, S);
	CHECK(refresh(&r) == 0 && r.state.steps == 1 && hurries(&r));
	for (int i = 0; i < 200; i++) {
		sim_pass_ns(&r.s, 1.2e7);
		CHECK(refresh(&r) == 0 && hurries(&r) && has_frequency(&r));
	}
	rig_run(&r, 1);
	CHECK(r.state.next_us == SETTLED_US && r.state.steps == 1 && r.state.rejected == 0);
	sim_step(&r.s, &r.s.counter, RIG_HZ);
	for (uint64_t i = 1; i < CONFIRM; i++)
		CHECK(refresh(&r) == -EAGAIN && r.state.rejected == i && r.state.busy == i && hurries(&r));
	CHECK(r.state.quality == MDV_CLOCK_HOLDOVER && r.state.steps == 1);
	CHECK(refresh(&r) == 0 && r.state.steps == 2 && r.state.rejected == CONFIRM - 1 && hurries(&r));
	CHECK(reads_of_refresh(&r) == 33);
	rig_run(&r, 4);
	CHECK(r.state.next_us == SETTLED_US && reads_of_refresh(&r) == 25);
	CHECK(r.state.slews == 0);
	r.s.jitter = SIM_EXACT;
	rig_run(&r, 20);
	sim_set_rate(&r.s, &r.s.counter, RIG_HZ * (1 + 20.2e-6));
	rig_run(&r, 2);
	CHECK(r.state.slews > 0 && r.state.slews < 10 && r.state.steps == 2);
	mdv_clock_close(r.clock);
}

/** A line holds for two seconds before its reading and for a holdover after it; the line from the TSC as well. */
static void
test_host_span(void)
{
	const struct mdv_clock_line *host;
	uint64_t ticks, tsc, value;
	struct rig r;

	host_open(&r, 70);
	ticks = sim_read(&r.s, &r.s.counter, r.s.now_ps);
	tsc = sim_read(&r.s, &r.s.tsc, r.s.now_ps);
	host = &r.state.host;
	CHECK(mdv_clock_line_convert(&r.state.line, ticks + 100ull * RIG_HZ, &value));
	CHECK(!mdv_clock_line_convert(&r.state.line, ticks + 103ull * RIG_HZ, &value));
	CHECK(mdv_clock_line_convert(&r.state.line, ticks - 19ull * RIG_HZ / 10, &value));
	CHECK(!mdv_clock_line_convert(&r.state.line, ticks - 3ull * RIG_HZ, &value));
	CHECK(mdv_clock_line_convert(host, tsc + 100ull * SIM_TSC_HZ, &value));
	CHECK(!mdv_clock_line_convert(host, tsc + 103ull * SIM_TSC_HZ, &value));
	CHECK(mdv_clock_line_convert(host, tsc - 19ull * SIM_TSC_HZ / 10, &value));
	CHECK(!mdv_clock_line_convert(host, tsc - 3ull * SIM_TSC_HZ, &value));
	CHECK((host->mask & (host->mask + 1)) == 0 && host->mask >> 48 == 0 && host->mask >> 47 != 0);
	mdv_clock_close(r.clock);
}

/** The uncertainty covers the brackets of both readings and the last residual, and a change within it is no step. */
static void
test_host_uncertainty(void)
{
	uint64_t unsure;
	struct rig r;

	host_open(&r, 71);
	r.s.jitter = SIM_EXACT;
	rig_run(&r, 30);
	unsure = r.state.uncertainty_ns;
	CHECK(unsure >= 535 && unsure <= 560);
	sim_step(&r.s, &r.s.wall, 40);
	CHECK(refresh(&r) == 0 && r.state.rejected == 0 && r.state.slews == 0);
	CHECK(r.state.uncertainty_ns >= unsure + 290);
	rig_run(&r, 5);
	sim_step(&r.s, &r.s.wall, 400);
	CHECK(refresh(&r) == 0 && r.state.steps == 0 && hurries(&r));
	rig_run(&r, 5);
	sim_step(&r.s, &r.s.wall, 2000);
	CHECK(refresh(&r) == 0 && r.state.steps == 1);
	mdv_clock_close(r.clock);
}

/** A rate that changed by less than 1 ppm during a pause of 1000 s is no step; one by more is. */
static void
test_host_pause(void)
{
	struct rig r;

	for (int i = 0; i < 2; i++) {
		host_open(&r, 72 + i);
		sim_set_rate(&r.s, &r.s.counter, RIG_HZ * (1 + (i == 0 ? 20.8e-6 : 21.3e-6)));
		sim_pass_ns(&r.s, 1e12);
		rig_run(&r, 1);
		CHECK(r.state.steps == (uint64_t)i && r.state.refreshes > 50);
		mdv_clock_close(r.clock);
	}
}

/** Ages and counters of a clock that cannot be read. */
static void
test_host_unread(void)
{
	uint64_t refreshes;
	struct rig r;

	rig_init(&r, 66);
	CHECK(rig_begin(&r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) == 0);
	r.s.counter_ret = -EIO;
	CHECK(refresh(&r) == -EIO && r.state.failed == 1 && r.state.refreshes == 0);
	CHECK(r.state.age_ns > 10000 && r.state.age_ns < 100000000);
	mdv_clock_close(r.clock);

	host_open(&r, 67);
	refreshes = r.state.refreshes;
	for (uint64_t i = 1; i <= 5; i++) {
		sim_pass_ns(&r.s, 1e8);
		CHECK(refresh(&r) == 0 && r.state.refreshes == refreshes + i && r.state.age_ns < 1000000);
	}
	r.s.wall_ret = -EIO;
	sim_pass_ns(&r.s, 1e9);
	CHECK(refresh(&r) == -EIO && r.state.failed == 1 && r.state.refreshes == refreshes + 5);
	CHECK(r.state.age_ns > 1000000000 && r.state.age_ns < 1001000000);
	r.s.wall_ret = 0;
	CHECK(refresh(&r) == 0 && r.state.age_ns < 1000000 && r.state.quality == MDV_CLOCK_GOOD);
	r.s.synced = false;
	CHECK(refresh(&r) == 0 && r.state.quality == MDV_CLOCK_UNSYNCED);
	mdv_clock_close(r.clock);
}

/* ------------------------------------------------------------------ page */

static void
test_page_busy(void)
{
	struct rig r;

	rig_init(&r, 68);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000) == 0);
	CHECK(r.state.uncertainty_ns == 1 && strcmp(r.state.unit, "ns") == 0);
	rig_run(&r, 4);
	CHECK(r.state.next_us == SETTLED_US && r.state.age_ns > 4000000000 && r.state.age_ns < 5000000000);
	r.s.page_ret = -EAGAIN;
	CHECK(refresh(&r) == -EAGAIN && r.state.busy == 1 && r.state.next_us == 1000);
	CHECK(r.state.quality == MDV_CLOCK_HOLDOVER);
	r.s.page_ret = -EIO;
	CHECK(refresh(&r) == -EIO && r.state.failed == 1 && r.state.busy == 1 && hurries(&r));
	r.s.page_ret = 0;
	CHECK(refresh(&r) == 0 && r.state.next_us == SETTLED_US && r.state.quality == MDV_CLOCK_UNSYNCED);
	mdv_clock_close(r.clock);
}

/** Opens a page, with a rate set by a servo, whose point is so many seconds old. */
static void
page_open_old(struct rig *r, double age_s, int counter_ret)
{
	rig_init(r, 81);
	sim_page_init(&r->s, RIG_HZ, false, SIM_EPOCH_NS);
	r->s.point.mult += 12345;
	sim_pass_ns(&r->s, age_s * 1e9);
	r->s.counter_ret = counter_ret;
	CHECK(rig_open(r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000) == 0);
}

static bool
is_old(const struct rig *r, double age_s)
{
	return fabs((double)r->state.age_ns * 1e-9 - age_s) < 1;
}

/** The age of a point is read from the counter; the kernel moves it after a third of the counter's range, 4691 s. */
static void
test_page_age(void)
{
	static const struct {
		double age_s;
		enum mdv_clock_quality quality;
	} rows[] = { { 0, MDV_CLOCK_GOOD }, { 100, MDV_CLOCK_GOOD }, { 5124, MDV_CLOCK_GOOD },
		     { 5140, MDV_CLOCK_UNSYNCED }, { 5600, MDV_CLOCK_UNSYNCED }, { 6400, MDV_CLOCK_BROKEN } };
	struct rig r;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		page_open_old(&r, rows[i].age_s, 0);
		CHECK(r.state.quality == rows[i].quality && is_old(&r, rows[i].age_s), "%g s: %g", rows[i].age_s,
		      (double)r.state.age_ns);
		/* The counter is not needed for a point that is known. */
		r.s.counter_ret = -EIO;
		CHECK(refresh(&r) == 0 && is_old(&r, rows[i].age_s) && r.state.host.mult == 0);
		mdv_clock_close(r.clock);
	}
	/* Without the counter: the oldest point, and later ones are new. */
	page_open_old(&r, 0, -EIO);
	CHECK(is_old(&r, 4691) && r.state.host.mult == 0);
	sim_pass_ns(&r.s, 1e9);
	sim_page_advance(&r.s);
	CHECK(refresh(&r) == 0 && is_old(&r, 0));
	mdv_clock_close(r.clock);
}

/** A correction that does not change mult, while the counter wraps: a servo is running. */
static void
test_page_wraps(void)
{
	struct rig r;

	rig_init(&r, 82);
	sim_step(&r.s, &r.s.counter, -130 * (int64_t)RIG_HZ);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	r.s.point.mult += 12345;
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000) == 0);
	rig_run(&r, 129);
	sim_page_advance(&r.s);
	rig_run(&r, 0.5);
	CHECK(r.state.quality == MDV_CLOCK_UNSYNCED);
	rig_run(&r, 1);
	sim_page_advance(&r.s);
	rig_run(&r, 0.5);
	CHECK(r.state.quality == MDV_CLOCK_GOOD && r.state.slews == 0 && r.state.steps == 0);
	mdv_clock_close(r.clock);
	/* The nominal rate is not known: neither is a servo. */
	rig_init(&r, 83);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, false, 0) == 0 && r.state.quality == MDV_CLOCK_UNSYNCED);
	mdv_clock_close(r.clock);
}

/** Opens a page that is busy for a time: 20 attempts, 1 ms apart. */
static int
page_opened_after(double busy_ms)
{
	struct rig r;
	int ret;

	rig_init(&r, 78);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	r.s.page_busy_until_ps = r.s.now_ps + (int64_t)(busy_ms * 1e9);
	ret = rig_begin(&r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000);
	if (ret == 0)
		mdv_clock_close(r.clock);
	return ret;
}

/** Quality of a page whose rate is so many units of mult off the nominal one, 26843545.6. */
static enum mdv_clock_quality
quality_of_rate(uint32_t mult)
{
	struct rig r;

	rig_init(&r, 79);
	/* The counter began long ago. */
	sim_step(&r.s, &r.s.counter, 5000ll * RIG_HZ);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	r.s.point.shift = 22;
	r.s.point.mult = mult;
	CHECK(rig_open(&r, MDV_CLOCK_PAGE, true, false, RIG_HZ / 1000) == 0);
	mdv_clock_close(r.clock);
	return r.state.quality;
}

static void
test_page_open(void)
{
	CHECK(page_opened_after(19) == 0);
	CHECK(page_opened_after(20) == -EAGAIN);
	CHECK(quality_of_rate(26843545) == MDV_CLOCK_UNSYNCED);
	CHECK(quality_of_rate(26843546) == MDV_CLOCK_UNSYNCED);
	CHECK(quality_of_rate(26843547) == MDV_CLOCK_UNSYNCED);
	CHECK(quality_of_rate(26843548) == MDV_CLOCK_GOOD);
	CHECK(quality_of_rate(26843544) == MDV_CLOCK_GOOD);
}

/* ------------------------------------------------------------------ open */

/** The counter runs again after a time: opening waits for it so long, and no longer. */
static int
opened_after(struct rig *r, double still_ms)
{
	int ret;

	rig_init(r, 69);
	r->s.jitter = SIM_EXACT;
	r->s.still_until_ps = r->s.now_ps + (int64_t)(still_ms * 1e9);
	ret = rig_begin(r, MDV_CLOCK_AUTO, true, false, RIG_HZ / 1000);
	if (ret == 0)
		mdv_clock_close(r->clock);
	return ret;
}

static void
test_open(void)
{
	struct rig r;

	/* Four attempts of 23 ms each; the last one needs half of its readings. */
	CHECK(opened_after(&r, 75) == 0);
	CHECK(opened_after(&r, 85) == -ERANGE);
	CHECK(opened_after(&r, 94) == -ERANGE); /* One good reading. */
	CHECK(opened_after(&r, 95) == -ENODATA);
	/* A counter that cannot be read is not tried again. */
	rig_init(&r, 74);
	r.s.counter_ret = -EIO;
	CHECK(rig_begin(&r, MDV_CLOCK_AUTO, true, false, RIG_HZ / 1000) == -EIO && r.s.reads == 1);
	CHECK(strstr(r.why, "there is no clock page, and source host failed: EIO") != NULL);
	/* A point of the page is a line; of a real-time clock there is none. */
	rig_init(&r, 75);
	sim_page_init(&r.s, RIG_HZ, false, SIM_EPOCH_NS);
	r.s.utc_ret = 0;
	r.s.counter_ret = -EIO;
	CHECK(rig_open(&r, MDV_CLOCK_AUTO, true, true, RIG_HZ / 1000) == 0);
	CHECK(r.state.source == MDV_CLOCK_REALTIME && r.state.line.mult == 0 && r.state.steps == 0);
	mdv_clock_close(r.clock);
}

/* Allocations that were not released; the next one fails. */
static int live;
static bool no_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void __real_free(void *p);
void __wrap_free(void *p);

void *
__wrap_calloc(size_t n, size_t size)
{
	void *p = no_memory ? NULL : __real_calloc(n, size);

	live += p != NULL;
	return p;
}

void
__wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

static void
test_memory(void)
{
	struct rig r;
	int before = live;

	rig_init(&r, 80);
	no_memory = true;
	CHECK(rig_begin(&r, MDV_CLOCK_RAW, true, false, RIG_HZ / 1000) == -ENOMEM);
	no_memory = false;
	CHECK(rig_begin(&r, MDV_CLOCK_RAW, true, false, RIG_HZ / 1000) == 0 && live == before + 1);
	mdv_clock_close(r.clock);
	CHECK(live == before);
	r.s.counter_ret = -EIO;
	CHECK(rig_begin(&r, MDV_CLOCK_HOST, true, false, RIG_HZ / 1000) == -EIO && live == before);
}

/** A device that does not report its frequency: it is measured. */
static int
opened_at(struct rig *r, double hz, unsigned int fails_at)
{
	int ret;

	rig_init(r, 76);
	sim_step(&r->s, &r->s.counter, -100000);
	sim_set_rate(&r->s, &r->s.counter, hz);
	r->s.counter_mask = (1ull << MDV_CLOCK_BITS) - 1;
	r->s.counter_fails_at = fails_at;
	ret = rig_open(r, MDV_CLOCK_HOST, true, false, 0);
	if (ret == 0) {
		rig_run(r, 4);
		CHECK(fabs((double)r->state.frequency_hz - hz) < 100 && r->state.drift_ppm == 0);
		CHECK(r->state.steps == 0 && r->state.rejected == 0);
		mdv_clock_close(r->clock);
	}
	return ret;
}

static void
test_open_unknown_frequency(void)
{
	struct rig r;

	/* The counter wraps between the two readings. */
	CHECK(opened_at(&r, RIG_HZ, 0) == 0);
	CHECK(opened_at(&r, 5e9, 0) == 0);
	CHECK(opened_at(&r, 12e9, 0) == -ERANGE);
	CHECK(opened_at(&r, 0.8e6, 0) == -ERANGE);
	CHECK(opened_at(&r, RIG_HZ, 1) == -EIO);
	CHECK(opened_at(&r, RIG_HZ, 2) == -EIO);
	/* Too slow for a line. */
	rig_init(&r, 77);
	sim_set_rate(&r.s, &r.s.counter, 400e3);
	CHECK(rig_open(&r, MDV_CLOCK_HOST, true, false, 400) == -EPROTO);
}

void
test_state(void)
{
	test_realtime_set();
	test_realtime_turns();
	test_realtime_unread();
	test_raw();
	test_host_unsettled();
	test_host_span();
	test_host_uncertainty();
	test_host_pause();
	test_host_unread();
	test_page_busy();
	test_page_age();
	test_page_wraps();
	test_page_open();
	test_open();
	test_memory();
	test_open_unknown_frequency();
}
