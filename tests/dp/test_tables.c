/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packets in flow tables that a program made by command: order, misses, tags, counters, the root. */
#include <errno.h>

#include "rig.h"

struct bench {
	struct rig *r;
	struct rig_port *p;
	struct rig_rx *rx; /* with a rule of the kernel's for everything */
	struct rig_frame f; /* IPv4, UDP */
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(1, "loop")};

	b.p = &b.r->port[0];
	b.rx = rig_rx_new(b.p, 6);
	rig_ip_frame(&b.f, b.p->dev, 4, 17, 64, 0, -1);
	return b;
}

static struct emu_obj *
made(struct bench *b, const void *in, size_t len)
{
	struct emu_obj *obj = NULL;

	CHECK_EQ(rig_fw(b->p, in, len, &obj), 0);
	return obj;
}

static struct emu_obj *
table(struct bench *b, unsigned level)
{
	struct prm_create_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_create_flow_table_in_flow_table_context(&in);

	prm_create_flow_table_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_TABLE);
	prm_flow_table_context_set_level(ctx, level);
	prm_flow_table_context_set_log_size(ctx, 4);
	return made(b, &in, sizeof(in));
}

/* What a group compares, or an entry wants; 0: all the same. */
struct match {
	uint16_t ethertype;
	uint8_t ip_version, proto;
	int vid;	    /* -1: without a tag */
	bool frag, by_frag; /* fragments or not, with by_frag */
};

static void
match_fill(struct prm_fte_match_param *p, const struct match *m, bool mask)
{
	struct prm_fte_match_set_lyr_2_4 *o = prm_fte_match_param_outer_headers(p);

	if (m->ethertype != 0)
		prm_fte_match_set_lyr_2_4_set_ethertype(o, mask ? 0xffff : m->ethertype);
	if (m->ip_version != 0)
		prm_fte_match_set_lyr_2_4_set_ip_version(o, mask ? 0xf : m->ip_version);
	if (m->proto != 0)
		prm_fte_match_set_lyr_2_4_set_ip_protocol(o, mask ? 0xff : m->proto);
	if (m->by_frag)
		prm_fte_match_set_lyr_2_4_set_frag(o, mask || m->frag);
	if (m->vid != 0)
		prm_fte_match_set_lyr_2_4_set_cvlan_tag(o, mask || m->vid > 0);
	if (m->vid > 0)
		prm_fte_match_set_lyr_2_4_set_first_vid(o, mask ? 0xfff : m->vid);
}

static struct emu_obj *
group(struct bench *b, const struct emu_obj *t, uint32_t first, uint32_t last,
      const struct match *m)
{
	struct prm_create_flow_group_in in = {0};

	prm_create_flow_group_in_set_opcode(&in, PRM_CMD_OP_CREATE_FLOW_GROUP);
	prm_create_flow_group_in_set_table_id(&in, t->id);
	prm_create_flow_group_in_set_start_flow_index(&in, first);
	prm_create_flow_group_in_set_end_flow_index(&in, last);
	prm_create_flow_group_in_set_match_criteria_enable(&in, PRM_MATCH_CRITERIA_ENABLE_OUTER);
	match_fill(prm_create_flow_group_in_match_criteria(&in), m, true);
	return made(b, &in, sizeof(in));
}

struct fate {
	const struct emu_obj *dest; /* TIR or table; NULL: drop */
	const struct emu_obj *counter;
	uint32_t tag;
	unsigned modify; /* fields to change, 0: a new entry */
};

