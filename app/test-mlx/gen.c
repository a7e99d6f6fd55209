/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Generator: UDP packets with flow, sequence number, length, and a CRC of a seeded pattern. The
 * checker (check.c) detects loss, duplication, reordering and corruption from these alone.
 *
 * Flow i of stream s has the number s * flows + i. Addresses are from 198.18.0.0/15, which
 * RFC 2544, appendix C.2.2, reserves for benchmarks.
 */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "gen.h"

#define STALL_MS 500		/* limit of a closed window without progress */

static uint64_t
mix(uint64_t x)
{
	/* the finaliser of splitmix64 */
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint16_t
tm_gen_length(const struct tm_gen *g, uint32_t flow, uint64_t seq)
{
	uint32_t span = g->len_max - g->len_min + 1u;

	if (span == 1)
		return g->len_min;
	return g->len_min + mix(g->salt + seq * UINT64_C(0x9e3779b97f4a7c15) + flow) % span;
}

static void
streams_prepare(struct tm_app *app)
{
	const struct tm_config *cfg = &app->cfg;

	for (uint16_t i = 0; i < app->nb_streams; i++) {
		struct tm_stream *s = &app->streams[i];
		uint16_t txq = app->ports[s->tx_port].txq;

		s->gen_built = 0;
		s->gen_sent = 0;
		s->gen_acked = 0;
		s->gen_written_off = 0;
		s->gen_progress_acked = 0;
		s->gen_progress_tsc = rte_get_tsc_cycles();
		s->gen_next_flow = 0;
		s->gen_quota = cfg->count == 0 ? UINT64_MAX :
			cfg->count / txq + (s->tx_queue < cfg->count % txq);
		if (!s->has_tx || (cfg->genmask != 0 && (s->tx_port >= 64 ||
		    !(cfg->genmask & RTE_BIT64(s->tx_port)))))
			s->gen_quota = 0;
		/* The remainder of the division goes to the first queues. */
		tm_pacer_start(&s->pacer, cfg->rate == 0 ? 0 :
			       RTE_MAX(cfg->rate / txq + (s->tx_queue < cfg->rate % txq), 1u));
	}
}

/* The receiving port may drop frames that are longer than its MTU permits. */
static int
length_fits(const struct tm_app *app)
{
	uint32_t tag = app->cfg.vlan != 0 ? RTE_VLAN_HLEN : 0;

	for (uint16_t i = 0; i < app->nb_ports; i++) {
		const struct tm_port *p = &app->ports[app->port_ids[i]];

		if (app->cfg.len_max > tm_port_frame_max(p) + tag) {
			tm_error("port %u (%s): packets of %u bytes do not fit MTU %u", p->port_id,
				 p->name, app->cfg.len_max, p->mtu);
			return -EMSGSIZE;
		}
	}
	if (app->cfg.len_min < TM_MIN_FRAME + tag) {
		tm_error("packets with a VLAN tag must have %u bytes or more", TM_MIN_FRAME + tag);
		return -EINVAL;
	}
	return 0;
}

int
tm_gen_create(struct tm_app *app)
{
	const struct tm_config *cfg = &app->cfg;
	uint64_t nb_flows = (uint64_t)app->nb_streams * cfg->flows, x = cfg->seed;
	struct tm_gen *g;

	tm_gen_free(app);
	if (length_fits(app) != 0)
		return -EINVAL;
	if (nb_flows > TM_GEN_MAX_FLOWS) {
		tm_error("%u flows on each of %u streams: only %u flows are supported", cfg->flows,
			 app->nb_streams, TM_GEN_MAX_FLOWS);
		return -EINVAL;
	}
	g = rte_zmalloc("tm_gen", sizeof(*g), RTE_CACHE_LINE_SIZE);
	if (g != NULL)
		g->flows = rte_zmalloc("tm_flows", nb_flows * sizeof(*g->flows),
				       RTE_CACHE_LINE_SIZE);
	if (g == NULL || g->flows == NULL) {
		rte_free(g);
		tm_error("no memory for %" PRIu64 " flows", nb_flows);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < nb_flows; i++)
		rte_spinlock_init(&g->flows[i].lock);
	g->run = mix(cfg->seed + 1 + 1000 * (uint64_t)app->run_no);
	g->salt = mix(cfg->seed + 2);
	g->nb_flows = nb_flows;
	g->flows_per_stream = cfg->flows;
	g->len_min = cfg->len_min;
	g->len_max = cfg->len_max;
	g->checks = cfg->engine->checks;
	for (size_t i = 0; i < sizeof(g->pattern); i += sizeof(x)) {
		uint64_t word = mix(x += UINT64_C(0x9e3779b97f4a7c15));

		memcpy(g->pattern + i, &word, sizeof(word));
	}
	app->gen = g;
	streams_prepare(app);
	return 0;
}

void
tm_gen_free(struct tm_app *app)
{
	if (app->gen == NULL)
		return;
	for (uint32_t i = 0; i < app->gen->nb_flows; i++)
		tm_track_free(&app->gen->flows[i]);
	rte_free(app->gen->flows);
	rte_free(app->gen);
	app->gen = NULL;
}

/* Write n bytes at offset off; the chain must be long enough. */
static void
chain_write(struct rte_mbuf *m, uint32_t off, const void *data, uint32_t n)
{
	const uint8_t *src = data;

	while (n > 0) {
		uint32_t room = rte_pktmbuf_data_len(m), k;

		if (off >= room) {
			off -= room;
			m = m->next;
			continue;
		}
		k = RTE_MIN(n, room - off);
		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, off), src, k);
		src += k;
		n -= k;
		off = 0;
		m = m->next;
	}
}

