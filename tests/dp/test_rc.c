/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Connected queue pairs: every operation, its data and the completions of both ends. */
#include "rig_qp.h"

static struct rig *r;
static struct rig_port *p;
static struct rig_qp *a, *b;
static uint32_t rkey;
static uint8_t *out, *in;

static void
fill(uint8_t *to, unsigned len, unsigned seed)
{
	for (unsigned i = 0; i < len; i++)
		to[i] = (uint8_t)(i * 7 + seed);
}

static void
begin(const struct rig_qp_attr *attr)
{
	r = rig_new(1, "none");
	p = &r->port[0];
	rkey = rig_remote_key(p);
	a = rig_qp_new(p, attr);
	b = rig_qp_new(p, attr);
	rig_qp_connect(a, b, attr);
	out = rig_mem(p, 65536, 64);
	in = rig_mem(p, 65536, 64);
	fill(out, 65536, 3);
}

static void
end(void)
{
	CHECK_EQ(rig_audit(r), 0);
	CHECK(rig_cqe(a->scq) == NULL && rig_cqe(a->rcq) == NULL);
	CHECK(rig_cqe(b->scq) == NULL && rig_cqe(b->rcq) == NULL);
	rig_free(r);
}

static void
put_imm(struct rig_qp *q, const char imm[4])
{
	memcpy(q->sq->wqe + 12, imm, 4);
}

static void
test_send(void)
{
	const struct prm_cqe64 *cqe;
	uint16_t index;

	begin(&(struct rig_qp_attr){0});
	rig_post(b->rq, in, 4096, rkey);
	rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_ptr(a->sq, out, 100, rkey);
	rig_wqe_ptr(a->sq, out + 1000, 3000, rkey);
	index = rig_qp_do(a);
	cqe = rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	CHECK_EQ(be16toh(cqe->wqe_counter), index);
	CHECK_EQ(be32toh(cqe->sop_drop_qpn) >> 24, PRM_WQE_OPCODE_SEND);
	cqe = rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND);
	CHECK_EQ(be32toh(cqe->byte_cnt), 3100);
	CHECK_EQ(be16toh(cqe->wqe_counter), 0);
	CHECK_EQ(cqe->imm_inval_pkey, 0);
	CHECK(be64toh(cqe->timestamp) != 0);
	CHECK(memcmp(in, out, 100) == 0 && memcmp(in + 100, out + 1000, 3000) == 0);
	CHECK_EQ(in[3100], 0);
	/* 3100 bytes are 4 packets of 1024: both counters wrapped. */
	CHECK_EQ(a->qp->next_send_psn, 2);
	CHECK_EQ(b->qp->next_rcv_psn, 2);
	/* The other direction, with immediate data, inline, into two buffers, unsignalled. */
	rig_post_segs(a->rq,
		      (struct prm_rq_wqe[]){{htobe32(3), htobe32(rkey), htobe64(rig_addr(in))},
					    {htobe32(64), htobe32(rkey), htobe64(rig_addr(in + 64))}},
		      2);
	rig_wqe(b->sq, PRM_WQE_OPCODE_SEND_IMM, 0);
	put_imm(b, "\1\2\3\4");
	rig_wqe_inline(b->sq, "hello world", 11);
	rig_qp_do(b);
	cqe = rig_qp_cqe(a->rcq, a, PRM_CQE_OPCODE_RESP_SEND_IMM);
	CHECK(memcmp(&cqe->imm_inval_pkey, "\1\2\3\4", 4) == 0);
	CHECK_EQ(be32toh(cqe->byte_cnt), 11);
	CHECK(memcmp(in, "hel", 3) == 0 && memcmp(in + 64, "lo world", 8) == 0);
	/* Nothing at all is a message too. */
	rig_post(a->rq, in, 64, rkey);
	rig_wqe(b->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_qp_do(b);
	CHECK_EQ(be32toh(rig_qp_cqe(a->rcq, a, PRM_CQE_OPCODE_RESP_SEND)->byte_cnt), 0);
	rig_qp_cqe(b->scq, b, PRM_CQE_OPCODE_REQ);
	end();
}

