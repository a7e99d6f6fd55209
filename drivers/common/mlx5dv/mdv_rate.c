/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Limits of send queues' rates: entries of the device's table of rates (PRM, SET_PP_RATE_LIMIT). Equal limits share an
 * entry, of which each SQ has the whole rate. By verbs mlx5_core manages the table (mlx5/core/rl.c), through VFIO this
 * file does.
 */

#include "mdv_private.h"

/** An entry, through VFIO. Entry 0 means no limit. */
struct mdv_rate_entry {
	uint32_t kbps;	/**< As last written; 0: free in the device. */
	uint32_t users;
};

static int
entry_write(struct mdv_dev *dev, uint16_t index, uint32_t kbps)
{
	struct prm_set_pp_rate_limit_in in = { 0 };
	struct prm_set_pp_rate_limit_out out;

	prm_set_pp_rate_limit_in_set_opcode(&in, PRM_CMD_OP_SET_PP_RATE_LIMIT);
	prm_set_pp_rate_limit_in_set_rate_limit_index(&in, index);
	prm_set_pp_rate_limit_context_set_rate_limit(prm_set_pp_rate_limit_in_ctx(&in), kbps);
	return mdv_cmd(dev, &in, sizeof(in), &out, sizeof(out));
}

/* The entry with this rate, else the first that no SQ uses; 0: none. */
static uint16_t
entry_find(const struct mdv_dev *dev, uint32_t kbps)
{
	uint16_t unused = 0;

	for (uint16_t i = dev->caps.num_rates; i > 0; i--) {
		if (dev->rates[i].kbps == kbps)
			return i;
		if (dev->rates[i].users == 0)
			unused = i;
	}
	return unused;
}

static int
entry_take(struct mdv_dev *dev, uint32_t kbps, struct mdv_rate *rate)
{
	uint16_t index;
	int rc = 0;

	if (dev->rates == NULL)
		dev->rates = mdv_zalloc(dev->name, (dev->caps.num_rates + 1) * sizeof(*dev->rates), "limits of rates");
	if (dev->rates == NULL)
		return -rte_errno;
	index = entry_find(dev, kbps);
	if (index == 0)
		return MDV_FAIL(dev->name, ENOSPC, "%u different rates are in use, the device has no more",
				dev->caps.num_rates);
	if (dev->rates[index].kbps != kbps)
		rc = entry_write(dev, index, kbps);
	if (rc != 0)
		return rc;
	dev->rates[index].kbps = kbps;
	dev->rates[index].users++;
	rate->index = index;
	return 0;
}

/* An entry that cannot be freed keeps its rate, and is used again. */
static void
entry_give(struct mdv_dev *dev, uint16_t index)
{
	struct mdv_rate_entry *entry = &dev->rates[index];

	if (--entry->users == 0 && !mdv_removed(dev) && entry_write(dev, index, 0) == 0)
		entry->kbps = 0;
}

static int
object_alloc(struct mdv_dev *dev, uint32_t kbps, struct mdv_rate *rate)
{
	struct prm_set_pp_rate_limit_context context = { 0 };

	prm_set_pp_rate_limit_context_set_rate_limit(&context, kbps);
	rate->pp = MDV_RETRY_PTR(dev, mlx5dv_pp_alloc(dev->ibv, sizeof(context), &context, 0));
	if (rate->pp == NULL && errno == ENOSPC)
		return MDV_FAIL(dev->name, ENOSPC, "%u different rates are in use, the device has no more",
				dev->caps.num_rates);
	if (rate->pp == NULL)
		return MDV_FAIL_DEV(dev, errno, "no entry for a rate of %u Kbit/s: %s", kbps, mdv_errno_name(errno));
	rate->index = rate->pp->index;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rate_alloc)
int
mdv_rate_alloc(struct mdv_dev *dev, uint64_t kbps, struct mdv_rate *rate)
{
	const struct mdv_caps *caps = &dev->caps;

	*rate = (struct mdv_rate){ 0 };
	if (caps->num_rates == 0)
		return MDV_FAIL(dev->name, ENOTSUP, "the device or its kernel driver cannot limit the rate of a queue "
				"(packet pacing)");
	if (kbps < caps->min_rate_kbps || kbps > caps->max_rate_kbps)
		return MDV_FAIL(dev->name, EINVAL, "a rate of %" PRIu64 " Kbit/s: allowed are %u to %u", kbps,
				caps->min_rate_kbps, caps->max_rate_kbps);
	return dev->backend->exclusive ? entry_take(dev, kbps, rate) : object_alloc(dev, kbps, rate);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rate_free)
void
mdv_rate_free(struct mdv_dev *dev, struct mdv_rate *rate)
{
	if (rate->pp != NULL)
		mlx5dv_pp_free(rate->pp);
	else if (rate->index != 0)
		entry_give(dev, rate->index);
	*rate = (struct mdv_rate){ 0 };
}
