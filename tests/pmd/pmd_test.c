/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Common functions of the PMD's test programs. */

#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "pmd_test.h"

#define POOL_MBUFS 16383

struct rte_mempool *pmd_pool;

void
pmd_init(int argc, char **argv)
{
	pmd_init_driver(argc, argv, "net_mlxpmd");
}

void
pmd_init_driver(int argc, char **argv, const char *driver)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rte_eal_init(argc, argv) < 0)
		exit(2);
	if (rte_eth_dev_count_avail() < 2) {
		printf("FAILED %u ports, two are needed\n", rte_eth_dev_count_avail());
		exit(2);
	}
	RTE_ETH_FOREACH_DEV(port) {
		if (rte_eth_dev_info_get(port, &info) != 0 ||
		    strcmp(info.driver_name, driver) != 0) {
			printf("FAILED port %u belongs to %s\n", port, info.driver_name);
			exit(2);
		}
	}
	pmd_pool = rte_pktmbuf_pool_create("pmd_test", POOL_MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					   SOCKET_ID_ANY);
	if (pmd_pool == NULL) {
		printf("FAILED no mempool: %s\n", rte_strerror(rte_errno));
		exit(2);
	}
}

int
pmd_fini(void)
{
	unsigned int held = rte_mempool_in_use_count(pmd_pool);
	uint16_t port;

	CHECK(held == 0, "%u mbufs were not freed", held);
	RTE_ETH_FOREACH_DEV(port)
		CHECK_OK(rte_eth_dev_close(port));
	rte_mempool_free(pmd_pool);
	rte_eal_cleanup();
	return check_exit("pmd");
}

int
pmd_port_configure(uint16_t port, const struct pmd_conf *conf)
{
	struct rte_eth_conf eth = {
		.rxmode = {
			.mq_mode = conf->rss_hf != 0 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE,
			.offloads = conf->rx_offloads,
			.mtu = conf->mtu,
			.max_lro_pkt_size = conf->lro_bytes,
		},
		.txmode.offloads = conf->tx_offloads,
		.rx_adv_conf.rss_conf.rss_hf = conf->rss_hf,
		.lpbk_mode = conf->loopback,
		.intr_conf = { .rxq = conf->rxq_intr, .lsc = conf->port_intr, .rmv = conf->port_intr },
	};
	uint16_t nb_desc = conf->nb_desc != 0 ? conf->nb_desc : 256, q;
	uint16_t nb_rx_desc = conf->nb_rx_desc != 0 ? conf->nb_rx_desc : nb_desc;
	struct rte_eth_dev_info info;
	int rc;

	rc = rte_eth_dev_info_get(port, &info);
	if (rc == 0)
		rc = rte_eth_dev_configure(port, conf->nb_rxq, conf->nb_txq, &eth);
	for (q = 0; rc == 0 && q < conf->nb_rxq; q++) {
		struct rte_eth_rxconf rxconf = info.default_rxconf;

		rxconf.offloads = conf->rx_offloads;
		rxconf.rx_deferred_start = (conf->deferred_rxq >> q) & 1;
		rc = rte_eth_rx_queue_setup(port, q, nb_rx_desc, SOCKET_ID_ANY, &rxconf,
					    conf->pool != NULL ? conf->pool : pmd_pool);
	}
	for (q = 0; rc == 0 && q < conf->nb_txq; q++) {
		struct rte_eth_txconf txconf = info.default_txconf;

		txconf.offloads = conf->tx_offloads;
		txconf.tx_deferred_start = (conf->deferred_txq >> q) & 1;
		rc = rte_eth_tx_queue_setup(port, q, nb_desc, SOCKET_ID_ANY, &txconf);
	}
	return rc;
}

int
pmd_port_up(uint16_t port, const struct pmd_conf *conf)
{
	int rc = pmd_port_configure(port, conf);

	return rc != 0 ? rc : rte_eth_dev_start(port);
}

void
pmd_port_down(uint16_t port)
{
	CHECK_OK(rte_eth_dev_stop(port));
}

void
pmd_ports_up(const struct pmd_conf *conf)
{
	struct rte_eth_link link;
	uint16_t port;

	for (port = PORT_A; port <= PORT_B; port++)
		CHECK_OK(pmd_port_up(port, conf));
	for (port = PORT_A; port <= PORT_B; port++) {
		CHECK_OK(rte_eth_link_get(port, &link));
		CHECK(link.link_status == RTE_ETH_LINK_UP, "port %u", port);
	}
}

void
pmd_ports_down(void)
{
	pmd_port_down(PORT_A);
	pmd_port_down(PORT_B);
}

/* ------------------------------------------------------------------ frames */

