/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Buffer split (RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT): what each segment of a received packet has, by rte_ethdev.h; what is
 * refused. With argument `both` only what DPDK's own driver has to do alike, `stock`: with that driver.
 */

#include "pmd_test.h"

#define POOLS 3
#define MBUFS 2047
static const uint16_t data_bytes[POOLS] = { 192, 640, RTE_MBUF_DEFAULT_BUF_SIZE };
static struct rte_mempool *pools[POOLS];

/* What an application describes. */
struct plan {
	const char *what;
	uint16_t mtu, n;
	uint64_t offloads;	/* Beside buffer split. */
	struct { uint8_t pool; uint16_t length, offset; } seg[8];
};

static const struct plan plans[] = {
	{ "header and the rest", 1500, 2, RTE_ETH_RX_OFFLOAD_SCATTER, { { 0, 64, 0 }, { 2, 0, 0 } } },
	{ "only the header is described", 1500, 1, RTE_ETH_RX_OFFLOAD_SCATTER, { { 2, 42, 10 } } },
	{ "offsets and checksums", 1500, 2, RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_CHECKSUM,
	  { { 0, 14, 50 }, { 2, 1500, 128 } } },
	{ "three mempools, hash", 1500, 3, RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_RSS_HASH,
	  { { 0, 34, 2 }, { 1, 600, 40 }, { 2, 1000, 3 } } },
	{ "stripped tags, timestamps", 1500, 2,
	  RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_TIMESTAMP,
	  { { 1, 100, 0 }, { 2, 0, 0 } } },
	{ "eight", 1500, 8, RTE_ETH_RX_OFFLOAD_SCATTER, { { 0, 20, 0 }, { 2, 30, 9 }, { 0, 40, 0 }, { 2, 50, 9 },
	  { 1, 60, 1 }, { 2, 70, 9 }, { 1, 80, 1 }, { 2, 0, 0 } } },
	{ "long frames, the last mempool fills up", 9000, 3, RTE_ETH_RX_OFFLOAD_SCATTER,
	  { { 0, 64, 0 }, { 1, 640, 0 }, { 1, 300, 9 } } },
	{ "one segment is enough", 1500, 2, RTE_ETH_RX_OFFLOAD_SCATTER, { { 2, 1600, 20 }, { 1, 600, 0 } } },
};

static int
setup(const struct plan *p, uint64_t conf_offloads)
{
	struct rte_eth_conf conf = { .rxmode = { .offloads = p->offloads | conf_offloads, .mtu = p->mtu } };
	static uint8_t rss_key[40] = { 0x6d, 0x5a, 0x56, 0xda };
	union rte_eth_rxseg segs[8] = { 0 };
	struct rte_eth_dev_info info;
	struct rte_eth_rxconf rxconf;
	unsigned int i;
	int rc;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	if (p->offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		/* Each driver has a default key of its own. */
		conf.rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){
			.rss_hf = RTE_ETH_RSS_IP, .rss_key = rss_key, .rss_key_len = sizeof(rss_key),
		};
	}
	rc = rte_eth_dev_configure(PORT_A, 1, 1, &conf);
	if (rc != 0)
		return rc;
	for (i = 0; i < p->n; i++)
		segs[i].split = (struct rte_eth_rxseg_split){ .mp = pools[p->seg[i].pool],
							      .length = p->seg[i].length, .offset = p->seg[i].offset };
	rxconf = info.default_rxconf;
	rxconf.offloads = conf.rxmode.offloads;
	rxconf.rx_seg = segs;
	rxconf.rx_nseg = p->n;
	rc = rte_eth_rx_queue_setup(PORT_A, 0, 512, SOCKET_ID_ANY, &rxconf, NULL);
	memset(segs, 0xff, sizeof(segs)); /* They are the application's. */
	return rc != 0 ? rc : rte_eth_tx_queue_setup(PORT_A, 0, 64, SOCKET_ID_ANY, NULL);
}

