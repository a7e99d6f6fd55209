/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Striding queues: each packet is delivered once and complete, copied or attached, whatever the application does to
 * the headroom and tailroom of others; buffers come home; the lack of mbufs or buffers stops nothing permanently.
 */

#include "mlxpmd_clock.h"
#include "mlxpmd_mprq.h"
#include "rig.h"

#define POOL 1024
#define ROOM 2048
/* Packets that are not freed: a chain has five mbufs. */
#define OUTSTANDING 150
static struct rte_mempool *pool;
static struct mlxpmd_clock ts_clock;

/* Packets in order of arrival; those received are kept a while. */
struct packet {
	uint32_t seq, len;
	struct rte_mbuf *m;
};

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

static bool
matches(const struct rig_striding *c, const struct packet *p)
{
	uint32_t at = 0, nb = 0;
	const struct rte_mbuf *s;

	if (p->m->pkt_len != p->len || p->m->port != 3 || p->m->data_off != RTE_PKTMBUF_HEADROOM)
		return false;
	for (s = p->m; s != NULL; s = s->next, nb++) {
		const uint8_t *d = rte_pktmbuf_mtod(s, const uint8_t *);

		if (s->pool != pool || rte_mbuf_refcnt_read(s) != 1 || s->data_off + s->data_len > s->buf_len ||
		    (RTE_MBUF_HAS_EXTBUF(s) && s->buf_len > RTE_ALIGN_CEIL(p->len, c->bytes)))
			return false;
		if (memcmp(d, rig_data(p->seq) + at, s->data_len) != 0)
			return false;
		at += s->data_len;
	}
	return at == p->len && nb == p->m->nb_segs;
}

/* What an application may write to. */
static void
scribble(struct rte_mbuf *m)
{
	memset(m->buf_addr, 0xaa, m->data_off);
	m = rte_pktmbuf_lastseg(m);
	memset(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len), 0x55, m->buf_len - m->data_off - m->data_len);
}

static uint16_t
receive(struct rig_striding *c, struct rte_mbuf **pkts, uint16_t n)
{
	return rig_rx_call(c->r, rig_function(false, MLXPMD_RX_F_STRIDING), pkts, n);
}

static uint64_t
attached(const struct rig_striding *c)
{
	return c->r->rxq.striding.attached + c->r->rxq.striding.given;
}

/* Random lengths, bursts and times that packets are kept, over many passes of the ring. */
static void
laps(uint8_t log_wqes, uint8_t log_strides, uint8_t log_size, uint32_t copy_max, uint32_t max)
{
	struct rig_striding c = rig_striding_new(pool, log_wqes, log_strides, log_size, copy_max,
						 RTE_ETH_RX_OFFLOAD_SCATTER, NULL);
	static struct packet fifo[4096];
	struct rte_mbuf *pkts[128];
	uint32_t in = 0, got = 0, out = 0, copies = 0, i;
	unsigned int round, n;

	for (round = 0; round < 1500 || out != in; round++) {
		for (n = round < 1500 ? rig_random() % 40 : 0; n != 0 && in - out < OUTSTANDING; n--) {
			struct packet p = { in, 60 + rig_random() % (rig_random() % 3 ? 200 : max - 59), NULL };

			if (!rig_striding_packet(&c, p.seq, p.len))
				break;
			fifo[in++ % RTE_DIM(fifo)] = p;
		}
		n = receive(&c, pkts, rig_random() % RTE_DIM(pkts));
		for (i = 0; i < n; i++, got++) {
			CHECK(got != in, "a packet that was not sent");
			fifo[got % RTE_DIM(fifo)].m = pkts[i];
			copies += !RTE_MBUF_HAS_EXTBUF(pkts[i]);
			scribble(pkts[i]);
		}
		for (n = round < 1500 ? rig_random() % 60 : OUTSTANDING; n != 0 && out != got; n--, out++) {
			CHECK(matches(&c, &fifo[out % RTE_DIM(fifo)]), "packet %u of %u bytes", out,
			      fifo[out % RTE_DIM(fifo)].len);
			rte_pktmbuf_free(fifo[out % RTE_DIM(fifo)].m);
		}
		if (round > 3000)
			break;
	}
	CHECK(in == got && got == out && in > 5000, "%u in, %u received", in, got);
	CHECK_EQ(c.r->rxq.q.stats.packets, in);
	CHECK_EQ(c.r->rxq.q.stats.cqe_bad, 0);
	CHECK_EQ(attached(&c) + copies, in);
	CHECK(copy_max > max || attached(&c) != 0 || c.bytes < RTE_PKTMBUF_HEADROOM, "nothing attached");
	CHECK(max <= c.bytes || c.fillers != 0, "no filler");
	rig_striding_free(&c);
	home("laps");
}

