/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Compressed completions. Two queues get the same packets, one of them in sessions: mbufs, counters, queue count and
 * descriptor status must agree, and no entry of the CQ may be taken for a completion of the next pass of the ring.
 */

#include "rig.h"

#define POOL 4096
#define BURST_MAX 96
#define OFFLOADS (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM)
#define HASH 1
#define FLOW_TAG 2
#define CSUM 3
#define L3_L4 4

static struct rte_mempool *pool;
static unsigned int comp; /* MLXPMD_RX_F_COMP, or 0: functions for queues without compression, which expand sessions. */
static const char *const formats[] = { "none", "hash", "flow tag", "checksum", "L3/L4" };

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

static struct rig_rx *
queue_new(uint8_t log_wqes, uint8_t log_segs, uint8_t format)
{
	struct rig_rx *r = rig_rx_new(log_wqes, log_segs, log_wqes, pool, OFFLOADS, NULL);

	CHECK(r != NULL, "no queue");
	r->rxq.mini_cqe = format;
	return r;
}

/* ---- the same packets with and without compression ---- */

enum { PLAIN, COMPRESSED, ARMS };
struct twins {
	uint8_t format;
	unsigned int f, lost;
	uint32_t seq, max_len;
	struct rig_rx *r[ARMS];
};

/* What all packets of a session have in common. */
static struct rig_rx_cqe
flow_random(const struct twins *t)
{
	struct rig_rx_cqe c = {
		.pkt_info = rig_random() & 3, .hds = rig_random() & 7, .etc = rig_random(), .vlan = rig_random(),
		.hash_type = t->format == HASH ? rig_random() % 2 * 0x44 : 0,
		.tag = rig_random() % 4 ? 0 : rig_random() & 0xffffff,
		/* The title's bytes of LRO, and a hash, stand where mini CQEs have their lengths. */
		.lro = { .window = 1 + rig_random() % 200 },
	};

	return c;
}

static void
session(struct twins *t, unsigned int n)
{
	struct rig_rx_cqe c = flow_random(t);
	struct rig_rx_session s;
	uint32_t len;
	bool had;

	rig_rx_session_begin(t->r[COMPRESSED], t->format, &s);
	for (; n != 0; n--, t->seq++) {
		c.hash = t->format == HASH ? rig_random() >> rig_random() % 4 * 8 : 0;
		if (t->format == FLOW_TAG)
			c.tag = rig_random() % 3 ? rig_random() & 0xffffff : 0;
		if (t->format == L3_L4)
			c.etc = rig_random();
		len = 1 + rig_random() % (rig_random() % 8 ? 200 : t->max_len);
		had = rig_rx_packet(t->r[PLAIN], t->seq, len, &c);
		CHECK(rig_rx_session_packet(t->r[COMPRESSED], &s, t->seq, len, &c) == had, "other WQEs are posted");
		if (!had)
			break;
	}
	rig_rx_session_end(t->r[COMPRESSED], &s);
}

/* A packet that is too long for its WQE. */
static void
too_long(struct twins *t)
{
	unsigned int i;

	if ((uint16_t)(t->r[PLAIN]->rxq.q.pi - t->r[PLAIN]->wqe_count) == 0)
		return;
	for (i = 0; i < ARMS; i++)
		rig_rx_error(t->r[i], 0x01, t->r[i]->wqe_count++);
	t->lost++;
}

