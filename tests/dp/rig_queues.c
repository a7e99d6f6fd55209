/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The bench: queues made by commands, WQEs written by hand. */
#include "rig_vfio.h"

static uint64_t
umem_offset(const struct rig_port *p, const void *at)
{
	return (uint64_t)((const uint8_t *)at - p->arena);
}

static struct rig_cq *
cq_make(struct rig_port *p, unsigned log_size, unsigned log_cqe, int mini_format, bool enhanced)
{
	struct rig_cq *c = rig_mem(p, sizeof(*c), 64);
	struct prm_create_cq_in in = {0};
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(&in);
	size_t bytes = (size_t)1 << (log_size + log_cqe);

	c->port = p;
	c->log_size = log_size;
	c->log_cqe = log_cqe;
	c->ring = rig_mem(p, bytes, 4096);
	c->dbrec = rig_mem(p, 64, 64);
	for (size_t i = 63; i < bytes; i += 64) {
		c->ring[i - 1] = 0xff;
		c->ring[i] = PRM_CQE_OPCODE_INVALID << 4 | 1;
	}
	prm_create_cq_in_set_opcode(&in, PRM_CMD_OP_CREATE_CQ);
	prm_cqc_set_cqe_sz(cqc, log_cqe - 6);
	if (mini_format >= 0) {
		prm_cqc_set_cqe_comp_en(cqc, 1);
		prm_cqc_set_mini_cqe_res_format(cqc, mini_format & 3);
		prm_cqc_set_mini_cqe_res_format_ext(cqc, (unsigned)mini_format >> 2);
		prm_cqc_set_cqe_compression_layout(cqc, enhanced);
	}
	prm_cqc_set_log_cq_size(cqc, log_size);
	prm_cqc_set_uar_page(cqc, p->uar->obj.id);
	prm_cqc_set_c_eqn(cqc, p->eqn);
	prm_cqc_set_dbr_umem_valid(cqc, 1);
	prm_create_cq_in_set_cq_umem_valid(&in, 1);
	prm_cqc_set_dbr_umem_id(cqc, p->umem);
	prm_cqc_set_dbr_addr(cqc, umem_offset(p, c->dbrec));
	prm_create_cq_in_set_cq_umem_id(&in, p->umem);
	prm_create_cq_in_set_cq_umem_offset(&in, umem_offset(p, c->ring));
	c->cq = rig_make(p, &in, sizeof(in), "CQ");
	return c;
}

struct rig_cq *
rig_cq_new(struct rig_port *p, unsigned log_size, unsigned log_cqe)
{
	return cq_make(p, log_size, log_cqe, -1, false);
}

struct rig_cq *
rig_cq_new_comp(struct rig_port *p, unsigned log_size, unsigned mini_format, bool enhanced)
{
	return cq_make(p, log_size, 6, (int)mini_format, enhanced);
}

const struct prm_cqe64 *
rig_cqe(struct rig_cq *c)
{
	uint32_t index = c->ci & ((1u << c->log_size) - 1);
	const struct prm_cqe64 *cqe = (const struct prm_cqe64 *)(
		c->ring + ((size_t)index << c->log_cqe) + (c->log_cqe == 7 ? 64 : 0));

	if (cqe->op_own >> 4 == PRM_CQE_OPCODE_INVALID ||
	    (cqe->op_own & 1) != (c->ci >> c->log_size & 1))
		return NULL;
	/* Error CQEs have the number of the pass, too. */
	if (c->cq->enhanced)
		CHECK_EQ(cqe->signature, c->ci >> c->log_size & 0xff);
	c->ci++;
	c->dbrec[0] = htobe32(c->ci & 0xffffff);
	return cqe;
}

const struct prm_err_cqe *
rig_cqe_error(struct rig_cq *c, unsigned opcode)
{
	const struct prm_cqe64 *cqe = rig_cqe(c);

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return NULL;
	CHECK_EQ(cqe->op_own >> 4, opcode);
	return (const struct prm_err_cqe *)cqe;
}

