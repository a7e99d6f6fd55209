/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fields beyond the outer headers: by the kernel's rules and by flow tables of a program. */
#include <errno.h>

#include "rig_tables.h"
#include "rig_tunnels.h"

#define DWORDS 128u
#define TAG 0x77u

/* First dwords of the parts of fte_match_param. */
enum { OUTER = 0, MISC = 16, INNER = 32, MISC2 = 48, MISC3 = 64 };

struct bench {
	struct rig *r;
	struct rig_port *p;
	struct rig_rx *rx;
	struct emu_obj *table;
};

static void
begin(struct bench *b)
{
	b->r = rig_new(1, "loop");
	b->p = &b->r->port[0];
	b->rx = rig_rx_new(b->p, 4);
	b->table = rig_table(b->p, 1);
}

static void
to_wire(uint32_t *out, const uint32_t *in)
{
	for (unsigned i = 0; i < DWORDS; i++)
		out[i] = htobe32(in[i]);
}

/* match_criteria_enable that a mask needs. */
static uint8_t
criteria(const uint32_t *mask)
{
	uint8_t bits = 0;

	for (unsigned i = 0; i < DWORDS; i++)
		if (mask[i] != 0)
			bits |= (uint8_t)(1u << i / 16);
	return bits;
}

/* The answer to a rule of the kernel's for both; the rule, if it was made. */
static int
kernel_rule(struct bench *b, const uint32_t *mask, const uint32_t *value, struct emu_obj **matcher,
	    struct emu_obj **flow)
{
	uint32_t m[DWORDS], v[DWORDS];
	struct emu_matcher_attr ma = {.mask = m, .mask_len = sizeof(m), .criteria = criteria(mask)};
	struct emu_flow_attr fa = {.value = v, .value_len = sizeof(v), .dest = &b->rx->tir->obj, .has_tag = true,
				   .tag = TAG};
	int ret;

	to_wire(m, mask);
	to_wire(v, value);
	ret = emu_matcher_create(b->p->ctx, &ma, matcher);
	if (ret != 0)
		return ret;
	ret = emu_flow_create(b->p->ctx, *matcher, &fa, flow);
	if (ret != 0)
		CHECK_EQ(emu_obj_destroy(*matcher), 0);
	return ret;
}

static bool
kernel_matches(struct bench *b, const uint32_t *mask, const uint32_t *value, const struct rig_frame *f)
{
	struct emu_obj *matcher, *flow;
	uint32_t tag = 0;

	CHECK_EQ(kernel_rule(b, mask, value, &matcher, &flow), 0);
	rig_arrive(b->p, f);
	CHECK_EQ(rig_taken(b->rx, &tag), 1);
	CHECK_EQ(emu_obj_destroy(flow), 0);
	CHECK_EQ(emu_obj_destroy(matcher), 0);
	return tag == TAG;
}

/* The answer to CREATE_FLOW_GROUP. */
static int
group_new(struct bench *b, const uint32_t *mask, struct emu_obj **group)
{
	struct prm_create_flow_group_in in = {0};

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&in, b->table->id);
	prm_create_flow_group_in_set_match_criteria_enable(&in, criteria(mask));
	to_wire(prm_create_flow_group_in_match_criteria(&in)->dw, mask);
	return rig_fw(b->p, &in, sizeof(in), group);
}

static int
entry_new(struct bench *b, const struct emu_obj *group, const uint32_t *value, struct emu_obj **entry)
{
	struct {
		struct prm_set_fte_in in;
		uint32_t list[2];
	} e = {0};
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e.in);

	prm_set_fte_in_set_opcode(&e.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e.in, b->table->id);
	prm_flow_context_set_group_id(ctx, group->id);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_FWD_DEST);
	prm_flow_context_set_destination_list_size(ctx, 1);
	to_wire(prm_flow_context_match_value(ctx)->dw, value);
	e.list[0] = htobe32((uint32_t)PRM_FLOW_DEST_TYPE_TIR << 24 | b->rx->tir->obj.id);
	return rig_fw(b->p, &e, sizeof(e), entry);
}

static bool
group_matches(struct bench *b, const uint32_t *mask, const uint32_t *value, const struct rig_frame *f)
{
	struct emu_obj *group, *entry;
	unsigned taken;

	CHECK_EQ(group_new(b, mask, &group), 0);
	CHECK_EQ(entry_new(b, group, value, &entry), 0);
	rig_root(b->p, b->table);
	rig_arrive(b->p, f);
	taken = rig_taken(b->rx, NULL);
	rig_root(b->p, NULL);
	CHECK_EQ(emu_obj_destroy(entry), 0);
	CHECK_EQ(emu_obj_destroy(group), 0);
	return taken != 0;
}

