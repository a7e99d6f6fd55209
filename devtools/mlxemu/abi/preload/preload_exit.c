/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Process exit: writes the report on every exit path that runs code. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <signal.h>
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

/*
 * Handlers that clean up and then raise the signal again end the process without exit(). A signal sent from outside
 * without a handler still ends it without a report.
 */
static void
abi_finish_before(int sig)
{
	bool ends = sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT || sig == SIGALRM;
	struct sigaction old;

	if (ends && sigaction(sig, NULL, &old) == 0 && (old.sa_flags & SA_SIGINFO) == 0 &&
	    old.sa_handler == SIG_DFL)
		abi_model_finish();
}

ABI_EXPORT int
raise(int sig)
{
	abi_finish_before(sig);
	return ABI_REAL(raise)(sig);
}

ABI_EXPORT int
kill(pid_t pid, int sig)
{
	if (pid == getpid())
		abi_finish_before(sig);
	return ABI_REAL(kill)(pid, sig);
}
