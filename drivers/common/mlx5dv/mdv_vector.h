/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Completion interrupts: descriptors that become readable when an armed CQ has completions.
 *
 * A cycle of sleep and wake is: mdv_vector_ack(), mdv_cq_arm(), poll the descriptor; and again. The
 * CQ is armed with the consumer index, so that a device whose completions are ahead of it raises the
 * event at once: between the last look at the CQ and the arming nothing is lost. Events that come
 * while nobody waits leave the descriptor readable until the next mdv_vector_ack().
 *
 * A vector and its CQ belong to one thread at a time, but mdv_vector_kick() is for any.
 */
#ifndef MDV_VECTOR_H
#define MDV_VECTOR_H

#include "mdv.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fields are read-only for users. */
struct mdv_vector {
	struct mdv_dev *dev;
	int fd;			/**< An eventfd, not blocking; lasts as long as the vector. */
	uint32_t eqn;		/**< EQ for CQs of this vector. */
	struct mdv_cq *cq;	/**< Attached; NULL: none. */
	struct mlx5dv_devx_event_channel *channel; /**< Verbs: carries the subscriptions. */
	struct mdv_msi *msi;	/**< VFIO: where fd comes from, */
	struct mdv_eq *eq;	/**< and what raises it. */
};

/**
 * Makes a vector: a descriptor, and the EQ that its CQs are to name (struct mdv_cq_attr).
 *
 * @param[out] out
 *   The vector, to be released by mdv_vector_free(); NULL on failure.
 * @return
 *   0; -EOPNOTSUPP where the kernel has no DEVX events; -ENOSPC where, through VFIO, all vectors of the
 *   function are taken; or why a descriptor cannot be had (-EMFILE, -ENOMEM).
 */
__rte_internal
int mdv_vector_alloc(struct mdv_dev *dev, struct mdv_vector **out);

/** Closes the descriptor; its CQs must have been destroyed. NULL is allowed. */
__rte_internal
void mdv_vector_free(struct mdv_vector *vector);

/**
 * Events of this CQ, made with the vector in its attributes, go to the descriptor from now on, until
 * the CQ is destroyed. cq is remembered: it may not move. Another CQ takes the place of the one before.
 *
 * @return
 *   0; or what the kernel says of the subscription.
 */
__rte_internal
int mdv_vector_attach(struct mdv_vector *vector, struct mdv_cq *cq);

/**
 * Takes the events that have come, and makes the descriptor unreadable until the next one.
 *
 * @return
 *   1: there were some; 0: none; -errno when the descriptor cannot be read.
 */
__rte_internal
int mdv_vector_ack(struct mdv_vector *vector);

/** Makes the descriptor readable, as an event does: wakes who sleeps on it. */
__rte_internal
void mdv_vector_kick(const struct mdv_vector *vector);

/**
 * Asks for one event: of the first completion at or after consumer_index, at once if it is there
 * already. Neither a command nor a system call: a doorbell record and a doorbell.
 *
 * The sequence number that goes along moves on only after an event, as the device demands: it takes
 * no second order with the number of an event that it delivered. That there was one is seen by
 * mdv_vector_ack(), or by the consumer index having moved since.
 *
 * @param consumer_index
 *   Completions consumed so far; of it the lower 24 bits count.
 * @return
 *   false: the order has the number of the last one, as far as is known not answered yet. Should
 *   somebody else have read the descriptor, the device takes no order: there is a completion at
 *   consumer_index then, which the caller has to see for himself.
 */
__rte_internal
bool mdv_cq_arm(struct mdv_cq *cq, uint32_t consumer_index);

#ifdef __cplusplus
}
#endif
#endif /* MDV_VECTOR_H */
