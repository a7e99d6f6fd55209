/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Parser of the actions of flows. Most have a configuration of fields; the others a function.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mdv_compat.h>

#include "flow_parse.h"

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

/* ------------------------------------------------------------------ actions with a function */

static int
age_parse(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf)
{
	uint64_t v = 0;

	if (!tm_flow_next_is(w, "timeout") || tm_flow_word(w) == NULL) {
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

	while (tm_flow_word_need(w, "end of the types") != NULL && strcmp(w->word, "end") != 0) {
		(void)tm_flow_known(NULL);
		for (i = 0; i < RTE_DIM(rss_types) && strcmp(rss_types[i].name, w->word) != 0; i++)
			(void)tm_flow_known(rss_types[i].name);
		if (i == RTE_DIM(rss_types)) {
			tm_error("flow: there is no RSS type '%s' (%s)", w->word, tm_flow_known(""));
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

	for (rss->queue_num = 0; !tm_flow_next_is(w, "end"); rss->queue_num++) {
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

	if (tm_flow_word_need(w, "a hash function") == NULL)
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

/* Bytes as hexadecimal digits; their number, or -EINVAL after tm_error(). */
static int
hex_parse(struct tm_flow_words *w, const char *what, uint8_t *to, size_t room)
{
	size_t n;

	if (tm_flow_word_need(w, what) == NULL)
		return -EINVAL;
	n = strlen(w->word);
	if (n % 2 != 0 || n / 2 > room || w->word[strspn(w->word, "0123456789abcdefABCDEF")] != '\0') {
		tm_error("flow: %s: two hexadecimal digits a byte, at most %zu bytes", what, room);
		return -EINVAL;
	}
	for (size_t i = 0; i < n / 2; i++) {
		const char digits[3] = { w->word[2 * i], w->word[2 * i + 1] };

		to[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n / 2;
}

static int
rss_key_parse(struct tm_flow_words *w, struct tm_flow_rule *r, struct rte_flow_action_rss *rss)
{
	int n = hex_parse(w, "RSS key", r->key, sizeof(r->key));

	rss->key = r->key;
	rss->key_len = n > 0 ? n : 0;
	return n < 0 ? n : 0;
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
	while (ret == 0 && !tm_flow_next_is(w, "/") && tm_flow_word_need(w, "/") != NULL) {
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

/* "size N": so many bytes are removed. */
static int
raw_decap_parse(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf)
{
	uint64_t size;

	if (!tm_flow_next_is(w, "size") || tm_flow_word(w) == NULL) {
		tm_error("flow: action raw_decap: size is missing");
		return -EINVAL;
	}
	if (tm_flow_number(w, "size", sizeof(r->headers), &size) != 0)
		return -EINVAL;
	conf->decap.data = r->headers;
	conf->decap.size = size;
	return 0;
}

/* "data HEX": the headers that are inserted. */
static int
raw_encap_parse(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf)
{
	int n;

	if (!tm_flow_next_is(w, "data") || tm_flow_word(w) == NULL) {
		tm_error("flow: action raw_encap: data is missing");
		return -EINVAL;
	}
	n = hex_parse(w, "data", r->headers, sizeof(r->headers));
	conf->encap.data = r->headers;
	conf->encap.size = n > 0 ? n : 0;
	return n < 0 ? n : 0;
}

/* The headers of a tunnel by the words of testpmd's `set vxlan` and `set nvgre`; what is not given is 0. */
static const struct {
	enum rte_flow_item_type type;
	struct tm_flow_field field;
} tunnel_fields[] = {
	{ RTE_FLOW_ITEM_TYPE_ETH, { "eth-dst", 0, 6, TM_FLOW_MAC } },
	{ RTE_FLOW_ITEM_TYPE_ETH, { "eth-src", 6, 6, TM_FLOW_MAC } },
	{ RTE_FLOW_ITEM_TYPE_IPV4, { "ip-src", 12, 4, TM_FLOW_IPV4 } },
	{ RTE_FLOW_ITEM_TYPE_IPV4, { "ip-dst", 16, 4, TM_FLOW_IPV4 } },
	{ RTE_FLOW_ITEM_TYPE_IPV6, { "ip-src", 8, 16, TM_FLOW_IPV6 } },
	{ RTE_FLOW_ITEM_TYPE_IPV6, { "ip-dst", 24, 16, TM_FLOW_IPV6 } },
	{ RTE_FLOW_ITEM_TYPE_UDP, { "udp-src", 0, 2 } },
	{ RTE_FLOW_ITEM_TYPE_UDP, { "udp-dst", 2, 2 } },
	{ RTE_FLOW_ITEM_TYPE_VXLAN, { "vni", 4, 3 } },
	{ RTE_FLOW_ITEM_TYPE_NVGRE, { "tni", 4, 3 } },
};

/* "FIELD VALUE"; the field's name is read. */
static int
tunnel_field_parse(struct tm_flow_words *w, struct tm_flow_rule *r, const char *action)
{
	(void)tm_flow_known(NULL);
	for (size_t k = 0; k < RTE_DIM(tunnel_fields); k++) {
		const struct tm_flow_field *f = &tunnel_fields[k].field;
		unsigned int i = 0;

		while (r->tunnel.items[i].type != RTE_FLOW_ITEM_TYPE_END &&
		       r->tunnel.items[i].type != tunnel_fields[k].type)
			i++;
		if (r->tunnel.items[i].type == RTE_FLOW_ITEM_TYPE_END)
			continue;
		if (strcmp(f->name, w->word) == 0)
			return tm_flow_word_need(w, f->name) != NULL ?
			       tm_flow_value(action, f, w->word, r->tunnel.spec[i].bytes) : -EINVAL;
		(void)tm_flow_known(f->name);
	}
	tm_error("flow: action %s has no '%s' (%s)", action, w->word, tm_flow_known(""));
	return -EINVAL;
}

/* "ip-version ipv4|ipv6", then fields of the headers. */
static int
tunnel_parse(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf)
{
	const enum rte_flow_action_type type = r->actions[r->nb_actions].type;
	struct rte_flow_item *item = r->tunnel.items;
	int ret = 0;

	if (!tm_flow_next_is(w, "ip-version") || tm_flow_word(w) == NULL || tm_flow_word_need(w, "ipv4 or ipv6") == NULL ||
	    (strcmp(w->word, "ipv4") != 0 && strcmp(w->word, "ipv6") != 0)) {
		tm_error("flow: action %s: ip-version ipv4 or ip-version ipv6 is missing", tm_flow_action_name(type));
		return -EINVAL;
	}
	memset(&r->tunnel, 0, sizeof(r->tunnel));
	item++->type = RTE_FLOW_ITEM_TYPE_ETH;
	item++->type = strcmp(w->word, "ipv6") == 0 ? RTE_FLOW_ITEM_TYPE_IPV6 : RTE_FLOW_ITEM_TYPE_IPV4;
	if (type == RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP) {
		item++->type = RTE_FLOW_ITEM_TYPE_UDP;
		item++->type = RTE_FLOW_ITEM_TYPE_VXLAN;
		conf->vxlan.definition = r->tunnel.items;
	} else {
		item++->type = RTE_FLOW_ITEM_TYPE_NVGRE;
		conf->nvgre.definition = r->tunnel.items;
	}
	item->type = RTE_FLOW_ITEM_TYPE_END;
	for (unsigned int i = 0; i < TM_FLOW_TUNNEL_ITEMS; i++)
		r->tunnel.items[i].spec = r->tunnel.spec[i].bytes;
	while (ret == 0 && !tm_flow_next_is(w, "/") && tm_flow_word_need(w, "/") != NULL)
		ret = tunnel_field_parse(w, r, tm_flow_action_name(type));
	return ret;
}

/* Number of a name in a list; -EINVAL after tm_error(). */
static int
name_parse(struct tm_flow_words *w, const char *what, const char *const *names, size_t n)
{
	if (tm_flow_word_need(w, what) == NULL)
		return -EINVAL;
	(void)tm_flow_known(NULL);
	for (size_t i = 0; i < n; i++) {
		if (names[i] == NULL)
			continue;
		if (strcmp(names[i], w->word) == 0)
			return i;
		(void)tm_flow_known(names[i]);
	}
	tm_error("flow: action modify_field: %s '%s' is none of %s", what, w->word, tm_flow_known(""));
	return -EINVAL;
}

static const char *const modify_ops[] = {
	[RTE_FLOW_MODIFY_SET] = "set", [RTE_FLOW_MODIFY_ADD] = "add", [RTE_FLOW_MODIFY_SUB] = "sub",
};
static const char *const modify_fields[] = {
	[RTE_FLOW_FIELD_MAC_DST] = "mac_dst", [RTE_FLOW_FIELD_MAC_SRC] = "mac_src",
	[RTE_FLOW_FIELD_VLAN_ID] = "vlan_id", [RTE_FLOW_FIELD_IPV4_DSCP] = "ipv4_dscp",
	[RTE_FLOW_FIELD_IPV4_TTL] = "ipv4_ttl", [RTE_FLOW_FIELD_IPV4_SRC] = "ipv4_src",
	[RTE_FLOW_FIELD_IPV4_DST] = "ipv4_dst", [RTE_FLOW_FIELD_IPV6_DSCP] = "ipv6_dscp",
	[RTE_FLOW_FIELD_IPV6_HOPLIMIT] = "ipv6_hoplimit", [RTE_FLOW_FIELD_IPV6_SRC] = "ipv6_src",
	[RTE_FLOW_FIELD_IPV6_DST] = "ipv6_dst", [RTE_FLOW_FIELD_TCP_PORT_SRC] = "tcp_port_src",
	[RTE_FLOW_FIELD_TCP_PORT_DST] = "tcp_port_dst", [RTE_FLOW_FIELD_TCP_SEQ_NUM] = "tcp_seq_num",
	[RTE_FLOW_FIELD_TCP_ACK_NUM] = "tcp_ack_num", [RTE_FLOW_FIELD_TCP_FLAGS] = "tcp_flags",
	[RTE_FLOW_FIELD_UDP_PORT_SRC] = "udp_port_src", [RTE_FLOW_FIELD_UDP_PORT_DST] = "udp_port_dst",
	[RTE_FLOW_FIELD_TAG] = "tag", [RTE_FLOW_FIELD_META] = "meta", [RTE_FLOW_FIELD_VALUE] = "value",
};

/* What follows "dst_" or "src_": the name of the word is read. */
static int
modify_data_parse(struct tm_flow_words *w, struct rte_flow_field_data *data)
{
	const char *what = w->word + strlen("dst_");
	uint64_t v = 0;
	int ret;

	if (strcmp(what, "type") == 0) {
		ret = name_parse(w, "type", modify_fields, RTE_DIM(modify_fields));
		data->field = ret < 0 ? RTE_FLOW_FIELD_START : (enum rte_flow_field_id)ret;
		return ret < 0 ? ret : 0;
	}
	if (strcmp(what, "value") == 0) {
		ret = hex_parse(w, "value", data->value, sizeof(data->value));
		return ret < 0 ? ret : 0;
	}
	if (strcmp(what, "level") == 0) {
		ret = tm_flow_number(w, "level", UINT8_MAX, &v);
		data->level = v;
		return ret;
	}
	if (strcmp(what, "offset") == 0) {
		ret = tm_flow_number(w, "offset", UINT16_MAX, &v);
		data->offset = v;
		return ret;
	}
	return -ENOENT;
}

static int
modify_parse(struct tm_flow_words *w, struct tm_flow_rule *r __rte_unused, union tm_flow_conf *conf)
{
	uint64_t v = 0;
	int ret = 0;

	while (ret == 0 && !tm_flow_next_is(w, "/") && tm_flow_word_need(w, "/") != NULL) {
		if (strcmp(w->word, "op") == 0) {
			ret = name_parse(w, "op", modify_ops, RTE_DIM(modify_ops));
			conf->modify.operation = ret < 0 ? RTE_FLOW_MODIFY_SET : (enum rte_flow_modify_op)ret;
			ret = ret < 0 ? ret : 0;
		} else if (strcmp(w->word, "width") == 0) {
			ret = tm_flow_number(w, "width", UINT16_MAX, &v);
			conf->modify.width = v;
		} else if (strncmp(w->word, "dst_", 4) == 0) {
			ret = modify_data_parse(w, &conf->modify.dst);
		} else if (strncmp(w->word, "src_", 4) == 0) {
			ret = modify_data_parse(w, &conf->modify.src);
		} else {
			ret = -ENOENT;
		}
	}
	if (ret == -ENOENT)
		tm_error("flow: action modify_field has no '%s' (op, dst_ and src_ type level offset, src_value, width)",
			 w->word);
	return ret;
}

/* ------------------------------------------------------------------ all actions */

/* With fields, the first of which is needed unless it is optional; or with a function. */
static const struct action {
	const char *name;
	enum rte_flow_action_type type;
	struct tm_flow_field fields[3];
	int (*parse)(struct tm_flow_words *w, struct tm_flow_rule *r, union tm_flow_conf *conf);
	bool optional;
} actions[] = {
	{ "void", RTE_FLOW_ACTION_TYPE_VOID }, { "drop", RTE_FLOW_ACTION_TYPE_DROP },
	{ "queue", RTE_FLOW_ACTION_TYPE_QUEUE, { { "index", 0, 2, .host = true } } },
	{ "rss", RTE_FLOW_ACTION_TYPE_RSS, .parse = rss_parse },
	{ "jump", RTE_FLOW_ACTION_TYPE_JUMP, { { "group", 0, 4, .host = true } } },
	{ "mark", RTE_FLOW_ACTION_TYPE_MARK, { { "id", 0, 4, .host = true } } },
	{ "flag", RTE_FLOW_ACTION_TYPE_FLAG },
	{ "count", RTE_FLOW_ACTION_TYPE_COUNT, { { "identifier", 0, 4, .host = true } }, .optional = true },
	{ "age", RTE_FLOW_ACTION_TYPE_AGE, .parse = age_parse },
	{ "send_to_kernel", RTE_FLOW_ACTION_TYPE_SEND_TO_KERNEL },
	{ "indirect", RTE_FLOW_ACTION_TYPE_INDIRECT, .parse = indirect_parse },
	{ "modify_field", RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, .parse = modify_parse },
	{ "set_mac_src", RTE_FLOW_ACTION_TYPE_SET_MAC_SRC, { { "mac_addr", 0, 6, TM_FLOW_MAC } } },
	{ "set_mac_dst", RTE_FLOW_ACTION_TYPE_SET_MAC_DST, { { "mac_addr", 0, 6, TM_FLOW_MAC } } },
	{ "set_ipv4_src", RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC, { { "ipv4_addr", 0, 4, TM_FLOW_IPV4 } } },
	{ "set_ipv4_dst", RTE_FLOW_ACTION_TYPE_SET_IPV4_DST, { { "ipv4_addr", 0, 4, TM_FLOW_IPV4 } } },
	{ "set_ipv6_src", RTE_FLOW_ACTION_TYPE_SET_IPV6_SRC, { { "ipv6_addr", 0, 16, TM_FLOW_IPV6 } } },
	{ "set_ipv6_dst", RTE_FLOW_ACTION_TYPE_SET_IPV6_DST, { { "ipv6_addr", 0, 16, TM_FLOW_IPV6 } } },
	{ "set_ipv4_dscp", RTE_FLOW_ACTION_TYPE_SET_IPV4_DSCP, { { "dscp_value", 0, 1, .bits = 0x3f } } },
	{ "set_ipv6_dscp", RTE_FLOW_ACTION_TYPE_SET_IPV6_DSCP, { { "dscp_value", 0, 1, .bits = 0x3f } } },
	{ "set_tp_src", RTE_FLOW_ACTION_TYPE_SET_TP_SRC, { { "port", 0, 2 } } },
	{ "set_tp_dst", RTE_FLOW_ACTION_TYPE_SET_TP_DST, { { "port", 0, 2 } } },
	{ "set_ttl", RTE_FLOW_ACTION_TYPE_SET_TTL, { { "ttl_value", 0, 1 } } },
	{ "dec_ttl", RTE_FLOW_ACTION_TYPE_DEC_TTL },
	{ "set_tag", RTE_FLOW_ACTION_TYPE_SET_TAG,
	  { { "data", 0, 4, .host = true }, { "mask", 4, 4, .host = true }, { "index", 8, 1 } } },
	{ "set_meta", RTE_FLOW_ACTION_TYPE_SET_META, { { "data", 0, 4, .host = true }, { "mask", 4, 4, .host = true } } },
	{ "inc_tcp_seq", RTE_FLOW_ACTION_TYPE_INC_TCP_SEQ, { { "value", 0, 4 } } },
	{ "dec_tcp_seq", RTE_FLOW_ACTION_TYPE_DEC_TCP_SEQ, { { "value", 0, 4 } } },
	{ "inc_tcp_ack", RTE_FLOW_ACTION_TYPE_INC_TCP_ACK, { { "value", 0, 4 } } },
	{ "dec_tcp_ack", RTE_FLOW_ACTION_TYPE_DEC_TCP_ACK, { { "value", 0, 4 } } },
	{ "of_set_vlan_vid", RTE_FLOW_ACTION_TYPE_OF_SET_VLAN_VID, { { "vlan_vid", 0, 2 } } },
	{ "of_set_vlan_pcp", RTE_FLOW_ACTION_TYPE_OF_SET_VLAN_PCP, { { "vlan_pcp", 0, 1, .bits = 0x07 } } },
	{ "of_push_vlan", RTE_FLOW_ACTION_TYPE_OF_PUSH_VLAN, { { "ethertype", 0, 2 } } },
	{ "of_pop_vlan", RTE_FLOW_ACTION_TYPE_OF_POP_VLAN },
	{ "vxlan_decap", RTE_FLOW_ACTION_TYPE_VXLAN_DECAP }, { "nvgre_decap", RTE_FLOW_ACTION_TYPE_NVGRE_DECAP },
	{ "vxlan_encap", RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP, .parse = tunnel_parse },
	{ "nvgre_encap", RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP, .parse = tunnel_parse },
	{ "raw_decap", RTE_FLOW_ACTION_TYPE_RAW_DECAP, .parse = raw_decap_parse },
	{ "raw_encap", RTE_FLOW_ACTION_TYPE_RAW_ENCAP, .parse = raw_encap_parse },
};

/* "NAME VALUE" for each field that is given. */
static int
fields_parse(struct tm_flow_words *w, const struct action *a, union tm_flow_conf *conf)
{
	const struct tm_flow_field *f;

	if (a->fields[0].name != NULL && !a->optional && !tm_flow_next_is(w, a->fields[0].name)) {
		tm_error("flow: action %s: %s is missing", a->name, a->fields[0].name);
		return -EINVAL;
	}
	for (f = a->fields; f < a->fields + RTE_DIM(a->fields) && f->name != NULL; f++) {
		if (!tm_flow_next_is(w, f->name))
			continue;
		if (tm_flow_word(w) == NULL || tm_flow_word_need(w, f->name) == NULL ||
		    tm_flow_value(a->name, f, w->word, conf->bytes) != 0)
			return -EINVAL;
	}
	return 0;
}

static const struct action *
action_find(const char *name)
{
	(void)tm_flow_known(NULL);
	for (size_t i = 0; i < RTE_DIM(actions); i++) {
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
		(void)tm_flow_known(actions[i].name);
	}
	tm_error("flow: there is no action '%s' (%s)", name, tm_flow_known(""));
	return NULL;
}

const char *
tm_flow_action_name(enum rte_flow_action_type type)
{
	for (size_t i = 0; i < RTE_DIM(actions); i++)
		if (actions[i].type == type)
			return actions[i].name;
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
	if (a->parse != NULL || a->fields[0].name != NULL) {
		to->conf = conf;
		ret = a->parse != NULL ? a->parse(w, r, conf) : fields_parse(w, a, conf);
	}
	if (ret != 0)
		return -EINVAL;
	if (tm_flow_next_is(w, "/"))
		return tm_flow_word(w) != NULL ? 0 : -EINVAL;
	if (tm_flow_word_need(w, "/") != NULL)
		tm_error("flow: action %s: '%s' in place of /", a->name, w->word);
	return -EINVAL;
}

int
tm_flow_parse_actions(struct tm_flow_words *w, struct tm_flow_rule *r)
{
	int ret = 0;

	for (r->nb_actions = 0; ret == 0; r->nb_actions++) {
		if (tm_flow_word_need(w, "an action") == NULL)
			return -EINVAL;
		if (strcmp(w->word, "end") == 0)
			break;
		ret = action_parse(w, r);
	}
	if (ret != 0)
		return ret;
	r->actions[r->nb_actions].type = RTE_FLOW_ACTION_TYPE_END;
	if (tm_flow_word(w) != NULL) {
		tm_error("flow: '%s' behind the end", w->word);
		ret = -EINVAL;
	}
	return ret;
}
