/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Lists the events of fault rules, and the names of fields and values that rules can use there. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <prm.h>

#include "emu_audit.h"
#include "emu_fault_rule.h"

#define NAME_BYTES 512u

/** Prints names that begin with prefix and counts them. */
struct listing {
	const char *prefix, *command;
	unsigned lines;
};

static void
list_one(struct listing *l, const char *name)
{
	if (l->prefix != NULL && strncasecmp(name, l->prefix, strlen(l->prefix)) != 0)
		return;
	printf("%s\n", name);
	l->lines++;
}

static void
list_path(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	struct listing *l = arg;
	char name[NAME_BYTES];

	(void)value;
	(void)enum_name;
	snprintf(name, sizeof(name), "op=%s field=%s", l->command, path);
	list_one(l, l->prefix != NULL ? name + strlen("op=") : name);
}

static void
list_commands(struct listing *l)
{
	static uint32_t in[64], out[2048];

	for (unsigned i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);
		size_t bytes = cmd->out_bytes_min < sizeof(out) ? cmd->out_bytes_min : sizeof(out);

		memset(in, 0, sizeof(in));
		prm_cmd_in_set_opcode((struct prm_cmd_in *)(void *)in, cmd->opcode);
		l->command = cmd->name;
		prm_decode_out(in, sizeof(in), out, bytes, false, list_path, l);
	}
}

static void
list_members(struct listing *l, enum emu_fault_kind kind)
{
	const struct prm_member *m;
	char name[NAME_BYTES];

	for (unsigned i = 0; (m = prm_member_at(i)) != NULL; i++) {
		if (!emu_fault_member_at(m, kind))
			continue;
		snprintf(name, sizeof(name), "field=%s%s",
			 emu_fault_is_error_member(m) ? EMU_FAULT_OF_ERRORS : "", m->name);
		list_one(l, l->prefix != NULL ? name + strlen("field=") : name);
	}
}

/* The names that an event has, one per line. */
static void
list_names(struct listing *l, enum emu_fault_kind kind)
{
	const char *name;

	if (kind == EMU_ON_CMD_EXIT)
		list_commands(l);
	if (kind == EMU_ON_CQE_WRITE || kind == EMU_ON_EQE_WRITE)
		list_members(l, kind);
	for (unsigned i = 0; kind == EMU_ON_CLOCK_VALUE && (name = emu_fault_clock_name(i)); i++)
		list_one(l, name);
	for (unsigned i = 0; kind == EMU_ON_COUNTER_READ && (name = emu_audit_stat_name(i)); i++)
		list_one(l, name);
}

static void
print_args(uint64_t args, bool optional)
{
	for (unsigned i = 0; i < emu_fault_arg_count; i++)
		if (args >> i & 1)
			printf(optional ? " [%s=]" : " %s=", emu_fault_args[i].name);
}

static void
list_event(unsigned kind)
{
	printf("%s match", emu_fault_names[kind]);
	for (unsigned i = 0; i < emu_fault_key_count; i++)
		if (emu_fault_keys[i].kinds >> kind & 1)
			printf(" %s=", emu_fault_keys[i].name);
	printf("\n");
	for (unsigned i = 0; i < emu_fault_row_count; i++) {
		const struct emu_fault_row *r = &emu_fault_rows[i];

		if ((r->kinds >> kind & 1) == 0)
			continue;
		printf("    do %s", r->name);
		print_args(r->needs, false);
		print_args(r->takes, true);
		printf("\n");
	}
}

unsigned
emu_fault_list(const char *event, const char *prefix)
{
	struct listing l = {.prefix = prefix};

	for (unsigned i = 0; i < EMU_FAULT_KINDS; i++) {
		if (event != NULL && strcmp(event, emu_fault_names[i]) != 0)
			continue;
		if (prefix == NULL) {
			list_event(i);
			l.lines++;
		}
		if (event != NULL)
			list_names(&l, (enum emu_fault_kind)i);
	}
	return l.lines;
}