static bool
matches(struct bench *b, unsigned dw, uint32_t mask, uint32_t value, const struct rig_frame *f)
{
	uint32_t m[DWORDS] = {[0] = 0}, v[DWORDS] = {[0] = 0};
	bool kernel, group;

	m[dw] = mask;
	v[dw] = value;
	kernel = kernel_matches(b, m, v, f);
	group = group_matches(b, m, v, f);
	CHECK_EQ(kernel, group);
	return kernel;
}

/* ---- fields ---- */

struct field {
	enum rig_tunnel kind;
	unsigned dw;
	uint32_t mask, value;
};

/* Mask and value, the same with its lowest bit wrong, and 0, which only frames without the header match. */
static void
check_fields(struct bench *b, const struct field *list, unsigned n)
{
	static struct rig_frame frames[RIG_KINDS];

	for (unsigned i = 0; i < RIG_KINDS; i++)
		rig_tunnel_frame(&frames[i], b->p->dev, (enum rig_tunnel)i);
	for (unsigned i = 0; i < n; i++) {
		const struct field *c = &list[i];
		uint32_t low = c->mask & -c->mask;
		unsigned before = check_failures;

		CHECK(matches(b, c->dw, c->mask, c->value, &frames[c->kind]));
		CHECK(!matches(b, c->dw, c->mask, c->value ^ low, &frames[c->kind]));
		CHECK_EQ(matches(b, c->dw, c->mask, 0, &frames[c->kind]), c->value == 0);
		if (c->dw >= 16 && c->value != 0) {
			CHECK(!matches(b, c->dw, c->mask, c->value, &frames[RIG_PLAIN]));
			CHECK(matches(b, c->dw, c->mask, 0, &frames[RIG_PLAIN]));
		}
		if (check_failures != before)
			fprintf(stderr, "  row %u: dword %u, mask 0x%x\n", i, c->dw, c->mask);
	}
}

#define CHECK_FIELDS(b, list) check_fields(b, list, sizeof(list) / sizeof((list)[0]))

