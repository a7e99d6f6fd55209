/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Basic statistics: the counters of the queues since the last reset, and the device's count of frames
 * that found no buffer, as it was read last (mlxpmd_counts.c).
 *
 * Only a queue's lcore writes its counters, so a reset saves their values as the new base.
 *
 * Extended statistics, in this order: the device's vport and physical counters as they were read last and their age,
 * counters of the port's clock, counters of queues as sums over the port, then the same for each queue. ethdev adds
 * the basic statistics.
 */

#include <stdarg.h>

#include <rte_malloc.h>

#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_ctrl.h"

/* The structure is an array of 64-bit counters; it is added and subtracted as such. */
static_assert(sizeof(struct mlxpmd_queue_stats) % sizeof(uint64_t) == 0, "array of counters");
#define NB_COUNTERS (sizeof(struct mlxpmd_queue_stats) / sizeof(uint64_t))

static void
stats_add(struct mlxpmd_queue_stats *out, const struct mlxpmd_queue_stats *add)
{
	const uint64_t *a = (const uint64_t *)add;
	uint64_t *o = (uint64_t *)out;
	unsigned int i;

	for (i = 0; i < NB_COUNTERS; i++)
		o[i] += a[i];
}

void
mlxpmd_queue_stats_get(const struct mlxpmd_queue *q, struct mlxpmd_queue_stats *out)
{
	const uint64_t *now = (const uint64_t *)&q->stats;
	const uint64_t *base = (const uint64_t *)&q->stats_base;
	uint64_t *o = (uint64_t *)out;
	unsigned int i;

	for (i = 0; i < NB_COUNTERS; i++) {
		/* Acquire, with the release of the reset: the counter that is read next is not older. */
		uint64_t then = __atomic_load_n(&base[i], __ATOMIC_ACQUIRE);

		o[i] = __atomic_load_n(&now[i], __ATOMIC_RELAXED) - then;
	}
}

static void
queue_stats_reset(struct mlxpmd_queue *q)
{
	const uint64_t *now = (const uint64_t *)&q->stats;
	uint64_t *base = (uint64_t *)&q->stats_base;

	for (unsigned int i = 0; i < NB_COUNTERS; i++)
		__atomic_store_n(&base[i], __atomic_load_n(&now[i], __ATOMIC_RELAXED), __ATOMIC_RELEASE);
}

/* All 0 if queue i is not set up. */
static struct mlxpmd_queue_stats
stats_at(const struct rte_eth_dev_data *data, enum mlxpmd_queue_kind kind, uint16_t i)
{
	struct mlxpmd_queue_stats stats = { 0 };

	if (mlxpmd_queue_at(data, kind, i) != NULL)
		mlxpmd_queue_stats_get(mlxpmd_queue_at(data, kind, i), &stats);
	return stats;
}

void
mlxpmd_queue_stats_retire(struct mlxpmd_queue *q)
{
	struct mlxpmd_queue_stats now;

	mlxpmd_queue_stats_get(q, &now);
	stats_add(&q->port->stats_base->released[q->kind], &now);
	stats_add(&q->port->stats_base->retired[q->kind], &q->stats);
}

void
mlxpmd_queue_stats_total(const struct mlxpmd_port *port, enum mlxpmd_queue_kind kind, struct mlxpmd_queue_stats *sum)
{
	const struct mlxpmd_queue *q;

	*sum = port->stats_base->retired[kind];
	TAILQ_FOREACH(q, &port->queues[kind], next) {
		const uint64_t *now = (const uint64_t *)&q->stats;

		for (unsigned int i = 0; i < NB_COUNTERS; i++)
			((uint64_t *)sum)[i] += __atomic_load_n(&now[i], __ATOMIC_RELAXED);
	}
}

/* Since a reset, whose count may be later than this one: another thread may have done it. */
static uint64_t
since(uint64_t now, const uint64_t *base)
{
	const uint64_t then = __atomic_load_n(base, __ATOMIC_RELAXED);

	return now > then ? now - then : 0;
}

static uint64_t
stats_missed(struct mlxpmd_port *port)
{
	struct mlxpmd_counts counts;

	mlxpmd_counts_get(port, MLXPMD_MISSED, &counts);
	return since(counts.missed, &port->stats_base->missed);
}

static void
put_rx(struct eth_queue_stats *queues, uint16_t i, const struct mlxpmd_queue_stats *one)
{
	queues->q_ipackets[i] = one->packets;
	queues->q_ibytes[i] = one->bytes;
	queues->q_errors[i] = one->errors + one->cqe_bad;
}

