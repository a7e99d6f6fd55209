/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * emu_client CASE: runs one case on every port and exits 0 when all its checks held. The cases
 * after "lawful" do nothing that the audit may complain about; the others do so on purpose.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

static struct client left_behind;

static void
leave_objects(unsigned port)
{
	client_open(&left_behind, port);
	CHECK(client_td(&left_behind).obj != NULL);
	CHECK(client_cq(&left_behind).obj != NULL);
}

/* Close the file without destroying the objects. */
static void
case_leave(unsigned port)
{
	leave_objects(port);
	CHECK_EQ(close(left_behind.ctx->cmd_fd), 0);
}

/* The same, and the process just ends. */
static void
case_leave_exit(unsigned port)
{
	leave_objects(port);
	_exit(0);
}

static void
case_quick_exit(unsigned port)
{
	leave_objects(port);
	quick_exit(0);
}

/* Ends without any code of ours running. */
static void
case_killed(unsigned port)
{
	leave_objects(port);
	kill(getpid(), SIGKILL);
}

static volatile sig_atomic_t interrupted;

static void
on_interrupt(int sig)
{
	interrupted = sig;
}

/* Prints a line, waits for the signal, cleans up, and exits with 42. */
static void
case_wait_signal(unsigned port)
{
	(void)port;
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	client_open(&left_behind, 0);
	printf("waiting\n");
	fflush(stdout);
	AWAIT_CERTAIN(interrupted != 0);
	client_close(&left_behind);
	exit(interrupted == SIGINT ? 42 : 43);
}

