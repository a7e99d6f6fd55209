/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The uverbs ioctl: declarations common to the files of its methods.
 *
 * A method is a row: object, method, attributes, handler. The dispatcher checks the attributes
 * against the row before it calls the handler, as the kernel does (core/uverbs_ioctl.c). A handler
 * can rely on mandatory attributes being present with a valid length and a valid handle.
 */
#ifndef UVERBS_H
#define UVERBS_H

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "abi/abi.h"

struct abi_async;
struct abi_sub;
struct abi_verbs;

/** A handle of the program; one number space per open file, from 1. */
struct abi_handle {
	uint32_t id;
	uint16_t object;     /**< UVERBS_OBJECT_* or MLX5_IB_OBJECT_*. */
	struct emu_obj *obj; /**< The firmware object; NULL for kernel objects. */
	/** obj_id of devx.c: creating opcode (general object type above it) << 32 | id. */
	uint64_t devx_id;
	unsigned users;		 /**< Verbs objects that refer to this one. */
	struct abi_verbs *verbs; /**< uverbs_obj.h; NULL for DEVX objects, PDs and MRs. */
};

/** An event descriptor, as seen by the model. */
struct abi_channel {
	struct abi_fdobj fo;   /**< First: descriptor of the program. */
	uint16_t object;       /**< UVERBS_OBJECT_ASYNC_EVENT, MLX5_IB_OBJECT_DEVX_ASYNC_* ... */
	int model_fd;
	int peer_fd; /**< Duplicate of the program's descriptor, to remove unread records; or -1. */
	struct abi_async *async; /**< uverbs_async.c: of a command channel of an open device. */
	bool omit_data;
	struct abi_file *file; /**< NULL once the device was closed. */
	/* Subscriptions whose records are in the socket, oldest first (omit_data only). */
	struct abi_sub **sent;
	unsigned nsent, sent_room;
	int record_bytes;      /**< Bytes that one record adds to the socket's queue. */
	TAILQ_ENTRY(abi_channel) next;
};

/** Subscription to one event type of one object, or to an unaffiliated event. */
struct abi_sub {
	struct abi_channel *channel;
	struct abi_handle *handle; /**< NULL: unaffiliated. */
	uint16_t type;
	uint64_t cookie;
	int eventfd; /**< The model's copy, or -1. */
	bool pending;
	TAILQ_ENTRY(abi_sub) next;
};

/** One open of a uverbs device. */
struct abi_file {
	struct abi_fdobj fo; /**< First. */
	struct emu_dev *dev;
	struct emu_ctx *ctx; /**< After GET_CONTEXT. */
	void *map;	     /**< The whole file. */
	int lock;	     /**< Of abi_driver_lock(). */
	bool shut;	     /**< The model has ended: all calls fail. */
	struct abi_handle **handles;
	unsigned nhandles;
	unsigned handle_free; /**< No number below is free. */
	struct emu_obj *td; /**< Transport domain of the verbs queues, while there are any. */
	unsigned td_users;
	uint64_t dm_pages; /**< Pages of device memory in use. */
	TAILQ_HEAD(, abi_channel) channels;
	TAILQ_HEAD(, abi_sub) subs;
	TAILQ_ENTRY(abi_file) next;
};

/** An ioctl being executed. */
struct abi_call {
	struct abi_file *file;
	struct emu_dev *dev;
	struct emu_ctx *ctx; /**< NULL before GET_CONTEXT. */
	struct ib_uverbs_attr *attrs;
	unsigned nattrs;
	const struct abi_method *method;
	const char *command; /**< Name of the write command, if it is one. */
};

enum abi_attr_kind {
	ABI_ATTR_NONE,	/**< Ends a list. */
	ABI_ATTR_IN,	/**< Data; up to 8 bytes are in the attribute itself. */
	ABI_ATTR_OUT,	/**< Data; always a pointer. */
	ABI_ATTR_HANDLE, /**< An object. */
	ABI_ATTR_NEW,	/**< A new object. */
	ABI_ATTR_FD,	/**< A channel's descriptor. */
	ABI_ATTR_FD_NEW, /**< A new channel's descriptor. */
	ABI_ATTR_ENUM,	/**< Choice in elem_id, value like IN. */
	ABI_ATTR_HANDLES, /**< Array of u32 handles. */
};

