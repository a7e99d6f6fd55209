/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Common declarations of dpdk-test-mlx: configuration, ports, streams, modes.
 */

#ifndef TM_H
#define TM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "log.h"

#define TM_NAME "dpdk-test-mlx"
#define TM_MAX_BURST 512
#define TM_MAX_QUEUES RTE_MAX_QUEUES_PER_PORT
#define TM_MAX_STREAMS 8192
#define TM_MAX_REASONS 16
#define TM_MIN_FRAME 60u	/* Ethernet's minimum without the frame check sequence */
#define TM_NS_PER_S UINT64_C(1000000000)

/** Exit codes of the program. */
enum tm_exit { TM_EXIT_OK = 0, TM_EXIT_FAILED = 1, TM_EXIT_SETUP = 2 };

/** Which port sends the packets that a port receives. */
enum tm_topology { TM_TOPOLOGY_PAIRED, TM_TOPOLOGY_CHAINED, TM_TOPOLOGY_LOOP };

/** State of the polling lcores; DRAIN: receive packets in flight, make no new ones. */
enum tm_phase { TM_PHASE_STOPPED, TM_PHASE_RUN, TM_PHASE_DRAIN };

struct tm_app;
struct tm_stream;
struct tm_gen;
struct tm_replay;
struct tm_sink;
struct tm_stamp_list;

/** A forwarding mode. */
struct tm_engine {
	const char *name;
	const char *help;
	bool generates;		/**< makes packets */
	bool checks;		/**< checks received packets */
	/** Poll one stream once; returns the number of packets received and sent. */
	uint32_t (*poll)(struct tm_app *app, struct tm_stream *s);
};

extern const struct tm_engine tm_engine_io, tm_engine_mac, tm_engine_macswap, tm_engine_rxonly;
extern const struct tm_engine tm_engine_txonly, tm_engine_gen;

/** Files bound to a port, by option or command; NULL = none. Owned (heap). */
struct tm_port_files {
	char *pcap_in, *pcap_out, *meta_out;
};

/** Values of options and `set` commands. */
struct tm_config {
	const struct tm_engine *engine;
	enum tm_topology topology;
	uint64_t portmask, genmask;	/**< 0 = all */
	uint16_t rxq, txq, rxd, txd, burst;
	uint32_t mbufs;			/**< 0 = computed */
	uint16_t mbuf_size;		/**< data room including headroom, bytes */
	uint32_t mtu, max_pkt_len;	/**< 0 = the device's own */
	uint16_t len_min, len_max;	/**< generated frame without FCS, bytes */
	uint64_t count;			/**< sent per generating port, or received in total; 0 = endless */
	uint64_t rate;			/**< packets per second and port; 0 = no limit */
	uint32_t window;		/**< packets in flight per sending queue; 0 = no limit */
	uint32_t flows;			/**< per generating queue */
	uint32_t vlan;			/**< VLAN id of generated packets, 0 = untagged */
	uint64_t seed;
	double run_s;			/**< negative = no limit */
	double drain_s, stats_period_s;
	uint32_t tx_retries;
	uint64_t rx_offloads, tx_offloads;
	bool rx_offloads_given;		/**< if not: timestamp, if the port offers it */
	bool promisc, strict, interactive, auto_start, quiet;
	bool rx_intr;			/**< sleep until an Rx interrupt */
	const char *cmds_path, *json_path;
	struct tm_port_files files[RTE_MAX_ETHPORTS];
	bool has_peer_mac[RTE_MAX_ETHPORTS];
	struct rte_ether_addr peer_mac[RTE_MAX_ETHPORTS];
};

/** Unit of a port's Rx timestamps. */
enum tm_clock_unit { TM_CLOCK_NONE, TM_CLOCK_NS, TM_CLOCK_US, TM_CLOCK_TICKS };

struct tm_clock {
	enum tm_clock_unit unit;
	bool utc;			/**< epoch is 1970-01-01 UTC, within UTC_TOLERANCE_NS (clock.c) */
	bool readable;			/**< rte_eth_read_clock() works */
	uint64_t base_dev, base_mono;	/**< first reading: device, host CLOCK_MONOTONIC in ns */
	double hz;			/**< rate of rte_eth_read_clock() since then */
	int64_t offset_ns;		/**< device clock minus host CLOCK_REALTIME, when utc */
};

