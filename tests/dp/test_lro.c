/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* LRO: which segments become one packet, what ends a session, the packet's strides and completion. */
#include "core/emu_clock.h"
#include "../await.h"
#include "rig.h"

#define WQES 4u
#define STRIDES 32u
#define STRIDE_BYTES 2048u
#define MSS 1400u
#define OPTION_BYTES 12u
#define TIMEOUT_MAX_US 1024u
enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32, ECE = 64, CWR = 128 };

struct bench {
	struct rig *r;
	struct rig_port *p;
	struct rig_cq *cq;
	struct rig_rq *rq;
	uint8_t *buf[WQES];
	unsigned wqe, used;
};

/* A segment; what a test changes of it. */
struct seg {
	unsigned version;
	int vlan;
	uint32_t seq, ack;
	unsigned payload, flags, window, ttl, tos, port, trailer;
	const uint8_t *option; /* OPTION_BYTES */
	bool fragment, ip_options, bad_ip, bad_tcp, other_mac, other_ip;
};

static const uint8_t stamp[OPTION_BYTES] = {1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 7};
static const uint8_t stamp_later[OPTION_BYTES] = {1, 1, 8, 10, 0, 0, 0, 10, 0, 0, 0, 7};
static const uint8_t sack[OPTION_BYTES] = {1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 7};

static void
build(struct rig_frame *f, const struct emu_dev *dev, const struct seg *s)
{
	unsigned l3 = s->vlan >= 0 ? 18 : 14, extra = s->option != NULL ? OPTION_BYTES : 0;
	uint8_t *ip = f->data + l3, *tcp;

	rig_ip_frame(f, dev, s->version, 6, s->payload + extra, s->ip_options ? 8 : 0, s->vlan);
	tcp = ip + (s->version == 4 ? 20 : 40) + (s->ip_options ? 8 : 0);
	for (unsigned i = 0; i < s->payload; i++)
		tcp[20 + extra + i] = (uint8_t)((s->seq + i) * 13 >> 3);
	if (extra != 0)
		memcpy(tcp + 20, s->option, extra);
	tcp[12] = (uint8_t)((20 + extra) << 2);
	tcp[13] = (uint8_t)s->flags;
	for (unsigned i = 0; i < 4; i++) {
		tcp[4 + i] = (uint8_t)(s->seq >> (24 - 8 * i));
		tcp[8 + i] = (uint8_t)(s->ack >> (24 - 8 * i));
	}
	tcp[0] = (uint8_t)(s->port >> 8);
	tcp[1] = (uint8_t)s->port;
	tcp[14] = (uint8_t)(s->window >> 8);
	tcp[15] = (uint8_t)s->window;
	if (s->version == 4) {
		ip[1] = (uint8_t)s->tos;
		ip[4] = (uint8_t)(s->seq >> 8); /* any identification */
		ip[6] = s->fragment ? 0x20 : 0;
		ip[8] = (uint8_t)s->ttl;
		ip[15] ^= s->other_ip;
	} else {
		ip[1] = (uint8_t)(s->tos << 4);
		ip[7] = (uint8_t)s->ttl;
		ip[9] ^= s->other_ip;
	}
	f->data[11] ^= s->other_mac;
	rig_fix_checksums(f, l3);
	ip[10] ^= s->bad_ip;
	tcp[16] ^= s->bad_tcp;
	memset(f->data + f->len, 0xaa, s->trailer);
	f->len += s->trailer;
}

static struct seg
segment(unsigned version, uint32_t seq)
{
	return (struct seg){.version = version, .vlan = -1, .seq = seq, .ack = 500, .payload = MSS, .flags = ACK,
			    .window = 4000, .ttl = 64, .port = 1234};
}

static void
post(struct bench *b)
{
	struct prm_rq_wqe seg[2] = {0};

	seg[1].byte_count = htobe32(STRIDES * STRIDE_BYTES);
	seg[1].lkey = htobe32(b->p->lkey);
	seg[1].addr = htobe64(rig_addr(b->buf[b->rq->pi % WQES]));
	rig_post_segs(b->rq, seg, 2);
}