static void
put_tx(struct eth_queue_stats *queues, uint16_t i, const struct mlxpmd_queue_stats *one)
{
	queues->q_opackets[i] = one->packets;
	queues->q_obytes[i] = one->bytes;
}

/*
 * Sum over the port's queues of one kind since the last reset, released queues included. Each queue is read once, for
 * the sum and its own counters: these agree while bursts run.
 */
static void
stats_sum(const struct rte_eth_dev *eth_dev, enum mlxpmd_queue_kind kind, struct mlxpmd_queue_stats *sum,
	  struct eth_queue_stats *queues)
{
	const struct rte_eth_dev_data *data = eth_dev->data;
	struct mlxpmd_queue_stats one;
	uint16_t i;

	*sum = MLXPMD_PORT(eth_dev)->stats_base->released[kind];
	for (i = 0; i < mlxpmd_queues_count(data, kind); i++) {
		one = stats_at(data, kind, i);
		stats_add(sum, &one);
		if (queues != NULL && i < RTE_ETHDEV_QUEUE_STAT_CNTRS)
			kind == MLXPMD_RX ? put_rx(queues, i, &one) : put_tx(queues, i, &one);
	}
}

int
mlxpmd_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats, struct eth_queue_stats *queues)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_queue_stats rx, tx;

	stats_sum(eth_dev, MLXPMD_RX, &rx, queues);
	stats_sum(eth_dev, MLXPMD_TX, &tx, queues);
	stats->ipackets = rx.packets;
	stats->ibytes = rx.bytes;
	stats->ierrors = rx.errors + rx.cqe_bad;
	stats->rx_nombuf = rx.nombuf;
	stats->imissed = stats_missed(port);
	stats->opackets = tx.packets;
	stats->obytes = tx.bytes;
	stats->oerrors = tx.errors + tx.dropped;
	return 0;
}

int
mlxpmd_stats_reset(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_eth_dev_data *data = eth_dev->data;
	struct mlxpmd_counts counts;
	struct mlxpmd_queue *q;
	unsigned int kind, i;

	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		for (i = 0; i < mlxpmd_queues_count(data, kind); i++) {
			q = mlxpmd_queue_at(data, kind, i);
			if (q != NULL)
				queue_stats_reset(q);
		}
	}
	memset(port->stats_base->released, 0, sizeof(port->stats_base->released));
	data->rx_mbuf_alloc_failed = 0;
	mlxpmd_counts_read(port, MLXPMD_MISSED, &counts);
	__atomic_store_n(&port->stats_base->missed, counts.missed, __ATOMIC_RELAXED);
	return 0;
}

/* ------------------------------------------------------------------ extended statistics */

/* Ages of imissed, and of the vport and physical counters. */
#define NB_AGES 2
/* Packets and bytes of released queues of a kind. */
#define NB_RELEASED 2

struct xstat_kind {
	const char *name;
	size_t offset;		/**< Of a counter in struct mlxpmd_queue_stats or mlxpmd_clock_info. */
};

#define COUNTER(field) offsetof(struct mlxpmd_queue_stats, field)
#define SYNDROMES \
	{ "errors_length", COUNTER(syndromes[MLXPMD_SYN_LENGTH]) }, \
	{ "errors_operation", COUNTER(syndromes[MLXPMD_SYN_OPERATION]) }, \
	{ "errors_protection", COUNTER(syndromes[MLXPMD_SYN_PROTECTION]) }, \
	{ "errors_flush", COUNTER(syndromes[MLXPMD_SYN_FLUSH]) }, \
	{ "errors_remote", COUNTER(syndromes[MLXPMD_SYN_REMOTE]) }, \
	{ "errors_retry", COUNTER(syndromes[MLXPMD_SYN_RETRY]) }, \
	{ "errors_unknown", COUNTER(syndromes[MLXPMD_SYN_UNKNOWN]) }

