/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * All instruction sets give the results of the scalar bursts: two queues get the same completions, also invalid ones;
 * then all mbuf fields, counters and indices must agree, and no undelivered mbuf may have been written.
 */

/* rte_pktmbuf_pool_create_extbuf(), rte_vect_set_max_simd_bitwidth() */
#define ALLOW_EXPERIMENTAL_API

#include <rte_mbuf_dyn.h>
#include <rte_vect.h>

#include "rig.h"

#define BUF_BYTES (2048 + RTE_PKTMBUF_HEADROOM)
#define BURST_MAX 96
#define KEPT_MAX 8192
#define POISON 0xa5
/* rearm_data .. hash. */
#define IMAGE_AT 16
#define IMAGE_BYTES 32

enum { SCALAR, VECTOR, ARMS };
struct arm {
	struct rte_mempool *mp;
	void *buffers;	/* Of a pool with pinned external buffers. */
	struct rig_rx *r;
	struct rte_mbuf *got[BURST_MAX];
	struct rte_mbuf *kept[KEPT_MAX];
};
/* Parameters of a run. */
struct plan {
	const char *what;
	uint8_t log_wqes, log_cqes;
	unsigned int pool, cache;
	bool pinned;
	unsigned int odd;	/* One completion in so many is invalid; 0: none. */
	unsigned int keep;	/* Bursts until the packets are freed. */
	unsigned int rounds;
};
static const struct plan plans[] = {
	{ "small ring", 4, 4, 128, 0, false, 0, 0, 800 },
	{ "ring", 6, 6, 512, 64, false, 0, 1, 800 },
	{ "larger CQ", 6, 8, 512, 64, false, 0, 2, 500 },
	{ "senseless", 6, 6, 512, 32, false, 50, 1, 3000 },
	{ "all senseless", 5, 5, 256, 0, false, 3, 0, 3000 },
	{ "pinned", 6, 6, 512, 32, true, 200, 1, 500 },
	{ "short of mbufs", 6, 6, 96, 16, false, 300, 6, 800 },
};
static struct arm arms[ARMS];
static struct mlxpmd_clock clock_;
static struct mlxpmd_clock_snap line;
static int ts_at;
static uint64_t ts_flag;
static unsigned int nb_kept, nb_restarts, nb_groups, nb_absent;
static unsigned int f;
static bool senseless;

static struct rte_mempool *
pool_pinned(const char *name, struct arm *a, const struct plan *p)
{
	struct rte_pktmbuf_extmem mem = { .buf_len = (size_t)p->pool * BUF_BYTES, .elt_size = BUF_BYTES };

	mem.buf_ptr = aligned_alloc(4096, RTE_ALIGN_CEIL(mem.buf_len, 4096));
	mem.buf_iova = RTE_BAD_IOVA;
	a->buffers = mem.buf_ptr;
	return rte_pktmbuf_pool_create_extbuf(name, p->pool, p->cache, 0, BUF_BYTES, SOCKET_ID_ANY, &mem, 1);
}

static void
arms_open(const struct plan *p)
{
	static unsigned int serial;
	char name[32];
	unsigned int i;

	rig_ranges_clear();
	for (i = 0; i < ARMS; i++) {
		snprintf(name, sizeof(name), "arm%u", serial++);
		arms[i].mp = p->pinned ? pool_pinned(name, &arms[i], p) : rig_pool(name, p->pool, p->cache, BUF_BYTES);
		CHECK(arms[i].mp != NULL, "no mempool");
	}
}

static void
queues_open(const struct plan *p)
{
	uint64_t offloads = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM |
			    ((f & MLXPMD_RX_F_STAMP) ? RTE_ETH_RX_OFFLOAD_TIMESTAMP : 0);
	unsigned int i;

	for (i = 0; i < ARMS; i++)
		arms[i].r = rig_rx_new(p->log_wqes, 0, p->log_cqes, arms[i].mp, offloads, &clock_);
}

static void
kept_free(void)
{
	unsigned int i, k;

	for (i = 0; i < ARMS; i++)
		for (k = 0; k < nb_kept; k++)
			rte_pktmbuf_free(arms[i].kept[k]);
	nb_kept = 0;
}

static void
queues_close(void)
{
	unsigned int i;

	for (i = 0; i < ARMS; i++)
		rig_rx_free(arms[i].r);
}

