/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Firmware and kernel objects: one header struct in front of each, one table per device.
 *
 * fw/ creates, checks and destroys them; dp/ runs the queues; abi/ gives them handles.
 */
#ifndef EMU_OBJ_H
#define EMU_OBJ_H

#include "emu_dev.h"

enum emu_obj_type {
	EMU_OBJ_NONE,
	/* kernel objects */
	EMU_OBJ_UMEM,
	EMU_OBJ_UAR,
	EMU_OBJ_MATCHER,
	EMU_OBJ_FLOW,
	EMU_OBJ_PP,
	/* firmware objects */
	EMU_OBJ_PD,
	EMU_OBJ_TD,
	EMU_OBJ_MKEY,
	EMU_OBJ_EQ,
	EMU_OBJ_CQ,
	EMU_OBJ_SQ,
	EMU_OBJ_RQ,
	EMU_OBJ_RMP,
	EMU_OBJ_RQT,
	EMU_OBJ_TIR,
	EMU_OBJ_TIS,
	EMU_OBJ_QP,
	EMU_OBJ_Q_COUNTER,
	EMU_OBJ_FLOW_COUNTER,
	EMU_OBJ_FLOW_TABLE,
	EMU_OBJ_FLOW_GROUP,
	EMU_OBJ_FTE,
	EMU_OBJ_MODIFY_HEADER,
	EMU_OBJ_REFORMAT,
	EMU_OBJ_GENERAL,
	EMU_OBJ_TYPES,
};
const char *emu_obj_type_name(enum emu_obj_type type); /**< "CQ" */

/**
 * refs counts the objects that use this one: while it is not 0 a destroy command is refused with
 * BAD_RES_STATE. The front end sets subscribed when a program has subscribed to events.
 */
struct emu_obj {
	enum emu_obj_type type;
	uint32_t id; /**< cqn, sqn, tirn, mkey index ... unique per device and type; the first of its ids. */
	uint32_t ids; /**< That it has. */
	uint32_t refs;
	struct emu_dev *dev;
	struct emu_ctx *ctx; /**< NULL: created by the emulated kernel. */
	/**
	 * Drops references and frees what belongs to the object; emu_obj_destroy() frees the object
	 * afterwards. Lock held; may be NULL.
	 */
	void (*release)(struct emu_obj *obj);
	void *abi;		  /**< The front end's handle, if it has one. */
	void *dp;		  /**< State of dp/ for this object, if it has any. */
	bool subscribed;
	bool lost;	  /**< A fault rule reported the creation as failed to the program. */
	bool unmapped;	  /**< Its ring or doorbell record is no longer mapped in the IOMMU. */
	bool unmapped_met; /**< The device has tried to access unmapped memory of it. */
	/** Umem, mkey: the kernel has released the pages. Queue: unmapped is set for such a umem. */
	bool given_back;
	TAILQ_ENTRY(emu_obj) owned; /**< In ctx->owned. */
};

/** A zeroed object of size bytes with an id, linked to ctx. NULL: out of ids or memory. */
void *emu_obj_new(struct emu_dev *dev, struct emu_ctx *ctx, enum emu_obj_type type, size_t size,
		  void (*release)(struct emu_obj *));
/** The same with so many consecutive ids; the first is a multiple of 4. */
void *emu_obj_new_range(struct emu_dev *dev, struct emu_ctx *ctx, enum emu_obj_type type, size_t size, uint32_t ids,
			void (*release)(struct emu_obj *));
/** The object that has the id; NULL when there is none. */
void *emu_obj_find(struct emu_dev *dev, enum emu_obj_type type, uint32_t id);
/** Unlinks, calls release, frees obj. 0 or -EBUSY when refs is not 0. */
int emu_obj_destroy(struct emu_obj *obj);
/** The same regardless of refs: last resort when a context is closed. */
void emu_obj_destroy_forced(struct emu_obj *obj);
/** Creates the empty table of a device, and frees it with all objects left in it. */
int emu_obj_table_init(struct emu_dev *dev);
void emu_obj_table_fini(struct emu_dev *dev);
unsigned emu_obj_count(struct emu_dev *dev, enum emu_obj_type type);
typedef void (*emu_obj_cb)(struct emu_obj *obj, void *arg);
void emu_obj_foreach(struct emu_dev *dev, enum emu_obj_type type, emu_obj_cb cb, void *arg);
static inline void emu_obj_ref(struct emu_obj *o) { o->refs++; }
static inline void emu_obj_unref(struct emu_obj *o) { o->refs--; }

