/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Large receive offload: the headers of a packet that the device made of several segments, byte by byte. The test
 * writes and sums all bytes itself: the expected checksum is that of the complete segment (RFC 9293, 3.1), where the
 * driver has the sum of the payload from the completion.
 */

#include "mlxpmd_clock.h"
#include "mlxpmd_mprq.h"
#include "rig.h"

#define POOL 512
#define ROOM 2048
#define FRAME_MAX 8192
static struct rte_mempool *pool;
static struct mlxpmd_clock ts_clock;

enum { PSH = 0x08, ACK = 0x10, ECE = 0x40, UDP = 17, TCP = 6 };
/* l4_hdr_type (PRM, CQE; DPDK mlx5_prm.h). */
enum { L4_NONE = 0, L4_TCP = 1, L4_UDP = 2, L4_EMPTY_ACK = 3, L4_ACK = 4 };

/* A merged packet, of which the header is that of its first segment. */
struct merged {
	const char *what;
	uint8_t version, tags, options, proto;
	uint16_t payload;
	uint8_t segs, l4, push, flags;	/* flags: of the first segment. */
	uint16_t mss;			/* 0: the packet is not changed. */
};
static const struct merged all[] = {
	{ "two segments", 4, 0, 0, TCP, 1000, 2, L4_ACK, 0, ACK, 500 },
	{ "two segments", 6, 0, 0, TCP, 1000, 2, L4_ACK, 0, ACK, 500 },
	{ "the last one short", 4, 0, 0, TCP, 1001, 3, L4_ACK, 0, ACK, 334 },
	{ "the last one one byte shorter", 6, 0, 0, TCP, 1001, 2, L4_ACK, 0, ACK, 501 },
	{ "one byte each", 4, 0, 0, TCP, 255, 255, L4_ACK, 0, ACK, 1 },
	{ "one tag", 4, 1, 0, TCP, 700, 2, L4_ACK, 0, ACK, 350 },
	{ "one tag", 6, 1, 0, TCP, 700, 2, L4_ACK, 0, ACK, 350 },
	{ "two tags", 4, 2, 0, TCP, 700, 2, L4_ACK, 0, ACK, 350 },
	{ "two tags", 6, 2, 0, TCP, 700, 2, L4_ACK, 0, ACK, 350 },
	{ "two tags, the outer one 802.1ad", 4, 0x82, 0, TCP, 700, 2, L4_ACK, 0, ACK, 350 },
	{ "one 802.1ad tag", 6, 0x81, 0, TCP, 700, 2, L4_ACK, 0, ACK, 350 },
	{ "timestamp option", 4, 0, 12, TCP, 900, 2, L4_ACK, 0, ACK, 450 },
	{ "timestamp option", 6, 1, 12, TCP, 900, 2, L4_ACK, 0, ACK, 450 },
	{ "most options", 4, 2, 40, TCP, 901, 4, L4_ACK, 0x40, ACK, 226 },
	{ "most options", 6, 2, 40, TCP, 901, 4, L4_ACK, 0x40, ACK, 226 },
	{ "push", 4, 0, 0, TCP, 800, 2, L4_ACK, 0x40, ACK, 400 },
	{ "push", 6, 0, 0, TCP, 800, 2, L4_ACK, 0x40, ACK | ECE, 400 },
	{ "abort and dupack are no push", 4, 0, 0, TCP, 800, 2, L4_ACK, 0xbf, ACK, 400 },
	{ "acknowledged by a later segment", 4, 0, 0, TCP, 800, 2, L4_ACK, 0, 0, 400 },
	{ "acknowledged, the last one empty", 6, 0, 0, TCP, 800, 2, L4_EMPTY_ACK, 0, 0, 400 },
	{ "not acknowledged", 4, 0, 0, TCP, 800, 2, L4_TCP, 0x40, 0, 400 },
	{ "not acknowledged", 6, 0, 0, TCP, 800, 2, L4_TCP, 0, 0, 400 },
	{ "unknown type", 4, 0, 0, TCP, 800, 2, L4_NONE, 0, ACK, 400 },
	{ "several strides", 4, 0, 12, TCP, 5000, 4, L4_ACK, 0x40, ACK, 1250 },
	{ "several strides", 6, 1, 12, TCP, 5001, 4, L4_ACK, 0, ACK, 1251 },
	{ "copied", 4, 0, 0, TCP, 9, 2, L4_ACK, 0, ACK, 5 },
	{ "copied", 6, 0, 0, TCP, 10, 2, L4_ACK, 0, ACK, 5 },
	{ "one segment", 4, 0, 0, TCP, 1000, 1, L4_ACK, 0x40, ACK, 0 },
	{ "one segment", 6, 0, 0, TCP, 1000, 0, L4_ACK, 0x40, ACK, 0 },
	{ "three tags", 4, 3, 0, TCP, 1000, 2, L4_ACK, 0x40, ACK, 0 },
	{ "UDP", 4, 0, 0, UDP, 1000, 2, L4_UDP, 0x40, ACK, 0 },
	{ "UDP", 6, 1, 0, UDP, 1000, 2, L4_UDP, 0x40, ACK, 0 },
	{ "neither version", 5, 0, 0, TCP, 1000, 2, L4_ACK, 0x40, ACK, 0 },
};

