/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Pages of host memory that the owner of a function gives to the firmware: QUERY_PAGES, MANAGE_PAGES and the page
 * request event, as mlx5_core uses them (Linux, drivers/net/ethernet/mellanox/mlx5/core/pagealloc.c). The model
 * writes only a mark into them, which detects writes by others. It waits for the pages that it requested and does not
 * use those that it returned.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../core/emu_iommu.h"
#include "fw.h"

/* query_pages_in.op_mod (Linux, mlx5_ifc.h) and manage_pages_in.op_mod (Linux, pagealloc.c, MLX5_PAGES_*). */
#define QUERY_BOOT 1u
#define QUERY_INIT 2u
#define QUERY_REGULAR 3u
#define OP_CANT_GIVE 0u
#define OP_GIVE 1u
#define OP_TAKE 2u

/*
 * assumed: a page holds 8 objects, which decides when the firmware requests pages and returns some. Other reading:
 * another number, by type of object. Test: fw/test_hca.c.
 */
#define OBJECTS_PER_PAGE 8u
#define PAGES_LOW 8u
#define PAGES_STEP 32u

#define MARK 0x4d4c585f46574d45ull
static uint64_t
mark_of(uint64_t iova)
{
	return MARK ^ iova;
}

/* Until INIT_HCA. */
static unsigned
pages_at_start(const struct emu_ctx *ctx)
{
	return ctx->dev->profile->boot_pages + ctx->dev->profile->init_pages;
}

static unsigned
in_use(const struct emu_ctx *ctx)
{
	if (ctx->hca.state != EMU_HCA_UP)
		return 0;
	return ctx->dev->profile->boot_pages + (ctx->objects + OBJECTS_PER_PAGE - 1) / OBJECTS_PER_PAGE;
}

static unsigned
free_pages(const struct emu_ctx *ctx)
{
	unsigned used = in_use(ctx);

	return ctx->hca.pages > used ? ctx->hca.pages - used : 0;
}

int
fw_pages_check(struct fw_cmd *c)
{
	return free_pages(c->ctx) != 0 ? 0 : fw_refuse(c, FW_NO_PAGES, "%u are all in use",
							c->ctx->hca.pages);
}

int
fw_pages_init_check(struct fw_cmd *c)
{
	unsigned has = c->ctx->hca.pages, needs = pages_at_start(c->ctx);

	return has >= needs ? 0 : fw_refuse(c, FW_NO_PAGES, "%u of %u given", has, needs);
}

void
fw_pages_balance(struct emu_ctx *ctx)
{
	struct emu_hca *hca = &ctx->hca;
	struct prm_eqe eqe = {.type = PRM_EVENT_TYPE_PAGE_REQUEST};
	unsigned has;

	if (hca->state != EMU_HCA_UP || hca->requested)
		return;
	has = free_pages(ctx);
	if (has >= PAGES_LOW && has <= pages_at_start(ctx) + PAGES_STEP)
		return;
	eqe.page_req_num_pages = htobe32(has < PAGES_LOW ? PAGES_STEP : -PAGES_STEP);
	hca->requested = emu_dp_eq_event(ctx, &eqe);
}

static int
function_check(struct fw_cmd *c, unsigned embedded, unsigned id)
{
	return embedded == 0 && id == 0 ? 0 : fw_refuse(c, FW_OTHER_FUNCTION, "function %u", id);
}

int
fw_query_pages(struct fw_cmd *c)
{
	unsigned op = prm_query_pages_in_get_op_mod(c->in), has = c->ctx->hca.pages, wants = 0;
	int ret = function_check(c, prm_query_pages_in_get_embedded_cpu_function(c->in),
				 prm_query_pages_in_get_function_id(c->in));

	if (ret != 0)
		return ret;
	if (op < QUERY_BOOT || op > QUERY_REGULAR)
		return fw_refuse(c, FW_OP_MOD, "%u", op);
	if (op == QUERY_BOOT)
		wants = c->dev->profile->boot_pages;
	else if (op == QUERY_INIT)
		wants = pages_at_start(c->ctx);
	prm_query_pages_out_set_num_pages(c->out, wants > has ? wants - has : 0);
	return 0;
}

