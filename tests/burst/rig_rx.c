/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive side of the emulated device. Offsets and codes are literals from the PRM. */

#include "rig.h"

static void
put32(uint8_t *p, uint32_t v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

static uint32_t
get32(const void *at)
{
	const uint8_t *p = at;

	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static uint64_t
get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

void
rig_rx_release(struct rig_rx *r)
{
	rig_ring_free(r->cq, (size_t)64 << r->rxq.q.hw.cq.log_cqes);
	rig_ring_free(r->rq, (size_t)1 << (r->rxq.q.hw.rq.wq.log_wq_sz + r->rxq.q.hw.rq.wq.log_wq_stride));
	free(r);
}

bool rig_enhanced;

static struct rig_rx *
rx_new(uint8_t log_wqes, uint8_t log_segs, uint8_t log_cqes, struct rte_mempool *mp, uint64_t offloads)
{
	struct rig_rx *r = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*r), 64));

	memset(r, 0, sizeof(*r));
	r->cq = rig_ring_new((size_t)64 << log_cqes);
	r->rq = rig_ring_new((size_t)16 << (log_wqes + log_segs));
	r->port.mdv = &rig_mdv;
	r->rxq.q.port = &r->port;
	r->rxq.q.port_id = 3;
	r->rxq.q.queue_id = 1;
	r->rxq.mp = mp;
	r->rxq.q.offloads = offloads;
	r->rxq.q.nb_desc = 1u << (log_wqes + log_segs);
	r->rxq.log_segs = log_segs;
	r->rxq.q.hw.cq.log_cqes = log_cqes;
	r->rxq.q.hw.cq.enhanced = rig_enhanced;
	r->rxq.q.hw.cq.cqes = (void *)r->cq;
	r->rxq.q.hw.cq.dbrec = r->dbrec;
	r->rxq.q.hw.rq.wq.wqes = r->rq;
	r->rxq.q.hw.rq.wq.dbrec = &r->rq_dbrec;
	r->rxq.q.hw.rq.wq.log_wq_sz = log_wqes;
	r->rxq.q.hw.rq.wq.log_wq_stride = 4 + log_segs;
	return r;
}

static struct rig_rx *
rx_arm(struct rig_rx *r)
{
	if (mlxpmd_rxq_arm(&r->rxq.q) == 0) {
		/* The doorbell record must be 0 when the RQ goes to RDY. */
		CHECK(r->rq_dbrec == 0, "doorbell record 0x%x of an RQ in reset", r->rq_dbrec);
		mlxpmd_queue_ready(&r->rxq.q);
		return r;
	}
	rig_rx_release(r);
	return NULL;
}

struct rig_rx *
rig_rx_new(uint8_t log_wqes, uint8_t log_segs, uint8_t log_cqes, struct rte_mempool *mp,
	   uint64_t offloads, struct mlxpmd_clock *clock)
{
	struct rig_rx *r = rx_new(log_wqes, log_segs, log_cqes, mp, offloads);

	r->port.clock = clock;
	return rx_arm(r);
}

struct rig_rx *
rig_rx_split_new(uint8_t log_wqes, uint8_t log_segs, const struct rte_eth_rxseg_split *split, uint16_t n,
		 uint64_t offloads)
{
	struct rig_rx *r = rx_new(log_wqes, log_segs, log_wqes, split[0].mp, offloads);
	uint16_t i;

	for (i = 0; i < n; i++)
		r->split[i].split = split[i];
	r->rxq.conf.rx_seg = r->split;
	r->rxq.conf.rx_nseg = n;
	return rx_arm(r);
}

void
rig_rx_free(struct rig_rx *r)
{
	mlxpmd_rxq_disarm(&r->rxq.q);
	rig_rx_release(r);
}

/* Index of the next CQE, and the owner bit of this pass of the ring. */
static uint8_t *
cqe_slot(const struct rig_rx *r, uint8_t *owner)
{
	uint32_t n = 1u << r->rxq.q.hw.cq.log_cqes;

	/* In the enhanced layout readers have the number of the pass. */
	*owner = (r->rxq.q.hw.cq.enhanced ? rig_random() : r->cqe_count / n) & 1;
	return r->cq + (size_t)(r->cqe_count % n) * 64;
}

