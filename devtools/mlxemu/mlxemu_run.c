/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Runs the program, forwards signals, and collects the reports of its processes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mlxemu.h"

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static void
signals_wanted(sigset_t *set)
{
	unsigned i;

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(set, forwarded[i]);
}

void
mlxemu_signals_hold(struct mlxemu_run *run)
{
	sigset_t wanted;

	signals_wanted(&wanted);
	sigprocmask(SIG_BLOCK, &wanted, &run->mask);
	run->on_pipe = signal(SIGPIPE, SIG_IGN);
	/* A report beyond the limit of file sizes is an error, which is named. */
	run->on_xfsz = signal(SIGXFSZ, SIG_IGN);
}

/* In the child: restore the signal state before exec. */
static void
child_exec(const struct mlxemu_run *run, pid_t parent, int error_fd)
{
	int err;

	/* If the launcher is killed, end the program too: the run directory has no owner then. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(MLXEMU_FAILED);
	signal(SIGPIPE, run->on_pipe);
	signal(SIGXFSZ, run->on_xfsz);
	sigprocmask(SIG_SETMASK, &run->mask, NULL);
	execvp(run->program[0], run->program);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) < 0)
		err = 0;
	_exit(MLXEMU_NO_PROGRAM);
}

/* Waits for the child; forwards signals from other processes. */
static int
child_wait(pid_t pid, const sigset_t *wanted)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (sigwaitinfo(wanted, &info) < 0)
			continue;
		/* Signals of the terminal reach the program too: same process group. */
		if (info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
			kill(pid, info.si_signo);
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
	}
}

static int
exec_failed(const struct mlxemu_run *run, int error_fd)
{
	int err;

	if (read(error_fd, &err, sizeof(err)) != sizeof(err))
		return MLXEMU_OK;
	return mlxemu_fail(MLXEMU_NO_PROGRAM, "cannot run '%s': %s", run->program[0],
			   strerror(err));
}

int
mlxemu_program_run(const struct mlxemu_run *run)
{
	int pipefd[2], status, failed;
	pid_t pid, self = getpid();
	sigset_t wanted;

	if (pipe2(pipefd, O_CLOEXEC) != 0)
		return mlxemu_fail(MLXEMU_FAILED, "pipe: %s", strerror(errno));
	signals_wanted(&wanted);
	pid = fork();
	if (pid < 0)
		return mlxemu_fail(MLXEMU_FAILED, "fork: %s", strerror(errno));
	if (pid == 0)
		child_exec(run, self, pipefd[1]);
	close(pipefd[1]);
	status = child_wait(pid, &wanted);
	failed = exec_failed(run, pipefd[0]);
	close(pipefd[0]);
	if (failed != MLXEMU_OK)
		return failed;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Copies one report to f (may be NULL), and names what is lost. MLXEMU_UNCLEAN if the audit is not clean. */
static int
report_copy(const char *path, FILE *f, bool to_stderr)
{
	static const char lost[] = "lost evidence: ", audit[] = "audit: ";
	bool complete = false, clean = false; /* of the last line */
	int status = MLXEMU_OK;
	char line[PATH_MAX + 512];
	FILE *in = fopen(path, "r");

	if (in == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), in) != NULL) {
		if (f != NULL)
			fputs(line, f);
		if (to_stderr)
			fputs(line, stderr);
		complete = strncmp(line, audit, sizeof(audit) - 1) == 0;
		clean = strcmp(line, "audit: clean\n") == 0;
		if (strncmp(line, lost, sizeof(lost) - 1) == 0)
			status = mlxemu_fail(MLXEMU_FAILED, "%.*s", (int)strcspn(line, "\n"), line);
	}
	fclose(in);
	/* A full disk. */
	if (!complete)
		return mlxemu_fail(MLXEMU_FAILED, "%s: the report is cut off", path);
	if (status == MLXEMU_OK && !clean)
		status = MLXEMU_UNCLEAN;
	return status;
}

static int
report_one(const struct mlxemu_run *run, const char *pid, FILE *f)
{
	char path[PATH_MAX + 300];
	int status;

	snprintf(path, sizeof(path), "%s/report.%s", run->dir, pid);
	if (access(path, R_OK) != 0)
		return mlxemu_fail(MLXEMU_FAILED,
				   "process %s ended without a report (killed, or it called exec)",
				   pid);
	status = report_copy(path, f, run->audit);
	return status == MLXEMU_UNCLEAN && !run->audit ? MLXEMU_OK : status;
}

/* False after a message: not everything could be written. */
static bool
report_close(FILE *f, const char *path)
{
	/* fclose() returns only the error of its own write. */
	bool failed = fflush(f) != 0 || ferror(f);
	int err = errno;

	if (fclose(f) != 0 && !failed) {
		failed = true;
		err = errno;
	}
	if (failed)
		mlxemu_fail(MLXEMU_FAILED, "--report '%s': %s", path, strerror(err));
	return !failed;
}

static int
is_active(const struct dirent *e)
{
	return strncmp(e->d_name, "active.", 7) == 0;
}

int
mlxemu_reports(const struct mlxemu_run *run)
{
	struct dirent **list;
	FILE *f = NULL;
	int n = scandir(run->dir, &list, is_active, versionsort);
	int i, one, status = MLXEMU_OK;

	if (n < 0)
		return mlxemu_fail(MLXEMU_FAILED, "%s: %s", run->dir, strerror(errno));
	if (run->report[0] != '\0') {
		f = fopen(run->report, "w");
		if (f == NULL)
			status = mlxemu_fail(MLXEMU_FAILED, "--report '%s': %s", run->report,
					     strerror(errno));
	}
	for (i = 0; i < n; i++) {
		one = report_one(run, list[i]->d_name + 7, f);
		if (status == MLXEMU_OK || one == MLXEMU_FAILED)
			status = one;
		free(list[i]);
	}
	free(list);
	if (n == 0 && run->audit)
		fprintf(stderr, "audit: clean (no process opened a device)\n");
	return f != NULL && !report_close(f, run->report) ? MLXEMU_FAILED : status;
}
