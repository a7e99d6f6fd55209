/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Steering rules on the NIC RX root table, with matchers shared by equal masks. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_ether.h>

#include "mdv_private.h"

/** Outer headers only: the shortest mask every kernel takes. */
#define MDV_MATCH_BYTES PRM_FTE_MATCH_SET_LYR_2_4_BYTES
#define MDV_VLAN_UNTAGGED 0xffff

/** Mask or value as the kernel wants it: a size and device-format bytes. */
struct match_param {
	size_t match_sz;
	struct prm_fte_match_set_lyr_2_4 outer;
};
_Static_assert(offsetof(struct match_param, outer) ==
		       offsetof(struct mlx5dv_flow_match_parameters, match_buf),
	       "match_param must read as mlx5dv_flow_match_parameters");

struct matcher {
	TAILQ_ENTRY(matcher) next;
	struct mlx5dv_flow_matcher *handle;
	struct match_param mask;
	uint16_t priority;
	unsigned int users;
};

struct mdv_rule_table {
	pthread_mutex_t lock;
	TAILQ_HEAD(, matcher) matchers;
};

struct mdv_rule {
	struct mdv_dev *dev;
	struct matcher *matcher;
	struct ibv_flow *flow;
};

int
mdv_rules_open(struct mdv_dev *dev)
{
	dev->rules = calloc(1, sizeof(*dev->rules));
	if (dev->rules == NULL) {
		MDV_LOG(ERR, &dev->pci, "no memory for steering rules");
		return mdv_fail(ENOMEM);
	}
	pthread_mutex_init(&dev->rules->lock, NULL);
	TAILQ_INIT(&dev->rules->matchers);
	return 0;
}

void
mdv_rules_close(struct mdv_dev *dev)
{
	if (!TAILQ_EMPTY(&dev->rules->matchers))
		MDV_LOG(ERR, &dev->pci, "steering rules were left behind by their owner");
	pthread_mutex_destroy(&dev->rules->lock);
	free(dev->rules);
	dev->rules = NULL;
}

/** Never fails on its own account: destroys the matcher when its last rule is gone. Lock held. */
static void
matcher_put(struct mdv_dev *dev, struct matcher *m)
{
	int err;

	if (--m->users > 0)
		return;
	TAILQ_REMOVE(&dev->rules->matchers, m, next);
	err = MDV_UNDO(dev, mlx5dv_destroy_flow_matcher(m->handle));
	if (err != 0)
		MDV_LOG_ERR(dev, "mlx5dv_destroy_flow_matcher of priority %u failed: %s",
			    m->priority, mdv_errno_name(err));
	free(m);
}

static struct mlx5dv_flow_matcher *
matcher_handle(struct mdv_dev *dev, struct match_param *mask, uint16_t priority)
{
	static const struct prm_fte_match_set_lyr_2_4 nothing;
	bool any = memcmp(&mask->outer, &nothing, sizeof(nothing)) == 0;
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = priority,
		/* Headers of which nothing is compared are not to be named. */
		.match_criteria_enable = any ? 0 : PRM_MATCH_CRITERIA_ENABLE_OUTER,
		.match_mask = (struct mlx5dv_flow_match_parameters *)mask,
	};
	struct mlx5dv_flow_matcher *handle;
	int err;

	errno = 0;
	handle = MDV_MAKE(mlx5dv_create_flow_matcher(dev->ibv, &attr));
	if (handle == NULL) {
		err = errno != 0 ? errno : EIO;
		MDV_LOG(ERR, &dev->pci, "mlx5dv_create_flow_matcher of priority %u failed: %s",
			priority, mdv_errno_name(err));
		rte_errno = err;
	}
	return handle;
}

