/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Checker: compare each received packet with what was sent, and count it once.
 */

#include <string.h>

#include "gen.h"

/* The result of checking one received packet. */
enum packet_result { RESULT_OK, RESULT_FOREIGN, RESULT_CORRUPT, RESULT_LENGTH, RESULT_NOMEM };

/* The parsed headers of a packet. */
struct view {
	struct tm_gen_frame fr;
	uint32_t tag;		/* bytes of a VLAN tag that is in the packet */
	uint32_t len;		/* frame without that tag */
	uint16_t vlan;
	uint32_t flow;
	uint64_t seq;
};

static bool
chain_sound(const struct rte_mbuf *m)
{
	uint32_t sum = 0, segs = 0;

	for (const struct rte_mbuf *x = m; x != NULL; x = x->next) {
		sum += x->data_len;
		segs++;
	}
	return sum == m->pkt_len && segs == m->nb_segs;
}

/* Copy up to n bytes from offset off to data; returns how many the packet has. */
static uint32_t
copy_out(const struct rte_mbuf *m, uint32_t off, uint32_t n, void *data)
{
	const void *p;

	if (off >= m->pkt_len)
		return 0;
	n = RTE_MIN(n, m->pkt_len - off);
	p = rte_pktmbuf_read(m, off, n, data);
	if (p != data)
		memcpy(data, p, n);
	return n;
}

/* Parse the headers: does the packet belong to this run, and are its headers complete? */
static enum packet_result
view_take(const struct tm_gen *g, const struct rte_mbuf *m, struct view *v)
{
	struct rte_vlan_hdr tag;
	uint32_t have;

	memset(v, 0, sizeof(*v));
	if (copy_out(m, 0, sizeof(v->fr.eth), &v->fr.eth) < sizeof(v->fr.eth))
		return RESULT_FOREIGN;
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		v->vlan = m->vlan_tci & 0xfff;
	if (v->fr.eth.ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN)) {
		if (copy_out(m, sizeof(v->fr.eth), sizeof(tag), &tag) < sizeof(tag))
			return RESULT_FOREIGN;
		v->tag = sizeof(tag);
		v->vlan = rte_be_to_cpu_16(tag.vlan_tci) & 0xfff;
		v->fr.eth.ether_type = tag.eth_proto;
	}
	v->len = m->pkt_len - v->tag;
	have = copy_out(m, sizeof(v->fr.eth) + v->tag, sizeof(v->fr) - sizeof(v->fr.eth),
			RTE_PTR_ADD(&v->fr, sizeof(v->fr.eth))) + sizeof(v->fr.eth);
	if (v->fr.eth.ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ||
	    have < TM_GEN_PAYLOAD_OFF || v->fr.ip.next_proto_id != IPPROTO_UDP ||
	    v->fr.udp.dst_port != rte_cpu_to_be_16(TM_GEN_PORT))
		return RESULT_FOREIGN;
	if (have < sizeof(v->fr))
		return RESULT_LENGTH;
	if (v->fr.hdr.magic != rte_cpu_to_be_16(TM_GEN_MAGIC) ||
	    v->fr.hdr.run != rte_cpu_to_be_16(g->run))
		return RESULT_FOREIGN;
	v->flow = rte_be_to_cpu_16(v->fr.hdr.flow);
	v->seq = (uint64_t)rte_be_to_cpu_16(v->fr.hdr.seq_hi) << 32 |
		rte_be_to_cpu_32(v->fr.hdr.seq_lo);
	return v->flow < g->nb_flows ? RESULT_OK : RESULT_CORRUPT;
}

static bool
payload_intact(const struct tm_gen *g, const struct rte_mbuf *m, const struct view *v)
{
	const uint8_t *want = tm_gen_pattern(g, v->flow, v->seq);
	uint32_t off = sizeof(v->fr) + v->tag, crc;
	struct tm_gen_hdr hdr = v->fr.hdr;

	hdr.crc = 0;
	crc = tm_crc32c(&hdr, sizeof(hdr), 0);
	for (; m != NULL; m = m->next) {
		uint32_t n = m->data_len;
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

		if (off >= n) {
			off -= n;
			continue;
		}
		p += off;
		n -= off;
		off = 0;
		if (memcmp(p, want, n) != 0)
			return false;
		crc = tm_crc32c(p, n, crc);
		want += n;
	}
	return crc == rte_be_to_cpu_32(v->fr.hdr.crc);
}

