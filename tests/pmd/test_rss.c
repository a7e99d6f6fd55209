/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * RSS: hash and queue of each packet are compared with DPDK's Toeplitz function (rte_softrss()), also after changes of
 * key, hash functions and table.
 */

#include <rte_thash.h>

#include "pmd_test.h"

#define QUEUES 4
#define FLOWS 64
#define RETA_GROUPS (RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE)

static uint16_t reta_size;
static uint8_t key[40];
static struct rte_eth_rss_reta_entry64 reta[RETA_GROUPS];

static uint32_t
hash_expected(const struct pmd_frame *f, bool l4)
{
	union rte_thash_tuple tuple;
	uint32_t words;

	memset(&tuple, 0, sizeof(tuple));
	if (f->ether_type == RTE_ETHER_TYPE_IPV4) {
		tuple.v4.src_addr = f->src_ip;
		tuple.v4.dst_addr = f->dst_ip;
		tuple.v4.sport = f->src_port;
		tuple.v4.dport = f->dst_port;
		words = l4 ? RTE_THASH_V4_L4_LEN : RTE_THASH_V4_L3_LEN;
	} else {
		uint32_t *t = (uint32_t *)&tuple;

		t[0] = t[4] = 0xfd000000;
		t[3] = f->src_ip;
		t[7] = f->dst_ip;
		tuple.v6.sport = f->src_port;
		tuple.v6.dport = f->dst_port;
		words = l4 ? RTE_THASH_V6_L4_LEN : RTE_THASH_V6_L3_LEN;
	}
	return rte_softrss((uint32_t *)&tuple, words, key);
}

static uint16_t
queue_expected(uint32_t hash)
{
	uint16_t i = hash & (reta_size - 1);

	return reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
}

/* Checks queue and hash of one packet. l3, l4: the hash covers the addresses, and the ports too. */
static void
packet(const struct pmd_frame *f, bool l3, bool l4)
{
	uint32_t hash = l3 ? hash_expected(f, l4) : 0;
	uint16_t queue = queue_expected(hash);
	struct rte_mbuf *m;

	CHECK(pmd_send(PORT_B, 0, f) == 1, "not sent");
	if (pmd_recv(PORT_A, queue, &m, 1, 10000) != 1) {
		CHECK(false, "type %#x proto %u flow %u: nothing on queue %u", f->ether_type, f->proto,
		      f->src_port, queue);
		pmd_drain(PORT_A, 1, 100, NULL);
		return;
	}
	CHECK(!l3 || (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH), "no hash in the mbuf");
	CHECK(!l3 || m->hash.rss == hash, "hash %#x, computed %#x", m->hash.rss, hash);
	rte_pktmbuf_free(m);
}

static void
flows(uint16_t type, uint8_t proto, bool fragment, bool l3, bool l4)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 0);
	unsigned int i;

	f.ether_type = type;
	f.proto = proto;
	f.fragment = fragment;
	f.bytes = 100;
	for (i = 0; i < FLOWS; i++) {
		f.src_ip = RTE_IPV4(10, 168, i, 1);
		f.src_port = 5000 + 7 * i;
		packet(&f, l3, l4);
	}
}

static void
all_kinds(bool ports)
{
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_UDP, false, true, ports);
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_TCP, false, true, ports);
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_ICMP, false, true, false);
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_UDP, true, true, false);
	flows(RTE_ETHER_TYPE_IPV6, IPPROTO_UDP, false, true, ports);
	flows(RTE_ETHER_TYPE_IPV6, IPPROTO_TCP, false, true, ports);
	flows(RTE_ETHER_TYPE_IPV6, 99, false, true, false);
	flows(0x88b5, 0, false, false, false);
}

static void
reta_read(void)
{
	unsigned int i;

	memset(reta, 0, sizeof(reta));
	for (i = 0; i < RETA_GROUPS; i++)
		reta[i].mask = UINT64_MAX;
	CHECK_OK(rte_eth_dev_rss_reta_query(PORT_A, reta, reta_size));
}

static void
default_table(void)
{
	unsigned int i, count[QUEUES] = { 0 };

	reta_read();
	for (i = 0; i < reta_size; i++)
		count[reta[i / 64].reta[i % 64] % QUEUES]++;
	for (i = 0; i < QUEUES; i++)
		CHECK(count[i] == reta_size / QUEUES, "queue %u has %u of %u entries", i, count[i],
		      reta_size);
}

