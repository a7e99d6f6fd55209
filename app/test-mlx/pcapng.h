/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Blocks of pcapng files (IETF draft-ietf-opsawg-pcapng) with timestamps in nanoseconds. libpcap writes no pcapng, and
 * DPDK's rte_pcapng converts its own timestamps only and has no comments on interfaces.
 */

#ifndef TM_PCAPNG_H
#define TM_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** An Enhanced Packet Block up to its data. Its fields are in the byte order of the file, which is the host's. */
struct tm_pcapng_packet {
	uint32_t type, length, interface, time_high, time_low, captured_bytes, original_bytes;
};
#define TM_PCAPNG_PACKET 6u

/** An interface. Text may be NULL: no such option. */
struct tm_pcapng_interface {
	const char *name, *description, *hardware, *filter, *comment;
	uint64_t bits_per_s;	/**< 0 = unknown */
	uint8_t mac[6];
	uint32_t snaplen;	/**< bytes; 0 = no limit */
};

/** Statistics of an interface. */
struct tm_pcapng_stats {
	uint64_t start_ns, end_ns;
	uint64_t received;	/**< before the filter */
	uint64_t dropped;	/**< for lack of resources */
	uint64_t accepted;	/**< by the filter */
	uint64_t delivered;	/**< written */
	const char *comment;
};

/* Each returns 0, or -EIO if it cannot be written. */
/** Begin a section, and so the file. */
int tm_pcapng_section(FILE *out, const char *hardware, const char *system, const char *program, const char *comment);
/** Add an interface; numbers count from 0. */
int tm_pcapng_interface(FILE *out, const struct tm_pcapng_interface *i);
int tm_pcapng_stats(FILE *out, uint32_t interface, const struct tm_pcapng_stats *s);

#endif
