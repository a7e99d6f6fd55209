/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Send side of the emulated device. Offsets and codes are literals from the PRM. */

#include "rig.h"

#define OPCODE_NOP 0x00
#define OPCODE_SEND 0x0a
#define OPCODE_TSO 0x0e
#define OPCODE_EMPW 0x29
#define OPCODE_WAIT 0x0f
#define INLINE_BIT 0x80000000u
#define INLINE_LENGTH 0x3ffu

static uint32_t
get32(const void *at)
{
	const uint8_t *p = at;

	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

uint16_t rig_rs_thresh;

static void
release(struct rig_tx *t)
{
	rig_ring_free(t->cq, (size_t)64 << t->txq.q.hw.cq.log_cqes);
	rig_ring_free(t->sq, (size_t)64 << t->txq.q.hw.sq.wq.log_wq_sz);
	free(t);
}

struct rig_tx *
rig_tx_new(uint8_t log_wqebbs, uint16_t nb_desc, uint8_t log_cqes, uint8_t max_ds, uint8_t inline_mode)
{
	struct rig_tx *t = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*t), 64));

	memset(t, 0, sizeof(*t));
	t->cq = rig_ring_new((size_t)64 << log_cqes);
	t->sq = rig_ring_new((size_t)64 << log_wqebbs);
	rig_mdv.caps.max_sq_desc_ds = max_ds;
	rig_mdv.caps.min_inline_mode = inline_mode;
	rig_mdv.caps.max_lso_bytes = 1 << 18;
	t->txq.q.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_VXLAN_TNL_TSO;
	rig_mdv.caps.tunnel_vxlan = true;
	t->port.mdv = &rig_mdv;
	t->txq.q.port = &t->port;
	t->txq.mdv = &rig_mdv;
	t->txq.q.nb_desc = nb_desc;
	t->txq.conf.tx_rs_thresh = rig_rs_thresh;
	t->txq.q.hw.cq.log_cqes = log_cqes;
	t->txq.q.hw.cq.cqes = (void *)t->cq;
	t->txq.q.hw.cq.dbrec = t->dbrec;
	t->txq.q.hw.sq.wq.wqes = t->sq;
	t->txq.q.hw.sq.wq.dbrec = &t->sq_dbrec;
	t->txq.q.hw.sq.db_reg = &t->db_reg;
	t->txq.q.hw.sq.wq.number = 0xabcdef;
	t->txq.q.hw.sq.wq.log_wq_sz = log_wqebbs;
	if (mlxpmd_txq_arm(&t->txq.q) == 0) {
		mlxpmd_queue_ready(&t->txq.q);
		return t;
	}
	release(t);
	return NULL;
}

void
rig_tx_free(struct rig_tx *t)
{
	mlxpmd_txq_disarm(&t->txq.q);
	release(t);
}

void
rig_tx_cqe(struct rig_tx *t, uint8_t opcode, uint8_t syndrome, uint16_t wqe)
{
	uint32_t n = 1u << t->txq.q.hw.cq.log_cqes;
	uint8_t *cqe = t->cq + (size_t)(t->cqe_count % n) * 64;
	unsigned int i;

	CHECK(t->cqe_count - get32(&t->dbrec[0]) < n, "CQ overrun");
	memset(cqe, 0, 63);
	for (i = 0; i < 8 && opcode == 0; i++)
		cqe[0x30 + i] = t->timestamp >> (56 - 8 * i);
	if (opcode != 0) {
		cqe[0x36] = 0x55;
		cqe[0x37] = syndrome;
	}
	cqe[0x3c] = wqe >> 8;
	cqe[0x3d] = wqe;
	cqe[0x3f] = opcode << 4 | (t->cqe_count / n & 1);
	t->cqe_count++;
}

/* Byte at an offset into the WQE that starts at WQEBB `at`; wraps at the end of the ring. */
static const uint8_t *
wqe_byte(const struct rig_tx *t, uint16_t at, uint32_t offset)
{
	size_t ring = (size_t)64 << t->txq.q.hw.sq.wq.log_wq_sz;

	return t->sq + ((size_t)at * 64 + offset) % ring;
}

/* Inline data segment: the packet follows the length, padded to 16 bytes. Returns the unit after it. */
static uint32_t
take_data(const struct rig_tx *t, uint16_t at, uint32_t unit, uint32_t ds, struct rig_tx_packet *p)
{
	uint32_t bytes = get32(wqe_byte(t, at, unit * 16)) & ~INLINE_BIT, i;

	CHECK(bytes != 0 && bytes <= INLINE_LENGTH && unit + (4 + bytes + 15) / 16 <= ds, "inline data of %u bytes at %u of %u",
	      bytes, unit, ds);
	p->copied = true;
	for (i = 0; i < bytes && p->len < sizeof(p->data); i++)
		p->data[p->len++] = *wqe_byte(t, at, unit * 16 + 4 + i);
	return unit + (4 + bytes + 15) / 16;
}