static void
arms_close(const struct plan *p)
{
	unsigned int i;

	kept_free();
	for (i = 0; i < ARMS; i++) {
		CHECK(rte_mempool_avail_count(arms[i].mp) == p->pool, "%s: %u of %u mbufs came home", p->what,
		      rte_mempool_avail_count(arms[i].mp), p->pool);
		rig_pool_free(arms[i].mp);
		free(arms[i].buffers);
		arms[i].buffers = NULL;
	}
}

static uint64_t
random64(void)
{
	return (uint64_t)rig_random() << 32 | rig_random();
}

/* Device timestamps, most of which can be converted. */
static uint64_t
random_timestamp(void)
{
	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_TICKS || rig_random() % 64 == 0)
		return random64();
	if ((f & MLXPMD_RX_F_STAMP) == MLXPMD_RX_F_PACKED)
		return (uint64_t)rig_random() << 32 | (rig_random() % 1000000000);
	return line.base + random64() % RTE_MAX(line.span, 1u) + (rig_random() % 8 ? 0 : random64() & ~line.mask);
}

/* Publishes a random line; one of 16 is the identity of raw ticks, one of 16 has expired. */
static void
line_new(void)
{
	uint64_t mask = RTE_BIT64(41 + rig_random() % 8) - 1;
	uint32_t kind = rig_random() % 16;

	memset(&line, 0, sizeof(line));
	line.mask = rig_random() % 2 ? RTE_BIT64(41) - 1 : mask;
	line.span = line.mask >> (1 + rig_random() % 20);
	line.base = random64() & line.mask;
	line.shift = 21 + rig_random() % 12;
	line.mult = rig_random();
	line.frac = random64() & (RTE_BIT64(line.shift) - 1);
	line.start = random64();
	if (kind == 0) /* Vector bursts do not convert by it. */
		mlxpmd_clock_snap_raw(&line);
	line.expires_tsc = rte_rdtsc() + (kind == 1 ? -1 : INT64_MAX / 2);
	mlxpmd_clock_publish(&clock_, &line, NULL);
}

static struct rig_rx_cqe
random_headers(void)
{
	bool plain = rig_random() % 4;

	return (struct rig_rx_cqe){
		.pkt_info = plain ? 0 : rig_random(),
		.hash_type = rig_random() % 8 ? rig_random() : 0,
		.hds = plain ? 7 : rig_random(),
		.etc = plain ? 0x18 : rig_random(),
		.hash = rig_random(),
		.tag = rig_random() % 32 ? 0 : rig_random(),
		.vlan = rig_random(),
		.ts = random_timestamp(),
	};
}

static uint8_t *
slot(const struct rig_rx *r, uint32_t index)
{
	return r->cq + (size_t)(index & ((1u << r->rxq.q.hw.cq.log_cqes) - 1)) * 64;
}

/* Makes the newest completion of both queues invalid in the same way. */
static void
spoil(uint32_t what, uint32_t value)
{
	static const uint32_t lengths[] = { 0, 1, 2048, 2049, 0x80000000, 0xffffffff };
	uint32_t len = rte_cpu_to_be_32(lengths[value % RTE_DIM(lengths)]);
	unsigned int i;

	for (i = 0; i < ARMS; i++) {
		uint8_t *cqe = slot(arms[i].r, arms[i].r->cqe_count - 1);

		switch (what) {
		case 0:
			memcpy(cqe + 0x2c, &len, 4);
			break;
		case 1:
			cqe[0x3f] = (cqe[0x3f] & 0x0f) | value << 4;
			break;
		case 2:
			cqe[0x3d] += value;
			break;
		case 3:
			cqe[0x3f] ^= value & 0x0c;
			break;
		case 4: /* Packet too long: only this packet is dropped. */
			cqe[0x3f] = (cqe[0x3f] & 1) | 0xe0;
			cqe[0x37] = 1;
			break;
		case 5:
			cqe[value % 64] = value >> 8;
			break;
		default: /* Written later: see late(). */
			cqe[0x3f] ^= 1;
			break;
		}
	}
}

/* Writes the valid owner bit to all CQEs, and a valid opcode to those that have opcode 15. */
static void
late(void)
{
	uint32_t ci;
	unsigned int i;

	for (i = 0; i < ARMS; i++) {
		struct rig_rx *r = arms[i].r;

		for (ci = r->rxq.q.cq_ci; ci != r->cqe_count; ci++) {
			uint8_t *cqe = slot(r, ci);

			cqe[0x3f] = (cqe[0x3f] & 0xfe) | (ci >> r->rxq.q.hw.cq.log_cqes & 1);
			if (cqe[0x3f] >> 4 == 15)
				cqe[0x3f] = 0x20 | (cqe[0x3f] & 0x0f);
		}
	}
}

