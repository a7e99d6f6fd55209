/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send queues on the control plane: what differs from receive queues, from set-up to stop. */

#include <rte_cycles.h>
#include <rte_flow.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_tx.h"

/*
 * How long the stop of a send queue waits for posted packets. A loaded host may schedule an emulated device late,
 * so this is more than the milliseconds that a card needs.
 */
#define DRAIN_US 200000
#define DRAIN_POLL_US 50
/* Indices have 16 bits, of which differences use one less. */
#define LOG_WQEBBS_MAX 15

/* ------------------------------------------------------------------ operations */

/*
 * Stores to a non-cached register need no barrier of the processor on x86, and one fewer on arm64; there they take
 * longer themselves, so that net/mlx5 prefers write-combining.
 */
static bool
prefers_wc(enum mlxpmd_doorbell doorbell)
{
#ifdef RTE_ARCH_ARM64
	return doorbell != MLXPMD_DOORBELL_NC;
#else
	return doorbell == MLXPMD_DOORBELL_WC;
#endif
}

/* log2 of the WQEBBs that nb_desc packets of the longest kind need. */
static uint8_t
log_wqebbs(const struct mlxpmd_queue *q, uint16_t inline_bytes)
{
	uint32_t ds = MLXPMD_TITLE_DS + mlxpmd_tx_copy_bytes(inline_bytes) / MLXPMD_DS_BYTES;

	return rte_log2_u32(q->nb_desc * (inline_bytes != 0 ? (ds + MLXPMD_WQEBB_DS - 1) / MLXPMD_WQEBB_DS : 1));
}

/* Why the queue copies no packets; NULL: it can. */
static const char *
inline_refusal(const struct mlxpmd_queue *q, uint16_t longest)
{
	const struct mlxpmd_devargs *args = &q->port->args;
	const struct mdv_caps *caps = &q->port->mdv->caps;

	if (args->txq_inline_mpw == 0 && args->txq_inline_max == 0)
		return "txq_inline_mpw and txq_inline_max are 0";
	if (q->port->eth_dev->data->nb_tx_queues < args->txqs_min_inline)
		return "fewer Tx queues than txqs_min_inline";
	if (longest == 0)
		return caps->min_inline_mode != 0 ? "the device requires inline headers and txq_inline_max is 0" :
		       "the device has no multi-packet WQE and txq_inline_max is 0";
	if (MLXPMD_TITLE_DS * MLXPMD_DS_BYTES + mlxpmd_tx_copy_bytes(longest) >
	    caps->max_sq_desc_ds * MLXPMD_DS_BYTES)
		return "the device's largest WQE is too small";
	if (log_wqebbs(q, longest) > RTE_MIN(caps->log_max_wq_sz, LOG_WQEBBS_MAX))
		return "the device's largest SQ is too small for all descriptors";
	return NULL;
}

/* Which packets are copied, before the SQ is created, whose size depends on it; and whether they have metadata. */
static int
txq_prepare(struct mlxpmd_queue *q)
{
	const struct mlxpmd_devargs *args = &q->port->args;
	const struct mdv_caps *caps = &q->port->mdv->caps;
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);

	/* A packet that is the inline header of its own WQE satisfies every inline mode. */
	txq->inline_mpw = caps->mpw && caps->min_inline_mode == 0 ? args->txq_inline_mpw : 0;
	txq->inline_send = args->txq_inline_max;
	txq->meta_flag = mlxpmd_flow_tx_metadata(q->port) ? RTE_MBUF_DYNFLAG_TX_METADATA : 0;
	txq->meta_offset = rte_flow_dynf_metadata_offs;
	txq->inline_why = inline_refusal(q, RTE_MAX(txq->inline_mpw, txq->inline_send));
	if (txq->inline_why != NULL) {
		if (args->txq_inline_mpw != 0 || args->txq_inline_max != 0)
			MLXPMD_LOG(NOTICE, "port %u Tx queue %u: no inline data: %s", q->port_id, q->queue_id,
				   txq->inline_why);
		txq->inline_mpw = 0;
		txq->inline_send = 0;
		return 0;
	}
	txq->inline_why = caps->min_inline_mode != 0 ? "selected by devargs; the device requires inline headers" :
			  caps->mpw ? "selected by devargs" :
			  "selected by devargs; the device has no multi-packet WQE";
	return 0;
}

