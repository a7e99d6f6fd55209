/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Object ids: unique, never 0, not reused at once, and used up without harm. */
#include <stdlib.h>

#include "fw_fixture.h"

static struct fix f;

static void
test_unique(void)
{
	enum { N = 5000 };
	static struct emu_obj *obj[N];
	static uint8_t seen[1u << 20];

	for (unsigned i = 0; i < N; i++) {
		obj[i] = emu_obj_new(f.dev, f.ctx, EMU_OBJ_CQ, sizeof(struct emu_obj), NULL);
		CHECK(obj[i] != NULL && obj[i]->id != 0 && seen[obj[i]->id] == 0);
		seen[obj[i]->id] = 1;
	}
	CHECK_EQ(emu_obj_count(f.dev, EMU_OBJ_CQ), N);
	for (unsigned i = 0; i < N; i++)
		CHECK(emu_obj_find(f.dev, EMU_OBJ_CQ, obj[i]->id) == obj[i]);
	CHECK(emu_obj_find(f.dev, EMU_OBJ_SQ, obj[0]->id) == NULL);
	CHECK(emu_obj_find(f.dev, EMU_OBJ_CQ, 0) == NULL);
	CHECK(emu_obj_find(f.dev, EMU_OBJ_CQ, 0xffffffff) == NULL);
	CHECK(emu_obj_find(&f.m.dev[1], EMU_OBJ_CQ, obj[0]->id) == NULL);
	for (unsigned i = 0; i < N; i++)
		CHECK(emu_obj_destroy(obj[i]) == 0);
	CHECK_EQ(emu_obj_count(f.dev, EMU_OBJ_CQ), 0);
}

/* The id of a destroyed object is reused late, and the table does not grow without limit. */
static void
test_reuse(void)
{
	uint32_t first = 0, highest = 0, again = 0;

	for (unsigned i = 0; i < 100000; i++) {
		struct emu_obj *o = emu_obj_new(f.dev, f.ctx, EMU_OBJ_SQ, sizeof(*o), NULL);

		if (i == 0)
			first = o->id;
		else if (o->id == first && again == 0)
			again = i;
		if (o->id > highest)
			highest = o->id;
		emu_obj_destroy(o);
	}
	CHECK(again >= 200);
	CHECK(highest < first + 1000);
}

/* Ranges of ids are reused, too, late and whole, also while single ids come and go; all that are live differ. */
static void
test_ranges(void)
{
	enum { IDS = 128, LIVE = 5 };
	struct emu_obj *live[LIVE] = {NULL}, *single[LIVE] = {NULL};
	uint32_t highest = 0, first = 0, again = 0;

	for (unsigned i = 0; i < 40000; i++) {
		struct emu_obj **o = &live[i % LIVE], **one = &single[i * 3 % LIVE];

		if (*o != NULL)
			CHECK_EQ(emu_obj_destroy(*o), 0);
		*o = emu_obj_new_range(f.dev, f.ctx, EMU_OBJ_FLOW_COUNTER, sizeof(**o), IDS, NULL);
		if (*o == NULL || (*o)->id % 4 != 0) {
			CHECK(*o != NULL && (*o)->id % 4 == 0);
			return;
		}
		for (unsigned k = 0; k < IDS; k++)
			CHECK(emu_obj_find(f.dev, EMU_OBJ_FLOW_COUNTER, (*o)->id + k) == *o);
		if (i == 0)
			first = (*o)->id;
		else if ((*o)->id == first && again == 0)
			again = i;
		highest = (*o)->id > highest ? (*o)->id : highest;
		if (i % 7 != 0)
			continue;
		if (*one != NULL)
			CHECK_EQ(emu_obj_destroy(*one), 0);
		*one = emu_obj_new(f.dev, f.ctx, EMU_OBJ_FLOW_COUNTER, sizeof(**one), NULL);
		CHECK(*one != NULL && emu_obj_find(f.dev, EMU_OBJ_FLOW_COUNTER, (*one)->id) == *one);
	}
	CHECK(again >= LIVE + 2);
	CHECK(highest < first + 100 * IDS);
	for (unsigned i = 0; i < LIVE; i++) {
		CHECK_EQ(emu_obj_destroy(live[i]), 0);
		CHECK_EQ(emu_obj_destroy(single[i]), 0);
	}
	CHECK_EQ(emu_obj_count(f.dev, EMU_OBJ_FLOW_COUNTER), 0);
}

static void
test_exhaustion(void)
{
	struct emu_obj *obj[0x100], *extra;
	unsigned n = 0;

	while (n < 0x100 && (obj[n] = emu_obj_new(f.dev, f.ctx, EMU_OBJ_Q_COUNTER,
						  sizeof(struct emu_q_counter), NULL)) != NULL)
		n++;
	CHECK(n > 200 && n < 0x100);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_ALLOC_Q_COUNTER, 0), fix_code(FW_NO_RESOURCES));
	CHECK_EQ(*(uint8_t *)f.out, PRM_STATUS_NO_RESOURCES);
	emu_obj_destroy(obj[7]);
	extra = emu_obj_new(f.dev, f.ctx, EMU_OBJ_Q_COUNTER, sizeof(struct emu_q_counter), NULL);
	CHECK(extra != NULL && extra->id <= 0xff);
	emu_obj_destroy(extra);
	for (unsigned i = 0; i < n; i++)
		if (i != 7)
			emu_obj_destroy(obj[i]);
}

static void
test_destroy_command(void)
{
	uint32_t out[4];
	struct emu_obj *cq;

	CHECK(fix_cq(&f) != 0);
	cq = f.created;
	emu_obj_ref(cq);
	CHECK(emu_fw_destroy(f.ctx, cq, out, sizeof(out)) != 0);
	CHECK_EQ(*(uint8_t *)out, PRM_STATUS_BAD_RES_STATE);
	emu_obj_unref(cq);
	CHECK(emu_fw_destroy(f.ctx, cq, out, sizeof(out)) == 0);
	CHECK_EQ(emu_obj_count(f.dev, EMU_OBJ_CQ), 0);
	/* A umem is no firmware object. */
	CHECK(emu_fw_destroy(f.ctx, &f.umem->obj, out, sizeof(out)) != 0);
}

int
main(void)
{
	fix_open(&f);
	test_unique();
	test_reuse();
	test_ranges();
	test_exhaustion();
	test_destroy_command();
	fix_close(&f);
	return fix_result("ids");
}
