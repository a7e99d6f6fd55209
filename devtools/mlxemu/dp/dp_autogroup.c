/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Groups and entries of the kernel's flow tables (Linux, mlx5/core/fs_core.c; names of its functions below). */
#include <errno.h>
#include <stdlib.h>

#include "dp_autogroup.h"

/* Of a mask with few entries. */
#define BUCKETS_MIN 16u

struct dp_entry {
	struct dp_rule rule;
	struct dp_group *group;
	TAILQ_HEAD(, dp_added) added; /**< Oldest first. */
	TAILQ_ENTRY(dp_entry) next;
	LIST_ENTRY(dp_entry) same_hash;
	struct emu_tir *also[DP_ENTRY_TIRS]; /**< Further destinations. */
	struct dp_change change;
	uint32_t value[];
};

/** One object for all groups of a mask: a table walks its masks at each new one. */
struct shared_mask {
	struct dp_mask mask;
	unsigned groups;
	uint32_t entries, buckets; /**< Of all groups; buckets: a power of two. */
	LIST_HEAD(dp_bucket, dp_entry) *bucket; /**< By the hash of the value. */
};

struct dp_group {
	struct shared_mask *mask;
	uint8_t criteria; /**< match_criteria_enable: groups of equal masks differ by it. */
	unsigned level;
	uint32_t first, size, used; /**< Index in the table, entries. */
	TAILQ_HEAD(dp_entries, dp_entry) entries;
	TAILQ_ENTRY(dp_group) next;
};

void
dp_autotables_init(struct dp_autotables *a, uint32_t entries, uint32_t large_groups)
{
	dp_table_init(&a->table, true);
	TAILQ_INIT(&a->groups);
	a->entries = entries;
	a->large_groups = large_groups;
}

static bool
same_key(const uint32_t a[DP_KEY_DWORDS], const uint32_t b[DP_KEY_DWORDS])
{
	return memcmp(a, b, DP_KEY_DWORDS * sizeof(a[0])) == 0;
}

static bool
same_group(const struct dp_group *g, unsigned level, const uint32_t mask[DP_KEY_DWORDS],
	   uint8_t criteria)
{
	return g->level == level && g->criteria == criteria && same_key(g->mask->mask.dw, mask);
}

/* The value is within the mask of the entry. */
static bool
same_value(const struct dp_entry *e, const uint32_t value[DP_KEY_DWORDS])
{
	const struct dp_mask *m = e->rule.mask;

	for (unsigned i = 0; i < m->uses; i++)
		if (e->value[i] != value[m->used[i]])
			return false;
	return true;
}

/* Of a value as rules have it: FNV-1a over dwords. */
static uint32_t
value_hash(const uint32_t *value, unsigned n)
{
	uint32_t hash = 0x811c9dc5;

	for (unsigned i = 0; i < n; i++)
		hash = (hash ^ value[i] ^ value[i] >> 16) * 0x01000193;
	return hash ^ hash >> 15;
}

static struct dp_bucket *
bucket_of(const struct shared_mask *m, const uint32_t *value)
{
	return &m->bucket[value_hash(value, m->mask.uses) & (m->buckets - 1)];
}

/* Twice as many buckets. Without memory for them the lists become longer. */
static void
buckets_grow(struct shared_mask *m)
{
	uint32_t old_n = m->buckets;
	struct dp_bucket *old = m->bucket, *grown = calloc(2 * (size_t)old_n, sizeof(*grown));
	struct dp_entry *e;

	if (grown == NULL)
		return;
	m->bucket = grown;
	m->buckets = 2 * old_n;
	for (uint32_t i = 0; i < old_n; i++) {
		while ((e = LIST_FIRST(&old[i])) != NULL) {
			LIST_REMOVE(e, same_hash);
			LIST_INSERT_HEAD(bucket_of(m, e->value), e, same_hash);
		}
	}
	free(old);
}

/* try_add_to_existing_fg(): an entry with this match in any group of the mask. */
static struct dp_entry *
entry_find(const struct dp_autotables *a, unsigned level, const uint32_t mask[DP_KEY_DWORDS],
	   uint8_t criteria, const uint32_t value[DP_KEY_DWORDS])
{
	uint32_t packed[DP_KEY_DWORDS];
	struct dp_entry *e;
	struct dp_group *g;

	TAILQ_FOREACH(g, &a->groups, next)
		if (same_group(g, level, mask, criteria))
			break;
	if (g == NULL)
		return NULL;
	dp_value_pack(packed, &g->mask->mask, value);
	LIST_FOREACH(e, bucket_of(g->mask, packed), same_hash)
		if (same_group(e->group, level, mask, criteria) && same_value(e, value))
			return e;
	return NULL;
}

static struct dp_group *
group_with_room(const struct dp_autotables *a, unsigned level, const uint32_t mask[DP_KEY_DWORDS],
		uint8_t criteria)
{
	struct dp_group *g;

	TAILQ_FOREACH(g, &a->groups, next)
		if (same_group(g, level, mask, criteria) && g->used < g->size)
			return g;
	return NULL;
}