/* Header fields are those of the scalar burst, on copied and attached packets alike. */
static void
fields(unsigned int f)
{
	const uint64_t offloads = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM |
				  ((f & MLXPMD_RX_F_STAMP) ? RTE_ETH_RX_OFFLOAD_TIMESTAMP : 0);
	const eth_rx_burst_t burst[2] = { mlxpmd_rx_templates[f].burst, rig_function(false, f) };
	struct rte_mbuf *m[2][64], **a = m[0], **b = m[1];
	struct rig_striding c[2];
	unsigned int round, i, k, n;

	for (k = 0; k < 2; k++)
		c[k] = rig_striding_new(pool, 1, 6, 11, 128, offloads, &ts_clock);
	for (round = 0; round < 60; round++) {
		for (n = 0; n < 1 + round; n++) {
			const struct rig_rx_cqe head = {
				.pkt_info = rig_random(), .hash_type = rig_random() % 2, .hds = rig_random(),
				.etc = rig_random(), .hash = rig_random(), .vlan = rig_random(),
				.tag = rig_random() % 8 == 0 ? rig_random() & 0xffffff : 0, .ts = 1000000 + n,
			};
			const uint32_t len = 60 + rig_random() % (round % 3 == 0 ? 4 : round % 3 == 1 ? 100 : 1500);

			c[0].head = c[1].head = head;
			CHECK(rig_striding_packet(&c[0], n, len) && rig_striding_packet(&c[1], n, len), "no strides");
		}
		for (k = 0; k < 2; k++)
			CHECK_EQ(rig_rx_call(c[k].r, burst[k], m[k], 64), n);
		for (i = 0; i < n; i++) {
			CHECK(a[i]->ol_flags == b[i]->ol_flags && a[i]->packet_type == b[i]->packet_type &&
			      a[i]->pkt_len == b[i]->pkt_len && a[i]->data_len == b[i]->data_len &&
			      a[i]->vlan_tci == b[i]->vlan_tci && a[i]->data_off == b[i]->data_off &&
			      a[i]->buf_len == b[i]->buf_len && a[i]->nb_segs == b[i]->nb_segs, "round %u, packet %u",
			      round, i);
			if (a[i]->ol_flags & RTE_MBUF_F_RX_RSS_HASH)
				CHECK_EQ(a[i]->hash.rss, b[i]->hash.rss);
			if (a[i]->ol_flags & RTE_MBUF_F_RX_FDIR_ID)
				CHECK_EQ(a[i]->hash.fdir.hi, b[i]->hash.fdir.hi);
			if (f & MLXPMD_RX_F_STAMP) {
				CHECK(a[i]->ol_flags & c[0].r->rxq.ts_flag, "no timestamp");
				CHECK_EQ(*RTE_MBUF_DYNFIELD(a[i], c[0].r->rxq.ts_offset, uint64_t *),
					 *RTE_MBUF_DYNFIELD(b[i], c[0].r->rxq.ts_offset, uint64_t *));
			}
		}
		CHECK_EQ(c[0].r->rxq.q.stats.bytes, c[1].r->rxq.q.stats.bytes);
		CHECK_EQ(c[0].r->rxq.q.stats.l4_csum_bad, c[1].r->rxq.q.stats.l4_csum_bad);
		CHECK_EQ(attached(&c[0]), attached(&c[1]));
		rte_pktmbuf_free_bulk(a, n);
		rte_pktmbuf_free_bulk(b, n);
	}
	for (k = 0; k < 2; k++)
		rig_striding_free(&c[k]);
	home("fields");
}

