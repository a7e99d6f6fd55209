/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The command table, names of values, status codes and the decoder. */

#include <errno.h>
#include <stdlib.h>

#include "prm.h"
#include "../check.h"

static void
test_find(void)
{
	const struct prm_command *cmd = prm_command_find(PRM_CMD_OP_CREATE_CQ);

	CHECK(cmd != NULL);
	if (cmd == NULL)
		return;
	CHECK(cmd->opcode == 0x400 && cmd->cls == PRM_CMD_CREATE && cmd->in_variable);
	CHECK(cmd->in_bytes_min == PRM_CREATE_CQ_IN_BYTES);
	CHECK(cmd->destroy_opcode == PRM_CMD_OP_DESTROY_CQ && cmd->create_opcode == 0);
	CHECK(cmd->in == &prm_layout_create_cq_in && cmd->out == &prm_layout_create_cq_out);
	CHECK(prm_command_find(PRM_CMD_OP_DESTROY_CQ)->create_opcode == PRM_CMD_OP_CREATE_CQ);
	CHECK(prm_command_find(0) == NULL && prm_command_find(0xffff) == NULL);
	CHECK(prm_command_at(prm_command_count()) == NULL);
	CHECK_STR(prm_command_name(0x904), "CREATE_SQ");
	CHECK_STR(prm_command_name(0xfff), "UNKNOWN");
}

static void
test_table_is_whole(void)
{
	CHECK(prm_command_count() > 100);
	for (unsigned int i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);
		const struct prm_command *other;

		CHECK(prm_command_find(cmd->opcode) == cmd);
		CHECK(i == 0 || prm_command_at(i - 1)->opcode < cmd->opcode);
		CHECK(cmd->in_bytes_min >= 16 && cmd->out_bytes_min >= 12);
		if (cmd->cls == PRM_CMD_CREATE) {
			CHECK(cmd->out_id.hi >= cmd->out_id.lo);
			other = prm_command_find(cmd->destroy_opcode);
			CHECK(other != NULL && other->cls == PRM_CMD_DESTROY &&
					other->create_opcode == cmd->opcode &&
					other->in_id.hi >= other->in_id.lo);
		}
	}
}

static void
test_ids(void)
{
	struct prm_create_sq_out out = { { 0 } };
	struct prm_destroy_sq_in in = { { 0 } };
	const struct prm_command *create = prm_command_find(PRM_CMD_OP_CREATE_SQ);
	const struct prm_command *destroy = prm_command_find(PRM_CMD_OP_DESTROY_SQ);

	prm_create_sq_out_set_sqn(&out, 0xabcdef);
	CHECK(prm_field_ref_get(&out, create->out_id) == 0xabcdef);
	prm_destroy_sq_in_set_sqn(&in, 0x123456);
	CHECK(prm_field_ref_get(&in, destroy->in_id) == 0x123456);
	CHECK(prm_field_ref_get(&in, create->in_id) == 0);
}

static void
test_status(void)
{
	CHECK_STR(prm_status_name(0), "OK");
	CHECK_STR(prm_status_name(PRM_STATUS_BAD_RES_STATE), "BAD_RES_STATE");
	CHECK_STR(prm_status_text(PRM_STATUS_OK), "the command was done");
	CHECK(prm_status_text(0xee) == NULL && prm_cqe_syndrome_text(0) == NULL);
	CHECK_STR(prm_status_name(0xee), "UNKNOWN");
	CHECK(prm_status_errno(PRM_STATUS_OK) == 0);
	CHECK(prm_status_errno(PRM_STATUS_INTERNAL_ERR) == EIO);
	CHECK(prm_status_errno(PRM_STATUS_BAD_OP) == EINVAL);
	CHECK(prm_status_errno(PRM_STATUS_RESOURCE_BUSY) == EBUSY);
	CHECK(prm_status_errno(PRM_STATUS_EXCEED_LIM) == ENOMEM);
	CHECK(prm_status_errno(PRM_STATUS_NO_RESOURCES) == EAGAIN);
	CHECK(prm_status_errno(PRM_STATUS_BAD_INPUT_LEN) == EIO);
	CHECK(prm_status_errno(0xee) == EIO);
	CHECK_STR(prm_cqe_syndrome_name(PRM_CQE_SYNDROME_WR_FLUSH_ERR), "WR_FLUSH_ERR");
	CHECK_STR(prm_cqe_opcode_name(PRM_CQE_OPCODE_RESP_ERR), "RESP_ERR");
	CHECK_STR(prm_event_type_name(0x9), "PORT_CHANGE");
	CHECK_STR(prm_reg_name(PRM_REG_MTUTC), "MTUTC");
	CHECK(prm_register_layout(PRM_REG_PTYS) == &prm_layout_ptys_reg);
	CHECK(prm_register_layout(0x1) == NULL);
}

