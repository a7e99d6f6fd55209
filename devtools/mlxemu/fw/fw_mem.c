/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* PD, transport domain, memory key. */
#include <inttypes.h>

#include "fw.h"

#define LOG_PAGE_MIN 12u
/* Access mode: access_mode_1_0 and access_mode_4_2 of the mkey context. */
#define ACCESS_MODE(mkc) \
	(prm_mkc_get_access_mode_1_0(mkc) | prm_mkc_get_access_mode_4_2(mkc) << 2)
/* qpn of a key for all queues. */
#define ANY_QPN 0xffffffu

int
fw_alloc_pd(struct fw_cmd *c)
{
	struct emu_obj *pd;

	return fw_create(c, EMU_OBJ_PD, sizeof(*pd), NULL, &pd);
}

int
fw_alloc_td(struct fw_cmd *c)
{
	struct emu_obj *td;

	return fw_create(c, EMU_OBJ_TD, sizeof(*td), NULL, &td);
}

static void
mkey_release(struct emu_obj *obj)
{
	fw_holds_drop(&((struct fw_mkey *)obj)->holds);
	emu_pages_free(((struct fw_mkey *)obj)->mkey.own_pages);
}

static int
mkey_features_check(struct fw_cmd *c, const struct prm_mkc *mkc)
{
	if (ACCESS_MODE(mkc) != PRM_MKC_ACCESS_MODE_MTT)
		return fw_refuse(c, FW_MKEY_ACCESS_MODE, "access mode %u", ACCESS_MODE(mkc));
	/* Linux, mlx5e_create_umr_mkey(); rdma-core, mlx5dv_create_mkey(). */
	if (prm_mkc_get_free(mkc) || prm_mkc_get_umr_en(mkc))
		return fw_refuse(c, FW_MKEY_UMR, "free %u, umr_en %u", prm_mkc_get_free(mkc), prm_mkc_get_umr_en(mkc));
	if (prm_mkc_get_bsf_en(mkc) || prm_mkc_get_sync_umr(mkc) || prm_mkc_get_crypto_en(mkc) ||
	    prm_mkc_get_bsf_octword_size(mkc) || prm_mkc_get_ma_translation_mode(mkc) ||
	    prm_mkc_get_crossing_target_vhca_id(mkc))
		return fw_refuse(c, FW_MKEY_FEATURE,
				 "%s", "BSF, crypto, translation mode or crossing");
	/*
	 * Linux, set_mkc_access_pd_addr_fields() sets each bit by its capability.
	 * assumed: CREATE_MKEY is refused for a bit of relaxed ordering without its capability. Other reading: it is
	 * ignored. Test: fw/test_caps.c.
	 */
	if ((prm_mkc_get_relaxed_ordering_write(mkc) && !c->dev->profile->relaxed_ordering_write) ||
	    (prm_mkc_get_relaxed_ordering_read(mkc) && !c->dev->profile->relaxed_ordering_read))
		return fw_refuse(c, FW_MKEY_RELAXED, "write %u, read %u",
				 prm_mkc_get_relaxed_ordering_write(mkc),
				 prm_mkc_get_relaxed_ordering_read(mkc));
	if (prm_mkc_get_qpn(mkc) != ANY_QPN)
		return fw_refuse(c, FW_MKEY_FEATURE, "bound to QP 0x%x", prm_mkc_get_qpn(mkc));
	return 0;
}

/* Computes the number of pages of the range; refuses a translation table that is too small. */
static int
mkey_pages_check(struct fw_cmd *c, const struct prm_mkc *mkc, uint64_t *pages)
{
	uint64_t start = prm_mkc_get_start_addr(mkc), len = prm_mkc_get_len(mkc);
	unsigned log_page = prm_mkc_get_log_page_size(mkc);

	if (prm_mkc_get_length64(mkc) || len == 0 || start + len < start)
		return fw_refuse(c, FW_MKEY_LENGTH, "0x%" PRIx64 "+0x%" PRIx64, start, len);
	if (log_page < LOG_PAGE_MIN || log_page > 40)
		return fw_refuse(c, FW_MKEY_PAGE_SIZE, "%u", log_page);
	*pages = ((start & ((1ull << log_page) - 1)) + len + (1ull << log_page) - 1) >> log_page;
	return 0;
}