/* The application keeps all packets: buffers run out, then mbufs; then all continues. */
static void
kept(uint64_t offloads)
{
	struct rig_striding c = rig_striding_new(pool, 2, 3, 11, 128, offloads, NULL);
	const uint32_t size = c.r->rxq.striding.pool->mp->size;
	static struct packet p[2 * POOL];
	struct rte_mbuf *pkts[64];
	uint32_t in = 0, got = 0, i, n;
	uint64_t nombuf;

	for (i = 0; i < 400; i++) {
		for (n = 0; n < 8 && rig_striding_packet(&c, in, 1500); n++, in++)
			p[in] = (struct packet){ in, 1500, NULL };
		n = receive(&c, pkts, 64);
		while (n-- != 0)
			p[got + n].m = pkts[n];
		while (got != in && p[got].m != NULL)
			got++;
	}
	CHECK_EQ(got, POOL);
	CHECK_EQ(rte_mempool_avail_count(pool), 0);
	/* Attached until the spare buffer was the last; then copied. */
	CHECK_EQ(attached(&c), (size - 4) * 8);
	nombuf = c.r->rxq.q.stats.nombuf;
	CHECK(nombuf != 0 && nombuf <= 32, "%" PRIu64 " missing mbufs", nombuf);
	CHECK_EQ(receive(&c, pkts, 64), 0);
	CHECK_EQ(c.r->rxq.q.stats.nombuf, nombuf);
	CHECK(c.r->out_of_buffer != 0, "the device had strides for all");
	for (i = 0; i < got; i++) {
		CHECK(matches(&c, &p[i]), "packet %u", i);
		rte_pktmbuf_free(p[i].m);
	}
	/* What waited is delivered, and packets are attached again. */
	for (i = 0; i < 40; i++) {
		for (n = receive(&c, pkts, 64); n-- != 0; got++)
			rte_pktmbuf_free(pkts[n]);
		for (n = 0; n < 8 && rig_striding_packet(&c, in, 1500); n++)
			in++;
	}
	n = receive(&c, pkts, 64);
	CHECK_EQ(got + n, in);
	CHECK(RTE_MBUF_HAS_EXTBUF(pkts[n - 1]), "still copied");
	rte_pktmbuf_free_bulk(pkts, n);
	rig_striding_free(&c);
	home("kept");
}

/* Packets that fit no mbuf and cannot be attached are dropped without scatter, and chained with it. */
static void
too_long(void)
{
	static const uint64_t offloads[] = { 0, RTE_ETH_RX_OFFLOAD_SCATTER };
	struct rte_mbuf *pkts[8];
	struct packet p = { 1, 4000, NULL };
	unsigned int i;

	for (i = 0; i < RTE_DIM(offloads); i++) {
		/* Strides of 4000 bytes and less than a headroom. */
		struct rig_striding c = rig_striding_new(pool, 1, 3, 12, 128, offloads[i], NULL);

		CHECK(rig_striding_packet(&c, 1, 4000) && rig_striding_packet(&c, 2, 100) &&
		      rig_striding_packet(&c, 3, 3000), "no strides");
		CHECK_EQ(receive(&c, pkts, 8), 2 + i);
		CHECK_EQ(c.r->rxq.q.stats.nombuf, 1 - i);
		CHECK_EQ(c.r->rxq.q.state, MLXPMD_QS_READY);
		if (i == 1) {
			p.m = pkts[0];
			CHECK(matches(&c, &p) && p.m->nb_segs == 2, "chain of %u", p.m->nb_segs);
		}
		CHECK(RTE_MBUF_HAS_EXTBUF(pkts[1 + i]) && pkts[1 + i]->data_len == 3000, "not attached");
		rte_pktmbuf_free_bulk(pkts, 2 + i);
		/* No mbufs for the rest of a chain: dropped, because it might never fit. */
		rig_pool_leave(pool, 1);
		CHECK(rig_striding_packet(&c, 4, 4000), "no strides");
		CHECK_EQ(receive(&c, pkts, 8), 0);
		CHECK_EQ(c.r->rxq.q.stats.nombuf, 2 - i);
		CHECK_EQ(rte_mempool_avail_count(pool), 1);
		rig_pool_release(pool);
		rig_striding_free(&c);
	}
	home("too_long");
}

