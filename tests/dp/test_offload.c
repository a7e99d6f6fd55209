/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send offloads: checksums, VLAN tags, LSO; what arrives is compared byte by byte. */
#include "rig.h"

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	struct rig_frame *f;
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(2, NULL)};

	b.sq = rig_sq_new(&b.r->port[0], rig_cq_new(&b.r->port[0], 8, 6), 6);
	b.rx = rig_rx_new(&b.r->port[1], 6);
	b.f = rig_mem(&b.r->port[0], sizeof(*b.f), 64);
	b.rx->rq->rq->vsd = true;
	return b;
}

/* The next frame that arrived, in out; its completion. */
static const struct prm_cqe64 *
next(struct bench *b, struct rig_frame *out)
{
	const struct prm_cqe64 *cqe = rig_cqe(b->rx->cq);
	static const struct prm_cqe64 none;
	unsigned at;

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return &none;
	at = be16toh(cqe->wqe_counter) & 63;
	out->len = be32toh(cqe->byte_cnt);
	memcpy(out->data, b->rx->buf[at], out->len);
	rig_post(b->rx->rq, b->rx->buf[at], RIG_BUF_BYTES, b->r->port[1].lkey);
	return cqe;
}

static void
send(struct bench *b, const struct rig_eth *eth, unsigned inl)
{
	struct rig_eth e = *eth;

	rig_wqe(b->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	e.inl = b->f->data;
	e.inl_len = inl;
	rig_wqe_eth(b->sq, &e);
	rig_wqe_ptr(b->sq, b->f->data + inl, b->f->len - inl, b->sq->port->lkey);
	rig_wqe_end(b->sq);
	rig_sq_record(b->sq);
	rig_sq_bell(b->sq);
	rig_run(b->r);
	CHECK(rig_cqe(b->sq->cq) != NULL);
}

/* The former content of the fields has no effect; the source in host memory does not change. */
static void
checksums(void)
{
	struct bench b = setup();

	for (unsigned i = 0; i < 64; i++) {
		unsigned version = i & 1 ? 6 : 4, proto = i & 2 ? 6 : 17, options = i & 4 ? 8 : 0;
		int vlan = i & 8 ? 33 : -1;
		unsigned l3 = vlan >= 0 ? 18 : 14, l4 = l3 + (version == 4 ? 20 : 40) + options;
		unsigned field = l4 + (proto == 6 ? 16 : 6);
		struct rig_frame want, before, got;

		rig_ip_frame(b.f, b.r->port[1].dev, version, proto, 20 + i * 3, options, vlan);
		want = *b.f;
		memcpy(b.f->data + field, "\x5a\xa5", 2);
		if (version == 4)
			memcpy(b.f->data + l3 + 10, "\x77\x88", 2);
		before = *b.f;
		send(&b, &(struct rig_eth){.vlan = -1, .cs_flags = PRM_ETH_CS_FLAGS_L3 |
								   PRM_ETH_CS_FLAGS_L4},
		     i & 16 ? 18 : 0);
		CHECK_EQ(next(&b, &got)->hds_ip_ext, 7);
		CHECK(got.len == want.len && memcmp(got.data, want.data, want.len) == 0);
		CHECK(memcmp(b.f->data, before.data, before.len) == 0);
		/* Only the requested checksum. */
		send(&b, &(struct rig_eth){.vlan = -1, .cs_flags = PRM_ETH_CS_FLAGS_L3}, 0);
		next(&b, &got);
		CHECK(memcmp(got.data + field, "\x5a\xa5", 2) == 0);
		CHECK(memcmp(got.data + l3, want.data + l3, 20) == 0);
		send(&b, &(struct rig_eth){.vlan = -1, .cs_flags = PRM_ETH_CS_FLAGS_L4}, 0);
		next(&b, &got);
		CHECK(memcmp(got.data + field, want.data + field, 2) == 0);
		if (version == 4)
			CHECK(memcmp(got.data + l3 + 10, "\x77\x88", 2) == 0);
	}
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* A UDP checksum that comes out as 0 is sent as 0xffff. */
static void
udp_checksum_of_zero(void)
{
	struct bench b = setup();
	struct rig_frame got;
	unsigned i;

	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 20, 0, -1);
	for (i = 0; i < 0x10000; i++) {
		b.f->data[50] = (uint8_t)(i >> 8);
		b.f->data[51] = (uint8_t)i;
		rig_fix_checksums(b.f, 14);
		if (b.f->data[40] == 0xff && b.f->data[41] == 0xff)
			break;
	}
	CHECK(i < 0x10000);
	b.f->data[40] = b.f->data[41] = 0;
	send(&b, &(struct rig_eth){.vlan = -1, .cs_flags = PRM_ETH_CS_FLAGS_L4}, 0);
	next(&b, &got);
	CHECK(got.data[40] == 0xff && got.data[41] == 0xff);
	rig_free(b.r);
}

static void
vlan_insertion(void)
{
	struct bench b = setup();
	struct rig_frame got, want;

	for (unsigned i = 0; i < 2; i++) {
		rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 40, 0, -1);
		rig_ip_frame(&want, b.r->port[1].dev, 4, 17, 40, 0, 0x3abc);
		send(&b, &(struct rig_eth){.vlan = 0x3abc, .cs_flags = i ? 0xc0 : 0}, 0);
		next(&b, &got);
		CHECK(got.len == want.len && memcmp(got.data, want.data, want.len) == 0);
	}
	CHECK_EQ(b.r->port[0].dev->stats.tx_bytes, 2 * want.len);
	rig_free(b.r);
}