static void
receive(struct twins *t, uint16_t n)
{
	struct rte_mbuf *pkts[ARMS][BURST_MAX];
	const uint16_t offset = rig_random() & t->r[PLAIN]->rxq.q.wqe_mask;
	uint16_t got[ARMS], i;
	int status[ARMS], count[ARMS];

	for (i = 0; i < ARMS; i++) {
		count[i] = mlxpmd_rx_queue_count(&t->r[i]->rxq);
		CHECK(rig_rx_awake(t->r[i]) == (count[i] != 0), "%d completions, other to who waits", count[i]);
		status[i] = mlxpmd_rx_descriptor_status(&t->r[i]->rxq, offset);
		got[i] = rig_rx_burst(t->r[i], t->f, pkts[i], n);
	}
	CHECK(count[PLAIN] == count[COMPRESSED], "%d completions, not %d", count[COMPRESSED], count[PLAIN]);
	CHECK(status[PLAIN] == status[COMPRESSED], "status %d of %u, not %d", status[COMPRESSED], offset, status[PLAIN]);
	CHECK(got[PLAIN] == got[COMPRESSED], "%u received, not %u", got[COMPRESSED], got[PLAIN]);
	for (i = 0; i < got[PLAIN] && i < got[COMPRESSED]; i++) {
		rig_rx_mbufs_compare(formats[t->format], pkts[PLAIN][i], pkts[COMPRESSED][i]);
		CHECK(*rte_pktmbuf_mtod(pkts[PLAIN][i], uint8_t *) ==
			      *rte_pktmbuf_mtod(pkts[COMPRESSED][i], uint8_t *), "other data");
	}
	for (i = 0; i < ARMS; i++)
		rte_pktmbuf_free_bulk(pkts[i], got[i]);
	rig_rx_entries_check(t->r[COMPRESSED]);
}

static void
twins_run(uint8_t format, unsigned int f, uint8_t log_wqes, uint8_t log_segs, unsigned int rounds)
{
	struct twins t = { .format = format, .f = f };
	const struct mlxpmd_queue_stats *a, *b;
	unsigned int k, i;

	t.r[PLAIN] = queue_new(log_wqes, log_segs, 0);
	t.r[COMPRESSED] = queue_new(log_wqes, log_segs, format);
	t.max_len = t.r[PLAIN]->rxq.len_max;
	while (rounds-- != 0) {
		for (k = rig_random() % 4; k != 0; k--) {
			if (rig_random() % 16 == 0)
				too_long(&t);
			session(&t, rig_random() % 8 ? 1 + rig_random() % (rig_random() % 2 ? 64 : 9) : 64);
		}
		receive(&t, rig_random() % 3 ? rig_random() % BURST_MAX : 32);
	}
	for (i = 0; i < 1u << log_wqes; i++)
		receive(&t, 32);
	a = &t.r[PLAIN]->rxq.q.stats;
	b = &t.r[COMPRESSED]->rxq.q.stats;
	CHECK(a->packets == t.seq && b->packets == t.seq && a->bytes == b->bytes, "%" PRIu64 " packets, not %u",
	      b->packets, t.seq);
	CHECK(b->errors == t.lost && b->cqe_bad == 0 && b->nombuf == 0, "%" PRIu64 " errors", b->errors);
	CHECK(a->l3_csum_bad == b->l3_csum_bad && a->l4_csum_bad == b->l4_csum_bad, "bad checksums");
	CHECK(t.seq > 8u << log_wqes, "%u packets", t.seq);
	for (i = 0; i < ARMS; i++)
		rig_rx_free(t.r[i]);
	home("twins");
}

static void
twins(void)
{
	uint8_t format;

	for (format = HASH; format <= L3_L4; format++) {
		twins_run(format, comp, 6, 0, 300);
		twins_run(format, comp | MLXPMD_RX_F_HASH, 6, 0, 300);
		twins_run(format, comp | MLXPMD_RX_F_HASH, 8, 0, 300);
		twins_run(format, MLXPMD_RX_F_SCATTER | MLXPMD_RX_F_HASH, 6, 1, 200);
	}
}

/* ---- every length of session, at every place of a small ring, read by bursts of every size ---- */

