/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Detection of PTP packets, mailboxes of timestamps, and arithmetic of the software clock. */

#include <rte_time.h>

#include "rig.h"

#define POOL 511
static struct rte_mempool *pool;
static struct mlxpmd_clock port_clock;
static struct mlxpmd_clock_snap line;
static struct rte_eth_dev_data dev_data;
static struct rte_eth_dev dev = { .data = &dev_data };
static struct rig_rx *r;
static mlxpmd_rx_burst_t burst;

static void
lines_set(bool usable)
{
	struct mlxpmd_clock_snap host;

	/* One tick is 4 ns. */
	line = (struct mlxpmd_clock_snap) {
		.mult = 4u << 24, .shift = 24, .mask = RTE_BIT64(41) - 1, .span = RTE_BIT64(40) - 1,
		.start = UINT64_C(1700000000) * NSEC_PER_SEC,
		.expires_tsc = rte_rdtsc() + (usable ? (int64_t)rte_get_tsc_hz() * 60 : -1),
	};
	host = line;
	host.base = rte_rdtsc();
	/* A shift with which mult fits for a TSC of 16 MHz and more. */
	host.shift = 26;
	host.mult = (uint32_t)((NSEC_PER_SEC << host.shift) / rte_get_tsc_hz());
	port_clock.kind = MDV_CLOCK_LINE;
	mlxpmd_clock_publish(&port_clock, &line, &host);
}

/* The device delivers a frame. */
static void
arrive(const uint8_t *frame, uint32_t len, uint64_t timestamp)
{
	const struct rig_rx_cqe c = { .ts = timestamp };
	struct rte_mbuf *m = r->rxq.q.elts[r->wqe_count & r->rxq.q.wqe_mask];

	CHECK(rig_rx_packet(r, 0, len, &c), "no WQE");
	memcpy(rte_pktmbuf_mtod(m, void *), frame, len);
}

struct sample {
	const char *name;
	const char *hex;	/* From the EtherType on. */
	uint64_t flags;
};
#define PTP RTE_MBUF_F_RX_IEEE1588_PTP
#define TMST RTE_MBUF_F_RX_IEEE1588_TMST
static const struct sample samples[] = {
	{ "sync", "88f7" "0002002c", PTP | TMST },
	{ "sync with a transport nibble", "88f7" "1002002c", PTP | TMST },
	{ "delay request", "88f7" "0102002c", PTP | TMST },
	{ "peer delay request", "88f7" "0202002c", PTP | TMST },
	{ "peer delay response", "88f7" "0302002c", PTP | TMST },
	{ "follow-up", "88f7" "0802002c", PTP },
	{ "announce", "88f7" "0b02002c", PTP },
	{ "version 1", "88f7" "0001002c", PTP },
	{ "version 2.1", "88f7" "0012002c", PTP | TMST },
	{ "tagged sync", "81000005" "88f7" "0002002c", PTP | TMST },
	{ "tagged other", "81000005" "0806" "0002002c", 0 },
	{ "signalling type 4", "88f7" "0402002c", PTP },
	{ "version 3", "88f7" "0003002c", PTP },
	{ "shortest", "88f7" "0002", PTP | TMST },
	{ "shortest with a tag", "81000005" "88f7" "0002", PTP | TMST },
	{ "too short", "88f7" "00", PTP },
	{ "no message", "88f7" "", PTP },
	{ "no EtherType", "88", 0 },
	{ "cut off in the tag", "81000005" "88", 0 },
	{ "two tags", "81000005" "81000006" "88f7" "0002002c", 0 },
	{ "ARP", "0806" "0002002c", 0 },
	{ "IPv4 event", "0800" "450000300000000040110000" "0a0000010a000002" "1234013f001c0000" "0002", TMST },
	{ "IPv4 general", "0800" "450000300000000040110000" "0a0000010a000002" "12340140001c0000" "0802", 0 },
	{ "IPv4 to another port", "0800" "450000300000000040110000" "0a0000010a000002" "013f1234001c0000" "0002", 0 },
	{ "IPv4 TCP", "0800" "450000300000000040060000" "0a0000010a000002" "1234013f001c0000" "0002", 0 },
	{ "IPv4 options", "0800" "460000340000000040110000" "0a0000010a000002" "01010101" "1234013f001c0000" "0102",
	  TMST },
	{ "IPv4 fragment", "0800" "450000300000200040110000" "0a0000010a000002" "1234013f001c0000" "0002", 0 },
	{ "IPv4 later fragment", "0800" "450000300000000140110000" "0a0000010a000002" "1234013f001c0000" "0002", 0 },
	{ "IPv4 event, don't fragment", "0800" "450000300000400040110000" "0a0000010a000002" "1234013f001c0000" "0002",
	  TMST },
	{ "IPv4 event of one byte", "0800" "450000300000000040110000" "0a0000010a000002" "1234013f001c0000" "00", 0 },
	{ "IPv4 event without message", "0800" "450000300000000040110000" "0a0000010a000002" "1234013f001c0000", 0 },
	{ "IPv4 cut off in UDP", "0800" "450000300000000040110000" "0a0000010a000002" "1234013f001c00", 0 },
	{ "IPv4 cut off in its header", "0800" "450000300000000040110000" "0a0000010a0000", 0 },
	{ "IPv4 cut off", "0800" "450000300000000040110000" "0a0000010a000002" "1234", 0 },
	{ "IPv6 event", "86dd" "60000000001c1140" "00000000000000000000000000000001"
			"00000000000000000000000000000002" "1234013f001c0000" "0302", TMST },
	{ "IPv6 event of the last type", "86dd" "60000000001c1140" "00000000000000000000000000000001"
			"00000000000000000000000000000002" "1234013f001c0000" "0402", 0 },
	{ "IPv6 cut off in its header", "86dd" "60000000001c1140" "00000000000000000000000000000001"
			"000000000000000000000000000000", 0 },
	{ "IPv6 other", "86dd" "60000000001c3a40" "00000000000000000000000000000001"
			"00000000000000000000000000000002" "1234013f001c0000" "0302", 0 },
};

