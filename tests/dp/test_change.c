/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Rules that change packets: fields and their checksums, registers, tags, tunnels; the packet afterwards. */
#include <errno.h>

#include "rig_tables.h"
#include "rig_tunnels.h"

#define IPV4_UDP 34u
#define MISC2_REG_C_0 59u /* dword of fte_match_param; reg_c_n is n dwords before */

typedef struct prm_set_add_copy_action_in_auto action_t;

struct bench {
	struct rig *r;
	struct rig_port *p;
	struct rig_rx *rx;
	struct emu_obj *root, *any; /* The root, whose group has no mask. */
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(1, "loop")};
	struct prm_create_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	b.p = &b.r->port[0];
	b.rx = rig_rx_new(b.p, 6);
	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_flow_table_context_set_log_size(ctx, RIG_LOG_TABLE);
	prm_flow_table_context_set_level(ctx, 1);
	prm_flow_table_context_set_decap_en(ctx, 1);
	prm_flow_table_context_set_reformat_en(ctx, 1);
	b.root = rig_make(b.p, &in, sizeof(in), "table");
	b.any = rig_group(b.p, b.root, 0, 3, &(struct rig_match){0});
	rig_root(b.p, b.root);
	return b;
}

static action_t
set(unsigned field, unsigned offset, unsigned length, uint32_t data)
{
	action_t a = {{0}};
	struct prm_set_action_in *s = prm_set_add_copy_action_in_auto_set_action_in(&a);

	prm_set_action_in_set_action_type(s, PRM_ACTION_TYPE_SET);
	prm_set_action_in_set_field(s, field);
	prm_set_action_in_set_offset(s, offset);
	prm_set_action_in_set_length(s, length & 31);
	prm_set_action_in_set_data(s, data);
	return a;
}

static action_t
add(unsigned field, uint32_t data)
{
	action_t a = set(field, 0, 0, data);

	prm_set_action_in_set_action_type(prm_set_add_copy_action_in_auto_set_action_in(&a), PRM_ACTION_TYPE_ADD);
	return a;
}

static action_t
copy(unsigned from, unsigned src_offset, unsigned to, unsigned dst_offset, unsigned length)
{
	action_t a = set(from, src_offset, length, 0);
	struct prm_copy_action_in *c = prm_set_add_copy_action_in_auto_copy_action_in(&a);

	prm_copy_action_in_set_action_type(c, PRM_ACTION_TYPE_COPY);
	prm_copy_action_in_set_dst_field(c, to);
	prm_copy_action_in_set_dst_offset(c, dst_offset);
	return a;
}

