/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Work queues: what receive and send queues have in common, then what differs. */

#include <string.h>

#include "mdv_private.h"

/* What differs between RQ and SQ. */
struct mdv_wq_ops {
	const char *name;	/**< "RQ" or "SQ", for messages. */
	size_t bytes;		/**< Size of the structure that begins with the mdv_wq. */
	unsigned int dbrec_word; /**< Word of the doorbell record: MLX5_RCV_DBR or MLX5_SND_DBR. */
	int (*modify)(struct mdv_wq *wq, enum mdv_queue_state to); /**< MODIFY_RQ, MODIFY_SQ. */
	/** QUERY_RQ, QUERY_SQ: the state, and how many WQEs or WQEBBs the device has consumed (hw_counter). */
	int (*query)(struct mdv_wq *wq, uint32_t *state, uint32_t *consumed);
	void (*disconnect)(struct mdv_wq *wq); /**< Before the object is destroyed; NULL: nothing to do. */
	void (*release)(struct mdv_wq *wq); /**< After the object was destroyed; NULL: nothing to do. */
};
struct mdv_wq_attr {
	uint8_t log_wq_sz, log_wq_stride;
	int socket_id;
};

/* Checks the size and allocates ring and doorbell record; sets all fields but number and state. 0 or -errno. */
static int
wq_ring_alloc(struct mdv_dev *dev, const struct mdv_wq_ops *ops, const struct mdv_wq_attr *attr,
	      struct mdv_wq *wq)
{
	size_t wqe_bytes = (size_t)1 << (attr->log_wq_stride + attr->log_wq_sz);

	if (attr->log_wq_sz > dev->caps.log_max_wq_sz)
		return MDV_FAIL(dev->name, EINVAL,
				"%s of 2^%u entries is too large: the limit of the device is 2^%u", ops->name,
				attr->log_wq_sz, dev->caps.log_max_wq_sz);
	wqe_bytes = RTE_ALIGN_CEIL(wqe_bytes, (size_t)MDV_DBREC_BYTES);
	if (mdv_ring_alloc(dev, ops->name, wqe_bytes + MDV_DBREC_BYTES, attr->socket_id, &wq->ring) != 0)
		return -rte_errno;
	wq->ops = ops;
	wq->wqes = wq->ring.addr;
	wq->dbrec = (volatile uint32_t *)RTE_PTR_ADD(wq->ring.addr, wqe_bytes) + ops->dbrec_word;
	wq->log_wq_sz = attr->log_wq_sz;
	wq->log_wq_stride = attr->log_wq_stride;
	return 0;
}

/*
 * Writes the queue's context. Addresses in it are offsets into the umem. For a DEVX context mlx5_ib sets both
 * umem_valid bits itself (drivers/infiniband/hw/mlx5/devx.c, devx_set_umem_valid()); with VFIO there is no kernel
 * driver to set them. log_wq_pg_sz stays 0: 4 KiB, the unit of all offsets.
 */
