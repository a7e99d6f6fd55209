/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Process exit: writes the report on every exit path that runs code. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <stdlib.h>
#include <unistd.h>

#include "preload.h"

#define ABI_EXIT(name)                                                                             \
	ABI_EXPORT void name(int status)                                                           \
	{                                                                                          \
		abi_model_finish();                                                                \
		ABI_REAL(name)(status);                                                            \
		__builtin_unreachable();                                                           \
	}
ABI_EXIT(_exit)
ABI_EXIT(_Exit)

/* exit(): after atexit functions and destructors of the program. */
__attribute__((destructor)) static void
abi_destructor(void)
{
	abi_model_finish();
}
