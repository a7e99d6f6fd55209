/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The machine's lock; sleep, wake-up and pause of the engine, which depend on it. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu_dev.h"

void
emu_lock(struct emu_machine *m)
{
	uint64_t ticket;

	pthread_mutex_lock(&m->mutex);
	ticket = m->next_ticket++;
	if (ticket != m->now_serving) {
		atomic_fetch_add_explicit(&m->waiters, 1, memory_order_relaxed);
		while (ticket != m->now_serving)
			pthread_cond_wait(&m->turn, &m->mutex);
		atomic_fetch_sub_explicit(&m->waiters, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&m->mutex);
	atomic_store_explicit(&m->holder, pthread_self(), memory_order_relaxed);
}

bool
emu_lock_is_mine(const struct emu_machine *m)
{
	return atomic_load_explicit(&m->holder, memory_order_relaxed) == pthread_self();
}

static void
release(struct emu_machine *m)
{
	atomic_store_explicit(&m->holder, 0, memory_order_relaxed);
	pthread_mutex_lock(&m->mutex);
	m->now_serving++;
	if (m->now_serving != m->next_ticket)
		pthread_cond_broadcast(&m->turn);
	pthread_mutex_unlock(&m->mutex);
}

void
emu_unlock(struct emu_machine *m)
{
	release(m);
	/* Set with the lock held, so that every later holder sees it. */
	if (__builtin_expect(atomic_load_explicit(&m->asleep, memory_order_relaxed), 0))
		emu_engine_wake(m);
}

/* By system call: write() is interposed. */
void
emu_engine_wake(struct emu_machine *m)
{
	const uint64_t one = 1;

	if (m->wake_fd >= 0 && atomic_exchange(&m->asleep, false))
		(void)!syscall(SYS_write, m->wake_fd, &one, sizeof(one));
}

void
emu_engine_sleep(struct emu_machine *m, struct pollfd *fds, unsigned n, uint64_t ns)
{
	const struct timespec limit = {.tv_sec = (time_t)(ns / EMU_NS_PER_S),
				       .tv_nsec = (long)(ns % EMU_NS_PER_S)};
	uint64_t count;

	fds[n] = (struct pollfd){.fd = m->wake_fd, .events = POLLIN};
	atomic_store(&m->asleep, true);
	release(m);
	if (ppoll(fds, n + 1, &limit, NULL) > 0 && fds[n].revents != 0)
		(void)!syscall(SYS_read, m->wake_fd, &count, sizeof(count));
	atomic_store(&m->asleep, false);
}

void
emu_engine_pause(struct emu_machine *m, bool pause)
{
	pthread_mutex_lock(&m->mutex);
	atomic_store_explicit(&m->paused, pause, memory_order_relaxed);
	pthread_cond_broadcast(&m->resume);
	pthread_mutex_unlock(&m->mutex);
}

void
emu_engine_wait(struct emu_machine *m)
{
	if (!emu_engine_paused(m))
		return;
	pthread_mutex_lock(&m->mutex);
	while (emu_engine_paused(m))
		pthread_cond_wait(&m->resume, &m->mutex);
	pthread_mutex_unlock(&m->mutex);
}
