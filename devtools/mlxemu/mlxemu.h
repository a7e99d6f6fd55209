/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Common to the files of the launcher. */
#ifndef MLXEMU_H
#define MLXEMU_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/emu_dev.h"
#include "wire/emu_wire.h"

/** Exit status of the launcher itself. */
enum mlxemu_status {
	MLXEMU_OK = 0,
	MLXEMU_FAILED = 1,
	MLXEMU_USAGE = 2,
	MLXEMU_UNCLEAN = 3,
	MLXEMU_NO_PROGRAM = 127,
};

#define MLXEMU_MAX_SPECS 64

struct mlxemu_run {
	unsigned ports;
	const struct emu_profile *profile;
	char recorded[4096];	 /**< Lines of an imported profile: NAME=VALUE. */
	const char *specs[MLXEMU_MAX_SPECS]; /**< --wire, as given. */
	unsigned nspecs;
	const char *join;	 /**< --join, or NULL. */
	unsigned given;		 /**< Number of options. */
	bool audit;
	bool help;
	uint64_t seed;
	bool seeded;		 /**< --seed was given. */
	const char *macs[MLXEMU_MAX_SPECS]; /**< --mac, as given. */
	unsigned nmacs;
	const char *net_raw;	 /**< --net-raw, or NULL. */
	bool virtual_time;
	char clock[MLXEMU_MAX_SPECS][80]; /**< "OPTION VALUE" of each --clock-..., as given. */
	unsigned nclock;
	char fronts[EMU_MAX_PORTS + 1]; /**< --open: a digit of EMU_FRONT_* per port. */
	unsigned opened;	 /**< Ports that --open names: a bit per port. */
	char vfs[EMU_MAX_PORTS + 1]; /**< --vf: '0' and EMU_VF bits per port. */
	const char *sfs[MLXEMU_MAX_SPECS]; /**< --sf, as given. */
	unsigned nsfs;
	unsigned mpfs;		 /**< --mpfs: a bit per port. */
	unsigned bond;		 /**< --bond: a bit per port. */
	char switchdev[EMU_MAX_PORTS + 1]; /**< --switchdev: a character of emu_eswitch_set() per port. */
	const char *caps[MLXEMU_MAX_SPECS]; /**< --cap, as given. */
	unsigned ncaps;
	const char *check;	 /**< --check, or NULL. */
	const char *order;	 /**< --order, or NULL. */
	const char *captures[EMU_MAX_PORTS]; /**< --capture, with absolute names. */
	unsigned ncaptures;
	char trace[PATH_MAX];  /**< Absolute, or empty. */
	char report[PATH_MAX]; /**< Absolute, or empty. */
	char **program;	       /**< argv of the program, NULL-terminated. */
	struct emu_wire_plan plan[EMU_MAX_PORTS];
	char dir[PATH_MAX];	/**< The run directory. */
	char library[PATH_MAX]; /**< The front end. */
	sigset_t mask;		/**< Signals blocked when the launcher was started, */
	void (*on_pipe)(int);	/**< and what SIGPIPE */
	void (*on_xfsz)(int);	/**< and SIGXFSZ did then: the program gets all of them. */
};

/** One line on stderr, "mlxemu: ...". Returns status, for `return mlxemu_fail(...)`. */
int mlxemu_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mlxemu_usage(void);
void mlxemu_run_usage(void);
/** `mlxemu ctl`: argv is what follows the word. A status. */
int mlxemu_ctl(int argc, char **argv);
void mlxemu_ctl_usage(void);
/** `mlxemu profile`: argv is what follows the word. A status. */
int mlxemu_profile(int argc, char **argv);
/** Reads an imported profile: a path with '/', or a name; messages say `from`. A status; -1: no profile of this name. */
int mlxemu_profile_load(const char *from, const char *name, struct mlxemu_run *run);
/** Fills in run from what follows `run`. A status; run->help: --help was given. */
int mlxemu_options_parse(int argc, char **argv, struct mlxemu_run *run);
/** --sf: stores the text, if it is understood. A status. */
int mlxemu_sf_option(struct mlxemu_run *run, const char *value);
/** Checks --sf against the other options. A status. */
int mlxemu_sfs_check(const struct mlxemu_run *run);
/** Creates or truncates the output files of the options; the last step of set-up. A status. */
int mlxemu_files_make(const struct mlxemu_run *run);
/** Makes path absolute. False if it is too long. */
bool mlxemu_absolute(const char *path, char *out, size_t len);
/** Creates the run directory with its sysfs tree. A status; on failure nothing is left behind. */
int mlxemu_rundir_make(struct mlxemu_run *run);
void mlxemu_rundir_remove(const struct mlxemu_run *run);
/** Finds a file beside the launcher, else where it is installed; out: PATH_MAX bytes. A status. */
int mlxemu_file_find(const char *name, char *out);
/** Sets the environment of the program, in this process. A status. */
int mlxemu_environment(const struct mlxemu_run *run);
/** Part of it: the libraries that are loaded first. */
void mlxemu_environment_preload(const struct mlxemu_run *run);
/** Writes the environment to a file of the run directory, for mlxemu_join(). A status. */
int mlxemu_environment_save(const struct mlxemu_run *run);
/** Sets the environment that another run has saved. A status. */
int mlxemu_join(struct mlxemu_run *run);
/** The control socket of a process of this user; pid NULL: of the only one. A status. */
int mlxemu_ctl_find(const char *pid, char *path, size_t len);
/**
 * Blocks signals until the program runs and ignores SIGPIPE, so that the launcher always removes the
 * run directory.
 */
void mlxemu_signals_hold(struct mlxemu_run *run);
/** Runs the program to its end; the status to exit with. */
int mlxemu_program_run(const struct mlxemu_run *run);
/**
 * Collects the reports of all processes that opened a device. Returns MLXEMU_OK,
 * MLXEMU_UNCLEAN, or MLXEMU_FAILED when a process left no report or one cannot be written.
 */
int mlxemu_reports(const struct mlxemu_run *run);

#endif /* MLXEMU_H */
