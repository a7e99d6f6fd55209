/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Who gets a frame: address filter, rules, hashes, tables. */
#include <errno.h>

#include "rig.h"

/*
 * Rules see every frame. Of frames that match no rule, the addresses of the kernel's interface decide
 * which ones the kernel gets.
 */
static void
address_filter(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	struct emu_vport *v = &p->dev->vport;
	struct emu_port_stats *s = &p->dev->stats;
	static const uint8_t other[6] = {2, 0, 0, 0, 0, 9}, group[6] = {1, 0, 0x5e, 0, 0, 1};
	struct rig_frame f[4];

	rig_ip_frame(&f[0], p->dev, 4, 17, 10, 0, -1);
	f[1] = f[2] = f[3] = f[0];
	memcpy(f[1].data, other, 6);
	memcpy(f[2].data, group, 6);
	memset(f[3].data, 0xff, 6);
	for (unsigned i = 0; i < 4; i++) {
		rig_arrive(p, &f[i]);
		CHECK_EQ(rig_taken(rx, NULL), 1);
	}
	emu_obj_destroy(rx->flow);
	for (unsigned mode = 0; mode < 6; mode++) {
		uint64_t filtered = s->rx_filtered, kernel = s->rx_kernel, missed = s->rx_missed;
		unsigned uc, multi;

		v->promisc_all = mode == 1;
		v->promisc_uc = mode == 2;
		v->promisc_mc = mode == 3;
		v->uc_count = mode == 4;
		memcpy(v->uc[0], other, 6);
		if (mode == 5)
			CHECK_EQ(emu_port_mcast(p->dev, group, true), 0);
		uc = mode == 1 || mode == 2 || mode == 4;
		multi = mode == 1 || mode == 3 || mode == 5;
		for (unsigned i = 0; i < 4; i++)
			rig_arrive(p, &f[i]);
		/* A function that a program owns has no interface of the kernel. */
		CHECK_EQ(s->rx_filtered - filtered, rig_vfio ? 0 : 2 - uc - multi);
		CHECK_EQ(s->rx_kernel - kernel, rig_vfio ? 0 : 2 + uc + multi);
		CHECK_EQ(s->rx_missed - missed, rig_vfio ? 4 : 0);
	}
	CHECK_EQ(s->rx_frames, 28);
	CHECK_EQ(s->rx_bcast_frames, 7);
	CHECK_EQ(s->rx_mcast_frames, 7);
	CHECK_EQ(s->rx_delivered_frames, 4);
	/* Runts have no address at all. */
	f[0].len = 13;
	rig_arrive(p, &f[0]);
	CHECK_EQ(s->rx_frames, 28);
	CHECK_EQ(s->rx_undersize, 1);
	rig_free(r);
}

