/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the files of the data path share among themselves. */
#ifndef EMU_DP_INT_H
#define EMU_DP_INT_H

#include <endian.h>

#include <prm.h>

#include "../core/emu_audit.h"
#include "dp_parse.h"
#include "dp_rss.h"
#include "emu_dp_table.h"
#include "emu_dp.h"
#include "emu_dp_why.h"

#define DP_WQEBB_BYTES 64u
#define DP_SEG_BYTES 16u
#define DP_MAX_DS 63u
/* Frames that no MTU of any profile allows; also what offsets of the parser can hold. */
#define DP_MAX_FRAME 16384u
/** Packets that LRO makes: byte_cnt of a striding RQ's completion has 16 bits for the length. */
#define DP_MAX_MERGED 65535u
#define DP_MAX_MESSAGE (1u << EMU_DP_LOG_MAX_LSO)

#define DP_LIKELY(x) __builtin_expect(!!(x), 1)
#define DP_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct dp_sq;
struct dp_comp;
struct dp_done;
struct dp_lro;
struct dp_uar;

/** A moment of true time: emu_mono_ns(), and 2^-32 of a nanosecond. */
struct dp_instant {
	uint64_t ns;
	uint32_t frac;
};

/** State of the machine: the engine processes one frame at a time. */
struct dp_shared {
	struct emu_machine *machine;
	pthread_t thread;
	bool running;
	uint64_t mono_ns; /**< Host time of the present batch. */
	uint64_t due_ns;  /**< Earliest time at which a waiting queue continues. */
	const struct dp_instant *flight; /**< Departure of the frame being delivered; NULL: now. */
	uint64_t clock_tsc; /**< TSC when the clock pages were last refreshed. */
	TAILQ_HEAD(, dp_comp) compressing; /**< Sessions of all ports that are open. */
	TAILQ_HEAD(, dp_lro) merging;	   /**< The same of LRO. */
	uint8_t frame[DP_MAX_FRAME + 64];     /**< Gathered or changed frame. */
	uint8_t message[DP_MAX_MESSAGE + 64]; /**< Gathered LSO payload. */
};

/** State of a port: dev->dp. */
struct dp_port {
	struct emu_dev *dev;
	struct dp_shared *shared;
	TAILQ_HEAD(, dp_uar) uars;    /**< Doorbell pages that a queue uses. */
	TAILQ_HEAD(dp_sq_head, dp_sq) active; /**< SQs with work. */
	TAILQ_HEAD(, dp_cq) timed;    /**< CQs whose event waits for its period to end. */
	TAILQ_HEAD(, dp_rq) failed;   /**< RQs in ERR: newly posted WQEs are flushed. */
	struct dp_instant rx, tx;     /**< End of the last frame's arrival, departure. */
	struct emu_clock_point now;   /**< The clock at the batch's time, taken when needed. */
	uint64_t ns_per_byte_q32;     /**< Wire time of a byte. */
	uint32_t tick_ns;	      /**< One tick of the device's clock, rounded up. */
	struct dp_capture *capture;   /**< NULL: none. */
	uint64_t pause_ns;	      /**< It sends nothing until then; 0: no pause frame was obeyed. */
	bool tx_ruled;		      /**< There are rules for sent packets. */
	uint8_t rx_tunnels, tx_tunnels; /**< DP_TUNNEL_* that its parsers know. */
};

/** Doorbell page: obj.dp of an emu_uar. */
struct dp_uar {
	struct emu_uar *uar;
	TAILQ_HEAD(, dp_sq) sqs;
	TAILQ_HEAD(, dp_cq) cqs;
	TAILQ_HEAD(, dp_eq) eqs; /**< Of VFIO contexts only. */
	TAILQ_ENTRY(dp_uar) next;
};

/** obj.dp of an emu_eq. */
struct dp_eq {
	struct emu_eq *eq;
	struct dp_uar *uar;
	TAILQ_ENTRY(dp_eq) next;
};

/**
 * The key that a queue used last, copied when it was looked up. While mkey_changes stays, it is what it was.
 * Each access is checked in full. Without rights: none yet.
 */
struct dp_key {
	uint32_t key, changes; /**< dev->mkey_changes when it was looked up. */
	uint32_t pd;
	bool read, write;
	uint64_t start, len, host;
};