static void
inner_fields(void)
{
	static const struct field list[] = {
		{RIG_VXLAN, INNER + 0, 0xffffffff, 0x06050403},
		{RIG_VXLAN, INNER + 1, 0xffff0000, 0x02010000},
		{RIG_VXLAN, INNER + 1, 0xffff, 0x86dd},
		{RIG_VXLAN, INNER + 2, 0xffffffff, 0x0a0b0c0d},
		{RIG_VXLAN, INNER + 3, 0xffff0000, 0x0e0f0000},
		{RIG_VXLAN, INNER + 3, 0xe000, 5 << 13}, /* first_prio */
		{RIG_VXLAN, INNER + 3, 0x1000, 0x1000},  /* first_cfi */
		{RIG_VXLAN, INNER + 3, 0x0fff, 0x777},   /* first_vid */
		{RIG_VXLAN, INNER + 4, 0xff000000, 6u << 24},
		{RIG_VXLAN, INNER + 4, 0x00fc0000, 0xa5 >> 2 << 18},
		{RIG_VXLAN, INNER + 4, 0x00030000, 1 << 16}, /* ip_ecn */
		{RIG_VXLAN, INNER + 4, 0x8000, 0},	    /* cvlan_tag */
		{RIG_VXLAN, INNER + 4, 0x4000, 0x4000}, /* svlan_tag */
		{RIG_VXLAN, INNER + 4, 0x2000, 0},	    /* frag */
		{RIG_VXLAN, INNER + 4, 0x1e00, 6 << 9},
		{RIG_VXLAN, INNER + 4, 0x01ff, 0x10}, /* tcp_flags */
		{RIG_VXLAN, INNER + 5, 0xffff0000, 0x12340000},
		{RIG_VXLAN, INNER + 5, 0xffff, 0x5678},
		{RIG_VXLAN, INNER + 6, 0x00ff, 64},
		{RIG_VXLAN, INNER + 6, 0x0f00, 0x0d00}, /* l3_ok, l4_ok, l4_checksum_ok */
		{RIG_VXLAN, INNER + 7, 0xffffffff, 0}, /* UDP ports of TCP */
		{RIG_VXLAN, INNER + 8, 0xffffffff, 0x20212223},
		{RIG_VXLAN, INNER + 11, 0xffffffff, 0x2c2d2e2f},
		{RIG_VXLAN, INNER + 12, 0xffffffff, 0x30313233},
		{RIG_VXLAN, INNER + 15, 0xffffffff, 0x3c3d3e3f},
		{RIG_VXLAN_CC, INNER + 4, 0x8000, 0x8000},
		{RIG_VXLAN_CC, INNER + 6, 0xf000, 5 << 12}, /* ipv4_ihl */
		{RIG_VXLAN_CC, INNER + 6, 0x0f00, 0x0f00},
		{RIG_VXLAN_CC, INNER + 7, 0xffff0000, 0x12340000},
		{RIG_VXLAN_CC, INNER + 7, 0xffff, 0x5678},
		{RIG_VXLAN_CC, INNER + 8, 0xffffffff, 0},
		{RIG_VXLAN_CC, INNER + 11, 0xffffffff, 0x0a010203},
		{RIG_VXLAN_CC, INNER + 15, 0xffffffff, 0x0a010204},
		{RIG_GENEVE, INNER + 5, 0xffff, 0x5678},
		{RIG_GRE_ALL, INNER + 3, 0x0fff, 0x777},
		{RIG_GRE_ALL, INNER + 5, 0xffff, 0x5678},
		{RIG_NVGRE, INNER + 2, 0xffffffff, 0x0a0b0c0d},
		/* No Ethernet header inside. */
		{RIG_GRE_IP, INNER + 1, 0xffffffff, 0},
		{RIG_GRE_IP, INNER + 2, 0xffffffff, 0},
		{RIG_GRE_IP, INNER + 4, 0x1e00, 4 << 9},
		{RIG_GRE_IP, INNER + 15, 0xffffffff, 0x0a010204},
		{RIG_IPIP, INNER + 2, 0xffffffff, 0},
	};
	static const struct field ipip[] = {
		{RIG_IPIP, INNER + 4, 0xff000000, 17u << 24},
		{RIG_IPIP, INNER + 7, 0xffff, 0x5678},
	};
	static const struct field no_ipip[] = {
		{RIG_IPIP, INNER + 4, 0xff000000, 0},
		{RIG_IPIP, INNER + 7, 0xffff, 0},
	};
	struct bench b;

	begin(&b);
	CHECK_FIELDS(&b, list);
	if (b.p->dev->profile->tunnel_stateless_ip_over_ip_rx)
		CHECK_FIELDS(&b, ipip);
	else
		CHECK_FIELDS(&b, no_ipip);
	rig_free(b.r);
}

static void
misc_fields(void)
{
	static const struct field list[] = {
		{RIG_GRE_ALL, MISC + 0, 0xb0000000, 0xb0000000},
		{RIG_GRE_ALL, MISC + 3, 0xffff, 0x6558},
		{RIG_GRE_ALL, MISC + 4, 0xffffff00, 0x11223300},
		{RIG_GRE_ALL, MISC + 4, 0xff, 0x44},
		{RIG_NVGRE, MISC + 0, 0xb0000000, 0x20000000},
		{RIG_NVGRE, MISC + 4, 0xffffff00, 0xaabbcc00},
		{RIG_NVGRE, MISC + 4, 0xff, 0xdd},
		{RIG_GRE_IP, MISC + 0, 0xb0000000, 0},
		{RIG_GRE_IP, MISC + 3, 0xffff, 0x0800},
		{RIG_GRE_IP, MISC + 4, 0xffffffff, 0},
		{RIG_VXLAN, MISC + 5, 0xffffff00, 0x12345600},
		{RIG_VXLAN_CC, MISC + 5, 0xffffff00, 0x12345600},
		{RIG_GENEVE, MISC + 5, 0xffffff00, 0},
		{RIG_GENEVE, MISC + 6, 0xffffff00, 0x65432100},
		{RIG_GENEVE, MISC + 6, 1, 1}, /* geneve_oam */
		{RIG_GENEVE, MISC + 9, 0x003f0000, 2 << 16},
		{RIG_GENEVE, MISC + 9, 0xffff, 0x6558},
		/* The second tag, outside and inside. */
		{RIG_QINQ, MISC + 2, 0xe0000000, 5u << 29},
		{RIG_QINQ, MISC + 2, 0x10000000, 0x10000000},
		{RIG_QINQ, MISC + 2, 0x0fff0000, 0x03450000},
		{RIG_QINQ, MISC + 3, 0xa0000000, 0x80000000},
		{RIG_CC, MISC + 3, 0xa0000000, 0x80000000},
		{RIG_CC, MISC + 2, 0x0fffffff, 0x03450000},
		{RIG_VXLAN, MISC + 2, 0xe000, 2 << 13},
		{RIG_VXLAN, MISC + 2, 0x1000, 0x1000},
		{RIG_VXLAN, MISC + 2, 0x0fff, 0x234},
		{RIG_VXLAN, MISC + 3, 0xf0000000, 0x40000000},
		{RIG_VXLAN_CC, MISC + 2, 0x0fff, 0x123},
		{RIG_IPV6_UDP, MISC + 7, 0xfffff, RIG_LABEL},
		{RIG_IPV6_UDP, MISC + 8, 0xfffff, 0},
		{RIG_VXLAN, MISC + 7, 0xfffff, 0},
		{RIG_VXLAN, MISC + 8, 0xfffff, RIG_LABEL},
		{RIG_ESP, MISC + 12, 0xffffffff, 0xdeadbeef},
		{RIG_ESP6, MISC + 12, 0xffffffff, 0xdeadbeef},
		{RIG_UDP_ESP, MISC + 12, 0xffffffff, 0},
		{RIG_VXLAN_ESP, MISC + 12, 0xffffffff, 0},
		{RIG_VXLAN_ESP, MISC + 11, 0xffffffff, 0xdeadbeef},
	};
	struct bench b;

	begin(&b);
	CHECK_FIELDS(&b, list);
	rig_free(b.r);
}

