/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Command flow: flows and indirect actions of rte_flow, with the syntax and the output of testpmd's.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_flow.h>

#include "cmds.h"
#include "flow_parse.h"

#define FLOW_USAGE \
	"flow validate|create P [group N] [priority N] ingress pattern ITEM [FIELD is|spec|last|mask VALUE] / ... end " \
	"actions ACTION / ... end | destroy P rule N ... | flush P | list P [group N] | query P RULE count|age | " \
	"isolate P 0|1 | dump P all|rule N [FILE] | aged P [destroy] | " \
	"indirect_action P create [action_id N] ingress action ACTION / end | indirect_action P destroy action_id N | " \
	"indirect_action P update N action ACTION / end | indirect_action P query N: flows, as in testpmd"

struct flow {
	TAILQ_ENTRY(flow) next;
	uint32_t id;
	struct rte_flow *flow;
	struct rte_flow_attr attr;
	char text[256];
};

struct indirect {
	TAILQ_ENTRY(indirect) next;
	uint32_t id;
	struct rte_flow_action_handle *handle;
	enum rte_flow_action_type type;
};

/* Of each port, oldest first. */
static struct port_flows {
	TAILQ_HEAD(flow_list, flow) flows;
	TAILQ_HEAD(indirect_list, indirect) indirect;
} port_flows[RTE_MAX_ETHPORTS];

/* An unused list is zeroed memory. */
static struct port_flows *
flows_of(uint16_t port_id)
{
	struct port_flows *p = &port_flows[port_id];

	if (p->flows.tqh_last == NULL) {
		TAILQ_INIT(&p->flows);
		TAILQ_INIT(&p->indirect);
	}
	return p;
}

/* ret is what the function of rte_flow returned, or the negative rte_errno. */
static int
refused(uint16_t port_id, const char *what, int ret, const struct rte_flow_error *error)
{
	tm_error("port %u: flow %s refused: %s (%s, error type %d)", port_id, what,
		 error->message != NULL ? error->message : "the driver gives no reason", rte_strerror(-ret),
		 error->type);
	return ret != 0 ? ret : -EINVAL;
}

static struct flow *
flow_find(uint16_t port_id, uint32_t id)
{
	struct flow *f;

	TAILQ_FOREACH(f, &flows_of(port_id)->flows, next)
		if (f->id == id)
			return f;
	tm_error("port %u has no flow rule #%u", port_id, id);
	return NULL;
}

static struct indirect *
indirect_find(uint16_t port_id, uint32_t id)
{
	struct indirect *a;

	TAILQ_FOREACH(a, &flows_of(port_id)->indirect, next)
		if (a->id == id)
			return a;
	return NULL;
}

static struct rte_flow_action_handle *
indirect_handle(uint16_t port_id, uint32_t id)
{
	const struct indirect *a = indirect_find(port_id, id);

	return a != NULL ? a->handle : NULL;
}

static int
line_end(struct tm_flow_words *w)
{
	if (tm_flow_word(w) == NULL)
		return 0;
	tm_error("flow: '%s' behind the end", w->word);
	return -EINVAL;
}

/* ------------------------------------------------------------------ rules */

/* The parsed rule; free() it. NULL after tm_error(). */
static struct tm_flow_rule *
rule_parse(uint16_t port_id, struct tm_flow_words *w, void *age_context)
{
	struct tm_flow_rule *r = calloc(1, sizeof(*r));

	if (r == NULL) {
		tm_error("no memory for a flow");
		return NULL;
	}
	r->port_id = port_id;
	r->handle = indirect_handle;
	r->age_context = age_context;
	if (tm_flow_parse(w, r) == 0)
		return r;
	free(r);
	return NULL;
}

static int
flow_validate(uint16_t port_id, struct tm_flow_words *w)
{
	struct tm_flow_rule *r = rule_parse(port_id, w, NULL);
	struct rte_flow_error error = { 0 };
	int ret;

	if (r == NULL)
		return -EINVAL;
	ret = rte_flow_validate(port_id, &r->attr, r->items, r->actions, &error);
	free(r);
	if (ret != 0)
		return refused(port_id, "rule", ret, &error);
	printf("Flow rule validated\n");
	return 0;
}

