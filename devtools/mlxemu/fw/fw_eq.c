/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Event queues of VFIO owners, whose ring is a list of pages. */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "../core/emu_iommu.h"
#include "fw.h"

#define LOG_EQE_BYTES 6u
#define LOG_PAGE_MIN 12u

struct fw_eq {
	struct emu_eq eq;
	struct fw_holds holds;
	struct prm_eqc eqc;
};

static void
eq_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
	fw_holds_drop(&((struct fw_eq *)obj)->holds);
	emu_pages_free(((struct emu_eq *)obj)->pages);
}

static int
eq_context_check(struct fw_cmd *c, const struct prm_eqc *eqc)
{
	if (prm_eqc_get_status(eqc) || prm_eqc_get_st(eqc) || prm_eqc_get_ec(eqc) ||
	    prm_eqc_get_consumer_counter(eqc) || prm_eqc_get_producer_counter(eqc))
		return fw_refuse(c, FW_EQ_INITIAL, "%s", "");
	if (prm_eqc_get_page_offset(eqc))
		return fw_refuse(c, FW_EQ_PAGE_OFFSET, "%u", prm_eqc_get_page_offset(eqc));
	if (prm_eqc_get_log_eq_size(eqc) > FW_LOG_MAX_EQ_SIZE)
		return fw_refuse(c, FW_EQ_SIZE, "2^%u", prm_eqc_get_log_eq_size(eqc));
	if (prm_eqc_get_intr(eqc) >= EMU_MSIX_VECTORS)
		return fw_refuse(c, FW_EQ_VECTOR, "%u of %u", prm_eqc_get_intr(eqc),
				 EMU_MSIX_VECTORS);
	return 0;
}

/* One EQ per event type: how cards treat a second one is not known. */
static int
eq_events_check(struct fw_cmd *c, uint64_t events[4])
{
	for (unsigned type = 0; type < 256; type++) {
		if (type % 64 == 0)
			events[type / 64] = prm_create_eq_in_get_event_bitmask(c->in, type / 64);
		if ((events[type / 64] >> type % 64 & 1) != 0 &&
		    emu_dp_eq_of(c->ctx, (uint8_t)type) != NULL)
			return fw_refuse(c, FW_EQ_EVENT, "%s (0x%x)", prm_event_type_name(type),
					 type);
	}
	return 0;
}

/* Reads the list of pages that follows the context, and maps the ring. */
static int
eq_ring_check(struct fw_cmd *c, const struct prm_eqc *eqc, struct emu_pages **pages,
	      uint8_t **ring)
{
	uint64_t bytes = 1ull << (prm_eqc_get_log_eq_size(eqc) + LOG_EQE_BYTES);
	unsigned log_page = prm_eqc_get_log_page_size(eqc) + LOG_PAGE_MIN;
	uint64_t given = (c->in_len - c->desc->in_bytes_min) / 8;
	uint64_t n = (bytes + (1ull << log_page) - 1) >> log_page;

	if (given < n)
		return fw_refuse(c, FW_EQ_PAGES, "%" PRIu64 " of %" PRIu64, given, n);
	*pages = emu_pages_new(n, log_page, 0);
	if (*pages == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "pages");
	for (uint64_t i = 0; i < n; i++)
		(*pages)->pa[i] = prm_create_eq_in_get_pas(c->in, (unsigned)i);
	(*pages)->write = true;
	*ring = emu_pages_at(c->ctx->iommu, *pages, 0, bytes, true);
	if (*ring != NULL)
		return 0;
	emu_pages_free(*pages);
	return fw_refuse(c, FW_EQ_MEMORY, "0x%" PRIx64 " and on",
			 prm_create_eq_in_get_pas(c->in, 0));
}

int
fw_create_eq(struct fw_cmd *c)
{
	const struct prm_eqc *eqc = prm_create_eq_in_eq_context_entry(c->in);
	struct emu_pages *pages = NULL;
	uint64_t events[4];
	struct emu_uar *uar;
	struct fw_eq *eq;
	uint8_t *ring;
	int ret = eq_context_check(c, eqc);

	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_UAR, prm_eqc_get_uar_page(eqc), FW_NO_UAR, &uar);
	if (ret == 0 && emu_obj_count(c->dev, EMU_OBJ_EQ) - EMU_COMP_VECTORS >= EMU_MAX_EQS)
		ret = fw_refuse(c, FW_EQ_COUNT, "%u", EMU_MAX_EQS);
	if (ret == 0)
		ret = eq_events_check(c, events);
	if (ret == 0)
		ret = eq_ring_check(c, eqc, &pages, &ring);
	if (ret != 0)
		return ret;
	ret = fw_create(c, EMU_OBJ_EQ, sizeof(*eq), eq_release, &eq);
	if (ret != 0) {
		emu_pages_free(pages);
		return ret;
	}
	fw_hold(&eq->holds, &uar->obj);
	eq->eqc = *eqc;
	eq->eq.pages = pages;
	eq->eq.ring = ring;
	eq->eq.uar = uar;
	eq->eq.log_size = (uint8_t)prm_eqc_get_log_eq_size(eqc);
	eq->eq.vector = (uint16_t)prm_eqc_get_intr(eqc);
	eq->eq.oi = prm_eqc_get_oi(eqc);
	memcpy(eq->eq.events, events, sizeof(events));
	if (emu_dp_eq_created(&eq->eq))
		return 0;
	c->created = NULL;
	emu_obj_destroy(&eq->eq.obj);
	return fw_refuse(c, FW_NO_RESOURCES, "%s", "EQ");
}

bool
emu_fw_command_done(struct emu_ctx *ctx, uint32_t slots)
{
	struct prm_eqe eqe = {.type = PRM_EVENT_TYPE_CMD};

	slots = htobe32(slots);
	memcpy(eqe.data, &slots, sizeof(slots));
	return emu_dp_eq_event(ctx, &eqe);
}

int
fw_query_eq(struct fw_cmd *c)
{
	struct prm_eqc *eqc = prm_query_eq_out_eq_context_entry(c->out);
	const struct fw_eq *eq = (const struct fw_eq *)c->obj;

	*eqc = eq->eqc;
	prm_eqc_set_status(eqc, eq->eq.err ? PRM_EQC_STATUS_WRITE_FAILURE : PRM_EQC_STATUS_OK);
	prm_eqc_set_st(eqc, eq->eq.armed ? PRM_EQC_ST_ARMED : PRM_EQC_ST_FIRED);
	prm_eqc_set_consumer_counter(eqc, eq->eq.ci);
	prm_eqc_set_producer_counter(eqc, eq->eq.pi);
	prm_query_eq_out_set_event_bitmask(c->out, eq->eq.events[0]);
	return 0;
}
