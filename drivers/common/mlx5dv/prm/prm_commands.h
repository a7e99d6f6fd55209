/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The command table: name, class, lengths of the mailboxes and object id of each opcode. */

#ifndef PRM_COMMANDS_H
#define PRM_COMMANDS_H

#include "prm_base.h"

enum prm_command_class {
	PRM_CMD_CREATE,
	PRM_CMD_MODIFY,
	PRM_CMD_QUERY,
	PRM_CMD_DESTROY,
	PRM_CMD_GENERAL,
};

/** Bits hi..lo of a dword of a mailbox; hi < lo = none. */
struct prm_field_ref {
	uint16_t dword;
	uint8_t hi, lo;
};

/** One opcode. Lengths are bytes and cover the fixed part of a mailbox. */
struct prm_command {
	const char *name;
	const struct prm_layout *in, *out;
	uint16_t opcode;
	uint16_t in_bytes_min, out_bytes_min;
	uint16_t destroy_opcode, create_opcode; /* counterpart; 0 = none */
	struct prm_field_ref in_id; /* the object's id in the inbox (not of a create command) */
	struct prm_field_ref out_id; /* the new object's id in the outbox of a create command */
	enum prm_command_class cls;
	struct prm_field_ref request; /* field of the inbox that selects what a query returns */
	uint8_t request_shift; /* number of low bits of it with another meaning */
	bool in_variable; /* a trailing array may follow the fixed part of the inbox */
};

/**
 * The command of an opcode.
 *
 * @return the entry, or NULL when the table has none.
 */
const struct prm_command *prm_command_find(uint16_t opcode);

/** Entry @p i of the table, ordered by opcode; NULL beyond the end. */
const struct prm_command *prm_command_at(unsigned int i);

/** Number of entries of the table. */
unsigned int prm_command_count(void);

/** Name of an opcode, such as "CREATE_CQ"; "UNKNOWN" if the table has none. */
const char *prm_command_name(uint16_t opcode);

/** Bits @p r of a mailbox, which must be long enough; 0 if @p r is empty. */
uint32_t prm_field_ref_get(const void *mbox, struct prm_field_ref r);

/** Positive errno to which Linux maps a command status (cmd_status_to_err()): 0 for OK, EIO for an unknown one. */
int prm_status_errno(uint8_t status);

/** A member of a plain structure (WQE, CQE, EQE), or some of its bits: "hds_ip_ext.l3_ok". */
struct prm_member {
	const char *structure, *name;
	uint16_t offset;	/* bytes */
	uint8_t bytes, hi, lo;	/* big-endian value and the bits of it */
	bool overlay;		/* alternative meaning of bytes that another member names */
};

/** Entry @p i of all members of all structures; NULL beyond the end. */
const struct prm_member *prm_member_at(unsigned int i);

/** Layout of the register with this id; NULL if the description has none. */
const struct prm_layout *prm_register_layout(uint16_t register_id);

/* The generated tables (prm_tables.c). */
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

#endif /* PRM_COMMANDS_H */
