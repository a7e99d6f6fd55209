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

/** Pending notifications, as bits: several of a kind become one. */
enum mlxpmd_notice {
	MLXPMD_NOTICE_RMV = 1 << 0,
	MLXPMD_NOTICE_LSC = 1 << 1,
	MLXPMD_NOTICE_QUEUE = 1 << 2,
};

struct mlxpmd_notify {
	struct mlxpmd_port *port;
	struct mlxpmd_task task; /**< Of the control thread: sets the alarm. */
	uint32_t pending;	/**< enum mlxpmd_notice: atomic. */
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
