/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * rte_flow: flows that get other actions, which DPDK has had since 23.07; queries of the action rss; indirect actions
 * rss that get other queues.
 */

#include "emu_ctl.h"
#include "test_flow.h"

#define PORT 4000
/* Updates, and frames sent during each of them. */
#define UPDATES 60
#define FRAMES 4

static struct rte_flow_error error;
static const struct rte_flow_attr group0 = { .ingress = 1 }, group6 = { .ingress = 1, .group = 6 };
static const struct rte_flow_op_attr at_once = { .postpone = 0 }, later = { .postpone = 1 };

#define UDP_ITEMS ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT))

static void
refused(int rc, int expected, const char *text)
{
	CHECK(rc == expected && error.message != NULL && strstr(error.message, text) != NULL, "%d, not %d (%s): %s", rc,
	      expected, text, error.message);
}

static void
update(struct rte_flow *flow, const struct rte_flow_action *actions)
{
	CHECK_OK(rte_flow_actions_update(PORT_A, flow, actions, &error));
}

/* What a query of RSS returns is what the action was, its defaults filled in; 22.11's testpmd prints it. */
static void
rss_query(void)
{
	static const uint16_t queues[] = { 3, 1 };
	const struct rte_flow_indir_action_conf ingress = { .ingress = 1 };
	uint8_t key[40], port_key[40];
	struct rte_eth_rss_conf port = { .rss_key = port_key, .rss_key_len = sizeof(port_key) };
	struct rte_flow_action_rss rss = {
		.func = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ, .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		.key = key, .key_len = sizeof(key), .queue_num = RTE_DIM(queues), .queue = queues,
	};
	const struct rte_flow_action action = ACTION_CONF(RSS, &rss);
	struct rte_flow *flow, *plain = flow_create(&group0, UDP_ITEMS, ACTIONS(TO_QUEUE(1)));
	struct rte_flow_action_rss found = { .level = 9 };
	struct rte_flow_action_handle *handle;

	memset(key, 0x5a, sizeof(key));
	flow = flow_create(&group6, UDP_ITEMS, ACTIONS(ACTION_CONF(RSS, &rss)));
	CHECK_OK(rte_flow_query(PORT_A, flow, ACTIONS(ACTION(RSS)), &found, &error));
	CHECK(found.func == rss.func && found.types == rss.types && found.level == 1 && found.queue_num == 2 &&
	      memcmp(found.queue, queues, sizeof(queues)) == 0);
	CHECK(found.key_len == sizeof(key) && memcmp(found.key, key, sizeof(key)) == 0);
	flow_destroy(flow);
	/* Without types and key: addresses, and the key of the port. */
	rss = (struct rte_flow_action_rss){ .queue_num = 1, .queue = queues };
	handle = rte_flow_action_handle_create(PORT_A, &ingress, &action, &error);
	CHECK_OK(rte_eth_dev_rss_hash_conf_get(PORT_A, &port));
	flow = flow_create(&group6, UDP_ITEMS, ACTIONS(ACTION_CONF(INDIRECT, handle)));
	CHECK_OK(rte_flow_query(PORT_A, flow, ACTIONS(ACTION(RSS)), &found, &error));
	CHECK(found.func == RTE_ETH_HASH_FUNCTION_TOEPLITZ && found.types == RTE_ETH_RSS_IP && found.queue_num == 1);
	CHECK(memcmp(found.key, port_key, sizeof(port_key)) == 0);
	refused(rte_flow_action_handle_query(PORT_A, handle, &found, &error), -ENOTSUP, "of indirect actions count");
	flow_destroy(flow);
	CHECK_OK(rte_flow_action_handle_destroy(PORT_A, handle, &error));
	refused(rte_flow_query(PORT_A, plain, ACTIONS(ACTION(RSS)), &found, &error), -EINVAL, "without this action");
	flow_destroy(plain);
}

/* ------------------------------------------------------------------ other queues of an indirect action */

static const struct rte_flow_indir_action_conf shared = { .ingress = 1 };
static const struct rte_flow_attr behind = { .ingress = 1, .priority = 1 };

