/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Compressed completions of striding queues. Two queues get the same packets, one of them in sessions: mbufs and
 * counters must agree. A session that contradicts itself stops the queue, and a repair skips the rest of it.
 */

#include "mlxpmd_mprq.h"
#include "rig.h"

#define POOL 2048
#define BURST_MAX 96
#define OFFLOADS (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM)
#define FEATURES (MLXPMD_RX_F_STRIDING | MLXPMD_RX_F_COMP | MLXPMD_RX_F_HASH)
/* As enum mdv_mini_cqe. */
#define HASH 1
#define FLOW_TAG 2
#define CSUM 3
#define L3_L4 4
#define CSUM_STRIDE 5

static struct rte_mempool *pool;
static const char *const formats[] = { "none", "hash", "flow tag", "checksum", "L3/L4", "checksum and stride" };

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

static struct rig_striding
queue_new(uint8_t log_wqes, uint8_t log_strides, uint8_t log_size, uint64_t offloads, uint8_t format)
{
	struct rig_striding c = rig_striding_new(pool, log_wqes, log_strides, log_size, 128, offloads, NULL);

	c.r->rxq.mini_cqe = format;
	return c;
}

static uint16_t
receive(struct rig_striding *c, struct rte_mbuf **pkts, uint16_t n)
{
	return rig_rx_burst(c->r, FEATURES, pkts, n);
}

static bool
data_is(const struct rte_mbuf *m, uint32_t seq, uint32_t len)
{
	uint32_t at = 0;

	if (m->pkt_len != len)
		return false;
	for (; m != NULL; at += m->data_len, m = m->next)
		if (memcmp(rte_pktmbuf_mtod(m, uint8_t *), rig_data(seq) + at, m->data_len) != 0)
			return false;
	return at == len;
}

/* ---- the same packets with and without compression ---- */

enum { PLAIN, COMPRESSED, ARMS };
struct twins {
	uint8_t format;
	uint32_t in, out, max_len, lens[4096];
	struct rig_striding c[ARMS];
};

static struct rig_rx_cqe
flow_random(const struct twins *t)
{
	return (struct rig_rx_cqe){
		.pkt_info = rig_random() & 3, .hds = rig_random() & 7, .etc = rig_random(), .vlan = rig_random(),
		.hash_type = t->format == HASH ? rig_random() % 2 * 0x44 : 0,
		.tag = rig_random() % 4 ? 0 : rig_random() & 0xffffff,
	};
}

/* A filler has no other place for its fields than the title's: those of the packet after it, in all formats. */
static void
session(struct twins *t, unsigned int n)
{
	struct rig_rx_cqe head = flow_random(t);
	unsigned int i;
	uint32_t len;
	bool had;

	t->c[COMPRESSED].crosses = rig_random() % 4 == 0;
	rig_striding_session_begin(&t->c[COMPRESSED], t->format);
	for (; n != 0 && t->in - t->out < RTE_DIM(t->lens); n--) {
		head.hash = t->format == HASH ? rig_random() : 0;
		if (t->format == FLOW_TAG)
			head.tag = rig_random() % 3 ? rig_random() & 0xffffff : 0;
		if (t->format == L3_L4)
			head.etc = rig_random();
		len = 1 + rig_random() % (rig_random() % 8 ? 200 : t->max_len);
		for (i = 0; i < ARMS; i++)
			t->c[i].head = head;
		had = rig_striding_packet(&t->c[PLAIN], t->in, len);
		CHECK(rig_striding_packet(&t->c[COMPRESSED], t->in, len) == had, "other strides are posted");
		if (!had)
			break;
		t->lens[t->in++ % RTE_DIM(t->lens)] = len;
	}
	rig_striding_session_end(&t->c[COMPRESSED]);
}

