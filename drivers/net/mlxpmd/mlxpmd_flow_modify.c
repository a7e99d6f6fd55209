/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fields of packets, as rte_flow names them, and the device's actions that change them (PRM, modify header context). */

#include <rte_flow.h>

#include "mlxpmd_flow_modify.h"
#include "mlxpmd_rx.h"

#define P(name, bits_) { PRM_ACTION_IN_FIELD_##name, bits_ }
#define ONE(name, bits_) .bits = (bits_), .bytes = ((bits_) + 7) / 8, .parts = { P(name, bits_) }
#define MAC(side) .bits = 48, .bytes = 6, .parts = { P(OUT_##side##MAC_47_16, 32), P(OUT_##side##MAC_15_0, 16) }
#define IPV6(side) \
	.bits = 128, .bytes = 16, .version = 6, \
	.parts = { P(OUT_##side##IPV6_127_96, 32), P(OUT_##side##IPV6_95_64, 32), P(OUT_##side##IPV6_63_32, 32), \
		   P(OUT_##side##IPV6_31_0, 32) }

static const struct mlxpmd_mod_field fields[] = {
	{ RTE_FLOW_FIELD_MAC_DST, MAC(D) },
	{ RTE_FLOW_FIELD_MAC_SRC, MAC(S) },
	{ RTE_FLOW_FIELD_VLAN_ID, ONE(OUT_FIRST_VID, 12) },
	{ RTE_FLOW_FIELD_IPV4_DSCP, .version = 4, ONE(OUT_IP_DSCP, 6) },
	{ RTE_FLOW_FIELD_IPV4_TTL, .version = 4, ONE(OUT_IPV4_TTL, 8) },
	{ RTE_FLOW_FIELD_IPV4_SRC, .version = 4, ONE(OUT_SIPV4, 32) },
	{ RTE_FLOW_FIELD_IPV4_DST, .version = 4, ONE(OUT_DIPV4, 32) },
	{ RTE_FLOW_FIELD_IPV6_DSCP, .version = 6, ONE(OUT_IP_DSCP, 6) },
	{ RTE_FLOW_FIELD_IPV6_HOPLIMIT, .version = 6, ONE(OUT_IPV6_HOPLIMIT, 8) },
	{ RTE_FLOW_FIELD_IPV6_SRC, IPV6(S) },
	{ RTE_FLOW_FIELD_IPV6_DST, IPV6(D) },
	{ RTE_FLOW_FIELD_TCP_PORT_SRC, .proto = IPPROTO_TCP, ONE(OUT_TCP_SPORT, 16) },
	{ RTE_FLOW_FIELD_TCP_PORT_DST, .proto = IPPROTO_TCP, ONE(OUT_TCP_DPORT, 16) },
	{ RTE_FLOW_FIELD_TCP_SEQ_NUM, .proto = IPPROTO_TCP, ONE(OUT_TCP_SEQ_NUM, 32) },
	{ RTE_FLOW_FIELD_TCP_ACK_NUM, .proto = IPPROTO_TCP, ONE(OUT_TCP_ACK_NUM, 32) },
	{ RTE_FLOW_FIELD_TCP_FLAGS, .proto = IPPROTO_TCP, ONE(OUT_TCP_FLAGS, 9) },
	{ RTE_FLOW_FIELD_UDP_PORT_SRC, .proto = IPPROTO_UDP, ONE(OUT_UDP_SPORT, 16) },
	{ RTE_FLOW_FIELD_UDP_PORT_DST, .proto = IPPROTO_UDP, ONE(OUT_UDP_DPORT, 16) },
	/* MLXPMD_REG_META, MLXPMD_REG_TAG_0; other tags are behind it. */
	{ RTE_FLOW_FIELD_META, .reg = true, ONE(METADATA_REG_C_1, 32) },
	{ RTE_FLOW_FIELD_TAG, .reg = true, ONE(METADATA_REG_C_2, 32) },
};

static const struct mlxpmd_mod_field egress_meta = { RTE_FLOW_FIELD_META, .reg = true, ONE(METADATA_REG_A, 32) };

const struct mlxpmd_mod_field *
mlxpmd_mod_field_find(const struct mlxpmd_mod_list *c, enum rte_flow_field_id id)
{
	if (c->egress && id == RTE_FLOW_FIELD_META)
		return &egress_meta;
	for (unsigned int i = 0; i < RTE_DIM(fields); i++)
		if (fields[i].id == id)
			return &fields[i];
	return NULL;
}

/* ------------------------------------------------------------------ the device's actions */

/** The same field of headers in a tunnel; 0: there is none. */
static uint16_t
inner_id(uint16_t id)
{
	if (id >= PRM_ACTION_IN_FIELD_OUT_SMAC_47_16 && id <= PRM_ACTION_IN_FIELD_OUT_DIPV4)
		return id - PRM_ACTION_IN_FIELD_OUT_SMAC_47_16 + PRM_ACTION_IN_FIELD_IN_SMAC_47_16;
	if (id == PRM_ACTION_IN_FIELD_OUT_IPV6_HOPLIMIT || id == PRM_ACTION_IN_FIELD_OUT_TCP_SEQ_NUM ||
	    id == PRM_ACTION_IN_FIELD_OUT_TCP_ACK_NUM)
		return id + 1;
	return 0;
}

uint16_t
mlxpmd_mod_part_id(const struct mlxpmd_mod_place *p, const struct mlxpmd_mod_part *part)
{
	if (p->field->reg)
		return part->id + p->tag;
	return p->inner ? inner_id(part->id) : part->id;
}

/** The part of a field that has a bit; *bit becomes the bit in it. */
static const struct mlxpmd_mod_part *
part_of(const struct mlxpmd_mod_field *f, uint32_t *bit)
{
	unsigned int i = MLXPMD_MOD_PARTS;

	while (f->parts[i - 1].bits == 0)
		i--;
	for (; i > 1 && *bit >= f->parts[i - 1].bits; i--)
		*bit -= f->parts[i - 1].bits;
	return &f->parts[i - 1];
}

/** Bits of a value: the lowest is bit 0 of its last byte. */
static uint32_t
value_bits(const uint8_t *value, unsigned int bytes, uint32_t from, uint32_t n)
{
	uint32_t v = 0;

	for (uint32_t i = n; i-- != 0;)
		v = v << 1 | (value[bytes - 1 - (from + i) / 8] >> (from + i) % 8 & 1);
	return v;
}

static struct prm_set_add_copy_action_in_auto *
action_new(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	if (c->out->nb_modify == RTE_DIM(c->out->modify)) {
		(void)REFUSE_CHANGE(c, ENOTSUP, action, "a flow changes %u parts of fields at most",
				    (unsigned int)RTE_DIM(c->out->modify));
		return NULL;
	}
	return &c->out->modify[c->out->nb_modify++];
}

int
mlxpmd_mod_part_set(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, unsigned int type, uint16_t id,
		    uint32_t offset, uint32_t bits, uint32_t data)
{
	struct prm_set_add_copy_action_in_auto *a = action_new(c, action);
	struct prm_set_action_in *s;

	if (a == NULL)
		return -rte_errno;
	s = prm_set_add_copy_action_in_auto_set_action_in(a);
	prm_set_action_in_set_action_type(s, type);
	prm_set_action_in_set_field(s, id);
	prm_set_action_in_set_data(s, data);
	if (type == PRM_ACTION_TYPE_SET) {
		prm_set_action_in_set_offset(s, offset);
		prm_set_action_in_set_length(s, bits % 32);
	}
	return 0;
}

int
mlxpmd_mod_field_set(struct mlxpmd_mod_list *c, const struct rte_flow_action *action,
		     const struct mlxpmd_mod_place *to, uint32_t bits, const uint8_t *value)
{
	uint32_t from = to->from, n, bit;
	int rc = 0;

	for (; rc == 0 && bits != 0; from += n, bits -= n) {
		const struct mlxpmd_mod_part *part;

		bit = from;
		part = part_of(to->field, &bit);
		n = RTE_MIN(bits, part->bits - bit);
		rc = mlxpmd_mod_part_set(c, action, PRM_ACTION_TYPE_SET, mlxpmd_mod_part_id(to, part), bit, n,
					 value_bits(value, to->field->bytes, from, n));
	}
	return rc;
}

int
mlxpmd_mod_copy(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, uint16_t from, uint32_t from_bit,
		uint16_t to, uint32_t to_bit, uint32_t bits)
{
	struct prm_set_add_copy_action_in_auto *a = action_new(c, action);
	struct prm_copy_action_in *copy;

	if (a == NULL)
		return -rte_errno;
	copy = prm_set_add_copy_action_in_auto_copy_action_in(a);
	prm_copy_action_in_set_action_type(copy, PRM_ACTION_TYPE_COPY);
	prm_copy_action_in_set_src_field(copy, from);
	prm_copy_action_in_set_src_offset(copy, from_bit);
	prm_copy_action_in_set_length(copy, bits % 32);
	prm_copy_action_in_set_dst_field(copy, to);
	prm_copy_action_in_set_dst_offset(copy, to_bit);
	return 0;
}

/** Copies bits of a field. */
static int
field_copy(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, const struct mlxpmd_mod_place *to,
	   const struct mlxpmd_mod_place *from, uint32_t bits)
{
	uint32_t done = 0, n;
	int rc = 0;

	for (; rc == 0 && done < bits; done += n) {
		uint32_t to_bit = to->from + done, from_bit = from->from + done;
		const struct mlxpmd_mod_part *to_part = part_of(to->field, &to_bit);
		const struct mlxpmd_mod_part *from_part = part_of(from->field, &from_bit);

		n = RTE_MIN(bits - done, RTE_MIN(to_part->bits - to_bit, from_part->bits - from_bit));
		rc = mlxpmd_mod_copy(c, action, mlxpmd_mod_part_id(from, from_part), from_bit,
				     mlxpmd_mod_part_id(to, to_part), to_bit, n);
	}
	return rc;
}

int
mlxpmd_mod_stage_enter(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, enum mlxpmd_mod_stage stage)
{
	static const char *const order[] = {
		[MLXPMD_STAGE_DECAP] = "removes a tunnel before it changes other parts of a packet, and once",
		[MLXPMD_STAGE_POP] = "removes a VLAN tag before it changes other parts of a packet, and once",
		[MLXPMD_STAGE_MODIFY] = "changes fields before it adds a VLAN tag or a tunnel",
		[MLXPMD_STAGE_PUSH] = "adds a VLAN tag before a tunnel, and once",
		[MLXPMD_STAGE_ENCAP] = "adds one tunnel",
	};

	if (c->stage > stage || (c->stage == stage && stage != MLXPMD_STAGE_MODIFY))
		return REFUSE_CHANGE(c, ENOTSUP, action, "the device %s", order[stage]);
	c->stage = stage;
	return 0;
}

int
mlxpmd_mod_add(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, const struct mlxpmd_mod_place *to,
	       uint32_t value)
{
	int rc = mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_MODIFY);

	if (rc != 0)
		return rc;
	return mlxpmd_mod_part_set(c, action, PRM_ACTION_TYPE_ADD, mlxpmd_mod_part_id(to, to->field->parts), 0, 0,
				   value);
}

int
mlxpmd_mod_tag_check(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, uint32_t index)
{
	return index < MLXPMD_FLOW_TAGS ? 0 : REFUSE_CHANGE(c, ENOTSUP, action, "tag %u: tags are 0 to %u", index,
							    MLXPMD_FLOW_TAGS - 1);
}

/* ------------------------------------------------------------------ modify_field */

/** Finds one of the two fields. */
static int
place_find(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, const struct rte_flow_field_data *data,
	   uint32_t width, struct mlxpmd_mod_place *p)
{
	*p = (struct mlxpmd_mod_place){ .field = mlxpmd_mod_field_find(c, data->field) };
	if (p->field == NULL)
		return REFUSE_CHANGE(c, ENOTSUP, action, "the device does not change field %d, nor copy it",
				     data->field);
	if (data->offset > p->field->bits || width > p->field->bits - data->offset)
		return REFUSE_CHANGE(c, EINVAL, action, "%u bits from %u on of a field that has %u", width,
				     data->offset, p->field->bits);
	p->from = p->field->reg ? data->offset : p->field->bits - data->offset - width;
	if (p->field->id == RTE_FLOW_FIELD_TAG) {
		p->tag = (uint8_t)RTE_MIN(MDV_FIELD_TAG_INDEX(data), (uint32_t)UINT8_MAX);
		return mlxpmd_mod_tag_check(c, action, p->tag);
	}
	if (p->field->reg)
		return 0;
	p->inner = data->level == 2;
	if (data->level > 2 || (p->inner && inner_id(p->field->parts[0].id) == 0))
		return REFUSE_CHANGE(c, ENOTSUP, action, "level %u: 0 and 1, the outermost headers, and 2, "
				     "those in a tunnel without tags, are supported", data->level);
	return 0;
}

/** A value in network order, as mlxpmd_mod_field_set() reads it. */
static const uint8_t *
value_of(const struct rte_flow_field_data *src, const struct mlxpmd_mod_field *f, rte_be32_t *swapped)
{
	const uint8_t *value = src->field == RTE_FLOW_FIELD_POINTER ? src->pvalue : src->value;

	if (value == NULL || !f->reg)
		return value;
	memcpy(swapped, value, sizeof(*swapped));
	*swapped = rte_cpu_to_be_32(*swapped);
	return (const uint8_t *)swapped;
}

static int
field_add(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, const struct mlxpmd_mod_place *to,
	  uint32_t width, const uint8_t *value)
{
	const struct rte_flow_action_modify_field *conf = action->conf;
	uint32_t by;

	if (value == NULL || width != to->field->bits || width > 32)
		return REFUSE_CHANGE(c, ENOTSUP, action, "add and sub are of a value, and to a whole field of up "
				     "to 32 bits");
	by = value_bits(value, to->field->bytes, 0, width);
	if (conf->operation == RTE_FLOW_MODIFY_SUB)
		by = (uint32_t)((RTE_BIT64(width) - by) & (RTE_BIT64(width) - 1));
	return mlxpmd_mod_add(c, action, to, by);
}

int
mlxpmd_mod_field_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action)
{
	const struct rte_flow_action_modify_field *conf = action->conf;
	const bool immediate = conf->src.field == RTE_FLOW_FIELD_VALUE || conf->src.field == RTE_FLOW_FIELD_POINTER;
	struct mlxpmd_mod_place to, from;
	const uint8_t *value;
	rte_be32_t swapped;
	int rc;

	if (conf->width == 0)
		return REFUSE_CHANGE(c, EINVAL, action, "the width is 0");
	if (conf->operation > RTE_FLOW_MODIFY_SUB)
		return REFUSE_CHANGE(c, ENOTSUP, action, "set, add and sub are supported");
	rc = place_find(c, action, &conf->dst, conf->width, &to);
	if (rc == 0 && !immediate)
		rc = place_find(c, action, &conf->src, conf->width, &from);
	/* A register that gets a value does not depend on the packet. */
	if (rc == 0 && !(immediate && to.field->reg))
		rc = mlxpmd_mod_stage_enter(c, action, MLXPMD_STAGE_MODIFY);
	if (rc != 0)
		return rc;
	value = immediate ? value_of(&conf->src, to.field, &swapped) : NULL;
	if (immediate && value == NULL)
		return REFUSE_CHANGE(c, EINVAL, action, "no value");
	if (conf->operation != RTE_FLOW_MODIFY_SET)
		return field_add(c, action, &to, conf->width, value);
	return immediate ? mlxpmd_mod_field_set(c, action, &to, conf->width, value) :
			   field_copy(c, action, &to, &from, conf->width);
}

/* ------------------------------------------------------------------ items of registers */

/** Dwords of registers in the set: registers C are in descending order. */
#define AT_REG_A 12
#define AT_REG_C(reg) (11 - (reg))

static void
register_match(struct mdv_match *m, unsigned int at, uint32_t value, uint32_t mask)
{
	prm_fte_match_param_misc_parameters_2(&m->mask)->dw[at] |= rte_cpu_to_be_32(mask);
	prm_fte_match_param_misc_parameters_2(&m->value)->dw[at] |= rte_cpu_to_be_32(value & mask);
}

int
mlxpmd_mod_meta(struct rte_flow_error *error __rte_unused, const struct rte_flow_item *item __rte_unused,
		const uint8_t *spec, const uint8_t *mask, uint8_t *handled, struct mdv_match *m,
		bool egress)
{
	const struct rte_flow_item_meta *s = (const void *)spec, *k = (const void *)mask;

	memset(handled, UINT8_MAX, sizeof(s->data));
	register_match(m, egress ? AT_REG_A : AT_REG_C(MLXPMD_REG_META), s->data, k->data);
	return 0;
}

/* That there is a mark is matched by the item's presence. */
int
mlxpmd_mod_mark(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec,
		const uint8_t *mask, uint8_t *handled, struct mdv_match *m, bool egress __rte_unused)
{
	const struct rte_flow_item_mark *s = (const void *)spec, *k = (const void *)mask;

	memset(handled, UINT8_MAX, sizeof(*s));
	if ((s->id & k->id) > MLXPMD_MARK_MAX)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
					  "item MARK: mark %u: marks are 0 to %u", s->id & k->id, MLXPMD_MARK_MAX);
	register_match(m, AT_REG_C(MLXPMD_REG_MARK), s->id, k->id & ~MLXPMD_MARKED);
	return 0;
}

int
mlxpmd_mod_tag(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec,
	       const uint8_t *mask, uint8_t *handled, struct mdv_match *m, bool egress __rte_unused)
{
	const struct rte_flow_item_tag *s = (const void *)spec, *k = (const void *)mask;

	memset(handled, UINT8_MAX, sizeof(*s));
	if (k->index != UINT8_MAX || s->index >= MLXPMD_FLOW_TAGS)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, item,
					  "tag %u: tags are 0 to %u, under mask 0xff", s->index, MLXPMD_FLOW_TAGS - 1);
	register_match(m, AT_REG_C(MLXPMD_REG_TAG_0 + s->index), s->data, k->data);
	return 0;
}
