/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues: every opcode and segment form, at every place of the ring, arrives unchanged. */
#include "rig.h"

#define FRAME_MAX 1500u

static uint8_t *
pattern(struct rig_port *p, const struct emu_dev *to, unsigned len, unsigned seed)
{
	uint8_t *f = rig_mem(p, len, 64);

	for (unsigned i = 0; i < len; i++)
		f[i] = (uint8_t)(i * 13 + seed * 101 + (i >> 8));
	memcpy(f, to->vport.mac, 6);
	f[12] = 0x88; /* an unknown ethertype */
	f[13] = 0xb5;
	return f;
}

/* One frame must have arrived, these bytes. */
static void
expect(struct rig_rx *rx, unsigned n, const uint8_t *frame, unsigned len)
{
	const struct prm_cqe64 *cqe = rig_cqe(rx->cq);
	unsigned index;

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return;
	CHECK_EQ(cqe->op_own >> 4, PRM_CQE_OPCODE_RESP_SEND);
	CHECK_EQ(be32toh(cqe->byte_cnt), len);
	CHECK_EQ(be16toh(cqe->wqe_counter), (uint16_t)n);
	index = be16toh(cqe->wqe_counter) & ((1u << rx->rq->log_size) - 1);
	CHECK(memcmp(rx->buf[index], frame, len) == 0);
	memset(rx->buf[index], 0xee, RIG_BUF_BYTES);
	rig_post(rx->rq, rx->buf[index], RIG_BUF_BYTES, rx->rq->port->lkey);
}

static void
expect_sent(struct rig_sq *s, uint16_t index, unsigned opcode)
{
	const struct prm_cqe64 *cqe = rig_cqe(s->cq);

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return;
	CHECK_EQ(cqe->op_own >> 4, PRM_CQE_OPCODE_REQ);
	CHECK_EQ(be16toh(cqe->wqe_counter), index);
	CHECK_EQ(be32toh(cqe->sop_drop_qpn), opcode << 24 | s->sq->obj.id);
	CHECK_EQ(be32toh(cqe->srqn_uidx) & 0xffffff, 0x123);
}

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
};

static struct bench
setup(unsigned log_sq)
{
	struct bench b = {.r = rig_new(2, NULL)};

	b.sq = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), log_sq);
	b.rx = rig_rx_new(&b.r->port[1], 6);
	return b;
}

static void
send_pointer(void)
{
	struct bench b = setup(6);
	struct emu_port_stats *tx = &b.r->port[0].dev->stats, *rx = &b.r->port[1].dev->stats;
	static const unsigned sizes[] = {14, 60, 64, 65, 127, 128, 512, 1500, 1518};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, sizes[i], i);
		uint16_t index = rig_send(b.sq, f, sizes[i]);

		rig_run(b.r);
		expect_sent(b.sq, index, PRM_WQE_OPCODE_SEND);
		expect(b.rx, i, f, sizes[i]);
	}
	CHECK(rig_cqe(b.sq->cq) == NULL);
	CHECK(rig_cqe(b.rx->cq) == NULL);
	CHECK_EQ(tx->tx_frames, 9);
	CHECK_EQ(rx->rx_frames, 9);
	CHECK_EQ(rx->rx_delivered_frames, 9);
	CHECK_EQ(tx->tx_bytes, rx->rx_bytes);
	CHECK_EQ(tx->doorbells, 9);
	CHECK_EQ(tx->dma_reads, 9);
	CHECK_EQ(tx->dma_read_bytes, tx->tx_bytes);
	CHECK_EQ(rx->dma_write_bytes, tx->tx_bytes);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* Inline header, inline segment, two pointers: all mixed, starting at every WQEBB of the ring. */
