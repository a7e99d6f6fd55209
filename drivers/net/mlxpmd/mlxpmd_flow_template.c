/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: templates of patterns and actions, and tables of flows that are made from them. */

#include <stdlib.h>

#include <mdv_compat.h>

#include "mlxpmd_flow_async.h"

/** A copy of a list of items or actions in one piece of memory. NULL: *error is set. */
static void *
list_copy(const struct mlxpmd_port *port, enum rte_flow_conv_op op, const void *list, struct rte_flow_error *error)
{
	int bytes = rte_flow_conv(op, NULL, 0, list, error);
	void *copy = bytes > 0 ? mlxpmd_flow_zalloc(port, bytes) : NULL;

	if (copy != NULL && rte_flow_conv(op, copy, bytes, list, error) == bytes)
		return copy;
	if (bytes > 0)
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					 "no memory for a template");
	free(copy);
	return NULL;
}

static int
template_busy(unsigned int users, const void *template, struct rte_flow_error *error)
{
	return mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, template,
				  "%u tables use the template", users);
}

/* ------------------------------------------------------------------ patterns */

/** Fields are matched where there is a mask; without one the item matches its presence. */
static int
items_take(const struct mlxpmd_port *port, struct rte_flow_pattern_template *t, const struct rte_flow_item *items,
	   struct rte_flow_error *error)
{
	static const uint8_t zeros[64];

	t->items = list_copy(port, RTE_FLOW_CONV_OP_PATTERN, items, error);
	if (t->items == NULL)
		return -rte_errno;
	for (struct rte_flow_item *item = t->items;; item++) {
		if (item->last == NULL)
			item->spec = item->mask != NULL ? zeros : NULL;
		if (++t->nb_items > MLXPMD_FLOW_LIST_MAX)
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_NUM, NULL,
						  "a pattern of more than %u items", MLXPMD_FLOW_LIST_MAX);
		if (item->type == RTE_FLOW_ITEM_TYPE_END)
			return 0;
	}
}

static void
pattern_free(struct rte_flow_pattern_template *t)
{
	free(t->copies.copy);
	free(t->items);
	free(t);
}

static struct rte_flow_pattern_template *
pattern_new(struct mlxpmd_port *port, const struct rte_flow_pattern_template_attr *attr,
	    const struct rte_flow_item *items, struct rte_flow_error *error)
{
	struct rte_flow_pattern_template *t;

	if (mlxpmd_flow_direction_check(attr->ingress, attr->egress, attr->transfer, attr, error) != 0)
		return NULL;
	t = mlxpmd_flow_zalloc(port, sizeof(*t));
	if (t == NULL) {
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					 "no memory for a template");
		return NULL;
	}
	t->egress = attr->egress;
	t->relaxed = attr->relaxed_matching;
	if (items_take(port, t, items, error) == 0 &&
	    mlxpmd_flow_pattern_compile(port, t->items, t->egress, t->relaxed, &t->copies, &t->pattern, error) == 0)
		return t;
	pattern_free(t);
	return NULL;
}

struct rte_flow_pattern_template *
mlxpmd_flow_pattern_template_create(struct rte_eth_dev *eth_dev, const struct rte_flow_pattern_template_attr *attr,
				    const struct rte_flow_item items[], struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_flow_pattern_template *t;

	pthread_mutex_lock(&port->lock);
	t = pattern_new(port, attr, items, error);
	if (t != NULL)
		TAILQ_INSERT_TAIL(&port->flows->pattern_templates, t, next);
	pthread_mutex_unlock(&port->lock);
	return t;
}

static void
pattern_remove(struct mlxpmd_port *port, struct rte_flow_pattern_template *t)
{
	TAILQ_REMOVE(&port->flows->pattern_templates, t, next);
	pattern_free(t);
}

int
mlxpmd_flow_pattern_template_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_pattern_template *template,
				     struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc = 0;

	pthread_mutex_lock(&port->lock);
	if (template->users != 0)
		rc = template_busy(template->users, template, error);
	else
		pattern_remove(port, template);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

/** The template's items with the values of a flow. */
static int
items_merge(const struct rte_flow_pattern_template *t, const struct rte_flow_item *items, struct rte_flow_item *merged,
	    struct rte_flow_error *error)
{
	for (uint16_t i = 0; i < t->nb_items; i++) {
		merged[i] = t->items[i];
		if (items[i].type != merged[i].type)
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, &items[i],
						  "item %u is %s in the template", i,
						  mlxpmd_flow_name(RTE_FLOW_CONV_OP_ITEM_NAME_PTR, merged[i].type));
		if (merged[i].mask == NULL || merged[i].last != NULL)
			continue;
		if (items[i].spec == NULL)
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, &items[i],
						  "item %u has no values, but a mask in the template", i);
		merged[i].spec = items[i].spec;
	}
	return 0;
}