/*
 * alloc_auto_flow_group(): the first gap in the table that is large enough. A new group can so precede older ones.
 */
static int
group_place(const struct dp_autotables *a, struct dp_group *group, struct dp_group **before)
{
	uint32_t large = a->entries / (a->large_groups + 1), count = 0, at = 0;
	struct dp_group *g;

	TAILQ_FOREACH(g, &a->groups, next)
		count += g->level == group->level && g->size == large;
	group->size = count < a->large_groups && large != 0 ? large : 1;
	*before = NULL;
	TAILQ_FOREACH(g, &a->groups, next) {
		if (g->level > group->level || (g->level == group->level && at + group->size <= g->first))
			break;
		if (g->level == group->level)
			at = g->first + g->size;
		*before = g;
	}
	group->first = at;
	return at + group->size <= a->entries ? 0 : -ENOSPC;
}

static struct shared_mask *
mask_get(const struct dp_autotables *a, const uint32_t mask[DP_KEY_DWORDS])
{
	struct shared_mask *m = NULL;
	struct dp_group *g;

	TAILQ_FOREACH(g, &a->groups, next)
		if (same_key(g->mask->mask.dw, mask))
			m = g->mask;
	if (m == NULL) {
		m = calloc(1, sizeof(*m));
		if (m == NULL)
			return NULL;
		m->buckets = BUCKETS_MIN;
		m->bucket = calloc(m->buckets, sizeof(*m->bucket));
		if (m->bucket == NULL) {
			free(m);
			return NULL;
		}
		dp_mask_set(&m->mask, mask);
	}
	m->groups++;
	return m;
}

static void
mask_put(struct shared_mask *m)
{
	if (--m->groups != 0)
		return;
	free(m->bucket);
	free(m);
}

static int
group_new(struct dp_autotables *a, unsigned level, const uint32_t mask[DP_KEY_DWORDS], uint8_t criteria,
	  struct dp_group **out)
{
	struct dp_group *g = calloc(1, sizeof(*g)), *before;
	int ret;

	if (g == NULL)
		return -ENOMEM;
	g->criteria = criteria;
	g->level = level;
	TAILQ_INIT(&g->entries);
	ret = group_place(a, g, &before);
	g->mask = ret == 0 ? mask_get(a, mask) : NULL;
	if (g->mask == NULL) {
		free(g);
		return ret != 0 ? ret : -ENOMEM;
	}
	if (before != NULL)
		TAILQ_INSERT_AFTER(&a->groups, before, g, next);
	else
		TAILQ_INSERT_HEAD(&a->groups, g, next);
	*out = g;
	return 0;
}

/* The rule in the list of the table after which the rules of the group begin or go on. Groups are never empty. */
static struct dp_rule *
rule_before(struct dp_group *g)
{
	struct dp_group *before = TAILQ_PREV(g, dp_groups, next);
	struct dp_entry *e = TAILQ_LAST(&g->entries, dp_entries);

	if (e == NULL && before != NULL)
		e = TAILQ_LAST(&before->entries, dp_entries);
	return e != NULL ? &e->rule : NULL;
}

static bool
same_change(const struct dp_change *a, const struct dp_change *b)
{
	return a->decap == b->decap && a->reformat == b->reformat && a->pop_vlan == b->pop_vlan &&
	       a->push_vlan == b->push_vlan && a->modify == b->modify;
}

/* check_conflicting_ftes() and check_conflicting_actions(). A rule without a tag gets that of the entry. */
static int
conflict(struct emu_dev *dev, const struct dp_entry *e, const struct dp_added *r)
{
	const struct dp_added *old = TAILQ_FIRST(&e->added);

	if (old->drop != r->drop) {
		emu_trace_note(dev, "flow: a rule of equal match %s", old->drop ? "drops" : "does not drop");
		return -EEXIST;
	}
	if (!same_change(&e->change, &r->change)) {
		emu_trace_note(dev, "%s", "flow: a rule of equal match changes packets in another way");
		return -EEXIST;
	}
	if (r->has_tag && r->tag != e->rule.tag) {
		emu_trace_note(dev, "flow: a rule of equal match has tag 0x%x", e->rule.tag);
		return -EEXIST;
	}
	/* mlx5_cmd_set_fte(): log_max_flow_counter is 0. */
	if (e->rule.counter != NULL && r->counter != NULL) {
		emu_trace_note(dev, "flow: a rule of equal match has a counter, too");
		return -EINVAL;
	}
	/*
	 * The card has no nic_rx_multi_path_tirs_fts.
	 * assumed: an entry with TIRs and another kind of destination is refused with BAD_PARAM. Other reading: another
	 * status, which programs see as EREMOTEIO all the same. Test: dp/test_rules.c.
	 */
	if (old->table != r->table || old->to_kernel != r->to_kernel) {
		emu_trace_note(dev, "flow: a rule of equal match leads to another kind of destination");
		return -EINVAL;
	}
	return 0;
}

static bool
is_dest(const struct dp_entry *e, const struct emu_tir *tir)
{
	if (tir == NULL || e->rule.tir == tir)
		return true;
	for (unsigned i = 0; i < e->rule.also_n; i++)
		if (e->also[i] == tir)
			return true;
	return false;
}

