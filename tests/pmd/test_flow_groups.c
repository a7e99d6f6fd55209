/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* rte_flow: many groups, jumps in any order, and those that would never end; rules of RSS. */

#include "test_flow.h"

#define GROUPS 150

static struct rte_flow_error error;

static struct rte_flow *
jump(uint32_t from, uint32_t to)
{
	const struct rte_flow_attr attr = { .ingress = 1, .group = from };

	memset(&error, 0, sizeof(error));
	return rte_flow_create(PORT_A, &attr, ITEMS(UDP_TO(4000)), ACTIONS(JUMP(to)), &error);
}

static struct rte_flow *
to_queue(uint32_t group, uint16_t queue)
{
	const struct rte_flow_attr attr = { .ingress = 1, .group = group };

	return rte_flow_create(PORT_A, &attr, ITEMS(ITEM(ETH)), ACTIONS(TO_QUEUE(queue)), &error);
}

static void
destroy(struct rte_flow *flow)
{
	CHECK_OK(rte_flow_destroy(PORT_A, flow, &error));
}

static struct rte_flow *
make(const struct rte_flow_attr *attr, const struct rte_flow_item *items, const struct rte_flow_action *actions)
{
	struct rte_flow *flow = rte_flow_create(PORT_A, attr, items, actions, &error);

	CHECK(flow != NULL, "group %u: %s", attr->group, error.message);
	return flow;
}

uint64_t
flow_hits(struct rte_flow *flow)
{
	struct rte_flow_query_count count = { .reset = 0 };

	CHECK_OK(rte_flow_query(PORT_A, flow, ACTIONS(ACTION(COUNT)), &count, &error));
	return count.hits;
}

/* Through many groups, created in an order that is not theirs. */
static void
scattered(void)
{
	static const uint32_t order[] = { 100, 7, 3000000, 50, 8, 6, 9, 200 };
	static const uint32_t chain[] = { 6, 7, 8, 9, 50, 100, 200, 3000000 };
	struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow *place[RTE_DIM(order)], *flow[RTE_DIM(chain) + 1];

	for (unsigned int i = 0; i < RTE_DIM(order); i++) {
		attr.group = order[i];
		place[i] = make(&attr, ITEMS(UDP_TO(1)), ACTIONS(ACTION(DROP)));
	}
	for (unsigned int i = 0; i <= RTE_DIM(chain); i++) {
		attr.group = i != 0 ? chain[i - 1] : 0;
		if (i < RTE_DIM(chain))
			flow[i] = make(&attr, ITEMS(UDP_TO(4000)), ACTIONS(ACTION(COUNT), JUMP(chain[i])));
		else
			flow[i] = make(&attr, ITEMS(UDP_TO(4000)), ACTIONS(ACTION(COUNT), TO_QUEUE(2)));
	}
	CHECK_EQ(flow_queue_of_udp(4000), 2);
	for (unsigned int i = 0; i <= RTE_DIM(chain); i++)
		CHECK_EQ(flow_hits(flow[i]), 1);
	for (unsigned int i = 0; i <= RTE_DIM(chain); i++)
		destroy(flow[i]);
	for (unsigned int i = 0; i < RTE_DIM(place); i++)
		destroy(place[i]);
	/* What matches nothing in a group is dropped. */
	flow[0] = jump(0, 1);
	CHECK_EQ(flow_queue_of_udp(4000), -1);
	destroy(flow[0]);
}

/* A flow of a group that jumps is refused, with a part of the message. */
static void
refused(uint32_t from, uint32_t to, int err, const char *text)
{
	const struct rte_flow_attr attr = { .ingress = 1, .group = from };

	CHECK(jump(from, to) == NULL, "%u to %u", from, to);
	CHECK_EQ(rte_errno, err);
	CHECK(error.message != NULL && strstr(error.message, text) != NULL, "not %s: %s", text, error.message);
	CHECK_EQ(rte_flow_validate(PORT_A, &attr, ITEMS(UDP_TO(4000)), ACTIONS(JUMP(to)), &error), -err);
}

/* One after the other in a chain that begins with the highest number: more than the device has levels. */
static void
chain(void)
{
	static struct rte_flow *flow[GROUPS + 1];

	for (uint32_t i = 0; i <= GROUPS; i++) {
		uint32_t from = i == 0 ? 0 : 10 * (GROUPS + 1 - i);

		flow[i] = i < GROUPS ? jump(from, 10 * (GROUPS - i)) : to_queue(from, 3);
		CHECK(flow[i] != NULL, "group %u: %s", from, error.message);
	}
	CHECK_EQ(flow_queue_of_udp(4000), 3);
	CHECK_EQ(flow_queue_of_udp(4001), 0);
	refused(10, 10 * GROUPS, EINVAL, "flows lead back");
	refused(10, 500, EINVAL, "flows lead back");
	/* Without the flow that closes the circle. */
	destroy(flow[GROUPS / 2]);
	CHECK_EQ(flow_queue_of_udp(4000), -1);
	destroy(flow[GROUPS]);
	flow[GROUPS] = jump(10, 10 * GROUPS);
	CHECK(flow[GROUPS] != NULL, "%s", error.message);
	for (uint32_t i = 0; i <= GROUPS; i++)
		if (i != GROUPS / 2)
			destroy(flow[i]);
}

