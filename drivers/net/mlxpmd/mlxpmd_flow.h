/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * rte_flow: what its files share. All functions run under the port's lock.
 *
 * A flow is compiled once, when it is created, into match parameters and actions of the device. Its rules and the TIRs
 * of its queues exist while the port is started.
 */
#ifndef MLXPMD_FLOW_H
#define MLXPMD_FLOW_H

#include <rte_flow_driver.h>

#include <mdv_rule.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_tirs.h"

/* ---- refusals (mlxpmd_flow_error.c) ---- */

/**
 * Sets *error and returns -err. The message stays valid until the thread's next refusal.
 *
 * @param error May be NULL.
 * @param cause The item, action or attribute that is refused.
 */
int mlxpmd_flow_refuse(struct rte_flow_error *error, int err, enum rte_flow_error_type type, const void *cause,
		       const char *format, ...) __rte_format_printf(5, 6);

/** Zeroed memory, to be freed with free(). NULL with rte_errno, logged. */
void *mlxpmd_flow_zalloc(const struct mlxpmd_port *port, size_t bytes);

/** Writes what the file has buffered of a dump. -EIO, *error is set: not all of the dump was written. */
int mlxpmd_flow_dump_end(FILE *file, struct rte_flow_error *error);

/** Name of an item or action: RTE_FLOW_CONV_OP_ITEM_NAME_PTR, RTE_FLOW_CONV_OP_ACTION_NAME_PTR. */
const char *mlxpmd_flow_name(enum rte_flow_conv_op op, int type);

/** Refuses an item PORT_ID of another port: a flow has the packets of its own. */
int mlxpmd_flow_port_check(const struct mlxpmd_port *port, const struct rte_flow_item *item,
			   struct rte_flow_error *error);

/** A flow is of the packets of all send queues. */
#define MLXPMD_FLOW_ANY_TXQ UINT16_MAX
/** Sets *queue to that of an item TX_QUEUE. 0 or -errno, *error is set. */
int mlxpmd_flow_tx_queue_match(const struct mlxpmd_port *port, const struct rte_flow_item *item, bool egress,
			       uint16_t *queue, struct rte_flow_error *error);

/* ---- patterns (mlxpmd_flow_item.c) ---- */

/** A compiled pattern. */
struct mlxpmd_flow_pattern {
	struct mdv_match match;
	/** 0: headers of layer 4, or a tunnel; 1: of layer 3; 2: others. Narrow patterns come first in a priority. */
	uint8_t depth;
	enum rte_flow_item_type tunnel; /**< Item of the tunnel, or the inner one of IP in IP; END: none. */
	bool inner_eth;	/**< There is an Ethernet header in the tunnel. */
	uint16_t tx_queue; /**< Whose packets match, or MLXPMD_FLOW_ANY_TXQ. match has no number of an SQ. */
};
/** A byte of an item that becomes a part of the match's value, under a mask. */
struct mlxpmd_flow_copy {
	uint16_t item;
	uint8_t from, mask;
	uint16_t to;
};
/** All of a pattern. */
struct mlxpmd_flow_copies {
	struct mlxpmd_flow_copy *copy; /**< To be freed. */
	unsigned int n, room;
	bool by_value; /**< Values decide what is matched: no list of copies makes the match. */
};

/**
 * Compiles a pattern. 0; -EINVAL a mistake, -ENOTSUP what the device does not match: *error has what and why.
 *
 * @param egress Of sent packets.
 * @param relaxed Items without a mask do not match their presence (struct rte_flow_pattern_template_attr).
 * @param copies NULL; or values are not known yet, and 0: filled with what makes the match of them, also on failure.
 */
int mlxpmd_flow_pattern_compile(struct mlxpmd_port *port, const struct rte_flow_item *items, bool egress,
				bool relaxed, struct mlxpmd_flow_copies *copies, struct mlxpmd_flow_pattern *pattern,
				struct rte_flow_error *error);

/* ---- actions (mlxpmd_flow_action.c) ---- */

/** What becomes of a packet. */
enum mlxpmd_flow_target {
	MLXPMD_TARGET_NONE, MLXPMD_TARGET_DROP, MLXPMD_TARGET_QUEUES, MLXPMD_TARGET_JUMP, MLXPMD_TARGET_KERNEL,
	MLXPMD_TARGET_SEND	/**< Egress, without another one. */
};