/** obj.dp of an emu_cq. */
struct dp_cq {
	struct emu_cq *cq;
	struct dp_uar *uar;
	uint32_t ci;	 /**< Consumer index last read. */
	uint32_t size;	 /**< CQEs of the ring. */
	bool plain;	 /**< One CQE of 64 bytes each, in their own entries: neither compressed nor collapsed. */
	bool armed, solicited_only;
	bool was_armed;	 /**< Armed at least once. */
	int fired_sn;	 /**< Arm sequence number that led to the last event; -1: none. */
	uint32_t unnotified; /**< Completions since the last event, while armed. */
	bool timed;
	uint64_t notify_ns;
	TAILQ_ENTRY(dp_cq) in_timed;
	struct dp_comp *comp; /**< Of a CQ that compresses; NULL: not. */
	TAILQ_ENTRY(dp_cq) next;
};

/** obj.dp of an emu_sq. */
struct dp_sq {
	struct emu_sq *sq;
	struct dp_uar *uar;
	bool active;
	bool failed;	       /**< The first error was completed: later ones are flushes. */
	uint8_t ringing;       /**< --order relaxed: passes until the doorbell is served; 0: it did not ring. */
	struct dp_key key;
	uint16_t seen_pi;      /**< Doorbell record when the queue became ready or last rang. */
	uint32_t frames_done;  /**< Frames of the WQE at ci that are on the wire already. */
	bool waiting;	       /**< The WQE at ci is a WAIT whose time has not come, */
	uint64_t due_ns;       /**< which is this (0: unknown), */
	uint64_t look_ns;      /**< and is looked at again then. */
	uint16_t due_pi;       /**< What had been posted when it was looked at before that time. */
	bool paced;	       /**< WQEs before due_pi were held up by the rate limit: they leave at their time. */
	struct dp_instant pace; /**< End of the time that the frames sent take at the limit's rate. */
	uint64_t depart_ns;    /**< The last WAIT ended then; 0: it did not hold anything up. */
	TAILQ_ENTRY(dp_sq) in_uar, in_active;
};

struct dp_check_rq;
struct dp_capture;

/** obj.dp of an emu_rq. */
struct dp_rq {
	struct emu_rq *rq;
	struct dp_check_rq *check; /**< When buffers are watched (dp_check.c). */
	struct dp_lro *lro;	   /**< NULL: no segment was merged yet. */
	uint32_t wqes, stride;	   /**< Of the ring, and bytes of one. */
	struct dp_key key;
	bool failed;
	TAILQ_ENTRY(dp_rq) in_failed;
};

static inline struct dp_port *
dp_port_of(const struct emu_dev *dev)
{
	return dev->dp;
}

/** Largest frame without FCS that the port sends and takes: MTU plus Ethernet and one tag. */
static inline uint32_t
dp_frame_limit(const struct emu_dev *dev)
{
	return dev->vport.mtu + DP_ETH_BYTES + DP_VLAN_BYTES;
}

struct dp_piece {
	const uint8_t *data;
	uint32_t len;
};

/* dp_dma.c */
/** Looks the key up and caches it; parameters and result as emu_dma(). */
void *dp_dma_find(struct dp_key *k, struct emu_dev *dev, uint32_t pd, uint32_t key, uint64_t addr,
		  uint32_t len, enum emu_dma_dir dir);
/** emu_dma() by the key used last; NULL: another key, or it refuses. Nothing is noted. */
static inline void *
dp_dma_known(const struct dp_key *k, const struct emu_dev *dev, uint32_t pd, uint32_t key,
	     uint64_t addr, uint32_t len, enum emu_dma_dir dir)
{
	uint64_t off = addr - k->start;

	if (DP_UNLIKELY(k->key != key || k->changes != dev->mkey_changes || k->pd != pd || off > k->len ||
			len > k->len - off || !(dir == EMU_DMA_WRITE ? k->write : k->read)))
		return NULL;
	return (void *)(uintptr_t)(k->host + off);
}
/** emu_dma() for a queue, which uses one key as a rule: all checks, no search. */
static inline void *
dp_dma(struct dp_key *k, struct emu_dev *dev, uint32_t pd, uint32_t key, uint64_t addr,
       uint32_t len, enum emu_dma_dir dir)
{
	void *at = dp_dma_known(k, dev, pd, key, addr, len, dir);

	return DP_LIKELY(at != NULL) ? at : dp_dma_find(k, dev, pd, key, addr, len, dir);
}
/** memcpy() for what frames are most often: short. */
static inline void
dp_copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
	if (DP_UNLIKELY(len < 32 || len > 128)) {
		memcpy(to, from, len);
		return;
	}
	/* Two halves that overlap in the middle. */
	memcpy(to, from, 32);
	if (len > 64) {
		memcpy(to + 32, from + 32, 32);
		memcpy(to + len - 64, from + len - 64, 32);
	}
	memcpy(to + len - 32, from + len - 32, 32);
}

