/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The data path: runs the queues of all ports in one engine thread. */
#ifndef EMU_DP_H
#define EMU_DP_H

#include "../core/emu_obj.h"

struct prm_eqe;

/** log2 of the largest LSO message (opcode TSO) in bytes: what max_lso_cap may advertise. */
#define EMU_DP_LOG_MAX_LSO 18u
/** Completions of one compressed session: what cqe_compression_max_num may advertise. */
#define EMU_DP_COMP_MAX 64u
/** Striding RQ: log2 of the strides of a WQE, of a stride's bytes, and of the least product. */
#define EMU_DP_LOG_STRIDES_MIN 3u
#define EMU_DP_LOG_STRIDES_MAX 16u
#define EMU_DP_LOG_STRIDE_BYTES_MIN 6u
#define EMU_DP_LOG_STRIDE_BYTES_MAX 13u
#define EMU_DP_LOG_STRIDE_WQE_MIN 14u

/** Flow tables that programs make: levels 0 .. n - 1, log2 of a table's entries, of tables, of all entries. */
#define EMU_DP_FT_LEVELS 64u
#define EMU_DP_LOG_FT_ENTRIES 22u
#define EMU_DP_LOG_FT_TABLES 10u
#define EMU_DP_LOG_FT_FLOWS 22u

/** Prepares per-port state (dev->dp, dev->steer). 0 or -errno. */
int emu_dp_init(struct emu_machine *m);
/** Starts the engine thread (all signals blocked but those of faults, affinity to all CPUs). 0 or -errno. */
int emu_dp_start(struct emu_machine *m);
/** Stops and joins the engine thread, if it runs, and frees the state. Objects may exist longer. Lock not held. */
void emu_dp_stop(struct emu_machine *m);
/** One pass over all ports, lock held; returns work done. For tests without a thread. */
unsigned emu_dp_poll(struct emu_machine *m);
/**
 * Checks posted receive buffers: posting one again before it was consumed is a violation. For the whole
 * process; call it before queues are created. False: out of memory.
 */
bool emu_dp_check_buffers(bool on);

/**
 * Relaxed: completions and events become visible as late as PCI Express allows (dp_order.c); seed: of the delays. For
 * the whole process; call it before queues are created.
 */
void emu_dp_order(bool relaxed, uint64_t seed);
bool emu_dp_is_relaxed(void);
/** Makes all completions and events visible that are not yet; the reply to a command follows them. Lock held. */
void emu_dp_order_flush(void);

/** A capture of one port (dp_capture.c). */
struct emu_capture {
	unsigned port, directions;
	char path[4096];
};
/** Reads PORT=FILE[:rx|:tx]. 0, or -EINVAL with one line in err. */
int emu_capture_parse(const char *spec, unsigned ports, struct emu_capture *out, char *err,
		      size_t err_len);
/** The part of the text after the file name. */
const char *emu_capture_suffix(const struct emu_capture *plan);
/** Captures a port from now to emu_dp_stop(), as spec (`--capture`) selects. 0 or -errno with one line in err. */
int emu_dp_capture(struct emu_machine *m, const char *spec, char *err, size_t err_len);

/** Injected frames: they arrive at a port on request (dp_inject.c). */
#define EMU_INJECT_TYPES 16u
struct emu_inject {
	const char *file; /**< A capture: its frames from the first on; NULL: generated ones. */
	uint64_t frames;  /**< How many; 0 with a file: each of it once. */
	uint32_t len;	  /**< Bytes of a generated frame without FCS (more if its headers need it). */
	uint32_t flows;	  /**< Number of flows: generated frames use their addresses and ports in turn. */
	unsigned types;	  /**< Kinds of generated frames, in turn. */
	int type[EMU_INJECT_TYPES];
	bool demote;	  /**< Then move the lines of the port's completion queues to the shared cache. */
};
struct emu_inject_result {
	uint64_t frames, delivered;
};
/** Number of a kind of frame by name; -EINVAL, and all the names in known. */
int emu_inject_type(const char *name, const char **known);
/** Injects all frames before it returns. Lock held. 0 or -errno with one line in err. */
int emu_dp_inject(struct emu_dev *dev, const struct emu_inject *spec,
		  struct emu_inject_result *result, char *err, size_t err_len);

