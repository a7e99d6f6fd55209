/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The generic part of every command: lengths, reserved bits, object and owner, destroy, refusal. */
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../core/emu_fault.h"
#include "fw.h"
#include "fw_check.h"

/* Virtual time of a command: assumed. */
#define COMMAND_NS 10000u
/* Shortest inbox and outbox that the kernel passes on: the command headers (mlx5_ifc.h). */
#define MAILBOX_MIN_BYTES 16u
/* Shortest outbox through VFIO: ENABLE_HCA (PRM). */
#define OUT_MIN_BYTES 12u
/* More than any command has before its last umem_valid bit. */
#define MARKS_BYTES 512u

static const struct fw_row fw_rows[] = {
	{PRM_CMD_OP_QUERY_HCA_CAP, EMU_OBJ_NONE, fw_query_hca_cap, FW_EARLY},
	{PRM_CMD_OP_QUERY_ADAPTER, EMU_OBJ_NONE, fw_query_adapter, FW_EARLY},
	{PRM_CMD_OP_INIT_HCA, EMU_OBJ_NONE, fw_init_hca, FW_OWNER | FW_EARLY},
	{PRM_CMD_OP_TEARDOWN_HCA, EMU_OBJ_NONE, fw_teardown_hca, FW_OWNER},
	{PRM_CMD_OP_ENABLE_HCA, EMU_OBJ_NONE, fw_enable_hca, FW_OWNER | FW_FIRST},
	{PRM_CMD_OP_DISABLE_HCA, EMU_OBJ_NONE, fw_disable_hca, FW_OWNER | FW_EARLY},
	{PRM_CMD_OP_QUERY_PAGES, EMU_OBJ_NONE, fw_query_pages, FW_OWNER | FW_EARLY},
	{PRM_CMD_OP_MANAGE_PAGES, EMU_OBJ_NONE, fw_manage_pages, FW_OWNER | FW_EARLY},
	{PRM_CMD_OP_SET_HCA_CAP, EMU_OBJ_NONE, fw_set_hca_cap, FW_OWNER | FW_EARLY},
	{PRM_CMD_OP_QUERY_ISSI, EMU_OBJ_NONE, fw_query_issi, FW_EARLY},
	{PRM_CMD_OP_SET_ISSI, EMU_OBJ_NONE, fw_set_issi, FW_OWNER | FW_EARLY},
	{PRM_CMD_OP_SET_DRIVER_VERSION, EMU_OBJ_NONE, fw_set_driver_version, FW_OWNER},
	{PRM_CMD_OP_QUERY_SPECIAL_CONTEXTS, EMU_OBJ_NONE, fw_query_special_contexts},
	{PRM_CMD_OP_QUERY_LAG, EMU_OBJ_NONE, fw_query_lag},
	{PRM_CMD_OP_NOP, EMU_OBJ_NONE, fw_nop, FW_EARLY},
	{PRM_CMD_OP_CREATE_MKEY, EMU_OBJ_MKEY, fw_create_mkey},
	{PRM_CMD_OP_QUERY_MKEY, EMU_OBJ_MKEY, fw_query_mkey},
	{PRM_CMD_OP_DESTROY_MKEY, EMU_OBJ_MKEY, NULL},
	{PRM_CMD_OP_CREATE_EQ, EMU_OBJ_EQ, fw_create_eq, FW_OWNER},
	{PRM_CMD_OP_DESTROY_EQ, EMU_OBJ_EQ, NULL, FW_OWNER},
	{PRM_CMD_OP_QUERY_EQ, EMU_OBJ_EQ, fw_query_eq, FW_OWNER},
	{PRM_CMD_OP_CREATE_CQ, EMU_OBJ_CQ, fw_create_cq},
	{PRM_CMD_OP_DESTROY_CQ, EMU_OBJ_CQ, NULL},
	{PRM_CMD_OP_QUERY_CQ, EMU_OBJ_CQ, fw_query_cq},
	{PRM_CMD_OP_MODIFY_CQ, EMU_OBJ_CQ, fw_modify_cq},
	{PRM_CMD_OP_CREATE_QP, EMU_OBJ_QP, fw_create_qp},
	{PRM_CMD_OP_DESTROY_QP, EMU_OBJ_QP, NULL},
	{PRM_CMD_OP_RST2INIT_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_INIT2RTR_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_RTR2RTS_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_RTS2RTS_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_SQERR2RTS_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_2ERR_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_2RST_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_QUERY_QP, EMU_OBJ_QP, fw_query_qp},
	{PRM_CMD_OP_INIT2INIT_QP, EMU_OBJ_QP, fw_modify_qp},
	{PRM_CMD_OP_QUERY_VPORT_STATE, EMU_OBJ_NONE, fw_query_vport_state},
	{PRM_CMD_OP_MODIFY_VPORT_STATE, EMU_OBJ_NONE, fw_modify_vport_state},
	{PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT, EMU_OBJ_NONE, fw_query_nic_vport_context},
	{PRM_CMD_OP_MODIFY_NIC_VPORT_CONTEXT, EMU_OBJ_NONE, fw_modify_nic_vport_context},
	{PRM_CMD_OP_QUERY_ROCE_ADDRESS, EMU_OBJ_NONE, fw_query_roce_address},
	{PRM_CMD_OP_SET_ROCE_ADDRESS, EMU_OBJ_NONE, fw_set_roce_address, FW_OWNER},
	{PRM_CMD_OP_QUERY_VNIC_ENV, EMU_OBJ_NONE, fw_query_vnic_env},
	{PRM_CMD_OP_SET_L2_TABLE_ENTRY, EMU_OBJ_NONE, fw_set_l2_table_entry, FW_OWNER},
	{PRM_CMD_OP_QUERY_L2_TABLE_ENTRY, EMU_OBJ_NONE, fw_query_l2_table_entry, FW_OWNER},
	{PRM_CMD_OP_DELETE_L2_TABLE_ENTRY, EMU_OBJ_NONE, fw_delete_l2_table_entry, FW_OWNER},
	{PRM_CMD_OP_QUERY_VPORT_COUNTER, EMU_OBJ_NONE, fw_query_vport_counter},
	{PRM_CMD_OP_ALLOC_Q_COUNTER, EMU_OBJ_Q_COUNTER, fw_alloc_q_counter},
	{PRM_CMD_OP_DEALLOC_Q_COUNTER, EMU_OBJ_Q_COUNTER, NULL},
	{PRM_CMD_OP_QUERY_Q_COUNTER, EMU_OBJ_Q_COUNTER, fw_query_q_counter},
	{PRM_CMD_OP_ALLOC_PD, EMU_OBJ_PD, fw_alloc_pd},
	{PRM_CMD_OP_DEALLOC_PD, EMU_OBJ_PD, NULL},
	{PRM_CMD_OP_ALLOC_UAR, EMU_OBJ_UAR, fw_alloc_uar, FW_OWNER},
	{PRM_CMD_OP_DEALLOC_UAR, EMU_OBJ_UAR, NULL, FW_OWNER},
	{PRM_CMD_OP_ACCESS_REGISTER, EMU_OBJ_NONE, fw_access_register, FW_EARLY},
	{PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN, EMU_OBJ_TD, fw_alloc_td},
	{PRM_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, EMU_OBJ_TD, NULL},
	{PRM_CMD_OP_CREATE_TIR, EMU_OBJ_TIR, fw_create_tir},
	{PRM_CMD_OP_MODIFY_TIR, EMU_OBJ_TIR, fw_modify_tir},
	{PRM_CMD_OP_DESTROY_TIR, EMU_OBJ_TIR, NULL},
	{PRM_CMD_OP_QUERY_TIR, EMU_OBJ_TIR, fw_query_tir},
	{PRM_CMD_OP_CREATE_SQ, EMU_OBJ_SQ, fw_create_sq},
	{PRM_CMD_OP_MODIFY_SQ, EMU_OBJ_SQ, fw_modify_sq},
	{PRM_CMD_OP_DESTROY_SQ, EMU_OBJ_SQ, NULL},
	{PRM_CMD_OP_QUERY_SQ, EMU_OBJ_SQ, fw_query_sq},
	{PRM_CMD_OP_CREATE_RQ, EMU_OBJ_RQ, fw_create_rq},
	{PRM_CMD_OP_MODIFY_RQ, EMU_OBJ_RQ, fw_modify_rq},
	{PRM_CMD_OP_DESTROY_RQ, EMU_OBJ_RQ, NULL},
	{PRM_CMD_OP_QUERY_RQ, EMU_OBJ_RQ, fw_query_rq},
	{PRM_CMD_OP_CREATE_RMP, EMU_OBJ_RMP, fw_create_rmp},
	{PRM_CMD_OP_MODIFY_RMP, EMU_OBJ_RMP, fw_modify_rmp},
	{PRM_CMD_OP_DESTROY_RMP, EMU_OBJ_RMP, NULL},
	{PRM_CMD_OP_QUERY_RMP, EMU_OBJ_RMP, fw_query_rmp},
	{PRM_CMD_OP_CREATE_TIS, EMU_OBJ_TIS, fw_create_tis},
	{PRM_CMD_OP_MODIFY_TIS, EMU_OBJ_TIS, fw_modify_tis},
	{PRM_CMD_OP_DESTROY_TIS, EMU_OBJ_TIS, NULL},
	{PRM_CMD_OP_QUERY_TIS, EMU_OBJ_TIS, fw_query_tis},
	{PRM_CMD_OP_CREATE_RQT, EMU_OBJ_RQT, fw_create_rqt},
	{PRM_CMD_OP_MODIFY_RQT, EMU_OBJ_RQT, fw_modify_rqt},
	{PRM_CMD_OP_DESTROY_RQT, EMU_OBJ_RQT, NULL},
	{PRM_CMD_OP_QUERY_RQT, EMU_OBJ_RQT, fw_query_rqt},
	{PRM_CMD_OP_SET_FLOW_TABLE_ROOT, EMU_OBJ_NONE, fw_set_flow_table_root},
	{PRM_CMD_OP_CREATE_FLOW_TABLE, EMU_OBJ_FLOW_TABLE, fw_create_flow_table},
	{PRM_CMD_OP_MODIFY_FLOW_TABLE, EMU_OBJ_FLOW_TABLE, fw_modify_flow_table},
	{PRM_CMD_OP_QUERY_FLOW_TABLE, EMU_OBJ_FLOW_TABLE, fw_query_flow_table},
	{PRM_CMD_OP_DESTROY_FLOW_TABLE, EMU_OBJ_FLOW_TABLE, fw_destroy_flow_table},
	{PRM_CMD_OP_CREATE_FLOW_GROUP, EMU_OBJ_FLOW_GROUP, fw_create_flow_group},
	{PRM_CMD_OP_QUERY_FLOW_GROUP, EMU_OBJ_FLOW_GROUP, fw_query_flow_group},
	{PRM_CMD_OP_DESTROY_FLOW_GROUP, EMU_OBJ_FLOW_GROUP, fw_destroy_flow_group},
	/* Entries go by their index in a table. */
	{PRM_CMD_OP_SET_FLOW_TABLE_ENTRY, EMU_OBJ_NONE, fw_set_fte},
	{PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY, EMU_OBJ_NONE, fw_query_fte},
	{PRM_CMD_OP_DELETE_FLOW_TABLE_ENTRY, EMU_OBJ_NONE, fw_delete_fte},
	{PRM_CMD_OP_ALLOC_FLOW_COUNTER, EMU_OBJ_FLOW_COUNTER, fw_alloc_flow_counter},
	{PRM_CMD_OP_DEALLOC_FLOW_COUNTER, EMU_OBJ_FLOW_COUNTER, NULL},
	{PRM_CMD_OP_QUERY_FLOW_COUNTER, EMU_OBJ_FLOW_COUNTER, fw_query_flow_counter},
	{PRM_CMD_OP_CREATE_GENERAL_OBJECT, EMU_OBJ_NONE, fw_general_object},
	{PRM_CMD_OP_MODIFY_GENERAL_OBJECT, EMU_OBJ_NONE, fw_general_object},
	{PRM_CMD_OP_QUERY_GENERAL_OBJECT, EMU_OBJ_NONE, fw_general_object},
	{PRM_CMD_OP_DESTROY_GENERAL_OBJECT, EMU_OBJ_NONE, fw_general_object},
	{PRM_CMD_OP_CREATE_UMEM, EMU_OBJ_UMEM, fw_create_umem, FW_OWNER},
	{PRM_CMD_OP_DESTROY_UMEM, EMU_OBJ_UMEM, NULL, FW_OWNER},
	{PRM_CMD_OP_CREATE_UCTX, EMU_OBJ_NONE, fw_kernel_only},
	{PRM_CMD_OP_DESTROY_UCTX, EMU_OBJ_NONE, fw_kernel_only},
	{PRM_CMD_OP_ACCESS_REGISTER_USER, EMU_OBJ_NONE, fw_access_register_user},
};
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

