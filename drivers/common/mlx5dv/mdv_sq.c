/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues: WQEBBs in ring memory, doorbell register, state changes. */

#include <string.h>

#include "mdv_private.h"

/** Of the two words of a doorbell record the second is the send queue's (PRM, doorbell record). */
#define MDV_SQ_DBREC_WORD 1

/*
 * Write-combining doorbell registers (BF) are handed out one by one, so one is asked for first; the
 * library's non-cached page is a single one per context, shared by everybody who asks.
 */
static int
attach_uar(struct mdv_dev *dev, struct mdv_sq *sq)
{
	int err;

	errno = 0;
	sq->uar = MDV_RETRY_PTR(mlx5dv_devx_alloc_uar(dev->ibv, MLX5DV_UAR_ALLOC_TYPE_BF));
	sq->db_wc = sq->uar != NULL;
	if (sq->uar == NULL) {
		sq->uar = MDV_RETRY_PTR(mlx5dv_devx_alloc_uar(dev->ibv, MLX5DV_UAR_ALLOC_TYPE_NC));
		sq->db_shared = sq->uar != NULL;
	}
	if (sq->uar != NULL) {
		sq->db_reg = sq->uar->reg_addr;
		return 0;
	}
	err = errno != 0 ? errno : EIO;
	MDV_LOG(ERR, &dev->pci, "no doorbell page for an SQ: %s", mdv_errno_name(err));
	return mdv_fail(err);
}

static void
detach_uar(struct mdv_sq *sq)
{
	if (sq->uar != NULL)
		mlx5dv_devx_free_uar(sq->uar);
	sq->uar = NULL;
}

static int
check_attr(struct mdv_dev *dev, const struct mdv_sq_attr *attr)
{
	if (attr->log_wqebbs <= dev->caps.log_max_wq_sz)
		return 0;
	MDV_LOG(ERR, &dev->pci, "an SQ of 2^%u WQEBBs is too large, the device has 2^%u",
		attr->log_wqebbs, dev->caps.log_max_wq_sz);
	return mdv_fail(EINVAL);
}

static void
fill_create(const struct mdv_dev *dev, const struct mdv_sq_attr *attr, const struct mdv_sq *sq,
	    size_t dbrec_offset, struct prm_create_sq_in *in)
{
	const struct mdv_wq_place place = {
		.ring = &sq->ring,
		.dbrec_offset = dbrec_offset,
		.log_stride_bytes = MDV_LOG_WQEBB_BYTES,
		.log_entries = attr->log_wqebbs,
	};
	struct prm_sqc *sqc = prm_create_sq_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_sq_in_set_opcode(in, PRM_CMD_OP_CREATE_SQ);
	prm_sqc_set_state(sqc, PRM_SQC_STATE_RST);
	prm_sqc_set_flush_in_error_en(sqc, 1);
	prm_sqc_set_allow_multi_pkt_send_wqe(sqc, dev->caps.mpw);
	prm_sqc_set_min_wqe_inline_mode(sqc, dev->caps.min_inline_mode);
	prm_sqc_set_ts_format(sqc, mdv_ts_format(dev));
	prm_sqc_set_cqn(sqc, attr->cqn);
	prm_sqc_set_tis_lst_sz(sqc, 1);
	prm_sqc_set_tis_num_0(sqc, attr->tisn);
	mdv_wq_fill(dev, prm_sqc_wq(sqc), &place);
	prm_wq_set_uar_page(prm_sqc_wq(sqc), sq->uar->page_id);
}

int
mdv_sq_create(struct mdv_dev *dev, const struct mdv_sq_attr *attr, struct mdv_sq *sq)
{
	size_t wqe_bytes = (size_t)1 << (MDV_LOG_WQEBB_BYTES + attr->log_wqebbs);
	struct prm_create_sq_in in;
	int err;

	memset(sq, 0, sizeof(*sq));
	if (check_attr(dev, attr) != 0 || attach_uar(dev, sq) != 0)
		return -rte_errno;
	if (mdv_ring_alloc(dev, "mdv_sq", wqe_bytes + MDV_DBREC_BYTES, attr->socket_id,
			   &sq->ring) != 0)
		goto fail;
	sq->wqes = sq->ring.addr;
	sq->dbrec = (volatile uint32_t *)RTE_PTR_ADD(sq->ring.addr, wqe_bytes) + MDV_SQ_DBREC_WORD;
	sq->log_wqebbs = attr->log_wqebbs;
	fill_create(dev, attr, sq, wqe_bytes, &in);
	sq->obj = mdv_obj_create(dev, &in, sizeof(in));
	if (sq->obj != NULL) {
		sq->sqn = sq->obj->id;
		sq->state = MDV_QS_RST;
		return 0;
	}
fail:
	err = rte_errno;
	mdv_ring_free(dev, &sq->ring);
	detach_uar(sq);
	memset(sq, 0, sizeof(*sq));
	return mdv_fail(err);
}

int
mdv_sq_modify(struct mdv_sq *sq, enum mdv_queue_state to)
{
	struct prm_modify_sq_in in;

	if (mdv_queue_transition(sq->obj->dev, "SQ", sq->sqn, sq->state, to) != 0)
		return -rte_errno;
	memset(&in, 0, sizeof(in));
	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, sq->sqn);
	prm_modify_sq_in_set_sq_state(&in, sq->state);
	prm_sqc_set_state(prm_modify_sq_in_ctx(&in), to);
	if (mdv_obj_modify(sq->obj, &in, sizeof(in)) != 0)
		return -rte_errno;
	sq->state = to;
	return 0;
}

int
mdv_sq_state_read(struct mdv_sq *sq)
{
	struct prm_query_sq_in in;
	struct prm_query_sq_out out;

	memset(&in, 0, sizeof(in));
	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_QUERY_SQ);
	prm_query_sq_in_set_sqn(&in, sq->sqn);
	if (mdv_obj_query(sq->obj, &in, sizeof(in), &out, sizeof(out)) != 0)
		return -rte_errno;
	return mdv_queue_state_take(sq->obj->dev, "SQ", sq->sqn,
				    prm_sqc_get_state(prm_query_sq_out_sq_context_c(&out)),
				    &sq->state);
}

int
mdv_sq_destroy(struct mdv_sq *sq)
{
	int rc;

	if (sq->obj == NULL)
		return 0;
	rc = mdv_ring_release(sq->obj, &sq->ring);
	detach_uar(sq);
	memset(sq, 0, sizeof(*sq));
	return rc;
}