/** Delivers a frame from the wire to the port, which receives or drops it. Lock held. */
void emu_dp_ingress(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/** The same for wires that can wait: EMU_RX_FULL, and the caller keeps the frame, if no WQE is posted. */
enum emu_rx_result emu_dp_offer(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
/**
 * Whether traffic can start: a rule leads to a receive queue with posted WQEs, and rules and addresses
 * have not changed for quiet_ns (a program adds its rules one by one).
 */
bool emu_dp_can_receive(struct emu_dev *dev, uint64_t quiet_ns);
/** Whether rules or addresses changed in the last quiet_ns; now_ns: CLOCK_MONOTONIC. */
bool emu_dp_unsettled(struct emu_dev *dev, uint64_t now_ns, uint64_t quiet_ns);
/** Whether a steering rule decides on the frame, which then does not go to the kernel. */
bool emu_dp_ruled(struct emu_dev *dev, const uint8_t *frame, uint32_t len);

/**
 * Takes the doorbells rung so far, lock held. A store to a UAR reaches a card before a command
 * that is posted after it; fw/ calls this before each command to keep that order.
 */
void emu_dp_take_doorbells(struct emu_dev *dev);
/* State changes, called by fw/ with the lock held. */
void emu_dp_sq_paced(struct emu_sq *sq); /**< Another entry limits its rate, or none. */
void emu_dp_sq_changed(struct emu_sq *sq); /**< created, RST->RDY, ->ERR: flush, destroyed next */
void emu_dp_rq_changed(struct emu_rq *rq);
void emu_dp_cq_created(struct emu_cq *cq);
/** Writes the resize CQE into the old ring and continues in the new one. False: outstanding CQEs do not fit. */
bool emu_dp_cq_resize(struct emu_cq *cq, uint8_t *ring, uint8_t log_size);
void emu_dp_qp_changed(struct emu_qp *qp); /**< created, or its state or context changed */
void emu_dp_srq_armed(struct emu_srq *srq); /**< a new limit: it may be passed already */
/** An EQ of a VFIO context was created. False: no memory. */
bool emu_dp_eq_created(struct emu_eq *eq);
/** The context's EQ to which a type of event is mapped; NULL: none. */
struct emu_eq *emu_dp_eq_of(struct emu_ctx *ctx, uint8_t type);
/** Writes an event into the EQ of its type. False: there is no such EQ, or it is full. */
bool emu_dp_eq_event(struct emu_ctx *ctx, const struct prm_eqe *eqe);
/**
 * A store of the program into a UAR page of its context, seen by the front end, lock held.
 * @param offset in ctx->file. @param value 4 or 8 bytes in memory order.
 * @return true: handled, do not store it in the page. False: store it; the engine polls the page.
 */
bool emu_dp_uar_store(struct emu_ctx *ctx, uint64_t offset, uint64_t value, unsigned bytes);
/** Reports an event of obj (NULL: of the port) to the context, by uverbs or an EQ; eqe: 64 bytes. */
void emu_dp_event(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, void *eqe);
/**
 * A mapping of the context's IOMMU is about to be removed: disconnects keys and queues that use it.
 * @param va its address in the process.
 */
void emu_dp_unmapping(struct emu_ctx *ctx, uint64_t iova, const void *va, uint64_t len);
/** A mapping was added: keys over it can become valid again. */
void emu_dp_mapped(struct emu_ctx *ctx, uint64_t iova, uint64_t len);
/**
 * The kernel has released the pages of a umem or memory region that the device keeps after an internal error: each
 * further access is a violation, and queues over the umem stop.
 */
void emu_dp_given_back(struct emu_obj *obj);
/** fw/ announces that the object is about to be freed: forget every pointer to it. */
void emu_dp_forget(struct emu_obj *obj);

#endif /* EMU_DP_H */
