/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* RSS, link and MTU on a device in memory; the other part of test_control.c. */

#include "control_sim.h"
#include "mlxpmd_tirs.h"

/* The key of the verification suite of Microsoft's RSS specification. */
static const uint8_t suite_key[4] = { 0x6d, 0x5a, 0x56, 0xda };
static const uint8_t own[6] = { 0x02, 0, 0, 0, 0, 0x0a };

/* ------------------------------------------------------------------ RSS */

#define IPS (MDV_HASH_SRC_IP | MDV_HASH_DST_IP)
#define PORTS (MDV_HASH_SRC_PORT | MDV_HASH_DST_PORT)

/* What a TIR of each class hashes, of all that ethdev can request. */
static void
test_class_fields(void)
{
	static const struct {
		uint64_t hf;
		uint32_t fields[MLXPMD_NB_RSS_CLASSES]; /* IPv4: TCP, UDP, other; IPv6: TCP, UDP, other; the rest. */
	} row[] = {
		{ 0, { 0 } },
		{ RTE_ETH_RSS_IPV4, { IPS, IPS, IPS } },
		{ RTE_ETH_RSS_FRAG_IPV4, { 0, 0, IPS } },
		{ RTE_ETH_RSS_NONFRAG_IPV4_OTHER, { 0, 0, IPS } },
		{ RTE_ETH_RSS_NONFRAG_IPV4_TCP, { IPS | PORTS } },
		{ RTE_ETH_RSS_NONFRAG_IPV4_UDP, { 0, IPS | PORTS } },
		{ RTE_ETH_RSS_IPV6, { 0, 0, 0, IPS, IPS, IPS } },
		{ RTE_ETH_RSS_IPV6_EX, { 0, 0, 0, IPS, IPS, IPS } },
		{ RTE_ETH_RSS_FRAG_IPV6, { 0, 0, 0, 0, 0, IPS } },
		{ RTE_ETH_RSS_NONFRAG_IPV6_OTHER, { 0, 0, 0, 0, 0, IPS } },
		{ RTE_ETH_RSS_NONFRAG_IPV6_TCP, { 0, 0, 0, IPS | PORTS } },
		{ RTE_ETH_RSS_IPV6_TCP_EX, { 0, 0, 0, IPS | PORTS } },
		{ RTE_ETH_RSS_NONFRAG_IPV6_UDP, { 0, 0, 0, 0, IPS | PORTS } },
		{ RTE_ETH_RSS_IPV6_UDP_EX, { 0, 0, 0, 0, IPS | PORTS } },
		{ RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP, { IPS | PORTS, IPS, IPS } },
		{ RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_L3_SRC_ONLY, { MDV_HASH_SRC_IP, MDV_HASH_SRC_IP, MDV_HASH_SRC_IP } },
		{ RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_L3_DST_ONLY, { MDV_HASH_DST_IP, MDV_HASH_DST_IP, MDV_HASH_DST_IP } },
		{ RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_L4_SRC_ONLY, { IPS | MDV_HASH_SRC_PORT } },
		{ RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_L4_DST_ONLY, { IPS | MDV_HASH_DST_PORT } },
		{ RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_L3_SRC_ONLY, { MDV_HASH_SRC_IP | PORTS } },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++)
		for (int class = 0; class < MLXPMD_NB_RSS_CLASSES; class++)
			CHECK(mlxpmd_rss_class_fields(row[i].hf, class) == row[i].fields[class], "row %zu, class %d", i, class);
}