/* A data segment of either kind. Returns the unit after it. */
static uint32_t
gather(const struct rig_tx *t, uint16_t at, uint32_t unit, uint32_t ds, struct rig_tx_packet *p)
{
	uint32_t bytes = get32(wqe_byte(t, at, unit * 16)), lkey = get32(wqe_byte(t, at, unit * 16 + 4)), i;
	uint64_t addr = (uint64_t)get32(wqe_byte(t, at, unit * 16 + 8)) << 32 |
			get32(wqe_byte(t, at, unit * 16 + 12));
	bool known = false;

	if (bytes & INLINE_BIT)
		return take_data(t, at, unit, ds, p);
	for (i = 0; i < rig_nb_ranges; i++)
		known |= rig_ranges[i].lkey == lkey && addr >= rig_ranges[i].start &&
			 addr + bytes <= rig_ranges[i].end;
	CHECK(known, "lkey %#x does not open %#" PRIx64 " + %u", lkey, addr, bytes);
	CHECK(bytes != 0 && p->len + bytes <= sizeof(p->data), "segment of %u", bytes);
	if (!known || bytes == 0 || p->len + bytes > sizeof(p->data))
		return unit + 1;
	memcpy(p->data + p->len, (const void *)(uintptr_t)addr, bytes);
	p->len += bytes;
	return unit + 1;
}

/* Inline header of the Ethernet segment; returns the first 16-byte unit after it. */
static uint32_t
take_inline(const struct rig_tx *t, uint16_t at, struct rig_tx_packet *p)
{
	uint32_t size = *wqe_byte(t, at, 28) << 8 | *wqe_byte(t, at, 29), i;

	if (*wqe_byte(t, at, 28) & 0x80) {
		p->vlan_insert = true;
		p->vlan_tci = *wqe_byte(t, at, 30) << 8 | *wqe_byte(t, at, 31);
		return 2;
	}
	for (i = 0; i < size; i++)
		p->data[p->len++] = *wqe_byte(t, at, 30 + i);
	return size <= 2 ? 2 : 2 + (size - 2 + 15) / 16;
}

static unsigned int
run_wqe(struct rig_tx *t, uint16_t at, uint8_t opcode, uint32_t ds, rig_tx_cb cb, void *arg)
{
	static struct rig_tx_packet p;
	uint32_t unit;
	unsigned int n, packets = 0;

	memset(&p, 0, offsetof(struct rig_tx_packet, data));
	p.len = 0;
	p.vlan_insert = false;
	p.copied = false;
	p.cs_flags = *wqe_byte(t, at, 20);
	p.mpw = opcode == OPCODE_EMPW;
	p.mss = *wqe_byte(t, at, 22) << 8 | *wqe_byte(t, at, 23);
	CHECK(opcode == OPCODE_TSO ? p.mss != 0 && p.mss < 0x4000 : p.mss == 0, "opcode %#x with mss %u", opcode, p.mss);
	for (n = 0; n < 5; n++)
		p.swp[n] = *wqe_byte(t, at, n < 4 ? 16 + n : 21);
	p.metadata = get32(wqe_byte(t, at, 24));
	for (n = 16; n < 24; n++)
		CHECK(n == 20 || n == 22 || n == 23 || ((n < 20 || n == 21) && t->txq.swp_tunnels != 0) ||
		      *wqe_byte(t, at, n) == 0, "reserved byte %u", n);
	if (p.mpw) {
		CHECK(get32(wqe_byte(t, at, 28)) == 0, "inline in a multi-packet title");
		for (unit = 2; unit < ds; packets++) {
			p.len = 0;
			p.copied = false;
			unit = gather(t, at, unit, ds, &p);
			cb(arg, &p);
		}
		return packets;
	}
	unit = take_inline(t, at, &p);
	p.inline_bytes = p.len;
	p.copied = unit == ds;
	while (unit < ds)
		unit = gather(t, at, unit, ds, &p);
	CHECK(opcode != OPCODE_TSO || p.len > p.inline_bytes, "nothing to segment");
	cb(arg, &p);
	return 1;
}

/* Opcode modifier TIME, condition "cyclic smaller", one packet after each. */
static void
run_wait(struct rig_tx *t, uint16_t at, uint32_t ds)
{
	CHECK(ds == 3 && *wqe_byte(t, at, 11) == 0, "WAIT of %u", ds);
	CHECK(get32(wqe_byte(t, at, 16)) == 5, "condition %#x", get32(wqe_byte(t, at, 16)));
	CHECK(get32(wqe_byte(t, at, 20)) == 0 && get32(wqe_byte(t, at, 24)) == 0 &&
	      get32(wqe_byte(t, at, 28)) == 0, "address of a WAIT for a time");
	CHECK(!t->waited, "two WAITs");
	t->wait_value = (uint64_t)get32(wqe_byte(t, at, 32)) << 32 | get32(wqe_byte(t, at, 36));
	t->wait_mask = (uint64_t)get32(wqe_byte(t, at, 40)) << 32 | get32(wqe_byte(t, at, 44));
	t->waited = true;
	t->nb_waits++;
}

