/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Connected queue pairs when something is wrong: the syndrome at each end, states, events. */
#include "rig_qp.h"

static struct rig *r;
static struct rig_port *p;
static struct rig_qp *a, *b;
static uint32_t rkey;
static uint8_t *buf;
static uint64_t violations_before; /* the ledger is the process' */

static void
begin(const struct rig_qp_attr *attr)
{
	violations_before = emu_audit_total();
	r = rig_new(1, "none");
	p = &r->port[0];
	rkey = rig_remote_key(p);
	a = rig_qp_new(p, attr);
	b = rig_qp_new(p, attr);
	rig_qp_connect(a, b, attr);
	buf = rig_mem(p, 65536, 64);
}

static void
end(uint64_t violations)
{
	CHECK_EQ(rig_audit(r) - violations_before, violations);
	CHECK(rig_cqe(a->scq) == NULL && rig_cqe(a->rcq) == NULL);
	CHECK(rig_cqe(b->scq) == NULL && rig_cqe(b->rcq) == NULL);
	rig_free(r);
}

/* Both ends as a card leaves them: requester and responder in ERR. */
static void
both_failed(bool responder)
{
	CHECK_EQ(a->qp->state, PRM_QPC_STATE_ERR);
	CHECK_EQ(b->qp->state, responder ? PRM_QPC_STATE_ERR : PRM_QPC_STATE_RTS);
}

static void
wqe_send(struct rig_qp *q, uint32_t len, uint32_t lkey)
{
	rig_wqe(q->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_ptr(q->sq, buf, len, lkey);
}

static void
wqe_remote(uint8_t opcode, const void *at, uint32_t key, uint32_t len)
{
	rig_wqe(a->sq, opcode, RIG_CE_CQE);
	rig_wqe_remote(a->sq, at, key);
	if (opcode == PRM_WQE_OPCODE_ATOMIC_FA)
		rig_wqe_atomic(a->sq, 1, 0);
	rig_wqe_ptr(a->sq, buf, len, rkey);
}

/* Nothing posted: so many tries, then the error. */
static void
test_not_ready(void)
{
	for (unsigned tries = 0; tries < 3; tries++) {
		uint64_t start;

		begin(&(struct rig_qp_attr){.rnr_retry = tries, .min_rnr_nak = 14});
		start = emu_mono_ns();
		wqe_send(a, 64, rkey);
		rig_qp_do(a);
		while (a->qp->state == PRM_QPC_STATE_RTS)
			rig_run(r);
		/* 1.28 ms a try */
		CHECK(emu_mono_ns() - start >= tries * 1280000ull);
		rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
		both_failed(false);
		end(0);
	}
}

static void
test_ready_later(void)
{
	begin(&(struct rig_qp_attr){.rnr_retry = 7, .min_rnr_nak = 1});
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	CHECK(rig_cqe(a->scq) == NULL);
	rig_post(b->rq, buf + 1024, 64, rkey);
	while (a->sq->sq->ci != a->sq->pi)
		rig_run(r);
	rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	end(0);
}

/* No opcode of a QP has a modifier. */
static void
test_opc_mod(void)
{
	static const uint8_t opcodes[] = {PRM_WQE_OPCODE_NOP, PRM_WQE_OPCODE_SEND,
					  PRM_WQE_OPCODE_ATOMIC_FA};

	for (unsigned i = 0; i < sizeof(opcodes); i++) {
		begin(&(struct rig_qp_attr){.retry_count = 1});
		rig_post(b->rq, buf + 1024, 64, rkey);
		wqe_remote(opcodes[i], buf, rkey, 8);
		a->sq->wqe[0] = 1;
		rig_qp_do(a);
		rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
		both_failed(false);
		end(1);
	}
}

/* A peer that does not answer: in the wrong state, with another number, destroyed. */
static void
test_no_answer(void)
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t start, ns;

		begin(&(struct rig_qp_attr){.retry_count = 1, .ack_timeout = 13});
		start = emu_mono_ns();
		rig_post(b->rq, buf, 64, rkey);
		if (i == 0)
			rig_qp_go(b, PRM_CMD_OP_2RST_QP, 0, NULL);
		if (i == 1)
			b->qp->remote_qpn++;
		if (i == 2)
			b->qp->next_rcv_psn++;
		if (i == 3)
			a->qp->path.rmac[5]++;
		wqe_send(a, 64, rkey);
		rig_qp_do(a);
		while (a->qp->state == PRM_QPC_STATE_RTS)
			rig_run(r);
		/* Two tries of 33.5 ms each; not many more, however slow the machine. */
		ns = emu_mono_ns() - start;
		CHECK(ns >= 2 * (4096ull << 13) && ns < 5000000000);
		rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR,
			     PRM_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
		end(0);
	}
}

