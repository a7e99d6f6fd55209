/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The tasks of a port: device events, link, queue watch and repair, removal.
 *
 * Those of the control thread read memory, descriptors and the kernel's state of the interface, and issue no firmware
 * command. They request a task of the port's worker for what needs one.
 *
 * The application's callbacks run in EAL's interrupt thread, for all ports: an application may close any port from
 * there (rte_eth_dev_callback_register()). An alarm that expires at once brings the driver into that thread.
 */

#include <poll.h>
#include <stdlib.h>

#include <rte_alarm.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"

/* Period of the queue watch: a failed queue is to be repaired within 10 ms. */
#define WATCH_NS (2 * MLXPMD_NS_PER_MS)
/* While the application sleeps on all receive queues: still within 10 ms, with a quarter of the wake-ups. */
#define WATCH_ASLEEP_NS (8 * MLXPMD_NS_PER_MS)
/* Period of the interface check, which finds a link change whose event was lost. */
#define INTERFACE_NS (1000 * MLXPMD_NS_PER_MS)
/* A close waits so long for the register dump of a failed device. */
#define DUMP_CLOSE_NS (1000 * MLXPMD_NS_PER_MS)

/* After EAL had no memory for the alarm. */
#define ALARM_RETRY_NS (10 * MLXPMD_NS_PER_MS)

/* Pending notifications in one word: bits, and from NOTICE_QUEUE on the number of queue resets. */
enum { NOTICE_RMV = 1 << 0, NOTICE_LSC = 1 << 1, NOTICE_AGED = 1 << 2, NOTICE_QUEUE = 1 << 3 };

enum { TASK_NOTIFY, TASK_LINK, TASK_REPAIR, TASK_AGE, TASK_HEALTH, TASK_EVENTS, TASK_INTERFACE, TASK_WATCH, NB_TASKS };

struct mlxpmd_tasks {
	struct mlxpmd_port *port;
	struct mlxpmd_task task[NB_TASKS];
	uint32_t notices;	/**< Pending notifications: atomic. */
	bool alarm_set;		/**< deliver() will run: atomic. */
	bool alarm_failed;	/**< That was logged. */
	bool link_event;	/**< The device reported a link change: atomic. */
	bool removed;		/**< The removal was handled; worker only. */
	bool closing;		/**< Nothing is delivered any more: atomic. */
	uint64_t closing_ns;	/**< Since when; written before closing. */
};

/** Whose notices this thread delivers; NULL once a callback has closed that port. */
static __thread struct mlxpmd_tasks *delivering;

static void
request(struct mlxpmd_tasks *t, unsigned int task)
{
	mlxpmd_task_request(&t->task[task]);
}

/* ------------------------------------------------------------------ notification of the application */