/** What a flow matches: the template's match, with the bytes of its own items. */
static int
pattern_compile(struct mlxpmd_port *port, const struct rte_flow_pattern_template *t, const struct rte_flow_item *items,
		struct mlxpmd_flow_pattern *pattern, struct rte_flow_error *error)
{
	struct rte_flow_item merged[MLXPMD_FLOW_LIST_MAX];
	int rc = items_merge(t, items, merged, error);

	if (rc != 0)
		return rc;
	if (t->copies.by_value)
		return mlxpmd_flow_pattern_compile(port, merged, t->egress, t->relaxed, NULL, pattern, error);
	*pattern = t->pattern;
	for (unsigned int i = 0; i < t->copies.n; i++) {
		const struct mlxpmd_flow_copy *c = &t->copies.copy[i];
		uint8_t *to = (uint8_t *)&pattern->match.value + c->to;

		*to = (uint8_t)((*to & ~c->mask) | (((const uint8_t *)merged[c->item].spec)[c->from] & c->mask));
	}
	return 0;
}

/* ------------------------------------------------------------------ actions */

/** A configuration, and the fields of it that can be constant each on its own; without fields it is as a whole. */
struct conf_form {
	enum rte_flow_action_type type;
	uint8_t bytes;
	struct {
		uint8_t at, bytes;
	} field[2];
};
#define FIELD(type, name) { offsetof(struct type, name), sizeof(((struct type *)NULL)->name) }
static const struct conf_form conf_forms[] = {
	{ RTE_FLOW_ACTION_TYPE_QUEUE, sizeof(struct rte_flow_action_queue), { FIELD(rte_flow_action_queue, index) } },
	{ RTE_FLOW_ACTION_TYPE_MARK, sizeof(struct rte_flow_action_mark), { FIELD(rte_flow_action_mark, id) } },
	{ RTE_FLOW_ACTION_TYPE_JUMP, sizeof(struct rte_flow_action_jump), { FIELD(rte_flow_action_jump, group) } },
	{ RTE_FLOW_ACTION_TYPE_COUNT, sizeof(struct rte_flow_action_count), { FIELD(rte_flow_action_count, id) } },
	/* The timeout is a bit field, alone in its word. */
	{ RTE_FLOW_ACTION_TYPE_AGE, sizeof(struct rte_flow_action_age),
	  { { 0, sizeof(uint32_t) }, FIELD(rte_flow_action_age, context) } },
	{ RTE_FLOW_ACTION_TYPE_RSS, sizeof(struct rte_flow_action_rss), { { 0, 0 } } },
};

/** bytes 0: the action has no configuration. */
static struct conf_form
conf_form(enum rte_flow_action_type type)
{
	const int bytes = mlxpmd_flow_change_conf(type);

	for (unsigned int i = 0; i < RTE_DIM(conf_forms); i++)
		if (conf_forms[i].type == type)
			return conf_forms[i];
	return (struct conf_form){ .type = type, .bytes = RTE_MAX(bytes, 0) };
}

static bool
has_bits(const uint8_t *mask, size_t at, size_t bytes)
{
	for (size_t i = at; i < at + bytes; i++)
		if (mask[i] != 0)
			return true;
	return false;
}

/**
 * An action of a flow: what has a bit in the mask is the template's, as the whole is if the flow gives nothing. An
 * indirect action has the type of what it refers to as its mask.
 */
static void
action_merge(const struct rte_flow_action *constant, const struct rte_flow_action *mask,
	     const struct rte_flow_action *given, struct rte_flow_action *merged, union mlxpmd_flow_conf *conf)
{
	const struct conf_form form = conf_form(constant->type);
	const uint8_t *c = constant->conf, *m = mask->conf;

	*merged = *given;
	if (form.bytes == 0 || mask->type != constant->type || c == NULL || m == NULL)
		return;
	if (given->conf == NULL || (form.field[0].bytes == 0 && has_bits(m, 0, form.bytes)))
		merged->conf = constant->conf;
	if (given->conf == NULL || form.field[0].bytes == 0)
		return;
	memcpy(conf->bytes, given->conf, form.bytes);
	for (unsigned int i = 0; i < RTE_DIM(form.field); i++)
		if (has_bits(m, form.field[i].at, form.field[i].bytes))
			memcpy(conf->bytes + form.field[i].at, c + form.field[i].at, form.field[i].bytes);
	merged->conf = conf;
}