/* A destination is in the list once, however many rules name it (mlx5_flow_dests_cmp()). */
static void
entry_update(struct emu_dev *dev, struct dp_entry *e)
{
	struct dp_added *r = TAILQ_FIRST(&e->added);
	struct dp_rule *rule = &e->rule;

	rule->tir = r->tir;
	rule->table = r->table;
	rule->drop = r->drop;
	rule->to_kernel = r->to_kernel;
	rule->counter = NULL;
	rule->also = e->also;
	rule->also_n = 0;
	TAILQ_FOREACH(r, &e->added, next) {
		if (r->counter != NULL) {
			rule->counter = &r->counter->counts[r->counter_offset];
			rule->counter_id = r->counter->obj.id + r->counter_offset;
		}
		if (!is_dest(e, r->tir))
			e->also[rule->also_n++] = r->tir;
	}
	dp_steer_changed(dev);
}

static int
entry_join(struct emu_dev *dev, struct dp_entry *e, struct dp_added *r)
{
	int ret = TAILQ_EMPTY(&e->added) ? 0 : conflict(dev, e, r);

	if (ret == 0 && e->rule.also_n == DP_ENTRY_TIRS && !is_dest(e, r->tir))
		ret = -EINVAL;
	if (ret != 0)
		return ret;
	r->entry = e;
	TAILQ_INSERT_TAIL(&e->added, r, next);
	entry_update(dev, e);
	return 0;
}

static int
entry_new(struct emu_dev *dev, struct dp_autotables *a, struct dp_group *g,
	  const uint32_t value[DP_KEY_DWORDS], struct dp_added *r)
{
	static const struct dp_change none;
	struct dp_entry *e = calloc(1, sizeof(*e) + g->mask->mask.uses * sizeof(e->value[0]));

	if (e == NULL)
		return -ENOMEM;
	e->group = g;
	e->rule.mask = &g->mask->mask;
	e->rule.value = e->value;
	dp_value_pack(e->value, e->rule.mask, value);
	e->rule.tag = r->has_tag ? r->tag : 0;
	e->change = r->change;
	if (!same_change(&e->change, &none))
		e->rule.change = &e->change;
	TAILQ_INIT(&e->added);
	dp_table_insert(dev, &a->table, rule_before(g), &e->rule);
	TAILQ_INSERT_TAIL(&g->entries, e, next);
	if (g->mask->entries++ >= 2 * g->mask->buckets)
		buckets_grow(g->mask);
	LIST_INSERT_HEAD(bucket_of(g->mask, e->value), e, same_hash);
	g->used++;
	return entry_join(dev, e, r);
}

static void
group_free_if_empty(struct dp_autotables *a, struct dp_group *g)
{
	if (g->used != 0)
		return;
	TAILQ_REMOVE(&a->groups, g, next);
	mask_put(g->mask);
	free(g);
}

int
dp_autotables_add(struct emu_dev *dev, struct dp_autotables *a, unsigned level,
		  const uint32_t mask[DP_KEY_DWORDS], uint8_t criteria,
		  const uint32_t value[DP_KEY_DWORDS], struct dp_added *r)
{
	struct dp_entry *e = entry_find(a, level, mask, criteria, value);
	struct dp_group *g;
	int ret = 0;

	if (e != NULL)
		return entry_join(dev, e, r);
	g = group_with_room(a, level, mask, criteria);
	if (g == NULL)
		ret = group_new(a, level, mask, criteria, &g);
	if (ret == -ENOSPC)
		emu_trace_note(dev, "flow: no room for a group in the kernel's table %u", level);
	if (ret != 0)
		return ret;
	ret = entry_new(dev, a, g, value, r);
	group_free_if_empty(a, g);
	return ret;
}

void
dp_autotables_remove(struct emu_dev *dev, struct dp_autotables *a, struct dp_added *r)
{
	struct dp_entry *e = r->entry;
	struct dp_group *g;

	if (e == NULL)
		return;
	g = e->group;
	TAILQ_REMOVE(&e->added, r, next);
	r->entry = NULL;
	if (!TAILQ_EMPTY(&e->added)) {
		entry_update(dev, e);
		return;
	}
	dp_table_remove(dev, &a->table, &e->rule);
	TAILQ_REMOVE(&g->entries, e, next);
	LIST_REMOVE(e, same_hash);
	g->mask->entries--;
	free(e);
	g->used--;
	group_free_if_empty(a, g);
}

bool
dp_autotables_group(const struct dp_autotables *a, unsigned i, const struct dp_rule *rule,
		    struct dp_group_info *info)
{
	const struct dp_group *g;

	TAILQ_FOREACH(g, &a->groups, next)
		if (i-- == 0)
			break;
	if (g == NULL)
		return false;
	*info = (struct dp_group_info){
		.level = g->level, .first = g->first, .last = g->first + g->size - 1, .rules = g->used,
		.mask = &g->mask->mask,
		.has_rule = rule != NULL && ((const struct dp_entry *)rule)->group == g,
	};
	return true;
}