static void
send_mixed_everywhere(void)
{
	struct bench b = setup(4);
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, FRAME_MAX, 5);
	unsigned n = 0;

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned start = 0; start < 16; start++) {
			static const unsigned inl[] = {0, 2, 14, 18, 50, 120, 250};
			static const unsigned seg[] = {0, 1, 12, 13, 28, 100, 200};
			unsigned header = inl[(round + start) % 7], s = seg[(round * 3 + start) % 7];
			unsigned at = header, rest;
			uint16_t index;

			/* Move to the next place with a NOP of one WQEBB. */
			if (start % 2 == 1) {
				rig_wqe(b.sq, PRM_WQE_OPCODE_NOP, 0);
				rig_wqe_end(b.sq);
			}
			rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
			rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1, .inl = f, .inl_len = header});
			if (s != 0) {
				rig_wqe_inline(b.sq, f + at, s);
				at += s;
			}
			rest = 30 + round * 17 + start;
			rig_wqe_ptr(b.sq, f + at, rest / 2, b.sq->port->lkey);
			rig_wqe_ptr(b.sq, f + at + rest / 2, rest - rest / 2, b.sq->port->lkey);
			at += rest;
			index = rig_wqe_end(b.sq);
			rig_sq_record(b.sq);
			rig_sq_bell(b.sq);
			rig_run(b.r);
			expect_sent(b.sq, index, PRM_WQE_OPCODE_SEND);
			expect(b.rx, n++, f, at);
		}
	}
	CHECK(b.sq->pi > 64 * 5); /* the ring went round several times */
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* A frame that is wholly inline, longer than what is left before the ring's end. */
static void
send_inline_across_the_end(void)
{
	struct bench b = setup(4);
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 600, 9);
	unsigned n = 0;

	for (unsigned start = 0; start < 16; start++) {
		for (unsigned way = 0; way < 2; way++) {
			uint16_t index;

			while ((b.sq->pi & 15) != start) {
				rig_wqe(b.sq, PRM_WQE_OPCODE_NOP, 0);
				rig_wqe_end(b.sq);
				rig_sq_record(b.sq);
				rig_sq_bell(b.sq);
				rig_run(b.r);
			}
			rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
			rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1, .inl = f,
							    .inl_len = way ? 600 : 0});
			if (way == 0)
				rig_wqe_inline(b.sq, f, 600);
			index = rig_wqe_end(b.sq);
			rig_sq_record(b.sq);
			rig_sq_bell(b.sq);
			rig_run(b.r);
			expect_sent(b.sq, index, PRM_WQE_OPCODE_SEND);
			expect(b.rx, n++, f, 600);
		}
	}
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* One WQE, many frames: pointers and inline data in any order. */
static void
multi_packet(void)
{
	struct bench b = setup(5);
	uint8_t *f[8];
	unsigned len[8], n = 0;

	for (unsigned i = 0; i < 8; i++) {
		len[i] = 60 + i * 3;
		f[i] = pattern(&b.r->port[0], b.r->port[1].dev, len[i], 40 + i);
	}
	for (unsigned round = 0; round < 40; round++) {
		uint16_t index;

		rig_wqe(b.sq, PRM_WQE_OPCODE_ENHANCED_MPSW, RIG_CE_CQE);
		rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1});
		for (unsigned i = 0; i < 8; i++) {
			if ((round >> (i % 4) & 1) != 0)
				rig_wqe_inline(b.sq, f[i], len[i]);
			else
				rig_wqe_ptr(b.sq, f[i], len[i], b.sq->port->lkey);
		}
		index = rig_wqe_end(b.sq);
		rig_sq_record(b.sq);
		rig_sq_bell(b.sq);
		rig_run(b.r);
		expect_sent(b.sq, index, PRM_WQE_OPCODE_ENHANCED_MPSW);
		for (unsigned i = 0; i < 8; i++)
			expect(b.rx, n++, f[i], len[i]);
		CHECK(rig_cqe(b.rx->cq) == NULL);
	}
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* Completions only where requested; NOP completes too. */
static void
completion_modes(void)
{
	struct bench b = setup(6);
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 64, 1);
	uint16_t want[2];

	for (unsigned i = 0; i < 4; i++) {
		rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, (uint8_t)(i << 2));
		rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1});
		rig_wqe_ptr(b.sq, f, 64, b.sq->port->lkey);
		if (i >= 2)
			want[i - 2] = rig_wqe_end(b.sq);
		else
			rig_wqe_end(b.sq);
	}
	rig_sq_record(b.sq);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	expect_sent(b.sq, want[0], PRM_WQE_OPCODE_SEND);
	expect_sent(b.sq, want[1], PRM_WQE_OPCODE_SEND);
	CHECK(rig_cqe(b.sq->cq) == NULL);
	rig_wqe(b.sq, PRM_WQE_OPCODE_NOP, RIG_CE_CQE);
	want[0] = rig_wqe_end(b.sq);
	rig_sq_record(b.sq);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	expect_sent(b.sq, want[0], PRM_WQE_OPCODE_NOP);
	CHECK_EQ(b.r->port[1].dev->stats.rx_frames, 4);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* A record without a doorbell goes unmapped_page, as on a card; any store to the register does. */
