/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Doorbell pages. Stores into memory cause no event, so each pass reads every register and clears it: a
 * value other than 0 was written since.
 */
#include <stdlib.h>

#include "dp_fault.h"
#include "dp_int.h"

#define UAR_CQ_ARM offsetof(struct prm_uar_page, cq_arm)
#define UAR_SQ offsetof(struct prm_uar_page, sq_doorbell)
/* BlueFlame registers of 512 bytes, two halves each (PRM, UAR page format). */
static const uint16_t sq_registers[] = {UAR_SQ, UAR_SQ + 0x100, UAR_SQ + 0x200, UAR_SQ + 0x300};
#define SQ_REGISTERS (sizeof(sq_registers) / sizeof(sq_registers[0]))

struct dp_uar *
dp_uar_get(struct emu_uar *uar)
{
	struct dp_port *port = dp_port_of(uar->obj.dev);
	struct dp_uar *u = uar->obj.dp;

	if (u != NULL || port == NULL)
		return u;
	u = calloc(1, sizeof(*u));
	if (u == NULL)
		return NULL;
	u->uar = uar;
	TAILQ_INIT(&u->sqs);
	TAILQ_INIT(&u->cqs);
	TAILQ_INIT(&u->eqs);
	TAILQ_INSERT_TAIL(&port->uars, u, next);
	uar->obj.dp = u;
	return u;
}

/*
 * Takes a doorbell. The exchange loses no store between read and clear, and orders later reads of
 * doorbell records and WQEs.
 */
static inline uint64_t
take(struct emu_uar *uar, unsigned offset)
{
	_Atomic uint64_t *reg = (_Atomic uint64_t *)(uintptr_t)(uar->page + offset);

	if (DP_LIKELY(atomic_load_explicit(reg, memory_order_relaxed) == 0))
		return 0;
	/* The device may have been removed during this pass: the page then reads as ones. */
	if (DP_UNLIKELY(uar->obj.dev->removed))
		return 0;
	return be64toh(atomic_exchange_explicit(reg, 0, memory_order_acquire));
}

static void
look(struct dp_uar *u)
{
	struct emu_port_stats *stats = &u->uar->obj.dev->stats;
	uint64_t db;

	for (unsigned i = 0; i < SQ_REGISTERS; i++) {
		db = take(u->uar, sq_registers[i]);
		if (db == 0)
			continue;
		stats->doorbells++;
		u->uar->last_db = db;
		/* The first words of the WQE: opcode and index, then qpn << 8 | ds. */
		dp_sq_ring(u, (uint32_t)db >> 8, false);
	}
	db = take(u->uar, UAR_CQ_ARM);
	if (db != 0) {
		stats->doorbells++;
		dp_cq_arm(u, db, false);
	}
}

void
dp_uar_scan(struct dp_port *port)
{
	struct dp_uar *u;

	TAILQ_FOREACH(u, &port->uars, next)
		look(u);
}

void
emu_dp_take_doorbells(struct emu_dev *dev)
{
	if (dp_port_of(dev) == NULL)
		return;
	dp_uar_scan(dp_port_of(dev));
	if (DP_UNLIKELY(dp_relaxed))
		dp_sq_serve(dp_port_of(dev));
	/* Write open sessions: their completions precede the command. */
	dp_comp_flush_all(dp_port_of(dev)->shared);
	emu_dp_order_flush();
}

/* Eight bytes into a register of SQs or CQs. */
static bool
queue_store(struct dp_uar *u, unsigned offset, uint64_t db)
{
	bool sq = false;

	for (unsigned i = 0; i < SQ_REGISTERS; i++)
		sq |= offset == sq_registers[i];
	if (!sq && offset != UAR_CQ_ARM)
		return false;
	u->uar->obj.dev->stats.doorbells++;
	if (sq) {
		u->uar->last_db = db;
		dp_sq_ring(u, (uint32_t)db >> 8, true);
	} else {
		dp_batch_begin(dp_port_of(u->uar->obj.dev)->shared);
		dp_cq_arm(u, db, true);
	}
	return true;
}

bool
emu_dp_uar_store(struct emu_ctx *ctx, uint64_t offset, uint64_t value, unsigned bytes)
{
	uint64_t id = (offset - ctx->uar_base) / EMU_PAGE_BYTES;
	struct emu_uar *uar = id < UINT32_MAX ?
		emu_obj_find(ctx->dev, EMU_OBJ_UAR, (uint32_t)id) : NULL;

	if (uar == NULL || uar->obj.ctx != ctx || uar->obj.dp == NULL)
		return false;
	if (bytes == sizeof(uint64_t) &&
	    queue_store(uar->obj.dp, offset % EMU_PAGE_BYTES, be64toh(value)))
		return true;
	return bytes >= sizeof(uint32_t) &&
	       dp_eq_store(uar->obj.dp, offset % EMU_PAGE_BYTES, be32toh((uint32_t)value));
}

void
dp_uar_forget(struct emu_uar *uar)
{
	struct dp_port *port = dp_port_of(uar->obj.dev);
	struct dp_uar *u = uar->obj.dp;
	struct dp_sq *q;
	struct dp_cq *c;
	struct dp_eq *e;

	if (u == NULL)
		return;
	TAILQ_FOREACH(q, &u->sqs, in_uar)
		q->uar = NULL;
	TAILQ_FOREACH(c, &u->cqs, next)
		c->uar = NULL;
	TAILQ_FOREACH(e, &u->eqs, next)
		e->uar = NULL;
	if (port != NULL)
		TAILQ_REMOVE(&port->uars, u, next);
	free(u);
	uar->obj.dp = NULL;
}
