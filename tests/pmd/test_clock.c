/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Timestamps while the clock's service does well and badly, and while the clock page lies: right or absent.
 *
 * Usage: test_pmd_clock EAL-ARGUMENTS -- service|faults
 */

#include <time.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_mbuf_dyn.h>
#include <rte_service.h>
#include <rte_service_component.h>

#include "pmd_test.h"

/* A stamp lies between the sending and the reception by the host's clock, and this much beside. */
#define NEAR_NS INT64_C(100000000)
#define SERVICE_LCORE 1
/* The driver believes a line for 2 s; a machine with more to do may notice later. */
#define LEASE_MS 2000

static int ts_offset;
static uint64_t ts_flag;

static int64_t
host_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* When the last frame was about to be sent, and had been received, by the host's clock. */
static int64_t sent_ns, received_ns;

/* How far a time lies outside of these. */
static int64_t
off_ns(int64_t ns)
{
	return ns < sent_ns ? ns - sent_ns : ns > received_ns ? ns - received_ns : 0;
}

/* Sends a frame over the cable; its stamp, 0: absent. */
static int64_t
stamp_get(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *m = NULL;
	int64_t stamp = 0;

	sent_ns = host_ns();
	CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
	CHECK(pmd_recv(PORT_A, 0, &m, 1, 2000) == 1, "not received");
	received_ns = host_ns();
	if (m == NULL)
		return 0;
	if (m->ol_flags & ts_flag)
		stamp = *RTE_MBUF_DYNFIELD(m, ts_offset, rte_mbuf_timestamp_t *);
	rte_pktmbuf_free(m);
	return stamp;
}

/* Present and right, the present time too. */
static void
expect_right(const char *when)
{
	uint64_t now = 0;
	int64_t stamp = stamp_get();

	CHECK(stamp != 0, "%s: absent", when);
	CHECK(llabs(off_ns(stamp)) < NEAR_NS, "%s: off by %" PRId64 " ns", when, off_ns(stamp));
	sent_ns = host_ns();
	CHECK_OK(rte_eth_read_clock(PORT_A, &now));
	received_ns = host_ns();
	CHECK(llabs(off_ns(now)) < NEAR_NS, "%s: the time is off by %" PRId64 " ns", when, off_ns(now));
}

/* Absent, and counted as such. */
static void
expect_absent(const char *when)
{
	uint64_t absent = pmd_xstat(PORT_A, "rx_timestamps_absent"), now;

	CHECK(stamp_get() == 0, "%s: still there", when);
	CHECK(pmd_xstat(PORT_A, "rx_timestamps_absent") == absent + 1, "%s: not counted", when);
	CHECK(rte_eth_read_clock(PORT_A, &now) == -EAGAIN, "%s: the time is told", when);
}

static bool
usable(void)
{
	uint64_t now;

	return rte_eth_read_clock(PORT_A, &now) == 0;
}

/* Milliseconds until usable() is as wanted; at most max_ms. */
static unsigned int
wait_until(bool want, unsigned int max_ms)
{
	unsigned int ms;

	for (ms = 0; ms < max_ms && usable() != want; ms += 10)
		pass_us(10000);
	return ms;
}

static void
sleep_ms(unsigned int ms)
{
	pass_us(ms * 1000);
}

/* ------------------------------------------------------------------ service */

/* What keeps a thread from its work until it is let go. */
struct hold {
	bool in, go;
};

static void
hold_here(void *arg)
{
	struct hold *hold = arg;

	__atomic_store_n(&hold->in, true, __ATOMIC_RELEASE);
	AWAIT_CERTAIN(__atomic_load_n(&hold->go, __ATOMIC_ACQUIRE));
}

static void
hold_wait(const struct hold *hold)
{
	AWAIT_CERTAIN(__atomic_load_n(&hold->in, __ATOMIC_ACQUIRE));
}

static int32_t
hold_service(void *arg)
{
	if (!__atomic_load_n(&((struct hold *)arg)->go, __ATOMIC_ACQUIRE))
		hold_here(arg);
	return -EAGAIN;
}

static uint64_t
service_calls(uint32_t id)
{
	uint64_t calls = 0;

	CHECK_OK(rte_service_attr_get(id, RTE_SERVICE_ATTR_CALL_COUNT, &calls));
	return calls;
}

/* The application gives the service a core, as it may at any time. */
static uint32_t
service_start(void)
{
	uint32_t id = 0;

	CHECK_OK(rte_service_get_by_name("mlxpmd_clock", &id));
	CHECK_OK(rte_service_lcore_add(SERVICE_LCORE));
	CHECK_OK(rte_service_map_lcore_set(id, SERVICE_LCORE, 1));
	CHECK_OK(rte_service_runstate_set(id, 1));
	CHECK_OK(rte_service_set_stats_enable(id, 1));
	CHECK_OK(rte_service_lcore_start(SERVICE_LCORE));
	return id;
}

