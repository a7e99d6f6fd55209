/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Parser of flows. Items begin with the header as it is on the wire, so that a field is a number of bytes at an offset,
 * in big endian; flags behind the header are bit fields.
 */

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow_parse.h"

enum kind { NUMBER, MAC, IPV4, IPV6 };

struct field {
	const char *name;
	uint8_t at, bytes;
	uint8_t kind;			/* enum kind */
	uint32_t bits;			/* of the bytes, as a number; 0: all */
	void (*flag)(void *item);	/* sets the bit of a flag; instead of at and bytes */
};

struct item {
	const char *name;
	enum rte_flow_item_type type;
	size_t size;
	struct field fields[10];
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
	  { { "dst", 0, 6, MAC }, { "src", 6, 6, MAC }, { "type", 12, 2 }, { "has_vlan", .flag = eth_has_vlan } } },
	{ "vlan", RTE_FLOW_ITEM_TYPE_VLAN, sizeof(struct rte_flow_item_vlan),
	  { { "tci", 0, 2 }, { "pcp", 0, 2, .bits = 0xe000 }, { "dei", 0, 2, .bits = 0x1000 },
	    { "vid", 0, 2, .bits = 0x0fff }, { "inner_type", 2, 2 }, { "has_more_vlan", .flag = vlan_has_more_vlan } } },
	{ "ipv4", RTE_FLOW_ITEM_TYPE_IPV4, sizeof(struct rte_flow_item_ipv4),
	  { { "version_ihl", 0, 1 }, { "tos", 1, 1 }, { "length", 2, 2 }, { "packet_id", 4, 2 },
	    { "fragment_offset", 6, 2 }, { "ttl", 8, 1 }, { "proto", 9, 1 }, { "src", 12, 4, IPV4 },
	    { "dst", 16, 4, IPV4 } } },
	{ "ipv6", RTE_FLOW_ITEM_TYPE_IPV6, sizeof(struct rte_flow_item_ipv6),
	  { { "tc", 0, 4, .bits = 0x0ff00000 }, { "flow", 0, 4, .bits = 0x000fffff }, { "proto", 6, 1 }, { "hop", 7, 1 },
	    { "src", 8, 16, IPV6 }, { "dst", 24, 16, IPV6 }, { "has_frag_ext", .flag = ipv6_has_frag_ext } } },
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
	{ "gtpu", RTE_FLOW_ITEM_TYPE_GTPU, sizeof(struct rte_flow_item_gtp),
	  { { "v_pt_rsv_flags", 0, 1 }, { "msg_type", 1, 1 }, { "teid", 4, 4 } } },
};

