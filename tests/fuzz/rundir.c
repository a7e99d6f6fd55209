/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
#include <ftw.h>
#include <stdlib.h>

#include "abi/abi.h"
#include "fz.h"
#include "rundir.h"

static char dir[] = "/tmp/mlxemu-fuzz-XXXXXX";

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void
remove_dir(void)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *
fz_dir(void)
{
	FZ_MUST(mkdtemp(dir) != NULL);
	atexit(remove_dir);
	setenv("MLXEMU_DIR", dir, 1);
	return dir;
}

/* The preloaded library watches a program's allocations; nothing is preloaded here. */
void
abi_alloc_watch(void)
{
}
