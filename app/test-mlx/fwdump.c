/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `fwdump`: register dumps on the command line, without EAL and without opening the device.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_errno.h>
#include <rte_pci.h>

#include "fwdump.h"
#include "tm.h"

/* The error in terms of the command. */
static const char *
reason(const char *what, int ret)
{
	switch (-ret) {
	case EEXIST:
		return "a dump is kept already: write it with get, delete it with reset";
	case ENOENT:
		return strcmp(what, "reset") == 0 ? "no dump is kept: nothing to delete" :
						    "no dump is kept: take one first";
	case EIO:
		return "the registers cannot be accessed, or the dump is damaged (see above)";
	case ENOTDIR:
		return "the folder for dumps does not exist (see above)";
	default:
		return rte_strerror(-ret);
	}
}

static int
failed(const char *what, const char *address, int ret)
{
	tm_error("fwdump %s %s: %s", what, address, reason(what, ret));
	return TM_EXIT_FAILED;
}

static int
dump_open(const char *what, const char *address, unsigned int access, struct mdv_fwdump **h)
{
	struct rte_pci_addr pci;
	int ret;

	if (rte_pci_addr_parse(address, &pci) != 0) {
		tm_error("fwdump %s: '%s' is not a PCI address (0000:08:00.0)", what, address);
		return TM_EXIT_SETUP;
	}
	ret = mdv_fwdump_open(&pci, access, h);
	if (ret == 0)
		return TM_EXIT_OK;
	tm_error("fwdump %s %s: %s", what, address,
		 ret == -ENOENT ? "there is no such PCI device" :
		 ret == -EINVAL ? "this is not an mlx5 device" : rte_strerror(-ret));
	return TM_EXIT_FAILED;
}

static void
info_print(FILE *out, const char *address, const struct mdv_fwdump_info *info)
{
	time_t taken = (time_t)info->taken_s;
	char when[32] = "";
	struct tm tm;

	if (taken != 0 && gmtime_r(&taken, &tm) != NULL)
		strftime(when, sizeof(when), ", %Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(out, "%s: %" PRIu32 " registers by %s%s", address, info->count,
		mdv_fwdump_route_name(info->route), when);
	if (info->pid != 0)
		fprintf(out, ", process %" PRIu32, info->pid);
	if (info->unreadable != 0)
		fprintf(out, "; %" PRIu32 " could not be read", info->unreadable);
	fputc('\n', out);
}

static int
run_take(int argc, char **argv)
{
	struct mdv_fwdump_info info;
	struct mdv_fwdump *h;
	unsigned int force = argc > 1 ? MDV_FWDUMP_FORCE : 0;
	int status, ret;

	if (argc > 1 && strcmp(argv[1], "--force") != 0) {
		tm_error("fwdump take: '%s': only --force is allowed after the address", argv[1]);
		return TM_EXIT_SETUP;
	}
	status = dump_open("take", argv[0], MDV_FWDUMP_READ | MDV_FWDUMP_WRITE | force, &h);
	if (status != TM_EXIT_OK)
		return status;
	ret = mdv_fwdump_take(h);
	if (ret == 0)
		ret = mdv_fwdump_info(h, &info);
	mdv_fwdump_close(h);
	if (ret != 0)
		return failed("take", argv[0], ret);
	info_print(stdout, argv[0], &info);
	return TM_EXIT_OK;
}

static int
run_reset(int argc, char **argv)
{
	struct mdv_fwdump *h;
	int status = dump_open("reset", argv[0], MDV_FWDUMP_WRITE, &h), ret;

	(void)argc;
	if (status != TM_EXIT_OK)
		return status;
	ret = mdv_fwdump_reset(h);
	mdv_fwdump_close(h);
	return ret == 0 ? TM_EXIT_OK : failed("reset", argv[0], ret);
}

/* Write the dump to a file, or to stdout. Its description goes to stderr: it is not part of the dump. */
static int
dump_write(const char *path, const struct mdv_fwdump_reg *regs, size_t count)
{
	FILE *out = path != NULL ? fopen(path, "we") : stdout;
	int ret = out != NULL ? fwdump_text_write(out, regs, count) : -errno;

	if (path != NULL && out != NULL && fclose(out) != 0 && ret == 0)
		ret = -errno;
	if (ret != 0)
		tm_error("fwdump get: '%s': %s", path != NULL ? path : "stdout", rte_strerror(-ret));
	return ret == 0 ? TM_EXIT_OK : TM_EXIT_FAILED;
}

