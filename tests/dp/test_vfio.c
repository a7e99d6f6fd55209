/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Contexts that came through VFIO: event queues as their owner sees them, and memory that is taken
 * out of the IOMMU while the device uses it.
 */
#include <sys/mman.h>

#include "core/emu_guard.h"
#include "core/emu_iommu.h"
#include "core/emu_pci.h"
#include "rig_vfio.h"

#define ENTRIES (1u << RIG_VFIO_LOG_EQ)
#define RW (EMU_IOMMU_READ | EMU_IOMMU_WRITE)

static struct rig *r;
static struct rig_port *p;
static struct rig_rx *rx;
static struct rig_cq *scq;
static struct rig_sq *sq;
static struct rig_frame f;

static void
begin(void)
{
	rig_vfio = true;
	r = rig_new(1, "loop");
	p = &r->port[0];
	rx = rig_rx_new(p, 5);
	scq = rig_cq_new(p, 5, 6);
	sq = rig_sq_new(p, scq, 5);
	rig_ip_frame(&f, p->dev, 4, 17, 64, 0, -1);
	emu_audit_reset();
}

static void
end(uint64_t violations)
{
	for (unsigned k = 0; k < EMU_AUDIT_KINDS && emu_audit_total() != violations; k++)
		if (emu_audit_text(k, 0) != NULL)
			fprintf(stderr, "%s: %s\n", emu_audit_kind_name(k), emu_audit_text(k, 0));
	CHECK_EQ(emu_audit_total(), violations);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), violations);
	rig_free(r);
}

/* A frame through the wire to the own receive queue; true when it came. */
static bool
frame(void)
{
	const struct prm_cqe64 *cqe;
	uint8_t *data = rig_mem(p, 256, 64);

	memcpy(data, f.data, f.len);
	rig_send(sq, data, f.len);
	rig_run(r);
	cqe = rig_cqe(rx->cq);
	return cqe != NULL && cqe->op_own >> 4 == PRM_CQE_OPCODE_RESP_SEND;
}

static void
sleepy(void)
{
	p->eq_asleep = true;
	p->interrupts = 0;
}

/* One completion event and one interrupt per arming of CQ and EQ, whichever comes first. */
static void
test_arm(void)
{
	begin();
	sleepy();
	rig_cq_arm(rx->cq, 0, false, true);
	CHECK(frame());
	CHECK_EQ(p->interrupts, 1);
	CHECK(rig_eqe(p) != NULL);
	CHECK(rig_eqe(p) == NULL);
	/* The EQ is not armed: the event is written without an interrupt. */
	rig_cq_arm(rx->cq, 1, false, true);
	CHECK(frame());
	CHECK_EQ(p->interrupts, 1);
	/* Arming with an index that lags behind: there is something already. */
	rig_eq_ring(p, true);
	CHECK_EQ(p->interrupts, 2);
	CHECK(rig_eqe(p) != NULL);
	rig_eq_ring(p, true);
	CHECK_EQ(p->interrupts, 2);
	/* The CQ is not armed: completions, no event. */
	CHECK(frame());
	CHECK_EQ(p->interrupts, 2);
	CHECK(rig_eqe(p) == NULL);
	rig_cq_arm(rx->cq, 2, false, true);
	CHECK(frame());
	CHECK_EQ(p->interrupts, 3);
	end(0);
}

