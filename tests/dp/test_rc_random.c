/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Queue pairs fed with random WQEs: nothing but the arena is ever touched, every signalled WQE
 * completes at most once, and after a reset the pair works. Under a sanitizer this is the search
 * for wild accesses; the seed is printed on failure.
 */
#include "rig_qp.h"

#define ROUNDS 3000u

static uint64_t state;

static uint32_t
rnd(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33);
}

static uint32_t
pick(const uint32_t *of, unsigned n)
{
	return of[rnd() % n];
}

/* A WQE of likely words, some of them wrong, of up to 8 segments. */
static void
post_send(struct rig_port *p, struct rig_qp *q, uint32_t rkey, uint8_t *buf)
{
	static const uint8_t opcodes[] = {
		PRM_WQE_OPCODE_NOP,	   PRM_WQE_OPCODE_SEND,	     PRM_WQE_OPCODE_SEND_IMM,
		PRM_WQE_OPCODE_RDMA_WRITE, PRM_WQE_OPCODE_RDMA_READ, PRM_WQE_OPCODE_RDMA_WRITE_IMM,
		PRM_WQE_OPCODE_ATOMIC_CS,  PRM_WQE_OPCODE_ATOMIC_FA, PRM_WQE_OPCODE_UMR,
	};
	const uint32_t words[] = {rkey, rkey, p->lkey, 0, 8, 64, 0x80000000u | (rnd() & 0xff),
				  rnd(), 1u << 20, (uint32_t)(rig_addr(buf) >> 32),
				  (uint32_t)rig_addr(buf), (uint32_t)rig_addr(buf) + 8 * (rnd() & 7)};
	unsigned segs = rnd() % 8;

	rig_wqe(q->sq, opcodes[rnd() % sizeof(opcodes)], RIG_CE_CQE);
	for (unsigned i = 0; i < segs; i++) {
		if (rnd() % 3 != 0) {
			rig_wqe_ptr(q->sq, buf + rnd() % 4096, rnd() % 300, rkey);
			continue;
		}
		if (rnd() % 2 != 0) {
			rig_wqe_remote(q->sq, buf + 8 * (rnd() % 512), rkey);
			continue;
		}
		for (unsigned w = 0; w < 4; w++) {
			uint32_t v = htobe32(pick(words, sizeof(words) / sizeof(words[0])));

			memcpy(q->sq->wqe + q->sq->len + 4 * w, &v, 4);
		}
		q->sq->len += 16;
	}
	rig_wqe_end(q->sq);
	/* Now and then the size in the ring is another. */
	if (rnd() % 16 == 0)
		q->sq->ring[((q->sq->pi - 1) & 15) * 64 + 7] = (uint8_t)rnd();
}

static void
post_recv(struct rig_qp *q, uint32_t rkey, uint8_t *buf)
{
	struct prm_rq_wqe seg[2] = {
		{htobe32(rnd() % 2 ? 4096 : rnd() % 200), htobe32(rnd() % 20 ? rkey : rnd()),
		 htobe64(rig_addr(buf + 8192 + rnd() % 4096))},
		{htobe32(rnd() % 2 ? 0 : 100), htobe32(rnd() % 2 ? rkey : PRM_WQE_LKEY_INVALID),
		 htobe64(rig_addr(buf))},
	};

	rig_post_segs(q->rq, seg, 2);
}

static unsigned
drain(struct rig_cq *c)
{
	unsigned n = 0;

	while (rig_cqe(c) != NULL)
		n++;
	return n;
}

static void
restart(struct rig_qp *q)
{
	CHECK_EQ(rig_qp_go(q, PRM_CMD_OP_2RST_QP, 0, NULL), 0);
	q->sq->pi = q->rq->pi = 0;
	memset(q->sq->dbrec, 0, 8);
}

static void
round_of(unsigned st, uint64_t seed)
{
	struct rig_qp_attr attr = {.st = st, .retry_count = 0, .ack_timeout = 1};
	struct rig *r = rig_new(1, "none");
	struct rig_port *p = &r->port[0];
	struct rig_qp *a = rig_qp_new(p, &attr), *b = rig_qp_new(p, &attr);
	uint32_t rkey = rig_remote_key(p);
	uint8_t *buf = rig_mem(p, 65536, 64);
	unsigned before = check_failures;

	state = seed;
	rig_qp_connect(a, b, &attr);
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned posted = 1 + rnd() % 2, done;

		for (unsigned k = rnd() % 4; k != 0; k--)
			post_recv(b, rkey, buf);
		for (unsigned k = 0; k < posted; k++)
			post_send(p, a, rkey, buf);
		rig_sq_record(a->sq);
		rig_sq_bell(a->sq);
		while (a->sq->sq->ci != a->sq->sq->hw_pi || rig_run(r) != 0)
			rig_run(r);
		done = drain(a->scq);
		drain(b->rcq);
		CHECK(done <= posted && done != 0);
		drain(a->rcq);
		drain(b->scq);
		restart(a);
		restart(b);
		rig_qp_connect(a, b, &attr);
	}
	if (check_failures != before)
		fprintf(stderr, "seed 0x%llx\n", (unsigned long long)seed);
	rig_free(r);
}

static void
test_rc(void)
{
	round_of(PRM_QPC_ST_RC, 0x1234);
}
static void
test_uc(void)
{
	round_of(PRM_QPC_ST_UC, 0x5678);
}
static void
test_ud(void)
{
	round_of(PRM_QPC_ST_UD, 0x9abc);
}

static const struct rig_test tests[] = {
	{"rc", test_rc}, {"uc", test_uc}, {"ud", test_ud}, {NULL, NULL},
};

int
main(int argc, char **argv)
{
	return rig_main(argc, argv, tests);
}
