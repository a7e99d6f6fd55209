/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Readings of the kernel's clock page and of the device's core clock counter. */

#include <string.h>

#include <rte_pause.h>

#include "mdv_private.h"

/** Each try of ours is up to ten of the library's, which has no pause between them. */
#define MDV_CLOCK_TRIES 4

/*
 * The library waits at most ten looks for the writer to finish, but repeats without a bound while
 * the page's sign differs before and after its copy. That repetition is not ours to bound: it ends
 * with the first copy that no update fell into, and the kernel updates a few times a minute. What
 * is bounded here is the number of calls.
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

/** A page that would make a conversion divide the undefined, shift too far or wrap at once. */
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

/* On EBUSY the library may have written part of an earlier pass: so into a scratch struct first. */
int
mdv_clock_read(struct mdv_dev *dev, struct mdv_clock_point *point)
{
	struct mlx5dv_clock_info info;
	int err;

	memset(&info, 0, sizeof(info));
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

/* libmlx5 gives raw cycles in tv_nsec and leaves tv_sec 0 (mlx5_query_rt_values). */
int
mdv_clock_raw(struct mdv_dev *dev, uint64_t *cycles)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int err = ibv_query_rt_values_ex(dev->ibv, &values);

	if (err != 0)
		return mdv_fail(err < 0 ? EIO : err);
	if ((values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK) == 0)
		return mdv_fail(ENOTSUP);
	*cycles = values.raw_clock.tv_nsec;
	return 0;
}
