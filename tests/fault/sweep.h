/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The sweep: each operation of a port, with each of its requests to the device or to the
 * host refused in turn, in one process.
 *
 * A cell is (operation, k, fault): the k-th thing is refused, then the operation must have failed
 * with the fault's errno and one line, the port must be what it was, nothing may be left, and a
 * second try must succeed.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SWEEP_PCI "0000:c1:00.0"
#define SWEEP_PORT 0
#define SWEEP_QUEUES 2
#define SWEEP_TEXT_BYTES 4096

/* ------------------------------------------------------------------ sweep_ops.c */

/** How far up the port is. */
enum level { LEVEL_NONE, LEVEL_PROBED, LEVEL_CONFIGURED, LEVEL_SET_UP, LEVEL_STARTED };
#define NB_LEVELS (LEVEL_STARTED + 1)

struct op {
	const char *name;
	enum level before, after;
	/** Its requests are those of the operation of this name, or NULL: its own. */
	const char *as;
	/** What the operation needs besides the level, or NULL; 0 or a negative errno. */
	int (*prepare)(void);
	/** 0 or a negative errno. */
	int (*run)(void);
	/** Takes back what run() and prepare() did, where the levels are the same. */
	int (*undo)(void);
	/** What the port would take along if it still meant to do what failed, or NULL. */
	int (*change)(void);
	/** The second queue is idle meanwhile. */
	bool one_queue;
	/** The link is down in between, or the port is isolated: nothing passes. */
	bool silent;
	/** Has no way to say that it failed, or must go on. */
	bool always;
	/** Only through VFIO: else the kernel does it. */
	bool vfio;
};
extern const struct op sweep_ops[];
extern const unsigned int sweep_nb_ops;

/** Brings the port to a level, 0 or a negative errno. */
int level_reach(enum level level);
/** Whether the device is opened through VFIO: no kernel's driver, and no interface. */
bool sweep_vfio(void);
/** Opens the device by the library alone; NULL: failed. */
struct ibv_context *library_open(void);
/** The level reached. */
extern enum level level_now;

/* ------------------------------------------------------------------ sweep_flow.c */

/** Create a flow: spread over the queues, to a group, in a group, of multicast. 0 or a negative errno. */
int do_flow_rss(void);
int do_flow_jump(void);
int do_flow_group(void);
int do_flow_multicast(void);
int do_flow_change(void);
int do_flow_change_group(void);
/** Of sent packets; the only one, which through VFIO has the root table to itself. */
int do_flow_egress(void);
/** Gives the flow of do_flow_group() other actions, if the release of DPDK can. */
int do_flow_update(void);
/** Reads the counter of the flow that do_flow_rss() created. */
int do_flow_query(void);
/** Destroys the flow; all flows. */
int undo_flow(void);
int do_flow_flush(void);
/** Starts the port again in isolated mode; destroys the flow, and starts it again without. */
int do_flow_isolated(void);
int undo_flow_isolated(void);
/** Creates an indirect action; also a flow that uses it; leads it to other queues. */
int do_flow_indirect(void);
int do_flow_indirect_used(void);
int do_flow_indirect_update(void);
/** Destroys the flow and the indirect action. */
int undo_flow_indirect(void);
/** The port has a flow queue; also templates and a table; also a flow of these. 0 or a negative errno. */
int do_flow_queue(void);
int do_flow_table_ready(void);
int do_flow_async_ready(void);
/** Creates templates and table; a flow of them; destroys the flow. */
int do_flow_table(void);
int do_flow_async(void);
int do_flow_async_destroy(void);
/** Destroys templates and table; the flow, too. */
int undo_flow_table(void);
int undo_flow_async(void);
/** Flows of the port. */
unsigned int flows_count(void);

/* ------------------------------------------------------------------ sweep_kinds.c */

/** What was hit. */
struct hit {
	bool hit;
	char name[64];	  /**< Of the command, the call or the function. */
	char by[64];	  /**< Library that called it, where that is known. */
	int err;	  /**< Positive errno that the operation must give. */
	const char *what; /**< Name of the status or errno. */
	bool harmless;	  /**< The operation must succeed all the same. */
};

/** A kind of fault. */
struct kind {
	const char *name;
	unsigned int nb_variants;
	const char *(*variant)(unsigned int i);
	/** The k-th thing of op (0: the next) is refused, in variant i. 0 or a negative errno. */
	int (*arm)(const struct op *op, unsigned int k, unsigned int i);
	void (*disarm)(unsigned int i, struct hit *hit);
	/** Whether op may succeed although this was refused, as the k-th thing. */
	bool (*tolerated)(const struct op *op, unsigned int k, const struct hit *hit);
	/** Whether this is lost until the device is closed. */
	bool (*lost)(const struct hit *hit);
	/** Of operations that go on whatever is refused alone. */
	bool teardown;
};
extern const struct kind sweep_kinds[];
extern const unsigned int sweep_nb_kinds;
/** Finds which commands the library sends by itself. 0 or a negative errno. */
int kinds_init(void);

/* ------------------------------------------------------------------ sweep.c, sweep_values.c */

uint64_t now_ms(void);
/** One line of the table, and the same for the report. */
void row_write(FILE *out, const char *kind, const char *name, unsigned int requests,
	       unsigned int cells, unsigned int failed, unsigned int refused, uint64_t ms);
/** Rows that failed. */
unsigned int values_run(FILE *out);

/* ------------------------------------------------------------------ sweep_look.c */

/** Has the log come here. 0 or a negative errno. */
int log_open(void);
void log_clear(void);
/** Warnings and errors of the driver since log_clear(): how many, and the last one. */
unsigned int log_complaints(const char **last);
/** Of these, how many report something that is left behind. */
unsigned int log_losses(void);
/** Everything logged since log_clear(). */
const char *log_text(void);

/** Objects left behind plus violations so far. */
unsigned int audit_take(void);
/** The port is down, and nothing was lost so far. */
void ledger_begin(void);
/** The port is down: what EAL's heap still holds was lost, and is no more counted. */
void ledger_forgive(void);
/** What the process and the device hold, as text to compare. */
void ledger_take(char *text, size_t bytes);
/** What the application sees of the port, as text to compare. */
void port_state_take(char *text, size_t bytes);
/** Whether the port passes frames, through all queues or the first alone. */
bool port_forwards(bool one_queue);

#endif /* SWEEP_H */
