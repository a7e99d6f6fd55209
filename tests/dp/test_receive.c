/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queues: scattering, completion fields, drops and errors. */
#include <errno.h>
#include <time.h>

#include "rig.h"

static void
arrive(struct rig *r, unsigned port, const struct rig_frame *f)
{
	emu_dp_ingress(r->port[port].dev, f->data, f->len);
}

/* What DPDK's packet type table is indexed with. */
static unsigned
ptype_index(const struct prm_cqe64 *cqe)
{
	return (cqe->tls_outer_l3_tunneled & 3u) << 6 | cqe->l4_hdr_type_etc >> 2;
}

static const struct prm_cqe64 *
one(struct rig_rx *rx)
{
	const struct prm_cqe64 *cqe = rig_cqe(rx->cq);
	static const struct prm_cqe64 none;

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return &none;
	rig_post(rx->rq, rx->buf[be16toh(cqe->wqe_counter) & ((1u << rx->rq->log_size) - 1)],
		 RIG_BUF_BYTES, rx->rq->port->lkey);
	return cqe;
}

#define L3_OK 2u
#define L4_OK 4u

static void
header_types(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 4);
	struct emu_dev *dev = r->port[0].dev;
	struct rig_frame f;
	static const struct {
		unsigned version, proto, options, type;
	} c[] = {
		{4, 17, 0, 0x0a}, {4, 17, 8, 0x0a}, {4, 17, 40, 0x0a}, {4, 6, 0, 0x12},
		{4, 6, 12, 0x12}, {6, 17, 0, 0x09}, {6, 17, 8, 0x09},  {6, 6, 0, 0x11},
		{6, 6, 24, 0x11},
	};

	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		for (int vlan = -1; vlan < 100; vlan += 50) {
			const struct prm_cqe64 *cqe;
			unsigned l3 = vlan >= 0 ? 18 : 14, sum;

			rig_ip_frame(&f, dev, c[i].version, c[i].proto, 33, c[i].options, vlan);
			arrive(r, 0, &f);
			cqe = one(rx);
			CHECK_EQ(ptype_index(cqe), c[i].type);
			CHECK_EQ(cqe->l4_hdr_type_etc >> 1 & 1, c[i].options != 0);
			CHECK_EQ(cqe->hds_ip_ext, 1 | L3_OK | L4_OK);
			CHECK_EQ(cqe->l4_hdr_type_etc & 1, vlan >= 0);
			CHECK_EQ(be16toh(cqe->vlan_info), vlan >= 0 ? vlan : 0);
			CHECK_EQ(be32toh(cqe->byte_cnt), f.len - (vlan >= 0 ? 4 : 0));
			CHECK_EQ(be32toh(cqe->srqn_uidx), 1u << 24 | 0x321);
			CHECK_EQ(be32toh(cqe->sop_drop_qpn), 0);
			CHECK_EQ(cqe->op_own >> 4, PRM_CQE_OPCODE_RESP_SEND);
			sum = rig_sum16(f.data + l3, f.len - l3, 0);
			CHECK(be16toh(cqe->checksum) == sum ||
			      (be16toh(cqe->checksum) ^ sum) == 0xffff);
		}
	}
	rig_free(r);
}

static void
tcp_kinds(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 4);
	struct rig_frame f;

	for (unsigned i = 0; i < 3; i++) {
		rig_ip_frame(&f, r->port[0].dev, 4, 6, i == 1 ? 0 : 10, 0, -1);
		f.data[14 + 20 + 13] = i == 0 ? 0x02 : 0x10;
		rig_fix_checksums(&f, 14);
		arrive(r, 0, &f);
		CHECK_EQ(one(rx)->l4_hdr_type_etc >> 4 & 7,
			 i == 0 ? PRM_CQE_L4_HDR_TYPE_TCP
			 : i == 1 ? PRM_CQE_L4_HDR_TYPE_TCP_EMPTY_ACK
				  : PRM_CQE_L4_HDR_TYPE_TCP_ACK);
	}
	rig_free(r);
}

