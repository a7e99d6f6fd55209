/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules: the list, which rule hits an event, and the log of the hits. */
#include "emu_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <prm.h>

#include "emu_audit.h"
#include "emu_fault_rule.h"
#include "emu_pci.h"

#define LOG_LINES 1024u
#define LOG_BYTES 256u
#define FILE_BYTES_MAX (1u << 20)

uint32_t emu_fault_armed, emu_fault_sets;
void (*emu_fault_alloc_hook)(void);

/* Protected by the machine's lock. */
static struct {
	struct emu_rule *rules;
	uint64_t seed, commands, ioctls, hits, delay_us;
	unsigned rules_made;
} fault = {.seed = 1};

/* Static: a hit can be in a signal handler (clock.value), which must not allocate. */
static char hit_log[LOG_LINES][LOG_BYTES];

static bool
spent(const struct emu_rule *rule)
{
	return rule->hits >= rule->count;
}

static void
arm(void)
{
	uint32_t armed = 0, sets = 0;

	for (const struct emu_rule *r = fault.rules; r != NULL; r = r->next) {
		if (spent(r))
			continue;
		armed |= 1u << r->kind;
		if (r->action.act == EMU_ACT_SET)
			sets |= 1u << r->kind;
	}
	emu_fault_armed = armed;
	emu_fault_sets = sets;
}

/* SplitMix64. Each rule has a stream of its own: adding one does not change the hits of another. */
static uint64_t
random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void
random_begin(struct emu_rule *rule, unsigned index)
{
	uint64_t state = fault.seed + index;

	rule->random = random_next(&state);
}

int
emu_fault_add(const char *text, char *err, size_t err_len)
{
	struct emu_rule **tail = &fault.rules, *rule = NULL;
	int ret = emu_rule_parse(text, &rule, err, err_len);

	if (ret != 0)
		return ret;
	while (*tail != NULL)
		tail = &(*tail)->next;
	*tail = rule;
	random_begin(rule, fault.rules_made++);
	arm();
	if (rule->kind == EMU_ON_ALLOC && emu_fault_alloc_hook != NULL)
		emu_fault_alloc_hook();
	return 0;
}

/* Adds each line of the text; an error message begins with path and line number. */
static int
add_lines(const char *path, char *text, char *err, size_t err_len)
{
	char why[448], *line, *next = text;

	for (unsigned n = 1; (line = strsep(&next, "\n")) != NULL; n++) {
		char *comment = strchr(line, '#');
		int ret;

		if (comment != NULL)
			*comment = '\0';
		if (line[strspn(line, " \t\r")] == '\0')
			continue;
		ret = emu_fault_add(line, why, sizeof(why));
		if (ret != 0) {
			snprintf(err, err_len, "%s:%u: %s", path, n, why);
			return ret;
		}
	}
	return 0;
}

int
emu_fault_add_file(const char *path, char *err, size_t err_len)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), ret;
	char *text = calloc(1, FILE_BYTES_MAX + 1);
	ssize_t n = 0, got = 0;

	while (fd >= 0 && text != NULL && got < (ssize_t)FILE_BYTES_MAX &&
	       (n = syscall(SYS_read, fd, text + got, FILE_BYTES_MAX - (size_t)got)) > 0)
		got += n;
	ret = fd < 0 || n < 0 ? -errno : text == NULL ? -ENOMEM : 0;
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (ret == 0)
		ret = add_lines(path, text, err, err_len);
	else
		snprintf(err, err_len, "%s: %s", path, strerror(-ret));
	free(text);
	return ret;
}

void
emu_fault_clear(void)
{
	while (fault.rules != NULL) {
		struct emu_rule *rule = fault.rules;

		fault.rules = rule->next;
		emu_rule_free(rule);
	}
	fault.delay_us = 0;
	fault.rules_made = 0;
	arm();
}

void
emu_fault_seed(uint64_t seed)
{
	unsigned i = 0;

	fault.seed = seed;
	for (struct emu_rule *r = fault.rules; r != NULL; r = r->next)
		random_begin(r, i++);
}

/** Counts the queues of a kind that have a lower number and are not in reset. */
struct rank {
	uint32_t id;
	int64_t below;
};

static void
rank_cb(struct emu_obj *obj, void *arg)
{
	enum emu_queue_state state = obj->type == EMU_OBJ_RQ ? ((struct emu_rq *)obj)->state
							     : ((struct emu_sq *)obj)->state;
	struct rank *rank = arg;

	rank->below += state != EMU_QS_RST && obj->id < rank->id;
}