static struct emu_tir *
tir_new(struct bench *b, unsigned size, unsigned us)
{
	struct prm_create_tir_in in = {0};
	struct prm_tirc *tirc = prm_create_tir_in_ctx(&in);

	prm_create_tir_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIR);
	prm_tirc_set_transport_domain(tirc, b->p->td);
	prm_tirc_set_inline_rqn(tirc, b->rq->rq->obj.id);
	prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_IPV4_LRO | PRM_TIRC_PACKET_MERGE_IPV6_LRO);
	prm_tirc_set_lro_max_ip_payload_size(tirc, size);
	prm_tirc_set_lro_timeout_period_usecs(tirc, us);
	return rig_make(b->p, &in, sizeof(in), "TIR");
}

static void
bench_new(struct bench *b, unsigned size, unsigned us)
{
	memset(b, 0, sizeof(*b));
	b->r = rig_new(1, "none");
	emu_dp_poll(&b->r->m); /* takes the time */
	b->p = &b->r->port[0];
	emu_port_set_carrier(b->p->dev, true);
	b->cq = rig_cq_new(b->p, 10, 6);
	b->rq = rig_rq_new(b->p, b->cq, 2, 5, RIG_RQ_STRIDES(5, 11));
	rig_flow_all(b->p, tir_new(b, size, us), 0);
	for (unsigned i = 0; i < WQES; i++) {
		b->buf[i] = rig_mem(b->p, STRIDES * STRIDE_BYTES, 64);
		post(b);
	}
}

static enum emu_rx_result
arrive(struct bench *b, const struct seg *s)
{
	struct rig_frame f;

	build(&f, b->p->dev, s);
	return emu_dp_offer(b->p->dev, f.data, f.len);
}

/* Ends the session by a frame that is no segment, and takes that frame. */
static void
end(struct bench *b)
{
	struct rig_frame f;

	rig_ip_frame(&f, b->p->dev, 4, 17, 100, 0, -1);
	rig_arrive(b->p, &f);
}

/* The next completion, of a packet; its strides become free. */
static const struct prm_cqe64 *
taken(struct bench *b, unsigned segs, unsigned len, const uint8_t **data)
{
	const struct prm_cqe64 *cqe = rig_cqe(b->cq);
	unsigned strides;

	CHECK(cqe != NULL);
	if (cqe == NULL)
		return NULL;
	strides = be32toh(cqe->byte_cnt) >> 16;
	if (strides >> 15 != 0) {
		CHECK_EQ(b->used + (strides & 0x7fff), STRIDES);
		b->used = 0;
		b->wqe++;
		post(b);
		return taken(b, segs, len, data);
	}
	CHECK_EQ(be16toh(cqe->wqe_id) % WQES, b->wqe % WQES);
	CHECK_EQ(be16toh(cqe->wqe_counter), b->used);
	CHECK_EQ(be32toh(cqe->srqn_uidx) >> 24, segs);
	CHECK_EQ(be32toh(cqe->byte_cnt) & 0xffff, len);
	CHECK_EQ(strides, (len + STRIDE_BYTES - 1) / STRIDE_BYTES);
	if (data != NULL)
		*data = b->buf[b->wqe % WQES] + b->used * STRIDE_BYTES;
	b->used += strides;
	if (b->used == STRIDES) {
		b->used = 0;
		b->wqe++;
		post(b);
	}
	return cqe;
}

static void
finish(struct bench *b)
{
	CHECK(rig_cqe(b->cq) == NULL);
	CHECK_EQ(rig_audit(b->r), 0);
	rig_free(b->r);
}

