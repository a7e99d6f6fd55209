/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Queue repair: error completions with every syndrome on send and receive queues, refused commands during the repair,
 * an empty mempool, invalid completions, lost doorbells. The queue works again, each packet arrives or is counted as
 * an error, and all mbufs are freed.
 */

#include <stdio.h>

#include <rte_cycles.h>
#include <rte_flow.h>

#include "recover.h"

#define CYCLES 100
/* The driver repairs a queue at most twice per second, and the fifth failure within ten seconds is permanent. */
#define ROUNDS_PER_START 2

static const uint8_t syndromes[] = { 0x01, 0x02, 0x04, 0x05, 0x06, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x22 };

struct times {
	unsigned int n, soon;
	uint64_t worst_us, sum_us;
};

static void
times_add(struct times *t, uint64_t us)
{
	t->n++;
	t->soon += us <= SOON_US;
	t->sum_us += us;
	t->worst_us = RTE_MAX(t->worst_us, us);
}

static void
times_check(const char *what, const struct times *t)
{
	printf("%s: %u repairs, mean %" PRIu64 " us, worst %" PRIu64 " us, %u within %u ms\n", what, t->n,
	       t->sum_us / RTE_MAX(t->n, 1u), t->worst_us, t->soon, SOON_US / 1000);
	CHECK(t->soon * 2 >= t->n, "%u of %u took longer than %u ms", t->n - t->soon, t->n, SOON_US / 1000);
	CHECK(t->worst_us < LATE_US, "%" PRIu64 " us", t->worst_us);
}

/* Packets of a WQE that fails: all four of a burst, or those from the third on where each has a WQE. */
static unsigned int
lost_min(void)
{
	struct rte_eth_burst_mode mode;

	CHECK_OK(rte_eth_tx_burst_mode_get(PORT_B, 0, &mode));
	return strstr(mode.info, "MPW") != NULL ? 4 : 2;
}

/* The third WQE of a send queue fails: each accepted packet arrives at the other port or is counted in oerrors. */
static void
tx_cycle(uint16_t queue, uint8_t syndrome, struct times *t)
{
	struct rte_eth_stats before = stats(PORT_B), after;
	unsigned int sent, got, other;
	uint64_t resets, us;
	char name[64];

	snprintf(name, sizeof(name), "tx_q%u_resets", queue);
	resets = pmd_xstat(PORT_B, name);
	CHECK_OK(emu_fault("on wqe.fetch match port=1 q=tx%u after 2 count 1 do error syndrome=0x%x vendor=0x57", queue,
			   syndrome));
	sent = send_bursts(queue, 5);
	us = wait_xstat(PORT_B, PORT_B, queue, name, resets);
	CHECK(us != UINT64_MAX, "queue %u, syndrome %#x: no reset", queue, syndrome);
	times_add(t, us);
	other = send_bursts((queue + 1) % QUEUES, 2);
	CHECK(other == 8, "the next queue accepted %u", other);
	CHECK(send_bursts(queue, 2) == 8, "queue %u does not send again", queue);
	after = stats(PORT_B);
	got = drain_a(sent + 16 - (after.oerrors - before.oerrors), 1000);
	CHECK(after.oerrors - before.oerrors >= lost_min(), "oerrors %" PRIu64, after.oerrors - before.oerrors);
	CHECK(got + (after.oerrors - before.oerrors) == sent + 16, "%u received, %" PRIu64 " lost of %u", got,
	      after.oerrors - before.oerrors, sent + 16);
	CHECK(after.opackets - before.opackets == got, "opackets %" PRIu64 ", received %u",
	      after.opackets - before.opackets, got);
	CHECK(drain_a(1, 0) == 0, "unexpected packet");
	CHECK(emu_fault_hits() == 1, "%" PRIu64 " hits", emu_fault_hits());
}

