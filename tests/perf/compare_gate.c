/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The check before each row that both drivers do the same work; otherwise their costs cannot be compared. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_tcp.h>

#include "compare.h"

/* Payload is compared from this offset: the MAC addresses differ by port. */
#define FROM_BYTE 12u
#define POISON 0x5ca1ab1eu

/** The fields of a received mbuf that are defined for an application. */
struct view {
	uint64_t ol_flags, payload;
	uint32_t ptype, pkt_len, hash;
	uint16_t data_len, data_off, vlan_tci, nb_segs, refcnt;
};

/* FNV-1a. */
static uint64_t
digest(const uint8_t *p, uint32_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	while (n-- != 0)
		h = (h ^ *p++) * 0x100000001b3u;
	return h;
}

static struct view
view_of(const struct rte_mbuf *m)
{
	struct view v = {
		.ol_flags = m->ol_flags, .ptype = m->packet_type, .pkt_len = m->pkt_len,
		.data_len = m->data_len, .data_off = m->data_off, .nb_segs = m->nb_segs,
		.refcnt = rte_mbuf_refcnt_read(m),
		.payload = m->data_len > FROM_BYTE ?
			   digest(rte_pktmbuf_mtod_offset(m, const uint8_t *, FROM_BYTE),
				  m->data_len - FROM_BYTE) : 0,
	};

	if (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH)
		v.hash = m->hash.rss;
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN)
		v.vlan_tci = m->vlan_tci;
	/* With an external buffer (MPRQ of the stock driver) data_off is not defined. */
	if (m->ol_flags & RTE_MBUF_F_EXTERNAL) {
		v.ol_flags &= ~RTE_MBUF_F_EXTERNAL;
		v.data_off = RTE_PKTMBUF_HEADROOM;
	}
	return v;
}

#define DIFFER(field) \
	do { \
		if ((uint64_t)a->field != (uint64_t)b->field) \
			CMP_LOG("  packet %u: " #field ": stock 0x%" PRIx64 ", mlxpmd 0x%" PRIx64, \
				i, \
				(uint64_t)a->field, (uint64_t)b->field); \
	} while (0)

static void
difference_print(uint32_t i, const struct view *a, const struct view *b)
{
	DIFFER(ol_flags);
	DIFFER(payload);
	DIFFER(ptype);
	DIFFER(pkt_len);
	DIFFER(hash);
	DIFFER(data_len);
	DIFFER(data_off);
	DIFFER(vlan_tci);
	DIFFER(nb_segs);
	DIFFER(refcnt);
}

static bool
same_view(const struct view *a, const struct view *b)
{
	return a->ol_flags == b->ol_flags && a->payload == b->payload && a->ptype == b->ptype &&
	       a->pkt_len == b->pkt_len && a->hash == b->hash && a->data_len == b->data_len &&
	       a->data_off == b->data_off && a->vlan_tci == b->vlan_tci &&
	       a->nb_segs == b->nb_segs && a->refcnt == b->refcnt;
}

/* Whether all packets have timestamps that do not decrease. */
static bool
stamps_rise(const struct cmp_arm *arm)
{
	uint64_t last = 0, now;

	for (uint32_t i = 0; arm->ts_offset >= 0 && i < arm->n; i++) {
		now = *RTE_MBUF_DYNFIELD(arm->pkts[i], arm->ts_offset, uint64_t *);
		if (!(arm->pkts[i]->ol_flags & arm->ts_flag) || now < last) {
			CMP_LOG("  %s: packet %u: timestamp %s", arm->name, i,
				now < last ? "before that of the previous packet" : "missing");
			return false;
		}
		last = now;
	}
	return true;
}

static bool
gate_rx(struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c)
{
	uint32_t bad = 0, n = arms[0].arrive;

	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		if (cmp_device_inject(&arms[a], n, cmp_traffic_file(&arms[a], 0)) != 0)
			return false;
		(void)(c->spread ? cmp_drain_queues : cmp_drain)(&arms[a], c);
		if (arms[a].n != n) {
			CMP_LOG("  %s: received %u of %u packets", arms[a].name, arms[a].n, n);
			bad++;
		}
		bad += !stamps_rise(&arms[a]);
	}
	for (uint32_t i = 0; bad == 0 && i < n; i++) {
		struct view v[CMP_ARMS] = { view_of(arms[CMP_STOCK].pkts[i]),
					    view_of(arms[CMP_MLXPMD].pkts[i]) };

		if (same_view(&v[CMP_STOCK], &v[CMP_MLXPMD]))
			continue;
		difference_print(i, &v[CMP_STOCK], &v[CMP_MLXPMD]);
		bad++;
	}
	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		rte_pktmbuf_free_bulk(arms[a].pkts, arms[a].n);
		arms[a].n = 0;
	}
	return bad == 0;
}

/* ---- sending: the other port receives the frames ---- */

/** A frame on the wire, from byte FROM_BYTE on. */
struct wire_frame {
	uint32_t len;
	uint64_t digest;
};