/* rss of UDP over the first n of 7 queues from that one on; 7 is no power of two. */
static struct rte_flow_action_rss
rss_over(unsigned int first, unsigned int n)
{
	static const uint16_t queues[] = { 0, 1, 2, 3, 3, 2, 3 };

	return (struct rte_flow_action_rss){
		.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue_num = n, .queue = &queues[first],
	};
}

static int
queues_update(struct rte_flow_action_handle *handle, unsigned int first, unsigned int n)
{
	const struct rte_flow_action_rss rss = rss_over(first, n);
	const struct rte_flow_action action = ACTION_CONF(RSS, &rss);

	return rte_flow_action_handle_update(PORT_A, handle, &action, &error);
}

/* The queue of PORT_A at which a frame arrives. */
static int
queue_of(uint16_t src_port, uint16_t port, bool fragment)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *m;
	int queue;

	frame.fragment = fragment;
	frame.src_port = src_port;
	frame.dst_port = port;
	m = pmd_frame_make(&frame, 0);
	if (m == NULL)
		return -1;
	queue = flow_queue_of(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	rte_pktmbuf_free(m);
	return queue;
}

/* Both flows that use the action lead there. */
static void
both_at(int queue)
{
	CHECK_EQ(queue_of(1, PORT, false), queue);
	CHECK_EQ(queue_of(1, PORT + 1, false), queue);
	/* Not hashed: it is delivered by the other table of the device. */
	CHECK_EQ(queue_of(1, PORT, true), queue);
}

/* The packets are spread as those of a flow with the same queues of its own. */
static void
spread_as(unsigned int n)
{
	const struct rte_flow_action_rss rss = rss_over(0, n);
	int indirect[24], used[QUEUES] = { 0 };
	struct rte_flow *flow;

	for (uint16_t i = 0; i < RTE_DIM(indirect); i++) {
		indirect[i] = queue_of(2000 + i, PORT, false);
		REQUIRE(indirect[i] >= 0);
		used[indirect[i]]++;
	}
	CHECK(used[1] != 0 && used[2] != 0 && used[3] != 0);
	/* This one comes first. */
	flow = flow_create(&group0, UDP_ITEMS, ACTIONS(ACTION_CONF(RSS, &rss), ACTION(COUNT)));
	for (uint16_t i = 0; i < RTE_DIM(indirect); i++)
		CHECK_EQ(queue_of(2000 + i, PORT, false), indirect[i]);
	CHECK_EQ(flow_hits(flow), RTE_DIM(indirect));
	flow_destroy(flow);
}

static void
queues_refused(struct rte_flow_action_handle *handle)
{
	static const struct rte_flow_action_queue one = { .index = 1 };
	static const uint16_t none[] = { 1, QUEUES };
	const struct rte_flow_action count = ACTION(COUNT), queue = ACTION_CONF(QUEUE, &one);
	struct rte_flow_action_handle *others[] = {
		rte_flow_action_handle_create(PORT_A, &shared, &count, &error),
		rte_flow_action_handle_create(PORT_A, &shared, &queue, &error),
	};
	uint8_t key[40] = { 1 };
	struct rte_flow_action_rss rss[] = {
		rss_over(0, 1), rss_over(0, 1), rss_over(0, 1), rss_over(0, 1), rss_over(0, 1), rss_over(0, 0),
	};
	static const char *const why[] = {
		"RSS types: an update has those of the indirect action", "RSS func", "RSS level", "RSS key",
		"Rx queue 4 does not exist", "RSS without queues",
	};

	rss[0].types = RTE_ETH_RSS_NONFRAG_IPV4_TCP;
	rss[1].func = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ;
	rss[2].level = 2;
	rss[3].key = key;
	rss[3].key_len = sizeof(key);
	rss[4].queue = none;
	rss[4].queue_num = RTE_DIM(none);
	for (unsigned int i = 0; i < RTE_DIM(rss); i++)
		refused(rte_flow_action_handle_update(PORT_A, handle, ACTIONS(ACTION_CONF(RSS, &rss[i])), &error),
			i < 4 ? -ENOTSUP : -EINVAL, why[i]);
	refused(rte_flow_action_handle_update(PORT_A, handle, &queue, &error), -EINVAL,
		"the indirect action is rss, not QUEUE");
	refused(rte_flow_action_handle_update(PORT_A, others[0], &count, &error), -ENOTSUP,
		"an indirect action COUNT keeps its configuration; of rss the queues are updated");
	refused(rte_flow_action_handle_update(PORT_A, others[1], &queue, &error), -ENOTSUP, "an indirect action QUEUE");
	for (unsigned int i = 0; i < RTE_DIM(others); i++)
		CHECK_OK(rte_flow_action_handle_destroy(PORT_A, others[i], &error));
	/* One of the two tables of the device keeps the old queues: so does the other one. */
	for (unsigned int nth = 0; nth < 2; nth++) {
		CHECK_OK(emu_fault("on cmd.entry match op=MODIFY_RQT port=0 after %u count 1 do fail status=NO_RESOURCES",
				   nth));
		CHECK(queues_update(handle, 1, 1) < 0);
		CHECK(strstr(error.message, "the device refused the queues") != NULL, "%s", error.message);
		CHECK_EQ(emu_fault_hits(), 1);
		emu_fault_clear();
	}
}

