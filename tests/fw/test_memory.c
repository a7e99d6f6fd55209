/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Registration looks at the mappings: unmapped, protected, wrapped ranges and files' ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fw_fixture.h"

static struct fix f;

static int
reg(const void *addr, uint64_t len, uint32_t access)
{
	struct emu_umem *umem;
	int ret = emu_umem_create(f.ctx, (uintptr_t)addr, len, access, &umem);

	if (ret == 0)
		CHECK(emu_obj_destroy(&umem->obj) == 0);
	return ret;
}

/* Three pages of which the middle one is something else. */
static void
test_holes(void)
{
	uint8_t *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	CHECK(reg(p, 3 * 4096, 1) == 0);
	mprotect(p + 4096, 4096, PROT_READ);
	CHECK(reg(p, 3 * 4096, 1) == -EFAULT);
	CHECK(reg(p, 3 * 4096, 0) == 0);
	CHECK(reg(p, 4096, 1) == 0);
	CHECK(reg(p + 8192, 4096, 1) == 0);
	CHECK(reg(p + 8191, 2, 1) == -EFAULT);
	mprotect(p + 4096, 4096, PROT_NONE);
	CHECK(reg(p, 3 * 4096, 0) == -EFAULT);
	munmap(p + 4096, 4096);
	CHECK(reg(p, 3 * 4096, 0) == -EFAULT);
	CHECK(reg(p, 4097, 0) == -EFAULT);
	CHECK(reg(p + 4000, 96, 1) == 0);
	munmap(p, 4096);
	CHECK(reg(p, 16, 0) == -EFAULT);
	munmap(p + 8192, 4096);
}

static void
test_arithmetic(void)
{
	CHECK(reg(f.mem, 0, 0) == -EINVAL);
	CHECK(reg((void *)(UINTPTR_MAX - 100), 200, 0) == -EINVAL);
	CHECK(reg(NULL, 16, 0) == -EFAULT);
	CHECK(reg((void *)(uintptr_t)0xffff800000000000ull, 16, 0) == -EFAULT);
}

/* A mapping longer than its file has inaccessible pages. */
static void
test_past_file_end(void)
{
	char name[] = "/tmp/fw_memory_XXXXXX";
	int fd = mkstemp(name);
	uint8_t *p;

	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(reg(p, 4096, 1) == 0);
	CHECK(reg(p, 8192, 1) == -EFAULT);
	munmap(p, 8192);
	close(fd);
	unlink(name);
}

/* Memory is looked at, not touched: no page of a fresh mapping becomes resident but the last. */
static void
test_untouched(void)
{
	size_t pages = 64;
	uint8_t *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned char in_core[64];
	unsigned n = 0;

	madvise(p, pages * 4096, MADV_NOHUGEPAGE);
	CHECK(reg(p, pages * 4096, 1) == 0);
	CHECK(mincore(p, pages * 4096, in_core) == 0);
	for (size_t i = 0; i < pages; i++)
		n += in_core[i] & 1;
	CHECK(n <= 1);
	munmap(p, pages * 4096);
}

static void
test_window(void)
{
	CHECK(emu_umem_window(f.umem, 0, FIX_MEM_BYTES) == f.mem);
	CHECK(emu_umem_window(f.umem, FIX_MEM_BYTES - 8, 8) == f.mem + FIX_MEM_BYTES - 8);
	CHECK(emu_umem_window(f.umem, FIX_MEM_BYTES - 8, 9) == NULL);
	CHECK(emu_umem_window(f.umem, FIX_MEM_BYTES + 1, 0) == NULL);
	CHECK(emu_umem_window(f.umem, UINT64_MAX, 2) == NULL);
	CHECK(emu_umem_window(f.umem, 8, UINT64_MAX) == NULL);
}

static void
test_uar(void)
{
	struct emu_uar *a = f.uar, *b;

	CHECK(emu_uar_create(f.ctx, &b) == 0);
	CHECK(a->obj.id != b->obj.id && a->obj.id != 0);
	CHECK_EQ(b->offset, EMU_UAR_OFFSET + b->obj.id * EMU_PAGE_BYTES);
	CHECK(b->page == (uint8_t *)f.file + b->offset);
	CHECK(b->offset + EMU_PAGE_BYTES <= EMU_FILE_BYTES);
	CHECK(emu_obj_destroy(&b->obj) == 0);
}

int
main(void)
{
	fix_open(&f);
	test_holes();
	test_arithmetic();
	test_past_file_end();
	test_untouched();
	test_window();
	test_uar();
	fix_close(&f);
	return fix_result("memory");
}
