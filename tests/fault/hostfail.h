/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Failures of the host: the k-th call that a library makes to a function of the host fails.
 *
 * The imports of the named libraries (malloc, mmap, socket, rte_zmalloc, ...) are led through here,
 * those of everybody else are not: an emulated device in the same process keeps its memory. Only
 * calls of the thread that armed it count, so the k-th call is the same one in each run.
 */
#ifndef HOSTFAIL_H
#define HOSTFAIL_H

#include <stdbool.h>

/**
 * Leads the imports of a loaded library through here.
 *
 * @param library beginning of the file's name, as "librte_net_mlxpmd.so"
 * @param with_ioctl its ioctl() as well
 * @return how many imports were found; -ENOENT when no such library is loaded
 */
int hostfail_attach(const char *library, bool with_ioctl);

/** What failed. */
struct hostfail_hit {
	const char *name; /**< Of the function; NULL: the call number k was not made. */
	int err;	  /**< Positive errno it failed with. */
	char caller[64];  /**< File name of the library that called. */
};

/**
 * From here on the call number k of this thread (0 is the next one) fails, once.
 *
 * @param err 0: calls that take memory, descriptors or threads, with the errno of such a failure;
 *   else calls of ioctl(), with this errno
 */
void hostfail_arm(unsigned int k, int err);
/** No more counting. */
void hostfail_disarm(struct hostfail_hit *hit);

#endif /* HOSTFAIL_H */
