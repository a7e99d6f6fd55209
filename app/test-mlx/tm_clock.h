/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * A port's clock: the driver's own data about it, and the error of its timestamps.
 */

#ifndef TM_CLOCK_H
#define TM_CLOCK_H

#include <jansson.h>

#include "tm.h"

/* clock.c */
/**
 * Read a port's clock, and the host's at the middle of the call: the shortest of several calls.
 * @return 0, or what rte_eth_read_clock() returned.
 */
int tm_clock_read(uint16_t port_id, uint64_t *device, uint64_t *mono, uint64_t *real);

/* clock_report.c */
/**
 * Send a command to the telemetry socket of this process.
 * @param command Such as "/mlxpmd/clock,0".
 * @return The value of the reply (json_decref() it); NULL if telemetry is off or no driver has the command.
 */
json_t *tm_telemetry_request(const char *command);
/** The reply to telemetry's /mlxpmd/clock (json_decref() it); NULL if the driver has none. */
json_t *tm_clock_driver_read(uint16_t port_id);
/** A number or string of the reply as text, "-" for others. */
const char *tm_clock_value_str(const json_t *v, char *buf, size_t size);

/* clock_watch.c */
/** Print a line per second and port, for ns or until a signal. 0, -ENOTSUP after tm_error(). */
int tm_clock_watch(struct tm_app *app, uint64_t ns);

/** A received packet and its timestamp. */
struct tm_stamp {
	uint64_t key;		/**< tm_stamp_key() of its bytes */
	uint64_t ns;
	uint32_t n;		/**< position in the order of reception */
	bool present;		/**< the packet has a timestamp */
};

/** Timestamps of a run, or of a capture. */
struct tm_stamp_list {
	struct tm_stamp *items;	/**< owned */
	size_t n, room;
};

/* stamps.c */
/** Append one. 0, -ENOMEM. */
int tm_stamps_add(struct tm_stamp_list *l, uint64_t key, uint64_t ns, bool present);
void tm_stamps_free(struct tm_stamp_list *l);
/** Hash of a packet's bytes. */
uint64_t tm_stamp_key(const void *bytes, uint32_t len);
/** Read the timestamps of a capture. 0 or negative errno after tm_error(). */
int tm_stamps_load(struct tm_stamp_list *l, const char *path);
/** A sink that records the timestamp of each packet. k->file is the list; the caller that closes the sink owns it. */
int tm_stamps_sink_open(struct tm_sink *k);

/* clock_verify.c */
/** Two timestamps of one packet. */
struct tm_pair {
	uint64_t truth_ns, stamp_ns;
	uint32_t n;
};

/** Differences of timestamps and true times, in ns. */
struct tm_errors {
	size_t packets;		/**< received */
	size_t absent;		/**< of these without a timestamp */
	size_t unknown;		/**< of these lost, or without a true time */
	size_t compared;
	int64_t min, max, median;
	double mean, rms;	/**< rms: about the mean */
	uint64_t p99, worst;	/**< distances from the median */
};

/** Join timestamps with true times by key, in order; the caller frees *pairs. 0, -ENOMEM. */
int tm_pairs_join(const struct tm_stamp_list *stamps, const struct tm_stamp_list *truth,
		  struct tm_pair **pairs, struct tm_errors *e);
/** Fill the other fields of e from e->compared pairs. 0, -ENOMEM. */
int tm_errors_of(const struct tm_pair *pairs, struct tm_errors *e);
/** Compute and print e; write OUT.csv and OUT.svg unless out is NULL. 0, or negative errno after tm_error(). */
int tm_errors_report(uint16_t port_id, const char *against, const struct tm_pair *pairs,
		    struct tm_errors *e, const char *out);
/** Compare recorded timestamps with a capture of true times. 0, or negative errno after tm_error(). */
int tm_clock_verify(struct tm_app *app, uint16_t port_id, const char *truth, const char *out);

/* clock_peer.c */
/** Send packets from one port to another, and compare the hardware timestamps of Tx and Rx. */
int tm_clock_verify_peer(struct tm_app *app, uint16_t rx_port, uint16_t tx_port, uint64_t count,
			 const char *out);

/* plot.c */
/** Write OUT.csv from pairs, and draw OUT.svg with gnuplot. 0 or negative errno after tm_error(). */
int tm_clock_plot(const char *out, const char *title, const struct tm_pair *pairs, size_t n,
		  int64_t median);

#endif