/* At most one completion per WQEBB, so a CQ as large as the SQ cannot overrun. */
static int
txq_create(struct mlxpmd_queue *q)
{
	const struct mlxpmd_txq *txq = mlxpmd_txq_of(q);
	uint8_t log_sq = log_wqebbs(q, RTE_MAX(txq->inline_mpw, txq->inline_send));
	struct mdv_cq_attr cq_attr = { .log_cqes = log_sq, .socket_id = q->socket_id };
	struct mdv_sq_attr sq_attr = {
		.log_wqebbs = log_sq,
		.socket_id = q->socket_id,
		.tisn = q->port->tis->id,
		.rate_index = txq->rate.index,
		.db_wc = prefers_wc(q->port->args.doorbell),
	};
	int rc;

	rc = mdv_cq_create(q->port->mdv, &cq_attr, &q->hw.cq);
	if (rc != 0)
		return rc;
	sq_attr.cqn = q->hw.cq.cqn;
	rc = mdv_sq_create(q->port->mdv, &sq_attr, &q->hw.sq);
	if (rc != 0)
		mdv_cq_destroy(&q->hw.cq);
	return rc;
}

static int
txq_replaced(struct mlxpmd_queue *q)
{
	return mlxpmd_flows_sq_replaced(q->port, q->queue_id);
}

static int
txq_rewind(struct mlxpmd_queue *q, bool fresh, uint32_t *lost)
{
	*lost += mlxpmd_txq_rewind(mlxpmd_txq_of(q), fresh);
	return 0;
}

/* Sends what is posted, because the reset drops it. Gives up on a device that does not complete it in time. */
static void
txq_drain(struct mlxpmd_queue *q)
{
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);
	unsigned int waited_us;

	for (waited_us = 0; waited_us < DRAIN_US; waited_us += DRAIN_POLL_US) {
		(void)mlxpmd_tx_done_cleanup(txq, 0);
		/* In each round: a full ring has a free WQEBB for the NOP only after the first completion. */
		mlxpmd_txq_flush(txq);
		if (q->state != MLXPMD_QS_READY || q->ci == q->pi || mdv_removed(txq->mdv))
			return;
		rte_delay_us_sleep(DRAIN_POLL_US);
	}
}

static unsigned int
txq_abandon(struct mlxpmd_queue *q)
{
	struct mlxpmd_txq *txq = mlxpmd_txq_of(q);
	unsigned int mbufs = (uint16_t)(txq->elts_pi - txq->elts_ci);

	mlxpmd_txq_abandon(txq);
	return mbufs;
}

/* Is the device waiting for the send time of a packet? */
static bool
waits_for_time(const struct mlxpmd_txq *txq)
{
	uint64_t until_tsc = __atomic_load_n(&txq->time_until_tsc, __ATOMIC_RELAXED);

	return until_tsc != 0 && (int64_t)(until_tsc - rte_rdtsc()) > 0;
}

/* Runs beside the burst: an inconsistent pair of indices is corrected at the next call. */
static bool
txq_waits(struct mlxpmd_queue *q)
{
	const struct mlxpmd_txq *txq = container_of(q, struct mlxpmd_txq, q);
	uint16_t comp = __atomic_load_n(&txq->wqebb_comp, __ATOMIC_RELAXED);
	uint16_t ci = __atomic_load_n(&q->ci, __ATOMIC_RELAXED);

	return (uint16_t)(comp - ci) != 0 && (uint16_t)(comp - ci) <= q->wqe_mask + 1u && !waits_for_time(txq);
}

/* The packets before the completion, each as long as can be; copied ones are in the WQEs. Runs beside the burst. */
static uint64_t
txq_slow_ns(struct mlxpmd_queue *q)
{
	const struct mlxpmd_txq *txq = mlxpmd_txq_of(q);
	const uint32_t mbps = __atomic_load_n(&txq->rate_mbps, __ATOMIC_RELAXED);
	const uint32_t frame = RTE_MAX(txq->max_lso, q->port->eth_dev->data->mtu + (uint32_t)RTE_ETHER_HDR_LEN);
	const uint16_t packets = __atomic_load_n(&txq->elts_comp, __ATOMIC_RELAXED) -
				 __atomic_load_n(&txq->elts_ci, __ATOMIC_RELAXED);
	const uint64_t copied = (q->wqe_mask + 1u) * MLXPMD_WQEBB_DS * MLXPMD_DS_BYTES;

	return mbps == 0 ? 0 : ((uint64_t)packets * frame + copied) * 8000 / mbps;
}

