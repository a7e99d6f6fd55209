/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The bench on a VFIO context. Memory is registered by commands and has IOVAs that differ from the
 * addresses in the process; events arrive in an event queue.
 */
#include "core/emu_iommu.h"
#include "rig_vfio.h"

#define LOG_EQ RIG_VFIO_LOG_EQ
#define VECTOR 5u
#define PAGES 128u /* for the firmware, behind the arena */
#define MANAGE_GIVE 1u

bool rig_vfio;

static uint64_t
iova_of(const struct rig_port *p)
{
	return RIG_VFIO_IOVA + p->dev->index * 0x100000000ull;
}

static int
simple(struct rig_port *p, uint16_t opcode, const uint32_t *words, size_t len)
{
	uint32_t in[1100] = {0};

	memcpy(in, words, 16);
	in[0] = htobe32((uint32_t)opcode << 16);
	return rig_fw(p, in, len, NULL);
}

static void
give_pages(struct rig_port *p, unsigned n)
{
	uint32_t in[4 + 2 * PAGES] = {0};
	struct prm_manage_pages_in *cmd = (void *)in;

	prm_manage_pages_in_set_opcode(cmd, PRM_CMD_OP_MANAGE_PAGES);
	prm_manage_pages_in_set_op_mod(cmd, MANAGE_GIVE);
	prm_manage_pages_in_set_input_num_entries(cmd, n);
	for (unsigned i = 0; i < n; i++)
		prm_manage_pages_in_set_pas(cmd, i, iova_of(p) + RIG_ARENA_BYTES -
						    (uint64_t)(i + 1) * 4096);
	CHECK_EQ(rig_fw(p, in, 16 + 8 * (size_t)n, NULL), 0);
}

static void
boot(struct rig_port *p)
{
	static const uint32_t none[4];
	const uint32_t issi[4] = {0, 0, htobe32(1)};

	CHECK_EQ(simple(p, PRM_CMD_OP_ENABLE_HCA, none, 16), 0);
	CHECK_EQ(simple(p, PRM_CMD_OP_SET_ISSI, issi, 16), 0);
	give_pages(p, PAGES);
	CHECK_EQ(simple(p, PRM_CMD_OP_INIT_HCA, none, 16), 0);
}

static void
umem_new(struct rig_port *p)
{
	uint32_t in[(sizeof(struct prm_create_umem_in) + PRM_MTT_BYTES) / 4] = {0};
	struct prm_umem *umem = prm_create_umem_in_umem((void *)in);
	uint64_t iova = iova_of(p);
	struct emu_obj *obj;

	prm_create_umem_in_set_opcode((void *)in, PRM_CMD_OP_CREATE_UMEM);
	prm_umem_set_num_of_mtt(umem, 1);
	prm_umem_set_log_page_size(umem, 63 - (unsigned)__builtin_clzll(RIG_ARENA_BYTES) - 12);
	rig_mtt(prm_umem_mtt(umem, 0), iova);
	CHECK_EQ(rig_fw(p, in, sizeof(in), &obj), 0);
	p->umem = obj->id;
}

void
rig_mtt(struct prm_mtt *mtt, uint64_t iova)
{
	prm_mtt_set_ptag_63_32(mtt, (uint32_t)(iova >> 32));
	prm_mtt_set_ptag_31_8(mtt, (uint32_t)iova >> 8);
	prm_mtt_set_rd_en(mtt, 1);
	prm_mtt_set_wr_en(mtt, 1);
}

uint32_t
rig_vfio_key(struct rig_port *p, uint32_t pd, uint32_t access)
{
	uint32_t in[(sizeof(struct prm_create_mkey_in) + 2 * PRM_MTT_BYTES) / 4] = {0};
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry((void *)in);
	unsigned log_page = 63 - (unsigned)__builtin_clzll(RIG_ARENA_BYTES);
	static uint8_t variant = 0x11;
	struct emu_obj *obj;

	/* No key is another one's neighbour by chance. */
	variant = (uint8_t)(variant + 7);
	prm_create_mkey_in_set_opcode((void *)in, PRM_CMD_OP_CREATE_MKEY);
	prm_create_mkey_in_set_pg_access((void *)in, 1);
	prm_create_mkey_in_set_translations_octword_actual_size((void *)in, 1);
	prm_mkc_set_translations_octword_size(mkc, 1);
	prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_MTT);
	prm_mkc_set_lr(mkc, 1);
	prm_mkc_set_lw(mkc, access & 1);
	prm_mkc_set_rw(mkc, access >> 1 & 1);
	prm_mkc_set_rr(mkc, access >> 2 & 1);
	prm_mkc_set_a(mkc, access >> 3 & 1);
	prm_mkc_set_qpn(mkc, 0xffffff);
	prm_mkc_set_mkey_7_0(mkc, variant);
	prm_mkc_set_pd(mkc, pd);
	prm_mkc_set_start_addr(mkc, rig_addr(p->arena));
	prm_mkc_set_len(mkc, RIG_ARENA_BYTES);
	prm_mkc_set_log_page_size(mkc, log_page);
	/* One page as large as the arena, which is aligned to its size on both sides. */
	rig_mtt((void *)&in[sizeof(struct prm_create_mkey_in) / 4], iova_of(p));
	CHECK_EQ(rig_fw(p, in, sizeof(in), &obj), 0);
	return obj->id << 8 | variant;
}

