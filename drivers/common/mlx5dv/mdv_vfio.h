/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What a device has that was opened through VFIO: the pump, the initialization segment, events. */
#ifndef MDV_VFIO_H
#define MDV_VFIO_H

#include <pthread.h>

#include "mdv_eq.h"
#include "mdv_private.h"

#define MDV_L2_NONE -1

struct mdv_vfio {
	/**
	 * The head of BAR 0, as the library mapped it, found through the UAR, whose page it is part
	 * of: page n is n * 4 KiB behind it. NULL where that cannot be seen to be so. Atomic: the pump
	 * runs before it is known.
	 */
	const struct prm_initial_seg *seg;
	pthread_t pump;
	int stop_fd;	   /**< Wakes the pump, which then ends. */
	bool pump_runs;
	uint32_t counter;  /**< The health counter at the last look, */
	uint64_t look_tsc; /**< when that was, 0: there was none, */
	uint64_t stood_tsc; /**< and for how long it has not moved. */
	int event_fd;	   /**< Of the vector; the pump wakes it as well. -1: not up. */
	struct mdv_msi *msi; /**< There is no opening without one. */
	struct mdv_eq *eq;
	int l2_index;	/**< Entry of the card's table of addresses that is the port's, or MDV_L2_NONE. */
	bool l2_refused; /**< It was said already. */
	pthread_mutex_t eq_lock; /**< Whoever takes events, or gives the device up. */
	int bell_fd;	   /**< The library's own events descriptor, whatever has its number by now, */
	int end_fd;	   /**< and what is to have it when the device is given up. */
	uint32_t ended;	   /**< mdv_dev.calls_ended at the last look, */
	uint64_t waited_look_tsc; /**< when that was, */
	uint64_t waited_tsc; /**< and for how long no call that was begun has ended. */
};

/** Why a device is past help, or NULL while it is well. Any thread; a few reads of registers. */
const char *mdv_vfio_fatal_reason(struct mdv_dev *dev);
/** Lets the library serve the device's requests from a thread of its own. 0 or -errno, logged. */
int mdv_vfio_pump_start(struct mdv_dev *dev);
void mdv_vfio_pump_stop(struct mdv_dev *dev);

/* ------------------------------------------------------------------ mdv_vfio_wait.c */

/** Holds what is needed to end waits, once the library has opened the device. 0 or -errno, logged. */
int mdv_vfio_waits_up(struct mdv_dev *dev);
/** Every thread that waits in the library for the device leaves it, and no other gets stuck. Once. */
void mdv_vfio_waits_end(struct mdv_dev *dev);
void mdv_vfio_waits_down(struct mdv_dev *dev);
/** Has no command come to its end for so long that none will? The pump's only. */
bool mdv_vfio_waits_long(struct mdv_dev *dev);
/** Closes the library's context, in the background if the device does not answer. Logs. */
void mdv_vfio_close_context(struct mdv_dev *dev);

/* ------------------------------------------------------------------ events and the port */

/** The port's address is another now: writes it where the card looks it up. Logs what is refused. */
void mdv_vfio_l2_move(struct mdv_dev *dev, const uint8_t mac[6]);

/* As in struct mdv_backend. */
int mdv_vfio_port_up(struct mdv_dev *dev);
void mdv_vfio_port_down(struct mdv_dev *dev);
int mdv_vfio_events_up(struct mdv_dev *dev);
void mdv_vfio_events_down(struct mdv_dev *dev);
int mdv_vfio_event_fd(const struct mdv_dev *dev);
uint32_t mdv_vfio_events_take(struct mdv_dev *dev);
int mdv_vfio_health_check(struct mdv_dev *dev);
bool mdv_vfio_quiesced(const struct mdv_dev *dev);
int mdv_vfio_vector_up(struct mdv_vector *v);
void mdv_vfio_vector_down(struct mdv_vector *v);
int mdv_vfio_vector_attach(struct mdv_vector *v, struct mdv_cq *cq);
bool mdv_vfio_vector_drain(struct mdv_vector *v);
extern const struct mdv_port_ops mdv_vfio_port;

#endif /* MDV_VFIO_H */
