/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Notifies the application of ethdev events, in EAL's interrupt thread.
 *
 * DPDK gives its callbacks that one context, whichever port they are about; from there an application may close
 * any port. An alarm that expires at once brings the driver there.
 */
#ifndef MLXPMD_NOTIFY_H
#define MLXPMD_NOTIFY_H

#include "mlxpmd_sched.h"

struct mlxpmd_port;

/** Kinds of notifications, in the order of delivery. */
enum mlxpmd_notice { MLXPMD_NOTICE_RMV, MLXPMD_NOTICE_LSC, MLXPMD_NOTICE_QUEUE, MLXPMD_NB_NOTICES };

struct mlxpmd_notify {
	struct mlxpmd_port *port;
	struct mlxpmd_task task; /**< Of the control thread: sets the alarm. */
	uint32_t pending[MLXPMD_NB_NOTICES]; /**< How many of each kind: atomic. */
	bool alarm_set;		/**< deliver() will run: atomic. */
	bool alarm_failed;	/**< That was logged. */
	bool closing;		/**< Atomic: nothing is delivered any more. */
};

int mlxpmd_notify_up(struct mlxpmd_notify *notify, struct mlxpmd_port *port);
/** Delivers nothing from here on. */
void mlxpmd_notify_close(struct mlxpmd_notify *notify);
/** Waits for a callback in progress, unless it is the caller. Notices must not be added any more. */
void mlxpmd_notify_down(struct mlxpmd_notify *notify);
/** Any thread of the driver; takes no lock. */
void mlxpmd_notify_add(struct mlxpmd_notify *notify, enum mlxpmd_notice notice);

#endif /* MLXPMD_NOTIFY_H */
