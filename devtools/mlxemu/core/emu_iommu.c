/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Mappings of a VFIO container, sorted by IOVA; they never overlap. */
#include "emu_iommu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu_audit.h"
#include "emu_obj.h"

struct iommu_map {
	uint64_t iova, len;
	uint8_t *va;
	unsigned rw;
};

struct emu_iommu {
	struct emu_dev *dev;
	struct iommu_map *map;
	unsigned maps, room;
	unsigned last; /* index of the last hit: consecutive lookups often hit the same mapping */
	emu_iommu_cb watcher;
	void *watcher_arg;
};

struct emu_iommu *
emu_iommu_new(struct emu_dev *dev)
{
	struct emu_iommu *iommu = calloc(1, sizeof(*iommu));

	if (iommu != NULL)
		iommu->dev = dev;
	return iommu;
}

void
emu_iommu_free(struct emu_iommu *iommu)
{
	if (iommu == NULL)
		return;
	free(iommu->map);
	free(iommu);
}

void
emu_iommu_watch(struct emu_iommu *iommu, emu_iommu_cb cb, void *arg)
{
	iommu->watcher = cb;
	iommu->watcher_arg = arg;
}

/* Index of the first mapping that ends after iova. */
static unsigned
first_behind(const struct emu_iommu *iommu, uint64_t iova)
{
	unsigned from = 0, to = iommu->maps;

	while (from < to) {
		unsigned mid = (from + to) / 2;

		if (iommu->map[mid].iova + iommu->map[mid].len > iova)
			to = mid;
		else
			from = mid + 1;
	}
	return from;
}

static bool
range_is_odd(uint64_t iova, uint64_t len)
{
	return len == 0 || iova + len < iova || ((iova | len) & (EMU_PAGE_BYTES - 1)) != 0;
}

/* Addresses outside the IOVA ranges of the container. */
static bool
range_is_reserved(uint64_t iova, uint64_t len)
{
	return iova + len > EMU_IOMMU_END ||
	       (iova < EMU_IOMMU_MSI_END && iova + len > EMU_IOMMU_MSI_FIRST);
}

static int
room_make(struct emu_iommu *iommu)
{
	unsigned room = iommu->room == 0 ? 64 : iommu->room * 2;
	struct iommu_map *map;

	if (iommu->maps < iommu->room)
		return 0;
	map = realloc(iommu->map, room * sizeof(*map));
	if (map == NULL)
		return -ENOMEM;
	iommu->map = map;
	iommu->room = room;
	return 0;
}

int
emu_iommu_map(struct emu_iommu *iommu, uint64_t iova, void *va, uint64_t len, unsigned rw)
{
	uint64_t addr = (uintptr_t)va;
	unsigned i;
	int ret;

	if (range_is_odd(iova, len) || range_is_odd(addr, len) || range_is_reserved(iova, len) ||
	    rw == 0 || (rw & ~(EMU_IOMMU_READ | EMU_IOMMU_WRITE)) != 0)
		return -EINVAL;
	i = first_behind(iommu, iova);
	if (i < iommu->maps && iommu->map[i].iova < iova + len)
		return -EEXIST;
	if (iommu->maps == EMU_IOMMU_MAX_MAPS)
		return -ENOSPC;
	ret = emu_mem_check(addr, len, (rw & EMU_IOMMU_WRITE) != 0);
	if (ret == 0)
		ret = room_make(iommu);
	if (ret != 0)
		return ret;
	memmove(&iommu->map[i + 1], &iommu->map[i], (iommu->maps - i) * sizeof(*iommu->map));
	iommu->map[i] = (struct iommu_map){.iova = iova, .len = len, .va = va, .rw = rw};
	iommu->maps++;
	if (iommu->watcher != NULL)
		iommu->watcher(iommu->watcher_arg, iova, va, len, true);
	return 0;
}

int
emu_iommu_unmap(struct emu_iommu *iommu, uint64_t iova, uint64_t len, uint64_t *unmapped)
{
	unsigned from, to;
	uint64_t bytes = 0;

	if (unmapped != NULL)
		*unmapped = 0;
	if (range_is_odd(iova, len))
		return -EINVAL;
	from = first_behind(iommu, iova);
	for (to = from; to < iommu->maps && iommu->map[to].iova < iova + len; to++) {
		const struct iommu_map *m = &iommu->map[to];

		if (m->iova < iova || m->iova + m->len > iova + len)
			return -EINVAL;
		bytes += m->len;
	}
	if (from == to)
		return 0;
	for (unsigned i = from; i < to && iommu->watcher != NULL; i++)
		iommu->watcher(iommu->watcher_arg, iommu->map[i].iova, iommu->map[i].va,
			       iommu->map[i].len, false);
	memmove(&iommu->map[from], &iommu->map[to], (iommu->maps - to) * sizeof(*iommu->map));
	iommu->maps -= to - from;
	if (unmapped != NULL)
		*unmapped = bytes;
	return 0;
}

/* The mapping that holds iova with the right, or NULL. */
static const struct iommu_map *
map_of(struct emu_iommu *iommu, uint64_t iova, bool write)
{
	unsigned i = iommu->last;

	if (i >= iommu->maps || iova - iommu->map[i].iova >= iommu->map[i].len)
		i = first_behind(iommu, iova);
	if (i >= iommu->maps || iova < iommu->map[i].iova)
		return NULL;
	iommu->last = i;
	return (iommu->map[i].rw & (write ? EMU_IOMMU_WRITE : EMU_IOMMU_READ)) != 0
		       ? &iommu->map[i] : NULL;
}

uint64_t
emu_iommu_span(struct emu_iommu *iommu, uint64_t iova, bool write)
{
	const struct iommu_map *m = map_of(iommu, iova, write), *next;
	const struct iommu_map *end = iommu->map + iommu->maps;
	uint64_t bytes;

	if (m == NULL)
		return 0;
	bytes = m->len - (iova - m->iova);
	for (next = m + 1; next < end && next->iova == m->iova + m->len &&
			   next->va == m->va + m->len && (next->rw & m->rw) == m->rw;
	     m = next++)
		bytes += next->len;
	return bytes;
}

void *
emu_iommu_at(struct emu_iommu *iommu, uint64_t iova, uint64_t len, bool write)
{
	const struct iommu_map *m = map_of(iommu, iova, write);

	if (m == NULL || (len > m->len - (iova - m->iova) &&
			  len > emu_iommu_span(iommu, iova, write))) {
		emu_audit(iommu->dev, EMU_AUDIT_IOMMU,
			  "DMA %s of IOVA 0x%" PRIx64 "+0x%" PRIx64 ": not mapped with this right",
			  write ? "write" : "read", iova, len);
		return NULL;
	}
	return m->va + (iova - m->iova);
}

struct emu_dev *
emu_iommu_dev(const struct emu_iommu *iommu)
{
	return iommu->dev;
}

bool
emu_iommu_of(const struct emu_iommu *iommu, uint64_t addr, uint64_t *start, uint64_t *len)
{
	for (unsigned i = 0; i < iommu->maps; i++) {
		const struct iommu_map *m = &iommu->map[i];

		if (addr - (uintptr_t)m->va >= m->len)
			continue;
		*start = (uintptr_t)m->va;
		*len = m->len;
		return true;
	}
	return false;
}

unsigned
emu_iommu_count(const struct emu_iommu *iommu)
{
	return iommu->maps;
}