static void
wq_fill(const struct mdv_wq *wq, const struct mdv_dev *dev, struct prm_wq *out)
{
	uintptr_t dbrec = (uintptr_t)(wq->dbrec - wq->ops->dbrec_word);

	prm_wq_set_wq_type(out, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(out, dev->pdn);
	prm_wq_set_log_wq_stride(out, wq->log_wq_stride);
	prm_wq_set_log_wq_sz(out, wq->log_wq_sz);
	prm_wq_set_wq_umem_valid(out, 1);
	prm_wq_set_dbr_umem_valid(out, 1);
	prm_wq_set_wq_umem_id(out, wq->ring.umem->umem_id);
	prm_wq_set_wq_umem_offset(out, 0);
	prm_wq_set_dbr_umem_id(out, wq->ring.umem->umem_id);
	prm_wq_set_dbr_addr(out, dbrec - (uintptr_t)wq->ring.addr);
}

/* Runs the create command; the ring is freed on failure. 0 or -errno. */
static int
wq_create(struct mdv_wq *wq, struct mdv_dev *dev, const void *in, size_t in_bytes)
{
	wq->obj = mdv_obj_create(dev, in, in_bytes);
	if (wq->obj != NULL) {
		wq->number = wq->obj->id;
		wq->state = MDV_QS_RST;
		return 0;
	}
	MDV_UNDO(mdv_ring_free(dev, &wq->ring));
	return -rte_errno;
}

/*
 * Permitted: reset to ready, ready to reset, ready to error, error to reset. Prohibited: error to ready, because
 * the device would continue with the indices at which it stopped; reset to error, because there is nothing to
 * flush; and the state that the queue has already.
 */
int
mdv_wq_transition(const struct mdv_dev *dev, const char *name, uint32_t number, enum mdv_queue_state from,
		  enum mdv_queue_state to)
{
	bool permitted = (from == MDV_QS_RST && to == MDV_QS_RDY) ||
			 (from == MDV_QS_RDY && to == MDV_QS_RST) ||
			 (from == MDV_QS_RDY && to == MDV_QS_ERR) ||
			 (from == MDV_QS_ERR && to == MDV_QS_RST);

	if (permitted)
		return 0;
	return MDV_FAIL(dev->name, EINVAL, "%s 0x%x cannot go from state %s to %s", name, number,
			prm_sqc_state_name(from), prm_sqc_state_name(to));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_wq_modify)
int
mdv_wq_modify(struct mdv_wq *wq, enum mdv_queue_state to)
{
	if (mdv_wq_transition(wq->obj->dev, wq->ops->name, wq->number, wq->state, to) != 0 ||
	    wq->ops->modify(wq, to) != 0)
		return -rte_errno;
	wq->state = to;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_wq_state_read)
int
mdv_wq_state_read(struct mdv_wq *wq)
{
	struct mdv_dev *dev = wq->obj->dev;
	uint32_t state, consumed;

	if (wq->ops->query(wq, &state, &consumed) != 0)
		return -rte_errno;
	if (state != MDV_QS_RST && state != MDV_QS_RDY && state != MDV_QS_ERR)
		return MDV_FAIL(dev->name, EPROTO, "%s 0x%x: the device reports the undefined state %u",
				wq->ops->name, wq->number, state);
	wq->state = (enum mdv_queue_state)state;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_wq_consumed)
int
mdv_wq_consumed(struct mdv_wq *wq, uint16_t *consumed)
{
	uint32_t state, counter;
	int rc = wq->ops->query(wq, &state, &counter);

	if (rc == 0)
		*consumed = counter;
	return rc;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_wq_destroy)
int
mdv_wq_destroy(struct mdv_wq *wq)
{
	int rc;

	if (wq->obj == NULL)
		return 0;
	if (wq->ops->disconnect != NULL)
		wq->ops->disconnect(wq);
	rc = mdv_ring_release(wq->obj, &wq->ring);
	if (wq->ops->release != NULL)
		wq->ops->release(wq);
	memset(wq, 0, wq->ops->bytes);
	return rc;
}

/* ------------------------------------------------------------------ receive queues */

/** MODIFY_RQ without attributes: the queue, its present and its new state. */
static void
rq_fill_modify(const struct mdv_wq *wq, enum mdv_queue_state to, struct prm_modify_rq_in *in)
{
	memset(in, 0, sizeof(*in));
	prm_modify_rq_in_set_opcode(in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(in, wq->number);
	prm_modify_rq_in_set_rq_state(in, wq->state);
	prm_rqc_set_state(prm_modify_rq_in_ctx(in), to);
}

static int
rq_modify(struct mdv_wq *wq, enum mdv_queue_state to)
{
	struct prm_modify_rq_in in;

	rq_fill_modify(wq, to, &in);
	return mdv_obj_modify(wq->obj, &in, sizeof(in));
}

static int
rq_query(struct mdv_wq *wq, uint32_t *state, uint32_t *consumed)
{
	struct prm_query_rq_in in = { 0 };
	struct prm_query_rq_out out;
	int rc;

	prm_query_rq_in_set_opcode(&in, PRM_CMD_OP_QUERY_RQ);
	prm_query_rq_in_set_rqn(&in, wq->number);
	rc = mdv_obj_query(wq->obj, &in, sizeof(in), &out, sizeof(out));
	if (rc != 0)
		return rc;
	*state = prm_rqc_get_state(prm_query_rq_out_rq_context_c(&out));
	*consumed = prm_wq_get_hw_counter(prm_rqc_wq_c(prm_query_rq_out_rq_context_c(&out)));
	return 0;
}

static const struct mdv_wq_ops rq_ops = {
	.name = "RQ",
	.bytes = sizeof(struct mdv_rq),
	.dbrec_word = MLX5_RCV_DBR,
	.modify = rq_modify,
	.query = rq_query,
};

static int
rq_check_strides(struct mdv_dev *dev, const struct mdv_rq_attr *attr)
{
	if (dev->caps.log_min_strides == 0)
		return MDV_FAIL(dev->name, ENOTSUP, "the device has no striding RQs");
	if (attr->log_stride_bytes != MDV_LOG_STRIDING_WQE_BYTES)
		return MDV_FAIL(dev->name, EINVAL, "striding RQ with WQEs of 2^%u bytes: allowed are 2^%u",
				attr->log_stride_bytes, MDV_LOG_STRIDING_WQE_BYTES);
	if (attr->log_strides < dev->caps.log_min_strides || attr->log_strides > MDV_LOG_STRIDES_MAX ||
	    attr->log_stride_size < MDV_LOG_STRIDE_MIN || attr->log_stride_size > MDV_LOG_STRIDE_MAX ||
	    attr->log_strides + attr->log_stride_size < MDV_LOG_STRIDING_WQE_MIN)
		return MDV_FAIL(dev->name, EINVAL,
				"striding RQ with 2^%u strides of 2^%u bytes: allowed are 2^%u..2^%u of 2^%u..2^%u, together at least 2^%u",
				attr->log_strides, attr->log_stride_size, dev->caps.log_min_strides,
				MDV_LOG_STRIDES_MAX, MDV_LOG_STRIDE_MIN, MDV_LOG_STRIDE_MAX,
				MDV_LOG_STRIDING_WQE_MIN);
	return 0;
}

static int
rq_check_attr(struct mdv_dev *dev, const struct mdv_rq_attr *attr)
{
	if (attr->log_stride_bytes < MDV_LOG_RQ_STRIDE_MIN ||
	    attr->log_stride_bytes > MDV_LOG_RQ_STRIDE_MAX)
		return MDV_FAIL(dev->name, EINVAL, "RQ with WQEs of 2^%u bytes: allowed are 2^%u..2^%u",
				attr->log_stride_bytes, MDV_LOG_RQ_STRIDE_MIN, MDV_LOG_RQ_STRIDE_MAX);
	if ((attr->vlan_strip && !dev->caps.vlan_strip) ||
	    (attr->scatter_fcs && !dev->caps.scatter_fcs))
		return MDV_FAIL(dev->name, ENOTSUP, "the device cannot %s on an RQ",
				attr->vlan_strip && !dev->caps.vlan_strip ? "strip VLAN tags" : "keep the FCS");
	return attr->log_strides != 0 ? rq_check_strides(dev, attr) : 0;
}

/*
 * Both fields have bases, and small numbers of strides wrap around in four bits (drivers/infiniband/hw/mlx5/qp.c,
 * create_rq() and get_log_num_of_strides()).
 */
static void
rq_fill_strides(const struct mdv_rq_attr *attr, struct prm_wq *out)
{
	prm_wq_set_wq_type(out, PRM_WQ_TYPE_CYCLIC_STRIDING);
	prm_wq_set_log_wqe_num_of_strides(out, (attr->log_strides - MDV_LOG_STRIDES_BASE) & 0xf);
	prm_wq_set_log_wqe_stride_size(out, attr->log_stride_size - MDV_LOG_STRIDE_MIN);
}

static void
rq_fill_create(const struct mdv_dev *dev, const struct mdv_rq_attr *attr, const struct mdv_rq *rq,
	       struct prm_create_rq_in *in)
{
	struct prm_rqc *rqc = prm_create_rq_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_rq_in_set_opcode(in, PRM_CMD_OP_CREATE_RQ);
	prm_rqc_set_state(rqc, PRM_RQC_STATE_RST);
	prm_rqc_set_mem_rq_type(rqc, PRM_RQC_MEM_RQ_TYPE_INLINE);
	prm_rqc_set_flush_in_error_en(rqc, 1);
	/* vsd: VLAN strip disable. */
	prm_rqc_set_vsd(rqc, !attr->vlan_strip);
	prm_rqc_set_scatter_fcs(rqc, attr->scatter_fcs);
	prm_rqc_set_ts_format(rqc, mdv_ts_format(dev));
	prm_rqc_set_cqn(rqc, attr->cqn);
	prm_rqc_set_counter_set_id(rqc, attr->counter_set_id);
	wq_fill(&rq->wq, dev, prm_rqc_wq(rqc));
	if (attr->log_strides != 0)
		rq_fill_strides(attr, prm_rqc_wq(rqc));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rq_create)
int
mdv_rq_create(struct mdv_dev *dev, const struct mdv_rq_attr *attr, struct mdv_rq *rq)
{
	const struct mdv_wq_attr wq_attr = {
		.log_wq_sz = attr->log_wqes,
		.log_wq_stride = attr->log_stride_bytes,
		.socket_id = attr->socket_id,
	};
	struct prm_create_rq_in in;

	memset(rq, 0, sizeof(*rq));
	if (rq_check_attr(dev, attr) != 0 || wq_ring_alloc(dev, &rq_ops, &wq_attr, &rq->wq) != 0)
		return -rte_errno;
	rq->vlan_strip = attr->vlan_strip;
	rq_fill_create(dev, attr, rq, &in);
	if (wq_create(&rq->wq, dev, &in, sizeof(in)) == 0)
		return 0;
	memset(rq, 0, sizeof(*rq));
	return -rte_errno;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rq_set_vlan_strip)
int
mdv_rq_set_vlan_strip(struct mdv_rq *rq, bool on)
{
	struct mdv_dev *dev = rq->wq.obj->dev;
	struct prm_modify_rq_in in;

	if (on && !dev->caps.vlan_strip)
		return MDV_FAIL(dev->name, ENOTSUP, "the device cannot strip VLAN tags on RQ 0x%x",
				rq->wq.number);
	/*
	 * mlx5_core changes vsd of ready RQs only (drivers/net/ethernet/mellanox/mlx5/core/en_main.c,
	 * mlx5e_modify_rq_vsd()), so that is what the firmware is known to accept.
	 */
	if (rq->wq.state != MDV_QS_RDY)
		return MDV_FAIL(dev->name, EINVAL,
				"VLAN stripping changes on ready queues only, RQ 0x%x is not ready",
				rq->wq.number);
	rq_fill_modify(&rq->wq, rq->wq.state, &in);
	prm_modify_rq_in_set_modify_bitmask(&in, PRM_MODIFY_RQ_BITMASK_VSD);
	prm_rqc_set_vsd(prm_modify_rq_in_ctx(&in), !on);
	if (mdv_obj_modify(rq->wq.obj, &in, sizeof(in)) != 0)
		return -rte_errno;
	rq->vlan_strip = on;
	return 0;
}

/* ------------------------------------------------------------------ send queues */

/*
 * mlx5dv_devx_alloc_uar(3) gives each caller a write-combining register (BF) of its own, and all callers of a context
 * the same non-cached one (NC). Not all kernels and machines have both. A store of 8 bytes to NC is not divided, so
 * that SQs can share the register without a lock, as those of DPDK's net/mlx5 do.
 */
static int
attach_uar(struct mdv_dev *dev, bool wc, struct mdv_sq *sq)
{
	sq->uar = MDV_RETRY_PTR(dev, mlx5dv_devx_alloc_uar(dev->ibv, wc ? MLX5DV_UAR_ALLOC_TYPE_BF :
								     MLX5DV_UAR_ALLOC_TYPE_NC));
	sq->db_wc = wc == (sq->uar != NULL);
	if (sq->uar == NULL)
		sq->uar = MDV_RETRY_PTR(dev, mlx5dv_devx_alloc_uar(dev->ibv, wc ? MLX5DV_UAR_ALLOC_TYPE_NC :
									     MLX5DV_UAR_ALLOC_TYPE_BF));
	if (sq->uar != NULL) {
		sq->db_reg = sq->uar->reg_addr;
		mdv_doorbell_map(dev, sq);
		return 0;
	}
	return MDV_FAIL(dev->name, errno, "no doorbell page for an SQ: %s", mdv_errno_name(errno));
}

static void
detach_uar(struct mdv_wq *wq)
{
	struct mdv_sq *sq = container_of(wq, struct mdv_sq, wq);

	mdv_doorbell_unmap(sq);
	mlx5dv_devx_free_uar(sq->uar);
	sq->uar = NULL;
}

static void
sq_disconnect(struct mdv_wq *wq)
{
	mdv_uplink_disconnect(wq->obj->dev, wq->number);
}

/* MODIFY_SQ; rate: writes the index of the limit, too. */
static int
sq_modify_rate(struct mdv_wq *wq, enum mdv_queue_state to, bool rate, uint16_t index)
{
	struct prm_modify_sq_in in = { 0 };

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, wq->number);
	prm_modify_sq_in_set_sq_state(&in, wq->state);
	prm_sqc_set_state(prm_modify_sq_in_ctx(&in), to);
	if (rate) {
		prm_modify_sq_in_set_modify_bitmask(&in, PRM_MODIFY_SQ_BITMASK_RATE_LIMIT);
		prm_sqc_set_packet_pacing_rate_limit_index(prm_modify_sq_in_ctx(&in), index);
	}
	return mdv_obj_modify(wq->obj, &in, sizeof(in));
}

/* With the change to RDY mlx5_ib writes the limit, too (qp.c, modify_raw_packet_qp_sq()). */
static int
sq_modify(struct mdv_wq *wq, enum mdv_queue_state to)
{
	const uint16_t index = container_of(wq, struct mdv_sq, wq)->rate_index;

	return sq_modify_rate(wq, to, to == MDV_QS_RDY && index != 0, index);
}

static int
sq_query(struct mdv_wq *wq, uint32_t *state, uint32_t *consumed)
{
	struct prm_query_sq_in in = { 0 };
	struct prm_query_sq_out out;
	int rc;

	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_QUERY_SQ);
	prm_query_sq_in_set_sqn(&in, wq->number);
	rc = mdv_obj_query(wq->obj, &in, sizeof(in), &out, sizeof(out));
	if (rc != 0)
		return rc;
	*state = prm_sqc_get_state(prm_query_sq_out_sq_context_c(&out));
	*consumed = prm_wq_get_hw_counter(prm_sqc_wq_c(prm_query_sq_out_sq_context_c(&out)));
	return 0;
}

