/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Compressed completions, decoded by an independent reader that works on bytes: the result must equal
 * the CQEs of a CQ without compression for the same frames.
 */
#include "rig.h"

#define LOG_RING 7u
#define RING (1u << LOG_RING)
/** Layout of the tests that run. */
static bool enhanced;

enum { HASH, CSUM, FTAG, CSUM_STRIDE, L34, FORMATS };

/** One frame as a reader sees it. */
struct seen {
	uint32_t bytes, hash, tag;
	uint16_t vlan, csum, index;
	uint8_t headers, ok, tunnel;
};

static uint32_t
be(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static void
from_cqe(struct seen *s, const uint8_t *c)
{
	s->tunnel = c[0];
	s->hash = be(c + 12, 4);
	s->csum = (uint16_t)be(c + 20, 2);
	s->ok = c[28];
	s->headers = c[29];
	s->vlan = (uint16_t)be(c + 30, 2);
	s->bytes = be(c + 44, 4);
	s->tag = be(c + 57, 3);
	s->index = (uint16_t)be(c + 60, 2);
}

/* The title holds unless the mini CQE knows better. */
static void
from_mini(struct seen *s, const uint8_t *title, unsigned n, const uint8_t *m, unsigned format)
{
	from_cqe(s, title);
	s->index = (uint16_t)(s->index + n);
	s->bytes = be(m + 4, 4);
	if (format == HASH) {
		s->hash = be(m, 4);
	} else if (format == FTAG) {
		s->tag = (uint32_t)m[4] << 16 | be(m, 2);
		s->bytes &= 0xffffff;
	} else if (format == L34) {
		CHECK_EQ(m[1], 0);
		s->headers = m[0];
	} else {
		s->csum = (uint16_t)be(m, 2);
	}
}

static bool
owned(const uint8_t *c, uint32_t ci)
{
	return c[63] >> 4 != 15 && (c[63] & 1) == (ci >> LOG_RING & 1);
}

/* Enhanced layout: takes the completion, or the block, at ci. */
static unsigned
take_enhanced(struct rig_cq *q, unsigned format, struct seen *out)
{
	static uint8_t title[64];
	static unsigned since;
	uint32_t at = q->ci & (RING - 1);
	const uint8_t *c = q->ring + at * 64;
	unsigned n = 1;

	if (c[63] >> 4 == 15 || c[62] != (q->ci >> LOG_RING & 0xff))
		return 0;
	CHECK_EQ(c[63] & 1, q->ci >> LOG_RING & 1);
	if ((c[63] >> 2 & 3) == 3) {
		n = (c[63] >> 4) + 1;
		/* No block begins a pass, which net_mlx5's vector functions would read with an older title. */
		CHECK(n <= 7 && at != 0 && at + n <= RING && title[63] >> 4 == 2);
		CHECK_EQ(be(c + 60, 2), (uint16_t)(be(title + 60, 2) + since));
		for (unsigned i = 0; i < n; i++)
			from_mini(&out[i], title, since + i, c + i * 8, format);
		since += n;
	} else {
		from_cqe(out, c);
		memcpy(title, c, sizeof(title));
		since = 1;
	}
	q->ci += n;
	q->dbrec[0] = htobe32(q->ci & 0xffffff);
	return n;
}

/* Takes the completion, or the whole session, at ci; 0: nothing there. */
static unsigned
take(struct rig_cq *q, unsigned format, struct seen *out)
{
	uint32_t at = q->ci & (RING - 1);
	uint8_t *c = q->ring + at * 64;
	unsigned n = 1;

	if (enhanced)
		return take_enhanced(q, format, out);
	if (!owned(c, q->ci))
		return 0;
	if ((c[63] >> 2 & 3) == 3) {
		uint8_t title[64];

		memcpy(title, c, 64);
		n = be(title + 44, 4);
		CHECK(n >= 2 && n <= 64 && at + n <= RING);
		if (n < 2 || n > 64 || at + n > RING)
			return 0;
		for (unsigned i = 0; i < n; i++) {
			unsigned array = i < 8 ? 1 : i & ~7u;

			from_mini(&out[i], title, i, c + array * 64 + (i & 7) * 8, format);
		}
		/* What a program does so that nothing old is taken for new later. */
		for (unsigned i = 0; i < n; i++)
			c[i * 64 + 63] = 0xf0;
	} else {
		from_cqe(out, c);
	}
	q->ci += n;
	q->dbrec[0] = htobe32(q->ci & 0xffffff);
	return n;
}

/* Takes n completions: one session, or in the enhanced layout its title and a block. */
static unsigned
take_all(struct rig_cq *q, unsigned format, struct seen *out, unsigned n)
{
	unsigned got = 0, k;

	while (got < n && (k = take(q, format, out + got)) != 0) {
		CHECK(enhanced || k == n);
		got += k;
	}
	return got;
}

/** The same frames to a CQ that compresses (port 0) and to one that does not (port 1). */
struct both {
	struct rig *r;
	struct rig_cq *cq[2];
	struct rig_rq *rq[2];
	uint8_t *buf[2][RING];
	unsigned format, sent, got, sessions, largest;
	struct seen plain;
};

static void
both_new(struct both *b, unsigned format)
{
	static const uint8_t key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2};
	struct rig_hash h = {.l4 = 1, .fields = 0xf, .key = key};

	memset(b, 0, sizeof(*b));
	b->r = rig_new(2, "none");
	b->format = format;
	for (unsigned i = 0; i < 2; i++) {
		struct rig_port *p = &b->r->port[i];
		struct rig_tir_flow {
			uint32_t mask[16], value[16];
		} f = {.mask = {[1] = 0xffff}};
		struct emu_flow_attr a = {.has_tag = true};

		emu_port_set_carrier(p->dev, true);
		b->cq[i] = i == 0 ? rig_cq_new_comp(p, LOG_RING, format, enhanced)
				  : rig_cq_new(p, LOG_RING, 6);
		b->rq[i] = rig_rq_new(p, b->cq[i], LOG_RING, 4, 0);
		a.dest = &rig_tir_new(p, NULL, rig_rqt_new(p, &b->rq[i], 1), &h)->obj;
		/* IPv4 and IPv6 bear different marks. */
		for (unsigned v = 0; v < 2; v++) {
			f.value[1] = v == 0 ? 0x0800 : 0x86dd;
			a.tag = v == 0 ? 0x123456 : 0xabcdef;
			rig_flow(p, 1, f.mask, f.value, &a);
		}
		for (unsigned k = 0; k < RING; k++) {
			b->buf[i][k] = rig_mem(p, RIG_BUF_BYTES, 64);
			rig_post(b->rq[i], b->buf[i][k], RIG_BUF_BYTES, p->lkey);
		}
	}
}