/* A chain of mbufs for len bytes; NULL if the pool has too few. */
static struct rte_mbuf *
chain_alloc(struct rte_mempool *pool, uint32_t len)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(pool), *tail = head;

	if (head == NULL)
		return NULL;
	head->pkt_len = len;
	for (;;) {
		uint32_t k = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(tail));

		tail->data_len = k;
		len -= k;
		if (len == 0)
			return head;
		tail->next = rte_pktmbuf_alloc(pool);
		if (tail->next == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		tail = tail->next;
		head->nb_segs++;
	}
}

static void
frame_headers(const struct tm_app *app, const struct tm_stream *s, struct tm_gen_frame *fr,
	      uint32_t flow, uint16_t len)
{
	const struct tm_port *tx = &app->ports[s->tx_port];
	uint16_t ip_len = len - RTE_ETHER_HDR_LEN;

	memset(fr, 0, sizeof(*fr));
	fr->eth.src_addr = tx->mac;
	fr->eth.dst_addr = app->cfg.has_peer_mac[s->tx_port] ? app->cfg.peer_mac[s->tx_port] :
		app->ports[tx->peer].mac;
	fr->eth.ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	fr->ip.version_ihl = RTE_IPV4_VHL_DEF;
	fr->ip.total_length = rte_cpu_to_be_16(ip_len);
	fr->ip.time_to_live = 64;
	fr->ip.next_proto_id = IPPROTO_UDP;
	fr->ip.src_addr = rte_cpu_to_be_32(RTE_IPV4(198u, 18, 0, 0) + flow);
	fr->ip.dst_addr = rte_cpu_to_be_32(RTE_IPV4(198u, 19, 0, 1) + s->tx_port);
	fr->udp.src_port = rte_cpu_to_be_16(1024 + flow % 50000);
	fr->udp.dst_port = rte_cpu_to_be_16(TM_GEN_PORT);
	fr->udp.dgram_len = rte_cpu_to_be_16(ip_len - sizeof(fr->ip));
}

static uint32_t
payload_crc(const struct tm_gen_hdr *h, const uint8_t *pattern, uint32_t n)
{
	uint32_t crc = tm_crc32c(h, sizeof(*h), 0);

	return n > 0 ? tm_crc32c(pattern, n, crc) : crc;
}