/* A wrong bit in the range of a checksum clears the right bit of the CQE. */
static void
checksum_results(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 4);
	struct rig_frame f;

	for (unsigned version = 4; version <= 6; version += 2) {
		for (unsigned proto = 6; proto <= 17; proto += 11) {
			unsigned ip = version == 4 ? 20 : 40;

			rig_ip_frame(&f, r->port[0].dev, version, proto, 19, 0, -1);
			/* Identification: only the header checksum covers it. */
			f.data[14 + 4] ^= version == 4 ? 1 : 0;
			arrive(r, 0, &f);
			CHECK_EQ(one(rx)->hds_ip_ext & (L3_OK | L4_OK),
				 version == 4 ? L4_OK : L3_OK | L4_OK);
			f.data[14 + 4] ^= version == 4 ? 1 : 0;
			for (unsigned at = 14 + ip; at < f.len; at++) {
				if (at == 14 + ip + 12 && proto == 6)
					continue; /* data offset: another header */
				if (proto == 17 && (at == 14 + ip + 6 || at == 14 + ip + 7) &&
				    version == 4 && f.data[at] == 0)
					continue;
				f.data[at] ^= 0x10;
				arrive(r, 0, &f);
				CHECK_EQ(one(rx)->hds_ip_ext & (L3_OK | L4_OK), L3_OK);
				f.data[at] ^= 0x10;
			}
		}
	}
	/* UDP without a checksum is not verified. */
	for (unsigned version = 4; version <= 6; version += 2) {
		rig_ip_frame(&f, r->port[0].dev, version, 17, 19, 0, -1);
		f.data[14 + (version == 4 ? 20 : 40) + 6] = 0;
		f.data[14 + (version == 4 ? 20 : 40) + 7] = 0;
		arrive(r, 0, &f);
		CHECK_EQ(one(rx)->hds_ip_ext & L4_OK, 0);
	}
	rig_free(r);
}

static void
fragments_and_others(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 4);
	const struct prm_cqe64 *cqe;
	struct rig_frame f;

	rig_ip_frame(&f, r->port[0].dev, 4, 17, 40, 0, -1);
	f.data[14 + 6] = 0x20; /* more fragments */
	rig_fix_checksums(&f, 14);
	arrive(r, 0, &f);
	cqe = one(rx);
	CHECK_EQ(ptype_index(cqe), 0x22);
	CHECK_EQ(cqe->hds_ip_ext, 1 | L3_OK);
	f.data[14 + 6] = 0x40; /* don't fragment is no fragment */
	rig_fix_checksums(&f, 14);
	arrive(r, 0, &f);
	CHECK_EQ(ptype_index(one(rx)), 0x0a);
	/* ICMP. */
	f.data[14 + 9] = 1;
	f.data[14 + 10] = f.data[14 + 11] = 0;
	rig_fix_checksums(&f, 14); /* writes somewhere in the payload too: harmless */
	arrive(r, 0, &f);
	cqe = one(rx);
	CHECK_EQ(ptype_index(cqe), 0x02);
	CHECK_EQ(cqe->hds_ip_ext, 1 | L3_OK);
	/* ARP. */
	f.data[12] = 0x08;
	f.data[13] = 0x06;
	arrive(r, 0, &f);
	cqe = one(rx);
	CHECK_EQ(ptype_index(cqe), 0);
	CHECK_EQ(cqe->hds_ip_ext, 1);
	CHECK_EQ(cqe->checksum, 0);
	/* Padding behind the IP packet belongs to no checksum. */
	rig_ip_frame(&f, r->port[0].dev, 4, 17, 1, 0, -1);
	memset(f.data + f.len, 0xff, 20);
	f.len += 17;
	arrive(r, 0, &f);
	CHECK_EQ(one(rx)->hds_ip_ext, 1 | L3_OK | L4_OK);
	/* The IP length promises more than there is. */
	rig_ip_frame(&f, r->port[0].dev, 4, 17, 100, 0, -1);
	f.len -= 10;
	arrive(r, 0, &f);
	CHECK_EQ(one(rx)->hds_ip_ext, 1);
	rig_free(r);
}