static void
pulled(uintptr_t data)
{
	struct rte_flow_op_result res = { .status = RTE_FLOW_OP_ERROR };

	CHECK_EQ(rte_flow_pull(PORT_A, 0, &res, 1, &error), 1);
	CHECK_EQ(res.status, RTE_FLOW_OP_SUCCESS);
	CHECK_EQ((uintptr_t)res.user_data, data);
}

/* By a queue of operations; leaves an action with an update that is not pushed. */
static void
queues_update_async(struct rte_flow_action_handle *handle)
{
	struct rte_flow_action_rss rss = rss_over(2, 1);
	const struct rte_flow_action action = ACTION_CONF(RSS, &rss);

	CHECK_OK(rte_flow_async_action_handle_update(PORT_A, 0, &later, handle, &action, (void *)1, &error));
	/* The queues are those of the time when it was enqueued. */
	rss = rss_over(3, 1);
	CHECK_OK(rte_flow_async_action_handle_update(PORT_A, 0, &later, handle, &action, (void *)2, &error));
	rss.types = RTE_ETH_RSS_IPV4;
	refused(rte_flow_async_action_handle_update(PORT_A, 0, &later, handle, &action, NULL, &error), -ENOTSUP,
		"RSS types");
	CHECK_EQ(queue_of(1, PORT, false), 1);
	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	pulled(1);
	pulled(2);
	both_at(3);
	rss = rss_over(1, 1);
	handle = rte_flow_action_handle_create(PORT_A, &shared, &action, &error);
	CHECK_OK(rte_flow_async_action_handle_update(PORT_A, 1, &later, handle, &action, NULL, &error));
	refused(rte_flow_action_handle_destroy(PORT_A, handle, &error), -EBUSY, "1 operations on the indirect action");
}

/* All flows that use the action follow, also when the port was stopped; others with the same queues do not. */
static void
queues(void)
{
	const struct rte_flow_action_rss rss = rss_over(3, 1);
	const struct rte_flow_action direct = ACTION_CONF(RSS, &rss);
	struct rte_flow_action_handle *handle = rte_flow_action_handle_create(PORT_A, &shared, &direct, &error);
	struct rte_flow *flow[] = {
		flow_create(&behind, ITEMS(ITEM(ETH), ITEM(IPV4)), ACTIONS(ACTION_CONF(INDIRECT, handle))),
		flow_create(&group6, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + 1)),
			    ACTIONS(ACTION_CONF(INDIRECT, handle))),
		flow_create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + 1)), ACTIONS(JUMP(6))),
		flow_create(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT + 2)), ACTIONS(direct)),
	};
	struct rte_flow_action_rss found;

	both_at(3);
	CHECK_OK(queues_update(handle, 2, 1));
	both_at(2);
	CHECK_EQ(queue_of(1, PORT + 2, false), 3);
	CHECK_OK(queues_update(handle, 0, 7));
	spread_as(7);
	CHECK_OK(queues_update(handle, 0, 4));
	spread_as(4);
	CHECK_OK(rte_flow_query(PORT_A, flow[1], ACTIONS(ACTION(RSS)), &found, &error));
	CHECK(found.queue_num == 4 && found.queue[3] == 3 && found.types == rss.types);
	CHECK_OK(queues_update(handle, 2, 1));
	queues_refused(handle);
	both_at(2);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	both_at(2);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(queues_update(handle, 1, 1));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	both_at(1);
	queues_update_async(handle);
	CHECK_EQ(queue_of(1, PORT + 2, false), 3);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		flow_destroy(flow[i]);
	CHECK_OK(rte_flow_action_handle_destroy(PORT_A, handle, &error));
}

