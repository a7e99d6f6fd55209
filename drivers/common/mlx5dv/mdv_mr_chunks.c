/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Memory that the device accesses of a mempool: chunks that share a key. */

#include <stdlib.h>
#include <unistd.h>

#include <rte_mbuf.h>
#include <rte_memory.h>

#include "mdv_mr.h"

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

		if (mdv_mr_page_floor(chunks[i].start, chunks[i].page_bytes) <=
		    mdv_mr_page_ceil(last->end, last->page_bytes)) {
			last->end = RTE_MAX(last->end, chunks[i].end);
			last->page_bytes = RTE_MIN(last->page_bytes, chunks[i].page_bytes);
		} else {
			chunks[++kept] = chunks[i];
		}
	}
	return kept + 1;
}

struct visit {
	void (*each)(void *arg, void *addr, size_t bytes);
	void *arg;
};

static void
visit_buffer(struct rte_mempool *mp __rte_unused, void *arg, void *obj, unsigned int i __rte_unused)
{
	const struct visit *v = arg;
	const struct rte_mbuf *m = obj;

	v->each(v->arg, m->buf_addr, m->buf_len);
}

void
mdv_mr_visit(struct rte_mempool *mp, void (*each)(void *arg, void *addr, size_t bytes), void *arg)
{
	struct visit v = { each, arg };
	struct rte_mempool_memhdr *memhdr;

	if (mdv_mr_pinned(mp))
		rte_mempool_obj_iter(mp, visit_buffer, &v);
	else
		STAILQ_FOREACH(memhdr, &mp->mem_list, next)
			each(arg, memhdr->addr, memhdr->len);
}

/** Page size of memory: of its memory segment if it is EAL's, else of the system. */
static size_t
page_bytes_of(const void *addr)
{
	const struct rte_memseg *segment = rte_mem_virt2memseg(addr, NULL);
	size_t system_page = sysconf(_SC_PAGESIZE);

	return segment != NULL ? RTE_MAX((size_t)segment->hugepage_sz, system_page) : system_page;
}

/** Adds memory. What begins on the last page of the chunk before, as most buffers do, makes that one longer. */
static void
chunk_add(void *arg, void *addr, size_t bytes)
{
	const uintptr_t start = (uintptr_t)addr;
	struct mr_chunk_list *l = arg;
	struct mr_chunk *last = l->n > 0 ? &l->chunks[l->n - 1] : NULL, *more;

	if (last != NULL && start >= last->start && start < mdv_mr_page_ceil(last->end, last->page_bytes)) {
		last->end = RTE_MAX(last->end, start + bytes);
		return;
	}
	if (l->n == l->room) {
		more = realloc(l->chunks, (l->room + 64) * sizeof(*more));
		l->full = l->full || more == NULL;
		if (more == NULL)
			return;
		l->chunks = more;
		l->room += 64;
	}
	l->chunks[l->n++] = (struct mr_chunk){ start, start + bytes, page_bytes_of(addr) };
}

void
mdv_mr_chunks_of(struct rte_mempool *mp, struct mr_chunk_list *list)
{
	mdv_mr_visit(mp, chunk_add, list);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mr_pinned)
bool
mdv_mr_pinned(struct rte_mempool *mp)
{
	const struct rte_pktmbuf_pool_private *priv = rte_mempool_get_priv(mp);

	/* Objects of rte_pktmbuf_pool_create_extbuf() have this size. Private data of other mempools means anything. */
	return mp->private_data_size >= sizeof(*priv) && priv->flags == RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF &&
	       mp->elt_size == sizeof(struct rte_mbuf) + priv->mbuf_priv_size + sizeof(struct rte_mbuf_ext_shared_info);
}
