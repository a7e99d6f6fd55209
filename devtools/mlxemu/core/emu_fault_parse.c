/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Reads fault rules: what there is stands in four tables, and every mistake is named. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <prm.h>

#include "emu_fault_rule.h"
#include "emu_number.h"

/* Told apart from the firmware's own syndromes, which are small numbers. */
#define FAULT_SYNDROME 0xfa0000u
#define FILE_BYTES_MAX (1u << 20)
#define WORD_BLANKS " \t\r"

#define AT(place) (1u << EMU_AT_##place)
#define AT_COMMAND (AT(CMD_ENTRY) | AT(CMD_EXIT))
#define AT_WIRE (AT(WIRE_RX) | AT(WIRE_TX))
#define AT_QUEUE (AT(DOORBELL) | AT(WQE_FETCH) | AT(CQE_WRITE))
#define AT_PCI (AT(PCI_READ) | AT(PCI_WRITE))
#define AT_KERNEL (AT(UMEM_REG) | AT(MR_REG) | AT(IOCTL) | AT(OPEN) | AT(MMAP) | AT_PCI)
#define AT_ALL ((1u << EMU_PLACES) - 1)

static const char *const place_names[EMU_PLACES] = {
	[EMU_AT_CMD_ENTRY] = "cmd.entry",   [EMU_AT_CMD_EXIT] = "cmd.exit",
	[EMU_AT_UMEM_REG] = "umem.reg",	    [EMU_AT_MR_REG] = "mr.reg",
	[EMU_AT_DOORBELL] = "doorbell",	    [EMU_AT_WQE_FETCH] = "wqe.fetch",
	[EMU_AT_CQE_WRITE] = "cqe.write",   [EMU_AT_EQE_WRITE] = "eqe.write",
	[EMU_AT_WIRE_RX] = "wire.rx",	    [EMU_AT_WIRE_TX] = "wire.tx",
	[EMU_AT_CLOCK_PAGE] = "clock.page", [EMU_AT_EVENT_FD] = "event.fd",
	[EMU_AT_IOCTL] = "ioctl",	    [EMU_AT_OPEN] = "open",
	[EMU_AT_MMAP] = "mmap",		    [EMU_AT_PCI_READ] = "pci.read",
	[EMU_AT_PCI_WRITE] = "pci.write",
};

const char *
emu_place_name(enum emu_place place)
{
	return place < EMU_PLACES ? place_names[place] : "nowhere";
}

/** The rule under construction and where a complaint goes. */
struct parse {
	struct emu_rule *rule;
	char *err;
	size_t err_len;
	char *save; /* strtok_r's */
};