static void
arrive(const struct plan *p, uint32_t *seq)
{
	uint32_t len = 1 + rig_random() % (rig_random() % 8 ? 128 : 2048);
	struct rig_rx_cqe c = random_headers();
	bool there[ARMS];
	unsigned int i;

	for (i = 0; i < ARMS; i++)
		there[i] = rig_rx_packet(arms[i].r, *seq, len, &c);
	CHECK(there[SCALAR] == there[VECTOR], "posted %u and %u", there[SCALAR], there[VECTOR]);
	if (there[SCALAR] && p->odd != 0 && rig_random() % p->odd == 0)
		spoil(rig_random() % 8, rig_random());
	(*seq)++;
}

static struct rte_mbuf *
posted(const struct rig_rx *r, uint16_t index)
{
	return r->rxq.q.elts[index & r->rxq.q.wqe_mask];
}

/* Fills the posted mbufs with a pattern, to detect writes. */
static void
poison(void)
{
	unsigned int i;
	uint16_t w;

	for (i = 0; i < ARMS; i++)
		for (w = arms[i].r->rxq.q.ci; w != arms[i].r->rxq.q.pi; w++) {
			memset((uint8_t *)posted(arms[i].r, w) + IMAGE_AT, POISON, IMAGE_BYTES);
			memset((uint8_t *)posted(arms[i].r, w) + ts_at, POISON, 8);
		}
}

static void
untouched(const struct arm *a, uint16_t rq_pi)
{
	uint8_t want[IMAGE_BYTES];
	uint16_t w;

	memset(want, POISON, sizeof(want));
	for (w = a->r->rxq.q.ci; w != rq_pi; w++) {
		const uint8_t *m = (const uint8_t *)posted(a->r, w);

		CHECK(memcmp(m + IMAGE_AT, want, IMAGE_BYTES) == 0, "features %u: an undelivered mbuf was written", f);
		CHECK(memcmp(m + ts_at, want, 8) == 0, "features %u: an undelivered mbuf got a timestamp", f);
	}
}

static void
same_mbuf(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	uint64_t flags = a->ol_flags;

	CHECK(memcmp(&a->rearm_data, &b->rearm_data, 8) == 0, "rearm_data");
	CHECK(flags == b->ol_flags, "features %u: ol_flags %#" PRIx64 " not %#" PRIx64, f, b->ol_flags, flags);
	CHECK(a->packet_type == b->packet_type, "packet_type %#x not %#x", b->packet_type, a->packet_type);
	CHECK(a->pkt_len == b->pkt_len && a->data_len == b->data_len, "%u of %u not %u of %u", b->data_len,
	      b->pkt_len, a->data_len, a->pkt_len);
	CHECK(a->vlan_tci == b->vlan_tci, "vlan_tci %#x not %#x", b->vlan_tci, a->vlan_tci);
	CHECK(!(f & MLXPMD_RX_F_HASH) || a->hash.rss == b->hash.rss, "rss %#x not %#x", b->hash.rss, a->hash.rss);
	CHECK(!(flags & RTE_MBUF_F_RX_FDIR_ID) || a->hash.fdir.hi == b->hash.fdir.hi, "mark %#x not %#x",
	      b->hash.fdir.hi, a->hash.fdir.hi);
	CHECK(!(flags & ts_flag) || *RTE_MBUF_DYNFIELD(a, ts_at, const uint64_t *) ==
	      *RTE_MBUF_DYNFIELD(b, ts_at, const uint64_t *), "features %u: timestamp", f);
	CHECK(a->next == NULL && b->next == NULL, "next");
	/* An invalid length exceeds the data that was written. */
	CHECK(senseless || memcmp(rte_pktmbuf_mtod(a, void *), rte_pktmbuf_mtod(b, void *), a->data_len) == 0,
	      "payload");
}

/* Checks that the WQEs have the addresses of the mbufs. */
static void
wqes_fit(const struct rig_rx *r)
{
	const struct mlxpmd_rxq *q = &r->rxq;
	uint16_t w;

	for (w = q->q.ci; w != q->q.pi; w++) {
		const struct mlx5_wqe_data_seg *seg = mlxpmd_rx_dseg(q, w & q->q.wqe_mask);
		const struct rte_mbuf *m = posted(r, w);

		CHECK(rte_be_to_cpu_64(seg->addr) == (uintptr_t)m->buf_addr + RTE_PKTMBUF_HEADROOM, "WQE %u: address", w);
		CHECK(seg->byte_count == rte_cpu_to_be_32(q->seg_first_bytes), "WQE %u: byte_count", w);
		CHECK(seg->lkey == q->lkey_be, "WQE %u: lkey", w);
	}
}

