/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Completions: an mbuf is freed once, after its completion; errors lose the packets that were not sent. */

#include <rte_errno.h>

#include "rig.h"

#define POOL 2047
static struct rte_mempool *pool;

static void
home(const char *what)
{
	unsigned int n = rte_mempool_avail_count(pool);

	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

static void
ignore(void *arg __rte_unused, const struct rig_tx_packet *p __rte_unused)
{
}

static unsigned int
send_n(struct rig_tx *t, unsigned int f, unsigned int n)
{
	struct rte_mbuf *pkts[64];
	unsigned int i, took;

	for (i = 0; i < n; i++)
		pkts[i] = rig_tx_mbuf(pool, i, 64, 1);
	took = rig_tx_burst(t, f, pkts, n);
	rte_pktmbuf_free_bulk(pkts + took, n - took);
	return took;
}

static unsigned int
out(void)
{
	return POOL - rte_mempool_avail_count(pool);
}

/* mbufs are not freed before their completion; a full ring takes no packets; completions free entries. */
static void
fill_and_drain(unsigned int f, unsigned int burst, uint16_t rs_thresh)
{
	unsigned int lap, n, total, wake;
	struct rig_tx *t;

	rig_rs_thresh = rs_thresh;
	t = rig_tx_new(6, 64, 7, 63, 0);
	rig_rs_thresh = 0;
	for (lap = 0; lap < 50; lap++) {
		total = out();
		for (wake = 0; (n = send_n(t, f, burst)) != 0; total += n, wake++)
			CHECK(out() == total + n, "freed %u early", total + n - out());
		CHECK(total == 64, "ring of 64 took %u", total);
		CHECK(send_n(t, f, burst) == 0, "a full ring took more");
		CHECK(lap != 0 || t->txq.q.stats.doorbells == wake, "%" PRIu64 " doorbells for %u bursts",
		      t->txq.q.stats.doorbells, wake);
		(void)rig_tx_run(t, true, ignore, NULL);
		CHECK(t->any_cqe_requested, "no completion was requested in a full ring");
		(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
		CHECK(out() < rs_thresh + burst, "%u still out", out());
		CHECK(mlxpmd_tx_descriptor_status(&t->txq, 0) == RTE_ETH_TX_DESC_DONE, "next place is free");
		CHECK(out() == 0 || mlxpmd_tx_descriptor_status(&t->txq, 63) == RTE_ETH_TX_DESC_FULL, "oldest");
	}
	CHECK(t->txq.q.stats.packets == t->txq.q.stats.bytes / 64 && t->txq.q.stats.errors == 0, "counters");
	rig_tx_free(t);
	home("fill_and_drain");
}

/* Packets up to the first one whose completion is requested; 0: the queue cannot be armed. */
static unsigned int
first_completion(uint8_t log_wqebbs, uint16_t nb_desc, uint8_t log_cqes, uint16_t rs_thresh)
{
	struct rig_tx *t;
	unsigned int n;

	rig_rs_thresh = rs_thresh;
	t = rig_tx_new(log_wqebbs, nb_desc, log_cqes, 63, 0);
	rig_rs_thresh = 0;
	if (t == NULL) {
		CHECK(rte_errno == EINVAL, "errno %d", rte_errno);
		return 0;
	}
	for (n = 0; !t->any_cqe_requested && n < 300; n++) {
		CHECK(send_n(t, 0, 1) == 1, "not taken");
		(void)rig_tx_run(t, false, ignore, NULL);
	}
	rig_tx_free(t);
	return n;
}

/*
 * At most a quarter of the mbufs, or of the WQEBBs, are without completion; the CQ has an entry for each of the others,
 * and eight more.
 */
static void
thresholds(void)
{
	static const struct {
		uint8_t log_wqebbs;
		uint16_t nb_desc;
		uint8_t log_cqes;
		uint16_t rs_thresh;
		unsigned int first;
	} rows[] = {
		{ 8, 256, 8, 0, 32 }, { 7, 256, 8, 0, 32 }, { 6, 256, 8, 0, 16 }, { 8, 64, 8, 0, 16 },
		{ 8, 256, 8, 5, 5 },
		/* Few descriptors are eight, and a power of two. */
		{ 8, 1, 4, 0, 2 }, { 8, 9, 4, 0, 4 }, { 1, 8, 4, 0, 1 }, { 8, 256, 8, 65535, 64 },
		/* Twice as many without completion until the CQ suffices. */
		{ 8, 256, 9, 1, 1 }, { 8, 256, 8, 1, 2 }, { 8, 256, 4, 5, 40 }, { 8, 256, 4, 28, 56 },
		{ 8, 256, 4, 31, 31 },
		{ 8, 256, 4, 32, 32 }, { 9, 512, 4, 40, 80 }, { 8, 512, 4, 50, 64 }, { 6, 128, 4, 0, 16 },
		{ 8, 256, 3, 0, 0 }, { 6, 512, 5, 0, 0 }, { 6, 512, 6, 0, 16 },
		/* The largest rings. */
		{ 9, 512, 9, 0, 32 }, { 10, 1024, 10, 0, 64 }, { 15, 32768, 15, 0, 64 },
		{ 16, 32768, 15, 0, 0 }, { 15, 32768, 16, 0, 0 }, { 15, 32769, 15, 0, 0 },
	};
	unsigned int i, first;

	for (i = 0; i < RTE_DIM(rows); i++) {
		first = first_completion(rows[i].log_wqebbs, rows[i].nb_desc, rows[i].log_cqes, rows[i].rs_thresh);
		CHECK(first == rows[i].first, "row %u: after %u", i, first);
	}
	home("thresholds");
}

/* A queue that cannot be armed holds no memory; nor does one whose device cannot send a packet of one segment. */
static void
not_armed(void)
{
	/* Smallest of max_ds: title, inline header and tag after the two bytes in the title, one data segment. */
	static const uint8_t smallest[] = { 4, 5, 7, 9 };
	const int live = rig_memory_live;
	struct rig_tx *t;
	uint8_t mode;

	for (mode = 0; mode < RTE_DIM(smallest); mode++) {
		rte_errno = 0;
		CHECK(rig_tx_new(6, 64, 6, smallest[mode] - 1, mode) == NULL && rte_errno == EINVAL, "mode %u", mode);
		t = rig_tx_new(6, 64, 6, smallest[mode], mode);
		CHECK(t != NULL, "mode %u", mode);
		rig_tx_free(t);
	}
	rte_errno = 0;
	CHECK(rig_tx_new(6, 64, 6, 63, 4) == NULL && rte_errno == EINVAL, "an unknown mode");
	for (unsigned int at = 1; at <= 2; at++) {
		rig_memory_fails_at = at;
		CHECK(rig_tx_new(6, 64, 6, 63, 0) == NULL && rte_errno == ENOMEM, "without memory: %d", rte_errno);
		CHECK(rig_memory_live == live, "%d allocations", rig_memory_live - live);
	}
	CHECK(rig_memory_fails_at == 0, "fewer allocations");
}

enum { CSUM = 1, VXLAN = 2, GRE = 4, GENEVE = 8, IPIP = 16, SWP_CSUM = 32, SWP_LSO = 64, LSO = 128, VLAN = 256,
       HEADERS = 512, NB_CAPS = 1024 };
/* Bits of kinds of tunnels in ol_flags: from bit 45 on. */
enum { KIND_VXLAN = 1 << 1, KIND_GRE = 1 << 2, KIND_IPIP = 1 << 3, KIND_GENEVE = 1 << 4, KIND_IP = 1 << 13,
       KIND_UDP = 1 << 14 };

static struct mdv_caps
caps_of(unsigned int bits)
{
	return (struct mdv_caps) {
		.max_sq_desc_ds = 63, .csum = bits & CSUM, .tunnel_vxlan = bits & VXLAN, .tunnel_gre = bits & GRE,
		.tunnel_geneve = bits & GENEVE, .tunnel_ipip = bits & IPIP, .swp_csum = bits & SWP_CSUM,
		.swp_lso = bits & SWP_LSO, .max_lso_bytes = bits & LSO ? 1 << 18 : 0, .vlan_insert = bits & VLAN,
		.min_inline_mode = bits & HEADERS ? 1 : 0,
	};
}

/* What is offered with each set of capabilities: all of `all` are needed, and one of `any`. */
static void
offloads(void)
{
	static const struct {
		uint64_t offloads;
		unsigned int all, any;
	} rows[] = {
		{ RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, 0, 0 },
		{ RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM,
		  CSUM, 0 },
		{ RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM, CSUM, VXLAN | GRE | GENEVE | IPIP | SWP_CSUM },
		{ RTE_ETH_TX_OFFLOAD_TCP_TSO, CSUM | LSO, 0 },
		{ RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO, CSUM | LSO | VXLAN, 0 },
		{ RTE_ETH_TX_OFFLOAD_GRE_TNL_TSO, CSUM | LSO | GRE, 0 },
		{ RTE_ETH_TX_OFFLOAD_GENEVE_TNL_TSO, CSUM | LSO, GENEVE | SWP_LSO },
		{ RTE_ETH_TX_OFFLOAD_IPIP_TNL_TSO, CSUM | LSO, IPIP | SWP_LSO },
		{ RTE_ETH_TX_OFFLOAD_IP_TNL_TSO | RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO, CSUM | LSO | SWP_LSO, 0 },
		/* By the device, or with the inline header. */
		{ RTE_ETH_TX_OFFLOAD_VLAN_INSERT, 0, VLAN | HEADERS },
	};
	unsigned int bits, i;
	struct mdv_caps caps;
	uint64_t want;

	for (bits = 0; bits < NB_CAPS; bits++) {
		caps = caps_of(bits);
		for (want = 0, i = 0; i < RTE_DIM(rows); i++)
			if ((bits & rows[i].all) == rows[i].all && (rows[i].any == 0 || (bits & rows[i].any) != 0))
				want |= rows[i].offloads;
		CHECK(mlxpmd_tx_offloads(&caps) == want, "capabilities %#x: %#" PRIx64 ", not %#" PRIx64, bits,
		      mlxpmd_tx_offloads(&caps), want);
	}
}

/* Kinds of tunnels whose inner headers the device finds, and those that the software parser adds. */
static void
tunnels(void)
{
	unsigned int bits, found, swp;
	struct mdv_caps caps;

	for (bits = 0; bits < NB_CAPS; bits++) {
		caps = caps_of(bits);
		found = (bits & VXLAN ? KIND_VXLAN : 0) | (bits & GRE ? KIND_GRE : 0) |
			(bits & GENEVE ? KIND_GENEVE : 0) | (bits & IPIP ? KIND_IPIP : 0);
		swp = bits & SWP_CSUM ? (KIND_GENEVE | KIND_IPIP | KIND_IP | KIND_UDP) & ~found : 0;
		CHECK(mlxpmd_tx_tunnels_found(&caps) == found, "capabilities %#x: found %#x", bits,
		      mlxpmd_tx_tunnels_found(&caps));
		CHECK(mlxpmd_tx_tunnels_swp(&caps) == swp, "capabilities %#x: parser %#x", bits,
		      mlxpmd_tx_tunnels_swp(&caps));
	}
}

/* Segments of the longest WQE: 63 units, of which two are the title, and 13, or 2, the rest of an inline header. */
static void
most_segments(void)
{
	static const uint8_t max_ds[] = { 20, 63, 64, 255 };
	struct mdv_caps caps;
	unsigned int i;

	for (i = 0; i < RTE_DIM(max_ds); i++) {
		caps = caps_of(LSO);
		caps.max_sq_desc_ds = max_ds[i];
		CHECK_EQ(mlxpmd_tx_segs_max(&caps), (max_ds[i] > 63 ? 63 : max_ds[i]) - 2 - 13);
		caps.max_lso_bytes = 0;
		CHECK_EQ(mlxpmd_tx_segs_max(&caps), (max_ds[i] > 63 ? 63 : max_ds[i]) - 2 - 2);
	}
}

/* A burst processes a bounded number of completions. */
static void
bounded(void)
{
	struct rig_tx *t = rig_tx_new(8, 256, 8, 63, 0);
	unsigned int i, before;

	for (i = 0; i < 7; i++)
		CHECK(send_n(t, 0, 32) == 32, "not taken");
	(void)rig_tx_run(t, true, ignore, NULL);
	before = out();
	CHECK(send_n(t, 0, 1) == 1, "not taken");
	CHECK(before + 1 - out() == MLXPMD_TX_REAP_MAX * 32, "freed %u at once", before + 1 - out());
	CHECK(t->txq.q.stats.completions == MLXPMD_TX_REAP_MAX, "%" PRIu64, t->txq.q.stats.completions);
	/* It stops at the completion with which the number is reached. */
	CHECK_EQ(mlxpmd_tx_done_cleanup(&t->txq, 32), 32);
	CHECK_EQ(mlxpmd_tx_done_cleanup(&t->txq, 33), 64);
	rig_tx_free(t);
	home("bounded");
}

/* Without copies the status of descriptors is that of the entries, whatever number of WQEBBs the packets take. */
static void
status_of_long_wqes(void)
{
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, 0);
	struct rte_mbuf *pkts[8];
	unsigned int i;

	for (i = 0; i < 8; i++)
		pkts[i] = rig_tx_mbuf(pool, i, 200, 4);
	CHECK_EQ(rig_tx_burst(t, MLXPMD_TX_F_MULTI, pkts, 8), 8);
	CHECK((uint16_t)(t->txq.q.pi - t->txq.q.ci) > 8, "%u WQEBBs", (uint16_t)(t->txq.q.pi - t->txq.q.ci));
	CHECK_EQ(mlxpmd_tx_descriptor_status(&t->txq, 55), RTE_ETH_TX_DESC_DONE);
	CHECK_EQ(mlxpmd_tx_descriptor_status(&t->txq, 56), RTE_ETH_TX_DESC_FULL);
	CHECK_EQ(mlxpmd_tx_descriptor_status(&t->txq, 63), RTE_ETH_TX_DESC_FULL);
	CHECK_EQ(mlxpmd_tx_descriptor_status(&t->txq, 64), -EINVAL);
	rig_tx_free(t);
	home("status_of_long_wqes");
}

/* Before a stop: the flush requests a completion for all WQEs without one, so that all packets complete. */
static void
flush(unsigned int f)
{
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, 0);
	unsigned int n;

	mlxpmd_txq_flush(&t->txq);
	CHECK(t->txq.q.pi == 0 && t->txq.q.stats.doorbells == 0, "a flush of nothing");
	for (n = 1; n < 40; n++) {
		CHECK(send_n(t, f, n) == n, "not taken");
		mlxpmd_txq_flush(&t->txq);
		mlxpmd_txq_flush(&t->txq);
		CHECK(rig_tx_run(t, true, ignore, NULL) == n, "not %u sent", n);
		(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
		CHECK(t->txq.q.ci == t->txq.q.pi && out() == 0, "%u: %u out", n, out());
	}
	CHECK(t->txq.q.state == MLXPMD_QS_READY && t->txq.q.stats.errors == 0, "stopped");
	/* The NOP fails: no packet is lost. */
	CHECK(send_n(t, f, 3) == 3, "not taken");
	n = t->txq.q.pi;
	mlxpmd_txq_flush(&t->txq);
	rig_tx_cqe(t, 13, 5, n);
	(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	CHECK(t->txq.q.state == MLXPMD_QS_QUIESCED && t->txq.q.stats.errors == 0 && out() == 3, "%u out", out());
	mlxpmd_txq_flush(&t->txq);
	CHECK(mlxpmd_txq_rewind(&t->txq, false) == 0 && out() == 0, "%" PRIu64 " lost", t->txq.q.stats.errors);
	rig_tx_free(t);
	/* A full ring: the flush does nothing, because the bursts requested completions. */
	t = rig_tx_new(6, 64, 6, 63, 0);
	while (send_n(t, 0, 7) != 0)
		;
	mlxpmd_txq_flush(&t->txq);
	CHECK((uint16_t)(t->txq.q.pi - t->txq.q.ci) == 64, "beyond the ring");
	rig_tx_free(t);
	home("flush");
}

/* After the rewind the device starts at WQE 0, and its CQ continues at its index; the queue works as a new one. */
static void
again(struct rig_tx *t, unsigned int f)
{
	const uint64_t packets = t->txq.q.stats.packets, errors = t->txq.q.stats.errors;
	unsigned int lap, n, sent = 0;

	t->executed = 0;
	t->db_seen = t->db_reg;
	CHECK(t->sq_dbrec == 0, "doorbell record %#x of an SQ in reset", t->sq_dbrec);
	mlxpmd_queue_ready(&t->txq.q);
	for (lap = 0; lap < 30; lap++) {
		n = send_n(t, f, 32);
		CHECK(n == 32, "took %u in lap %u", n, lap);
		sent += n;
		CHECK(rig_tx_run(t, true, ignore, NULL) == n, "lap %u", lap);
		(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	}
	CHECK(t->txq.q.state == MLXPMD_QS_READY && t->txq.q.stats.cqe_bad == 0, "state %u", t->txq.q.state);
	CHECK(t->txq.q.stats.packets == packets + sent && t->txq.q.stats.errors == errors, "counters");
}

/*
 * An error at each position: packets before it were sent, the others are lost; bursts no longer use the queue; the
 * rewind frees each mbuf once, and the queue works again.
 */
static void
error_at(unsigned int f, unsigned int posted, unsigned int failing, uint8_t syndrome)
{
	struct rig_tx *t = rig_tx_new(8, 256, 8, 63, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	uint16_t starts[256], k = 0, per[256];
	unsigned int i, before = 0, done, lost;
	struct rte_mbuf *m;

	for (i = 0; i < posted; i++) {
		starts[k] = t->txq.q.pi;
		per[k] = send_n(t, f, 1 + i % 5);
		CHECK(per[k] == 1 + i % 5, "not taken");
		/* One WQE per packet, except with multi-packet WQEs. */
		if (!(f & MLXPMD_TX_F_MPW)) {
			for (done = 1; done < per[k]; done++) {
				starts[k + done] = starts[k] + done;
				per[k + done] = 1;
			}
			k += per[k] - 1;
			per[k] = 1;
			per[k - i % 5] = 1;
		}
		k++;
	}
	failing %= k;
	for (i = 0; i < failing; i++)
		before += per[i];
	rig_tx_cqe(t, 13, syndrome, starts[failing]);
	m = rig_tx_mbuf(pool, 0, 64, 1);
	CHECK(rig_tx_burst(t, f, &m, 1) == 0, "sent in error");
	rte_pktmbuf_free(m);
	CHECK(t->txq.q.state == MLXPMD_QS_QUIESCED && t->txq.q.syndrome == syndrome && t->txq.q.vendor_syndrome == 0x55,
	      "state");
	CHECK(t->txq.q.stats.errors == 0 && out() != 0, "the burst settled it");
	/* Flush errors follow, which are not counted. */
	rig_tx_cqe(t, 13, 5, starts[failing]);
	CHECK(send_n(t, f, 3) == 0 && mlxpmd_tx_done_cleanup(&t->txq, 0) == 0, "used after it was quiesced");
	CHECK(mlxpmd_tx_descriptor_status(&t->txq, 0) == RTE_ETH_TX_DESC_UNAVAIL, "status in error");
	lost = mlxpmd_txq_rewind(&t->txq, false);
	CHECK(t->txq.q.stats.packets == before && t->txq.q.stats.bytes == before * 64, "%" PRIu64 " sent, not %u",
	      t->txq.q.stats.packets, before);
	for (i = failing, done = 0; i < k; i++)
		done += per[i];
	CHECK(t->txq.q.stats.errors == done && lost == done, "%" PRIu64 " lost, not %u", t->txq.q.stats.errors, done);
	CHECK(t->txq.q.stats.syndromes[mlxpmd_syndrome_class[syndrome]] == 1, "class of syndrome %#x", syndrome);
	home("error_at");
	again(t, f);
	rig_tx_free(t);
	home("error_at, disarmed");
}

static void
errors(void)
{
	static const uint8_t syndromes[] = { 0x01, 0x02, 0x04, 0x05, 0x06, 0x10, 0x11, 0x12, 0x13, 0x14,
					     0x15, 0x16, 0x22 };
	unsigned int s, i;

	for (s = 0; s < RTE_DIM(syndromes); s++) {
		for (i = 0; i < 30; i++) {
			error_at(0, 10, i, syndromes[s]);
			error_at(MLXPMD_TX_F_MPW, 10, i, syndromes[s]);
			error_at(MLXPMD_TX_F_MPW | MLXPMD_TX_F_MULTI, 10, i, syndromes[s]);
			error_at(MLXPMD_TX_F_FAST_FREE, 10, i, syndromes[s]);
			error_at(MLXPMD_TX_F_INLINE, 10, i, syndromes[s]);
		}
	}
}

/* Invalid completions: the queue stops, and no mbuf is freed that the device may still read; disarm frees them. */
static void
nonsense(void)
{
	unsigned int i, k, held, stops = 0;
	struct rig_tx *t;
	uint8_t *cqe;

	for (i = 0; i < 60000; i++) {
		t = rig_tx_new(6, 64, 6, 63, 0);
		/* Entries of earlier passes must not be used for this one. */
		for (k = rig_random() % 12; k != 0; k--) {
			(void)send_n(t, k & 1 ? MLXPMD_TX_F_MPW : 0, 1 + rig_random() % 60);
			(void)rig_tx_run(t, true, ignore, NULL);
			(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
		}
		(void)send_n(t, i & 1 ? MLXPMD_TX_F_MPW : 0, 40);
		held = out();
		cqe = t->cq + (size_t)(t->cqe_count % 64) * 64;
		rig_tx_cqe(t, rig_random() & 15, rig_random(), i % 3 ? t->txq.q.ci + rig_random() % 64 : rig_random());
		if (i % 5 == 0)
			cqe[rig_random() % 64] = rig_random();
		(void)send_n(t, 0, 1);
		if (t->txq.q.stats.cqe_bad != 0) {
			stops++;
			CHECK(t->txq.q.state == MLXPMD_QS_QUIESCED && out() == held, "%u of %u held", out(), held);
		}
		CHECK(out() == (uint16_t)(t->txq.elts_pi - t->txq.elts_ci), "%u out", out());
		rig_tx_free(t);
		home("nonsense");
	}
	CHECK(stops > 15000, "%u refused", stops);
}

/* mbufs with a second reference are not freed; mbufs of several pools return to their own. */
static void
owners(void)
{
	struct rte_mempool *other = rig_pool("other", 127, 0, 128 + RTE_PKTMBUF_HEADROOM);
	struct rig_tx *t = rig_tx_new(6, 64, 6, 63, 0);
	struct rte_mbuf *pkts[64], *kept[64];
	unsigned int i;

	for (i = 0; i < 64; i++) {
		pkts[i] = rig_tx_mbuf(i % 3 ? pool : other, i, 64, 1 + i % 4);
		kept[i] = i % 5 == 0 ? pkts[i] : NULL;
		if (kept[i] != NULL)
			rte_pktmbuf_refcnt_update(kept[i], 1);
	}
	for (i = 0; i < 64; i++)
		while (rig_tx_burst(t, MLXPMD_TX_F_MULTI, &pkts[i], 1) == 0) {
			(void)rig_tx_run(t, true, ignore, NULL);
			CHECK(t->txq.q.state == MLXPMD_QS_READY, "stopped");
		}
	rig_tx_free(t);
	for (i = 0; i < 64; i++)
		rte_pktmbuf_free(kept[i]);
	CHECK(rte_mempool_avail_count(other) == 127, "other pool: %u", rte_mempool_avail_count(other));
	rte_mempool_free(other);
	home("owners");
}

/* The device may still read the mbufs of a queue that cannot be destroyed: they are counted, once, and not freed. */
static void
abandoned(void)
{
	struct rig_tx *t = rig_tx_new(6, 64, 7, 63, 0);
	struct rte_mbuf *pkts[8];
	unsigned int i;

	for (i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = rig_tx_mbuf(pool, i, 64, 1);
	CHECK(rig_tx_burst(t, 0, pkts, RTE_DIM(pkts)) == RTE_DIM(pkts), "not sent");
	rig_tx_cqe(t, 13, 4, 3);
	(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	mlxpmd_txq_abandon(&t->txq);
	for (i = 0; i < 2; i++) {
		CHECK(t->txq.q.stats.packets == 3 && t->txq.q.stats.bytes == 3 * 64 && t->txq.q.stats.errors == 5,
		      "%" PRIu64 " sent, %" PRIu64 " lost", t->txq.q.stats.packets, t->txq.q.stats.errors);
		CHECK(out() == RTE_DIM(pkts), "%u out", out());
		mlxpmd_txq_disarm(&t->txq.q);
	}
	rte_pktmbuf_free_bulk(pkts, RTE_DIM(pkts));
	rig_tx_free(t);
	home("abandoned");
}

/* What a process that is killed while it returns mbufs to their mempool leaves to the next one that polls the queue. */
static rte_mempool_enqueue_t enqueue_real;
static const struct mlxpmd_txq *killed;
static unsigned int freed, freed_again;

static int
enqueue_killed(struct rte_mempool *mp, void *const *obj, unsigned int n)
{
	for (uint16_t i = killed->elts_ci; i != killed->elts_pi; i++)
		for (unsigned int k = 0; k < n; k++)
			freed_again += killed->q.elts[i & killed->elts_mask] == obj[k];
	freed += n;
	return enqueue_real(mp, obj, n);
}

static void
kill_while_freeing(unsigned int f)
{
	struct rte_mempool_ops *ops = rte_mempool_get_ops(pool->ops_index);
	struct rig_tx *t = rig_tx_new(8, 64, 8, 63, 0);
	const unsigned int segs = f & MLXPMD_TX_F_MULTI ? 3 : 1;
	struct rte_mbuf *m;

	/* In the second pass of the ring the last entries are followed by the first ones. */
	for (unsigned int i = 0; i < 100; i++) {
		m = rig_tx_mbuf(pool, i, 64, i % 4 == 0 ? 1 : segs);
		CHECK(rig_tx_burst(t, f, &m, 1) == 1, "not taken");
		if (i == 49) {
			(void)rig_tx_run(t, true, ignore, NULL);
			(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
		}
	}
	(void)rig_tx_run(t, true, ignore, NULL);
	killed = &t->txq;
	freed = freed_again = 0;
	enqueue_real = ops->enqueue;
	ops->enqueue = enqueue_killed;
	(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	ops->enqueue = enqueue_real;
	CHECK(freed >= 32, "freed %u", freed);
	CHECK(freed_again == 0, "%u of %u mbufs would be freed again", freed_again, freed);
	rig_tx_free(t);
	home("kill_while_freeing");
}

int
main(void)
{
	static const unsigned int features[] = { 0, MLXPMD_TX_F_MPW, MLXPMD_TX_F_MULTI | MLXPMD_TX_F_OFFLOAD,
						 MLXPMD_TX_F_FAST_FREE,
						 MLXPMD_TX_F_MPW | MLXPMD_TX_F_FAST_FREE };
	unsigned int i;

	rig_init();
	/* One segment can have all 200 bytes of the longest packet. */
	pool = rig_pool("done", POOL, 0, 256 + RTE_PKTMBUF_HEADROOM);
	RIG_EACH {
		for (i = 0; i < RTE_DIM(features); i++) {
			fill_and_drain(features[i], 1, 16);
			fill_and_drain(features[i], 7, 8);
			fill_and_drain(features[i], 64, 1);
			kill_while_freeing(features[i]);
		}
		bounded();
		status_of_long_wqes();
		flush(0);
		flush(MLXPMD_TX_F_MPW);
		errors();
		owners();
	}
	thresholds();
	not_armed();
	offloads();
	tunnels();
	most_segments();
	nonsense();
	abandoned();
	return rig_end("tx_done");
}
