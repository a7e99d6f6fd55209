/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Queues in plain memory with a small device behind them that is written from the PRM alone, byte by byte:
 * it shares no header, constant or code with the bursts under test.
 */
#ifndef BURST_RIG_H
#define BURST_RIG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlxpmd.h"
#include "mlxpmd_clock.h"
#include "mlxpmd_rx.h"
#include "mlxpmd_tx.h"
#include "../await.h"
#include "../check.h"

/** Starts EAL without a device; exits on failure. */
void rig_init(void);
/** Ends EAL; then as check_exit(). */
int rig_end(const char *name);

/* ---- stand-in for the common layer ---- */
extern struct mdv_dev rig_mdv;
/** Memory registered with the emulated device, which accesses no other. */
#define RIG_RANGES 8
struct rig_range {
	uintptr_t start, end;
	uint32_t lkey;	/* Host order. */
};
extern struct rig_range rig_ranges[RIG_RANGES];
extern unsigned int rig_nb_ranges;
extern uint32_t rig_generation;
extern unsigned int rig_mempool_calls;	/**< mdv_mr_mempool() calls. */
extern unsigned int rig_mempool_parts;	/**< Number of ranges of each mempool. */
extern bool rig_mempool_fails;
void rig_ranges_clear(void);
void rig_range_add(const void *addr, size_t bytes, uint32_t lkey);
extern struct mdv_clock_state rig_clock_state; /**< Result of each refresh. */
extern int rig_clock_rc, rig_clock_open_rc;
extern pthread_mutex_t rig_clock_mutex;
/** Change rig_clock_state or rig_clock_rc while the control thread may read them in a refresh. */
#define RIG_CLOCK(change) do { \
	pthread_mutex_lock(&rig_clock_mutex); \
	rig_clock_##change; \
	pthread_mutex_unlock(&rig_clock_mutex); \
} while (0)
extern unsigned int rig_clock_refreshes;
extern int rig_clocks_open;	/**< Opened and not closed. */
extern void (*rig_clock_hook)(void);	/**< Called in each refresh, unless NULL. */
extern uint64_t rig_cycles;
extern unsigned int rig_cycles_read;
extern int rig_thread_rc;	/**< If not 0, starting a thread returns it. */
extern unsigned int rig_memory_fails_at; /**< This allocation of the driver fails, 1: the next one; 0: none. */
extern int rig_memory_live;	/**< Allocations of the driver that were not released. */
extern uint16_t rig_rs_thresh;	/**< tx_rs_thresh of new send queues. */

struct rte_mempool *rig_pool(const char *name, unsigned int n, unsigned int cache, uint16_t room);
void rig_pool_free(struct rte_mempool *mp);
/** Allocates all mbufs but `left`; rig_pool_release() frees them. */
void rig_pool_leave(struct rte_mempool *mp, unsigned int left);
void rig_pool_release(struct rte_mempool *mp);

/** Memory, not zeroed, in front of an inaccessible page: an access beyond the end of the ring is a SIGSEGV. */
uint8_t *rig_ring_new(size_t bytes);
void rig_ring_free(uint8_t *ring, size_t bytes);

uint32_t rig_random(void);

/* ---- bursts under test, by instruction set ---- */
/** Initially the scalar ones; set by RIG_EACH. */
extern const struct mlxpmd_variant *rig_variant;
/** Selects the first, or next, variant that the CPU supports and prints it. false: none is left, scalar is selected. */
bool rig_variant_first(void);
bool rig_variant_next(void);
/** Executes the following statement once per variant. */
#define RIG_EACH \
	for (bool more = rig_variant_first(); more; more = rig_variant_next())
/** The variant's burst for these features; as the driver the scalar one if it has none. */
eth_rx_burst_t rig_function(bool tx, unsigned int f);

/* ---- what bursts must not do (rig_watch.c) ---- */
/** Before and after each burst: it failed if it allocated, logged, locked or entered the kernel meanwhile. */
void rig_watch_begin(void);
void rig_watch_end(uintptr_t burst, uint16_t n);
/** Stops (false) or continues the watch in a function of the common layer; returns what was before. */
bool rig_watch_pause(bool on);
/** Each kind of burst that returned packets is short. */
void rig_watch_check(void);

