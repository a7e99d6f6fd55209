/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The inbox check: what is lawful passes, each kind of violation is found and named. */

#include <errno.h>

#include <prm.h>

#include "../../devtools/mlxemu/fw/fw_check.h"
#include "../check.h"

static uint32_t mbox[0x1000];
static struct fw_violation v;

static void *
inbox(uint16_t opcode)
{
	memset(mbox, 0, sizeof(mbox));
	memset(&v, 0, sizeof(v));
	prm_cmd_in_set_opcode((struct prm_cmd_in *)mbox, opcode);
	return mbox;
}

static void
test_every_command_empty(void)
{
	for (unsigned int i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);
		int ret = fw_check_in(inbox(cmd->opcode), cmd->in_bytes_min, &v);

		if (ret != 0)
			fprintf(stderr, "%s: %s.%s %s\n", cmd->name, v.layout, v.field, v.why);
		CHECK(ret == 0);
	}
}

/* Whatever a row names may be set to anything, but for fields of complete enumerations. */
static void
test_every_command_full(void)
{
	for (unsigned int i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);
		int ret;

		inbox(cmd->opcode);
		for (unsigned int d = 1; d < cmd->in->dwords; d++)
			mbox[d] = PRM_BE32(cmd->in->valid[d]);
		ret = fw_check_in(mbox, cmd->in_bytes_min, &v);
		/* All ones in a nested context reaches its reserved bits. */
		CHECK(ret == 0 || strcmp(v.why, "reserved bits set") == 0 ||
				strcmp(v.why, "out of range") == 0);
		CHECK(ret == 0 || v.dword < cmd->in->dwords);
	}
}

static void
test_every_reserved_bit(void)
{
	for (unsigned int i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);

		for (unsigned int d = 0; d < cmd->in->dwords && 4 * d < cmd->in_bytes_min; d++) {
			uint32_t reserved = ~cmd->in->valid[d];
			uint32_t *in = inbox(cmd->opcode);

			if (reserved == 0)
				continue;
			in[d] |= PRM_BE32(reserved & -reserved);
			CHECK(fw_check_in(in, cmd->in_bytes_min, &v) == -EINVAL);
			CHECK(v.dword == d && v.value == (reserved & -reserved));
			CHECK_STR(v.layout, cmd->in->name);
			CHECK_STR(v.field, "reserved");
			CHECK_STR(v.why, "reserved bits set");
		}
	}
}

static void
test_reserved_in_nested(void)
{
	struct prm_create_sq_in *in = inbox(PRM_CMD_OP_CREATE_SQ);

	prm_sqc_wq(prm_create_sq_in_ctx(in))->dw[30] = PRM_BE32(1);
	CHECK(fw_check_in(in, sizeof(*in), &v) == -EINVAL);
	CHECK_STR(v.layout, "wq");
	CHECK(v.dword == 8 + 12 + 30 && v.value == 1);
}

static void
test_reserved_in_trailing(void)
{
	struct prm_alloc_modify_header_context_in *in =
			inbox(PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	struct prm_set_fte_in *fte;

	CHECK(fw_check_in(in, sizeof(*in) + 16, &v) == 0);
	fte = inbox(PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	CHECK(fw_check_in(fte, sizeof(*fte) + 16, &v) == 0);
}

static void
test_out_of_range(void)
{
	struct prm_modify_sq_in *in = inbox(PRM_CMD_OP_MODIFY_SQ);

	prm_modify_sq_in_set_sq_state(in, PRM_SQC_STATE_ERR);
	CHECK(fw_check_in(in, sizeof(*in), &v) == 0);
	prm_modify_sq_in_set_sq_state(in, 2);
	CHECK(fw_check_in(in, sizeof(*in), &v) == -EINVAL);
	CHECK_STR(v.why, "out of range");
	CHECK_STR(v.field, "sq_state");
	CHECK(v.value == 2 && v.dword == 2);
}

static void
test_too_short(void)
{
	struct prm_create_cq_in *in = inbox(PRM_CMD_OP_CREATE_CQ);

	CHECK(fw_check_in(in, sizeof(*in) - 4, &v) == -EINVAL);
	CHECK_STR(v.why, "too short");
	CHECK(v.value == sizeof(*in) - 4);
	CHECK(fw_check_in(in, 8, &v) == -EINVAL);
	CHECK(fw_check_in(in, 0, NULL) == -EINVAL);
	CHECK(fw_check_in(in, sizeof(*in), NULL) == 0);
}

static void
test_unknown_opcode(void)
{
	CHECK(fw_check_in(inbox(0xfff), 16, &v) == -EINVAL);
	CHECK_STR(v.why, "unknown opcode");
	CHECK(v.value == 0xfff);
}

/*
 * Users through DEVX: the kernel sets uid in every inbox, whatever the command (DESTROY_UCTX is the
 * kernel's own and names the context elsewhere).
 */
static void
test_uid_is_lawful_everywhere(void)
{
	for (unsigned int i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);

		prm_cmd_in_set_uid(inbox(cmd->opcode), 0xffff);
		CHECK(cmd->opcode == PRM_CMD_OP_DESTROY_UCTX ||
				fw_check_in(mbox, cmd->in_bytes_min, &v) == 0);
	}
}

/* What DPDK's own driver sends when it changes the table of a TIR. */
static void
test_modify_tir_indirect_table(void)
{
	struct prm_modify_tir_in *in = inbox(PRM_CMD_OP_MODIFY_TIR);

	prm_modify_tir_bitmask_set_indirect_table(prm_modify_tir_in_bitmask(in), 1);
	prm_modify_tir_bitmask_set_tunneled_offload_en(prm_modify_tir_in_bitmask(in), 1);
	CHECK(PRM_BE32(prm_modify_tir_in_bitmask(in)->dw[1]) ==
			(PRM_MODIFY_TIR_BITMASK_INDIRECT_TABLE |
			 PRM_MODIFY_TIR_BITMASK_TUNNELED_OFFLOAD_EN));
	CHECK(fw_check_in(in, sizeof(*in), &v) == 0);
}

/* Dword 3 of the header means one thing to CREATE and another to QUERY: neither is refused. */
static void
test_general_object_parameters(void)
{
	struct prm_general_obj_in_cmd_hdr *in = inbox(PRM_CMD_OP_QUERY_GENERAL_OBJECT);

	prm_general_obj_query_param_set_obj_offset(prm_general_obj_in_cmd_hdr_query(in), 0x7fffffff);
	CHECK(fw_check_in(in, sizeof(*in), &v) == 0);
	in = inbox(PRM_CMD_OP_CREATE_GENERAL_OBJECT);
	prm_general_obj_create_param_set_log_obj_range(prm_general_obj_in_cmd_hdr_create(in), 5);
	CHECK(fw_check_in(in, sizeof(*in), &v) == 0);
}

static void
test_layout_check(void)
{
	struct prm_ptys_reg reg = { { 0 } };

	CHECK(fw_check_layout(&prm_layout_ptys_reg, &reg, sizeof(reg), &v) == 0);
	CHECK(fw_check_layout(&prm_layout_ptys_reg, &reg, sizeof(reg) - 1, &v) == -EINVAL);
	CHECK_STR(v.why, "too short");
}

int
main(void)
{
	test_every_command_empty();
	test_every_command_full();
	test_every_reserved_bit();
	test_reserved_in_nested();
	test_reserved_in_trailing();
	test_out_of_range();
	test_too_short();
	test_unknown_opcode();
	test_uid_is_lawful_everywhere();
	test_modify_tir_indirect_table();
	test_general_object_parameters();
	test_layout_check();
	return check_exit("check");
}
