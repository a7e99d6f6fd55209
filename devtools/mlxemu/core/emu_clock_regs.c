/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The counter's registers, which programs read as memory. The engine writes them as it goes; a
 * thread that does nothing else sees to it that they do not get old when the engine has no
 * processor or waits for the model's lock.
 */
#include <endian.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>

#include "emu_lie.h"

/* The device's own clock in the page of its counter: initialisation segment 0x1040 and 0x1000. */
#define REAL_TIME_OFFSET 0x40u
#define KEEPER_PERIOD_NS 100000u

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

static uint64_t
told(const char *name, uint64_t value)
{
	return emu_lie_about(EMU_LIE_CLOCK) ? emu_lie_clock(name, value) : value;
}

/* Registers hi and lo side by side, big-endian: one store keeps the pair consistent. */
static void
write_held(struct emu_dev *dev)
{
	const struct emu_clock *c = &dev->clock;
	uint64_t now = emu_clock_cycles(c), core = htobe64(told("core", now)), real = 0;
	struct emu_ctx *ctx;

	if (emu_clock_real(c))
		real = htobe64(told("real", emu_clock_pack(emu_clock_real_ns(c, now))));
	TAILQ_FOREACH(ctx, &dev->contexts, next) {
		uint8_t *page = (uint8_t *)ctx->file + ctx->counter_page;

		atomic_store_explicit((_Atomic uint64_t *)page, core, memory_order_relaxed);
		if (real != 0)
			atomic_store_explicit((_Atomic uint64_t *)(page + REAL_TIME_OFFSET), real,
					      memory_order_relaxed);
	}
}

void
emu_clock_registers(struct emu_dev *dev)
{
	/* Whoever is at it writes a time as good as this one. */
	if (atomic_exchange_explicit(&dev->registers_held, true, memory_order_acquire))
		return;
	if (!dev->removed)
		write_held(dev);
	emu_clock_release(dev);
}

static void *
keeper(void *arg)
{
	const struct timespec period = {.tv_nsec = KEEPER_PERIOD_NS};
	const struct sched_param first = {.sched_priority = 1};
	struct emu_machine *m = arg;

	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
	/* Where that is permitted: it runs for a microsecond, but when it should. */
	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	while (!atomic_load_explicit(&m->stop, memory_order_acquire)) {
		/* Lies are counted, under the model's lock. */
		for (unsigned i = 0; i < m->ports && !emu_lie_about(EMU_LIE_CLOCK); i++)
			emu_clock_registers(&m->dev[i]);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
	}
	return NULL;
}

int
emu_clock_keeper_start(struct emu_machine *m)
{
	int ret;

	if (emu_time_is_virtual() || m->keeper_runs)
		return 0;
	ret = emu_thread_start(&m->keeper, "mlxemu-clock", keeper, m);
	m->keeper_runs = ret == 0;
	return ret;
}

void
emu_clock_keeper_join(struct emu_machine *m)
{
	if (m->keeper_runs)
		pthread_join(m->keeper, NULL);
	m->keeper_runs = false;
}
