/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Executes commands: checks lengths, reserved bits, object and owner, then calls the handler. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "../core/emu_fault.h"
#include "fw.h"
#include "fw_check.h"

/* assumed: a command takes 10 us of virtual time. Other reading: up to milliseconds. Test: none. */
#define COMMAND_NS 10000u
/* Shortest inbox and outbox that the kernel passes on: the command headers (mlx5_ifc.h). */
#define MAILBOX_MIN_BYTES 16u
/* Shortest outbox through VFIO: ENABLE_HCA (PRM). */
#define OUT_MIN_BYTES 12u
/* Upper limit of the position of umem_valid bits in an inbox. */
#define MARKS_BYTES 512u

#define ROW(op, type, handler, flags) {PRM_CMD_OP_##op, EMU_OBJ_##type, handler, flags},
#define DESTROY_ROW(op, type, flags) {PRM_CMD_OP_##op, EMU_OBJ_##type, NULL, flags},
static const struct fw_row fw_rows[] = {FW_COMMANDS(ROW, DESTROY_ROW)};
#define FW_ROWS (sizeof(fw_rows) / sizeof(fw_rows[0]))

const struct fw_row *
fw_row_at(unsigned i)
{
	return i < FW_ROWS ? &fw_rows[i] : NULL;
}

const struct fw_row *
fw_row_find(uint16_t opcode)
{
	for (unsigned i = 0; i < FW_ROWS; i++)
		if (fw_rows[i].opcode == opcode)
			return &fw_rows[i];
	return NULL;
}

