/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Removal of a device: in which thread and how often RTE_ETH_EVENT_INTR_RMV is reported, and that its callback may
 * stop and close ports. A removed device does not come back, so each run has one case, named by the last argument.
 */

#include <unistd.h>

#include <rte_cycles.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define LATE_US 20000000

/* Removal events by port, and callbacks that run at present. */
static _Atomic unsigned int events[2], running;
static _Atomic bool concurrent, done;
static bool vfio; /* The ports are opened through VFIO: no kernel driver reports the removal. */
static _Atomic pid_t callback_tid;

static void
ports_up(void)
{
	static const struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .port_intr = true };
	uint16_t port;

	for (port = PORT_A; port <= PORT_B; port++)
		CHECK_OK(pmd_port_up(port, &conf));
	CHECK(pmd_drain(PORT_A, 1, 0, NULL) == 0, "a frame that was not sent");
}

static void
handlers(rte_eth_dev_cb_fn on_rmv)
{
	uint16_t port;

	for (port = PORT_A; port <= PORT_B; port++)
		CHECK_OK(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, on_rmv, NULL));
}

static bool
wait_for(_Atomic bool *what)
{
	return AWAIT(*what, LATE_US / 1000);
}

/* Sends a frame in each direction, so that the queues have been used before the removal. */
static void
traffic(void)
{
	struct pmd_frame to_a = pmd_frame_udp(PORT_B, PORT_A, 1), to_b = pmd_frame_udp(PORT_A, PORT_B, 1);

	CHECK(pmd_send(PORT_A, 0, &to_b) == 1 && pmd_send(PORT_B, 0, &to_a) == 1, "not sent");
	CHECK(pmd_drain(PORT_A, 1, 1000, NULL) == 1 && pmd_drain(PORT_B, 1, 1000, NULL) == 1, "not received");
}

static void
remove_both(void)
{
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0}"));
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":1}"));
}

static int
on_rmv_count(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (running++ != 0 || (callback_tid != 0 && callback_tid != gettid()))
		concurrent = true;
	callback_tid = gettid();
	events[port]++;
	pass_us(100000); /* A callback of the other port must not start within this time. */
	running--;
	done = events[PORT_A] != 0 && events[PORT_B] != 0;
	return 0;
}

static bool
link_is_up(uint16_t port)
{
	struct rte_eth_link link;

	CHECK_OK(rte_eth_link_get_nowait(port, &link));
	return link.link_status == RTE_ETH_LINK_UP;
}

/* Callbacks of all ports run in one thread, EAL's interrupt thread, and each port reports its removal once. */
static void
one_thread(void)
{
	handlers(on_rmv_count);
	CHECK(link_is_up(PORT_A) && link_is_up(PORT_B), "the link is down");
	remove_both();
	CHECK(wait_for(&done), "%u and %u removal events", events[PORT_A], events[PORT_B]);
	CHECK(!link_is_up(PORT_A) && !link_is_up(PORT_B), "the link of a removed device is up");
	CHECK(!concurrent, "callbacks run concurrently, or in different threads");
	CHECK(callback_tid != gettid(), "callbacks run in the main thread");
	CHECK(events[PORT_A] == 1 && events[PORT_B] == 1, "%u and %u removal events", events[PORT_A], events[PORT_B]);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	rte_errno = 0;
	CHECK(rte_eth_dev_start(PORT_A) < 0, "a removed port starts");
	CHECK_EQ(rte_errno, ENODEV);
}

static int
on_rmv_close_both(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	events[port]++;
	pass_us(100000); /* A callback of the other port must not start within this time. */
	CHECK_OK(rte_eth_dev_stop(port));
	CHECK_OK(rte_eth_dev_close(port));
	CHECK_OK(rte_eth_dev_stop(1 - port));
	CHECK_OK(rte_eth_dev_close(1 - port));
	done = true;
	return 0;
}

/* Both ports of a card are removed: the first callback stops and closes both, and no second callback follows. */
static void
close_both(void)
{
	handlers(on_rmv_close_both);
	remove_both();
	CHECK(wait_for(&done), "the callback does not return");
	pass_us(200000); /* No second callback may run. */
	CHECK(events[PORT_A] + events[PORT_B] == 1, "%u and %u removal events", events[PORT_A], events[PORT_B]);
	CHECK(rte_eth_dev_count_avail() == 0, "%u ports left", rte_eth_dev_count_avail());
}

/* The application closes the ports while the event is pending: the callback runs before the close or not at all. */
static void
close_meanwhile(void)
{
	unsigned int before;

	handlers(on_rmv_count);
	remove_both();
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	before = events[PORT_A];
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	CHECK_OK(rte_eth_dev_close(PORT_B));
	pass_us(300000); /* No callback may run after the close. */
	CHECK(events[PORT_A] == before && before <= 1, "%u removal events, %u before the close", events[PORT_A], before);
}

/*
 * System calls fail with EIO this long before the device stops its DMA. The event must not come earlier than that,
 * because its callback may free the mbufs.
 */
#define LATE_MS 400
static _Atomic uint64_t event_us;

static int
on_rmv_close(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	event_us = now_us();
	events[port]++;
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	CHECK_OK(rte_eth_dev_stop(port));
	CHECK_OK(rte_eth_dev_close(port));
	done = true;
	return 0;
}

