/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Host memory: registration, keys, doorbell pages, and the address lookup of every DMA. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "emu_audit.h"
#include "emu_fault.h"
#include "emu_obj.h"

/* IBV_ACCESS_*: LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC, MW_BIND let the device write. */
#define ACCESS_WRITES (1u | 2u | 8u | 16u)
#define ACCESS_REMOTE_WRITE 2u
#define LOG_PAGE_MIN 12u
#define ACCESS_REMOTE_READ 4u
#define ACCESS_REMOTE_ATOMIC 8u

/** Linux 6.11, PROCMAP_QUERY of linux/fs.h: the one mapping at an address, without the whole list. */
struct map_query {
	uint64_t size, flags, addr;
	uint64_t from, to, rights, page_bytes, offset, inode;
	uint32_t dev_major, dev_minor, name_bytes, id_bytes;
	uint64_t name, id;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)
#define MAP_READABLE 1u
#define MAP_WRITABLE 2u

/** Walk over the mappings of the process, in ascending order of address. */
struct map_check {
	uint64_t next, end; /* [next, end) has not been seen mapped yet */
	bool write;
	bool refused;
};

/* One line of the maps file: "from-to rwxp offset dev inode path". */
static void
map_line(struct map_check *c, const char *line)
{
	char *p;
	uint64_t from = strtoull(line, &p, 16);
	uint64_t to = *p == '-' ? strtoull(p + 1, &p, 16) : 0;

	if (to <= c->next || from >= c->end || c->next >= c->end)
		return;
	if (from > c->next || p[0] != ' ' || p[1] != 'r' || (c->write && p[2] != 'w'))
		c->refused = true;
	else
		c->next = to;
}

/* System calls: the functions of libc are interposed. */
static int
maps_open(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

/* 0 and the mapping at addr; -ENOENT: none; any other: the kernel does not support the ioctl. */
static int
map_at(int fd, uint64_t addr, struct map_query *q)
{
	memset(q, 0, sizeof(*q));
	q->size = sizeof(*q);
	q->addr = addr;
	return syscall(SYS_ioctl, fd, MAP_QUERY, q) == 0 ? 0 : -errno;
}

static int
maps_query(int fd, struct map_check *c)
{
	struct map_query q;
	int ret = 0;

	while (ret == 0 && c->next < c->end && !c->refused) {
		ret = map_at(fd, c->next, &q);
		if (ret != 0)
			continue;
		c->refused = (q.rights & MAP_READABLE) == 0 ||
			     (c->write && (q.rights & MAP_WRITABLE) == 0);
		c->next = q.to;
	}
	return ret == -ENOENT ? 0 : ret;
}

/*
 * The kernel pins pages at registration. Here the mappings are looked up instead, which does not
 * fault pages in.
 */
static int
maps_read(struct map_check *c)
{
	char buf[8192], line[256];
	int fd = maps_open("/proc/self/maps");
	size_t fill = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (maps_query(fd, c) == 0) {
		syscall(SYS_close, fd);
		return 0;
	}
	while ((n = syscall(SYS_read, fd, buf, sizeof(buf))) > 0 && c->next < c->end &&
	       !c->refused) {
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				/* Addresses and rights are at the start of the line; paths may be cut. */
				if (fill < sizeof(line) - 1)
					line[fill++] = buf[i];
				continue;
			}
			line[fill] = '\0';
			fill = 0;
			map_line(c, line);
		}
	}
	syscall(SYS_close, fd);
	return n < 0 ? -EIO : 0;
}

/** Looks for the mapping of an address in the detailed list, and for its page size there. */
struct page_check {
	uint64_t addr;
	bool inside;
	unsigned log_page; /* 0: not found yet */
};

