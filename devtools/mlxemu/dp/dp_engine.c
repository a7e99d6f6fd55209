/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The engine: one thread that serves all ports. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../wire/emu_wire.h"
#include "core/emu_cpu.h"
#include "dp_fault.h"
#include "dp_qp.h"
#include "dp_time.h"

/* Virtual time of a frame or WQE. */
#define WORK_NS 100u
/* TSC ticks between two updates of the clocks. */
#define CLOCK_TICKS 1200u
/* Frames of one SQ or wire per pass. */
#define SQ_BUDGET 64u
#define WIRE_BUDGET 64u
/* Passes without releasing the lock, while there is work and no thread waits for the lock. */
#define PASSES_PER_LOCK 8u
/*
 * Idle passes: spin, then yield, then sleep for increasing times, then sleep until a store to a
 * doorbell or another call into the model.
 */
#define IDLE_SPINS 256u
#define IDLE_YIELDS 512u
#define IDLE_NAPS (IDLE_YIELDS + 64u * 5)
#define NAP_MIN_NS 2000u
#define NAP_MAX_NS 50000u
/* Interval of checks for timed work. */
#define SLEEP_NS 100000000u
/* Spin for this time before the due time of a queue. */
#define DUE_EARLY_NS 5000u

static struct dp_shared *
shared_of(struct emu_machine *m)
{
	struct dp_port *port = m->ports != 0 ? m->dev[0].dp : NULL;

	return port != NULL ? port->shared : NULL;
}

static void
tunnels_init(struct dp_port *port, const struct emu_profile *p)
{
	uint8_t both = DP_TUNNEL_VXLAN | (p->tunnel_stateless_gre ? DP_TUNNEL_GRE : 0);

	port->rx_tunnels = both | (p->tunnel_stateless_geneve_rx ? DP_TUNNEL_GENEVE : 0) |
			   (p->tunnel_stateless_ip_over_ip_rx ? DP_TUNNEL_IPIP : 0);
	port->tx_tunnels = both | (p->tunnel_stateless_geneve_tx ? DP_TUNNEL_GENEVE : 0) |
			   (p->tunnel_stateless_ip_over_ip_tx ? DP_TUNNEL_IPIP : 0);
}

static int
port_init(struct emu_dev *dev, struct dp_shared *shared)
{
	struct dp_port *port = calloc(1, sizeof(*port));
	int ret;

	if (port == NULL)
		return -ENOMEM;
	ret = dp_steer_init(dev);
	if (ret != 0) {
		free(port);
		return ret;
	}
	port->dev = dev;
	port->shared = shared;
	TAILQ_INIT(&port->uars);
	TAILQ_INIT(&port->active);
	TAILQ_INIT(&port->failed);
	TAILQ_INIT(&port->timed);
	tunnels_init(port, dev->profile);
	dp_time_init(port);
	dev->dp = port;
	return 0;
}

static void
forget_cb(struct emu_obj *obj, void *arg)
{
	(void)arg;
	emu_dp_forget(obj);
}

static void
port_fini(struct emu_dev *dev)
{
	static const enum emu_obj_type types[] = {EMU_OBJ_QP, EMU_OBJ_SQ,  EMU_OBJ_RQ,
						  EMU_OBJ_CQ, EMU_OBJ_EQ,  EMU_OBJ_UAR,
						  EMU_OBJ_TIR};

	if (dev->dp == NULL)
		return;
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		emu_obj_foreach(dev, types[i], forget_cb, NULL);
	dp_steer_fini(dev);
	dp_capture_close(dev->dp);
	free(dev->dp);
	dev->dp = NULL;
}

static const struct emu_dp_ops dp_ops = {
	.ingress = emu_dp_ingress,
	.offer = emu_dp_offer,
	.can_receive = emu_dp_can_receive,
	.unsettled = emu_dp_unsettled,
	.ruled = emu_dp_ruled,
	.event = emu_dp_event,
	.forget = emu_dp_forget,
	.given_back = emu_dp_given_back,
};

int
emu_dp_init(struct emu_machine *m)
{
	struct dp_shared *shared = calloc(1, sizeof(*shared));
	int ret = 0;

	if (shared == NULL)
		return -ENOMEM;
	shared->machine = m;
	m->dp_ops = &dp_ops;
	dp_fault_init();
	TAILQ_INIT(&shared->compressing);
	TAILQ_INIT(&shared->merging);
	for (unsigned i = 0; i < m->ports && ret == 0; i++)
		ret = port_init(&m->dev[i], shared);
	if (ret == 0)
		return 0;
	for (unsigned i = 0; i < m->ports; i++)
		port_fini(&m->dev[i]);
	free(shared);
	return ret;
}

