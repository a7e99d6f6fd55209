/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Packets with a send time or a timestamp request: WQEs, completions, mailbox, counters. */

#include "rig.h"

#define POOL 1023
#define SECOND UINT64_C(1000000000)
#define MPW_TIMED (MLXPMD_TX_F_MPW | MLXPMD_TX_F_TIMED)
static struct rte_mempool *pool;
static struct mlxpmd_clock port_clock;
static struct rte_eth_dev_data dev_data;
static struct rte_eth_dev dev = { .data = &dev_data };
static int offset;
static uint64_t flag;

/* Lines of a device at 156.25 MHz and of the TSC; both start at 1000 s. */
static struct mlxpmd_clock_snap line, host;

static void
clock_set(enum mdv_clock_kind kind, uint64_t base)
{
	const uint64_t tsc = rte_rdtsc();

	memset(&line, 0, sizeof(line));
	line.mult = (6u << 29) + (2u << 28) / 5 * 1; /* About 6.2 ns. */
	line.shift = 29;
	line.base = base;
	line.mask = RTE_BIT64(41) - 1;
	line.span = RTE_BIT64(40) - 1;
	line.start = 1000 * SECOND;
	line.frac = 12345;
	line.expires_tsc = tsc + 3600 * rte_get_tsc_hz();
	host = line;
	host.shift = 26;
	host.mult = (uint32_t)((SECOND << host.shift) / rte_get_tsc_hz());
	host.base = tsc;
	host.mask = RTE_BIT64(48) - 1;
	host.span = RTE_BIT64(47) - 1;
	host.frac = 0;
	port_clock.kind = kind;
	mlxpmd_clock_publish(&port_clock, &line, &host);
}

static uint64_t
now(void)
{
	uint64_t value = 0;

	CHECK(mlxpmd_clock_convert(&host, rte_rdtsc(), &value), "no time");
	return value;
}

static struct rig_tx *
tx_new(uint16_t nb_desc, uint8_t inline_mode)
{
	struct rig_tx *t = rig_tx_new(6, nb_desc, 6, 63, inline_mode);

	rig_mdv.caps.wait_on_time = true;
	rig_mdv.caps.device_frequency_khz = 156250;
	t->port.clock = &port_clock;
	t->port.eth_dev = &dev;
	dev_data.dev_private = &t->port;
	pthread_mutex_init(&t->port.lock, NULL);
	t->txq.q.offloads = RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	CHECK(mlxpmd_txq_times_set(&t->txq) == 0, "no field");
	offset = t->txq.time_offset;
	flag = t->txq.time_flag;
	return t;
}

static void
done(struct rig_tx *t, const char *what)
{
	unsigned int n;

	rig_tx_free(t);
	n = rte_mempool_avail_count(pool);
	CHECK(n == POOL, "%s: %u of %u mbufs came home", what, n, POOL);
}

static struct rte_mbuf *
packet(uint64_t time)
{
	struct rte_mbuf *m = rig_tx_mbuf(pool, 1, 60, 1);

	if (time != 0) {
		m->ol_flags |= flag;
		*RTE_MBUF_DYNFIELD(m, offset, uint64_t *) = time;
	}
	return m;
}

static void
ignore(void *arg __rte_unused, const struct rig_tx_packet *p __rte_unused)
{
}

