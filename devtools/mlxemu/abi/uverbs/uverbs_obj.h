/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Verbs objects, which the kernel builds from firmware objects.
 *
 * A verbs object has a handle and parts: the program's buffers, pinned, and the firmware objects
 * that the kernel's driver creates with the uid of the context. They are created
 * in order and destroyed in reverse order.
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
#define ABI_PARTS 9

struct abi_cq {
	struct abi_channel *channel; /**< Completion channel, or NULL. */
	uint8_t cqe_sz;		     /**< PRM_CQC_CQE_SZ_* */
	bool stamps, real_time;	     /**< Timestamps requested; real-time ones. */
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
	struct emu_obj *pp; /**< The same: of a raw packet QP whose rate is limited. */
	struct prm_set_pp_rate_limit_context rate; /**< Its limit. */
	struct ib_uverbs_modify_qp attr; /**< Last attributes set, for queries. */
	uint32_t qpn;
};

struct abi_srq {
	uint32_t max_wr, max_sge, limit;
};

struct abi_wq {
	uint32_t state;
	bool striding;
};

struct abi_ind_tbl {
	uint32_t log_size;
};

/* Pages of device memory per file; the limit of one allocation is lower. */
#define ABI_DM_PAGES 64u
struct abi_dm {
	uint16_t first, pages;
	uint64_t length;
};

struct abi_counters {
	bool bound;		/**< Used by a flow: its description is fixed. */
	unsigned ndesc;
	struct {
		uint32_t description, index;
	} desc[8];
	struct emu_obj *counter;
};

/** State of a verbs object in the kernel; belongs to its handle. */
struct abi_verbs {
	uint64_t user_handle; /**< Copied to its events. */
	struct abi_part part[ABI_PARTS];
	unsigned nparts;
	struct abi_handle *uses[6]; /**< References to other objects. */
	unsigned nuses;
	struct abi_channel *async; /**< Channel of its events; NULL: the first one of the file. */
	bool td; /**< Uses the transport domain of the file. */
	uint32_t comp_events, async_events; /**< Events sent to channels. */
	union {
		struct abi_cq cq;
		struct abi_qp qp;
		struct abi_srq srq;
		struct abi_wq wq;
		struct abi_ind_tbl ind_tbl;
		struct abi_counters counters;
		struct abi_dm dm;
		bool decap; /**< Flow action without a firmware object: L2 decapsulation. */
	};
};

/* ---- creation and destruction (uverbs_obj.c) ---- */

/** A handle without parts. NULL: out of memory. */
struct abi_handle *abi_verbs_new(struct abi_call *call, uint16_t object, uint64_t user_handle);
/** Takes a reference to other until h is destroyed; NULL is allowed. */
void abi_verbs_use(struct abi_handle *h, struct abi_handle *other);
/** Pins [addr, addr + len) as a part that the device may read and write. 0 or -errno. */
int abi_verbs_pin(struct abi_call *call, struct abi_handle *h, uint64_t addr, uint64_t len,
		  uint32_t *umem_id);
/** Pins the page of a doorbell record; *offset is the offset of the record in it. */
int abi_verbs_pin_dbrec(struct abi_call *call, struct abi_handle *h, uint64_t addr,
			uint32_t *umem_id, uint64_t *offset);
/** Executes a create command; the new object becomes a part, and h->obj if that is NULL. */
int abi_verbs_create(struct abi_call *call, struct abi_handle *h, const void *in, size_t in_len,
		     struct emu_obj **obj);
/** The transport domain of the file, created for its first user. */
int abi_verbs_td(struct abi_call *call, struct abi_handle *h, uint32_t *tdn);
/** Removes the newest part; with index 0 or more it is swapped with that part first. */
void abi_verbs_drop_newest(struct abi_handle *h, int index);
/** Adds an existing object as a part. */
void abi_verbs_part(struct abi_handle *h, struct emu_obj *obj);
/** Adds an object that is destroyed after all parts; destroys the one that it replaces. Both may be NULL. */
void abi_verbs_part_last(struct abi_handle *h, struct emu_obj *obj, struct emu_obj *old);
/** Destroys the parts and the handle. 0, or -EBUSY (in use), or the errno of a refused command. */
int abi_verbs_destroy(struct abi_call *call, struct abi_handle *h);
/** Undoes a creation that failed with err, and returns err. */
int abi_verbs_undo(struct abi_call *call, struct abi_handle *h, int err);
/** True if one of the parts is the object of a command. */
bool abi_verbs_is(const struct abi_handle *h, uint64_t devx_id);
/** Executes a command with the uid of the context; on refusal returns the errno of the status. */
int abi_kernel_cmd(struct abi_call *call, const void *in, size_t in_len, void *out,
		   size_t out_len, struct emu_obj **created);

/** The handle in a legacy command; NULL (and a violation) if it has another type. */
struct abi_handle *abi_handle_of(const struct abi_call *call, uint32_t id, uint16_t object);
/** The handle of an ioctl's attribute, whose type was checked. */
struct abi_verbs *abi_verbs_in(const struct abi_call *call, uint16_t attr);

/**
 * The MAC address of a RoCE GID, as resolved by the kernel: derived from a link-local or multicast
 * GID, else the one of the machine's port with this GID. hop_limit is set if the route determines
 * it. 0 or -EHOSTUNREACH.
 */
int abi_resolve_dmac(struct abi_call *call, const uint8_t dgid[16], uint8_t mac[6],
		     uint8_t *hop_limit);

/** An object that refers to an entry of the table of rates; destroying it gives the reference back. 0 or -errno. */
int abi_pp_new(struct abi_call *call, const struct prm_set_pp_rate_limit_context *context, uint16_t uid, bool dedicated,
	       struct emu_obj **obj, uint16_t *index);
/** Checks the access flags of a region: 0, -EINVAL, -EOPNOTSUPP. */
int abi_mr_access(struct abi_call *call, uint32_t access);
/** Maximum size of one allocation of device memory. */
uint64_t abi_dm_bytes_max(struct abi_call *call);
/** Frees the pages of device memory that an object had. */
void abi_dm_give(struct abi_file *file, const struct abi_dm *dm);

/* ---- events of verbs objects (uverbs_event.c) ---- */

/**
 * PRM ts_format of a queue that completes into a CQ, as mlx5_ib chooses it; NULL: into none.
 * -EOPNOTSUPP: the device does not support the format.
 */
int abi_cq_ts_format(struct abi_call *call, const struct abi_handle *cq);

/** The completion channel of a descriptor of the program, or NULL. No reference is kept. */
struct abi_channel *abi_comp_channel(const struct abi_call *call, int fd);
/** Stores the event descriptor of a create call, if it has one. 0 or -EBADF. */
int abi_verbs_async(const struct abi_call *call, struct abi_handle *h, uint16_t attr);
/** Numbers of events that were sent: libibverbs waits until so many are acknowledged. */
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
int abi_modify_srq(struct abi_call *call);
int abi_query_srq(struct abi_call *call);

extern const struct abi_method_table abi_cq_methods, abi_qp_methods, abi_wq_methods,
	abi_srq_methods, abi_pp_methods, abi_vflow_methods, abi_mr_methods, abi_dm_methods;

#endif /* UVERBS_OBJ_H */
