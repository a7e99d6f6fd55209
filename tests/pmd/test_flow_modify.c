/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: actions that change packets; which field each one changes is checked by tests/conform/stock_modify.py. */

#include <rte_ip.h>
#include <rte_udp.h>

#include "test_flow.h"

#define PORT 4000

static const struct rte_flow_attr group0 = { .ingress = 1 }, group5 = { .ingress = 1, .group = 5 };
static const struct rte_flow_action_set_ttl ttl_9 = { .ttl_value = 9 };
static const struct rte_flow_action_set_tp port_77 = { .port = RTE_BE16(77) };
/* Of struct rte_flow_action_set_ipv6, whose type of address differs between releases. */
static const uint8_t ipv6[16] = { 1 };
static const struct rte_flow_action_set_tag tag_5 = { .data = 0x500, .mask = 0xf00, .index = 3 };
static const struct rte_flow_item_tag is_5 = { .data = 0x500, .index = 3 };
static const struct rte_flow_item_tag tag_mask = { .data = 0x700, .index = 0xff };

#define UDP_ITEMS ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT))

static struct rte_flow *
flow_new(const struct rte_flow_attr *attr, const struct rte_flow_item *items, const struct rte_flow_action *actions)
{
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow = rte_flow_create(PORT_A, attr, items, actions, &error);

	CHECK(flow != NULL, "%s", error.message != NULL ? error.message : "no message");
	return flow;
}

/* A packet of PORT_B arrives with this TTL and port, a right checksum of its IP header, and the mark. */
static void
arrives(uint8_t ttl, uint16_t port, uint32_t mark)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);
	const struct rte_ipv4_hdr *ip;
	const struct rte_udp_hdr *udp;
	struct rte_mbuf *m;

	frame.dst_port = PORT;
	CHECK_EQ(pmd_send(PORT_B, 0, &frame), 1);
	REQUIRE(pmd_recv(PORT_A, 3, &m, 1, 5000) == 1, "no packet");
	ip = rte_pktmbuf_mtod_offset(m, void *, sizeof(struct rte_ether_hdr));
	udp = (const void *)(ip + 1);
	CHECK_EQ(ip->time_to_live, ttl);
	CHECK_EQ(rte_be_to_cpu_16(udp->dst_port), port);
	CHECK_EQ(rte_raw_cksum(ip, sizeof(*ip)), UINT16_MAX);
	CHECK_EQ(m->ol_flags & RTE_MBUF_F_RX_FDIR_ID ? m->hash.fdir.hi : 0, mark);
	rte_pktmbuf_free(m);
}

/* The change stays with the flow when the port is stopped, and one of two equal flows goes. */
static void
life(void)
{
	const struct rte_flow_action *actions =
		ACTIONS(ACTION_CONF(SET_TTL, &ttl_9), ACTION_CONF(SET_TP_DST, &port_77), MARK(5), TO_QUEUE(3));
	struct rte_flow *flow = flow_new(&group0, UDP_ITEMS, actions);
	struct rte_flow *other = flow_new(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(1)), actions);

	arrives(9, 77, 5);
	CHECK_EQ(rte_flow_destroy(PORT_A, other, NULL), 0);
	arrives(9, 77, 5);
	CHECK_EQ(rte_eth_dev_stop(PORT_A), 0);
	CHECK_EQ(rte_eth_dev_start(PORT_A), 0);
	arrives(9, 77, 5);
	CHECK_EQ(rte_flow_destroy(PORT_A, flow, NULL), 0);
}

/* A tag leads from one group to the next, which changes the packet again. */
static void
tags(void)
{
	struct rte_flow *first = flow_new(&group0, UDP_ITEMS,
					  ACTIONS(ACTION_CONF(SET_TAG, &tag_5), ACTION(DEC_TTL), JUMP(5)));
	struct rte_flow *second = flow_new(&group5, ITEMS(ITEM_SPEC(TAG, &is_5, &tag_mask), ITEM(ETH), ITEM(IPV4)),
					   ACTIONS(ACTION(DEC_TTL), TO_QUEUE(3)));

	arrives(62, PORT, 0);
	CHECK_EQ(rte_flow_destroy(PORT_A, second, NULL), 0);
	CHECK_EQ(rte_flow_destroy(PORT_A, first, NULL), 0);
}