struct mlxpmd_flow_rxqs {
	uint16_t n;
	uint16_t queue[];
};

/**
 * Queues to which flows lead, and how packets are spread over them. Shared by flows that want the same, or that use one
 * indirect action rss, whose queues vary.
 */
struct mlxpmd_flow_dest {
	TAILQ_ENTRY(mlxpmd_flow_dest) next;
	unsigned int users;
	struct mlxpmd_tirs tirs;
	struct mlxpmd_tirs_conf conf;
	struct mlxpmd_flow_rxqs *rxqs; /**< Queues of conf. */
};

/** Of the uses of a counter: a flow that does not drop. */
#define MLXPMD_FLOW_PASSES 4u

/** A counter. Shared if it belongs to an indirect action. */
struct mlxpmd_flow_counter {
	unsigned int users;
	uint32_t index;		/**< In the bulk. */
	struct mlxpmd_flow_bulk *bulk; /**< What the device has. */
	uint64_t packets, bytes; /**< At the last reset. */
	uint64_t begin;		/**< Packets that the device had counted before. */
	uint8_t uses;		/**< Bits: it has, or had, flows that drop (1 << egress), MLXPMD_FLOW_PASSES. */
	uint64_t seen;		/**< The last reading of drops that met it. */
};

/** An indirect action. */
struct rte_flow_action_handle {
	TAILQ_ENTRY(rte_flow_action_handle) next;
	enum rte_flow_action_type type;
	unsigned int users; /**< Flows. */
	unsigned int ops;   /**< Operations on it that are not pushed. */
	struct mlxpmd_flow_counter *counter;
	struct mlxpmd_flow_dest *dest;
};

/** Compiled actions. */
struct mlxpmd_flow_actions {
	enum mlxpmd_flow_target target;
	bool count;
	const struct rte_flow_action_age *age; /**< The application's; NULL: the flow does not age. */
	uint32_t tag;		/**< Flow tag of the CQE, 0: none. */
	uint32_t jump;		/**< Group. */
	struct mlxpmd_tirs_conf conf; /**< Of MLXPMD_TARGET_QUEUES; its arrays are the application's, or queue. */
	uint16_t queue;
	struct rte_flow_action_handle *count_handle, *dest_handle;
};
/** Compiles a list of actions. As mlxpmd_flow_pattern_compile(). */
int mlxpmd_flow_actions_compile(struct mlxpmd_port *port, const struct rte_flow_attr *attr,
				const struct rte_flow_action *actions, struct mlxpmd_flow_actions *out,
				struct rte_flow_error *error);
/** Refuses actions that are not supported in this direction, whatever their configuration is. */
int mlxpmd_flow_action_known(const struct rte_flow_action *action, bool egress, struct rte_flow_error *error);
/** Compiles one action that can be indirect. */
int mlxpmd_flow_action_compile(struct mlxpmd_port *port, const struct rte_flow_action *action, bool egress,
			       struct mlxpmd_flow_actions *out, struct rte_flow_error *error);

/* ---- actions that change packets (mlxpmd_flow_change.c) ---- */

/** Parts of fields that one flow changes; the device may have less. */
#define MLXPMD_FLOW_MODIFY_MAX 32u
/**
 * Registers C of a packet on its way through groups: the first one is its mark, unless the kernel has it (switchdev);
 * the next is the metadata of rte_flow, the others are its tags. The metadata of sent packets is register A.
 */
enum { MLXPMD_REG_MARK, MLXPMD_REG_META, MLXPMD_REG_TAG_0 };
#define MLXPMD_FLOW_TAGS 6u
/** Of the register of the mark: the packet has one. */
#define MLXPMD_MARKED (1u << 31)

/** RAW: raw_decap, before it is known what follows it. L3: with other headers in place of an Ethernet header. */
enum mlxpmd_flow_tunnel {
	MLXPMD_TUNNEL_NONE, MLXPMD_DECAP_L2, MLXPMD_DECAP_RAW, MLXPMD_DECAP_L3, MLXPMD_ENCAP_L2, MLXPMD_ENCAP_RAW,
	MLXPMD_ENCAP_L3
};

