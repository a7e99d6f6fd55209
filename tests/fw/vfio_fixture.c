/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The fixture of tests on VFIO contexts. */
#include "vfio_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define OP_GIVE 1u
#define OP_TAKE 2u

/* Of the fixture that is open: the front end's calls come with a context only. */
static struct vfix *open_now;

static void
on_msix(struct emu_ctx *ctx, unsigned vector)
{
	CHECK(open_now != NULL && ctx == open_now->ctx && vector < EMU_MSIX_VECTORS);
	if (open_now != NULL && vector < EMU_MSIX_VECTORS)
		open_now->interrupts[vector]++;
}

const struct emu_profile *vfix_profile;

void
vfix_open(struct vfix *v)
{
	memset(v, 0, sizeof(*v));
	emu_audit_reset();
	CHECK(emu_machine_init(&v->m, 2, vfix_profile != NULL ? vfix_profile : fix_profile()) == 0);
	CHECK(emu_dp_init(&v->m) == 0);
	v->dev = &v->m.dev[0];
	v->front.msix = on_msix;
	v->m.front = &v->front;
	v->mem = mmap(NULL, VFIX_MEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	v->bar = emu_file_map();
	if (v->mem == MAP_FAILED || v->bar == NULL)
		abort();
	CHECK(emu_ctx_open(v->dev, v->bar, true, NULL, &v->ctx) == 0);
	v->iommu = emu_iommu_new(v->dev);
	CHECK(emu_iommu_map(v->iommu, VFIX_IOVA, v->mem, VFIX_MEM_BYTES,
			    EMU_IOMMU_READ | EMU_IOMMU_WRITE) == 0);
	v->ctx->iommu = v->iommu;
	v->ctx->uid = 0;
	v->ctx->uar_base = 0;
	v->ctx->uar_end = 64 * EMU_PAGE_BYTES;
	open_now = v;
}

void
vfix_close(struct vfix *v)
{
	emu_ctx_close(v->ctx);
	emu_iommu_free(v->iommu);
	emu_dp_stop(&v->m);
	emu_machine_fini(&v->m);
	munmap(v->mem, VFIX_MEM_BYTES);
	emu_file_unmap(v->bar);
	open_now = NULL;
}

uint32_t
vfix_exec(struct vfix *v, const void *in, size_t in_len)
{
	const struct prm_command *cmd =
		prm_command_find(prm_cmd_in_get_opcode((const struct prm_cmd_in *)in));
	size_t out_len = cmd != NULL && cmd->out_bytes_min > 64 ? cmd->out_bytes_min : 2048;
	int ret;

	memset(v->out, 0xa5, sizeof(v->out));
	emu_lock(&v->m);
	ret = emu_fw_exec(v->ctx, in, in_len, v->out, out_len, NULL);
	emu_unlock(&v->m);
	CHECK(ret == 0 || ret == -EREMOTEIO);
	CHECK((ret == 0) == (*(uint8_t *)v->out == 0));
	return PRM_BE32(v->out[1]);
}

uint32_t
vfix_simple(struct vfix *v, uint16_t opcode, uint32_t id)
{
	uint32_t in[4] = {PRM_BE32((uint32_t)opcode << 16), 0, PRM_BE32(id), 0};

	return vfix_exec(v, in, sizeof(in));
}

uint32_t
vfix_op(struct vfix *v, uint16_t opcode, uint16_t op_mod)
{
	uint32_t in[1100] = {PRM_BE32((uint32_t)opcode << 16), PRM_BE32(op_mod)};

	return vfix_exec(v, in, prm_command_find(opcode)->in_bytes_min);
}

uint32_t
vfix_id(const struct vfix *v)
{
	return PRM_BE32(v->out[FW_OUT_ID_DW]) & 0xffffff;
}

void *
vfix_at(struct vfix *v, uint64_t iova)
{
	return v->mem + (iova - VFIX_IOVA);
}

uint32_t
vfix_pages_wanted(struct vfix *v, unsigned op)
{
	CHECK_EQ(vfix_op(v, PRM_CMD_OP_QUERY_PAGES, (uint16_t)op), 0);
	return prm_query_pages_out_get_num_pages((void *)v->out);
}

static uint32_t
manage(struct vfix *v, uint16_t op_mod, const uint64_t *iova, unsigned n)
{
	static uint32_t buf[4 + 2 * VFIX_PAGES_MAX];
	struct prm_manage_pages_in *in = (void *)buf;

	memset(buf, 0, sizeof(buf));
	prm_manage_pages_in_set_opcode(in, PRM_CMD_OP_MANAGE_PAGES);
	prm_manage_pages_in_set_op_mod(in, op_mod);
	prm_manage_pages_in_set_input_num_entries(in, n);
	for (unsigned i = 0; iova != NULL && i < n; i++)
		prm_manage_pages_in_set_pas(in, i, iova[i]);
	return vfix_exec(v, in, 16 + (iova != NULL ? 8 * n : 0));
}

uint32_t
vfix_give_at(struct vfix *v, const uint64_t *iova, unsigned n)
{
	return manage(v, OP_GIVE, iova, n);
}

uint32_t
vfix_give(struct vfix *v, unsigned n)
{
	static uint64_t iova[VFIX_PAGES_MAX];
	uint32_t ret;

	for (unsigned i = 0; i < n && i < VFIX_PAGES_MAX; i++)
		iova[i] = VFIX_IOVA + VFIX_PAGES_OFFSET + (v->given + i) * EMU_PAGE_BYTES;
	ret = manage(v, OP_GIVE, iova, n);
	if (ret != 0 || n == 0)
		return ret;
	if (v->given == 0)
		v->page_iova = iova[0];
	v->page_iova_last = iova[n - 1];
	v->given += n;
	return 0;
}

uint32_t
vfix_take(struct vfix *v, unsigned n)
{
	uint32_t ret = manage(v, OP_TAKE, NULL, n);

	v->got = ret == 0 ? prm_manage_pages_out_get_output_num_entries((void *)v->out) : 0;
	return ret;
}

uint32_t
vfix_manage(struct vfix *v, uint16_t op_mod, unsigned n)
{
	return manage(v, op_mod, NULL, n);
}

static void
first_cb(struct emu_obj *obj, void *arg)
{
	*(struct emu_obj **)arg = obj;
}

bool
vfix_free_a_pd(struct vfix *v)
{
	struct emu_obj *pd = NULL;

	emu_obj_foreach(v->dev, EMU_OBJ_PD, first_cb, &pd);
	if (pd == NULL)
		return false;
	CHECK_EQ(vfix_simple(v, PRM_CMD_OP_DEALLOC_PD, pd->id), 0);
	return true;
}

void
vfix_boot_until(struct vfix *v, enum vfix_stage stage)
{
	if (v->ctx->hca.state == EMU_HCA_DISABLED) {
		struct prm_set_issi_in issi = {0};

		CHECK_EQ(vfix_simple(v, PRM_CMD_OP_ENABLE_HCA, 0), 0);
		prm_set_issi_in_set_opcode(&issi, PRM_CMD_OP_SET_ISSI);
		prm_set_issi_in_set_current_issi(&issi, 1);
		CHECK_EQ(vfix_exec(v, &issi, sizeof(issi)), 0);
		CHECK_EQ(vfix_give(v, vfix_pages_wanted(v, VFIX_QUERY_BOOT)), 0);
	}
	if (stage == VFIX_ENABLED)
		return;
	CHECK_EQ(vfix_give(v, vfix_pages_wanted(v, VFIX_QUERY_INIT)), 0);
	CHECK_EQ(vfix_op(v, PRM_CMD_OP_INIT_HCA, 0), 0);
}

size_t
vfix_eq_in(struct vfix *v, void *buf, uint64_t events, unsigned vector, uint64_t iova)
{
	struct prm_create_eq_in *in = buf;
	struct prm_eqc *eqc = prm_create_eq_in_eq_context_entry(in);

	memset(buf, 0, PRM_CREATE_EQ_IN_BYTES + 8);
	prm_create_eq_in_set_opcode(in, PRM_CMD_OP_CREATE_EQ);
	prm_create_eq_in_set_event_bitmask(in, 0, events);
	prm_create_eq_in_set_pas(in, 0, iova);
	prm_eqc_set_log_eq_size(eqc, VFIX_LOG_EQ);
	prm_eqc_set_uar_page(eqc, v->uar);
	prm_eqc_set_intr(eqc, vector);
	return PRM_CREATE_EQ_IN_BYTES + 8;
}

uint32_t
vfix_eq(struct vfix *v, uint64_t events, unsigned vector)
{
	uint32_t buf[PRM_CREATE_EQ_IN_BYTES / 4 + 2];
	uint64_t iova = VFIX_IOVA + VFIX_EQ_OFFSET + v->eqs * EMU_PAGE_BYTES;
	struct prm_eqe *eqe = vfix_at(v, iova);

	if (v->uar == 0) {
		CHECK_EQ(vfix_simple(v, PRM_CMD_OP_ALLOC_UAR, 0), 0);
		v->uar = vfix_id(v);
	}
	for (unsigned i = 0; i < 1u << VFIX_LOG_EQ; i++)
		eqe[i].owner = 1;
	v->eqn = 0;
	if (vfix_exec(v, buf, vfix_eq_in(v, buf, events, vector, iova)) == 0) {
		v->eqn = vfix_id(v);
		v->eqs++;
	}
	return v->eqn;
}

const struct prm_eqe *
vfix_eqe(struct vfix *v, unsigned index)
{
	return (const struct prm_eqe *)(v->mem + VFIX_EQ_OFFSET + (v->eqs - 1) * EMU_PAGE_BYTES) +
	       index % (1u << VFIX_LOG_EQ);
}

unsigned
vfix_eqe_type(struct vfix *v, unsigned index)
{
	return vfix_eqe(v, index)->type;
}

unsigned
vfix_eqe_owner(struct vfix *v, unsigned index)
{
	return vfix_eqe(v, index)->owner & 1;
}
