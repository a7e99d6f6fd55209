/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Steering by the kernel's matchers and flows. A packet's headers are brought into the layout of
 * fte_match_set_lyr_2_4 once, and every rule is a masked comparison of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "dp_class.h"
#include "dp_csum.h"
#include "dp_int.h"

#define KEY_DWORDS 16u /* fte_match_set_lyr_2_4 */
#define KEY_FIRST_L3 4u /* dwords before this are Ethernet's alone */
#define TABLE_RX 0u    /* MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX */
#define TABLE_TX 1u    /* MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX */
#define CRITERIA_OUTER 1u

struct dp_matcher {
	struct emu_obj obj;
	uint8_t table;
	uint16_t priority;
	uint32_t mask[KEY_DWORDS];
	bool mask_stray; /* the mask has bits in headers that the criteria do not name */
};

/* mlx5_ib's tables: one per priority, then one for all that is multicast only. */
#define PRIORITY_MAX 15u
#define LEVEL_MULTICAST (PRIORITY_MAX + 1)
#define DMAC_HI 2u /* dmac_47_16 */
#define DMAC_HI_GROUP_BIT 0x01000000u

struct dp_table {
	TAILQ_HEAD(, dp_flow) flows; /* by level, then the age of the group (mask), then age */
	uint32_t mask[KEY_DWORDS];   /* union of all rules' masks */
	uint8_t used[KEY_DWORDS];    /* the dwords that are not 0 in it */
	unsigned uses;
	bool uses_l3;		     /* some of them describe more than Ethernet */
	/* The last packet's masked headers and what they led to. */
	bool memo_valid;
	uint32_t memo_key[KEY_DWORDS];
	const struct dp_flow *memo_flow;
};

struct dp_steer {
	struct dp_table table[2];
	uint64_t changed_ns;
	bool wants_checksums; /* some mask asks for l3_ok and its like */
};

/* Bits of dword 6: l3_ok, l4_ok, ipv4_checksum_ok, l4_checksum_ok. */
#define KEY6_OK_BITS 0x0f00u

int
dp_steer_init(struct emu_dev *dev)
{
	struct dp_steer *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	TAILQ_INIT(&s->table[TABLE_RX].flows);
	TAILQ_INIT(&s->table[TABLE_TX].flows);
	dev->steer = s;
	return 0;
}

void
dp_steer_fini(struct emu_dev *dev)
{
	/* The rules themselves are objects and go when their context does. */
	free(dev->steer);
	dev->steer = NULL;
}

