/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: what is refused, with which error, type and sentence. */

#include "test_flow.h"

static const struct rte_flow_attr group0 = { .ingress = 1 };
static const struct rte_flow_item_eth eth_type_mask = { .hdr.ether_type = RTE_BE16(0xffff) };
static const struct rte_flow_item_udp udp_first = { .hdr.dst_port = RTE_BE16(8) };
static const struct rte_flow_item_ipv4 ip_id = { .hdr.packet_id = RTE_BE16(1) };
static const struct rte_flow_item_eth ipv4_type = { .hdr.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) };
static const struct rte_flow_item_udp last = { .hdr.dst_port = RTE_BE16(9) };
static const uint16_t queue_9[] = { 9 };
static const struct rte_flow_item_ethdev ethdev_a = { .port_id = PORT_A };
static const struct rte_flow_action_age age_0;
static const struct rte_flow_action_rss rss_none = { .queue_num = 0 };
static const struct rte_flow_action_rss rss_9 = { .queue_num = 1, .queue = queue_9 };
static const struct rte_flow_action_rss rss_level = { .queue_num = 1, .queue = queue_9, .level = 3 };
static const uint16_t queue_0[] = { 0 };
static const struct rte_flow_action_rss rss_inner = { .queue_num = 1, .queue = queue_0, .level = 2 };
static const struct rte_flow_action_rss rss_key = { .queue_num = 1, .queue = queue_9, .key_len = 5 };
static const struct rte_flow_action_rss rss_types = { .queue_num = 1, .queue = queue_9,
						      .types = RTE_ETH_RSS_ETH };
/* Matches 0x0800 and 0x8100 alike. */
static const struct rte_flow_item_eth half_type_mask = { .hdr.ether_type = RTE_BE16(0x00ff) };
static const struct rte_flow_item_eth has_vlan = { .has_vlan = 1 }, no_vlan;
static const struct rte_flow_item range[] = {
	ITEM(ETH), ITEM(IPV4),
	{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp_first, .last = &last, .mask = &rte_flow_item_udp_mask },
	{ .type = RTE_FLOW_ITEM_TYPE_END },
};

/* A flow and its refusal. */
struct refusal {
	struct rte_flow_attr attr;
	const struct rte_flow_item *items;
	const struct rte_flow_action *actions;
	int err;
	enum rte_flow_error_type type;
	const char *text; /* A part of the message. */
};

static void
refused(const struct refusal *r, unsigned int n)
{
	struct rte_flow_error error;

	for (; n-- != 0; r++) {
		memset(&error, 0, sizeof(error));
		CHECK_EQ(rte_flow_validate(PORT_A, &r->attr, r->items, r->actions, &error), -r->err);
		CHECK(error.type == r->type, "%s: type %d", r->text, error.type);
		CHECK(error.message != NULL && strstr(error.message, r->text) != NULL, "not %s: %s", r->text,
		      error.message != NULL ? error.message : "no message");
		CHECK(rte_flow_create(PORT_A, &r->attr, r->items, r->actions, &error) == NULL);
		CHECK_EQ(rte_errno, r->err);
	}
}