static void
send(struct both *b, unsigned version, unsigned proto, unsigned payload, int vlan, unsigned flow)
{
	struct rig_frame f;

	rig_ip_frame(&f, b->r->port[0].dev, version, proto, payload, 0, vlan);
	f.data[f.len - payload - (proto == 17 ? 7 : 19)] = (uint8_t)flow;
	memcpy(f.data + f.len - 4, &b->sent, 4);
	if (flow % 5 != 4)
		rig_fix_checksums(&f, vlan >= 0 ? 18 : 14);
	emu_dp_ingress(b->r->port[0].dev, f.data, f.len);
	emu_dp_ingress(b->r->port[1].dev, f.data, f.len);
	b->sent++;
}

/* Compares the CQEs of one frame in both CQs; payload: its number at the end of the buffer. */
static void
compare(struct both *b, const struct seen *s)
{
	const struct prm_cqe64 *cqe = rig_cqe(b->cq[1]);
	unsigned slot = b->got & (RING - 1);
	uint32_t number;
	struct seen p;

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return;
	from_cqe(&p, (const uint8_t *)cqe);
	CHECK_EQ(s->bytes, p.bytes);
	CHECK_EQ(s->index, p.index);
	CHECK_EQ(s->tag, p.tag);
	CHECK_EQ(s->vlan, p.vlan);
	CHECK_EQ(s->headers, p.headers);
	CHECK_EQ(s->ok, p.ok);
	CHECK_EQ(s->tunnel, p.tunnel);
	if (b->format == HASH)
		CHECK_EQ(s->hash, p.hash);
	if (b->format == CSUM || b->format == CSUM_STRIDE)
		CHECK_EQ(s->csum, p.csum);
	memcpy(&number, b->buf[0][slot] + s->bytes - 4, 4);
	CHECK_EQ(number, b->got);
	for (unsigned i = 0; i < 2; i++)
		rig_post(b->rq[i], b->buf[i][slot], RIG_BUF_BYTES, b->r->port[i].lkey);
	b->got++;
}

