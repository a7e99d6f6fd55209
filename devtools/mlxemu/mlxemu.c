/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* mlxemu: runs any dynamically linked program on emulated ConnectX devices. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "core/emu_number.h"
#include "fw/emu_fw_syndrome.h"
#include "mlxemu.h"
#include "profile_sources.h"
#include "prm.h"

void
mlxemu_usage(void)
{
	printf("usage: mlxemu run [options] -- PROGRAM [ARGS...]   run PROGRAM on emulated devices\n"
	       "       mlxemu run --help                           the options, with examples\n"
	       "       mlxemu sweep [options] -- PROGRAM [ARGS...] run it again with each request refused\n"
	       "       mlxemu sweep --help                         its options, with examples\n"
	       "       mlxemu ctl [options] COMMAND [KEY=VALUE ...] control a running process\n"
	       "       mlxemu ctl --help                           its options, with examples\n"
	       "       mlxemu faults [EVENT [PREFIX]]              events of fault rules, names of values\n"
	       "       mlxemu profiles [CARD]                      the card models, or the values of one\n"
	       "                                                   and their sources\n"
	       "       mlxemu profile import|compare FILE          a card model of what card-check recorded\n"
	       "       mlxemu profile --help                       its options, with examples\n"
	       "       mlxemu explain SYNDROME                     meaning of a syndrome of the emulator\n"
	       "       mlxemu --help                               this text\n"
	       "\n"
	       "mlxemu is a software NVIDIA ConnectX below the kernel's ABI: unmodified rdma-core,\n"
	       "DPDK and programs above them find mlx5 devices on a machine that has none.\n"
	       "\n"
	       "example: mlxemu run --ports 2 -- ibv_devices\n");
}

/* Of a value that no profile states, there is none. */
static const char *
source_of(const struct emu_profile *p, const char *name)
{
	for (size_t i = 0; i < sizeof(profile_sources) / sizeof(profile_sources[0]); i++) {
		const struct profile_source *s = &profile_sources[i];
		size_t len = strcspn(s->field, "*");

		if (strcmp(s->profile, p->name) == 0 && strncmp(s->field, name, len) == 0 &&
		    (s->field[len] == '*' || name[len] == '\0'))
			return s->source;
	}
	return "assumed";
}

/* Capabilities of one card, as --cap takes them, each with its source. */
static int
mlxemu_profile_caps(const char *card)
{
	const struct emu_profile *p = emu_profile_find(card);
	const char *name;
	unsigned value;
	char text[64];

	if (p == NULL)
		return mlxemu_fail(MLXEMU_USAGE, "no profile '%s' (mlxemu profiles lists them)", card);
	for (unsigned i = 0; (name = emu_profile_cap(p, i, &value)) != NULL; i++) {
		snprintf(text, sizeof(text), "%s=%u", name, value);
		printf("%-34s %s\n", text, source_of(p, name));
	}
	return MLXEMU_OK;
}

static int
mlxemu_profiles(void)
{
	const struct emu_profile *const *p;

	printf("%-8s %-16s %-10s %-14s %-9s %s\n", "name", "card", "PCI id", "firmware", "Mb/s",
	       "clock Hz");
	for (p = emu_profiles; *p != NULL; p++) {
		char fw[32];

		snprintf(fw, sizeof(fw), "%u.%u.%u", (*p)->fw_major, (*p)->fw_minor,
			 (*p)->fw_subminor);
		printf("%-8s %-16s 15b3:%04x  %-14s %-9u %llu\n", (*p)->name, (*p)->card,
		       (*p)->pci_device_id, fw, (*p)->speed_mbps,
		       (unsigned long long)(*p)->clock_hz);
	}
	return MLXEMU_OK;
}

static int
mlxemu_explain(const char *text)
{
	const struct fw_syndrome_info *info;
	uint64_t code;

	if (!emu_number(text, 0, UINT64_MAX, &code))
		return mlxemu_fail(MLXEMU_USAGE, "'%s' is not a number", text);
	info = code <= UINT32_MAX ? fw_syndrome_explain((uint32_t)code) : NULL;
	if (info == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "0x%" PRIx64 " is not a syndrome of the emulator",
				   code);
	printf("0x%06x  %s  %s: %s\n", info->code, prm_status_name(info->status), info->name,
	       info->cause);
	return MLXEMU_OK;
}

