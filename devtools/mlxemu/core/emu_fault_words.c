/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The words of fault rules: tables of events, match keys, arguments and actions, and their values. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <prm.h>

#include "emu_audit.h"
#include "emu_fault_rule.h"
#include "emu_number.h"

#define FILE_BYTES_MAX (1u << 20)

#define ON(kind) (1u << EMU_ON_##kind)
#define ON_COMMAND (ON(CMD_ENTRY) | ON(CMD_EXIT))
#define ON_WIRE (ON(WIRE_RX) | ON(WIRE_TX))
#define ON_QUEUE (ON(DOORBELL) | ON(WQE_FETCH) | ON(CQE_WRITE) | ON(RX_DELIVER))
#define ON_RX (ON(WQE_FETCH) | ON(CQE_WRITE) | ON(RX_DELIVER))
#define ON_PCI (ON(PCI_READ) | ON(PCI_WRITE))
#define ON_METHOD (ON(IOCTL) | ON(IOCTL_OUT) | ON(IOCTL_EXIT))
#define ON_KERNEL (ON(UMEM_REG) | ON(MR_REG) | ON(IOCTL) | ON(OPEN) | ON(MMAP) | \
		   ON(ALLOC) | ON_PCI)
/* All but those that only set rules can use. */
#define ON_SET_ONLY \
	(ON(RX_DELIVER) | ON(DMA_READ) | ON(CLOCK_VALUE) | ON(COUNTER_READ) | ON(IOCTL_OUT) | \
	 ON(IOCTL_EXIT) | ON(SYSFS_WRITE))
#define ON_ALL ((1u << EMU_FAULT_KINDS) - 1)

const char *const emu_fault_names[EMU_FAULT_KINDS] = {
	[EMU_ON_CMD_ENTRY] = "cmd.entry",     [EMU_ON_CMD_EXIT] = "cmd.exit",
	[EMU_ON_UMEM_REG] = "umem.reg",	      [EMU_ON_MR_REG] = "mr.reg",
	[EMU_ON_DOORBELL] = "doorbell",	      [EMU_ON_WQE_FETCH] = "wqe.fetch",
	[EMU_ON_CQE_WRITE] = "cqe.write",     [EMU_ON_EQE_WRITE] = "eqe.write",
	[EMU_ON_WIRE_RX] = "wire.rx",	      [EMU_ON_WIRE_TX] = "wire.tx",
	[EMU_ON_RX_DELIVER] = "rx.deliver",   [EMU_ON_DMA_READ] = "dma.read",
	[EMU_ON_CLOCK_PAGE] = "clock.page",   [EMU_ON_CLOCK_VALUE] = "clock.value",
	[EMU_ON_COUNTER_READ] = "counter.read", [EMU_ON_EVENT_FD] = "event.fd",
	[EMU_ON_IOCTL] = "ioctl",	      [EMU_ON_IOCTL_OUT] = "ioctl.out",
	[EMU_ON_IOCTL_EXIT] = "ioctl.exit",   [EMU_ON_OPEN] = "open",
	[EMU_ON_MMAP] = "mmap",		      [EMU_ON_PCI_READ] = "pci.read",
	[EMU_ON_PCI_WRITE] = "pci.write",     [EMU_ON_SYSFS_WRITE] = "sysfs.write",
	[EMU_ON_ALLOC] = "alloc",
};

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
match_name(struct emu_rule *r, const char *text)
{
	free(r->match.name);
	r->match.name = strdup(text);
	return r->match.name != NULL && text[0] != '\0';
}

static bool
match_listed(struct emu_rule *r, const char *text, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcasecmp(names[i], text) == 0)
			return match_name(r, text);
	return false;
}

/* The names of abi_mmap_page() and of the VFIO front end. */
static bool
match_page(struct emu_rule *r, const char *text)
{
	static const char *const names[] = {"clock", "core", "doorbell", "bar", "other"};

	return match_listed(r, text, names, sizeof(names) / sizeof(names[0]));
}

