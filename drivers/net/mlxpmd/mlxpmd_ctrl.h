/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Functions of the control plane, by file. Bursts call none of them.
 *
 * Functions return 0 or a negative errno and log a failure once, where it happens.
 */
#ifndef MLXPMD_CTRL_H
#define MLXPMD_CTRL_H

#include <mdv_stage.h>

#include "mlxpmd.h"
#include "mlxpmd_sched.h"

/* ---- stages (mdv_stage.h): set-up in steps, unwound in reverse order ---- */
static inline void
mlxpmd_stage_failed(const struct mlxpmd_port *port, const char *name, int rc)
{
	MLXPMD_LOG(DEBUG, "port %u: stage %s failed: %s", port->port_id, name, rte_strerror(-rc));
}

MDV_STAGES_DEFINE(mlxpmd, struct mlxpmd_port)

/* ---- devargs (mlxpmd_devargs.c); mlxpmd_devargs_parse() is in mlxpmd.h ---- */
/** Parses digits, up to max; base as strtoul(3). text NULL: -EINVAL. */
int mlxpmd_number_parse(const char *text, int base, unsigned long max, unsigned long *value);

/* ---- ethdev (mlxpmd_ethdev.c) ---- */
/** A zeroed port becomes usable; 1 when the device is meant for another driver. */
int mlxpmd_dev_init(struct rte_eth_dev *eth_dev);
/** Stops and closes. */
int mlxpmd_dev_uninit(struct rte_eth_dev *eth_dev);

/* ---- device (mlxpmd_dev.c) ---- */
/** Longest frame on the wire beyond the MTU: Ethernet header, one VLAN tag, FCS. */
#define MLXPMD_FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN + RTE_ETHER_CRC_LEN)
#define MLXPMD_MIN_MTU 68 /* RFC 791: every IPv4 link carries 68 octets. */
int mlxpmd_dev_configure(struct rte_eth_dev *eth_dev);
int mlxpmd_dev_infos_get(struct rte_eth_dev *eth_dev, struct rte_eth_dev_info *info);
int mlxpmd_dev_start(struct rte_eth_dev *eth_dev);
int mlxpmd_dev_stop(struct rte_eth_dev *eth_dev);
/** Describes port, queues, clock, losses and flows to a person (mlxpmd_dump.c); in a secondary process less. */
int mlxpmd_priv_dump(struct rte_eth_dev *eth_dev, FILE *file);
/** Prints the places of /mlxpmd/drops that have packets. The port's lock is held. 0 or -errno (mlxpmd_drops.c). */
int mlxpmd_drops_print(struct mlxpmd_port *port, FILE *file);
int mlxpmd_fw_version_get(struct rte_eth_dev *eth_dev, char *version, size_t size);

/* ---- link and MTU (mlxpmd_link.c) ---- */
int mlxpmd_link_update(struct rte_eth_dev *eth_dev, int wait_to_complete);
int mlxpmd_link_up(struct rte_eth_dev *eth_dev);
int mlxpmd_link_down(struct rte_eth_dev *eth_dev);
int mlxpmd_mtu_set(struct rte_eth_dev *eth_dev, uint16_t mtu);
/** Gives the interface the port's configured MTU, when it has another. */
int mlxpmd_mtu_apply(struct mlxpmd_port *port);
/** Remembers the interface's MTU at probe, puts it back at close. */
int mlxpmd_mtu_remember(struct mlxpmd_port *port);
void mlxpmd_mtu_restore(struct mlxpmd_port *port);
/** RTE_ETH_LINK_SPEED_* of the speed that the port runs at, 0 when it is down. */
uint32_t mlxpmd_link_speed_capa(struct rte_eth_dev *eth_dev);

