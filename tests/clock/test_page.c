/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Lines of the clock page against 128-bit arithmetic, and against the kernel's page over time. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim.h"

#define MASK ((1ull << MDV_CLOCK_BITS) - 1)
#define S MDV_NS_PER_S

static const uint64_t frequencies[] = { 78125000, 156250000, 312500000, 1000000000 };
#define N_FREQUENCIES (sizeof(frequencies) / sizeof(frequencies[0]))

/* ------------------------------------------------------------------ one point */

struct tally {
	uint64_t timestamps, right, absent, wrong, worst_ns;
};

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/** Whether the value of a timestamp fits in 64 bits. */
static bool
has_value(const struct mdv_clock_point *p, int64_t delta)
{
	__int128 value = ((__int128)p->ns << p->shift) + p->frac + (__int128)delta * p->mult;

	return value >= 0 && value >> p->shift <= UINT64_MAX;
}

static void
check_stamp(const struct mdv_clock_point *p, const struct mdv_clock_line *line, int64_t delta,
	    struct tally *t)
{
	uint64_t value, off, is = sim_page_time(p, delta);

	t->timestamps++;
	if (!mdv_clock_line_convert(line, p->cycles + (uint64_t)delta, &value)) {
		t->absent++;
		t->wrong += has_value(p, delta);
		return;
	}
	off = distance(value, is);
	t->worst_ns = off > t->worst_ns ? off : t->worst_ns;
	t->wrong += off > 1 || !has_value(p, delta);
	t->right += off <= 1;
}

/** Properties on which the vector conversion depends. */
static void
check_form(const struct mdv_clock_line *line)
{
	CHECK(line->mult != 0 && line->shift >= 21 && line->shift <= 32);
	CHECK((line->mask & (line->mask + 1)) == 0 && line->mask >> 48 == 0);
	CHECK(line->span <= line->mask && line->frac >> line->shift == 0);
	CHECK((((unsigned __int128)line->span * line->mult + line->frac) >> line->shift) <=
	      UINT64_MAX - line->start);
}

