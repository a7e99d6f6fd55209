/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Control command that reports what would become of a frame: tables, groups and rules that it meets, and its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <prm_decode.h>
#include <prm.h>

#include "dp/emu_dp_why.h"
#include "emu_ctl.h"
#include "fw/emu_fw.h"

/** Longest frame: more than any MTU allows. */
#define FRAME_BYTES 16384u
/** More fields than match parameters have. */
#define FIELDS 512u

/* ------------------------------------------------------------------ the frame */

static int
hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, c | 0x20);

	return c != '\0' && at != NULL && *at != '\0' ? (int)(at - digits) : -1;
}

/* Two digits a byte; blanks and colons between bytes. */
static int
frame_hex(struct emu_ctl *c, const char *text, uint8_t *frame, uint32_t *len)
{
	*len = 0;
	for (const char *t = text; *t != '\0'; t++) {
		int high = hex_digit(*t), low = high >= 0 ? hex_digit(t[1]) : -1;

		if (*t == ' ' || *t == ':')
			continue;
		if (low < 0)
			return emu_ctl_fail(c, -EINVAL, "\"frame\": two hexadecimal digits a byte, not '%.8s'", t);
		if (*len == FRAME_BYTES)
			return emu_ctl_fail(c, -EINVAL, "\"frame\": more than %u bytes", FRAME_BYTES);
		frame[(*len)++] = (uint8_t)(high << 4 | low);
		t++;
	}
	return 0;
}

static int
frame_get(struct emu_ctl *c, uint8_t *frame, uint32_t *len)
{
	const char *hex = NULL, *file = NULL;
	const uint8_t *found;
	uint64_t number = 1;
	int ret = emu_ctl_string(c, "frame", true, &hex);

	if (ret == 0)
		ret = emu_ctl_string(c, "file", true, &file);
	if (ret == 0)
		ret = emu_ctl_number(c, "number", true, 1, UINT32_MAX, &number);
	if (ret != 0)
		return ret;
	if ((hex != NULL) == (file != NULL))
		return emu_ctl_fail(c, -EINVAL, "\"frame\" in hexadecimal digits, or a capture \"file\" is needed");
	if (hex != NULL)
		return frame_hex(c, hex, frame, len);
	ret = emu_dp_file_frame(file, number, &found, len, c->err, sizeof(c->err));
	if (ret == 0 && *len > FRAME_BYTES)
		ret = emu_ctl_fail(c, -EINVAL, "frame %u of the file has %u bytes: at most %u", (unsigned)number, *len,
				   FRAME_BYTES);
	if (ret == 0)
		memcpy(frame, found, *len);
	return ret;
}

struct sq_search {
	uint64_t number;
	struct emu_sq *found;
	char known[160];
	size_t n;
};

static void
sq_cb(struct emu_obj *obj, void *arg)
{
	struct sq_search *s = arg;

	if (obj->id == s->number)
		s->found = (struct emu_sq *)obj;
	if (s->n < sizeof(s->known))
		s->n += (size_t)snprintf(s->known + s->n, sizeof(s->known) - s->n, "%s0x%x", s->n != 0 ? ", " : "",
					 obj->id);
}

/* The SQ of key "sq"; NULL: the frame arrives. */
static int
sq_get(struct emu_ctl *c, struct emu_dev *dev, struct emu_sq **sq)
{
	struct sq_search s = {.known = ""};
	int ret = emu_ctl_number(c, "sq", true, 0, UINT32_MAX, &s.number);

	*sq = NULL;
	if (ret != 0 || json_object_get(c->in, "sq") == NULL)
		return ret;
	emu_obj_foreach(dev, EMU_OBJ_SQ, sq_cb, &s);
	*sq = s.found;
	if (s.found != NULL)
		return 0;
	return emu_ctl_fail(c, -ENOENT, "port %u has no SQ 0x%llx (%s)", dev->index, (unsigned long long)s.number,
			    s.n != 0 ? s.known : "it has none");
}

/* ------------------------------------------------------------------ the report */

static void
set_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, json_string(text));
}

static void
set_hex(json_t *o, const char *key, uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%x", value);
	set_text(o, key, text);
}

/** Fields under a mask as text, "outer_headers.ip_version=0x4/0xf ...". */
struct fields {
	unsigned n;
	uint64_t mask[FIELDS];
	char text[2048];
	size_t len;
};

static void
mask_cb(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	struct fields *f = arg;

	(void)path;
	(void)enum_name;
	if (f->n < FIELDS)
		f->mask[f->n++] = value;
}

