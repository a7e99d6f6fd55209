/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `capture`: ring and mempool in the program's memory, and its requests to the program's pdump library.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>

#include "capture.h"
#include "tm.h"

/* Of the mempool, for each lcore of the program. This process uses no cache: its lcore ids are also the program's. */
#define CACHE_SIZE 128
#define HANDLER "ring_mp_mc"
/* Without --buffers: memory of the program that is taken at most, and the number of buffers. */
#define MEMORY_BYTES (UINT64_C(128) << 20)
#define BUFFERS_MAX UINT64_C(65536)
#define BUFFERS_MIN UINT64_C(2048)
/* A burst of the program that is in the callback when this is removed has left it after this time. */
#define LEAVE_US 100000
/* rte_pcapng_copy(): header and VLAN tag before a packet, padding, options and length after it. */
#define ROOM_BYTES (RTE_PKTMBUF_HEADROOM + 64)

static const uint32_t direction_flags[] = { RTE_PDUMP_FLAG_RX, RTE_PDUMP_FLAG_TX };

/* ------------------------------------------------------------------ the lock of a port */

int
capture_lock(struct capture *c)
{
	struct stat at_path, locked;
	int n = strrchr(c->program.path, '/') - c->program.path;

	snprintf(c->lock_path, sizeof(c->lock_path), "%.*s/test_mlx_capture_%u", n, c->program.path,
		 (unsigned int)c->port);
	for (;;) {
		c->lock = open(c->lock_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		if (c->lock < 0) {
			tm_error("capture: cannot write '%s': %s", c->lock_path, strerror(errno));
			return -EACCES;
		}
		if (flock(c->lock, LOCK_EX | LOCK_NB) != 0) {
			tm_error("capture: port %u is being captured by another process", (unsigned int)c->port);
			close(c->lock);
			c->lock = -1;
			return -EBUSY;
		}
		/* The process that had it may have deleted the file meanwhile. */
		if (stat(c->lock_path, &at_path) == 0 && fstat(c->lock, &locked) == 0 &&
		    at_path.st_ino == locked.st_ino)
			return 0;
		close(c->lock);
	}
}

void
capture_unlock(struct capture *c)
{
	if (c->lock < 0)
		return;
	unlink(c->lock_path);
	close(c->lock);
	c->lock = -1;
}

/* ------------------------------------------------------------------ handlers of mempools */

/* A mempool of the program whose handler is known by its ring: MP_NAME, for several producers and consumers. */
static void
handler_find(struct rte_mempool *mp, void *arg)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *r;
	int *index = arg;

	snprintf(name, sizeof(name), RTE_MEMPOOL_MZ_FORMAT, mp->name);
	r = rte_ring_lookup(name);
	if (r != NULL && rte_ring_get_prod_sync_type(r) == RTE_RING_SYNC_MT &&
	    rte_ring_get_cons_sync_type(r) == RTE_RING_SYNC_MT)
		*index = mp->ops_index;
}

/*
 * Give the handler of the mempool the number that it has in the program. Each process numbers handlers in the order in
 * which it loads libraries, and a mempool contains only the number. This process has no mempool yet.
 */
static int
handlers_align(void)
{
	struct rte_mempool_ops_table *t = &rte_mempool_ops_table;
	struct rte_mempool_ops moved;
	int theirs = -1, ours = -1;

	rte_mempool_walk(handler_find, &theirs);
	for (unsigned int i = 0; i < t->num_ops; i++)
		if (strcmp(t->ops[i].name, HANDLER) == 0)
			ours = i;
	if (theirs < 0 || theirs >= RTE_MEMPOOL_MAX_OPS_IDX || ours < 0) {
		tm_error("capture: %s has no mempool with the handler " HANDLER ", which the copies need",
			 ours < 0 ? "this process" : "the program");
		return -ENOTSUP;
	}
	moved = t->ops[theirs];
	t->ops[theirs] = t->ops[ours];
	t->ops[ours] = moved;
	t->num_ops = RTE_MAX(t->num_ops, (uint32_t)theirs + 1);
	return 0;
}

/* ------------------------------------------------------------------ requests */

/* A program that does not answer may execute the request later: ring and mempool must stay. */
static bool
unanswered(struct capture *c)
{
	if (rte_errno != ETIMEDOUT)
		return false;
	if (!c->keep)
		tm_error("capture: the program does not answer: its copies stay until the next capture of the port");
	c->keep = true;
	return true;
}

