/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Clock of a device: what turns its timestamps into time, where that comes from, and how good it
 * is.
 *
 * A clock is refreshed by one thread; each refresh gives plain data that its caller publishes as it
 * likes. Nothing here is called from a burst, and only a refresh reads device or clock page. The
 * functions log nothing after mdv_clock_open(): what happens is counted in the state.
 */
#ifndef MDV_CLOCK_H
#define MDV_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mdv_dev;

/** Where the time comes from. */
enum mdv_clock_source {
	MDV_CLOCK_AUTO,	    /**< Only asked for: mdv_clock_open() chooses one of the others. */
	MDV_CLOCK_PAGE,	    /**< The kernel's clock page (mlx5dv_get_clock_info): its PTP clock. */
	MDV_CLOCK_HOST,	    /**< Core clock counter, calibrated here against CLOCK_REALTIME. */
	MDV_CLOCK_REALTIME, /**< The device stamps in seconds and nanoseconds itself. */
	MDV_CLOCK_RAW,	    /**< Ticks of the free-running counter, as they come. */
};

/** How a stamp of a completion becomes a value; follows from the source. */
enum mdv_clock_kind {
	MDV_CLOCK_LINE,	  /**< page, host: struct mdv_clock_line. */
	MDV_CLOCK_TICKS,  /**< raw: the stamp is the value. */
	MDV_CLOCK_PACKED, /**< realtime: seconds << 32 | nanoseconds; absent from 10^9 ns on. */
};

/** What may be thought of the values. */
enum mdv_clock_quality {
	MDV_CLOCK_GOOD,	    /**< Fresh, and kept in step with something outside this device. */
	MDV_CLOCK_HOLDOVER, /**< Cannot be refreshed at present; the last line still holds. */
	MDV_CLOCK_UNSYNCED, /**< Consistent, but nothing is seen to keep it in step, or not yet. */
	MDV_CLOCK_BROKEN,   /**< No line holds: stamps must be absent. */
};

/**
 * The conversion, exact and the same everywhere (all arithmetic modulo 2^64, product in 128 bits):
 *
 *     off = (ts - base) & mask;  valid iff off <= span;
 *     value = start + ((off * mult + frac) >> shift)
 *
 * Guaranteed: 0 < mult < 2^32, 21 <= shift <= 32, frac < 2^shift, mask = 2^n - 1 with n <= 48,
 * span <= mask, and value does not pass 2^64 within the span. mult 0: there is no line.
 */
struct mdv_clock_line {
	uint32_t mult;	/**< Value units per tick, times 2^shift. */
	uint32_t shift; /**< Bits. */
	uint64_t base;	/**< Ticks: where the line begins. */
	uint64_t mask;	/**< Ticks: the counter's width. */
	uint64_t span;	/**< Ticks after base for which the line may be used. */
	uint64_t start; /**< Value units at base. */
	uint64_t frac;	/**< Remainder at base, value units times 2^shift. */
};

/** Result of one refresh: plain data, copied by value. */
struct mdv_clock_state {
	enum mdv_clock_source source; /**< Never MDV_CLOCK_AUTO. */
	enum mdv_clock_quality quality;
	const char *unit;  /**< Of values: "ns" or "ticks". */
	const char *epoch; /**< What value 0 is, static text: "utc", "tai", "host realtime" ... */
	/** Device stamp to value; mult 0 for kinds other than MDV_CLOCK_LINE. */
	struct mdv_clock_line line;
	/** TSC to value: the clock now, without reading the device; mult 0 when not known. */
	struct mdv_clock_line host;
	uint64_t valid_tsc; /**< TSC from which on neither line may be used any more. */
	uint64_t next_us;   /**< Microseconds within which the next refresh is wanted. */
	/** Hz: the counter's, measured against the host's clock; nominal while not measured. */
	uint64_t frequency_hz;
	/** ppm: of values against the host's clock (page, realtime), of the counter (host, raw). */
	double drift_ppm;
	int64_t offset_ns; /**< ns: value now less CLOCK_REALTIME; 0 for raw, or while not known. */
	/**
	 * ns: how far a value may be from what the source means, until valid_tsc. page: of the
	 * conversion alone; realtime: its resolution; host: of the whole calibration.
	 */
	uint64_t uncertainty_ns;
	uint64_t age_ns;    /**< ns since the reading that the line stands on was taken. */
	uint64_t steps;	    /**< The value of one stamp jumped from one line to the next. */
	uint64_t slews;	    /**< The rate was changed; page: the page's, else of what is compared. */
	uint64_t refreshes; /**< Refreshes that gave a line. */
	uint64_t busy;	    /**< Refreshes that found the page being written. */
	uint64_t failed;    /**< Refreshes that gave nothing for another reason. */
	uint64_t rejected;  /**< Readings of counter or page that were not believed. */
};

