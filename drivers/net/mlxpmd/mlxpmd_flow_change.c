/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * rte_flow actions that change packets. All that change fields become one list of the device's actions. A device
 * changes a received packet in the order: tunnel, VLAN tag, fields; a sent one in the order: fields, VLAN tag, tunnel.
 * Lists in another order are refused.
 */

#include <rte_flow.h>

#include "mlxpmd_flow_modify.h"
#include "mlxpmd_rx.h"

/* ------------------------------------------------------------------ the headers of the pattern */

/** The outermost headers at this place of the list: those of the tunnel, or those in it once it is removed. */
static void
headers_of(const struct mlxpmd_mod_list *c, const struct prm_fte_match_set_lyr_2_4 **mask,
	   const struct prm_fte_match_set_lyr_2_4 **value)
{
	const struct mdv_match *m = &c->pattern->match;
	const bool inner = c->out->tunnel != MLXPMD_TUNNEL_NONE && !c->egress;

	*mask = inner ? prm_fte_match_param_inner_headers_c(&m->mask) : prm_fte_match_param_outer_headers_c(&m->mask);
	*value = inner ? prm_fte_match_param_inner_headers_c(&m->value) :
			 prm_fte_match_param_outer_headers_c(&m->value);
}

static uint8_t
ip_version(const struct mlxpmd_mod_list *c)
{
	const struct prm_fte_match_set_lyr_2_4 *mask, *value;

	headers_of(c, &mask, &value);
	return prm_fte_match_set_lyr_2_4_get_ip_version(mask) != 0 ?
		       (uint8_t)prm_fte_match_set_lyr_2_4_get_ip_version(value) : 0;
}

static uint8_t
ip_protocol(const struct mlxpmd_mod_list *c)
{
	const struct prm_fte_match_set_lyr_2_4 *mask, *value;

	headers_of(c, &mask, &value);
	return prm_fte_match_set_lyr_2_4_get_ip_protocol(mask) == UINT8_MAX ?
		       (uint8_t)prm_fte_match_set_lyr_2_4_get_ip_protocol(value) : 0;
}

/** rte_flow.h: the set actions require an item of the header. */
static int
header_check(const struct mlxpmd_mod_list *c, const struct rte_flow_action *action, const struct mlxpmd_mod_field *f)
{
	if (f->version != 0 && ip_version(c) != f->version)
		return REFUSE_CHANGE(c, EINVAL, action, "the pattern has no item ipv%u", f->version);
	if (f->proto != 0 && ip_protocol(c) != f->proto)
		return REFUSE_CHANGE(c, EINVAL, action, "the pattern has no item %s",
				     f->proto == IPPROTO_TCP ? "tcp" : "udp");
	return 0;
}

/* ------------------------------------------------------------------ the set actions */

static int
set_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, enum rte_flow_field_id id,
	    const void *value)
{
	const struct mlxpmd_mod_place to = { .field = mlxpmd_mod_field_find(c, id) };
	int rc = header_check(c, action, to.field);

	if (rc == 0)
		rc = mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_MODIFY);
	return rc == 0 ? mlxpmd_mod_field_set(c, action, &to, to.field->bits, value) : rc;
}

static enum rte_flow_field_id
ttl_of(const struct mlxpmd_mod_list *c)
{
	return ip_version(c) == 6 ? RTE_FLOW_FIELD_IPV6_HOPLIMIT : RTE_FLOW_FIELD_IPV4_TTL;
}

/** A port of TCP or UDP, as the pattern has it. */
static int
tp_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_set_tp *conf = action->conf;
	const bool source = action->type == RTE_FLOW_ACTION_TYPE_SET_TP_SRC;
	const bool udp = ip_protocol(c) == IPPROTO_UDP;

	if (!udp && ip_protocol(c) != IPPROTO_TCP)
		return REFUSE_CHANGE(c, EINVAL, action, "the pattern has neither item tcp nor udp");
	if (source)
		return set_compile(c, action, udp ? RTE_FLOW_FIELD_UDP_PORT_SRC : RTE_FLOW_FIELD_TCP_PORT_SRC,
				   &conf->port);
	return set_compile(c, action, udp ? RTE_FLOW_FIELD_UDP_PORT_DST : RTE_FLOW_FIELD_TCP_PORT_DST, &conf->port);
}