struct abi_attr_spec {
	uint16_t id;
	enum abi_attr_kind kind;
	bool mandatory;
	uint16_t object;   /**< HANDLE, FD: what it must be; ABI_ANY_OBJECT. */
	uint16_t min, max; /**< IN, OUT: length in bytes; max 0: no limit. */
};
#define ABI_ANY_OBJECT 0xffff
#define ABI_IN(id, min, max) {id, ABI_ATTR_IN, true, 0, min, max}
#define ABI_IN_OPT(id, min, max) {id, ABI_ATTR_IN, false, 0, min, max}
#define ABI_OUT(id, min) {id, ABI_ATTR_OUT, true, 0, min, 0}
#define ABI_OUT_OPT(id, min) {id, ABI_ATTR_OUT, false, 0, min, 0}
#define ABI_HANDLE(id, object) {id, ABI_ATTR_HANDLE, true, object, 0, 0}
#define ABI_HANDLE_OPT(id, object) {id, ABI_ATTR_HANDLE, false, object, 0, 0}
#define ABI_NEW(id, object) {id, ABI_ATTR_NEW, true, object, 0, 0}
#define ABI_FD(id, object) {id, ABI_ATTR_FD, true, object, 0, 0}
#define ABI_FD_NEW(id) {id, ABI_ATTR_FD_NEW, true, 0, 0, 0}

#define ABI_MAX_SPEC 18
struct abi_method {
	uint16_t object, method;
	const char *name; /**< For traces. */
	/** Lock held. 0 or -errno. NULL: known but not supported. */
	int (*run)(struct abi_call *call);
	bool needs_ctx;
	struct abi_attr_spec attrs[ABI_MAX_SPEC + 1]; /**< Ends with ABI_ATTR_NONE. */
};
/** The methods of one file; the dispatcher searches all tables. */
struct abi_method_table {
	const struct abi_method *methods;
	unsigned count;
};
extern const struct abi_method_table abi_device_methods, abi_devx_methods, abi_mem_methods,
	abi_event_methods, abi_flow_methods, abi_flow_action_methods;
/**
 * Raw packet QPs and rules need CAP_NET_RAW (Linux: ib_uverbs_ex_create_flow() and the handler of QP_CREATE in
 * drivers/infiniband/core, that of CREATE_FLOW in hw/mlx5/fs.c). MLXEMU_NET_RAW: "process": the capability of the
 * calling thread, "deny"; "grant" or unset: no check.
 * @return 0 or -EPERM, which is no violation.
 */
int abi_net_raw_check(const struct abi_call *call);
/** The row of a method; NULL if there is none. */
const struct abi_method *abi_method_find(uint16_t object, uint16_t method);
/** The same of an mlx4 device, which has fewer (uverbs_mlx4.c). */
const struct abi_method *abi_mlx4_method(uint16_t object, uint16_t method);
/** For tests: the i-th method of all tables, NULL after the last. */
const struct abi_method *abi_method_at(unsigned i);
#define ABI_METHODS(array) {array, sizeof(array) / sizeof((array)[0])}

/* ---- attributes (uverbs_attr.c) ---- */

/** Checks the call's attributes against its method's row. 0 or -errno as the kernel's. */
int abi_attrs_check(struct abi_call *call);
struct ib_uverbs_attr *abi_attr(const struct abi_call *call, uint16_t id);
/** Up to 8 bytes of input as a number; 0 if the attribute is absent. */
uint64_t abi_in_u64(const struct abi_call *call, uint16_t id);
/** Copies input to dst and fills the rest with zeros. 0 or -EFAULT. */
int abi_in(const struct abi_call *call, uint16_t id, void *dst, size_t size);
/** A private copy of the input; the caller frees. 0, -EFAULT or -ENOMEM. */
int abi_in_alloc(const struct abi_call *call, uint16_t id, void **data, size_t *len);
/** Length of an attribute, 0 when absent. */
size_t abi_len(const struct abi_call *call, uint16_t id);
/** Copies to the program, at most the length of the attribute; zeroes its tail. Absent: no effect. */
int abi_out(const struct abi_call *call, uint16_t id, const void *src, size_t size);
int abi_out_u32(const struct abi_call *call, uint16_t id, uint32_t v);
int abi_out_u64(const struct abi_call *call, uint16_t id, uint64_t v);
/** The object that a HANDLE attribute names (checked before); NULL when absent. */
struct abi_handle *abi_in_handle(const struct abi_call *call, uint16_t id);
/** memcpy from and to the program's memory that fails with -EFAULT instead of a signal. */
int abi_copy_from(void *dst, uint64_t src, size_t len);
int abi_copy_to(uint64_t dst, const void *src, size_t len);

/* ---- handles (uverbs_handles.c) ---- */

/** A new handle of obj (may be NULL), also stored in obj->abi. NULL: out of memory. */
struct abi_handle *abi_handle_new(struct abi_file *file, uint16_t object, struct emu_obj *obj);
/** The same, also stored in an attribute of the call; destroys obj and returns -ENOMEM on failure. */
int abi_handle_out(struct abi_call *call, uint16_t attr, uint16_t object, struct emu_obj *obj);
struct abi_handle *abi_handle_find(const struct abi_file *file, uint32_t id);
/** Frees the handle and the subscriptions of the object. */
void abi_handle_free(struct abi_file *file, struct abi_handle *handle);
void abi_handles_fini(struct abi_file *file);