/* IP and UDP checksums: in software, unless the Tx offload is enabled. */
static void
frame_checksums(struct rte_mbuf *m, struct tm_gen_frame *fr, uint64_t offloads,
		const uint8_t *pattern, uint32_t n)
{
	uint32_t sum;

	m->l2_len = sizeof(fr->eth);
	m->l3_len = sizeof(fr->ip);
	if (offloads & (RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM))
		m->ol_flags |= RTE_MBUF_F_TX_IPV4;
	if (offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM)
		m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
	else
		fr->ip.hdr_checksum = rte_ipv4_cksum(&fr->ip);
	fr->udp.dgram_cksum = rte_ipv4_phdr_cksum(&fr->ip, RTE_MBUF_F_TX_UDP_CKSUM);
	if (offloads & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) {
		m->ol_flags |= RTE_MBUF_F_TX_UDP_CKSUM;
		return;
	}
	/* The headers have an even number of bytes: the sum of both parts is the sum of the two sums. */
	sum = (uint32_t)rte_raw_cksum(RTE_PTR_ADD(fr, offsetof(struct tm_gen_frame, udp)),
				      sizeof(fr->udp) + sizeof(fr->hdr)) +
		rte_raw_cksum(pattern, n);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	fr->udp.dgram_cksum = sum != 0 ? sum : 0xffff;
}

/* Write the VLAN tag into the packet, unless the device inserts it. */
static void
frame_vlan(struct rte_mbuf *m, uint32_t vlan, uint64_t offloads)
{
	struct rte_vlan_hdr tag = { rte_cpu_to_be_16(vlan), rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) };
	rte_be16_t tpid = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);

	if (vlan == 0)
		return;
	if (offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT) {
		m->ol_flags |= RTE_MBUF_F_TX_VLAN;
		m->vlan_tci = vlan;
		return;
	}
	chain_write(m, offsetof(struct rte_ether_hdr, ether_type), &tpid, sizeof(tpid));
	chain_write(m, RTE_ETHER_HDR_LEN, &tag, sizeof(tag));
	m->l2_len += RTE_VLAN_HLEN;
}

static struct rte_mbuf *
packet_build(struct tm_app *app, const struct tm_stream *s, uint32_t flow, uint64_t seq)
{
	uint64_t offloads = app->ports[s->tx_port].conf.txmode.offloads;
	const struct tm_gen *g = app->gen;
	const uint8_t *pattern = tm_gen_pattern(g, flow, seq);
	uint16_t len = tm_gen_length(g, flow, seq);
	uint32_t tag, n;
	struct tm_gen_frame fr;
	struct rte_mbuf *m;

	/* The four bytes of a VLAN tag are part of the length. */
	len -= app->cfg.vlan != 0 ? RTE_VLAN_HLEN : 0;
	tag = app->cfg.vlan != 0 && !(offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT) ?
		RTE_VLAN_HLEN : 0;
	n = len - sizeof(fr);
	m = chain_alloc(app->pool, len + tag);
	if (m == NULL)
		return NULL;
	frame_headers(app, s, &fr, flow, len);
	fr.hdr.magic = rte_cpu_to_be_16(TM_GEN_MAGIC);
	fr.hdr.run = rte_cpu_to_be_16(g->run);
	fr.hdr.flow = rte_cpu_to_be_16(flow);
	fr.hdr.seq_hi = rte_cpu_to_be_16(seq >> 32);
	fr.hdr.seq_lo = rte_cpu_to_be_32(seq);
	fr.hdr.length = rte_cpu_to_be_16(len);
	fr.hdr.crc = rte_cpu_to_be_32(payload_crc(&fr.hdr, pattern, n));
	frame_checksums(m, &fr, offloads, pattern, n);
	chain_write(m, 0, &fr.eth, sizeof(fr.eth));
	chain_write(m, sizeof(fr.eth) + tag, RTE_PTR_ADD(&fr, sizeof(fr.eth)),
		    sizeof(fr) - sizeof(fr.eth));
	chain_write(m, sizeof(fr) + tag, pattern, n);
	frame_vlan(m, app->cfg.vlan, offloads);
	return m;
}

