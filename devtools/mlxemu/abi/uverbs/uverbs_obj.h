/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Verbs objects: what the kernel makes of firmware objects on a program's behalf.
 *
 * A verbs object has a handle and parts: the program's buffers, pinned, and the firmware objects
 * that the kernel's driver creates by commands of its own in the context's name. They are made
 * one after the other, oldest first, and go the other way round.
 */
#ifndef UVERBS_OBJ_H
#define UVERBS_OBJ_H

#include <rdma/mlx5-abi.h>

#include "prm.h"
#include "uverbs.h"

/** Longest moderation period, in microseconds (12 bits in the device). */
#define ABI_CQ_PERIOD_MAX 0xfffu

struct abi_part {
	struct emu_obj *obj;
	uint64_t devx_id; /**< As abi_handle.devx_id; 0 for memory. */
};
#define ABI_PARTS 8

struct abi_cq {
	struct abi_channel *channel; /**< Completion channel, or NULL. */
	uint8_t cqe_sz;		     /**< PRM_CQC_CQE_SZ_* */
	bool stamps, real_time;	     /**< The program asked for time stamps, for these ones. */
};

enum abi_qp_state { ABI_QPS_RESET, ABI_QPS_INIT, ABI_QPS_RTR, ABI_QPS_RTS, ABI_QPS_SQD,
		    ABI_QPS_SQE, ABI_QPS_ERR, ABI_QPS_COUNT };
enum abi_qp_kind { ABI_QP_RAW, ABI_QP_RSS, ABI_QP_TRANSPORT };

struct abi_qp {
	enum abi_qp_kind kind;
	uint8_t type; /**< enum ib_uverbs_qp_type */
	uint8_t state;
	uint8_t port_num;
	bool sq_sig_all;
	struct ib_uverbs_qp_cap cap;
	struct emu_obj *sq, *rq, *tir, *tis, *qp; /**< Those of the parts that exist. */
	struct ib_uverbs_modify_qp attr; /**< What was set last, for query. */
	uint32_t qpn;
};

struct abi_srq {
	uint32_t max_wr, max_sge, limit;
	bool xrc;
};

struct abi_wq {
	uint32_t state;
	bool striding;
};

struct abi_ind_tbl {
	uint32_t log_size;
};

/* Pages of device memory that a file has; the device tells fewer bytes for one allocation. */
#define ABI_DM_PAGES 64u
struct abi_dm {
	uint16_t first, pages;
	uint64_t length;
};

struct abi_counters {
	bool bound;		/**< A flow counts with it; its description is fixed. */
	unsigned ndesc;
	struct {
		uint32_t description, index;
	} desc[8];
	struct emu_obj *counter;
};

/** The kernel's side of a verbs object; hangs on its handle. */
struct abi_verbs {
	uint64_t user_handle; /**< Stands in its events. */
	struct abi_part part[ABI_PARTS];
	unsigned nparts;
	struct abi_handle *uses[6]; /**< Each has one user more. */
	unsigned nuses;
	struct abi_channel *async; /**< Where its events go; NULL: the first of the file. */
	bool td; /**< Has a share in the file's transport domain. */
	uint32_t comp_events, async_events; /**< Put into channels. */
	union {
		struct abi_cq cq;
		struct abi_qp qp;
		struct abi_srq srq;
		struct abi_wq wq;
		struct abi_ind_tbl ind_tbl;
		struct abi_counters counters;
		struct abi_dm dm;
	};
};

/* ---- making and unmaking (uverbs_obj.c) ---- */

/** A handle without parts. NULL: out of memory. */
struct abi_handle *abi_verbs_new(struct abi_call *call, uint16_t object, uint64_t user_handle);
/** Other has one user more until h goes; NULL is none. */
void abi_verbs_use(struct abi_handle *h, struct abi_handle *other);
/** Pins [addr, addr + len) as a part that the device may read and write. 0 or -errno. */
int abi_verbs_pin(struct abi_call *call, struct abi_handle *h, uint64_t addr, uint64_t len,
		  uint32_t *umem_id);
/** Pins the page around a doorbell record; *offset is the record's place in it. */
int abi_verbs_pin_dbrec(struct abi_call *call, struct abi_handle *h, uint64_t addr,
			uint32_t *umem_id, uint64_t *offset);
/** Runs a create command; what it made becomes a part, and h->obj if there was none. */
int abi_verbs_create(struct abi_call *call, struct abi_handle *h, const void *in, size_t in_len,
		     struct emu_obj **obj);