/* A receive queue fails at the first frame: that frame is lost, and those sent after the repair are received. */
static void
rx_cycle(uint16_t queue, uint8_t syndrome, struct times *t)
{
	const bool drops = syndrome == 0x01; /* Local length error, the packet is too long: dropped without a reset. */
	struct rte_eth_stats before = stats(PORT_A), after;
	uint64_t then, us;
	char name[64];

	snprintf(name, sizeof(name), drops ? "rx_q%u_completion_errors" : "rx_q%u_resets", queue);
	then = pmd_xstat(PORT_A, name);
	steer_to(queue);
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx%u count 1 do error syndrome=0x%x vendor=0x57", queue, syndrome));
	CHECK(send_bursts(0, 1) == 4, "not sent");
	us = wait_xstat(PORT_A, PORT_A, queue, name, then);
	CHECK(us != UINT64_MAX, "queue %u, syndrome %#x: no reset", queue, syndrome);
	if (!drops)
		times_add(t, us);
	(void)drain_a(4, 20);
	CHECK(send_bursts(0, 8) == 32, "not sent");
	CHECK(drain_a(32, 2000) == 32, "queue %u, syndrome %#x: frames lost after the repair", queue, syndrome);
	after = stats(PORT_A);
	CHECK(after.ierrors - before.ierrors == 1, "ierrors %" PRIu64, after.ierrors - before.ierrors);
	CHECK(emu_fault_hits() == 1, "%" PRIu64 " hits", emu_fault_hits());
}

static void
cycles(const struct pmd_conf *conf, const char *what, void (*cycle)(uint16_t, uint8_t, struct times *))
{
	struct times t = { 0 };
	unsigned int i;

	for (i = 0; i < CYCLES; i++) {
		if (i % (QUEUES * ROUNDS_PER_START) == 0) {
			if (i != 0)
				pmd_ports_down();
			pmd_ports_up(conf);
		}
		cycle(i % QUEUES, syndromes[i % RTE_DIM(syndromes)], &t);
	}
	emu_fault_clear();
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
	times_check(what, &t);
}

static void
tx_cycles(const struct pmd_conf *conf)
{
	cycles(conf, "send queues", tx_cycle);
}

static void
rx_cycles(const struct pmd_conf *conf)
{
	cycles(conf, "receive queues", rx_cycle);
}

