/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queues on the control plane: what differs from send queues, from set-up to stop. */

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_mprq.h"

/* Default of mprq_log_stride_num (DPDK mlx5_defs.h, MLX5_MPRQ_DEFAULT_LOG_STRIDE_NUM). */
#define LOG_STRIDES_DEFAULT 6
/* Ethernet, two tags, IPv6, TCP with options: they must be in one mbuf (DPDK mlx5_rxq.c, MLX5_MAX_LRO_HEADER_FIX). */
#define LRO_HEADERS_MAX 122
/* A packet that cannot be attached is copied to a chain of mbufs. */
#define LRO_MBUFS_MAX 32

/* Bytes of the longest frame that the device delivers. */
static uint32_t
frame_bytes(const struct mlxpmd_rxq *rxq, uint16_t mtu)
{
	return mtu + MLXPMD_FRAME_OVERHEAD - (rxq->q.offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC ? 0 : RTE_ETHER_CRC_LEN);
}

int
mlxpmd_rxq_log_segs(const struct mlxpmd_rxq *rxq, uint16_t mtu)
{
	const bool chains = rxq->conf.rx_nseg != 0 || (rxq->q.offloads & RTE_ETH_RX_OFFLOAD_SCATTER);
	const uint32_t frame = frame_bytes(rxq, mtu);
	uint32_t room = 0, segs = 0;
	struct mlxpmd_rx_seg seg;
	int log_segs;

	do {
		(void)mlxpmd_rxq_seg(rxq, segs++, &seg); /* segs_check() found all of them valid. */
		room += seg.bytes;
		if (room < frame && !chains)
			return MLXPMD_FAIL(EINVAL,
					   "port %u Rx queue %u: frames of up to %u bytes (MTU %u) do not fit into %u: allowed with Rx offload scatter or larger mbufs",
					   rxq->q.port_id, rxq->q.queue_id, frame, mtu, room);
	} while (room < frame);
	log_segs = rte_log2_u32(rte_align32pow2(segs));
	if ((1u << log_segs) > MLXPMD_RX_MAX_SEGS || rxq->q.nb_desc >> log_segs < 2)
		return MLXPMD_FAIL(EINVAL,
				   "port %u Rx queue %u: frames of up to %u bytes need %u mbufs each: allowed are %d, and half of the %u descriptors",
				   rxq->q.port_id, rxq->q.queue_id, frame, segs, MLXPMD_RX_MAX_SEGS,
				   rxq->q.nb_desc);
	return log_segs;
}

int
mlxpmd_rxq_log_stride_size(const struct mlxpmd_rxq *rxq, uint16_t mtu)
{
	const unsigned int log_strides = rxq->striding.log_strides;
	unsigned int log_size = rxq->q.port->args.mprq_log_stride_size;
	uint32_t frame = frame_bytes(rxq, mtu), room = rte_pktmbuf_data_room_size(rxq->mp);

	/* Default: a frame and the headroom of the next one fit a stride. */
	if (log_size == 0) {
		log_size = rte_log2_u32(rte_align32pow2(frame + RTE_PKTMBUF_HEADROOM));
		while (log_strides + log_size < MDV_LOG_STRIDING_WQE_MIN)
			log_size++;
		log_size = RTE_MIN(log_size, (unsigned int)MDV_LOG_STRIDE_MAX);
	}
	if (log_strides + log_size < MDV_LOG_STRIDING_WQE_MIN || frame > 1u << (log_strides + log_size))
		return MLXPMD_FAIL(EINVAL,
				   "port %u Rx queue %u: buffers of 2^%u strides of 2^%u bytes: allowed are at least 2^%d bytes and a frame of %u",
				   rxq->q.port_id, rxq->q.queue_id, log_strides, log_size, MDV_LOG_STRIDING_WQE_MIN,
				   frame);
	/* A frame that reaches into the next one's headroom is copied. */
	if (frame + RTE_PKTMBUF_HEADROOM > 1u << log_size && frame + RTE_PKTMBUF_HEADROOM > room &&
	    !(rxq->q.offloads & RTE_ETH_RX_OFFLOAD_SCATTER))
		return MLXPMD_FAIL(EINVAL,
				   "port %u Rx queue %u: frames of up to %u bytes (MTU %u) fit neither mbufs of %u nor strides of %u, with headroom: allowed with Rx offload scatter, larger mbufs or larger strides",
				   rxq->q.port_id, rxq->q.queue_id, frame, mtu, room, 1u << log_size);
	return log_size;
}