/* ---- memory (emu_mem.c) ---- */

/**
 * Checks that the process has mapped all of [addr, addr + len), writable if requested.
 * @return 0; -EFAULT: no; -EINVAL: len 0 or wrap; another when the list of mappings cannot be read.
 */
int emu_mem_check(uint64_t addr, uint64_t len, bool write);
/** Memory of a VFIO context as a list of pages of one size (emu_pages.c). */
struct emu_pages {
	uint64_t n;	  /**< Pages. */
	uint64_t offset;  /**< Of the first byte in the first page. */
	uint8_t log_page;
	bool write;	  /**< The entries let the device write. */
	uint64_t pa[];	  /**< IOVAs. */
};
/** Allocates a list of n pages. NULL: no memory. */
struct emu_pages *emu_pages_new(uint64_t n, unsigned log_page, uint64_t offset);
void emu_pages_free(struct emu_pages *pages); /**< NULL is allowed. */
/**
 * The memory at [at, at + len) relative to the first byte, valid as long as a result of
 * emu_iommu_at(). NULL: not completely mapped with this right, or not contiguous in the process.
 */
void *emu_pages_find(struct emu_iommu *iommu, const struct emu_pages *pages, uint64_t at,
		     uint64_t len, bool write);
/** The same for a DMA of the device: NULL is a violation of kind `iommu`. */
void *emu_pages_at(struct emu_iommu *iommu, const struct emu_pages *pages, uint64_t at,
		   uint64_t len, bool write);

#define EMU_ACCESS_LOCAL_WRITE 1u
struct emu_umem {
	struct emu_obj obj;
	uint64_t addr; /**< Process virtual address; with pages: IOVA of the first byte. */
	uint64_t len;
	uint32_t access; /**< IBV_ACCESS_* bits. */
	struct emu_pages *pages; /**< Of a VFIO context; else NULL. */
};
/**
 * log2 of the page size that the kernel reports to the device for a umem. The kernel takes the
 * largest size with contiguous pages.
 * assumed: pages other than huge ones are not contiguous. Other reading: some are, and the kernel finds a larger size.
 * Test: fw/test_memory.c.
 */
unsigned emu_umem_log_page(const struct emu_umem *umem);
struct emu_uar {
	struct emu_obj obj;
	uint64_t offset;      /**< In the uverbs file. */
	volatile uint8_t *page; /**< The model's view of the doorbell page. */
	unsigned sqs;	      /**< SQs with this doorbell page; see dp_sq.c. */
	bool wc;	      /**< Mapped write-combining. */
	uint64_t last_db;     /**< Doorbell register value last seen by the engine. */
};
struct emu_mkey {
	struct emu_obj obj;  /**< id = mkey index (24 bits). */
	uint8_t variant;     /**< Low 8 bits of the key. */
	uint32_t pd;
	bool length64, local_read, local_write;
	uint64_t start, len; /**< Device addresses (iova) covered. */
	bool remote_read, remote_write, remote_atomic;
	struct emu_umem *umem;	/**< Backing memory; NULL for a verbs MR. */
	uint64_t host;		/**< Host address of start. */
	/* Of a VFIO context: where start is in a list of pages. */
	const struct emu_pages *pages;
	struct emu_pages *own_pages; /**< The same list when it is the key's own, not a umem's. */
	uint64_t at;
	bool whole;		/**< host is valid for the whole key; else each access is looked up. */
};
/** Sets whole and host of a key over pages: whether all of it is mapped and contiguous. */
void emu_mkey_resolve(struct emu_mkey *mkey);
/** 0; -EFAULT: not mapped, or not writable although requested; -EINVAL: len 0 or wrap. */
int emu_umem_create(struct emu_ctx *ctx, uint64_t addr, uint64_t len, uint32_t access,
		    struct emu_umem **out);
int emu_uar_create(struct emu_ctx *ctx, struct emu_uar **out);
/** A verbs memory region: a key over process memory that the kernel creates, not a command. */
int emu_mr_create(struct emu_ctx *ctx, uint32_t pdn, uint64_t addr, uint64_t len, uint64_t iova,
		  uint32_t access, struct emu_mkey **out);

