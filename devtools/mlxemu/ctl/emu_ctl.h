/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Control of the running machine: one JSON object in, one out.
 *
 * A request is `{"cmd": "NAME", ...}`; the answer `{"ok": true, ...}` or
 * `{"ok": false, "error": "TEXT"}`. Where requests come from is the front end's matter.
 */
#ifndef EMU_CTL_H
#define EMU_CTL_H

#include <jansson.h>

#include "core/emu_dev.h"

/** Longest request taken. */
#define EMU_CTL_REQUEST_BYTES (1u << 20)

/**
 * Executes one request; takes the machine's lock itself.
 * @return the answer as one line without a line end, for free(); NULL without memory.
 */
char *emu_ctl_execute(struct emu_machine *m, const char *request, size_t len);

/** One request under way; the files of commands share it. */
struct emu_ctl {
	struct emu_machine *m;
	json_t *in;
	json_t *out; /**< The answer, an object; "ok" is added afterwards. */
	char err[512];
};

/** Writes the one-line reason and returns ret, for `return emu_ctl_fail(...)`. */
int emu_ctl_fail(struct emu_ctl *c, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** A whole number of the request within bounds; 0, or -EINVAL when absent (unless optional). */
int emu_ctl_number(struct emu_ctl *c, const char *key, bool optional, uint64_t min, uint64_t max,
		   uint64_t *value);
/** A string of the request; 0, or -EINVAL when absent (unless optional) or no string. */
int emu_ctl_string(struct emu_ctl *c, const char *key, bool optional, const char **value);
/** The device that "port" names, 0 when absent. */
int emu_ctl_port(struct emu_ctl *c, struct emu_dev **dev);
void emu_ctl_set(json_t *object, const char *key, uint64_t value);

/** A command: its name, what `mlxemu ctl` prints about it, and what does it (lock held). */
struct emu_ctl_command {
	const char *name, *args, *help;
	int (*run)(struct emu_ctl *c);
};
/** The i-th command, NULL behind the last. */
const struct emu_ctl_command *emu_ctl_command_at(unsigned i);

/* Commands by file: 0 or what emu_ctl_fail() returned. */
int emu_ctl_ledger(struct emu_ctl *c);	 /* ctl_ledger.c */
int emu_ctl_audit(struct emu_ctl *c);	 /* ctl_ledger.c */
int emu_ctl_counters(struct emu_ctl *c); /* ctl_ledger.c */
int emu_ctl_register(struct emu_ctl *c);    /* ctl_register.c */
int emu_ctl_health(struct emu_ctl *c);	    /* ctl_register.c */
int emu_ctl_clock(struct emu_ctl *c);	    /* ctl_clock.c */
int emu_ctl_clock_step(struct emu_ctl *c);  /* ctl_clock.c */
int emu_ctl_clock_slew(struct emu_ctl *c);  /* ctl_clock.c */
int emu_ctl_clock_drift(struct emu_ctl *c); /* ctl_clock.c */

#endif /* EMU_CTL_H */
