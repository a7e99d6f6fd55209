/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Rule tables: masks, the key of a packet, the search through tables. */
#include "dp_change.h"
#include "dp_key.h"

#define KEY_FIRST_L3 4u /* dwords before this one have only Ethernet fields */

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

	for (size_t at = DP_KEY_DWORDS * 4; at < len; at++)
		if (p[at] != 0)
			return at;
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
	t->uses_l3 = false;
	t->sets = 0;
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++) {
		if (t->mask[i] == 0)
			continue;
		t->used[t->uses++] = (uint8_t)i;
		t->uses_l3 |= i >= KEY_FIRST_L3 && i < DP_OUTER_DWORDS;
		if (i >= DP_OUTER_DWORDS)
			t->sets |= (uint8_t)(1u << i / DP_SET_DWORDS);
	}
	t->uses_checksums = (t->mask[6] & DP_KEY6_OK_BITS) != 0;
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

/* Only what the masks of the table need. */
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
	if (DP_UNLIKELY(t->sets != 0))
		dp_key_rest(k, pkt, t);
	if (t->uses_l3)
		dp_key_beyond_l2(k, d, l, t->uses_checksums);
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

static __attribute__((noinline)) const struct dp_rule *
lookup_key(struct dp_table *t, const struct dp_pkt *pkt)
{
	uint32_t key[DP_KEY_DWORDS];

	key_make(key, pkt, t);
	for (unsigned i = 0; i < t->uses; i++) {
		unsigned d = t->used[i];

		if (DP_UNLIKELY(((key[d] ^ t->memo_key[d]) & t->mask[d]) != 0))
			return search(t, key);
	}
	return DP_LIKELY(t->memo_valid) ? t->memo_rule : search(t, key);
}

/* Without masks there is no key to compare. */
static inline const struct dp_rule *
lookup(struct dp_table *t, const struct dp_pkt *pkt)
{
	return t->uses == 0 && t->memo_valid ? t->memo_rule : lookup_key(t, pkt);
}

/* Notes a table and the rule of it that matched. */
static __attribute__((noinline)) void
walk_note(struct dp_walk *walk, const struct dp_pkt *pkt, const struct dp_table *t, const struct dp_rule *r)
{
	struct dp_step *step;

	walk->last = r;
	if (walk->steps++ >= DP_WALK_STEPS)
		return;
	step = &walk->step[walk->steps - 1];
	step->table = t;
	step->rule = r;
	memset(step->key, 0, sizeof(step->key));
	key_make(step->key, pkt, t);
}

/*
 * The level increases from table to table, unless an entry ignores levels (ignore_flow_level): then entries can lead in
 * a circle.
 * assumed: a packet in a circle is dropped, and counts where it passed. Other reading: the firmware refuses the entry
 * that closes the circle, or such packets stop the port. Test: dp/test_tables.c.
 */
void
dp_table_lookup(struct dp_table *t, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk)
{
	const struct dp_rule *r;
	struct dp_table *next = t;
	unsigned passed = 0;

	v->tir = NULL;
	v->also_n = 0;
	v->missed = false;
	v->tag = 0;
	v->counters = 0;
	v->pkt = pkt;
	do {
		if (DP_UNLIKELY(passed++ == DP_STEER_DEPTH)) {
			v->dest = DP_DEST_DROP;
			return;
		}
		t = next;
		r = lookup(t, v->pkt);
		if (DP_UNLIKELY(walk != NULL))
			walk_note(walk, v->pkt, t, r);
		next = r != NULL ? r->table : t->miss;
		if (r == NULL)
			continue;
		if (r->counter != NULL)
			v->counter[v->counters++] = r->counter;
		if (r->tag != 0)
			v->tag = r->tag;
		if (DP_UNLIKELY(r->change != NULL))
			v->pkt = dp_change_apply(v->dev, v->changed, r->change, v->pkt);
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
		v->missed = r == NULL;
	} else {
		v->dest = DP_DEST_KERNEL;
	}
}
