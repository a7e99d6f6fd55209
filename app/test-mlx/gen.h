/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * What the generator puts into a packet and what the checker keeps of it.
 */

#ifndef TM_GEN_H
#define TM_GEN_H

#include "tm.h"

#include <rte_ip.h>
#include <rte_udp.h>

#define TM_GEN_MAGIC 0x6d78
#define TM_GEN_PORT 9			/* UDP "discard": a host's stack that gets one stays calm */
#define TM_GEN_MAX_FLOWS 65536u
#define TM_GEN_PATTERN_BYTES 131072u	/* power of two, twice the longest frame */
#define TM_GEN_CHUNK_BITS 4096u
#define TM_GEN_MAX_CHUNKS (1u << 24)	/* sequence numbers beyond 2^36 are not believed */

/** Begins the UDP payload; with the headers exactly 60 bytes. Big endian. */
struct tm_gen_hdr {
	rte_be16_t magic;
	rte_be16_t run;			/**< from the seed; packets of other runs are foreign */
	rte_be16_t flow;
	rte_be16_t seq_hi;
	rte_be32_t seq_lo;
	rte_be16_t length;		/**< frame without FCS and tag, bytes */
	rte_be32_t crc;			/**< CRC-32C of the payload, this field zero */
} __rte_packed;

struct tm_gen_frame {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct tm_gen_hdr hdr;
} __rte_packed __rte_aligned(2);
_Static_assert(sizeof(struct tm_gen_frame) == TM_MIN_FRAME, "fits the shortest frame");

#define TM_GEN_PAYLOAD_OFF (sizeof(struct tm_gen_frame) - sizeof(struct tm_gen_hdr))

/** Which sequence numbers of one flow have come back; a full chunk is freed. */
struct tm_gen_chunk {
	uint32_t set;
	uint64_t bits[TM_GEN_CHUNK_BITS / 64];
};

struct tm_gen_flow {
	rte_spinlock_t lock;		/**< a flow may come back on any queue */
	uint64_t built, sent;		/**< written by the sending lcore */
	uint64_t received;		/**< distinct */
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

/** Sums over all flows and streams. */
struct tm_gen_verdict {
	uint64_t sent, received, lost, duplicate, reorder;
	uint64_t corrupt, length, foreign, verdict, nomem, unsent;
	uint64_t arrived;		/**< packets that the checker was given */
	bool balanced;			/**< both ways of counting the losses agree */
	bool ok;
};

uint16_t tm_gen_length(const struct tm_gen *g, uint32_t flow, uint64_t seq);
static inline const uint8_t *
tm_gen_pattern(const struct tm_gen *g, uint32_t flow, uint64_t seq)
{
	/* odd multipliers: neighbours in flow or sequence differ in every byte */
	return g->pattern + ((seq * 61 + flow * 1009u) & (TM_GEN_PATTERN_BYTES / 2 - 1));
}

/* crc.c */
/** Continue crc over n bytes; begins with 0, no final inversion. */
uint32_t tm_crc32c(const void *data, uint32_t n, uint32_t crc);

/* track.c */
enum tm_track { TM_TRACK_NEW, TM_TRACK_LATE, TM_TRACK_DUPLICATE, TM_TRACK_ABSURD, TM_TRACK_NOMEM };
enum tm_track tm_track_mark(struct tm_gen_flow *f, uint64_t seq);
/** Count marked numbers below and from limit on. */
void tm_track_count(const struct tm_gen_flow *f, uint64_t limit, uint64_t *below, uint64_t *beyond);
void tm_track_free(struct tm_gen_flow *f);

/* check.c */
void tm_check_burst(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n);
void tm_check_verdict(const struct tm_app *app, struct tm_gen_verdict *v);
/** Print the verdict where out is given; record failures in the exit code when judge. */
int tm_check_report(struct tm_app *app, FILE *out, bool judge);
void tm_check_json(const struct tm_app *app, FILE *out);

#endif
