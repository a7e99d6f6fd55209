/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What flows share: queues with their TIRs; indirect actions. */

#include <stdlib.h>

#include "mlxpmd_flow.h"

/* ------------------------------------------------------------------ queues */

static bool
conf_equal(const struct mlxpmd_tirs_conf *a, const struct mlxpmd_tirs_conf *b)
{
	return !a->varies && !b->varies && a->nb_queues == b->nb_queues && a->rss_hf == b->rss_hf &&
	       a->symmetric == b->symmetric && a->inner == b->inner && memcmp(a->key, b->key, sizeof(a->key)) == 0 &&
	       memcmp(a->queues, b->queues, a->nb_queues * sizeof(a->queues[0])) == 0;
}

/** NULL: no memory, logged. */
static struct mlxpmd_flow_rxqs *
rxqs_new(const struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf)
{
	const size_t bytes = conf->nb_queues * sizeof(conf->queues[0]);
	struct mlxpmd_flow_rxqs *rxqs = mlxpmd_flow_zalloc(port, sizeof(*rxqs) + bytes);

	if (rxqs == NULL)
		return NULL;
	rxqs->n = conf->nb_queues;
	memcpy(rxqs->queue, conf->queues, bytes);
	return rxqs;
}

static void
dest_free(struct mlxpmd_flow_dest *dest)
{
	free(dest->rxqs);
	free(dest);
}

struct mlxpmd_flow_dest *
mlxpmd_flow_dest_get(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf)
{
	struct mlxpmd_flow_dest *dest;

	TAILQ_FOREACH(dest, &port->flows->dests, next) {
		if (!conf_equal(&dest->conf, conf))
			continue;
		dest->users++;
		return dest;
	}
	dest = mlxpmd_flow_zalloc(port, sizeof(*dest));
	if (dest == NULL)
		return NULL;
	dest->users = 1;
	dest->conf = *conf;
	dest->rxqs = rxqs_new(port, conf);
	if (dest->rxqs == NULL ||
	    (port->flows->applied && mlxpmd_tirs_create(port, conf, &dest->tirs) != 0)) {
		dest_free(dest);
		return NULL;
	}
	dest->conf.queues = dest->rxqs->queue;
	TAILQ_INSERT_TAIL(&port->flows->dests, dest, next);
	return dest;
}

void
mlxpmd_flow_dest_put(struct mlxpmd_port *port, struct mlxpmd_flow_dest *dest)
{
	if (dest == NULL || --dest->users != 0)
		return;
	TAILQ_REMOVE(&port->flows->dests, dest, next);
	mlxpmd_tirs_destroy(&dest->tirs);
	dest_free(dest);
}

void
mlxpmd_flow_dest_query(const struct mlxpmd_flow_dest *dest, struct rte_flow_action_rss *data)
{
	*data = (struct rte_flow_action_rss){
		.func = dest->conf.symmetric ? RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ :
					       RTE_ETH_HASH_FUNCTION_TOEPLITZ,
		.level = dest->conf.inner ? 2 : 1,
		.types = dest->conf.rss_hf,
		.key_len = sizeof(dest->conf.key),
		.queue_num = dest->conf.nb_queues,
		.key = dest->conf.key,
		.queue = dest->conf.queues,
	};
}

/* ------------------------------------------------------------------ indirect actions */

static struct rte_flow_action_handle *
handle_new(struct mlxpmd_port *port, const struct rte_flow_action *action, bool egress, struct rte_flow_error *error)
{
	struct mlxpmd_flow_actions compiled;
	struct rte_flow_action_handle *handle;

	if (mlxpmd_flow_action_compile(port, action, egress, &compiled, error) != 0)
		return NULL;
	handle = mlxpmd_flow_zalloc(port, sizeof(*handle));
	if (handle != NULL && compiled.count) {
		handle->counter = mlxpmd_flow_counter_get(port, false);
	} else if (handle != NULL) {
		compiled.conf.varies = action->type == RTE_FLOW_ACTION_TYPE_RSS;
		handle->dest = mlxpmd_flow_dest_get(port, &compiled.conf);
	}
	if (handle != NULL && (handle->counter != NULL || handle->dest != NULL)) {
		handle->type = action->type;
		return handle;
	}
	(void)mlxpmd_flow_refuse(error, handle == NULL ? ENOMEM : rte_errno, RTE_FLOW_ERROR_TYPE_ACTION, action,
				 "no memory, or the device refused an object of the action");
	free(handle);
	return NULL;
}

struct rte_flow_action_handle *
mlxpmd_flow_handle_add(struct mlxpmd_port *port, const struct rte_flow_indir_action_conf *conf,
		       const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct rte_flow_action_handle *handle;

	if (!conf->ingress && !conf->egress) {
		(void)mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					 "indirect actions are for ingress or egress");
		return NULL;
	}
	handle = handle_new(port, action, conf->egress, error);
	if (handle != NULL)
		TAILQ_INSERT_TAIL(&port->flows->handles, handle, next);
	return handle;
}

struct rte_flow_action_handle *
mlxpmd_flow_handle_create(struct rte_eth_dev *eth_dev, const struct rte_flow_indir_action_conf *conf,
			  const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_flow_action_handle *handle;

	pthread_mutex_lock(&port->lock);
	handle = mlxpmd_flow_handle_add(port, conf, action, error);
	pthread_mutex_unlock(&port->lock);
	return handle;
}