static const struct mdv_wq_ops sq_ops = {
	.name = "SQ",
	.bytes = sizeof(struct mdv_sq),
	.dbrec_word = MLX5_SND_DBR,
	.modify = sq_modify,
	.query = sq_query,
	.disconnect = sq_disconnect,
	.release = detach_uar,
};

static void
sq_fill_create(const struct mdv_dev *dev, const struct mdv_sq_attr *attr, const struct mdv_sq *sq,
	       struct prm_create_sq_in *in)
{
	struct prm_sqc *sqc = prm_create_sq_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_sq_in_set_opcode(in, PRM_CMD_OP_CREATE_SQ);
	prm_sqc_set_state(sqc, PRM_SQC_STATE_RST);
	prm_sqc_set_flush_in_error_en(sqc, 1);
	prm_sqc_set_allow_multi_pkt_send_wqe(sqc, dev->caps.mpw);
	prm_sqc_set_allow_swp(sqc, dev->caps.swp_csum);
	prm_sqc_set_min_wqe_inline_mode(sqc, dev->caps.sq_inline_mode);
	prm_sqc_set_ts_format(sqc, mdv_ts_format(dev));
	prm_sqc_set_cqn(sqc, attr->cqn);
	prm_sqc_set_tis_lst_sz(sqc, 1);
	prm_sqc_set_tis_num_0(sqc, attr->tisn);
	wq_fill(&sq->wq, dev, prm_sqc_wq(sqc));
	prm_wq_set_uar_page(prm_sqc_wq(sqc), sq->uar->page_id);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_sq_create)
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
	sq->rate_index = attr->rate_index;
	rc = attach_uar(dev, attr->db_wc, sq);
	if (rc != 0)
		return rc;
	rc = wq_ring_alloc(dev, &sq_ops, &wq_attr, &sq->wq);
	if (rc == 0) {
		sq_fill_create(dev, attr, sq, &in);
		rc = wq_create(&sq->wq, dev, &in, sizeof(in));
	}
	if (rc == 0 && mdv_uplink_connect(dev, sq->wq.number) != 0) {
		MDV_UNDO(mdv_wq_destroy(&sq->wq));
		return -rte_errno;
	}
	if (rc == 0)
		return 0;
	detach_uar(&sq->wq);
	memset(sq, 0, sizeof(*sq));
	return mdv_fail(-rc);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_sq_set_rate)
int
mdv_sq_set_rate(struct mdv_sq *sq, uint16_t index)
{
	int rc = 0;

	if (sq->wq.state == MDV_QS_RDY)
		rc = sq_modify_rate(&sq->wq, MDV_QS_RDY, true, index);
	if (rc == 0)
		sq->rate_index = index;
	return rc;
}
