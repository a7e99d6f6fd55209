/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What the files of compare_bench share: the two drivers' ports ("arms"), the emulated device under
 * control, and what is measured on them.
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

enum cmp_arm_id { CMP_STOCK, CMP_OURS, CMP_ARMS };

/** Which agent wrote the completions, and where they are when the driver reads them. */
enum cmp_regime {
	CMP_H,	/**< The driver's own core: its private caches. */
	CMP_X,	/**< Another core: dirty in that core's private caches. */
	CMP_E,	/**< Another core, which then evicted them from its private caches. */
	CMP_D,	/**< Memory, in no cache: for the cost of a line only. */
};

/** Options of the command line. */
struct cmp_config {
	const char *pci[CMP_ARMS];
	const char *devargs[CMP_ARMS];
	const char *plugin;	/**< Path of librte_net_mlxpmd.so. */
	const char *rows;	/**< Names, separated by commas. */
	const char *out;	/**< Results, one JSON object a line; NULL: stdout. */
	const char *traffic;	/**< "uniform" or "mixed". */
	const char *profile;	/**< Where the stepped addresses go; NULL: they are dropped. */
	uint32_t frame_bytes;	/**< Without FCS, of uniform traffic. */
	uint16_t ring, burst, fill;
	uint16_t queues;
	uint32_t pool_size, pool_cache;
	uint32_t rounds;
	uint32_t simd_bits;	/**< EAL's limit of registers; 0: its default. */
	uint32_t attempts;	/**< At a run that the machine leaves alone. */
	uint64_t rx_offloads, tx_offloads;
	uint64_t tx_flags;	/**< ol_flags of sent packets; alternating packets have none ... */
	bool tx_alternate;	/**< ... when this is set. */
	enum cmp_regime regime;
	bool hugepages, gate_only;
	int cpu, device_cpu;	/**< Of the driver; of the device in the regimes X and E. */
};

/** A port and the driver that serves it, as the rows use it. */
struct cmp_arm {
	enum cmp_arm_id id;
	const char *name;	/**< "stock" or "mlxpmd". */
	unsigned int emu_port;	/**< Index of the emulated port. */
	uint16_t port_id;
	uint16_t (*rx)(void *q, struct rte_mbuf **pkts, uint16_t n);
	uint16_t (*tx)(void *q, struct rte_mbuf **pkts, uint16_t n);
	void *rxq, *txq;
	void *rxq_idle;		/**< A second queue that nothing arrives at; NULL without one. */
	struct rte_mempool *pool;
	int ts_offset;		/**< Of the Rx timestamp in mbufs, -1: none is requested. */
	uint64_t ts_flag;
	struct rte_mbuf *pkts[CMP_MAX_FILL + CMP_PAD];
	uint32_t n;		/**< Packets in pkts. */
	uint32_t arrive;	/**< Packets that come before the timed stretch. */
};

/* Members of a result; if memory is short a figure is missing, which its reader reports. */
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
/** EAL with the stock driver on its port, then ours on the other; configured and started. */
int cmp_ports_open(const struct cmp_config *c, struct cmp_arm arms[CMP_ARMS]);
void cmp_ports_close(struct cmp_arm arms[CMP_ARMS]);
/** Versions, burst functions, device arguments ... as an object; NULL: no memory. */
json_t *cmp_settings(const struct cmp_config *c, const struct cmp_arm arms[CMP_ARMS]);

/* compare_device.c: all return 0, or -errno after printing the reason. */
/** Connects to the emulator that this process runs on. */
int cmp_device_open(const struct cmp_config *c);
void cmp_device_close(void);
/** The device runs by itself, or only during the calls below. */
int cmp_device_run(bool run);
/** Frames arrive at the port, and their completions are where the regime requires. */
int cmp_device_inject(const struct cmp_arm *arm, uint32_t frames, const char *file);
/** The device executes all WQEs that doorbells announced. */
int cmp_device_settle(void);
/** Counters of a port by name, an object for the caller to delete; NULL on failure. */
json_t *cmp_device_counters(const struct cmp_arm *arm);
/** Pins the device's threads and makes the caches be as the regime requires from now on. */
int cmp_device_regime(const struct cmp_config *c, enum cmp_regime regime);
/** TSC ticks that a load of a line takes which another agent left as the regime requires. */
double cmp_device_line_ticks(const struct cmp_config *c, enum cmp_regime regime);

