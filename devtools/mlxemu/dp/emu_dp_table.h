/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rule tables for the kernel's matchers and the firmware's flow tables. The key of a packet has the
 * layout of fte_match_param; a rule compares it under a mask. The first matching rule in the order
 * of the table applies.
 */
#ifndef EMU_DP_TABLE_H
#define EMU_DP_TABLE_H

#include "../core/emu_obj.h"
#include "emu_dp.h"

#define DP_SET_DWORDS 16u /* of each part of fte_match_param; bit i of match_criteria_enable is for part i */
#define DP_OUTER_DWORDS DP_SET_DWORDS
/* First dwords of the parts that are matched: a key ends behind them. */
enum { DP_KEY_OUTER = 0, DP_KEY_MISC = 16, DP_KEY_INNER = 32, DP_KEY_MISC2 = 48, DP_KEY_MISC3 = 64, DP_KEY_END = 80 };
#define DP_KEY_DWORDS ((unsigned)DP_KEY_END)
/* Dwords with a field of their own name here: the first two are shared with other fields. */
enum {
	DP_KEY_SOURCE_SQN = DP_KEY_MISC,
	DP_KEY_SOURCE_PORT,
	DP_KEY_REG_C_0 = DP_KEY_MISC2 + 11,
	DP_KEY_REG_A,
};

/** Mask of rules: that of a matcher or group. */
struct dp_mask {
	uint32_t dw[DP_KEY_DWORDS];
	uint8_t used[DP_KEY_DWORDS]; /**< Dwords that are not 0. */
	unsigned uses;
	unsigned rules; /**< Linked into the table while it has rules. */
	TAILQ_ENTRY(dp_mask) next;
};

/** What a rule changes of a packet. */
struct dp_change {
	bool decap;			 /**< Removes the headers of a tunnel before an Ethernet header. */
	const struct emu_reformat *reformat; /**< Replaces those before an IP header, or encapsulates; or NULL. */
	bool pop_vlan;
	uint32_t push_vlan;		     /**< TPID and TCI of a new tag; 0: none. */
	const struct emu_modify_header *modify; /**< Or NULL. */
};

/** A rule. Destination: TIR, table, drop, or kernel; in a table of sent packets the wire in place of the last. */
struct dp_rule {
	struct dp_mask *mask;
	const uint32_t *value; /**< Of the dwords in mask->used: tables can have many rules. */
	struct emu_tir *tir;
	struct emu_tir *const *also; /**< TIRs that get copies of the packet. */
	unsigned also_n;
	struct dp_table *table; /**< Table in which the search continues. */
	struct emu_counts *counter;
	uint32_t counter_id;
	const struct dp_change *change; /**< NULL: the packet stays as it is. */
	bool drop, to_kernel;
	bool uplink; /**< In a table of the FDB: to the uplink. */
	uint32_t tag; /**< 0: the packet keeps the tag it has. */
	TAILQ_ENTRY(dp_rule) next;
};

struct dp_table {
	TAILQ_HEAD(dp_rules, dp_rule) rules; /**< In the order of lookup. */
	TAILQ_HEAD(, dp_mask) masks;
	struct dp_table *miss;	     /**< Table for packets that match no rule. */
	bool kernel;		     /**< Without miss table: true: as a rule to the kernel; false: drop. */
	bool uses_l3;	     /**< Some masks have outer fields beyond Ethernet. */
	uint8_t sets;	     /**< Parts beyond the outer headers that some masks have; bits of match_criteria_enable. */
	bool uses_checksums; /**< A mask has l3_ok or another result of checksum verification. */
	bool memo_valid;
	unsigned uses;
	const struct dp_rule *memo_rule; /**< Cache: result for the last packet, whose masked key is memo_key. */
	uint64_t walk;	     /**< Number of the last search that visited the table, see dp_steer_any(). */
	uint8_t used[DP_KEY_DWORDS];  /**< Dwords of the union that are not 0. */
	uint32_t mask[DP_KEY_DWORDS]; /**< Union of all masks. */
	uint32_t memo_key[DP_KEY_DWORDS];
};

