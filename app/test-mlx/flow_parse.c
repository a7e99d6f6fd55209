/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Parser of flows, without actions. Items begin with the header as it is on the wire, so that a field is a number of
 * bytes at an offset, in big endian; flags behind the header are bit fields.
 */

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mdv_compat.h>

#include "flow_parse.h"

struct item {
	const char *name;
	enum rte_flow_item_type type;
	size_t size;
	struct tm_flow_field fields[10];
};

#define FLAG(item, name) \
static void item##_##name(void *p) { ((struct rte_flow_item_##item *)p)->name = 1; }
FLAG(eth, has_vlan)
FLAG(vlan, has_more_vlan)
FLAG(ipv6, has_frag_ext)

/* The fields of each header are those that drivers commonly match, by testpmd's names. */
static const struct item items[] = {
	{ "void", RTE_FLOW_ITEM_TYPE_VOID, 0, { { NULL } } },
	{ "eth", RTE_FLOW_ITEM_TYPE_ETH, sizeof(struct rte_flow_item_eth),
	  { { "dst", 0, 6, TM_FLOW_MAC }, { "src", 6, 6, TM_FLOW_MAC }, { "type", 12, 2 }, { "has_vlan", .flag = eth_has_vlan } } },
	{ "vlan", RTE_FLOW_ITEM_TYPE_VLAN, sizeof(struct rte_flow_item_vlan),
	  { { "tci", 0, 2 }, { "pcp", 0, 2, .bits = 0xe000 }, { "dei", 0, 2, .bits = 0x1000 },
	    { "vid", 0, 2, .bits = 0x0fff }, { "inner_type", 2, 2 }, { "has_more_vlan", .flag = vlan_has_more_vlan } } },
	{ "ipv4", RTE_FLOW_ITEM_TYPE_IPV4, sizeof(struct rte_flow_item_ipv4),
	  { { "version_ihl", 0, 1 }, { "tos", 1, 1 }, { "length", 2, 2 }, { "packet_id", 4, 2 },
	    { "fragment_offset", 6, 2 }, { "ttl", 8, 1 }, { "proto", 9, 1 }, { "src", 12, 4, TM_FLOW_IPV4 },
	    { "dst", 16, 4, TM_FLOW_IPV4 } } },
	{ "ipv6", RTE_FLOW_ITEM_TYPE_IPV6, sizeof(struct rte_flow_item_ipv6),
	  { { "tc", 0, 4, .bits = 0x0ff00000 }, { "flow", 0, 4, .bits = 0x000fffff }, { "proto", 6, 1 }, { "hop", 7, 1 },
	    { "src", 8, 16, TM_FLOW_IPV6 }, { "dst", 24, 16, TM_FLOW_IPV6 }, { "has_frag_ext", .flag = ipv6_has_frag_ext } } },
	{ "ipv6_frag_ext", RTE_FLOW_ITEM_TYPE_IPV6_FRAG_EXT, sizeof(struct rte_flow_item_ipv6_frag_ext),
	  { { "next_hdr", 0, 1 }, { "frag_data", 2, 2 }, { "packet_id", 4, 4 } } },
	{ "udp", RTE_FLOW_ITEM_TYPE_UDP, sizeof(struct rte_flow_item_udp), { { "src", 0, 2 }, { "dst", 2, 2 } } },
	{ "tcp", RTE_FLOW_ITEM_TYPE_TCP, sizeof(struct rte_flow_item_tcp),
	  { { "src", 0, 2 }, { "dst", 2, 2 }, { "seq", 4, 4 }, { "ack", 8, 4 }, { "flags", 13, 1 } } },
	{ "sctp", RTE_FLOW_ITEM_TYPE_SCTP, sizeof(struct rte_flow_item_sctp),
	  { { "src", 0, 2 }, { "dst", 2, 2 }, { "tag", 4, 4 }, { "cksum", 8, 4 } } },
	{ "icmp", RTE_FLOW_ITEM_TYPE_ICMP, sizeof(struct rte_flow_item_icmp),
	  { { "type", 0, 1 }, { "code", 1, 1 }, { "ident", 4, 2 }, { "seq", 6, 2 } } },
	{ "icmp6", RTE_FLOW_ITEM_TYPE_ICMP6, sizeof(struct rte_flow_item_icmp6), { { "type", 0, 1 }, { "code", 1, 1 } } },
	{ "esp", RTE_FLOW_ITEM_TYPE_ESP, sizeof(struct rte_flow_item_esp), { { "spi", 0, 4 } } },
	{ "ah", RTE_FLOW_ITEM_TYPE_AH, sizeof(struct rte_flow_item_ah), { { "spi", 4, 4 } } },
	{ "gre", RTE_FLOW_ITEM_TYPE_GRE, sizeof(struct rte_flow_item_gre),
	  { { "c_rsvd0_ver", 0, 2 }, { "c_bit", 0, 2, .bits = 0x8000 }, { "k_bit", 0, 2, .bits = 0x2000 },
	    { "s_bit", 0, 2, .bits = 0x1000 }, { "protocol", 2, 2 } } },
	{ "gre_key", RTE_FLOW_ITEM_TYPE_GRE_KEY, sizeof(rte_be32_t), { { "value", 0, 4 } } },
	{ "nvgre", RTE_FLOW_ITEM_TYPE_NVGRE, sizeof(struct rte_flow_item_nvgre), { { "tni", 4, 3 } } },
	{ "vxlan", RTE_FLOW_ITEM_TYPE_VXLAN, sizeof(struct rte_flow_item_vxlan), { { "flags", 0, 1 }, { "vni", 4, 3 } } },
	{ "vxlan-gpe", RTE_FLOW_ITEM_TYPE_VXLAN_GPE, sizeof(struct rte_flow_item_vxlan_gpe),
	  { { "flags", 0, 1 }, { "protocol", 3, 1 }, { "vni", 4, 3 } } },
	{ "geneve", RTE_FLOW_ITEM_TYPE_GENEVE, sizeof(struct rte_flow_item_geneve),
	  { { "optlen", 0, 2, .bits = 0x3f00 }, { "protocol", 2, 2 }, { "vni", 4, 3 } } },
	{ "mpls", RTE_FLOW_ITEM_TYPE_MPLS, sizeof(struct rte_flow_item_mpls),
	  { { "label", 0, 3, .bits = 0xfffff0 }, { "tc", 2, 1, .bits = 0x0e }, { "s", 2, 1, .bits = 0x01 },
	    { "ttl", 3, 1 } } },
	{ "mark", RTE_FLOW_ITEM_TYPE_MARK, sizeof(struct rte_flow_item_mark), { { "id", 0, 4, .host = true } } },
	{ "port_id", RTE_FLOW_ITEM_TYPE_PORT_ID, sizeof(struct rte_flow_item_port_id), { { "id", 0, 4, .host = true } } },
	{ "meta", RTE_FLOW_ITEM_TYPE_META, sizeof(struct rte_flow_item_meta), { { "data", 0, 4, .host = true } } },
	{ "tag", RTE_FLOW_ITEM_TYPE_TAG, sizeof(struct rte_flow_item_tag),
	  { { "data", 0, 4, .host = true }, { "index", 4, 1 } } },
	{ "tx_queue", RTE_FLOW_ITEM_TYPE_TX_QUEUE, sizeof(struct rte_flow_item_tx_queue), { { "tx_queue_value", 0, 2, .host = true } } },
	{ "gtp", RTE_FLOW_ITEM_TYPE_GTP, sizeof(struct rte_flow_item_gtp),
	  { { "v_pt_rsv_flags", 0, 1 }, { "msg_type", 1, 1 }, { "teid", 4, 4 } } },
	{ "gtpu", RTE_FLOW_ITEM_TYPE_GTPU, sizeof(struct rte_flow_item_gtp),
	  { { "v_pt_rsv_flags", 0, 1 }, { "msg_type", 1, 1 }, { "teid", 4, 4 } } },
};