/* ---- the physical port (mlxpmd_phy.c) ---- */
int mlxpmd_flow_ctrl_get(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf);
/** What the application sets stays at close, as by `ethtool -A`. */
int mlxpmd_flow_ctrl_set(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf);
/** For one priority; the port's own ends. Through VFIO only. */
int mlxpmd_priority_flow_ctrl_set(struct rte_eth_dev *eth_dev, struct rte_eth_pfc_conf *conf);
/** Through verbs one entry, with the speed of the link: the kernel's modes are those of all speeds. */
int mlxpmd_fec_get_capability(struct rte_eth_dev *eth_dev, struct rte_eth_fec_capa *capa, unsigned int num);
int mlxpmd_fec_get(struct rte_eth_dev *eth_dev, uint32_t *capa);
/** It stays at close, as by `ethtool --set-fec`. */
int mlxpmd_fec_set(struct rte_eth_dev *eth_dev, uint32_t capa);
int mlxpmd_module_info(struct rte_eth_dev *eth_dev, struct rte_eth_dev_module_info *info);
int mlxpmd_module_eeprom(struct rte_eth_dev *eth_dev, struct rte_dev_eeprom_info *info);
/** The device parses tunnels at the ports that IANA assigned, and at no other: 0 for these; -ENOTSUP. */
int mlxpmd_udp_tunnel_port_add(struct rte_eth_dev *eth_dev, struct rte_eth_udp_tunnel *tunnel);

/* ---- queues (mlxpmd_queue.c, mlxpmd_rxq.c, mlxpmd_txq.c) ---- */
#define MLXPMD_DESC_MIN 64
#define MLXPMD_DESC_MAX 16384
#define MLXPMD_DESC_DEFAULT 512
int mlxpmd_rx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint16_t nb_desc,
			  unsigned int socket_id, const struct rte_eth_rxconf *conf,
			  struct rte_mempool *mp);
int mlxpmd_tx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint16_t nb_desc,
			  unsigned int socket_id, const struct rte_eth_txconf *conf);
void mlxpmd_queue_release(struct rte_eth_dev *eth_dev, enum mlxpmd_queue_kind kind, uint16_t queue_id);
void mlxpmd_rx_queue_release(struct rte_eth_dev *eth_dev, uint16_t queue_id);
void mlxpmd_tx_queue_release(struct rte_eth_dev *eth_dev, uint16_t queue_id);
void mlxpmd_rxq_info_get(struct rte_eth_dev *eth_dev, uint16_t queue_id,
			 struct rte_eth_rxq_info *info);
/** Limits the rate of a send queue that is set up; 0 Mbit/s: no limit. It stays until the queue is released. */
int mlxpmd_queue_rate_set(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint32_t mbps);
int mlxpmd_queue_rate_get(struct rte_eth_dev *eth_dev, uint16_t queue_id, uint32_t *mbps);
void mlxpmd_txq_info_get(struct rte_eth_dev *eth_dev, uint16_t queue_id,
			 struct rte_eth_txq_info *info);
int mlxpmd_rx_queue_start(struct rte_eth_dev *eth_dev, uint16_t queue_id);
int mlxpmd_rx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t queue_id);
int mlxpmd_tx_queue_start(struct rte_eth_dev *eth_dev, uint16_t queue_id);
int mlxpmd_tx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t queue_id);
/** Stages of dev_start: create all queues, and arm and start those that are not deferred. */
int mlxpmd_rxqs_up(struct mlxpmd_port *port);
void mlxpmd_rxqs_down(struct mlxpmd_port *port);
int mlxpmd_txqs_up(struct mlxpmd_port *port);
void mlxpmd_txqs_down(struct mlxpmd_port *port);
/** log2 of the data segments that a frame with this MTU needs; -EINVAL: too many, or without scatter. */
int mlxpmd_rxq_log_segs(const struct mlxpmd_rxq *rxq, uint16_t mtu);
/** Longest packet of LRO that is offered: what a TIR can have (DPDK mlx5.h, MLX5_MAX_LRO_SIZE). */
#define MLXPMD_LRO_MAX (UINT8_MAX * MDV_LRO_UNIT)
/** Longest packet of LRO on the port's queues, in MDV_LRO_UNIT; 0: no LRO. */
uint8_t mlxpmd_rxq_lro_size(const struct mlxpmd_port *port);
/** Period of the device after which LRO sessions end, by devarg lro_timeout_usec; 0: no LRO. */
uint16_t mlxpmd_rxq_lro_us(const struct mlxpmd_port *port);
/** log2 of the bytes of a striding queue's strides for this MTU; -EINVAL: not all frames could be delivered. */
int mlxpmd_rxq_log_stride_size(const struct mlxpmd_rxq *rxq, uint16_t mtu);
/**
 * For a queue in state REPAIR: takes RQ or SQ through ERR and RST to RDY, replaces a CQ that cannot be trusted, and
 * returns the queue to its burst: READY. Adds packets lost to *lost. State and mbufs are kept on failure; may be
 * repeated.
 */
