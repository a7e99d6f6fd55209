/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The machine: its devices, the contexts that programs open on them, and threads of the model. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu_audit.h"
#include "emu_guard.h"
#include "emu_identity.h"
#include "emu_iommu.h"
#include "emu_obj.h"
#include "emu_pci.h"

/* First event queue number that completion vectors use; lower ones are the driver's own. */
#define EMU_FIRST_EQN 0x0au

__thread bool emu_thread_own __attribute__((tls_model("initial-exec")));

/** Argument of a new thread. */
struct thread_start {
	void *(*run)(void *);
	void *arg;
};

static void *
thread_main(void *arg)
{
	struct thread_start *given = arg, start = *given;

	free(given);
	emu_thread_own = true;
	return start.run(start.arg);
}

int
emu_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
	struct thread_start *start = malloc(sizeof(*start));
	sigset_t all, before;
	pthread_attr_t attr;
	cpu_set_t cpus;
	int ret;

	if (start == NULL)
		return -ENOMEM;
	*start = (struct thread_start){.run = run, .arg = arg};
	/* Do not inherit the affinity of the calling thread. */
	CPU_ZERO(&cpus);
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF) && i < CPU_SETSIZE; i++)
		CPU_SET((int)i, &cpus);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	sigfillset(&all);
	emu_guard_unblock(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, &attr, thread_main, start);
	if (ret == EINVAL) /* a container may forbid some of the processors */
		ret = pthread_create(thread, NULL, thread_main, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (ret == 0)
		pthread_setname_np(*thread, name);
	else
		free(start);
	return -ret;
}

static void
dev_name_it(struct emu_dev *dev)
{
	unsigned i = dev->index % EMU_MAX_PORTS;

	snprintf(dev->ibdev_name, sizeof(dev->ibdev_name), "mlx%c_%u",
		 dev->profile->mlx4 ? '4' : '5', i);
	snprintf(dev->uverbs_name, sizeof(dev->uverbs_name), "uverbs%u", i);
	snprintf(dev->netdev_name, sizeof(dev->netdev_name), "mlxemu%unp0", i);
	/* Two functions per card, as on dual-port cards. */
	snprintf(dev->pci_addr, sizeof(dev->pci_addr), "0000:%02x:00.%u", 0xc1 + i / 2, i % 2);
	snprintf(dev->name, sizeof(dev->name), "%s", dev->pci_addr);
	snprintf(dev->folder, sizeof(dev->folder), "%s", dev->pci_addr);
}

static int
dev_eqs_create(struct emu_dev *dev)
{
	for (unsigned i = 0; i < EMU_COMP_VECTORS; i++)
		if (emu_obj_new(dev, NULL, EMU_OBJ_EQ, sizeof(struct emu_obj), NULL) == NULL)
			return -ENOMEM;
	return 0;
}

int
emu_eqn_of_vector(struct emu_dev *dev, unsigned vector)
{
	(void)dev;
	return vector < EMU_COMP_VECTORS ? (int)(EMU_FIRST_EQN + vector) : -EINVAL;
}

static int
dev_init(struct emu_dev *dev, unsigned index, const struct emu_profile *profile)
{
	int ret;

	dev->index = index;
	dev->profile = profile;
	dev->admin_up = true;
	dev->fronts = EMU_FRONT_VERBS;
	TAILQ_INIT(&dev->contexts);
	TAILQ_INIT(&dev->orphans);
	dev_name_it(dev);
	emu_identity_set(dev);
	dev->vport.mtu = 1500;
	emu_clock_init(&dev->clock, profile->clock_hz, emu_clock_plan_of(index));
	ret = emu_obj_table_init(dev);
	if (ret == 0)
		ret = dev_eqs_create(dev);
	return ret;
}

int
emu_machine_init(struct emu_machine *m, unsigned ports, const struct emu_profile *profile)
{
	int ret = 0;

	if (ports == 0 || ports > EMU_MAX_PORTS || profile == NULL)
		return -EINVAL;
	memset(m, 0, sizeof(*m));
	pthread_mutex_init(&m->mutex, NULL);
	pthread_cond_init(&m->turn, NULL);
	pthread_cond_init(&m->resume, NULL);
	m->wake_fd = -1;
	m->ports = ports;
	for (unsigned i = 0; i < ports && ret == 0; i++)
		ret = dev_init(&m->dev[i], i, profile);
	if (ret != 0)
		emu_machine_fini(m);
	return ret;
}

void
emu_machine_fini(struct emu_machine *m)
{
	for (unsigned i = 0; i < m->ports; i++) {
		struct emu_dev *dev = &m->dev[i];

		while (dev->profile != NULL && !TAILQ_EMPTY(&dev->contexts))
			emu_ctx_close(TAILQ_FIRST(&dev->contexts));
		while (dev->profile != NULL && !TAILQ_EMPTY(&dev->orphans))
			emu_ctx_close(TAILQ_FIRST(&dev->orphans));
		emu_obj_table_fini(dev);
		emu_pci_detach(dev);
	}
	m->ports = 0;
	pthread_cond_destroy(&m->turn);
	pthread_cond_destroy(&m->resume);
	pthread_mutex_destroy(&m->mutex);
}