/* The size counts from TCP on, with most devices: the longest headers before it are Ethernet, two tags, IPv6. */
static uint32_t
lro_before_tcp(const struct mlxpmd_port *port)
{
	return port->mdv->caps.lro_size_l2 ? 0 :
	       sizeof(struct rte_ether_hdr) + 2 * sizeof(struct rte_vlan_hdr) + sizeof(struct rte_ipv6_hdr);
}

/* A packet must fit into a WQE. */
uint8_t
mlxpmd_rxq_lro_size(const struct mlxpmd_port *port)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;
	uint32_t max = RTE_MIN(data->dev_conf.rxmode.max_lro_pkt_size, (uint32_t)MLXPMD_LRO_MAX);
	int log_size;
	uint16_t i;

	if (!(data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_TCP_LRO))
		return 0;
	for (i = 0; i < data->nb_rx_queues; i++) {
		const struct mlxpmd_rxq *rxq = data->rx_queues[i];

		if (rxq == NULL)
			continue;
		log_size = mlxpmd_rxq_log_stride_size(rxq, data->mtu);
		if (log_size < 0)
			return 0;
		max = RTE_MIN(max, 1u << (rxq->striding.log_strides + log_size));
	}
	return (max - RTE_MIN(max, lro_before_tcp(port))) / MDV_LRO_UNIT;
}

/* As net_mlx5 documents the devarg: the longest period up to it, else the shortest. */
uint16_t
mlxpmd_rxq_lro_us(const struct mlxpmd_port *port)
{
	const uint16_t *periods = port->mdv->caps.lro_us;
	uint16_t us = periods[0];
	unsigned int i;

	for (i = 1; i < MDV_LRO_PERIODS; i++)
		if (periods[i] <= port->args.lro_timeout_usec)
			us = RTE_MAX(us, periods[i]);
	return us;
}

/* ------------------------------------------------------------------ operations */

static int
rxq_prepare(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	int rc = mlxpmd_rxq_log_segs(rxq, q->port->eth_dev->data->mtu);

	if (rc < 0)
		return rc;
	rxq->log_segs = rc;
	return 0;
}

/* The stride index beside a checksum needs a capability (Linux, mlx5e_build_rx_cq_param()). */
static enum mdv_mini_cqe
mini_cqe_of(const struct mlxpmd_rxq *rxq)
{
	const struct mlxpmd_port *port = rxq->q.port;

	if (port->mini_cqe == MDV_MINI_CQE_CSUM && rxq->striding.log_strides != 0 &&
	    (port->mdv->caps.mini_cqes >> MDV_MINI_CQE_CSUM_STRIDE & 1))
		return MDV_MINI_CQE_CSUM_STRIDE;
	return port->mini_cqe;
}

