/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `capture`: write the packets of a port of a running program, with the device's timestamps. This process is a
 * secondary one of the program, and opens no device: DPDK's pdump library has the program copy packets into a ring.
 */

#ifndef TM_CAPTURE_H
#define TM_CAPTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_bpf.h>
#include <rte_mempool.h>
#include <rte_pdump.h>
#include <rte_ring.h>

#include "pcapng.h"
#include "telemetry.h"

/** What telemetry reports of the clock, during the capture. */
struct capture_clock {
	char quality[16], source[16];
	int64_t offset_ns;
	uint64_t uncertainty_ns, uncertainty_max_ns;
	uint64_t steps, expired;	/**< since the beginning of the capture */
	uint64_t steps_base, expired_base;
	bool ns;			/**< timestamps are in ns; false: there are none, or in another unit */
};

struct capture {
	/* options */
	const char *path, *prefix, *folder, *filter;
	uint64_t port, queue, snaplen, buffers, count;
	/* count, duration_s: 0 = no limit; buffers: 0 = computed */
	double duration_s;
	uint32_t directions;		/**< RTE_PDUMP_FLAG_RX, _TX */
	bool all_queues, quiet;
	/* the program */
	struct tm_program program;
	struct tm_telemetry telemetry;
	char device[64], pci[32], interface[32], comm[32];
	uint8_t mac[6];
	uint64_t mbits_per_s, frame_bytes, missed_base, missed;
	uint16_t nb_queues[2];		/**< Rx, Tx */
	bool stamped;			/**< Rx offload timestamp */
	struct capture_clock clock;
	/* capture_port.c */
	int lock;			/**< descriptor of the lock file, -1 = none */
	char lock_path[128];
	struct rte_ring *ring;
	struct rte_mempool *pool;
	struct rte_bpf_prm *bpf;
	const struct rte_pdump_stats *counts[2];	/**< of the queues, Rx and Tx */
	uint32_t enabled;		/**< directions */
	bool keep;			/**< ring and mempool: the program may still use them */
	/* capture_write.c; the file and these fields are under the lock */
	pthread_mutex_t mutex;
	FILE *file;
	int error;			/**< first negative errno of a write */
	uint64_t packets, bytes, stamped_packets, start_ns;
	int interfaces[2];		/**< numbers in the file: device time, host time; -1 = not there */
	uint32_t nb_interfaces;
	int ts_offset;			/**< dynamic field of mbufs, -1 = none */
	uint64_t ts_flag;
	bool draining, done;		/**< atomic. draining: end when the ring is empty; done: the count is reached */
};

/* Functions that return int: 0 or negative errno after tm_error(). */

/* capture_port.c */
/** Take the port: no other `capture` has it. */
int capture_lock(struct capture *c);
void capture_unlock(struct capture *c);
/** Make ring, mempool and filter, and request the copies from the program. EAL has been initialised. */
int capture_enable(struct capture *c);
/** Request the end of the copies. If the program has ended there is nothing to request. */
void capture_disable(struct capture *c, bool ended);
/** Free ring, mempool and filter, unless the program may still use them. */
void capture_free(struct capture *c);
/** Sums over the queues. */
void capture_counts(const struct capture *c, struct rte_pdump_stats *sum);

/* capture_program.c */
/** Read what telemetry reports of the port. */
int capture_program_read(struct capture *c);
/** Read the clock again. @return True if its quality or its number of steps has changed. */
bool capture_clock_read(struct capture *c);
/** Read how many packets the device missed since the beginning, into c->missed. */
void capture_missed_read(struct capture *c);
const char *capture_clock_str(const struct capture *c, char *buf, size_t size);

/* capture_write.c */
int capture_file_open(struct capture *c);
/**
 * Write from the ring to the file, until draining and the ring is empty.
 * A thread that is no lcore: it has no cache of a mempool, which it would share with an lcore of the program.
 */
void *capture_write(void *arg);
/** Write the statistics with a comment on the clock. */
void capture_stats_write(struct capture *c);
int capture_file_close(struct capture *c);

/** `dpdk-test-mlx capture ...`; argv begins with the word. @return Exit code. */
int tm_capture(int argc, char **argv);
/** Print the usage, one line. */
void tm_capture_help(FILE *out);

#endif
