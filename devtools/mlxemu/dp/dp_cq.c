/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Completion queues: writing CQEs, ownership, overrun, arming and events. */
#include <stdlib.h>

#include "dp_fault.h"
#include "dp_int.h"

#define ARM_SN(w) PRM_BITS(w, CQ_DBREC_ARM_SN)
#define ARM_SOLICITED_ONLY(w) (((w) & PRM_CQ_DBREC_ARM_SOLICITED_MASK) != 0)
#define CI_MASK PRM_CQ_DBREC_INDEX_CI_MASK

struct dp_cq *
dp_cq_get(struct emu_cq *cq)
{
	struct dp_cq *c = cq->obj.dp;

	if (c != NULL || dp_port_of(cq->obj.dev) == NULL || cq->obj.unmapped)
		return c;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return NULL;
	c->cq = cq;
	c->fired_sn = -1;
	c->ci = be32toh(cq->dbrec[0]) & CI_MASK;
	c->size = 1u << cq->log_size;
	c->plain = !cq->comp_en && !cq->enhanced && !cq->collapsed && cq->log_cqe_bytes == 6;
	if (cq->comp_en) {
		c->comp = dp_comp_new(cq);
		if (c->comp == NULL) {
			free(c);
			return NULL;
		}
	}
	c->uar = cq->uar != NULL ? dp_uar_get(cq->uar) : NULL;
	if (c->uar != NULL)
		TAILQ_INSERT_TAIL(&c->uar->cqs, c, next);
	cq->obj.dp = c;
	return c;
}

void
emu_dp_cq_created(struct emu_cq *cq)
{
	/*
	 * The program can arm the CQ before a queue uses it. Without memory this is repeated at the first
	 * use.
	 */
	(void)dp_cq_get(cq);
}

static void
fire(struct dp_cq *c)
{
	struct prm_eqe eqe = {0};

	if (c->timed)
		TAILQ_REMOVE(&dp_port_of(c->cq->obj.dev)->timed, c, in_timed);
	c->armed = c->timed = false;
	c->unnotified = 0;
	c->fired_sn = (int)ARM_SN(c->cq->armed_sn);
	eqe.comp_cqn = htobe32(c->cq->obj.id);
	if (DP_UNLIKELY(dp_relaxed))
		dp_order_event(c->cq, &eqe);
	else if (c->cq->eq != NULL)
		dp_eq_write(c->cq->eq, &eqe);
	else
		emu_dp_event(c->cq->obj.ctx, &c->cq->obj, PRM_EVENT_TYPE_COMP, &eqe);
}

/*
 * Moderation: raises the event after max_count completions, or period_us after the first one; at once if
 * both are 0.
 */
static void
notify(struct dp_cq *c, uint32_t n)
{
	struct dp_port *port = dp_port_of(c->cq->obj.dev);
	const struct emu_cq *cq = c->cq;
	bool moderated = cq->max_count > 1 || (cq->period_us != 0 && cq->max_count != 1);

	c->unnotified += n;
	if (!moderated || (cq->max_count > 1 && c->unnotified >= cq->max_count)) {
		fire(c);
	} else if (cq->period_us != 0 && !c->timed) {
		c->timed = true;
		c->notify_ns = port->shared->mono_ns + cq->period_us * 1000ull;
		TAILQ_INSERT_TAIL(&port->timed, c, in_timed);
	}
}

void
dp_cq_tick(struct dp_port *port)
{
	struct dp_cq *c, *next;

	if (DP_LIKELY(TAILQ_EMPTY(&port->timed)))
		return;
	dp_batch_begin(port->shared);
	for (c = TAILQ_FIRST(&port->timed); c != NULL; c = next) {
		next = TAILQ_NEXT(c, in_timed);
		if (port->shared->mono_ns >= c->notify_ns)
			fire(c);
	}
}

