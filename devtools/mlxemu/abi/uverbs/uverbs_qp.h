/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Common to the files of verbs queue pairs. */
#ifndef UVERBS_QP_H
#define UVERBS_QP_H

#include "uverbs_obj.h"

/** A request to create a QP. */
struct abi_qp_req {
	uint32_t type, flags;
	struct ib_uverbs_qp_cap cap;
	struct abi_handle *pd, *send_cq, *recv_cq, *srq, *ind_tbl;
	struct mlx5_ib_create_qp uhw; /**< Not for RSS QPs, which have another layout. */
};

/** SQ with TIS and RQ with TIR, each if the QP has this ring. */
int abi_qp_raw_make(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req,
		    struct mlx5_ib_create_qp_resp *resp);
/** A TIR that spreads over an indirection table. */
int abi_qp_rss_make(struct abi_call *call, struct abi_handle *h, const struct abi_qp_req *req,
		    struct mlx5_ib_create_qp_resp *resp);
/** A firmware QP: RC, UC, UD. */
int abi_qp_transport_make(struct abi_call *call, struct abi_handle *h,
			  const struct abi_qp_req *req);

/** Bits of enum ib_qp_attr_mask that commands depend on. */
#define ABI_QP_ATTR_ACCESS (1u << 3)
#define ABI_QP_ATTR_PKEY (1u << 4)
#define ABI_QP_ATTR_PORT (1u << 5)
#define ABI_QP_ATTR_QKEY (1u << 6)
#define ABI_QP_ATTR_AV (1u << 7)
#define ABI_QP_ATTR_MIN_RNR (1u << 15)

/** Log2 of a power of two. */
static inline unsigned
abi_log2(uint32_t v)
{
	return v != 0 ? (unsigned)__builtin_ctz(v) : 0;
}

/* ---- state changes (uverbs_qp_state.c; the commands behind them in the files of the kinds) ---- */

/** rate NULL: unchanged; 0 Kbit/s: no limit. */
int abi_qp_raw_modify(struct abi_call *call, struct abi_handle *h, unsigned to,
		      const struct prm_set_pp_rate_limit_context *rate);
int abi_qp_transport_modify(struct abi_call *call, struct abi_qp *qp, unsigned to,
			    const struct ib_uverbs_modify_qp *attr);
/** State of the firmware objects; or -errno. */
int abi_qp_raw_state(struct abi_call *call, const struct abi_qp *qp);
/** Fills the reply from the firmware's QP context; 0 or -errno. */
int abi_qp_transport_query(struct abi_call *call, const struct abi_qp *qp,
			   struct ib_uverbs_query_qp_resp *resp);

/** Changes the state of an RQ by command. */
int abi_rq_set_state(struct abi_call *call, struct emu_obj *rq, unsigned to);

#endif /* UVERBS_QP_H */