static void
same_queue(const struct rig_rx *a, const struct rig_rx *b)
{
	CHECK(a->rxq.q.cq_ci == b->rxq.q.cq_ci && a->rxq.q.ci == b->rxq.q.ci && a->rxq.q.pi == b->rxq.q.pi,
	      "indices %u %u %u not %u %u %u", b->rxq.q.cq_ci, b->rxq.q.ci, b->rxq.q.pi, a->rxq.q.cq_ci, a->rxq.q.ci, a->rxq.q.pi);
	CHECK(a->rxq.q.state == b->rxq.q.state && a->rxq.q.cause == b->rxq.q.cause, "state %u not %u", b->rxq.q.state, a->rxq.q.state);
	CHECK(a->rxq.q.syndrome == b->rxq.q.syndrome && a->rxq.q.starved == b->rxq.q.starved, "syndrome, starved");
	CHECK(memcmp(&a->rxq.q.stats, &b->rxq.q.stats, sizeof(a->rxq.q.stats)) == 0, "features %u: counters", f);
	CHECK(a->dbrec[0] == b->dbrec[0] && a->rq_dbrec == b->rq_dbrec, "doorbell records");
}

static void
receive(void)
{
	uint16_t want = rig_random() % (rig_random() % 2 ? 8 : BURST_MAX), n[ARMS], pi[ARMS], i;

	for (i = 0; i < ARMS; i++)
		pi[i] = arms[i].r->rxq.q.pi;
	poison();
	n[SCALAR] = rig_rx_call(arms[SCALAR].r, mlxpmd_rx_templates[f].burst, arms[SCALAR].got, want);
	n[VECTOR] = rig_rx_burst(arms[VECTOR].r, f, arms[VECTOR].got, want);
	CHECK(n[SCALAR] == n[VECTOR], "features %u: %u packets not %u", f, n[VECTOR], n[SCALAR]);
	nb_groups += n[VECTOR] >= 8;
	same_queue(arms[SCALAR].r, arms[VECTOR].r);
	for (i = 0; i < ARMS; i++) {
		untouched(&arms[i], pi[i]);
		wqes_fit(arms[i].r);
	}
	for (i = 0; i < RTE_MIN(n[SCALAR], n[VECTOR]); i++, nb_kept++) {
		same_mbuf(arms[SCALAR].got[i], arms[VECTOR].got[i]);
		arms[SCALAR].kept[nb_kept] = arms[SCALAR].got[i];
		arms[VECTOR].kept[nb_kept] = arms[VECTOR].got[i];
	}
}

static void
restart(const struct plan *p)
{
	nb_restarts++;
	nb_absent += arms[VECTOR].r->rxq.q.stats.ts_absent;
	queues_close();
	kept_free(); /* Arming fills the whole ring. */
	queues_open(p);
}

static void
play(const struct plan *p)
{
	uint32_t round, seq = 0, n;

	senseless = p->odd != 0;
	arms_open(p);
	queues_open(p);
	/* With the lkey that the queue uses for the pool. */
	for (n = 0; n < ARMS && p->pinned; n++)
		rig_range_add(arms[n].buffers, (size_t)p->pool * BUF_BYTES, rte_be_to_cpu_32(arms[n].r->rxq.lkey_be));
	for (round = 0; round < p->rounds && check_failures == 0; round++) {
		if (round % 64 == 0)
			line_new();
		for (n = rig_random() % (rig_random() % 3 ? 70 : 6); n != 0; n--)
			arrive(p, &seq);
		receive();
		late();
		if (p->keep == 0 || round % p->keep == 0)
			kept_free();
		if (arms[SCALAR].r->rxq.q.state != MLXPMD_QS_READY)
			restart(p);
	}
	CHECK(check_failures == 0, "%s, %s, features %u, round %u", rig_variant->name, p->what, f, round);
	nb_absent += arms[VECTOR].r->rxq.q.stats.ts_absent;
	queues_close();
	arms_close(p);
}

