/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Match parameters of steering rules: from attributes, criteria, as text. */

#include <string.h>

#include <prm_decode.h>

#include "mdv_private.h"
#include "mdv_rule_int.h"

uint8_t
mdv_match_criteria(const struct prm_fte_match_param *mask)
{
	/* Each set of headers has 16 dwords, and a bit in the order of the sets (PRM, fte_match_param). */
	const unsigned int set_dwords = RTE_DIM(((struct prm_fte_match_set_lyr_2_4 *)NULL)->dw);
	uint8_t criteria = 0;

	for (unsigned int i = 0; i < RTE_DIM(mask->dw); i++)
		criteria |= (uint8_t)((mask->dw[i] != 0) << i / set_dwords);
	return criteria;
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
	if (attr->vlan_id == MDV_MATCH_UNTAGGED)
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rule_match)
void
mdv_rule_match(const struct mdv_rule_attr *attr, struct mdv_match *match)
{
	if (attr->match != NULL) {
		*match = *attr->match;
		return;
	}
	memset(match, 0, sizeof(*match));
	set_match(attr, prm_fte_match_param_outer_headers(&match->mask),
		  prm_fte_match_param_outer_headers(&match->value));
}

/* ------------------------------------------------------------------ fields that are matched */

/** More fields than match parameters have. */
#define MATCH_FIELDS_MAX 512

struct match_walk {
	mdv_match_field_t visit;
	void *arg;
	unsigned int n; /**< Fields so far. */
	uint64_t mask[MATCH_FIELDS_MAX];
};

static void
mask_note(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	struct match_walk *w = arg;

	RTE_SET_USED(path);
	RTE_SET_USED(enum_name);
	if (w->n < MATCH_FIELDS_MAX)
		w->mask[w->n++] = value;
}

static void
value_visit(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	struct match_walk *w = arg;
	uint64_t mask = w->n < MATCH_FIELDS_MAX ? w->mask[w->n++] : 0;

	RTE_SET_USED(enum_name);
	if (mask != 0)
		w->visit(w->arg, path, value, mask);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_match_fields)
void
mdv_match_fields(const struct mdv_match *match, mdv_match_field_t visit, void *arg)
{
	struct match_walk w = { .visit = visit, .arg = arg };

	/* Both have the same fields in the same order. */
	prm_decode(&prm_layout_fte_match_param, &match->mask, sizeof(match->mask), false, mask_note, &w);
	w.n = 0;
	prm_decode(&prm_layout_fte_match_param, &match->value, sizeof(match->value), false, value_visit, &w);
}
