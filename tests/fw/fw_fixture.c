/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The fixture of the firmware tests. */
#include "fw_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

const struct emu_profile *
fix_profile(void)
{
	const struct emu_profile *p = emu_profile_default();

	if (p->access_register_user && p->scatter_fcs)
		return p;
	printf("skipped: %s has no registers for users and no FCS scatter, which these tests use\n", p->card);
	exit(77);
}

void
fix_open(struct fix *f)
{
	memset(f, 0, sizeof(*f));
	emu_audit_reset();
	CHECK(emu_machine_init(&f->m, 2, fix_profile()) == 0);
	CHECK(emu_dp_init(&f->m) == 0);
	f->dev = &f->m.dev[0];
	f->file = emu_file_map();
	CHECK(emu_ctx_open(f->dev, f->file, true, NULL, &f->ctx) == 0);
	f->mem = mmap(NULL, FIX_MEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (f->mem == MAP_FAILED)
		abort();
	CHECK(emu_umem_create(f->ctx, (uintptr_t)f->mem, FIX_MEM_BYTES, EMU_ACCESS_LOCAL_WRITE,
			      &f->umem) == 0);
	CHECK(emu_uar_create(f->ctx, &f->uar) == 0);
	CHECK_EQ(fix_simple(f, PRM_CMD_OP_ALLOC_PD, 0), 0);
	f->pd = fix_id(f);
	CHECK_EQ(fix_simple(f, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 0), 0);
	f->td = fix_id(f);
	f->eqn = (uint32_t)emu_eqn_of_vector(f->dev, 0);
}

void
fix_close(struct fix *f)
{
	if (f->ctx != NULL)
		emu_ctx_close(f->ctx);
	emu_dp_stop(&f->m);
	emu_machine_fini(&f->m);
	emu_file_unmap(f->file);
	munmap(f->mem, FIX_MEM_BYTES);
}

struct emu_ctx *
fix_other_user(struct fix *f, void **file)
{
	struct emu_ctx *ctx = NULL;

	*file = emu_file_map();
	CHECK(emu_ctx_open(f->dev, *file, true, NULL, &ctx) == 0);
	return ctx;
}

uint32_t
fix_exec_as(struct fix *f, struct emu_ctx *ctx, const void *in, size_t in_len, size_t out_len)
{
	memset(f->out, 0xa5, sizeof(f->out));
	emu_lock(&f->m);
	f->ret = emu_fw_exec(ctx, in, in_len, f->out, out_len, &f->created);
	emu_unlock(&f->m);
	if (f->ret == -EINVAL)
		return 0xffffffffu;
	CHECK((f->ret == 0) == (*(uint8_t *)f->out == 0));
	CHECK(f->ret == 0 || f->ret == -EREMOTEIO);
	return PRM_BE32(f->out[1]);
}

uint32_t
fix_exec(struct fix *f, const void *in, size_t in_len)
{
	const struct prm_command *cmd =
		prm_command_find(prm_cmd_in_get_opcode((const struct prm_cmd_in *)in));
	size_t out_len = cmd != NULL && cmd->out_bytes_min > 64 ? cmd->out_bytes_min : 64;

	return fix_exec_as(f, f->ctx, in, in_len, out_len);
}

uint32_t
fix_code(enum fw_syndrome s)
{
	return fw_syndrome_info(s)->code;
}

uint32_t
fix_id(const struct fix *f)
{
	return PRM_BE32(f->out[FW_OUT_ID_DW]) & 0xffffff;
}

void
fix_cq_in(const struct fix *f, struct prm_create_cq_in *in)
{
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(in);

	memset(in, 0, sizeof(*in));
	prm_create_cq_in_set_opcode(in, PRM_CMD_OP_CREATE_CQ);
	prm_create_cq_in_set_cq_umem_id(in, f->umem->obj.id);
	prm_create_cq_in_set_cq_umem_offset(in, FIX_CQ_OFFSET);
	prm_cqc_set_log_cq_size(cqc, 4);
	prm_cqc_set_uar_page(cqc, f->uar->obj.id);
	prm_cqc_set_c_eqn(cqc, f->eqn);
	prm_cqc_set_dbr_umem_id(cqc, f->umem->obj.id);
	prm_cqc_set_dbr_addr(cqc, FIX_DBREC_OFFSET);
}

static void
fix_wq(const struct fix *f, struct prm_wq *wq, uint64_t offset, unsigned log_stride)
{
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(wq, f->pd);
	prm_wq_set_log_wq_stride(wq, log_stride);
	prm_wq_set_log_wq_sz(wq, 5);
	prm_wq_set_wq_umem_id(wq, f->umem->obj.id);
	prm_wq_set_wq_umem_offset(wq, offset);
	prm_wq_set_dbr_umem_id(wq, f->umem->obj.id);
	prm_wq_set_dbr_addr(wq, FIX_DBREC_OFFSET + 64);
}

void
fix_sq_in(const struct fix *f, struct prm_create_sq_in *in, uint32_t cqn, uint32_t tisn)
{
	struct prm_sqc *sqc = prm_create_sq_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_sq_in_set_opcode(in, PRM_CMD_OP_CREATE_SQ);
	prm_sqc_set_flush_in_error_en(sqc, 1);
	prm_sqc_set_allow_multi_pkt_send_wqe(sqc, 1);
	prm_sqc_set_cqn(sqc, cqn);
	prm_sqc_set_tis_lst_sz(sqc, 1);
	prm_sqc_set_tis_num_0(sqc, tisn);
	fix_wq(f, prm_sqc_wq(sqc), FIX_SQ_OFFSET, 6);
	prm_wq_set_uar_page(prm_sqc_wq(sqc), f->uar->obj.id);
}

void
fix_rq_in(const struct fix *f, struct prm_create_rq_in *in, uint32_t cqn)
{
	struct prm_rqc *rqc = prm_create_rq_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_rq_in_set_opcode(in, PRM_CMD_OP_CREATE_RQ);
	prm_rqc_set_vsd(rqc, 1);
	prm_rqc_set_flush_in_error_en(rqc, 1);
	prm_rqc_set_cqn(rqc, cqn);
	fix_wq(f, prm_rqc_wq(rqc), FIX_RQ_OFFSET, 4);
}

void
fix_tis_in(const struct fix *f, struct prm_create_tis_in *in)
{
	memset(in, 0, sizeof(*in));
	prm_create_tis_in_set_opcode(in, PRM_CMD_OP_CREATE_TIS);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(in), f->td);
}

