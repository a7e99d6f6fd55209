/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Steering rules: what the front (mdv_rule.c) and the back ends share. */
#ifndef MDV_RULE_INT_H
#define MDV_RULE_INT_H

#include <pthread.h>

#include <prm.h>

#include "mdv.h"

/** What a packet must look like, in the device's format; no value bit beyond the mask. */
struct mdv_match {
	struct prm_fte_match_set_lyr_2_4 mask, value;
};

/**
 * A way to bring rules into the device. create and destroy run with the table's lock held; what
 * fails is logged and sets rte_errno. destroy frees the rule in any case, close the table.
 */
struct mdv_rule_ops {
	struct mdv_rule *(*create)(struct mdv_rule_table *t, const struct mdv_rule_attr *attr,
				   const struct mdv_match *match);
	int (*destroy)(struct mdv_rule *rule);
	void (*close)(struct mdv_rule_table *t);
};

/** Stands first in each back end's own. */
struct mdv_rule_table {
	struct mdv_dev *dev;
	const struct mdv_rule_ops *ops;
	pthread_mutex_t lock;
	unsigned int rules;
};

/** The same; the front fills it in. */
struct mdv_rule {
	struct mdv_rule_table *table;
};

/** "priority 1, dmac 01:00:5e:00:00:00, ethertype 0x800, ..." for the log line. */
void mdv_rule_describe(const struct mdv_rule_attr *attr, char *text, size_t bytes);
/** One line; NULL and ENOMEM. */
struct mdv_rule_table *mdv_rules_no_memory(const struct mdv_dev *dev);

/** mdv_rule_verbs.c: the kernel's matchers and flows. */
struct mdv_rule_table *mdv_rules_verbs_new(struct mdv_dev *dev);

/** Makes a table the first that arriving packets are asked in; NULL: as without one. 0 or -errno. */
typedef int (*mdv_rules_root)(struct mdv_dev *dev, struct mdv_obj *table);
/** By SET_FLOW_TABLE_ROOT, which only a device without a kernel takes. */
int mdv_rules_fw_root(struct mdv_dev *dev, struct mdv_obj *table);
/** mdv_rule_fw.c: flow tables of our own, by command; nothing is made before the first rule. */
struct mdv_rule_table *mdv_rules_fw_new(struct mdv_dev *dev, mdv_rules_root set_root);

#endif /* MDV_RULE_INT_H */