/* Compare addresses, ports, lengths and checksums with those of this flow and sequence number. */
static bool
headers_intact(const struct tm_app *app, const struct rte_mbuf *m, const struct view *v)
{
	const struct tm_stream *s = &app->streams[v->flow / app->gen->flows_per_stream];
	uint16_t ip_len = v->len - RTE_ETHER_HDR_LEN;

	return v->vlan == app->cfg.vlan &&
		v->fr.ip.version_ihl == RTE_IPV4_VHL_DEF &&
		v->fr.ip.total_length == rte_cpu_to_be_16(ip_len) &&
		v->fr.ip.src_addr == rte_cpu_to_be_32(RTE_IPV4(198u, 18, 0, 0) + v->flow) &&
		v->fr.ip.dst_addr == rte_cpu_to_be_32(RTE_IPV4(198u, 19, 0, 1) + s->tx_port) &&
		v->fr.udp.src_port == rte_cpu_to_be_16(1024 + v->flow % 50000) &&
		v->fr.udp.dgram_len == rte_cpu_to_be_16(ip_len - sizeof(v->fr.ip)) &&
		rte_raw_cksum(&v->fr.ip, sizeof(v->fr.ip)) == 0xffff &&
		rte_ipv4_udptcp_cksum_mbuf_verify(m, &v->fr.ip,
			v->tag + RTE_ETHER_HDR_LEN + sizeof(v->fr.ip)) == 0;
}

static enum packet_result
packet_check(const struct tm_app *app, const struct rte_mbuf *m, struct view *v)
{
	const struct tm_gen *g = app->gen;
	uint32_t claimed, made;
	enum packet_result result;

	if (!chain_sound(m))
		return RESULT_CORRUPT;
	result = view_take(g, m, v);
	if (result != RESULT_OK)
		return result;
	claimed = rte_be_to_cpu_16(v->fr.hdr.length);
	made = tm_gen_length(g, v->flow, v->seq) - (app->cfg.vlan ? RTE_VLAN_HLEN : 0);
	if (claimed != made)
		return RESULT_CORRUPT;
	if (v->len != made)
		return RESULT_LENGTH;
	return payload_intact(g, m, v) && headers_intact(app, m, v) ? RESULT_OK : RESULT_CORRUPT;
}

/* Record the sequence number. The lock is needed because RSS may spread a flow over several queues. */
static enum packet_result
packet_track(struct tm_gen *g, const struct view *v, bool *fresh)
{
	struct tm_gen_flow *f = &g->flows[v->flow];
	enum packet_result result = RESULT_OK;

	rte_spinlock_lock(&f->lock);
	switch (tm_track_mark(f, v->seq)) {
	case TM_TRACK_LATE:
		f->reorder++;
		/* fall through */
	case TM_TRACK_NEW:
		f->received++;
		*fresh = true;
		break;
	case TM_TRACK_DUPLICATE:
		f->duplicate++;
		break;
	case TM_TRACK_ABSURD:
		result = RESULT_CORRUPT;
		break;
	default:
		result = RESULT_NOMEM;
	}
	rte_spinlock_unlock(&f->lock);
	return result;
}

static void
result_count(struct tm_stats *st, enum packet_result result)
{
	uint64_t *const counter[] = {
		[RESULT_OK] = &st->chk_ok, [RESULT_FOREIGN] = &st->chk_foreign,
		[RESULT_CORRUPT] = &st->chk_corrupt, [RESULT_LENGTH] = &st->chk_length,
		[RESULT_NOMEM] = &st->chk_nomem,
	};

	(*counter[result])++;
}

