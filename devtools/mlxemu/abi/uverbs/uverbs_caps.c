/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Device attributes, derived from the profile and the firmware's capabilities as mlx5_ib does. */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

#include "core/emu_pci.h"
#include "fw/emu_fw.h"
#include "prm.h"
#include "uverbs_obj.h"

/* Bits of device_cap_flags and raw_packet_caps (ib_verbs.h of the kernel, verbs.h of rdma-core). */
#define DEV_PORT_ACTIVE_EVENT (1u << 10)
#define DEV_SYS_IMAGE_GUID (1u << 11)
#define DEV_RC_RNR_NAK_GEN (1u << 12)
#define DEV_RAW_IP_CSUM (1u << 26)
#define DEV_CAP_FLAGS (DEV_PORT_ACTIVE_EVENT | DEV_SYS_IMAGE_GUID | DEV_RC_RNR_NAK_GEN)
#define RAW_CAP_CVLAN_STRIPPING (1u << 0)
#define RAW_CAP_SCATTER_FCS (1u << 1)
#define RAW_CAP_IP_CSUM (1u << 2)
#define QPT_RAW_PACKET 8
#define ATOMIC_HCA 1 /* enum ib_atomic_cap */
/* mlx5 RX hash functions and fields (mlx5dv.h). */
#define RX_HASH_TOEPLITZ (1u << 0)
#define RX_HASH_FIELDS 0xffu
#define MAX_PKEYS 128 /* ibv_devinfo -v of every card */

/** Current capabilities of the device (QUERY_HCA_CAP). */
struct abi_caps {
	struct prm_query_hca_cap_out general, eth, memory;
};

static int
abi_caps_query(struct abi_call *call, unsigned type, struct prm_query_hca_cap_out *out)
{
	struct prm_query_hca_cap_in in = {0};

	prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	/* Type above bit 0; bit 0: the current values. */
	prm_query_hca_cap_in_set_op_mod(&in, type << 1 | 1);
	return emu_fw_exec(call->ctx, &in, sizeof(in), out, sizeof(*out), NULL);
}

static struct abi_caps *
abi_caps_get(struct abi_call *call)
{
	struct abi_caps *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	if (abi_caps_query(call, PRM_HCA_CAP_TYPE_GENERAL, &c->general) != 0 ||
	    abi_caps_query(call, PRM_HCA_CAP_TYPE_ETHERNET_OFFLOADS, &c->eth) != 0 ||
	    abi_caps_query(call, PRM_HCA_CAP_TYPE_DEV_MEM, &c->memory) != 0) {
		free(c);
		return NULL;
	}
	return c;
}

static const struct prm_per_protocol_networking_offload_caps *
abi_caps_eth(const struct abi_caps *c)
{
	return (const void *)&c->eth.dw[4];
}

static uint64_t
abi_caps_dm_bytes(const struct abi_caps *c)
{
	const struct prm_device_mem_cap *cap = (const void *)&c->memory.dw[4];

	return prm_device_mem_cap_get_memic(cap) ? prm_device_mem_cap_get_max_memic_size(cap) : 0;
}

void
abi_device_identity(const struct emu_dev *dev, struct ib_uverbs_query_device_resp *r)
{
	const struct emu_profile *p = dev->profile;

	memset(r, 0, sizeof(*r));
	r->fw_ver = (uint64_t)p->fw_major << 32 | (uint64_t)p->fw_minor << 16 | p->fw_subminor;
	r->node_guid = htobe64(dev->node_guid);
	r->sys_image_guid = htobe64(dev->sys_image_guid);
	r->vendor_id = 0x2c9;
	/* That of the function (Linux, hw/mlx5/main.c, mlx5_ib_query_device(); hw/mlx4/main.c). */
	r->vendor_part_id = emu_pci_device_id(dev);
	r->max_pd = 1u << p->log_max_pd;
	r->max_pkeys = MAX_PKEYS;
	r->local_ca_ack_delay = 16;
	r->phys_port_cnt = (uint8_t)emu_ib_ports(dev);
}

