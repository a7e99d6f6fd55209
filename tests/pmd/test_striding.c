/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Striding receive queues while the application keeps what it received: attached packets stay as they are over a stop,
 * another size of strides, a close, a removal and a fatal error; they are sent on; and a queue whose buffers or mbufs
 * are all kept goes on without waiting, and recovers.
 *
 * Usage: test_pmd_striding EAL-ARGUMENTS [-- CASE]; without a case all that leave the device in place.
 * The devargs have mprq_en=1 and strides of a size that holds a frame of BYTES and the headroom, but for `lengths`.
 */

#include <pthread.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define BYTES 300
#define HELD_MAX 2048
#define NB_DESC 64
#define JUMBO_MTU 9000

static struct rte_mempool *send_pool;
/* Packets that the application keeps, and what was in them. */
static struct rte_mbuf *held[HELD_MAX];
static uint8_t copies[HELD_MAX][BYTES];
static unsigned int nb_held;
static const struct pmd_conf basic = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = NB_DESC };

/* ------------------------------------------------------------------ frames */

static struct rte_mbuf *
frame_make(uint16_t from, uint16_t flow, uint16_t bytes)
{
	struct pmd_frame f = pmd_frame_udp(from, !from, flow);
	struct rte_mbuf *made, *m;

	f.bytes = bytes;
	made = pmd_frame_make(&f, 0);
	m = rte_pktmbuf_copy(made, send_pool, 0, UINT32_MAX);
	rte_pktmbuf_free(made);
	CHECK(m != NULL, "no mbuf for %u bytes", bytes);
	return m;
}

/* Sends frames made in advance. */
static void
send_all(uint16_t from, struct rte_mbuf **m, unsigned int n)
{
	unsigned int sent = 0;

	CHECK(AWAIT((sent += rte_eth_tx_burst(from, 0, m + sent, n - sent)) == n, 5000), "%u sent of %u", sent, n);
}

static bool
is_attached(const struct rte_mbuf *m)
{
	return RTE_MBUF_HAS_EXTBUF(m) != 0;
}

/* Each byte of a frame from pmd_frame_make() behind the headers has the value of its place. */
static unsigned int
bytes_wrong(const struct rte_mbuf *m, uint32_t len)
{
	static uint8_t linear[UINT16_MAX];
	const uint8_t *d = rte_pktmbuf_read(m, 0, len, linear);
	unsigned int wrong = 0;

	for (uint32_t i = 42; d != NULL && i < len; i++)
		wrong += d[i] != (uint8_t)i;
	return d == NULL ? len : wrong;
}

/* ------------------------------------------------------------------ kept packets */

static void
keep(struct rte_mbuf *m)
{
	CHECK(m->pkt_len == BYTES && m->nb_segs == 1 && bytes_wrong(m, BYTES) == 0, "packet of %u bytes, %u of them wrong",
	      m->pkt_len, bytes_wrong(m, BYTES));
	memcpy(copies[nb_held], rte_pktmbuf_mtod(m, void *), BYTES);
	held[nb_held++] = m;
}

/* Sends frames to PORT_A, one by one, and keeps them. Number of those that are attached. */
static unsigned int
receive_kept(unsigned int n)
{
	unsigned int i, attached = 0;
	struct rte_mbuf *m;

	for (i = 0; i < n; i++) {
		m = frame_make(PORT_B, nb_held, BYTES);
		send_all(PORT_B, &m, 1);
		if (pmd_recv(PORT_A, 0, &m, 1, 5000) != 1) {
			CHECK(false, "frame %u of %u did not arrive", i, n);
			break;
		}
		attached += is_attached(m);
		keep(m);
	}
	return attached;
}

static void
kept_check(const char *when)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < nb_held; i++)
		wrong += memcmp(rte_pktmbuf_mtod(held[i], void *), copies[i], BYTES) != 0;
	CHECK(wrong == 0, "%s: %u of %u kept packets changed", when, wrong, nb_held);
}

static void *
free_some(void *arg)
{
	const unsigned int n = *(unsigned int *)arg;

	for (unsigned int i = 0; i < n; i++)
		rte_pktmbuf_free(held[--nb_held]);
	return NULL;
}

