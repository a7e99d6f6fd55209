/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Common declarations of compare_bench: the ports of the two drivers ("arms"), control of the emulated device, and the
 * measurements. The "stock" driver is DPDK's own mlx5 driver.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <jansson.h>

#define CMP_MAX_FILL 4096
/** Bursts may write this many pointers beyond the packets that they return. */
#define CMP_PAD 256
#define CMP_MAX_BURST 256
#define CMP_MAX_QUEUES 16
#define CMP_RSS_KEY_BYTES 40

enum cmp_arm_id { CMP_STOCK, CMP_MLXPMD, CMP_ARMS };

/** The core that wrote the completions, and the caches that hold them when the driver reads them. */
enum cmp_regime {
	CMP_H,	/**< The driver's core: in its private caches. */
	CMP_X,	/**< Another core: dirty in the private caches of that core. */
	CMP_E,	/**< Another core, which then evicted them from its private caches. */
	CMP_L,	/**< Another core, which then moved them to the shared cache (cldemote). */
	CMP_D,	/**< In memory, in no cache: only for the cost of a load. */
};

/** Options of the command line. */
struct cmp_config {
	const char *pci[CMP_ARMS];
	const char *devargs[CMP_ARMS];
	const char *plugin;	/**< Path of librte_net_mlxpmd.so. */
	const char *rows;	/**< Names, separated by commas. */
	const char *out;	/**< File of the results, one JSON object per line; NULL: stdout. */
	const char *traffic;	/**< "uniform" or "mixed". */
	const char *profile;	/**< File of the addresses of executed instructions; NULL: not written. */
	uint32_t frame_bytes;	/**< Length of the frames of uniform traffic, without FCS. */
	uint16_t ring, burst, fill;
	uint16_t queues;
	bool spread;		/**< Packets arrive in all queues; else only in the first one. */
	uint32_t pool_size, pool_cache;
	uint32_t rounds;
	uint32_t simd_bits;	/**< EAL's limit of the SIMD width; 0: its default. */
	uint32_t attempts;	/**< Runs of a row until one is undisturbed. */
	uint64_t rx_offloads, tx_offloads;
	uint64_t tx_flags;	/**< ol_flags of sent packets. */
	bool tx_alternate;	/**< Set tx_flags on every second packet only. */
	uint16_t tso_segsz;	/**< Sent packets are TCP and request segments of so many bytes; 0: no. */
	bool tx_metadata;	/**< Sent packets have metadata of rte_flow, each another value. */
	enum cmp_regime regime;
	bool hugepages, gate_only;
	int cpu, device_cpu;	/**< CPU of the driver; CPU of the device in the regimes X, E and L. */
};

/** A port of one of the drivers. */
struct cmp_arm {
	enum cmp_arm_id id;
	const char *name;	/**< "stock" or "mlxpmd". */
	unsigned int emu_port;	/**< Index of the emulated port. */
	uint16_t port_id;
	struct rte_ether_addr mac;	/**< Destination of the frames that arrive. */
	uint16_t (*rx)(void *q, struct rte_mbuf **pkts, uint16_t n);
	uint16_t (*tx)(void *q, struct rte_mbuf **pkts, uint16_t n);
	void *rxq, *txq;
	void *rxqs[CMP_MAX_QUEUES];
	uint16_t n_rxqs;	/**< Queues that receive packets, the first ones of rxqs. */
	struct rte_mempool *pool;
	int ts_offset;		/**< Offset of the Rx timestamp in mbufs; -1: not configured. */
	uint64_t ts_flag;
	struct rte_mbuf *pkts[CMP_MAX_FILL + CMP_PAD];
	uint32_t n;		/**< Packets in pkts. */
	uint32_t arrive;	/**< Packets that arrive before the timed section. */
};

/* Add a member to a result. Without memory the member is missing; `compare` reports that. */
static inline void
cmp_json_number(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, json_real(value));
}

static inline void
cmp_json_string(json_t *o, const char *key, const char *value)
{
	json_object_set_new(o, key, json_string(value));
}

static inline void
cmp_json_bool(json_t *o, const char *key, bool value)
{
	json_object_set_new(o, key, json_boolean(value));
}

static inline json_t *
cmp_json_child(json_t *o, const char *key)
{
	json_t *child = json_object();

	json_object_set_new(o, key, child);
	return child;
}

/* compare_port.c */
extern uint8_t cmp_rss_key[CMP_RSS_KEY_BYTES];
/** Initializes EAL, probes one port with the stock driver and one with mlxpmd, configures and starts both. */
int cmp_ports_open(const struct cmp_config *c, struct cmp_arm arms[CMP_ARMS]);
void cmp_ports_close(struct cmp_arm arms[CMP_ARMS]);
/** Lets the driver receive all frames, or only those to arm->mac. */
int cmp_port_promiscuous(const struct cmp_arm *arm, bool on);
/** Versions, burst functions, devargs and so on as an object; NULL: no memory. */
json_t *cmp_settings(const struct cmp_config *c, const struct cmp_arm arms[CMP_ARMS]);