/* Two CQs of one page, armed for the first time one right after the other; stores are exact. */
static void
test_arm_two(void)
{
	struct rig_cq *cq[2];

	begin();
	cq[0] = rx->cq;
	cq[1] = scq;
	sleepy();
	for (unsigned i = 0; i < 2; i++) {
		rig_cq_arm(cq[i], 0, false, false);
		CHECK(emu_dp_uar_store(p->ctx, p->uar->offset + 0x20,
				       htobe64(cq[i]->cq->obj.id), 8));
	}
	CHECK(frame());
	CHECK_EQ(p->interrupts, 1);
	CHECK(rig_eqe(p) != NULL && rig_eqe(p) != NULL && rig_eqe(p) == NULL);
	/* The doorbell of a send queue, and of none; a short store is none. */
	rig_wqe(sq, PRM_WQE_OPCODE_NOP, RIG_CE_CQE);
	rig_wqe_end(sq);
	rig_sq_record(sq);
	CHECK(!emu_dp_uar_store(p->ctx, p->uar->offset + 0x800, sq->db, 4));
	CHECK(emu_dp_uar_store(p->ctx, p->uar->offset + 0x800, sq->db, 8));
	rig_run(r);
	CHECK(rig_cqe(scq) != NULL && rig_cqe(scq) != NULL);
	CHECK_EQ(emu_audit_total(), 0);
	CHECK(emu_dp_uar_store(p->ctx, p->uar->offset + 0x800, htobe64(0x77 << 8 | 2), 8));
	CHECK_EQ(emu_audit_count(EMU_AUDIT_BAD_DOORBELL), 1);
	emu_audit_reset();
	end(0);
}

/* A link that goes and comes. */
static void
test_port(void)
{
	const struct prm_eqe *eqe;

	begin();
	sleepy();
	emu_port_set_carrier(p->dev, false);
	emu_port_set_carrier(p->dev, true);
	CHECK_EQ(p->interrupts, 1);
	eqe = rig_eqe(p);
	CHECK(eqe != NULL && eqe->type == PRM_EVENT_TYPE_PORT_CHANGE && eqe->sub_type == 1 &&
	      eqe->port == 0x10);
	eqe = rig_eqe(p);
	CHECK(eqe != NULL && eqe->type == PRM_EVENT_TYPE_PORT_CHANGE && eqe->sub_type == 4);
	end(0);
}

static void
events(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		emu_port_set_carrier(p->dev, !p->dev->carrier);
}

/* Parity over some turns of the ring; its end without a consumer. */
static void
test_ring(void)
{
	begin();
	sleepy();
	for (unsigned turn = 0; turn < 5; turn++) {
		events(ENTRIES - 2);
		for (unsigned i = 0; i < ENTRIES - 2; i++)
			CHECK(rig_eqe(p) != NULL);
		CHECK(rig_eqe(p) == NULL);
		rig_eq_ring(p, turn & 1);
	}
	CHECK_EQ(emu_audit_total(), 0);
	/* Full is lawful, one more is not, and it takes no more then. */
	events(ENTRIES);
	CHECK_EQ(emu_audit_total(), 0);
	events(2);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_EQ_OVERRUN), 1);
	CHECK_EQ(p->dev->stats.async_eq_overruns, 1);
	CHECK_EQ(p->dev->stats.comp_eq_overruns, 0);
	CHECK(!p->dev->internal_error);
	for (unsigned i = 0; i < ENTRIES; i++)
		CHECK(rig_eqe(p) != NULL);
	rig_eq_ring(p, true);
	events(2);
	CHECK(rig_eqe(p) == NULL);
	/* The firmware gives up at the engine's next turn. */
	rig_run(r);
	CHECK(p->dev->internal_error && !p->dev->removed);
	/* The owner of the function ends its DMA. */
	emu_pci_mastering(p->dev, false);
	CHECK(p->dev->failed && p->dev->removed);
	emu_audit_reset();
	end(0);
}