/* Half of them in a thread that DPDK does not know. */
static void
kept_free(void)
{
	unsigned int half = nb_held / 2;
	pthread_t thread;

	kept_check("at the end");
	CHECK_OK(pthread_create(&thread, NULL, free_some, &half));
	pthread_join(thread, NULL);
	half = nb_held;
	(void)free_some(&half);
}

/* ------------------------------------------------------------------ cases */

/* Buffers of several starts, of another size of strides, and of a queue that was stopped alone. */
static void
stopped(void)
{
	struct pmd_conf wide = basic;

	pmd_ports_up(&basic);
	CHECK(receive_kept(100) == 100, "not all are attached");
	pmd_ports_down();
	kept_check("stopped");
	pmd_ports_up(&basic);
	CHECK(receive_kept(50) == 50, "not all are attached");
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, 0));
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 0));
	CHECK(receive_kept(50) == 50, "not all are attached");
	pmd_ports_down();
	CHECK(pmd_striding().pools == 3, "%u pools of two queues and of kept packets", pmd_striding().pools);
	wide.mtu = 4000;
	wide.rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	pmd_ports_up(&wide);
	CHECK(pmd_striding().pools == 4, "%u pools of two queues and of kept packets", pmd_striding().pools);
	CHECK(receive_kept(30) == 30, "not all are attached");
	pmd_ports_down();
	kept_free();
	CHECK(pmd_striding().pools == 2, "%u pools of two queues", pmd_striding().pools);
}

/* The application keeps all buffers: packets are copied, until it returns some. */
static void
buffers_kept(void)
{
	unsigned int attached = 0, all = 0, one = 1;

	pmd_ports_up(&basic);
	while (all < 1000 && (all < 64 || one != 0)) {
		one = receive_kept(1);
		attached += one;
		all++;
	}
	CHECK(one == 0 && attached > 256, "%u of %u are attached", attached, all);
	CHECK(receive_kept(200) == 0, "there are buffers");
	CHECK(pmd_xstat(PORT_A, "rx_mbuf_allocation_errors") == 0, "no mbuf");
	kept_free();
	CHECK(receive_kept(100) > 80, "still copied");
	kept_free();
	pmd_counts_settle(PORT_A);
	CHECK(pmd_xstat(PORT_A, "rx_missed_errors") == 0, "frames were missed");
	pmd_ports_down();
}

/* No mbuf: packets stay in their strides, and what no longer fits is missed. Half of the time no buffer either. */
static void
mbufs_kept(void)
{
	static struct rte_mbuf *hoard[20000], *m[200];
	uint64_t lacked, missed, before;
	unsigned int n, i, got, round;

	pmd_ports_up(&basic);
	for (round = 0; round < 4; round++) {
		if (round & 1)
			(void)receive_kept(600);
		for (i = 0; i < RTE_DIM(m); i++)
			m[i] = frame_make(PORT_B, i, BYTES);
		for (n = 0; n < RTE_DIM(hoard) && (hoard[n] = rte_pktmbuf_alloc(pmd_pool)) != NULL; n++)
			;
		pmd_counts_settle(PORT_A);
		before = pmd_xstat(PORT_A, "rx_missed_errors");
		lacked = pmd_xstat(PORT_A, "rx_mbuf_allocation_errors");
		send_all(PORT_B, m, RTE_DIM(m));
		CHECK(pmd_drain(PORT_A, 1, 100, NULL) == 0, "received without an mbuf");
		CHECK(pmd_xstat(PORT_A, "rx_mbuf_allocation_errors") > lacked &&
		      pmd_xstat(PORT_A, "rx_mbuf_allocation_errors") <= lacked + NB_DESC, "%" PRIu64 " mbufs lacked",
		      pmd_xstat(PORT_A, "rx_mbuf_allocation_errors") - lacked);
		kept_check("without mbufs");
		rte_pktmbuf_free_bulk(hoard, n);
		got = pmd_drain(PORT_A, NB_DESC, 1000, NULL);
		got += pmd_drain(PORT_A, RTE_DIM(m), 50, NULL);
		pmd_counts_settle(PORT_A);
		missed = pmd_xstat(PORT_A, "rx_missed_errors") - before;
		CHECK(got >= NB_DESC - 8 && got + missed == RTE_DIM(m), "%u received, %" PRIu64 " missed", got, missed);
		kept_free();
		CHECK(receive_kept(100) > 80, "copied, round %u", round);
		kept_free();
	}
	pmd_ports_down();
}

