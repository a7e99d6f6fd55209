/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* State of a device that was opened through VFIO. */
#ifndef MDV_VFIO_H
#define MDV_VFIO_H

#include <pthread.h>

#include "mdv_eq.h"
#include "mdv_private.h"

#define MDV_L2_NONE -1

struct mdv_vfio {
	/**
	 * Initialization segment at the start of BAR 0, located from a UAR that libmlx5 mapped. NULL:
	 * not located. Atomic, because the event thread starts before the UAR exists.
	 */
	const struct prm_initial_seg *seg;
	int device_fd;	   /**< That of libmlx5, for as long as the context is open; -1: not known. */
	pthread_t event_thread;
	int stop_fd;	   /**< Ends the event thread. */
	bool event_thread_runs;
	uint32_t health_counter; /**< Value at the last check. */
	uint64_t health_check_tsc; /**< Time of the last check; 0: none yet. */
	uint64_t health_stalled_tsc; /**< For how long the counter has not changed. */
	struct mdv_msi *msi;
	struct mdv_eq *eq;
	int l2_index;	/**< MPFS entry of the port, or MDV_L2_NONE. */
	bool l2_refused; /**< A refusal of SET_L2_TABLE_ENTRY was logged. */
	pthread_mutex_t eq_lock; /**< Protects eq and mdv_dev.event_fd. */
	int library_event_fd; /**< Duplicate of the events descriptor of libmlx5. */
	int closed_fd;	   /**< Replaces that descriptor when the device fails. */
	uint32_t calls_ended; /**< mdv_dev.calls_ended at the last check. */
	uint64_t calls_check_tsc; /**< Time of the last check. */
	uint64_t calls_stalled_tsc; /**< For how long no call has ended although one was running. */
	bool dma_ended;	/**< mdv_vfio_quiesced() has tried to end the DMA; with eq_lock. */
};

/**
 * Reason of a fatal state, or NULL. Reads a few registers; any thread. As Linux does in
 * mlx5_health_check_fatal_sensors() (drivers/net/ethernet/mellanox/mlx5/core/health.c).
 */
enum mdv_fatal mdv_vfio_fatal_reason(struct mdv_dev *dev);
/** Starts the thread that calls mlx5dv_vfio_process_events(3). 0 or -errno, logged. */
int mdv_vfio_thread_start(struct mdv_dev *dev);
void mdv_vfio_thread_stop(struct mdv_dev *dev);

/** Opens the descriptors that end waits for commands when the device fails. 0 or -errno, logged. */
int mdv_vfio_waits_up(struct mdv_dev *dev);
void mdv_vfio_waits_down(struct mdv_dev *dev);
/* ------------------------------------------------------------------ events and the port */

/* As in struct mdv_backend. */
int mdv_vfio_port_up(struct mdv_dev *dev);
void mdv_vfio_port_down(struct mdv_dev *dev);
int mdv_vfio_events_up(struct mdv_dev *dev);
void mdv_vfio_events_down(struct mdv_dev *dev);
uint32_t mdv_vfio_events_take(struct mdv_dev *dev);
int mdv_vfio_health_check(struct mdv_dev *dev);
bool mdv_vfio_quiesced(struct mdv_dev *dev);
int mdv_vfio_vector_up(struct mdv_vector *v);
void mdv_vfio_vector_down(struct mdv_vector *v);
bool mdv_vfio_vector_drain(struct mdv_vector *v);
extern const struct mdv_port_ops mdv_vfio_port;
/* As in struct mdv_port_ops (mdv_vfio_module.c). */
int mdv_vfio_module_info(struct mdv_dev *dev, struct mdv_module *module);
int mdv_vfio_module_read(struct mdv_dev *dev, uint32_t offset, uint32_t bytes, uint8_t *data);
/* The same (mdv_fec.c). */
int mdv_vfio_fec_caps(struct mdv_dev *dev, struct mdv_fec_cap caps[MDV_FEC_SPEEDS]);
int mdv_vfio_fec_get(struct mdv_dev *dev, uint32_t *mode);
int mdv_vfio_fec_set(struct mdv_dev *dev, uint32_t mode);
/** Sets the port up that the caller has set down, if refused once more. 0 or a negative errno. */
int mdv_vfio_up_again(struct mdv_dev *dev);

#endif /* MDV_VFIO_H */
