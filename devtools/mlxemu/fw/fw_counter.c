/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue counters and flow counters. */
#include <endian.h>
#include <string.h>

#include "fw.h"

static void
counter_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
}

int
fw_alloc_q_counter(struct fw_cmd *c)
{
	struct emu_q_counter *counter;

	return fw_create(c, EMU_OBJ_Q_COUNTER, sizeof(*counter), counter_release, &counter);
}

int
fw_query_q_counter(struct fw_cmd *c)
{
	struct emu_q_counter *counter = (struct emu_q_counter *)c->obj;

	if (prm_query_q_counter_in_get_other_vport(c->in) ||
	    prm_query_q_counter_in_get_vport_number(c->in) ||
	    prm_query_q_counter_in_get_aggregate(c->in))
		return fw_refuse(c, FW_COUNTER_SCOPE, "%s", "");
	/* 32-bit counters that wrap around. */
	prm_query_q_counter_out_set_rx_write_requests(c->out, (uint32_t)counter->rx_write_requests);
	prm_query_q_counter_out_set_out_of_buffer(c->out, (uint32_t)counter->out_of_buffer);
	if (prm_query_q_counter_in_get_clear(c->in)) {
		counter->rx_write_requests = 0;
		counter->out_of_buffer = 0;
	}
	return 0;
}

/* Counters in a bulk: 128 times flow_counter_bulk (Linux, mlx5_ifc.h, MLX5_FC_BULK_NUM_FCS()). */
#define BULK_FACTOR 128u
/* The kernel aligns the first id and the number of a query (fs_counters.c). */
#define BULK_ALIGN 4u

/*
 * assumed: a bulk has one of the sizes that the capability names. Other reading: any multiple of 128. Test:
 * fw/test_registers.c.
 */
int
fw_alloc_flow_counter(struct fw_cmd *c)
{
	unsigned bulk = prm_alloc_flow_counter_in_get_flow_counter_bulk(c->in);
	uint32_t n = bulk != 0 ? BULK_FACTOR * bulk : 1, id;
	struct emu_flow_counter *counter;

	if ((bulk & (bulk - 1)) != 0 || (bulk & ~c->dev->profile->flow_counter_bulk_alloc) != 0 ||
	    prm_alloc_flow_counter_in_get_flow_counter_bulk_log_size(c->in) ||
	    prm_alloc_flow_counter_in_get_pd(c->in))
		return fw_refuse(c, FW_COUNTER_BULK, "flow_counter_bulk 0x%x", bulk);
	counter = emu_obj_new_range(c->dev, c->ctx, EMU_OBJ_FLOW_COUNTER,
				    sizeof(*counter) + n * sizeof(counter->counts[0]), n, counter_release);
	if (counter == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%u flow counters", n);
	id = htobe32(counter->obj.id);
	memcpy((uint8_t *)c->out + 4 * FW_OUT_ID_DW, &id, sizeof(id));
	c->created = &counter->obj;
	return 0;
}

/* A bulk goes as a whole. */
int
fw_dealloc_flow_counter(struct fw_cmd *c)
{
	uint32_t id = prm_dealloc_flow_counter_in_get_flow_counter_id(c->in);

	if (id != c->obj->id)
		return fw_refuse(c, FW_NO_FLOW_COUNTER, "0x%x is in the bulk of 0x%x", id, c->obj->id);
	return fw_destroy_object(c);
}

/*
 * assumed: all counters of a query are those of one bulk. Other reading: others and numbers between them, too, as the
 * kernel queries. Test: fw/test_registers.c.
 */
static int
counters_check(struct fw_cmd *c, const struct emu_flow_counter *counter, uint32_t id, uint32_t n)
{
	unsigned log_max = c->dev->profile->log_max_flow_counter_bulk;

	if (n > 1 && (n % BULK_ALIGN != 0 || id % BULK_ALIGN != 0 || n > 1u << log_max ||
		      c->dev->profile->flow_counter_bulk_alloc == 0))
		return fw_refuse(c, FW_COUNTER_BULK, "%u counters from 0x%x", n, id);
	if (id - counter->obj.id + n > counter->obj.ids)
		return fw_refuse(c, FW_NO_FLOW_COUNTER, "0x%x to 0x%x: the bulk has %u from 0x%x", id, id + n - 1,
				 counter->obj.ids, counter->obj.id);
	if (prm_query_flow_counter_in_get_dump_to_memory(c->in))
		return fw_refuse(c, FW_COUNTER_DUMP, "%s", "");
	if (c->out_len < c->desc->out_bytes_min + n * PRM_TRAFFIC_COUNTER_BYTES)
		return fw_refuse(c, FW_OUT_SHORT, "%zu bytes", c->out_len);
	return 0;
}

int
fw_query_flow_counter(struct fw_cmd *c)
{
	struct emu_flow_counter *counter = (struct emu_flow_counter *)c->obj;
	uint32_t n = prm_query_flow_counter_in_get_num_of_counters(c->in);
	uint32_t id = prm_query_flow_counter_in_get_flow_counter_id(c->in);
	struct emu_counts *counts = &counter->counts[id - counter->obj.id];
	int ret;

	n = n != 0 ? n : 1;
	ret = counters_check(c, counter, id, n);
	for (uint32_t i = 0; ret == 0 && i < n; i++) {
		struct prm_traffic_counter *stats = prm_query_flow_counter_out_flow_statistics(c->out, i);

		prm_traffic_counter_set_packets(stats, counts[i].packets);
		prm_traffic_counter_set_octets(stats, counts[i].bytes);
		if (prm_query_flow_counter_in_get_clear(c->in))
			counts[i] = (struct emu_counts){0};
	}
	return ret;
}
