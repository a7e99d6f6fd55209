/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Time: what truly passes, and what a device and its kernel make of it.
 *
 * True time is the host's CLOCK_MONOTONIC, or virtual; its nanoseconds since 1970 are one fixed
 * offset away, the same for all processes of a run. A device's oscillator runs beside it with a
 * frequency error (drift) that may itself come and go (wander); it drives the free-running
 * counter, and on cards in real-time mode a clock of seconds and nanoseconds. The kernel carries
 * a line over the counter, its PTP clock, and shows it in the clock page.
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

uint64_t emu_mono_ns(void); /**< The time that everything in the model goes by. */
/** From now on, before any machine: time passes only by what happens, see emu_time_pass(). */
void emu_time_virtual(void);
bool emu_time_is_virtual(void);
/** Something took so long; without effect unless time is virtual. */
void emu_time_pass(uint64_t ns);
/**
 * Nanoseconds since 1970 (UTC as the host knows it) minus emu_mono_ns(); one number for a run,
 * taken once: steps of the host's clock do not reach it. Virtual time begins on 2023-11-14.
 */
int64_t emu_time_offset(void);
void emu_time_offset_set(int64_t ns); /**< As the launcher took it. */
static inline uint64_t
emu_time_utc(uint64_t mono_ns)
{
	return mono_ns + (uint64_t)emu_time_offset();
}

/* ---- what a clock is to be like (emu_clock_plan.c) ---- */

/** What stamps can be: the values of PRM's ts_format_cap. */
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
 * One of the options hz, start, drift, wander, kernel, format, with its value as typed, for all
 * ports or, `PORT=VALUE`, one. Of the process; before emu_machine_init().
 * @return 0, or -EINVAL with what is allowed in err.
 */
int emu_clock_plan_set(const char *option, const char *value, char *err, size_t err_len);
/** The same from one line, `OPTION VALUE`. */
int emu_clock_plan_line(const char *line, char *err, size_t err_len);
/** Whether ports of this profile can be so; 0, or -EINVAL and one line in err. */
int emu_clock_plan_check(unsigned ports, const struct emu_profile *profile, char *err,
			 size_t err_len);
const struct emu_clock_plan *emu_clock_plan_of(unsigned port);
/** Parts per million, with up to 3 decimals, as parts per billion; false: no such number. */
bool emu_clock_ppb(const char *ppm, int64_t *ppb);

/* ---- a device's clock (emu_clock.c) ---- */

/** Counter and what follows from it at an instant; for conversions close to it. */
struct emu_clock_point {
	uint64_t mono_ns;
	uint64_t cycles;      /**< Counter, 63 bits. */
	uint32_t frac_q32;    /**< Part of a cycle beyond that. */
	uint64_t rate_q40;    /**< Cycles in 2^40 ns. */
};

struct emu_clock {
	uint64_t hz; /**< Nominal frequency of the counter. */
	enum emu_clock_format format;
	/* The oscillator: an exact line from an anchor, and a wave around it. */
	int64_t drift_ppb;
	uint64_t wander_ppb, wander_period_ns;
	uint64_t born_ns;   /**< emu_mono_ns() when the wave began. */
	uint64_t anchor_ns; /**< emu_mono_ns() ... */
	uint64_t anchor_cycles, anchor_frac; /**< ... the counter then, 10^-18 of a cycle. */
	/* Real-time mode: the device's own clock, an exact line over whole cycles. */
	int64_t real_ppb;
	uint64_t real_cycles, real_ns, real_frac; /**< Anchor; frac in 1/hz of a ns. */
	/* The kernel's PTP clock (timecounter), as its clock page shows it. */
	bool old_kernel;
	uint32_t mult, shift, nominal_mult;
	uint64_t mask;		  /**< 41 bits, like the kernel's. */
	int64_t slew_ppb;	  /**< Correction of the slope that PTP asked for. */
	uint64_t page_cycles, page_ns, page_frac; /**< Last point; cycles unmasked. */
	uint64_t refresh_cycles;  /**< Distance at which the next point is due. */
	uint64_t overflow_period; /**< In jiffies, as the kernel writes it. */
};

/** Starts now, with the kernel's driver just loaded. profile_hz is for plans without frequency. */
void emu_clock_init(struct emu_clock *c, uint64_t profile_hz, const struct emu_clock_plan *plan);
uint64_t emu_clock_cycles(const struct emu_clock *c); /**< The counter now, 63 bits. */
uint64_t emu_clock_cycles_at(const struct emu_clock *c, uint64_t mono_ns);
void emu_clock_point(const struct emu_clock *c, uint64_t mono_ns, struct emu_clock_point *p);
/** How much faster than its nominal frequency the counter runs at that moment. */
int64_t emu_clock_error_ppb(const struct emu_clock *c, uint64_t mono_ns);
/** The counter runs so much faster than its nominal frequency from now on. */
void emu_clock_drift(struct emu_clock *c, int64_t ppb);
/** True when stamps can be in real time, and when they are unless asked otherwise. */
static inline bool
emu_clock_real(const struct emu_clock *c)
{
	return c->format != EMU_CLOCK_FREE;
}
/** The device's own clock when the counter stands at cycles: ns since 1970. */
uint64_t emu_clock_real_ns(const struct emu_clock *c, uint64_t cycles);
/** From the present value of the counter on it is further by step_ns and runs faster by ppb. */
void emu_clock_real_adjust(struct emu_clock *c, uint64_t cycles, int64_t step_ns, int64_t ppb);
/** As stamps and registers have it: seconds in the upper, nanoseconds in the lower half. */
static inline uint64_t
emu_clock_pack(uint64_t ns)
{
	return ns / EMU_NS_PER_S << 32 | ns % EMU_NS_PER_S;
}

/* ---- the kernel's PTP clock and the pages that programs read (emu_clock_page.c) ---- */

#define EMU_KERNEL_HZ 250u /**< Unit of overflow_period. */
/** Slope of the kernel's generation, and a first point: the counter stands for ns. */
void emu_clock_ptp_init(struct emu_clock *c, uint64_t ns);
/** What the kernel's PTP clock reads when the counter stands at cycles, which may lie back. */
uint64_t emu_clock_ptp_ns(const struct emu_clock *c, uint64_t cycles);
/** PTP steps or slews the clock, as the kernel's clock operations do: pages change at once. */
void emu_clock_step(struct emu_dev *dev, int64_t ns);
void emu_clock_slew(struct emu_dev *dev, int64_t ppb);
/** Publishes a new point in the clock pages of every context of the device. */
void emu_clock_publish(struct emu_dev *dev);
/** Called often by the engine: refreshes clock pages when due, and registers that nobody else does. */
void emu_clock_tick(struct emu_dev *dev);

/* ---- the counter's registers (emu_clock_regs.c) ---- */

/**
 * Writes the present value into the page of every context; the model's lock is not needed.
 * @return false: somebody else is at it, and writes a time as good as this one.
 */
bool emu_clock_registers(struct emu_dev *dev);
/**
 * Around changes of what emu_clock_registers() looks at: the oscillator, the device's own clock,
 * the list of contexts, its removal. Short, not nested.
 */
void emu_clock_hold(struct emu_dev *dev);
void emu_clock_release(struct emu_dev *dev);

#endif /* EMU_CLOCK_H */
