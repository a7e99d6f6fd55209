/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Registered memory: entries and their table. */
#ifndef MDV_MR_H
#define MDV_MR_H

#include <pthread.h>
#include <sys/queue.h>

#include <rte_rwlock.h>

#include "mdv_private.h"

/**
 * A mempool (mp) or external memory (mp NULL): set->n keys. A mempool that could not be registered has no set,
 * but an errno, which is returned until the next attempt.
 */
struct mr_entry {
	TAILQ_ENTRY(mr_entry) next;
	const struct rte_mempool *mp;
	int err;
	uint64_t retry_tsc;
	struct ibv_mr **regions; /**< One per set->range. */
	unsigned int ranges;	 /**< Slots of the set. */
	struct mdv_mr_set *set;	 /**< In mdv_mr_table.slots. */
};

struct mr_index {
	const struct mdv_mr_range *range;
	uintptr_t max_end; /**< Largest end of this and all earlier ranges. */
};

/** Most ranges of a device. */
#define MDV_MR_RANGES_MAX 4096u
/** Place of a set: as many slots as it has ranges. */
struct mr_slot {
	uint8_t bytes[sizeof(struct mdv_mr_set) + sizeof(struct mdv_mr_range)];
} __rte_aligned(8);

/**
 * The ranges for other processes, sorted by start. A reader takes no lock, so that it can be killed at any time: it
 * reads again if the sequence is odd, or has changed meanwhile.
 */
struct mr_board {
	uint32_t sequence;
	unsigned int n;
	struct mdv_mr_range range[MDV_MR_RANGES_MAX];
};

/**
 * control_lock serialises changes, which run firmware commands and may take long. index_lock is held
 * for writing only to replace the index, so that readers never wait for the device.
 *
 * The table is in memory that processes share. A secondary process uses generation, sets and board; the entries and
 * the index are those of the primary process.
 */
struct mdv_mr_table {
	pthread_mutex_t control_lock;
	TAILQ_HEAD(, mr_entry) entries;
	rte_rwlock_t index_lock;
	struct mr_index *index; /**< Sorted by start. */
	unsigned int index_n;
	uint32_t generation;
	uint8_t used[MDV_MR_RANGES_MAX]; /**< Slots in use. */
	struct mr_slot slots[MDV_MR_RANGES_MAX];
	struct mr_board board;
};

/** Contiguous memory to be registered: exact bounds and page size. */
struct mr_chunk {
	uintptr_t start, end;
	size_t page_bytes;
};
/** Start of the page that contains addr. */
static inline uintptr_t
mdv_mr_page_floor(uintptr_t addr, size_t page_bytes)
{
	return addr & ~((uintptr_t)page_bytes - 1);
}

/** addr, or the start of the next page. */
static inline uintptr_t
mdv_mr_page_ceil(uintptr_t addr, size_t page_bytes)
{
	return mdv_mr_page_floor(addr + page_bytes - 1, page_bytes);
}

/**
 * Calls each for all that the device accesses of a mempool: its memory; or pinned external buffers, whose mbufs the
 * device does not access.
 */
void mdv_mr_visit(struct rte_mempool *mp, void (*each)(void *arg, void *addr, size_t bytes), void *arg);

/** Chunks of a mempool. */
struct mr_chunk_list {
	struct mr_chunk *chunks; /**< The caller frees it. */
	unsigned int n, room;
	bool full; /**< No memory for all of them. */
};
/** Adds all that mdv_mr_visit() finds. */
void mdv_mr_chunks_of(struct rte_mempool *mp, struct mr_chunk_list *list);

/**
 * Sorts chunks and joins those whose pages are adjacent, so that they share a key. A gap between two
 * chunks on the same page is part of the pool's memory. Returns the new number of chunks.
 */
unsigned int mdv_mr_chunks_merge(struct mr_chunk *chunks, unsigned int n);

#endif /* MDV_MR_H */
