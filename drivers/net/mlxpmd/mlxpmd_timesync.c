/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* IEEE 1588 time stamps for rte_eth_timesync_*: software PHC, recognition of PTP messages, mailboxes. */

#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf_dyn.h>
#include <rte_time.h>
#include <rte_udp.h>

#include "mlxpmd_clock.h"
#include "mlxpmd_ctrl.h"
#include "mlxpmd_tx.h"

/* IEEE 1588-2008, 13.3.2.2: types 0..3 are event messages, which get a time stamp; 13.3.2.1: version. */
#define PTP_TYPE_MASK 0x0f
#define PTP_EVENT_TYPES 4
#define PTP_VERSION_MASK 0x0f
#define PTP_VERSION 2
/* Annex D: UDP port of event messages. */
#define PTP_EVENT_PORT 319

/* ------------------------------------------------------------------ PTP messages */

/* A header that is not in one segment. */
union header {
	struct rte_ether_hdr eth;
	struct rte_vlan_hdr vlan;
	struct rte_ipv4_hdr ipv4;
	struct rte_ipv6_hdr ipv6;
	struct rte_udp_hdr udp;
};

/* n bytes at an offset of a packet, in the packet or copied to space; NULL if it is shorter. */
static const void *
at(const struct rte_mbuf *m, uint32_t offset, uint32_t n, union header *space)
{
	return rte_pktmbuf_read(m, offset, n, space);
}

/* EtherType, behind one VLAN tag if present; *offset: the start of the payload that it names. */
static uint16_t
ethertype(const struct rte_mbuf *m, uint32_t *offset)
{
	union header space;
	const struct rte_ether_hdr *eth = at(m, 0, sizeof(*eth), &space);
	const struct rte_vlan_hdr *vlan;

	*offset = sizeof(*eth);
	if (eth == NULL)
		return 0;
	if (eth->ether_type != RTE_BE16(RTE_ETHER_TYPE_VLAN))
		return rte_be_to_cpu_16(eth->ether_type);
	vlan = at(m, *offset, sizeof(*vlan), &space);
	*offset += sizeof(*vlan);
	return vlan != NULL ? rte_be_to_cpu_16(vlan->eth_proto) : 0;
}

/* Whether there is a UDP header with the event port; *offset moves to its payload. */
static bool
udp_event(const struct rte_mbuf *m, uint32_t *offset)
{
	union header space;
	const struct rte_udp_hdr *udp = at(m, *offset, sizeof(*udp), &space);

	*offset += sizeof(*udp);
	return udp != NULL && udp->dst_port == RTE_BE16(PTP_EVENT_PORT);
}

static bool
ipv4_event(const struct rte_mbuf *m, uint32_t *offset)
{
	union header space;
	const struct rte_ipv4_hdr *ip = at(m, *offset, sizeof(*ip), &space);
	const rte_be16_t frag = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);

	if (ip == NULL || ip->next_proto_id != IPPROTO_UDP || (ip->fragment_offset & frag) != 0)
		return false;
	*offset += rte_ipv4_hdr_len(ip);
	return udp_event(m, offset);
}

static bool
ipv6_event(const struct rte_mbuf *m, uint32_t *offset)
{
	union header space;
	const struct rte_ipv6_hdr *ip = at(m, *offset, sizeof(*ip), &space);

	if (ip == NULL || ip->proto != IPPROTO_UDP)
		return false;
	*offset += sizeof(*ip);
	return udp_event(m, offset);
}

/* RTE_MBUF_F_RX_IEEE1588_PTP for PTP over Ethernet, _TMST for event messages. */
static uint64_t
ptp_flags(const struct rte_mbuf *m)
{
	uint64_t flags = 0;
	union header space;
	const uint8_t *msg;
	uint32_t offset;

	switch (ethertype(m, &offset)) {
	case RTE_ETHER_TYPE_1588:
		flags = RTE_MBUF_F_RX_IEEE1588_PTP;
		break;
	case RTE_ETHER_TYPE_IPV4:
		if (!ipv4_event(m, &offset))
			return 0;
		break;
	case RTE_ETHER_TYPE_IPV6:
		if (!ipv6_event(m, &offset))
			return 0;
		break;
	default:
		return 0;
	}
	msg = at(m, offset, 2, &space);
	if (msg != NULL && (msg[0] & PTP_TYPE_MASK) < PTP_EVENT_TYPES &&
	    (msg[1] & PTP_VERSION_MASK) == PTP_VERSION)
		flags |= RTE_MBUF_F_RX_IEEE1588_TMST;
	return flags;
}