enum emu_dma_dir {
	EMU_DMA_READ,
	EMU_DMA_WRITE,
	/* requested by a remote QP: key and protection domain are the responder's */
	EMU_DMA_REMOTE_READ,
	EMU_DMA_REMOTE_WRITE,
	EMU_DMA_REMOTE_ATOMIC,
};
/** The 32-bit key that a WQE carries for this mkey. */
static inline uint32_t
emu_mkey_key(const struct emu_mkey *mkey)
{
	return mkey->obj.id << 8 | mkey->variant;
}
/**
 * The only way to host memory. Resolves [addr, addr + len) under key for protection domain pd
 * and returns a window onto it, valid until the lock is dropped; NULL when the key is unknown,
 * of another PD, too short, or lacks the right - reported as a violation.
 */
void *emu_dma(struct emu_dev *dev, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
	      enum emu_dma_dir dir);
/** Window onto a umem (rings, doorbell records); NULL if it is not inside. */
void *emu_umem_window(struct emu_umem *umem, uint64_t offset, uint64_t len);

/* ---- queues: fw/ fills them in from the contexts, dp/ runs them ---- */

enum emu_queue_state { EMU_QS_RST = 0, EMU_QS_RDY = 1, EMU_QS_ERR = 3 };

/** Event queue of a VFIO context. The kernel's EQs are bare objects. */
struct emu_eq {
	struct emu_obj obj;
	struct emu_pages *pages;
	struct emu_uar *uar;
	uint8_t *ring;
	uint8_t log_size;
	uint16_t vector;
	bool oi;		 /**< Overrun ignore (PRM, EQ context). */
	uint64_t events[4];	 /**< Bit per event type that is mapped here. */
	uint32_t pi, ci;	 /**< 24 bits. */
	bool armed, err;
};

struct emu_cq {
	struct emu_obj obj;
	struct emu_umem *umem, *dbr_umem;
	struct emu_uar *uar;
	uint8_t *ring;		     /**< Address in this process. */
	volatile uint32_t *dbrec;    /**< [0] consumer index, [1] arm; big-endian. */
	uint8_t log_size, log_cqe_bytes; /**< 6 or 7. */
	bool overrun_ignore, collapsed, err;
	bool pad;		     /**< Entries of 128 bytes are written whole. */
	uint16_t period_us, max_count; /**< Moderation of events; 0: none. */
	bool comp_en;		     /**< Receive CQEs of Ethernet queues may be compressed. */
	uint8_t mini_format;	     /**< mini_cqe_res_format_ext << 2 | mini_cqe_res_format. */
	bool enhanced;		     /**< Layout of its compressed CQEs; each CQE has the number of its pass. */
	uint32_t pi;		     /**< CQEs written. */
	uint32_t armed_sn;	     /**< Last arm word acted upon. */
	uint32_t eqn;
	struct emu_eq *eq;	     /**< Of a VFIO context; else NULL. */
};

struct emu_tis {
	struct emu_obj obj;
	uint32_t td;
};

struct emu_sq {
	struct emu_obj obj;
	enum emu_queue_state state;
	struct emu_umem *umem, *dbr_umem;
	struct emu_uar *uar;
	struct emu_cq *cq;
	struct emu_tis *tis;
	uint8_t *ring;
	volatile uint32_t *dbrec; /**< [1] producer counter, big-endian. */
	uint32_t pd, user_index;
	uint8_t log_wqebbs;
	uint8_t min_inline_mode; /**< 0 none required, 1 L2, ... */
	bool real_time;		 /**< Real-time timestamps in its completions. */
	bool flush_in_error, allow_mpw, allow_swp, cd_master;
	bool uplink;		 /**< Of a raw packet QP on the uplink: the kernel has a rule in the FDB for it. */
	const struct emu_pp *pp; /**< Limits the rate; NULL: nothing does. */
	struct emu_qp *qp;	 /**< The QP of which this is the send queue; NULL: an Ethernet SQ. */
	uint16_t ci;		 /**< WQEBBs executed. */
	uint16_t hw_pi;		 /**< Producer counter last read. */
	uint64_t wqes, frames, bytes;
};

