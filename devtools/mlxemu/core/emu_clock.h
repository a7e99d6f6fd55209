/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Time: true time, the clocks of a device, and the kernel's PTP clock.
 *
 * True time is the host's CLOCK_MONOTONIC, or virtual. UTC differs from it by a fixed offset, which
 * is the same for all processes of a run. The oscillator of a device has a constant frequency error
 * (drift) and a periodic one (wander). It drives the free-running counter and, on cards in
 * real-time mode, a clock of seconds and nanoseconds. The kernel derives its PTP clock from the
 * counter (drivers/net/ethernet/mellanox/mlx5/core/lib/clock.c) and exports it in the clock page.
 */
#ifndef EMU_CLOCK_H
#define EMU_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_dev;

#define EMU_NS_PER_S 1000000000ull
/** Largest drift, wander and slew, in parts per billion: 1 %. */
#define EMU_CLOCK_MAX_PPB 10000000

/* ---- true time (emu_time.c) ---- */

uint64_t emu_mono_ns(void); /**< True time: every timer of the model uses it. */
/** Makes time virtual: only emu_time_pass() advances it. To be called before emu_machine_init(). */
void emu_time_virtual(void);
bool emu_time_is_virtual(void);
/** Advances virtual time by the duration of an operation; no effect unless time is virtual. */
void emu_time_pass(uint64_t ns);
/**
 * UTC in ns since 1970 minus emu_mono_ns(). Measured once per run, so steps of the host's clock have
 * no effect on it. Virtual time begins on 2023-11-14.
 */
int64_t emu_time_offset(void);
void emu_time_offset_set(int64_t ns); /**< As measured by the launcher. */
static inline uint64_t
emu_time_utc(uint64_t mono_ns)
{
	return mono_ns + (uint64_t)emu_time_offset();
}

/* ---- options of the clocks (emu_clock_plan.c) ---- */

/** Supported timestamp formats: the values of ts_format_cap (PRM, HCA capabilities). */
enum emu_clock_format {
	EMU_CLOCK_FREE = 0,
	EMU_CLOCK_REALTIME = 1,
	EMU_CLOCK_BOTH = 2,
};

struct emu_profile;
struct emu_clock_plan {
	uint64_t hz; /**< 0: the profile's; in real-time mode 1 GHz. */
	enum { EMU_CLOCK_START_USUAL, EMU_CLOCK_START_WRAP, EMU_CLOCK_START_AT } start;
	uint64_t start_cycles;
	int64_t drift_ppb;
	uint64_t wander_ppb, wander_period_ns; /**< 0: none. */
	bool old_kernel;
	enum emu_clock_format format;
};

/**
 * Sets one of the options hz, start, drift, wander, kernel, format from its text: VALUE for all
 * ports, PORT=VALUE for one. Options are per process; to be called before emu_machine_init().
 * @return 0, or -EINVAL with what is allowed in err.
 */
int emu_clock_plan_set(const char *option, const char *value, char *err, size_t err_len);
/** The same from one line, `OPTION VALUE`. */
int emu_clock_plan_line(const char *line, char *err, size_t err_len);
/** Checks whether ports of this profile support the options; 0, or -EINVAL and one line in err. */
int emu_clock_plan_check(unsigned ports, const struct emu_profile *profile, char *err,
			 size_t err_len);
const struct emu_clock_plan *emu_clock_plan_of(unsigned port);

/* ---- a device's clock (emu_clock.c) ---- */

/** Counter at one point in time, with its rate: for conversions close to that point. */
struct emu_clock_point {
	uint64_t mono_ns;
	uint64_t cycles;      /**< Counter, 63 bits. */
	uint32_t frac_q32;    /**< Part of a cycle beyond that. */
	uint64_t rate_q40;    /**< Cycles in 2^40 ns. */
};

