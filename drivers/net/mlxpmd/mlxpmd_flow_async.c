/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: queues of operations, which are pushed and whose results are pulled. */

#include <stdlib.h>

#include <mdv_compat.h>

#include "mlxpmd_flow_async.h"

/* Limits of what is allocated; the device has none. */
#define QUEUES_MAX 1024u
#define QUEUE_SIZE_MAX 65536u
#define QUEUE_SIZE_DEFAULT 64u

enum op_kind {
	OP_CREATE, OP_UPDATE, OP_DESTROY, OP_HANDLE_CREATE, OP_HANDLE_DESTROY, OP_HANDLE_UPDATE, OP_HANDLE_QUERY
};

/** An operation, then its result. */
struct op {
	enum op_kind kind;
	enum rte_flow_op_status status;
	void *user_data;
	union {
		struct rte_flow *flow;
		struct rte_flow_action_handle *handle;
	};
	union {
		void *data;	/**< Of a query. */
		struct rte_flow *other; /**< Of an update. */
		struct mlxpmd_flow_rxqs *rxqs; /**< Of an update of a handle. */
	};
};

/** The operations pulled..done have results, those of done..enqueued are not pushed yet. All three only grow. */
struct mlxpmd_flow_queue {
	uint32_t size;
	uint64_t pulled, done, enqueued;
	struct op ops[];
};

static struct op *
op_at(struct mlxpmd_flow_queue *queue, uint64_t n)
{
	return &queue->ops[n % queue->size];
}

/* ------------------------------------------------------------------ carrying out */

static int
op_run(struct mlxpmd_port *port, struct op *op)
{
	struct rte_flow_error error;

	switch (op->kind) {
	case OP_CREATE:
		op->flow->ops--;
		return mlxpmd_flow_run(port, op->flow, &error);
	case OP_UPDATE:
		op->flow->ops--;
		return mlxpmd_flow_update(port, op->flow, op->other, &error);
	case OP_DESTROY:
		mlxpmd_flow_remove(port, op->flow);
		return 0;
	case OP_HANDLE_CREATE: /* Created when it was enqueued, for the caller's handle. */
		return 0;
	case OP_HANDLE_DESTROY:
		op->handle->ops--;
		return mlxpmd_flow_handle_remove(port, op->handle, &error);
	case OP_HANDLE_UPDATE:
		op->handle->ops--;
		return mlxpmd_flow_handle_lead(port, op->handle, op->rxqs, &error);
	case OP_HANDLE_QUERY:
		op->handle->ops--;
		return mlxpmd_flow_handle_read(op->handle, op->data, &error);
	}
	return -EINVAL;
}

static void
queue_push(struct mlxpmd_port *port, struct mlxpmd_flow_queue *queue)
{
	for (; queue->done != queue->enqueued; queue->done++) {
		struct op *op = op_at(queue, queue->done);

		op->status = op_run(port, op) == 0 ? RTE_FLOW_OP_SUCCESS : RTE_FLOW_OP_ERROR;
	}
}

void
mlxpmd_flow_queues_push(struct mlxpmd_port *port)
{
	for (uint16_t i = 0; i < port->flows->nb_queues; i++)
		queue_push(port, port->flows->queues[i]);
}

/* ------------------------------------------------------------------ enqueuing */

/** The queue of a number, with the lock held. NULL: *error is set, and the lock is not held. */
static struct mlxpmd_flow_queue *
queue_lock(struct mlxpmd_port *port, uint32_t queue_id, struct rte_flow_error *error)
{
	uint16_t nb_queues;

	pthread_mutex_lock(&port->lock);
	nb_queues = port->flows->nb_queues;
	if (queue_id < nb_queues)
		return port->flows->queues[queue_id];
	pthread_mutex_unlock(&port->lock);
	(void)mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				 "flow queue %u: %u are configured", queue_id, nb_queues);
	return NULL;
}

