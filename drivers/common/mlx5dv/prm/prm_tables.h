/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Private to the prm library: the generated tables. */

#ifndef PRM_TABLES_H
#define PRM_TABLES_H

#include "prm_commands.h"

struct prm_register {
	uint16_t id;
	const struct prm_layout *layout;
};

extern const struct prm_member prm_members[];
extern const unsigned int prm_members_count;
extern const struct prm_command prm_commands[];
extern const unsigned int prm_commands_count;
extern const struct prm_register prm_registers[];
extern const unsigned int prm_registers_count;

#endif /* PRM_TABLES_H */
