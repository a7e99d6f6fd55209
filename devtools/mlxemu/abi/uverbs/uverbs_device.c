/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The methods of the uverbs device object: context, port, GIDs. */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

#include "abi/host/sysfs.h"
#include "prm.h"
#include "uverbs.h"

/* Port and physical states, MTUs, link layers and widths as ib_verbs.h numbers them. */
#define PORT_DOWN 1
#define PORT_ACTIVE 4
#define PHYS_DISABLED 3
#define PHYS_LINK_UP 5
#define LINK_LAYER_ETHERNET 2
#define WIDTH_1X 1
#define WIDTH_4X 2
#define MTU_4096 5

/* Linux, mlx5_query_min_inline() and alloc_ucontext of mlx5_ib: the mode plus 1. */
static uint8_t
abi_min_inline(const struct emu_profile *p)
{
	switch (p->wqe_inline_mode) {
	case PRM_WQE_INLINE_MODE_CAP_L2:
		return MLX5_USER_INLINE_MODE_L2;
	case PRM_WQE_INLINE_MODE_CAP_VPORT_CONTEXT:
		return (uint8_t)(MLX5_USER_INLINE_MODE_NONE + p->min_wqe_inline_mode);
	default:
		return MLX5_USER_INLINE_MODE_NONE;
	}
}

/* Sizes as reported by mlx5_ib for these cards; no UARs are allocated in advance. */
static void
abi_context_limits(const struct emu_dev *dev, struct mlx5_ib_alloc_ucontext_resp *r)
{
	r->qp_tab_size = 1u << dev->profile->log_max_qp;
	r->bf_reg_size = 512;
	r->tot_bfregs = 0;
	r->cache_line_size = 64;
	r->max_sq_desc_sz = 1024;
	r->max_rq_desc_sz = 512;
	r->max_send_wqebb = 1u << dev->profile->log_max_wq_sz;
	r->max_recv_wr = 1u << dev->profile->log_max_wq_sz;
	r->max_srq_recv_wr = 1u << dev->profile->log_max_wq_sz;
	r->num_ports = (uint8_t)emu_ib_ports(dev);
	r->cqe_version = 1;
	r->cmds_supp_uhw =
		MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
	r->eth_min_inline = abi_min_inline(dev->profile);
	r->clock_info_versions = 1;
	r->comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
	if (emu_clock_real(&dev->clock))
		r->comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS;
	/* Offset of internal_timer_h in its page of the initialisation segment. */
	r->hca_core_clock_offset = 0;
	r->log_uar_size = 12;
	r->num_uars_per_page = 1;
	r->response_length = sizeof(*r);
}

