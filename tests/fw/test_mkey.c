/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Memory keys and DMA: registered memory is accessible, nothing else. */
#include <errno.h>
#include <sys/mman.h>

#include "fw_fixture.h"

static struct fix f;

#define REFUSE_MKEY(change, why) \
	do { \
		struct prm_create_mkey_in in; \
		struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry(&in); \
		(void)mkc; \
		fix_mkey_in(&f, &in); \
		change; \
		CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(why)); \
	} while (0)

static void
test_create(void)
{
	struct emu_umem *readonly;

	CHECK(emu_umem_create(f.ctx, (uintptr_t)f.mem, FIX_MEM_BYTES, 0, &readonly) == 0);
	REFUSE_MKEY(prm_mkc_set_pd(mkc, 1), FW_NO_PD);
	REFUSE_MKEY(prm_create_mkey_in_set_mkey_umem_id(&in, 0), FW_NO_UMEM);
	REFUSE_MKEY(prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_PA), FW_MKEY_ACCESS_MODE);
	REFUSE_MKEY(prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_KLMS),
		    FW_MKEY_ACCESS_MODE);
	REFUSE_MKEY(prm_mkc_set_access_mode_4_2(mkc, 1), FW_MKEY_ACCESS_MODE);
	REFUSE_MKEY(prm_mkc_set_umr_en(mkc, 1), FW_MKEY_UMR);
	REFUSE_MKEY(prm_mkc_set_bsf_en(mkc, 1), FW_MKEY_FEATURE);
	REFUSE_MKEY(prm_mkc_set_free(mkc, 1), FW_MKEY_UMR);
	REFUSE_MKEY(prm_mkc_set_qpn(mkc, 0x1234), FW_MKEY_FEATURE);
	REFUSE_MKEY(prm_mkc_set_len(mkc, 0), FW_MKEY_LENGTH);
	REFUSE_MKEY(prm_mkc_set_length64(mkc, 1), FW_MKEY_LENGTH);
	REFUSE_MKEY(prm_mkc_set_start_addr(mkc, UINT64_MAX - 0xffff), FW_MKEY_LENGTH);
	REFUSE_MKEY(prm_mkc_set_start_addr(mkc, UINT64_MAX - 0xfff), FW_MKEY_LENGTH);
	REFUSE_MKEY(prm_mkc_set_log_page_size(mkc, 11), FW_MKEY_PAGE_SIZE);
	REFUSE_MKEY(prm_mkc_set_len(mkc, FIX_MEM_BYTES), FW_MKEY_RANGE);
	REFUSE_MKEY(prm_create_mkey_in_set_mkey_umem_offset(&in, UINT64_MAX), FW_MKEY_RANGE);
	REFUSE_MKEY(prm_mkc_set_start_addr(mkc, 8), FW_MKEY_ALIGN);
	REFUSE_MKEY((prm_mkc_set_start_addr(mkc, 0x1000), prm_mkc_set_log_page_size(mkc, 16),
		     prm_create_mkey_in_set_mkey_umem_offset(&in, 0x10000 -
				((uintptr_t)f.mem & 0xffff))), FW_MKEY_ALIGN);
	REFUSE_MKEY(prm_mkc_set_translations_octword_size(mkc, 7), FW_MKEY_TRANSLATIONS);
	REFUSE_MKEY(prm_create_mkey_in_set_mkey_umem_id(&in, readonly->obj.id), FW_MKEY_WRITE);
	REFUSE_MKEY((prm_create_mkey_in_set_mkey_umem_id(&in, readonly->obj.id),
		     prm_mkc_set_lw(mkc, 0)), FW_OK);
	CHECK_EQ(emu_obj_count(f.dev, EMU_OBJ_MKEY), 1);
}

/*
 * The device gets the page size of huge pages; a key with smaller pages does not fit them. The memory
 * is never accessed: the machine needs no huge pages.
 */
static void
test_huge(void)
{
	const size_t bytes = 4u << 20;
	void *huge = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_HUGETLB, -1, 0);
	struct emu_umem *umem = f.umem, was = *umem;

	CHECK_EQ(emu_umem_log_page(umem), 12);
	if (huge == MAP_FAILED) {
		fprintf(stderr, "this kernel has no huge pages: keys over them not tested\n");
		return;
	}
	umem->addr = (uintptr_t)huge;
	umem->len = bytes;
	CHECK_EQ(emu_umem_log_page(umem), 21);
	REFUSE_MKEY(prm_mkc_set_start_addr(mkc, (uintptr_t)huge + FIX_DATA_OFFSET),
		    FW_MKEY_UMEM_PAGE);
	REFUSE_MKEY((prm_mkc_set_start_addr(mkc, (uintptr_t)huge + FIX_DATA_OFFSET),
		     prm_mkc_set_log_page_size(mkc, 21)), FW_OK);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_MKEY, fix_id(&f)), 0);
	/* A part of a huge page: as large as the part, rounded up. */
	umem->len = 5 * 4096;
	CHECK_EQ(emu_umem_log_page(umem), 15);
	umem->addr = was.addr;
	umem->len = was.len;
	munmap(huge, bytes);
}

