/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Registered memory: mempools before and after open, chunks, external memory, memory freed. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include <mdv_mr.h>

#include "mdv_test.h"

#define PAGE 4096

/** Counts the objects of a pool that are not found, or not in a range that contains all of them. */
static void
count_unregistered(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	void **args = arg;
	struct mdv_dev *dev = args[0];
	unsigned int *missing = args[1];
	const struct mdv_mr_range *first = mdv_mr_find(dev, (uintptr_t)obj);
	const struct mdv_mr_range *last = mdv_mr_find(dev, (uintptr_t)obj + mp->elt_size - 1);

	(void)i;
	*missing += first == NULL || first != last;
}

static unsigned int
unregistered(struct mdv_dev *dev, struct rte_mempool *mp)
{
	unsigned int missing = 0;
	void *args[] = { dev, &missing };

	CHECK_EQ(rte_mempool_obj_iter(mp, count_unregistered, args), mp->populated_size);
	return missing;
}

/** The memory region of the key covers the range and belongs to the PD of the device. */
static void
check_key(struct mdv_dev *dev, const struct mdv_mr_range *range)
{
	const struct ibv_mr *mr;

	for (const struct mr_entry *e = TAILQ_FIRST(&dev->mr->entries); e != NULL;
	     e = TAILQ_NEXT(e, next)) {
		if (e->set == NULL || range < e->set->range || range >= e->set->range + e->set->n)
			continue;
		mr = e->regions[range - e->set->range];
		REQUIRE(mr != NULL);
		CHECK((uintptr_t)mr->addr <= range->start);
		CHECK((uintptr_t)mr->addr + mr->length >= range->end);
		CHECK(mr->pd == dev->pd);
		CHECK_EQ(mr->lkey, rte_be_to_cpu_32(range->lkey_be));
		return;
	}
	CHECK(!"the range belongs to no entry");
}

static void
check_late_pool(struct mdv_dev *dev)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create("late", 1023, 32, 0, 2048, SOCKET_ID_ANY);
	const struct mdv_mr_set *set;
	uint32_t generation;
	uintptr_t addr;

	REQUIRE(mp != NULL);
	/* The event MEMPOOL_READY registered the pool. */
	CHECK_EQ(unregistered(dev, mp), 0);
	set = mdv_mr_mempool(dev, mp);
	REQUIRE(set != NULL && set->n > 0);
	CHECK(mdv_mr_mempool(dev, mp) == set);
	CHECK(set->mp == mp);
	for (unsigned int i = 0; i < set->n; i++)
		check_key(dev, &set->range[i]);
	addr = set->range[0].start;
	generation = mdv_mr_generation(dev);
	rte_mempool_free(mp);
	CHECK(mdv_mr_find(dev, addr) == NULL);
	CHECK(mdv_mr_generation(dev) != generation);
}

/** Frees nothing: the test owns the memory and frees it after the pool. */
static void
keep_chunk(struct rte_mempool_memhdr *memhdr, void *opaque)
{
	(void)memhdr;
	(void)opaque;
}

/**
 * A pool of three chunks, two of them adjacent: two keys, nothing of the gap registered.
 */
static void
check_chunks(struct mdv_dev *dev)
{
	const size_t chunk = 16 * PAGE;
	char *memory = mmap(NULL, 4 * chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	struct rte_mempool *mp;
	const struct mdv_mr_set *set;

	REQUIRE(memory != MAP_FAILED);
	mp = rte_mempool_create_empty("chunks", 4096, 64, 0, 0, SOCKET_ID_ANY, 0);
	REQUIRE(mp != NULL);
	CHECK(rte_mempool_populate_iova(mp, memory, (uintptr_t)memory, chunk, keep_chunk, NULL) > 0);
	CHECK(rte_mempool_populate_iova(mp, memory + 3 * chunk, (uintptr_t)memory + 3 * chunk,
					chunk, keep_chunk, NULL) > 0);
	CHECK(rte_mempool_populate_iova(mp, memory + chunk, (uintptr_t)memory + chunk, chunk,
					keep_chunk, NULL) > 0);
	set = mdv_mr_mempool(dev, mp);
	if (set != NULL) {
		CHECK_EQ(set->n, 2);
		CHECK_EQ(set->range[0].start, (uintptr_t)memory);
		CHECK_EQ(set->range[0].end, (uintptr_t)memory + 2 * chunk);
		CHECK_EQ(set->range[1].start, (uintptr_t)memory + 3 * chunk);
		CHECK(set->range[0].lkey_be != set->range[1].lkey_be);
		check_key(dev, &set->range[0]);
		check_key(dev, &set->range[1]);
		CHECK_EQ(unregistered(dev, mp), 0);
	}
	CHECK(set != NULL);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 2 * chunk) == NULL);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 3 * chunk - 1) == NULL);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 4 * chunk) == NULL);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory - 1) == NULL);
	rte_mempool_free(mp);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory) == NULL);
	munmap(memory, 4 * chunk);
}