static void
doorbell_is_needed(void)
{
	struct bench b = setup(6);
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 64, 1);
	volatile uint8_t *page = b.r->port[0].uar->page;
	static const unsigned reg[] = {0x800, 0x900, 0xa00, 0xb00};

	for (unsigned i = 0; i < 4; i++) {
		rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
		rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1});
		rig_wqe_ptr(b.sq, f, 64, b.sq->port->lkey);
		rig_wqe_end(b.sq);
		rig_sq_record(b.sq);
		CHECK_EQ(rig_run(b.r), 0);
		CHECK(rig_cqe(b.sq->cq) == NULL);
		*(volatile uint64_t *)(uintptr_t)(page + reg[i]) = b.sq->db;
		rig_run(b.r);
		CHECK(rig_cqe(b.sq->cq) != NULL);
	}
	/* A bell without a new record is no work and no fault. */
	rig_sq_bell(b.sq);
	CHECK_EQ(rig_run(b.r), 0);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* Two SQs on one page: one register keeps the last store only, both must run. */
static void
doorbell_page_is_shared(void)
{
	struct bench b = setup(6);
	struct rig_sq *other = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 6, 6), 6);
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 64, 1);

	for (unsigned i = 0; i < 10; i++) {
		rig_send(b.sq, f, 64);
		rig_send(other, f, 64); /* overwrites the first one's doorbell */
		rig_run(b.r);
		CHECK(rig_cqe(b.sq->cq) != NULL);
		CHECK(rig_cqe(other->cq) != NULL);
	}
	CHECK_EQ(b.r->port[1].dev->stats.rx_frames, 20);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* The ring of 2^n WQEBBs goes through the wrap of the 16-bit counter. */
static void
counter_wraps(void)
{
	struct bench b = setup(10);
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 64, 1);
	unsigned sent = 0;

	for (unsigned round = 0; round < 70; round++) {
		for (unsigned i = 0; i < 1023; i++) {
			rig_wqe(b.sq, PRM_WQE_OPCODE_NOP, 0);
			rig_wqe_end(b.sq);
		}
		sent++;
		rig_send(b.sq, f, 64);
		rig_run(b.r);
		CHECK(rig_cqe(b.sq->cq) != NULL);
		expect(b.rx, sent - 1, f, 64);
	}
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 70);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* The spoof check of a virtual function: the WQE completes, the frame is dropped. */
static void
spoof_check(void)
{
	struct bench b = setup(6);
	struct emu_dev *dev = b.r->port[0].dev;
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 64, 1);

	memcpy(f + 6, dev->vport.permanent_mac, 6);
	dev->vf = EMU_VF | EMU_VF_SPOOFCHK;
	rig_send(b.sq, f, 64);
	rig_run(b.r);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	f[11] ^= 1;
	rig_send(b.sq, f, 64);
	rig_run(b.r);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	CHECK_EQ(dev->stats.tx_spoofed, 1);
	CHECK_EQ(b.r->port[1].dev->stats.rx_frames, 1);
	dev->vf = EMU_VF;
	rig_send(b.sq, f, 64);
	rig_run(b.r);
	CHECK_EQ(b.r->port[1].dev->stats.rx_frames, 2);
	rig_free(b.r);
}

