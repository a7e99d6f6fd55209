/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Included in front of the driver's sources: their threads are started by the rig, which can make that fail. */
#ifndef RIG_THREAD_H
#define RIG_THREAD_H

#include <mdv_compat.h>

int rig_thread_create(pthread_t *thread, const char *name, mdv_thread_ret (*run)(void *arg), void *arg);
#define mdv_thread_create rig_thread_create

#endif /* RIG_THREAD_H */