/* At most one completion per WQE, or per stride, so a CQ as large as the RQ cannot overrun. */
static int
rxq_create(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	const uint8_t log_strides = rxq->striding.log_strides;
	uint8_t log_cqes = rte_log2_u32(q->nb_desc) - rxq->log_segs;
	struct mdv_cq_attr cq_attr = {
		.log_cqes = log_cqes, .socket_id = q->socket_id, .vector = rxq->vector, .mini_cqe = mini_cqe_of(rxq),
		.enhanced = q->port->mini_cqe_enhanced,
	};
	struct mdv_rq_attr rq_attr = {
		.log_wqes = log_cqes - log_strides,
		.log_stride_bytes = log_strides != 0 ? MDV_LOG_STRIDING_WQE_BYTES : 4 + rxq->log_segs,
		.log_strides = log_strides,
		.log_stride_size = rxq->striding.log_stride_size,
		.socket_id = q->socket_id,
		.counter_set_id = q->port->q_counter != NULL ? q->port->q_counter->id : 0,
		.vlan_strip = (q->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0,
		.scatter_fcs = (q->offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC) != 0,
	};
	int rc;

	rc = mdv_cq_create(q->port->mdv, &cq_attr, &q->hw.cq);
	if (rc != 0)
		return rc;
	rxq->mini_cqe = cq_attr.mini_cqe;
	rq_attr.cqn = q->hw.cq.cqn;
	if (rxq->vector != NULL)
		rc = mdv_vector_attach(rxq->vector, &q->hw.cq);
	if (rc == 0)
		rc = mdv_rq_create(q->port->mdv, &rq_attr, &q->hw.rq);
	if (rc != 0)
		mdv_cq_destroy(&q->hw.cq);
	return rc;
}

/* RQTs refer to RQs by number. */
static int
rxq_replaced(struct mlxpmd_queue *q)
{
	int rc = mlxpmd_steer_reta(q->port);

	return rc == 0 ? mlxpmd_flows_replaced(q->port) : rc;
}

/* What is lost are packets that no burst took: mlxpmd_rxq_unread() has counted them. */
static int
rxq_rewind(struct mlxpmd_queue *q, bool fresh, uint32_t *lost __rte_unused)
{
	return mlxpmd_rxq_rewind(mlxpmd_rxq_of(q), fresh);
}

/* VLAN stripping that was switched while the queue was under repair. */
static int
rxq_configure(struct mlxpmd_queue *q)
{
	const bool strip = (q->offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;

	return q->hw.rq.vlan_strip != strip ? mdv_rq_set_vlan_strip(&q->hw.rq, strip) : 0;
}

static unsigned int
rxq_abandon(struct mlxpmd_queue *q)
{
	rte_free(q->elts);
	q->elts = NULL;
	return (uint16_t)(q->pi - q->ci) << mlxpmd_rxq_of(q)->log_segs;
}

static int
striding_prepare(struct mlxpmd_queue *q)
{
	struct mlxpmd_rxq *rxq = mlxpmd_rxq_of(q);
	int rc = mlxpmd_rxq_log_stride_size(rxq, q->port->eth_dev->data->mtu);

	return rc < 0 ? rc : mlxpmd_mprq_pool_set(rxq, rxq->striding.log_strides, rc);
}

static int
striding_rewind(struct mlxpmd_queue *q, bool fresh, uint32_t *lost __rte_unused)
{
	return mlxpmd_mprq_rewind(mlxpmd_rxq_of(q), fresh);
}

/* The buffers keep their references: their memory is never freed. */
static unsigned int
striding_abandon(struct mlxpmd_queue *q)
{
	rte_free(q->elts);
	q->elts = NULL;
	return q->wqe_mask + 1;
}

static void
striding_release(struct mlxpmd_queue *q)
{
	mlxpmd_rxq_intr_release(q);
	mlxpmd_mprq_pool_release(mlxpmd_rxq_of(q));
}

const struct mlxpmd_queue_ops mlxpmd_rxq_ops = {
	.name = "Rx",
	.prepare = rxq_prepare,
	.create = rxq_create,
	.replaced = rxq_replaced,
	.arm = mlxpmd_rxq_arm,
	.disarm = mlxpmd_rxq_disarm,
	.unread = mlxpmd_rxq_unread,
	.rewind = rxq_rewind,
	.configure = rxq_configure,
	.abandon = rxq_abandon,
	.sync = mlxpmd_rxq_intr_sync,
	.watch = mlxpmd_rxq_intr_watch,
	.release = mlxpmd_rxq_intr_release,
};

static const struct mlxpmd_queue_ops striding_ops = {
	.name = "Rx",
	.prepare = striding_prepare,
	.create = rxq_create,
	.replaced = rxq_replaced,
	.arm = mlxpmd_mprq_arm,
	.disarm = mlxpmd_mprq_disarm,
	.unread = mlxpmd_rxq_unread,
	.rewind = striding_rewind,
	.configure = rxq_configure,
	.abandon = striding_abandon,
	.sync = mlxpmd_rxq_intr_sync,
	.watch = mlxpmd_rxq_intr_watch,
	.release = striding_release,
};

/* ------------------------------------------------------------------ set-up */

static int
rxconf_check(struct mlxpmd_queue_attr *attr, const struct rte_eth_rxconf *conf)
{
	uint16_t port_id = attr->eth_dev->data->port_id;

	if (conf->share_group != 0)
		return MLXPMD_FAIL(ENOTSUP, "port %u Rx queue %u: shared queues are not supported", port_id,
				   attr->queue_id);
	if (conf->rx_drop_en == 0)
		MLXPMD_LOG(DEBUG, "port %u Rx queue %u: rx_drop_en=0 is ignored: a full queue drops",
			   port_id, attr->queue_id);
	return mlxpmd_queue_attr_check(attr);
}

/* Also for a deferred queue: the burst function is chosen at start, by the fields of all queues. */
static int
timestamp_register(struct mlxpmd_rxq *rxq)
{
	rxq->ts_offset = -1;
	if (!(rxq->q.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return 0;
	if (rte_mbuf_dyn_rx_timestamp_register(&rxq->ts_offset, &rxq->ts_flag) == 0)
		return 0;
	return MLXPMD_FAIL(rte_errno, "port %u Rx queue %u: no room for timestamps in the mbuf: %s",
			   rxq->q.port_id, rxq->q.queue_id, rte_strerror(rte_errno));
}

static bool
striding_wanted(const struct rte_eth_dev *eth_dev)
{
	const struct mlxpmd_devargs *args = &MLXPMD_PORT(eth_dev)->args;

	return args->mprq_en && eth_dev->data->nb_rx_queues >= args->rxqs_min_mprq;
}

static int
striding_set(struct mlxpmd_rxq *rxq)
{
	const struct mlxpmd_devargs *args = &rxq->q.port->args;
	const unsigned int least = rxq->q.port->mdv->caps.log_min_strides;
	unsigned int log_strides = args->mprq_log_stride_num;

	if (log_strides == 0)
		log_strides = RTE_MAX(least, (unsigned int)LOG_STRIDES_DEFAULT);
	if (least == 0)
		return MLXPMD_FAIL(ENOTSUP, "port %u Rx queue %u: the device has no striding receive queues: leave mprq_en out",
				   rxq->q.port_id, rxq->q.queue_id);
	if (log_strides < least)
		return MLXPMD_FAIL(EINVAL, "port %u Rx queue %u: mprq_log_stride_num=%u: the device allows %u..%d",
				   rxq->q.port_id, rxq->q.queue_id, log_strides, least, MDV_LOG_STRIDES_MAX);
	if (rxq->q.nb_desc >> log_strides < 2)
		return MLXPMD_FAIL(EINVAL, "port %u Rx queue %u: %u descriptors: allowed with 2^%u strides per buffer are more than %u",
				   rxq->q.port_id, rxq->q.queue_id, rxq->q.nb_desc, log_strides, 1u << log_strides);
	if (rte_pktmbuf_priv_flags(rxq->mp) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF)
		return MLXPMD_FAIL(ENOTSUP, "port %u Rx queue %u: mempool %s has pinned external buffers, to which no others can be attached: leave mprq_en out",
				   rxq->q.port_id, rxq->q.queue_id, rxq->mp->name);
	rxq->striding.log_strides = log_strides;
	return 0;
}

/* Why the queue cannot have LRO; NULL: it can. */
static const char *
lro_refusal(const struct mlxpmd_rxq *rxq, uint32_t max)
{
	const uint32_t room = rte_pktmbuf_data_room_size(rxq->mp);

	if (rxq->striding.log_strides == 0)
		return "needs striding queues, and there are fewer queues than rxqs_min_mprq";
	if (rxq->q.offloads & RTE_ETH_RX_OFFLOAD_KEEP_CRC)
		return "excludes Rx offload keep CRC";
	if (max < lro_before_tcp(rxq->q.port) + MDV_LRO_UNIT)
		return "needs max_lro_pkt_size of at least 318";
	if (room < RTE_PKTMBUF_HEADROOM + LRO_HEADERS_MAX)
		return "needs mbufs with room for headers of 122 bytes";
	if (room < RTE_PKTMBUF_HEADROOM + max && !(rxq->q.offloads & RTE_ETH_RX_OFFLOAD_SCATTER))
		return "needs Rx offload scatter, or mbufs for max_lro_pkt_size";
	if (RTE_PKTMBUF_HEADROOM + max > LRO_MBUFS_MAX * room)
		return "needs mbufs of which 32 hold max_lro_pkt_size";
	return NULL;
}

static int
lro_check(const struct mlxpmd_rxq *rxq)
{
	const uint32_t max = rxq->q.port->eth_dev->data->dev_conf.rxmode.max_lro_pkt_size;
	const char *why = rxq->q.offloads & RTE_ETH_RX_OFFLOAD_TCP_LRO ? lro_refusal(rxq, max) : NULL;

	if (why == NULL)
		return 0;
	return MLXPMD_FAIL(EINVAL, "port %u Rx queue %u: LRO, max_lro_pkt_size %u: %s", rxq->q.port_id,
			   rxq->q.queue_id, max, why);
}

/* The segments of buffer split. */
static void
split_set(struct mlxpmd_rxq *rxq)
{
	const struct rte_eth_rxconf *conf = &rxq->conf;
	uint16_t i;

	for (i = 0; i < conf->rx_nseg; i++)
		rxq->split[i] = conf->rx_seg[i];
	rxq->conf.rx_seg = conf->rx_nseg != 0 ? rxq->split : NULL;
	if (conf->rx_nseg != 0)
		rxq->mp = rxq->split[0].split.mp;
}

static int
segs_check(const struct mlxpmd_rxq *rxq)
{
	struct mlxpmd_rx_seg seg;
	unsigned int i;

	for (i = 0; i < RTE_MAX(rxq->conf.rx_nseg, 1u); i++)
		if (!mlxpmd_rxq_seg(rxq, i, &seg))
			return MLXPMD_FAIL(EINVAL, "port %u Rx queue %u: segment %u: %u bytes from offset %u: allowed is a part of the %u that mbufs of mempool %s have",
					   rxq->q.port_id, rxq->q.queue_id, i, seg.bytes, seg.data_off,
					   rte_pktmbuf_data_room_size(seg.mp), seg.mp->name);
	return 0;
}

int
mlxpmd_rx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint16_t nb_desc,
		      unsigned int socket_id, const struct rte_eth_rxconf *conf,
		      struct rte_mempool *mp)
{
	struct mlxpmd_queue_attr attr = {
		.eth_dev = eth_dev, .ops = striding_wanted(eth_dev) ? &striding_ops : &mlxpmd_rxq_ops,
		.kind = MLXPMD_RX,
		.queue_id = queue_id, .nb_desc = nb_desc, .socket_id = socket_id,
		.offloads = conf->offloads | eth_dev->data->dev_conf.rxmode.offloads,
		.deferred_start = conf->rx_deferred_start,
		.thresh = { { "rx_free_thresh", conf->rx_free_thresh, 2 } },
	};
	struct mlxpmd_rxq *rxq;
	int rc;

	if (mp == NULL && conf->rx_nseg == 0)
		return MLXPMD_FAIL(EINVAL, "port %u Rx queue %u: no mempool", eth_dev->data->port_id, queue_id);
	rc = rxconf_check(&attr, conf);
	if (rc != 0)
		return rc;
	rxq = mlxpmd_queue_alloc(&attr, sizeof(*rxq));
	if (rxq == NULL)
		return -ENOMEM;
	rxq->conf = *conf;
	rxq->conf.offloads = rxq->q.offloads;
	rxq->mp = mp;
	split_set(rxq);
	rte_spinlock_init(&rxq->intr_lock);
	rc = segs_check(rxq);
	if (rc == 0)
		rc = timestamp_register(rxq);
	if (rc == 0 && attr.ops == &striding_ops)
		rc = striding_set(rxq);
	if (rc == 0)
		rc = lro_check(rxq);
	return mlxpmd_queue_register(&rxq->q, rc);
}

void
mlxpmd_rxq_info_get(struct rte_eth_dev *eth_dev, uint16_t queue_id, struct rte_eth_rxq_info *info)
{
	const struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];
	struct mlxpmd_rx_seg seg;

	if (rxq == NULL)
		return;
	(void)mlxpmd_rxq_seg(rxq, 0, &seg);
	info->mp = rxq->mp;
	info->conf = rxq->conf;
	info->scattered_rx = rxq->log_segs != 0 || rxq->striding.scatter;
	info->nb_desc = rxq->q.nb_desc;
	info->rx_buf_size = seg.bytes;
}