/* ---- receive ---- */
struct rig_rx {
	struct mlxpmd_rxq rxq;
	struct mlxpmd_port port;
	uint8_t *cq, *rq;
	uint32_t dbrec[2], rq_dbrec;
	uint32_t cqe_count;	/* The device's counters. */
	uint16_t wqe_count;
	unsigned int out_of_buffer;
	union rte_eth_rxseg split[32];
};
/** Header fields of one completion (PRM, CQE). */
struct rig_rx_cqe {
	uint8_t pkt_info, hash_type, hds, etc;
	uint32_t hash, tag, meta;
	uint16_t vlan, wqe_id;
	uint64_t ts;
	uint8_t opcode;		/* 0: RESP_SEND. */
	struct {
		uint8_t flags, ttl, sum[2], segs;
		uint16_t window;
		uint32_t ack;
	} lro;
};
/** Layout of compressed CQEs in queues that are created from now on; initially the basic one. */
extern bool rig_enhanced;
struct rig_rx *rig_rx_new(uint8_t log_wqes, uint8_t log_segs, uint8_t log_cqes, struct rte_mempool *mp,
			  uint64_t offloads, struct mlxpmd_clock *clock);
/** A queue with buffer split: its WQEs have 1 << log_segs of these segments, which the last ones may not describe. */
struct rig_rx *rig_rx_split_new(uint8_t log_wqes, uint8_t log_segs, const struct rte_eth_rxseg_split *split, uint16_t n,
				uint64_t offloads);
void rig_rx_free(struct rig_rx *r);
/** Frees a disarmed queue and its rings. */
void rig_rx_release(struct rig_rx *r);
/** A packet of len bytes with pattern `seq` arrives. false: no WQE is posted. */
bool rig_rx_packet(struct rig_rx *r, uint32_t seq, uint32_t len, const struct rig_rx_cqe *c);
/** Writes a completion and nothing else. */
void rig_rx_cqe(struct rig_rx *r, uint32_t len, uint16_t counter, const struct rig_rx_cqe *c);
void rig_rx_error(struct rig_rx *r, uint8_t syndrome, uint16_t counter);
/**
 * A session of compressed completions: begin, packets, end, which writes title and arrays and no other entry of the CQ;
 * in the enhanced layout the title, which is the first packet's completion, and blocks of one to seven.
 * All fields of a packet's completion that the format does not have must be those of the first packet.
 */
#define RIG_SESSION_MAX 64
struct rig_rx_session {
	uint8_t format;		/* Value of devarg rxq_cqe_comp_en; 5: checksum and stride index. */
	uint32_t n, cqe_count, byte_cnt;
	uint16_t counter;
	struct rig_rx_cqe title;
	uint8_t minis[RIG_SESSION_MAX * 8];
};
void rig_rx_session_begin(struct rig_rx *r, uint8_t format, struct rig_rx_session *s);
bool rig_rx_session_packet(struct rig_rx *r, struct rig_rx_session *s, uint32_t seq, uint32_t len,
			   const struct rig_rx_cqe *c);
/** Adds a completion and nothing else; stride: the first one of a packet of a striding queue; -1: an ordinary queue. */
void rig_rx_session_add(struct rig_rx *r, struct rig_rx_session *s, uint32_t byte_cnt, int stride,
			const struct rig_rx_cqe *c);
void rig_rx_session_end(struct rig_rx *r, struct rig_rx_session *s);
/** Writes a block of n completions of the enhanced layout and nothing else. */
void rig_rx_block(struct rig_rx *r, const uint8_t *minis, uint32_t n);
/**
 * Checks that entries which the device has not written in this pass are absent, those between the arrays of earlier
 * sessions too.
 */
void rig_rx_entries_check(const struct rig_rx *r);
/** Checks that two mbufs have the same fields. a: the expected one; what: for the message. */
void rig_rx_mbufs_compare(const char *what, const struct rte_mbuf *a, const struct rte_mbuf *b);
/** Is m a well-formed chain, as split is required, that contains the packet with pattern seq and length len? */
bool rig_rx_match(const struct rig_rx *r, const struct rte_mbuf *m, uint32_t seq, uint32_t len);
/** The data of packet `seq`, RIG_DATA_MAX bytes: as different from those of another as random bytes are. */
#define RIG_DATA_MAX 131072
const uint8_t *rig_data(uint32_t seq);
/** A striding queue, and the device's stride within the WQE at wqe_count. */
struct rig_striding {
	struct rig_rx *r;
	uint32_t strides, bytes, used, fillers;
	struct rig_rx_cqe head;	/**< Of packets that arrive; initially zeros. */
	const uint8_t *frame;	/**< Data of packets that arrive; NULL: that of their sequence number. */
	struct rig_rx_session session;	/**< While one is open, completions join it. */
	bool open, crosses;	/**< crosses: a session goes on in another WQE, instead of ending with its WQE. */
};
/** log_wqes at most 7. copy_max as mprq_max_memcpy_len. clock: NULL without timestamps. */
struct rig_striding rig_striding_new(struct rte_mempool *mp, uint8_t log_wqes, uint8_t log_strides, uint8_t log_size,
				     uint32_t copy_max, uint64_t offloads, struct mlxpmd_clock *clock);