/** The memory of a pool is other than when it was registered, as after a pool at its address was freed unnoticed. */
static void
check_replaced_pool(struct mdv_dev *dev)
{
	const size_t chunk = 16 * PAGE;
	char *memory = mmap(NULL, 3 * chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rte_mempool *mp = rte_mempool_create_empty("replaced", 512, 64, 0, 0, SOCKET_ID_ANY, 0);
	struct rte_mempool_memhdr *memhdr;
	const struct mdv_mr_set *set;
	uint32_t generation;

	REQUIRE(memory != MAP_FAILED && mp != NULL);
	REQUIRE(rte_mempool_populate_iova(mp, memory, (uintptr_t)memory, chunk, keep_chunk, NULL) > 0);
	REQUIRE(mdv_mr_mempool(dev, mp) != NULL);
	generation = mdv_mr_generation(dev);
	memhdr = STAILQ_FIRST(&mp->mem_list);
	memhdr->addr = memory + 2 * chunk;
	set = mdv_mr_mempool(dev, mp);
	REQUIRE(set != NULL);
	CHECK(set->n == 1 && set->range[0].start == (uintptr_t)memory + 2 * chunk &&
	      set->range[0].end == (uintptr_t)memory + 3 * chunk);
	check_key(dev, &set->range[0]);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory) == NULL);
	CHECK(mdv_mr_generation(dev) != generation);
	/* A part of it is registered already. */
	memhdr->len = chunk / 2;
	CHECK(mdv_mr_mempool(dev, mp) == set);
	memhdr->addr = memory;
	memhdr->len = chunk;
	rte_mempool_free(mp);
	munmap(memory, 3 * chunk);
}

/** Counts the mbufs of a pool whose buffer is not found as a whole. */
static void
count_unregistered_buffers(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	void **args = arg;
	struct mdv_dev *dev = args[0];
	unsigned int *missing = args[1];
	const struct rte_mbuf *m = obj;
	const struct mdv_mr_range *first = mdv_mr_find(dev, (uintptr_t)m->buf_addr);

	(void)mp;
	(void)i;
	*missing += first == NULL || first != mdv_mr_find(dev, (uintptr_t)m->buf_addr + m->buf_len - 1);
}

static unsigned int
unregistered_buffers(struct mdv_dev *dev, struct rte_mempool *mp)
{
	unsigned int missing = 0;
	void *args[] = { dev, &missing };

	CHECK_EQ(rte_mempool_obj_iter(mp, count_unregistered_buffers, args), mp->populated_size);
	return missing;
}

/** A move of the buffers of a pool, as by another pool at its address. */
static void
buffer_move(struct rte_mempool *mp, void *by, void *obj, unsigned int i)
{
	struct rte_mbuf *m = obj;

	(void)mp;
	(void)i;
	m->buf_addr = (char *)m->buf_addr + *(const ptrdiff_t *)by;
}

/**
 * Pinned external buffers in two places: two keys, of the buffers and not of the mbufs, nothing of the gap. They are
 * not registered at the ready event, because they are pinned later.
 */