void
emu_dp_forget(struct emu_obj *obj)
{
	emu_dp_order_flush();
	switch (obj->type) {
	case EMU_OBJ_QP:
		dp_qp_forget((struct emu_qp *)obj);
		break;
	case EMU_OBJ_SQ:
		dp_sq_forget((struct emu_sq *)obj);
		break;
	case EMU_OBJ_RQ:
		dp_rq_forget((struct emu_rq *)obj);
		break;
	case EMU_OBJ_CQ:
		dp_cq_forget((struct emu_cq *)obj);
		break;
	case EMU_OBJ_EQ:
		/* UARs of the kernel have no state. */
		if (obj->dp != NULL)
			dp_eq_forget((struct emu_eq *)obj);
		break;
	case EMU_OBJ_UAR:
		dp_uar_forget((struct emu_uar *)obj);
		break;
	case EMU_OBJ_TIR:
		free(obj->dp);
		obj->dp = NULL;
		break;
	default:
		break;
	}
}

static unsigned
port_poll(struct dp_port *port)
{
	struct dp_sq *q, *next, *last;
	unsigned work = 0;
	struct dp_rq *failed;

	dp_uar_scan(port);
	/* Runs each queue that is active now once; queues can append others. */
	last = TAILQ_LAST(&port->active, dp_sq_head);
	for (q = TAILQ_FIRST(&port->active); q != NULL; q = next) {
		next = q == last ? NULL : TAILQ_NEXT(q, in_active);
		work += dp_sq_run(q, SQ_BUDGET);
	}
	TAILQ_FOREACH(failed, &port->failed, in_failed)
		dp_rq_flush(failed->rq);
	work += emu_wire_poll(port->dev, WIRE_BUDGET);
	dp_cq_tick(port);
	return work;
}

/* A pass can be shorter than half a microsecond, the resolution that the clock pages need. */
static bool
clock_due(struct dp_shared *shared)
{
	uint64_t now = emu_cpu_ticks();

	if (shared == NULL || now - shared->clock_tsc < CLOCK_TICKS)
		return false;
	shared->clock_tsc = now;
	return true;
}

unsigned
emu_dp_poll(struct emu_machine *m)
{
	struct dp_shared *shared = shared_of(m);
	bool tick = clock_due(shared);
	unsigned work = 0;

	if (DP_UNLIKELY(dp_relaxed) && m->front != NULL)
		(void)m->front->doorbells_watch(m);
	if (DP_UNLIKELY(dp_check_on))
		dp_check_pass(m);
	if (shared != NULL) {
		dp_batch_begin(shared);
		shared->due_ns = UINT64_MAX;
	}
	for (unsigned i = 0; i < m->ports; i++) {
		struct emu_dev *dev = &m->dev[i];

		if (dev->dp == NULL || DP_UNLIKELY(dev->removed))
			continue;
		if (tick)
			emu_clock_tick(dev);
		work += port_poll(dev->dp);
	}
	if (shared != NULL) {
		dp_lro_tick(shared, work == 0);
		dp_comp_flush_all(shared);
	}
	if (DP_UNLIKELY(dp_fault_delayed))
		dp_fault_release(m);
	if (DP_UNLIKELY(dp_capture_on) && shared != NULL)
		dp_capture_tick(shared);
	emu_time_pass((uint64_t)work * WORK_NS);
	return work + dp_order_pass();
}

/* Time until the next timed work, at most ns. */
static uint64_t
until_due(const struct dp_shared *shared, uint64_t ns)
{
	uint64_t now;

	if (DP_LIKELY(shared->due_ns == UINT64_MAX) || emu_time_is_virtual())
		return ns;
	now = emu_mono_ns() + DUE_EARLY_NS;
	if (shared->due_ns <= now)
		return 0;
	return shared->due_ns - now < ns ? shared->due_ns - now : ns;
}

static void
nap(const struct dp_shared *shared, unsigned passes)
{
	struct timespec ts = {0};
	uint64_t ns;

	if (passes < IDLE_SPINS || until_due(shared, NAP_MAX_NS) == 0) {
		emu_cpu_pause();
	} else if (passes < IDLE_YIELDS) {
		sched_yield();
	} else {
		/* The time doubles every 64 passes. */
		unsigned step = (passes - IDLE_YIELDS) / 64;

		ns = step > 4 ? NAP_MAX_NS : NAP_MIN_NS << step;
		ns = ns > NAP_MAX_NS ? NAP_MAX_NS : ns;
		ts.tv_nsec = (long)until_due(shared, ns);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	}
}

