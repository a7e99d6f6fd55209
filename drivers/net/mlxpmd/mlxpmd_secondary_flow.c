/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * rte_flow in a secondary process: the primary process, which has the flows, queries and dumps them. Handles are
 * addresses of that process, and are used here as numbers only.
 */

#include <unistd.h>

#include <mdv_compat.h>

#include "mlxpmd_flow.h"
#include "mlxpmd_secondary.h"

/* Sends a request about the port's flows; *error is set. 0 or -errno. */
static int
flow_request(const struct rte_eth_dev *eth_dev, struct mlxpmd_message *message, int *fds, struct rte_flow_error *error)
{
	int rc;

	message->port_id = eth_dev->data->port_id;
	rc = mlxpmd_secondary_ended(eth_dev) ? -EIO : mlxpmd_request(message, fds);
	if (rc == 0)
		return 0;
	return mlxpmd_flow_refuse(error, -rc, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "%.*s", (int)sizeof(message->why),
				  message->why[0] != '\0' ? message->why : mlxpmd_request_reason(rc));
}

static int
reset_refuse(const struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	if (!count->reset)
		return 0;
	return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "a secondary process does not reset counters of flows: the primary process does this");
}

/* One action. data is that of the action's type; the primary process refuses others than these two. */
static int
query_one(const struct rte_eth_dev *eth_dev, const struct rte_flow *flow, const struct rte_flow_action *action,
	  void *data, struct rte_flow_error *error)
{
	struct mlxpmd_message message = {
		.type = MLXPMD_MESSAGE_FLOW_QUERY, .object = (uintptr_t)flow, .action = action->type,
	};
	int rc = action->type == RTE_FLOW_ACTION_TYPE_COUNT ? reset_refuse(data, error) : 0;

	if (rc == 0)
		rc = flow_request(eth_dev, &message, NULL, error);
	if (rc == 0 && action->type == RTE_FLOW_ACTION_TYPE_COUNT)
		*(struct rte_flow_query_count *)data = message.count;
	else if (rc == 0)
		*(struct rte_flow_query_age *)data = message.age;
	return rc;
}

static int
flow_query(struct rte_eth_dev *eth_dev, struct rte_flow *flow, const struct rte_flow_action *action, void *data,
	   struct rte_flow_error *error)
{
	int rc = 0;

	for (; rc == 0 && action->type != RTE_FLOW_ACTION_TYPE_END; action++)
		if (action->type != RTE_FLOW_ACTION_TYPE_VOID)
			rc = query_one(eth_dev, flow, action, data, error);
	return rc;
}

/* Of indirect actions the primary process queries counters only. */
static int
handle_query(struct rte_eth_dev *eth_dev, const struct rte_flow_action_handle *handle, void *data,
	     struct rte_flow_error *error)
{
	struct mlxpmd_message message = { .type = MLXPMD_MESSAGE_HANDLE_QUERY, .object = (uintptr_t)handle };
	int rc = reset_refuse(data, error);

	if (rc == 0)
		rc = flow_request(eth_dev, &message, NULL, error);
	if (rc == 0)
		*(struct rte_flow_query_count *)data = message.count;
	return rc;
}

static int
flow_dump(struct rte_eth_dev *eth_dev, struct rte_flow *flow, FILE *file, struct rte_flow_error *error)
{
	struct mlxpmd_message message = { .type = MLXPMD_MESSAGE_FLOWS, .object = (uintptr_t)flow };
	int fds[MLXPMD_NB_FDS] = { -1, -1 }, rc;
	char text[4096];
	ssize_t n = 0;
	off_t at = 0;

	rc = flow_request(eth_dev, &message, fds, error);
	while (rc == 0 && (n = pread(fds[0], text, sizeof(text), at)) > 0) {
		fwrite(text, 1, n, file);
		at += n;
	}
	if (n < 0)
		rc = mlxpmd_flow_refuse(error, errno, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					"the dump of the primary process cannot be read");
	else if (rc == 0)
		rc = mlxpmd_flow_dump_end(file, error);
	if (fds[0] >= 0)
		close(fds[0]);
	return rc;
}

/* Defines an operation that the primary process does, and that fails here. Some releases do not have all. */
#define REFUSED(type, name, failed, ...) \
static __rte_unused type \
name(struct rte_eth_dev *eth_dev __rte_unused, ##__VA_ARGS__, struct rte_flow_error *error) \
{ \
	(void)mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, \
				 "a secondary process queries and dumps flows only: the primary process does this"); \
	return failed; \
}

