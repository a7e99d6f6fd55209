/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Steering of received and of sent packets: rules in the port's root tables and in further flow tables, their counters.
 */
#ifndef MDV_RULE_H
#define MDV_RULE_H

#include <prm.h>

#include "mdv.h"

struct mdv_rule;

/** Match parameters in device format. No bit of the value may be outside the mask: the kernel refuses it. */
struct mdv_match {
	struct prm_fte_match_param mask, value;
};

/**
 * A flow table. Rules lead packets to it from tables of lower levels, first from the root, and with the capability
 * ignore_flow_level from any (mlx5_ifc.h, flow_table_prop_layout; mlx5_core, fs_core.c, dest_is_valid()). Then the
 * caller must not lead packets in a circle. A packet that matches no rule in it is dropped when it was received, and
 * sent when it is to be sent (rdma-core, dr_domain.c: nic_rx_drop_address, nic_tx_allow_address).
 */
struct mdv_rule_table;

/**
 * Priorities of a root table, 0 is matched first: those that mlx5_core has for rules of programs (fs_core.c,
 * MLX5_BY_PASS_NUM_REGULAR_PRIOS). The kernel puts all rules that match only multicast behind the last one. Other
 * tables have priorities up to UINT16_MAX.
 */
#define MDV_ROOT_PRIORITIES 16
/** Levels of further tables: above all of the kernel's tables for received packets (assumed), and below the end. */
#define MDV_TABLE_LEVEL_MIN 32
#define MDV_TABLE_LEVELS 32

/** mdv_rule_attr.vlan_id: frames without a tag. */
#define MDV_MATCH_UNTAGGED 0xffff

/** What rules can change of packets, of one direction. */
struct mdv_change_caps {
	uint8_t max_modify;	/**< Actions of a list that changes fields, 0: none can be changed. */
	bool decap, decap_l3;	/**< Tunnels before an Ethernet header, and before an IP header. */
	bool encap, encap_l3;	/**< The same of sent packets. */
	uint16_t encap_bytes;	/**< Most bytes of the headers. */
	/**
	 * A rule that changes a tunnel leads to a table, and pops or pushes a tag (reformat_and_fwd_to_table,
	 * reformat_and_vlan_action; Linux, en_tc.c, validate_goto_chain()).
	 */
	bool tunnel_with_jump, tunnel_with_tag;
	bool pop_vlan, push_vlan; /**< In further tables, and in the root in VFIO mode. */
	bool modify_with_tag, modify_with_tunnel; /**< Fields are changed in the same rule. */
	/** Register C 0 is compared, and written if fields are; not in switchdev mode, where the kernel has it. */
	bool reg_c_0;
	bool reg_a;	/**< Register A is compared, which the Ethernet segment of a WQE sets. */
};
/** Reads the capabilities of tables of received or sent packets by a command. 0 or -errno, logged. */
__rte_internal
int mdv_change_caps(struct mdv_dev *dev, bool egress, struct mdv_change_caps *caps);

enum mdv_change_kind {
	MDV_CHANGE_MODIFY,	/**< Fields; data: struct prm_set_add_copy_action_in_auto[]. */
	MDV_CHANGE_DECAP,	/**< Removes a tunnel before an Ethernet header; no data. */
	MDV_CHANGE_DECAP_L3,	/**< Replaces one before an IP header by the data, an Ethernet header. */
	/* Of sent packets. The device sets lengths and IP checksum of new headers. */
	MDV_CHANGE_MODIFY_TX,	/**< As MDV_CHANGE_MODIFY. */
	MDV_CHANGE_ENCAP,	/**< Puts the data, headers from Ethernet on, before the packet. */
	MDV_CHANGE_ENCAP_L3,	/**< Puts them in the place of its Ethernet header and tags. */
};
/** Most bytes of headers that are put before a packet. */
#define MDV_CHANGE_HEADER_MAX 128
/** A change of packets. Equal changes are one object of the device. */
struct mdv_change;
/**
 * A change for rules of the root, or of further tables; with one more user.
 *
 * @return NULL with rte_errno, logged: errors of the kernel and of the device.
 */
__rte_internal
struct mdv_change *mdv_change_get(struct mdv_dev *dev, enum mdv_change_kind kind, bool root, const void *data,
				  size_t bytes);
/** One user less; destroyed with its last one. A failure is only logged. NULL is allowed. */
__rte_internal
void mdv_change_put(struct mdv_change *change);