/** A port: the capabilities from ethdev, and the configuration. */
struct tm_port {
	uint16_t port_id, peer;
	bool started, promisc_set;
	uint16_t rxq, txq, rxd, txd, mtu;
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_ether_addr mac;
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	struct tm_clock clock;
	struct rte_eth_stats final_stats;	/**< read at the end of the last run */
	rte_spinlock_t txq_lock[TM_MAX_QUEUES];
	bool txq_shared[TM_MAX_QUEUES];
	struct tm_sink *pcap_out, *meta_out, *stamps_out;
	bool record;			/**< record Rx timestamps (clock record) */
	struct tm_stamp_list *recorded;	/**< timestamps of the last run; owned */
	uint64_t written_pcap, written_meta;	/**< packets written in the last run */
	struct tm_replay *replay;
};

/** Rx timestamps of one stream, in the port's unit. */
struct tm_stamps {
	uint64_t count, first, last, backwards;
};

/** Counters of one stream; only its lcore writes them. */
struct tm_stats {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, tx_dropped, tx_retries, tx_refused;
	uint64_t gen_nombuf, window_stalls;
	uint64_t chk_ok, chk_foreign, chk_corrupt, chk_length, chk_cksum, chk_nomem;
	uint64_t rx_sleeps, rx_wakes, rx_slept_ns;	/**< with --rx-intr */
};

/** Token bucket of a sender with --rate. */
struct tm_pacer {
	double per_tsc;			/**< packets per TSC cycle; 0 = no limit */
	uint64_t start_tsc, used;
};

/** One RX queue and the TX queue it feeds; polled by exactly one lcore. */
struct tm_stream {
	uint16_t index, rx_port, rx_queue, tx_port, tx_queue;
	bool has_rx, has_tx;
	unsigned int lcore;
	struct tm_stats stats;
	struct tm_stamps stamps;
	struct tm_replay *replay;	/**< capture that this stream sends on tx_port */
	/* generator */
	struct tm_pacer pacer;
	uint64_t gen_quota;		/**< packets to make; UINT64_MAX = endless */
	uint64_t gen_built, gen_sent;
	uint64_t gen_acked;		/**< atomic: distinct packets received, by any lcore */
	uint64_t gen_written_off;	/**< packets that no longer count for the window */
	uint64_t gen_progress_tsc, gen_progress_acked;
	uint32_t gen_next_flow;
	struct rte_mbuf *pending[TM_MAX_BURST];
	uint16_t pending_head, pending_count;
} __rte_cache_aligned;

/** The program. */
struct tm_app {
	struct tm_config cfg;
	struct tm_port ports[RTE_MAX_ETHPORTS];
	uint16_t port_ids[RTE_MAX_ETHPORTS];	/**< ports in use */
	uint16_t nb_ports;
	struct rte_mempool *pool;
	struct tm_stream *streams;		/**< array of nb_streams */
	uint16_t nb_streams;
	struct tm_gen *gen;
	int phase;				/**< enum tm_phase, atomic */
	bool running;
	unsigned int run_no;			/**< number of runs started */
	bool result_known;			/**< the last run was checked */
	bool result_ok;
	unsigned int nb_workers;
	int intr_epfd[RTE_MAX_LCORE];		/**< epoll descriptors with --rx-intr, else -1 */
	uint64_t start_ns, stop_ns;		/**< CLOCK_MONOTONIC of the last run */
	uint64_t next_stats_ns;
	int ts_offset;				/**< dynamic mbuf field of the Rx timestamp, -1 = none */
	uint64_t ts_flag;
	volatile bool quit;			/**< set by signal or command */
	volatile int signal;
	char *reasons[TM_MAX_REASONS];		/**< of exit code 1; owned */
	unsigned int failures;
};

/* args.c, help.c */
struct tm_arg {
	const char *name, *value, *help;	/**< value: its name in the help, NULL = no value */
	int (*set)(struct tm_config *cfg, const char *value);	/**< 0, or -EINVAL after tm_error() */
};
extern const struct tm_arg tm_args[];
void tm_config_defaults(struct tm_config *cfg);
/** Parse the options after "--"; 0 or -EINVAL after tm_error(). */
int tm_args_parse(struct tm_config *cfg, int argc, char **argv);
void tm_config_free(struct tm_config *cfg);
void tm_help_print(FILE *out);

/* engines.c */
/** The mode of this name; NULL if there is none. */
const struct tm_engine *tm_engine_find(const char *name);
/** Mode number i of the table; NULL after the last. */
const struct tm_engine *tm_engine_at(unsigned int i);

