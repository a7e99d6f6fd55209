/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Numbers in options, rules and requests. */
#include "emu_number.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

const char *
emu_number_scan(const char *s, uint64_t *value)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && isxdigit((unsigned char)s[2]);
	int before = errno;
	uint64_t v;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return NULL;
	errno = 0;
	v = strtoull(s, &end, hex ? 16 : 10);
	if (errno != 0)
		end = NULL;
	else
		*value = v;
	errno = before;
	return end;
}

bool
emu_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t v;
	const char *end = emu_number_scan(text, &v);

	if (end == NULL || *end != '\0' || v < min || v > max)
		return false;
	*value = v;
	return true;
}