/* Completions that make no sense: nothing is delivered, the queue stops for a repair. */
static void
bad(void)
{
	static const struct {
		uint32_t byte_cnt;
		uint16_t counter, wqe_id;
		uint8_t opcode;
		uint8_t cause;
	} cases[] = {
		{ 1 << 16 | 0, 0, 0, 0, MLXPMD_CAUSE_BAD },		/* no byte */
		{ 1 << 16 | 2049, 0, 0, 0, MLXPMD_CAUSE_BAD },		/* longer than its stride */
		{ 0 << 16 | 100, 0, 0, 0, MLXPMD_CAUSE_BAD },		/* no stride */
		{ 9 << 16 | 100, 0, 0, 0, MLXPMD_CAUSE_BAD },		/* more strides than a WQE has */
		{ 0x80090000u, 0, 0, 0, MLXPMD_CAUSE_BAD },		/* the same of a filler */
		{ 0x80000000u, 0, 0, 0, MLXPMD_CAUSE_BAD },
		{ 1 << 16 | 100, 1, 0, 0, MLXPMD_CAUSE_BAD },		/* another stride */
		{ 1 << 16 | 100, 0, 1, 0, MLXPMD_CAUSE_BAD },		/* another WQE */
		{ 1 << 16 | 100, 0, 0, 13, MLXPMD_CAUSE_BAD },		/* a send completion */
		{ 1 << 16 | 100, 0, 0, 14, MLXPMD_CAUSE_ERROR },
	};
	struct rte_mbuf *m;
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases); i++) {
		struct rig_striding c = rig_striding_new(pool, 1, 3, 11, 128, 0, NULL);
		struct rig_rx_cqe head = { .opcode = cases[i].opcode, .wqe_id = cases[i].wqe_id };

		rig_rx_cqe(c.r, cases[i].byte_cnt, cases[i].counter, &head);
		CHECK_EQ(receive(&c, &m, 1), 0);
		CHECK(c.r->rxq.q.state == MLXPMD_QS_QUIESCED && c.r->rxq.q.cause == cases[i].cause, "case %u: %u %u", i,
		      c.r->rxq.q.state, c.r->rxq.q.cause);
		CHECK_EQ(c.r->rxq.q.stats.cqe_bad + c.r->rxq.q.stats.errors, 1);
		rig_striding_free(&c);
	}
	home("bad");
}

/* The limits between packets that are copied, chained and attached. */
static void
limits(void)
{
	enum { COPIED, CHAINED, ATTACHED };
	static const struct {
		uint8_t log_size, how;
		uint16_t copy_max, len;
	} cases[] = {
		{ 11, ATTACHED, 0, 60 }, { 11, COPIED, 64, 64 }, { 11, ATTACHED, 64, 65 }, { 11, COPIED, 128, 128 },
		{ 11, ATTACHED, 128, 129 }, { 11, COPIED, 65535, 2048 },
		/* The last one that leaves the headroom of the next packet alone, of one stride and of two. */
		{ 11, ATTACHED, 128, 1920 }, { 11, COPIED, 128, 1921 }, { 12, ATTACHED, 128, 3968 },
		{ 12, CHAINED, 128, 3969 }, { 11, ATTACHED, 128, 3968 }, { 11, CHAINED, 128, 3969 },
		/* Longer than an mbuf, but not longer than the longest copy. */
		{ 12, COPIED, 2500, 2048 }, { 12, CHAINED, 2500, 2049 }, { 12, CHAINED, 2500, 2500 },
		{ 12, ATTACHED, 2500, 2501 },
	};
	static const uint32_t counts[] = { 1, 4, 19 };
	struct rte_mbuf *pkts[32];
	uint32_t i, k, n;

	for (i = 0; i < RTE_DIM(cases) * RTE_DIM(counts); i++) {
		const uint32_t len = cases[i % RTE_DIM(cases)].len, how = cases[i % RTE_DIM(cases)].how;
		struct rig_striding c = rig_striding_new(pool, 1, 5, cases[i % RTE_DIM(cases)].log_size,
							 cases[i % RTE_DIM(cases)].copy_max,
							 RTE_ETH_RX_OFFLOAD_SCATTER, NULL);

		n = counts[i / RTE_DIM(cases)];
		for (k = 0; k < n; k++)
			CHECK(rig_striding_packet(&c, k, len), "no strides");
		CHECK_EQ(receive(&c, pkts, 32), n);
		for (k = 0; k < n; k++) {
			const struct packet p = { k, len, pkts[k] };

			CHECK(matches(&c, &p), "%u bytes, packet %u of %u", len, k, n);
			CHECK_EQ(!!RTE_MBUF_HAS_EXTBUF(pkts[k]), how == ATTACHED);
			CHECK_EQ(pkts[k]->nb_segs, how == CHAINED ? 2 : 1);
			rte_pktmbuf_free(pkts[k]);
		}
		rig_striding_free(&c);
	}
	home("limits");
}

