/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The operations of a port, and how to bring it to the state in which each can run. */

#include <errno.h>

#include <infiniband/mlx5dv.h>
#include <rte_dev.h>

#include "ctl.h"
#include "pmd_test.h"
#include "sweep.h"

#define MAX_XSTATS 512
#define RSS_HF (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP)
#define STRIDING ",mprq_en=1,rxqs_min_mprq=0,mprq_log_stride_num=3"
#define INLINE ",txq_inline_mpw=128,txq_inline_max=200,txqs_min_inline=0"

enum level level_now = LEVEL_NONE;

/* What the environment variable SWEEP_FEATURES selects; the first row without it. */
static const struct features {
	const char *name, *devargs;
	uint64_t rx, tx;
} features[] = {
	{ "plain", "", RTE_ETH_RX_OFFLOAD_TIMESTAMP, 0 },
	{ "lro", STRIDING, RTE_ETH_RX_OFFLOAD_TIMESTAMP | RTE_ETH_RX_OFFLOAD_TCP_LRO | RTE_ETH_RX_OFFLOAD_SCATTER,
	  RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO | RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM },
	{ "compressed", STRIDING INLINE ",rxq_cqe_comp_en=1", RTE_ETH_RX_OFFLOAD_RSS_HASH, RTE_ETH_TX_OFFLOAD_TCP_TSO },
	{ "vfio", ",open=vfio", RTE_ETH_RX_OFFLOAD_TIMESTAMP, 0 },
};
static const struct rte_eth_conf port_conf = {
	.rxmode = {
		.mq_mode = RTE_ETH_MQ_RX_RSS,
		.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER,
	},
	.rx_adv_conf.rss_conf.rss_hf = RSS_HF,
};
static struct rte_ether_addr second_mac = { { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 } };
static struct rte_ether_addr found_mac;
static struct rte_ether_addr group_macs[] = {
	{ { 0x01, 0x00, 0x5e, 0x00, 0x00, 0x01 } }, { { 0x01, 0x00, 0x5e, 0x00, 0x00, 0x02 } },
};

/* ------------------------------------------------------------------ up and down */

static const struct features *
features_selected(void)
{
	const char *name = getenv("SWEEP_FEATURES");

	for (unsigned int i = 0; name != NULL && i < RTE_DIM(features); i++)
		if (strcmp(name, features[i].name) == 0)
			return &features[i];
	return &features[0];
}

bool
sweep_vfio(void)
{
	return strstr(features_selected()->devargs, "open=vfio") != NULL;
}

static int
do_probe(void)
{
	const char *clock = sweep_vfio() ? "raw" : "page";
	char devargs[256];

	snprintf(devargs, sizeof(devargs), SWEEP_PCI ",clock=%s,stats_age_ms=0%s", clock, features_selected()->devargs);
	/*
	 * The quality of the host clock depends on the load of the machine, and may cause a log line. For
	 * statistics the device is queried by the reader: during that operation, and at no other time.
	 */
	return rte_dev_probe(devargs);
}

static struct rte_device *
device_of_port(void)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(SWEEP_PORT, &info) == 0 ? info.device : NULL;
}

static int
do_remove(void)
{
	struct rte_device *device = device_of_port();

	return device != NULL ? rte_dev_remove(device) : -ENODEV;
}

static int
do_close(void)
{
	struct rte_device *device = device_of_port();
	int rc = rte_eth_dev_close(SWEEP_PORT), removed;

	removed = device != NULL ? rte_dev_remove(device) : -ENODEV;
	return rc != 0 ? rc : removed;
}

/* Do not request what the device does not have. */
static int
do_configure(void)
{
	struct rte_eth_conf conf = port_conf;
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(SWEEP_PORT, &info);

	if (rc != 0)
		return rc;
	conf.rxmode.offloads |= features_selected()->rx;
	conf.rxmode.offloads &= info.rx_offload_capa;
	conf.txmode.offloads = features_selected()->tx & info.tx_offload_capa;
	conf.rx_adv_conf.rss_conf.rss_hf &= info.flow_type_rss_offloads;
	return rte_eth_dev_configure(SWEEP_PORT, SWEEP_QUEUES, SWEEP_QUEUES, &conf);
}

