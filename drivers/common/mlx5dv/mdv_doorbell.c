/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Doorbell pages at addresses that a secondary process can use, too.
 *
 * Processes share the structures of send queues, and with them the address of the doorbell register: a secondary
 * process maps the page of the register at the same address. libmlx5 maps the page where the kernel puts it, among
 * libraries and stacks, which other processes have in the same places if address space layout randomization is off.
 * Therefore send queues use a second mapping, where programs have nothing else.
 */

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>

#include "mdv_vfio.h"

/*
 * Only a hint: the kernel chooses another address if this one is in use or does not exist. It is beyond the memory of
 * EAL, which begins at 4 GiB and has at most 512 GiB by default (RTE_MAX_MEM_MB), and below all that Linux places.
 */
#define DOORBELL_HINT (UINT64_C(3) << 39)

/** Of all devices: the entries and their numbers of users. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/** The entry of a page, or a free one. NULL: all are in use. */
static struct mdv_doorbell *
entry_find(struct mdv_dev *dev, uint64_t offset)
{
	struct mdv_doorbell *table = mdv_own(dev)->doorbells, *unused = NULL;

	for (unsigned int i = 0; i < MDV_DOORBELLS_MAX; i++) {
		if (table[i].users != 0 && table[i].offset == offset)
			return &table[i];
		if (table[i].users == 0 && unused == NULL)
			unused = &table[i];
	}
	return unused;
}

static bool
page_map(struct mdv_dev *dev, struct mdv_doorbell *d, uint64_t offset)
{
	static uintptr_t hint = DOORBELL_HINT;
	const size_t bytes = sysconf(_SC_PAGESIZE);
	void *page = mmap((void *)hint, bytes, PROT_WRITE, MAP_SHARED, mdv_device_fd(dev), offset);

	if (page == MAP_FAILED) {
		MDV_LOG(NOTICE, dev->name, "no second mapping of a doorbell page: %s: secondary processes cannot send",
			mdv_errno_name(errno));
		return false;
	}
	/* Another place for each: a secondary process may still have the page of a queue that was destroyed. */
	hint += bytes;
	__atomic_store_n(&d->page, page, __ATOMIC_RELAXED);
	__atomic_store_n(&d->offset, offset, __ATOMIC_RELAXED);
	return true;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_device_fd)
int
mdv_device_fd(const struct mdv_dev *dev)
{
	return dev->mode == MDV_OPEN_VFIO ? dev->vfio->device_fd : dev->ibv->cmd_fd;
}

/* Through VFIO: BAR 0 is region 0, which is at the begin of the file, and UAR page n is at n * 4 KiB of it. */
static uint64_t
page_offset(const struct mdv_dev *dev, const struct mlx5dv_devx_uar *uar)
{
	return dev->mode == MDV_OPEN_VFIO ? (uint64_t)uar->page_id * MDV_ADAPTER_PAGE_BYTES : (uint64_t)uar->mmap_off;
}

void
mdv_doorbell_map(struct mdv_dev *dev, struct mdv_sq *sq)
{
	const uint64_t offset = page_offset(dev, sq->uar);
	struct mdv_doorbell *d;

	sq->db = NULL;
	/* Without hugepages there are no secondary processes. */
	if (mdv_device_fd(dev) < 0 || !rte_eal_has_hugepages())
		return;
	pthread_mutex_lock(&lock);
	d = entry_find(dev, offset);
	if (d == NULL)
		MDV_LOG(NOTICE, dev->name, "more than %u doorbell pages: secondary processes cannot send on all queues",
			MDV_DOORBELLS_MAX);
	else if (d->users != 0 || page_map(dev, d, offset)) {
		/* Release: page and offset are visible with it. */
		__atomic_fetch_add(&d->users, 1, __ATOMIC_RELEASE);
		sq->db = d;
		sq->db_reg = RTE_PTR_ADD(d->page, RTE_PTR_DIFF(sq->uar->reg_addr, sq->uar->base_addr));
	}
	pthread_mutex_unlock(&lock);
}

void
mdv_doorbell_unmap(struct mdv_sq *sq)
{
	if (sq->db == NULL)
		return;
	pthread_mutex_lock(&lock);
	if (__atomic_sub_fetch(&sq->db->users, 1, __ATOMIC_RELEASE) == 0)
		(void)munmap(sq->db->page, sysconf(_SC_PAGESIZE));
	pthread_mutex_unlock(&lock);
	sq->db = NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_doorbells)
const struct mdv_doorbell *
mdv_doorbells(const struct mdv_dev *dev)
{
	return mdv_own(dev)->doorbells;
}
