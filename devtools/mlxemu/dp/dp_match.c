/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Rule tables: masks, the key of a packet, the search through tables. */
#include "dp_csum.h"
#include "dp_int.h"

#define KEY_FIRST_L3 4u /* dwords before this one have only Ethernet fields */
/* Bits of dword 6: l3_ok, l4_ok, ipv4_checksum_ok, l4_checksum_ok. */
#define KEY6_OK_BITS 0x0f00u

/* Bits of dwords beyond the outer headers: what the eswitch knows of a packet. */
static const uint32_t rest_fields[DP_KEY_DWORDS] = {
	[DP_KEY_SOURCE_SQN] = 0x00ffffff,
	[DP_KEY_SOURCE_PORT] = 0x0000ffff,
	[DP_KEY_REG_C_0] = 0xffffffff,
};

void
dp_key_load(uint32_t key[DP_KEY_DWORDS], const void *param, size_t len)
{
	uint8_t bytes[DP_KEY_DWORDS * 4] = {0};

	if (len != 0)
		memcpy(bytes, param, len < sizeof(bytes) ? len : sizeof(bytes));
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		key[i] = dp_rd32(bytes + i * 4);
}

size_t
dp_key_stray(const void *param, size_t len)
{
	const uint8_t *p = param;

	for (size_t at = DP_OUTER_DWORDS * 4; at < len; at++) {
		uint32_t known = at / 4 < DP_KEY_DWORDS ? rest_fields[at / 4] : 0;

		if ((p[at] & ~(known >> (24 - 8 * (at % 4)))) != 0)
			return at;
	}
	return len;
}

void
dp_mask_set(struct dp_mask *mask, const uint32_t dw[DP_KEY_DWORDS])
{
	memcpy(mask->dw, dw, sizeof(mask->dw));
	mask->uses = 0;
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		if (dw[i] != 0)
			mask->used[mask->uses++] = (uint8_t)i;
}

void
dp_value_pack(uint32_t *value, const struct dp_mask *mask, const uint32_t key[DP_KEY_DWORDS])
{
	for (unsigned i = 0; i < mask->uses; i++)
		value[i] = key[mask->used[i]];
}

void
dp_value_unpack(uint32_t key[DP_KEY_DWORDS], const struct dp_rule *rule)
{
	memset(key, 0, DP_KEY_DWORDS * sizeof(key[0]));
	for (unsigned i = 0; i < rule->mask->uses; i++)
		key[rule->mask->used[i]] = rule->value[i];
}

void
dp_table_init(struct dp_table *t, bool kernel)
{
	memset(t, 0, sizeof(*t));
	TAILQ_INIT(&t->rules);
	TAILQ_INIT(&t->masks);
	t->kernel = kernel;
}

/* A mask was added or removed. */
static void
masks_changed(struct dp_table *t)
{
	const struct dp_mask *mask;

	memset(t->mask, 0, sizeof(t->mask));
	TAILQ_FOREACH(mask, &t->masks, next)
		for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
			t->mask[i] |= mask->dw[i];
	t->uses = 0;
	t->uses_l3 = t->uses_rest = false;
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++) {
		if (t->mask[i] == 0)
			continue;
		t->used[t->uses++] = (uint8_t)i;
		t->uses_l3 |= i >= KEY_FIRST_L3 && i < DP_OUTER_DWORDS;
		t->uses_rest |= i >= DP_OUTER_DWORDS;
	}
	t->uses_checksums = (t->mask[6] & KEY6_OK_BITS) != 0;
}

void
dp_table_insert(struct emu_dev *dev, struct dp_table *t, struct dp_rule *after,
		struct dp_rule *rule)
{
	if (after != NULL)
		TAILQ_INSERT_AFTER(&t->rules, after, rule, next);
	else
		TAILQ_INSERT_HEAD(&t->rules, rule, next);
	if (rule->mask->rules++ == 0) {
		TAILQ_INSERT_TAIL(&t->masks, rule->mask, next);
		masks_changed(t);
	}
	t->memo_valid = false;
	dp_steer_changed(dev);
}

void
dp_table_remove(struct emu_dev *dev, struct dp_table *t, struct dp_rule *rule)
{
	TAILQ_REMOVE(&t->rules, rule, next);
	if (--rule->mask->rules == 0) {
		TAILQ_REMOVE(&t->masks, rule->mask, next);
		masks_changed(t);
	}
	t->memo_valid = false;
	dp_steer_changed(dev);
}