/* An inner and an outer checksum in one frame. */
static void
tunnel_checksums(void)
{
	struct bench b = setup();
	struct rig_frame inner, want, got;

	rig_ip_frame(&inner, b.r->port[1].dev, 4, 6, 20, 0, -1);
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 8 + inner.len, 0, -1);
	memcpy(b.f->data + 36, "\x12\xb5", 2); /* 4789 */
	memset(b.f->data + 42, 0, 8);
	b.f->data[42] = 8;
	memcpy(b.f->data + 50, inner.data, inner.len);
	rig_fix_checksums(b.f, 14);
	want = *b.f;
	memset(b.f->data + 24, 0x11, 2);      /* outer IP */
	memset(b.f->data + 40, 0x22, 2);      /* outer UDP */
	memset(b.f->data + 50 + 24, 0x33, 2); /* inner IP */
	memset(b.f->data + 50 + 50, 0x44, 2); /* inner TCP */
	send(&b, &(struct rig_eth){.vlan = -1, .cs_flags = 0xf0}, 0);
	next(&b, &got);
	CHECK(got.len == want.len && memcmp(got.data, want.data, want.len) == 0);
	rig_free(b.r);
}

/* The frame arrives as want if right, else with other bytes; there is no error. */
static void
swp_sent(struct bench *b, const struct rig_frame *want, const struct rig_eth *eth, unsigned inl, bool right)
{
	struct rig_frame got;

	send(b, eth, inl);
	next(b, &got);
	CHECK(got.len == want->len && (memcmp(got.data, want->data, want->len) == 0) == right);
}

/* IPv4 with TCP in IPv4, at offsets in the WQE. A wrong offset gives a wrong frame. */
static void
software_parser(void)
{
	struct bench b = setup();
	struct rig_eth eth = {.vlan = -1, .cs_flags = 0x70, .swp = {0, 7, 27, 17}};
	struct rig_frame inner, want;
	const struct prm_err_cqe *e;
	uint16_t sum;

	rig_ip_frame(&inner, b.r->port[1].dev, 4, 6, 21, 0, -1);
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, inner.len - 14 - 8, 0, -1);
	b.f->data[14 + 9] = 4;
	memcpy(b.f->data + 34, inner.data + 14, inner.len - 14);
	memset(b.f->data + 24, 0, 2);
	sum = (uint16_t)~rig_sum16(b.f->data + 14, 20, 0);
	b.f->data[24] = (uint8_t)(sum >> 8);
	b.f->data[25] = (uint8_t)sum;
	want = *b.f;
	memset(b.f->data + 24, 0x11, 2);      /* outer IP */
	memset(b.f->data + 34 + 10, 0x33, 2); /* inner IP */
	memset(b.f->data + 54 + 16, 0x44, 2); /* inner TCP */
	b.sq->sq->allow_swp = true;
	swp_sent(&b, &want, &eth, 0, true);
	swp_sent(&b, &want, &eth, 18, true);
	for (unsigned i = 1; i < 5; i++) {
		eth.swp[i] ^= i < 4 ? 1 : 0x02;
		swp_sent(&b, &want, &eth, 0, false);
		eth.swp[i] = 255;
		swp_sent(&b, &want, &eth, 0, false);
		memcpy(eth.swp, (const uint8_t[5]){0, 7, 27, 17}, 5);
	}
	swp_sent(&b, &want, &(struct rig_eth){.vlan = -1, .cs_flags = 0x70}, 0,
		 b.r->port[0].dev->profile->tunnel_stateless_ip_over_ip_tx);
	CHECK_EQ(rig_audit(b.r), 0);
	/* An SQ that may not. */
	b.sq->sq->allow_swp = false;
	rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &eth);
	rig_wqe_ptr(b.sq, b.f->data, b.f->len, b.sq->port->lkey);
	rig_wqe_end(b.sq);
	rig_sq_record(b.sq);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	e = (const struct prm_err_cqe *)rig_cqe(b.sq->cq);
	CHECK(e != NULL && e->syndrome == PRM_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	rig_free(b.r);
}

