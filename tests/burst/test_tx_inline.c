/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packets that are copied into WQEs: bytes of the WQE, memory that is read, freed mbufs, full rings, lost packets. */

#include <sys/mman.h>

#include "rig.h"

#define POOL 2047
#define PAGE 4096u
#define MPW_COPY (MLXPMD_TX_F_MPW | MLXPMD_TX_F_COPY)
#define MPW_COPY_FAST (MPW_COPY | MLXPMD_TX_F_FAST_FREE)
static struct rte_mempool *pool;
static uint8_t inline_mode; /* Of new queues. */

static unsigned int
out(void)
{
	return POOL - rte_mempool_avail_count(pool);
}

static struct rig_tx *
queue(uint8_t log_wqebbs, uint16_t nb_desc, uint16_t inline_mpw, uint16_t inline_send)
{
	struct rig_tx *t = rig_tx_new(log_wqebbs, nb_desc, 7, 63, inline_mode);

	mlxpmd_txq_disarm(&t->txq.q);
	t->txq.inline_mpw = inline_mpw;
	t->txq.inline_send = inline_send;
	CHECK(mlxpmd_txq_arm(&t->txq.q) == 0, "not armed");
	mlxpmd_queue_ready(&t->txq.q);
	return t;
}

/* ---- what the device sees ---- */

struct seen {
	unsigned int n, copied;
	uint64_t bytes;
	uint32_t seq, len;	/* Expected, if len != 0. */
};

static void
see(void *arg, const struct rig_tx_packet *p)
{
	struct seen *s = arg;

	s->n++;
	s->copied += p->copied;
	s->bytes += p->len;
	if (s->len == 0)
		return;
	CHECK(p->len == s->len, "%u bytes, not %u", p->len, s->len);
	CHECK(memcmp(p->data, rig_data(s->seq), p->len) == 0, "data of %u bytes", p->len);
}

/* Short, long, short: compared with literal bytes; padding is not compared. */
static void
wqe_bytes(unsigned int f)
{
	struct rig_tx *t = queue(6, 64, 64, 0);
	static const uint8_t title[32] = { 0, 0, 0, 0x29, 0xab, 0xcd, 0xef, 2 + 5 + 1 + 4 };
	static const uint32_t lens[] = { 64, 65, 60 };
	static const uint32_t at[] = { 32, 32 + 80, 32 + 80 + 16 };
	struct rte_mbuf *pkts[3];
	unsigned int i, k;

	for (i = 0; i < 3; i++)
		pkts[i] = rig_tx_mbuf(pool, i, lens[i], 1);
	CHECK(rig_tx_burst(t, f, pkts, 3) == 3, "not taken");
	CHECK(out() == 1 && t->txq.q.elts[0] == pkts[1], "%u out", out());
	CHECK(memcmp(t->sq, title, 32) == 0, "title");
	for (i = 0; i < 3; i++) {
		const uint8_t *d = t->sq + at[i];

		CHECK(d[0] == (i == 1 ? 0 : 0x80) && d[1] == 0 && d[2] == 0 && d[3] == lens[i], "length %u", i);
		for (k = 0; i != 1 && k < lens[i]; k++)
			CHECK(d[4 + k] == rig_data(i)[k], "byte %u of packet %u", k, i);
	}
	CHECK(t->txq.q.pi == 3 && t->sq_dbrec == rte_cpu_to_be_32(3), "%u WQEBBs", t->txq.q.pi);
	CHECK(t->txq.q.stats.packets == 3 && t->txq.q.stats.bytes == 64 + 65 + 60, "counters");
	rig_tx_free(t);
	CHECK(out() == 0, "%u out", out());
}

/*
 * Packets at the end, and at the begin, of a page whose neighbours cannot be read, in memory that is not registered:
 * all lengths are sent, and nothing else is read.
 */
