/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The sweep's operations on flows of rte_flow. */

#include <errno.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "sweep.h"

/* Its frames pass by other rules than those of the flows. */
#define PORT_UNUSED 9999

static struct rte_flow *flow;

static const struct rte_flow_item_udp udp = { .hdr.dst_port = RTE_BE16(PORT_UNUSED) };
static const struct rte_flow_item_udp udp_mask = { .hdr.dst_port = RTE_BE16(0xffff) };
static const struct rte_flow_item_eth group = { .hdr.dst_addr.addr_bytes = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x02 } };
static const struct rte_flow_item_eth group_mask = { .hdr.dst_addr.addr_bytes = { [0 ... 5] = 0xff } };

static const struct rte_flow_item udp_pattern[] = {
	{ .type = RTE_FLOW_ITEM_TYPE_ETH },
	{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
	{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask },
	{ .type = RTE_FLOW_ITEM_TYPE_END },
};
static const struct rte_flow_item multicast_pattern[] = {
	{ .type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &group, .mask = &group_mask },
	{ .type = RTE_FLOW_ITEM_TYPE_END },
};

static const struct rte_flow_item gre_pattern[] = {
	{ .type = RTE_FLOW_ITEM_TYPE_ETH },
	{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
	{ .type = RTE_FLOW_ITEM_TYPE_GRE },
	{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
	{ .type = RTE_FLOW_ITEM_TYPE_END },
};

static const uint16_t queues[] = { 1, 0 };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV4, .queue_num = RTE_DIM(queues), .queue = queues,
};
static const struct rte_flow_action_queue queue = { .index = 1 };
static const struct rte_flow_action_jump jump = { .group = 5 };
static const struct rte_flow_action rss_actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
	{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};
static const struct rte_flow_action jump_actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
	{ .type = RTE_FLOW_ACTION_TYPE_JUMP, .conf = &jump },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};
static const struct rte_flow_action count_action[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};
static const struct rte_flow_action queue_actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};

/* A context of each kind. */
static uint8_t header[64];
static const struct rte_flow_action_raw_decap raw_decap = { .data = header, .size = sizeof(header) };
static const struct rte_flow_action_raw_encap raw_encap = { .data = header, .size = 14 };
static const struct rte_flow_action change_actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_RAW_DECAP, .conf = &raw_decap },
	{ .type = RTE_FLOW_ACTION_TYPE_RAW_ENCAP, .conf = &raw_encap },
	{ .type = RTE_FLOW_ACTION_TYPE_DEC_TTL },
	{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};

static int
create(uint32_t in_group, const struct rte_flow_item *pattern, const struct rte_flow_action *actions)
{
	const struct rte_flow_attr attr = { .ingress = 1, .group = in_group };
	struct rte_flow_error error;

	flow = rte_flow_create(SWEEP_PORT, &attr, pattern, actions, &error);
	return flow != NULL ? 0 : -rte_errno;
}

int
do_flow_rss(void)
{
	return create(0, udp_pattern, rss_actions);
}

int
do_flow_jump(void)
{
	return create(0, udp_pattern, jump_actions);
}

int
do_flow_group(void)
{
	return create(7, udp_pattern, rss_actions);
}

int
do_flow_multicast(void)
{
	return create(0, multicast_pattern, queue_actions);
}

int
do_flow_change(void)
{
	return create(0, gre_pattern, change_actions);
}

int
do_flow_change_group(void)
{
	return create(7, gre_pattern, change_actions);
}

int
do_flow_query(void)
{
	struct rte_flow_query_count count = { 0 };
	struct rte_flow_error error;

	return rte_flow_query(SWEEP_PORT, flow, count_action, &count, &error);
}

int
undo_flow(void)
{
	struct rte_flow_error error;
	int rc = flow != NULL ? rte_flow_destroy(SWEEP_PORT, flow, &error) : 0;

	flow = NULL;
	return rc;
}

unsigned int
flows_count(void)
{
	struct rte_flow_error error;
	unsigned int n = 0;
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	if (file == NULL || rte_flow_dev_dump(SWEEP_PORT, NULL, file, &error) != 0)
		n = UINT32_MAX;
	if (file != NULL)
		fclose(file);
	for (size_t i = 0; n != UINT32_MAX && i < bytes; i++)
		n += text[i] == '\n';
	free(text);
	return n;
}
