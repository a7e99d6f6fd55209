/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Private to the firmware: the command being executed, refusals, references between objects. */
#ifndef FW_H
#define FW_H

#include "../core/emu_audit.h"
#include "../core/emu_obj.h"
#include "../dp/emu_dp_table.h"
#include "emu_fw.h"
#include "emu_fw_syndrome.h"
#include "fw_commands.h"
#include "prm.h"

/** Largest mailboxes: the pages that a card requests at once (cx4lx: 12,868, 102,960 bytes); 2^11 counters. */
#define FW_IN_BYTES (1u << 17)
#define FW_OUT_BYTES 65536u
/** Longer than each reply without a list. */
#define FW_OUT_FIXED_BYTES 8192u

/* Limits of RDMA objects, the same for all profiles. */
#define FW_LOG_MAX_RMP 16u
#define FW_LOG_MAX_MSG 30u
#define FW_LOG_MAX_EQ_SIZE 22u
#define FW_LOG_MAX_RDMA 4u /**< Outstanding reads and atomics, as requester and responder. */

/** One command while it is executed. */
struct fw_cmd {
	struct emu_ctx *ctx;
	struct emu_dev *dev;
	const struct prm_command *desc;
	void *in;	     /**< Own copy, aligned; uid and umem valid bits set. */
	size_t in_len;
	void *out;	     /**< FW_OUT_BYTES long; zeroed as far as a reply goes. */
	size_t out_len;	     /**< Size of the caller's outbox. */
	struct emu_obj *obj; /**< Object of a modify, query or destroy command. */
	struct emu_obj *created;
	bool kernel;	     /**< Of the kernel's driver: an owner's, with the uid in the inbox. */
	enum fw_syndrome refused;
};

/** @return 0, or what fw_refuse() returned. */
typedef int (*fw_handler)(struct fw_cmd *c);

/**
 * One row per opcode (fw_commands.h). The object that a command names by id is found, and its owner
 * checked, before the handler runs. A destroy command without handler destroys that object; a handler
 * of a destroy command ends with fw_destroy_object().
 */
struct fw_row {
	uint16_t opcode;
	uint8_t type; /**< enum emu_obj_type */
	fw_handler handler;
	uint8_t flags; /**< FW_*; 0: allowed to all users, after INIT_HCA. */
};
#define FW_OWNER 1u /**< Only for the owner of the function: the kernel, or a program that uses VFIO. */
#define FW_EARLY 2u /**< Allowed after ENABLE_HCA. */
#define FW_FIRST 4u /**< Allowed before ENABLE_HCA. */
const struct fw_row *fw_row_find(uint16_t opcode);
/** Commands without a row that rdma-core or DPDK name: the emulator's limit. Other opcodes are an error. */
bool fw_is_published(uint16_t opcode);
/** For tests: the i-th row, NULL after the last. */
const struct fw_row *fw_row_at(unsigned i);

/* ---- common to the handlers (fw_cmd.c) ---- */

static inline uint16_t
fw_opcode(const void *in)
{
	return (uint16_t)(((const uint8_t *)in)[0] << 8 | ((const uint8_t *)in)[1]);
}

/**
 * Writes status and syndrome to the outbox and reports the refusal to the audit, a limit of the emulator to the trace.
 * @return -EREMOTEIO
 */
