/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* DEVX: firmware commands of the program, with the checks of the kernel (hw/mlx5/devx.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/emu_fault.h"
#include "fw/emu_fw.h"
#include "prm.h"
#include "uverbs_obj.h"

/* Shortest mailbox: struct general_obj_in_cmd_hdr, general_obj_out_cmd_hdr. */
#define MBOX_MIN 16
#define MBOX_STATUS 0

/** A command being executed: copies of both mailboxes. */
struct abi_cmd {
	void *in, *out;
	size_t in_len, out_len;
};

static void
abi_cmd_fini(struct abi_cmd *cmd)
{
	free(cmd->in);
	free(cmd->out);
}

/* Copies the inbox, allocates the outbox; checks common to all methods. */
static int
abi_cmd_init(struct abi_call *call, struct abi_cmd *cmd, enum abi_devx_class cls, uint16_t in_id,
	     size_t out_len)
{
	uint16_t tunnel;
	int ret;

	memset(cmd, 0, sizeof(*cmd));
	if (!call->ctx->devx)
		return abi_refuse(call, -EINVAL, "the context was opened without DEVX");
	ret = abi_in_alloc(call, in_id, &cmd->in, &cmd->in_len);
	if (ret != 0)
		return ret;
	memcpy(&tunnel, (uint8_t *)cmd->in + 4, sizeof(tunnel));
	if (tunnel != 0)
		ret = abi_refuse(call, -EINVAL, "vhca_tunnel_id is not 0");
	else if (!abi_devx_allowed(cls, cmd->in))
		ret = abi_refuse(call, -EINVAL, "command %s (0x%x) does not pass by this method",
				 prm_command_name(abi_devx_opcode(cmd->in)),
				 abi_devx_opcode(cmd->in));
	cmd->out_len = out_len;
	cmd->out = ret == 0 ? calloc(1, out_len) : NULL;
	if (ret == 0 && cmd->out == NULL)
		ret = -ENOMEM;
	if (ret != 0)
		abi_cmd_fini(cmd);
	return ret;
}

/* Execute the command; copy the reply on refusal too, because it has status and syndrome. */
static int
abi_cmd_exec(struct abi_call *call, struct abi_cmd *cmd, uint16_t out_id, struct emu_obj **created)
{
	int ret = emu_fw_exec(call->ctx, cmd->in, cmd->in_len, cmd->out, cmd->out_len, created);
	int copied;

	if (ret != 0 && ret != -EREMOTEIO)
		return ret;
	copied = abi_out(call, out_id, cmd->out, cmd->out_len);
	return copied != 0 ? copied : ret;
}

static int
abi_general_cmd(struct abi_call *call)
{
	struct abi_cmd cmd;
	int ret = abi_cmd_init(call, &cmd, ABI_DEVX_GENERAL, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN,
			       abi_len(call, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT));

	if (ret != 0)
		return ret;
	ret = abi_cmd_exec(call, &cmd, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, NULL);
	abi_cmd_fini(&cmd);
	return ret;
}

static int
abi_obj_create_run(struct abi_call *call, struct abi_cmd *cmd)
{
	struct ib_uverbs_attr *handle = abi_attr(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	struct emu_obj *obj = NULL;
	struct abi_handle *h;
	int ret;

	/* Indirect mkeys are not modelled, and no capability reports them. */
	if (abi_devx_indirect_mkey(cmd->in, cmd->in_len))
		return -EOPNOTSUPP;
	abi_devx_set_umem_valid(cmd->in, cmd->in_len);
	ret = abi_cmd_exec(call, cmd, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &obj);
	if (obj == NULL)
		return ret != 0 ? ret : -EOPNOTSUPP;
	h = ret == 0 ? abi_handle_new(call->file, MLX5_IB_OBJECT_DEVX_OBJ, obj) : NULL;
	if (h == NULL) {
		uint8_t reply[MBOX_MIN];

		(void)emu_fw_destroy(call->ctx, obj, reply, sizeof(reply));
		return ret != 0 ? ret : -ENOMEM;
	}
	h->devx_id = abi_devx_created(cmd->in, cmd->out);
	handle->data = h->id;
	return 0;
}

static int
abi_obj_create(struct abi_call *call)
{
	struct abi_cmd cmd;
	int ret = abi_cmd_init(call, &cmd, ABI_DEVX_CREATE, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
			       abi_len(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT));

	if (ret != 0)
		return ret;
	ret = abi_obj_create_run(call, &cmd);
	abi_cmd_fini(&cmd);
	return ret;
}

/* A query or modify command must contain the number of the handle's object (devx_is_valid_obj_id()). */
static int
abi_obj_check(struct abi_call *call, const struct abi_cmd *cmd, uint16_t handle_id)
{
	const struct abi_handle *h = abi_in_handle(call, handle_id);
	uint64_t named = abi_devx_object(cmd->in);

	if (named != 0 && (named == h->devx_id || abi_verbs_is(h, named)))
		return 0;
	return abi_refuse(call, -EINVAL, "%s names object 0x%x, the handle is object 0x%x",
			  prm_command_name(abi_devx_opcode(cmd->in)), (uint32_t)named,
			  (uint32_t)h->devx_id);
}

/* Query and modify have the same attributes: 0 handle, 1 in, 2 out. */
static int
abi_obj_access(struct abi_call *call, enum abi_devx_class cls)
{
	struct abi_cmd cmd;
	int ret = abi_cmd_init(call, &cmd, cls, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
			       abi_len(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT));

	if (ret != 0)
		return ret;
	ret = abi_obj_check(call, &cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
	if (ret == 0) {
		if (cls == ABI_DEVX_MODIFY)
			abi_devx_set_umem_valid(cmd.in, cmd.in_len);
		ret = abi_cmd_exec(call, &cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, NULL);
	}
	abi_cmd_fini(&cmd);
	return ret;
}

static int
abi_obj_query(struct abi_call *call)
{
	return abi_obj_access(call, ABI_DEVX_QUERY);
}

static int
abi_obj_modify(struct abi_call *call)
{
	return abi_obj_access(call, ABI_DEVX_MODIFY);
}

/*
 * The device executes the command at once; the reply of a slow one is delayed without blocking the caller. The
 * reply contains the firmware's status: the submission itself succeeds.
 */
static int
abi_query_submit(struct abi_call *call, struct abi_channel *channel, struct abi_cmd *cmd)
{
	int ret = abi_async_take(channel, cmd->out_len);

	if (ret != 0)
		return ret;
	ret = emu_fw_exec(call->ctx, cmd->in, cmd->in_len, cmd->out, cmd->out_len, NULL);
	if (channel->async == NULL) /* Removed by a planned fault of this command. */
		return -EIO;
	if (ret == 0 || ret == -EREMOTEIO)
		ret = abi_async_reply(channel,
				      abi_in_u64(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID),
				      cmd->out, cmd->out_len, emu_fault_delay_take());
	if (ret != 0)
		abi_async_give(channel, cmd->out_len);
	return ret;
}

static int
abi_obj_query_async(struct abi_call *call)
{
	uint64_t out_len = abi_in_u64(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN);
	int fd = (int)abi_attr(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD)->data_s64;
	struct abi_fdobj *fo = abi_fd_get(fd, ABI_FD_CHANNEL);
	struct abi_channel *channel = (struct abi_channel *)fo;
	struct abi_cmd cmd;
	int ret;

	if (fo == NULL || channel->object != MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD ||
	    channel->file != call->file) {
		abi_fd_put(fo);
		return abi_refuse(call, -EBADF, "descriptor %d is no command channel here", fd);
	}
	ret = out_len >= MBOX_MIN && out_len <= UINT16_MAX ? 0 : -EINVAL;
	if (ret == 0)
		ret = abi_cmd_init(call, &cmd, ABI_DEVX_QUERY, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
				   out_len);
	if (ret == 0) {
		ret = abi_obj_check(call, &cmd, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE);
		if (ret == 0)
			ret = abi_query_submit(call, channel, &cmd);
		abi_cmd_fini(&cmd);
	}
	abi_fd_put(fo);
	return ret;
}

static int
abi_query_eqn(struct abi_call *call)
{
	uint64_t vector = abi_in_u64(call, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC);
	int eqn = vector <= UINT32_MAX ? emu_eqn_of_vector(call->dev, (unsigned)vector) : -EINVAL;

	/* The kernel returns ENOENT for an invalid vector. */
	if (eqn < 0)
		return abi_refuse(call, -ENOENT, "completion vector %u does not exist",
				  (unsigned)vector);
	return abi_out_u32(call, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn);
}

/* Only legacy UARs have an index to translate; UAR objects have none. */
static int
abi_query_uar(struct abi_call *call)
{
	return abi_refuse(call, -EINVAL, "UARs are objects in this context");
}

/* Status of the destroy command of a firmware object as errno: this method copies no reply. */
static int
abi_destroy_fw(struct abi_call *call, struct emu_obj *obj)
{
	uint8_t reply[MBOX_MIN] = {0};
	int ret = emu_fw_destroy(call->ctx, obj, reply, sizeof(reply));

	return ret == -EREMOTEIO ? -prm_status_errno(reply[MBOX_STATUS]) : ret;
}

/* The kernel destroys the key of an MR by a command, to which fault rules apply. */
static int
abi_destroy_mr(struct abi_call *call, struct emu_obj *obj)
{
	uint32_t syndrome;
	uint8_t status;

	if (emu_fault_command(call->dev, PRM_CMD_OP_DESTROY_MKEY, &status, &syndrome))
		return -prm_status_errno(status);
	return call->dev->internal_error ? 0 : emu_obj_destroy(obj);
}

int
abi_kernel_refuses(const struct abi_call *call)
{
	return call->dev->internal_error ? -ENOLINK : 0;
}

static int
object_destroy(struct abi_call *call, struct abi_handle *handle)
{
	struct emu_obj *obj = handle->obj;
	int ret;

	switch (handle->object) {
	case MLX5_IB_OBJECT_DEVX_OBJ:
	case UVERBS_OBJECT_PD:
		return abi_destroy_fw(call, obj);
	case UVERBS_OBJECT_MR:
		return abi_destroy_mr(call, obj);
	default:
		ret = emu_obj_destroy(obj);
		if (ret != 0)
			emu_audit(call->dev, EMU_AUDIT_BAD_STATE, "%s: %s 0x%x is in use",
				  call->method->name, emu_obj_type_name(obj->type), obj->id);
		/* DESTROY_UMEM fails with BAD_RES_STATE, which the kernel maps to EINVAL. */
		return ret == -EBUSY && handle->object == MLX5_IB_OBJECT_DEVX_UMEM ? -EINVAL : ret;
	}
}

int
abi_destroy(struct abi_call *call, struct abi_handle *handle)
{
	int ret;

	if (handle->verbs != NULL)
		return abi_verbs_destroy(call, handle);
	if (handle->users != 0)
		return abi_refuse(call, -EBUSY, "handle %u has %u users", handle->id,
				  handle->users);
	ret = call->dev->internal_error ? 0 : object_destroy(call, handle);
	if (ret == 0)
		abi_handle_free(call->file, handle);
	return ret;
}

static int
abi_destroy_method(struct abi_call *call)
{
	/* Every destroy method has its handle as its first attribute. */
	return abi_destroy(call, abi_in_handle(call, call->method->attrs[0].id));
}

#define MBOX_IN(id) ABI_IN(id, MBOX_MIN, 0)
#define MBOX_OUT(id) ABI_OUT(id, MBOX_MIN)

static const struct abi_method abi_methods[] = {
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, "DEVX_GENERAL_CMD", abi_general_cmd, true,
	 {MBOX_IN(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN), MBOX_OUT(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT)}},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, "DEVX_QUERY_UAR", abi_query_uar, true,
	 {ABI_IN(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 4, 4),
	  ABI_OUT(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, 4)}},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, "DEVX_QUERY_EQN", abi_query_eqn, true,
	 {ABI_IN(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 4, 4),
	  ABI_OUT(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, 4)}},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, "DEVX_OBJ_CREATE",
	 abi_obj_create, true,
	 {ABI_NEW(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ),
	  MBOX_IN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN),
	  MBOX_OUT(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT)}},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, "DEVX_OBJ_DESTROY",
	 abi_destroy_method, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ)}},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, "DEVX_OBJ_MODIFY",
	 abi_obj_modify, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, ABI_ANY_OBJECT),
	  MBOX_IN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN),
	  MBOX_OUT(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT)}},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, "DEVX_OBJ_QUERY", abi_obj_query,
	 true,
	 {ABI_HANDLE(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, ABI_ANY_OBJECT),
	  MBOX_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN),
	  MBOX_OUT(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT)}},
	{MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, "DEVX_OBJ_QUERY_ASYNC",
	 abi_obj_query_async, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, ABI_ANY_OBJECT),
	  MBOX_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN),
	  ABI_FD(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD),
	  ABI_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, 8, 8),
	  ABI_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, 2, 8)}},
	{MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, "UMEM_DEREG",
	 abi_destroy_method, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, MLX5_IB_OBJECT_DEVX_UMEM)}},
	{MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, "UAR_DESTROY", abi_destroy_method,
	 true, {ABI_HANDLE(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_UAR)}},
	{MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_DESTROY, "PP_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_PP)}},
	{MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, "FLOW_MATCHER_DESTROY",
	 abi_destroy_method, true,
	 {ABI_HANDLE(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, MLX5_IB_OBJECT_FLOW_MATCHER)}},
	{UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, "FLOW_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW)}},
	{UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY, "FLOW_ACTION_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, UVERBS_OBJECT_FLOW_ACTION)}},
	{UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "PD_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_PD_HANDLE, UVERBS_OBJECT_PD)}},
	{UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, "AH_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_AH_HANDLE, UVERBS_OBJECT_AH)}},
	{UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, "MW_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_MW_HANDLE, UVERBS_OBJECT_MW)}},
	{UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, "XRCD_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_XRCD_HANDLE, UVERBS_OBJECT_XRCD)}},
	{UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, "RWQ_IND_TBL_DESTROY",
	 abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, UVERBS_OBJECT_RWQ_IND_TBL)}},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "MR_DESTROY", abi_destroy_method, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_MR_HANDLE, UVERBS_OBJECT_MR)}},
};

const struct abi_method_table abi_devx_methods = ABI_METHODS(abi_methods);
