/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Steering: matchers and flows created through the kernel, which keeps them in tables of its own, and
 * the choice of the root tables.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "dp_autogroup.h"
#include "dp_change.h"
#include "emu_dp_fields.h"

#define TABLE_RX 0u /* MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX */
#define TABLE_TX 1u /* MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX */
#define TABLE_FDB 2u /* MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB */
#define CRITERIA_OUTER 1u
#define CRITERIA_MISC 2u
/* outer, misc, inner, misc2, misc3 */
#define CRITERIA_ALL ((1u << DP_KEY_DWORDS / DP_SET_DWORDS) - 1)
#define SQN_MASK 0xffffffu
#define PORT_MASK 0xffffu

struct dp_matcher {
	struct emu_obj obj;
	uint8_t table;
	uint16_t priority;
	uint8_t criteria;
	uint32_t mask[DP_KEY_DWORDS];
	bool mask_stray; /* the mask has bits in headers that the criteria do not name */
	bool lacking;	 /* the mask has fields that the card does not compare */
};

struct dp_flow {
	struct emu_obj obj;
	struct dp_added added;
	struct dp_autotables *tables;
	struct dp_matcher *matcher;
	struct emu_obj *dest;
	struct emu_modify_header *modify;
	struct emu_reformat *reformat;
};

/*
 * Tables of mlx5_ib (fs.c): one per priority, then one for rules that match only multicast. Each has 2^16 entries and
 * 6 large groups. Behind the kernel's interface: that of rules of type "default" (linux/mlx5/fs.h,
 * build_leftovers_ft_param()).
 */
#define PRIORITY_MAX 15u
#define LEVEL_MULTICAST EMU_DP_LEVEL_MULTICAST
#define ENTRIES (1u << 16)
#define LARGE_GROUPS 6u
#define LEFTOVER_ENTRIES 2u
#define LEFTOVER_GROUPS 2u
#define DMAC_HI 2u /* dmac_47_16 */
#define DMAC_HI_GROUP_BIT 0x01000000u
#define DST_IPV4 15u

struct dp_steer {
	struct dp_autotables table[3]; /* TABLE_RX, TABLE_TX, TABLE_FDB */
	struct dp_autotables leftover;
	struct dp_table *root[2]; /* TABLE_RX, TABLE_TX: root table instead of the kernel's; NULL: none */
	uint64_t changed_ns;
	uint64_t walks;
	struct dp_changed changed[2]; /* of received and sent packets */
};

int
dp_steer_init(struct emu_dev *dev)
{
	struct dp_steer *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	dp_autotables_init(&s->table[TABLE_RX], ENTRIES, LARGE_GROUPS);
	dp_autotables_init(&s->table[TABLE_TX], ENTRIES, LARGE_GROUPS);
	dp_autotables_init(&s->table[TABLE_FDB], ENTRIES, LARGE_GROUPS);
	dp_autotables_init(&s->leftover, LEFTOVER_ENTRIES, LEFTOVER_GROUPS);
	dev->steer = s;
	return 0;
}

void
dp_steer_fini(struct emu_dev *dev)
{
	/* The rules are objects, destroyed with their context. */
	free(dev->steer);
	dev->steer = NULL;
}

static struct dp_table *
tx_root(struct dp_steer *s)
{
	return s->root[TABLE_TX] != NULL ? s->root[TABLE_TX] : &s->table[TABLE_TX].table;
}

