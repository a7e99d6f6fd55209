/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow by templates and queues: what a template makes of items and actions, and when operations are carried out. */

#include "test_flow.h"

/* Operations that fit into the first queue. */
#define SIZE 4

static struct rte_flow_error error;
static const struct rte_flow_op_attr at_once, later = { .postpone = 1 };
static const struct rte_flow_pattern_template_attr ingress_pattern = { .ingress = 1 };
static const struct rte_flow_actions_template_attr ingress_actions = { .ingress = 1 };
static const struct rte_flow_item_udp port_mask = { .hdr.dst_port = RTE_BE16(0xffff) };

/* Templates of a UDP port, of a queue and of a queue with mark 77; a table of both. */
static struct rte_flow_pattern_template *pattern;
static struct rte_flow_actions_template *actions[2];
static struct rte_flow_template_table *table;

static void
configure(void)
{
	const struct rte_flow_queue_attr sizes[] = { { .size = SIZE }, { .size = 0 }, { .size = 1u << 30 } };
	const struct rte_flow_queue_attr *queues[] = { &sizes[0], &sizes[1] }, *large[] = { &sizes[2] };
	const struct rte_flow_port_attr none = { .nb_counters = 0 }, meters = { .nb_meters = 1 };
	struct rte_flow_port_attr quotas = none;
	struct rte_flow_queue_info queue_info;
	struct rte_flow_op_result res[1];
	struct rte_flow_port_info info;

	CHECK_OK(rte_flow_info_get(PORT_A, &info, &queue_info, &error));
	CHECK(info.max_nb_queues >= 2 && queue_info.max_size >= 64 && info.max_nb_meters == 0);
	CHECK_EQ(info.max_nb_counters, 0xffff);
	CHECK_EQ(rte_flow_pull(PORT_A, 0, res, 1, &error), -EINVAL);
	CHECK_EQ(rte_flow_push(PORT_A, 0, &error), -EINVAL);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_EQ(rte_flow_configure(PORT_A, &meters, 2, queues, &error), -ENOTSUP);
	CHECK(strstr(error.message, "meters are not supported") != NULL, "%s", error.message);
	mdv_flow_quotas_set(&quotas, 1);
	if (mdv_flow_quotas(&quotas) != 0) {
		CHECK_EQ(rte_flow_configure(PORT_A, &quotas, 2, queues, &error), -ENOTSUP);
		CHECK(strstr(error.message, "quotas are not supported") != NULL, "%s", error.message);
	}
	CHECK_EQ(rte_flow_configure(PORT_A, &none, 1, large, &error), -EINVAL);
	CHECK_EQ(rte_flow_configure(PORT_A, &(struct rte_flow_port_attr){ .nb_counters = 65537 }, 2, queues, &error),
		 -EINVAL);
	CHECK_OK(rte_flow_configure(PORT_A, &none, 1, queues, &error));
	CHECK_OK(rte_flow_configure(PORT_A, &none, 2, queues, &error));
	CHECK_OK(rte_eth_dev_start(PORT_A));
}

static struct rte_flow_template_table *
table_make(uint32_t group, uint32_t nb_flows, struct rte_flow_pattern_template *p)
{
	const struct rte_flow_template_table_attr attr = {
		.flow_attr = { .ingress = 1, .group = group }, .nb_flows = nb_flows,
	};
	struct rte_flow_template_table *t;

	t = rte_flow_template_table_create(PORT_A, &attr, &p, 1, actions, RTE_DIM(actions), &error);
	CHECK(t != NULL, "%s", error.message);
	return t;
}