/** Sets bits of a register: data under mask, in runs of bits. */
static int
register_set(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, const struct mlxpmd_mod_place *reg,
	     uint32_t data, uint32_t mask)
{
	const uint16_t id = mlxpmd_mod_part_id(reg, reg->field->parts);
	uint32_t from, bits;
	int rc = 0;

	if (mask == 0)
		return REFUSE_CHANGE(c, EINVAL, action, "the mask is 0");
	for (; rc == 0 && mask != 0; mask &= ~(uint32_t)(RTE_BIT64(from + bits) - 1)) {
		from = (uint32_t)__builtin_ctz(mask);
		bits = mask >> from == UINT32_MAX ? 32 : (uint32_t)__builtin_ctz(~(mask >> from));
		rc = mlxpmd_mod_part_set(c, action, PRM_ACTION_TYPE_SET, id, from, bits,
					 data >> from & (uint32_t)(RTE_BIT64(bits) - 1));
	}
	return rc;
}

static int
register_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_set_meta *meta = action->conf;
	const struct rte_flow_action_set_tag *tag = action->conf;
	struct mlxpmd_mod_place reg = { .field = mlxpmd_mod_field_find(c, RTE_FLOW_FIELD_META) };
	int rc;

	if (action->type == RTE_FLOW_ACTION_TYPE_SET_META)
		return register_set(c, action, &reg, meta->data, meta->mask);
	rc = mlxpmd_mod_tag_check(c, action, tag->index);
	reg = (struct mlxpmd_mod_place){ .field = mlxpmd_mod_field_find(c, RTE_FLOW_FIELD_TAG), .tag = tag->index };
	return rc == 0 ? register_set(c, action, &reg, tag->data, tag->mask) : rc;
}

/** Number of TCP: by how much, up or down. */
static int
number_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const bool seq = action->type == RTE_FLOW_ACTION_TYPE_INC_TCP_SEQ ||
			 action->type == RTE_FLOW_ACTION_TYPE_DEC_TCP_SEQ;
	const bool down = action->type == RTE_FLOW_ACTION_TYPE_DEC_TCP_SEQ ||
			  action->type == RTE_FLOW_ACTION_TYPE_DEC_TCP_ACK;
	const uint32_t by = rte_be_to_cpu_32(*(const rte_be32_t *)action->conf);
	const struct mlxpmd_mod_place to = {
		.field = mlxpmd_mod_field_find(c, seq ? RTE_FLOW_FIELD_TCP_SEQ_NUM : RTE_FLOW_FIELD_TCP_ACK_NUM),
	};
	int rc = header_check(c, action, to.field);

	return rc == 0 ? mlxpmd_mod_add(c, action, &to, down ? 0u - by : by) : rc;
}

static int
vid_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_of_set_vlan_vid *conf = action->conf;
	const struct prm_fte_match_set_lyr_2_4 *mask, *value;

	headers_of(c, &mask, &value);
	if (rte_be_to_cpu_16(conf->vlan_vid) > 0xfff)
		return REFUSE_CHANGE(c, EINVAL, action, "VLAN id %u", rte_be_to_cpu_16(conf->vlan_vid));
	if (c->stage == MLXPMD_STAGE_PUSH) {
		c->out->push_vlan = (c->out->push_vlan & ~0xfffu) | rte_be_to_cpu_16(conf->vlan_vid);
		return 0;
	}
	if (!prm_fte_match_set_lyr_2_4_get_cvlan_tag(value) && !prm_fte_match_set_lyr_2_4_get_svlan_tag(value))
		return REFUSE_CHANGE(c, EINVAL, action, "the pattern has no item vlan");
	return set_compile(c, action, RTE_FLOW_FIELD_VLAN_ID, &conf->vlan_vid);
}