/* With the flex parsers of all protocols. */
static void
flex_fields(void)
{
	static const struct field list[] = {
		{RIG_MPLS, MISC2 + 0, 0xfffff000, 0x12345000},
		{RIG_MPLS, MISC2 + 0, 0x00000e00, 0x00000a00},
		{RIG_MPLS, MISC2 + 0, 0x00000100, 0},
		{RIG_MPLS, MISC2 + 0, 0x000000ff, 0x3c},
		{RIG_VXLAN_MPLS, MISC2 + 0, 0xffffffff, 0},
		{RIG_VXLAN_MPLS, MISC2 + 1, 0xffffffff, 0x12345a3c},
		{RIG_GRE_MPLS, MISC2 + 2, 0xffffffff, 0x12345a3c},
		{RIG_UDP_MPLS, MISC2 + 3, 0xffffffff, 0x12345a3c},
		{RIG_GRE_IP, MISC2 + 2, 0xffffffff, 0},
		{RIG_GPE, MISC3 + 4, 0xffffff, 0x123456},
		{RIG_GPE, MISC3 + 5, 0xff000000, 0x03000000},
		{RIG_GPE, MISC3 + 5, 0x00ff0000, 0x000c0000},
		{RIG_GPE, MISC + 5, 0xffffff00, 0},
		{RIG_GPE, INNER + 4, 0x1e00, 0},
		{RIG_VXLAN, MISC3 + 4, 0xffffff, 0},
		{RIG_GTPU, MISC3 + 10, 0xffffffff, 0x89abcdef},
		{RIG_GTPU, MISC3 + 11, 0xff000000, 0xff000000},
		{RIG_GTPU, MISC3 + 11, 0x00ff0000, 0x00300000},
		{RIG_GTPU, INNER + 4, 0x1e00, 0},
		{RIG_MPLS, OUTER + 4, 0x1e00, 0},
		{RIG_VXLAN, MISC3 + 0, 0xffffffff, 0x71727374},
		{RIG_VXLAN, MISC3 + 1, 0xffffffff, 0},
		{RIG_VXLAN, MISC3 + 2, 0xffffffff, 0x81828384},
		{RIG_TCP4, MISC3 + 0, 0xffffffff, 0},
		{RIG_TCP4, MISC3 + 1, 0xffffffff, 0x51525354},
		{RIG_TCP4, MISC3 + 3, 0xffffffff, 0x61626364},
		{RIG_ICMP, MISC3 + 6, 0xffffffff, 0xcafe1234},
		{RIG_ICMP, MISC3 + 8, 0xff000000, 0x88000000},
		{RIG_ICMP, MISC3 + 8, 0x00ff0000, 0x00030000},
		{RIG_ICMP, MISC3 + 8, 0x0000ffff, 0},
		{RIG_ICMP6, MISC3 + 6, 0xffffffff, 0},
		{RIG_ICMP6, MISC3 + 7, 0xffffffff, 0xcafe1234},
		{RIG_ICMP6, MISC3 + 8, 0xffff0000, 0},
		{RIG_ICMP6, MISC3 + 8, 0x0000ff00, 0x8800},
		{RIG_ICMP6, MISC3 + 8, 0x000000ff, 0x03},
		{RIG_VXLAN_ICMP, MISC3 + 8, 0xff000000, 0x88000000},
		{RIG_TCP4, MISC3 + 8, 0xffffffff, 0},
	};
	struct emu_profile p = *emu_profile_find("cx6dx");
	struct bench b;

	p.flex_parser_protocols = UINT32_MAX;
	rig_profile = &p;
	begin(&b);
	CHECK_FIELDS(&b, list);
	rig_profile = NULL;
	rig_free(b.r);
}

