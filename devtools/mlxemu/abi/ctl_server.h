/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The control socket of a process with emulated devices. */
#ifndef ABI_CTL_SERVER_H
#define ABI_CTL_SERVER_H

#include <stdbool.h>

#include "core/emu_dev.h"

/**
 * Listens at <dir>/ctl.PID, creates the link <dir>/ctl to it, and starts the thread.
 * 0 or -errno.
 */
int abi_ctl_start(struct emu_machine *m, const char *dir);
/** Stops the thread and removes the socket; lock not held. No effect if not started. */
void abi_ctl_stop(void);
/** Whether libjansson could be loaded (lazy_jansson.c). */
bool abi_json_loaded(void);

#endif /* ABI_CTL_SERVER_H */