static int
flow_create(uint16_t port_id, struct tm_flow_words *w)
{
	struct port_flows *p = flows_of(port_id);
	const struct flow *last = TAILQ_LAST(&p->flows, flow_list);
	struct flow *f = calloc(1, sizeof(*f));
	struct rte_flow_error error = { 0 };
	struct tm_flow_rule *r = f != NULL ? rule_parse(port_id, w, f) : NULL;
	int ret = -EINVAL;

	if (r != NULL) {
		f->id = last != NULL ? last->id + 1 : 0;
		f->attr = r->attr;
		tm_flow_summary(r, f->text, sizeof(f->text));
		f->flow = rte_flow_create(port_id, &r->attr, r->items, r->actions, &error);
		ret = f->flow != NULL ? 0 : refused(port_id, "rule", -rte_errno, &error);
	}
	free(r);
	if (ret != 0) {
		free(f);
		return ret;
	}
	TAILQ_INSERT_TAIL(&p->flows, f, next);
	printf("Flow rule #%u created\n", f->id);
	return 0;
}

static int
flow_remove(uint16_t port_id, struct flow *f)
{
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_destroy(port_id, f->flow, &error);

	if (ret != 0)
		return refused(port_id, "destroy", ret, &error);
	printf("Flow rule #%u destroyed\n", f->id);
	TAILQ_REMOVE(&flows_of(port_id)->flows, f, next);
	free(f);
	return 0;
}

/* "rule N" once or several times. */
static int
flow_destroy(uint16_t port_id, struct tm_flow_words *w)
{
	uint64_t id;
	struct flow *f;
	int ret = -EINVAL;

	while (tm_flow_word(w) != NULL) {
		if (strcmp(w->word, "rule") != 0) {
			tm_error("flow destroy: '%s' in place of rule", w->word);
			return -EINVAL;
		}
		ret = tm_flow_number(w, "rule", UINT32_MAX, &id);
		if (ret != 0)
			return ret;
		f = flow_find(port_id, id);
		ret = f != NULL ? flow_remove(port_id, f) : -ENOENT;
		if (ret != 0)
			return ret;
	}
	if (ret == -EINVAL)
		tm_error("flow destroy: rule N is missing");
	return ret;
}

static void
flows_forget(uint16_t port_id)
{
	struct port_flows *p = flows_of(port_id);
	struct flow *f;

	while ((f = TAILQ_FIRST(&p->flows)) != NULL) {
		TAILQ_REMOVE(&p->flows, f, next);
		free(f);
	}
}

static int
flow_flush(uint16_t port_id, struct tm_flow_words *w)
{
	struct rte_flow_error error = { 0 };
	int ret = line_end(w);

	if (ret != 0)
		return ret;
	ret = rte_flow_flush(port_id, &error);
	if (ret != 0)
		return refused(port_id, "flush", ret, &error);
	flows_forget(port_id);
	return 0;
}

static int
flow_list(uint16_t port_id, struct tm_flow_words *w)
{
	uint64_t group = UINT64_MAX;
	const struct flow *f;

	if (tm_flow_word(w) != NULL) {
		if (strcmp(w->word, "group") != 0) {
			tm_error("flow list: '%s' in place of group", w->word);
			return -EINVAL;
		}
		if (tm_flow_number(w, "group", UINT32_MAX, &group) != 0 || line_end(w) != 0)
			return -EINVAL;
	}
	printf("ID\tGroup\tPrio\tAttr\tRule\n");
	TAILQ_FOREACH(f, &flows_of(port_id)->flows, next)
		if (group == UINT64_MAX || f->attr.group == group)
			printf("%u\t%u\t%u\t%c%c%c\t%s\n", f->id, f->attr.group, f->attr.priority,
			       f->attr.ingress ? 'i' : '-', f->attr.egress ? 'e' : '-',
			       f->attr.transfer ? 't' : '-', f->text);
	return 0;
}

/* ------------------------------------------------------------------ what the device knows of them */

