/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Holds a PD on the first RDMA device until SIGTERM; with an argument it ignores SIGTERM. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <infiniband/verbs.h>

int
main(int argc, char **argv)
{
	struct ibv_device **list;
	struct ibv_context *device;
	struct ibv_pd *pd;
	sigset_t wanted;
	int number;

	(void)argv;
	/* Before the device is opened: its threads inherit the mask. */
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	list = ibv_get_device_list(NULL);
	device = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
	pd = device != NULL ? ibv_alloc_pd(device) : NULL;
	if (pd == NULL)
		return 1;
	puts("ready");
	fflush(stdout);
	do {
		sigwait(&wanted, &number);
	} while (argc > 1);
	ibv_dealloc_pd(pd);
	ibv_close_device(device);
	ibv_free_device_list(list);
	return 0;
}
