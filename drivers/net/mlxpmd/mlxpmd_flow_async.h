/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * rte_flow by templates and queues: what its files share. All functions but ethdev's operations run under the port's
 * lock.
 *
 * A pattern template is compiled when it is created, into the mask of the match and the bytes of items that make its
 * value; a flow of its table copies these bytes. What an operation enqueues is checked at once, and carried out by the
 * thread that pushes it. Its result waits in the queue until it is pulled.
 */
#ifndef MLXPMD_FLOW_ASYNC_H
#define MLXPMD_FLOW_ASYNC_H

#include "mlxpmd_flow.h"

/** Why flows have no index: that of the entry which a packet's hash selects, as tables by command do not. */
#define MLXPMD_FLOW_NO_INDEX "flows are inserted by pattern: the device's tables by command compare entries, and select " \
			     "none by its index"

/* ---- templates (mlxpmd_flow_template.c) ---- */

struct rte_flow_pattern_template {
	TAILQ_ENTRY(rte_flow_pattern_template) next;
	unsigned int users;	/**< Tables. */
	bool egress, relaxed;
	struct rte_flow_item *items; /**< A copy, in one piece of memory, with spec where there is a mask. */
	uint16_t nb_items;	/**< With the one that ends the pattern. */
	struct mlxpmd_flow_pattern pattern; /**< Of values that are 0. */
	struct mlxpmd_flow_copies copies;
};

struct rte_flow_actions_template {
	TAILQ_ENTRY(rte_flow_actions_template) next;
	unsigned int users;	/**< Tables. */
	bool egress;
	struct rte_flow_action *actions, *masks; /**< Copies, in one piece of memory each. */
	uint16_t nb_actions;	/**< With the one that ends the list. */
};

struct rte_flow_template_table {
	TAILQ_ENTRY(rte_flow_template_table) next;
	struct rte_flow_attr attr;
	uint32_t nb_flows, users; /**< Flows there may be, and there are. */
	struct mlxpmd_flow_group *group; /**< NULL: group 0. */
	uint8_t nb_patterns, nb_actions;
	struct rte_flow_pattern_template **patterns;
	struct rte_flow_actions_template **actions;
	void *templates[];	/**< patterns, actions. */
};

/** Most items and actions of a template, with the ends. */
#define MLXPMD_FLOW_LIST_MAX 64u
/** Actions of a template and of a flow put together. The compiled actions refer to it. */
struct mlxpmd_flow_merged {
	struct rte_flow_action actions[MLXPMD_FLOW_LIST_MAX];
	union mlxpmd_flow_conf {
		uint8_t bytes[sizeof(struct rte_flow_action_age)]; /**< The largest of those that are put together. */
		struct rte_flow_action_age age;
	} confs[MLXPMD_FLOW_LIST_MAX];
};
/** Compiles the actions of a flow. 0 or -errno, *error is set. */
int mlxpmd_flow_template_actions(struct mlxpmd_port *port, const struct rte_flow_template_table *table,
				 const struct rte_flow_action *actions, uint8_t index,
				 struct mlxpmd_flow_merged *merged, struct mlxpmd_flow_actions *out,
				 struct rte_flow_error *error);
/** A flow of the table as of mlxpmd_flow_add(). NULL with rte_errno, *error is set. */
struct rte_flow *mlxpmd_flow_table_add(struct mlxpmd_port *port, struct rte_flow_template_table *table,
				       const struct rte_flow_item *items, uint8_t pattern_index,
				       const struct rte_flow_action *actions, uint8_t actions_index,
				       struct rte_flow_error *error);
/** As mlxpmd_flow_other(), of a flow of a table. */
struct rte_flow *mlxpmd_flow_table_other(struct mlxpmd_port *port, const struct rte_flow *flow,
					 const struct rte_flow_action *actions, uint8_t actions_index,
					 struct rte_flow_error *error);
/** Whether there are templates. */
bool mlxpmd_flow_templates_exist(const struct mlxpmd_port *port);
/** Destroys all, when there are no flows. */
void mlxpmd_flow_templates_remove(struct mlxpmd_port *port);