/* ------------------------------------------------------------------ receive */

static void
rx_store(struct mlxpmd_timesync *t, const struct mlxpmd_rxq *rxq, const struct rte_mbuf *m, unsigned int box)
{
	rte_spinlock_lock(&t->lock);
	t->rx[box].ns = *RTE_MBUF_DYNFIELD(m, rxq->ts_offset, const uint64_t *);
	t->rx[box].ready = true;
	t->rx_stamps++;
	rte_spinlock_unlock(&t->lock);
}

static uint16_t
rx_burst_ptp(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct mlxpmd_rxq *rxq = queue;
	struct mlxpmd_timesync *t = &rxq->q.port->timesync;
	uint16_t got = t->rx_burst(queue, pkts, n), i;
	unsigned int box = 0;
	uint64_t flags;

	for (i = 0; i < got; i++) {
		flags = ptp_flags(pkts[i]);
		if (likely(flags == 0))
			continue;
		if ((flags & RTE_MBUF_F_RX_IEEE1588_TMST) && (pkts[i]->ol_flags & rxq->ts_flag)) {
			rx_store(t, rxq, pkts[i], box);
			pkts[i]->timesync = box;
			box = RTE_MIN(box + 1, MLXPMD_TIMESYNC_RX_BOXES - 1u);
		} else if (flags & RTE_MBUF_F_RX_IEEE1588_TMST) {
			flags &= ~RTE_MBUF_F_RX_IEEE1588_TMST;
			__atomic_fetch_add(&t->rx_absent, 1, __ATOMIC_RELAXED);
		}
		pkts[i]->ol_flags |= flags;
	}
	return got;
}

mlxpmd_rx_burst_t
mlxpmd_timesync_rx_wrap(struct mlxpmd_port *port, mlxpmd_rx_burst_t burst)
{
	if (!port->timesync.on)
		return burst;
	__atomic_store_n(&port->timesync.rx_burst, burst, __ATOMIC_RELEASE);
	return rx_burst_ptp;
}

/* ------------------------------------------------------------------ send */

/* The mailbox's lock is held. stamp NULL: there is none. */
static void
tx_fill(struct mlxpmd_port *port, const uint64_t *stamp)
{
	struct mlxpmd_timesync *t = &port->timesync;
	struct mlxpmd_clock_lines stack;
	const struct mlxpmd_clock_lines *lines = mlxpmd_clock_lcore(port->clock, &stack);

	if (stamp != NULL && mlxpmd_clock_usable(&lines->dev, rte_rdtsc()) &&
	    mlxpmd_clock_value(port->clock, &lines->dev, *stamp, &t->tx.ns)) {
		t->tx.state = MLXPMD_STAMP_READY;
		t->tx_stamps++;
	} else {
		t->tx.state = MLXPMD_STAMP_NONE;
		t->tx_absent++;
	}
}

void
mlxpmd_timesync_tx_sent(struct mlxpmd_txq *txq)
{
	struct mlxpmd_timesync *t = &txq->q.port->timesync;

	rte_spinlock_lock(&t->lock);
	t->tx.state = MLXPMD_STAMP_DUE;
	t->tx.txq = txq;
	t->tx.wqe = txq->stamp_wqe;
	rte_spinlock_unlock(&t->lock);
}

/* Whether the mailbox waits for this WQE. */
static bool
tx_due(const struct mlxpmd_timesync *t, const struct mlxpmd_txq *txq)
{
	return t->tx.state == MLXPMD_STAMP_DUE && t->tx.txq == txq && t->tx.wqe == txq->stamp_wqe;
}

static void
tx_end(struct mlxpmd_txq *txq, const uint64_t *stamp)
{
	struct mlxpmd_timesync *t = &txq->q.port->timesync;

	txq->stamp_due = false;
	rte_spinlock_lock(&t->lock);
	if (tx_due(t, txq))
		tx_fill(txq->q.port, stamp);
	rte_spinlock_unlock(&t->lock);
}

void
mlxpmd_timesync_tx_done(struct mlxpmd_txq *txq, uint64_t stamp)
{
	tx_end(txq, &stamp);
}

