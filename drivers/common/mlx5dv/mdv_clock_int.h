/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Internal declarations of the clock. */
#ifndef MDV_CLOCK_INT_H
#define MDV_CLOCK_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "mdv_clock.h"

#define MDV_NS_PER_S 1000000000u
/** Bits of the counter in CQE timestamps and the clock page (Linux, CYCLECOUNTER_MASK(41)). */
#define MDV_CLOCK_BITS 41
#define MDV_CLOCK_MASK ((UINT64_C(1) << MDV_CLOCK_BITS) - 1)
#define MDV_CLOCK_SHIFT_MIN 21
#define MDV_CLOCK_SHIFT_MAX 32
/** Widest mask: a product with mult then has at most 80 bits. */
#define MDV_CLOCK_MASK_BITS_MAX 48
/** Refresh period: a tenth of the period of linuxptp's corrections (1 s by default). */
#define MDV_CLOCK_REFRESH_US 100000u
/** Most readings of a series. */
#define MDV_CLOCK_READS_MAX 32
/** Initial deviation of a rate: the limit of Linux (MAXFREQ of linux/timex.h, 500 ppm). */
#define MDV_CLOCK_RATE_UNKNOWN_PPB 500e3

/** Readings of device and host clocks. They log nothing. */
struct mdv_clock_ops {
	/** As mdv_clock_read(). */
	int (*page)(void *ctx, struct mdv_clock_point *point);
	/** As mdv_clock_raw(). */
	int (*counter)(void *ctx, uint64_t *cycles);
	/** Real-time clock of the device, in ns. */
	int (*utc)(void *ctx, uint64_t *ns);
	/** CLOCK_REALTIME in ns. */
	int (*realtime)(void *ctx, uint64_t *ns);
	uint64_t (*tsc)(void *ctx);
	/** TAI - UTC in seconds; 0: not set in the kernel. */
	int (*tai_offset_s)(void *ctx);
	/** Whether CLOCK_REALTIME is synchronised. */
	bool (*host_synced)(void *ctx);
	void (*sleep_us)(void *ctx, unsigned int us);
};

/** Properties of device and host. */
struct mdv_clock_facts {
	uint64_t tsc_hz;	/**< Hz, nominal. */
	uint32_t frequency_khz; /**< Nominal kHz of the counter; 0: unknown. */
	bool free_running;	/**< Queues support timestamps in ticks. */
	bool realtime;		/**< Queues support timestamps in seconds and nanoseconds. */
};

/** As mdv_clock_open(), with any operations. ops and ctx must outlive the clock. */
int mdv_clock_open_ops(const struct mdv_clock_ops *ops, void *ctx,
		       const struct mdv_clock_facts *facts, enum mdv_clock_source wanted,
		       struct mdv_clock **out, char *why, size_t why_bytes);

/* ------------------------------------------------------------------ mdv_clock_track.c */

/**
 * Estimator of a clock y by the TSC: a Kalman filter of phase and rate with rejection of outliers and
 * detection of steps and changes of rate. All values refer to the time of the last reading, so that
 * fractions of a unit fit in a double.
 */
struct mdv_clock_track {
	double tsc_hz;	 /**< Hz, nominal. */
	double y_hz;	 /**< Units of y per second, nominal. */
	double wander;	 /**< Random walk of the rate, ppb per root of a second. */
	unsigned int confirm; /**< Outliers in a row that are accepted as a step. */
	uint64_t tsc;	 /**< The reference. */
	uint64_t good_tsc; /**< TSC of the last accepted reading. */
	uint64_t y;	 /**< Whole units at the reference. */
	double part;	 /**< Fraction of a unit at the reference, 0 to 1. */
	double rate;	 /**< Units of y per tick of the TSC. */
	double pp;	 /**< Variance of the phase, ns^2. */
	double pr;	 /**< Covariance of phase and rate, ns * ppb. */
	double rr;	 /**< Variance of the rate, ppb^2. */
	double nis;	 /**< Mean of the squared normalised residuals; 1 if variances are right. */
	double trend;	 /**< Mean of the normalised residuals; 0 if the rate is right. */
	double residual; /**< Last residual, ns. */
	double off;	 /**< Largest recent residual, ns. */
	double excess;	 /**< Variance of readings beyond that of their series, ns^2. */
	unsigned int outliers; /**< Outliers in a row. */
	bool set;	 /**< There has been a reading. */
};

