/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Registered memory: memory regions of verbs in the PD of the queues, their table, and look-up by address. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_pause.h>

#include "mdv_mr.h"

/* ------------------------------------------------------------------ one key */

static void
region_down(struct mdv_dev *dev, struct ibv_mr *mr)
{
	int err;

	/* Not before a removed device is quiesced: the kernel would release the pages. */
	if (!mdv_quiesce_wait(dev) && mdv_removed(dev)) {
		__atomic_fetch_add(&dev->lost, 1, __ATOMIC_RELAXED);
		MDV_LEFT(mr);
		return;
	}
	err = MDV_RUN_DESTROY(dev, ibv_dereg_mr, mr);
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
	uintptr_t start = mdv_mr_page_floor(chunk->start, chunk->page_bytes);
	size_t bytes = mdv_mr_page_ceil(chunk->end, chunk->page_bytes) - start;
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

/* ------------------------------------------------------------------ sets; control lock held */

/** Finds free slots, one per range. The lock must not be held while EAL allocates (on_memory_event()). */
static struct mdv_mr_set *
set_alloc(struct mdv_mr_table *t, unsigned int ranges)
{
	unsigned int run = 0;

	for (unsigned int i = 0; i < MDV_MR_RANGES_MAX; i++) {
		run = t->used[i] ? 0 : run + 1;
		if (run != ranges)
			continue;
		memset(&t->used[i + 1 - ranges], 1, ranges);
		return memset(&t->slots[i + 1 - ranges], 0, ranges * sizeof(t->slots[0]));
	}
	return NULL;
}

static void
set_free(struct mdv_mr_table *t, const struct mdv_mr_set *set, unsigned int ranges)
{
	memset(&t->used[(const struct mr_slot *)set - t->slots], 0, ranges);
}

/* ------------------------------------------------------------------ entries */

static struct mr_entry *
entry_alloc(struct mdv_dev *dev, unsigned int ranges)
{
	struct mr_entry *e = calloc(1, sizeof(*e));

	if (e != NULL)
		e->regions = calloc(ranges, sizeof(*e->regions));
	if (e != NULL && e->regions != NULL)
		e->set = set_alloc(dev->mr, ranges);
	if (e != NULL && e->set != NULL) {
		e->ranges = ranges;
		return e;
	}
	if (e != NULL)
		free(e->regions);
	free(e);
	return MDV_FAIL_NULL(dev->name, ENOMEM, "no memory for an entry of %u memory ranges (at most %u of a device)",
			     ranges, MDV_MR_RANGES_MAX);
}

/** Destroys the keys and frees the entry. */
static void
entry_free(struct mdv_dev *dev, struct mr_entry *e)
{
	if (e->set != NULL) {
		for (unsigned int i = e->set->n; i > 0; i--)
			region_down(dev, e->regions[i - 1]);
		set_free(dev->mr, e->set, e->ranges);
	}
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
	e->mp = e->set->mp = mp;
	for (unsigned int i = 0; i < n; i++) {
		if (region_up(dev, &chunks[i], &e->regions[i], &e->set->range[i]) != 0) {
			MDV_UNDO(entry_free(dev, e));
			return NULL;
		}
		e->set->n++;
	}
	return e;
}

/** Registers all memory of a mempool, or none. NULL with rte_errno, logged. */
static struct mr_entry *
mempool_register(struct mdv_dev *dev, struct rte_mempool *mp)
{
	struct mr_chunk_list list = { .chunks = NULL };
	struct mr_entry *e = NULL;

	mdv_mr_chunks_of(mp, &list);
	if (list.full)
		MDV_FAIL(dev->name, ENOMEM, "no memory for the chunks of mempool %s", mp->name);
	else if (list.n == 0)
		MDV_FAIL(dev->name, EINVAL, "mempool %s has no memory yet", mp->name);
	else
		e = entry_of_chunks(dev, mp, list.chunks, mdv_mr_chunks_merge(list.chunks, list.n));
	free(list.chunks);
	if (e != NULL)
		MDV_LOG(DEBUG, dev->name, "mempool %s registered with %u keys", mp->name, e->set->n);
	else
		MDV_LOG(INFO, dev->name, "mempool %s is not registered", mp->name);
	return e;
}

/** Registers [start, end). NULL with rte_errno, logged. */
static struct mr_entry *
external_register(struct mdv_dev *dev, uintptr_t start, uintptr_t end)
{
	const struct mr_chunk chunk = {
		.start = start,
		.end = end,
		.page_bytes = sysconf(_SC_PAGESIZE),
	};

	return entry_of_chunks(dev, NULL, &chunk, 1);
}

/* ------------------------------------------------------------------ index for look-ups */

/** Copies the index to where other processes read it. */
static void
board_write(struct mdv_mr_table *t)
{
	struct mr_board *b = &t->board;

	__atomic_store_n(&b->sequence, b->sequence + 1, __ATOMIC_RELAXED);
	/* Order the odd sequence before the ranges. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (unsigned int i = 0; i < t->index_n; i++)
		b->range[i] = *t->index[i].range;
	b->n = t->index_n;
	/* Release: a reader of the even sequence gets all of them. */
	__atomic_store_n(&b->sequence, b->sequence + 1, __ATOMIC_RELEASE);
}

/** Computes max_end: no range at or before entry i ends beyond it. */
static void
index_rebuild(struct mdv_mr_table *t)
{
	uintptr_t max_end = 0;

	for (unsigned int i = 0; i < t->index_n; i++) {
		max_end = RTE_MAX(max_end, t->index[i].range->end);
		t->index[i].max_end = max_end;
	}
	board_write(t);
}

static int
index_compare(const void *a, const void *b)
{
	const struct mr_index *x = a, *y = b;

	return (x->range->start > y->range->start) - (x->range->start < y->range->start);
}

/** Builds a new index without the lock of readers, and replaces the old one with it. -ENOMEM. */
static int
index_add(struct mdv_mr_table *t, const struct mdv_mr_set *set)
{
	struct mr_index *bigger = malloc((t->index_n + set->n) * sizeof(*bigger)), *old = t->index;

	if (bigger == NULL)
		return mdv_fail(ENOMEM);
	if (t->index_n > 0)
		memcpy(bigger, old, t->index_n * sizeof(*bigger));
	for (unsigned int i = 0; i < set->n; i++)
		bigger[t->index_n + i].range = &set->range[i];
	qsort(bigger, t->index_n + set->n, sizeof(*bigger), index_compare);
	rte_rwlock_write_lock(&t->index_lock);
	t->index = bigger;
	t->index_n += set->n;
	index_rebuild(t);
	rte_rwlock_write_unlock(&t->index_lock);
	free(old);
	return 0;
}

static void
index_remove(struct mdv_mr_table *t, const struct mdv_mr_set *set)
{
	unsigned int kept = 0;

	rte_rwlock_write_lock(&t->index_lock);
	for (unsigned int i = 0; i < t->index_n; i++)
		if (t->index[i].range < set->range || t->index[i].range >= set->range + set->n)
			t->index[kept++] = t->index[i];
	t->index_n = kept;
	index_rebuild(t);
	__atomic_fetch_add(&t->generation, 1, __ATOMIC_RELEASE);
	rte_rwlock_write_unlock(&t->index_lock);
}

/** First entry that starts beyond addr. */
static unsigned int
index_upper(const struct mdv_mr_table *t, uintptr_t addr)
{
	unsigned int low = 0, high = t->index_n;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (t->index[mid].range->start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_find)
const struct mdv_mr_range *
mdv_mr_find(struct mdv_dev *dev, uintptr_t addr)
{
	struct mdv_mr_table *t = dev->mr;
	const struct mdv_mr_range *found = NULL;

	rte_rwlock_read_lock(&t->index_lock);
	for (unsigned int i = index_upper(t, addr); i > 0 && t->index[i - 1].max_end > addr; i--) {
		if (addr < t->index[i - 1].range->end) {
			found = t->index[i - 1].range;
			break;
		}
	}
	rte_rwlock_read_unlock(&t->index_lock);
	return found;
}

/** Attempts of a reader that the writer overtakes: it writes for microseconds, unless it was killed meanwhile. */
#define BOARD_TRIES 1000

static bool
board_look(const struct mr_board *b, uintptr_t addr, struct mdv_mr_range *out)
{
	const unsigned int n = RTE_MIN(__atomic_load_n(&b->n, __ATOMIC_RELAXED), MDV_MR_RANGES_MAX);

	/* By start, as the index; ranges may contain each other, and there are few. */
	for (unsigned int i = 0; i < n && b->range[i].start <= addr; i++) {
		*out = b->range[i];
		if (addr >= out->start && addr < out->end)
			return true;
	}
	return false;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_find_shared)
bool
mdv_mr_find_shared(const struct mdv_dev *dev, uintptr_t addr, struct mdv_mr_range *out)
{
	const struct mr_board *b = &dev->mr->board;
	uint32_t sequence;
	bool found;

	for (unsigned int i = 0; i < BOARD_TRIES; i++) {
		sequence = __atomic_load_n(&b->sequence, __ATOMIC_ACQUIRE);
		found = (sequence & 1) == 0 && board_look(b, addr, out);
		/* Order the ranges before the second reading. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((sequence & 1) == 0 && __atomic_load_n(&b->sequence, __ATOMIC_RELAXED) == sequence)
			return found;
		rte_pause();
	}
	return false;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_generation)
uint32_t
mdv_mr_generation(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->mr->generation, __ATOMIC_ACQUIRE);
}

/* ------------------------------------------------------------------ entries; control lock held */

static struct mr_entry *
entry_of_mempool(struct mdv_mr_table *t, const struct rte_mempool *mp)
{
	struct mr_entry *e;

	TAILQ_FOREACH(e, &t->entries, next)
		if (e->mp == mp)
			return e;
	return NULL;
}

static struct mr_entry *
entry_of_external(struct mdv_mr_table *t, uintptr_t start, uintptr_t end)
{
	struct mr_entry *e;

	TAILQ_FOREACH(e, &t->entries, next)
		if (e->mp == NULL && e->set->range[0].start == start &&
		    e->set->range[0].end == end)
			return e;
	return NULL;
}

/** Removes the entry from the index first, so that a key is not found after its destruction. */
static void
entry_drop(struct mdv_dev *dev, struct mr_entry *e)
{
	TAILQ_REMOVE(&dev->mr->entries, e, next);
	if (e->set != NULL)
		index_remove(dev->mr, e->set);
	entry_free(dev, e);
}

static int
entry_publish(struct mdv_dev *dev, struct mr_entry *e)
{
	if (index_add(dev->mr, e->set) != 0) {
		entry_free(dev, e);
		return MDV_FAIL(dev->name, ENOMEM, "no memory for the index of registered memory");
	}
	TAILQ_INSERT_TAIL(&dev->mr->entries, e, next);
	return 0;
}

/** Notes that a registration failed. Without memory for the note, it is only retried earlier. */
static void
entry_fail(struct mdv_mr_table *t, const struct rte_mempool *mp, int err)
{
	struct mr_entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return;
	e->mp = mp;
	e->err = err;
	e->retry_tsc = rte_get_tsc_cycles() + rte_get_tsc_hz();
	TAILQ_INSERT_TAIL(&t->entries, e, next);
}

/* ------------------------------------------------------------------ mempools */

struct cover {
	const struct mdv_mr_set *set;
	bool all;
};

static void
cover_one(void *arg, void *addr, size_t bytes)
{
	const uintptr_t start = (uintptr_t)addr;
	struct cover *c = arg;

	for (unsigned int i = 0; i < c->set->n; i++)
		if (start >= c->set->range[i].start && start + bytes <= c->set->range[i].end)
			return;
	c->all = false;
}

/** Is the entry that of this mempool? Not if a process freed one at the same address and its message was lost. */
static bool
entry_covers(const struct mr_entry *e, struct rte_mempool *mp)
{
	struct cover c = { e->set, true };

	mdv_mr_visit(mp, cover_one, &c);
	return c.all;
}

static const struct mdv_mr_set *
register_mempool(struct mdv_dev *dev, struct rte_mempool *mp)
{
	struct mdv_mr_table *t = dev->mr;
	struct mr_entry *e = entry_of_mempool(t, mp);

	if (e != NULL && e->err == 0 && entry_covers(e, mp))
		return e->set;
	if (e != NULL && e->err != 0 && rte_get_tsc_cycles() < e->retry_tsc) {
		rte_errno = e->err;
		return NULL;
	}
	if (e != NULL)
		entry_drop(dev, e);
	e = mempool_register(dev, mp);
	if (e != NULL && entry_publish(dev, e) == 0)
		return e->set;
	entry_fail(t, mp, rte_errno);
	return NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_mempool)
const struct mdv_mr_set *
mdv_mr_mempool(struct mdv_dev *dev, struct rte_mempool *mp)
{
	const struct mdv_mr_set *set;

	pthread_mutex_lock(&dev->mr->control_lock);
	set = register_mempool(dev, mp);
	pthread_mutex_unlock(&dev->mr->control_lock);
	return set;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_forget)
void
mdv_mr_forget(struct mdv_dev *dev, const struct rte_mempool *mp)
{
	struct mr_entry *e;

	pthread_mutex_lock(&dev->mr->control_lock);
	e = entry_of_mempool(dev->mr, mp);
	if (e != NULL)
		entry_drop(dev, e);
	pthread_mutex_unlock(&dev->mr->control_lock);
}

/** Devices do not access mempools with RTE_MEMPOOL_F_NON_IO. */
static bool
is_for_io(const struct rte_mempool *mp)
{
	return (mp->flags & RTE_MEMPOOL_F_NON_IO) == 0 && mp->nb_mem_chunks > 0;
}

static void
on_mempool_event(enum rte_mempool_event event, struct rte_mempool *mp, void *arg)
{
	struct mdv_dev *dev = arg;

	if (event == RTE_MEMPOOL_EVENT_DESTROY)
		mdv_mr_forget(dev, mp);
	else if (event == RTE_MEMPOOL_EVENT_READY && is_for_io(mp) && !mdv_mr_pinned(mp))
		/* A failure is logged; mdv_mr_mempool() tries again. External buffers are pinned after this event. */
		mdv_mr_mempool(dev, mp);
}

/* One that another process is still populating it registers itself, by an event or a request. */
static void
on_existing_mempool(struct rte_mempool *mp, void *arg)
{
	if (is_for_io(mp) && mp->populated_size == mp->size)
		mdv_mr_mempool(arg, mp);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_existing)
void
mdv_mr_existing(struct mdv_dev *dev)
{
	rte_mempool_walk(on_existing_mempool, dev);
}

/* ------------------------------------------------------------------ freed memory */

static bool
entry_overlaps(const struct mr_entry *e, uintptr_t start, uintptr_t end)
{
	for (unsigned int i = 0; e->set != NULL && i < e->set->n; i++)
		if (e->set->range[i].start < end && start < e->set->range[i].end)
			return true;
	return false;
}

/*
 * EAL returns hugepages to the system: destroy the keys that cover them first. EAL holds its memory
 * lock here, so this file must not allocate memory from EAL.
 */
static void
on_memory_event(enum rte_mem_event event, const void *addr, size_t bytes, void *arg)
{
	struct mdv_dev *dev = arg;
	struct mr_entry *e, *next;

	if (event != RTE_MEM_EVENT_FREE)
		return;
	pthread_mutex_lock(&dev->mr->control_lock);
	for (e = TAILQ_FIRST(&dev->mr->entries); e != NULL; e = next) {
		next = TAILQ_NEXT(e, next);
		if (entry_overlaps(e, (uintptr_t)addr, (uintptr_t)addr + bytes))
			entry_drop(dev, e);
	}
	pthread_mutex_unlock(&dev->mr->control_lock);
}

/* ------------------------------------------------------------------ external memory */

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_map_external)
int
mdv_mr_map_external(struct mdv_dev *dev, void *addr, size_t bytes)
{
	uintptr_t start = (uintptr_t)addr;
	struct mr_entry *e;
	int ret = 0;

	if (start + bytes <= start)
		return MDV_FAIL(dev->name, EINVAL, "external memory of %zu bytes at %p is not a valid range",
				bytes, addr);
	pthread_mutex_lock(&dev->mr->control_lock);
	if (entry_of_external(dev->mr, start, start + bytes) != NULL) {
		MDV_LOG(ERR, dev->name, "external memory of %zu bytes at %p is mapped already",
			bytes, addr);
		ret = mdv_fail(EEXIST);
	} else {
		e = external_register(dev, start, start + bytes);
		if (e == NULL || entry_publish(dev, e) != 0)
			ret = -rte_errno;
	}
	pthread_mutex_unlock(&dev->mr->control_lock);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_unmap_external)
int
mdv_mr_unmap_external(struct mdv_dev *dev, void *addr, size_t bytes)
{
	uintptr_t start = (uintptr_t)addr;
	struct mr_entry *e;

	pthread_mutex_lock(&dev->mr->control_lock);
	e = entry_of_external(dev->mr, start, start + bytes);
	if (e != NULL)
		entry_drop(dev, e);
	pthread_mutex_unlock(&dev->mr->control_lock);
	if (e != NULL)
		return 0;
	return MDV_FAIL(dev->name, ENOENT, "external memory of %zu bytes at %p is not mapped", bytes, addr);
}

/* ------------------------------------------------------------------ open, close */

/** EAL identifies callbacks by name and argument. */
static void
callback_name(const struct mdv_dev *dev, char *name, size_t bytes)
{
	snprintf(name, bytes, "mdv_mr_%.24s", dev->name);
}

static int
subscribe(struct mdv_dev *dev)
{
	char name[RTE_MEM_EVENT_CALLBACK_NAME_LEN];

	if (rte_mempool_event_callback_register(on_mempool_event, dev) != 0)
		return MDV_FAIL(dev->name, rte_errno, "cannot follow mempools: %s", mdv_errno_name(rte_errno));
	callback_name(dev, name, sizeof(name));
	/* ENOTSUP: with --no-huge or --legacy-mem EAL never frees pages. */
	if (rte_mem_event_callback_register(name, on_memory_event, dev) != 0 &&
	    rte_errno != ENOTSUP) {
		MDV_LOG(ERR, dev->name, "cannot follow freed memory: %s", mdv_errno_name(rte_errno));
		MDV_UNDO(rte_mempool_event_callback_unregister(on_mempool_event, dev));
		return -rte_errno;
	}
	return 0;
}

int
mdv_mr_open(struct mdv_dev *dev)
{
	struct mdv_mr_table *t = mdv_zalloc_shared(dev->name, sizeof(*t), "the table of registered memory");

	if (t == NULL)
		return -ENOMEM;
	pthread_mutex_init(&t->control_lock, NULL);
	rte_rwlock_init(&t->index_lock);
	TAILQ_INIT(&t->entries);
	dev->mr = t;
	if (subscribe(dev) != 0) {
		pthread_mutex_destroy(&t->control_lock);
		rte_free(t);
		dev->mr = NULL;
		return -rte_errno;
	}
	/* Walk after subscribing: a mempool created in between is then found twice, not missed. */
	mdv_mr_existing(dev);
	return 0;
}

void
mdv_mr_close(struct mdv_dev *dev)
{
	char name[RTE_MEM_EVENT_CALLBACK_NAME_LEN];
	struct mdv_mr_table *t = dev->mr;

	callback_name(dev, name, sizeof(name));
	rte_mem_event_callback_unregister(name, dev);
	rte_mempool_event_callback_unregister(on_mempool_event, dev);
	pthread_mutex_lock(&t->control_lock);
	while (!TAILQ_EMPTY(&t->entries))
		entry_drop(dev, TAILQ_FIRST(&t->entries));
	pthread_mutex_unlock(&t->control_lock);
	pthread_mutex_destroy(&t->control_lock);
	free(t->index);
	rte_free(t);
	dev->mr = NULL;
}
