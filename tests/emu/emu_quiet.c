/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A program that has nothing to do with RDMA: it must not notice the emulator. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	if (d != NULL)
		closedir(d);
	return n;
}

int
main(void)
{
	struct stat st;
	int threads, fds;

	if (stat("/proc/self", &st) != 0 || access("/sys/class/net/lo", F_OK) != 0)
		return 1;
	threads = entries("/proc/self/task");
	/* The directory stream itself is the fourth descriptor. */
	fds = entries("/proc/self/fd");
	printf("threads %d, descriptors %d\n", threads, fds);
	return threads == 1 && fds <= 5 ? 0 : 1;
}