static void
test_rss_caps(void)
{
	const uint64_t ip = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER |
			    RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |
			    RTE_ETH_RSS_IPV6_EX | RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY;
	const uint64_t l4 = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
			    RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX |
			    RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX |
			    RTE_ETH_RSS_L4_SRC_ONLY | RTE_ETH_RSS_L4_DST_ONLY;
	struct mdv_caps caps = { .rss_ipv4_ipv6 = true };

	for (uint32_t fields = 0; fields < 16; fields++) {
		caps.rx_hash_fields = fields;
		CHECK_EQ(mlxpmd_rss_supported(&caps),
			 (fields & IPS) != IPS ? 0 : (fields & PORTS) == PORTS ? ip | l4 : ip);
	}
	caps.rss_ipv4_ipv6 = false;
	CHECK_EQ(mlxpmd_rss_supported(&caps), 0);
	for (unsigned int log = 0; log < 32; log++) {
		caps.log_max_rqt_size = log;
		CHECK_EQ(mlxpmd_rss_reta_size(&caps, 0), log < 9 ? 1 << log : 512);
		CHECK_EQ(mlxpmd_rss_reta_size(&caps, 256), log < 9 ? 1 << log : 512);
		CHECK_EQ(mlxpmd_rss_reta_size(&caps, 257), log < 10 ? 1 << log : 1024);
		CHECK_EQ(mlxpmd_rss_reta_size(&caps, 1024), log < 11 ? 1 << log : 2048);
	}
}

/* Key, functions and table of the port, as configured, as they are read, and as they are in the device. */
static void
test_rss(void)
{
	uint8_t key[MLXPMD_RSS_KEY_BYTES + 1], got[MLXPMD_RSS_KEY_BYTES + 1];
	struct rte_eth_rss_conf conf = { .rss_hf = 0 };
	const struct sim_object *udp, *ip6, *tcp, *other;

	port_up(true);
	udp = sim_tir(4, IPPROTO_UDP);
	tcp = sim_tir(4, IPPROTO_TCP);
	ip6 = sim_tir(6, 0);
	other = sim_tir(0, 0);
	CHECK_EQ(udp->tir.hash_fields, IPS | PORTS);
	CHECK_EQ(tcp->tir.hash_fields, IPS);
	CHECK_EQ(ip6->tir.hash_fields, IPS);
	CHECK_EQ(other->tir.hash_fields, 0);
	CHECK(memcmp(udp->key, suite_key, sizeof(suite_key)) == 0 && udp->key[39] == 0xfa);
	CHECK(sim_rqt(udp->tir.rqtn)->n == 8 && sim_rqt(udp->tir.rqtn)->max == 8);
	CHECK(sim_rqt(other->tir.rqtn)->n == 1 && sim_rqt(other->tir.rqtn)->rqn[0] == 0x1000);
	for (unsigned int i = 0; i < 8; i++)
		CHECK_EQ(sim_rqt(udp->tir.rqtn)->rqn[i], 0x1000 + i % 4);
	/* A class that loses its last hash field, and one that gets its first. */
	CHECK_OK(port_hash());
	CHECK(tcp->tir.hash_fields == IPS && udp->tir.hash_fields == IPS && ip6->tir.hash_fields == 0);
	CHECK(sim_tir(6, IPPROTO_TCP)->tir.hash_fields == (IPS | PORTS) && ip6->tir.rqtn == other->tir.rqtn);
	CHECK(sim_tir(6, IPPROTO_TCP)->tir.rqtn == udp->tir.rqtn && udp->key[0] == 1 && udp->key[3] == 0);
	/* Without a key the one that is set stays. */
	conf.rss_hf = RTE_ETH_RSS_IPV6;
	CHECK_OK(mlxpmd_rss_hash_update(&eth_dev, &conf));
	CHECK(ip6->tir.hash_fields == IPS && ip6->key[0] == 1 && tcp->tir.hash_fields == 0);
	/* Keys that are too short or too long; a buffer that is too short gets nothing. */
	memset(key, 0x5a, sizeof(key));
	conf.rss_key = key;
	for (conf.rss_key_len = 39; conf.rss_key_len <= 41; conf.rss_key_len += 2) {
		rte_errno = 0;
		log_begin();
		CHECK_EQ(mlxpmd_rss_hash_update(&eth_dev, &conf), -EINVAL);
		CHECK(rte_errno == EINVAL && log_errors == 1 && ip6->key[0] == 1);
		CHECK(strstr(log_text, "bytes: allowed is 40") != NULL, "%s", log_text);
	}
	memset(got, 0, sizeof(got));
	got[40] = 0x77;
	conf = (struct rte_eth_rss_conf){ .rss_key = got, .rss_key_len = 39 };
	CHECK_OK(mlxpmd_rss_hash_conf_get(&eth_dev, &conf));
	CHECK(got[0] == 0 && conf.rss_key_len == 40 && conf.rss_hf == RTE_ETH_RSS_IPV6);
	CHECK_OK(mlxpmd_rss_hash_conf_get(&eth_dev, &conf));
	CHECK(got[0] == 1 && got[2] == 3 && got[40] == 0x77);
	conf.rss_key = NULL;
	CHECK_OK(mlxpmd_rss_hash_conf_get(&eth_dev, &conf));
	port_stop();
	/* Of a stopped port: for the next start. */
	conf = (struct rte_eth_rss_conf){ .rss_key = key, .rss_key_len = 40, .rss_hf = RTE_ETH_RSS_IPV4 };
	CHECK_OK(mlxpmd_rss_hash_update(&eth_dev, &conf));
	CHECK_OK(port_start());
	CHECK(sim_tir(4, 0)->tir.hash_fields == IPS && sim_tir(4, 0)->key[39] == 0x5a);
	CHECK_EQ(sim_tir(6, 0)->tir.hash_fields, 0);
	port_down();
}