static void
disable(struct capture *c, uint32_t directions)
{
	for (unsigned int i = 0; i < RTE_DIM(direction_flags); i++)
		if ((directions & direction_flags[i]) != 0 &&
		    rte_pdump_disable_by_deviceid(c->device, c->all_queues ? RTE_PDUMP_ALL_QUEUES : c->queue,
						  direction_flags[i]) != 0)
			(void)unanswered(c);
}

static int
enable(struct capture *c, uint32_t direction)
{
	int ret = rte_pdump_enable_bpf_by_deviceid(c->device, c->all_queues ? RTE_PDUMP_ALL_QUEUES : c->queue,
						   direction | RTE_PDUMP_FLAG_PCAPNG, c->snaplen, c->ring, c->pool,
						   c->bpf);

	if (ret == 0) {
		c->enabled |= direction;
		return 0;
	}
	if (!unanswered(c))
		tm_error("capture: the program refuses: %s", rte_errno == EEXIST ?
			 "another program, such as dpdk-dumpcap, captures the port" : rte_strerror(rte_errno));
	return -EIO;
}

/* Names of ring and mempool: one capture of a port at a time. */
static const char *
object_name(const struct capture *c, char buf[RTE_RING_NAMESIZE])
{
	snprintf(buf, RTE_RING_NAMESIZE, "tm_capture_%u", (unsigned int)c->port);
	return buf;
}

/* The lock is free, but its ring is there: that capture was killed, and the program still copies into the ring. */
static int
killed_clean(struct capture *c)
{
	char name[RTE_RING_NAMESIZE];

	c->pool = rte_mempool_lookup(object_name(c, name));
	c->ring = rte_ring_lookup(name);
	if (c->ring == NULL && c->pool == NULL && rte_memzone_lookup(name) == NULL)
		return 0;
	tm_error("capture: removing what an earlier capture of port %u has left", (unsigned int)c->port);
	c->all_queues = true;
	for (unsigned int i = 0; i < RTE_DIM(direction_flags); i++)
		disable(c, direction_flags[i]);
	/* It may have captured one queue only. */
	c->all_queues = false;
	for (c->queue = 0; c->queue < (uint64_t)RTE_MAX(c->nb_queues[0], c->nb_queues[1]); c->queue++)
		disable(c, RTE_PDUMP_FLAG_RXTX);
	usleep(LEAVE_US);
	capture_free(c);
	return c->keep ? -ETIMEDOUT : 0;
}

/* Layout of pdump's memzone, of lib/pdump/rte_pdump.c since 21.11: rte_pdump_stats() needs a port of this process. */
struct pdump_memory {
	struct rte_pdump_stats queues[2][RTE_MAX_ETHPORTS][RTE_MAX_QUEUES_PER_PORT];
	const struct rte_memzone *memzone;
};

static int
counts_find(struct capture *c)
{
	const struct rte_memzone *mz = rte_memzone_lookup("rte_pdump_stats");
	const struct pdump_memory *memory;

	if (mz == NULL || mz->len < sizeof(*memory)) {
		tm_error("capture: the program has not called rte_pdump_init(), and cannot be captured");
		return -ENOTSUP;
	}
	memory = mz->addr;
	for (unsigned int i = 0; i < RTE_DIM(c->counts); i++)
		c->counts[i] = memory->queues[i][c->port];
	return 0;
}

void
capture_counts(const struct capture *c, struct rte_pdump_stats *sum)
{
	*sum = (struct rte_pdump_stats) { .accepted = 0 };
	for (unsigned int i = 0; i < RTE_DIM(c->counts); i++) {
		if ((c->directions & direction_flags[i]) == 0)
			continue;
		for (unsigned int q = 0; q < c->nb_queues[i]; q++) {
			const struct rte_pdump_stats *s = &c->counts[i][q];

			if (!c->all_queues && q != c->queue)
				continue;
			sum->accepted += __atomic_load_n(&s->accepted, __ATOMIC_RELAXED);
			sum->filtered += __atomic_load_n(&s->filtered, __ATOMIC_RELAXED);
			sum->nombuf += __atomic_load_n(&s->nombuf, __ATOMIC_RELAXED);
			sum->ringfull += __atomic_load_n(&s->ringfull, __ATOMIC_RELAXED);
		}
	}
}

