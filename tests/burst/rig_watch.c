/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * What a burst function must not do: allocate, log, take a mutex, enter the kernel, or wait. Each burst of each test
 * runs between rig_watch_begin() and rig_watch_end():
 *  - malloc() and its relatives are replaced in the whole program, DPDK's libraries included;
 *  - calls of the functions that the linker wraps (meson.build) are counted;
 *  - system calls raise SIGSYS (PR_SET_SYSCALL_USER_DISPATCH of prctl(2), Linux 5.11, x86);
 *  - waits without the kernel are seen by the time of the shortest of many bursts, which preemption does not lengthen.
 * The runtime of a sanitizer itself allocates and enters the kernel: only the wrapped functions are watched then.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <rte_cycles.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include "rig.h"

/* Promise: 20 us at most. A sanitizer makes bursts slower. */
#ifdef RIG_SANITIZED
#define LIMIT_US 2000
#else
#define LIMIT_US 20
#endif
#define KINDS 1024
/* Of fewer bursts the shortest may have been preempted. */
#define SAMPLES 16

static __thread bool watching;
static __thread uint64_t begin_tsc;
static __thread const char *seen;	/* The first forbidden thing of the current burst. */

static struct kind {
	uintptr_t burst;
	unsigned int n;
	uint64_t shortest;
} kinds[KINDS];
static unsigned int nb_bursts;

static void
forbidden(const char *what)
{
	if (watching && seen == NULL)
		seen = what;
}

#ifndef RIG_SANITIZED
/* ---- the heap of libc ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);

void *
malloc(size_t size)
{
	forbidden("malloc()");
	return __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	forbidden("calloc()");
	return __libc_calloc(n, size);
}

void *
realloc(void *p, size_t size)
{
	forbidden("realloc()");
	return __libc_realloc(p, size);
}

void *
memalign(size_t align, size_t size)
{
	forbidden("memalign()");
	return __libc_memalign(align, size);
}

void *
aligned_alloc(size_t align, size_t size)
{
	forbidden("aligned_alloc()");
	return __libc_memalign(align, size);
}

int
posix_memalign(void **p, size_t align, size_t size)
{
	forbidden("posix_memalign()");
	*p = __libc_memalign(align, size);
	return *p != NULL ? 0 : ENOMEM;
}

void
free(void *p)
{
	forbidden("free()");
	__libc_free(p);
}
#endif

/* ---- system calls ---- */

#if defined(PR_SET_SYSCALL_USER_DISPATCH) && defined(RTE_ARCH_X86_64) && !defined(RIG_SANITIZED)
/* Read by the kernel at each system call of the thread. */
static volatile char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

static void
on_system_call(int sig __rte_unused, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	static char text[32];

	/* Let it pass, from the instruction `syscall` (2 bytes) again. */
	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	u->uc_mcontext.gregs[REG_RIP] -= 2;
	snprintf(text, sizeof(text), "system call %d", info->si_syscall);
	forbidden(text);
}

static void
calls_watch(void)
{
	struct sigaction act = { .sa_sigaction = on_system_call, .sa_flags = SA_SIGINFO | SA_NODEFER };

	sigaction(SIGSYS, &act, NULL);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) != 0)
		printf("system calls of bursts are not watched: prctl: %s\n", strerror(errno));
}

static void
calls_block(bool on)
{
	selector = on ? SYSCALL_DISPATCH_FILTER_BLOCK : SYSCALL_DISPATCH_FILTER_ALLOW;
}
#else
static void
calls_watch(void)
{
	printf("system calls of bursts are not watched in this build\n");
}

static void
calls_block(bool on __rte_unused)
{
}
#endif

/* ---- functions that the linker wraps ---- */

/* The name, the parameters with types, and without. */
#define WRAP(type, name, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		forbidden(#name "()"); \
		return __real_##name arguments; \
	}
WRAP(void *, rte_malloc, (const char *t, size_t s, unsigned int a), (t, s, a))
WRAP(void *, rte_zmalloc, (const char *t, size_t s, unsigned int a), (t, s, a))
WRAP(void *, rte_calloc, (const char *t, size_t n, size_t s, unsigned int a), (t, n, s, a))
WRAP(void *, rte_realloc, (void *p, size_t s, unsigned int a), (p, s, a))
WRAP(void *, rte_malloc_socket, (const char *t, size_t s, unsigned int a, int k), (t, s, a, k))
WRAP(void *, rte_zmalloc_socket, (const char *t, size_t s, unsigned int a, int k), (t, s, a, k))
WRAP(void, rte_free, (void *p), (p))
WRAP(int, rte_vlog, (uint32_t level, uint32_t type, const char *f, va_list ap), (level, type, f, ap))
WRAP(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
WRAP(int, vfprintf, (FILE *to, const char *f, va_list ap), (to, f, ap))

int __wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...);
int
__wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...)
{
	va_list ap;
	int ret;

	forbidden("rte_log()");
	va_start(ap, format);
	ret = rte_vlog(level, type, format, ap);
	va_end(ap);
	return ret;
}

/* ---- one burst ---- */

static struct kind *
kind_of(uintptr_t burst)
{
	unsigned int i;

	for (i = 0; i < KINDS - 1 && kinds[i].burst != burst && kinds[i].burst != 0; i++)
		;
	kinds[i].burst = burst;
	return &kinds[i];
}

void
rig_watch_begin(void)
{
	if (nb_bursts++ == 0)
		calls_watch();
	seen = NULL;
	watching = true;
	begin_tsc = rte_rdtsc_precise();
	calls_block(true);
}

bool
rig_watch_pause(bool on)
{
	bool before = watching;

	watching = on;
	calls_block(on);
	return before;
}

void
rig_watch_end(uintptr_t burst, uint16_t n)
{
	uint64_t tsc;
	struct kind *k;

	calls_block(false);
	watching = false;
	tsc = rte_rdtsc_precise() - begin_tsc;
	CHECK(seen == NULL, "a burst of %u packets: %s", n, seen);
	if (n == 0)
		return;
	k = kind_of(burst);
	if (k->n++ == 0 || tsc < k->shortest)
		k->shortest = tsc;
}

void
rig_watch_check(void)
{
	uint64_t limit = rte_get_tsc_hz() / 1000000 * LIMIT_US;
	unsigned int i, timed = 0;

	for (i = 0; i < KINDS && kinds[i].burst != 0; i++) {
		if (kinds[i].n < SAMPLES)
			continue;
		timed++;
		CHECK(kinds[i].shortest < limit, "the shortest of %u bursts of one kind took %" PRIu64 " us, more than %u",
		      kinds[i].n, kinds[i].shortest / (rte_get_tsc_hz() / 1000000), LIMIT_US);
	}
	if (nb_bursts != 0)
		printf("%u bursts did not allocate, log, lock or enter the kernel; %u of %u kinds were timed\n", nb_bursts,
		       timed, i);
}
