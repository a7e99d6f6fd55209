/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The text of flows: patterns and actions of rte_flow in the syntax of testpmd's `flow` commands.
 */

#ifndef TM_FLOW_PARSE_H
#define TM_FLOW_PARSE_H

#include <rte_flow.h>

#include "tm.h"

#define TM_FLOW_ITEMS 16	/* with END */
#define TM_FLOW_ACTIONS 16	/* with END */
#define TM_FLOW_ITEM_BYTES 64
#define TM_FLOW_KEY_BYTES 64
#define TM_FLOW_TUNNEL_ITEMS 5	/* with END */

/** The words of a line, separated by blanks. */
struct tm_flow_words {
	const char *next;
	char word[160];	/**< the last one; longer words are cut off and no word of the syntax */
};

/** A field of an item or of an action's configuration. */
struct tm_flow_field {
	const char *name;
	uint8_t at, bytes;
	uint8_t kind;			/**< TM_FLOW_* */
	bool host;			/**< in the byte order of the host, not in big endian */
	uint32_t bits;			/**< of the bytes, as a number; 0: all */
	void (*flag)(void *item);	/**< sets the bit of a flag; instead of at and bytes */
};
enum { TM_FLOW_NUMBER, TM_FLOW_MAC, TM_FLOW_IPV4, TM_FLOW_IPV6 };

/** Configuration of an action. */
union tm_flow_conf {
	uint8_t bytes[64];
	uint64_t align;
	struct rte_flow_action_rss rss;
	struct rte_flow_action_age age;
	struct rte_flow_action_modify_field modify;
	struct rte_flow_action_raw_encap encap;
	struct rte_flow_action_raw_decap decap;
	struct rte_flow_action_vxlan_encap vxlan;
	struct rte_flow_action_nvgre_encap nvgre;
};

/** A parsed rule; pattern and actions point into it. */
struct tm_flow_rule {
	uint16_t port_id;
	struct rte_flow_attr attr;
	unsigned int nb_items, nb_actions;
	struct rte_flow_item items[TM_FLOW_ITEMS];
	struct rte_flow_action actions[TM_FLOW_ACTIONS];
	union {
		uint64_t align;
		uint8_t bytes[TM_FLOW_ITEM_BYTES];
	} spec[TM_FLOW_ITEMS], last[TM_FLOW_ITEMS], mask[TM_FLOW_ITEMS];
	union tm_flow_conf conf[TM_FLOW_ACTIONS];
	uint16_t queues[TM_MAX_QUEUES];
	uint8_t key[TM_FLOW_KEY_BYTES];		/**< of rss */
	uint8_t headers[TM_FLOW_KEY_BYTES];	/**< of raw_encap */
	struct {
		struct rte_flow_item items[TM_FLOW_TUNNEL_ITEMS];
		union {
			uint64_t align;
			uint8_t bytes[TM_FLOW_ITEM_BYTES];
		} spec[TM_FLOW_TUNNEL_ITEMS];
	} tunnel;				/**< of vxlan_encap, nvgre_encap */
	/** Indirect action by its number; NULL: there is none. */
	struct rte_flow_action_handle *(*handle)(uint16_t port_id, uint32_t id);
	void *age_context;	/**< of the action age */
};

/** Read the next word into w->word; NULL at the end of the line. */
const char *tm_flow_word(struct tm_flow_words *w);
/** Whether a word follows, without reading it. */
bool tm_flow_next_is(const struct tm_flow_words *w, const char *word);
/** Read the next word; NULL after tm_error(), which names what. */
const char *tm_flow_word_need(struct tm_flow_words *w, const char *what);
/** Add a name to the list of known ones for a message, nothing if it is "", or begin it with NULL; the list. */
const char *tm_flow_known(const char *name);
/** Write the value of a field; -EINVAL after tm_error(), which names the item or action. */
int tm_flow_value(const char *of, const struct tm_flow_field *f, const char *text, uint8_t *item);
/** Read a number; -EINVAL after tm_error(), which names what. */
int tm_flow_number(struct tm_flow_words *w, const char *what, uint64_t max, uint64_t *value);
/**
 * Read "[group N] [priority N] [ingress] [egress] [transfer] pattern ITEM / ... end actions ACTION / ... end" for
 * r->port_id; handle and age_context are set. 0, or -EINVAL after tm_error().
 */
int tm_flow_parse(struct tm_flow_words *w, struct tm_flow_rule *r);
/** Read "ACTION / end", likewise. */
int tm_flow_parse_actions(struct tm_flow_words *w, struct tm_flow_rule *r);
/** NULL: it is none that is parsed. */
const char *tm_flow_action_name(enum rte_flow_action_type type);
/** Print the names of items and actions: "ETH IPV4 => QUEUE". */
void tm_flow_summary(const struct tm_flow_rule *r, char *text, size_t size);

#endif