void
rig_rx_cqe(struct rig_rx *r, uint32_t len, uint16_t counter, const struct rig_rx_cqe *c)
{
	uint8_t owner, *cqe = cqe_slot(r, &owner);

	memset(cqe, 0, 0x3e);
	cqe[0x00] = c->pkt_info;
	cqe[0x02] = c->wqe_id >> 8;
	cqe[0x03] = c->wqe_id;
	cqe[0x04] = c->lro.flags;
	cqe[0x05] = c->lro.ttl;
	cqe[0x06] = c->lro.window >> 8;
	cqe[0x07] = c->lro.window;
	put32(cqe + 0x24, c->meta);
	put32(cqe + 0x08, c->lro.ack);
	put32(cqe + 0x0c, c->hash);
	cqe[0x10] = c->hash_type;
	cqe[0x14] = c->lro.sum[0];
	cqe[0x15] = c->lro.sum[1];
	cqe[0x1c] = c->hds;
	cqe[0x1d] = c->etc;
	cqe[0x1e] = c->vlan >> 8;
	cqe[0x1f] = c->vlan;
	/* The user index follows. */
	put32(cqe + 0x20, (uint32_t)c->lro.segs << 24 | 0xabcdef);
	put32(cqe + 0x2c, len);
	put32(cqe + 0x30, c->ts >> 32);
	put32(cqe + 0x34, c->ts);
	put32(cqe + 0x38, c->tag);
	cqe[0x3c] = counter >> 8;
	cqe[0x3d] = counter;
	cqe[0x3e] = r->rxq.q.hw.cq.enhanced ? r->cqe_count >> r->rxq.q.hw.cq.log_cqes : 0;
	cqe[0x3f] = (c->opcode != 0 ? c->opcode : 2) << 4 | owner;
	r->cqe_count++;
}

void
rig_rx_error(struct rig_rx *r, uint8_t syndrome, uint16_t counter)
{
	struct rig_rx_cqe c = { .opcode = 14 };
	uint8_t owner, *cqe = cqe_slot(r, &owner);

	rig_rx_cqe(r, 0, counter, &c);
	cqe[0x36] = 0x77;
	cqe[0x37] = syndrome;
}

/* Is the memory registered with this key? */
static bool
may_write(uint32_t lkey, uint64_t addr, uint32_t bytes)
{
	unsigned int i;

	for (i = 0; i < rig_nb_ranges; i++)
		if (rig_ranges[i].lkey == lkey && addr >= rig_ranges[i].start &&
		    addr + bytes <= rig_ranges[i].end)
			return true;
	return false;
}

/* Writes the data of a packet to the next WQE. false: none is posted. */
static bool
packet_write(struct rig_rx *r, uint32_t seq, uint32_t len)
{
	uint16_t posted = get32(&r->rq_dbrec) - r->wqe_count;
	uint32_t stride = 16u << r->rxq.log_segs, done = 0, part, s;
	const uint8_t *wqe = r->rq + (size_t)(r->wqe_count % (1u << r->rxq.q.hw.rq.wq.log_wq_sz)) * stride;

	if (posted == 0 || posted > 1u << r->rxq.q.hw.rq.wq.log_wq_sz) {
		CHECK(posted == 0, "doorbell record %u, counter %u", get32(&r->rq_dbrec), r->wqe_count);
		r->out_of_buffer++;
		return false;
	}
	/* The CQ must not overrun: the consumer index is at most one ring behind. */
	CHECK(r->cqe_count - get32(&r->dbrec[0]) < 1u << r->rxq.q.hw.cq.log_cqes, "CQ overrun");
	for (s = 0; done < len && s < stride / 16; s++, wqe += 16) {
		uint8_t *to = (uint8_t *)(uintptr_t)get64(wqe + 8);

		part = RTE_MIN(get32(wqe), len - done);
		CHECK(may_write(get32(wqe + 4), (uintptr_t)to, part), "lkey %#x", get32(wqe + 4));
		memcpy(to, rig_data(seq) + done, part);
		done += part;
	}
	CHECK(done == len, "packet of %u does not fit %u", len, done);
	return true;
}