/* A refused command makes the driver retry the repair; if it is always refused the queue is FAILED, and stop works. */
static void
steps_refused(const struct pmd_conf *conf)
{
	static const char *const ops[] = { "QUERY_RQ", "MODIFY_RQ" };
	uint64_t resets;
	unsigned int i, times;

	for (i = 0; i < RTE_DIM(ops); i++) {
		for (times = 1; times <= 3; times += 2) {
			pmd_ports_up(conf);
			steer_to(2);
			resets = pmd_xstat(PORT_A, "rx_q2_resets");
			CHECK_OK(emu_fault("on cqe.write match port=0 q=rx2 count 1 do error syndrome=0x02"));
			CHECK_OK(emu_ctl("{\"cmd\":\"fault.add\",\"rule\":\"on cmd.entry match op=%s count %u do fail status=INTERNAL_ERR\"}",
					 ops[i], times));
			CHECK(send_bursts(0, 1) == 4, "not sent");
			CHECK(wait_count(PORT_A, PORT_A, 2, "rx_q2_resets", resets + times + 1) != UINT64_MAX,
			      "%s %u times: no reset", ops[i], times);
			CHECK(pmd_xstat(PORT_A, "rx_q2_resets") == resets + times + 1, "%s %u times: %" PRIu64 " resets",
			      ops[i], times, pmd_xstat(PORT_A, "rx_q2_resets") - resets);
			CHECK(send_bursts(0, 8) == 32, "not sent");
			CHECK(drain_a(32, 1000) == 32, "%s refused %u times: queue does not receive", ops[i], times);
			pmd_ports_down();
		}
	}
	pmd_ports_up(conf);
	steer_to(2);
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx2 count 1 do error syndrome=0x02"));
	CHECK_OK(emu_ctl("{\"cmd\":\"fault.add\",\"rule\":\"on cmd.entry match op=QUERY_RQ do fail status=INTERNAL_ERR\"}"));
	CHECK(send_bursts(0, 1) == 4, "not sent");
	(void)drain_a(8, 3000);
	emu_fault_clear();
	CHECK(send_bursts(0, 1) == 4 && drain_a(4, 100) == 0, "a failed queue receives");
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

/* The state query returns "ready" and the queue fails right after it: one reset, and no second failure is counted. */
static void
failure_after_query(const struct pmd_conf *conf)
{
	pmd_ports_up(conf);
	steer_to(2);
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx2 count 1 do error syndrome=0x02"));
	fault_add("on cmd.exit match port=0 op=QUERY_RQ count 1 do set field=rq_context.state value=1");
	CHECK(send_bursts(0, 1) == 4, "not sent");
	(void)drain_a(8, 300);
	CHECK(pmd_xstat(PORT_A, "rx_q2_resets") == 1, "%" PRIu64 " resets", pmd_xstat(PORT_A, "rx_q2_resets"));
	CHECK(send_bursts(0, 8) == 32 && drain_a(32, 1000) == 32, "Rx queue 2 does not receive");
	CHECK_OK(emu_fault("on wqe.fetch match port=1 q=tx2 count 1 do error syndrome=0x04"));
	fault_add("on cmd.exit match port=1 op=QUERY_SQ count 1 do set field=sq_context.state value=1");
	CHECK(send_bursts(2, 1) == 4, "not sent");
	CHECK(wait_xstat(PORT_B, PORT_B, 2, "tx_q2_resets", 0) < LATE_US, "no reset");
	CHECK(send_bursts(2, 8) == 32 && drain_a(32, 1000) == 32, "Tx queue 2 does not send");
	CHECK(pmd_xstat(PORT_B, "tx_q2_resets") == 1, "%" PRIu64 " resets", pmd_xstat(PORT_B, "tx_q2_resets"));
	emu_fault_clear();
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

/* Queues that failed without being polled, or whose error completion was lost, can be stopped and started. */
static void
stop_failed(const struct pmd_conf *conf)
{
	pmd_ports_up(conf);
	steer_to(QUEUES - 1); /* A new RQ has a higher number, so the fault rule continues to match this queue. */
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx15 count 1 do error syndrome=0x02"));
	CHECK(send_bursts(0, 1) == 4, "not sent");
	CHECK(AWAIT(emu_fault_hits() == 1, 1000), "%" PRIu64 " hits", emu_fault_hits());
	CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, QUEUES - 1));
	CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, QUEUES - 1));
	CHECK(send_bursts(0, 8) == 32 && drain_a(32, 1000) == 32, "the Rx queue does not receive");
	/* The error completion is lost. */
	CHECK_OK(emu_fault("on wqe.fetch match port=1 q=tx15 count 1 do error syndrome=0x04"));
	fault_add("on cqe.write match port=1 q=tx15 do drop");
	CHECK(send_bursts(QUEUES - 1, 1) == 4, "not sent");
	pass_us(20000); /* The WQE fails within this time; its error is not visible. */
	CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_B, QUEUES - 1));
	emu_fault_clear();
	CHECK_OK(rte_eth_dev_tx_queue_start(PORT_B, QUEUES - 1));
	CHECK(send_bursts(QUEUES - 1, 8) == 32 && drain_a(32, 1000) == 32, "the Tx queue does not send");
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

static bool
arrives_stripped(void)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *m;
	bool stripped;

	f.vlan = 7;
	if (pmd_send(PORT_B, 0, &f) != 1 || pmd_recv(PORT_A, 0, &m, 1, 1000) != 1)
		return false;
	stripped = (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) && m->vlan_tci == 7;
	rte_pktmbuf_free(m);
	return stripped;
}

/* VLAN stripping changes while a queue waits for the next repair, or has failed unseen: the repair applies it. */
static void
strip_during_repair(const struct pmd_conf *conf)
{
	const struct pmd_conf one = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = conf->nb_desc };

	pmd_ports_up(&one);
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx0 count 1 do error syndrome=0x02"));
	/* The change to reset succeeds; the following changes to ready are refused. */
	fault_add("on cmd.entry match port=0 op=MODIFY_RQ after 1 count 1 do fail status=INTERNAL_ERR");
	fault_add("on cmd.entry match port=0 op=MODIFY_RQ after 2 count 1 do fail status=INTERNAL_ERR");
	CHECK(send_bursts(0, 1) == 4, "not sent");
	CHECK(wait_xstat(PORT_A, PORT_A, 0, "rx_q0_resets", 0) != UINT64_MAX, "no reset");
	CHECK_OK(rte_eth_dev_set_vlan_offload(PORT_A, RTE_ETH_VLAN_STRIP_OFFLOAD));
	CHECK(pmd_xstat(PORT_A, "rx_q0_resets") < 3, "the repair has ended already: the change came too late for this test");
	(void)drain_a(8, 1500);
	CHECK(arrives_stripped(), "stripping was not turned on");
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx0 count 1 do error syndrome=0x02"));
	CHECK(send_bursts(0, 1) == 4, "not sent");
	CHECK(AWAIT(emu_fault_hits() == 1, 1000), "no error");
	CHECK_OK(rte_eth_dev_set_vlan_offload(PORT_A, 0));
	(void)drain_a(8, 600);
	CHECK(!arrives_stripped(), "stripping was not turned off");
	emu_fault_clear();
	(void)drain_a(8, 10);
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

