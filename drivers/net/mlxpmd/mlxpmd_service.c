/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * One control thread per port: hears the kernel's events, watches and repairs queues.
 *
 * A thread of its own, and not EAL's, because a firmware command may take long: only this port waits
 * for it. The application is called in EAL's interrupt thread, by a one-shot alarm: DPDK promises its
 * call-backs that one context, whichever port they are about, and from there they may close any port.
 * Nothing here asks the device anything while all is well, but for statistics that somebody reads.
 */

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_lcore.h>

#include "mlxpmd_clock_keeper.h"
#include "mlxpmd_ctrl.h"

/* Between two looks at the queues: what failed is to be back within 10 ms. */
#define TICK_MS 2
/* While the application sleeps on all receive queues: still in time, and four times less work. */
#define TICK_ASLEEP_MS 8
/* A stopped port has nothing to look at but the interface. */
#define IDLE_MS 1000
/* Between two looks at the interface, in case that an event was lost. */
#define GLANCE_NS UINT64_C(1000000000)
/* A close waits so long for the dump of a device that failed. */
#define DUMP_CLOSE_NS UINT64_C(1000000000)

enum { FD_WAKE, FD_EVENTS, FD_ANSWERS, NB_FDS };

/** What the application is to be told: bits, by the moment they are told some may have come twice. */
enum notice { NOTICE_RMV = 1 << 0, NOTICE_LSC = 1 << 1, NOTICE_QUEUE = 1 << 2 };

struct mlxpmd_service {
	struct mlxpmd_port *port;
	pthread_t thread;
	struct pollfd fds[NB_FDS];
	bool quit;		/**< Of all threads: atomic. */
	uint64_t quit_ns;	/**< Since when; written before quit. */
	bool told_gone;
	bool dump_wanted;	/**< The device went; its registers may still be there. */
	int tick_ms;
	uint64_t glance_ns;
	uint32_t notices;	/**< enum notice: atomic. */
	bool alarmed;		/**< deliver() is going to come: atomic. */
	bool alarm_failed;	/**< Was logged. */
};

/** Whose notices this thread delivers; NULL once a call-back has closed that port. */
static __thread struct mlxpmd_service *delivering;

static bool
quitting(const struct mlxpmd_service *s)
{
	return __atomic_load_n(&s->quit, __ATOMIC_ACQUIRE);
}

static bool
running(const struct mlxpmd_service *s)
{
	return __atomic_load_n(&s->port->running, __ATOMIC_RELAXED);
}

static void
wake(const struct mlxpmd_service *s)
{
	const uint64_t one = 1;

	/* A counter at its limit wakes as well. */
	(void)!write(s->fds[FD_WAKE].fd, &one, sizeof(one));
}

void
mlxpmd_service_wake(const struct mlxpmd_port *port)
{
	if (port->service != NULL)
		wake(port->service);
}

/* ------------------------------------------------------------------ telling the application */

static void
tell(struct mlxpmd_port *port, enum notice notice)
{
	const struct rte_eth_intr_conf *conf = &port->eth_dev->data->dev_conf.intr_conf;

	enum rte_eth_event_type event = RTE_ETH_EVENT_QUEUE_STATE;

	if (notice == NOTICE_RMV && !conf->rmv)
		return;
	if (notice == NOTICE_LSC && (!conf->lsc || !mlxpmd_link_tell(port)))
		return;
	if (notice != NOTICE_QUEUE)
		event = notice == NOTICE_RMV ? RTE_ETH_EVENT_INTR_RMV : RTE_ETH_EVENT_INTR_LSC;
	rte_eth_dev_callback_process(port->eth_dev, event, NULL);
}

/* In EAL's interrupt thread. A call-back may close the port: then s is no more, and delivering says so. */
static void
deliver(void *arg)
{
	struct mlxpmd_service *s = arg;
	uint32_t notices, notice;

	/* Before they are taken: what comes from here on gets an alarm of its own. */
	__atomic_store_n(&s->alarmed, false, __ATOMIC_SEQ_CST);
	notices = __atomic_exchange_n(&s->notices, 0, __ATOMIC_SEQ_CST);
	delivering = s;
	for (notice = NOTICE_RMV; notice <= NOTICE_QUEUE && delivering == s; notice <<= 1)
		if ((notices & notice) && !quitting(s) && (notice == NOTICE_RMV || running(s)))
			tell(s->port, notice);
	delivering = NULL;
}

