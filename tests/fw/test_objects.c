/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* References: what is in use stays, others' objects do not exist, closing cleans up. */
#include <errno.h>

#include "fw_fixture.h"

/** One of each, with everything that refers to something. */
struct world {
	uint32_t cq, tis, sq, rq, rqt, tir_direct, tir, mkey, q_counter, flow_counter;
};

static void
build(struct fix *f, struct world *w)
{
	struct prm_create_rq_in rq;
	struct prm_create_tir_in tir;
	struct prm_tirc *tirc = prm_create_tir_in_ctx(&tir);

	w->cq = fix_cq(f);
	w->tis = fix_tis(f);
	w->sq = fix_sq(f, w->cq, w->tis);
	CHECK_EQ(fix_simple(f, PRM_CMD_OP_ALLOC_Q_COUNTER, 0), 0);
	w->q_counter = fix_id(f);
	fix_rq_in(f, &rq, w->cq);
	prm_rqc_set_counter_set_id(prm_create_rq_in_ctx(&rq), w->q_counter);
	CHECK_EQ(fix_exec(f, &rq, sizeof(rq)), 0);
	w->rq = fix_id(f);
	w->rqt = fix_rqt(f, &w->rq, 1);
	w->tir_direct = fix_tir(f, w->rq);
	fix_tir_in(f, &tir, 0);
	prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_INDIRECT);
	prm_tirc_set_indirect_table(tirc, w->rqt);
	prm_tirc_set_rx_hash_fn(tirc, PRM_RX_HASH_FN_TOEPLITZ);
	CHECK_EQ(fix_exec(f, &tir, sizeof(tir)), 0);
	w->tir = fix_id(f);
	w->mkey = fix_mkey(f);
	CHECK_EQ(fix_simple(f, PRM_CMD_OP_ALLOC_FLOW_COUNTER, 0), 0);
	w->flow_counter = fix_id(f);
}

static void
busy(struct fix *f, uint16_t opcode, uint32_t id)
{
	CHECK_EQ(fix_simple(f, opcode, id), fix_code(FW_BUSY));
	CHECK_EQ(*(uint8_t *)f->out, PRM_STATUS_BAD_RES_STATE);
}

static void
destroyed(struct fix *f, uint16_t opcode, uint32_t id)
{
	CHECK_EQ(fix_simple(f, opcode, id), 0);
	CHECK_EQ(fix_simple(f, opcode, id), fix_code(FW_NO_OBJECT));
	CHECK_EQ(*(uint8_t *)f->out, PRM_STATUS_BAD_RES);
}

/* Down the tree: each object can go once nothing refers to it, not before. */
static void
test_busy(struct fix *f)
{
	struct world w;

	build(f, &w);
	busy(f, PRM_CMD_OP_DEALLOC_PD, f->pd);
	busy(f, PRM_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, f->td);
	busy(f, PRM_CMD_OP_DESTROY_CQ, w.cq);
	busy(f, PRM_CMD_OP_DESTROY_TIS, w.tis);
	busy(f, PRM_CMD_OP_DESTROY_RQ, w.rq);
	busy(f, PRM_CMD_OP_DESTROY_RQT, w.rqt);
	busy(f, PRM_CMD_OP_DEALLOC_Q_COUNTER, w.q_counter);
	CHECK_EQ(emu_obj_destroy(&f->umem->obj), (unsigned long long)-EBUSY);
	CHECK_EQ(emu_obj_destroy(&f->uar->obj), (unsigned long long)-EBUSY);
	CHECK_EQ(emu_audit_total(), 7);

	destroyed(f, PRM_CMD_OP_DESTROY_TIR, w.tir_direct);
	busy(f, PRM_CMD_OP_DESTROY_RQ, w.rq);
	destroyed(f, PRM_CMD_OP_DESTROY_TIR, w.tir);
	destroyed(f, PRM_CMD_OP_DESTROY_RQT, w.rqt);
	destroyed(f, PRM_CMD_OP_DESTROY_RQ, w.rq);
	destroyed(f, PRM_CMD_OP_DEALLOC_Q_COUNTER, w.q_counter);
	busy(f, PRM_CMD_OP_DESTROY_CQ, w.cq);
	destroyed(f, PRM_CMD_OP_DESTROY_SQ, w.sq);
	destroyed(f, PRM_CMD_OP_DESTROY_CQ, w.cq);
	destroyed(f, PRM_CMD_OP_DESTROY_TIS, w.tis);
	destroyed(f, PRM_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, f->td);
	busy(f, PRM_CMD_OP_DEALLOC_PD, f->pd);
	destroyed(f, PRM_CMD_OP_DESTROY_MKEY, w.mkey);
	destroyed(f, PRM_CMD_OP_DEALLOC_FLOW_COUNTER, w.flow_counter);
	destroyed(f, PRM_CMD_OP_DEALLOC_PD, f->pd);
	CHECK_EQ(emu_obj_destroy(&f->uar->obj), 0);
	CHECK_EQ(emu_obj_destroy(&f->umem->obj), 0);
	CHECK(TAILQ_EMPTY(&f->ctx->owned));
}