static void
table_changed(struct emu_dev *dev, struct dp_table *t)
{
	struct dp_steer *s = dev->steer;
	const struct dp_flow *flow;
	struct timespec ts;

	memset(t->mask, 0, sizeof(t->mask));
	TAILQ_FOREACH(flow, &t->flows, next)
		for (unsigned i = 0; i < KEY_DWORDS; i++)
			t->mask[i] |= flow->matcher->mask[i];
	t->uses = 0;
	for (unsigned i = 0; i < KEY_DWORDS; i++)
		if (t->mask[i] != 0)
			t->used[t->uses++] = (uint8_t)i;
	t->uses_l3 = t->uses != 0 && t->used[t->uses - 1] >= KEY_FIRST_L3;
	t->memo_valid = false;
	dp_class_forget(dp_port_of(dev));
	s->wants_checksums = ((s->table[TABLE_RX].mask[6] | s->table[TABLE_TX].mask[6]) &
			      KEY6_OK_BITS) != 0;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	s->changed_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* What the device answers for a mask or value, or 0. */
static int
check_param(struct emu_ctx *ctx, const uint8_t *p, size_t len, const char *what)
{
	if (len > EMU_FTE_MATCH_PARAM_BYTES || (len != 0 && p == NULL)) {
		emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL, "flow %s of %zu bytes", what, len);
		return -EINVAL;
	}
	for (size_t i = KEY_DWORDS * 4; i < len; i++) {
		if (p[i] == 0)
			continue;
		emu_trace_note(ctx->dev,
			       "flow %s: byte 0x%zx is set; only the outer headers are matched",
			       what, i);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void
load_key(uint32_t key[KEY_DWORDS], const void *param, size_t len)
{
	uint8_t bytes[KEY_DWORDS * 4] = {0};

	if (len != 0)
		memcpy(bytes, param, len < sizeof(bytes) ? len : sizeof(bytes));
	for (unsigned i = 0; i < KEY_DWORDS; i++)
		key[i] = dp_rd32(bytes + i * 4);
}

int
emu_matcher_create(struct emu_ctx *ctx, const struct emu_matcher_attr *attr, struct emu_obj **out)
{
	struct dp_matcher *m;
	int ret = check_param(ctx, attr->mask, attr->mask_len, "mask");

	if (ret != 0)
		return ret;
	if (attr->ft_type != TABLE_RX && attr->ft_type != TABLE_TX) {
		emu_trace_note(ctx->dev, "flow table type %u is not modelled", attr->ft_type);
		return -EOPNOTSUPP;
	}
	if (attr->criteria & ~CRITERIA_OUTER) {
		emu_trace_note(ctx->dev, "match criteria 0x%x: only outer headers (0x1) are matched",
			       attr->criteria);
		return -EOPNOTSUPP;
	}
	m = emu_obj_new(ctx->dev, ctx, EMU_OBJ_MATCHER, sizeof(*m), NULL);
	if (m == NULL)
		return -ENOMEM;
	m->table = attr->ft_type;
	m->priority = attr->priority;
	load_key(m->mask, attr->mask, attr->mask_len);
	for (unsigned i = 0; i < KEY_DWORDS && (attr->criteria & CRITERIA_OUTER) == 0; i++)
		m->mask_stray |= m->mask[i] != 0;
	*out = &m->obj;
	return 0;
}

static void
flow_release(struct emu_obj *obj)
{
	struct dp_flow *f = (struct dp_flow *)obj;
	struct dp_steer *s = obj->dev->steer;

	if (s != NULL) {
		struct dp_table *t = &s->table[f->matcher->table];

		TAILQ_REMOVE(&t->flows, f, next);
		table_changed(obj->dev, t);
	}
	emu_obj_unref(&f->matcher->obj);
	if (f->tir != NULL)
		emu_obj_unref(&f->tir->obj);
	if (f->counter != NULL)
		emu_obj_unref(&f->counter->obj);
}

static int
check_flow(struct emu_ctx *ctx, const struct dp_matcher *m, const struct emu_flow_attr *attr)
{
	const char *why = NULL;

	if (attr->dest != NULL && attr->dest->type != EMU_OBJ_TIR)
		why = "destination is not a TIR";
	else if (attr->dest != NULL && m->table == TABLE_TX)
		why = "the transmit table has no TIRs to send to";
	else if ((attr->dest != NULL) + attr->drop + attr->default_miss > 1)
		why = "more than one of destination, drop and default miss";
	else if (attr->dest == NULL && !attr->drop && !attr->default_miss &&
		 m->table == TABLE_RX)
		why = "no destination";
	else if (attr->has_tag && attr->tag > 0xffffff)
		why = "flow tag has more than 24 bits";
	if (why == NULL)
		return check_param(ctx, attr->value, attr->value_len, "value");
	emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL, "flow refused: %s", why);
	return attr->dest != NULL && attr->dest->type != EMU_OBJ_TIR ? -EOPNOTSUPP : -EINVAL;
}

/* What the kernel answers for rules that firmware is not even asked about, or 0. */
static int
check_spec(struct emu_ctx *ctx, const struct dp_matcher *m, const uint32_t value[KEY_DWORDS])
{
	bool stray = m->mask_stray;

	if (m->priority > PRIORITY_MAX) {
		emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL, "flow refused: priority %u, the last is %u",
			  m->priority, PRIORITY_MAX);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < KEY_DWORDS; i++)
		stray |= (value[i] & ~m->mask[i]) != 0;
	if (!stray)
		return 0;
	emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL,
		  "flow refused: value beyond its mask, or mask beyond its criteria");
	return -EINVAL;
}

/* A group of rules (equal masks) that is older stands first in its table, as the kernel lays it out. */
static void
table_insert(struct dp_table *t, struct dp_flow *f)
{
	struct dp_flow *before, *group = NULL;

	f->level = (f->value[DMAC_HI] & DMAC_HI_GROUP_BIT) != 0 ? LEVEL_MULTICAST :
								  f->matcher->priority;
	TAILQ_FOREACH(before, &t->flows, next) {
		if (before->level > f->level)
			break;
		if (before->level == f->level && memcmp(before->matcher->mask, f->matcher->mask,
							sizeof(f->matcher->mask)) == 0)
			group = before;
	}
	if (group != NULL)
		TAILQ_INSERT_AFTER(&t->flows, group, f, next);
	else if (before != NULL)
		TAILQ_INSERT_BEFORE(before, f, next);
	else
		TAILQ_INSERT_TAIL(&t->flows, f, next);
}

