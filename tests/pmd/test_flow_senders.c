/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: flows of sent packets by their send queue or their metadata. */

#include "emu_ctl.h"
#include "test_flow.h"

#define PORT 4000

static struct rte_flow_error error;
static const struct rte_flow_attr group0 = { .egress = 1 }, group5 = { .egress = 1, .group = 5 };
#define UDP_ITEMS ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT))

static struct pmd_frame
udp_to(uint16_t port)
{
	struct pmd_frame f = pmd_frame_udp(PORT_A, PORT_B, 1);

	f.dst_port = port;
	f.bytes = 80;
	return f;
}

/* Does the packet of a queue to a port not arrive? */
static bool
dropped_to(uint16_t tx_queue, uint16_t port)
{
	const struct pmd_frame frame = udp_to(port);
	struct rte_mbuf *m = flow_sent(tx_queue, &frame);

	rte_pktmbuf_free(m);
	return m == NULL;
}

static bool
dropped(uint16_t tx_queue)
{
	return dropped_to(tx_queue, PORT);
}

/* A queue that is started again has another SQ. */
static void
tx_queue_restart(struct rte_flow *flow)
{
	char *text[2] = { NULL };
	size_t bytes;

	for (unsigned int i = 0; i < 2; i++) {
		FILE *file = open_memstream(&text[i], &bytes);

		CHECK_OK(rte_flow_dev_dump(PORT_A, flow, file, &error));
		fclose(file);
		CHECK(strstr(text[i], " tx_queue 1 action drop") != NULL, "%s", text[i]);
		if (i == 0) {
			CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_A, 1));
			CHECK_OK(rte_eth_dev_tx_queue_start(PORT_A, 1));
		}
	}
	CHECK(strcmp(text[0], text[1]) != 0, "no other SQ: %s", text[1]);
	free(text[0]);
	free(text[1]);
}

/* Packets of one queue, in group 0 and behind it, also after the queue or the port was restarted. */
static void
tx_queues(void)
{
	struct rte_flow *lead, *flow;

	for (unsigned int group = 0; group <= 5; group += 5) {
		lead = group != 0 ? flow_create(&group0, UDP_ITEMS, ACTIONS(JUMP(group))) : NULL;
		flow = flow_create(group != 0 ? &group5 : &group0,
				   ITEMS(TX_QUEUE(1), ITEM(ETH), ITEM(IPV4), UDP_TO(PORT)),
				   ACTIONS(ACTION(COUNT), ACTION(DROP)));
		CHECK(!dropped(0));
		CHECK(dropped(1));
		tx_queue_restart(flow);
		CHECK(!dropped(0));
		CHECK(dropped(1));
		CHECK_OK(rte_eth_dev_stop(PORT_A));
		CHECK_OK(rte_eth_dev_start(PORT_A));
		CHECK(!dropped(0));
		CHECK(dropped(1));
		CHECK_EQ(flow_hits(flow), 3);
		flow_destroy(flow);
		CHECK(!dropped(1));
		flow_destroy(lead);
	}
}

/*
 * The device refuses the second rule for a queue's new SQ: the queue does not start, and both flows match its old SQ.
 * They match the new one after a start that succeeds.
 */
static void
tx_queue_rule_refused(void)
{
	struct rte_flow *lead = flow_create(&group0, ITEMS(ITEM(ETH)), ACTIONS(JUMP(5)));
	struct rte_flow *flow[2];

	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		flow[i] = flow_create(&group5, ITEMS(TX_QUEUE(1), ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + i)),
				      ACTIONS(ACTION(DROP)));
	CHECK_OK(rte_eth_dev_tx_queue_stop(PORT_A, 1));
	CHECK(emu_fault("on cmd.entry match op=SET_FLOW_TABLE_ENTRY port=0 after 1 count 1 do fail status=NO_RESOURCES") ==
	      0);
	CHECK(rte_eth_dev_tx_queue_start(PORT_A, 1) < 0);
	CHECK_EQ(emu_fault_hits(), 1);
	emu_fault_clear();
	CHECK(!dropped(0));
	CHECK_OK(rte_eth_dev_tx_queue_start(PORT_A, 1));
	for (unsigned int i = 0; i < RTE_DIM(flow); i++) {
		CHECK(dropped_to(1, PORT + i));
		CHECK(!dropped_to(0, PORT + i));
		flow_destroy(flow[i]);
		CHECK(!dropped_to(1, PORT + i));
	}
	flow_destroy(lead);
}