/* Another user can neither name the objects nor build upon them. */
static void
test_isolation(struct fix *f)
{
	struct prm_create_sq_in sq;
	struct prm_create_mkey_in mkey;
	struct prm_create_cq_in cq;
	struct world w;
	void *file;
	struct emu_ctx *other = fix_other_user(f, &file);
	struct {
		uint16_t op;
		uint32_t id;
	} row[] = {
		{PRM_CMD_OP_DEALLOC_PD, f->pd}, {PRM_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, f->td},
		{PRM_CMD_OP_DESTROY_CQ, 0}, {PRM_CMD_OP_QUERY_SQ, 0}, {PRM_CMD_OP_DESTROY_RQ, 0},
		{PRM_CMD_OP_QUERY_TIR, 0}, {PRM_CMD_OP_QUERY_RQT, 0}, {PRM_CMD_OP_DESTROY_MKEY, 0},
	};

	build(f, &w);
	row[2].id = w.cq;
	row[3].id = w.sq;
	row[4].id = w.rq;
	row[5].id = w.tir;
	row[6].id = w.rqt;
	row[7].id = w.mkey;
	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uint32_t in[4] = {PRM_BE32((uint32_t)row[i].op << 16), 0, PRM_BE32(row[i].id), 0};

		CHECK_EQ(fix_exec_as(f, other, in, sizeof(in), 512), fix_code(FW_FOREIGN_OBJECT));
	}
	CHECK(other->uid != f->ctx->uid && other->uid != 0 && f->ctx->uid != 0);
	fix_sq_in(f, &sq, w.cq, w.tis);
	CHECK_EQ(fix_exec_as(f, other, &sq, sizeof(sq), 16), fix_code(FW_NO_CQ));
	fix_mkey_in(f, &mkey);
	CHECK_EQ(fix_exec_as(f, other, &mkey, sizeof(mkey), 16), fix_code(FW_NO_PD));
	fix_cq_in(f, &cq);
	CHECK_EQ(fix_exec_as(f, other, &cq, sizeof(cq), 16), fix_code(FW_NO_UAR));
	CHECK_EQ(emu_ctx_close(other), 0);
	emu_file_unmap(file);
}

/* The uid in the inbox is not the program's to choose. */
static void
test_uid_is_overwritten(struct fix *f)
{
	uint32_t in[4] = {PRM_BE32(PRM_CMD_OP_ALLOC_PD << 16 | 0x4242), 0, 0, 0};

	CHECK_EQ(fix_exec(f, in, sizeof(in)), 0);
	CHECK(f->created->ctx == f->ctx);
}

static unsigned
objects_of(struct fix *f)
{
	unsigned n = 0;

	for (unsigned t = 0; t < EMU_OBJ_TYPES; t++)
		if (t != EMU_OBJ_EQ)
			n += emu_obj_count(f->dev, t);
	return n;
}

/* A context that closes with everything in place leaves nothing, and the audit lists the objects. */
static void
test_close(struct fix *f)
{
	uint32_t buf[PRM_MODIFY_RQT_IN_BYTES / 4 + 1] = {0};
	struct prm_modify_rqt_in *in = (void *)buf;
	struct prm_rqtc *rqtc = prm_modify_rqt_in_ctx(in);
	struct world w;
	unsigned left;

	build(f, &w);
	/* The older table is made to hold a newer queue. */
	prm_modify_rqt_in_set_opcode(in, PRM_CMD_OP_MODIFY_RQT);
	prm_modify_rqt_in_set_rqtn(in, w.rqt);
	prm_rqt_bitmask_set_rqn_list(prm_modify_rqt_in_bitmask(in), 1);
	prm_rqtc_set_rqt_actual_size(rqtc, 1);
	prm_rq_num_set_rq_num(prm_rqtc_rq_num(rqtc, 0), fix_rq(f, w.cq));
	CHECK_EQ(fix_exec(f, in, sizeof(buf)), 0);

	CHECK_EQ(emu_audit_left_total(), 0);
	left = emu_ctx_close(f->ctx);
	f->ctx = NULL;
	CHECK_EQ(left, emu_audit_left_total());
	/* build() made 10, then one RQ more; the fixture umem, UAR, PD, TD. */
	CHECK_EQ(left, 15);
	CHECK_EQ(objects_of(f), 0);
}

int
main(void)
{
	static struct fix f;

	fix_open(&f);
	test_busy(&f);
	fix_close(&f);
	fix_open(&f);
	test_uid_is_overwritten(&f);
	test_isolation(&f);
	fix_close(&f);
	fix_open(&f);
	test_close(&f);
	fix_close(&f);
	return fix_result("objects");
}