struct emu_clock {
	uint64_t hz; /**< Nominal frequency of the counter. */
	enum emu_clock_format format;
	/* The oscillator: an exact line from an anchor, plus the wander. */
	int64_t drift_ppb;
	uint64_t wander_ppb, wander_period_ns;
	uint64_t born_ns;   /**< emu_mono_ns() at the start of the wander. */
	uint64_t anchor_ns; /**< Anchor: emu_mono_ns(). */
	uint64_t anchor_cycles, anchor_frac; /**< Anchor: counter, and 10^-18 of a cycle. */
	/* Real-time mode: the device's clock, an exact line over whole cycles. */
	int64_t real_ppb;
	uint64_t real_cycles, real_ns, real_frac; /**< Anchor; frac in 1/hz of a ns. */
	/* The kernel's PTP clock (struct timecounter), as exported in the clock page. */
	bool old_kernel;
	uint32_t mult, shift, nominal_mult;
	uint64_t mask;		  /**< 41 bits, like the kernel's. */
	int64_t slew_ppb;	  /**< Frequency correction set by PTP. */
	uint64_t page_cycles, page_ns, page_frac; /**< Last point; cycles unmasked. */
	uint64_t refresh_cycles;  /**< Distance at which the next point is due. */
	uint64_t overflow_period; /**< In jiffies, as the kernel writes it. */
};

/** Starts the clock as if the kernel's driver had just loaded. profile_hz: default frequency. */
void emu_clock_init(struct emu_clock *c, uint64_t profile_hz, const struct emu_clock_plan *plan);
uint64_t emu_clock_cycles(const struct emu_clock *c); /**< The counter now, 63 bits. */
uint64_t emu_clock_cycles_at(const struct emu_clock *c, uint64_t mono_ns);
void emu_clock_point(const struct emu_clock *c, uint64_t mono_ns, struct emu_clock_point *p);
/** Present frequency error of the counter in parts per billion. */
int64_t emu_clock_error_ppb(const struct emu_clock *c, uint64_t mono_ns);
/** Sets the drift: constant frequency error of the counter in parts per billion. */
void emu_clock_drift(struct emu_clock *c, int64_t ppb);
/** True if the device supports real-time timestamps, and if it is the default format. */
static inline bool
emu_clock_real(const struct emu_clock *c)
{
	return c->format != EMU_CLOCK_FREE;
}
/** Real-time clock at a counter value: ns since 1970. */
uint64_t emu_clock_real_ns(const struct emu_clock *c, uint64_t cycles);
/** Steps the real-time clock by step_ns and changes its rate by ppb, from the present counter value on. */
void emu_clock_real_adjust(struct emu_clock *c, uint64_t cycles, int64_t step_ns, int64_t ppb);
/** Format of timestamps and registers: seconds in the upper 32 bits, nanoseconds in the lower. */
static inline uint64_t
emu_clock_pack(uint64_t ns)
{
	return ns / EMU_NS_PER_S << 32 | ns % EMU_NS_PER_S;
}

/* ---- the kernel's PTP clock and the clock pages (emu_clock_page.c) ---- */

#define EMU_KERNEL_HZ 250u /**< Unit of overflow_period. */
/** Sets multiplier and shift of the kernel's generation, and the first point: the counter is ns now. */
void emu_clock_ptp_init(struct emu_clock *c, uint64_t ns);
/** The kernel's PTP clock at a counter value, which may be before the last point. */
uint64_t emu_clock_ptp_ns(const struct emu_clock *c, uint64_t cycles);
/** Steps or slews the PTP clock as the kernel's adjtime and adjfine do: the pages change at once. */
void emu_clock_step(struct emu_dev *dev, int64_t ns);
void emu_clock_slew(struct emu_dev *dev, int64_t ppb);
/** Publishes a new point in the clock pages of every context of the device. */
void emu_clock_publish(struct emu_dev *dev);
/** Called by the engine in each pass: refreshes clock pages that are due, and the counter registers. */
void emu_clock_tick(struct emu_dev *dev);

/* ---- the counter's registers (emu_clock_regs.c) ---- */

/**
 * Writes the present counter into the page of every context; the machine's lock is not needed.
 * @return false: another thread is writing them at the same time.
 */
bool emu_clock_registers(struct emu_dev *dev);
/**
 * Lock out emu_clock_registers() while its inputs change: the oscillator, the real-time clock, the
 * list of contexts, removal of the device. Not nested.
 */
void emu_clock_hold(struct emu_dev *dev);
void emu_clock_release(struct emu_dev *dev);

#endif /* EMU_CLOCK_H */
