/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * rte_flow: counters. The device creates and reads them in bulks, hundreds by one command. A rule of the root in verbs
 * mode has a counter object of its own, because mlx5dv_create_flow() takes only the first counter of an object.
 */

#include <stdlib.h>

#include <rte_common.h>

#include "mlxpmd_flow.h"

/** The number of counters that the device reads at once in place of the first n. */
#define READ_ALIGN 4u

/** An object of the device with one counter or many. */
struct mlxpmd_flow_bulk {
	TAILQ_ENTRY(mlxpmd_flow_bulk) next;
	struct mdv_obj *obj;
	uint32_t n, users;
	uint32_t fresh;		/**< Counters from here on have not been used yet, and are 0. */
	bool stale;		/**< A counter was given back since the last reading. */
	uint64_t read_ns;	/**< When count[] was read. */
	uint64_t failed_ns;	/**< When that failed last. */
	int failed;		/**< What it returned then. */
	uint64_t used[MDV_FLOW_COUNTERS_MAX / 64];
	struct mdv_flow_count count[]; /**< At the last reading. */
};

/** Counters of a new bulk: few for the first flows, many when there are more. */
static uint32_t
bulk_size(const struct mlxpmd_port *port)
{
	const uint8_t sizes = port->mdv->caps.flow_counter_bulks &
			      ((MDV_FLOW_COUNTERS_MAX >> (MDV_LOG_FLOW_BULK - 1)) - 1);
	unsigned int bit;

	if (sizes == 0)
		return 1;
	bit = TAILQ_EMPTY(&port->flows->bulks) ? rte_bsf32(sizes) : rte_fls_u32(sizes) - 1;
	return RTE_BIT32(MDV_LOG_FLOW_BULK + bit);
}

static struct mlxpmd_flow_bulk *
bulk_new(struct mlxpmd_port *port, uint32_t n)
{
	struct mlxpmd_flow_bulk *bulk = mlxpmd_flow_zalloc(port, sizeof(*bulk) + n * sizeof(bulk->count[0]));

	if (bulk == NULL)
		return NULL;
	bulk->n = n;
	bulk->obj = mdv_flow_counters_create(port->mdv, n);
	if (bulk->obj != NULL)
		return bulk;
	free(bulk);
	return NULL;
}

static int
bulk_read(struct mlxpmd_flow_bulk *bulk, uint32_t n, uint64_t now_ns)
{
	int rc = mdv_flow_counters_read(bulk->obj, bulk->n == 1 ? 1 : RTE_ALIGN_CEIL(n, READ_ALIGN), bulk->count);

	if (rc == 0 && n == bulk->fresh) {
		bulk->read_ns = now_ns;
		bulk->stale = false;
	}
	return rc;
}

/** A counter of a bulk that is not used. Its value is what it had when it was given back. */
static int
bulk_take(struct mlxpmd_flow_bulk *bulk, struct mlxpmd_flow_counter *counter)
{
	uint32_t i = bulk->fresh;
	int rc = 0;

	if (i == bulk->n) {
		for (i = 0; bulk->used[i / 64] >> i % 64 & 1; i++)
			;
		rc = bulk->stale ? bulk_read(bulk, bulk->fresh, mlxpmd_now_ns()) : 0;
	} else {
		bulk->fresh++;
	}
	if (rc != 0)
		return rc;
	bulk->used[i / 64] |= RTE_BIT64(i % 64);
	bulk->users++;
	counter->bulk = bulk;
	counter->index = i;
	counter->begin = bulk->count[i].packets;
	counter->packets = counter->begin;
	counter->bytes = bulk->count[i].bytes;
	return 0;
}

static void
bulk_give(struct mlxpmd_port *port, struct mlxpmd_flow_bulk *bulk, uint32_t i)
{
	/* Those with places come first. */
	if (bulk->n != 1)
		TAILQ_REMOVE(&port->flows->bulks, bulk, next);
	if (--bulk->users == 0) {
		(void)mdv_obj_destroy(bulk->obj);
		free(bulk);
		return;
	}
	bulk->used[i / 64] &= ~RTE_BIT64(i % 64);
	bulk->stale = true;
	TAILQ_INSERT_HEAD(&port->flows->bulks, bulk, next);
}