static void
put(uint8_t *p, uint32_t v, unsigned bytes)
{
	while (bytes-- != 0) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

/* Cuts a message of every size around multiples of the mss; each frame is checked in full. */
static void
lso(void)
{
	struct bench b = setup();
	static const unsigned sizes[] = {1, 99, 100, 101, 199, 200, 201, 1000, 1437};
	uint8_t *message = rig_mem(&b.r->port[0], 2000, 64);

	for (unsigned i = 0; i < 2000; i++)
		message[i] = (uint8_t)(i * 31 + 7);
	for (unsigned n = 0; n < 4 * sizeof(sizes) / sizeof(sizes[0]); n++) {
		unsigned bytes = sizes[n / 4], version = n & 1 ? 6 : 4, mss = 100, at = 0, seg = 0;
		int vlan = n & 2 ? 5 : -1;
		unsigned l3 = vlan >= 0 ? 18 : 14, tcp = l3 + (version == 4 ? 20 : 40);
		unsigned header = tcp + 20;

		rig_ip_frame(b.f, b.r->port[1].dev, version, 6, 0, 0, vlan);
		put(b.f->data + tcp + 4, 0xfffffff0, 4);
		b.f->data[tcp + 13] = 0x80 | 0x10 | 0x08 | 0x01; /* CWR ACK PSH FIN */
		if (version == 4)
			put(b.f->data + l3 + 4, 0xffff, 2); /* identification goes round */
		rig_wqe(b.sq, PRM_WQE_OPCODE_TSO, RIG_CE_CQE);
		rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1, .cs_flags = 0xc0,
						    .mss = (uint16_t)mss, .inl = b.f->data,
						    .inl_len = header});
		rig_wqe_ptr(b.sq, message, bytes / 2 + 1, b.sq->port->lkey);
		if (bytes - bytes / 2 - 1 != 0)
			rig_wqe_ptr(b.sq, message + bytes / 2 + 1, bytes - bytes / 2 - 1,
				    b.sq->port->lkey);
		rig_wqe_end(b.sq);
		rig_sq_record(b.sq);
		rig_sq_bell(b.sq);
		rig_run(b.r);
		CHECK(rig_cqe(b.sq->cq) != NULL);
		for (; at < bytes; seg++) {
			unsigned part = bytes - at < mss ? bytes - at : mss;
			struct rig_frame want = *b.f, got;

			want.len = header + part;
			memcpy(want.data + header, message + at, part);
			put(want.data + tcp + 4, 0xfffffff0 + at, 4);
			want.data[tcp + 13] = (uint8_t)(0x10 | (seg == 0 ? 0x80 : 0) |
							(at + part == bytes ? 0x09 : 0));
			if (version == 4) {
				put(want.data + l3 + 2, want.len - l3, 2);
				put(want.data + l3 + 4, 0xffff + seg, 2);
			} else {
				put(want.data + l3 + 4, want.len - l3 - 40, 2);
			}
			rig_fix_checksums(&want, l3);
			next(&b, &got);
			CHECK(got.len == want.len && memcmp(got.data, want.data, want.len) == 0);
			at += part;
		}
		CHECK(rig_cqe(b.rx->cq) == NULL);
	}
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"checksums", checksums},
		{"udp_checksum_of_zero", udp_checksum_of_zero},
		{"vlan_insertion", vlan_insertion},
		{"tunnel_checksums", tunnel_checksums},
		{"lso", lso},
		{"software_parser", software_parser},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