static struct emu_obj *
context(struct bench *b, const action_t *actions, unsigned n)
{
	struct {
		struct prm_alloc_modify_header_context_in in;
		action_t actions[16];
	} cmd = {0};

	prm_alloc_modify_header_context_in_set_opcode(&cmd.in, PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	prm_alloc_modify_header_context_in_set_num_of_actions(&cmd.in, n);
	memcpy(cmd.actions, actions, n * sizeof(actions[0]));
	return rig_make(b->p, &cmd, sizeof(cmd.in) + n * sizeof(actions[0]), "modify header context");
}

/* The context that replaces a tunnel by an Ethernet header. */
static struct emu_obj *
l2_context(struct bench *b, const void *l2, unsigned bytes)
{
	_Alignas(8) uint8_t cmd[64] = {0};
	struct prm_packet_reformat_context_in *r =
		prm_alloc_packet_reformat_context_in_packet_reformat_context((void *)cmd);

	prm_alloc_packet_reformat_context_in_set_opcode((void *)cmd, PRM_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	prm_packet_reformat_context_in_set_reformat_type(r, PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2);
	prm_packet_reformat_context_in_set_reformat_data_size(r, bytes);
	memcpy(cmd + 34, l2, bytes);
	return rig_make(b->p, cmd, 34 + bytes, "packet reformat context");
}

struct change {
	unsigned action; /* PRM_FLOW_ACTION_* besides FWD_DEST */
	const struct emu_obj *modify, *reformat, *counter;
};

/* An entry for everything, to a TIR or table. */
static struct emu_obj *
entry(struct bench *b, uint32_t index, const struct change *c, const struct emu_obj *dest)
{
	struct {
		struct prm_set_fte_in in;
		uint32_t list[4];
	} e = {0};
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e.in);
	bool tir = dest->type == EMU_OBJ_TIR, count = c->counter != NULL;

	prm_set_fte_in_set_opcode(&e.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e.in, b->root->id);
	prm_set_fte_in_set_flow_index(&e.in, index);
	prm_flow_context_set_group_id(ctx, b->any->id);
	prm_flow_context_set_action(ctx, PRM_FLOW_ACTION_FWD_DEST | c->action |
					 (count ? PRM_FLOW_ACTION_COUNT : 0));
	prm_flow_context_set_modify_header_id(ctx, c->modify != NULL ? c->modify->id : 0);
	prm_flow_context_set_packet_reformat_id(ctx, c->reformat != NULL ? c->reformat->id : 0);
	prm_flow_context_set_destination_list_size(ctx, 1);
	prm_flow_context_set_flow_counter_list_size(ctx, count);
	e.list[0] = htobe32((uint32_t)(tir ? PRM_FLOW_DEST_TYPE_TIR : PRM_FLOW_DEST_TYPE_FLOW_TABLE) << 24 | dest->id);
	e.list[2] = htobe32(count ? c->counter->id : 0);
	return rig_make(b->p, &e, sizeof(e.in) + (count ? 16 : 8), "entry");
}

/* What a frame arrives as; its completion. False: it does not arrive. */
static bool
arrives(struct bench *b, const struct rig_frame *f, struct rig_frame *as, struct prm_cqe64 *done)
{
	const struct prm_cqe64 *cqe;
	unsigned at;

	rig_arrive(b->p, f);
	cqe = rig_cqe(b->rx->cq);
	if (cqe == NULL)
		return false;
	*done = *cqe;
	at = be16toh(cqe->wqe_counter) & 63;
	as->len = be32toh(cqe->byte_cnt);
	memcpy(as->data, b->rx->buf[at], as->len);
	rig_post(b->rx->rq, b->rx->buf[at], RIG_BUF_BYTES, b->p->lkey);
	return true;
}

/* Sends a frame through a change, and compares it with what it has to become. */
static void
becomes(struct bench *b, const struct change *c, const struct rig_frame *f, const struct rig_frame *want,
	const char *what)
{
	struct emu_obj *e = entry(b, 0, c, &b->rx->tir->obj);
	struct prm_cqe64 cqe;
	struct rig_frame got;

	CHECK_EQ(arrives(b, f, &got, &cqe), true);
	CHECK_EQ(got.len, want->len);
	for (unsigned i = 0; i < want->len && i < got.len; i++) {
		if (got.data[i] == want->data[i])
			continue;
		printf("%s: byte %u is 0x%02x, not 0x%02x\n", what, i, got.data[i], want->data[i]);
		CHECK(false);
		break;
	}
	CHECK_EQ(emu_fw_destroy(b->p->ctx, e, NULL, 0), 0);
}

static void
modified(struct bench *b, const action_t *actions, unsigned n, const struct rig_frame *f, const struct rig_frame *want,
	 const char *what)
{
	struct emu_obj *m = context(b, actions, n);

	becomes(b, &(struct change){.action = PRM_FLOW_ACTION_MOD_HDR, .modify = m}, f, want, what);
	CHECK_EQ(emu_fw_destroy(b->p->ctx, m, NULL, 0), 0);
}

/* Every field of the outermost headers: where it is in an untagged frame, by a list of the test's own. */
static const struct row {
	unsigned field, version, proto, at, bytes, shift, bits;
} rows[] = {
	{PRM_ACTION_IN_FIELD_OUT_DMAC_47_16, 4, 17, 0, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_DMAC_15_0, 4, 17, 4, 2, 0, 16},
	{PRM_ACTION_IN_FIELD_OUT_SMAC_47_16, 4, 17, 6, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_SMAC_15_0, 4, 17, 10, 2, 0, 16},
	{PRM_ACTION_IN_FIELD_OUT_IP_DSCP, 4, 17, 15, 1, 2, 6},
	{PRM_ACTION_IN_FIELD_OUT_IP_DSCP, 6, 17, 14, 2, 6, 6},
	{PRM_ACTION_IN_FIELD_OUT_IPV4_TTL, 4, 17, 22, 1, 0, 8},
	{PRM_ACTION_IN_FIELD_OUT_IPV6_HOPLIMIT, 6, 6, 21, 1, 0, 8},
	{PRM_ACTION_IN_FIELD_OUT_SIPV4, 4, 17, 26, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_DIPV4, 4, 6, 30, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_SIPV6_127_96, 6, 17, 22, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_SIPV6_95_64, 6, 6, 26, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_SIPV6_63_32, 6, 17, 30, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_SIPV6_31_0, 6, 6, 34, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_DIPV6_127_96, 6, 17, 38, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_DIPV6_95_64, 6, 6, 42, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_DIPV6_63_32, 6, 17, 46, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_DIPV6_31_0, 6, 6, 50, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_UDP_SPORT, 4, 17, 34, 2, 0, 16},
	{PRM_ACTION_IN_FIELD_OUT_UDP_DPORT, 6, 17, 56, 2, 0, 16},
	{PRM_ACTION_IN_FIELD_OUT_TCP_SPORT, 6, 6, 54, 2, 0, 16},
	{PRM_ACTION_IN_FIELD_OUT_TCP_DPORT, 4, 6, 36, 2, 0, 16},
	{PRM_ACTION_IN_FIELD_OUT_TCP_SEQ_NUM, 4, 6, 38, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_TCP_ACK_NUM, 6, 6, 62, 4, 0, 32},
	{PRM_ACTION_IN_FIELD_OUT_TCP_FLAGS, 4, 6, 46, 2, 0, 9},
};

/* Writes bits of a big-endian word. */
static void
poke(uint8_t *p, unsigned bytes, unsigned shift, unsigned bits, uint32_t value)
{
	uint64_t word = 0, mask = ((1ull << bits) - 1) << shift;

	for (unsigned i = 0; i < bytes; i++)
		word = word << 8 | p[i];
	word = (word & ~mask) | ((uint64_t)value << shift & mask);
	for (unsigned i = bytes; i-- > 0; word >>= 8)
		p[i] = (uint8_t)word;
}

static uint32_t
peek(const uint8_t *p, unsigned bytes, unsigned shift, unsigned bits)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < bytes; i++)
		word = word << 8 | p[i];
	return (uint32_t)(word >> shift & ((1ull << bits) - 1));
}