/* ethdev's operations; they take the lock. */
struct rte_flow_pattern_template *
mlxpmd_flow_pattern_template_create(struct rte_eth_dev *eth_dev, const struct rte_flow_pattern_template_attr *attr,
				    const struct rte_flow_item items[], struct rte_flow_error *error);
int mlxpmd_flow_pattern_template_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_pattern_template *template,
					 struct rte_flow_error *error);
struct rte_flow_actions_template *
mlxpmd_flow_actions_template_create(struct rte_eth_dev *eth_dev, const struct rte_flow_actions_template_attr *attr,
				    const struct rte_flow_action actions[], const struct rte_flow_action masks[],
				    struct rte_flow_error *error);
int mlxpmd_flow_actions_template_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_actions_template *template,
					 struct rte_flow_error *error);
struct rte_flow_template_table *
mlxpmd_flow_table_create(struct rte_eth_dev *eth_dev, const struct rte_flow_template_table_attr *attr,
			 struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
			 struct rte_flow_actions_template *actions[], uint8_t nb_actions,
			 struct rte_flow_error *error);
int mlxpmd_flow_table_destroy(struct rte_eth_dev *eth_dev, struct rte_flow_template_table *table,
			      struct rte_flow_error *error);

/* ---- queues of operations (mlxpmd_flow_async.c) ---- */

/** Carries out all operations that are not pushed yet. */
void mlxpmd_flow_queues_push(struct mlxpmd_port *port);
void mlxpmd_flow_queues_remove(struct mlxpmd_port *port);
int mlxpmd_flow_info_get(struct rte_eth_dev *eth_dev, struct rte_flow_port_info *port_info,
			 struct rte_flow_queue_info *queue_info, struct rte_flow_error *error);
int mlxpmd_flow_configure(struct rte_eth_dev *eth_dev, const struct rte_flow_port_attr *attr, uint16_t nb_queues,
			  const struct rte_flow_queue_attr *queue_attr[], struct rte_flow_error *error);

struct rte_flow *
mlxpmd_flow_async_create(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
			 struct rte_flow_template_table *table, const struct rte_flow_item items[],
			 uint8_t pattern_index, const struct rte_flow_action actions[], uint8_t actions_index,
			 void *user_data, struct rte_flow_error *error);
struct rte_flow *
mlxpmd_flow_async_create_by_index(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
				  struct rte_flow_template_table *table, uint32_t rule_index,
				  const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
				  struct rte_flow_error *error);
int mlxpmd_flow_async_destroy(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
			      struct rte_flow *flow, void *user_data, struct rte_flow_error *error);
int mlxpmd_flow_async_actions_update(struct rte_eth_dev *eth_dev, uint32_t queue_id,
				     const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				     const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
				     struct rte_flow_error *error);
int mlxpmd_flow_async_push(struct rte_eth_dev *eth_dev, uint32_t queue_id, struct rte_flow_error *error);
int mlxpmd_flow_async_pull(struct rte_eth_dev *eth_dev, uint32_t queue_id, struct rte_flow_op_result res[],
			   uint16_t n_res, struct rte_flow_error *error);
struct rte_flow_action_handle *
mlxpmd_flow_async_handle_create(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
				const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *action,
				void *user_data, struct rte_flow_error *error);
int mlxpmd_flow_async_handle_destroy(struct rte_eth_dev *eth_dev, uint32_t queue_id,
				     const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle,
				     void *user_data, struct rte_flow_error *error);
int mlxpmd_flow_async_handle_update(struct rte_eth_dev *eth_dev, uint32_t queue_id,
				    const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle,
				    const void *update, void *user_data, struct rte_flow_error *error);
int mlxpmd_flow_async_handle_query(struct rte_eth_dev *eth_dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
				   const struct rte_flow_action_handle *handle, void *data, void *user_data,
				   struct rte_flow_error *error);

#endif /* MLXPMD_FLOW_ASYNC_H */
