/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Doorbell pages in a secondary process: at the addresses that they have in the primary process. */

#include <sys/mman.h>
#include <unistd.h>

#include "mlxpmd.h"
#include "mlxpmd_secondary.h"

/* 0 or -errno; the page is at its address, over nothing else. */
static int
page_map(const struct mlxpmd_pages *pages, const struct mdv_doorbell *want)
{
	const size_t bytes = sysconf(_SC_PAGESIZE);
	void *at = mmap(want->page, bytes, PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, pages->device_fd,
			want->offset);

	if (at == MAP_FAILED)
		return -errno;
	if (at == want->page)
		return 0;
	/* Before Linux 4.17 the flag is a hint. */
	(void)munmap(at, bytes);
	return -EEXIST;
}

static void
page_unmap(struct mdv_doorbell *have)
{
	if (have->users != 0)
		(void)munmap(have->page, sysconf(_SC_PAGESIZE));
	have->users = 0;
}

static void
device_close(struct mlxpmd_pages *pages)
{
	if (pages->device_fd >= 0)
		close(pages->device_fd);
	pages->device_fd = -1;
}

/* An entry can change meanwhile: then the epoch does, too, and it is looked at again. */
static void
doorbell_load(const struct mdv_doorbell *from, struct mdv_doorbell *to)
{
	/* Acquire: pairs with mdv_doorbell_map(), which stores page and offset first. */
	to->users = __atomic_load_n(&from->users, __ATOMIC_ACQUIRE);
	to->page = __atomic_load_n(&from->page, __ATOMIC_RELAXED);
	to->offset = __atomic_load_n(&from->offset, __ATOMIC_RELAXED);
}

int
mlxpmd_pages_sync(struct mlxpmd_pages *pages, const struct mlxpmd_port *port)
{
	const struct mdv_doorbell *table = mdv_doorbells(port->mdv);
	const uint32_t epoch = __atomic_load_n(&port->epoch, __ATOMIC_ACQUIRE);
	struct mdv_doorbell want;
	int rc = 0;

	for (unsigned int i = 0; pages->device_fd >= 0 && rc == 0 && i < MDV_DOORBELLS_MAX; i++) {
		struct mdv_doorbell *have = &pages->page[i];

		doorbell_load(&table[i], &want);
		/* The number of users may be as before, that of another page. */
		if (want.users == 0 ? have->users == 0 :
		    have->users != 0 && want.page == have->page && want.offset == have->offset)
			continue;
		page_unmap(have);
		rc = want.users != 0 ? page_map(pages, &want) : 0;
		if (rc == 0)
			*have = want;
	}
	__atomic_store_n(&pages->mute, pages->device_fd < 0 || rc != 0, __ATOMIC_RELAXED);
	/* Release: a burst that finds the epoch also finds the pages, or mute. */
	__atomic_store_n(&pages->epoch, epoch, __ATOMIC_RELEASE);
	if (rc == 0)
		return 0;
	return MLXPMD_FAIL(-rc, "port %u: the doorbell page at %p, as in the primary process, cannot be mapped: "
			   "%s%s", port->port_id, want.page, rte_strerror(-rc),
			   rc == -EEXIST ? ": the address is in use here: start this process again" : "");
}

void
mlxpmd_pages_unmap(struct mlxpmd_pages *pages)
{
	for (unsigned int i = 0; i < MDV_DOORBELLS_MAX; i++)
		page_unmap(&pages->page[i]);
	device_close(pages);
}

/*
 * A burst may be writing to the register: memory of this process takes the place of each page. Those mappings and the
 * descriptor are the last references to the device's file: without them the kernel destroys the queues of the primary
 * process (Linux, ib_uverbs_close()).
 */
void
mlxpmd_pages_replace(struct mlxpmd_pages *pages)
{
	for (unsigned int i = 0; i < MDV_DOORBELLS_MAX; i++)
		if (pages->page[i].users != 0)
			(void)mmap(pages->page[i].page, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	device_close(pages);
}
