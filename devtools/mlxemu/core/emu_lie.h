/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Lies: the device or the kernel says something untrue, always and wherever the field appears.
 * They are for tests of tests: what passes on an honest device has to fail on a lying one.
 *
 *   FIELD[=VALUE]     without VALUE the field's lowest bit is flipped
 */
#ifndef EMU_LIE_H
#define EMU_LIE_H

#include "emu_dev.h"

/** Kinds of lie, by the first word of FIELD; the table in emu_lie.c has their syntax. */
enum emu_lie_kind {
	EMU_LIE_CMD,
	EMU_LIE_CQE,
	EMU_LIE_EQE,
	EMU_LIE_FRAME,
	EMU_LIE_CLOCK,
	EMU_LIE_IOCTL,
	EMU_LIE_ERRNO,
	EMU_LIE_SYSFS,
	EMU_LIE_COUNTER,
	EMU_LIE_MR,
	EMU_LIE_KINDS,
};

/** Bit per kind that is lied about. */
extern uint32_t emu_lies;

static inline bool
emu_lie_about(enum emu_lie_kind kind)
{
	return __builtin_expect((emu_lies >> kind & 1) != 0, 0);
}

/** Adds a lie. 0; -EINVAL with one line in err; -ENOMEM. */
int emu_lie_add(const char *text, char *err, size_t err_len);
void emu_lie_clear(void);
/** Prints what can be lied about: the forms, or all names that begin with prefix. How many. */
unsigned emu_lie_list(const char *prefix);

/* Where the model speaks; each is called only when emu_lie_about() its kind. */

/** A command's answer. */
void emu_lie_reply(const void *in, size_t in_len, void *out, size_t out_len);
/** A completion: its first 56 bytes in place, the last 8 in *last (host order). */
void emu_lie_cqe(void *cqe, uint64_t *last);
void emu_lie_eqe(void *eqe);
/** A frame on its way to a receive queue: a copy with the lie in it; valid until the next call. */
const uint8_t *emu_lie_frame(const uint8_t *frame, uint32_t len);
/** A field of the clock page, by name. */
uint64_t emu_lie_clock(const char *name, uint64_t value);
/** Bytes that a call hands to the program; attr is the attribute's id. */
void emu_lie_ioctl(const char *method, uint16_t attr, void *data, size_t len);
/** What a call returns: 0 or negative errno. */
int emu_lie_errno(const char *method, int ret);
/** The content of a file; text has room for len bytes. */
void emu_lie_sysfs(const char *path, char *text, size_t len);
uint64_t emu_lie_counter(const char *name, uint64_t value);
/** What the device reads through a key: a changed copy, valid for many more calls. */
void *emu_lie_data(void *at, uint64_t len);

#endif /* EMU_LIE_H */
