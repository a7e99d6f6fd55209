/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: each flow's effect on packets, and flows of a port that is stopped and started. */

#include <rte_thash.h>

#include "test_flow.h"

#define NO_QUEUE (-1)
/* Of a marker, which no flow of this test matches. */
#define MARKER_TYPE 0x88b6

static struct rte_flow_error error;
static const struct rte_flow_attr group0 = { .ingress = 1 };

struct rte_flow *
flow_create(const struct rte_flow_attr *attr, const struct rte_flow_item *items, const struct rte_flow_action *actions)
{
	struct rte_flow *flow;

	memset(&error, 0, sizeof(error));
	CHECK_OK(rte_flow_validate(PORT_A, attr, items, actions, &error));
	flow = rte_flow_create(PORT_A, attr, items, actions, &error);
	CHECK(flow != NULL, "%s", error.message != NULL ? error.message : "no message");
	return flow;
}

void
flow_destroy(struct rte_flow *flow)
{
	if (flow != NULL)
		CHECK_OK(rte_flow_destroy(PORT_A, flow, &error));
}

static struct pmd_frame
udp_to(uint16_t port)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);

	f.dst_port = port;
	f.bytes = 80;
	return f;
}

struct flow_arrived flow_arrived;

/* Polls all queues once. Sets *queue if the frame comes; true: the marker came. */
static bool
poll_queues(int *queue)
{
	struct rte_mbuf *m;
	bool marker = false;

	for (uint16_t q = 0; q < QUEUES; q++) {
		while (rte_eth_rx_burst(PORT_A, q, &m, 1) == 1) {
			const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

			if (eth->ether_type == RTE_BE16(MARKER_TYPE)) {
				marker = true;
			} else if (eth->dst_addr.addr_bytes[0] != 0x33) { /* IPv6 multicast of a kernel. */
				CHECK_EQ(*queue, NO_QUEUE);
				*queue = q;
				flow_arrived.flags = m->ol_flags;
				flow_arrived.mark = m->hash.fdir.hi;
				flow_arrived.hash = m->hash.rss;
			}
			rte_pktmbuf_free(m);
		}
	}
	return marker;
}

/* The queue of PORT_A at which the frame arrives that PORT_B has sent. */
static int
queue_of_sent(void)
{
	struct pmd_frame marker = pmd_frame_udp(PORT_B, PORT_A, 1);
	int queue = NO_QUEUE;

	marker.ether_type = MARKER_TYPE;
	marker.bytes = 60;
	memset(&flow_arrived, 0, sizeof(flow_arrived));
	CHECK_EQ(pmd_send(PORT_B, 0, &marker), 1);
	CHECK(AWAIT(poll_queues(&queue), 5000), "no marker");
	(void)poll_queues(&queue); /* The marker may have come after the frame's queue was polled. */
	return queue;
}

static int
queue_of(const struct pmd_frame *frame)
{
	CHECK_EQ(pmd_send(PORT_B, 0, frame), 1);
	return queue_of_sent();
}

int
flow_queue_of(const uint8_t *frame, uint16_t bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pmd_pool);

	CHECK(m != NULL);
	if (m == NULL)
		return NO_QUEUE;
	memcpy(rte_pktmbuf_append(m, bytes), frame, bytes);
	CHECK(AWAIT(rte_eth_tx_burst(PORT_B, 0, &m, 1) == 1, 1000));
	return queue_of_sent();
}

int
flow_queue_of_udp(uint16_t port)
{
	const struct pmd_frame f = udp_to(port);

	return queue_of(&f);
}

/* Without flows all packets go to queue 0; RSS makes the ports deliver hashes. */
static void
ports_up(void)
{
	const struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = TX_QUEUES, .rss_hf = RTE_ETH_RSS_IPV6 };
	struct rte_eth_rss_reta_entry64 reta[512 / RTE_ETH_RETA_GROUP_SIZE] = { { 0 } };
	struct rte_eth_dev_info info;

	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	REQUIRE(info.reta_size <= RTE_DIM(reta) * RTE_ETH_RETA_GROUP_SIZE);
	for (unsigned int i = 0; i < RTE_DIM(reta); i++)
		reta[i].mask = UINT64_MAX;
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, reta, info.reta_size));
}

/* ------------------------------------------------------------------ matches */

/* A pattern, and how a frame must differ from the usual one to match it, or not. */
struct match_case {
	const char *name;
	const struct rte_flow_item *items;
	void (*hit)(struct pmd_frame *f);
	void (*miss)(struct pmd_frame *f);
};