static void
test_access(void)
{
	static const uint8_t opcodes[] = {PRM_WQE_OPCODE_RDMA_WRITE, PRM_WQE_OPCODE_RDMA_READ,
					  PRM_WQE_OPCODE_ATOMIC_FA};
	/* An unknown key, one without remote rights, one that is too short. */
	for (unsigned i = 0; i < 9; i++) {
		const uint8_t *at;
		uint32_t key;

		begin(&(struct rig_qp_attr){0});
		key = i / 3 == 0 ? rkey ^ 0xff : i / 3 == 1 ? p->lkey : rkey;
		at = i / 3 == 2 ? p->arena + RIG_ARENA_BYTES : buf + 4096;
		rig_post(b->rq, buf, 64, rkey);
		wqe_remote(opcodes[i % 3], at, key, 8);
		rig_qp_do(a);
		rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_REMOTE_ACCESS_ERR);
		/* What the responder had posted is flushed. */
		rig_qp_error(b->rcq, b, PRM_CQE_OPCODE_RESP_ERR, PRM_CQE_SYNDROME_WR_FLUSH_ERR);
		CHECK_EQ(p->events[PRM_EVENT_TYPE_WQ_ACCESS_ERROR], 1);
		CHECK_EQ(p->last_event_obj, b->qp->obj.id);
		both_failed(true);
		end(1);
	}
}

static void
test_forbidden(void)
{
	static const uint8_t opcodes[] = {PRM_WQE_OPCODE_RDMA_WRITE, PRM_WQE_OPCODE_RDMA_READ,
					  PRM_WQE_OPCODE_ATOMIC_FA};

	for (unsigned i = 0; i < 4; i++) {
		/* The last one is permitted, but not at an odd address. */
		begin(&(struct rig_qp_attr){.no_access = i < 3});
		wqe_remote(opcodes[i < 3 ? i : 2], buf + 4096 + (i == 3 ? 4 : 0), rkey, 8);
		rig_qp_do(a);
		rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR,
			     PRM_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
		CHECK_EQ(p->events[PRM_EVENT_TYPE_WQ_INVAL_REQ_ERROR], 1);
		both_failed(true);
		end(0);
	}
}