/* Any thread of the driver; takes no lock. */
static void
notify(struct mlxpmd_tasks *t, uint32_t notice)
{
	if (notice == NOTICE_QUEUE)
		__atomic_fetch_add(&t->notices, NOTICE_QUEUE, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_or(&t->notices, notice, __ATOMIC_SEQ_CST);
	request(t, TASK_NOTIFY);
}

static enum rte_eth_event_type
notice_event(uint32_t notice)
{
	switch (notice) {
	case NOTICE_RMV:
		return RTE_ETH_EVENT_INTR_RMV;
	case NOTICE_LSC:
		return RTE_ETH_EVENT_INTR_LSC;
	case NOTICE_AGED:
		return RTE_ETH_EVENT_FLOW_AGED;
	default:
		return RTE_ETH_EVENT_QUEUE_STATE;
	}
}

/** One of the pending notices: bits first, from the lowest. */
static uint32_t
notice_next(uint32_t pending)
{
	uint32_t bits = pending & (NOTICE_QUEUE - 1);

	return bits != 0 ? bits & -bits : NOTICE_QUEUE;
}

static void
notice_deliver(struct mlxpmd_port *port, uint32_t notice)
{
	const struct rte_eth_intr_conf *conf = &port->eth_dev->data->dev_conf.intr_conf;

	if (notice == NOTICE_RMV && !conf->rmv)
		return;
	if (notice == NOTICE_LSC && (!conf->lsc || !mlxpmd_link_set_notified(port)))
		return;
	rte_eth_dev_callback_process(port->eth_dev, notice_event(notice), NULL);
}

/* Of a stopped port only the removal is reported. */
static bool
is_reported(const struct mlxpmd_tasks *t, uint32_t notice)
{
	return !__atomic_load_n(&t->closing, __ATOMIC_ACQUIRE) && (notice == NOTICE_RMV || mlxpmd_running(t->port));
}

/* The alarm's callback. If an application's callback closes the port, t is freed and delivering is NULL. */
static void
deliver(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	uint32_t pending, notice;

	/* Before the exchange: a notice that is added after it gets an alarm of its own. */
	__atomic_store_n(&t->alarm_set, false, __ATOMIC_SEQ_CST);
	pending = __atomic_exchange_n(&t->notices, 0, __ATOMIC_SEQ_CST);
	delivering = t;
	for (; pending != 0 && delivering == t; pending -= notice) {
		notice = notice_next(pending);
		if (is_reported(t, notice))
			notice_deliver(t->port, notice);
	}
	delivering = NULL;
}

static uint64_t
notify_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	int rc;

	if (__atomic_load_n(&t->notices, __ATOMIC_SEQ_CST) == 0 ||
	    __atomic_exchange_n(&t->alarm_set, true, __ATOMIC_SEQ_CST))
		return MLXPMD_TASK_IDLE;
	rc = rte_eal_alarm_set(1, deliver, t);
	if (rc == 0)
		return MLXPMD_TASK_IDLE;
	__atomic_store_n(&t->alarm_set, false, __ATOMIC_SEQ_CST);
	if (!t->alarm_failed)
		MLXPMD_LOG(WARNING, "port %u: no alarm for the notification of an event: %s, retried",
			   t->port->port_id, rte_strerror(-rc));
	t->alarm_failed = true;
	return ALARM_RETRY_NS;
}

/* ------------------------------------------------------------------ control thread: no firmware command */

/*
 * Takes the device's events. mdv_events_take() checks whether the device is alive only after the kernel has closed the
 * event file of a disassociated context; the kernel then refuses the query without the device.
 */
static uint64_t
events_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	struct mlxpmd_task *task = &t->task[TASK_EVENTS];
	struct mdv_dev *mdv = t->port->mdv;
	uint32_t events = mdv_events_take(mdv);

	if ((events & MDV_EVENT_REMOVED) || mdv_removed(mdv)) {
		task->fd = -1; /* It stays readable. */
		request(t, TASK_HEALTH);
		return MLXPMD_TASK_IDLE;
	}
	if (events & MDV_EVENT_LINK) {
		__atomic_store_n(&t->link_event, true, __ATOMIC_RELAXED);
		request(t, TASK_LINK);
	}
	if (task->revents & (POLLERR | POLLHUP | POLLNVAL)) {
		MLXPMD_LOG(ERR, "port %u: its event descriptor was closed: link changes are polled", t->port->port_id);
		task->fd = -1;
	}
	return MLXPMD_TASK_IDLE;
}

/* Whether the link differs from the state that the application was last notified of. */
static bool
link_differs(struct mlxpmd_tasks *t)
{
	bool up = false;
	int rc = t->port->mdv->port->running(t->port->mdv, &up);

	if (rc == -ENODEV)
		request(t, TASK_HEALTH);
	return rc == 0 && up != mlxpmd_link_notified(t->port);
}

/*
 * Reads the flags of the kernel's interface (SIOCGIFFLAGS, which takes no lock of the kernel's that a configuration
 * holds). A context through VFIO has no interface: the worker reads the port's register.
 */
static uint64_t
interface_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	struct mdv_dev *mdv = t->port->mdv;

	if (mdv_removed(mdv) || mdv_suspect(mdv))
		request(t, TASK_HEALTH);
	if (mdv_removed(mdv))
		return MLXPMD_TASK_IDLE;
	if (mdv->mode == MDV_OPEN_VFIO || link_differs(t))
		request(t, TASK_LINK);
	return INTERFACE_NS;
}