/* The device's levels decide: those of jumps, and of numbers. */
static void
levels(void)
{
	struct rte_flow *flow[3] = { jump(0, 9), jump(9, 3), to_queue(3, 2) }, *other;

	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		REQUIRE(flow[i] != NULL);
	CHECK_EQ(flow_queue_of_udp(4000), 2);
	other = to_queue(4, 1);
	refused(9, 4, ENOTSUP, "no ignore_flow_level");
	destroy(other);
	for (unsigned int i = 0; i < RTE_DIM(flow); i++)
		destroy(flow[i]);
	/* Groups that do not lead to each other need no levels of their own. */
	for (uint32_t i = 0; i < GROUPS; i++)
		CHECK(to_queue(1000 + i, 1) != NULL, "%u: %s", i, error.message);
	refused(1000 + GROUPS - 2, 1000 + GROUPS - 1, ENOTSUP, "jumps lead to higher levels");
	CHECK_OK(rte_flow_flush(PORT_A, &error));
}

#define COUNTED 200

static struct rte_flow *
counted(uint16_t port)
{
	const struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(port) };
	const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	const struct rte_flow_attr attr = { .ingress = 1, .group = 1 };

	return make(&attr, ITEMS(ITEM_SPEC(UDP, &udp, &mask)), ACTIONS(ACTION(COUNT), TO_QUEUE(1)));
}

/* More counters than a bulk of the device has; one that was used before begins with 0. */
static void
counters(void)
{
	const struct rte_flow_attr group0 = { .ingress = 1 };
	struct rte_flow *lead = make(&group0, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), ACTIONS(JUMP(1)));
	struct rte_flow *flow[COUNTED];

	for (uint16_t i = 0; i < COUNTED; i++)
		flow[i] = counted(5000 + i);
	for (uint16_t i = 0; i < COUNTED; i += 33)
		CHECK_EQ(flow_queue_of_udp(5000 + i), 1);
	for (uint16_t i = 0; i < COUNTED; i++)
		CHECK(flow_hits(flow[i]) == (i % 33 == 0), "%u: %" PRIu64, i, flow_hits(flow[i]));
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (uint16_t i = 33; i < COUNTED; i += 33) {
			destroy(flow[i]);
			flow[i] = counted(5000 + i);
			CHECK_EQ(flow_hits(flow[i]), 0);
			CHECK_EQ(flow_queue_of_udp(5000 + i), 1);
			CHECK_EQ(flow_hits(flow[i]), 1);
		}
	}
	CHECK_EQ(flow_hits(flow[0]), 1);
	CHECK_EQ(flow_hits(flow[1]), 0);
	for (uint16_t i = 0; i < COUNTED; i++)
		destroy(flow[i]);
	destroy(lead);
}

/* Packets of a flow with RSS that are hashed come first, whatever other flows have the mask of the rest. */
static void
rss_first(uint32_t group)
{
	static const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffe0) };
	static const struct rte_flow_item_udp to_4096 = { .hdr.dst_port = RTE_BE16(4096) };
	static const struct rte_flow_item_udp to_4000 = { .hdr.dst_port = RTE_BE16(4000) };
	static const uint16_t queues[] = { 1, 2, 3 };
	const struct rte_flow_action_rss conf = { .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue_num = 3,
						  .queue = queues };
	const struct rte_flow_attr attr = { .ingress = 1, .group = group };
	struct rte_flow *other = make(&attr, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &to_4096, &mask)),
				      ACTIONS(TO_QUEUE(0)));
	struct rte_flow *flow = make(&attr, ITEMS(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &to_4000, &mask)),
				     ACTIONS(ACTION_CONF(RSS, &conf)));
	unsigned int used = 0;

	for (uint16_t i = 0; i < 24; i++)
		used |= 1u << flow_queue_of_udp(4000 + i);
	CHECK_EQ(used, 0xe);
	destroy(flow);
	destroy(other);
}

void
flow_groups(bool any_level)
{
	static const struct rte_flow_attr group0 = { .ingress = 1 };
	struct rte_flow *to_group;

	rss_first(0);
	to_group = make(&group0, ITEMS(ITEM(UDP)), ACTIONS(JUMP(1)));
	rss_first(1);
	destroy(to_group);
	scattered();
	counters();
	if (any_level)
		chain();
	else
		levels();
	refused(7, 0, ENOTSUP, "jump to group 0");
	refused(0, 0, ENOTSUP, "jump to group 0");
	refused(7, 7, EINVAL, "to itself");
}