static void
borders(unsigned int f, bool at_end)
{
	struct rte_mbuf_ext_shared_info shinfo = { .free_cb = NULL };
	uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rig_tx *t = queue(8, 64, 930, 930);
	struct seen s = { 0 };
	struct rte_mbuf *m;
	uint32_t len, i;

	CHECK(pages != MAP_FAILED && mprotect(pages, PAGE, PROT_NONE) == 0 &&
	      mprotect(pages + 2 * PAGE, PAGE, PROT_NONE) == 0, "no pages");
	shinfo.free_cb = (void *)&borders;
	for (len = 1; len <= 930; len++) {
		m = rte_pktmbuf_alloc(pool);
		rte_mbuf_ext_refcnt_set(&shinfo, 2); /* The test keeps a reference: the callback is not called. */
		rte_pktmbuf_attach_extbuf(m, pages + PAGE, 0, PAGE, &shinfo);
		m->data_off = at_end ? PAGE - len : 0;
		m->data_len = m->pkt_len = len;
		for (i = 0; i < len; i++)
			rte_pktmbuf_mtod(m, uint8_t *)[i] = rig_data(len)[i];
		s.seq = len;
		s.len = len;
		CHECK(rig_tx_burst(t, f, &m, 1) == 1, "%u bytes", len);
		CHECK(rig_tx_run(t, true, see, &s) == 1, "%u bytes not sent", len);
		CHECK(out() == 0, "%u bytes: the mbuf is not free", len);
	}
	CHECK(s.copied == s.n, "%u of %u copied", s.copied, s.n);
	rig_tx_free(t);
	munmap(pages, 3 * PAGE);
}