static void
count_print(const struct rte_flow_query_count *c)
{
	printf("COUNT:\n hits_set: %u\n bytes_set: %u\n hits: %" PRIu64 "\n bytes: %" PRIu64 "\n", c->hits_set,
	       c->bytes_set, c->hits, c->bytes);
}

static int
flow_query(uint16_t port_id, struct tm_flow_words *w)
{
	struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_query_count count = { 0 };
	struct rte_flow_query_age age = { 0 };
	struct rte_flow_error error = { 0 };
	struct flow *f;
	bool is_age;
	uint64_t id;
	int ret;

	if (tm_flow_number(w, "rule", UINT32_MAX, &id) != 0)
		return -EINVAL;
	f = flow_find(port_id, id);
	if (f == NULL)
		return -ENOENT;
	is_age = tm_flow_word(w) != NULL && strcmp(w->word, "age") == 0;
	if (!is_age && strcmp(w->word, "count") != 0) {
		tm_error("flow query: count or age, not '%s'", w->word);
		return -EINVAL;
	}
	if (line_end(w) != 0)
		return -EINVAL;
	if (is_age)
		actions[0].type = RTE_FLOW_ACTION_TYPE_AGE;
	ret = rte_flow_query(port_id, f->flow, actions, is_age ? (void *)&age : &count, &error);
	if (ret != 0)
		return refused(port_id, "query", ret, &error);
	if (is_age)
		printf("AGE:\n aged: %u\n sec_since_last_hit_valid: %u\n sec_since_last_hit: %u\n", age.aged,
		       age.sec_since_last_hit_valid, age.sec_since_last_hit);
	else
		count_print(&count);
	return 0;
}

static int
flow_isolate(uint16_t port_id, struct tm_flow_words *w)
{
	struct rte_flow_error error = { 0 };
	uint64_t on;
	int ret;

	if (tm_flow_number(w, "isolate", 1, &on) != 0 || line_end(w) != 0)
		return -EINVAL;
	ret = rte_flow_isolate(port_id, on, &error);
	if (ret != 0)
		return refused(port_id, "isolate", ret, &error);
	printf("Ingress traffic on port %u is %s to the defined flow rules\n", port_id,
	       on ? "now restricted" : "not restricted anymore");
	return 0;
}

static int
flow_dump(uint16_t port_id, struct tm_flow_words *w)
{
	struct rte_flow_error error = { 0 };
	struct flow *f = NULL;
	FILE *out = stdout;
	uint64_t id;
	int ret;

	if (tm_flow_word(w) == NULL || (strcmp(w->word, "all") != 0 && strcmp(w->word, "rule") != 0)) {
		tm_error("flow dump: all or rule N, not '%s'", w->word);
		return -EINVAL;
	}
	if (strcmp(w->word, "rule") == 0) {
		if (tm_flow_number(w, "rule", UINT32_MAX, &id) != 0)
			return -EINVAL;
		f = flow_find(port_id, id);
		if (f == NULL)
			return -ENOENT;
	}
	if (tm_flow_word(w) != NULL) {
		out = fopen(w->word, "w");
		if (out == NULL) {
			tm_error("cannot write '%s': %s", w->word, strerror(errno));
			return -errno;
		}
	}
	ret = rte_flow_dev_dump(port_id, f != NULL ? f->flow : NULL, out, &error);
	if (out != stdout)
		fclose(out);
	return ret != 0 ? refused(port_id, "dump", ret, &error) : 0;
}

/* The context of an aged flow is the flow. */
static int
flow_aged(uint16_t port_id, struct tm_flow_words *w)
{
	bool destroy = tm_flow_word(w) != NULL;
	struct rte_flow_error error = { 0 };
	void *contexts[1024];
	int n, ret = 0;

	if (destroy && strcmp(w->word, "destroy") != 0) {
		tm_error("flow aged: '%s' in place of destroy", w->word);
		return -EINVAL;
	}
	n = rte_flow_get_aged_flows(port_id, contexts, RTE_DIM(contexts), &error);
	if (n < 0)
		return refused(port_id, "aged", n, &error);
	printf("Port %u total aged flows: %d\n", port_id, n);
	for (int i = 0; i < n; i++) {
		struct flow *f = contexts[i];

		printf("Flow\t%u\t%u\t%u\t%s\n", f->id, f->attr.group, f->attr.priority, f->text);
		if (destroy && ret == 0)
			ret = flow_remove(port_id, f);
	}
	return ret;
}