static uint8_t *
put_ipv4(uint8_t *p, const struct pmd_frame *f, uint16_t bytes)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)p;

	memset(ip, 0, sizeof(*ip));
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(bytes);
	ip->fragment_offset = rte_cpu_to_be_16(f->fragment ? RTE_IPV4_HDR_MF_FLAG : 0);
	ip->time_to_live = 64;
	ip->next_proto_id = f->proto;
	ip->src_addr = rte_cpu_to_be_32(f->src_ip);
	ip->dst_addr = rte_cpu_to_be_32(f->dst_ip);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	return p + sizeof(*ip);
}

static uint8_t *
put_ipv6(uint8_t *p, const struct pmd_frame *f, uint16_t bytes)
{
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)p;
	uint32_t src = rte_cpu_to_be_32(f->src_ip), dst = rte_cpu_to_be_32(f->dst_ip);
	uint8_t *src_addr = (uint8_t *)&ip->src_addr, *dst_addr = (uint8_t *)&ip->dst_addr;

	memset(ip, 0, sizeof(*ip));
	ip->vtc_flow = rte_cpu_to_be_32(6u << 28);
	ip->payload_len = rte_cpu_to_be_16(bytes - sizeof(*ip));
	ip->proto = f->proto;
	ip->hop_limits = 64;
	/* Arrays of bytes, or from 24.11 structures of one. */
	src_addr[0] = dst_addr[0] = 0xfd;
	memcpy(&src_addr[12], &src, sizeof(src));
	memcpy(&dst_addr[12], &dst, sizeof(dst));
	return p + sizeof(*ip);
}

static uint8_t *
put_l4(uint8_t *p, const struct pmd_frame *f, uint16_t bytes)
{
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)p;
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)p;

	if (f->proto == IPPROTO_UDP) {
		*udp = (struct rte_udp_hdr){ rte_cpu_to_be_16(f->src_port),
					     rte_cpu_to_be_16(f->dst_port), rte_cpu_to_be_16(bytes), 0 };
		return p + sizeof(*udp);
	}
	if (f->proto == IPPROTO_TCP) {
		memset(tcp, 0, sizeof(*tcp));
		tcp->src_port = rte_cpu_to_be_16(f->src_port);
		tcp->dst_port = rte_cpu_to_be_16(f->dst_port);
		tcp->data_off = 5 << 4;
		return p + sizeof(*tcp);
	}
	return p;
}

static void
frame_write(uint8_t *buf, const struct pmd_frame *f)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)buf;
	uint16_t type = rte_cpu_to_be_16(f->ether_type);
	uint8_t *p = buf + sizeof(*eth), *end = buf + f->bytes;

	eth->dst_addr = f->dst;
	eth->src_addr = f->src;
	eth->ether_type = type;
	if (f->vlan >= 0) {
		eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_VLAN);
		*(uint16_t *)p = rte_cpu_to_be_16(f->vlan);
		memcpy(p + 2, &type, sizeof(type));
		p += 4;
	}
	if (f->ether_type == RTE_ETHER_TYPE_IPV4)
		p = put_ipv4(p, f, end - p);
	else if (f->ether_type == RTE_ETHER_TYPE_IPV6)
		p = put_ipv6(p, f, end - p);
	if (f->ether_type == RTE_ETHER_TYPE_IPV4 || f->ether_type == RTE_ETHER_TYPE_IPV6)
		p = put_l4(p, f, end - p);
	while (p < end) {
		*p = (uint8_t)(p - buf);
		p++;
	}
}