static void
drain(struct both *b)
{
	struct seen s[64];
	unsigned n;

	emu_dp_poll(&b->r->m);
	while ((n = take(b->cq[0], b->format, s)) != 0) {
		b->sessions++;
		b->largest = n > b->largest ? n : b->largest;
		for (unsigned i = 0; i < n; i++)
			compare(b, &s[i]);
	}
	CHECK_EQ(b->got, b->sent);
}

static void
every_format(void)
{
	for (unsigned format = 0; format < FORMATS; format++) {
		struct both b;
		unsigned seed = 7;

		both_new(&b, format);
		for (unsigned round = 0; round < 400; round++) {
			unsigned n, kind;

			seed = seed * 1103515245 + 12345;
			n = seed >> 16 & 63;
			kind = seed >> 24 & 7;
			for (unsigned i = 0; i <= n; i++) {
				/* Mostly alike, now and then a stranger. */
				unsigned odd;

				seed = seed * 1103515245 + 12345;
				odd = seed >> 16 & 15;
				send(&b, kind & 1 || odd == 1 ? 6 : 4,
				     kind & 2 || odd == 2 ? 6 : 17,
				     20 + (seed >> 20 & 255), odd == 3 ? 77 : -1, odd);
			}
			drain(&b);
		}
		CHECK(enhanced ? b.largest == 7 : b.largest >= 8);
		CHECK(b.sessions < b.sent);
		CHECK_EQ(rig_audit(b.r), 0);
		rig_free(b.r);
	}
}

/* Uniform traffic: full sessions, none across the ring's end, and few writes. */
static void
sessions(void)
{
	struct emu_port_stats *st;
	struct both b;

	both_new(&b, HASH);
	st = &b.r->port[0].dev->stats;
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 100; i++)
			send(&b, 4, 17, 30, -1, i % 4);
		drain(&b);
	}
	CHECK_EQ(b.largest, enhanced ? 7 : 64);
	CHECK(st->cqes * 4 < b.sent);
	/* A frame alone is a plain CQE, or a block of one. */
	b.largest = 0;
	send(&b, 4, 17, 30, -1, 0);
	drain(&b);
	CHECK_EQ(b.largest, 1);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* Nothing is seen before the session ends; a command finds all that happened before it. */
static void
held_back(void)
{
	struct prm_query_cq_in in = {0};
	struct prm_query_cq_out out = {0};
	struct seen s[64];
	struct both b;

	both_new(&b, HASH);
	for (unsigned i = 0; i < 5; i++)
		send(&b, 4, 17, 30, -1, 0);
	/* In the enhanced layout the title is there at once. */
	CHECK_EQ(take(b.cq[0], HASH, s), enhanced);
	CHECK_EQ(take(b.cq[0], HASH, s), 0);
	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_CQ);
	prm_query_cq_in_set_cqn(&in, b.cq[0]->cq->obj.id);
	CHECK_EQ(emu_fw_exec(b.r->port[0].ctx, &in, sizeof(in), &out, sizeof(out), NULL), 0);
	CHECK_EQ(prm_cqc_get_producer_counter(prm_query_cq_out_cq_context(&out)), 5);
	CHECK_EQ(take(b.cq[0], HASH, s), enhanced ? 4 : 5);
	rig_free(b.r);
}