/* Full rings: the burst takes fewer packets; only those sent from buffers hold mbufs; all space is free again. */
static void
fill_and_drain(unsigned int f, uint16_t limit, uint8_t log_wqebbs, uint16_t nb_desc)
{
	struct rig_tx *t = queue(log_wqebbs, nb_desc, limit, limit);
	unsigned int lap, i, took, taken, n;
	struct rte_mbuf *pkts[64];
	struct seen s = { 0 };

	for (lap = 0; lap < 60; lap++) {
		taken = 0;
		do {
			n = 1 + rig_random() % 64;
			for (i = 0; i < n; i++)
				pkts[i] = rig_tx_mbuf(pool, i, lap % 3 ? limit - rig_random() % 20 :
						      limit - 10 + rig_random() % 20, 1);
			took = rig_tx_burst(t, f, pkts, n);
			rte_pktmbuf_free_bulk(pkts + took, n - took);
			taken += took;
			CHECK(out() == (uint16_t)(t->txq.elts_pi - t->txq.elts_ci), "%u out", out());
		} while (took != 0);
		CHECK(taken >= 1, "took none");
		CHECK(mlxpmd_tx_descriptor_status(&t->txq, t->txq.elts_mask) == RTE_ETH_TX_DESC_FULL, "oldest");
		CHECK(rig_tx_run(t, true, see, &s) == taken, "not all sent");
		(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
		CHECK((uint16_t)(t->txq.q.pi - t->txq.q.ci) <= t->txq.q.wqe_mask / 4, "WQEBBs without a completion");
		CHECK(mlxpmd_tx_descriptor_status(&t->txq, 0) == RTE_ETH_TX_DESC_DONE, "next place is free");
	}
	mlxpmd_txq_flush(&t->txq);
	(void)rig_tx_run(t, true, see, &s);
	(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	CHECK(t->txq.q.ci == t->txq.q.pi && out() == 0, "%u out", out());
	CHECK(t->txq.q.stats.packets == s.n && t->txq.q.stats.bytes == s.bytes && t->txq.q.stats.errors == 0, "counters");
	CHECK(s.copied > s.n / 2, "%u of %u copied", s.copied, s.n);
	rig_tx_free(t);
	CHECK(out() == 0, "%u out", out());
}

/* More copied packets in one burst than are noted before they are freed, with others between them. */
static void
long_burst(unsigned int f)
{
	struct rig_tx *t = queue(10, 512, 64, 64);
	struct rte_mbuf *pkts[600];
	struct seen s = { 0 };
	unsigned int i, k;

	for (i = 0; i < 600; i++)
		pkts[i] = rig_tx_mbuf(pool, i, i % 3 == 2 ? 200 : 60, 1);
	CHECK(rig_tx_burst(t, f, pkts, 600) == 600 && out() == 200, "%u out", out());
	CHECK(rig_tx_run(t, true, see, &s) == 600 && s.copied == 400 && s.bytes == 400 * 60 + 200 * 200,
	      "%u copied, %" PRIu64 " bytes", s.copied, s.bytes);
	/* All copied, they fill more than a quarter of the ring: not only the last WQE requests a completion. */
	k = t->cqe_count;
	for (i = 0; i < 400; i++)
		pkts[i] = rig_tx_mbuf(pool, i, 60, 1);
	CHECK(rig_tx_burst(t, f, pkts, 400) == 400 && rig_tx_run(t, true, see, &s) == 400, "not sent");
	CHECK(t->cqe_count - k == 2, "%u completions", t->cqe_count - k);
	rig_tx_free(t);
	CHECK(out() == 0, "%u out", out());
}

/* Shared mbufs, clones and other mempools: each reference is released once, in the burst. */
static void
owners(void)
{
	struct rte_mempool *other = rig_pool("other", 127, 0, 256 + RTE_PKTMBUF_HEADROOM);
	struct rig_tx *t = queue(8, 64, 128, 128);
	struct rte_mbuf *pkts[32], *kept[32], *seg;
	struct seen s = { 0 };
	unsigned int i;

	for (i = 0; i < 32; i++) {
		kept[i] = rig_tx_mbuf(i % 3 ? pool : other, i, 64, 1 + (i % 8 == 7) * 2);
		pkts[i] = i % 4 == 1 ? rte_pktmbuf_clone(kept[i], pool) : kept[i];
		for (seg = i % 4 != 1 ? kept[i] : NULL; seg != NULL; seg = seg->next)
			rte_mbuf_refcnt_update(seg, i % 2);
		if (i % 4 != 1 && i % 2 == 0)
			kept[i] = NULL;
	}
	CHECK(rig_tx_burst(t, MPW_COPY, pkts, 32) == 32, "not taken");
	CHECK(rig_tx_run(t, true, see, &s) == 32 && s.copied == 32, "%u copied", s.copied);
	CHECK(t->txq.elts_pi == 0, "%u in elts", t->txq.elts_pi);
	for (i = 0; i < 32; i++) {
		CHECK(kept[i] == NULL || rte_mbuf_refcnt_read(kept[i]) == 1, "references of packet %u", i);
		rte_pktmbuf_free(kept[i]);
	}
	rig_tx_free(t);
	CHECK(rte_mempool_avail_count(other) == 127, "other pool: %u", rte_mempool_avail_count(other));
	rte_mempool_free(other);
}

/* One packet whose mbuf cannot go back to the mempool of the first as it is, at each place of a burst. */
static void
odd_owner(uint32_t len)
{
	enum { SHARED, CLONE, OTHER, CHAIN, KINDS };
	struct rte_mempool *other = rig_pool("other", 63, 0, 1024 + RTE_PKTMBUF_HEADROOM);
	struct rig_tx *t = queue(8, 64, 300, 300);
	struct rte_mbuf *pkts[8], *kept;
	unsigned int kind, place, i;

	for (i = 0; i < 8 * KINDS; i++) {
		struct seen s = { .len = len };

		kind = i / 8;
		place = i % 8;
		for (unsigned int k = 0; k < 8; k++)
			pkts[k] = rig_tx_mbuf(kind == OTHER && k == place ? other : pool, 0, len,
					      kind == CHAIN && k == place ? 2 : 1);
		kept = kind == SHARED || kind == CLONE ? pkts[place] : NULL;
		if (kind == SHARED)
			rte_mbuf_refcnt_update(kept, 1);
		if (kind == CLONE)
			pkts[place] = rte_pktmbuf_clone(kept, pool);
		CHECK(rig_tx_burst(t, MPW_COPY, pkts, 8) == 8, "kind %u, place %u: not taken", kind, place);
		CHECK(out() == (kept != NULL) && rte_mempool_avail_count(other) == 63, "kind %u, place %u: %u out",
		      kind, place, out());
		CHECK(kept == NULL || rte_mbuf_refcnt_read(kept) == 1, "kind %u, place %u: references", kind, place);
		CHECK(rig_tx_run(t, true, see, &s) == 8 && s.copied == 8, "%u copied", s.copied);
		rte_pktmbuf_free(kept);
	}
	rig_tx_free(t);
	rte_mempool_free(other);
}

/* ---- errors ---- */

struct posted {
	uint16_t start;
	unsigned int packets;
	uint64_t bytes;
};

/*
 * An error completion of each WQE: packets before it were sent, the others are lost, in WQEs and in buffers.
 * Then the queue works again. abandon: instead, the queue cannot be destroyed.
 */
static void
error_at(unsigned int f, unsigned int failing, bool abandon)
{
	struct rig_tx *t = queue(8, 64, 100, 100);
	unsigned int i, k, n, held;
	uint64_t packets = 0, bytes = 0, lost = 0;
	struct posted posted[12];
	struct rte_mbuf *pkts[4];
	struct seen s = { 0 };

	for (i = 0; i < RTE_DIM(posted); i++) {
		posted[i] = (struct posted){ .start = t->txq.q.pi, .packets = 1 + i % 4 };
		k = posted[i].packets;
		for (n = 0; n < k; n++) {
			pkts[n] = rig_tx_mbuf(pool, n, 60 + rig_random() % 80, 1);
			/* A tag that the driver inserts is no byte of the packet. */
			pkts[n]->ol_flags = !(f & MLXPMD_TX_F_MPW) && rig_random() % 2 ? RTE_MBUF_F_TX_VLAN : 0;
			posted[i].bytes += pkts[n]->pkt_len;
		}
		/* A WQE per burst: SEND WQEs one by one. */
		if (!(f & MLXPMD_TX_F_MPW)) {
			for (n = 1; n < k; n++) {
				posted[i].bytes -= pkts[n]->pkt_len;
				rte_pktmbuf_free(pkts[n]);
			}
			k = posted[i].packets = 1;
		}
		CHECK(rig_tx_burst(t, f, pkts, k) == k, "not taken");
	}
	held = out();
	CHECK(held == t->txq.elts_pi, "%u held", held);
	for (i = 0; i < RTE_DIM(posted); i++) {
		packets += i < failing ? posted[i].packets : 0;
		bytes += i < failing ? posted[i].bytes : 0;
		lost += i < failing ? 0 : posted[i].packets;
	}
	rig_tx_cqe(t, 13, 4, posted[failing].start);
	CHECK(rig_tx_burst(t, f, pkts, 0) == 0 && t->txq.q.state == MLXPMD_QS_QUIESCED, "state %u", t->txq.q.state);
	if (abandon) {
		held = (uint16_t)(t->txq.elts_pi - t->txq.elts_ci);
		mlxpmd_txq_abandon(&t->txq);
		for (i = 0; i < held; i++)
			rte_pktmbuf_free(t->txq.q.elts[i]);
	} else {
		CHECK(mlxpmd_txq_rewind(&t->txq, false) == lost, "not %" PRIu64 " lost", lost);
	}
	CHECK(t->txq.q.stats.packets == packets && t->txq.q.stats.bytes == bytes && t->txq.q.stats.errors == lost,
	      "WQE %u: %" PRIu64 " sent, %" PRIu64 " bytes, %" PRIu64 " lost, not %" PRIu64 ", %" PRIu64 ", %" PRIu64,
	      failing, t->txq.q.stats.packets, t->txq.q.stats.bytes, t->txq.q.stats.errors, packets, bytes, lost);
	CHECK(out() == 0, "%u out", out());
	for (i = 0; !abandon && i < 100; i++) {
		if (i == 0) {
			t->executed = 0;
			t->db_seen = t->db_reg;
			mlxpmd_queue_ready(&t->txq.q);
		}
		pkts[0] = rig_tx_mbuf(pool, i, 60, 1);
		CHECK(rig_tx_burst(t, f, pkts, 1) == 1 && rig_tx_run(t, true, see, &s) == 1, "packet %u", i);
	}
	CHECK(t->txq.q.stats.errors == lost, "lost later");
	rig_tx_free(t);
	CHECK(out() == 0, "%u out, disarmed", out());
}

/* Without an error completion everything in flight is lost, in a ring that has wrapped too. */
static void
lost_in_flight(void)
{
	struct rig_tx *t = queue(6, 64, 100, 100);
	struct seen s = { 0 };
	struct rte_mbuf *m;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		m = rig_tx_mbuf(pool, i, 90, 1);
		CHECK(rig_tx_burst(t, MPW_COPY, &m, 1) == 1, "packet %u", i);
		if (i < 90)
			(void)rig_tx_run(t, true, see, &s);
	}
	(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	CHECK(t->txq.q.stats.packets == 100, "%" PRIu64 " packets", t->txq.q.stats.packets);
	(void)mlxpmd_txq_rewind(&t->txq, true);
	CHECK(t->txq.q.stats.packets + t->txq.q.stats.errors == 100 && t->txq.q.stats.errors >= 10 &&
	      t->txq.q.stats.bytes == 90 * t->txq.q.stats.packets, "%" PRIu64 " lost", t->txq.q.stats.errors);
	CHECK(out() == 0, "%u out", out());
	rig_tx_free(t);
}

/* WQEBBs that are posted until a completion is requested, which comes if `complete`. */
static uint16_t
until_request(struct rig_tx *t, bool complete)
{
	const uint16_t begin = t->txq.wqebb_comp;
	struct seen s = { 0 };
	struct rte_mbuf *m;

	while (t->txq.wqebb_comp == begin && (uint16_t)(t->txq.q.pi - begin) <= t->txq.q.wqe_mask / 2) {
		m = rig_tx_mbuf(pool, 0, 60, 1);
		CHECK(rig_tx_burst(t, MPW_COPY, &m, 1) == 1, "not sent");
		(void)rig_tx_run(t, complete, see, &s);
	}
	(void)rig_tx_burst(t, MPW_COPY, &m, 0);
	return t->txq.wqebb_comp - begin;
}

/* Completions are requested by rs_thresh WQEBBs, and by a quarter of the ring from one that came to 100 ms later. */
static void
watched(void)
{
	struct rig_tx *t = queue(10, 256, 64, 64);
	const uint16_t idle = t->txq.rs_thresh, busy = t->txq.q.wqe_mask / 4, enough = busy / 2;
	uint64_t ms = 1000000, now = 5000 * ms;
	struct rte_mbuf *m;

	mlxpmd_txq_watch(&t->txq.q, false, 0, now);
	CHECK(until_request(t, true) - idle <= 2, "new queue");
	mlxpmd_txq_watch(&t->txq.q, false, 0, now);
	CHECK(until_request(t, true) - busy <= 2, "busy");
	mlxpmd_txq_watch(&t->txq.q, false, 0, now);
	mlxpmd_txq_watch(&t->txq.q, false, 0, now + 99 * ms);
	while ((uint16_t)(t->txq.q.pi - t->txq.wqebb_comp) < enough) {
		m = rig_tx_mbuf(pool, 0, 60, 1);
		CHECK(rig_tx_burst(t, MPW_COPY, &m, 1) == 1, "not sent");
	}
	mlxpmd_txq_watch(&t->txq.q, false, 0, now + 100 * ms);
	CHECK(until_request(t, false) - enough <= 4, "the burst after 100 ms without a completion");
	mlxpmd_txq_watch(&t->txq.q, false, 0, now + 102 * ms);
	CHECK(until_request(t, true) - idle <= 2, "idle");
	mlxpmd_txq_watch(&t->txq.q, false, 0, now + 104 * ms);
	(void)mlxpmd_txq_rewind(&t->txq, false);
	CHECK(t->txq.wqebb_thresh == idle, "after a reset");
	rig_tx_free(t);
	CHECK(out() == 0, "%u out", out());
}

/* Lengths around a limit, with and without a tag, of all inline modes: which are copied, and what counts as lost. */
static void
limit_exact(unsigned int f, uint16_t limit)
{
	static const uint16_t headers[] = { 0, 18, 18 + 40, 18 + 40 + 20 };
	struct rig_tx *t = queue(10, 256, 0, limit);
	const unsigned int contained = RTE_MAX(limit, headers[inline_mode]);
	unsigned int len, segs, vlan, in_elts = 0, n = 0;
	struct seen s = { 0 };
	struct rte_mbuf *m;

	for (len = limit < 16 ? 13 : limit - 3; len <= limit + 3u; len++) {
		for (segs = 1; segs <= 3; segs++) {
			for (vlan = 0; vlan < 2; vlan++, n++) {
				m = rig_tx_mbuf(pool, len, len, segs);
				m->ol_flags = vlan ? RTE_MBUF_F_TX_VLAN : 0;
				CHECK(rig_tx_burst(t, f, &m, 1) == 1, "%u bytes: not taken", len);
				in_elts += len > limit;
				CHECK(t->txq.elts_pi == in_elts, "%u bytes, limit %u: %u in elts, not %u", len, limit,
				      t->txq.elts_pi, in_elts);
				s.copied = 0;
				s.bytes = 0;
				CHECK(rig_tx_run(t, false, see, &s) == 1, "%u bytes: not sent", len);
				/* A packet that is not longer than the header is in the WQE anyway. */
				CHECK(s.copied == (len <= contained), "%u bytes, limit %u", len, limit);
				CHECK(s.bytes == len + (vlan && (s.copied || inline_mode) ? 4u : 0),
				      "%u bytes, tag %u: %" PRIu64, len, vlan, s.bytes);
			}
		}
	}
	CHECK(mlxpmd_txq_rewind(&t->txq, false) == n, "not %u lost", n);
	CHECK(t->txq.q.stats.packets == 0 && t->txq.q.stats.bytes == 0 && t->txq.q.stats.errors == n,
	      "%" PRIu64 " packets, %" PRIu64 " bytes remain", t->txq.q.stats.packets, t->txq.q.stats.bytes);
	CHECK(out() == 0, "%u out", out());
	rig_tx_free(t);
}

/* Queues of devices that require inline headers. */
static void
headers_required(unsigned int f)
{
	static const uint16_t limits[] = { 14, 18, 19, 58, 60, 78, 79, 200, 930 };
	unsigned int i;

	for (inline_mode = 1; inline_mode <= 3; inline_mode++) {
		for (i = 0; i < RTE_DIM(limits); i++)
			limit_exact(f, limits[i]);
		borders(f, true);
		borders(f, false);
		fill_and_drain(f, 60, 7, 64);
		fill_and_drain(f, 128, 8, 64);
		for (i = 0; i < 12; i++)
			error_at(f, i, i % 2);
	}
	inline_mode = 0;
}

int
main(void)
{
	unsigned int i;

	rig_init();
	pool = rig_pool("inline", POOL, 0, 1024 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		wqe_bytes(MPW_COPY);
		wqe_bytes(MPW_COPY_FAST);
		wqe_bytes(MPW_COPY_FAST | MLXPMD_TX_F_OFFLOAD);
		borders(MPW_COPY, true);
		borders(MPW_COPY, false);
		borders(MLXPMD_TX_F_COPY, true);
		fill_and_drain(MPW_COPY, 60, 7, 64);
		fill_and_drain(MPW_COPY_FAST, 64, 7, 64);
		fill_and_drain(MPW_COPY_FAST, 250, 9, 64);
		fill_and_drain(MPW_COPY, 900, 10, 64);
		fill_and_drain(MLXPMD_TX_F_COPY, 128, 8, 64);
		long_burst(MPW_COPY);
		long_burst(MPW_COPY_FAST);
		owners();
		for (i = 20; i <= 300; i += 20)
			odd_owner(i);
		for (i = 0; i < 12; i++) {
			error_at(MPW_COPY, i, i % 2);
			error_at(MPW_COPY_FAST, i, false);
			error_at(MLXPMD_TX_F_COPY, i, false);
		}
		lost_in_flight();
		watched();
		limit_exact(MLXPMD_TX_F_COPY, 60);
		limit_exact(MLXPMD_TX_F_COPY, 930);
		headers_required(MLXPMD_TX_F_INLINE);
		headers_required(MLXPMD_TX_F_INLINE | MLXPMD_TX_F_TIMED);
	}
	return rig_end("tx_inline");
}
