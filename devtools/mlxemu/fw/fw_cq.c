/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Completion queues. */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>

#include "fw.h"

#define LOG_CQE_BYTES 6u
#define OP_MOD_RESIZE 1u

static void
cq_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
	fw_holds_drop(&((struct fw_cq *)obj)->holds);
}

/* Mini CQE formats: mini_cqe_res_format_ext << 2 | mini_cqe_res_format. Not all cards have all. */
static bool
mini_format_known(const struct emu_profile *p, unsigned format)
{
	switch (format) {
	case PRM_CQC_MINI_CQE_FORMAT_HASH:
	case PRM_CQC_MINI_CQE_FORMAT_CSUM:
		return true;
	case PRM_CQC_MINI_CQE_FORMAT_FTAG_STRIDX:
		return p->mini_cqe_resp_flow_tag != 0;
	case PRM_CQC_MINI_CQE_FORMAT_CSUM_STRIDX:
		return p->mini_cqe_resp_stride_index != 0;
	case 4:
		return p->mini_cqe_resp_l3_l4_tag != 0;
	default:
		return false;
	}
}

static int
cq_compression_check(struct fw_cmd *c, const struct prm_cqc *cqc)
{
	unsigned ext = prm_cqc_get_mini_cqe_res_format_ext(cqc), layout = prm_cqc_get_cqe_compression_layout(cqc);

	/* assumed: a layout other than 0 needs compression. Other reading: it is ignored. Test: fw/test_queues.c. */
	if (layout != PRM_CQE_COMP_LAYOUT_BASIC &&
	    (layout != PRM_CQE_COMP_LAYOUT_ENHANCED || !c->dev->profile->enhanced_cqe_compression ||
	     !prm_cqc_get_cqe_comp_en(cqc)))
		return fw_refuse(c, FW_CQ_COMPRESSION, "layout %u", layout);
	if (!prm_cqc_get_cqe_comp_en(cqc))
		return 0;
	if (prm_cqc_get_cqe_sz(cqc) != PRM_CQC_CQE_SZ_64B)
		return fw_refuse(c, FW_CQ_COMPRESSION, "%s", "entries of 128 bytes");
	if (!mini_format_known(c->dev->profile, ext << 2 | prm_cqc_get_mini_cqe_res_format(cqc)))
		return fw_refuse(c, FW_CQ_COMPRESSION, "mini CQE format %u, extension %u",
				 prm_cqc_get_mini_cqe_res_format(cqc), ext);
	return 0;
}

static int
cq_features_check(struct fw_cmd *c, const struct prm_cqc *cqc)
{
	if (cq_compression_check(c, cqc) != 0)
		return -EREMOTEIO;
	if (prm_cqc_get_status(cqc) || prm_cqc_get_st(cqc) || prm_cqc_get_apu_cq(cqc) ||
	    prm_cqc_get_consumer_counter(cqc) || prm_cqc_get_producer_counter(cqc))
		return fw_refuse(c, FW_CQ_INITIAL, "%s", "");
	if (prm_cqc_get_c_eqn_or_apu_element(cqc) > 0xff)
		return fw_refuse(c, FW_CQ_EQ_ELEMENT, "0x%x",
				 prm_cqc_get_c_eqn_or_apu_element(cqc));
	if (prm_cqc_get_cq_period_mode(cqc) != PRM_CQC_PERIOD_MODE_FROM_EQE)
		return fw_refuse(c, FW_CQ_MODERATION, "period mode %u",
				 prm_cqc_get_cq_period_mode(cqc));
	/*
	 * The queues determine the format; drivers write 0 here even if the device has no free-running
	 * timestamps.
	 */
	if (prm_cqc_get_cq_timestamp_format(cqc) == 0)
		return 0;
	return fw_ts_format_check(c, prm_cqc_get_cq_timestamp_format(cqc));
}

static uint8_t
log_cqe_bytes(const struct prm_cqc *cqc)
{
	return LOG_CQE_BYTES + (prm_cqc_get_cqe_sz(cqc) != PRM_CQC_CQE_SZ_64B);
}

