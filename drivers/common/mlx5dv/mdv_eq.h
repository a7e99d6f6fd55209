/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Interrupt vectors and event queues of one's own: only for devices opened through VFIO
 * (MDV_OPEN_VFIO), elsewhere the kernel has them all.
 *
 * A vector, and a queue, belong to one thread at a time.
 */
#ifndef MDV_EQ_H
#define MDV_EQ_H

#include "mdv.h"

struct prm_eqe;

#ifdef __cplusplus
extern "C" {
#endif

/** An MSI-X vector and the descriptor that it makes readable. Fields are read-only for users. */
struct mdv_msi {
	struct mdv_dev *dev;
	struct mlx5dv_devx_msi_vector *devx;
	int vector;	/**< From 1 on: 0 is the library's. */
	int fd;		/**< An eventfd, not blocking; lasts as long as the vector. */
};

/**
 * Takes a free vector (mlx5dv_devx_alloc_msi_vector(3)).
 *
 * @param[out] out
 *   The vector, to be released by mdv_msi_free(); NULL on failure.
 * @return
 *   0; -ENOSPC all vectors of the function are taken; -EOPNOTSUPP not a VFIO context; -ENOMEM,
 *   -EMFILE; or why VFIO does not switch it on. One line.
 */
__rte_internal
int mdv_msi_alloc(struct mdv_dev *dev, struct mdv_msi **out);

/**
 * Gives it back and closes the descriptor. No EQ may use it any more. NULL is allowed.
 *
 * @return
 *   0; or -errno and one line: -EINVAL, the library does not know it. The vector is the caller's
 *   then as before; the memory of the handle stays with it.
 */
__rte_internal
int mdv_msi_free(struct mdv_msi *msi);

/** Takes what has come and makes the descriptor unreadable until the next interrupt. */
__rte_internal
void mdv_msi_drain(const struct mdv_msi *msi);

/** Fields are read-only for users. */
struct mdv_eq {
	struct mdv_dev *dev;
	struct mlx5dv_devx_eq *devx;
	uint32_t eqn;
	uint32_t index;	/**< Consumer index: events taken since the start. */
	uint32_t told;	/**< As the device last heard of it. */
	uint8_t log_eqes;
};

/** EQEs that there are beyond those asked for, so that the index need not be told with each. */
#define MDV_EQ_SPARE 128u

/**
 * Makes an event queue, armed, whose first event raises the vector.
 *
 * @param msi
 *   Its vector, which must outlive it.
 * @param log_eqes
 *   log2 of its entries, 7 to 22: MDV_EQ_SPARE of them or more.
 * @param events
 *   Bits of event types (PRM, Event Types) up to 63 that it is to be told of for the whole device;
 *   0 for one that only hears of the CQs created on it.
 * @param[out] out
 *   The queue, to be released by mdv_eq_destroy(); NULL on failure.
 * @return
 *   0; -EINVAL sizes; -ENOMEM; -EOPNOTSUPP not a VFIO context; or the device's answer by name.
 */
__rte_internal
int mdv_eq_create(struct mdv_dev *dev, const struct mdv_msi *msi, uint8_t log_eqes, uint64_t events,
		  struct mdv_eq **out);

/**
 * Destroys it. CQs created on it must have gone. NULL is allowed.
 *
 * @return
 *   0; or what the device answered: it may still write there, and queue and memory are lost until
 *   the process ends.
 */
__rte_internal
int mdv_eq_destroy(struct mdv_eq *eq);

/**
 * The next event, a copy of it.
 *
 * @return
 *   false: none has come.
 */
__rte_internal
bool mdv_eq_take(struct mdv_eq *eq, struct prm_eqe *eqe);

/**
 * Tells the device how far events were taken, and asks for an interrupt at the next one; at once
 * if that has come already.
 */
__rte_internal
void mdv_eq_arm(struct mdv_eq *eq);

#ifdef __cplusplus
}
#endif
#endif /* MDV_EQ_H */