/** What a flow changes of packets, compiled. */
struct mlxpmd_flow_change {
	enum mlxpmd_flow_tunnel tunnel;
	uint8_t header_bytes, header[MDV_CHANGE_HEADER_MAX]; /**< Of DECAP_L3, ENCAP_L2, ENCAP_L3. */
	bool pop_vlan;
	uint32_t push_vlan;	/**< TPID and TCI; 0: none. */
	uint8_t nb_modify;
	struct prm_set_add_copy_action_in_auto modify[MLXPMD_FLOW_MODIFY_MAX];
};
/** Bytes of the configuration that an action has to have, 0: none; -1: the action does not change packets. */
int mlxpmd_flow_change_conf(enum rte_flow_action_type type);
/** Whether an action that changes packets is one of that direction. */
bool mlxpmd_flow_change_direction(enum rte_flow_action_type type, bool egress);
/** Compiles the actions of a list that change packets; the others are compiled. As mlxpmd_flow_pattern_compile(). */
int mlxpmd_flow_change_compile(struct mlxpmd_port *port, const struct rte_flow_attr *attr,
			       const struct mlxpmd_flow_pattern *pattern, const struct rte_flow_action *actions,
			       const struct mlxpmd_flow_actions *compiled, struct mlxpmd_flow_change *out,
			       struct rte_flow_error *error);
/** Refuses an item MARK where marks are in no register. */
int mlxpmd_flow_mark_check(struct mlxpmd_port *port, const struct rte_flow_item *item, bool egress,
			   struct rte_flow_error *error);
/** Gives a flow, which has its group, the contexts of the device for what it changes. 0 or -errno. */
int mlxpmd_flow_change_get(struct mlxpmd_port *port, struct rte_flow *flow, const struct mlxpmd_flow_change *change);
void mlxpmd_flow_change_put(struct rte_flow *flow);

/* ---- groups (mlxpmd_flow_group.c) ---- */

struct mlxpmd_flow_jump;
/** A group of flows above 0: a flow table. */
struct mlxpmd_flow_group {
	TAILQ_ENTRY(mlxpmd_flow_group) next;
	uint32_t number;
	bool egress;
	unsigned int users;	/**< Flows in it, and those that jump to it. */
	uint8_t level;
	struct mdv_rule_table *table;
	TAILQ_HEAD(, mlxpmd_flow_jump) jumps; /**< To other groups. */
	uint32_t walk;		/**< The last search over jumps that found it, and what is next in that search. */
	struct mlxpmd_flow_group *walk_next;
};

/** Flows of a port. */
struct mlxpmd_flows {
	TAILQ_HEAD(mlxpmd_flow_list, rte_flow) list; /**< In the order of their creation. */
	TAILQ_HEAD(, mlxpmd_flow_group) groups[2]; /**< Of received packets, and egress; by number. */
	TAILQ_HEAD(, mlxpmd_flow_dest) dests;
	TAILQ_HEAD(, rte_flow_action_handle) handles;
	TAILQ_HEAD(, mlxpmd_flow_bulk) bulks; /**< Of counters; those with places for others first. */
	unsigned int n;
	unsigned int nb_multicast; /**< Those that the kernel puts into its table for multicast. */
	uint32_t walks;		/**< Number of the last search over jumps. */
	TAILQ_HEAD(, rte_flow_pattern_template) pattern_templates;
	TAILQ_HEAD(, rte_flow_actions_template) actions_templates;
	TAILQ_HEAD(, rte_flow_template_table) tables;
	struct mlxpmd_flow_queue **queues; /**< Of operations. */
	uint16_t nb_queues;
	bool applied;		/**< The port is started: flows have rules. */
	uint64_t dropped[2];	/**< Packets of counters that were freed, of flows that drop; egress is 1. */
	bool change_caps_read[2]; /**< When they were first needed; egress is 1. */
	struct mdv_change_caps change_caps[2];
};

/** The group of a number, created if necessary, with one more user. NULL with rte_errno, *error is set. */
struct mlxpmd_flow_group *mlxpmd_flow_group_get(struct mlxpmd_port *port, bool egress, uint32_t number,
						struct rte_flow_error *error);