#define EDIT(name, ...) static void name(struct pmd_frame *f) { __VA_ARGS__; }
EDIT(same, (void)f)
EDIT(other_dst, f->dst.addr_bytes[5] ^= 0x40; f->dst.addr_bytes[0] = 2)
EDIT(other_src, f->src.addr_bytes[5] ^= 0x40)
EDIT(arp, f->ether_type = RTE_ETHER_TYPE_ARP)
EDIT(tagged_7, f->vlan = 7)
EDIT(tagged_arp, f->vlan = 7; f->ether_type = RTE_ETHER_TYPE_ARP)
EDIT(tagged_8, f->vlan = 8)
EDIT(tagged_7_prio, f->vlan = 7 | 3 << 13)
EDIT(ipv6, f->ether_type = RTE_ETHER_TYPE_IPV6; f->bytes = 100)
EDIT(other_dst_ip, f->dst_ip ^= 0x100)
EDIT(other_src_ip, f->src_ip ^= 0x100)
EDIT(ipv6_other_ip, ipv6(f); f->dst_ip ^= 1)
EDIT(tcp, f->proto = IPPROTO_TCP)
EDIT(sctp, f->proto = IPPROTO_SCTP)
EDIT(fragment, f->fragment = true)
EDIT(tcp_other_port, tcp(f); f->dst_port++)
EDIT(other_dst_port, f->dst_port++)
EDIT(other_src_port, f->src_port++)
EDIT(ipv6_tcp, ipv6(f); tcp(f))

static const struct rte_flow_item_eth eth_arp = { .hdr.ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP) };
static const struct rte_flow_item_eth eth_type_mask = { .hdr.ether_type = RTE_BE16(0xffff) };
static const struct rte_flow_item_eth eth_arp_vlan = { .hdr.ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP), .has_vlan = 1 };
static const struct rte_flow_item_eth eth_type_vlan_mask = { .hdr.ether_type = RTE_BE16(0xffff), .has_vlan = 1 };
static const struct rte_flow_item_eth eth_has_vlan = { .has_vlan = 1 }, eth_no_vlan;
static struct rte_flow_item_eth eth_dst, eth_src;
static const struct rte_flow_item_eth eth_dst_mask = { .hdr.dst_addr.addr_bytes = { [0 ... 5] = 0xff } };
static const struct rte_flow_item_eth eth_src_mask = { .hdr.src_addr.addr_bytes = { [0 ... 5] = 0xff } };
static const struct rte_flow_item_vlan vlan_7 = { .hdr.vlan_tci = RTE_BE16(7) };
static const struct rte_flow_item_vlan vlan_7_3 = { .hdr.vlan_tci = RTE_BE16(7 | 3 << 13) };
static const struct rte_flow_item_vlan vlan_tci_mask = { .hdr.vlan_tci = RTE_BE16(0xffff) };
static const struct rte_flow_item_vlan vlan_ipv4 = { .hdr.eth_proto = RTE_BE16(RTE_ETHER_TYPE_IPV4) };
static const struct rte_flow_item_vlan vlan_type_mask = { .hdr.eth_proto = RTE_BE16(0xffff) };
static struct rte_flow_item_ipv4 ip_dst, ip_src;
static const struct rte_flow_item_ipv4 ip_dst_mask = { .hdr.dst_addr = RTE_BE32(0xffffff00) };
static const struct rte_flow_item_ipv4 ip_src_mask = { .hdr.src_addr = RTE_BE32(0xffffffff) };
static const struct rte_flow_item_ipv4 ip_tcp = { .hdr.next_proto_id = IPPROTO_TCP };
static const struct rte_flow_item_ipv4 ip_proto_mask = { .hdr.next_proto_id = 0xff };
static const struct rte_flow_item_ipv4 ip_ttl = { .hdr.time_to_live = 64 }, ip_ttl_mask = { .hdr.time_to_live = 0xff };
static const struct rte_flow_item_ipv4 ip_whole, ip_frag_mask = { .hdr.fragment_offset = RTE_BE16(0x3fff) };
static const struct rte_flow_item_ipv4 ip_frag_first = { .hdr.fragment_offset = RTE_BE16(1) };
static struct rte_flow_item_ipv6 ip6_dst, ip6_dst_mask;
static const struct rte_flow_item_ipv6 ip6_ttl = { .hdr.hop_limits = 64 }, ip6_ttl_mask = { .hdr.hop_limits = 0xff };
static const struct rte_flow_item_udp udp_src = { .hdr.src_port = RTE_BE16(1001) };
static const struct rte_flow_item_udp udp_src_mask = { .hdr.src_port = RTE_BE16(0xffff) };
static const struct rte_flow_item_tcp tcp_dst = { .hdr.dst_port = RTE_BE16(4000) };
static const struct rte_flow_item_tcp tcp_dst_mask = { .hdr.dst_port = RTE_BE16(0xffff) };
static const struct rte_flow_item_port_id other_port = { .id = PORT_B };
static const struct rte_flow_item frag_range[] = {
	ITEM(ETH),
	{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip_frag_first, .last = &ip_frag_mask, .mask = &ip_frag_mask },
	{ .type = RTE_FLOW_ITEM_TYPE_END },
};