void
fix_tir_in(const struct fix *f, struct prm_create_tir_in *in, uint32_t rqn)
{
	struct prm_tirc *tirc = prm_create_tir_in_ctx(in);

	memset(in, 0, sizeof(*in));
	prm_create_tir_in_set_opcode(in, PRM_CMD_OP_CREATE_TIR);
	prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_DIRECT);
	prm_tirc_set_inline_rqn(tirc, rqn);
	prm_tirc_set_transport_domain(tirc, f->td);
}

void
fix_mkey_in(const struct fix *f, struct prm_create_mkey_in *in)
{
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry(in);

	memset(in, 0, sizeof(*in));
	prm_create_mkey_in_set_opcode(in, PRM_CMD_OP_CREATE_MKEY);
	prm_create_mkey_in_set_mkey_umem_id(in, f->umem->obj.id);
	prm_create_mkey_in_set_mkey_umem_offset(in, FIX_DATA_OFFSET);
	prm_create_mkey_in_set_translations_octword_actual_size(in, 8);
	prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_MTT);
	prm_mkc_set_lr(mkc, 1);
	prm_mkc_set_lw(mkc, 1);
	prm_mkc_set_qpn(mkc, 0xffffff);
	prm_mkc_set_mkey_7_0(mkc, 0x42);
	prm_mkc_set_pd(mkc, f->pd);
	prm_mkc_set_start_addr(mkc, (uintptr_t)f->mem + FIX_DATA_OFFSET);
	prm_mkc_set_len(mkc, 0x10000);
	prm_mkc_set_log_page_size(mkc, 12);
	prm_mkc_set_translations_octword_size(mkc, 8);
}

size_t
fix_rqt_in(void *buf, uint32_t max_size, const uint32_t *rqn, unsigned n)
{
	struct prm_create_rqt_in *in = buf;
	struct prm_rqtc *rqtc = prm_create_rqt_in_rqt_context(in);
	size_t len = PRM_CREATE_RQT_IN_BYTES + 4 * (size_t)n;

	memset(buf, 0, len);
	prm_create_rqt_in_set_opcode(in, PRM_CMD_OP_CREATE_RQT);
	prm_rqtc_set_rqt_max_size(rqtc, max_size);
	prm_rqtc_set_rqt_actual_size(rqtc, n);
	for (unsigned i = 0; i < n; i++)
		prm_rq_num_set_rq_num(prm_rqtc_rq_num(rqtc, i), rqn[i]);
	return len;
}

