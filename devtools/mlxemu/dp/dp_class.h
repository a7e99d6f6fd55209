/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Classes of frames. Where a frame goes and most of what its completion says follow from its
 * length and from header bytes that are the same in every packet of a flow. What the long way -
 * parser, rules, hash - found out for one frame holds for the next ones of its class, until
 * something is changed by a command or a call. What differs from frame to frame is done for each:
 * buffers, keys, checksums, stamps, counts.
 *
 * Only frames of the commonest kind have classes: untagged IPv4 without options, TCP or UDP but
 * no tunnel, whole into one RQ that neither strides nor adds the FCS.
 */
#ifndef DP_CLASS_H
#define DP_CLASS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "dp_check.h"
#include "dp_csum.h"
#include "dp_fault.h"

#define DP_CLASS_BYTES 48u /* of the frame's start: up to and with the flags of TCP */
#define DP_CLASSES_LOG 10u
#define DP_CLASSES (1u << DP_CLASSES_LOG)

struct dp_class {
	uint8_t key[DP_CLASS_BYTES]; /**< Under the mask of its protocol. */
	uint32_t len;		     /**< 0: empty. */
	uint32_t age;		     /**< port->classes->age when it was learnt. */
	struct emu_rq *rq;
	struct emu_flow_counter *counter; /**< Of the rule, may be NULL. */
	struct dp_csum_plain csum;
	struct dp_layers layers;
	struct prm_cqe64 cqe; /**< Without checksums, stamp and counter. */
} __attribute__((aligned(64)));

/** Of a port. */
struct dp_classes {
	uint32_t age; /**< Counts up when what was learnt may not hold any more. */
	struct dp_class slot[DP_CLASSES];
};

/** Bytes that decide: all but identification and checksums, and sequence numbers or UDP length. */
extern const uint8_t dp_class_mask[2][DP_CLASS_BYTES];

/** Without memory there are no classes, which costs time only. */
void dp_class_init(struct dp_port *port);
void dp_class_fini(struct dp_port *port);
/** A frame that took the long way to the RQ: the next ones like it need not. */
void dp_class_learn(struct dp_port *port, const struct dp_verdict *v, const struct emu_rq *rq,
		    const struct dp_rx *rx);

/** Nothing that rules, lies and checks want to see happens between the long way's steps. */
static inline bool
dp_class_possible(void)
{
	return DP_LIKELY((emu_fault_armed | emu_lies | dp_check_on | dp_fault_cqe_pending) == 0);
}

static inline struct dp_class *
dp_class_slot(struct dp_classes *classes, const uint8_t *frame)
{
	uint64_t addresses, h;
	uint32_t ports;

	memcpy(&addresses, frame + 26, sizeof(addresses));
	memcpy(&ports, frame + 34, sizeof(ports));
	h = (addresses ^ (uint64_t)ports * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;
	return &classes->slot[h >> (64 - DP_CLASSES_LOG)];
}

#ifdef __SSE2__
static inline bool
dp_class_same(const struct dp_class *c, const uint8_t *frame, const uint8_t *mask)
{
	__m128i same = _mm_set1_epi8(-1);

	for (unsigned i = 0; i < DP_CLASS_BYTES; i += 16) {
		__m128i f = _mm_loadu_si128((const __m128i *)(frame + i));
		__m128i m = _mm_loadu_si128((const __m128i *)(mask + i));

		same = _mm_and_si128(same, _mm_cmpeq_epi8(_mm_and_si128(f, m),
							  *(const __m128i *)(c->key + i)));
	}
	return _mm_movemask_epi8(same) == 0xffff;
}
#else
static inline bool
dp_class_same(const struct dp_class *c, const uint8_t *frame, const uint8_t *mask)
{
	uint8_t differs = 0;

	for (unsigned i = 0; i < DP_CLASS_BYTES; i++)
		differs |= (frame[i] & mask[i]) ^ c->key[i];
	return differs == 0;
}
#endif

/** NULL: the frame has none, or none is known. */
static inline const struct dp_class *
dp_class_find(const struct dp_port *port, const uint8_t *frame, uint32_t len)
{
	const struct dp_class *c;

	if (DP_UNLIKELY(port->classes == NULL || len < DP_CLASS_BYTES))
		return NULL;
	c = dp_class_slot(port->classes, frame);
	if (c->len != len || c->age != port->classes->age ||
	    !dp_class_same(c, frame, dp_class_mask[frame[23] == DP_PROTO_TCP]))
		return NULL;
	return c;
}

/** What was learnt at the port may be wrong from now on. */
static inline void
dp_class_forget(struct dp_port *port)
{
	if (port != NULL && port->classes != NULL)
		port->classes->age++;
}

#endif /* DP_CLASS_H */