static void
check_pinned_pool(struct mdv_dev *dev)
{
	const size_t bytes = 64 * PAGE;
	ptrdiff_t by = bytes / 2;
	char *memory = mmap(NULL, 3 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Neither the first buffer nor the last one ends at a page. */
	struct rte_pktmbuf_extmem ext[] = {
		{ .buf_ptr = memory + 64, .buf_iova = RTE_BAD_IOVA, .buf_len = bytes / 2, .elt_size = 1984 },
		{ .buf_ptr = memory + 2 * bytes, .buf_iova = RTE_BAD_IOVA, .buf_len = bytes / 2, .elt_size = 1984 },
	};
	const unsigned int each = bytes / 2 / 1984;
	const struct mdv_mr_set *set;
	struct rte_mempool *mp;

	REQUIRE(memory != MAP_FAILED);
	mp = rte_pktmbuf_pool_create_extbuf("pinned", 2 * each, 0, 0, 1984, SOCKET_ID_ANY, ext, 2);
	REQUIRE(mp != NULL);
	CHECK(mdv_mr_pinned(mp));
	CHECK_EQ(unregistered_buffers(dev, mp), 2 * each);
	set = mdv_mr_mempool(dev, mp);
	REQUIRE(set != NULL);
	CHECK_EQ(set->n, 2);
	CHECK_EQ(set->range[0].start, (uintptr_t)memory + 64);
	CHECK_EQ(set->range[0].end, (uintptr_t)memory + 64 + (size_t)each * 1984);
	CHECK_EQ(set->range[1].start, (uintptr_t)memory + 2 * bytes);
	check_key(dev, &set->range[0]);
	check_key(dev, &set->range[1]);
	CHECK_EQ(unregistered_buffers(dev, mp), 0);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + bytes) == NULL);
	CHECK(mdv_mr_mempool(dev, mp) == set);
	rte_mempool_obj_iter(mp, buffer_move, &by);
	CHECK(unregistered_buffers(dev, mp) > 0);
	CHECK(mdv_mr_mempool(dev, mp) != NULL);
	CHECK_EQ(unregistered_buffers(dev, mp), 0);
	rte_mempool_free(mp);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + bytes) == NULL);
	munmap(memory, 3 * bytes);
}

/** Mempools that have not pinned buffers, although their private data is as long, or starts with the same bytes. */
static void
check_not_pinned(void)
{
	struct rte_mempool *mp = rte_mempool_create_empty("private", 16, 64, 0, 64, SOCKET_ID_ANY, 0);
	struct rte_pktmbuf_pool_private *priv;

	REQUIRE(mp != NULL);
	priv = rte_mempool_get_priv(mp);
	memset(priv, 0, sizeof(*priv));
	CHECK(!mdv_mr_pinned(mp));
	priv->flags = RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF;
	CHECK(!mdv_mr_pinned(mp));
	rte_mempool_free(mp);
	CHECK(!mdv_mr_pinned(rte_mempool_lookup("early")));
}

