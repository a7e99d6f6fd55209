/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queue pairs on the bench. */
#include "rig_qp.h"

#define PSN_BASE 0xfffffeu /* wraps within a few packets */

uint32_t
rig_remote_key(struct rig_port *p)
{
	/* IBV_ACCESS_LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC */
	return rig_key(p, p->pd, 0xf);
}

static void
halves(struct rig_qp *q, uint8_t *ring, uint32_t *dbrec, unsigned log_rq, unsigned log_sq)
{
	q->sq = rig_mem(q->port, sizeof(*q->sq), 8);
	q->rq = rig_mem(q->port, sizeof(*q->rq), 8);
	q->sq->port = q->rq->port = q->port;
	q->sq->cq = q->scq;
	q->rq->cq = q->rcq;
	q->sq->sq = &q->qp->sq;
	q->rq->rq = &q->qp->rq;
	q->sq->dbrec = q->rq->dbrec = dbrec;
	q->sq->log_size = log_sq;
	q->rq->log_size = log_rq;
	q->rq->log_stride = 5;
	q->rq->ring = ring;
	q->sq->ring = q->qp->sq.ring;
}

struct rig_qp *
rig_qp_new(struct rig_port *p, const struct rig_qp_attr *attr)
{
	unsigned log_rq = attr->log_rq ? attr->log_rq : 4, log_sq = attr->log_sq ? attr->log_sq : 4;
	struct rig_qp *q = rig_mem(p, sizeof(*q), 8);
	uint32_t *dbrec = rig_mem(p, 8, 64);
	uint8_t *ring = rig_mem(p, (32u << log_rq) + (64u << log_sq), 64);
	struct prm_create_qp_in in = {0};
	struct prm_qpc *c = prm_create_qp_in_qpc(&in);
	struct emu_obj *obj = NULL;

	q->port = p;
	q->scq = rig_cq_new(p, 5, attr->log_cqe ? attr->log_cqe : 6);
	q->rcq = rig_cq_new(p, 5, attr->log_cqe ? attr->log_cqe : 6);
	prm_create_qp_in_set_opcode(&in, PRM_CMD_OP_CREATE_QP);
	prm_create_qp_in_set_wq_umem_valid(&in, 1);
	prm_create_qp_in_set_wq_umem_id(&in, p->umem);
	prm_create_qp_in_set_wq_umem_offset(&in, (uint64_t)(ring - p->arena));
	prm_qpc_set_st(c, attr->st);
	prm_qpc_set_pm_state(c, PRM_QPC_PM_STATE_MIGRATED);
	prm_qpc_set_pd(c, p->pd);
	prm_qpc_set_log_rq_size(c, log_rq);
	prm_qpc_set_log_rq_stride(c, 1);
	prm_qpc_set_log_sq_size(c, log_sq);
	prm_qpc_set_uar_page(c, p->uar->obj.id);
	prm_qpc_set_user_index(c, 0x7777);
	prm_qpc_set_cs_req(c, attr->cs_req);
	prm_qpc_set_cs_res(c, attr->cs_res);
	prm_qpc_set_cqn_snd(c, q->scq->cq->obj.id);
	prm_qpc_set_cqn_rcv(c, q->rcq->cq->obj.id);
	prm_qpc_set_dbr_umem_valid(c, 1);
	prm_qpc_set_dbr_umem_id(c, p->umem);
	prm_qpc_set_dbr_addr(c, (uint64_t)((uint8_t *)dbrec - p->arena));
	if (attr->rmpn != 0) {
		prm_qpc_set_rq_type(c, PRM_QPC_RQ_TYPE_SRQ_RMP_XRQ);
		prm_qpc_set_srqn_rmpn_xrqn(c, attr->rmpn);
	}
	if (rig_fw(p, &in, sizeof(in), &obj) != 0)
		rig_die("QP");
	q->qp = (struct emu_qp *)obj;
	halves(q, ring, dbrec, log_rq, log_sq);
	return q;
}

