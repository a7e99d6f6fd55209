/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Clock of a device: conversion of its timestamps to time, and the quality of that conversion.
 *
 * One thread refreshes a clock; each refresh returns plain data, which the caller publishes. Burst
 * functions call nothing here except mdv_clock_line_convert(), and only a refresh reads the device
 * or the clock page. The functions do not log: they count in the state.
 */
#ifndef MDV_CLOCK_H
#define MDV_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

struct mdv_dev;

/** Clock source. */
enum mdv_clock_source {
	MDV_CLOCK_AUTO,	    /**< Argument only: mdv_clock_open() chooses one of the others. */
	MDV_CLOCK_PAGE,	    /**< The kernel's clock page (mlx5dv_get_clock_info): its PTP clock. */
	MDV_CLOCK_HOST,	    /**< Free-running counter, calibrated against CLOCK_REALTIME. */
	MDV_CLOCK_REALTIME, /**< The device stamps in seconds and nanoseconds itself. */
	MDV_CLOCK_RAW,	    /**< Ticks of the free-running counter. */
};

/** Conversion of a CQE timestamp to a value; follows from the source. */
enum mdv_clock_kind {
	MDV_CLOCK_LINE,	  /**< page, host: struct mdv_clock_line. */
	MDV_CLOCK_TICKS,  /**< raw: the stamp is the value. */
	MDV_CLOCK_PACKED, /**< realtime: seconds << 32 | nanoseconds; invalid if nanoseconds >= 10^9. */
};

/** Quality of the values. */
enum mdv_clock_quality {
	MDV_CLOCK_GOOD,	    /**< Up to date and synchronised to a clock outside the device. */
	MDV_CLOCK_HOLDOVER, /**< The last refresh failed; the line before is still valid. */
	MDV_CLOCK_UNSYNCED, /**< Consistent, but not known to be synchronised. */
	MDV_CLOCK_BROKEN,   /**< No valid line: packets must not get timestamps. */
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
	uint64_t valid_tsc; /**< TSC at which both lines expire. */
	uint64_t next_us;   /**< Time until the next refresh is due, in us. */
	/** Hz of the counter, measured against CLOCK_REALTIME; nominal while not measured. */
	uint64_t frequency_hz;
	/** ppm: of values against CLOCK_REALTIME (page, realtime), of the counter (host, raw). */
	double drift_ppm;
	int64_t offset_ns; /**< Value now less CLOCK_REALTIME; 0 for raw, or while unknown. */
	/**
	 * Largest deviation of a value from the source's clock until valid_tsc. page: of the
	 * conversion alone; realtime: its resolution; host: of the whole calibration.
	 */
	uint64_t uncertainty_ns;
	uint64_t age_ns;    /**< Time since the reading from which the line was computed. */
	uint64_t steps;	    /**< Jumps of the value of a stamp from one line to the next. */
	uint64_t slews;	    /**< Changes of rate: of the page (page), else of any followed clock. */
	uint64_t refreshes; /**< Successful refreshes. */
	uint64_t busy;	    /**< Refreshes that failed because the kernel was writing the page. */
	uint64_t failed;    /**< Refreshes that failed for another reason. */
	uint64_t rejected;  /**< Readings of counter or page that were rejected as outliers. */
};

/** A device's clock; belongs to one thread at a time. */
struct mdv_clock;

/**
 * Opens a clock and takes its first readings, which may sleep some milliseconds.
 *
 * @param wanted
 *   Source. MDV_CLOCK_AUTO: realtime or page if a servo disciplines the clock of the device, else
 *   host, else any that works.
 * @param[out] out
 *   The clock; release it with mdv_clock_close(). NULL on failure. It refers to dev. Queues that
 *   are created later use its timestamp format.
 * @param[out] why
 *   Text for the log, without newline: the choice and its reason, or the reason of the failure.
 * @return
 *   0; -ENOTSUP the device has no such source; -EAGAIN the clock page stayed busy; -ENOMEM; or the
 *   error of reading it. Logs nothing.
 */
__rte_internal
int mdv_clock_open(struct mdv_dev *dev, enum mdv_clock_source wanted, struct mdv_clock **out,
		   char *why, size_t why_bytes);

/**
 * Takes new readings. mlx5dv_get_clock_info() repeats without limit while the kernel changes the page
 * during its copy (rdma-core 44); the number of its calls is limited. Lines expire meanwhile.
 *
 * @param[out] state
 *   Always set; contains the previous line if there is no new one.
 * @return
 *   0; -EAGAIN busy, call again after next_us; other negative errno: a reading failed.
 */
__rte_internal
int mdv_clock_refresh(struct mdv_clock *clock, struct mdv_clock_state *state);

/** NULL is allowed. */
__rte_internal
void mdv_clock_close(struct mdv_clock *clock);

/** "page", "host", "realtime", "raw", "auto"; NULL for an invalid value. */
__rte_internal
const char *mdv_clock_source_name(enum mdv_clock_source source);

/** "good", "holdover", "unsynced", "broken"; NULL for an invalid value. */
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

#endif /* MDV_CLOCK_H */