/** RQ or RMP ring: cyclic, 1 << log_stride bytes a WQE of data segments. */
struct emu_rq {
	struct emu_obj obj;
	enum emu_queue_state state;
	struct emu_umem *umem, *dbr_umem;
	struct emu_cq *cq;
	uint8_t *ring;
	volatile uint32_t *dbrec; /**< [0] producer counter, big-endian. */
	uint32_t pd, user_index;
	uint8_t log_wqes, log_stride_bytes;
	bool real_time;		  /**< Real-time timestamps in its completions. */
	bool vsd;		  /**< VLAN stripping disabled. */
	bool scatter_fcs, flush_in_error, delay_drop;
	bool end_padding;	  /**< Writes end at the end of a cache line. */
	bool of_qp; /**< The receive half of a QP. */
	bool merging; /**< It has an LRO session (dp_lro.c). */
	/* Striding: a WQE is a next segment and data segments, and holds many frames. */
	bool striding, two_byte_shift;
	uint8_t log_strides, log_stride_size; /**< Strides of a WQE, bytes of a stride. */
	uint32_t strides_used;	  /**< Of the WQE at ci. */
	uint16_t ci;		  /**< WQEs consumed. */
	struct emu_q_counter *q_counter;
	uint64_t frames, bytes, out_of_buffer;
};

/**
 * Receive WQEs shared by several QPs: an RMP, which mlx5_ib uses for an SRQ. A WQE of a linked list
 * begins with the index of the next one; the list starts at WQE 0.
 */
struct emu_srq {
	struct emu_obj obj; /**< EMU_OBJ_RMP */
	bool error;
	struct emu_umem *umem, *dbr_umem;
	uint8_t *ring;
	volatile uint32_t *dbrec; /**< [0] WQEs posted, big-endian. */
	uint32_t pd;
	uint8_t log_wqes, log_stride_bytes;
	bool linked;	/**< Else cyclic. */
	uint16_t head;	/**< Index of the next WQE to be taken. */
	uint16_t taken; /**< WQEs taken so far, running counter. */
	uint16_t limit; /**< Armed: fewer posted WQEs raise SRQ_RQ_LIMIT once. 0: not armed. */
};

/** Destination of the packets of a connection, from the address path (ads) or the AV of a UD WQE. */
struct emu_path {
	uint8_t rgid[16], rmac[6];
	uint8_t src_gid_index, sl, tclass, hop_limit;
	bool force_loopback; /**< ads.fl: loopback, regardless of GID and MAC. */
};

/**
 * Queue pair of an RDMA transport: a send and a receive queue whose id is the qpn; they are in no
 * object table. The states of the queues follow the state of the QP (PRM_QPC_STATE_*): sq is RDY in
 * RTS, rq is RDY from INIT to SQER, both are ERR in ERR.
 */
struct emu_qp {
	struct emu_obj obj; /**< EMU_OBJ_QP */
	uint8_t state;	    /**< PRM_QPC_STATE_* */
	uint8_t st;	    /**< PRM_QPC_ST_* */
	uint32_t pd, user_index;
	struct emu_sq sq;    /**< ring NULL: no_sq. */
	struct emu_rq rq;    /**< ring NULL: zero-size or shared. */
	struct emu_srq *srq; /**< Instead of rq. */
	struct emu_path path;
	uint32_t remote_qpn;
	uint32_t q_key;	    /**< UD */
	uint8_t mtu;	    /**< PRM_QPC_MTU_* */
	uint8_t log_msg_max;
	uint8_t retry_count, rnr_retry; /**< rnr_retry 7: no limit. */
	uint8_t ack_timeout;		/**< 4.096 us << n; 0: no timeout. */
	uint8_t min_rnr_nak;		/**< Code of the delay in RNR NAKs. */
	uint8_t log_sra_max, log_rra_max;
	bool rre, rwe, rae; /**< Rights of the peer: read, write, atomics. */
	uint32_t next_send_psn, next_rcv_psn;
	bool comm_est;	    /**< A packet arrived while in RTR. */
	/** Received messages, or answers to reads and atomics, up to this size are written to the CQE: 0, 32 or 64. */
	uint8_t recv_in_cqe, answer_in_cqe;
};

