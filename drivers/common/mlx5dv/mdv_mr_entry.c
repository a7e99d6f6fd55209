/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Creates memory keys: memory regions of verbs in the PD of the queues. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_memory.h>

#include "mdv_mr.h"

static uintptr_t
page_floor(uintptr_t addr, size_t page_bytes)
{
	return addr & ~((uintptr_t)page_bytes - 1);
}

static uintptr_t
page_ceil(uintptr_t addr, size_t page_bytes)
{
	return page_floor(addr + page_bytes - 1, page_bytes);
}

/* ------------------------------------------------------------------ one key */

static void
region_down(struct mdv_dev *dev, struct ibv_mr *mr)
{
	int err = MDV_RUN_DESTROY(dev, ibv_dereg_mr(mr));

	if (err != 0) {
		__atomic_fetch_add(&dev->lost, 1, __ATOMIC_RELAXED);
		MDV_LOG_ERR(dev, "ibv_dereg_mr failed, the memory region stays behind -> %s",
			    mdv_errno_name(err));
	}
}

/*
 * Registers the pages of a chunk; the range gets the exact bounds and the key.
 *
 * Use ibv_reg_mr() rather than CREATE_MKEY over a umem: the kernel chooses the page size of a umem by
 * the contiguity of host memory, and firmware refuses a key whose offset in such a page differs from
 * that of the umem. ibv_reg_mr() also uses one translation entry per hugepage. Kernels and devices
 * without relaxed ordering ignore that flag (ibv_reg_mr(3), optional access flags).
 */
static int
region_up(struct mdv_dev *dev, const struct mr_chunk *chunk, struct ibv_mr **mr,
	  struct mdv_mr_range *range)
{
	uintptr_t start = page_floor(chunk->start, chunk->page_bytes);
	size_t bytes = page_ceil(chunk->end, chunk->page_bytes) - start;
	int access = IBV_ACCESS_LOCAL_WRITE;

	if (dev->caps.umr_relaxed_ordering)
		access |= IBV_ACCESS_RELAXED_ORDERING;
	*mr = MDV_RUN_PTR(dev, ibv_reg_mr(dev->pd, (void *)start, bytes, access));
	if (*mr == NULL)
		return MDV_FAIL_DEV(dev, errno, "ibv_reg_mr of %zu bytes at 0x%" PRIxPTR " failed: %s%s", bytes,
				    start, mdv_errno_name(errno),
				    errno == ENOMEM || errno == EPERM ? " (locked memory limit?)" : "");
	range->start = chunk->start;
	range->end = chunk->end;
	range->lkey_be = rte_cpu_to_be_32((*mr)->lkey);
	return 0;
}

/* ------------------------------------------------------------------ chunks */

static int
chunk_compare(const void *a, const void *b)
{
	const struct mr_chunk *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

unsigned int
mdv_mr_chunks_merge(struct mr_chunk *chunks, unsigned int n)
{
	unsigned int kept = 0;

	if (n == 0)
		return 0;
	qsort(chunks, n, sizeof(*chunks), chunk_compare);
	for (unsigned int i = 1; i < n; i++) {
		struct mr_chunk *last = &chunks[kept];

		if (page_floor(chunks[i].start, chunks[i].page_bytes) <=
		    page_ceil(last->end, last->page_bytes)) {
			last->end = RTE_MAX(last->end, chunks[i].end);
			last->page_bytes = RTE_MIN(last->page_bytes, chunks[i].page_bytes);
		} else {
			chunks[++kept] = chunks[i];
		}
	}
	return kept + 1;
}

/** Page size of memory: of its memory segment if it is EAL's, else of the system. */
static size_t
page_bytes_of(const void *addr)
{
	const struct rte_memseg *segment = rte_mem_virt2memseg(addr, NULL);
	size_t system_page = sysconf(_SC_PAGESIZE);

	return segment != NULL ? RTE_MAX((size_t)segment->hugepage_sz, system_page) : system_page;
}

struct chunk_list {
	struct mr_chunk *chunks;
	unsigned int n, room;
};

static void
chunk_note(struct rte_mempool *mp, void *arg, struct rte_mempool_memhdr *memhdr, unsigned int i)
{
	struct chunk_list *list = arg;
	struct mr_chunk *chunk;

	(void)mp;
	(void)i;
	if (list->n == list->room)
		return;
	chunk = &list->chunks[list->n++];
	chunk->start = (uintptr_t)memhdr->addr;
	chunk->end = chunk->start + memhdr->len;
	chunk->page_bytes = page_bytes_of(memhdr->addr);
}

/* ------------------------------------------------------------------ entries */

static struct mr_entry *
entry_alloc(struct mdv_dev *dev, unsigned int ranges)
{
	struct mr_entry *e = calloc(1, sizeof(*e) + ranges * sizeof(e->set.range[0]));

	if (e != NULL)
		e->regions = calloc(ranges, sizeof(*e->regions));
	if (e != NULL && e->regions != NULL)
		return e;
	free(e);
	return MDV_FAIL_NULL(&dev->pci, ENOMEM, "no memory for an entry of %u memory ranges", ranges);
}

void
mdv_mr_entry_free(struct mdv_dev *dev, struct mr_entry *e)
{
	for (unsigned int i = e->set.n; i > 0; i--)
		region_down(dev, e->regions[i - 1]);
	free(e->regions);
	free(e);
}

static struct mr_entry *
entry_of_chunks(struct mdv_dev *dev, const struct rte_mempool *mp, const struct mr_chunk *chunks,
		unsigned int n)
{
	struct mr_entry *e = entry_alloc(dev, n);

	if (e == NULL)
		return NULL;
	e->set.mp = mp;
	for (unsigned int i = 0; i < n; i++) {
		if (region_up(dev, &chunks[i], &e->regions[i], &e->set.range[i]) != 0) {
			MDV_UNDO(mdv_mr_entry_free(dev, e));
			return NULL;
		}
		e->set.n++;
	}
	return e;
}

struct mr_entry *
mdv_mr_entry_of_mempool(struct mdv_dev *dev, struct rte_mempool *mp)
{
	struct chunk_list list = { .room = mp->nb_mem_chunks };
	struct mr_entry *e;

	if (list.room == 0)
		return MDV_FAIL_NULL(&dev->pci, EINVAL, "mempool %s has no memory yet", mp->name);
	list.chunks = calloc(list.room, sizeof(*list.chunks));
	if (list.chunks == NULL)
		return MDV_FAIL_NULL(&dev->pci, ENOMEM, "no memory for %u chunks of mempool %s", list.room, mp->name);
	rte_mempool_mem_iter(mp, chunk_note, &list);
	list.n = mdv_mr_chunks_merge(list.chunks, list.n);
	e = entry_of_chunks(dev, mp, list.chunks, list.n);
	free(list.chunks);
	if (e != NULL)
		MDV_LOG(DEBUG, &dev->pci, "mempool %s registered with %u keys", mp->name, e->set.n);
	else
		MDV_LOG(INFO, &dev->pci, "mempool %s is not registered", mp->name);
	return e;
}

struct mr_entry *
mdv_mr_entry_of_external(struct mdv_dev *dev, uintptr_t start, uintptr_t end)
{
	const struct mr_chunk chunk = {
		.start = start,
		.end = end,
		.page_bytes = sysconf(_SC_PAGESIZE),
	};

	return entry_of_chunks(dev, NULL, &chunk, 1);
}
