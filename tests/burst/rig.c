/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* EAL, mempools, and a stand-in for the common layer that records calls. */

#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "rig.h"

int mlxpmd_logtype;
struct mdv_dev rig_mdv;
struct rig_range rig_ranges[RIG_RANGES];
unsigned int rig_nb_ranges;
uint32_t rig_generation = 1;
unsigned int rig_mempool_calls;
unsigned int rig_mempool_parts = 1;
bool rig_mempool_fails;
struct mdv_clock_state rig_clock_state;
pthread_mutex_t rig_clock_mutex = PTHREAD_MUTEX_INITIALIZER;
int rig_clock_rc, rig_clock_open_rc;
unsigned int rig_clock_refreshes;
int rig_clocks_open;
void (*rig_clock_hook)(void);
uint64_t rig_cycles;
unsigned int rig_cycles_read;
int rig_thread_rc;
unsigned int rig_memory_fails_at;
int rig_memory_live;

#define PAGE 4096

uint8_t *
rig_ring_new(size_t bytes)
{
	const size_t whole = RTE_ALIGN_CEIL(bytes, PAGE);
	uint8_t *at = mmap(NULL, whole + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED && mprotect(at + whole, PAGE, PROT_NONE) == 0, "no memory");
	/* Arming has to initialize rings: memory of the driver is not zero either. */
	memset(at, 0xa5, whole);
	return at + whole - bytes;
}

void
rig_ring_free(uint8_t *ring, size_t bytes)
{
	munmap(RTE_PTR_ALIGN_FLOOR(ring, PAGE), RTE_ALIGN_CEIL(bytes, PAGE) + PAGE);
}

static uint8_t data[RIG_DATA_MAX + 65536];

const uint8_t *
rig_data(uint32_t seq)
{
	return data + (seq * 2654435761u >> 16);
}

static void
data_init(void)
{
	uint32_t x = 1, i;

	for (i = 0; i < sizeof(data); i++) {
		x = x * 1664525 + 1013904223;
		data[i] = x >> 24;
	}
}