size_t
fix_kind_in(const struct fix *f, void *buf, unsigned kind, uint32_t a, uint32_t b)
{
	switch (kind) {
	case 0:
		fix_cq_in(f, buf);
		return PRM_CREATE_CQ_IN_BYTES;
	case 1:
		fix_sq_in(f, buf, a, b);
		return PRM_CREATE_SQ_IN_BYTES;
	case 2:
		fix_rq_in(f, buf, a);
		return PRM_CREATE_RQ_IN_BYTES;
	case 3:
		fix_mkey_in(f, buf);
		return PRM_CREATE_MKEY_IN_BYTES;
	case 4:
		fix_tir_in(f, buf, a);
		return PRM_CREATE_TIR_IN_BYTES;
	default:
		fix_tis_in(f, buf);
		return PRM_CREATE_TIS_IN_BYTES;
	}
}

static uint32_t
made(struct fix *f, uint32_t syndrome)
{
	CHECK_EQ(syndrome, 0);
	CHECK(syndrome != 0 || (f->created != NULL && f->created->id == fix_id(f)));
	return syndrome == 0 ? fix_id(f) : 0;
}

uint32_t
fix_cq(struct fix *f)
{
	struct prm_create_cq_in in;

	fix_cq_in(f, &in);
	return made(f, fix_exec(f, &in, sizeof(in)));
}

uint32_t
fix_sq(struct fix *f, uint32_t cqn, uint32_t tisn)
{
	struct prm_create_sq_in in;

	fix_sq_in(f, &in, cqn, tisn);
	return made(f, fix_exec(f, &in, sizeof(in)));
}

uint32_t
fix_rq(struct fix *f, uint32_t cqn)
{
	struct prm_create_rq_in in;

	fix_rq_in(f, &in, cqn);
	return made(f, fix_exec(f, &in, sizeof(in)));
}

uint32_t
fix_tis(struct fix *f)
{
	struct prm_create_tis_in in;

	fix_tis_in(f, &in);
	return made(f, fix_exec(f, &in, sizeof(in)));
}

uint32_t
fix_tir(struct fix *f, uint32_t rqn)
{
	struct prm_create_tir_in in;

	fix_tir_in(f, &in, rqn);
	return made(f, fix_exec(f, &in, sizeof(in)));
}

uint32_t
fix_mkey(struct fix *f)
{
	struct prm_create_mkey_in in;

	fix_mkey_in(f, &in);
	return made(f, fix_exec(f, &in, sizeof(in)));
}

uint32_t
fix_rqt(struct fix *f, const uint32_t *rqn, unsigned n)
{
	uint32_t buf[PRM_CREATE_RQT_IN_BYTES / 4 + 256];

	return made(f, fix_exec(f, buf, fix_rqt_in(buf, 256, rqn, n)));
}

uint32_t
fix_simple(struct fix *f, uint16_t opcode, uint32_t id)
{
	uint32_t in[4] = {PRM_BE32((uint32_t)opcode << 16), 0, PRM_BE32(id), 0};

	return fix_exec(f, in, sizeof(in));
}

uint32_t
fix_sq_go(struct fix *f, uint32_t sqn, unsigned claimed, unsigned wanted)
{
	struct prm_modify_sq_in in = {0};

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sqn(&in, sqn);
	prm_modify_sq_in_set_sq_state(&in, claimed);
	prm_sqc_set_state(prm_modify_sq_in_ctx(&in), wanted);
	return fix_exec(f, &in, sizeof(in));
}

uint32_t
fix_rq_go(struct fix *f, uint32_t rqn, unsigned claimed, unsigned wanted)
{
	struct prm_modify_rq_in in = {0};

	prm_modify_rq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rqn(&in, rqn);
	prm_modify_rq_in_set_rq_state(&in, claimed);
	prm_rqc_set_state(prm_modify_rq_in_ctx(&in), wanted);
	return fix_exec(f, &in, sizeof(in));
}

int
fix_result(const char *name)
{
	return check_exit(name);
}
