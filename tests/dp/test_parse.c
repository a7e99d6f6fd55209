/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The parser and the checksums on frames cut anywhere, changed anywhere, and random. */
#include "dp/dp_csum.h"
#include "dp/dp_key.h"
#include "dp/dp_rss.h"
#include "rig.h"

static struct emu_dev dev; /* an address to send to */

/* A frame in memory of exactly its length, so that a sanitizer sees one byte too far. */
static uint8_t *
exact(const uint8_t *data, unsigned len)
{
	uint8_t *p = malloc(len != 0 ? len : 1);

	if (p == NULL)
		exit(2);
	memcpy(p, data, len);
	return p;
}

static void
layers_in_bounds(const struct dp_layers *l, uint32_t len)
{
	CHECK(l->l3_end <= len);
	if (l->l3 == DP_L3_NONE) {
		CHECK(l->l4 == DP_L4_NONE);
		return;
	}
	CHECK(l->l3_off + (l->l3 == DP_L3_IPV4 ? 20u : 40u) <= l->l4_off);
	CHECK(l->l4_off <= l->l3_end);
	if (l->l4 == DP_L4_TCP)
		CHECK(l->l4_off + 20u <= l->l3_end);
	if (l->l4 == DP_L4_UDP)
		CHECK(l->l4_off + 8u <= l->l3_end);
}

/* Everything that the receive and transmit paths do with a parse. */
static void
work_on(uint8_t *d, unsigned len)
{
	static const uint8_t key[40] = {1, 2, 3};
	struct emu_tir tir = {.hash_fn = 2, .tunneled_offload = true, .inner_select = 0xf};
	static struct dp_toeplitz t;
	struct dp_table table = {.sets = 0x1e};
	uint32_t match[DP_KEY_DWORDS];
	struct dp_csum_result v;
	struct dp_pkt pkt;
	uint8_t type;

	if (!t.valid)
		dp_toeplitz_init(&t, key);
	dp_parse(&pkt, d, len, DP_TUNNELS);
	layers_in_bounds(&pkt.outer, len);
	dp_csum_verify(d, &pkt.outer, &v);
	if (pkt.tunneled) {
		layers_in_bounds(&pkt.inner, len);
		dp_csum_verify(d, &pkt.inner, &v);
	}
	memset(table.mask, 0xff, sizeof(table.mask));
	dp_key_rest(match, &pkt, &table);
	for (unsigned s = 0; s < 4; s++) {
		tir.outer_select = s << 30 | 0xf;
		dp_rss_hash(&tir, &t, &pkt, &type);
	}
	if (pkt.tunneled) {
		dp_csum_insert_l3(d, &pkt.inner);
		dp_csum_insert_l4(d, &pkt.inner);
	}
	dp_csum_insert_l3(d, &pkt.outer);
	dp_csum_insert_l4(d, &pkt.outer);
}

static void
make(struct rig_frame *f, unsigned i)
{
	rig_ip_frame(f, &dev, i & 1 ? 6 : 4, i & 2 ? 6 : 17, 40, i & 4 ? 16 : 0,
		     i & 8 ? 100 : -1);
	if (i & 16) {
		struct rig_frame inner = *f;

		rig_ip_frame(f, &dev, i & 1 ? 4 : 6, 17, 8 + inner.len, 0, -1);
		dp_wr16(f->data + f->len - inner.len - 8 - 8 + 2, DP_VXLAN_PORT);
		memset(f->data + f->len - inner.len - 8, 0, 8);
		f->data[f->len - inner.len - 8] = 8;
		memcpy(f->data + f->len - inner.len, inner.data, inner.len);
	}
}

static void
cut_at_every_byte(void)
{
	for (unsigned i = 0; i < 32; i++) {
		struct rig_frame f;

		make(&f, i);
		for (unsigned len = DP_ETH_BYTES; len <= f.len; len++) {
			uint8_t *d = exact(f.data, len);

			work_on(d, len);
			free(d);
		}
	}
}

static void
every_byte_changed(void)
{
	for (unsigned i = 0; i < 32; i++) {
		struct rig_frame f;

		make(&f, i);
		for (unsigned at = 0; at < f.len; at++) {
			static const uint8_t change[] = {0x01, 0x80, 0xff, 0x0f, 0xf0, 0x45};

			for (unsigned c = 0; c < sizeof(change); c++) {
				uint8_t *d = exact(f.data, f.len);

				d[at] ^= change[c];
				work_on(d, f.len);
				free(d);
			}
		}
	}
}