/* All bytes around the data may be written to: the headroom, and what is behind the packet. */
static void
around_write(struct rte_mbuf *m)
{
	memset(m->buf_addr, 0xee, m->data_off);
	memset(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len), 0xdd, rte_pktmbuf_tailroom(m));
}

/* Kept packets go to the other port and back; its send queue has some when the first queue gets other buffers. */
static void
sent_on(void)
{
	struct pmd_conf wide = basic;
	unsigned int i, round;
	struct rte_mbuf *m;

	pmd_ports_up(&basic);
	for (round = 0; round < 8; round++) {
		CHECK(receive_kept(32) == 32, "not all are attached");
		for (i = 0; i < nb_held; i++)
			around_write(held[i]);
		kept_check("written around");
		for (i = 0; i < nb_held; i++) {
			struct rte_ether_hdr *eth = rte_pktmbuf_mtod(held[i], struct rte_ether_hdr *);

			CHECK_OK(rte_eth_macaddr_get(round & 1 ? PORT_A : PORT_B, &eth->dst_addr));
			/* Odd rounds: out of the other port, whose device has not seen this memory. */
			send_all(round & 1, &held[i], 1);
			if (pmd_recv(!(round & 1), 0, &m, 1, 5000) == 1) {
				CHECK(is_attached(m) && bytes_wrong(m, BYTES) == 0, "round %u", round);
				rte_pktmbuf_free(m);
			} else {
				CHECK(false, "round %u: packet %u did not arrive", round, i);
			}
		}
		nb_held = 0;
	}
	CHECK(receive_kept(40) == 40, "not all are attached");
	CHECK_OK(emu_fault("on doorbell match port=1 do drop"));
	for (i = 0; i < nb_held; i++)
		CHECK_OK(rte_eth_macaddr_get(PORT_A, rte_pktmbuf_mtod(held[i], struct rte_ether_addr *)));
	send_all(PORT_B, held, 40);
	nb_held = 0;
	pmd_port_down(PORT_A);
	wide.mtu = 4000;
	wide.rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	CHECK_OK(pmd_port_up(PORT_A, &wide));
	CHECK(pmd_striding().pools == 3, "%u pools of two queues and of packets to be sent", pmd_striding().pools);
	emu_fault_clear();
	CHECK(receive_kept(1) == 1, "the packets of the lost doorbells did not arrive");
	(void)pmd_drain(PORT_A, 40, 2000, NULL);
	kept_free();
	pmd_ports_down();
	CHECK(pmd_striding().pools == 2, "%u pools of two queues", pmd_striding().pools);
}