void
rig_cq_arm(struct rig_cq *c, unsigned sn, bool solicited_only, bool ring)
{
	uint32_t word = sn << 28 | (uint32_t)solicited_only << 24 | (c->ci & 0xffffff);

	c->dbrec[1] = htobe32(word);
	if (ring)
		*(volatile uint64_t *)(uintptr_t)(c->port->uar->page + 0x20) =
			htobe64((uint64_t)word << 32 | c->cq->obj.id);
}

static void
fill_wq(struct rig_port *p, struct prm_wq *wq, unsigned log_size, unsigned log_stride,
	const void *ring, const void *dbrec)
{
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(wq, p->pd);
	prm_wq_set_uar_page(wq, p->uar->obj.id);
	prm_wq_set_log_wq_stride(wq, log_stride);
	prm_wq_set_log_wq_sz(wq, log_size);
	prm_wq_set_dbr_umem_id(wq, p->umem);
	prm_wq_set_dbr_addr(wq, umem_offset(p, dbrec));
	prm_wq_set_dbr_umem_valid(wq, 1);
	prm_wq_set_wq_umem_valid(wq, 1);
	prm_wq_set_wq_umem_id(wq, p->umem);
	prm_wq_set_wq_umem_offset(wq, umem_offset(p, ring));
}

struct rig_sq *
rig_sq_new(struct rig_port *p, struct rig_cq *c, unsigned log_size)
{
	struct rig_sq *s = rig_mem(p, sizeof(*s), 64);
	struct prm_create_sq_in in = {0};
	struct prm_sqc *sqc = prm_create_sq_in_ctx(&in);

	s->port = p;
	s->cq = c;
	s->log_size = log_size;
	s->ring = rig_mem(p, (size_t)64 << log_size, 4096);
	s->dbrec = rig_mem(p, 64, 64);
	prm_create_sq_in_set_opcode(&in, PRM_CMD_OP_CREATE_SQ);
	prm_sqc_set_flush_in_error_en(sqc, 1);
	prm_sqc_set_allow_multi_pkt_send_wqe(sqc, 1);
	prm_sqc_set_user_index(sqc, 0x123);
	prm_sqc_set_cqn(sqc, c->cq->obj.id);
	prm_sqc_set_tis_lst_sz(sqc, 1);
	prm_sqc_set_tis_num_0(sqc, p->tis);
	fill_wq(p, prm_sqc_wq(sqc), log_size, 6, s->ring, s->dbrec);
	s->sq = rig_make(p, &in, sizeof(in), "SQ");
	if (rig_sq_modify(s, PRM_SQC_STATE_RST, PRM_SQC_STATE_RDY) != 0)
		rig_die("SQ to RDY");
	return s;
}

int
rig_sq_modify(struct rig_sq *s, unsigned from, unsigned to)
{
	struct prm_modify_sq_in in = {0};

	prm_modify_sq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_SQ);
	prm_modify_sq_in_set_sq_state(&in, from);
	prm_modify_sq_in_set_sqn(&in, s->sq->obj.id);
	prm_sqc_set_state(prm_modify_sq_in_ctx(&in), to);
	return rig_fw(s->port, &in, sizeof(in), NULL);
}

void
rig_wqe(struct rig_sq *s, uint8_t opcode, uint8_t fm_ce_se)
{
	memset(s->wqe, 0, sizeof(s->wqe));
	s->wqe[3] = opcode;
	s->wqe[11] = fm_ce_se;
	s->len = 16;
}

static void
pad(struct rig_sq *s)
{
	s->len = (s->len + 15) & ~15u;
}