struct seen {
	unsigned int count;
	char text[2048];
};

static void
note(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	struct seen *s = arg;
	size_t len = strlen(s->text);

	s->count++;
	snprintf(s->text + len, sizeof(s->text) - len, "%s=%llx%s%s;", path,
			(unsigned long long)value, enum_name != NULL ? ":" : "",
			enum_name != NULL ? enum_name : "");
}

static void
test_decode(void)
{
	uint32_t mbox[(PRM_CREATE_CQ_IN_BYTES + 16) / 4] = { 0 };
	struct prm_create_cq_in *in = (struct prm_create_cq_in *)mbox;
	struct seen s = { 0 };

	prm_create_cq_in_set_opcode(in, PRM_CMD_OP_CREATE_CQ);
	prm_cqc_set_log_cq_size(prm_create_cq_in_cq_context(in), 7);
	prm_cqc_set_cqe_sz(prm_create_cq_in_cq_context(in), PRM_CQC_CQE_SZ_128B);
	prm_create_cq_in_set_pas(in, 1, 0x5000);
	prm_decode(&prm_layout_create_cq_in, mbox, sizeof(mbox), true, note, &s);
	CHECK_STR(s.text, "opcode=400:CREATE_CQ;cq_context.cqe_sz=1:128B;"
			"cq_context.log_cq_size=7;pas[1]=5000;");
}

static void
test_decode_nested_array_and_blob(void)
{
	uint32_t mbox[(PRM_CREATE_RQT_IN_BYTES + 8) / 4] = { 0 };
	struct prm_create_rqt_in *in = (struct prm_create_rqt_in *)mbox;
	struct prm_tirc tirc = { { 0 } };
	struct seen s = { 0 };

	prm_rq_num_set_rq_num(prm_rqtc_rq_num(prm_create_rqt_in_rqt_context(in), 1), 0x77);
	prm_decode(&prm_layout_create_rqt_in, mbox, sizeof(mbox), true, note, &s);
	CHECK_STR(s.text, "rqt_context.rq_num[1].rq_num=77;");
	memset(&s, 0, sizeof(s));
	prm_tirc_rx_hash_toeplitz_key(&tirc)[39] = 5;
	prm_decode(&prm_layout_tirc, &tirc, sizeof(tirc), true, note, &s);
	CHECK_STR(s.text, "rx_hash_toeplitz_key[9]=5;");
}

static void
test_decode_union_beside_selector(void)
{
	struct prm_ppcnt_reg reg = { { 0 } };
	struct prm_eth_cntrs_grp_data_layout_auto *set = prm_ppcnt_reg_counter_set(&reg);
	struct seen s = { 0 };

	prm_ppcnt_reg_set_grp(&reg, PRM_PPCNT_GRP_RFC_2863);
	prm_eth_2863_cntrs_grp_data_layout_set_if_in_octets_high(
		prm_eth_cntrs_grp_data_layout_auto_eth_2863_cntrs_grp_data_layout(set), 3);
	prm_decode(&prm_layout_ppcnt_reg, &reg, sizeof(reg), true, note, &s);
	CHECK_STR(s.text, "grp=1:RFC_2863;"
			"counter_set.eth_2863_cntrs_grp_data_layout.if_in_octets_high=3;");
}

