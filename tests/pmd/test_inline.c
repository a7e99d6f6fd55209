/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Inline data: frames of all lengths around both limits, of one and several segments, with and without a VLAN tag,
 * arrive unchanged; those up to the limits are copied: the device does not read them, and their mbufs are free after
 * the burst. Run with txq_inline_mpw=128,txq_inline_max=200,txqs_min_inline=0, or with another txqs_min_inline, which
 * turns it off. Without txq_inline_mpw, on a device that requires inline headers: all packets have SEND WQEs.
 */

#include <string.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define LIMIT_MPW 128
#define LIMIT_SEND 200
#define BURST 32
#define ROUNDS 60
#define TCI 0x2005

static bool on;	/* The devargs let queues copy. */
static bool headers; /* The device requires inline headers. */

struct kind {
	const char *name;
	uint16_t seg_bytes;	/* 0: one segment. */
	bool vlan;		/* With a tag that is inserted. */
	uint16_t limit;
};
static struct kind kinds[] = {
	{ "one segment", 0, false, LIMIT_MPW },
	{ "several segments", 50, false, LIMIT_SEND },
	{ "one segment and VLAN tag", 0, true, LIMIT_SEND },
	{ "several segments and VLAN tag", 64, true, LIMIT_SEND },
};

/* The frame that is received: that in `sent`, with the tag that was inserted. */
static void
frame_check(const struct rte_mbuf *m, const uint8_t *sent, uint32_t bytes, bool vlan)
{
	const uint8_t tag[] = { 0x81, 0x00, TCI >> 8, TCI & 0xff };
	const uint8_t *got = rte_pktmbuf_mtod(m, const uint8_t *);

	if (!vlan) {
		CHECK(m->data_len == bytes && memcmp(got, sent, bytes) == 0, "%u of %u bytes", m->data_len, bytes);
		return;
	}
	CHECK(m->data_len == bytes + 4 && memcmp(got, sent, 12) == 0 && memcmp(got + 12, tag, 4) == 0 &&
	      memcmp(got + 16, sent + 12, bytes - 12) == 0, "%u of %u bytes, or tag", m->data_len, bytes);
}

/* One burst; the device's work and the free mbufs are as the lengths require. */
static void
burst(const struct kind *k, unsigned int seed)
{
	static uint8_t sent[BURST][2048];
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	const unsigned int before = rte_mempool_avail_count(pmd_pool);
	uint64_t reads = emu_counter(PORT_B, "dma_reads");
	unsigned int i, held = 0, got;
	struct rte_mbuf *pkts[BURST];
	uint16_t bytes[BURST];

	for (i = 0; i < BURST; i++) {
		bytes[i] = seed % 3 == 0 ? 60 + (seed + i) % 69 : k->limit - BURST / 2 + (i * 7 + seed) % BURST;
		f.bytes = bytes[i];
		pkts[i] = pmd_frame_make(&f, k->seg_bytes);
		if (k->vlan) {
			pkts[i]->ol_flags = RTE_MBUF_F_TX_VLAN;
			pkts[i]->vlan_tci = TCI;
		}
		memcpy(sent[i], rte_pktmbuf_read(pkts[i], 0, bytes[i], sent[i]), bytes[i]);
		held += !on || bytes[i] > k->limit ? pkts[i]->nb_segs : 0;
	}
	CHECK(rte_eth_tx_burst(PORT_B, 0, pkts, BURST) == BURST, "%s: not sent", k->name);
	/* Others are freed later, as completions come. */
	CHECK(rte_mempool_avail_count(pmd_pool) + held >= before, "%s: %u mbufs held, not %u", k->name,
	      before - rte_mempool_avail_count(pmd_pool), held);
	got = pmd_recv(PORT_A, 0, pkts, BURST, 5000);
	CHECK(got == BURST, "%s: %u received", k->name, got);
	for (i = 0; i < got; i++)
		frame_check(pkts[i], sent[i], bytes[i], k->vlan);
	rte_pktmbuf_free_bulk(pkts, got);
	CHECK(AWAIT(emu_counter(PORT_B, "dma_reads") - reads == held, 1000), "%s: %" PRIu64 " reads, not %u", k->name,
	      emu_counter(PORT_B, "dma_reads") - reads, held);
}

static void
run(uint64_t tx_offloads, unsigned int nb_kinds)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 128, .tx_offloads = tx_offloads };
	struct rte_eth_burst_mode mode;
	struct rte_eth_stats stats;
	unsigned int i, k;

	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_stats_reset(PORT_B));
	CHECK_OK(rte_eth_tx_burst_mode_get(PORT_B, 0, &mode));
	printf("Tx burst: %s\n", mode.info);
	CHECK(headers ? strstr(mode.info, "Inline Multi") != NULL : (strstr(mode.info, "Inline-data") != NULL) == on, "%s",
	      mode.info);
	for (k = 0; k < nb_kinds; k++)
		for (i = 0; i < ROUNDS; i++)
			burst(&kinds[k], i);
	CHECK_OK(rte_eth_stats_get(PORT_B, &stats));
	CHECK(stats.opackets == nb_kinds * ROUNDS * BURST && stats.oerrors == 0, "%" PRIu64 " sent, %" PRIu64 " errors",
	      stats.opackets, stats.oerrors);
	pmd_ports_down();
}

int
main(int argc, char **argv)
{
	pmd_init(argc, argv);
	on = pmd_devarg(PORT_B, "txqs_min_inline=0");
	headers = !pmd_devarg(PORT_B, "txq_inline_mpw=128");
	if (headers)
		kinds[0].limit = LIMIT_SEND;
	run(0, 1);
	run(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, 1);
	run(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_VLAN_INSERT, RTE_DIM(kinds));
	/* Fast free does not go with several segments: all mbufs of a chain have to be freed. */
	run(RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, 2);
	return pmd_fini();
}