static struct emu_obj *
entry(struct bench *b, const struct emu_obj *t, const struct emu_obj *g, uint32_t index,
      const struct match *m, const struct fate *fate)
{
	struct {
		struct prm_set_fte_in in;
		uint32_t list[4];
	} e = {0};
	struct prm_flow_context *ctx = prm_set_fte_in_flow_context(&e.in);
	unsigned n = 0;
	uint32_t action = PRM_FLOW_ACTION_DROP;

	prm_set_fte_in_set_opcode(&e.in, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY);
	prm_set_fte_in_set_table_id(&e.in, t->id);
	prm_set_fte_in_set_flow_index(&e.in, index);
	prm_set_fte_in_set_op_mod(&e.in, fate->modify != 0);
	prm_set_fte_in_set_modify_enable_mask(&e.in, fate->modify);
	prm_flow_context_set_group_id(ctx, g->id);
	prm_flow_context_set_flow_tag(ctx, fate->tag);
	match_fill(prm_flow_context_match_value(ctx), m, false);
	if (fate->dest != NULL) {
		bool tir = fate->dest->type == EMU_OBJ_TIR;

		action = PRM_FLOW_ACTION_FWD_DEST;
		e.list[2 * n++] = htobe32((uint32_t)(tir ? PRM_FLOW_DEST_TYPE_TIR :
							   PRM_FLOW_DEST_TYPE_FLOW_TABLE) << 24 |
					  fate->dest->id);
		prm_flow_context_set_destination_list_size(ctx, 1);
	}
	if (fate->counter != NULL) {
		action |= PRM_FLOW_ACTION_COUNT;
		e.list[2 * n++] = htobe32(fate->counter->id);
		prm_flow_context_set_flow_counter_list_size(ctx, 1);
	}
	prm_flow_context_set_action(ctx, action);
	if (fate->modify == 0)
		return made(b, &e, sizeof(e.in) + 8 * n);
	CHECK_EQ(rig_fw(b->p, &e, sizeof(e.in) + 8 * n, NULL), 0);
	return NULL;
}

static struct emu_obj *
counter(struct bench *b)
{
	uint32_t in[4] = {htobe32((uint32_t)PRM_CMD_OP_ALLOC_FLOW_COUNTER << 16)};

	return made(b, in, sizeof(in));
}

static uint64_t
packets(const struct emu_obj *c)
{
	return ((const struct emu_flow_counter *)c)->packets;
}

static void
root(struct bench *b, const struct emu_obj *t)
{
	struct prm_set_flow_table_root_in in = {0};

	prm_set_flow_table_root_in_set_opcode(&in, PRM_CMD_OP_SET_FLOW_TABLE_ROOT);
	prm_set_flow_table_root_in_set_op_mod(&in, t == NULL);
	prm_set_flow_table_root_in_set_table_id(&in, t != NULL ? t->id : 0);
	CHECK_EQ(rig_fw(b->p, &in, sizeof(in), NULL), 0);
}

static void
miss(struct bench *b, const struct emu_obj *t, const struct emu_obj *to)
{
	struct prm_modify_flow_table_in in = {0};
	struct prm_flow_table_context *ctx = prm_modify_flow_table_in_flow_table_context(&in);

	prm_modify_flow_table_in_set_opcode(&in, PRM_CMD_OP_MODIFY_FLOW_TABLE);
	prm_modify_flow_table_in_set_table_id(&in, t->id);
	prm_modify_flow_table_in_set_modify_field_select(&in, 1);
	prm_flow_table_context_set_table_miss_action(ctx, to != NULL);
	prm_flow_table_context_set_table_miss_id(ctx, to != NULL ? to->id : 0);
	CHECK_EQ(rig_fw(b->p, &in, sizeof(in), NULL), 0);
}

#define NOBODY 0xffffffffu
/* A frame comes, twice: what was learnt of the first must hold for the second. The tag it got. */
static uint32_t
comes(struct bench *b)
{
	const struct prm_cqe64 *cqe;
	uint32_t tag[2] = {NOBODY, NOBODY};

	for (unsigned i = 0; i < 2; i++) {
		emu_dp_ingress(b->p->dev, b->f.data, b->f.len);
		while ((cqe = rig_cqe(b->rx->cq)) != NULL) {
			tag[i] = be32toh(cqe->sop_drop_qpn) & 0xffffff;
			rig_post(b->rx->rq, b->rx->buf[0], RIG_BUF_BYTES, b->p->lkey);
		}
	}
	CHECK_EQ(tag[0], tag[1]);
	return tag[0];
}

static const struct match any, ipv4 = {.ip_version = 4}, udp = {.ip_version = 4, .proto = 17};

/* A program's root takes the kernel's place, whole; what nobody wants there is dropped. */
static void
the_root(void)
{
	struct bench b = setup();
	struct emu_obj *t = table(&b, 0), *g = group(&b, t, 0, 3, &ipv4), *fte;
	struct emu_port_stats *s = &b.p->dev->stats;

	CHECK_EQ(comes(&b), 0); /* the kernel's rule */
	root(&b, t);
	CHECK_EQ(comes(&b), NOBODY);
	CHECK_EQ(s->rx_dropped_by_rule, 2);
	CHECK_EQ(s->rx_kernel + s->rx_filtered, 0);
	CHECK(!emu_dp_can_receive(b.p->dev, 0));
	fte = entry(&b, t, g, 2, &ipv4, &(struct fate){.dest = &b.rx->tir->obj, .tag = 0xabc});
	CHECK(emu_dp_can_receive(b.p->dev, 0));
	CHECK_EQ(comes(&b), 0xabc);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, fte, NULL, 0), 0);
	CHECK_EQ(comes(&b), NOBODY);
	root(&b, NULL);
	CHECK_EQ(comes(&b), 0);
	root(&b, t);
	CHECK_EQ(comes(&b), NOBODY);
	/* The table goes, and with it the root. */
	CHECK_EQ(emu_fw_destroy(b.p->ctx, g, NULL, 0), 0);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, t, NULL, 0), 0);
	CHECK_EQ(comes(&b), 0);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* The lowest index that fits, whatever was made first and however many fields are compared. */