int
mlxpmd_flow_handle_remove(struct mlxpmd_port *port, struct rte_flow_action_handle *handle,
			  struct rte_flow_error *error)
{
	if (handle->users != 0)
		return mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
					  "%u flows use the indirect action", handle->users);
	if (handle->ops != 0)
		return mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
					  "%u operations on the indirect action are not pushed yet", handle->ops);
	TAILQ_REMOVE(&port->flows->handles, handle, next);
	mlxpmd_flow_counter_put(port, handle->counter);
	mlxpmd_flow_dest_put(port, handle->dest);
	free(handle);
	return 0;
}

int
mlxpmd_flow_handle_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_action_handle *handle,
			   struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = mlxpmd_flow_handle_remove(port, handle, error);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_flow_handle_read(const struct rte_flow_action_handle *handle, void *data, struct rte_flow_error *error)
{
	if (handle->counter == NULL)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
					  "of indirect actions count can be queried; a flow that uses it answers for rss");
	return mlxpmd_flow_counter_query(handle->counter, data, error);
}

int
mlxpmd_flow_handle_query(struct rte_eth_dev *eth_dev, const struct rte_flow_action_handle *handle, void *data,
			 struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc;

	pthread_mutex_lock(&port->lock);
	rc = mlxpmd_flow_handle_read(handle, data, error);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

/* ------------------------------------------------------------------ updates of indirect actions */

/** What an update of rss has that is not as in the action; NULL: the queues alone. No key is that of the action. */
static const char *
conf_difference(const struct mlxpmd_tirs_conf *was, const struct mlxpmd_tirs_conf *is,
		const struct rte_flow_action_rss *given)
{
	if (is->rss_hf != was->rss_hf)
		return "types";
	if (is->symmetric != was->symmetric)
		return "func";
	if (is->inner != was->inner)
		return "level";
	if (given->key != NULL && given->key_len != 0 && memcmp(is->key, was->key, sizeof(is->key)) != 0)
		return "key";
	return NULL;
}

struct mlxpmd_flow_rxqs *
mlxpmd_flow_handle_rxqs(struct mlxpmd_port *port, const struct rte_flow_action_handle *handle, const void *update,
			struct rte_flow_error *error)
{
	const struct rte_flow_action *action = update;
	struct mlxpmd_flow_actions compiled;
	struct mlxpmd_flow_rxqs *rxqs;
	const char *difference;

	if (handle->type != RTE_FLOW_ACTION_TYPE_RSS) {
		(void)mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
					 "an indirect action %s keeps its configuration; of rss the queues are updated",
					 mlxpmd_flow_name(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, handle->type));
		return NULL;
	}
	if (action->type != RTE_FLOW_ACTION_TYPE_RSS) {
		(void)mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
					 "the indirect action is rss, not %s",
					 mlxpmd_flow_name(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, action->type));
		return NULL;
	}
	if (mlxpmd_flow_action_compile(port, action, false, &compiled, error) != 0)
		return NULL;
	difference = conf_difference(&handle->dest->conf, &compiled.conf, action->conf);
	if (difference != NULL) {
		(void)mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, action,
					 "RSS %s: an update has those of the indirect action, and other queues",
					 difference);
		return NULL;
	}
	rxqs = rxqs_new(port, &compiled.conf);
	if (rxqs == NULL)
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_ACTION, action, "no memory for queues");
	return rxqs;
}

int
mlxpmd_flow_handle_lead(struct mlxpmd_port *port, struct rte_flow_action_handle *handle, struct mlxpmd_flow_rxqs *rxqs,
			struct rte_flow_error *error)
{
	const uint16_t nb_queues = port->eth_dev->data->nb_rx_queues;
	struct mlxpmd_flow_dest *dest = handle->dest;
	struct mlxpmd_tirs_conf conf = dest->conf;
	int rc = 0;

	conf.queues = rxqs->queue;
	conf.nb_queues = rxqs->n;
	/* The port may have fewer since the list was made. */
	for (uint16_t i = 0; rc == 0 && i < rxqs->n; i++)
		if (rxqs->queue[i] >= nb_queues)
			rc = mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
						"Rx queue %u does not exist: the port has %u", rxqs->queue[i],
						nb_queues);
	if (rc == 0 && port->flows->applied) {
		rc = mlxpmd_tirs_replaced(port, &conf, &dest->tirs);
		if (rc != 0) {
			(void)mlxpmd_tirs_replaced(port, &dest->conf, &dest->tirs);
			(void)mlxpmd_flow_refuse(error, -rc, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
						 "the device refused the queues: %s", rte_strerror(-rc));
		}
	}
	if (rc != 0) {
		free(rxqs);
		return rc;
	}
	free(dest->rxqs);
	dest->rxqs = rxqs;
	dest->conf = conf;
	return 0;
}

int
mlxpmd_flow_handle_update(struct rte_eth_dev *eth_dev, struct rte_flow_action_handle *handle, const void *update,
			  struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_flow_rxqs *rxqs;
	int rc;

	pthread_mutex_lock(&port->lock);
	rxqs = mlxpmd_flow_handle_rxqs(port, handle, update, error);
	rc = rxqs != NULL ? mlxpmd_flow_handle_lead(port, handle, rxqs, error) : -rte_errno;
	pthread_mutex_unlock(&port->lock);
	return rc;
}
