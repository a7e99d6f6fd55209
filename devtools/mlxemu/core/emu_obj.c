/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Object tables: one id space per type and device, looked up by index. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "emu_identity.h"
#include "emu_obj.h"

/*
 * Freed ids that must be in the queue before the oldest is reused, so that a command with a stale id
 * fails instead of reaching another object.
 */
#define EMU_ID_DELAY 256u

/** First id of a type, and number of ids. */
struct id_range {
	const char *name;
	uint32_t base, count;
	size_t log_count_at; /* offset in struct emu_profile, instead of count */
};
#define PROFILE(limit) 0, offsetof(struct emu_profile, limit)

static const struct id_range id_ranges[EMU_OBJ_TYPES] = {
	[EMU_OBJ_UMEM] = {"umem", 0x41, 1u << 20},
	[EMU_OBJ_UAR] = {"UAR", 0x10, 1u << 14},
	[EMU_OBJ_MATCHER] = {"matcher", 0x1, 1u << 16},
	[EMU_OBJ_FLOW] = {"flow", 0x1, 1u << 22},
	[EMU_OBJ_PP] = {"packet pacing entry", 0x1, 1u << 16},
	[EMU_OBJ_PD] = {"PD", 0x15, PROFILE(log_max_pd)},
	[EMU_OBJ_TD] = {"TD", 0x23, PROFILE(log_max_transport_domain)},
	[EMU_OBJ_MKEY] = {"mkey", 0x1801, PROFILE(log_max_mkey)},
	[EMU_OBJ_EQ] = {"EQ", 0x0a, 0x80},
	[EMU_OBJ_CQ] = {"CQ", 0x0403, PROFILE(log_max_cq)},
	[EMU_OBJ_SQ] = {"SQ", 0x10a7, PROFILE(log_max_sq)},
	[EMU_OBJ_RQ] = {"RQ", 0x20c5, PROFILE(log_max_rq)},
	[EMU_OBJ_RMP] = {"RMP", 0x30e1, 1u << 16},
	[EMU_OBJ_RQT] = {"RQT", 0x0052, PROFILE(log_max_rqt)},
	[EMU_OBJ_TIR] = {"TIR", 0x0131, PROFILE(log_max_tir)},
	[EMU_OBJ_TIS] = {"TIS", 0x0061, PROFILE(log_max_tis)},
	[EMU_OBJ_QP] = {"QP", 0x4011, 1u << 18},
	[EMU_OBJ_Q_COUNTER] = {"Q counter", 0x03, 0xf0},
	[EMU_OBJ_FLOW_COUNTER] = {"flow counter", 0x11, 1u << 22},
	[EMU_OBJ_FLOW_TABLE] = {"flow table", 0x81, 1u << 10},
	[EMU_OBJ_FLOW_GROUP] = {"flow group", 0x201, 1u << 16},
	[EMU_OBJ_FTE] = {"flow table entry", 0x1, 1u << 22},
	[EMU_OBJ_MODIFY_HEADER] = {"modify header context", 0x1, 1u << EMU_LOG_MODIFY_HEADERS},
	[EMU_OBJ_REFORMAT] = {"packet reformat context", 0x1, 1u << EMU_LOG_REFORMATS},
	[EMU_OBJ_GENERAL] = {"general object", 0x1, 1u << 16},
};

struct id_space {
	struct emu_obj **slot;
	uint32_t slots; /* allocated */
	uint32_t base, count;
	uint32_t fresh; /* slots from here on have never been used */
	unsigned live;
	uint32_t *freed; /* queue of indices; size slots, never overflows */
	uint32_t freed_head, freed_len;
};

struct emu_obj_table {
	struct id_space space[EMU_OBJ_TYPES];
};

const char *
emu_obj_type_name(enum emu_obj_type type)
{
	if ((unsigned)type >= EMU_OBJ_TYPES || id_ranges[type].name == NULL)
		return "object";
	return id_ranges[type].name;
}