/* Build packets until n are pending. */
static void
pending_fill(struct tm_app *app, struct tm_stream *s, uint32_t n)
{
	struct tm_gen *g = app->gen;

	if (s->pending_head > 0 && s->pending_count > 0)
		memmove(s->pending, s->pending + s->pending_head,
			s->pending_count * sizeof(s->pending[0]));
	s->pending_head = 0;
	while (s->pending_count < n && s->gen_built < s->gen_quota) {
		uint32_t flow = s->index * g->flows_per_stream + s->gen_next_flow;
		struct rte_mbuf *m = packet_build(app, s, flow, g->flows[flow].built);

		if (m == NULL) {
			s->stats.gen_nombuf++;
			return;
		}
		g->flows[flow].built++;
		s->gen_built++;
		s->gen_next_flow = (s->gen_next_flow + 1) % g->flows_per_stream;
		s->pending[s->pending_count++] = m;
	}
}

/*
 * Packets that the window permits. Lost packets would close the window permanently: after STALL_MS without
 * progress, all packets in flight no longer count for the window.
 */
static uint32_t
window_allow(struct tm_app *app, struct tm_stream *s, uint32_t max)
{
	uint64_t acked = __atomic_load_n(&s->gen_acked, __ATOMIC_RELAXED), now, out, back;

	if (app->cfg.window == 0 || !app->gen->checks)
		return max;
	back = acked + s->gen_written_off;
	out = s->gen_sent > back ? s->gen_sent - back : 0;
	if (out < app->cfg.window) {
		s->gen_progress_tsc = 0;
		return RTE_MIN((uint64_t)max, app->cfg.window - out);
	}
	now = rte_get_tsc_cycles();
	if (acked != s->gen_progress_acked || s->gen_progress_tsc == 0) {
		s->gen_progress_acked = acked;
		s->gen_progress_tsc = now;
	} else if (now - s->gen_progress_tsc > rte_get_tsc_hz() * STALL_MS / 1000) {
		s->gen_written_off += out;
		s->stats.window_stalls++;
	}
	return 0;
}

uint32_t
tm_gen_transmit(struct tm_app *app, struct tm_stream *s)
{
	uint32_t n;
	uint16_t sent;

	if (s->gen_quota == 0 || tm_phase_get(app) != TM_PHASE_RUN || s->gen_sent >= s->gen_quota)
		return 0;
	n = tm_pacer_allow(&s->pacer, app->cfg.burst);
	n = n > 0 ? window_allow(app, s, n) : 0;
	if (n == 0)
		return 0;
	if (s->pending_count < n)
		pending_fill(app, s, n);
	n = RTE_MIN(n, s->pending_count);
	if (n == 0)
		return 0;
	sent = tm_tx(app, s, s->pending + s->pending_head, n);
	s->pending_head += sent;
	s->pending_count -= sent;
	s->pacer.used += sent;
	/* Store after sending. A reader that finds an old value only waits longer. */
	__atomic_store_n(&s->gen_sent, s->gen_sent + sent, __ATOMIC_RELAXED);
	return sent;
}

void
tm_gen_settle(struct tm_app *app)
{
	struct tm_gen *g = app->gen;

	for (uint16_t i = 0; i < app->nb_streams; i++) {
		struct tm_stream *s = &app->streams[i];

		/* Flows take turns: going backwards removes the last sequence number of each. */
		while (s->pending_count > 0) {
			uint32_t f = (s->gen_next_flow + g->flows_per_stream - 1) %
				g->flows_per_stream;

			s->gen_next_flow = f;
			g->flows[s->index * g->flows_per_stream + f].built--;
			s->gen_built--;
			rte_pktmbuf_free(s->pending[s->pending_head + --s->pending_count]);
		}
		s->pending_head = 0;
	}
	for (uint32_t i = 0; i < g->nb_flows; i++)
		g->flows[i].sent = g->flows[i].built;
}

bool
tm_gen_done(const struct tm_app *app)
{
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		const struct tm_stream *s = &app->streams[i];

		if (__atomic_load_n(&s->gen_sent, __ATOMIC_RELAXED) < s->gen_quota)
			return false;
	}
	return true;
}

void
tm_gen_progress(const struct tm_app *app, uint64_t *sent, uint64_t *acked)
{
	*sent = 0;
	*acked = 0;
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		*sent += __atomic_load_n(&app->streams[i].gen_sent, __ATOMIC_RELAXED);
		*acked += __atomic_load_n(&app->streams[i].gen_acked, __ATOMIC_RELAXED);
	}
}
