/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Legacy write commands, sent through the INVOKE_WRITE method. */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

#include "core/emu_audit.h"
#include "core/emu_fault.h"
#include "fw/emu_fw.h"
#include "prm.h"
#include "uverbs_obj.h"

#define EX(cmd) (IB_USER_VERBS_CMD_FLAG_EXTENDED | (cmd))

static int
abi_query_device(struct abi_call *call)
{
	struct ib_uverbs_query_device_resp r;

	if (call->dev->profile->mlx4)
		abi_mlx4_attributes(call->dev, &r);
	else
		abi_device_attributes(call, &r);
	return abi_out(call, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}

static int
abi_query_device_ex(struct abi_call *call)
{
	return call->dev->profile->mlx4 ? abi_mlx4_attributes_ex(call)
					: abi_device_attributes_ex(call);
}

static int
abi_write_query_port(struct abi_call *call)
{
	struct ib_uverbs_query_port in;
	struct ib_uverbs_query_port_resp r;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &in, sizeof(in));

	if (ret != 0)
		return ret;
	if (in.port_num == 0 || in.port_num > emu_ib_ports(call->dev))
		return -EINVAL;
	ret = abi_kernel_refuses(call);
	if (ret != 0)
		return ret;
	abi_port_attributes(call->dev, in.port_num, &r);
	return abi_out(call, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}

/* As mlx5_ib: ALLOC_PD with the uid of the context. */
static int
abi_alloc_pd(struct abi_call *call)
{
	struct prm_alloc_pd_in in = {0};
	struct prm_alloc_pd_out out = {0};
	struct emu_obj *obj = NULL;
	struct abi_handle *h;
	int ret;

	prm_alloc_pd_in_set_opcode(&in, PRM_CMD_OP_ALLOC_PD);
	ret = abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), &obj);
	if (ret != 0)
		return ret;
	h = abi_handle_new(call->file, UVERBS_OBJECT_PD, obj);
	if (h == NULL) {
		(void)emu_obj_destroy(obj);
		return -ENOMEM;
	}
	h->devx_id = (uint64_t)PRM_CMD_OP_ALLOC_PD << 32 | obj->id;
	ret = abi_out_u32(call, UVERBS_ATTR_CORE_OUT, h->id);
	return ret != 0 ? ret : abi_out_u32(call, UVERBS_ATTR_UHW_OUT, obj->id);
}

/* The handle of a command that has no other input. */
static int
abi_write_destroy(struct abi_call *call, uint16_t object)
{
	struct abi_handle *h;
	uint32_t id;
	int ret = abi_in(call, UVERBS_ATTR_CORE_IN, &id, sizeof(id));

	if (ret != 0)
		return ret;
	h = abi_handle_find(call->file, id);
	if (h == NULL || h->object != object)
		return abi_refuse(call, h == NULL ? -ENOENT : -EINVAL,
				  "handle %u does not name such an object", id);
	return abi_destroy(call, h);
}

static int
abi_create_comp_channel(struct abi_call *call)
{
	int fd = abi_channel_open(call->file, UVERBS_OBJECT_COMP_CHANNEL, false);

	return fd < 0 ? fd : abi_out_u32(call, UVERBS_ATTR_CORE_OUT, fd);
}

