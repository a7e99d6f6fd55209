/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packets in flow tables that a program made by command: order, misses, tags, counters, the root. */
#include <errno.h>

#include "rig_tables.h"

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

#define NO_QUEUE 0xffffffffu
/* Delivers a frame twice; both must have the same result. Returns its flow tag. */
static uint32_t
comes(struct bench *b)
{
	const struct prm_cqe64 *cqe;
	uint32_t tag[2] = {NO_QUEUE, NO_QUEUE};

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

static const struct rig_match any, ipv4 = {.ip_version = 4}, udp = {.ip_version = 4, .proto = 17};

/* A program's root table replaces all of the kernel's; frames that match nothing are dropped. */
static void
the_root(void)
{
	struct bench b = setup();
	struct emu_obj *t = rig_table(b.p, 0), *g = rig_group(b.p, t, 0, 3, &ipv4), *fte;
	struct emu_port_stats *s = &b.p->dev->stats;

	CHECK_EQ(comes(&b), 0); /* the kernel's rule */
	rig_root(b.p, t);
	CHECK_EQ(comes(&b), NO_QUEUE);
	CHECK_EQ(s->rx_missed, 2);
	CHECK_EQ(s->rx_kernel + s->rx_filtered, 0);
	CHECK(!emu_dp_can_receive(b.p->dev, 0));
	fte = rig_entry(b.p, t, g, 2, &ipv4, &(struct rig_actions){.dest = &b.rx->tir->obj, .tag = 0xabc});
	CHECK(emu_dp_can_receive(b.p->dev, 0));
	CHECK_EQ(comes(&b), 0xabc);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, fte, NULL, 0), 0);
	CHECK_EQ(comes(&b), NO_QUEUE);
	rig_root(b.p, NULL);
	CHECK_EQ(comes(&b), 0);
	rig_root(b.p, t);
	CHECK_EQ(comes(&b), NO_QUEUE);
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
	struct emu_obj *t = rig_table(b.p, 0);
	struct emu_obj *wide = rig_group(b.p, t, 8, 11, &any), *narrow = rig_group(b.p, t, 2, 5, &udp);
	struct emu_obj *late = rig_group(b.p, t, 12, 15, &ipv4), *fte;
	struct rig_actions to = {.dest = &b.rx->tir->obj};

	rig_root(b.p, t);
	to.tag = 12;
	rig_entry(b.p, t, late, 12, &ipv4, &to);
	CHECK_EQ(comes(&b), 12);
	to.tag = 9;
	rig_entry(b.p, t, wide, 9, &any, &to);
	CHECK_EQ(comes(&b), 9);
	to.tag = 8;
	fte = rig_entry(b.p, t, wide, 8, &any, &to);
	CHECK_EQ(comes(&b), 8);
	to.tag = 5;
	rig_entry(b.p, t, narrow, 5, &udp, &to);
	CHECK_EQ(comes(&b), 5);
	to.tag = 3;
	rig_entry(b.p, t, narrow, 3, &udp, &to);
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
	struct emu_obj *t[3] = {rig_table(b.p, 1), rig_table(b.p, 7), rig_table(b.p, 20)}, *g[3], *c[2];

	for (unsigned i = 0; i < 3; i++)
		g[i] = rig_group(b.p, t[i], 0, 3, &udp);
	c[0] = rig_flow_counter(b.p);
	c[1] = rig_flow_counter(b.p);
	rig_root(b.p, t[0]);
	rig_entry(b.p, t[0], g[0], 0, &udp, &(struct rig_actions){.dest = t[2], .counter = c[0], .tag = 5});
	CHECK_EQ(comes(&b), NO_QUEUE);
	rig_entry(b.p, t[2], g[2], 0, &udp, &(struct rig_actions){.dest = &b.rx->tir->obj, .counter = c[1]});
	CHECK_EQ(comes(&b), 5);
	CHECK_EQ(rig_packets(c[0]), 4);
	CHECK_EQ(rig_packets(c[1]), 2);
	/* Another tag on the way; then another way. */
	rig_entry(b.p, t[2], g[2], 0, &udp, &(struct rig_actions){.dest = &b.rx->tir->obj, .tag = 6,
						      .modify = PRM_MODIFY_FTE_MASK_FLOW_TAG});
	CHECK_EQ(comes(&b), 6);
	rig_entry(b.p, t[0], g[0], 0, &udp,
	      &(struct rig_actions){.dest = t[1], .modify = PRM_MODIFY_FTE_MASK_DESTINATION_LIST});
	CHECK_EQ(comes(&b), NO_QUEUE);
	rig_miss(b.p, t[1], t[2]);
	CHECK_EQ(comes(&b), 6);
	CHECK(emu_dp_can_receive(b.p->dev, 0));
	CHECK_EQ(rig_packets(c[0]), 10);
	CHECK_EQ(rig_packets(c[1]), 6);
	rig_miss(b.p, t[1], NULL);
	CHECK_EQ(comes(&b), NO_QUEUE);
	rig_entry(b.p, t[0], g[0], 0, &udp,
	      &(struct rig_actions){.modify = PRM_MODIFY_FTE_MASK_ACTION |
				       PRM_MODIFY_FTE_MASK_DESTINATION_LIST |
				       PRM_MODIFY_FTE_MASK_FLOW_COUNTERS});
	CHECK_EQ(comes(&b), NO_QUEUE);
	CHECK_EQ(rig_packets(c[0]), 12);
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

		t[i] = rig_table(b.p, i);
		c[i] = rig_flow_counter(b.p);
		rig_entry(b.p, t[i], rig_group(b.p, t[i], 0, 0, &ipv4), 0, &ipv4,
		      &(struct rig_actions){.dest = to, .counter = c[i], .tag = i == 0});
	}
	rig_root(b.p, t[0]);
	CHECK_EQ(comes(&b), 1);
	for (unsigned i = 0; i < EMU_DP_FT_LEVELS; i++)
		CHECK_EQ(rig_packets(c[i]), 2);
	rig_free(b.r);
}