static void
row_check(struct bench *b, const struct row *r)
{
	const char *name = prm_action_in_field_name(r->field);
	uint32_t value = 0xa5c3f10fu & (uint32_t)((1ull << r->bits) - 1);
	unsigned half = r->bits / 2;
	struct rig_frame f, want;
	action_t a;

	rig_ip_frame(&f, b->p->dev, r->version, r->proto, 20, 0, -1);
	want = f;
	poke(want.data + r->at, r->bytes, r->shift, r->bits, value);
	rig_fix_checksums(&want, 14);
	a = set(r->field, 0, r->bits, value);
	modified(b, &a, 1, &f, &want, name);
	/* A part of it. */
	want = f;
	poke(want.data + r->at, r->bytes, r->shift + 1, half, value);
	rig_fix_checksums(&want, 14);
	a = set(r->field, 1, half, value & ((1u << half) - 1));
	modified(b, &a, 1, &f, &want, name);
	/* Less one. */
	want = f;
	poke(want.data + r->at, r->bytes, r->shift, r->bits,
	     peek(f.data + r->at, r->bytes, r->shift, r->bits) - 1);
	rig_fix_checksums(&want, 14);
	a = add(r->field, UINT32_MAX);
	modified(b, &a, 1, &f, &want, name);
}

static void
fields(void)
{
	struct bench b = setup();

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_check(&b, &rows[i]);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* A wrong checksum stays wrong, one of 0 stays 0; of a fragment only the IP header has one. */
static void
checksums(void)
{
	const action_t a[] = {set(PRM_ACTION_IN_FIELD_OUT_SIPV4, 0, 32, 0x0a090807),
			      set(PRM_ACTION_IN_FIELD_OUT_UDP_DPORT, 0, 16, 99)};
	struct bench b = setup();
	struct emu_obj *m = context(&b, a, 2), *e;
	struct prm_cqe64 cqe;
	struct rig_frame f, got, want;

	e = entry(&b, 0, &(struct change){.action = PRM_FLOW_ACTION_MOD_HDR, .modify = m}, &b.rx->tir->obj);
	rig_ip_frame(&f, b.p->dev, 4, 17, 20, 0, -1);
	CHECK_EQ(arrives(&b, &f, &got, &cqe), true);
	CHECK_EQ(cqe.hds_ip_ext & 6, 6);
	f.data[IPV4_UDP + 6] ^= 0x40;
	CHECK_EQ(arrives(&b, &f, &got, &cqe), true);
	CHECK_EQ(cqe.hds_ip_ext & 6, 2);
	f.data[IPV4_UDP + 6] = f.data[IPV4_UDP + 7] = 0;
	f.data[25] ^= 1;
	CHECK_EQ(arrives(&b, &f, &got, &cqe), true);
	CHECK_EQ(cqe.hds_ip_ext & 2, 0);
	CHECK_EQ(got.data[IPV4_UDP + 6] | got.data[IPV4_UDP + 7], 0);
	rig_ip_frame(&f, b.p->dev, 4, 17, 20, 0, -1);
	f.data[20] = 0x20; /* more fragments */
	want = f;
	CHECK_EQ(arrives(&b, &f, &got, &cqe), true);
	CHECK(memcmp(got.data + IPV4_UDP, want.data + IPV4_UDP, 8) == 0);
	CHECK_EQ(got.data[26], 0x0a);
	CHECK_EQ(got.data[29], 0x07);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, e, NULL, 0), 0);
	rig_free(b.r);
}