static void
twins_receive(struct twins *t, uint16_t n)
{
	struct rte_mbuf *pkts[ARMS][BURST_MAX];
	const uint16_t offset = rig_random() & t->c[PLAIN].r->rxq.q.cqe_mask;
	int status[ARMS], count[ARMS];
	uint16_t got[ARMS], i, k;

	for (i = 0; i < ARMS; i++) {
		count[i] = mlxpmd_rx_queue_count(&t->c[i].r->rxq);
		status[i] = mlxpmd_rx_descriptor_status(&t->c[i].r->rxq, offset);
		got[i] = receive(&t->c[i], pkts[i], n);
	}
	CHECK(count[PLAIN] == count[COMPRESSED], "%d completions, not %d", count[COMPRESSED], count[PLAIN]);
	CHECK(status[PLAIN] == status[COMPRESSED], "status %d of %u, not %d", status[COMPRESSED], offset, status[PLAIN]);
	CHECK(got[PLAIN] == got[COMPRESSED], "%s: %u received, not %u", formats[t->format], got[COMPRESSED], got[PLAIN]);
	for (i = 0; i < got[PLAIN] && i < got[COMPRESSED]; i++, t->out++) {
		/* Dropped ones are those that do not fit an mbuf. */
		while (t->out != t->in && pkts[PLAIN][i]->pkt_len != t->lens[t->out % RTE_DIM(t->lens)])
			t->out++;
		rig_rx_mbufs_compare(formats[t->format], pkts[PLAIN][i], pkts[COMPRESSED][i]);
		CHECK(pkts[PLAIN][i]->buf_len == pkts[COMPRESSED][i]->buf_len, "other buffer");
		for (k = 0; k < ARMS; k++)
			CHECK(data_is(pkts[k][i], t->out, t->lens[t->out % RTE_DIM(t->lens)]), "packet %u", t->out);
	}
	for (i = 0; i < ARMS; i++)
		rte_pktmbuf_free_bulk(pkts[i], got[i]);
	rig_rx_entries_check(t->c[COMPRESSED].r);
}

static void
twins_run(uint8_t format, uint8_t log_wqes, uint8_t log_strides, uint8_t log_size, uint32_t max_len, bool scatter)
{
	const uint64_t offloads = OFFLOADS | (scatter ? RTE_ETH_RX_OFFLOAD_SCATTER : 0);
	struct twins t = { .format = format, .max_len = max_len };
	const struct mlxpmd_queue_stats *a, *b;
	unsigned int round, k, i;

	t.c[PLAIN] = queue_new(log_wqes, log_strides, log_size, offloads, 0);
	t.c[COMPRESSED] = queue_new(log_wqes, log_strides, log_size, offloads, format);
	for (round = 0; round < 250; round++) {
		for (k = rig_random() % 4; k != 0; k--)
			session(&t, 1 + rig_random() % (rig_random() % 2 ? 64 : 9));
		twins_receive(&t, rig_random() % 3 ? rig_random() % BURST_MAX : 32);
	}
	for (i = 0; i < 4u << log_wqes; i++)
		twins_receive(&t, 64);
	a = &t.c[PLAIN].r->rxq.q.stats;
	b = &t.c[COMPRESSED].r->rxq.q.stats;
	CHECK(a->packets + a->nombuf == t.in && a->packets == b->packets && a->bytes == b->bytes,
	      "%" PRIu64 " packets, not %u", b->packets, t.in);
	CHECK(b->errors == 0 && b->cqe_bad == 0 && a->nombuf == b->nombuf, "%" PRIu64 " bad", b->cqe_bad);
	CHECK((a->nombuf != 0) == (!scatter && max_len > 2048), "%" PRIu64 " dropped", a->nombuf);
	CHECK(a->l3_csum_bad == b->l3_csum_bad && a->l4_csum_bad == b->l4_csum_bad, "bad checksums");
	CHECK(t.in > 8u << log_wqes && (max_len <= 1u << log_size || t.c[PLAIN].fillers != 0), "%u packets", t.in);
	for (i = 0; i < ARMS; i++)
		rig_striding_free(&t.c[i]);
	home("twins");
}

/* ---- every length of session from every stride and entry on, read by bursts of every size ---- */

