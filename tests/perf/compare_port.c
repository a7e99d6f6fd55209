/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Starts both drivers in one process, each on its port of the same emulated device. */

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus_pci.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_flow.h>
#include <rte_mbuf_dyn.h>
#include <rte_version.h>

#include "../await.h"
#include "compare.h"

#define MEMORY_MB "512"
#define MBUF_BYTES (2048 + RTE_PKTMBUF_HEADROOM)
#define LINK_MS 2000

/* The key of the RSS specification; any key would do that is the same for both drivers. */
uint8_t cmp_rss_key[CMP_RSS_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static const char *const driver_of[CMP_ARMS] = { "mlx5_pci", "net_mlxpmd" };
static const char *const name_of[CMP_ARMS] = { "stock", "mlxpmd" };

static int
fail(int rc, const struct cmp_arm *arm, const char *what)
{
	CMP_LOG("%s: %s: %s", arm->name, what, rte_strerror(-rc));
	return rc;
}

static void
device_string(const struct cmp_config *c, enum cmp_arm_id id, char *out, size_t len)
{
	const char *args = c->devargs[id];

	snprintf(out, len, "%s%s%s", c->pci[id], args != NULL && args[0] != '\0' ? "," : "",
		 args != NULL ? args : "");
}

/* Initializes EAL with the stock driver's port only. */
static int
eal_open(const struct cmp_config *c)
{
	char device[256], cpu[16], simd[64];
	char *argv[24];
	int argc = 0;

	device_string(c, CMP_STOCK, device, sizeof(device));
	snprintf(cpu, sizeof(cpu), "%d", c->cpu);
	argv[argc++] = strdup("compare_bench");
	argv[argc++] = strdup("-l");
	argv[argc++] = strdup(cpu);
	argv[argc++] = strdup("-a");
	argv[argc++] = strdup(device);
	argv[argc++] = strdup("--no-telemetry");
	argv[argc++] = strdup("-m");
	argv[argc++] = strdup(MEMORY_MB);
	argv[argc++] = strdup("--log-level");
	argv[argc++] = strdup("error");
	snprintf(simd, sizeof(simd), "--force-max-simd-bitwidth=%u", c->simd_bits);
	if (c->simd_bits != 0)
		argv[argc++] = strdup(simd);
	/* Either way EAL creates no files that other DPDK programs use. */
	if (c->hugepages) {
		argv[argc++] = strdup("--in-memory");
	} else {
		argv[argc++] = strdup("--no-huge");
		argv[argc++] = strdup("--no-shconf");
	}
	argv[argc] = NULL;
	if (rte_eal_init(argc, argv) >= 0)
		return 0;
	CMP_LOG("EAL cannot start: %s", rte_strerror(rte_errno));
	return -EIO;
}

/* Loads mlxpmd after the stock driver has probed its port: both support the device, and the first driver gets it. */
static int
mlxpmd_plug(const struct cmp_config *c)
{
	char device[256];
	int rc;

	if (dlopen(c->plugin, RTLD_NOW | RTLD_GLOBAL) == NULL) {
		CMP_LOG("%s", dlerror());
		return -ENOENT;
	}
	device_string(c, CMP_MLXPMD, device, sizeof(device));
	rc = rte_dev_probe(device);
	if (rc != 0)
		CMP_LOG("%s: cannot be probed: %s", device, rte_strerror(-rc));
	return rc;
}

/* Finds the port and checks its driver. */
static int
arm_find(const struct cmp_config *c, struct cmp_arm *arm)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_get_port_by_name(c->pci[arm->id], &arm->port_id);

	if (rc == 0)
		rc = rte_eth_dev_info_get(arm->port_id, &info);
	if (rc != 0)
		return fail(rc, arm, c->pci[arm->id]);
	if (strcmp(info.driver_name, driver_of[arm->id]) != 0) {
		CMP_LOG("%s was probed by %s, not by %s: is another mlxpmd installed?",
			c->pci[arm->id], info.driver_name, driver_of[arm->id]);
		return -EINVAL;
	}
	return 0;
}

static int
queues_setup(const struct cmp_config *c, struct cmp_arm *arm)
{
	struct rte_eth_dev_info info;
	uint16_t q;
	int rc = rte_eth_dev_info_get(arm->port_id, &info);

	info.default_rxconf.offloads = c->rx_offloads;
	info.default_txconf.offloads = c->tx_offloads;
	for (q = 0; rc == 0 && q < c->queues; q++)
		rc = rte_eth_rx_queue_setup(arm->port_id, q, c->ring, SOCKET_ID_ANY,
					    &info.default_rxconf, arm->pool);
	for (q = 0; rc == 0 && q < c->queues; q++)
		rc = rte_eth_tx_queue_setup(arm->port_id, q, c->ring, SOCKET_ID_ANY,
					    &info.default_txconf);
	return rc;
}