static void
value_cb(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	struct fields *f = arg;
	uint64_t mask = f->n < FIELDS ? f->mask[f->n++] : 0;

	(void)enum_name;
	if (mask == 0 || f->len >= sizeof(f->text))
		return;
	f->len += (size_t)snprintf(f->text + f->len, sizeof(f->text) - f->len, "%s%s=0x%llx/0x%llx",
				   f->len != 0 ? " " : "", path, (unsigned long long)(value & mask),
				   (unsigned long long)mask);
}

static void
set_fields(json_t *o, const char *key, const uint32_t value[DP_KEY_DWORDS], const uint32_t mask[DP_KEY_DWORDS])
{
	struct prm_fte_match_param param = {0};
	struct fields f = {.text = "everything"};

	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		param.dw[i] = PRM_BE32(mask[i]);
	prm_decode(&prm_layout_fte_match_param, &param, sizeof(param), false, mask_cb, &f);
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		param.dw[i] = PRM_BE32(value[i]);
	f.n = 0;
	prm_decode(&prm_layout_fte_match_param, &param, sizeof(param), false, value_cb, &f);
	set_text(o, key, f.text);
}

/* A table that is not the kernel's is in an emu_flow_table. */
static const struct emu_flow_table *
program_table(const struct dp_table *t)
{
	const char *at = (const char *)t - offsetof(struct emu_flow_table, table);

	return (const struct emu_flow_table *)(const void *)at;
}

static json_t *
group_json(const struct dp_step *step, const struct dp_group_info *g, bool kernel)
{
	json_t *o = json_object();
	char place[32];

	if (!kernel)
		set_hex(o, "id", g->id);
	else if (g->level == EMU_DP_LEVEL_MULTICAST)
		set_text(o, "of", "multicast");
	else if (snprintf(place, sizeof(place), "priority %u", g->level) > 0)
		set_text(o, "of", place);
	snprintf(place, sizeof(place), "%u-%u", g->first, g->last);
	set_text(o, "entries", place);
	emu_ctl_set(o, "rules", g->rules);
	/* What its rules compare of the packet. */
	set_fields(o, "packet", step->key, g->mask->dw);
	set_text(o, "match", g->has_rule ? "yes" : "no");
	return o;
}

/* The groups up to that of the rule: the rest is not searched. */
static json_t *
groups_json(const struct emu_dev *dev, const struct dp_step *step, bool kernel)
{
	json_t *list = json_array();
	struct dp_group_info g = {.has_rule = false};

	for (unsigned i = 0; !g.has_rule; i++) {
		if (kernel ? !emu_dp_group_at(dev, step->table, i, step->rule, &g)
			   : !emu_fw_group_at(program_table(step->table), i, step->rule, &g))
			break;
		json_array_append_new(list, group_json(step, &g, kernel));
	}
	return list;
}

static void
set_changes(json_t *o, const struct dp_change *c)
{
	json_t *list = json_array();
	char text[64];

	if (c->decap)
		json_array_append_new(list, json_string("decap"));
	if (c->reformat != NULL) {
		snprintf(text, sizeof(text), "%s of context 0x%x", c->reformat->type == PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2 ?
			 "decap to the Ethernet header" : "encap by the headers", c->reformat->obj.id);
		json_array_append_new(list, json_string(text));
	}
	if (c->pop_vlan)
		json_array_append_new(list, json_string("pop VLAN tag"));
	if (c->push_vlan != 0)
		json_array_append_new(list, json_string("push VLAN tag"));
	if (c->modify != NULL) {
		snprintf(text, sizeof(text), "modify header by context 0x%x", c->modify->obj.id);
		json_array_append_new(list, json_string(text));
	}
	json_object_set_new(o, "changes", list);
}

static json_t *
rule_json(const struct emu_dev *dev, const struct dp_rule *rule, bool kernel)
{
	uint32_t value[DP_KEY_DWORDS];
	json_t *o = json_object();

	dp_value_unpack(value, rule);
	if (!kernel)
		emu_ctl_set(o, "index", emu_fw_rule_index(rule));
	set_fields(o, "value", value, rule->mask->dw);
	if (rule->counter != NULL)
		set_hex(o, "counter", rule->counter_id);
	if (rule->tag != 0)
		set_hex(o, "tag", rule->tag);
	if (rule->change != NULL)
		set_changes(o, rule->change);
	if (rule->table != NULL && emu_dp_table_name(dev, rule->table) == NULL)
		set_hex(o, "jump", program_table(rule->table)->obj.id);
	else if (rule->tir != NULL)
		set_hex(o, "tir", rule->tir->obj.id);
	else
		set_text(o, "to", rule->uplink ? "uplink" : rule->drop ? "drop" : "kernel");
	if (rule->also_n != 0)
		emu_ctl_set(o, "further_tirs", rule->also_n);
	return o;
}

