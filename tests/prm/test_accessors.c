/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Generated accessors: where they write, what they leave alone, arrays, nesting, blobs. */

#include "prm.h"
#include "../check.h"

/* log_cq_size is bits 28..24 of dword 3 of a CQ context: byte 12, low five bits. */
static void
test_bytes_on_the_wire(void)
{
	struct prm_cqc cqc = { { 0 } };
	const uint8_t *b = (const uint8_t *)&cqc;

	prm_cqc_set_log_cq_size(&cqc, 10);
	prm_cqc_set_uar_page(&cqc, 0x123456);
	CHECK(b[12] == 10 && b[13] == 0x12 && b[14] == 0x34 && b[15] == 0x56);
	CHECK(prm_cqc_get_log_cq_size(&cqc) == 10);
	CHECK(prm_cqc_get_uar_page(&cqc) == 0x123456);
	for (unsigned int i = 0; i < sizeof(cqc); i++)
		CHECK((i >= 12 && i < 16) || b[i] == 0);
}

static void
test_neighbours_stay(void)
{
	struct prm_cqc cqc;

	memset(&cqc, 0xff, sizeof(cqc));
	prm_cqc_set_log_cq_size(&cqc, 0);
	CHECK(cqc.dw[3] == PRM_BE32(0xe0ffffffu));
	prm_cqc_set_log_cq_size(&cqc, PRM_CQC_LOG_CQ_SIZE_MAX);
	CHECK(cqc.dw[3] == 0xffffffffu);
}

static void
test_wide_fields(void)
{
	struct prm_cqc cqc = { { 0 } };
	const uint8_t *b = (const uint8_t *)&cqc;
	static const uint8_t want[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	prm_cqc_set_dbr_addr(&cqc, 0x0102030405060708ull);
	CHECK(memcmp(b + 56, want, 8) == 0);
	CHECK(prm_cqc_get_dbr_addr(&cqc) == 0x0102030405060708ull);
	/* A value replaces the one before. */
	prm_cqc_set_dbr_addr(&cqc, 0x1020000000000001ull);
	CHECK(prm_cqc_get_dbr_addr(&cqc) == 0x1020000000000001ull);
}

#ifndef PRM_DEBUG
static void
test_excess_bits_dropped(void)
{
	struct prm_cqc cqc = { { 0 } };

	prm_cqc_set_log_cq_size(&cqc, 0x3f);
	CHECK(cqc.dw[3] == PRM_BE32(0x1f000000u));
}
#endif

static void
test_nested(void)
{
	struct prm_create_sq_in in = { { 0 } };
	struct prm_wq *wq = prm_sqc_wq(prm_create_sq_in_ctx(&in));
	const struct prm_create_sq_in *in_c = &in;

	CHECK((uint8_t *)prm_create_sq_in_ctx(&in) - (uint8_t *)&in == 32);
	CHECK((uint8_t *)wq - (uint8_t *)&in == 32 + 48);
	prm_wq_set_log_wq_sz(wq, 9);
	CHECK(prm_wq_get_log_wq_sz(prm_sqc_wq_c(prm_create_sq_in_ctx_c(in_c))) == 9);
}

static void
test_trailing_arrays(void)
{
	uint32_t mbox[(PRM_CREATE_RQT_IN_BYTES + 4 * 4) / 4] = { 0 };
	struct prm_create_rqt_in *in = (struct prm_create_rqt_in *)mbox;
	struct prm_rqtc *rqtc = prm_create_rqt_in_rqt_context(in);

	for (unsigned int i = 0; i < 4; i++)
		prm_rq_num_set_rq_num(prm_rqtc_rq_num(rqtc, i), 0x100 + i);
	for (unsigned int i = 0; i < 4; i++) {
		CHECK(mbox[PRM_CREATE_RQT_IN_DWORDS + i] == PRM_BE32(0x100 + i));
		CHECK(prm_rq_num_get_rq_num(prm_rqtc_rq_num_c(rqtc, i)) == 0x100 + i);
	}
}

static void
test_trailing_scalars(void)
{
	uint32_t mbox[(PRM_CREATE_CQ_IN_BYTES + 3 * 8) / 4] = { 0 };
	struct prm_create_cq_in *in = (struct prm_create_cq_in *)mbox;

	prm_create_cq_in_set_pas(in, 2, 0x123456789000ull);
	CHECK(prm_create_cq_in_get_pas(in, 2) == 0x123456789000ull);
	CHECK(mbox[PRM_CREATE_CQ_IN_DWORDS + 4] == PRM_BE32(0x1234u));
	CHECK(mbox[PRM_CREATE_CQ_IN_DWORDS + 5] == PRM_BE32(0x56789000u));
}

static void
test_blobs(void)
{
	struct prm_tirc tirc = { { 0 } };
	struct prm_packet_reformat_context_in reformat = { { 0 } };

	CHECK(PRM_TIRC_RX_HASH_TOEPLITZ_KEY_BYTES == 40);
	CHECK(prm_tirc_rx_hash_toeplitz_key(&tirc) == (uint8_t *)&tirc + 40);
	CHECK(prm_tirc_rx_hash_toeplitz_key_c(&tirc) == (const uint8_t *)&tirc + 40);
	CHECK(prm_packet_reformat_context_in_reformat_data(&reformat) == (uint8_t *)&reformat + 6);
}

static void
test_union(void)
{
	static struct prm_query_hca_cap_out out;
	struct prm_hca_cap_union *cap = prm_query_hca_cap_out_capability(&out);

	prm_cmd_hca_cap_set_log_max_cq(prm_hca_cap_union_cmd_hca_cap(cap), 24);
	CHECK((void *)prm_hca_cap_union_cmd_hca_cap(cap) == (void *)prm_hca_cap_union_qos_cap(cap));
	CHECK(prm_cmd_hca_cap_get_log_max_cq(prm_hca_cap_union_cmd_hca_cap_c(cap)) == 24);
}

int
main(void)
{
	test_bytes_on_the_wire();
	test_neighbours_stay();
	test_wide_fields();
#ifndef PRM_DEBUG
	test_excess_bits_dropped();
#endif
	test_nested();
	test_trailing_arrays();
	test_trailing_scalars();
	test_blobs();
	test_union();
	return check_exit("accessors");
}
