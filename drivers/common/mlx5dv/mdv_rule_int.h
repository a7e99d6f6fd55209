/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Internal declarations of steering rules. */
#ifndef MDV_RULE_INT_H
#define MDV_RULE_INT_H

#include <pthread.h>
#include <sys/queue.h>

#include "mdv_rule.h"

/**
 * Backend of rules. create and destroy run with the lock of the table held. A failure is logged and sets
 * rte_errno. destroy frees the rule in any case; close, which may be NULL, releases what the table refers to.
 */
struct mdv_rule_ops {
	struct mdv_rule *(*create)(struct mdv_rule_table *t, const struct mdv_rule_attr *attr,
				   const struct mdv_match *match);
	int (*destroy)(struct mdv_rule *rule);
	void (*close)(struct mdv_rule_table *t);
};

struct mdv_change {
	TAILQ_ENTRY(mdv_change) next;
	struct mdv_dev *dev;
	enum mdv_change_kind kind;
	bool verbs_form;		/**< For the kernel's root. */
	unsigned int users;
	struct ibv_flow_action *verbs;
	struct mdv_obj *obj;		/**< By command; NULL also of MDV_CHANGE_DECAP. */
	size_t bytes;
	uint8_t data[];
};

/** First member of the table of each backend. */
struct mdv_rule_table {
	struct mdv_dev *dev;
	const struct mdv_rule_ops *ops;
	bool egress;			/**< Of sent packets. */
	pthread_mutex_t lock;
	unsigned int rules;
	TAILQ_HEAD(, mdv_change) changes; /**< Of the root of received packets: those of all tables. */
};

/** First member of the rule of each backend; set by mdv_rule.c. */
struct mdv_rule {
	struct mdv_rule_table *table;
};

/** mdv_rule_verbs.c: matchers and flows of mlx5_ib. */
struct mdv_rule_table *mdv_rules_verbs_new(struct mdv_dev *dev, bool egress);

/** Makes a table the root of received or sent packets; NULL: resets the root. 0 or -errno. */
typedef int (*mdv_rules_root)(struct mdv_dev *dev, bool egress, struct mdv_obj *table);
/** By SET_FLOW_TABLE_ROOT, in VFIO mode only. */
int mdv_rules_fw_root(struct mdv_dev *dev, bool egress, struct mdv_obj *table);
/** mdv_rule_fw.c: a root table by command, which the device has from the first rule to the last. */
struct mdv_rule_table *mdv_rules_fw_new(struct mdv_dev *dev, bool egress, mdv_rules_root set_root);
/** mdv_rule_fw.c: another table. NULL with rte_errno, logged. */
struct mdv_rule_table *mdv_rules_fw_table(struct mdv_dev *dev, bool egress, uint8_t level);
/** The flow table of mdv_rules_fw_table(), as a destination. */
struct mdv_obj *mdv_rules_fw_obj(const struct mdv_rule_table *table);
/** match_criteria_enable of a mask; it must not include headers with an empty mask. */
uint8_t mdv_match_criteria(const struct prm_fte_match_param *mask);

#endif /* MDV_RULE_INT_H */