int
emu_flow_create(struct emu_ctx *ctx, struct emu_obj *matcher, const struct emu_flow_attr *attr,
		struct emu_obj **out)
{
	struct dp_matcher *m = (struct dp_matcher *)matcher;
	struct dp_steer *s = ctx->dev->steer;
	uint32_t value[KEY_DWORDS];
	struct dp_flow *f;
	int ret;

	if (s == NULL || matcher == NULL || matcher->type != EMU_OBJ_MATCHER)
		return -EINVAL;
	ret = check_flow(ctx, m, attr);
	if (ret != 0)
		return ret;
	load_key(value, attr->value, attr->value_len);
	ret = check_spec(ctx, m, value);
	if (ret != 0)
		return ret;
	f = emu_obj_new(ctx->dev, ctx, EMU_OBJ_FLOW, sizeof(*f), flow_release);
	if (f == NULL)
		return -ENOMEM;
	f->matcher = m;
	f->tir = (struct emu_tir *)attr->dest;
	f->counter = attr->counter;
	f->drop = attr->drop;
	f->to_kernel = attr->default_miss;
	f->tag = attr->has_tag ? attr->tag : 0;
	memcpy(f->value, value, sizeof(value));
	emu_obj_ref(&m->obj);
	if (f->tir != NULL)
		emu_obj_ref(&f->tir->obj);
	if (f->counter != NULL)
		emu_obj_ref(&f->counter->obj);
	table_insert(&s->table[m->table], f);
	table_changed(ctx->dev, &s->table[m->table]);
	*out = &f->obj;
	return 0;
}

static uint32_t
ok_bits(const struct dp_pkt *pkt)
{
	const struct dp_layers *l = &pkt->outer;
	struct dp_csum_verdict v;

	dp_csum_verify(pkt->data, l, &v);
	return (uint32_t)((l->l3 != DP_L3_NONE && l->l3_len_ok) << 11 |
			  (l->l4 != DP_L4_NONE) << 10 | (l->l3 == DP_L3_IPV4 && v.l3_ok) << 9 |
			  v.l4_ok << 8);
}

static void
key_l3(uint32_t k[KEY_DWORDS], const struct dp_pkt *pkt)
{
	const struct dp_layers *l = &pkt->outer;
	const uint8_t *h = pkt->data + l->l3_off;

	if (l->l3 == DP_L3_IPV4) {
		k[4] |= (uint32_t)l->ip_proto << 24 | (uint32_t)h[1] << 16 | 4u << 9;
		k[6] |= (uint32_t)(h[0] & 0xf) << 12 | h[8];
		k[11] = dp_rd32(h + 12);
		k[15] = dp_rd32(h + 16);
	} else {
		k[4] |= (uint32_t)l->ip_proto << 24 | (dp_rd32(h) >> 20 & 0xff) << 16 | 6u << 9;
		k[6] |= h[7];
		for (unsigned i = 0; i < 4; i++) {
			k[8 + i] = dp_rd32(h + 8 + 4 * i);
			k[12 + i] = dp_rd32(h + 24 + 4 * i);
		}
	}
	k[4] |= (uint32_t)l->frag << 13;
}

static void
key_l4(uint32_t k[KEY_DWORDS], const struct dp_pkt *pkt)
{
	const struct dp_layers *l = &pkt->outer;
	const uint8_t *h = pkt->data + l->l4_off;

	if (l->l4 == DP_L4_TCP) {
		k[4] |= dp_rd16(h + 12) & 0x1ffu;
		k[5] = dp_rd32(h);
	} else if (l->l4 == DP_L4_UDP) {
		k[7] = dp_rd32(h);
	}
}

