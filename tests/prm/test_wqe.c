/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The generated WQE and CQE structures against rdma-core's public header, member by member. */

#include <infiniband/mlx5dv.h>

#include "prm.h"
#include "../check.h"

/* Same place and size of a member in ours and in the peer's structure. */
#define SAME(ours, member, theirs, peer) do { \
	CHECK(offsetof(struct ours, member) == offsetof(struct theirs, peer)); \
	CHECK(sizeof(((struct ours *)0)->member) == sizeof(((struct theirs *)0)->peer)); \
} while (0)

/* Constants of different enumerations: compared as numbers. */
#define EQUAL(a, b) CHECK((uint32_t)(a) == (uint32_t)(b))

static void
test_segments(void)
{
	CHECK(sizeof(struct prm_wqe_ctrl_seg) == sizeof(struct mlx5_wqe_ctrl_seg));
	SAME(prm_wqe_ctrl_seg, opmod_idx_opcode, mlx5_wqe_ctrl_seg, opmod_idx_opcode);
	SAME(prm_wqe_ctrl_seg, qpn_ds, mlx5_wqe_ctrl_seg, qpn_ds);
	SAME(prm_wqe_ctrl_seg, signature, mlx5_wqe_ctrl_seg, signature);
	SAME(prm_wqe_ctrl_seg, dci_stream_channel_id, mlx5_wqe_ctrl_seg, dci_stream_channel_id);
	SAME(prm_wqe_ctrl_seg, fm_ce_se, mlx5_wqe_ctrl_seg, fm_ce_se);
	SAME(prm_wqe_ctrl_seg, imm, mlx5_wqe_ctrl_seg, imm);
	SAME(prm_wqe_eth_seg, cs_flags, mlx5_wqe_eth_seg, cs_flags);
	SAME(prm_wqe_eth_seg, mss, mlx5_wqe_eth_seg, mss);
	SAME(prm_wqe_eth_seg, inline_hdr_sz, mlx5_wqe_eth_seg, inline_hdr_sz);
	SAME(prm_wqe_eth_seg, inline_hdr, mlx5_wqe_eth_seg, inline_hdr_start);
	CHECK(sizeof(struct prm_wqe_data_seg) == sizeof(struct mlx5_wqe_data_seg));
	SAME(prm_wqe_data_seg, byte_count, mlx5_wqe_data_seg, byte_count);
	SAME(prm_wqe_data_seg, lkey, mlx5_wqe_data_seg, lkey);
	SAME(prm_wqe_data_seg, addr, mlx5_wqe_data_seg, addr);
	CHECK(sizeof(struct prm_wqe_inline_seg) == sizeof(struct mlx5_wqe_inl_data_seg));
	CHECK(sizeof(struct prm_wqe_raddr_seg) == sizeof(struct mlx5_wqe_raddr_seg));
	SAME(prm_wqe_raddr_seg, rkey, mlx5_wqe_raddr_seg, rkey);
	CHECK(sizeof(struct prm_wqe_atomic_seg) == sizeof(struct mlx5_wqe_atomic_seg));
	SAME(prm_wqe_atomic_seg, compare, mlx5_wqe_atomic_seg, compare);
	CHECK(sizeof(struct prm_wqe_av) == sizeof(struct mlx5_wqe_av));
	SAME(prm_wqe_av, dqp_dct, mlx5_wqe_av, dqp_dct);
	SAME(prm_wqe_av, rlid, mlx5_wqe_av, rlid);
	SAME(prm_wqe_av, rmac, mlx5_wqe_av, rmac);
	SAME(prm_wqe_av, hop_limit, mlx5_wqe_av, hop_limit);
	SAME(prm_wqe_av, grh_gid_fl, mlx5_wqe_av, grh_gid_fl);
	SAME(prm_wqe_av, rgid, mlx5_wqe_av, rgid);
	CHECK(sizeof(struct prm_wqe_umr_ctrl_seg) == sizeof(struct mlx5_wqe_umr_ctrl_seg));
	SAME(prm_wqe_umr_ctrl_seg, mkey_mask, mlx5_wqe_umr_ctrl_seg, mkey_mask);
	CHECK(sizeof(struct prm_wqe_srq_next_seg) == sizeof(struct mlx5_wqe_srq_next_seg));
	SAME(prm_wqe_srq_next_seg, next_wqe_index, mlx5_wqe_srq_next_seg, next_wqe_index);
}

