/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What the PMD's tests share: two ports on one cable, frames to send, checks that count.
 *
 * The programs use the public API only and run on any two ports that are connected.
 */
#ifndef PMD_TEST_H
#define PMD_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "../await.h"
#include "../check.h"

#define PMD_MAX_QUEUES 16

/** Ports of the cable's ends. */
#define PORT_A 0
#define PORT_B 1

struct pmd_conf {
	uint16_t nb_rxq, nb_txq, nb_desc;
	uint16_t nb_rx_desc;	/**< Of receive queues, 0: nb_desc. */
	uint64_t rx_offloads, tx_offloads;
	uint64_t rss_hf;	/**< 0: no RSS. */
	uint16_t mtu;		/**< 0: 1500. */
	uint16_t deferred_rxq, deferred_txq; /**< Bit per queue. */
	uint16_t data_room;	/**< Of the mbufs, 0: default. */
	bool rxq_intr;		/**< Receive interrupts. */
};

/** EAL, two ports, both mlxpmd's, one mempool; ends the program when that cannot be had. */
void pmd_init(int argc, char **argv);
/** Prints the result; what main() returns. */
int pmd_fini(void);
extern struct rte_mempool *pmd_pool;

/** configure, set up queues, start; 0 or the error of the step that failed. */
int pmd_port_configure(uint16_t port, const struct pmd_conf *conf);
int pmd_port_up(uint16_t port, const struct pmd_conf *conf);
void pmd_port_down(uint16_t port);
/** Both ports up with the same configuration, links waited for. */
void pmd_ports_up(const struct pmd_conf *conf);
void pmd_ports_down(void);

struct pmd_frame {
	struct rte_ether_addr dst, src;
	int vlan;		/**< -1: no tag. */
	uint16_t ether_type;	/**< RTE_ETHER_TYPE_IPV4, _IPV6 or anything. */
	uint8_t proto;		/**< Of IP. */
	bool fragment;		/**< IPv4: more fragments follow. */
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	uint16_t bytes;		/**< Without FCS. */
};
/** A frame in one mbuf or a chain of seg_bytes each (0: one). NULL when the pool is empty. */
struct rte_mbuf *pmd_frame_make(const struct pmd_frame *frame, uint16_t seg_bytes);
/** Frame to the far end's address: UDP over IPv4. */
struct pmd_frame pmd_frame_udp(uint16_t from, uint16_t to, uint16_t flow);
/** Sends one frame; 1 when it was taken. */
unsigned int pmd_send(uint16_t port, uint16_t queue, const struct pmd_frame *frame);
/** Receives on one queue until n came or ms passed; the caller frees. */
unsigned int pmd_recv(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, unsigned int n, unsigned int ms);
/** As pmd_recv() on all queues of a port, and frees; counts by queue when count is given. */
unsigned int pmd_drain(uint16_t port, unsigned int n, unsigned int ms, unsigned int *count);
/** Whether a frame sent from PORT_B comes up on PORT_A; nothing else may come. */
bool pmd_arrives(const struct pmd_frame *frame);
/** Whether the port's device arguments have this in them. */
bool pmd_devarg(uint16_t port, const char *arg);
/** Value of an xstat by name; UINT64_MAX when there is none. */
uint64_t pmd_xstat(uint16_t port, const char *name);
/** Waits until what a port shows of the device's counts is younger than the call; 20 s at most. */
void pmd_counts_settle(uint16_t port);

#endif /* PMD_TEST_H */
