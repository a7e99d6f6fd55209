/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * rte_flow: groups above 0, which are flow tables, and the jumps between them.
 *
 * A device without ignore_flow_level has rules that lead to tables of higher levels only, and a table keeps its level.
 * Groups get levels in the order of their numbers as far as there are levels, but one to which a flow jumps a level
 * above that of the flow.
 */

#include <stdlib.h>

#include "mlxpmd_flow.h"

/** Groups 1 to this number have levels of their own, which they need not share with others. */
#define GROUPS_DIRECT (MDV_TABLE_LEVELS / 2)
#define LEVEL_LAST (MDV_TABLE_LEVEL_MIN + MDV_TABLE_LEVELS - 1)

/** Flows of a group that jump to another group. */
struct mlxpmd_flow_jump {
	TAILQ_ENTRY(mlxpmd_flow_jump) next;
	struct mlxpmd_flow_group *to;
	unsigned int users;
};

/** The level of a new group: above from, and between its neighbours if there is one left. */
static uint8_t
level_choose(uint32_t number, const struct mlxpmd_flow_group *prev, const struct mlxpmd_flow_group *next,
	     const struct mlxpmd_flow_group *from)
{
	unsigned int low = MDV_TABLE_LEVEL_MIN + GROUPS_DIRECT, high = LEVEL_LAST + 1, level;

	if (number <= GROUPS_DIRECT) {
		level = MDV_TABLE_LEVEL_MIN + number - 1;
	} else {
		if (prev != NULL)
			low = RTE_MAX(low, prev->level + 1u);
		if (next != NULL && next->level > low)
			high = next->level;
		level = RTE_MIN((low + high) / 2, (unsigned int)LEVEL_LAST);
	}
	if (from != NULL && level <= from->level)
		level = RTE_MIN(from->level + 1u, (unsigned int)LEVEL_LAST);
	return level;
}

static struct mlxpmd_flow_group *
group_new(struct mlxpmd_port *port, bool egress, uint32_t number, uint8_t level, struct rte_flow_error *error)
{
	struct mlxpmd_flow_group *group = mlxpmd_flow_zalloc(port, sizeof(*group));

	if (group == NULL) {
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, NULL, "no memory for group %u",
					 number);
		return NULL;
	}
	TAILQ_INIT(&group->jumps);
	group->number = number;
	group->egress = egress;
	group->level = level;
	group->table = mdv_rule_table_create(port->mdv, egress, level);
	if (group->table != NULL)
		return group;
	(void)mlxpmd_flow_refuse(error, rte_errno, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, NULL,
				 "the device refused a flow table for group %u: %s", number, rte_strerror(rte_errno));
	free(group);
	return NULL;
}

/** The group of a number, or NULL; *prev becomes the one before. */
static struct mlxpmd_flow_group *
group_find(struct mlxpmd_port *port, bool egress, uint32_t number, struct mlxpmd_flow_group **prev)
{
	struct mlxpmd_flow_group *group;

	*prev = NULL;
	TAILQ_FOREACH(group, &port->flows->groups[egress], next) {
		if (group->number >= number)
			return group->number == number ? group : NULL;
		*prev = group;
	}
	return NULL;
}

/** As mlxpmd_flow_group_get(); from: the group whose flow jumps to it, or NULL. */
static struct mlxpmd_flow_group *
group_get(struct mlxpmd_port *port, bool egress, uint32_t number, const struct mlxpmd_flow_group *from,
	  struct rte_flow_error *error)
{
	struct mlxpmd_flow_group *prev, *group = group_find(port, egress, number, &prev);

	if (group == NULL) {
		group = group_new(port, egress, number,
				  level_choose(number, prev, prev != NULL ? TAILQ_NEXT(prev, next) :
								    TAILQ_FIRST(&port->flows->groups[egress]), from),
				  error);
		if (group == NULL)
			return NULL;
		if (prev != NULL)
			TAILQ_INSERT_AFTER(&port->flows->groups[egress], prev, group, next);
		else
			TAILQ_INSERT_HEAD(&port->flows->groups[egress], group, next);
	}
	group->users++;
	return group;
}

struct mlxpmd_flow_group *
mlxpmd_flow_group_get(struct mlxpmd_port *port, bool egress, uint32_t number, struct rte_flow_error *error)
{
	return group_get(port, egress, number, NULL, error);
}