/** What the copy of a template only points to may be freed when a flow is created. */
static int
constant_check(const struct rte_flow_action *action, const struct rte_flow_action *mask, struct rte_flow_error *error)
{
	const struct rte_flow_action_modify_field *modify = action->conf;

	if (action->conf == NULL || mask->conf == NULL ||
	    (action->type != RTE_FLOW_ACTION_TYPE_RAW_ENCAP && action->type != RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP &&
	     action->type != RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP &&
	     (action->type != RTE_FLOW_ACTION_TYPE_MODIFY_FIELD || modify->src.field != RTE_FLOW_FIELD_POINTER)))
		return 0;
	return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF, action,
				  "what action %s points to cannot be constant: leave out the configuration of its mask",
				  mlxpmd_flow_name(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, action->type));
}

static int
actions_merge(const struct rte_flow_actions_template *t, const struct rte_flow_action *actions,
	      struct mlxpmd_flow_merged *merged, struct rte_flow_error *error)
{
	for (uint16_t i = 0; i < t->nb_actions; i++) {
		if (actions[i].type != t->actions[i].type)
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, &actions[i],
						  "action %u is %s in the template", i,
						  mlxpmd_flow_name(RTE_FLOW_CONV_OP_ACTION_NAME_PTR,
								   t->actions[i].type));
		action_merge(&t->actions[i], &t->masks[i], &actions[i], &merged->actions[i], &merged->confs[i]);
	}
	return 0;
}

static int
actions_take(const struct mlxpmd_port *port, struct rte_flow_actions_template *t,
	     const struct rte_flow_action *actions, const struct rte_flow_action *masks, struct rte_flow_error *error)
{
	t->actions = list_copy(port, RTE_FLOW_CONV_OP_ACTIONS, actions, error);
	t->masks = list_copy(port, RTE_FLOW_CONV_OP_ACTIONS, masks, error);
	if (t->actions == NULL || t->masks == NULL)
		return -rte_errno;
	for (const struct rte_flow_action *action = t->actions;; action++) {
		const struct rte_flow_action *mask = &t->masks[t->nb_actions++];

		if (t->nb_actions > MLXPMD_FLOW_LIST_MAX)
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
						  "a list of more than %u actions", MLXPMD_FLOW_LIST_MAX);
		if (mask->type != action->type &&
		    (action->type != RTE_FLOW_ACTION_TYPE_INDIRECT || mask->type == RTE_FLOW_ACTION_TYPE_END))
			return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, mask,
						  "the masks have another action at position %u", t->nb_actions - 1);
		if (action->type == RTE_FLOW_ACTION_TYPE_END)
			return 0;
		if (mlxpmd_flow_action_known(action, t->egress, error) != 0 || constant_check(action, mask, error) != 0)
			return -rte_errno;
	}
}

static void
actions_free(struct rte_flow_actions_template *t)
{
	free(t->actions);
	free(t->masks);
	free(t);
}

static struct rte_flow_actions_template *
actions_new(struct mlxpmd_port *port, const struct rte_flow_actions_template_attr *attr,
	    const struct rte_flow_action *actions, const struct rte_flow_action *masks, struct rte_flow_error *error)
{
	struct rte_flow_actions_template *t;

	if (mlxpmd_flow_direction_check(attr->ingress, attr->egress, attr->transfer, attr, error) != 0)
		return NULL;
	t = mlxpmd_flow_zalloc(port, sizeof(*t));
	if (t == NULL) {
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					 "no memory for a template");
		return NULL;
	}
	t->egress = attr->egress;
	if (actions_take(port, t, actions, masks, error) == 0)
		return t;
	actions_free(t);
	return NULL;
}

struct rte_flow_actions_template *
mlxpmd_flow_actions_template_create(struct rte_eth_dev *eth_dev, const struct rte_flow_actions_template_attr *attr,
				    const struct rte_flow_action actions[], const struct rte_flow_action masks[],
				    struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_flow_actions_template *t;

	pthread_mutex_lock(&port->lock);
	t = actions_new(port, attr, actions, masks, error);
	if (t != NULL)
		TAILQ_INSERT_TAIL(&port->flows->actions_templates, t, next);
	pthread_mutex_unlock(&port->lock);
	return t;
}