void
mlxpmd_timesync_tx_forget(struct mlxpmd_txq *txq)
{
	tx_end(txq, NULL);
}

/*
 * Searches the CQ for the completion without consuming it, which a burst does, perhaps on another lcore. The
 * mailbox's lock is held, and a burst takes it before it consumes this completion: while the mailbox waits, the
 * device cannot reuse the entry.
 */
static void
tx_peek(struct mlxpmd_port *port)
{
	struct mlxpmd_timesync *t = &port->timesync;
	const struct mlxpmd_txq *txq = t->tx.txq;
	uint32_t ci = __atomic_load_n(&txq->q.cq_ci, __ATOMIC_RELAXED), n;
	const struct mlx5_cqe64 *cqe;
	uint64_t tail, stamp;

	for (n = 0; n <= txq->q.cqe_mask; n++, ci++) {
		cqe = &txq->q.cqes[ci & txq->q.cqe_mask];
		tail = mlxpmd_cqe_tail(cqe);
		if (mlxpmd_cqe_absent(tail, ci >> txq->q.log_cqes, MLXPMD_TAIL_OWNER) ||
		    mlxpmd_cqe_opcode(tail) != MLX5_CQE_REQ)
			return;
		if ((uint16_t)((uint32_t)tail >> MLXPMD_TAIL_COUNTER_SHIFT) != t->tx.wqe)
			continue;
		/* Read the owner bit before the timestamp. */
		rte_io_rmb();
		stamp = rte_be_to_cpu_64(cqe->timestamp);
		tx_fill(port, &stamp);
		return;
	}
}

/* ------------------------------------------------------------------ the PHC */

/* The PHC counts ns: a clock of ticks is not enough. */
static bool
has_time(const struct mlxpmd_port *port)
{
	return port->clock != NULL && port->clock->kind != MDV_CLOCK_TICKS;
}

static int
now_get(struct rte_eth_dev *eth_dev, uint64_t *now)
{
	return has_time(MLXPMD_PORT(eth_dev)) ? mlxpmd_read_clock(eth_dev, now) : -ENOTSUP;
}

/* Also in a secondary process: without the lock, which such a process would keep when it is killed. */
int
mlxpmd_timesync_read_time(struct rte_eth_dev *eth_dev, struct timespec *ts)
{
	uint64_t now;
	int rc = now_get(eth_dev, &now);

	if (rc != 0)
		return rc;
	*ts = rte_ns_to_timespec(now + __atomic_load_n(&MLXPMD_PORT(eth_dev)->timesync.offset_ns, __ATOMIC_RELAXED));
	return 0;
}

/* Adds to the offset, or replaces it. */
static void
offset_change(struct mlxpmd_timesync *t, bool add, int64_t ns)
{
	rte_spinlock_lock(&t->lock);
	__atomic_store_n(&t->offset_ns, add ? t->offset_ns + ns : ns, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&t->lock);
}

int
mlxpmd_timesync_write_time(struct rte_eth_dev *eth_dev, const struct timespec *ts)
{
	uint64_t now;
	int rc;

	if (ts->tv_sec < 0 || ts->tv_nsec < 0 || ts->tv_nsec >= (long)NSEC_PER_SEC)
		return -EINVAL;
	rc = now_get(eth_dev, &now);
	if (rc != 0)
		return rc;
	offset_change(&MLXPMD_PORT(eth_dev)->timesync, false, rte_timespec_to_ns(ts) - now);
	return 0;
}

int
mlxpmd_timesync_adjust(struct rte_eth_dev *eth_dev, int64_t delta_ns)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	if (!has_time(port))
		return -ENOTSUP;
	offset_change(&port->timesync, true, delta_ns);
	return 0;
}

/* ------------------------------------------------------------------ mailboxes */

int
mlxpmd_timesync_read_rx(struct rte_eth_dev *eth_dev, struct timespec *ts, uint32_t flags)
{
	struct mlxpmd_timesync *t = &MLXPMD_PORT(eth_dev)->timesync;
	unsigned int box = flags % MLXPMD_TIMESYNC_RX_BOXES;
	int rc = -EINVAL;

	rte_spinlock_lock(&t->lock);
	if (t->rx[box].ready) {
		*ts = rte_ns_to_timespec(t->rx[box].ns + t->offset_ns);
		t->rx[box].ready = false;
		rc = 0;
	}
	rte_spinlock_unlock(&t->lock);
	return rc;
}