int mlxpmd_queue_reset(struct mlxpmd_queue *q, uint32_t *lost);

/** What the application requests of a queue, for the functions below. */
struct mlxpmd_queue_attr {
	struct rte_eth_dev *eth_dev;
	const struct mlxpmd_queue_ops *ops;
	enum mlxpmd_queue_kind kind;
	uint16_t queue_id, nb_desc;
	unsigned int socket_id;
	uint64_t offloads;
	bool deferred_start;
	struct mlxpmd_queue_thresh {
		const char *name;	/**< NULL: unused. */
		uint16_t value;
		uint16_t divisor;	/**< At most nb_desc / divisor is allowed; with 1 nb_desc - 1. */
	} thresh[2];
};
/** Checks sizes; rounds nb_desc up to a power of two. 0 or -EINVAL. */
int mlxpmd_queue_attr_check(struct mlxpmd_queue_attr *attr);
/** Allocates a struct mlxpmd_rxq or mlxpmd_txq of that size and sets its head. NULL: no memory. */
void *mlxpmd_queue_alloc(const struct mlxpmd_queue_attr *attr, size_t bytes);
/** With rc 0 makes the queue known to ethdev and the port; else frees it. Returns rc. */
int mlxpmd_queue_register(struct mlxpmd_queue *q, int rc);

/** Queue i of ethdev's arrays; NULL: not set up. */
static inline struct mlxpmd_queue *
mlxpmd_queue_at(const struct rte_eth_dev_data *data, enum mlxpmd_queue_kind kind, uint16_t i)
{
	return kind == MLXPMD_RX ? data->rx_queues[i] : data->tx_queues[i];
}

static inline uint16_t
mlxpmd_queues_count(const struct rte_eth_dev_data *data, enum mlxpmd_queue_kind kind)
{
	return kind == MLXPMD_RX ? data->nb_rx_queues : data->nb_tx_queues;
}

/** RTE_ETH_QUEUE_STATE_*, by queue. */
static inline uint8_t *
mlxpmd_queue_ethdev_state(struct rte_eth_dev_data *data, enum mlxpmd_queue_kind kind)
{
	return kind == MLXPMD_RX ? data->rx_queue_state : data->tx_queue_state;
}

/* ---- receive interrupts (mlxpmd_rx_intr.c) ---- */
/** Stage of dev_start: with intr_conf.rxq a vector for each queue, in EAL's handle. Vectors are kept at a stop. */
int mlxpmd_rx_intr_up(struct mlxpmd_port *port);
/** Frees the queue's vector, if it has one, and removes the port's vectors from all epoll sets. */
void mlxpmd_rxq_intr_release(struct mlxpmd_queue *q);
/** As mlxpmd_queue_ops.sync: after a change of state; wake: the application, if it sleeps on the queue. */
void mlxpmd_rxq_intr_sync(struct mlxpmd_queue *q, bool wake);
/** As mlxpmd_queue_ops.watch: wakes the application if a completion has been there for 100 ms without an event. */
void mlxpmd_rxq_intr_watch(struct mlxpmd_queue *q, bool completed, uint32_t cq_ci, uint64_t now_ns);
/** Does the application sleep on every receive queue? The port's lock is held. */
bool mlxpmd_rx_intr_all_on(const struct mlxpmd_port *port);
int mlxpmd_rx_intr_enable(struct rte_eth_dev *eth_dev, uint16_t queue_id);
int mlxpmd_rx_intr_disable(struct rte_eth_dev *eth_dev, uint16_t queue_id);