void rig_striding_free(struct rig_striding *c);
/** As rig_rx_packet(); a filler comes first if the rest of the WQE is too short. false: no strides are left. */
bool rig_striding_packet(struct rig_striding *c, uint32_t seq, uint32_t len);
void rig_striding_session_begin(struct rig_striding *c, uint8_t format);
void rig_striding_session_end(struct rig_striding *c);
/** Any receive burst. */
static inline uint16_t
rig_rx_call(struct rig_rx *r, eth_rx_burst_t burst, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t got;

	rig_watch_begin();
	got = burst(&r->rxq, pkts, n);
	rig_watch_end((uintptr_t)burst, got);
	return got;
}
static inline uint16_t
rig_rx_burst(struct rig_rx *r, unsigned int f, struct rte_mbuf **pkts, uint16_t n)
{
	return rig_rx_call(r, rig_function(false, f), pkts, n);
}
/** Whether a processor that waits for the next completion (rte_power_monitor()) must not sleep: there is one. */
static inline bool
rig_rx_awake(const struct rig_rx *r)
{
	struct rte_power_monitor_cond cond;

	CHECK(mlxpmd_rx_monitor_addr((void *)(uintptr_t)&r->rxq, &cond) == 0 && cond.size == sizeof(uint64_t),
	      "no address");
	return cond.fn(*(volatile uint64_t *)cond.addr, cond.opaque) != 0;
}

/* ---- transmit ---- */
struct rig_tx {
	struct mlxpmd_txq txq;
	struct mlxpmd_port port;
	uint8_t *cq, *sq;
	uint32_t dbrec[2], sq_dbrec;
	uint64_t db_reg, db_seen;
	uint32_t cqe_count;
	uint16_t executed;	/* WQEBBs that the device executed. */
	uint16_t cqe_requested;	/* Last WQE that requested a completion. */
	bool any_cqe_requested;
	uint64_t timestamp;	/* Of the next completion. */
	unsigned int nb_waits;	/* WAIT WQEs executed. */
	uint64_t wait_value, wait_mask; /* Of the WAIT before the current packet. */
	bool waited;		/* A WAIT precedes the current packet. */
};
/** One packet as the device would put it on the wire. */
struct rig_tx_packet {
	uint8_t data[65536];
	uint32_t len;
	uint32_t inline_bytes;
	uint16_t mss;	/* 0: not to be segmented. */
	uint8_t cs_flags;
	bool vlan_insert;
	uint16_t vlan_tci;
	bool mpw;
	bool copied;		/* The WQE contains the packet. */
	uint32_t metadata;	/* For flows. */
	uint8_t swp[5];		/* The first bytes of the Ethernet segment, and swp_flags. */
};
struct rig_tx *rig_tx_new(uint8_t log_wqebbs, uint16_t nb_desc, uint8_t log_cqes, uint8_t max_ds,
			  uint8_t inline_mode);
void rig_tx_free(struct rig_tx *t);
/** Executes WQEs up to the next packet. false: none is left. complete: writes the requested completions. */
typedef void (*rig_tx_cb)(void *arg, const struct rig_tx_packet *p);
/** Executes all WQEs up to the doorbell record; calls cb for each packet. Returns the number of packets. */
unsigned int rig_tx_run(struct rig_tx *t, bool complete, rig_tx_cb cb, void *arg);
void rig_tx_cqe(struct rig_tx *t, uint8_t opcode, uint8_t syndrome, uint16_t wqe);
static inline uint16_t
rig_tx_burst(struct rig_tx *t, unsigned int f, struct rte_mbuf **pkts, uint16_t n)
{
	eth_tx_burst_t burst = rig_function(true, f);
	uint16_t took;

	rig_watch_begin();
	took = burst(&t->txq, pkts, n);
	rig_watch_end((uintptr_t)burst, took);
	return took;
}
/** Has the packet the data of packet `seq`? tci: with this VLAN tag in it; NULL: without. */
bool rig_tx_match(const struct rig_tx_packet *p, uint32_t seq, const uint16_t *tci);
/** A packet of len bytes with pattern seq in `segs` segments of random sizes. */
struct rte_mbuf *rig_tx_mbuf(struct rte_mempool *mp, uint32_t seq, uint32_t len, unsigned int segs);

#endif /* BURST_RIG_H */