static void
test_decode_out_by_request(void)
{
	struct prm_query_hca_cap_in in = { { 0 } };
	static struct prm_query_hca_cap_out out;
	struct prm_hca_cap_union *cap = prm_query_hca_cap_out_capability(&out);
	struct seen s = { 0 };

	prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&in, PRM_HCA_CAP_TYPE_QOS << 1 | PRM_HCA_CAP_MODE_CUR);
	prm_qos_cap_set_packet_pacing(prm_hca_cap_union_qos_cap(cap), 1);
	prm_decode_out(&in, sizeof(in), &out, sizeof(out), true, note, &s);
	CHECK_STR(s.text, "capability.qos_cap.packet_pacing=1;");
	memset(&s, 0, sizeof(s));
	prm_query_hca_cap_in_set_op_mod(&in, 0x7f << 1);
	prm_decode_out(&in, sizeof(in), &out, sizeof(out), true, note, &s);
	CHECK_STR(s.text, "capability.dword[0]=80000000;");
}

static void
test_decode_register(void)
{
	uint32_t in[(PRM_ACCESS_REGISTER_IN_BYTES + PRM_PAOS_REG_BYTES) / 4] = { 0 };
	uint32_t out[(PRM_ACCESS_REGISTER_OUT_BYTES + PRM_PAOS_REG_BYTES) / 4] = { 0 };
	struct prm_access_register_in *head = (struct prm_access_register_in *)in;
	struct prm_paos_reg *reg = (struct prm_paos_reg *)(in + PRM_ACCESS_REGISTER_IN_DWORDS);
	struct seen s = { 0 };

	prm_access_register_in_set_opcode(head, PRM_CMD_OP_ACCESS_REGISTER);
	prm_access_register_in_set_op_mod(head, PRM_ACCESS_REG_OP_READ);
	prm_access_register_in_set_register_id(head, PRM_REG_PAOS);
	prm_paos_reg_set_local_port(reg, 1);
	prm_decode_in(in, sizeof(in), true, note, &s);
	CHECK_STR(s.text, "opcode=805:ACCESS_REGISTER;op_mod=1:READ;register_id=5006:PAOS;"
			"paos_reg.local_port=1;");
	memset(&s, 0, sizeof(s));
	reg = (struct prm_paos_reg *)(out + PRM_ACCESS_REGISTER_OUT_DWORDS);
	prm_paos_reg_set_oper_status(reg, PRM_PORT_STATUS_UP);
	prm_decode_out(in, sizeof(in), out, sizeof(out), true, note, &s);
	CHECK_STR(s.text, "paos_reg.oper_status=1:UP;");
}

static void
test_decode_unknown(void)
{
	uint32_t in[4] = { PRM_BE32(0x0fff0000u), 0, PRM_BE32(5u), 0 };
	uint32_t out[4] = { PRM_BE32(0x02000000u), PRM_BE32(7u), 0, 0 };
	struct seen s = { 0 };

	prm_decode_in(in, sizeof(in), true, note, &s);
	prm_decode_out(in, sizeof(in), out, sizeof(out), true, note, &s);
	CHECK_STR(s.text, "opcode=fff;status=2:BAD_OP;syndrome=7;");
}

/* A mailbox cut short is decoded as far as it goes, at every length. */
static void
test_decode_any_length(void)
{
	for (unsigned int i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);
		size_t max = cmd->in_bytes_min + 64u;

		if (max > 1024)
			continue;
		for (size_t len = 0; len <= max; len += 4) {
			uint32_t *exact = calloc(1, len + 1); /* so that a sanitizer sees excess */
			struct seen s = { 0 };

			if (exact == NULL)
				return;
			prm_decode(cmd->in, exact, len, false, note, &s);
			CHECK(len < 4 || s.count > 0);
			if (len >= 4)
				exact[0] = PRM_BE32((uint32_t)cmd->opcode << 16);
			prm_decode_in(exact, len, false, note, &s);
			prm_decode_out(exact, len, exact, len, false, note, &s);
			free(exact);
		}
	}
}

int
main(void)
{
	test_find();
	test_table_is_whole();
	test_ids();
	test_status();
	test_decode();
	test_decode_nested_array_and_blob();
	test_decode_union_beside_selector();
	test_decode_out_by_request();
	test_decode_register();
	test_decode_unknown();
	test_decode_any_length();
	return check_exit("tables");
}
