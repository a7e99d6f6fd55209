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

static struct pmd_frame
udp_to(uint16_t port)
{
	struct pmd_frame f = pmd_frame_udp(PORT_A, PORT_B, 1);

	f.dst_port = port;
	f.bytes = 80;
	return f;
}

struct rte_mbuf *
flow_sent(uint16_t tx_queue, const struct pmd_frame *frame)
{
	struct pmd_frame marker = udp_to(PORT);
	struct rte_mbuf *m, *found = NULL;

	marker.ether_type = MARKER_TYPE;
	CHECK_EQ(pmd_send(PORT_A, tx_queue, frame), 1);
	CHECK_EQ(pmd_send(PORT_A, tx_queue, &marker), 1);
	while (pmd_recv(PORT_B, 0, &m, 1, 5000) == 1) {
		const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

		if (eth->ether_type == RTE_BE16(MARKER_TYPE)) {
			rte_pktmbuf_free(m);
			/* By IPv6 addresses the port distributes packets. */
			for (uint16_t q = 1; found == NULL && q < QUEUES; q++)
				(void)rte_eth_rx_burst(PORT_B, q, &found, 1);
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

static struct rte_mbuf *
frame_sent(const struct pmd_frame *frame)
{
	return flow_sent(0, frame);
}

static struct rte_mbuf *
sent(uint16_t port)
{
	const struct pmd_frame frame = udp_to(port);

	return frame_sent(&frame);
}

/* A frame arrives with these bytes in front. */
static void
begins(struct rte_mbuf *m, const void *bytes, size_t n, const char *what)
{
	CHECK(m != NULL && memcmp(rte_pktmbuf_mtod(m, void *), bytes, n) == 0, "%s", what);
	rte_pktmbuf_free(m);
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

/* Flows of received packets of the same pattern are others. Without another action the packet is sent. */
static void
targets(void)
{
	struct rte_flow *drop = flow_create(&group0, UDP_ITEMS, ACTIONS(ACTION(COUNT), ACTION(DROP))), *count;

	CHECK_EQ(ttl_of(PORT), -1);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	CHECK_EQ(flow_queue_of_udp(PORT), 0);
	CHECK_EQ(flow_hits(drop), 1);
	flow_destroy(drop);
	count = flow_create(&group0, UDP_ITEMS, ACTIONS(ACTION(COUNT)));
	CHECK_EQ(ttl_of(PORT), 64);
	CHECK_EQ(flow_hits(count), 1);
	flow_destroy(count);
}

/* The dump of a flow contains the text. */
static void
dump_check(struct rte_flow *flow, const char *want)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	CHECK_OK(rte_flow_dev_dump(PORT_A, flow, file, &error));
	fclose(file);
	CHECK(strstr(text, want) != NULL, "%s", text);
	free(text);
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
	char text[40];

	REQUIRE(handle != NULL);
	snprintf(text, sizeof(text), " indirect %p\n", (void *)handle);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++) {
		flow[i] = flow_create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + i)),
				      ACTIONS(ACTION_CONF(INDIRECT, handle)));
		dump_check(flow[i], text);
	}
	CHECK_EQ(ttl_of(PORT), 64);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	CHECK_OK(rte_flow_action_handle_query(PORT_A, handle, &read, &error));
	CHECK_EQ(read.hits, 2);
	flow_destroy(flow[0]);
	flow_destroy(flow[1]);
	CHECK_OK(rte_flow_action_handle_destroy(PORT_A, handle, &error));
	CHECK(rte_flow_action_handle_create(PORT_A, &conf, &queue, &error) == NULL);
	CHECK_EQ(rte_errno, ENOTSUP);
}

/* The change stays with the flow when the port is stopped. */
static void
life(void)
{
	struct rte_flow *flow = flow_create(&group0, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_TTL, &ttl_9)));

	CHECK_EQ(ttl_of(PORT), 9);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(ttl_of(PORT), 9);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	flow_destroy(flow);
	CHECK_EQ(ttl_of(PORT), 64);
}

