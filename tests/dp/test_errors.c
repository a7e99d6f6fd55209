/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the data path refuses: each fault's syndrome, the flush behind it, and the way back. */
#include "rig.h"

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	uint8_t *f;
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(2, NULL)};

	b.sq = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), 5);
	b.rx = rig_rx_new(&b.r->port[1], 6);
	b.f = rig_mem(&b.r->port[0], 2048, 64);
	memcpy(b.f, b.r->port[1].dev->vport.mac, 6);
	return b;
}

static void
begin(struct bench *b, uint8_t opcode)
{
	rig_wqe(b->sq, opcode, RIG_CE_CQE);
	rig_wqe_eth(b->sq, &(struct rig_eth){.vlan = -1});
}

static void
ring(struct bench *b)
{
	rig_sq_record(b->sq);
	rig_sq_bell(b->sq);
	rig_run(b->r);
}

/* ERR -> RST -> RDY, and one frame goes through. */
static void
recover(struct bench *b)
{
	unsigned before = (unsigned)b->r->port[1].dev->stats.rx_frames;

	CHECK_EQ(rig_sq_modify(b->sq, PRM_SQC_STATE_ERR, PRM_SQC_STATE_RST), 0);
	CHECK_EQ(rig_sq_modify(b->sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	b->sq->pi = 0;
	rig_run(b->r);
	CHECK(rig_cqe(b->sq->cq) == NULL);
	rig_send(b->sq, b->f, 64);
	rig_run(b->r);
	CHECK(rig_cqe(b->sq->cq) != NULL);
	CHECK_EQ(b->r->port[1].dev->stats.rx_frames, before + 1);
}

/* The WQE just ended fails with the syndrome; the good one behind it is flushed. */
static void
fails(struct bench *b, uint16_t index, uint8_t opcode, uint8_t syndrome)
{
	const struct prm_err_cqe *e;
	uint64_t violations = rig_audit(b->r);

	begin(b, PRM_WQE_OPCODE_SEND);
	rig_wqe_ptr(b->sq, b->f, 64, b->sq->port->lkey);
	rig_wqe_end(b->sq);
	ring(b);
	e = rig_cqe_error(b->sq->cq, PRM_CQE_OPCODE_REQ_ERR);
	if (e == NULL)
		return;
	CHECK_EQ(e->syndrome, syndrome);
	CHECK_EQ(be16toh(e->wqe_counter), index);
	CHECK_EQ(be32toh(e->s_wqe_opcode_qpn), (uint32_t)opcode << 24 | b->sq->sq->obj.id);
	e = rig_cqe_error(b->sq->cq, PRM_CQE_OPCODE_REQ_ERR);
	if (e != NULL)
		CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_WR_FLUSH_ERR);
	CHECK(rig_cqe(b->sq->cq) == NULL);
	CHECK_EQ(b->sq->sq->state, EMU_QS_ERR);
	CHECK_EQ(rig_audit(b->r), violations + 1);
	recover(b);
}

static void
bad_data_segments(void)
{
	struct bench b = setup();
	uint32_t lkey = b.sq->port->lkey;
	uint8_t *end = b.sq->port->arena + RIG_ARENA_BYTES;
	struct {
		const uint8_t *at;
		uint32_t len, lkey;
		uint8_t syndrome;
	} c[] = {
		{b.f, 64, lkey ^ 1, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},	     /* wrong variant */
		{b.f, 64, lkey + 0x100000, PRM_CQE_SYNDROME_LOCAL_PROT_ERR}, /* no such key */
		{b.f, 64, 0, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},
		{end - 63, 64, lkey, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},	      /* one byte too far */
		{b.sq->port->arena - 1, 64, lkey, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},
		{NULL, 64, lkey, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},
		{b.f, 64, b.r->port[1].lkey ^ 0xff00, PRM_CQE_SYNDROME_LOCAL_PROT_ERR},
		{b.f, 0, lkey, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},	      /* 0 is 2 GB */
		{b.f, 13, lkey, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},
		{b.f, 0x7fffffff, lkey, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},
		{b.f, 16385, lkey, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR},
	};

	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		begin(&b, PRM_WQE_OPCODE_SEND);
		rig_wqe_ptr(b.sq, c[i].at, c[i].len, c[i].lkey);
		fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_SEND, c[i].syndrome);
	}
	rig_free(b.r);
}