static void
test_write(void)
{
	const struct prm_cqe64 *cqe;

	begin(&(struct rig_qp_attr){0});
	rig_wqe(a->sq, PRM_WQE_OPCODE_RDMA_WRITE, RIG_CE_CQE);
	rig_wqe_remote(a->sq, in + 8, rkey);
	rig_wqe_ptr(a->sq, out, 5000, rkey);
	rig_qp_do(a);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	CHECK(memcmp(in + 8, out, 5000) == 0 && in[7] == 0 && in[5008] == 0);
	/* Immediate data takes a receive WQE, which stays unwritten. */
	rig_post(b->rq, in + 32768, 64, rkey);
	rig_wqe(a->sq, PRM_WQE_OPCODE_RDMA_WRITE_IMM, RIG_CE_CQE);
	put_imm(a, "abcd");
	rig_wqe_remote(a->sq, in + 9000, rkey);
	rig_wqe_ptr(a->sq, out, 77, rkey);
	rig_qp_do(a);
	cqe = rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_WR_IMM);
	CHECK_EQ(be32toh(cqe->byte_cnt), 77);
	CHECK(memcmp(&cqe->imm_inval_pkey, "abcd", 4) == 0);
	CHECK(memcmp(in + 9000, out, 77) == 0 && in[32768] == 0);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	/* From and to may overlap. */
	rig_wqe(a->sq, PRM_WQE_OPCODE_RDMA_WRITE, RIG_CE_CQE);
	rig_wqe_remote(a->sq, in + 9, rkey);
	rig_wqe_ptr(a->sq, in + 8, 5000, rkey);
	rig_qp_do(a);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	CHECK(memcmp(in + 9, out, 5000) == 0);
	/* An empty write touches no memory: its key is not looked at. */
	rig_wqe(a->sq, PRM_WQE_OPCODE_RDMA_WRITE, RIG_CE_CQE);
	rig_wqe_remote(a->sq, NULL, 0);
	rig_qp_do(a);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	end();
}

static void
test_read(void)
{
	const struct prm_cqe64 *cqe;

	begin(&(struct rig_qp_attr){0});
	rig_wqe(a->sq, PRM_WQE_OPCODE_RDMA_READ, RIG_CE_CQE);
	rig_wqe_remote(a->sq, out + 16, rkey);
	rig_wqe_ptr(a->sq, in, 10, rkey);
	rig_wqe_ptr(a->sq, in + 100, 2038, rkey);
	rig_qp_do(a);
	cqe = rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	CHECK_EQ(be32toh(cqe->byte_cnt), 2048);
	CHECK(memcmp(in, out + 16, 10) == 0 && memcmp(in + 100, out + 26, 2038) == 0);
	CHECK(in[10] == 0 && in[2138] == 0);
	/* Exactly two packets. */
	CHECK_EQ(a->qp->next_send_psn, 0);
	end();
}

static void
test_atomics(void)
{
	uint64_t *at, *old;

	begin(&(struct rig_qp_attr){0});
	at = (uint64_t *)in;
	old = (uint64_t *)(in + 64);
	*at = 40;
	rig_wqe(a->sq, PRM_WQE_OPCODE_ATOMIC_FA, RIG_CE_CQE);
	rig_wqe_remote(a->sq, at, rkey);
	rig_wqe_atomic(a->sq, 2, 0);
	rig_wqe_ptr(a->sq, old, 8, rkey);
	rig_qp_do(a);
	CHECK_EQ(be32toh(rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ)->byte_cnt), 8);
	CHECK(*old == 40 && *at == 42);
	for (unsigned i = 0; i < 2; i++) {
		/* The second one compares in vain. */
		rig_wqe(a->sq, PRM_WQE_OPCODE_ATOMIC_CS, RIG_CE_CQE);
		rig_wqe_remote(a->sq, at, rkey);
		rig_wqe_atomic(a->sq, 1000 + i, 42);
		rig_wqe_ptr(a->sq, old, 8, rkey);
		rig_qp_do(a);
		rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
		CHECK_EQ(*old, i == 0 ? 42 : 1000);
		CHECK_EQ(*at, 1000);
	}
	end();
}