static void
random_headers(void)
{
	uint64_t state = 88172645463325252ull;

	for (unsigned n = 0; n < 300000; n++) {
		struct rig_frame f;
		uint8_t *d;

		make(&f, n % 32);
		for (unsigned c = 0; c < 6; c++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			f.data[12 + state % (f.len - 12)] = (uint8_t)(state >> 32);
		}
		f.len = DP_ETH_BYTES + (unsigned)(state >> 40) % (f.len - DP_ETH_BYTES + 1);
		d = exact(f.data, f.len);
		work_on(d, f.len);
		free(d);
	}
}

/* What comes out of a whole frame, against the plan it was made from. */
static void
right_offsets(void)
{
	for (unsigned i = 0; i < 16; i++) {
		struct rig_frame f;
		struct dp_pkt p;
		unsigned ip = i & 1 ? 40 : 20, l3 = i & 8 ? 18 : 14;

		make(&f, i);
		dp_parse(&p, f.data, f.len, true);
		CHECK(!p.tunneled);
		CHECK_EQ(p.outer.l3_off, l3);
		CHECK_EQ(p.outer.l3, i & 1 ? DP_L3_IPV6 : DP_L3_IPV4);
		CHECK_EQ(p.outer.l4_off, l3 + ip + (i & 4 ? 16 : 0));
		CHECK_EQ(p.outer.l4, i & 2 ? DP_L4_TCP : DP_L4_UDP);
		CHECK_EQ(p.outer.ip_ext, (i & 4) != 0);
		CHECK_EQ(p.outer.tags, (i & 8) != 0);
		CHECK_EQ(p.outer.tci, i & 8 ? 100 : 0);
		CHECK_EQ(p.outer.l3_end, f.len);
		CHECK(p.outer.l3_len_ok);
		make(&f, i | 16);
		dp_parse(&p, f.data, f.len, true);
		CHECK(p.tunneled);
		CHECK_EQ(p.inner.l3, i & 1 ? DP_L3_IPV6 : DP_L3_IPV4);
		CHECK_EQ(p.inner.l4, i & 2 ? DP_L4_TCP : DP_L4_UDP);
		CHECK_EQ(p.outer.l3, i & 1 ? DP_L3_IPV4 : DP_L3_IPV6);
		dp_parse(&p, f.data, f.len, false);
		CHECK(!p.tunneled);
	}
}

/* The inner packet of each kind of tunnel, where it begins, and that it is not found by a parser without the kind. */
static void
tunnel_kinds(void)
{
	static const struct {
		unsigned kind, proto, port, bytes;
		uint8_t header[16];
		bool ether; /* The inner packet has an Ethernet header. */
		unsigned version;
	} rows[] = {
		{DP_TUNNEL_VXLAN, 17, DP_VXLAN_PORT, 8, {8}, true, 4},
		{DP_TUNNEL_GENEVE, 17, DP_GENEVE_PORT, 8, {0, 0, 0x65, 0x58}, true, 6},
		{DP_TUNNEL_GENEVE, 17, DP_GENEVE_PORT, 16, {2, 0, 0x08, 0x00}, false, 4},
		{DP_TUNNEL_GRE, 47, 0, 4, {0, 0, 0x08, 0x00}, false, 4},
		{DP_TUNNEL_GRE, 47, 0, 8, {0x20, 0, 0x65, 0x58}, true, 6},
		{DP_TUNNEL_GRE, 47, 0, 16, {0xb0, 0, 0x86, 0xdd}, false, 6},
		{DP_TUNNEL_IPIP, 4, 0, 0, {0}, false, 4},
		{DP_TUNNEL_IPIP, 41, 0, 0, {0}, false, 6},
		/* None: version 1, routing; GENEVE with another version; a type without headers here. */
		{0, 47, 0, 4, {0, 1, 0x08, 0x00}, false, 4},
		{0, 47, 0, 4, {0x40, 0, 0x08, 0x00}, false, 4},
		{0, 17, DP_GENEVE_PORT, 8, {0x40, 0, 0x65, 0x58}, true, 6},
		{0, 47, 0, 4, {0, 0, 0x88, 0x47}, false, 4},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig_frame f, inner;
		struct dp_pkt p;
		unsigned cut = rows[i].ether ? 0 : 14, at = 34 + (rows[i].port != 0 ? 8 : 0);

		rig_ip_frame(&inner, &dev, rows[i].version, 6, 30, 0, -1);
		rig_ip_frame(&f, &dev, 4, 17, at - 34 + rows[i].bytes + inner.len, 0, -1);
		f.data[14 + 9] = (uint8_t)rows[i].proto;
		if (rows[i].port != 0)
			dp_wr16(f.data + 36, (uint16_t)rows[i].port);
		memcpy(f.data + at, rows[i].header, rows[i].bytes);
		memcpy(f.data + at + rows[i].bytes, inner.data + cut, inner.len - cut);
		for (unsigned mask = 0; mask <= DP_TUNNELS; mask++) {
			dp_parse(&p, f.data, f.len, mask);
			CHECK_EQ(p.tunneled, (mask & rows[i].kind) != 0);
			CHECK_EQ(p.outer.l4, rows[i].proto == 17 ? DP_L4_UDP : DP_L4_NONE);
			if (!p.tunneled)
				continue;
			CHECK_EQ(p.inner.l3, rows[i].version == 6 ? DP_L3_IPV6 : DP_L3_IPV4);
			CHECK_EQ(p.inner.l3_off, at + rows[i].bytes + 14 - cut);
			CHECK_EQ(p.inner.l4, DP_L4_TCP);
		}
		for (unsigned len = DP_ETH_BYTES; len <= f.len; len++) {
			uint8_t *d = exact(f.data, len);

			work_on(d, len);
			free(d);
		}
	}
}

