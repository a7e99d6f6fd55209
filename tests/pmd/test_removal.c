/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the application may do when it is told of a removal, and in which thread it is told; a case by argument. */

#include <unistd.h>

#include <rte_cycles.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define LATE_US 20000000

static volatile unsigned int told[2], inside;
static volatile bool concurrent, done;
static bool alone; /* Without the kernel's driver. */
static volatile pid_t teller;

static void
ports_up(void)
{
	struct rte_eth_conf eth = { .intr_conf = { .lsc = 1, .rmv = 1 } };
	uint16_t port;

	for (port = PORT_A; port <= PORT_B; port++) {
		CHECK_OK(rte_eth_dev_configure(port, 1, 1, &eth));
		CHECK_OK(rte_eth_rx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL, pmd_pool));
		CHECK_OK(rte_eth_tx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL));
		CHECK_OK(rte_eth_dev_start(port));
	}
	CHECK(pmd_drain(PORT_A, 1, 0, NULL) == 0, "a frame of nobody");
}

static void
handlers(rte_eth_dev_cb_fn on_rmv)
{
	uint16_t port;

	for (port = PORT_A; port <= PORT_B; port++)
		CHECK_OK(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, on_rmv, NULL));
}

static bool
wait_for(volatile bool *what)
{
	return AWAIT(*what, LATE_US / 1000);
}

/* Sends a frame each way: the ports were at work. */
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
on_rmv_note(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) != 0 || (teller != 0 && teller != gettid()))
		concurrent = true;
	teller = gettid();
	told[port]++;
	pass_us(100000); /* Time for a call-back of the other port, which must wait. */
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	done = told[PORT_A] != 0 && told[PORT_B] != 0;
	return 0;
}

/* DPDK promises call-backs one thread for all ports. */
static void
one_thread(void)
{
	handlers(on_rmv_note);
	remove_both();
	CHECK(wait_for(&done), "told %u, %u times", told[PORT_A], told[PORT_B]);
	CHECK(!concurrent, "call-backs run side by side, or in different threads");
	CHECK(teller != gettid(), "not in a thread of its own");
	CHECK(told[PORT_A] == 1 && told[PORT_B] == 1, "told %u, %u times", told[PORT_A], told[PORT_B]);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

static int
on_rmv_close_both(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	told[port]++;
	pass_us(100000); /* Time for a call-back of the other port, which must wait. */
	CHECK_OK(rte_eth_dev_stop(port));
	CHECK_OK(rte_eth_dev_close(port));
	CHECK_OK(rte_eth_dev_stop(1 - port));
	CHECK_OK(rte_eth_dev_close(1 - port));
	done = true;
	return 0;
}

/* A card with two ports goes: the handler of either closes both. */
static void
close_both(void)
{
	handlers(on_rmv_close_both);
	remove_both();
	CHECK(wait_for(&done), "the handler does not return");
	pass_us(200000); /* No second call-back. */
	CHECK(told[PORT_A] + told[PORT_B] == 1, "told %u, %u times", told[PORT_A], told[PORT_B]);
	CHECK(rte_eth_dev_count_avail() == 0, "%u ports left", rte_eth_dev_count_avail());
}

/* The application closes on its own account while the event is on its way: told before the close, or never. */
static void
close_meanwhile(void)
{
	unsigned int before;

	handlers(on_rmv_note);
	remove_both();
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	before = told[PORT_A];
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	CHECK_OK(rte_eth_dev_close(PORT_B));
	pass_us(300000); /* No call-back after the close. */
	CHECK(told[PORT_A] == before && before <= 1, "told %u times, %u before the close", told[PORT_A], before);
}

/* The kernel says EIO long before the device stops writing: who is told may free what it was given. */
#define LATE_MS 400
static volatile uint64_t told_us;

static int
on_rmv_close(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	told_us = now_us();
	told[port]++;
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	CHECK_OK(rte_eth_dev_stop(port));
	CHECK_OK(rte_eth_dev_close(port));
	done = true;
	return 0;
}

/* Frames to port A until the condition holds; those that it still takes in are written to its buffers. */
static void
shower(volatile bool *until, unsigned int ms)
{
	struct pmd_frame to_a = pmd_frame_udp(PORT_B, PORT_A, 1);
	uint64_t begin = now_us();
	struct rte_eth_stats stats;

	while (!*until && now_us() - begin < ms * 1000ull) {
		(void)pmd_send(PORT_B, 0, &to_a);
		/* An application that asks finds the EIO; later the port may be closed. */
		if (now_us() - begin < 50000)
			(void)rte_eth_stats_get(PORT_A, &stats);
		pass_us(500); /* The rate of the traffic. */
	}
}

static void
told_late(void)
{
	uint64_t begin = now_us();

	handlers(on_rmv_close);
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":%u}", LATE_MS));
	shower(&done, alone ? 20000 : 3000);
	CHECK(done && told[PORT_A] == 1, "told %u times", told[PORT_A]);
	CHECK(told_us - begin >= LATE_MS * 1000, "told after %" PRIu64 " us, while the device still wrote", told_us - begin);
	/* Without the kernel's driver nobody tells of it: it is found by looking, when the machine comes to that. */
	CHECK(alone || told_us - begin < LATE_MS * 1000 + 2000000, "told after %" PRIu64 " us", told_us - begin);
	printf("told %" PRIu64 " us after the kernel said so\n", told_us - begin);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