static int __attribute__((format(printf, 2, 3)))
complain(struct parse *p, const char *fmt, ...)
{
	int n = snprintf(p->err, p->err_len, "fault rule: ");
	va_list ap;

	va_start(ap, fmt);
	if (n > 0 && (size_t)n < p->err_len)
		vsnprintf(p->err + n, p->err_len - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- values ---- */

static bool
match_number(const char *text, uint64_t max, int64_t *to)
{
	uint64_t v;

	if (!emu_number(text, 0, max, &v))
		return false;
	*to = (int64_t)v;
	return true;
}

/* A name that a function gives to one of the codes, or the code itself. */
static bool
named(const char *text, const char *(*name)(unsigned int), unsigned first, uint64_t *value)
{
	for (unsigned i = first; i < 256; i++) {
		if (strcasecmp(name(i), text) == 0) {
			*value = i;
			return true;
		}
	}
	return emu_number(text, 0, 255, value) && *value >= first;
}

static bool
match_op(struct emu_rule *r, const char *text)
{
	for (unsigned i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);

		if (strcasecmp(cmd->name, text) == 0) {
			r->match.op = cmd->opcode;
			return true;
		}
	}
	return match_number(text, 0xffff, &r->match.op);
}

static bool
match_q(struct emu_rule *r, const char *text)
{
	r->match.q_is_rx = strncasecmp(text, "rx", 2) == 0;
	return (r->match.q_is_rx || strncasecmp(text, "tx", 2) == 0) &&
	       match_number(text + 2, 0xffff, &r->match.q);
}

static bool
match_chance(struct emu_rule *r, const char *text)
{
	char *end;

	r->match.chance = strtod(text, &end);
	return end != text && *end == '\0' && r->match.chance >= 0 && r->match.chance <= 1;
}

static bool
match_method(struct emu_rule *r, const char *text)
{
	free(r->match.method);
	r->match.method = strdup(text);
	return r->match.method != NULL && text[0] != '\0';
}

/* Names of what is mapped: abi/preload/preload_mmap.c. */
static bool
match_page(struct emu_rule *r, const char *text)
{
	static const char *const names[] = {"clock", "core", "doorbell", "bar", "other"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(names[i], text) == 0)
			return match_method(r, text);
	return false;
}

/* Registers of the gateway in configuration space: emu_pci.c. */
static bool
match_reg(struct emu_rule *r, const char *text)
{
	static const char *const names[] = {"control", "counter", "semaphore", "address", "data",
					    "other"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(names[i], text) == 0)
			return match_method(r, text);
	return false;
}

#define MATCH_NUMBER(key, max) \
	static bool match_##key(struct emu_rule *r, const char *text) \
	{ \
		return match_number(text, max, &r->match.key); \
	}
MATCH_NUMBER(port, EMU_MAX_PORTS - 1)
MATCH_NUMBER(opcode, 255)
MATCH_NUMBER(sqn, 0xffffff)
MATCH_NUMBER(rqn, 0xffffff)
MATCH_NUMBER(cqn, 0xffffff)
MATCH_NUMBER(type, 255)
MATCH_NUMBER(len, 1u << 20)

/** A key after `match`, and where it means something. */
static const struct match_key {
	const char *name;
	uint32_t places;
	bool (*set)(struct emu_rule *r, const char *text);
} match_keys[] = {
	{"port", AT_ALL, match_port},
	{"chance", AT_ALL, match_chance},
	{"op", AT_COMMAND, match_op},
	{"method", AT(IOCTL), match_method},
	{"page", AT(MMAP), match_page},
	{"reg", AT_PCI, match_reg},
	{"q", AT_QUEUE, match_q},
	{"sqn", AT_QUEUE, match_sqn},
	{"rqn", AT(WQE_FETCH) | AT(CQE_WRITE), match_rqn},
	{"cqn", AT(DOORBELL) | AT(CQE_WRITE), match_cqn},
	{"opcode", AT(WQE_FETCH) | AT(CQE_WRITE), match_opcode},
	{"type", AT(EQE_WRITE), match_type},
	{"len", AT_WIRE, match_len},
};
#define MATCH_KEYS (sizeof(match_keys) / sizeof(match_keys[0]))

/* ---- arguments of actions ---- */

enum arg {
	ARG_STATUS, ARG_SYNDROME, ARG_ERRNO, ARG_US, ARG_FIELD, ARG_VALUE, ARG_OFF, ARG_XOR,
	ARG_CQE_SYNDROME, ARG_VENDOR, ARG_LEN, ARG_FILE, ARG_NS, ARG_STATE, ARG_PORT, ARG_MS,
	ARGS,
};

static bool
arg_status(struct emu_fault_action *a, const char *text)
{
	uint64_t v;

	if (!named(text, prm_status_name, 1, &v))
		return false;
	a->status = (uint8_t)v;
	return true;
}

static bool
arg_syndrome(struct emu_fault_action *a, const char *text)
{
	uint64_t v;

	if (!emu_number(text, 0, UINT32_MAX, &v))
		return false;
	a->syndrome = (uint32_t)v;
	return true;
}

static bool
arg_cqe_syndrome(struct emu_fault_action *a, const char *text)
{
	uint64_t v;

	if (!named(text, prm_cqe_syndrome_name, 1, &v))
		return false;
	a->syndrome = (uint32_t)v;
	return true;
}

static bool
arg_errno(struct emu_fault_action *a, const char *text)
{
	for (int e = 1; e < 134; e++) {
		const char *name = strerrorname_np(e);

		if (name != NULL && strcasecmp(name, text) == 0) {
			a->err = e;
			return true;
		}
	}
	return false;
}

static bool
arg_field(struct emu_fault_action *a, const char *text)
{
	free(a->field);
	a->field = strdup(text);
	return a->field != NULL && text[0] != '\0';
}

static bool
arg_ns(struct emu_fault_action *a, const char *text)
{
	bool negative = text[0] == '-';
	uint64_t v;

	if (!emu_number(text + negative, 0, INT64_MAX, &v))
		return false;
	a->ns = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool
arg_state(struct emu_fault_action *a, const char *text)
{
	a->up = strcmp(text, "up") == 0;
	return a->up || strcmp(text, "down") == 0;
}

/* Plain system calls: the libc's are interposed where the model runs. */
static bool
arg_file(struct emu_fault_action *a, const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = malloc(FILE_BYTES_MAX);
	ssize_t n = 0, got = 0;

	while (fd >= 0 && bytes != NULL && got < (ssize_t)FILE_BYTES_MAX &&
	       (n = syscall(SYS_read, fd, bytes + got, FILE_BYTES_MAX - (size_t)got)) > 0)
		got += n;
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (fd < 0 || n < 0 || got == 0) {
		free(bytes);
		return false;
	}
	free(a->bytes);
	a->bytes = bytes;
	a->len = (uint32_t)got;
	return true;
}

#define ARG_NUMBER(key, type, max) \
	static bool arg_##key(struct emu_fault_action *a, const char *text) \
	{ \
		uint64_t v; \
		if (!emu_number(text, 0, max, &v)) \
			return false; \
		a->key = (type)v; \
		return true; \
	}
ARG_NUMBER(us, uint64_t, 600000000)
ARG_NUMBER(value, uint64_t, UINT64_MAX)
ARG_NUMBER(off, uint32_t, 1u << 20)
ARG_NUMBER(xor_bits, uint32_t, 255)
ARG_NUMBER(vendor, uint8_t, 255)
ARG_NUMBER(len, uint32_t, 1u << 16)
ARG_NUMBER(port, int, EMU_MAX_PORTS - 1)
ARG_NUMBER(ms, uint64_t, 3600000)

static const struct arg_key {
	const char *name;
	bool (*set)(struct emu_fault_action *a, const char *text);
} arg_keys[ARGS] = {
	[ARG_STATUS] = {"status", arg_status},
	[ARG_SYNDROME] = {"syndrome", arg_syndrome},
	[ARG_ERRNO] = {"errno", arg_errno},
	[ARG_US] = {"us", arg_us},
	[ARG_FIELD] = {"field", arg_field},
	[ARG_VALUE] = {"value", arg_value},
	[ARG_OFF] = {"off", arg_off},
	[ARG_XOR] = {"xor", arg_xor_bits},
	[ARG_CQE_SYNDROME] = {"syndrome", arg_cqe_syndrome},
	[ARG_VENDOR] = {"vendor", arg_vendor},
	[ARG_LEN] = {"len", arg_len},
	[ARG_FILE] = {"file", arg_file},
	[ARG_NS] = {"ns", arg_ns},
	[ARG_STATE] = {"state", arg_state},
	[ARG_PORT] = {"port", arg_port},
	[ARG_MS] = {"ms", arg_ms},
};

#define NEEDS(x) (1u << ARG_##x)
/** An action at some places, with what it needs and what it takes. */
static const struct action_row {
	const char *name;
	enum emu_fault_act act;
	uint32_t places, needs, takes;
} action_rows[] = {
	{"fail", EMU_ACT_FAIL, AT_COMMAND, NEEDS(STATUS), NEEDS(SYNDROME)},
	{"fail", EMU_ACT_FAIL, AT_KERNEL, NEEDS(ERRNO), 0},
	{"set", EMU_ACT_SET, AT(CMD_EXIT), NEEDS(FIELD) | NEEDS(VALUE), 0},
	{"set", EMU_ACT_SET, AT(PCI_READ), NEEDS(VALUE), 0},
	{"delay", EMU_ACT_DELAY, AT_COMMAND | AT(DOORBELL) | AT_WIRE, NEEDS(US), 0},
	{"drop", EMU_ACT_DROP,
	 AT(DOORBELL) | AT(CQE_WRITE) | AT(EQE_WRITE) | AT_WIRE | AT(EVENT_FD) | AT(PCI_WRITE), 0, 0},
	{"dup", EMU_ACT_DUP, AT(CQE_WRITE) | AT(EQE_WRITE) | AT_WIRE, 0, 0},
	{"dup", EMU_ACT_DUP, AT(DOORBELL), 0, NEEDS(US)},
	{"corrupt", EMU_ACT_CORRUPT, AT(CQE_WRITE) | AT_WIRE, NEEDS(OFF) | NEEDS(XOR), 0},
	{"error", EMU_ACT_ERROR, AT(WQE_FETCH) | AT(CQE_WRITE), NEEDS(CQE_SYNDROME),
	 NEEDS(VENDOR)},
	{"truncate", EMU_ACT_TRUNCATE, AT_WIRE, NEEDS(LEN), 0},
	{"replace", EMU_ACT_REPLACE, AT_WIRE, NEEDS(FILE), 0},
	{"tear", EMU_ACT_TEAR, AT(CLOCK_PAGE), 0, 0},
	{"flip", EMU_ACT_FLIP, AT(CLOCK_PAGE), 0, 0},
	{"freeze", EMU_ACT_FREEZE, AT(CLOCK_PAGE), 0, 0},
	{"jump", EMU_ACT_JUMP, AT(CLOCK_PAGE), NEEDS(NS), 0},
	{"link", EMU_ACT_LINK, AT_ALL, NEEDS(STATE), NEEDS(PORT) | NEEDS(MS)},
	{"remove", EMU_ACT_REMOVE, AT_ALL, 0, NEEDS(PORT) | NEEDS(MS)},
};
#define ACTION_ROWS (sizeof(action_rows) / sizeof(action_rows[0]))

/* ---- the grammar ---- */

/* "a, b, c" of the names that a test lets through, into text. */
#define LIST(text, n, rows, name_of, allowed) \
	do { \
		size_t list_at = 0; \
		(text)[0] = '\0'; \
		for (unsigned i = 0; i < (n) && list_at < sizeof(text); i++) \
			if (allowed) \
				list_at += (size_t)snprintf((text) + list_at, \
							    sizeof(text) - list_at, "%s%s", \
							    list_at != 0 ? ", " : "", name_of); \
	} while (0)

static int
parse_place(struct parse *p, const char *word)
{
	char list[256];

	for (unsigned i = 0; word != NULL && i < EMU_PLACES; i++) {
		if (strcmp(place_names[i], word) == 0) {
			p->rule->place = (enum emu_place)i;
			return 0;
		}
	}
	LIST(list, EMU_PLACES, place_names, place_names[i], true);
	return complain(p, "'%s' is no place; there are %s", word != NULL ? word : "", list);
}

static int
parse_match(struct parse *p, const char *word, char *value)
{
	uint32_t here = 1u << p->rule->place;
	char list[128];

	for (unsigned i = 0; i < MATCH_KEYS; i++) {
		if (strcmp(match_keys[i].name, word) != 0 || (match_keys[i].places & here) == 0)
			continue;
		return match_keys[i].set(p->rule, value)
			       ? 0
			       : complain(p, "%s='%s': the value is bad", word, value);
	}
	LIST(list, MATCH_KEYS, match_keys, match_keys[i].name,
	     (match_keys[i].places & here) != 0);
	return complain(p, "'%s' cannot be matched at %s; %s can", word,
			place_names[p->rule->place], list);
}

static int
parse_limit(struct parse *p, const char *word)
{
	const char *text = strtok_r(NULL, WORD_BLANKS, &p->save);
	uint64_t *to = strcmp(word, "after") == 0   ? &p->rule->after
		       : strcmp(word, "every") == 0 ? &p->rule->every
		       : strcmp(word, "count") == 0 ? &p->rule->count
						    : NULL;

	if (to == NULL)
		return complain(p, "'%s' where match, after, every, count or do is expected", word);
	if (text == NULL || !emu_number(text, 0, UINT64_MAX, to))
		return complain(p, "%s '%s': a number is needed", word, text != NULL ? text : "");
	if (p->rule->every == 0)
		return complain(p, "every 0: there is no such rhythm");
	return 0;
}

static int
parse_args(struct parse *p, const struct action_row *row)
{
	uint32_t given = 0;
	char *word, *value, list[128];

	while ((word = strtok_r(NULL, WORD_BLANKS, &p->save)) != NULL) {
		unsigned i;

		value = strchr(word, '=');
		if (value != NULL)
			*value++ = '\0';
		for (i = 0; i < ARGS; i++)
			if (((row->needs | row->takes) >> i & 1) != 0 &&
			    strcmp(arg_keys[i].name, word) == 0)
				break;
		if (i == ARGS) {
			LIST(list, ARGS, arg_keys, arg_keys[i].name,
			     ((row->needs | row->takes) >> i & 1) != 0);
			return complain(p, "'%s' is no argument of %s; it takes: %s", word,
					row->name, list[0] != '\0' ? list : "none");
		}
		if (value == NULL || !arg_keys[i].set(&p->rule->action, value))
			return complain(p, "%s='%s': the value is bad", word,
					value != NULL ? value : "");
		given |= 1u << i;
	}
	for (unsigned i = 0; i < ARGS; i++)
		if (((row->needs & ~given) >> i & 1) != 0)
			return complain(p, "%s needs %s=", row->name, arg_keys[i].name);
	return 0;
}

static int
parse_action(struct parse *p)
{
	const char *word = strtok_r(NULL, WORD_BLANKS, &p->save);
	uint32_t here = 1u << p->rule->place;
	char list[128];

	for (unsigned i = 0; word != NULL && i < ACTION_ROWS; i++) {
		if (strcmp(action_rows[i].name, word) != 0 || (action_rows[i].places & here) == 0)
			continue;
		p->rule->action.act = action_rows[i].act;
		return parse_args(p, &action_rows[i]);
	}
	LIST(list, ACTION_ROWS, action_rows, action_rows[i].name,
	     (action_rows[i].places & here) != 0);
	return complain(p, "'%s' cannot be done at %s; %s can", word != NULL ? word : "",
			place_names[p->rule->place], list);
}

static int
parse_words(struct parse *p, char *text)
{
	char *word = strtok_r(text, WORD_BLANKS, &p->save), *value;
	bool matching = false;
	int ret = 0;

	if (word == NULL || strcmp(word, "on") != 0)
		return complain(p, "it begins with 'on PLACE', not with '%s'",
				word != NULL ? word : "");
	ret = parse_place(p, strtok_r(NULL, WORD_BLANKS, &p->save));
	while (ret == 0 && (word = strtok_r(NULL, WORD_BLANKS, &p->save)) != NULL) {
		if (strcmp(word, "do") == 0)
			return parse_action(p);
		value = strchr(word, '=');
		if (value != NULL && matching) {
			*value++ = '\0';
			ret = parse_match(p, word, value);
			continue;
		}
		matching = strcmp(word, "match") == 0;
		if (!matching)
			ret = parse_limit(p, word);
	}
	return ret != 0 ? ret : complain(p, "there is no 'do ACTION'");
}

void
emu_rule_free(struct emu_rule *rule)
{
	if (rule == NULL)
		return;
	free(rule->match.method);
	free(rule->action.field);
	free(rule->action.bytes);
	free(rule->text);
	free(rule);
}

int
emu_rule_parse(const char *text, struct emu_rule **out, char *err, size_t err_len)
{
	struct parse p = {.rule = calloc(1, sizeof(*p.rule)), .err = err, .err_len = err_len};
	char *copy = strdup(text);
	int ret = -ENOMEM;

	if (p.rule != NULL && copy != NULL && (p.rule->text = strdup(text)) != NULL) {
		struct emu_fault_match *m = &p.rule->match;

		m->port = m->op = m->opcode = m->sqn = m->rqn = m->cqn = m->type = m->len = -1;
		m->q = -1;
		m->chance = 1;
		p.rule->every = 1;
		p.rule->count = UINT64_MAX;
		p.rule->action.port = -1;
		p.rule->action.syndrome = FAULT_SYNDROME;
		ret = parse_words(&p, copy);
	} else {
		snprintf(err, err_len, "fault rule: out of memory");
	}
	free(copy);
	if (ret == 0)
		*out = p.rule;
	else
		emu_rule_free(p.rule);
	return ret;
}