static void
every_field(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	struct rig_frame udp4, tcp6;
	/* mask and value of each field, for udp4 (VLAN 0x2abc) and for tcp6 (no tag) */
	static const struct {
		unsigned dw;
		uint32_t mask, udp4, tcp6;
	} c[] = {
		{RIG_SMAC_HI, 0xffffffff, 0x02000000, 0x02000000},
		{RIG_SMAC_LO_TYPE, 0xffff0000, 0x00770000, 0x00770000},
		{RIG_SMAC_LO_TYPE, 0xffff, 0x0800, 0x86dd},
		{RIG_DMAC_HI, 0xffffffff, 0x0c42a14e, 0x0c42a14e},
		{RIG_DMAC_LO_VLAN, 0xffff0000, 0xd0000000, 0xd0000000},
		{RIG_DMAC_LO_VLAN, 0xe000, 1 << 13, 0},  /* first_prio */
		{RIG_DMAC_LO_VLAN, 0x1000, 0, 0},	       /* first_cfi */
		{RIG_DMAC_LO_VLAN, 0x0fff, 0xabc, 0},    /* first_vid */
		{RIG_PROTO, 0xff000000, 17u << 24, 6u << 24},
		{RIG_PROTO, 0x00ff0000, 0, 0},
		{RIG_PROTO, 0x8000, 0x8000, 0}, /* cvlan_tag */
		{RIG_PROTO, 0x4000, 0, 0},      /* svlan_tag */
		{RIG_PROTO, 0x2000, 0, 0},      /* frag */
		{RIG_PROTO, 0x1e00, 4 << 9, 6 << 9},
		{RIG_PROTO, 0x01ff, 0, 0x10}, /* tcp_flags */
		{RIG_TCP, 0xffff0000, 0, 0x12340000},
		{RIG_TCP, 0xffff, 0, 0x5678},
		{RIG_TTL, 0x00ff, 64, 64},
		{RIG_TTL, 0xf000, 5 << 12, 0}, /* ipv4_ihl */
		{RIG_TTL, 0x0f00, 0x0f00, 0x0d00}, /* l3_ok l4_ok ipv4_checksum_ok l4_checksum_ok */
		{RIG_UDP, 0xffff0000, 0x12340000, 0},
		{RIG_UDP, 0xffff, 0x5678, 0},
		{8, 0xffffffff, 0, 0x20212223},
		{9, 0xffffffff, 0, 0x24252627},
		{10, 0xffffffff, 0, 0x28292a2b},
		{11, 0xffffffff, 0x0a010203, 0x2c2d2e2f},
		{12, 0xffffffff, 0, 0x30313233},
		{13, 0xffffffff, 0, 0x34353637},
		{14, 0xffffffff, 0, 0x38393a3b},
		{15, 0xffffffff, 0x0a010204, 0x3c3d3e3f},
	};

	rig_ip_frame(&udp4, p->dev, 4, 17, 10, 0, 0x2abc);
	rig_ip_frame(&tcp6, p->dev, 6, 6, 10, 0, -1);
	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		for (unsigned way = 0; way < 3; way++) {
			uint32_t mask[16] = {0}, value[16] = {0};
			struct emu_flow_attr attr = {.dest = &rx->tir->obj, .has_tag = true,
						     .tag = 0x77};
			uint32_t want = way == 0 ? c[i].udp4 : c[i].tcp6, tag = 0;
			const struct rig_frame *f = way == 0 ? &udp4 : &tcp6;
			struct emu_obj *flow;

			mask[c[i].dw] = c[i].mask;
			/* way 2: the lowest bit of the field is wrong */
			if (way == 2)
				want ^= c[i].mask & -c[i].mask;
			value[c[i].dw] = want;
			flow = rig_flow(p, 1, mask, value, &attr);
			rig_arrive(p, f);
			CHECK_EQ(rig_taken(rx, &tag), 1);
			CHECK_EQ(tag, way == 2 ? 0 : 0x77);
			if (tag != (way == 2 ? 0 : 0x77u))
				fprintf(stderr, "  field %u way %u\n", i, way);
			CHECK_EQ(emu_obj_destroy(flow), 0);
		}
	}
	rig_free(r);
}

/* Lower priority number first, then the older group of rules; a destroyed rule has no effect. */
static void
priorities(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	uint32_t mask[16] = {0}, value[16] = {0}, tag = 0;
	struct emu_flow_attr attr = {.dest = &rx->tir->obj, .has_tag = true};
	struct emu_obj *f[4];
	static const unsigned priority[] = {9, 5, 5, 1};
	struct rig_frame frame;

	mask[RIG_DMAC_HI] = 0xffffffff;
	value[RIG_DMAC_HI] = 0x0c42a14e;
	rig_ip_frame(&frame, p->dev, 4, 17, 10, 0, -1);
	for (unsigned i = 0; i < 4; i++) {
		attr.tag = i + 1;
		/* Another mask is another group. */
		mask[RIG_DMAC_HI] = i == 2 ? 0xffff0000 : 0xffffffff;
		value[RIG_DMAC_HI] = 0x0c42a14e & mask[RIG_DMAC_HI];
		f[i] = rig_flow(p, priority[i], mask, value, &attr);
		rig_arrive(p, &frame);
		CHECK_EQ(rig_taken(rx, &tag), 1);
		CHECK_EQ(tag, i == 0 ? 1 : i == 3 ? 4 : 2);
	}
	emu_obj_destroy(f[3]);
	rig_arrive(p, &frame);
	CHECK(rig_taken(rx, &tag) == 1 && tag == 2);
	emu_obj_destroy(f[1]);
	rig_arrive(p, &frame);
	CHECK(rig_taken(rx, &tag) == 1 && tag == 3);
	emu_obj_destroy(f[2]);
	emu_obj_destroy(f[0]);
	emu_obj_destroy(rx->flow);
	rig_arrive(p, &frame);
	CHECK_EQ(rig_taken(rx, &tag), 0);
	CHECK_EQ(rig_vfio ? p->dev->stats.rx_missed : p->dev->stats.rx_kernel, 1);
	rig_free(r);
}