/* On the core of the clock's service another one hangs: EAL's control thread takes over. */
static void
service_core_stalled(void)
{
	struct hold hold = { false, false };
	struct rte_service_spec spec = { .name = "hold", .callback = hold_service,
					 .callback_userdata = &hold, .socket_id = SOCKET_ID_ANY };
	uint32_t id;

	CHECK_OK(rte_service_component_register(&spec, &id));
	CHECK_OK(rte_service_component_runstate_set(id, 1));
	CHECK_OK(rte_service_map_lcore_set(id, SERVICE_LCORE, 1));
	CHECK_OK(rte_service_runstate_set(id, 1));
	hold_wait(&hold);
	sleep_ms(2 * LEASE_MS);
	expect_right("service core stalled");
	__atomic_store_n(&hold.go, true, __ATOMIC_RELEASE);
	CHECK_OK(rte_service_runstate_set(id, 0));
	while (rte_service_may_be_active(id) == 1)
		sleep_ms(1);
	CHECK_OK(rte_service_map_lcore_set(id, SERVICE_LCORE, 0));
}

static void
test_service(void)
{
	struct hold hold = { false, false };
	uint64_t calls, expired;
	unsigned int ms;
	uint32_t id;

	expect_right("control thread");
	sleep_ms(2 * LEASE_MS);
	expect_right("control thread, later");
	id = service_start();
	sleep_ms(500);
	calls = service_calls(id);
	CHECK(calls != 0, "the service core does not run it");
	expect_right("service core");
	service_core_stalled();
	/* The control thread hangs in a call-back of the application: the service core does it all. */
	CHECK_OK(rte_eal_alarm_set(1, hold_here, &hold));
	hold_wait(&hold);
	sleep_ms(2 * LEASE_MS);
	expect_right("control thread stalled");
	/* And now nobody. */
	expired = pmd_xstat(PORT_A, "clock_expired");
	CHECK_OK(rte_service_runstate_set(id, 0));
	ms = wait_until(false, 4 * LEASE_MS);
	CHECK(ms <= LEASE_MS + 1000, "believed for %u ms", ms);
	expect_absent("nobody refreshes");
	CHECK(pmd_xstat(PORT_A, "clock_expired") == expired + 1, "clock_expired %" PRIu64 " after %" PRIu64,
	      pmd_xstat(PORT_A, "clock_expired"), expired);
	CHECK_OK(rte_service_runstate_set(id, 1));
	ms = wait_until(true, 2000);
	expect_right("service core again");
	/* Nobody again, and the control thread comes back. */
	CHECK_OK(rte_service_runstate_set(id, 0));
	(void)wait_until(false, 4 * LEASE_MS);
	expect_absent("nobody again");
	__atomic_store_n(&hold.go, true, __ATOMIC_RELEASE);
	ms = wait_until(true, 2000);
	expect_right("control thread again");
	CHECK(pmd_xstat(PORT_A, "clock_expired") == expired + 2, "clock_expired %" PRIu64,
	      pmd_xstat(PORT_A, "clock_expired"));
	CHECK_OK(rte_eth_xstats_reset(PORT_A));
	CHECK(pmd_xstat(PORT_A, "clock_expired") == 0, "not reset");
	CHECK_OK(rte_service_lcore_stop(SERVICE_LCORE));
}

/* ------------------------------------------------------------------ faults of the clock page */

/*
 * Six seconds of frames while the page is torn, flips, freezes or jumps (--fault): each stamp is right, or absent
 * and counted, or by a source that is known to have stepped.
 */
static void
test_faults(void)
{
	uint64_t begin = rte_rdtsc(), hz = rte_get_tsc_hz(), absent_before, frames = 0, absent = 0, moved = 0;
	bool stepped = false;
	int64_t stamp;

	absent_before = pmd_xstat(PORT_A, "rx_timestamps_absent");
	while (rte_rdtsc() - begin < 6 * hz) {
		stamp = stamp_get();
		frames++;
		absent += stamp == 0;
		if (stamp == 0 || llabs(off_ns(stamp)) < NEAR_NS)
			continue;
		moved++;
		stepped = stepped || pmd_xstat(PORT_A, "clock_steps") != 0;
		CHECK(stepped, "off by %" PRId64 " ns, and no step is reported", off_ns(stamp));
	}
	CHECK(pmd_xstat(PORT_A, "rx_timestamps_absent") == absent_before + absent, "absent ones are not counted");
	printf("%" PRIu64 " frames, %" PRIu64 " without a stamp, %" PRIu64 " after a step; clock_steps %" PRIu64
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
	if (strcmp(what, "service") == 0)
		test_service();
	else
		test_faults();
	pmd_ports_down();
	return pmd_fini();
}
