/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Modify header and packet reformat contexts, to which flow table entries refer. */
#include <string.h>

#include "../dp/emu_dp_modify.h"
#include "fw.h"

/* Bytes of an Ethernet header without and with a tag. */
#define L2_BYTES 14u
#define L2_TAGGED_BYTES 18u
/* A reformat context of the inbox ends with its first 2 bytes of data. */
#define REFORMAT_DATA_AT (offsetof(struct prm_alloc_packet_reformat_context_in, dw[8]) + 2)

typedef struct prm_set_add_copy_action_in_auto action_in;

static const struct prm_set_action_in *
set_of(const action_in *in)
{
	return prm_set_add_copy_action_in_auto_set_action_in_c(in);
}

static const struct prm_copy_action_in *
copy_of(const action_in *in)
{
	return prm_set_add_copy_action_in_auto_copy_action_in_c(in);
}

static struct emu_modify
action_read(const action_in *in)
{
	const struct prm_set_action_in *s = set_of(in);
	struct emu_modify a = {
		.type = (uint8_t)prm_set_action_in_get_action_type(s),
		.field = (uint16_t)prm_set_action_in_get_field(s),
		.offset = (uint8_t)prm_set_action_in_get_offset(s),
		.length = (uint8_t)prm_set_action_in_get_length(s),
		.data = prm_set_action_in_get_data(s),
	};

	if (a.type == PRM_ACTION_TYPE_COPY) {
		a.src_field = a.field;
		a.src_offset = a.offset;
		a.field = (uint16_t)prm_copy_action_in_get_dst_field(copy_of(in));
		a.offset = (uint8_t)prm_copy_action_in_get_dst_offset(copy_of(in));
		a.data = 0;
	}
	if (a.length == 0)
		a.length = 32;
	return a;
}

/* Reserved bits of an action, which is a union. */
static bool
action_stray(const action_in *in, const struct emu_modify *a)
{
	const uint32_t first = 0xffff1f1f, copied = 0x0fff1f00;

	return (PRM_BE32(in->dw[0]) & ~first) != 0 ||
	       (a->type == PRM_ACTION_TYPE_COPY && (PRM_BE32(in->dw[1]) & ~copied) != 0);
}

static bool
part_fits(unsigned field, bool sent, unsigned offset, unsigned length)
{
	return offset + length <= dp_modify_bits(field, sent);
}

/* An ADD has what DPDK sends for a whole field: offset 0 and the number of bits, 0 for 32. */
static bool
part_check(const struct emu_modify *a, bool sent)
{
	if (a->type == PRM_ACTION_TYPE_ADD)
		return a->offset == 0 && (a->length == 32 || a->length == dp_modify_bits(a->field, sent));
	return part_fits(a->field, sent, a->offset, a->length) &&
	       (a->type != PRM_ACTION_TYPE_COPY || part_fits(a->src_field, sent, a->src_offset, a->length));
}

/*
 * assumed: an ADD is to a whole field, and a SET has no data beyond its bits. Other reading: other bits of the data
 * have no effect. Test: fw/test_modify_header.c.
 */
static int
action_check(struct fw_cmd *c, const action_in *in, const struct emu_modify *a, bool sent, unsigned i)
{
	bool copy = a->type == PRM_ACTION_TYPE_COPY;

	if (a->type != PRM_ACTION_TYPE_SET && a->type != PRM_ACTION_TYPE_ADD && !copy)
		return fw_refuse(c, FW_MODIFY_ACTION, "action %u: %s (0x%x)", i, prm_action_type_name(a->type),
				 a->type);
	if (action_stray(in, a))
		return fw_refuse(c, FW_MODIFY_ACTION, "action %u: reserved bits", i);
	if (dp_modify_bits(a->field, sent) == 0 || (copy && dp_modify_bits(a->src_field, sent) == 0))
		return fw_refuse(c, FW_MODIFY_FIELD, "action %u: field %s (0x%x)%s", i,
				 prm_action_in_field_name(a->field), a->field, copy ? ", or what is copied" : "");
	if (!part_check(a, sent))
		return fw_refuse(c, FW_MODIFY_PART, "action %u: %u bits from %u on of %s, which has %u", i, a->length,
				 a->offset, prm_action_in_field_name(a->field), dp_modify_bits(a->field, sent));
	if (a->type == PRM_ACTION_TYPE_SET && a->length < 32 && a->data >> a->length != 0)
		return fw_refuse(c, FW_MODIFY_PART, "action %u: data 0x%x for %u bits", i, a->data, a->length);
	return 0;
}

/* A context belongs to a type of table. */
static int
table_type_check(struct fw_cmd *c, unsigned type)
{
	return type == PRM_FLOW_TABLE_TYPE_NIC_RX || type == PRM_FLOW_TABLE_TYPE_NIC_TX ? 0 :
		       fw_refuse(c, FW_FT_TYPE, "%s (0x%x)", prm_flow_table_type_name(type), type);
}

