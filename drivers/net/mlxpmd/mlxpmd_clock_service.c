/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The process's service `mlxpmd_clock`: sees to it that every port's clock is refreshed in time.
 *
 * Two may do it: a service core, when the application maps one, and EAL's control thread, by an alarm. Each clock has
 * one time at which it is due and one lock, so no refresh is done twice, and a device that does not answer
 * holds up nobody else. While a service core comes by, the control thread lets it go first.
 */

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_service_component.h>

#include "mlxpmd.h"
#include "mlxpmd_clock_keeper.h"

#define SERVICE_NAME "mlxpmd_clock"
/* A service core that did not come by for so long is taken for absent. */
#define SERVED_MS 200
/* What the control thread gives a service core that does come by. */
#define GRACE_MS 50
/* Of the control thread's sleep. */
#define TICK_MIN_US 100
/* When the control thread looks again at a clock that somebody else is refreshing. */
#define HELD_US 1000

struct clock_slot {
	pthread_mutex_t lock;		/* Of a refresh; and of clock's coming and going. */
	struct mlxpmd_clock *clock;	/* NULL: free. Atomic, for a look without the lock. */
	uint64_t due_tsc;		/* Atomic. */
} __rte_cache_aligned;

static struct clock_slot slots[RTE_MAX_ETHPORTS] = {
	[0 ... RTE_MAX_ETHPORTS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER },
};
/* When a service core last came by; atomic. */
static uint64_t served_tsc __rte_cache_aligned;
/* Of coming and going alone; neither refresher takes it. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int nb_clocks;
static bool registered;
/* There are clocks, and the control thread does not come any more; atomic. */
static bool alarm_lost;

static uint64_t
us_to_tsc(uint64_t us)
{
	return us * rte_get_tsc_hz() / 1000000u;
}

/* Under the slot's lock. */
static void
slot_refresh(struct clock_slot *slot, bool by_service)
{
	uint64_t next_us = mlxpmd_clock_keep(slot->clock, by_service);

	__atomic_store_n(&slot->due_tsc, rte_rdtsc() + us_to_tsc(next_us), __ATOMIC_RELAXED);
}

/* How long past due, or negative: until then. */
static int64_t
slot_late(const struct clock_slot *slot)
{
	return (int64_t)(rte_rdtsc() - __atomic_load_n(&slot->due_tsc, __ATOMIC_RELAXED));
}

/* Refreshes what has been due for grace_tsc. */
static unsigned int
sweep(int64_t grace_tsc, bool by_service)
{
	unsigned int i, done = 0;

	for (i = 0; i < RTE_MAX_ETHPORTS; i++) {
		struct clock_slot *slot = &slots[i];

		if (__atomic_load_n(&slot->clock, __ATOMIC_RELAXED) == NULL ||
		    slot_late(slot) < grace_tsc)
			continue;
		/* Held: somebody is at it, or it goes. */
		if (pthread_mutex_trylock(&slot->lock) != 0)
			continue;
		if (slot->clock != NULL && slot_late(slot) >= grace_tsc) {
			slot_refresh(slot, by_service);
			done++;
		}
		pthread_mutex_unlock(&slot->lock);
	}
	return done;
}

/* ------------------------------------------------------------------ service core */

static int32_t
service_run(void *arg)
{
	RTE_SET_USED(arg);
	__atomic_store_n(&served_tsc, rte_rdtsc(), __ATOMIC_RELAXED);
	return sweep(0, true) != 0 ? 0 : -EAGAIN;
}

/*
 * Once per process, and for as long as it lives: at EAL's clean-up the services are gone before the ports.
 * Without the service the control thread does all.
 */
static void
service_register(void)
{
	const struct rte_service_spec spec = {
		.name = SERVICE_NAME,
		.callback = service_run,
		.capabilities = RTE_SERVICE_CAP_MT_SAFE,
		.socket_id = SOCKET_ID_ANY,
	};
	uint32_t id;
	int rc;

	if (registered)
		return;
	registered = true;
	rc = rte_service_component_register(&spec, &id);
	if (rc == 0)
		rc = rte_service_component_runstate_set(id, 1);
	if (rc != 0)
		MLXPMD_LOG(WARNING, "service " SERVICE_NAME " cannot be registered: %s; clocks are refreshed by a control thread only",
			   rte_strerror(-rc));
}

/* ------------------------------------------------------------------ control thread */