static void
test_rss_configured(void)
{
	struct rte_eth_rss_conf *configured = &data.dev_conf.rx_adv_conf.rss_conf;
	uint8_t key[MLXPMD_RSS_KEY_BYTES];

	memset(key, 0x5a, sizeof(key));
	sim_reset();
	configured->rss_key = key;
	for (unsigned int bytes = 39; bytes <= 41; bytes++) {
		configured->rss_key_len = bytes;
		CHECK_EQ(mlxpmd_rss_configure(&port), bytes == 40 ? 0 : -EINVAL);
	}
	CHECK(port.rss_key[0] == 0x5a && port.rss_hf == configured->rss_hf);
	configured->rss_key = NULL;
	CHECK_OK(mlxpmd_rss_configure(&port));
	CHECK(memcmp(port.rss_key, suite_key, sizeof(suite_key)) == 0);
	/* Length 0: the key has the usual length. */
	configured->rss_key = key;
	configured->rss_key_len = 0;
	CHECK_OK(mlxpmd_rss_configure(&port));
	CHECK_EQ(port.rss_key[39], 0x5a);
	data.dev_conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	data.nb_rx_queues = 0;
	port.reta[0] = port.reta[7] = 1;
	CHECK_OK(mlxpmd_rss_configure(&port));
	CHECK(port.rss_hf == 0 && port.reta_size == 8 && port.reta[0] == 0 && port.reta[7] == 0);
}

static void
test_reta(void)
{
	struct rte_eth_rss_reta_entry64 table[2] = { { .mask = UINT64_MAX } };
	const struct sim_object *rqt, *first;

	port_up(true);
	rqt = sim_rqt(sim_tir(4, 0)->tir.rqtn);
	first = sim_rqt(sim_tir(0, 0)->tir.rqtn);
	CHECK_OK(port_reta());
	/* Entries 0, 1 and 7 are those of the mask. */
	CHECK(port.reta[0] == 3 && port.reta[1] == 2 && port.reta[2] == 2 && port.reta[6] == 2 && port.reta[7] == 0);
	CHECK(rqt->rqn[0] == 0x1003 && rqt->rqn[1] == 0x1002 && rqt->rqn[3] == 0x1003 && rqt->rqn[7] == 0x1000);
	CHECK_EQ(first->rqn[0], 0x1003);
	/* The same first entry: its table is not written. */
	sim_arm(1, EIO);
	CHECK_OK(port_reta());
	CHECK(sim_hit == NULL);
	sim_disarm();
	table[0].mask = 0x82;
	memset(table[0].reta, 0xff, sizeof(table[0].reta));
	CHECK_OK(mlxpmd_reta_query(&eth_dev, table, 8));
	CHECK(table[0].reta[0] == 0xffff && table[0].reta[6] == 0xffff);
	CHECK(table[0].reta[1] == 2 && table[0].reta[7] == 0);
	for (unsigned int size = 7; size <= 9; size += 2) {
		log_begin();
		/* A part of the table can be read. */
		CHECK_EQ(mlxpmd_reta_query(&eth_dev, table, size), size < 8 ? 0 : -EINVAL);
		CHECK_EQ(mlxpmd_reta_update(&eth_dev, table, size), -EINVAL);
		CHECK(rte_errno == EINVAL && log_errors == (size < 8 ? 1 : 2) &&
		      strstr(log_text, "entries: allowed is 8") != NULL, "%s", log_text);
	}
	port_stop();
	CHECK_OK(port_reta());
	CHECK_OK(port_start());
	port_down();
	/* Beyond the first group of 64. */
	sim_reset();
	mdv.caps.log_max_rqt_size = 7;
	CHECK_OK(mlxpmd_rss_configure(&port));
	table[0] = table[1] = (struct rte_eth_rss_reta_entry64){ .mask = RTE_BIT64(63) };
	table[1].mask |= 1;
	table[1].reta[0] = 3;
	table[0].reta[63] = 1;
	table[1].reta[63] = 2;
	CHECK_OK(mlxpmd_reta_update(&eth_dev, table, 128));
	CHECK(port.reta[63] == 1 && port.reta[127] == 2 && port.reta[126] == 126 % 4 && port.reta[64] == 3);
	table[0].reta[63] = table[1].reta[63] = table[1].reta[0] = 77;
	table[0].mask |= 1;
	table[0].reta[0] = 77;
	CHECK_OK(mlxpmd_reta_query(&eth_dev, table, 128));
	CHECK(table[0].reta[63] == 1 && table[1].reta[63] == 2 && table[0].reta[0] == 0 && table[1].reta[0] == 3);
}

