/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* See host_sim.h. */

#include <malloc.h>
#include <string.h>

#include "../check.h"
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

/* Memory that processes share is counted as the other. */
void *__wrap_rte_zmalloc(const char *type, size_t bytes, unsigned int align);
void *
__wrap_rte_zmalloc(const char *type, size_t bytes, unsigned int align)
{
	CHECK(type != NULL && align == 0);
	return __wrap_calloc(1, bytes);
}

void __wrap_rte_free(void *p);
void
__wrap_rte_free(void *p)
{
	__wrap_free(p);
}