/* The ring must be aligned and inside a umem that the device can write. */
static int
cq_ring_check(struct fw_cmd *c, const struct prm_cqc *cqc, struct emu_umem *umem, uint64_t offset,
	      uint8_t **ring)
{
	unsigned log_cqe = log_cqe_bytes(cqc);
	uint64_t bytes = 1ull << (prm_cqc_get_log_cq_size(cqc) + log_cqe);

	if (prm_cqc_get_cqe_sz(cqc) > PRM_CQC_CQE_SZ_128B_PAD)
		return fw_refuse(c, FW_CQ_CQE_SIZE, "%u", prm_cqc_get_cqe_sz(cqc));
	if (prm_cqc_get_log_cq_size(cqc) > c->dev->profile->log_max_cq_sz)
		return fw_refuse(c, FW_CQ_SIZE, "%u, at most %u", prm_cqc_get_log_cq_size(cqc),
				 c->dev->profile->log_max_cq_sz);
	if (prm_cqc_get_page_offset(cqc))
		return fw_refuse(c, FW_CQ_PAGE_OFFSET, "%u", prm_cqc_get_page_offset(cqc));
	if ((umem->access & EMU_ACCESS_LOCAL_WRITE) == 0)
		return fw_refuse(c, FW_CQ_READ_ONLY, "umem 0x%x", umem->obj.id);
	if (((umem->addr + offset) & ((1u << log_cqe) - 1)) != 0)
		return fw_refuse(c, FW_CQ_ALIGN, "umem 0x%x offset 0x%" PRIx64, umem->obj.id,
				 offset);
	*ring = emu_umem_window(umem, offset, bytes);
	if (*ring == NULL)
		return fw_refuse(c, FW_CQ_RANGE,
				 "umem 0x%x has 0x%" PRIx64 " bytes, wanted 0x%" PRIx64
				 "+0x%" PRIx64,
				 umem->obj.id, umem->len, offset, bytes);
	return 0;
}

static void
cq_fill(struct fw_cq *cq, const struct prm_cqc *cqc)
{
	cq->cqc = *cqc;
	cq->cq.log_size = (uint8_t)prm_cqc_get_log_cq_size(cqc);
	cq->cq.log_cqe_bytes = log_cqe_bytes(cqc);
	cq->cq.pad = prm_cqc_get_cqe_sz(cqc) == PRM_CQC_CQE_SZ_128B_PAD;
	cq->cq.period_us = (uint16_t)prm_cqc_get_cq_period(cqc);
	cq->cq.max_count = (uint16_t)prm_cqc_get_cq_max_count(cqc);
	cq->cq.overrun_ignore = prm_cqc_get_oi(cqc);
	cq->cq.collapsed = prm_cqc_get_cc(cqc);
	/* A collapsed CQ has one entry: nothing to compress. */
	cq->cq.comp_en = prm_cqc_get_cqe_comp_en(cqc) && !cq->cq.collapsed;
	cq->cq.enhanced = cq->cq.comp_en &&
			  prm_cqc_get_cqe_compression_layout(cqc) == PRM_CQE_COMP_LAYOUT_ENHANCED;
	cq->cq.mini_format = (uint8_t)(prm_cqc_get_mini_cqe_res_format_ext(cqc) << 2 |
				       prm_cqc_get_mini_cqe_res_format(cqc));
	cq->cq.eqn = prm_cqc_get_c_eqn(cqc);
}

/* The kernel's EQs always exist; the CQ holds an EQ of a VFIO owner. */
static void
cq_eq_set(struct fw_cq *cq, struct emu_obj *eq)
{
	struct emu_eq *before = cq->cq.eq;

	if (eq->ctx == NULL)
		return;
	cq->cq.eq = (struct emu_eq *)eq;
	for (unsigned i = 0; before != NULL && i < cq->holds.count; i++) {
		if (cq->holds.held[i] != &before->obj)
			continue;
		emu_obj_ref(eq);
		emu_obj_unref(&before->obj);
		cq->holds.held[i] = eq;
		return;
	}
	fw_hold(&cq->holds, eq);
}

