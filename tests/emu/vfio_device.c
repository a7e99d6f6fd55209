/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What befalls a device behind VFIO: planned faults, threads, removal, firmware that fails. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vfio.h"

/* Initialisation segment, in dwords. */
#define SEG_FW_VERSION (0x230 / 4)
#define SEG_RFR (0x238 / 4)
#define SEG_SYNDROME (0x23c / 4) /* the second byte */
#define SEG_TIMER_LOW (0x1004 / 4)
#define SEG_HEALTH_COUNTER (0x1010 / 4)
#define COMMANDS 200u

/* BAR 0 begins so many pages before a doorbell page. */
static const volatile uint32_t *
bar_of(struct ibv_context *ctx)
{
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	const volatile uint32_t *bar;

	CHECK(uar != NULL);
	if (uar == NULL)
		exit(1);
	bar = (const volatile uint32_t *)((uint8_t *)uar->base_addr - uar->page_id * 4096ull);
	mlx5dv_devx_free_uar(uar);
	return bar;
}

/* Each planned fault ends one open with its own errno; nothing of it is in the way of the next. */
void
case_vfio_faults(unsigned port)
{
	const char *want = getenv("VFIO_FAULTS");
	struct ibv_context *ctx = NULL;
	unsigned failed = 0;

	for (; ctx == NULL && failed < 100; failed += ctx == NULL) {
		errno = 0;
		ctx = vfio_open(port);
		CHECK(ctx != NULL || errno != 0);
	}
	CHECK_EQ(failed, want != NULL ? atoi(want) : 0);
	if (ctx == NULL)
		return;
	CHECK_EQ(vfio_query_caps(ctx), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void *
commands(void *arg)
{
	struct ibv_context *ctx = arg;
	sigset_t all;

	/* A card does not care for signals. */
	sigfillset(&all);
	CHECK_EQ(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
	for (unsigned i = 0; i < COMMANDS; i++)
		CHECK_EQ(vfio_query_caps(ctx), 0);
	return NULL;
}

/* Two ports, three threads, and one that reads the events. */
void
case_vfio_threads(unsigned port)
{
	struct ibv_context *one = vfio_open(port), *two = vfio_open(port + 1);
	struct ibv_context *of[3] = {one, one, two};
	pthread_t thread[3];
	struct pollfd p;

	CHECK(one != NULL && two != NULL);
	if (one == NULL || two == NULL)
		return;
	p = (struct pollfd){.fd = mlx5dv_vfio_get_events_fd(two), .events = POLLIN};
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, commands, of[i]), 0);
	for (unsigned i = 0; i < COMMANDS; i++)
		if (poll(&p, 1, 1) > 0)
			CHECK_EQ(mlx5dv_vfio_process_events(two), 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(ibv_close_device(one), 0);
	CHECK_EQ(ibv_close_device(two), 0);
}

static bool
wait_for(const volatile uint32_t *word, uint32_t mask, uint32_t value)
{
	return AWAIT((ntohl(*word) & mask) == value, 10000);
}

static void
health_moves(const volatile uint32_t *bar, bool moves)
{
	uint32_t before = bar[SEG_HEALTH_COUNTER];

	/* A stopped counter is watched for 300 ms. */
	CHECK_EQ(AWAIT(bar[SEG_HEALTH_COUNTER] != before, moves ? 5000 : 300), moves);
}

static int
control(const char *words)
{
	const char *mlxemu = getenv("MLXEMU");
	char line[512];

	snprintf(line, sizeof(line), "exec %s ctl %s >/dev/null", mlxemu != NULL ? mlxemu : "mlxemu",
		 words);
	return system(line);
}

static bool
vfio_pci_there(unsigned port)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", vfio_address(port));
	return access(path, F_OK) == 0;
}

static void *
command_once(void *arg)
{
	/* There is no reply: the library waits without a limit. */
	(void)vfio_query_caps(arg);
	return NULL;
}

/* The health counter runs; then the firmware fails, reports it in the segment, and answers no command. */
void
case_vfio_fatal(unsigned port)
{
	struct ibv_context *ctx = vfio_open(port);
	const volatile uint32_t *bar;
	uint32_t before;
	pthread_t thread;

	CHECK(ctx != NULL);
	if (ctx == NULL)
		return;
	bar = bar_of(ctx);
	before = ntohl(bar[SEG_TIMER_LOW]);
	CHECK(ntohl(bar[SEG_FW_VERSION]) != 0xffffffff);
	health_moves(bar, true);
	CHECK(ntohl(bar[SEG_TIMER_LOW]) != before);
	CHECK_EQ(control("health counter=stop"), 0);
	health_moves(bar, false);
	CHECK_EQ(control("health counter=go"), 0);
	health_moves(bar, true);
	CHECK_EQ(control("health syndrome=8"), 0);
	CHECK(wait_for(&bar[SEG_RFR], 0x80000000, 0x80000000));
	CHECK_EQ(ntohl(bar[SEG_SYNDROME]) >> 16 & 0xff, 8);
	CHECK_EQ(pthread_create(&thread, NULL, command_once, ctx), 0);
	pass_us(100000); /* The command must not return. */
	CHECK_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
	/* It can still be unplugged. */
	CHECK_EQ(vfio_pci_there(port), true);
	CHECK_EQ(control("remove"), 0);
	CHECK_EQ(ntohl(bar[SEG_FW_VERSION]), 0xffffffff);
	CHECK_EQ(ntohl(bar[SEG_SYNDROME]), 0xffffffff);
	CHECK_EQ(vfio_pci_there(port), false);
	CHECK(vfio_open(port) == NULL);
	_exit(check_failures != 0);
}

/* A rule takes the card away in the middle of a command: every read gives ones. */
void
case_vfio_remove(unsigned port)
{
	struct ibv_context *ctx = vfio_open(port);
	const volatile uint32_t *bar;
	pthread_t thread;

	CHECK(ctx != NULL);
	if (ctx == NULL)
		return;
	bar = bar_of(ctx);
	CHECK_EQ(pthread_create(&thread, NULL, command_once, ctx), 0);
	CHECK(wait_for(&bar[SEG_FW_VERSION], 0xffffffff, 0xffffffff));
	CHECK_EQ(ntohl(bar[0]), 0xffffffff);
	/* The device is no longer listed. */
	CHECK(vfio_open(port) == NULL);
	CHECK_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
	_exit(check_failures != 0);
}

/* The process ends with the device open. */
void
case_vfio_leave(unsigned port)
{
	struct ibv_context *ctx = vfio_open(port);

	CHECK(ctx != NULL);
	_exit(check_failures != 0);
}

static volatile uint32_t *late_register;

static void
store_late(void)
{
	*late_register = 0;
}

/* A store when the model has ended, as of a thread that still runs then, does no harm. */
void
case_vfio_late(unsigned port)
{
	struct ibv_context *ctx = vfio_open(port);
	struct mlx5dv_devx_uar *uar;

	CHECK(ctx != NULL);
	uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	CHECK(uar != NULL);
	late_register = uar->reg_addr;
	emu_late = store_late;
	exit(check_failures != 0);
}

/* One driver at a time. */
void
case_vfio_both(unsigned port)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *device = client_device(list, port);
	struct ibv_context *verbs, *vfio;

	CHECK(device != NULL);
	verbs = ibv_open_device(device);
	CHECK(verbs != NULL);
	CHECK(vfio_open(port) == NULL);
	CHECK_EQ(errno, EBUSY);
	vfio_elsewhere("busy");
	/* The other port is free. */
	vfio = vfio_open(port + 1);
	CHECK(vfio != NULL);
	CHECK_EQ(ibv_close_device(vfio), 0);
	CHECK_EQ(ibv_close_device(verbs), 0);
	vfio = vfio_open(port);
	CHECK(vfio != NULL);
	CHECK(ibv_open_device(device) == NULL);
	vfio_elsewhere("shut");
	CHECK_EQ(vfio_query_caps(vfio), 0);
	CHECK_EQ(ibv_close_device(vfio), 0);
	verbs = ibv_open_device(device);
	CHECK(verbs != NULL);
	/* Users of the kernel's driver share it. */
	vfio = ibv_open_device(device);
	CHECK(vfio != NULL);
	CHECK_EQ(ibv_close_device(verbs), 0);
	CHECK(vfio_open(port) == NULL);
	CHECK_EQ(ibv_close_device(vfio), 0);
	ibv_free_device_list(list);
}

/* What another process finds while this one has the device through VFIO. */
void
case_vfio_shut(unsigned port)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *device = client_device(list, port);

	CHECK(device != NULL);
	CHECK(vfio_open(port) == NULL);
	CHECK_EQ(errno, EBUSY);
	CHECK(ibv_open_device(device) == NULL);
	/* The library returns another errno than it received. */
	CHECK_EQ(open("/dev/infiniband/uverbs0", O_RDWR), -1);
	CHECK_EQ(errno, EBUSY);
	ibv_free_device_list(list);
}