/* Headers of the first segment, the payload of all; what the driver updates the headers with. */
static void
merged_one(unsigned version, int vlan, const uint8_t *option, uint32_t seq)
{
	unsigned l3 = vlan >= 0 ? 18 : 14;
	unsigned tcp = l3 + (version == 4 ? 20 : 40), from = tcp + 20 + (option != NULL ? OPTION_BYTES : 0);
	unsigned gap = vlan >= 0 ? 4 : 0, len = from - gap + 5 * MSS;
	const struct prm_cqe64 *cqe;
	const uint8_t *data;
	struct rig_frame f;
	struct bench b;
	struct seg s;

	bench_new(&b, 255, TIMEOUT_MAX_US);
	for (unsigned i = 0; i < 5; i++) {
		s = segment(version, seq + i * MSS);
		s.vlan = vlan;
		s.option = option;
		s.ack += i * 10;
		s.window += i;
		s.ttl = i == 2 ? 17 : 64;
		arrive(&b, &s);
		CHECK(rig_cqe(b.cq) == NULL);
	}
	CHECK_EQ(b.p->dev->stats.rx_frames, 5);
	end(&b);
	cqe = taken(&b, 5, len, &data);
	if (cqe != NULL) {
		s = segment(version, seq);
		s.vlan = vlan;
		s.option = option;
		build(&f, b.p->dev, &s);
		CHECK(memcmp(data, f.data, 12) == 0);
		CHECK(memcmp(data + 12, f.data + 12 + gap, from - gap - 12) == 0);
		for (unsigned i = 0; i < 5 * MSS; i++)
			if (data[from - gap + i] != (uint8_t)((seq + i / MSS * MSS + i % MSS) * 13 >> 3))
				CHECK_EQ(i, UINT32_MAX);
		CHECK_EQ(be32toh(cqe->lro_ack_seq_num), 540);
		CHECK_EQ(be16toh(cqe->lro_tcp_win), 4004);
		CHECK_EQ(cqe->lro_min_ttl, 17);
		CHECK_EQ(cqe->lro_tcppsh_abort_dupack, 0);
		CHECK_EQ(cqe->hds_ip_ext, 7);
		CHECK_EQ(cqe->l4_hdr_type_etc >> 4, PRM_CQE_L4_HDR_TYPE_TCP_ACK);
		CHECK_EQ(cqe->l4_hdr_type_etc & 1, vlan >= 0);
		CHECK_EQ(be16toh(cqe->checksum), rig_sum16(data + from - gap, 5 * MSS, 0));
	}
	taken(&b, 1, 142, NULL);
	CHECK_EQ(b.p->dev->stats.rx_lro_packets, 1);
	CHECK_EQ(b.p->dev->stats.rx_lro_segments, 5);
	CHECK_EQ(b.p->dev->stats.rx_delivered_frames, 2);
	finish(&b);
}

static void
merged(void)
{
	merged_one(4, -1, NULL, 1000);
	merged_one(4, 100, NULL, 1000);
	merged_one(4, -1, stamp, UINT32_MAX - 2 * MSS); /* wraps */
	merged_one(6, -1, NULL, 1000);
	merged_one(6, 100, stamp, 1000);
}