/** Effect of a reading on an estimate. */
enum mdv_clock_fix {
	MDV_FIX_TAKEN,	  /**< Accepted. */
	MDV_FIX_TURNED,	  /**< Accepted; the rate has changed. */
	MDV_FIX_REJECTED, /**< Rejected as an outlier. */
	MDV_FIX_MOVED,	  /**< Accepted as a step; the phase starts again from this reading. */
};

void mdv_clock_track_init(struct mdv_clock_track *t, double tsc_hz, double y_hz, double wander,
			  unsigned int confirm);
/** y at a TSC less the estimate, in ns. */
double mdv_clock_track_residual(const struct mdv_clock_track *t, uint64_t tsc, uint64_t y);
/** Takes a reading: y at a TSC that is not before the last one, with its variance in ns^2. */
enum mdv_clock_fix mdv_clock_track_fix(struct mdv_clock_track *t, uint64_t tsc, uint64_t y,
				       double part, double variance);
/** y at a TSC, as whole units and a fraction from 0 to 1. */
uint64_t mdv_clock_track_at(const struct mdv_clock_track *t, uint64_t tsc, double *part);
/** Variance of the phase in ns^2, ahead_s seconds after the reference. */
double mdv_clock_track_variance(const struct mdv_clock_track *t, double ahead_s);

/* ------------------------------------------------------------------ mdv_clock_sample.c */

/** Result of a series of readings. */
struct mdv_clock_sample {
	uint64_t tsc;	/**< Time of the result. */
	uint64_t y;	/**< Whole units of the clock at that time. */
	double part;	/**< Fraction of a unit, 0 to 1. */
	double variance; /**< ns^2. */
	double half_ns; /**< Half of the tightest bracket: largest common error of all readings. */
};

/** A clock that can be read: 0 or a negative errno. */
typedef int (*mdv_clock_reader)(void *ctx, uint64_t *y);

/**
 * Reads a clock repeatedly, each time between two readings of the TSC, and combines the readings with
 * the tightest brackets.
 *
 * @param t
 *   Estimate of the clock, to compare readings by their residuals.
 * @param mask
 *   Mask of the clock's counter; y is extended beyond it with the help of t.
 * @return
 *   0; -EAGAIN the clock did not change; or the error of the reader.
 */
int mdv_clock_sample_take(const struct mdv_clock_ops *ops, void *ctx, mdv_clock_reader reader,
			  const struct mdv_clock_track *t, uint64_t mask, unsigned int reads,
			  struct mdv_clock_sample *sample);

/* ------------------------------------------------------------------ mdv_clock_line.c */

/**
 * Converts a point of the clock page to a line, exactly, for half of the mask before the point and half
 * after it. 0; -EPROTO the point cannot be represented as a line.
 */
int mdv_clock_line_of_point(const struct mdv_clock_point *point, struct mdv_clock_line *line);

/**
 * Sets base, span, start and frac of a line whose mult, shift and mask are set, so that it has a value
 * (times 2^shift) at a tick. It begins before ticks earlier and has span ticks, limited to values
 * of 64 bits.
 */
void mdv_clock_line_around(struct mdv_clock_line *line, uint64_t ticks, unsigned __int128 value,
			   uint64_t before, uint64_t span);

/** A line in measured units. */
struct mdv_clock_slope {
	uint64_t ticks, value; /**< A tick, and the value there. */
	double part;	       /**< Of a value unit, on top of value; may be negative. */
	double rate;	       /**< Value units per tick. */
	uint64_t mask;	       /**< Of the ticks. */
	uint64_t before, after; /**< Ticks around it for which it holds. */
};

/** Converts a slope to a line of the best resolution. 0; -EPROTO it cannot be represented, mult is 0 then. */
int mdv_clock_line_of_slope(const struct mdv_clock_slope *slope, struct mdv_clock_line *line);

/** Converts ns to ticks; UINT64_MAX on overflow. */
uint64_t mdv_clock_ticks(uint64_t ns, uint64_t hz);
/** Converts ticks to ns; UINT64_MAX on overflow. */
uint64_t mdv_clock_ns(uint64_t ticks, uint64_t hz);

/* ------------------------------------------------------------------ the clock and its sources */

/** A clock that is followed by the TSC. */
struct mdv_clock_followed {
	struct mdv_clock_track track;
	double half_ns;	 /**< Half of the tightest bracket: error of its middle. */
	uint64_t unsettled_tsc; /**< TSC of the last outlier, step or change of rate. */
};

