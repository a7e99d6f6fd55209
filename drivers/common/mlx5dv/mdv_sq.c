/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues: WQEBBs, doorbell register, TIS. */

#include <string.h>

#include "mdv_private.h"

/*
 * mlx5dv_devx_alloc_uar(3) gives each caller a write-combining register (BF) of its own, but shares one
 * non-cached page among all callers of a context. So try BF first.
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
detach_uar(struct mdv_wq *wq)
{
	struct mdv_sq *sq = container_of(wq, struct mdv_sq, wq);

	mlx5dv_devx_free_uar(sq->uar);
	sq->uar = NULL;
}

static int
sq_modify(struct mdv_wq *wq, enum mdv_queue_state to)
{
	struct prm_modify_sq_in in = { 0 };

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, wq->number);
	prm_modify_sq_in_set_sq_state(&in, wq->state);
	prm_sqc_set_state(prm_modify_sq_in_ctx(&in), to);
	return mdv_obj_modify(wq->obj, &in, sizeof(in));
}

static int
sq_query_state(struct mdv_wq *wq, uint32_t *state)
{
	struct prm_query_sq_in in = { 0 };
	struct prm_query_sq_out out;
	int rc;

	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_QUERY_SQ);
	prm_query_sq_in_set_sqn(&in, wq->number);
	rc = mdv_obj_query(wq->obj, &in, sizeof(in), &out, sizeof(out));
	if (rc == 0)
		*state = prm_sqc_get_state(prm_query_sq_out_sq_context_c(&out));
	return rc;
}

static const struct mdv_wq_ops sq_ops = {
	.name = "SQ",
	.bytes = sizeof(struct mdv_sq),
	.dbrec_word = MLX5_SND_DBR,
	.modify = sq_modify,
	.query_state = sq_query_state,
	.release = detach_uar,
};

static void
fill_create(const struct mdv_dev *dev, const struct mdv_sq_attr *attr, const struct mdv_sq *sq,
	    struct prm_create_sq_in *in)
{
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
	mdv_wq_fill(&sq->wq, dev, prm_sqc_wq(sqc));
	prm_wq_set_uar_page(prm_sqc_wq(sqc), sq->uar->page_id);
}

int
mdv_sq_create(struct mdv_dev *dev, const struct mdv_sq_attr *attr, struct mdv_sq *sq)
{
	const struct mdv_wq_attr wq_attr = {
		.log_wq_sz = attr->log_wqebbs,
		.log_wq_stride = MDV_LOG_WQEBB_BYTES,
		.socket_id = attr->socket_id,
	};
	struct prm_create_sq_in in;
	int rc;

	memset(sq, 0, sizeof(*sq));
	rc = attach_uar(dev, sq);
	if (rc != 0)
		return rc;
	rc = mdv_wq_ring_alloc(dev, &sq_ops, &wq_attr, &sq->wq);
	if (rc == 0) {
		fill_create(dev, attr, sq, &in);
		rc = mdv_wq_create(&sq->wq, dev, &in, sizeof(in));
	}
	if (rc == 0)
		return 0;
	detach_uar(&sq->wq);
	memset(sq, 0, sizeof(*sq));
	return mdv_fail(-rc);
}