/* dp_uar.c */
/** The page's state, made at first use; NULL without memory. */
struct dp_uar *dp_uar_get(struct emu_uar *uar);
/** Looks at every doorbell register of the port. */
void dp_uar_scan(struct dp_port *port);
void dp_uar_forget(struct emu_uar *uar);

/* dp_cq.c */
struct dp_cq *dp_cq_get(struct emu_cq *cq);
/**
 * Begins a completion: its place in the ring, cleared but for the last 8 bytes, which still say
 * that it is not the program's. NULL when the CQ is in error or just overran.
 */
struct prm_cqe64 *dp_cq_begin(struct emu_cq *cq);
/**
 * Hands it over: the last 8 bytes, owner bit included, in one store.
 * @param qpn_dword the dword with opcode and qpn, or with the flow tag; host order.
 * @param solicited raises an event also when only solicited ones are wanted.
 */
void dp_cq_end(struct emu_cq *cq, struct prm_cqe64 *cqe, uint32_t qpn_dword, uint16_t wqe_counter,
	       uint8_t opcode, bool solicited);
/** dp_cq_end() of a CQE with other bits of op_own set than opcode and owner. */
void dp_cq_end_format(struct emu_cq *cq, struct prm_cqe64 *cqe, uint32_t qpn_dword, uint16_t wqe_counter,
		      uint8_t opcode, uint8_t format, bool solicited);
/** The end of both: last has the last 8 bytes, host order. */
void dp_cq_hand_over(struct emu_cq *cq, struct prm_cqe64 *cqe, uint64_t last, bool solicited);
/** Where a CQE holds data: up to 32 bytes in its head, up to 64 in the other half of a 128-byte entry. */
static inline uint8_t *
dp_cqe_data(struct prm_cqe64 *cqe, unsigned room)
{
	return (uint8_t *)(room == sizeof(*cqe) ? cqe - 1 : cqe);
}
/** Bits of op_own for data in that place; room 0: none. */
static inline uint8_t
dp_cqe_data_format(unsigned room)
{
	return (room == 0 ? PRM_CQE_FORMAT_NO_INLINE
		: room == 32 ? PRM_CQE_FORMAT_INLINE_32 : PRM_CQE_FORMAT_INLINE_64) << 2;
}
/** CQEs were handed over: moves the producer, wakes the program. */
void dp_cq_written(struct emu_cq *cq, uint32_t n, bool solicited);
/** --order relaxed, see dp_order.c. */
extern bool dp_relaxed EMU_OWN;
/**
 * dp_cq_begin() of a plain CQ with room for one more CQE, by the consumer index last read. NULL: call dp_cq_begin(),
 * which reads the index again and handles all other CQs.
 */
static inline struct prm_cqe64 *
dp_cq_begin_plain(const struct emu_cq *cq)
{
	const struct dp_cq *c = cq->obj.dp;
	struct prm_cqe64 *cqe;

	if (DP_UNLIKELY(c == NULL || !c->plain || cq->err || dp_relaxed || ((cq->pi - c->ci) & c->size) != 0))
		return NULL;
	cqe = (struct prm_cqe64 *)cq->ring + (cq->pi & (c->size - 1));
	memset(cqe, 0, offsetof(struct prm_cqe64, sop_drop_qpn));
	return cqe;
}
/** dp_cq_end() of what dp_cq_begin_plain() has begun, while no fault rule applies to CQEs. */
static inline void
dp_cq_end_plain(struct emu_cq *cq, struct prm_cqe64 *cqe, uint32_t qpn_dword, uint16_t wqe_counter, uint8_t opcode)
{
	const struct dp_cq *c = cq->obj.dp;
	uint64_t last = (uint64_t)qpn_dword << 32 | (uint64_t)wqe_counter << 16 | (uint8_t)(opcode << 4) |
			((cq->pi & c->size) != 0);

	/* Release: a reader that sees the new owner bit sees the whole CQE. */
	atomic_store_explicit((_Atomic uint64_t *)(void *)&cqe->sop_drop_qpn, htobe64(last), memory_order_release);
	cq->obj.dev->stats.cqes++;
	if (DP_UNLIKELY(c->armed)) {
		dp_cq_written(cq, 1, false);
		return;
	}
	cq->pi++;
	__builtin_prefetch((struct prm_cqe64 *)cq->ring + (cq->pi & (c->size - 1)), 1);
}
/**
 * op_own of error CQEs without the owner bit: opcode and SE (solicited event). Cards set SE in those of an SQ and of a
 * QP (nvme/rdma: linux-rdma list, Oliveira, 2022-02-09), and not in those of an RQ (mlx5e: linux-rdma list, Toukan,
 * 2025-03-23 and 2025-11-04).
 */
