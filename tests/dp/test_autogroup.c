/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Groups and entries of the kernel's tables: which rule applies, who gets copies, what has no room, what is refused. */
#include <errno.h>

#include "rig.h"

/* Linux, fs_core.c, add_rule_fg(): rules of equal match share an entry with the destinations of all. */
static void
equal_rules(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *a = rig_rx_new(p, 4), *b = rig_rx_new(p, 4);
	uint32_t mask[16] = {0}, value[16] = {0}, tag = 0;
	struct emu_flow_attr to_a = {.dest = &a->tir->obj}, to_b = {.dest = &b->tir->obj};
	struct emu_flow_attr drop = {.drop = true};
	struct emu_obj *first, *again, *other, *refused;
	struct rig_frame f;

	/* Those of rig_rx_new() are equal, too. */
	rig_ip_frame(&f, p->dev, 4, 17, 10, 0, -1);
	rig_arrive(p, &f);
	CHECK(rig_taken(a, NULL) == 1 && rig_taken(b, NULL) == 1);
	mask[RIG_DMAC_HI] = 0xffffffff;
	value[RIG_DMAC_HI] = 0x0c42a14e;
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &to_a, &first), 0);
	rig_arrive(p, &f);
	CHECK(rig_taken(a, NULL) == 1 && rig_taken(b, NULL) == 0);
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &to_a, &again), 0);
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &to_b, &other), 0);
	rig_arrive(p, &f);
	CHECK(rig_taken(a, NULL) == 1 && rig_taken(b, NULL) == 1);
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &drop, &refused), -EEXIST);
	to_a.has_tag = true;
	to_a.tag = 7;
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &to_a, &refused), -EEXIST);
	CHECK_EQ(emu_obj_destroy(first), 0);
	rig_arrive(p, &f);
	CHECK(rig_taken(a, NULL) == 1 && rig_taken(b, NULL) == 1);
	CHECK_EQ(emu_obj_destroy(again), 0);
	rig_arrive(p, &f);
	CHECK(rig_taken(a, NULL) == 0 && rig_taken(b, NULL) == 1);
	CHECK_EQ(emu_obj_destroy(other), 0);
	/* The tag of the first rule is that of the entry, and holds for rules without one. */
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &to_a, &first), 0);
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &to_b, &other), 0);
	rig_arrive(p, &f);
	CHECK(rig_taken(a, &tag) == 1 && tag == 7);
	CHECK(rig_taken(b, &tag) == 1 && tag == 7);
	CHECK_EQ(rig_audit(r), 0);
	rig_free(r);
}

/* Six groups of 9362 entries, then groups of one; each in the first gap (fs_core.c, alloc_auto_flow_group()). */
#define LARGE_GROUPS 6
#define SINGLES (65536 - LARGE_GROUPS * (65536 / (LARGE_GROUPS + 1)))

/* A rule for the frame's destination of the first bits of its address. */
static struct emu_obj *
prefix_flow(struct rig_port *p, struct rig_rx *rx, unsigned bits, uint32_t address, uint32_t tag)
{
	uint32_t mask[16] = {0}, value[16] = {0};
	struct emu_flow_attr attr = {.dest = &rx->tir->obj, .has_tag = true, .tag = tag};
	struct emu_obj *flow = NULL;

	mask[RIG_DMAC_HI] = UINT32_MAX << (32 - bits);
	value[RIG_DMAC_HI] = address & mask[RIG_DMAC_HI];
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &attr, &flow), 0);
	return flow;
}

static uint32_t
arrives_with_tag(struct rig_port *p, struct rig_rx *rx, const struct rig_frame *f)
{
	uint32_t tag = 0;

	rig_arrive(p, f);
	CHECK_EQ(rig_taken(rx, &tag), 1);
	return tag;
}

