/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A striding receive queue and its device. Offsets and codes are literals from the PRM. */

#include "mlxpmd_mprq.h"
#include "rig.h"

static uint32_t
get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

struct rig_striding
rig_striding_new(struct rte_mempool *mp, uint8_t log_wqes, uint8_t log_strides, uint8_t log_size,
		 uint32_t copy_max, uint64_t offloads, struct mlxpmd_clock *clock)
{
	struct rig_rx *r = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*r), 64));
	struct mlxpmd_rxq *rxq = &r->rxq;

	memset(r, 0, sizeof(*r));
	r->cq = rig_ring_new((size_t)64 << (log_wqes + log_strides));
	r->rq = rig_ring_new((size_t)32 << log_wqes);
	r->port.mdv = &rig_mdv;
	r->port.clock = clock;
	rxq->q.port = &r->port;
	rxq->q.port_id = 3;
	rxq->mp = mp;
	rxq->q.offloads = offloads;
	rxq->q.nb_desc = 1u << (log_wqes + log_strides);
	rxq->q.hw.cq.log_cqes = log_wqes + log_strides;
	rxq->q.hw.cq.enhanced = rig_enhanced;
	rxq->q.hw.cq.cqes = (void *)r->cq;
	rxq->q.hw.cq.dbrec = r->dbrec;
	rxq->q.hw.rq.wq.wqes = r->rq;
	rxq->q.hw.rq.wq.dbrec = &r->rq_dbrec;
	rxq->q.hw.rq.wq.log_wq_sz = log_wqes;
	rxq->q.hw.rq.wq.log_wq_stride = 5;
	r->port.args.mprq_max_memcpy_len = copy_max;
	CHECK_OK(mlxpmd_mprq_pool_set(rxq, log_strides, log_size));
	CHECK_OK(mlxpmd_mprq_arm(&rxq->q));
	CHECK_EQ(r->rq_dbrec, 0);
	mlxpmd_queue_ready(&rxq->q);
	return (struct rig_striding){ .r = r, .strides = 1u << log_strides, .bytes = 1u << log_size };
}

void
rig_striding_free(struct rig_striding *c)
{
	mlxpmd_mprq_disarm(&c->r->rxq.q);
	CHECK_EQ(mlxpmd_mprq_held(&c->r->rxq), 0);
	mlxpmd_mprq_pool_release(&c->r->rxq);
	rig_ranges_clear();
	rig_rx_release(c->r);
}

static void
cqe_write(struct rig_striding *c, uint32_t byte_cnt, struct rig_rx_cqe head)
{
	CHECK(c->r->cqe_count - get32((uint8_t *)&c->r->dbrec[0]) < 1u << c->r->rxq.q.hw.cq.log_cqes, "CQ overrun");
	head.wqe_id = c->r->wqe_count;
	if (c->open)
		rig_rx_session_add(c->r, &c->session, byte_cnt, c->used, &head);
	else
		rig_rx_cqe(c->r, byte_cnt, c->used, &head);
	if (c->open && c->session.n == RIG_SESSION_MAX)
		rig_striding_session_end(c);
}

void
rig_striding_session_begin(struct rig_striding *c, uint8_t format)
{
	rig_rx_session_begin(c->r, format, &c->session);
	c->session.counter = c->used;
	c->open = true;
}

void
rig_striding_session_end(struct rig_striding *c)
{
	if (c->open)
		rig_rx_session_end(c->r, &c->session);
	c->open = false;
}

static void
strides_use(struct rig_striding *c, uint32_t n)
{
	c->used += n;
	CHECK(c->used <= c->strides, "the device's own account");
	if (c->used != c->strides)
		return;
	c->used = 0;
	c->r->wqe_count++;
	if (c->open && !c->crosses) {
		rig_striding_session_end(c);
		rig_striding_session_begin(c, c->session.format);
	}
}

bool
rig_striding_packet(struct rig_striding *c, uint32_t seq, uint32_t len)
{
	const uint32_t wqes = 1u << c->r->rxq.q.hw.rq.wq.log_wq_sz, need = (len + c->bytes - 1) / c->bytes;
	const uint16_t posted = get32((uint8_t *)&c->r->rq_dbrec) - c->r->wqe_count;
	const uint8_t *wqe;
	uint8_t *to;
	uint32_t i;

	CHECK(posted <= wqes, "%u posted", posted);
	if (posted == 0 || (need > c->strides - c->used && posted == 1)) {
		c->r->out_of_buffer++;
		return false;
	}
	if (need > c->strides - c->used) {
		c->fillers++;
		cqe_write(c, 0x80000000u | (c->strides - c->used) << 16, c->head);
		strides_use(c, c->strides - c->used);
	}
	wqe = c->r->rq + (size_t)(c->r->wqe_count % wqes) * 32;
	for (i = 0; i < 16; i++)
		CHECK(wqe[i] == 0, "next segment");
	CHECK_EQ(get32(wqe + 16), c->strides * c->bytes);
	to = (uint8_t *)(uintptr_t)((uint64_t)get32(wqe + 24) << 32 | get32(wqe + 28));
	for (i = 0; i < rig_nb_ranges; i++)
		if (rig_ranges[i].lkey == get32(wqe + 20) && (uintptr_t)to >= rig_ranges[i].start &&
		    (uintptr_t)to + c->strides * c->bytes <= rig_ranges[i].end)
			break;
	CHECK(i != rig_nb_ranges, "lkey %#x", get32(wqe + 20));
	CHECK_EQ((uintptr_t)to % 64, 0);
	to += (size_t)c->used * c->bytes;
	memcpy(to, c->frame != NULL ? c->frame : rig_data(seq), len);
	cqe_write(c, need << 16 | len, c->head);
	strides_use(c, need);
	return true;
}
