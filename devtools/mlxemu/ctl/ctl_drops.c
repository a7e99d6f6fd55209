/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Where the frames of a port ended, by the model's own counters and not by those that programs can read: the lines of
 * a direction add up to its first one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/emu_obj.h"
#include "emu_ctl.h"

#define AT(member) offsetof(struct emu_port_stats, member)
#define NONE SIZE_MAX

/** A place: a counter, less another one that is part of it. */
struct place {
	const char *name;
	size_t plus, minus;
};

static const struct place received[] = {
	{"wire_lost", AT(rx_wire_lost), NONE},
	{"link_down", AT(rx_link_down), NONE},
	{"fcs_error", AT(rx_fcs_errors), NONE},
	{"undersize", AT(rx_undersize), NONE},
	{"oversize", AT(rx_oversize), NONE},
	{"port_discard", AT(rx_port_discards), NONE},
	{"vport_down", AT(rx_vport_down), NONE},
	{"elsewhere", AT(rx_elsewhere), NONE},
	{"steering_missed", AT(rx_missed), NONE},
	{"address_unknown", AT(rx_filtered), NONE},
	{"kernel", AT(rx_kernel), NONE},
	{"rule", AT(rx_dropped_by_rule), NONE},
	{"no_buffer", AT(rx_out_of_buffer), NONE},
	{"error_completion", AT(rx_error_frames), NONE},
	{"completion_lost", AT(rx_cqes_lost), NONE},
	{"delivered", AT(rx_delivered_frames), AT(rx_cqes_lost)},
	{"merged", AT(rx_lro_segments), AT(rx_lro_packets)},
};

static const struct place sent[] = {
	{"rule", AT(tx_dropped_by_rule), NONE},
	{"spoofed", AT(tx_spoofed), NONE},
	{"unswitched", AT(tx_unswitched), NONE},
	{"link_down", AT(tx_link_down), NONE},
	{"oversize", AT(tx_oversize), NONE},
	{"wire_lost", AT(tx_wire_lost), NONE},
};

static uint64_t
value(const struct emu_port_stats *s, size_t at)
{
	uint64_t v = 0;

	if (at != NONE)
		memcpy(&v, (const uint8_t *)s + at, sizeof(v));
	return v;
}

/* Returns the sum. */
static uint64_t
places_add(json_t *to, const struct emu_port_stats *s, const struct place *places, size_t n)
{
	uint64_t v, sum = 0;

	for (size_t i = 0; i < n; i++) {
		v = value(s, places[i].plus) - value(s, places[i].minus);
		emu_ctl_set(to, places[i].name, v);
		sum += v;
	}
	return sum;
}

/* Copies to further queues of a rule are frames that did not arrive. */
static json_t *
received_json(const struct emu_port_stats *s)
{
	json_t *o = json_object();
	const uint64_t arrived = s->rx_frames + s->rx_wire_lost + s->rx_link_down + s->rx_fcs_errors +
				 s->rx_undersize + s->rx_oversize;
	uint64_t sum;

	emu_ctl_set(o, "arrived", arrived);
	sum = places_add(o, s, received, sizeof(received) / sizeof(received[0]));
	json_object_set_new(o, "unexplained", json_integer((json_int_t)(arrived - sum)));
	return o;
}

/* Frames of WQEs that were executed. */
static json_t *
sent_json(const struct emu_port_stats *s)
{
	json_t *o = json_object();
	const uint64_t executed = s->tx_frames + s->tx_discards + s->tx_dropped_by_rule;
	uint64_t sum;

	emu_ctl_set(o, "executed", executed);
	sum = places_add(o, s, sent, sizeof(sent) / sizeof(sent[0]));
	emu_ctl_set(o, "wire_refused", s->tx_discards - s->tx_link_down - s->tx_oversize);
	sum += s->tx_discards - s->tx_link_down - s->tx_oversize;
	emu_ctl_set(o, "wire", s->tx_frames - s->tx_spoofed - s->tx_unswitched - s->tx_wire_lost);
	sum += s->tx_frames - s->tx_spoofed - s->tx_unswitched - s->tx_wire_lost;
	json_object_set_new(o, "unexplained", json_integer((json_int_t)(executed - sum)));
	emu_ctl_set(o, "error_completions", s->tx_errors);
	return o;
}

static void
queue_cb(struct emu_obj *obj, void *arg)
{
	json_t *o = json_object();
	char name[24];

	snprintf(name, sizeof(name), "%s 0x%x", emu_obj_type_name(obj->type), obj->id);
	if (obj->type == EMU_OBJ_RQ) {
		const struct emu_rq *rq = (const struct emu_rq *)obj;

		emu_ctl_set(o, "delivered", rq->frames);
		emu_ctl_set(o, "no_buffer", rq->out_of_buffer);
	} else {
		const struct emu_sq *sq = (const struct emu_sq *)obj;

		emu_ctl_set(o, "executed", sq->frames);
		if (sq->pp != NULL)
			emu_ctl_set(o, "rate_kbps", sq->pp->rate_kbps);
	}
	json_object_set_new(arg, name, o);
}

int
emu_ctl_drops(struct emu_ctl *c)
{
	json_t *ports = json_array(), *port, *queues;

	for (unsigned i = 0; i < c->m->ports; i++) {
		struct emu_dev *dev = &c->m->dev[i];

		port = json_object();
		queues = json_object();
		emu_ctl_set(port, "port", i);
		json_object_set_new(port, "received", received_json(&dev->stats));
		json_object_set_new(port, "sent", sent_json(&dev->stats));
		emu_obj_foreach(dev, EMU_OBJ_RQ, queue_cb, queues);
		emu_obj_foreach(dev, EMU_OBJ_SQ, queue_cb, queues);
		json_object_set_new(port, "queues", queues);
		json_array_append_new(ports, port);
	}
	json_object_set_new(c->out, "ports", ports);
	return 0;
}