static void
templates(void)
{
	const struct rte_flow_item items[] = { ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, NULL, &port_mask),
					       { .type = RTE_FLOW_ITEM_TYPE_END } };

	pattern = rte_flow_pattern_template_create(PORT_A, &ingress_pattern, items, &error);
	REQUIRE(pattern != NULL);
	actions[0] = rte_flow_actions_template_create(PORT_A, &ingress_actions, ACTIONS(TO_QUEUE(0)),
						      ACTIONS(ACTION(QUEUE)), &error);
	actions[1] = rte_flow_actions_template_create(PORT_A, &ingress_actions, ACTIONS(MARK(77), TO_QUEUE(0)),
						      ACTIONS(MARK(1), TO_QUEUE(0)), &error);
	REQUIRE(actions[0] != NULL && actions[1] != NULL);
	table = table_make(0, 6, pattern);
	REQUIRE(table != NULL);
}

static struct rte_flow *
create(struct rte_flow_template_table *t, const struct rte_flow_op_attr *attr, uint16_t port, uint16_t queue,
       uint8_t template)
{
	const struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(port) };
	const struct rte_flow_item items[] = { ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &udp, NULL),
					       { .type = RTE_FLOW_ITEM_TYPE_END } };
	/* The mark is not taken: the template's is constant as a whole, by one bit of its mask. */
	const struct rte_flow_action *acts = template == 0 ? ACTIONS(TO_QUEUE(queue)) :
							     ACTIONS(MARK(0x500), TO_QUEUE(queue));

	return rte_flow_async_create(PORT_A, 0, attr, t, items, 0, acts, template, (void *)(uintptr_t)port, &error);
}

/* Takes results, which must be those of n operations, in their order; those of the bits of failed have failed. */
static void
pull(unsigned int n, const uint16_t *data, unsigned int failed)
{
	struct rte_flow_op_result res[SIZE + 1];

	memset(res, 0xff, sizeof(res));
	CHECK_EQ(rte_flow_pull(PORT_A, 0, res, RTE_DIM(res), &error), n);
	for (unsigned int i = 0; i < n; i++) {
		CHECK_EQ((uintptr_t)res[i].user_data, data[i]);
		CHECK_EQ(res[i].status, failed >> i & 1 ? RTE_FLOW_OP_ERROR : RTE_FLOW_OP_SUCCESS);
	}
	CHECK_EQ(rte_flow_pull(PORT_A, 0, res, RTE_DIM(res), &error), 0);
}

static void
async_destroy(struct rte_flow *flow, const struct rte_flow_op_attr *attr, uint16_t data)
{
	CHECK_OK(rte_flow_async_destroy(PORT_A, 0, attr, flow, (void *)(uintptr_t)data, &error));
}

#define PULL(failed, ...) pull(RTE_DIM(((uint16_t[]){ __VA_ARGS__ })), (const uint16_t[]){ __VA_ARGS__ }, failed)

/* At once, or when they are pushed; as many as the queue holds. */
static void
operations(void)
{
	struct rte_flow *flow[SIZE + 1];

	flow[0] = create(table, &at_once, 4000, 3, 0);
	REQUIRE(flow[0] != NULL);
	CHECK_EQ(flow_queue_of_udp(4000), 3);
	CHECK_EQ(flow_queue_of_udp(4001), 0);
	PULL(0, 4000);
	for (uint16_t i = 1; i <= SIZE; i++)
		flow[i] = create(table, &later, 4000 + i, i % QUEUES, 1);
	CHECK(create(table, &later, 4009, 1, 0) == NULL);
	CHECK_EQ(rte_errno, EAGAIN);
	CHECK(strstr(error.message, "flow queue 0 has 4 operations") != NULL, "%s", error.message);
	CHECK_EQ(rte_flow_async_destroy(PORT_A, 0, &later, flow[0], NULL, &error), -EAGAIN);
	CHECK_EQ(flow_queue_of_udp(4001), 0);
	pull(0, NULL, 0);
	CHECK_EQ(rte_flow_destroy(PORT_A, flow[1], &error), -EBUSY);
	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	CHECK_EQ(flow_queue_of_udp(4001), 1);
	CHECK_EQ(flow_queue_of_udp(4003), 3);
	CHECK_EQ(flow_arrived.mark, 77);
	/* Results take places, too. */
	CHECK(create(table, &later, 4009, 1, 0) == NULL && rte_errno == EAGAIN);
	PULL(0, 4001, 4002, 4003, 4004);
	async_destroy(flow[1], &later, 1);
	CHECK_EQ(flow_queue_of_udp(4001), 1);
	/* One that is not postponed pushes those before. */
	async_destroy(flow[2], &at_once, 2);
	CHECK_EQ(flow_queue_of_udp(4001), 0);
	CHECK_EQ(flow_queue_of_udp(4002), 0);
	PULL(0, 1, 2);
	CHECK_OK(rte_flow_destroy(PORT_A, flow[3], &error));
	async_destroy(flow[4], &at_once, 4);
	async_destroy(flow[0], &at_once, 0);
	PULL(0, 4, 0);
	CHECK_EQ(flow_queue_of_udp(4000), 0);
}