/** As queue_lock(), if there is a place for an operation. */
static struct mlxpmd_flow_queue *
queue_lock_free(struct mlxpmd_port *port, uint32_t queue_id, struct rte_flow_error *error)
{
	struct mlxpmd_flow_queue *queue = queue_lock(port, queue_id, error);

	if (queue == NULL || queue->enqueued - queue->pulled < queue->size)
		return queue;
	pthread_mutex_unlock(&port->lock);
	(void)mlxpmd_flow_refuse(error, EAGAIN, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				 "flow queue %u has %u operations, which is its size: push them, and pull results",
				 queue_id, queue->size);
	return NULL;
}

/** Enqueues an operation in the place that there is, and returns the lock. */
static void
op_enqueue(struct mlxpmd_port *port, struct mlxpmd_flow_queue *queue, const struct rte_flow_op_attr *attr,
	   const struct op *op)
{
	*op_at(queue, queue->enqueued++) = *op;
	if (!attr->postpone)
		queue_push(port, queue);
	pthread_mutex_unlock(&port->lock);
}

struct rte_flow *
mlxpmd_flow_async_create(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
			 struct rte_flow_template_table *table, const struct rte_flow_item items[],
			 uint8_t pattern_index, const struct rte_flow_action actions[], uint8_t actions_index,
			 void *user_data, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock_free(port, queue_id, error);
	struct rte_flow *flow;

	if (queue == NULL)
		return NULL;
	flow = mlxpmd_flow_table_add(port, table, items, pattern_index, actions, actions_index, error);
	if (flow == NULL) {
		pthread_mutex_unlock(&port->lock);
		return NULL;
	}
	flow->ops++;
	flow->queue = (uint16_t)queue_id;
	op_enqueue(port, queue, attr, &(struct op){ .kind = OP_CREATE, .user_data = user_data, .flow = flow });
	return flow;
}

struct rte_flow *
mlxpmd_flow_async_create_by_index(struct rte_eth_dev *eth_dev __rte_unused, uint32_t queue_id __rte_unused,
				  const struct rte_flow_op_attr *attr __rte_unused,
				  struct rte_flow_template_table *table __rte_unused,
				  uint32_t rule_index __rte_unused,
				  const struct rte_flow_action actions[] __rte_unused,
				  uint8_t actions_index __rte_unused, void *user_data __rte_unused,
				  struct rte_flow_error *error)
{
	(void)mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				 MLXPMD_FLOW_NO_INDEX);
	return NULL;
}

/** A flow is destroyed once, after all other operations on it: queues are pushed in any order. */
static int
flow_check(const struct rte_flow *flow, uint32_t queue_id, struct rte_flow_error *error)
{
	if (flow->leaves)
		return mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
					  "an operation that destroys the flow is not pushed yet");
	if (flow->ops != 0 && flow->queue != queue_id)
		return mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
					  "an operation on the flow is not pushed yet, in flow queue %u",
					  flow->queue);
	return 0;
}

int
mlxpmd_flow_async_destroy(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
			  struct rte_flow *flow, void *user_data, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock_free(port, queue_id, error);

	if (queue == NULL)
		return -rte_errno;
	if (flow_check(flow, queue_id, error) != 0) {
		pthread_mutex_unlock(&port->lock);
		return -rte_errno;
	}
	flow->ops++;
	flow->leaves = true;
	flow->queue = (uint16_t)queue_id;
	op_enqueue(port, queue, attr, &(struct op){ .kind = OP_DESTROY, .user_data = user_data, .flow = flow });
	return 0;
}

int
mlxpmd_flow_async_actions_update(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
				 struct rte_flow *flow, const struct rte_flow_action actions[], uint8_t actions_index,
				 void *user_data, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock_free(port, queue_id, error);
	struct rte_flow *other = NULL;

	if (queue == NULL)
		return -rte_errno;
	if (flow_check(flow, queue_id, error) == 0)
		other = mlxpmd_flow_table_other(port, flow, actions, actions_index, error);
	if (other == NULL) {
		pthread_mutex_unlock(&port->lock);
		return -rte_errno;
	}
	flow->ops++;
	flow->queue = (uint16_t)queue_id;
	op_enqueue(port, queue, attr,
		   &(struct op){ .kind = OP_UPDATE, .user_data = user_data, .flow = flow, .other = other });
	return 0;
}

