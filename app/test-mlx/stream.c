/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Streams (an Rx queue and its Tx queue), and the common functions to receive and send.
 */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "tm.h"

#define SPIN_RETRIES 32		/* of 1 us each, then sleep */
#define SLEEP_US 50

static void
stream_fill(struct tm_app *app, struct tm_stream *s, uint16_t port_id, uint16_t q)
{
	const struct tm_port *rx = &app->ports[port_id];
	struct tm_port *tx = &app->ports[rx->peer];

	s->rx_port = port_id;
	s->rx_queue = q;
	s->has_rx = q < rx->rxq;
	s->tx_port = rx->peer;
	s->tx_queue = q % tx->txq;
	s->has_tx = q < tx->txq;
	/* With fewer Tx than Rx queues, several streams share a Tx queue. */
	if (!s->has_tx)
		tx->txq_shared[s->tx_queue] = true;
}

static void
lcores_assign(struct tm_app *app)
{
	unsigned int lcores[RTE_MAX_LCORE], n = 0, id;

	RTE_LCORE_FOREACH_WORKER(id)
		lcores[n++] = id;
	app->nb_workers = RTE_MIN(n, (unsigned int)app->nb_streams);
	for (uint16_t i = 0; i < app->nb_streams; i++)
		app->streams[i].lcore = n > 0 ? lcores[i % n] : rte_get_main_lcore();
}

int
tm_streams_create(struct tm_app *app)
{
	uint16_t queues = RTE_MAX(app->cfg.rxq, app->cfg.txq);
	uint32_t n = (uint32_t)app->nb_ports * queues;

	if (n > TM_MAX_STREAMS) {
		tm_error("%u ports with %u queues are more than %u streams", app->nb_ports, queues,
			 TM_MAX_STREAMS);
		return -EINVAL;
	}
	app->streams = rte_zmalloc("tm_streams", n * sizeof(*app->streams), RTE_CACHE_LINE_SIZE);
	if (app->streams == NULL) {
		tm_error("no memory for %u streams", n);
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		for (uint16_t q = 0; q < queues; q++) {
			struct tm_stream *s = &app->streams[app->nb_streams];

			s->index = app->nb_streams++;
			stream_fill(app, s, app->port_ids[i], q);
		}
	}
	lcores_assign(app);
	return 0;
}

static void
stamps_take(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	struct tm_stamps *t = &s->stamps;

	for (uint16_t i = 0; i < n; i++) {
		uint64_t v;

		if ((pkts[i]->ol_flags & app->ts_flag) == 0)
			continue;
		v = *RTE_MBUF_DYNFIELD(pkts[i], app->ts_offset, rte_mbuf_timestamp_t *);
		if (t->count++ == 0) {
			t->first = v;
			t->last = v;
			tm_clock_guess(&app->ports[s->rx_port], v);
			continue;
		}
		if (v < t->last)
			t->backwards++;
		t->first = RTE_MIN(t->first, v);
		t->last = RTE_MAX(t->last, v);
	}
}

uint16_t
tm_rx(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts)
{
	const struct tm_port *p = &app->ports[s->rx_port];
	uint64_t bytes = 0;
	uint16_t n;

	if (!s->has_rx)
		return 0;
	n = rte_eth_rx_burst(s->rx_port, s->rx_queue, pkts, app->cfg.burst);
	if (n == 0)
		return 0;
	for (uint16_t i = 0; i < n; i++)
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	s->stats.rx_packets += n;
	s->stats.rx_bytes += bytes;
	if (app->ts_flag != 0)
		stamps_take(app, s, pkts, n);
	if (p->pcap_out != NULL || p->meta_out != NULL || p->stamps_out != NULL)
		tm_sink_write(app, s, pkts, n);
	return n;
}

uint16_t
tm_tx(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	struct tm_port *p = &app->ports[s->tx_port];
	uint64_t bytes[TM_MAX_BURST], sum = 0;
	uint16_t sent, ready = n;

	/* The driver may free packets that it accepts: read the lengths before. */
	for (uint16_t i = 0; i < n; i++)
		bytes[i] = rte_pktmbuf_pkt_len(pkts[i]);
	if (p->txq_shared[s->tx_queue])
		rte_spinlock_lock(&p->txq_lock[s->tx_queue]);
	if (p->conf.txmode.offloads != 0)
		ready = rte_eth_tx_prepare(s->tx_port, s->tx_queue, pkts, n);
	sent = ready > 0 ? rte_eth_tx_burst(s->tx_port, s->tx_queue, pkts, ready) : 0;
	if (p->txq_shared[s->tx_queue])
		rte_spinlock_unlock(&p->txq_lock[s->tx_queue]);
	if (ready == 0 && n > 0)
		s->stats.tx_refused++;
	for (uint16_t i = 0; i < sent; i++)
		sum += bytes[i];
	s->stats.tx_packets += sent;
	s->stats.tx_bytes += sum;
	return sent;
}

void
tm_tx_all(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = tm_tx(app, s, pkts, n);

	for (uint32_t i = 0; sent < n && i < app->cfg.tx_retries; i++) {
		/* A software device may need this CPU to make progress. */
		if (i < SPIN_RETRIES)
			rte_delay_us_block(1);
		else
			rte_delay_us_sleep(SLEEP_US);
		s->stats.tx_retries++;
		sent += tm_tx(app, s, pkts + sent, n - sent);
	}
	if (sent < n) {
		s->stats.tx_dropped += n - sent;
		rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	}
}

void
tm_pacer_start(struct tm_pacer *p, uint64_t pps)
{
	p->per_tsc = (double)pps / (double)rte_get_tsc_hz();
	p->start_tsc = rte_get_tsc_cycles();
	p->used = 0;
}

uint32_t
tm_pacer_allow(const struct tm_pacer *p, uint32_t max)
{
	uint64_t due;

	if (p->per_tsc == 0)
		return max;
	due = (uint64_t)((double)(rte_get_tsc_cycles() - p->start_tsc) * p->per_tsc) + 1;
	return due > p->used ? RTE_MIN(due - p->used, (uint64_t)max) : 0;
}