/* All values of the header bits, in groups; test_rx_fields checks their meaning. */
static void
headers(void)
{
	static const struct plan p = { "headers", 6, 6, 256, 32, false, 0, 0, 0 };
	unsigned int i, k;

	senseless = false;
	arms_open(&p);
	queues_open(&p);
	for (i = 0; i < 1u << 16; i++) {
		struct rig_rx_cqe c = { .hds = i >> 8 & 7, .etc = i, .pkt_info = i >> 11 & 7,
					.hash_type = i >> 14 & 1 ? 1u << (i & 7) : 0, .vlan = i,
					.ts = random_timestamp() };

		for (k = 0; k < ARMS; k++)
			CHECK(rig_rx_packet(arms[k].r, i, 60, &c), "no WQE");
		if (i % 32 == 31) {
			while (arms[SCALAR].r->rxq.q.cq_ci != arms[SCALAR].r->cqe_count && check_failures == 0)
				receive();
			kept_free();
		}
	}
	queues_close();
	arms_close(&p);
}

/* The widest variant of the CPU that EAL's limit of vector widths allows, or the one by devarg, and the reason. */
static void
choice(bool tx, unsigned int f, unsigned int other, const char *other_why)
{
	static const uint16_t limits[] = { 512, 256, 128, 64 };
	const struct mlxpmd_variant *v, *widest = mlxpmd_variants;
	const struct mlxpmd_template *t;
	const char *why, *because;
	unsigned int i;

	while (mlxpmd_variant_template(widest, tx, f) == NULL || !widest->cpu_has())
		widest++;
	for (i = 0; i < RTE_DIM(limits); i++) {
		CHECK(rte_vect_set_max_simd_bitwidth(limits[i]) == 0, "the limit is fixed");
		v = widest;
		while (v->simd_bits > limits[i] || mlxpmd_variant_template(v, tx, f) == NULL || !v->cpu_has())
			v++;
		because = v != widest ? "beyond EAL's --force-max-simd-bitwidth" :
			  v->simd_bits == 0 ? "no vector instructions" : NULL;
		t = mlxpmd_variant_choose(tx, f, MLXPMD_BURST_AUTO, &why);
		CHECK(t == mlxpmd_variant_template(v, tx, f) &&
		      (because == NULL ? why == NULL : why != NULL && strstr(why, because) != NULL), "%u: %s",
		      limits[i], why);
		for (v = mlxpmd_variants; v->name != NULL; v++) {
			int want = v->cpu_has() && v->simd_bits <= limits[i] ? 0 : -ENOTSUP;

			CHECK(mlxpmd_variant_check("dev", "key", v->mode) == want, "%s within %u", v->name, limits[i]);
			if (want != 0 || mlxpmd_variant_template(v, tx, f) == NULL)
				continue;
			t = mlxpmd_variant_choose(tx, f, v->mode, &why);
			CHECK(t == mlxpmd_variant_template(v, tx, f) && why != NULL &&
			      strstr(why, "selected by devarg") != NULL, "%s: %s", v->name, why);
		}
		t = mlxpmd_variant_choose(tx, other, MLXPMD_BURST_AUTO, &why);
		CHECK(strncmp(t->name, "Scalar", 6) == 0 &&
		      (other_why == NULL ? why == NULL : why != NULL && strstr(why, other_why) != NULL), "%s: %s",
		      t->name, why);
	}
	CHECK(rte_vect_set_max_simd_bitwidth(512) == 0, "the limit is fixed");
	CHECK(mlxpmd_variant_check("dev", "key", MLXPMD_BURST_AUTO) == 0, "auto is refused");
}

int
main(void)
{
	unsigned int i;

	rig_init();
	choice(false, 0, MLXPMD_RX_F_SCATTER, "several segments");
	choice(true, MLXPMD_TX_F_MPW, 0, NULL);
	CHECK(rte_mbuf_dyn_rx_timestamp_register(&ts_at, &ts_flag) == 0, "no field");
	RIG_EACH {
		if (rig_variant->simd_bits == 0)
			break;
		for (f = 0; f < MLXPMD_RX_F_STRIDING; f++) {
			if (rig_variant->rx[f].burst == NULL)
				continue;
			line_new();
			for (i = 0; i < RTE_DIM(plans); i++)
				play(&plans[i]);
			if (!(f & MLXPMD_RX_F_STAMP))
				headers();
		}
		CHECK(nb_restarts > 1000 && nb_groups > 1000 && nb_absent > 1000, "%u restarts, %u long bursts, %u timestamps absent",
		      nb_restarts, nb_groups, nb_absent);
	}
	return rig_end("rx_variants");
}
