/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/** @file Short forms of patterns and actions, and the parts of the test of rte_flow. */
#ifndef TEST_FLOW_H
#define TEST_FLOW_H

#include <rte_flow.h>

#include <mdv_compat.h>

#include "pmd_test.h"

#define QUEUES 4
#define TX_QUEUES 2

#define ITEMS(...) ((const struct rte_flow_item[]){ __VA_ARGS__, { .type = RTE_FLOW_ITEM_TYPE_END } })
#define ACTIONS(...) ((const struct rte_flow_action[]){ __VA_ARGS__, { .type = RTE_FLOW_ACTION_TYPE_END } })
#define ITEM(kind) { .type = RTE_FLOW_ITEM_TYPE_##kind }
#define ITEM_SPEC(kind, s, m) { .type = RTE_FLOW_ITEM_TYPE_##kind, .spec = (s), .mask = (m) }
#define ACTION(kind) { .type = RTE_FLOW_ACTION_TYPE_##kind }
#define ACTION_CONF(kind, c) { .type = RTE_FLOW_ACTION_TYPE_##kind, .conf = (c) }
#define TO_QUEUE(n) ACTION_CONF(QUEUE, (&(const struct rte_flow_action_queue){ .index = (n) }))
#define MARK(n) ACTION_CONF(MARK, (&(const struct rte_flow_action_mark){ .id = (n) }))
#define JUMP(n) ACTION_CONF(JUMP, (&(const struct rte_flow_action_jump){ .group = (n) }))
#define PORT_ID(n) ITEM_SPEC(PORT_ID, (&(const struct rte_flow_item_port_id){ .id = (n) }), NULL)
#define TX_QUEUE(n) ITEM_SPEC(TX_QUEUE, (&(const struct rte_flow_item_tx_queue){ .tx_queue = (n) }), NULL)
#define UDP_TO(port) ITEM_SPEC(UDP, (&(const struct rte_flow_item_udp){ .hdr.dst_port = RTE_BE16(port) }), \
			       (&(const struct rte_flow_item_udp){ .hdr.dst_port = RTE_BE16(0xffff) }))

/** What the last frame that PORT_B sent looked like when it arrived at PORT_A. */
struct flow_arrived {
	uint64_t flags;
	uint32_t mark, hash;
};
extern struct flow_arrived flow_arrived;

/** Validates and creates a flow of PORT_A. */
struct rte_flow *flow_create(const struct rte_flow_attr *attr, const struct rte_flow_item *items,
			     const struct rte_flow_action *actions);
/** Destroys a flow of PORT_A; NULL is allowed. */
void flow_destroy(struct rte_flow *flow);
/** Packets that its action count has counted. */
uint64_t flow_hits(struct rte_flow *flow);
/** The queue of PORT_A at which a frame arrives that PORT_B sends; -1: at none. */
int flow_queue_of(const uint8_t *frame, uint16_t bytes);
/** The same for a UDP frame to a port. */
int flow_queue_of_udp(uint16_t port);
/** test_flow_groups.c: PORT_A has QUEUES receive queues, and no flows. any_level: the card has ignore_flow_level. */
void flow_groups(bool any_level);
/** test_flow_async.c: the same; leaves flows and operations for the end of the port. */
void flow_async(void);
/** test_flow_tunnels.c: PORT_A has QUEUES receive queues, and no flows. flex: the card parses ICMP and GTP-U. */
void flow_tunnels(bool flex);
/**
 * test_flow_modify.c: PORT_A has QUEUES receive queues, and no flows. decap_with: a flow that removes a tunnel can
 * jump, and pop a tag.
 */
void flow_modify(bool decap_with);
/** Before the ports are configured: what rte_eth_rx_metadata_negotiate() offers. */
void flow_negotiate(void);
/** The same by templates: flow queue 0 exists, and has no results. */
void flow_modify_templates(void);
/** test_flow_egress.c: the same; flow queue 0 exists, and has no results. */
void flow_egress(void);
/** What a frame of PORT_A has become when it arrives at PORT_B; NULL: it does not arrive. */
struct rte_mbuf *flow_sent(uint16_t tx_queue, const struct pmd_frame *frame);
/** test_flow_senders.c: flows of sent packets by what is not in the packet; as flow_egress(). */
void flow_senders(void);
/**
 * test_flow_update.c: the same; flow queues 0 and 1 exist, and queue 0 has no results. Leaves flows and operations for
 * the end of the port.
 */
void flow_update(void);
/** test_flow_refusals.c: PORT_A has QUEUES receive queues, and no flows. */
void flow_refusals(void);

#endif /* TEST_FLOW_H */