/* ------------------------------------------------------------------ other actions of a flow */

/* A frame arrives at a queue with this mark, 0: none, and TTL. */
static void
arrives(uint16_t queue, uint32_t mark, uint8_t ttl)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);
	const struct rte_ipv4_hdr *ip;
	struct rte_mbuf *m;

	frame.dst_port = PORT;
	CHECK_EQ(pmd_send(PORT_B, 0, &frame), 1);
	REQUIRE(pmd_recv(PORT_A, queue, &m, 1, 5000) == 1, "no packet");
	ip = rte_pktmbuf_mtod_offset(m, void *, sizeof(struct rte_ether_hdr));
	CHECK_EQ(m->ol_flags & RTE_MBUF_F_RX_FDIR_ID ? m->hash.fdir.hi : 0, mark);
	CHECK_EQ(ip->time_to_live, ttl);
	rte_pktmbuf_free(m);
}

/* What a flow does is what it was given last, also when the port was stopped meanwhile, and after a refusal. */
static void
targets(struct rte_flow *flow)
{
	static const uint16_t queues[] = { 1, 2, 3 };
	static const struct rte_flow_action_rss rss = {
		.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_TCP, .queue_num = RTE_DIM(queues),
		.queue = queues,
	};
	static const struct rte_flow_action_set_ttl ttl_9 = { .ttl_value = 9 };

	update(flow, ACTIONS(MARK(9), TO_QUEUE(3)));
	arrives(3, 9, 64);
	update(flow, ACTIONS(ACTION_CONF(RSS, &rss), ACTION(COUNT)));
	CHECK(flow_queue_of_udp(PORT) >= 1);
	CHECK_EQ(flow_hits(flow), 1);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	update(flow, ACTIONS(ACTION(COUNT), ACTION(DROP)));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK_EQ(flow_queue_of_udp(PORT), -1);
	CHECK_EQ(flow_hits(flow), 1);
	refused(rte_flow_actions_update(PORT_A, flow, ACTIONS(TO_QUEUE(QUEUES)), &error), -EINVAL, "does not exist");
	refused(rte_flow_actions_update(PORT_A, flow, ACTIONS(JUMP(6)), &error), -EINVAL, "to itself");
	CHECK_EQ(flow_queue_of_udp(PORT), -1);
	/* The actions need the items of the pattern, which the flow has still. */
	if (rte_flow_actions_update(PORT_A, flow, ACTIONS(ACTION_CONF(SET_TTL, &ttl_9), TO_QUEUE(2)), &error) == 0)
		arrives(2, 0, 9);
	else
		refused(-rte_errno, -ENOTSUP, "the device changes 0 in one flow");
	update(flow, ACTIONS(TO_QUEUE(1)));
	arrives(1, 0, 64);
}

/* Each packet that arrives during updates matches the old rule or the new one: no other flow of the group has it. */
static void
no_gap(struct rte_flow *flow)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 1);
	unsigned int arrived[QUEUES] = { 0 }, n = 0;

	frame.dst_port = PORT;
	for (unsigned int i = 0; i < UPDATES; i++) {
		for (unsigned int k = 0; k < FRAMES; k++)
			CHECK_EQ(pmd_send(PORT_B, 0, &frame), 1);
		update(flow, ACTIONS(TO_QUEUE(1 + i % 2)));
		n += pmd_drain(PORT_A, FRAMES, 0, arrived);
	}
	n += pmd_drain(PORT_A, UPDATES * FRAMES - n, 5000, arrived);
	CHECK_EQ(n, UPDATES * FRAMES);
	CHECK(arrived[1] != 0 && arrived[2] != 0 && arrived[1] + arrived[2] == n, "%u and %u of %u", arrived[1],
	      arrived[2], n);
}