/* Nothing sets a register outside of switchdev mode: all are 0. */
static void
registers(void)
{
	struct rig_frame f;
	struct bench b;

	begin(&b);
	rig_tunnel_frame(&f, b.p->dev, RIG_PLAIN);
	for (unsigned i = 4; i < 12; i++) {
		CHECK(matches(&b, MISC2 + i, 0xffffffff, 0, &f));
		CHECK(matches(&b, MISC2 + i, 0xffff0000, 0, &f));
		CHECK(!matches(&b, MISC2 + i, 0xffffffff, 1, &f));
	}
	rig_free(b.r);
}

/* Fields of outer headers, of the tunnel and of inner headers in one rule, with a memo that stays right. */
static void
all_parts_at_once(void)
{
	uint32_t m[DWORDS] = {[OUTER + 7] = 0xffff, [MISC + 5] = 0xffffff00, [INNER + 5] = 0xffff};
	uint32_t v[DWORDS] = {[OUTER + 7] = 4789, [MISC + 5] = 0x12345600, [INNER + 5] = 0x5678};
	struct emu_obj *matcher, *flow;
	struct rig_frame f, other;
	struct bench b;
	uint32_t tag;

	begin(&b);
	rig_tunnel_frame(&f, b.p->dev, RIG_VXLAN);
	CHECK_EQ(kernel_rule(&b, m, v, &matcher, &flow), 0);
	for (unsigned i = 0; i < 4; i++) {
		/* UDP port; VNI; port of the inner TCP; inner IP version, which hides its TCP. */
		static const unsigned at[] = {37, 47, 50 + 14 + 8 + 40 + 3, 50 + 14 + 8};

		other = f;
		other.data[at[i]] ^= 0x10;
		for (unsigned round = 0; round < 2; round++) {
			tag = 0;
			rig_arrive(b.p, &f);
			CHECK(rig_taken(b.rx, &tag) == 1 && tag == TAG);
			rig_arrive(b.p, &other);
			CHECK(rig_taken(b.rx, &tag) == 1 && tag == 0);
		}
	}
	CHECK_EQ(emu_obj_destroy(flow), 0);
	CHECK_EQ(emu_obj_destroy(matcher), 0);
	rig_free(b.r);
}

/* Headers that are cut off, and what is no tunnel. */
static void
cut_and_foreign(void)
{
	static const struct {
		enum rig_tunnel kind;
		unsigned at;
		uint8_t byte;
		unsigned dw;
		uint32_t mask, value;
	} change[] = {
		{RIG_VXLAN, 42, 0, MISC + 5, 0xffffff00, 0x12345600},	  /* without its I flag */
		{RIG_VXLAN, 37, 0xb4, MISC + 5, 0xffffff00, 0x12345600},	  /* port 4788 */
		{RIG_GENEVE, 42, 0x42, MISC + 6, 0xffffff00, 0x65432100},	  /* version 1 */
		{RIG_GRE_ALL, 35, 1, MISC + 3, 0xffff, 0x6558},		  /* version 1 */
		{RIG_NVGRE, 34, 0x60, MISC + 4, 0xff, 0xdd},		  /* routing */
		{RIG_ESP, 20, 0x20, MISC + 12, 0xffffffff, 0xdeadbeef},	  /* a fragment */
		{RIG_TCP4, 20, 0x20, MISC3 + 1, 0xffffffff, 0x51525354},
		{RIG_NVGRE, 20, 0x20, MISC + 4, 0xff, 0xdd},
		{RIG_VXLAN, 20, 0x20, INNER + 5, 0xffff, 0x5678},
	};
	struct rig_frame f;
	struct bench b;

	begin(&b);
	for (unsigned i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		rig_tunnel_frame(&f, b.p->dev, change[i].kind);
		CHECK(matches(&b, change[i].dw, change[i].mask, change[i].value, &f));
		f.data[change[i].at] = change[i].byte;
		CHECK(!matches(&b, change[i].dw, change[i].mask, change[i].value, &f));
		CHECK(matches(&b, change[i].dw, change[i].mask, 0, &f));
	}
	/* A key and an SPI of which a part is missing. */
	rig_tunnel_frame(&f, b.p->dev, RIG_NVGRE);
	f.data[17] = 20 + 7;
	f.data[16] = 0;
	CHECK(matches(&b, MISC + 3, 0xffff, 0x6558, &f));
	CHECK(!matches(&b, MISC + 4, 0xffff0000, 0xaabb0000, &f));
	/* A cut MPLS header, with what the default profile has of it. */
	rig_tunnel_frame(&f, b.p->dev, RIG_MPLS);
	f.len = 17;
	CHECK(!matches(&b, MISC2 + 0, 0xffff0000, 0x12340000, &f));
	f.len = 18;
	CHECK(matches(&b, MISC2 + 0, 0xffff0000, 0x12340000, &f));
	rig_tunnel_frame(&f, b.p->dev, RIG_ESP);
	f.data[17] = 20 + 7;
	CHECK(!matches(&b, MISC + 12, 0xffff0000, 0xdead0000, &f));
	rig_free(b.r);
}

