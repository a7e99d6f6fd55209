/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packet pacing: the table of rates, and the entry of a send queue. */
#include "fw.h"

/* Linux, rl.c, mlx5_rl_table_get(): entry 0 means no limit. */
static int
index_check(struct fw_cmd *c, uint32_t index)
{
	if (index == 0 || index >= c->dev->profile->packet_pacing_rate_table_size)
		return fw_refuse(c, FW_PP_INDEX, "index %u, the table has 1 to %u", index,
				 c->dev->profile->packet_pacing_rate_table_size - 1);
	return 0;
}

/*
 * assumed: the firmware refuses rates out of its range and fields without capability. Other reading: only mlx5_core
 * does (Linux, rl.c, mlx5_rl_add_rate_raw()). Test: fw/test_pacing.c.
 */
static int
context_check(struct fw_cmd *c, const struct prm_set_pp_rate_limit_context *pp)
{
	const struct emu_profile *p = c->dev->profile;
	uint32_t rate = prm_set_pp_rate_limit_context_get_rate_limit(pp);

	if (rate < p->packet_pacing_min_rate || rate > p->packet_pacing_max_rate)
		return fw_refuse(c, FW_PP_RATE, "%u, allowed are %u to %u Kbit/s", rate, p->packet_pacing_min_rate,
				 p->packet_pacing_max_rate);
	/* WQE_RATE needs wqe_rate_pp. */
	if ((prm_set_pp_rate_limit_context_get_burst_upper_bound(pp) != 0 && !p->packet_pacing_burst_bound) ||
	    (prm_set_pp_rate_limit_context_get_typical_packet_size(pp) != 0 && !p->packet_pacing_typical_size) ||
	    prm_set_pp_rate_limit_context_get_rate_mode(pp) != PRM_PP_RATE_MODE_DATA_RATE)
		return fw_refuse(c, FW_PP_FEATURE, "%s", "burst_upper_bound, typical_packet_size or rate_mode");
	return 0;
}

/*
 * Rate 0 frees the entry.
 * assumed: an entry that limits a queue cannot be freed. Other reading: the queue is then without limit. (mlx5_core and
 * DPDK, mlx5_txq_release(), free it after the queue.) Test: fw/test_pacing.c.
 * assumed: typical_packet_size only helps a card to keep the rate, which the model keeps for all sizes. Other reading:
 * another rate for packets of other sizes. Test: fw/test_pacing.c.
 */
int
fw_set_pp_rate_limit(struct fw_cmd *c)
{
	const struct prm_set_pp_rate_limit_context *ctx = prm_set_pp_rate_limit_in_ctx(c->in);
	uint32_t index = prm_set_pp_rate_limit_in_get_rate_limit_index(c->in);
	uint32_t rate = prm_set_pp_rate_limit_context_get_rate_limit(ctx);
	uint16_t uid = (uint16_t)prm_set_pp_rate_limit_in_get_uid(c->in);
	struct emu_pp *pp = &c->dev->pp[index % EMU_PP_ENTRIES];
	int ret;

	if (!c->dev->profile->packet_pacing)
		return fw_refuse(c, FW_NO_PACING, "%s", "SET_PP_RATE_LIMIT");
	ret = index_check(c, index);
	if (ret == 0 && uid != 0 && !c->dev->profile->packet_pacing_uid)
		ret = fw_refuse(c, FW_PP_FEATURE, "uid 0x%x without packet_pacing_uid", uid);
	if (ret == 0 && rate != 0)
		ret = context_check(c, ctx);
	if (ret == 0 && rate == 0 && pp->sqs != 0)
		ret = fw_refuse(c, FW_PP_BUSY, "index %u limits %u SQs", index, pp->sqs);
	if (ret != 0)
		return ret;
	pp->rate_kbps = rate;
	pp->burst_bytes = prm_set_pp_rate_limit_context_get_burst_upper_bound(ctx);
	pp->uid = uid;
	return 0;
}

int
fw_pp_find(struct fw_cmd *c, uint32_t index, struct emu_pp **pp)
{
	int ret;

	*pp = NULL;
	if (index == 0)
		return 0;
	if (!c->dev->profile->packet_pacing)
		return fw_refuse(c, FW_SQ_RATE_LIMIT, "index %u", index);
	ret = index_check(c, index);
	if (ret != 0)
		return ret;
	*pp = &c->dev->pp[index];
	if ((*pp)->rate_kbps == 0)
		return fw_refuse(c, FW_SQ_RATE_ENTRY, "index %u is free", index);
	if (c->dev->profile->packet_pacing_uid && (*pp)->uid != EMU_UID_SHARED && (*pp)->uid != c->ctx->uid)
		return fw_refuse(c, FW_SQ_RATE_ENTRY, "index %u is another user's", index);
	return 0;
}

void
fw_pp_clear(struct fw_cmd *c)
{
	unsigned left = 0;

	for (unsigned i = 0; i < EMU_PP_ENTRIES; i++) {
		left += c->dev->pp[i].rate_kbps != 0;
		c->dev->pp[i].rate_kbps = 0;
	}
	if (left != 0)
		emu_audit_left(c->dev, "packet pacing entry", left);
}
