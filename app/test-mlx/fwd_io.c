/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Forwarding modes io, mac, macswap; they differ in the Ethernet addresses.
 */

#include "tm.h"

static uint32_t
io_poll(struct tm_app *app, struct tm_stream *s)
{
	struct rte_mbuf *pkts[TM_MAX_BURST];
	uint16_t n = tm_rx(app, s, pkts);

	if (n > 0)
		tm_tx_all(app, s, pkts, n);
	return n;
}

static uint32_t
mac_poll(struct tm_app *app, struct tm_stream *s)
{
	const struct rte_ether_addr *src = &app->ports[s->tx_port].mac;
	struct rte_ether_addr dst = { { 0x02, 0, 0, 0, 0, (uint8_t)s->tx_port } };
	struct rte_mbuf *pkts[TM_MAX_BURST];
	uint16_t n = tm_rx(app, s, pkts);

	if (n == 0)
		return 0;
	if (app->cfg.has_peer_mac[s->tx_port])
		dst = app->cfg.peer_mac[s->tx_port];
	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *);

		if (rte_pktmbuf_data_len(pkts[i]) < sizeof(*eth))
			continue;
		eth->src_addr = *src;
		eth->dst_addr = dst;
	}
	tm_tx_all(app, s, pkts, n);
	return n;
}

static uint32_t
macswap_poll(struct tm_app *app, struct tm_stream *s)
{
	struct rte_mbuf *pkts[TM_MAX_BURST];
	uint16_t n = tm_rx(app, s, pkts);

	if (n == 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *);
		struct rte_ether_addr src;

		if (rte_pktmbuf_data_len(pkts[i]) < sizeof(*eth))
			continue;
		src = eth->src_addr;
		eth->src_addr = eth->dst_addr;
		eth->dst_addr = src;
	}
	tm_tx_all(app, s, pkts, n);
	return n;
}

const struct tm_engine tm_engine_io = {
	.name = "io", .help = "send received packets from the peer port, unchanged",
	.poll = io_poll,
};

const struct tm_engine tm_engine_mac = {
	.name = "mac", .help = "like io; source is the sending port's address, destination --peer-mac",
	.poll = mac_poll,
};

const struct tm_engine tm_engine_macswap = {
	.name = "macswap", .help = "like io; source and destination address are exchanged",
	.poll = macswap_poll,
};