void
rig_wqe_eth(struct rig_sq *s, const struct rig_eth *eth)
{
	uint8_t *e = s->wqe + s->len;

	memcpy(e, eth->swp, 4);
	e[4] = eth->cs_flags;
	e[5] = eth->swp[4];
	e[6] = (uint8_t)(eth->mss >> 8);
	e[7] = (uint8_t)eth->mss;
	if (eth->vlan >= 0) {
		e[12] = 0x80;
		e[14] = (uint8_t)(eth->vlan >> 8);
		e[15] = (uint8_t)eth->vlan;
		s->len += 16;
		return;
	}
	e[12] = (uint8_t)(eth->inl_len >> 8);
	e[13] = (uint8_t)eth->inl_len;
	if (eth->inl_len != 0)
		memcpy(e + 14, eth->inl, eth->inl_len);
	s->len += eth->inl_len <= 2 ? 16 : 14 + eth->inl_len;
	pad(s);
}

static void
put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
}

void
rig_wqe_ptr(struct rig_sq *s, const void *data, uint32_t len, uint32_t lkey)
{
	uint64_t addr = htobe64(rig_addr(data));

	put32(s->wqe + s->len, len);
	put32(s->wqe + s->len + 4, lkey);
	memcpy(s->wqe + s->len + 8, &addr, 8);
	s->len += 16;
}

void
rig_wqe_inline(struct rig_sq *s, const void *data, uint32_t len)
{
	put32(s->wqe + s->len, len | 0x80000000);
	memcpy(s->wqe + s->len + 4, data, len);
	s->len += 4 + len;
	pad(s);
}

uint16_t
rig_wqe_end(struct rig_sq *s)
{
	unsigned bytes = 64u << s->log_size, ds = s->len / 16;
	uint16_t index = s->pi;

	s->wqe[1] = (uint8_t)(index >> 8);
	s->wqe[2] = (uint8_t)index;
	put32(s->wqe + 4, s->sq->obj.id << 8 | ds);
	for (unsigned i = 0; i < s->len; i++)
		s->ring[(index * 64u + i) & (bytes - 1)] = s->wqe[i];
	memcpy(&s->db, s->wqe, 8);
	s->pi = (uint16_t)(s->pi + (ds + 3) / 4);
	return index;
}

void
rig_sq_record(struct rig_sq *s)
{
	s->dbrec[1] = htobe32(s->pi);
}

void
rig_sq_bell(struct rig_sq *s)
{
	*(volatile uint64_t *)(uintptr_t)(s->port->uar->page + 0x800) = s->db;
}

uint16_t
rig_send(struct rig_sq *s, const void *frame, uint32_t len)
{
	uint16_t index;

	rig_wqe(s, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(s, &(struct rig_eth){.vlan = -1});
	rig_wqe_ptr(s, frame, len, s->port->lkey);
	index = rig_wqe_end(s);
	rig_sq_record(s);
	rig_sq_bell(s);
	return index;
}

struct rig_rq *
rig_rq_new(struct rig_port *p, struct rig_cq *c, unsigned log_size, unsigned log_stride,
	   unsigned flags)
{
	struct rig_rq *q = rig_mem(p, sizeof(*q), 64);
	struct prm_create_rq_in in = {0};
	struct prm_rqc *rqc = prm_create_rq_in_ctx(&in);

	q->port = p;
	q->cq = c;
	q->log_size = log_size;
	q->log_stride = log_stride;
	q->ring = rig_mem(p, (size_t)1 << (log_size + log_stride), 4096);
	q->dbrec = rig_mem(p, 64, 64);
	prm_create_rq_in_set_opcode(&in, PRM_CMD_OP_CREATE_RQ);
	prm_rqc_set_flush_in_error_en(rqc, 1);
	prm_rqc_set_vsd(rqc, (flags & RIG_RQ_VSD) != 0);
	prm_rqc_set_scatter_fcs(rqc, (flags & RIG_RQ_FCS) != 0);
	if (flags & RIG_RQ_PADDING)
		prm_wq_set_end_padding_mode(prm_rqc_wq(rqc), PRM_WQ_END_PADDING_ALIGN);
	prm_rqc_set_user_index(rqc, 0x321);
	prm_rqc_set_cqn(rqc, c->cq->obj.id);
	fill_wq(p, prm_rqc_wq(rqc), log_size, log_stride, q->ring, q->dbrec);
	prm_wq_set_uar_page(prm_rqc_wq(rqc), 0);
	if (flags & RIG_RQ_STRIDING) {
		prm_wq_set_wq_type(prm_rqc_wq(rqc), PRM_WQ_TYPE_CYCLIC_STRIDING);
		prm_wq_set_log_wqe_num_of_strides(prm_rqc_wq(rqc), ((flags >> 8 & 0xff) - 9) & 0xf);
		prm_wq_set_log_wqe_stride_size(prm_rqc_wq(rqc), (flags >> 16 & 0xff) - 6);
		prm_wq_set_two_byte_shift_en(prm_rqc_wq(rqc), (flags & RIG_RQ_SHIFT) != 0);
	}
	q->rq = rig_make(p, &in, sizeof(in), "RQ");
	if (rig_rq_modify(q, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY) != 0)
		rig_die("RQ to RDY");
	return q;
}

int
rig_rq_modify(struct rig_rq *q, unsigned from, unsigned to)
{
	struct prm_modify_rq_in in = {0};

	prm_modify_rq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQ);
	prm_modify_rq_in_set_rq_state(&in, from);
	prm_modify_rq_in_set_rqn(&in, q->rq->obj.id);
	prm_rqc_set_state(prm_modify_rq_in_ctx(&in), to);
	return rig_fw(q->port, &in, sizeof(in), NULL);
}