int
mlxpmd_timesync_read_tx(struct rte_eth_dev *eth_dev, struct timespec *ts)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_timesync *t = &port->timesync;
	int rc = -EINVAL;

	rte_spinlock_lock(&t->lock);
	/*
	 * The port's lock keeps the queue's rings allocated. Its holder may wait for the firmware: lcores poll this
	 * function, so it does not wait and the stamp is reported as not available.
	 */
	if (t->tx.state == MLXPMD_STAMP_DUE && pthread_mutex_trylock(&port->lock) == 0) {
		tx_peek(port);
		pthread_mutex_unlock(&port->lock);
	}
	if (t->tx.state == MLXPMD_STAMP_READY) {
		*ts = rte_ns_to_timespec(t->tx.ns + t->offset_ns);
		t->tx.state = MLXPMD_STAMP_NONE;
		rc = 0;
	}
	rte_spinlock_unlock(&t->lock);
	return rc;
}

/* ------------------------------------------------------------------ enable and disable */

static void
boxes_clear(struct mlxpmd_timesync *t)
{
	unsigned int i;

	rte_spinlock_lock(&t->lock);
	for (i = 0; i < MLXPMD_TIMESYNC_RX_BOXES; i++)
		t->rx[i].ready = false;
	t->tx.state = MLXPMD_STAMP_NONE;
	rte_spinlock_unlock(&t->lock);
}

/* Selects bursts again, which may be polled at this moment: the queues must be ready for the new ones. */
static void
bursts_change(struct mlxpmd_port *port)
{
	struct rte_eth_fp_ops *fp = &rte_eth_fp_ops[port->port_id];

	if (!port->running)
		return;
	mlxpmd_burst_select(port->eth_dev);
	rte_smp_wmb();
	fp->rx_pkt_burst = port->eth_dev->rx_pkt_burst;
	fp->tx_pkt_burst = port->eth_dev->tx_pkt_burst;
}

/* Sets the mbuf field of timestamps in queues that were set up without the offload, permanently. */
static int
rx_field_set(struct mlxpmd_port *port)
{
	struct mlxpmd_queue *q;
	uint64_t flag;
	int offset;

	if (rte_mbuf_dyn_rx_timestamp_register(&offset, &flag) != 0)
		return MLXPMD_FAIL(rte_errno, "port %u: timesync: no free field in the mbuf for timestamps: %s",
				   port->port_id, rte_strerror(rte_errno));
	TAILQ_FOREACH(q, &port->queues[MLXPMD_RX], next) {
		mlxpmd_rxq_of(q)->ts_flag = flag;
		mlxpmd_rxq_of(q)->ts_offset = offset;
	}
	return 0;
}

/*
 * Receive queues whose completions are compressed get new CQs, by a repair. Before other bursts are selected: a queue
 * that was requested receives no packet until it has its new CQ, whichever burst polls it.
 */
static void
uncompress(struct mlxpmd_port *port)
{
	struct mlxpmd_queue *q;

	if (!port->running || port->mini_cqe == MDV_MINI_CQE_NONE)
		return;
	(void)mlxpmd_mini_cqe_select(port);
	TAILQ_FOREACH(q, &port->queues[MLXPMD_RX], next)
		mlxpmd_queue_request(q, MLXPMD_CAUSE_FORMAT);
}

int
mlxpmd_timesync_enable(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	if (!has_time(port))
		return MLXPMD_FAIL(ENOTSUP, "port %u: timesync: %s", port->port_id,
				   port->clock == NULL ? "the port has no clock" :
				   "clock=raw counts ticks: allowed are the other sources");
	pthread_mutex_lock(&port->lock);
	rc = rx_field_set(port);
	if (rc == 0 && !port->timesync.on) {
		boxes_clear(&port->timesync);
		port->timesync.on = true;
		uncompress(port);
		bursts_change(port);
	}
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_timesync_disable(struct rte_eth_dev *eth_dev)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	pthread_mutex_lock(&port->lock);
	if (port->timesync.on) {
		port->timesync.on = false;
		bursts_change(port);
		boxes_clear(&port->timesync);
	}
	pthread_mutex_unlock(&port->lock);
	return 0;
}