/* What one queue destroys is not used by operations that another one still has. */
static void
between_queues(void)
{
	struct rte_flow *flow = create(table, &later, 4000, 3, 0);
	struct rte_flow_op_result res[2];

	REQUIRE(flow != NULL);
	CHECK_EQ(rte_flow_async_destroy(PORT_A, 1, &at_once, flow, NULL, &error), -EBUSY);
	CHECK(strstr(error.message, "not pushed yet, in flow queue 0") != NULL, "%s", error.message);
	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	CHECK_EQ(flow_queue_of_udp(4000), 3);
	CHECK_OK(rte_flow_async_destroy(PORT_A, 1, &later, flow, (void *)1, &error));
	for (uint32_t i = 0; i < 2; i++) {
		CHECK_EQ(rte_flow_async_destroy(PORT_A, i, &at_once, flow, NULL, &error), -EBUSY);
		CHECK(strstr(error.message, "that destroys the flow") != NULL, "%s", error.message);
	}
	CHECK_OK(rte_flow_push(PORT_A, 1, &error));
	CHECK_EQ(flow_queue_of_udp(4000), 0);
	CHECK_EQ(rte_flow_pull(PORT_A, 1, res, RTE_DIM(res), &error), 1);
	CHECK_EQ(res[0].status, RTE_FLOW_OP_SUCCESS);
	PULL(0, 4000);
	/* One queue creates and destroys in its order. */
	flow = create(table, &later, 4000, 3, 0);
	async_destroy(flow, &later, 2);
	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	PULL(0, 4000, 2);
}

/* What the device refuses is a result; the handle stays until it is destroyed. Flows are kept when the port stops. */
static void
failures(void)
{
	struct rte_flow *flow[2] = { create(table, &later, 4000, 1, 0), create(table, &later, 4000, 1, 1) };

	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	if (pmd_devarg(PORT_A, "open=vfio")) /* The kernel has one tag for equal matches; tables take both. */
		PULL(0, 4000, 4000);
	else
		PULL(2, 4000, 4000);
	CHECK_EQ(flow_queue_of_udp(4000), 1);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(flow_queue_of_udp(4000), 1);
	async_destroy(flow[0], &later, 1);
	async_destroy(flow[1], &later, 2);
	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	PULL(0, 1, 2);
	CHECK_EQ(flow_queue_of_udp(4000), 0);
}

static void
limits(void)
{
	struct rte_flow *flow[6];

	for (uint16_t i = 0; i < RTE_DIM(flow); i++) {
		flow[i] = create(table, &at_once, 4000 + i, 1, 0);
		PULL(0, 4000 + i);
	}
	CHECK(create(table, &at_once, 5000, 1, 0) == NULL && rte_errno == ENOSPC);
	CHECK(strstr(error.message, "6 flows") != NULL, "%s", error.message);
	CHECK_EQ(rte_flow_template_table_destroy(PORT_A, table, &error), -EBUSY);
	CHECK_EQ(rte_flow_pattern_template_destroy(PORT_A, pattern, &error), -EBUSY);
	CHECK_EQ(rte_flow_actions_template_destroy(PORT_A, actions[1], &error), -EBUSY);
	/* All of them, with the one that is not pushed. */
	CHECK_OK(rte_flow_destroy(PORT_A, flow[0], &error));
	CHECK(create(table, &later, 4007, 1, 0) != NULL);
	CHECK_OK(rte_flow_flush(PORT_A, &error));
	PULL(0, 4007);
	CHECK_EQ(flow_queue_of_udp(4001), 0);
}