/* A frame of UDP over IPv6 in VXLAN over IPv4, from this port. */
static uint16_t
vxlan_frame(uint8_t *frame, uint16_t port)
{
	static const uint8_t vxlan[] = { 8, 0, 0, 0, 0, 0, 5, 0 };
	const uint16_t inner_bytes = 14 + 40 + 8 + 22;
	struct pmd_frame udp = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *outer, *inner;
	uint16_t bytes = 0;

	udp.bytes = 14 + 20 + 8 + sizeof(vxlan) + inner_bytes;
	udp.dst_port = 4789;
	outer = pmd_frame_make(&udp, 0);
	udp.bytes = inner_bytes;
	udp.ether_type = RTE_ETHER_TYPE_IPV6;
	udp.src_port = port;
	udp.dst_port = PORT;
	inner = pmd_frame_make(&udp, 0);
	if (outer != NULL && inner != NULL) {
		bytes = rte_pktmbuf_pkt_len(outer);
		memcpy(frame, rte_pktmbuf_mtod(outer, void *), bytes);
		memcpy(frame + 14 + 20 + 8, vxlan, sizeof(vxlan));
		memcpy(frame + 14 + 20 + 8 + sizeof(vxlan), rte_pktmbuf_mtod(inner, void *), inner_bytes);
	}
	rte_pktmbuf_free(outer);
	rte_pktmbuf_free(inner);
	return bytes;
}

/* Packets out of a tunnel are spread by their own headers: those of one outer flow arrive at several queues. */
static void
decap_rss(void)
{
	static const uint16_t queues[] = { 0, 1, 2, 3 };
	static const struct rte_flow_action_rss by_ports = {
		.types = RTE_ETH_RSS_NONFRAG_IPV6_UDP, .queue_num = RTE_DIM(queues), .queue = queues,
	};
	struct rte_flow *flow = flow_new(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)),
					 ACTIONS(ACTION(VXLAN_DECAP), ACTION_CONF(RSS, &by_ports)));
	unsigned int used = 0;
	uint8_t frame[256];

	for (uint16_t port = 1; port <= 16; port++) {
		const uint16_t bytes = vxlan_frame(frame, port);
		int q = flow_queue_of(frame, bytes);

		CHECK(q >= 0, "port %u does not arrive", port);
		used |= q >= 0 ? 1u << q : 0;
	}
	CHECK(__builtin_popcount(used) > 1, "queues 0x%x", used);
	CHECK_EQ(rte_flow_destroy(PORT_A, flow, NULL), 0);
}

#define MARKED(spec, mask) ITEM_SPEC(MARK, (&(const struct rte_flow_item_mark){ .id = (spec) }), \
				     (&(const struct rte_flow_item_mark){ .id = (mask) }))
/* The largest mark. */
#define MARK_MAX 0xfffffcu

/* Flows of a later group match the mark of the flow that jumps there; 0 is one, and a flag is none. */
static void
marks(void)
{
	static const struct rte_flow_attr group7 = { .ingress = 1, .group = 7 };
	static const struct rte_flow_attr behind = { .ingress = 1, .group = 5, .priority = 1 };
	static const struct rte_flow_attr last = { .ingress = 1, .group = 5, .priority = 2 };
	/* By the port of UDP, which begins with 1. */
	static const int queue_of[] = { 1, 2, 2, 3, 0, 0 };
	struct rte_flow *flows[] = {
		flow_new(&group0, ITEMS(UDP_TO(1)), ACTIONS(MARK(0), JUMP(5))),
		flow_new(&group0, ITEMS(UDP_TO(2)), ACTIONS(MARK(0x123456), JUMP(5))),
		flow_new(&group0, ITEMS(UDP_TO(3)), ACTIONS(MARK(MARK_MAX), JUMP(5))),
		flow_new(&group0, ITEMS(UDP_TO(4)), ACTIONS(MARK(1), JUMP(5))),
		flow_new(&group0, ITEMS(UDP_TO(5)), ACTIONS(ACTION(FLAG), JUMP(5))),
		flow_new(&group0, ITEMS(UDP_TO(6)), ACTIONS(JUMP(5))),
		flow_new(&group5, ITEMS(MARKED(0, UINT32_MAX), ITEM(ETH)), ACTIONS(TO_QUEUE(1))),
		flow_new(&group5, ITEMS(ITEM(ETH), MARKED(0xff34ff, 0xff00)), ACTIONS(TO_QUEUE(2))),
		/* Another mark replaces the first. */
		flow_new(&group5, ITEMS(MARKED(MARK_MAX, UINT32_MAX)), ACTIONS(MARK(2), JUMP(7))),
		flow_new(&group7, ITEMS(MARKED(2, UINT32_MAX)), ACTIONS(TO_QUEUE(2))),
		flow_new(&behind, ITEMS(ITEM(MARK)), ACTIONS(TO_QUEUE(3))),
		flow_new(&last, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(0))),
	};
	struct rte_flow_error error;

	for (uint16_t i = 0; i < RTE_DIM(queue_of); i++) {
		int queue = flow_queue_of_udp(i + 1);

		CHECK(queue == queue_of[i], "port %u: queue %d, not %d", i + 1, queue, queue_of[i]);
	}
	CHECK_EQ(rte_flow_validate(PORT_A, &group5, ITEMS(MARKED(1u << 24, UINT32_MAX)), ACTIONS(TO_QUEUE(0)), &error),
		 -EINVAL);
	CHECK(strstr(error.message, "mark 16777216: marks are 0 to 16777212") != NULL, "%s", error.message);
	for (unsigned int i = 0; i < RTE_DIM(flows); i++)
		CHECK_EQ(rte_flow_destroy(PORT_A, flows[i], NULL), 0);
}