/* Of frames to UDP port 4000. */
static const struct match_case match_cases[] = {
	{ "eth dst", ITEMS(ITEM_SPEC(ETH, &eth_dst, &eth_dst_mask)), same, NULL },
	{ "eth src", ITEMS(ITEM_SPEC(ETH, &eth_src, &eth_src_mask)), same, other_src },
	{ "eth type", ITEMS(ITEM_SPEC(ETH, &eth_arp, &eth_type_mask)), arp, same },
	{ "eth type untagged", ITEMS(ITEM_SPEC(ETH, &eth_arp, &eth_type_mask)), arp, tagged_arp },
	{ "eth type tagged", ITEMS(ITEM_SPEC(ETH, &eth_arp_vlan, &eth_type_vlan_mask)), tagged_arp, arp },
	{ "eth has_vlan", ITEMS(ITEM_SPEC(ETH, &eth_has_vlan, &eth_has_vlan)), tagged_7, same },
	{ "eth no vlan", ITEMS(ITEM_SPEC(ETH, &eth_no_vlan, &eth_has_vlan)), same, tagged_7 },
	{ "vlan", ITEMS(ITEM(ETH), ITEM(VLAN)), tagged_7, same },
	{ "vlan vid", ITEMS(ITEM(ETH), ITEM_SPEC(VLAN, &vlan_7, NULL)), tagged_7_prio, tagged_8 },
	{ "vlan tci", ITEMS(ITEM(ETH), ITEM_SPEC(VLAN, &vlan_7_3, &vlan_tci_mask)), tagged_7_prio, tagged_7 },
	{ "vlan type", ITEMS(ITEM(ETH), ITEM_SPEC(VLAN, &vlan_ipv4, &vlan_type_mask)), tagged_7, ipv6 },
	{ "vlan / ipv4 / udp", ITEMS(ITEM(ETH), ITEM_SPEC(VLAN, &vlan_7, NULL), ITEM(IPV4), UDP_TO(4000)),
	  tagged_7, same },
	{ "ipv4", ITEMS(ITEM(ETH), ITEM(IPV4)), same, ipv6 },
	{ "ipv4 alone", ITEMS(ITEM(IPV4)), same, ipv6 },
	{ "ipv4 dst", ITEMS(ITEM(ETH), ITEM_SPEC(IPV4, &ip_dst, &ip_dst_mask)), same, other_dst_ip },
	{ "ipv4 src", ITEMS(ITEM(ETH), ITEM_SPEC(IPV4, &ip_src, &ip_src_mask)), same, other_src_ip },
	{ "ipv4 proto", ITEMS(ITEM(ETH), ITEM_SPEC(IPV4, &ip_tcp, &ip_proto_mask)), tcp, same },
	{ "ipv4 ttl", ITEMS(ITEM(ETH), ITEM_SPEC(IPV4, &ip_ttl, &ip_ttl_mask)), same, ipv6 },
	{ "ipv4 whole", ITEMS(ITEM(ETH), ITEM_SPEC(IPV4, &ip_whole, &ip_frag_mask)), same, fragment },
	{ "ipv4 fragment", frag_range, fragment, same },
	{ "ipv6", ITEMS(ITEM(ETH), ITEM(IPV6)), ipv6, same },
	{ "ipv6 dst", ITEMS(ITEM(ETH), ITEM_SPEC(IPV6, &ip6_dst, &ip6_dst_mask)), ipv6, ipv6_other_ip },
	{ "ipv6 hop", ITEMS(ITEM(ETH), ITEM_SPEC(IPV6, &ip6_ttl, &ip6_ttl_mask)), ipv6, same },
	{ "udp", ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), same, tcp },
	{ "udp dst", ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(4000)), same, other_dst_port },
	{ "udp alone", ITEMS(UDP_TO(4000)), ipv6, tcp },
	{ "udp src", ITEMS(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &udp_src, &udp_src_mask)), same,
	  other_src_port },
	{ "tcp dst", ITEMS(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(TCP, &tcp_dst, &tcp_dst_mask)), tcp,
	  tcp_other_port },
	{ "ipv6 tcp", ITEMS(ITEM(ETH), ITEM(IPV6), ITEM(TCP)), ipv6_tcp, tcp },
	{ "sctp", ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(SCTP)), sctp, same },
	{ "port_id", ITEMS(PORT_ID(PORT_A), ITEM(ETH), ITEM(IPV4)), same, ipv6 },
	{ "port_id under no bits", ITEMS(ITEM_SPEC(PORT_ID, &other_port, &(const struct rte_flow_item_port_id){ 0 }),
					 ITEM(IPV4)), same, ipv6 },
	{ "void", ITEMS(ITEM(VOID), ITEM(ETH), ITEM(VOID), ITEM(IPV4)), same, ipv6 },
};