/* Metadata leads to a flow of a group; what matches nothing there is sent. Groups of the two directions are others. */
static void
groups(void)
{
	static const struct rte_flow_attr received5 = { .ingress = 1, .group = 5 };
	struct rte_flow *first = flow_create(&group0, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_META, &meta_7), JUMP(5)));
	struct rte_flow *other = flow_create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + 1)), ACTIONS(JUMP(5)));
	struct rte_flow *received = flow_create(&received5, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(1)));
	struct rte_flow *second = flow_create(&group5, ITEMS(ITEM_SPEC(META, &is_7, NULL), ITEM(ETH), ITEM(IPV4)),
					      ACTIONS(ACTION(COUNT), ACTION_CONF(SET_TTL, &ttl_9)));

	CHECK_EQ(ttl_of(PORT), 9);
	CHECK_EQ(ttl_of(PORT + 1), 64);
	CHECK_EQ(flow_hits(second), 1);
	flow_destroy(second);
	CHECK_EQ(ttl_of(PORT), 64);
	flow_destroy(received);
	flow_destroy(other);
	flow_destroy(first);
}

static void
dump(void)
{
	struct rte_flow *flow = flow_create(&group5, UDP_ITEMS, ACTIONS(ACTION_CONF(SET_TTL, &ttl_9)));

	dump_check(flow, " egress group 5 priority 0 match ");
	dump_check(flow, " action send modify 1");
	flow_destroy(flow);
}

/* ------------------------------------------------------------------ what is added */

/* 50 bytes of headers: Ethernet to PORT_B, IPv4, UDP, VXLAN; with 802.1Q tag in front of IPv4 54. */
struct outer {
	struct rte_flow_item_eth eth;
	struct rte_flow_item_vlan vlan;
	struct rte_flow_item_ipv4 ipv4;
	struct rte_flow_item_udp udp;
	struct rte_flow_item_vxlan vxlan;
	struct rte_flow_item_nvgre nvgre;
};

static struct outer
outer_make(void)
{
	struct pmd_frame f = udp_to(PORT);
	struct outer o = {
		.vlan = { .tci = RTE_BE16(0x2005) },
		.ipv4.hdr = { .src_addr = RTE_BE32(0x0a000001), .dst_addr = RTE_BE32(0x0a000002) },
		.udp.hdr = { .src_port = RTE_BE16(1234) },
		.vxlan = { .vni = { 1, 2, 3 } },
		.nvgre = { .tni = { 1, 2, 3 } },
	};

	o.eth.hdr.dst_addr = f.dst;
	o.eth.hdr.src_addr = f.src;
	return o;
}

/* The frame that leaves without flows. */
static uint16_t
plain(uint8_t *frame)
{
	struct rte_mbuf *m = sent(PORT);
	uint16_t bytes;

	CHECK(m != NULL);
	if (m == NULL)
		return 0;
	bytes = rte_pktmbuf_pkt_len(m);
	memcpy(frame, rte_pktmbuf_mtod(m, void *), bytes);
	rte_pktmbuf_free(m);
	return bytes;
}

/* The frame arrives with these headers, with right lengths and checksums, before what is behind its first bytes. */
static void
arrives_in(const struct rte_flow_attr *attr, const struct rte_flow_action *actions, const uint8_t *headers,
	   uint16_t bytes, uint16_t cut, const char *what)
{
	uint8_t inner[256], want[512];
	uint16_t inner_bytes = plain(inner), l3 = 14, udp;
	struct rte_flow *first = attr->group != 0 ? flow_create(&group0, UDP_ITEMS, ACTIONS(JUMP(attr->group))) : NULL;
	struct rte_flow *flow = flow_create(attr, UDP_ITEMS, actions);
	struct rte_ipv4_hdr *ip;
	struct rte_mbuf *m;

	memcpy(want, headers, bytes);
	memcpy(want + bytes, inner + cut, inner_bytes - cut);
	inner_bytes -= cut;
	if (want[12] == 0x81)
		l3 = 18;
	ip = (void *)(want + l3);
	ip->total_length = rte_cpu_to_be_16(bytes - l3 + inner_bytes);
	ip->hdr_checksum = 0;
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp = l3 + sizeof(*ip);
	if (ip->next_proto_id == IPPROTO_UDP)
		*(rte_be16_t *)(want + udp + 4) = rte_cpu_to_be_16(bytes - udp + inner_bytes);
	m = sent(PORT);
	CHECK(m != NULL, "%s", what);
	if (m != NULL) {
		CHECK_EQ(rte_pktmbuf_pkt_len(m), (uint32_t)bytes + inner_bytes);
		CHECK(memcmp(rte_pktmbuf_mtod(m, void *), want, (size_t)bytes + inner_bytes) == 0, "%s", what);
		rte_pktmbuf_free(m);
	}
	flow_destroy(flow);
	flow_destroy(first);
}