void
rig_post_segs(struct rig_rq *q, const struct prm_rq_wqe *segs, unsigned n)
{
	size_t mask = ((size_t)1 << q->log_size) - 1;

	memcpy(q->ring + ((q->pi & mask) << q->log_stride), segs, n * sizeof(*segs));
	q->pi++;
	q->dbrec[0] = htobe32(q->pi);
}

void
rig_post(struct rig_rq *q, const void *buf, uint32_t len, uint32_t lkey)
{
	struct prm_rq_wqe seg[32] = {{.byte_count = htobe32(len), .lkey = htobe32(lkey),
				      .addr = htobe64(rig_addr(buf))}};

	for (unsigned i = 1; i < 1u << (q->log_stride - 4); i++)
		seg[i].lkey = htobe32(PRM_WQE_LKEY_INVALID);
	rig_post_segs(q, seg, 1u << (q->log_stride - 4));
}

struct emu_obj *
rig_rqt_new(struct rig_port *p, struct rig_rq **rqs, unsigned n)
{
	uint8_t in[sizeof(struct prm_create_rqt_in) + 64 * 4] = {0};
	struct prm_create_rqt_in *cmd = (struct prm_create_rqt_in *)in;
	struct prm_rqtc *rqtc = prm_create_rqt_in_rqt_context(cmd);

	prm_create_rqt_in_set_opcode(cmd, PRM_CMD_OP_CREATE_RQT);
	prm_rqtc_set_rqt_max_size(rqtc, n);
	prm_rqtc_set_rqt_actual_size(rqtc, n);
	for (unsigned i = 0; i < n; i++)
		put32(in + sizeof(*cmd) + 4 * i, rqs[i]->rq->obj.id);
	return rig_make(p, in, sizeof(*cmd) + 4 * n, "RQT");
}