/* A key of another PD of the same context. */
static void
foreign_pd(void)
{
	struct bench b = setup();
	struct rig_port *p = &b.r->port[0];
	uint32_t in[4] = {htobe32(PRM_CMD_OP_ALLOC_PD << 16)};
	struct emu_mkey *mkey;
	struct emu_obj *pd;

	CHECK_EQ(rig_fw(p, in, sizeof(in), &pd), 0);
	CHECK_EQ(emu_mr_create(p->ctx, pd->id, rig_addr(p->arena), 65536, rig_addr(p->arena), 1,
			       &mkey), 0);
	begin(&b, PRM_WQE_OPCODE_SEND);
	rig_wqe_ptr(b.sq, p->arena, 64, emu_mkey_key(mkey));
	fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_SEND, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	rig_free(b.r);
}

static void
bad_control_segments(void)
{
	struct bench b = setup();

	for (unsigned i = 0; i < 6; i++) {
		uint8_t opcode = i == 3	  ? PRM_WQE_OPCODE_RDMA_WRITE
				 : i == 4 ? PRM_WQE_OPCODE_TSO
					  : PRM_WQE_OPCODE_SEND;
		uint16_t index;
		uint8_t *w;

		begin(&b, opcode);
		rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
		index = rig_wqe_end(b.sq);
		w = b.sq->ring + (index & 31) * 64u;
		if (i == 1)
			w[2] ^= 0x40; /* wqe_index */
		if (i == 2)
			w[6] ^= 0x01; /* qpn */
		if (i >= 4)
			w[0] = 2; /* opc_mod; 1 with TSO is the legacy multi-packet WQE */
		if (i != 0) {
			fails(&b, index, opcode, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
			continue;
		}
		ring(&b); /* the same WQE unspoilt works */
		CHECK(rig_cqe(b.sq->cq) != NULL);
	}
	rig_free(b.r);
}

/* Sizes that cannot be stepped over: everything behind is given up with it. */
static void
bad_sizes(void)
{
	static const uint8_t ds[] = {0, 63, 5};

	for (unsigned i = 0; i < 3; i++) {
		struct bench b = setup();
		const struct prm_err_cqe *e;

		begin(&b, PRM_WQE_OPCODE_SEND);
		rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
		rig_wqe_end(b.sq);
		b.sq->ring[7] = ds[i]; /* beyond the producer index */
		ring(&b);
		e = rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR);
		if (e != NULL)
			CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
		CHECK(rig_cqe(b.sq->cq) == NULL);
		CHECK_EQ(b.sq->sq->ci, b.sq->sq->hw_pi);
		recover(&b);
		rig_free(b.r);
	}
}

static void
bad_ethernet_and_inline(void)
{
	struct bench b = setup();
	uint16_t index;

	/* Inline header longer than the WQE. */
	begin(&b, PRM_WQE_OPCODE_SEND);
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	index = rig_wqe_end(b.sq);
	b.sq->ring[(index & 31) * 64 + 28] = 0x03;
	fails(&b, index, PRM_WQE_OPCODE_SEND, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	/* Inline segment longer than the WQE, also by so much that a sum would wrap. */
	for (unsigned i = 0; i < 2; i++) {
		begin(&b, PRM_WQE_OPCODE_SEND);
		rig_wqe_inline(b.sq, b.f, 60);
		index = rig_wqe_end(b.sq);
		memcpy(b.sq->ring + (index & 31) * 64 + 32, i ? "\xff\xff\xff\xff" : "\x80\0\0\x3d",
		       4);
		fails(&b, index, PRM_WQE_OPCODE_SEND, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	}
	/* Software parsing is not a capability. */
	begin(&b, PRM_WQE_OPCODE_SEND);
	b.sq->wqe[21] = 1;
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_SEND, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	/* No Ethernet segment at all. */
	rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_SEND, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	/* LSO without mss, and with a header that is not TCP. */
	rig_wqe(b.sq, PRM_WQE_OPCODE_TSO, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1, .inl = b.f, .inl_len = 54});
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_TSO, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	rig_wqe(b.sq, PRM_WQE_OPCODE_TSO, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1, .mss = 100, .inl = b.f, .inl_len = 54});
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_TSO, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	/* Multi-packet on an SQ that was not made for it. */
	b.sq->sq->allow_mpw = false;
	begin(&b, PRM_WQE_OPCODE_ENHANCED_MPSW);
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_ENHANCED_MPSW,
	      PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	b.sq->sq->allow_mpw = true;
	/* Multi-packet with one bad frame in the middle: those before it are sent already. */
	begin(&b, PRM_WQE_OPCODE_ENHANCED_MPSW);
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	rig_wqe_ptr(b.sq, b.f, 64, 0x77);
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	fails(&b, rig_wqe_end(b.sq), PRM_WQE_OPCODE_ENHANCED_MPSW, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	rig_free(b.r);
}

/* An SQ without TIS, as DPDK's mlx5_aso_sq_create() makes it, executes WQEs but sends no packet. */
static void
no_tis(void)
{
	struct bench b = setup();
	const struct prm_err_cqe *e;
	uint64_t violations = rig_audit(b.r);

	b.sq->sq->tis = NULL;
	rig_wqe(b.sq, PRM_WQE_OPCODE_NOP, RIG_CE_CQE);
	rig_wqe_end(b.sq);
	ring(&b);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	CHECK_EQ(rig_audit(b.r), violations);
	begin(&b, PRM_WQE_OPCODE_SEND);
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	rig_wqe_end(b.sq);
	ring(&b);
	e = rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR);
	if (e != NULL)
		CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	CHECK_EQ(rig_audit(b.r), violations + 1);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 0);
	rig_free(b.r);
}