static void
places(uint8_t format)
{
	static const uint16_t bursts[] = { 1, 3, 4, 7, 8, 9, 16, 64 };
	struct rig_striding c = queue_new(2, 3, 11, OFFLOADS, format);
	uint32_t seq = 0, n, at, i, k, left;
	struct rte_mbuf *pkts[64];
	uint16_t got;

	c.crosses = true;
	for (at = 0; at < 32 * 24; at++) {
		n = 1 + at % 23;
		rig_striding_session_begin(&c, format);
		for (i = 0; i < n; i++)
			CHECK(rig_striding_packet(&c, seq + i, 60 + i * 20), "no stride");
		rig_striding_session_end(&c);
		for (left = n, i = 0; left != 0; left -= got) {
			got = receive(&c, pkts, bursts[at % RTE_DIM(bursts)]);
			CHECK(got == RTE_MIN(left, bursts[at % RTE_DIM(bursts)]), "%s: %u of %u", formats[format], got, left);
			if (got == 0 || got > left)
				break;
			for (k = 0; k < got; k++, i++)
				CHECK(data_is(pkts[k], seq + i, 60 + i * 20), "packet %u of %u", i, n);
			rte_pktmbuf_free_bulk(pkts, got);
			rig_rx_entries_check(c.r);
		}
		seq += n;
		CHECK_EQ(receive(&c, pkts, 32), 0);
		if (c.r->rxq.q.state != MLXPMD_QS_READY)
			break;
	}
	rig_striding_free(&c);
	home("places");
}

/* The mempool has fewer mbufs than the session has packets: the others wait. */
static void
starved(void)
{
	struct rig_striding c = queue_new(1, 3, 11, OFFLOADS, HASH);
	struct rte_mbuf *pkts[16];
	unsigned int i, got;

	rig_striding_session_begin(&c, HASH);
	for (i = 0; i < 8; i++)
		CHECK(rig_striding_packet(&c, i, 100), "no stride");
	rig_striding_session_end(&c);
	rig_pool_leave(pool, 3);
	got = receive(&c, pkts, 16);
	/* Of blocks that are expanded one after the other, those that a burst did not reach lack none yet. */
	CHECK(got <= 3 && c.r->rxq.q.stats.nombuf >= (rig_enhanced ? 1 : 5), "%u received, %" PRIu64 " missing", got,
	      c.r->rxq.q.stats.nombuf);
	rig_pool_release(pool);
	got += receive(&c, pkts + got, 16 - got);
	CHECK_EQ(got, 8);
	for (i = 0; i < got; i++)
		CHECK(data_is(pkts[i], i, 100), "packet %u", i);
	rte_pktmbuf_free_bulk(pkts, got);
	rig_striding_free(&c);
	home("starved");
}

/* ---- sessions that no device writes, and what is left after the repair ---- */

static void
repaired(struct rig_striding *c)
{
	struct rte_mbuf *pkts[64];
	unsigned int i, k, n;

	c->r->rxq.q.state = MLXPMD_QS_REPAIR;
	CHECK_OK(mlxpmd_mprq_rewind(&c->r->rxq, false));
	CHECK_EQ(rte_be_to_cpu_32(c->r->dbrec[0]), c->r->cqe_count);
	rig_rx_entries_check(c->r);
	c->r->wqe_count = c->used = 0;
	mlxpmd_queue_ready(&c->r->rxq.q);
	for (k = 0; k < 10; k++) {
		rig_striding_session_begin(c, c->r->rxq.mini_cqe);
		for (i = 0; i < 11; i++)
			CHECK(rig_striding_packet(c, i, 200), "no stride after the repair");
		rig_striding_session_end(c);
		n = receive(c, pkts, 64);
		CHECK_EQ(n, 11);
		for (i = 0; i < n; i++)
			CHECK(data_is(pkts[i], i, 200), "packet %u", i);
		rte_pktmbuf_free_bulk(pkts, n);
		rig_rx_entries_check(c->r);
	}
}