/* ------------------------------------------------------------------ indirect actions */

static int
indirect_parse_conf(struct tm_flow_words *w, struct rte_flow_indir_action_conf *conf, uint64_t *id)
{
	while (tm_flow_word(w) != NULL && strcmp(w->word, "action") != 0) {
		if (strcmp(w->word, "ingress") == 0) {
			conf->ingress = 1;
		} else if (strcmp(w->word, "egress") == 0) {
			conf->egress = 1;
		} else if (strcmp(w->word, "transfer") == 0) {
			conf->transfer = 1;
		} else if (strcmp(w->word, "action_id") != 0) {
			tm_error("flow indirect_action: '%s': action_id, ingress, egress, transfer and action are known",
				 w->word);
			return -EINVAL;
		} else if (tm_flow_number(w, "action_id", UINT32_MAX, id) != 0) {
			return -EINVAL;
		}
	}
	if (strcmp(w->word, "action") == 0)
		return 0;
	tm_error("flow indirect_action: action is missing");
	return -EINVAL;
}

static int
indirect_create(uint16_t port_id, struct tm_flow_words *w)
{
	const struct indirect *last = TAILQ_LAST(&flows_of(port_id)->indirect, indirect_list);
	uint64_t id = last != NULL ? last->id + 1 : 0;
	struct rte_flow_indir_action_conf conf = { 0 };
	struct tm_flow_rule *r = calloc(1, sizeof(*r));
	struct indirect *a = calloc(1, sizeof(*a));
	struct rte_flow_error error = { 0 };
	int ret = r != NULL && a != NULL ? indirect_parse_conf(w, &conf, &id) : -ENOMEM;

	if (ret == 0 && indirect_find(port_id, id) != NULL) {
		tm_error("port %u has an indirect action #%" PRIu64, port_id, id);
		ret = -EEXIST;
	}
	if (ret == 0) {
		r->port_id = port_id;
		r->handle = indirect_handle;
		ret = tm_flow_parse_actions(w, r);
	}
	if (ret == 0) {
		a->id = id;
		a->type = r->actions[0].type;
		a->handle = rte_flow_action_handle_create(port_id, &conf, r->actions, &error);
		ret = a->handle != NULL ? 0 : refused(port_id, "indirect action", -rte_errno, &error);
	}
	free(r);
	if (ret != 0) {
		free(a);
		return ret;
	}
	TAILQ_INSERT_TAIL(&flows_of(port_id)->indirect, a, next);
	printf("Indirect action #%u created\n", a->id);
	return 0;
}

/* "action_id N" to destroy, "N" to update or query. */
static int
indirect_of(uint16_t port_id, struct tm_flow_words *w, struct indirect **a)
{
	uint64_t id;

	if (tm_flow_number(w, "indirect action", UINT32_MAX, &id) != 0)
		return -EINVAL;
	*a = indirect_find(port_id, id);
	if (*a != NULL)
		return 0;
	tm_error("port %u has no indirect action #%" PRIu64, port_id, id);
	return -ENOENT;
}

static int
indirect_destroy(uint16_t port_id, struct tm_flow_words *w)
{
	struct rte_flow_error error = { 0 };
	struct indirect *a;
	int ret;

	if (tm_flow_word(w) == NULL || strcmp(w->word, "action_id") != 0) {
		tm_error("flow indirect_action destroy: action_id N is missing");
		return -EINVAL;
	}
	ret = indirect_of(port_id, w, &a);
	if (ret == 0)
		ret = line_end(w);
	if (ret != 0)
		return ret;
	ret = rte_flow_action_handle_destroy(port_id, a->handle, &error);
	if (ret != 0)
		return refused(port_id, "indirect action", ret, &error);
	printf("Indirect action #%u destroyed\n", a->id);
	TAILQ_REMOVE(&flows_of(port_id)->indirect, a, next);
	free(a);
	return 0;
}