/* Two segments, then one that is not the third: the session ends, and it begins another or goes alone. */
static void
ends(void)
{
	static const struct {
		const char *name;
		struct seg change; /* what differs from the third segment, XOR; option: replaced */
		bool begins;
	} c[] = {
		{"gap", {.seq = 0x100}, true}, {"again", {.seq = 3800 ^ 2400}, true},
		{"old ack", {.ack = 500 ^ 499}, true}, {"tos", {.tos = 1}, true},
		{"port", {.port = 1}, true}, {"mac", {.other_mac = true}, true},
		{"ip", {.other_ip = true}, true}, {"timestamp", {.option = stamp}, true},
		{"psh", {.flags = PSH}, false}, {"fin", {.flags = FIN}, false}, {"syn", {.flags = SYN}, false},
		{"rst", {.flags = RST}, false}, {"urg", {.flags = URG}, false}, {"ece", {.flags = ECE}, false},
		{"cwr", {.flags = CWR}, false}, {"no ack", {.flags = ACK}, false},
		{"short", {.payload = MSS ^ 1347}, false}, {"empty", {.payload = MSS}, false},
		{"sack", {.option = sack}, false}, {"fragment", {.fragment = true}, false},
		{"ip options", {.ip_options = true}, false}, {"bad ip", {.bad_ip = true}, false},
		{"bad tcp", {.bad_tcp = true}, false}, {"trailer", {.trailer = 4}, false},
	};

	for (unsigned i = 0; i < 2 * sizeof(c) / sizeof(c[0]); i++) {
		const struct seg *x = &c[i / 2].change;
		unsigned version = i % 2 == 0 ? 4 : 6, headers = version == 4 ? 54 : 74;
		struct seg s[3];
		unsigned len;
		struct bench b;

		if (version == 6 && (x->fragment || x->bad_ip))
			continue;
		bench_new(&b, 255, TIMEOUT_MAX_US);
		for (unsigned k = 0; k < 3; k++)
			s[k] = segment(version, 1000 + k * MSS);
		s[2].seq ^= x->seq;
		s[2].ack ^= x->ack;
		s[2].tos ^= x->tos;
		s[2].port ^= x->port;
		s[2].flags ^= x->flags;
		s[2].payload ^= x->payload;
		s[2].option = x->option;
		s[2].fragment = x->fragment;
		s[2].ip_options = x->ip_options;
		s[2].bad_ip = x->bad_ip;
		s[2].bad_tcp = x->bad_tcp;
		s[2].trailer = x->trailer;
		s[2].other_mac = x->other_mac;
		s[2].other_ip = x->other_ip;
		for (unsigned k = 0; k < 3; k++)
			arrive(&b, &s[k]);
		len = headers + s[2].payload + (x->option != NULL ? OPTION_BYTES : 0) + x->trailer +
		      (x->ip_options ? 8 : 0);
		if (taken(&b, 2, headers + 2 * MSS, NULL) == NULL)
			fprintf(stderr, "%s: the session has not ended\n", c[i / 2].name);
		if (c[i / 2].begins)
			CHECK(rig_cqe(b.cq) == NULL);
		else
			taken(&b, 1, len, NULL);
		end(&b);
		if (c[i / 2].begins)
			taken(&b, 1, len, NULL);
		taken(&b, 1, 142, NULL);
		finish(&b);
	}
}

/* Options that differ in the value only; equal ones are in merged(). */
static void
timestamps(void)
{
	struct bench b;
	struct seg s;

	bench_new(&b, 255, TIMEOUT_MAX_US);
	for (unsigned i = 0; i < 4; i++) {
		s = segment(4, 1000 + i * MSS);
		s.option = i < 2 ? stamp : stamp_later;
		arrive(&b, &s);
	}
	taken(&b, 2, 66 + 2 * MSS, NULL);
	end(&b);
	taken(&b, 2, 66 + 2 * MSS, NULL);
	taken(&b, 1, 142, NULL);
	finish(&b);
}

/* Size: TCP header and payload with lro_max_msg_sz_mode 0. The segment that does not fit begins the next session. */
static void
sizes(void)
{
	struct bench b;
	struct seg s;

	bench_new(&b, 17, TIMEOUT_MAX_US); /* 4352: three segments */
	for (unsigned i = 0; i < 7; i++) {
		s = segment(4, 1000 + i * MSS);
		arrive(&b, &s);
	}
	taken(&b, 3, 54 + 3 * MSS, NULL);
	taken(&b, 3, 54 + 3 * MSS, NULL);
	end(&b);
	taken(&b, 1, 54 + MSS, NULL);
	taken(&b, 1, 142, NULL);
	finish(&b);
}