static int
ttl_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_set_ttl *conf = action->conf;
	const struct mlxpmd_mod_place to = { .field = mlxpmd_mod_field_find(c, ttl_of(c)) };
	int rc = header_check(c, action, to.field);

	if (rc != 0 || action->type == RTE_FLOW_ACTION_TYPE_SET_TTL)
		return rc == 0 ? set_compile(c, action, ttl_of(c), &conf->ttl_value) : rc;
	return mlxpmd_mod_add(c, action, &to, UINT8_MAX);
}

/* ------------------------------------------------------------------ tunnels and tags */

static int
decap_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const enum rte_flow_item_type tunnel = c->pattern->tunnel;

	if (tunnel == RTE_FLOW_ITEM_TYPE_END)
		return REFUSE_CHANGE(c, EINVAL, action, "the pattern has no item of a tunnel");
	if ((action->type == RTE_FLOW_ACTION_TYPE_VXLAN_DECAP && tunnel != RTE_FLOW_ITEM_TYPE_VXLAN &&
	     tunnel != RTE_FLOW_ITEM_TYPE_VXLAN_GPE) ||
	    (action->type == RTE_FLOW_ACTION_TYPE_NVGRE_DECAP && tunnel != RTE_FLOW_ITEM_TYPE_NVGRE))
		return REFUSE_CHANGE(c, EINVAL, action, "the pattern has an item of another tunnel");
	c->out->tunnel = MLXPMD_DECAP_L2;
	return mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_DECAP);
}

/** After raw_decap: the Ethernet header of a packet that had none in its tunnel. */
static int
raw_encap_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_raw_encap *conf = action->conf;

	if (c->egress)
		return mlxpmd_mod_raw_encap(c, action);
	if (c->out->tunnel != MLXPMD_DECAP_RAW || c->stage != MLXPMD_STAGE_DECAP)
		return REFUSE_CHANGE(c, ENOTSUP, action, "received packets are not put into tunnels; behind "
				     "raw_decap it is the Ethernet header of what was in the tunnel");
	if (conf->data == NULL || (conf->size != RTE_ETHER_HDR_LEN &&
				   conf->size != RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN))
		return REFUSE_CHANGE(c, ENOTSUP, action, "%zu bytes: an Ethernet header has %d or %zu",
				     conf->size, RTE_ETHER_HDR_LEN, (size_t)RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN);
	memcpy(c->out->header, conf->data, conf->size);
	c->out->header_bytes = (uint8_t)conf->size;
	c->out->tunnel = MLXPMD_DECAP_L3;
	return 0;
}

static int
raw_decap_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_raw_decap *conf = action->conf;
	const size_t least = RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr);
	int rc;

	if (c->egress)
		return mlxpmd_mod_raw_decap(c, action);
	rc = decap_compile(c, action);
	if (rc == 0 && conf->size != 0 && conf->size < least)
		rc = REFUSE_CHANGE(c, ENOTSUP, action, "%zu bytes: all before the headers in the tunnel is removed, which "
				   "are %zu at least", conf->size, least);
	c->out->tunnel = MLXPMD_DECAP_RAW;
	return rc;
}

static int
pop_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	c->out->pop_vlan = true;
	return mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_POP);
}

/* ------------------------------------------------------------------ the list */

