/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Signal actions and masks of the program for the faults that the guard looks at first. The program
 * finds what it has set, and its handlers are called for its own faults.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "core/emu_guard.h"
#include "preload.h"

ABI_EXPORT int
sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	if (!emu_guard_has(sig) || abi_model_foreign())
		return ABI_REAL(sigaction)(sig, act, old);
	return emu_guard_sigaction(sig, act, old);
}

/* As glibc's by default: calls are restarted, the signal is blocked in its handler. */
ABI_EXPORT __sighandler_t
signal(int sig, __sighandler_t handler)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	if (!emu_guard_has(sig) || abi_model_foreign())
		return ABI_REAL(signal)(sig, handler);
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigaddset(&act.sa_mask, sig);
	return emu_guard_sigaction(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/*
 * A card takes a store whatever signals are blocked; here it is a fault, which would end a thread
 * that blocks it. Also of threads that choose their mask before a device is opened.
 */
static const sigset_t *
abi_mask(int how, const sigset_t *set, sigset_t *copy)
{
	if (set == NULL || how == SIG_UNBLOCK || abi_inside != 0 || abi_model_dead() ||
	    abi_model_foreign())
		return set;
	*copy = *set;
	emu_guard_unblock(copy);
	return copy;
}

ABI_EXPORT int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return ABI_REAL(pthread_sigmask)(how, abi_mask(how, set, &copy), old);
}

ABI_EXPORT int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t copy;

	return ABI_REAL(sigprocmask)(how, abi_mask(how, set, &copy), old);
}