/* No more than a WQE holds; the last WQE has only the strides that are left. */
static void
wqe_end(void)
{
	uint32_t seq = 1000;
	struct bench b;
	struct seg s;

	bench_new(&b, 255, TIMEOUT_MAX_US);
	for (unsigned i = 0; i < 47; i++, seq += MSS) {
		s = segment(4, seq);
		arrive(&b, &s);
	}
	taken(&b, 46, 54 + 46 * MSS, NULL);
	end(&b);
	taken(&b, 1, 54 + MSS, NULL);
	taken(&b, 1, 142, NULL);
	b.rq->dbrec[0] = htobe32(b.rq->rq->ci + 1u); /* one WQE, which is in use */
	/* 30 strides: 43 segments. */
	for (unsigned i = 0; i < 44; i++, seq += MSS) {
		s = segment(4, seq);
		CHECK_EQ(arrive(&b, &s), i < 43 ? EMU_RX_TAKEN : EMU_RX_FULL);
	}
	taken(&b, 43, 54 + 43 * MSS, NULL);
	finish(&b);
}

static void
count(void)
{
	struct rig_frame f;
	struct bench b;
	char err[128];
	struct seg s;

	rig_profile = emu_profile_change(emu_profile_default(), "lro_min_mss_size=100", err, sizeof(err));
	bench_new(&b, 255, TIMEOUT_MAX_US);
	for (unsigned i = 0; i < 256; i++) {
		s = segment(4, 1000 + i * 100);
		s.payload = 100;
		build(&f, b.p->dev, &s);
		emu_dp_ingress(b.p->dev, f.data, f.len);
	}
	taken(&b, 255, 54 + 255 * 100, NULL);
	end(&b);
	taken(&b, 1, 154, NULL);
	taken(&b, 1, 142, NULL);
	finish(&b);
	rig_profile = NULL;
}

/* With the longest period a session outlasts the same time, but for the rounds in which the host stalls. */
static void
longest(void)
{
	bool merged = false;
	struct bench b;
	struct seg s;

	bench_new(&b, 255, TIMEOUT_MAX_US);
	for (unsigned i = 0; i < 100 && !merged; i++) {
		s = segment(4, 1000 + i * MSS);
		arrive(&b, &s);
		pass_us(100);
		emu_dp_poll(&b.r->m);
		merged = rig_cqe(b.cq) == NULL;
	}
	CHECK(merged);
	rig_free(b.r);
}

/* The only test in real time, before the others. */
static void
timer(void)
{
	struct bench b;
	struct seg s;

	bench_new(&b, 255, 8);
	s = segment(4, 1000);
	arrive(&b, &s);
	CHECK(rig_cqe(b.cq) == NULL);
	pass_us(100);
	emu_dp_poll(&b.r->m);
	taken(&b, 1, 54 + MSS, NULL);
	/* A segment that comes later begins the next session. */
	s = segment(4, 1000 + MSS);
	arrive(&b, &s);
	pass_us(100);
	end(&b);
	taken(&b, 1, 54 + MSS, NULL);
	taken(&b, 1, 142, NULL);
	finish(&b);
	longest();
	emu_time_virtual();
}

/* A card that merges segments with PSH: the flag ends the session, and cannot begin one. */
static void
push(void)
{
	const struct prm_cqe64 *cqe;
	struct bench b;
	char err[128];
	struct seg s;

	rig_profile = emu_profile_change(emu_profile_default(), "lro_psh_flag=1", err, sizeof(err));
	bench_new(&b, 255, TIMEOUT_MAX_US);
	for (unsigned i = 0; i < 3; i++) {
		s = segment(4, 1000 + i * MSS);
		s.flags = i == 2 ? ACK | PSH : ACK;
		arrive(&b, &s);
	}
	cqe = taken(&b, 3, 54 + 3 * MSS, NULL);
	CHECK(cqe != NULL && cqe->lro_tcppsh_abort_dupack == 0x40);
	arrive(&b, &s);
	taken(&b, 1, 54 + MSS, NULL);
	finish(&b);
	rig_profile = NULL;
}