static void
two_tags_and_more(void)
{
	struct rig_frame f;
	struct dp_pkt p;

	rig_ip_frame(&f, &dev, 4, 17, 10, 0, 7);
	for (unsigned tags = 1; tags <= 3; tags++) {
		dp_parse(&p, f.data, f.len, true);
		CHECK_EQ(p.outer.tags, tags <= 2 ? tags : 2);
		CHECK_EQ(p.outer.l3, tags <= 2 ? DP_L3_IPV4 : DP_L3_NONE);
		CHECK_EQ(p.outer.tci, tags == 1 ? 7 : 0x123);
		CHECK_EQ(p.outer.tpid, tags == 1 ? 0x8100 : 0x88a8);
		memmove(f.data + 16, f.data + 12, f.len - 12);
		memcpy(f.data + 12, "\x88\xa8\x01\x23", 4);
		f.len += 4;
	}
}

/* IPv6 fragment headers: a fragment has no layer 4; an atomic one is a whole packet. */
static void
ipv6_fragments(void)
{
	struct rig_frame f;
	struct dp_pkt p;

	rig_ip_frame(&f, &dev, 6, 17, 10, 8, -1);
	f.data[14 + 6] = 44;
	f.data[14 + 41] = 0;
	for (unsigned i = 0; i < 3; i++) {
		f.data[14 + 42] = i == 1 ? 1 : 0;   /* offset */
		f.data[14 + 43] = i == 2 ? 1 : 0;   /* more fragments */
		dp_parse(&p, f.data, f.len, true);
		CHECK_EQ(p.outer.frag, i != 0);
		CHECK_EQ(p.outer.l4, i == 0 ? DP_L4_UDP : DP_L4_NONE);
		CHECK(p.outer.ip_ext);
	}
}

/* Headers that say of themselves that they are not what they look like. */
static void
not_quite_headers(void)
{
	struct rig_frame f;
	struct dp_pkt p;

	make(&f, 16);
	f.data[14 + 40 + 8] = 0; /* outer IPv6, UDP, then the flags */
	dp_parse(&p, f.data, f.len, true);
	CHECK_EQ(p.outer.l4, DP_L4_UDP);
	CHECK(!p.tunneled); /* VXLAN without its I flag */
	rig_ip_frame(&f, &dev, 4, 6, 10, 0, -1);
	f.data[14 + 20 + 12] = 0xf0; /* 60 bytes of TCP header in 30 bytes */
	dp_parse(&p, f.data, f.len, true);
	CHECK_EQ(p.outer.l4, DP_L4_NONE);
	f.data[14 + 20 + 12] = 0x40; /* 16 bytes are none */
	dp_parse(&p, f.data, f.len, true);
	CHECK_EQ(p.outer.l4, DP_L4_NONE);
}

/* The sum against the test's own, at every length and alignment. */
static void
sums(void)
{
	uint8_t buf[300];

	for (unsigned i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(i * 197 + 11);
	for (unsigned at = 0; at < 9; at++) {
		for (unsigned len = 0; len + at <= sizeof(buf); len++) {
			uint16_t sum = dp_csum(buf + at, len);

			CHECK_EQ(be16toh(sum), rig_sum16(buf + at, len, 0));
		}
	}
	memset(buf, 0xff, sizeof(buf));
	for (unsigned len = 2; len <= sizeof(buf); len += 2)
		CHECK_EQ(dp_csum(buf, len), 0xffff);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"right_offsets", right_offsets},
		{"tunnel_kinds", tunnel_kinds},
		{"two_tags_and_more", two_tags_and_more},
		{"ipv6_fragments", ipv6_fragments},
		{"not_quite_headers", not_quite_headers},
		{"sums", sums},
		{"cut_at_every_byte", cut_at_every_byte},
		{"every_byte_changed", every_byte_changed},
		{"random_headers", random_headers},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