/* Mini CQE `at` of twenty has another stride index or byte count: the packets before it are delivered. */
struct bad_mini {
	const char *what;
	uint8_t formats;	/* Bits. */
	uint8_t from, bytes;
	uint32_t value;
};
#define INDEXED (1 << FLOW_TAG | 1 << L3_L4 | 1 << CSUM_STRIDE)
#define COUNTED (1 << HASH | 1 << CSUM | 1 << L3_L4 | 1 << CSUM_STRIDE)
static const struct bad_mini bad_minis[] = {
	{ "a stride beyond the WQE", INDEXED, 2, 2, 32 },
	{ "the last stride", INDEXED, 2, 2, 31 },
	{ "an impossible stride", INDEXED, 2, 2, 0xffff },
	{ "no byte", COUNTED, 4, 4, 1 << 16 },
	{ "longer than its stride", COUNTED, 4, 4, 1 << 16 | 2049 },
	{ "no stride", COUNTED, 4, 4, 60 },
	{ "more strides than the WQE has", COUNTED, 4, 4, 33 << 16 | 60 },
	{ "a filler without strides", COUNTED, 4, 4, 0x80000000 },
	{ "a filler of more than the WQE", COUNTED, 4, 4, 0x80210000 },
};

static void
bad_mini(const struct bad_mini *b, uint8_t format, unsigned int at)
{
	struct rig_striding c = queue_new(1, 5, 11, OFFLOADS, format);
	struct rte_mbuf *pkts[32];
	unsigned int i, n;

	rig_striding_session_begin(&c, format);
	for (i = 0; i < 20; i++)
		CHECK(rig_striding_packet(&c, i, 60), "no stride");
	for (i = 0; i < b->bytes; i++)
		c.session.minis[at * 8 + b->from + i] = b->value >> (b->bytes - 1 - i) * 8;
	rig_striding_session_end(&c);
	/* A session after it, which is not read before the repair. */
	rig_striding_session_begin(&c, format);
	for (i = 0; i < 9; i++)
		CHECK(rig_striding_packet(&c, i, 60), "no stride");
	rig_striding_session_end(&c);
	n = receive(&c, pkts, 32);
	CHECK(n == at, "%s, %s: %u of %u packets", b->what, formats[format], n, at);
	for (i = 0; i < n; i++)
		CHECK(data_is(pkts[i], i, 60), "packet %u", i);
	rte_pktmbuf_free_bulk(pkts, n);
	CHECK(c.r->rxq.q.state == MLXPMD_QS_QUIESCED && c.r->rxq.q.cause == MLXPMD_CAUSE_BAD, "%s: state %u", b->what,
	      c.r->rxq.q.state);
	CHECK_EQ(c.r->rxq.q.stats.cqe_bad, 1);
	repaired(&c);
	rig_striding_free(&c);
	home(b->what);
}

/* A session that is right but for one byte of the title or of a mini CQE, which follows `before` packets. */
static void
bad_byte(const char *what, uint8_t format, unsigned int packets, unsigned int at, uint8_t bits, unsigned int before)
{
	struct rig_striding c = queue_new(1, 5, 11, OFFLOADS, format);
	struct rte_mbuf *pkts[32];
	unsigned int i, n;

	rig_striding_session_begin(&c, format);
	for (i = 0; i < packets; i++)
		CHECK(rig_striding_packet(&c, i, 60), "no stride");
	rig_striding_session_end(&c);
	c.r->cq[at] ^= bits;
	/* The burst ends in the session, whose rest is one of its own, or one completion. */
	n = receive(&c, pkts, 8);
	CHECK(n == before, "%s, %s: %u packets", what, formats[format], n);
	rte_pktmbuf_free_bulk(pkts, n);
	CHECK_EQ(receive(&c, pkts, 8), 0);
	CHECK(c.r->rxq.q.state == MLXPMD_QS_QUIESCED && c.r->rxq.q.cause == MLXPMD_CAUSE_BAD, "%s, %s: state %u", what,
	      formats[format], c.r->rxq.q.state);
	repaired(&c);
	rig_striding_free(&c);
	home(what);
}

static const struct bad_title {
	const char *what;
	uint32_t n;
	uint8_t format;
	uint16_t counter, wqe_id;
	uint8_t op_own;
} bad_titles[] = {
	{ "no completion", 0, HASH, 1, 0, 0x2c },
	{ "one completion", 1, HASH, 1, 0, 0x2c },
	{ "more than are posted", 64, HASH, 1, 0, 0x2c },
	{ "huge", 0xffffffff, HASH, 1, 0, 0x2c },
	{ "the stride before", 8, HASH, 0, 0, 0x2c },
	{ "the stride after", 8, HASH, 2, 0, 0x2c },
	{ "the next WQE", 8, HASH, 1, 1, 0x2c },
	{ "no compression", 8, 0, 1, 0, 0x2c },
	{ "format of 32 bytes of data", 8, HASH, 1, 0, 0x24 },
	{ "opcode of a write", 8, HASH, 1, 0, 0x0c },
};

