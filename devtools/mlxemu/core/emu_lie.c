/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Lies: what they are about, and how each kind is told. */
#include "emu_lie.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <prm.h>

#include "emu_audit.h"
#include "emu_number.h"

#define NAME_BYTES 160u
#define VALUE_BYTES 160u
#define FRAME_BYTES_MAX (1u << 16)
#define FRAME_LAST UINT32_MAX
#define CQE_BYTES 64u
#define CQE_LAST 56u /* where the last 8 bytes begin, which are written at once */
#define IOCTL_ATTR_ANY 0xffffu
#define IOCTL_ATTR_UHW 0x1001u
/* More windows than any WQE has pieces: what the device reads of one WQE is there at once. */
#define BOUNCES 256u
#define ERRNO_LAST EHWPOISON
#define ERRNO_MASK 0xfffu /* of what a system call may return as an error */
/* Before a field's name: that of error completions, where the same word means another place. */
#define OF_ERRORS "error."

uint32_t emu_lies;

struct lie {
	struct lie *next;
	enum emu_lie_kind kind;
	char name[NAME_BYTES]; /**< What follows the kind: a path, a field, a counter. */
	bool has_value;
	uint64_t value;
	char text[VALUE_BYTES]; /**< The value as it was typed. */
	/* By kind: */
	uint16_t opcode;		 /**< cmd */
	const struct prm_member *member; /**< cqe, eqe */
	uint32_t offset;		 /**< frame, ioctl: bytes */
	unsigned hi, lo;		 /**< ioctl: bits of the little-endian number there */
	uint16_t attr;			 /**< ioctl */
};

static struct lie *lies;

/* ---- what can be lied about ---- */

static const char *const clock_names[] = {
	"nsec", "cycles", "frac", "mult", "shift", "mask", "overflow_period", "core",
};
#define CLOCK_NAMES (sizeof(clock_names) / sizeof(clock_names[0]))

static bool
member_of(const struct prm_member *m, enum emu_lie_kind kind)
{
	if (kind == EMU_LIE_EQE)
		return strcmp(m->structure, "eqe") == 0;
	return strcmp(m->structure, "cqe64") == 0 || strcmp(m->structure, "err_cqe") == 0;
}

static bool
is_error_member(const struct prm_member *m)
{
	return strcmp(m->structure, "err_cqe") == 0;
}

/* By its name, or by that of its bits alone: "hds_ip_ext.l3_ok", "l3_ok". */
static bool
parse_member(struct lie *l, const char *name)
{
	bool errors = l->kind == EMU_LIE_CQE && strncmp(name, OF_ERRORS, strlen(OF_ERRORS)) == 0;
	const struct prm_member *m;

	name += errors ? strlen(OF_ERRORS) : 0;
	for (unsigned i = 0; (m = prm_member_at(i)) != NULL; i++) {
		const char *dot = strchr(m->name, '.');

		if (!member_of(m, l->kind) || (errors && !is_error_member(m)) ||
		    (strcmp(m->name, name) != 0 && (dot == NULL || strcmp(dot + 1, name) != 0)))
			continue;
		l->member = m;
		return true;
	}
	return false;
}

static bool
parse_cmd(struct lie *l, const char *name)
{
	const char *dot = strchr(name, '.');

	for (unsigned i = 0; dot != NULL && dot[1] != '\0' && i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);

		if (strlen(cmd->name) != (size_t)(dot - name) ||
		    strncasecmp(cmd->name, name, (size_t)(dot - name)) != 0)
			continue;
		l->opcode = cmd->opcode;
		memmove(l->name, dot + 1, strlen(dot + 1) + 1);
		return true;
	}
	return false;
}

static bool
parse_frame(struct lie *l, const char *name)
{
	uint64_t offset;

	if (strcmp(name, "last") == 0) {
		l->offset = FRAME_LAST;
		return true;
	}
	if (!emu_number(name, 0, FRAME_BYTES_MAX - 1, &offset))
		return false;
	l->offset = (uint32_t)offset;
	return true;
}