static void
matches(void)
{
	struct pmd_frame f = udp_to(4000);
	const uint32_t dst = rte_cpu_to_be_32(f.dst_ip);

	eth_dst.hdr.dst_addr = f.dst;
	eth_src.hdr.src_addr = f.src;
	ip_dst.hdr.dst_addr = dst & RTE_BE32(0xffffff00);
	ip_src.hdr.src_addr = rte_cpu_to_be_32(f.src_ip);
	((uint8_t *)&ip6_dst.hdr.dst_addr)[0] = 0xfd;
	memcpy((uint8_t *)&ip6_dst.hdr.dst_addr + 12, &dst, sizeof(dst));
	memset(&ip6_dst_mask.hdr.dst_addr, 0xff, sizeof(ip6_dst_mask.hdr.dst_addr));
	for (unsigned int group = 0; group < 2; group++) {
		/* The same in the root, and in a group to which it leads. */
		const struct rte_flow_attr in = { .ingress = 1, .group = group * 9 };
		struct rte_flow *lead = NULL, *rest = NULL, *flow;

		if (group != 0) {
			lead = flow_create(&group0, ITEMS(ITEM(ETH)), ACTIONS(JUMP(9)));
			rest = flow_create(&(struct rte_flow_attr){ .ingress = 1, .group = 9, .priority = 1000 },
					   ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(0)));
		}
		for (unsigned int i = 0; i < RTE_DIM(match_cases); i++) {
			flow = flow_create(&in, match_cases[i].items, ACTIONS(TO_QUEUE(3)));
			f = udp_to(4000);
			match_cases[i].hit(&f);
			CHECK(queue_of(&f) == 3, "%s, group %u: does not match", match_cases[i].name, in.group);
			if (match_cases[i].miss != NULL) {
				f = udp_to(4000);
				match_cases[i].miss(&f);
				CHECK(queue_of(&f) == 0, "%s, group %u: matches", match_cases[i].name, in.group);
			}
			flow_destroy(flow);
			f = udp_to(4000);
			match_cases[i].hit(&f);
			CHECK(queue_of(&f) == 0, "%s, group %u: matches when it is destroyed", match_cases[i].name, in.group);
		}
		flow_destroy(rest);
		flow_destroy(lead);
	}
	/* A frame that the port's own rules do not take. */
	f = udp_to(4000);
	other_dst(&f);
	CHECK_EQ(queue_of(&f), NO_QUEUE);
	flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(TO_QUEUE(2)));
	CHECK_EQ(queue_of(&f), 2);
	CHECK_OK(rte_flow_flush(PORT_A, &error));
	CHECK_EQ(queue_of(&f), NO_QUEUE);
}

