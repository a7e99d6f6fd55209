/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Configuration: the values of rte_eth_dev_info_get() are right, and a configuration that is not supported is refused,
 * keeps no mbufs and leaves the port usable.
 */

#include <rte_cycles.h>

#include "pmd_test.h"

static struct rte_eth_dev_info info;

static void
infos(void)
{
	const uint32_t flags = RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS | RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE |
			       RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV;
	char version[64], cut[64];
	size_t bytes;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	/* 512 on a ConnectX-4 Lx, whose RSS tables have so many entries. */
	CHECK((info.max_rx_queues == 1024 || info.max_rx_queues == 512) && info.max_tx_queues == 1024, "%u and %u queues",
	      info.max_rx_queues, info.max_tx_queues);
	CHECK(info.min_mtu == 68 && info.max_mtu >= 9000, "MTU %u..%u", info.min_mtu, info.max_mtu);
	CHECK(info.max_rx_pktlen == info.max_mtu + 22u, "%u bytes", info.max_rx_pktlen);
	CHECK_EQ(info.max_mac_addrs, 128);
	CHECK_EQ(info.min_rx_bufsize, 32);
	CHECK_EQ(info.rx_desc_lim.nb_align, 1);
	CHECK_EQ(info.tx_desc_lim.nb_align, 1);
	CHECK_EQ(info.tx_desc_lim.nb_min, info.rx_desc_lim.nb_min);
	CHECK_EQ(info.tx_desc_lim.nb_max, info.rx_desc_lim.nb_max);
	CHECK_EQ(info.rx_desc_lim.nb_mtu_seg_max, info.rx_desc_lim.nb_seg_max);
	CHECK_EQ(info.tx_desc_lim.nb_mtu_seg_max, info.tx_desc_lim.nb_seg_max);
	CHECK_EQ(info.default_rxportconf.burst_size, 32);
	CHECK_EQ(info.default_rxportconf.ring_size, 512);
	CHECK_EQ(info.default_rxportconf.nb_queues, 1);
	CHECK(memcmp(&info.default_rxportconf, &info.default_txportconf, sizeof(info.default_txportconf)) == 0,
	      "other defaults for sending");
	CHECK_EQ(info.default_rxconf.rx_drop_en, 1);
	CHECK_EQ(*info.dev_flags, flags);
	CHECK(info.speed_capa != 0, "no speed");
	CHECK(info.rx_desc_lim.nb_min <= 64 && info.rx_desc_lim.nb_max >= 4096, "descriptors %u..%u",
	      info.rx_desc_lim.nb_min, info.rx_desc_lim.nb_max);
	CHECK((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TCP_LRO) == 0, "LRO");
	CHECK((info.rx_queue_offload_capa & ~info.rx_offload_capa) == 0, "queue offloads beyond the port's");
	CHECK_OK(rte_eth_dev_fw_version_get(PORT_A, version, sizeof(version)));
	CHECK(strchr(version, '.') != NULL, "firmware \"%s\"", version);
	bytes = strlen(version) + 1;
	CHECK_OK(rte_eth_dev_fw_version_get(PORT_A, cut, bytes));
	CHECK_STR(cut, version);
	CHECK_EQ(rte_eth_dev_fw_version_get(PORT_A, cut, bytes - 1), bytes);
	printf("firmware %s, speed capability %#x\n", version, info.speed_capa);
}

static int
configure(uint16_t nb_rxq, uint16_t nb_txq, const struct rte_eth_conf *conf)
{
	return rte_eth_dev_configure(PORT_A, nb_rxq, nb_txq, conf);
}