static void
actions_remove(struct mlxpmd_port *port, struct rte_flow_actions_template *t)
{
	TAILQ_REMOVE(&port->flows->actions_templates, t, next);
	actions_free(t);
}

int
mlxpmd_flow_actions_template_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_actions_template *template,
				     struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc = 0;

	pthread_mutex_lock(&port->lock);
	if (template->users != 0)
		rc = template_busy(template->users, template, error);
	else
		actions_remove(port, template);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_flow_template_actions(struct mlxpmd_port *port, const struct rte_flow_template_table *table,
			     const struct rte_flow_action *actions, uint8_t index, struct mlxpmd_flow_merged *merged,
			     struct mlxpmd_flow_actions *out, struct rte_flow_error *error)
{
	int rc;

	if (index >= table->nb_actions)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "actions template %u: the table has %u", index, table->nb_actions);
	rc = actions_merge(table->actions[index], actions, merged, error);
	return rc == 0 ? mlxpmd_flow_actions_compile(port, &table->attr, merged->actions, out, error) : rc;
}

/* ------------------------------------------------------------------ tables */

/** Compiles the actions of a flow whose pattern has been compiled. */
static int
table_actions(struct mlxpmd_port *port, const struct rte_flow_template_table *table,
	      const struct rte_flow_action *actions, uint8_t index, struct mlxpmd_flow_merged *merged,
	      struct mlxpmd_flow_compiled *c, struct rte_flow_error *error)
{
	int rc = mlxpmd_flow_template_actions(port, table, actions, index, merged, &c->actions, error);

	return rc == 0 ? mlxpmd_flow_change_compile(port, &table->attr, &c->pattern, merged->actions, &c->actions,
						    &c->change, error) : rc;
}

struct rte_flow *
mlxpmd_flow_table_add(struct mlxpmd_port *port, struct rte_flow_template_table *table,
		      const struct rte_flow_item *items, uint8_t pattern_index, const struct rte_flow_action *actions,
		      uint8_t actions_index, struct rte_flow_error *error)
{
	struct mlxpmd_flow_compiled compiled;
	struct mlxpmd_flow_merged merged;
	struct rte_flow *flow;

	if (pattern_index >= table->nb_patterns) {
		(void)mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					 "pattern template %u: the table has %u", pattern_index, table->nb_patterns);
		return NULL;
	}
	if (table->users == table->nb_flows) {
		(void)mlxpmd_flow_refuse(error, ENOSPC, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					 "the table has the %u flows that it was created for", table->nb_flows);
		return NULL;
	}
	if (pattern_compile(port, table->patterns[pattern_index], items, &compiled.pattern, error) != 0 ||
	    table_actions(port, table, actions, actions_index, &merged, &compiled, error) != 0)
		return NULL;
	flow = mlxpmd_flow_add(port, &table->attr, &compiled, error);
	if (flow != NULL) {
		flow->made_from = table;
		table->users++;
	}
	return flow;
}

struct rte_flow *
mlxpmd_flow_table_other(struct mlxpmd_port *port, const struct rte_flow *flow, const struct rte_flow_action *actions,
			uint8_t actions_index, struct rte_flow_error *error)
{
	struct mlxpmd_flow_compiled compiled;
	struct mlxpmd_flow_merged merged;

	if (flow->made_from == NULL) {
		(void)mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
					 "the flow is not of a table: rte_flow_actions_update() gives it other actions");
		return NULL;
	}
	mlxpmd_flow_pattern_of(flow, &compiled.pattern);
	if (table_actions(port, flow->made_from, actions, actions_index, &merged, &compiled, error) != 0)
		return NULL;
	return mlxpmd_flow_other(port, flow, &compiled, error);
}

static void
table_free(struct mlxpmd_port *port, struct rte_flow_template_table *table)
{
	for (uint8_t i = 0; i < table->nb_patterns; i++)
		table->patterns[i]->users--;
	for (uint8_t i = 0; i < table->nb_actions; i++)
		table->actions[i]->users--;
	mlxpmd_flow_group_put(port, table->group);
	free(table);
}

static int
table_check(const struct rte_flow_template_table_attr *attr, uint8_t nb_patterns, uint8_t nb_actions,
	    struct rte_flow_error *error)
{
	if (nb_patterns == 0 || nb_actions == 0)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "a table has at least one template of patterns and one of actions");
	if (!mdv_flow_table_by_pattern(attr))
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, attr,
					  MLXPMD_FLOW_NO_INDEX);
	if (mdv_flow_table_resizable(attr))
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, attr,
					  "a table is not resized: create it for as many flows as it may get, which takes no "
					  "memory");
	return mlxpmd_flow_attr_check(&attr->flow_attr, error);
}