/* ---- RSS (mlxpmd_rss.c) ---- */
/** Traffic classes, each with a TIR of its own; the last takes what the others leave. */
enum mlxpmd_rss_class {
	MLXPMD_RSS_CLASS_IPV4_TCP, MLXPMD_RSS_CLASS_IPV4_UDP, MLXPMD_RSS_CLASS_IPV4,
	MLXPMD_RSS_CLASS_IPV6_TCP, MLXPMD_RSS_CLASS_IPV6_UDP, MLXPMD_RSS_CLASS_IPV6,
	MLXPMD_RSS_CLASS_OTHER, MLXPMD_NB_RSS_CLASSES
};
/** What packets of a class match. */
struct mlxpmd_rss_class_match {
	uint8_t depth;	/**< 0 to 2: narrow classes come first. */
	uint8_t ip_version, ip_proto; /**< 0: any. With a protocol: no fragments. */
};
extern const struct mlxpmd_rss_class_match mlxpmd_rss_classes[MLXPMD_NB_RSS_CLASSES];
uint64_t mlxpmd_rss_supported(const struct mdv_caps *caps);
/** Entries of the RSS table of a port with that many receive queues. */
uint16_t mlxpmd_rss_reta_size(const struct mdv_caps *caps, uint16_t nb_queues);
/** Takes key and hash functions from dev_conf and lays out the default table. */
int mlxpmd_rss_configure(struct mlxpmd_port *port);
/** enum mdv_hash_field bits that a class is hashed by under rss_hf. */
uint32_t mlxpmd_rss_class_fields(uint64_t rss_hf, enum mlxpmd_rss_class class);
int mlxpmd_rss_hash_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *conf);
int mlxpmd_rss_hash_conf_get(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *conf);
int mlxpmd_reta_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *conf,
		       uint16_t size);
int mlxpmd_reta_query(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *conf,
		      uint16_t size);

/* ---- steering (mlxpmd_steer.c) ---- */
/** RQTs and TIRs over the queues, then rules for port->filter. */
int mlxpmd_steer_up(struct mlxpmd_port *port);
void mlxpmd_steer_down(struct mlxpmd_port *port);
/** Makes the rules follow port->filter; on failure the rules are as before. */
int mlxpmd_steer_sync(struct mlxpmd_port *port);
/** Writes port->reta with the queues' present numbers into the RQTs; all or none. */
int mlxpmd_steer_reta(struct mlxpmd_port *port);
/** Writes key and hash functions into the TIRs; on failure they are as before. */
int mlxpmd_steer_hash(struct mlxpmd_port *port, const uint8_t *key, uint64_t rss_hf);

/**
 * Destroys the rules for port->filter, until mlxpmd_steer_resume() creates them again: 0; or -errno, logged, and the
 * port receives nothing by them.
 */
void mlxpmd_steer_suspend(struct mlxpmd_port *port);
int mlxpmd_steer_resume(struct mlxpmd_port *port);

/* ---- rte_flow (mlxpmd_flow.c) ---- */
struct rte_flow_ops;
int mlxpmd_flow_ops_get(struct rte_eth_dev *eth_dev, const struct rte_flow_ops **ops);
int mlxpmd_rx_metadata_negotiate(struct rte_eth_dev *eth_dev, uint64_t *features);
/** Stages of probe: no flows; destroys all, and indirect actions. */
int mlxpmd_flows_up(struct mlxpmd_port *port);
void mlxpmd_flows_down(struct mlxpmd_port *port);
/** Stages of dev_start: rules of the flows, which are kept when the port is stopped. */
int mlxpmd_flows_apply(struct mlxpmd_port *port);
void mlxpmd_flows_withdraw(struct mlxpmd_port *port);
/**
 * Does a flow have this very match in the kernel's table for multicast? Rules of equal match share an entry there, and
 * a packet reaches the TIRs of all of them (mlx5_core, fs_core.c, add_rule_fg()).
 */