/* Exact for any line: the first timestamp whose value is not before the given one. */
static void
inversion(void)
{
	struct mlxpmd_clock c = { .kind = MDV_CLOCK_LINE };
	unsigned int i, bad = 0, reached = 0;
	uint64_t value, timestamp, back, before;
	struct mlxpmd_clock_snap s = { 0 };

	for (i = 0; i < 1000000; i++) {
		s.shift = 21 + rig_random() % 12;
		s.mult = rig_random() | 1;
		s.frac = rig_random() & (RTE_BIT64(s.shift) - 1);
		s.mask = RTE_BIT64(41 + rig_random() % 8) - 1;
		s.span = i % 2 != 0 ? s.mask : s.mask / 2;
		s.base = ((uint64_t)rig_random() << 24) & s.mask;
		s.start = (uint64_t)rig_random() << (rig_random() % 31);
		value = s.start + ((((unsigned __int128)(((uint64_t)rig_random() << 16) & s.span)) * s.mult) >>
				   s.shift) + rig_random() % 3;
		if (!mlxpmd_tx_time_stamp(&c, &s, value, &timestamp))
			continue;
		reached++;
		(void)mlxpmd_clock_convert(&s, timestamp, &back);
		bad += back < value;
		if (timestamp == s.base)
			continue;
		(void)mlxpmd_clock_convert(&s, (timestamp - 1) & s.mask, &before);
		bad += before >= value;
	}
	CHECK(bad == 0 && reached > 990000, "%u of %u wrong", bad, reached);
	CHECK(!mlxpmd_tx_time_stamp(&c, &s, s.start - 1, &timestamp), "before the line");
	/* A line of one second: later times are extrapolated. */
	s = (struct mlxpmd_clock_snap) { .mult = 1u << 24, .shift = 24, .mask = RTE_BIT64(41) - 1, .span = SECOND };
	CHECK(mlxpmd_tx_time_stamp(&c, &s, 3 * SECOND, &timestamp) && timestamp == 3 * SECOND, "beyond the line's end");
	CHECK(mlxpmd_tx_time_stamp(&c, &s, RTE_BIT64(41) - 1, &timestamp) && timestamp == RTE_BIT64(41) - 1,
	      "a whole counter");
	CHECK(!mlxpmd_tx_time_stamp(&c, &s, RTE_BIT64(41), &timestamp), "once round the counter");
	c.kind = MDV_CLOCK_PACKED;
	CHECK(mlxpmd_tx_time_stamp(&c, &s, 5 * SECOND + 7, &timestamp) && timestamp == (UINT64_C(5) << 32 | 7), "packed");
	CHECK(!mlxpmd_tx_time_stamp(&c, &s, (UINT64_C(1) << 32) * SECOND, &timestamp), "beyond 32 bits of seconds");
}