static int
dump_get(struct mdv_fwdump *h, const char *address, const char *path)
{
	struct mdv_fwdump_reg *regs = NULL;
	struct mdv_fwdump_info info;
	size_t count = 0;
	int ret = mdv_fwdump_info(h, &info), status;

	if (ret == 0) {
		regs = calloc(info.count + 1, sizeof(*regs));
		ret = regs != NULL ? mdv_fwdump_get(h, regs, info.count, &count) : -ENOMEM;
	}
	if (ret != 0) {
		status = failed("get", address, ret);
	} else {
		info_print(stderr, address, &info);
		status = dump_write(path, regs, count);
	}
	free(regs);
	return status;
}

static int
run_get(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[2] : NULL;
	struct mdv_fwdump *h;
	int status = dump_open("get", argv[0], MDV_FWDUMP_READ, &h);

	if (status != TM_EXIT_OK)
		return status;
	status = dump_get(h, argv[0], path);
	mdv_fwdump_close(h);
	return status;
}

static int
text_get(const char *path, struct fwdump_text *text)
{
	unsigned int line;
	int ret = fwdump_text_read(path, text, &line);

	if (ret == -EINVAL)
		tm_error("fwdump diff: %s:%u: not 'ADDRESS VALUE'", path, line);
	else if (ret != 0)
		tm_error("fwdump diff: '%s': %s", path, rte_strerror(-ret));
	return ret;
}

static int
run_diff(int argc, char **argv)
{
	struct fwdump_text before = { 0 }, after = { 0 };
	int status = TM_EXIT_SETUP;
	size_t n;

	(void)argc;
	if (text_get(argv[0], &before) == 0 && text_get(argv[1], &after) == 0) {
		n = fwdump_text_diff(stdout, &before, &after);
		status = n == 0 ? TM_EXIT_OK : TM_EXIT_FAILED;
		if (fflush(stdout) != 0 || ferror(stdout)) {
			tm_error("fwdump diff: 'stdout': %s", rte_strerror(errno));
			status = TM_EXIT_SETUP;
		}
		fprintf(stderr, "%zu and %zu registers, %zu differ\n", before.count, after.count, n);
	}
	fwdump_text_free(&before);
	fwdump_text_free(&after);
	return status;
}

static const struct verb {
	const char *name, *args, *help;
	int min, max;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "take", "ADDRESS [--force]", "take a dump of a card's registers, and keep it", 1, 2, run_take },
	{ "get", "ADDRESS [-o FILE]", "write the kept dump: address TAB value", 1, 3, run_get },
	{ "reset", "ADDRESS", "delete the kept dump", 1, 1, run_reset },
	{ "diff", "A B", "print the registers that differ between two such files; exit code 1 if there are any", 2, 2,
	  run_diff },
};

void
tm_fwdump_help(FILE *out)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		fprintf(out, "       dpdk-test-mlx fwdump %-5s %-28s %s\n", verbs[i].name, verbs[i].args,
			verbs[i].help);
}

static void
usage(void)
{
	puts("dpdk-test-mlx fwdump: dumps of a card's registers, one per device. Needs root, but no EAL.\n"
	     "\n"
	     "Usage:");
	tm_fwdump_help(stdout);
	puts("\n"
	     "ADDRESS is the PCI address (0000:c1:00.0). A file has a line per register, address TAB value; '#' begins a\n"
	     "comment. The dump is kept in the folder $MLXPMD_FWDUMP_DIR, or in /run/mlxpmd. --force clears the lock of a\n"
	     "program that was killed while it read the registers.\n"
	     "\n"
	     "Examples:\n"
	     "  Save the present registers of a card, for its vendor's support:\n"
	     "    dpdk-test-mlx fwdump take 0000:c1:00.0\n"
	     "    dpdk-test-mlx fwdump get 0000:c1:00.0 -o registers.txt\n"
	     "    dpdk-test-mlx fwdump reset 0000:c1:00.0\n"
	     "  Print the changes between two dumps:\n"
	     "    dpdk-test-mlx fwdump diff before.txt after.txt\n"
	     "\n"
	     "Exit code: 0 success, no difference; 1 failure, or the files differ; 2 wrong arguments, or a file that cannot\n"
	     "be compared.");
}

static bool
wants_help(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

int
tm_fwdump(int argc, char **argv)
{
	const struct verb *v = NULL;

	if (wants_help(argc, argv)) {
		usage();
		return TM_EXIT_OK;
	}
	for (size_t i = 0; argc > 0 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, argv[0]) == 0)
			v = &verbs[i];
	if (v != NULL && argc - 1 >= v->min && argc - 1 <= v->max &&
	    (v->run != run_get || argc - 1 == 1 || (argc - 1 == 3 && strcmp(argv[2], "-o") == 0)))
		return v->run(argc - 1, argv + 1);
	if (v != NULL)
		tm_error("fwdump %s takes: %s", v->name, v->args);
	else
		tm_error("fwdump '%s': use take, get, reset or diff (see fwdump --help)", argc > 0 ? argv[0] : "");
	return TM_EXIT_SETUP;
}
