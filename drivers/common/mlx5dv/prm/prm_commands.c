/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Look-ups in the generated command table. */

#include "prm.h"

const struct prm_command *
prm_command_find(uint16_t opcode)
{
	unsigned int low = 0, high = prm_commands_count;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (prm_commands[mid].opcode == opcode)
			return &prm_commands[mid];
		if (prm_commands[mid].opcode < opcode)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct prm_command *
prm_command_at(unsigned int i)
{
	return i < prm_commands_count ? &prm_commands[i] : NULL;
}

const struct prm_member *
prm_member_at(unsigned int i)
{
	return i < prm_members_count ? &prm_members[i] : NULL;
}

unsigned int
prm_command_count(void)
{
	return prm_commands_count;
}

const char *
prm_command_name(uint16_t opcode)
{
	const struct prm_command *cmd = prm_command_find(opcode);

	return cmd != NULL ? cmd->name : "UNKNOWN";
}

uint32_t
prm_field_ref_get(const void *mbox, struct prm_field_ref r)
{
	if (r.hi < r.lo)
		return 0;
	return prm_get32(prm_dw_c(mbox, r.dword), r.hi, r.lo);
}

const struct prm_layout *
prm_register_layout(uint16_t register_id)
{
	for (unsigned int i = 0; i < prm_registers_count; i++)
		if (prm_registers[i].id == register_id)
			return prm_registers[i].layout;
	return NULL;
}