struct mdv_match;
bool mlxpmd_flows_have(const struct mlxpmd_port *port, const struct mdv_match *match);
/** Are there flows that the kernel puts into that table? */
bool mlxpmd_flows_multicast(const struct mlxpmd_port *port);
/**
 * Reads the counters of flows that age (mlxpmd_flow_age.c). *report: the application is to be notified.
 * @return Time until the next call, as mlxpmd_task.run().
 */
uint64_t mlxpmd_flows_age(struct mlxpmd_port *port, bool *report);
/** Queues have new RQs: writes their numbers into the RQTs of flows. 0 or -errno, logged. */
int mlxpmd_flows_replaced(struct mlxpmd_port *port);
/** The send queue has a new SQ: flows that match its packets get rules with the number of it. 0 or -errno, logged. */
int mlxpmd_flows_sq_replaced(struct mlxpmd_port *port, uint16_t tx_queue);

/**
 * May sent packets have metadata, which flows match (mlxpmd_flow_change.c)? The application has registered its field
 * (rte_flow_dynf_metadata_register()), and the device compares register A.
 */
bool mlxpmd_flow_tx_metadata(struct mlxpmd_port *port);

/* ---- addresses (mlxpmd_mac.c) ---- */
/** A new filter, in the rules and in the kernel's interface; on failure the old one stays. */
int mlxpmd_filter_set(struct mlxpmd_port *port, const struct mlxpmd_filter *want);
/** Stages of dev_start: the interface's flags and lists follow the filter only while started. */
int mlxpmd_netdev_up(struct mlxpmd_port *port);
void mlxpmd_netdev_down(struct mlxpmd_port *port);
/** Stages of probe: reads the address, puts it back at close. */
int mlxpmd_mac_up(struct mlxpmd_port *port);
void mlxpmd_mac_down(struct mlxpmd_port *port);
int mlxpmd_promiscuous_enable(struct rte_eth_dev *eth_dev);
int mlxpmd_promiscuous_disable(struct rte_eth_dev *eth_dev);
int mlxpmd_allmulticast_enable(struct rte_eth_dev *eth_dev);
int mlxpmd_allmulticast_disable(struct rte_eth_dev *eth_dev);
int mlxpmd_mac_addr_set(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr);
int mlxpmd_mac_addr_add(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr, uint32_t index,
			uint32_t pool);
void mlxpmd_mac_addr_remove(struct rte_eth_dev *eth_dev, uint32_t index);
int mlxpmd_set_mc_addr_list(struct rte_eth_dev *eth_dev, struct rte_ether_addr *list, uint32_t n);
int mlxpmd_vlan_filter_set(struct rte_eth_dev *eth_dev, uint16_t vlan_id, int on);
int mlxpmd_vlan_offload_set(struct rte_eth_dev *eth_dev, int mask);
void mlxpmd_vlan_strip_queue_set(struct rte_eth_dev *eth_dev, uint16_t queue_id, int on);

/* ---- the device's counters (mlxpmd_counts.c): tasks query them, readers get the last reply and never wait ---- */
/** Groups of counters: one query for the first, up to three for the second. */
enum mlxpmd_counts_of { MLXPMD_MISSED, MLXPMD_COUNTERS, MLXPMD_NB_COUNTS };

/** Values, and when their query was issued: mlxpmd_now_ns(). */
struct mlxpmd_counts {
	uint64_t queried_ns[MLXPMD_NB_COUNTS];
	uint64_t missed;	/**< Frames for the port's RQs that found no WQE posted (out_of_buffer). */
	uint64_t counters[MDV_COUNTERS_MAX]; /**< Vport and physical counters, in the order of mdv_counters_read(). */
};

/** State of the cache: plain data. */
struct mlxpmd_counts_info {
	uint64_t readings[MLXPMD_NB_COUNTS], failures[MLXPMD_NB_COUNTS]; /**< Since the probe. */
	unsigned int outstanding; /**< Asynchronous queries without a reply. */
	bool async;		/**< The last query was asynchronous; else the port's worker waited for it. */
};