static uint32_t
unhex(uint8_t *to, const char *hex)
{
	uint32_t n;

	for (n = 0; hex[0] != '\0'; n++, hex += 2)
		(void)sscanf(hex, "%2hhx", &to[n]);
	return n;
}

static struct rte_mbuf *
one(const char *hex, uint64_t timestamp)
{
	uint8_t frame[128] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	struct rte_mbuf *m = NULL;

	arrive(frame, 12 + unhex(frame + 12, hex), timestamp);
	CHECK(rig_rx_call(r, burst, &m, 1) == 1, "nothing came");
	return m;
}

static int
timestamp_read(uint32_t flags, uint64_t *ns)
{
	struct timespec ts = { 0, 0 };
	int rc = mlxpmd_timesync_read_rx(&dev, &ts, flags);

	*ns = rte_timespec_to_ns(&ts);
	return rc;
}

static void
recognition(void)
{
	uint64_t ns, flags, others = 0;
	struct rte_mbuf *m;
	unsigned int i;

	for (i = 0; i < RTE_DIM(samples); i++) {
		m = one(samples[i].hex, 1000 + i);
		flags = m->ol_flags & (PTP | TMST);
		/* The completions are alike. */
		others = i == 0 ? m->ol_flags & ~flags : others;
		CHECK((m->ol_flags & ~flags) == others, "%s: other flags %#" PRIx64, samples[i].name, m->ol_flags);
		CHECK(flags == samples[i].flags, "%s: flags %#" PRIx64, samples[i].name, flags);
		if (flags & TMST)
			CHECK(timestamp_read(m->timesync, &ns) == 0 && ns == line.start + (1000 + i) * 4, "%s: %" PRIu64,
			      samples[i].name, ns);
		CHECK(timestamp_read(0, &ns) == -EINVAL, "%s: a timestamp is left", samples[i].name);
		rte_pktmbuf_free(m);
	}
}

static mlxpmd_rx_burst_t plain;
static uint32_t first_bytes;