/* Fields of headers that are not there: UDP ports of TCP, IPv4 of IPv6, inner ones without a tunnel, a tag. */
static void
absent(void)
{
	const action_t a[] = {set(PRM_ACTION_IN_FIELD_OUT_UDP_SPORT, 0, 16, 7),
			      set(PRM_ACTION_IN_FIELD_OUT_SIPV4, 0, 32, 7),
			      set(PRM_ACTION_IN_FIELD_IN_DMAC_47_16, 0, 32, 7),
			      set(PRM_ACTION_IN_FIELD_OUT_FIRST_VID, 0, 12, 7),
			      set(PRM_ACTION_IN_FIELD_OUT_IPV4_TTL, 0, 8, 7)};
	struct bench b = setup();
	struct rig_frame f;

	rig_ip_frame(&f, b.p->dev, 6, 6, 20, 0, -1);
	modified(&b, a, 5, &f, &f, "absent");
	rig_tunnel_frame(&f, b.p->dev, RIG_MPLS);
	modified(&b, a, 5, &f, &f, "MPLS");
	rig_free(b.r);
}

static void
vlan(void)
{
	const action_t vid = set(PRM_ACTION_IN_FIELD_OUT_FIRST_VID, 0, 12, 0xabc);
	struct bench b = setup();
	struct rig_frame f, want;

	CHECK_EQ(rig_rq_modify(b.rx->rq, 1, 1), 0);
	rig_ip_frame(&f, b.p->dev, 4, 17, 20, 0, 0xa123);
	want = f;
	memmove(want.data + 12, want.data + 16, want.len - 16);
	want.len -= 4;
	/* Stripped by the queue, with the new TCI in the completion. */
	{
		struct emu_obj *m = context(&b, &vid, 1);
		struct emu_obj *e = entry(&b, 0, &(struct change){.action = PRM_FLOW_ACTION_MOD_HDR, .modify = m},
					  &b.rx->tir->obj);
		struct prm_cqe64 cqe;
		struct rig_frame got;

		CHECK_EQ(arrives(&b, &f, &got, &cqe), true);
		CHECK_EQ(be16toh(cqe.vlan_info), 0xaabc);
		CHECK_EQ(got.len, want.len);
		CHECK_EQ(emu_fw_destroy(b.p->ctx, e, NULL, 0), 0);
	}
	becomes(&b, &(struct change){.action = PRM_FLOW_ACTION_VLAN_POP}, &f, &want, "pop");
	becomes(&b, &(struct change){.action = PRM_FLOW_ACTION_VLAN_POP}, &want, &want, "pop of an untagged frame");
	rig_tunnel_frame(&f, b.p->dev, RIG_QINQ);
	want = f;
	memmove(want.data + 12, want.data + 20, want.len - 20);
	want.len -= 8;
	/* The first tag is popped, the second one stripped. */
	becomes(&b, &(struct change){.action = PRM_FLOW_ACTION_VLAN_POP}, &f, &want, "QinQ");
	rig_free(b.r);
}