/* A flow begins to age with the actions it gets, and is reported by its own handle. */
static void
ages(struct rte_flow *flow)
{
	static const struct rte_flow_action_age one = { .timeout = 1 };
	struct rte_flow_query_age query;
	void *context = NULL;

	update(flow, ACTIONS(ACTION_CONF(AGE, &one), TO_QUEUE(1)));
	CHECK(AWAIT(rte_flow_get_aged_flows(PORT_A, &context, 1, &error) == 1, 10000), "it does not age");
	CHECK(context == flow);
	update(flow, ACTIONS(TO_QUEUE(1)));
	CHECK_EQ(rte_flow_query(PORT_A, flow, ACTIONS(ACTION(AGE)), &query, &error), -EINVAL);
}

/* The new actions can remove the tunnel that the pattern has. */
static void
tunnel(void)
{
	struct rte_flow *flow = flow_create(&group6, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)),
					    ACTIONS(TO_QUEUE(1)));

	update(flow, ACTIONS(ACTION(VXLAN_DECAP), TO_QUEUE(2)));
	refused(rte_flow_actions_update(PORT_A, flow, ACTIONS(ACTION(NVGRE_DECAP), TO_QUEUE(2)), &error), -EINVAL,
		"an item of another tunnel");
	flow_destroy(flow);
}

/* The kernel's rules of group 0 keep their actions. */
static void
root(void)
{
	struct rte_flow *flow = flow_create(&group0, ITEMS(UDP_TO(PORT + 1)), ACTIONS(TO_QUEUE(1)));
	int rc = rte_flow_actions_update(PORT_A, flow, ACTIONS(TO_QUEUE(3)), &error);

	if (pmd_devarg(PORT_A, "open=vfio"))
		CHECK_OK(rc);
	else
		refused(rc, -ENOTSUP, "a flow of group 0 keeps its actions");
	CHECK_EQ(flow_queue_of_udp(PORT + 1), pmd_devarg(PORT_A, "open=vfio") ? 3 : 1);
	flow_destroy(flow);
}

/* Flows of sent packets. */
static void
egress(void)
{
	static const struct rte_flow_attr from = { .egress = 1 }, in = { .egress = 1, .group = 6 };
	struct rte_flow *lead = flow_create(&from, UDP_ITEMS, ACTIONS(JUMP(6)));
	struct rte_flow *flow = flow_create(&in, ITEMS(ITEM(ETH), ITEM(IPV4), UDP_TO(PORT)), ACTIONS(ACTION(DROP)));
	struct pmd_frame frame = pmd_frame_udp(PORT_A, PORT_B, 1);
	struct rte_mbuf *m;

	frame.dst_port = PORT;
	frame.bytes = 80;
	m = flow_sent(0, &frame);
	CHECK(m == NULL);
	rte_pktmbuf_free(m);
	update(flow, ACTIONS(ACTION(COUNT)));
	m = flow_sent(0, &frame);
	CHECK(m != NULL);
	rte_pktmbuf_free(m);
	CHECK_EQ(flow_hits(flow), 1);
	flow_destroy(flow);
	flow_destroy(lead);
}

