/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Events, removal and quiescence of a device, independent of the backend. */

#include "mdv_private.h"

RTE_EXPORT_INTERNAL_SYMBOL(mdv_removed)
bool
mdv_removed(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->removed, __ATOMIC_RELAXED);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_removed_set)
void
mdv_removed_set(struct mdv_dev *dev)
{
	if (!__atomic_exchange_n(&dev->removed, true, __ATOMIC_RELAXED))
		MDV_RECORD(dev, .kind = MDV_RECORD_REMOVED);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_quiesced)
bool
mdv_quiesced(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->quiesced, __ATOMIC_RELAXED);
}

void
mdv_quiesced_set(struct mdv_dev *dev)
{
	if (!__atomic_exchange_n(&dev->quiesced, true, __ATOMIC_RELAXED))
		MDV_RECORD(dev, .kind = MDV_RECORD_QUIESCED, .op = 1);
}

void
mdv_failed_set(struct mdv_dev *dev)
{
	if (!__atomic_exchange_n(&dev->failed, true, __ATOMIC_RELAXED)) {
		MDV_RECORD(dev, .kind = MDV_RECORD_FATAL, .op = MDV_FATAL_KERNEL);
		MDV_LOG(ERR, dev->name, "fatal error: the kernel resets the device, which may access memory until then");
	}
	mdv_removed_set(dev);
}

/*
 * After a fatal error mlx5_core sends no command. Users' commands fail with ENXIO, those of the kernel for a user with
 * ENOLINK, which was EIO before (Linux, mellanox/mlx5/core/cmd.c, mlx5_cmd_do() and mlx5_internal_err_ret_value()).
 */
static bool
is_internal_error(int err)
{
	return err == ENOLINK || err == ENXIO;
}

/* Or the kernel has disassociated the context of a removed device: all calls return EIO, or ENODEV. */
static bool
is_removal(int err)
{
	return err == EIO || err == ENODEV || is_internal_error(err);
}

/* A single error may have another cause, so the device is removed only if two checks in a row fail. */
RTE_EXPORT_INTERNAL_SYMBOL(mdv_alive)
bool
mdv_alive(struct mdv_dev *dev)
{
	int err = 0;

	for (int i = 0; i < 2 && !mdv_removed(dev); i++) {
		err = dev->backend->health_check(dev);
		if (!is_removal(err))
			break;
	}
	if (is_internal_error(err))
		mdv_failed_set(dev);
	else if (is_removal(err))
		mdv_removed_set(dev);
	__atomic_store_n(&dev->suspect, false, __ATOMIC_RELAXED);
	return !mdv_removed(dev);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_suspect)
bool
mdv_suspect(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->suspect, __ATOMIC_RELAXED);
}

void
mdv_suspect_if(struct mdv_dev *dev, int err)
{
	if (is_removal(err))
		__atomic_store_n(&dev->suspect, true, __ATOMIC_RELAXED);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_event_fd)
int
mdv_event_fd(const struct mdv_dev *dev)
{
	return dev->event_fd;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_events_take)
uint32_t
mdv_events_take(struct mdv_dev *dev)
{
	return dev->backend->events_take(dev);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_memory_kept)
bool
mdv_memory_kept(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->memory_kept, __ATOMIC_RELAXED);
}

/** Notes that the device may access memory permanently. */
static void
memory_keep(struct mdv_dev *dev, unsigned int ms)
{
	if (!__atomic_exchange_n(&dev->memory_kept, true, __ATOMIC_RELAXED)) {
		MDV_RECORD(dev, .kind = MDV_RECORD_QUIESCED);
		MDV_LOG(ERR, dev->name, "the device is not quiesced after %u ms: rings and mbufs that it may write to are kept",
			ms);
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_quiesce_wait)
bool
mdv_quiesce_wait(struct mdv_dev *dev)
{
	uint64_t ms_tsc = rte_get_tsc_hz() / 1000, none = 0, begin = rte_rdtsc();
	unsigned int ms;

	if (mdv_suspect(dev) && !mdv_removed(dev))
		(void)mdv_alive(dev);
	if (!mdv_removed(dev))
		return false;
	/* The time of the first caller counts for all callers. */
	if (!__atomic_compare_exchange_n(&dev->quiesce_begin_tsc, &none, begin, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		begin = none;
	for (;;) {
		if (!mdv_quiesced(dev))
			(void)mdv_events_take(dev);
		if (!mdv_quiesced(dev) && dev->backend->quiesced(dev))
			mdv_quiesced_set(dev);
		ms = __atomic_load_n(&dev->failed, __ATOMIC_RELAXED) ? MDV_QUIESCE_FAILED_MS : MDV_QUIESCE_MS;
		if (mdv_quiesced(dev))
			return true;
		if (rte_rdtsc() - begin >= ms_tsc * ms)
			break;
		rte_delay_us_sleep(1000);
	}
	memory_keep(dev, ms);
	return false;
}

bool
mdv_may_release(struct mdv_dev *dev, int destroy_err)
{
	/*
	 * After a fatal error the kernel answers a destroy command with OK although the device does not execute it, and
	 * the event may come later. If another command works now, there was no such error before.
	 */
	return (destroy_err == 0 && mdv_alive(dev)) || mdv_quiesce_wait(dev);
}
