/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Umems that a VFIO owner registers: lists of pages by IOVA. */
#include <inttypes.h>

#include "fw.h"

#define LOG_PAGE_MIN 12u
#define LOG_PAGE_MAX 40u

static void
umem_release(struct emu_obj *obj)
{
	emu_pages_free(((struct emu_umem *)obj)->pages);
}

struct emu_pages *
fw_pages_read(const struct prm_mtt *mtt, uint64_t n, unsigned log_page, uint64_t offset)
{
	struct emu_pages *pages = emu_pages_new(n, log_page, offset);
	uint64_t in_page = (1ull << log_page) - 1;

	if (pages == NULL)
		return NULL;
	pages->write = true;
	for (uint64_t i = 0; i < n; i++) {
		pages->pa[i] = ((uint64_t)prm_mtt_get_ptag_63_32(&mtt[i]) << 32 |
				(uint64_t)prm_mtt_get_ptag_31_8(&mtt[i]) << 8) & ~in_page;
		pages->write &= prm_mtt_get_wr_en(&mtt[i]);
	}
	return pages;
}

static int
umem_check(struct fw_cmd *c, const struct prm_umem *in, unsigned log_page)
{
	uint64_t n = prm_umem_get_num_of_mtt(in);
	uint64_t given = (c->in_len - c->desc->in_bytes_min) / PRM_MTT_BYTES;

	if (prm_umem_get_ats(in))
		return fw_refuse(c, FW_UMEM_ATS, "%s", "");
	if (log_page > LOG_PAGE_MAX)
		return fw_refuse(c, FW_UMEM_PAGE_SIZE, "2^%u", log_page);
	if (n == 0 || n > given)
		return fw_refuse(c, FW_UMEM_PAGES, "%" PRIu64 ", the inbox has %" PRIu64, n, given);
	if (prm_umem_get_page_offset(in) >> log_page != 0)
		return fw_refuse(c, FW_UMEM_OFFSET, "0x%x", prm_umem_get_page_offset(in));
	for (uint64_t i = 0; i < n; i++)
		if (!prm_mtt_get_rd_en(prm_umem_mtt_c(in, (unsigned)i)))
			return fw_refuse(c, FW_UMEM_PAGES, "%" PRIu64 " cannot be read", i);
	return 0;
}

int
fw_create_umem(struct fw_cmd *c)
{
	const struct prm_umem *in = prm_create_umem_in_umem(c->in);
	unsigned log_page = prm_umem_get_log_page_size(in) + LOG_PAGE_MIN;
	int ret = umem_check(c, in, log_page);
	struct emu_pages *pages;
	struct emu_umem *umem;

	if (ret != 0)
		return ret;
	pages = fw_pages_read(prm_umem_mtt_c(in, 0), prm_umem_get_num_of_mtt(in), log_page,
			      prm_umem_get_page_offset(in));
	if (pages == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "pages");
	ret = fw_create(c, EMU_OBJ_UMEM, sizeof(*umem), umem_release, &umem);
	if (ret != 0) {
		emu_pages_free(pages);
		return ret;
	}
	umem->pages = pages;
	umem->addr = pages->pa[0] + pages->offset;
	umem->len = (pages->n << log_page) - pages->offset;
	umem->access = pages->write ? EMU_ACCESS_LOCAL_WRITE : 0;
	return 0;
}