static void
test_bad_doorbells(void)
{
	unsigned interrupts;

	begin();
	sleepy();
	/* Beyond what was written; of an EQ that does not ring here. */
	p->eq_ci += 3;
	rig_eq_ring(p, true);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_BAD_DOORBELL), 1);
	p->eq_ci -= 3;
	p->eqn++;
	rig_eq_ring(p, true);
	p->eqn--;
	CHECK_EQ(emu_audit_count(EMU_AUDIT_BAD_DOORBELL), 2);
	/* An index before the last one; repeating the last one is valid. */
	events(2);
	CHECK(rig_eqe(p) != NULL && rig_eqe(p) != NULL);
	rig_eq_ring(p, false);
	rig_eq_ring(p, false);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_BAD_DOORBELL), 2);
	p->eq_ci--;
	rig_eq_ring(p, true);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_BAD_DOORBELL), 3);
	/* It did not arm. */
	interrupts = p->interrupts;
	p->eq_ci++;
	events(1);
	CHECK_EQ(p->interrupts, interrupts);
	emu_audit_reset();
	end(0);
}

/* CQ overrun, and its event. */
static void
test_cq_error(void)
{
	const struct prm_eqe *eqe;

	begin();
	sleepy();
	for (unsigned i = 0; i < 33; i++) {
		rig_send(sq, f.data, 0);
		rig_wqe(sq, PRM_WQE_OPCODE_NOP, RIG_CE_CQE);
		rig_wqe_end(sq);
		rig_sq_record(sq);
		rig_sq_bell(sq);
		rig_run(r);
	}
	eqe = rig_eqe(p);
	CHECK(eqe != NULL && eqe->type == PRM_EVENT_TYPE_CQ_ERROR &&
	      be32toh(eqe->cq_err_cqn) == scq->cq->obj.id &&
	      eqe->cq_err_syndrome == PRM_CQ_ERROR_SYNDROME_CQ_OVERRUN);
	emu_audit_reset();
	end(0);
}

static uint64_t
arena_iova(void)
{
	return RIG_VFIO_IOVA;
}

/* A piece of its own, mapped at an IOVA of its own, with a key of small pages over it. */
#define PIECE_IOVA 0x9000000ull
#define PIECE_BYTES (4 * 4096u)
static uint8_t *piece;
static uint32_t piece_lkey;

static void
piece_new(const uint64_t *iova, unsigned pages)
{
	uint32_t in[(sizeof(struct prm_create_mkey_in) + 4 * PRM_MTT_BYTES) / 4] = {0};
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry((void *)in);
	struct emu_obj *obj = NULL;

	prm_create_mkey_in_set_opcode((void *)in, PRM_CMD_OP_CREATE_MKEY);
	prm_create_mkey_in_set_translations_octword_actual_size((void *)in, 2);
	prm_mkc_set_translations_octword_size(mkc, 2);
	prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_MTT);
	prm_mkc_set_lr(mkc, 1);
	prm_mkc_set_lw(mkc, 1);
	prm_mkc_set_qpn(mkc, 0xffffff);
	prm_mkc_set_pd(mkc, p->pd);
	prm_mkc_set_start_addr(mkc, rig_addr(piece));
	prm_mkc_set_len(mkc, pages * 4096);
	prm_mkc_set_log_page_size(mkc, 12);
	for (unsigned i = 0; i < pages; i++)
		rig_mtt((void *)&in[sizeof(struct prm_create_mkey_in) / 4 + 2 * i], iova[i]);
	CHECK_EQ(rig_fw(p, in, sizeof(in), &obj), 0);
	piece_lkey = obj != NULL ? obj->id << 8 : 0;
}