void
dp_steer_changed(struct emu_dev *dev)
{
	struct dp_port *port = dp_port_of(dev);
	struct dp_steer *s = dev->steer;
	struct timespec ts;

	if (s == NULL)
		return;
	if (port != NULL)
		port->tx_ruled = !TAILQ_EMPTY(&tx_root(s)->rules) || tx_root(s)->miss != NULL;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	s->changed_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void
dp_steer_set_root(struct emu_dev *dev, unsigned type, struct dp_table *t)
{
	struct dp_steer *s = dev->steer;

	if (s == NULL)
		return;
	s->root[type == PRM_FLOW_TABLE_TYPE_NIC_TX] = t;
	dp_steer_changed(dev);
}

const struct dp_table *
dp_steer_root(const struct emu_dev *dev, unsigned type)
{
	const struct dp_steer *s = dev->steer;

	return s != NULL && type <= PRM_FLOW_TABLE_TYPE_NIC_TX ? s->root[type == PRM_FLOW_TABLE_TYPE_NIC_TX] : NULL;
}

/* Errno of the refusal of a mask or value, or 0. */
static int
check_param(struct emu_ctx *ctx, const uint8_t *p, size_t len, const char *what)
{
	if (len <= EMU_FTE_MATCH_PARAM_BYTES && (len == 0 || p != NULL))
		return 0;
	emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL, "flow %s of %zu bytes", what, len);
	return -EINVAL;
}

/*
 * Fields that are matched, in the order of their dwords. The source port is in switchdev mode only; in the FDB, of
 * frames that one SQ sends, just the source and the outer headers.
 */
static void
modelled(const struct emu_dev *dev, unsigned table, uint32_t known[DP_KEY_DWORDS])
{
	dp_fields(NULL, table == TABLE_TX, known);
	if (table == TABLE_FDB)
		memset(known + DP_OUTER_DWORDS, 0, (DP_KEY_DWORDS - DP_OUTER_DWORDS) * sizeof(known[0]));
	if (!dev->eswitch.on)
		return;
	if (table == TABLE_RX)
		known[DP_KEY_REG_C_0] = UINT32_MAX;
	else if (table == TABLE_FDB)
		known[DP_KEY_SOURCE_SQN] |= SQN_MASK;
	if (table != TABLE_TX)
		known[DP_KEY_SOURCE_PORT] |= PORT_MASK;
}

/* Matchers of the FDB: hw/mlx5/fs.c, MLX5_IB_METHOD_FLOW_MATCHER_CREATE. Errno of a refusal, or 0. */
static int
check_fields(struct emu_ctx *ctx, struct dp_matcher *m)
{
	unsigned criteria = m->table == TABLE_FDB ? CRITERIA_OUTER | CRITERIA_MISC : CRITERIA_ALL;
	uint32_t known[DP_KEY_DWORDS], has[DP_KEY_DWORDS], any[DP_KEY_DWORDS];

	if (m->table == TABLE_FDB && !ctx->dev->eswitch.on)
		return -EINVAL;
	if ((m->criteria & ~criteria) != 0) {
		emu_trace_note(ctx->dev, "match criteria 0x%x: only 0x%x are matched", m->criteria, criteria);
		return -EOPNOTSUPP;
	}
	if (m->table == TABLE_FDB && (m->mask[DP_KEY_SOURCE_SQN] & SQN_MASK) != SQN_MASK) {
		emu_trace_note(ctx->dev, "%s", "in the FDB source_sqn has to be matched");
		return -EOPNOTSUPP;
	}
	modelled(ctx->dev, m->table, known);
	dp_fields(NULL, m->table == TABLE_TX, any);
	dp_fields(ctx->dev->profile, m->table == TABLE_TX, has);
	if (ctx->dev->eswitch.on)
		has[DP_KEY_REG_C_0] = UINT32_MAX;
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++) {
		if ((m->mask[i] & ~known[i]) != 0) {
			emu_trace_note(ctx->dev, "match criteria, dword %u, bits 0x%x: not modelled", i,
				       m->mask[i] & ~known[i]);
			return -EOPNOTSUPP;
		}
		m->lacking |= (m->mask[i] & any[i] & ~has[i]) != 0;
		m->mask_stray |= m->mask[i] != 0 && (m->criteria & 1u << i / DP_SET_DWORDS) == 0;
	}
	return 0;
}