void
abi_device_attributes(struct abi_call *call, struct ib_uverbs_query_device_resp *r)
{
	const struct emu_dev *dev = call->dev;
	const struct emu_profile *p = dev->profile;

	abi_device_identity(dev, r);
	r->max_mr_size = UINT64_MAX;
	r->page_size_cap = ~(uint64_t)(EMU_PAGE_BYTES - 1);
	r->max_qp = 1u << p->log_max_qp;
	r->max_qp_wr = 1u << p->log_max_wq_sz;
	r->device_cap_flags = DEV_CAP_FLAGS;
	/* A receive WQE of max_rq_desc_sz holds 32 segments; send WQEs need room for headers. */
	r->max_sge = 30;
	r->max_sge_rd = 30;
	r->max_srq = 1u << 16;
	r->max_srq_wr = (1u << p->log_max_wq_sz) - 1;
	r->max_srq_sge = 31;
	r->max_ah = INT_MAX;
	/* Reads and atomics outstanding: log_max_ra_req_qp and log_max_ra_res_qp are 4. */
	r->max_qp_rd_atom = 16;
	r->max_qp_init_rd_atom = 16;
	r->max_res_rd_atom = r->max_qp_rd_atom * r->max_qp;
	r->atomic_cap = ATOMIC_HCA;
	r->max_cq = 1u << p->log_max_cq;
	r->max_cqe = (1u << p->log_max_cq_sz) - 1;
	r->max_mr = 1u << p->log_max_mkey;
}

uint64_t
abi_device_cap_flags(const struct emu_dev *dev)
{
	/* csum_cap is 1 on every card with mlx5_core. */
	return dev->profile->mlx4 ? DEV_CAP_FLAGS : DEV_CAP_FLAGS | DEV_RAW_IP_CSUM;
}

static void
abi_attributes_core_ex(const struct abi_caps *c, const struct emu_profile *p,
		       struct ib_uverbs_ex_query_device_resp *r)
{
	const struct prm_per_protocol_networking_offload_caps *eth = abi_caps_eth(c);

	r->timestamp_mask = 0x7fffffffffffffffull;
	r->hca_core_clock = prm_cmd_hca_cap_get_device_frequency_khz((const void *)&c->general.dw[4]);
	r->rss_caps.supported_qpts = 1u << QPT_RAW_PACKET;
	r->rss_caps.max_rwq_indirection_tables = 1u << p->log_max_rqt;
	r->rss_caps.max_rwq_indirection_table_size = 1u << p->log_max_rqt_size;
	r->max_wq_type_rq = 1u << p->log_max_rq;
	if (prm_per_protocol_networking_offload_caps_get_csum_cap(eth)) {
		r->base.device_cap_flags |= DEV_RAW_IP_CSUM;
		r->raw_packet_caps |= RAW_CAP_IP_CSUM;
	}
	if (prm_per_protocol_networking_offload_caps_get_vlan_cap(eth))
		r->raw_packet_caps |= RAW_CAP_CVLAN_STRIPPING;
	if (prm_per_protocol_networking_offload_caps_get_scatter_fcs(eth))
		r->raw_packet_caps |= RAW_CAP_SCATTER_FCS;
	r->device_cap_flags_ex = r->base.device_cap_flags;
	r->max_dm_size = abi_caps_dm_bytes(c);
	r->cq_moderation_caps.max_cq_moderation_count = UINT16_MAX;
	r->cq_moderation_caps.max_cq_moderation_period = ABI_CQ_PERIOD_MAX;
}

/* Fields of the general page: compression of completions, and striding receive queues. */
static void
abi_attributes_receive(const struct prm_cmd_hca_cap *cap, struct mlx5_ib_query_device_resp *r)
{
	bool few = prm_cmd_hca_cap_get_ext_stride_num_range(cap);

	if (prm_cmd_hca_cap_get_cqe_compression(cap)) {
		r->cqe_comp_caps.max_num = prm_cmd_hca_cap_get_cqe_compression_max_num(cap);
		r->cqe_comp_caps.supported_format =
			MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM;
		if (prm_cmd_hca_cap_get_mini_cqe_resp_stride_index(cap))
			r->cqe_comp_caps.supported_format |= MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
	}
	if (prm_cmd_hca_cap_get_striding_rq(cap)) {
		/* The ranges are constants of mlx5_ib; firmware reports only the lower limit. */
		r->striding_rq_caps.min_single_stride_log_num_of_bytes = 6;
		r->striding_rq_caps.max_single_stride_log_num_of_bytes = 13;
		r->striding_rq_caps.min_single_wqe_log_num_of_strides = few ? 3 : 9;
		r->striding_rq_caps.max_single_wqe_log_num_of_strides = 16;
		r->striding_rq_caps.supported_qpts = 1u << QPT_RAW_PACKET;
	}
}

static void
abi_attributes_swp(const struct prm_per_protocol_networking_offload_caps *eth, struct mlx5_ib_sw_parsing_caps *r)
{
	if (!prm_per_protocol_networking_offload_caps_get_swp(eth))
		return;
	r->sw_parsing_offloads = MLX5_IB_SW_PARSING;
	if (prm_per_protocol_networking_offload_caps_get_swp_csum(eth))
		r->sw_parsing_offloads |= MLX5_IB_SW_PARSING_CSUM;
	if (prm_per_protocol_networking_offload_caps_get_swp_lso(eth))
		r->sw_parsing_offloads |= MLX5_IB_SW_PARSING_LSO;
	r->supported_qpts = 1u << QPT_RAW_PACKET;
}