/* As with buffer split: what is behind the first bytes is in another mbuf. */
static uint16_t
burst_split(void *rxq, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t got = plain(rxq, pkts, n), i;

	for (i = 0; i < got; i++) {
		struct rte_mbuf *m = pkts[i], *rest = rte_pktmbuf_alloc(pool);
		uint32_t left = m->data_len - RTE_MIN(m->data_len, first_bytes);

		if (rest == NULL || left == 0) {
			rte_pktmbuf_free(rest);
			continue;
		}
		memcpy(rte_pktmbuf_mtod(rest, void *), rte_pktmbuf_mtod_offset(m, void *, first_bytes), left);
		memset(rte_pktmbuf_mtod_offset(m, void *, first_bytes), 0, left);
		rest->data_len = left;
		m->data_len = first_bytes;
		m->next = rest;
		m->nb_segs = 2;
	}
	return got;
}

/* Each packet of a burst has its own mailbox; when there are no more, the last mailbox has the latest timestamp. */
static void
boxes(void)
{
	uint8_t frame[128] = { 0 };
	uint32_t len = 12 + unhex(frame + 12, "88f7" "0002002c");
	struct rte_mbuf *m[8];
	unsigned int i;
	uint64_t ns;

	for (i = 0; i < 6; i++)
		arrive(frame, len, 100 + i);
	CHECK(rig_rx_call(r, burst, m, 8) == 6, "not received");
	for (i = 0; i < 6; i++)
		CHECK(m[i]->timesync == RTE_MIN(i, 3u) && (m[i]->ol_flags & TMST), "mbuf %u: %u", i, m[i]->timesync);
	for (i = 0; i < 4; i++)
		CHECK(timestamp_read(i + 4 * (i % 3), &ns) == 0 && ns == line.start + (i == 3 ? 105 : 100 + i) * 4,
		      "box %u", i);
	rte_pktmbuf_free_bulk(m, 6);
	/* The latest timestamp replaces one that was not read. */
	rte_pktmbuf_free(one("88f7" "0002002c", 200));
	rte_pktmbuf_free(one("88f7" "0002002c", 300));
	CHECK(timestamp_read(0, &ns) == 0 && ns == line.start + 1200, "an old one");
}

/* Without a usable line: no timestamp and no flag, but a count; the packet is still marked as PTP. */
static void
absent(void)
{
	struct rte_mbuf *m;
	uint64_t ns;

	lines_set(false);
	m = one("88f7" "0002002c", 100);
	CHECK((m->ol_flags & (PTP | TMST)) == PTP && timestamp_read(0, &ns) == -EINVAL, "a timestamp by an expired line");
	CHECK(r->port.timesync.rx_absent == 1, "%" PRIu64, r->port.timesync.rx_absent);
	rte_pktmbuf_free(m);
	lines_set(true);
	m = one("88f7" "0002002c", 100);
	CHECK((m->ol_flags & TMST) && timestamp_read(0, &ns) == 0, "none again");
	rte_pktmbuf_free(m);
}

static uint64_t
phc(void)
{
	struct timespec ts = { 0, 0 };

	CHECK(mlxpmd_timesync_read_time(&dev, &ts) == 0, "no time");
	return rte_timespec_to_ns(&ts);
}