/* Headers in the last bytes of the IP packet: with the last byte they are there, without it they are not. */
static void
last_byte(void)
{
	static const struct {
		enum rig_tunnel kind;
		uint8_t bytes; /* behind the IP header */
		unsigned dw;
		uint32_t mask, value;
	} list[] = {
		{RIG_VXLAN, 8 + 8, MISC + 5, 0xffffff00, 0x12345600},
		{RIG_GENEVE, 8 + 8, MISC + 6, 0xffffff00, 0x65432100},
		{RIG_GPE, 8 + 8, MISC3 + 4, 0xffffff, 0x123456},
		{RIG_GTPU, 8 + 8, MISC3 + 10, 0xffffffff, 0x89abcdef},
		{RIG_UDP_MPLS, 8 + 4, MISC2 + 3, 0xffffffff, 0x12345a3c},
		{RIG_GRE_MPLS, 8 + 4, MISC2 + 2, 0xffffffff, 0x12345a3c},
		{RIG_NVGRE, 8, MISC + 4, 0xffffffff, 0xaabbccdd},
		{RIG_ESP, 8, MISC + 12, 0xffffffff, 0xdeadbeef},
		{RIG_ICMP, 8, MISC3 + 6, 0xffffffff, 0xcafe1234},
	};
	struct emu_profile p = *emu_profile_find("cx6dx");
	struct rig_frame f;
	struct bench b;
	uint8_t *bytes;

	p.flex_parser_protocols = UINT32_MAX;
	rig_profile = &p;
	begin(&b);
	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		rig_tunnel_frame(&f, b.p->dev, list[i].kind);
		bytes = f.data + (f.data[14] >> 4 == 4 ? 17 : 19);
		bytes[-1] = 0;
		bytes[0] = (uint8_t)(list[i].bytes + (f.data[14] >> 4 == 4 ? 20 : 0));
		CHECK(matches(&b, list[i].dw, list[i].mask, list[i].value, &f), "row %u", i);
		bytes[0]--;
		CHECK(!matches(&b, list[i].dw, list[i].mask, list[i].value, &f), "row %u", i);
	}
	/* The shortest GRE header with an MPLS header. */
	rig_tunnel_frame(&f, b.p->dev, RIG_GRE_MPLS);
	f.data[34] = 0;
	memcpy(f.data + 38, "\x12\x34\x5a\x3c", 4);
	f.data[16] = 0;
	f.data[17] = 20 + 4 + 4;
	CHECK(matches(&b, MISC2 + 2, 0xffffffff, 0x12345a3c, &f));
	rig_profile = NULL;
	rig_free(b.r);
}

/* What follows an IPv6 header is no part of its addresses, and of no other part of the key. */
static void
parts_apart(void)
{
	const uint32_t m[DWORDS] = {[OUTER + 15] = 0xffffffff, [MISC + 0] = 0xb0000000};
	uint32_t v[DWORDS] = {[0] = 0};
	struct rig_frame f;
	struct bench b;

	begin(&b);
	rig_tunnel_frame(&f, b.p->dev, RIG_IPV6_UDP);
	memset(f.data + 54, 0xff, 4); /* the ports */
	memcpy(&v[OUTER + 15], f.data + 50, sizeof(uint32_t));
	v[OUTER + 15] = be32toh(v[OUTER + 15]);
	CHECK(kernel_matches(&b, m, v, &f));
	CHECK(group_matches(&b, m, v, &f));
	rig_free(b.r);
}

