/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Starts the model at the first open of a device; stops it and writes the report at process end. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/emu_bond.h"
#include "abi.h"
#include "core/emu_fault.h"
#include "core/emu_guard.h"
#include "core/emu_identity.h"
#include "core/emu_number.h"
#include "core/emu_pci.h"
#include "ctl/emu_ledger.h"
#include "dp/emu_dp.h"
#include "trap_pages.h"
#include "abi/host/sysfs.h"
#include "wire/emu_wire.h"

#define ABI_MAX_SPECS 64

/** State of the model in this process. */
enum abi_model_state {
	ABI_MODEL_NONE,	   /**< Not initialized. */
	ABI_MODEL_DESCRIBED, /**< The machine exists: ports have addresses and clocks. */
	ABI_MODEL_RUNNING, /**< Wires are plugged in, the engine runs. */
	ABI_MODEL_DEAD,	   /**< Stopped, or owned by the parent. */
};

static struct emu_machine abi_the_machine;
static _Atomic enum abi_model_state abi_state;
static pthread_mutex_t abi_state_mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t abi_owner;
/** The thread that ends the process, once abi_ending is set. */
static pthread_t abi_ender;
static _Atomic bool abi_ending;
/* Limit of the wait: another thread may join the waiting one. */
#define ABI_END_S 1
static __thread bool abi_end_waited;

bool
abi_model_foreign(void)
{
	return abi_owner != 0 && getpid() != abi_owner;
}

bool
abi_model_dead(void)
{
	return atomic_load(&abi_state) == ABI_MODEL_DEAD;
}

/* The child has a copy of the parent's memory, but no engine and no wires. */
static void
abi_forked_child(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	memcpy(&abi_state_mutex, &fresh, sizeof(fresh));
	if (atomic_load(&abi_state) == ABI_MODEL_RUNNING) {
		atomic_store(&abi_state, ABI_MODEL_DEAD);
		abi_fd_reset();
		abi_owner = 0;
	} else if (abi_owner != 0) {
		/* Not running yet: only PCI config space is in use, which all processes share. */
		abi_owner = getpid();
	}
}

static void
abi_port_changed(struct emu_dev *dev)
{
	emu_sysfs_refresh(dev, abi_run_dir());
}

static void
abi_removing(struct emu_dev *dev)
{
	(void)dev;
	abi_removed_any = true;
}

static void
abi_ledger(struct emu_dev *dev, struct emu_front_ledger *out)
{
	abi_uverbs_ledger(dev, out);
	abi_vfio_ledger(dev, out);
}

static void
abi_failing(struct emu_dev *dev)
{
	abi_uverbs_failing(dev);
	abi_vfio_failing(dev);
}

static void
abi_removed(struct emu_dev *dev)
{
	emu_sysfs_remove(dev, abi_run_dir());
	abi_uverbs_removed(dev);
	abi_vfio_removed(dev);
}

static const struct emu_front_ops abi_front_ops = {
	.port_changed = abi_port_changed,
	.ledger = abi_ledger,
	.removing = abi_removing,
	.failing = abi_failing,
	.removed = abi_removed,
	.program_fds = abi_fd_program,
	.doorbells_watch = abi_pages_watch,
	.msix = abi_vfio_msix,
};

/* Print one line to the program's stderr: an error of the user, not of the program. */
static int
abi_model_fail(int ret, const char *what)
{
	char line[PATH_MAX + 128];
	int n = snprintf(line, sizeof(line), "mlxemu: %s\n", what);

	if (n > (int)sizeof(line) - 1)
		n = sizeof(line) - 1;
	if (abi_real_write(STDERR_FILENO, line, n) < 0)
		return ret;
	return ret;
}

/*
 * Parse an environment variable line by line. The launcher has checked the lines: an error means that
 * the variable was changed afterwards.
 */
static int
abi_lines_add(const char *variable, int (*add)(const char *line, char *err, size_t err_len))
{
	const char *env = getenv(variable);
	char *copy = strdup(env != NULL ? env : "");
	char err[512] = "", *line, *save = NULL;
	int ret = 0;

	if (copy == NULL)
		return -ENOMEM;
	for (line = strtok_r(copy, "\n", &save); line != NULL && ret == 0;
	     line = strtok_r(NULL, "\n", &save))
		ret = add(line, err, sizeof(err));
	free(copy);
	return ret == 0 ? 0 : abi_model_fail(ret, err);
}