bool
fw_is_published(uint16_t opcode)
{
	/* MLX5_CMD_OP_* of rdma-core, providers/mlx5/mlx5_ifc.h, and DPDK, common/mlx5/mlx5_prm.h. */
	static const uint16_t more[] = {
		0x50c, 0x50f, 0x510, 0x700, 0x701, 0x705, 0x706, 0x710, 0x711, 0x713, 0x717, 0x718, 0x782,
		0x783, 0x806, 0x807, 0x80e, 0x80f, 0x827, 0x828, 0xb00, 0xb13, 0xb16, 0xb17,
	};

	for (unsigned i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (more[i] == opcode)
			return true;
	return prm_command_find(opcode) != NULL;
}

/* Refuses commands that only the owner of the function may send, or that need INIT_HCA. */
static int
check_owner(struct fw_cmd *c, const struct fw_row *row)
{
	const struct emu_hca *hca = &c->ctx->hca;

	if (c->ctx->iommu == NULL)
		return (row->flags & FW_OWNER) != 0 && !c->kernel ? fw_kernel_only(c) : 0;
	if (hca->state == EMU_HCA_UP || (row->flags & FW_FIRST) != 0 ||
	    (hca->state == EMU_HCA_ENABLED && (row->flags & FW_EARLY) != 0))
		return 0;
	return fw_refuse(c, FW_HCA_STATE, "%s", hca->state == EMU_HCA_ENABLED ?
			 "before INIT_HCA" : "before ENABLE_HCA");
}

static void
mark_wq(struct prm_wq *wq)
{
	prm_wq_set_dbr_umem_valid(wq, 1);
	prm_wq_set_wq_umem_valid(wq, 1);
}

/*
 * Sets the umem_valid bits, as the kernel does in a user's command (drivers/infiniband/hw/mlx5/devx.c,
 * devx_set_umem_valid() and devx_handle_mkey_create()).
 */
static void
mark_umems(struct fw_cmd *c)
{
	if (c->in_len < c->desc->in_bytes_min)
		return;
	switch (c->desc->opcode) {
	case PRM_CMD_OP_CREATE_MKEY:
		prm_create_mkey_in_set_mkey_umem_valid(c->in, 1);
		break;
	case PRM_CMD_OP_CREATE_CQ:
		prm_create_cq_in_set_cq_umem_valid(c->in, 1);
		prm_cqc_set_dbr_umem_valid(prm_create_cq_in_cq_context(c->in), 1);
		break;
	case PRM_CMD_OP_MODIFY_CQ:
		prm_modify_cq_in_set_cq_umem_valid(c->in, 1);
		break;
	case PRM_CMD_OP_CREATE_QP:
		prm_create_qp_in_set_wq_umem_valid(c->in, 1);
		prm_qpc_set_dbr_umem_valid(prm_create_qp_in_qpc(c->in), 1);
		break;
	case PRM_CMD_OP_CREATE_RMP:
		mark_wq(prm_rmpc_wq(prm_create_rmp_in_ctx(c->in)));
		break;
	case PRM_CMD_OP_CREATE_SQ:
		mark_wq(prm_sqc_wq(prm_create_sq_in_ctx(c->in)));
		break;
	case PRM_CMD_OP_CREATE_RQ:
		mark_wq(prm_rqc_wq(prm_create_rq_in_ctx(c->in)));
		break;
	default:
		break;
	}
}

/*
 * Sets the fields that the kernel writes into a user's command: uid and umem_valid bits. A VFIO owner has
 * uid 0 and must not use umems.
 */
static int
check_user(struct fw_cmd *c)
{
	uint32_t *dw = c->in, before[MARKS_BYTES / 4];

	if (c->kernel)
		return 0;
	if (c->ctx->iommu == NULL) {
		dw[0] = htobe32((be32toh(dw[0]) & 0xffff0000u) | c->ctx->uid);
		mark_umems(c);
		return 0;
	}
	if ((be32toh(dw[0]) & 0xffff) != 0)
		return fw_refuse(c, FW_UID, "%u", be32toh(dw[0]) & 0xffff);
	/* An mkey can have its own translation table (fw_mem.c), and only a resize of a CQ has a ring. */
	if (c->desc->opcode == PRM_CMD_OP_CREATE_MKEY ||
	    (c->desc->opcode == PRM_CMD_OP_MODIFY_CQ && (be32toh(dw[1]) & 0xffff) == 0))
		return 0;
	memcpy(before, dw, sizeof(before));
	mark_umems(c);
	if (memcmp(before, dw, sizeof(before)) != 0)
		return fw_refuse(c, FW_PAGE_LIST, "%s", c->desc->name);
	return 0;
}

static int
check_mailboxes(struct fw_cmd *c)
{
	struct fw_violation v;

	if (c->in_len < c->desc->in_bytes_min)
		return fw_refuse(c, FW_IN_SHORT, "%zu of %u bytes", c->in_len,
				 c->desc->in_bytes_min);
	if (!c->desc->in_variable) {
		/*
		 * Newer kernels send longer inboxes (INIT_HCA), and programs use one buffer for all
		 * commands: trailing zeros are allowed.
		 */
		if (!fw_in_ends_at(c, c->desc->in_bytes_min))
			return fw_refuse(c, FW_IN_LONG, "%zu bytes instead of %u", c->in_len,
					 c->desc->in_bytes_min);
		c->in_len = c->desc->in_bytes_min;
	}
	if (c->out_len < c->desc->out_bytes_min)
		return fw_refuse(c, FW_OUT_SHORT, "%zu of %u bytes", c->out_len,
				 c->desc->out_bytes_min);
	if (fw_check_in(c->in, c->in_len, &v) != 0)
		return fw_refuse(c, FW_RESERVED, "%s.%s dword %u value 0x%llx: %s", v.layout,
				 v.field != NULL ? v.field : "", v.dword,
				 (unsigned long long)v.value, v.why);
	return 0;
}

/* Fails the command with status and syndrome of a fault rule; this is no violation. */
static int
fault_check(struct fw_cmd *c)
{
	uint8_t status;
	uint32_t syndrome;

	if (!emu_fault_command(c->dev, c->desc->opcode, &status, &syndrome))
		return 0;
	syndrome = htobe32(syndrome);
	*(uint8_t *)c->out = status;
	memcpy((uint8_t *)c->out + 4, &syndrome, sizeof(syndrome));
	return -EREMOTEIO;
}

/* Bytes of the outbox that a command can write: replies of fixed length, and lists as long as the program allows. */
static size_t
outbox_bytes(size_t out_len)
{
	return out_len < FW_OUT_FIXED_BYTES ? FW_OUT_FIXED_BYTES : out_len < FW_OUT_BYTES ? out_len : FW_OUT_BYTES;
}

/* Applies cmd.exit rules to the reply; ret and the result are the command's return value. */
static int
fault_exit(struct fw_cmd *c, int ret)
{
	struct emu_fault_event e = {
		.kind = EMU_ON_CMD_EXIT, .dev = c->dev, .opcode = c->desc->opcode,
		.name = c->desc->name, .refused = ret != 0,
	};
	const struct emu_fault_action *a = emu_fault_hit(&e);
	uint32_t syndrome;

	if (emu_fault_set_at(EMU_ON_CMD_EXIT))
		emu_fault_set_reply(&e, c->in, c->in_len, c->out,
				    c->out_len < FW_OUT_BYTES ? c->out_len : FW_OUT_BYTES);
	if (a == NULL || a->act != EMU_ACT_FAIL)
		return ret;
	/* The device keeps a created object; the program does not get its number. */
	if (c->created != NULL)
		c->created->lost = true;
	syndrome = htobe32(a->syndrome);
	memset(c->out, 0, outbox_bytes(c->out_len));
	*(uint8_t *)c->out = a->status;
	memcpy((uint8_t *)c->out + 4, &syndrome, sizeof(syndrome));
	return -EREMOTEIO;
}

static int
find_object(struct fw_cmd *c, enum emu_obj_type type)
{
	uint32_t id = prm_field_ref_get(c->in, c->desc->in_id);

	c->obj = emu_obj_find(c->dev, type, id);
	if (c->obj == NULL)
		return fw_refuse(c, FW_NO_OBJECT, "%s 0x%x", emu_obj_type_name(type), id);
	if (c->obj->ctx != c->ctx)
		return fw_refuse(c, FW_FOREIGN_OBJECT, "%s 0x%x", emu_obj_type_name(type), id);
	return 0;
}

static int
dispatch(struct fw_cmd *c)
{
	const struct fw_row *row;
	int ret;

	if (c->desc == NULL)
		return fw_refuse(c, fw_is_published(fw_opcode(c->in)) ? FW_NOT_MODELLED : FW_UNKNOWN_OP, "%s", "");
	row = fw_row_find(c->desc->opcode);
	if (row == NULL)
		return fw_refuse(c, FW_NOT_MODELLED, "%s", c->desc->name);
	ret = check_user(c);
	if (ret == 0)
		ret = check_mailboxes(c);
	if (ret == 0)
		ret = check_owner(c, row);
	if (ret == 0 && c->ctx->iommu != NULL && c->desc->cls == PRM_CMD_CREATE)
		ret = fw_pages_check(c);
	if (ret == 0)
		ret = fault_check(c);
	if (ret == 0 && c->dev->removed)
		ret = -EIO;
	/*
	 * mlx5_core does not send the command: -ENXIO of mlx5_cmd_do(), which mlx5_ib uses for users' commands. For a
	 * destroy command mlx5_cmd_exec() returns success all the same (Linux since 5.18, core/cmd.c, cmd_exec() and
	 * mlx5_internal_err_ret_value()). Through VFIO the failed firmware does not answer.
	 */
	if (ret == 0 && c->dev->internal_error)
		return c->ctx->iommu != NULL ? -EIO : c->desc->cls == PRM_CMD_DESTROY ? 0 : -ENXIO;
	if (ret == 0 && row->type != EMU_OBJ_NONE && c->desc->cls != PRM_CMD_CREATE)
		ret = find_object(c, row->type);
	if (ret != 0)
		return ret;
	return row->handler != NULL ? row->handler(c) : fw_destroy_object(c);
}

static int
exec(struct emu_ctx *ctx, bool kernel, const void *in, size_t in_len, void *out, size_t out_len,
     struct emu_obj **created)
{
	/* One command at a time: the machine's lock is held. */
	static _Alignas(64) uint8_t inbox[FW_IN_BYTES], outbox[FW_OUT_BYTES];
	struct fw_cmd c = {.ctx = ctx, .dev = ctx->dev, .in = inbox, .out = outbox, .kernel = kernel};
	int ret;

	if (created != NULL)
		*created = NULL;
	if (in_len < MAILBOX_MIN_BYTES ||
	    out_len < (ctx->iommu != NULL ? OUT_MIN_BYTES : MAILBOX_MIN_BYTES))
		return -EINVAL;
	if (ctx->dev->removed)
		return -EIO;
	emu_dp_take_doorbells(ctx->dev);
	c.in_len = in_len;
	c.out_len = out_len;
	memcpy(inbox, in, in_len < sizeof(inbox) ? in_len : sizeof(inbox));
	memset(outbox, 0, outbox_bytes(out_len));
	c.desc = prm_command_find(fw_opcode(inbox));
	ret = in_len <= sizeof(inbox) ? dispatch(&c)
				      : fw_refuse(&c, FW_IN_LONG, "%zu bytes", in_len);
	if (c.desc != NULL && emu_fault_at(EMU_ON_CMD_EXIT))
		ret = fault_exit(&c, ret);
	if (ctx->iommu != NULL && fw_opcode(inbox) != PRM_CMD_OP_MANAGE_PAGES)
		fw_pages_balance(ctx);
	emu_time_pass(COMMAND_NS);
	emu_dp_order_flush();
	memset(out, 0, out_len);
	memcpy(out, outbox, out_len < sizeof(outbox) ? out_len : sizeof(outbox));
	emu_trace_command(ctx, inbox, in_len < sizeof(inbox) ? in_len : sizeof(inbox), outbox,
			  out_len < sizeof(outbox) ? out_len : sizeof(outbox));
	if (ret == 0 && created != NULL)
		*created = c.created;
	return ret;
}

int
emu_fw_exec(struct emu_ctx *ctx, const void *in, size_t in_len, void *out, size_t out_len,
	    struct emu_obj **created)
{
	return exec(ctx, false, in, in_len, out, out_len, created);
}

int
emu_fw_exec_kernel(struct emu_ctx *ctx, const void *in, size_t in_len, void *out, size_t out_len)
{
	return exec(ctx, true, in, in_len, out, out_len, NULL);
}

/* The row with the destroy command of an object type. */
static const struct prm_command *
destroy_command_of(enum emu_obj_type type)
{
	for (unsigned i = 0; i < FW_ROWS; i++) {
		const struct prm_command *desc = prm_command_find(fw_rows[i].opcode);

		if (fw_rows[i].type == type && desc != NULL && desc->cls == PRM_CMD_DESTROY)
			return desc;
	}
	return NULL;
}

/* Builds a destroy command. Returns its length, 0 if the object type has none. */
static size_t
destroy_inbox(const struct emu_obj *obj, uint32_t in[16])
{
	const struct prm_command *desc = destroy_command_of(obj->type);
	size_t len = fw_flow_destroy_in(obj, in);

	if (len == 0)
		len = fw_fte_destroy_in(obj, in);
	if (len != 0)
		return len;
	if (desc == NULL || desc->in_bytes_min != 16)
		return 0;
	in[0] = htobe32((uint32_t)desc->opcode << 16);
	in[desc->in_id.dword] |= htobe32(obj->id << desc->in_id.lo);
	return desc->in_bytes_min;
}

int
emu_fw_destroy(struct emu_ctx *ctx, struct emu_obj *obj, void *out, size_t out_len)
{
	uint32_t in[16] = {0};
	size_t in_len = destroy_inbox(obj, in);
	uint8_t own[16];

	if (in_len == 0)
		return -EINVAL;
	if (out == NULL || out_len < sizeof(own))
		return emu_fw_exec(ctx, in, in_len, own, sizeof(own), NULL);
	return emu_fw_exec(ctx, in, in_len, out, out_len, NULL);
}