void
mlxpmd_flow_group_put(struct mlxpmd_port *port, struct mlxpmd_flow_group *group)
{
	if (group == NULL || --group->users != 0)
		return;
	TAILQ_REMOVE(&port->flows->groups[group->egress], group, next);
	mdv_rule_table_destroy(group->table);
	free(group);
}

/* ------------------------------------------------------------------ jumps */

static struct mlxpmd_flow_jump *
jump_find(const struct mlxpmd_flow_group *from, const struct mlxpmd_flow_group *to)
{
	struct mlxpmd_flow_jump *jump;

	TAILQ_FOREACH(jump, &from->jumps, next)
		if (jump->to == to)
			return jump;
	return NULL;
}

/** Whether jumps lead from one group to another, over others if need be. */
static bool
jumps_lead(struct mlxpmd_port *port, struct mlxpmd_flow_group *from, const struct mlxpmd_flow_group *to)
{
	const uint32_t walk = ++port->flows->walks;
	struct mlxpmd_flow_group *group, *todo = from;
	const struct mlxpmd_flow_jump *jump;

	from->walk = walk;
	from->walk_next = NULL;
	while ((group = todo) != NULL) {
		todo = group->walk_next;
		if (group == to)
			return true;
		TAILQ_FOREACH(jump, &group->jumps, next) {
			if (jump->to->walk == walk)
				continue;
			jump->to->walk = walk;
			jump->to->walk_next = todo;
			todo = jump->to;
		}
	}
	return false;
}

static int
level_refuse(const struct mlxpmd_flow_group *from, const struct mlxpmd_flow_group *to, const void *cause,
	     struct rte_flow_error *error)
{
	return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, cause,
				  "jump from group %u, table level %u, to group %u, level %u: the device has no "
				  "ignore_flow_level, jumps lead to higher levels",
				  from->number, from->level, to->number, to->level);
}

int
mlxpmd_flow_jump_check(struct mlxpmd_port *port, const struct rte_flow_attr *attr, uint32_t to_number,
		       const void *cause, struct rte_flow_error *error)
{
	const uint32_t from_number = attr->group;
	struct mlxpmd_flow_group *prev, *from = group_find(port, attr->egress, from_number, &prev);
	struct mlxpmd_flow_group *to = group_find(port, attr->egress, to_number, &prev);

	if (to_number == 0)
		return mlxpmd_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, cause,
					  "jump to group 0: all packets begin there, jumps lead to groups above 0");
	if (from_number == to_number)
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, cause,
					  "jump from group %u to itself: packets would never leave it", from_number);
	if (from == NULL || to == NULL || jump_find(from, to) != NULL)
		return 0;
	if (jumps_lead(port, to, from))
		return mlxpmd_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, cause,
					  "jump from group %u to group %u: flows lead back from there", from_number,
					  to_number);
	return mdv_rule_table_leads(from->table, to->table) ? 0 : level_refuse(from, to, cause, error);
}

struct mlxpmd_flow_group *
mlxpmd_flow_jump_get(struct mlxpmd_port *port, bool egress, struct mlxpmd_flow_group *from, uint32_t number,
		     struct rte_flow_error *error)
{
	struct mlxpmd_flow_group *to = group_get(port, egress, number, from, error);
	struct mlxpmd_flow_jump *jump;

	if (to == NULL || from == NULL)
		return to;
	jump = jump_find(from, to);
	/* A new group may have got no level above. */
	if (jump == NULL && !mdv_rule_table_leads(from->table, to->table))
		(void)level_refuse(from, to, NULL, error);
	else if (jump == NULL && (jump = mlxpmd_flow_zalloc(port, sizeof(*jump))) == NULL)
		(void)mlxpmd_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_ACTION, NULL, "no memory for a jump");
	if (jump == NULL) {
		mlxpmd_flow_group_put(port, to);
		return NULL;
	}
	if (jump->users++ == 0) {
		jump->to = to;
		TAILQ_INSERT_HEAD(&from->jumps, jump, next);
	}
	return to;
}

void
mlxpmd_flow_jump_put(struct mlxpmd_port *port, struct mlxpmd_flow_group *from, struct mlxpmd_flow_group *to)
{
	struct mlxpmd_flow_jump *jump;

	if (from != NULL && to != NULL && --(jump = jump_find(from, to))->users == 0) {
		TAILQ_REMOVE(&from->jumps, jump, next);
		free(jump);
	}
	mlxpmd_flow_group_put(port, to);
}
