/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Transport interface receive: the destination of rules, and its hash. */
#include <string.h>

#include "fw.h"

/* Of lro_max_ip_payload_size (DPDK mlx5.h, MLX5_LRO_SEG_CHUNK_SIZE). */
#define LRO_SIZE_UNIT 256u

static void
tir_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
	fw_holds_drop(&((struct fw_tir *)obj)->holds);
}

/* Linux's TIRs for a single queue have the XOR hash over an RQT (en/tir.c, mlx5e_tir_builder_build_direct()). */
static int
tir_hash_check(struct fw_cmd *c, const struct prm_tirc *tirc)
{
	unsigned fn = prm_tirc_get_rx_hash_fn(tirc);
	bool indirect = prm_tirc_get_disp_type(tirc) == PRM_TIRC_DISP_TYPE_INDIRECT;

	if (indirect && fn == PRM_RX_HASH_FN_NONE)
		return fw_refuse(c, FW_TIR_HASH, "%s with dispatch indirect", prm_rx_hash_fn_name(fn));
	return 0;
}

/*
 * assumed: other periods than the supported ones are refused. Other reading: the device takes the longest supported
 * period that is not longer (DPDK mlx5.rst, lro_timeout_usec, whose value mlx5_devx_tir_attr_set() does not round).
 * Test: fw/test_queues.c.
 */
static bool
lro_period_supported(uint32_t us)
{
	for (unsigned i = 0; i < FW_LRO_PERIODS; i++)
		if (fw_lro_periods_us[i] == us)
			return true;
	return false;
}

static int
tir_features_check(struct fw_cmd *c, const struct prm_tirc *tirc)
{
	const unsigned lro = PRM_TIRC_PACKET_MERGE_IPV4_LRO | PRM_TIRC_PACKET_MERGE_IPV6_LRO;
	unsigned merge = prm_tirc_get_packet_merge_mask(tirc);

	if (prm_tirc_get_tls_en(tirc) || (merge & ~(c->dev->profile->lro_cap ? lro : 0)) != 0)
		return fw_refuse(c, FW_TIR_FEATURE, "%s", "TLS or packet merge");
	if (merge != 0 && prm_tirc_get_lro_max_ip_payload_size(tirc) == 0)
		return fw_refuse(c, FW_TIR_LRO, "%s", "lro_max_ip_payload_size is 0");
	if (merge != 0 && !lro_period_supported(prm_tirc_get_lro_timeout_period_usecs(tirc)))
		return fw_refuse(c, FW_TIR_LRO, "lro_timeout_period_usecs %u is not of lro_timer_supported_periods",
				 prm_tirc_get_lro_timeout_period_usecs(tirc));
	return tir_hash_check(c, tirc);
}

/* RQs of TIRs with LRO do not scatter the FCS (DPDK mlx5_rxq.c, mlx5_rxq_new()). */
static int
tir_fcs_check(struct fw_cmd *c, const struct prm_tirc *tirc, bool indirect, const struct emu_obj *dest)
{
	const struct emu_rqt *rqt = (const struct emu_rqt *)dest;
	const struct emu_rq *rq = (const struct emu_rq *)dest;

	if (prm_tirc_get_packet_merge_mask(tirc) == 0)
		return 0;
	for (uint32_t i = 0; i < (indirect ? rqt->size : 1); i++) {
		const struct emu_rq *to = indirect ? rqt->rq[i] : rq;

		if (to != NULL && to->scatter_fcs)
			return fw_refuse(c, FW_TIR_LRO, "RQ 0x%x scatters the FCS", to->obj.id);
	}
	return 0;
}

static void
tir_lro_fill(struct emu_tir *tir, const struct prm_tirc *tirc)
{
	tir->lro_mask = (uint8_t)prm_tirc_get_packet_merge_mask(tirc);
	tir->lro_bytes = prm_tirc_get_lro_max_ip_payload_size(tirc) * LRO_SIZE_UNIT;
	tir->lro_timeout_us = prm_tirc_get_lro_timeout_period_usecs(tirc);
}

static void
tir_hash_fill(struct emu_tir *tir, const struct prm_tirc *tirc)
{
	const struct prm_rx_hash_field_select *outer, *inner;

	outer = prm_tirc_rx_hash_field_selector_outer_c(tirc);
	inner = prm_tirc_rx_hash_field_selector_inner_c(tirc);
	tir->hash_fn = (uint8_t)prm_tirc_get_rx_hash_fn(tirc);
	tir->symmetric = prm_tirc_get_rx_hash_symmetric(tirc);
	memcpy(tir->key, prm_tirc_rx_hash_toeplitz_key_c(tirc), sizeof(tir->key));
	tir->outer_select = __builtin_bswap32(outer->dw[0]);
	tir->inner_select = __builtin_bswap32(inner->dw[0]);
}

/* Transport domain 0 means none. DPDK's mlx5 PMD creates its drop TIR so. */
static int
tir_domain(struct fw_cmd *c, const struct prm_tirc *tirc, struct emu_obj **td)
{
	uint32_t id = prm_tirc_get_transport_domain(tirc);

	*td = NULL;
	return id == 0 ? 0 : fw_need(c, EMU_OBJ_TD, id, FW_NO_TD, td);
}