/* A VXLAN frame: inner headers are reported when the TIR is for tunnels, and only then. */
static void
make_vxlan(struct rig_frame *f, const struct emu_dev *dev)
{
	struct rig_frame inner;

	rig_ip_frame(&inner, dev, 6, 6, 20, 0, -1);
	rig_ip_frame(f, dev, 4, 17, 8 + inner.len, 0, -1);
	f->data[14 + 20 + 2] = 4789 >> 8;
	f->data[14 + 20 + 3] = 4789 & 0xff;
	memset(f->data + 42, 0, 8);
	f->data[42] = 0x08;
	memcpy(f->data + 50, inner.data, inner.len);
	rig_fix_checksums(f, 14);
}

static void
tunnels(void)
{
	for (unsigned tunneled = 0; tunneled < 2; tunneled++) {
		struct rig *r = rig_new(1, "loop");
		struct rig_rx *rx = rig_rx_new(&r->port[0], 4);
		struct rig_hash h = {.tunneled = tunneled != 0};
		struct emu_flow_attr attr = {
			.dest = &rig_tir_new(&r->port[0], rx->rq, NULL, &h)->obj};
		const struct prm_cqe64 *cqe;
		struct rig_frame f;

		rig_flow(&r->port[0], 1, (uint32_t[16]){0}, (uint32_t[16]){0}, &attr);
		make_vxlan(&f, r->port[0].dev);
		arrive(r, 0, &f);
		cqe = one(rx);
		CHECK_EQ(ptype_index(cqe), tunneled ? 0x51 : 0x0a);
		CHECK_EQ(cqe->hds_ip_ext, 1 | L3_OK | L4_OK);
		f.data[f.len - 1] ^= 1; /* inner checksum wrong */
		rig_fix_checksums(&f, 14);
		arrive(r, 0, &f);
		CHECK_EQ(one(rx)->hds_ip_ext & L4_OK, tunneled ? 0 : L4_OK);
		f.data[f.len - 1] ^= 1;
		rig_fix_checksums(&f, 14);
		f.data[14 + 4] ^= 1; /* outer IP header wrong */
		arrive(r, 0, &f);
		CHECK_EQ(one(rx)->hds_ip_ext, 1 | L4_OK);
		rig_free(r);
	}
}

/* VLAN tag kept, stripped; service tag kept; FCS appended. */
static void
vlan_and_fcs(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_frame f;

	for (unsigned flags = 0; flags < 4; flags++) {
		struct rig_cq *cq = rig_cq_new(p, 4, 6);
		struct rig_rq *rq = rig_rq_new(p, cq, 4, 4, flags);
		struct emu_flow_attr attr = {.dest = &rig_tir_new(p, rq, NULL, NULL)->obj};
		struct emu_obj *flow = rig_flow(p, 1, (uint32_t[16]){0}, (uint32_t[16]){0}, &attr);
		uint8_t *buf = rig_mem(p, RIG_BUF_BYTES, 64);
		unsigned fcs = flags & RIG_RQ_FCS ? 4 : 0, cut = flags & RIG_RQ_VSD ? 0 : 4;
		const struct prm_cqe64 *cqe;

		rig_post(rq, buf, RIG_BUF_BYTES, p->lkey);
		rig_ip_frame(&f, p->dev, 4, 17, 33, 0, 0x2abc);
		arrive(r, 0, &f);
		cqe = rig_cqe(cq);
		CHECK(cqe != NULL);
		if (cqe == NULL)
			continue;
		CHECK_EQ(be32toh(cqe->byte_cnt), f.len - cut + fcs);
		CHECK_EQ(cqe->l4_hdr_type_etc & 1, cut != 0);
		CHECK_EQ(be16toh(cqe->vlan_info), cut != 0 ? 0x2abc : 0);
		CHECK(memcmp(buf, f.data, 12) == 0);
		CHECK(memcmp(buf + 12, f.data + 12 + cut, f.len - 12 - cut) == 0);
		emu_obj_destroy(flow);
	}
	/* 802.1ad is not the tag that is stripped. */
	{
		struct rig_rx *rx = rig_rx_new(p, 2);

		rig_ip_frame(&f, p->dev, 4, 17, 33, 0, 5);
		f.data[12] = 0x88;
		f.data[13] = 0xa8;
		arrive(r, 0, &f);
		CHECK_EQ(be32toh(one(rx)->byte_cnt), f.len);
	}
	rig_free(r);
}