static void
bad_producer(void)
{
	struct bench b = setup();
	const struct prm_err_cqe *e;
	uint64_t violations = rig_audit(b.r);

	begin(&b, PRM_WQE_OPCODE_SEND);
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	rig_wqe_end(b.sq);
	b.sq->dbrec[1] = htobe32(33); /* the ring has 32 */
	rig_sq_bell(b.sq);
	rig_run(b.r);
	e = rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR);
	if (e != NULL)
		CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 0);
	CHECK_EQ(rig_audit(b.r), violations + 1);
	recover(&b);
	/* Backwards. */
	b.sq->dbrec[1] = htobe32(0);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	CHECK(rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR) != NULL);
	recover(&b);
	/* A doorbell in the name of an SQ that is not there. */
	violations = rig_audit(b.r);
	b.sq->db = htobe64(0x0000000aull << 32 | 0x00dead04);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	CHECK_EQ(rig_audit(b.r), violations + 1);
	rig_free(b.r);
}

/* A ready queue does not run what the record still holds from before the reset. */
static void
reset_forgets(void)
{
	struct bench b = setup();
	struct rig_sq *other = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 6, 6), 5);

	rig_send(b.sq, b.f, 64);
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	/* Recorded, but the doorbell never came. */
	begin(&b, PRM_WQE_OPCODE_SEND);
	rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
	rig_wqe_end(b.sq);
	rig_sq_record(b.sq);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_RST), 0);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	b.sq->pi = 0;
	rig_send(other, b.f, 64); /* rings on the same page */
	rig_run(b.r);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 3);
	/* The first doorbell after the reset carries the same words as the very first one did. */
	rig_cqe(b.sq->cq);
	rig_cqe(b.sq->cq);
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 4);
	rig_free(b.r);
}

/* Rung just before the queue is reset or destroyed, looked at only afterwards. */
static void
late_doorbells(void)
{
	struct bench b = setup();
	struct rig_sq *other = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 6, 6), 5);
	uint64_t violations = rig_audit(b.r);
	uint8_t out[16];

	rig_send(b.sq, b.f, 64);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_RST), 0);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
	b.sq->pi = 0;
	rig_run(b.r);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 0);
	/* A neighbour's doorbell is not lost with it. */
	rig_send(other, b.f, 64);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_RST), 0);
	rig_run(b.r);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 1);
	/* To ERR: what was rung before is flushed. */
	rig_send(other, b.f, 64);
	CHECK_EQ(rig_sq_modify(other, PRM_SQC_STATE_RDY, PRM_SQC_STATE_ERR), 0);
	rig_run(b.r);
	CHECK(rig_cqe(other->cq) != NULL);
	CHECK(rig_cqe_error(other->cq, PRM_CQE_OPCODE_REQ_ERR) != NULL);
	rig_send(other, b.f, 64);
	CHECK_EQ(emu_fw_destroy(other->port->ctx, &other->sq->obj, out, sizeof(out)), 0);
	rig_run(b.r);
	CHECK_EQ(rig_audit(b.r), violations);
	rig_free(b.r);
}

