/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Work queues: checks common to SQ, RQ and RMP, and the state machine of SQ and RQ. */
#include <inttypes.h>

#include "fw.h"

#define DBREC_BYTES 8u
#define WQ_ALIGN_BYTES 64u

int
fw_dbrec_check(struct fw_cmd *c, uint32_t umem_id, uint64_t offset, struct emu_umem **umem,
	       volatile uint32_t **dbrec)
{
	int ret = fw_need(c, EMU_OBJ_UMEM, umem_id, FW_NO_DBR_UMEM, umem);

	if (ret != 0)
		return ret;
	if (((*umem)->addr + offset) % DBREC_BYTES != 0)
		return fw_refuse(c, FW_DBR_ALIGN, "umem 0x%x offset 0x%" PRIx64, umem_id, offset);
	*dbrec = emu_umem_window(*umem, offset, DBREC_BYTES);
	if (*dbrec == NULL)
		return fw_refuse(c, FW_DBR_RANGE, "umem 0x%x offset 0x%" PRIx64, umem_id, offset);
	return 0;
}

int
fw_ts_format_check(struct fw_cmd *c, unsigned format)
{
	enum emu_clock_format can = c->dev->clock.format;

	if (format == PRM_TS_FORMAT_DEFAULT ||
	    (format == PRM_TS_FORMAT_FREE_RUNNING && can != EMU_CLOCK_REALTIME) ||
	    (format == PRM_TS_FORMAT_REAL_TIME && can != EMU_CLOCK_FREE))
		return 0;
	return fw_refuse(c, FW_TS_FORMAT, "%u", format);
}

bool
fw_ts_real(const struct emu_dev *dev, unsigned format)
{
	return format == PRM_TS_FORMAT_REAL_TIME ||
	       (format == PRM_TS_FORMAT_DEFAULT && emu_clock_real(&dev->clock));
}

/*
 * Striding RQ: log_wqe_stride_size counts from 2^6 bytes, log_wqe_num_of_strides from 2^9 strides modulo
 * 16, so that values from 10 on mean 2^3 and up (Linux, drivers/infiniband/hw/mlx5/qp.c,
 * create_rq()).
 */
static int
wq_striding_check(struct fw_cmd *c, const struct prm_wq *wq, struct fw_wq *out)
{
	unsigned number = prm_wq_get_log_wqe_num_of_strides(wq);

	out->striding = true;
	out->two_byte_shift = prm_wq_get_two_byte_shift_en(wq);
	out->log_strides = (uint8_t)(number >= 10 ? number - 10 + EMU_DP_LOG_STRIDES_MIN :
						    number + 9);
	out->log_stride_size = (uint8_t)(prm_wq_get_log_wqe_stride_size(wq) +
					 EMU_DP_LOG_STRIDE_BYTES_MIN);
	/* Linux, get_log_num_of_strides(): values from 10 on need ext_stride_num_range. */
	if ((number >= 10 && !c->dev->profile->ext_stride_num_range) ||
	    out->log_strides > EMU_DP_LOG_STRIDES_MAX ||
	    out->log_strides + out->log_stride_size < EMU_DP_LOG_STRIDE_WQE_MIN)
		return fw_refuse(c, FW_WQ_STRIDES, "2^%u of 2^%u bytes", out->log_strides,
				 out->log_stride_size);
	return 0;
}

static int
wq_type_check(struct fw_cmd *c, const struct prm_wq *wq, const struct fw_wq_limits *limits,
	      struct fw_wq *out)
{
	unsigned type = prm_wq_get_wq_type(wq);

	if (type == PRM_WQ_TYPE_CYCLIC_STRIDING && limits->may_stride)
		return wq_striding_check(c, wq, out);
	/* FreeBSD's mlx5en has such RQs; Linux had them before 4.18. */
	if (limits->may_stride && type != PRM_WQ_TYPE_CYCLIC)
		return fw_refuse(c, FW_WQ_LINKED, "%s", prm_wq_type_name(type));
	if (type != PRM_WQ_TYPE_CYCLIC && !(limits->may_link && type == PRM_WQ_TYPE_LINKED_LIST))
		return fw_refuse(c, FW_WQ_TYPE, "%s", prm_wq_type_name(type));
	if (prm_wq_get_log_wqe_num_of_strides(wq) || prm_wq_get_two_byte_shift_en(wq) ||
	    prm_wq_get_log_wqe_stride_size(wq))
		return fw_refuse(c, FW_WQ_FEATURE, "%s", "strides of a WQ that does not stride");
	return 0;
}

