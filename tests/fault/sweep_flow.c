/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The sweep's operations on flows of rte_flow. */

#include <errno.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include <mdv_compat.h>

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

/* Of sent packets. */
static const struct rte_flow_action sent_actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
	{ .type = RTE_FLOW_ACTION_TYPE_DEC_TTL },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};

static int
create_by(const struct rte_flow_attr *attr, const struct rte_flow_item *pattern, const struct rte_flow_action *actions)
{
	struct rte_flow_error error;

	flow = rte_flow_create(SWEEP_PORT, attr, pattern, actions, &error);
	return flow != NULL ? 0 : -rte_errno;
}

static int
create(uint32_t in_group, const struct rte_flow_item *pattern, const struct rte_flow_action *actions)
{
	return create_by(&(struct rte_flow_attr){ .ingress = 1, .group = in_group }, pattern, actions);
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
do_flow_egress(void)
{
	return create_by(&(struct rte_flow_attr){ .egress = 1 }, udp_pattern, sent_actions);
}

int
do_flow_update(void)
{
	struct rte_flow_error error;
	int rc = rte_flow_actions_update(SWEEP_PORT, flow, queue_actions, &error);

	return rc == -ENOSYS ? 0 : rc;
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

int
do_flow_flush(void)
{
	struct rte_flow_error error;

	flow = NULL;
	return rte_flow_flush(SWEEP_PORT, &error);
}

/* The mode is changed while the port is stopped. */
static int
isolate(int enable)
{
	struct rte_flow_error error;
	int rc = rte_eth_dev_stop(SWEEP_PORT);

	if (rc == 0)
		rc = rte_flow_isolate(SWEEP_PORT, enable, &error);
	return rc == 0 ? rte_eth_dev_start(SWEEP_PORT) : rc;
}

int
do_flow_isolated(void)
{
	return isolate(1);
}

int
undo_flow_isolated(void)
{
	int rc = undo_flow();

	return rc == 0 ? isolate(0) : rc;
}

/* ------------------------------------------------------------------ indirect actions */

static struct rte_flow_action_handle *handle;

int
do_flow_indirect(void)
{
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss };
	struct rte_flow_error error;

	handle = rte_flow_action_handle_create(SWEEP_PORT, &conf, &action, &error);
	return handle != NULL ? 0 : -rte_errno;
}

int
do_flow_indirect_used(void)
{
	struct rte_flow_action indirect[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_INDIRECT }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	int rc = do_flow_indirect();

	indirect[0].conf = handle;
	return rc == 0 ? create(7, udp_pattern, indirect) : rc;
}

int
do_flow_indirect_update(void)
{
	struct rte_flow_action_rss one = rss;
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &one };
	struct rte_flow_error error;

	one.queue_num = 1;
	return rte_flow_action_handle_update(SWEEP_PORT, handle, &action, &error);
}

int
undo_flow_indirect(void)
{
	struct rte_flow_error error;
	int rc = undo_flow();

	if (rc == 0 && handle != NULL)
		rc = rte_flow_action_handle_destroy(SWEEP_PORT, handle, &error);
	handle = NULL;
	return rc;
}

/* ------------------------------------------------------------------ templates */

static struct rte_flow_pattern_template *patterns[1];
static struct rte_flow_actions_template *actions[1];
static struct rte_flow_template_table *table;
static const struct rte_flow_action template_actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
	{ .type = RTE_FLOW_ACTION_TYPE_DEC_TTL },
	{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};

int
do_flow_queue(void)
{
	const struct rte_flow_queue_attr attr = { .size = 4 }, *attrs[] = { &attr };
	const struct rte_flow_port_attr port = { 0 };
	struct rte_flow_op_result res;
	struct rte_flow_error error;
	int rc;

	/* It remains until the port is closed. */
	if (rte_flow_pull(SWEEP_PORT, 0, &res, 1, &error) >= 0)
		return 0;
	rc = rte_eth_dev_stop(SWEEP_PORT);
	if (rc == 0)
		rc = rte_flow_configure(SWEEP_PORT, &port, 1, attrs, &error);
	return rc == 0 ? rte_eth_dev_start(SWEEP_PORT) : rc;
}

int
undo_flow_table(void)
{
	struct rte_flow_error error;
	int rc = 0;

	if (table != NULL)
		rc = rte_flow_template_table_destroy(SWEEP_PORT, table, &error);
	if (rc == 0 && actions[0] != NULL)
		rc = rte_flow_actions_template_destroy(SWEEP_PORT, actions[0], &error);
	if (rc == 0 && patterns[0] != NULL)
		rc = rte_flow_pattern_template_destroy(SWEEP_PORT, patterns[0], &error);
	table = NULL;
	actions[0] = NULL;
	patterns[0] = NULL;
	return rc;
}

int
do_flow_table(void)
{
	const struct rte_flow_template_table_attr attr = { .flow_attr = { .ingress = 1, .group = 7 }, .nb_flows = 4 };
	const struct rte_flow_pattern_template_attr of_pattern = { .ingress = 1 };
	const struct rte_flow_actions_template_attr of_actions = { .ingress = 1 };
	struct rte_flow_error error;
	int err;

	patterns[0] = rte_flow_pattern_template_create(SWEEP_PORT, &of_pattern, udp_pattern, &error);
	if (patterns[0] != NULL)
		actions[0] = rte_flow_actions_template_create(SWEEP_PORT, &of_actions, template_actions,
							      template_actions, &error);
	if (actions[0] != NULL)
		table = rte_flow_template_table_create(SWEEP_PORT, &attr, patterns, 1, actions, 1, &error);
	if (table != NULL)
		return 0;
	err = rte_errno;
	(void)undo_flow_table();
	return -err;
}

int
do_flow_table_ready(void)
{
	int rc = do_flow_queue();

	return rc == 0 ? do_flow_table() : rc;
}

/* Ends an operation that was enqueued: 0, or it failed. */
static int
op_result(void)
{
	struct rte_flow_op_result res = { 0 };
	struct rte_flow_error error;

	return rte_flow_pull(SWEEP_PORT, 0, &res, 1, &error) == 1 && res.status == RTE_FLOW_OP_SUCCESS ? 0 : -1;
}

int
do_flow_async_destroy(void)
{
	const struct rte_flow_op_attr at_once = { .postpone = 0 };
	struct rte_flow_error error;
	int rc = flow != NULL ? rte_flow_async_destroy(SWEEP_PORT, 0, &at_once, flow, NULL, &error) : 0;

	if (rc == 0 && flow != NULL)
		rc = op_result();
	flow = NULL;
	return rc;
}

int
do_flow_async(void)
{
	const struct rte_flow_op_attr at_once = { .postpone = 0 };
	struct rte_flow_error error;
	int err;

	flow = rte_flow_async_create(SWEEP_PORT, 0, &at_once, table, udp_pattern, 0, template_actions, 0, NULL, &error);
	err = rte_errno;
	if (flow == NULL)
		return -err;
	if (op_result() == 0)
		return 0;
	/* The handle of a flow whose creation failed is valid. */
	return do_flow_async_destroy() == 0 ? -err : -EBADF;
}

int
do_flow_async_ready(void)
{
	int rc = do_flow_table_ready();

	return rc == 0 ? do_flow_async() : rc;
}

int
undo_flow_async(void)
{
	int rc = do_flow_async_destroy();

	return rc == 0 ? undo_flow_table() : rc;
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