/** The transport domain of the file, made for its first user. */
int abi_verbs_td(struct abi_call *call, struct abi_handle *h, uint32_t *tdn);
/** The newest part goes; with index 0 or more it first changes places with that part. */
void abi_verbs_drop_newest(struct abi_handle *h, int index);
/** Adds a part made otherwise. */
void abi_verbs_part(struct abi_handle *h, struct emu_obj *obj);
/** Destroys the parts and the handle. 0, or -EBUSY (in use), or what a command answered. */
int abi_verbs_destroy(struct abi_call *call, struct abi_handle *h);
/** Undoes a creation that failed with err, and returns err. */
int abi_verbs_undo(struct abi_call *call, struct abi_handle *h, int err);
/** True when one of the parts is what a command names. */
bool abi_verbs_is(const struct abi_handle *h, uint64_t devx_id);
/** Runs a command in the name of the context; a refusal comes as the status' errno. */
int abi_kernel_cmd(struct abi_call *call, const void *in, size_t in_len, void *out,
		   size_t out_len, struct emu_obj **created);

/** The handle in a legacy command; NULL (and a note in the audit) when it is of another type. */
struct abi_handle *abi_handle_of(const struct abi_call *call, uint32_t id, uint16_t object);
/** The handle of an ioctl's attribute, whose type was checked. */
struct abi_verbs *abi_verbs_in(const struct abi_call *call, uint16_t attr);

/**
 * The MAC address behind a RoCE GID, as the kernel's address resolution finds it: from a
 * link-local GID itself, from a multicast one, else whose of the machine's ports has it.
 * hop_limit is filled in where the route decides it. 0 or -EHOSTUNREACH.
 */
int abi_resolve_dmac(struct abi_call *call, const uint8_t dgid[16], uint8_t mac[6],
		     uint8_t *hop_limit);

/** What the verbs permit of a region's access flags: 0, -EINVAL, -EOPNOTSUPP. */
int abi_mr_access(struct abi_call *call, uint32_t access);
/** The most that one allocation of device memory may have, as the device says. */
uint64_t abi_dm_bytes_max(struct abi_call *call);
/** Frees the pages of device memory that an object had. */
void abi_dm_give(struct abi_file *file, const struct abi_dm *dm);

/* ---- events of verbs objects (uverbs_event.c) ---- */

/**
 * PRM ts_format of a queue that completes into a CQ, as mlx5_ib chooses it; NULL: into none.
 * -EOPNOTSUPP: the device has no such stamps.
 */
int abi_cq_ts_format(struct abi_call *call, const struct abi_handle *cq);

/** The completion channel behind a descriptor of the program, or NULL. No reference is kept. */
struct abi_channel *abi_comp_channel(const struct abi_call *call, int fd);
/** Takes note of the event descriptor that a create call names, if it names one. 0 or -EBADF. */
int abi_verbs_async(const struct abi_call *call, struct abi_handle *h, uint16_t attr);
/** Takes the records of an element that nobody read out of a channel; returns how many. */
unsigned abi_channel_purge(struct abi_channel *channel, uint64_t element);
/** Events that the program has read and libibverbs waits to see acknowledged. */
void abi_events_reported(struct abi_file *file, struct abi_verbs *v, uint32_t *comp,
			 uint32_t *async);

/* ---- legacy commands, by file; rows in uverbs_write.c ---- */

int abi_resize_cq(struct abi_call *call);
int abi_modify_cq(struct abi_call *call);
int abi_modify_qp(struct abi_call *call);
int abi_modify_qp_ex(struct abi_call *call);
int abi_query_qp(struct abi_call *call);
int abi_modify_wq(struct abi_call *call);
int abi_create_ind_tbl(struct abi_call *call);
int abi_create_flow(struct abi_call *call);
int abi_create_ah(struct abi_call *call);
int abi_reg_mr(struct abi_call *call);
int abi_rereg_mr(struct abi_call *call);
int abi_alloc_mw(struct abi_call *call);
int abi_open_xrcd(struct abi_call *call);
int abi_modify_srq(struct abi_call *call);
int abi_query_srq(struct abi_call *call);
int abi_attach_mcast(struct abi_call *call);
int abi_detach_mcast(struct abi_call *call);

extern const struct abi_method_table abi_cq_methods, abi_qp_methods, abi_wq_methods,
	abi_srq_methods, abi_vflow_methods, abi_mr_methods, abi_dm_methods;

#endif /* UVERBS_OBJ_H */