/* A tunnel is removed before fields are changed, which are those of the inner headers then. */
static void
tunnels(void)
{
	static const uint8_t l2[18] = {2, 4, 6, 8, 10, 12, 1, 3, 5, 7, 9, 11, 0x81, 0, 0x20, 0x05, 0x08, 0};
	const action_t ttl = set(PRM_ACTION_IN_FIELD_OUT_IPV6_HOPLIMIT, 0, 8, 9);
	const action_t in_ttl = set(PRM_ACTION_IN_FIELD_IN_IPV6_HOPLIMIT, 0, 8, 9);
	struct bench b = setup();
	struct rig_frame f, want;
	struct change c = {.action = PRM_FLOW_ACTION_DECAP | PRM_FLOW_ACTION_MOD_HDR, .modify = context(&b, &ttl, 1)};

	for (unsigned kind = RIG_VXLAN; kind <= RIG_NVGRE; kind++) {
		if (kind == RIG_GRE_IP)
			continue;
		rig_tunnel_frame(&f, b.p->dev, kind);
		want = f;
		want.len = 14 + 8 + 40 + 20 + 30; /* inner_frame(): two tags, IPv6, TCP */
		memmove(want.data, f.data + f.len - want.len, want.len);
		want.data[22 + 7] = 9;
		becomes(&b, &c, &f, &want, "decap");
		want = f;
		want.data[f.len - (14 + 8 + 40 + 20 + 30) + 22 + 7] = 9;
		modified(&b, &in_ttl, 1, &f, &want, "inner");
	}
	rig_ip_frame(&f, b.p->dev, 4, 17, 20, 0, -1);
	becomes(&b, &c, &f, &f, "no tunnel");
	/* IPv4 in GRE over IPv6. */
	rig_tunnel_frame(&f, b.p->dev, RIG_GRE_IP);
	memcpy(want.data, l2, 18);
	want.len = 18 + 48;
	memcpy(want.data + 18, f.data + f.len - 48, 48);
	memmove(want.data + 12, want.data + 16, want.len - 16); /* stripped */
	want.len -= 4;
	c = (struct change){.action = PRM_FLOW_ACTION_PACKET_REFORMAT, .reformat = l2_context(&b, l2, 18)};
	becomes(&b, &c, &f, &want, "L3 tunnel");
	c.action |= PRM_FLOW_ACTION_VLAN_POP;
	becomes(&b, &c, &f, &want, "L3 tunnel, pop");
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* A later table compares what the packet has become, and registers. */
static void
next_table(void)
{
	const action_t a[] = {
		set(PRM_ACTION_IN_FIELD_METADATA_REG_C_2, 0, 32, 0x12345678),
		copy(PRM_ACTION_IN_FIELD_METADATA_REG_C_2, 8, PRM_ACTION_IN_FIELD_METADATA_REG_C_5, 4, 16),
		copy(PRM_ACTION_IN_FIELD_METADATA_REG_C_2, 0, PRM_ACTION_IN_FIELD_OUT_UDP_DPORT, 0, 16),
		copy(PRM_ACTION_IN_FIELD_OUT_SIPV4, 0, PRM_ACTION_IN_FIELD_METADATA_REG_C_1, 0, 32),
		copy(PRM_ACTION_IN_FIELD_METADATA_REG_C_2, 0, PRM_ACTION_IN_FIELD_METADATA_REG_B, 16, 16),
	};
	struct bench b = setup();
	struct emu_obj *next = rig_table(b.p, 7), *counter = rig_flow_counter(b.p), *g;
	struct prm_create_flow_group_in in = {0};
	struct {
		struct prm_set_fte_in in;
		uint32_t list[2];
	} e = {0};
	struct prm_fte_match_param *mask = prm_create_flow_group_in_match_criteria(&in);
	struct prm_fte_match_param *value = prm_flow_context_match_value(prm_set_fte_in_flow_context(&e.in));
	struct prm_cqe64 cqe;
	struct rig_frame f, got;

	entry(&b, 0,
	      &(struct change){.action = PRM_FLOW_ACTION_MOD_HDR, .modify = context(&b, a, 5), .counter = counter},
	      next);
	mask->dw[7] = htobe32(0xffff); /* udp_dport */
	value->dw[7] = htobe32(0x5678);
	mask->dw[MISC2_REG_C_0 - 1] = mask->dw[MISC2_REG_C_0 - 2] = mask->dw[MISC2_REG_C_0 - 5] = UINT32_MAX;
	value->dw[MISC2_REG_C_0 - 1] = htobe32(0x0a010203);
	value->dw[MISC2_REG_C_0 - 2] = htobe32(0x12345678);
	value->dw[MISC2_REG_C_0 - 5] = htobe32(0x34560);
	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&in, next->id);
	prm_create_flow_group_in_set_match_criteria_enable(
		&in, PRM_MATCH_CRITERIA_ENABLE_OUTER | PRM_MATCH_CRITERIA_ENABLE_MISC2);
	g = rig_make(b.p, &in, sizeof(in), "group");
	prm_set_fte_in_set_opcode(&e.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e.in, next->id);
	prm_flow_context_set_group_id(prm_set_fte_in_flow_context(&e.in), g->id);
	prm_flow_context_set_action(prm_set_fte_in_flow_context(&e.in), PRM_FLOW_ACTION_FWD_DEST);
	prm_flow_context_set_destination_list_size(prm_set_fte_in_flow_context(&e.in), 1);
	e.list[0] = htobe32((uint32_t)PRM_FLOW_DEST_TYPE_TIR << 24 | b.rx->tir->obj.id);
	rig_make(b.p, &e, sizeof(e), "entry");
	rig_ip_frame(&f, b.p->dev, 4, 17, 20, 0, -1);
	/* Twice: tables remember the last packet. */
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(arrives(&b, &f, &got, &cqe), true);
		CHECK_EQ(got.data[IPV4_UDP + 2], 0x56);
		CHECK_EQ(cqe.hds_ip_ext & 6, 6);
		CHECK_EQ(be32toh(cqe.flow_table_metadata), 0x56780000);
	}
	CHECK_EQ(rig_packets(counter), 2);
	CHECK_EQ(((struct emu_flow_counter *)counter)->counts[0].bytes, 2 * f.len);
	f.data[29] ^= 1; /* another source address */
	CHECK_EQ(arrives(&b, &f, &got, &cqe), false);
	rig_free(b.r);
}

