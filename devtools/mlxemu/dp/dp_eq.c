/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Event queues of VFIO contexts: writing EQEs, ownership, arming, interrupts.
 *
 * All EQs of a page share two doorbell registers, and there is no other record that an EQ is armed:
 * polling the page would find the last store only. The front end therefore passes every store to
 * emu_dp_uar_store().
 */
#include <stdlib.h>

#include "../core/emu_fault.h"
#include "../core/emu_iommu.h"
#include "dp_int.h"

#define UAR_EQ_ARM offsetof(struct prm_uar_page, eq_arm)
#define UAR_EQ_UPDATE offsetof(struct prm_uar_page, eq_index)
#define CI_MASK PRM_UAR_PAGE_EQ_ARM_CI_MASK

static struct dp_eq *
eq_get(struct emu_eq *eq)
{
	struct dp_eq *e = eq->obj.dp;

	if (e != NULL || dp_port_of(eq->obj.dev) == NULL || eq->obj.unmapped)
		return e;
	e = calloc(1, sizeof(*e));
	if (e == NULL)
		return NULL;
	e->eq = eq;
	e->uar = dp_uar_get(eq->uar);
	if (e->uar != NULL)
		TAILQ_INSERT_TAIL(&e->uar->eqs, e, next);
	eq->obj.dp = e;
	return e;
}

bool
emu_dp_eq_created(struct emu_eq *eq)
{
	return eq_get(eq) != NULL;
}

void
dp_eq_forget(struct emu_eq *eq)
{
	struct dp_eq *e = eq->obj.dp;

	if (e == NULL)
		return;
	if (e->uar != NULL)
		TAILQ_REMOVE(&e->uar->eqs, e, next);
	free(e);
	eq->obj.dp = NULL;
}

static uint32_t
unconsumed(const struct emu_eq *eq)
{
	return (eq->pi - eq->ci) & CI_MASK;
}

static void
interrupt(struct emu_eq *eq)
{
	const struct emu_front_ops *front = emu_machine_of(eq->obj.dev)->front;

	eq->armed = false;
	if (front != NULL && front->msix != NULL)
		front->msix(eq->obj.ctx, eq->vector);
}

/*
 * An EQ that overran takes no more events, and QUERY_VNIC_ENV counts it by its purpose. The loss of
 * events other than completions is fatal: health syndrome "async EQ buffer overrun" (Linux,
 * mlx5/core/health.c). dev->fatal defers the failure, because a command or packet can be in progress.
 */
static void
overrun(struct emu_eq *eq, uint8_t type)
{
	struct emu_dev *dev = eq->obj.dev;

	emu_audit(dev, EMU_AUDIT_EQ_OVERRUN,
		  "EQ 0x%x: no room for event %u, consumer index 0x%x of %u entries", eq->obj.id,
		  eq->pi, eq->ci, 1u << eq->log_size);
	if (type == PRM_EVENT_TYPE_COMP) {
		dev->stats.comp_eq_overruns++;
		return;
	}
	dev->stats.async_eq_overruns++;
	dev->fatal = PRM_HEALTH_SYND_ASYNC_EQ_OVERRUN_ERR;
	dev->remove_ns = emu_mono_ns();
}

/* The memory of the ring is unmapped; report it once. */
static void
stop(struct emu_eq *eq, uint8_t type)
{
	eq->err = true;
	if (eq->obj.unmapped)
		emu_audit(eq->obj.dev, EMU_AUDIT_IOMMU, "EQ 0x%x: its ring is not mapped any more",
			  eq->obj.id);
	else
		overrun(eq, type);
}

static bool
write_one(struct emu_eq *eq, const struct prm_eqe *eqe)
{
	uint32_t size = 1u << eq->log_size;
	struct prm_eqe whole = *eqe, *to;
	uint8_t owner;

	if (eq->err)
		return false;
	if (eq->obj.unmapped || (unconsumed(eq) >= size && !eq->oi)) {
		stop(eq, eqe->type);
		return false;
	}
	to = (struct prm_eqe *)(eq->ring + (size_t)(eq->pi & (size - 1)) * sizeof(*to));
	owner = (uint8_t)(eq->pi >> eq->log_size & 1);
	if (DP_UNLIKELY(dp_relaxed)) {
		whole.owner = owner;
		dp_order_line(to, &whole);
	} else {
		memcpy(to, eqe, offsetof(struct prm_eqe, owner));
		/* Release: a reader that sees the new owner bit sees the whole EQE. */
		atomic_store_explicit((_Atomic uint8_t *)&to->owner, owner, memory_order_release);
	}
	eq->pi = (eq->pi + 1) & CI_MASK;
	if (eq->armed)
		interrupt(eq);
	return true;
}