static void
smaps_line(struct page_check *c, const char *line)
{
	static const char name[] = "KernelPageSize:";
	uint64_t kib, from, to;
	char *p;

	if (c->inside && strncmp(line, name, sizeof(name) - 1) == 0) {
		kib = strtoull(line + sizeof(name) - 1, NULL, 10);
		c->log_page = kib == 0 ? LOG_PAGE_MIN : 10 + (63 - (unsigned)__builtin_clzll(kib));
		return;
	}
	from = strtoull(line, &p, 16);
	if (*p != '-')
		return;
	to = strtoull(p + 1, &p, 16);
	c->inside = *p == ' ' && c->addr >= from && c->addr < to;
}

static unsigned
log_page_read(uint64_t addr)
{
	struct page_check c = {.addr = addr};
	int fd = maps_open("/proc/self/smaps");
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char line[512];

	while (f != NULL && c.log_page == 0 && fgets(line, sizeof(line), f) != NULL)
		smaps_line(&c, line);
	if (f != NULL)
		fclose(f);
	return c.log_page;
}

static unsigned
log_page_of(uint64_t addr)
{
	int fd = maps_open("/proc/self/maps");
	struct map_query q;
	bool known = fd >= 0 && map_at(fd, addr, &q) == 0 && q.page_bytes != 0;

	if (fd >= 0)
		syscall(SYS_close, fd);
	return known ? 63 - (unsigned)__builtin_clzll(q.page_bytes) : log_page_read(addr);
}

unsigned
emu_umem_log_page(const struct emu_umem *umem)
{
	unsigned span = LOG_PAGE_MIN, log_page;

	if (umem->pages != NULL)
		return umem->pages->log_page;
	log_page = log_page_of(umem->addr);

	/* At most the length, rounded up to a power of two (hw/mlx5/devx.c, devx_umem_find_best_pgsize()). */
	while (span < 63 && 1ull << span < umem->len)
		span++;
	if (log_page < LOG_PAGE_MIN)
		return LOG_PAGE_MIN;
	return log_page < span ? log_page : span;
}

/* Check that the last byte can be read: the mapping may reach beyond the end of its file. */
static bool
byte_readable(uint64_t addr)
{
	uint8_t byte;
	struct iovec local = {&byte, 1};
	struct iovec remote = {(void *)(uintptr_t)addr, 1};

	/* If the call is not permitted, assume that the memory is readable. */
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 || errno != EFAULT;
}

int
emu_mem_check(uint64_t addr, uint64_t len, bool write)
{
	struct map_check c = {.next = addr, .end = addr + len, .write = write};
	int ret;

	if (len == 0 || addr + len < addr)
		return -EINVAL;
	ret = maps_read(&c);
	if (ret != 0)
		return ret;
	if (c.refused || c.next < c.end)
		return -EFAULT;
	return byte_readable(addr + len - 1) ? 0 : -EFAULT;
}

int
emu_umem_create(struct emu_ctx *ctx, uint64_t addr, uint64_t len, uint32_t access,
		struct emu_umem **out)
{
	struct emu_umem *umem;
	int ret = emu_fault_errno(EMU_ON_UMEM_REG, ctx->dev, "umem");

	if (ret != 0)
		return ret;
	ret = emu_mem_check(addr, len, (access & ACCESS_WRITES) != 0);
	if (ret != 0) {
		emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL,
			  "umem 0x%" PRIx64 "+0x%" PRIx64 " access 0x%x: %s", addr, len, access,
			  ret == -EINVAL ? "empty or wraps around" : "not mapped with this right");
		return ret;
	}
	umem = emu_obj_new(ctx->dev, ctx, EMU_OBJ_UMEM, sizeof(*umem), NULL);
	if (umem == NULL)
		return -ENOMEM;
	umem->addr = addr;
	umem->len = len;
	umem->access = access;
	*out = umem;
	return 0;
}

void *
emu_umem_window(struct emu_umem *umem, uint64_t offset, uint64_t len)
{
	if (offset > umem->len || len > umem->len - offset)
		return NULL;
	if (umem->pages != NULL)
		return emu_pages_at(umem->obj.ctx->iommu, umem->pages, offset, len,
				    (umem->access & ACCESS_WRITES) != 0);
	return (void *)(uintptr_t)(umem->addr + offset);
}