static int
do_rx_queue_setup(void)
{
	return rte_eth_rx_queue_setup(SWEEP_PORT, 0, 64, SOCKET_ID_ANY, NULL, pmd_pool);
}

static int
do_tx_queue_setup(void)
{
	return rte_eth_tx_queue_setup(SWEEP_PORT, 0, 64, SOCKET_ID_ANY, NULL);
}

/* What a queue is made of goes with the port alone. */
static int
undo_queue_setup(void)
{
	enum level level = level_now;
	int rc = level_reach(LEVEL_NONE);

	return rc != 0 ? rc : level_reach(level);
}

static int
do_start(void)
{
	return rte_eth_dev_start(SWEEP_PORT);
}

static int
do_stop(void)
{
	return rte_eth_dev_stop(SWEEP_PORT);
}

/*
 * A striding queue keeps its buffers, and their registration, from the first start until it is released: the port is
 * started once. whole.py refuses the requests of a first start.
 */
static int
all_queues_set_up(void)
{
	int rc = 0;

	for (uint16_t q = 0; rc == 0 && q < SWEEP_QUEUES; q++)
		rc = rte_eth_rx_queue_setup(SWEEP_PORT, q, 64, SOCKET_ID_ANY, NULL, pmd_pool);
	for (uint16_t q = 0; rc == 0 && q < SWEEP_QUEUES; q++)
		rc = rte_eth_tx_queue_setup(SWEEP_PORT, q, 64, SOCKET_ID_ANY, NULL);
	if (rc != 0 || strstr(features_selected()->devargs, "mprq_en=1") == NULL)
		return rc;
	rc = do_start();
	return rc == 0 ? do_stop() : rc;
}

struct ibv_context *
library_open(void)
{
	struct mlx5dv_vfio_context_attr vfio = { .pci_name = SWEEP_PCI };
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = sweep_vfio() ? mlx5dv_get_vfio_device_list(&vfio) : ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	if (list != NULL && list[0] != NULL)
		context = sweep_vfio() ? ibv_open_device(list[0]) : mlx5dv_open_device(list[0], &attr);
	if (list != NULL)
		ibv_free_device_list(list);
	return context;
}

static int (*const level_up[NB_LEVELS])(void) = {
	[LEVEL_PROBED] = do_probe,
	[LEVEL_CONFIGURED] = do_configure,
	[LEVEL_SET_UP] = all_queues_set_up,
	[LEVEL_STARTED] = do_start,
};

int
level_reach(enum level level)
{
	int rc = 0;

	if (level_now == LEVEL_STARTED && level < LEVEL_STARTED) {
		rc = do_stop();
		level_now = LEVEL_SET_UP;
	}
	if (rc == 0 && level_now > level) {
		rc = do_remove();
		level_now = LEVEL_NONE;
	}
	while (rc == 0 && level_now < level) {
		rc = level_up[level_now + 1]();
		if (rc == 0)
			level_now++;
	}
	return rc;
}

/* ------------------------------------------------------------------ while it runs */

static int
rss_hash(uint64_t hf)
{
	struct rte_eth_rss_conf conf = { .rss_hf = hf };

	return rte_eth_dev_rss_hash_update(SWEEP_PORT, &conf);
}

static int
do_rss_hash(void)
{
	return rss_hash(RTE_ETH_RSS_IPV4);
}

static int
undo_rss_hash(void)
{
	return rss_hash(RSS_HF);
}

/* All entries to the first queue, or in turn as after configure. */
static int
reta(bool in_turn)
{
	struct rte_eth_rss_reta_entry64 table[8];
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(SWEEP_PORT, &info);

	if (rc != 0 || info.reta_size > RTE_DIM(table) * RTE_ETH_RETA_GROUP_SIZE)
		return rc != 0 ? rc : -E2BIG;
	memset(table, 0, sizeof(table));
	for (unsigned int i = 0; i < info.reta_size; i++) {
		table[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] =
			in_turn ? i % SWEEP_QUEUES : 0;
	}
	return rte_eth_dev_rss_reta_update(SWEEP_PORT, table, info.reta_size);
}

static int
do_reta(void)
{
	return reta(false);
}