int
emu_matcher_create(struct emu_ctx *ctx, const struct emu_matcher_attr *attr, struct emu_obj **out)
{
	struct dp_matcher *m;
	int ret = check_param(ctx, attr->mask, attr->mask_len, "mask");

	if (ret != 0)
		return ret;
	if (dp_key_stray(attr->mask, attr->mask_len) != attr->mask_len) {
		emu_trace_note(ctx->dev, "match criteria, byte 0x%zx: not modelled",
			       dp_key_stray(attr->mask, attr->mask_len));
		return -EOPNOTSUPP;
	}
	if (attr->ft_type > TABLE_FDB) {
		emu_trace_note(ctx->dev, "flow table type %u is not modelled", attr->ft_type);
		return -EOPNOTSUPP;
	}
	m = emu_obj_new(ctx->dev, ctx, EMU_OBJ_MATCHER, sizeof(*m), NULL);
	if (m == NULL)
		return -ENOMEM;
	m->table = attr->ft_type;
	m->priority = attr->priority;
	m->criteria = attr->criteria;
	dp_key_load(m->mask, attr->mask, attr->mask_len);
	ret = check_fields(ctx, m);
	if (ret != 0)
		emu_obj_destroy(&m->obj);
	else
		*out = &m->obj;
	return ret;
}

static void
flow_release(struct emu_obj *obj)
{
	struct dp_flow *f = (struct dp_flow *)obj;

	if (obj->dev->steer != NULL)
		dp_autotables_remove(obj->dev, f->tables, &f->added);
	emu_obj_unref(&f->matcher->obj);
	if (f->dest != NULL)
		emu_obj_unref(f->dest);
	if (f->added.counter != NULL)
		emu_obj_unref(&f->added.counter->obj);
	if (f->modify != NULL)
		emu_obj_unref(&f->modify->obj);
	if (f->reformat != NULL)
		emu_obj_unref(&f->reformat->obj);
}

/* A rule leads to tables of its own type, and in that of received packets to TIRs. */
static bool
leads(const struct dp_matcher *m, const struct emu_obj *dest)
{
	static const uint8_t types[] = {
		[TABLE_RX] = PRM_FLOW_TABLE_TYPE_NIC_RX,
		[TABLE_TX] = PRM_FLOW_TABLE_TYPE_NIC_TX,
		[TABLE_FDB] = PRM_FLOW_TABLE_TYPE_FDB,
	};

	if (dest->type == EMU_OBJ_TIR)
		return m->table == TABLE_RX;
	return ((const struct emu_flow_table *)dest)->type == types[m->table];
}

/* Firmware refuses the entry that the kernel makes of it (fw_fte.c, changes_check()). */
static bool
decap_leads(const struct emu_ctx *ctx, const struct emu_flow_attr *attr)
{
	return (attr->decap || attr->reformat != NULL) && attr->dest != NULL &&
	       attr->dest->type == EMU_OBJ_FLOW_TABLE && !ctx->dev->profile->reformat_and_fwd_to_table;
}

static bool
changes(const struct emu_flow_attr *attr)
{
	return attr->modify != NULL || attr->reformat != NULL || attr->decap;
}

/* Flow actions are for a type of table; the kernel's tables of sent packets have reformat_en by that capability. */
static bool
changes_fit(const struct emu_ctx *ctx, const struct dp_matcher *m, const struct emu_flow_attr *attr)
{
	bool sent = m->table == TABLE_TX;

	if ((attr->modify != NULL && attr->modify->sent != sent) || (attr->decap && sent))
		return false;
	return attr->reformat == NULL ||
	       ((attr->reformat->type == PRM_REFORMAT_TYPE_L3_TUNNEL_TO_L2) != sent &&
		(!sent || ctx->dev->profile->tx_reformat));
}