void mlxpmd_flow_group_put(struct mlxpmd_port *port, struct mlxpmd_flow_group *group);
/** Checks a jump between groups: to group 0, in a circle, and to levels that the device refuses, *error is set. */
int mlxpmd_flow_jump_check(struct mlxpmd_port *port, const struct rte_flow_attr *from, uint32_t to, const void *cause,
			   struct rte_flow_error *error);
/** As mlxpmd_flow_group_get(), of a flow in from (NULL: in group 0) that jumps there and has passed the check. */
struct mlxpmd_flow_group *mlxpmd_flow_jump_get(struct mlxpmd_port *port, bool egress, struct mlxpmd_flow_group *from,
					       uint32_t number, struct rte_flow_error *error);
/** to: of mlxpmd_flow_jump_get(), or NULL. */
void mlxpmd_flow_jump_put(struct mlxpmd_port *port, struct mlxpmd_flow_group *from, struct mlxpmd_flow_group *to);

/* ---- what flows share (mlxpmd_flow_share.c) ---- */

/** Queues and spreading that equal conf, with one more user. NULL with rte_errno: no memory, or no TIRs. */
struct mlxpmd_flow_dest *mlxpmd_flow_dest_get(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf);
void mlxpmd_flow_dest_put(struct mlxpmd_port *port, struct mlxpmd_flow_dest *dest);
/** Answers a query of RSS; what the answer points to is part of dest. */
void mlxpmd_flow_dest_query(const struct mlxpmd_flow_dest *dest, struct rte_flow_action_rss *data);

/* ---- counters (mlxpmd_flow_counter.c) ---- */
/** A new counter; in_bulk: not for rules of the root in verbs mode. NULL with rte_errno, logged. */
struct mlxpmd_flow_counter *mlxpmd_flow_counter_get(struct mlxpmd_port *port, bool in_bulk);
void mlxpmd_flow_counter_put(struct mlxpmd_port *port, struct mlxpmd_flow_counter *counter);
/** Sets the counter of a rule. */
void mlxpmd_flow_counter_rule(const struct mlxpmd_flow_counter *counter, struct mdv_rule_attr *attr);
/** Its number in the device. */
uint32_t mlxpmd_flow_counter_id(const struct mlxpmd_flow_counter *counter);
/** Whether it was read at that time, by a reading of another one. */
bool mlxpmd_flow_counter_fresh(const struct mlxpmd_flow_counter *counter, uint64_t now_ns);
/** Reads the packets since its creation, and all counters of its bulk, unless that was done at that time. */
int mlxpmd_flow_counter_read(struct mlxpmd_flow_counter *counter, uint64_t now_ns, uint64_t *packets);
/** The counter belongs to one more flow, which drops its packets or not. */
void mlxpmd_flow_counter_use(struct mlxpmd_flow_counter *counter, bool egress, bool drops);
/** The counter is of flows of a direction that drop, and of no others: its packets are lost. */
static inline bool
mlxpmd_flow_counter_drops(const struct mlxpmd_flow_counter *counter, bool egress)
{
	return counter->uses == 1u << egress;
}
/** Fills the answer to a query of COUNT; *error is set on failure. */
int mlxpmd_flow_counter_query(struct mlxpmd_flow_counter *counter, struct rte_flow_query_count *data,
			      struct rte_flow_error *error);

/* ---- flows (mlxpmd_flow.c) ---- */

/** A dword of match parameters, in device format. */
struct mlxpmd_flow_word {
	uint32_t at, mask, value;
};

/** Age of a flow. */
struct mlxpmd_flow_age {
	uint64_t timeout_ns;
	void *context;		/**< The application's, or the flow. */
	uint64_t packets;	/**< At the last reading, */
	uint64_t read_ns;	/**< which was then; */
	uint64_t hit_ns;	/**< the last one that found more packets. */
	bool aged;
	bool waits;		/**< For mlxpmd_flow_aged_get(). */
};