/* What the answer to a mask is: of a matcher with a rule, and of a group. */
static void
answers(struct bench *b, unsigned dw, uint32_t mask, int kernel, bool group)
{
	uint32_t m[DWORDS] = {[0] = 0}, v[DWORDS] = {[0] = 0};
	struct emu_obj *matcher, *flow, *g = NULL;
	int ret;

	m[dw] = mask;
	ret = kernel_rule(b, m, v, &matcher, &flow);
	CHECK_EQ(ret, kernel);
	if (ret == 0) {
		CHECK_EQ(emu_obj_destroy(flow), 0);
		CHECK_EQ(emu_obj_destroy(matcher), 0);
	}
	ret = group_new(b, m, &g);
	CHECK_EQ(ret == 0, group);
	if (ret == 0)
		CHECK_EQ(emu_obj_destroy(g), 0);
}

/* No card has them here: EOPNOTSUPP, as they are not modelled. */
static void
not_modelled(void)
{
	static const struct field list[] = {
		{0, OUTER + 6, 0xc0000000, 0},	/* l4_type */
		{0, MISC + 0, 0x00ffffff, 0},	/* source_sqn */
		{0, MISC + 0, 0x0f000000, 0},	/* source_vhca_port */
		{0, MISC + 1, 0x0000ffff, 0},	/* source_port */
		{0, MISC + 1, 0xffff0000, 0},	/* source_eswitch_owner_vhca_id */
		{0, MISC + 3, 0x08000000, 0},	/* outer_emd_tag */
		{0, MISC + 5, 0x000000ff, 0},	/* bth_opcode */
		{0, MISC + 6, 0x00000002, 0},	/* geneve_tlv_option_0_exist */
		{0, MISC + 10, 0x00ffffff, 0},	/* bth_dst_qp */
		{0, MISC + 13, 1, 0},		/* reserved */
		{0, MISC2 + 12, 0xffffffff, 0}, /* metadata_reg_a */
		{0, MISC2 + 13, 0xffffffff, 0}, /* metadata_reg_b */
		{0, MISC3 + 9, 0xffffffff, 0},	/* geneve_tlv_option_0_data */
		{0, MISC3 + 12, 0xffffffff, 0}, /* gtpu_dw_2 */
		{0, MISC3 + 13, 0xffffffff, 0}, /* gtpu_first_ext_dw_0 */
		{0, 80, 0xffffffff, 0},		/* prog_sample_field_value_0 */
		{0, 96, 0xffffffff, 0},		/* macsec_tag_0 */
		{0, 127, 1, 0},			/* reserved */
	};
	struct bench b;

	begin(&b);
	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		answers(&b, list[i].dw, list[i].mask, -EOPNOTSUPP, false);
	rig_free(b.r);
}