void
dp_cq_overrun(struct emu_cq *cq)
{
	struct prm_eqe eqe = {0};

	cq->err = true;
	emu_audit(cq->obj.dev, EMU_AUDIT_CQ_OVERRUN,
		  "CQ 0x%x: no room for completion %u, consumer index 0x%x of %u entries",
		  cq->obj.id, cq->pi, be32toh(cq->dbrec[0]) & CI_MASK, 1u << cq->log_size);
	eqe.cq_err_cqn = htobe32(cq->obj.id);
	eqe.cq_err_syndrome = PRM_CQ_ERROR_SYNDROME_CQ_OVERRUN;
	emu_dp_event(cq->obj.ctx, &cq->obj, PRM_EVENT_TYPE_CQ_ERROR, &eqe);
}

/*
 * Number of CQEs that are not consumed.
 * assumed: only the index bits that distinguish a full ring from an empty one count, since programs keep the consumer
 * index in 16 bits. Other reading: a card compares 24 bits, and reports an overrun to DPDK's mlx5 driver. Test:
 * dp/test_cq.c.
 */
static inline uint32_t
unconsumed(const struct emu_cq *cq, uint32_t pi, uint32_t ci)
{
	return (pi - ci) & ((2u << cq->log_size) - 1);
}

/* The consumer index is in the program's cache: read it only if the last known one leaves no room. */
bool
dp_cq_has_room(struct emu_cq *cq, uint32_t ahead)
{
	uint32_t size = 1u << cq->log_size, pi = cq->pi + ahead;
	struct dp_cq *c = cq->obj.dp;

	if (DP_LIKELY(unconsumed(cq, pi, c->ci) < size) || cq->overrun_ignore || cq->collapsed)
		return true;
	c->ci = be32toh(cq->dbrec[0]) & CI_MASK;
	return unconsumed(cq, pi, c->ci) < size;
}

struct prm_cqe64 *
dp_cq_place(const struct emu_cq *cq, uint32_t ahead)
{
	uint32_t index = cq->collapsed ? 0 : (cq->pi + ahead) & ((1u << cq->log_size) - 1);

	/* In a 128-byte entry the completion is the second half. */
	return (struct prm_cqe64 *)(cq->ring + ((size_t)index << cq->log_cqe_bytes) +
				    (cq->log_cqe_bytes == 7 ? 64 : 0));
}

struct prm_cqe64 *
dp_cq_begin(struct emu_cq *cq)
{
	struct dp_cq *c = dp_cq_get(cq);
	struct prm_cqe64 *cqe;

	if (DP_UNLIKELY(c == NULL || cq->err)) {
		if (cq->obj.unmapped)
			dp_unmapped_met(&cq->obj, &cq->err);
		return NULL;
	}
	if (c->comp != NULL)
		dp_comp_close(c->comp);
	if (DP_UNLIKELY(!dp_cq_has_room(cq, 0))) {
		dp_cq_overrun(cq);
		return NULL;
	}
	if (DP_UNLIKELY(dp_relaxed))
		return dp_order_stage();
	cqe = dp_cq_place(cq, 0);
	memset(cqe, 0, offsetof(struct prm_cqe64, sop_drop_qpn));
	if (DP_UNLIKELY(cq->pad))
		memset(cqe - 1, 0, sizeof(*cqe));
	return cqe;
}

void
dp_cq_close(struct emu_cq *cq)
{
	struct dp_cq *c = cq->obj.dp;

	if (c != NULL && c->comp != NULL)
		dp_comp_close(c->comp);
}

/*
 * The place has the CQE of an earlier pass, or of none. Blocks leave places unwritten, so the number of a pass 256
 * passes ago may still be there (dp_comp.c has the sources).
 */
void
dp_cq_invalidate(const struct emu_cq *cq, uint32_t ahead)
{
	struct prm_cqe64 *to = dp_cq_place(cq, ahead);
	uint8_t pass = (uint8_t)((cq->pi + ahead) >> cq->log_size);

	if (DP_LIKELY(to->signature != pass))
		return;
	if (DP_UNLIKELY(dp_relaxed))
		dp_order_number(cq, to, (uint8_t)(pass - 1));
	else
		__atomic_store_n(&to->signature, (uint8_t)(pass - 1), __ATOMIC_RELAXED);
}

void
dp_cq_written(struct emu_cq *cq, uint32_t n, bool solicited)
{
	struct dp_cq *c = cq->obj.dp;

	cq->pi += n;
	__builtin_prefetch(dp_cq_place(cq, 0), 1);
	if (DP_UNLIKELY(c->armed))
		if (solicited || !c->solicited_only)
			notify(c, n);
}