static int
direction_check(const struct rte_flow_template_table_attr *attr, struct rte_flow_pattern_template *patterns[],
		uint8_t nb_patterns, struct rte_flow_actions_template *actions[], uint8_t nb_actions,
		struct rte_flow_error *error)
{
	bool equal = true;

	for (uint8_t i = 0; i < nb_patterns; i++)
		equal &= patterns[i]->egress == attr->flow_attr.egress;
	for (uint8_t i = 0; i < nb_actions; i++)
		equal &= actions[i]->egress == attr->flow_attr.egress;
	return equal ? 0 : mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, attr,
					      "table and templates have different directions");
}

static struct rte_flow_template_table *
table_new(struct mlxpmd_port *port, const struct rte_flow_template_table_attr *attr,
	  struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
	  struct rte_flow_actions_template *actions[], uint8_t nb_actions, struct rte_flow_error *error)
{
	const struct rte_flow_attr *flow_attr = &attr->flow_attr;
	struct rte_flow_template_table *table;

	if (table_check(attr, nb_patterns, nb_actions, error) != 0 ||
	    direction_check(attr, patterns, nb_patterns, actions, nb_actions, error) != 0)
		return NULL;
	table = mlxpmd_flow_zalloc(port, sizeof(*table) + (nb_patterns + nb_actions) * sizeof(table->templates[0]));
	if (table == NULL) {
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no memory for a table");
		return NULL;
	}
	if (flow_attr->group != 0 &&
	    (table->group = mlxpmd_flow_group_get(port, flow_attr->egress, flow_attr->group, error)) == NULL) {
		free(table);
		return NULL;
	}
	table->attr = *flow_attr;
	table->nb_flows = attr->nb_flows;
	table->patterns = (struct rte_flow_pattern_template **)table->templates;
	table->actions = (struct rte_flow_actions_template **)(table->templates + nb_patterns);
	for (; table->nb_patterns < nb_patterns; table->nb_patterns++) {
		table->patterns[table->nb_patterns] = patterns[table->nb_patterns];
		patterns[table->nb_patterns]->users++;
	}
	for (; table->nb_actions < nb_actions; table->nb_actions++) {
		table->actions[table->nb_actions] = actions[table->nb_actions];
		actions[table->nb_actions]->users++;
	}
	return table;
}

struct rte_flow_template_table *
mlxpmd_flow_table_create(struct rte_eth_dev *eth_dev, const struct rte_flow_template_table_attr *attr,
			 struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
			 struct rte_flow_actions_template *actions[], uint8_t nb_actions,
			 struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_flow_template_table *table;

	pthread_mutex_lock(&port->lock);
	table = table_new(port, attr, patterns, nb_patterns, actions, nb_actions, error);
	if (table != NULL)
		TAILQ_INSERT_TAIL(&port->flows->tables, table, next);
	pthread_mutex_unlock(&port->lock);
	return table;
}

static void
table_remove(struct mlxpmd_port *port, struct rte_flow_template_table *table)
{
	TAILQ_REMOVE(&port->flows->tables, table, next);
	table_free(port, table);
}

int
mlxpmd_flow_table_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_template_table *table,
			  struct rte_flow_error *error)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	int rc = 0;

	pthread_mutex_lock(&port->lock);
	if (table->users != 0)
		rc = mlxpmd_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, table, "the table has %u flows",
					table->users);
	else
		table_remove(port, table);
	pthread_mutex_unlock(&port->lock);
	return rc;
}

/* ------------------------------------------------------------------ with the port */

bool
mlxpmd_flow_templates_exist(const struct mlxpmd_port *port)
{
	return !TAILQ_EMPTY(&port->flows->pattern_templates) || !TAILQ_EMPTY(&port->flows->actions_templates);
}

void
mlxpmd_flow_templates_remove(struct mlxpmd_port *port)
{
	struct mlxpmd_flows *flows = port->flows;

	while (!TAILQ_EMPTY(&flows->tables))
		table_remove(port, TAILQ_FIRST(&flows->tables));
	while (!TAILQ_EMPTY(&flows->pattern_templates))
		pattern_remove(port, TAILQ_FIRST(&flows->pattern_templates));
	while (!TAILQ_EMPTY(&flows->actions_templates))
		actions_remove(port, TAILQ_FIRST(&flows->actions_templates));
}