/* More than a device changes in one flow. */
static void
limits(void)
{
	const struct rte_flow_action *actions =
		ACTIONS(ACTION_CONF(SET_IPV6_SRC, &ipv6), ACTION_CONF(SET_IPV6_DST, &ipv6),
			ACTION_CONF(SET_IPV6_SRC, &ipv6), ACTION_CONF(SET_IPV6_DST, &ipv6),
			ACTION_CONF(SET_IPV6_SRC, &ipv6), TO_QUEUE(3));
	struct rte_flow_error error = { 0 };

	CHECK_EQ(rte_flow_validate(PORT_A, &group0, ITEMS(ITEM(ETH), ITEM(IPV6)), actions, &error), -ENOTSUP);
	CHECK(error.message != NULL && strstr(error.message, "change 20 parts of fields: the device changes 16"),
	      "%s", error.message);
}

/* Fields of the outermost headers and of those in a tunnel, in which the device has no tag. */
static void
levels(void)
{
	static const struct {
		enum rte_flow_field_id field;
		uint32_t width, level;
		int rc;
	} cases[] = {
		{ RTE_FLOW_FIELD_IPV4_TTL, 8, 0, 0 }, { RTE_FLOW_FIELD_IPV4_TTL, 8, 2, 0 },
		{ RTE_FLOW_FIELD_IPV4_TTL, 8, 3, -ENOTSUP }, { RTE_FLOW_FIELD_VLAN_ID, 12, 1, 0 },
		{ RTE_FLOW_FIELD_VLAN_ID, 12, 2, -ENOTSUP },
	};
	static const rte_be32_t by = RTE_BE32(1);
	struct rte_flow_error error = { 0 };

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct rte_flow_action_modify_field set = {
			.operation = RTE_FLOW_MODIFY_SET, .width = cases[i].width,
			.dst = { .field = cases[i].field, .level = (uint8_t)cases[i].level },
			.src = { .field = RTE_FLOW_FIELD_VALUE, .value = { 9 } },
		};
		int rc = rte_flow_validate(PORT_A, &group5, ITEMS(ITEM(ETH), ITEM(VLAN), ITEM(IPV4), ITEM(UDP),
								  ITEM(VXLAN), ITEM(ETH), ITEM(IPV4)),
					   ACTIONS(ACTION_CONF(MODIFY_FIELD, &set), TO_QUEUE(1)), &error);

		CHECK(rc == cases[i].rc, "case %u: %d", i, rc);
	}
	/* Other actions need the item of the header. */
	CHECK_EQ(rte_flow_validate(PORT_A, &group5, ITEMS(ITEM(ETH), ITEM(IPV4)),
				   ACTIONS(ACTION_CONF(SET_IPV6_SRC, &ipv6), TO_QUEUE(1)), &error), -EINVAL);
	CHECK(strstr(error.message, "the pattern has no item ipv6") != NULL, "%s", error.message);
	CHECK_EQ(rte_flow_validate(PORT_A, &group5, UDP_ITEMS, ACTIONS(ACTION_CONF(INC_TCP_SEQ, &by), TO_QUEUE(1)),
				   &error), -EINVAL);
	CHECK(strstr(error.message, "the pattern has no item tcp") != NULL, "%s", error.message);
}