static const struct {
	const char *name;
	uint64_t bits;
} rss_types[] = {
	{ "none", 0 }, { "all", RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP }, { "ip", RTE_ETH_RSS_IP },
	{ "tcp", RTE_ETH_RSS_TCP }, { "udp", RTE_ETH_RSS_UDP },
	{ "ipv4", RTE_ETH_RSS_IPV4 }, { "ipv4-frag", RTE_ETH_RSS_FRAG_IPV4 }, { "ipv4-tcp", RTE_ETH_RSS_NONFRAG_IPV4_TCP },
	{ "ipv4-udp", RTE_ETH_RSS_NONFRAG_IPV4_UDP }, { "ipv4-other", RTE_ETH_RSS_NONFRAG_IPV4_OTHER },
	{ "ipv6", RTE_ETH_RSS_IPV6 }, { "ipv6-frag", RTE_ETH_RSS_FRAG_IPV6 }, { "ipv6-tcp", RTE_ETH_RSS_NONFRAG_IPV6_TCP },
	{ "ipv6-udp", RTE_ETH_RSS_NONFRAG_IPV6_UDP }, { "ipv6-other", RTE_ETH_RSS_NONFRAG_IPV6_OTHER },
	{ "ipv6-ex", RTE_ETH_RSS_IPV6_EX }, { "ipv6-tcp-ex", RTE_ETH_RSS_IPV6_TCP_EX },
	{ "ipv6-udp-ex", RTE_ETH_RSS_IPV6_UDP_EX },
	{ "l3-src-only", RTE_ETH_RSS_L3_SRC_ONLY }, { "l3-dst-only", RTE_ETH_RSS_L3_DST_ONLY },
	{ "l4-src-only", RTE_ETH_RSS_L4_SRC_ONLY }, { "l4-dst-only", RTE_ETH_RSS_L4_DST_ONLY },
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

/* The word that follows, without reading it. */
static bool
next_is(const struct tm_flow_words *w, const char *word)
{
	struct tm_flow_words copy = *w;

	return tm_flow_word(&copy) != NULL && strcmp(copy.word, word) == 0;
}

static const char *
word_need(struct tm_flow_words *w, const char *what)
{
	if (tm_flow_word(w) != NULL)
		return w->word;
	tm_error("flow: %s is missing at the end of the line", what);
	return NULL;
}

int
tm_flow_number(struct tm_flow_words *w, const char *what, uint64_t max, uint64_t *value)
{
	if (word_need(w, what) == NULL)
		return -EINVAL;
	if (tm_parse_u64(w->word, 0, max, value) == 0)
		return 0;
	tm_error("flow: %s '%s': a number from 0 to %" PRIu64 " is needed", what, w->word, max);
	return -EINVAL;
}

/* Adds a name to a list for a message; static text, because the message ends the line. */
static char known[512];
static void
known_add(const char *name)
{
	size_t n = strlen(known);

	snprintf(known + n, sizeof(known) - n, "%s%s", n != 0 ? " " : "", name);
}

/* ------------------------------------------------------------------ pattern */

/* Write the lowest bits of a number into the bytes of a field; -ERANGE if it has more. */
static int
number_put(const struct field *f, uint64_t value, uint8_t *item)
{
	const uint64_t all = f->bits != 0 ? f->bits : (UINT64_C(1) << 8 * f->bytes) - 1;
	const unsigned int shift = __builtin_ctzll(all);
	uint64_t v = 0;

	if (value > all >> shift)
		return -ERANGE;
	for (unsigned int i = 0; i < f->bytes; i++)
		v = v << 8 | item[f->at + i];
	v = (v & ~all) | value << shift;
	for (unsigned int i = f->bytes; i-- > 0; v >>= 8)
		item[f->at + i] = (uint8_t)v;
	return 0;
}

static int
value_put(const struct item *it, const struct field *f, const char *text, uint8_t *item)
{
	struct rte_ether_addr mac;
	uint64_t value;

	if (f->kind == MAC && rte_ether_unformat_addr(text, &mac) == 0) {
		memcpy(item + f->at, &mac, sizeof(mac));
		return 0;
	}
	if ((f->kind == IPV4 && inet_pton(AF_INET, text, item + f->at) == 1) ||
	    (f->kind == IPV6 && inet_pton(AF_INET6, text, item + f->at) == 1))
		return 0;
	if (f->flag != NULL && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0)) {
		if (text[0] == '1')
			f->flag(item);
		return 0;
	}
	if (f->kind == NUMBER && f->flag == NULL && tm_parse_u64(text, 0, UINT32_MAX, &value) == 0 &&
	    number_put(f, value, item) == 0)
		return 0;
	tm_error("flow: item %s: %s '%s' is not a value of this field", it->name, f->name, text);
	return -EINVAL;
}

/* Set the first bits of a field, all of them if there is no number of bits. */
static int
prefix_put(const struct item *it, const struct field *f, const char *text, uint8_t *item)
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

