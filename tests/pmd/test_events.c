/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Events of link changes and of a removal: at most one for each link change, and the last reported state is the
 * present one; after a removal bursts return 0, stop and close work, and every mbuf is freed.
 *
 * Usage: test_pmd_events EAL-ARGUMENTS [-- links]; links: without the removal.
 */

#include <pthread.h>
#include <stdio.h>

#include <rte_bus_pci.h>
#include <rte_cycles.h>

#include "emu_ctl.h"
#include "pmd_test.h"

/* Fewer than the 256 entries of the event queue behind VFIO: the interrupt thread may not run in the meantime. */
#define FLAPS 200
/* Limit of the removal event when the kernel driver reports the removal, and when the driver polls for it (VFIO). */
#define REPORTED_US 100000
#define POLLED_US 20000000
#define LATE_US 1500000
/* Less than the period of the interface check: a link change seen within this time was reported by an event. */
#define BY_EVENT_US 700000

static _Atomic unsigned int lsc_events, rmv_events;
static _Atomic uint64_t rmv_us;

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
	static const struct pmd_conf conf = { .nb_rxq = 2, .nb_txq = 2, .port_intr = true };

	CHECK_OK(pmd_port_up(port, &conf));
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

/* Each change is reported by one event, and rte_eth_link_get_nowait() returns the new state. */
static void
link_changes(void)
{
	unsigned int i;

	lsc_events = 0;
	CHECK(is_up(PORT_A), "down after start");
	for (i = 1; i <= 20; i++) {
		link_set(i % 2 == 0);
		CHECK(wait_link(PORT_A, i % 2 == 0), "change %u was not seen", i);
		/* The state changes before the event is delivered. */
		(void)AWAIT(lsc_events >= i, LATE_US / 1000);
		CHECK(lsc_events == i, "%u events of %u changes", lsc_events, i);
	}
	CHECK(is_up(PORT_A), "down in the end");
}

/*
 * Changes as fast as the emulator takes them: at most one event for each, and the last state is right. A thread that
 * gets no processor meanwhile sees no change at all, so this is repeated until there is an event.
 */
static void
link_flaps(void)
{
	unsigned int i, changes = 0;

	lsc_events = 0;
	while (lsc_events == 0 && changes < 20 * FLAPS) {
		for (i = 0; i < FLAPS; i++)
			link_set(i % 2 != 0);
		changes += FLAPS;
		CHECK(wait_link(PORT_A, true), "down after the last flap");
		(void)AWAIT(lsc_events > 0 && lsc_events % 2 == 0, 500);
	}
	(void)AWAIT(lsc_events % 2 == 0, 5000);
	pass_us(20000); /* No further event may come. */
	CHECK(lsc_events > 0 && lsc_events <= changes && lsc_events % 2 == 0, "%u events of %u changes", lsc_events, changes);
	printf("flaps: %u changes, %u events\n", changes, lsc_events);
	link_set(false);
	CHECK(wait_link(PORT_A, false), "up in the end");
	link_set(true);
	CHECK(wait_link(PORT_A, true), "down in the end");
}

/* A thread that changes the link once per millisecond. */
struct flapper {
	unsigned int changes;
	_Atomic bool done;
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

/* The last change comes at any moment of a start or stop: its event is not lost, so no interface check is needed. */
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
		CHECK(wait_link(PORT_A, false) && now_us() - begin < BY_EVENT_US, "down not seen after %" PRIu64 " us",
		      now_us() - begin);
		pthread_join(thread, NULL);
		begin = now_us();
		link_set(true);
		CHECK(wait_link(PORT_A, true) && now_us() - begin < BY_EVENT_US, "up not seen after %" PRIu64 " us",
		      now_us() - begin);
	}
	printf("flaps during %u starts\n", starts);
}