static void
order(void)
{
	struct bench b = setup();
	struct emu_obj *t = table(&b, 0);
	struct emu_obj *wide = group(&b, t, 8, 11, &any), *narrow = group(&b, t, 2, 5, &udp);
	struct emu_obj *late = group(&b, t, 12, 15, &ipv4), *fte;
	struct fate to = {.dest = &b.rx->tir->obj};

	root(&b, t);
	to.tag = 12;
	entry(&b, t, late, 12, &ipv4, &to);
	CHECK_EQ(comes(&b), 12);
	to.tag = 9;
	entry(&b, t, wide, 9, &any, &to);
	CHECK_EQ(comes(&b), 9);
	to.tag = 8;
	fte = entry(&b, t, wide, 8, &any, &to);
	CHECK_EQ(comes(&b), 8);
	to.tag = 5;
	entry(&b, t, narrow, 5, &udp, &to);
	CHECK_EQ(comes(&b), 5);
	to.tag = 3;
	entry(&b, t, narrow, 3, &udp, &to);
	CHECK_EQ(comes(&b), 3);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, fte, NULL, 0), 0);
	CHECK_EQ(comes(&b), 3);
	rig_ip_frame(&b.f, b.p->dev, 4, 6, 64, 0, -1);
	CHECK_EQ(comes(&b), 9);
	rig_free(b.r);
}