void
dp_cq_hand_over(struct emu_cq *cq, struct prm_cqe64 *cqe, uint64_t last, bool solicited)
{
	if (DP_UNLIKELY(cq->enhanced))
		dp_cq_invalidate(cq, 1);
	/* Release: a reader that sees the new owner bit sees the whole CQE. */
	atomic_store_explicit((_Atomic uint64_t *)(void *)&cqe->sop_drop_qpn, htobe64(last),
			      memory_order_release);
	if (DP_UNLIKELY(dp_relaxed))
		dp_order_cqe(cq, dp_cq_place(cq, 0), cqe);
	cq->obj.dev->stats.cqes++;
	dp_cq_written(cq, 1, solicited);
}

void
dp_cq_end_format(struct emu_cq *cq, struct prm_cqe64 *cqe, uint32_t qpn_dword, uint16_t wqe_counter,
		 uint8_t opcode, uint8_t format, bool solicited)
{
	uint64_t last = (uint64_t)qpn_dword << 32 | (uint64_t)wqe_counter << 16 |
			(uint8_t)(opcode << 4 | format) | dp_cq_pass(cq);

	if (dp_fault_cqe() && dp_fault_cqe_apply(cq, cqe, &last, solicited))
		return;
	dp_cq_hand_over(cq, cqe, last, solicited);
}

void
dp_cq_end(struct emu_cq *cq, struct prm_cqe64 *cqe, uint32_t qpn_dword, uint16_t wqe_counter,
	  uint8_t opcode, bool solicited)
{
	dp_cq_end_format(cq, cqe, qpn_dword, wqe_counter, opcode, 0, solicited);
}

/*
 * Vendor syndromes of cards, none of which is 0: those that public dumps have most often (tests/dp/test_rules.c), or
 * else messages. Protection errors of an SQ are also published with 0x52 and, where a GPU's memory could not be read,
 * with 0x51; those of a receive queue also with 0x56, where the IOMMU refused the write.
 */
static uint8_t
vendor_of(uint8_t opcode, uint8_t syndrome)
{
	switch (syndrome) {
	case PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR:
		return 0x68; /* netdev list, Xuan Zhuo, 2021-01-21 */
	case PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR:
		return 0x68; /* linux-rdma list, Toukan, 2026-05-13; openucx/ucx issue 3618 */
	case PRM_CQE_SYNDROME_LOCAL_PROT_ERR:
		/* Juniper/warp17 issue 81; linux-rdma list, Toukan, 2025-03-23 */
		return opcode == PRM_CQE_OPCODE_REQ_ERR ? 0x53 : 0x32;
	case PRM_CQE_SYNDROME_WR_FLUSH_ERR:
		return 0xf9; /* linux-nvme/nvme-cli issue 3268 */
	case PRM_CQE_SYNDROME_MW_BIND_ERR:
		return 0x78; /* linux-rdma list, Romanovsky, 2023-07-19 */
	case PRM_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR:
		return 0x8a; /* charmplusplus/charm issue 2532 */
	case PRM_CQE_SYNDROME_REMOTE_ACCESS_ERR:
		return 0x88; /* openucx/ucx issue 1569 */
	case PRM_CQE_SYNDROME_REMOTE_OP_ERR:
		return 0x89; /* openucx/ucx issues 5472 and 10755: messages */
	case PRM_CQE_SYNDROME_RNR_RETRY_EXC_ERR:
		return 0x87;
	case PRM_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR:
		return 0x81; /* openucx/ucx issue 5199: messages */
	default:
		/*
		 * assumed: a vendor syndrome of 0x51 where no dump was published. Other reading: another value, which
		 * programs only print. Test: dp/test_errors.c.
		 */
		return 0x51;
	}
}