struct frame {
	uint8_t sent[FRAME_MAX], want[FRAME_MAX];
	uint32_t len;
	struct rig_rx_cqe head;
};
static struct frame frames[RTE_DIM(all)];

static void
put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static void
put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

/* Adds the big-endian words, with zeros after an odd byte (RFC 1071). */
static uint32_t
sum_of(const uint8_t *p, uint32_t len, uint32_t sum)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		sum += i % 2 == 0 ? p[i] << 8 : p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* The header that the completion describes: of the packet as it would be on the wire if it were one segment. */
static void
expect(struct frame *f, const struct merged *c, uint32_t ip_at, uint32_t tcp_at)
{
	uint8_t *ip = f->want + ip_at, *tcp = f->want + tcp_at;
	const uint32_t tcp_len = f->len - tcp_at;
	uint32_t sum;

	if (c->l4 == L4_ACK || c->l4 == L4_EMPTY_ACK) {
		tcp[13] |= ACK;
		put32(tcp + 8, f->head.lro.ack);
		put16(tcp + 14, f->head.lro.window);
	}
	if (c->push & 0x40)
		tcp[13] |= PSH;
	if (c->version == 4) {
		put16(ip + 2, f->len - ip_at);
		ip[8] = f->head.lro.ttl;
		put16(ip + 10, 0);
		put16(ip + 10, ~sum_of(ip, 20, 0));
		sum = sum_of(ip + 12, 8, TCP + tcp_len);
	} else {
		put16(ip + 4, f->len - ip_at - 40);
		ip[7] = f->head.lro.ttl;
		sum = sum_of(ip + 8, 32, TCP + tcp_len);
	}
	put16(tcp + 16, 0);
	put16(tcp + 16, ~sum_of(tcp, tcp_len, sum));
}

static void
frame_make(struct frame *f, const struct merged *c, uint32_t seq)
{
	static const uint16_t types[] = { [4] = 0x0800, [5] = 0x0805, [6] = 0x86dd };
	uint8_t *p = f->sent, *ip, *tcp;
	uint32_t at = 12, i, sum;

	/* All that is not set below is arbitrary: fields that must change, and fields that must not. */
	memcpy(p, rig_data(seq), FRAME_MAX);
	for (i = c->tags & 0xf; i != 0; i--, at += 4)
		put16(p + at, (c->tags & 0x80) && at == 12 ? 0x88a8 : 0x8100);
	put16(p + at, types[c->version]);
	ip = p + at + 2;
	ip[0] = c->version == 4 ? 0x45 : 0x60 | (ip[0] & 0xf);
	ip[c->version == 4 ? 9 : 6] = c->proto;
	tcp = ip + (c->version == 4 ? 20 : 40);
	tcp[12] = (20 + c->options) / 4 << 4;
	tcp[13] = c->flags;
	f->len = tcp + 20 + c->options + c->payload - p;
	sum = sum_of(tcp + 20 + c->options, c->payload, 0);
	f->head = (struct rig_rx_cqe){
		.etc = c->l4 << 4 | (seq % 2 == 0 ? 0 : 0x8f), /* The other bits are of other fields. */
		.ts = 1000000,
		.lro = { .flags = c->push, .ttl = 3 + seq, .sum = { sum >> 8, sum }, .segs = c->segs,
			 .window = rig_random(), .ack = rig_random() },
	};
	memcpy(f->want, f->sent, FRAME_MAX);
	if (c->mss != 0)
		expect(f, c, ip - p, tcp - p);
}