unsigned int
rig_tx_run(struct rig_tx *t, bool complete, rig_tx_cb cb, void *arg)
{
	uint16_t pi = get32(&t->sq_dbrec), last = 0, at;
	uint8_t opcode = 0, flags;
	unsigned int packets = 0;
	uint32_t ds;

	if (t->db_reg == t->db_seen)
		return 0; /* The device does not read the doorbell record without a doorbell. */
	t->db_seen = t->db_reg;
	CHECK((uint16_t)(pi - t->executed) <= 1u << t->txq.q.hw.sq.wq.log_wq_sz, "%u WQEBBs",
	      (uint16_t)(pi - t->executed));
	while (t->executed != pi) {
		at = t->executed;
		last = at;
		opcode = *wqe_byte(t, at, 3);
		ds = get32(wqe_byte(t, at, 4)) & 0xff;
		flags = *wqe_byte(t, at, 11);
		CHECK(*wqe_byte(t, at, 0) == (opcode == OPCODE_WAIT ? 2 : 0) && *wqe_byte(t, at, 1) == at >> 8 &&
		      *wqe_byte(t, at, 2) == (at & 0xff), "index of WQE %u", at);
		CHECK(get32(wqe_byte(t, at, 4)) >> 8 == 0xabcdef, "sqn");
		CHECK(*wqe_byte(t, at, 8) == 0 && get32(wqe_byte(t, at, 12)) == 0 &&
		      (flags == 0 || flags == 8), "control segment of WQE %u", at);
		CHECK(ds <= rig_mdv.caps.max_sq_desc_ds, "ds %u", ds);
		if (opcode == OPCODE_NOP) {
			CHECK(ds == 1, "NOP of %u", ds);
		} else if (opcode == OPCODE_WAIT) {
			run_wait(t, at, ds);
		} else {
			CHECK(opcode == OPCODE_SEND || opcode == OPCODE_EMPW || opcode == OPCODE_TSO, "opcode %#x",
			      opcode);
			/* Of two bytes or fewer, the packet is in the Ethernet segment. */
			CHECK(ds > 2 || (ds == 2 && opcode == OPCODE_SEND && get32(wqe_byte(t, at, 28)) >> 16 != 0),
			      "ds %u", ds);
			packets += run_wqe(t, at, opcode, ds, cb, arg);
			t->waited = false;
		}
		if (ds == 0)
			return packets;
		t->executed += (ds + 3) / 4;
		CHECK((uint16_t)(pi - t->executed) < 0x8000, "WQE %u beyond the doorbell record", at);
		if (flags != 8)
			continue;
		t->cqe_requested = at;
		t->any_cqe_requested = true;
		if (complete)
			rig_tx_cqe(t, 0, 0, at);
	}
	CHECK(!t->waited, "a WAIT for nothing");
	/* The doorbell has the first 8 bytes of the last WQE, without flags that were set later. */
	CHECK(memcmp((const void *)&t->db_reg, wqe_byte(t, last, 0), 8) == 0, "doorbell register");
	return packets;
}

bool
rig_tx_match(const struct rig_tx_packet *p, uint32_t seq, const uint16_t *tci)
{
	const uint8_t *want = rig_data(seq);

	if (tci == NULL)
		return memcmp(p->data, want, p->len) == 0;
	return p->len >= 16 && memcmp(p->data, want, 12) == 0 && p->data[12] == 0x81 && p->data[13] == 0 &&
	       p->data[14] == *tci >> 8 && p->data[15] == (*tci & 0xff) &&
	       memcmp(p->data + 16, want + 12, p->len - 16) == 0;
}

struct rte_mbuf *
rig_tx_mbuf(struct rte_mempool *mp, uint32_t seq, uint32_t len, unsigned int segs)
{
	struct rte_mbuf *head = NULL, *last = NULL, *m;
	uint32_t at = 0, part;

	while (segs-- != 0) {
		m = rte_pktmbuf_alloc(mp);
		if (m == NULL)
			abort();
		/* Some are empty; the last has the remaining bytes. */
		part = segs == 0 ? len - at : rig_random() % 3 * ((len - at) / (segs + 1)) / 2;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), rig_data(seq) + at, part);
		m->data_len = part;
		at += part;
		if (head == NULL) {
			head = m;
		} else {
			last->next = m;
			head->nb_segs++;
		}
		last = m;
	}
	head->pkt_len = len;
	/* Left by the reception of a forwarded packet; sending ignores them. */
	head->hash.rss = 0x01010101 + seq;
	head->packet_type = UINT32_MAX;
	return head;
}