enum {
	DP_CQE_SE = 1 << 1,
	DP_CQE_ERR_SQ = PRM_CQE_OPCODE_REQ_ERR << 4 | DP_CQE_SE,
	DP_CQE_ERR_QP_RECV = PRM_CQE_OPCODE_RESP_ERR << 4 | DP_CQE_SE,
	DP_CQE_ERR_RQ = PRM_CQE_OPCODE_RESP_ERR << 4,
};
/** Error completion; op_own is one of DP_CQE_ERR_*, vendor 0 takes the vendor syndrome that cards write. */
bool dp_cq_write_error(struct emu_cq *cq, uint8_t op_own, uint32_t opcode_qpn, uint32_t user_index,
		       uint16_t wqe_counter, uint8_t syndrome, uint8_t vendor);
/** The arm register of the page changed: db is its content. */
void dp_cq_arm(struct dp_uar *uar, uint64_t db, bool exact);
/** An arm doorbell that was taken before comes once more with the same word. */
void dp_cq_arm_again(struct emu_cq *cq, uint32_t word);
void dp_cq_forget(struct emu_cq *cq);
/** Raises the events whose time has come. */
void dp_cq_tick(struct dp_port *port);
/** True when there is room for one more CQE behind `ahead` that are not written yet. */
bool dp_cq_has_room(struct emu_cq *cq, uint32_t ahead);
/** Address of the CQE `ahead` places after the next one. */
struct prm_cqe64 *dp_cq_place(const struct emu_cq *cq, uint32_t ahead);
/** Pass of the ring, for the tail of the next CQE: owner bit, and in the enhanced layout the number of the pass. */
static inline uint64_t
dp_cq_pass(const struct emu_cq *cq)
{
	uint32_t pass = cq->pi >> cq->log_size;

	return (pass & 1) | (cq->enhanced ? (pass & 0xff) << 8 : 0);
}
/** Enhanced layout: the place `ahead` of the next CQE must not have the number of the pass before it is written. */
void dp_cq_invalidate(const struct emu_cq *cq, uint32_t ahead);
/** Ends the compressed session of a CQ, if it compresses. */
void dp_cq_close(struct emu_cq *cq);
/** Notes that the CQ overran: it is in error from now on. */
void dp_cq_overrun(struct emu_cq *cq);

/* dp_comp.c */
/** The session of a CQ that may compress. NULL: no memory. */
struct dp_comp *dp_comp_new(struct emu_cq *cq);
/** Writes what the session holds; a CQE that is not compressed comes next. */
void dp_comp_close(struct dp_comp *s);
/** Writes what the sessions of all ports hold: a card's timer, which ends sessions that nothing joins any more. */
void dp_comp_flush_all(struct dp_shared *shared);
/** Forgets what the session holds and frees it. */
void dp_comp_free(struct dp_comp *s);
/**
 * Takes a receive completion, complete but for its owner: it opens a session, joins the open one,
 * or goes out alone.
 * @param d the packet's place, and whether its CQE must be read as it is.
 * @return false when the CQ overran.
 */
bool dp_comp_add(struct dp_comp *s, uint32_t rqn, const struct prm_cqe64 *cqe, const struct dp_done *d);

