/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Control of the running machine: one JSON object in, one out.
 *
 * A request is `{"cmd": "NAME", ...}`, the reply `{"ok": true, ...}` or
 * `{"ok": false, "error": "TEXT"}`. The front end receives requests (abi/ctl_server.c).
 */
#ifndef EMU_CTL_H
#define EMU_CTL_H

#include <jansson.h>

#include "core/emu_dev.h"

/** Maximum length of a request. */
#define EMU_CTL_REQUEST_BYTES (1u << 20)

/**
 * Executes one request; acquires the machine's lock.
 * @return the reply as one line without newline, to be freed by free(); NULL: no memory.
 */
char *emu_ctl_execute(struct emu_machine *m, const char *request, size_t len);

/** A request being executed. */
struct emu_ctl {
	struct emu_machine *m;
	json_t *in;
	json_t *out; /**< The reply, an object; "ok" is added later. */
	char err[512];
};

/** Sets the error text of the reply and returns ret. */
int emu_ctl_fail(struct emu_ctl *c, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** Integer of the request from min to max; 0, or -EINVAL if absent (unless optional). */
int emu_ctl_number(struct emu_ctl *c, const char *key, bool optional, uint64_t min, uint64_t max,
		   uint64_t *value);
/** String of the request; 0, or -EINVAL if absent (unless optional) or no string. */
int emu_ctl_string(struct emu_ctl *c, const char *key, bool optional, const char **value);
/** The device of key "port"; port 0 if absent. */
int emu_ctl_port(struct emu_ctl *c, struct emu_dev **dev);
void emu_ctl_set(json_t *object, const char *key, uint64_t value);

/** A command: name, help text, handler (called with the lock held). */
struct emu_ctl_command {
	const char *name, *args, *help;
	int (*run)(struct emu_ctl *c);
};
/** The i-th command, NULL after the last. */
const struct emu_ctl_command *emu_ctl_command_at(unsigned i);

/* Handlers: 0 or a negative errno from emu_ctl_fail(). */
int emu_ctl_ledger(struct emu_ctl *c);	 /* ctl_ledger.c */
int emu_ctl_audit(struct emu_ctl *c);	 /* ctl_ledger.c */
int emu_ctl_counters(struct emu_ctl *c); /* ctl_ledger.c */
int emu_ctl_drops(struct emu_ctl *c);	 /* ctl_drops.c */
int emu_ctl_register(struct emu_ctl *c);    /* ctl_register.c */
int emu_ctl_health(struct emu_ctl *c);	    /* ctl_register.c */
int emu_ctl_why(struct emu_ctl *c);	    /* ctl_why.c */
int emu_ctl_clock(struct emu_ctl *c);	    /* ctl_clock.c */
int emu_ctl_clock_step(struct emu_ctl *c);  /* ctl_clock.c */
int emu_ctl_clock_slew(struct emu_ctl *c);  /* ctl_clock.c */
int emu_ctl_clock_drift(struct emu_ctl *c); /* ctl_clock.c */

#endif /* EMU_CTL_H */