/* Of a table no rule of which matches. */
static void
set_miss(json_t *o, const struct dp_table *t)
{
	if (t->miss != NULL)
		set_hex(o, "miss", program_table(t->miss)->obj.id);
	else
		set_text(o, "miss", t->kernel ? "kernel" : "drop");
}

static json_t *
step_json(const struct emu_dev *dev, const struct dp_step *step)
{
	const char *name = emu_dp_table_name(dev, step->table);
	const struct emu_flow_table *t = program_table(step->table);
	json_t *o = json_object();

	if (name != NULL) {
		set_text(o, "of", "the kernel");
		set_text(o, "for", name);
	} else {
		/* Without a user id it is a command of the function's driver, by VFIO. */
		set_text(o, "of", t->obj.ctx != NULL && t->obj.ctx->uid != 0 ? "a program, by DEVX" : "a program, by VFIO");
		set_hex(o, "id", t->obj.id);
		emu_ctl_set(o, "level", t->level);
	}
	json_object_set_new(o, "groups", groups_json(dev, step, name != NULL));
	if (step->rule != NULL)
		json_object_set_new(o, "rule", rule_json(dev, step->rule, name != NULL));
	else
		set_miss(o, step->table);
	return o;
}

static json_t *
receiver_json(const struct emu_why_receiver *r)
{
	json_t *o = json_object();

	set_hex(o, "tir", r->tir->obj.id);
	if (r->tir->indirect) {
		if (r->tir->rqt != NULL)
			set_hex(o, "rqt", r->tir->rqt->obj.id);
		set_hex(o, "hash", r->hash);
		emu_ctl_set(o, "entry", r->entry);
	}
	if (r->rq != NULL)
		set_hex(o, "rq", r->rq->obj.id);
	emu_ctl_set(o, "posted", r->posted);
	set_text(o, "lost", r->lost != NULL ? r->lost : "no");
	return o;
}

static void
report(struct emu_ctl *c, const struct emu_dev *dev, const struct emu_why *why, uint32_t len)
{
	json_t *tables = json_array(), *receivers = json_array();

	emu_ctl_set(c->out, "bytes", len);
	if (why->outer[0] != '\0')
		set_text(c->out, "headers", why->outer);
	if (why->inner[0] != '\0')
		set_text(c->out, "inner", why->inner);
	for (unsigned i = 0; i < why->walk.steps && i < DP_WALK_STEPS; i++)
		json_array_append_new(tables, step_json(dev, &why->walk.step[i]));
	json_object_set_new(c->out, "tables", tables);
	if (why->walk.steps > DP_WALK_STEPS)
		emu_ctl_set(c->out, "tables_left_out", why->walk.steps - DP_WALK_STEPS);
	if (why->changed[0] != '\0')
		set_text(c->out, "changed", why->changed);
	set_text(c->out, "end", emu_why_end_text(why->end));
	if (why->tag != 0)
		set_hex(c->out, "tag", why->tag);
	for (unsigned i = 0; i < why->receivers; i++)
		json_array_append_new(receivers, receiver_json(&why->receiver[i]));
	json_object_set_new(c->out, "receivers", receivers);
}

int
emu_ctl_why(struct emu_ctl *c)
{
	uint8_t *frame = malloc(FRAME_BYTES);
	struct emu_why *why = calloc(1, sizeof(*why));
	struct emu_sq *sq = NULL;
	struct emu_dev *dev;
	uint32_t len = 0;
	int ret = emu_ctl_port(c, &dev);

	if (ret == 0 && (frame == NULL || why == NULL))
		ret = emu_ctl_fail(c, -ENOMEM, "no memory");
	if (ret == 0)
		ret = sq_get(c, dev, &sq);
	if (ret == 0)
		ret = frame_get(c, frame, &len);
	if (ret == 0) {
		if (sq != NULL)
			emu_dp_why_sent(sq, frame, len, why);
		else
			emu_dp_why_received(dev, frame, len, why);
		report(c, dev, why, len);
	}
	free(why);
	free(frame);
	return ret;
}
