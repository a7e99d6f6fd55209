/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `top`: a live view of the ports of a running program, by its telemetry socket. Needs no EAL.
 */

#ifndef TM_TOP_H
#define TM_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_build_config.h>

#include "telemetry.h"

/** Parts of the view. */
enum top_part { TOP_PORTS, TOP_QUEUES, TOP_DROPS, TOP_CLOCK, TOP_INTERRUPTS, TOP_PARTS };

/** Order of the queues. */
enum top_sort { TOP_SORT_QUEUE, TOP_SORT_PPS, TOP_SORT_PACKETS, TOP_SORT_ERRORS, TOP_SORTS };

/** What the program reported of a port; NULL: nothing. */
struct top_port {
	json_t *info, *link, *queues, *stats, *clock, *tasks, *account;
	uint64_t vectors, interrupts;	/**< of the device in /proc/interrupts: their number, sum of their counts */
	unsigned int id;
};

/** One reading of a program. */
struct top_reading {
	struct top_port ports[RTE_MAX_ETHPORTS];
	unsigned int nb_ports;
	uint64_t at_ns;			/**< CLOCK_MONOTONIC; 0: no reading */
};

/** State of the program. */
enum top_state {
	TOP_RUNS,
	TOP_CLOSED,	/**< it has no ports any more */
	TOP_ENDED,	/**< the socket is closed, and nothing listens at its address */
	TOP_HANGS,	/**< no answer in time */
};

struct top {
	/* options */
	struct tm_program program;
	double interval_s;
	uint64_t count;			/**< readings of --batch; 0 = no limit */
	bool batch;
	int port;			/**< shown; -1 = all */
	enum top_sort sort;
	bool shown[TOP_PARTS];
	bool account;			/**< read /mlxpmd/drops, which waits for the device */
	/* state */
	bool paused;
	struct tm_telemetry telemetry;
	enum top_state state;
	char comm[32];			/**< name of the program's file */
	char changed[96];		/**< a change of state, as text; "" = none */
	char changed_at[16];
	struct top_reading now, before;
};

/* top_read.c */
/** Read everything; connect before if necessary. Sets state, and keeps the last reading if there is no new one. */
void top_read(struct top *t);
/** Close the connection and free the readings. */
void top_free(struct top *t);

/* top_interrupts.c */
/**
 * Sum up the lines of /proc/interrupts that name a PCI device: mlx5_comp0@pci:0000:08:00.0 (mlx5_core,
 * mlx5_irq_alloc()), vfio-msix[0](0000:08:00.0) (vfio_pci_intrs.c).
 */
void top_interrupts_count(FILE *in, const char *pci, uint64_t *vectors, uint64_t *interrupts);

/** Emphasis of a line. */
enum top_look { TOP_PLAIN, TOP_BOLD, TOP_HEAD, TOP_ALERT };

/** The view: lines without newline. Owned. */
struct top_view {
	struct top_line {
		char *text;
		enum top_look look;
	} *lines;
	size_t n, room;
};

/* top_view.c */
/** Make the view of the last readings. */
void top_view_make(const struct top *t, struct top_view *v);
void top_view_free(struct top_view *v);
extern const char *const top_sort_names[TOP_SORTS];

/* top_screen.c */
/** Show the view on the terminal until the user or a signal ends it. @return Exit code. */
int top_screen(struct top *t);

/* top.c */
/** Set by SIGINT, SIGTERM, SIGHUP. */
extern volatile int top_signal;
/** The local time as text, hh:mm:ss. */
const char *top_time(char buf[16]);

/** `dpdk-test-mlx top ...`; argv begins with the word. @return Exit code. */
int tm_top(int argc, char **argv);
/** Print the usage, one line. */
void tm_top_help(FILE *out);

#endif
