/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The lock is fair: a thread that locks again at once queues behind the waiting threads. */
#include <stdatomic.h>
#include <unistd.h>

#include "fw_fixture.h"

#define CALLERS 3u
#define ROUNDS 200u

static struct emu_machine m;
static unsigned long inside, served; /* guarded by the lock */
static _Atomic bool stop;

static void *
caller_once(void *arg)
{
	unsigned *place = arg;

	emu_lock(&m);
	*place = (unsigned)++served;
	emu_unlock(&m);
	return NULL;
}

static void
wait_for_waiters(unsigned n)
{
	CHECK(AWAIT(atomic_load(&m.waiters) == n, 5000));
}

/* The holder unlocks and locks again in one breath; the waiters come first, in their order. */
static void
test_order(void)
{
	unsigned place[CALLERS] = {0};
	pthread_t t[CALLERS];

	served = 0;
	emu_lock(&m);
	for (unsigned i = 0; i < CALLERS; i++) {
		pthread_create(&t[i], NULL, caller_once, &place[i]);
		wait_for_waiters(i + 1);
	}
	emu_unlock(&m);
	emu_lock(&m);
	CHECK_EQ(served, CALLERS);
	emu_unlock(&m);
	for (unsigned i = 0; i < CALLERS; i++) {
		pthread_join(t[i], NULL);
		CHECK_EQ(place[i], i + 1);
	}
}

static void *
engine(void *arg)
{
	unsigned long *batches = arg;

	while (!atomic_load(&stop)) {
		emu_lock(&m);
		CHECK(++inside == 1);
		for (volatile unsigned i = 0; i < 5000; i++)
			;
		++*batches;
		inside--;
		emu_unlock(&m);
	}
	return NULL;
}

static void *
caller(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < ROUNDS; i++) {
		emu_lock(&m);
		CHECK(++inside == 1);
		inside--;
		emu_unlock(&m);
		pass_us(100); /* Without the lock. */
	}
	return NULL;
}

/* Mutual exclusion, and every waiting thread gets the lock. */
static void
test_exclusion(void)
{
	unsigned long batches = 0;
	pthread_t e, c[CALLERS];

	pthread_create(&e, NULL, engine, &batches);
	for (unsigned i = 0; i < CALLERS; i++)
		pthread_create(&c[i], NULL, caller, NULL);
	for (unsigned i = 0; i < CALLERS; i++)
		pthread_join(c[i], NULL);
	atomic_store(&stop, true);
	pthread_join(e, NULL);
	CHECK(batches > 100);
	CHECK_EQ(atomic_load(&m.waiters), 0);
	CHECK_EQ(m.now_serving, m.next_ticket);
}

int
main(void)
{
	CHECK(emu_machine_init(&m, 1, emu_profile_find("cx6dx")) == 0);
	for (unsigned i = 0; i < 50; i++)
		test_order();
	test_exclusion();
	emu_machine_fini(&m);
	return fix_result("lock");
}
