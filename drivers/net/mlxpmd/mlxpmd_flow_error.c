/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: refusals, memory, and the end of dumps. */

#include <stdarg.h>
#include <stdlib.h>

#include <mdv_compat.h>

#include "mlxpmd_flow.h"

int
mlxpmd_flow_refuse(struct rte_flow_error *error, int err, enum rte_flow_error_type type, const void *cause,
		   const char *format, ...)
{
	static __thread char text[192];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return rte_flow_error_set(error, err, type, cause, text);
}

const char *
mlxpmd_flow_name(enum rte_flow_conv_op op, int type)
{
	const char *name = NULL;

	(void)rte_flow_conv(op, &name, sizeof(name), (const void *)(intptr_t)type, NULL);
	return name != NULL ? name : "of an unknown type";
}

int
mlxpmd_flow_port_check(const struct mlxpmd_port *port, const struct rte_flow_item *item, struct rte_flow_error *error)
{
	const struct rte_flow_item_port_id *spec = item->spec;
	const struct rte_flow_item_port_id *mask = item->mask != NULL ? item->mask : &rte_flow_item_port_id_mask;

	if (item->last != NULL)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST, item,
					  "item PORT_ID: ranges are not matched, only values under masks");
	if (spec == NULL || ((spec->id ^ port->port_id) & mask->id) == 0)
		return 0;
	return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
				  "item PORT_ID: flows of port %u have its packets, not those of port %u",
				  port->port_id, spec->id);
}

int
mlxpmd_flow_tx_queue_match(const struct mlxpmd_port *port, const struct rte_flow_item *item, bool egress,
			   uint16_t *queue, struct rte_flow_error *error)
{
	const struct rte_flow_item_tx_queue *spec = item->spec, *mask = item->mask;
	const uint16_t nb_queues = port->eth_dev->data->nb_tx_queues;

	if (!egress)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item TX_QUEUE: it is of sent packets, in flows with the attribute egress");
	if (item->last != NULL)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST, item,
					  "item TX_QUEUE: ranges are not matched, only one queue");
	if (spec == NULL || (mask != NULL && mask->tx_queue == 0))
		return 0;
	/* The device compares the SQ's number, which has nothing of the queue's. */
	if (mask != NULL && mask->tx_queue != UINT16_MAX)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_MASK, item,
					  "item TX_QUEUE: mask 0x%x: a queue is matched under mask 0xffff",
					  mask->tx_queue);
	if (spec->tx_queue >= nb_queues)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
					  "item TX_QUEUE: Tx queue %u of %u", spec->tx_queue, nb_queues);
	if (*queue != MLXPMD_FLOW_ANY_TXQ && *queue != spec->tx_queue)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
					  "item TX_QUEUE: no packet is sent by Tx queue %u and by %u", *queue,
					  spec->tx_queue);
	*queue = spec->tx_queue;
	return 0;
}

void *
mlxpmd_flow_zalloc(const struct mlxpmd_port *port, size_t bytes)
{
	void *p = calloc(1, bytes);

	if (p == NULL)
		(void)MLXPMD_FAIL(ENOMEM, "port %u: no memory for flows", port->port_id);
	return p;
}

int
mlxpmd_flow_dump_end(FILE *file, struct rte_flow_error *error)
{
	if (fflush(file) == 0 && !ferror(file))
		return 0;
	return mlxpmd_flow_refuse(error, EIO, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "not all of the dump was written: %s", strerror(errno));
}