static void
check_point(struct sim *s, const struct mdv_clock_point *p, struct tally *t)
{
	static const int64_t edges[] = { 0, 1, -1, MASK / 2, -(int64_t)(MASK / 2) - 1, MASK / 8,
					 -(int64_t)(MASK / 8), -(int64_t)(MASK / 2) };
	struct mdv_clock_line line;

	CHECK(mdv_clock_line_of_point(p, &line) == 0);
	check_form(&line);
	for (unsigned int i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		check_stamp(p, &line, edges[i], t);
	for (int i = 0; i < 200; i++)
		check_stamp(p, &line, (int64_t)(sim_random(s) & MASK) - (int64_t)(MASK / 2) - 1, t);
	/* Packets have small distances. */
	for (int i = 0; i < 50; i++)
		check_stamp(p, &line, (int64_t)(sim_random(s) >> 30) - (1ll << 33), t);
}

/** Extreme times: now, 31 and 32 bits of seconds, both ends of 64 bits. */
static const uint64_t moments[] = {
	SIM_EPOCH_NS, (1ull << 31) * S - 1, (1ull << 31) * S + 5 * S, (1ull << 32) * S, 0, 1000,
	INT64_MAX, (1ull << 63) + 3, UINT64_MAX - 7,
	/* Less than the mask before the end, but more than half of it, at 1 GHz. */
	UINT64_MAX - 1650ull * S,
};
static const uint64_t counts[] = { 0, 1, MASK, MASK - 3, MASK / 2, MASK / 2 + 1, MASK / 8 };

static void
check_generation(struct sim *s, uint64_t hz, bool old_kernel, struct tally *t)
{
	struct mdv_clock_point p;

	sim_page_init(s, hz, old_kernel, 0);
	for (int ppm = -100; ppm <= 100; ppm += 10)
		for (unsigned int m = 0; m < sizeof(moments) / sizeof(moments[0]); m++)
			for (unsigned int c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
				p = s->point;
				p.mult = (uint32_t)llround(p.mult * (1 + ppm * 1e-6));
				p.ns = moments[m];
				p.cycles = counts[c];
				p.frac = sim_random(s) & ((1ull << p.shift) - 1);
				check_point(s, &p, t);
			}
}

static void
test_points(void)
{
	struct sim s;

	printf("%-12s %6s %10s %10s %10s %8s %9s\n", "points, MHz", "shift", "timestamps", "right",
	       "absent", "wrong", "worst ns");
	for (unsigned int f = 0; f < N_FREQUENCIES; f++)
		for (int old = 0; old < 2; old++) {
			struct tally t = { 0 };

			sim_init(&s, frequencies[f], 0, 1, 1 + f);
			check_generation(&s, frequencies[f], old, &t);
			printf("%-12.3f %6u %10llu %10llu %10llu %8llu %9llu\n",
			       frequencies[f] / 1e6, s.point.shift, (unsigned long long)t.timestamps,
			       (unsigned long long)t.right, (unsigned long long)t.absent,
			       (unsigned long long)t.wrong, (unsigned long long)t.worst_ns);
			CHECK(t.wrong == 0 && t.worst_ns == 0);
		}
}

/** Pages that no kernel writes: some convert exactly, the others are refused. */
static void
test_odd_points(void)
{
	const struct mdv_clock_point fine = { .ns = SIM_EPOCH_NS, .cycles = 1000, .mask = MASK,
					      .mult = 3435973837u, .shift = 29 };
	struct mdv_clock_point p;
	struct mdv_clock_line line;
	struct tally t = { 0 };
	uint64_t value;
	struct sim s;

	sim_init(&s, 156250000, 0, 1, 99);
	for (uint32_t shift = 0; shift < 64; shift++) {
		p = fine;
		p.shift = shift;
		p.mult = shift < 29 ? fine.mult >> (29 - shift) : fine.mult;
		CHECK((mdv_clock_line_of_point(&p, &line) == 0) == (shift <= 32 && p.mult != 0));
		if (line.mult != 0)
			check_point(&s, &p, &t);
	}
	p = fine;
	p.shift = 20; /* With a shift of 21 mult would have 33 bits. */
	CHECK(mdv_clock_line_of_point(&p, &line) == -EPROTO);
	p = fine;
	p.frac = 5ull << 29; /* More than a nanosecond; the time is exactly the same. */
	check_point(&s, &p, &t);
	CHECK(t.wrong == 0);
	for (int i = 0; i < 3; i++) {
		p = fine;
		p.mult = i == 0 ? 0 : p.mult;
		p.mask = i == 1 ? 0 : i == 2 ? MASK - 1 : p.mask;
		CHECK(mdv_clock_line_of_point(&p, &line) == -EPROTO);
	}
	p = fine;
	p.mask = UINT64_MAX;
	CHECK(mdv_clock_line_of_point(&p, &line) == -EPROTO);
	p.mask = (1ull << 49) - 1;
	memset(&line, 0xff, sizeof(line));
	CHECK(mdv_clock_line_of_point(&p, &line) == -EPROTO && line.mult == 0);
	p.mask = (1ull << 48) - 1;
	CHECK(mdv_clock_line_of_point(&p, &line) == 0);
	p = fine;
	p.shift = 20;
	p.mult = INT32_MAX; /* Has 32 bits with a shift of 21. */
	CHECK(mdv_clock_line_of_point(&p, &line) == 0 && line.shift == 21);
	p.shift = 32;
	p.mult = UINT32_MAX;
	CHECK(mdv_clock_line_of_point(&p, &line) == 0);
	p = fine;
	p.ns = UINT64_MAX;
	p.frac = (1ull << p.shift) - 1;
	CHECK(mdv_clock_line_of_point(&p, &line) == 0);
	CHECK((line.frac & 1) == 1);
	p.frac++;
	CHECK(mdv_clock_line_of_point(&p, &line) == -EPROTO);
	/* One ns per tick: the last ticks that have a value. */
	p.shift = 31;
	p.mult = 1u << 31;
	for (uint64_t frac = 0; frac <= p.mult - 1; frac += p.mult - 1) {
		p.ns = UINT64_MAX - 9;
		p.frac = frac;
		CHECK(mdv_clock_line_of_point(&p, &line) == 0);
		CHECK(mdv_clock_line_convert(&line, p.cycles + 9, &value) && value == UINT64_MAX);
		CHECK(!mdv_clock_line_convert(&line, p.cycles + 10, &value));
	}
}

/** Conversions of durations are exact, and end at 64 bits. */
static void
test_durations(void)
{
	CHECK(mdv_clock_ns(5000000000, 1000000000) == 5000000000 && mdv_clock_ns(3, 2000000000) == 1);
	CHECK(mdv_clock_ticks(5000000000, 1000000000) == 5000000000 && mdv_clock_ticks(3, 500000000) == 1);
	CHECK(mdv_clock_ns(UINT64_MAX, 1000000000) == UINT64_MAX && mdv_clock_ns(UINT64_MAX, 500000000) == UINT64_MAX);
	CHECK(mdv_clock_ticks(UINT64_MAX, 2500000000) == UINT64_MAX);
}

/** Measured rates and values at the limits of what a line can represent. */
static void
test_slopes(void)
{
	static const struct {
		double rate, part;
		uint64_t value;
		uint32_t shift; /**< 0: it cannot be represented. */
	} rows[] = {
		{ 0.4, 0, SIM_EPOCH_NS, 32 }, { 6.4, 0, SIM_EPOCH_NS, 29 }, { 1500, 0, SIM_EPOCH_NS, 21 },
		{ 3000, 0, SIM_EPOCH_NS, 0 }, { 1 / 4294967296.0, 0, SIM_EPOCH_NS, 32 },
		{ 1 / 17179869184.0, 0, SIM_EPOCH_NS, 0 }, { 4294967295 / 4294967296.0, 0, SIM_EPOCH_NS, 32 },
		{ -1, 0, SIM_EPOCH_NS, 0 }, { NAN, 0, SIM_EPOCH_NS, 0 }, { 1, 0, 0, 31 }, { 1, -0.5, 0, 0 },
		{ 1, -0.5, 1, 31 }, { 1, 0.5, UINT64_MAX, 31 }, { 1, 1.5, UINT64_MAX, 0 },
	};
	struct mdv_clock_slope slope = { .ticks = 1ull << 45, .mask = MASK, .before = 1000, .after = 5000 };
	struct mdv_clock_line line;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		slope.rate = rows[i].rate;
		slope.part = rows[i].part;
		slope.value = rows[i].value;
		memset(&line, 0xff, sizeof(line));
		CHECK_EQ(mdv_clock_line_of_slope(&slope, &line), rows[i].shift == 0 ? -EPROTO : 0);
		CHECK(line.shift == rows[i].shift && (line.mult == 0) == (line.shift == 0), "row %u", i);
		if (line.mult != 0)
			check_form(&line);
	}
	slope = (struct mdv_clock_slope){ .ticks = 1ull << 45, .value = SIM_EPOCH_NS, .rate = 1, .mask = MASK,
					  .before = 1000, .after = 5000 };
	CHECK(mdv_clock_line_of_slope(&slope, &line) == 0 && line.base == slope.ticks - 1000 && line.span == 6000);
	/* At most a quarter of the mask before, and half of it in all. */
	slope.before = slope.after = UINT64_MAX / 4;
	CHECK(mdv_clock_line_of_slope(&slope, &line) == 0);
	CHECK(line.base == slope.ticks - MASK / 4 && line.span == MASK / 2);
}