/** A flow table created by a program; id is the table_id. */
struct emu_flow_table {
	struct emu_obj obj; /**< EMU_OBJ_FLOW_TABLE */
	uint8_t level;	    /**< Rules can jump only to tables of higher levels. */
	uint8_t type;	    /**< PRM_FLOW_TABLE_TYPE_NIC_RX, NIC_TX or FDB. */
	struct dp_table table;
};

/** Largest number of tables that a packet passes: the kernel's, then each of a program's. */
#define DP_STEER_DEPTH (1u + (1u << EMU_DP_LOG_FT_TABLES))
#define DP_WALK_STEPS 64u
/** Tables that a packet met, in this order: those of the kernel or the root, and those of leftover packets. */
struct dp_walk {
	unsigned steps;		    /**< Of these only the first DP_WALK_STEPS are listed. */
	const struct dp_rule *last; /**< As in the last step. */
	struct dp_step {
		const struct dp_table *table;
		const struct dp_rule *rule; /**< That matched; NULL: none. */
		uint32_t key[DP_KEY_DWORDS]; /**< Of the packet: what the masks of the table have. */
	} step[DP_WALK_STEPS];
};

/** A group of a table, and whether a rule is in it. */
struct dp_group_info {
	uint32_t id;	/**< Of a program's group. */
	unsigned level; /**< Of the kernel's tables, which are one here: priority, or EMU_DP_LEVEL_MULTICAST. */
	uint32_t first, last; /**< Entries of the table that it has. */
	uint32_t rules;
	const struct dp_mask *mask;
	bool has_rule;
};
#define EMU_DP_LEVEL_MULTICAST 16u
/** The i-th group of a table of the kernel in the order of lookup. False: there is none, or it is a program's table. */
bool emu_dp_group_at(const struct emu_dev *dev, const struct dp_table *t, unsigned i, const struct dp_rule *rule,
		     struct dp_group_info *g);
/** Name of a table of the kernel; NULL: it is the table of an emu_flow_table. */
const char *emu_dp_table_name(const struct emu_dev *dev, const struct dp_table *t);

void dp_table_init(struct dp_table *t, bool kernel);
/** Inserts a rule after another one of the table; NULL: first. */
void dp_table_insert(struct emu_dev *dev, struct dp_table *t, struct dp_rule *after,
		     struct dp_rule *rule);
void dp_table_remove(struct emu_dev *dev, struct dp_table *t, struct dp_rule *rule);
/** To be called after a change of a rule, of a miss table or of the root. */
void dp_steer_changed(struct emu_dev *dev);
/**
 * Sets the root table of received or sent packets (type: PRM_FLOW_TABLE_TYPE_NIC_RX or NIC_TX); NULL: the kernel's.
 * Rules of the kernel's tables have no effect while another table is the root.
 */
void dp_steer_set_root(struct emu_dev *dev, unsigned type, struct dp_table *t);
const struct dp_table *dp_steer_root(const struct emu_dev *dev, unsigned type);
/** Fills dw and used. Not while rules have the mask. */
void dp_mask_set(struct dp_mask *mask, const uint32_t dw[DP_KEY_DWORDS]);
/** Writes what a rule of the mask compares of a key: mask->uses dwords. */
void dp_value_pack(uint32_t *value, const struct dp_mask *mask, const uint32_t key[DP_KEY_DWORDS]);
/** The reverse: dwords that the mask has not become 0. */
void dp_value_unpack(uint32_t key[DP_KEY_DWORDS], const struct dp_rule *rule);
/** Position of the first byte that is not 0 behind the key; len: there is none. */
size_t dp_key_stray(const void *param, size_t len);
/** Copies a mask or value of a command or call; result in host order. */
void dp_key_load(uint32_t key[DP_KEY_DWORDS], const void *param, size_t len);

#endif /* EMU_DP_TABLE_H */
