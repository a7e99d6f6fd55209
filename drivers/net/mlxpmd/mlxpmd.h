/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The state of a port, and what bursts and control plane share.
 */
#ifndef MLXPMD_H
#define MLXPMD_H

#include <pthread.h>
#include <sys/queue.h>

#include <ethdev_driver.h>
#include <rte_ether.h>
#include <rte_spinlock.h>

#include <mdv.h>
#include <mdv_vector.h>

#include "mlxpmd_log.h"
#include "mlxpmd_rxtx.h"
#include "mlxpmd_sched.h"
#include "mlxpmd_timesync.h"

#define MLXPMD_DRIVER_NAME "net_mlxpmd"
/** Queues of a kind: what ethdev has in every release (RTE_MAX_QUEUES_PER_PORT). */
#define MLXPMD_MAX_QUEUES 1024
#define MLXPMD_MAX_MAC_ADDRS 128
#define MLXPMD_MAX_MC_ADDRS 128
#define MLXPMD_RSS_KEY_BYTES 40
/** Entries of the RSS table: as long as the queues have two each, and most. */
#define MLXPMD_RETA_USUAL 512
#define MLXPMD_RETA_MAX 2048

/** Instruction sets of burst functions. */
enum mlxpmd_burst_mode {
	MLXPMD_BURST_AUTO,
	MLXPMD_BURST_SCALAR,
	MLXPMD_BURST_NEON,
	MLXPMD_BURST_SSE,
	MLXPMD_BURST_AVX2,
	MLXPMD_BURST_AVX512VL,	/**< AVX-512 with registers of 256 bits. */
	MLXPMD_BURST_AVX512,
	MLXPMD_BURST_IFMA,	/**< Receive only. */
};

/**
 * The devargs: key, which is the field of struct mlxpmd_devargs, and alternatives. The words of an enumeration stand in
 * the order of its values, "min..max" is a range of numbers. Parser, messages, telemetry and the text for
 * dpdk-pmdinfo come from this table.
 */
#define MLXPMD_DEVARGS(ROW) \
	ROW(rx_burst, "auto|scalar|neon|sse|avx2|avx512vl|avx512|ifma") \
	ROW(tx_burst, "auto|scalar|neon|sse|avx2|avx512vl|avx512") \
	ROW(clock, "auto|page|host|realtime|raw") \
	ROW(rxq_cqe_comp_en, "0..4|128..132") \
	ROW(stats_age_ms, "0|10..60000") \
	ROW(txq_inline_mpw, "0..930") \
	ROW(txq_inline_max, "0..930") \
	ROW(txqs_min_inline, "0..1024") \
	ROW(open, "verbs|vfio") \
	ROW(doorbell, "auto|nc|wc") \
	ROW(mprq_en, "0|1") \
	ROW(mprq_log_stride_num, "0|3..16") \
	ROW(mprq_log_stride_size, "0|6..13") \
	ROW(mprq_max_memcpy_len, "0..65535") \
	ROW(rxqs_min_mprq, "0..65535") \
	ROW(lro_timeout_usec, "0..65535") \
	ROW(recorder, "off|on")

/** Memory type of the doorbell registers: non-cached or write-combining. */
enum mlxpmd_doorbell { MLXPMD_DOORBELL_AUTO, MLXPMD_DOORBELL_NC, MLXPMD_DOORBELL_WC };

/** Bit of rxq_cqe_comp_en: enhanced layout, if the device has it. */
#define MLXPMD_COMP_ENHANCED 128u