static void *
dma(uint32_t pd, uint32_t key, uint64_t addr, uint64_t len, enum emu_dma_dir dir)
{
	uint64_t before = emu_audit_total();
	void *p = emu_dma(f.dev, pd, key, addr, len, dir);

	/* A refusal is noted, a pass is not. */
	CHECK_EQ(emu_audit_total() - before, p == NULL);
	return p;
}

static void
test_dma(void)
{
	uint32_t index = fix_mkey(&f), key = index << 8 | 0x42, other_pd;
	uint64_t start = (uintptr_t)f.mem + FIX_DATA_OFFSET, end = start + 0x10000;
	uint8_t *data = f.mem + FIX_DATA_OFFSET;

	CHECK_EQ(emu_mkey_key(emu_obj_find(f.dev, EMU_OBJ_MKEY, index)), key);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_ALLOC_PD, 0), 0);
	other_pd = fix_id(&f);
	CHECK(dma(f.pd, key, start, 1, EMU_DMA_READ) == data);
	CHECK(dma(f.pd, key, start, 0x10000, EMU_DMA_WRITE) == data);
	CHECK(dma(f.pd, key, end - 1, 1, EMU_DMA_WRITE) == data + 0xffff);
	CHECK(dma(f.pd, key, start, 0x10001, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key, end, 1, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key, start - 1, 2, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key, start, UINT64_MAX, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key, UINT64_MAX, 2, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key, start + 8, UINT64_MAX - 4, EMU_DMA_READ) == NULL);
	CHECK(dma(other_pd, key, start, 1, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key ^ 1, start, 1, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key + 0x100, start, 1, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, 0, start, 1, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, 0x100, start, 1, EMU_DMA_READ) == NULL);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DESTROY_MKEY, index), 0);
	CHECK(dma(f.pd, key, start, 1, EMU_DMA_READ) == NULL);
}

static void
test_rights(void)
{
	uint64_t start = (uintptr_t)f.mem + FIX_DATA_OFFSET;
	uint32_t key;

	REFUSE_MKEY(prm_mkc_set_lw(mkc, 0), FW_OK);
	key = fix_id(&f) << 8 | 0x42;
	CHECK(dma(f.pd, key, start, 8, EMU_DMA_READ) != NULL);
	CHECK(dma(f.pd, key, start, 8, EMU_DMA_WRITE) == NULL);
	REFUSE_MKEY(prm_mkc_set_lr(mkc, 0), FW_OK);
	key = fix_id(&f) << 8 | 0x42;
	CHECK(dma(f.pd, key, start, 8, EMU_DMA_READ) == NULL);
	CHECK(dma(f.pd, key, start, 8, EMU_DMA_WRITE) != NULL);
}

/* Device addresses need not be host addresses. */
static void
test_iova(void)
{
	const struct prm_mkc *mkc;
	uint32_t key;

	REFUSE_MKEY(prm_mkc_set_start_addr(mkc, 0), FW_OK);
	key = fix_id(&f) << 8 | 0x42;
	CHECK(dma(f.pd, key, 0x123, 8, EMU_DMA_READ) == f.mem + FIX_DATA_OFFSET + 0x123);
	CHECK(dma(f.pd, key, 0xffff, 2, EMU_DMA_READ) == NULL);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_MKEY, key >> 8), 0);
	mkc = prm_query_mkey_out_memory_key_mkey_entry((void *)f.out);
	CHECK_EQ(prm_mkc_get_len(mkc), 0x10000);
	CHECK_EQ(prm_mkc_get_mkey_7_0(mkc), 0x42);
}

static void
test_verbs_mr(void)
{
	uint64_t start = (uintptr_t)f.mem;
	struct emu_mkey *mr;
	uint32_t key;

	CHECK(emu_mr_create(f.ctx, f.pd, start, 0x3001, start, 1, &mr) == 0);
	key = emu_mkey_key(mr);
	CHECK(dma(f.pd, key, start + 0x3000, 1, EMU_DMA_WRITE) == f.mem + 0x3000);
	CHECK(dma(f.pd, key, start + 0x3000, 2, EMU_DMA_WRITE) == NULL);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_MKEY, mr->obj.id), 0);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_DEALLOC_PD, f.pd), fix_code(FW_BUSY));
	CHECK_EQ(emu_fw_destroy(f.ctx, &mr->obj, NULL, 0), 0);
	CHECK(emu_mr_create(f.ctx, 0xbad, start, 16, start, 1, &mr) == -EINVAL);
	CHECK(emu_mr_create(f.ctx, f.pd, start, 16, UINT64_MAX - 3, 1, &mr) == -EINVAL);
}

int
main(void)
{
	fix_open(&f);
	test_create();
	test_huge();
	test_dma();
	test_rights();
	test_iova();
	test_verbs_mr();
	fix_close(&f);
	return fix_result("mkey");
}