/* MLXEMU_OPEN: a digit of EMU_FRONT_* bits per port; the default is EMU_FRONT_VERBS. */
static uint8_t
abi_fronts(unsigned port)
{
	const char *fronts = getenv("MLXEMU_OPEN");

	if (fronts == NULL || strlen(fronts) <= port || fronts[port] < '1' || fronts[port] > '3')
		return EMU_FRONT_VERBS;
	return (uint8_t)(fronts[port] - '0');
}

/* A variable with one bit per port. */
static unsigned
abi_port_bits(const char *variable)
{
	const char *bits = getenv(variable);

	return bits != NULL ? (unsigned)strtoul(bits, NULL, 0) : 0;
}

/* MLXEMU_VF: a character per port, '0' and the EMU_VF bits. */
static uint8_t
abi_vf(unsigned port)
{
	const char *vf = getenv("MLXEMU_VF");

	return vf != NULL && port < strlen(vf) ? (uint8_t)(vf[port] - '0') : 0;
}

/* MLXEMU_SWITCHDEV: a character of emu_eswitch_set() per port. */
static char
abi_switchdev(unsigned port)
{
	const char *modes = getenv("MLXEMU_SWITCHDEV");

	return modes != NULL && port < strlen(modes) ? modes[port] : '0';
}

/* MLXEMU_SEED: decimal or 0x..., as the launcher chose or was given it. */
static uint64_t
abi_seed(void)
{
	const char *text = getenv("MLXEMU_SEED");
	uint64_t seed = 0;

	if (text != NULL)
		(void)emu_number(text, 0, UINT64_MAX, &seed);
	return seed;
}

static const struct emu_profile *abi_profile;

static int
abi_cap_line(const char *line, char *err, size_t err_len)
{
	const struct emu_profile *p = emu_profile_change(abi_profile, line, err, err_len);

	if (p == NULL)
		return -EINVAL;
	abi_profile = p;
	return 0;
}

static int
abi_sf_line(const char *line, char *err, size_t err_len)
{
	struct emu_sf sf;

	if (!emu_sf_parse(line, &sf) || sf.port >= abi_the_machine.ports || sf.pf >= abi_the_machine.ports) {
		snprintf(err, err_len, "MLXEMU_SF is wrong");
		return -EINVAL;
	}
	emu_sf_make(&abi_the_machine, &sf);
	return 0;
}

static int
abi_machine_describe(void)
{
	const char *ports = getenv("MLXEMU_PORTS");
	const char *name = getenv("MLXEMU_PROFILE");
	const char *clock = getenv("MLXEMU_CLOCK");
	const char *offset = getenv("MLXEMU_CLOCK_OFFSET");
	unsigned i;
	int ret;

	if (abi_run_dir() == NULL)
		return -ENODEV;
	if (clock != NULL && strcmp(clock, "virtual") == 0)
		emu_time_virtual();
	if (offset != NULL)
		emu_time_offset_set(strtoll(offset, NULL, 10));
	emu_identity_seed(abi_seed());
	ret = abi_lines_add("MLXEMU_CLOCK_PLAN", emu_clock_plan_line);
	if (ret == 0)
		ret = abi_lines_add("MLXEMU_MAC", emu_identity_mac);
	abi_profile = name != NULL ? emu_profile_find(name) : emu_profile_default();
	if (ret == 0 && abi_profile != NULL)
		ret = abi_lines_add("MLXEMU_CAPS", abi_cap_line);
	if (ret != 0)
		return ret;
	ret = emu_machine_init(&abi_the_machine, ports != NULL ? strtoul(ports, NULL, 10) : 1,
			       abi_profile);
	if (ret != 0)
		return abi_model_fail(ret, "MLXEMU_PORTS or MLXEMU_PROFILE is wrong");
	for (i = 0; i < abi_the_machine.ports; i++) {
		struct emu_dev *dev = &abi_the_machine.dev[i];

		dev->admin_up = true;
		dev->fronts = abi_fronts(i);
		dev->vf = abi_vf(i);
		emu_eswitch_set(dev, abi_switchdev(i));
		dev->l2.on = (abi_port_bits("MLXEMU_MPFS") >> i & 1) != 0;
		/* All processes of the run share the card's PCI config space. */
		(void)emu_pci_attach(dev, abi_run_dir());
	}
	ret = abi_lines_add("MLXEMU_SF", abi_sf_line);
	if (ret != 0)
		return ret;
	emu_bond_set(&abi_the_machine, abi_port_bits("MLXEMU_BOND"));
	abi_the_machine.front = &abi_front_ops;
	pthread_atfork(NULL, NULL, abi_forked_child);
	abi_owner = getpid();
	atomic_store(&abi_state, ABI_MODEL_DESCRIBED);
	return 0;
}

