/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packet pacing: the table of rates, and the entries of send queues. */
#include "vfio_fixture.h"

static struct fix f;
static uint32_t cqn, tisn;

static void
pp_in(struct prm_set_pp_rate_limit_in *in, uint32_t index, uint16_t uid, uint32_t kbps)
{
	memset(in, 0, sizeof(*in));
	prm_set_pp_rate_limit_in_set_opcode(in, PRM_CMD_OP_SET_PP_RATE_LIMIT);
	prm_set_pp_rate_limit_in_set_uid(in, uid);
	prm_set_pp_rate_limit_in_set_rate_limit_index(in, index);
	prm_set_pp_rate_limit_context_set_rate_limit(prm_set_pp_rate_limit_in_ctx(in), kbps);
}

/* A command of the kernel's driver: its syndrome. */
static uint32_t
pp_exec(const struct prm_set_pp_rate_limit_in *in)
{
	(void)emu_fw_exec_kernel(f.ctx, in, sizeof(*in), f.out, PRM_SET_PP_RATE_LIMIT_OUT_BYTES);
	return be32toh(f.out[1]);
}

static uint32_t
pp_set(uint32_t index, uint16_t uid, uint32_t kbps)
{
	struct prm_set_pp_rate_limit_in in;

	pp_in(&in, index, uid, kbps);
	return pp_exec(&in);
}

/* The other fields: burst_upper_bound, typical_packet_size, rate_mode. */
static uint32_t
pp_shape(uint32_t burst, uint32_t typical, uint32_t mode)
{
	struct prm_set_pp_rate_limit_in in;
	struct prm_set_pp_rate_limit_context *ctx = prm_set_pp_rate_limit_in_ctx(&in);

	pp_in(&in, 1, 0, 1000);
	prm_set_pp_rate_limit_context_set_burst_upper_bound(ctx, burst);
	prm_set_pp_rate_limit_context_set_typical_packet_size(ctx, typical);
	prm_set_pp_rate_limit_context_set_rate_mode(ctx, mode);
	return pp_exec(&in);
}

/* Another card for what follows: one capability changed. */
static void
card(const char *cap)
{
	char err[128];

	f.dev->profile = emu_profile_change(f.dev->profile, cap, err, sizeof(err));
	CHECK(f.dev->profile != NULL);
}

static uint32_t
sq_make(uint32_t index)
{
	struct prm_create_sq_in in;

	fix_sq_in(&f, &in, cqn, tisn);
	prm_sqc_set_packet_pacing_rate_limit_index(prm_create_sq_in_ctx(&in), index);
	return fix_exec(&f, &in, sizeof(in));
}

/* MODIFY_SQ with the bit of the entry. */
static uint32_t
sq_limit(uint32_t sqn, unsigned from, unsigned to, uint32_t index)
{
	struct prm_modify_sq_in in = {0};
	struct prm_sqc *sqc = prm_modify_sq_in_ctx(&in);

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, sqn);
	prm_modify_sq_in_set_sq_state(&in, from);
	prm_modify_sq_in_set_modify_bitmask(&in, PRM_MODIFY_SQ_BITMASK_RATE_LIMIT);
	prm_sqc_set_state(sqc, to);
	prm_sqc_set_packet_pacing_rate_limit_index(sqc, index);
	return fix_exec(&f, &in, sizeof(in));
}

static uint32_t
sq_index(uint32_t sqn)
{
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_SQ, sqn), 0);
	return prm_sqc_get_packet_pacing_rate_limit_index(prm_query_sq_out_sq_context((void *)f.out));
}

static void
test_table(void)
{
	const uint32_t last = f.dev->profile->packet_pacing_rate_table_size - 1;

	CHECK_EQ(pp_set(0, 0, 1000), fix_code(FW_PP_INDEX));
	CHECK_EQ(pp_set(last + 1, 0, 1000), fix_code(FW_PP_INDEX));
	CHECK_EQ(pp_set(0xffff, 0, 1000), fix_code(FW_PP_INDEX));
	CHECK_EQ(pp_set(last, 0, 1000), 0);
	CHECK_EQ(f.dev->pp[last].rate_kbps, 1000);
	CHECK_EQ(pp_set(last, 0, 0), 0);
	CHECK_EQ(f.dev->pp[last].rate_kbps, 0);
	CHECK_EQ(pp_set(1, 0, f.dev->profile->packet_pacing_max_rate), 0);
	CHECK_EQ(pp_set(1, 0, f.dev->profile->packet_pacing_max_rate + 1), fix_code(FW_PP_RATE));
	CHECK_EQ(pp_set(1, 0, f.dev->profile->packet_pacing_min_rate), 0);
	CHECK_EQ(pp_shape(9000, 1500, PRM_PP_RATE_MODE_DATA_RATE), 0);
	CHECK_EQ(f.dev->pp[1].burst_bytes, 9000);
	CHECK_EQ(pp_shape(0, 0, PRM_PP_RATE_MODE_WQE_RATE), fix_code(FW_PP_FEATURE));
	CHECK_EQ(pp_set(1, 0, 0), 0);
}