/* Spreads packets over all queues, or sends all to the first one. */
static int
reta_set(const struct cmp_config *c, const struct cmp_arm *arm)
{
	struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(arm->port_id, &info);

	if (rc != 0)
		return rc;
	memset(reta, 0, sizeof(reta));
	for (uint16_t i = 0; i < RTE_DIM(reta); i++) {
		reta[i].mask = UINT64_MAX;
		for (uint16_t k = 0; c->spread && k < RTE_ETH_RETA_GROUP_SIZE; k++)
			reta[i].reta[k] = k % c->queues;
	}
	return rte_eth_dev_rss_reta_update(arm->port_id, reta,
					   RTE_MIN(info.reta_size, RTE_ETH_RSS_RETA_SIZE_512));
}

static int
arm_configure(const struct cmp_config *c, struct cmp_arm *arm)
{
	struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS, .offloads = c->rx_offloads },
		.txmode = { .offloads = c->tx_offloads },
		.rx_adv_conf.rss_conf = {
			.rss_key = cmp_rss_key, .rss_key_len = sizeof(cmp_rss_key),
			.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
		},
	};
	struct rte_eth_dev_info info;
	char name[32];
	int rc = rte_eth_dev_info_get(arm->port_id, &info);

	/* Before the start, by which both drivers select their bursts. */
	if (rc == 0 && c->tx_metadata && rte_flow_dynf_metadata_register() < 0)
		rc = -rte_errno;
	conf.rx_adv_conf.rss_conf.rss_hf &= info.flow_type_rss_offloads;
	if (rc == 0)
		rc = rte_eth_dev_configure(arm->port_id, c->queues, c->queues, &conf);
	if (rc != 0)
		return fail(rc, arm, "configure");
	snprintf(name, sizeof(name), "pool_%s", arm->name);
	arm->pool = rte_pktmbuf_pool_create(name, c->pool_size, c->pool_cache, 0, MBUF_BYTES,
					    SOCKET_ID_ANY);
	if (arm->pool == NULL)
		return fail(-rte_errno, arm, "mempool");
	rc = queues_setup(c, arm);
	return rc == 0 ? 0 : fail(rc, arm, "queue setup");
}

static int
link_wait(const struct cmp_arm *arm)
{
	struct rte_eth_link link = { 0 };

	if (AWAIT(rte_eth_link_get_nowait(arm->port_id, &link) == 0 && link.link_status, LINK_MS))
		return 0;
	return -ENETDOWN;
}

/*
 * Adds the address that the arriving frames have. Its rule must be new: net_mlx5 24.11 marks only addresses of VFs as
 * its own (mlx5_os_mac_addr_add()). On a PF mlx5_traffic_enable(), which runs at the start of a port and at each change
 * of promiscuous mode, therefore makes no rule for an address; rte_eth_dev_mac_addr_add() on a started port does.
 */
static int
address_add(const struct cmp_arm *arm)
{
	struct rte_ether_addr mac = arm->mac;
	int rc = rte_eth_dev_mac_addr_remove(arm->port_id, &mac);

	return rc == 0 ? rte_eth_dev_mac_addr_add(arm->port_id, &mac, 0) : rc;
}

int
cmp_port_promiscuous(const struct cmp_arm *arm, bool on)
{
	int rc;

	if (on)
		return rte_eth_promiscuous_enable(arm->port_id);
	rc = rte_eth_promiscuous_disable(arm->port_id);
	return rc == 0 ? address_add(arm) : rc;
}