static bool
is_queue(const struct emu_fault_match *m, const struct emu_fault_event *e)
{
	const struct emu_obj *obj = m->q_is_rx ? (e->rq != NULL ? &e->rq->obj : NULL)
					       : (e->sq != NULL ? &e->sq->obj : NULL);
	struct rank rank = {0};

	if (obj == NULL)
		return false;
	rank.id = obj->id;
	emu_obj_foreach(obj->dev, m->q_is_rx ? EMU_OBJ_RQ : EMU_OBJ_SQ, rank_cb, &rank);
	return rank.below == m->q;
}

static bool
differs(int64_t required, const struct emu_obj *obj)
{
	return required >= 0 && (obj == NULL || obj->id != required);
}

static bool
is_error_cqe(const struct emu_fault_event *e)
{
	return e->kind == EMU_ON_CQE_WRITE && e->opcode >= PRM_CQE_OPCODE_REQ_ERR;
}

/* Whether name is path or its last components. */
static bool
ends_path(const char *path, const char *name)
{
	size_t n = strlen(path), m = strlen(name);

	return m <= n && strcmp(path + n - m, name) == 0 && (m == n || path[n - m - 1] == '/');
}

static bool
matches_name(const struct emu_fault_match *m, const struct emu_fault_event *e)
{
	if (m->name == NULL)
		return true;
	if (e->name == NULL)
		return false;
	return e->kind == EMU_ON_SYSFS_WRITE ? ends_path(e->name, m->name)
					     : strcasecmp(m->name, e->name) == 0;
}

/* Restrictions that follow from the action. */
static bool
matches_action(const struct emu_fault_action *a, const struct emu_fault_event *e)
{
	/* An error CQE is not turned into another one; a normal one does not have its fields. */
	if (a->act == EMU_ACT_ERROR && is_error_cqe(e))
		return false;
	if (a->member != NULL && e->kind == EMU_ON_CQE_WRITE)
		return emu_fault_is_error_member(a->member) == is_error_cqe(e);
	/* A command that was refused has no effect to hide; its reply can be changed. */
	return !e->refused || a->act == EMU_ACT_SET;
}

/* The driver's part of a call (uhw) is another structure: only attr=uhw selects it. */
static bool
matches_attr(const struct emu_fault_match *m, const struct emu_fault_event *e)
{
	if (e->kind != EMU_ON_IOCTL_OUT)
		return true;
	return m->attr < 0 ? e->attr != EMU_FAULT_ATTR_UHW : e->attr == m->attr;
}

static bool
matches(const struct emu_rule *r, const struct emu_fault_event *e)
{
	const struct emu_fault_match *m = &r->match;

	if (r->kind != e->kind ||
	    (m->port >= 0 && (e->dev == NULL || e->dev->index != m->port)) ||
	    (m->op >= 0 && e->opcode != m->op) || (m->opcode >= 0 && e->opcode != m->opcode) ||
	    (m->type >= 0 && e->type != m->type) || (m->len >= 0 && e->len != m->len))
		return false;
	if (!matches_name(m, e) || !matches_attr(m, e) || !matches_action(&r->action, e))
		return false;
	if (differs(m->sqn, e->sq != NULL ? &e->sq->obj : NULL) ||
	    differs(m->rqn, e->rq != NULL ? &e->rq->obj : NULL) ||
	    differs(m->cqn, e->cq != NULL ? &e->cq->obj : NULL))
		return false;
	return m->q < 0 || is_queue(m, e);
}

/* Counts a matching event; whether after, every, count and chance select it. */
static bool
due(struct emu_rule *r)
{
	r->seen++;
	if (r->seen <= r->after || spent(r) || (r->seen - r->after - 1) % r->every != 0)
		return false;
	if (r->match.chance >= 1)
		return true;
	/* 53 bits: what a double holds exactly. */
	return (double)(random_next(&r->random) >> 11) * 0x1p-53 < r->match.chance;
}

static void
name_hit(const struct emu_fault_event *e, char *to, size_t len)
{
	if (e->name != NULL)
		snprintf(to, len, "%s", e->name);
	else if (e->sq != NULL)
		snprintf(to, len, "SQ 0x%x", e->sq->obj.id);
	else if (e->rq != NULL)
		snprintf(to, len, "RQ 0x%x", e->rq->obj.id);
	else if (e->cq != NULL)
		snprintf(to, len, "CQ 0x%x", e->cq->obj.id);
	else if (e->kind == EMU_ON_EQE_WRITE)
		snprintf(to, len, "event 0x%x", e->type);
	else if (e->kind == EMU_ON_WIRE_RX || e->kind == EMU_ON_WIRE_TX)
		snprintf(to, len, "%u bytes", e->len);
	else
		snprintf(to, len, "%s", "");
}