struct rte_flow {
	TAILQ_ENTRY(rte_flow) next;
	uint32_t priority;
	uint32_t tag;
	enum mlxpmd_flow_target target;
	uint8_t depth;
	bool multicast;	/**< Counted in nb_multicast. */
	bool egress;
	bool idle;	/**< Has no rules: the operation that creates it is not pushed, or has failed. */
	uint8_t ops;	/**< Operations on it that are not pushed, all in one queue. */
	bool inner_eth;	/**< Of its pattern, */
	uint16_t inner_type; /**< as the item of the tunnel. */
	struct rte_flow_template_table *made_from; /**< NULL: by rte_flow_create(). */
	struct mlxpmd_flow_group *group; /**< NULL: group 0. */
	struct mlxpmd_flow_group *jump;
	struct mlxpmd_flow_dest *dest;
	struct mlxpmd_flow_counter *counter;
	struct mlxpmd_flow_age *age; /**< NULL: it does not age. */
	struct rte_flow_action_handle *handle[2]; /**< Indirect actions that it uses. */
	struct mdv_change *tunnel, *modify; /**< What it changes of packets; NULL: nothing. */
	uint32_t push_vlan;
	bool pop_vlan;
	uint8_t nb_modify;
	bool leaves;	/**< One of ops destroys it. */
	uint16_t queue;	/**< The one of ops. */
	uint16_t tx_queue; /**< Whose packets it matches, or MLXPMD_FLOW_ANY_TXQ; */
	uint32_t sqn;	/**< the SQ that its rule matches. */
	/** One rule for each traffic class whose hash differs; else the last one alone. */
	struct mdv_rule *rule[MLXPMD_NB_RSS_CLASSES];
	uint32_t nb_words;
	struct mlxpmd_flow_word words[];
};

/** What a flow is compiled into. */
struct mlxpmd_flow_compiled {
	struct mlxpmd_flow_pattern pattern;
	struct mlxpmd_flow_actions actions;
	struct mlxpmd_flow_change change;
};
/** Refuses directions but that of received or sent packets. attr: the cause. */
int mlxpmd_flow_direction_check(bool ingress, bool egress, bool transfer, const void *attr,
				struct rte_flow_error *error);
/** Refuses attributes that are not supported. */
int mlxpmd_flow_attr_check(const struct rte_flow_attr *attr, struct rte_flow_error *error);
/** A flow that is idle, with all that it shares. NULL with rte_errno, *error is set. */
struct rte_flow *mlxpmd_flow_add(struct mlxpmd_port *port, const struct rte_flow_attr *attr,
				 const struct mlxpmd_flow_compiled *c, struct rte_flow_error *error);
/** Ends its idleness: creates its rules, if the port is started. -errno, and it stays idle; *error is set. */
int mlxpmd_flow_run(struct mlxpmd_port *port, struct rte_flow *flow, struct rte_flow_error *error);
void mlxpmd_flow_remove(struct mlxpmd_port *port, struct rte_flow *flow);
/** The pattern of a flow, as it was compiled. */
void mlxpmd_flow_pattern_of(const struct rte_flow *flow, struct mlxpmd_flow_pattern *pattern);
/**
 * A flow with the pattern of another one and other actions, idle and not among those of the port, for
 * mlxpmd_flow_update(). NULL with rte_errno, *error is set.
 */
struct rte_flow *mlxpmd_flow_other(struct mlxpmd_port *port, const struct rte_flow *flow,
				   const struct mlxpmd_flow_compiled *c, struct rte_flow_error *error);
/**
 * Gives a flow the actions of other, which is freed. Packets match the old rules until they match the new ones. -errno,
 * and the flow is as before, unless the device has refused to destroy an old rule; *error is set.
 */
int mlxpmd_flow_update(struct mlxpmd_port *port, struct rte_flow *flow, struct rte_flow *other,
		       struct rte_flow_error *error);
/** Frees a flow that has no rules and is not among those of the port. */
void mlxpmd_flow_free(struct mlxpmd_port *port, struct rte_flow *flow);
/** ethdev's operation rte_flow_actions_update(); it takes the lock. */
int mlxpmd_flow_actions_update(struct rte_eth_dev *eth_dev, struct rte_flow *flow,
			       const struct rte_flow_action actions[], struct rte_flow_error *error);
/** Count, age or RSS of a flow, as rte_flow_query(). */
int mlxpmd_flow_read(struct rte_flow *flow, const struct rte_flow_action *action, void *data,
		     struct rte_flow_error *error);

/* ---- rules of flows (mlxpmd_flow_rule.c) ---- */

/**
 * A priority of rte_flow is three of the device: for headers of layer 4, of layer 3, and others; classes of RSS need
 * them, too.
 */
