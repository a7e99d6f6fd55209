/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: items of tunnels and of other headers on IP, and headers inside tunnels. */

#include "test_flow.h"

#define INNER_DST "\x02\x00\x00\x00\x00\x11"
#define INNER_SRC "\x02\x00\x00\x00\x00\x12"

/* What a frame has behind its outer IPv4 header. */
struct frame {
	uint8_t proto;
	uint16_t udp_port;	/* With UDP: the destination. */
	const char *header;	/* Of the tunnel, or of what else is on IP. */
	uint8_t header_bytes;
	bool inner;		/* Ethernet, IPv4 and UDP follow: from 192.0.2.1 port 5000 to 192.0.2.2 port 6000. */
};

struct tunnel_case {
	const char *name;
	const struct rte_flow_item *items;
	struct frame hit, miss;
};

#define UDP(port, header, inner) { IPPROTO_UDP, port, header, sizeof(header) - 1, inner }
#define IP(proto, header, inner) { proto, 0, header, sizeof(header) - 1, inner }
#define VXLAN(vni) UDP(4789, "\x08\0\0\0" vni "\0", true)
#define GENEVE(opt_len, vni) UDP(6081, opt_len "\0\x65\x58" vni "\0", true)

static const struct rte_flow_item_vxlan vxlan_5 = { .hdr.vx_vni = RTE_BE32(5 << 8) };
static const struct rte_flow_item_vxlan vxlan_mask = { .hdr.vx_vni = RTE_BE32(0xffffff00) };
static const struct rte_flow_item_vxlan_gpe gpe_5 = { .vni = { 0, 0, 5 } };
static const struct rte_flow_item_geneve geneve_5 = { .vni = { 0, 0, 5 } };
static const struct rte_flow_item_geneve geneve_teb = { .protocol = RTE_BE16(0x6558) };
static const struct rte_flow_item_geneve geneve_type = { .protocol = RTE_BE16(0xffff) };
static const struct rte_flow_item_geneve geneve_opt = { .ver_opt_len_o_c_rsvd0 = RTE_BE16(0x0100) };
static const struct rte_flow_item_geneve geneve_opt_mask = { .ver_opt_len_o_c_rsvd0 = RTE_BE16(0x3f00) };
static const struct rte_flow_item_gre gre_teb = { .protocol = RTE_BE16(0x6558) };
static const struct rte_flow_item_gre gre_keyed = { .c_rsvd0_ver = RTE_BE16(0x2000) };
static const struct rte_flow_item_gre gre_key_bit = { .c_rsvd0_ver = RTE_BE16(0x2000) };
static const rte_be32_t key_7 = RTE_BE32(7);
static const struct rte_flow_item_nvgre nvgre_5 = { .tni = { 0, 0, 5 } };
static const struct rte_flow_item_esp esp_9 = { .hdr.spi = RTE_BE32(9) };
static const struct rte_flow_item_icmp icmp_echo = { .hdr.icmp_type = 8 };
static const struct rte_flow_item_gtp gtp_3 = { .teid = RTE_BE32(3) };
static const struct rte_flow_item_eth inner_dst = { .hdr.dst_addr.addr_bytes = { 0x02, [5] = 0x11 } };
static const struct rte_flow_item_ipv4 inner_src = { .hdr.src_addr = RTE_BE32(RTE_IPV4(192, 0, 2, 1)) };
static const struct rte_flow_item_ipv4 ip_src_mask = { .hdr.src_addr = RTE_BE32(0xffffffff) };
static const struct rte_flow_item_eth eth_dst_mask = { .hdr.dst_addr.addr_bytes = { [0 ... 5] = 0xff } };

#define OUTER ITEM(ETH), ITEM(IPV4)