/* The port's own multicast rules exist when the flow is created, which yet comes first. */
static void
multicast(void)
{
	static const struct rte_flow_item_eth all = { .hdr.dst_addr.addr_bytes = { [0 ... 5] = 0xff } };
	struct pmd_frame f = udp_to(4000);
	struct rte_flow *flow;

	for (unsigned int promiscuous = 0; promiscuous < 2; promiscuous++) {
		if (promiscuous)
			CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
		f = udp_to(4000);
		f.dst = all.hdr.dst_addr;
		CHECK_EQ(queue_of(&f), 0);
		flow = flow_create(&group0, ITEMS(ITEM_SPEC(ETH, &all, &eth_dst_mask)), ACTIONS(TO_QUEUE(3)));
		CHECK_EQ(queue_of(&f), 3);
		f.ether_type = RTE_ETHER_TYPE_ARP;
		CHECK_EQ(queue_of(&f), 3);
		f.dst.addr_bytes[0] = 0x01;
		CHECK_EQ(queue_of(&f), promiscuous ? 0 : NO_QUEUE);
		f = udp_to(4000);
		CHECK_EQ(queue_of(&f), 0);
		f.dst.addr_bytes[0] = 0x02;
		CHECK_EQ(queue_of(&f), promiscuous ? 0 : NO_QUEUE);
		flow_destroy(flow);
		f.dst = all.hdr.dst_addr;
		CHECK_EQ(queue_of(&f), 0);
	}
	/* The mode changes while there is such a flow. */
	flow = flow_create(&group0, ITEMS(ITEM_SPEC(ETH, &all, &eth_dst_mask)), ACTIONS(TO_QUEUE(3)));
	CHECK_OK(rte_eth_promiscuous_disable(PORT_A));
	CHECK_EQ(queue_of(&f), 3);
	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	CHECK_EQ(queue_of(&f), 3);
	CHECK_OK(rte_eth_promiscuous_disable(PORT_A));
	flow_destroy(flow);
}

/* ------------------------------------------------------------------ actions */

static uint64_t
hits(struct rte_flow *flow, bool reset, uint64_t *bytes)
{
	struct rte_flow_query_count count = { .reset = reset };

	CHECK_OK(rte_flow_query(PORT_A, flow, ACTIONS(ACTION(COUNT)), &count, &error));
	CHECK(count.hits_set && count.bytes_set);
	*bytes = count.bytes;
	return count.hits;
}

static void
targets(void)
{
	const struct pmd_frame f = udp_to(4000), other = udp_to(4001);
	struct rte_flow *flow = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(ACTION(COUNT), ACTION(DROP)));
	uint64_t bytes;

	CHECK_EQ(queue_of(&f), NO_QUEUE);
	CHECK_EQ(queue_of(&other), 0);
	CHECK_EQ(hits(flow, false, &bytes), 1);
	CHECK_EQ(bytes, f.bytes);
	CHECK_EQ(queue_of(&f), NO_QUEUE);
	CHECK_EQ(hits(flow, true, &bytes), 2);
	CHECK_EQ(hits(flow, false, &bytes), 0);
	CHECK_EQ(bytes, 0);
	flow_destroy(flow);
	if (!pmd_devarg(PORT_A, "open=vfio")) {
		flow = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(ACTION(SEND_TO_KERNEL), ACTION(COUNT)));
		CHECK_EQ(queue_of(&f), NO_QUEUE);
		CHECK_EQ(hits(flow, false, &bytes), 1);
		flow_destroy(flow);
	}
	CHECK_EQ(queue_of(&f), 0);
}

static void
marks(void)
{
	static const uint32_t ids[] = { 0, 1, 0x123456, 0xfffffc };
	const uint64_t both = RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
	const struct pmd_frame f = udp_to(4000), other = udp_to(4001);
	struct rte_flow *flow, *lead;

	for (unsigned int i = 0; i < RTE_DIM(ids); i++) {
		flow = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(MARK(ids[i]), TO_QUEUE(1)));
		CHECK_EQ(queue_of(&f), 1);
		CHECK_EQ(flow_arrived.flags & both, both);
		CHECK_EQ(flow_arrived.mark, ids[i]);
		CHECK_EQ(queue_of(&other), 0);
		CHECK_EQ(flow_arrived.flags & both, 0);
		flow_destroy(flow);
	}
	flow = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(ACTION(FLAG), TO_QUEUE(1)));
	CHECK_EQ(queue_of(&f), 1);
	CHECK_EQ(flow_arrived.flags & both, RTE_MBUF_F_RX_FDIR);
	flow_destroy(flow);
	/* Given on the way. */
	lead = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(MARK(77), JUMP(3)));
	flow = flow_create(&(struct rte_flow_attr){ .ingress = 1, .group = 3 }, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(2)));
	CHECK_EQ(queue_of(&f), 2);
	CHECK_EQ(flow_arrived.mark, 77);
	flow_destroy(flow);
	flow_destroy(lead);
}

