/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow tables made by lawful commands. */
#ifndef DP_RIG_TABLES_H
#define DP_RIG_TABLES_H

#include "rig.h"

/** What a group compares, or an entry wants; 0: all the same. */
struct rig_match {
	uint16_t ethertype;
	uint8_t ip_version, proto;
	int vid;	    /**< -1: without a tag. */
	bool frag, by_frag; /**< Fragments or not, with by_frag. */
	uint32_t sqn, reg_a; /**< Of a sent packet. */
};

struct rig_actions {
	const struct emu_obj *dest; /**< TIR or table; NULL: drop, */
	bool allow;		    /**< or send. */
	const struct emu_obj *counter;
	uint32_t tag;
	unsigned modify; /**< Fields to change, 0: a new entry. */
	bool any_level;
	uint32_t change; /**< Actions that change packets, */
	const struct emu_obj *modify_header, *reformat; /**< by these contexts, */
	uint32_t vlan;	 /**< with this tag. */
};

#define RIG_LOG_TABLE 4u
/** Tables have 2^RIG_LOG_TABLE entries. */
struct emu_obj *rig_table(struct rig_port *p, unsigned level);
/** A table of sent packets. */
struct emu_obj *rig_tx_table(struct rig_port *p, unsigned level);
struct emu_obj *rig_group(struct rig_port *p, const struct emu_obj *t, uint32_t first, uint32_t last,
			  const struct rig_match *m);
/** The new entry; NULL for changes. */
struct emu_obj *rig_entry(struct rig_port *p, const struct emu_obj *t, const struct emu_obj *g,
			  uint32_t index, const struct rig_match *m, const struct rig_actions *act);
/** NULL: the kernel's. */
void rig_root(struct rig_port *p, const struct emu_obj *t);
void rig_tx_root(struct rig_port *p, const struct emu_obj *t);
/** NULL: the default. */
void rig_miss(struct rig_port *p, const struct emu_obj *t, const struct emu_obj *to);
struct emu_obj *rig_flow_counter(struct rig_port *p);
static inline uint64_t
rig_packets(const struct emu_obj *counter)
{
	return ((const struct emu_flow_counter *)counter)->counts[0].packets;
}

#endif /* DP_RIG_TABLES_H */
