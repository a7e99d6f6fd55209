/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Lists of pages by IOVA, as commands of a VFIO context carry them. */
#include <inttypes.h>
#include <stdlib.h>

#include "emu_audit.h"
#include "emu_iommu.h"
#include "emu_obj.h"

struct emu_pages *
emu_pages_new(uint64_t n, unsigned log_page, uint64_t offset)
{
	struct emu_pages *pages = calloc(1, sizeof(*pages) + n * sizeof(pages->pa[0]));

	if (pages == NULL)
		return NULL;
	pages->n = n;
	pages->log_page = (uint8_t)log_page;
	pages->offset = offset;
	return pages;
}

void
emu_pages_free(struct emu_pages *pages)
{
	free(pages);
}

static uint64_t
iova_at(const struct emu_pages *pages, uint64_t at)
{
	return pages->pa[at >> pages->log_page] + (at & ((1ull << pages->log_page) - 1));
}

/* Number of bytes from at on, at most len, on pages with consecutive IOVAs. */
static uint64_t
run_of(const struct emu_pages *pages, uint64_t at, uint64_t len)
{
	uint64_t page = 1ull << pages->log_page, i = at >> pages->log_page;
	uint64_t bytes = page - (at & (page - 1));

	for (; bytes < len && pages->pa[i + 1] == pages->pa[i] + page; i++)
		bytes += page;
	return bytes < len ? bytes : len;
}

static bool
inside(const struct emu_pages *pages, uint64_t at, uint64_t len)
{
	uint64_t all = pages->n << pages->log_page;

	return len != 0 && at <= all && len <= all - at;
}

void *
emu_pages_find(struct emu_iommu *iommu, const struct emu_pages *pages, uint64_t at, uint64_t len,
	       bool write)
{
	uint8_t *first = NULL;
	uint64_t done = 0;

	at += pages->offset;
	if (!inside(pages, at, len))
		return NULL;
	while (done < len) {
		uint64_t iova = iova_at(pages, at + done), run = run_of(pages, at + done, len - done);
		uint8_t *here;

		if (emu_iommu_span(iommu, iova, write) < run)
			return NULL;
		here = emu_iommu_at(iommu, iova, run, write);
		if (first == NULL)
			first = here;
		/* The pieces must be contiguous in the process too. */
		if (here == NULL || here != first + done)
			return NULL;
		done += run;
	}
	return first;
}

void *
emu_pages_at(struct emu_iommu *iommu, const struct emu_pages *pages, uint64_t at, uint64_t len,
	     bool write)
{
	void *found = emu_pages_find(iommu, pages, at, len, write);
	uint64_t all = at + pages->offset;

	if (found == NULL)
		emu_audit(emu_iommu_dev(iommu), EMU_AUDIT_IOMMU,
			  "DMA %s of 0x%" PRIx64 "+0x%" PRIx64 ": not mapped with this right, or "
			  "not contiguous in the process, which is not modelled", write ? "write" : "read",
			  inside(pages, all, len) ? iova_at(pages, all) : all, len);
	return found;
}