/** Of the probe's stage "statistics". */
int mlxpmd_counts_up(struct mlxpmd_port *port);
void mlxpmd_counts_down(struct mlxpmd_port *port);
/**
 * The last values of one group; the other group's fields are not set. Any thread; never waits and takes no lock.
 * With stats_age_ms=0 only, the caller queries the device, unless it is a secondary process.
 */
void mlxpmd_counts_get(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
		       struct mlxpmd_counts *counts);
/** As mlxpmd_counts_get(), but the caller queries the device: for a reset. */
void mlxpmd_counts_read(struct mlxpmd_port *port, enum mlxpmd_counts_of which,
			struct mlxpmd_counts *counts);
/**
 * For start and stop of a port: queries both groups and waits. Both count as unread from then on.
 * No operation with stats_age_ms=0 or after the removal of the device.
 */
void mlxpmd_counts_settle(struct mlxpmd_port *port);
/** For the queue watch: whether the application sleeps on all receive queues. */
void mlxpmd_counts_asleep(struct mlxpmd_port *port, bool asleep);
/** Frames missed as they were read last. Unlike mlxpmd_counts_get() this does not count as a reading. */
uint64_t mlxpmd_counts_missed(const struct mlxpmd_port *port);
/** Microseconds since the query of these values was issued. */
uint64_t mlxpmd_counts_age_us(const struct mlxpmd_counts *counts, enum mlxpmd_counts_of which);
void mlxpmd_counts_info_get(struct mlxpmd_port *port, struct mlxpmd_counts_info *info);

/* ---- statistics (mlxpmd_stats.c) ---- */
#define MLXPMD_CLOCK_COUNTERS 3
struct mlxpmd_stats_base {
	uint64_t missed;		/**< The device's count at the last reset. */
	uint64_t out_of_buffer;		/**< The same count at the last xstats reset. */
	uint64_t counters[MDV_COUNTERS_MAX]; /**< Vport and physical counters at the last xstats reset. */
	uint64_t clock[MLXPMD_CLOCK_COUNTERS]; /**< The clock's at the last xstats reset. */
	struct mlxpmd_queue_stats released[MLXPMD_NB_KINDS]; /**< Since the last reset, of queues released since. */
	uint64_t epoch;			/**< Readings of drops. Under the port's lock. */
	struct mlxpmd_queue_stats retired[MLXPMD_NB_KINDS]; /**< Of all queues released, without resets. */
};
int mlxpmd_stats_up(struct mlxpmd_port *port);
void mlxpmd_stats_down(struct mlxpmd_port *port);
/** Counters of one queue since the last reset. */
void mlxpmd_queue_stats_get(const struct mlxpmd_queue *q, struct mlxpmd_queue_stats *out);
/** Adds the counters of a queue that is about to be released to the port's. */
void mlxpmd_queue_stats_retire(struct mlxpmd_queue *q);
/** Sum over the port's queues of one kind since the probe, without resets and with released ones. Under the lock. */
void mlxpmd_queue_stats_total(const struct mlxpmd_port *port, enum mlxpmd_queue_kind kind,
			      struct mlxpmd_queue_stats *sum);
/** queues may be NULL. */
int mlxpmd_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats, struct eth_queue_stats *queues);
int mlxpmd_stats_reset(struct rte_eth_dev *eth_dev);
int mlxpmd_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats, unsigned int n);
int mlxpmd_xstats_get_names(struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names,
			    unsigned int n);
int mlxpmd_xstats_reset(struct rte_eth_dev *eth_dev);

/* ---- queue watch and repair (mlxpmd_repair.c); the lock is held ---- */
/**
 * Watches or repairs the queues of a running port. With failed not NULL: reads the memory of every queue, without a
 * firmware command, and sets *failed if a queue waits for a repair. With NULL: repairs it by firmware commands.
 * @return true when the application is to be notified (RTE_ETH_EVENT_QUEUE_STATE).
 */
