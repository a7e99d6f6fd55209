/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* See host_sim.h. */

#include <malloc.h>
#include <string.h>

#include "host_sim.h"

int allocated;
bool no_memory;

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *
__wrap_calloc(size_t n, size_t bytes)
{
	allocated += !no_memory;
	return no_memory ? NULL : __real_calloc(n, bytes);
}

void __real_free(void *p);
void __wrap_free(void *p);
void
__wrap_free(void *p)
{
	allocated -= p != NULL;
	/* What reads it afterwards finds no port. */
	if (p != NULL)
		memset(p, 0, malloc_usable_size(p));
	__real_free(p);
}