int
mlxpmd_flow_async_push(struct rte_eth_dev *eth_dev, uint32_t queue_id, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock(port, queue_id, error);

	if (queue == NULL)
		return -rte_errno;
	queue_push(port, queue);
	pthread_mutex_unlock(&port->lock);
	return 0;
}

int
mlxpmd_flow_async_pull(struct rte_eth_dev *eth_dev, uint32_t queue_id, struct rte_flow_op_result res[],
		       uint16_t n_res, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock(port, queue_id, error);
	uint16_t n = 0;

	if (queue == NULL)
		return -rte_errno;
	for (; n < n_res && queue->pulled != queue->done; n++) {
		const struct op *op = op_at(queue, queue->pulled++);

		res[n] = (struct rte_flow_op_result){ .status = op->status, .user_data = op->user_data };
	}
	pthread_mutex_unlock(&port->lock);
	return n;
}

/* ------------------------------------------------------------------ indirect actions */

struct rte_flow_action_handle *
mlxpmd_flow_async_handle_create(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
				const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *action,
				void *user_data, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock_free(port, queue_id, error);
	struct rte_flow_action_handle *handle;

	if (queue == NULL)
		return NULL;
	handle = mlxpmd_flow_handle_add(port, conf, action, error);
	if (handle == NULL) {
		pthread_mutex_unlock(&port->lock);
		return NULL;
	}
	op_enqueue(port, queue, attr, &(struct op){ .kind = OP_HANDLE_CREATE, .user_data = user_data });
	return handle;
}

int
mlxpmd_flow_async_handle_destroy(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
				 struct rte_flow_action_handle *handle, void *user_data, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock_free(port, queue_id, error);

	if (queue == NULL)
		return -rte_errno;
	handle->ops++;
	op_enqueue(port, queue, attr,
		   &(struct op){ .kind = OP_HANDLE_DESTROY, .user_data = user_data, .handle = handle });
	return 0;
}

int
mlxpmd_flow_async_handle_update(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
				struct rte_flow_action_handle *handle, const void *update, void *user_data,
				struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock_free(port, queue_id, error);
	struct mlxpmd_flow_rxqs *rxqs;

	if (queue == NULL)
		return -rte_errno;
	rxqs = mlxpmd_flow_handle_rxqs(port, handle, update, error);
	if (rxqs == NULL) {
		pthread_mutex_unlock(&port->lock);
		return -rte_errno;
	}
	handle->ops++;
	op_enqueue(port, queue, attr, &(struct op){ .kind = OP_HANDLE_UPDATE, .user_data = user_data, .rxqs = rxqs,
						    .handle = handle });
	return 0;
}

int
mlxpmd_flow_async_handle_query(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
			       const struct rte_flow_action_handle *handle, void *data, void *user_data,
			       struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_queue *queue = queue_lock_free(port, queue_id, error);
	struct rte_flow_action_handle *read = (struct rte_flow_action_handle *)(uintptr_t)handle;

	if (queue == NULL)
		return -rte_errno;
	read->ops++;
	op_enqueue(port, queue, attr,
		   &(struct op){ .kind = OP_HANDLE_QUERY, .user_data = user_data, .data = data, .handle = read });
	return 0;
}

/* ------------------------------------------------------------------ configuration */

int
mlxpmd_flow_info_get(struct rte_eth_dev *eth_dev, struct rte_flow_port_info *port_info,
		     struct rte_flow_queue_info *queue_info, struct rte_flow_error *error __rte_unused)
{
	const struct mdv_caps *caps = &MLXPMD_PORT(eth_dev)->mdv->caps;

	*port_info = (struct rte_flow_port_info){
		.max_nb_queues = QUEUES_MAX,
		.max_nb_counters = caps->max_flow_counters,
		.max_nb_aging_objects = caps->max_flow_counters,
		/* Operations of a queue are carried out in their order. */
		.supported_flags = RTE_FLOW_PORT_FLAG_STRICT_QUEUE,
	};
	if (queue_info != NULL)
		queue_info->max_size = QUEUE_SIZE_MAX;
	return 0;
}