/* Writing and adjusting change the PHC and its timestamps, not the port's clock. */
static void
arithmetic(void)
{
	const uint64_t slack = NSEC_PER_SEC;
	struct timespec ts = { 5, 7 };
	struct rte_mbuf *m;
	uint64_t ns, before, clock_ns;

	CHECK(phc() - line.start < slack, "begins elsewhere");
	CHECK(mlxpmd_timesync_write_time(&dev, &ts) == 0 && phc() - 5 * NSEC_PER_SEC < slack, "written");
	before = phc();
	CHECK(mlxpmd_timesync_adjust(&dev, 3600 * (int64_t)NSEC_PER_SEC) == 0, "adjust");
	CHECK(phc() - before - 3600 * (uint64_t)NSEC_PER_SEC < slack, "forward");
	CHECK(mlxpmd_timesync_adjust(&dev, -3600 * (int64_t)NSEC_PER_SEC) == 0, "adjust");
	CHECK(phc() - before < slack, "backward");
	ts.tv_nsec = NSEC_PER_SEC;
	CHECK(mlxpmd_timesync_write_time(&dev, &ts) == -EINVAL, "a second of nanoseconds");
	ts.tv_nsec = -1;
	CHECK(mlxpmd_timesync_write_time(&dev, &ts) == -EINVAL, "negative");
	ts = (struct timespec){ -1, 0 };
	CHECK(mlxpmd_timesync_write_time(&dev, &ts) == -EINVAL, "before 1970");
	ts = (struct timespec){ 0, NSEC_PER_SEC - 1 };
	CHECK(mlxpmd_timesync_write_time(&dev, &ts) == 0 && phc() - (NSEC_PER_SEC - 1) < slack, "the first second");
	ts = (struct timespec){ 0, 0 };
	CHECK(mlxpmd_timesync_write_time(&dev, &ts) == 0 && phc() < slack, "1970");
	m = one("88f7" "0002002c", 100);
	CHECK(timestamp_read(0, &ns) == 0 && ns == line.start + 400 + r->port.timesync.offset_ns, "timestamp without offset");
	CHECK(*RTE_MBUF_DYNFIELD(m, r->rxq.ts_offset, uint64_t *) == line.start + 400, "the mbuf has the clock's value");
	CHECK(mlxpmd_read_clock(&dev, &clock_ns) == 0 && clock_ns - line.start < slack, "the clock moved");
	rte_pktmbuf_free(m);
	port_clock.kind = MDV_CLOCK_TICKS;
	CHECK(mlxpmd_timesync_enable(&dev) == -ENOTSUP && mlxpmd_timesync_read_time(&dev, &ts) == -ENOTSUP &&
	      mlxpmd_timesync_adjust(&dev, 1) == -ENOTSUP, "a PHC of ticks");
	port_clock.kind = MDV_CLOCK_LINE;
	r->port.clock = NULL;
	CHECK(mlxpmd_timesync_enable(&dev) == -ENOTSUP && mlxpmd_timesync_read_time(&dev, &ts) == -ENOTSUP &&
	      mlxpmd_timesync_write_time(&dev, &ts) == -ENOTSUP && mlxpmd_timesync_adjust(&dev, 1) == -ENOTSUP,
	      "a PHC without a clock");
	r->port.clock = &port_clock;
}

/* ---- the lock of offset and mailboxes ---- */

static struct mlxpmd_txq txq;

static void
call_read_time(void)
{
	(void)phc();
}

static void
call_write_time(void)
{
	struct timespec ts = { 5, 7 };

	CHECK(mlxpmd_timesync_write_time(&dev, &ts) == 0, "not written");
}

static void
call_adjust(void)
{
	CHECK(mlxpmd_timesync_adjust(&dev, 1) == 0, "not adjusted");
}

static void
call_read_rx(void)
{
	uint64_t ns;

	CHECK(timestamp_read(0, &ns) == -EINVAL, "a timestamp is left");
}

static void
call_read_tx(void)
{
	struct timespec ts;

	CHECK(mlxpmd_timesync_read_tx(&dev, &ts) == -EINVAL, "a timestamp is left");
}

static void
call_receive(void)
{
	struct rte_mbuf *m = NULL;

	CHECK(burst(&r->rxq, &m, 1) == 1 && (m->ol_flags & TMST), "not received");
	rte_pktmbuf_free(m);
}

static void
call_sent(void)
{
	mlxpmd_timesync_tx_sent(&txq);
}

static void
call_done(void)
{
	mlxpmd_timesync_tx_done(&txq, 100);
}

static void
call_forget(void)
{
	mlxpmd_timesync_tx_forget(&txq);
}

static void
call_disable(void)
{
	CHECK(mlxpmd_timesync_disable(&dev) == 0, "not disabled");
}

static void
call_enable(void)
{
	CHECK(mlxpmd_timesync_enable(&dev) == 0, "not enabled");
}

