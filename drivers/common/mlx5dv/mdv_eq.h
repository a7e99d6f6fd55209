/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Interrupt vectors and event queues, in VFIO mode only (MDV_OPEN_VFIO); in verbs mode the kernel owns
 * all of them.
 *
 * A vector or queue must be used by one thread at a time.
 */
#ifndef MDV_EQ_H
#define MDV_EQ_H

#include "mdv.h"

struct prm_eqe;

/** An MSI-X vector and its descriptor. Fields are read-only for users. */
struct mdv_msi {
	struct mdv_dev *dev;
	struct mlx5dv_devx_msi_vector *devx;
	int vector;	/**< 1 or more; libmlx5 uses vector 0. */
	int fd;		/**< Non-blocking eventfd, closed by mdv_msi_free(). */
};

/**
 * Allocates a vector (mlx5dv_devx_alloc_msi_vector(3)).
 *
 * @param[out] out
 *   The vector; release it with mdv_msi_free(). NULL on failure.
 * @return
 *   0; -ENOSPC all vectors of the function are in use; -EOPNOTSUPP not a VFIO context; -ENOMEM;
 *   -EMFILE; or the error of VFIO. Logged.
 */
__rte_internal
int mdv_msi_alloc(struct mdv_dev *dev, struct mdv_msi **out);

/**
 * Frees the vector and closes the descriptor. No EQ may use it any more. NULL is allowed.
 *
 * @return
 *   0; -EINVAL libmlx5 does not know the vector, logged. The caller then still owns the vector and
 *   its handle.
 */
__rte_internal
int mdv_msi_free(struct mdv_msi *msi);

/** Consumes pending interrupts: the descriptor is not readable until the next one. */
__rte_internal
void mdv_msi_drain(const struct mdv_msi *msi);

/** Fields are read-only for users. */
struct mdv_eq {
	struct mdv_dev *dev;
	struct mlx5dv_devx_eq *devx;
	uint32_t eqn;
	uint32_t index;	/**< Consumer index: events taken since creation. */
	uint32_t written; /**< Last consumer index that was written to the device. */
	uint8_t log_eqes;
};

/** EQEs in addition to those required, so that not every event needs a doorbell. */
#define MDV_EQ_SPARE 128u

/**
 * Creates an armed event queue.
 *
 * @param msi
 *   Its vector, which must outlive the queue.
 * @param log_eqes
 *   log2 of the number of entries, 7 to 22.
 * @param events
 *   Bit mask of device-wide event types 0 to 63 (PRM, Event Types) that are reported to this queue;
 *   0: only completion events of CQs created on it.
 * @param[out] out
 *   The queue; release it with mdv_eq_destroy(). NULL on failure.
 * @return
 *   0; -EINVAL log_eqes out of range; -ENOMEM; -EOPNOTSUPP not a VFIO context; or as mdv_cmd().
 */
__rte_internal
int mdv_eq_create(struct mdv_dev *dev, const struct mdv_msi *msi, uint8_t log_eqes, uint64_t events,
		  struct mdv_eq **out);

/**
 * Destroys the queue. Its CQs must have been destroyed before. NULL is allowed.
 *
 * @return
 *   0; or -errno if the device refused: it may still write to the queue, whose memory is lost until
 *   the process ends.
 */
__rte_internal
int mdv_eq_destroy(struct mdv_eq *eq);

/**
 * Takes the next event.
 *
 * @param[out] eqe
 *   Copy of the EQE.
 * @return
 *   false: no event.
 */
__rte_internal
bool mdv_eq_take(struct mdv_eq *eq, struct prm_eqe *eqe);

/**
 * Writes the consumer index to the device and requests an interrupt for the next event, immediately
 * if there is one already.
 */
__rte_internal
void mdv_eq_arm(struct mdv_eq *eq);

#endif /* MDV_EQ_H */