static bool
parse_clock(struct lie *l, const char *name)
{
	(void)l;
	for (unsigned i = 0; i < CLOCK_NAMES; i++)
		if (strcmp(clock_names[i], name) == 0)
			return true;
	return false;
}

/* .BIT or .HI-LO, either way round; without them it is the byte: its lowest bit is flipped, a value fills it. */
static bool
parse_bits(struct lie *l, const char *s)
{
	uint64_t hi = 7, lo = 0;

	if (*s == '.') {
		s = emu_number_scan(s + 1, &hi);
		lo = hi;
		if (s != NULL && *s == '-')
			s = emu_number_scan(s + 1, &lo);
	}
	if (s == NULL || *s != '\0' || hi >= 64 || lo >= 64)
		return false;
	l->hi = (unsigned)(hi > lo ? hi : lo);
	l->lo = (unsigned)(hi > lo ? lo : hi);
	return true;
}

/* METHOD[:uhw|:ATTR].OFFSET[.BIT|.HI-LO]; ATTR is hexadecimal as in the trace. */
static bool
parse_ioctl(struct lie *l, const char *name)
{
	const char *end = name + strcspn(name, ".:"), *dot = strchr(end, '.');
	unsigned attr = IOCTL_ATTR_ANY;
	uint64_t offset;
	int n = 0;

	if (end == name || dot == NULL)
		return false;
	if (dot - end == 4 && strncmp(end, ":uhw", 4) == 0)
		attr = IOCTL_ATTR_UHW;
	else if (end != dot && (sscanf(end, ":%x%n", &attr, &n) != 1 || end + n != dot))
		return false;
	snprintf(l->name, sizeof(l->name), "%.*s", (int)(end - name), name);
	end = emu_number_scan(dot + 1, &offset);
	if (end == NULL || offset > UINT32_MAX)
		return false;
	l->offset = (uint32_t)offset;
	l->attr = (uint16_t)attr;
	return parse_bits(l, end);
}

static bool
parse_name(struct lie *l, const char *name)
{
	(void)l;
	return name[0] != '\0';
}

static bool
parse_counter(struct lie *l, const char *name)
{
	static const struct emu_dev none;
	const char *known;
	uint64_t value;

	(void)l;
	for (unsigned i = 0; emu_audit_stat(&none, i, &known, &value); i++)
		if (strcmp(known, name) == 0)
			return true;
	return false;
}

static bool
parse_mr(struct lie *l, const char *name)
{
	return !l->has_value && strcmp(name, "data") == 0;
}

static const struct lie_form {
	const char *word, *form, *about;
	bool (*parse)(struct lie *l, const char *name);
} forms[EMU_LIE_KINDS] = {
	[EMU_LIE_CMD] = {"cmd", "cmd.COMMAND.PATH", "a field of a firmware command's answer, by its "
			 "PRM path or the end of it", parse_cmd},
	[EMU_LIE_CQE] = {"cqe", "cqe.FIELD, cqe.error.FIELD", "a field of completions, of those that "
			 "tell errors", parse_member},
	[EMU_LIE_EQE] = {"eqe", "eqe.FIELD", "a field of event queue entries", parse_member},
	[EMU_LIE_FRAME] = {"frame", "frame.BYTE, frame.last", "a byte of delivered frames",
			   parse_frame},
	[EMU_LIE_CLOCK] = {"clock", "clock.FIELD", "the clock page; core: the counter register",
			   parse_clock},
	[EMU_LIE_IOCTL] = {"ioctl", "ioctl.METHOD[:uhw|:ATTR].OFFSET[.BIT|.HI-LO]",
			   "bytes that a call of the kernel returns; uhw: the driver's part",
			   parse_ioctl},
	[EMU_LIE_ERRNO] = {"errno", "errno.METHOD", "whether a call of the kernel was done; its value "
			   "is an errno, 0: done", parse_name},
	[EMU_LIE_SYSFS] = {"sysfs", "sysfs.NAME", "a file below /sys by name or end of its path: "
			   "its last digit, or all of it", parse_name},
	[EMU_LIE_COUNTER] = {"counter", "counter.NAME", "a port counter of the report", parse_counter},
	[EMU_LIE_MR] = {"mr", "mr.data", "the first byte of what a queue pair reads from memory",
			parse_mr},
};