/* Many messages through small rings: both wrap, inline data too. */
static void
test_wrap(void)
{
	uint8_t text[200];

	begin(&(struct rig_qp_attr){0});
	for (unsigned i = 0; i < 100; i++) {
		fill(text, sizeof(text), i);
		rig_post(b->rq, in, 256, rkey);
		rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
		rig_wqe_inline(a->sq, text, 100 + i);
		rig_qp_do(a);
		rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
		CHECK_EQ(be16toh(rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND)->wqe_counter), i);
		CHECK(memcmp(in, text, 100 + i) == 0);
	}
	end();
}

/* A QP connected to itself. */
static void
test_self(void)
{
	struct rig_qp *s;

	begin(&(struct rig_qp_attr){0});
	s = rig_qp_new(p, &(struct rig_qp_attr){0});
	rig_qp_connect(s, s, &(struct rig_qp_attr){0});
	rig_post(s->rq, in, 64, rkey);
	rig_wqe(s->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_ptr(s->sq, out, 64, rkey);
	rig_qp_do(s);
	rig_qp_cqe(s->scq, s, PRM_CQE_OPCODE_REQ);
	rig_qp_cqe(s->rcq, s, PRM_CQE_OPCODE_RESP_SEND);
	CHECK(memcmp(in, out, 64) == 0);
	end();
}

/* Two QPs take from one SRQ in its order; the limit event is raised once. */
static void
test_shared(void)
{
	struct rig_qp_attr attr = {0};
	struct rig_srq *s;
	struct rig_qp *c, *d;
	uint16_t want[3];

	begin(&attr);
	s = rig_srq_new(p, 3, 2);
	attr.rmpn = s->srq->obj.id;
	c = rig_qp_new(p, &attr);
	d = rig_qp_new(p, &attr);
	rig_qp_connect(c, d, &attr);
	for (unsigned i = 0; i < 3; i++)
		want[i] = rig_srq_post(s, in + 256 * i, 256, rkey);
	for (unsigned i = 0; i < 3; i++) {
		struct rig_qp *from = i & 1 ? c : d, *to = i & 1 ? d : c;

		CHECK_EQ(p->events[PRM_EVENT_TYPE_SRQ_RQ_LIMIT], i == 2);
		rig_wqe(from->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
		rig_wqe_ptr(from->sq, out + i, 200, rkey);
		rig_qp_do(from);
		rig_qp_cqe(from->scq, from, PRM_CQE_OPCODE_REQ);
		CHECK_EQ(be16toh(rig_qp_cqe(to->rcq, to, PRM_CQE_OPCODE_RESP_SEND)->wqe_counter),
			 want[i]);
		CHECK(memcmp(in + 256 * i, out + i, 200) == 0);
	}
	CHECK_EQ(p->events[PRM_EVENT_TYPE_SRQ_RQ_LIMIT], 1);
	/* The last-WQE event comes when the QP cannot take another WQE. */
	CHECK_EQ(rig_qp_go(c, PRM_CMD_OP_2ERR_QP, 0, NULL), 0);
	CHECK_EQ(p->events[PRM_EVENT_TYPE_SRQ_LAST_WQE], 1);
	end();
}

/* Unreliable: what cannot be delivered is lost, and the sender does not learn of it. */
static void
test_uc(void)
{
	struct rig_qp_attr attr = {.st = PRM_QPC_ST_UC};

	begin(&attr);
	rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_ptr(a->sq, out, 64, rkey);
	rig_qp_do(a);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	rig_post(b->rq, in, 64, rkey);
	rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_ptr(a->sq, out, 64, rkey);
	rig_qp_do(a);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND);
	CHECK(memcmp(in, out, 64) == 0);
	end();
}

static void
test_ud(void)
{
	struct rig_qp_attr attr = {.st = PRM_QPC_ST_UD, .q_key = 0x1234};
	const struct prm_cqe64 *cqe;
	uint8_t gid[16];

	begin(&attr);
	for (unsigned i = 0; i < 2; i++) {
		/* The first has a wrong key and is dropped. */
		rig_post(b->rq, in, 256, rkey);
		rig_wqe(a->sq, PRM_WQE_OPCODE_SEND_IMM, RIG_CE_CQE);
		put_imm(a, "wxyz");
		rig_wqe_av(a->sq, b->qp->obj.id, i == 0 ? 0x4321 : 0x1234);
		rig_wqe_ptr(a->sq, out, 100, rkey);
		rig_qp_do(a);
		rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	}
	cqe = rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND_IMM);
	CHECK_EQ(be32toh(cqe->byte_cnt), 140);
	CHECK_EQ(be32toh(cqe->flags_rqpn) & 0xffffff, a->qp->obj.id);
	CHECK_EQ(be32toh(cqe->flags_rqpn) >> 28 & 3, 1);
	CHECK(memcmp(&cqe->imm_inval_pkey, "wxyz", 4) == 0);
	CHECK(memcmp(in + 40, out, 100) == 0);
	(void)emu_port_gid(p->dev, 1, gid);
	CHECK(in[0] >> 4 == 6 && in[6] == 17 && in[7] == 9);
	CHECK(memcmp(in + 8, gid, 16) == 0 && memcmp(in + 24, gid, 16) == 0);
	/* To itself, by its own key. */
	rig_post(a->rq, in, 256, rkey);
	rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_av(a->sq, a->qp->obj.id, 0x80000000u);
	rig_wqe_ptr(a->sq, out, 1, rkey);
	rig_qp_do(a);
	rig_qp_cqe(a->rcq, a, PRM_CQE_OPCODE_RESP_SEND);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	end();
}