bool
rig_rx_packet(struct rig_rx *r, uint32_t seq, uint32_t len, const struct rig_rx_cqe *c)
{
	if (!packet_write(r, seq, len))
		return false;
	rig_rx_cqe(r, len, r->wqe_count, c);
	r->wqe_count++;
	return true;
}

/* ---- compressed sessions ---- */

void
rig_rx_session_begin(struct rig_rx *r, uint8_t format, struct rig_rx_session *s)
{
	memset(s, 0, sizeof(*s));
	s->format = format;
	s->cqe_count = r->cqe_count;
	s->counter = r->wqe_count;
}

void
rig_rx_session_add(struct rig_rx *r, struct rig_rx_session *s, uint32_t byte_cnt, int stride,
		   const struct rig_rx_cqe *c)
{
	uint8_t *mini = s->minis + 8 * (size_t)s->n;

	if (s->n == 0) {
		s->title = *c;
		s->byte_cnt = byte_cnt;
	}
	/* Formats 3 and 5 have a checksum of the data; format 3 has no stride index. */
	put32(mini, rig_random());
	put32(mini + 4, byte_cnt);
	switch (s->format) {
	case 1: /* Hash. */
		put32(mini, c->hash);
		break;
	case 2: /* Flow tag: 15:0, 23:16 above the length; stride index. The number of strides is not there. */
		mini[0] = c->tag >> 8;
		mini[1] = c->tag;
		mini[4] = c->tag >> 16;
		mini[5] = stride >= 0 ? rig_random() : mini[5];
		break;
	case 4: /* L3 and L4 types, reserved; stride index. */
		mini[0] = c->etc;
		break;
	}
	if (stride >= 0 && s->format != 1 && s->format != 3) {
		mini[2] = stride >> 8;
		mini[3] = stride;
	}
	s->n++;
	/* The CQ must not overrun. */
	r->cqe_count++;
}

bool
rig_rx_session_packet(struct rig_rx *r, struct rig_rx_session *s, uint32_t seq, uint32_t len,
		      const struct rig_rx_cqe *c)
{
	if (s->n == RIG_SESSION_MAX || !packet_write(r, seq, len))
		return false;
	rig_rx_session_add(r, s, len, -1, c);
	r->wqe_count++;
	return true;
}

static uint8_t *
session_slot(const struct rig_rx *r, const struct rig_rx_session *s, uint32_t i)
{
	return r->cq + (size_t)((s->cqe_count + i) % (1u << r->rxq.q.hw.cq.log_cqes)) * 64;
}

void
rig_rx_block(struct rig_rx *r, const uint8_t *minis, uint32_t n)
{
	uint8_t owner, *cqe = cqe_slot(r, &owner);
	unsigned int i;

	for (i = 0; i < 0x3e; i++)
		cqe[i] = i < 8 * n ? minis[i] : rig_random();
	cqe[0x3e] = r->cqe_count >> r->rxq.q.hw.cq.log_cqes;
	cqe[0x3f] = (n - 1) << 4 | 3 << 2 | owner;
	r->cqe_count += n;
}

void
rig_rx_session_end(struct rig_rx *r, struct rig_rx_session *s)
{
	uint32_t cqe_count = r->cqe_count, i, n;

	if (s->n == 0)
		return;
	if (r->rxq.q.hw.cq.enhanced) {
		r->cqe_count = s->cqe_count;
		rig_rx_cqe(r, s->byte_cnt, s->counter, &s->title);
		for (i = 1; i < s->n; i += n) {
			n = RTE_MIN(s->n - i, rig_random() % 2 ? 7 : 1 + rig_random() % 7);
			rig_rx_block(r, s->minis + (size_t)i * 8, n);
		}
		return;
	}
	/* What an array has after its last mini CQE is not defined. */
	for (i = s->n * 8; i < sizeof(s->minis); i++)
		s->minis[i] = rig_random();
	for (i = 0; s->n > 1 && i < s->n; i += 8)
		memcpy(session_slot(r, s, i == 0 ? 1 : i), s->minis + (size_t)i * 8, 64);
	r->cqe_count = s->cqe_count;
	/* A single completion is not compressed. */
	rig_rx_cqe(r, s->n > 1 ? s->n : s->byte_cnt, s->counter, &s->title);
	if (s->n > 1)
		session_slot(r, s, 0)[0x3f] |= 3 << 2;
	r->cqe_count = cqe_count;
}