/* The check value of CRC-32: "123456789" gives 0xcbf43926. */
static void
fcs_value(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_cq *cq = rig_cq_new(p, 4, 6);
	struct rig_rq *rq = rig_rq_new(p, cq, 4, 4, RIG_RQ_FCS | RIG_RQ_VSD);
	uint8_t *buf = rig_mem(p, RIG_BUF_BYTES, 64);
	struct rig_frame f = {.len = 60};
	uint32_t crc = 0xffffffff, got;

	rig_flow_all(p, rig_tir_new(p, rq, NULL, NULL), 0);
	rig_post(rq, buf, RIG_BUF_BYTES, p->lkey);
	memset(f.data, 0xff, 6);
	memcpy(f.data + 14, "123456789", 9);
	arrive(r, 0, &f);
	memcpy(&got, buf + 60, 4);
	for (unsigned i = 0; i < 60; i++) {
		crc ^= f.data[i];
		for (unsigned b = 0; b < 8; b++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	CHECK_EQ(le32toh(got), ~crc & 0xffffffff);
	rig_free(r);
}

/* Frames over several segments of all sizes, short lists ended by the invalid key. */
static void
many_segments(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_cq *cq = rig_cq_new(p, 6, 6);
	struct rig_rq *rq = rig_rq_new(p, cq, 4, 6, 0); /* 4 segments */
	struct rig_frame f;

	emu_port_set_mtu(p->dev, 9000);
	rig_flow_all(p, rig_tir_new(p, rq, NULL, NULL), 0);
	for (unsigned i = 0; i < 60; i++) {
		static const unsigned size[] = {1, 17, 64, 100, 1000, 4000};
		uint8_t *mem[4], all[16384];
		struct prm_rq_wqe seg[4];
		unsigned room = 0, at = 0, n = 1 + i % 4;
		const struct prm_cqe64 *cqe;

		for (unsigned s = 0; s < 4; s++) {
			unsigned bytes = s < n ? size[(i + s) % 6] : 0;

			if (s == n - 1 && room + bytes < 200)
				bytes += 200;
			mem[s] = rig_mem(p, bytes + 1, 64);
			memset(mem[s], 0xee, bytes + 1);
			seg[s].byte_count = htobe32(bytes);
			seg[s].lkey = htobe32(s < n ? p->lkey : PRM_WQE_LKEY_INVALID);
			seg[s].addr = htobe64(rig_addr(mem[s]));
			room += bytes;
		}
		rig_post_segs(rq, seg, 4);
		rig_ip_frame(&f, p->dev, 4, 17, (room < 9000 ? room : 9000) - 42, 0, -1);
		arrive(r, 0, &f);
		cqe = rig_cqe(cq);
		CHECK(cqe != NULL && cqe->op_own >> 4 == PRM_CQE_OPCODE_RESP_SEND &&
		      be32toh(cqe->byte_cnt) == f.len);
		for (unsigned s = 0; s < n; s++) {
			unsigned bytes = be32toh(seg[s].byte_count);

			CHECK_EQ(mem[s][bytes], 0xee); /* nothing behind the segment */
			memcpy(all + at, mem[s], bytes);
			at += bytes;
		}
		CHECK(memcmp(all, f.data, f.len) == 0);
		p->used = 4u << 20; /* the same memory again */
	}
	CHECK_EQ(rig_audit(r), 0);
	rig_free(r);
}

static void
out_of_buffer(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 2);
	struct emu_port_stats *s = &r->port[0].dev->stats;
	struct rig_frame f;

	rig_ip_frame(&f, r->port[0].dev, 4, 17, 33, 0, -1);
	for (unsigned i = 0; i < 7; i++)
		arrive(r, 0, &f);
	CHECK_EQ(s->rx_frames, 7);
	CHECK_EQ(s->rx_delivered_frames, 4);
	CHECK_EQ(s->rx_out_of_buffer, 3);
	CHECK_EQ(rx->rq->rq->out_of_buffer, 3);
	CHECK(emu_dp_offer(r->port[0].dev, f.data, f.len) == EMU_RX_FULL);
	CHECK_EQ(s->rx_frames, 7);
	one(rx);
	CHECK(emu_dp_offer(r->port[0].dev, f.data, f.len) == EMU_RX_TAKEN);
	CHECK_EQ(s->rx_delivered_frames, 5);
	rig_free(r);
}

/* A frame larger than its buffers costs a WQE and one error; the queue goes on. */
static void
too_large_for_the_buffer(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_cq *cq = rig_cq_new(p, 4, 6);
	struct rig_rq *rq = rig_rq_new(p, cq, 2, 4, 0);
	uint8_t *buf = rig_mem(p, 256, 64);
	const struct prm_err_cqe *e;
	struct rig_frame f;

	rig_flow_all(p, rig_tir_new(p, rq, NULL, NULL), 0);
	rig_post(rq, buf, 100, p->lkey);
	rig_post(rq, buf, 100, p->lkey);
	memset(buf, 0xee, 256);
	rig_ip_frame(&f, p->dev, 4, 17, 59, 0, -1);
	CHECK_EQ(f.len, 101);
	arrive(r, 0, &f);
	CHECK_EQ(buf[100], 0xee);
	e = rig_cqe_error(cq, PRM_CQE_OPCODE_RESP_ERR);
	if (e != NULL) {
		CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR);
		CHECK_EQ(be16toh(e->wqe_counter), 0);
	}
	CHECK_EQ(rq->rq->state, EMU_QS_RDY);
	rig_ip_frame(&f, p->dev, 4, 17, 58, 0, -1);
	arrive(r, 0, &f);
	CHECK(rig_cqe(cq) != NULL);
	CHECK_EQ(p->dev->stats.rx_error_frames, 1);
	CHECK_EQ(p->dev->stats.rx_errors, 1);
	CHECK_EQ(p->dev->stats.rx_delivered_frames, 1);
	rig_free(r);
}