void
rig_init(void)
{
	char *argv[] = { "burst", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
			 "-m", "256", "-l", "0", "--log-level", "error" };

	if (rte_eal_init(RTE_DIM(argv), argv) < 0) {
		fprintf(stderr, "EAL: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
	mlxpmd_logtype = rte_log_register_type_and_pick_level("burst.test", RTE_LOG_EMERG);
	rig_mdv.caps.max_sq_desc_ds = 63;
	rig_mdv.caps.mpw = true;
	data_init();
}

int
rig_end(const char *name)
{
	rig_watch_check();
	rte_eal_cleanup();
	return check_exit(name);
}

uint32_t
rig_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

/* ---- memory keys ---- */

static struct mdv_mr_set *sets[32];

void
rig_ranges_clear(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(sets); i++) {
		free(sets[i]);
		sets[i] = NULL;
	}
	rig_nb_ranges = 0;
	rig_generation++;
}

void
rig_range_add(const void *addr, size_t bytes, uint32_t lkey)
{
	rig_ranges[rig_nb_ranges++] = (struct rig_range) {
		(uintptr_t)addr, (uintptr_t)addr + bytes, lkey };
}

static void
chunk_add(struct rte_mempool *mp __rte_unused, void *opaque, struct rte_mempool_memhdr *hdr,
	  unsigned int idx __rte_unused)
{
	struct mdv_mr_set *set = opaque;
	size_t part = RTE_ALIGN_CEIL(hdr->len / rig_mempool_parts, RTE_CACHE_LINE_SIZE), at, n;

	for (at = 0; at < hdr->len; at += part) {
		uint32_t lkey = 0x1000 + rig_nb_ranges * 0x111;

		n = RTE_MIN(part, hdr->len - at);
		rig_range_add((uint8_t *)hdr->addr + at, n, lkey);
		set->range[set->n++] = (struct mdv_mr_range) {
			(uintptr_t)hdr->addr + at, (uintptr_t)hdr->addr + at + n,
			rte_cpu_to_be_32(lkey) };
	}
}

const struct mdv_mr_set *
mdv_mr_mempool(struct mdv_dev *dev __rte_unused, struct rte_mempool *mp)
{
	unsigned int i;
	bool watched;

	rig_mempool_calls++;
	if (rig_mempool_fails) {
		rte_errno = ENOMEM;
		return NULL;
	}
	for (i = 0; i < RTE_DIM(sets) && sets[i] != NULL; i++)
		if (sets[i]->mp == mp)
			return sets[i];
	if (i == RTE_DIM(sets))
		abort();
	/* The first packet of an unknown mempool registers its memory: the exception of burst functions. */
	watched = rig_watch_pause(false);
	sets[i] = calloc(1, sizeof(*sets[i]) + RIG_RANGES * sizeof(sets[i]->range[0]));
	sets[i]->mp = mp;
	rte_mempool_mem_iter(mp, chunk_add, sets[i]);
	(void)rig_watch_pause(watched);
	return sets[i];
}

void
rig_pool_free(struct rte_mempool *mp)
{
	unsigned int i, last;

	for (last = 0; last < RTE_DIM(sets) && sets[last] != NULL; last++)
		;
	for (i = 0; i < last; i++) {
		if (sets[i]->mp != mp)
			continue;
		free(sets[i]);
		sets[i--] = sets[--last];
		sets[last] = NULL;
	}
	rte_mempool_free(mp);
}

const struct mdv_mr_range *
mdv_mr_find(struct mdv_dev *dev __rte_unused, uintptr_t addr)
{
	static struct mdv_mr_range found;
	unsigned int i;

	for (i = 0; i < rig_nb_ranges; i++) {
		if (addr < rig_ranges[i].start || addr >= rig_ranges[i].end)
			continue;
		found = (struct mdv_mr_range) { rig_ranges[i].start, rig_ranges[i].end,
						rte_cpu_to_be_32(rig_ranges[i].lkey) };
		return &found;
	}
	return NULL;
}

bool
mdv_mr_find_shared(const struct mdv_dev *dev __rte_unused, uintptr_t addr __rte_unused,
		   struct mdv_mr_range *out __rte_unused)
{
	return false; /* Of secondary processes. */
}

uint32_t
mdv_mr_generation(const struct mdv_dev *dev __rte_unused)
{
	return rig_generation;
}

/* ---- clock ---- */

int
mdv_clock_open(struct mdv_dev *dev, enum mdv_clock_source wanted, struct mdv_clock **out, char *why,
	       size_t why_bytes)
{
	snprintf(why, why_bytes, "injected by the rig");
	*out = rig_clock_open_rc == 0 ? (struct mdv_clock *)dev : NULL;
	rig_clocks_open += rig_clock_open_rc == 0;
	if (wanted != MDV_CLOCK_AUTO)
		rig_clock_state.source = wanted;
	return rig_clock_open_rc;
}

int
mdv_clock_refresh(struct mdv_clock *clock __rte_unused, struct mdv_clock_state *state)
{
	void (*hook)(void) = __atomic_load_n(&rig_clock_hook, __ATOMIC_ACQUIRE);
	int rc;

	__atomic_fetch_add(&rig_clock_refreshes, 1, __ATOMIC_RELAXED);
	if (hook != NULL)
		hook();
	pthread_mutex_lock(&rig_clock_mutex);
	*state = rig_clock_state;
	rc = rig_clock_rc;
	pthread_mutex_unlock(&rig_clock_mutex);
	return rc;
}

void
mdv_clock_close(struct mdv_clock *clock)
{
	rig_clocks_open -= clock != NULL;
}

const char *
mdv_clock_source_name(enum mdv_clock_source source)
{
	static const char *const names[] = { "auto", "page", "host", "realtime", "raw" };

	return source < RTE_DIM(names) ? names[source] : NULL;
}

int
mdv_clock_raw(struct mdv_dev *dev __rte_unused, uint64_t *cycles)
{
	*cycles = rig_cycles;
	rig_cycles_read++;
	return 0;
}

bool
mdv_removed(const struct mdv_dev *dev)
{
	return __atomic_load_n(&dev->removed, __ATOMIC_RELAXED);
}

/* ---- threads of the driver: created by EAL, or made to fail ---- */

#undef mdv_thread_create

int
rig_thread_create(pthread_t *thread, const char *name, mdv_thread_ret (*run)(void *arg), void *arg)
{
	return rig_thread_rc != 0 ? rig_thread_rc : mdv_thread_create(thread, name, run, arg);
}

/* ---- mempools ---- */

struct rte_mempool *
rig_pool(const char *name, unsigned int n, unsigned int cache, uint16_t room)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create(name, n, cache, 0, room, SOCKET_ID_ANY);

	if (mp == NULL) {
		fprintf(stderr, "mempool %s: %s\n", name, rte_strerror(rte_errno));
		exit(1);
	}
	return mp;
}

static void *held[65536];
static unsigned int nb_held;

void
rig_pool_leave(struct rte_mempool *mp, unsigned int left)
{
	unsigned int n = rte_mempool_avail_count(mp); /* slow: looks at the cache of every lcore */

	for (; n > left; n--)
		if (nb_held == RTE_DIM(held) || rte_mempool_get(mp, &held[nb_held++]) != 0)
			abort();
}

void
rig_pool_release(struct rte_mempool *mp)
{
	while (nb_held != 0)
		rte_mempool_put(mp, held[--nb_held]);
}

/* ---- allocations of the driver, by malloc() for the sanitizer ---- */

void *rig_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket);
void *rig_zmalloc(const char *type, size_t size, unsigned int align);
void rig_free(void *ptr);

void *
rig_zmalloc_socket(const char *type __rte_unused, size_t size, unsigned int align, int socket __rte_unused)
{
	void *p;

	if (rig_memory_fails_at != 0 && --rig_memory_fails_at == 0)
		return NULL;
	if (posix_memalign(&p, RTE_MAX(align, 64u), size) != 0)
		return NULL;
	rig_memory_live++;
	return memset(p, 0, size);
}

void *
rig_zmalloc(const char *type, size_t size, unsigned int align)
{
	return rig_zmalloc_socket(type, size, align, 0);
}

void
rig_free(void *ptr)
{
	rig_memory_live -= ptr != NULL;
	free(ptr);
}