/* The largest table; what is beyond it stays as it was. */
static void
test_reta_largest(void)
{
	struct rte_eth_rss_reta_entry64 table[MLXPMD_RETA_USUAL / RTE_ETH_RETA_GROUP_SIZE + 1];

	sim_reset();
	mdv.caps.log_max_rqt_size = 31;
	CHECK_OK(mlxpmd_mac_up(&port));
	CHECK_OK(mlxpmd_mtu_remember(&port));
	CHECK_OK(mlxpmd_rss_configure(&port));
	CHECK_EQ(port.reta_size, MLXPMD_RETA_USUAL);
	CHECK_OK(port_start());
	memset(table, 0, sizeof(table));
	for (unsigned int i = 0; i < RTE_DIM(table); i++)
		table[i].mask = UINT64_MAX;
	table[7].reta[63] = 2;
	table[8].reta[0] = 1;
	CHECK_OK(mlxpmd_reta_update(&eth_dev, table, MLXPMD_RETA_USUAL));
	CHECK(port.reta_size == MLXPMD_RETA_USUAL && port.reta[511] == 2);
	CHECK_EQ(sim_rqt(sim_tir(4, 0)->tir.rqtn)->rqn[511], 0x1002);
	CHECK_OK(mlxpmd_reta_query(&eth_dev, table, MLXPMD_RETA_USUAL));
	CHECK(table[7].reta[63] == 2 && table[8].reta[0] == 1);
	port_down();
}

/* The RQT of a flow has each of its queues, evenly if their number is a power of two. */
static void
test_rqt_entries(void)
{
	static const struct {
		uint8_t log_max;
		uint16_t queues;
		unsigned int entries;
	} rows[] = {
		{ 11, 1, 1 }, { 11, 2, 2 }, { 11, 3, 512 }, { 11, 300, 1024 }, { 11, 511, 1024 }, { 11, 512, 512 },
		{ 11, 513, 2048 }, { 11, 1024, 1024 }, { 11, 2047, 2048 }, { 9, 3, 512 }, { 9, 300, 512 },
		{ 9, 511, 512 }, { 9, 512, 512 }, { 3, 3, 8 }, { 3, 7, 8 }, { 3, 8, 8 },
	};
	static uint16_t queues[2048];
	struct mlxpmd_tirs_conf conf = { .queues = queues, .rss_hf = RTE_ETH_RSS_IPV4 };
	const struct sim_object *rqt;
	struct mlxpmd_tirs tirs;

	port_up(true);
	pthread_mutex_lock(&port.lock);
	for (size_t i = 0; i < RTE_DIM(queues); i++)
		queues[i] = (uint16_t)(i * 3 % SIM_QUEUES);
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		mdv.caps.log_max_rqt_size = rows[i].log_max;
		conf.nb_queues = rows[i].queues;
		CHECK_OK(mlxpmd_tirs_create(&port, &conf, &tirs));
		rqt = sim_rqt(tirs.rqt->id);
		CHECK_EQ(rqt->n, rows[i].entries);
		for (unsigned int k = 0; k < rqt->n; k++)
			CHECK_EQ(rqt->rqn[k], 0x1000 + queues[k % rows[i].queues]);
		mlxpmd_tirs_destroy(&tirs);
	}
	mdv.caps.log_max_rqt_size = 3;
	pthread_mutex_unlock(&port.lock);
	port_down();
}