/* Down a level, and in a circle, in which packets are lost. */
static void
any_level(void)
{
	struct bench b = setup();
	struct emu_obj *low = rig_table(b.p, 1), *high = rig_table(b.p, 2), *c = rig_flow_counter(b.p), *fte;

	rig_entry(b.p, high, rig_group(b.p, high, 0, 0, &ipv4), 0, &ipv4,
		  &(struct rig_actions){.dest = low, .any_level = true, .counter = c});
	rig_root(b.p, high);
	CHECK_EQ(comes(&b), NO_QUEUE);
	fte = rig_entry(b.p, low, rig_group(b.p, low, 0, 0, &ipv4), 0, &ipv4,
			&(struct rig_actions){.dest = &b.rx->tir->obj, .tag = 5});
	CHECK_EQ(comes(&b), 5);
	CHECK_EQ(rig_packets(c), 4);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, fte, NULL, 0), 0);
	rig_entry(b.p, low, rig_group(b.p, low, 1, 1, &ipv4), 1, &ipv4, &(struct rig_actions){.dest = high});
	CHECK_EQ(comes(&b), NO_QUEUE);
	CHECK(rig_packets(c) > 100);
	CHECK_EQ(b.p->dev->stats.rx_missed, 2);
	CHECK_EQ(b.p->dev->stats.rx_dropped_by_rule, 2);
	CHECK(!emu_dp_can_receive(b.p->dev, 0));
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* Fields as the kernel's rules know them. */
static void
fields(void)
{
	struct bench b = setup();
	struct emu_obj *t = rig_table(b.p, 0), *g[4];
	static const struct rig_match by[4] = {
		{.vid = 0xabc}, {.vid = -1}, {.ip_version = 4, .proto = 17, .by_frag = true},
		{.ethertype = 0x86dd, .ip_version = 6},
	};

	rig_root(b.p, t);
	for (unsigned i = 0; i < 4; i++) {
		g[i] = rig_group(b.p, t, 4 * i, 4 * i + 3, &by[i]);
		rig_entry(b.p, t, g[i], 4 * i, &by[i],
		      &(struct rig_actions){.dest = &b.rx->tir->obj, .tag = 0x10 + i});
	}
	CHECK_EQ(comes(&b), 0x11);
	rig_ip_frame(&b.f, b.p->dev, 4, 6, 64, 0, 0x2abc);
	CHECK_EQ(comes(&b), 0x10);
	rig_ip_frame(&b.f, b.p->dev, 4, 17, 64, 0, 0x2abd);
	CHECK_EQ(comes(&b), 0x12);
	b.f.data[18 + 6] |= 0x20; /* more fragments */
	rig_fix_checksums(&b.f, 18);
	CHECK_EQ(comes(&b), NO_QUEUE);
	rig_ip_frame(&b.f, b.p->dev, 6, 17, 64, 0, 0x2abd);
	CHECK_EQ(comes(&b), 0x13);
	rig_free(b.r);
}

/* A rule of the kernel's leads into a program's table: only upwards, and only out of its receive side. */
static void
from_the_kernel(void)
{
	struct bench b = setup();
	struct emu_obj *t = rig_table(b.p, 5), *g = rig_group(b.p, t, 0, 3, &udp), *flow = NULL, *matcher;
	struct emu_flow_attr attr = {.dest = t};
	uint32_t zero[16] = {0}, mask[16] = {0};
	struct emu_matcher_attr tx = {.mask = zero, .mask_len = sizeof(zero), .ft_type = 1};
	struct emu_matcher_attr low = {.mask = zero, .mask_len = sizeof(zero), .priority = 5};
	struct emu_matcher_attr multi = {.mask = mask, .mask_len = sizeof(mask), .criteria = 1};

	CHECK_EQ(emu_matcher_create(b.p->ctx, &tx, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &attr, &flow), -EINVAL);
	CHECK_EQ(emu_matcher_create(b.p->ctx, &low, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &attr, &flow), -EINVAL);
	/* The multicast table follows all others. */
	mask[2] = htobe32(0x01000000);
	attr.value = mask;
	attr.value_len = sizeof(mask);
	CHECK_EQ(emu_matcher_create(b.p->ctx, &multi, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &attr, &flow), -EINVAL);
	flow = rig_flow(b.p, 4, zero, zero, &(struct emu_flow_attr){.dest = t, .has_tag = true,
								    .tag = 0x44});
	CHECK_EQ(comes(&b), NO_QUEUE);
	CHECK_EQ(b.p->dev->stats.rx_missed, 2);
	rig_entry(b.p, t, g, 0, &udp, &(struct rig_actions){.dest = &b.rx->tir->obj});
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
		{"all_levels", all_levels}, {"any_level", any_level}, {"fields", fields}, {"from_the_kernel", from_the_kernel},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