/* By a template, in which the queue is a value of each flow. */
static void
tx_queue_template(void)
{
	static const struct rte_flow_pattern_template_attr in_items = { .egress = 1 };
	static const struct rte_flow_actions_template_attr in_actions = { .egress = 1 };
	static const struct rte_flow_template_table_attr attr = { .flow_attr = { .egress = 1 }, .nb_flows = 1 };
	static const struct rte_flow_op_attr at_once = { .postpone = 0 };
	static const struct rte_flow_item_tx_queue mask = { .tx_queue = UINT16_MAX };
	static const struct rte_flow_item_udp port_mask = { .hdr.dst_port = RTE_BE16(UINT16_MAX) };
	const struct rte_flow_action *drop = ACTIONS(ACTION(DROP));
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
	struct rte_flow_op_result res;
	struct rte_flow *flow;

	pattern = rte_flow_pattern_template_create(PORT_A, &in_items,
						   ITEMS(ITEM_SPEC(TX_QUEUE, NULL, &mask), ITEM(ETH), ITEM(IPV4),
							 ITEM_SPEC(UDP, NULL, &port_mask)), &error);
	actions = rte_flow_actions_template_create(PORT_A, &in_actions, drop, drop, &error);
	REQUIRE(pattern != NULL && actions != NULL);
	table = rte_flow_template_table_create(PORT_A, &attr, &pattern, 1, &actions, 1, &error);
	REQUIRE(table != NULL, "%s", error.message);
	for (unsigned int n = 0; n < TX_QUEUES; n++) {
		flow = rte_flow_async_create(PORT_A, 0, &at_once, table,
					     ITEMS(TX_QUEUE(n), ITEM(ETH), ITEM(IPV4), UDP_TO(PORT)), 0, drop, 0, NULL,
					     &error);
		CHECK(flow != NULL, "%s", error.message);
		CHECK_EQ(rte_flow_pull(PORT_A, 0, &res, 1, &error), 1);
		CHECK_EQ(res.status, RTE_FLOW_OP_SUCCESS);
		for (uint16_t q = 0; q < TX_QUEUES; q++)
			CHECK_EQ(dropped(q), q == n);
		CHECK_OK(rte_flow_async_destroy(PORT_A, 0, &at_once, flow, NULL, &error));
		CHECK_EQ(rte_flow_pull(PORT_A, 0, &res, 1, &error), 1);
	}
	CHECK_OK(rte_flow_template_table_destroy(PORT_A, table, &error));
	CHECK_OK(rte_flow_actions_template_destroy(PORT_A, actions, &error));
	CHECK_OK(rte_flow_pattern_template_destroy(PORT_A, pattern, &error));
}

/* A start fails if a flow matches a queue that the port has no longer. */
static void
tx_queue_released(void)
{
	struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = 1, .rss_hf = RTE_ETH_RSS_IPV6 };
	struct rte_flow *flow = flow_create(&group0, ITEMS(TX_QUEUE(1)), ACTIONS(ACTION(DROP)));

	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(pmd_port_configure(PORT_A, &conf));
	CHECK_EQ(rte_eth_dev_start(PORT_A), -EINVAL);
	flow_destroy(flow);
	conf.nb_txq = TX_QUEUES;
	CHECK_OK(pmd_port_configure(PORT_A, &conf));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK(!dropped(1));
}

static void
tx_queue_refused(const struct rte_flow_attr *attr, const struct rte_flow_item *items, int err, const char *message)
{
	int rc;

	memset(&error, 0, sizeof(error));
	rc = rte_flow_validate(PORT_A, attr, items, ACTIONS(ACTION(DROP)), &error);
	CHECK(rc == -err, "%s: %d", message, rc);
	CHECK(error.message != NULL && strstr(error.message, message) != NULL, "%s: %s", message, error.message);
}

