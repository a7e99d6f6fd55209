/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Registered memory: how an entry is made (mdv_mr_entry.c), and how entries are kept (mdv_mr.c). */
#ifndef MDV_MR_H
#define MDV_MR_H

#include <pthread.h>
#include <sys/queue.h>

#include <rte_rwlock.h>

#include "mdv_private.h"

/** One key and the pages below it. */
struct mr_region {
	struct ibv_mr *mr;
};

/** A mempool (set.mp) or external memory (set.mp NULL): set.n keys. */
struct mr_entry {
	TAILQ_ENTRY(mr_entry) next;
	struct mr_region *regions; /**< One per set.range. */
	struct mdv_mr_set set;	   /**< Last: it ends in an array. */
};

struct mr_failure {
	TAILQ_ENTRY(mr_failure) next;
	const struct rte_mempool *mp;
	uint64_t retry_tsc;
	int err;
};

struct mr_index {
	const struct mdv_mr_range *range;
	uintptr_t max_end; /**< Largest end of this and all earlier ranges. */
};

/**
 * control_lock serialises changes, which run firmware commands and may take long; index_lock is
 * held for writing only while a finished index is switched in: readers never wait for the device.
 */
struct mdv_mr_table {
	pthread_mutex_t control_lock;
	TAILQ_HEAD(, mr_entry) entries;
	TAILQ_HEAD(, mr_failure) failures;
	rte_rwlock_t index_lock;
	struct mr_index *index; /**< Sorted by start. */
	unsigned int index_n;
	uint32_t generation;
};

/** Registers all chunks of a mempool. NULL and rte_errno, logged; nothing left behind. */
struct mr_entry *mdv_mr_entry_of_mempool(struct mdv_dev *dev, struct rte_mempool *mp);
/** Registers [start, end). NULL and rte_errno, logged. */
struct mr_entry *mdv_mr_entry_of_external(struct mdv_dev *dev, uintptr_t start, uintptr_t end);
/** Takes the keys from the device and frees the entry. */
void mdv_mr_entry_free(struct mdv_dev *dev, struct mr_entry *e);

/** A stretch of memory on its way to a range: exact bounds, and the page size it stands on. */
struct mr_chunk {
	uintptr_t start, end;
	size_t page_bytes;
};
/**
 * Sorts chunks and joins those whose pages touch, so that one key serves both; a gap between two
 * chunks on the same page belongs to the pool's own memory. Returns how many remain.
 */
unsigned int mdv_mr_chunks_merge(struct mr_chunk *chunks, unsigned int n);

#endif /* MDV_MR_H */