/* The headers of a definition as bytes; what was 0 in it has its value. */
static uint16_t
outer_bytes(const struct outer *o, bool tag, bool nvgre, uint8_t *to)
{
	uint8_t *p = to;

	memcpy(p, &o->eth, 12);
	p += 12;
	if (tag) {
		memcpy(p, "\x81\x00\x20\x05", 4);
		p += 4;
	}
	memcpy(p, "\x08\x00", 2);
	memcpy(p + 2, &o->ipv4, 20);
	p[2] = 0x45;
	p[2 + 8] = 64;
	p[2 + 9] = nvgre ? IPPROTO_GRE : IPPROTO_UDP;
	p += 22;
	if (nvgre) {
		memcpy(p, "\x20\x00\x65\x58\x01\x02\x03\x00", 8);
		return (uint16_t)(p + 8 - to);
	}
	memcpy(p, "\x04\xd2\x12\xb5\x00\x00\x00\x00\x08\x00\x00\x00\x01\x02\x03\x00", 16);
	return (uint16_t)(p + 16 - to);
}

static void
tunnels(void)
{
	const struct rte_flow_action_raw_decap l2 = { .size = 14 };
	struct outer o = outer_make();
	struct rte_flow_item definition[] = {
		ITEM_SPEC(ETH, &o.eth, NULL), ITEM_SPEC(VLAN, &o.vlan, NULL), ITEM_SPEC(IPV4, &o.ipv4, NULL),
		ITEM_SPEC(UDP, &o.udp, NULL), ITEM_SPEC(VXLAN, &o.vxlan, NULL), ITEM(END),
	};
	const struct rte_flow_action_vxlan_encap vxlan = { .definition = definition };
	const struct rte_flow_action_nvgre_encap nvgre = { .definition = definition };
	struct rte_flow_action_raw_encap raw;
	uint8_t h[128];

	for (unsigned int group = 0; group <= 5; group += 5) {
		const struct rte_flow_attr *attr = group != 0 ? &group5 : &group0;

		definition[1].type = RTE_FLOW_ITEM_TYPE_VLAN;
		definition[3].type = RTE_FLOW_ITEM_TYPE_UDP;
		definition[4] = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_VXLAN, .spec = &o.vxlan };
		arrives_in(attr, ACTIONS(ACTION_CONF(VXLAN_ENCAP, &vxlan)), h, outer_bytes(&o, true, false, h), 0,
			   "vxlan with tag");
		definition[1].type = RTE_FLOW_ITEM_TYPE_VOID;
		raw = (struct rte_flow_action_raw_encap){ .data = h, .size = outer_bytes(&o, false, false, h) };
		arrives_in(attr, ACTIONS(ACTION_CONF(VXLAN_ENCAP, &vxlan), ACTION(COUNT)), h, raw.size, 0, "vxlan");
		arrives_in(attr, ACTIONS(ACTION_CONF(RAW_ENCAP, &raw)), h, raw.size, 0, "raw");
		arrives_in(attr, ACTIONS(ACTION_CONF(RAW_DECAP, &l2), ACTION(VOID), ACTION_CONF(RAW_ENCAP, &raw)), h,
			   raw.size, 14, "raw in place of Ethernet");
		definition[3].type = RTE_FLOW_ITEM_TYPE_VOID;
		definition[4] = (struct rte_flow_item){ .type = RTE_FLOW_ITEM_TYPE_NVGRE, .spec = &o.nvgre };
		arrives_in(attr, ACTIONS(ACTION_CONF(NVGRE_ENCAP, &nvgre)), h, outer_bytes(&o, false, true, h), 0, "nvgre");
	}
}

