/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The lock hands over: an engine that relocks at once cannot keep callers out. */
#include <stdatomic.h>
#include <unistd.h>

#include "fw_fixture.h"

static struct emu_machine m;
static _Atomic unsigned long batches;
static unsigned long shared; /* guarded by the lock */
static _Atomic bool stop;

static void *
engine(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		emu_lock(&m);
		shared++;
		atomic_fetch_add(&batches, 1);
		for (volatile unsigned i = 0; i < 20000; i++)
			;
		shared--;
		emu_unlock(&m);
	}
	return NULL;
}

static void *
caller(void *arg)
{
	unsigned *worst = arg;

	for (unsigned i = 0; i < 300; i++) {
		unsigned long before = atomic_load(&batches), waited;

		emu_lock(&m);
		waited = atomic_load(&batches) - before;
		shared++;
		CHECK(shared == 1);
		shared--;
		emu_unlock(&m);
		if (waited > *worst)
			*worst = (unsigned)waited;
		usleep(200);
	}
	return NULL;
}

int
main(void)
{
	unsigned worst[3] = {0};
	pthread_t e, c[3];

	CHECK(emu_machine_init(&m, 1, emu_profile_find("cx6dx")) == 0);
	pthread_create(&e, NULL, engine, NULL);
	for (unsigned i = 0; i < 3; i++)
		pthread_create(&c[i], NULL, caller, &worst[i]);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(c[i], NULL);
	atomic_store(&stop, true);
	pthread_join(e, NULL);
	CHECK(atomic_load(&batches) > 100);
	/*
	 * Between drawing a ticket and being served the engine may run once, or twice when its
	 * ticket was drawn first; more are batches before the ticket, while the caller was not
	 * running at all. Without hand-over the waits go into the thousands.
	 */
	for (unsigned i = 0; i < 3; i++)
		CHECK(worst[i] < 1000);
	CHECK_EQ(atomic_load(&m.waiters), 0);
	CHECK_EQ(m.now_serving, m.next_ticket);
	emu_machine_fini(&m);
	return fix_result("lock");
}