/* A flow that removes a tunnel jumps and pops a tag only if the card can, and is refused by the capability's name. */
static void
decap_with(bool can)
{
	const struct {
		const struct rte_flow_action *actions;
		const char *cap;
	} cases[] = {
		{ ACTIONS(ACTION(VXLAN_DECAP), JUMP(6)), "reformat_and_fwd_to_table" },
		{ ACTIONS(ACTION(VXLAN_DECAP), ACTION(OF_POP_VLAN), TO_QUEUE(3)), "reformat_and_vlan_action" },
	};
	const struct rte_flow_item *items = ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN));

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_flow_error error = { 0 };
		struct rte_flow *flow = rte_flow_create(PORT_A, &group5, items, cases[i].actions, &error);

		CHECK((flow != NULL) == can, "%s", cases[i].cap);
		if (flow != NULL)
			CHECK_EQ(rte_flow_destroy(PORT_A, flow, NULL), 0);
		else
			CHECK(rte_errno == ENOTSUP && strstr(error.message, cases[i].cap) != NULL, "%s", error.message);
	}
}

/** Whether the card changes packets. */
static bool
changes(void)
{
	struct rte_flow_error error = { 0 };

	if (rte_flow_validate(PORT_A, &group0, UDP_ITEMS, ACTIONS(ACTION(DEC_TTL), TO_QUEUE(3)), &error) == 0)
		return true;
	CHECK(error.message != NULL && strstr(error.message, "the device changes 0 in one flow") != NULL);
	CHECK_EQ(rte_flow_validate(PORT_A, &group5, ITEMS(ITEM(MARK)), ACTIONS(TO_QUEUE(0)), &error), -ENOTSUP);
	CHECK(strstr(error.message, "item MARK: flows write no mark for others on this device, which changes no") != NULL,
	      "%s", error.message);
	return false;
}

/* A tag and, in templates, a mark. */
#define TAG_ITEMS(spec, mask, mark) \
	ITEMS(ITEM_SPEC(TAG, spec, mask), ITEM_SPEC(MARK, mark, mark), ITEM(ETH), ITEM(IPV4), ITEM(UDP))

void
flow_modify_templates(void)
{
	const struct rte_flow_pattern_template_attr in_items = { .ingress = 1 };
	const struct rte_flow_actions_template_attr in_actions = { .ingress = 1 };
	const struct rte_flow_template_table_attr of_group5 = { .flow_attr = group5, .nb_flows = 4 };
	const struct rte_flow_op_attr at_once = { .postpone = 0 };
	static const struct rte_flow_item_mark mark_mask = { .id = UINT32_MAX };
	struct rte_flow *flow[3], *first;
	const struct rte_flow_action *constant = ACTIONS(ACTION_CONF(SET_TP_DST, &port_77), TO_QUEUE(3));
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
	struct rte_flow_op_result res[3];
	struct rte_flow_error error;

	if (!changes())
		return;
	first = flow_new(&group0, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_TAG, &tag_5), MARK(5), JUMP(5)));
	pattern = rte_flow_pattern_template_create(PORT_A, &in_items, TAG_ITEMS(NULL, &tag_mask, &mark_mask), &error);
	actions = rte_flow_actions_template_create(PORT_A, &in_actions, constant, constant, &error);
	REQUIRE(pattern != NULL && actions != NULL);
	table = rte_flow_template_table_create(PORT_A, &of_group5, &pattern, 1, &actions, 1, &error);
	REQUIRE(table != NULL);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++) {
		const struct rte_flow_item_tag tag = { .data = i == 0 ? 0x400 : 0x500, .index = 3 };
		const struct rte_flow_item_mark mark = { .id = i < 2 ? 5 : 6 };

		flow[i] = rte_flow_async_create(PORT_A, 0, &at_once, table, TAG_ITEMS(&tag, NULL, &mark), 0,
						ACTIONS(ACTION(SET_TP_DST), ACTION(QUEUE)), 0, NULL, &error);
		CHECK(flow[i] != NULL, "%s", error.message);
	}
	CHECK_EQ(rte_flow_pull(PORT_A, 0, res, RTE_DIM(res), &error), 3);
	for (unsigned int i = 0; i < RTE_DIM(res); i++)
		CHECK_EQ(res[i].status, RTE_FLOW_OP_SUCCESS);
	arrives(64, 77, 5);
	/* Then no flow is left that matches. */
	CHECK_EQ(rte_flow_async_destroy(PORT_A, 0, &at_once, flow[1], NULL, &error), 0);
	flow[1] = flow[2];
	CHECK_EQ(flow_queue_of_udp(PORT), -1);
	for (unsigned int i = 0; i < 2; i++)
		CHECK_EQ(rte_flow_async_destroy(PORT_A, 0, &at_once, flow[i], NULL, &error), 0);
	CHECK_EQ(rte_flow_pull(PORT_A, 0, res, RTE_DIM(res), &error), 3);
	CHECK_EQ(rte_flow_template_table_destroy(PORT_A, table, &error), 0);
	CHECK_EQ(rte_flow_actions_template_destroy(PORT_A, actions, &error), 0);
	CHECK_EQ(rte_flow_pattern_template_destroy(PORT_A, pattern, &error), 0);
	CHECK_EQ(rte_flow_destroy(PORT_A, first, NULL), 0);
}