struct emu_machine *
abi_machine(void)
{
	enum abi_model_state state = atomic_load(&abi_state);

	if (state == ABI_MODEL_NONE) {
		abi_inside++;
		pthread_mutex_lock(&abi_state_mutex);
		if (atomic_load(&abi_state) == ABI_MODEL_NONE)
			(void)abi_machine_describe();
		pthread_mutex_unlock(&abi_state_mutex);
		abi_inside--;
		state = atomic_load(&abi_state);
	}
	return state == ABI_MODEL_DESCRIBED || state == ABI_MODEL_RUNNING ? &abi_the_machine : NULL;
}

/* Set the TAP descriptors of the launcher in the plan: "port:fd,port:fd". */
static void
abi_wire_fds(struct emu_wire_plan *plan, unsigned ports)
{
	const char *s = getenv("MLXEMU_WIRE_FDS");
	char *end;

	while (s != NULL && *s >= '0' && *s <= '9') {
		unsigned long port = strtoul(s, &end, 10);
		long fd = *end == ':' ? strtol(end + 1, &end, 10) : -1;

		if (port < ports && fd >= 0 && fcntl(fd, F_GETFD) >= 0)
			plan[port].fd = abi_fd_hide(fd);
		abi_fd_unguard(fd);
		s = *end == ',' ? end + 1 : NULL;
	}
}

static int
abi_wires_attach(void)
{
	static struct emu_wire_plan plan[EMU_MAX_PORTS];
	const char *specs[ABI_MAX_SPECS];
	const char *env = getenv("MLXEMU_WIRES");
	char *copy = strdup(env != NULL ? env : "");
	char err[PATH_MAX] = "", *word, *save = NULL;
	unsigned n = 0;
	int ret;

	if (copy == NULL)
		return -ENOMEM;
	for (word = strtok_r(copy, "\n", &save); word != NULL && n < ABI_MAX_SPECS;
	     word = strtok_r(NULL, "\n", &save))
		specs[n++] = word;
	ret = emu_wire_parse(specs, n, abi_the_machine.ports, plan, err, sizeof(err));
	if (ret == 0) {
		abi_wire_fds(plan, abi_the_machine.ports);
		ret = emu_wire_attach(&abi_the_machine, plan, err, sizeof(err));
	}
	free(copy);
	return ret == 0 ? 0 : abi_model_fail(ret, err);
}

/* State mutex held. */
static int
abi_faults_add(void)
{
	static bool added;
	int ret;

	if (added)
		return 0;
	emu_fault_alloc_hook = abi_alloc_watch;
	ret = abi_lines_add("MLXEMU_FAULTS", emu_fault_add);
	emu_fault_seed(abi_seed());
	added = ret == 0;
	return ret;
}

int
abi_model_faults(void)
{
	int ret = 0;

	if (abi_machine() == NULL)
		return -ENODEV;
	abi_inside++;
	pthread_mutex_lock(&abi_state_mutex);
	if (atomic_load(&abi_state) == ABI_MODEL_DESCRIBED)
		ret = abi_faults_add();
	pthread_mutex_unlock(&abi_state_mutex);
	abi_inside--;
	return ret;
}

