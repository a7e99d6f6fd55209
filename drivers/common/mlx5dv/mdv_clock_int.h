/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the files of the clock share: where readings come from, and what is made of them. */
#ifndef MDV_CLOCK_INT_H
#define MDV_CLOCK_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "mdv_clock.h"

#define MDV_NS_PER_S 1000000000u
/** Bits of the counter that completions and the kernel's page count by (CYCLECOUNTER_MASK). */
#define MDV_CLOCK_BITS 41
#define MDV_CLOCK_SHIFT_MIN 21
#define MDV_CLOCK_SHIFT_MAX 32
/** A mask may be no wider, so that a product with mult has less than 80 bits. */
#define MDV_CLOCK_MASK_BITS_MAX 48

/** Where readings come from: a verbs context, or whatever else has a counter. Each logs nothing. */
struct mdv_clock_ops {
	/** As mdv_clock_read(). */
	int (*page)(void *ctx, struct mdv_clock_point *point);
	/** As mdv_clock_raw(). */
	int (*counter)(void *ctx, uint64_t *cycles);
	/** The device's own real time in ns. */
	int (*utc)(void *ctx, uint64_t *ns);
	/** CLOCK_REALTIME in ns. */
	int (*realtime)(void *ctx, uint64_t *ns);
	/** The host's TSC. */
	uint64_t (*tsc)(void *ctx);
	/** TAI - UTC in seconds as the host knows it, 0: it does not. */
	int (*tai_offset_s)(void *ctx);
	/** Is CLOCK_REALTIME kept in step with anything? */
	bool (*host_synced)(void *ctx);
	void (*sleep_us)(void *ctx, unsigned int us);
};

/** What is known of the device and the host before anything is read. */
struct mdv_clock_facts {
	uint64_t tsc_hz;	/**< Hz, nominal. */
	uint32_t frequency_khz; /**< kHz of the counter, nominal; 0: not known. */
	bool free_running;	/**< Queues can be made that stamp in ticks. */
	bool realtime;		/**< Queues can be made that stamp in seconds and nanoseconds. */
};

/** Opens a clock over any table of readings; as mdv_clock_open(). ops and ctx must outlive it. */
int mdv_clock_open_ops(const struct mdv_clock_ops *ops, void *ctx,
		       const struct mdv_clock_facts *facts, enum mdv_clock_source wanted,
		       struct mdv_clock **out, char *why, size_t why_bytes);

/* ------------------------------------------------------------------ mdv_clock_track.c */

/**
 * Follows a clock y by the TSC: an estimator of phase and rate (a Kalman filter of two states) with
 * rejection of outliers and detection of steps and changes of rate. Its reference, the moment of
 * the last reading, moves along, so that fractions never drown in large numbers.
 */
struct mdv_clock_track {
	double tsc_hz;	 /**< Hz, nominal. */
	double y_hz;	 /**< Units of y per second, nominal. */
	double wander;	 /**< ppb that the rate may walk off in a second. */
	unsigned int confirm; /**< Readings off the line in a row that make it be given up. */
	uint64_t tsc;	 /**< The reference. */
	uint64_t good_tsc; /**< TSC of the last reading that was believed. */
	uint64_t y;	 /**< Whole units at the reference. */
	double part;	 /**< Fraction of a unit at the reference, 0 to 1. */
	double rate;	 /**< Units of y per tick of the TSC. */
	double pp;	 /**< Variance of the phase, ns^2. */
	double pr;	 /**< Covariance of phase and rate, ns * ppb. */
	double rr;	 /**< Variance of the rate, ppb^2. */
	double nis;	 /**< Mean of squared residuals over those expected: 1 is right. */
	double trend;	 /**< Mean of residuals over those expected: 0 is right. */
	double residual; /**< The last one, ns. */
	double off;	 /**< Largest residual of late, ns. */
	double excess;	 /**< By how much readings scatter more than they seem to, ns^2. */
	unsigned int outliers; /**< Readings off the line in a row. */
	bool set;	 /**< There has been a reading. */
};

/** What a reading did to an estimate. */
enum mdv_clock_fix {
	MDV_FIX_TAKEN,	  /**< It was as expected, about. */
	MDV_FIX_TURNED,	  /**< It was taken, and the rate seems to have changed. */
	MDV_FIX_REJECTED, /**< It was not believed. */
	MDV_FIX_MOVED,	  /**< It was believed against what was known, which starts again. */
};

void mdv_clock_track_init(struct mdv_clock_track *t, double tsc_hz, double y_hz, double wander,
			  unsigned int confirm);
