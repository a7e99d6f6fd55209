/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Steering rules of a port: conversion of attributes to mask and value, for either backend. */

#include <pthread.h>
#include <stdlib.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

#define MDV_VLAN_UNTAGGED 0xffff

int
mdv_rules_open(struct mdv_dev *dev)
{
	/* In VFIO mode there is no root table yet. */
	dev->rules = dev->mode == MDV_OPEN_VFIO ? mdv_rules_fw_new(dev, mdv_rules_fw_root)
						: mdv_rules_verbs_new(dev);
	if (dev->rules == NULL)
		return -rte_errno;
	pthread_mutex_init(&dev->rules->lock, NULL);
	return 0;
}

void
mdv_rules_close(struct mdv_dev *dev)
{
	struct mdv_rule_table *t = dev->rules;

	if (t->rules != 0)
		MDV_LOG(ERR, dev->name, "steering rules were left behind by their owner");
	pthread_mutex_destroy(&t->lock);
	dev->rules = NULL;
	if (t->ops->close != NULL)
		t->ops->close(t);
	free(t);
}

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

	/* The kernel refuses value bits outside the mask. */
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
	if (attr->ip_version != 0 && attr->ip_version != 4 && attr->ip_version != 6)
		return MDV_FAIL(dev->name, EINVAL, "a rule's IP version is 4, 6 or any, not %u",
				attr->ip_version);
	if (attr->match_vlan && attr->vlan_id > 0xfff && attr->vlan_id != MDV_VLAN_UNTAGGED)
		return MDV_FAIL(dev->name, EINVAL, "a rule's VLAN id is 0..4095 or untagged, not %u",
				attr->vlan_id);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_create)
struct mdv_rule *
mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	struct mdv_rule_table *t = dev->rules;
	struct mdv_match match = { 0 };
	struct mdv_rule *rule;

	if (check_attr(dev, attr) != 0)
		return NULL;
	set_match(attr, &match.mask, &match.value);
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