/* A key that does not allow the write: error, the rest flushed, the queue stopped until reset. */
static void
buffer_posted_twice(void)
{
	for (unsigned i = 0; i < 3; i++) {
		struct rig *r = rig_new(1, "loop");
		struct rig_port *p = &r->port[0];
		struct rig_cq *cq = rig_cq_new(p, 4, 6);
		struct rig_rq *rq = rig_rq_new(p, cq, 2, 4, 0);
		uint8_t *buf = rig_mem(p, 256, 64);
		const struct prm_err_cqe *e;
		uint64_t violations = rig_audit(r);
		struct rig_frame f;

		rig_flow_all(p, rig_tir_new(p, rq, NULL, NULL), 0);
		rig_post(rq, i == 2 ? p->arena + RIG_ARENA_BYTES - 10 : buf, 256,
			 i == 0 ? p->ro_lkey : i == 1 ? p->lkey + 0x4000 : p->lkey);
		rig_post(rq, buf, 256, p->lkey);
		memset(buf, 0xee, 256);
		rig_ip_frame(&f, p->dev, 4, 17, 58, 0, -1);
		arrive(r, 0, &f);
		e = rig_cqe_error(cq, PRM_CQE_OPCODE_RESP_ERR);
		if (e != NULL)
			CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_LOCAL_PROT_ERR);
		e = rig_cqe_error(cq, PRM_CQE_OPCODE_RESP_ERR);
		if (e != NULL)
			CHECK_EQ(e->syndrome, PRM_CQE_SYNDROME_WR_FLUSH_ERR);
		CHECK_EQ(buf[0], 0xee);
		CHECK_EQ(rq->rq->state, EMU_QS_ERR);
		CHECK_EQ(rig_audit(r), violations + 1);
		/* Posted to a dead queue: flushed as well. */
		rig_post(rq, buf, 256, p->lkey);
		rig_run(r);
		CHECK(rig_cqe_error(cq, PRM_CQE_OPCODE_RESP_ERR) != NULL);
		arrive(r, 0, &f);
		CHECK_EQ(p->dev->stats.rx_out_of_buffer, 1);
		CHECK_EQ(rig_rq_modify(rq, PRM_RQC_STATE_ERR, PRM_RQC_STATE_RST), 0);
		rq->pi = 0;
		rq->dbrec[0] = 0;
		CHECK_EQ(rig_rq_modify(rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY), 0);
		rig_post(rq, buf, 256, p->lkey);
		arrive(r, 0, &f);
		CHECK(rig_cqe(cq) != NULL && memcmp(buf, f.data, f.len) == 0);
		rig_free(r);
	}
}