/* Whether programs may map the page: of verbs, since VFIO maps the whole BAR. */
static void
uar_mappable(const struct emu_ctx *ctx, const struct emu_uar *uar, bool yes)
{
	if (ctx->uar_base == EMU_UAR_OFFSET)
		((uint8_t *)ctx->file)[EMU_MAP_TABLE_OFFSET + EMU_MAP_TABLE_UAR + uar->obj.id] = yes;
}

/* The engine polls the page until it is removed from its list. */
static void
uar_release(struct emu_obj *obj)
{
	uar_mappable(obj->ctx, (struct emu_uar *)obj, false);
	emu_machine_of(obj->dev)->dp_ops->forget(obj);
}

int
emu_uar_create(struct emu_ctx *ctx, struct emu_uar **out)
{
	struct emu_uar *uar = emu_obj_new(ctx->dev, ctx, EMU_OBJ_UAR, sizeof(*uar), uar_release);

	if (uar == NULL)
		return -ENOMEM;
	uar->offset = ctx->uar_base + (uint64_t)uar->obj.id * EMU_PAGE_BYTES;
	if (uar->offset + EMU_PAGE_BYTES > ctx->uar_end) {
		emu_obj_destroy(&uar->obj);
		return -ENOSPC;
	}
	uar->page = (volatile uint8_t *)ctx->file + uar->offset;
	memset((uint8_t *)ctx->file + uar->offset, 0, EMU_PAGE_BYTES);
	uar_mappable(ctx, uar, true);
	*out = uar;
	return 0;
}

static void
mr_release(struct emu_obj *obj)
{
	struct emu_mkey *mkey = (struct emu_mkey *)obj;
	struct emu_obj *pd = emu_obj_find(obj->dev, EMU_OBJ_PD, mkey->pd);

	if (pd != NULL)
		emu_obj_unref(pd);
}

int
emu_mr_create(struct emu_ctx *ctx, uint32_t pdn, uint64_t addr, uint64_t len, uint64_t iova,
	      uint32_t access, struct emu_mkey **out)
{
	struct emu_obj *pd = emu_obj_find(ctx->dev, EMU_OBJ_PD, pdn);
	bool write = (access & ACCESS_WRITES) != 0;
	struct emu_mkey *mkey;
	int ret = emu_fault_errno(EMU_ON_MR_REG, ctx->dev, "MR");

	if (ret != 0)
		return ret;
	ret = emu_mem_check(addr, len, write);
	if (ret == 0 && (pd == NULL || pd->ctx != ctx || iova + len < iova))
		ret = -EINVAL;
	if (ret != 0) {
		emu_audit(ctx->dev, EMU_AUDIT_BAD_CALL,
			  "MR 0x%" PRIx64 "+0x%" PRIx64 " iova 0x%" PRIx64
			  " access 0x%x PD 0x%x refused: %s",
			  addr, len, iova, access, pdn, strerror(-ret));
		return ret;
	}
	mkey = emu_obj_new(ctx->dev, ctx, EMU_OBJ_MKEY, sizeof(*mkey), mr_release);
	if (mkey == NULL)
		return -ENOMEM;
	/* The variant is incremented from key to key, as in mlx5_ib (assign_mkey_variant()). */
	mkey->variant = (uint8_t)(mkey->obj.id * 7 + 0x11);
	mkey->pd = pdn;
	mkey->local_read = true;
	mkey->local_write = write;
	mkey->remote_read = (access & ACCESS_REMOTE_READ) != 0;
	mkey->remote_write = (access & ACCESS_REMOTE_WRITE) != 0;
	mkey->remote_atomic = (access & ACCESS_REMOTE_ATOMIC) != 0;
	mkey->start = iova;
	mkey->len = len;
	mkey->host = addr;
	emu_obj_ref(pd);
	*out = mkey;
	return 0;
}

