/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Steering rules of a port: for either backend; tables and counters. */

#include <pthread.h>
#include <stdlib.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

static void
table_init(struct mdv_rule_table *t)
{
	pthread_mutex_init(&t->lock, NULL);
	TAILQ_INIT(&t->changes);
}

static void
table_fini(struct mdv_rule_table *t)
{
	if (t->rules != 0 || !TAILQ_EMPTY(&t->changes))
		MDV_LOG(ERR, t->dev->name, "steering rules were left behind by their owner");
	pthread_mutex_destroy(&t->lock);
	if (t->ops->close != NULL)
		t->ops->close(t);
	free(t);
}

int
mdv_rules_open(struct mdv_dev *dev)
{
	/* In VFIO mode there is no root table yet. */
	dev->rules = dev->mode == MDV_OPEN_VFIO ? mdv_rules_fw_new(dev, mdv_rules_fw_root)
						: mdv_rules_verbs_new(dev);
	if (dev->rules == NULL)
		return -rte_errno;
	table_init(dev->rules);
	return 0;
}

void
mdv_rules_close(struct mdv_dev *dev)
{
	table_fini(dev->rules);
	dev->rules = NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_table_create)
struct mdv_rule_table *
mdv_rule_table_create(struct mdv_dev *dev, uint8_t level)
{
	struct mdv_rule_table *t = mdv_rules_fw_table(dev, level);

	if (t != NULL)
		table_init(t);
	return t;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_table_destroy)
void
mdv_rule_table_destroy(struct mdv_rule_table *table)
{
	if (table != NULL)
		table_fini(table);
}

static int
check_attr(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	if (attr->ip_version != 0 && attr->ip_version != 4 && attr->ip_version != 6)
		return MDV_FAIL(dev->name, EINVAL, "a rule's IP version is 4, 6 or any, not %u",
				attr->ip_version);
	if (attr->match_vlan && attr->vlan_id > 0xfff && attr->vlan_id != MDV_MATCH_UNTAGGED)
		return MDV_FAIL(dev->name, EINVAL, "a rule's VLAN id is 0..4095 or untagged, not %u",
				attr->vlan_id);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_create)
struct mdv_rule *
mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	struct mdv_rule_table *t = attr->table != NULL ? attr->table : dev->rules;
	struct mdv_match match;
	struct mdv_rule *rule;

	if (check_attr(dev, attr) != 0)
		return NULL;
	mdv_rule_match(attr, &match);
	pthread_mutex_lock(&t->lock);
	rule = t->ops->create(t, attr, &match);
	if (rule != NULL) {
		rule->table = t;
		t->rules++;
	}
	pthread_mutex_unlock(&t->lock);
	return rule;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_destroy)
int
mdv_rule_destroy(struct mdv_rule *rule)
{
	struct mdv_rule_table *t;
	int ret;

	if (rule == NULL)
		return 0;
	t = rule->table;
	pthread_mutex_lock(&t->lock);
	ret = t->ops->destroy(rule);
	t->rules--;
	pthread_mutex_unlock(&t->lock);
	return ret;
}

/* ------------------------------------------------------------------ counters */

RTE_EXPORT_INTERNAL_SYMBOL(mdv_flow_counter_create)
struct mdv_obj *
mdv_flow_counter_create(struct mdv_dev *dev)
{
	struct prm_alloc_flow_counter_in in = { 0 };

	prm_alloc_flow_counter_in_set_opcode(&in, PRM_CMD_OP_ALLOC_FLOW_COUNTER);
	return mdv_obj_create(dev, &in, sizeof(in));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_flow_counter_read)
int
mdv_flow_counter_read(struct mdv_obj *counter, uint64_t *packets, uint64_t *bytes)
{
	struct prm_query_flow_counter_in in = { 0 };
	struct {
		struct prm_query_flow_counter_out out;
		struct prm_traffic_counter statistics;
	} reply;
	int ret;

	prm_query_flow_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_COUNTER);
	prm_query_flow_counter_in_set_flow_counter_id(&in, counter->id);
	ret = mdv_obj_query(counter, &in, sizeof(in), &reply, sizeof(reply));
	if (ret != 0)
		return ret;
	*packets = prm_traffic_counter_get_packets(&reply.statistics);
	*bytes = prm_traffic_counter_get_octets(&reply.statistics);
	return 0;
}