static void
test_receive_buffer(void)
{
	begin(&(struct rig_qp_attr){0});
	rig_post(b->rq, buf + 4096, 63, rkey);
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	rig_qp_error(b->rcq, b, PRM_CQE_OPCODE_RESP_ERR, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	CHECK_EQ(buf[4096], 0);
	both_failed(true);
	end(0);
	begin(&(struct rig_qp_attr){0});
	rig_post(b->rq, buf + 4096, 64, rkey ^ 1);
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	rig_qp_error(b->rcq, b, PRM_CQE_OPCODE_RESP_ERR, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_REMOTE_OP_ERR);
	both_failed(true);
	end(1);
}

/* What the requester's own WQE has wrong; the peer does not hear of it. */
static void
test_own_wqe(void)
{
	static const struct {
		uint8_t opcode;
		uint32_t len, flip;
		uint8_t syndrome;
	} bad[] = {
		{PRM_WQE_OPCODE_SEND, 64, 0x100, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},
		{PRM_WQE_OPCODE_SEND, 0, 0, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},
		{PRM_WQE_OPCODE_SEND, (1u << 20) + 1, 0, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},
		{PRM_WQE_OPCODE_UMR, 64, 0, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR},
		{PRM_WQE_OPCODE_LOCAL_INVAL, 64, 0, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR},
		{PRM_WQE_OPCODE_TSO, 64, 0, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR},
		{PRM_WQE_OPCODE_RDMA_READ, 0, 0, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},
		{PRM_WQE_OPCODE_RDMA_READ, 64, 0x100, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},
		{PRM_WQE_OPCODE_ATOMIC_FA, 16, 0, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(&(struct rig_qp_attr){0});
		rig_wqe(a->sq, bad[i].opcode, RIG_CE_CQE);
		if (bad[i].opcode >= PRM_WQE_OPCODE_RDMA_READ)
			rig_wqe_remote(a->sq, buf, rkey);
		if (bad[i].opcode == PRM_WQE_OPCODE_ATOMIC_FA)
			rig_wqe_atomic(a->sq, 1, 0);
		rig_wqe_ptr(a->sq, buf, bad[i].len, rkey ^ bad[i].flip);
		rig_qp_do(a);
		rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, bad[i].syndrome);
		both_failed(false);
		end(1);
	}
}

/* One error: everything behind it, and what is posted afterwards, is flushed in order. */
static void
test_flush(void)
{
	begin(&(struct rig_qp_attr){0});
	for (unsigned i = 0; i < 3; i++)
		rig_post(a->rq, buf, 64, rkey);
	wqe_send(a, 64, rkey ^ 1);
	for (unsigned i = 0; i < 3; i++) {
		rig_wqe_end(a->sq);
		wqe_send(a, 64, rkey);
	}
	rig_qp_do(a);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	for (unsigned i = 1; i < 4; i++) {
		const struct prm_err_cqe *cqe = rig_cqe_error(a->scq, PRM_CQE_OPCODE_REQ_ERR);

		CHECK(cqe != NULL && cqe->syndrome == PRM_CQE_SYNDROME_WR_FLUSH_ERR);
		CHECK_EQ(be16toh(cqe->wqe_counter), i);
	}
	for (unsigned i = 0; i < 3; i++)
		rig_qp_error(a->rcq, a, PRM_CQE_OPCODE_RESP_ERR, PRM_CQE_SYNDROME_WR_FLUSH_ERR);
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_WR_FLUSH_ERR);
	rig_post(a->rq, buf, 64, rkey);
	rig_run(r);
	rig_qp_error(a->rcq, a, PRM_CQE_OPCODE_RESP_ERR, PRM_CQE_SYNDROME_WR_FLUSH_ERR);
	end(1);
}

/* After reset both ends work as new ones. */
static void
test_again(void)
{
	struct rig_qp_attr attr = {0};

	begin(&attr);
	wqe_send(a, 64, rkey ^ 1);
	rig_qp_do(a);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	CHECK_EQ(rig_qp_go(a, PRM_CMD_OP_2RST_QP, 0, NULL), 0);
	CHECK_EQ(rig_qp_go(b, PRM_CMD_OP_2RST_QP, 0, NULL), 0);
	a->sq->pi = 0;
	memset(a->sq->dbrec, 0, 8);
	rig_qp_connect(a, b, &attr);
	rig_post(b->rq, buf, 64, rkey);
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND);
	end(1);
}

/* An error of a UD sender stops sending only and can be repaired (IBTA, SQE state). */
static void
test_datagram(void)
{
	struct rig_qp_attr attr = {.st = PRM_QPC_ST_UD, .q_key = 1};

	begin(&attr);
	for (unsigned i = 0; i < 3; i++) {
		/* Bad, flushed, good. */
		rig_post(b->rq, buf + 4096, 256, rkey);
		rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
		rig_wqe_av(a->sq, b->qp->obj.id, 1);
		rig_wqe_ptr(a->sq, buf, 64, i == 0 ? rkey ^ 1 : rkey);
		if (i == 2)
			CHECK_EQ(rig_qp_go(a, PRM_CMD_OP_SQERR2RTS_QP, 0, &attr), 0);
		rig_qp_do(a);
		if (i == 2)
			break;
		CHECK_EQ(a->qp->state, PRM_QPC_STATE_SQER);
		rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR,
			     i == 0 ? PRM_CQE_SYNDROME_LOCAL_PROT_ERR
				    : PRM_CQE_SYNDROME_WR_FLUSH_ERR);
	}
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND);
	end(1);
}