/* Destinations of rules of the FDB: hw/mlx5/fs.c, get_dests(). */
static int
check_flow(struct emu_ctx *ctx, const struct dp_matcher *m, const struct emu_flow_attr *attr)
{
	bool known = attr->dest == NULL || attr->dest->type == EMU_OBJ_TIR ||
		     attr->dest->type == EMU_OBJ_FLOW_TABLE;
	const char *why = NULL;

	if (!known)
		why = "destination is neither a TIR nor a flow table";
	else if (attr->dest != NULL && !leads(m, attr->dest))
		why = "tables lead to tables of their own type, and TIRs are for received packets";
	else if (attr->default_miss && m->table == TABLE_TX)
		why = "default miss is for received packets: fs_core.c, fwd_next_prio_supported()";
	else if ((attr->dest != NULL) + attr->drop + attr->default_miss > 1)
		why = "more than one of destination, drop and default miss";
	else if (attr->dest == NULL && !attr->drop && !attr->default_miss &&
		 m->table != TABLE_TX)
		why = "no destination";
	else if (attr->has_tag && attr->tag > 0xffffff)
		why = "flow tag has more than 24 bits";
	else if (changes(attr) && (m->table == TABLE_FDB || attr->drop || (attr->decap && attr->reformat != NULL)))
		why = "this table, or a rule that drops, changes no packets, and there is one change of tunnels";
	else if (!changes_fit(ctx, m, attr))
		why = "a flow action for tables of another type";
	else if (ctx->dev->eswitch.on && (attr->decap || attr->reformat != NULL))
		why = "in switchdev mode the kernel's tables change no tunnels: hw/mlx5/fs.c, _get_flow_table()";
	else if (known && decap_leads(ctx, attr))
		why = "a tunnel and a table as destination without reformat_and_fwd_to_table";
	if (why == NULL)
		return check_param(ctx, attr->value, attr->value_len, "value");
	emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL, "flow refused: %s", why);
	return known && !(attr->default_miss && m->table == TABLE_TX) ? -EINVAL : -EOPNOTSUPP;
}

/* The kernel's errno for rules that it refuses without a firmware command, or whose group firmware refuses, or 0. */
static int
check_spec(struct emu_ctx *ctx, const struct dp_matcher *m, const struct emu_flow_attr *attr,
	   const uint32_t value[DP_KEY_DWORDS])
{
	bool stray = m->mask_stray || dp_key_stray(attr->value, attr->value_len) != attr->value_len;

	if (m->priority > PRIORITY_MAX) {
		emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL, "flow refused: priority %u, the last is %u",
			  m->priority, PRIORITY_MAX);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < DP_KEY_DWORDS; i++)
		stray |= (value[i] & ~m->mask[i]) != 0;
	if (!stray && !m->lacking)
		return 0;
	emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL, "flow refused: %s",
		  stray ? "value beyond its mask, or mask beyond its criteria" :
			  "the card has no capability for a field of the mask");
	return -EINVAL;
}

/* mlx5_ib (fs.c, raw_fs_is_multicast()): it compares the mask of an IPv4 address, too, which 224.0.0.0 must be in. */
static bool
only_multicast(const struct dp_matcher *m, const uint32_t value[DP_KEY_DWORDS])
{
	return (value[DMAC_HI] & DMAC_HI_GROUP_BIT) != 0 ||
	       (value[DST_IPV4] >> 28 == 0xe && m->mask[DST_IPV4] >> 28 == 0xe);
}

static uint16_t
level_of(const struct dp_matcher *m, const struct emu_flow_attr *attr, const uint32_t value[DP_KEY_DWORDS])
{
	bool multicast = attr->place == EMU_FLOW_BY_MATCH ? only_multicast(m, value)
							  : attr->place == EMU_FLOW_MULTICAST;

	return multicast ? LEVEL_MULTICAST : m->priority;
}

/* The kernel's tables have levels too; a rule must forward to a higher level. */
static int
check_level(struct emu_ctx *ctx, const struct emu_obj *dest, uint16_t level)
{
	const struct emu_flow_table *t = (const struct emu_flow_table *)dest;

	if (dest == NULL || dest->type != EMU_OBJ_FLOW_TABLE || t->level > level)
		return 0;
	emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL,
		  "flow refused: flow table 0x%x has level %u, the kernel's table of the rule %u",
		  dest->id, t->level, level);
	return -EINVAL;
}