/* In each group: a lower priority first, whatever the order of creation; equal ones by the depth of their headers. */
static void
priorities(void)
{
	const struct pmd_frame f = udp_to(4000);

	for (uint32_t group = 0; group <= 5; group += 5) {
		struct rte_flow_attr attr = { .ingress = 1, .group = group };
		struct rte_flow *flow[3], *lead = NULL;

		if (group != 0)
			lead = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(JUMP(5)));
		for (unsigned int turn = 0; turn < 2; turn++) {
			attr.priority = turn;
			flow[turn] = flow_create(&attr, ITEMS(UDP_TO(4000)), ACTIONS(TO_QUEUE(1 + turn)));
			attr.priority = 1 - turn;
			flow[1 - turn] = flow_create(&attr, ITEMS(UDP_TO(4000)), ACTIONS(TO_QUEUE(2 - turn)));
			CHECK_EQ(queue_of(&f), 1);
			flow_destroy(flow[0]);
			CHECK_EQ(queue_of(&f), 2);
			flow_destroy(flow[1]);
		}
		attr.priority = 0;
		flow[0] = flow_create(&attr, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(1)));
		flow[1] = flow_create(&attr, ITEMS(ITEM(ETH), ITEM(IPV4)), ACTIONS(TO_QUEUE(2)));
		CHECK_EQ(queue_of(&f), 2);
		flow[2] = flow_create(&attr, ITEMS(UDP_TO(4000)), ACTIONS(TO_QUEUE(3)));
		CHECK_EQ(queue_of(&f), 3);
		for (unsigned int i = 0; i < RTE_DIM(flow); i++)
			flow_destroy(flow[i]);
		flow_destroy(lead);
	}
}

/* ------------------------------------------------------------------ RSS */

static void
swap(struct pmd_frame *f)
{
	const uint32_t ip = f->src_ip;
	const uint16_t port = f->src_port;

	f->src_ip = f->dst_ip;
	f->dst_ip = ip;
	f->src_port = f->dst_port;
	f->dst_port = port;
}

/* The hash is that by the key of the action, or of the port. */
static void
rss_key(const uint8_t *own, const uint8_t *used)
{
	static const uint16_t queues[] = { 1, 2 };
	const struct rte_flow_action_rss conf = { .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue = queues,
						  .queue_num = 2, .key = own, .key_len = own != NULL ? 40 : 0 };
	struct rte_flow *flow = flow_create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4)), ACTIONS(ACTION_CONF(RSS, &conf)));
	const struct pmd_frame f = udp_to(4000);
	uint32_t tuple[] = { f.src_ip, f.dst_ip, (uint32_t)f.src_port << 16 | f.dst_port };
	uint32_t hash = rte_softrss(tuple, RTE_DIM(tuple), used);

	CHECK_EQ(queue_of(&f), queues[hash % 2]);
	CHECK_EQ(flow_arrived.hash, hash);
	flow_destroy(flow);
}

static void
rss(void)
{
	static const uint16_t queues[] = { 1, 3, 2 };
	struct rte_flow_action_rss conf = { .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue_num = 3, .queue = queues };
	unsigned int count[QUEUES] = { 0 }, used = 0;
	struct pmd_frame f = udp_to(4000);
	struct rte_flow *flow = flow_create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4)), ACTIONS(ACTION_CONF(RSS, &conf)));
	int queue;

	for (uint16_t i = 0; i < 96; i++) {
		f.src_port = 2000 + i;
		queue = queue_of(&f);
		REQUIRE(queue > 0);
		CHECK(flow_arrived.flags & RTE_MBUF_F_RX_RSS_HASH);
		count[queue]++;
	}
	for (unsigned int i = 1; i < QUEUES; i++)
		used += count[i] > 12;
	CHECK(used == 3, "%u %u %u", count[1], count[2], count[3]);
	/* Others of the pattern: the first queue. Others than that: as without the flow. */
	f = udp_to(4000);
	f.proto = IPPROTO_TCP;
	CHECK_EQ(queue_of(&f), 1);
	f = udp_to(4000);
	f.fragment = true;
	CHECK_EQ(queue_of(&f), 1);
	f = udp_to(4000);
	ipv6(&f);
	CHECK_EQ(queue_of(&f), 0);
	flow_destroy(flow);
	CHECK_EQ(queue_of(&f), 0);
	/* A symmetric hash is the same in both directions. */
	conf.func = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ;
	flow = flow_create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), ACTIONS(ACTION_CONF(RSS, &conf)));
	for (uint16_t i = 0; i < 16; i++) {
		f = udp_to(4000);
		f.src_port = 100 * i;
		queue = queue_of(&f);
		swap(&f);
		CHECK_EQ(queue_of(&f), queue);
	}
	flow_destroy(flow);
}