void *
emu_file_map(void)
{
	void *file = mmap(NULL, EMU_FILE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return file == MAP_FAILED ? NULL : file;
}

void
emu_file_unmap(void *file)
{
	if (file != NULL)
		munmap(file, EMU_FILE_BYTES);
}

/* A uid that no open context of the device uses; never 0. */
static uint16_t
uid_new(struct emu_dev *dev)
{
	uint16_t uid = 0;
	struct emu_ctx *ctx;
	bool taken;

	do {
		taken = false;
		uid++;
		TAILQ_FOREACH(ctx, &dev->contexts, next)
			taken |= ctx->uid == uid;
	} while (taken);
	return uid;
}

/* Make the context visible; emu_clock_registers() writes its page from now on. */
static void
ctx_insert(struct emu_ctx *ctx)
{
	struct emu_dev *dev = ctx->dev;

	TAILQ_INIT(&ctx->owned);
	emu_clock_hold(dev);
	TAILQ_INSERT_TAIL(&dev->contexts, ctx, next);
	emu_clock_release(dev);
	emu_clock_publish(dev);
	emu_clock_tick(dev);
}

int
emu_ctx_open_vfio(struct emu_dev *dev, void *bar, uint64_t bar_bytes, struct emu_iommu *iommu,
		  struct emu_ctx **out)
{
	struct emu_ctx *ctx = calloc(1, sizeof(*ctx));

	if (ctx == NULL)
		return -ENOMEM;
	ctx->dev = dev;
	ctx->file = bar;
	ctx->devx = true;
	ctx->uar_end = bar_bytes;
	ctx->iommu = iommu;
	ctx->counter_page = EMU_BAR_COUNTER_OFFSET;
	ctx_insert(ctx);
	*out = ctx;
	return 0;
}

int
emu_ctx_open(struct emu_dev *dev, void *file, bool devx, const struct emu_ctx_ops *ops,
	     struct emu_ctx **out)
{
	struct emu_ctx *ctx;

	if (file == NULL)
		return -EINVAL;
	ctx = calloc(1, sizeof(*ctx));
	if (ctx == NULL)
		return -ENOMEM;
	ctx->dev = dev;
	ctx->file = file;
	ctx->devx = devx;
	ctx->ops = ops;
	ctx->uid = uid_new(dev);
	ctx->uar_base = EMU_UAR_OFFSET;
	ctx->uar_end = EMU_FILE_BYTES;
	ctx->counter_page = EMU_CORE_CLOCK_OFFSET;
	ctx_insert(ctx);
	*out = ctx;
	return 0;
}

/*
 * One sweep from the newest to the oldest. An older object may reference a newer one (an RQT that
 * was modified to point to new RQs); an object still in use is left for the next sweep.
 */
static unsigned
sweep_once(struct emu_ctx *ctx, unsigned found[EMU_OBJ_TYPES])
{
	struct emu_obj *obj, *older;
	unsigned n = 0;

	for (obj = TAILQ_FIRST(&ctx->owned); obj != NULL; obj = older) {
		enum emu_obj_type type = obj->lost ? EMU_OBJ_NONE : obj->type;

		older = TAILQ_NEXT(obj, owned);
		if (emu_obj_destroy(obj) != 0)
			continue;
		found[type]++;
		n++;
	}
	return n;
}

unsigned
emu_ctx_sweep(struct emu_ctx *ctx)
{
	unsigned found[EMU_OBJ_TYPES] = {0}, total = 0, n;

	do {
		n = sweep_once(ctx, found);
		total += n;
	} while (n != 0);
	while (!TAILQ_EMPTY(&ctx->owned)) {
		struct emu_obj *obj = TAILQ_FIRST(&ctx->owned);

		found[obj->lost ? EMU_OBJ_NONE : obj->type]++;
		total++;
		emu_obj_destroy_forced(obj);
	}
	/* Do not report objects that a fault rule hid from the program, nor any after a failure or removal. */
	for (unsigned t = EMU_OBJ_NONE + 1; t < EMU_OBJ_TYPES && !emu_dev_unusable(ctx->dev); t++)
		if (found[t] != 0)
			emu_audit_left(ctx->dev, emu_obj_type_name(t), found[t]);
	return total;
}

/*
 * The kernel gives back all memory of the file although the device still uses it, because the destroy commands are
 * not executed (core/rdma_core.c, uverbs_destroy_ufile_hw()). The program's doorbell pages are unmapped.
 */
static void
ctx_orphan(struct emu_ctx *ctx)
{
	const struct emu_dp_ops *dp = emu_machine_of(ctx->dev)->dp_ops;
	struct emu_obj *obj;

	ctx->orphan = true;
	ctx->ops = NULL;
	TAILQ_FOREACH(obj, &ctx->owned, owned) {
		obj->abi = NULL;
		if (obj->type == EMU_OBJ_UMEM || obj->type == EMU_OBJ_MKEY)
			dp->given_back(obj);
		else if (obj->type == EMU_OBJ_UAR)
			dp->forget(obj);
	}
	emu_clock_hold(ctx->dev);
	TAILQ_REMOVE(&ctx->dev->contexts, ctx, next);
	TAILQ_INSERT_TAIL(&ctx->dev->orphans, ctx, next);
	emu_clock_release(ctx->dev);
}

unsigned
emu_ctx_close(struct emu_ctx *ctx)
{
	struct emu_ctx_head *list = ctx->orphan ? &ctx->dev->orphans : &ctx->dev->contexts;
	unsigned total;

	if (ctx->dev->internal_error && !ctx->dev->removed && !ctx->orphan && ctx->iommu == NULL) {
		ctx_orphan(ctx);
		return 0;
	}
	total = emu_ctx_sweep(ctx);
	if (ctx->iommu != NULL) {
		emu_iommu_watch(ctx->iommu, NULL, NULL);
		ctx->dev->l2 = (struct emu_l2_table){.on = ctx->dev->l2.on};
		memset(ctx->dev->pp, 0, sizeof(ctx->dev->pp));
	}
	emu_clock_hold(ctx->dev);
	TAILQ_REMOVE(list, ctx, next);
	emu_clock_release(ctx->dev);
	free(ctx->hca.page);
	free(ctx->hca.caps);
	free(ctx);
	return total;
}