/* dp_order.c: completions and events that become visible late; call these functions only if dp_relaxed is set. */
/** Memory for the next CQE, zeroed, with the other half of a 128-byte entry before it. */
struct prm_cqe64 *dp_order_stage(void);
/** Posts a CQE for its place in the ring, with the other half of its entry if the CQ writes that. */
void dp_order_cqe(const struct emu_cq *cq, struct prm_cqe64 *to, const struct prm_cqe64 *from);
/** Writes the number of a pass into a CQE's place. */
void dp_order_number(const struct emu_cq *cq, struct prm_cqe64 *to, uint8_t pass);
/** Writes 64 bytes now, in ascending order. */
void dp_order_line(void *to, const void *from);
/** Posts the event of a CQ. */
void dp_order_event(struct emu_cq *cq, struct prm_eqe *eqe);
/** Passes until a doorbell is served, possibly 0. */
uint8_t dp_order_doorbell(void);
/** Once per pass of the engine: makes some writes visible. Returns 1 if there were any. */
unsigned dp_order_pass(void);

/* dp_eq.c */
/** emu_dp_event() behind the writes posted before. */
void dp_event_now(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, void *eqe);
/** Writes an event, and interrupts when the EQ is armed. False: it takes no more. */
bool dp_eq_write(struct emu_eq *eq, const struct prm_eqe *eqe);
/** A store into the page, seen as such. False: not into a register of the EQs. */
bool dp_eq_store(struct dp_uar *u, unsigned offset, uint32_t db);
void dp_eq_forget(struct emu_eq *eq);

/* dp_unmapped.c */
/** The device accessed unmapped memory of obj: audit and event, unless *reported is set. */
void dp_unmapped_met(struct emu_obj *obj, bool *reported);

/* dp_sq.c */
/** A doorbell for sqn rang on the page; exact: and no other before it that was not seen. */
void dp_sq_ring(struct dp_uar *uar, uint32_t sqn, bool exact);
/** Serves the doorbells that wait, before a command. */
void dp_sq_serve(struct dp_port *port);
/** Looks at the producer counter in the doorbell record. */
void dp_sq_take(struct dp_sq *q);
/** Works on the SQ for about budget frames; returns frames and WQEs done. */
unsigned dp_sq_run(struct dp_sq *q, unsigned budget);
void dp_sq_forget(struct emu_sq *sq);

/* dp_rq.c */
/** A completion-worthy problem with an RQ that stops it. */
void dp_rq_flush(struct emu_rq *rq);
static inline uint16_t
dp_rq_posted(const struct emu_rq *rq)
{
	return (uint16_t)(be32toh(rq->dbrec[0]) - rq->ci);
}
void dp_rq_forget(struct emu_rq *rq);

/** What the receive side found out about a frame on its way to an RQ. */
struct dp_rx {
	const struct dp_pkt *pkt;
	uint32_t hash, flow_tag;
	uint8_t hash_type;
	bool tunneled; /**< Report the inner headers. */
	uint8_t lro_segs; /**< Number of segments, with lro. */
	const struct dp_lro *lro; /**< The session that made the packet; NULL: none. */
};
/** Delivers to an RQ that has a WQE posted, with its completion. */
void dp_rq_deliver(struct emu_rq *rq, const struct dp_rx *rx);

/** The bytes to deliver, in up to three parts: a stripped tag leaves a gap, the FCS follows. */
struct dp_source {
	unsigned n, now;
	uint32_t bytes;
	struct dp_piece part[3];
	uint8_t fcs[4];
};
/** Where a frame was written, for its completion. */
struct dp_done {
	uint32_t byte_cnt; /**< As the CQE has it, strides included. */
	uint16_t wqe_id, counter;
	bool stripped;
	bool alone; /**< Not to be compressed with others. */
};
/* What kinds of receive queue share. */
/** Finds what of the frame is written for this queue; true when the tag is stripped. */
bool dp_rq_source(struct dp_source *s, const struct emu_rq *rq, const struct dp_pkt *pkt);
/** Bytes that a WQE's segments hold, as far as they matter. */
uint64_t dp_rq_capacity(const struct prm_rq_wqe *seg, unsigned segs, uint32_t enough);
/** Writes the source into the segments, from byte skip on; false when a key refuses. */
bool dp_rq_scatter(struct emu_rq *rq, const struct prm_rq_wqe *seg, uint32_t skip,
		   struct dp_source *s);