/* ------------------------------------------------------------------ words */

const char *
tm_flow_word(struct tm_flow_words *w)
{
	size_t n;

	w->next += strspn(w->next, " \t\r\n");
	n = strcspn(w->next, " \t\r\n");
	snprintf(w->word, sizeof(w->word), "%.*s", (int)RTE_MIN(n, sizeof(w->word)), w->next);
	w->next += n;
	return n != 0 ? w->word : NULL;
}

bool
tm_flow_next_is(const struct tm_flow_words *w, const char *word)
{
	struct tm_flow_words copy = *w;

	return tm_flow_word(&copy) != NULL && strcmp(copy.word, word) == 0;
}

const char *
tm_flow_word_need(struct tm_flow_words *w, const char *what)
{
	if (tm_flow_word(w) != NULL)
		return w->word;
	tm_error("flow: %s is missing at the end of the line", what);
	return NULL;
}

int
tm_flow_number(struct tm_flow_words *w, const char *what, uint64_t max, uint64_t *value)
{
	if (tm_flow_word_need(w, what) == NULL)
		return -EINVAL;
	if (tm_parse_u64(w->word, 0, max, value) == 0)
		return 0;
	tm_error("flow: %s '%s': a number from 0 to %" PRIu64 " is needed", what, w->word, max);
	return -EINVAL;
}

static char known[640];