static void
groups(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	struct emu_obj *flow[LARGE_GROUPS], *single[2], *next;
	struct rig_frame f;

	rig_ip_frame(&f, p->dev, 4, 17, 10, 0, -1);
	for (unsigned i = 0; i < LARGE_GROUPS; i++)
		flow[i] = prefix_flow(p, rx, 10 + i, 0x0c42a14e, 10 + i);
	single[0] = prefix_flow(p, rx, 30, 0x0c42a14e, 1);
	single[1] = prefix_flow(p, rx, 30, 0x02000000, 2);
	CHECK_EQ(arrives_with_tag(p, rx, &f), 10);
	/* A new group in the place of the first one precedes older groups. */
	CHECK_EQ(emu_obj_destroy(flow[0]), 0);
	CHECK_EQ(arrives_with_tag(p, rx, &f), 11);
	next = prefix_flow(p, rx, 9, 0x0c42a14e, 3);
	CHECK_EQ(arrives_with_tag(p, rx, &f), 3);
	/* The mask of the single groups has no room: its next rule is in a large group in front of them. */
	CHECK_EQ(emu_obj_destroy(next), 0);
	CHECK_EQ(emu_obj_destroy(single[0]), 0);
	next = prefix_flow(p, rx, 9, 0x0c42a14e, 3);
	single[0] = prefix_flow(p, rx, 30, 0x0c42a14e, 1);
	CHECK_EQ(arrives_with_tag(p, rx, &f), 3);
	rig_free(r);
}

static void
no_room(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	uint32_t mask[16] = {[RIG_SMAC_HI] = UINT32_MAX}, value[16] = {0};
	struct emu_flow_attr attr = {.dest = &rx->tir->obj};
	struct emu_obj *flow, *newest = NULL;

	for (unsigned i = 0; i < LARGE_GROUPS; i++)
		prefix_flow(p, rx, 10 + i, 0x0c42a14e, 0);
	for (unsigned i = 0; i < SINGLES; i++) {
		value[RIG_SMAC_HI] = i;
		CHECK_EQ(rig_flow_try(p, 0, mask, value, &attr, &newest), 0);
	}
	value[RIG_SMAC_HI] = SINGLES;
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &attr, &flow), -ENOSPC);
	CHECK_EQ(emu_obj_destroy(newest), 0);
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &attr, &flow), 0);
	CHECK_EQ(rig_audit(r), 0);
	rig_free(r);
}

/*
 * Groups of another program can make a wide rule for multicast precede a narrow one that was created before it: the
 * narrow one joins a large group, the wide one, whose group of one entry is full, gets a gap in front of it.
 */
static void
wide_before_narrow(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	struct emu_obj *other[LARGE_GROUPS - 1];
	struct rig_frame f;

	emu_obj_destroy(rx->flow);
	rig_ip_frame(&f, p->dev, 4, 17, 10, 0, -1);
	memcpy(f.data, "\x01\x00\x5e\x01", 4);
	for (unsigned i = 0; i < LARGE_GROUPS - 1; i++)
		other[i] = prefix_flow(p, rx, 10 + i, 0x01ffffff, 0);
	prefix_flow(p, rx, 32, 0x01aabb01, 1);
	prefix_flow(p, rx, 24, 0x01aabb01, 2);
	for (unsigned i = 0; i < LARGE_GROUPS - 1; i++)
		CHECK_EQ(emu_obj_destroy(other[i]), 0);
	prefix_flow(p, rx, 32, 0x01005e01, 1);
	prefix_flow(p, rx, 24, 0x01005e01, 2);
	CHECK_EQ(arrives_with_tag(p, rx, &f), 2);
	rig_free(r);
}

/* Rules of type "default": frames that neither another rule nor the kernel's interface takes. */
static void
leftovers(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	uint32_t mask[16] = {[RIG_DMAC_HI] = 0x01000000}, value[16] = {0};
	struct emu_flow_attr attr = {.dest = &rx->tir->obj, .place = EMU_FLOW_LEFTOVER};
	struct emu_obj *unicast, *multicast;
	struct rig_frame own, other, group;

	emu_obj_destroy(rx->flow);
	rig_ip_frame(&own, p->dev, 4, 17, 10, 0, -1);
	other = group = own;
	memcpy(other.data, "\x02\x00\x00\x00\x00\x09", 6);
	memcpy(group.data, "\x01\x00\x5e\x00\x00\x01", 6);
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &attr, &unicast), 0);
	rig_arrive(p, &own);
	CHECK_EQ(rig_taken(rx, NULL), 0);
	CHECK_EQ(p->dev->stats.rx_kernel, 1);
	rig_arrive(p, &other);
	CHECK_EQ(rig_taken(rx, NULL), 1);
	rig_arrive(p, &group);
	CHECK_EQ(rig_taken(rx, NULL), 0);
	value[RIG_DMAC_HI] = 0x01000000;
	CHECK_EQ(rig_flow_try(p, 0, mask, value, &attr, &multicast), 0);
	rig_arrive(p, &group);
	CHECK_EQ(rig_taken(rx, NULL), 1);
	CHECK_EQ(emu_obj_destroy(unicast), 0);
	rig_arrive(p, &other);
	CHECK_EQ(rig_taken(rx, NULL), 0);
	CHECK_EQ(p->dev->stats.rx_filtered, 2);
	rig_free(r);
}

