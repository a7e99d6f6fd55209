/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Run --doctor with a test's folder as root: doctor_root FOLDER [UID]. Exit code 77 if chroot() is
 * not permitted.
 */

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "doctor.h"

int
main(int argc, char **argv)
{
	unsigned int uid = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	int ret;

	/* Load these before chroot(): the doctor opens them by name. */
	if (argc < 2 || dlopen("libibverbs.so.1", RTLD_NOW) == NULL ||
	    dlopen("libmlx5.so.1", RTLD_NOW) == NULL)
		return 2;
	if (chroot(argv[1]) != 0 || chdir("/") != 0)
		return errno == EPERM ? 77 : 2;
	if (uid != 0 && (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0))
		return 77;
	ret = tm_doctor();
	fflush(stdout);
	/* Skip exit handlers: some fail without /proc. */
	_exit(ret);
}