/* compare_device.c: all return 0, or -errno after printing the reason. */
/** Connects to the emulator that this process runs on. */
int cmp_device_open(const struct cmp_config *c);
void cmp_device_close(void);
/** Lets the device run by itself, or only during the calls below. */
int cmp_device_run(bool run);
/** Lets frames arrive at the port and puts their completions into the caches that the regime requires. */
int cmp_device_inject(const struct cmp_arm *arm, uint32_t frames, const char *file);
/** Lets the device execute all WQEs of written doorbells. */
int cmp_device_settle(void);
/** Counters of a port by name, an object for the caller to delete; NULL on failure. */
json_t *cmp_device_counters(const struct cmp_arm *arm);
/** Sets the regime: pins the device's threads, and cmp_device_inject() prepares the caches accordingly. */
int cmp_device_regime(const struct cmp_config *c, enum cmp_regime regime);
/** One turn of a loop that waits for the device's thread: keeps the processor as the bursts of a busy port do. */
void cmp_device_wait(void);
/** Whether the processor can move lines to the shared cache, which regime L needs. */
bool cmp_device_demotes(void);
/** TSC ticks of a load of a cache line that was written as the regime requires. */
double cmp_device_line_ticks(const struct cmp_config *c, enum cmp_regime regime);

/* compare_evict.c */
/** Starts a thread on the device's CPU that writes lines and evicts its private caches. 0 or -errno. */
int cmp_evictor_start(int cpu);
void cmp_evictor_stop(void);
/** Lets the thread write n lines, then evict its caches (E) or move the lines to the shared cache (L), and waits. */
void cmp_evictor_do(uint8_t *lines, uint32_t n, enum cmp_regime regime);

/* compare_traffic.c */
#define CMP_TRAFFIC_FILES 8
/** Writes the capture files that the device injects into a temporary folder. 0 or -errno. */
int cmp_traffic_make(const struct cmp_config *c, const struct cmp_arm arms[CMP_ARMS]);
/** The capture file of a round. */
const char *cmp_traffic_file(const struct cmp_arm *arm, uint32_t round);
void cmp_traffic_remove(void);
/** Writes frame number i of the frames to be sent. Returns its length. */
uint32_t cmp_traffic_frame(const struct cmp_config *c, uint8_t *to, uint32_t i);

typedef uint32_t (*cmp_timed)(struct cmp_arm *arm, const struct cmp_config *c);

/** One kind of measurement. Only `timed` is timed. prepare() and settle() return false on failure. */
struct cmp_row {
	const char *name, *unit, *what;
	bool (*prepare)(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round);
	/** Called right before the timed section; NULL: nothing. */
	void (*warm)(struct cmp_arm *arm, const struct cmp_config *c);
	/** @return packets or polls done. */
	cmp_timed timed;
	/** The part of the timed section outside of the driver; called with bursts that do nothing. */
	cmp_timed calibrate;
	bool (*settle)(struct cmp_arm *arm, const struct cmp_config *c);
	uint32_t units;		/**< Units of a sample; 0: c->fill. */
	uint32_t gates;		/**< CMP_GATE_*: checks before the measurement. */
	bool recycles;		/**< Frees mbufs during the sample before it allocates as many. */
};
#define CMP_GATE_RX 1u		/**< Equal mbufs from equal frames. */
#define CMP_GATE_TX 2u		/**< Equal frames on the wire. */
#define CMP_GATE_IDLE 4u	/**< No packets; also counts the mbufs that are written to. */

/* compare_rows.c */
extern const struct cmp_row cmp_rows[];
const struct cmp_row *cmp_row_find(const char *name);
/** Receives from the first queue until arm->pkts has c->fill packets or no more come. */
uint32_t cmp_drain(struct cmp_arm *arm, const struct cmp_config *c);
/** As cmp_drain(), from all queues in turn. */
uint32_t cmp_drain_queues(struct cmp_arm *arm, const struct cmp_config *c);
/** Fills arm->pkts with packets to send. */
bool cmp_tx_prepare(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round);
/** Opens the clock page, with which an application converts the stock driver's timestamps. 0 or -errno. */
int cmp_clock_open(const struct cmp_config *c);
void cmp_clock_close(void);

/* compare_gate.c */
/** Whether both drivers do the same work in this row; prints the first difference. Adds "gate" to out. */
bool cmp_gate(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	      json_t *out);

/* compare_measure.c */
/**
 * Packets of a sample that mempool caches can hold, with room to spare: c->fill or, if it is near the caches' size,
 * fewer from DPDK 26.07 on; before, a cache holds 1.5 times its size.
 */
uint32_t cmp_fill_limit(const struct cmp_arm *arm, const struct cmp_config *c);
/** Measures a row: interleaved rounds, then instructions. Adds the results to out. */
bool cmp_measure(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS],
		 const struct cmp_config *c, json_t *out);
/** Adds the device's counters per unit of the row's work, for each arm. */
bool cmp_count(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	       json_t *out);
/** Core cycles per TSC tick, measured with a chain of multiplications of known latency. */
double cmp_core_per_tsc(void);

/** Set by SIGINT and SIGTERM; loops end then. */
extern volatile bool cmp_stop;

/** Prints one line on stderr. */
#define CMP_LOG(fmt, ...) fprintf(stderr, "compare_bench: " fmt "\n", ##__VA_ARGS__)

#endif /* COMPARE_H */