static int
page_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* No page twice, among those given and those that the device has. There are thousands: sorted. */
static int
give_check_twice(struct fw_cmd *c, unsigned n)
{
	const struct emu_hca *hca = &c->ctx->hca;
	uint64_t *all = malloc((hca->pages + n + 1) * sizeof(*all)), twice = 0;

	if (all == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "pages");
	if (hca->pages != 0)
		memcpy(all, hca->page, hca->pages * sizeof(*all));
	for (unsigned i = 0; i < n; i++)
		all[hca->pages + i] = prm_manage_pages_in_get_pas(c->in, i);
	qsort(all, hca->pages + n, sizeof(*all), page_compare);
	all[hca->pages + n] = 1; /* no page */
	for (unsigned i = 0; i < hca->pages + n && twice == 0; i++)
		if (all[i] == all[i + 1])
			twice = all[i] | 1;
	free(all);
	return twice == 0 ? 0 : fw_refuse(c, FW_PAGE, "0x%" PRIx64 " is given twice", twice & ~(uint64_t)1);
}

/* Checks all pages before it takes the first one. */
static int
give_check(struct fw_cmd *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t iova = prm_manage_pages_in_get_pas(c->in, i);

		if (iova % EMU_PAGE_BYTES != 0)
			return fw_refuse(c, FW_PAGE, "0x%" PRIx64 " is not aligned", iova);
		if (emu_iommu_at(c->ctx->iommu, iova, EMU_PAGE_BYTES, true) == NULL)
			return fw_refuse(c, FW_PAGE, "0x%" PRIx64 " is not mapped", iova);
	}
	return give_check_twice(c, n);
}

static int
give(struct fw_cmd *c, unsigned n)
{
	struct emu_hca *hca = &c->ctx->hca;
	uint64_t *page;
	int ret;

	if ((c->in_len - c->desc->in_bytes_min) / 8 < n)
		return fw_refuse(c, FW_PAGE_COUNT, "%u in %zu bytes", n, c->in_len);
	ret = give_check(c, n);
	if (ret != 0)
		return ret;
	page = realloc(hca->page, (hca->pages + n + 1) * sizeof(*page));
	if (page == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "pages");
	hca->page = page;
	for (unsigned i = 0; i < n; i++) {
		uint64_t iova = prm_manage_pages_in_get_pas(c->in, i);

		*(uint64_t *)emu_iommu_at(c->ctx->iommu, iova, EMU_PAGE_BYTES, true) =
			mark_of(iova);
		hca->page[hca->pages++] = iova;
	}
	hca->given += n;
	hca->requested = false;
	return 0;
}

static void
mark_check(struct fw_cmd *c, uint64_t iova)
{
	const uint64_t *at = emu_iommu_at(c->ctx->iommu, iova, EMU_PAGE_BYTES, false);

	if (at != NULL && *at != mark_of(iova))
		emu_audit(c->dev, EMU_AUDIT_IOMMU,
			  "page 0x%" PRIx64 " was written to while it was the device's", iova);
}

static int
take(struct fw_cmd *c, unsigned n)
{
	struct emu_hca *hca = &c->ctx->hca;
	unsigned can = free_pages(c->ctx);
	size_t room = (c->out_len < FW_OUT_BYTES ? c->out_len : FW_OUT_BYTES) -
		      c->desc->out_bytes_min;

	if (room / 8 < n)
		return fw_refuse(c, FW_PAGE_COUNT, "%u in %zu bytes", n, c->out_len);
	n = n < can ? n : can;
	for (unsigned i = 0; i < n; i++) {
		uint64_t iova = hca->page[--hca->pages];

		mark_check(c, iova);
		prm_manage_pages_out_set_pas(c->out, i, iova);
	}
	prm_manage_pages_out_set_output_num_entries(c->out, n);
	hca->taken += n;
	hca->requested = false;
	return 0;
}

int
fw_manage_pages(struct fw_cmd *c)
{
	unsigned op = prm_manage_pages_in_get_op_mod(c->in);
	unsigned n = prm_manage_pages_in_get_input_num_entries(c->in);
	int ret = function_check(c, prm_manage_pages_in_get_embedded_cpu_function(c->in),
				 prm_manage_pages_in_get_function_id(c->in));

	if (ret != 0)
		return ret;
	if (op == OP_GIVE)
		return give(c, n);
	if (op == OP_TAKE)
		return take(c, n);
	if (op != OP_CANT_GIVE)
		return fw_refuse(c, FW_OP_MOD, "%u", op);
	/* The next object that is created repeats the request. */
	c->ctx->hca.requested = false;
	return 0;
}