/* An alarm that cannot be had is asked for again whenever the thread wakes. */
static void
notices_post(struct mlxpmd_service *s)
{
	int rc;

	if (__atomic_load_n(&s->notices, __ATOMIC_SEQ_CST) == 0 ||
	    __atomic_exchange_n(&s->alarmed, true, __ATOMIC_SEQ_CST))
		return;
	rc = rte_eal_alarm_set(1, deliver, s);
	if (rc == 0)
		return;
	__atomic_store_n(&s->alarmed, false, __ATOMIC_SEQ_CST);
	if (!s->alarm_failed)
		MLXPMD_LOG(WARNING, "port %u: no alarm to tell of an event: %s, tried again",
			   s->port->port_id, rte_strerror(-rc));
	s->alarm_failed = true;
}

static void
notices_add(struct mlxpmd_service *s, enum notice what)
{
	__atomic_fetch_or(&s->notices, what, __ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------ what happens to a port */

/* Once per port. */
static void
removed(struct mlxpmd_service *s)
{
	struct mlxpmd_port *port = s->port;

	s->told_gone = s->dump_wanted = true;
	s->fds[FD_EVENTS].fd = -1; /* It would be readable for ever. */
	MLXPMD_LOG(ERR, "port %u: %s is gone: nothing is received or sent any more", port->port_id,
		   port->eth_dev->device->name);
	/* Every burst lets go at its next call, and returns 0 from then on. */
	pthread_mutex_lock(&port->lock);
	mlxpmd_repair_ask_all(port);
	pthread_mutex_unlock(&port->lock);
	/* Who is told may close, and free what the device was given. */
	if (!mdv_quiesce_wait(port->mdv))
		MLXPMD_LOG(WARNING, "port %u: %s that %s is at rest: rings and mbufs in use are kept", port->port_id,
			   port->mdv->mode == MDV_OPEN_VFIO ? "nothing tells" : "the kernel does not say",
			   port->eth_dev->device->name);
	notices_add(s, NOTICE_RMV);
}

/* Under the lock: what changes during a start is looked at when that is done, and not dropped. */
static void
link_moved(struct mlxpmd_service *s)
{
	struct mlxpmd_port *port = s->port;

	pthread_mutex_lock(&port->lock);
	if (port->running && port->eth_dev->data->dev_conf.intr_conf.lsc && mlxpmd_link_look(port))
		notices_add(s, NOTICE_LSC);
	pthread_mutex_unlock(&port->lock);
}

static void
tick(struct mlxpmd_service *s)
{
	struct mlxpmd_port *port = s->port;
	bool asleep;

	/* Who holds it changes queues: their turn comes at the next tick. */
	if (pthread_mutex_trylock(&port->lock) != 0)
		return;
	if (port->running && mlxpmd_repair_tick(port, mlxpmd_now_ns()))
		notices_add(s, NOTICE_QUEUE);
	asleep = port->running && mlxpmd_rx_intr_all_on(port);
	s->tick_ms = asleep ? TICK_ASLEEP_MS : TICK_MS;
	mlxpmd_counts_asleep(port, asleep);
	pthread_mutex_unlock(&port->lock);
}

/* ------------------------------------------------------------------ how it comes to know */

/* The interface tells without the device being asked; only what differs is looked into. */
static uint32_t
glance(struct mlxpmd_service *s)
{
	struct mlxpmd_port *port = s->port;
	bool up = false;
	int rc;

	s->glance_ns = mlxpmd_now_ns();
	rc = mdv_port_running(port->mdv, &up);
	if (rc == -ENODEV)
		return mdv_alive(port->mdv) ? 0 : MDV_EVENT_REMOVED;
	return rc == 0 && up != mlxpmd_link_told(port) ? MDV_EVENT_LINK : 0;
}

static uint32_t
events_get(struct mlxpmd_service *s)
{
	struct mdv_dev *mdv = s->port->mdv;
	uint32_t events = 0;

	if (s->fds[FD_EVENTS].revents != 0)
		events = mdv_events_take(mdv);
	if (!mdv_removed(mdv) && mdv_suspect(mdv) && !mdv_alive(mdv))
		events |= MDV_EVENT_REMOVED;
	if (mlxpmd_now_ns() - s->glance_ns >= GLANCE_NS)
		events |= glance(s);
	if ((s->fds[FD_EVENTS].revents & (POLLERR | POLLHUP | POLLNVAL)) && !mdv_removed(mdv)) {
		MLXPMD_LOG(ERR, "port %u: its event descriptor was closed: changes are found by looking",
			   s->port->port_id);
		s->fds[FD_EVENTS].fd = -1;
	}
	return events;
}

/* Others may hold what a dump needs, for a minute; a close does not wait for them. */
static bool
dump_late(const void *arg)
{
	const struct mlxpmd_service *s = arg;

	return quitting(s) && mlxpmd_now_ns() - s->quit_ns >= DUMP_CLOSE_NS;
}

static void
serve(struct mlxpmd_service *s)
{
	uint32_t events = 0;

	if (!s->told_gone)
		events = events_get(s);
	if (events & MDV_EVENT_REMOVED)
		removed(s);
	else if (events & MDV_EVENT_LINK)
		link_moved(s);
	if (!s->told_gone && running(s))
		tick(s);
	if (!s->told_gone)
		mlxpmd_counts_serve(s->port, s->fds[FD_ANSWERS].revents != 0);
	notices_post(s);
	/* The application was told: it need not wait for what may last a second. */
	if (s->dump_wanted)
		mlxpmd_fwdump_fatal(s->port, dump_late, s);
	s->dump_wanted = false;
	mlxpmd_clock_watch();
}

static int
pause_ms(const struct mlxpmd_service *s)
{
	int ms = running(s) && !s->told_gone ? s->tick_ms : IDLE_MS;
	int counts_ms = s->told_gone ? -1 : mlxpmd_counts_timeout_ms(s->port);

	return counts_ms >= 0 ? RTE_MIN(ms, counts_ms) : ms;
}

static void *
service_main(void *arg)
{
	struct mlxpmd_service *s = arg;
	uint64_t count;

	while (!quitting(s)) {
		s->fds[FD_ANSWERS].fd = s->told_gone ? -1 : mlxpmd_counts_fd(s->port);
		if (poll(s->fds, NB_FDS, pause_ms(s)) < 0)
			continue; /* A signal. */
		if (s->fds[FD_WAKE].revents != 0)
			(void)!read(s->fds[FD_WAKE].fd, &count, sizeof(count));
		if (!quitting(s))
			serve(s);
	}
	return NULL;
}

/* ------------------------------------------------------------------ stages */

int
mlxpmd_service_up(struct mlxpmd_port *port)
{
	struct mlxpmd_service *s = calloc(1, sizeof(*s));
	char name[16];
	int rc;

	if (s == NULL) {
		MLXPMD_LOG(ERR, "port %u: no memory for the service", port->port_id);
		return -ENOMEM;
	}
	s->port = port;
	s->tick_ms = TICK_MS;
	s->glance_ns = mlxpmd_now_ns();
	s->fds[FD_EVENTS] = (struct pollfd) { .fd = mdv_event_fd(port->mdv), .events = POLLIN };
	s->fds[FD_ANSWERS] = (struct pollfd) { .fd = -1, .events = POLLIN };
	s->fds[FD_WAKE] = (struct pollfd) {
		.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = POLLIN,
	};
	rc = s->fds[FD_WAKE].fd < 0 ? errno : 0;
	snprintf(name, sizeof(name), "mlxpmd-%u", port->port_id);
	if (rc == 0)
		rc = rte_ctrl_thread_create(&s->thread, name, NULL, service_main, s);
	if (rc == 0) {
		port->service = s;
		return 0;
	}
	rc = rc < 0 ? -rc : rc;
	MLXPMD_LOG(ERR, "port %u: no thread for the service: %s", port->port_id, rte_strerror(rc));
	if (s->fds[FD_WAKE].fd >= 0)
		close(s->fds[FD_WAKE].fd);
	free(s);
	return -rc;
}

void
mlxpmd_service_down(struct mlxpmd_port *port)
{
	struct mlxpmd_service *s = port->service;

	if (s == NULL)
		return;
	port->service = NULL;
	s->quit_ns = mlxpmd_now_ns();
	__atomic_store_n(&s->quit, true, __ATOMIC_RELEASE);
	wake(s);
	pthread_join(s->thread, NULL);
	/* Waits for a call-back that is running, unless it is the one that closes. */
	(void)rte_eal_alarm_cancel(deliver, s);
	if (delivering == s)
		delivering = NULL;
	close(s->fds[FD_WAKE].fd);
	free(s);
}

int
mlxpmd_service_start(struct mlxpmd_port *port)
{
	/* With link interrupts ethdev does not ask: from here on the event keeps what it knows. */
	(void)mlxpmd_link_look(port);
	(void)mlxpmd_link_tell(port);
	__atomic_store_n(&port->running, true, __ATOMIC_RELAXED);
	wake(port->service);
	return 0;
}

void
mlxpmd_service_stop(struct mlxpmd_port *port)
{
	__atomic_store_n(&port->running, false, __ATOMIC_RELAXED);
}
