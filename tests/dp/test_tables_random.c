/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Flow tables changed at random while packets come, against a model that is as plain as can be. */
#include "rig_tables.h"

#define TABLES 8u
#define GROUPS 4u
#define ENTRIES (1u << RIG_LOG_TABLE)
#define COUNTERS 4u
#define FRAMES 6u
#define STEPS 3000u
#define NO_QUEUE 0xffffffffu

/* What frames there are, and what a model needs to know of them. */
static const struct frame {
	unsigned version, proto;
	int vlan;
} frames[FRAMES] = {
	{4, 17, -1}, {4, 6, -1}, {6, 17, -1}, {4, 17, 0x0abc}, {6, 6, 0x0abc}, {4, 17, 0x0123},
};

/* What groups compare, by their place in the table. */
static const struct rig_match kinds[GROUPS][3] = {
	{{.ip_version = 4, .proto = 17}, {.ip_version = 4, .proto = 6}, {.ip_version = 6, .proto = 6}},
	{{.vid = 0xabc}, {.vid = 0x123}, {.vid = 0xfff}},
	{{.ip_version = 4}, {.ip_version = 6}, {.ip_version = 4}},
	{{0}, {0}, {0}},
};

struct entry {
	struct emu_obj *obj; /* NULL: there is none */
	const struct rig_match *match;
	int to; /* table; -1: dropped, -2: the TIR */
	unsigned tag;
	int counter; /* -1: none */
};

struct table {
	struct emu_obj *obj, *group[GROUPS];
	int miss; /* -1: dropped */
	struct entry entry[ENTRIES];
};

struct world {
	struct rig *r;
	struct rig_port *p;
	struct rig_rx *rx;
	struct rig_frame frame[FRAMES];
	struct table table[TABLES];
	int root; /* -1: the kernel's */
	struct emu_obj *counter[COUNTERS];
	uint64_t counted[COUNTERS];
	uint64_t random;
};

static unsigned
any(struct world *w, unsigned below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(w->random >> 33) % below;
}

static struct world *
world_new(uint64_t seed)
{
	struct world *w = calloc(1, sizeof(*w));

	if (w == NULL)
		abort();
	w->random = seed;
	w->r = rig_new(1, "loop");
	w->p = &w->r->port[0];
	w->rx = rig_rx_new(w->p, 6);
	w->root = -1;
	for (unsigned i = 0; i < FRAMES; i++)
		rig_ip_frame(&w->frame[i], w->p->dev, frames[i].version, frames[i].proto, 40, 0,
			     frames[i].vlan);
	for (unsigned i = 0; i < COUNTERS; i++)
		w->counter[i] = rig_flow_counter(w->p);
	for (unsigned i = 0; i < TABLES; i++) {
		struct table *t = &w->table[i];

		t->obj = rig_table(w->p, 1 + 2 * i);
		t->miss = -1;
		for (unsigned g = 0; g < GROUPS; g++)
			t->group[g] = rig_group(w->p, t->obj, g * ENTRIES / GROUPS,
						(g + 1) * ENTRIES / GROUPS - 1, &kinds[g][0]);
	}
	return w;
}

/* ---- the model ---- */

static bool
fits(const struct rig_match *m, const struct frame *f)
{
	return (m->ip_version == 0 || m->ip_version == f->version) &&
	       (m->proto == 0 || m->proto == f->proto) && (m->vid == 0 || m->vid == f->vlan);
}

/* The tag of a frame, or NO_QUEUE; counts. */
static uint32_t
predict(struct world *w, const struct frame *f)
{
	int at = w->root;
	uint32_t tag = 0;

	if (at == -1)
		return 0;
	while (at >= 0) {
		const struct table *t = &w->table[at];
		unsigned i = 0;

		while (i < ENTRIES && (t->entry[i].obj == NULL || !fits(t->entry[i].match, f)))
			i++;
		if (i == ENTRIES) {
			at = t->miss;
			continue;
		}
		if (t->entry[i].counter >= 0)
			w->counted[t->entry[i].counter]++;
		if (t->entry[i].tag != 0)
			tag = t->entry[i].tag;
		at = t->entry[i].to;
	}
	return at == -2 ? tag : NO_QUEUE;
}