/* Registers of the VSC: dword_name() of emu_pci.c. */
static bool
match_reg(struct emu_rule *r, const char *text)
{
	static const char *const names[] = {"control", "counter", "semaphore", "address", "data",
					    "other"};

	return match_listed(r, text, names, sizeof(names) / sizeof(names[0]));
}

/* Fields of the kernel's clock page, struct mlx5_ib_clock_info of rdma/mlx5-abi.h, and registers. */
static const char *const clock_names[] = {
	"nsec", "cycles", "frac", "mult", "shift", "mask", "overflow_period", "core", "real",
};
#define CLOCK_NAMES (sizeof(clock_names) / sizeof(clock_names[0]))

const char *
emu_fault_clock_name(unsigned i)
{
	return i < CLOCK_NAMES ? clock_names[i] : NULL;
}

static bool
match_clock(struct emu_rule *r, const char *text)
{
	return match_listed(r, text, clock_names, CLOCK_NAMES);
}

static bool
match_counter(struct emu_rule *r, const char *text)
{
	const char *name;

	for (unsigned i = 0; (name = emu_audit_stat_name(i)) != NULL; i++)
		if (strcmp(name, text) == 0)
			return match_name(r, text);
	return false;
}

/* uhw, or hexadecimal as in the trace. */
static bool
match_attr(struct emu_rule *r, const char *text)
{
	unsigned long attr;
	char *end;

	if (strcmp(text, "uhw") == 0) {
		r->match.attr = EMU_FAULT_ATTR_UHW;
		return true;
	}
	attr = strtoul(text, &end, 16);
	r->match.attr = (int64_t)attr;
	return text[0] != '-' && end != text && *end == '\0' && attr <= UINT16_MAX;
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

const struct emu_fault_key emu_fault_keys[] = {
	{"port", ON_ALL & ~(ON(SYSFS_WRITE) | ON(ALLOC)), match_port},
	{"chance", ON_ALL, match_chance},
	{"op", ON_COMMAND, match_op},
	{"method", ON_METHOD, match_name},
	{"attr", ON(IOCTL_OUT), match_attr},
	{"page", ON(MMAP), match_page},
	{"from", ON(ALLOC), match_name},
	{"reg", ON_PCI, match_reg},
	{"name", ON(CLOCK_VALUE), match_clock},
	{"name", ON(COUNTER_READ), match_counter},
	{"file", ON(SYSFS_WRITE), match_name},
	{"q", ON_QUEUE, match_q},
	{"sqn", ON_QUEUE & ~ON(RX_DELIVER), match_sqn},
	{"rqn", ON_RX, match_rqn},
	{"cqn", ON(DOORBELL) | ON(CQE_WRITE), match_cqn},
	{"opcode", ON(WQE_FETCH) | ON(CQE_WRITE), match_opcode},
	{"type", ON(EQE_WRITE), match_type},
	{"len", ON_WIRE | ON(RX_DELIVER) | ON(DMA_READ), match_len},
};
const unsigned emu_fault_key_count = sizeof(emu_fault_keys) / sizeof(emu_fault_keys[0]);

enum arg {
	ARG_STATUS, ARG_SYNDROME, ARG_ERRNO, ARG_US, ARG_FIELD, ARG_VALUE, ARG_OFF, ARG_XOR,
	ARG_CQE_SYNDROME, ARG_VENDOR, ARG_LEN, ARG_FILE, ARG_NS, ARG_STATE, ARG_PORT, ARG_MS,
	ARG_CQE_FIELD, ARG_EQE_FIELD, ARG_OFF_LAST, ARG_BITS, ARG_RETURN, ARG_TEXT,
	ARGS,
};

#define ARG_NAMED(arg, member, type, name) \
	static bool arg_##arg(struct emu_fault_action *a, const char *text) \
	{ \
		uint64_t v; \
		if (!named(text, name, 1, &v)) \
			return false; \
		a->member = (type)v; \
		return true; \
	}
ARG_NAMED(status, status, uint8_t, prm_status_name)
ARG_NAMED(cqe_syndrome, syndrome, uint32_t, prm_cqe_syndrome_name)

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

bool
emu_fault_is_error_member(const struct prm_member *m)
{
	return strcmp(m->structure, "err_cqe") == 0;
}

bool
emu_fault_member_at(const struct prm_member *m, enum emu_fault_kind kind)
{
	if (kind == EMU_ON_EQE_WRITE)
		return strcmp(m->structure, "eqe") == 0;
	return strcmp(m->structure, "cqe64") == 0 || emu_fault_is_error_member(m);
}

/* By the whole name or by that of its bits alone: "hds_ip_ext.l3_ok", "l3_ok". */
static bool
find_member(struct emu_fault_action *a, const char *name, enum emu_fault_kind kind)
{
	const size_t prefix = strlen(EMU_FAULT_OF_ERRORS);
	bool errors = kind == EMU_ON_CQE_WRITE && strncmp(name, EMU_FAULT_OF_ERRORS, prefix) == 0;
	const struct prm_member *m;

	name += errors ? prefix : 0;
	for (unsigned i = 0; (m = prm_member_at(i)) != NULL; i++) {
		const char *dot = strchr(m->name, '.');

		if (!emu_fault_member_at(m, kind) || (errors && !emu_fault_is_error_member(m)) ||
		    (strcmp(m->name, name) != 0 && (dot == NULL || strcmp(dot + 1, name) != 0)))
			continue;
		a->member = m;
		return true;
	}
	return false;
}

static bool
arg_cqe_field(struct emu_fault_action *a, const char *text)
{
	return find_member(a, text, EMU_ON_CQE_WRITE);
}

static bool
arg_eqe_field(struct emu_fault_action *a, const char *text)
{
	return find_member(a, text, EMU_ON_EQE_WRITE);
}

static bool
arg_value(struct emu_fault_action *a, const char *text)
{
	a->has_value = true;
	return emu_number(text, 0, UINT64_MAX, &a->value);
}

static bool
arg_text(struct emu_fault_action *a, const char *text)
{
	free(a->text);
	a->text = strdup(text);
	a->has_value = true;
	return a->text != NULL;
}

/* HI-LO, either way round, or one bit. */
static bool
arg_bits(struct emu_fault_action *a, const char *text)
{
	uint64_t hi, lo;

	text = emu_number_scan(text, &hi);
	lo = hi;
	if (text != NULL && *text == '-')
		text = emu_number_scan(text + 1, &lo);
	if (text == NULL || *text != '\0' || hi >= 64 || lo >= 64)
		return false;
	a->hi = (unsigned)(hi > lo ? hi : lo);
	a->lo = (unsigned)(hi > lo ? lo : hi);
	return true;
}

/* What a call returns: the name of an errno, or 0 for success. */
static bool
arg_return(struct emu_fault_action *a, const char *text)
{
	a->has_value = true;
	return strcmp(text, "0") == 0 || arg_errno(a, text);
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
ARG_NUMBER(syndrome, uint32_t, UINT32_MAX)
ARG_NUMBER(us, uint64_t, 600000000)
ARG_NUMBER(off, uint32_t, 1u << 20)
ARG_NUMBER(xor_bits, uint32_t, 255)
ARG_NUMBER(vendor, uint8_t, 255)
ARG_NUMBER(len, uint32_t, 1u << 16)
ARG_NUMBER(port, int, EMU_MAX_PORTS - 1)
ARG_NUMBER(ms, uint64_t, 3600000)

static bool
arg_off_last(struct emu_fault_action *a, const char *text)
{
	if (strcmp(text, "last") != 0)
		return arg_off(a, text);
	a->off = EMU_FAULT_OFF_LAST;
	return true;
}

const struct emu_fault_arg emu_fault_args[ARGS] = {
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
	[ARG_CQE_FIELD] = {"field", arg_cqe_field},
	[ARG_EQE_FIELD] = {"field", arg_eqe_field},
	[ARG_OFF_LAST] = {"off", arg_off_last},
	[ARG_BITS] = {"bits", arg_bits},
	[ARG_RETURN] = {"errno", arg_return},
	[ARG_TEXT] = {"value", arg_text},
};
const unsigned emu_fault_arg_count = ARGS;

#define ARG(x) (1u << ARG_##x)
const struct emu_fault_row emu_fault_rows[] = {
	{"fail", EMU_ACT_FAIL, ON_COMMAND, ARG(STATUS), ARG(SYNDROME)},
	{"fail", EMU_ACT_FAIL, ON_KERNEL, ARG(ERRNO), 0},
	{"set", EMU_ACT_SET, ON(CMD_EXIT), ARG(FIELD), ARG(VALUE)},
	{"set", EMU_ACT_SET, ON(CQE_WRITE), ARG(CQE_FIELD), ARG(VALUE)},
	{"set", EMU_ACT_SET, ON(EQE_WRITE), ARG(EQE_FIELD), ARG(VALUE)},
	{"set", EMU_ACT_SET, ON(RX_DELIVER) | ON(DMA_READ), ARG(OFF_LAST), ARG(VALUE)},
	{"set", EMU_ACT_SET, ON(CLOCK_VALUE) | ON(COUNTER_READ), 0, ARG(VALUE)},
	{"set", EMU_ACT_SET, ON(PCI_READ), ARG(VALUE), 0},
	{"set", EMU_ACT_SET, ON(IOCTL_OUT), ARG(OFF), ARG(BITS) | ARG(VALUE)},
	{"set", EMU_ACT_SET, ON(IOCTL_EXIT), 0, ARG(RETURN)},
	{"set", EMU_ACT_SET, ON(SYSFS_WRITE), 0, ARG(TEXT)},
	{"delay", EMU_ACT_DELAY, ON_COMMAND | ON(DOORBELL) | ON_WIRE, ARG(US), 0},
	{"drop", EMU_ACT_DROP,
	 ON(DOORBELL) | ON(CQE_WRITE) | ON(EQE_WRITE) | ON_WIRE | ON(EVENT_FD) | ON(PCI_WRITE), 0, 0},
	{"dup", EMU_ACT_DUP, ON(CQE_WRITE) | ON(EQE_WRITE) | ON_WIRE, 0, 0},
	{"dup", EMU_ACT_DUP, ON(DOORBELL), 0, ARG(US)},
	{"corrupt", EMU_ACT_CORRUPT, ON(CQE_WRITE) | ON_WIRE, ARG(OFF) | ARG(XOR), 0},
	{"error", EMU_ACT_ERROR, ON(WQE_FETCH) | ON(CQE_WRITE), ARG(CQE_SYNDROME), ARG(VENDOR)},
	{"truncate", EMU_ACT_TRUNCATE, ON_WIRE, ARG(LEN), 0},
	{"replace", EMU_ACT_REPLACE, ON_WIRE, ARG(FILE), 0},
	{"fcs", EMU_ACT_FCS, ON(WIRE_RX), 0, 0},
	{"discard", EMU_ACT_DISCARD, ON(WIRE_RX), 0, 0},
	{"tear", EMU_ACT_TEAR, ON(CLOCK_PAGE), 0, 0},
	{"flip", EMU_ACT_FLIP, ON(CLOCK_PAGE), 0, 0},
	{"freeze", EMU_ACT_FREEZE, ON(CLOCK_PAGE), 0, 0},
	{"jump", EMU_ACT_JUMP, ON(CLOCK_PAGE), ARG(NS), 0},
	{"link", EMU_ACT_LINK, ON_ALL & ~ON_SET_ONLY, ARG(STATE), ARG(PORT) | ARG(MS)},
	{"remove", EMU_ACT_REMOVE, ON_ALL & ~ON_SET_ONLY, 0, ARG(PORT) | ARG(MS)},
	{"fatal", EMU_ACT_FATAL, ON_ALL & ~ON_SET_ONLY, ARG(SYNDROME), ARG(PORT) | ARG(MS)},
};
const unsigned emu_fault_row_count = sizeof(emu_fault_rows) / sizeof(emu_fault_rows[0]);