static void
bad_title(const struct bad_title *b)
{
	struct rig_striding c = queue_new(1, 5, 11, OFFLOADS, b->format);
	struct rig_rx_cqe head = { .wqe_id = b->wqe_id };
	struct rte_mbuf *pkts[64];

	CHECK(rig_striding_packet(&c, 1, 60), "no stride");
	rig_rx_cqe(c.r, b->n, b->counter, &head);
	c.r->cq[64 + 0x3f] = b->op_own;
	CHECK(receive(&c, pkts, 64) == 1, "%s: delivered", b->what);
	CHECK(c.r->rxq.q.state == MLXPMD_QS_QUIESCED && c.r->rxq.q.cause == MLXPMD_CAUSE_BAD, "%s: state %u", b->what,
	      c.r->rxq.q.state);
	CHECK_EQ(c.r->rxq.q.stats.cqe_bad, 1);
	rte_pktmbuf_free(pkts[0]);
	rig_striding_free(&c);
	home(b->what);
}

/* A repair, at every place, with sessions that no burst read after an error completion. */
static void
rewind_over(unsigned int before, unsigned int sessions, unsigned int n)
{
	struct rig_striding c = queue_new(2, 4, 11, OFFLOADS, HASH);
	struct rte_mbuf *pkts[64];
	unsigned int i, k;

	for (i = 0; i < before; i++) {
		CHECK(rig_striding_packet(&c, i, 60) && receive(&c, pkts, 1) == 1, "before");
		rte_pktmbuf_free(pkts[0]);
	}
	rig_rx_error(c.r, 0x04, c.used);
	for (k = 0; k < sessions; k++) {
		rig_striding_session_begin(&c, HASH);
		for (i = 0; i < n; i++)
			CHECK(rig_striding_packet(&c, i, 60), "no stride");
		rig_striding_session_end(&c);
	}
	CHECK(receive(&c, pkts, 64) == 0 && c.r->rxq.q.state == MLXPMD_QS_QUIESCED, "state %u", c.r->rxq.q.state);
	repaired(&c);
	rig_striding_free(&c);
	home("rewind_over");
}

static void
invalid(void)
{
	static const unsigned int ats[] = { 1, 7, 8, 19 };
	unsigned int i, k;
	uint8_t format;

	for (i = 0; i < RTE_DIM(bad_minis); i++)
		for (format = HASH; format <= CSUM_STRIDE; format++)
			for (k = 0; k < RTE_DIM(ats) && (bad_minis[i].formats >> format & 1); k++)
				bad_mini(&bad_minis[i], format, ats[k]);
	for (i = 0; i < RTE_DIM(bad_titles) && !rig_enhanced; i++)
		bad_title(&bad_titles[i]);
	for (format = HASH; format <= CSUM_STRIDE && !rig_enhanced; format++) {
		bad_byte("title of the next WQE", format, 12, 3, 1, 0);
		if (INDEXED >> format & 1)
			bad_byte("index of the last stride", format, 9, 8 * 64 + 3, 4, 8);
	}
	for (i = 0; i < 70; i += 3)
		rewind_over(i, 1 + i % 3, 2 + i % 14);
}

static void
all(bool enhanced)
{
	uint8_t format;

	rig_enhanced = enhanced;
	for (format = HASH; format <= CSUM_STRIDE; format++) {
		twins_run(format, 1, 3, 11, 2048, true);
		twins_run(format, 2, 6, 8, 1600, true);
		twins_run(format, 2, 6, 11, 1600, false);
		twins_run(format, 1, 8, 6, 3000, true);
		twins_run(format, 2, 4, 12, 9000, false);
		places(format);
	}
	starved();
	invalid();
}

int
main(void)
{
	rig_init();
	pool = rig_pool("striding_comp", POOL, 64, 2048 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		all(false);
		all(true);
	}
	return rig_end("rx_striding_comp");
}