static const struct xstat_kind rx_kinds[] = {
	{ "mbuf_missing", COUNTER(nombuf) },
	{ "completion_errors", COUNTER(errors) },
	{ "completions_refused", COUNTER(cqe_bad) },
	{ "timestamps_absent", COUNTER(ts_absent) },
	{ "l3_csum_bad", COUNTER(l3_csum_bad) },
	{ "l4_csum_bad", COUNTER(l4_csum_bad) },
	{ "resets", COUNTER(resets) },
	SYNDROMES,
};
/* "pp" is from net_mlx5, which calls send scheduling packet pacing (mlx5_txpp.c). */
static const struct xstat_kind tx_kinds[] = {
	{ "completion_errors", COUNTER(errors) },
	{ "dropped", COUNTER(dropped) },
	{ "completions", COUNTER(completions) },
	{ "doorbells", COUNTER(doorbells) },
	{ "completions_refused", COUNTER(cqe_bad) },
	{ "resets", COUNTER(resets) },
	{ "stalls", COUNTER(stalls) },
	{ "pp_timestamp_past_errors", COUNTER(time_past) },
	{ "pp_timestamp_future_errors", COUNTER(time_future) },
	{ "pp_timestamp_order_errors", COUNTER(time_order) },
	{ "pp_timestamp_clock_errors", COUNTER(time_unknown) },
	SYNDROMES,
};
/** By enum mlxpmd_queue_kind. */
static const struct {
	const char *direction;
	const struct xstat_kind *kinds;
	unsigned int n;
} queue_kinds[MLXPMD_NB_KINDS] = {
	{ "rx", rx_kinds, RTE_DIM(rx_kinds) },
	{ "tx", tx_kinds, RTE_DIM(tx_kinds) },
};

static const struct xstat_kind clock_kinds[MLXPMD_CLOCK_COUNTERS] = {
	{ "clock_expired", offsetof(struct mlxpmd_clock_info, expired) },
	{ "clock_steps", offsetof(struct mlxpmd_clock_info, state.steps) },
	{ "clock_busy", offsetof(struct mlxpmd_clock_info, state.busy) },
};

static unsigned int
xstats_count(const struct rte_eth_dev *eth_dev)
{
	const struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	return mdv_counters_count(port->mdv) + (port->q_counter != NULL) + NB_AGES + RTE_DIM(clock_kinds) +
	       NB_RELEASED * MLXPMD_NB_KINDS + RTE_DIM(rx_kinds) * (1 + eth_dev->data->nb_rx_queues) +
	       RTE_DIM(tx_kinds) * (1 + eth_dev->data->nb_tx_queues);
}

/* Destination of a walk over all statistics: names or values. */
struct walk {
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *xstats;
	unsigned int n;
	unsigned int sums[MLXPMD_NB_KINDS]; /* Where the sums over queues begin. */
};

static void __rte_format_printf(3, 4)
put(struct walk *w, uint64_t value, const char *format, ...)
{
	va_list args;

	if (w->names != NULL) {
		va_start(args, format);
		vsnprintf(w->names[w->n].name, sizeof(w->names[w->n].name), format, args);
		va_end(args);
	} else {
		w->xstats[w->n] = (struct rte_eth_xstat){ .id = w->n, .value = value };
	}
	w->n++;
}

static uint64_t
counter_of(const void *counters, const struct xstat_kind *kind)
{
	return *(const uint64_t *)((const uint8_t *)counters + kind->offset);
}

/* The sums over the port, as yet of released queues only. */
static void
put_released(struct walk *w, enum mlxpmd_queue_kind kind, const struct mlxpmd_queue_stats *released)
{
	const char *direction = queue_kinds[kind].direction;
	const struct xstat_kind *k = queue_kinds[kind].kinds, *end = k + queue_kinds[kind].n;

	put(w, released->packets, "%s_released_packets", direction);
	put(w, released->bytes, "%s_released_bytes", direction);
	w->sums[kind] = w->n;
	for (; k < end; k++)
		put(w, counter_of(released, k), "%s_%s", direction, k->name);
}

static void
put_queue(struct walk *w, enum mlxpmd_queue_kind kind, unsigned int queue, const struct mlxpmd_queue_stats *stats)
{
	for (unsigned int i = 0; i < queue_kinds[kind].n; i++) {
		const struct xstat_kind *k = &queue_kinds[kind].kinds[i];

		if (w->xstats != NULL)
			w->xstats[w->sums[kind] + i].value += counter_of(stats, k);
		put(w, counter_of(stats, k), "%s_q%u_%s", queue_kinds[kind].direction, queue, k->name);
	}
}

/*
 * The counters by net_mlx5's names (mlx5_ethdev_os.c, mlx5_counters_init), then the ages. ethdev reads imissed, whose
 * age is the first, in the same call.
 */
