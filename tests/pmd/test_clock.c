/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rx timestamps are right or absent, but never wrong: while threads of the driver and of EAL are blocked, and while the
 * clock page has faults.
 *
 * Usage: test_pmd_clock EAL-ARGUMENTS -- refresh|faults
 */

#include <time.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_mbuf_dyn.h>

#include "emu_ctl.h"
#include "pmd_test.h"

/* A right timestamp is at most this far outside the time from the sending to the reception, by the host's clock. */
#define NEAR_NS INT64_C(100000000)
/* A snapshot expires 2 s after a refresh; a busy machine may notice that later. */
#define VALID_MS 2000
#define QUERIES "on cmd.exit match op=QUERY_Q_COUNTER port=0 "

static int ts_offset;
static uint64_t ts_flag;

static int64_t
host_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* Time before the last frame was sent and after it was received, by the host's clock. */
static int64_t sent_ns, received_ns;

/* How far a time is outside of sent_ns .. received_ns; negative if before. */
static int64_t
off_ns(int64_t ns)
{
	return ns < sent_ns ? ns - sent_ns : ns > received_ns ? ns - received_ns : 0;
}

/* Sends a frame from PORT_B to PORT_A and returns its Rx timestamp; 0 if it has none. */
static int64_t
timestamp_get(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *m = NULL;
	int64_t timestamp = 0;

	sent_ns = host_ns();
	CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
	CHECK(pmd_recv(PORT_A, 0, &m, 1, 2000) == 1, "not received");
	received_ns = host_ns();
	if (m == NULL)
		return 0;
	if (m->ol_flags & ts_flag)
		timestamp = *RTE_MBUF_DYNFIELD(m, ts_offset, rte_mbuf_timestamp_t *);
	rte_pktmbuf_free(m);
	return timestamp;
}

/* The timestamp of a frame is present and right, and so is the time of rte_eth_read_clock(). */
static void
expect_right(const char *when)
{
	uint64_t now = 0;
	int64_t timestamp = timestamp_get();

	CHECK(timestamp != 0, "%s: absent", when);
	CHECK(llabs(off_ns(timestamp)) < NEAR_NS, "%s: off by %" PRId64 " ns", when, off_ns(timestamp));
	sent_ns = host_ns();
	CHECK_OK(rte_eth_read_clock(PORT_A, &now));
	received_ns = host_ns();
	CHECK(llabs(off_ns(now)) < NEAR_NS, "%s: the time is off by %" PRId64 " ns", when, off_ns(now));
}

/* The timestamp of a frame is absent and counted as absent; rte_eth_read_clock() fails. */
static void
expect_absent(const char *when)
{
	uint64_t absent = pmd_xstat(PORT_A, "rx_timestamps_absent"), now;

	CHECK(timestamp_get() == 0, "%s: timestamp present", when);
	CHECK(pmd_xstat(PORT_A, "rx_timestamps_absent") == absent + 1, "%s: not counted", when);
	CHECK(rte_eth_read_clock(PORT_A, &now) == -EAGAIN, "%s: a time is returned", when);
}

static bool
usable(void)
{
	uint64_t now;

	return rte_eth_read_clock(PORT_A, &now) == 0;
}

/* Milliseconds until usable() returns the given value; at most max_ms. */
static unsigned int
wait_until(bool value, unsigned int max_ms)
{
	unsigned int ms;

	for (ms = 0; ms < max_ms && usable() != value; ms += 10)
		pass_us(10000);
	return ms;
}

static void
sleep_ms(unsigned int ms)
{
	pass_us(ms * 1000);
}

/* ------------------------------------------------------------------ refresh */

/* Blocks a thread: `in` is set when it is blocked, `go` releases it. */
struct hold {
	_Atomic bool in, go;
};

static void
hold_here(void *arg)
{
	struct hold *hold = arg;

	hold->in = true;
	AWAIT_CERTAIN(hold->go);
}

static void
hold_wait(const struct hold *hold)
{
	AWAIT_CERTAIN(hold->in);
}

/* Timestamps stay right for twice the validity of a snapshot, and the clock does not expire. */
static void
expect_right_long(const char *when)
{
	uint64_t expired = pmd_xstat(PORT_A, "clock_expired");

	for (unsigned int i = 0; i < 8; i++) {
		sleep_ms(VALID_MS / 4);
		expect_right(when);
	}
	CHECK(pmd_xstat(PORT_A, "clock_expired") == expired, "%s: expired", when);
}

/* A callback of the application blocks EAL's interrupt thread: refreshes do not depend on that thread. */
static void
interrupt_thread_held(void)
{
	static struct hold hold;

	CHECK_OK(rte_eal_alarm_set(1, hold_here, &hold));
	hold_wait(&hold);
	expect_right_long("EAL's interrupt thread is blocked");
	hold.go = true;
}

/*
 * Every firmware command of a port takes longer than a snapshot is valid. The counter queries block the port's worker,
 * but no port's clock expires, because the control thread refreshes the clocks and issues no commands.
 */