static int
undo_reta(void)
{
	return reta(true);
}

static int
do_mtu(void)
{
	return rte_eth_dev_set_mtu(SWEEP_PORT, 1400);
}

static int
undo_mtu(void)
{
	return rte_eth_dev_set_mtu(SWEEP_PORT, 1500);
}

static int
do_promiscuous(void)
{
	return rte_eth_promiscuous_enable(SWEEP_PORT);
}

static int
undo_promiscuous(void)
{
	return rte_eth_promiscuous_disable(SWEEP_PORT);
}

static int
do_allmulticast(void)
{
	return rte_eth_allmulticast_enable(SWEEP_PORT);
}

static int
undo_allmulticast(void)
{
	return rte_eth_allmulticast_disable(SWEEP_PORT);
}

static int
do_mac_add(void)
{
	return rte_eth_dev_mac_addr_add(SWEEP_PORT, &second_mac, 0);
}

static int
undo_mac_add(void)
{
	return rte_eth_dev_mac_addr_remove(SWEEP_PORT, &second_mac);
}

static int
do_mac_set(void)
{
	int rc = rte_eth_macaddr_get(SWEEP_PORT, &found_mac);

	return rc != 0 ? rc : rte_eth_dev_default_mac_addr_set(SWEEP_PORT, &second_mac);
}

static int
undo_mac_set(void)
{
	return rte_eth_dev_default_mac_addr_set(SWEEP_PORT, &found_mac);
}

static int
do_mc_list(void)
{
	return rte_eth_dev_set_mc_addr_list(SWEEP_PORT, group_macs, RTE_DIM(group_macs));
}

static int
undo_mc_list(void)
{
	return rte_eth_dev_set_mc_addr_list(SWEEP_PORT, NULL, 0);
}

static int
do_vlan(void)
{
	return rte_eth_dev_vlan_filter(SWEEP_PORT, 7, 1);
}

static int
undo_vlan(void)
{
	return rte_eth_dev_vlan_filter(SWEEP_PORT, 7, 0);
}

static int
do_rxq_stop(void)
{
	return rte_eth_dev_rx_queue_stop(SWEEP_PORT, 1);
}

static int
do_rxq_start(void)
{
	return rte_eth_dev_rx_queue_start(SWEEP_PORT, 1);
}

static int
do_txq_stop(void)
{
	return rte_eth_dev_tx_queue_stop(SWEEP_PORT, 1);
}

static int
do_txq_start(void)
{
	return rte_eth_dev_tx_queue_start(SWEEP_PORT, 1);
}

static int
do_stats(void)
{
	struct rte_eth_stats stats;

	return rte_eth_stats_get(SWEEP_PORT, &stats);
}

static int
do_stats_reset(void)
{
	return rte_eth_stats_reset(SWEEP_PORT);
}

static int
do_xstats(void)
{
	struct rte_eth_xstat xstats[MAX_XSTATS];
	int rc = rte_eth_xstats_get(SWEEP_PORT, xstats, MAX_XSTATS);

	return rc < 0 ? rc : 0;
}

static int
do_xstats_reset(void)
{
	return rte_eth_xstats_reset(SWEEP_PORT);
}

static int
do_link(void)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(SWEEP_PORT, &link);
}

static int
do_link_down(void)
{
	return rte_eth_dev_set_link_down(SWEEP_PORT);
}

static int
do_link_up(void)
{
	struct rte_eth_link link;
	int rc = rte_eth_dev_set_link_up(SWEEP_PORT);

	/* Frames pass again when the link is there. */
	return rc != 0 ? rc : rte_eth_link_get(SWEEP_PORT, &link);
}

static int
do_reset(void)
{
	return rte_eth_dev_reset(SWEEP_PORT);
}

/* A reset that fails has closed the device, and the next one opens it: with the requests of a probe. */
static int
reset_failed(void)
{
	int rc = ctl_fault_add("on cmd.entry match op=CREATE_TIS count 1 do fail status=NO_RESOURCES"), reset;

	if (rc != 0)
		return rc;
	reset = do_reset();
	ctl_fault_clear();
	return reset != 0 ? 0 : -EIO;
}