struct mdv_rule_attr {
	struct mdv_rule_table *table; /**< NULL: the root, */
	bool egress;		/**< of sent packets, or of received ones. */
	uint16_t priority;	/**< 0 is matched first. */
	const struct mdv_match *match; /**< NULL: by the following fields. */
	bool match_dmac;
	uint8_t dmac[6], dmac_mask[6];
	uint16_t ethertype;	/**< Host order, 0: any. */
	uint8_t ip_version;	/**< 0 any, 4, 6. */
	uint8_t ip_proto;	/**< 0: any. */
	bool match_frag, frag;	/**< IP fragment or not. */
	bool match_vlan;
	uint16_t vlan_id;	/**< Of the outer tag, or MDV_MATCH_UNTAGGED; if match_vlan. */
	/**
	 * At most one destination; none: drop. The root's rules of received packets in verbs mode may leave packets to
	 * the kernel; send: rules of sent packets, which have no TIRs.
	 */
	struct mdv_obj *tir;
	struct mdv_rule_table *jump;
	bool kernel, send;
	struct mdv_obj *counter; /**< Of mdv_flow_counters_create(); NULL: none. */
	uint32_t counter_offset; /**< Which of its counters; 0 in the root in verbs mode. */
	uint32_t tag;		/**< Flow tag in the CQE, 24 bits; 0: none. With a TIR or table, of received packets. */
	/**
	 * What is changed of packets unless they are dropped; NULL: nothing. The changes are for the kind of table
	 * and must outlive the rule. Received packets lose tunnel and tag before fields change; sent ones get tag and
	 * tunnel after that (Linux, fs_dr.c, mlx5_cmd_dr_create_fte()). Roots in verbs mode neither pop nor push tags:
	 * ENOTSUP.
	 */
	const struct mdv_change *tunnel;
	bool pop_vlan;
	uint32_t push_vlan;	/**< TPID and TCI; 0: none. */
	const struct mdv_change *modify;
};

/**
 * Creates a rule. In the root in verbs mode by mlx5dv_create_flow(3); rules with equal masks and priority share a
 * matcher. Else by SET_FLOW_TABLE_ENTRY. TIR, table and counter must outlive it.
 *
 * @return NULL with rte_errno, logged: EEXIST an equal rule of the root, ENOSPC no room, and errors of the device.
 */
__rte_internal
struct mdv_rule *mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr);

/** What a rule with these attributes matches. */
__rte_internal
void mdv_rule_match(const struct mdv_rule_attr *attr, struct mdv_match *match);

/** Destroys the rule; as mdv_obj_destroy(), its memory is freed in any case. NULL is allowed. */
__rte_internal
int mdv_rule_destroy(struct mdv_rule *rule);

/**
 * Creates a flow table of received or sent packets, of a level, MDV_TABLE_LEVEL_MIN and above.
 *
 * @return NULL with rte_errno, logged: ENOTSUP the device has no such level.
 */
__rte_internal
struct mdv_rule_table *mdv_rule_table_create(struct mdv_dev *dev, bool egress, uint8_t level);

/** Whether rules of a table can lead to another one. Not for the root, whose rules lead to all. */
__rte_internal
bool mdv_rule_table_leads(const struct mdv_rule_table *from, const struct mdv_rule_table *to);

/** Destroys a table in which there are no rules, and to which none leads. NULL is allowed. */
__rte_internal
void mdv_rule_table_destroy(struct mdv_rule_table *table);

/** Called for a field that is matched; path as prm_decode() reports it, such as "outer_headers.udp_dport". */
typedef void (*mdv_match_field_t)(void *arg, const char *path, uint64_t value, uint64_t mask);

/** Visits the fields that are matched. */
__rte_internal
void mdv_match_fields(const struct mdv_match *match, mdv_match_field_t visit, void *arg);

/** What a counter of rules has counted. */
struct mdv_flow_count {
	uint64_t packets, bytes;
};
/** Most counters of an object of mdv_flow_counters_create(): their values are read into memory of the stack. */
#define MDV_FLOW_COUNTERS_MAX 512

/**
 * Allocates counters of packets and bytes for rules (ALLOC_FLOW_COUNTER), with consecutive numbers from that of the
 * object on. n: 1, or of mdv_caps.flow_counter_bulks up to MDV_FLOW_COUNTERS_MAX. NULL with rte_errno, logged.
 */
__rte_internal
struct mdv_obj *mdv_flow_counters_create(struct mdv_dev *dev, uint32_t n);

/**
 * Reads the first n counters by one command (QUERY_FLOW_COUNTER): 1, or a multiple of 4, which the firmware requires
 * (Linux, fs_counters.c). They count from their creation. 0 or -errno, logged.
 */
__rte_internal
int mdv_flow_counters_read(struct mdv_obj *counters, uint32_t n, struct mdv_flow_count *counts);

#endif /* MDV_RULE_H */
