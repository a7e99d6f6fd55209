/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Asynchronous queries of firmware objects: mlx5dv_devx_obj_query_async(3). A query is handed over and
 * its answer taken later, so that nobody waits for the device.
 *
 * Contexts through the kernel's verbs only: a VFIO context has none. One channel belongs to one thread
 * at a time; different channels of a device are independent.
 */
#ifndef MDV_ASYNC_H
#define MDV_ASYNC_H

#include <stddef.h>

#include "mdv.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where answers are read from; queries that were handed over and not yet answered. */
struct mdv_async;

/** What the kernel lets the outboxes of one channel take, asked for and not yet taken (mlx5_ib). */
#define MDV_ASYNC_OUTBOXES_BYTES (1u << 20)
/** Bytes that the answer to a query with an outbox of so many bytes needs. */
#define MDV_ASYNC_REPLY_BYTES(out_bytes) (sizeof(uint64_t) + (out_bytes))

/** One answer. */
struct mdv_async_reply {
	uint64_t wr_id;		/**< As the query was given. */
	/** 0; or -errno of the firmware's status: refused, which was logged once, with names. */
	int rc;
	const void *out;	/**< The outbox, in the buffer of who took it. */
	size_t out_bytes;
};

/**
 * Opens a channel (mlx5dv_devx_create_cmd_comp).
 *
 * @param[out] out
 *   To be released by mdv_async_close(); NULL on failure.
 * @return
 *   0; -EOPNOTSUPP the context has no such channels (VFIO), which is not logged; -ENOMEM; -EMFILE; or
 *   what the kernel says.
 */
__rte_internal
int mdv_async_open(struct mdv_dev *dev, struct mdv_async **out);

/**
 * Closes it. What was not answered is lost; the kernel waits for the device until it has answered or
 * was given up. NULL is allowed.
 */
__rte_internal
void mdv_async_close(struct mdv_async *async);

/** Readable when there are answers, or the device is gone (poll(2)); not to be read. */
__rte_internal
int mdv_async_fd(const struct mdv_async *async);

/** Queries handed over and not taken yet. */
__rte_internal
unsigned int mdv_async_outstanding(const struct mdv_async *async);

/**
 * Quiet: refusals are neither logged nor counted from now on. For who asks again and again, and has
 * heard why.
 */
__rte_internal
void mdv_async_quiet(struct mdv_async *async, bool quiet);

/**
 * Hands over a query of the object, and returns at once. The object may go before the answer comes.
 *
 * @param in
 *   Inbox; its opcode is a query command and it carries the object's id. Copied.
 * @param out_bytes
 *   Size of the outbox, 16 bytes at least, 65535 at most.
 * @param wr_id
 *   Comes back with the answer; any number, also one that is in use.
 * @return
 *   0; -EAGAIN as much as the kernel allows is outstanding: take answers first (not logged); -EINVAL
 *   not a query command, too short, another object's, or an outbox of an impossible size; -EIO or
 *   -ENODEV the device is gone; -ENOMEM. Nothing is outstanding of a query that failed.
 */
__rte_internal
int mdv_async_query(struct mdv_async *async, struct mdv_obj *obj, const void *in, size_t in_bytes,
		    size_t out_bytes, uint64_t wr_id);

/**
 * Takes the next answer, without waiting. The device's commands run side by side: answers come in the
 * order in which they were ready.
 *
 * An outbox of nothing but zeros need not be an answer: the kernel leaves it so when it gives a command
 * up, as it does when the device is reset (mlx5_ib passes the failure of the command itself to nobody).
 *
 * @param buf
 *   Receives the answer; 8-byte aligned; the outbox stands in it.
 * @param bytes
 *   Its size: MDV_ASYNC_REPLY_BYTES() of the largest outbox that was asked for.
 * @param[out] answer
 *   Set on success only.
 * @return
 *   0; -EAGAIN nothing there yet (not logged); -ENOSPC the answer does not fit, and stays where it is;
 *   -EINVAL a buffer that no answer fits; -EPROTO an answer to no query of this channel; -EIO the
 *   device went away: no answer will come any more.
 */
__rte_internal
int mdv_async_take(struct mdv_async *async, void *buf, size_t bytes,
		   struct mdv_async_reply *answer);

/** mdv_q_counter_read() without waiting; the answer is for mdv_q_counter_read_result(). */
__rte_internal
int mdv_q_counter_read_async(struct mdv_async *async, struct mdv_obj *counter, uint64_t wr_id);

/** Bytes that such an answer needs. */
#define MDV_Q_COUNTER_REPLY_BYTES MDV_ASYNC_REPLY_BYTES(256)

/** What the device answered; out_of_buffer of the set, a count of 32 bits that wraps. 0; answer->rc. */
__rte_internal
int mdv_q_counter_read_result(const struct mdv_async_reply *answer, uint32_t *out_of_buffer);

#ifdef __cplusplus
}
#endif
#endif /* MDV_ASYNC_H */