/* In dwords of fte_match_param. */
#define PARAM_DWORDS (EMU_FTE_MATCH_PARAM_BYTES / 4)
enum { SOURCE_SQN = 16, SOURCE_PORT };

/* Calls that are refused leave nothing behind, and are violations if a program could have known. */
static void
refused_calls(void)
{
	uint32_t wire[PARAM_DWORDS] = {[80] = htobe32(1)}, none[PARAM_DWORDS] = {[0] = 0};
	struct emu_matcher_attr ma = {.mask = wire, .mask_len = sizeof(wire), .criteria = 1};
	struct emu_flow_attr fa = {.value = none, .value_len = sizeof(none), .has_tag = true, .tag = 0xffffff};
	struct emu_obj *matcher, *flow;
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	unsigned objects;
	uint64_t audit;

	fa.dest = &rx->tir->obj;
	objects = p->ctx->objects;
	audit = emu_audit_total();
	/* Behind the parts that are compared, whatever the criteria name. */
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), -EOPNOTSUPP);
	wire[80] = 0;
	wire[SOURCE_PORT] = htobe32(1); /* source_port */
	ma.criteria = 3;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), -EOPNOTSUPP);
	ma.ft_type = 3;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), -EOPNOTSUPP);
	ma.ft_type = 0;
	CHECK_EQ(emu_audit_total(), audit);
	ma.mask_len = EMU_FTE_MATCH_PARAM_BYTES + 1;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), -EINVAL);
	CHECK_EQ(emu_audit_total(), audit + 1);
	CHECK_EQ(p->ctx->objects, objects);
	CHECK_EQ(emu_flow_create(p->ctx, NULL, &fa, &flow), -EINVAL);
	CHECK_EQ(emu_flow_create(p->ctx, &rx->tir->obj, &fa, &flow), -EINVAL);
	ma.mask_len = 0;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), 0);
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &flow), 0);
	CHECK_EQ(emu_obj_destroy(flow), 0);
	fa.tag++;
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &flow), -EINVAL);
	CHECK_EQ(emu_audit_total(), audit + 2);
	fa.tag = 0;
	none[0] = htobe32(1); /* beyond the mask */
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &flow), -EINVAL);
	CHECK_EQ(emu_audit_total(), audit + 3);
	CHECK_EQ(emu_obj_destroy(matcher), 0);
	CHECK_EQ(p->ctx->objects, objects);
	rig_free(r);
}

/* In the FDB a program's rules are for the frames of one SQ. */
static void
fdb_matchers(void)
{
	uint32_t wire[PARAM_DWORDS] = {[0] = 0};
	struct emu_matcher_attr ma = {.mask = wire, .mask_len = sizeof(wire), .criteria = 2, .ft_type = 2};
	struct emu_obj *matcher;
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];

	wire[SOURCE_SQN] = htobe32(0xffffff);
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), -EINVAL); /* There is no eswitch. */
	p->dev->eswitch.on = true;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), 0);
	CHECK_EQ(emu_obj_destroy(matcher), 0);
	wire[SOURCE_SQN] = htobe32(0x7fffff);
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), -EOPNOTSUPP);
	wire[SOURCE_SQN] = 0;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), -EOPNOTSUPP);
	p->dev->eswitch.on = false;
	rig_free(r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"equal_rules", equal_rules},
		{"groups", groups},
		{"no_room", no_room},
		{"wide_before_narrow", wide_before_narrow},
		{"leftovers", leftovers},
		{"refused_calls", refused_calls},
		{"fdb_matchers", fdb_matchers},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