static void
path_own(const struct rig_port *p, struct prm_ads *path)
{
	const uint8_t *mac = p->dev->vport.mac;

	prm_ads_set_vhca_port_num(path, 1);
	prm_ads_set_src_addr_index(path, 1);
	prm_ads_set_hop_limit(path, 1);
	(void)emu_port_gid(p->dev, 1, prm_ads_rgid_rip(path));
	prm_ads_set_rmac_47_32(path, (uint32_t)mac[0] << 8 | mac[1]);
	prm_ads_set_rmac_31_0(path, (uint32_t)mac[2] << 24 | (uint32_t)mac[3] << 16 |
					    (uint32_t)mac[4] << 8 | mac[5]);
}

int
rig_qp_go(struct rig_qp *q, uint16_t opcode, uint32_t remote_qpn, const struct rig_qp_attr *attr)
{
	struct prm_rst2init_qp_in in = {0};
	struct prm_qpc *c = prm_rst2init_qp_in_qpc(&in);
	bool short_in = opcode == PRM_CMD_OP_2ERR_QP || opcode == PRM_CMD_OP_2RST_QP;

	prm_rst2init_qp_in_set_opcode(&in, opcode);
	prm_rst2init_qp_in_set_qpn(&in, q->qp->obj.id);
	if (short_in)
		return rig_fw(q->port, &in, 16, NULL);
	path_own(q->port, prm_qpc_primary_address_path(c));
	prm_ads_set_ack_timeout(prm_qpc_primary_address_path(c),
				attr->ack_timeout ? attr->ack_timeout : 1);
	prm_qpc_set_mtu(c, PRM_QPC_MTU_1K_BYTES);
	prm_qpc_set_log_msg_max(c, 20);
	prm_qpc_set_remote_qpn(c, remote_qpn);
	prm_qpc_set_q_key(c, attr->q_key);
	prm_qpc_set_next_rcv_psn(c, PSN_BASE);
	prm_qpc_set_next_send_psn(c, PSN_BASE);
	prm_qpc_set_rnr_retry(c, attr->rnr_retry);
	prm_qpc_set_retry_count(c, attr->retry_count);
	prm_qpc_set_min_rnr_nak(c, attr->min_rnr_nak ? attr->min_rnr_nak : 1);
	prm_qpc_set_rre(c, !attr->no_access);
	prm_qpc_set_rwe(c, !attr->no_access);
	prm_qpc_set_rae(c, !attr->no_access);
	return rig_fw(q->port, &in, sizeof(in), NULL);
}

void
rig_qp_connect(struct rig_qp *a, struct rig_qp *b, const struct rig_qp_attr *attr)
{
	static const uint16_t steps[] = {PRM_CMD_OP_RST2INIT_QP, PRM_CMD_OP_INIT2RTR_QP,
					 PRM_CMD_OP_RTR2RTS_QP};

	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		CHECK_EQ(rig_qp_go(a, steps[i], b->qp->obj.id, attr), 0);
		if (b != a)
			CHECK_EQ(rig_qp_go(b, steps[i], a->qp->obj.id, attr), 0);
	}
}

static void
put_be64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, 8);
}

static void
put_be32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
}

void
rig_wqe_remote(struct rig_sq *s, const void *addr, uint32_t rkey)
{
	put_be64(s->wqe + s->len, rig_addr(addr));
	put_be32(s->wqe + s->len + 8, rkey);
	s->len += 16;
}

void
rig_wqe_atomic(struct rig_sq *s, uint64_t swap_add, uint64_t compare)
{
	put_be64(s->wqe + s->len, swap_add);
	put_be64(s->wqe + s->len + 8, compare);
	s->len += 16;
}

void
rig_wqe_av(struct rig_sq *s, uint32_t qpn, uint32_t q_key)
{
	uint8_t *av = s->wqe + s->len;

	put_be32(av, q_key);
	put_be32(av + 8, 0x80000000u | qpn);
	memcpy(av + 0x14, s->port->dev->vport.mac, 6);
	av[0x1b] = 9;
	put_be32(av + 0x1c, 1u << 30 | 1u << 20 | 0x12345);
	(void)emu_port_gid(s->port->dev, 1, av + 0x20);
	s->len += 48;
}