static void
check_packet(struct rte_mbuf *m, const struct frame *f, const struct merged *c)
{
	uint8_t got[FRAME_MAX];
	const uint8_t *data;
	uint32_t i;

	CHECK_EQ(m->pkt_len, f->len);
	CHECK_EQ(!!(m->ol_flags & RTE_MBUF_F_RX_LRO), c->mss != 0);
	if (c->mss != 0)
		CHECK(m->tso_segsz == c->mss, "IPv%u, %s: %u", c->version, c->what, m->tso_segsz);
	data = rte_pktmbuf_read(m, 0, f->len, got);
	REQUIRE(data != NULL, "a chain without its bytes");
	for (i = 0; i < f->len && data[i] == f->want[i]; i++)
		;
	CHECK(i == f->len, "IPv%u, %s: byte %u is %#x, not %#x", c->version, c->what, i, data[i], f->want[i]);
}

/* Bursts of 1, 2, ... packets that begin with each in turn, so that groups of vector bursts have all. */
static void
headers(unsigned int f, uint32_t copy_max)
{
	const uint64_t offloads = RTE_ETH_RX_OFFLOAD_TCP_LRO | RTE_ETH_RX_OFFLOAD_SCATTER |
				  ((f & MLXPMD_RX_F_STAMP) ? RTE_ETH_RX_OFFLOAD_TIMESTAMP : 0);
	struct rig_striding c = rig_striding_new(pool, 2, 6, 11, copy_max, offloads, &ts_clock);
	uint64_t packets = 0, segs = 0;
	struct rte_mbuf *pkts[32];
	uint32_t first, n, i, k;

	for (first = 0; first < RTE_DIM(all); first++) {
		n = 1 + first % 20;
		for (i = 0; i < n; i++) {
			k = (first + i) % RTE_DIM(all);
			c.head = frames[k].head;
			c.frame = frames[k].sent;
			CHECK(rig_striding_packet(&c, 0, frames[k].len), "no strides");
			packets += all[k].mss != 0;
			segs += all[k].mss != 0 ? all[k].segs : 0;
		}
		CHECK_EQ(rig_rx_call(c.r, rig_function(false, f), pkts, 32), n);
		for (i = 0; i < n; i++) {
			check_packet(pkts[i], &frames[(first + i) % RTE_DIM(all)], &all[(first + i) % RTE_DIM(all)]);
			rte_pktmbuf_free(pkts[i]);
		}
	}
	CHECK_EQ(c.r->rxq.striding.lro_packets, packets);
	CHECK_EQ(c.r->rxq.striding.lro_segments, segs);
	rig_striding_free(&c);
	CHECK_EQ(rte_mempool_avail_count(pool), POOL);
}

int
main(void)
{
	struct mdv_clock_line line = { .start = 1700000000000000000, .base = 0, .mult = 1u << 31, .shift = 31,
				       .mask = RTE_BIT64(41) - 1, .span = 8000000000 };
	struct mlxpmd_clock_snap snap;
	unsigned int i;

	rig_init();
	pool = rig_pool("lro", POOL, 32, ROOM + RTE_PKTMBUF_HEADROOM);
	mlxpmd_clock_snap_from(&snap, &line);
	snap.expires_tsc = rte_rdtsc() + rte_get_tsc_hz() * 3600;
	mlxpmd_clock_publish(&ts_clock, &snap, NULL);
	for (i = 0; i < RTE_DIM(all); i++)
		frame_make(&frames[i], &all[i], i);
	RIG_EACH {
		for (i = MLXPMD_RX_F_STRIDING; i < MLXPMD_RX_TEMPLATES; i++)
			if (mlxpmd_rx_templates[i].burst != NULL) {
				headers(i, 128);
				/* Copied, to chains if they are long. */
				headers(i, 65535);
			}
	}
	rte_mempool_free(pool);
	return rig_end("rx_lro");
}