/* Commands that are reserved to the owner of the function, and those allowed before INIT_HCA. */
static int
check_owner(struct fw_cmd *c, const struct fw_row *row)
{
	const struct emu_hca *hca = &c->ctx->hca;

	if (c->ctx->iommu == NULL)
		return (row->flags & FW_OWNER) != 0 ? fw_kernel_only(c) : 0;
	if (hca->state == EMU_HCA_UP || (row->flags & FW_FIRST) != 0 ||
	    (hca->state == EMU_HCA_ENABLED && (row->flags & FW_EARLY) != 0))
		return 0;
	return fw_refuse(c, FW_HCA_STATE, "%s", hca->state == EMU_HCA_ENABLED ?
			 "before INIT_HCA" : "before ENABLE_HCA");
}

static uint16_t
opcode_of(const void *in)
{
	const uint8_t *p = in;

	return (uint16_t)(p[0] << 8 | p[1]);
}

int
fw_refuse(struct fw_cmd *c, enum fw_syndrome syndrome, const char *fmt, ...)
{
	const struct fw_syndrome_info *info = fw_syndrome_info(syndrome);
	bool state = info->status == PRM_STATUS_BAD_RES || info->status == PRM_STATUS_BAD_RES_STATE;
	uint16_t opcode = opcode_of(c->in);
	uint32_t code = htobe32(info->code);
	char detail[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	memset(c->out, 0, FW_OUT_BYTES);
	*(uint8_t *)c->out = info->status;
	memcpy((uint8_t *)c->out + 4, &code, sizeof(code));
	c->refused = syndrome;
	emu_audit(c->dev, state ? EMU_AUDIT_BAD_STATE : EMU_AUDIT_BAD_COMMAND,
		  "%s (0x%x): %s, syndrome 0x%x: %s%s%s", prm_command_name(opcode), opcode,
		  prm_status_name(info->status), info->code, info->cause,
		  detail[0] != '\0' ? ": " : "", detail);
	return -EREMOTEIO;
}

int
fw_need(struct fw_cmd *c, enum emu_obj_type type, uint32_t id, enum fw_syndrome syndrome,
	void *out)
{
	struct emu_obj *obj = emu_obj_find(c->dev, type, id);

	/* Event queues of the kernel serve everybody who came through it. */
	if (obj == NULL ||
	    (obj->ctx != c->ctx && !(type == EMU_OBJ_EQ && c->ctx->iommu == NULL && !obj->ctx)))
		return fw_refuse(c, syndrome, "%s 0x%x%s", emu_obj_type_name(type), id,
				 obj != NULL ? " is another user's" : "");
	*(struct emu_obj **)out = obj;
	return 0;
}

void
fw_hold(struct fw_holds *h, struct emu_obj *obj)
{
	if (obj == NULL)
		return;
	emu_obj_ref(obj);
	h->held[h->count++] = obj;
}

void
fw_holds_drop(struct fw_holds *h)
{
	while (h->count != 0)
		emu_obj_unref(h->held[--h->count]);
}

int
fw_create(struct fw_cmd *c, enum emu_obj_type type, size_t size,
	  void (*release)(struct emu_obj *), void *out)
{
	struct emu_obj *obj = emu_obj_new(c->dev, c->ctx, type, size, release);
	uint32_t id;

	if (obj == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", emu_obj_type_name(type));
	id = htobe32(obj->id);
	memcpy((uint8_t *)c->out + 4 * FW_OUT_ID_DW, &id, sizeof(id));
	c->created = obj;
	*(struct emu_obj **)out = obj;
	return 0;
}

/* Sets the umem_valid bits, as mlx5_ib does in a user's command (devx.c, devx_set_umem_valid()). */
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
	case PRM_CMD_OP_CREATE_RMP: {
		struct prm_wq *wq = prm_rmpc_wq(prm_create_rmp_in_ctx(c->in));

		prm_wq_set_dbr_umem_valid(wq, 1);
		prm_wq_set_wq_umem_valid(wq, 1);
		break;
	}
	case PRM_CMD_OP_CREATE_SQ: {
		struct prm_wq *wq = prm_sqc_wq(prm_create_sq_in_ctx(c->in));

		prm_wq_set_dbr_umem_valid(wq, 1);
		prm_wq_set_wq_umem_valid(wq, 1);
		break;
	}
	case PRM_CMD_OP_CREATE_RQ: {
		struct prm_wq *wq = prm_rqc_wq(prm_create_rq_in_ctx(c->in));

		prm_wq_set_dbr_umem_valid(wq, 1);
		prm_wq_set_wq_umem_valid(wq, 1);
		break;
	}
	default:
		break;
	}
}

