/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Asynchronous queries of firmware objects: mlx5dv_devx_obj_query_async(3). A query is started and its
 * reply taken later, so that no thread waits for the device.
 *
 * In verbs mode only. A channel must be used by one thread at a time; different channels of a device
 * are independent.
 */
#ifndef MDV_ASYNC_H
#define MDV_ASYNC_H

#include <stddef.h>

#include "mdv.h"

/** A channel for replies. */
struct mdv_async;

/** Limit of the outboxes of all outstanding queries of a channel (mlx5_ib, MAX_ASYNC_BYTES_IN_USE). */
#define MDV_ASYNC_OUTBOXES_BYTES (1u << 20)
/** Size of the buffer for a reply whose outbox has out_bytes bytes. */
#define MDV_ASYNC_REPLY_BYTES(out_bytes) (sizeof(uint64_t) + (out_bytes))

/** A reply. */
struct mdv_async_reply {
	uint64_t wr_id;		/**< As passed to mdv_async_query(). */
	/** 0; or -errno of the firmware status: refused, logged. */
	int rc;
	const void *out;	/**< The outbox, in the buffer of mdv_async_take(). */
	size_t out_bytes;
};

/**
 * Opens a channel (mlx5dv_devx_create_cmd_comp).
 *
 * @param[out] out
 *   The channel; release it with mdv_async_close(). NULL on failure.
 * @return
 *   0; -EOPNOTSUPP not supported (VFIO mode), not logged; -ENOMEM; -EMFILE; or the error of the kernel.
 */
__rte_internal
int mdv_async_open(struct mdv_dev *dev, struct mdv_async **out);

/**
 * Closes the channel and discards outstanding replies; the kernel waits until these commands have
 * completed or timed out. NULL is allowed.
 */
__rte_internal
void mdv_async_close(struct mdv_async *async);

/** Descriptor that is readable when there are replies or the device was removed. Only for poll(2). */
__rte_internal
int mdv_async_fd(const struct mdv_async *async);

/** Number of queries whose reply was not taken yet. */
__rte_internal
unsigned int mdv_async_outstanding(const struct mdv_async *async);

/**
 * Sets whether refusals are neither logged nor counted, for queries that are repeated after a failure.
 */
__rte_internal
void mdv_async_quiet(struct mdv_async *async, bool quiet);

/**
 * Starts a query of the object and returns. The object may be destroyed before the reply arrives.
 *
 * @param in
 *   Inbox of a query command with the object's id. Copied.
 * @param out_bytes
 *   Size of the outbox, 16 to 65535.
 * @param wr_id
 *   Returned with the reply; need not be unique.
 * @return
 *   0; -EAGAIN the kernel's limit is reached: take replies first (not logged); -EINVAL not a query
 *   command, too short, wrong object id or outbox size; -EIO or -ENODEV the device was removed;
 *   -ENOMEM.
 */
__rte_internal
int mdv_async_query(struct mdv_async *async, struct mdv_obj *obj, const void *in, size_t in_bytes,
		    size_t out_bytes, uint64_t wr_id);

/**
 * Takes the next reply without waiting. Replies arrive in the order of completion, because commands run
 * in parallel.
 *
 * An outbox of zeros may mean that the command timed out or the device was reset: mlx5_ib does not
 * report the failure of an asynchronous command (Linux, drivers/infiniband/hw/mlx5/devx.c, devx_query_callback()).
 *
 * @param buf
 *   Receives the reply and its outbox; 8-byte aligned.
 * @param bytes
 *   Size of buf: MDV_ASYNC_REPLY_BYTES() of the largest outbox.
 * @param[out] reply
 *   Set on success only.
 * @return
 *   0; -EAGAIN no reply yet (not logged); -ENOSPC the reply does not fit and stays queued; -EINVAL buf is
 *   too small for any reply; -EPROTO no such query on this channel; -EIO the device was removed.
 */
__rte_internal
int mdv_async_take(struct mdv_async *async, void *buf, size_t bytes,
		   struct mdv_async_reply *reply);

/** Starts mdv_q_counter_read(); pass the reply to mdv_q_counter_read_result(). */
__rte_internal
int mdv_q_counter_read_async(struct mdv_async *async, struct mdv_obj *counter, uint64_t wr_id);

/** Size of the buffer for such a reply. */
#define MDV_Q_COUNTER_REPLY_BYTES MDV_ASYNC_REPLY_BYTES(256)

/** Result of the query: out_of_buffer of the set, a 32-bit counter that wraps. 0, or reply->rc. */
__rte_internal
int mdv_q_counter_read_result(const struct mdv_async_reply *reply, uint32_t *out_of_buffer);

#endif /* MDV_ASYNC_H */