static void
txq_release(struct mlxpmd_queue *q)
{
	mdv_rate_free(q->port->mdv, &mlxpmd_txq_of(q)->rate);
}

const struct mlxpmd_queue_ops mlxpmd_txq_ops = {
	.name = "Tx",
	.prepare = txq_prepare,
	.create = txq_create,
	.replaced = txq_replaced,
	.arm = mlxpmd_txq_arm,
	.disarm = mlxpmd_txq_disarm,
	.rewind = txq_rewind,
	.drain = txq_drain,
	.settle = mlxpmd_txq_lost_find,
	.abandon = txq_abandon,
	.watch = mlxpmd_txq_watch,
	.waits = txq_waits,
	.slow_ns = txq_slow_ns,
	.release = txq_release,
};

/* ------------------------------------------------------------------ limit of the rate */

static int
rate_set(struct mlxpmd_txq *txq, uint32_t mbps)
{
	struct mdv_rate fresh = { 0 };
	int rc = 0;

	if (mbps != 0)
		rc = mdv_rate_alloc(txq->mdv, (uint64_t)mbps * 1000, &fresh);
	if (rc == 0 && txq->q.hw.wq.obj != NULL)
		rc = mdv_sq_set_rate(&txq->q.hw.sq, fresh.index);
	if (rc != 0) {
		mdv_rate_free(txq->mdv, &fresh);
		rte_errno = -rc;
		return rc;
	}
	/* The queue has the new one. */
	mdv_rate_free(txq->mdv, &txq->rate);
	txq->rate = fresh;
	__atomic_store_n(&txq->rate_mbps, mbps, __ATOMIC_RELAXED);
	return 0;
}

int
mlxpmd_queue_rate_set(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint32_t mbps)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_queue *q = NULL;
	int rc = 0;

	if (queue_id < eth_dev->data->nb_tx_queues)
		q = mlxpmd_queue_at(eth_dev->data, MLXPMD_TX, queue_id);
	if (q == NULL)
		return MLXPMD_FAIL(EINVAL, "port %u: the rate of Tx queue %u cannot be limited before it is set up",
				   port->port_id, queue_id);
	pthread_mutex_lock(&port->lock);
	if (mbps != mlxpmd_txq_of(q)->rate_mbps)
		rc = rate_set(mlxpmd_txq_of(q), mbps);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_queue_rate_get(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint32_t *mbps)
{
	const struct mlxpmd_txq *txq = eth_dev->data->tx_queues[queue_id];

	if (txq == NULL)
		return -EINVAL;
	*mbps = txq->rate_mbps;
	return 0;
}

/* ------------------------------------------------------------------ set-up */

int
mlxpmd_tx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint16_t nb_desc,
		      unsigned int socket_id, const struct rte_eth_txconf *conf)
{
	struct mlxpmd_queue_attr attr = {
		.eth_dev = eth_dev, .ops = &mlxpmd_txq_ops, .kind = MLXPMD_TX,
		.queue_id = queue_id, .nb_desc = nb_desc, .socket_id = socket_id,
		.offloads = conf->offloads | eth_dev->data->dev_conf.txmode.offloads,
		.deferred_start = conf->tx_deferred_start,
		.thresh = { { "tx_rs_thresh", conf->tx_rs_thresh, 4 },
			    { "tx_free_thresh", conf->tx_free_thresh, 1 } },
	};
	struct mlxpmd_txq *txq;
	int rc;

	rc = mlxpmd_queue_attr_check(&attr);
	if (rc != 0)
		return rc;
	txq = mlxpmd_queue_alloc(&attr, sizeof(*txq));
	if (txq == NULL)
		return -ENOMEM;
	txq->mdv = txq->q.port->mdv;
	txq->conf = *conf;
	txq->conf.offloads = txq->q.offloads;
	return mlxpmd_queue_register(&txq->q, mlxpmd_txq_times_set(txq));
}

void
mlxpmd_txq_info_get(struct rte_eth_dev *eth_dev, uint16_t queue_id, struct rte_eth_txq_info *info)
{
	const struct mlxpmd_txq *txq = eth_dev->data->tx_queues[queue_id];

	if (txq == NULL)
		return;
	info->conf = txq->conf;
	info->nb_desc = txq->q.nb_desc;
}
