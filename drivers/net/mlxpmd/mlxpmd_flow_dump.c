/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: what flows match, do and count, as text, by telemetry and for other processes. */

#include <ctype.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include <mdv_compat.h>

#include "mlxpmd_flow.h"

/* A reply of telemetry has 16 KiB at most: so many flows. */
#define FLOWS_SHOWN 16u

static uint32_t
group_of(const struct rte_flow *flow)
{
	return flow->group != NULL ? flow->group->number : 0;
}

/** Writes what becomes of the packets: "queues 0 1 rss 0x18", "jump 5". */
static void
action_text(const struct rte_flow *flow, char *text, size_t bytes)
{
	static const char *const names[] = {
		[MLXPMD_TARGET_NONE] = "none", [MLXPMD_TARGET_DROP] = "drop", [MLXPMD_TARGET_QUEUES] = "queues",
		[MLXPMD_TARGET_JUMP] = "jump", [MLXPMD_TARGET_KERNEL] = "send_to_kernel",
		[MLXPMD_TARGET_SEND] = "send",
	};
	size_t n = strlcpy(text, names[flow->target], bytes);

	if (flow->jump != NULL)
		n += snprintf(text + n, bytes - n, " %u", flow->jump->number);
	for (uint16_t i = 0; flow->dest != NULL && i < flow->dest->conf.nb_queues && n < bytes; i++)
		n += snprintf(text + n, bytes - n, " %u", flow->dest->conf.queues[i]);
	if (flow->dest != NULL && flow->dest->conf.rss_hf != 0 && n < bytes)
		snprintf(text + n, bytes - n, " rss 0x%" PRIx64 "%s", flow->dest->conf.rss_hf,
			 flow->dest->conf.inner ? " inner" : "");
}

/* ------------------------------------------------------------------ dump */

static void
field_print(void *arg, const char *path, uint64_t value, uint64_t mask)
{
	fprintf(arg, " %s=0x%" PRIx64 "/0x%" PRIx64, path, value, mask);
}

static void
flow_print(FILE *file, const struct rte_flow *flow)
{
	char action[512];
	struct mdv_match m;

	mlxpmd_flow_match(flow, &m);
	fprintf(file, "flow %p %sgroup %u priority %u match", (const void *)flow, flow->egress ? "egress " : "",
		group_of(flow), flow->priority);
	mdv_match_fields(&m, field_print, file);
	if (flow->tx_queue != MLXPMD_FLOW_ANY_TXQ)
		fprintf(file, " tx_queue %u", flow->tx_queue);
	action_text(flow, action, sizeof(action));
	fprintf(file, " action %s", action);
	if (flow->tag != 0)
		fprintf(file, " tag 0x%x", flow->tag);
	if (flow->tunnel != NULL)
		fprintf(file, " %s", flow->egress ? "encap" : "decap");
	fprintf(file, "%s", flow->pop_vlan ? " pop_vlan" : "");
	if (flow->push_vlan != 0)
		fprintf(file, " push_vlan 0x%x", flow->push_vlan);
	if (flow->nb_modify != 0)
		fprintf(file, " modify %u", flow->nb_modify);
	if (flow->counter != NULL)
		fprintf(file, " counter 0x%x", mlxpmd_flow_counter_id(flow->counter));
	for (unsigned int i = 0; i < RTE_DIM(flow->handle); i++)
		if (flow->handle[i] != NULL)
			fprintf(file, " indirect %p", (const void *)flow->handle[i]);
	fprintf(file, "\n");
}

int
mlxpmd_flow_dump(struct rte_eth_dev *eth_dev, struct rte_flow *flow, FILE *file,
		 struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const struct rte_flow *f;

	pthread_mutex_lock(&port->lock);
	TAILQ_FOREACH(f, &port->flows->list, next)
		if (flow == NULL || f == flow)
			flow_print(file, f);
	pthread_mutex_unlock(&port->lock);
	return mlxpmd_flow_dump_end(file, error);
}

/* ------------------------------------------------------------------ queries of other processes */

int
mlxpmd_flow_query_other(struct mlxpmd_port *port, uint64_t address, const struct rte_flow_action *action, void *data,
			struct rte_flow_error *error)
{
	struct rte_flow *flow;
	int rc;

