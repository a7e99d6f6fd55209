/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Notifies the application of removal, link changes and queue repairs, in EAL's interrupt thread. */

#include <rte_alarm.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_notify.h"

/* After EAL had no memory for the alarm. */
#define RETRY_NS (10 * MLXPMD_NS_PER_MS)

/** Whose notices this thread delivers; NULL once a callback has closed that port. */
static __thread struct mlxpmd_notify *delivering;

static void
notice_deliver(struct mlxpmd_port *port, enum mlxpmd_notice notice)
{
	const struct rte_eth_intr_conf *conf = &port->eth_dev->data->dev_conf.intr_conf;
	enum rte_eth_event_type event = RTE_ETH_EVENT_QUEUE_STATE;

	if (notice == MLXPMD_NOTICE_RMV && !conf->rmv)
		return;
	if (notice == MLXPMD_NOTICE_LSC && (!conf->lsc || !mlxpmd_link_tell(port)))
		return;
	if (notice != MLXPMD_NOTICE_QUEUE)
		event = notice == MLXPMD_NOTICE_RMV ? RTE_ETH_EVENT_INTR_RMV : RTE_ETH_EVENT_INTR_LSC;
	rte_eth_dev_callback_process(port->eth_dev, event, NULL);
}

/* Only the removal is reported of a stopped port. */
static bool
is_wanted(const struct mlxpmd_notify *notify, enum mlxpmd_notice notice)
{
	return !__atomic_load_n(&notify->closing, __ATOMIC_ACQUIRE) &&
	       (notice == MLXPMD_NOTICE_RMV || __atomic_load_n(&notify->port->running, __ATOMIC_RELAXED));
}

/* The alarm's callback. If an application's callback closes the port, notify is freed and delivering is NULL. */
static void
deliver(void *arg)
{
	struct mlxpmd_notify *notify = arg;
	uint32_t pending[MLXPMD_NB_NOTICES], notice;

	/* Before the exchange: a notice that is added after it gets an alarm of its own. */
	__atomic_store_n(&notify->alarm_set, false, __ATOMIC_SEQ_CST);
	for (notice = 0; notice < MLXPMD_NB_NOTICES; notice++)
		pending[notice] = __atomic_exchange_n(&notify->pending[notice], 0, __ATOMIC_SEQ_CST);
	delivering = notify;
	for (notice = 0; notice < MLXPMD_NB_NOTICES; notice++)
		for (; pending[notice] != 0 && delivering == notify && is_wanted(notify, notice); pending[notice]--)
			notice_deliver(notify->port, notice);
	delivering = NULL;
}

static bool
is_pending(const struct mlxpmd_notify *notify)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < MLXPMD_NB_NOTICES; i++)
		sum |= __atomic_load_n(&notify->pending[i], __ATOMIC_SEQ_CST);
	return sum != 0;
}

static uint64_t
notify_run(void *arg)
{
	struct mlxpmd_notify *notify = arg;
	int rc;

	if (!is_pending(notify) || __atomic_exchange_n(&notify->alarm_set, true, __ATOMIC_SEQ_CST))
		return MLXPMD_TASK_IDLE;
	rc = rte_eal_alarm_set(1, deliver, notify);
	if (rc == 0)
		return MLXPMD_TASK_IDLE;
	__atomic_store_n(&notify->alarm_set, false, __ATOMIC_SEQ_CST);
	if (!notify->alarm_failed)
		MLXPMD_LOG(WARNING, "port %u: no alarm for the notification of an event: %s, retried",
			   notify->port->port_id, rte_strerror(-rc));
	notify->alarm_failed = true;
	return RETRY_NS;
}

void
mlxpmd_notify_add(struct mlxpmd_notify *notify, enum mlxpmd_notice notice)
{
	/* Each reset of a queue is an event; removal and link are states, reported once. */
	if (notice == MLXPMD_NOTICE_QUEUE)
		__atomic_fetch_add(&notify->pending[notice], 1, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&notify->pending[notice], 1, __ATOMIC_SEQ_CST);
	mlxpmd_task_request(&notify->task);
}

int
mlxpmd_notify_up(struct mlxpmd_notify *notify, struct mlxpmd_port *port)
{
	notify->port = port;
	notify->task = (struct mlxpmd_task){
		.name = "notify", .port_id = port->port_id, .run = notify_run, .arg = notify, .fd = -1,
	};
	return mlxpmd_task_add(NULL, &notify->task, MLXPMD_TASK_IDLE);
}

void
mlxpmd_notify_close(struct mlxpmd_notify *notify)
{
	__atomic_store_n(&notify->closing, true, __ATOMIC_RELEASE);
}

void
mlxpmd_notify_down(struct mlxpmd_notify *notify)
{
	mlxpmd_task_remove(&notify->task);
	/* Waits for a callback that is running, unless it is the caller. */
	(void)rte_eal_alarm_cancel(deliver, notify);
	if (delivering == notify)
		delivering = NULL;
}