static int
do_rate(void)
{
	return rte_eth_set_queue_rate_limit(SWEEP_PORT, 1, 1000);
}

static int
undo_rate(void)
{
	return rte_eth_set_queue_rate_limit(SWEEP_PORT, 1, 0);
}

/* An entry that the kernel could not give back is used again, and given back. */
static int
rate_again(void)
{
	int rc = do_rate();

	return rc != 0 ? rc : undo_rate();
}

/* Frames pass again with the new link. */
static int
fec(uint32_t mode)
{
	struct rte_eth_link link;
	int rc = rte_eth_fec_set(SWEEP_PORT, mode);

	return rc != 0 ? rc : rte_eth_link_get(SWEEP_PORT, &link);
}

static int
do_fec(void)
{
	return fec(RTE_ETH_FEC_MODE_CAPA_MASK(RS));
}

static int
undo_fec(void)
{
	return fec(RTE_ETH_FEC_MODE_CAPA_MASK(AUTO));
}

static int
pause_set(enum rte_eth_fc_mode mode)
{
	struct rte_eth_fc_conf conf = { .mode = mode };

	return rte_eth_dev_flow_ctrl_set(SWEEP_PORT, &conf);
}

static int
do_pause(void)
{
	return pause_set(RTE_ETH_FC_RX_PAUSE);
}

static int
undo_pause(void)
{
	return pause_set(RTE_ETH_FC_NONE);
}

static int
pfc_set(enum rte_eth_fc_mode mode)
{
	struct rte_eth_pfc_conf conf = { .fc = { .mode = mode }, .priority = 3 };

	return rte_eth_dev_priority_flow_ctrl_set(SWEEP_PORT, &conf);
}

static int
do_pfc(void)
{
	return pfc_set(RTE_ETH_FC_FULL);
}

static int
undo_pfc(void)
{
	return pfc_set(RTE_ETH_FC_NONE);
}

static int
do_info(void)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(SWEEP_PORT, &info);
}

/* The next change takes along what an address left. */
static int
resync(void)
{
	int rc = do_allmulticast();

	return rc != 0 ? rc : undo_allmulticast();
}

static int
nothing(void)
{
	return 0;
}

