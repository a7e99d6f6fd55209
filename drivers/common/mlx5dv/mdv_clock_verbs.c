/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Readings of the clock page, of the device's counter and real time, and of the host's clocks. */

#include <sys/timex.h>
#include <time.h>

#include <rte_byteorder.h>
#include <rte_pause.h>

#include "mdv_barrier.h"
#include "mdv_clock_int.h"
#include "mdv_private.h"

/** Calls of mlx5dv_get_clock_info(), each of which tries up to ten times without pause. */
#define MDV_CLOCK_TRIES 4
/** From internal_timer_h to real_time_h, bytes. */
#define MDV_REAL_TIME_OFFSET (4 * PRM_INITIAL_SEG_REAL_TIME_DW % MDV_ADAPTER_PAGE_BYTES)

/*
 * mlx5dv_get_clock_info() returns EBUSY after ten attempts while the kernel writes the page, but
 * repeats without limit if the sign of the page changed during the copy (libmlx5). That ends with
 * the first copy without an update in between; the kernel updates some times per minute. Only the
 * number of calls is limited here.
 */
static int
read_page(struct mdv_dev *dev, struct mlx5dv_clock_info *info)
{
	int err = EBUSY;

	for (int i = 0; i < MDV_CLOCK_TRIES && err == EBUSY; i++) {
		if (i > 0)
			rte_pause();
		err = mlx5dv_get_clock_info(dev->ibv, info);
	}
	return err;
}

/** Values with which a conversion is defined. */
static bool
is_sane(const struct mlx5dv_clock_info *info)
{
	return info->mult != 0 && info->shift < 64 && info->mask != 0 &&
	       (info->mask & (info->mask + 1)) == 0;
}

uint64_t
mdv_clock_window(const struct mdv_clock_point *point)
{
	uint64_t overflow = (UINT64_MAX - point->frac) / point->mult;

	return RTE_MIN(overflow, point->mask / 2);
}

/* With EBUSY info may have been written partly: use a local copy. */
RTE_EXPORT_INTERNAL_SYMBOL(mdv_clock_read)
int
mdv_clock_read(struct mdv_dev *dev, struct mdv_clock_point *point)
{
	struct mlx5dv_clock_info info = { 0 };
	int err;

	err = read_page(dev, &info);
	if (err == EBUSY)
		return mdv_fail(EAGAIN);
	if (err != 0 || !is_sane(&info))
		return mdv_fail(ENOTSUP);
	point->ns = info.nsec;
	point->cycles = info.last_cycles;
	point->frac = info.frac;
	point->mult = info.mult;
	point->shift = info.shift;
	point->mask = info.mask;
	point->window_cycles = mdv_clock_window(point);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_clock_raw)
int
mdv_clock_raw(struct mdv_dev *dev, uint64_t *cycles)
{
	int err = dev->backend->counter(dev, cycles);

	return err != 0 ? mdv_fail(err) : 0;
}

/* ------------------------------------------------------------------ operations */

static int
verbs_page(void *ctx, struct mdv_clock_point *point)
{
	return mdv_removed(ctx) ? -ENODEV : mdv_clock_read(ctx, point);
}

static int
verbs_counter(void *ctx, uint64_t *cycles)
{
	return mdv_removed(ctx) ? -ENODEV : mdv_clock_raw(ctx, cycles);
}

uint64_t
mdv_clock_pair(const volatile void *registers)
{
	const volatile rte_be32_t *reg = registers;
	uint32_t high, low, again;

	for (int i = 0; i < MDV_CLOCK_TRIES; i++) {
		high = rte_be_to_cpu_32(reg[0]);
		low = rte_be_to_cpu_32(reg[1]);
		again = rte_be_to_cpu_32(reg[0]);
		if (high == again)
			break;
	}
	return (uint64_t)high << 32 | low;
}

/*
 * The registers real_time_h and real_time_l of the initialization segment are 0x40 bytes after
 * internal_timer_h, in the page that the kernel maps for the core clock (PRM, initialization
 * segment; Linux, struct mlx5_init_seg). They read as zero on a device without real-time clock.
 */
static int
verbs_utc(void *ctx, uint64_t *ns)
{
	const struct mdv_dev *dev = ctx;
	uint64_t packed;

	if (dev->core_clock == NULL || mdv_removed(dev))
		return -ENODEV;
	packed = mdv_clock_pair((const volatile uint8_t *)dev->core_clock + MDV_REAL_TIME_OFFSET);
	if (packed >> 32 == 0 || (uint32_t)packed >= MDV_NS_PER_S)
		return -ENOTSUP;
	*ns = (packed >> 32) * MDV_NS_PER_S + (uint32_t)packed;
	return 0;
}

static uint64_t
host_tsc(void *ctx __rte_unused)
{
	return mdv_rdtsc_ordered();
}

static int
host_realtime(void *ctx __rte_unused, uint64_t *ns)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return -errno;
	*ns = (uint64_t)ts.tv_sec * MDV_NS_PER_S + (uint64_t)ts.tv_nsec;
	return 0;
}

/* adjtimex(2) with modes 0 reads. */
static int
host_tai_offset_s(void *ctx __rte_unused)
{
	struct timex t = { .modes = 0 };

	return adjtimex(&t) < 0 ? 0 : t.tai;
}

static bool
host_synced(void *ctx __rte_unused)
{
	struct timex t = { .modes = 0 };
	int state = adjtimex(&t);

	return state >= 0 && state != TIME_ERROR && (t.status & STA_UNSYNC) == 0;
}

static void
host_sleep_us(void *ctx __rte_unused, unsigned int us)
{
	rte_delay_us_sleep(us);
}

static const struct mdv_clock_ops verbs_ops = {
	.page = verbs_page,
	.counter = verbs_counter,
	.utc = verbs_utc,
	.tsc = host_tsc,
	.realtime = host_realtime,
	.tai_offset_s = host_tai_offset_s,
	.host_synced = host_synced,
	.sleep_us = host_sleep_us,
};

RTE_EXPORT_INTERNAL_SYMBOL(mdv_clock_open)
int
mdv_clock_open(struct mdv_dev *dev, enum mdv_clock_source wanted, struct mdv_clock **out,
	       char *why, size_t why_bytes)
{
	const struct mdv_clock_facts facts = {
		.tsc_hz = rte_get_tsc_hz(),
		.frequency_khz = dev->caps.device_frequency_khz,
		.free_running = dev->caps.ts_free_running,
		.realtime = dev->caps.ts_realtime,
	};
	int ret;

	dev->core_clock = dev->backend->core_clock(dev);
	ret = mdv_clock_open_ops(&verbs_ops, dev, &facts, wanted, out, why, why_bytes);
	dev->clock_real_time = ret == 0 && (*out)->state.source == MDV_CLOCK_REALTIME;
	return ret;
}
