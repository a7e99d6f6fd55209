/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Looking at a port's clock: what the driver says of it, and how right its stamps are.
 */

#ifndef TM_CLOCK_H
#define TM_CLOCK_H

#include <jansson.h>

#include "tm.h"

/* telemetry.c */
/**
 * Ask this process's own telemetry socket, as any client would.
 * @param command As "/mlxpmd/clock,0".
 * @return The value of the answer (json_decref() it), or NULL: there is no telemetry, or nobody answers
 *   this command.
 */
json_t *tm_telemetry_ask(const char *command);

/* clock.c */
/**
 * Read a port's clock, and the host's at the middle of the call: the shortest of several calls.
 * @return 0, or what rte_eth_read_clock() returned.
 */
int tm_clock_read(uint16_t port_id, uint64_t *device, uint64_t *mono, uint64_t *real);

/* clock_report.c */
/** The reply to telemetry's /mlxpmd/clock (json_decref() it); NULL if the driver has none. */
json_t *tm_clock_driver_read(uint16_t port_id);
/** A number or string of the reply as text, "-" for others. */
const char *tm_clock_value_str(const json_t *v, char *buf, size_t size);

/* clock_watch.c */
/** A line per second and port, for so many seconds or until a signal. 0, -ENOTSUP after one line. */
int tm_clock_watch(struct tm_app *app, uint64_t ns);

/** A received packet: which one, and what its stamp says. */
struct tm_stamp {
	uint64_t key;		/**< of its bytes */
	uint64_t ns;		/**< in the port's unit */
	uint32_t n;		/**< in the order of receipt */
	bool present;
};

/** Stamps of a run, or moments of a capture. */
struct tm_stamp_list {
	struct tm_stamp *items;	/**< heap */
	size_t n, room;
};

/* stamps.c */
/** Adds one. 0, -ENOMEM. */
int tm_stamps_add(struct tm_stamp_list *l, uint64_t key, uint64_t ns, bool present);
void tm_stamps_free(struct tm_stamp_list *l);
/** The key of a packet's bytes. */
uint64_t tm_stamp_key(const void *bytes, uint32_t len);
/** Frames of a capture and their times. 0 or negative errno after one line on stderr. */
int tm_stamps_load(struct tm_stamp_list *l, const char *path);
/** As a sink: remembers the stamp of each packet. k->file is the list. */
int tm_stamps_sink_open(struct tm_sink *k);

/* clock_verify.c */
/** One packet, by two clocks. */
struct tm_pair {
	uint64_t truth_ns, stamp_ns;
	uint32_t n;
};

/** Differences of stamps and truth, in ns. */
struct tm_errors {
	size_t packets;		/**< received */
	size_t absent;		/**< of them without a stamp */
	size_t unknown;		/**< of them not found in the truth */
	size_t judged;
	int64_t min, max, median;
	double mean, rms;	/**< rms: about the mean */
	uint64_t p99, worst;	/**< distances from the median */
};

/** Joins stamps with truth by key, in order; pairs is heap. 0, -ENOMEM. */
int tm_pairs_join(const struct tm_stamp_list *stamps, const struct tm_stamp_list *truth,
		  struct tm_pair **pairs, struct tm_errors *e);
/** Fills the rest of e from e->judged pairs. 0, -ENOMEM. */
int tm_errors_of(const struct tm_pair *pairs, struct tm_errors *e);
/** Computes and prints; writes OUT.csv and OUT.svg unless out is NULL. 0, or negative errno after one line. */
int tm_errors_judge(uint16_t port_id, const char *against, const struct tm_pair *pairs,
		    struct tm_errors *e, const char *out);
/** Against a capture of true times. 0, -EIO when there is nothing to judge, or after one line. */
int tm_clock_verify(struct tm_app *app, uint16_t port_id, const char *truth, const char *out);

/* clock_peer.c */
/** Packets from one port to another: reception against completion of sending, both by hardware. */
int tm_clock_verify_peer(struct tm_app *app, uint16_t rx_port, uint16_t tx_port, uint64_t count,
			 const char *out);

/* plot.c */
/** OUT.csv from pairs, and OUT.svg if gnuplot is there. 0 or negative errno after one line. */
int tm_clock_plot(const char *out, const char *title, const struct tm_pair *pairs, size_t n,
		  int64_t median);

#endif