bool
dp_cq_write_error(struct emu_cq *cq, uint8_t op_own, uint32_t opcode_qpn, uint32_t user_index,
		  uint16_t wqe_counter, uint8_t syndrome, uint8_t vendor)
{
	uint8_t opcode = op_own >> 4;
	struct prm_err_cqe *err;
	struct prm_cqe64 *cqe;

	if (emu_fault_at(EMU_ON_CQE_WRITE))
		dp_fault_error_cqe(cq, opcode, opcode_qpn);
	cqe = dp_cq_begin(cq);
	err = (struct prm_err_cqe *)cqe;
	if (cqe == NULL)
		return false;
	err->srqn = htobe32(user_index & 0xffffff);
	err->vendor_err_synd = vendor != 0 ? vendor : vendor_of(opcode, syndrome);
	err->syndrome = syndrome;
	dp_cq_end_format(cq, cqe, opcode_qpn, wqe_counter, opcode, op_own & DP_CQE_SE, true);
	return true;
}

bool
emu_dp_cq_resize(struct emu_cq *cq, uint8_t *ring, uint8_t log_size)
{
	struct dp_cq *c = dp_cq_get(cq);
	struct prm_cqe64 *cqe;

	if (c == NULL || cq->err)
		return false;
	if (c->comp != NULL)
		dp_comp_close(c->comp);
	/*
	 * The resize CQE needs a free entry in the old ring; the new ring must hold the outstanding CQEs
	 * and one entry for it.
	 */
	if (unconsumed(cq, cq->pi, be32toh(cq->dbrec[0]) & CI_MASK) + 1 > 1u << log_size ||
	    !dp_cq_has_room(cq, 0))
		return false;
	cqe = dp_cq_begin(cq);
	if (cqe == NULL)
		return false;
	dp_cq_end(cq, cqe, 0, 0, PRM_CQE_OPCODE_RESIZE_CQ, false);
	cq->ring = ring;
	cq->log_size = log_size;
	c->size = 1u << log_size;
	if (cq->enhanced)
		dp_cq_invalidate(cq, 0);
	return true;
}

static void
arm(struct dp_cq *c, uint32_t word)
{
	struct emu_cq *cq = c->cq;

	/*
	 * A request with the sequence number of the last event does not arm: the program must increment
	 * it.
	 */
	if ((int)ARM_SN(word) == c->fired_sn)
		return;
	cq->armed_sn = word;
	c->armed = c->was_armed = true;
	c->solicited_only = ARM_SOLICITED_ONLY(word);
	if (unconsumed(cq, cq->pi, word) != 0 && !c->solicited_only)
		notify(c, unconsumed(cq, cq->pi, word));
}

void
dp_cq_arm_again(struct emu_cq *cq, uint32_t word)
{
	if (cq->obj.dp != NULL)
		arm(cq->obj.dp, word);
}

/*
 * One register serves all CQs of the page and keeps the last store only. The arm words in the doorbell
 * records show the other requests. The first arm word of a program can be 0, the initial value of the
 * record: if the CQ has a subscriber, treat it as a request, otherwise the request would be lost.
 */
static bool
ordered(const struct dp_cq *c, uint32_t cqn, uint32_t word)
{
	return c->cq->obj.id == cqn || word != c->cq->armed_sn ||
	       (!c->was_armed && c->cq->obj.subscribed);
}

void
dp_cq_arm(struct dp_uar *uar, uint64_t db, bool exact)
{
	uint32_t cqn = (uint32_t)db & 0xffffff;
	struct dp_cq *c;

	TAILQ_FOREACH(c, &uar->cqs, next) {
		uint32_t word = be32toh(c->cq->dbrec[1]);

		if ((exact ? c->cq->obj.id == cqn : ordered(c, cqn, word)) &&
		    !(emu_fault_at(EMU_ON_DOORBELL) && dp_fault_doorbell(NULL, c->cq)))
			arm(c, word);
	}
}

void
dp_cq_forget(struct emu_cq *cq)
{
	struct dp_cq *c = cq->obj.dp;

	if (c == NULL)
		return;
	if (c->uar != NULL)
		TAILQ_REMOVE(&c->uar->cqs, c, next);
	if (c->timed)
		TAILQ_REMOVE(&dp_port_of(cq->obj.dev)->timed, c, in_timed);
	dp_comp_free(c->comp);
	free(c);
	cq->obj.dp = NULL;
}