const char *
tm_flow_known(const char *name)
{
	size_t n = strlen(known);

	if (name == NULL)
		known[0] = '\0';
	else if (name[0] != '\0')
		snprintf(known + n, sizeof(known) - n, "%s%s", n != 0 ? " " : "", name);
	return known;
}

/* ------------------------------------------------------------------ pattern */

/* Place of the i-th byte of a field, the most significant one first. */
static unsigned int
byte_at(const struct tm_flow_field *f, unsigned int i)
{
	return f->at + (f->host && RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN ? f->bytes - 1 - i : i);
}

/* Write the lowest bits of a number into the bytes of a field; -ERANGE if it has more. */
static int
number_put(const struct tm_flow_field *f, uint64_t value, uint8_t *item)
{
	const uint64_t all = f->bits != 0 ? f->bits : (UINT64_C(1) << 8 * f->bytes) - 1;
	const unsigned int shift = __builtin_ctzll(all);
	uint64_t v = 0;

	if (value > all >> shift)
		return -ERANGE;
	for (unsigned int i = 0; i < f->bytes; i++)
		v = v << 8 | item[byte_at(f, i)];
	v = (v & ~all) | value << shift;
	for (unsigned int i = f->bytes; i-- > 0; v >>= 8)
		item[byte_at(f, i)] = (uint8_t)v;
	return 0;
}

int
tm_flow_value(const char *of, const struct tm_flow_field *f, const char *text, uint8_t *item)
{
	struct rte_ether_addr mac;
	uint64_t value;

	if (f->kind == TM_FLOW_MAC && rte_ether_unformat_addr(text, &mac) == 0) {
		memcpy(item + f->at, &mac, sizeof(mac));
		return 0;
	}
	if ((f->kind == TM_FLOW_IPV4 && inet_pton(AF_INET, text, item + f->at) == 1) ||
	    (f->kind == TM_FLOW_IPV6 && inet_pton(AF_INET6, text, item + f->at) == 1))
		return 0;
	if (f->flag != NULL && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0)) {
		if (text[0] == '1')
			f->flag(item);
		return 0;
	}
	if (f->kind == TM_FLOW_NUMBER && f->flag == NULL && tm_parse_u64(text, 0, UINT32_MAX, &value) == 0 &&
	    number_put(f, value, item) == 0)
		return 0;
	tm_error("flow: %s: %s '%s' is not a value of this field", of, f->name, text);
	return -EINVAL;
}

/* Set the first bits of a field, all of them if there is no number of bits. */
static int
prefix_put(const struct item *it, const struct tm_flow_field *f, const char *text, uint8_t *item)
{
	unsigned int width = f->flag != NULL ? 1 : f->bits != 0 ? __builtin_popcount(f->bits) : 8 * f->bytes;
	uint64_t n = width;

	if (text != NULL && tm_parse_u64(text, 0, width, &n) != 0) {
		tm_error("flow: item %s: %s prefix '%s': 0 to %u bits", it->name, f->name, text, width);
		return -EINVAL;
	}
	if (f->flag != NULL) {
		if (n != 0)
			f->flag(item);
	} else if (f->bytes <= sizeof(uint32_t)) {
		return number_put(f, (UINT64_C(1) << width) - (UINT64_C(1) << (width - n)), item);
	} else {
		for (unsigned int i = 0; i < f->bytes; i++, n -= RTE_MIN(n, UINT64_C(8)))
			item[f->at + i] = (uint8_t)(0xff00 >> RTE_MIN(n, UINT64_C(8)));
	}
	return 0;
}

static const struct tm_flow_field *
field_find(const struct item *it, const char *name)
{
	(void)tm_flow_known(NULL);
	for (const struct tm_flow_field *f = it->fields; f->name != NULL; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
		(void)tm_flow_known(f->name);
	}
	tm_error("flow: item %s has no field '%s' (%s)", it->name, name, known[0] != '\0' ? known : "it has none");
	return NULL;
}

