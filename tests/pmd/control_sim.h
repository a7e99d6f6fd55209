/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * A device in memory for the control path: what its requests left in the interface, and which objects and rules there
 * are. Any request can fail.
 */
#ifndef CONTROL_SIM_H
#define CONTROL_SIM_H

#include <mdv_rule.h>

#include "../check.h"
#include "mlxpmd_ctrl.h"

#define UNTAGGED MDV_MATCH_UNTAGGED
#define SIM_QUEUES 4
#define SIM_OBJECTS 16
#define SIM_ADDRESSES 160

/** Addresses in any order: sorted. */
struct sim_list {
	unsigned int n;
	uint8_t addr[SIM_ADDRESSES][6];
};

/** Compared as bytes. */
struct sim_device {
	uint8_t mac[6];
	uint16_t mtu;
	bool up, promisc, allmulti;
	struct sim_list uc, mc;
	bool strip[SIM_QUEUES];
	struct sim_object {
		enum { SIM_NONE, SIM_RQT, SIM_TIR } kind;
		unsigned int n, max;	/**< RQT. */
		uint32_t rqn[MLXPMD_RETA_MAX];
		struct mdv_tir_attr tir; /**< Without its key. */
		uint8_t key[MLXPMD_RSS_KEY_BYTES];
	} object[SIM_OBJECTS];
	unsigned int rules;
	uint64_t rules_sum;		/**< Of the rules' hashes. */
};
extern struct sim_device device;

/** Requests that fail: the one after `left` others, with this errno. */
extern unsigned int sim_left;
extern int sim_err;
/** Name of what failed, or NULL. */
extern const char *sim_hit;
extern unsigned int sim_requests;	/**< Since sim_arm(). */
void sim_arm(unsigned int left, int err);
void sim_disarm(void);

/** Lines since log_begin(). */
extern char log_text[4096];
extern unsigned int log_lines, log_errors, log_notices;
void log_begin(void);

extern int allocated;			/**< Blocks of memory that were not given back. */
extern uint64_t slept_ms;
extern uint64_t link_up_ms;		/**< The link comes up after so long a sleep. */
extern uint32_t link_mbps;
extern bool owned, removed;

extern struct mlxpmd_port port;
extern struct rte_eth_dev eth_dev;
extern struct rte_eth_dev_data data;
extern struct mdv_dev mdv;
extern struct mlxpmd_rxq rxqs[SIM_QUEUES];

/** A new port on a new device, not started, with queues that are set up. */
void sim_reset(void);
/** Rules that match a frame to dst, with this VLAN (0xffff: untagged); all classes together. */
unsigned int sim_matches(const uint8_t dst[6], uint16_t vlan);
/** The TIR of the rules of a class; NULL: none. */
const struct sim_object *sim_tir(uint8_t ip_version, uint8_t ip_proto);
/** The RQT with this number. */
const struct sim_object *sim_rqt(uint32_t id);

/** Start and stop of the port, as far as these files are part of them. */
int port_start(void);
void port_stop(void);
/** A started port whose application requested nothing. */
void port_up(bool rss);
/** It is stopped and closed: nothing is left, and the interface as it was. */
void port_down(void);
/** The port's lock is not held. */
void port_unlocked(void);
/** Other hash functions and a key that begins with 1, 2, 3. */
int port_hash(void);
/** Entries 0, 1 and 7 of the table become 3, 2 and 0. */
int port_reta(void);

/** test_control_rss.c */
void tests_rss(void);

#endif /* CONTROL_SIM_H */
