/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: flows of sent packets; which field an action changes is checked by tests/conform/stock_modify.py. */

#include <rte_ip.h>
#include <rte_udp.h>

#include "test_flow.h"

#define PORT 4000
/* Of a marker, which no flow of this test matches. */
#define MARKER_TYPE 0x88b6

static struct rte_flow_error error;
static const struct rte_flow_attr group0 = { .egress = 1 }, group5 = { .egress = 1, .group = 5 };
static const struct rte_flow_action_set_ttl ttl_9 = { .ttl_value = 9 };
static const struct rte_flow_action_set_meta meta_7 = { .data = 7, .mask = UINT32_MAX };
static const struct rte_flow_item_meta is_7 = { .data = 7 };
#define UDP_ITEMS ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT))

static struct rte_flow *
create(const struct rte_flow_attr *attr, const struct rte_flow_item *items, const struct rte_flow_action *actions)
{
	struct rte_flow *flow;

	memset(&error, 0, sizeof(error));
	flow = rte_flow_create(PORT_A, attr, items, actions, &error);
	CHECK(flow != NULL, "%s", error.message != NULL ? error.message : "no message");
	return flow;
}

static void
destroy(struct rte_flow *flow)
{
	if (flow != NULL)
		CHECK_OK(rte_flow_destroy(PORT_A, flow, &error));
}

static struct pmd_frame
udp_to(uint16_t port)
{
	struct pmd_frame f = pmd_frame_udp(PORT_A, PORT_B, 1);

	f.dst_port = port;
	f.bytes = 80;
	return f;
}

/* What a frame of PORT_A to a UDP port has become when it arrives at PORT_B; NULL: it does not arrive. */
static struct rte_mbuf *
sent(uint16_t port)
{
	struct pmd_frame frame = udp_to(port), marker = udp_to(port);
	struct rte_mbuf *m, *found = NULL;

	marker.ether_type = MARKER_TYPE;
	CHECK_EQ(pmd_send(PORT_A, 0, &frame), 1);
	CHECK_EQ(pmd_send(PORT_A, 0, &marker), 1);
	while (pmd_recv(PORT_B, 0, &m, 1, 5000) == 1) {
		const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

		if (eth->ether_type == RTE_BE16(MARKER_TYPE)) {
			rte_pktmbuf_free(m);
			return found;
		}
		if (eth->dst_addr.addr_bytes[0] == 0x33) { /* IPv6 multicast of a kernel. */
			rte_pktmbuf_free(m);
			continue;
		}
		CHECK(found == NULL);
		found = m;
	}
	CHECK(false, "no marker");
	return found;
}

/* TTL of the frame that arrives, whose checksum is right; -1: it does not. */
static int
ttl_of(uint16_t port)
{
	struct rte_mbuf *m = sent(port);
	const struct rte_ipv4_hdr *ip;
	int ttl;

	if (m == NULL)
		return -1;
	ip = rte_pktmbuf_mtod_offset(m, void *, sizeof(struct rte_ether_hdr));
	ttl = ip->time_to_live;
	CHECK_EQ(rte_raw_cksum(ip, sizeof(*ip)), UINT16_MAX);
	rte_pktmbuf_free(m);
	return ttl;
}

static uint64_t
hits(struct rte_flow *flow)
{
	struct rte_flow_query_count count = { 0 };

	CHECK_OK(rte_flow_query(PORT_A, flow, ACTIONS(ACTION(COUNT)), &count, &error));
	return count.hits;
}

/* Flows of received packets of the same pattern are others. Without another action the packet is sent. */
static void
targets(void)
{
	struct rte_flow *drop = create(&group0, UDP_ITEMS, ACTIONS(ACTION(COUNT), ACTION(DROP))), *count;

	CHECK_EQ(ttl_of(PORT), -1);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	CHECK_EQ(flow_queue_of_udp(PORT), 0);
	CHECK_EQ(hits(drop), 1);
	destroy(drop);
	count = create(&group0, UDP_ITEMS, ACTIONS(ACTION(COUNT)));
	CHECK_EQ(ttl_of(PORT), 64);
	CHECK_EQ(hits(count), 1);
	destroy(count);
}

/* Counters that flows share. */
static void
indirect(void)
{
	const struct rte_flow_indir_action_conf conf = { .egress = 1 };
	const struct rte_flow_action count = ACTION(COUNT), queue = TO_QUEUE(0);
	struct rte_flow_action_handle *handle = rte_flow_action_handle_create(PORT_A, &conf, &count, &error);
	struct rte_flow_query_count read = { 0 };
	struct rte_flow *flow[2];

	REQUIRE(handle != NULL);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		flow[i] = create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + i)),
				 ACTIONS(ACTION_CONF(INDIRECT, handle)));
	CHECK_EQ(ttl_of(PORT), 64);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	CHECK_OK(rte_flow_action_handle_query(PORT_A, handle, &read, &error));
	CHECK_EQ(read.hits, 2);
	destroy(flow[0]);
	destroy(flow[1]);
	CHECK_OK(rte_flow_action_handle_destroy(PORT_A, handle, &error));
	CHECK(rte_flow_action_handle_create(PORT_A, &conf, &queue, &error) == NULL);
	CHECK_EQ(rte_errno, ENOTSUP);
}

