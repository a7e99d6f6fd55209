/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Events, and that the device is gone: what is the same through all doors. */

#include "mdv_private.h"

bool
mdv_gone(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->gone, __ATOMIC_RELAXED);
}

void
mdv_gone_set(struct mdv_dev *dev)
{
	__atomic_store_n(&dev->gone, true, __ATOMIC_RELAXED);
}

bool
mdv_at_rest(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->at_rest, __ATOMIC_RELAXED);
}

void
mdv_at_rest_set(struct mdv_dev *dev)
{
	__atomic_store_n(&dev->at_rest, true, __ATOMIC_RELAXED);
}

/*
 * A removed device's context stays open and answers everything by EIO (the kernel calls it
 * disassociated) or ENODEV. One such answer may have other reasons, two in a row are taken for it.
 */
bool
mdv_alive(struct mdv_dev *dev)
{
	int err = 0;

	for (int i = 0; i < 2 && !mdv_gone(dev); i++) {
		err = dev->door->ask(dev);
		if (err != EIO && err != ENODEV)
			break;
	}
	if (err == EIO || err == ENODEV)
		mdv_gone_set(dev);
	__atomic_store_n(&dev->suspect, false, __ATOMIC_RELAXED);
	return !mdv_gone(dev);
}

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

int
mdv_event_fd(const struct mdv_dev *dev)
{
	return dev->door->event_fd(dev);
}

uint32_t
mdv_events_take(struct mdv_dev *dev)
{
	return dev->door->events_take(dev);
}

bool
mdv_rest_wait(struct mdv_dev *dev)
{
	uint64_t hz = rte_get_tsc_hz(), none = 0, until = rte_rdtsc() + hz / 1000 * MDV_REST_MS;

	if (mdv_suspect(dev) && !mdv_gone(dev))
		(void)mdv_alive(dev);
	if (!mdv_gone(dev))
		return false;
	/* Once for all that wait, whenever they come. */
	if (!__atomic_compare_exchange_n(&dev->rest_until_tsc, &none, until, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		until = none;
	for (;;) {
		if (!mdv_at_rest(dev))
			(void)mdv_events_take(dev);
		if (!mdv_at_rest(dev) && dev->door->rests(dev))
			mdv_at_rest_set(dev);
		if (mdv_at_rest(dev) || rte_rdtsc() >= until)
			return mdv_at_rest(dev);
		rte_delay_us_sleep(1000);
	}
}

const char *
mdv_syndrome_name(uint8_t syndrome)
{
	return prm_cqe_syndrome_name(syndrome);
}