static int
complain(char *err, size_t err_len, const char *text, const char *form)
{
	size_t n;

	if (form != NULL) {
		snprintf(err, err_len, "lie '%s': not known; the form is %s[=VALUE]", text, form);
		return -EINVAL;
	}
	n = (size_t)snprintf(err, err_len, "lie '%s': there are", text);
	for (unsigned i = 0; i < EMU_LIE_KINDS && n < err_len; i++)
		n += (size_t)snprintf(err + n, err_len - n, "%s %s", i != 0 ? "," : "",
				      forms[i].form);
	return -EINVAL;
}

static bool
parse_value(struct lie *l, const char *value)
{
	if (value == NULL)
		return true;
	l->has_value = true;
	snprintf(l->text, sizeof(l->text), "%s", value);
	if (l->kind == EMU_LIE_SYSFS)
		return strlen(value) < sizeof(l->text);
	for (int e = 1; l->kind == EMU_LIE_ERRNO && e <= ERRNO_LAST; e++)
		if (strerrorname_np(e) != NULL && strcmp(strerrorname_np(e), value) == 0) {
			l->value = (uint64_t)e;
			return true;
		}
	return emu_number(value, 0, UINT64_MAX, &l->value);
}

int
emu_lie_add(const char *text, char *err, size_t err_len)
{
	const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
	struct lie *l = NULL, **tail = &lies;
	unsigned kind;
	size_t n;

	for (kind = 0; kind < EMU_LIE_KINDS; kind++)
		if (dot != NULL && strlen(forms[kind].word) == (size_t)(dot - text) &&
		    strncmp(forms[kind].word, text, (size_t)(dot - text)) == 0)
			break;
	if (kind == EMU_LIE_KINDS)
		return complain(err, err_len, text, NULL);
	n = equals != NULL ? (size_t)(equals - dot) - 1 : strlen(dot + 1);
	if (n >= NAME_BYTES || (equals != NULL && equals < dot))
		return complain(err, err_len, text, forms[kind].form);
	l = calloc(1, sizeof(*l));
	if (l == NULL) {
		snprintf(err, err_len, "out of memory");
		return -ENOMEM;
	}
	l->kind = (enum emu_lie_kind)kind;
	memcpy(l->name, dot + 1, n);
	if (!parse_value(l, equals != NULL ? equals + 1 : NULL) ||
	    !forms[kind].parse(l, strdupa(l->name))) {
		free(l);
		return complain(err, err_len, text, forms[kind].form);
	}
	while (*tail != NULL)
		tail = &(*tail)->next;
	*tail = l;
	emu_lies |= 1u << kind;
	return 0;
}

void
emu_lie_clear(void)
{
	while (lies != NULL) {
		struct lie *l = lies;

		lies = l->next;
		free(l);
	}
	emu_lies = 0;
}

/* ---- how they are told ---- */

#define FOREACH_LIE(l, k) \
	for (const struct lie *l = lies; l != NULL; l = l->next) \
		if (l->kind == (k))

static uint64_t
told(const struct lie *l, uint64_t truth)
{
	return l->has_value ? l->value : truth ^ 1;
}

void
emu_lie_reply(const void *in, size_t in_len, void *out, size_t out_len)
{
	struct prm_place place;

	if (in_len < PRM_CMD_IN_BYTES)
		return;
	FOREACH_LIE(l, EMU_LIE_CMD)
		if (l->opcode == prm_cmd_in_get_opcode(in) &&
		    prm_locate_out(in, in_len, out, out_len, l->name, &place))
			prm_place_set(&place, told(l, prm_place_get(&place)));
}

