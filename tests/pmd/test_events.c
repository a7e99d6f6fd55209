/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Link changes and removal, told by events: one for each change at most, the last state right; after a removal
 * bursts return nothing, stop and close work, and every mbuf comes home. test_pmd_events links: without the removal.
 */

#include <pthread.h>
#include <stdio.h>

#include <rte_bus_pci.h>
#include <rte_cycles.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define FLAPS 300
#define SOON_US 100000
#define FOUND_US 20000000
#define LATE_US 1500000
/* Before the interface is looked at again, even on a busy machine. */
#define NO_GLANCE_US 700000

static volatile unsigned int lsc_events, rmv_events;
static volatile uint64_t rmv_us;

static int
on_lsc(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	lsc_events++;
	return 0;
}

static int
on_rmv(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	rmv_us = now_us();
	rmv_events++;
	return 0;
}

static void
port_up(uint16_t port)
{
	struct rte_eth_conf eth = { .intr_conf = { .lsc = 1, .rmv = 1 } };
	uint16_t q;

	CHECK_OK(rte_eth_dev_configure(port, 2, 2, &eth));
	for (q = 0; q < 2; q++) {
		CHECK_OK(rte_eth_rx_queue_setup(port, q, 256, SOCKET_ID_ANY, NULL, pmd_pool));
		CHECK_OK(rte_eth_tx_queue_setup(port, q, 256, SOCKET_ID_ANY, NULL));
	}
	CHECK_OK(rte_eth_dev_start(port));
}

static bool
is_up(uint16_t port)
{
	struct rte_eth_link link;

	CHECK_OK(rte_eth_link_get_nowait(port, &link));
	return link.link_status == RTE_ETH_LINK_UP;
}

static bool
wait_link(uint16_t port, bool up)
{
	uint64_t begin = now_us();

	while (is_up(port) != up)
		if (now_us() - begin > LATE_US)
			return false;
	return true;
}

static void
link_set(bool up)
{
	CHECK_OK(emu_ctl("{\"cmd\":\"link\",\"port\":0,\"state\":\"%s\"}", up ? "up" : "down"));
}

/* Each change is told once, and what rte_eth_link_get() says follows. */
static void
link_changes(void)
{
	unsigned int i;

	lsc_events = 0;
	CHECK(is_up(PORT_A), "down after start");
	for (i = 1; i <= 20; i++) {
		link_set(i % 2 == 0);
		CHECK(wait_link(PORT_A, i % 2 == 0), "change %u was not seen", i);
		/* The event comes after the state. */
		(void)AWAIT(lsc_events >= i, LATE_US / 1000);
		CHECK(lsc_events == i, "%u events of %u changes", lsc_events, i);
	}
	CHECK(is_up(PORT_A), "down in the end");
}

/* As fast as the device is told: an event at most for each, and in the end the truth. */
static void
link_flaps(void)
{
	unsigned int i;

	lsc_events = 0;
	for (i = 0; i < FLAPS; i++) {
		link_set(i % 2 != 0);
	}
	CHECK(wait_link(PORT_A, true), "down after the last flap");
	(void)AWAIT(lsc_events > 0 && lsc_events % 2 == 0, 5000);
	pass_us(20000); /* No further event. */
	CHECK(lsc_events > 0 && lsc_events <= FLAPS && lsc_events % 2 == 0, "%u events of %u changes", lsc_events, FLAPS);
	printf("flaps: %u changes, %u events\n", FLAPS, lsc_events);
	link_set(false);
	CHECK(wait_link(PORT_A, false), "up in the end");
	link_set(true);
	CHECK(wait_link(PORT_A, true), "down in the end");
}

/* A change each millisecond, whatever the port is doing. */
struct flapper {
	unsigned int changes;
	volatile bool done;
};

static void *
flap(void *arg)
{
	struct flapper *f = arg;
	uint64_t next = now_us();
	unsigned int i;

	for (i = 0; i < f->changes; i++) {
		link_set(i % 2 != 0);
		next += 1000;
		AWAIT_CERTAIN(now_us() >= next); /* 1 kHz. */
	}
	f->done = true;
	return NULL;
}

/* The last change comes anywhere in a start or stop: it is known soon, not with the next look at the interface. */
static void
flaps_and_starts(void)
{
	unsigned int round, starts = 0;
	pthread_t thread;

	for (round = 0; round < 5; round++) {
		struct flapper f = { .changes = 101 };
		uint64_t begin;

		CHECK_OK(pthread_create(&thread, NULL, flap, &f));
		while (!f.done) {
			CHECK_OK(rte_eth_dev_stop(PORT_A));
			CHECK_OK(rte_eth_dev_start(PORT_A));
			starts++;
		}
		begin = now_us();
		CHECK(wait_link(PORT_A, false) && now_us() - begin < NO_GLANCE_US, "down not seen after %" PRIu64 " us",
		      now_us() - begin);
		pthread_join(thread, NULL);
		begin = now_us();
		link_set(true);
		CHECK(wait_link(PORT_A, true) && now_us() - begin < NO_GLANCE_US, "up not seen after %" PRIu64 " us",
		      now_us() - begin);
	}
	printf("flaps during %u starts\n", starts);
}

