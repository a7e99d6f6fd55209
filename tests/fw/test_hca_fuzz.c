/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Damaged commands of an owner by the thousand, with mappings that come and go: whatever comes, the
 * answer has a status, events find their way or are lost, and closing leaves nothing behind.
 *
 *   test_fw_hca_fuzz [SEED [ROUNDS]]
 */
#include <errno.h>
#include <stdlib.h>

#include "vfio_fixture.h"

#define IDS 8u /* kept of each type */
#define HOLE_BYTES 0x10000u /* at the start of the memory: mapped apart, unmapped at times */

static struct vfix v;
static uint64_t state;
static uint32_t mbox[FW_IN_BYTES / 4];
static uint32_t ids[EMU_OBJ_TYPES][IDS];
static bool hole;
static unsigned long made[EMU_OBJ_TYPES];

/* xorshift64*: the same sequence for the same seed everywhere. */
static uint32_t
rnd(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32) % below;
}

/* An object to refer to, of the right type as a rule. */
static uint32_t
ref(enum emu_obj_type type)
{
	return ids[rnd(16) != 0 ? type : rnd(EMU_OBJ_TYPES)][rnd(IDS)];
}

static uint64_t
any_iova(void)
{
	uint64_t page = rnd(VFIX_MEM_BYTES / EMU_PAGE_BYTES + 4);

	return VFIX_IOVA + page * EMU_PAGE_BYTES;
}

static void
mtt(void *at, uint64_t iova)
{
	prm_mtt_set_ptag_63_32(at, (uint32_t)(iova >> 32));
	prm_mtt_set_ptag_31_8(at, (uint32_t)iova >> 8);
	prm_mtt_set_rd_en(at, 1);
	prm_mtt_set_wr_en(at, rnd(8) != 0);
}

static size_t
umem(void)
{
	struct prm_umem *u = prm_create_umem_in_umem((void *)mbox);
	unsigned n = 1 + rnd(8);

	prm_create_umem_in_set_opcode((void *)mbox, PRM_CMD_OP_CREATE_UMEM);
	prm_umem_set_num_of_mtt(u, n);
	prm_umem_set_log_page_size(u, rnd(4));
	prm_umem_set_page_offset(u, rnd(4) * 64);
	for (unsigned i = 0; i < n; i++)
		mtt(&mbox[PRM_CREATE_UMEM_IN_BYTES / 4 + 2 * i], any_iova());
	return PRM_CREATE_UMEM_IN_BYTES + 8 * n;
}

static size_t
mkey(void)
{
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry((void *)mbox);
	unsigned n = 1 + rnd(8);

	prm_create_mkey_in_set_opcode((void *)mbox, PRM_CMD_OP_CREATE_MKEY);
	prm_create_mkey_in_set_pg_access((void *)mbox, rnd(2));
	prm_create_mkey_in_set_translations_octword_actual_size((void *)mbox, (n + 1) / 2);
	prm_mkc_set_translations_octword_size(mkc, (n + 1) / 2);
	prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_MTT);
	prm_mkc_set_lr(mkc, 1);
	prm_mkc_set_lw(mkc, rnd(2));
	prm_mkc_set_qpn(mkc, 0xffffff);
	prm_mkc_set_pd(mkc, ref(EMU_OBJ_PD));
	prm_mkc_set_start_addr(mkc, rnd(0x10000));
	prm_mkc_set_len(mkc, 1 + rnd(n * 4096));
	prm_mkc_set_log_page_size(mkc, 12 + rnd(3));
	for (unsigned i = 0; i < n; i++)
		mtt(&mbox[PRM_CREATE_MKEY_IN_BYTES / 4 + 2 * i], any_iova());
	return PRM_CREATE_MKEY_IN_BYTES + 8 * ((n + 1) & ~1u);
}

static size_t
cq(void)
{
	struct prm_cqc *cqc = prm_create_cq_in_cq_context((void *)mbox);

	prm_create_cq_in_set_opcode((void *)mbox, PRM_CMD_OP_CREATE_CQ);
	prm_create_cq_in_set_cq_umem_valid((void *)mbox, 1);
	prm_create_cq_in_set_cq_umem_id((void *)mbox, ref(EMU_OBJ_UMEM));
	prm_cqc_set_dbr_umem_valid(cqc, 1);
	prm_cqc_set_dbr_umem_id(cqc, ref(EMU_OBJ_UMEM));
	prm_cqc_set_log_cq_size(cqc, rnd(8));
	prm_cqc_set_c_eqn(cqc, ref(EMU_OBJ_EQ) & 0xff);
	prm_cqc_set_uar_page(cqc, ref(EMU_OBJ_UAR));
	return PRM_CREATE_CQ_IN_BYTES;
}

static size_t
eq(void)
{
	return vfix_eq_in(&v, mbox, rnd(4) == 0 ? 1ull << rnd(64) : 0, rnd(40), any_iova());
}

static size_t
pages(void)
{
	unsigned n = rnd(20), op = rnd(4);

	prm_manage_pages_in_set_opcode((void *)mbox, PRM_CMD_OP_MANAGE_PAGES);
	prm_manage_pages_in_set_op_mod((void *)mbox, op);
	prm_manage_pages_in_set_input_num_entries((void *)mbox, n);
	for (unsigned i = 0; i < n && op == 1; i++)
		prm_manage_pages_in_set_pas((void *)mbox, i, any_iova());
	return 16 + (op == 1 ? 8 * n : 0);
}

