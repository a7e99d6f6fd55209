/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The kernel's flow tables: rules with equal masks form a group, which gets its place in the table when its first
 * rule comes (Linux, fs_core.c: "autogroups"). Rules with equal mask and value share an entry.
 */
#ifndef EMU_DP_AUTOGROUP_H
#define EMU_DP_AUTOGROUP_H

#include "dp_int.h"

/**
 * Destinations of an entry (log_max_destination).
 * assumed: an entry has up to 16 TIRs. Other reading: a card takes more. Test: dp/test_rules.c.
 */
#define DP_ENTRY_TIRS 16u

/** Tables of one direction or namespace in the order of lookup, with the rules of all in one list. */
struct dp_autotables {
	struct dp_table table;
	TAILQ_HEAD(dp_groups, dp_group) groups; /**< By level, then by their first index. */
	uint32_t entries;	       /**< Of a table. */
	uint32_t large_groups;	       /**< Groups of entries / (large_groups + 1); later ones have one entry. */
};

/** A rule as a program added it. */
struct dp_added {
	struct dp_entry *entry; /**< NULL: not in a table. */
	TAILQ_ENTRY(dp_added) next;
	struct emu_tir *tir;
	struct dp_table *table;
	struct emu_flow_counter *counter;
	uint32_t counter_offset;
	bool drop, to_kernel, has_tag;
	uint32_t tag;
	struct dp_change change; /**< All 0: none. */
};

void dp_autotables_init(struct dp_autotables *a, uint32_t entries, uint32_t large_groups);
/**
 * Adds a rule to the table of a level.
 * @return 0, -ENOMEM, -ENOSPC: no room for a group; -EEXIST: an equal match has another tag, or drops; -EINVAL:
 * the destinations or counters do not fit into one entry.
 */
int dp_autotables_add(struct emu_dev *dev, struct dp_autotables *a, unsigned level,
		      const uint32_t mask[DP_KEY_DWORDS], uint8_t criteria,
		      const uint32_t value[DP_KEY_DWORDS], struct dp_added *r);
/** The i-th group in the order of lookup, see emu_dp_group_at(). */
bool dp_autotables_group(const struct dp_autotables *a, unsigned i, const struct dp_rule *rule,
			 struct dp_group_info *info);
/** Removes it; the entry stays while other rules share it. */
void dp_autotables_remove(struct emu_dev *dev, struct dp_autotables *a, struct dp_added *r);

#endif /* EMU_DP_AUTOGROUP_H */