/** The actions that change packets, and how they are compiled: those that set one field by the field. */
static const struct known {
	enum rte_flow_action_type type;
	uint8_t bytes;		/**< Of the configuration; 0: there is none. */
	enum rte_flow_field_id field;
	int (*compile)(struct mlxpmd_mod_list *c, const struct rte_flow_action *action);
	enum { BOTH, INGRESS, EGRESS } direction;
} known[] = {
	{ RTE_FLOW_ACTION_TYPE_SET_MAC_SRC, sizeof(struct rte_flow_action_set_mac), RTE_FLOW_FIELD_MAC_SRC, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_MAC_DST, sizeof(struct rte_flow_action_set_mac), RTE_FLOW_FIELD_MAC_DST, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC, sizeof(struct rte_flow_action_set_ipv4), RTE_FLOW_FIELD_IPV4_SRC, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV4_DST, sizeof(struct rte_flow_action_set_ipv4), RTE_FLOW_FIELD_IPV4_DST, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV6_SRC, sizeof(struct rte_flow_action_set_ipv6), RTE_FLOW_FIELD_IPV6_SRC, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV6_DST, sizeof(struct rte_flow_action_set_ipv6), RTE_FLOW_FIELD_IPV6_DST, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV4_DSCP, sizeof(struct rte_flow_action_set_dscp), RTE_FLOW_FIELD_IPV4_DSCP, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV6_DSCP, sizeof(struct rte_flow_action_set_dscp), RTE_FLOW_FIELD_IPV6_DSCP, NULL },
	{ RTE_FLOW_ACTION_TYPE_SET_TP_SRC, sizeof(struct rte_flow_action_set_tp), 0, tp_compile },
	{ RTE_FLOW_ACTION_TYPE_SET_TP_DST, sizeof(struct rte_flow_action_set_tp), 0, tp_compile },
	{ RTE_FLOW_ACTION_TYPE_SET_TTL, sizeof(struct rte_flow_action_set_ttl), 0, ttl_compile },
	{ RTE_FLOW_ACTION_TYPE_DEC_TTL, 0, 0, ttl_compile },
	{ RTE_FLOW_ACTION_TYPE_INC_TCP_SEQ, sizeof(rte_be32_t), 0, number_compile },
	{ RTE_FLOW_ACTION_TYPE_DEC_TCP_SEQ, sizeof(rte_be32_t), 0, number_compile },
	{ RTE_FLOW_ACTION_TYPE_INC_TCP_ACK, sizeof(rte_be32_t), 0, number_compile },
	{ RTE_FLOW_ACTION_TYPE_DEC_TCP_ACK, sizeof(rte_be32_t), 0, number_compile },
	{ RTE_FLOW_ACTION_TYPE_SET_TAG, sizeof(struct rte_flow_action_set_tag), 0, register_compile },
	{ RTE_FLOW_ACTION_TYPE_SET_META, sizeof(struct rte_flow_action_set_meta), 0, register_compile },
	{ RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, sizeof(struct rte_flow_action_modify_field), 0, mlxpmd_mod_field_compile },
	{ RTE_FLOW_ACTION_TYPE_OF_SET_VLAN_VID, sizeof(struct rte_flow_action_of_set_vlan_vid), 0, vid_compile },
	{ RTE_FLOW_ACTION_TYPE_OF_POP_VLAN, 0, 0, pop_compile, INGRESS },
	{ RTE_FLOW_ACTION_TYPE_VXLAN_DECAP, 0, 0, decap_compile, INGRESS },
	{ RTE_FLOW_ACTION_TYPE_NVGRE_DECAP, 0, 0, decap_compile, INGRESS },
	{ RTE_FLOW_ACTION_TYPE_RAW_DECAP, sizeof(struct rte_flow_action_raw_decap), 0, raw_decap_compile },
	{ RTE_FLOW_ACTION_TYPE_RAW_ENCAP, sizeof(struct rte_flow_action_raw_encap), 0, raw_encap_compile },
	{ RTE_FLOW_ACTION_TYPE_OF_PUSH_VLAN, sizeof(struct rte_flow_action_of_push_vlan), 0, mlxpmd_mod_push_vlan,
	  EGRESS },
	{ RTE_FLOW_ACTION_TYPE_OF_SET_VLAN_PCP, sizeof(struct rte_flow_action_of_set_vlan_pcp), 0, mlxpmd_mod_push_pcp,
	  EGRESS },
	{ RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP, sizeof(struct rte_flow_action_vxlan_encap), 0, mlxpmd_mod_encap, EGRESS },
	{ RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP, sizeof(struct rte_flow_action_nvgre_encap), 0, mlxpmd_mod_encap, EGRESS },
};

