/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: flows that age. A task of the port's worker reads their counters. */

#include <stdlib.h>

#include "mlxpmd_flow.h"

/* Counters are read that often in the time of a flow, but not more often than once a second. */
#define AGE_READINGS 4u
#define AGE_PERIOD_NS (1000 * MLXPMD_NS_PER_MS)
/* One run sends so many commands, with the port's lock held; the next one follows soon. */
#define AGE_READS_MAX 64u
#define AGE_SOON_NS (10 * MLXPMD_NS_PER_MS)

struct mlxpmd_flow_age *
mlxpmd_flow_age_new(struct mlxpmd_port *port, const struct rte_flow_action_age *conf, struct rte_flow *flow)
{
	struct mlxpmd_flow_age *age = mlxpmd_flow_zalloc(port, sizeof(*age));

	if (age == NULL)
		return NULL;
	age->timeout_ns = (uint64_t)conf->timeout * 1000 * MLXPMD_NS_PER_MS;
	age->context = conf->context != NULL ? conf->context : flow;
	age->hit_ns = age->read_ns = mlxpmd_now_ns();
	age->packets = flow->counter->packets;
	return age;
}

/** Reads the counter of a flow. 0 or -errno. */
static int
age_read(struct rte_flow *flow, uint64_t now_ns)
{
	struct mlxpmd_flow_age *age = flow->age;
	uint64_t packets;
	int rc;

	age->read_ns = now_ns;
	rc = mlxpmd_flow_counter_read(flow->counter, now_ns, &packets);
	if (rc == 0 && packets != age->packets) {
		age->packets = packets;
		age->hit_ns = now_ns;
		age->aged = false;
	}
	return rc;
}

/** Whether a flow whose counter was just read has aged since the last time. Only the task reports it. */
static bool
age_check(struct mlxpmd_flow_age *age, uint64_t now_ns)
{
	if (age->aged || now_ns - age->hit_ns < age->timeout_ns)
		return false;
	age->aged = age->waits = true;
	return true;
}

void
mlxpmd_flow_age_begin(struct rte_flow *flow)
{
	struct mlxpmd_flow_age *age = flow->age;

	age->hit_ns = age->read_ns = mlxpmd_now_ns();
	/* Packets that others have counted are no hits of this flow. On failure the first reading seems to be one. */
	if (flow->counter->users > 1)
		(void)mlxpmd_flow_counter_read(flow->counter, age->read_ns, &age->packets);
}

static bool
age_due(const struct rte_flow *flow, uint64_t now_ns)
{
	return now_ns - flow->age->read_ns >= RTE_MAX(flow->age->timeout_ns / AGE_READINGS, AGE_PERIOD_NS);
}

uint64_t
mlxpmd_flows_age(struct mlxpmd_port *port, bool *report)
{
	const uint64_t now_ns = mlxpmd_now_ns();
	unsigned int reads = 0, ages = 0;
	bool waiting = false, aged = false;
	struct rte_flow *flow;

	TAILQ_FOREACH(flow, &port->flows->list, next) {
		if (flow->age == NULL || flow->idle)
			continue;
		ages++;
		waiting |= flow->age->waits;
		if (!mlxpmd_flow_counter_fresh(flow->counter, now_ns)) {
			if (reads == AGE_READS_MAX || !age_due(flow, now_ns))
				continue;
			reads++;
		}
		if (age_read(flow, now_ns) == 0)
			aged |= age_check(flow->age, now_ns);
	}
	/* As rte_flow.h: no further event while flows wait that the application was notified of. */
	*report = aged && !waiting;
	return ages == 0 ? MLXPMD_TASK_IDLE : reads == AGE_READS_MAX ? AGE_SOON_NS : AGE_PERIOD_NS;
}

int
mlxpmd_flow_aged_get(struct rte_eth_dev *eth_dev, void **contexts, uint32_t nb_contexts,
		     struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_flow *flow;
	uint32_t n = 0;

	if (nb_contexts != 0 && contexts == NULL)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no array of contexts");
	pthread_mutex_lock(&port->lock);
	TAILQ_FOREACH(flow, &port->flows->list, next) {
		if (flow->age == NULL || !flow->age->waits || (nb_contexts != 0 && n == nb_contexts))
			continue;
		if (nb_contexts != 0) {
			contexts[n] = flow->age->context;
			flow->age->waits = false;
		}
		n++;
	}
	pthread_mutex_unlock(&port->lock);
	return n;
}

void
mlxpmd_flow_age_query(struct rte_flow *flow, struct rte_flow_query_age *data)
{
	const uint64_t now_ns = mlxpmd_now_ns();

	(void)age_read(flow, now_ns);
	*data = (struct rte_flow_query_age){
		.aged = flow->age->aged || now_ns - flow->age->hit_ns >= flow->age->timeout_ns,
		.sec_since_last_hit_valid = 1,
		.sec_since_last_hit = (now_ns - flow->age->hit_ns) / (1000 * MLXPMD_NS_PER_MS),
	};
}