static int
arm_start(const struct cmp_config *c, struct cmp_arm *arm)
{
	const struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[arm->port_id];
	int rc = rte_eth_dev_start(arm->port_id);

	if (rc == 0)
		rc = link_wait(arm);
	if (rc == 0 && c->queues > 1)
		rc = reta_set(c, arm);
	if (rc == 0)
		rc = address_add(arm);
	if (rc != 0)
		return fail(rc, arm, "start");
	arm->rx = ops->rx_pkt_burst;
	arm->tx = ops->tx_pkt_burst;
	arm->rxq = ops->rxq.data[0];
	arm->txq = ops->txq.data[0];
	arm->n_rxqs = c->spread ? c->queues : 1;
	for (uint16_t q = 0; q < arm->n_rxqs; q++)
		arm->rxqs[q] = ops->rxq.data[q];
	arm->ts_offset = -1;
	if (!(c->rx_offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return 0;
	rc = rte_mbuf_dyn_rx_timestamp_register(&arm->ts_offset, &arm->ts_flag);
	return rc == 0 ? 0 : fail(-rte_errno, arm, "timestamp field");
}

int
cmp_ports_open(const struct cmp_config *c, struct cmp_arm arms[CMP_ARMS])
{
	int rc = eal_open(c);

	for (unsigned int i = 0; i < CMP_ARMS; i++) {
		arms[i] = (struct cmp_arm){ .id = i, .name = name_of[i], .emu_port = i,
					    .port_id = UINT16_MAX,
					    .mac = { { 2, 0, 0, 0, 1, i } } };
	}
	if (rc != 0)
		return rc;
	rc = arm_find(c, &arms[CMP_STOCK]);
	if (rc == 0)
		rc = mlxpmd_plug(c);
	if (rc == 0)
		rc = arm_find(c, &arms[CMP_MLXPMD]);
	for (unsigned int i = 0; rc == 0 && i < CMP_ARMS; i++)
		rc = arm_configure(c, &arms[i]);
	for (unsigned int i = 0; rc == 0 && i < CMP_ARMS; i++)
		rc = arm_start(c, &arms[i]);
	return rc;
}

void
cmp_ports_close(struct cmp_arm arms[CMP_ARMS])
{
	for (unsigned int i = 0; i < CMP_ARMS; i++) {
		if (arms[i].port_id == UINT16_MAX)
			continue;
		if (rte_eth_dev_stop(arms[i].port_id) != 0)
			CMP_LOG("%s: the port does not stop", arms[i].name);
		rte_eth_dev_close(arms[i].port_id);
		rte_mempool_free(arms[i].pool);
		arms[i].port_id = UINT16_MAX;
	}
	rte_eal_cleanup();
}

static json_t *
arm_settings(const struct cmp_config *c, const struct cmp_arm *arm)
{
	struct rte_eth_burst_mode rx = { 0 }, tx = { 0 };
	json_t *o = json_object();
	char fw[64] = "";

	(void)rte_eth_rx_burst_mode_get(arm->port_id, 0, &rx);
	(void)rte_eth_tx_burst_mode_get(arm->port_id, 0, &tx);
	if (rte_eth_dev_fw_version_get(arm->port_id, fw, sizeof(fw)) != 0)
		fw[0] = '\0';
	cmp_json_string(o, "driver", driver_of[arm->id]);
	cmp_json_string(o, "pci", c->pci[arm->id]);
	cmp_json_string(o, "devargs", c->devargs[arm->id] != NULL ? c->devargs[arm->id] : "");
	cmp_json_string(o, "rx_burst", rx.info);
	cmp_json_string(o, "tx_burst", tx.info);
	cmp_json_string(o, "firmware", fw);
	return o;
}

/* DPDK's names of the offloads in a set. */
static json_t *
offloads(uint64_t set, const char *(*name)(uint64_t))
{
	json_t *a = json_array();

	for (; set != 0; set &= set - 1)
		json_array_append_new(a, json_string(name(set & -set)));
	return a;
}

json_t *
cmp_settings(const struct cmp_config *c, const struct cmp_arm arms[CMP_ARMS])
{
	json_t *o = json_object();

	cmp_json_string(o, "dpdk", rte_version());
	for (unsigned int i = 0; i < CMP_ARMS; i++)
		json_object_set_new(o, arms[i].name, arm_settings(c, &arms[i]));
	json_object_set_new(o, "rx_offloads", offloads(c->rx_offloads, rte_eth_dev_rx_offload_name));
	json_object_set_new(o, "tx_offloads", offloads(c->tx_offloads, rte_eth_dev_tx_offload_name));
	cmp_json_string(o, "traffic", c->traffic);
	cmp_json_number(o, "frame_bytes", c->frame_bytes);
	cmp_json_number(o, "ring", c->ring);
	cmp_json_number(o, "burst", c->burst);
	cmp_json_number(o, "fill", c->fill);
	cmp_json_number(o, "queues", c->queues);
	cmp_json_bool(o, "spread", c->spread);
	cmp_json_number(o, "mempool", c->pool_size);
	cmp_json_number(o, "mempool_cache", c->pool_cache);
	cmp_json_bool(o, "hugepages", c->hugepages);
	cmp_json_number(o, "tsc_hz", (double)rte_get_tsc_hz());
	return o;
}
