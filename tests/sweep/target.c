/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A program with one defect, selected by argument: what it does if its PD is refused. A sweep has to find it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

/* Write the number of the process, for the test that interrupts a sweep, and wait for a signal. */
static void
hang(const char *file)
{
	FILE *f = fopen(file, "w");

	if (f != NULL) {
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
	}
	for (;;)
		pause();
}

/* Reads memory that was freed: AddressSanitizer reports it. */
static int
use_freed(void)
{
	char *volatile freed = strdup("freed");

	free(freed);
	return freed[0];
}

int
main(int argc, char **argv)
{
	const char *defect = argc > 1 ? argv[1] : "none";
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *device = devices != NULL && devices[0] != NULL ? ibv_open_device(devices[0]) : NULL;
	struct ibv_pd *pd = device != NULL ? ibv_alloc_pd(device) : NULL;
	int status = pd == NULL;

	if (pd == NULL && strcmp(defect, "crash") == 0)
		raise(SIGSEGV);
	if (pd == NULL && strcmp(defect, "hang") == 0)
		hang(argv[2]);
	if (pd == NULL && strcmp(defect, "undefined") == 0)
		fprintf(stderr, "target.c:1:2: runtime error: null pointer\n");
	if (pd == NULL && strcmp(defect, "freed") == 0)
		status += use_freed();
	if (pd == NULL && strcmp(defect, "ignore") == 0)
		status = 0;
	if (pd == NULL && strcmp(defect, "open") == 0)
		exit(1);
	if (pd != NULL)
		ibv_dealloc_pd(pd);
	if (device != NULL)
		ibv_close_device(device);
	if (devices != NULL)
		ibv_free_device_list(devices);
	return status;
}