static void
table_update(void)
{
	struct rte_eth_rss_reta_entry64 before[RETA_GROUPS];
	unsigned int i;

	for (i = 0; i < reta_size; i++)
		reta[i / 64].reta[i % 64] = (i * 7 + i / 5) % 3;
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, reta, reta_size));
	memcpy(before, reta, sizeof(before));
	reta_read();
	CHECK(memcmp(before, reta, reta_size / 64 * sizeof(reta[0])) == 0, "the table read differs from the table set");
	all_kinds(true);

	/* Only entries in the mask change. */
	memset(before, 0, sizeof(before));
	before[1].mask = 1u << 5;
	before[1].reta[5] = 3;
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, before, reta_size));
	reta[1].reta[5] = 3;
	memcpy(before, reta, sizeof(before));
	reta_read();
	CHECK(memcmp(before, reta, reta_size / 64 * sizeof(reta[0])) == 0, "one entry changed: table read differs");

	before[0].reta[0] = QUEUES;
	CHECK(rte_eth_dev_rss_reta_update(PORT_A, before, reta_size) < 0, "queue that does not exist");
	CHECK_EQ(rte_eth_dev_rss_reta_update(PORT_A, reta, reta_size / 2), -EINVAL);
	/* A part of the table can be read. */
	CHECK_OK(rte_eth_dev_rss_reta_query(PORT_A, reta, reta_size / 2));
}

static void
key_update(void)
{
	struct rte_eth_rss_conf conf = { .rss_key = key, .rss_key_len = sizeof(key) };
	uint8_t other[40];
	unsigned int i;

	CHECK_OK(rte_eth_dev_rss_hash_conf_get(PORT_A, &conf));
	for (i = 0; i < sizeof(key); i++)
		key[i] = 0xa5 ^ (i * 31);
	CHECK_OK(rte_eth_dev_rss_hash_update(PORT_A, &conf));
	all_kinds(true);
	conf.rss_key = other;
	CHECK_OK(rte_eth_dev_rss_hash_conf_get(PORT_A, &conf));
	CHECK(memcmp(other, key, sizeof(key)) == 0, "the key read differs from the key set");
	conf.rss_key_len = 39;
	CHECK_EQ(rte_eth_dev_rss_hash_update(PORT_A, &conf), -EINVAL);
	conf.rss_key_len = 52;
	CHECK_EQ(rte_eth_dev_rss_hash_update(PORT_A, &conf), -EINVAL);
}

static void
functions_update(void)
{
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_IP };

	CHECK_OK(rte_eth_dev_rss_hash_update(PORT_A, &conf));
	all_kinds(false);
	conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	CHECK_OK(rte_eth_dev_rss_hash_update(PORT_A, &conf));
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_TCP, false, true, true);
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_UDP, false, false, false);
	flows(RTE_ETHER_TYPE_IPV6, IPPROTO_TCP, false, false, false);
	CHECK_OK(rte_eth_dev_rss_hash_conf_get(PORT_A, &conf));
	CHECK(conf.rss_hf == RTE_ETH_RSS_NONFRAG_IPV4_TCP, "functions %#" PRIx64, conf.rss_hf);
	conf.rss_hf = RTE_ETH_RSS_VXLAN;
	CHECK(rte_eth_dev_rss_hash_update(PORT_A, &conf) < 0, "function that is not supported");
}

/*
 * Packets without a hash go to the queue of the first table entry, also after a change of this entry alone, and after a
 * restart of the queue, which gives it another rqn. Here only IPv4/TCP has a hash.
 */
static void
first_entry(void)
{
	struct rte_eth_rss_reta_entry64 one[RETA_GROUPS];
	uint16_t queue;

	for (queue = QUEUES; queue-- > 0;) {
		memset(one, 0, sizeof(one));
		one[0].mask = 1;
		one[0].reta[0] = queue;
		CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, one, reta_size));
		reta[0].reta[0] = queue;
		flows(0x88b5, 0, false, false, false);
		flows(RTE_ETHER_TYPE_IPV6, IPPROTO_UDP, false, false, false);
		CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, queue));
		CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, queue));
		flows(0x88b5, 0, false, false, false);
		flows(RTE_ETHER_TYPE_IPV4, IPPROTO_TCP, false, true, true);
	}
}

/* Table, key and hash functions are kept across a stop and start. */
static void
restart(void)
{
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_TCP, false, true, true);
	flows(RTE_ETHER_TYPE_IPV4, IPPROTO_UDP, false, false, false);
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = 1, .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP |
				 RTE_ETH_RSS_TCP };
	struct rte_eth_rss_conf rss = { .rss_key = key, .rss_key_len = sizeof(key) };
	struct rte_eth_dev_info info;

	pmd_init(argc, argv);
	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	reta_size = info.reta_size;
	CHECK(reta_size >= 64 && reta_size <= RTE_ETH_RSS_RETA_SIZE_512, "%u entries", reta_size);
	CHECK(info.hash_key_size == sizeof(key), "key of %u bytes", info.hash_key_size);
	CHECK_OK(rte_eth_dev_rss_hash_conf_get(PORT_A, &rss));
	CHECK(rss.rss_hf == conf.rss_hf, "functions %#" PRIx64 ", configured %#" PRIx64, rss.rss_hf,
	      conf.rss_hf);
	default_table();
	all_kinds(true);
	table_update();
	key_update();
	functions_update();
	first_entry();
	restart();
	first_entry();
	pmd_ports_down();
	return pmd_fini();
}