/* No room for the responder's completion: CQ and QP are done for. */
static void
test_overrun(void)
{
	begin(&(struct rig_qp_attr){0});
	/* The consumer does not update its index: the ring of 32 is full. */
	b->rcq->cq->pi += 32;
	rig_post(b->rq, buf + 4096, 64, rkey);
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_REMOTE_OP_ERR);
	CHECK_EQ(p->cq_err_events, 1);
	CHECK_EQ(p->events[PRM_EVENT_TYPE_WQ_CATAS_ERROR], 1);
	both_failed(true);
	end(1);
}

static void
test_producers(void)
{
	struct rig_qp_attr attr = {0};
	struct rig_srq *s;
	struct rig_qp *c;

	/* A receive producer beyond the ring. */
	begin(&attr);
	b->rq->dbrec[0] = htobe32(17);
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
	CHECK_EQ(p->events[PRM_EVENT_TYPE_WQ_CATAS_ERROR], 1);
	CHECK_EQ(b->qp->state, PRM_QPC_STATE_ERR);
	end(1);
	/* The same of a shared queue: the queue is lost, its QPs are not. */
	begin(&attr);
	s = rig_srq_new(p, 3, 0);
	attr.rmpn = s->srq->obj.id;
	c = rig_qp_new(p, &attr);
	rig_qp_connect(c, c, &attr);
	s->dbrec[0] = htobe32(9);
	wqe_send(c, 64, rkey);
	rig_qp_do(c);
	CHECK_EQ(p->events[PRM_EVENT_TYPE_SRQ_CATAS_ERROR], 1);
	CHECK(s->srq->error);
	rig_qp_error(c->scq, c, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
	end(1);
	/* A send producer beyond the ring. */
	attr.rmpn = 0;
	begin(&attr);
	wqe_send(a, 64, rkey);
	rig_wqe_end(a->sq);
	a->sq->pi = 40;
	rig_sq_record(a->sq);
	rig_sq_bell(a->sq);
	rig_run(r);
	rig_qp_error(a->scq, a, PRM_CQE_OPCODE_REQ_ERR, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	CHECK_EQ(a->qp->state, PRM_QPC_STATE_ERR);
	end(1);
}

/* Destroyed with work in every queue, and while a request waits. */
static void
test_destroy(void)
{
	begin(&(struct rig_qp_attr){.rnr_retry = 7, .min_rnr_nak = 31});
	wqe_send(a, 64, rkey);
	rig_qp_do(a);
	rig_post(a->rq, buf, 64, rkey);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t in[4] = {htobe32((uint32_t)PRM_CMD_OP_DESTROY_QP << 16), 0,
				  htobe32((i == 0 ? a : b)->qp->obj.id), 0};

		CHECK_EQ(rig_fw(p, in, sizeof(in), NULL), 0);
		rig_run(r);
	}
	end(0);
}

static const struct rig_test tests[] = {
	{"not ready", test_not_ready},
	{"ready later", test_ready_later},
	{"opc_mod", test_opc_mod},
	{"no answer", test_no_answer},
	{"access", test_access},
	{"forbidden", test_forbidden},
	{"receive buffer", test_receive_buffer},
	{"own wqe", test_own_wqe},
	{"flush", test_flush},
	{"again", test_again},
	{"datagram", test_datagram},
	{"overrun", test_overrun},
	{"producers", test_producers},
	{"destroy", test_destroy},
	{NULL, NULL},
};

int
main(int argc, char **argv)
{
	return rig_main(argc, argv, tests);
}