/* A tag, and a tunnel around it, in a group above 0. */
static void
tags(void)
{
	const struct rte_flow_action_of_push_vlan push = { .ethertype = RTE_BE16(RTE_ETHER_TYPE_VLAN) };
	const struct rte_flow_action_of_set_vlan_vid vid = { .vlan_vid = RTE_BE16(0x123) };
	const struct rte_flow_action_of_set_vlan_pcp pcp = { .vlan_pcp = 5 };
	struct outer o = outer_make();
	struct rte_flow *first = flow_create(&group0, UDP_ITEMS, ACTIONS(JUMP(5))), *flow;
	struct rte_flow_action_raw_encap raw;
	uint8_t frame[256], h[128];
	struct rte_mbuf *m;
	uint16_t bytes = plain(frame);

	raw = (struct rte_flow_action_raw_encap){ .data = h, .size = outer_bytes(&o, false, false, h) };
	for (unsigned int i = 0; i < 2; i++) {
		const uint16_t at = i == 0 ? 0 : raw.size;

		const struct rte_flow_action *actions = i == 0 ?
			ACTIONS(ACTION_CONF(OF_PUSH_VLAN, &push), ACTION_CONF(OF_SET_VLAN_VID, &vid),
				ACTION_CONF(OF_SET_VLAN_PCP, &pcp)) :
			ACTIONS(ACTION_CONF(OF_PUSH_VLAN, &push), ACTION_CONF(OF_SET_VLAN_VID, &vid),
				ACTION_CONF(OF_SET_VLAN_PCP, &pcp), ACTION_CONF(RAW_ENCAP, &raw));

		/* Both in one flow is a capability. */
		if (i == 1 && rte_flow_validate(PORT_A, &group5, UDP_ITEMS, actions, &error) != 0) {
			CHECK(strstr(error.message, "reformat_and_vlan_action") != NULL, "%s", error.message);
			break;
		}
		flow = flow_create(&group5, UDP_ITEMS, actions);
		m = sent(PORT);
		CHECK(m != NULL && rte_pktmbuf_pkt_len(m) == (uint32_t)at + bytes + 4);
		if (m != NULL) {
			const uint8_t *got = rte_pktmbuf_mtod_offset(m, void *, at);

			CHECK(memcmp(got, frame, 12) == 0 && memcmp(got + 12, "\x81\x00\xa1\x23", 4) == 0 &&
			      memcmp(got + 16, frame + 12, bytes - 12) == 0);
			rte_pktmbuf_free(m);
		}
		flow_destroy(flow);
	}
	flow_destroy(first);
}

/* What a definition leaves 0 has a value: also over IPv6, whose hop limit is that of no router. */
static void
tunnels_ipv6(void)
{
	static const uint8_t tail[] = { 0x04, 0xd2, 0x13, 0x88, 0, 80 + 16, 0, 0, 0x08, 0, 0, 0, 1, 2, 3, 0 };
	struct outer o = outer_make();
	struct rte_flow_item_ipv6 ipv6;
	const struct rte_flow_item definition[] = {
		ITEM_SPEC(ETH, &o.eth, NULL), ITEM_SPEC(IPV6, &ipv6, NULL), ITEM_SPEC(UDP, &o.udp, NULL),
		ITEM_SPEC(VXLAN, &o.vxlan, NULL), ITEM(END),
	};
	const struct rte_flow_action_vxlan_encap vxlan = { .definition = (void *)(uintptr_t)definition };
	struct rte_flow *flow;
	uint8_t want[70];

	memset(&ipv6, 0, sizeof(ipv6));
	memset(&ipv6.hdr.src_addr, 0x11, 32);
	o.udp.hdr.dst_port = RTE_BE16(5000);
	memcpy(want, &o.eth, 12);
	memcpy(want + 12, "\x86\xdd\x60\0\0\0\0\x60\x11\xff", 10);
	memset(want + 22, 0x11, 32);
	memcpy(want + 54, tail, sizeof(tail));
	flow = flow_create(&group0, UDP_ITEMS, ACTIONS(ACTION_CONF(VXLAN_ENCAP, &vxlan)));
	begins(sent(PORT), want, sizeof(want), "vxlan over IPv6");
	flow_destroy(flow);
}