static void
places(void)
{
	static const uint16_t bursts[] = { 1, 3, 4, 7, 8, 9, 16, 32, 64 };
	struct rig_rx *r = queue_new(6, 0, HASH);
	struct rig_rx_cqe c = { .hash_type = 0x44, .hds = 7, .etc = 1 << 4 | 2 << 2 };
	uint32_t seq = 0, n, at, i, k, left;
	struct rte_mbuf *pkts[64];
	struct rig_rx_session s;
	uint16_t got;

	for (at = 0; at < 64 * 63; at++) {
		n = 1 + at % 63;
		rig_rx_session_begin(r, HASH, &s);
		for (i = 0; i < n && (c.hash = seq + i, rig_rx_session_packet(r, &s, seq + i, 60 + i, &c)); i++)
			;
		n = i;
		rig_rx_session_end(r, &s);
		for (left = n, i = 0; left != 0; left -= got) {
			got = rig_rx_burst(r, comp | MLXPMD_RX_F_HASH, pkts, bursts[at % RTE_DIM(bursts)]);
			CHECK(got == RTE_MIN(left, bursts[at % RTE_DIM(bursts)]), "%u of %u", got, left);
			if (got == 0 || got > left)
				break;
			for (k = 0; k < got; k++, i++)
				CHECK(rig_rx_match(r, pkts[k], seq + i, 60 + i) && pkts[k]->hash.rss == seq + i &&
				      (pkts[k]->ol_flags & RTE_MBUF_F_RX_RSS_HASH), "packet %u of %u", i, n);
			rte_pktmbuf_free_bulk(pkts, got);
			rig_rx_entries_check(r);
		}
		seq += n;
		CHECK(rig_rx_burst(r, comp | MLXPMD_RX_F_HASH, pkts, 32) == 0, "more than was sent");
		/* Also move by one, so that all places occur. */
		CHECK(rig_rx_packet(r, seq, 60, &c) && rig_rx_burst(r, comp, pkts, 8) == 1, "one packet");
		rte_pktmbuf_free(pkts[0]);
	}
	CHECK(seq > 60 * 64, "%u packets", seq);
	rig_rx_free(r);
	home("places");
}

/* The title of a session has the hash of the first packet: it must not become that of the others. */
static void
hash_lost(void)
{
	struct rig_rx_cqe c = { .hash_type = 0x44, .hash = 0x12345678 };
	struct rig_rx_session s;
	struct rte_mbuf *pkts[32];
	uint8_t format;
	unsigned int i;

	for (format = FLOW_TAG; format <= L3_L4; format++) {
		struct rig_rx *r = queue_new(6, 0, format);

		rig_rx_session_begin(r, format, &s);
		for (i = 0; i < 20; i++)
			CHECK(rig_rx_session_packet(r, &s, i, 60, &c), "no WQE");
		rig_rx_session_end(r, &s);
		CHECK_EQ(rig_rx_burst(r, comp | MLXPMD_RX_F_HASH, pkts, 32), 20);
		for (i = 0; i < 20; i++)
			CHECK(!(pkts[i]->ol_flags & RTE_MBUF_F_RX_RSS_HASH) == !(rig_enhanced && i == 0),
			      "%s: hash of packet %u", formats[format], i);
		rte_pktmbuf_free_bulk(pkts, 20);
		rig_rx_free(r);
	}
	home("hash_lost");
}

/* ---- titles that no device writes ---- */

struct bad_title {
	const char *what;
	uint32_t n;
	uint8_t format, op_own_or, op_own_and;
	uint16_t counter;	/* Added to the right one. */
};
static const struct bad_title bad_titles[] = {
	{ "no completion", 0, HASH, 0xc, 0xff, 0 },
	{ "one completion", 1, HASH, 0xc, 0xff, 0 },
	{ "more than are posted", 65, HASH, 0xc, 0xff, 0 },
	{ "huge", 0xffffffff, HASH, 0xc, 0xff, 0 },
	{ "counter of the next WQE", 8, HASH, 0xc, 0xff, 1 },
	{ "no compression", 8, 0, 0xc, 0xff, 0 },
	{ "format of 32 bytes of data", 8, HASH, 0x4, 0xff, 0 },
	{ "format of 64 bytes of data", 8, HASH, 0x8, 0xff, 0 },
	{ "opcode of a write", 8, HASH, 0xc, 0x0f, 0 },
};