static void
configure_bad(void)
{
	static uint8_t key[52];
	struct rte_eth_conf good, c;

	memset(&good, 0, sizeof(good));
	CHECK_OK(configure(1, 1, &good));
	CHECK_OK(configure(1024, 1024, &good));
	CHECK_OK(configure(0, 1, &good));
	CHECK_OK(configure(1, 0, &good));
	CHECK_EQ(info.rx_desc_lim.nb_min, 64);
	CHECK(configure(1025, 1, &good) < 0, "1025 queues");
	CHECK(configure(1, 1025, &good) < 0, "1025 queues");
	c = good;
	c.rxmode.mq_mode = RTE_ETH_MQ_RX_VMDQ_ONLY;
	CHECK_EQ(configure(1, 1, &c), -ENOTSUP);
	c.rxmode.mq_mode = RTE_ETH_MQ_RX_DCB_RSS;
	CHECK_EQ(configure(1, 1, &c), -ENOTSUP);
	c = good;
	c.txmode.mq_mode = RTE_ETH_MQ_TX_DCB;
	CHECK_EQ(configure(1, 1, &c), -ENOTSUP);
	c = good;
	c.dcb_capability_en = RTE_ETH_DCB_PFC_SUPPORT;
	CHECK_EQ(configure(1, 1, &c), -ENOTSUP);
	c = good;
	c.lpbk_mode = 2;
	CHECK_EQ(configure(1, 1, &c), -ENOTSUP);
	c = good;
	c.link_speeds = RTE_ETH_LINK_SPEED_FIXED | RTE_ETH_LINK_SPEED_10G;
	CHECK_EQ(configure(1, 1, &c), -ENOTSUP);
	c = good;
	c.intr_conf.rxq = 1;
	CHECK_OK(configure(1, 1, &c));
	c.intr_conf.rxq = 0;
	c.intr_conf.lsc = 1;
	c.intr_conf.rmv = 1;
	CHECK(configure(1, 1, &c) == 0, "link and removal interrupts");
	c = good;
	c.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TCP_LRO;
	CHECK(configure(1, 1, &c) < 0, "LRO");
	c.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SECURITY;
	CHECK(configure(1, 1, &c) < 0, "inline crypto");
	c = good;
	c.rxmode.mtu = info.max_mtu + 1;
	CHECK(configure(1, 1, &c) < 0, "MTU %u", c.rxmode.mtu);
	c.rxmode.mtu = 67;
	CHECK(configure(1, 1, &c) < 0, "MTU %u", c.rxmode.mtu);
	c = good;
	c.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	c.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP;
	c.rx_adv_conf.rss_conf.rss_key = key;
	c.rx_adv_conf.rss_conf.rss_key_len = sizeof(key);
	CHECK_EQ(configure(1, 1, &c), -EINVAL);
	c.rx_adv_conf.rss_conf.rss_key = NULL;
	c.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_GTPU;
	CHECK(configure(1, 1, &c) < 0, "RSS on GTP-U");
	CHECK_OK(configure(1, 1, &good));
}

static int
rxq(uint16_t nb_desc, const struct rte_eth_rxconf *conf, struct rte_mempool *mp)
{
	return rte_eth_rx_queue_setup(PORT_A, 0, nb_desc, SOCKET_ID_ANY, conf, mp);
}

static int
txq(uint16_t nb_desc, const struct rte_eth_txconf *conf)
{
	return rte_eth_tx_queue_setup(PORT_A, 0, nb_desc, SOCKET_ID_ANY, conf);
}