/** y at a TSC less what is expected, in ns. */
double mdv_clock_track_residual(const struct mdv_clock_track *t, uint64_t tsc, uint64_t y);
/** Takes a reading: y at a TSC that is not before the last one, with its variance in ns^2. */
enum mdv_clock_fix mdv_clock_track_fix(struct mdv_clock_track *t, uint64_t tsc, uint64_t y,
				       double part, double variance);
/** y at a TSC, as whole units and a fraction from 0 to 1. */
uint64_t mdv_clock_track_at(const struct mdv_clock_track *t, uint64_t tsc, double *part);
/** Variance of the phase in ns^2, ahead_s seconds after (or before) the reference. */
double mdv_clock_track_variance(const struct mdv_clock_track *t, double ahead_s);

/* ------------------------------------------------------------------ mdv_clock_sample.c */

/** What came of a series of readings. */
struct mdv_clock_sample {
	uint64_t tsc;	/**< Moment that the reading stands for. */
	uint64_t y;	/**< Whole units of the clock that was read, then. */
	double part;	/**< Fraction of a unit, 0 to 1. */
	double variance; /**< ns^2. */
	double half_ns; /**< Half of the tightest bracket: how far off all readings may be alike. */
};

/** A clock that can be read: 0 or a negative errno. */
typedef int (*mdv_clock_reader)(void *ctx, uint64_t *y);

/**
 * Reads a clock many times between two looks at the TSC each, and makes one reading of those that
 * took the shortest.
 *
 * @param t
 *   What is known of it: readings are compared by their residuals.
 * @param mask
 *   Of the clock's counter; y is carried on beyond it from where t stands.
 * @return
 *   0; -EAGAIN it did not move meanwhile; or what the reader says.
 */
int mdv_clock_sample_take(const struct mdv_clock_ops *ops, void *ctx, mdv_clock_reader reader,
			  const struct mdv_clock_track *t, uint64_t mask, unsigned int reads,
			  struct mdv_clock_sample *sample);

/* ------------------------------------------------------------------ mdv_clock_line.c */

/**
 * The line of a point of the clock page, exact, over half of the mask before the point and half
 * after it. 0; -EPROTO for a point that no such line can be made of.
 */
int mdv_clock_line_of_point(const struct mdv_clock_point *point, struct mdv_clock_line *line);

/**
 * Lays the line, whose mult, shift and mask are set, through a value (times 2^shift) at a number of
 * ticks: from before ticks behind it over span ticks in all, as far as values have 64 bits.
 */
void mdv_clock_line_around(struct mdv_clock_line *line, uint64_t ticks, unsigned __int128 value,
			   uint64_t before, uint64_t span);

/** A straight piece of a clock, in the terms that it is measured in. */
struct mdv_clock_slope {
	uint64_t ticks, value; /**< A tick, and the value there. */
	double part;	       /**< Of a value unit, on top of value; may be negative. */
	double rate;	       /**< Value units per tick. */
	uint64_t mask;	       /**< Of the ticks. */
	uint64_t before, after; /**< Ticks around it for which it holds. */
};

/** The line of that piece, as precise as a line can be. 0; -EPROTO when it has no line. */
int mdv_clock_line_of_slope(const struct mdv_clock_slope *slope, struct mdv_clock_line *line);

/** Ticks that last so many ns; UINT64_MAX when they are more. */
uint64_t mdv_clock_ticks(uint64_t ns, uint64_t hz);
/** ns that so many ticks last; UINT64_MAX when they are more. */
uint64_t mdv_clock_ns(uint64_t ticks, uint64_t hz);

/* ------------------------------------------------------------------ the clock and its sources */

/** A clock that is followed by the TSC. */
struct mdv_clock_followed {
	struct mdv_clock_track track;
	double half_ns;	 /**< ns: half of the tightest brackets; their middle may be so far off. */
	uint64_t unsettled_tsc; /**< TSC when it last behaved otherwise than expected. */
	bool moved;	  /**< The last reading was believed against what was known. */
};

struct mdv_clock {
	const struct mdv_clock_ops *ops;
	void *ctx;
	struct mdv_clock_facts facts;
	struct mdv_clock_followed counter; /**< The core clock counter, in ticks. */
	struct mdv_clock_followed wall;	   /**< CLOCK_REALTIME, in ns. */
	struct mdv_clock_followed utc;	   /**< The device's real time, in ns. */
	struct mdv_clock_point point;	   /**< page: the last one. */
	uint64_t point_tsc;	      /**< page: TSC when the point was new. */
	uint64_t servo_tsc; /**< page: TSC when a servo did something last, or of the opening. */
	uint64_t line_unsure_ns; /**< host, realtime: uncertainty of the last line. */
	uint64_t line_tsc;	      /**< TSC of the last refresh that gave a line. */
	double cost_us;		      /**< Of a refresh that nothing holds up; 0: not known. */
	struct mdv_clock_state state; /**< What the last refresh gave. */
};