/* ---- events (uverbs_event.c) ---- */

extern const struct emu_ctx_ops abi_ctx_ops;
/** Sends one record; false if the socket is full because the program does not read. */
bool abi_channel_send(struct abi_channel *ch, const void *data, size_t len);
/** An event of a verbs object, as verbs event (uverbs_verbs_event.c). */
void abi_verbs_event(struct abi_file *file, struct abi_handle *h, uint16_t type);
/** The channel is closed: objects must not use it any more. */
void abi_verbs_channel_removed(struct abi_channel *ch);
/** A new channel; the program's descriptor or -errno. */
int abi_channel_open(struct abi_file *file, uint16_t object, bool omit_data);
void abi_subs_drop(struct abi_file *file, const struct abi_channel *channel,
		   const struct abi_handle *handle);
/** Internal error: IBV_EVENT_DEVICE_FATAL of the port on event files. */
void abi_channels_failing(struct abi_file *file);
/** The device was removed: IBV_EVENT_DEVICE_FATAL on event files, then hang-up on all files. */
void abi_channels_removed(struct abi_file *file);
/** The file is closed: its channels remain, without wake-ups at process exit. */
void abi_channels_orphan(struct abi_file *file, bool exiting);
/** True if a fault rule loses the wake-up. */
bool abi_event_lost(struct emu_dev *dev);

/* ---- replies of asynchronous queries (uverbs_async.c) ---- */

/** Creates the list of a command channel; closing it frees unread replies. 0 or -ENOMEM. */
int abi_async_open(struct abi_channel *ch);
void abi_async_close(struct abi_channel *ch);
/** Reserves the bytes of an outbox until it is read; -EAGAIN: over the limit of the kernel. */
int abi_async_take(struct abi_channel *ch, size_t out_len);
/** Releases the reserved bytes. */
void abi_async_give(struct abi_channel *ch, size_t out_len);
/** Adds the reply to the channel, delay_us from now. 0 or -ENOMEM. */
int abi_async_reply(struct abi_channel *ch, uint64_t wr_id, const void *out, size_t out_len,
		    uint64_t delay_us);

/* ---- DEVX (uverbs_devx.c, uverbs_devx_cmds.c) ---- */

enum abi_devx_class { ABI_DEVX_CREATE, ABI_DEVX_MODIFY, ABI_DEVX_QUERY, ABI_DEVX_GENERAL };
/** Whether the kernel allows this command in this method. */
bool abi_devx_allowed(enum abi_devx_class cls, const void *in);
/** The object of a query or modify command, encoded like abi_handle.devx_id; 0: none. */
uint64_t abi_devx_object(const void *in);
/** Encoded id of the object that a create command has created. */
uint64_t abi_devx_created(const void *in, const void *out);
/** Sets the umem_valid bits, as the kernel does (devx_set_umem_valid()). */
void abi_devx_set_umem_valid(void *in, size_t len);
uint16_t abi_devx_opcode(const void *in);
/** True for a CREATE_MKEY whose key refers to other keys. */
bool abi_devx_indirect_mkey(const void *in, size_t len);

/** Reports a refused call as a violation and returns err. */
int abi_refuse(const struct abi_call *call, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- INVOKE_WRITE (uverbs_write.c) ---- */
int abi_write_command(struct abi_call *call);
/**
 * -ENOLINK after an internal error: a call for which the kernel's driver executes a command of its own (Linux,
 * mlx5_cmd_exec() and mlx5_internal_err_ret_value()). Else 0.
 */
int abi_kernel_refuses(const struct abi_call *call);
/** Destroys the object of a handle of any type; 0 or the kernel's -errno. */
int abi_destroy(struct abi_call *call, struct abi_handle *handle);

/** Fills the reply of QUERY_PORT (kernel: ib_uverbs_query_port()). */
void abi_port_attributes(const struct emu_dev *dev, unsigned port, struct ib_uverbs_query_port_resp *r);
void abi_device_attributes(struct abi_call *call, struct ib_uverbs_query_device_resp *r);
int abi_device_attributes_ex(struct abi_call *call);
/** The kernel's device_cap_flags (enum ib_device_cap_flags). */
uint64_t abi_device_cap_flags(const struct emu_dev *dev);
/** Clears r and sets the attributes common to all cards: firmware, GUIDs, vendor, one port. */
void abi_device_identity(const struct emu_dev *dev, struct ib_uverbs_query_device_resp *r);
void abi_mlx4_attributes(const struct emu_dev *dev, struct ib_uverbs_query_device_resp *r);
int abi_mlx4_attributes_ex(struct abi_call *call);
/** Formats of compressed completions that the device has: MLX5_IB_CQE_RES_FORMAT_*. */
unsigned abi_cqe_compression_formats(struct abi_call *call);

#endif /* UVERBS_H */