/** A device's clock; belongs to one thread at a time. */
struct mdv_clock;

/**
 * Opens a clock and takes its first readings, which may sleep some milliseconds.
 *
 * @param wanted
 *   MDV_CLOCK_AUTO: realtime or page where a servo is seen to keep the device's clock in step, else
 *   host, else what there is.
 * @param[out] out
 *   The clock, to be released by mdv_clock_close(); NULL on failure. It refers to dev. Queues that
 *   are created from now on stamp as it wants.
 * @param[out] why
 *   One line for the log: what was chosen and why, or why nothing could be. Without newline.
 * @return
 *   0; -ENOTSUP the device has no such source; -EAGAIN the clock page stayed busy; -ENOMEM; or what
 *   reading it says. Logs nothing: the caller does, with why.
 */
__rte_internal
int mdv_clock_open(struct mdv_dev *dev, enum mdv_clock_source wanted, struct mdv_clock **out,
		   char *why, size_t why_bytes);

/**
 * Takes new readings. The number of calls of the library is bounded; the library's own repetition
 * while the page changes below its copy is not (mlx5dv_get_clock_info, rdma-core 44): lines run out
 * by themselves meanwhile, whoever uses them.
 *
 * @param[out] state
 *   Always filled; with the last line that there was when there is no new one.
 * @return
 *   0; -EAGAIN busy, come again after next_us; other negative errno: could not be read.
 */
__rte_internal
int mdv_clock_refresh(struct mdv_clock *clock, struct mdv_clock_state *state);

/** NULL is allowed. */
__rte_internal
void mdv_clock_close(struct mdv_clock *clock);

/** "page", "host", "realtime", "raw", "auto"; NULL for what is no source. */
__rte_internal
const char *mdv_clock_source_name(enum mdv_clock_source source);

/** "good", "holdover", "unsynced", "broken"; NULL for what is no quality. */
__rte_internal
const char *mdv_clock_quality_name(enum mdv_clock_quality quality);

static inline enum mdv_clock_kind
mdv_clock_kind_of(enum mdv_clock_source source)
{
	return source == MDV_CLOCK_RAW ? MDV_CLOCK_TICKS :
	       source == MDV_CLOCK_REALTIME ? MDV_CLOCK_PACKED : MDV_CLOCK_LINE;
}

/** The conversion of struct mdv_clock_line; false when the line does not hold for ts. */
static inline bool
mdv_clock_line_convert(const struct mdv_clock_line *line, uint64_t ts, uint64_t *value)
{
	uint64_t off = (ts - line->base) & line->mask;
	unsigned __int128 product = (unsigned __int128)off * line->mult + line->frac;

	*value = line->start + (uint64_t)(product >> (line->shift & 63));
	return line->mult != 0 && off <= line->span;
}

/* ------------------------------------------------------------------ single readings */

/** One consistent reading of the kernel's clock page. */
struct mdv_clock_point {
	uint64_t ns;	 /**< ns at the point. */
	uint64_t cycles; /**< Ticks at the point. */
	uint64_t frac;	 /**< Remainder, ns times 2^shift. */
	uint64_t mask;	 /**< Ticks. */
	uint32_t mult;	 /**< ns per tick, times 2^shift. */
	uint32_t shift;	 /**< Bits. */
	/** Ticks: |delta| up to which 64 bits hold delta * mult: from mult, frac and mask alone. */
	uint64_t window_cycles;
};

/**
 * Reads the page, with a bounded number of library calls.
 * 0; -EAGAIN the kernel is updating; -ENOTSUP no page, or not a sane one.
 */
__rte_internal
int mdv_clock_read(struct mdv_dev *dev, struct mdv_clock_point *point);

/** The core clock counter, in ticks (ibv_query_rt_values_ex): one PCIe round trip. */
__rte_internal
int mdv_clock_raw(struct mdv_dev *dev, uint64_t *cycles);

#ifdef __cplusplus
}
#endif
#endif /* MDV_CLOCK_H */