/* The receiver hears of its first message before it may send itself. */
static void
test_established(void)
{
	struct rig_qp_attr attr = {0};
	struct rig_qp *c, *d;

	begin(&attr);
	c = rig_qp_new(p, &attr);
	d = rig_qp_new(p, &attr);
	rig_qp_go(c, PRM_CMD_OP_RST2INIT_QP, d->qp->obj.id, &attr);
	rig_qp_go(c, PRM_CMD_OP_INIT2RTR_QP, d->qp->obj.id, &attr);
	rig_qp_go(c, PRM_CMD_OP_RTR2RTS_QP, d->qp->obj.id, &attr);
	rig_qp_go(d, PRM_CMD_OP_RST2INIT_QP, c->qp->obj.id, &attr);
	rig_post(d->rq, in, 64, rkey);
	rig_qp_go(d, PRM_CMD_OP_INIT2RTR_QP, c->qp->obj.id, &attr);
	for (unsigned i = 0; i < 2; i++) {
		rig_wqe(c->sq, PRM_WQE_OPCODE_RDMA_WRITE, RIG_CE_CQE);
		rig_wqe_remote(c->sq, in, rkey);
		rig_wqe_ptr(c->sq, out, 8, rkey);
		rig_qp_do(c);
		rig_qp_cqe(c->scq, c, PRM_CQE_OPCODE_REQ);
	}
	CHECK_EQ(p->events[PRM_EVENT_TYPE_COMM_EST], 1);
	CHECK_EQ(p->last_event_obj, d->qp->obj.id);
	end();
}

