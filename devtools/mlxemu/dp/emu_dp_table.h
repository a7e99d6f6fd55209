/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Tables of rules: the one engine behind the kernel's matchers and the firmware's flow tables. A
 * packet's headers are brought into the layout of fte_match_set_lyr_2_4, and each rule is a masked
 * comparison of it; the first one in the table's order that fits decides.
 */
#ifndef EMU_DP_TABLE_H
#define EMU_DP_TABLE_H

#include "../core/emu_obj.h"
#include "emu_dp.h"

#define DP_KEY_DWORDS 16u /* fte_match_set_lyr_2_4 */

/** What rules of a table compare: a matcher's or a group's. */
struct dp_mask {
	uint32_t dw[DP_KEY_DWORDS];
	unsigned rules; /**< In the table's list while there are any. */
	TAILQ_ENTRY(dp_mask) next;
};

/** Which packets, and what becomes of them: one of TIR, table, drop, kernel. */
struct dp_rule {
	struct dp_mask *mask;
	uint32_t value[DP_KEY_DWORDS];
	struct emu_tir *tir;
	struct dp_table *table; /**< Where the search goes on. */
	struct emu_flow_counter *counter;
	bool drop, to_kernel;
	uint32_t tag; /**< 0: the packet keeps the tag it has. */
	TAILQ_ENTRY(dp_rule) next;
};

struct dp_table {
	TAILQ_HEAD(dp_rules, dp_rule) rules; /**< In the order of the lookup. */
	TAILQ_HEAD(, dp_mask) masks;
	struct dp_table *miss;	     /**< Where a packet goes that no rule wants. */
	bool kernel;		     /**< Without miss: to the kernel's interface; else dropped. */
	uint32_t mask[DP_KEY_DWORDS]; /**< Union of all masks. */
	uint8_t used[DP_KEY_DWORDS];  /**< The dwords that are not 0 in it. */
	unsigned uses;
	bool uses_l3;	     /**< Some of them describe more than Ethernet. */
	bool uses_checksums; /**< A mask has l3_ok or another result of checksum verification. */
	uint64_t walk;	     /**< Last one that came by, see dp_steer_any(). */
	/* The last packet's masked headers and what they led to. */
	bool memo_valid;
	uint32_t memo_key[DP_KEY_DWORDS];
	const struct dp_rule *memo_rule;
};

/** A flow table that a program made; id is the table_id. */
struct emu_flow_table {
	struct emu_obj obj; /**< EMU_OBJ_FLOW_TABLE */
	uint8_t level;	    /**< A rule leads to tables of higher levels only. */
	struct dp_table table;
};

void dp_table_init(struct dp_table *t, bool kernel);
/** Puts a rule behind another of the table, or first (after NULL). */
void dp_table_insert(struct emu_dev *dev, struct dp_table *t, struct dp_rule *after,
		     struct dp_rule *rule);
void dp_table_remove(struct emu_dev *dev, struct dp_table *t, struct dp_rule *rule);
/** What a rule does, where a miss goes, or which table is the root has changed. */
void dp_steer_changed(struct emu_dev *dev);
/**
 * Sets the root table for received packets instead of the kernel's; NULL: the kernel's. The kernel's
 * rules are kept, without effect meanwhile.
 */
void dp_steer_set_root(struct emu_dev *dev, struct dp_table *t);
const struct dp_table *dp_steer_root(const struct emu_dev *dev);
/** Dwords of a mask or value as a command or call carries it; host order. */
void dp_key_load(uint32_t key[DP_KEY_DWORDS], const void *param, size_t len);

#endif /* EMU_DP_TABLE_H */