struct mlxpmd_devargs {
	enum mlxpmd_burst_mode rx_burst, tx_burst;
	enum mdv_clock_source clock;
	enum mdv_open_mode open;
	enum mlxpmd_doorbell doorbell;
	/** enum mdv_mini_cqe, and MLXPMD_COMP_ENHANCED: the numbers of net_mlx5. */
	unsigned int rxq_cqe_comp_en;
	unsigned int stats_age_ms;	/**< Maximum age of the device's counters; 0: each reading queries them. */
	/** Striding receive queues, from that number of queues on. Sizes: 0 is the default. */
	unsigned int mprq_en, mprq_log_stride_num, mprq_log_stride_size, mprq_max_memcpy_len, rxqs_min_mprq;
	unsigned int lro_timeout_usec;	/**< Longest LRO session; 0: the shortest that the device has. */
	/** Longest packets in bytes that are copied into multi-packet WQEs, and into SEND WQEs; 0: none. */
	unsigned int txq_inline_mpw, txq_inline_max;
	unsigned int txqs_min_inline;	/**< Ports with fewer Tx queues copy none. */
	unsigned int recorder;		/**< After a failure the recorder is written to a file. */
};
/**
 * Parses devargs; one line per mistake that names the key and what is allowed.
 *
 * @return 0; -EINVAL for a mistake; 1 when the generic keys class= or driver= name another
 *   driver.
 */
int mlxpmd_devargs_parse(const struct rte_devargs *devargs, struct mlxpmd_devargs *out);
struct rte_tel_data;
/** Adds all values to a telemetry dictionary. */
void mlxpmd_devargs_show(const struct mlxpmd_devargs *args, struct rte_tel_data *dict);

struct mlxpmd_steer; /* mlxpmd_steer.c */
struct mlxpmd_flows; /* mlxpmd_flow.h */
struct mlxpmd_tasks; /* mlxpmd_tasks.c */
struct mlxpmd_stats_base; /* mlxpmd_stats.c */
struct mlxpmd_counts_cache; /* mlxpmd_counts.c */

/** Frames that the application requested. */
struct mlxpmd_filter {
	bool promisc, allmulti;
	bool vlan_on;		/**< Only untagged frames and those of vlan_ids. */
	uint64_t vlan_ids[RTE_ETHER_MAX_VLAN_ID / 64 + 1];
	struct rte_ether_addr mac[MLXPMD_MAX_MAC_ADDRS]; /**< Zero: unused; [0] is the default. */
	struct rte_ether_addr mc[MLXPMD_MAX_MC_ADDRS];
	uint16_t nb_mc;
};

/** State that the port gave the kernel interface, and the one that it found and restores at close. */
struct mlxpmd_netdev {
	bool promisc, allmulti;
	bool raised;		/**< It was down, and brought up for the port. */
	bool mtu_known;
	uint16_t mtu, mtu_found;
	struct rte_ether_addr mac_found;
	struct rte_ether_addr mc[MLXPMD_MAX_MC_ADDRS];
	uint16_t nb_mc;
	struct rte_ether_addr uc[MLXPMD_MAX_MAC_ADDRS]; /**< Further unicast addresses. */
	uint16_t nb_uc;
	bool uc_refused; /**< It took none: promiscuous mode instead, which was logged. */
	bool vf_noted;	/**< What these modes are on a virtual function was logged. */
};

#define MLXPMD_RECORDED_DOWN 1
#define MLXPMD_RECORDED_UP 2
/** What the recorder remembers between two calls (mlxpmd_recorder.c). */
struct mlxpmd_recorder {
	uint64_t drops_due_ns, drops_wait_ns, drops[4]; /**< Lost packets: when to look, how often, and so far. */
	uint64_t written_ns;	/**< When a file was written last; 0: never. */
	uint8_t link;		/**< MLXPMD_RECORDED_*; 0: none yet. Atomic. */
	bool given_up;		/**< A queue was given up, and no file is written yet. Worker only. */
};