/* "FIELD is|spec|last|mask VALUE", "FIELD prefix BITS"; the field's name is read. */
static int
field_parse(struct tm_flow_words *w, struct tm_flow_rule *r, const struct item *it)
{
	static const char *const hows[] = { "is", "spec", "last", "mask", "prefix" };
	enum { IS, SPEC, LAST, MASK, PREFIX };
	const unsigned int n = r->nb_items;
	struct rte_flow_item *to = &r->items[n];
	const struct tm_flow_field *f = field_find(it, w->word);
	unsigned int how = 0;

	if (f == NULL || tm_flow_word_need(w, "is, spec, last, mask or prefix") == NULL)
		return -EINVAL;
	while (how < RTE_DIM(hows) && strcmp(hows[how], w->word) != 0)
		how++;
	if (how == RTE_DIM(hows)) {
		tm_error("flow: item %s: '%s' behind %s: is, spec, last, mask and prefix are known", it->name, w->word,
			 f->name);
		return -EINVAL;
	}
	if (tm_flow_word_need(w, "a value") == NULL)
		return -EINVAL;
	if (how == LAST) {
		to->last = r->last[n].bytes;
		return tm_flow_value(it->name, f, w->word, r->last[n].bytes);
	}
	if (how == IS || how == SPEC)
		to->spec = r->spec[n].bytes;
	if (how != SPEC)
		to->mask = r->mask[n].bytes;
	if (how == MASK)
		return tm_flow_value(it->name, f, w->word, r->mask[n].bytes);
	if (how == PREFIX)
		return prefix_put(it, f, w->word, r->mask[n].bytes);
	if (tm_flow_value(it->name, f, w->word, r->spec[n].bytes) != 0)
		return -EINVAL;
	return how == IS ? prefix_put(it, f, NULL, r->mask[n].bytes) : 0;
}

static const struct item *
item_find(const char *name)
{
	(void)tm_flow_known(NULL);
	for (size_t i = 0; i < RTE_DIM(items); i++) {
		if (strcmp(items[i].name, name) == 0)
			return &items[i];
		(void)tm_flow_known(items[i].name);
	}
	tm_error("flow: there is no item '%s' (%s)", name, known);
	return NULL;
}

static int
pattern_parse(struct tm_flow_words *w, struct tm_flow_rule *r)
{
	const struct item *it;
	int ret = 0;

	for (r->nb_items = 0; ret == 0; r->nb_items++) {
		if (tm_flow_word_need(w, "an item") == NULL)
			return -EINVAL;
		if (strcmp(w->word, "end") == 0)
			break;
		it = item_find(w->word);
		if (it == NULL)
			return -EINVAL;
		if (r->nb_items == TM_FLOW_ITEMS - 1) {
			tm_error("flow: more than %u items", TM_FLOW_ITEMS - 1);
			return -EINVAL;
		}
		r->items[r->nb_items].type = it->type;
		while (ret == 0 && tm_flow_word_need(w, "/") != NULL && strcmp(w->word, "/") != 0)
			ret = field_parse(w, r, it);
		if (ret == 0 && strcmp(w->word, "/") != 0)
			return -EINVAL;
	}
	r->items[r->nb_items].type = RTE_FLOW_ITEM_TYPE_END;
	return ret;
}

/* ------------------------------------------------------------------ rules */

int
tm_flow_parse(struct tm_flow_words *w, struct tm_flow_rule *r)
{
	uint32_t *number;
	uint64_t v;

	while (tm_flow_word_need(w, "pattern") != NULL && strcmp(w->word, "pattern") != 0) {
		if (strcmp(w->word, "ingress") == 0) {
			r->attr.ingress = 1;
		} else if (strcmp(w->word, "egress") == 0) {
			r->attr.egress = 1;
		} else if (strcmp(w->word, "transfer") == 0) {
			r->attr.transfer = 1;
		} else if (strcmp(w->word, "group") == 0 || strcmp(w->word, "priority") == 0) {
			number = w->word[0] == 'g' ? &r->attr.group : &r->attr.priority;
			if (tm_flow_number(w, number == &r->attr.group ? "group" : "priority", UINT32_MAX, &v) != 0)
				return -EINVAL;
			*number = v;
		} else {
			tm_error("flow: there is no attribute '%s' (group priority ingress egress transfer pattern)",
				 w->word);
			return -EINVAL;
		}
	}
	if (strcmp(w->word, "pattern") != 0 || pattern_parse(w, r) != 0 || tm_flow_word_need(w, "actions") == NULL)
		return -EINVAL;
	if (strcmp(w->word, "actions") == 0)
		return tm_flow_parse_actions(w, r);
	tm_error("flow: '%s' in place of actions", w->word);
	return -EINVAL;
}

/* In capital letters, as testpmd. */
static void
summary_add(char *text, size_t size, const char *name)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", n != 0 ? " " : "", name);
	for (char *c = text + n; *c != '\0'; c++)
		*c = (char)toupper((unsigned char)*c);
}

void
tm_flow_summary(const struct tm_flow_rule *r, char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned int i = 0; i < r->nb_items; i++)
		for (size_t k = 0; k < RTE_DIM(items); k++)
			if (items[k].type == r->items[i].type && items[k].type != RTE_FLOW_ITEM_TYPE_VOID)
				summary_add(text, size, items[k].name);
	summary_add(text, size, "=>");
	for (unsigned int i = 0; i < r->nb_actions; i++)
		if (r->actions[i].type != RTE_FLOW_ACTION_TYPE_VOID)
			summary_add(text, size, tm_flow_action_name(r->actions[i].type));
}