static const struct tunnel_case tunnel_cases[] = {
	{ "vxlan", ITEMS(OUTER, ITEM(UDP), ITEM(VXLAN)), VXLAN("\0\0\5"), UDP(4788, "\x08\0\0\0\0\0\5\0", true) },
	{ "vxlan vni", ITEMS(OUTER, ITEM(UDP), ITEM_SPEC(VXLAN, &vxlan_5, &vxlan_mask)), VXLAN("\0\0\5"),
	  VXLAN("\0\0\6") },
	{ "vxlan alone", ITEMS(ITEM_SPEC(VXLAN, &vxlan_5, &vxlan_mask)), VXLAN("\0\0\5"), VXLAN("\0\5\0") },
	{ "vxlan / eth", ITEMS(OUTER, ITEM(UDP), ITEM(VXLAN), ITEM_SPEC(ETH, &inner_dst, &eth_dst_mask)),
	  VXLAN("\0\0\5"), IP(IPPROTO_UDP, "\0\1\0\1\0\x20\0\0", false) },
	{ "vxlan / eth / ipv4 / udp", ITEMS(OUTER, ITEM(UDP), ITEM(VXLAN), ITEM(ETH),
					    ITEM_SPEC(IPV4, &inner_src, &ip_src_mask), UDP_TO(6000)),
	  VXLAN("\0\0\5"), UDP(6000, "", false) },
	{ "geneve vni", ITEMS(OUTER, ITEM(UDP), ITEM_SPEC(GENEVE, &geneve_5, NULL)), GENEVE("\0", "\0\0\5"),
	  GENEVE("\0", "\0\0\6") },
	{ "geneve protocol", ITEMS(OUTER, ITEM(UDP), ITEM_SPEC(GENEVE, &geneve_teb, &geneve_type)),
	  GENEVE("\0", "\0\0\5"), UDP(6081, "\0\0\x08\0\0\0\5\0", false) },
	{ "geneve opt_len", ITEMS(OUTER, ITEM(UDP), ITEM_SPEC(GENEVE, &geneve_opt, &geneve_opt_mask)),
	  UDP(6081, "\1\0\x65\x58\0\0\5\0\0\0\0\0", true), GENEVE("\0", "\0\0\5") },
	{ "geneve / eth", ITEMS(OUTER, ITEM(UDP), ITEM(GENEVE), ITEM_SPEC(ETH, &inner_dst, &eth_dst_mask)),
	  GENEVE("\0", "\0\0\5"), UDP(6082, "\0\0\x65\x58\0\0\5\0", true) },
	{ "gre protocol", ITEMS(OUTER, ITEM_SPEC(GRE, &gre_teb, NULL)), IP(IPPROTO_GRE, "\0\0\x65\x58", true),
	  IP(IPPROTO_GRE, "\0\0\x08\0", false) },
	{ "gre key present", ITEMS(OUTER, ITEM_SPEC(GRE, &gre_keyed, &gre_key_bit)),
	  IP(IPPROTO_GRE, "\x20\0\x65\x58\0\0\0\7", true), IP(IPPROTO_GRE, "\0\0\x65\x58", true) },
	{ "gre_key", ITEMS(OUTER, ITEM(GRE), ITEM_SPEC(GRE_KEY, &key_7, NULL)),
	  IP(IPPROTO_GRE, "\x20\0\x65\x58\0\0\0\7", true), IP(IPPROTO_GRE, "\x20\0\x65\x58\0\0\0\x8", true) },
	{ "gre / eth", ITEMS(OUTER, ITEM(GRE), ITEM_SPEC(ETH, &inner_dst, &eth_dst_mask)),
	  IP(IPPROTO_GRE, "\0\0\x65\x58", true), IP(IPPROTO_GRE, "\0\0\x08\0", false) },
	{ "nvgre tni", ITEMS(OUTER, ITEM_SPEC(NVGRE, &nvgre_5, NULL)), IP(IPPROTO_GRE, "\x20\0\x65\x58\0\0\5\0", true),
	  IP(IPPROTO_GRE, "\x20\0\x65\x58\0\0\6\0", true) },
	{ "esp spi", ITEMS(OUTER, ITEM_SPEC(ESP, &esp_9, NULL)), IP(IPPROTO_ESP, "\0\0\0\x9\0\0\0\1", false),
	  IP(IPPROTO_ESP, "\0\0\0\x8\0\0\0\1", false) },
	{ "ah", ITEMS(OUTER, ITEM(AH)), IP(IPPROTO_AH, "\x11\4\0\0\0\0\0\1\0\0\0\1", false),
	  IP(IPPROTO_ESP, "\0\0\0\x8\0\0\0\1", false) },
	{ "gtp", ITEMS(OUTER, ITEM(UDP), ITEM(GTP)), UDP(2152, "\x30\xff\0\0\0\0\0\3", false),
	  UDP(2123, "\x30\xff\0\0\0\0\0\3", false) },
	{ "ipv4 / ipv4", ITEMS(OUTER, ITEM_SPEC(IPV4, &inner_src, &ip_src_mask)),
	  IP(IPPROTO_IPIP, "\x45\0\0\x1c\0\0\0\0\x40\x11\xb6\xcf\xc0\0\2\1\xc0\0\2\2\x13\x88\x17\x70\0\x8\0\0", false),
	  IP(IPPROTO_IPIP, "\x45\0\0\x1c\0\0\0\0\x40\x11\xb6\xce\xc0\0\2\3\xc0\0\2\1\x13\x88\x17\x70\0\x8\0\0", false) },
};

/* Of cards whose firmware has the flex parsers of profile 2 or 3 (flex_parser_protocols). */
static const struct tunnel_case flex_cases[] = {
	{ "vxlan_gpe vni", ITEMS(OUTER, ITEM(UDP), ITEM_SPEC(VXLAN_GPE, &gpe_5, NULL)),
	  UDP(4790, "\x0c\0\0\3\0\0\5\0", true), UDP(4790, "\x0c\0\0\3\0\0\6\0", true) },
	{ "icmp type", ITEMS(OUTER, ITEM_SPEC(ICMP, &icmp_echo, NULL)), IP(IPPROTO_ICMP, "\x8\0\0\0\0\1\0\1", false),
	  IP(IPPROTO_ICMP, "\0\0\0\0\0\1\0\1", false) },
	{ "gtp teid", ITEMS(OUTER, ITEM(UDP), ITEM_SPEC(GTP, &gtp_3, NULL)), UDP(2152, "\x30\xff\0\0\0\0\0\3", false),
	  UDP(2152, "\x30\xff\0\0\0\0\0\4", false) },
	{ "gtpu teid", ITEMS(OUTER, ITEM(UDP), ITEM_SPEC(GTPU, &gtp_3, NULL)), UDP(2152, "\x30\xff\0\0\0\0\0\3", false),
	  UDP(2152, "\x30\xff\0\0\0\0\0\4", false) },
};

