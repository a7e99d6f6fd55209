/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Steering rules of a port: for either backend; tables and counters. */

#include <pthread.h>
#include <stdlib.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

/** NULL is allowed. */
static struct mdv_rule_table *
table_init(struct mdv_rule_table *t)
{
	if (t == NULL)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	TAILQ_INIT(&t->changes);
	return t;
}

/** NULL is allowed. */
static void
table_fini(struct mdv_rule_table *t)
{
	if (t == NULL)
		return;
	if (t->rules != 0 || !TAILQ_EMPTY(&t->changes))
		MDV_LOG(ERR, t->dev->name, "steering rules were left behind by their owner");
	pthread_mutex_destroy(&t->lock);
	if (t->ops->close != NULL)
		t->ops->close(t);
	free(t);
}

/** In VFIO mode there is no root table yet. */
static struct mdv_rule_table *
root_new(struct mdv_dev *dev, bool egress)
{
	return table_init(dev->mode == MDV_OPEN_VFIO ? mdv_rules_fw_new(dev, egress, mdv_rules_fw_root) :
						       mdv_rules_verbs_new(dev, egress));
}

int
mdv_rules_open(struct mdv_dev *dev)
{
	dev->rules = root_new(dev, false);
	if (dev->rules == NULL)
		return -rte_errno;
	dev->tx_rules = root_new(dev, true);
	if (dev->tx_rules != NULL)
		return 0;
	MDV_UNDO(table_fini(dev->rules));
	dev->rules = NULL;
	return -rte_errno;
}

void
mdv_rules_close(struct mdv_dev *dev)
{
	table_fini(dev->tx_rules);
	table_fini(dev->rules);
	dev->rules = dev->tx_rules = NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_table_create)
struct mdv_rule_table *
mdv_rule_table_create(struct mdv_dev *dev, bool egress, uint8_t level)
{
	return table_init(mdv_rules_fw_table(dev, egress, level));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_table_destroy)
void
mdv_rule_table_destroy(struct mdv_rule_table *table)
{
	table_fini(table);
}

static int
check_attr(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	if (attr->ip_version != 0 && attr->ip_version != 4 && attr->ip_version != 6)
		return MDV_FAIL(dev->name, EINVAL, "a rule's IP version is 4, 6 or any, not %u",
				attr->ip_version);
	if (attr->counter_offset != 0 && attr->table == NULL && dev->mode != MDV_OPEN_VFIO)
		return MDV_FAIL(dev->name, EINVAL, "a rule of the root has the first counter of an object, not number %u",
				attr->counter_offset);
	if (attr->match_vlan && attr->vlan_id > 0xfff && attr->vlan_id != MDV_MATCH_UNTAGGED)
		return MDV_FAIL(dev->name, EINVAL, "a rule's VLAN id is 0..4095 or untagged, not %u",
				attr->vlan_id);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_create)
struct mdv_rule *
mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	struct mdv_rule_table *t = attr->table != NULL ? attr->table : attr->egress ? dev->tx_rules : dev->rules;
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_flow_counters_create)
struct mdv_obj *
mdv_flow_counters_create(struct mdv_dev *dev, uint32_t n)
{
	struct prm_alloc_flow_counter_in in = { 0 };
	uint32_t bulk = n >> MDV_LOG_FLOW_BULK;

	if (n != 1 && (n > MDV_FLOW_COUNTERS_MAX || n != bulk << MDV_LOG_FLOW_BULK || !rte_is_power_of_2(bulk) ||
		       !(dev->caps.flow_counter_bulks & bulk)))
		return MDV_FAIL_NULL(dev->name, EINVAL, "the device has no bulk of %u counters", n);
	prm_alloc_flow_counter_in_set_opcode(&in, PRM_CMD_OP_ALLOC_FLOW_COUNTER);
	prm_alloc_flow_counter_in_set_flow_counter_bulk(&in, bulk);
	return mdv_obj_create(dev, &in, sizeof(in));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_flow_counters_read)
int
mdv_flow_counters_read(struct mdv_obj *counters, uint32_t n, struct mdv_flow_count *counts)
{
	struct prm_query_flow_counter_in in = { 0 };
	struct {
		struct prm_query_flow_counter_out out;
		struct prm_traffic_counter statistics[MDV_FLOW_COUNTERS_MAX];
	} reply;
	int ret;

	if (n == 0 || n > MDV_FLOW_COUNTERS_MAX || (n != 1 && n % 4 != 0))
		return MDV_FAIL(counters->dev->name, EINVAL, "%u counters cannot be read at once", n);
	prm_query_flow_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_COUNTER);
	prm_query_flow_counter_in_set_flow_counter_id(&in, counters->id);
	prm_query_flow_counter_in_set_num_of_counters(&in, n == 1 ? 0 : n);
	ret = mdv_obj_query(counters, &in, sizeof(in), &reply, sizeof(reply.out) + n * sizeof(reply.statistics[0]));
	for (uint32_t i = 0; ret == 0 && i < n; i++)
		counts[i] = (struct mdv_flow_count){
			.packets = prm_traffic_counter_get_packets(&reply.statistics[i]),
			.bytes = prm_traffic_counter_get_octets(&reply.statistics[i]),
		};
	return ret;
}
