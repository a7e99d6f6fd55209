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
	__atomic_store_n(&dev->removed, true, __ATOMIC_RELAXED);
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
	__atomic_store_n(&dev->quiesced, true, __ATOMIC_RELAXED);
}

/*
 * The kernel disassociates the context of a removed device: all calls return EIO, or ENODEV. A single
 * error may have another cause, so the device is removed only if two checks in a row fail.
 */
RTE_EXPORT_INTERNAL_SYMBOL(mdv_alive)
bool
mdv_alive(struct mdv_dev *dev)
{
	int err = 0;

	for (int i = 0; i < 2 && !mdv_removed(dev); i++) {
		err = dev->backend->health_check(dev);
		if (err != EIO && err != ENODEV)
			break;
	}
	if (err == EIO || err == ENODEV)
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
	if (err == EIO || err == ENODEV)
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_quiesce_wait)
bool
mdv_quiesce_wait(struct mdv_dev *dev)
{
	uint64_t hz = rte_get_tsc_hz(), none = 0, until = rte_rdtsc() + hz / 1000 * MDV_QUIESCE_MS;

	if (mdv_suspect(dev) && !mdv_removed(dev))
		(void)mdv_alive(dev);
	if (!mdv_removed(dev))
		return false;
	/* The first caller sets the deadline for all callers. */
	if (!__atomic_compare_exchange_n(&dev->quiesce_until_tsc, &none, until, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		until = none;
	for (;;) {
		if (!mdv_quiesced(dev))
			(void)mdv_events_take(dev);
		if (!mdv_quiesced(dev) && dev->backend->quiesced(dev))
			mdv_quiesced_set(dev);
		if (mdv_quiesced(dev) || rte_rdtsc() >= until)
			return mdv_quiesced(dev);
		rte_delay_us_sleep(1000);
	}
}
