/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Runs a fuzz target over given files, without a fuzzer: inputs that once led somewhere, and
 * those that once failed, are tests for any compiler.
 *
 *   fz_NAME FILE|FOLDER...
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "fz.h"

static unsigned files;

static int
run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	struct stat st;
	int ret = -1;

	if (f != NULL && fstat(fileno(f), &st) == 0)
		data = malloc(st.st_size != 0 ? (size_t)st.st_size : 1);
	if (data != NULL && fread(data, 1, (size_t)st.st_size, f) == (size_t)st.st_size) {
		(void)LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
		files++;
		ret = 0;
	} else {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	}
	free(data);
	if (f != NULL)
		fclose(f);
	return ret;
}

static int
run_folder(const char *path)
{
	char name[PATH_MAX];
	DIR *dir = opendir(path);
	struct dirent *e;
	int ret = 0;

	if (dir == NULL)
		return run_file(path);
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		ret |= run_file(name);
	}
	closedir(dir);
	return ret;
}

int
main(int argc, char **argv)
{
	int ret = 0;

	for (int i = 1; i < argc; i++)
		ret |= run_folder(argv[i]);
	printf("%u inputs\n", files);
	return ret != 0 || files == 0;
}
