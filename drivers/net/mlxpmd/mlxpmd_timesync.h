/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * IEEE 1588 time stamps: a software clock (PHC) per port over the port's clock, and the mailboxes that
 * rte_eth_timesync_read_rx_timestamp() and rte_eth_timesync_read_tx_timestamp() read.
 *
 * PHC time = clock value + offset. Writing and adjusting the time move the offset alone, so that the dynamic
 * timestamp field of mbufs and rte_eth_read_clock() stay in the clock's own domain. The PHC applies at the time
 * of reading: a stamp taken before an adjustment and read after it is in the adjusted time.
 *
 * While timesync is on, the port's receive burst is a wrapper that searches the received packets for PTP messages,
 * and its send burst is a template with MLXPMD_TX_F_TIMED. While it is off none of this code runs.
 */
#ifndef MLXPMD_TIMESYNC_H
#define MLXPMD_TIMESYNC_H

#include <time.h>

#include <rte_mbuf.h>
#include <rte_spinlock.h>

struct rte_eth_dev;
struct mlxpmd_port;
struct mlxpmd_txq;

/**
 * Receive mailboxes. The n-th event message of a burst call goes to mailbox n, those beyond the last to the last.
 * The mbuf's field timesync has the mailbox's number, which the application passes as flags; one that receives
 * packets one by one may pass 0.
 */
#define MLXPMD_TIMESYNC_RX_BOXES 4

typedef uint16_t (*mlxpmd_rx_burst_t)(void *rxq, struct rte_mbuf **pkts, uint16_t n);

enum mlxpmd_stamp_state {
	MLXPMD_STAMP_NONE,
	MLXPMD_STAMP_DUE,	/**< The packet is posted; its completion has not been seen. */
	MLXPMD_STAMP_READY,
};

struct mlxpmd_timesync {
	rte_spinlock_t lock;	/**< Of the mailboxes and the offset. */
	bool on;		/**< Changed under the port's lock. */
	mlxpmd_rx_burst_t rx_burst; /**< Burst that the wrapper calls. */
	int64_t offset_ns;	/**< PHC time less clock value. Atomic for readers without the lock. */
	struct {
		uint64_t ns;	/**< Clock value. */
		bool ready;
	} rx[MLXPMD_TIMESYNC_RX_BOXES];
	/** Of the last packet with RTE_MBUF_F_TX_IEEE1588_TMST: an earlier stamp that was not read is lost. */
	struct {
		enum mlxpmd_stamp_state state;
		uint16_t wqe;	/**< WQE index of its completion, while DUE. */
		const struct mlxpmd_txq *txq;
		uint64_t ns;	/**< Clock value, when READY. */
	} tx;
	uint64_t rx_stamps, tx_stamps;	/**< Stored in the mailboxes. */
	uint64_t rx_absent, tx_absent;	/**< Packets without a usable stamp. */
};

/* ---- ethdev operations ---- */
int mlxpmd_timesync_enable(struct rte_eth_dev *eth_dev);
int mlxpmd_timesync_disable(struct rte_eth_dev *eth_dev);
int mlxpmd_timesync_read_rx(struct rte_eth_dev *eth_dev, struct timespec *ts, uint32_t flags);
int mlxpmd_timesync_read_tx(struct rte_eth_dev *eth_dev, struct timespec *ts);
int mlxpmd_timesync_adjust(struct rte_eth_dev *eth_dev, int64_t delta_ns);
int mlxpmd_timesync_read_time(struct rte_eth_dev *eth_dev, struct timespec *ts);
int mlxpmd_timesync_write_time(struct rte_eth_dev *eth_dev, const struct timespec *ts);

/* ---- for the choice of bursts ---- */
/** The receive burst of the port: `burst` itself unless timesync is on. */
mlxpmd_rx_burst_t mlxpmd_timesync_rx_wrap(struct mlxpmd_port *port, mlxpmd_rx_burst_t burst);

/* ---- for the send path ---- */
/** The WQE at txq->stamp_wqe was posted for a packet with a requested stamp: it occupies the mailbox. */
void mlxpmd_timesync_tx_sent(struct mlxpmd_txq *txq);
/** Its completion has this device timestamp. */
void mlxpmd_timesync_tx_done(struct mlxpmd_txq *txq, uint64_t stamp);
/** Its completion will not arrive: the queue is reset or stopped. */
void mlxpmd_timesync_tx_forget(struct mlxpmd_txq *txq);

#endif /* MLXPMD_TIMESYNC_H */
