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

/* Copies one report to f (may be NULL). Returns whether it is clean. */
static bool
report_copy(const char *path, FILE *f, bool to_stderr)
{
	char line[4096], last[4096] = "";
	FILE *in = fopen(path, "r");

	if (in == NULL)
		return false;
	while (fgets(line, sizeof(line), in) != NULL) {
		if (f != NULL)
			fputs(line, f);
		if (to_stderr)
			fputs(line, stderr);
		snprintf(last, sizeof(last), "%s", line);
	}
	fclose(in);
	return strcmp(last, "audit: clean\n") == 0;
}

static int
report_one(const struct mlxemu_run *run, const char *pid, FILE *f)
{
	char path[PATH_MAX + 300];

	snprintf(path, sizeof(path), "%s/report.%s", run->dir, pid);
	if (access(path, R_OK) != 0)
		return mlxemu_fail(MLXEMU_FAILED,
				   "process %s ended without a report (killed, or it called exec)",
				   pid);
	if (report_copy(path, f, run->audit))
		return MLXEMU_OK;
	return run->audit ? MLXEMU_UNCLEAN : MLXEMU_OK;
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
	if (f != NULL && fclose(f) != 0)
		status = mlxemu_fail(MLXEMU_FAILED, "--report '%s': %s", run->report,
				     strerror(errno));
	return status;
}