static size_t
any_command(void)
{
	const struct prm_command *d = prm_command_at(rnd(prm_command_count()));

	/* An end now and then, not every hundredth time. */
	if (d->opcode == PRM_CMD_OP_TEARDOWN_HCA && rnd(32) != 0)
		d = prm_command_find(PRM_CMD_OP_NOP);
	mbox[0] = PRM_BE32((uint32_t)d->opcode << 16);
	if (rnd(2) != 0)
		mbox[2] = PRM_BE32(ids[rnd(EMU_OBJ_TYPES)][rnd(IDS)]);
	return d->in_bytes_min;
}

static size_t
damage(size_t len)
{
	for (unsigned n = rnd(3); n != 0; n--)
		mbox[rnd((uint32_t)(len / 4))] ^= PRM_BE32(1u << rnd(32));
	return rnd(32) == 0 ? rnd((uint32_t)len + 64) : len;
}

/* The first part of the memory is there, or not. */
static void
toggle(void)
{
	emu_lock(&v.m);
	if (hole)
		CHECK(emu_iommu_map(v.iommu, VFIX_IOVA, v.mem, HOLE_BYTES,
				    EMU_IOMMU_READ | EMU_IOMMU_WRITE) == 0);
	else
		CHECK(emu_iommu_unmap(v.iommu, VFIX_IOVA, HOLE_BYTES, NULL) == 0);
	hole = !hole;
	emu_unlock(&v.m);
}

/* Doorbells of any kind, and the events that follow. */
static void
stir(void)
{
	static const uint16_t offset[] = {0x20, 0x40, 0x48, 0x800, 0x900};

	emu_lock(&v.m);
	if (v.uar != 0)
		emu_dp_uar_store(v.ctx, v.uar * EMU_PAGE_BYTES + offset[rnd(5)],
				 (uint64_t)rnd(UINT32_MAX) << 32 | rnd(UINT32_MAX),
				 rnd(2) != 0 ? 4 : 8);
	emu_port_set_carrier(v.dev, !v.dev->carrier);
	emu_dp_poll(&v.m);
	emu_unlock(&v.m);
}

static void
one_round(void)
{
	static size_t (*const makers[])(void) = {umem, mkey, cq, eq, pages, any_command};
	uint32_t out[1100], in[FW_IN_BYTES / 4];
	struct emu_obj *created;
	size_t len;
	int ret;

	memset(mbox, 0, sizeof(mbox));
	len = damage(makers[rnd(6)]());
	memcpy(in, mbox, sizeof(in));
	emu_lock(&v.m);
	ret = emu_fw_exec(v.ctx, in, len, out, sizeof(out), &created);
	if (ret == 0 && created != NULL) {
		made[created->type]++;
		ids[created->type][rnd(IDS)] = created->id;
	}
	emu_unlock(&v.m);
	CHECK(ret == 0 || ret == -EREMOTEIO || (ret == -EINVAL && len < 16));
	CHECK(ret == -EINVAL || (*(uint8_t *)out == 0) == (ret == 0));
	CHECK(ret != -EREMOTEIO || fw_syndrome_explain(PRM_BE32(out[1])) != NULL);
	if (rnd(64) == 0)
		toggle();
	if (rnd(16) == 0)
		stir();
}

static void
begin(void)
{
	vfix_open(&v);
	emu_lock(&v.m);
	CHECK(emu_iommu_unmap(v.iommu, VFIX_IOVA, VFIX_MEM_BYTES, NULL) == 0);
	CHECK(emu_iommu_map(v.iommu, VFIX_IOVA, v.mem, HOLE_BYTES, 3) == 0);
	CHECK(emu_iommu_map(v.iommu, VFIX_IOVA + HOLE_BYTES, v.mem + HOLE_BYTES,
			    VFIX_MEM_BYTES - HOLE_BYTES, 3) == 0);
	emu_unlock(&v.m);
	hole = false;
	vfix_boot_until(&v, VFIX_UP);
	CHECK(vfix_eq(&v, 1ull << PRM_EVENT_TYPE_PAGE_REQUEST, 1) != 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0), 0);
	memset(ids, 0, sizeof(ids));
	for (unsigned i = 0; i < IDS; i++) {
		ids[EMU_OBJ_UAR][i] = v.uar;
		ids[EMU_OBJ_EQ][i] = v.eqn;
		ids[EMU_OBJ_PD][i] = vfix_id(&v);
	}
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 30000;

	state = seed * 0x9e3779b97f4a7c15ull + 1;
	/* From the start again and again: an end is an end; so is that of firmware whose EQ ran over. */
	for (unsigned long i = 0; i < rounds && check_failures == 0; i++) {
		if (i % (rounds / 10 + 1) == 0 || v.dev->removed || v.dev->internal_error) {
			if (i != 0)
				vfix_close(&v);
			begin();
		}
		one_round();
	}
	vfix_close(&v);
	/* Not all of it is noise. */
	CHECK(made[EMU_OBJ_UMEM] > 20 && made[EMU_OBJ_MKEY] > 20 && made[EMU_OBJ_EQ] > 20 &&
	      made[EMU_OBJ_CQ] > 20);
	if (check_failures != 0)
		fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
	return fix_result("hca_fuzz");
}