bool
dp_eq_write(struct emu_eq *eq, const struct prm_eqe *eqe)
{
	const struct emu_fault_event e = {.kind = EMU_ON_EQE_WRITE, .dev = eq->obj.dev,
					  .type = eqe->type};
	const struct emu_fault_action *a =
		emu_fault_at(EMU_ON_EQE_WRITE) ? emu_fault_hit(&e) : NULL;
	struct prm_eqe changed;

	/* The loss has no effect on the EQ. */
	if (a != NULL && a->act == EMU_ACT_DROP)
		return true;
	if (emu_fault_set_at(EMU_ON_EQE_WRITE)) {
		changed = *eqe;
		emu_fault_set_eqe(&e, &changed);
		eqe = &changed;
	}
	return write_one(eq, eqe) && (a == NULL || a->act != EMU_ACT_DUP || write_one(eq, eqe));
}

/** Search key: the EQ to which an event type is mapped. */
struct search {
	const struct emu_ctx *ctx;
	uint8_t type;
	struct emu_eq *found;
};

static void
search_cb(struct emu_obj *obj, void *arg)
{
	struct emu_eq *eq = (struct emu_eq *)obj;
	struct search *s = arg;

	/* EQs of the kernel have no ring in the model. */
	if (obj->ctx == s->ctx && s->found == NULL &&
	    (eq->events[s->type / 64] >> s->type % 64 & 1) != 0)
		s->found = eq;
}

struct emu_eq *
emu_dp_eq_of(struct emu_ctx *ctx, uint8_t type)
{
	struct search s = {.ctx = ctx, .type = type};

	emu_obj_foreach(ctx->dev, EMU_OBJ_EQ, search_cb, &s);
	return s.found;
}

bool
emu_dp_eq_event(struct emu_ctx *ctx, const struct prm_eqe *eqe)
{
	struct emu_eq *eq = emu_dp_eq_of(ctx, eqe->type);

	return eq != NULL && dp_eq_write(eq, eqe);
}

void
dp_event_now(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, void *eqe)
{
	((struct prm_eqe *)eqe)->type = (uint8_t)type;
	if (ctx == NULL)
		return;
	if (ctx->iommu != NULL)
		emu_dp_eq_event(ctx, eqe);
	else if (ctx->ops != NULL && ctx->ops->event != NULL)
		ctx->ops->event(ctx, obj, type, eqe);
}

void
emu_dp_event(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, void *eqe)
{
	emu_dp_order_flush();
	dp_event_now(ctx, obj, type, eqe);
}

/* False: invalid consumer index. */
static bool
consumed(struct emu_eq *eq, uint32_t ci)
{
	/* Valid: from the last consumer index up to the producer index. */
	if (((ci - eq->ci) & CI_MASK) > unconsumed(eq)) {
		emu_audit(eq->obj.dev, EMU_AUDIT_BAD_DOORBELL,
			  "EQ 0x%x: consumer index 0x%x, previously 0x%x, events written up to 0x%x",
			  eq->obj.id, ci, eq->ci, eq->pi);
		return false;
	}
	eq->ci = ci;
	return true;
}

static void
ring(struct emu_eq *eq, uint32_t ci, bool arm)
{
	if (!consumed(eq, ci) || !arm)
		return;
	eq->armed = true;
	if (unconsumed(eq) != 0)
		interrupt(eq);
}

static void
doorbell(struct dp_uar *u, uint32_t db, bool arm)
{
	struct dp_eq *e;

	u->uar->obj.dev->stats.doorbells++;
	TAILQ_FOREACH(e, &u->eqs, next) {
		if (e->eq->obj.id != PRM_BITS(db, UAR_PAGE_EQ_ARM_EQN))
			continue;
		ring(e->eq, db & CI_MASK, arm);
		return;
	}
	emu_audit(u->uar->obj.dev, EMU_AUDIT_BAD_DOORBELL,
		  "UAR 0x%x: doorbell for EQ 0x%x, which does not ring here", u->uar->obj.id,
		  PRM_BITS(db, UAR_PAGE_EQ_ARM_EQN));
}

bool
dp_eq_store(struct dp_uar *u, unsigned offset, uint32_t db)
{
	if (offset != UAR_EQ_ARM && offset != UAR_EQ_UPDATE)
		return false;
	doorbell(u, db, offset == UAR_EQ_ARM);
	return true;
}