int fw_refuse(struct fw_cmd *c, enum fw_syndrome syndrome, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** True if the inbox has at least that many bytes, and only zeros after them. */
bool fw_in_ends_at(const struct fw_cmd *c, size_t bytes);

/** Finds an object of the same user that the command refers to, or refuses the command. */
int fw_need(struct fw_cmd *c, enum emu_obj_type type, uint32_t id, enum fw_syndrome syndrome,
	    void *out);

/** References of an object to others, which cannot be destroyed meanwhile. */
struct fw_holds {
	unsigned count;
	struct emu_obj *held[8];
};
void fw_hold(struct fw_holds *h, struct emu_obj *obj); /**< obj may be NULL. */
void fw_holds_drop(struct fw_holds *h);

/** Destroys the command's object; refuses while others refer to it. */
int fw_destroy_object(struct fw_cmd *c);
/** Creates the object of a create command, of size bytes; refuses without a free id or memory. */
int fw_create(struct fw_cmd *c, enum emu_obj_type type, size_t size,
	      void (*release)(struct emu_obj *), void *out);
#define FW_OUT_ID_DW 2 /**< Dword of the outbox with the id of a created object, low 24 bits. */

/* ---- objects: that of the data path, references, and the context as last written ---- */

struct fw_cq {
	struct emu_cq cq;
	struct fw_holds holds;
	struct prm_cqc cqc;
};

struct fw_sq {
	struct emu_sq sq;
	struct fw_holds holds;
	struct emu_pp *pp;   /**< sq.pp */
	struct prm_sqc sqc;
};

struct fw_rq {
	struct emu_rq rq;
	struct fw_holds holds;
	struct prm_rqc rqc;
};

struct fw_rmp {
	struct emu_srq srq;
	struct fw_holds holds;
	struct prm_rmpc rmpc;
};

struct fw_qp {
	struct emu_qp qp;
	struct fw_holds holds; /* the counter, if any, is the last */
	struct prm_qpc qpc;
};

struct fw_rqt {
	struct emu_rqt rqt;
};

struct fw_tir {
	struct emu_tir tir;
	struct fw_holds holds;
	struct prm_tirc tirc;
};

struct fw_tis {
	struct emu_tis tis;
	struct fw_holds holds;
	struct prm_tisc tisc;
};

struct fw_mkey {
	struct emu_mkey mkey;
	struct fw_holds holds;
	struct prm_mkc mkc;
};

/* ---- flow tables (fw_flow_table.c, fw_fte.c) ---- */

struct fw_flow_group {
	struct emu_obj obj; /* EMU_OBJ_FLOW_GROUP */
	struct fw_flow_table *ft;
	uint32_t first, last; /**< Its entries' indices. */
	uint8_t criteria;     /**< match_criteria_enable */
	struct dp_mask mask;
	struct fw_fte **entry; /**< By index from first on; NULL: none. */
	uint32_t entries;     /**< That exist. */
	TAILQ_ENTRY(fw_flow_group) next;
};

struct fw_flow_table {
	struct emu_flow_table ft;
	uint8_t log_size;
	bool decap_en, reformat_en; /**< Entries may decapsulate: DECAP, PACKET_REFORMAT. */
	struct fw_flow_table *miss;
	TAILQ_HEAD(, fw_flow_group) groups;
};

/** Checks op_mod, vport and table type, which all commands on flow tables have. */
int fw_flow_place_check(struct fw_cmd *c);
/** The same, and that the table has the type of the command. */
int fw_flow_table_check(struct fw_cmd *c, const struct fw_flow_table *t);
/** Finds the table that a command names. */
int fw_flow_table_need(struct fw_cmd *c, uint32_t id, struct fw_flow_table **t);
/** Finds the destination of a jump from a table of this level: same user, higher level. */
int fw_flow_lead(struct fw_cmd *c, uint32_t id, unsigned level, struct fw_flow_table **out);
/** Fields that groups can match, as capabilities (fw_flow_fields.c). sent: in tables of sent packets. */
void fw_flow_fields_cap(const struct emu_profile *p, bool sent, struct prm_flow_table_fields_supported *f);
/** Fields that modify header contexts can change. */
void fw_modify_fields_cap(bool sent, struct prm_header_modify_cap_properties *m);
void fw_flow_fields_2_cap(const struct emu_profile *p, struct prm_flow_table_fields_supported_2 *f);

/* ---- work queues of SQ, RQ and RMP (fw_wq.c) ---- */

/** The fields of a WQ context, checked. */
struct fw_wq {
	struct emu_umem *umem, *dbr_umem;
	struct emu_uar *uar; /**< SQ only. */
	uint8_t *ring;
	volatile uint32_t *dbrec;
	uint32_t pd;
	struct emu_obj *pd_obj;
	uint8_t log_size, log_stride;
	bool striding, two_byte_shift, end_padding;
	uint8_t log_strides, log_stride_size;
};
struct fw_wq_limits {
	uint8_t log_stride_min, log_stride_max;
	bool needs_uar;
	bool may_link; /**< Linked lists are allowed. */
	bool may_stride; /**< Striding RQs are allowed. */
};
int fw_wq_check(struct fw_cmd *c, const struct prm_wq *wq, const struct fw_wq_limits *limits,
		struct fw_wq *out);
/** Checks a doorbell record: 8 aligned bytes inside a umem. */
int fw_dbrec_check(struct fw_cmd *c, uint32_t umem_id, uint64_t offset, struct emu_umem **umem,
		   volatile uint32_t **dbrec);
/** Checks the timestamp format of a queue or CQ against those that --clock-format allows. */
int fw_ts_format_check(struct fw_cmd *c, unsigned format);
/** True if a queue with this format has real-time timestamps (DEFAULT: if the device's clock is on). */
bool fw_ts_real(const struct emu_dev *dev, unsigned format);

/** Checks current state (claimed) and new state of a MODIFY command. */
int fw_queue_transition(struct fw_cmd *c, enum emu_queue_state is, unsigned claimed,
			unsigned wanted);

/* ---- functions by file ---- */

/** fw_caps.c: fills a page with the maxima of the device; false: there is no such page. */
bool fw_cap_page(const struct emu_dev *dev, unsigned type, void *page);
/** fw_caps.c: lro_timer_supported_periods. */
#define FW_LRO_PERIODS 4u
extern const uint16_t fw_lro_periods_us[FW_LRO_PERIODS];
/** fw_hca.c: overwrites a page of maxima with the values that SET_HCA_CAP has chosen. */
void fw_hca_cap_current(const struct emu_ctx *ctx, unsigned type, void *page);

/** fw_mem.c: reads n translation entries; writable if all of them are. NULL: no memory. */
struct emu_pages *fw_pages_read(const struct prm_mtt *mtt, uint64_t n, unsigned log_page,
				uint64_t offset);

/** fw_pages.c: refuses a create command when the function has no free page for the object. */
int fw_pages_check(struct fw_cmd *c);
/** Refuses INIT_HCA while pages are missing. */
int fw_pages_init_check(struct fw_cmd *c);
/** Requests pages from the owner of the function, or returns some, by a PAGE_REQUEST event. */
void fw_pages_balance(struct emu_ctx *ctx);

/**
 * fw_flow_table.c, fw_fte.c: build the inbox that destroys an object of their types.
 * @return its length in bytes; 0: the object is of another type.
 */
size_t fw_flow_destroy_in(const struct emu_obj *obj, uint32_t in[16]);
size_t fw_fte_destroy_in(const struct emu_obj *obj, uint32_t in[16]);

/** fw_pp.c: the entry of the table of rates for an SQ of this user; index 0: NULL. */
int fw_pp_find(struct fw_cmd *c, uint32_t index, struct emu_pp **pp);

/** fw_pp.c: clears the table of rates when the function ends; the audit counts the entries left in it. */
void fw_pp_clear(struct fw_cmd *c);

/** fw_l2.c: clears the L2 table when the function ends; the audit counts the entries left in it. */
void fw_l2_clear(struct fw_cmd *c);

/* fw_fec.c: register PPLM of a port that the caller may access. */
void fw_pplm_read(const struct emu_dev *dev, struct prm_pplm_reg *reg);
int fw_pplm_write(struct fw_cmd *c, const struct prm_pplm_reg *reg);
/** fw_ppcnt.c: fills the counter group that reg selects. */
int fw_ppcnt(struct fw_cmd *c, struct prm_ppcnt_reg *reg);

/* ---- handlers ---- */

#define FW_PROTOTYPE(op, type, handler, flags) int handler(struct fw_cmd *c);
#define FW_NO_PROTOTYPE(op, type, flags)
FW_COMMANDS(FW_PROTOTYPE, FW_NO_PROTOTYPE)

#endif /* FW_H */