/* A change each millisecond: at most one event for each, and the last state is right. */
static void
flaps_at_1khz(unsigned int changes)
{
	struct flapper f = { .changes = changes };
	unsigned int before;
	pthread_t thread;
	uint64_t begin;

	/* The last event of the previous case may be delivered after the state has changed. */
	do {
		before = lsc_events;
		pass_us(100000); /* Until no event comes within this time. */
	} while (lsc_events != before);
	lsc_events = 0;
	begin = now_us();
	CHECK_OK(pthread_create(&thread, NULL, flap, &f));
	pthread_join(thread, NULL);
	printf("1 kHz: %u changes in %" PRIu64 " ms", f.changes, (now_us() - begin) / 1000);
	begin = now_us();
	CHECK(wait_link(PORT_A, true) && now_us() - begin < BY_EVENT_US, "down after the last");
	/* EAL's interrupt thread may not have delivered the last event yet. */
	pass_us(20000);
	(void)AWAIT(lsc_events % 2 == 0, 5000);
	printf(", %u events\n", lsc_events);
	CHECK(lsc_events > 0 && lsc_events <= f.changes && lsc_events % 2 == 0, "%u events", lsc_events);
}

/* A port is removed during traffic in both directions; the other port continues. */
static void
removal(void)
{
	struct pmd_frame to_a = pmd_frame_udp(PORT_B, PORT_A, 1), to_b = pmd_frame_udp(PORT_A, PORT_B, 1);
	/* Through VFIO no event reports the removal: the driver finds it by polling, which has no strict deadline. */
	const uint64_t limit = pmd_devarg(PORT_A, "open=vfio") ? POLLED_US : REPORTED_US;
	uint64_t begin, reported, took;
	unsigned int i, got = 0;
	struct rte_mbuf *m;

	for (i = 0; i < 100; i++) {
		CHECK(pmd_send(PORT_A, i % 2, &to_b) == 1 && pmd_send(PORT_B, i % 2, &to_a) == 1, "frame %u", i);
		if (i % 4 == 0)
			got += pmd_drain(PORT_B, 8, 0, NULL);
	}
	/* The port works; the loop below continues to use it during the removal. */
	got += pmd_drain(PORT_B, 100 - got, 2000, NULL);
	CHECK(got == 100, "%u of 100 frames arrived", got);
	begin = now_us();
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0}"));
	while (rmv_events == 0 && now_us() - begin < RTE_MAX(limit, (uint64_t)LATE_US)) {
		m = pmd_frame_make(&to_b, 0);
		if (rte_eth_tx_burst(PORT_A, 0, &m, 1) == 0)
			rte_pktmbuf_free(m);
		(void)pmd_drain(PORT_A, 8, 0, NULL);
	}
	CHECK(rmv_events == 1 && rte_eth_dev_is_removed(PORT_A) == 1, "%u removal events", rmv_events);
	reported = rmv_us - begin;
	CHECK(reported < limit, "reported after %" PRIu64 " us", reported);
	for (i = 0; i < 1000; i++) {
		m = pmd_frame_make(&to_b, 0);
		CHECK(rte_eth_tx_burst(PORT_A, i % 2, &m, 1) == 0, "a removed port sends");
		rte_pktmbuf_free(m);
		CHECK(rte_eth_rx_burst(PORT_A, i % 2, &m, 1) == 0, "a removed port receives");
	}
	pass_us(1100000); /* No second event may come. */
	CHECK(rmv_events == 1, "%u removal events", rmv_events);
	begin = now_us();
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK(rte_eth_dev_start(PORT_A) < 0, "a removed port starts");
	CHECK_OK(rte_eth_dev_close(PORT_A));
	took = now_us() - begin;
	CHECK(took < (pmd_devarg(PORT_B, "open=vfio") ? 5000000 : 1000000), "stop and close took %" PRIu64 " us", took);
	printf("removal: reported after %" PRIu64 " us, stop and close took %" PRIu64 " us\n", reported, took);
}

/* After the link changes the port still receives and stops. */
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
	flaps_at_1khz(getenv("PMD_TEST_LONG") != NULL ? 10000 : 200);
	if (strcmp(argv[argc - 1], "links") != 0)
		removal();
	else
		links_only();
	(void)pmd_drain(PORT_B, 1000, 20, NULL);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	return pmd_fini();
}