/* As mlx5_ib: what is multicast only shares a table, where the older group of rules comes first. */
static void
multicast_table(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	uint32_t wide[16] = {0}, exact[16] = {0}, to_wide[16] = {0}, to_exact[16] = {0}, tag = 0;
	struct emu_flow_attr attr = {.dest = &rx->tir->obj, .has_tag = true, .tag = 1};
	struct emu_obj *older, *newer;
	struct rig_frame f;

	/* It would come before them: the multicast table is the last. */
	emu_obj_destroy(rx->flow);
	rig_ip_frame(&f, p->dev, 4, 17, 10, 0, -1);
	memset(f.data, 0xff, 6);
	wide[RIG_DMAC_HI] = to_wide[RIG_DMAC_HI] = 0x01000000;
	exact[RIG_DMAC_HI] = to_exact[RIG_DMAC_HI] = 0xffffffff;
	older = rig_flow(p, 9, wide, to_wide, &attr);
	attr.tag = 2;
	newer = rig_flow(p, 0, exact, to_exact, &attr);
	rig_arrive(p, &f);
	CHECK(rig_taken(rx, &tag) == 1 && tag == 1);
	emu_obj_destroy(older);
	rig_arrive(p, &f);
	CHECK(rig_taken(rx, &tag) == 1 && tag == 2);
	emu_obj_destroy(newer);
	rig_free(r);
}

/* Rules that the kernel refuses before firmware sees them. */
static int
spec_answer(struct rig_port *p, unsigned priority, uint8_t criteria, uint32_t mask, uint32_t value)
{
	uint32_t m[16] = {0}, v[16] = {0};
	struct emu_matcher_attr ma = {.mask = m, .mask_len = sizeof(m), .criteria = criteria,
				      .priority = (uint16_t)priority};
	struct emu_flow_attr fa = {.value = v, .value_len = sizeof(v), .drop = true};
	struct emu_obj *matcher, *flow;
	int ret;

	m[RIG_DMAC_HI] = htobe32(mask);
	v[RIG_DMAC_HI] = htobe32(value);
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), 0);
	ret = emu_flow_create(p->ctx, matcher, &fa, &flow);
	if (ret == 0)
		CHECK_EQ(emu_obj_destroy(flow), 0);
	CHECK_EQ(emu_obj_destroy(matcher), 0);
	return ret;
}

static void
refused_specs(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];

	CHECK_EQ(spec_answer(p, 15, 1, 0xff000000, 0x02000000), 0);
	CHECK_EQ(spec_answer(p, 15, 0, 0, 0), 0);
	CHECK_EQ(spec_answer(p, 16, 1, 0xff000000, 0x02000000), -ENOMEM);
	CHECK_EQ(spec_answer(p, 0, 1, 0xff000000, 0x02000001), -EINVAL);
	CHECK_EQ(spec_answer(p, 0, 0, 0xff000000, 0x02000000), -EINVAL);
	rig_free(r);
}