/* One event for the session, whenever the CQ was armed. */
static void
events(void)
{
	struct seen s[64];
	struct both b;

	both_new(&b, HASH);
	b.cq[0]->cq->obj.subscribed = true;
	rig_cq_arm(b.cq[0], 0, false, true);
	emu_dp_poll(&b.r->m);
	for (unsigned i = 0; i < 9; i++)
		send(&b, 4, 17, 30, -1, 0);
	CHECK_EQ(b.r->port[0].comp_events, enhanced);
	emu_dp_poll(&b.r->m);
	CHECK_EQ(b.r->port[0].comp_events, 1);
	CHECK_EQ(take_all(b.cq[0], HASH, s, 9), 9);
	rig_free(b.r);
}

/* An error ends the session and comes behind it. */
static void
errors(void)
{
	struct seen s[64];
	struct both b;

	both_new(&b, HASH);
	for (unsigned i = 0; i < 3; i++)
		send(&b, 4, 17, 30, -1, 0);
	rig_rq_modify(b.rq[0], PRM_RQC_STATE_RDY, PRM_RQC_STATE_ERR);
	CHECK_EQ(take_all(b.cq[0], HASH, s, 3), 3);
	for (unsigned i = 3; i < RING; i++)
		CHECK(rig_cqe_error(b.cq[0], PRM_CQE_OPCODE_RESP_ERR) != NULL);
	CHECK(rig_cqe(b.cq[0]) == NULL);
	rig_free(b.r);
}

/* The ring has no more room than it has places, however few the session will touch. */
static void
overrun(void)
{
	struct rig *r = rig_new(1, "none");
	struct rig_port *p = &r->port[0];
	struct rig_cq *cq = rig_cq_new_comp(p, 4, HASH, enhanced);
	struct rig_rq *rq = rig_rq_new(p, cq, 6, 4, 0);
	uint8_t *buf = rig_mem(p, 2048, 64);
	struct rig_frame f;

	emu_port_set_carrier(p->dev, true);
	rig_flow_all(p, rig_tir_new(p, rq, NULL, NULL), 0);
	rig_ip_frame(&f, p->dev, 4, 17, 30, 0, -1);
	for (unsigned i = 0; i < 40; i++)
		rig_post(rq, buf, 2048, p->lkey);
	for (unsigned i = 0; i < 17; i++)
		emu_dp_ingress(p->dev, f.data, f.len);
	emu_dp_poll(&r->m);
	CHECK(cq->cq->err);
	CHECK_EQ(cq->cq->pi, 16);
	CHECK_EQ(rig_audit(r), 1);
	emu_audit_reset();
	rig_free(r);
}

/* Two queues, one CQ: completions of both are never compressed together. */
static void
shared_cq(void)
{
	struct rig *r = rig_new(1, "none");
	struct rig_port *p = &r->port[0];
	struct rig_cq *cq = rig_cq_new_comp(p, LOG_RING, HASH, enhanced);
	struct rig_rq *rq[2];
	struct seen s[64];
	struct rig_frame f;

	emu_port_set_carrier(p->dev, true);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t mask[16] = {[1] = 0xffff}, value[16] = {[1] = i == 0 ? 0x0800 : 0x88b5};
		struct emu_flow_attr a = {0};

		rq[i] = rig_rq_new(p, cq, 6, 4, 0);
		a.dest = &rig_tir_new(p, rq[i], NULL, NULL)->obj;
		rig_flow(p, 1, mask, value, &a);
		for (unsigned k = 0; k < 32; k++)
			rig_post(rq[i], rig_mem(p, 2048, 64), 2048, p->lkey);
	}
	rig_ip_frame(&f, p->dev, 4, 17, 30, 0, -1);
	for (unsigned i = 0; i < 12; i++) {
		f.data[12] = i % 6 < 3 ? 0x08 : 0x88;
		f.data[13] = i % 6 < 3 ? 0x00 : 0xb5;
		emu_dp_ingress(p->dev, f.data, f.len);
	}
	emu_dp_poll(&r->m);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(take_all(cq, HASH, s, 3), 3);
	CHECK_EQ(take(cq, HASH, s), 0);
	rig_free(r);
}