static void
tell_member(const struct lie *l, uint8_t *structure)
{
	const struct prm_member *m = l->member;
	uint64_t v = 0, mask = m->hi - m->lo == 63 ? UINT64_MAX : (1ull << (m->hi - m->lo + 1)) - 1;

	for (unsigned i = 0; i < m->bytes; i++)
		v = v << 8 | structure[m->offset + i];
	v = (v & ~(mask << m->lo)) | (told(l, v >> m->lo & mask) & mask) << m->lo;
	for (unsigned i = m->bytes; i-- > 0; v >>= 8)
		structure[m->offset + i] = (uint8_t)v;
}

void
emu_lie_cqe(void *cqe, uint64_t *last)
{
	uint8_t copy[CQE_BYTES], opcode = *last >> 4 & 0xf;
	bool error = opcode == PRM_CQE_OPCODE_REQ_ERR || opcode == PRM_CQE_OPCODE_RESP_ERR;
	uint64_t be = htobe64(*last);

	memcpy(copy, cqe, CQE_LAST);
	memcpy(copy + CQE_LAST, &be, sizeof(be));
	FOREACH_LIE(l, EMU_LIE_CQE)
		if (is_error_member(l->member) == error)
			tell_member(l, copy);
	memcpy(cqe, copy, CQE_LAST);
	memcpy(&be, copy + CQE_LAST, sizeof(be));
	*last = be64toh(be);
}

void
emu_lie_eqe(void *eqe)
{
	FOREACH_LIE(l, EMU_LIE_EQE)
		tell_member(l, eqe);
}

const uint8_t *
emu_lie_frame(const uint8_t *frame, uint32_t len)
{
	static uint8_t copy[FRAME_BYTES_MAX];

	if (len == 0 || len > sizeof(copy))
		return frame;
	memcpy(copy, frame, len);
	FOREACH_LIE(l, EMU_LIE_FRAME) {
		uint32_t at = l->offset == FRAME_LAST ? len - 1 : l->offset;

		if (at < len)
			copy[at] = (uint8_t)told(l, copy[at]);
	}
	return copy;
}

uint64_t
emu_lie_clock(const char *name, uint64_t value)
{
	FOREACH_LIE(l, EMU_LIE_CLOCK)
		if (strcmp(l->name, name) == 0)
			value = told(l, value);
	return value;
}

void
emu_lie_ioctl(const char *method, uint16_t attr, void *data, size_t len)
{
	FOREACH_LIE(l, EMU_LIE_IOCTL) {
		uint64_t v = 0, mask = l->hi - l->lo == 63 ? UINT64_MAX
							   : (1ull << (l->hi - l->lo + 1)) - 1;
		size_t bytes = l->hi / 8 + 1;

		if (strcasecmp(l->name, method) != 0 || l->offset + bytes > len ||
		    (l->attr == IOCTL_ATTR_ANY ? attr == IOCTL_ATTR_UHW : attr != l->attr))
			continue;
		memcpy(&v, (uint8_t *)data + l->offset, bytes);
		v = le64toh(v);
		v = (v & ~(mask << l->lo)) | (told(l, v >> l->lo & mask) & mask) << l->lo;
		v = htole64(v);
		memcpy((uint8_t *)data + l->offset, &v, bytes);
	}
}

int
emu_lie_errno(const char *method, int ret)
{
	FOREACH_LIE(l, EMU_LIE_ERRNO)
		if (strcasecmp(l->name, method) == 0)
			ret = l->has_value ? -(int)(l->value & ERRNO_MASK) : ret < 0 ? 0 : -EINVAL;
	return ret;
}

/* The last digit of the text becomes another of the same base. */
static void
change_digit(char *text)
{
	for (size_t i = strlen(text); i-- > 0;) {
		if (isdigit((unsigned char)text[i])) {
			text[i] = (char)('0' + ((text[i] - '0') ^ 1) % 10);
			return;
		}
		if (isalpha((unsigned char)text[i])) {
			text[i] = (char)(tolower((unsigned char)text[i]) == 'a' ? 'b' : 'a');
			return;
		}
	}
}