static void
up(const struct plan *p)
{
	const struct pmd_conf peer = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 512, .mtu = p->mtu,
				       .rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER,
				       .tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS };
	struct rte_eth_link link;

	CHECK_OK(setup(p, RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_OK(pmd_port_up(PORT_B, &peer));
	CHECK_OK(rte_eth_link_get(PORT_A, &link));
	CHECK_OK(rte_eth_link_get(PORT_B, &link));
}

static void
home(const char *what)
{
	unsigned int i;

	for (i = 0; i < POOLS; i++)
		CHECK(rte_mempool_in_use_count(pools[i]) == 0, "%s: %u mbufs of mempool %u are in use", what,
		      rte_mempool_in_use_count(pools[i]), i);
}

static void
down(const char *what)
{
	pmd_ports_down();
	home(what);
}

/* Is m the frame, in the segments that the plan requires? */
static void
packet_check(const struct plan *p, const struct rte_mbuf *m, const uint8_t *frame, uint32_t bytes)
{
	const struct rte_mbuf *s;
	uint32_t at = 0, i = 0, offset, length;

	CHECK(m->pkt_len == bytes, "%s: %u bytes of %u", p->what, m->pkt_len, bytes);
	printf("%s: %u bytes:", p->what, m->pkt_len);
	for (s = m; s != NULL; s = s->next, i++) {
		const struct rte_mempool *mp = pools[p->seg[RTE_MIN(i, p->n - 1u)].pool];

		offset = (i < p->n ? p->seg[i].offset : 0) + (i == 0 ? RTE_PKTMBUF_HEADROOM : 0);
		length = i < p->n && p->seg[i].length != 0 ? p->seg[i].length :
			 rte_pktmbuf_data_room_size((struct rte_mempool *)(uintptr_t)mp) - offset;
		printf(" %s %u+%u", s->pool->name, s->data_off, s->data_len);
		CHECK(s->pool == mp, "%s: segment %u is from %s, not %s", p->what, i, s->pool->name, mp->name);
		CHECK(s->data_off == offset, "%s: segment %u begins at %u, not %u", p->what, i, s->data_off, offset);
		CHECK(s->data_len == RTE_MIN(length, bytes - at) && s->data_len != 0, "%s: segment %u has %u bytes",
		      p->what, i, s->data_len);
		CHECK(memcmp(rte_pktmbuf_mtod(s, const void *), frame + at, s->data_len) == 0,
		      "%s: the data of segment %u", p->what, i);
		CHECK(rte_mbuf_refcnt_read(s) == 1 && (s == m || s->nb_segs == 1), "%s: segment %u", p->what, i);
		at += s->data_len;
	}
	printf(" ptype %#x flags %#" PRIx64 " tag %u hash %#x\n", m->packet_type,
	       m->ol_flags & (RTE_BIT64(23) - 1), /* Without dynamic flags. */
	       m->ol_flags & RTE_MBUF_F_RX_VLAN ? m->vlan_tci : 0,
	       m->ol_flags & RTE_MBUF_F_RX_RSS_HASH ? m->hash.rss : 0);
	CHECK(at == bytes && m->nb_segs == i && m->port == PORT_A, "%s: %u bytes in %u segments of %u", p->what, at,
	      i, m->nb_segs);
}

/* Sends a frame and checks what arrives; with a stripped tag if tagged. */
static void
frame_passes(const struct plan *p, uint16_t bytes, bool tagged)
{
	static uint8_t want[UINT16_MAX];
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, bytes);
	const uint32_t strip = tagged ? 4 : 0;
	struct rte_mbuf *m, *s;
	uint32_t at = 0;

	f.bytes = bytes;
	f.vlan = tagged ? 77 : -1;
	m = pmd_frame_make(&f, 0);
	CHECK(m != NULL, "no mbuf");
	for (s = m; s != NULL; at += s->data_len, s = s->next)
		memcpy(want + at, rte_pktmbuf_mtod(s, const void *), s->data_len);
	if (strip != 0)
		memmove(want + 12, want + 12 + strip, bytes - 12 - strip);
	CHECK(AWAIT(rte_eth_tx_burst(PORT_B, 0, &m, 1) == 1, 1000), "not sent");
	if (pmd_recv(PORT_A, 0, &m, 1, 2000) != 1) {
		CHECK(false, "%s: a frame of %u bytes did not arrive", p->what, bytes);
		return;
	}
	packet_check(p, m, want, bytes - strip);
	CHECK(!tagged || ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) && m->vlan_tci == 77), "%s: tag", p->what);
	rte_pktmbuf_free(m);
}