static void
test_completions(void)
{
	CHECK(sizeof(struct prm_cqe64) == sizeof(struct mlx5_cqe64));
	SAME(prm_cqe64, wqe_id, mlx5_cqe64, wqe_id);
	SAME(prm_cqe64, ml_path, mlx5_cqe64, ml_path);
	SAME(prm_cqe64, slid, mlx5_cqe64, slid);
	SAME(prm_cqe64, flags_rqpn, mlx5_cqe64, flags_rqpn);
	SAME(prm_cqe64, hds_ip_ext, mlx5_cqe64, hds_ip_ext);
	SAME(prm_cqe64, l4_hdr_type_etc, mlx5_cqe64, l4_hdr_type_etc);
	SAME(prm_cqe64, vlan_info, mlx5_cqe64, vlan_info);
	SAME(prm_cqe64, srqn_uidx, mlx5_cqe64, srqn_uidx);
	SAME(prm_cqe64, imm_inval_pkey, mlx5_cqe64, imm_inval_pkey);
	SAME(prm_cqe64, app, mlx5_cqe64, app);
	SAME(prm_cqe64, app_op, mlx5_cqe64, app_op);
	SAME(prm_cqe64, app_info, mlx5_cqe64, app_info);
	SAME(prm_cqe64, byte_cnt, mlx5_cqe64, byte_cnt);
	SAME(prm_cqe64, timestamp, mlx5_cqe64, timestamp);
	SAME(prm_cqe64, sop_drop_qpn, mlx5_cqe64, sop_drop_qpn);
	SAME(prm_cqe64, wqe_counter, mlx5_cqe64, wqe_counter);
	SAME(prm_cqe64, signature, mlx5_cqe64, signature);
	SAME(prm_cqe64, op_own, mlx5_cqe64, op_own);
	CHECK(sizeof(struct prm_err_cqe) == sizeof(struct mlx5_err_cqe));
	SAME(prm_err_cqe, srqn, mlx5_err_cqe, srqn);
	SAME(prm_err_cqe, vendor_err_synd, mlx5_err_cqe, vendor_err_synd);
	SAME(prm_err_cqe, syndrome, mlx5_err_cqe, syndrome);
	SAME(prm_err_cqe, s_wqe_opcode_qpn, mlx5_err_cqe, s_wqe_opcode_qpn);
	SAME(prm_err_cqe, wqe_counter, mlx5_err_cqe, wqe_counter);
	SAME(prm_err_cqe, op_own, mlx5_err_cqe, op_own);
}

static void
test_values(void)
{
	EQUAL(PRM_WQE_OPCODE_NOP, MLX5_OPCODE_NOP);
	EQUAL(PRM_WQE_OPCODE_SEND, MLX5_OPCODE_SEND);
	EQUAL(PRM_WQE_OPCODE_TSO, MLX5_OPCODE_TSO);
	EQUAL(PRM_WQE_OPCODE_UMR, MLX5_OPCODE_UMR);
	EQUAL(PRM_CQE_OPCODE_REQ, MLX5_CQE_REQ);
	EQUAL(PRM_CQE_OPCODE_RESP_SEND, MLX5_CQE_RESP_SEND);
	EQUAL(PRM_CQE_OPCODE_REQ_ERR, MLX5_CQE_REQ_ERR);
	EQUAL(PRM_CQE_OPCODE_RESP_ERR, MLX5_CQE_RESP_ERR);
	EQUAL(PRM_CQE_OPCODE_INVALID, MLX5_CQE_INVALID);
	EQUAL(PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	EQUAL(PRM_CQE_SYNDROME_LOCAL_PROT_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	EQUAL(PRM_CQE_SYNDROME_WR_FLUSH_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	EQUAL(PRM_CQE_L3_HDR_TYPE_IPV4, MLX5_CQE_L3_HDR_TYPE_IPV4);
	EQUAL(PRM_CQE64_HDS_IP_EXT_L4_OK_MASK, MLX5_CQE_L4_OK);
	EQUAL(PRM_CQE64_HDS_IP_EXT_L3_OK_MASK, MLX5_CQE_L3_OK);
	EQUAL(PRM_CQE64_OP_OWN_OWNER_MASK, MLX5_CQE_OWNER_MASK);
	EQUAL(PRM_WQE_INLINE_SEG, MLX5_INLINE_SEG);
	EQUAL(PRM_WQE_LKEY_INVALID, MLX5_INVALID_LKEY);
	EQUAL(PRM_WQE_CE_CQ_UPDATE << PRM_WQE_CTRL_SEG_FM_CE_SE_CE_SHIFT, MLX5_WQE_CTRL_CQ_UPDATE);
	EQUAL(PRM_ETH_CS_FLAGS_L3, MLX5_ETH_WQE_L3_CSUM);
	EQUAL(PRM_ETH_CS_FLAGS_L4, MLX5_ETH_WQE_L4_CSUM);
}

int
main(void)
{
	test_segments();
	test_completions();
	test_values();
	return check_exit("wqe");
}