/* Frames on the wire of one sample: the device makes several of a packet with TSO. */
static uint32_t
wire_frames(const struct cmp_config *c)
{
	const uint32_t headers = sizeof(struct rte_ether_hdr) + 20 + sizeof(struct rte_tcp_hdr);

	if (c->tso_segsz == 0)
		return c->fill;
	return c->fill * RTE_MAX(1u, (c->frame_bytes - headers + c->tso_segsz - 1) / c->tso_segsz);
}

static bool
collect(struct cmp_arm *from, const struct cmp_config *c, struct wire_frame *out)
{
	struct cmp_config all = *c;
	uint32_t n = wire_frames(c);
	bool good = n <= c->ring && n <= CMP_MAX_FILL;

	if (!good)
		return false;
	all.fill = n;
	(void)cmp_drain(from, &all);
	for (uint32_t i = 0; i < from->n && i < n; i++) {
		struct view v = view_of(from->pkts[i]);

		out[i] = (struct wire_frame){ .len = v.pkt_len, .digest = v.payload };
		good &= (v.ol_flags & RTE_MBUF_F_RX_IP_CKSUM_BAD) == 0 &&
			(v.ol_flags & RTE_MBUF_F_RX_L4_CKSUM_BAD) == 0;
	}
	if (from->n != n)
		CMP_LOG("  %u of %u frames received from the wire", from->n, n);
	else if (!good)
		CMP_LOG("  frames on the wire have wrong checksums");
	good &= from->n == n;
	rte_pktmbuf_free_bulk(from->pkts, from->n);
	from->n = 0;
	return good;
}

/* Sends one sample of the row on `arm` and receives it on the other port. */
static bool
send_and_receive(const struct cmp_row *row, struct cmp_arm *arm, struct cmp_arm *other,
	     const struct cmp_config *c, struct wire_frame *out)
{
	uint32_t sent;
	bool good;

	if (cmp_port_promiscuous(other, true) != 0)
		return false;
	good = row->prepare(arm, c, 0);
	sent = good ? row->timed(arm, c) : 0;
	if (good && sent != c->fill)
		CMP_LOG("  %s: sent %u of %u packets", arm->name, sent, c->fill);
	good = good && sent == c->fill && row->settle(arm, c) && collect(other, c, out);
	return cmp_port_promiscuous(other, false) == 0 && good;
}

static bool
gate_tx(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c)
{
	struct wire_frame *seen[CMP_ARMS];
	uint32_t frames = wire_frames(c);
	bool good = true;

	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		seen[a] = calloc(frames, sizeof(*seen[a]));
		good = good && seen[a] != NULL &&
		       send_and_receive(row, &arms[a], &arms[1 - a], c, seen[a]);
	}
	for (uint32_t i = 0; good && i < frames; i++) {
		good = seen[0][i].len == seen[1][i].len && seen[0][i].digest == seen[1][i].digest;
		if (!good)
			CMP_LOG("  frame %u on the wire differs: stock %u bytes, mlxpmd %u", i,
				seen[0][i].len, seen[1][i].len);
	}
	free(seen[0]);
	free(seen[1]);
	return good;
}

/* ---- mbufs that an empty poll writes to ---- */

static void
poison(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	struct rte_mbuf *m = obj;

	RTE_SET_USED(mp);
	RTE_SET_USED(arg);
	RTE_SET_USED(i);
	m->packet_type = POISON;
	m->pkt_len = POISON;
}

static void
count_unpoisoned(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	const struct rte_mbuf *m = obj;

	RTE_SET_USED(mp);
	RTE_SET_USED(i);
	*(uint32_t *)arg += m->packet_type != POISON || m->pkt_len != POISON;
}

static bool
gate_idle(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	  json_t *out)
{
	json_t *lines = cmp_json_child(out, "mbufs_written");

	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		uint32_t written = 0;

		rte_mempool_obj_iter(arms[a].pool, poison, NULL);
		(void)row->timed(&arms[a], c);
		if (arms[a].n != 0) {
			CMP_LOG("  %s: %u packets, though none were sent", arms[a].name, arms[a].n);
			return false;
		}
		rte_mempool_obj_iter(arms[a].pool, count_unpoisoned, &written);
		cmp_json_number(lines, arms[a].name, written);
	}
	return true;
}

bool
cmp_gate(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	 json_t *out)
{
	bool good = true;

	for (unsigned int a = 0; a < CMP_ARMS; a++)
		arms[a].arrive = c->fill;
	if (row->gates & CMP_GATE_RX)
		good = gate_rx(arms, c);
	if (good && (row->gates & CMP_GATE_TX))
		good = gate_tx(row, arms, c);
	if (good && (row->gates & CMP_GATE_IDLE))
		good = gate_idle(row, arms, c, out);
	if (!good)
		CMP_LOG("row %s: the drivers do not do the same work: not measured",
			row->name);
	cmp_json_bool(out, "gate", good);
	return good;
}