static void
flow_fill(struct dp_flow *f, const struct emu_flow_attr *attr)
{
	struct dp_added *r = &f->added;

	f->dest = attr->dest;
	if (f->dest != NULL && f->dest->type == EMU_OBJ_TIR)
		r->tir = (struct emu_tir *)f->dest;
	else if (f->dest != NULL)
		r->table = &((struct emu_flow_table *)f->dest)->table;
	r->counter = attr->counter;
	r->counter_offset = attr->counter_offset;
	r->drop = attr->drop;
	r->to_kernel = attr->default_miss;
	r->has_tag = attr->has_tag;
	r->tag = attr->tag;
	f->modify = attr->modify;
	f->reformat = attr->reformat;
	r->change = (struct dp_change){.decap = attr->decap, .reformat = f->reformat, .modify = f->modify};
	if (f->modify != NULL)
		emu_obj_ref(&f->modify->obj);
	if (f->reformat != NULL)
		emu_obj_ref(&f->reformat->obj);
	emu_obj_ref(&f->matcher->obj);
	if (f->dest != NULL)
		emu_obj_ref(f->dest);
	if (r->counter != NULL)
		emu_obj_ref(&r->counter->obj);
}

int
emu_flow_create(struct emu_ctx *ctx, struct emu_obj *matcher, const struct emu_flow_attr *attr,
		struct emu_obj **out)
{
	struct dp_matcher *m = (struct dp_matcher *)matcher;
	struct dp_steer *s = ctx->dev->steer;
	uint32_t value[DP_KEY_DWORDS];
	struct dp_flow *f;
	int ret;

	if (s == NULL || matcher == NULL || matcher->type != EMU_OBJ_MATCHER)
		return -EINVAL;
	ret = check_flow(ctx, m, attr);
	if (ret != 0)
		return ret;
	dp_key_load(value, attr->value, attr->value_len);
	ret = check_spec(ctx, m, attr, value);
	if (ret == 0)
		ret = check_level(ctx, attr->dest, level_of(m, attr, value));
	if (ret != 0)
		return ret;
	f = emu_obj_new(ctx->dev, ctx, EMU_OBJ_FLOW, sizeof(*f), flow_release);
	if (f == NULL)
		return -ENOMEM;
	f->matcher = m;
	f->tables = attr->place == EMU_FLOW_LEFTOVER ? &s->leftover : &s->table[m->table];
	flow_fill(f, attr);
	ret = dp_autotables_add(ctx->dev, f->tables, level_of(m, attr, value), m->mask, m->criteria, value,
				&f->added);
	if (ret != 0) {
		emu_obj_destroy(&f->obj);
		return ret;
	}
	*out = &f->obj;
	return 0;
}

void
dp_steer_rx(struct emu_dev *dev, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk)
{
	struct dp_steer *s = dev->steer;

	v->dev = dev;
	v->changed = &s->changed[TABLE_RX];
	dp_table_lookup(s->root[TABLE_RX] != NULL ? s->root[TABLE_RX] : &s->table[TABLE_RX].table, pkt, v, walk);
}

void
dp_steer_leftover(struct emu_dev *dev, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk)
{
	struct dp_steer *s = dev->steer;
	struct dp_steer_result left;

	if (DP_LIKELY(TAILQ_EMPTY(&s->leftover.groups)) || s->root[TABLE_RX] != NULL)
		return;
	dp_table_lookup(&s->leftover.table, pkt, &left, walk);
	v->dest = left.dest;
	v->tir = left.tir;
	v->also = left.also;
	v->also_n = left.also_n;
}