/* Cards without some of it. */
static void
test_caps(void)
{
	const struct emu_profile *before = f.dev->profile;

	card("packet_pacing_min_rate=2000");
	CHECK_EQ(pp_set(1, 0, 1999), fix_code(FW_PP_RATE));
	CHECK_EQ(pp_set(1, 0, 2000), 0);
	CHECK_EQ(pp_set(1, 0, 0), 0);
	card("packet_pacing_min_rate=1");
	card("packet_pacing_burst_bound=0");
	CHECK_EQ(pp_shape(1, 0, PRM_PP_RATE_MODE_DATA_RATE), fix_code(FW_PP_FEATURE));
	CHECK_EQ(pp_shape(0, 1, PRM_PP_RATE_MODE_DATA_RATE), 0);
	card("packet_pacing_typical_size=0");
	CHECK_EQ(pp_shape(0, 1, PRM_PP_RATE_MODE_DATA_RATE), fix_code(FW_PP_FEATURE));
	card("packet_pacing_uid=0");
	CHECK_EQ(pp_set(1, EMU_UID_SHARED, 1000), fix_code(FW_PP_FEATURE));
	/* Then the entries of the kernel are for all. */
	CHECK_EQ(pp_set(1, 0, 1000), 0);
	CHECK_EQ(sq_make(1), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_SQ, f.created->id), 0);
	CHECK_EQ(pp_set(1, 0, 0), 0);
	card("packet_pacing=0");
	CHECK_EQ(pp_set(1, 0, 1000), fix_code(FW_NO_PACING));
	CHECK_EQ(sq_make(1), fix_code(FW_SQ_RATE_LIMIT));
	f.dev->profile = before;
}

static void
test_queue(void)
{
	uint32_t sqn, other;
	struct emu_sq *sq;

	CHECK_EQ(sq_make(1), fix_code(FW_SQ_RATE_ENTRY));
	CHECK_EQ(sq_make(0xffff), fix_code(FW_PP_INDEX));
	CHECK_EQ(pp_set(1, EMU_UID_SHARED, 1000), 0);
	CHECK_EQ(pp_set(2, f.ctx->uid, 2000), 0);
	CHECK_EQ(pp_set(3, (uint16_t)(f.ctx->uid + 1), 3000), 0);
	CHECK_EQ(sq_make(3), fix_code(FW_SQ_RATE_ENTRY));
	CHECK_EQ(sq_make(1), 0);
	sq = (struct emu_sq *)f.created;
	sqn = sq->obj.id;
	CHECK(sq->pp == &f.dev->pp[1]);
	CHECK_EQ(sq_index(sqn), 1);
	CHECK_EQ(sq_make(1), 0);
	other = f.created->id;
	CHECK_EQ(f.dev->pp[1].sqs, 2);
	/* In use: it cannot be freed, but another rate can be written. */
	CHECK_EQ(pp_set(1, EMU_UID_SHARED, 0), fix_code(FW_PP_BUSY));
	CHECK_EQ(pp_set(1, EMU_UID_SHARED, 1500), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_SQ, other), 0);
	CHECK_EQ(f.dev->pp[1].sqs, 1);
	CHECK_EQ(sq_limit(sqn, EMU_QS_RST, EMU_QS_RDY, 2), 0);
	CHECK_EQ(sq_index(sqn), 2);
	CHECK_EQ(pp_set(1, EMU_UID_SHARED, 0), 0);
	CHECK_EQ(sq_limit(sqn, EMU_QS_RDY, EMU_QS_RDY, 1), fix_code(FW_SQ_RATE_ENTRY));
	CHECK_EQ(sq_limit(sqn, EMU_QS_RDY, EMU_QS_RDY, 3), fix_code(FW_SQ_RATE_ENTRY));
	CHECK(sq->pp == &f.dev->pp[2]);
	/* A wrong state changes nothing else. */
	CHECK_EQ(sq_limit(sqn, EMU_QS_ERR, EMU_QS_RST, 0), fix_code(FW_STATE_CLAIM));
	CHECK(sq->pp == &f.dev->pp[2]);
	/* Without the bit the index is no request. */
	CHECK_EQ(fix_sq_go(&f, sqn, EMU_QS_RDY, EMU_QS_ERR), 0);
	CHECK_EQ(sq_index(sqn), 2);
	CHECK_EQ(fix_sq_go(&f, sqn, EMU_QS_ERR, EMU_QS_RST), 0);
	CHECK_EQ(sq_index(sqn), 0);
	CHECK_EQ(f.dev->pp[2].sqs, 0);
	CHECK_EQ(sq_limit(sqn, EMU_QS_RST, EMU_QS_RDY, 2), 0);
	CHECK_EQ(sq_limit(sqn, EMU_QS_RDY, EMU_QS_RDY, 0), 0);
	CHECK(sq->pp == NULL);
	CHECK_EQ(pp_set(2, f.ctx->uid, 0), 0);
	CHECK_EQ(pp_set(3, 0, 0), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_SQ, sqn), 0);
}

/* Programs cannot send the command, owners of the function can; what is left in the table is reported. */
static void
test_owner(void)
{
	struct prm_set_pp_rate_limit_in in;
	struct prm_teardown_hca_in down = {0};
	struct vfix v;

	pp_in(&in, 1, 0, 1000);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_KERNEL_ONLY));
	vfix_open(&v);
	vfix_boot_until(&v, VFIX_UP);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), 0);
	CHECK_EQ(v.dev->pp[1].rate_kbps, 1000);
	pp_in(&in, 2, 5, 1000);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), fix_code(FW_UID));
	CHECK_EQ(emu_audit_left_total(), 0);
	prm_teardown_hca_in_set_opcode(&down, PRM_CMD_OP_TEARDOWN_HCA);
	CHECK_EQ(vfix_exec(&v, &down, sizeof(down)), 0);
	CHECK_EQ(v.dev->pp[1].rate_kbps, 0);
	vfix_close(&v);
}

int
main(void)
{
	const struct emu_profile *p = fix_profile();

	fix_open(&f);
	CHECK(p->packet_pacing != 0);
	cqn = fix_cq(&f);
	tisn = fix_tis(&f);
	test_table();
	test_caps();
	test_queue();
	fix_close(&f);
	fix_open(&f);
	test_owner();
	fix_close(&f);
	return fix_result("pacing");
}