/* A new tag is as the outermost one (OpenFlow), as the pattern has that, or as an action before has set it. */
static void
tag_of_pattern(void)
{
	static const struct rte_flow_action_of_push_vlan push = { .ethertype = RTE_BE16(RTE_ETHER_TYPE_QINQ) };
	static const struct rte_flow_action_of_set_vlan_vid vid = { .vlan_vid = RTE_BE16(0x456) };
	static const struct {
		uint16_t mask;
		bool set;
		const char *tags;
	} cases[] = {
		{ 0xefff, false, "\x88\xa8\xa1\x23\x81\0\xa1\x23" },
		{ 0x0fff, false, "\x88\xa8\x01\x23\x81\0\xa1\x23" },
		{ 0xe000, false, "\x88\xa8\xa0\0\x81\0\xa1\x23" },
		{ 0xefff, true, "\x88\xa8\xa4\x56\x81\0\xa4\x56" },
	};
	struct rte_flow *first = flow_create(&group0, ITEMS(ITEM(ETH), ITEM(VLAN)), ACTIONS(JUMP(5))), *flow;
	struct pmd_frame frame = udp_to(PORT);
	uint8_t want[20];

	frame.vlan = 0xa123;
	memcpy(want, &frame.dst, 6);
	memcpy(want + 6, &frame.src, 6);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct rte_flow_item_vlan spec = { .hdr.vlan_tci = RTE_BE16(0xa123) };
		const struct rte_flow_item_vlan mask = { .hdr.vlan_tci = rte_cpu_to_be_16(cases[i].mask) };

		const struct rte_flow_action *actions = ACTIONS(ACTION_CONF(OF_SET_VLAN_VID, &vid),
								ACTION_CONF(OF_PUSH_VLAN, &push));

		flow = flow_create(&group5, ITEMS(ITEM(ETH), ITEM_SPEC(VLAN, &spec, &mask)), actions + !cases[i].set);
		memcpy(want + 12, cases[i].tags, 8);
		begins(frame_sent(&frame), want, sizeof(want), "a tag as that of the pattern");
		flow_destroy(flow);
	}
	flow_destroy(first);
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
	struct outer o = outer_make();
	const struct rte_flow_item definition[] = {
		ITEM_SPEC(ETH, &o.eth, NULL), ITEM_SPEC(IPV4, &o.ipv4, NULL), ITEM_SPEC(UDP, &o.udp, NULL),
		ITEM_SPEC(VXLAN, &o.vxlan, NULL), ITEM(END),
	};
	const struct rte_flow_action_vxlan_encap vxlan = { .definition = (void *)(uintptr_t)definition };
	const struct rte_flow_action *encap = ACTIONS(ACTION_CONF(VXLAN_ENCAP, &vxlan));
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions[2];
	struct rte_flow_template_table *table;
	struct rte_flow_op_result res[2];
	struct rte_flow *flow[2];
	struct rte_mbuf *m;
	uint8_t h[128];
	uint16_t bytes;

	pattern = rte_flow_pattern_template_create(PORT_A, &in_items,
						   ITEMS(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, NULL, &mask)), &error);
	actions[0] = rte_flow_actions_template_create(PORT_A, &in_actions, set, set, &error);
	actions[1] = rte_flow_actions_template_create(PORT_A, &in_actions, encap, ACTIONS(ACTION(VXLAN_ENCAP)), &error);
	REQUIRE(pattern != NULL && actions[0] != NULL && actions[1] != NULL);
	CHECK(rte_flow_template_table_create(PORT_A, &attr, &pattern, 1, actions, 2, &error) == NULL);
	CHECK(strstr(error.message, "different directions") != NULL, "%s", error.message);
	CHECK(rte_flow_actions_template_create(PORT_A, &in_actions, ACTIONS(TO_QUEUE(0)), ACTIONS(TO_QUEUE(0)),
					       &error) == NULL);
	attr.flow_attr = group0;
	table = rte_flow_template_table_create(PORT_A, &attr, &pattern, 1, actions, 2, &error);
	REQUIRE(table != NULL, "%s", error.message);
	for (uint8_t i = 0; i < RTE_DIM(flow); i++) {
		flow[i] = rte_flow_async_create(PORT_A, 0, &at_once, table,
						ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + i)), 0,
						i == 0 ? set : encap, i, NULL, &error);
		CHECK(flow[i] != NULL, "%s", error.message);
	}
	CHECK_EQ(rte_flow_pull(PORT_A, 0, res, RTE_DIM(res), &error), 2);
	CHECK(res[0].status == RTE_FLOW_OP_SUCCESS && res[1].status == RTE_FLOW_OP_SUCCESS);
	CHECK_EQ(ttl_of(PORT), 9);
	bytes = outer_bytes(&o, false, false, h);
	m = sent(PORT + 1);
	CHECK(m != NULL && rte_pktmbuf_pkt_len(m) == udp_to(PORT).bytes + (uint32_t)bytes);
	begins(m, h, 16, "encapsulated by a template");
	CHECK_EQ(ttl_of(PORT + 2), 64);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		CHECK_OK(rte_flow_async_destroy(PORT_A, 0, &at_once, flow[i], NULL, &error));
	CHECK_EQ(rte_flow_pull(PORT_A, 0, res, RTE_DIM(res), &error), 2);
	CHECK_OK(rte_flow_template_table_destroy(PORT_A, table, &error));
	for (unsigned int i = 0; i < RTE_DIM(actions); i++)
		CHECK_OK(rte_flow_actions_template_destroy(PORT_A, actions[i], &error));
	CHECK_OK(rte_flow_pattern_template_destroy(PORT_A, pattern, &error));
}

