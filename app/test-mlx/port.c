/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Ports: find, configure, start, stop, close.
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf_dyn.h>

#include "tm_clock.h"

#define LINK_WAIT_MS 3000

bool
tm_port_used(const struct tm_app *app, uint16_t port_id)
{
	for (uint16_t i = 0; i < app->nb_ports; i++)
		if (app->port_ids[i] == port_id)
			return true;
	return false;
}

uint32_t
tm_port_overhead(const struct rte_eth_dev_info *info)
{
	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_rx_pktlen - info->max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

uint32_t
tm_port_frame_max(const struct tm_port *p)
{
	return p->mtu + RTE_ETHER_HDR_LEN;
}

static int
ports_find(struct tm_app *app)
{
	uint64_t mask = app->cfg.portmask;
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id) {
		if (mask != 0 && (id >= 64 || (mask & RTE_BIT64(id)) == 0))
			continue;
		mask &= id < 64 ? ~RTE_BIT64(id) : UINT64_MAX;
		app->port_ids[app->nb_ports++] = id;
	}
	if (app->cfg.portmask != 0 && mask != 0) {
		tm_error("--portmask names port %d, which does not exist (%u ports found)",
			 __builtin_ctzll(mask), rte_eth_dev_count_avail());
		return -ENODEV;
	}
	if (app->nb_ports == 0) {
		tm_error("no Ethernet port found: name a device (-a, --vdev) and its driver (-d)");
		return -ENODEV;
	}
	return 0;
}

static uint16_t
peer_of(const struct tm_app *app, uint16_t i)
{
	uint16_t n = app->nb_ports;

	switch (app->cfg.topology) {
	case TM_TOPOLOGY_CHAINED:
		return app->port_ids[(i + 1) % n];
	case TM_TOPOLOGY_PAIRED:
		/* The last port of an odd number is its own peer. */
		return app->port_ids[(i ^ 1) < n ? i ^ 1 : i];
	default:
		return app->port_ids[i];
	}
}

static int
port_probe(struct tm_app *app, uint16_t i)
{
	uint16_t id = app->port_ids[i];
	struct tm_port *p = &app->ports[id];
	int ret;

	p->port_id = id;
	p->peer = peer_of(app, i);
	rte_eth_dev_get_name_by_port(id, p->name);
	ret = rte_eth_dev_info_get(id, &p->info);
	if (ret == 0)
		ret = rte_eth_macaddr_get(id, &p->mac);
	if (ret != 0)
		tm_error("port %u (%s): capabilities cannot be read: %s", id, p->name,
			 rte_strerror(-ret));
	for (unsigned int q = 0; q < TM_MAX_QUEUES; q++)
		rte_spinlock_init(&p->txq_lock[q]);
	return ret;
}

static int
offloads_check(const struct tm_port *p, bool rx, uint64_t wanted, uint64_t offered)
{
	char a[256], b[256];

	if ((wanted & ~offered) == 0)
		return 0;
	tm_error("port %u (%s) does not offer the %s offload %s; it offers: %s", p->port_id,
		 p->name, rx ? "Rx" : "Tx", tm_offloads_str(rx, wanted & ~offered, a, sizeof(a)),
		 tm_offloads_str(rx, offered, b, sizeof(b)));
	return -ENOTSUP;
}

static int
queues_check(const struct tm_app *app, const struct tm_port *p)
{
	if (app->cfg.rxq > p->info.max_rx_queues || app->cfg.txq > p->info.max_tx_queues) {
		tm_error("port %u (%s): %u Rx and %u Tx queues requested, it has %u and %u",
			 p->port_id, p->name, app->cfg.rxq, app->cfg.txq, p->info.max_rx_queues,
			 p->info.max_tx_queues);
		return -EINVAL;
	}
	return 0;
}

