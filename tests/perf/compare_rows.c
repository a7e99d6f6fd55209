/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The table of rows that can be measured, and their timed loops. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_branch_prediction.h>
#include <rte_flow.h>
#include <rte_tcp.h>

#include "compare.h"

/* Empty polls after which the missing packets are given up. */
#define IDLE_MAX 64u
#define EMPTY_POLLS 16u
#define WARM_POLLS 16u
#define POLL_QUEUES 4

/* ---- conversion of the stock driver's timestamps by the application ---- */

static struct ibv_context *clock_ctx;
static struct mlx5dv_clock_info clock_info;

int
cmp_clock_open(const struct cmp_config *c)
{
	struct ibv_device **list, **dev;

	if (!(c->rx_offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return 0;
	list = ibv_get_device_list(NULL);
	/* The stock driver has the first emulated port. */
	for (dev = list; dev != NULL && *dev != NULL; dev++)
		if (strcmp(ibv_get_device_name(*dev), "mlx5_0") == 0)
			clock_ctx = ibv_open_device(*dev);
	if (list != NULL)
		ibv_free_device_list(list);
	if (clock_ctx == NULL || mlx5dv_get_clock_info(clock_ctx, &clock_info) != 0) {
		CMP_LOG("mlx5_0: no clock page to convert timestamps with: %s", strerror(errno));
		return -ENODEV;
	}
	return 0;
}

void
cmp_clock_close(void)
{
	if (clock_ctx != NULL)
		ibv_close_device(clock_ctx);
	clock_ctx = NULL;
}

/* ---- timed loops: only calls of the driver and the work of the row ---- */

uint32_t
cmp_drain(struct cmp_arm *arm, const struct cmp_config *c)
{
	uint32_t n = 0, idle = 0;

	while (n < c->fill) {
		uint16_t got = arm->rx(arm->rxq, arm->pkts + n, c->burst);

		n += got;
		if (unlikely(got == 0) && ++idle == IDLE_MAX)
			break;
	}
	arm->n = n;
	return n;
}

uint32_t
cmp_drain_queues(struct cmp_arm *arm, const struct cmp_config *c)
{
	uint32_t n = 0, before, idle = 0;

	while (n < c->fill) {
		before = n;
		for (uint16_t q = 0; q < arm->n_rxqs && n < c->fill; q++)
			n += arm->rx(arm->rxqs[q], arm->pkts + n, c->burst);
		if (unlikely(n == before) && ++idle == IDLE_MAX)
			break;
	}
	arm->n = n;
	return n;
}

static uint32_t
drain_free(struct cmp_arm *arm, const struct cmp_config *c)
{
	uint32_t n = 0, idle = 0;

	while (n < c->fill) {
		uint16_t got = arm->rx(arm->rxq, arm->pkts, c->burst);

		rte_pktmbuf_free_bulk(arm->pkts, got);
		n += got;
		if (unlikely(got == 0) && ++idle == IDLE_MAX)
			break;
	}
	arm->n = 0;
	return n;
}

static inline void
to_ns(const struct cmp_arm *arm, struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		uint64_t *ts = RTE_MBUF_DYNFIELD(pkts[i], arm->ts_offset, uint64_t *);

		*ts = mlx5dv_ts_to_ns(&clock_info, *ts);
	}
}

/* All mbufs have nanoseconds at the end: mlxpmd stores them, the stock driver's raw timestamps are converted here. */
static uint32_t
drain_ns(struct cmp_arm *arm, const struct cmp_config *c)
{
	uint32_t n = 0, idle = 0;

	while (n < c->fill) {
		uint16_t got = arm->rx(arm->rxq, arm->pkts + n, c->burst);

		if (arm->id == CMP_STOCK)
			to_ns(arm, arm->pkts + n, got);
		n += got;
		if (unlikely(got == 0) && ++idle == IDLE_MAX)
			break;
	}
	arm->n = n;
	return n;
}

/* One poll of each of POLL_QUEUES queues. @return whether each found its part of the packets. */
static bool
poll_some(struct cmp_arm *arm, const struct cmp_config *c, uint16_t first)
{
	const uint16_t k = c->fill / c->queues;
	uint16_t got, differ = 0;

	for (uint16_t q = first; q < first + POLL_QUEUES; q++) {
		got = arm->rx(arm->rxqs[q], arm->pkts + arm->n, c->burst);
		differ |= got ^ k;
		arm->n += got;
	}
	return differ == 0;
}

static uint32_t
poll_queues(struct cmp_arm *arm, const struct cmp_config *c)
{
	return poll_some(arm, c, POLL_QUEUES) && arm->n == c->fill ? POLL_QUEUES : 0;
}

static uint32_t
poll_empty(struct cmp_arm *arm, const struct cmp_config *c)
{
	uint32_t got = 0;

	for (uint32_t i = 0; i < EMPTY_POLLS; i++)
		got += arm->rx(arm->rxq, arm->pkts, c->burst);
	arm->n = got;
	return EMPTY_POLLS;
}

static uint32_t
send_all(struct cmp_arm *arm, const struct cmp_config *c)
{
	uint32_t n = 0, idle = 0;

	while (n < c->fill) {
		uint16_t sent = arm->tx(arm->txq, arm->pkts + n, c->burst);

		n += sent;
		if (unlikely(sent == 0) && ++idle == IDLE_MAX)
			break;
	}
	arm->n -= n;
	return n;
}

static uint32_t
forward(struct cmp_arm *arm, const struct cmp_config *c)
{
	uint32_t n = 0, idle = 0;

	arm->n = 0;
	while (n < c->fill) {
		uint16_t got = arm->rx(arm->rxq, arm->pkts, c->burst);
		uint16_t sent = arm->tx(arm->txq, arm->pkts, got);

		n += sent;
		if (unlikely(sent != got)) {
			rte_pktmbuf_free_bulk(arm->pkts + sent, got - sent);
			break;
		}
		if (unlikely(got == 0) && ++idle == IDLE_MAX)
			break;
	}
	return n;
}

/* ---- before and after the timed loops ---- */

static bool
rx_prepare(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round)
{
	RTE_SET_USED(c);
	return cmp_device_inject(arm, arm->arrive, cmp_traffic_file(arm, round)) == 0;
}

static bool
rx_settle(struct cmp_arm *arm, const struct cmp_config *c)
{
	RTE_SET_USED(c);
	rte_pktmbuf_free_bulk(arm->pkts, arm->n);
	arm->n = 0;
	return true;
}

/* As rx_prepare(), and reads the clock page; not timed, because once per sample its cost is negligible. */
static bool
ns_prepare(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round)
{
	return rx_prepare(arm, c, round) && mlx5dv_get_clock_info(clock_ctx, &clock_info) == 0;
}

/*
 * The first half of the queues is not timed: code, rings and address translations then are in the caches as in an
 * application that polls all the time. Without this the sample would measure what the device and the other driver,
 * which ran before, have left there.
 */
static void
poll_warm(struct cmp_arm *arm, const struct cmp_config *c)
{
	arm->n = 0;
	(void)poll_some(arm, c, 0);
}

static bool
empty_prepare(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round)
{
	RTE_SET_USED(round);
	for (uint32_t i = 0; i < WARM_POLLS; i++)
		if (arm->rx(arm->rxq, arm->pkts, c->burst) != 0)
			return false;
	return true;
}

static bool
nothing_left(struct cmp_arm *arm, const struct cmp_config *c)
{
	RTE_SET_USED(c);
	return arm->n == 0;
}

bool
cmp_tx_prepare(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round)
{
	RTE_SET_USED(round);
	if (rte_pktmbuf_alloc_bulk(arm->pool, arm->pkts, c->fill) != 0) {
		CMP_LOG("%s: the mempool has fewer than %u mbufs", arm->name, c->fill);
		return false;
	}
	arm->n = c->fill;
	for (uint32_t i = 0; i < c->fill; i++) {
		struct rte_mbuf *m = arm->pkts[i];

		m->pkt_len = m->data_len =
			cmp_traffic_frame(c, rte_pktmbuf_mtod(m, uint8_t *), i);
		m->l2_len = sizeof(struct rte_ether_hdr);
		m->l3_len = 20;
		if (!c->tx_alternate || (i & 1))
			m->ol_flags |= c->tx_flags;
		if (c->tso_segsz != 0) {
			m->l4_len = sizeof(struct rte_tcp_hdr);
			m->tso_segsz = c->tso_segsz;
			m->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
		}
		if (c->tx_metadata) {
			rte_flow_dynf_metadata_set(m, i);
			m->ol_flags |= RTE_MBUF_DYNFLAG_TX_METADATA;
		}
	}
	return true;
}

static bool
tx_settle(struct cmp_arm *arm, const struct cmp_config *c)
{
	RTE_SET_USED(c);
	return arm->n == 0 && cmp_device_settle() == 0;
}

const struct cmp_row cmp_rows[] = {
	{ .name = "rx", .unit = "packet", .what = "receive", .prepare = rx_prepare,
	  .timed = cmp_drain, .calibrate = cmp_drain, .settle = rx_settle, .gates = CMP_GATE_RX },
	{ .name = "rx_queues", .unit = "packet", .what = "receive from all queues in turn",
	  .prepare = rx_prepare, .timed = cmp_drain_queues, .calibrate = cmp_drain_queues,
	  .settle = rx_settle, .gates = CMP_GATE_RX },
	{ .name = "rx_free", .unit = "packet", .what = "receive and free", .prepare = rx_prepare,
	  .timed = drain_free, .calibrate = cmp_drain, .settle = rx_settle, .gates = CMP_GATE_RX },
	{ .name = "rx_ns", .unit = "packet", .what = "receive, timestamps to nanoseconds",
	  .prepare = ns_prepare, .timed = drain_ns, .calibrate = cmp_drain, .settle = rx_settle,
	  .gates = CMP_GATE_RX },
	{ .name = "polls", .unit = "poll", .what = "polls of " RTE_STR(POLL_QUEUES) " queues, after as many others",
	  .prepare = rx_prepare, .warm = poll_warm, .timed = poll_queues, .calibrate = poll_queues,
	  .settle = rx_settle, .units = POLL_QUEUES, .gates = CMP_GATE_RX },
	{ .name = "empty", .unit = "poll", .what = "a poll finds nothing", .prepare = empty_prepare,
	  .timed = poll_empty, .calibrate = poll_empty, .settle = nothing_left,
	  .units = EMPTY_POLLS, .gates = CMP_GATE_IDLE },
	{ .name = "tx", .unit = "packet", .what = "send, frees of earlier ones included",
	  .prepare = cmp_tx_prepare, .timed = send_all, .calibrate = send_all, .settle = tx_settle,
	  .gates = CMP_GATE_TX },
	{ .name = "forward", .unit = "packet", .what = "receive and send", .prepare = rx_prepare,
	  .timed = forward, .calibrate = forward, .settle = tx_settle, .gates = CMP_GATE_TX,
	  .recycles = true },
	{ .name = NULL },
};

const struct cmp_row *
cmp_row_find(const char *name)
{
	const struct cmp_row *row;

	for (row = cmp_rows; row->name != NULL; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}