/* A completion that is no packet, or is not there, ends a run wherever it is: no packet from it on is delivered. */
static void
run_ends(void)
{
	static const struct {
		uint8_t byte, off, on;
		bool absent;
	} cases[] = {
		{ 0x3f, 0, 0x04, false }, { 0x3f, 0, 0x08, false }, { 0x3f, 0, 0x0c, false },	/* format */
		{ 0x3f, 0xf0, 0x30, false }, { 0x3f, 0xf0, 0xd0, false }, { 0x3f, 0xf0, 0, false },	/* opcode */
		{ 0x3f, 0x01, 0x01, true }, { 0x3f, 0xf0, 0xf0, true },		/* owner; invalid */
		{ 0x03, 0x01, 0x01, false },					/* another WQE */
		{ 0x3d, 0, 0x20, false }, { 0x3c, 0, 0x01, false },		/* another stride */
		{ 0x2d, 0xff, 0, false }, { 0x2f, 0xff, 0, false },		/* no stride; no byte */
	};
	static const uint32_t places[] = { 0, 1, 3, 5, 8, 17 };
	struct rte_mbuf *pkts[32];
	uint32_t i, k, at;
	uint8_t *byte, was;

	for (i = 0; i < RTE_DIM(cases) * RTE_DIM(places); i++) {
		struct rig_striding c = rig_striding_new(pool, 1, 5, 11, 128, 0, NULL);
		const bool absent = cases[i % RTE_DIM(cases)].absent;

		at = places[i / RTE_DIM(cases)];
		for (k = 0; k < 20; k++)
			CHECK(rig_striding_packet(&c, k, 100), "no strides");
		byte = c.r->cq + at * 64 + cases[i % RTE_DIM(cases)].byte;
		was = *byte;
		*byte = (was & ~cases[i % RTE_DIM(cases)].off) | cases[i % RTE_DIM(cases)].on;
		CHECK_EQ(receive(&c, pkts, 32), at);
		CHECK_EQ(c.r->rxq.q.state, absent ? MLXPMD_QS_READY : MLXPMD_QS_QUIESCED);
		CHECK_EQ(c.r->rxq.q.stats.cqe_bad + c.r->rxq.q.stats.errors, !absent);
		rte_pktmbuf_free_bulk(pkts, at);
		*byte = was;
		k = receive(&c, pkts, 32);
		CHECK_EQ(k, absent ? 20 - at : 0);
		rte_pktmbuf_free_bulk(pkts, k);
		rig_striding_free(&c);
	}
	home("run_ends");
}

/* A repair while the application has packets of the WQE at ci: the device may not write to them again. */
static void
rewind_kept(bool fresh)
{
	struct rig_striding c = rig_striding_new(pool, 1, 3, 11, 128, 0, NULL);
	struct packet p[3] = { { 0, 1500, NULL }, { 1, 1500, NULL }, { 2, 90, NULL } };
	struct rte_mbuf *pkts[32];
	unsigned int i, n;

	for (i = 0; i < 3; i++)
		CHECK(rig_striding_packet(&c, p[i].seq, p[i].len), "no strides");
	CHECK_EQ(receive(&c, pkts, 8), 3);
	for (i = 0; i < 3; i++)
		p[i].m = pkts[i];
	c.r->rxq.q.state = MLXPMD_QS_REPAIR;
	CHECK_OK(mlxpmd_mprq_rewind(&c.r->rxq, fresh));
	CHECK_EQ(c.r->rq_dbrec, 0);
	c.r->wqe_count = c.used = 0;
	c.r->cqe_count = fresh ? 0 : c.r->cqe_count;
	mlxpmd_queue_ready(&c.r->rxq.q);
	for (i = 0, n = 0; i < 30; i++) {
		CHECK(rig_striding_packet(&c, 100 + i, 1000), "no strides");
		n += receive(&c, pkts, 8);
		rte_pktmbuf_free(pkts[0]);
	}
	CHECK_EQ(n, 30);
	for (i = 0; i < 3; i++) {
		CHECK(matches(&c, &p[i]), "packet %u", i);
		rte_pktmbuf_free(p[i].m);
	}
	rig_striding_free(&c);
	home("rewind");
}