/* Pool, begin and bytes of a packet's segment (rte_ethdev.h, struct rte_eth_rxseg_split). */
static struct rte_eth_rxseg_split
segment(const struct rig_rx *r, uint32_t i)
{
	const uint16_t n = r->rxq.conf.rx_nseg;
	struct rte_eth_rxseg_split s = { .mp = n != 0 ? r->split[n - 1].split.mp : r->rxq.mp };

	if (i < n)
		s = r->split[i].split;
	if (i == 0)
		s.offset += RTE_PKTMBUF_HEADROOM;
	if (s.length == 0)
		s.length = rte_pktmbuf_data_room_size(s.mp) - s.offset;
	return s;
}

bool
rig_rx_match(const struct rig_rx *r, const struct rte_mbuf *m, uint32_t seq, uint32_t len)
{
	struct rte_eth_rxseg_split want;
	uint32_t at = 0, nb = 0;
	const struct rte_mbuf *s;

	if (m->pkt_len != len || m->port != 3)
		return false;
	for (s = m; s != NULL; s = s->next, nb++) {
		const uint8_t *p = rte_pktmbuf_mtod(s, const uint8_t *);

		want = segment(r, nb);
		if (rte_mbuf_refcnt_read(s) != 1 || s->pool != want.mp || s->data_len == 0 ||
		    s->data_off != want.offset || s->data_len > want.length ||
		    (s->next != NULL && s->data_len != want.length))
			return false;
		if (memcmp(p, rig_data(seq) + at, s->data_len) != 0)
			return false;
		at += s->data_len;
	}
	return at == len && nb == m->nb_segs;
}

void
rig_rx_entries_check(const struct rig_rx *r)
{
	const struct mlxpmd_queue *q = &r->rxq.q;
	uint32_t ci;

	for (ci = r->cqe_count; ci != q->cq_ci + q->cqe_mask + 1; ci++)
		CHECK(mlxpmd_queue_cqe_absent(q, ci), "entry %u of consumer index %u", ci & q->cqe_mask, ci);
	/* After a session in the basic layout the distance to its end is limited with each refill, or it would wrap. */
	CHECK(r->rxq.owned_ci == 0 || q->cq_ci - r->rxq.owned_ci < 2u * (q->cqe_mask + 1), "owned_ci %u, index %u",
	      r->rxq.owned_ci, q->cq_ci);
}

void
rig_rx_mbufs_compare(const char *what, const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	CHECK(a->ol_flags == b->ol_flags && a->packet_type == b->packet_type && a->vlan_tci == b->vlan_tci,
	      "%s: flags %#" PRIx64 ", not %#" PRIx64, what, b->ol_flags, a->ol_flags);
	CHECK(a->pkt_len == b->pkt_len && a->data_len == b->data_len && a->nb_segs == b->nb_segs, "%u bytes, not %u",
	      b->pkt_len, a->pkt_len);
	CHECK(a->hash.fdir.hi == b->hash.fdir.hi || !(a->ol_flags & RTE_MBUF_F_RX_FDIR_ID), "tag %#x, not %#x",
	      b->hash.fdir.hi, a->hash.fdir.hi);
	CHECK(a->hash.rss == b->hash.rss || !(a->ol_flags & RTE_MBUF_F_RX_RSS_HASH), "hash %#x, not %#x", b->hash.rss,
	      a->hash.rss);
	CHECK(a->data_off == b->data_off, "data offset %u, not %u", b->data_off, a->data_off);
}
