/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow actions of a rule (uverbs_flow_action.c). */
#ifndef UVERBS_FLOW_H
#define UVERBS_FLOW_H

#include "uverbs_obj.h"

/** MLX5_IB_CREATE_FLOW_MAX_FLOW_ACTIONS (Linux, hw/mlx5/fs.c). */
#define ABI_FLOW_ACTIONS_MAX 2u

struct abi_flow_actions {
	unsigned n;
	struct abi_handle *h[ABI_FLOW_ACTIONS_MAX];
};
/** Reads the flow actions of CREATE_FLOW. 0 or -errno. */
int abi_flow_actions_read(struct abi_call *call, struct emu_flow_attr *attr, struct abi_flow_actions *actions);

#endif /* UVERBS_FLOW_H */
