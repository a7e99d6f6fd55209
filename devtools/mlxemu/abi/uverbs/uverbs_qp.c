/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs queue pairs: creation, destruction, choice of the firmware object. */
#include <errno.h>
#include <string.h>

#include "uverbs_qp.h"

/* Create flags that are supported by some type of QP. */
#define QP_CREATE_FLAGS                                                                            \
	(IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING |                   \
	 IB_UVERBS_QP_CREATE_SQ_SIG_ALL | IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
#define QP_CREATE_FLAGS_RAW                                                                        \
	(IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING)
/* Driver flags: hints that the device does not use, and the presence of the doorbell page index. */
#define QP_DRIVER_FLAGS                                                                            \
	(MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |                               \
	 MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC |                         \
	 MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC | MLX5_QP_FLAG_TUNNEL_OFFLOADS)

static bool
power_of_two(uint32_t v)
{
	return (v & (v - 1)) == 0;
}

/* Sizes of the rings as computed by the library from the requested capabilities (mlx5_ib: set_rq_size()). */
static int
qp_check_sizes(struct abi_call *call, const struct abi_qp_req *req)
{
	const uint32_t most = 1u << call->dev->profile->log_max_wq_sz;
	const struct mlx5_ib_create_qp *uhw = &req->uhw;

	if (req->cap.max_recv_wr > most || req->cap.max_send_wr > most)
		return abi_refuse(call, -EINVAL, "%u send, %u receive requests, at most %u",
				  req->cap.max_send_wr, req->cap.max_recv_wr, most);
	if (!power_of_two(uhw->sq_wqe_count) || uhw->sq_wqe_count > most ||
	    !power_of_two(uhw->rq_wqe_count) || uhw->rq_wqe_count > most)
		return abi_refuse(call, -EINVAL, "rings of %u and %u entries", uhw->sq_wqe_count,
				  uhw->rq_wqe_count);
	if (uhw->rq_wqe_count != 0 && (uhw->rq_wqe_shift < 4 || uhw->rq_wqe_shift > 9))
		return abi_refuse(call, -EINVAL, "receive entries of 1 << %u bytes",
				  uhw->rq_wqe_shift);
	return 0;
}

static int
qp_check_driver(struct abi_call *call, const struct abi_qp_req *req)
{
	const struct mlx5_ib_create_qp *uhw = &req->uhw;

	if ((uhw->flags & ~(uint32_t)QP_DRIVER_FLAGS) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "driver flags 0x%x", uhw->flags);
	if ((uhw->flags & MLX5_QP_FLAG_UAR_PAGE_INDEX) == 0)
		return abi_refuse(call, -EINVAL, "no doorbell page: contexts have none of their own");
	return qp_check_sizes(call, req);
}

static int
qp_read(struct abi_call *call, struct abi_qp_req *req)
{
	int ret = abi_in(call, UVERBS_ATTR_CREATE_QP_CAP, &req->cap, sizeof(req->cap));

	req->type = (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_QP_TYPE);
	req->flags = (uint32_t)abi_in_u64(call, UVERBS_ATTR_CREATE_QP_FLAGS);
	req->pd = abi_in_handle(call, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	req->send_cq = abi_in_handle(call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	req->recv_cq = abi_in_handle(call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	req->srq = abi_in_handle(call, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
	req->ind_tbl = abi_in_handle(call, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
	if (req->send_cq == NULL)
		req->send_cq = req->recv_cq;
	if (req->recv_cq == NULL)
		req->recv_cq = req->send_cq;
	if (ret == 0 && req->ind_tbl == NULL)
		ret = abi_in(call, UVERBS_ATTR_UHW_IN, &req->uhw, sizeof(req->uhw));
	return ret;
}

static int
qp_check(struct abi_call *call, const struct abi_qp_req *req)
{
	bool raw = req->type == IB_UVERBS_QPT_RAW_PACKET;

	if (raw && abi_net_raw_check(call) != 0)
		return -EPERM;
	if (req->pd == NULL)
		return abi_refuse(call, -EINVAL, "no protection domain");
	if ((req->flags & ~(uint32_t)QP_CREATE_FLAGS) != 0)
		return abi_refuse(call, -EOPNOTSUPP, "create flags 0x%x", req->flags);
	if (!raw && (req->flags & QP_CREATE_FLAGS_RAW) != 0)
		return abi_refuse(call, -EINVAL, "create flags 0x%x for a type %u", req->flags,
				  req->type);
	if (req->ind_tbl != NULL)
		return raw ? 0 : abi_refuse(call, -EOPNOTSUPP, "an indirection table, type %u",
					    req->type);
	if (req->send_cq == NULL)
		return abi_refuse(call, -EINVAL, "no completion queue");
	if (raw && req->srq != NULL)
		return abi_refuse(call, -EINVAL, "raw packets into a shared receive queue");
	return qp_check_driver(call, req);
}

static int
qp_make(struct abi_call *call, struct abi_handle *h, struct abi_qp_req *req,
	struct mlx5_ib_create_qp_resp *resp)
{
	switch (req->type) {
	case IB_UVERBS_QPT_RAW_PACKET:
		return req->ind_tbl != NULL ? abi_qp_rss_make(call, h, req, resp)
					    : abi_qp_raw_make(call, h, req, resp);
	case IB_UVERBS_QPT_RC:
	case IB_UVERBS_QPT_UC:
	case IB_UVERBS_QPT_UD:
		return abi_qp_transport_make(call, h, req);
	default:
		return abi_refuse(call, -EOPNOTSUPP, "QP type %u", req->type);
	}
}

static int
qp_answer(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req,
	  const struct mlx5_ib_create_qp_resp *resp)
{
	struct abi_qp *qp = &h->verbs->qp;
	int ret;

	/* Capabilities of the receive ring; the library has computed those of the send ring. */
	qp->cap = req->cap;
	if (qp->kind != ABI_QP_RSS) {
		qp->cap.max_recv_wr = req->srq != NULL ? 0 : req->uhw.rq_wqe_count;
		qp->cap.max_recv_sge = qp->cap.max_recv_wr != 0 ? (1u << req->uhw.rq_wqe_shift) / 16 : 0;
	}
	ret = abi_out(call, UVERBS_ATTR_CREATE_QP_RESP_CAP, &qp->cap, sizeof(qp->cap));
	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->qpn);
	if (ret == 0)
		ret = abi_out(call, UVERBS_ATTR_UHW_OUT, resp, sizeof(*resp));
	return ret;
}

static int
abi_qp_create(struct abi_call *call)
{
	struct mlx5_ib_create_qp_resp resp = {0};
	struct abi_qp_req req = {0};
	struct abi_handle *h;
	int ret = qp_read(call, &req);

	if (ret == 0)
		ret = qp_check(call, &req);
	if (ret != 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_QP,
			  abi_in_u64(call, UVERBS_ATTR_CREATE_QP_USER_HANDLE));
	if (h == NULL)
		return -ENOMEM;
	h->verbs->qp.type = (uint8_t)req.type;
	h->verbs->qp.sq_sig_all = (req.flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0;
	abi_verbs_use(h, req.pd);
	abi_verbs_use(h, req.send_cq);
	abi_verbs_use(h, req.recv_cq);
	abi_verbs_use(h, req.srq);
	abi_verbs_use(h, req.ind_tbl);
	ret = abi_verbs_async(call, h, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	if (ret == 0)
		ret = qp_make(call, h, &req, &resp);
	if (ret == 0)
		ret = qp_answer(call, h, &req, &resp);
	if (ret != 0)
		return abi_verbs_undo(call, h, ret);
	abi_attr(call, UVERBS_ATTR_CREATE_QP_HANDLE)->data = h->id;
	return 0;
}

static int
abi_qp_destroy(struct abi_call *call)
{
	struct abi_handle *h = abi_in_handle(call, UVERBS_ATTR_DESTROY_QP_HANDLE);
	struct ib_uverbs_destroy_qp_resp resp = {0};
	int ret;

	if (h->users == 0)
		abi_events_reported(call->file, h->verbs, NULL, &resp.events_reported);
	ret = abi_verbs_destroy(call, h);
	return ret != 0 ? ret
			: abi_out(call, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, "QP_CREATE", abi_qp_create, true,
	 {ABI_NEW(UVERBS_ATTR_CREATE_QP_HANDLE, UVERBS_OBJECT_QP),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_OBJECT_XRCD),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_QP_PD_HANDLE, UVERBS_OBJECT_PD),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_OBJECT_SRQ),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_OBJECT_CQ),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, UVERBS_OBJECT_CQ),
	  ABI_HANDLE_OPT(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, UVERBS_OBJECT_RWQ_IND_TBL),
	  ABI_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 8),
	  ABI_IN(UVERBS_ATTR_CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap),
		 sizeof(struct ib_uverbs_qp_cap)),
	  ABI_IN(UVERBS_ATTR_CREATE_QP_TYPE, 4, 8), ABI_IN_OPT(UVERBS_ATTR_CREATE_QP_FLAGS, 4, 8),
	  ABI_IN_OPT(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 4, 4),
	  {UVERBS_ATTR_CREATE_QP_EVENT_FD, ABI_ATTR_FD, false, UVERBS_OBJECT_ASYNC_EVENT, 0, 0},
	  ABI_OUT(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(struct ib_uverbs_qp_cap)),
	  ABI_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
	  ABI_IN(UVERBS_ATTR_UHW_IN, 32, 0), ABI_OUT(UVERBS_ATTR_UHW_OUT, 0)}},
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "QP_DESTROY", abi_qp_destroy, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_OBJECT_QP),
	  ABI_OUT(UVERBS_ATTR_DESTROY_QP_RESP, sizeof(struct ib_uverbs_destroy_qp_resp))}},
};

const struct abi_method_table abi_qp_methods = ABI_METHODS(abi_methods);
