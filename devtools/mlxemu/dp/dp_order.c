/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * `--order relaxed`: completions and events become visible as late, and in as many parts, as PCI Express allows.
 *
 * Writes of a device are posted requests of one traffic class: none passes an earlier one without the relaxed-ordering
 * attribute (PCI Express Base Specification, "Transaction Ordering"), so that a CQE never precedes the packet or the
 * CQEs before it, an EQE never the CQE that it announces, and an interrupt, a write as well, never the EQE. Data of
 * keys with relaxed ordering may be reordered among itself only: a completion ensures that all data is visible
 * (ibv_reg_mr(3), IBV_ACCESS_RELAXED_ORDERING: completion semantics stay the same). Payload after its CQE would be
 * wrong for each key. Packets are therefore written at once, and what follows them waits here.
 */
#include <string.h>

#include "../core/emu_cpu.h"
#include "dp_int.h"

/* More wait for the same time: the oldest become visible early. */
#define POSTED 1024u
#define LINE_BYTES 128u

enum posted_kind { POSTED_LINE, POSTED_EQE, POSTED_EVENT };

/** A write that the host does not see yet. */
struct posted {
	enum posted_kind kind;
	uint32_t bytes;
	const struct emu_dev *dev;
	void *to;	      /**< Host memory, or the EQ. */
	struct emu_ctx *ctx;  /**< Of an event that the kernel handles, */
	struct emu_obj *obj;  /**< with its object */
	uint16_t type;	      /**< and type. */
	_Alignas(uint64_t) uint8_t data[LINE_BYTES];
};

bool dp_relaxed;
static struct posted posted[POSTED];
static unsigned first, count;
static unsigned hold; /* passes until the next one becomes visible */
static uint64_t random_state;
/* Two, because a rule can write a CQE twice. */
static _Alignas(64) uint8_t stage[2][LINE_BYTES];
static unsigned stages;

/* SplitMix64, a public-domain generator (Steele, Lea, Flood 2014). */
static uint32_t
random_below(uint32_t n)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ z >> 31) >> 32) % n;
}

void
emu_dp_order(bool relaxed, uint64_t seed)
{
	dp_relaxed = relaxed;
	random_state = seed;
	first = count = hold = 0;
}

bool
emu_dp_is_relaxed(void)
{
	return dp_relaxed;
}

/*
 * The doublewords of a write become visible in ascending order, one by one.
 * assumed: the processor sees whole doublewords, and CQEs and EQEs are written without relaxed ordering (PCI Express
 * Base Specification, "Update Ordering and Granularity Provided by a Write Transaction"). Other reading: root
 * complexes of today make 64 bytes visible at once, which no program may rely on. Test: order/traffic.py.
 */
static void
line_write(const struct posted *p)
{
	const uint32_t *from = (const uint32_t *)(const void *)p->data;
	_Atomic uint32_t *to = p->to;

	for (unsigned i = 0; i < p->bytes / sizeof(*from); i++) {
		if (random_below(8) == 0)
			for (unsigned n = random_below(64); n != 0; n--)
				emu_cpu_pause();
		atomic_store_explicit(&to[i], from[i], memory_order_release);
	}
}

static void
release_one(void)
{
	struct posted p = posted[first];

	first = (first + 1) % POSTED;
	count--;
	/* Of a removed device nothing arrives any more. */
	if (p.dev->removed)
		return;
	if (p.kind == POSTED_LINE)
		line_write(&p);
	else if (p.kind == POSTED_EQE)
		dp_eq_write(p.to, (const struct prm_eqe *)(const void *)p.data);
	else
		dp_event_now(p.ctx, p.obj, p.type, p.data);
}

static struct posted *
add(enum posted_kind kind, const struct emu_dev *dev, void *to, const void *data, uint32_t bytes)
{
	struct posted *p;

	if (count == POSTED)
		release_one();
	p = &posted[(first + count++) % POSTED];
	p->kind = kind;
	p->dev = dev;
	p->to = to;
	p->bytes = bytes;
	memcpy(p->data, data, bytes);
	return p;
}

struct prm_cqe64 *
dp_order_stage(void)
{
	uint8_t *at = stage[stages++ % 2];

	memset(at, 0, LINE_BYTES);
	return (struct prm_cqe64 *)(void *)(at + LINE_BYTES / 2);
}

void
dp_order_cqe(const struct emu_cq *cq, struct prm_cqe64 *to, const struct prm_cqe64 *from)
{
	const bool whole = cq->pad;

	add(POSTED_LINE, cq->obj.dev, to - whole, from - whole, whole ? LINE_BYTES : LINE_BYTES / 2);
}

void
dp_order_number(const struct emu_cq *cq, struct prm_cqe64 *to, uint8_t pass)
{
	struct prm_cqe64 cqe = *to;
	const size_t tail = offsetof(struct prm_cqe64, wqe_counter);

	cqe.signature = pass;
	add(POSTED_LINE, cq->obj.dev, (uint8_t *)to + tail, (const uint8_t *)&cqe + tail, sizeof(uint32_t));
}

void
dp_order_line(void *to, const void *from)
{
	struct posted p = {.to = to, .bytes = LINE_BYTES / 2};

	memcpy(p.data, from, p.bytes);
	line_write(&p);
}

void
dp_order_event(struct emu_cq *cq, struct prm_eqe *eqe)
{
	struct posted *p;

	if (cq->eq != NULL) {
		add(POSTED_EQE, cq->obj.dev, cq->eq, eqe, sizeof(*eqe));
		return;
	}
	p = add(POSTED_EVENT, cq->obj.dev, NULL, eqe, sizeof(*eqe));
	p->ctx = cq->obj.ctx;
	p->obj = &cq->obj;
	p->type = PRM_EVENT_TYPE_COMP;
}

uint8_t
dp_order_doorbell(void)
{
	return (uint8_t)(random_below(2) == 0 ? 0 : random_below(64));
}

unsigned
dp_order_pass(void)
{
	unsigned n;

	if (count == 0)
		return 0;
	if (hold != 0) {
		hold--;
		return 1;
	}
	for (n = 1 + random_below(count); n != 0; n--)
		release_one();
	/* Half of the time at once, else after up to 3, 24 or 192 passes. */
	hold = random_below(2) == 0 ? 0 : random_below(4u << 3 * random_below(3));
	return 1;
}

void
emu_dp_order_flush(void)
{
	while (count != 0)
		release_one();
}