/* Switchdev mode: without a rule of the eswitch a frame completes and does not leave. */
static void
no_uplink_rule(void)
{
	struct bench b = setup(6);
	struct emu_dev *dev = b.r->port[0].dev;
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 64, 1);

	emu_eswitch_set(dev, emu_eswitch_mode(true, 0));
	rig_send(b.sq, f, 64);
	rig_run(b.r);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	CHECK_EQ(dev->stats.tx_unswitched, 1);
	CHECK_EQ(b.r->port[1].dev->stats.rx_frames, 0);
	/* That of the kernel for a raw packet QP of the uplink. */
	b.sq->sq->uplink = true;
	rig_send(b.sq, f, 64);
	rig_run(b.r);
	CHECK_EQ(dev->stats.tx_unswitched, 1);
	CHECK_EQ(b.r->port[1].dev->stats.rx_frames, 1);
	rig_free(b.r);
}

/* What no port may send: larger than the MTU, or with the link down. */
static void
discards(void)
{
	struct bench b = setup(6);
	uint8_t *f = pattern(&b.r->port[0], b.r->port[1].dev, 1519, 1);
	struct emu_port_stats *s = &b.r->port[0].dev->stats;

	rig_send(b.sq, f, 1519);
	rig_run(b.r);
	CHECK_EQ(s->tx_discards, 1);
	CHECK(rig_cqe(b.sq->cq) != NULL);
	emu_port_set_mtu(b.r->port[0].dev, 9000);
	rig_send(b.sq, f, 1519);
	rig_run(b.r);
	CHECK_EQ(s->tx_frames, 1);
	CHECK_EQ(b.r->port[1].dev->stats.rx_oversize, 1);
	CHECK_EQ(b.r->port[1].dev->stats.rx_frames, 0);
	emu_port_set_admin(b.r->port[0].dev, false);
	rig_send(b.sq, f, 64);
	rig_run(b.r);
	CHECK_EQ(s->tx_discards, 2);
	emu_port_set_admin(b.r->port[0].dev, true);
	emu_port_set_admin(b.r->port[1].dev, false);
	rig_send(b.sq, f, 64);
	rig_run(b.r);
	CHECK_EQ(b.r->port[1].dev->stats.rx_link_down, 1);
	rig_free(b.r);
}

/* A failed WQE: its completion, and the queue is ready again. */
static void
refused(struct bench *b, unsigned opcode, unsigned syndrome, unsigned vendor)
{
	const struct prm_err_cqe *e = rig_cqe_error(b->sq->cq, PRM_CQE_OPCODE_REQ_ERR);

	CHECK(e != NULL);
	if (e != NULL) {
		CHECK_EQ(e->syndrome, syndrome);
		CHECK_EQ(e->vendor_err_synd, vendor);
		CHECK_EQ(be32toh(e->s_wqe_opcode_qpn) >> 24, opcode);
	}
	CHECK_EQ(rig_sq_modify(b->sq, 3, 0), 0);
	memset(b->sq->dbrec, 0, 8);
	b->sq->pi = 0;
	CHECK_EQ(rig_sq_modify(b->sq, 0, 1), 0);
}

static void
go(struct bench *b)
{
	rig_wqe_end(b->sq);
	rig_sq_record(b->sq);
	rig_sq_bell(b->sq);
	rig_run(b->r);
}

/* Through VFIO the rig has no memory for its 12,868 pages. */
static const struct emu_profile *
connectx4_lx(void)
{
	static struct emu_profile p;

	p = *emu_profile_find("cx4lx");
	p.boot_pages = emu_profile_find("cx6dx")->boot_pages;
	p.init_pages = emu_profile_find("cx6dx")->init_pages;
	return &p;
}