static void
indirect(void)
{
	static const struct rte_flow_indir_action_conf ingress = { .ingress = 1 };
	static const uint16_t queues[] = { 2 };
	const struct rte_flow_action_rss conf = { .queue_num = 1, .queue = queues };
	const struct rte_flow_action rss_action = ACTION_CONF(RSS, &conf), count_action = ACTION(COUNT);
	struct rte_flow_action_handle *to, *counter;
	struct rte_flow_query_count count = { 0 };
	struct pmd_frame f = udp_to(4000);
	struct rte_flow *flow[2];

	to = rte_flow_action_handle_create(PORT_A, &ingress, &rss_action, &error);
	counter = rte_flow_action_handle_create(PORT_A, &ingress, &count_action, &error);
	REQUIRE(to != NULL && counter != NULL);
	for (uint16_t i = 0; i < 2; i++) {
		const struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(4000 + i) };
		const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };

		flow[i] = flow_create(&group0, ITEMS(ITEM_SPEC(UDP, &udp, &mask)),
				      ACTIONS(ACTION_CONF(INDIRECT, counter), ACTION_CONF(INDIRECT, to)));
		f = udp_to(4000 + i);
		CHECK_EQ(queue_of(&f), 2);
	}
	CHECK_EQ(rte_flow_action_handle_destroy(PORT_A, counter, &error), -EBUSY);
	CHECK_OK(rte_flow_action_handle_query(PORT_A, counter, &count, &error));
	CHECK_EQ(count.hits, 2);
	CHECK(rte_flow_action_handle_query(PORT_A, to, &count, &error) < 0);
	flow_destroy(flow[0]);
	flow_destroy(flow[1]);
	CHECK_OK(rte_flow_action_handle_destroy(PORT_A, counter, &error));
	CHECK_OK(rte_flow_action_handle_destroy(PORT_A, to, &error));
}

/* ------------------------------------------------------------------ ageing */

static _Atomic unsigned int aged_events;

static int
on_aged(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	CHECK(port == PORT_A && type == RTE_ETH_EVENT_FLOW_AGED);
	aged_events++;
	return 0;
}

/* A flow ages after its time without packets, which is reported once; packets keep one young that has no context. */
static void
ageing(void)
{
	static int old;
	static const struct rte_flow_action_age one = { .timeout = 1, .context = &old };
	static const struct rte_flow_action_age two = { .timeout = 2 };
	const struct pmd_frame f = udp_to(4001);
	struct rte_flow_query_age query;
	struct rte_flow *flow[2];
	void *contexts[4];

	CHECK_OK(rte_eth_dev_callback_register(PORT_A, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL));
	flow[0] = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(ACTION_CONF(AGE, &one), ACTION(DROP)));
	flow[1] = flow_create(&group0, ITEMS(UDP_TO(4001)), ACTIONS(ACTION_CONF(AGE, &two), TO_QUEUE(1)));
	CHECK_EQ(rte_flow_get_aged_flows(PORT_A, contexts, RTE_DIM(contexts), &error), 0);
	CHECK(AWAIT(queue_of(&f) == 1 && aged_events != 0, 10000), "no event");
	CHECK_EQ(rte_flow_get_aged_flows(PORT_A, NULL, 0, &error), 1);
	CHECK_EQ(rte_flow_get_aged_flows(PORT_A, contexts, RTE_DIM(contexts), &error), 1);
	CHECK(contexts[0] == &old);
	CHECK_EQ(rte_flow_get_aged_flows(PORT_A, contexts, RTE_DIM(contexts), &error), 0);
	CHECK_OK(rte_flow_query(PORT_A, flow[0], ACTIONS(ACTION(AGE)), &query, &error));
	CHECK(query.aged && query.sec_since_last_hit_valid && query.sec_since_last_hit >= 1);
	CHECK_OK(rte_flow_query(PORT_A, flow[1], ACTIONS(ACTION(AGE)), &query, &error));
	CHECK(!query.aged && query.sec_since_last_hit <= 2);
	CHECK(AWAIT(aged_events == 2, 10000), "%u events", aged_events);
	CHECK_EQ(rte_flow_get_aged_flows(PORT_A, contexts, RTE_DIM(contexts), &error), 1);
	CHECK(contexts[0] == flow[1]);
	CHECK(rte_flow_query(PORT_A, flow[0], ACTIONS(ACTION(QUEUE)), &query, &error) == -ENOTSUP);
	flow_destroy(flow[0]);
	flow_destroy(flow[1]);
	CHECK_OK(rte_eth_dev_callback_unregister(PORT_A, RTE_ETH_EVENT_FLOW_AGED, on_aged, NULL));
}