/* The completion's opcode of one frame sent from the piece, and its syndrome. */
static unsigned
send_from(const uint8_t *data, uint32_t len)
{
	const struct prm_cqe64 *cqe;

	rig_wqe(sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(sq, &(struct rig_eth){.vlan = -1});
	rig_wqe_ptr(sq, data, len, piece_lkey);
	rig_wqe_end(sq);
	rig_sq_record(sq);
	rig_sq_bell(sq);
	rig_run(r);
	cqe = rig_cqe(scq);
	CHECK(cqe != NULL);
	if (cqe == NULL || cqe->op_own >> 4 == PRM_CQE_OPCODE_REQ)
		return 0;
	return ((const struct prm_err_cqe *)cqe)->syndrome;
}

static void
sq_again(void)
{
	CHECK_EQ(rig_sq_modify(sq, PRM_SQC_STATE_ERR, PRM_SQC_STATE_RST), 0);
	sq->pi = 0;
	sq->dbrec[1] = 0;
	CHECK_EQ(rig_sq_modify(sq, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY), 0);
}

/* Data of a key: a fault like a bad key's, until it is mapped again. */
static void
test_key_unmapped(void)
{
	const uint64_t iova[] = {PIECE_IOVA, PIECE_IOVA + 4096, PIECE_IOVA + 8192,
				 PIECE_IOVA + 12288};

	begin();
	piece = rig_mem(p, PIECE_BYTES, 4096);
	memcpy(piece, f.data, f.len);
	CHECK_EQ(emu_iommu_map(p->iommu, PIECE_IOVA, piece, PIECE_BYTES, RW), 0);
	piece_new(iova, 4);
	CHECK_EQ(send_from(piece, f.len), 0);
	CHECK_EQ(emu_iommu_unmap(p->iommu, PIECE_IOVA, PIECE_BYTES, NULL), 0);
	CHECK_EQ(emu_audit_total(), 0);
	CHECK_EQ(send_from(piece, f.len), PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), 1);
	/* Other memory in its place is what the device sees now. */
	memset(piece, 0, f.len);
	memcpy(piece + PIECE_BYTES / 2, f.data, f.len);
	CHECK_EQ(emu_iommu_map(p->iommu, PIECE_IOVA, piece + PIECE_BYTES / 2, PIECE_BYTES / 2, RW),
		 0);
	sq_again();
	CHECK_EQ(send_from(piece, f.len), 0);
	CHECK_EQ(send_from(piece + 3 * 4096, f.len), PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	end(2);
}

/* Pages in another order than the process has them: whole pages can be reached, no two at once. */
static void
test_key_scattered(void)
{
	const uint64_t iova[] = {PIECE_IOVA + 8192, PIECE_IOVA};

	begin();
	piece = rig_mem(p, PIECE_BYTES, 4096);
	CHECK_EQ(emu_iommu_map(p->iommu, PIECE_IOVA, piece, PIECE_BYTES, RW), 0);
	piece_new(iova, 2);
	memcpy(piece + 8192, f.data, f.len);
	memcpy(piece + 64, f.data, f.len);
	CHECK_EQ(send_from(piece, f.len), 0);
	CHECK_EQ(send_from(piece + 4096 + 64, f.len), 0);
	CHECK_EQ(send_from(piece + 4096 - 8, f.len), PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	end(1);
}

/* Read-only for the device: it can send from there, and receive nothing. */
static void
test_key_readonly(void)
{
	const uint64_t iova[] = {PIECE_IOVA};
	const struct prm_err_cqe *err;

	begin();
	piece = rig_mem(p, 4096, 4096);
	memcpy(piece, f.data, f.len);
	CHECK_EQ(emu_iommu_map(p->iommu, PIECE_IOVA, piece, 4096, EMU_IOMMU_READ), 0);
	piece_new(iova, 1);
	CHECK_EQ(send_from(piece, f.len), 0);
	rx->rq->pi = 0;
	rx->rq->dbrec[0] = 0;
	CHECK_EQ(rig_rq_modify(rx->rq, PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST), 0);
	CHECK_EQ(rig_rq_modify(rx->rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY), 0);
	rig_post(rx->rq, piece, 2048, piece_lkey);
	rig_cqe(rx->cq);
	emu_dp_ingress(p->dev, f.data, f.len);
	err = rig_cqe_error(rx->cq, PRM_CQE_OPCODE_RESP_ERR);
	CHECK(err != NULL && err->syndrome == PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
	end(1);
}

static void
unmap_all(void)
{
	CHECK_EQ(emu_iommu_unmap(p->iommu, arena_iova(), RIG_ARENA_BYTES, NULL), 0);
	CHECK_EQ(emu_audit_total(), 0);
}

/* All of it at once, under traffic: each queue meets it once, nothing is touched. */
static void
test_queues_unmapped(void)
{
	uint32_t sqn;

	begin();
	sqn = sq->sq->obj.id;
	CHECK(frame());
	rig_cq_arm(rx->cq, 0, false, true);
	rig_run(r);
	unmap_all();
	/* As if the memory had another user now, the bench's own structures included. */
	memset(p->arena, 0xee, RIG_ARENA_BYTES / 2);
	rig_run(r);
	CHECK_EQ(emu_audit_total(), 0);
	/* The doorbell of the SQ; its event goes to an EQ that is unmapped too. */
	*(volatile uint64_t *)(uintptr_t)(p->uar->page + 0x800) =
		htobe64((uint64_t)sqn << 8 | 2);
	rig_run(r);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), 2);
	emu_dp_ingress(p->dev, f.data, f.len);
	emu_dp_ingress(p->dev, f.data, f.len);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), 3);
	for (unsigned i = 0; i < RIG_ARENA_BYTES / 2; i++)
		if (p->arena[i] != 0xee) {
			CHECK(!"written to");
			break;
		}
	end(3);
}