/* Two 8-byte entries make an octword. */
static int
mkey_table_check(struct fw_cmd *c, const struct prm_mkc *mkc, uint64_t pages)
{
	if (prm_mkc_get_translations_octword_size(mkc) >= pages / 2)
		return 0;
	return fw_refuse(c, FW_MKEY_TRANSLATIONS, "%u octwords for %" PRIu64 " pages",
			 prm_mkc_get_translations_octword_size(mkc), pages);
}

/* Checks that the range is inside the umem. */
static int
mkey_range_check(struct fw_cmd *c, const struct prm_mkc *mkc, struct emu_umem *umem)
{
	uint64_t start = prm_mkc_get_start_addr(mkc), len = prm_mkc_get_len(mkc);
	uint64_t offset = prm_create_mkey_in_get_mkey_umem_offset(c->in);
	unsigned log_page = prm_mkc_get_log_page_size(mkc);
	uint64_t in_page, pages;
	int ret = mkey_pages_check(c, mkc, &pages);

	if (ret != 0)
		return ret;
	if (offset > umem->len || len > umem->len - offset)
		return fw_refuse(c, FW_MKEY_RANGE, "umem 0x%x has 0x%" PRIx64
				 " bytes, wanted 0x%" PRIx64 "+0x%" PRIx64,
				 umem->obj.id, umem->len, offset, len);
	/* The mkey uses the umem's translation table, whose page size the kernel has chosen. */
	if (log_page < emu_umem_log_page(umem))
		return fw_refuse(c, FW_MKEY_UMEM_PAGE, "2^%u, the umem has huge pages: 2^%u",
				 log_page, emu_umem_log_page(umem));
	/* The table has whole pages: offsets inside a page must be equal. */
	in_page = start & ((1ull << log_page) - 1);
	if (in_page != ((umem->addr + offset) & ((1ull << log_page) - 1)))
		return fw_refuse(c, FW_MKEY_ALIGN, "0x%" PRIx64 " with pages of 2^%u", start,
				 log_page);
	ret = mkey_table_check(c, mkc, pages);
	if (ret != 0)
		return ret;
	if (prm_mkc_get_lw(mkc) && (umem->access & EMU_ACCESS_LOCAL_WRITE) == 0)
		return fw_refuse(c, FW_MKEY_WRITE, "umem 0x%x", umem->obj.id);
	return 0;
}

static int
mkey_new(struct fw_cmd *c, const struct prm_mkc *mkc, struct emu_obj *pd, struct fw_mkey **out)
{
	struct fw_mkey *mkey;
	int ret = fw_create(c, EMU_OBJ_MKEY, sizeof(*mkey), mkey_release, &mkey);

	if (ret != 0)
		return ret;
	fw_hold(&mkey->holds, pd);
	mkey->mkc = *mkc;
	mkey->mkey.variant = (uint8_t)prm_mkc_get_mkey_7_0(mkc);
	mkey->mkey.pd = pd->id;
	mkey->mkey.local_read = prm_mkc_get_lr(mkc);
	mkey->mkey.local_write = prm_mkc_get_lw(mkc);
	mkey->mkey.remote_read = prm_mkc_get_rr(mkc);
	mkey->mkey.remote_write = prm_mkc_get_rw(mkc);
	mkey->mkey.remote_atomic = prm_mkc_get_a(mkc);
	mkey->mkey.start = prm_mkc_get_start_addr(mkc);
	mkey->mkey.len = prm_mkc_get_len(mkc);
	*out = mkey;
	return 0;
}

static int
mkey_over_umem(struct fw_cmd *c, const struct prm_mkc *mkc, struct emu_obj *pd)
{
	uint64_t offset = prm_create_mkey_in_get_mkey_umem_offset(c->in);
	struct emu_umem *umem;
	struct fw_mkey *mkey;
	int ret = fw_need(c, EMU_OBJ_UMEM, prm_create_mkey_in_get_mkey_umem_id(c->in), FW_NO_UMEM,
			  &umem);

	if (ret == 0)
		ret = mkey_range_check(c, mkc, umem);
	if (ret == 0)
		ret = mkey_new(c, mkc, pd, &mkey);
	if (ret != 0)
		return ret;
	fw_hold(&mkey->holds, &umem->obj);
	mkey->mkey.umem = umem;
	mkey->mkey.host = umem->addr + offset;
	if (umem->pages == NULL)
		return 0;
	mkey->mkey.pages = umem->pages;
	mkey->mkey.at = offset;
	emu_mkey_resolve(&mkey->mkey);
	return 0;
}