static void
refused(const struct rte_flow_item *items, uint8_t pattern_index, const struct rte_flow_action *acts,
	uint8_t actions_index, const char *text)
{
	CHECK(rte_flow_async_create(PORT_A, 1, &at_once, table, items, pattern_index, acts, actions_index, NULL,
				    &error) == NULL, "%s", text);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK(strstr(error.message, text) != NULL, "not %s: %s", text, error.message);
}

static void
mistakes(void)
{
	const struct rte_flow_item *items = ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(4000));
	const struct rte_flow_pattern_template_attr transfer = { .transfer = 1 };
	struct rte_flow_template_table_attr resizable = { .flow_attr.ingress = 1, .nb_flows = 1 };
	const struct rte_flow_action *to_1 = ACTIONS(TO_QUEUE(1));

	mdv_flow_table_resizable_set(&resizable);
	if (mdv_flow_table_resizable(&resizable)) {
		CHECK(rte_flow_template_table_create(PORT_A, &resizable, &pattern, 1, actions, 1, &error) == NULL);
		CHECK(rte_errno == ENOTSUP && strstr(error.message, "a table is not resized") != NULL, "%s", error.message);
	}
	refused(items, 1, to_1, 0, "pattern template 1: the table has 1");
	refused(items, 0, to_1, 2, "actions template 2: the table has 2");
	refused(ITEMS(ITEM(ETH), ITEM(IPV6), UDP_TO(4000)), 0, to_1, 0, "item 1 is IPV4 in the template");
	refused(ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), 0, to_1, 0, "item 2 has no values");
	refused(items, 0, ACTIONS(ACTION(DROP)), 0, "action 0 is QUEUE in the template");
	refused(items, 0, ACTIONS(TO_QUEUE(9)), 0, "Rx queue 9 does not exist");
	refused(items, 0, ACTIONS(ACTION(QUEUE)), 0, "QUEUE has no configuration");
	CHECK(rte_flow_async_create(PORT_A, 2, &at_once, table, items, 0, to_1, 0, NULL, &error) == NULL);
	CHECK(strstr(error.message, "flow queue 2: 2 are configured") != NULL, "%s", error.message);
	CHECK(rte_flow_pattern_template_create(PORT_A, &transfer, items, &error) == NULL && rte_errno == ENOTSUP);
	CHECK(rte_flow_pattern_template_create(PORT_A, &ingress_pattern, ITEMS(ITEM(HIGIG2)), &error) == NULL);
	CHECK(strstr(error.message, "item HIGIG2 is not matched") != NULL, "%s", error.message);
	CHECK(rte_flow_actions_template_create(PORT_A, &ingress_actions, ACTIONS(ACTION(PF)), ACTIONS(ACTION(PF)),
					       &error) == NULL);
	CHECK(strstr(error.message, "action PF is not supported") != NULL, "%s", error.message);
	CHECK(rte_flow_actions_template_create(PORT_A, &ingress_actions, to_1, ACTIONS(ACTION(DROP)), &error) == NULL);
	CHECK(strstr(error.message, "another action at position 0") != NULL, "%s", error.message);
}