/** Completes a frame; false when the CQ is in error. */
bool dp_rq_complete(struct emu_rq *rq, const struct dp_rx *rx, const struct dp_done *d);
/** An error completion for the WQE at ci, which is used up. vendor 0: the usual vendor syndrome. */
void dp_rq_refuse(struct emu_rq *rq, uint8_t syndrome, uint8_t vendor);
/** To ERR, with everything posted flushed. */
void dp_rq_stop(struct emu_rq *rq);
void dp_rq_count(struct emu_rq *rq, uint32_t bytes);

/** Bytes of the longest frame for which there is a WQE, or strides; at most `enough`. */
uint32_t dp_rq_largest(const struct emu_rq *rq, uint32_t enough);

/* dp_mprq.c */
/** dp_rq_largest() of a striding RQ with WQEs. */
uint32_t dp_mprq_largest(const struct emu_rq *rq);
/** dp_rq_deliver() of a striding RQ. */
void dp_mprq_deliver(struct emu_rq *rq, const struct dp_rx *rx);
/** Whether the posted WQEs have strides for a frame of len bytes. */
bool dp_mprq_has_room(const struct emu_rq *rq, const struct dp_pkt *pkt);
/** True when the RQ can take the frame now. */
static inline bool
dp_rq_has_room(const struct emu_rq *rq, const struct dp_pkt *pkt)
{
	return dp_rq_posted(rq) != 0 && (!rq->striding || dp_mprq_has_room(rq, pkt));
}

/* dp_rx.c */
/** Counts a frame for which there is no WQE; rq may be NULL. */
void dp_rx_out_of_buffer(struct emu_dev *dev, struct emu_rq *rq);

/* dp_lro.c */
/**
 * Whether a frame that a TIR with LRO sends to the RQ is a segment for a session: then call dp_lro_add(). If not, the
 * session that was open has ended.
 */
bool dp_lro_wants(struct emu_rq *rq, const struct emu_tir *tir, const struct dp_rx *rx);
/** Adds the segment to the RQ's session, which begins with the first one. */
void dp_lro_add(struct emu_rq *rq, const struct emu_tir *tir, const struct dp_rx *rx);
/** Delivers what the session of the RQ has; rq->merging is set. */
void dp_lro_end(struct emu_rq *rq);
/** Ends sessions whose time has passed. idle: the engine's pass had no work. */
void dp_lro_tick(struct dp_shared *shared, bool idle);
/** Sets the fields of a completion that differ for a packet of a session. */
void dp_lro_describe(struct prm_cqe64 *cqe, const struct emu_rq *rq, const struct dp_rx *rx);
/** Forgets the session of an RQ, and frees its memory. */
void dp_lro_drop(struct dp_rq *q);
void dp_lro_free(struct dp_rq *q);

/* dp_wqe.c */
enum dp_exec { DP_DONE, DP_HOLD, DP_ERROR };

/** The WQE being executed. */
struct dp_wqe {
	struct dp_sq *q;
	struct emu_sq *sq;
	struct dp_port *port;
	uint8_t opcode, opc_mod, ds, ce;
	bool solicited;
	uint32_t imm;		     /**< As in the control segment, big-endian. */
	uint16_t index;		     /**< Its first WQEBB, running counter. */
	uint64_t depart_ns;	     /**< Its frames leave from then on; 0: now. */
	uint32_t pos, end;	     /**< Unread part in bytes from the ring's start, unwrapped. */
	uint8_t cs_flags;
	uint16_t mss;
	bool vlan_insert, swp_on;    /**< swp_on: any field of swp is set. */
	uint16_t vlan_tpid, vlan_tci;
	struct dp_swp swp;	     /**< With swp_on. */
	uint32_t metadata;	     /**< flow_table_metadata of the Ethernet segment, big-endian. */
	uint32_t frames;	     /**< Put on the wire or dropped behind it. */
	uint64_t bytes;
	uint32_t reads;		     /**< DMA reads of data, and their bytes. */
	uint64_t read_bytes;
	uint8_t syndrome, vendor;    /**< When DP_ERROR. */
	uint8_t cqe_room;	     /**< Not 0: the CQE gets the answer to a read or atomic, up to this size. */
	const void *answer;
};