/* The MTU to configure: that of the options, or the device's own. */
static int
mtu_choose(const struct tm_app *app, const struct tm_port *p, uint32_t *mtu)
{
	const struct tm_config *cfg = &app->cfg;
	uint32_t overhead = tm_port_overhead(&p->info);
	uint16_t own;

	*mtu = cfg->mtu;
	if (cfg->max_pkt_len != 0)
		*mtu = cfg->max_pkt_len > overhead ? cfg->max_pkt_len - overhead : 0;
	if (*mtu == 0 && cfg->max_pkt_len == 0)
		*mtu = rte_eth_dev_get_mtu(p->port_id, &own) == 0 && own != 0 ? own : RTE_ETHER_MTU;
	if (*mtu < p->info.min_mtu || *mtu > p->info.max_mtu) {
		tm_error("port %u (%s): MTU %u is out of its range, %u to %u", p->port_id, p->name,
			 *mtu, p->info.min_mtu, p->info.max_mtu);
		return -EINVAL;
	}
	if (cfg->engine->generates &&
	    cfg->len_max > *mtu + RTE_ETHER_HDR_LEN + (cfg->vlan ? RTE_VLAN_HLEN : 0)) {
		tm_error("port %u (%s): --pkt-len %u does not fit MTU %u, give --mtu %u",
			 p->port_id, p->name, cfg->len_max, *mtu, cfg->len_max - RTE_ETHER_HDR_LEN);
		return -EINVAL;
	}
	return 0;
}

/* Frames longer than a buffer need several segments: enable the offloads if the device has them. */
static void
offloads_add(const struct tm_app *app, struct tm_port *p, uint32_t mtu)
{
	uint32_t data_room = app->cfg.mbuf_size - RTE_PKTMBUF_HEADROOM;

	if (mtu + tm_port_overhead(&p->info) <= data_room)
		return;
	if (p->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER)
		p->conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	if (p->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
		p->conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
}

static void
rss_choose(const struct tm_app *app, struct tm_port *p)
{
	uint64_t hf = (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP) &
		p->info.flow_type_rss_offloads;

	if (hf == 0 || (app->cfg.rxq == 1 &&
			!(app->cfg.rx_offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH)))
		return;
	p->conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	p->conf.rx_adv_conf.rss_conf.rss_hf = hf;
}

static int
queues_setup(struct tm_app *app, struct tm_port *p)
{
	int socket = rte_eth_dev_socket_id(p->port_id), ret;
	unsigned int s = socket < 0 ? (unsigned int)SOCKET_ID_ANY : (unsigned int)socket;
	struct rte_eth_rxconf rx = p->info.default_rxconf;
	struct rte_eth_txconf tx = p->info.default_txconf;

	rx.offloads = p->conf.rxmode.offloads;
	tx.offloads = p->conf.txmode.offloads;
	for (uint16_t q = 0; q < p->rxq; q++) {
		ret = rte_eth_rx_queue_setup(p->port_id, q, p->rxd, s, &rx, app->pool);
		if (ret != 0) {
			tm_error("port %u (%s): Rx queue %u of %u descriptors cannot be set up: %s",
				 p->port_id, p->name, q, p->rxd, rte_strerror(-ret));
			return ret;
		}
	}
	for (uint16_t q = 0; q < p->txq; q++) {
		ret = rte_eth_tx_queue_setup(p->port_id, q, p->txd, s, &tx);
		if (ret != 0) {
			tm_error("port %u (%s): Tx queue %u of %u descriptors cannot be set up: %s",
				 p->port_id, p->name, q, p->txd, rte_strerror(-ret));
			return ret;
		}
	}
	return 0;
}

static int
port_configure(struct tm_app *app, struct tm_port *p)
{
	const struct tm_config *cfg = &app->cfg;
	uint32_t mtu;
	int ret;

	if (queues_check(app, p) != 0 || mtu_choose(app, p, &mtu) != 0 ||
	    offloads_check(p, true, cfg->rx_offloads, p->info.rx_offload_capa) != 0 ||
	    offloads_check(p, false, cfg->tx_offloads, p->info.tx_offload_capa) != 0)
		return -EINVAL;
	p->conf.rxmode.mtu = mtu;
	p->conf.rxmode.offloads = cfg->rx_offloads_given ? cfg->rx_offloads :
		p->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	p->conf.txmode.offloads = cfg->tx_offloads;
	p->conf.intr_conf.rxq = cfg->rx_intr;
	offloads_add(app, p, mtu);
	rss_choose(app, p);
	p->rxq = cfg->rxq;
	p->txq = cfg->txq;
	p->rxd = cfg->rxd;
	p->txd = cfg->txd;
	ret = rte_eth_dev_configure(p->port_id, p->rxq, p->txq, &p->conf);
	if (ret == 0)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(p->port_id, &p->rxd, &p->txd);
	if (ret != 0) {
		tm_error("port %u (%s): cannot be configured: %s", p->port_id, p->name,
			 rte_strerror(-ret));
		return ret;
	}
	if (p->rxd != cfg->rxd || p->txd != cfg->txd)
		tm_note(app, "port %u: descriptors adjusted to %u Rx, %u Tx", p->port_id, p->rxd,
			p->txd);
	ret = queues_setup(app, p);
	if (ret == 0 && rte_eth_dev_get_mtu(p->port_id, &p->mtu) != 0)
		p->mtu = mtu;
	return ret;
}

/* The dynamic field and flag exist if a driver has registered them. */
static void
stamps_find(struct tm_app *app)
{
	int flag;

	app->ts_offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
	flag = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);
	app->ts_flag = app->ts_offset >= 0 && flag >= 0 ? RTE_BIT64(flag) : 0;
}