static void
eq_new(struct rig_port *p)
{
	uint32_t in[sizeof(struct prm_create_eq_in) / 4 + 2] = {0};
	struct prm_eqc *eqc = prm_create_eq_in_eq_context_entry((void *)in);
	struct emu_obj *obj;

	p->eq_ring = rig_mem(p, sizeof(struct prm_eqe) << LOG_EQ, 4096);
	for (unsigned i = 0; i < 1u << LOG_EQ; i++)
		p->eq_ring[i].owner = 1;
	prm_create_eq_in_set_opcode((void *)in, PRM_CMD_OP_CREATE_EQ);
	/* All types but those that others have: of commands and pages. */
	prm_create_eq_in_set_event_bitmask((void *)in, 0,
					   ~(1ull << PRM_EVENT_TYPE_CMD |
					     1ull << PRM_EVENT_TYPE_PAGE_REQUEST));
	prm_create_eq_in_set_pas((void *)in, 0,
				 iova_of(p) + (uint64_t)((uint8_t *)p->eq_ring - p->arena));
	prm_eqc_set_log_eq_size(eqc, LOG_EQ);
	prm_eqc_set_uar_page(eqc, p->uar->obj.id);
	prm_eqc_set_intr(eqc, VECTOR);
	CHECK_EQ(rig_fw(p, in, sizeof(in), &obj), 0);
	p->eqn = obj->id;
	rig_eq_ring(p, true);
}

void
rig_eq_ring(struct rig_port *p, bool arm)
{
	emu_dp_uar_store(p->ctx, p->uar->offset + (arm ? 0x40 : 0x48),
			 htobe32(p->eqn << 24 | (p->eq_ci & 0xffffff)), 4);
	p->dev->stats.doorbells--; /* tests count those of SQs and CQs */
}

const struct prm_eqe *
rig_eqe(struct rig_port *p)
{
	const struct prm_eqe *eqe = &p->eq_ring[p->eq_ci & ((1u << LOG_EQ) - 1)];

	if ((eqe->owner & 1) != (p->eq_ci >> LOG_EQ & 1))
		return NULL;
	p->eq_ci++;
	return eqe;
}

static uint32_t
object_of(const struct prm_eqe *eqe)
{
	if (eqe->type == PRM_EVENT_TYPE_COMP)
		return be32toh(eqe->comp_cqn);
	if (eqe->type == PRM_EVENT_TYPE_CQ_ERROR)
		return be32toh(eqe->cq_err_cqn);
	return eqe->type == PRM_EVENT_TYPE_PORT_CHANGE ? 0 : be32toh(eqe->qp_srq_n);
}

/* What a program's interrupt thread does, at once. */
static void
on_msix(struct emu_ctx *ctx, unsigned vector)
{
	struct rig_port *p = ctx->priv;
	const struct prm_eqe *eqe;

	CHECK_EQ(vector, VECTOR);
	p->interrupts++;
	if (p->eq_asleep)
		return;
	while ((eqe = rig_eqe(p)) != NULL) {
		struct emu_obj obj = {.id = object_of(eqe)};

		rig_event(ctx, &obj, eqe->type, eqe);
	}
	rig_eq_ring(p, true);
}

static struct emu_front_ops front = {.msix = on_msix};

void
rig_vfio_open(struct rig_port *p)
{
	p->rig->m.front = &front;
	p->iommu = emu_iommu_new(p->dev);
	CHECK(p->iommu != NULL);
	CHECK_EQ(emu_iommu_map(p->iommu, iova_of(p), p->arena, RIG_ARENA_BYTES,
			       EMU_IOMMU_READ | EMU_IOMMU_WRITE), 0);
	p->ctx->iommu = p->iommu;
	p->ctx->uid = 0;
	boot(p);
	umem_new(p);
	CHECK_EQ(emu_uar_create(p->ctx, &p->uar), 0);
	eq_new(p);
}