/*
 * A key with its own translation table, as the owner of a VFIO function creates them. The memory is
 * checked when it is used: an unmapped page is an error of that access.
 */
static int
mkey_over_table(struct fw_cmd *c, const struct prm_mkc *mkc, struct emu_obj *pd)
{
	const struct prm_create_mkey_in *in = c->in;
	const void *table = (const uint8_t *)c->in + c->desc->in_bytes_min;
	uint64_t given = prm_create_mkey_in_get_translations_octword_actual_size(in) * 2ull;
	unsigned log_page = prm_mkc_get_log_page_size(mkc);
	struct emu_pages *pages;
	struct fw_mkey *mkey;
	uint64_t n;
	int ret = mkey_pages_check(c, mkc, &n);

	if (ret == 0)
		ret = mkey_table_check(c, mkc, n);
	if (ret != 0)
		return ret;
	if (n > given || n > (c->in_len - c->desc->in_bytes_min) / PRM_MTT_BYTES)
		return fw_refuse(c, FW_MKEY_TABLE, "%" PRIu64 " pages, %" PRIu64 " in %zu bytes", n,
				 given, c->in_len);
	pages = fw_pages_read(table, n, log_page, 0);
	if (pages == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "pages");
	ret = mkey_new(c, mkc, pd, &mkey);
	if (ret != 0) {
		emu_pages_free(pages);
		return ret;
	}
	/* Without pg_access the entries have no rights of their own. */
	if (prm_create_mkey_in_get_pg_access(in) && !pages->write)
		mkey->mkey.local_write = mkey->mkey.remote_write = mkey->mkey.remote_atomic = false;
	mkey->mkey.own_pages = pages;
	mkey->mkey.pages = pages;
	mkey->mkey.at = mkey->mkey.start & ((1ull << log_page) - 1);
	emu_mkey_resolve(&mkey->mkey);
	return 0;
}

int
fw_create_mkey(struct fw_cmd *c)
{
	struct prm_create_mkey_in *in = c->in;
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry(in);
	struct emu_obj *pd;
	int ret = mkey_features_check(c, mkc);

	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_PD, prm_mkc_get_pd(mkc), FW_NO_PD, &pd);
	if (ret != 0)
		return ret;
	return prm_create_mkey_in_get_mkey_umem_valid(in) ? mkey_over_umem(c, mkc, pd)
							   : mkey_over_table(c, mkc, pd);
}

int
fw_query_mkey(struct fw_cmd *c)
{
	const struct emu_mkey *mkey = (const struct emu_mkey *)c->obj;
	struct prm_mkc *mkc = prm_query_mkey_out_memory_key_mkey_entry(c->out);

	/* A verbs MR was not made by a command and has no context of its own. */
	if (mkey->umem != NULL || mkey->own_pages != NULL) {
		*mkc = ((const struct fw_mkey *)mkey)->mkc;
		return 0;
	}
	prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_MTT);
	prm_mkc_set_qpn(mkc, ANY_QPN);
	prm_mkc_set_mkey_7_0(mkc, mkey->variant);
	prm_mkc_set_lr(mkc, mkey->local_read);
	prm_mkc_set_lw(mkc, mkey->local_write);
	prm_mkc_set_rr(mkc, mkey->remote_read);
	prm_mkc_set_rw(mkc, mkey->remote_write);
	prm_mkc_set_a(mkc, mkey->remote_atomic);
	prm_mkc_set_pd(mkc, mkey->pd);
	prm_mkc_set_start_addr(mkc, mkey->start);
	prm_mkc_set_len(mkc, mkey->len);
	prm_mkc_set_log_page_size(mkc, LOG_PAGE_MIN);
	return 0;
}