uint16_t
rig_qp_do(struct rig_qp *q)
{
	uint16_t index = rig_wqe_end(q->sq);

	rig_sq_record(q->sq);
	rig_sq_bell(q->sq);
	rig_run(q->port->rig);
	return index;
}

const struct prm_cqe64 *
rig_qp_cqe(struct rig_cq *c, const struct rig_qp *q, unsigned opcode)
{
	static const struct prm_cqe64 none;
	const struct prm_cqe64 *cqe = rig_cqe(c);

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return &none;
	CHECK_EQ(cqe->op_own >> 4, opcode);
	CHECK_EQ(be32toh(cqe->sop_drop_qpn) & 0xffffff, q->qp->obj.id);
	CHECK_EQ(be32toh(cqe->srqn_uidx) & 0xffffff, 0x7777);
	return cqe;
}

void
rig_qp_error(struct rig_cq *c, const struct rig_qp *q, unsigned opcode, unsigned syndrome)
{
	const struct prm_err_cqe *cqe = rig_cqe_error(c, opcode);

	if (cqe == NULL)
		return;
	CHECK_EQ(cqe->syndrome, syndrome);
	CHECK_EQ(be32toh(cqe->s_wqe_opcode_qpn) & 0xffffff, q->qp->obj.id);
	CHECK_EQ(be32toh(cqe->srqn), 0x7777);
}

struct rig_srq *
rig_srq_new(struct rig_port *p, unsigned log_size, unsigned limit)
{
	struct rig_srq *s = rig_mem(p, sizeof(*s), 8);
	struct prm_create_rmp_in in = {0};
	struct prm_rmpc *c = prm_create_rmp_in_ctx(&in);
	struct prm_wq *wq = prm_rmpc_wq(c);
	struct emu_obj *obj = NULL;

	s->port = p;
	s->ring = rig_mem(p, 32u << log_size, 64);
	s->dbrec = rig_mem(p, 8, 64);
	s->log_size = log_size;
	/* The list runs backwards through the ring: not the order of its places. */
	for (unsigned i = 0; i < 1u << log_size; i++)
		s->ring[32 * i + 3] = (uint8_t)((i - 1) & ((1u << log_size) - 1));
	prm_create_rmp_in_set_opcode(&in, PRM_CMD_OP_CREATE_RMP);
	prm_rmpc_set_state(c, PRM_RMPC_STATE_RDY);
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_LINKED_LIST);
	prm_wq_set_pd(wq, p->pd);
	prm_wq_set_lwm(wq, limit);
	prm_wq_set_log_wq_stride(wq, 5);
	prm_wq_set_log_wq_sz(wq, log_size);
	prm_wq_set_wq_umem_valid(wq, 1);
	prm_wq_set_dbr_umem_valid(wq, 1);
	prm_wq_set_wq_umem_id(wq, p->umem);
	prm_wq_set_wq_umem_offset(wq, (uint64_t)(s->ring - p->arena));
	prm_wq_set_dbr_umem_id(wq, p->umem);
	prm_wq_set_dbr_addr(wq, (uint64_t)((uint8_t *)s->dbrec - p->arena));
	if (rig_fw(p, &in, sizeof(in), &obj) != 0)
		rig_die("RMP");
	s->srq = (struct emu_srq *)obj;
	return s;
}

uint16_t
rig_srq_post(struct rig_srq *s, const void *buf, uint32_t len, uint32_t lkey)
{
	uint16_t index = s->next;
	uint8_t *wqe = s->ring + 32 * index;

	put_be32(wqe + 16, len);
	put_be32(wqe + 20, lkey);
	put_be64(wqe + 24, rig_addr(buf));
	s->next = wqe[3];
	s->dbrec[0] = htobe32(++s->posted);
	return index;
}