void
dp_steer_tx(struct emu_dev *dev, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk)
{
	struct dp_steer *s = dev->steer;

	v->dev = dev;
	v->changed = &s->changed[TABLE_TX];
	dp_table_lookup(tx_root(s), pkt, v, walk);
}

bool
dp_steer_to_uplink(struct emu_dev *dev, const struct emu_sq *sq, const uint8_t *frame, uint32_t len,
		   struct dp_walk *walk)
{
	struct dp_steer *s = dev->steer;
	struct dp_meta meta = {.source_sqn = sq->obj.id};
	struct dp_steer_result v;
	struct dp_pkt pkt;

	/* Programs' rules (priority FDB_BYPASS_PATH) come before those of the kernel (FDB_SLOW_PATH). */
	if (TAILQ_EMPTY(&s->table[TABLE_FDB].table.rules))
		return sq->uplink;
	dp_parse(&pkt, frame, len, 0);
	pkt.meta = &meta;
	dp_table_lookup(&s->table[TABLE_FDB].table, &pkt, &v, walk);
	if (DP_LIKELY(walk == NULL))
		dp_steer_count(&v, len);
	return v.dest == DP_DEST_UPLINK || (v.dest == DP_DEST_KERNEL && sq->uplink);
}

bool
emu_dp_group_at(const struct emu_dev *dev, const struct dp_table *t, unsigned i, const struct dp_rule *rule,
		struct dp_group_info *g)
{
	const struct dp_steer *s = dev->steer;

	for (unsigned type = TABLE_RX; type <= TABLE_FDB; type++)
		if (t == &s->table[type].table)
			return dp_autotables_group(&s->table[type], i, rule, g);
	return t == &s->leftover.table && dp_autotables_group(&s->leftover, i, rule, g);
}

const char *
emu_dp_table_name(const struct emu_dev *dev, const struct dp_table *t)
{
	static const char *const names[] = {[TABLE_RX] = "received packets", [TABLE_TX] = "sent packets",
					    [TABLE_FDB] = "FDB"};
	const struct dp_steer *s = dev->steer;

	for (unsigned type = TABLE_RX; type <= TABLE_FDB; type++)
		if (t == &s->table[type].table)
			return names[type];
	return t == &s->leftover.table ? "leftover packets" : NULL;
}

uint64_t
dp_steer_changed_ns(const struct emu_dev *dev)
{
	const struct dp_steer *s = dev->steer;

	return s->changed_ns;
}

static bool
table_any(struct dp_table *t, uint64_t walk, dp_rule_cb cb, void *arg)
{
	struct dp_rule *r;

	if (t == NULL || t->walk == walk)
		return false;
	t->walk = walk;
	TAILQ_FOREACH(r, &t->rules, next)
		if (cb(r, arg) || table_any(r->table, walk, cb, arg))
			return true;
	return table_any(t->miss, walk, cb, arg);
}

bool
dp_steer_any(struct emu_dev *dev, dp_rule_cb cb, void *arg)
{
	struct dp_steer *s = dev->steer;

	if (s->root[TABLE_RX] != NULL)
		return table_any(s->root[TABLE_RX], ++s->walks, cb, arg);
	return table_any(&s->table[TABLE_RX].table, ++s->walks, cb, arg) ||
	       table_any(&s->leftover.table, s->walks, cb, arg);
}

const struct dp_toeplitz *
dp_tir_key(struct emu_tir *tir)
{
	struct dp_toeplitz *t = tir->obj.dp;

	if (tir->hash_fn != PRM_RX_HASH_FN_TOEPLITZ)
		return NULL;
	if (DP_UNLIKELY(t == NULL)) {
		t = calloc(1, sizeof(*t));
		if (t == NULL)
			return NULL;
		tir->obj.dp = t;
	}
	/* MODIFY_TIR can change the key. */
	if (DP_UNLIKELY(!t->valid || memcmp(t->key, tir->key, sizeof(t->key)) != 0))
		dp_toeplitz_init(t, tir->key);
	return t;
}