static void
note_hit(struct emu_rule *r, const struct emu_fault_event *e)
{
	char line[LOG_BYTES];

	r->hits++;
	fault.hits++;
	name_hit(e, r->last, sizeof(r->last));
	snprintf(line, sizeof(line), "fault %" PRIu64 ": port %u %s%s%s", fault.hits,
		 e->dev != NULL ? e->dev->index : 0, r->last, r->last[0] != '\0' ? ": " : "",
		 r->text);
	if (e->dev != NULL)
		emu_trace_note(e->dev, "%s", line);
	if (fault.hits <= LOG_LINES)
		memcpy(hit_log[fault.hits - 1], line, sizeof(line));
	if (spent(r))
		arm();
}

/* link, remove and fatal act on a port, whatever the event. */
static bool
acted_on_port(const struct emu_fault_action *a, struct emu_dev *dev)
{
	if (a->act != EMU_ACT_LINK && a->act != EMU_ACT_REMOVE && a->act != EMU_ACT_FATAL)
		return false;
	if (dev == NULL)
		return true;
	if (a->port >= 0) {
		struct emu_machine *m = emu_machine_of(dev);

		if ((unsigned)a->port >= m->ports)
			return true;
		dev = &m->dev[a->port];
	}
	if (a->act == EMU_ACT_LINK)
		emu_port_cable(dev, a->up, a->ms);
	else if (a->act == EMU_ACT_REMOVE)
		emu_dev_remove(dev, a->ms);
	else
		emu_dev_health(dev, a->syndrome, a->ms);
	return true;
}

const struct emu_fault_action *
emu_fault_hit(const struct emu_fault_event *e)
{
	for (struct emu_rule *r = fault.rules; r != NULL; r = r->next) {
		if (r->action.act == EMU_ACT_SET || !matches(r, e) || !due(r))
			continue;
		note_hit(r, e);
		if (acted_on_port(&r->action, e->dev))
			continue;
		/* The caller of the command sleeps without the lock: the data path goes on. */
		if (r->kind == EMU_ON_CMD_ENTRY || r->kind == EMU_ON_CMD_EXIT)
			fault.delay_us += r->action.us;
		return &r->action;
	}
	return NULL;
}

const struct emu_fault_action *
emu_fault_next_set(const struct emu_fault_event *e, struct emu_rule **at)
{
	for (struct emu_rule *r = *at != NULL ? (*at)->next : fault.rules; r != NULL; r = r->next) {
		if (r->action.act != EMU_ACT_SET || !matches(r, e) || !due(r))
			continue;
		note_hit(r, e);
		*at = r;
		return &r->action;
	}
	return NULL;
}

bool
emu_fault_command(struct emu_dev *dev, uint16_t opcode, uint8_t *status, uint32_t *syndrome)
{
	struct emu_fault_event e = {
		.kind = EMU_ON_CMD_ENTRY, .dev = dev, .opcode = opcode,
		.name = prm_command_name(opcode),
	};
	const struct emu_fault_action *a;

	fault.commands++;
	if (!emu_fault_at(EMU_ON_CMD_ENTRY))
		return false;
	a = emu_fault_hit(&e);
	if (a == NULL || a->act != EMU_ACT_FAIL)
		return false;
	*status = a->status;
	*syndrome = a->syndrome;
	return true;
}

int
emu_fault_errno(enum emu_fault_kind kind, struct emu_dev *dev, const char *name)
{
	struct emu_fault_event e = {.kind = kind, .dev = dev, .name = name};
	const struct emu_fault_action *a;

	if (kind == EMU_ON_IOCTL)
		fault.ioctls++;
	if (!emu_fault_at(kind))
		return 0;
	a = emu_fault_hit(&e);
	return a != NULL && a->act == EMU_ACT_FAIL ? -a->err : 0;
}

uint64_t
emu_fault_delay_take(void)
{
	uint64_t us = fault.delay_us;

	fault.delay_us = 0;
	return us;
}

uint64_t
emu_fault_commands(void)
{
	return fault.commands;
}

uint64_t
emu_fault_ioctls(void)
{
	return fault.ioctls;
}

uint64_t
emu_fault_hits(void)
{
	return fault.hits;
}

const char *
emu_fault_log(unsigned i)
{
	return i < fault.hits && i < LOG_LINES ? hit_log[i] : NULL;
}

bool
emu_fault_info(unsigned i, struct emu_fault_info *info)
{
	const struct emu_rule *rule = fault.rules;

	while (rule != NULL && i-- != 0)
		rule = rule->next;
	if (rule == NULL)
		return false;
	*info = (struct emu_fault_info){rule->text, rule->seen, rule->hits, rule->last};
	return true;
}