/* ERR by command: what was posted is flushed, also later; ONLY_FIRST_ERR gives one completion. */
static void
flush_by_command(void)
{
	struct bench b = setup();

	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_ERR), 0);
	rig_send(b.sq, b.f, 64);
	rig_send(b.sq, b.f, 64);
	rig_run(b.r);
	for (unsigned i = 0; i < 2; i++) {
		const struct prm_err_cqe *e = rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR);

		if (e == NULL)
			break;
		CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_WR_FLUSH_ERR);
		CHECK_EQ(be16toh(e->wqe_counter), i);
	}
	CHECK(rig_cqe(b.sq->cq) == NULL);
	recover(&b);
	CHECK_EQ(rig_sq_modify(b.sq, PRM_SQC_STATE_RDY, PRM_SQC_STATE_ERR), 0);
	for (unsigned i = 0; i < 5; i++) {
		rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, PRM_WQE_CE_ONLY_FIRST_ERR << 2);
		rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1});
		rig_wqe_ptr(b.sq, b.f, 64, b.sq->port->lkey);
		rig_wqe_end(b.sq);
	}
	ring(&b);
	CHECK(rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR) != NULL);
	CHECK(rig_cqe(b.sq->cq) == NULL);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 1);
	rig_free(b.r);
}

/* A CQ that is full: error and event once, nothing overwritten, the queue stops. */
static void
cq_overrun(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_port *p = &r->port[0];
	struct rig_sq *sq = rig_sq_new(p, rig_cq_new(p, 2, 6), 6);
	uint8_t *f = rig_mem(p, 64, 64);
	uint64_t violations = rig_audit(r);

	for (unsigned i = 0; i < 6; i++)
		rig_send(sq, f, 64);
	rig_run(r);
	CHECK_EQ(p->cq_err_events, 1);
	CHECK_EQ(rig_audit(r), violations + 1);
	CHECK_EQ(sq->sq->state, EMU_QS_ERR);
	CHECK(sq->cq->cq->err);
	for (unsigned i = 0; i < 4; i++) {
		const struct prm_cqe64 *cqe = rig_cqe(sq->cq);

		CHECK(cqe != NULL && be16toh(cqe->wqe_counter) == i);
	}
	CHECK(rig_cqe(sq->cq) == NULL);
	rig_free(r);
}

/* The same ring used again and again: the owner bit turns with each pass, at both entry sizes. */
static void
cq_goes_round(void)
{
	for (unsigned log_cqe = 6; log_cqe <= 7; log_cqe++) {
		struct rig *r = rig_new(2, NULL);
		struct rig_port *p = &r->port[0];
		struct rig_sq *sq = rig_sq_new(p, rig_cq_new(p, 2, log_cqe), 6);
		uint8_t *f = rig_mem(p, 64, 64);

		for (unsigned i = 0; i < 40; i++) {
			const struct prm_cqe64 *cqe;

			rig_send(sq, f, 64);
			rig_run(r);
			cqe = rig_cqe(sq->cq);
			CHECK(cqe != NULL && be16toh(cqe->wqe_counter) == i);
			CHECK(rig_cqe(sq->cq) == NULL);
		}
		CHECK_EQ(rig_audit(r), 0);
		rig_free(r);
	}
}

/* A consumer index kept in 16 bits, as DPDK's mlx5 keeps the one of its send queues. */
static void
cq_consumer_of_16_bits(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_port *p = &r->port[0];
	struct rig_sq *sq = rig_sq_new(p, rig_cq_new(p, 3, 6), 6);

	for (unsigned i = 0; i < 140000; i++) {
		rig_wqe(sq, PRM_WQE_OPCODE_NOP, RIG_CE_CQE);
		rig_wqe_end(sq);
		rig_sq_record(sq);
		rig_sq_bell(sq);
		rig_run(r);
		if (rig_cqe(sq->cq) == NULL) {
			CHECK_EQ(i, 140000);
			break;
		}
		sq->cq->dbrec[0] = htobe32(sq->cq->ci & 0xffff);
	}
	CHECK_EQ(p->cq_err_events, 0);
	rig_free(r);
}