static void
bad_title(const struct bad_title *b)
{
	struct rig_rx *r = queue_new(6, 0, b->format);
	struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[64];

	CHECK(rig_rx_packet(r, 1, 60, &c), "no WQE");
	rig_rx_cqe(r, b->n, r->wqe_count + b->counter, &c);
	r->cq[64 + 0x3f] = (r->cq[64 + 0x3f] & b->op_own_and) | b->op_own_or;
	CHECK(rig_rx_burst(r, comp, pkts, 64) == 1, "%s: delivered", b->what);
	CHECK(r->rxq.q.state == MLXPMD_QS_QUIESCED && r->rxq.q.cause == MLXPMD_CAUSE_BAD, "%s: state %u", b->what,
	      r->rxq.q.state);
	CHECK_EQ(r->rxq.q.stats.cqe_bad, 1);
	rte_pktmbuf_free(pkts[0]);
	rig_rx_free(r);
	home(b->what);
}

/*
 * A mini CQE of length 0 or beyond the buffer: no device writes one, so the rest of the session is refused. Packets of
 * arrays before it were delivered.
 */
static void
bad_length(uint32_t len, unsigned int at)
{
	struct rig_rx *r = queue_new(6, 0, HASH);
	struct rig_rx_cqe c = { 0 };
	struct rig_rx_session s;
	struct rte_mbuf *pkts[32];
	unsigned int i, got;

	rig_rx_session_begin(r, HASH, &s);
	for (i = 0; i < 20; i++)
		CHECK(rig_rx_session_packet(r, &s, i, 60, &c), "no WQE");
	for (i = 4; i < 8; i++)
		s.minis[at * 8 + i] = len >> (7 - i) * 8;
	rig_rx_session_end(r, &s);
	got = rig_rx_burst(r, comp, pkts, 32);
	/* The variant without functions for compressed completions expands sessions. */
	if (rig_enhanced)
		CHECK(got <= at && got + 7 > at, "%u packets before %u", got, at);
	else
		CHECK(got == 0 || got == at / 8 * 8, "%u packets before %u", got, at);
	for (i = 0; i < got; i++)
		CHECK(rig_rx_match(r, pkts[i], i, 60), "packet %u", i);
	CHECK(r->rxq.q.state == MLXPMD_QS_QUIESCED && r->rxq.q.cause == MLXPMD_CAUSE_BAD, "state %u",
	      r->rxq.q.state);
	CHECK_EQ(r->rxq.q.stats.cqe_bad, 1);
	rte_pktmbuf_free_bulk(pkts, got);
	rig_rx_free(r);
	home("bad_length");
}

/* ---- repair: sessions after the error completion are skipped, and their entries are absent in the next pass ---- */

static void
rewind_over(unsigned int before, unsigned int sessions, unsigned int n)
{
	struct rig_rx *r = queue_new(6, 0, HASH);
	struct rig_rx_cqe c = { .hash_type = 0x44 };
	struct rig_rx_session s;
	struct rte_mbuf *pkts[64];
	unsigned int i, k;

	for (i = 0; i < before; i++) {
		CHECK(rig_rx_packet(r, i, 60, &c) && rig_rx_burst(r, comp, pkts, 1) == 1, "before");
		rte_pktmbuf_free(pkts[0]);
	}
	rig_rx_error(r, 0x04, r->wqe_count);
	for (k = 0; k < sessions; k++) {
		rig_rx_session_begin(r, HASH, &s);
		for (i = 0; i < n; i++)
			CHECK(rig_rx_session_packet(r, &s, i, 60, &c), "no WQE");
		rig_rx_session_end(r, &s);
	}
	CHECK(rig_rx_burst(r, comp, pkts, 64) == 0 && r->rxq.q.state == MLXPMD_QS_QUIESCED, "state %u", r->rxq.q.state);
	CHECK_OK(mlxpmd_rxq_rewind(&r->rxq, false));
	CHECK_EQ(rte_be_to_cpu_32(r->dbrec[0]), r->cqe_count);
	rig_rx_entries_check(r);
	r->wqe_count = 0;
	mlxpmd_queue_ready(&r->rxq.q);
	for (k = 0; k < 10; k++) {
		for (i = 0; i < 31; i++)
			CHECK(rig_rx_packet(r, i, 60, &c), "no WQE after the repair");
		CHECK_EQ(rig_rx_burst(r, comp, pkts, 64), 31);
		for (i = 0; i < 31; i++)
			CHECK(rig_rx_match(r, pkts[i], i, 60), "packet %u", i);
		rte_pktmbuf_free_bulk(pkts, 31);
	}
	rig_rx_free(r);
	home("rewind_over");
}