struct emu_tir *
rig_tir_new(struct rig_port *p, struct rig_rq *rq, struct emu_obj *rqt, const struct rig_hash *hash)
{
	struct prm_create_tir_in in = {0};
	struct prm_tirc *tirc = prm_create_tir_in_ctx(&in);
	struct prm_rx_hash_field_select *sel = prm_tirc_rx_hash_field_selector_outer(tirc);

	prm_create_tir_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIR);
	prm_tirc_set_transport_domain(tirc, p->td);
	if (rqt == NULL) {
		prm_tirc_set_inline_rqn(tirc, rq->rq->obj.id);
	} else {
		prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_INDIRECT);
		prm_tirc_set_indirect_table(tirc, rqt->id);
		prm_tirc_set_rx_hash_fn(tirc, hash != NULL && hash->xor8 ? PRM_RX_HASH_FN_INVERTED_XOR8 :
								      PRM_RX_HASH_FN_TOEPLITZ);
	}
	if (hash != NULL) {
		prm_tirc_set_rx_hash_symmetric(tirc, hash->symmetric);
		prm_tirc_set_tunneled_offload_en(tirc, hash->tunneled);
		if (hash->key != NULL)
			memcpy(prm_tirc_rx_hash_toeplitz_key(tirc), hash->key, 40);
		prm_rx_hash_field_select_set_l3_prot_type(sel, hash->l3);
		prm_rx_hash_field_select_set_l4_prot_type(sel, hash->l4);
		prm_rx_hash_field_select_set_selected_fields(sel, hash->fields);
		sel = prm_tirc_rx_hash_field_selector_inner(tirc);
		prm_rx_hash_field_select_set_selected_fields(sel, hash->inner_fields);
	}
	return rig_make(p, &in, sizeof(in), "TIR");
}

int
rig_flow_try(struct rig_port *p, unsigned priority, const uint32_t mask[16], const uint32_t value[16],
	     const struct emu_flow_attr *attr, struct emu_obj **flow)
{
	uint32_t m[16], v[16];
	struct emu_matcher_attr ma = {.mask = m, .mask_len = sizeof(m),
				      .priority = (uint16_t)priority, .criteria = 1};
	struct emu_flow_attr fa = *attr;
	struct emu_obj *matcher;
	int ret;

	for (unsigned i = 0; i < 16; i++) {
		m[i] = htobe32(mask[i]);
		v[i] = htobe32(value[i]);
	}
	fa.value = v;
	fa.value_len = sizeof(v);
	if (emu_matcher_create(p->ctx, &ma, &matcher) != 0)
		rig_die("matcher");
	ret = emu_flow_create(p->ctx, matcher, &fa, flow);
	if (ret != 0 && emu_obj_destroy(matcher) != 0)
		rig_die("matcher of a refused flow");
	return ret;
}

struct emu_obj *
rig_flow(struct rig_port *p, unsigned priority, const uint32_t mask[16], const uint32_t value[16],
	 const struct emu_flow_attr *attr)
{
	struct emu_obj *flow;

	if (rig_flow_try(p, priority, mask, value, attr, &flow) != 0)
		rig_die("flow");
	return flow;
}

struct emu_obj *
rig_flow_all(struct rig_port *p, struct emu_tir *tir, uint32_t tag)
{
	static const uint32_t zero[16];
	struct emu_flow_attr attr = {.dest = &tir->obj, .has_tag = tag != 0, .tag = tag};

	return rig_flow(p, 15, zero, zero, &attr);
}

struct rig_rx *
rig_rx_new(struct rig_port *p, unsigned log_size)
{
	struct rig_rx *rx = rig_mem(p, sizeof(*rx), 64);

	rx->cq = rig_cq_new(p, log_size, 6);
	rx->rq = rig_rq_new(p, rx->cq, log_size, 4, 0);
	rx->tir = rig_tir_new(p, rx->rq, NULL, NULL);
	rx->flow = rig_flow_all(p, rx->tir, 0);
	for (unsigned i = 0; i < 1u << log_size; i++) {
		rx->buf[i] = rig_mem(p, RIG_BUF_BYTES, 64);
		rig_post(rx->rq, rx->buf[i], RIG_BUF_BYTES, p->lkey);
	}
	return rx;
}

unsigned
rig_taken(struct rig_rx *rx, uint32_t *tag)
{
	const struct prm_cqe64 *cqe;
	unsigned n = 0;

	while ((cqe = rig_cqe(rx->cq)) != NULL) {
		n++;
		if (tag != NULL)
			*tag = be32toh(cqe->sop_drop_qpn);
		rig_post(rx->rq, rx->buf[0], RIG_BUF_BYTES, rx->rq->port->lkey);
	}
	return n;
}

void
rig_arrive(struct rig_port *p, const struct rig_frame *f)
{
	emu_dp_ingress(p->dev, f->data, f->len);
}
