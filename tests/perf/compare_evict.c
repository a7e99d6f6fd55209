/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A thread on the device's CPU: writes cache lines there and evicts its private caches. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "compare.h"

/* Several times the private caches of current processors, and less than their shared cache. */
#define EVICT_BYTES (6u << 20)
#define LINE 64u

static pthread_t thread;
static bool started;
static uint8_t *sweep;
static struct {
	sem_t requested;
	_Atomic unsigned int done;
	_Atomic bool stop;
	unsigned int tickets;
	uint8_t *lines;
	uint32_t n;
	enum cmp_regime regime;
} job;

static void
work(void)
{
	uint32_t i;

	for (i = 0; i < job.n; i++)
		*(volatile uint64_t *)(job.lines + (size_t)i * LINE) = i;
	/* cldemote, which the assembler may not know: modified lines go to the shared cache. */
	for (i = 0; job.regime == CMP_L && i < job.n; i++)
		__asm__ volatile(".byte 0x0f, 0x1c, 0x00" : : "a"(job.lines + (size_t)i * LINE) : "memory");
	if (job.regime != CMP_E)
		return;
	/* Only reads: lines evicted from the shared cache by these need no write-back. */
	for (i = 0; i < EVICT_BYTES; i += LINE)
		(void)*(volatile uint8_t *)(sweep + i);
}

static void *
evictor(void *arg)
{
	(void)arg;
	for (;;) {
		while (sem_wait(&job.requested) != 0)
			;
		if (atomic_load(&job.stop))
			return NULL;
		work();
		atomic_fetch_add_explicit(&job.done, 1, memory_order_release);
	}
}

int
cmp_evictor_start(int cpu)
{
	sigset_t all, before;
	cpu_set_t cpus;
	pthread_attr_t attr;
	uint32_t i;
	int rc;

	sweep = aligned_alloc(1u << 21, EVICT_BYTES);
	if (sweep == NULL)
		return -ENOMEM;
	/* Write once: pages that were never written would all map the zero page. */
	for (i = 0; i < EVICT_BYTES; i += LINE)
		sweep[i] = (uint8_t)i;
	sem_init(&job.requested, 0, 0);
	atomic_store(&job.stop, false);
	atomic_store(&job.done, job.tickets);
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, &attr, evictor, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	started = rc == 0;
	if (rc != 0) {
		free(sweep);
		sweep = NULL;
	}
	return -rc;
}

void
cmp_evictor_stop(void)
{
	if (!started)
		return;
	atomic_store(&job.stop, true);
	sem_post(&job.requested);
	pthread_join(thread, NULL);
	free(sweep);
	sweep = NULL;
	started = false;
}

void
cmp_evictor_do(uint8_t *lines, uint32_t n, enum cmp_regime regime)
{
	if (!started)
		return;
	job.lines = lines;
	job.n = n;
	job.regime = regime;
	job.tickets++;
	/* Also publishes the writes to job above. */
	sem_post(&job.requested);
	while (atomic_load_explicit(&job.done, memory_order_acquire) != job.tickets)
		cmp_device_wait();
}
