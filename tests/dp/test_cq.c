/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Completion queues: moderation of events, resizing, padded entries, solicited events. */
#include "rig_qp.h"

static struct rig *r;
static struct rig_port *p;
static struct rig_qp *q;
static uint32_t rkey;
static uint8_t *buf;

static void
begin(void)
{
	struct rig_qp_attr attr = {0};

	r = rig_new(1, "none");
	p = &r->port[0];
	rkey = rig_remote_key(p);
	q = rig_qp_new(p, &attr);
	rig_qp_connect(q, q, &attr);
	buf = rig_mem(p, 8192, 64);
}

/* A message to itself: one completion in each CQ. */
static void
message(bool solicited)
{
	rig_post(q->rq, buf, 64, rkey);
	rig_wqe(q->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE | (solicited ? 2 : 0));
	rig_wqe_ptr(q->sq, buf + 4096, 64, rkey);
	rig_qp_do(q);
}

static int
modify(struct rig_cq *c, unsigned period_us, unsigned count)
{
	struct prm_modify_cq_in in = {0};
	struct prm_cqc *cqc = prm_modify_cq_in_cq_context(&in);

	prm_modify_cq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_CQ);
	prm_modify_cq_in_set_cqn(&in, c->cq->obj.id);
	in.dw[3] = htobe32(PRM_MODIFY_CQ_FIELD_PERIOD | PRM_MODIFY_CQ_FIELD_MAX_COUNT);
	prm_cqc_set_cq_period(cqc, period_us);
	prm_cqc_set_cq_max_count(cqc, count);
	return rig_fw(p, &in, sizeof(in), NULL);
}

static void
arm(struct rig_cq *c, unsigned sn, bool solicited)
{
	rig_cq_arm(c, sn, solicited, true);
	rig_run(r);
}

static void
test_count(void)
{
	begin();
	CHECK_EQ(modify(q->scq, 0, 3), 0);
	arm(q->scq, 0, false);
	for (unsigned i = 1; i <= 4; i++) {
		message(false);
		CHECK_EQ(p->comp_events, i >= 3);
		rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
	}
	/* Arming again restarts the count. */
	arm(q->scq, 1, false);
	for (unsigned i = 1; i <= 3; i++) {
		CHECK_EQ(p->comp_events, 1);
		message(false);
	}
	CHECK_EQ(p->comp_events, 2);
	rig_free(r);
}

static void
test_period(void)
{
	uint64_t start;

	begin();
	CHECK_EQ(modify(q->scq, 3000, 0), 0);
	arm(q->scq, 0, false);
	start = emu_mono_ns();
	message(false);
	while (p->comp_events == 0 && emu_mono_ns() - start < 1000000000)
		rig_run(r);
	CHECK(emu_mono_ns() - start >= 3000000 && p->comp_events == 1);
	/* Whichever comes first: the second completion, long before the period ends. */
	CHECK_EQ(modify(q->scq, 4095, 2), 0);
	rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
	arm(q->scq, 1, false);
	message(false);
	CHECK_EQ(p->comp_events, 1);
	message(false);
	CHECK_EQ(p->comp_events, 2);
	/* Destroyed while the period runs. */
	rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
	rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
	arm(q->scq, 2, false);
	message(false);
	rig_free(r);
}

static void
test_solicited(void)
{
	begin();
	arm(q->rcq, 0, true);
	arm(q->scq, 0, true);
	message(false);
	CHECK_EQ(p->comp_events, 0);
	/* The solicited bit of the sender wakes the receiver. */
	message(true);
	CHECK_EQ(p->comp_events, 1);
	CHECK_EQ(p->last_event_obj, q->rcq->cq->obj.id);
	rig_free(r);
}