static void
setup_bad(void)
{
	struct rte_eth_rxconf rx = info.default_rxconf;
	struct rte_eth_txconf tx = info.default_txconf;
	struct rte_eth_rxq_info rx_info;
	struct rte_eth_txq_info tx_info;
	struct rte_mempool *tiny;

	CHECK(rxq(63, NULL, pmd_pool) < 0, "63 descriptors");
	CHECK(rxq(info.rx_desc_lim.nb_max + 1, NULL, pmd_pool) < 0, "too many descriptors");
	CHECK(txq(63, NULL) < 0, "63 descriptors");
	CHECK(txq(info.tx_desc_lim.nb_max + 1, NULL) < 0, "too many descriptors");
	CHECK(rxq(128, NULL, NULL) < 0, "no mempool");
	CHECK_OK(rxq(100, NULL, pmd_pool));
	CHECK_OK(rte_eth_rx_queue_info_get(PORT_A, 0, &rx_info));
	CHECK(rx_info.nb_desc == 128, "100 rounded to %u", rx_info.nb_desc);
	CHECK(rx_info.mp == pmd_pool, "mempool");
	CHECK_OK(txq(1000, NULL));
	CHECK_OK(rte_eth_tx_queue_info_get(PORT_A, 0, &tx_info));
	CHECK(tx_info.nb_desc == 1024, "1000 rounded to %u", tx_info.nb_desc);
	rx.rx_free_thresh = 65;
	CHECK_EQ(rxq(128, &rx, pmd_pool), -EINVAL);
	rx.rx_free_thresh = 64;
	CHECK_OK(rxq(128, &rx, pmd_pool));
	tx.tx_rs_thresh = 33;
	CHECK_EQ(txq(128, &tx), -EINVAL);
	tx.tx_rs_thresh = 32;
	tx.tx_free_thresh = 128;
	CHECK_EQ(txq(128, &tx), -EINVAL);
	tx.tx_free_thresh = 127;
	CHECK_OK(txq(128, &tx));

	/* Mbufs that are too small for the MTU: the start fails, and the port can be set up and started afterwards. */
	tiny = rte_pktmbuf_pool_create("tiny", 511, 0, 0, RTE_PKTMBUF_HEADROOM + 512, SOCKET_ID_ANY);
	CHECK(tiny != NULL, "no mempool");
	CHECK_OK(rxq(128, NULL, tiny));
	CHECK_EQ(rte_eth_dev_start(PORT_A), -EINVAL); /* MTU 1500 into 512 bytes without scatter. */
	CHECK_OK(rxq(1024, NULL, pmd_pool));
	CHECK_OK(txq(128, NULL));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK(rte_mempool_in_use_count(tiny) == 0, "mbufs held");

	/* The mempool has fewer mbufs than the ring has descriptors. */
	CHECK_OK(configure(1, 1, &(struct rte_eth_conf){
		.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER }));
	CHECK_OK(rxq(1024, NULL, tiny));
	CHECK_OK(txq(128, NULL));
	CHECK_EQ(rte_eth_dev_start(PORT_A), -ENOMEM); /* 1024 descriptors from 511 mbufs. */
	CHECK(rte_mempool_in_use_count(tiny) == 0, "mbufs held after a failed start");
	rte_mempool_free(tiny);
	CHECK_OK(rxq(1024, NULL, pmd_pool));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_A));
}

/* The largest frame may need rx_desc_lim.nb_seg_max mbufs, and not one more. */
static void
scattered(void)
{
	const uint16_t room = RTE_PKTMBUF_HEADROOM + 160, seg_max = info.rx_desc_lim.nb_seg_max;
	/* Only the first mbuf of a frame has headroom; the CRC is not stored. */
	const uint32_t overhead = info.max_rx_pktlen - info.max_mtu - RTE_ETHER_CRC_LEN;
	const uint32_t mtu = 160 + (seg_max - 1) * room - overhead;
	struct rte_mempool *small = rte_pktmbuf_pool_create("small", 2047, 0, 0, room, SOCKET_ID_ANY);

	CHECK(small != NULL && mtu < info.max_mtu, "%u segments of %u bytes", seg_max, room);
	CHECK_OK(configure(1, 1, &(struct rte_eth_conf){
		.rxmode = { .offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER, .mtu = mtu } }));
	CHECK_OK(rxq(1024, NULL, small));
	CHECK_OK(txq(128, NULL));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_set_mtu(PORT_A, mtu + 1));
	CHECK_EQ(rte_eth_dev_start(PORT_A), -EINVAL); /* One segment more. */
	CHECK_OK(rte_eth_dev_set_mtu(PORT_A, 1500));
	CHECK_OK(rxq(1024, NULL, pmd_pool));
	rte_mempool_free(small);
}

static bool
size_passes(uint16_t bytes)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 3);

	f.bytes = bytes;
	return pmd_arrives(&f);
}