/* Fields that this card lacks: the kernel learns it from the refusal of its group. */
static void
without_capability(void)
{
	static const struct field list[] = {
		{0, MISC + 6, 0xffffff00, 0}, {0, MISC + 6, 1, 0}, {0, MISC + 9, 0x003f0000, 0},
		{0, MISC + 9, 0xffff, 0}, {0, MISC3 + 6, 1, 0}, {0, MISC3 + 7, 1, 0}, {0, MISC3 + 8, 1 << 24, 0},
		{0, MISC3 + 8, 1 << 16, 0}, {0, MISC3 + 8, 1 << 8, 0}, {0, MISC3 + 8, 1, 0},
		{0, MISC2 + 2, 1, 0}, {0, MISC2 + 3, 1, 0}, {0, MISC3 + 4, 1, 0}, {0, MISC3 + 5, 0xff0000, 0},
		{0, MISC3 + 10, 1, 0}, {0, MISC3 + 11, 0xff0000, 0},
	};
	static const struct field newer[] = {
		{0, MISC + 7, 0xfffff, 0}, {0, MISC + 8, 0xfffff, 0}, {0, MISC + 11, 1, 0}, {0, MISC + 12, 1, 0},
		{0, MISC + 3, 0x20000000, 0}, {0, MISC + 3, 0x10000000, 0}, {0, OUTER + 6, 0xf000, 0},
		{0, INNER + 6, 0x0100, 0}, {0, MISC2 + 4, 1, 0}, {0, MISC2 + 11, 1, 0}, {0, MISC3 + 0, 1, 0},
		{0, MISC3 + 3, 1, 0}, {0, MISC2 + 0, 1, 0}, {0, MISC2 + 1, 1, 0},
	};
	struct emu_profile p = *emu_profile_find("cx6dx");
	struct bench b;

	p.flex_parser_protocols = 0;
	rig_profile = &p;
	begin(&b);
	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		answers(&b, list[i].dw, list[i].mask, -EINVAL, false);
	answers(&b, MISC + 5, 0xffffff00, 0, true);
	rig_free(b.r);
	p.first_match_fields = true;
	begin(&b);
	for (unsigned i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		answers(&b, newer[i].dw, newer[i].mask, -EINVAL, false);
	answers(&b, INNER + 5, 0xffff, 0, true);
	rig_profile = NULL;
	rig_free(b.r);
}

/* Values beyond the mask, and parts that the criteria do not name. */
static void
beyond_mask(void)
{
	static const unsigned dws[] = {MISC + 5, INNER + 5, MISC + 12, 80, 127};
	uint32_t m[DWORDS] = {[INNER + 7] = 0xffff}, v[DWORDS], wire[DWORDS];
	struct emu_matcher_attr ma = {.mask = wire, .mask_len = sizeof(wire)};
	struct emu_flow_attr fa = {.drop = true};
	struct emu_obj *matcher, *flow, *group;
	struct bench b;

	begin(&b);
	CHECK_EQ(group_new(&b, m, &group), 0);
	for (unsigned i = 0; i < sizeof(dws) / sizeof(dws[0]); i++) {
		memset(v, 0, sizeof(v));
		v[dws[i]] = 0x100;
		CHECK_EQ(kernel_rule(&b, m, v, &matcher, &flow), -EINVAL);
		CHECK(entry_new(&b, group, v, &flow) != 0);
	}
	to_wire(wire, m);
	for (unsigned enable = 0; enable < 32; enable++) {
		ma.criteria = (uint8_t)enable;
		CHECK_EQ(emu_matcher_create(b.p->ctx, &ma, &matcher), 0);
		CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &fa, &flow), (enable & 4) != 0 ? 0 : -EINVAL);
		if ((enable & 4) != 0)
			CHECK_EQ(emu_obj_destroy(flow), 0);
		CHECK_EQ(emu_obj_destroy(matcher), 0);
	}
	ma.criteria = 32 + 4;
	CHECK_EQ(emu_matcher_create(b.p->ctx, &ma, &matcher), -EOPNOTSUPP);
	rig_free(b.r);
}

/* The transmit table finds inner headers too. */
static void
transmit(void)
{
	uint32_t m[DWORDS] = {[MISC + 5] = 0xffffff00, [INNER + 5] = 0xffff};
	uint32_t v[DWORDS] = {[MISC + 5] = 0x12345600, [INNER + 5] = 0x5678}, mw[DWORDS], vw[DWORDS];
	struct rig *r = rig_new(2, NULL);
	struct rig_port *p = &r->port[0];
	struct rig_sq *sq = rig_sq_new(p, rig_cq_new(p, 6, 6), 6);
	struct rig_rx *rx = rig_rx_new(&r->port[1], 4);
	struct emu_matcher_attr ma = {.mask = mw, .mask_len = sizeof(mw), .criteria = criteria(m), .ft_type = 1};
	struct emu_flow_attr fa = {.value = vw, .value_len = sizeof(vw), .drop = true};
	struct rig_frame *f = rig_mem(p, sizeof(*f), 64);
	struct emu_obj *matcher, *flow;

	to_wire(mw, m);
	to_wire(vw, v);
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), 0);
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &flow), 0);
	rig_tunnel_frame(f, r->port[1].dev, RIG_VXLAN);
	rig_send(sq, f->data, f->len);
	rig_run(r);
	CHECK_EQ(rig_taken(rx, NULL), 0);
	CHECK_EQ(p->dev->stats.tx_dropped_by_rule, 1);
	rig_tunnel_frame(f, r->port[1].dev, RIG_VXLAN_CC);
	rig_send(sq, f->data, f->len);
	rig_run(r);
	CHECK_EQ(rig_taken(rx, NULL), 1);
	rig_free(r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"inner_fields", inner_fields},
		{"misc_fields", misc_fields},
		{"flex_fields", flex_fields},
		{"registers", registers},
		{"all_parts_at_once", all_parts_at_once},
		{"cut_and_foreign", cut_and_foreign},
		{"last_byte", last_byte},
		{"parts_apart", parts_apart},
		{"not_modelled", not_modelled},
		{"without_capability", without_capability},
		{"beyond_mask", beyond_mask},
		{"transmit", transmit},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