/* ------------------------------------------------------------------ over time */

/** A change between two refreshes. Returns whether the page was changed. */
typedef bool (*mishap)(struct sim *s);

struct world {
	struct sim s;
	struct mdv_clock *clock;
	struct mdv_clock_state state;
	struct mdv_clock_point seen; /**< The page when it was last read. */
	uint64_t seen_ticks, set;    /**< Number of times that a servo or a step set the page. */
	uint64_t moved_ps;	     /**< Time at which the kernel last moved its point. */
	bool kernel_sleeps;	     /**< The kernel never moves its point. */
};

static bool
world_open(struct world *w, uint64_t hz, bool old_kernel, double ppm, uint64_t ns, uint64_t start)
{
	const struct mdv_clock_facts facts = { .tsc_hz = SIM_TSC_HZ, .free_running = true,
					       .frequency_khz = (uint32_t)(hz / 1000) };
	char why[200];

	memset(w, 0, sizeof(*w));
	sim_init(&w->s, hz, ppm, start, hz / 1000 + old_kernel);
	sim_page_init(&w->s, hz, old_kernel, ns);
	w->moved_ps = w->s.now_ps;
	w->seen = w->s.point;
	w->seen_ticks = w->s.point_ticks;
	if (mdv_clock_open_ops(&sim_ops, &w->s, &facts, MDV_CLOCK_PAGE, &w->clock, why,
			       sizeof(why)) == 0) {
		mdv_clock_refresh(w->clock, &w->state);
		return true;
	}
	fprintf(stderr, "%s\n", why);
	CHECK(false);
	return false;
}