static uint8_t *
put(uint8_t *p, const void *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}

static uint8_t *
put_ip(uint8_t *p, uint8_t proto, uint32_t src, uint32_t dst, uint16_t bytes)
{
	struct rte_ipv4_hdr ip = {
		.version_ihl = 0x45, .total_length = rte_cpu_to_be_16(bytes), .time_to_live = 64,
		.next_proto_id = proto, .src_addr = rte_cpu_to_be_32(src), .dst_addr = rte_cpu_to_be_32(dst),
	};

	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	return put(p, &ip, sizeof(ip));
}

static uint8_t *
put_udp(uint8_t *p, uint16_t src, uint16_t dst, uint16_t bytes)
{
	const struct rte_udp_hdr udp = { rte_cpu_to_be_16(src), rte_cpu_to_be_16(dst), rte_cpu_to_be_16(bytes), 0 };

	return put(p, &udp, sizeof(udp));
}

#define INNER_BYTES (sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_udp_hdr))

/* Bytes of the frame. */
static uint16_t
build(uint8_t *frame, const struct frame *f)
{
	const struct pmd_frame like = pmd_frame_udp(PORT_B, PORT_A, 1);
	const uint16_t udp = f->udp_port != 0 ? sizeof(struct rte_udp_hdr) : 0;
	const uint16_t bytes = udp + f->header_bytes + (f->inner ? INNER_BYTES : 0);
	uint8_t *p = put(frame, &like.dst, sizeof(like.dst));

	p = put(p, &like.src, sizeof(like.src));
	p = put(p, "\x08\0", 2);
	p = put_ip(p, f->proto, like.src_ip, like.dst_ip, sizeof(struct rte_ipv4_hdr) + bytes);
	if (udp != 0)
		p = put_udp(p, 1000, f->udp_port, bytes);
	p = put(p, f->header, f->header_bytes);
	if (f->inner) {
		p = put(p, INNER_DST INNER_SRC "\x08\0", sizeof(struct rte_ether_hdr));
		p = put_ip(p, IPPROTO_UDP, RTE_IPV4(192, 0, 2, 1), RTE_IPV4(192, 0, 2, 2),
			   INNER_BYTES - sizeof(struct rte_ether_hdr));
		p = put_udp(p, 5000, 6000, sizeof(struct rte_udp_hdr));
	}
	while (p < frame + 60)
		*p++ = 0;
	return p - frame;
}

static void
check_case(const struct tunnel_case *c)
{
	static const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_error error;
	uint8_t frame[256];
	struct rte_flow *flow = rte_flow_create(PORT_A, &attr, c->items, ACTIONS(TO_QUEUE(3)), &error);

	CHECK(flow != NULL, "%s: %s", c->name, error.message);
	if (flow == NULL)
		return;
	CHECK(flow_queue_of(frame, build(frame, &c->hit)) == 3, "%s: does not match", c->name);
	CHECK(flow_queue_of(frame, build(frame, &c->miss)) == 0, "%s: matches", c->name);
	CHECK_OK(rte_flow_destroy(PORT_A, flow, &error));
	CHECK(flow_queue_of(frame, build(frame, &c->hit)) == 0, "%s: matches when it is destroyed", c->name);
}

void
flow_tunnels(bool flex)
{
	static const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_error error;

	for (unsigned int i = 0; i < RTE_DIM(tunnel_cases); i++)
		check_case(&tunnel_cases[i]);
	for (unsigned int i = 0; flex && i < RTE_DIM(flex_cases); i++)
		check_case(&flex_cases[i]);
	/* What the card has no parser for is refused. */
	for (unsigned int i = 1; !flex && i < RTE_DIM(flex_cases); i++)
		CHECK(rte_flow_validate(PORT_A, &attr, flex_cases[i].items, ACTIONS(TO_QUEUE(3)), &error) == -ENOTSUP &&
		      strstr(error.message, "FLEX_PARSER_PROFILE_ENABLE") != NULL, "%s", flex_cases[i].name);
	/* Of a header in two tunnels. */
	CHECK_EQ(rte_flow_validate(PORT_A, &attr,
				   ITEMS(OUTER, ITEM(UDP), ITEM(VXLAN), ITEM(ETH), ITEM(IPV4), ITEM(GRE)),
				   ACTIONS(TO_QUEUE(3)), &error), -ENOTSUP);
	CHECK_EQ(error.type, RTE_FLOW_ERROR_TYPE_ITEM);
}