/* The first two cases are the ones of every frame. */
static inline bool
has_right(const struct emu_mkey *mkey, enum emu_dma_dir dir)
{
	if (dir == EMU_DMA_WRITE)
		return mkey->local_write;
	if (dir == EMU_DMA_READ)
		return mkey->local_read;
	if (dir == EMU_DMA_REMOTE_WRITE)
		return mkey->remote_write;
	return dir == EMU_DMA_REMOTE_READ ? mkey->remote_read : mkey->remote_atomic;
}

static const char *
dma_refusal(const struct emu_mkey *mkey, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
	    enum emu_dma_dir dir)
{
	static const char *const lacks[] = {
		[EMU_DMA_READ] = "key without read access",
		[EMU_DMA_WRITE] = "key without write access",
		[EMU_DMA_REMOTE_READ] = "key without remote read access",
		[EMU_DMA_REMOTE_WRITE] = "key without remote write access",
		[EMU_DMA_REMOTE_ATOMIC] = "key without remote atomic access",
	};

	if (mkey == NULL || mkey->variant != (key & 0xff))
		return "unknown key";
	if (mkey->pd != pd)
		return "key of another PD";
	if (addr < mkey->start || addr - mkey->start > mkey->len ||
	    len > mkey->len - (addr - mkey->start))
		return "outside the key's range";
	return __builtin_expect(has_right(mkey, dir), 1) ? NULL : lacks[dir];
}

void
emu_mkey_resolve(struct emu_mkey *mkey)
{
	void *host = emu_pages_find(mkey->obj.ctx->iommu, mkey->pages, mkey->at, mkey->len,
				    mkey->local_write || mkey->remote_write);

	mkey->whole = host != NULL;
	mkey->host = (uintptr_t)host;
	mkey->obj.dev->mkey_changes++;
}

/* A key whose memory is not completely mapped: look up the memory of this access only. */
static void *
dma_piece(const struct emu_mkey *mkey, uint64_t at, uint64_t len, enum emu_dma_dir dir)
{
	static uint64_t nothing;

	if (len == 0)
		return &nothing;
	return emu_pages_at(mkey->obj.ctx->iommu, mkey->pages, mkey->at + at, len,
			    dir != EMU_DMA_READ && dir != EMU_DMA_REMOTE_READ);
}

void *
emu_dma(struct emu_dev *dev, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
	enum emu_dma_dir dir)
{
	const struct emu_mkey *mkey = emu_obj_find(dev, EMU_OBJ_MKEY, key >> 8);
	const char *why = dma_refusal(mkey, pd, key, addr, len, dir);
	void *data;

	if (__builtin_expect(why == NULL && mkey->obj.given_back, 0))
		why = "its memory region was deregistered before the device was quiesced";
	if (__builtin_expect(why != NULL, 0)) {
		emu_audit(dev, mkey != NULL && mkey->obj.given_back ? EMU_AUDIT_GIVEN_BACK : EMU_AUDIT_BAD_KEY,
			  "DMA %s 0x%" PRIx64 "+0x%" PRIx64 " key 0x%x PD 0x%x: %s",
			  dir == EMU_DMA_READ || dir == EMU_DMA_REMOTE_READ ? "read" : "write",
			  addr, len, key, pd, why);
		return NULL;
	}
	if (__builtin_expect(mkey->pages != NULL && !mkey->whole, 0))
		return dma_piece(mkey, addr - mkey->start, len, dir);
	data = (void *)(uintptr_t)(mkey->host + (addr - mkey->start));
	if (emu_fault_set_at(EMU_ON_DMA_READ) &&
	    (dir == EMU_DMA_READ || dir == EMU_DMA_REMOTE_READ)) {
		struct emu_fault_event e = {.kind = EMU_ON_DMA_READ, .dev = dev};

		return emu_fault_set_copy(&e, data, len);
	}
	return data;
}