/* Reads the queues' memory. Another thread that holds the lock changes queues: the next run reads them. */
static uint64_t
watch_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	struct mlxpmd_port *port = t->port;
	bool asleep, failed = false;

	if (mdv_removed(port->mdv) || mdv_suspect(port->mdv))
		request(t, TASK_HEALTH);
	if (mdv_removed(port->mdv) || !mlxpmd_running(port))
		return MLXPMD_TASK_IDLE;
	if (pthread_mutex_trylock(&port->lock) != 0)
		return WATCH_NS;
	if (port->running && mlxpmd_repair_check(port, mlxpmd_now_ns(), &failed))
		notify(t, NOTICE_QUEUE);
	if (port->running)
		mlxpmd_recorder_watch(port, mlxpmd_now_ns());
	asleep = port->running && mlxpmd_rx_intr_all_on(port);
	pthread_mutex_unlock(&port->lock);
	if (failed)
		request(t, TASK_REPAIR);
	mlxpmd_counts_asleep(port, asleep);
	return asleep ? WATCH_ASLEEP_NS : WATCH_NS;
}

/* ------------------------------------------------------------------ worker: may issue firmware commands */

/* Takes the lock: a change during a start is handled after it, and not dropped. */
static uint64_t
link_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	struct mlxpmd_port *port = t->port;
	const bool event = __atomic_exchange_n(&t->link_event, false, __ATOMIC_RELAXED);

	if (!event && !link_differs(t))
		return MLXPMD_TASK_IDLE;
	pthread_mutex_lock(&port->lock);
	/* Without notifications the application reads the link itself, and ethdev keeps what it has read. */
	if (port->running && !port->eth_dev->data->dev_conf.intr_conf.lsc && event)
		mlxpmd_link_record(port);
	else if (port->running && port->eth_dev->data->dev_conf.intr_conf.lsc && mlxpmd_link_refresh(port))
		notify(t, NOTICE_LSC);
	pthread_mutex_unlock(&port->lock);
	return MLXPMD_TASK_IDLE;
}

static uint64_t
repair_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	struct mlxpmd_port *port = t->port;

	pthread_mutex_lock(&port->lock);
	if (port->running && mlxpmd_repair_check(port, mlxpmd_now_ns(), NULL))
		notify(t, NOTICE_QUEUE);
	pthread_mutex_unlock(&port->lock);
	mlxpmd_recorder_given_up(port);
	return MLXPMD_TASK_IDLE;
}

static uint64_t
age_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;
	struct mlxpmd_port *port = t->port;
	bool report = false;
	uint64_t next_ns;

	pthread_mutex_lock(&port->lock);
	next_ns = mdv_removed(port->mdv) ? MLXPMD_TASK_IDLE : mlxpmd_flows_age(port, &report);
	pthread_mutex_unlock(&port->lock);
	if (report)
		notify(t, NOTICE_AGED);
	return next_ns;
}

/* Another process may hold the register gateway for a minute: a close does not wait for it. */
static bool
dump_late(const void *arg)
{
	const struct mlxpmd_tasks *t = arg;

	return __atomic_load_n(&t->closing, __ATOMIC_ACQUIRE) &&
	       mlxpmd_now_ns() - t->closing_ns >= DUMP_CLOSE_NS;
}

static void
removed(struct mlxpmd_tasks *t)
{
	struct mlxpmd_port *port = t->port;

	MLXPMD_LOG(ERR, "port %u: %s was removed: nothing is received or sent any more", port->port_id,
		   port->eth_dev->device->name);
	/* Each burst quiesces its queue at its next call, and returns 0 from then on. */
	pthread_mutex_lock(&port->lock);
	mlxpmd_repair_quiesce_all(port);
	if (port->running && mlxpmd_link_refresh(port))
		notify(t, NOTICE_LSC);
	pthread_mutex_unlock(&port->lock);
	/* At once: the process may be ended while it waits for the device. */
	mlxpmd_recorder_failed(port, MDV_RECORDER_DEVICE);
	/* The application may close in its callback, which frees memory that the device was given. */
	(void)mdv_quiesce_wait(port->mdv);
	notify(t, NOTICE_RMV);
	/* Takes up to a second, if the function's registers can still be read. */
	mlxpmd_fwdump_fatal(port, dump_late, t);
}

