/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Numbers that people write: decimal, or hexadecimal behind 0x; a leading 0 means nothing. */
#ifndef EMU_NUMBER_H
#define EMU_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Reads the number that s begins with: digits only, no sign, no blank in front.
 * @return where it ends; NULL when there is none, or one of more than 64 bits.
 */
const char *emu_number_scan(const char *s, uint64_t *value);

/** All of text is a number from min to max; *value is set only then. */
bool emu_number(const char *text, uint64_t min, uint64_t max, uint64_t *value);

#endif /* EMU_NUMBER_H */