/* From table to table, by rule and by miss; counters and tags of the whole way. */
static void
tables(void)
{
	struct bench b = setup();
	struct emu_obj *t[3] = {table(&b, 1), table(&b, 7), table(&b, 20)}, *g[3], *c[2];

	for (unsigned i = 0; i < 3; i++)
		g[i] = group(&b, t[i], 0, 3, &udp);
	c[0] = counter(&b);
	c[1] = counter(&b);
	root(&b, t[0]);
	entry(&b, t[0], g[0], 0, &udp, &(struct fate){.dest = t[2], .counter = c[0], .tag = 5});
	CHECK_EQ(comes(&b), NOBODY);
	entry(&b, t[2], g[2], 0, &udp, &(struct fate){.dest = &b.rx->tir->obj, .counter = c[1]});
	CHECK_EQ(comes(&b), 5);
	CHECK_EQ(packets(c[0]), 4);
	CHECK_EQ(packets(c[1]), 2);
	/* Another tag on the way; then another way. */
	entry(&b, t[2], g[2], 0, &udp, &(struct fate){.dest = &b.rx->tir->obj, .tag = 6,
						      .modify = PRM_MODIFY_FTE_MASK_FLOW_TAG});
	CHECK_EQ(comes(&b), 6);
	entry(&b, t[0], g[0], 0, &udp,
	      &(struct fate){.dest = t[1], .modify = PRM_MODIFY_FTE_MASK_DESTINATION_LIST});
	CHECK_EQ(comes(&b), NOBODY);
	miss(&b, t[1], t[2]);
	CHECK_EQ(comes(&b), 6);
	CHECK(emu_dp_can_receive(b.p->dev, 0));
	CHECK_EQ(packets(c[0]), 10);
	CHECK_EQ(packets(c[1]), 6);
	miss(&b, t[1], NULL);
	CHECK_EQ(comes(&b), NOBODY);
	entry(&b, t[0], g[0], 0, &udp,
	      &(struct fate){.modify = PRM_MODIFY_FTE_MASK_ACTION |
				       PRM_MODIFY_FTE_MASK_DESTINATION_LIST |
				       PRM_MODIFY_FTE_MASK_FLOW_COUNTERS});
	CHECK_EQ(comes(&b), NOBODY);
	CHECK_EQ(packets(c[0]), 12);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* All levels there are, each with a counter. */
static void
all_levels(void)
{
	struct bench b = setup();
	struct emu_obj *t[EMU_DP_FT_LEVELS], *c[EMU_DP_FT_LEVELS];

	for (unsigned i = EMU_DP_FT_LEVELS; i-- > 0;) {
		const struct emu_obj *to = i + 1 < EMU_DP_FT_LEVELS ? t[i + 1] : &b.rx->tir->obj;

		t[i] = table(&b, i);
		c[i] = counter(&b);
		entry(&b, t[i], group(&b, t[i], 0, 0, &ipv4), 0, &ipv4,
		      &(struct fate){.dest = to, .counter = c[i], .tag = i == 0});
	}
	root(&b, t[0]);
	CHECK_EQ(comes(&b), 1);
	for (unsigned i = 0; i < EMU_DP_FT_LEVELS; i++)
		CHECK_EQ(packets(c[i]), 2);
	rig_free(b.r);
}

/* Fields as the kernel's rules know them. */
static void
fields(void)
{
	struct bench b = setup();
	struct emu_obj *t = table(&b, 0), *g[4];
	static const struct match by[4] = {
		{.vid = 0xabc}, {.vid = -1}, {.ip_version = 4, .proto = 17, .by_frag = true},
		{.ethertype = 0x86dd, .ip_version = 6},
	};

	root(&b, t);
	for (unsigned i = 0; i < 4; i++) {
		g[i] = group(&b, t, 4 * i, 4 * i + 3, &by[i]);
		entry(&b, t, g[i], 4 * i, &by[i],
		      &(struct fate){.dest = &b.rx->tir->obj, .tag = 0x10 + i});
	}
	CHECK_EQ(comes(&b), 0x11);
	rig_ip_frame(&b.f, b.p->dev, 4, 6, 64, 0, 0x2abc);
	CHECK_EQ(comes(&b), 0x10);
	rig_ip_frame(&b.f, b.p->dev, 4, 17, 64, 0, 0x2abd);
	CHECK_EQ(comes(&b), 0x12);
	b.f.data[18 + 6] |= 0x20; /* more fragments */
	rig_fix_checksums(&b.f, 18);
	CHECK_EQ(comes(&b), NOBODY);
	rig_ip_frame(&b.f, b.p->dev, 6, 17, 64, 0, 0x2abd);
	CHECK_EQ(comes(&b), 0x13);
	rig_free(b.r);
}

/* A rule of the kernel's leads into a program's table: only upwards, and only out of its receive side. */
static void
from_the_kernel(void)
{
	struct bench b = setup();
	struct emu_obj *t = table(&b, 5), *g = group(&b, t, 0, 3, &udp), *flow = NULL, *matcher;
	struct emu_flow_attr attr = {.dest = t};
	uint32_t zero[16] = {0}, mask[16] = {0};
	struct emu_matcher_attr tx = {.mask = zero, .mask_len = sizeof(zero), .ft_type = 1};
	struct emu_matcher_attr low = {.mask = zero, .mask_len = sizeof(zero), .priority = 5};
	struct emu_matcher_attr multi = {.mask = mask, .mask_len = sizeof(mask), .criteria = 1};

	CHECK_EQ(emu_matcher_create(b.p->ctx, &tx, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &attr, &flow), -EINVAL);
	CHECK_EQ(emu_matcher_create(b.p->ctx, &low, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &attr, &flow), -EINVAL);
	/* The table for what is multicast only stands behind all others. */
	mask[2] = htobe32(0x01000000);
	attr.value = mask;
	attr.value_len = sizeof(mask);
	CHECK_EQ(emu_matcher_create(b.p->ctx, &multi, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &attr, &flow), -EINVAL);
	flow = rig_flow(b.p, 4, zero, zero, &(struct emu_flow_attr){.dest = t, .has_tag = true,
								    .tag = 0x44});
	CHECK_EQ(comes(&b), NOBODY);
	CHECK_EQ(b.p->dev->stats.rx_dropped_by_rule, 2);
	entry(&b, t, g, 0, &udp, &(struct fate){.dest = &b.rx->tir->obj});
	CHECK_EQ(comes(&b), 0x44);
	CHECK(emu_fw_destroy(b.p->ctx, t, NULL, 0) != 0);
	CHECK_EQ(emu_obj_destroy(flow), 0);
	CHECK_EQ(comes(&b), 0);
	rig_free(b.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"the_root", the_root}, {"order", order},	{"tables", tables},
		{"all_levels", all_levels}, {"fields", fields}, {"from_the_kernel", from_the_kernel},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