static void
link_wait(const struct tm_app *app, const struct tm_port *p)
{
	char text[RTE_ETH_LINK_MAX_STR_LEN];
	struct rte_eth_link link;

	for (unsigned int ms = 0; ms < LINK_WAIT_MS && !app->quit; ms += 10) {
		if (rte_eth_link_get_nowait(p->port_id, &link) != 0)
			return;
		if (link.link_status == RTE_ETH_LINK_UP)
			break;
		rte_delay_us_sleep(10000);
	}
	rte_eth_link_to_str(text, sizeof(text), &link);
	tm_note(app, "port %u (%s, %s): " RTE_ETHER_ADDR_PRT_FMT ", %s", p->port_id, p->name,
		p->info.driver_name, RTE_ETHER_ADDR_BYTES(&p->mac), text);
}

int
tm_port_start(struct tm_app *app, uint16_t port_id)
{
	struct tm_port *p = &app->ports[port_id];
	int ret;

	if (p->started)
		return 0;
	ret = rte_eth_dev_start(port_id);
	if (ret != 0) {
		tm_error("port %u (%s): cannot be started: %s", port_id, p->name,
			 rte_strerror(-ret));
		return ret;
	}
	p->started = true;
	if (app->cfg.promisc && !p->promisc_set) {
		/* Devices without the operation receive all frames. */
		ret = rte_eth_promiscuous_enable(port_id);
		if (ret != 0 && ret != -ENOTSUP)
			tm_error("port %u (%s): promiscuous mode refused: %s", port_id, p->name,
				 rte_strerror(-ret));
		p->promisc_set = true;
	}
	stamps_find(app);
	tm_clock_probe(p);
	link_wait(app, p);
	return 0;
}

int
tm_port_stop(struct tm_app *app, uint16_t port_id)
{
	struct tm_port *p = &app->ports[port_id];
	int ret;

	if (!p->started)
		return 0;
	ret = rte_eth_dev_stop(port_id);
	if (ret != 0) {
		tm_error("port %u (%s): cannot be stopped: %s", port_id, p->name,
			 rte_strerror(-ret));
		return ret;
	}
	p->started = false;
	return 0;
}

int
tm_ports_setup(struct tm_app *app)
{
	int ret = ports_find(app);

	for (uint16_t i = 0; i < app->nb_ports && ret == 0; i++)
		ret = port_probe(app, i);
	if (ret == 0)
		ret = tm_pool_create(app);
	for (uint16_t i = 0; i < app->nb_ports && ret == 0; i++)
		ret = port_configure(app, &app->ports[app->port_ids[i]]);
	for (uint16_t i = 0; i < app->nb_ports && ret == 0; i++)
		ret = tm_port_start(app, app->port_ids[i]);
	return ret;
}

void
tm_ports_close(struct tm_app *app)
{
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		uint16_t id = app->port_ids[i];
		int ret;

		if (tm_port_stop(app, id) != 0)
			tm_fail(app, "port %u cannot be stopped", id);
		ret = rte_eth_dev_close(id);
		if (ret != 0)
			tm_fail(app, "port %u (%s): cannot be closed: %s", id,
				app->ports[id].name, rte_strerror(-ret));
		tm_stamps_free(app->ports[id].recorded);
		app->ports[id].recorded = NULL;
	}
}