static void
cq_events(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_port *p = &r->port[0];
	struct rig_sq *sq = rig_sq_new(p, rig_cq_new(p, 6, 6), 6);
	struct rig_cq *quiet = rig_cq_new(p, 6, 6);
	struct rig_sq *sq2 = rig_sq_new(p, quiet, 6);
	uint8_t *f = rig_mem(p, 64, 64);

	rig_send(sq, f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 0); /* not armed */
	rig_cqe(sq->cq);
	/* The record alone arms nothing. */
	rig_cq_arm(sq->cq, 0, false, false);
	rig_run(r);
	rig_send(sq, f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 0);
	/* Armed with a completion already there: at once. */
	rig_cq_arm(sq->cq, 0, false, true);
	rig_run(r);
	CHECK_EQ(p->comp_events, 1);
	CHECK_EQ(p->last_event_obj, sq->cq->cq->obj.id);
	/* The same number again arms nothing; the next one does. */
	rig_cqe(sq->cq);
	rig_cq_arm(sq->cq, 0, false, true);
	rig_run(r);
	rig_send(sq, f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 1);
	rig_cqe(sq->cq);
	rig_cq_arm(sq->cq, 1, false, true);
	rig_run(r);
	CHECK_EQ(p->comp_events, 1);
	rig_send(sq, f, 64);
	rig_send(sq, f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 2); /* one event for both */
	rig_cqe(sq->cq);
	rig_cqe(sq->cq);
	/* Two CQs of one page, armed between two looks: the register holds the second only. */
	rig_cq_arm(sq->cq, 2, false, true);
	rig_cq_arm(quiet, 0, false, true);
	rig_run(r);
	rig_send(sq, f, 64);
	rig_send(sq2, f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 4);
	/* Solicited only: an error is. */
	rig_cqe(sq->cq);
	rig_cq_arm(sq->cq, 3, true, true);
	rig_run(r);
	rig_send(sq, f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 4);
	rig_send(sq, NULL, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 5);
	rig_free(r);
}

/* Orders that come before any queue uses the CQ, and whose words are no other than the record was. */
static void
cq_first_orders(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_port *p = &r->port[0];
	struct rig_sq *other = rig_sq_new(p, rig_cq_new(p, 6, 6), 6);
	struct rig_cq *cq[3];
	struct rig_sq *sq[3];
	uint8_t *f = rig_mem(p, 64, 64);

	for (unsigned i = 0; i < 3; i++)
		cq[i] = rig_cq_new(p, 6, 6);
	/* The last CQ has no subscriber: its arm word 0 is not a request. */
	cq[0]->cq->obj.subscribed = cq[1]->cq->obj.subscribed = true;
	rig_cq_arm(cq[0], 0, false, true);
	rig_cq_arm(cq[1], 0, false, true);
	rig_run(r);
	rig_cq_arm(other->cq, 0, false, true);
	rig_run(r);
	for (unsigned i = 0; i < 3; i++) {
		sq[i] = rig_sq_new(p, cq[i], 6);
		rig_send(sq[i], f, 64);
		rig_run(r);
		CHECK_EQ(p->comp_events, i < 2 ? i + 1 : 2);
	}
	/* Each order is for one event. */
	rig_send(sq[0], f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 2);
	rig_send(other, f, 64);
	rig_run(r);
	CHECK_EQ(p->comp_events, 3);
	rig_free(r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"cq_goes_round", cq_goes_round},
		{"reset_forgets", reset_forgets},
		{"bad_data_segments", bad_data_segments},
		{"foreign_pd", foreign_pd},
		{"bad_control_segments", bad_control_segments},
		{"bad_sizes", bad_sizes},
		{"bad_ethernet_and_inline", bad_ethernet_and_inline},
		{"no_tis", no_tis},
		{"bad_producer", bad_producer},
		{"late_doorbells", late_doorbells},
		{"flush_by_command", flush_by_command},
		{"cq_overrun", cq_overrun},
		{"cq_consumer_of_16_bits", cq_consumer_of_16_bits},
		{"cq_events", cq_events},
		{"cq_first_orders", cq_first_orders},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
