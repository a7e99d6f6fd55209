/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The counter's registers, which programs read as memory. A front end that traps the loads has them
 * written before each load; otherwise the engine writes them in each pass.
 */
#include <endian.h>
#include <sched.h>
#include <stdatomic.h>

#include "emu_fault.h"

/* Real-time clock and counter in one page: initialization segment, offsets 0x1040 and 0x1000. */
#define REAL_TIME_OFFSET 0x40u

void
emu_clock_hold(struct emu_dev *dev)
{
	while (atomic_exchange_explicit(&dev->registers_held, true, memory_order_acquire))
		sched_yield();
}

void
emu_clock_release(struct emu_dev *dev)
{
	atomic_store_explicit(&dev->registers_held, false, memory_order_release);
}

/* The value as it is published: fault rules can change it. */
static uint64_t
published(struct emu_dev *dev, const char *name, uint64_t value)
{
	const struct emu_fault_event e = {.kind = EMU_ON_CLOCK_VALUE, .dev = dev, .name = name};

	return emu_fault_set_at(EMU_ON_CLOCK_VALUE) ? emu_fault_set_value(&e, value) : value;
}

/* Registers hi and lo side by side, big-endian: one store keeps the pair consistent. */
static void
write_held(struct emu_dev *dev)
{
	const struct emu_clock *c = &dev->clock;
	uint64_t now = emu_clock_cycles(c), core = htobe64(published(dev, "core", now)), real = 0;
	struct emu_ctx *ctx;

	if (emu_clock_real(c))
		real = htobe64(published(dev, "real", emu_clock_pack(emu_clock_real_ns(c, now))));
	TAILQ_FOREACH(ctx, &dev->contexts, next) {
		uint8_t *page = (uint8_t *)ctx->file + ctx->counter_page;

		atomic_store_explicit((_Atomic uint64_t *)page, core, memory_order_relaxed);
		if (real != 0)
			atomic_store_explicit((_Atomic uint64_t *)(page + REAL_TIME_OFFSET), real,
					      memory_order_relaxed);
	}
}

bool
emu_clock_registers(struct emu_dev *dev)
{
	if (atomic_exchange_explicit(&dev->registers_held, true, memory_order_acquire))
		return false;
	if (!dev->removed)
		write_held(dev);
	emu_clock_release(dev);
	return true;
}
