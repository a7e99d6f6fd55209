/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `capture`: what the program's telemetry reports of the port and of its clock.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "capture.h"
#include "tm.h"

#define TIMEOUT_MS 2000
/* Frames of LRO are longer than the MTU: a copy in one buffer has at most this length. */
#define LRO_FRAME_BYTES 65000

static json_t *
query(struct capture *c, const char *command)
{
	char text[64];

	snprintf(text, sizeof(text), "%s,%u", command, (unsigned int)c->port);
	return tm_telemetry_query(&c->telemetry, text);
}

static uint64_t
value(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void
string(const json_t *object, const char *key, char *buf, size_t size)
{
	const char *s = json_string_value(json_object_get(object, key));

	snprintf(buf, size, "%s", s != NULL ? s : "");
}

/* DPDK 22.11 checks the number of /ethdev/info with 16 bits, and uses 32: only ports that are listed. */
static bool
port_listed(struct capture *c)
{
	json_t *list = tm_telemetry_query(&c->telemetry, "/mlxpmd/list");
	bool found = false;

	for (size_t i = 0; i < json_array_size(list); i++)
		found |= (uint64_t)json_integer_value(json_array_get(list, i)) == c->port;
	json_decref(list);
	return found;
}

static void
comm_read(struct capture *c)
{
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/comm", c->telemetry.pid);
	in = fopen(path, "re");
	if (in == NULL || fgets(c->comm, sizeof(c->comm), in) == NULL)
		snprintf(c->comm, sizeof(c->comm), "a program");
	c->comm[strcspn(c->comm, "\n")] = '\0';
	if (in != NULL)
		fclose(in);
}

static void
port_read(struct capture *c)
{
	json_t *ethdev = query(c, "/ethdev/info"), *info = query(c, "/mlxpmd/info");
	json_t *link = query(c, "/ethdev/link_status");
	struct rte_ether_addr mac;
	char text[32];

	string(ethdev, "name", c->device, sizeof(c->device));
	string(ethdev, "mac_addr", text, sizeof(text));
	if (rte_ether_unformat_addr(text, &mac) == 0)
		memcpy(c->mac, &mac, sizeof(c->mac));
	c->nb_queues[0] = value(ethdev, "nb_rx_queues");
	c->nb_queues[1] = value(ethdev, "nb_tx_queues");
	c->stamped = (value(ethdev, "rx_offloads") & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
	c->frame_bytes = value(ethdev, "lro") != 0 ? LRO_FRAME_BYTES :
		value(ethdev, "mtu") + RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN + RTE_ETHER_CRC_LEN;
	string(info, "pci", c->pci, sizeof(c->pci));
	string(info, "interface", c->interface, sizeof(c->interface));
	c->mbits_per_s = value(link, "speed");
	json_decref(ethdev);
	json_decref(info);
	json_decref(link);
}

int
capture_program_read(struct capture *c)
{
	int ret = tm_telemetry_open(&c->telemetry, c->program.path, TIMEOUT_MS);

	if (ret != 0) {
		tm_error("capture: the program does not answer: %s", strerror(-ret));
		return ret;
	}
	comm_read(c);
	if (!port_listed(c)) {
		tm_error("capture: the program has no port %u of mlxpmd", (unsigned int)c->port);
		return -ENODEV;
	}
	port_read(c);
	(void)capture_clock_read(c);
	c->clock.steps_base = c->clock.steps;
	c->clock.expired_base = c->clock.expired;
	c->clock.steps = 0;
	c->clock.expired = 0;
	capture_missed_read(c);
	c->missed_base = c->missed;
	c->missed = 0;
	if (c->device[0] == '\0') {
		tm_error("capture: the program reports no device of port %u", (unsigned int)c->port);
		return -ENODEV;
	}
	if (!c->all_queues && c->queue >= (uint64_t)RTE_MAX(c->nb_queues[0], c->nb_queues[1])) {
		tm_error("capture: port %u has no queue %u", (unsigned int)c->port, (unsigned int)c->queue);
		return -EINVAL;
	}
	return 0;
}

void
capture_missed_read(struct capture *c)
{
	json_t *stats = query(c, "/mlxpmd/stats");
	uint64_t missed = value(stats, "missed");

	/* A program that has ended does not answer: the last value holds. */
	if (stats != NULL)
		c->missed = missed - c->missed_base;
	json_decref(stats);
}

bool
capture_clock_read(struct capture *c)
{
	struct capture_clock *k = &c->clock, before = *k;
	json_t *clock = query(c, "/mlxpmd/clock");
	const char *offset = json_string_value(json_object_get(clock, "offset_ns"));
	char unit[8];

	if (clock == NULL)
		return false;
	string(clock, "unit", unit, sizeof(unit));
	k->ns = strcmp(unit, "ns") == 0;
	string(clock, "quality", k->quality, sizeof(k->quality));
	string(clock, "source", k->source, sizeof(k->source));
	k->offset_ns = offset != NULL ? strtoll(offset, NULL, 10) : 0;
	k->uncertainty_ns = value(clock, "uncertainty_ns");
	k->uncertainty_max_ns = RTE_MAX(k->uncertainty_max_ns, k->uncertainty_ns);
	k->steps = value(clock, "steps") - k->steps_base;
	k->expired = value(clock, "expired") - k->expired_base;
	json_decref(clock);
	return strcmp(before.quality, k->quality) != 0 || before.steps != k->steps || before.expired != k->expired;
}

const char *
capture_clock_str(const struct capture *c, char *buf, size_t size)
{
	const struct capture_clock *k = &c->clock;

	if (!k->ns)
		snprintf(buf, size, "the port's clock has no timestamps in ns");
	else
		snprintf(buf, size, "clock %s, source %s, %+" PRId64 " ns from the host's CLOCK_REALTIME, uncertainty %"
			 PRIu64 " ns (at most %" PRIu64 " ns), %" PRIu64 " steps and %" PRIu64
			 " times expired during the capture", k->quality, k->source, k->offset_ns, k->uncertainty_ns,
			 k->uncertainty_max_ns, k->steps, k->expired);
	return buf;
}
