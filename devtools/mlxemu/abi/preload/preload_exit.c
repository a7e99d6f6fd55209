/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The ends of a process: the report is written on every way out that runs code. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <stdlib.h>
#include <unistd.h>

#include "preload.h"

ABI_EXPORT void
_exit(int status)
{
	abi_model_finish();
	ABI_REAL(_exit)(status);
	__builtin_unreachable();
}

ABI_EXPORT void
_Exit(int status)
{
	abi_model_finish();
	ABI_REAL(_Exit)(status);
	__builtin_unreachable();
}

/* exit(): after the program's own atexit functions and destructors. */
__attribute__((destructor)) static void
abi_destructor(void)
{
	abi_model_finish();
}