/* Frames that end in each segment, at its last byte, and one byte after it; the shortest and the longest. */
static void
sizes(const struct plan *p)
{
	const bool tagged = (p->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
	uint32_t end = 0, i;
	int d;

	up(p);
	frame_passes(p, 60, false);
	for (i = 0; i < p->n; i++) {
		end += p->seg[i].length;
		for (d = -1; p->seg[i].length != 0 && d <= 1; d++)
			if (end + d >= 60u && end + d <= p->mtu + 14u)
				frame_passes(p, end + d, false);
	}
	frame_passes(p, p->mtu + 14, false);
	if (tagged)
		for (i = 96; i < 110; i++)
			frame_passes(p, i, true);
	/* Many passes of the ring. */
	for (i = 0; i < 600; i++)
		frame_passes(p, 60 + i * 97 % (p->mtu - 46), tagged && i % 3 == 0);
	down(p->what);
}

/* The queue is stopped and started, the port as well, with another MTU. */
static void
restarts(void)
{
	const struct plan *p = &plans[3];
	struct plan longer = *p;
	struct rte_eth_rxq_info info;

	up(p);
	CHECK_OK(rte_eth_rx_queue_info_get(PORT_A, 0, &info));
	CHECK(info.mp == pools[0] && info.conf.rx_nseg == 3 && info.scattered_rx == 1, "%u segments", info.conf.rx_nseg);
	CHECK(info.conf.rx_seg[1].split.mp == pools[1] && info.conf.rx_seg[1].split.length == 600 &&
	      info.conf.rx_seg[1].split.offset == 40, "segment 1");
	CHECK_EQ(info.rx_buf_size, 34);
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, 0));
	home("a stopped queue");
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 0));
	frame_passes(p, 1514, false);
	CHECK_OK(rte_eth_dev_set_mtu(PORT_A, 1000)); /* Fewer segments are enough. */
	frame_passes(p, 1014, false);
	CHECK_EQ(rte_eth_dev_set_mtu(PORT_A, 9000), -EBUSY);
	pmd_ports_down();
	longer.mtu = 9000;
	up(&longer);
	frame_passes(&longer, 9014, false);
	down("restarts");
}

/* The FCS is in the last segment, in the last two, or alone in one: no segment and no length has it. */
static void
fcs(void)
{
	struct plan p = plans[0];
	struct rte_eth_dev_info info;
	struct rte_eth_stats before, after;
	uint32_t bytes = 0, len;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	if (!(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_KEEP_CRC))
		return;
	p.offloads |= RTE_ETH_RX_OFFLOAD_KEEP_CRC;
	up(&p);
	CHECK_OK(rte_eth_stats_get(PORT_A, &before));
	for (len = 60; len <= 65; len++, bytes += len - 1)
		frame_passes(&p, len, false);
	frame_passes(&p, 1514, false);
	CHECK_OK(rte_eth_stats_get(PORT_A, &after));
	CHECK_EQ(after.ibytes - before.ibytes, bytes + 1514);
	down("FCS");
}

/* Scatter is not needed: the description of segments is the request for them. */
static void
split_only(void)
{
	struct plan p = plans[0];

	p.offloads = 0;
	sizes(&p);
}

/* A mempool is empty: packets that need nothing of it pass, others wait for nothing and are dropped by the device. */
static void
shortage(void)
{
	static struct rte_mbuf *held[MBUFS];
	const struct plan *p = &plans[0];
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_eth_stats stats;
	struct rte_mbuf *m;
	unsigned int n = 0, sent, i;

	up(p);
	while (n < MBUFS && (held[n] = rte_pktmbuf_alloc(pools[2])) != NULL)
		n++;
	for (i = 0; i < 1000; i++)
		frame_passes(p, 60, false);
	CHECK_OK(rte_eth_stats_get(PORT_A, &stats));
	CHECK_EQ(stats.rx_nombuf, 0);
	/* Kept, each takes an mbuf out of circulation: the ring drains. */
	f.bytes = 400;
	for (sent = 0; sent < 512; sent++) {
		CHECK(pmd_send(PORT_B, 0, &f) == 1, "not sent");
		if (pmd_recv(PORT_A, 0, &m, 1, sent < 256 ? 2000 : 50) != 1)
			break;
		CHECK(m->nb_segs == 2 && n < MBUFS, "%u segments", m->nb_segs);
		held[n++] = m;
	}
	CHECK(sent >= 250 && sent <= 256, "%u packets from 256 WQEs", sent);
	CHECK(AWAIT(rte_eth_stats_get(PORT_A, &stats) == 0 && stats.imissed != 0, 5000), "the device dropped nothing");
	CHECK(stats.rx_nombuf != 0, "no mbuf was missing");
	rte_pktmbuf_free_bulk(held, n);
	(void)rte_eth_rx_burst(PORT_A, 0, &m, 1);
	for (i = 0; i < 600; i++)
		frame_passes(p, 60 + i, false);
	down("shortage");
}

static int
split_setup(const union rte_eth_rxseg *segs, uint16_t n, uint64_t offloads, struct rte_mempool *mp)
{
	struct rte_eth_dev_info info;
	struct rte_eth_rxconf conf;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	conf = info.default_rxconf;
	conf.offloads = offloads;
	conf.rx_seg = (union rte_eth_rxseg *)(uintptr_t)segs;
	conf.rx_nseg = n;
	return rte_eth_rx_queue_setup(PORT_A, 0, 512, SOCKET_ID_ANY, &conf, mp);
}