/* By templates and a queue; leaves templates, table, a flow and an operation on it for the end of the port. */
static void
by_queue(struct rte_flow *other)
{
	static const struct rte_flow_pattern_template_attr in_items = { .ingress = 1 };
	static const struct rte_flow_actions_template_attr in_actions = { .ingress = 1 };
	const struct rte_flow_template_table_attr attr = { .flow_attr = group6, .nb_flows = 1 };
	static const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	const struct rte_flow_action *to_queue = ACTIONS(TO_QUEUE(1)), *marked = ACTIONS(MARK(7), TO_QUEUE(1));
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions[2];
	struct rte_flow_template_table *table;
	struct rte_flow *flow;

	pattern = rte_flow_pattern_template_create(PORT_A, &in_items, ITEMS(ITEM(IPV4), ITEM_SPEC(UDP, NULL, &mask)),
						   &error);
	actions[0] = rte_flow_actions_template_create(PORT_A, &in_actions, to_queue, ACTIONS(ACTION(QUEUE)), &error);
	actions[1] = rte_flow_actions_template_create(PORT_A, &in_actions, marked, ACTIONS(MARK(7), ACTION(QUEUE)),
						      &error);
	REQUIRE(pattern != NULL && actions[0] != NULL && actions[1] != NULL);
	table = rte_flow_template_table_create(PORT_A, &attr, &pattern, 1, actions, 2, &error);
	REQUIRE(table != NULL, "%s", error.message);
	flow = rte_flow_async_create(PORT_A, 0, &later, table, ITEMS(ITEM(IPV4), UDP_TO(PORT)), 0, to_queue, 0,
				     (void *)1, &error);
	REQUIRE(flow != NULL, "%s", error.message);
	/* Before it is pushed, and in its queue only. */
	CHECK_OK(rte_flow_async_actions_update(PORT_A, 0, &later, flow, ACTIONS(MARK(0), TO_QUEUE(3)), 1, (void *)2,
					       &error));
	refused(rte_flow_async_actions_update(PORT_A, 1, &later, flow, to_queue, 0, NULL, &error), -EBUSY,
		"an operation on the flow is not pushed yet, in flow queue 0");
	refused(rte_flow_actions_update(PORT_A, flow, to_queue, &error), -EBUSY, "not pushed yet");
	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	pulled(1);
	pulled(2);
	arrives(3, 7, 64);
	/* The table has room for one flow: an update neither takes a place nor frees one. */
	CHECK(rte_flow_async_create(PORT_A, 0, &at_once, table, ITEMS(ITEM(IPV4), UDP_TO(1)), 0, to_queue, 0, NULL,
				    &error) == NULL && rte_errno == ENOSPC);
	/* Two of one queue; and by the other function, when nothing is left to push. */
	CHECK_OK(rte_flow_async_actions_update(PORT_A, 0, &later, flow, to_queue, 0, (void *)3, &error));
	CHECK_OK(rte_flow_async_actions_update(PORT_A, 0, &later, flow, ACTIONS(TO_QUEUE(2)), 0, (void *)4, &error));
	arrives(3, 7, 64);
	CHECK_OK(rte_flow_push(PORT_A, 0, &error));
	pulled(3);
	pulled(4);
	arrives(2, 0, 64);
	update(flow, ACTIONS(ACTION(DROP)));
	CHECK_EQ(flow_queue_of_udp(PORT), -1);
	refused(rte_flow_async_actions_update(PORT_A, 0, &at_once, flow, to_queue, 2, NULL, &error), -EINVAL,
		"actions template 2: the table has 2");
	refused(rte_flow_async_actions_update(PORT_A, 0, &at_once, other, to_queue, 0, NULL, &error), -EINVAL,
		"the flow is not of a table");
	CHECK_OK(rte_flow_async_destroy(PORT_A, 0, &at_once, flow, (void *)5, &error));
	pulled(5);
	flow = rte_flow_async_create(PORT_A, 0, &at_once, table, ITEMS(ITEM(IPV4), UDP_TO(PORT)), 0, to_queue, 0,
				     (void *)6, &error);
	REQUIRE(flow != NULL, "%s", error.message);
	pulled(6);
	CHECK_OK(rte_flow_async_actions_update(PORT_A, 1, &later, flow, ACTIONS(TO_QUEUE(2)), 0, NULL, &error));
}

void
flow_update(void)
{
	struct rte_flow *lead, *flow;

	rss_query();
	queues();
	lead = flow_create(&group0, UDP_ITEMS, ACTIONS(JUMP(6)));
	flow = flow_create(&group6, UDP_ITEMS, ACTIONS(TO_QUEUE(1)));
	/* Else the release has no such function, which mdv_compat.h then replaces. */
	if (rte_flow_actions_update(PORT_A, flow, ACTIONS(TO_QUEUE(2)), &error) != -ENOSYS) {
		arrives(2, 0, 64);
		targets(flow);
		no_gap(flow);
		ages(flow);
		tunnel();
		root();
		egress();
		flow_destroy(flow);
		flow = flow_create(&group6, ITEMS(UDP_TO(PORT + 1)), ACTIONS(TO_QUEUE(1)));
		by_queue(flow);
	}
	flow_destroy(flow);
	flow_destroy(lead);
}