static int
abi_get_context(struct abi_call *call)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct mlx5_ib_alloc_ucontext_resp resp = {0};
	int ret;

	if (call->ctx != NULL)
		return abi_refuse(call, -EINVAL, "the file has a context already");
	/* mlx5_ib_alloc_ucontext(): the device is not active. */
	if (call->dev->internal_error)
		return -EAGAIN;
	ret = abi_in(call, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (ret != 0)
		return ret;
	if ((req.flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX) != 0 || req.reserved0 != 0 ||
	    req.reserved1 != 0 || req.reserved2 != 0)
		return -EINVAL;
	if (req.comp_mask != 0)
		return -EOPNOTSUPP;
	if ((req.lib_caps & MLX5_LIB_CAP_DYN_UAR) == 0)
		return abi_refuse(call, -EOPNOTSUPP,
				  "a library without dynamic UARs (rdma-core before 29)");
	/* mlx5_ib_devx_create(): 0 means not supported; firmware parameter UCTX_EN sets it. */
	if ((req.flags & MLX5_IB_ALLOC_UCTX_DEVX) != 0 && call->dev->profile->log_max_uctx == 0)
		return abi_refuse(call, -EINVAL, "log_max_uctx is 0: no DEVX");
	abi_context_limits(call->dev, &resp);
	if (resp.cqe_version > req.max_cqe_version)
		resp.cqe_version = req.max_cqe_version;
	ret = abi_out(call, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, EMU_COMP_VECTORS);
	if (ret == 0)
		ret = abi_out_u64(call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
				  IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	if (ret == 0)
		ret = emu_ctx_open(call->dev, call->file->map,
				   (req.flags & MLX5_IB_ALLOC_UCTX_DEVX) != 0, &abi_ctx_ops,
				   &call->file->ctx);
	if (ret == 0)
		call->file->ctx->priv = call->file;
	return ret;
}

/* A process that imports the context queries the reply of its creation. */
static int
abi_query_context(struct abi_call *call)
{
	struct mlx5_ib_alloc_ucontext_resp resp = {0};
	int ret;

	abi_context_limits(call->dev, &resp);
	ret = abi_out(call, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp, sizeof(resp));
	if (ret == 0)
		ret = abi_out_u32(call, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
				  EMU_COMP_VECTORS);
	if (ret == 0)
		ret = abi_out_u64(call, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
				  IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	return ret;
}

static int
abi_query_pd(struct abi_call *call)
{
	return abi_out_u32(call, MLX5_IB_ATTR_QUERY_PD_RESP_PDN,
			   abi_in_handle(call, MLX5_IB_ATTR_QUERY_PD_HANDLE)->obj->id);
}

/* enum ib_mtu: the largest of 128 << n that fits into the interface's MTU. */
static uint8_t
abi_port_mtu(unsigned mtu)
{
	uint8_t n = 1;

	/* The kernel takes off the RoCE headers (GRH 40, BTH 12, extended 28, ICRC 4). */
	while (n < MTU_4096 && (256u << n) + 84 <= mtu)
		n++;
	return n;
}

void
abi_port_attributes(const struct emu_dev *dev, unsigned port, struct ib_uverbs_query_port_resp *r)
{
	/* enum ib_port_speed: FDR10 8 (10 Gb/s a lane), EDR 32 (25), HDR 64 (50). */
	unsigned lanes = dev->profile->speed_mbps >= 100000 ? 4 : 1;
	unsigned lane_mbps = dev->profile->speed_mbps / lanes;
	bool up = dev->link_up && port == emu_ib_port(dev);

	memset(r, 0, sizeof(*r));
	/*
	 * As mlx5_ib sets them on every RoCE port (hw/mlx5/main.c, mlx5_query_port_roce()), not on those of a switchdev
	 * PF, which are for raw packets only (mlx5_port_rep_immutable()). Connection management is not emulated.
	 */
	if (!dev->eswitch.on) {
		r->port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS;
		r->gid_tbl_len = ABI_GID_TABLE_LEN;
		r->flags = IB_UVERBS_QPF_GRH_REQUIRED;
	}
	r->max_msg_sz = 0x40000000;
	r->pkey_tbl_len = 1;
	/* A port without interface is down. */
	r->state = up ? PORT_ACTIVE : PORT_DOWN;
	r->phys_state = up ? PHYS_LINK_UP : PHYS_DISABLED;
	r->max_mtu = MTU_4096;
	r->active_mtu = abi_port_mtu(dev->vport.mtu);
	r->max_vl_num = 0; /* as of Ethernet ports: ibv_devinfo calls it invalid */
	r->active_width = lanes == 4 ? WIDTH_4X : WIDTH_1X;
	r->active_speed = lane_mbps >= 50000 ? 64 : lane_mbps >= 25000 ? 32 : 8;
	r->link_layer = LINK_LAYER_ETHERNET;
}

static int
abi_query_port(struct abi_call *call)
{
	struct ib_uverbs_query_port_resp_ex r = {0};

	uint64_t port = abi_in_u64(call, UVERBS_ATTR_QUERY_PORT_PORT_NUM);

	if (port == 0 || port > emu_ib_ports(call->dev))
		return -EINVAL;
	/* ACCESS_REG of PTYS (hw/mlx5/main.c, mlx5_query_port_roce()). */
	if (abi_kernel_refuses(call) != 0)
		return abi_kernel_refuses(call);
	abi_port_attributes(call->dev, (unsigned)port, &r.legacy_resp);
	return abi_out(call, UVERBS_ATTR_QUERY_PORT_RESP, &r, sizeof(r));
}

/*
 * Only E-Switch ports report flags (hw/mlx5/std_types.c, fill_switchdev_info()). Without the capability of software
 * steering there are no ICM addresses.
 */
static int
abi_mlx5_query_port(struct abi_call *call)
{
	uint64_t port = abi_in_u64(call, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM);
	const struct emu_dev *dev = call->dev;
	struct mlx5_ib_uapi_query_port r = {0};
	uint16_t vport;
	int ret = emu_ib_port_vport(dev, port, &vport);

	if (ret == -EINVAL || (ret != 0 && dev->eswitch.on))
		return ret;
	if (ret == 0) {
		r.flags = MLX5_IB_UAPI_QUERY_PORT_VPORT | MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID;
		r.vport = vport;
		r.esw_owner_vhca_id = (uint16_t)(dev->index + 1);
		r.reg_c0.value = emu_eswitch_metadata(dev, (unsigned)port);
		r.reg_c0.mask = EMU_ESWITCH_METADATA_MASK;
	}
	if (ret == 0 && !dev->eswitch.no_metadata)
		r.flags |= MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0;
	else
		r.reg_c0.mask = 0;
	/*
	 * assumed: virtual functions have VHCA ids above those of the ports. Other reading: any other unique numbers.
	 * Test: emu/test_switchdev.py.
	 */
	if (ret == 0 && vport != EMU_VPORT_UPLINK) {
		r.flags |= MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID;
		r.vport_vhca_id = (uint16_t)(1 + EMU_MAX_PORTS + 32 * dev->index + vport);
	}
	return abi_out(call, MLX5_IB_ATTR_QUERY_PORT, &r, sizeof(r));
}

static bool
abi_gid_entry(const struct emu_dev *dev, unsigned index, struct ib_uverbs_gid_entry *e)
{
	memset(e, 0, sizeof(*e));
	if (!emu_port_gid(dev, index, (uint8_t *)e->gid))
		return false;
	e->gid_index = index;
	e->port_num = 1;
	e->gid_type = index == 0 ? IB_UVERBS_GID_TYPE_ROCE_V1 : IB_UVERBS_GID_TYPE_ROCE_V2;
	e->netdev_ifindex = ABI_IFINDEX_BASE + dev->index;
	return true;
}

static int
abi_query_gid_table(struct abi_call *call)
{
	uint64_t size = abi_in_u64(call, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
	struct ib_uverbs_gid_entry e[ABI_GID_TABLE_LEN];
	uint64_t n = 0;
	unsigned i;
	int ret;

	if (size != sizeof(e[0]))
		return size < sizeof(e[0]) ? -EINVAL : -EOPNOTSUPP;
	if (abi_in_u64(call, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS) != 0)
		return -EINVAL;
	for (i = 0; i < ABI_GID_TABLE_LEN; i++)
		n += abi_gid_entry(call->dev, i, &e[n]);
	if (n > abi_len(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES) / sizeof(e[0]))
		return -EINVAL;
	ret = abi_out(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, e, n * sizeof(e[0]));
	return ret != 0 ? ret
			: abi_out_u64(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, n);
}

static int
abi_query_gid_entry(struct abi_call *call)
{
	uint64_t index = abi_in_u64(call, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
	struct ib_uverbs_gid_entry e;

	if (abi_in_u64(call, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS) != 0 ||
	    abi_in_u64(call, UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != 1 || index >= ABI_GID_TABLE_LEN)
		return -EINVAL;
	if (!abi_gid_entry(call->dev, (unsigned)index, &e))
		return -ENODATA;
	return abi_out(call, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, "INVOKE_WRITE", abi_write_command, false,
	 {ABI_IN_OPT(UVERBS_ATTR_CORE_IN, 0, 0), ABI_OUT_OPT(UVERBS_ATTR_CORE_OUT, 0),
	  ABI_IN(UVERBS_ATTR_WRITE_CMD, 4, 8), ABI_IN_OPT(UVERBS_ATTR_UHW_IN, 0, 0),
	  ABI_OUT_OPT(UVERBS_ATTR_UHW_OUT, 0)}},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, "QUERY_PORT", abi_query_port, true,
	 {ABI_IN(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 8), ABI_OUT(UVERBS_ATTR_QUERY_PORT_RESP, 40)}},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "GET_CONTEXT", abi_get_context, false,
	 {ABI_OUT_OPT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
	  ABI_OUT_OPT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
	  ABI_IN(UVERBS_ATTR_UHW_IN, 8, sizeof(struct mlx5_ib_alloc_ucontext_req_v2)),
	  ABI_OUT(UVERBS_ATTR_UHW_OUT, 8)}},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, "QUERY_CONTEXT", abi_query_context, true,
	 {ABI_OUT_OPT(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
	  ABI_OUT_OPT(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8),
	  ABI_OUT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, 8)}},
	{UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, "PD_QUERY", abi_query_pd, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_QUERY_PD_HANDLE, UVERBS_OBJECT_PD),
	  ABI_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 4)}},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, "INFO_HANDLES", NULL, true, {{0}}},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, "QUERY_GID_TABLE",
	 abi_query_gid_table, true,
	 {ABI_IN(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 4, 8),
	  ABI_IN_OPT(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4, 8),
	  ABI_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0),
	  ABI_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8)}},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, "QUERY_GID_ENTRY",
	 abi_query_gid_entry, true,
	 {ABI_IN(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 4, 8),
	  ABI_IN(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 4, 8),
	  ABI_IN_OPT(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, 8),
	  ABI_OUT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(struct ib_uverbs_gid_entry))}},
	{UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, "MLX5_QUERY_PORT", abi_mlx5_query_port,
	 true,
	 {ABI_IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 4, 4), ABI_OUT(MLX5_IB_ATTR_QUERY_PORT, 8)}},
};

const struct abi_method_table abi_device_methods = ABI_METHODS(abi_methods);
