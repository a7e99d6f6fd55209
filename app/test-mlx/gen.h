/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The packets of the generator, and the state of the checker.
 */

#ifndef TM_GEN_H
#define TM_GEN_H

#include "tm.h"

#include <rte_ip.h>
#include <rte_udp.h>

#define TM_GEN_MAGIC 0x6d78
#define TM_GEN_PORT 9			/* UDP "discard" (RFC 863): a host stack that receives one does not reply */
#define TM_GEN_MAX_FLOWS 65536u
#define TM_GEN_PATTERN_BYTES 131072u	/* power of two, twice the longest frame */
#define TM_GEN_CHUNK_BITS 4096u
#define TM_GEN_MAX_CHUNKS (1u << 24)	/* sequence numbers of 2^36 and more are corrupt */

/** First bytes of the UDP payload; with the headers exactly 60 bytes. Big endian. */
struct tm_gen_hdr {
	rte_be16_t magic;
	rte_be16_t run;			/**< hash of the seed and the number of the run */
	rte_be16_t flow;
	rte_be16_t seq_hi;
	rte_be32_t seq_lo;
	rte_be16_t length;		/**< of the frame without FCS and VLAN tag, bytes */
	rte_be32_t crc;			/**< CRC-32C of the payload with this field zero */
} __attribute__((__packed__));

struct tm_gen_frame {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct tm_gen_hdr hdr;
} __attribute__((__packed__)) __rte_aligned(2);
_Static_assert(sizeof(struct tm_gen_frame) == TM_MIN_FRAME, "must fit the shortest frame");

#define TM_GEN_PAYLOAD_OFF (sizeof(struct tm_gen_frame) - sizeof(struct tm_gen_hdr))

/** Bitmap of received sequence numbers of one flow; freed when all bits are set. */
struct tm_gen_chunk {
	uint32_t set;
	uint64_t bits[TM_GEN_CHUNK_BITS / 64];
};

struct tm_gen_flow {
	rte_spinlock_t lock;		/**< a flow may be received on any queue */
	uint64_t built, sent;		/**< written by the sending lcore */
	uint64_t received;		/**< distinct sequence numbers */
	uint64_t duplicate, reorder;
	uint64_t next;			/**< highest sequence number seen, plus one */
	struct tm_gen_chunk **chunks;
	uint32_t nb_chunks;
} __rte_cache_aligned;

struct tm_gen {
	uint16_t run;
	uint32_t flows_per_stream, nb_flows;
	uint16_t len_min, len_max;
	uint32_t salt;
	bool checks;
	uint8_t pattern[TM_GEN_PATTERN_BYTES];
	struct tm_gen_flow *flows;
};

/** Counters of the checker: sums over all flows and streams. */
struct tm_check_result {
	uint64_t sent, received, lost, duplicate, reorder;
	uint64_t corrupt, length, foreign, cksum_wrong, nomem, unsent;
	uint64_t arrived;		/**< packets that were checked */
	bool balanced;			/**< counters of flows, bitmaps and streams agree */
	bool ok;
};

/** Length of the packet with this sequence number: random, but the same for the same seed. */
uint16_t tm_gen_length(const struct tm_gen *g, uint32_t flow, uint64_t seq);
static inline const uint8_t *
tm_gen_pattern(const struct tm_gen *g, uint32_t flow, uint64_t seq)
{
	/* Odd multipliers: adjacent flows and sequence numbers begin at different offsets. */
	return g->pattern + ((seq * 61 + flow * 1009u) & (TM_GEN_PATTERN_BYTES / 2 - 1));
}

/* crc.c */
/** Continue crc over n bytes. The initial value is 0; there is no final inversion. */
uint32_t tm_crc32c(const void *data, uint32_t n, uint32_t crc);

/* track.c */
enum tm_track { TM_TRACK_NEW, TM_TRACK_LATE, TM_TRACK_DUPLICATE, TM_TRACK_ABSURD, TM_TRACK_NOMEM };
/** Record a sequence number. LATE: new, but lower than an earlier one. ABSURD: out of range. */
enum tm_track tm_track_mark(struct tm_gen_flow *f, uint64_t seq);
/** Count the recorded numbers below limit, and from limit on. */
void tm_track_count(const struct tm_gen_flow *f, uint64_t limit, uint64_t *below, uint64_t *beyond);
void tm_track_free(struct tm_gen_flow *f);

/* check.c */
/** Check received packets; does not free them. */
void tm_check_burst(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n);
void tm_check_result_get(const struct tm_app *app, struct tm_check_result *v);
/**
 * Print the result to out unless it is NULL; if record, each error is a reason for exit code 1.
 * @return 0 if the check passed or the mode has none, else -1.
 */
int tm_check_report(struct tm_app *app, FILE *out, bool record);
void tm_check_json(const struct tm_app *app, FILE *out);

#endif