/* ConnectX-4 Lx: 18 bytes inline in each SEND, legacy multi-packet WQEs, no enhanced ones, no VLAN insertion. */
static void
headers_inline(void)
{
	const struct rig_eth with = {.vlan = -1, .inl_len = 18}, without = {.vlan = -1};
	struct rig_eth eth = with;
	unsigned n = 0;
	struct bench b;
	uint8_t *f;

	rig_profile = connectx4_lx();
	b = setup(5);
	f = pattern(&b.r->port[0], b.r->port[1].dev, 200, 3);
	eth.inl = f;
	rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &eth);
	rig_wqe_ptr(b.sq, f + 18, 182, b.sq->port->lkey);
	go(&b);
	expect_sent(b.sq, 0, PRM_WQE_OPCODE_SEND);
	expect(b.rx, n++, f, 200);
	CHECK_EQ(rig_audit(b.r), 0);
	/* A completion of such a card: LOCAL_LENGTH_ERR, vendor 0x68. */
	rig_send(b.sq, f, 200);
	rig_run(b.r);
	refused(&b, PRM_WQE_OPCODE_SEND, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0x68);
	rig_wqe(b.sq, PRM_WQE_OPCODE_ENHANCED_MPSW, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &without);
	rig_wqe_ptr(b.sq, f, 200, b.sq->port->lkey);
	go(&b);
	CHECK(rig_cqe_error(b.sq->cq, PRM_CQE_OPCODE_REQ_ERR) != NULL);
	CHECK_EQ(b.r->port[0].dev->stats.tx_frames, 1);
	rig_free(b.r);
	rig_profile = NULL;
}

/* Legacy form: up to six frames of one length, which mss states. */
static void
multi_packet_legacy(void)
{
	struct bench b;
	uint8_t *f[7];
	unsigned n = 0;

	rig_profile = connectx4_lx();
	b = setup(5);
	for (unsigned i = 0; i < 7; i++)
		f[i] = pattern(&b.r->port[0], b.r->port[1].dev, 100, 60 + i);
	for (unsigned bad = 0; bad < 3; bad++) {
		unsigned frames = bad == 1 ? 7 : 6;
		uint16_t index;

		rig_wqe(b.sq, PRM_WQE_OPCODE_TSO, RIG_CE_CQE);
		b.sq->wqe[0] = 1; /* opc_mod */
		rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1, .mss = 100});
		for (unsigned i = 0; i < frames; i++)
			rig_wqe_ptr(b.sq, f[i], bad == 2 && i == 1 ? 99 : 100, b.sq->port->lkey);
		index = b.sq->pi;
		go(&b);
		for (unsigned i = 0; i < (bad == 2 ? 1 : 6); i++)
			expect(b.rx, n++, f[i], 100);
		if (bad == 0)
			expect_sent(b.sq, index, PRM_WQE_OPCODE_TSO);
		else
			refused(&b, PRM_WQE_OPCODE_TSO, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0x68);
		CHECK(rig_cqe(b.rx->cq) == NULL);
	}
	rig_free(b.r);
	rig_profile = NULL;
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"send_pointer", send_pointer},
		{"send_mixed_everywhere", send_mixed_everywhere},
		{"send_inline_across_the_end", send_inline_across_the_end},
		{"multi_packet", multi_packet},
		{"completion_modes", completion_modes},
		{"doorbell_is_needed", doorbell_is_needed},
		{"doorbell_page_is_shared", doorbell_page_is_shared},
		{"counter_wraps", counter_wraps},
		{"spoof_check", spoof_check},
		{"no_uplink_rule", no_uplink_rule},
		{"discards", discards},
		/* These commit violations. */
		{"headers_inline", headers_inline},
		{"multi_packet_legacy", multi_packet_legacy},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