static uint64_t
health_run(void *arg)
{
	struct mlxpmd_tasks *t = arg;

	if (!t->removed && !mdv_alive(t->port->mdv)) {
		t->removed = true;
		removed(t);
	}
	return MLXPMD_TASK_IDLE;
}

/* ------------------------------------------------------------------ stages */

/*
 * Removed from the last to the first, so a task is removed after those that request it: tasks of the control thread,
 * then those of the worker, and at the end "notify", which both request.
 */
static const struct {
	const char *name;
	uint64_t (*run)(void *arg);
	bool worker;
	uint64_t delay_ns;
} rows[NB_TASKS] = {
	[TASK_NOTIFY] = { "notify", notify_run, false, MLXPMD_TASK_IDLE },
	[TASK_EVENTS] = { "events", events_run, false, MLXPMD_TASK_IDLE },
	[TASK_INTERFACE] = { "interface", interface_run, false, INTERFACE_NS },
	[TASK_WATCH] = { "queue_watch", watch_run, false, MLXPMD_TASK_IDLE },
	[TASK_LINK] = { "link", link_run, true, MLXPMD_TASK_IDLE },
	[TASK_REPAIR] = { "queue_repair", repair_run, true, MLXPMD_TASK_IDLE },
	[TASK_AGE] = { "flow_age", age_run, true, MLXPMD_TASK_IDLE },
	[TASK_HEALTH] = { "health", health_run, true, MLXPMD_TASK_IDLE },
};

int
mlxpmd_tasks_up(struct mlxpmd_port *port)
{
	struct mlxpmd_tasks *t = calloc(1, sizeof(*t));
	int rc = 0;

	if (t == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for its tasks", port->port_id);
	t->port = port;
	port->tasks = t;
	for (unsigned int i = 0; rc == 0 && i < NB_TASKS; i++) {
		t->task[i] = (struct mlxpmd_task){
			.name = rows[i].name, .port_id = port->port_id, .run = rows[i].run, .arg = t,
			.fd = i == TASK_EVENTS ? mdv_event_fd(port->mdv) : -1,
		};
		rc = mlxpmd_task_add(rows[i].worker ? &port->worker : NULL, &t->task[i], rows[i].delay_ns);
	}
	if (rc != 0)
		mlxpmd_tasks_down(port);
	return rc;
}

void
mlxpmd_tasks_down(struct mlxpmd_port *port)
{
	struct mlxpmd_tasks *t = port->tasks;

	if (t == NULL)
		return;
	port->tasks = NULL;
	t->closing_ns = mlxpmd_now_ns();
	__atomic_store_n(&t->closing, true, __ATOMIC_RELEASE);
	for (unsigned int i = NB_TASKS; i > 0; i--)
		mlxpmd_task_remove(&t->task[i - 1]);
	/* Waits for a callback that is running, unless it is the caller. */
	(void)rte_eal_alarm_cancel(deliver, t);
	if (delivering == t)
		delivering = NULL;
	free(t);
}

int
mlxpmd_tasks_start(struct mlxpmd_port *port)
{
	/* With link interrupts ethdev does not query the link: the events keep it up to date from here on. */
	(void)mlxpmd_link_refresh(port);
	(void)mlxpmd_link_set_notified(port);
	__atomic_store_n(&port->running, true, __ATOMIC_RELAXED);
	request(port->tasks, TASK_WATCH);
	return 0;
}

void
mlxpmd_tasks_stop(struct mlxpmd_port *port)
{
	__atomic_store_n(&port->running, false, __ATOMIC_RELAXED);
}

void
mlxpmd_tasks_age(struct mlxpmd_port *port)
{
	request(port->tasks, TASK_AGE);
}