/** The matcher of a mask and priority, made when there is none yet. Lock held. */
static struct matcher *
matcher_get(struct mdv_dev *dev, const struct match_param *mask, uint16_t priority)
{
	struct matcher *m;

	TAILQ_FOREACH(m, &dev->rules->matchers, next) {
		if (m->priority != priority || memcmp(&m->mask, mask, sizeof(*mask)) != 0)
			continue;
		m->users++;
		return m;
	}
	m = calloc(1, sizeof(*m));
	if (m == NULL) {
		MDV_LOG(ERR, &dev->pci, "no memory for a matcher");
		rte_errno = ENOMEM;
		return NULL;
	}
	m->mask = *mask;
	m->priority = priority;
	m->users = 1;
	m->handle = matcher_handle(dev, &m->mask, priority);
	if (m->handle == NULL) {
		free(m);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&dev->rules->matchers, m, next);
	return m;
}

/* ------------------------------------------------------------------ from attributes to match */

static void
set_dmac(struct prm_fte_match_set_lyr_2_4 *p, const uint8_t mac[6])
{
	prm_fte_match_set_lyr_2_4_set_dmac_47_16(
		p, (uint32_t)mac[0] << 24 | mac[1] << 16 | mac[2] << 8 | mac[3]);
	prm_fte_match_set_lyr_2_4_set_dmac_15_0(p, mac[4] << 8 | mac[5]);
}

static void
set_dmac_match(const struct mdv_rule_attr *attr, struct prm_fte_match_set_lyr_2_4 *mask,
	       struct prm_fte_match_set_lyr_2_4 *value)
{
	uint8_t masked[6];

	/* A value bit outside of the mask would make the kernel refuse the rule. */
	for (int i = 0; i < 6; i++)
		masked[i] = attr->dmac[i] & attr->dmac_mask[i];
	set_dmac(mask, attr->dmac_mask);
	set_dmac(value, masked);
}

static void
set_vlan_match(const struct mdv_rule_attr *attr, struct prm_fte_match_set_lyr_2_4 *mask,
	       struct prm_fte_match_set_lyr_2_4 *value)
{
	prm_fte_match_set_lyr_2_4_set_cvlan_tag(mask, 1);
	if (attr->vlan_id == MDV_VLAN_UNTAGGED)
		return;
	prm_fte_match_set_lyr_2_4_set_cvlan_tag(value, 1);
	prm_fte_match_set_lyr_2_4_set_first_vid(mask, 0xfff);
	prm_fte_match_set_lyr_2_4_set_first_vid(value, attr->vlan_id);
}

static void
set_match(const struct mdv_rule_attr *attr, struct prm_fte_match_set_lyr_2_4 *mask,
	  struct prm_fte_match_set_lyr_2_4 *value)
{
	if (attr->match_dmac)
		set_dmac_match(attr, mask, value);
	if (attr->ethertype != 0) {
		prm_fte_match_set_lyr_2_4_set_ethertype(mask, 0xffff);
		prm_fte_match_set_lyr_2_4_set_ethertype(value, attr->ethertype);
	}
	if (attr->ip_version != 0) {
		prm_fte_match_set_lyr_2_4_set_ip_version(mask, 0xf);
		prm_fte_match_set_lyr_2_4_set_ip_version(value, attr->ip_version);
	}
	if (attr->ip_proto != 0) {
		prm_fte_match_set_lyr_2_4_set_ip_protocol(mask, 0xff);
		prm_fte_match_set_lyr_2_4_set_ip_protocol(value, attr->ip_proto);
	}
	if (attr->match_frag) {
		prm_fte_match_set_lyr_2_4_set_frag(mask, 1);
		prm_fte_match_set_lyr_2_4_set_frag(value, attr->frag);
	}
	if (attr->match_vlan)
		set_vlan_match(attr, mask, value);
}

static int
check_attr(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	if (attr->ip_version != 0 && attr->ip_version != 4 && attr->ip_version != 6) {
		MDV_LOG(ERR, &dev->pci, "a rule's IP version is 4, 6 or any, not %u",
			attr->ip_version);
		return mdv_fail(EINVAL);
	}
	if (attr->match_vlan && attr->vlan_id > 0xfff && attr->vlan_id != MDV_VLAN_UNTAGGED) {
		MDV_LOG(ERR, &dev->pci, "a rule's VLAN id is 0..4095 or untagged, not %u",
			attr->vlan_id);
		return mdv_fail(EINVAL);
	}
	return 0;
}