/* Rules of the kernel: one entry has one change. */
static void
kernel(void)
{
	static const uint32_t mask[16] = {0}, value[16] = {0};
	const action_t a = set(PRM_ACTION_IN_FIELD_OUT_IPV4_TTL, 0, 8, 3);
	struct bench b = setup();
	struct emu_obj *m = context(&b, &a, 1), *other = context(&b, &a, 1), *flow, *second;
	const struct emu_profile *card = b.p->dev->profile;
	struct emu_profile profile = *card;
	struct emu_flow_attr attr = {.dest = &b.rx->tir->obj, .modify = (struct emu_modify_header *)m};
	struct prm_cqe64 cqe;
	struct rig_frame f, got;

	profile.reformat_and_fwd_to_table = 0;
	rig_root(b.p, NULL);
	flow = rig_flow(b.p, 3, mask, value, &attr);
	CHECK_EQ(rig_flow_try(b.p, 3, mask, value, &attr, &second), 0);
	CHECK_EQ(emu_obj_destroy(second), 0);
	attr.modify = (struct emu_modify_header *)other;
	CHECK_EQ(rig_flow_try(b.p, 3, mask, value, &attr, &second), -EEXIST);
	attr.modify = NULL;
	CHECK_EQ(rig_flow_try(b.p, 3, mask, value, &attr, &second), -EEXIST);
	attr.dest = NULL;
	attr.drop = attr.decap = true;
	CHECK_EQ(rig_flow_try(b.p, 4, mask, value, &attr, &second), -EINVAL);
	/* The way from a tunnel to a table takes a capability of its own. */
	attr.drop = false;
	attr.dest = rig_table(b.p, 7);
	b.p->dev->profile = &profile;
	CHECK_EQ(rig_flow_try(b.p, 4, mask, value, &attr, &second), -EINVAL);
	profile.reformat_and_fwd_to_table = 1;
	CHECK_EQ(rig_flow_try(b.p, 4, mask, value, &attr, &second), 0);
	CHECK_EQ(emu_obj_destroy(second), 0);
	b.p->dev->profile = card;
	b.p->dev->eswitch.on = true;
	CHECK_EQ(rig_flow_try(b.p, 4, mask, value, &attr, &second), -EINVAL);
	b.p->dev->eswitch.on = false;
	CHECK_EQ(emu_fw_destroy(b.p->ctx, m, NULL, 0), -EREMOTEIO);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, other, NULL, 0), 0);
	rig_ip_frame(&f, b.p->dev, 4, 17, 20, 0, -1);
	CHECK_EQ(arrives(&b, &f, &got, &cqe), true);
	CHECK_EQ(got.data[22], 3);
	CHECK_EQ(emu_obj_destroy(flow), 0);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, m, NULL, 0), 0);
	rig_free(b.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"fields", fields}, {"checksums", checksums}, {"absent", absent}, {"vlan", vlan},
		{"tunnels", tunnels}, {"next table", next_table}, {"kernel", kernel}, {NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