int
fw_create_cq(struct fw_cmd *c)
{
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(c->in);
	struct emu_umem *umem, *dbr_umem;
	volatile uint32_t *dbrec;
	struct emu_uar *uar;
	struct emu_obj *eq;
	struct fw_cq *cq;
	uint8_t *ring;
	int ret = 0;

	if (!fw_in_ends_at(c, c->desc->in_bytes_min))
		ret = fw_refuse(c, FW_CQ_NO_UMEM, "%s", "");
	if (ret == 0)
		ret = cq_features_check(c, cqc);
	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_EQ, prm_cqc_get_c_eqn(cqc), FW_NO_EQ, &eq);
	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_UAR, prm_cqc_get_uar_page(cqc), FW_NO_UAR, &uar);
	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_UMEM, prm_create_cq_in_get_cq_umem_id(c->in), FW_NO_UMEM,
			      &umem);
	if (ret == 0)
		ret = cq_ring_check(c, cqc, umem, prm_create_cq_in_get_cq_umem_offset(c->in),
				    &ring);
	if (ret == 0)
		ret = fw_dbrec_check(c, prm_cqc_get_dbr_umem_id(cqc), prm_cqc_get_dbr_addr(cqc),
				     &dbr_umem, &dbrec);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_CQ, sizeof(*cq), cq_release, &cq);
	if (ret != 0)
		return ret;
	fw_hold(&cq->holds, &umem->obj);
	fw_hold(&cq->holds, &dbr_umem->obj);
	fw_hold(&cq->holds, &uar->obj);
	cq_eq_set(cq, eq);
	cq_fill(cq, cqc);
	cq->cq.umem = umem;
	cq->cq.dbr_umem = dbr_umem;
	cq->cq.uar = uar;
	cq->cq.ring = ring;
	cq->cq.dbrec = dbrec;
	emu_dp_cq_created(&cq->cq);
	return 0;
}

/* Replaces the ring. The CQEs of the old ring and the resize CQE must fit into it. */
static int
cq_resize(struct fw_cmd *c, struct fw_cq *cq)
{
	const struct prm_cqc *cqc = prm_modify_cq_in_cq_context(c->in);
	const uint32_t needed = PRM_RESIZE_CQ_FIELD_LOG_CQ_SIZE | PRM_RESIZE_CQ_FIELD_UMEM;
	const uint32_t known = needed | PRM_RESIZE_CQ_FIELD_LOG_PAGE_SIZE |
			       PRM_RESIZE_CQ_FIELD_PAGE_OFFSET;
	uint32_t fields = be32toh(((struct prm_modify_cq_in *)c->in)->dw[3]);
	struct emu_umem *umem;
	uint8_t *ring;
	int ret;

	if ((fields & ~known) != 0 || (fields & needed) != needed)
		return fw_refuse(c, FW_CQ_RESIZE, "fields 0x%x", fields);
	if (prm_cqc_get_cqe_sz(cqc) != prm_cqc_get_cqe_sz(&cq->cqc))
		return fw_refuse(c, FW_CQ_CQE_SIZE, "%u in a resize",
				 prm_cqc_get_cqe_sz(cqc));
	ret = fw_need(c, EMU_OBJ_UMEM, prm_modify_cq_in_get_cq_umem_id(c->in), FW_NO_UMEM, &umem);
	if (ret == 0)
		ret = cq_ring_check(c, cqc, umem, prm_modify_cq_in_get_cq_umem_offset(c->in),
				    &ring);
	if (ret != 0)
		return ret;
	if (!emu_dp_cq_resize(&cq->cq, ring, (uint8_t)prm_cqc_get_log_cq_size(cqc)))
		return fw_refuse(c, FW_CQ_OUTSTANDING, "2^%u entries",
				 prm_cqc_get_log_cq_size(cqc));
	/* The umem of the ring is held first. */
	emu_obj_ref(&umem->obj);
	emu_obj_unref(&cq->cq.umem->obj);
	cq->holds.held[0] = &umem->obj;
	cq->cq.umem = umem;
	prm_cqc_set_log_cq_size(&cq->cqc, prm_cqc_get_log_cq_size(cqc));
	return 0;
}