static const struct abi_write_row {
	uint32_t command;
	const char *name;
	int (*run)(struct abi_call *call); /* NULL: destroys an object, or is not supported */
	uint16_t in_min, out_min; /* core data, bytes */
	bool mlx4;		  /* an mlx4 device has it too */
	uint16_t destroys;	  /* type of the object */
} abi_write_rows[] = {
	{IB_USER_VERBS_CMD_QUERY_DEVICE, "query_device", abi_query_device, 8, 176, .mlx4 = true},
	{EX(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), "ex_query_device", abi_query_device_ex, 8, 184,
	 .mlx4 = true},
	{IB_USER_VERBS_CMD_QUERY_PORT, "query_port", abi_write_query_port, 16, 40,
	 .mlx4 = true},
	{IB_USER_VERBS_CMD_ALLOC_PD, "alloc_pd", abi_alloc_pd, 8, 4, .mlx4 = true},
	{IB_USER_VERBS_CMD_DEALLOC_PD, "dealloc_pd", NULL, 4, 0, true, UVERBS_OBJECT_PD},
	{IB_USER_VERBS_CMD_REG_MR, "reg_mr", abi_reg_mr, 40, 12},
	{IB_USER_VERBS_CMD_DEREG_MR, "dereg_mr", NULL, 4, 0, .destroys = UVERBS_OBJECT_MR},
	{IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "create_comp_channel", abi_create_comp_channel, 8,
	 4},
	{IB_USER_VERBS_CMD_CREATE_AH, "create_ah", abi_create_ah, 56, 4},
	{IB_USER_VERBS_CMD_REREG_MR, "rereg_mr", abi_rereg_mr, 48, 8},
	{IB_USER_VERBS_CMD_ALLOC_MW, "alloc_mw", NULL, 16, 8},
	{IB_USER_VERBS_CMD_RESIZE_CQ, "resize_cq", abi_resize_cq, 16, 4},
	{EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ), "ex_modify_cq", abi_modify_cq, 16, 0},
	{IB_USER_VERBS_CMD_MODIFY_QP, "modify_qp", abi_modify_qp,
	 sizeof(struct ib_uverbs_modify_qp), 0},
	{EX(IB_USER_VERBS_EX_CMD_MODIFY_QP), "ex_modify_qp", abi_modify_qp_ex,
	 sizeof(struct ib_uverbs_modify_qp), 0},
	{IB_USER_VERBS_CMD_QUERY_QP, "query_qp", abi_query_qp, 16,
	 sizeof(struct ib_uverbs_query_qp_resp)},
	{IB_USER_VERBS_CMD_MODIFY_SRQ, "modify_srq", abi_modify_srq, 16, 0},
	{IB_USER_VERBS_CMD_QUERY_SRQ, "query_srq", abi_query_srq, 16, 16},
	{IB_USER_VERBS_CMD_ATTACH_MCAST, "attach_mcast", NULL, 24, 0},
	{IB_USER_VERBS_CMD_OPEN_XRCD, "open_xrcd", NULL, 16, 4},
	{EX(IB_USER_VERBS_EX_CMD_MODIFY_WQ), "ex_modify_wq", abi_modify_wq,
	 sizeof(struct ib_uverbs_ex_modify_wq), 0},
	{EX(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL), "ex_create_rwq_ind_tbl", abi_create_ind_tbl,
	 12, 16},
	{EX(IB_USER_VERBS_EX_CMD_CREATE_FLOW), "ex_create_flow", abi_create_flow,
	 sizeof(struct ib_uverbs_create_flow), 8},
};

static int
abi_write_run(struct abi_call *call, const struct abi_write_row *row)
{
	if (row->run != NULL)
		return row->run(call);
	return row->destroys != 0 ? abi_write_destroy(call, row->destroys) : -EOPNOTSUPP;
}

int
abi_write_command(struct abi_call *call)
{
	uint32_t command = (uint32_t)abi_in_u64(call, UVERBS_ATTR_WRITE_CMD);
	const struct abi_write_row *row;
	unsigned i;
	int ret;

	for (i = 0; i < sizeof(abi_write_rows) / sizeof(abi_write_rows[0]); i++) {
		row = &abi_write_rows[i];
		if (row->command != command || (call->dev->profile->mlx4 && !row->mlx4))
			continue;
		/* Libraries probe without any core data whether INVOKE_WRITE exists: ENOSPC. */
		if (abi_len(call, UVERBS_ATTR_CORE_IN) < row->in_min ||
		    abi_len(call, UVERBS_ATTR_CORE_OUT) < row->out_min)
			return -ENOSPC;
		if (call->ctx == NULL)
			return abi_refuse(call, -EINVAL, "%s before GET_CONTEXT", row->name);
		call->command = row->name;
		ret = emu_fault_errno(EMU_ON_IOCTL, call->dev, row->name);
		if (ret == 0)
			ret = emu_dev_disassociated(call->dev) ? -EIO : abi_write_run(call, row);
		return ret;
	}
	emu_trace_note(call->dev, "write command 0x%x is not modelled -> EOPNOTSUPP", command);
	return -EOPNOTSUPP;
}