static void
tx_queue_mistakes(void)
{
	static const struct rte_flow_attr received = { .ingress = 1 };
	static const struct rte_flow_item_tx_queue one = { .tx_queue = 1 }, none = { .tx_queue = 0 };

	tx_queue_refused(&received, ITEMS(TX_QUEUE(1)), EINVAL, "it is of sent packets");
	tx_queue_refused(&group0, ITEMS(TX_QUEUE(TX_QUEUES)), EINVAL, "Tx queue 2 of 2");
	tx_queue_refused(&group0, ITEMS(TX_QUEUE(0), TX_QUEUE(1)), EINVAL, "no packet is sent by Tx queue 0 and by 1");
	tx_queue_refused(&group0, ITEMS(ITEM_SPEC(TX_QUEUE, &one, &one)), ENOTSUP, "mask 0x1");
	tx_queue_refused(&group0, ITEMS({ .type = RTE_FLOW_ITEM_TYPE_TX_QUEUE, .spec = &none, .last = &one }),
			 ENOTSUP, "ranges");
	CHECK_OK(rte_flow_validate(PORT_A, &group0,
				   ITEMS(TX_QUEUE(1), ITEM_SPEC(TX_QUEUE, &none, &none), ITEM(TX_QUEUE)),
				   ACTIONS(ACTION(DROP)), &error));
}

/* A packet with metadata, or without: UINT32_MAX. */
static struct rte_mbuf *
meta_packet(uint32_t meta)
{
	struct pmd_frame frame = udp_to(PORT);
	struct rte_mbuf *m = pmd_frame_make(&frame, 0);

	CHECK(m != NULL);
	if (m != NULL && meta != UINT32_MAX) {
		rte_flow_dynf_metadata_set(m, meta);
		m->ol_flags |= RTE_MBUF_DYNFLAG_TX_METADATA;
	}
	return m;
}

/* Flows match what packets of one burst have each. test_flow_modify.c has registered the field before a start. */
static void
metadata(void)
{
	static const uint32_t metas[] = { UINT32_MAX, 7, 8, 7, 7, UINT32_MAX, 0, 0x10007 };
	static const struct rte_flow_item_meta is_7 = { .data = 7 }, low = { .data = UINT16_MAX }, zero = { .data = 0 };
	struct rte_flow *flow[] = {
		flow_create(&group0, ITEMS(ITEM_SPEC(META, &is_7, NULL), ITEM(ETH), ITEM(IPV4), UDP_TO(PORT)),
			    ACTIONS(ACTION(COUNT), ACTION(DROP))),
		flow_create(&(struct rte_flow_attr){ .egress = 1, .priority = 1 },
			    ITEMS(ITEM_SPEC(META, &is_7, &low), ITEM(ETH), ITEM(IPV4), UDP_TO(PORT)),
			    ACTIONS(ACTION(COUNT), ACTION(DROP))),
		flow_create(&group0, ITEMS(ITEM_SPEC(META, &zero, NULL), ITEM(ETH), ITEM(IPV4), UDP_TO(PORT)),
			    ACTIONS(ACTION(COUNT), ACTION(DROP))),
		flow_create(&(struct rte_flow_attr){ .egress = 1, .priority = 2 }, UDP_ITEMS,
			    ACTIONS(ACTION(COUNT), ACTION(DROP))),
	};
	struct rte_mbuf *pkts[RTE_DIM(metas)];
	uint16_t done = 0;

	for (unsigned int i = 0; i < RTE_DIM(metas); i++)
		pkts[i] = meta_packet(metas[i]);
	CHECK(AWAIT((done += rte_eth_tx_burst(PORT_A, 0, pkts + done, RTE_DIM(metas) - done)) == RTE_DIM(metas),
		    1000));
	CHECK(dropped(0)); /* Behind these packets: they have been sent. */
	CHECK_EQ(flow_hits(flow[0]), 3);
	CHECK_EQ(flow_hits(flow[1]), 1);
	CHECK_EQ(flow_hits(flow[2]), 4); /* With the last one. */
	CHECK_EQ(flow_hits(flow[3]), 1);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		flow_destroy(flow[i]);
}

void
flow_senders(void)
{
	tx_queues();
	tx_queue_rule_refused();
	tx_queue_template();
	tx_queue_released();
	tx_queue_mistakes();
	/* Not on a card that changes no fields: test_flow_modify.c has not registered the field there. */
	if (rte_flow_dynf_metadata_avail())
		metadata();
}