#define MLXPMD_FLOW_DEPTHS 3u
/** The match of a flow without its SQ. */
void mlxpmd_flow_words(const struct rte_flow *flow, struct mdv_match *m);
/** What a flow matches. */
void mlxpmd_flow_match(const struct rte_flow *flow, struct mdv_match *m);
/** Creates the rules of a flow if the port is started, or destroys them. 0 or -errno, logged. */
int mlxpmd_flow_apply(struct mlxpmd_port *port, struct rte_flow *flow, bool apply);

/* ---- ageing (mlxpmd_flow_age.c) ---- */
/** Begins to count a flow's age. NULL with rte_errno, logged. Freed with free(). */
struct mlxpmd_flow_age *mlxpmd_flow_age_new(struct mlxpmd_port *port, const struct rte_flow_action_age *conf,
					    struct rte_flow *flow);
/** The flow begins to match packets: its time does. */
void mlxpmd_flow_age_begin(struct rte_flow *flow);
/** Answers a query of AGE. */
void mlxpmd_flow_age_query(struct rte_flow *flow, struct rte_flow_query_age *data);
/** Takes the port's lock. Number of contexts of flows that have aged. */
int mlxpmd_flow_aged_get(struct rte_eth_dev *eth_dev, void **contexts, uint32_t nb_contexts,
			 struct rte_flow_error *error);

/* ---- dump, telemetry and queries of other processes (mlxpmd_flow_dump.c); they take the port's lock ---- */
int mlxpmd_flow_dump(struct rte_eth_dev *eth_dev, struct rte_flow *flow, FILE *file, struct rte_flow_error *error);
/**
 * As mlxpmd_flow_read() and mlxpmd_flow_handle_read(), of an address that another process has sent: only one that is
 * found among the port's flows (indirect actions) is used. -ENOENT: there is none. RSS is refused, because its answer
 * points to memory of this process.
 */
int mlxpmd_flow_query_other(struct mlxpmd_port *port, uint64_t address, const struct rte_flow_action *action,
			    void *data, struct rte_flow_error *error);
int mlxpmd_flow_handle_query_other(struct mlxpmd_port *port, uint64_t address, void *data,
				   struct rte_flow_error *error);

/* ---- indirect actions (mlxpmd_flow_share.c) ---- */
struct rte_flow_action_handle *mlxpmd_flow_handle_add(struct mlxpmd_port *port,
						      const struct rte_flow_indir_action_conf *conf,
						      const struct rte_flow_action *action,
						      struct rte_flow_error *error);
int mlxpmd_flow_handle_remove(struct mlxpmd_port *port, struct rte_flow_action_handle *handle,
			      struct rte_flow_error *error);
int mlxpmd_flow_handle_read(const struct rte_flow_action_handle *handle, void *data, struct rte_flow_error *error);
/** The queues of an update, a struct rte_flow_action; to be freed with free(). NULL: *error has what is wrong. */
struct mlxpmd_flow_rxqs *mlxpmd_flow_handle_rxqs(struct mlxpmd_port *port, const struct rte_flow_action_handle *handle,
						 const void *update, struct rte_flow_error *error);
/** Leads all flows that use the action to these queues, and takes the list. -errno, *error is set: it is as before. */
int mlxpmd_flow_handle_lead(struct mlxpmd_port *port, struct rte_flow_action_handle *handle,
			    struct mlxpmd_flow_rxqs *rxqs, struct rte_flow_error *error);
/* They take the port's lock. */
struct rte_flow_action_handle *
mlxpmd_flow_handle_create(struct rte_eth_dev *eth_dev, const struct rte_flow_indir_action_conf *conf,
			  const struct rte_flow_action *action, struct rte_flow_error *error);
int mlxpmd_flow_handle_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_action_handle *handle,
			       struct rte_flow_error *error);
int mlxpmd_flow_handle_update(struct rte_eth_dev *eth_dev, struct rte_flow_action_handle *handle, const void *update,
			      struct rte_flow_error *error);
int mlxpmd_flow_handle_query(struct rte_eth_dev *eth_dev, const struct rte_flow_action_handle *handle, void *data,
			     struct rte_flow_error *error);

#endif /* MLXPMD_FLOW_H */