/* One flow of a table of its own, in group 4, and the queue of the frame. */
static int
queue_by(const struct rte_flow_item *masks, bool relaxed, const struct rte_flow_item *items)
{
	const struct rte_flow_pattern_template_attr attr = { .ingress = 1, .relaxed_matching = relaxed };
	struct rte_flow_pattern_template *p = rte_flow_pattern_template_create(PORT_A, &attr, masks, &error);
	struct rte_flow_template_table *t;
	struct rte_flow *flow;
	int queue;

	CHECK(p != NULL, "%s", error.message);
	t = table_make(4, 1, p);
	flow = rte_flow_async_create(PORT_A, 0, &at_once, t, items, 0, ACTIONS(TO_QUEUE(2)), 0, NULL, &error);
	CHECK(flow != NULL, "%s", error.message);
	queue = flow_queue_of_udp(4000);
	PULL(0, 0);
	async_destroy(flow, &at_once, 0);
	PULL(0, 0);
	CHECK_OK(rte_flow_template_table_destroy(PORT_A, t, &error));
	CHECK_OK(rte_flow_pattern_template_destroy(PORT_A, p, &error));
	return queue;
}

/* The frame has TTL 64, and UDP port 4000. */
static void
patterns(void)
{
	static const struct rte_flow_item_eth type_mask = { .hdr.ether_type = RTE_BE16(0xffff) };
	static const struct rte_flow_item_eth ip = { .hdr.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) };
	static const struct rte_flow_item_eth tagged = { .hdr.ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN) };
	static const struct rte_flow_item_ipv4 low_bits = { .hdr.next_proto_id = 0x01, .hdr.time_to_live = 0xff };
	static const struct rte_flow_item_ipv4 udp = { .hdr.next_proto_id = 17, .hdr.time_to_live = 64 };
	static const struct rte_flow_item_ipv4 tcp = { .hdr.next_proto_id = 6, .hdr.time_to_live = 64 };
	static const struct rte_flow_item_ipv4 other_ttl = { .hdr.next_proto_id = 17, .hdr.time_to_live = 63 };
	static const struct rte_flow_item_ipv4 ihl_mask = { .hdr.version_ihl = 0x0f };
	static const struct rte_flow_item_ipv4 ihl_5 = { .hdr.version_ihl = 5 }, ihl_6 = { .hdr.version_ihl = 6 };
	const struct rte_flow_item *by_ihl = ITEMS(ITEM_SPEC(IPV4, NULL, &ihl_mask));
	const struct rte_flow_item *by_type = ITEMS(ITEM_SPEC(ETH, NULL, &type_mask));
	static const struct rte_flow_item_mpls label = { .label_tc_s = { 1, 2, 0x30 } };
	const struct rte_flow_item *by_label = ITEMS(ITEM(ETH), ITEM_SPEC(MPLS, NULL, &rte_flow_item_mpls_mask));
	const struct rte_flow_item *by_ip = ITEMS(ITEM_SPEC(IPV4, NULL, &low_bits), ITEM_SPEC(UDP, NULL, &port_mask));
	const struct rte_flow_attr group0 = { .ingress = 1 };
	const struct rte_flow_attr last = { .ingress = 1, .group = 4, .priority = 1000 };
	struct rte_flow *lead = rte_flow_create(PORT_A, &group0, ITEMS(ITEM(ETH)), ACTIONS(JUMP(4)), &error);
	struct rte_flow *rest = rte_flow_create(PORT_A, &last, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(0)), &error);

	REQUIRE(lead != NULL && rest != NULL);
	/* Values decide what the mask of a type means. */
	CHECK_EQ(queue_by(by_type, false, ITEMS(ITEM_SPEC(ETH, &ip, NULL))), 2);
	CHECK_EQ(queue_by(by_type, false, ITEMS(ITEM_SPEC(ETH, &tagged, NULL))), 0);
	/* A UDP header demands the whole protocol, whatever the item before has of it. */
	CHECK_EQ(queue_by(by_ip, false, ITEMS(ITEM_SPEC(IPV4, &udp, NULL), UDP_TO(4000))), 2);
	CHECK_EQ(queue_by(by_ip, false, ITEMS(ITEM_SPEC(IPV4, &tcp, NULL), UDP_TO(4000))), 2);
	CHECK_EQ(queue_by(by_ip, false, ITEMS(ITEM_SPEC(IPV4, &other_ttl, NULL), UDP_TO(4000))), 0);
	CHECK_EQ(queue_by(by_ip, false, ITEMS(ITEM_SPEC(IPV4, &udp, NULL), UDP_TO(4001))), 0);
	/* The length of the header is the lower half of its first byte. */
	CHECK_EQ(queue_by(by_ihl, false, ITEMS(ITEM_SPEC(IPV4, &ihl_5, NULL))), 2);
	CHECK_EQ(queue_by(by_ihl, false, ITEMS(ITEM_SPEC(IPV4, &ihl_6, NULL))), 0);
	/* Presence is matched, unless relaxed. */
	CHECK_EQ(queue_by(ITEMS(ITEM(IPV6)), false, ITEMS(ITEM(IPV6))), 0);
	CHECK_EQ(queue_by(ITEMS(ITEM(IPV6)), true, ITEMS(ITEM(IPV6))), 2);
	CHECK_EQ(queue_by(by_label, true, ITEMS(ITEM(ETH), ITEM_SPEC(MPLS, &label, NULL))), 0);
	CHECK_OK(rte_flow_destroy(PORT_A, lead, &error));
	CHECK_OK(rte_flow_destroy(PORT_A, rest, &error));
}