static const struct locked {
	const char *name;
	void (*call)(void);
} locked[] = {
	{ "write_time", call_write_time }, { "adjust", call_adjust }, { "read_rx", call_read_rx },
	{ "read_tx", call_read_tx }, { "receive", call_receive }, { "sent", call_sent }, { "done", call_done },
	{ "forget", call_forget }, { "disable", call_disable }, { "enable", call_enable },
};
static bool returned;

static void *
locked_main(void *arg)
{
	((const struct locked *)arg)->call();
	__atomic_store_n(&returned, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Nothing reads or changes mailboxes while another thread does: it waits. The time is read without the lock. */
static void
locking(void)
{
	uint8_t frame[64] = { 0 };
	pthread_t thread;
	unsigned int i;

	txq.q.port = &r->port;
	rte_spinlock_lock(&r->port.timesync.lock);
	call_read_time();
	rte_spinlock_unlock(&r->port.timesync.lock);
	arrive(frame, 12 + unhex(frame + 12, "88f7" "0002002c"), 100);
	for (i = 0; i < RTE_DIM(locked); i++) {
		__atomic_store_n(&returned, false, __ATOMIC_RELEASE);
		rte_spinlock_lock(&r->port.timesync.lock);
		CHECK(pthread_create(&thread, NULL, locked_main, (void *)(uintptr_t)&locked[i]) == 0, "no thread");
		pass_us(10000); /* Enough for a call that does not wait. */
		CHECK(!__atomic_load_n(&returned, __ATOMIC_ACQUIRE), "%s: not locked", locked[i].name);
		rte_spinlock_unlock(&r->port.timesync.lock);
		pthread_join(thread, NULL);
	}
}

/* Timestamps from before disable and enable are not read after it. */
static void
forgotten(void)
{
	struct rte_mbuf *m[MLXPMD_TIMESYNC_RX_BOXES];
	uint8_t frame[64] = { 0 };
	unsigned int i;
	uint64_t ns;

	for (i = 0; i < RTE_DIM(m); i++)
		arrive(frame, 12 + unhex(frame + 12, "88f7" "0002002c"), 100 + i);
	CHECK(rig_rx_call(r, burst, m, RTE_DIM(m)) == RTE_DIM(m), "not received");
	rte_pktmbuf_free_bulk(m, RTE_DIM(m));
	call_disable();
	call_enable();
	for (i = 0; i < RTE_DIM(m); i++)
		CHECK(timestamp_read(i, &ns) == -EINVAL, "box %u has a timestamp", i);
}

int
main(void)
{
	rig_init();
	pool = rig_pool("timesync", POOL, 0, 2048 + RTE_PKTMBUF_HEADROOM);
	lines_set(true);
	r = rig_rx_new(6, 0, 6, pool, 0, &port_clock);
	if (r == NULL)
		return 1;
	r->port.eth_dev = &dev;
	dev_data.dev_private = &r->port;
	pthread_mutex_init(&r->port.lock, NULL);
	TAILQ_INIT(&r->port.queues[MLXPMD_RX]);
	TAILQ_INSERT_HEAD(&r->port.queues[MLXPMD_RX], &r->rxq.q, next);
	burst = mlxpmd_rx_templates[MLXPMD_RX_F_TS].burst;
	CHECK(mlxpmd_timesync_rx_wrap(&r->port, burst) == burst, "a burst of its own while timesync is off");
	CHECK(mlxpmd_timesync_enable(&dev) == 0 && r->rxq.ts_offset > 0, "not enabled");
	plain = burst;
	burst = mlxpmd_timesync_rx_wrap(&r->port, burst);
	recognition();
	burst = mlxpmd_timesync_rx_wrap(&r->port, burst_split);
	for (first_bytes = 1; first_bytes < 80; first_bytes++)
		recognition();
	burst = mlxpmd_timesync_rx_wrap(&r->port, plain);
	boxes();
	absent();
	arithmetic();
	locking();
	forgotten();
	CHECK(mlxpmd_timesync_disable(&dev) == 0 && !r->port.timesync.on, "not disabled");
	rig_rx_free(r);
	return rig_end("timesync");
}
