/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Process exit: writes the report on every exit path that runs code. */
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

/* exit(): after atexit functions and destructors of the program. */
__attribute__((destructor)) static void
abi_destructor(void)
{
	abi_model_finish();
}