/* Sends bytes, which the CQE holds if they are not more than most. */
static void
send_short(unsigned bytes, unsigned most, unsigned format)
{
	const struct prm_cqe64 *cqe;
	const uint8_t *data;

	memset(in, 0, 256);
	rig_post(b->rq, in, 256, rkey);
	rig_wqe(a->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_ptr(a->sq, out, bytes, rkey);
	rig_qp_do(a);
	rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
	cqe = rig_qp_cqe(b->rcq, b, PRM_CQE_OPCODE_RESP_SEND);
	CHECK_EQ(be32toh(cqe->byte_cnt), bytes);
	CHECK_EQ(cqe->op_own >> 2 & 3, bytes <= most ? format : PRM_CQE_FORMAT_NO_INLINE);
	data = bytes > most ? in : (const uint8_t *)(most == 64 ? cqe - 1 : cqe);
	CHECK(memcmp(data, out, bytes) == 0);
	if (bytes <= most)
		CHECK_EQ(in[0] | in[bytes - 1], 0);
}

/* Reads bytes, which the CQE of a signalled WQE holds if they are not more than most. */
static void
read_short(unsigned bytes, unsigned most, unsigned format, unsigned ce)
{
	const struct prm_cqe64 *cqe;
	bool in_cqe = bytes <= most && ce == RIG_CE_CQE;

	memset(in, 0, 256);
	rig_wqe(a->sq, PRM_WQE_OPCODE_RDMA_READ, ce);
	rig_wqe_remote(a->sq, out, rkey);
	rig_wqe_ptr(a->sq, in, bytes, rkey);
	rig_qp_do(a);
	if (ce == RIG_CE_CQE) {
		cqe = rig_qp_cqe(a->scq, a, PRM_CQE_OPCODE_REQ);
		CHECK_EQ(cqe->op_own >> 2 & 3, in_cqe ? format : PRM_CQE_FORMAT_NO_INLINE);
		CHECK_EQ(be32toh(cqe->byte_cnt), bytes);
		if (in_cqe)
			CHECK(memcmp(most == 64 ? cqe - 1 : cqe, out, bytes) == 0);
	}
	CHECK_EQ(memcmp(in, out, bytes) == 0, !in_cqe);
}

/* cs_res: short messages come in the CQE, their receive buffers stay as they are. */
static void
test_short(void)
{
	begin(&(struct rig_qp_attr){.cs_res = 1});
	send_short(32, 32, PRM_CQE_FORMAT_INLINE_32);
	send_short(1, 32, PRM_CQE_FORMAT_INLINE_32);
	send_short(33, 32, PRM_CQE_FORMAT_INLINE_32);
	end();
	begin(&(struct rig_qp_attr){.cs_res = 2, .log_cqe = 7});
	send_short(64, 64, PRM_CQE_FORMAT_INLINE_64);
	send_short(65, 64, PRM_CQE_FORMAT_INLINE_64);
	end();
	begin(&(struct rig_qp_attr){.cs_req = 0x11});
	read_short(32, 32, PRM_CQE_FORMAT_INLINE_32, RIG_CE_CQE);
	read_short(33, 32, PRM_CQE_FORMAT_INLINE_32, RIG_CE_CQE);
	read_short(32, 32, PRM_CQE_FORMAT_INLINE_32, 0);
	end();
	begin(&(struct rig_qp_attr){.cs_req = 0x22, .log_cqe = 7});
	read_short(64, 64, PRM_CQE_FORMAT_INLINE_64, RIG_CE_CQE);
	read_short(65, 64, PRM_CQE_FORMAT_INLINE_64, RIG_CE_CQE);
	end();
	begin(&(struct rig_qp_attr){.cs_res = 2});
	send_short(8, 0, PRM_CQE_FORMAT_NO_INLINE);
	end();
}

static const struct rig_test tests[] = {
	{"send", test_send},	   {"write", test_write},   {"read", test_read},
	{"atomics", test_atomics}, {"wrap", test_wrap},	    {"self", test_self},
	{"shared", test_shared},   {"uc", test_uc},	    {"ud", test_ud},
	{"established", test_established}, {"short", test_short}, {NULL, NULL},
};

int
main(int argc, char **argv)
{
	return rig_main(argc, argv, tests);
}