static void
put_device(struct walk *w, struct mlxpmd_port *port)
{
	struct mlxpmd_counts counts = { .missed = 0 }, missed = { .missed = 0 };
	struct mlxpmd_stats_base *base = port->stats_base;

	if (w->xstats != NULL) {
		mlxpmd_counts_get(port, MLXPMD_COUNTERS, &counts);
		mlxpmd_counts_get(port, MLXPMD_MISSED, &missed);
	}
	for (unsigned int i = 0; i < mdv_counters_count(port->mdv); i++)
		put(w, since(counts.counters[i], &base->counters[i]), "%s", mdv_counter_name(port->mdv, i));
	/* imissed, but since the last reset of extended statistics. */
	if (port->q_counter != NULL)
		put(w, since(missed.missed, &base->out_of_buffer), "rx_out_of_buffer");
	put(w, mlxpmd_counts_age_us(&missed, MLXPMD_MISSED), "rx_missed_age_us");
	put(w, mlxpmd_counts_age_us(&counts, MLXPMD_COUNTERS), "device_counters_age_us");
}

/* Since the clock was opened; all 0 without a clock. */
static void
clock_info(const struct mlxpmd_port *port, struct mlxpmd_clock_info *info)
{
	memset(info, 0, sizeof(*info));
	if (port->clock != NULL)
		mlxpmd_clock_info_get(port->clock, info);
}

/* Returns the number of statistics; fills in nothing if n is less. */
static int
walk(struct rte_eth_dev *eth_dev, struct walk *w, unsigned int n)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_queue_stats stats;
	struct mlxpmd_clock_info info;
	unsigned int kind, i;

	if ((w->names == NULL && w->xstats == NULL) || n < xstats_count(eth_dev))
		return xstats_count(eth_dev);
	put_device(w, port);
	clock_info(port, &info);
	for (i = 0; i < RTE_DIM(clock_kinds); i++)
		put(w, counter_of(&info, &clock_kinds[i]) - port->stats_base->clock[i], "%s", clock_kinds[i].name);
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++)
		put_released(w, kind, &port->stats_base->released[kind]);
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		for (i = 0; i < mlxpmd_queues_count(eth_dev->data, kind); i++) {
			stats = stats_at(eth_dev->data, kind, i);
			put_queue(w, kind, i, &stats);
		}
	}
	return w->n;
}

int
mlxpmd_xstats_get_names(struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names, unsigned int n)
{
	struct walk w = { .names = names };

	return walk(eth_dev, &w, n);
}

int
mlxpmd_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int n)
{
	struct walk w = { .xstats = xstats };

	return walk(eth_dev, &w, n);
}

int
mlxpmd_xstats_reset(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_clock_info info;
	struct mlxpmd_counts counts;

	mlxpmd_counts_read(port, MLXPMD_COUNTERS, &counts);
	memcpy(port->stats_base->counters, counts.counters, sizeof(counts.counters));
	clock_info(port, &info);
	for (unsigned int i = 0; i < RTE_DIM(clock_kinds); i++)
		port->stats_base->clock[i] = counter_of(&info, &clock_kinds[i]);
	(void)mlxpmd_stats_reset(eth_dev);
	__atomic_store_n(&port->stats_base->out_of_buffer, port->stats_base->missed, __ATOMIC_RELAXED);
	return 0;
}

/* ------------------------------------------------------------------ stage of probe */

static int
q_counter_up(struct mlxpmd_port *port)
{
	if (!port->mdv->caps.q_counters) {
		MLXPMD_LOG(NOTICE, "port %u: the device has no queue counters: imissed stays 0",
			   port->port_id);
		return 0;
	}
	port->q_counter = mdv_q_counter_create(port->mdv);
	return port->q_counter != NULL ? 0 : -rte_errno;
}

/* A new queue counter starts at 0; vport and physical counters count since the device was initialized. */
int
mlxpmd_stats_up(struct mlxpmd_port *port)
{
	int rc;

	port->stats_base = rte_zmalloc("mlxpmd_stats", sizeof(*port->stats_base), 0);
	if (port->stats_base == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for statistics", port->port_id);
	rc = q_counter_up(port);
	if (rc == 0)
		rc = mlxpmd_counts_up(port);
	if (rc != 0)
		mlxpmd_stats_down(port);
	return rc;
}

void
mlxpmd_stats_down(struct mlxpmd_port *port)
{
	mlxpmd_counts_down(port);
	(void)mdv_obj_destroy(port->q_counter);
	port->q_counter = NULL;
	rte_free(port->stats_base);
	port->stats_base = NULL;
}