static void
commands_held(unsigned int port)
{
	CHECK_OK(emu_fault("on cmd.entry match port=%u do delay us=%u", port, 3 * VALID_MS * 1000));
	for (unsigned int ms = 0; ms < 20000 && emu_fault_hits() == 0; ms += 10) {
		/* Makes the worker query the counters now. */
		(void)pmd_xstat(port == 0 ? PORT_A : PORT_B, "device_counters_age_us");
		sleep_ms(10);
	}
	CHECK(emu_fault_hits() > 0, "no command was delayed");
	expect_right_long(port == 0 ? "commands of the port are delayed" : "commands of the other port are delayed");
	emu_fault_clear();
}

/* Blocks the control thread: it logs a refused query, and log_line() blocks. */
static struct hold log_hold;

static ssize_t
log_line(void *cookie, const char *text, size_t bytes)
{
	RTE_SET_USED(cookie);
	fwrite(text, 1, bytes, stderr);
	if (memmem(text, bytes, "QUERY_Q_COUNTER", strlen("QUERY_Q_COUNTER")) != NULL)
		hold_here(&log_hold);
	return (ssize_t)bytes;
}

static void
control_thread_hold(void)
{
	log_hold.in = false;
	log_hold.go = false;
	CHECK_OK(emu_fault(QUERIES "do fail status=NO_RESOURCES"));
	hold_wait(&log_hold);
	emu_fault_clear();
}

/*
 * Without refreshes the snapshot expires: timestamps are absent, clock_expired is incremented once, and timestamps are
 * present again after the next refresh.
 */
static void
control_thread_held(void)
{
	uint64_t expired = pmd_xstat(PORT_A, "clock_expired");
	unsigned int ms;

	control_thread_hold();
	ms = wait_until(false, 4 * VALID_MS);
	CHECK(ms <= VALID_MS + 1000, "valid for %u ms", ms);
	expect_absent("no refresh");
	CHECK(pmd_xstat(PORT_A, "clock_expired") == expired + 1, "clock_expired %" PRIu64 " after %" PRIu64,
	      pmd_xstat(PORT_A, "clock_expired"), expired);
	log_hold.go = true;
	(void)wait_until(true, 2000);
	expect_right("refreshed again");
	CHECK(pmd_xstat(PORT_A, "clock_expired") == expired + 1, "clock_expired %" PRIu64,
	      pmd_xstat(PORT_A, "clock_expired"));
}

static void
test_refresh(void)
{
	FILE *log = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = log_line });

	CHECK(log != NULL && setvbuf(log, NULL, _IOLBF, 1024) == 0 && rte_openlog_stream(log) == 0, "no log");
	expect_right("at the start");
	expect_right_long("undisturbed");
	interrupt_thread_held();
	commands_held(0);
	commands_held(1);
	control_thread_held();
	control_thread_held();
	CHECK_OK(rte_eth_xstats_reset(PORT_A));
	CHECK(pmd_xstat(PORT_A, "clock_expired") == 0, "not reset");
	rte_openlog_stream(NULL);
}

/* ------------------------------------------------------------------ faults of the clock page */

/*
 * Frames for six seconds while the clock page is torn, flips, freezes or jumps (fault rule of the command line). Each
 * timestamp is right, or absent and counted, or it follows a step that clock_steps reports.
 */
static void
test_faults(void)
{
	uint64_t begin = rte_rdtsc(), hz = rte_get_tsc_hz(), absent_before, frames = 0, absent = 0, moved = 0;
	bool stepped = false;
	int64_t timestamp;

	absent_before = pmd_xstat(PORT_A, "rx_timestamps_absent");
	while (rte_rdtsc() - begin < 6 * hz) {
		timestamp = timestamp_get();
		frames++;
		absent += timestamp == 0;
		if (timestamp == 0 || llabs(off_ns(timestamp)) < NEAR_NS)
			continue;
		moved++;
		stepped = stepped || pmd_xstat(PORT_A, "clock_steps") != 0;
		CHECK(stepped, "off by %" PRId64 " ns, and no step is reported", off_ns(timestamp));
	}
	CHECK(pmd_xstat(PORT_A, "rx_timestamps_absent") == absent_before + absent, "absent timestamps are not counted");
	printf("%" PRIu64 " frames, %" PRIu64 " without a timestamp, %" PRIu64 " after a step; clock_steps %" PRIu64
	       ", clock_expired %" PRIu64 ", clock_busy %" PRIu64 "\n", frames, absent, moved,
	       pmd_xstat(PORT_A, "clock_steps"), pmd_xstat(PORT_A, "clock_expired"),
	       pmd_xstat(PORT_A, "clock_busy"));
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 128,
				 .rx_offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP };
	const char *what = argv[argc - 1];

	pmd_init(argc, argv);
	pmd_ports_up(&conf);
	CHECK_OK(rte_mbuf_dyn_rx_timestamp_register(&ts_offset, &ts_flag));
	if (strcmp(what, "refresh") == 0)
		test_refresh();
	else
		test_faults();
	pmd_ports_down();
	return pmd_fini();
}