static void
world_refresh(struct world *w)
{
	struct mdv_clock_point point = w->s.point;
	uint64_t ticks = w->s.point_ticks;
	int ret = mdv_clock_refresh(w->clock, &w->state);

	if (ret != 0)
		return;
	w->seen = point;
	w->seen_ticks = ticks;
}

/**
 * Converts the timestamp of a packet that arrived waited_ns ago: by the page, or by its content when it was last read.
 */
static void
world_timestamp(struct world *w, uint64_t waited_ns, struct tally *t)
{
	uint64_t at = sim_read(&w->s, &w->s.counter, w->s.now_ps), value, off;
	uint64_t tsc = sim_read(&w->s, &w->s.tsc, w->s.now_ps);

	at -= (uint64_t)(waited_ns * (w->s.counter.rate_uhz / 1e15));
	t->timestamps++;
	if ((int64_t)(w->state.valid_tsc - tsc) <= 0 || w->state.quality == MDV_CLOCK_BROKEN ||
	    !mdv_clock_line_convert(&w->state.line, at, &value)) {
		t->absent++;
		return;
	}
	off = distance(value, sim_page_time(&w->seen, (int64_t)(at - w->seen_ticks)));
	if (off > 1 && w->state.rejected == 0)
		off = distance(value, sim_page_time(&w->s.point,
						    (int64_t)(at - w->s.point_ticks)));
	t->worst_ns = off > t->worst_ns ? off : t->worst_ns;
	t->wrong += off > 1;
	t->right += off <= 1;
}

/** The kernel maintains its page, the clock is refreshed when due, packets arrive. */
static void
world_run(struct world *w, mishap happens, unsigned int refreshes, unsigned int timestamps,
	  double gap_scale, struct tally *t)
{
	for (unsigned int r = 0; r < refreshes; r++) {
		double gap = w->state.next_us * 1000.0 * gap_scale;

		for (unsigned int i = 0; i < timestamps; i++) {
			sim_pass_ns(&w->s, gap / timestamps);
			if (i == timestamps / 2 && happens != NULL)
				w->set += happens(&w->s);
			world_timestamp(w, i % 4 == 0 ? sim_random(&w->s) % (20ull * S) : 0, t);
		}
		if (!w->kernel_sleeps && w->s.page_ret == 0 &&
		    (w->s.now_ps - w->moved_ps) / 1000 > sim_page_period_ns(&w->s)) {
			sim_page_advance(&w->s);
			w->moved_ps = w->s.now_ps;
		}
		world_refresh(w);
	}
}

static bool
servo(struct sim *s)
{
	static uint32_t nominal;
	double ppm = 200 * sim_uniform(s) - 100;

	if (nominal == 0 || fabs((double)s->point.mult / nominal - 1) > 1e-3)
		nominal = s->point.mult;
	sim_page_advance(s);
	s->point.mult = (uint32_t)llround(nominal * (1 + ppm * 1e-6));
	return false;
}

static bool
servo_and_steps(struct sim *s)
{
	servo(s);
	if (sim_random(s) % 8 != 0)
		return false;
	s->point.ns += (int64_t)(sim_random(s) % (4ull * S)) - 2ll * S;
	return true;
}

/** Frequencies, kernels, drifts; just before the counter wraps and before 32-bit seconds end. */
static void
test_running(void)
{
	static const uint64_t ns[] = { SIM_EPOCH_NS, (1ull << 31) * S - 3ull * S,
				       (1ull << 32) * S - 3ull * S };
	uint64_t set = 0, steps = 0, slews = 0;
	struct tally t = { 0 };
	struct world w;

	for (unsigned int c = 0; c < N_FREQUENCIES * 2 * 3 * 5; c++) {
		uint64_t hz = frequencies[c % N_FREQUENCIES];
		double ppm = (double)(c / 24) * 50 - 100;

		if (!world_open(&w, hz, c / 4 % 2, ppm, ns[c / 8 % 3], (5ull << 41) - 2 * hz))
			return;
		world_run(&w, NULL, 100, 20, 1, &t);
		world_run(&w, servo, 100, 20, 1, &t);
		CHECK(w.state.steps == 0);
		world_run(&w, servo_and_steps, 200, 20, 1, &t);
		CHECK(w.state.steps == w.set);
		CHECK(w.state.rejected == 0 && w.state.failed == 0);
		set += w.set;
		steps += w.state.steps;
		slews += w.state.slews;
		mdv_clock_close(w.clock);
	}
	printf("running: %llu timestamps, %llu right, %llu absent, %llu wrong, worst %llu ns; "
	       "set %llu times, %llu steps, %llu slews\n", (unsigned long long)t.timestamps,
	       (unsigned long long)t.right, (unsigned long long)t.absent,
	       (unsigned long long)t.wrong, (unsigned long long)t.worst_ns,
	       (unsigned long long)set, (unsigned long long)steps, (unsigned long long)slews);
	CHECK(t.wrong == 0);
	CHECK(t.absent == 0);
}