/* compare_evict.c */
/** A thread on the device's CPU, to write lines and to evict its private caches. 0 or -errno. */
int cmp_evictor_start(int cpu);
void cmp_evictor_stop(void);
/** Writes to these lines when n is not 0, then evicts on request. Returns when done. */
void cmp_evictor_do(uint8_t *lines, uint32_t n, bool evict);

/* compare_traffic.c */
#define CMP_TRAFFIC_FILES 8
/** Writes the files that the device reads frames from, into a folder of its own. 0 or -errno. */
int cmp_traffic_make(const struct cmp_config *c, const struct cmp_arm arms[CMP_ARMS]);
/** The file to be injected in this round. */
const char *cmp_traffic_file(const struct cmp_arm *arm, uint32_t round);
void cmp_traffic_remove(void);
/** One frame to be sent: its content depends on i. Returns its length. */
uint32_t cmp_traffic_frame(const struct cmp_config *c, uint8_t *to, uint32_t i);

typedef uint32_t (*cmp_timed)(struct cmp_arm *arm, const struct cmp_config *c);

/** One kind of measurement. Only `timed` is timed; the others return false on failure. */
struct cmp_row {
	const char *name, *unit, *what;
	bool (*prepare)(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round);
	/** Last before the timed stretch; NULL: nothing. */
	void (*warm)(struct cmp_arm *arm, const struct cmp_config *c);
	/** @return packets or polls done. */
	cmp_timed timed;
	/** What of the timed stretch is not the driver's, to be run on bursts that do nothing. */
	cmp_timed calibrate;
	bool (*settle)(struct cmp_arm *arm, const struct cmp_config *c);
	uint32_t units;		/**< That a sample has; 0: c->fill. */
	uint32_t k;		/**< Packets that arrive; 0: c->fill. */
	uint32_t gates;		/**< CMP_GATE_*. */
	bool recycles;		/**< Frees mbufs in between, ahead of taking as many. */
};
#define CMP_GATE_RX 1u		/**< Same mbufs from the same frames. */
#define CMP_GATE_TX 2u		/**< Same frames on the wire. */
#define CMP_GATE_IDLE 4u	/**< No packets; counts the mbufs that were written to. */

/* compare_rows.c */
extern const struct cmp_row cmp_rows[];
const struct cmp_row *cmp_row_find(const char *name);
/** Receives until arm->pkts has c->fill packets, or none come any more. */
uint32_t cmp_drain(struct cmp_arm *arm, const struct cmp_config *c);
/** Fills arm->pkts with packets to send. */
bool cmp_tx_prepare(struct cmp_arm *arm, const struct cmp_config *c, uint32_t round);
/** Opens the clock that a caller of the stock driver converts by. 0 or -errno. */
int cmp_clock_open(const struct cmp_config *c);
void cmp_clock_close(void);

/* compare_gate.c */
/** Whether both drivers do the row's work alike; prints the first difference. Adds "gate" to out. */
bool cmp_gate(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	      json_t *out);

/* compare_measure.c */
/** Measures a row: interleaved rounds, then instructions. Adds its figures to out. */
bool cmp_measure(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS],
		 const struct cmp_config *c, json_t *out);
/** What the device counted per unit of the row's work, for each arm. */
bool cmp_count(const struct cmp_row *row, struct cmp_arm arms[CMP_ARMS], const struct cmp_config *c,
	       json_t *out);
/** Core cycles per TSC tick, by a chain of multiplications of known latency. */
double cmp_core_per_tsc(void);

/** Set by SIGINT and SIGTERM: loops test it. */
extern volatile bool cmp_stop;

/** One line on stderr. */
#define CMP_SAY(fmt, ...) fprintf(stderr, "compare_bench: " fmt "\n", ##__VA_ARGS__)

#endif /* COMPARE_H */