/* The CQ alone: its queues fall with it, by an event. */
static void
test_cq_unmapped(void)
{
	uint8_t *mem;
	uint32_t umem = 0;
	struct rig_cq *cq;
	uint32_t in[(sizeof(struct prm_create_umem_in) + PRM_MTT_BYTES) / 4] = {0};
	struct prm_create_cq_in cq_in = {0};
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(&cq_in);
	const struct prm_eqe *eqe;
	struct emu_obj *obj = NULL;

	begin();
	sleepy();
	mem = rig_mem(p, 8192, 4096);
	memset(mem, PRM_CQE_OPCODE_INVALID << 4 | 1, 4096);
	CHECK_EQ(emu_iommu_map(p->iommu, PIECE_IOVA, mem, 8192, RW), 0);
	prm_create_umem_in_set_opcode((void *)in, PRM_CMD_OP_CREATE_UMEM);
	prm_umem_set_num_of_mtt(prm_create_umem_in_umem((void *)in), 1);
	prm_umem_set_log_page_size(prm_create_umem_in_umem((void *)in), 1);
	rig_mtt(prm_umem_mtt(prm_create_umem_in_umem((void *)in), 0), PIECE_IOVA & ~0x1fffull);
	CHECK_EQ(rig_fw(p, in, sizeof(in), &obj), 0);
	umem = obj != NULL ? obj->id : 0;
	prm_create_cq_in_set_opcode(&cq_in, PRM_CMD_OP_CREATE_CQ);
	prm_cqc_set_log_cq_size(cqc, 6);
	prm_cqc_set_uar_page(cqc, p->uar->obj.id);
	prm_cqc_set_c_eqn(cqc, p->eqn);
	prm_cqc_set_dbr_umem_id(cqc, umem);
	prm_cqc_set_dbr_umem_valid(cqc, 1);
	prm_cqc_set_dbr_addr(cqc, 4096);
	prm_create_cq_in_set_cq_umem_id(&cq_in, umem);
	prm_create_cq_in_set_cq_umem_valid(&cq_in, 1);
	CHECK_EQ(rig_fw(p, &cq_in, sizeof(cq_in), &obj), 0);
	cq = rig_mem(p, sizeof(*cq), 64);
	*cq = (struct rig_cq){.port = p, .cq = (struct emu_cq *)obj, .ring = mem,
			      .dbrec = (uint32_t *)(mem + 4096), .log_size = 6, .log_cqe = 6};
	sq = rig_sq_new(p, cq, 5);
	CHECK(frame());
	CHECK(rig_cqe(cq) != NULL);
	/* Of the same memory another mapping goes: nothing of ours. */
	CHECK_EQ(emu_iommu_map(p->iommu, PIECE_IOVA + 0x100000, mem, 8192, RW), 0);
	CHECK_EQ(emu_iommu_unmap(p->iommu, PIECE_IOVA + 0x100000, 8192, NULL), 0);
	CHECK(frame());
	CHECK(rig_cqe(cq) != NULL);
	CHECK_EQ(emu_iommu_unmap(p->iommu, PIECE_IOVA, 8192, NULL), 0);
	CHECK_EQ(emu_audit_total(), 0);
	/* The frame leaves and arrives, its completion does not. */
	CHECK(frame());
	CHECK(rig_cqe(cq) == NULL);
	eqe = rig_eqe(p);
	CHECK(eqe != NULL && eqe->type == PRM_EVENT_TYPE_CQ_ERROR &&
	      eqe->cq_err_syndrome == PRM_CQ_ERROR_SYNDROME_CQ_ACCESS_VIOLATION &&
	      be32toh(eqe->cq_err_cqn) == cq->cq->obj.id);
	CHECK_EQ(sq->sq->state, EMU_QS_ERR);
	end(1);
}