/* Sends frames to port A until the condition holds, for at most ms: the device writes to the buffers of port A. */
static void
send_until(_Atomic bool *until, unsigned int ms)
{
	struct pmd_frame to_a = pmd_frame_udp(PORT_B, PORT_A, 1);
	uint64_t begin = now_us();
	struct rte_eth_stats stats;

	while (!*until && now_us() - begin < ms * 1000ull) {
		(void)pmd_send(PORT_B, 0, &to_a);
		/* Lets a call of the application fail with EIO. Only at first: the callback closes the port later. */
		if (now_us() - begin < 50000)
			(void)rte_eth_stats_get(PORT_A, &stats);
		pass_us(500); /* The rate of the traffic. */
	}
}

/* The event is reported when the device has stopped its DMA, not at the first EIO. */
static void
reported_late(void)
{
	uint64_t begin = now_us();

	handlers(on_rmv_close);
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":%u}", LATE_MS));
	send_until(&done, vfio ? 20000 : 3000);
	CHECK(done && events[PORT_A] == 1, "%u removal events", events[PORT_A]);
	CHECK(event_us - begin >= LATE_MS * 1000, "reported after %" PRIu64 " us, while the device still wrote",
	      event_us - begin);
	/* Through VFIO no event reports the removal: the driver finds it by polling, which has no strict deadline. */
	CHECK(vfio || event_us - begin < LATE_MS * 1000 + 2000000, "reported after %" PRIu64 " us", event_us - begin);
	printf("reported %" PRIu64 " us after the removal began\n", event_us - begin);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

/*
 * The application closes the port before the device has stopped its DMA: the close waits for that. Through VFIO the
 * driver stops the device itself, because the device executes commands until it is removed.
 */
static void
close_early(void)
{
	uint64_t begin = now_us(), took;

	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":%u}", vfio ? 20000 : LATE_MS));
	send_until(&done, 20);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	took = now_us() - begin;
	CHECK(vfio || (took >= LATE_MS * 1000 && took < LATE_MS * 1000 + 500000), "closed after %" PRIu64 " us", took);
	CHECK(took < 10000000, "closed after %" PRIu64 " us", took);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

/* VFIO: command completions are lost, so a thread waits for a command when the device is removed. */
static void
completion_lost(void)
{
	CHECK_OK(emu_fault("on eqe.write match port=0 do drop"));
	/* The driver reads the link every second, through VFIO with a command. */
	send_until(&done, 1500);
	CHECK(emu_fault_hits() > 0, "no command was pending");
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0}"));
	CHECK(wait_for(&done), "no removal event");
}

/* The fatal event of the device is lost: the driver finds the removal because the sysfs directory disappears. */
static void
event_lost(void)
{
	handlers(on_rmv_close);
	if (vfio) {
		completion_lost();
	} else {
		CHECK_OK(emu_fault("on event.fd do drop"));
		CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":%u}", LATE_MS));
		send_until(&done, 3000);
	}
	CHECK(done && events[PORT_A] == 1, "%u removal events", events[PORT_A]);
	emu_fault_clear();
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

/* The kernel driver takes a minute for the removal; the device works until then. */
static void
removal_slow(void)
{
	struct pmd_frame to_b = pmd_frame_udp(PORT_A, PORT_B, 1);

	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":60000}"));
	CHECK(pmd_send(PORT_A, 0, &to_b) == 1, "not sent");
}

/*
 * The device is never quiesced: the close returns after its time limit, and the mbufs that the device may still write
 * to are not freed. Through VFIO the cause is failed firmware on a card that is still present and whose bus mastering
 * the driver cannot turn off.
 */
static void
never_quiesced(void)
{
	uint64_t begin = now_us();
	struct rte_mbuf *m;
	unsigned int kept;

	if (vfio) {
		CHECK_OK(emu_fault("on pci.write match port=0 do drop"));
		CHECK_OK(emu_ctl("{\"cmd\":\"health\",\"port\":0,\"syndrome\":8}"));
	} else {
		removal_slow();
	}
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	CHECK(now_us() - begin < (vfio ? 8000000 : 3000000), "closed after %" PRIu64 " us", now_us() - begin);
	if (!vfio) {
		CHECK(pmd_recv(PORT_B, 0, &m, 1, 100) == 1, "the device did not send: it was quiesced");
		rte_pktmbuf_free(m);
	}
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	kept = pmd_rx_held();
	CHECK(kept >= 255 && kept <= 264, "%u mbufs are not freed", kept);
	rte_eal_cleanup();
	exit(check_exit("removal"));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "one_thread", one_thread },
	{ "close_both", close_both },
	{ "close_meanwhile", close_meanwhile },
	{ "reported_late", reported_late },
	{ "close_early", close_early },
	{ "event_lost", event_lost },
	{ "never_quiesced", never_quiesced },
};

int
main(int argc, char **argv)
{
	const char *want = argv[argc - 1];
	unsigned int i;

	alarm(100); /* Ends the program after a deadlock. */
	pmd_init(argc, argv);
	vfio = pmd_devarg(PORT_A, "open=vfio");
	for (i = 0; i < RTE_DIM(cases) && strcmp(want, cases[i].name) != 0; i++)
		;
	if (i == RTE_DIM(cases)) {
		printf("FAILED there is no case %s\n", want);
		return 2;
	}
	ports_up();
	traffic();
	cases[i].run();
	return pmd_fini();
}