/* The mempool is empty while the queue is repaired: no mbuf is leaked, and none is freed while it is in use. */
static void
empty_mempool(const struct pmd_conf *conf)
{
	static struct rte_mbuf *hoard[20000];
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	unsigned int n = 0, i, held, round;
	struct rte_mbuf *own[40];

	/* A striding queue has no mbufs of its own: without any nothing is received. */
	if (pmd_devarg(PORT_A, "mprq_en=1"))
		return;
	pmd_ports_up(conf);
	steer_to(3);
	held = rte_mempool_in_use_count(pmd_pool);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < RTE_DIM(own); i++)
			own[i] = pmd_frame_make(&f, 0);
		for (n = 0; n < RTE_DIM(hoard) && (hoard[n] = rte_pktmbuf_alloc(pmd_pool)) != NULL; n++)
			;
		CHECK_OK(emu_fault("on cqe.write match port=0 q=rx3 after 5 count 1 do error syndrome=0x04"));
		CHECK(rte_eth_tx_burst(PORT_B, 0, own, 20) == 20, "not sent");
		CHECK(drain_a(5, 1000) == 5, "before the error");
		(void)drain_a(1, 50);
		CHECK(rte_eth_tx_burst(PORT_B, 0, own + 20, 20) == 20, "not sent");
		CHECK(drain_a(20, 1000) == 20, "after the repair, round %u", round);
		rte_pktmbuf_free_bulk(hoard, n);
		emu_fault_clear();
		pass_us(600000); /* A queue is repaired at most twice a second. */
		(void)drain_a(1, 10);
	}
	CHECK(send_bursts(0, 16) == 64 && drain_a(64, 1000) == 64, "queue does not receive with a full mempool");
	CHECK(rte_mempool_in_use_count(pmd_pool) <= held + 64, "%u mbufs in use, %u before",
	      rte_mempool_in_use_count(pmd_pool), held);
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