/* Of attributes and items. */
static void
patterns(void)
{
	const struct refusal cases[] = {
		{ { .ingress = 1, .egress = 1 }, ITEMS(ITEM(ETH)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, "not of both" },
		{ { 0 }, ITEMS(ITEM(ETH)), ACTIONS(ACTION(DROP)), EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS,
		  "ingress or egress must be set" },
		{ { .egress = 1 }, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(0)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
		  "action QUEUE is of received packets (ingress)" },
		{ { .egress = 1 }, ITEMS(ITEM(ETH)), ACTIONS(ACTION(FLAG)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
		  "action FLAG is of received packets (ingress)" },
		{ { .egress = 1, .group = 1 }, ITEMS(ITEM(ETH), ITEM(VLAN)), ACTIONS(ACTION(OF_POP_VLAN)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "OF_POP_VLAN is of received packets (ingress)" },
		{ { .transfer = 1 }, ITEMS(ITEM(ETH)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, "transfer is not supported; ingress and egress" },
		{ { .ingress = 1, .priority = 4 }, ITEMS(ITEM(ETH)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, "priority 4: group 0 has priorities 0 to 3" },
		{ { .ingress = 1, .priority = 21845, .group = 1 }, ITEMS(ITEM(ETH)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, "group 1 has priorities 0 to 21844" },
		{ group0, ITEMS(ITEM(ETH), ITEM(ETH)), ACTIONS(ACTION(DROP)), EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
		  "item ETH cannot be here" },
		{ group0, ITEMS(PORT_ID(PORT_B), ITEM(ETH)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ITEM_SPEC, "have its packets, not those of port" },
		{ group0, ITEMS(ITEM_SPEC(REPRESENTED_PORT, &ethdev_a, NULL)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ITEM, "item REPRESENTED_PORT: a flow is of the port that it is created on" },
		{ group0, ITEMS(ITEM_SPEC(PORT_REPRESENTOR, &ethdev_a, NULL)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ITEM, "the item port_id of this port is accepted" },
		{ group0, ITEMS(ITEM(HIGIG2)), ACTIONS(ACTION(DROP)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
		  "item HIGIG2 is not matched" },
		{ group0, ITEMS(ITEM_SPEC(IPV4, &ip_id, &ip_id)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ITEM_MASK, "item IPV4: byte 5 of the header is not matched under mask 0x01" },
		{ group0, ITEMS(ITEM_SPEC(ETH, &ipv4_type, &eth_type_mask), ITEM(VLAN)), ACTIONS(ACTION(DROP)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ITEM_SPEC, "0x8100 or 0x88a8" },
		{ group0, ITEMS(ITEM_SPEC(ETH, &ipv4_type, &half_type_mask)), ACTIONS(ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ITEM_MASK, "types and TPIDs" },
		{ group0, ITEMS(ITEM_SPEC(ETH, &no_vlan, &has_vlan), ITEM(VLAN)), ACTIONS(ACTION(DROP)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ITEM, "behind has_vlan 0" },
		{ group0, range, ACTIONS(ACTION(DROP)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_LAST,
		  "item UDP: ranges are not matched" },
	};

	refused(cases, RTE_DIM(cases));
}

static void
actions(void)
{
	const struct refusal cases[] = {
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(COUNT), ACTION(COUNT), ACTION(DROP)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "count: once" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(COUNT)), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
		  "the packet has no destination" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(DROP), TO_QUEUE(0)), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
		  "action QUEUE: the packet already has another destination" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(4)), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
		  "Rx queue 4 does not exist: the port has 4" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(QUEUE)), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
		  "action QUEUE has no configuration" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(OF_POP_MPLS), ACTION(DROP)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action OF_POP_MPLS is not supported; drop, queue" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(AGE, &age_0), ACTION(DROP)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "the timeout is 1 second or more" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(MARK(0xfffffd), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "mark 16777213: marks are 0 to 16777212" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(MARK(1), ACTION(FLAG), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "one of mark and flag" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(MARK(1), ACTION(DROP)), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
		  "need an action queue, rss or jump" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(PASSTHRU)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
		  "action PASSTHRU: a flow decides" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(METER)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
		  "action METER: meters are not supported" },
		{ group0, ITEMS(ITEM(ETH), ITEM(VLAN)), ACTIONS(ACTION(OF_SET_VLAN_PCP), TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action OF_SET_VLAN_PCP is of sent packets (egress)" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(SAMPLE), TO_QUEUE(0)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
		  "action SAMPLE: packets are not copied; count" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION(CONNTRACK), TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action CONNTRACK: connections are not tracked; tcp flags" },
		{ { .egress = 1 }, ITEMS(ITEM(MARK)), ACTIONS(ACTION(DROP)), EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
		  "item MARK: marks are of received packets" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(REPRESENTED_PORT, &ethdev_a)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action REPRESENTED_PORT: packets do not go to other ports; queue and rss" },
		{ { .ingress = 1, .group = 5 }, ITEMS(ITEM(ETH)), ACTIONS(JUMP(5)), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
		  "jump from group 5 to itself" },
		{ { .ingress = 1, .group = 5 }, ITEMS(ITEM(ETH)), ACTIONS(ACTION(SEND_TO_KERNEL)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, pmd_devarg(PORT_A, "open=vfio") ? "no kernel" : "in group 0" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(RSS, &rss_none)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "without queues" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(RSS, &rss_9)), EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
		  "Rx queue 9 does not exist" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(RSS, &rss_level)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "RSS level 3: 0 and 1, the outermost headers, and 2" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(RSS, &rss_key)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "RSS key of 5 bytes: it has 40" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), ACTIONS(ACTION_CONF(RSS, &rss_inner)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "RSS level 2: the pattern has no item of a tunnel" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)),
		  ACTIONS(ACTION(VXLAN_DECAP), ACTION_CONF(RSS, &rss_inner)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "RSS level 2: the flow removes the tunnel" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(RSS, &rss_types)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION_CONF, "are not supported, 0x" },
	};

	refused(cases, RTE_DIM(cases));
}

/* Of actions that change packets, whatever the card can do. */
static void
changes(void)
{
	static const struct rte_flow_action_set_ipv4 ipv4 = { .ipv4_addr = RTE_BE32(1) };
	static const struct rte_flow_action_set_ttl ttl = { .ttl_value = 1 };
	static const struct rte_flow_action_set_tp tp = { .port = RTE_BE16(1) };
	static const struct rte_flow_action_set_tag tag = { .index = 6, .mask = 1 };
	static const struct rte_flow_action_set_meta meta = { .data = 1 };
	static const struct rte_flow_action_of_set_vlan_vid vid = { .vlan_vid = RTE_BE16(5) };
	static const struct rte_flow_action_raw_encap encap = { .size = 14 };
	static const struct rte_flow_action_raw_decap tunnel = { .size = 38 }, short_of_it = { .size = 14 };
	static const struct rte_flow_item_tag item_tag = { .index = 6 };
	static const struct rte_flow_action_modify_field wide = {
		.dst = { .field = RTE_FLOW_FIELD_IPV4_TTL }, .src = { .field = RTE_FLOW_FIELD_VALUE }, .width = 9,
	}, mark = { .dst = { .field = RTE_FLOW_FIELD_MARK }, .src = { .field = RTE_FLOW_FIELD_VALUE }, .width = 9 },
	none = { .dst = { .field = RTE_FLOW_FIELD_META }, .src = { .field = RTE_FLOW_FIELD_VALUE } };
	const struct refusal cases[] = {
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(SET_IPV4_SRC, &ipv4), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action SET_IPV4_SRC: the pattern has no item ipv4" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4)), ACTIONS(ACTION_CONF(SET_TP_SRC, &tp), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action SET_TP_SRC: the pattern has neither item tcp nor udp" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4)), ACTIONS(ACTION_CONF(OF_SET_VLAN_VID, &vid), TO_QUEUE(0)),
		  EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, "the pattern has no item vlan" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4)), ACTIONS(ACTION(DEC_TTL), ACTION(DROP)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "need an action queue, rss or jump" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), ACTIONS(ACTION(VXLAN_DECAP), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action VXLAN_DECAP: the pattern has no item of a tunnel" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(GRE), ITEM(ETH)), ACTIONS(ACTION(VXLAN_DECAP), TO_QUEUE(0)),
		  EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, "action VXLAN_DECAP: the pattern has an item of another tunnel" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(GRE), ITEM(IPV4)),
		  ACTIONS(ACTION_CONF(RAW_DECAP, &tunnel), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "there is no Ethernet header in the tunnel" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)),
		  ACTIONS(ACTION_CONF(RAW_DECAP, &short_of_it), TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action RAW_DECAP: 14 bytes: all before the headers" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)),
		  ACTIONS(ACTION_CONF(SET_TTL, &ttl), ACTION(VXLAN_DECAP), TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "the device removes a tunnel before it changes" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(RAW_ENCAP, &encap), TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "received packets are not put into tunnels" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(SET_TAG, &tag), TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "tag 6: tags are 0 to 5" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(SET_META, &meta), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "action SET_META: the mask is 0" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(MODIFY_FIELD, &wide), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "9 bits from 0 on of a field that has 8" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(MODIFY_FIELD, &mark), TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ACTION, "the device does not change field" },
		{ group0, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(MODIFY_FIELD, &none), TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ACTION, "the width is 0" },
		{ group0, ITEMS(ITEM(ETH), ITEM_SPEC(TAG, &item_tag, NULL)), ACTIONS(TO_QUEUE(0)), ENOTSUP,
		  RTE_FLOW_ERROR_TYPE_ITEM_SPEC, "tag 6: tags are 0 to 5" },
		{ group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(MPLS)), ACTIONS(TO_QUEUE(0)), EINVAL,
		  RTE_FLOW_ERROR_TYPE_ITEM, "item MPLS cannot be here" },
	};
	const struct refusal kernel = {
		group0, ITEMS(ITEM(ETH), ITEM(VLAN)), ACTIONS(ACTION(OF_POP_VLAN), TO_QUEUE(0)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ACTION, "of_pop_vlan: in groups above 0",
	};

	refused(cases, RTE_DIM(cases));
	if (!pmd_devarg(PORT_A, "open=vfio"))
		refused(&kernel, 1);
}

void
flow_refusals(void)
{
	patterns();
	actions();
	changes();
}