static uint32_t
ok_bits(const struct dp_pkt *pkt)
{
	const struct dp_layers *l = &pkt->outer;
	struct dp_csum_result v;

	dp_csum_verify(pkt->data, l, &v);
	return (uint32_t)((l->l3 != DP_L3_NONE && l->l3_len_ok) << 11 |
			  (l->l4 != DP_L4_NONE) << 10 | (l->l3 == DP_L3_IPV4 && v.l3_ok) << 9 |
			  v.l4_ok << 8);
}

static void
key_l3(uint32_t k[DP_KEY_DWORDS], const struct dp_pkt *pkt)
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
key_l4(uint32_t k[DP_KEY_DWORDS], const struct dp_pkt *pkt)
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
key_make(uint32_t k[DP_KEY_DWORDS], const struct dp_pkt *pkt, const struct dp_table *t)
{
	const struct dp_layers *l = &pkt->outer;
	const uint8_t *d = pkt->data;

	k[0] = dp_rd32(d + 6);
	k[1] = (uint32_t)dp_rd16(d + 10) << 16 | l->ethertype;
	k[2] = dp_rd32(d);
	/* tci is prio:3 cfi:1 vid:12, as the fields stand in the dword */
	k[3] = (uint32_t)dp_rd16(d + 4) << 16 | l->tci;
	if (DP_UNLIKELY(t->uses_rest)) {
		k[DP_KEY_REG_C_0] = pkt->reg_c_0;
		k[DP_KEY_SOURCE_SQN] = pkt->source_sqn;
		k[DP_KEY_SOURCE_PORT] = pkt->source_port;
	}
	if (!t->uses_l3)
		return;
	for (unsigned i = KEY_FIRST_L3; i < DP_OUTER_DWORDS; i++)
		k[i] = 0;
	if (l->tags != 0)
		k[4] |= l->tpid == DP_ETHERTYPE_CVLAN ? 1u << 15 : 1u << 14;
	if (l->l3 == DP_L3_NONE)
		return;
	key_l3(k, pkt);
	key_l4(k, pkt);
	if (t->uses_checksums)
		k[6] |= ok_bits(pkt);
}

static bool
matches(const struct dp_rule *r, const uint32_t key[DP_KEY_DWORDS])
{
	const struct dp_mask *m = r->mask;

	for (unsigned i = 0; i < m->uses; i++) {
		unsigned d = m->used[i];

		if ((key[d] & m->dw[d]) != r->value[i])
			return false;
	}
	return true;
}

/* The first rule that matches becomes the memo. Not inlined: most packets have the key of the one before. */
static __attribute__((noinline)) const struct dp_rule *
search(struct dp_table *t, const uint32_t key[DP_KEY_DWORDS])
{
	const struct dp_rule *r;

	TAILQ_FOREACH(r, &t->rules, next)
		if (matches(r, key))
			break;
	for (unsigned i = 0; i < t->uses; i++)
		t->memo_key[t->used[i]] = key[t->used[i]];
	t->memo_rule = r;
	t->memo_valid = true;
	return r;
}

static inline const struct dp_rule *
lookup(struct dp_table *t, const struct dp_pkt *pkt)
{
	uint32_t key[DP_KEY_DWORDS];

	if (t->uses != 0)
		key_make(key, pkt, t);
	for (unsigned i = 0; i < t->uses; i++) {
		unsigned d = t->used[i];

		if (DP_UNLIKELY(((key[d] ^ t->memo_key[d]) & t->mask[d]) != 0))
			return search(t, key);
	}
	return DP_LIKELY(t->memo_valid) ? t->memo_rule : search(t, key);
}

/* The level increases from table to table, which limits tables and counters. */
void
dp_table_lookup(struct dp_table *t, const struct dp_pkt *pkt, struct dp_steer_result *v)
{
	const struct dp_rule *r;
	struct dp_table *next = t;

	v->tir = NULL;
	v->also_n = 0;
	v->tag = 0;
	v->counters = 0;
	do {
		t = next;
		r = lookup(t, pkt);
		next = r != NULL ? r->table : t->miss;
		if (r == NULL)
			continue;
		if (r->counter != NULL)
			v->counter[v->counters++] = r->counter;
		if (r->tag != 0)
			v->tag = r->tag;
	} while (next != NULL);
	if (r != NULL && r->tir != NULL) {
		v->tir = r->tir;
		v->also = r->also;
		v->also_n = r->also_n;
		v->dest = DP_DEST_TIR;
	} else if (DP_UNLIKELY(r != NULL && r->uplink)) {
		v->dest = DP_DEST_UPLINK;
	} else if (r != NULL ? r->drop : !t->kernel) {
		v->dest = DP_DEST_DROP;
	} else {
		v->dest = DP_DEST_KERNEL;
	}
}