/** A rate that no servo sets is refused; a point later than the counter's reading is accepted as new. */
static void
test_doubtful_points(void)
{
	struct world w;

	if (!world_open(&w, 156250000, false, 0, SIM_EPOCH_NS, 5ull << 41))
		return;
	w.s.point.mult /= 2;
	CHECK(mdv_clock_refresh(w.clock, &w.state) == -EPROTO && w.state.rejected == 1);
	w.s.point.mult *= 2;
	w.s.counter_still = true;
	w.s.still = sim_read(&w.s, &w.s.counter, w.s.now_ps);
	sim_pass_ns(&w.s, 50000);
	sim_page_advance(&w.s);
	world_refresh(&w);
	CHECK(w.state.age_ns < 1000000 && w.state.quality != MDV_CLOCK_BROKEN);
	mdv_clock_close(w.clock);
}

/** A point is used for half of the counter's range less the margin. */
static void
test_validity(void)
{
	uint64_t tsc;
	struct world w;

	if (!world_open(&w, 1000000000, false, 0, SIM_EPOCH_NS, 5ull << 41))
		return;
	tsc = sim_read(&w.s, &w.s.tsc, w.s.now_ps);
	CHECK(fabs((double)(w.state.valid_tsc - tsc) / SIM_TSC_HZ - MASK * 1e-9 * 7 / 16) < 1);
	mdv_clock_close(w.clock);
}

/** The time is set by few nanoseconds, and to the beginning of the epoch. Two are within the rounding. */
static void
test_small_steps(void)
{
	static const int64_t by[] = { 2, -2, 3, -3 };
	struct world w;

	if (!world_open(&w, 156250000, false, 0, SIM_EPOCH_NS, 5ull << 41))
		return;
	for (unsigned int i = 0; i < 4; i++) {
		sim_pass_ns(&w.s, 1e8);
		w.s.point.ns += (uint64_t)by[i];
		CHECK(mdv_clock_refresh(w.clock, &w.state) == 0);
		CHECK_EQ(w.state.steps, i < 2 ? 0 : i - 1);
	}
	sim_pass_ns(&w.s, 1e8);
	sim_page_advance(&w.s);
	w.s.point.ns = 5;
	CHECK(mdv_clock_refresh(w.clock, &w.state) == 0 && w.state.steps == 3);
	mdv_clock_close(w.clock);
}

void
test_page(void)
{
	test_points();
	test_doubtful_points();
	test_small_steps();
	test_validity();
	test_odd_points();
	test_slopes();
	test_durations();
	test_running();
}

/* ------------------------------------------------------------------ faults */

static bool
torn(struct sim *s)
{
	s->page_ret = sim_random(s) % 3 == 0 ? -EAGAIN : 0;
	s->point_garbled = true;
	return s->page_ret == 0 && servo(s);
}

static bool
stuck(struct sim *s)
{
	s->page_ret = -EAGAIN;
	return false;
}

static bool
flipping(struct sim *s)
{
	s->page_ret = sim_random(s) % 10 != 0 ? -EAGAIN : 0;
	return false;
}

static bool
jumping(struct sim *s)
{
	sim_page_advance(s);
	s->point.ns += sim_random(s) % 2 ? (int64_t)S : -(int64_t)S;
	return true;
}

static bool
backwards(struct sim *s)
{
	sim_page_advance(s);
	s->point.ns -= sim_random(s) % S + 10;
	return true;
}