static const struct known *
known_find(enum rte_flow_action_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(known); i++)
		if (known[i].type == type)
			return &known[i];
	return NULL;
}

int
mlxpmd_flow_change_conf(enum rte_flow_action_type type)
{
	const struct known *k = known_find(type);

	return k != NULL ? k->bytes : -1;
}

bool
mlxpmd_flow_change_direction(enum rte_flow_action_type type, bool egress)
{
	return known_find(type)->direction != (egress ? INGRESS : EGRESS);
}

static int
action_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct known *k = known_find(action->type);

	if (k == NULL)
		return 0;
	return k->compile != NULL ? k->compile(c, action) : set_compile(c, action, k->field, action->conf);
}

/** What the device can do, in one rule. */
static int
caps_check(const struct mdv_change_caps *caps, const struct mlxpmd_flow_change *out, enum mlxpmd_flow_target target,
	   const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	const bool tunnel = out->tunnel != MLXPMD_TUNNEL_NONE, tag = out->pop_vlan || out->push_vlan != 0;
	const char *why = NULL;

	if (out->nb_modify > caps->max_modify)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, actions,
					  "the actions change %u parts of fields: the device changes %u in one flow",
					  out->nb_modify, caps->max_modify);
	if ((out->tunnel == MLXPMD_DECAP_L2 && !caps->decap) || (out->tunnel == MLXPMD_DECAP_L3 && !caps->decap_l3))
		why = "the device does not remove such tunnels";
	else if ((out->tunnel == MLXPMD_ENCAP_L2 && !caps->encap) ||
		 (out->tunnel == MLXPMD_ENCAP_L3 && !caps->encap_l3) ||
		 (out->tunnel >= MLXPMD_ENCAP_L2 && out->header_bytes > caps->encap_bytes))
		why = "the device does not add such tunnels";
	else if ((out->pop_vlan && !caps->pop_vlan) || (out->push_vlan != 0 && !caps->push_vlan))
		why = "the device does not pop or push VLAN tags";
	else if (tunnel && target == MLXPMD_TARGET_JUMP && !caps->tunnel_with_jump)
		why = "the device does not jump in a flow that changes a tunnel (reformat_and_fwd_to_table)";
	else if (tunnel && tag && !caps->tunnel_with_tag)
		why = "the device does not change VLAN tags in a flow that changes a tunnel (reformat_and_vlan_action)";
	else if (out->nb_modify != 0 && ((tag && !caps->modify_with_tag) ||
					 (tunnel && out->tunnel != MLXPMD_DECAP_L2 && !caps->modify_with_tunnel)))
		why = "the device does not change fields in the same flow: jump to another group first";
	return why == NULL ? 0 : mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, actions, "%s", why);
}

/** Whether the device's actions write the register of metadata. */
static bool
meta_written(const struct mlxpmd_flow_change *out)
{
	for (unsigned int i = 0; i < out->nb_modify; i++) {
		const struct prm_set_add_copy_action_in_auto *a = &out->modify[i];
		const struct prm_set_action_in *set = prm_set_add_copy_action_in_auto_set_action_in_c(a);
		const struct prm_copy_action_in *copy = prm_set_add_copy_action_in_auto_copy_action_in_c(a);

		if ((prm_set_action_in_get_action_type(set) == PRM_ACTION_TYPE_COPY ?
			     prm_copy_action_in_get_dst_field(copy) : prm_set_action_in_get_field(set)) ==
		    PRM_ACTION_IN_FIELD_METADATA_REG_C_0 + MLXPMD_REG_META)
			return true;
	}
	return false;
}