/** "priority 1, dmac 01:00:5e:00:00:00, ethertype 0x800, ..." for the log line. */
static void
describe(const struct mdv_rule_attr *attr, char *text, size_t bytes)
{
	int n = snprintf(text, bytes, "priority %u", attr->priority);

	if (attr->match_dmac)
		n += snprintf(text + n, bytes - n, ", dmac " RTE_ETHER_ADDR_PRT_FMT,
			      attr->dmac[0], attr->dmac[1], attr->dmac[2], attr->dmac[3],
			      attr->dmac[4], attr->dmac[5]);
	n += snprintf(text + n, bytes - n, ", ethertype 0x%x, IPv%u, protocol %u", attr->ethertype,
		      attr->ip_version, attr->ip_proto);
	if (attr->match_vlan)
		n += snprintf(text + n, bytes - n, ", VLAN %u", attr->vlan_id);
	if (attr->tir != NULL)
		snprintf(text + n, bytes - n, ", tirn 0x%x", attr->tir->id);
	else
		snprintf(text + n, bytes - n, ", drop");
}

static struct ibv_flow *
flow_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr, struct matcher *m,
	    struct match_param *value)
{
	struct mlx5dv_flow_action_attr actions[2];
	char text[160];
	struct ibv_flow *flow;
	size_t n = 0;
	int err;

	if (attr->tir != NULL)
		actions[n++] = (struct mlx5dv_flow_action_attr){
			.type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = attr->tir->devx };
	else
		actions[n++] = (struct mlx5dv_flow_action_attr){ .type = MLX5DV_FLOW_ACTION_DROP };
	if (attr->tag != 0 && attr->tir != NULL)
		actions[n++] = (struct mlx5dv_flow_action_attr){
			.type = MLX5DV_FLOW_ACTION_TAG, .tag_value = attr->tag };
	errno = 0;
	flow = MDV_MAKE(mlx5dv_create_flow(m->handle,
					   (struct mlx5dv_flow_match_parameters *)value, n,
					   actions));
	if (flow != NULL)
		return flow;
	err = errno != 0 ? errno : EIO;
	describe(attr, text, sizeof(text));
	MDV_LOG(ERR, &dev->pci, "mlx5dv_create_flow(%s) failed: %s", text, mdv_errno_name(err));
	rte_errno = err;
	return NULL;
}

struct mdv_rule *
mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	struct match_param mask = { .match_sz = MDV_MATCH_BYTES };
	struct match_param value = { .match_sz = MDV_MATCH_BYTES };
	struct mdv_rule *rule;

	if (check_attr(dev, attr) != 0)
		return NULL;
	set_match(attr, &mask.outer, &value.outer);
	rule = calloc(1, sizeof(*rule));
	if (rule == NULL) {
		MDV_LOG(ERR, &dev->pci, "no memory for a rule");
		rte_errno = ENOMEM;
		return NULL;
	}
	rule->dev = dev;
	pthread_mutex_lock(&dev->rules->lock);
	rule->matcher = matcher_get(dev, &mask, attr->priority);
	if (rule->matcher != NULL) {
		rule->flow = flow_create(dev, attr, rule->matcher, &value);
		if (rule->flow == NULL) {
			int err = rte_errno;

			matcher_put(dev, rule->matcher);
			rte_errno = err;
		}
	}
	pthread_mutex_unlock(&dev->rules->lock);
	if (rule->flow != NULL)
		return rule;
	free(rule);
	return NULL;
}

int
mdv_rule_destroy(struct mdv_rule *rule)
{
	struct mdv_dev *dev;
	int err;

	if (rule == NULL)
		return 0;
	dev = rule->dev;
	pthread_mutex_lock(&dev->rules->lock);
	err = MDV_UNDO(dev, ibv_destroy_flow(rule->flow));
	if (err != 0)
		MDV_LOG_ERR(dev, "ibv_destroy_flow failed, the rule stays behind -> %s",
			    mdv_errno_name(err));
	matcher_put(dev, rule->matcher);
	pthread_mutex_unlock(&dev->rules->lock);
	free(rule);
	return err != 0 ? mdv_fail(err) : 0;
}