/* parse.c: text to values; 0 or -EINVAL without a message */
int tm_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value);
/** The same for an option, with a message that begins with its name. */
int tm_parse_number(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *value);
int tm_parse_seconds(const char *text, double *value);
int tm_parse_len(const char *text, uint16_t *min, uint16_t *max);
/** Comma-separated offload names to bits; reports an unknown name with tm_error(). */
int tm_offloads_parse(bool rx, const char *list, uint64_t *bits);
/** Names of offload bits, comma-separated, in buf. */
const char *tm_offloads_str(bool rx, uint64_t bits, char *buf, size_t size);
/** Write text as a JSON string, with quotes. */
void tm_json_string(FILE *out, const char *text);

/* port.c: 0 or negative errno after tm_error() */
/** Find, configure and start the ports; creates the pool. */
int tm_ports_setup(struct tm_app *app);
int tm_port_start(struct tm_app *app, uint16_t port_id);
int tm_port_stop(struct tm_app *app, uint16_t port_id);
/** Stop and close all ports; failures are recorded with tm_fail(). */
void tm_ports_close(struct tm_app *app);
/** Is it one of app->port_ids? */
bool tm_port_used(const struct tm_app *app, uint16_t port_id);
/** Largest frame without FCS that the port's MTU permits. */
uint32_t tm_port_frame_max(const struct tm_port *p);
/** Bytes of a frame with FCS in addition to the MTU: RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN or more. */
uint32_t tm_port_overhead(const struct rte_eth_dev_info *info);

/* pool.c: 0 or negative errno after tm_error() */
int tm_pool_create(struct tm_app *app);

/* stream.c */
/** Create the streams and assign them to lcores; 0 or negative errno after tm_error(). */
int tm_streams_create(struct tm_app *app);
/** Receive a burst; updates counters and timestamps, writes captures. */
uint16_t tm_rx(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts);
/** Send as many packets as the queue accepts in one call; returns their number. */
uint16_t tm_tx(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n);
/** Send all packets with --tx-retries; frees and counts those that were not sent. */
void tm_tx_all(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n);
void tm_pacer_start(struct tm_pacer *p, uint64_t pps);
/** Number of packets that may be sent now, at most max. */
uint32_t tm_pacer_allow(const struct tm_pacer *p, uint32_t max);
static inline int
tm_phase_get(const struct tm_app *app)
{
	return __atomic_load_n(&app->phase, __ATOMIC_RELAXED);
}

/* intr.c */
/** 0, or -EINVAL after tm_error() if the run sends packets without receiving any, and cannot sleep. */
int tm_intr_check(const struct tm_config *cfg);
/** With --rx-intr: add each Rx queue to the epoll set of its lcore. */
int tm_intr_open(struct tm_app *app);
void tm_intr_close(struct tm_app *app);
/** Sleep until an interrupt of one of the lcore's queues, at most 20 ms. */
void tm_intr_sleep(struct tm_app *app, unsigned int lcore);

/* run.c */
/** Open the files, allocate the flows, launch the lcores; 0 or negative errno after tm_error(). */
int tm_run_start(struct tm_app *app);
/** Wait; poll the streams if there is no worker lcore; print periodic statistics. */
void tm_run_idle(struct tm_app *app, uint64_t ns);
/** Does the run end by itself, by --count or at the end of a capture? */
bool tm_run_finite(const struct tm_app *app);
/** True when the count is reached and all captures are sent. */
bool tm_run_done(struct tm_app *app);
/** Wait until done or quit, or for limit_ns (UINT64_MAX = no limit). */
void tm_run_wait(struct tm_app *app, uint64_t limit_ns);
/** Stop sending, receive packets in flight, stop polling, close captures, check the result. */
int tm_run_stop(struct tm_app *app);

/* stats.c */
/** Sum the counters of the streams from rx_port to tx_port; -1 = any port. */
void tm_stats_sum(const struct tm_app *app, int rx_port, int tx_port, struct tm_stats *sum);
/** Reset counters and timestamps of all streams. */
void tm_stats_clear(struct tm_app *app);

/* report.c, json.c */
void tm_report_forward(const struct tm_app *app, FILE *out);
void tm_report_port_stats(const struct tm_app *app, uint16_t port_id, FILE *out);
void tm_report_port_xstats(uint16_t port_id, bool all, FILE *out);
void tm_report_port_info(const struct tm_app *app, uint16_t port_id, FILE *out);
void tm_report_config(const struct tm_app *app, FILE *out);
void tm_report_period(const struct tm_app *app, FILE *out);
void tm_report_final(struct tm_app *app, FILE *out);
/** The last line: "RESULT: OK", or "RESULT: FAILED" with the reasons. */
void tm_report_result(const struct tm_app *app, FILE *out);
int tm_json_write(const struct tm_app *app, const char *path);