/* Without RSS all frames reach the first queue of the table, whatever they are; hash functions have no effect. */
static void
test_no_rss(void)
{
	port_up(false);
	CHECK(sim_tir(4, 0) == NULL && sim_tir(0, 0) != NULL && sim_matches(own, UNTAGGED) == 1);
	CHECK_EQ(sim_rqt(sim_tir(0, 0)->tir.rqtn)->rqn[0], 0x1000);
	CHECK_OK(port_hash());
	CHECK_EQ(sim_tir(0, 0)->tir.hash_fields, 0);
	CHECK_OK(port_reta());
	CHECK_EQ(sim_rqt(sim_tir(0, 0)->tir.rqtn)->rqn[0], 0x1003);
	port_down();
	/* A port that only sends takes no frames. */
	sim_reset();
	data.nb_rx_queues = 0;
	CHECK_OK(mlxpmd_mac_up(&port));
	CHECK_OK(mlxpmd_rss_configure(&port));
	CHECK_OK(mlxpmd_steer_up(&port));
	CHECK(port.steer == NULL && device.rules == 0);
	mlxpmd_steer_down(&port);
	mlxpmd_mac_down(&port);
	CHECK_EQ(allocated, 0);
}

/* ------------------------------------------------------------------ link and MTU */

static void
test_link(void)
{
	struct rte_eth_link *link = &data.dev_link;

	sim_reset();
	CHECK_OK(mlxpmd_link_update(&eth_dev, 1));
	CHECK(link->link_status == RTE_ETH_LINK_UP && link->link_speed == 100000 && slept_ms == 0);
	CHECK(link->link_duplex == RTE_ETH_LINK_FULL_DUPLEX && link->link_autoneg == RTE_ETH_LINK_AUTONEG);
	CHECK_EQ(mlxpmd_link_update(&eth_dev, 1), -1); /* As it was: rte_eth_linkstatus_set(). */
	CHECK_EQ(mlxpmd_link_speed_capa(&eth_dev), RTE_ETH_LINK_SPEED_100G);
	link_mbps = 0;
	CHECK_EQ(mlxpmd_link_update(&eth_dev, 0), -1);
	CHECK_EQ(link->link_speed, RTE_ETH_SPEED_NUM_UNKNOWN);
	/* It comes up while the caller waits, or never. */
	link_up_ms = 900;
	CHECK_OK(mlxpmd_link_update(&eth_dev, 0));
	CHECK(link->link_status == RTE_ETH_LINK_DOWN && link->link_speed == RTE_ETH_SPEED_NUM_NONE && slept_ms == 0);
	CHECK_EQ(mlxpmd_link_speed_capa(&eth_dev), 0);
	CHECK_OK(mlxpmd_link_update(&eth_dev, 1));
	CHECK(link->link_status == RTE_ETH_LINK_UP && slept_ms == 900);
	link_up_ms = UINT64_MAX;
	slept_ms = 0;
	CHECK_OK(mlxpmd_link_update(&eth_dev, 1));
	CHECK(link->link_status == RTE_ETH_LINK_DOWN && slept_ms == 1000, "%" PRIu64 " ms", slept_ms);
	/* A failure is returned at once; of a removed device the link is down. */
	slept_ms = 0;
	link_up_ms = 0;
	sim_arm(0, EIO);
	CHECK_EQ(mlxpmd_link_update(&eth_dev, 1), -EIO);
	CHECK_EQ(slept_ms, 0);
	sim_arm(0, EIO);
	CHECK_EQ(mlxpmd_link_speed_capa(&eth_dev), 0);
	CHECK_OK(mlxpmd_link_update(&eth_dev, 0));
	CHECK_EQ(link->link_status, RTE_ETH_LINK_UP);
	removed = true;
	sim_arm(0, EIO);
	CHECK_OK(mlxpmd_link_update(&eth_dev, 0));
	CHECK_EQ(link->link_status, RTE_ETH_LINK_DOWN);
	sim_disarm();
	removed = false;
	CHECK_OK(mlxpmd_link_down(&eth_dev));
	CHECK(!device.up);
	CHECK_OK(mlxpmd_link_up(&eth_dev));
	CHECK(device.up);
}

