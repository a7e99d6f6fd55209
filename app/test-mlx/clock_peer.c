/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Compare the Tx timestamp of a packet at one port with its Rx timestamp at another one. This needs no
 * capture with true times, and so works with cards.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf_dyn.h>

#include "tm_clock.h"

/* On a busy machine an emulated device may not run for many milliseconds. */
#define TRAVEL_LIMIT_NS TM_NS_PER_S
#define RX_BURST 32
#define PTP_HEADER_BYTES 44
#define PTP_SEQUENCE 30			/* offset of the sequence number in a PTP header */

struct peer_run {
	struct tm_app *app;
	uint16_t rx_port, tx_port;
	uint64_t lost, unstamped_tx, unstamped_rx;
};

/* A PTP Sync message over Ethernet, padded to the minimum: every card timestamps these. */
static struct rte_mbuf *
sync_make(const struct peer_run *r, uint16_t sequence)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(r->app->pool);
	struct rte_ether_hdr *eth;
	uint8_t *ptp;

	if (m == NULL)
		return NULL;
	eth = (struct rte_ether_hdr *)rte_pktmbuf_append(m, TM_MIN_FRAME);
	memset(eth, 0, TM_MIN_FRAME);
	eth->dst_addr = r->app->ports[r->rx_port].mac;
	eth->src_addr = r->app->ports[r->tx_port].mac;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_1588);
	ptp = (uint8_t *)(eth + 1);
	ptp[1] = 2; /* version */
	ptp[3] = PTP_HEADER_BYTES;
	ptp[PTP_SEQUENCE] = sequence >> 8;
	ptp[PTP_SEQUENCE + 1] = sequence;
	m->l2_len = sizeof(*eth);
	m->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
	return m;
}

static bool
is_ours(const struct rte_mbuf *m, uint16_t sequence)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);
	const uint8_t *ptp = (const uint8_t *)(eth + 1);

	return rte_pktmbuf_data_len(m) >= TM_MIN_FRAME &&
		eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_1588) &&
		ptp[PTP_SEQUENCE] == sequence >> 8 && ptp[PTP_SEQUENCE + 1] == (sequence & 0xff);
}

/* -ETIMEDOUT: not received; -ENODATA: received without a timestamp. */
static int
sync_await(const struct peer_run *r, uint16_t sequence, uint64_t *ns)
{
	const struct tm_app *app = r->app;
	uint64_t start = tm_now_ns();
	struct rte_mbuf *pkts[RX_BURST];
	int ret = -ETIMEDOUT;

	while (ret == -ETIMEDOUT && tm_now_ns() - start < TRAVEL_LIMIT_NS) {
		uint16_t n = rte_eth_rx_burst(r->rx_port, 0, pkts, RTE_DIM(pkts));

		for (uint16_t i = 0; i < n; i++) {
			if (!is_ours(pkts[i], sequence))
				continue;
			ret = app->ts_flag != 0 && (pkts[i]->ol_flags & app->ts_flag) != 0 ? 0 :
				-ENODATA;
			if (ret == 0)
				*ns = *RTE_MBUF_DYNFIELD(pkts[i], app->ts_offset,
							 rte_mbuf_timestamp_t *);
		}
		rte_pktmbuf_free_bulk(pkts, n);
	}
	return ret;
}

static int
sent_await(uint16_t port_id, uint64_t *ns)
{
	uint64_t start = tm_now_ns();
	struct timespec t;

	while (rte_eth_timesync_read_tx_timestamp(port_id, &t) != 0)
		if (tm_now_ns() - start > TRAVEL_LIMIT_NS)
			return -ETIMEDOUT;
	*ns = (uint64_t)t.tv_sec * TM_NS_PER_S + t.tv_nsec;
	return 0;
}

/* Send one packet; 1 if both timestamps were read, else 0. */
static int
sync_once(struct peer_run *r, uint16_t sequence, struct tm_pair *pair)
{
	struct rte_mbuf *m = sync_make(r, sequence);
	int rx, tx;

	if (m == NULL || rte_eth_tx_burst(r->tx_port, 0, &m, 1) != 1) {
		rte_pktmbuf_free(m);
		r->lost++;
		return 0;
	}
	rx = sync_await(r, sequence, &pair->stamp_ns);
	tx = sent_await(r->tx_port, &pair->truth_ns);
	r->lost += rx == -ETIMEDOUT;
	r->unstamped_rx += rx == -ENODATA;
	r->unstamped_tx += tx != 0;
	return rx == 0 && tx == 0;
}

static int
peer_check(const struct peer_run *r)
{
	const struct tm_app *app = r->app;
	int ret = tm_port_used(app, r->tx_port) ? rte_eth_timesync_enable(r->tx_port) : -ENODEV;

	if (ret == 0 && (!app->ports[r->rx_port].started || !app->ports[r->tx_port].started))
		ret = -ENETDOWN;
	if (ret != 0)
		tm_error("clock verify: port %u cannot timestamp the packets that it sends: %s", r->tx_port,
			 rte_strerror(-ret));
	return ret;
}

static size_t
peer_measure(struct peer_run *r, struct tm_pair *pairs, uint64_t count)
{
	uint64_t printed = tm_now_ns();
	size_t n = 0;

	for (uint64_t i = 0; i < count && r->app->signal == 0; i++) {
		pairs[n].n = i;
		n += sync_once(r, i, &pairs[n]);
		if (tm_now_ns() - printed > 2 * TM_NS_PER_S) {
			printed = tm_now_ns();
			tm_note(r->app, "  %" PRIu64 " of %" PRIu64 " packets", i + 1, count);
		}
	}
	return n;
}

int
tm_clock_verify_peer(struct tm_app *app, uint16_t rx_port, uint16_t tx_port, uint64_t count,
		     const char *out)
{
	struct peer_run r = { .app = app, .rx_port = rx_port, .tx_port = tx_port };
	struct tm_errors e = { .packets = count };
	struct tm_pair *pairs;
	char title[64];
	int ret = peer_check(&r);

	if (ret != 0)
		return ret;
	pairs = calloc(count, sizeof(*pairs));
	if (pairs == NULL) {
		tm_error("clock verify: no memory for %" PRIu64 " packets", count);
		return -ENOMEM;
	}
	e.compared = peer_measure(&r, pairs, count);
	(void)rte_eth_timesync_disable(tx_port);
	e.absent = r.unstamped_rx + r.unstamped_tx;
	e.unknown = r.lost;
	snprintf(title, sizeof(title), "sending by port %u", tx_port);
	ret = tm_errors_report(rx_port, title, pairs, &e, out);
	free(pairs);
	return ret;
}