/*
 * The fields that the kernel writes into a user's command before it sends it. The owner of a VFIO
 * function writes them itself and has uid 0.
 */
static int
check_user(struct fw_cmd *c)
{
	uint32_t *dw = c->in, before[MARKS_BYTES / 4];

	if (c->ctx->iommu == NULL) {
		dw[0] = htobe32((be32toh(dw[0]) & 0xffff0000u) | c->ctx->uid);
		mark_umems(c);
		return 0;
	}
	if ((be32toh(dw[0]) & 0xffff) != 0)
		return fw_refuse(c, FW_UID, "%u", be32toh(dw[0]) & 0xffff);
	/* A key may come with its own table (fw_mem.c), and not every change of a CQ with a ring. */
	if (c->desc->opcode == PRM_CMD_OP_CREATE_MKEY ||
	    (c->desc->opcode == PRM_CMD_OP_MODIFY_CQ && (be32toh(dw[1]) & 0xffff) == 0))
		return 0;
	memcpy(before, dw, sizeof(before));
	mark_umems(c);
	if (memcmp(before, dw, sizeof(before)) != 0)
		return fw_refuse(c, FW_PAGE_LIST, "%s", c->desc->name);
	return 0;
}

bool
fw_in_ends_at(const struct fw_cmd *c, size_t bytes)
{
	const uint8_t *in = c->in;
	size_t i;

	if (c->in_len < bytes)
		return false;
	for (i = bytes; i < c->in_len; i++)
		if (in[i] != 0)
			return false;
	return true;
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
		 * Kernels give old firmware the longer inboxes of new commands (INIT_HCA), and
		 * programs a buffer that is large enough for all: zeros say nothing.
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

/* A planned fault: status and syndrome are the rule's, and the program is not to blame. */
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

/* cmd.exit, when ret is 0 or the command was refused. Returns what the command returns. */
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
	memset(c->out, 0, FW_OUT_BYTES);
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

int
fw_destroy_object(struct fw_cmd *c)
{
	if (c->obj->refs != 0)
		return fw_refuse(c, FW_BUSY, "%s 0x%x has %u users",
				 emu_obj_type_name(c->obj->type), c->obj->id, c->obj->refs);
	return emu_obj_destroy(c->obj);
}

static int
dispatch(struct fw_cmd *c)
{
	const struct fw_row *row;
	int ret;

	if (c->desc == NULL)
		return fw_refuse(c, FW_UNKNOWN_OP, "%s", "");
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
	if (ret == 0 && row->type != EMU_OBJ_NONE && c->desc->cls != PRM_CMD_CREATE)
		ret = find_object(c, row->type);
	if (ret != 0)
		return ret;
	return row->handler != NULL ? row->handler(c) : fw_destroy_object(c);
}

int
emu_fw_exec(struct emu_ctx *ctx, const void *in, size_t in_len, void *out, size_t out_len,
	    struct emu_obj **created)
{
	/* One command at a time: the machine's lock is held. */
	static _Alignas(64) uint8_t inbox[FW_IN_BYTES], outbox[FW_OUT_BYTES];
	struct fw_cmd c = {.ctx = ctx, .dev = ctx->dev, .in = inbox, .out = outbox};
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
	memset(outbox, 0, sizeof(outbox));
	c.desc = prm_command_find(opcode_of(inbox));
	ret = in_len <= sizeof(inbox) ? dispatch(&c)
				      : fw_refuse(&c, FW_IN_LONG, "%zu bytes", in_len);
	if (c.desc != NULL && emu_fault_at(EMU_ON_CMD_EXIT))
		ret = fault_exit(&c, ret);
	if (ctx->iommu != NULL && opcode_of(inbox) != PRM_CMD_OP_MANAGE_PAGES)
		fw_pages_balance(ctx);
	emu_time_pass(COMMAND_NS);
	memset(out, 0, out_len);
	memcpy(out, outbox, out_len < sizeof(outbox) ? out_len : sizeof(outbox));
	emu_trace_command(ctx, inbox, in_len < sizeof(inbox) ? in_len : sizeof(inbox), outbox,
			  out_len < sizeof(outbox) ? out_len : sizeof(outbox));
	if (ret == 0 && created != NULL)
		*created = c.created;
	return ret;
}

/* The command that destroys an object, from the row that creates the type. */
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

/* Length of the inbox, 0 when no command destroys such an object. */
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