/* ------------------------------------------------------------------ the port */

/* Flows and their counters are kept; flows that are created while the port is stopped work when it is started. */
static void
restart(void)
{
	const struct pmd_frame f = udp_to(4000), other = udp_to(4001);
	struct rte_flow *flow = flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(ACTION(COUNT), TO_QUEUE(3)));
	struct rte_flow *lead, *inner;
	uint64_t bytes;

	CHECK_EQ(queue_of(&f), 3);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	lead = flow_create(&group0, ITEMS(UDP_TO(4001)), ACTIONS(JUMP(2)));
	inner = flow_create(&(struct rte_flow_attr){ .ingress = 1, .group = 2 }, ITEMS(ITEM(ETH)),
			    ACTIONS(MARK(5), TO_QUEUE(1)));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(queue_of(&f), 3);
	CHECK_EQ(hits(flow, false, &bytes), 2);
	CHECK_EQ(queue_of(&other), 1);
	CHECK_EQ(flow_arrived.mark, 5);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	flow_destroy(inner);
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(queue_of(&other), NO_QUEUE);
	flow_destroy(lead);
	flow_destroy(flow);
	CHECK_EQ(queue_of(&other), 0);
}

/* Only flows receive; set before the start only. */
static void
isolated(void)
{
	const struct pmd_frame f = udp_to(4000);
	struct rte_mbuf *m;

	CHECK_EQ(rte_flow_isolate(PORT_A, 1, &error), -EBUSY);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_flow_isolate(PORT_A, 1, &error));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(pmd_send(PORT_B, 0, &f), 1);
	CHECK_EQ(pmd_recv(PORT_A, 0, &m, 1, 200), 0);
	flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(TO_QUEUE(1)));
	CHECK_EQ(pmd_send(PORT_B, 0, &f), 1);
	REQUIRE(pmd_recv(PORT_A, 1, &m, 1, 5000) == 1);
	rte_pktmbuf_free(m);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_flow_isolate(PORT_A, 0, &error));
	CHECK_OK(rte_flow_flush(PORT_A, &error));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(queue_of(&f), 0);
}

/* The dump names what a flow matches and does. */
static void
dump(void)
{
	static const struct rte_flow_attr attr = { .ingress = 1, .group = 4, .priority = 7 };
	struct rte_flow *flow = flow_create(&attr, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(4000)),
					    ACTIONS(MARK(1), TO_QUEUE(3)));
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	CHECK_OK(rte_flow_dev_dump(PORT_A, NULL, file, &error));
	fclose(file);
	CHECK(strstr(text, "group 4 priority 7 match outer_headers.ip_protocol=0x11/0xff") != NULL, "%s", text);
	CHECK(strstr(text, "outer_headers.udp_dport=0xfa0/0xffff action queues 3 tag 0x2") != NULL, "%s", text);
	free(text);
	flow_destroy(flow);
}

int
main(int argc, char **argv)
{
	const bool other = strcmp(argv[argc - 1], "other") == 0;
	uint8_t key[40];
	struct rte_eth_rss_conf port = { .rss_key = key, .rss_key_len = sizeof(key) };

	pmd_init(argc, argv);
	flow_negotiate();
	ports_up();
	matches();
	multicast();
	targets();
	marks();
	priorities();
	flow_groups(!other);
	rss();
	CHECK_OK(rte_eth_dev_rss_hash_conf_get(PORT_A, &port));
	rss_key(NULL, key);
	key[3] ^= 0x55;
	rss_key(key, key);
	indirect();
	ageing();
	restart();
	isolated();
	flow_tunnels(other);
	flow_refusals();
	flow_modify(!other);
	dump();
	flow_async();
	/* Closing the port destroys what is left. */
	flow_create(&group0, ITEMS(UDP_TO(4000)), ACTIONS(ACTION(COUNT), JUMP(1)));
	flow_create(&(struct rte_flow_attr){ .ingress = 1, .group = 1 }, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(1)));
	pmd_ports_down();
	return pmd_fini();
}