/* fte_match_set_lyr_2_4, host order (PRM, flow table entry match parameters). */
static inline void
key_make(uint32_t k[KEY_DWORDS], const struct dp_pkt *pkt, const struct dp_table *t, bool checksums)
{
	const struct dp_layers *l = &pkt->outer;
	const uint8_t *d = pkt->data;

	k[0] = dp_rd32(d + 6);
	k[1] = (uint32_t)dp_rd16(d + 10) << 16 | l->ethertype;
	k[2] = dp_rd32(d);
	/* tci is prio:3 cfi:1 vid:12, as the fields stand in the dword */
	k[3] = (uint32_t)dp_rd16(d + 4) << 16 | l->tci;
	if (!t->uses_l3)
		return;
	for (unsigned i = KEY_FIRST_L3; i < KEY_DWORDS; i++)
		k[i] = 0;
	if (l->tags != 0)
		k[4] |= l->tpid == DP_ETHERTYPE_CVLAN ? 1u << 15 : 1u << 14;
	if (l->l3 == DP_L3_NONE)
		return;
	key_l3(k, pkt);
	key_l4(k, pkt);
	if (checksums)
		k[6] |= ok_bits(pkt);
}

static bool
matches(const struct dp_flow *f, const struct dp_table *t, const uint32_t key[KEY_DWORDS])
{
	uint32_t diff = 0;

	for (unsigned i = 0; i < t->uses; i++) {
		unsigned d = t->used[i];

		diff |= (key[d] & f->matcher->mask[d]) ^ f->value[d];
	}
	return diff == 0;
}

static const struct dp_flow *
lookup(const struct dp_steer *s, struct dp_table *t, const struct dp_pkt *pkt)
{
	uint32_t key[KEY_DWORDS], diff = 0;
	const struct dp_flow *f;

	key_make(key, pkt, t, s->wants_checksums);
	for (unsigned i = 0; i < t->uses; i++) {
		unsigned d = t->used[i];

		diff |= (key[d] ^ t->memo_key[d]) & t->mask[d];
	}
	if (DP_LIKELY(diff == 0 && t->memo_valid))
		return t->memo_flow;
	TAILQ_FOREACH(f, &t->flows, next)
		if (matches(f, t, key))
			break;
	for (unsigned i = 0; i < t->uses; i++)
		t->memo_key[t->used[i]] = key[t->used[i]];
	t->memo_flow = f;
	t->memo_valid = true;
	return f;
}

const struct dp_flow *
dp_steer_rx(struct emu_dev *dev, const struct dp_pkt *pkt)
{
	struct dp_steer *s = dev->steer;

	return lookup(s, &s->table[TABLE_RX], pkt);
}

bool
dp_steer_by_checksum(const struct emu_dev *dev)
{
	const struct dp_steer *s = dev->steer;

	return s->wants_checksums;
}

bool
dp_steer_tx_drops(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	struct dp_steer *s = dev->steer;
	const struct dp_flow *f;
	struct dp_pkt pkt;

	if (DP_LIKELY(TAILQ_EMPTY(&s->table[TABLE_TX].flows)))
		return false;
	dp_parse(&pkt, frame, len, false);
	f = lookup(s, &s->table[TABLE_TX], &pkt);
	if (f != NULL && f->counter != NULL) {
		f->counter->packets++;
		f->counter->bytes += len;
	}
	return f != NULL && f->drop;
}

uint64_t
dp_steer_changed_ns(const struct emu_dev *dev)
{
	const struct dp_steer *s = dev->steer;

	return s->changed_ns;
}

bool
dp_steer_any(const struct emu_dev *dev, dp_flow_cb cb, void *arg)
{
	const struct dp_steer *s = dev->steer;
	const struct dp_flow *f;

	TAILQ_FOREACH(f, &s->table[TABLE_RX].flows, next)
		if (cb(f, arg))
			return true;
	return false;
}

const struct dp_toeplitz *
dp_tir_key(struct emu_tir *tir)
{
	struct dp_toeplitz *t = tir->obj.dp;

	if (tir->hash_fn != PRM_RX_HASH_FN_TOEPLITZ)
		return NULL;
	if (DP_UNLIKELY(t == NULL)) {
		t = calloc(1, sizeof(*t));
		if (t == NULL)
			return NULL;
		tir->obj.dp = t;
	}
	/* A MODIFY_TIR may have brought another key. */
	if (DP_UNLIKELY(!t->valid || memcmp(t->key, tir->key, sizeof(t->key)) != 0))
		dp_toeplitz_init(t, tir->key);
	return t;
}
