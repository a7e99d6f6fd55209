/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Modes in which packets begin or end here: rxonly, txonly, gen.
 */

#include "gen.h"
#include "tm.h"

static uint32_t
rxonly_poll(struct tm_app *app, struct tm_stream *s)
{
	struct rte_mbuf *pkts[TM_MAX_BURST];
	uint16_t n = tm_rx(app, s, pkts);

	if (n > 0)
		rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

static uint32_t
txonly_poll(struct tm_app *app, struct tm_stream *s)
{
	/* Some devices stop when an Rx queue is full. */
	return tm_gen_transmit(app, s) + rxonly_poll(app, s);
}

static uint32_t
gen_poll(struct tm_app *app, struct tm_stream *s)
{
	struct rte_mbuf *pkts[TM_MAX_BURST];
	uint32_t sent = tm_gen_transmit(app, s);
	uint16_t n = tm_rx(app, s, pkts);

	if (n > 0) {
		tm_check_burst(app, s, pkts, n);
		rte_pktmbuf_free_bulk(pkts, n);
	}
	return sent + n;
}

const struct tm_engine tm_engine_rxonly = {
	.name = "rxonly", .help = "receive and free packets", .poll = rxonly_poll,
};

const struct tm_engine tm_engine_txonly = {
	.name = "txonly", .help = "make UDP packets and send them", .generates = true,
	.poll = txonly_poll,
};

const struct tm_engine tm_engine_gen = {
	.name = "gen", .help = "make UDP packets, send them, and check each one that comes back",
	.generates = true, .checks = true, .poll = gen_poll,
};