bool mlxpmd_repair_check(struct mlxpmd_port *port, uint64_t now_ns, bool *failed);
/** The device was removed: requests all queues from their bursts, permanently. The lock is held. */
void mlxpmd_repair_quiesce_all(struct mlxpmd_port *port);
/** Reads the link and stores it in ethdev. @return Whether it differs from the last one notified. */
bool mlxpmd_link_refresh(struct mlxpmd_port *port);
/** Reads the link for the recorder. */
void mlxpmd_link_record(struct mlxpmd_port *port);
/** Records that the application is notified of ethdev's link. @return Whether it differs from the last one. */
bool mlxpmd_link_set_notified(struct mlxpmd_port *port);
/** Whether the application was last notified that the link is up. */
bool mlxpmd_link_notified(const struct mlxpmd_port *port);

/* ---- tasks (mlxpmd_tasks.c) ---- */
/** Between a start that succeeded and the stop. For threads without the port's lock. */
static inline bool
mlxpmd_running(const struct mlxpmd_port *port)
{
	return __atomic_load_n(&port->running, __ATOMIC_RELAXED);
}
/** Stages of probe, the last: the tasks. */
int mlxpmd_tasks_up(struct mlxpmd_port *port);
void mlxpmd_tasks_down(struct mlxpmd_port *port);
/** Stages of dev_start, the last: queues are watched and repaired until the stop. */
int mlxpmd_tasks_start(struct mlxpmd_port *port);
void mlxpmd_tasks_stop(struct mlxpmd_port *port);
/** There is a flow that ages. */
void mlxpmd_tasks_age(struct mlxpmd_port *port);

/* ---- the card's registers (mlxpmd_fwdump.c) ---- */
/** rte_eth_dev_get_reg_info(): pairs of address and value, as they are now; needs no dump and keeps none. */
int mlxpmd_get_reg(struct rte_eth_dev *eth_dev, struct rte_dev_reg_info *info);
/**
 * After a removal: takes a dump of the registers and keeps it, if the PCI function can still be read. Needs no lock.
 * Stops soon after stop(arg) returns true.
 */
void mlxpmd_fwdump_fatal(struct mlxpmd_port *port, bool (*stop)(const void *arg), const void *arg);

/* ---- telemetry (mlxpmd_telemetry.c, mlxpmd_telemetry_devx.c) ---- */
struct rte_tel_data;
/** Stages of probe: the port is listed from then on. */
int mlxpmd_telemetry_up(struct mlxpmd_port *port);
void mlxpmd_telemetry_down(struct mlxpmd_port *port);
/** Fills the dictionary d with facts about a port, which is not closed meanwhile. @return 0 or a negative errno. */
typedef int (*mlxpmd_telemetry_fill_t)(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg);
/**
 * Starts the dictionary d and calls fill() for the port whose id params is. If fill() fails, "errno" is added to what
 * it added.
 * @return -EINVAL: no number; -ENODEV: no port of this driver; else 0.
 */
int mlxpmd_telemetry_port(const char *params, struct rte_tel_data *d, mlxpmd_telemetry_fill_t fill, void *arg);
/**
 * As mlxpmd_telemetry_port(), for replies in parts: params is a port id, and optionally the first element of the part,
 * up to most, else 0. fill() gets it as unsigned long.
 */
int mlxpmd_telemetry_from(const char *params, unsigned long most, struct rte_tel_data *d, mlxpmd_telemetry_fill_t fill);
/** Adds a child to a dictionary, which frees it; frees it at once on failure. */
int mlxpmd_telemetry_add(struct rte_tel_data *d, const char *name, struct rte_tel_data *child);
/** Adds an empty child dictionary. NULL: no memory or no room. */
struct rte_tel_data *mlxpmd_telemetry_dict(struct rte_tel_data *d, const char *name);

/** The parameters of a command, separated by commas. */
#define MLXPMD_WORDS_BYTES 1024
struct mlxpmd_words {
	char text[MLXPMD_WORDS_BYTES];
	const char *w[4];	/**< In text; may be empty. */
	unsigned int n;
};
/** -EINVAL: no text, too long or too many words. */
int mlxpmd_words_split(struct mlxpmd_words *words, const char *params);

#endif /* MLXPMD_CTRL_H */
