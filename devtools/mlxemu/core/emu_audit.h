/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The audit (violations, and objects that a program left behind) and the command trace.
 *
 * Both are written to files named by the launcher, because the program's own stdout and stderr
 * belong to the program.
 */
#ifndef EMU_AUDIT_H
#define EMU_AUDIT_H

#include <stddef.h>

#include "emu_dev.h"

/** Kinds of violations; names in emu_audit.c. */
enum emu_audit_kind {
	EMU_AUDIT_BAD_COMMAND,	 /**< Unknown opcode, wrong length, reserved bit, bad parameter. */
	EMU_AUDIT_BAD_STATE,	 /**< Busy or destroyed object, forbidden transition. */
	EMU_AUDIT_BAD_KEY,	 /**< DMA with an unknown, foreign or too short key. */
	EMU_AUDIT_BAD_WQE,	 /**< Malformed WQE, beyond the producer index, wrong size. */
	EMU_AUDIT_BAD_DOORBELL,	 /**< Producer moved beyond the ring or backwards. */
	EMU_AUDIT_CQ_OVERRUN,
	EMU_AUDIT_EQ_OVERRUN,
	EMU_AUDIT_BAD_CALL,	 /**< Kernel call refused: unknown method, bad attribute. */
	EMU_AUDIT_BAD_BUFFER,	 /**< A receive buffer posted while it still is (when watched). */
	EMU_AUDIT_LOST_MEMORY,	 /**< Unmapped while registered, and used (emu_guard.h). */
	EMU_AUDIT_IOMMU,	 /**< DMA outside the mappings of a VFIO container. */
	EMU_AUDIT_GIVEN_BACK,	 /**< Memory released after an internal error, which the device still uses. */
	EMU_AUDIT_KINDS,
};
const char *emu_audit_kind_name(enum emu_audit_kind kind);

/** Counts a violation and keeps the text of the first ones of each kind. printf-like. */
void emu_audit(struct emu_dev *dev, enum emu_audit_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t emu_audit_total(void);
uint64_t emu_audit_count(enum emu_audit_kind kind);
/** Name of the i-th counter of a port; NULL after the last. */
const char *emu_audit_stat_name(unsigned i);
/** Name and value of the i-th counter; false after the last. The event counter.read of fault rules. */
bool emu_audit_stat(const struct emu_dev *dev, unsigned i, const char **name, uint64_t *value);
/** Objects left so far, all types and ports. */
uint64_t emu_audit_left_total(void);
/** The i-th text kept of a kind; NULL if there is none. */
const char *emu_audit_text(enum emu_audit_kind kind, unsigned i);
/** Clears the audit: for tests that provoke refusals, and for a child after fork(). */
void emu_audit_reset(void);
/** Objects found when a context closed or the process ended; one line per type. */
void emu_audit_left(struct emu_dev *dev, const char *what, unsigned count);
/**
 * Evidence that is incomplete: a capture or trace that could not be written, or a damaged one that could not be read.
 * The report names it, and the launcher fails. To be called once for each file. printf-like, any thread.
 */
void emu_audit_lost(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Lines of the ledger for the report, allocated by malloc(); owned by the audit from now on. NULL: none. */
void emu_audit_set_ledger(char *text);
/**
 * Appends the report as text to path: per port the counters (`port 0 tx_frames 123` lines), what
 * was left, the violations, and a last line `audit: clean` or `audit: N left, M violations`.
 * @return 0 when clean, 1 when not, -errno when the file cannot be written.
 */
int emu_audit_write(struct emu_machine *m, const char *path);

/** Writes all bytes, by system calls, to an open file. 0 or -errno. */
int emu_file_write(int fd, const void *bytes, size_t len);

/** Opens the trace file (append, line buffered). The first failed write ends the trace. 0 or -errno. */
int emu_trace_open(const char *path);
/** Writes one command and its reply, decoded; does nothing if no trace is open. */
void emu_trace_command(struct emu_ctx *ctx, const void *in, size_t in_len, const void *out,
		       size_t out_len);
/** Writes one line of free text, e.g. a kernel call. */
void emu_trace_note(struct emu_dev *dev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* EMU_AUDIT_H */