struct mlxpmd_flow_counter *
mlxpmd_flow_counter_get(struct mlxpmd_port *port, bool in_bulk)
{
	struct mlxpmd_flow_counter *counter = mlxpmd_flow_zalloc(port, sizeof(*counter));
	struct mlxpmd_flow_bulk *bulk = in_bulk ? TAILQ_FIRST(&port->flows->bulks) : NULL;
	uint32_t n = in_bulk ? bulk_size(port) : 1;

	if (counter == NULL)
		return NULL;
	counter->users = 1;
	if (bulk == NULL || bulk->users == bulk->n) {
		bulk = bulk_new(port, n);
		if (bulk != NULL && n != 1)
			TAILQ_INSERT_HEAD(&port->flows->bulks, bulk, next);
	}
	if (bulk == NULL || bulk_take(bulk, counter) != 0) {
		free(counter);
		return NULL;
	}
	if (n != 1 && bulk->users == bulk->n) {
		TAILQ_REMOVE(&port->flows->bulks, bulk, next);
		TAILQ_INSERT_TAIL(&port->flows->bulks, bulk, next);
	}
	return counter;
}

void
mlxpmd_flow_counter_put(struct mlxpmd_port *port, struct mlxpmd_flow_counter *counter)
{
	uint64_t packets;

	if (counter == NULL || --counter->users != 0)
		return;
	/* What it counted stays in the account of lost packets. */
	for (unsigned int egress = 0; egress < RTE_DIM(port->flows->dropped); egress++)
		if (mlxpmd_flow_counter_drops(counter, egress) && !mdv_removed(port->mdv) &&
		    mlxpmd_flow_counter_read(counter, mlxpmd_now_ns(), &packets) == 0)
			port->flows->dropped[egress] += packets - counter->begin;
	bulk_give(port, counter->bulk, counter->index);
	free(counter);
}

void
mlxpmd_flow_counter_use(struct mlxpmd_flow_counter *counter, bool egress, bool drops)
{
	counter->uses |= drops ? 1u << egress : MLXPMD_FLOW_PASSES;
}

void
mlxpmd_flow_counter_rule(const struct mlxpmd_flow_counter *counter, struct mdv_rule_attr *attr)
{
	attr->counter = counter->bulk->obj;
	attr->counter_offset = counter->index;
}

uint32_t
mlxpmd_flow_counter_id(const struct mlxpmd_flow_counter *counter)
{
	return counter->bulk->obj->id + counter->index;
}

bool
mlxpmd_flow_counter_fresh(const struct mlxpmd_flow_counter *counter, uint64_t now_ns)
{
	return counter->bulk->read_ns == now_ns;
}

int
mlxpmd_flow_counter_read(struct mlxpmd_flow_counter *counter, uint64_t now_ns, uint64_t *packets)
{
	struct mlxpmd_flow_bulk *bulk = counter->bulk;
	int rc = 0;

	/* Once for all flows of the bulk. */
	if (bulk->failed_ns == now_ns)
		return bulk->failed;
	if (bulk->read_ns != now_ns)
		rc = bulk_read(bulk, bulk->fresh, now_ns);
	if (rc != 0) {
		bulk->failed_ns = now_ns;
		bulk->failed = rc;
	}
	if (rc == 0)
		*packets = counter->bulk->count[counter->index].packets;
	return rc;
}

/* The device's counter is not set back: other readers may have its value. */
int
mlxpmd_flow_counter_query(struct mlxpmd_flow_counter *counter, struct rte_flow_query_count *data,
			  struct rte_flow_error *error)
{
	const struct mdv_flow_count *count = &counter->bulk->count[counter->index];
	int rc = bulk_read(counter->bulk, counter->index + 1, mlxpmd_now_ns());

	if (rc != 0)
		return mlxpmd_flow_refuse(error, -rc, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "the counter cannot be read: %s", rte_strerror(-rc));
	data->hits_set = 1;
	data->bytes_set = 1;
	data->hits = count->packets - counter->packets;
	data->bytes = count->bytes - counter->bytes;
	if (data->reset) {
		counter->packets = count->packets;
		counter->bytes = count->bytes;
	}
	return 0;
}
