/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Run directory, search for the front-end library, environment of the program. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emu_bond.h"
#include "abi/host/sysfs.h"
#include "core/emu_fault.h"
#include "core/emu_identity.h"
#include "core/emu_pci.h"
#include "mlxemu.h"

/* A file in a locked run directory. */
#define RUNDIR_MARK "launcher"

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void
mlxemu_rundir_remove(const struct mlxemu_run *run)
{
	if (run->dir[0] != '\0')
		(void)nftw(run->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Whether a process of the run still lives, behind a launcher that does not. */
static bool
rundir_active(const char *dir)
{
	char path[PATH_MAX + 64];
	bool active = false;
	glob_t found;

	snprintf(path, sizeof(path), "%s/active.*", dir);
	if (glob(path, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc && !active; i++) {
		snprintf(path, sizeof(path), "/proc/%.32s", strrchr(found.gl_pathv[i], '.') + 1);
		active = access(path, F_OK) == 0;
	}
	globfree(&found);
	return active;
}

/*
 * The lock of a run directory: its launcher holds it, and the kernel gives it back when the launcher is killed. A
 * descriptor, or -1.
 */
static int
rundir_lock(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Removes a directory that a killed launcher has left. */
static void
rundir_sweep_one(const char *dir)
{
	char mark[PATH_MAX + 16];
	struct stat st;
	int fd;

	if (lstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return;
	fd = rundir_lock(dir);
	if (fd < 0)
		return;
	/* Without the mark: another launcher has just made it, and has not locked it yet. */
	snprintf(mark, sizeof(mark), "%s/" RUNDIR_MARK, dir);
	if (access(mark, F_OK) == 0 && !rundir_active(dir))
		(void)nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	close(fd);
}

static void
rundir_sweep(const char *tmp)
{
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/mlxemu.??????", tmp);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		rundir_sweep_one(found.gl_pathv[i]);
	globfree(&found);
}

/* The descriptor stays open until the launcher ends. Without a lock the directory is never swept. */
static void
rundir_own(const char *dir)
{
	char mark[PATH_MAX + 16];
	int fd;

	if (rundir_lock(dir) < 0)
		return;
	snprintf(mark, sizeof(mark), "%s/" RUNDIR_MARK, dir);
	fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}

static uint32_t
random_32(void)
{
	uint32_t v = 0;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = (uint32_t)emu_mono_ns() | 1;
	return v;
}

static int
rundir_tree(struct mlxemu_run *run)
{
	static struct emu_machine machine;
	char failed[PATH_MAX] = "";
	unsigned i;
	int ret;

	/* Small, so that it is typed easily; not 0, which has fixed values. */
	while (!run->seeded && run->seed == 0)
		run->seed = random_32();
	emu_identity_seed(run->seed);
	ret = emu_machine_init(&machine, run->ports, run->profile);
	if (ret != 0)
		return mlxemu_fail(MLXEMU_FAILED, "cannot describe the devices: %s",
				   strerror(-ret));
	/* A connected port has carrier from the start. */
	for (i = 0; i < run->ports; i++)
		machine.dev[i].link_up = run->plan[i].kind != EMU_WIRE_NONE;
	for (i = 0; i < run->ports; i++)
		machine.dev[i].vf = (uint8_t)(run->vfs[i] - '0');
	for (i = 0; i < run->ports; i++)
		emu_eswitch_set(&machine.dev[i], run->switchdev[i]);
	for (i = 0; i < run->ports; i++)
		machine.dev[i].fronts = (uint8_t)(run->fronts[i] - '0');
	for (i = 0; i < run->nsfs; i++) {
		struct emu_sf sf;

		/* The text that option_sf() has stored. */
		if (emu_sf_parse(run->sfs[i], &sf))
			emu_sf_make(&machine, &sf);
	}
	emu_bond_set(&machine, run->bond);
	ret = emu_sysfs_build(&machine, run->dir, failed, sizeof(failed));
	/* PCI config space is shared by all processes of the run. */
	for (i = 0; i < run->ports && ret == 0; i++) {
		snprintf(failed, sizeof(failed), "configuration space of port %u", i);
		ret = emu_pci_create(&machine.dev[i], run->dir);
	}
	emu_machine_fini(&machine);
	if (ret != 0)
		return mlxemu_fail(MLXEMU_FAILED, "%s: %s", failed, strerror(-ret));
	return MLXEMU_OK;
}

int
mlxemu_rundir_make(struct mlxemu_run *run)
{
	const char *tmp = getenv("TMPDIR");
	char name[PATH_MAX];
	int status;

	if (tmp == NULL || tmp[0] == '\0')
		tmp = "/tmp";
	if (snprintf(name, sizeof(name), "%s/mlxemu.XXXXXX", tmp) >= PATH_MAX ||
	    !mlxemu_absolute(name, run->dir, sizeof(run->dir) - 512) ||
	    mkdtemp(run->dir) == NULL) { /* mode 0700 */
		run->dir[0] = '\0';
		return mlxemu_fail(MLXEMU_FAILED, "cannot make a directory in %s: %s", tmp,
				   strerror(errno));
	}
	rundir_own(run->dir);
	rundir_sweep(tmp);
	status = rundir_tree(run);
	if (status != MLXEMU_OK)
		mlxemu_rundir_remove(run);
	return status;
}

int
mlxemu_file_find(const char *name, char *out)
{
	char self[PATH_MAX] = "", path[3 * PATH_MAX];
	char *slash;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return mlxemu_fail(MLXEMU_FAILED, "/proc/self/exe: %s", strerror(errno));
	slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = '\0';
	snprintf(path, sizeof(path), "%s/%s", self, name);
	if (realpath(path, out) != NULL)
		return MLXEMU_OK;
	snprintf(path, sizeof(path), "%s%s%s/%s", MLXEMU_LIB_DIR[0] != '/' ? self : "",
		 MLXEMU_LIB_DIR[0] != '/' ? "/" : "", MLXEMU_LIB_DIR, name);
	if (realpath(path, out) != NULL)
		return MLXEMU_OK;
	return mlxemu_fail(MLXEMU_FAILED, "%s is neither in %s nor in %s", name, self, MLXEMU_LIB_DIR);
}

/* Make the names in `N=pcap:IN,OUT` absolute: the program may change its directory. */
static int
spec_absolute(const char *spec, char *out, size_t len)
{
	const char *files = strstr(spec, "=pcap:");
	char in[PATH_MAX], full[PATH_MAX];
	const char *comma;
	size_t n;

	if (files == NULL)
		return snprintf(out, len, "%s", spec);
	files += strlen("=pcap:");
	comma = strchr(files, ',');
	n = comma != NULL ? (size_t)(comma - files) : strlen(files);
	if (n >= sizeof(in))
		return -1;
	memcpy(in, files, n);
	in[n] = '\0';
	full[0] = '\0';
	if (in[0] != '\0' && !mlxemu_absolute(in, full, sizeof(full)))
		return -1;
	n = snprintf(out, len, "%.*s%s", (int)(files - spec), spec, full);
	if (comma == NULL || comma[1] == '\0')
		return (int)n;
	if (!mlxemu_absolute(comma + 1, full, sizeof(full)))
		return -1;
	return (int)n + snprintf(out + n, n < len ? len - n : 0, ",%s", full);
}

/* MLXEMU_WIRES: the specs, one per line. MLXEMU_WIRE_FDS: "port:fd" of the open TAPs. */
static int
environment_wires(const struct mlxemu_run *run)
{
	static char specs[65536], fds[EMU_MAX_PORTS * 16];
	size_t n = 0, f = 0;
	unsigned i;

	for (i = 0; i < run->nspecs; i++) {
		char one[3 * PATH_MAX];
		int len = spec_absolute(run->specs[i], one, sizeof(one));

		if (len < 0 || (size_t)len >= sizeof(one) || n + len + 2 > sizeof(specs))
			return mlxemu_fail(MLXEMU_USAGE, "--wire '%s': too long", run->specs[i]);
		n += snprintf(specs + n, sizeof(specs) - n, "%s%s", n != 0 ? "\n" : "", one);
	}
	for (i = 0; i < run->ports; i++) {
		int fd = run->plan[i].fd;

		if (run->plan[i].kind != EMU_WIRE_TAP || fd < 0)
			continue;
		(void)fcntl(fd, F_SETFD, 0);
		f += snprintf(fds + f, sizeof(fds) - f, "%s%u:%d", f != 0 ? "," : "", i, fd);
	}
	setenv("MLXEMU_WIRES", specs, 1);
	setenv("MLXEMU_WIRE_FDS", fds, 1);
	return MLXEMU_OK;
}

/* Appends a line to the text of a variable; false if it does not fit. */
static bool
lines_add(char *text, size_t size, const char *line)
{
	size_t n = strlen(text);
	int len = snprintf(text + n, size - n, "%s%s", n != 0 ? "\n" : "", line);

	return len > 0 && (size_t)len < size - n;
}

/* Clock options, one per line, and the offset of UTC, which all processes share. */
static int
environment_clock(const struct mlxemu_run *run)
{
	static char plan[MLXEMU_MAX_SPECS * sizeof(run->clock[0]) + 1];
	static char captures[EMU_MAX_PORTS * (PATH_MAX + 16)];
	char offset[32];

	for (unsigned i = 0; i < run->nclock; i++)
		if (!lines_add(plan, sizeof(plan), run->clock[i]))
			return mlxemu_fail(MLXEMU_USAGE, "--clock-...: too much text");
	setenv("MLXEMU_CLOCK", run->virtual_time ? "virtual" : "host", 1);
	setenv("MLXEMU_CLOCK_PLAN", plan, 1);
	for (unsigned i = 0; i < run->ncaptures; i++)
		if (!lines_add(captures, sizeof(captures), run->captures[i]))
			return mlxemu_fail(MLXEMU_USAGE, "--capture: too much text");
	setenv("MLXEMU_CAPTURE", captures, 1);
	snprintf(offset, sizeof(offset), "%" PRId64, emu_time_offset());
	if (run->virtual_time)
		unsetenv("MLXEMU_CLOCK_OFFSET");
	else
		setenv("MLXEMU_CLOCK_OFFSET", offset, 1);
	return MLXEMU_OK;
}

static bool
has_net_raw(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_NET_RAW & 1) != 0;
}

/* MLXEMU_FAULTS: one rule per line. */
static int
environment_faults(const struct mlxemu_run *run)
{
	static char rules[100000];
	struct emu_fault_info info;
	char seed[32];
	unsigned i;

	for (i = 0; emu_fault_info(i, &info); i++)
		if (!lines_add(rules, sizeof(rules), info.text))
			return mlxemu_fail(MLXEMU_USAGE, "--fault: too much text");
	setenv("MLXEMU_FAULTS", rules, 1);
	snprintf(seed, sizeof(seed), "%" PRIu64, run->seed);
	setenv("MLXEMU_SEED", seed, 1);
	/* Users without the capability can run programs that need it on a card. */
	setenv("MLXEMU_NET_RAW", run->net_raw != NULL ? run->net_raw : has_net_raw() ? "process" : "grant", 1);
	/* Without --check keep the value of the environment. */
	if (run->check != NULL)
		setenv("MLXEMU_CHECK", run->check, 1);
	/* The same for --order. */
	if (run->order != NULL)
		setenv("MLXEMU_ORDER", run->order, 1);
	return environment_clock(run);
}

void
mlxemu_environment_preload(const struct mlxemu_run *run)
{
	const char *old = getenv("LD_PRELOAD"), *asan = getenv("ASAN_OPTIONS");
	char value[4 * PATH_MAX];

	/* The runtime of a sanitizer must be loaded first. */
	snprintf(value, sizeof(value), "%s%s%s%s%s", MLXEMU_SANITIZER_RUNTIME,
		 MLXEMU_SANITIZER_RUNTIME[0] != '\0' ? ":" : "", run->library,
		 old != NULL && old[0] != '\0' ? ":" : "", old != NULL ? old : "");
	setenv("LD_PRELOAD", value, 1);
	/* AddressSanitizer refuses to start behind another library, unless the program is to run without this check. */
	snprintf(value, sizeof(value), "verify_asan_link_order=0%s%s", asan != NULL ? ":" : "",
		 asan != NULL ? asan : "");
	setenv("ASAN_OPTIONS", value, 1);
}

int
mlxemu_environment(const struct mlxemu_run *run)
{
	char ports[16], bits[16], ctl[PATH_MAX + 8], sfs[MLXEMU_MAX_SPECS * 48] = "";
	char caps[MLXEMU_MAX_SPECS * 48 + sizeof(run->recorded)];
	char macs[MLXEMU_MAX_SPECS * 32] = "";
	int status = environment_wires(run);

	snprintf(caps, sizeof(caps), "%s", run->recorded);
	for (unsigned i = 0; i < run->ncaps && status == MLXEMU_OK; i++)
		if (!lines_add(caps, sizeof(caps), run->caps[i]))
			status = mlxemu_fail(MLXEMU_USAGE, "--cap: too much text");
	for (unsigned i = 0; i < run->nsfs && status == MLXEMU_OK; i++)
		if (!lines_add(sfs, sizeof(sfs), run->sfs[i]))
			status = mlxemu_fail(MLXEMU_USAGE, "--sf: too much text");
	for (unsigned i = 0; i < run->nmacs && status == MLXEMU_OK; i++)
		if (!lines_add(macs, sizeof(macs), run->macs[i]))
			status = mlxemu_fail(MLXEMU_USAGE, "--mac: too much text");

	if (status == MLXEMU_OK)
		status = environment_faults(run);
	if (status != MLXEMU_OK)
		return status;
	snprintf(ports, sizeof(ports), "%u", run->ports);
	setenv("MLXEMU_PORTS", ports, 1);
	setenv("MLXEMU_VF", run->vfs, 1);
	setenv("MLXEMU_SWITCHDEV", run->switchdev, 1);
	setenv("MLXEMU_SF", sfs, 1);
	snprintf(bits, sizeof(bits), "0x%x", run->mpfs);
	setenv("MLXEMU_MPFS", bits, 1);
	snprintf(bits, sizeof(bits), "0x%x", run->bond);
	setenv("MLXEMU_BOND", bits, 1);
	setenv("MLXEMU_OPEN", run->fronts, 1);
	setenv("MLXEMU_PROFILE", run->profile->name, 1);
	setenv("MLXEMU_CAPS", caps, 1);
	setenv("MLXEMU_MAC", macs, 1);
	setenv("MLXEMU_DIR", run->dir, 1);
	/* A link to the socket of the process that opened a device last. */
	snprintf(ctl, sizeof(ctl), "%s/ctl", run->dir);
	setenv("MLXEMU_CTL", ctl, 1);
	setenv("MLXEMU_AUDIT", run->audit ? "1" : "0", 1);
	if (run->trace[0] != '\0')
		setenv("MLXEMU_TRACE", run->trace, 1);
	else
		unsetenv("MLXEMU_TRACE");
	mlxemu_environment_preload(run);
	return MLXEMU_OK;
}