/* Linux, hw/mlx5/main.c, mlx5_ib_query_device(). */
static void
abi_attributes_pacing(const struct emu_profile *p, struct mlx5_packet_pacing_caps *r)
{
	if (!p->packet_pacing)
		return;
	r->qp_rate_limit_max = p->packet_pacing_max_rate;
	r->qp_rate_limit_min = p->packet_pacing_min_rate;
	r->supported_qpts = 1u << QPT_RAW_PACKET;
	if (p->packet_pacing_burst_bound && p->packet_pacing_typical_size)
		r->cap_flags = MLX5_IB_PP_SUPPORT_BURST;
}

static void
abi_attributes_mlx5(const struct abi_caps *c, struct mlx5_ib_query_device_resp *r)
{
	const struct prm_per_protocol_networking_offload_caps *eth = abi_caps_eth(c);
	unsigned lso = prm_per_protocol_networking_offload_caps_get_max_lso_cap(eth);

	r->response_length = sizeof(*r);
	if (prm_cmd_hca_cap_get_cqe_128_always((const void *)&c->general.dw[4]))
		r->flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	abi_attributes_receive((const void *)&c->general.dw[4], r);
	if (lso != 0) {
		r->tso_caps.max_tso = 1u << lso;
		r->tso_caps.supported_qpts = 1u << QPT_RAW_PACKET;
	}
	r->rss_caps.rx_hash_function = RX_HASH_TOEPLITZ;
	r->rss_caps.rx_hash_fields_mask = RX_HASH_FIELDS;
	if (prm_per_protocol_networking_offload_caps_get_tunnel_stateless_vxlan(eth))
		r->tunnel_offloads_caps |= MLX5_IB_TUNNELED_OFFLOADS_VXLAN;
	if (prm_per_protocol_networking_offload_caps_get_tunnel_stateless_gre(eth))
		r->tunnel_offloads_caps |= MLX5_IB_TUNNELED_OFFLOADS_GRE;
	if (prm_per_protocol_networking_offload_caps_get_tunnel_stateless_geneve_rx(eth))
		r->tunnel_offloads_caps |= MLX5_IB_TUNNELED_OFFLOADS_GENEVE;
	abi_attributes_swp(eth, &r->sw_parsing_caps);
	if (prm_per_protocol_networking_offload_caps_get_multi_pkt_send_wqe(eth))
		r->mlx5_ib_support_multi_pkt_send_wqes = MLX5_IB_ALLOW_MPW;
	if (prm_per_protocol_networking_offload_caps_get_enhanced_multi_pkt_send_wqe(eth))
		r->mlx5_ib_support_multi_pkt_send_wqes |= MLX5_IB_SUPPORT_EMPW;
}

uint64_t
abi_dm_bytes_max(struct abi_call *call)
{
	struct abi_caps *c = abi_caps_get(call);
	uint64_t bytes = c != NULL ? abi_caps_dm_bytes(c) : 0;

	free(c);
	return bytes;
}

unsigned
abi_cqe_compression_formats(struct abi_call *call)
{
	struct abi_caps *c = abi_caps_get(call);
	const struct prm_cmd_hca_cap *cap = c != NULL ? (const void *)&c->general.dw[4] : NULL;
	unsigned formats = 0;

	if (c != NULL && prm_cmd_hca_cap_get_cqe_compression(cap)) {
		formats = MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM;
		if (prm_cmd_hca_cap_get_mini_cqe_resp_stride_index(cap))
			formats |= MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
	}
	free(c);
	return formats;
}

int
abi_device_attributes_ex(struct abi_call *call)
{
	struct ib_uverbs_ex_query_device_resp core = {0};
	struct mlx5_ib_query_device_resp uhw = {0};
	struct ib_uverbs_ex_query_device in;
	struct abi_caps *caps;
	size_t room = abi_len(call, UVERBS_ATTR_CORE_OUT);
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	if (in.comp_mask != 0 || in.reserved != 0)
		return -EINVAL;
	caps = abi_caps_get(call);
	if (caps == NULL)
		return -EIO;
	abi_device_attributes(call, &core.base);
	abi_attributes_core_ex(caps, call->dev->profile, &core);
	abi_attributes_mlx5(caps, &uhw);
	abi_attributes_pacing(call->dev->profile, &uhw.packet_pacing_caps);
	free(caps);
	core.response_length = room < sizeof(core) ? room : sizeof(core);
	ret = abi_out(call, UVERBS_ATTR_CORE_OUT, &core, sizeof(core));
	return ret != 0 ? ret : abi_out(call, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}