/* The packet is intact, but an Rx checksum flag of the device is BAD. */
static bool
cksum_result_wrong(const struct rte_mbuf *m)
{
	return (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
		(m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD;
}

void
tm_check_burst(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	struct tm_gen *g = app->gen;
	uint32_t owner = 0;
	uint64_t acked = 0;
	struct view v;

	for (uint16_t i = 0; i < n; i++) {
		enum packet_result result = packet_check(app, pkts[i], &v);
		bool fresh = false;

		if (result == RESULT_OK) {
			if (cksum_result_wrong(pkts[i]))
				s->stats.chk_cksum++;
			result = packet_track(g, &v, &fresh);
		}
		result_count(&s->stats, result);
		if (!fresh)
			continue;
		if (v.flow / g->flows_per_stream != owner && acked > 0) {
			__atomic_add_fetch(&app->streams[owner].gen_acked, acked, __ATOMIC_RELAXED);
			acked = 0;
		}
		owner = v.flow / g->flows_per_stream;
		acked++;
	}
	if (acked > 0)
		__atomic_add_fetch(&app->streams[owner].gen_acked, acked, __ATOMIC_RELAXED);
}

void
tm_check_result_get(const struct tm_app *app, struct tm_check_result *v)
{
	const struct tm_gen *g = app->gen;
	uint64_t marked = 0, noted = 0;
	struct tm_stats st;

	memset(v, 0, sizeof(*v));
	for (uint32_t i = 0; i < g->nb_flows; i++) {
		const struct tm_gen_flow *f = &g->flows[i];
		uint64_t below, beyond;

		tm_track_count(f, f->sent, &below, &beyond);
		v->sent += f->sent;
		v->received += below;
		v->unsent += beyond;
		v->lost += f->sent - below;
		v->duplicate += f->duplicate;
		v->reorder += f->reorder;
		marked += below + beyond;
		noted += f->received;
	}
	tm_stats_sum(app, -1, -1, &st);
	v->corrupt = st.chk_corrupt;
	v->length = st.chk_length;
	v->foreign = st.chk_foreign;
	v->cksum_wrong = st.chk_cksum;
	v->nomem = st.chk_nomem;
	v->arrived = st.rx_packets;
	v->balanced = marked == noted && st.chk_ok == noted + v->duplicate &&
		v->arrived == st.chk_ok + v->foreign + v->corrupt + v->length + v->nomem;
	v->ok = v->balanced && v->sent > 0 && v->lost == 0 && v->duplicate == 0 &&
		v->reorder == 0 && v->corrupt == 0 && v->length == 0 && v->unsent == 0 &&
		v->cksum_wrong == 0 && v->nomem == 0;
}

static void
reasons(struct tm_app *app, const struct tm_check_result *v)
{
	const struct { uint64_t n; const char *what; } t[] = {
		{ v->lost, "packets lost" }, { v->duplicate, "packets duplicated" },
		{ v->reorder, "packets out of order" }, { v->corrupt, "packets corrupted" },
		{ v->length, "packets of wrong length" },
		{ v->unsent, "packets received that were not sent" },
		{ v->cksum_wrong, "intact packets with a bad Rx checksum flag" },
		{ v->nomem, "packets not tracked, out of memory" },
	};

	for (unsigned int i = 0; i < RTE_DIM(t); i++)
		if (t[i].n > 0)
			tm_fail(app, "check: %" PRIu64 " %s", t[i].n, t[i].what);
	if (v->sent == 0)
		tm_fail(app, "check: nothing was sent");
	if (!v->balanced)
		tm_fail(app, "check: the counts of the checker are inconsistent");
}

static void
result_print(const struct tm_check_result *v, FILE *out)
{
	fprintf(out, "generator and checker:\n"
		"  sent %" PRIu64 " = received %" PRIu64 " + lost %" PRIu64 "\n"
		"  duplicate %" PRIu64 ", out of order %" PRIu64 ", corrupt %" PRIu64
		", wrong length %" PRIu64 "\n"
		"  wrong checksum flag %" PRIu64 ", not sent %" PRIu64 ", foreign %" PRIu64 "\n"
		"  result: %s\n",
		v->sent, v->received, v->lost, v->duplicate, v->reorder, v->corrupt, v->length,
		v->cksum_wrong, v->unsent, v->foreign, v->ok ? "OK" : "FAILED");
}

int
tm_check_report(struct tm_app *app, FILE *out, bool record)
{
	struct tm_check_result v;

	if (app->gen == NULL || !app->gen->checks)
		return 0;
	tm_check_result_get(app, &v);
	if (out != NULL)
		result_print(&v, out);
	if (record && !v.ok)
		reasons(app, &v);
	return v.ok ? 0 : -1;
}

void
tm_check_json(const struct tm_app *app, FILE *out)
{
	struct tm_check_result v;

	tm_check_result_get(app, &v);
	fprintf(out, "{\"sent\": %" PRIu64 ", \"received\": %" PRIu64 ", \"lost\": %" PRIu64
		", \"duplicate\": %" PRIu64 ", \"reorder\": %" PRIu64 ", \"corrupt\": %" PRIu64
		", \"length\": %" PRIu64 ", \"cksum_wrong\": %" PRIu64 ", \"unsent\": %" PRIu64
		", \"foreign\": %" PRIu64 ", \"untracked\": %" PRIu64 ", \"ok\": %s}",
		v.sent, v.received, v.lost, v.duplicate, v.reorder, v.corrupt, v.length, v.cksum_wrong,
		v.unsent, v.foreign, v.nomem, v.ok ? "true" : "false");
}