REFUSED(int, validate, -ENOTSUP, const struct rte_flow_attr *attr __rte_unused,
	const struct rte_flow_item items[] __rte_unused, const struct rte_flow_action actions[] __rte_unused)
REFUSED(struct rte_flow *, create, NULL, const struct rte_flow_attr *attr __rte_unused,
	const struct rte_flow_item items[] __rte_unused, const struct rte_flow_action actions[] __rte_unused)
REFUSED(int, destroy, -ENOTSUP, struct rte_flow *flow __rte_unused)
REFUSED(int, flush, -ENOTSUP)
REFUSED(int, isolate, -ENOTSUP, int enable __rte_unused)
/* It would take them from the primary process, and their contexts are addresses of that one. */
REFUSED(int, get_aged_flows, -ENOTSUP, void **contexts __rte_unused, uint32_t nb_contexts __rte_unused)
REFUSED(struct rte_flow_action_handle *, handle_create, NULL,
	const struct rte_flow_indir_action_conf *conf __rte_unused, const struct rte_flow_action *action __rte_unused)
REFUSED(int, handle_destroy, -ENOTSUP, struct rte_flow_action_handle *handle __rte_unused)
REFUSED(int, handle_update, -ENOTSUP, struct rte_flow_action_handle *handle __rte_unused,
	const void *update __rte_unused)

/* Those of flow queues: ethdev calls them without looking whether a port has any. */
#define OP_REFUSED(type, name, failed, ...) \
REFUSED(type, name, failed, uint32_t queue_id __rte_unused, const struct rte_flow_op_attr *attr __rte_unused, \
	##__VA_ARGS__, void *user_data __rte_unused)

OP_REFUSED(struct rte_flow *, queue_create, NULL, struct rte_flow_template_table *table __rte_unused,
	   const struct rte_flow_item items[] __rte_unused, uint8_t pattern_index __rte_unused,
	   const struct rte_flow_action actions[] __rte_unused, uint8_t actions_index __rte_unused)
OP_REFUSED(struct rte_flow *, queue_create_by_index, NULL, struct rte_flow_template_table *table __rte_unused,
	   uint32_t rule_index __rte_unused, const struct rte_flow_action actions[] __rte_unused,
	   uint8_t actions_index __rte_unused)
OP_REFUSED(int, queue_actions_update, -ENOTSUP, struct rte_flow *flow __rte_unused,
	   const struct rte_flow_action actions[] __rte_unused, uint8_t actions_index __rte_unused)
OP_REFUSED(int, queue_destroy, -ENOTSUP, struct rte_flow *flow __rte_unused)
REFUSED(int, queue_push, -ENOTSUP, uint32_t queue_id __rte_unused)
REFUSED(int, queue_pull, -ENOTSUP, uint32_t queue_id __rte_unused, struct rte_flow_op_result res[] __rte_unused,
	uint16_t n_res __rte_unused)
OP_REFUSED(struct rte_flow_action_handle *, queue_handle_create, NULL,
	   const struct rte_flow_indir_action_conf *conf __rte_unused,
	   const struct rte_flow_action *action __rte_unused)
OP_REFUSED(int, queue_handle_destroy, -ENOTSUP, struct rte_flow_action_handle *handle __rte_unused)
OP_REFUSED(int, queue_handle_update, -ENOTSUP, struct rte_flow_action_handle *handle __rte_unused,
	   const void *update __rte_unused)
OP_REFUSED(int, queue_handle_query, -ENOTSUP, const struct rte_flow_action_handle *handle __rte_unused,
	   void *data __rte_unused)

void
mlxpmd_secondary_flow_up(struct rte_eth_dev *eth_dev __rte_unused)
{
	MDV_FLOW_FP_OPS_SET(eth_dev, queue_);
}

int
mlxpmd_secondary_flow_ops_get(struct rte_eth_dev *eth_dev __rte_unused, const struct rte_flow_ops **ops)
{
	static const struct rte_flow_ops flow_ops = {
		.validate = validate,
		.create = create,
		.destroy = destroy,
		.flush = flush,
		.query = flow_query,
		.isolate = isolate,
		.dev_dump = flow_dump,
		.get_aged_flows = get_aged_flows,
		.action_handle_create = handle_create,
		.action_handle_destroy = handle_destroy,
		.action_handle_update = handle_update,
		.action_handle_query = handle_query,
		MDV_FLOW_OPS_ASYNC(queue_)
	};

	*ops = &flow_ops;
	return 0;
}