/* 1 kHz: an event for each change at most, and in the end the truth. */
static void
flaps_by_the_clock(unsigned int changes)
{
	struct flapper f = { .changes = changes };
	unsigned int before;
	pthread_t thread;
	uint64_t begin;

	/* The last event of the case before comes a little after the link's state. */
	do {
		before = lsc_events;
		pass_us(100000); /* No event meanwhile. */
	} while (lsc_events != before);
	lsc_events = 0;
	begin = now_us();
	CHECK_OK(pthread_create(&thread, NULL, flap, &f));
	pthread_join(thread, NULL);
	printf("1 kHz: %u changes in %" PRIu64 " ms", f.changes, (now_us() - begin) / 1000);
	begin = now_us();
	CHECK(wait_link(PORT_A, true) && now_us() - begin < NO_GLANCE_US, "down after the last");
	/* The last one may still be on its way through EAL's thread. */
	pass_us(20000);
	(void)AWAIT(lsc_events % 2 == 0, 5000);
	printf(", %u events\n", lsc_events);
	CHECK(lsc_events > 0 && lsc_events <= f.changes && lsc_events % 2 == 0, "%u events", lsc_events);
}

/* With traffic under way in both directions; the other port goes on. */
static void
removal(void)
{
	struct pmd_frame to_a = pmd_frame_udp(PORT_B, PORT_A, 1), to_b = pmd_frame_udp(PORT_A, PORT_B, 1);
	/* Without the kernel's driver nobody tells of it: it is found by looking, when the machine comes to that. */
	const uint64_t soon = pmd_devarg(PORT_A, "open=vfio") ? FOUND_US : SOON_US;
	uint64_t begin, told, took;
	unsigned int i, got = 0;
	struct rte_mbuf *m;

	for (i = 0; i < 100; i++) {
		CHECK(pmd_send(PORT_A, i % 2, &to_b) == 1 && pmd_send(PORT_B, i % 2, &to_a) == 1, "frame %u", i);
		if (i % 4 == 0)
			got += pmd_drain(PORT_B, 8, 0, NULL);
	}
	/* It was at work, and is while it goes: see below. */
	got += pmd_drain(PORT_B, 100 - got, 2000, NULL);
	CHECK(got == 100, "%u of 100 frames arrived", got);
	begin = now_us();
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0}"));
	while (rmv_events == 0 && now_us() - begin < RTE_MAX(soon, (uint64_t)LATE_US)) {
		m = pmd_frame_make(&to_b, 0);
		if (rte_eth_tx_burst(PORT_A, 0, &m, 1) == 0)
			rte_pktmbuf_free(m);
		(void)pmd_drain(PORT_A, 8, 0, NULL);
	}
	CHECK(rmv_events == 1 && rte_eth_dev_is_removed(PORT_A) == 1, "%u removal events", rmv_events);
	told = rmv_us - begin;
	CHECK(told < soon, "told after %" PRIu64 " us", told);
	for (i = 0; i < 1000; i++) {
		m = pmd_frame_make(&to_b, 0);
		CHECK(rte_eth_tx_burst(PORT_A, i % 2, &m, 1) == 0, "sent by a port that is gone");
		rte_pktmbuf_free(m);
		CHECK(rte_eth_rx_burst(PORT_A, i % 2, &m, 1) == 0, "received by a port that is gone");
	}
	pass_us(1100000); /* No second event. */
	CHECK(rmv_events == 1, "%u removal events", rmv_events);
	begin = now_us();
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK(rte_eth_dev_start(PORT_A) < 0, "a port that is gone starts");
	CHECK_OK(rte_eth_dev_close(PORT_A));
	took = now_us() - begin;
	CHECK(took < (pmd_devarg(PORT_B, "open=vfio") ? 5000000 : 1000000), "stop and close took %" PRIu64 " us", took);
	printf("removal: told after %" PRIu64 " us, stop and close took %" PRIu64 " us\n", told, took);
}

/* A port whose link went up and down takes frames, and stops. */
static void
links_only(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);

	CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
	CHECK(pmd_drain(PORT_A, 1, 2000, NULL) == 1, "not received");
	CHECK_OK(rte_eth_dev_stop(PORT_A));
}

int
main(int argc, char **argv)
{
	pmd_init(argc, argv);
	CHECK_OK(rte_eth_dev_callback_register(PORT_A, RTE_ETH_EVENT_INTR_LSC, on_lsc, NULL));
	CHECK_OK(rte_eth_dev_callback_register(PORT_A, RTE_ETH_EVENT_INTR_RMV, on_rmv, NULL));
	port_up(PORT_A);
	port_up(PORT_B);
	link_changes();
	link_flaps();
	flaps_and_starts();
	flaps_by_the_clock(getenv("PMD_TEST_LONG") != NULL ? 10000 : 200);
	if (strcmp(argv[argc - 1], "links") != 0)
		removal();
	else
		links_only();
	(void)pmd_drain(PORT_B, 1000, 20, NULL);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	return pmd_fini();
}