/* ---- the device ---- */

static uint32_t
comes(struct world *w, unsigned frame)
{
	const struct prm_cqe64 *cqe;
	uint32_t tag = NO_QUEUE;

	emu_dp_ingress(w->p->dev, w->frame[frame].data, w->frame[frame].len);
	while ((cqe = rig_cqe(w->rx->cq)) != NULL) {
		tag = be32toh(cqe->sop_drop_qpn) & 0xffffff;
		rig_post(w->rx->rq, w->rx->buf[0], RIG_BUF_BYTES, w->p->lkey);
	}
	return tag;
}

static void
actions_choose(struct world *w, unsigned table, struct entry *e, struct rig_actions *f)
{
	unsigned higher = TABLES - 1 - table, way = any(w, 4);

	e->to = -2;
	if (way == 0)
		e->to = -1;
	else if (way < 3 && higher != 0)
		e->to = (int)(table + 1 + any(w, higher));
	e->tag = any(w, 2) ? 1 + any(w, 0xffffff) : 0;
	e->counter = any(w, 3) ? -1 : (int)any(w, COUNTERS);
	f->dest = e->to == -1 ? NULL : e->to == -2 ? &w->rx->tir->obj : w->table[e->to].obj;
	f->tag = e->tag;
	f->counter = e->counter < 0 ? NULL : w->counter[e->counter];
}

static void
change_entry(struct world *w)
{
	unsigned table = any(w, TABLES), index = any(w, ENTRIES);
	unsigned group = index / (ENTRIES / GROUPS);
	struct table *t = &w->table[table];
	struct entry *e = &t->entry[index];
	struct rig_actions act = {0};

	if (e->obj != NULL && any(w, 2)) {
		CHECK_EQ(emu_fw_destroy(w->p->ctx, e->obj, NULL, 0), 0);
		e->obj = NULL;
		return;
	}
	actions_choose(w, table, e, &act);
	if (e->obj != NULL) {
		act.modify = PRM_MODIFY_FTE_MASK_ACTION | PRM_MODIFY_FTE_MASK_FLOW_TAG |
			      PRM_MODIFY_FTE_MASK_DESTINATION_LIST |
			      PRM_MODIFY_FTE_MASK_FLOW_COUNTERS;
		rig_entry(w->p, t->obj, t->group[group], index, e->match, &act);
		return;
	}
	e->match = &kinds[group][any(w, 3)];
	e->obj = rig_entry(w->p, t->obj, t->group[group], index, e->match, &act);
}

static void
change_table(struct world *w)
{
	unsigned table = any(w, TABLES), higher = TABLES - 1 - table;
	struct table *t = &w->table[table];

	if (any(w, 3) == 0) {
		w->root = any(w, 8) == 0 ? -1 : (int)any(w, 3);
		rig_root(w->p, w->root < 0 ? NULL : w->table[w->root].obj);
		return;
	}
	t->miss = higher == 0 || any(w, 4) == 0 ? -1 : (int)(table + 1 + any(w, higher));
	rig_miss(w->p, t->obj, t->miss < 0 ? NULL : w->table[t->miss].obj);
}

/* All that is left goes with its owner, in whatever order it was made. */
static void
run(uint64_t seed)
{
	struct world *w = world_new(seed);
	unsigned delivered = 0;

	for (unsigned i = 0; i < STEPS && check_failures == 0; i++) {
		if (any(w, 5) == 0)
			change_table(w);
		else
			change_entry(w);
		for (unsigned n = any(w, 4); n-- > 0;) {
			unsigned frame = any(w, FRAMES);
			uint32_t want = predict(w, &frames[frame]);

			CHECK_EQ(comes(w, frame), want);
			delivered += want != NO_QUEUE;
		}
	}
	for (unsigned i = 0; i < COUNTERS; i++)
		CHECK_EQ(rig_packets(w->counter[i]), w->counted[i]);
	/* Enough frames are delivered. */
	CHECK(delivered > STEPS / 4);
	CHECK_EQ(rig_audit(w->r), 0);
	rig_free(w->r);
	free(w);
}

static void
random_changes(void)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		run(seed);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {{"random_changes", random_changes}, {NULL, NULL}};

	return rig_main(argc, argv, tests);
}