/** Copies metadata to the register that the CQE has, if the application has a place for it in mbufs. */
static int
meta_deliver(struct mlxpmd_mod_list *c)
{
	static const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_SET_META };

	return !c->egress && rte_flow_dynf_metadata_avail() && meta_written(c->out) ?
		       mlxpmd_mod_copy(c, &action, PRM_ACTION_IN_FIELD_METADATA_REG_C_0 + MLXPMD_REG_META, 0,
				       PRM_ACTION_IN_FIELD_METADATA_REG_B, 0, 32) : 0;
}

/** NULL: they cannot be read, with rte_errno, logged; *error is set. */
static const struct mdv_change_caps *
caps_of(struct mlxpmd_port *port, bool egress, struct rte_flow_error *error)
{
	struct mlxpmd_flows *flows = port->flows;

	if (!flows->change_caps_read[egress] && mdv_change_caps(port->mdv, egress, &flows->change_caps[egress]) != 0) {
		(void)mlxpmd_flow_refuse(error, rte_errno, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
					 "the device's capabilities cannot be read");
		return NULL;
	}
	flows->change_caps_read[egress] = true;
	return &flows->change_caps[egress];
}

static bool
has_marks(const struct mdv_change_caps *caps)
{
	return caps->max_modify != 0 && caps->reg_c_0;
}

/** Writes a mark to the register that later groups match; not on a device without it. */
static int
mark_write(struct mlxpmd_mod_list *c, struct mlxpmd_port *port, const struct mlxpmd_flow_actions *compiled)
{
	static const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_MARK };
	const struct mdv_change_caps *caps;

	if (compiled->target != MLXPMD_TARGET_JUMP || compiled->tag == 0 || compiled->tag == MLXPMD_TAG_FLAG)
		return 0;
	caps = caps_of(port, false, c->error);
	if (caps == NULL)
		return -rte_errno;
	return has_marks(caps) ? mlxpmd_mod_part_set(c, &action, PRM_ACTION_TYPE_SET,
						     PRM_ACTION_IN_FIELD_METADATA_REG_C_0 + MLXPMD_REG_MARK, 0, 32,
						     MLXPMD_MARKED | (compiled->tag - 1)) : 0;
}

int
mlxpmd_flow_mark_check(struct mlxpmd_port *port, const struct rte_flow_item *item, bool egress,
		       struct rte_flow_error *error)
{
	const struct mdv_change_caps *caps;

	if (egress)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, item,
					  "item MARK: marks are of received packets (ingress)");
	caps = caps_of(port, false, error);
	if (caps == NULL)
		return -rte_errno;
	return has_marks(caps) ? 0 : mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, item,
							"item MARK: flows write no mark for others on this device, %s",
							caps->max_modify == 0 ? "which changes no fields" :
							"whose register C 0 is the kernel's (switchdev mode) or not "
							"compared; tag is matched");
}

/** RSS by the headers in a tunnel, which packets have to have at the end. */
static int
inner_check(const struct mlxpmd_flow_pattern *pattern, const struct mlxpmd_flow_actions *compiled,
	    const struct mlxpmd_flow_change *out, const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	const struct mlxpmd_tirs_conf *conf = compiled->dest_handle != NULL ? &compiled->dest_handle->dest->conf :
									      &compiled->conf;

	if (compiled->target != MLXPMD_TARGET_QUEUES || !conf->inner)
		return 0;
	if (pattern->tunnel == RTE_FLOW_ITEM_TYPE_END)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, actions,
					  "RSS level 2: the pattern has no item of a tunnel");
	if (out->tunnel != MLXPMD_TUNNEL_NONE)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, actions,
					  "RSS level 2: the flow removes the tunnel; level 1 is of the headers that were "
					  "in it");
	return 0;
}

bool
mlxpmd_flow_tx_metadata(struct mlxpmd_port *port)
{
	const struct mdv_change_caps *caps = rte_flow_dynf_metadata_avail() ? caps_of(port, true, NULL) : NULL;

	return caps != NULL && caps->reg_a;
}

