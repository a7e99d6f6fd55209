/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Modify header contexts: sets, adds to and copies fields of a packet and registers.
 *
 * Checksums of IP, TCP and UDP are updated by the difference (RFC 1624): one that was wrong stays wrong, and a UDP
 * checksum of 0 stays 0.
 * assumed: in a fragment, and of ICMPv6, no checksum is updated, nor is that of UDP around a tunnel. Other reading:
 * newer cards update the one of ICMPv6. Test: dp/test_change.c.
 * assumed: a field of a header that the packet does not have is not changed, and is 0 where it is copied from. Other
 * reading: the packet is dropped. Test: dp/test_change.c.
 */
#include "dp_change.h"
#include "dp_csum.h"
#include "emu_dp_modify.h"
#include "prm_enums.h"

#define IPV4_CHECKSUM 10u
#define TCP_CHECKSUM 16u
#define UDP_CHECKSUM 6u

struct field {
	uint16_t id;
	uint8_t header; /* enum dp_at */
	uint8_t at, bytes, shift, bits;
};

static const struct field fields[] = {
#define FIELD(name, cap, header, at, bytes, shift, bits) \
	{PRM_ACTION_IN_FIELD_##name, DP_AT_##header, at, bytes, shift, bits},
	DP_MODIFY_FIELDS(FIELD)
	DP_MODIFY_SILENT(FIELD)
	DP_MODIFY_TX(FIELD)
	DP_MODIFY_RX(FIELD)
#undef FIELD
};

/* DSCP: the upper bits of the second byte of IPv4, and of the traffic class of IPv6. */
static const struct field dscp_ipv4 = {.header = DP_AT_IPV4, .at = 0, .bytes = 2, .shift = 2, .bits = 6};
static const struct field dscp_ipv6 = {.header = DP_AT_IPV6, .at = 0, .bytes = 2, .shift = 6, .bits = 6};

/* A field in a packet. */
struct spot {
	const struct field *f;
	struct dp_layers *l;
	uint8_t *p;	  /* The word; NULL: a register, or not there. */
	uint32_t *reg;
};

static const struct field *
field_find(unsigned id)
{
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].id == id)
			return &fields[i];
	return NULL;
}

unsigned
dp_modify_bits(unsigned field, bool sent)
{
	const struct field *f = field_find(field);
	const unsigned other = sent ? DP_MODIFY_REG_B : DP_MODIFY_REG_A;

	return f != NULL && (f->header != DP_AT_REG || f->at != other) ? f->bits : 0;
}

static bool
is_inner(unsigned id)
{
	switch (id) {
	case PRM_ACTION_IN_FIELD_IN_IPV6_HOPLIMIT:
	case PRM_ACTION_IN_FIELD_IN_TCP_SEQ_NUM:
	case PRM_ACTION_IN_FIELD_IN_TCP_ACK_NUM:
		return true;
	default:
		return id >= PRM_ACTION_IN_FIELD_IN_SMAC_47_16 && id <= PRM_ACTION_IN_FIELD_IN_DIPV4;
	}
}

/* Offset of the header in the frame; false: the packet does not have it. */
static bool
header_at(const struct dp_layers *l, unsigned header, uint32_t *at)
{
	switch (header) {
	case DP_AT_ETH:
		*at = l->l2_off;
		return l->l2_off != l->l3_off;
	case DP_AT_VLAN:
		*at = l->l2_off;
		return l->tags != 0;
	case DP_AT_IPV4:
		*at = l->l3_off;
		return l->l3 == DP_L3_IPV4;
	case DP_AT_IPV6:
		*at = l->l3_off;
		return l->l3 == DP_L3_IPV6;
	case DP_AT_TCP:
		*at = l->l4_off;
		return l->l4 == DP_L4_TCP;
	default:
		*at = l->l4_off;
		return l->l4 == DP_L4_UDP;
	}
}

/* Finds a field. Without the header there is neither word nor register. */
static struct spot
spot_of(struct dp_changed *w, unsigned id)
{
	struct spot s = {.f = field_find(id), .l = is_inner(id) ? &w->pkt.inner : &w->pkt.outer};
	uint32_t at;

	if (s.f->header == DP_AT_REG) {
		s.reg = s.f->at == DP_MODIFY_REG_A ? &w->meta.reg_a :
			s.f->at == DP_MODIFY_REG_B ? &w->meta.reg_b : &w->meta.reg_c[s.f->at];
		return s;
	}
	if (s.l == &w->pkt.inner && !w->pkt.tunneled)
		return s;
	if (s.f->header == DP_AT_IP)
		s.f = s.l->l3 == DP_L3_IPV6 ? &dscp_ipv6 : &dscp_ipv4;
	if (header_at(s.l, s.f->header, &at))
		s.p = w->data + at + s.f->at;
	return s;
}