/* A packet of PORT_B to a port arrives at a queue with this metadata, 0: none. */
static void
meta_arrives(uint16_t port, uint16_t queue, uint32_t meta)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *m;

	frame.dst_port = port;
	CHECK_EQ(pmd_send(PORT_B, 0, &frame), 1);
	REQUIRE(pmd_recv(PORT_A, queue, &m, 1, 5000) == 1, "no packet");
	CHECK_EQ((m->ol_flags & RTE_MBUF_DYNFLAG_RX_METADATA) != 0, meta != 0);
	CHECK(meta == 0 || rte_flow_dynf_metadata_get(m) == meta, "0x%x, not 0x%x", rte_flow_dynf_metadata_get(m), meta);
	rte_pktmbuf_free(m);
}

/* Metadata reach the application from the start on that follows the registration of their place in mbufs. */
static void
metadata(void)
{
	static const struct rte_flow_action_set_meta all = { 0x12345678, UINT32_MAX }, some = { 0x5a5a, 0xff00 };
	static const struct rte_flow_action_set_meta low = { 0x1207, 0xff };
	const struct rte_flow_action_modify_field copy = {
		.operation = RTE_FLOW_MODIFY_SET, .width = 16, .dst = { .field = RTE_FLOW_FIELD_META, .offset = 8 },
		.src = { .field = RTE_FLOW_FIELD_UDP_PORT_DST },
	};
	struct rte_flow_error error;
	struct rte_flow *flow[4];

	CHECK_EQ(rte_eth_dev_stop(PORT_A), 0);
	CHECK_EQ(rte_flow_dynf_metadata_register(), 0);
	CHECK_EQ(rte_eth_dev_start(PORT_A), 0);
	flow[0] = flow_new(&group0, ITEMS(UDP_TO(1)), ACTIONS(ACTION_CONF(SET_META, &all), TO_QUEUE(1)));
	flow[1] = flow_new(&group0, ITEMS(UDP_TO(2)), ACTIONS(ACTION_CONF(SET_META, &some), MARK(3), JUMP(5)));
	flow[2] = flow_new(&group5, ITEMS(ITEM(ETH)), ACTIONS(ACTION_CONF(SET_META, &low), TO_QUEUE(2)));
	flow[3] = flow_new(&group0, ITEMS(UDP_TO(0x789a)), ACTIONS(ACTION_CONF(MODIFY_FIELD, &copy), TO_QUEUE(3)));
	meta_arrives(1, 1, 0x12345678);
	meta_arrives(2, 2, 0x5a07);
	meta_arrives(0x789a, 3, 0x789a00);
	meta_arrives(3, 0, 0);
	/* They are delivered by flows that set them only: a flow that drops changes no packets. */
	CHECK_EQ(rte_flow_validate(PORT_A, &group0, ITEMS(UDP_TO(1)), ACTIONS(ACTION(DROP)), &error), 0);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		CHECK_EQ(rte_flow_destroy(PORT_A, flow[i], NULL), 0);
	meta_arrives(1, 0, 0);
}

void
flow_negotiate(void)
{
	uint64_t features = UINT64_MAX;

	CHECK_EQ(rte_eth_rx_metadata_negotiate(PORT_A, &features), 0);
	CHECK_EQ(features, RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK);
}

void
flow_modify(bool can_decap_with)
{
	if (!changes())
		return;
	life();
	tags();
	marks();
	decap_rss();
	decap_with(can_decap_with);
	limits();
	levels();
	metadata();
}