static int64_t
grace_get(void)
{
	uint64_t since = rte_rdtsc() - __atomic_load_n(&served_tsc, __ATOMIC_RELAXED);

	return since < us_to_tsc(SERVED_MS * 1000) ? us_to_tsc(GRACE_MS * 1000) : 0;
}

/* Until the clock will have been due for so long. One that is due after a sweep was held, for who knows how long. */
static int64_t
slot_left(const struct clock_slot *slot, int64_t grace_tsc)
{
	int64_t left = grace_tsc - slot_late(slot);

	return left > 0 ? left : (int64_t)us_to_tsc(HELD_US);
}

/* Until the first clock wants a sweep. */
static uint64_t
sleep_us(int64_t grace_tsc)
{
	int64_t least = us_to_tsc(MLXPMD_CLOCK_REFRESH_MAX_US);
	unsigned int i;

	for (i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (__atomic_load_n(&slots[i].clock, __ATOMIC_RELAXED) != NULL)
			least = RTE_MIN(least, slot_left(&slots[i], grace_tsc));
	return least * 1000000 / rte_get_tsc_hz() + TICK_MIN_US;
}

static void
control_tick(void *arg)
{
	int64_t grace_tsc = grace_get();
	int rc;

	(void)sweep(grace_tsc, false);
	rc = rte_eal_alarm_set(sleep_us(grace_tsc), control_tick, arg);
	if (rc == 0)
		return;
	MLXPMD_LOG(ERR, "no alarm for the clocks: %s, tried again; meanwhile they are refreshed by a service core only",
		   rte_strerror(-rc));
	__atomic_store_n(&alarm_lost, true, __ATOMIC_RELEASE);
}

/* Under the registry's lock. Sets the alarm again that a tick could not set for the next one. */
static void
alarm_revive(void)
{
	if (nb_clocks == 0 || !__atomic_load_n(&alarm_lost, __ATOMIC_ACQUIRE))
		return;
	/* First: the tick may come, and fail to set its own, at once. */
	__atomic_store_n(&alarm_lost, false, __ATOMIC_RELEASE);
	if (rte_eal_alarm_set(TICK_MIN_US, control_tick, NULL) == 0)
		MLXPMD_LOG(NOTICE, "the alarm for the clocks is back");
	else
		__atomic_store_n(&alarm_lost, true, __ATOMIC_RELEASE);
}

void
mlxpmd_clock_watch(void)
{
	if (likely(!__atomic_load_n(&alarm_lost, __ATOMIC_RELAXED)))
		return;
	/* Who holds it may be waiting for a refresh that hangs: another time. */
	if (pthread_mutex_trylock(&registry_lock) != 0)
		return;
	alarm_revive();
	pthread_mutex_unlock(&registry_lock);
}

/* ------------------------------------------------------------------ coming and going */

static void
slot_set(struct clock_slot *slot, struct mlxpmd_clock *clock, uint64_t next_us)
{
	pthread_mutex_lock(&slot->lock);
	__atomic_store_n(&slot->due_tsc, rte_rdtsc() + us_to_tsc(next_us), __ATOMIC_RELAXED);
	__atomic_store_n(&slot->clock, clock, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&slot->lock);
}

int
mlxpmd_clock_serve(struct mlxpmd_clock *clock, uint64_t next_us)
{
	uint16_t port_id = clock->keeper->port_id;
	int rc = 0;

	pthread_mutex_lock(&registry_lock);
	service_register();
	slot_set(&slots[port_id], clock, next_us);
	alarm_revive();
	if (nb_clocks == 0)
		rc = rte_eal_alarm_set(RTE_MIN(next_us, MLXPMD_CLOCK_REFRESH_MIN_US), control_tick,
				       NULL);
	if (rc == 0)
		nb_clocks++;
	else
		slot_set(&slots[port_id], NULL, 0);
	pthread_mutex_unlock(&registry_lock);
	if (rc != 0)
		MLXPMD_LOG(ERR, "port %u: no alarm for the clock: %s", port_id, rte_strerror(-rc));
	return rc;
}

void
mlxpmd_clock_unserve(struct mlxpmd_clock *clock)
{
	struct clock_slot *slot = &slots[clock->keeper->port_id];

	pthread_mutex_lock(&registry_lock);
	if (__atomic_load_n(&slot->clock, __ATOMIC_RELAXED) == clock) {
		slot_set(slot, NULL, 0);
		nb_clocks--;
		/* Also waits for one that is running, and takes back what it set. */
		if (nb_clocks == 0) {
			rte_eal_alarm_cancel(control_tick, NULL);
			__atomic_store_n(&alarm_lost, false, __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&registry_lock);
}