/* Buffers live until the last packet is freed, also when the queue is no more; also that of a clone. */
static void
outlive(void)
{
	struct rig_striding c = rig_striding_new(pool, 1, 3, 11, 128, 0, NULL);
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mbuf *pkts[4], *clone;
	struct packet p = { 7, 1500, NULL };

	snprintf(name, sizeof(name), "%s", c.r->rxq.striding.pool->mp->name);
	CHECK(rig_striding_packet(&c, 7, 1500) && rig_striding_packet(&c, 8, 1400), "no strides");
	CHECK_EQ(receive(&c, pkts, 4), 2);
	clone = rte_pktmbuf_clone(pkts[1], pool);
	mlxpmd_mprq_disarm(&c.r->rxq.q);
	CHECK_EQ(mlxpmd_mprq_held(&c.r->rxq), 1);
	mlxpmd_mprq_pool_release(&c.r->rxq);
	CHECK(rte_mempool_lookup(name) != NULL, "freed too early");
	rte_pktmbuf_free(pkts[1]);
	p.m = pkts[0];
	CHECK(matches(&c, &p), "content");
	rte_pktmbuf_free(pkts[0]);
	CHECK(rte_mempool_lookup(name) != NULL, "freed too early");
	CHECK_EQ(*rte_pktmbuf_mtod(clone, uint8_t *), rig_data(8)[0]);
	rte_pktmbuf_free(clone);
	CHECK(rte_mempool_lookup(name) == NULL, "not freed");
	rig_striding_free(&c);
	home("outlive");
}

static void
status(void)
{
	struct rig_striding c = rig_striding_new(pool, 1, 3, 11, 128, 0, NULL);
	struct rte_mbuf *pkts[8];

	CHECK_EQ(mlxpmd_rx_queue_count(&c.r->rxq), 0);
	CHECK(rig_striding_packet(&c, 1, 60) && rig_striding_packet(&c, 2, 60) && rig_striding_packet(&c, 3, 60), "no strides");
	CHECK_EQ(mlxpmd_rx_queue_count(&c.r->rxq), 3);
	CHECK_EQ(mlxpmd_rx_descriptor_status(&c.r->rxq, 2), RTE_ETH_RX_DESC_DONE);
	CHECK_EQ(mlxpmd_rx_descriptor_status(&c.r->rxq, 3), RTE_ETH_RX_DESC_AVAIL);
	CHECK_EQ(mlxpmd_rx_descriptor_status(&c.r->rxq, 15), RTE_ETH_RX_DESC_AVAIL);
	CHECK_EQ(mlxpmd_rx_descriptor_status(&c.r->rxq, 16), -EINVAL);
	CHECK_EQ(receive(&c, pkts, 2), 2);
	CHECK_EQ(mlxpmd_rx_queue_count(&c.r->rxq), 1);
	CHECK_EQ(receive(&c, pkts + 2, 2), 1);
	rte_pktmbuf_free_bulk(pkts, 3);
	rig_striding_free(&c);
}

/* A secondary process, which copies all packets, was killed in a burst: the next start ends that. */
static void
copies_end(void)
{
	struct rig_striding c = rig_striding_new(pool, 2, 3, 11, 256, 0, NULL);
	struct mlxpmd_rxq *rxq = &c.r->rxq;

	CHECK_EQ(rxq->striding.copy_max, 256);
	rxq->striding.copy_max = UINT32_MAX;
	mlxpmd_mprq_disarm(&rxq->q);
	CHECK_OK(mlxpmd_mprq_arm(&rxq->q));
	CHECK_EQ(rxq->striding.copy_max, 256);
	rig_striding_free(&c);
}

int
main(void)
{
	struct mdv_clock_line line = { .start = 1700000000000000000, .base = 0, .mult = 1u << 31, .shift = 31,
				       .mask = RTE_BIT64(41) - 1, .span = 8000000000 };
	struct mlxpmd_clock_snap snap;
	unsigned int f;

	rig_init();
	pool = rig_pool("striding", POOL, 32, ROOM + RTE_PKTMBUF_HEADROOM);
	mlxpmd_clock_snap_from(&snap, &line);
	snap.expires_tsc = rte_rdtsc() + rte_get_tsc_hz() * 3600;
	mlxpmd_clock_publish(&ts_clock, &snap, NULL);
	RIG_EACH {
		for (f = MLXPMD_RX_F_STRIDING; f < MLXPMD_RX_TEMPLATES; f++)
			if (mlxpmd_rx_templates[f].burst != NULL)
				fields(f);
		laps(1, 3, 11, 128, 1600);
		laps(3, 3, 11, 0, 9000);
		laps(2, 6, 8, 128, 1600);
		laps(2, 6, 11, 128, 1600);
		laps(1, 8, 6, 200, 3000);
		laps(2, 4, 12, 65535, 9000);
		laps(2, 4, 13, 128, 9000);
		kept(0);
		kept(RTE_ETH_RX_OFFLOAD_SCATTER);
		too_long();
		copies_end();
		bad();
		limits();
		run_ends();
		rewind_kept(false);
		rewind_kept(true);
		outlive();
	}
	status();
	rte_mempool_free(pool);
	return rig_end("rx_striding");
}