int
fw_alloc_modify_header(struct fw_cmd *c)
{
	const struct prm_alloc_modify_header_context_in *in = c->in;
	unsigned n = prm_alloc_modify_header_context_in_get_num_of_actions(in), most;
	bool sent = prm_alloc_modify_header_context_in_get_table_type(in) == PRM_FLOW_TABLE_TYPE_NIC_TX;
	struct emu_modify_header *m;
	struct emu_modify a;
	int ret;

	if (prm_alloc_modify_header_context_in_get_op_mod(in) != 0)
		return fw_refuse(c, FW_OP_MOD, "0x%x", prm_alloc_modify_header_context_in_get_op_mod(in));
	ret = table_type_check(c, prm_alloc_modify_header_context_in_get_table_type(in));
	if (ret != 0)
		return ret;
	most = sent ? c->dev->profile->tx_max_modify_header_actions : c->dev->profile->max_modify_header_actions;
	if (n == 0 || n > most)
		return fw_refuse(c, FW_MODIFY_COUNT, "%u actions, max_modify_header_actions is %u", n, most);
	if (!fw_in_ends_at(c, c->desc->in_bytes_min + (size_t)n * PRM_SET_ADD_COPY_ACTION_IN_AUTO_BYTES))
		return fw_refuse(c, FW_MODIFY_LEN, "%zu bytes for %u actions", c->in_len, n);
	for (unsigned i = 0; ret == 0 && i < n; i++) {
		a = action_read(prm_alloc_modify_header_context_in_actions_c(in, i));
		ret = action_check(c, prm_alloc_modify_header_context_in_actions_c(in, i), &a, sent, i);
	}
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_MODIFY_HEADER, sizeof(*m) + n * sizeof(m->action[0]), NULL, &m);
	if (ret != 0)
		return ret;
	m->n = n;
	m->sent = sent;
	for (unsigned i = 0; i < n; i++)
		m->action[i] = action_read(prm_alloc_modify_header_context_in_actions_c(in, i));
	return 0;
}

static bool
reformat_known(const struct emu_profile *p, unsigned type)
{
	switch (type) {
	case PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2:
		return p->reformat_l3_tunnel_to_l2;
	case PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
		return p->tx_reformat;
	case PRM_REFORMAT_TYPE_L2_TO_L3_TUNNEL:
		return p->tx_reformat_l2_to_l3_tunnel;
	default:
		return false;
	}
}

static int
reformat_check(struct fw_cmd *c, const struct prm_packet_reformat_context_in *r)
{
	unsigned type = prm_packet_reformat_context_in_get_reformat_type(r);
	unsigned bytes = prm_packet_reformat_context_in_get_reformat_data_size(r);

	if (!reformat_known(c->dev->profile, type))
		return fw_refuse(c, FW_REFORMAT_TYPE, "%s (0x%x)", prm_reformat_type_name(type), type);
	if (prm_packet_reformat_context_in_get_reformat_param_0(r) ||
	    prm_packet_reformat_context_in_get_reformat_param_1(r))
		return fw_refuse(c, FW_REFORMAT_DATA, "%s", "parameters of types that insert or remove");
	if (type != PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2 && (bytes < L2_BYTES || bytes > EMU_REFORMAT_BYTES))
		return fw_refuse(c, FW_REFORMAT_DATA, "%u bytes: max_encap_header_size is %u", bytes, EMU_REFORMAT_BYTES);
	if (type == PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2 && bytes != L2_BYTES && bytes != L2_TAGGED_BYTES)
		return fw_refuse(c, FW_REFORMAT_DATA, "%u bytes: an Ethernet header has %u or %u", bytes, L2_BYTES,
				 L2_TAGGED_BYTES);
	if (!fw_in_ends_at(c, REFORMAT_DATA_AT + bytes))
		return fw_refuse(c, FW_REFORMAT_LEN, "%zu bytes for %u of data", c->in_len, bytes);
	return 0;
}

int
fw_alloc_reformat(struct fw_cmd *c)
{
	const struct prm_packet_reformat_context_in *in =
		prm_alloc_packet_reformat_context_in_packet_reformat_context_c(c->in);
	unsigned bytes = prm_packet_reformat_context_in_get_reformat_data_size(in);
	struct emu_reformat *r;
	int ret;

	if (prm_alloc_packet_reformat_context_in_get_op_mod(c->in) != 0)
		return fw_refuse(c, FW_OP_MOD, "0x%x", prm_alloc_packet_reformat_context_in_get_op_mod(c->in));
	ret = reformat_check(c, in);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_REFORMAT, sizeof(*r) + bytes, NULL, &r);
	if (ret != 0)
		return ret;
	r->type = (uint8_t)prm_packet_reformat_context_in_get_reformat_type(in);
	r->bytes = (uint16_t)bytes;
	memcpy(r->data, (const uint8_t *)c->in + REFORMAT_DATA_AT, bytes);
	return 0;
}