static int
filter_make(struct capture *c)
{
	pcap_t *p = pcap_open_dead(DLT_EN10MB, UINT16_MAX);
	struct bpf_program program;
	int ret = p != NULL ? 0 : -ENOMEM;

	if (ret == 0 && pcap_compile(p, &program, c->filter, 1, PCAP_NETMASK_UNKNOWN) != 0) {
		tm_error("capture: --filter: %s", pcap_geterr(p));
		ret = -EINVAL;
	}
	if (ret == 0) {
		c->bpf = rte_bpf_convert(&program);
		pcap_freecode(&program);
		if (c->bpf == NULL) {
			tm_error("capture: --filter: DPDK cannot convert it: %s", rte_strerror(rte_errno));
			ret = -rte_errno;
		}
	}
	if (p != NULL)
		pcap_close(p);
	return ret;
}

/*
 * Make the mempool in a memzone of this program. Memory that the mempool reserves itself is freed by a function of this
 * process: after it was killed no other process could free it. 0 or negative errno.
 */
static int
pool_make(struct capture *c, const char *name, uint16_t room)
{
	struct rte_pktmbuf_pool_private private = { .mbuf_data_room_size = room };
	const struct rte_memzone *mz;
	size_t chunk, align;
	ssize_t bytes;

	c->pool = rte_mempool_create_empty(name, c->buffers, sizeof(struct rte_mbuf) + room, CACHE_SIZE,
					   sizeof(private), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (c->pool == NULL || rte_mempool_set_ops_byname(c->pool, HANDLER, NULL) != 0)
		return -ENOMEM;
	rte_pktmbuf_pool_init(c->pool, &private);
	bytes = rte_mempool_op_calc_mem_size_default(c->pool, c->buffers, 0, &chunk, &align);
	mz = bytes > 0 ? rte_memzone_reserve_aligned(name, bytes, SOCKET_ID_ANY, 0, align) : NULL;
	/* No device accesses these mbufs. */
	if (mz == NULL || rte_mempool_populate_iova(c->pool, mz->addr, RTE_BAD_IOVA, mz->len, NULL, NULL) <
	    (int)c->buffers)
		return -ENOMEM;
	rte_mempool_obj_iter(c->pool, rte_pktmbuf_init, NULL);
	return 0;
}

static int
memory_make(struct capture *c)
{
	uint64_t room = RTE_MIN(RTE_MIN(c->snaplen, c->frame_bytes) + ROOM_BYTES, (uint64_t)UINT16_MAX);
	bool given = c->buffers != 0;
	char name[RTE_RING_NAMESIZE];

	if (!given)
		c->buffers = RTE_MIN(BUFFERS_MAX, MEMORY_BYTES / (sizeof(struct rte_mbuf) + room));
	object_name(c, name);
	for (;;) {
		c->ring = rte_ring_create(name, rte_align32pow2(c->buffers + 1), SOCKET_ID_ANY, 0);
		if (c->ring != NULL && pool_make(c, name, room) == 0)
			return 0;
		if (given || c->buffers <= BUFFERS_MIN)
			break;
		capture_free(c);
		c->buffers /= 2;
	}
	tm_error("capture: no memory for %" PRIu64 " copies of %" PRIu64 " bytes: %s; give less --buffers or --snaplen, "
		 "or reserve hugepages", c->buffers, room, rte_strerror(rte_errno));
	return -ENOMEM;
}

int
capture_enable(struct capture *c)
{
	const struct capture options = *c;
	int ret = counts_find(c);

	if (ret == 0)
		ret = handlers_align();
	if (ret == 0) {
		ret = killed_clean(c);
		c->queue = options.queue;
		c->all_queues = options.all_queues;
	}
	if (ret == 0)
		ret = memory_make(c);
	if (ret == 0 && c->filter != NULL)
		ret = filter_make(c);
	for (unsigned int i = 0; i < RTE_DIM(direction_flags) && ret == 0; i++)
		if ((c->directions & direction_flags[i]) != 0)
			ret = enable(c, direction_flags[i]);
	return ret;
}

void
capture_disable(struct capture *c, bool ended)
{
	if (c->enabled == 0)
		return;
	if (!ended)
		disable(c, c->enabled);
	c->enabled = 0;
	usleep(LEAVE_US);
}

void
capture_free(struct capture *c)
{
	char name[RTE_RING_NAMESIZE];

	if (c->keep)
		return;
	rte_mempool_free(c->pool);
	rte_ring_free(c->ring);
	rte_free(c->bpf);
	(void)rte_memzone_free(rte_memzone_lookup(object_name(c, name)));
	c->pool = NULL;
	c->ring = NULL;
	c->bpf = NULL;
}