/* A frame of nb_seg_max segments is sent. */
static void
segments(void)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 3);
	uint16_t max = info.tx_desc_lim.nb_seg_max;
	uint64_t dropped = pmd_xstat(PORT_B, "tx_dropped");
	struct rte_mbuf *m;

	f.bytes = max * 100;
	m = pmd_frame_make(&f, 100);
	CHECK(m != NULL && m->nb_segs == max, "frame of %u segments", max);
	CHECK(rte_eth_tx_burst(PORT_B, 0, &m, 1) == 1, "%u segments not sent", max);
	if (pmd_recv(PORT_A, 0, &m, 1, 2000) == 1) {
		CHECK(m->pkt_len == f.bytes, "%u bytes of %u received", m->pkt_len, f.bytes);
		rte_pktmbuf_free(m);
	} else {
		CHECK(false, "%u segments not received", max);
	}
	CHECK(pmd_xstat(PORT_B, "tx_dropped") == dropped, "dropped");
}

static void
mtu(void)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 1024,
				 .rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER,
				 .tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS, .mtu = 9000 };
	uint16_t now;

	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_dev_get_mtu(PORT_A, &now));
	CHECK(now == 9000, "MTU %u", now);
	segments();
	CHECK(size_passes(60), "60 bytes");
	CHECK(size_passes(1518), "1518 bytes");
	CHECK_OK(rte_eth_dev_set_mtu(PORT_A, 1500));
	CHECK(size_passes(1514), "1514 bytes");
	CHECK(!size_passes(4000), "4000 bytes with an MTU of 1500");
	CHECK_OK(rte_eth_dev_set_mtu(PORT_A, 9000));
	CHECK(rte_eth_dev_set_mtu(PORT_A, 67) < 0, "MTU 67");
	CHECK(rte_eth_dev_set_mtu(PORT_A, info.max_mtu + 1) < 0, "MTU %u", info.max_mtu + 1);
	CHECK(size_passes(1518), "1518 bytes, after refused MTUs");
	pmd_ports_down();
	conf.mtu = 1500;
	pmd_ports_up(&conf);
	CHECK(rte_eth_dev_set_mtu(PORT_A, 9000) == -EBUSY, "MTU that needs more segments while running");
	pmd_ports_down();
	CHECK_OK(rte_eth_dev_set_mtu(PORT_A, 9000));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_OK(rte_eth_dev_get_mtu(PORT_A, &now));
	CHECK(now == 9000, "MTU %u after a restart", now);
	pmd_port_down(PORT_A);
}

static void
link_state(void)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1 };
	struct rte_eth_dev_info down;
	struct rte_eth_link link;
	uint64_t begin;

	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_link_get_nowait(PORT_A, &link));
	CHECK(link.link_speed > 0 && link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX, "%u Mb/s",
	      link.link_speed);
	CHECK((info.speed_capa & rte_eth_speed_bitflag(link.link_speed, RTE_ETH_LINK_FULL_DUPLEX)) != 0,
	      "%u Mb/s, but capability %#x", link.link_speed, info.speed_capa);
	CHECK_OK(rte_eth_dev_set_link_down(PORT_A));
	CHECK_OK(rte_eth_link_get_nowait(PORT_A, &link));
	CHECK(link.link_status == RTE_ETH_LINK_DOWN, "up after set_link_down");
	CHECK(link.link_speed == RTE_ETH_SPEED_NUM_NONE, "%u Mb/s without a link", link.link_speed);
	begin = rte_rdtsc();
	CHECK_OK(rte_eth_link_get(PORT_A, &link));
	CHECK(link.link_status == RTE_ETH_LINK_DOWN, "up after a second");
	CHECK(rte_rdtsc() - begin >= rte_get_tsc_hz() / 10 * 9, "did not wait for the link");
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &down));
	CHECK_EQ(down.speed_capa, 0);
	CHECK_OK(rte_eth_dev_set_link_up(PORT_A));
	CHECK_OK(rte_eth_link_get(PORT_A, &link));
	CHECK(link.link_status == RTE_ETH_LINK_UP, "down after set_link_up");
	CHECK(size_passes(64), "frame after set_link_up");
	/* A start brings the interface up. */
	CHECK_OK(rte_eth_dev_set_link_down(PORT_A));
	pmd_port_down(PORT_A);
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_OK(rte_eth_link_get(PORT_A, &link));
	CHECK(link.link_status == RTE_ETH_LINK_UP, "down after start");
	CHECK(size_passes(64), "frame after start");
	pmd_ports_down();
}