/* Value of the WAIT WQE; exact with a line. */
static void
wait_bytes(enum mdv_clock_kind kind, unsigned int f)
{
	struct rig_tx *t = tx_new(64, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	uint64_t time = now() + SECOND / 2, want = 0;
	struct rte_mbuf *m[3] = { packet(0), packet(time), packet(0) };
	/* 8 s: of 156250000 ticks, and of 2^32 units each. */
	const uint64_t mask = kind == MDV_CLOCK_PACKED ? 0x7ffffffff : 0x7fffffff;

	CHECK(rig_tx_burst(t, f, m, 3) == 3, "not taken");
	CHECK(rig_tx_run(t, true, ignore, NULL) == 3, "not sent");
	CHECK(mlxpmd_tx_time_stamp(&port_clock, &line, time, &want), "no timestamp");
	CHECK(t->nb_waits == 1 && t->wait_mask == mask, "%u waits, mask %#" PRIx64, t->nb_waits, t->wait_mask);
	CHECK(t->wait_value == (want & mask), "%#" PRIx64 " not %#" PRIx64, t->wait_value, want & mask);
	CHECK(t->txq.q.stats.packets == 3 && t->txq.q.stats.doorbells == 1, "counters");
	CHECK((int64_t)(t->txq.time_until_tsc - rte_rdtsc()) > (int64_t)rte_get_tsc_hz() / 3 &&
	      (int64_t)(t->txq.time_until_tsc - rte_rdtsc()) < (int64_t)rte_get_tsc_hz() / 2, "until");
	done(t, "wait_bytes");
}

/* Past or no clock: sent at once. Too far: the longest wait. Out of order: order of posting. All are counted. */
static void
bad_times(void)
{
	struct rig_tx *t = tx_new(64, 0);
	uint64_t start = now(), limit = 0, want = 0;
	struct rte_mbuf *m[5] = { packet(start - 1), packet(start + SECOND), packet(start + SECOND / 2),
				  packet(start + 100 * SECOND), packet(1) };

	CHECK(rig_tx_burst(t, MPW_TIMED, m, 5) == 5, "not taken");
	CHECK(rig_tx_run(t, true, ignore, NULL) == 5 && t->nb_waits == 3, "%u waits", t->nb_waits);
	CHECK(t->txq.q.stats.time_past == 2 && t->txq.q.stats.time_future == 1 && t->txq.q.stats.time_order == 2,
	      "past %" PRIu64 ", future %" PRIu64 ", order %" PRIu64, t->txq.q.stats.time_past,
	      t->txq.q.stats.time_future, t->txq.q.stats.time_order);
	CHECK(mlxpmd_tx_time_stamp(&port_clock, &line, start + 2 * SECOND, &want) &&
	      mlxpmd_tx_time_stamp(&port_clock, &line, now() + 2 * SECOND, &limit), "no timestamp");
	CHECK(t->wait_value >= (want & 0x7fffffff) && t->wait_value <= (limit & 0x7fffffff), "not capped");
	/* The control thread does not refresh the clock. */
	line.expires_tsc = rte_rdtsc() - 1;
	host.expires_tsc = line.expires_tsc;
	mlxpmd_clock_publish(&port_clock, &line, &host);
	m[0] = packet(now() + SECOND);
	CHECK(rig_tx_burst(t, MPW_TIMED, m, 1) == 1, "not taken");
	CHECK(rig_tx_run(t, true, ignore, NULL) == 1 && t->nb_waits == 3, "waits for an unknown time");
	CHECK(t->txq.q.stats.time_unknown == 1, "not counted");
	clock_set(MDV_CLOCK_LINE, 0);
	done(t, "bad_times");
}

/* The end of waiting is the latest of all send times; an earlier time that is posted later is counted. */
static void
latest_wait(void)
{
	struct rig_tx *t = tx_new(64, 0);
	struct rte_mbuf *m[2] = { packet(now() + SECOND), packet(now() + SECOND / 1000) };
	int64_t left, hz = rte_get_tsc_hz();
	struct rte_mbuf *later;

	CHECK(rig_tx_burst(t, MPW_TIMED, m, 2) == 2, "not taken");
	left = t->txq.time_until_tsc - rte_rdtsc();
	CHECK(left > hz / 2 && left < hz, "waits for another %" PRId64 " of %" PRId64, left, hz);
	later = packet(now() + 2 * SECOND - SECOND / 10);
	CHECK(rig_tx_burst(t, MPW_TIMED, &later, 1) == 1, "not taken");
	left = t->txq.time_until_tsc - rte_rdtsc();
	CHECK(left > hz && left < 2 * hz, "waits for another %" PRId64 " of %" PRId64, left, hz);
	CHECK(rig_tx_run(t, true, ignore, NULL) == 3 && t->nb_waits == 3, "%u waits", t->nb_waits);
	done(t, "latest_wait");
}

/* A full ring: a packet that is not taken leaves the ring unchanged; its send time is counted once. */
static void
full_ring(void)
{
	struct rig_tx *t = tx_new(64, 0);
	unsigned int i, sent = 0, took = 0;
	uint64_t time = now();
	struct rte_mbuf *m;

	for (i = 0; i < 3000; i++) {
		m = packet(i % 5 == 4 ? 0 : time + i * 1000);
		if (i % 7 == 3)
			m->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
		while (rig_tx_burst(t, MPW_TIMED, &m, 1) == 0)
			took += rig_tx_run(t, true, ignore, NULL);
		sent++;
	}
	took += rig_tx_run(t, true, ignore, NULL);
	CHECK(took == sent, "%u of %u", took, sent);
	CHECK(t->nb_waits + t->txq.q.stats.time_past == 2400, "%u waits, %" PRIu64 " past", t->nb_waits,
	      t->txq.q.stats.time_past);
	CHECK(t->txq.q.state == MLXPMD_QS_READY && t->txq.q.stats.errors == 0 && t->txq.q.stats.dropped == 0, "counters");
	done(t, "full_ring");
}

/* A packet that cannot be sent is dropped with its WAIT. */
static void
refused(void)
{
	struct rig_tx *t = tx_new(64, 0);
	struct rte_mbuf *m[2] = { packet(now() + SECOND), packet(0) };

	m[0]->pkt_len++;
	CHECK(rig_tx_burst(t, MPW_TIMED, m, 2) == 2, "not taken");
	CHECK(rig_tx_run(t, true, ignore, NULL) == 1 && t->nb_waits == 0, "%u waits", t->nb_waits);
	CHECK(t->txq.q.stats.dropped == 1 && t->txq.time_last == 0, "counters");
	done(t, "refused");
}

/* An error completion of a packet after a WAIT: the WAIT is not counted as a packet. */
static void
error(void)
{
	struct rig_tx *t = tx_new(64, 0);
	struct rte_mbuf *m[3] = { packet(now() + SECOND), packet(now() + SECOND), packet(0) };

	CHECK(rig_tx_burst(t, MPW_TIMED, m, 3) == 3, "not taken");
	rig_tx_cqe(t, 13, 4, 3);
	CHECK(mlxpmd_tx_done_cleanup(&t->txq, 0) == 0 && t->txq.q.state == MLXPMD_QS_QUIESCED, "not quiesced");
	CHECK(mlxpmd_txq_rewind(&t->txq, false) == 2, "lost %" PRIu64, t->txq.q.stats.errors);
	CHECK(t->txq.q.stats.packets == 1 && t->txq.time_until_tsc == 0, "%" PRIu64 " sent", t->txq.q.stats.packets);
	done(t, "error");
}

/* ------------------------------------------------------------------ timestamps */

static int
timestamp_read(uint64_t *ns)
{
	struct timespec ts = { 0, 0 };
	int rc = mlxpmd_timesync_read_tx(&dev, &ts);

	*ns = ts.tv_sec * SECOND + ts.tv_nsec;
	return rc;
}

static void
timestamp_send(struct rig_tx *t, unsigned int f, bool want)
{
	struct rte_mbuf *m = packet(0);

	if (want)
		m->ol_flags |= RTE_MBUF_F_TX_IEEE1588_TMST;
	CHECK(rig_tx_burst(t, f, &m, 1) == 1, "not taken");
}

/* The timestamp can be read once, as soon as its completion is written, also if no burst processed that. */
static void
timestamps(unsigned int f, bool burst_first)
{
	struct rig_tx *t = tx_new(64, f & MLXPMD_TX_F_INLINE ? 1 : 0);
	uint64_t ns, want, i;

	CHECK(timestamp_read(&ns) == -EINVAL, "a timestamp of nothing");
	for (i = 0; i < 300; i++) {
		t->timestamp = 1000000 + i * 77;
		timestamp_send(t, f, i % 3 != 0);
		CHECK(timestamp_read(&ns) == -EINVAL, "a timestamp before its completion");
		t->any_cqe_requested = false;
		CHECK(rig_tx_run(t, true, ignore, NULL) == 1, "not sent");
		CHECK(t->any_cqe_requested || i % 3 == 0, "no completion requested");
		if (burst_first)
			(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
		if (i % 3 == 0) {
			CHECK(timestamp_read(&ns) == -EINVAL, "not requested");
			continue;
		}
		CHECK(mlxpmd_clock_convert(&line, t->timestamp, &want), "no value");
		t->port.timesync.offset_ns = i * 1000 - 5;
		want += t->port.timesync.offset_ns;
		CHECK(timestamp_read(&ns) == 0 && ns == want, "%" PRIu64 " not %" PRIu64, ns, want);
		CHECK(timestamp_read(&ns) == -EINVAL, "twice");
	}
	CHECK(t->port.timesync.tx_stamps == 200 && t->port.timesync.tx_absent == 0, "counters");
	done(t, "timestamps");
}

static void *
stamp_meanwhile(void *arg)
{
	static uint64_t ns;

	*(int *)arg = timestamp_read(&ns);
	return &ns;
}

/* While another thread holds the port's lock, a stored timestamp can be read; the CQ is not polled for a new one. */
static void
stamps_busy(void)
{
	struct rig_tx *t = tx_new(64, 0);
	pthread_t thread;
	unsigned int i;
	uint64_t ns;
	int rc;

	for (i = 0; i < 2; i++) {
		timestamp_send(t, MPW_TIMED, true);
		CHECK(rig_tx_run(t, true, ignore, NULL) == 1, "not sent");
		if (i == 1)
			(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
		pthread_mutex_lock(&t->port.lock);
		pthread_create(&thread, NULL, stamp_meanwhile, &rc);
		pthread_join(thread, NULL);
		pthread_mutex_unlock(&t->port.lock);
		CHECK(rc == (i == 0 ? -EINVAL : 0), "%u: %d", i, rc);
		CHECK(timestamp_read(&ns) == (i == 0 ? 0 : -EINVAL), "%u: not kept", i);
	}
	done(t, "stamps_busy");
}

/* Of two requests the later has the mailbox; neither a reset queue nor an expired line yields a timestamp. */
static void
stamps_lost(void)
{
	struct rig_tx *t = tx_new(64, 0);
	uint64_t ns, want;

	t->timestamp = 10;
	timestamp_send(t, MPW_TIMED, true);
	timestamp_send(t, MPW_TIMED, true);
	rig_tx_cqe(t, 0, 0, 0);
	CHECK(timestamp_read(&ns) == -EINVAL, "the first one's");
	t->timestamp = 999;
	rig_tx_cqe(t, 0, 0, 1);
	CHECK(mlxpmd_clock_convert(&line, 999, &want), "no value");
	CHECK(timestamp_read(&ns) == 0 && ns == want, "the second one's");
	(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	CHECK(timestamp_read(&ns) == -EINVAL, "again");
	/* After an error there is no timestamp. */
	timestamp_send(t, MPW_TIMED, true);
	rig_tx_cqe(t, 13, 4, 2);
	CHECK(timestamp_read(&ns) == -EINVAL, "of a packet that failed");
	(void)mlxpmd_tx_done_cleanup(&t->txq, 0);
	(void)mlxpmd_txq_rewind(&t->txq, false);
	mlxpmd_queue_ready(&t->txq.q);
	CHECK(t->port.timesync.tx.state == MLXPMD_STAMP_NONE && t->port.timesync.tx_absent == 1, "still waits");
	t->executed = 0;
	line.expires_tsc = rte_rdtsc() - 1;
	mlxpmd_clock_publish(&port_clock, &line, &host);
	timestamp_send(t, MPW_TIMED, true);
	(void)rig_tx_run(t, true, ignore, NULL);
	CHECK(timestamp_read(&ns) == -EINVAL && t->port.timesync.tx_absent == 2, "by a line that has expired");
	clock_set(MDV_CLOCK_LINE, 0);
	done(t, "stamps_lost");
}

int
main(void)
{
	static const unsigned int features[] = { MLXPMD_TX_F_TIMED, MPW_TIMED,
						 MLXPMD_TX_F_TIMED | MLXPMD_TX_F_INLINE,
						 MLXPMD_TX_F_MPW | MLXPMD_TX_F_META };
	unsigned int i;

	rig_init();
	pool = rig_pool("timed", POOL, 0, 2048 + RTE_PKTMBUF_HEADROOM);
	inversion();
	RIG_EACH {
		for (i = 0; i < RTE_DIM(features); i++) {
			clock_set(MDV_CLOCK_LINE, RTE_BIT64(41) - 1000);
			wait_bytes(MDV_CLOCK_LINE, features[i]);
			clock_set(MDV_CLOCK_PACKED, 0);
			wait_bytes(MDV_CLOCK_PACKED, features[i]);
			clock_set(MDV_CLOCK_LINE, 0);
			timestamps(features[i], false);
			timestamps(features[i], true);
		}
		bad_times();
		latest_wait();
		full_ring();
		refused();
		error();
		stamps_busy();
		stamps_lost();
	}
	return rig_end("tx_timed");
}