/* What a flow matches, by the names of the device's fields. */
static void
match_text(struct rte_flow *flow, char *text, size_t bytes)
{
	char *dump = NULL, *match;
	size_t size = 0;
	FILE *file = open_memstream(&dump, &size);

	CHECK_OK(rte_flow_dev_dump(PORT_A, flow, file, &error));
	fclose(file);
	match = strstr(dump, " match ");
	REQUIRE(match != NULL && strstr(match, " action ") != NULL);
	snprintf(text, bytes, "%.*s", (int)(strstr(match, " action ") - match), match);
	free(dump);
}

/* Flows by templates match what rte_flow_create() makes of the same items. */
static void
equal(void)
{
	static const uint8_t ones[64] = { [0 ... 63] = 0xff }, first[64] = { 0xff }, values[64] = { [0 ... 63] = 0x5a };
	const struct rte_flow_item_eth macs = { .hdr.dst_addr.addr_bytes = { [0 ... 5] = 0xff },
						.hdr.src_addr.addr_bytes = { 0xff, 0xff, 0x0f } };
	const struct rte_flow_item_vlan tci = { .hdr.vlan_tci = RTE_BE16(0xefff) };
	const struct rte_flow_item_ipv4 ip4 = { .hdr.src_addr = RTE_BE32(0xffffff00), .hdr.dst_addr = UINT32_MAX,
						.hdr.type_of_service = 0xfc, .hdr.next_proto_id = 0x0f };
	const struct rte_flow_item_ipv6 ip6 = { .hdr.hop_limits = 0xff, .hdr.proto = 0xff };
	const struct rte_flow_item_tcp tcp = { .hdr.dst_port = UINT16_MAX, .hdr.tcp_flags = 0x17 };
	const struct rte_flow_item_vxlan vni = { .hdr.vx_vni = RTE_BE32(0xffffff00) };
	const struct rte_flow_item_gre gre = { .protocol = UINT16_MAX };
	const struct rte_flow_item_esp spi = { .hdr.spi = UINT32_MAX };
	const struct rte_flow_item *cases[] = {
		ITEMS(ITEM_SPEC(ETH, values, &macs), ITEM_SPEC(VLAN, values, &tci), ITEM_SPEC(IPV4, values, &ip4)),
		ITEMS(ITEM_SPEC(VLAN, values, &tci), ITEM_SPEC(VLAN, values, &tci), ITEM(IPV6)),
		ITEMS(ITEM_SPEC(IPV4, values, &ip4), ITEM_SPEC(TCP, values, &tcp)),
		ITEMS(ITEM_SPEC(IPV6, values, &ip6), ITEM_SPEC(IPV6_FRAG_EXT, values, first)),
		ITEMS(ITEM_SPEC(IPV6, values, &ip6), ITEM_SPEC(ESP, values, &spi)),
		ITEMS(ITEM(IPV4), ITEM_SPEC(UDP, values, &port_mask), ITEM_SPEC(VXLAN, values, &vni),
		      ITEM_SPEC(ETH, values, &macs), ITEM_SPEC(IPV4, values, &ip4), ITEM_SPEC(TCP, values, &tcp)),
		ITEMS(ITEM(VOID), ITEM_SPEC(IPV4, values, &ip4), ITEM_SPEC(GRE, values, &gre),
		      ITEM_SPEC(GRE_KEY, values, ones), ITEM_SPEC(IPV6, values, &ip6)),
		/* The protocol is that of IP in IP, whatever the mask. */
		ITEMS(ITEM_SPEC(IPV4, values, &ip4), ITEM_SPEC(IPV6, values, &ip6)),
	};
	const struct rte_flow_attr attr = { .ingress = 1, .group = 4 };
	char sync[512], async[512];

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_flow_pattern_template *p;
		struct rte_flow_template_table *t;
		struct rte_flow *flow;

		flow = rte_flow_create(PORT_A, &attr, cases[i], ACTIONS(TO_QUEUE(1)), &error);
		CHECK(flow != NULL, "%u: %s", i, error.message);
		match_text(flow, sync, sizeof(sync));
		CHECK_OK(rte_flow_destroy(PORT_A, flow, &error));
		p = rte_flow_pattern_template_create(PORT_A, &ingress_pattern, cases[i], &error);
		CHECK(p != NULL, "%u: %s", i, error.message);
		t = table_make(4, 1, p);
		flow = rte_flow_async_create(PORT_A, 0, &at_once, t, cases[i], 0, ACTIONS(TO_QUEUE(1)), 0, NULL,
					     &error);
		CHECK(flow != NULL, "%u: %s", i, error.message);
		match_text(flow, async, sizeof(async));
		CHECK(strcmp(sync, async) == 0, "%u:\n%s\n%s", i, sync, async);
		PULL(0, 0);
		CHECK_OK(rte_flow_destroy(PORT_A, flow, &error));
		CHECK_OK(rte_flow_template_table_destroy(PORT_A, t, &error));
		CHECK_OK(rte_flow_pattern_template_destroy(PORT_A, p, &error));
	}
}