/* An event queue that goes: events are lost, which is noted once. */
static void
test_eq_unmapped(void)
{
	begin();
	unmap_all();
	events(3);
	end(1);
}

/* A queue over such memory can be destroyed, and not be brought back to life. */
static void
test_states_unmapped(void)
{
	begin();
	unmap_all();
	CHECK_EQ(rig_rq_modify(rx->rq, PRM_RQC_STATE_ERR, PRM_RQC_STATE_RST), 0);
	CHECK_EQ(rx->rq->rq->state, EMU_QS_ERR);
	CHECK_EQ(rig_sq_modify(sq, PRM_SQC_STATE_ERR, PRM_SQC_STATE_RST), 0);
	CHECK_EQ(sq->sq->state, EMU_QS_ERR);
	emu_dp_ingress(p->dev, f.data, f.len);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), 2);
	end(2);
}

/* The process unmaps what it has mapped for the device: a kernel would have pinned it. */
static void
test_process_unmaps(void)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t in[8] = {0};

	begin();
	CHECK_EQ(emu_guard_start(&r->m), 0);
	CHECK_EQ(emu_iommu_map(p->iommu, PIECE_IOVA, page, 4096, RW), 0);
	prm_manage_pages_in_set_opcode((void *)in, PRM_CMD_OP_MANAGE_PAGES);
	prm_manage_pages_in_set_op_mod((void *)in, 1);
	prm_manage_pages_in_set_input_num_entries((void *)in, 1);
	prm_manage_pages_in_set_pas((void *)in, 0, PIECE_IOVA);
	CHECK_EQ(rig_fw(p, in, 24, NULL), 0);
	munmap(page, 4096);
	prm_manage_pages_in_set_op_mod((void *)in, 2);
	CHECK_EQ(rig_fw(p, in, 16, NULL), 0);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_LOST_MEMORY), 1);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), 1);
	emu_guard_stop();
	emu_audit_reset();
	end(0);
	munmap(page, 4096);
}

static const struct rig_test tests[] = {
	{"arm", test_arm},
	{"arm two", test_arm_two},
	{"port", test_port},
	{"ring", test_ring},
	{"bad doorbells", test_bad_doorbells},
	{"CQ error", test_cq_error},
	{"key unmapped", test_key_unmapped},
	{"key scattered", test_key_scattered},
	{"key read-only", test_key_readonly},
	{"queues unmapped", test_queues_unmapped},
	{"CQ unmapped", test_cq_unmapped},
	{"EQ unmapped", test_eq_unmapped},
	{"states unmapped", test_states_unmapped},
	{"process unmaps", test_process_unmaps},
	{NULL, NULL},
};

int
main(int argc, char **argv)
{
	return rig_main(argc, argv, tests);
}