	pthread_mutex_lock(&port->lock);
	TAILQ_FOREACH(flow, &port->flows->list, next)
		if ((uintptr_t)flow == address)
			break;
	if (flow == NULL)
		rc = mlxpmd_flow_refuse(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
					"the port has no such flow, or no more");
	else if (action->type == RTE_FLOW_ACTION_TYPE_RSS)
		rc = mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL, "of a flow's actions count "
					"and age can be queried from another process, not rss");
	else
		rc = mlxpmd_flow_read(flow, action, data, error);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_flow_handle_query_other(struct mlxpmd_port *port, uint64_t address, void *data, struct rte_flow_error *error)
{
	const struct rte_flow_action_handle *handle;
	int rc;

	pthread_mutex_lock(&port->lock);
	TAILQ_FOREACH(handle, &port->flows->handles, next)
		if ((uintptr_t)handle == address)
			break;
	rc = handle != NULL ? mlxpmd_flow_handle_read(handle, data, error) :
	     mlxpmd_flow_refuse(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
				"the port has no such indirect action, or no more");
	pthread_mutex_unlock(&port->lock);
	return rc;
}

/* ------------------------------------------------------------------ /mlxpmd/flows */

/* Names in telemetry have letters, digits and few other characters. */
static void
field_add(void *arg, const char *path, uint64_t value, uint64_t mask)
{
	char name[64], text[48];

	strlcpy(name, path, sizeof(name));
	for (char *c = name; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c))
			*c = *c == '.' ? '/' : '_';
	snprintf(text, sizeof(text), "0x%" PRIx64 "/0x%" PRIx64, value, mask);
	rte_tel_data_add_dict_string(arg, name, text);
}

static int
flow_add(struct rte_tel_data *d, const struct rte_flow *flow, unsigned long n)
{
	struct rte_flow_query_count count = { 0 };
	struct rte_tel_data *f, *fields;
	struct rte_flow_error error;
	struct mdv_match m;
	char text[100];

	snprintf(text, sizeof(text), "%lu", n);
	f = mlxpmd_telemetry_dict(d, text);
	if (f == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_uint(f, "egress", flow->egress);
	rte_tel_data_add_dict_uint(f, "group", group_of(flow));
	rte_tel_data_add_dict_uint(f, "priority", flow->priority);
	fields = mlxpmd_telemetry_dict(f, "match");
	if (fields == NULL)
		return -ENOMEM;
	mlxpmd_flow_match(flow, &m);
	mdv_match_fields(&m, field_add, fields);
	if (flow->tx_queue != MLXPMD_FLOW_ANY_TXQ)
		rte_tel_data_add_dict_uint(f, "tx_queue", flow->tx_queue);
	action_text(flow, text, sizeof(text));
	rte_tel_data_add_dict_string(f, "action", text);
	rte_tel_data_add_dict_uint(f, "tag", flow->tag);
	if (flow->counter == NULL || mlxpmd_flow_counter_query(flow->counter, &count, &error) != 0)
		return 0;
	rte_tel_data_add_dict_uint(f, "packets", count.hits);
	rte_tel_data_add_dict_uint(f, "bytes", count.bytes);
	return 0;
}

/* Flows from number *arg on; "next" is the first of those that are left. */
static int
flows_add(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	const unsigned long first = *(const unsigned long *)arg;
	const struct mlxpmd_flow_group *group;
	const struct rte_flow *flow;
	unsigned long n = 0;
	int rc = 0;

	pthread_mutex_lock(&port->lock);
	rte_tel_data_add_dict_uint(d, "flows", port->flows->n);
	for (unsigned int i = 0; i < RTE_DIM(port->flows->groups); i++)
		TAILQ_FOREACH(group, &port->flows->groups[i], next)
			n++;
	rte_tel_data_add_dict_uint(d, "groups", n);
	rte_tel_data_add_dict_int(d, "isolated", port->isolated);
	rte_tel_data_add_dict_int(d, "applied", port->flows->applied);
	n = 0;
	TAILQ_FOREACH(flow, &port->flows->list, next) {
		if (rc != 0 || n >= first + FLOWS_SHOWN)
			break;
		if (n >= first)
			rc = flow_add(d, flow, n);
		n++;
	}
	pthread_mutex_unlock(&port->lock);
	if (rc == 0 && flow != NULL)
		rte_tel_data_add_dict_uint(d, "next", n);
	return rc;
}

static int
telemetry_flows(const char *cmd __rte_unused, const char *params, struct rte_tel_data *d)
{
	return mlxpmd_telemetry_from(params, UINT32_MAX, d, flows_add);
}

RTE_INIT(mlxpmd_flow_dump_init)
{
	rte_telemetry_register_cmd("/mlxpmd/flows", telemetry_flows,
				   "16 flows of rte_flow: what they match and do, packets. Parameters: port id, first flow (0)");
}
