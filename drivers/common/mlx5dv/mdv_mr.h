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
 * A mempool (set.mp) or external memory (set.mp NULL): set.n keys. A mempool that could not be registered has none,
 * but an errno, which is returned until the next attempt.
 */
struct mr_entry {
	TAILQ_ENTRY(mr_entry) next;
	int err;
	uint64_t retry_tsc;
	struct ibv_mr **regions; /**< One per set.range. */
	struct mdv_mr_set set;	   /**< Last member, because it ends with a flexible array. */
};

struct mr_index {
	const struct mdv_mr_range *range;
	uintptr_t max_end; /**< Largest end of this and all earlier ranges. */
};

/**
 * control_lock serialises changes, which run firmware commands and may take long. index_lock is held
 * for writing only to replace the index, so that readers never wait for the device.
 */
struct mdv_mr_table {
	pthread_mutex_t control_lock;
	TAILQ_HEAD(, mr_entry) entries;
	rte_rwlock_t index_lock;
	struct mr_index *index; /**< Sorted by start. */
	unsigned int index_n;
	uint32_t generation;
};

/** Contiguous memory to be registered: exact bounds and page size. */
struct mr_chunk {
	uintptr_t start, end;
	size_t page_bytes;
};
/**
 * Sorts chunks and joins those whose pages are adjacent, so that they share a key. A gap between two
 * chunks on the same page is part of the pool's memory. Returns the new number of chunks.
 */
unsigned int mdv_mr_chunks_merge(struct mr_chunk *chunks, unsigned int n);

#endif /* MDV_MR_H */