/* MLXEMU_CHECK: checks beyond those of a card. */
static int
abi_checks_enable(void)
{
	const char *env = getenv("MLXEMU_CHECK");

	if (env == NULL || *env == '\0')
		return 0;
	if (strcmp(env, "buffers") != 0)
		return abi_model_fail(-EINVAL, "MLXEMU_CHECK is wrong: buffers");
	return emu_dp_check_buffers(true) ? 0 : -ENOMEM;
}

/* MLXEMU_ORDER: strict or relaxed; MLXEMU_SEED, as for rules. */
static int
abi_order_set(void)
{
	const char *order = getenv("MLXEMU_ORDER"), *seed = getenv("MLXEMU_SEED");
	uint64_t start = 1;

	if (order == NULL || *order == '\0' || strcmp(order, "strict") == 0)
		return 0;
	if (strcmp(order, "relaxed") != 0)
		return abi_model_fail(-EINVAL, "MLXEMU_ORDER is wrong: strict or relaxed");
	if (seed != NULL)
		(void)emu_number(seed, 0, UINT64_MAX, &start);
	emu_dp_order(true, start);
	emu_guard_steps(abi_wc_step);
	return 0;
}

static int
abi_capture(const char *line, char *err, size_t err_len)
{
	return emu_dp_capture(&abi_the_machine, line, err, err_len);
}

static void
abi_mark_file(const char *name, char *path, size_t len)
{
	snprintf(path, len, "%s/%s.%d", abi_run_dir(), name, (int)abi_owner);
}

/* Create the file active.PID: the launcher expects a report of this process. */
static int
abi_mark_active(void)
{
	char path[PATH_MAX];
	int fd;

	abi_mark_file("active", path, sizeof(path));
	fd = abi_real_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return abi_model_fail(-errno, "the run directory does not exist any more: no device can be opened");
	abi_real_close(fd);
	return 0;
}

static bool
abi_trap(uint64_t addr, void *context)
{
	return abi_pages_trap(addr, context) || abi_vfio_trap(addr, context);
}

/* Without an eventfd the idle engine sleeps for short intervals only. */
static void
abi_engine_may_sleep(struct emu_machine *m)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	m->wake_fd = fd >= 0 ? abi_fd_hide(fd) : -1;
	m->counters_live = true;
}

/*
 * The model writes captures and traces in the program's process: beyond the limit of file sizes (RLIMIT_FSIZE) a write
 * is to fail, and to be reported, not to end the program.
 */
static void
abi_file_limit(void)
{
	struct sigaction old;

	if (sigaction(SIGXFSZ, NULL, &old) == 0 && (old.sa_flags & SA_SIGINFO) == 0 && old.sa_handler == SIG_DFL)
		signal(SIGXFSZ, SIG_IGN);
}

static int
abi_model_up(void)
{
	const char *trace = getenv("MLXEMU_TRACE");
	int ret;

	abi_owner = getpid();
	abi_file_limit();
	ret = abi_mark_active();
	if (ret == 0 && trace != NULL && emu_trace_open(trace) != 0)
		ret = abi_model_fail(-EIO, "the trace file cannot be opened");
	if (ret == 0)
		ret = abi_faults_add();
	if (ret == 0)
		ret = abi_checks_enable();
	if (ret == 0)
		ret = abi_order_set();
	if (ret == 0)
		ret = emu_dp_init(&abi_the_machine);
	if (ret == 0)
		ret = abi_lines_add("MLXEMU_CAPTURE", abi_capture);
	if (ret == 0)
		ret = abi_wires_attach();
	emu_guard_hook = abi_trap;
	if (ret == 0)
		ret = emu_guard_start(&abi_the_machine);
	if (ret == 0)
		abi_engine_may_sleep(&abi_the_machine);
	if (ret == 0)
		ret = emu_dp_start(&abi_the_machine);
	/* Continue without a control socket. */
	if (ret == 0 && abi_ctl_start(&abi_the_machine, abi_run_dir()) != 0)
		(void)abi_model_fail(0, "the control socket cannot be created in the run directory");
	if (ret == 0) {
		emu_ledger_begin(&abi_the_machine);
		at_quick_exit(abi_model_finish);
		atomic_store(&abi_state, ABI_MODEL_RUNNING);
	}
	return ret;
}