static void
refused(const struct rte_flow_action *actions, const char *message)
{
	memset(&error, 0, sizeof(error));
	CHECK(rte_flow_validate(PORT_A, &group5, UDP_ITEMS, actions, &error) != 0, "%s", message);
	CHECK(error.message != NULL && strstr(error.message, message) != NULL, "%s: %s", message, error.message);
}

static void
mistakes(void)
{
	const struct rte_flow_action_of_push_vlan push = { .ethertype = RTE_BE16(RTE_ETHER_TYPE_VLAN) };
	const struct rte_flow_action_of_push_vlan other = { .ethertype = RTE_BE16(0x9100) };
	const struct rte_flow_action_of_set_vlan_vid vid = { .vlan_vid = RTE_BE16(5) };
	const struct rte_flow_action_of_set_vlan_pcp pcp = { .vlan_pcp = 5 }, pcp_8 = { .vlan_pcp = 8 };
	const struct rte_flow_item without_ip[] = { ITEM(ETH), ITEM(UDP), ITEM(VXLAN), ITEM(END) };
	const struct rte_flow_item twice[] = { ITEM(ETH), ITEM(IPV4), ITEM(IPV4), ITEM(END) };
	const struct rte_flow_action_vxlan_encap no_ip = { .definition = (void *)(uintptr_t)without_ip };
	const struct rte_flow_action_vxlan_encap two_ip = { .definition = (void *)(uintptr_t)twice };
	static uint8_t bytes[256];
	const struct rte_flow_action_raw_encap raw = { .data = bytes, .size = 50 };
	const struct rte_flow_action_raw_encap small = { .data = bytes, .size = 33 };
	const struct rte_flow_action_raw_encap large = { .data = bytes, .size = 129 };
	const struct rte_flow_action_raw_decap l2 = { .size = 14 }, tunnel = { .size = 50 };

	refused(ACTIONS(ACTION_CONF(RAW_ENCAP, &raw), ACTION_CONF(SET_TTL, &ttl_9)), "changes fields before it adds");
	refused(ACTIONS(ACTION_CONF(RAW_ENCAP, &raw), ACTION_CONF(OF_PUSH_VLAN, &push)), "adds a VLAN tag before a tunnel");
	refused(ACTIONS(ACTION_CONF(RAW_ENCAP, &raw), ACTION_CONF(RAW_ENCAP, &raw)), "adds one tunnel");
	refused(ACTIONS(ACTION_CONF(RAW_ENCAP, &small)), "33 bytes: headers from Ethernet");
	refused(ACTIONS(ACTION_CONF(RAW_ENCAP, &large)), "129 bytes: headers from Ethernet");
	refused(ACTIONS(ACTION_CONF(RAW_DECAP, &l2)), "with raw_encap behind it");
	refused(ACTIONS(ACTION_CONF(RAW_DECAP, &tunnel), ACTION_CONF(RAW_ENCAP, &raw)), "Ethernet header of 14 or 18");
	refused(ACTIONS(ACTION_CONF(VXLAN_ENCAP, &no_ip)), "a header of the definition is missing");
	refused(ACTIONS(ACTION_CONF(VXLAN_ENCAP, &two_ip)), "item IPV4 of the definition");
	refused(ACTIONS(ACTION_CONF(RAW_ENCAP, &raw), ACTION(DROP)), "a flow that drops changes no packets");
	refused(ACTIONS(ACTION_CONF(OF_PUSH_VLAN, &other)), "ethertype 0x9100");
	refused(ACTIONS(ACTION_CONF(OF_SET_VLAN_PCP, &pcp)), "in a tag that of_push_vlan adds");
	refused(ACTIONS(ACTION_CONF(OF_PUSH_VLAN, &push), ACTION_CONF(OF_SET_VLAN_PCP, &pcp_8)), "priority 8");
	refused(ACTIONS(ACTION_CONF(OF_SET_VLAN_VID, &vid)), "the pattern has no item vlan");
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
	flow_senders();
	if (!changes())
		return;
	life();
	groups();
	tunnels();
	tunnels_ipv6();
	tags();
	tag_of_pattern();
	templates();
	mistakes();
	dump();
}
