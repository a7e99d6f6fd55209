/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Received and sent frames: valid Ethernet frames, generated from a fixed seed. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_thash.h>
#include <rte_udp.h>

#include "compare.h"

#define MAX_FRAME 1514u
#define MIN_FRAME 60u
#define FLOWS 64u
#define SRC_ADDR 0x0a000001u
#define DST_ADDR 0x0a010001u
#define SRC_PORT 1024u
#define DST_PORT 4791u

static char folder[] = "/tmp/compare.XXXXXX";
static bool made;
static unsigned int files;
static char paths[CMP_ARMS][CMP_TRAFFIC_FILES][sizeof(folder) + 32];

/* Pseudo-random numbers, the same in each run: multiplier and increment of Knuth's MMIX generator. */
static uint32_t
draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

/** Description of a frame. */
struct shape {
	uint32_t bytes;
	bool vlan, v6, tcp, fragment;
	uint32_t flow;
};

static uint8_t *
put_ether(uint8_t *p, const uint8_t dst[6], const struct shape *s)
{
	static const uint8_t src[6] = { 2, 0, 0, 0, 0, 0x77 };
	uint16_t type = rte_cpu_to_be_16(s->v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)p;

	memcpy(&eth->dst_addr, dst, 6);
	memcpy(&eth->src_addr, src, 6);
	p += sizeof(*eth);
	if (!s->vlan) {
		eth->ether_type = type;
		return p;
	}
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
	((struct rte_vlan_hdr *)p)->vlan_tci = rte_cpu_to_be_16(100 + s->flow % 8);
	((struct rte_vlan_hdr *)p)->eth_proto = type;
	return p + sizeof(struct rte_vlan_hdr);
}

static void
put_l4(uint8_t *p, uint16_t bytes, const struct shape *s)
{
	if (s->tcp) {
		struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)p;

		tcp->src_port = rte_cpu_to_be_16(SRC_PORT + s->flow);
		tcp->dst_port = RTE_BE16(80);
		tcp->data_off = 5 << 4;
		tcp->tcp_flags = RTE_TCP_ACK_FLAG;
	} else {
		struct rte_udp_hdr *udp = (struct rte_udp_hdr *)p;

		udp->src_port = rte_cpu_to_be_16(SRC_PORT + s->flow);
		udp->dst_port = RTE_BE16(DST_PORT);
		udp->dgram_len = rte_cpu_to_be_16(bytes);
	}
}

static void
set_l4_csum(uint8_t *l4, const struct shape *s, uint16_t csum)
{
	if (s->tcp)
		((struct rte_tcp_hdr *)l4)->cksum = csum;
	else
		((struct rte_udp_hdr *)l4)->dgram_cksum = csum;
}

static void
put_v4(uint8_t *p, uint16_t bytes, const struct shape *s)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)p;
	uint8_t *l4 = p + sizeof(*ip);

	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(bytes);
	ip->time_to_live = 64;
	ip->next_proto_id = s->tcp ? IPPROTO_TCP : IPPROTO_UDP;
	ip->fragment_offset = s->fragment ? rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG) : 0;
	ip->src_addr = rte_cpu_to_be_32(SRC_ADDR + s->flow);
	ip->dst_addr = RTE_BE32(DST_ADDR);
	put_l4(l4, bytes - sizeof(*ip), s);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	set_l4_csum(l4, s, rte_ipv4_udptcp_cksum(ip, l4));
}

static void
put_v6(uint8_t *p, uint16_t bytes, const struct shape *s)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)p;
	/* Arrays of bytes, or from 24.11 structures of one. */
	uint8_t *src = (uint8_t *)&ip->src_addr, *dst = (uint8_t *)&ip->dst_addr;
	uint8_t *l4 = p + sizeof(*ip);

	ip->vtc_flow = RTE_BE32(6u << 28);
	ip->payload_len = rte_cpu_to_be_16(bytes - sizeof(*ip));
	ip->proto = s->tcp ? IPPROTO_TCP : IPPROTO_UDP;
	ip->hop_limits = 64;
	src[0] = dst[0] = 0xfd;
	src[15] = s->flow;
	dst[15] = 1;
	put_l4(l4, bytes - sizeof(*ip), s);
	set_l4_csum(l4, s, rte_ipv6_udptcp_cksum(ip, l4));
}

static void
put_frame(uint8_t *to, const uint8_t dst[6], const struct shape *s)
{
	uint8_t *l3;
	uint16_t left;

	memset(to, 0, s->bytes);
	l3 = put_ether(to, dst, s);
	left = s->bytes - (l3 - to);
	if (s->v6)
		put_v6(l3, left, s);
	else
		put_v4(l3, left, s);
}