/* What the application was notified of, and whether the link is something else now. */
static void
test_link_notified(void)
{
	sim_reset();
	CHECK(!mlxpmd_link_notified(&port));
	CHECK(mlxpmd_link_refresh(&port));
	CHECK(mlxpmd_link_set_notified(&port));
	CHECK(mlxpmd_link_notified(&port) && !mlxpmd_link_refresh(&port) && !mlxpmd_link_set_notified(&port));
	slept_ms = 0;
	link_up_ms = 1;
	CHECK(mlxpmd_link_refresh(&port));
	CHECK(mlxpmd_link_notified(&port) && data.dev_link.link_status == RTE_ETH_LINK_DOWN);
	sim_arm(0, EIO);
	CHECK(!mlxpmd_link_refresh(&port));
	sim_disarm();
	CHECK(mlxpmd_link_set_notified(&port));
	CHECK(!mlxpmd_link_notified(&port));
}

static void
test_mtu(void)
{
	port_up(true);
	CHECK(port.netdev.mtu_found == 1500 && data.mtu == 1500);
	/* The interface has it: no request. */
	sim_arm(0, EIO);
	CHECK_OK(mlxpmd_mtu_set(&eth_dev, 1500));
	CHECK_OK(mlxpmd_mtu_apply(&port));
	CHECK(sim_hit == NULL);
	CHECK_EQ(mlxpmd_mtu_set(&eth_dev, 2000), -EIO);
	CHECK_OK(mlxpmd_mtu_set(&eth_dev, 2000));
	CHECK_EQ(device.mtu, 2000);
	/* A started queue has as many buffers for a frame as its start gave it; the last one counts, too. */
	rxqs[0].log_segs = rxqs[1].log_segs = rxqs[2].log_segs = 1;
	log_begin();
	CHECK_EQ(mlxpmd_mtu_set(&eth_dev, 4000), -EBUSY);
	CHECK(rte_errno == EBUSY && log_errors == 1, "%s", log_text);
	CHECK(strstr(log_text, "MTU 4000 needs more buffers per frame than Rx queue 3 has: stop the port first") != NULL, "%s",
	      log_text);
	rxqs[3].log_segs = 1;
	rxqs[0].log_segs = 0;
	CHECK_EQ(mlxpmd_mtu_set(&eth_dev, 4000), -EBUSY);
	rxqs[0].log_segs = 1;
	CHECK_OK(mlxpmd_mtu_set(&eth_dev, 4000));
	CHECK_EQ(mlxpmd_mtu_set(&eth_dev, 9000), -EINVAL);
	CHECK_EQ(device.mtu, 4000);
	/* Of a stopped port the start sets it. */
	port_stop();
	CHECK_OK(mlxpmd_mtu_set(&eth_dev, 9000));
	CHECK_EQ(device.mtu, 4000);
	data.mtu = 1400;
	CHECK_OK(mlxpmd_mtu_apply(&port));
	CHECK_EQ(device.mtu, 1400);
	port_down();
	CHECK_EQ(device.mtu, 1500);
}

void
tests_rss(void)
{
	test_class_fields();
	test_rss_caps();
	test_rss();
	test_rss_configured();
	test_reta();
	test_reta_largest();
	test_rqt_entries();
	test_no_rss();
	test_link();
	test_link_notified();
	test_mtu();
}
