/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Faults of the model on memory that the program unmapped or protected: see emu_guard.h. */
#include "emu_guard.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu_audit.h"
#include "emu_iommu.h"
#include "emu_obj.h"

/* Alias of sigaction() in libc: sigaction() itself is interposed. */
int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* SIGTRAP only if threads are stepped. */
static const int guarded[] = {SIGSEGV, SIGBUS, SIGTRAP};
#define GUARDED_MAX (sizeof(guarded) / sizeof(guarded[0]))
static unsigned guards = GUARDED_MAX - 1;
static bool (*step_hook)(void *context);

bool (*emu_guard_hook)(uint64_t addr, void *context);
static struct emu_machine *machine; /* NULL: the guard is not up */
static struct sigaction program[GUARDED_MAX];

static int
index_of(int sig)
{
	for (unsigned i = 0; i < guards; i++)
		if (guarded[i] == sig)
			return (int)i;
	return -1;
}

/** The registration that an address belongs to. */
struct search {
	uint64_t addr;
	struct emu_dev *dev; /* NULL: none */
	const char *what;
	uint32_t id;
	uint64_t start, len;
};

static void
search_in(struct search *s, const struct emu_obj *obj, uint64_t start, uint64_t len)
{
	if (s->dev != NULL || s->addr - start >= len)
		return;
	s->dev = obj->dev;
	s->what = emu_obj_type_name(obj->type);
	s->id = obj->id;
	s->start = start;
	s->len = len;
}

static void
search_umem(struct emu_obj *obj, void *arg)
{
	const struct emu_umem *umem = (const struct emu_umem *)obj;

	search_in(arg, obj, umem->addr, umem->len);
}

static void
search_mkey(struct emu_obj *obj, void *arg)
{
	const struct emu_mkey *mkey = (const struct emu_mkey *)obj;

	search_in(arg, obj, mkey->host, mkey->len);
}

/* With VFIO the kernel pins the mappings of the IOMMU, with or without a key over them. */
static void
search_iommu(struct emu_dev *dev, struct search *s)
{
	const struct emu_ctx *ctx;

	TAILQ_FOREACH(ctx, &dev->contexts, next) {
		if (s->dev != NULL || ctx->iommu == NULL ||
		    !emu_iommu_of(ctx->iommu, s->addr, &s->start, &s->len))
			continue;
		s->dev = dev;
		s->what = "mapping of context";
		s->id = ctx->uid;
	}
}

static bool
search(struct search *s)
{
	for (unsigned i = 0; i < machine->ports && s->dev == NULL; i++) {
		search_iommu(&machine->dev[i], s);
		emu_obj_foreach(&machine->dev[i], EMU_OBJ_UMEM, search_umem, s);
		emu_obj_foreach(&machine->dev[i], EMU_OBJ_MKEY, search_mkey, s);
	}
	return s->dev != NULL;
}

/* By system call: mmap() of libc is interposed. */
static bool
page_map(uint64_t page, int how)
{
	long at = syscall(SYS_mmap, page, (long)EMU_PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);

	if (at == -1 || (uint64_t)at == page)
		return at != -1;
	/* A kernel, or qemu-user, that does not know MAP_FIXED_NOREPLACE: mmap(2). */
	(void)syscall(SYS_munmap, at, (long)EMU_PAGE_BYTES);
	errno = EEXIST;
	return false;
}

/*
 * Make the page accessible again; returns the reason of the fault as text, NULL if this fails. The
 * new page stays until the program maps something else over it: it may be in the middle of a range
 * that the program has reserved.
 */
static const char *
page_give(uint64_t page, int sig)
{
	void *at = (void *)(uintptr_t)page;

	if (page_map(page, MAP_FIXED_NOREPLACE))
		return "unmapped";
	if (errno != EEXIST)
		return NULL;
	/* A mapping beyond the end of its file. */
	if (sig == SIGBUS)
		return page_map(page, MAP_FIXED) ? "cut off" : NULL;
	return mprotect(at, EMU_PAGE_BYTES, PROT_READ | PROT_WRITE) == 0 ? "made inaccessible"
									  : NULL;
}

/* The fault is synchronous, and the thread holds the machine's lock: the model can be used here. */
static bool
map_page_at(int sig, uint64_t addr)
{
	struct search s = {.addr = addr};
	const char *what;

	if (!search(&s))
		return false;
	what = page_give(addr & ~(uint64_t)(EMU_PAGE_BYTES - 1), sig);
	if (what == NULL)
		return false;
	emu_audit(s.dev, EMU_AUDIT_LOST_MEMORY,
		  "%s 0x%x of 0x%" PRIx64 "+0x%" PRIx64 " is in use and was %s at 0x%" PRIx64,
		  s.what, s.id, s.start, s.len, what, addr);
	return true;
}

/* Do what would happen without the guard. */
static void
hand_on(int sig, siginfo_t *info, void *context)
{
	struct sigaction *act = &program[index_of(sig)];
	struct sigaction fatal = {.sa_handler = SIG_DFL};

	if (act->sa_flags & SA_SIGINFO) {
		act->sa_sigaction(sig, info, context);
	} else if (act->sa_handler == SIG_IGN && info->si_code <= 0) {
		return; /* sent by kill() */
	} else if (act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN) {
		act->sa_handler(sig);
	} else {
		/* The instruction is executed again and ends the process. */
		__sigaction(sig, &fatal, NULL);
		if (info->si_code <= 0)
			raise(sig);
	}
}

static void
on_fault(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	bool handled = info->si_code > 0 && machine != NULL;

	if (handled && sig == SIGTRAP)
		handled = info->si_code == TRAP_TRACE && step_hook(context);
	else if (handled && emu_lock_is_mine(machine))
		handled = map_page_at(sig, (uintptr_t)info->si_addr);
	else if (handled)
		handled = emu_guard_hook != NULL &&
			 emu_guard_hook((uintptr_t)info->si_addr, context);

	errno = saved;
	if (!handled)
		hand_on(sig, info, context);
}

/* Call the program's handler with the signal mask that the program has requested. */
static int
take(unsigned i)
{
	struct sigaction act = {.sa_sigaction = on_fault};

	act.sa_flags = SA_SIGINFO | SA_ONSTACK | (program[i].sa_flags & (SA_NODEFER | SA_RESTART));
	act.sa_mask = program[i].sa_mask;
	return __sigaction(guarded[i], &act, NULL);
}

void
emu_guard_steps(bool (*hook)(void *context))
{
	step_hook = hook;
	guards = GUARDED_MAX;
}

int
emu_guard_start(struct emu_machine *m)
{
	for (unsigned i = 0; i < guards; i++)
		if (__sigaction(guarded[i], NULL, &program[i]) != 0 || take(i) != 0)
			return -errno;
	machine = m;
	return 0;
}

void
emu_guard_stop(void)
{
	if (machine == NULL)
		return;
	machine = NULL;
	for (unsigned i = 0; i < guards; i++)
		__sigaction(guarded[i], &program[i], NULL);
}

bool
emu_guard_has(int sig)
{
	return machine != NULL && index_of(sig) >= 0;
}

int
emu_guard_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int i = index_of(sig);

	if (old != NULL)
		*old = program[i];
	if (act == NULL)
		return 0;
	program[i] = *act;
	return take((unsigned)i);
}

void
emu_guard_unblock(sigset_t *set)
{
	for (unsigned i = 0; i < guards; i++)
		sigdelset(set, guarded[i]);
}