/* The queue to which RSS sends uniform traffic of a flow: the indirection table repeats the queues every 64 entries. */
static uint16_t
queue_of(const struct cmp_config *c, uint32_t flow)
{
	const struct rte_ipv4_tuple tuple = {
		.src_addr = SRC_ADDR + flow, .dst_addr = DST_ADDR, .sport = SRC_PORT + flow, .dport = DST_PORT,
	};
	uint32_t words[RTE_THASH_V4_L4_LEN];

	memcpy(words, &tuple, sizeof(words));
	return rte_softrss(words, RTE_DIM(words), cmp_rss_key) % RTE_ETH_RETA_GROUP_SIZE % c->queues;
}

/* Flow of frame i of uniform traffic: frames go to the queues in turn if they are spread. */
static uint32_t
flow_of(const struct cmp_config *c, uint32_t i)
{
	static uint32_t flows[FLOWS];
	const uint32_t at = i % FLOWS;

	if (!c->spread)
		return at;
	if (flows[at] == 0) {
		flows[at] = FLOWS + at;
		while (queue_of(c, flows[at]) != at % c->queues)
			flows[at] += FLOWS;
	}
	return flows[at];
}

static struct shape
shape_of(const struct cmp_config *c, uint32_t i, uint64_t *seed)
{
	/* About half of the frames are small and a third large, as at an Internet exchange. */
	static const uint32_t sizes[] = { 60, 60, 64, 90, 128, 256, 576, 1024, 1400, 1514 };
	struct shape s = { .bytes = c->frame_bytes, .flow = flow_of(c, i) };

	if (strcmp(c->traffic, "mixed") != 0)
		return s;
	s.bytes = sizes[draw(seed, RTE_DIM(sizes))];
	s.flow = draw(seed, FLOWS);
	s.vlan = draw(seed, 4) == 0;
	s.v6 = draw(seed, 3) == 0;
	s.tcp = draw(seed, 2) == 0;
	s.fragment = !s.v6 && draw(seed, 8) == 0;
	if (s.v6 || s.vlan)
		s.bytes = RTE_MAX(s.bytes, 90u);
	return s;
}

static int
file_make(const struct cmp_config *c, const uint8_t dst[6], const char *path, uint64_t seed)
{
	uint8_t frame[MAX_FRAME];
	struct pcap_pkthdr h = { 0 };
	pcap_t *p = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *d = p != NULL ? pcap_dump_open(p, path) : NULL;
	uint32_t i;

	for (i = 0; d != NULL && i < c->fill; i++) {
		struct shape s = shape_of(c, i, &seed);

		put_frame(frame, dst, &s);
		h.len = h.caplen = s.bytes;
		pcap_dump((u_char *)d, &h, frame);
	}
	if (d == NULL)
		CMP_LOG("%s: %s", path, p != NULL ? pcap_geterr(p) : "no memory");
	if (d != NULL)
		pcap_dump_close(d);
	if (p != NULL)
		pcap_close(p);
	return d != NULL ? 0 : -EIO;
}

int
cmp_traffic_make(const struct cmp_config *c, const struct cmp_arm arms[CMP_ARMS])
{
	int rc = 0;

	if (mkdtemp(folder) == NULL) {
		CMP_LOG("%s: %s", folder, strerror(errno));
		return -errno;
	}
	made = true;
	/* Several files of mixed frames, because a branch predictor could learn the order of a single one. */
	files = strcmp(c->traffic, "mixed") == 0 ? CMP_TRAFFIC_FILES : 1;
	for (unsigned int a = 0; a < CMP_ARMS; a++) {
		for (unsigned int f = 0; rc == 0 && f < files; f++) {
			snprintf(paths[a][f], sizeof(paths[a][f]), "%s/%s.%u.pcap", folder,
				 arms[a].name, f);
			rc = file_make(c, arms[a].mac.addr_bytes, paths[a][f], f + 1);
		}
		if (rc != 0)
			break;
	}
	return rc;
}

const char *
cmp_traffic_file(const struct cmp_arm *arm, uint32_t round)
{
	return paths[arm->id][round % files];
}

void
cmp_traffic_remove(void)
{
	if (!made)
		return;
	for (unsigned int a = 0; a < CMP_ARMS; a++)
		for (unsigned int f = 0; f < files; f++)
			if (paths[a][f][0] != '\0')
				unlink(paths[a][f]);
	rmdir(folder);
	made = false;
}

uint32_t
cmp_traffic_frame(const struct cmp_config *c, uint8_t *to, uint32_t i)
{
	static const uint8_t dst[6] = { 2, 0, 0, 0, 0, 0x99 };
	struct shape s = { .bytes = c->frame_bytes, .flow = i % FLOWS, .tcp = c->tso_segsz != 0 };

	put_frame(to, dst, &s);
	return s.bytes;
}