/* Completions that are lost or invalid: the CQ is replaced, and pending packets are counted. */
static void
bad_completions(const struct pmd_conf *conf)
{
	static const char *const tx_rules[] = {
		"on cqe.write match port=1 q=tx6 count 1 do corrupt off=0x3f xor=0x01", /* Owner bit: looks not written. */
		"on cqe.write match port=1 q=tx5 count 1 do corrupt off=0x3f xor=0x50", /* Opcode. */
		"on cqe.write match port=1 q=tx4 count 1 do corrupt off=0x3c xor=0x7f", /* WQE counter. */
	};
	struct rte_eth_stats before, after;
	unsigned int i, sent, q, got;
	uint64_t resets, us;
	char name[64];

	pmd_ports_up(conf);
	for (i = 0; i < RTE_DIM(tx_rules); i++) {
		q = 6 - i; /* Descending, because a new SQ gets a higher number and rules count queues by number. */
		snprintf(name, sizeof(name), "tx_q%u_resets", q);
		before = stats(PORT_B);
		resets = pmd_xstat(PORT_B, name);
		CHECK_OK(emu_fault("%s", tx_rules[i]));
		sent = send_bursts(q, 20);
		us = wait_xstat(PORT_B, PORT_B, q, name, resets);
		CHECK(us != UINT64_MAX, "rule %u: no reset", i);
		emu_fault_clear();
		after = stats(PORT_B);
		CHECK(after.opackets + after.oerrors == before.opackets + before.oerrors + sent, "rule %u: counters", i);
		(void)drain_a(sent, 50);
		sent = send_bursts(q, 20);
		got = drain_a(80, 1000);
		CHECK(sent == 80 && got == 80, "rule %u: not repaired: %u sent, %u received", i, sent, got);
	}
	steer_to(5);
	resets = pmd_xstat(PORT_A, "rx_q5_resets");
	CHECK_OK(emu_fault("on cqe.write match port=0 q=rx5 after 3 count 1 do corrupt off=0x3f xor=0x01"));
	CHECK(send_bursts(0, 3) == 12, "not sent");
	us = wait_xstat(PORT_A, PORT_A, 5, "rx_q5_resets", resets);
	CHECK(us != UINT64_MAX && us > 50000, "a lost completion was not found: %" PRIu64 " us", us);
	emu_fault_clear();
	(void)drain_a(12, 20);
	CHECK(send_bursts(0, 10) == 40 && drain_a(40, 1000) == 40, "queue 5 does not receive");
	CHECK(pmd_xstat(PORT_A, "rx_q5_completions_refused") == 1, "refused");
	pmd_ports_down();
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

/*
 * A queue gets a new RQ, and one of the RQTs that refer to it refuses the new number: those that have it get the old
 * one again, else the new RQ could not be destroyed. The next repair succeeds, and RSS and flow reach the queue, which
 * is that of an update of the flow's action.
 */
static void
table_refused(const struct pmd_conf *conf)
{
	static const struct rte_flow_attr attr = { .ingress = 1 };
	static const struct rte_flow_item items[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH }, { .type = RTE_FLOW_ITEM_TYPE_IPV6 },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	static const struct rte_flow_indir_action_conf ingress = { .ingress = 1 };
	static const uint16_t queues[] = { 0, 1 };
	const struct rte_flow_action_rss was = { .queue_num = 1, .queue = &queues[0] };
	const struct rte_flow_action_rss is = { .queue_num = 1, .queue = &queues[1] };
	struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS };
	struct rte_flow_action indirect[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_INDIRECT }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_action_handle *handle;
	struct pmd_conf two = *conf;
	struct rte_flow_error error;
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	char rule[128];

	two.nb_rxq = 2;
	f.ether_type = RTE_ETHER_TYPE_IPV6;
	for (unsigned int nth = 0; nth < 4; nth++) {
		pmd_ports_up(&two);
		action.conf = &was;
		handle = rte_flow_action_handle_create(PORT_A, &ingress, &action, &error);
		REQUIRE(handle != NULL);
		indirect[0].conf = handle;
		CHECK(rte_flow_create(PORT_A, &attr, items, indirect, &error) != NULL);
		action.conf = &is;
		CHECK_OK(rte_flow_action_handle_update(PORT_A, handle, &action, &error));
		steer_to(1);
		snprintf(rule, sizeof(rule), "on cmd.entry match port=0 op=MODIFY_RQT after %u count 1 do fail status=INTERNAL_ERR",
			 nth);
		CHECK_OK(emu_fault("%s", rule));
		fault_add("on cqe.write match port=0 q=rx1 after 1 count 1 do corrupt off=0x3f xor=0x50");
		CHECK(send_bursts(0, 1) == 4, "not sent");
		CHECK(wait_xstat(PORT_A, PORT_A, 1, "rx_q1_resets", 0) != UINT64_MAX, "no reset");
		CHECK_EQ(emu_fault_hits(), 1);
		emu_fault_clear();
		(void)drain_a(4, 50);
		CHECK(send_bursts(0, 4) == 16 && drain_a(16, 2000) == 16, "RSS does not reach the queue, table %u", nth);
		CHECK(pmd_send(PORT_B, 0, &f) == 1 && drain_a(1, 1000) == 1, "the flow does not reach the queue, table %u", nth);
		CHECK_OK(rte_flow_flush(PORT_A, &error));
		CHECK_OK(rte_flow_action_handle_destroy(PORT_A, handle, &error));
		pmd_ports_down();
	}
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

/* Receive completions with a wrong field: each is counted, and the queue receives again. */
static void
bad_fields(const struct pmd_conf *conf)
{
	static const struct {
		const char *what;
		uint8_t off, bits;
		bool filler; /* A striding queue skips it. */
	} fields[] = {
		{ "format: a session of as many packets as the frame has bytes", 0x3f, 0x0c, false },
		{ "WQE counter, or index of the stride", 0x3d, 0x05, false },
		{ "length, or number of strides", 0x2d, 0x7f, false },
		{ "length, or filler", 0x2c, 0x80, true },
	};
	/* Rules count queues by number, and a reset may give a queue any: there is one. */
	const struct pmd_conf one = { .nb_rxq = 1, .nb_txq = conf->nb_txq, .nb_desc = conf->nb_desc };
	const bool striding = pmd_devarg(PORT_A, "mprq_en=1");
	uint64_t refused;
	unsigned int i, got;

	for (i = 0; i < RTE_DIM(fields); i++) {
		/* Of new queues the first reset is not delayed. */
		pmd_ports_up(&one);
		refused = pmd_xstat(PORT_A, "rx_q0_completions_refused");
		CHECK_OK(emu_fault("on cqe.write match port=0 q=rx0 after 3 count 1 do corrupt off=0x%x xor=0x%x",
				   fields[i].off, fields[i].bits));
		CHECK(send_bursts(0, 3) == 12, "not sent");
		got = drain_a(12, 100);
		CHECK(emu_fault_hits() == 1, "%s: no hit", fields[i].what);
		emu_fault_clear();
		CHECK(got >= 3 && got <= 11, "%s: %u of 12 received", fields[i].what, got);
		refused = pmd_xstat(PORT_A, "rx_q0_completions_refused") - refused;
		CHECK(refused == !(striding && fields[i].filler), "%s: %" PRIu64 " refused", fields[i].what, refused);
		CHECK(send_bursts(0, 10) == 40, "not sent");
		got = drain_a(40, 2000);
		CHECK(got == 40, "%s: received %u of 40, %" PRIu64 " refused", fields[i].what, got, refused);
		pmd_ports_down();
	}
	CHECK(rte_mempool_in_use_count(pmd_pool) == 0, "%u mbufs held", rte_mempool_in_use_count(pmd_pool));
}

/* The doorbell that filled the ring is lost. No further WQE fits, so the burst must write the doorbell again. */
static void
lost_doorbell(const struct pmd_conf *conf)
{
	/* The repeated doorbell sends the whole ring at once: the receive ring must be able to hold it. */
	const struct pmd_conf wide = { .nb_rxq = 1, .nb_txq = conf->nb_txq, .nb_desc = conf->nb_desc,
				       .nb_rx_desc = 4 * conf->nb_desc };
	unsigned int sent = 0, accepted = 0;
	uint64_t begin;

	pmd_ports_up(&wide);
	CHECK_OK(emu_fault("on doorbell match port=1 q=tx6 do drop"));
	while ((accepted = send_bursts(6, 1)) != 0)
		sent += accepted;
	pass_us(20000); /* The device drops the last doorbell, too. */
	emu_fault_clear();
	for (begin = now_us(); accepted == 0 && now_us() - begin < 4000000; )
		accepted = send_bursts(6, 1);
	CHECK(accepted != 0, "queue stalls after a lost doorbell");
	CHECK(drain_a(sent + accepted, 2000) == sent + accepted, "%u sent", sent + accepted);
	CHECK(pmd_xstat(PORT_B, "tx_q6_resets") == 0, "reset");
	emu_fault_clear();
	/* All doorbells of a queue that was busy are lost: the stall is counted and reported after a second. */
	CHECK(send_bursts(7, 64) == 256 && drain_a(256, 2000) == 256, "Tx queue 7 does not send");
	pass_us(20000);
	(void)rte_eth_tx_burst(PORT_B, 7, NULL, 0);
	pass_us(200000);
	CHECK_OK(emu_fault("on doorbell match port=1 q=tx7 do drop"));
	sent = queue_events;
	(void)send_bursts(7, 16);
	CHECK(wait_xstat(PORT_B, PORT_B, 7, "tx_q7_stalls", 0) != UINT64_MAX, "the stall was not counted");
	CHECK(AWAIT(queue_events > sent, 1000), "no event");
	emu_fault_clear();
	pmd_ports_down();
}

static const struct recover_case cases[] = {
	{ "failure after query", failure_after_query, true },
	{ "tx", tx_cycles },
	{ "rx", rx_cycles },
	{ "empty mempool", empty_mempool },
	{ "steps refused", steps_refused },
	{ "stop failed", stop_failed },
	{ "strip during repair", strip_during_repair },
	{ "bad completions", bad_completions },
	{ "table refused", table_refused },
	{ "bad fields", bad_fields },
	{ "lost doorbell", lost_doorbell },
};

int
main(int argc, char **argv)
{
	return recover_main(argc, argv, cases, RTE_DIM(cases));
}