/* Prepares wires, run directory and environment; a failed step cleans up after itself. */
static int
mlxemu_prepare(struct mlxemu_run *run)
{
	char err[PATH_MAX + 256] = "";
	int status;

	if (emu_wire_parse(run->specs, run->nspecs, run->ports, run->plan, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "%s", err);
	if (emu_wire_open(run->plan, run->ports, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_FAILED, "%s", err);
	status = mlxemu_rundir_make(run);
	if (status == MLXEMU_OK)
		status = mlxemu_environment(run);
	if (status == MLXEMU_OK)
		status = mlxemu_environment_save(run);
	/* Last: a refused option must not truncate files of the user. */
	if (status == MLXEMU_OK)
		status = mlxemu_files_make(run);
	if (status != MLXEMU_OK)
		mlxemu_rundir_remove(run);
	return status;
}

static int
mlxemu_run(int argc, char **argv)
{
	static struct mlxemu_run run;
	int status = mlxemu_options_parse(argc, argv, &run);
	int reports;

	if (status != MLXEMU_OK)
		return status;
	if (run.help) {
		mlxemu_run_usage();
		return MLXEMU_OK;
	}
	/* The device's pages are mapped one by one. arm64 has kernels with pages of 16 and 64 KiB. */
	if (sysconf(_SC_PAGESIZE) != EMU_PAGE_BYTES)
		return mlxemu_fail(MLXEMU_FAILED, "this kernel's pages have %ld bytes; only %u are supported",
				   sysconf(_SC_PAGESIZE), EMU_PAGE_BYTES);
	mlxemu_signals_hold(&run);
	status = mlxemu_file_find("libmlxemu.so", run.library);
	/* ld.so(8), LD_PRELOAD: both separate names, and nothing quotes them. */
	if (status == MLXEMU_OK && strpbrk(run.library, " :") != NULL)
		status = mlxemu_fail(MLXEMU_FAILED, "%s: LD_PRELOAD allows no blank and no colon in the path: move the folder",
				     run.library);
	if (status == MLXEMU_OK)
		status = run.join != NULL ? mlxemu_join(&run) : mlxemu_prepare(&run);
	if (status != MLXEMU_OK)
		return status;
	status = mlxemu_program_run(&run);
	if (run.join != NULL)
		return status;
	reports = mlxemu_reports(&run);
	if (status == MLXEMU_OK)
		status = reports;
	mlxemu_rundir_remove(&run);
	return status;
}

/* The sweep is a Python program that starts this launcher again for each run. */
static int
mlxemu_sweep(char **argv)
{
	char script[PATH_MAX], self[PATH_MAX];
	char **words;
	int n = 0, status = mlxemu_file_find("sweep.py", script);

	if (status != MLXEMU_OK)
		return status;
	while (argv[n] != NULL)
		n++;
	words = calloc((size_t)n + 5, sizeof(*words));
	if (words == NULL || realpath("/proc/self/exe", self) == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "sweep: %s", strerror(errno));
	words[0] = "python3";
	words[1] = "-B";
	words[2] = script;
	words[3] = self;
	memcpy(words + 4, argv, (size_t)n * sizeof(*words));
	execvp(words[0], words);
	status = mlxemu_fail(MLXEMU_FAILED, "sweep needs python3: %s", strerror(errno));
	free(words);
	return status;
}

int
main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		return mlxemu_run(argc - 2, argv + 2);
	if (argc >= 2 && strcmp(argv[1], "sweep") == 0)
		return mlxemu_sweep(argv + 2);
	if (argc >= 2 && strcmp(argv[1], "ctl") == 0)
		return mlxemu_ctl(argc - 2, argv + 2);
	if (argc >= 2 && strcmp(argv[1], "profile") == 0)
		return mlxemu_profile(argc - 2, argv + 2);
	if (argc >= 2 && argc <= 4 && strcmp(argv[1], "faults") == 0) {
		if (emu_fault_list(argv[2], argc == 4 ? argv[3] : NULL) == 0)
			return mlxemu_fail(MLXEMU_FAILED, "no event or value '%s' (mlxemu faults lists "
					   "the events)", argv[argc - 1]);
		return MLXEMU_OK;
	}
	if (argc >= 2 && strcmp(argv[1], "explain") == 0)
		return argc == 3 ? mlxemu_explain(argv[2]) :
			mlxemu_fail(MLXEMU_USAGE, "explain takes one number: mlxemu explain 0xe50103");
	if ((argc == 2 || argc == 3) && strcmp(argv[1], "profiles") == 0)
		return argc == 2 ? mlxemu_profiles() : mlxemu_profile_caps(argv[2]);
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		mlxemu_usage();
		return MLXEMU_OK;
	}
	if (argc < 2)
		return mlxemu_fail(MLXEMU_USAGE, "no command given (run, sweep, ctl, faults, profiles, "
				   "profile, explain, --help)");
	if (argc > 3 && strcmp(argv[1], "profiles") == 0)
		return mlxemu_fail(MLXEMU_USAGE, "profiles takes one card at most: mlxemu profiles cx7");
	if (argc > 2 && argv[1][0] == '-')
		return mlxemu_fail(MLXEMU_USAGE, "'%s' takes no arguments", argv[1]);
	return mlxemu_fail(MLXEMU_USAGE, "unknown command '%s' (run, sweep, ctl, faults, profiles, profile, "
			   "explain, --help)", argv[1]);
}