static void
bad_producer(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 2);
	uint64_t violations = rig_audit(r);
	struct rig_frame f;

	rx->rq->dbrec[0] = htobe32(5); /* the ring has 4 */
	rig_ip_frame(&f, r->port[0].dev, 4, 17, 58, 0, -1);
	arrive(r, 0, &f);
	CHECK(rig_cqe_error(rx->cq, PRM_CQE_OPCODE_RESP_ERR) != NULL);
	CHECK_EQ(rx->rq->rq->state, EMU_QS_ERR);
	CHECK_EQ(rig_audit(r), violations + 1);
	CHECK_EQ(r->port[0].dev->stats.rx_delivered_frames, 0);
	rig_free(r);
}

/* A CQ smaller than the RQ and never emptied. */
static void
cq_overrun(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_cq *cq = rig_cq_new(p, 1, 6);
	struct rig_rq *rq = rig_rq_new(p, cq, 3, 4, 0);
	struct rig_frame f;

	rig_flow_all(p, rig_tir_new(p, rq, NULL, NULL), 0);
	for (unsigned i = 0; i < 8; i++)
		rig_post(rq, rig_mem(p, 256, 64), 256, p->lkey);
	rig_ip_frame(&f, p->dev, 4, 17, 58, 0, -1);
	for (unsigned i = 0; i < 5; i++)
		arrive(r, 0, &f);
	CHECK_EQ(p->cq_err_events, 1);
	CHECK_EQ(rq->rq->state, EMU_QS_ERR);
	CHECK(rig_cqe(cq) != NULL && rig_cqe(cq) != NULL && rig_cqe(cq) == NULL);
	rig_free(r);
}

/* Frames of 60 bytes in a second at 100 Gb/s, with FCS, preamble and gap. */
#define SHORT_PER_S (100000000000 / (84 * 8))

/* Rising for every frame, never ahead of the clock, a wire time apart when back to back. */
static void
timestamps(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], 8, 6), 8);
	struct rig_rx *rx = rig_rx_new(&r->port[1], 7);
	struct emu_clock *clock = &r->port[1].dev->clock;
	uint64_t last = emu_clock_cycles(clock), slack = clock->hz / 2000000 + 1;
	uint8_t *f = rig_mem(&r->port[0], 1500, 64);

	memcpy(f, r->port[1].dev->vport.mac, 6);
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < 100; i++)
			rig_send(sq, f, round % 2 ? 60 : 1500);
		rig_run(r);
		for (unsigned i = 0; i < 100; i++) {
			uint64_t ts = be64toh(one(rx)->timestamp);

			/* Short frames may begin within one cycle of a slow clock. */
			CHECK(ts > last || (ts == last && round % 2 && clock->hz < SHORT_PER_S));
			last = ts;
			rig_cqe(sq->cq);
		}
		CHECK(last <= emu_clock_cycles(clock) + slack);
		CHECK(last + clock->hz / 10 > emu_clock_cycles(clock));
	}
	rig_free(r);
}