/* After the error completion, a title with more completions than the ring has: nothing beyond the ring is written. */
static void
rewind_bad(void)
{
	struct rig_rx *r = queue_new(6, 0, HASH);
	const struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[64];

	rig_rx_error(r, 0x04, r->wqe_count);
	rig_rx_cqe(r, 66, r->wqe_count, &c);
	r->cq[64 + 0x3f] |= 0xc;
	CHECK(rig_rx_burst(r, comp, pkts, 64) == 0 && r->rxq.q.state == MLXPMD_QS_QUIESCED, "state %u", r->rxq.q.state);
	CHECK_OK(mlxpmd_rxq_rewind(&r->rxq, false));
	CHECK_EQ(rte_be_to_cpu_32(r->dbrec[0]), r->cqe_count);
	rig_rx_entries_check(r);
	rig_rx_free(r);
	home("rewind_bad");
}

/* ---- the enhanced layout ---- */

enum before { NOTHING, PACKET, ERROR };
struct bad_block {
	const char *what;
	enum before before;
	uint32_t n;
	uint8_t format;
};
static const struct bad_block bad_blocks[] = {
	{ "without a title", NOTHING, 7, HASH },
	{ "after an error", ERROR, 7, HASH },
	{ "of eight", PACKET, 8, HASH },
	{ "of nine", PACKET, 9, HASH },
	{ "without compression", PACKET, 7, 0 },
	{ "without a title, checksum", NOTHING, 7, CSUM },
	{ "after an error, flow tag", ERROR, 7, FLOW_TAG },
};

static void
bad_block(const struct bad_block *b)
{
	const uint8_t minis[64] = { [7] = 60, [15] = 60, [23] = 60, [31] = 60, [39] = 60, [47] = 60, [55] = 60 };
	const unsigned int errors = b->before == ERROR, packets = b->before == PACKET;
	struct rig_rx *r = queue_new(6, 0, b->format);
	const struct rig_rx_cqe c = { 0 };
	struct rte_mbuf *pkts[64];

	if (b->before == PACKET)
		CHECK(rig_rx_packet(r, 1, 60, &c), "no WQE");
	if (b->before == ERROR)
		rig_rx_error(r, 0x01, r->wqe_count++);
	rig_rx_block(r, minis, b->n);
	CHECK(rig_rx_burst(r, comp, pkts, 64) == packets, "block %s: delivered", b->what);
	CHECK(r->rxq.q.state == MLXPMD_QS_QUIESCED && r->rxq.q.cause == MLXPMD_CAUSE_BAD, "block %s: state %u", b->what,
	      r->rxq.q.state);
	CHECK(r->rxq.q.stats.cqe_bad == 1 && r->rxq.q.stats.errors == errors, "block %s: counters", b->what);
	rte_pktmbuf_free_bulk(pkts, packets);
	rig_rx_free(r);
	home(b->what);
}