static uint32_t
id_count(const struct emu_profile *p, enum emu_obj_type type)
{
	size_t at = id_ranges[type].log_count_at;
	uint16_t bits;

	if (at == 0)
		return id_ranges[type].count;
	memcpy(&bits, (const uint8_t *)p + at, sizeof(bits));
	return 1u << bits;
}

int
emu_obj_table_init(struct emu_dev *dev)
{
	dev->objs = calloc(1, sizeof(*dev->objs));
	if (dev->objs == NULL)
		return -ENOMEM;
	for (unsigned t = 0; t < EMU_OBJ_TYPES; t++) {
		struct id_space *s = &dev->objs->space[t];

		s->base = id_ranges[t].base + emu_identity_first(dev, t);
		s->count = id_count(dev->profile, t);
		/* Ids have 24 bits in commands and completions. */
		if (s->count > (1u << 24) - s->base)
			s->count = (1u << 24) - s->base;
	}
	return 0;
}

void
emu_obj_table_fini(struct emu_dev *dev)
{
	if (dev->objs == NULL)
		return;
	for (unsigned t = EMU_OBJ_TYPES; t-- > 0;) {
		struct id_space *s = &dev->objs->space[t];

		for (uint32_t i = 0; i < s->fresh; i++)
			if (s->slot[i] != NULL)
				emu_obj_destroy_forced(s->slot[i]); /* with all its slots */
		free(s->slot);
		free(s->freed);
	}
	free(dev->objs);
	dev->objs = NULL;
}

static int
space_grow(struct id_space *s)
{
	uint32_t slots = s->slots == 0 ? 64 : s->slots * 2;
	uint32_t *freed = malloc(slots * sizeof(*freed));
	struct emu_obj **slot;

	if (freed == NULL)
		return -ENOMEM;
	slot = realloc(s->slot, slots * sizeof(struct emu_obj *));
	if (slot == NULL) {
		free(freed);
		return -ENOMEM;
	}
	memset(slot + s->slots, 0, (slots - s->slots) * sizeof(struct emu_obj *));
	for (uint32_t i = 0; i < s->freed_len; i++)
		freed[i] = s->freed[(s->freed_head + i) % s->slots];
	free(s->freed);
	s->freed = freed;
	s->freed_head = 0;
	s->slot = slot;
	s->slots = slots;
	return 0;
}

/* Index of a free slot, or -1 if out of ids or memory. */
static int64_t
space_take(struct id_space *s)
{
	bool can_be_fresh = s->fresh < s->count;

	if (s->freed_len > EMU_ID_DELAY || (!can_be_fresh && s->freed_len != 0)) {
		uint32_t index = s->freed[s->freed_head];

		s->freed_head = (s->freed_head + 1) % s->slots;
		s->freed_len--;
		return index;
	}
	if (!can_be_fresh || (s->fresh == s->slots && space_grow(s) != 0))
		return -1;
	return s->fresh++;
}

static void
slot_give(struct id_space *s, uint32_t index)
{
	s->slot[index] = NULL;
	s->freed[(s->freed_head + s->freed_len) % s->slots] = index;
	s->freed_len++;
}

static uint32_t *
freed_at(const struct id_space *s, uint32_t place)
{
	return &s->freed[(s->freed_head + place) % s->slots];
}

/*
 * Place in the queue of the range that was freed first, whose ids are consecutive there; the last keep ids of the queue
 * are not looked at. -1: there is none.
 */
static int64_t
freed_range(const struct id_space *s, uint32_t ids, uint32_t keep)
{
	uint32_t n = 0;

	for (uint32_t i = 0; (uint64_t)i + keep < s->freed_len; i++) {
		uint32_t index = *freed_at(s, i);

		n = n != 0 && index == *freed_at(s, i - 1) + 1 ? n + 1 : (s->base + index) % 4 == 0;
		if (n == ids)
			return (int64_t)i - ids + 1;
	}
	return -1;
}