static uint32_t
ones(unsigned bits)
{
	return bits >= 32 ? UINT32_MAX : (1u << bits) - 1;
}

static uint32_t
word_read(const uint8_t *p, unsigned bytes)
{
	return bytes == 4 ? dp_rd32(p) : bytes == 2 ? dp_rd16(p) : *p;
}

static void
word_write(uint8_t *p, unsigned bytes, uint32_t v)
{
	if (bytes == 4)
		dp_wr32(p, v);
	else if (bytes == 2)
		dp_wr16(p, (uint16_t)v);
	else
		*p = (uint8_t)v;
}

static uint32_t
field_read(const struct spot *s)
{
	if (s->reg != NULL)
		return *s->reg;
	return s->p != NULL ? word_read(s->p, s->f->bytes) >> s->f->shift & ones(s->f->bits) : 0;
}

/* Sum of the 16-bit words of the header in which the field is. */
static uint32_t
words_sum(const struct spot *s)
{
	const uint8_t *p = s->p - s->f->at % 2, *end = s->p + s->f->bytes;
	uint32_t sum = 0;

	for (; p < end; p += 2)
		sum += dp_rd16(p);
	return sum;
}

/* RFC 1624, equation 3. */
static void
checksum_update(uint8_t *p, uint32_t before, uint32_t after)
{
	uint64_t sum = (uint16_t)~dp_rd16(p);

	sum += after;
	sum += 0xffffu * 4u - before; /* The words are at most two. */
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	dp_wr16(p, (uint16_t)~sum);
}

static void
l4_update(struct dp_changed *w, const struct dp_layers *l, uint32_t before, uint32_t after)
{
	uint8_t *p = w->data + l->l4_off + (l->l4 == DP_L4_TCP ? TCP_CHECKSUM : UDP_CHECKSUM);

	if (l->l4 == DP_L4_NONE || (l->l4 == DP_L4_UDP && dp_rd16(p) == 0))
		return;
	checksum_update(p, before, after);
	if (l->l4 == DP_L4_UDP && dp_rd16(p) == 0)
		dp_wr16(p, 0xffff);
}

/* The addresses are part of the pseudo header. */
static bool
is_address(const struct field *f)
{
	return (f->header == DP_AT_IPV4 && f->at >= 12) || (f->header == DP_AT_IPV6 && f->at >= 8);
}

static void
checksums_update(struct dp_changed *w, const struct spot *s, uint32_t before, uint32_t after)
{
	if (s->f->header == DP_AT_IPV4)
		checksum_update(w->data + s->l->l3_off + IPV4_CHECKSUM, before, after);
	if (s->f->header == DP_AT_TCP || s->f->header == DP_AT_UDP || is_address(s->f))
		l4_update(w, s->l, before, after);
}

static void
field_write(struct dp_changed *w, const struct spot *s, uint32_t value)
{
	uint32_t mask, before;

	if (s->reg != NULL)
		*s->reg = value;
	if (s->p == NULL)
		return;
	mask = ones(s->f->bits) << s->f->shift;
	before = words_sum(s);
	word_write(s->p, s->f->bytes,
		   (word_read(s->p, s->f->bytes) & ~mask) | (value << s->f->shift & mask));
	if (s->f->header == DP_AT_VLAN)
		s->l->tci = dp_rd16(s->p);
	checksums_update(w, s, before, words_sum(s));
}

static void
action_apply(struct dp_changed *w, const struct emu_modify *a)
{
	struct spot to = spot_of(w, a->field), from;
	uint32_t mask = ones(a->length) << a->offset, old = field_read(&to), bits = a->data;

	if (a->type == PRM_ACTION_TYPE_ADD) {
		field_write(w, &to, (old + a->data) & ones(to.f->bits));
		return;
	}
	if (a->type == PRM_ACTION_TYPE_COPY) {
		from = spot_of(w, a->src_field);
		bits = field_read(&from) >> a->src_offset;
	}
	field_write(w, &to, (old & ~mask) | (bits << a->offset & mask));
}

void
dp_modify_apply(struct dp_changed *w, const struct emu_modify_header *m)
{
	for (unsigned i = 0; i < m->n; i++)
		action_apply(w, &m->action[i]);
}