static int
wq_features_check(struct fw_cmd *c, const struct prm_wq *wq, const struct fw_wq_limits *limits, struct fw_wq *out)
{
	unsigned padding = prm_wq_get_end_padding_mode(wq);

	/* Linux sets ALIGN in RQs without looking at end_pad (core/en/params.c, rq_end_pad_mode()). */
	out->end_padding = padding == PRM_WQ_END_PADDING_ALIGN;
	if (padding > (limits->may_stride ? PRM_WQ_END_PADDING_ALIGN : PRM_WQ_END_PADDING_NONE) ||
	    prm_wq_get_wq_signature(wq) || prm_wq_get_cd_slave(wq) || prm_wq_get_hds_skip_first_sge(wq) ||
	    prm_wq_get_log2_hds_buf_size(wq) || (prm_wq_get_lwm(wq) && !limits->may_link) ||
	    prm_wq_get_log_hairpin_num_packets(wq) || prm_wq_get_log_hairpin_data_sz(wq) ||
	    prm_wq_get_shampo_enable(wq) || prm_wq_get_headers_mkey(wq))
		return fw_refuse(c, FW_WQ_FEATURE, "%s",
				 "signature, padding, cd_slave, HDS, lwm, hairpin or SHAMPO");
	if (prm_wq_get_hw_counter(wq) || prm_wq_get_sw_counter(wq))
		return fw_refuse(c, FW_WQ_COUNTERS, "%u and %u", prm_wq_get_hw_counter(wq),
				 prm_wq_get_sw_counter(wq));
	if (prm_wq_get_page_offset(wq))
		return fw_refuse(c, FW_WQ_PAGE_OFFSET, "%u", prm_wq_get_page_offset(wq));
	return 0;
}

static int
wq_ring_check(struct fw_cmd *c, const struct prm_wq *wq, const struct fw_wq_limits *limits,
	      struct fw_wq *out)
{
	uint64_t offset = prm_wq_get_wq_umem_offset(wq);
	uint64_t bytes;

	out->log_size = (uint8_t)prm_wq_get_log_wq_sz(wq);
	out->log_stride = (uint8_t)prm_wq_get_log_wq_stride(wq);
	/* At least a next segment and a data segment. */
	if (out->log_stride < limits->log_stride_min + out->striding ||
	    out->log_stride > limits->log_stride_max)
		return fw_refuse(c, FW_WQ_STRIDE, "%u, allowed %u to %u", out->log_stride,
				 limits->log_stride_min + out->striding, limits->log_stride_max);
	if (out->log_size > c->dev->profile->log_max_wq_sz)
		return fw_refuse(c, FW_WQ_SIZE, "%u, at most %u", out->log_size,
				 c->dev->profile->log_max_wq_sz);
	if ((out->umem->addr + offset) % WQ_ALIGN_BYTES != 0)
		return fw_refuse(c, FW_WQ_ALIGN, "umem 0x%x offset 0x%" PRIx64,
				 out->umem->obj.id, offset);
	bytes = 1ull << (out->log_size + out->log_stride);
	out->ring = emu_umem_window(out->umem, offset, bytes);
	if (out->ring == NULL)
		return fw_refuse(c, FW_WQ_RANGE,
				 "umem 0x%x has 0x%" PRIx64 " bytes, wanted 0x%" PRIx64
				 "+0x%" PRIx64,
				 out->umem->obj.id, out->umem->len, offset, bytes);
	return 0;
}

int
fw_wq_check(struct fw_cmd *c, const struct prm_wq *wq, const struct fw_wq_limits *limits,
	    struct fw_wq *out)
{
	int ret = wq_type_check(c, wq, limits, out);

	if (ret == 0)
		ret = wq_features_check(c, wq, limits, out);
	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_PD, prm_wq_get_pd(wq), FW_NO_PD, &out->pd_obj);
	if (ret == 0 && limits->needs_uar)
		ret = fw_need(c, EMU_OBJ_UAR, prm_wq_get_uar_page(wq), FW_NO_UAR, &out->uar);
	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_UMEM, prm_wq_get_wq_umem_id(wq), FW_NO_UMEM, &out->umem);
	if (ret == 0)
		ret = wq_ring_check(c, wq, limits, out);
	if (ret == 0)
		ret = fw_dbrec_check(c, prm_wq_get_dbr_umem_id(wq), prm_wq_get_dbr_addr(wq),
				     &out->dbr_umem, &out->dbrec);
	if (ret == 0)
		out->pd = out->pd_obj->id;
	return ret;
}

/*
 * Permitted transitions (PRM, SQ and RQ states). ERR is left through RST only, because RST empties the
 * queue.
 * assumed: RST to ERR is refused, because a queue that never ran has nothing to flush. Other reading: it succeeds, for
 * mlx5_ib passes that of a raw packet QP on. Test: fw/test_states.c.
 */
static bool
may_change(enum emu_queue_state from, enum emu_queue_state to)
{
	static const bool may[4][4] = {
		/* to:           RST    RDY    -      ERR */
		[EMU_QS_RST] = {true, true, false, false},
		[EMU_QS_RDY] = {true, true, false, true},
		[EMU_QS_ERR] = {true, false, false, true},
	};

	return (unsigned)from < 4 && (unsigned)to < 4 && may[from][to];
}

static const char *
state_name(unsigned state)
{
	return prm_sqc_state_name(state);
}

int
fw_queue_transition(struct fw_cmd *c, enum emu_queue_state is, unsigned claimed, unsigned wanted)
{
	if (claimed != is)
		return fw_refuse(c, FW_STATE_CLAIM, "%s 0x%x is %s, not %s",
				 emu_obj_type_name(c->obj->type), c->obj->id, state_name(is),
				 state_name(claimed));
	if (!may_change(is, wanted))
		return fw_refuse(c, FW_STATE_FORBIDDEN, "%s 0x%x from %s to %s",
				 emu_obj_type_name(c->obj->type), c->obj->id, state_name(is),
				 state_name(wanted));
	return 0;
}