/* True if no pending work continues by time or by stores that do not wake the engine. */
static bool
at_rest(struct emu_machine *m)
{
	if (m->wake_fd < 0 || !m->counters_live || dp_check_on || dp_fault_delayed || dp_relaxed ||
	    emu_engine_paused(m) || emu_fault_at(EMU_ON_CLOCK_PAGE))
		return false;
	for (unsigned i = 0; i < m->ports; i++) {
		const struct emu_dev *dev = &m->dev[i];
		const struct dp_port *port = dev->dp;

		if (dev->removed || port == NULL)
			continue;
		if ((dev->replug_ns | dev->remove_ns) != 0 || !TAILQ_EMPTY(&port->active) ||
		    !TAILQ_EMPTY(&port->timed) || !TAILQ_EMPTY(&port->failed) ||
		    !TAILQ_EMPTY(&port->shared->merging))
			return false;
	}
	return true;
}

/* Collects what the wires wait for; false: one of them must be polled. */
static bool
wires_wait(struct emu_machine *m, struct pollfd *fds, unsigned *n, uint64_t *ns)
{
	*n = 0;
	for (unsigned i = 0; i < m->ports; i++) {
		int fd = -1;

		if (!emu_wire_wait(&m->dev[i], &fd, ns))
			return false;
		if (fd >= 0)
			fds[(*n)++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	return true;
}

/*
 * Lets the front end watch the doorbells, then makes one more pass for doorbells that rang before.
 * Returns the new number of idle passes.
 */
static unsigned
rest(struct emu_machine *m, unsigned passes)
{
	struct pollfd fds[EMU_MAX_PORTS + 1];
	uint64_t ns = SLEEP_NS;
	unsigned n, work = 0;

	emu_lock(m);
	if (at_rest(m) && wires_wait(m, fds, &n, &ns) && m->front->doorbells_watch(m)) {
		work = emu_dp_poll(m);
		if (work == 0 && at_rest(m) && wires_wait(m, fds, &n, &ns)) {
			emu_engine_sleep(m, fds, n, ns);
			return passes;
		}
	}
	emu_unlock(m);
	if (work == 0)
		nap(shared_of(m), passes);
	return work == 0 ? passes : 0;
}

static unsigned
batch(struct emu_machine *m)
{
	unsigned work = 0;

	emu_lock(m);
	for (unsigned i = 0; i < PASSES_PER_LOCK && !emu_engine_paused(m); i++) {
		unsigned now = emu_dp_poll(m);

		work += now;
		if (now == 0 || atomic_load_explicit(&m->waiters, memory_order_relaxed) != 0)
			break;
	}
	emu_unlock(m);
	return work;
}

static void *
engine(void *arg)
{
	struct emu_machine *m = arg;
	unsigned idle_passes = 0;

	/* Without this a sleep of 2 us takes more than 50. */
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
	while (!atomic_load_explicit(&m->stop, memory_order_acquire)) {
		emu_engine_wait(m);
		if (batch(m) != 0) {
			idle_passes = 0;
			continue;
		}
		if (idle_passes >= IDLE_NAPS)
			idle_passes = rest(m, idle_passes);
		else
			nap(shared_of(m), idle_passes++);
	}
	return NULL;
}

int
emu_dp_start(struct emu_machine *m)
{
	struct dp_shared *shared = shared_of(m);
	int ret;

	if (shared == NULL || shared->running)
		return -EINVAL;
	atomic_store(&m->stop, false);
	ret = emu_thread_start(&shared->thread, "mlxemu", engine, m);
	shared->running = ret == 0;
	return ret;
}

void
emu_dp_stop(struct emu_machine *m)
{
	struct dp_shared *shared = shared_of(m);

	if (shared == NULL)
		return;
	if (shared->running) {
		atomic_store_explicit(&m->stop, true, memory_order_release);
		emu_engine_pause(m, false);
		emu_engine_wake(m);
		pthread_join(shared->thread, NULL);
	}
	emu_lock(m);
	dp_fault_fini();
	for (unsigned i = 0; i < m->ports; i++)
		port_fini(&m->dev[i]);
	emu_unlock(m);
	free(shared);
}