static uint32_t
fcs_of(const uint8_t *d, uint32_t len)
{
	uint32_t crc = UINT32_MAX, i, k;

	for (i = 0; i < len; i++)
		for (crc ^= d[i], k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return ~crc;
}

/*
 * Frames of all lengths around multiples of the strides, with scatter and jumbo frames. With KEEP_CRC the FCS of a
 * packet of one segment is behind the data.
 */
static void
lengths(void)
{
	struct pmd_conf conf = basic;
	unsigned int crc, len, n, attached, chained;
	struct rte_mbuf *m;

	conf.mtu = JUMBO_MTU;
	conf.nb_desc = 2048;
	for (crc = 0; crc <= 1; crc++) {
		conf.rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER | (crc ? RTE_ETH_RX_OFFLOAD_KEEP_CRC : 0);
		conf.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
		pmd_ports_up(&conf);
		attached = chained = n = 0;
		for (len = 60; len <= JUMBO_MTU + 14; len += n % 3 == 0 ? 63 : 1, n++) {
			m = frame_make(PORT_B, len, len);
			send_all(PORT_B, &m, 1);
			if (pmd_recv(PORT_A, 0, &m, 1, 5000) != 1) {
				CHECK(false, "%u bytes did not arrive", len);
				continue;
			}
			attached += is_attached(m);
			chained += m->nb_segs > 1;
			CHECK(m->pkt_len == len && bytes_wrong(m, len) == 0, "%u bytes: %u came", len, m->pkt_len);
			if (crc && m->nb_segs == 1 && m->pkt_len == len) {
				const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
				const uint32_t fcs = rte_cpu_to_le_32(fcs_of(data, len));

				CHECK(memcmp(data + len, &fcs, sizeof(fcs)) == 0, "%u bytes: FCS", len);
			}
			rte_pktmbuf_free(m);
		}
		printf("lengths: KEEP_CRC %u, %u frames, %u attached, %u chains\n", crc, n, attached, chained);
		CHECK(n > 400 && (attached > 0 || chained > 0), "%u attached, %u chains", attached, chained);
		pmd_ports_down();
	}
}

static void
closed(void)
{
	pmd_ports_up(&basic);
	CHECK(receive_kept(100) == 100, "not all are attached");
	pmd_ports_down();
	CHECK_OK(rte_eth_dev_close(PORT_A));
	kept_check("closed");
	CHECK(pmd_striding().pools == 2, "%u pools of a queue and of kept packets", pmd_striding().pools);
	kept_free();
	CHECK(pmd_striding().pools == 1, "%u pools of a queue", pmd_striding().pools);
}

static void
lost(const char *request)
{
	struct rte_mbuf *m = NULL;

	pmd_ports_up(&basic);
	CHECK(receive_kept(100) == 100, "not all are attached");
	m = frame_make(PORT_B, 0, BYTES); /* To be received never, or late. */
	send_all(PORT_B, &m, 1);
	CHECK_OK(emu_ctl("%s", request));
	kept_check("lost");
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	kept_check("lost and closed");
	CHECK(pmd_striding().pools == 2, "%u pools of a queue and of kept packets", pmd_striding().pools);
	kept_free();
	CHECK(pmd_striding().pools == 1, "%u pools of a queue", pmd_striding().pools);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

static void
removed(void)
{
	lost("{\"cmd\":\"remove\",\"port\":0,\"ms\":300}");
}

static void
failed(void)
{
	lost("{\"cmd\":\"health\",\"port\":0,\"syndrome\":8,\"ms\":300}");
}

static const struct {
	const char *name;
	void (*run)(void);
	bool named; /* Runs only if it is named. */
} cases[] = {
	{ "stopped", stopped, false },
	{ "buffers kept", buffers_kept, false },
	{ "mbufs kept", mbufs_kept, false },
	{ "sent on", sent_on, false },
	{ "closed", closed, false }, /* Closes port A. */
	{ "lengths", lengths, true },
	{ "removed", removed, true },
	{ "failed", failed, true },
};

int
main(int argc, char **argv)
{
	const char *want = argv[argc - 1];
	bool named = false;
	unsigned int i;

	alarm(280); /* Ends the program after a deadlock. */
	pmd_init(argc, argv);
	send_pool = rte_pktmbuf_pool_create("send", 4095, 0, 0, JUMBO_MTU + 500, SOCKET_ID_ANY);
	CHECK(send_pool != NULL, "no mempool");
	for (i = 0; i < RTE_DIM(cases); i++)
		named |= strcmp(want, cases[i].name) == 0;
	for (i = 0; i < RTE_DIM(cases); i++) {
		if (named ? strcmp(want, cases[i].name) != 0 : cases[i].named)
			continue;
		cases[i].run();
		CHECK(rte_mempool_in_use_count(send_pool) == 0, "%s: %u mbufs of senders in use", cases[i].name,
		      rte_mempool_in_use_count(send_pool));
		printf("%s: %u checks so far, %u failed\n", cases[i].name, check_count, check_failures);
	}
	return pmd_fini();
}