int
mlxpmd_flow_change_compile(struct mlxpmd_port *port, const struct rte_flow_attr *attr,
			   const struct mlxpmd_flow_pattern *pattern, const struct rte_flow_action *actions,
			   const struct mlxpmd_flow_actions *compiled, struct mlxpmd_flow_change *out,
			   struct rte_flow_error *error)
{
	struct mlxpmd_mod_list c = { .pattern = pattern, .egress = attr->egress, .out = out, .error = error };
	const struct mdv_change_caps *caps;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	for (const struct rte_flow_action *a = actions; rc == 0 && a->type != RTE_FLOW_ACTION_TYPE_END; a++)
		rc = action_compile(&c, a);
	if (rc == 0)
		rc = mark_write(&c, port, compiled);
	if (rc == 0)
		rc = meta_deliver(&c);
	if (rc == 0)
		rc = inner_check(pattern, compiled, out, actions, error);
	if (rc != 0 || (out->nb_modify == 0 && out->tunnel == MLXPMD_TUNNEL_NONE && !out->pop_vlan &&
			out->push_vlan == 0))
		return rc;
	if (out->tunnel == MLXPMD_DECAP_RAW)
		out->tunnel = MLXPMD_DECAP_L2;
	if (out->tunnel == MLXPMD_DECAP_L2 && !pattern->inner_eth)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, actions,
					  "there is no Ethernet header in the tunnel: raw_encap behind raw_decap gives "
					  "one");
	if (compiled->target == MLXPMD_TARGET_DROP || compiled->target == MLXPMD_TARGET_KERNEL)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, actions, attr->egress ?
					  "a flow that drops changes no packets" :
					  "actions that change packets need an action queue, rss or jump");
	if ((out->pop_vlan || out->push_vlan != 0) && attr->group == 0 && port->mdv->mode != MDV_OPEN_VFIO)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, actions,
					  "%s: in groups above 0, because the kernel's rules of group 0 pop and push "
					  "no tags", out->pop_vlan ? "of_pop_vlan" : "of_push_vlan");
	caps = caps_of(port, attr->egress, error);
	return caps != NULL ? caps_check(caps, out, compiled->target, actions, error) : -rte_errno;
}

/* ------------------------------------------------------------------ with flows */

int
mlxpmd_flow_change_get(struct mlxpmd_port *port, struct rte_flow *flow, const struct mlxpmd_flow_change *change)
{
	static const enum mdv_change_kind kinds[] = {
		[MLXPMD_DECAP_L2] = MDV_CHANGE_DECAP, [MLXPMD_DECAP_L3] = MDV_CHANGE_DECAP_L3,
		[MLXPMD_ENCAP_L2] = MDV_CHANGE_ENCAP, [MLXPMD_ENCAP_L3] = MDV_CHANGE_ENCAP_L3,
	};
	const bool root = flow->group == NULL;

	flow->pop_vlan = change->pop_vlan;
	flow->push_vlan = change->push_vlan;
	flow->nb_modify = change->nb_modify;
	if (change->tunnel != MLXPMD_TUNNEL_NONE) {
		flow->tunnel = mdv_change_get(port->mdv, kinds[change->tunnel], root, change->header,
					      change->header_bytes);
		if (flow->tunnel == NULL)
			return -rte_errno;
	}
	if (change->nb_modify != 0) {
		flow->modify = mdv_change_get(port->mdv, flow->egress ? MDV_CHANGE_MODIFY_TX : MDV_CHANGE_MODIFY, root,
					      change->modify, change->nb_modify * sizeof(change->modify[0]));
		if (flow->modify == NULL)
			return -rte_errno;
	}
	return 0;
}

void
mlxpmd_flow_change_put(struct rte_flow *flow)
{
	mdv_change_put(flow->tunnel);
	mdv_change_put(flow->modify);
}
