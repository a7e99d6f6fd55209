/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* EAL is not initialised: memory that processes share comes from the test's calloc(), which counts it. */

#include <stddef.h>

#include "../check.h"

void *__wrap_calloc(size_t n, size_t bytes);
void __wrap_free(void *p);

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