struct rte_mbuf *
pmd_frame_make(const struct pmd_frame *frame, uint16_t seg_bytes)
{
	static uint8_t buf[UINT16_MAX];
	struct rte_mbuf *head = NULL, *seg, *tail = NULL;
	uint16_t done = 0, part;

	frame_write(buf, frame);
	do {
		seg = rte_pktmbuf_alloc(pmd_pool);
		if (seg == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		part = RTE_MIN(frame->bytes - done, seg_bytes != 0 ? seg_bytes :
			       rte_pktmbuf_tailroom(seg));
		memcpy(rte_pktmbuf_mtod(seg, void *), buf + done, part);
		seg->data_len = part;
		seg->pkt_len = part;
		done += part;
		if (head == NULL) {
			head = seg;
		} else {
			tail->next = seg;
			head->nb_segs++;
			head->pkt_len += part;
		}
		tail = seg;
	} while (done < frame->bytes);
	return head;
}

struct pmd_frame
pmd_frame_udp(uint16_t from, uint16_t to, uint16_t flow)
{
	struct pmd_frame f = {
		.vlan = -1, .ether_type = RTE_ETHER_TYPE_IPV4, .proto = IPPROTO_UDP,
		.src_ip = RTE_IPV4(10, 0, 0, 1), .dst_ip = RTE_IPV4(10, 0, 0, 2) + (flow << 2),
		.src_port = 1000 + flow, .dst_port = 9, .bytes = 64,
	};

	rte_eth_macaddr_get(from, &f.src);
	rte_eth_macaddr_get(to, &f.dst);
	return f;
}

unsigned int
pmd_send(uint16_t port, uint16_t queue, const struct pmd_frame *frame)
{
	struct rte_mbuf *m = pmd_frame_make(frame, 0);

	if (m == NULL)
		return 0;
	if (AWAIT(rte_eth_tx_burst(port, queue, &m, 1) == 1, 1000))
		return 1;
	rte_pktmbuf_free(m);
	return 0;
}

unsigned int
pmd_recv(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, unsigned int n, unsigned int ms)
{
	unsigned int got = 0;

	(void)AWAIT((got += rte_eth_rx_burst(port, queue, pkts + got, n - got)) == n, ms);
	return got;
}

/* Receives one burst from each queue and frees the packets. */
static unsigned int
drain_once(uint16_t port, uint16_t nb_queues, unsigned int *count)
{
	struct rte_mbuf *pkts[32];
	unsigned int got = 0, k;
	uint16_t q;

	for (q = 0; q < nb_queues; q++) {
		k = rte_eth_rx_burst(port, q, pkts, 32);
		rte_pktmbuf_free_bulk(pkts, k);
		got += k;
		if (count != NULL)
			count[q] += k;
	}
	return got;
}

unsigned int
pmd_drain(uint16_t port, unsigned int n, unsigned int ms, unsigned int *count)
{
	struct rte_eth_dev_info info;
	unsigned int got = 0;

	if (n == 0 || rte_eth_dev_info_get(port, &info) != 0)
		return 0;
	(void)AWAIT((got += drain_once(port, info.nb_rx_queues, count)) >= n, ms);
	return got;
}

/*
 * A marker frame, recognized by its length, follows the tested one. If the marker arrives first the tested frame was
 * not delivered, so no timeout is needed. Both use one send queue and one receive queue, which keeps their order.
 */
#define MARKER_BYTES 77

bool
pmd_arrives(const struct pmd_frame *frame)
{
	struct pmd_frame marker = pmd_frame_udp(PORT_B, PORT_A, 0);
	bool arrived = false, marked = false;
	struct rte_mbuf *m;

	marker.bytes = MARKER_BYTES;
	CHECK(pmd_send(PORT_B, 0, frame) == 1, "frame not sent");
	CHECK(pmd_send(PORT_B, 0, &marker) == 1, "marker not sent");
	while (!marked && pmd_recv(PORT_A, 0, &m, 1, 2000) == 1) {
		CHECK(!arrived || m->pkt_len == MARKER_BYTES, "unexpected frame of %u bytes", m->pkt_len);
		marked = m->pkt_len == MARKER_BYTES;
		arrived |= !marked;
		rte_pktmbuf_free(m);
	}
	CHECK(marked, "marker not received");
	return arrived;
}

bool
pmd_devarg(uint16_t port, const char *arg)
{
	const struct rte_devargs *devargs;
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port, &info) != 0)
		return false;
	devargs = rte_dev_devargs(info.device);
	return devargs != NULL && devargs->args != NULL && strstr(devargs->args, arg) != NULL;
}

static void
striding_count(struct rte_mempool *mp, void *arg)
{
	struct pmd_striding *n = arg;

	if (strncmp(mp->name, "mlxpmd_mprq_", 12) != 0)
		return;
	n->pools++;
	n->buffers += rte_mempool_in_use_count(mp);
}

struct pmd_striding
pmd_striding(void)
{
	struct pmd_striding n = { 0 };

	rte_mempool_walk(striding_count, &n);
	return n;
}

unsigned int
pmd_rx_held(void)
{
	return pmd_devarg(PORT_B, "mprq_log_stride_num=3") ? pmd_striding().buffers << 3 :
							     rte_mempool_in_use_count(pmd_pool);
}

uint64_t
pmd_xstat(uint16_t port, const char *name)
{
	uint64_t id, value;

	if (rte_eth_xstats_get_id_by_name(port, name, &id) != 0 ||
	    rte_eth_xstats_get_by_id(port, &id, &value, 1) != 1)
		return UINT64_MAX;
	return value;
}

/* All counters were read after begin. The time comes first: this thread may lose its processor before the ages. */
static bool
counts_since(uint16_t port, uint64_t begin)
{
	uint64_t passed_us = (rte_rdtsc() - begin) * 1000000 / rte_get_tsc_hz();

	return pmd_xstat(port, "rx_missed_age_us") < passed_us && pmd_xstat(port, "device_counters_age_us") < passed_us;
}

void
pmd_counts_settle(uint16_t port)
{
	uint64_t begin = rte_rdtsc();

	CHECK(AWAIT(counts_since(port, begin), 20000), "port %u: counters are older than this call", port);
}