struct mdv_clock {
	const struct mdv_clock_ops *ops;
	void *ctx;
	struct mdv_clock_facts facts;
	struct mdv_clock_followed counter; /**< The free-running counter, in ticks. */
	struct mdv_clock_followed wall;	   /**< CLOCK_REALTIME, in ns. */
	struct mdv_clock_followed utc;	   /**< The real-time clock of the device, in ns. */
	struct mdv_clock_point point;	   /**< page: the last point. */
	uint64_t point_tsc;	      /**< page: TSC at which the point was valid. */
	uint64_t servo_tsc; /**< page: TSC of the last correction by a servo, or of opening. */
	uint64_t line_unsure_ns; /**< host, realtime: uncertainty of the last line. */
	uint64_t line_tsc;	      /**< TSC of the last successful refresh. */
	double cost_us;		      /**< Processor time of a refresh; 0: unknown. */
	struct mdv_clock_state state; /**< Result of the last refresh. */
};

/** Operations of a source. */
struct mdv_clock_source_ops {
	const char *name, *unit, *epoch;
	/** Takes the first readings. 0 or a negative errno. */
	int (*open)(struct mdv_clock *clock);
	/** Takes new readings and computes the lines. 0 or a negative errno. */
	int (*refresh)(struct mdv_clock *clock);
	/** Whether the values are synchronised; called after a successful refresh. */
	bool (*in_step)(struct mdv_clock *clock);
};

/* ------------------------------------------------------------------ mdv_clock_follow.c */

/** Validity of a line in seconds, before and after its reading: 20 refreshes. */
#define MDV_CLOCK_HOLD_S 2.0
/** Longest holdover in seconds: assumed. */
#define MDV_CLOCK_HOLDOVER_S 100.0
/** Uncertainty in standard deviations: exceeded once in 16,000 for normal errors. */
#define MDV_CLOCK_SIGMAS 4.0

/** Discards all readings. */
void mdv_clock_source_init(struct mdv_clock *clock);
/** Discards the readings of the counter and sets its nominal frequency. */
void mdv_clock_counter_init(struct mdv_clock *clock, double hz);

/** Take a reading. 0; -EAGAIN there was none, or it is an outlier; or the error of reading. */
int mdv_clock_follow_counter(struct mdv_clock *clock);
int mdv_clock_follow_wall(struct mdv_clock *clock);
int mdv_clock_follow_utc(struct mdv_clock *clock);

/** Whether there was no reading yet, or an outlier, step or change of rate in the last seconds. */
bool mdv_clock_unsettled(const struct mdv_clock *clock, const struct mdv_clock_followed *f);

/** Seconds from one TSC to a later one. */
double mdv_clock_since_s(const struct mdv_clock *clock, uint64_t tsc, uint64_t then);
/** Validity in seconds of lines of counter and CLOCK_REALTIME: as long as both were settled. */
double mdv_clock_hold_s(const struct mdv_clock *clock, uint64_t tsc);
/** Variance of the phase in ns^2, ahead_s after the last reading, scaled by nis if that is above 1. */
double mdv_clock_followed_variance(const struct mdv_clock_followed *f, double ahead_s);
/** Uncertainty of the estimate in ns, for the validity of a line. */
uint64_t mdv_clock_followed_ns(const struct mdv_clock_followed *f);

/** Frequency in Hz by CLOCK_REALTIME of a rate per tick of the TSC. */
double mdv_clock_hz(const struct mdv_clock *clock, double rate);
/** ns of TAI - UTC. */
int64_t mdv_clock_tai_ns(const struct mdv_clock *clock);
/** Reports the frequency of the counter and the drift of values, once the rates are known. */
void mdv_clock_report_rates(struct mdv_clock *clock, double value_per_s, double nominal_per_s);
/** Reports the line from TSC to value: through value + part at tsc, with rate units per tick. */
void mdv_clock_report_time(struct mdv_clock *clock, uint64_t tsc, uint64_t value, double part,
			 double rate);
/** Reports the offset of the device's time from CLOCK_REALTIME, and whether it is UTC or TAI. */
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

/** Whether a servo has corrected the page within the last two minutes. */
bool mdv_clock_servo_seen(const struct mdv_clock *clock);

#endif /* MDV_CLOCK_INT_H */