/* clock.c */
/** CLOCK_MONOTONIC, CLOCK_REALTIME in ns. */
uint64_t tm_now_ns(void);
uint64_t tm_realtime_ns(void);
/** Determine unit and epoch of the port's clock; takes 20 ms. */
void tm_clock_probe(struct tm_port *p);
/** Measure the rate again, over the time since the probe. */
void tm_clock_refresh(struct tm_port *p);
/** Derive the unit from a timestamp, if rte_eth_read_clock() does not work. */
void tm_clock_guess(struct tm_port *p, uint64_t stamp);
void tm_stamps_sum(const struct tm_app *app, uint16_t port_id, struct tm_stamps *sum);
const char *tm_clock_unit_str(const struct tm_clock *c);
const char *tm_clock_epoch_str(const struct tm_clock *c);
/** The packet's timestamp in ns; host_ns if it has none or its unit is unknown. */
uint64_t tm_stamp_ns(const struct tm_app *app, uint16_t port_id, struct rte_mbuf *m,
		     uint64_t host_ns);

/* clock_report.c */
void tm_report_clock(const struct tm_app *app, uint16_t port_id, FILE *out);

/* replay.c: captures sent out of ports; 0 or negative errno after tm_error() */
int tm_replays_open(struct tm_app *app);
/** Close the captures; their counters remain for the report until the next open or free. */
void tm_replays_close(struct tm_app *app);
void tm_replays_free(struct tm_app *app);
/** Send the next packets of the stream's capture; returns their number. */
uint32_t tm_replay_poll(struct tm_app *app, struct tm_stream *s);
bool tm_replay_done(const struct tm_replay *r);
/** Print one line of the report. */
void tm_replay_report(const struct tm_port *p, FILE *out);
void tm_replay_json(const struct tm_port *p, FILE *out);
/** Record incomplete or invalid captures as reasons for exit code 1. */
void tm_replay_check(struct tm_app *app, struct tm_port *p);

/* pcap_file.c */
int tm_pcap_check(const char *path);
/** Open a capture of Ethernet frames, timestamps in ns; NULL after tm_error(). pcap_close() it. */
struct pcap *tm_pcap_open(const char *path);

struct tm_sink_ops {
	int (*write)(struct tm_sink *k, const struct tm_app *app, const struct tm_stream *s,
		     struct rte_mbuf *m, uint64_t host_ns);
	int (*close)(struct tm_sink *k);
};
/** A file to which every packet that a port receives is written. */
struct tm_sink {
	const struct tm_sink_ops *ops;
	char *path;
	rte_spinlock_t lock;
	uint64_t packets;
	int error;			/**< first negative errno of a write */
	void *file;
	uint8_t *flat;			/**< buffer for a packet of several segments */
};
/** Open k->path, set k->ops and k->file; 0 or negative errno after tm_error(). */
int tm_pcap_sink_open(struct tm_sink *k);
int tm_meta_sink_open(struct tm_sink *k);
/** Open or close the files of all ports; failures to write are recorded with tm_fail(). */
int tm_sinks_open(struct tm_app *app);
void tm_sinks_close(struct tm_app *app);
/** Write a burst of received packets to the files of the port. */
void tm_sink_write(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n);
#define TM_SINK_FLAT_BYTES 65536u
/** The packet's bytes in one piece, in k->flat if it has several segments; NULL if it is too long. */
static inline const void *
tm_sink_flat(struct tm_sink *k, const struct rte_mbuf *m)
{
	return m->pkt_len <= TM_SINK_FLAT_BYTES ?
		rte_pktmbuf_read(m, 0, m->pkt_len, k->flat) : NULL;
}

/* gen.c */
/** Allocate the flows of a run and reset the streams; 0 or negative errno after tm_error(). */
int tm_gen_create(struct tm_app *app);
void tm_gen_free(struct tm_app *app);
/** Make and send packets, as many as count, rate and window permit; returns their number. */
uint32_t tm_gen_transmit(struct tm_app *app, struct tm_stream *s);
/** Free packets that were made but not sent, and set the flows' numbers of packets sent. */
void tm_gen_settle(struct tm_app *app);
bool tm_gen_done(const struct tm_app *app);
/** Packets sent, and distinct packets received. */
void tm_gen_progress(const struct tm_app *app, uint64_t *sent, uint64_t *acked);

/* cmds.c: 0 or negative errno after tm_fail() */
int tm_cmds_script(struct tm_app *app, const char *path);
int tm_cmds_interactive(struct tm_app *app);

/* cmds_flow.c */
/** Forget the flows and indirect actions of the commands; closing the ports destroys them. */
void tm_flows_free(void);

#endif