/* Takes a range out of the queue; those before it move up. */
static int64_t
freed_take_range(struct id_space *s, uint32_t place, uint32_t ids)
{
	uint32_t first = *freed_at(s, place);

	for (uint32_t i = place; i-- > 0;)
		*freed_at(s, i + ids) = *freed_at(s, i);
	s->freed_head = (s->freed_head + ids) % s->slots;
	s->freed_len -= ids;
	return first;
}

/* The first index of consecutive slots that were never used, or -1. Those before it are free for others. */
static int64_t
fresh_take_range(struct id_space *s, uint32_t ids)
{
	uint32_t first = s->fresh + (0u - (s->base + s->fresh)) % 4;

	if ((uint64_t)first + ids > s->count)
		return -1;
	while (first + ids > s->slots)
		if (space_grow(s) != 0)
			return -1;
	while (s->fresh != first)
		slot_give(s, s->fresh++);
	s->fresh += ids;
	return first;
}

static int64_t
space_take_range(struct id_space *s, uint32_t ids)
{
	int64_t place = freed_range(s, ids, EMU_ID_DELAY), first;

	if (place < 0) {
		first = fresh_take_range(s, ids);
		if (first >= 0)
			return first;
		place = freed_range(s, ids, 0);
	}
	return place < 0 ? -1 : freed_take_range(s, (uint32_t)place, ids);
}

void *
emu_obj_new(struct emu_dev *dev, struct emu_ctx *ctx, enum emu_obj_type type, size_t size,
	    void (*release)(struct emu_obj *))
{
	return emu_obj_new_range(dev, ctx, type, size, 1, release);
}

void *
emu_obj_new_range(struct emu_dev *dev, struct emu_ctx *ctx, enum emu_obj_type type, size_t size, uint32_t ids,
		  void (*release)(struct emu_obj *))
{
	struct id_space *s = &dev->objs->space[type];
	struct emu_obj *obj = calloc(1, size);
	int64_t index;

	if (obj == NULL)
		return NULL;
	index = ids == 1 ? space_take(s) : space_take_range(s, ids);
	if (index < 0) {
		free(obj);
		return NULL;
	}
	for (uint32_t i = 0; i < ids; i++)
		s->slot[index + i] = obj;
	s->live++;
	obj->ids = ids;
	obj->type = type;
	obj->id = s->base + (uint32_t)index;
	obj->dev = dev;
	obj->ctx = ctx;
	obj->release = release;
	if (ctx != NULL) {
		TAILQ_INSERT_HEAD(&ctx->owned, obj, owned);
		ctx->objects++;
	}
	return obj;
}

void *
emu_obj_find(struct emu_dev *dev, enum emu_obj_type type, uint32_t id)
{
	const struct id_space *s = &dev->objs->space[type];
	uint32_t index = id - s->base;

	return index < s->fresh ? s->slot[index] : NULL;
}

void
emu_obj_destroy_forced(struct emu_obj *obj)
{
	struct id_space *s = &obj->dev->objs->space[obj->type];

	for (uint32_t i = 0; i < obj->ids; i++)
		slot_give(s, obj->id - s->base + i);
	s->live--;
	if (obj->type == EMU_OBJ_MKEY)
		obj->dev->mkey_changes++;
	if (obj->ctx != NULL) {
		TAILQ_REMOVE(&obj->ctx->owned, obj, owned);
		obj->ctx->objects--;
	}
	if (obj->release != NULL)
		obj->release(obj);
	free(obj);
}

int
emu_obj_destroy(struct emu_obj *obj)
{
	if (obj->refs != 0)
		return -EBUSY;
	emu_obj_destroy_forced(obj);
	return 0;
}

unsigned
emu_obj_count(struct emu_dev *dev, enum emu_obj_type type)
{
	return dev->objs->space[type].live;
}

void
emu_obj_foreach(struct emu_dev *dev, enum emu_obj_type type, emu_obj_cb cb, void *arg)
{
	const struct id_space *s = &dev->objs->space[type];

	for (uint32_t i = 0; i < s->fresh; i++)
		if (s->slot[i] != NULL && s->slot[i]->id == s->base + i)
			cb(s->slot[i], arg);
}