/* Applies the fields, all of which have been checked. */
static void
cq_change(struct fw_cq *cq, const struct prm_cqc *cqc, uint32_t fields)
{
	if ((fields & PRM_MODIFY_CQ_FIELD_C_EQN) != 0)
		prm_cqc_set_c_eqn(&cq->cqc, prm_cqc_get_c_eqn(cqc));
	if ((fields & PRM_MODIFY_CQ_FIELD_OI) != 0)
		prm_cqc_set_oi(&cq->cqc, prm_cqc_get_oi(cqc));
	if ((fields & PRM_MODIFY_CQ_FIELD_PERIOD) != 0)
		prm_cqc_set_cq_period(&cq->cqc, prm_cqc_get_cq_period(cqc));
	if ((fields & PRM_MODIFY_CQ_FIELD_MAX_COUNT) != 0)
		prm_cqc_set_cq_max_count(&cq->cqc, prm_cqc_get_cq_max_count(cqc));
	cq->cq.eqn = prm_cqc_get_c_eqn(&cq->cqc);
	cq->cq.overrun_ignore = prm_cqc_get_oi(&cq->cqc);
	cq->cq.period_us = (uint16_t)prm_cqc_get_cq_period(&cq->cqc);
	cq->cq.max_count = (uint16_t)prm_cqc_get_cq_max_count(&cq->cqc);
}

int
fw_modify_cq(struct fw_cmd *c)
{
	struct prm_modify_cq_in *in = c->in;
	const struct prm_cqc *cqc = prm_modify_cq_in_cq_context(in);
	struct fw_cq *cq = (struct fw_cq *)c->obj;
	/* One dword selects the fields of a modification or of a resize. */
	uint32_t fields = be32toh(in->dw[3]);
	const uint32_t known = PRM_MODIFY_CQ_FIELD_OI | PRM_MODIFY_CQ_FIELD_C_EQN |
			       PRM_MODIFY_CQ_FIELD_PERIOD | PRM_MODIFY_CQ_FIELD_MAX_COUNT;
	struct emu_obj *eq = NULL;

	if (!fw_in_ends_at(c, c->desc->in_bytes_min))
		return fw_refuse(c, FW_CQ_NO_UMEM, "%s", "");
	if (prm_modify_cq_in_get_op_mod(in) == OP_MOD_RESIZE)
		return cq_resize(c, cq);
	if (prm_modify_cq_in_get_op_mod(in) != 0)
		return fw_refuse(c, FW_OP_MOD, "%u", prm_modify_cq_in_get_op_mod(in));
	if ((fields & ~known) != 0)
		return fw_refuse(c, FW_CQ_FIELD, "0x%x", fields & ~known);
	if ((fields & PRM_MODIFY_CQ_FIELD_C_EQN) != 0 &&
	    fw_need(c, EMU_OBJ_EQ, prm_cqc_get_c_eqn(cqc), FW_NO_EQ, &eq) != 0)
		return -EREMOTEIO;
	if (eq != NULL)
		cq_eq_set(cq, eq);
	cq_change(cq, cqc, fields);
	return 0;
}

int
fw_query_cq(struct fw_cmd *c)
{
	const struct fw_cq *cq = (const struct fw_cq *)c->obj;
	struct prm_cqc *cqc = prm_query_cq_out_cq_context(c->out);

	*cqc = cq->cqc;
	prm_cqc_set_producer_counter(cqc, cq->cq.pi & 0xffffff);
	prm_cqc_set_consumer_counter(cqc, be32toh(cq->cq.dbrec[0]) & 0xffffff);
	if (cq->cq.err)
		prm_cqc_set_status(cqc, PRM_CQC_STATUS_OVERFLOW);
	return 0;
}
