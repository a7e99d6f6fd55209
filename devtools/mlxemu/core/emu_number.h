/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Numbers in text: decimal, or hexadecimal after 0x; a leading 0 does not mean octal. */
#ifndef EMU_NUMBER_H
#define EMU_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Reads the number at the start of s: digits only, no sign, no leading blank.
 * @return its end; NULL if there is no number, or if it exceeds 64 bits.
 */
const char *emu_number_scan(const char *s, uint64_t *value);

/** True if all of text is a number from min to max; *value is set only then. */
bool emu_number(const char *text, uint64_t min, uint64_t max, uint64_t *value);

#endif /* EMU_NUMBER_H */