static void
queue_queries(void)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 128 };
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_power_monitor_cond cond;
	struct rte_eth_burst_mode mode;
	uint64_t first, later;
	uint32_t ptypes[64];
	struct rte_mbuf *m;
	unsigned int i;

	pmd_ports_up(&conf);
	CHECK(rte_eth_dev_get_supported_ptypes(PORT_A, RTE_PTYPE_ALL_MASK, ptypes, 64) > 0, "no ptypes");
	CHECK_OK(rte_eth_rx_burst_mode_get(PORT_A, 0, &mode));
	printf("Rx burst: %s\n", mode.info);
	CHECK_OK(rte_eth_tx_burst_mode_get(PORT_A, 0, &mode));
	printf("Tx burst: %s\n", mode.info);
	CHECK_OK(rte_eth_read_clock(PORT_A, &first));
	pass_us(20000); /* The period that the device's clock measures. */
	CHECK_OK(rte_eth_read_clock(PORT_A, &later));
	CHECK(later > first && later - first >= 15000000 && later - first < 2000000000,
	      "20 ms are %" PRIu64, later - first);
	CHECK(rte_eth_rx_queue_count(PORT_A, 0) == 0, "%d packets before", rte_eth_rx_queue_count(PORT_A, 0));
	CHECK(rte_eth_rx_descriptor_status(PORT_A, 0, 0) == RTE_ETH_RX_DESC_AVAIL, "status");
	CHECK(rte_eth_tx_descriptor_status(PORT_A, 0, 0) == RTE_ETH_TX_DESC_DONE, "status");
	CHECK_OK(rte_eth_get_monitor_addr(PORT_A, 0, &cond));
	CHECK(cond.fn(*(volatile uint64_t *)cond.addr, cond.opaque) == 0, "no packet, and a processor would not sleep");
	CHECK(rte_eth_rx_descriptor_status(PORT_A, 0, 128) < 0, "descriptor 128 of 128");
	for (i = 0; i < 10; i++)
		CHECK(pmd_send(PORT_B, 0, &f) == 1, "not sent");
	(void)AWAIT(rte_eth_rx_queue_count(PORT_A, 0) == 10, 2000);
	CHECK(rte_eth_rx_queue_count(PORT_A, 0) == 10, "%d packets", rte_eth_rx_queue_count(PORT_A, 0));
	CHECK(cond.fn(*(volatile uint64_t *)cond.addr, cond.opaque) != 0, "a packet, and a processor would sleep");
	CHECK(rte_eth_rx_descriptor_status(PORT_A, 0, 9) == RTE_ETH_RX_DESC_DONE, "status");
	CHECK(rte_eth_rx_descriptor_status(PORT_A, 0, 10) == RTE_ETH_RX_DESC_AVAIL, "status");
	CHECK(rte_eth_tx_done_cleanup(PORT_B, 0, 0) >= 0, "cleanup");
	while (pmd_recv(PORT_A, 0, &m, 1, 20) == 1)
		rte_pktmbuf_free(m);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK(rte_eth_get_monitor_addr(PORT_A, 0, &cond) == -EAGAIN, "of a stopped queue");
	CHECK_OK(rte_eth_dev_start(PORT_A));
	pmd_ports_down();
}

int
main(int argc, char **argv)
{
	pmd_init(argc, argv);
	infos();
	configure_bad();
	setup_bad();
	scattered();
	mtu();
	link_state();
	queue_queries();
	return pmd_fini();
}
