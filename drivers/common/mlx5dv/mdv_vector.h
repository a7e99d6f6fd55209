/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Completion interrupts: descriptors that become readable when an armed CQ has completions.
 *
 * To sleep until a completion, call mdv_vector_ack(), mdv_cq_arm(), then poll the descriptor. The CQ is
 * armed with the consumer index: the device raises the event at once if there are completions beyond
 * it, so that none is missed between the last poll of the CQ and the arming. The descriptor stays
 * readable until the next mdv_vector_ack().
 *
 * A vector and its CQ must be used by one thread at a time; mdv_vector_kick() may be called by any.
 */
#ifndef MDV_VECTOR_H
#define MDV_VECTOR_H

#include "mdv.h"

/** Fields are read-only for users. */
struct mdv_vector {
	struct mdv_dev *dev;
	int fd;			/**< Non-blocking eventfd, closed by mdv_vector_free(). */
	uint32_t eqn;		/**< EQ for CQs of this vector. */
	struct mdv_cq *cq;	/**< Attached CQ, or NULL. */
	struct mlx5dv_devx_event_channel *channel; /**< Verbs: channel of the subscription. */
	struct mdv_msi *msi;	/**< VFIO: vector that owns fd. */
	struct mdv_eq *eq;	/**< VFIO: EQ of the vector. */
};

/**
 * Allocates a vector: a descriptor, and the EQ for its CQs (struct mdv_cq_attr).
 *
 * @param[out] out
 *   The vector; release it with mdv_vector_free(). NULL on failure.
 * @return
 *   0; -EOPNOTSUPP the kernel has no DEVX events; -ENOSPC all vectors of the function are in use (VFIO);
 *   -EMFILE; -ENOMEM.
 */
__rte_internal
int mdv_vector_alloc(struct mdv_dev *dev, struct mdv_vector **out);

/** Frees the vector and closes the descriptor. Destroy its CQs before. NULL is allowed. */
__rte_internal
void mdv_vector_free(struct mdv_vector *vector);

/**
 * Attaches a CQ, which must have been created with the vector in its attributes: its events make the
 * descriptor readable until it is destroyed. The vector keeps the pointer to cq and replaces a CQ
 * that was attached before.
 *
 * @return
 *   0; or the error of the subscription.
 */
__rte_internal
int mdv_vector_attach(struct mdv_vector *vector, struct mdv_cq *cq);

/**
 * Consumes pending events: the descriptor is not readable until the next one.
 *
 * @return
 *   1: there were events; 0: none; -errno the descriptor cannot be read.
 */
__rte_internal
int mdv_vector_ack(struct mdv_vector *vector);

/** Makes the descriptor readable as an event does, which wakes a thread that polls it. */
__rte_internal
void mdv_vector_kick(const struct mdv_vector *vector);

/**
 * Arms the CQ: requests one event for the first completion at or after consumer_index, immediately if
 * there is one already. Takes neither a command nor a system call: it writes the doorbell record and
 * the CQ doorbell.
 *
 * The sequence number (PRM, CQ doorbell, cmd_sn) must be incremented after an event, and only then: the
 * device ignores a request with the number of an event that it has delivered. An event is recognised
 * by mdv_vector_ack() or by a changed consumer index.
 *
 * @param consumer_index
 *   Completions consumed so far; the lower 24 bits are used.
 * @return
 *   false: the request repeats the last sequence number, because no event is known since. If the
 *   application read the descriptor itself, the device ignores the request, and there is a completion
 *   at consumer_index: poll the CQ.
 */
__rte_internal
bool mdv_cq_arm(struct mdv_cq *cq, uint32_t consumer_index);

#endif /* MDV_VECTOR_H */
