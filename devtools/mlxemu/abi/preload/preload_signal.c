/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Signal actions and masks for the signals of the guard. The program reads back what it has set, and
 * its handlers are called for its own faults.
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

/* signal() as in glibc by default: SA_RESTART, signal blocked in its handler. */
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
 * A store to a device may fault here, which ends a thread that blocks the signal. Keep the signals of
 * the guard unblocked, also in threads that set their mask before a device is opened.
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