int
abi_model_start(void)
{
	int ret = 0;

	if (abi_machine() == NULL)
		return -ENODEV;
	if (atomic_load(&abi_state) == ABI_MODEL_RUNNING)
		return 0;
	if (abi_joined_run())
		return abi_model_fail(-EBUSY, "--join: the devices belong to the program of the run, and cannot be opened here");
	abi_inside++;
	pthread_mutex_lock(&abi_state_mutex);
	if (atomic_load(&abi_state) == ABI_MODEL_DESCRIBED) {
		ret = abi_model_up();
		/* Do not try again after a failure: the set-up is incomplete. */
		if (ret != 0)
			atomic_store(&abi_state, ABI_MODEL_DEAD);
	}
	pthread_mutex_unlock(&abi_state_mutex);
	abi_inside--;
	return ret;
}

/* State of the thread before it entered the model. */
static __thread sigset_t abi_signal_mask;
static __thread int abi_cancel_state;

/*
 * In the kernel a system call of another thread does not return while the process exits. Let each
 * such thread wait once for a limited time: the exiting thread may be joining it. Threads of the
 * emulator do not wait, because the exiting thread joins them.
 */
static void
abi_end_wait(void)
{
	const struct timespec end = {.tv_sec = ABI_END_S};
	int cancel, err = errno;

	if (!atomic_load(&abi_ending) || abi_end_waited || emu_thread_own || abi_model_foreign() ||
	    pthread_equal(abi_ender, pthread_self()))
		return;
	abi_end_waited = true;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	nanosleep(&end, NULL);
	pthread_setcancelstate(cancel, NULL);
	errno = err;
}

/*
 * As in a system call, no signal handler runs inside the model (it could call the model again), and
 * the thread is not cancelled there.
 */
struct emu_machine *
abi_enter(void)
{
	struct emu_machine *m = abi_machine();
	sigset_t all;

	if (m == NULL) {
		abi_end_wait();
		return NULL;
	}
	sigfillset(&all);
	emu_guard_unblock(&all);
	pthread_sigmask(SIG_BLOCK, &all, &abi_signal_mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &abi_cancel_state);
	abi_inside++;
	emu_lock(m);
	if (!atomic_load(&abi_ending))
		return m;
	abi_leave();
	abi_end_wait();
	return NULL;
}

void
abi_leave(void)
{
	emu_unlock(&abi_the_machine);
	abi_inside--;
	pthread_setcancelstate(abi_cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &abi_signal_mask, NULL);
}

/* Faults, counters, objects left behind and violations. */
static void
abi_report_write(void)
{
	char path[PATH_MAX];

	abi_mark_file("report", path, sizeof(path));
	if (emu_audit_write(&abi_the_machine, path) < 0)
		(void)abi_model_fail(-EIO, "the report cannot be written");
}

void
abi_model_finish(void)
{
	/*
	 * A vfork() child is another process with the same memory. A thread inside the model may call
	 * exit() from a signal handler; the model cannot be stopped then.
	 */
	if (atomic_load(&abi_state) != ABI_MODEL_RUNNING || abi_model_foreign() ||
	    abi_inside != 0)
		return;
	abi_inside++;
	pthread_mutex_lock(&abi_state_mutex);
	if (atomic_load(&abi_state) == ABI_MODEL_RUNNING) {
		abi_ender = pthread_self();
		atomic_store(&abi_ending, true);
		atomic_store(&abi_state, ABI_MODEL_DEAD);
		abi_ctl_stop();
		abi_async_stop();
		abi_vfio_thread_stop();
		emu_dp_stop(&abi_the_machine);
		abi_fd_unhide_close(abi_the_machine.wake_fd);
		abi_the_machine.wake_fd = -1;
		emu_lock(&abi_the_machine);
		emu_ledger_end(&abi_the_machine);
		abi_uverbs_exit();
		abi_vfio_exit();
		emu_wire_detach(&abi_the_machine);
		abi_report_write();
		abi_pages_open(NULL);
		abi_vfio_trap_end();
		emu_unlock(&abi_the_machine);
		emu_guard_stop();
	}
	pthread_mutex_unlock(&abi_state_mutex);
	abi_inside--;
}