/* The application is first: its close waits. Without the kernel's driver the device serves it to the end. */
static void
close_early(void)
{
	uint64_t begin = now_us(), took;

	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":%u}", alone ? 20000 : LATE_MS));
	shower(&done, 20);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	took = now_us() - begin;
	CHECK(alone || (took >= LATE_MS * 1000 && took < LATE_MS * 1000 + 500000), "closed after %" PRIu64 " us", took);
	CHECK(took < 10000000, "closed after %" PRIu64 " us", took);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

/* Without the kernel's driver: no command ends any more, some thread is in the middle of one, and the device goes. */
static void
answer_lost(void)
{
	CHECK_OK(emu_fault("on eqe.write match port=0 do drop"));
	/* The control thread looks at the link every second. */
	shower(&done, 1500);
	CHECK(emu_fault_hits() > 0, "no command was under way");
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0}"));
	CHECK(wait_for(&done), "it is told of nothing");
}

/* The fatal event gets lost: the device's folder tells. */
static void
event_lost(void)
{
	handlers(on_rmv_close);
	if (alone) {
		answer_lost();
	} else {
		CHECK_OK(emu_fault("on event.fd do drop"));
		CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":%u}", LATE_MS));
		shower(&done, 3000);
	}
	CHECK(done && told[PORT_A] == 1, "told %u times", told[PORT_A]);
	emu_fault_clear();
	CHECK_OK(rte_eth_dev_stop(PORT_B));
}

/* The kernel's driver takes a minute, and the device works on meanwhile. */
static void
kernel_lingers(void)
{
	struct pmd_frame to_b = pmd_frame_udp(PORT_A, PORT_B, 1);

	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0,\"ms\":60000}"));
	CHECK(pmd_send(PORT_A, 0, &to_b) == 1, "not sent");
}

/*
 * What does not come to an end: the port is closed in time, and nobody gets what the device may use. Without
 * the kernel's driver that is firmware that failed, on a card that is still there.
 */
static void
never_at_rest(void)
{
	uint64_t begin = now_us();
	struct rte_mbuf *m;
	unsigned int kept;

	if (alone)
		CHECK_OK(emu_ctl("{\"cmd\":\"health\",\"port\":0,\"syndrome\":8}"));
	else
		kernel_lingers();
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	CHECK(now_us() - begin < (alone ? 8000000 : 3000000), "closed after %" PRIu64 " us", now_us() - begin);
	if (!alone) {
		CHECK(pmd_recv(PORT_B, 0, &m, 1, 100) == 1, "the device was at work no more");
		rte_pktmbuf_free(m);
	}
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	kept = rte_mempool_in_use_count(pmd_pool);
	CHECK(kept >= 255 && kept <= 260, "%u mbufs are kept", kept);
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
	{ "told_late", told_late },
	{ "close_early", close_early },
	{ "event_lost", event_lost },
	{ "never_at_rest", never_at_rest },
};

int
main(int argc, char **argv)
{
	const char *want = argv[argc - 1];
	unsigned int i;

	alarm(100); /* A dead-lock ends the program, and the test. */
	pmd_init(argc, argv);
	alone = pmd_devarg(PORT_A, "open=vfio");
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