/* A block with more completions than posted WQEs: the pool is empty, and all WQEs but three have completed. */
static void
beyond_posted(void)
{
	const uint8_t minis[64] = { [7] = 60, [15] = 60, [23] = 60, [31] = 60, [39] = 60, [47] = 60, [55] = 60 };
	struct rig_rx *r = queue_new(6, 0, HASH);
	struct rte_mbuf *pkts[64], *taken[POOL];
	const unsigned int left = rte_mempool_avail_count(pool);
	const struct rig_rx_cqe c = { 0 };
	unsigned int i;

	CHECK_OK(rte_pktmbuf_alloc_bulk(pool, taken, left));
	for (i = 0; i < 61; i++)
		CHECK(rig_rx_packet(r, i, 60, &c), "no WQE");
	CHECK_EQ(rig_rx_burst(r, comp, pkts, 61), 61);
	rig_rx_block(r, minis, 4);
	CHECK_EQ(rig_rx_burst(r, comp, pkts + 61, 3), 0);
	CHECK(r->rxq.q.state == MLXPMD_QS_QUIESCED && r->rxq.q.cause == MLXPMD_CAUSE_BAD, "state %u", r->rxq.q.state);
	rte_pktmbuf_free_bulk(pkts, 61);
	rte_pktmbuf_free_bulk(taken, left);
	rig_rx_free(r);
	home("beyond_posted");
}

/*
 * Entries that the device writes in the first pass only must not look written 256 passes later. In each other pass the
 * title is at the same place, or only before the first block: then it is overwritten by blocks.
 */
static void
stale(bool titles)
{
	struct rig_rx *r = queue_new(6, 0, HASH);
	const struct rig_rx_cqe c = { .hash_type = 0x44, .vlan = 7 };
	const unsigned int f = comp | MLXPMD_RX_F_HASH;
	struct rte_mbuf *pkts[64];
	struct rig_rx_session s;
	unsigned int pass, i, k;

	for (pass = 0; pass < 700; pass++) {
		for (i = 0; i < 64; i += k) {
			k = pass == 0 || (titles && i == 0) ? 1 : RTE_MIN(7u, 64 - i);
			rig_rx_session_begin(r, HASH, &s);
			for (unsigned int j = 0; j < k; j++)
				CHECK(rig_rx_session_packet(r, &s, i + j, 60 + i + j, &c), "no WQE");
			if (k == 1) {
				rig_rx_session_end(r, &s);
			} else {
				r->cqe_count -= k;
				rig_rx_block(r, s.minis, k);
			}
			/* The consumer index is written with a refill. */
			CHECK_EQ(rig_rx_burst(r, f, pkts, 64), k);
			for (unsigned int j = 0; j < k; j++)
				CHECK(rig_rx_match(r, pkts[j], i + j, 60 + i + j) && pkts[j]->vlan_tci == 7,
				      "pass %u, packet %u", pass, i + j);
			rte_pktmbuf_free_bulk(pkts, k);
			rig_rx_entries_check(r);
		}
	}
	CHECK_EQ(rig_rx_burst(r, f, pkts, 64), 0);
	rig_rx_free(r);
	home("stale");
}

static void
blocks(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad_blocks); i++)
		bad_block(&bad_blocks[i]);
	beyond_posted();
	stale(true);
	stale(false);
}

static void
invalid(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad_titles) && !rig_enhanced; i++)
		bad_title(&bad_titles[i]);
	for (i = rig_enhanced; i < 20; i++) {
		bad_length(0, i);
		bad_length(2049, i);
		bad_length(0x01000040, i);
		bad_length(0x80000000, i);
	}
	if (!rig_enhanced)
		rewind_bad();
	for (i = 0; i < 70; i += 3)
		rewind_over(i, 1 + i % 3, 2 + i % 14);
}

static void
all(void)
{
	twins();
	places();
	hash_lost();
	invalid();
}

int
main(void)
{
	rig_init();
	pool = rig_pool("comp", POOL, 64, 2048 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		rig_enhanced = false;
		for (comp = 0; comp <= MLXPMD_RX_F_COMP; comp += MLXPMD_RX_F_COMP)
			all();
		/* Functions for queues without compression test the owner bit. */
		rig_enhanced = true;
		comp = MLXPMD_RX_F_COMP;
		all();
		blocks();
	}
	return rig_end("rx_comp");
}