static const struct field *
field_find(const struct item *it, const char *name)
{
	known[0] = '\0';
	for (const struct field *f = it->fields; f->name != NULL; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
		known_add(f->name);
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
	const struct field *f = field_find(it, w->word);
	unsigned int how = 0;

	if (f == NULL || word_need(w, "is, spec, last, mask or prefix") == NULL)
		return -EINVAL;
	while (how < RTE_DIM(hows) && strcmp(hows[how], w->word) != 0)
		how++;
	if (how == RTE_DIM(hows)) {
		tm_error("flow: item %s: '%s' behind %s: is, spec, last, mask and prefix are known", it->name, w->word,
			 f->name);
		return -EINVAL;
	}
	if (word_need(w, "a value") == NULL)
		return -EINVAL;
	if (how == LAST) {
		to->last = r->last[n].bytes;
		return value_put(it, f, w->word, r->last[n].bytes);
	}
	if (how == IS || how == SPEC)
		to->spec = r->spec[n].bytes;
	if (how != SPEC)
		to->mask = r->mask[n].bytes;
	if (how == MASK)
		return value_put(it, f, w->word, r->mask[n].bytes);
	if (how == PREFIX)
		return prefix_put(it, f, w->word, r->mask[n].bytes);
	if (value_put(it, f, w->word, r->spec[n].bytes) != 0)
		return -EINVAL;
	return how == IS ? prefix_put(it, f, NULL, r->mask[n].bytes) : 0;
}

static const struct item *
item_find(const char *name)
{
	known[0] = '\0';
	for (size_t i = 0; i < RTE_DIM(items); i++) {
		if (strcmp(items[i].name, name) == 0)
			return &items[i];
		known_add(items[i].name);
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
		if (word_need(w, "an item") == NULL)
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
		while (ret == 0 && word_need(w, "/") != NULL && strcmp(w->word, "/") != 0)
			ret = field_parse(w, r, it);
		if (ret == 0 && strcmp(w->word, "/") != 0)
			return -EINVAL;
	}
	r->items[r->nb_items].type = RTE_FLOW_ITEM_TYPE_END;
	return ret;
}

/* ------------------------------------------------------------------ actions */

static int
age_parse(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf)
{
	uint64_t v = 0;

	if (!next_is(w, "timeout") || tm_flow_word(w) == NULL) {
		tm_error("flow: action age: timeout is missing");
		return -EINVAL;
	}
	if (tm_flow_number(w, "timeout", (1 << 24) - 1, &v) != 0)
		return -EINVAL;
	conf->age.timeout = v;
	conf->age.context = r->age_context;
	return 0;
}

static int
rss_types_parse(struct tm_flow_words *w, struct rte_flow_action_rss *rss)
{
	size_t i;

	while (word_need(w, "end of the types") != NULL && strcmp(w->word, "end") != 0) {
		known[0] = '\0';
		for (i = 0; i < RTE_DIM(rss_types) && strcmp(rss_types[i].name, w->word) != 0; i++)
			known_add(rss_types[i].name);
		if (i == RTE_DIM(rss_types)) {
			tm_error("flow: there is no RSS type '%s' (%s)", w->word, known);
			return -EINVAL;
		}
		rss->types |= rss_types[i].bits;
	}
	return strcmp(w->word, "end") == 0 ? 0 : -EINVAL;
}

static int
rss_queues_parse(struct tm_flow_words *w, struct tm_flow_rule *r, struct rte_flow_action_rss *rss)
{
	uint64_t v;

	for (rss->queue_num = 0; !next_is(w, "end"); rss->queue_num++) {
		if (rss->queue_num == RTE_DIM(r->queues)) {
			tm_error("flow: more than %zu queues", RTE_DIM(r->queues));
			return -EINVAL;
		}
		if (tm_flow_number(w, "queue", UINT16_MAX, &v) != 0)
			return -EINVAL;
		r->queues[rss->queue_num] = v;
	}
	(void)tm_flow_word(w);
	return 0;
}

static int
rss_func_parse(struct tm_flow_words *w, struct rte_flow_action_rss *rss)
{
	static const struct {
		const char *name;
		enum rte_eth_hash_function func;
	} funcs[] = {
		{ "default", RTE_ETH_HASH_FUNCTION_DEFAULT }, { "toeplitz", RTE_ETH_HASH_FUNCTION_TOEPLITZ },
		{ "simple_xor", RTE_ETH_HASH_FUNCTION_SIMPLE_XOR },
		{ "symmetric_toeplitz", RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ },
	};

	if (word_need(w, "a hash function") == NULL)
		return -EINVAL;
	for (size_t i = 0; i < RTE_DIM(funcs); i++) {
		if (strcmp(funcs[i].name, w->word) == 0) {
			rss->func = funcs[i].func;
			return 0;
		}
	}
	tm_error("flow: hash function '%s' is none of default, toeplitz, simple_xor, symmetric_toeplitz", w->word);
	return -EINVAL;
}

static int
rss_key_parse(struct tm_flow_words *w, struct tm_flow_rule *r, struct rte_flow_action_rss *rss)
{
	size_t n;

	if (word_need(w, "an RSS key") == NULL)
		return -EINVAL;
	n = strlen(w->word);
	if (n % 2 != 0 || n / 2 > sizeof(r->key) || w->word[strspn(w->word, "0123456789abcdefABCDEF")] != '\0') {
		tm_error("flow: RSS key: two hexadecimal digits a byte, at most %zu bytes", sizeof(r->key));
		return -EINVAL;
	}
	for (size_t i = 0; i < n / 2; i++) {
		const char digits[3] = { w->word[2 * i], w->word[2 * i + 1] };

		r->key[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	rss->key = r->key;
	rss->key_len = n / 2;
	return 0;
}

/* Without queues: all of the port. */
static int
rss_parse(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf)
{
	struct rte_flow_action_rss *rss = &conf->rss;
	struct rte_eth_dev_info info = { 0 };
	uint64_t v = 0;
	int ret = rte_eth_dev_info_get(r->port_id, &info);

	if (ret != 0)
		return ret;
	rss->queue = r->queues;
	rss->queue_num = RTE_MIN(info.nb_rx_queues, RTE_DIM(r->queues));
	for (uint16_t i = 0; i < rss->queue_num; i++)
		r->queues[i] = i;
	while (ret == 0 && !next_is(w, "/") && word_need(w, "/") != NULL) {
		if (strcmp(w->word, "types") == 0)
			ret = rss_types_parse(w, rss);
		else if (strcmp(w->word, "queues") == 0)
			ret = rss_queues_parse(w, r, rss);
		else if (strcmp(w->word, "func") == 0)
			ret = rss_func_parse(w, rss);
		else if (strcmp(w->word, "key") == 0)
			ret = rss_key_parse(w, r, rss);
		else if (strcmp(w->word, "level") == 0)
			ret = tm_flow_number(w, "level", UINT32_MAX, &v);
		else
			ret = -ENOENT;
		rss->level = v;
	}
	if (ret == -ENOENT)
		tm_error("flow: action rss has no '%s' (func level types key queues)", w->word);
	return ret;
}

static int
indirect_parse(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf __rte_unused)
{
	uint64_t id;

	if (tm_flow_number(w, "indirect action", UINT32_MAX, &id) != 0)
		return -EINVAL;
	r->actions[r->nb_actions].conf = r->handle(r->port_id, id);
	if (r->actions[r->nb_actions].conf != NULL)
		return 0;
	tm_error("flow: port %u has no indirect action %" PRIu64, r->port_id, id);
	return -ENOENT;
}

/* An action with one number, whose name is needed or optional, or with a function of its own. */
static const struct action {
	const char *name;
	enum rte_flow_action_type type;
	const char *param;
	bool optional;
	uint8_t bytes;		/* of the number, the first member of the configuration */
	int (*parse)(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf);
} actions[] = {
	{ "void", RTE_FLOW_ACTION_TYPE_VOID }, { "drop", RTE_FLOW_ACTION_TYPE_DROP },
	{ "queue", RTE_FLOW_ACTION_TYPE_QUEUE, "index", false, sizeof(uint16_t) },
	{ "rss", RTE_FLOW_ACTION_TYPE_RSS, .parse = rss_parse },
	{ "jump", RTE_FLOW_ACTION_TYPE_JUMP, "group", false, sizeof(uint32_t) },
	{ "mark", RTE_FLOW_ACTION_TYPE_MARK, "id", false, sizeof(uint32_t) },
	{ "flag", RTE_FLOW_ACTION_TYPE_FLAG },
	{ "count", RTE_FLOW_ACTION_TYPE_COUNT, "identifier", true, sizeof(uint32_t) },
	{ "age", RTE_FLOW_ACTION_TYPE_AGE, .parse = age_parse },
	{ "send_to_kernel", RTE_FLOW_ACTION_TYPE_SEND_TO_KERNEL },
	{ "indirect", RTE_FLOW_ACTION_TYPE_INDIRECT, .parse = indirect_parse },
};

static int
number_parse(struct tm_flow_words *w, const struct action *a, union tm_flow_conf *conf)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v;

	if (!next_is(w, a->param)) {
		if (a->optional)
			return 0;
		tm_error("flow: action %s: %s is missing", a->name, a->param);
		return -EINVAL;
	}
	(void)tm_flow_word(w);
	if (tm_flow_number(w, a->param, a->bytes == sizeof(v16) ? UINT16_MAX : UINT32_MAX, &v) != 0)
		return -EINVAL;
	v16 = v;
	v32 = v;
	memcpy(conf, a->bytes == sizeof(v16) ? (const void *)&v16 : &v32, a->bytes);
	return 0;
}

static const struct action *
action_find(const char *name)
{
	known[0] = '\0';
	for (size_t i = 0; i < RTE_DIM(actions); i++) {
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
		known_add(actions[i].name);
	}
	tm_error("flow: there is no action '%s' (%s)", name, known);
	return NULL;
}

static int
action_parse(struct tm_flow_words *w, struct tm_flow_rule *r)
{
	struct rte_flow_action *to = &r->actions[r->nb_actions];
	const struct action *a = action_find(w->word);
	union tm_flow_conf *conf = &r->conf[r->nb_actions];
	int ret = 0;

	if (a == NULL)
		return -EINVAL;
	if (r->nb_actions == TM_FLOW_ACTIONS - 1) {
		tm_error("flow: more than %u actions", TM_FLOW_ACTIONS - 1);
		return -EINVAL;
	}
	to->type = a->type;
	if (a->param != NULL || a->parse != NULL) {
		to->conf = conf;
		ret = a->parse != NULL ? a->parse(w, r, conf) : number_parse(w, a, conf);
	}
	if (ret != 0)
		return -EINVAL;
	if (next_is(w, "/"))
		return tm_flow_word(w) != NULL ? 0 : -EINVAL;
	if (word_need(w, "/") != NULL)
		tm_error("flow: action %s: '%s' in place of /", a->name, w->word);
	return -EINVAL;
}

int
tm_flow_parse_actions(struct tm_flow_words *w, struct tm_flow_rule *r)
{
	int ret = 0;

	for (r->nb_actions = 0; ret == 0; r->nb_actions++) {
		if (word_need(w, "an action") == NULL)
			return -EINVAL;
		if (strcmp(w->word, "end") == 0)
			break;
		ret = action_parse(w, r);
	}
	r->actions[r->nb_actions].type = RTE_FLOW_ACTION_TYPE_END;
	if (ret == 0 && tm_flow_word(w) != NULL) {
		tm_error("flow: '%s' behind the end", w->word);
		ret = -EINVAL;
	}
	return ret;
}

/* ------------------------------------------------------------------ rules */

int
tm_flow_parse(struct tm_flow_words *w, struct tm_flow_rule *r)
{
	uint32_t *number;
	uint64_t v;

	while (word_need(w, "pattern") != NULL && strcmp(w->word, "pattern") != 0) {
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
	if (strcmp(w->word, "pattern") != 0 || pattern_parse(w, r) != 0 || word_need(w, "actions") == NULL)
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
		for (size_t k = 0; k < RTE_DIM(actions); k++)
			if (actions[k].type == r->actions[i].type && actions[k].type != RTE_FLOW_ACTION_TYPE_VOID)
				summary_add(text, size, actions[k].name);
}