/** A pool without memory is refused; within a second it is not tried again. */
static void
check_failing_pool(struct mdv_dev *dev)
{
	struct rte_mempool *mp = rte_mempool_create_empty("empty", 16, 64, 0, 0, SOCKET_ID_ANY, 0);

	REQUIRE(mp != NULL);
	log_begin();
	CHECK(mdv_mr_mempool(dev, mp) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(lines_of(log_end()), 1);
	log_begin();
	CHECK(mdv_mr_mempool(dev, mp) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(lines_of(log_end()), 0);
	rte_mempool_free(mp);
}

void
test_memory(struct mdv_dev *dev)
{
	struct rte_mempool *early = rte_mempool_lookup("early");

	REQUIRE(early != NULL);
	CHECK_EQ(unregistered(dev, early), 0);
	check_late_pool(dev);
	check_chunks(dev);
	check_replaced_pool(dev);
	check_pinned_pool(dev);
	check_not_pinned();
	check_failing_pool(dev);
	CHECK(mdv_mr_find(dev, 0) == NULL);
	CHECK(mdv_mr_find(dev, UINTPTR_MAX) == NULL);
}

/** What another process finds is what this one finds; of ranges that contain each other, either. */
static void
check_shared(struct mdv_dev *dev, const char *memory)
{
	struct mdv_mr_range range;

	for (const char *at = memory; at < memory + 8 * PAGE; at += 100) {
		const struct mdv_mr_range *mine = mdv_mr_find(dev, (uintptr_t)at);

		CHECK_EQ(mdv_mr_find_shared(dev, (uintptr_t)at, &range), mine != NULL);
		CHECK(mine == NULL || ((uintptr_t)at >= range.start && (uintptr_t)at < range.end));
	}
}

/** The board of a process that was killed while it wrote: nothing is found, and the search ends. */
static void
check_half_written(struct mdv_dev *dev, const char *memory)
{
	struct mdv_mr_range range;

	dev->mr->board.sequence++;
	CHECK(!mdv_mr_find_shared(dev, (uintptr_t)memory + PAGE, &range));
	dev->mr->board.sequence++;
	CHECK(mdv_mr_find_shared(dev, (uintptr_t)memory + PAGE, &range));
}

void
test_external_memory(struct mdv_dev *dev)
{
	char *memory = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	const struct mdv_mr_range *outer, *inner;

	REQUIRE(memory != MAP_FAILED);
	/* Not page-aligned: the range is exact all the same. */
	CHECK_EQ(mdv_mr_map_external(dev, memory + 100, 6 * PAGE), 0);
	outer = mdv_mr_find(dev, (uintptr_t)memory + 100);
	REQUIRE(outer != NULL);
	check_key(dev, outer);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 99) == NULL);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 100 + 6 * PAGE - 1) == outer);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 100 + 6 * PAGE) == NULL);
	/* A mapping inside another: inside, the inner one is found, beyond it the outer one. */
	CHECK_EQ(mdv_mr_map_external(dev, memory + PAGE, PAGE), 0);
	inner = mdv_mr_find(dev, (uintptr_t)memory + PAGE);
	CHECK(inner != NULL && inner != outer);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 3 * PAGE) == outer);
	check_shared(dev, memory);
	check_half_written(dev, memory);
	log_begin();
	CHECK_EQ(mdv_mr_map_external(dev, memory + PAGE, PAGE), -EEXIST);
	CHECK_EQ(mdv_mr_map_external(dev, memory, 0), -EINVAL);
	/* The end of the range would be below its start. */
	CHECK_EQ(mdv_mr_map_external(dev, memory, SIZE_MAX), -EINVAL);
	CHECK_EQ(mdv_mr_unmap_external(dev, memory + PAGE, PAGE + 1), -ENOENT);
	CHECK_EQ(lines_of(log_end()), 4);
	CHECK_EQ(mdv_mr_unmap_external(dev, memory + 100, 6 * PAGE), 0);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + 3 * PAGE) == NULL);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory + PAGE) == inner);
	check_shared(dev, memory);
	CHECK_EQ(mdv_mr_unmap_external(dev, memory + PAGE, PAGE), 0);
	check_shared(dev, memory);
	munmap(memory, 8 * PAGE);
}

/**
 * Memory that EAL returns to the system while it is registered, which happens only with hugepages: the key
 * is removed before the memory.
 */
void
test_hotplug(struct mdv_dev *dev)
{
	const size_t bytes = 24 << 20; /* more than EAL took at the start and keeps */
	char *memory;
	uintptr_t middle;
	uint32_t generation;

	if (!rte_eal_has_hugepages()) {
		printf("no hugepages: memory is never returned, hot-unplug not tested\n");
		return;
	}
	memory = rte_malloc("mdv_hotplug", bytes, PAGE);
	REQUIRE(memory != NULL);
	CHECK_EQ(mdv_mr_map_external(dev, memory, bytes), 0);
	CHECK(mdv_mr_find(dev, (uintptr_t)memory) != NULL);
	generation = mdv_mr_generation(dev);
	middle = (uintptr_t)memory + bytes / 2;
	rte_free(memory);
	CHECK(mdv_mr_find(dev, middle) == NULL);
	CHECK(mdv_mr_generation(dev) != generation);
}
