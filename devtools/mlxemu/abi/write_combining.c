/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * `--order relaxed`: stores to write-combining doorbell pages stay in a buffer of the processor until something drains
 * it: a fence, a locked instruction, an exception, or an access to uncached memory; else it is written at some time
 * (Intel SDM volume 3A, "Buffering of Write Combining Memory Locations"). A later store to the same place replaces the
 * one in the buffer, and stores to other places can overtake it.
 *
 * Each store to such a page faults (trap_pages.c). The thread then executes one instruction at a time until one drains
 * its buffer. After STEPS_MAX instructions it runs freely, and the store becomes visible 20 to 40 ms later.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <pthread.h>

#include "trap_pages.h"

#define BUFFERS 64u
#define STEPS_MAX 256u
/*
 * assumed: a buffer that nothing drains is written after 20 to 40 ms. Other reading: other programs on the processor
 * drain it earlier, or it stays longer. Test: order/traffic.py.
 */
#define EVICT_NS 20000000u

/* LEFT: FULL, and its thread runs freely. */
enum state { EMPTY, BUSY, FULL, LEFT };

/** A store that the device does not see yet. */
struct buffer {
	_Atomic int state;
	struct emu_dev *dev;
	pthread_t thread;
	uint8_t *at;
	uint64_t value, evict_ns;
};

static struct buffer buffers[BUFFERS];
/* Of this thread: its last store, and instructions executed since. */
static __thread struct buffer *mine __attribute__((tls_model("initial-exec")));
static __thread bool stepping __attribute__((tls_model("initial-exec")));
static __thread unsigned steps __attribute__((tls_model("initial-exec")));

static bool
change(struct buffer *b, int from, int to)
{
	return atomic_compare_exchange_strong(&b->state, &from, to);
}

/* False: the buffer was empty. */
static bool
write_out(struct buffer *b)
{
	if (!change(b, FULL, BUSY) && !change(b, LEFT, BUSY))
		return false;
	atomic_store_explicit((_Atomic uint64_t *)(void *)b->at, b->value, memory_order_release);
	atomic_store(&b->state, EMPTY);
	return true;
}

static struct buffer *
buffer_take(void)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		if (change(&buffers[i], EMPTY, BUSY))
			return &buffers[i];
	return NULL;
}

bool
abi_wc_store(struct emu_dev *dev, uint8_t *at, uint64_t value, void *context)
{
	struct buffer *b = mine;
	bool drains;

	/* At the same place the earlier store is lost: the device never saw it. */
	if (b == NULL || b->at != at || (!change(b, FULL, BUSY) && !change(b, LEFT, BUSY)))
		b = buffer_take();
	if (b == NULL)
		return false;
	/* The instruction after the store is executed before the first step ends. */
	drains = abi_drains(context);
	if (!drains && !abi_step_begin(context)) {
		atomic_store(&b->state, EMPTY);
		return false;
	}
	b->dev = dev;
	b->thread = pthread_self();
	b->at = at;
	b->value = value;
	atomic_store(&b->state, FULL);
	mine = b;
	if (drains) {
		abi_wc_drain();
		return true;
	}
	stepping = true;
	steps = 0;
	return true;
}

void
abi_wc_drain(void)
{
	if (mine == NULL)
		return;
	for (unsigned i = 0; i < BUFFERS; i++)
		if (pthread_equal(buffers[i].thread, pthread_self()))
			(void)write_out(&buffers[i]);
	mine = NULL;
}

bool
abi_wc_step(void *context)
{
	if (!stepping)
		return false;
	if (mine != NULL && abi_drains(context))
		abi_wc_drain();
	if (mine != NULL && ++steps < STEPS_MAX)
		return true;
	abi_step_end(context);
	stepping = false;
	if (mine != NULL && change(mine, FULL, BUSY)) {
		mine->evict_ns = emu_mono_ns() + EVICT_NS + emu_mono_ns() % EVICT_NS;
		atomic_store(&mine->state, LEFT);
	}
	return true;
}

void
abi_wc_evict(void)
{
	uint64_t now = 0;

	for (unsigned i = 0; i < BUFFERS; i++) {
		if (atomic_load_explicit(&buffers[i].state, memory_order_relaxed) != LEFT)
			continue;
		now = now != 0 ? now : emu_mono_ns();
		if (now >= buffers[i].evict_ns && write_out(&buffers[i]))
			buffers[i].dev->stats.late_doorbells++;
	}
}

void
abi_wc_forget(const void *mem, uint64_t len)
{
	for (unsigned i = 0; i < BUFFERS; i++)
		if ((uintptr_t)buffers[i].at - (uintptr_t)mem < len)
			(void)(change(&buffers[i], FULL, EMPTY) || change(&buffers[i], LEFT, EMPTY));
}