static void
drop_miss_and_count(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	uint32_t in[4] = {htobe32((uint32_t)PRM_CMD_OP_ALLOC_FLOW_COUNTER << 16)}, zero[16] = {0};
	struct emu_flow_counter *counter;
	struct emu_flow_attr attr = {.drop = true};
	struct emu_obj *flow;
	struct rig_frame f;

	CHECK_EQ(rig_fw(p, in, sizeof(in), (struct emu_obj **)&counter), 0);
	attr.counter = counter;
	rig_ip_frame(&f, p->dev, 4, 17, 10, 0, -1);
	flow = rig_flow(p, 1, zero, zero, &attr);
	rig_arrive(p, &f);
	CHECK_EQ(rig_taken(rx, NULL), 0);
	CHECK_EQ(p->dev->stats.rx_dropped_by_rule, 1);
	emu_obj_destroy(flow);
	attr.drop = false;
	attr.default_miss = true;
	flow = rig_flow(p, 1, zero, zero, &attr);
	rig_arrive(p, &f);
	CHECK_EQ(rig_vfio ? p->dev->stats.rx_missed : p->dev->stats.rx_kernel, 1);
	CHECK_EQ(counter->counts[0].packets, 2);
	CHECK_EQ(counter->counts[0].bytes, 2 * f.len);
	/* What a rule uses cannot go before it. */
	CHECK_EQ(emu_obj_destroy(&counter->obj), -EBUSY);
	CHECK_EQ(emu_obj_destroy(&rx->tir->obj), -EBUSY);
	emu_obj_destroy(flow);
	CHECK_EQ(emu_obj_destroy(&counter->obj), 0);
	rig_free(r);
}

static void
transmit_rules(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_port *p = &r->port[0];
	struct rig_sq *sq = rig_sq_new(p, rig_cq_new(p, 6, 6), 6);
	struct rig_rx *rx = rig_rx_new(&r->port[1], 4);
	uint32_t mask[16] = {0}, value[16] = {0};
	struct emu_matcher_attr ma = {.mask = mask, .mask_len = sizeof(mask), .criteria = 1,
				      .ft_type = 1};
	struct emu_flow_attr fa = {.value = value, .value_len = sizeof(value), .drop = true};
	struct emu_obj *matcher, *flow;
	struct rig_frame *f = rig_mem(p, sizeof(*f), 64);

	mask[7] = htobe32(0xffff);
	value[7] = htobe32(0x5678);
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), 0);
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &flow), 0);
	rig_ip_frame(f, r->port[1].dev, 4, 17, 20, 0, -1);
	rig_send(sq, f->data, f->len);
	rig_run(r);
	CHECK_EQ(rig_taken(rx, NULL), 0);
	CHECK_EQ(p->dev->stats.tx_dropped_by_rule, 1);
	rig_ip_frame(f, r->port[1].dev, 4, 6, 20, 0, -1);
	rig_send(sq, f->data, f->len);
	rig_run(r);
	CHECK_EQ(rig_taken(rx, NULL), 1);
	rig_free(r);
}

static void
refusals(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx = rig_rx_new(p, 4);
	uint8_t mask[0x201] = {0};
	struct emu_matcher_attr ma = {.mask = mask, .mask_len = 0x200, .criteria = 1};
	struct emu_flow_attr fa = {.value = mask, .value_len = 64};
	struct emu_obj *matcher, *out;

	mask[0x40] = 1; /* source_vhca_port */
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &out), -EOPNOTSUPP);
	mask[0x40] = 0;
	ma.criteria = 0x21; /* misc4 */
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &out), -EOPNOTSUPP);
	ma.criteria = 1;
	/* The FDB exists in switchdev mode only: Linux, hw/mlx5/fs.c, MLX5_IB_METHOD_FLOW_MATCHER_CREATE. */
	ma.ft_type = 2;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &out), -EINVAL);
	ma.ft_type = 3;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &out), -EOPNOTSUPP);
	ma.ft_type = 0;
	ma.mask_len = 0x201;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &out), -EINVAL);
	ma.mask_len = 64;
	CHECK_EQ(emu_matcher_create(p->ctx, &ma, &matcher), 0);
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &out), -EINVAL); /* no destination */
	fa.dest = &rx->tir->obj;
	fa.drop = true;
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &out), -EINVAL);
	fa.drop = false;
	fa.has_tag = true;
	fa.tag = 1u << 24;
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &out), -EINVAL);
	fa.tag--;
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &out), 0);
	CHECK_EQ(emu_obj_destroy(out), 0);
	fa.has_tag = false;
	fa.dest = &rx->rq->rq->obj;
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &out), -EOPNOTSUPP);
	CHECK_EQ(emu_flow_create(p->ctx, &rx->tir->obj, &fa, &out), -EINVAL);
	fa.dest = &rx->tir->obj;
	CHECK_EQ(emu_flow_create(p->ctx, matcher, &fa, &out), 0);
	CHECK_EQ(emu_obj_destroy(matcher), -EBUSY);
	rig_free(r);
}

