/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Inside of the firmware: the command under execution, refusals, references between objects. */
#ifndef FW_H
#define FW_H

#include "../core/emu_audit.h"
#include "../core/emu_obj.h"
#include "../dp/emu_dp_table.h"
#include "emu_fw.h"
#include "emu_fw_syndrome.h"
#include "prm.h"

/** Largest mailboxes: an RQT with all its entries; a capability page. */
#define FW_IN_BYTES 16384u
#define FW_OUT_BYTES 8192u

/* Limits of RDMA objects, the same for all profiles. */
#define FW_LOG_MAX_QP 18u
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
	void *out;	     /**< Zeroed, FW_OUT_BYTES long. */
	size_t out_len;	     /**< What the caller has room for. */
	struct emu_obj *obj; /**< Object of a modify, query or destroy command. */
	struct emu_obj *created;
	enum fw_syndrome refused;
};

/** @return 0, or what fw_refuse() returned. */
typedef int (*fw_handler)(struct fw_cmd *c);

/**
 * One row per opcode. type: the object that the command names by id, found and checked for its
 * owner before the handler runs; a destroy command needs no handler, one that has more to check
 * ends with fw_destroy_object().
 */
struct fw_row {
	uint16_t opcode;
	uint8_t type; /* enum emu_obj_type */
	fw_handler handler;
	uint8_t flags; /* FW_*; 0: everybody's, when the function is up */
};
#define FW_OWNER 1u /**< For the owner of the function alone: a kernel, or a program by VFIO. */
#define FW_EARLY 2u /**< From ENABLE_HCA on. */
#define FW_FIRST 4u /**< At any time. */
const struct fw_row *fw_row_find(uint16_t opcode);
/** For tests: the i-th row, NULL behind the last. */
const struct fw_row *fw_row_at(unsigned i);

/**
 * Fills status and syndrome into the outbox and notes the refusal in the audit.
 * @return -EREMOTEIO, for `return fw_refuse(...)`.
 */