static void
refused(void)
{
	const uint64_t split = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	const struct rte_eth_rxseg_split first = { .mp = pools[0], .length = 64 }, rest = { .mp = pools[2] };
	union rte_eth_rxseg segs[33] = { { first }, { rest } }, big[2] = { { first }, { rest } };
	union rte_eth_rxseg far[2] = { { first }, { rest } }, proto[2] = { { first }, { rest } };
	unsigned int i;

	big[0].split.length = 65;
	far[0].split.offset = UINT16_MAX;
	proto[0].split.length = 0;
	proto[0].split.proto_hdr = RTE_PTYPE_L2_ETHER;

	CHECK_OK(rte_eth_dev_configure(PORT_A, 1, 1, &(struct rte_eth_conf){ 0 }));
	CHECK_OK(rte_eth_tx_queue_setup(PORT_A, 0, 64, SOCKET_ID_ANY, NULL));
	CHECK_EQ(split_setup(segs, 2, 0, NULL), -EINVAL);	/* Without the offload. */
	CHECK_EQ(split_setup(segs, 2, split, pools[2]), -EINVAL); /* Which mempool? */
	CHECK_EQ(split_setup(big, 2, split, NULL), -EINVAL);	/* 128 bytes of 192 are headroom. */
	CHECK_EQ(split_setup(far, 2, split, NULL), -EINVAL);	/* ethdev adds the headroom with 16 bits. */
	CHECK_EQ(split_setup(proto, 2, split, NULL), -ENOTSUP);
	CHECK_EQ(rte_eth_buffer_split_get_supported_hdr_ptypes(PORT_A, NULL, 0), -ENOTSUP);
	segs[1].split.mp = NULL;
	CHECK_EQ(split_setup(segs, 2, split, NULL), -EINVAL);
	for (i = 1; i < RTE_DIM(segs); i++)
		segs[i].split = (struct rte_eth_rxseg_split){ .mp = pools[0], .length = 1 };
	CHECK_EQ(split_setup(segs, 33, split, NULL), -EINVAL);
	/* The last segments are whole mbufs: 64 + 30 + 192 bytes are less than a frame. */
	CHECK_OK(split_setup(segs, 31, split, NULL));
	CHECK_EQ(rte_eth_dev_start(PORT_A), -EINVAL);
	/* 512 descriptors are 16 packets of 32 segments. */
	for (i = 1; i < 32; i++)
		segs[i].split.length = 60;
	CHECK_OK(split_setup(segs, 32, split, NULL));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	home("refused");
}

/* Striding queues have no segments. */
static void
striding(void)
{
	struct rte_eth_dev_info info;
	struct pmd_frame f;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	CHECK((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT) == 0, "offered");
	CHECK_EQ(info.rx_seg_capa.max_nseg, 0);
	CHECK_EQ(setup(&plans[0], RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT), -EINVAL);
	CHECK_EQ(setup(&plans[0], 0), -EINVAL);
	pmd_ports_up(&(struct pmd_conf){ .nb_rxq = 1, .nb_txq = 1 });
	f = pmd_frame_udp(PORT_B, PORT_A, 0);
	CHECK(pmd_arrives(&f), "no frame arrives");
	pmd_ports_down();
}

static void
own(void)
{
	struct rte_eth_dev_info info;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	CHECK(info.rx_queue_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT, "not an offload of queues");
	CHECK(info.rx_seg_capa.multi_pools && info.rx_seg_capa.offset_allowed && info.rx_seg_capa.max_nseg == 32 &&
	      info.rx_seg_capa.offset_align_log2 == 0, "capabilities");
	refused();
	split_only();
	fcs();
	restarts();
	shortage();
}

int
main(int argc, char **argv)
{
	char name[16];
	const bool stock = strcmp(argv[argc - 1], "stock") == 0;
	const bool both = stock || strcmp(argv[argc - 1], "both") == 0;
	unsigned int i;

	pmd_init_driver(argc, argv, stock ? "mlx5_pci" : "net_mlxpmd");
	for (i = 0; i < POOLS; i++) {
		snprintf(name, sizeof(name), "split%u", i);
		pools[i] = rte_pktmbuf_pool_create(name, MBUFS, 0, 0, data_bytes[i], SOCKET_ID_ANY);
		CHECK(pools[i] != NULL, "no mempool");
	}
	if (pmd_devarg(PORT_A, "mprq_en=1")) {
		striding();
	} else {
		/* With one segment, DPDK's vector burst delivers nothing to a call that requests fewer than four. */
		for (i = 0; i < RTE_DIM(plans) - both; i++)
			sizes(&plans[i]);
		if (!both)
			own();
	}
	return pmd_fini();
}