#define RUNNING .before = LEVEL_STARTED, .after = LEVEL_STARTED
/* One direction, and the way back. */
#define THERE(do_, undo_) RUNNING, .run = do_, .undo = undo_
#define BACK(do_, undo_) RUNNING, .prepare = do_, .run = undo_, .undo = nothing
#define QUERY(do_) RUNNING, .run = do_, .undo = nothing
const struct op sweep_ops[] = {
	{ "probe", LEVEL_NONE, LEVEL_PROBED, .run = do_probe },
	{ "reset", LEVEL_PROBED, LEVEL_PROBED, .prepare = reset_failed, .run = do_reset, .as = "probe" },
	{ "configure", LEVEL_PROBED, LEVEL_CONFIGURED, .run = do_configure },
	{ "rx queue setup", LEVEL_CONFIGURED, LEVEL_CONFIGURED, .run = do_rx_queue_setup,
	  .undo = undo_queue_setup },
	{ "tx queue setup", LEVEL_CONFIGURED, LEVEL_CONFIGURED, .run = do_tx_queue_setup,
	  .undo = undo_queue_setup },
	{ "start", LEVEL_SET_UP, LEVEL_STARTED, .run = do_start },
	{ "rss hash update", THERE(do_rss_hash, undo_rss_hash) },
	{ "reta update", THERE(do_reta, undo_reta) },
	{ "mtu", THERE(do_mtu, undo_mtu) },
	{ "promiscuous on", THERE(do_promiscuous, undo_promiscuous), .change = resync },
	{ "promiscuous off", BACK(do_promiscuous, undo_promiscuous) },
	{ "allmulticast on", THERE(do_allmulticast, undo_allmulticast) },
	{ "allmulticast off", BACK(do_allmulticast, undo_allmulticast) },
	{ "mac add", THERE(do_mac_add, undo_mac_add), .change = resync },
	{ "mac remove", RUNNING, .prepare = do_mac_add, .run = undo_mac_add, .undo = resync,
	  .always = true },
	{ "mac set", THERE(do_mac_set, undo_mac_set), .change = resync },
	{ "multicast list", THERE(do_mc_list, undo_mc_list), .change = resync },
	{ "multicast list empty", BACK(do_mc_list, undo_mc_list) },
	{ "vlan filter on", THERE(do_vlan, undo_vlan), .change = resync },
	{ "vlan filter off", BACK(do_vlan, undo_vlan) },
	{ "rx queue stop", THERE(do_rxq_stop, do_rxq_start), .one_queue = true },
	{ "rx queue start", BACK(do_rxq_stop, do_rxq_start), .one_queue = true },
	{ "tx queue stop", THERE(do_txq_stop, do_txq_start) },
	{ "tx queue start", BACK(do_txq_stop, do_txq_start) },
	{ "stats", QUERY(do_stats) },
	{ "stats reset", QUERY(do_stats_reset) },
	{ "xstats", QUERY(do_xstats) },
	{ "xstats reset", QUERY(do_xstats_reset) },
	{ "link", QUERY(do_link) },
	{ "link down", THERE(do_link_down, do_link_up), .silent = true },
	{ "link up", BACK(do_link_down, do_link_up), .silent = true },
	{ "info", QUERY(do_info) },
	{ "rate limit", THERE(do_rate, undo_rate) },
	{ "rate limit off", RUNNING, .prepare = do_rate, .run = undo_rate, .undo = rate_again },
	{ "fec", THERE(do_fec, undo_fec), .silent = true },
	{ "flow control", THERE(do_pause, undo_pause) },
	{ "priority flow control", THERE(do_pfc, undo_pfc), .vfio = true },
	{ "flow create", THERE(do_flow_rss, undo_flow) },
	{ "flow create jump", THERE(do_flow_jump, undo_flow) },
	{ "flow create group", THERE(do_flow_group, undo_flow) },
	{ "flow create multicast", THERE(do_flow_multicast, undo_flow) },
	{ "flow create change", THERE(do_flow_change, undo_flow) },
	{ "flow create change group", THERE(do_flow_change_group, undo_flow) },
	{ "flow create egress", THERE(do_flow_egress, undo_flow) },
	{ "flow update", RUNNING, .prepare = do_flow_group, .run = do_flow_update, .undo = undo_flow },
	{ "flow query", RUNNING, .prepare = do_flow_rss, .run = do_flow_query, .undo = undo_flow },
	{ "flow destroy", RUNNING, .prepare = do_flow_rss, .run = undo_flow, .undo = nothing, .always = true },
	{ "flow destroy egress", RUNNING, .prepare = do_flow_egress, .run = undo_flow, .undo = nothing, .always = true },
	{ "flow flush", RUNNING, .prepare = do_flow_rss, .run = do_flow_flush, .undo = nothing, .always = true },
	{ "flow create isolated", RUNNING, .prepare = do_flow_isolated, .run = do_flow_multicast,
	  .undo = undo_flow_isolated, .silent = true },
	{ "flow indirect create", THERE(do_flow_indirect, undo_flow_indirect) },
	{ "flow indirect update", RUNNING, .prepare = do_flow_indirect_used, .run = do_flow_indirect_update,
	  .undo = undo_flow_indirect },
	{ "flow indirect destroy", RUNNING, .prepare = do_flow_indirect, .run = undo_flow_indirect, .undo = nothing,
	  .always = true },
	{ "flow table", RUNNING, .prepare = do_flow_queue, .run = do_flow_table, .undo = undo_flow_table },
	{ "flow async create", RUNNING, .prepare = do_flow_table_ready, .run = do_flow_async, .undo = undo_flow_async },
	{ "flow async destroy", RUNNING, .prepare = do_flow_async_ready, .run = do_flow_async_destroy,
	  .undo = undo_flow_table, .always = true },
	{ "stop", LEVEL_STARTED, LEVEL_SET_UP, .run = do_stop, .always = true },
	{ "close", LEVEL_SET_UP, LEVEL_NONE, .run = do_close, .always = true },
	{ "remove", LEVEL_STARTED, LEVEL_NONE, .run = do_remove, .always = true },
};
const unsigned int sweep_nb_ops = RTE_DIM(sweep_ops);
