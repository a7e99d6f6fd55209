/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Fields of rte_flow as those of the device: what mlxpmd_flow_modify.c and mlxpmd_flow_change.c share.
 */
#ifndef MLXPMD_FLOW_MODIFY_H
#define MLXPMD_FLOW_MODIFY_H

#include <mdv_compat.h>

#include "mlxpmd_flow.h"

/** Refuses an action by its name; format is a string. Returns -err. */
#define REFUSE_CHANGE(c, err, action, format, ...) \
	mlxpmd_flow_refuse((c)->error, err, RTE_FLOW_ERROR_TYPE_ACTION, action, "action %s: " format, \
			   mlxpmd_flow_name(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, (action)->type), ##__VA_ARGS__)

/** A field of the device that is a part of one of rte_flow. */
struct mlxpmd_mod_part {
	uint16_t id;		/**< PRM_ACTION_IN_FIELD_* of the outermost headers. */
	uint8_t bits;
};

#define MLXPMD_MOD_PARTS 4u
/** A field of rte_flow. */
struct mlxpmd_mod_field {
	enum rte_flow_field_id id;
	uint8_t bits, bytes;	/**< In a packet; of its memory, which is in network order unless it is a register. */
	bool reg;		/**< A register: in host order; offsets count from the lowest bit. */
	uint8_t version, proto;	/**< The IP header and protocol that it belongs to; 0: any. */
	struct mlxpmd_mod_part parts[MLXPMD_MOD_PARTS]; /**< The most significant first. */
};

/** What a list of actions has done so far: a device has this order. */
enum mlxpmd_mod_stage {
	MLXPMD_STAGE_BEGIN, MLXPMD_STAGE_DECAP, MLXPMD_STAGE_POP, MLXPMD_STAGE_MODIFY, MLXPMD_STAGE_PUSH,
	MLXPMD_STAGE_ENCAP
};

struct mlxpmd_mod_list {
	const struct mlxpmd_flow_pattern *pattern;
	bool egress;
	struct mlxpmd_flow_change *out;
	enum mlxpmd_mod_stage stage;
	struct rte_flow_error *error;
};

/** A field of a packet: which header of it, and where it begins. */
struct mlxpmd_mod_place {
	const struct mlxpmd_mod_field *field;
	bool inner;
	uint8_t tag;		/**< Register: its index. */
	uint32_t from;		/**< The lowest bit. */
};

/** NULL: the device does not change the field. */
const struct mlxpmd_mod_field *mlxpmd_mod_field_find(const struct mlxpmd_mod_list *c, enum rte_flow_field_id id);
/** The device's number of a part. */
uint16_t mlxpmd_mod_part_id(const struct mlxpmd_mod_place *p, const struct mlxpmd_mod_part *part);

/*
 * The following add actions of the device to the list. 0 or -errno, *list->error is set.
 */

/** Enters a stage. Only registers can be written before a tunnel or tag is removed. */
int mlxpmd_mod_stage_enter(struct mlxpmd_mod_list *c, const struct rte_flow_action *action,
			      enum mlxpmd_mod_stage stage);
/** SET or ADD of bits of one part. */
int mlxpmd_mod_part_set(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, unsigned int type,
			   uint16_t id, uint32_t offset, uint32_t bits, uint32_t data);
/** Sets bits of a field to those of a value in network order, at the same place. */
int mlxpmd_mod_field_set(struct mlxpmd_mod_list *c, const struct rte_flow_action *action,
			    const struct mlxpmd_mod_place *to, uint32_t bits, const uint8_t *value);
/** Adds to a field, whose arithmetic is that of its width. */
int mlxpmd_mod_add(struct mlxpmd_mod_list *c, const struct rte_flow_action *action,
		      const struct mlxpmd_mod_place *to, uint32_t value);
/** COPY of bits from one part to another. */
int mlxpmd_mod_copy(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, uint16_t from, uint32_t from_bit,
		    uint16_t to, uint32_t to_bit, uint32_t bits);
/** Checks the index of a tag. */
int mlxpmd_mod_tag_check(struct mlxpmd_mod_list *c, const struct rte_flow_action *action, uint32_t index);
/** The action modify_field. */
int mlxpmd_mod_field_compile(struct mlxpmd_mod_list *c, const struct rte_flow_action *action);

/*
 * ---- what is added to sent packets (mlxpmd_flow_encap.c): of_push_vlan, of_set_vlan_pcp, vxlan_encap and nvgre_encap,
 * raw_encap, raw_decap
 */
int mlxpmd_mod_push_vlan(struct mlxpmd_mod_list *c, const struct rte_flow_action *action);
int mlxpmd_mod_push_pcp(struct mlxpmd_mod_list *c, const struct rte_flow_action *action);
int mlxpmd_mod_encap(struct mlxpmd_mod_list *c, const struct rte_flow_action *action);
int mlxpmd_mod_raw_encap(struct mlxpmd_mod_list *c, const struct rte_flow_action *action);
int mlxpmd_mod_raw_decap(struct mlxpmd_mod_list *c, const struct rte_flow_action *action);

/* ---- items of registers: see extra of struct item, mlxpmd_flow_item.c ---- */
int mlxpmd_mod_meta(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec,
		    const uint8_t *mask, uint8_t *handled, struct mdv_match *m, bool egress);
int mlxpmd_mod_mark(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec,
		    const uint8_t *mask, uint8_t *handled, struct mdv_match *m, bool egress);
int mlxpmd_mod_tag(struct rte_flow_error *error, const struct rte_flow_item *item, const uint8_t *spec,
		   const uint8_t *mask, uint8_t *handled, struct mdv_match *m, bool egress);

#endif /* MLXPMD_FLOW_MODIFY_H */