/* The key and vectors of Microsoft's "Verifying the RSS hash calculation". */
static const uint8_t ms_key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

struct vector {
	unsigned version;
	uint8_t dst[16], src[16];
	uint16_t dport, sport;
	uint32_t ip_hash, tcp_hash;
};
static const struct vector vectors[] = {
	{4, {161, 142, 100, 80}, {66, 9, 149, 187}, 1766, 2794, 0x323e8fc2, 0x51ccc178},
	{4, {65, 69, 140, 83}, {199, 92, 111, 2}, 4739, 14230, 0xd718262a, 0xc626b0ea},
	{4, {12, 22, 207, 184}, {24, 19, 198, 95}, 38024, 12898, 0xd2d0a5de, 0x5c2b394a},
	{4, {209, 142, 163, 6}, {38, 27, 205, 30}, 2217, 48228, 0x82989176, 0xafc7327f},
	{4, {202, 188, 127, 2}, {153, 39, 163, 191}, 1303, 44251, 0x5d1809c5, 0x10e828a2},
	{6, {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1},
	 {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7},
	 1766, 2794, 0x2cc18cd5, 0x40207d3d},
	{6, {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
	 {0x3f, 0xfe, 0x05, 0x01, 0x00, 0x08, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef, 0xab},
	 4739, 14230, 0x0f0c461c, 0xdde51bbf},
	{6, {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
	 {0x3f, 0xfe, 0x19, 0x00, 0x45, 0x45, 0, 3, 0x02, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
	 38024, 44251, 0x4b61e985, 0x02d1feef},
};

static void
vector_frame(struct rig_frame *f, const struct emu_dev *dev, const struct vector *v, unsigned proto)
{
	uint8_t *ip = f->data + 14, *l4;
	unsigned addr = v->version == 4 ? 4 : 16;

	rig_ip_frame(f, dev, v->version, proto, 10, 0, -1);
	memcpy(ip + (v->version == 4 ? 12 : 8), v->src, addr);
	memcpy(ip + (v->version == 4 ? 16 : 24), v->dst, addr);
	l4 = ip + (v->version == 4 ? 20 : 40);
	l4[0] = (uint8_t)(v->sport >> 8);
	l4[1] = (uint8_t)v->sport;
	l4[2] = (uint8_t)(v->dport >> 8);
	l4[3] = (uint8_t)v->dport;
	rig_fix_checksums(f, 14);
}

struct spread {
	struct rig_rx *rx[4];
	struct emu_obj *rqt;
};

static void
spread_new(struct rig_port *p, struct spread *s, unsigned n)
{
	struct rig_rq *rqs[4];

	for (unsigned i = 0; i < n; i++) {
		s->rx[i] = rig_rx_new(p, 4);
		emu_obj_destroy(s->rx[i]->flow);
		rqs[i] = s->rx[i]->rq;
	}
	s->rqt = rig_rqt_new(p, rqs, n);
}

/* Sends f, returns the completion, checks that it came out of the queue that the hash names. */
static const struct prm_cqe64 *
hashed(struct rig_port *p, struct spread *s, unsigned n, const struct rig_frame *f)
{
	const struct prm_cqe64 *cqe = NULL;
	unsigned at = 0;

	rig_arrive(p, f);
	for (unsigned i = 0; i < n; i++) {
		const struct prm_cqe64 *one = rig_cqe(s->rx[i]->cq);

		if (one == NULL)
			continue;
		CHECK(cqe == NULL);
		cqe = one;
		at = i;
		rig_post(s->rx[i]->rq, s->rx[i]->buf[0], RIG_BUF_BYTES, p->lkey);
	}
	CHECK(cqe != NULL);
	if (cqe == NULL)
		exit(1);
	CHECK_EQ(at, be32toh(cqe->rx_hash_result) % n);
	return cqe;
}

static void
rss_vectors(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct spread s;
	struct rig_frame f;

	spread_new(p, &s, 4);
	for (unsigned i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		const struct vector *v = &vectors[i];

		for (unsigned ports = 0; ports < 2; ports++) {
			for (unsigned proto = 6; proto <= 17; proto += 11) {
				struct rig_hash h = {.l3 = v->version == 6, .l4 = proto == 17,
						     .fields = ports ? 0xf : 0x3, .key = ms_key};
				struct emu_flow_attr attr = {
					.dest = &rig_tir_new(p, NULL, s.rqt, &h)->obj};
				uint32_t zero[16] = {0};
				struct emu_obj *flow = rig_flow(p, 1, zero, zero, &attr);
				const struct prm_cqe64 *cqe;
				unsigned ip = v->version == 4 ? 5 : 10, l4 = proto == 6 ? 5 : 10;

				vector_frame(&f, p->dev, v, proto);
				cqe = hashed(p, &s, 4, &f);
				CHECK_EQ(be32toh(cqe->rx_hash_result),
					 ports ? v->tcp_hash : v->ip_hash);
				CHECK_EQ(cqe->rx_hash_type, ip | (ports ? l4 << 4 : 0));
				emu_obj_destroy(flow);
				emu_obj_destroy(attr.dest);
			}
		}
	}
	rig_free(r);
}

/* Linux's TIR for a single queue (mlx5e_tir_builder_build_direct()); and with fields. */
static void
rss_xor8(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	uint32_t zero[16] = {0};
	uint64_t violations = rig_audit(r);

	for (unsigned queues = 1; queues <= 4; queues += 3) {
		struct rig_hash h = {.fields = queues == 1 ? 0 : 3, .xor8 = true};
		struct emu_flow_attr attr;
		const struct prm_cqe64 *cqe;
		struct rig_frame f;
		struct spread s;
		uint8_t sum = 0;

		spread_new(p, &s, queues);
		attr = (struct emu_flow_attr){.dest = &rig_tir_new(p, NULL, s.rqt, &h)->obj};
		rig_flow(p, 1, zero, zero, &attr);
		vector_frame(&f, p->dev, &vectors[0], 6);
		for (unsigned i = 14 + 12; i < 14 + 20; i++)
			sum ^= f.data[i];
		cqe = hashed(p, &s, queues, &f);
		CHECK_EQ(be32toh(cqe->rx_hash_result), queues == 1 ? 0 : (uint8_t)~sum);
	}
	CHECK_EQ(rig_audit(r), violations);
	rig_free(r);
}

/* A frame in VXLAN is hashed by its inner headers if the TIR selects them and is for tunnels. */
static void
rss_inner(void)
{
	for (unsigned tunneled = 0; tunneled < 2; tunneled++) {
		struct rig *r = rig_new(1, "loop");
		struct rig_port *p = &r->port[0];
		struct rig_hash h = {.inner_fields = 0xf, .tunneled = tunneled != 0, .key = ms_key};
		struct rig_frame f, inner;
		const struct prm_cqe64 *cqe;
		struct spread s;

		spread_new(p, &s, 4);
		rig_flow_all(p, rig_tir_new(p, NULL, s.rqt, &h), 0);
		vector_frame(&inner, p->dev, &vectors[0], 6);
		rig_ip_frame(&f, p->dev, 4, 17, 8 + inner.len, 0, -1);
		f.data[14 + 20 + 2] = 4789 >> 8;
		f.data[14 + 20 + 3] = 4789 & 0xff;
		memcpy(f.data + 42, "\x08\0\0\0\0\0\0", 8);
		memcpy(f.data + 50, inner.data, inner.len);
		rig_fix_checksums(&f, 14);
		cqe = hashed(p, &s, 4, &f);
		CHECK_EQ(be32toh(cqe->rx_hash_result), tunneled ? vectors[0].tcp_hash : 0);
		CHECK_EQ(cqe->rx_hash_type, tunneled ? 0x55 : 0);
		cqe = hashed(p, &s, 4, &inner);
		CHECK_EQ(cqe->rx_hash_result, 0);
		rig_free(r);
	}
}

/* What the selection does not fit: hash 0, first queue. Ports of another protocol do not count. */
static void
rss_mismatch(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_hash h = {.l3 = 0, .l4 = 0, .fields = 0xf, .key = ms_key};
	const struct prm_cqe64 *cqe;
	struct rig_frame f;
	struct spread s;

	spread_new(p, &s, 4);
	rig_flow_all(p, rig_tir_new(p, NULL, s.rqt, &h), 0);
	vector_frame(&f, p->dev, &vectors[5], 6); /* IPv6 */
	cqe = hashed(p, &s, 4, &f);
	CHECK_EQ(cqe->rx_hash_result, 0);
	CHECK_EQ(cqe->rx_hash_type, 0);
	vector_frame(&f, p->dev, &vectors[0], 17); /* UDP, TCP selected */
	cqe = hashed(p, &s, 4, &f);
	CHECK_EQ(be32toh(cqe->rx_hash_result), vectors[0].ip_hash);
	CHECK_EQ(cqe->rx_hash_type, 5);
	vector_frame(&f, p->dev, &vectors[0], 6);
	f.data[14 + 6] = 0x20; /* a fragment has no ports */
	rig_fix_checksums(&f, 14);
	cqe = hashed(p, &s, 4, &f);
	CHECK_EQ(be32toh(cqe->rx_hash_result), vectors[0].ip_hash);
	rig_free(r);
}

static void
rss_symmetric_and_partial(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	uint32_t zero[16] = {0}, forth, back;
	struct spread s;

	spread_new(p, &s, 2);
	for (unsigned symmetric = 0; symmetric < 2; symmetric++) {
		for (unsigned i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
			struct vector v = vectors[i], w = v;
			struct rig_hash h = {.l3 = v.version == 6, .fields = 0xf, .key = ms_key,
					     .symmetric = symmetric != 0};
			struct emu_flow_attr attr = {
				.dest = &rig_tir_new(p, NULL, s.rqt, &h)->obj};
			struct emu_obj *flow = rig_flow(p, 1, zero, zero, &attr);
			struct rig_frame f;

			memcpy(w.src, v.dst, 16);
			memcpy(w.dst, v.src, 16);
			w.sport = v.dport;
			w.dport = v.sport;
			vector_frame(&f, p->dev, &v, 6);
			forth = be32toh(hashed(p, &s, 2, &f)->rx_hash_result);
			vector_frame(&f, p->dev, &w, 6);
			back = be32toh(hashed(p, &s, 2, &f)->rx_hash_result);
			CHECK_EQ(forth == back, symmetric);
			if (!symmetric)
				CHECK_EQ(forth, v.tcp_hash);
			emu_obj_destroy(flow);
			emu_obj_destroy(attr.dest);
		}
	}
	rig_free(r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"address_filter", address_filter},
		{"every_field", every_field},
		{"priorities", priorities},
		{"multicast_table", multicast_table},
		{"refused_specs", refused_specs},
		{"drop_miss_and_count", drop_miss_and_count},
		{"transmit_rules", transmit_rules},
		{"refusals", refusals},
		{"rss_vectors", rss_vectors},
		{"rss_xor8", rss_xor8},
		{"rss_inner", rss_inner}, {"rss_mismatch", rss_mismatch},
		{"rss_symmetric_and_partial", rss_symmetric_and_partial},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