int fw_refuse(struct fw_cmd *c, enum fw_syndrome syndrome, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Whether the inbox has that many bytes, and nothing but zeros behind them. */
bool fw_in_ends_at(const struct fw_cmd *c, size_t bytes);

/** Finds an object that the command refers to, of the same owner; refuses when there is none. */
int fw_need(struct fw_cmd *c, enum emu_obj_type type, uint32_t id, enum fw_syndrome syndrome,
	    void *out);

/** Objects that an object keeps alive. Put into each object that refers to others. */
struct fw_holds {
	unsigned count;
	struct emu_obj *held[8];
};
void fw_hold(struct fw_holds *h, struct emu_obj *obj); /**< obj may be NULL. */
void fw_holds_drop(struct fw_holds *h);

/** Makes the object of a create command, size bytes large; refuses without ids or memory. */
int fw_create(struct fw_cmd *c, enum emu_obj_type type, size_t size,
	      void (*release)(struct emu_obj *), void *out);
#define FW_OUT_ID_DW 2 /* ids of created objects: dword 2 of the outbox, low 24 bits */

/* ---- objects with what only the firmware needs ---- */

struct fw_cq {
	struct emu_cq cq;
	struct fw_holds holds;
	struct prm_cqc cqc;
};

struct fw_sq {
	struct emu_sq sq;
	struct fw_holds holds;
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
	TAILQ_ENTRY(fw_flow_group) next;
};

struct fw_flow_table {
	struct emu_flow_table ft;
	uint8_t log_size;
	struct fw_flow_table *miss;
	TAILQ_HEAD(, fw_flow_group) groups;
};

/** How the commands for tables begin: whose, and of which type. */
int fw_flow_place_check(struct fw_cmd *c);
/** A table that a command leads to from one of level: of the same user, and higher up. */
int fw_flow_lead(struct fw_cmd *c, uint32_t id, unsigned level, struct fw_flow_table **out);
/** The fields that groups may compare, as a mask; what the capabilities say (fw_flow_fields.c). */
void fw_flow_fields(uint32_t key[DP_KEY_DWORDS]);
void fw_flow_fields_cap(struct prm_flow_table_fields_supported *f);

/* ---- work queues (fw_wq.c): what SQ and RQ have in common ---- */

/** The fields of a WQ context, checked. */
struct fw_wq {
	struct emu_umem *umem, *dbr_umem;
	struct emu_uar *uar; /**< SQ only. */
	uint8_t *ring;
	volatile uint32_t *dbrec;
	uint32_t pd;
	struct emu_obj *pd_obj;
	uint8_t log_size, log_stride;
	bool striding, two_byte_shift;
	uint8_t log_strides, log_stride_size;
};
struct fw_wq_limits {
	uint8_t log_stride_min, log_stride_max;
	bool needs_uar;
	bool may_link; /**< Linked lists of WQEs as well as rings. */
	bool may_stride; /**< Rings of WQEs that hold many frames each. */
};
int fw_wq_check(struct fw_cmd *c, const struct prm_wq *wq, const struct fw_wq_limits *limits,
		struct fw_wq *out);
/** A doorbell record: 8 bytes inside a umem, aligned. */
int fw_dbrec_check(struct fw_cmd *c, uint32_t umem_id, uint64_t offset, struct emu_umem **umem,
		   volatile uint32_t **dbrec);
/** The time stamp format of a queue or CQ: what --clock-format lets the device have. */
int fw_ts_format_check(struct fw_cmd *c, unsigned format);
/** Whether a queue with this format stamps with the device's own clock: so does DEFAULT, if it is on. */
bool fw_ts_real(const struct emu_dev *dev, unsigned format);

/** True when the state machine lets a queue go from one state to another. */
bool fw_queue_may_go(enum emu_queue_state from, enum emu_queue_state to);
/** Checks the claimed current state and the wanted one of a MODIFY command. */
int fw_queue_transition(struct fw_cmd *c, enum emu_queue_state is, unsigned claimed,
			unsigned wanted);

/* ---- handlers, by file ---- */

int fw_query_hca_cap(struct fw_cmd *c);
/** Fills a page with what the device can do (maxima). False: there is no such page. */
bool fw_cap_page(const struct emu_dev *dev, unsigned type, void *page);

/* The function as its owner has it (fw_hca.c), and the pages it was given (fw_pages.c). */
int fw_enable_hca(struct fw_cmd *c);
int fw_disable_hca(struct fw_cmd *c);
int fw_set_issi(struct fw_cmd *c);
int fw_set_driver_version(struct fw_cmd *c);
int fw_set_hca_cap(struct fw_cmd *c);
int fw_init_hca(struct fw_cmd *c);
int fw_teardown_hca(struct fw_cmd *c);
int fw_alloc_uar(struct fw_cmd *c);
/** Writes what the owner chose over a page of maxima. */
void fw_hca_cap_current(const struct emu_ctx *ctx, unsigned type, void *page);
int fw_create_umem(struct fw_cmd *c);
/** A list of n translation entries; write is what all of them permit. NULL: no memory. */
struct emu_pages *fw_pages_read(const struct prm_mtt *mtt, uint64_t n, unsigned log_page,
				uint64_t offset);
int fw_create_eq(struct fw_cmd *c);
int fw_query_eq(struct fw_cmd *c);
int fw_query_pages(struct fw_cmd *c);
int fw_manage_pages(struct fw_cmd *c);
/** Refuses when no page is left to make an object on; when INIT_HCA misses some. */
int fw_pages_check(struct fw_cmd *c);
int fw_pages_init_check(struct fw_cmd *c);
/** Requests pages from the owner of the function, or returns some, by an event. */
void fw_pages_balance(struct emu_ctx *ctx);

int fw_query_adapter(struct fw_cmd *c);
int fw_query_issi(struct fw_cmd *c);
int fw_query_special_contexts(struct fw_cmd *c);
int fw_query_lag(struct fw_cmd *c);
int fw_nop(struct fw_cmd *c);
int fw_general_object(struct fw_cmd *c);
int fw_kernel_only(struct fw_cmd *c);
/** Destroys the command's object; refuses when it is in use (fw_exec.c). */
int fw_destroy_object(struct fw_cmd *c);
int fw_not_modelled(struct fw_cmd *c);

int fw_alloc_pd(struct fw_cmd *c);
int fw_alloc_td(struct fw_cmd *c);
int fw_create_mkey(struct fw_cmd *c);
int fw_query_mkey(struct fw_cmd *c);

int fw_create_cq(struct fw_cmd *c);
int fw_modify_cq(struct fw_cmd *c);
int fw_query_cq(struct fw_cmd *c);

int fw_create_sq(struct fw_cmd *c);
int fw_modify_sq(struct fw_cmd *c);
int fw_query_sq(struct fw_cmd *c);

int fw_create_rq(struct fw_cmd *c);
int fw_modify_rq(struct fw_cmd *c);
int fw_query_rq(struct fw_cmd *c);

int fw_create_rmp(struct fw_cmd *c);
int fw_modify_rmp(struct fw_cmd *c);
int fw_query_rmp(struct fw_cmd *c);

int fw_create_qp(struct fw_cmd *c);
int fw_modify_qp(struct fw_cmd *c); /**< Every transition. */
int fw_query_qp(struct fw_cmd *c);

int fw_create_rqt(struct fw_cmd *c);
int fw_modify_rqt(struct fw_cmd *c);
int fw_query_rqt(struct fw_cmd *c);

int fw_create_tir(struct fw_cmd *c);
int fw_modify_tir(struct fw_cmd *c);
int fw_query_tir(struct fw_cmd *c);

int fw_create_tis(struct fw_cmd *c);
int fw_modify_tis(struct fw_cmd *c);
int fw_query_tis(struct fw_cmd *c);

int fw_alloc_q_counter(struct fw_cmd *c);
int fw_query_q_counter(struct fw_cmd *c);
int fw_alloc_flow_counter(struct fw_cmd *c);
int fw_query_flow_counter(struct fw_cmd *c);

int fw_set_flow_table_root(struct fw_cmd *c);
int fw_create_flow_table(struct fw_cmd *c);
int fw_modify_flow_table(struct fw_cmd *c);
int fw_query_flow_table(struct fw_cmd *c);
int fw_destroy_flow_table(struct fw_cmd *c);
int fw_create_flow_group(struct fw_cmd *c);
int fw_query_flow_group(struct fw_cmd *c);
int fw_destroy_flow_group(struct fw_cmd *c);
int fw_set_fte(struct fw_cmd *c); /**< New entries, and changes of old ones. */
int fw_query_fte(struct fw_cmd *c);
int fw_delete_fte(struct fw_cmd *c);
/** The inbox of the command that destroys one of these objects; its length, 0: of no such type. */
size_t fw_flow_destroy_in(const struct emu_obj *obj, uint32_t in[16]);
size_t fw_fte_destroy_in(const struct emu_obj *obj, uint32_t in[16]);

int fw_query_vport_state(struct fw_cmd *c);
int fw_modify_vport_state(struct fw_cmd *c);
int fw_query_nic_vport_context(struct fw_cmd *c);
int fw_modify_nic_vport_context(struct fw_cmd *c);
int fw_query_vport_counter(struct fw_cmd *c);
int fw_query_roce_address(struct fw_cmd *c);
int fw_set_roce_address(struct fw_cmd *c);
int fw_query_vnic_env(struct fw_cmd *c);
int fw_set_l2_table_entry(struct fw_cmd *c);
int fw_query_l2_table_entry(struct fw_cmd *c);
int fw_delete_l2_table_entry(struct fw_cmd *c);
/** The function ends: removes its L2 table entries; reports to the audit those that the owner left. */
void fw_l2_clear(struct fw_cmd *c);

int fw_access_register(struct fw_cmd *c);
int fw_access_register_user(struct fw_cmd *c);
/** The counter groups of PPCNT (fw_ppcnt.c); reg is read and filled. */
int fw_ppcnt(struct fw_cmd *c, struct prm_ppcnt_reg *reg);

#endif /* FW_H */