/*
 * Enhanced layout: a title holds for many blocks, but not beyond a CQE that is no packet's, or a reset of the RQ. One
 * packet at a time is a block of one.
 */
static void
titles(void)
{
	struct seen s[64];
	struct both b;
	uint64_t cqes;

	both_new(&b, HASH);
	for (unsigned round = 0; round < 3 * 256 * RING / 50; round++) {
		b.sessions = 0;
		for (unsigned i = 0; i < 50; i++)
			send(&b, 4, 17, 30, -1, i % 4);
		drain(&b);
		/* 50 = 7 x 7 + 1, if the end of the ring does not come between. */
		CHECK(b.sessions >= 8 && b.sessions <= 9 + (round == 0));
	}
	cqes = b.r->port[0].dev->stats.cqes;
	for (unsigned i = 0; i < 3; i++) {
		send(&b, 4, 17, 30, -1, 0);
		drain(&b);
	}
	CHECK_EQ(b.r->port[0].dev->stats.cqes, cqes + 3);
	for (unsigned reset = 0; reset < 2; reset++) {
		send(&b, 4, 17, 30, -1, 0);
		emu_dp_poll(&b.r->m);
		CHECK_EQ(take(b.cq[0], HASH, s), 1);
		CHECK_EQ(b.cq[0]->ring[((b.cq[0]->ci - 1) & (RING - 1)) * 64 + 63] >> 2 & 3, reset == 0 ? 3 : 0);
		rig_rq_modify(b.rq[0], PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST);
		b.rq[0]->pi = 0;
		b.rq[0]->dbrec[0] = 0;
		rig_rq_modify(b.rq[0], PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY);
		for (unsigned k = 0; k < RING / 2; k++)
			rig_post(b.rq[0], b.buf[0][k], RIG_BUF_BYTES, b.r->port[0].lkey);
	}
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/*
 * Places that blocks skip are not written for 256 passes, and keep the number of the pass. The reader does not write
 * to the ring, as mlx5e and net_mlx5, and must find no old CQE.
 */
static void
stale(void)
{
	struct both b;

	both_new(&b, HASH);
	for (unsigned pass = 0; pass <= 2 * 256; pass++) {
		/* Every 256th pass comes one by one: each place is read before it is written. Blocks come between. */
		for (unsigned i = 0; i < RING; i++) {
			send(&b, 4, 17, 30, -1, 0);
			if (pass % 256 == 0 || i % 64 == 63)
				drain(&b);
		}
		CHECK_EQ(b.got, (pass + 1) * RING);
	}
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* The same in the enhanced layout, which only some cards have. */
static void
in_enhanced(void (*test)(void))
{
	char err[256];

	rig_profile = emu_profile_change(emu_profile_default(), "enhanced_cqe_compression=1", err, sizeof(err));
	CHECK(rig_profile != NULL);
	enhanced = true;
	test();
	enhanced = false;
	rig_profile = NULL;
}

#define TESTS(X) X(every_format) X(sessions) X(held_back) X(events) X(errors) X(overrun) X(shared_cq)
#define ENHANCED(name) \
	static void enhanced_##name(void) { in_enhanced(name); }
TESTS(ENHANCED)
ENHANCED(titles)
ENHANCED(stale)

int
main(int argc, char **argv)
{
#define ROW(name) {#name, name},
#define ENHANCED_ROW(name) {"enhanced_" #name, enhanced_##name},
	static const struct rig_test tests[] = {
		TESTS(ROW) TESTS(ENHANCED_ROW) ENHANCED_ROW(titles) ENHANCED_ROW(stale) {NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