static int
configure_check(const struct mlxpmd_port *port, const struct rte_flow_port_attr *attr, uint16_t nb_queues,
		const struct rte_flow_queue_attr *queue_attr[], struct rte_flow_error *error)
{
	const uint32_t max = port->mdv->caps.max_flow_counters;
	const char *without = attr->nb_meters != 0 ? "meters" : attr->nb_conn_tracks != 0 ? "tracked connections" :
			      mdv_flow_quotas(attr) != 0 ? "quotas" : NULL;

	if (without != NULL)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, attr,
					  "%s are not supported; counters and ageing objects are", without);
	if (attr->flags & ~(uint32_t)RTE_FLOW_PORT_FLAG_STRICT_QUEUE)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, attr,
					  "flags 0x%x: STRICT_QUEUE is supported", attr->flags);
	if (attr->nb_counters > max || attr->nb_aging_objects > max)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, attr,
					  "%u counters and %u ageing objects: the device has %u counters for both",
					  attr->nb_counters, attr->nb_aging_objects, max);
	if (nb_queues > QUEUES_MAX)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "%u flow queues: there are at most %u", nb_queues, QUEUES_MAX);
	for (uint16_t i = 0; i < nb_queues; i++)
		if (queue_attr[i]->size > QUEUE_SIZE_MAX)
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
						  "flow queue %u of %u operations: a queue has at most %u", i,
						  queue_attr[i]->size, QUEUE_SIZE_MAX);
	if (mlxpmd_flow_templates_exist(port))
		return mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_STATE, NULL,
					  "there are templates: destroy them before queues are changed");
	return 0;
}

/** Drops operations that are not pushed, which leaves indirect actions without users. */
static void
queue_remove(struct mlxpmd_port *port, struct mlxpmd_flow_queue *queue)
{
	for (; queue->done != queue->enqueued; queue->done++) {
		const struct op *op = op_at(queue, queue->done);

		if (op->kind == OP_HANDLE_DESTROY || op->kind == OP_HANDLE_UPDATE || op->kind == OP_HANDLE_QUERY)
			op->handle->ops--;
		if (op->kind == OP_UPDATE)
			mlxpmd_flow_free(port, op->other);
		else if (op->kind == OP_HANDLE_UPDATE)
			free(op->rxqs);
	}
	free(queue);
}

void
mlxpmd_flow_queues_remove(struct mlxpmd_port *port)
{
	struct mlxpmd_flows *flows = port->flows;

	for (uint16_t i = 0; i < flows->nb_queues; i++)
		queue_remove(port, flows->queues[i]);
	free(flows->queues);
	flows->queues = NULL;
	flows->nb_queues = 0;
}

static int
queues_make(struct mlxpmd_port *port, uint16_t nb_queues, const struct rte_flow_queue_attr *queue_attr[])
{
	struct mlxpmd_flows *flows = port->flows;

	flows->queues = mlxpmd_flow_zalloc(port, RTE_MAX(nb_queues, 1) * sizeof(flows->queues[0]));
	for (; flows->queues != NULL && flows->nb_queues < nb_queues; flows->nb_queues++) {
		uint32_t size = queue_attr[flows->nb_queues]->size;
		struct mlxpmd_flow_queue *queue;

		if (size == 0)
			size = QUEUE_SIZE_DEFAULT;
		queue = mlxpmd_flow_zalloc(port, sizeof(*queue) + size * sizeof(queue->ops[0]));
		if (queue == NULL)
			break;
		queue->size = size;
		flows->queues[flows->nb_queues] = queue;
	}
	return flows->queues != NULL && flows->nb_queues == nb_queues ? 0 : -ENOMEM;
}

int
mlxpmd_flow_configure(struct rte_eth_dev *eth_dev, const struct rte_flow_port_attr *attr, uint16_t nb_queues,
		      const struct rte_flow_queue_attr *queue_attr[], struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = configure_check(port, attr, nb_queues, queue_attr, error);
	if (rc == 0) {
		mlxpmd_flow_queues_push(port);
		mlxpmd_flow_queues_remove(port);
		rc = queues_make(port, nb_queues, queue_attr);
		if (rc != 0) {
			mlxpmd_flow_queues_remove(port);
			(void)mlxpmd_flow_refuse(error, -rc, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
						 "no memory for %u flow queues", nb_queues);
		}
	}
	pthread_mutex_unlock(&port->lock);
	return rc;
}