/* The change stays with the flow when the port is stopped. */
static void
life(void)
{
	struct rte_flow *flow = create(&group0, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_TTL, &ttl_9)));

	CHECK_EQ(ttl_of(PORT), 9);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(ttl_of(PORT), 9);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	destroy(flow);
	CHECK_EQ(ttl_of(PORT), 64);
}

/* Metadata leads to a flow of a group; what matches nothing there is sent. Groups of the two directions are others. */
static void
groups(void)
{
	static const struct rte_flow_attr received5 = { .ingress = 1, .group = 5 };
	struct rte_flow *first = create(&group0, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_META, &meta_7), JUMP(5)));
	struct rte_flow *other = create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + 1)), ACTIONS(JUMP(5)));
	struct rte_flow *received = create(&received5, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(1)));
	struct rte_flow *second = create(&group5, ITEMS(ITEM_SPEC(META, &is_7, NULL), ITEM(ETH), ITEM(IPV4)),
					 ACTIONS(ACTION(COUNT), ACTION_CONF(SET_TTL, &ttl_9)));

	CHECK_EQ(ttl_of(PORT), 9);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	CHECK_EQ(hits(second), 1);
	destroy(second);
	CHECK_EQ(ttl_of(PORT), 64);
	destroy(received);
	destroy(other);
	destroy(first);
}

static void
templates(void)
{
	const struct rte_flow_pattern_template_attr in_items = { .egress = 1 };
	const struct rte_flow_actions_template_attr in_actions = { .egress = 1 };
	struct rte_flow_template_table_attr attr = { .flow_attr = { .ingress = 1 }, .nb_flows = 4 };
	const struct rte_flow_action *set = ACTIONS(ACTION_CONF(SET_TTL, &ttl_9));
	const struct rte_flow_op_attr at_once = { .postpone = 0 };
	static const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
	struct rte_flow_op_result res;
	struct rte_flow *flow;

	pattern = rte_flow_pattern_template_create(PORT_A, &in_items,
						   ITEMS(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, NULL, &mask)), &error);
	actions = rte_flow_actions_template_create(PORT_A, &in_actions, set, set, &error);
	REQUIRE(pattern != NULL && actions != NULL);
	CHECK(rte_flow_template_table_create(PORT_A, &attr, &pattern, 1, &actions, 1, &error) == NULL);
	CHECK(strstr(error.message, "different directions") != NULL, "%s", error.message);
	CHECK(rte_flow_actions_template_create(PORT_A, &in_actions, ACTIONS(TO_QUEUE(0)), ACTIONS(TO_QUEUE(0)),
					       &error) == NULL);
	attr.flow_attr = group0;
	table = rte_flow_template_table_create(PORT_A, &attr, &pattern, 1, &actions, 1, &error);
	REQUIRE(table != NULL, "%s", error.message);
	flow = rte_flow_async_create(PORT_A, 0, &at_once, table, UDP_ITEMS, 0, set, 0, NULL, &error);
	CHECK(flow != NULL, "%s", error.message);
	CHECK_EQ(rte_flow_pull(PORT_A, 0, &res, 1, &error), 1);
	CHECK_EQ(res.status, RTE_FLOW_OP_SUCCESS);
	CHECK_EQ(ttl_of(PORT), 9);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	CHECK_OK(rte_flow_async_destroy(PORT_A, 0, &at_once, flow, NULL, &error));
	CHECK_EQ(rte_flow_pull(PORT_A, 0, &res, 1, &error), 1);
	CHECK_OK(rte_flow_template_table_destroy(PORT_A, table, &error));
	CHECK_OK(rte_flow_actions_template_destroy(PORT_A, actions, &error));
	CHECK_OK(rte_flow_pattern_template_destroy(PORT_A, pattern, &error));
}

static void
dump(void)
{
	struct rte_flow *flow = create(&group5, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_TTL, &ttl_9)));
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	CHECK_OK(rte_flow_dev_dump(PORT_A, flow, file, &error));
	fclose(file);
	CHECK(strstr(text, " egress group 5 priority 0 match ") != NULL, "%s", text);
	CHECK(strstr(text, " action send modify 1") != NULL, "%s", text);
	free(text);
	destroy(flow);
}

/** Whether the card changes sent packets. */
static bool
changes(void)
{
	if (rte_flow_validate(PORT_A, &group0, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_TTL, &ttl_9)), &error) == 0)
		return true;
	CHECK(strstr(error.message, "the device changes 0 in one flow") != NULL, "%s", error.message);
	return false;
}

void
flow_egress(void)
{
	targets();
	indirect();
	if (!changes())
		return;
	life();
	groups();
	templates();
	dump();
}