static int
resize(struct rig_cq *c, uint8_t *ring, unsigned log_size)
{
	struct prm_modify_cq_in in = {0};
	struct prm_cqc *cqc = prm_modify_cq_in_cq_context(&in);

	prm_modify_cq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_CQ);
	prm_modify_cq_in_set_op_mod(&in, 1);
	prm_modify_cq_in_set_cqn(&in, c->cq->obj.id);
	in.dw[3] = htobe32(PRM_RESIZE_CQ_FIELD_LOG_CQ_SIZE | PRM_RESIZE_CQ_FIELD_UMEM);
	prm_modify_cq_in_set_cq_umem_id(&in, p->umem);
	prm_modify_cq_in_set_cq_umem_valid(&in, 1);
	prm_modify_cq_in_set_cq_umem_offset(&in, (uint64_t)(ring - p->arena));
	prm_cqc_set_log_cq_size(cqc, log_size);
	return rig_fw(p, &in, sizeof(in), NULL);
}

/*
 * Three completions stand in the old ring, then the mark of its end; further ones come into the
 * new ring at the place and with the owner bit that its size gives them.
 */
static void
test_resize(unsigned from, unsigned log_size)
{
	const struct prm_cqe64 *cqe;
	uint8_t *ring;

	begin();
	ring = rig_mem(p, 64u << log_size, 64);
	for (unsigned i = 0; i < 1u << log_size; i++)
		ring[64 * i + 63] = 0xf0;
	for (unsigned i = 0; i < from + 3; i++) {
		message(false);
		if (i < from) {
			rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
			rig_qp_cqe(q->rcq, q, PRM_CQE_OPCODE_RESP_SEND);
		}
	}
	CHECK_EQ(resize(q->scq, ring, log_size), 0);
	for (unsigned i = 0; i < 3; i++)
		rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
	cqe = rig_cqe(q->scq);
	CHECK(cqe != NULL && cqe->op_own >> 4 == PRM_CQE_OPCODE_RESIZE_CQ);
	CHECK(rig_cqe(q->scq) == NULL);
	q->scq->ring = ring;
	q->scq->log_size = log_size;
	for (unsigned i = 0; i < 3; i++) {
		message(false);
		rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
	}
	CHECK(rig_cqe(q->scq) == NULL);
	rig_free(r);
}

static void
test_grow(void)
{
	test_resize(0, 7);
	test_resize(40, 7);
}

static void
test_shrink(void)
{
	test_resize(0, 2);
	test_resize(30, 3);
	begin();
	/* Three outstanding ones and the mark do not fit into two entries. */
	for (unsigned i = 0; i < 3; i++)
		message(false);
	CHECK(resize(q->scq, rig_mem(p, 256, 64), 1) != 0);
	CHECK_EQ(q->scq->cq->log_size, 5);
	/* Nor has a full ring a place for the mark; it is as good as before. */
	for (unsigned i = 3; i < 32; i++)
		message(false);
	CHECK(resize(q->scq, rig_mem(p, 64 << 7, 64), 7) != 0);
	CHECK(!q->scq->cq->err && p->cq_err_events == 0);
	rig_qp_cqe(q->scq, q, PRM_CQE_OPCODE_REQ);
	CHECK_EQ(resize(q->scq, rig_mem(p, 64 << 7, 64), 7), 0);
	rig_free(r);
}

static void
test_padding(void)
{
	struct rig_cq *c;

	begin();
	c = rig_cq_new(p, 2, 7);
	for (unsigned pad = 0; pad < 2; pad++) {
		struct emu_cq *before = q->qp->sq.cq;

		c->cq->pad = pad;
		memset(c->ring, 0x55, 64);
		q->qp->sq.cq = c->cq;
		if (pad)
			c->cq->pi = 0;
		message(false);
		q->qp->sq.cq = before;
		CHECK_EQ(c->ring[0], pad ? 0 : 0x55);
		CHECK_EQ(c->ring[63], pad ? 0 : 0x55);
		CHECK_EQ(c->ring[127] >> 4, PRM_CQE_OPCODE_REQ);
	}
	rig_free(r);
}

static const struct rig_test tests[] = {
	{"count", test_count},	 {"period", test_period}, {"solicited", test_solicited},
	{"grow", test_grow},	 {"shrink", test_shrink}, {"padding", test_padding},
	{NULL, NULL},
};

int
main(int argc, char **argv)
{
	return rig_main(argc, argv, tests);
}