/* The point goes back on the counter and on the line alike: converted times do not change. */
static bool
older_point(struct sim *s)
{
	uint64_t ticks = sim_random(s) % 1000000;
	__int128 value = ((__int128)s->point.ns << s->point.shift) + s->point.frac -
			 (__int128)ticks * s->point.mult;

	s->point_ticks -= ticks;
	s->point.cycles = s->point_ticks & s->point.mask;
	s->point.ns = (uint64_t)(value >> s->point.shift);
	s->point.frac = (uint64_t)value & ((1ull << s->point.shift) - 1);
	return false;
}

static bool
refused(struct sim *s)
{
	s->page_ret = sim_random(s) % 4 == 0 ? -ENOTSUP : 0;
	return false;
}

/* Sometimes a page that no kernel writes, without an error. */
static bool
nonsense(struct sim *s)
{
	struct mdv_clock_point *p = &s->point;

	if (s->kept.mask != 0) {
		*p = s->kept;
		s->kept.mask = 0;
		return false;
	}
	s->kept = *p;
	switch (sim_random(s) % 6) {
	case 0:
		p->mult = 0;
		break;
	case 1:
		p->mult *= 2;
		break;
	case 2:
		p->shift += 1;
		break;
	case 3:
		p->shift = 200;
		break;
	case 4:
		p->mask = 12345;
		break;
	default:
		p->mask = UINT64_MAX;
		break;
	}
	return false;
}

static bool
nothing(struct sim *s)
{
	(void)s;
	return false;
}

static const struct fault {
	const char *name;
	mishap happens;
	bool kernel_sleeps;
	double gap_scale; /**< Factor by which refreshes are late. */
	bool runs_out;	  /**< Timestamps must become absent in the end. */
} faults[] = {
	{ "torn", torn, false, 1, false },
	{ "stuck updating", stuck, true, 25, true },
	{ "sign changing", flipping, false, 1, false },
	{ "never updated", nothing, true, 25, true },
	{ "jump +-1 s", jumping, false, 1, false },
	{ "backwards", backwards, false, 1, false },
	{ "older point", older_point, false, 1, false },
	{ "refused", refused, false, 1, false },
	{ "nonsense", nonsense, true, 1, false },
};

static void
fault_run(const struct fault *f, uint64_t hz, bool old_kernel, struct tally *t)
{
	uint64_t absent = t->absent;
	struct world w;

	if (!world_open(&w, hz, old_kernel, 37, SIM_EPOCH_NS, (5ull << 41) - 2 * hz))
		return;
	w.kernel_sleeps = f->kernel_sleeps;
	/* While the page is busy, it is refreshed 100 times as often. */
	world_run(&w, f->happens, f->happens == stuck ? 100000 : 2500, f->happens == stuck ? 2 : 50,
		  f->gap_scale, t);
	if (f->runs_out && hz == 1000000000)
		CHECK(t->absent > absent);
	if (!f->runs_out)
		CHECK(t->absent == absent);
	/* Two changes of rate between two readings may look like a step; a step never looks like none. */
	CHECK(w.state.steps == w.set || (f->happens == torn && w.state.steps > w.set));
	CHECK(f->happens != refused || w.state.failed > 0);
	CHECK(f->happens != torn || w.state.busy > 0);
	CHECK(f->happens != nonsense || w.state.rejected > 100);
	/* After the fault, timestamps are correct again. */
	w.s.page_ret = 0;
	if (w.s.kept.mask != 0)
		w.s.point = w.s.kept;
	sim_page_advance(&w.s);
	world_refresh(&w);
	absent = t->absent;
	world_timestamp(&w, 0, t);
	CHECK(t->absent == absent && w.state.quality != MDV_CLOCK_BROKEN);
	mdv_clock_close(w.clock);
}

void
test_faults(void)
{
	printf("%-16s %10s %10s %10s %8s\n", "page fault", "timestamps", "right", "absent", "wrong");
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct tally t = { 0 };

		for (unsigned int f = 0; f < N_FREQUENCIES; f++)
			for (int old = 0; old < 2; old++)
				fault_run(&faults[i], frequencies[f], old, &t);
		printf("%-16s %10llu %10llu %10llu %8llu\n", faults[i].name,
		       (unsigned long long)t.timestamps, (unsigned long long)t.right,
		       (unsigned long long)t.absent, (unsigned long long)t.wrong);
		CHECK(t.timestamps >= 1000000);
		CHECK(t.wrong == 0);
	}
}