/* Each segment gives one piece, two where it wraps at the ring's end; and the inline header. */
#define DP_MAX_PIECES (2 * (DP_MAX_DS + 1))
struct dp_pieces {
	unsigned n;
	uint32_t bytes;
	struct dp_piece piece[DP_MAX_PIECES];
};
/* Not an initializer: that would clear the whole array for every WQE. */
static inline void
dp_pieces_init(struct dp_pieces *p)
{
	p->n = 0;
	p->bytes = 0;
}

enum dp_exec dp_wqe_execute(struct dp_wqe *w);
/** Reads the control segment; pos and end then mark what follows it. */
enum dp_exec dp_wqe_read_ctrl(struct dp_wqe *w);
/** Copies the next segment of 16 or 48 bytes; false when the WQE has no more. */
bool dp_wqe_segment(struct dp_wqe *w, void *to, uint32_t bytes);
static inline uint16_t
dp_wqebbs_of(uint8_t ds)
{
	return (uint16_t)((ds + 3u) / 4u);
}
/* dp_sq.c: the steps of a WQE that Ethernet SQs and QPs share. */
void dp_wqe_begin(struct dp_wqe *w, struct dp_sq *q);
void dp_sq_count(struct dp_sq *q, const struct dp_wqe *w);
void dp_sq_complete(struct dp_sq *q, const struct dp_wqe *w);
/** Error completion; the SQ goes to ERR. */
void dp_sq_fail(struct dp_sq *q, const struct dp_wqe *w);
/** At the end of a run: flushes a queue in error, removes one without work from the active list. */
void dp_sq_settle(struct dp_sq *q);
/** Notes why a WQE is refused (audit) and with which syndrome. Returns DP_ERROR. */
enum dp_exec dp_wqe_refuse(struct dp_wqe *w, uint8_t syndrome, const char *why);
/** Reads one data segment, pointer or inline, and appends what it names. */
enum dp_exec dp_wqe_data(struct dp_wqe *w, struct dp_pieces *p, uint32_t limit);
void dp_pieces_copy(uint8_t *to, const struct dp_pieces *p);

/* dp_pause.c */
/** Whether this is a pause frame that the port obeys, also of a priority. It is counted. */
bool dp_pause_begin(struct dp_port *port, const uint8_t *frame, uint32_t len);
/** For a port whose pause_ns is not 0: whether it still may not send. */
bool dp_pause_goes_on(struct dp_port *port);

/* dp_pace.c: for SQs whose rate is limited. */
/** Holds the queue up if it is too early for a frame; else sets the frame's departure. */
bool dp_pace_holds(struct dp_wqe *w, uint32_t len);
/** The frame was sent, or is lost. */
void dp_pace_count(struct dp_wqe *w, uint32_t len);

/* dp_wait.c */
/** Holds the WQE at ci up until due_ns; 0: until it is executed with success at a check. */
void dp_wait_hold(struct dp_sq *q, uint64_t due_ns);
/** Executes a WAIT on time. */
enum dp_exec dp_wait_time(struct dp_wqe *w);
/** True while the queue's WAIT need not be looked at. */
bool dp_wait_goes_on(struct dp_sq *q);
/** When the WQE at index leaves by the last WAIT before it; 0: when the engine comes to it. */
uint64_t dp_wait_departure(struct dp_sq *q, uint16_t index);

/* dp_tx.c */
/** Applies the WQE's offloads to a frame in pieces and sends it. */
enum dp_exec dp_tx_pieces(struct dp_wqe *w, const struct dp_pieces *p);
/** Sends a finished frame, unless it went out before the WQE had to wait. */
enum dp_exec dp_tx_frame(struct dp_wqe *w, const uint8_t *frame, uint32_t len);
/** Finds the headers of a frame that w sends, or of headers alone: by the port's parser, or offsets in the WQE. */
void dp_tx_parse(const struct dp_wqe *w, struct dp_pkt *pkt, const uint8_t *frame, uint32_t len);
/** Inserts the checksums that cs_flags select (infiniband/mlx5dv.h, MLX5_ETH_WQE_L3_CSUM and MLX5_ETH_WQE_L4_CSUM). */
void dp_tx_checksums(uint8_t *frame, const struct dp_pkt *pkt, uint8_t cs_flags);
/* dp_tso.c */
enum dp_exec dp_tso_execute(struct dp_wqe *w, const struct dp_pieces *header);