/* Constants of templates that are refused. */
static void
constants(void)
{
	static const uint8_t header[14];
	const struct rte_flow_action_raw_encap encap = { .data = (void *)(uintptr_t)header, .size = sizeof(header) };

	CHECK(rte_flow_actions_template_create(PORT_A, &ingress_actions, ACTIONS(ACTION(INDIRECT), TO_QUEUE(1)),
					       &(struct rte_flow_action){ .type = RTE_FLOW_ACTION_TYPE_END },
					       &error) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK(rte_flow_actions_template_create(PORT_A, &ingress_actions,
					       ACTIONS(ACTION(RAW_DECAP), ACTION_CONF(RAW_ENCAP, &encap), TO_QUEUE(1)),
					       ACTIONS(ACTION(RAW_DECAP), ACTION_CONF(RAW_ENCAP, &encap),
						       ACTION(QUEUE)),
					       &error) == NULL);
	CHECK(rte_errno == ENOTSUP && strstr(error.message, "cannot be constant") != NULL, "%s", error.message);
}

/* A counter that flows share, and is read by a queue. */
static void
indirect(void)
{
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };
	const struct rte_flow_action count = ACTION(COUNT);
	const struct rte_flow_action masks[] = { count, ACTION(QUEUE), { .type = RTE_FLOW_ACTION_TYPE_END } };
	const struct rte_flow_template_table_attr attr = { .flow_attr.ingress = 1, .nb_flows = 2 };
	struct rte_flow_query_count result = { .hits = 99 };
	struct rte_flow_actions_template *counting;
	struct rte_flow_action_handle *handle;
	struct rte_flow_template_table *t;
	struct rte_flow *flow;

	handle = rte_flow_async_action_handle_create(PORT_A, 0, &later, &conf, &count, (void *)1, &error);
	REQUIRE(handle != NULL);
	counting = rte_flow_actions_template_create(PORT_A, &ingress_actions, ACTIONS(ACTION(INDIRECT), TO_QUEUE(1)),
						    masks, &error);
	CHECK(counting != NULL, "%s", error.message);
	t = rte_flow_template_table_create(PORT_A, &attr, &pattern, 1, &counting, 1, &error);
	CHECK(t != NULL, "%s", error.message);
	flow = rte_flow_async_create(PORT_A, 0, &at_once, t, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(4000)), 0,
				     ACTIONS(ACTION_CONF(INDIRECT, handle), TO_QUEUE(3)), 0, (void *)2, &error);
	CHECK(flow != NULL, "%s", error.message);
	PULL(0, 1, 2);
	CHECK_EQ(flow_queue_of_udp(4000), 3);
	CHECK_OK(rte_flow_async_action_handle_query(PORT_A, 0, &later, handle, &result, (void *)3, &error));
	CHECK_EQ(result.hits, 99);
	CHECK_OK(rte_flow_async_action_handle_destroy(PORT_A, 0, &at_once, handle, (void *)4, &error));
	PULL(2, 3, 4); /* The flow uses it. */
	CHECK_EQ(result.hits, 1);
	CHECK_EQ(rte_flow_async_action_handle_update(PORT_A, 0, &at_once, handle, &count, NULL, &error), -ENOTSUP);
	async_destroy(flow, &at_once, 5);
	/* A query of one queue keeps the handle from others, and from the caller. */
	CHECK_OK(rte_flow_async_action_handle_query(PORT_A, 0, &later, handle, &result, (void *)6, &error));
	CHECK_EQ(rte_flow_action_handle_destroy(PORT_A, handle, &error), -EBUSY);
	CHECK(strstr(error.message, "1 operations on the indirect action are not pushed") != NULL, "%s", error.message);
	CHECK_OK(rte_flow_async_action_handle_destroy(PORT_A, 0, &at_once, handle, (void *)7, &error));
	PULL(0, 5, 6, 7);
	CHECK_OK(rte_flow_template_table_destroy(PORT_A, t, &error));
	CHECK_OK(rte_flow_actions_template_destroy(PORT_A, counting, &error));
}

void
flow_async(void)
{
	const struct rte_flow_queue_attr size = { .size = SIZE }, *queues[] = { &size };
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };
	const struct rte_flow_port_attr none = { .nb_counters = 0 };
	const struct rte_flow_action count = ACTION(COUNT);
	static struct rte_flow_query_count result;
	struct rte_flow_action_handle *handle;

	configure();
	templates();
	operations();
	between_queues();
	flow_modify_templates();
	flow_egress();
	failures();
	limits();
	mistakes();
	patterns();
	equal();
	constants();
	indirect();
	flow_update();
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_EQ(rte_flow_configure(PORT_A, &none, 1, queues, &error), -EBUSY);
	CHECK_OK(rte_eth_dev_start(PORT_A));
	/* Templates, table and operations that are left are destroyed with the port. */
	CHECK(create(table, &at_once, 4000, 1, 0) != NULL);
	CHECK(create(table, &later, 4001, 1, 0) != NULL);
	handle = rte_flow_action_handle_create(PORT_A, &conf, &count, &error);
	CHECK_OK(rte_flow_async_action_handle_query(PORT_A, 0, &later, handle, &result, NULL, &error));
}