/* A card that others share: unicast comes by the table of addresses, and else to the promiscuous. */
static void
shared_card(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 4);
	struct emu_dev *dev = r->port[0].dev;
	struct emu_l2_entry *e = &dev->l2.entry[77];
	struct rig_frame f, tagged;

	rig_ip_frame(&f, dev, 4, 17, 20, 0, -1);
	rig_ip_frame(&tagged, dev, 4, 17, 20, 0, 5);
	/* The kernel's driver has its interface's address there. */
	dev->l2.on = true;
	dev->l2.owned = false;
	arrive(r, 0, &f);
	(void)one(rx);
	dev->l2.owned = true;
	arrive(r, 0, &f);
	CHECK(rig_cqe(rx->cq) == NULL);
	CHECK_EQ(dev->stats.rx_elsewhere, 1);
	CHECK_EQ(dev->stats.rx_away_ucast_bytes, f.len);
	CHECK_EQ(dev->stats.rx_frames, 2);
	*e = (struct emu_l2_entry){.used = true};
	memcpy(e->mac, f.data, 6);
	for (unsigned i = 0; i < 3; i++) {
		arrive(r, 0, &f);
		(void)one(rx);
	}
	arrive(r, 0, &tagged);
	(void)one(rx);
	/* Of one VLAN only. */
	e->vlan_valid = true;
	e->vlan = 6;
	arrive(r, 0, &f);
	arrive(r, 0, &tagged);
	CHECK(rig_cqe(rx->cq) == NULL);
	e->vlan = 5;
	arrive(r, 0, &tagged);
	(void)one(rx);
	e->used = false;
	arrive(r, 0, &tagged);
	CHECK(rig_cqe(rx->cq) == NULL);
	CHECK_EQ(dev->stats.rx_elsewhere, 4);
	/* The promiscuous sees all; groups are not looked up. */
	dev->vport.promisc_all = true;
	arrive(r, 0, &f);
	(void)one(rx);
	dev->vport.promisc_all = false;
	f.data[0] |= 1;
	arrive(r, 0, &f);
	(void)one(rx);
	CHECK_EQ(dev->stats.rx_elsewhere, 4);
	rig_free(r);
}

/* A virtual function gets what its lists name, and all that its modes request only if it is trusted. */
static void
virtual_function(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], 4);
	struct emu_dev *dev = r->port[0].dev;
	struct rig_frame f, group;

	rig_ip_frame(&f, dev, 4, 17, 20, 0, -1);
	group = f;
	group.data[0] |= 1;
	dev->vf = EMU_VF;
	/* The kernel's driver has its interface's address in the list; a program in VFIO mode has to write it. */
	dev->l2.owned = false;
	arrive(r, 0, &f);
	(void)one(rx);
	dev->l2.owned = true;
	arrive(r, 0, &f);
	arrive(r, 0, &group);
	dev->vport.promisc_all = dev->vport.promisc_mc = dev->vport.promisc_uc = true;
	arrive(r, 0, &f);
	arrive(r, 0, &group);
	CHECK(rig_cqe(rx->cq) == NULL);
	CHECK_EQ(dev->stats.rx_elsewhere, 4);
	CHECK_EQ(emu_port_ucast(dev, f.data, true), 0);
	CHECK_EQ(emu_port_ucast(dev, f.data, true), -EEXIST);
	CHECK_EQ(emu_port_mcast(dev, group.data, true), 0);
	arrive(r, 0, &f);
	(void)one(rx);
	arrive(r, 0, &group);
	(void)one(rx);
	CHECK_EQ(emu_port_ucast(dev, f.data, false), 0);
	CHECK_EQ(emu_port_ucast(dev, f.data, false), -ENOENT);
	CHECK_EQ(emu_port_mcast(dev, group.data, false), 0);
	dev->vf |= EMU_VF_TRUST;
	arrive(r, 0, &f);
	(void)one(rx);
	dev->vport.promisc_all = false;
	arrive(r, 0, &group);
	(void)one(rx);
	/* promisc_uc alone has no effect. */
	arrive(r, 0, &f);
	CHECK(rig_cqe(rx->cq) == NULL);
	CHECK_EQ(dev->stats.rx_elsewhere, 5);
	rig_free(r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"header_types", header_types},
		{"tcp_kinds", tcp_kinds},
		{"many_segments", many_segments},
		{"checksum_results", checksum_results},
		{"fragments_and_others", fragments_and_others},
		{"tunnels", tunnels},
		{"vlan_and_fcs", vlan_and_fcs},
		{"fcs_value", fcs_value},
		{"out_of_buffer", out_of_buffer},
		{"too_large_for_the_buffer", too_large_for_the_buffer},
		{"buffer_posted_twice", buffer_posted_twice},
		{"bad_producer", bad_producer},
		{"cq_overrun", cq_overrun},
		{"timestamps", timestamps},
		{"shared_card", shared_card},
		{"virtual_function", virtual_function},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