int
fw_create_tir(struct fw_cmd *c)
{
	struct prm_tirc *tirc = prm_create_tir_in_ctx(c->in);
	bool indirect = prm_tirc_get_disp_type(tirc) == PRM_TIRC_DISP_TYPE_INDIRECT;
	struct emu_obj *td, *dest;
	struct fw_tir *tir;
	int ret = tir_features_check(c, tirc);

	if (ret == 0)
		ret = tir_domain(c, tirc, &td);
	if (ret == 0 && indirect)
		ret = fw_need(c, EMU_OBJ_RQT, prm_tirc_get_indirect_table(tirc), FW_NO_RQT, &dest);
	else if (ret == 0)
		ret = fw_need(c, EMU_OBJ_RQ, prm_tirc_get_inline_rqn(tirc), FW_NO_RQ, &dest);
	if (ret == 0)
		ret = tir_fcs_check(c, tirc, indirect, dest);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_TIR, sizeof(*tir), tir_release, &tir);
	if (ret != 0)
		return ret;
	fw_hold(&tir->holds, td);
	fw_hold(&tir->holds, dest);
	tir->tirc = *tirc;
	tir->tir.td = prm_tirc_get_transport_domain(tirc);
	tir->tir.indirect = indirect;
	if (indirect)
		tir->tir.rqt = (struct emu_rqt *)dest;
	else
		tir->tir.rq = (struct emu_rq *)dest;
	tir->tir.tunneled_offload = prm_tirc_get_tunneled_offload_en(tirc);
	tir->tir.self_lb_block = (uint8_t)prm_tirc_get_self_lb_block(tirc);
	tir_hash_fill(&tir->tir, tirc);
	tir_lro_fill(&tir->tir, tirc);
	return 0;
}

static void
tir_hash_copy(struct prm_tirc *to, const struct prm_tirc *from)
{
	prm_tirc_set_rx_hash_fn(to, prm_tirc_get_rx_hash_fn(from));
	prm_tirc_set_rx_hash_symmetric(to, prm_tirc_get_rx_hash_symmetric(from));
	memcpy(prm_tirc_rx_hash_toeplitz_key(to), prm_tirc_rx_hash_toeplitz_key_c(from), 40);
	*prm_tirc_rx_hash_field_selector_outer(to) =
		*prm_tirc_rx_hash_field_selector_outer_c(from);
	*prm_tirc_rx_hash_field_selector_inner(to) =
		*prm_tirc_rx_hash_field_selector_inner_c(from);
}

/* Replaces the RQT, the last reference in holds. */
static int
tir_set_table(struct fw_cmd *c, struct fw_tir *tir, const struct prm_tirc *tirc)
{
	struct fw_holds *h = &tir->holds;
	struct emu_rqt *rqt;
	int ret;

	if (!tir->tir.indirect)
		return fw_refuse(c, FW_TIR_FIELD, "%s", "indirect_table of a direct TIR");
	ret = fw_need(c, EMU_OBJ_RQT, prm_tirc_get_indirect_table(tirc), FW_NO_RQT, &rqt);
	if (ret != 0)
		return ret;
	emu_obj_unref(h->held[--h->count]);
	fw_hold(h, &rqt->obj);
	tir->tir.rqt = rqt;
	prm_tirc_set_indirect_table(&tir->tirc, rqt->obj.id);
	return 0;
}

int
fw_modify_tir(struct fw_cmd *c)
{
	const struct prm_tirc *tirc = prm_modify_tir_in_ctx(c->in);
	uint32_t fields =
		__builtin_bswap32(((const struct prm_modify_tir_in *)c->in)->dw[5]);
	const uint32_t known = PRM_MODIFY_TIR_BITMASK_INDIRECT_TABLE |
			       PRM_MODIFY_TIR_BITMASK_HASH | PRM_MODIFY_TIR_BITMASK_SELF_LB_EN;
	struct fw_tir *tir = (struct fw_tir *)c->obj;
	int ret = 0;

	if ((fields & ~known) != 0)
		return fw_refuse(c, FW_TIR_FIELD, "0x%x", fields & ~known);
	if ((fields & PRM_MODIFY_TIR_BITMASK_HASH) != 0) {
		struct prm_tirc next = tir->tirc;

		tir_hash_copy(&next, tirc);
		ret = tir_hash_check(c, &next);
		if (ret != 0)
			return ret;
	}
	if ((fields & PRM_MODIFY_TIR_BITMASK_INDIRECT_TABLE) != 0)
		ret = tir_set_table(c, tir, tirc);
	if (ret != 0)
		return ret;
	if ((fields & PRM_MODIFY_TIR_BITMASK_HASH) != 0) {
		tir_hash_copy(&tir->tirc, tirc);
		tir_hash_fill(&tir->tir, &tir->tirc);
	}
	if ((fields & PRM_MODIFY_TIR_BITMASK_SELF_LB_EN) != 0) {
		prm_tirc_set_self_lb_block(&tir->tirc, prm_tirc_get_self_lb_block(tirc));
		tir->tir.self_lb_block = (uint8_t)prm_tirc_get_self_lb_block(tirc);
	}
	return 0;
}

int
fw_query_tir(struct fw_cmd *c)
{
	*prm_query_tir_out_tir_context(c->out) = ((const struct fw_tir *)c->obj)->tirc;
	return 0;
}