/* dp_match.c */
/** What rules say of a packet. */
enum dp_dest { DP_DEST_TIR, DP_DEST_DROP, DP_DEST_KERNEL, DP_DEST_UPLINK };
struct dp_steer_result {
	enum dp_dest dest;
	struct emu_tir *tir;
	struct emu_tir *const *also; /**< TIRs that get copies. */
	unsigned also_n;
	bool missed; /**< DP_DEST_DROP: no rule of the last table matched. */
	uint32_t tag;
	struct emu_dev *dev;
	struct dp_changed *changed; /**< Where rules change the packet. */
	const struct dp_pkt *pkt;   /**< The packet as the rules have left it. */
	unsigned counters; /**< Of the rules on its way. */
	struct emu_counts *counter[DP_STEER_DEPTH];
};
/**
 * Looks the packet up in the table and in the tables that matching rules forward it to. v->dev and v->changed have to
 * be set if rules of these tables change packets.
 * @param walk gets the tables; NULL: none.
 */
void dp_table_lookup(struct dp_table *t, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk);

static inline void
dp_steer_count(const struct dp_steer_result *v, uint32_t len)
{
	for (unsigned i = 0; i < v->counters; i++) {
		v->counter[i]->packets++;
		v->counter[i]->bytes += len;
	}
}

/* dp_steer.c */
int dp_steer_init(struct emu_dev *dev);
void dp_steer_fini(struct emu_dev *dev);
/* walk gets the tables that the packet meets, and then no counter changes; NULL: none. */
/** What becomes of an arriving packet; the kernel's when no rule wants it. */
void dp_steer_rx(struct emu_dev *dev, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk);
/** What becomes of a packet that neither a rule nor the kernel's interface takes: rules of type "default". */
void dp_steer_leftover(struct emu_dev *dev, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk);
/** What becomes of a packet that is to be sent: dropped, or sent as v->pkt is. */
void dp_steer_tx(struct emu_dev *dev, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk);
/** In switchdev mode: true when the eswitch sends a frame of this SQ to the uplink. */
bool dp_steer_to_uplink(struct emu_dev *dev, const struct emu_sq *sq, const uint8_t *frame, uint32_t len,
			struct dp_walk *walk);
/** Host time of the last change of rules. */
uint64_t dp_steer_changed_ns(const struct emu_dev *dev);
typedef bool (*dp_rule_cb)(const struct dp_rule *rule, void *arg);
/** Calls cb for the receive rules that a packet can meet until it returns true; whether it did. */
bool dp_steer_any(struct emu_dev *dev, dp_rule_cb cb, void *arg);
/** The TIR's opened key; NULL when it does not hash by Toeplitz or memory ran out. */
const struct dp_toeplitz *dp_tir_key(struct emu_tir *tir);

/* dp_why.c */
/** Writes the headers of the packet. */
void dp_why_headers(struct emu_why *why, const struct dp_pkt *pkt);
/** Writes the headers of the packet that rules made of it. */
void dp_why_changed(struct emu_why *why, const struct dp_pkt *pkt);

/* dp_time.h */
/** Reads the time for the frames that follow; once per batch of a queue or wire. */
void dp_batch_begin(struct dp_shared *shared);

/* dp_check.c: checks of posted receive buffers; call these functions only if dp_check_on is set. */
extern bool dp_check_on EMU_OWN;
/** Reads the receive queues of all ports: consumed WQEs first, then new ones. */
void dp_check_pass(struct emu_machine *m);
/** A frame is about to use the WQE at ci: checks the WQEs posted until now. */
void dp_check_arrival(struct emu_rq *rq);
/** The queue is reset or destroyed: forgets its WQEs. */
void dp_check_forget(struct emu_rq *rq);

/* dp_capture.c: frames of a port with the times of their arrival and departure. */
enum dp_direction { DP_ARRIVED = 1, DP_LEFT = 2 }; /**< As in pcapng, epb_flags. */
/** Writes the frame if this direction is captured. t: when its last bit passed the connector. */
void dp_capture_frame(struct dp_port *port, enum dp_direction direction,
		      const struct dp_instant *t, const uint8_t *frame, uint32_t len);
/** A capture is open: dp_capture_tick() must be called periodically. */
extern bool dp_capture_on;
/** Flushes the files when it is time to. */
void dp_capture_tick(struct dp_shared *shared);
void dp_capture_close(struct dp_port *port);

#endif /* EMU_DP_INT_H */
