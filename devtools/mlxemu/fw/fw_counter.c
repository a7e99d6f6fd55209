/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue counters and flow counters. */
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

int
fw_alloc_flow_counter(struct fw_cmd *c)
{
	struct emu_flow_counter *counter;

	if (prm_alloc_flow_counter_in_get_flow_counter_bulk(c->in) ||
	    prm_alloc_flow_counter_in_get_flow_counter_bulk_log_size(c->in) ||
	    prm_alloc_flow_counter_in_get_pd(c->in))
		return fw_refuse(c, FW_COUNTER_BULK, "%s", "");
	return fw_create(c, EMU_OBJ_FLOW_COUNTER, sizeof(*counter), counter_release, &counter);
}

int
fw_query_flow_counter(struct fw_cmd *c)
{
	struct emu_flow_counter *counter = (struct emu_flow_counter *)c->obj;
	struct prm_traffic_counter *stats;

	if (prm_query_flow_counter_in_get_num_of_counters(c->in) > 1)
		return fw_refuse(c, FW_COUNTER_BULK, "%u counters",
				 prm_query_flow_counter_in_get_num_of_counters(c->in));
	if (prm_query_flow_counter_in_get_dump_to_memory(c->in))
		return fw_refuse(c, FW_COUNTER_DUMP, "%s", "");
	if (c->out_len < c->desc->out_bytes_min + PRM_TRAFFIC_COUNTER_BYTES)
		return fw_refuse(c, FW_OUT_SHORT, "%zu bytes", c->out_len);
	stats = prm_query_flow_counter_out_flow_statistics(c->out, 0);
	prm_traffic_counter_set_packets(stats, counter->packets);
	prm_traffic_counter_set_octets(stats, counter->bytes);
	if (prm_query_flow_counter_in_get_clear(c->in)) {
		counter->packets = 0;
		counter->bytes = 0;
	}
	return 0;
}