/** What differs from source to source. */
struct mdv_clock_source_ops {
	const char *name, *unit, *epoch;
	/** Takes the first readings. 0 or a negative errno. */
	int (*open)(struct mdv_clock *clock);
	/** Takes new readings, and lays the lines through them. 0 or a negative errno. */
	int (*refresh)(struct mdv_clock *clock);
	/** Are the values in step with something outside? Asked after a good refresh. */
	bool (*in_step)(struct mdv_clock *clock);
};

/** Of each enum mdv_clock_source; MDV_CLOCK_AUTO has but a name. */
extern const struct mdv_clock_source_ops mdv_clock_sources[MDV_CLOCK_RAW + 1];

/* ------------------------------------------------------------------ mdv_clock_follow.c */

/** Seconds for which lines of clocks that are well known hold, either way. */
#define MDV_CLOCK_HOLD_S 2.0
/** Seconds that a line can be led on while nothing can be read. */
#define MDV_CLOCK_HOLDOVER_S 100.0
/** How many deviations are called uncertainty. */
#define MDV_CLOCK_SIGMAS 4.0

/** Forgets all readings. */
void mdv_clock_source_init(struct mdv_clock *clock);
/** Forgets those of the counter, which runs at about so many Hz. */
void mdv_clock_counter_init(struct mdv_clock *clock, double hz);

/** Take a reading. 0; -EAGAIN it was not believed, or there was none; or what reading says. */
int mdv_clock_follow_counter(struct mdv_clock *clock);
int mdv_clock_follow_wall(struct mdv_clock *clock);
int mdv_clock_follow_utc(struct mdv_clock *clock);

/** It did otherwise than expected in the last seconds, or nothing is known of it yet. */
bool mdv_clock_unsettled(const struct mdv_clock *clock, const struct mdv_clock_followed *f);

/** Seconds from one TSC to a later one. */
double mdv_clock_since_s(const struct mdv_clock *clock, uint64_t tsc, uint64_t then);
/**
 * Seconds for which lines of counter and host's clock hold from now on: as long as they were
 * watched.
 */
double mdv_clock_hold_s(const struct mdv_clock *clock, uint64_t tsc);
/**
 * Variance of the phase in ns^2, so many seconds from the last reading; as bad as it turned out.
 */
double mdv_clock_followed_variance(const struct mdv_clock_followed *f, double ahead_s);
/** ns: how far a followed clock may be off where it is expected, for as long as lines hold. */
uint64_t mdv_clock_followed_ns(const struct mdv_clock_followed *f);

/** Hz by the host's clock, of something that runs at rate by the TSC. */
double mdv_clock_hz(const struct mdv_clock *clock, double rate);
/** ns of TAI - UTC. */
int64_t mdv_clock_tai_ns(const struct mdv_clock *clock);
/** Tells the counter's frequency, and the drift of values; while rates are known. */
void mdv_clock_report_rates(struct mdv_clock *clock, double value_per_s, double nominal_per_s);
/** Tells the time by the TSC: the line through a value at a TSC, of rate value units per tick. */
void mdv_clock_report_time(struct mdv_clock *clock, uint64_t tsc, uint64_t value, double part,
			 double rate);
/** Compares a device's time with the host's, and tells which time it can be. */
void mdv_clock_report_offset(struct mdv_clock *clock, uint64_t tsc, uint64_t value);

static inline uint64_t
mdv_clock_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static inline bool
mdv_clock_is_near(int64_t off_ns, int64_t target_ns, int64_t limit_ns)
{
	return off_ns - target_ns < limit_ns && off_ns - target_ns > -limit_ns;
}

/* ------------------------------------------------------------------ mdv_clock_{page,host}.c */

/** As in struct mdv_clock_source_ops. */
int mdv_clock_page_open(struct mdv_clock *clock);
int mdv_clock_page_refresh(struct mdv_clock *clock);
bool mdv_clock_page_in_step(struct mdv_clock *clock);
int mdv_clock_host_open(struct mdv_clock *clock);
int mdv_clock_host_refresh(struct mdv_clock *clock);
bool mdv_clock_host_in_step(struct mdv_clock *clock);

/** Can the page's rate only be what a servo made of it that has been at work of late? */
bool mdv_clock_servo_seen(const struct mdv_clock *clock);

#endif /* MDV_CLOCK_INT_H */