void
emu_lie_sysfs(const char *path, char *text, size_t len)
{
	FOREACH_LIE(l, EMU_LIE_SYSFS) {
		size_t n = strlen(path), m = strlen(l->name);

		if (m > n || strcmp(path + n - m, l->name) != 0 ||
		    (m < n && path[n - m - 1] != '/'))
			continue;
		if (l->has_value)
			snprintf(text, len, "%s\n", l->text);
		else
			change_digit(text);
	}
}

uint64_t
emu_lie_counter(const char *name, uint64_t value)
{
	FOREACH_LIE(l, EMU_LIE_COUNTER)
		if (strcmp(l->name, name) == 0)
			value = told(l, value);
	return value;
}

void *
emu_lie_data(void *at, uint64_t len)
{
	static uint8_t *bounce[BOUNCES];
	static unsigned next;
	uint8_t *copy = len != 0 ? malloc(len) : NULL;

	if (copy == NULL)
		return at;
	memcpy(copy, at, len);
	copy[0] ^= 1;
	free(bounce[next]);
	bounce[next] = copy;
	next = (next + 1) % BOUNCES;
	return copy;
}

/* ---- the list ---- */

/** Prints names that begin with what was asked for. */
struct listing {
	const char *prefix;
	const char *command;
};

static unsigned listed;

static void
list_one(const char *prefix, const char *name)
{
	if (strncasecmp(name, prefix, strlen(prefix)) != 0)
		return;
	printf("%s\n", name);
	listed++;
}

static void
list_path(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	const struct listing *l = arg;
	char name[512];

	(void)value;
	(void)enum_name;
	snprintf(name, sizeof(name), "cmd.%s.%s", l->command, path);
	list_one(l->prefix, name);
}

static void
list_commands(const char *prefix)
{
	static uint32_t in[64], out[2048];
	struct listing l = {.prefix = prefix};

	for (unsigned i = 0; i < prm_command_count(); i++) {
		const struct prm_command *cmd = prm_command_at(i);
		size_t bytes = cmd->out_bytes_min < sizeof(out) ? cmd->out_bytes_min : sizeof(out);

		memset(in, 0, sizeof(in));
		prm_cmd_in_set_opcode((struct prm_cmd_in *)(void *)in, cmd->opcode);
		l.command = cmd->name;
		prm_decode_out(in, sizeof(in), out, bytes, false, list_path, &l);
	}
}

static void
list_members(const char *prefix, enum emu_lie_kind kind)
{
	const struct prm_member *m;
	char name[NAME_BYTES];

	for (unsigned i = 0; (m = prm_member_at(i)) != NULL; i++) {
		if (!member_of(m, kind))
			continue;
		snprintf(name, sizeof(name), "%s.%s%s", forms[kind].word,
			 kind == EMU_LIE_CQE && is_error_member(m) ? OF_ERRORS : "", m->name);
		list_one(prefix, name);
	}
}

static void
list_counters(const char *prefix)
{
	static const struct emu_dev none;
	const char *counter;
	char name[NAME_BYTES];
	uint64_t value;

	for (unsigned i = 0; emu_audit_stat(&none, i, &counter, &value); i++) {
		snprintf(name, sizeof(name), "counter.%s", counter);
		list_one(prefix, name);
	}
}

unsigned
emu_lie_list(const char *prefix)
{
	char name[NAME_BYTES];

	listed = 0;
	if (prefix == NULL) {
		for (unsigned i = 0; i < EMU_LIE_KINDS; i++)
			printf("%-46s %s\n", forms[i].form, forms[i].about);
		return EMU_LIE_KINDS;
	}
	list_commands(prefix);
	list_members(prefix, EMU_LIE_CQE);
	list_members(prefix, EMU_LIE_EQE);
	for (unsigned i = 0; i < CLOCK_NAMES; i++) {
		snprintf(name, sizeof(name), "clock.%s", clock_names[i]);
		list_one(prefix, name);
	}
	list_counters(prefix);
	/* The others have no list of names: their form. */
	for (unsigned i = 0; i < EMU_LIE_KINDS && listed == 0; i++)
		list_one(prefix, forms[i].form);
	return listed;
}