struct emu_q_counter {
	struct emu_obj obj;
	uint64_t rx_write_requests, out_of_buffer;
};

struct emu_rqt {
	struct emu_obj obj;
	uint32_t max_size, size;
	struct emu_rq **rq; /**< size entries. */
};

struct emu_tir {
	struct emu_obj obj;
	uint32_t td;
	bool indirect;
	struct emu_rq *rq;   /**< direct */
	struct emu_rqt *rqt; /**< indirect */
	uint8_t hash_fn;     /**< PRM_RX_HASH_FN_* */
	bool symmetric;
	uint8_t key[40];
	uint32_t outer_select, inner_select; /**< rx_hash_field_select words, host order. */
	bool tunneled_offload;
	uint8_t self_lb_block;
	/* LRO: PRM_TIRC_PACKET_MERGE_* or 0, bytes of a packet (lro_max_msg_sz_mode), duration of a session. */
	uint8_t lro_mask;
	uint32_t lro_bytes, lro_timeout_us;
};

struct emu_counts {
	uint64_t packets, bytes;
};
/** One counter, or a bulk of them with consecutive ids. */
struct emu_flow_counter {
	struct emu_obj obj;
	struct emu_counts counts[]; /**< obj.ids of them. */
};

/** An action of a modify header context (PRM, set_add_copy_action_in_auto). */
struct emu_modify {
	uint8_t type;		 /**< PRM_ACTION_TYPE_SET, ADD or COPY. */
	uint8_t offset, length;	 /**< Bits of the field: 1 to 32, from offset on. */
	uint16_t field;		 /**< PRM_ACTION_IN_FIELD_* */
	uint16_t src_field;	 /**< COPY: the field that is read, */
	uint8_t src_offset;	 /**< from that bit on. */
	uint32_t data;
};
/** log2 of the contexts of a device. */
#define EMU_LOG_MODIFY_HEADERS 16u
#define EMU_LOG_REFORMATS 16u
#define EMU_REFORMAT_BYTES 128u /**< max_encap_header_size */
/** A modify header context. */
struct emu_modify_header {
	struct emu_obj obj; /**< EMU_OBJ_MODIFY_HEADER */
	bool sent;	    /**< For tables of sent packets. */
	unsigned n;
	struct emu_modify action[];
};
/** A packet reformat context: headers before a packet, or in place of some. */
struct emu_reformat {
	struct emu_obj obj; /**< EMU_OBJ_REFORMAT */
	uint8_t type;	    /**< PRM_REFORMAT_TYPE_* */
	uint16_t bytes;
	uint8_t data[];
};

/* ---- steering: the kernel's matchers and flows; created by abi/, run by dp/dp_steer.c ---- */

#define EMU_FTE_MATCH_PARAM_BYTES 0x200
struct emu_matcher_attr {
	const void *mask; size_t mask_len;
	uint16_t priority; uint8_t criteria; /**< match_criteria_enable bits */
	uint8_t ft_type; /**< MLX5_IB_UAPI_FLOW_TABLE_TYPE_*: 0 NIC_RX, 1 NIC_TX, 2 FDB */
	uint32_t flags;
};
/** Table of a rule: multicast or of its priority, by its match; or chosen by the caller. */
enum emu_flow_place { EMU_FLOW_BY_MATCH, EMU_FLOW_PRIORITY, EMU_FLOW_MULTICAST, EMU_FLOW_LEFTOVER };
struct emu_flow_attr {
	enum emu_flow_place place;
	const void *value; size_t value_len;
	struct emu_obj *dest;  /**< TIR or flow table, NULL with drop/default_miss */
	bool drop, default_miss, has_tag;
	uint32_t tag;	       /**< 24 bits */
	struct emu_flow_counter *counter;
	struct emu_modify_header *modify; /**< Or NULL. */
	struct emu_reformat *reformat;	  /**< Or NULL. */
	bool decap;
	uint32_t counter_offset; /**< In a bulk. */
};
int emu_matcher_create(struct emu_ctx *ctx, const struct emu_matcher_attr *attr,
		       struct emu_obj **out);
int emu_flow_create(struct emu_ctx *ctx, struct emu_obj *matcher, const struct emu_flow_attr *attr,
		    struct emu_obj **out);

#endif /* EMU_OBJ_H */