/* "N action ACTION / end". */
static int
indirect_update(uint16_t port_id, struct tm_flow_words *w)
{
	struct tm_flow_rule *r = calloc(1, sizeof(*r));
	struct rte_flow_error error = { 0 };
	struct indirect *a;
	int ret = r != NULL ? indirect_of(port_id, w, &a) : -ENOMEM;

	if (ret == 0 && (tm_flow_word_need(w, "action") == NULL || strcmp(w->word, "action") != 0)) {
		tm_error("flow indirect_action update: action is missing");
		ret = -EINVAL;
	}
	if (ret == 0) {
		r->port_id = port_id;
		r->handle = indirect_handle;
		ret = tm_flow_parse_actions(w, r);
	}
	if (ret == 0) {
		ret = rte_flow_action_handle_update(port_id, a->handle, r->actions, &error);
		if (ret != 0)
			(void)refused(port_id, "indirect action", ret, &error);
		else
			printf("Indirect action #%u updated\n", a->id);
	}
	free(r);
	return ret;
}

static int
indirect_query(uint16_t port_id, struct tm_flow_words *w)
{
	struct rte_flow_query_count count = { 0 };
	struct rte_flow_error error = { 0 };
	struct indirect *a;
	int ret = indirect_of(port_id, w, &a);

	if (ret == 0)
		ret = line_end(w);
	if (ret != 0)
		return ret;
	if (a->type != RTE_FLOW_ACTION_TYPE_COUNT) {
		tm_error("flow indirect_action query: #%u is not count", a->id);
		return -ENOTSUP;
	}
	ret = rte_flow_action_handle_query(port_id, a->handle, &count, &error);
	if (ret != 0)
		return refused(port_id, "indirect action", ret, &error);
	count_print(&count);
	return 0;
}

static const struct verb {
	const char *name;
	int (*run)(uint16_t port_id, struct tm_flow_words *w);
} verbs[] = {
	{ "validate", flow_validate }, { "create", flow_create }, { "destroy", flow_destroy }, { "flush", flow_flush },
	{ "list", flow_list }, { "query", flow_query }, { "isolate", flow_isolate }, { "dump", flow_dump },
	{ "aged", flow_aged },
}, indirect_verbs[] = {
	{ "create", indirect_create }, { "destroy", indirect_destroy }, { "update", indirect_update },
	{ "query", indirect_query },
};

static const struct verb *
verb_find(const struct verb *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name) == 0)
			return &v[i];
	return NULL;
}

static int
flow_run(struct tm_app *app, struct tm_words *words)
{
	struct tm_flow_words w = { .next = words->rest };
	const struct verb *v = verb_find(verbs, RTE_DIM(verbs), words->w[1]);
	uint64_t port_id;

	if (tm_flow_number(&w, "port", RTE_MAX_ETHPORTS - 1, &port_id) != 0)
		return -EINVAL;
	if (!tm_port_used(app, port_id)) {
		tm_error("no port '%s'", w.word);
		return -ENODEV;
	}
	if (v == NULL) {
		v = tm_flow_word(&w) != NULL ? verb_find(indirect_verbs, RTE_DIM(indirect_verbs), w.word) : NULL;
		if (v == NULL) {
			tm_error("flow indirect_action: create, destroy, update or query, not '%s'", w.word);
			return -EINVAL;
		}
	}
	return v->run(port_id, &w);
}

TM_WORD(flow_word, 0, "flow");
TM_WORD(flow_what, 1, "validate#create#destroy#flush#list#query#isolate#dump#aged#indirect_action");
TM_REST(flow_rest);
TM_CMD(tm_cmd_flow, flow_run, FLOW_USAGE, TM_TOKEN(flow_word), TM_TOKEN(flow_what), TM_TOKEN(flow_rest));

void
tm_flows_free(void)
{
	struct indirect *a;

	for (uint16_t i = 0; i < RTE_MAX_ETHPORTS; i++) {
		flows_forget(i);
		while ((a = TAILQ_FIRST(&flows_of(i)->indirect)) != NULL) {
			TAILQ_REMOVE(&flows_of(i)->indirect, a, next);
			free(a);
		}
	}
}