/** One port. eth_dev->data->dev_private. */
struct mlxpmd_port {
	struct rte_eth_dev *eth_dev;
	uint16_t port_id;
	struct mdv_dev *mdv;
	struct mlxpmd_devargs args;
	struct mlxpmd_clock *clock;	/**< mlxpmd_clock.c; NULL when no timestamps can be had. */
	struct mlxpmd_steer *steer;	/**< RQT, TIRs and rules of a started port. */
	struct mlxpmd_flows *flows;	/**< Of rte_flow. */
	bool isolated;			/**< The port has no rules but those of flows. */
	struct mdv_obj *tis;
	struct mdv_obj *q_counter;
	struct mlxpmd_stats_base *stats_base; /**< What reset remembers. */
	struct mlxpmd_counts_cache *counts; /**< What the device counts, as it was read last. */
	uint8_t rss_key[MLXPMD_RSS_KEY_BYTES];
	uint64_t rss_hf;		/**< 0: no RSS, everything goes to the first table entry. */
	uint16_t reta[MLXPMD_RETA_MAX], reta_size;
	struct rte_ether_addr mac;	/**< The interface's present address. */
	/**
	 * Serializes the application's calls and the port's tasks: held to change queues, or what names
	 * them. Never held while the application is called.
	 */
	pthread_mutex_t lock;
	struct mlxpmd_sched worker;	/**< Thread for tasks that issue firmware commands. */
	struct mlxpmd_tasks *tasks;
	bool running;			/**< Between a start that succeeded and the stop. Under the lock. */
	bool link_notified;		/**< Link state that the application was last notified of: atomic. */
	struct mlxpmd_queue_list queues[MLXPMD_NB_KINDS]; /**< That are set up, by number. Under the lock. */
	struct mlxpmd_timesync timesync;
	struct mlxpmd_recorder recorder;
	enum mdv_mini_cqe mini_cqe;	/**< Of the receive queues' compressed completions, */
	bool mini_cqe_enhanced;	/**< their layout; false without compression; */
	const char *mini_cqe_why;	/**< and why; NULL: the port was not started yet. */
	const char *rx_burst_name, *rx_burst_why, *tx_burst_name, *tx_burst_why;
	/**
	 * For secondary processes, which have burst functions at other addresses: the sets of features of the bursts;
	 * MLXPMD_NO_SET: they may not poll. Atomic.
	 */
	uint16_t rx_set, tx_set;
	bool tx_prepares;		/**< tx_pkt_prepare is mlxpmd_tx_prepare(). */
	uint32_t epoch;			/**< Changes when a queue gets new objects, before it is READY. Atomic. */
	struct mlxpmd_filter filter;
	struct mlxpmd_netdev netdev;
	bool looped;	/**< The PHY returns sent frames (lpbk_mode), until the port stops. */
	unsigned int netdev_index;	/**< Of the kernel interface, 0: none here. */
	TAILQ_ENTRY(mlxpmd_port) next;	/**< Telemetry's list of ports. */
};
#define MLXPMD_NO_SET UINT16_MAX
#define MLXPMD_PORT(eth_dev) ((struct mlxpmd_port *)(eth_dev)->data->dev_private)

/* ---- clock (mlxpmd_clock.c): per-port source, private snapshots for all who read ---- */
/** Stages of probe. Without a source the port has no clock, and offers no timestamps. */
int mlxpmd_clock_open(struct mlxpmd_port *port);
void mlxpmd_clock_close(struct mlxpmd_port *port);
/** rte_eth_read_clock: same domain as RX timestamps (ns, or ticks with clock=raw); no device read for ns. */
int mlxpmd_read_clock(struct rte_eth_dev *eth_dev, uint64_t *clock);

/* ---- choice of burst functions (mlxpmd_burst_select.c): sets eth_dev->rx_pkt_burst, names and reasons ---- */
void mlxpmd_burst_select(struct rte_eth_dev *eth_dev);
/** Stage of dev_start, before the queues are created: whether completions are compressed, and how. */
int mlxpmd_mini_cqe_select(struct mlxpmd_port *port);
int mlxpmd_rx_burst_mode_get(struct rte_eth_dev *, uint16_t queue_id, struct rte_eth_burst_mode *);
int mlxpmd_tx_burst_mode_get(struct rte_eth_dev *, uint16_t queue_id, struct rte_eth_burst_mode *);
const uint32_t *mlxpmd_ptypes_get(struct rte_eth_dev *eth_dev, size_t *count);

#endif /* MLXPMD_H */
