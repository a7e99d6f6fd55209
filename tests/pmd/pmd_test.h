/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Common functions of the PMD's test programs: two connected ports, frames, counters.
 *
 * The programs use the public API only; those without fault injection run on any two ports that are connected.
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

#define PMD_MAX_QUEUES 256

/** The two ports; they are connected to each other. */
#define PORT_A 0
#define PORT_B 1

struct pmd_conf {
	uint16_t nb_rxq, nb_txq, nb_desc;
	uint16_t nb_rx_desc;	/**< Receive queues; 0: nb_desc. */
	uint64_t rx_offloads, tx_offloads;
	uint64_t rss_hf;	/**< 0: no RSS. */
	uint16_t mtu;		/**< 0: 1500. */
	uint32_t lro_bytes;	/**< max_lro_pkt_size. */
	uint16_t deferred_rxq, deferred_txq; /**< One bit per queue: deferred start. */
	bool rxq_intr;		/**< Receive interrupts. */
	bool loopback;		/**< lpbk_mode 1. */
	bool port_intr;		/**< Events of link state and removal. */
	struct rte_mempool *pool; /**< Of the receive queues; NULL: pmd_pool. */
};

/** Initializes EAL, checks that there are two ports of mlxpmd and creates pmd_pool. Exits with status 2 on failure. */
void pmd_init(int argc, char **argv);
/** The same for ports of another driver. */
void pmd_init_driver(int argc, char **argv, const char *driver);
/** Checks that no mbuf is in use, closes all ports and prints the result. Returns the status for main(). */
int pmd_fini(void);
extern struct rte_mempool *pmd_pool;

/** Configures a port and sets up its queues. 0 or the error of the step that failed. */
int pmd_port_configure(uint16_t port, const struct pmd_conf *conf);
/** As pmd_port_configure(), and starts the port. */
int pmd_port_up(uint16_t port, const struct pmd_conf *conf);
/** Stops a port. */
void pmd_port_down(uint16_t port);
/** Starts both ports with the same configuration and waits for their links. */
void pmd_ports_up(const struct pmd_conf *conf);
void pmd_ports_down(void);

struct pmd_frame {
	struct rte_ether_addr dst, src;
	int vlan;		/**< -1: no tag. */
	uint16_t ether_type;	/**< RTE_ETHER_TYPE_IPV4, _IPV6 or any other. */
	uint8_t proto;		/**< IP protocol. */
	bool fragment;		/**< IPv4: set the "more fragments" flag. */
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	uint16_t bytes;		/**< Without FCS. */
};
/** Builds a frame in one mbuf, or in a chain of mbufs of seg_bytes each (0: one mbuf). NULL if the pool is empty. */
struct rte_mbuf *pmd_frame_make(const struct pmd_frame *frame, uint16_t seg_bytes);
/** Describes a UDP/IPv4 frame of 64 bytes from one port's address to the other's. */
struct pmd_frame pmd_frame_udp(uint16_t from, uint16_t to, uint16_t flow);
/** Sends one frame; retries for up to 1 s. Number of frames sent: 1 or 0. */
unsigned int pmd_send(uint16_t port, uint16_t queue, const struct pmd_frame *frame);
/** Receives on one queue until n packets came or ms passed; the caller frees them. Number of packets. */
unsigned int pmd_recv(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, unsigned int n, unsigned int ms);
/** As pmd_recv(), on all queues of a port, and frees the packets. Adds to count[queue] unless count is NULL. */
unsigned int pmd_drain(uint16_t port, unsigned int n, unsigned int ms, unsigned int *count);
/** Whether PORT_A delivers a frame that PORT_B sends on queue 0. Fails if another frame arrives. */
bool pmd_arrives(const struct pmd_frame *frame);
/** Whether the port's devargs contain a string. */
bool pmd_devarg(uint16_t port, const char *arg);
/** Mempools of striding queues and of attached packets that are in use, and buffers taken from them. */
struct pmd_striding {
	unsigned int pools, buffers;
};
struct pmd_striding pmd_striding(void);
/** Descriptors' worth of buffers that receive queues hold: mbufs of pmd_pool, or strides (mprq_log_stride_num=3). */
unsigned int pmd_rx_held(void);
/** Value of an xstat by name; UINT64_MAX if there is none. */
uint64_t pmd_xstat(uint16_t port, const char *name);
/** Waits until the port's device counters were read after this call; fails after 20 s. */
void pmd_counts_settle(uint16_t port);

#endif /* PMD_TEST_H */
