/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `top`: interrupts of a device, as the kernel counts them.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

void
top_interrupts_count(FILE *in, const char *pci, uint64_t *vectors, uint64_t *interrupts)
{
	char *line = NULL, *at, *end;
	size_t size = 0;
	uint64_t value;

	*vectors = 0;
	*interrupts = 0;
	while (pci[0] != '\0' && getline(&line, &size, in) > 0) {
		at = strchr(line, ':');
		if (at == NULL || strstr(at + 1, pci) == NULL)
			continue;
		++*vectors;
		/* A number per processor, then the controller's name. */
		for (at++;; at = end) {
			value = strtoull(at, &end, 10);
			if (end == at || (*end != '\0' && !isspace((unsigned char)*end)))
				break;
			*interrupts += value;
		}
	}
	free(line);
}