/* The parent's devices are dead in a child; exec'ed, it may open its own. */
static void
case_fork(unsigned port)
{
	struct client c;
	int status = 0;
	pid_t pid;

	client_open(&c, port);
	pid = fork();
	if (pid == 0) {
		struct ibv_device_attr attr;

		if (ibv_query_device(c.ctx, &attr) == 0)
			_exit(10);
		execlp("ibv_devinfo", "ibv_devinfo", "-l", (char *)NULL);
		_exit(11);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
	client_close(&c);
}

/* A vfork child has the parent's memory: what it closes is its own descriptor all the same. */
static void
vfork_closes(int fd)
{
	int status = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		close(fd);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

static void
case_vfork(unsigned port)
{
	static const off_t counter = 0xc8; /* of the gateway: another number each time */
	uint32_t first = 0, second = 0, third = 0;
	struct ibv_device_attr attr;
	struct client c;
	char path[64];
	int fd;

	/* Also of a process that has opened no device, only configuration space. */
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/0000:c1:00.%u/config", port);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(pread(fd, &first, sizeof(first), counter) == sizeof(first));
	vfork_closes(fd);
	CHECK(pread(fd, &second, sizeof(second), counter) == sizeof(second) && second != first);
	client_open(&c, port);
	vfork_closes(c.ctx->cmd_fd);
	CHECK_EQ(ibv_query_device(c.ctx, &attr), 0);
	vfork_closes(fd);
	CHECK(pread(fd, &third, sizeof(third), counter) == sizeof(third) && third != second);
	client_close(&c);
	close(fd);
}

static struct client signal_client;
static volatile sig_atomic_t signals_handled;

static void
on_alarm(int sig)
{
	struct ibv_port_attr attr;

	(void)sig;
	if (ibv_query_port(signal_client.ctx, 1, &attr) == 0)
		signals_handled = signals_handled + 1;
}

/* A signal handler that calls the device does not meet its own thread inside the model. */
static void
case_signals(unsigned port)
{
	const struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	struct ibv_port_attr attr;
	unsigned i;

	client_open(&signal_client, port);
	signals_handled = 0;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < 20000 || signals_handled < 20; i++)
		CHECK_EQ(ibv_query_port(signal_client.ctx, 1, &attr), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	client_close(&signal_client);
}

static struct mlx5dv_devx_uar *_Atomic blocked_uar;

static void *
blocked_main(void *arg)
{
	struct mlx5dv_devx_uar *uar;
	sigset_t all;

	sigfillset(&all);
	CHECK_EQ(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
	*(_Atomic bool *)arg = true;
	AWAIT_CERTAIN((uar = blocked_uar) != NULL);
	for (unsigned i = 0; i < 6; i++) {
		pass_us(50000); /* The emulator's engine sleeps again. */
		*(volatile uint64_t *)uar->reg_addr = 0;
	}
	return NULL;
}

/*
 * A thread that blocked all signals before there was a device rings a doorbell all the same, also of
 * a device that has been idle for a while. (A doorbell of zeros addresses no queue.)
 */
static void
case_blocked(unsigned port)
{
	_Atomic bool ready = false;
	pthread_t thread;
	struct client c;

	CHECK_EQ(pthread_create(&thread, NULL, blocked_main, (void *)&ready), 0);
	AWAIT_CERTAIN(ready);
	client_open(&c, port);
	blocked_uar = c.uar;
	pthread_join(thread, NULL);
	blocked_uar = NULL;
	client_close(&c);
}

static void *
thread_main(void *arg)
{
	struct client c;
	unsigned i;

	client_open(&c, *(unsigned *)arg);
	for (i = 0; i < 100; i++) {
		struct client_obj cq = client_cq(&c);

		CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
	}
	client_close(&c);
	return NULL;
}

static void
case_threads(unsigned port)
{
	pthread_t thread[4];
	unsigned i;

	for (i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, thread_main, &port), 0);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* Descriptors may be duplicated and closed in any order; the last one closes the device. */
static void
case_dup(unsigned port)
{
	struct client c;
	int copy;

	client_open(&c, port);
	copy = dup(c.ctx->cmd_fd);
	CHECK(copy >= 0);
	CHECK_EQ(close(copy), 0);
	copy = dup2(c.ctx->cmd_fd, 200);
	CHECK_EQ(copy, 200);
	client_close(&c);
	CHECK_EQ(close(copy), 0);
}

/* The lowest descriptor that is free. */
static int
free_fd(void)
{
	int fd = dup(0);

	CHECK(fd >= 0);
	close(fd);
	return fd;
}

/* Many times open and closed: nothing accumulates. The engine holds a descriptor while it writes the port's state. */
static void
case_reopen(unsigned port)
{
	struct client c;
	unsigned i;
	int fd = INT_MAX;

	for (i = 0; i < 100; i++) {
		client_open(&c, port);
		client_close(&c);
		CHECK(AWAIT(free_fd() <= fd, 5000));
		if (i == 0)
			fd = free_fd();
	}
}

static const struct {
	const char *name;
	void (*run)(unsigned port);
} cases[] = {
	{"device", case_device},
	{"clock", case_clock},
	{"objects", case_objects},
	{"memory", case_memory},
	{"events", case_events},
	{"async", case_async},
	{"flow", case_flow},
	{"no-devx", case_no_devx},
	{"fork", case_fork},
	{"dup", case_dup},
	{"vfork", case_vfork},
	{"signals", case_signals},
	{"blocked", case_blocked},
	{"threads", case_threads},
	{"reopen", case_reopen},
	{"refusals", case_refusals},
	{"kernel-refusals", case_kernel_refusals},
	{"flow-refusals", case_flow_refusals},
	{"flow-change", case_flow_change},
	{"flow-inner", case_flow_inner},
	{"flow-tables", case_flow_tables},
	{"verbs", case_verbs},
	{"fork-busy", case_fork_busy},
	{"unmapped", case_unmapped},
	{"verbs-refusals", case_verbs_refusals},
	{"verbs-leave", case_verbs_leave},
	{"queue-refusals", case_queue_refusals},
	{"pacing", case_pacing},
	{"no-pacing", case_no_pacing},
	{"pacing-kept", case_pacing_kept},
	{"link", case_link},
	{"leave", case_leave},
	{"leave-exit", case_leave_exit},
	{"quick-exit", case_quick_exit},
	{"killed", case_killed},
	{"wait-signal", case_wait_signal},
};

int
main(int argc, char **argv)
{
	struct ibv_device **list;
	int ports = 0, p;
	unsigned i;

	if (argc != 2) {
		fprintf(stderr, "usage: emu_client CASE\n");
		return 2;
	}
	list = ibv_get_device_list(&ports);
	ibv_free_device_list(list);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		CHECK(ports > 0);
		for (p = 0; p < ports; p++)
			cases[i].run((unsigned)p);
		return check_exit(argv[1]);
	}
	fprintf(stderr, "emu_client: no case '%s'\n", argv[1]);
	return 2;
}