static void
stopped(void)
{
	struct bench b;
	struct seg s;

	bench_new(&b, 255, 8);
	s = segment(4, 1000);
	arrive(&b, &s);
	rig_rq_modify(b.rq, PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST);
	emu_dp_poll(&b.r->m);
	CHECK(rig_cqe(b.cq) == NULL);
	b.rq->pi = 0;
	b.rq->dbrec[0] = 0;
	rig_rq_modify(b.rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY);
	/* No WQE: left to the wire, or dropped. */
	CHECK_EQ(arrive(&b, &s), EMU_RX_FULL);
	post(&b);
	CHECK_EQ(arrive(&b, &s), EMU_RX_TAKEN);
	/* The program takes the WQE back. */
	b.rq->dbrec[0] = 0;
	emu_dp_poll(&b.r->m);
	CHECK_EQ(b.p->dev->stats.rx_out_of_buffer, 1);
	CHECK(rig_cqe(b.cq) == NULL);
	/* Destroyed with a session. */
	b.rq->dbrec[0] = htobe32(1);
	arrive(&b, &s);
	finish(&b);
}

/* A packet of a session goes out alone; mini CQEs do not have its fields. */
static void
compressed(void)
{
	struct bench b;
	struct seg s;

	bench_new(&b, 255, TIMEOUT_MAX_US);
	b.cq = rig_cq_new_comp(b.p, 6, 3, false);
	rig_rq_modify(b.rq, PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST);
	b.rq->rq->cq = b.cq->cq;
	b.rq->pi = 0;
	b.rq->dbrec[0] = 0;
	rig_rq_modify(b.rq, PRM_RQC_STATE_RST, PRM_RQC_STATE_RDY);
	for (unsigned i = 0; i < WQES; i++)
		post(&b);
	for (unsigned i = 0; i < 6; i++) {
		s = segment(4, 1000 + i * MSS);
		s.port += i / 2;
		arrive(&b, &s);
	}
	end(&b);
	end(&b);
	emu_dp_poll(&b.r->m);
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t *cqe = b.cq->ring + i * 64;

		CHECK_EQ(cqe[63], PRM_CQE_OPCODE_RESP_SEND << 4);
		CHECK_EQ(cqe[32], 2);
	}
	CHECK_EQ(b.cq->ring[3 * 64 + 63], PRM_CQE_OPCODE_RESP_SEND << 4 | 3 << 2);
	rig_free(b.r);
}

/* A cyclic RQ: the packet is as long as its segments of a WQE. */
static void
cyclic(void)
{
	const struct prm_cqe64 *cqe;
	uint8_t *data;
	struct bench b;
	struct seg s;

	memset(&b, 0, sizeof(b));
	b.r = rig_new(1, "none");
	b.p = &b.r->port[0];
	emu_port_set_carrier(b.p->dev, true);
	b.cq = rig_cq_new(b.p, 4, 6);
	b.rq = rig_rq_new(b.p, b.cq, 2, 4, 0);
	rig_flow_all(b.p, tir_new(&b, 255, TIMEOUT_MAX_US), 0);
	data = rig_mem(b.p, 4 * 4096, 64);
	for (unsigned i = 0; i < 4; i++)
		rig_post(b.rq, data + i * 4096, 4096, b.p->lkey);
	for (unsigned i = 0; i < 3; i++) {
		s = segment(4, 1000 + i * MSS);
		arrive(&b, &s);
	}
	cqe = rig_cqe(b.cq);
	CHECK(cqe != NULL && be32toh(cqe->srqn_uidx) >> 24 == 2);
	CHECK(cqe != NULL && be32toh(cqe->byte_cnt) == 54 + 2 * MSS);
	rig_free(b.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"timer", timer}, {"merged", merged}, {"ends", ends}, {"timestamps", timestamps}, {"sizes", sizes},
		{"wqe_end", wqe_end}, {"count", count}, {"push", push},
		{"stopped", stopped}, {"compressed", compressed}, {"cyclic", cyclic}, {NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
