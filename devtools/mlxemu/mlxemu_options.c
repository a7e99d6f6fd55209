/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The options of `mlxemu run`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "core/emu_identity.h"
#include "core/emu_number.h"
#include "dp/emu_dp.h"
#include "mlxemu.h"

/* With the largest number of ports. */
static const char run_usage[] =
	"usage: mlxemu run [options] -- PROGRAM [ARGS...]\n"
	"\n"
	"  --ports N        number of ports, 1 to %d (default 1); each is a PCI function and\n"
	"                   an RDMA device mlx5_0, mlx5_1, ...\n"
	"  --profile NAME   card model (`mlxemu profiles` lists them), or name or path of a recorded\n"
	"                   one (`mlxemu profile import`; default: the environment variable\n"
	"                   MLXEMU_DEFAULT_PROFILE, which takes the same, else cx6dx)\n"
	"  --cap NAME=VALUE  change a capability of the card (`mlxemu profiles cx6dx` lists them);\n"
	"                   may be given several times\n"
	"  --open FRONT     driver of the ports: verbs (the kernel's mlx5 driver, default),\n"
	"                   vfio (vfio-pci), or both, one at a time; PORT=FRONT for one port\n"
	"  --vf PORT[,trust=on|off][,spoofchk=on|off][,link=auto|up|down]\n"
	"                   the port is a virtual function, with these settings by its PF (default:\n"
	"                   trust=off,spoofchk=off,link=auto); may be given for each port\n"
	"  --switchdev PORT[,vfs=N][,metadata=on|off]\n"
	"                   the port is the uplink of a PF in switchdev mode, with N virtual functions\n"
	"                   that have representors (default 0), and with the vport of each packet in\n"
	"                   register C 0 (default on); may be given for each port\n"
	"  --sf PORT[,pf=PORT][,sfnum=N]  the port is a sub-function of the PF that another port is\n"
	"                   (default: pf=0,sfnum=88): mlx5_core.sf.PORT on the auxiliary bus\n"
	"  --bond PORT,PORT  the ports are PFs under an active LAG: one RDMA device mlx5_bond_0 at the\n"
	"                   first port's PCI address, none at the other's, both interfaces in a bond\n"
	"  --mpfs PORT      the card has an MPFS (switch between functions), and the port\n"
	"                   manages its address table; may be given for each port\n"
	"  --wire SPEC      what a port is connected to; may be given for each port:\n"
	"                     pair            ports in pairs (default: 0-1, 2-3, ...)\n"
	"                     A=pair:B        port A with port B\n"
	"                     loop, PORT=loop sent frames come back\n"
	"                     PORT=tap:IFNAME[@NETNS]  network stack of the host\n"
	"                     PORT=pcap:IN[,OUT]       frames from IN, sent frames to OUT\n"
	"                     PORT=sock:PATH  the port of another mlxemu with the same PATH\n"
	"                     PORT=none       no cable\n"
	"                   pair, loop and sock take :lossless (hold frames while the peer has no\n"
	"                   receive WQE posted), sock :up before it (the link is up without\n"
	"                   a peer too)\n"
	"  --audit          print the reports at the end (stderr) and exit 3 when the program\n"
	"                   left objects behind or committed a violation\n"
	"  --report FILE    write the reports to FILE\n"
	"  --trace FILE     write every firmware command, decoded, to FILE\n"
	"  --fault RULE     make the device or the kernel fail, or return wrong values; may be\n"
	"                   given several times (`mlxemu faults` lists events and actions):\n"
	"                     on EVENT [match KEY=VALUE ...] [after N] [every K] [count C]\n"
	"                       do ACTION [KEY=VALUE ...]\n"
	"  --fault-file FILE  rules from FILE, one per line; '#' starts a comment\n"
	"  --seed N         repeat a run: its report names the seed of the random numbers of rules and of\n"
	"                   --order relaxed, of addresses, GUIDs and the first numbers of objects.\n"
	"                   0: fixed ones (default: another seed in each run)\n"
	"  --mac [PORT=]ADDRESS  address of a port (default port 0), of which its GUID is made; may\n"
	"                   be given for each port\n"
	"  --net-raw process|grant|deny  CAP_NET_RAW, without which rules and raw QPs fail with\n"
	"                   EPERM: that of the program (default, if this command has it), or\n"
	"                   always (default of other users), or never\n"
	"  --check buffers  check receive buffers: posting one twice is a violation\n"
	"                   (bad buffer)\n"
	"  --order KIND     strict: completions are visible at once (default); relaxed: as late and\n"
	"                   in as many parts as PCI Express allows, and doorbells stay in\n"
	"                   write-combining buffers; --seed selects the delays\n"
	"  --clock KIND     host: real time (default); virtual: only commands and packets\n"
	"                   advance time, the same in each run\n"
	"  --clock-hz N     frequency of the device's counter (default: the profile's); this\n"
	"                   and the following options take PORT=VALUE for one port\n"
	"  --clock-start N  initial value of the counter; wrap: 2 s before its lower 41 bits wrap\n"
	"  --clock-drift PPM   frequency error of the counter (-20.5)\n"
	"  --clock-wander PPM[:PERIOD_S]  amplitude of a periodic frequency error (period 60 s)\n"
	"  --clock-kernel old|new  the kernel's clock scale: constant (before 6.7), or chosen by\n"
	"                   frequency (default)\n"
	"  --clock-format free|realtime|both  supported timestamps: free-running counter\n"
	"                   (default), real time, either (cx6dx, cx7)\n"
	"  --capture PORT=FILE[:rx|:tx]  write received and sent frames (or one of both) with their\n"
	"                   true times to FILE (pcapng)\n"
	"  --join RUN       run PROGRAM, a secondary process of DPDK, on the devices of another run:\n"
	"                   RUN is the process id of its program, or its directory (MLXEMU_DIR there);\n"
	"                   no other option is allowed, and PROGRAM can open no device itself\n"
	"  --help           this text\n"
	"\n"
	"Numbers are decimal or 0x... All options are checked before any file is created or truncated.\n"
	"The exit status is that of the program (128 + N if signal N ended it), 3 if it was 0 and\n"
	"the audit is not clean, 2 for bad options, 1 if set-up or a report failed, 127 if the\n"
	"program does not exist.\n"
	"\n"
	"examples:\n"
	"  mlxemu run -- ibv_devinfo -v\n"
	"  mlxemu run --ports 2 --audit -- ./my_program\n"
	"  mlxemu run --ports 2 --sf 1 -- dpdk-testpmd -a auxiliary:mlx5_core.sf.1 ...\n"
	"  mlxemu run --cap log_max_uctx=0 -- ./my_program    (firmware with UCTX_EN=0)\n"
	"  mlxemu run --ports 2 --wire 0=tap:tap0 --wire 1=tap:tap1 -- dpdk-testpmd ...\n"
	"  mlxemu run --wire 0=pcap:in.pcap,out.pcap --report counters.txt -- ./my_program\n"
	"  mlxemu run --join 4711 -- dpdk-proc-info -- --stats    (4711: the primary process)\n"
	"  mlxemu run --fault 'on cmd.entry match op=CREATE_SQ after 3 count 1 do fail \\\n"
	"                      status=NO_RESOURCES' -- ./my_program\n";

void
mlxemu_run_usage(void)
{
	printf(run_usage, EMU_MAX_PORTS);
}

bool
mlxemu_absolute(const char *path, char *out, size_t len)
{
	char cwd[PATH_MAX] = "";
	int n;

	if (path[0] != '/' && getcwd(cwd, sizeof(cwd)) == NULL)
		return false;
	n = snprintf(out, len, "%s%s%s", cwd, path[0] != '/' ? "/" : "", path);
	return n > 0 && (size_t)n < len;
}

static int
option_ports(struct mlxemu_run *run, const char *value)
{
	uint64_t v;

	if (!emu_number(value, 1, EMU_MAX_PORTS, &v))
		return mlxemu_fail(MLXEMU_USAGE, "--ports '%s': a number from 1 to %d is needed",
				   value, EMU_MAX_PORTS);
	run->ports = (unsigned)v;
	return MLXEMU_OK;
}

/* --open FRONT or PORT=FRONT: kept as digits of EMU_FRONT_* bits, which the program is given. */
static int
option_open(struct mlxemu_run *run, const char *value)
{
	static const struct {
		const char *name;
		uint8_t fronts;
	} kinds[] = {
		{"verbs", EMU_FRONT_VERBS}, {"vfio", EMU_FRONT_VFIO},
		{"both", EMU_FRONT_VERBS | EMU_FRONT_VFIO},
	};
	const char *name = strchr(value, '=');
	unsigned first = 0, last = EMU_MAX_PORTS - 1;
	uint64_t port;

	if (name != NULL) {
		if (emu_number_scan(value, &port) != name || port >= EMU_MAX_PORTS)
			return mlxemu_fail(MLXEMU_USAGE, "--open '%s': no port before '='", value);
		first = last = (unsigned)port;
		run->opened |= 1u << first;
	}
	name = name != NULL ? name + 1 : value;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0) {
			memset(run->fronts + first, '0' + kinds[i].fronts, last - first + 1);
			return MLXEMU_OK;
		}
	return mlxemu_fail(MLXEMU_USAGE, "--open '%s': verbs, vfio or both", value);
}

/* A bit per port. */
static int
option_port(const char *option, const char *value, unsigned *ports)
{
	uint64_t v;

	if (!emu_number(value, 0, EMU_MAX_PORTS - 1, &v))
		return mlxemu_fail(MLXEMU_USAGE, "%s '%s': a port from 0 to %d is needed", option,
				   value, EMU_MAX_PORTS - 1);
	*ports |= 1u << v;
	return MLXEMU_OK;
}

/* Applies one NAME=VALUE of --vf, of len bytes. */
static bool
vf_setting(unsigned *vf, const char *text, size_t len)
{
	static const struct {
		const char *text;
		unsigned clear, set;
	} settings[] = {
		{"trust=on", 0, EMU_VF_TRUST},
		{"trust=off", EMU_VF_TRUST, 0},
		{"spoofchk=on", 0, EMU_VF_SPOOFCHK},
		{"spoofchk=off", EMU_VF_SPOOFCHK, 0},
		{"link=auto", EMU_VF_LINK_UP | EMU_VF_LINK_DOWN, 0},
		{"link=up", EMU_VF_LINK_DOWN, EMU_VF_LINK_UP},
		{"link=down", EMU_VF_LINK_UP, EMU_VF_LINK_DOWN},
	};

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strlen(settings[i].text) == len && memcmp(settings[i].text, text, len) == 0) {
			*vf = (*vf & ~settings[i].clear) | settings[i].set;
			return true;
		}
	return false;
}

/* --vf PORT[,NAME=VALUE]...: kept as one character per port, which the program is given. */
static int
option_vf(struct mlxemu_run *run, const char *value)
{
	unsigned vf = EMU_VF;
	const char *at;
	uint64_t port;

	at = emu_number_scan(value, &port);
	if (at == NULL || (*at != '\0' && *at != ',') || port >= EMU_MAX_PORTS)
		return mlxemu_fail(MLXEMU_USAGE, "--vf '%s': a port from 0 to %d is needed", value, EMU_MAX_PORTS - 1);
	while (*at == ',') {
		size_t len = strcspn(++at, ",");

		if (!vf_setting(&vf, at, len))
			return mlxemu_fail(MLXEMU_USAGE, "--vf '%s': not known: '%.*s' (trust=on|off, "
					   "spoofchk=on|off, link=auto|up|down)", value, (int)len, at);
		at += len;
	}
	run->vfs[port] = (char)('0' + vf);
	return MLXEMU_OK;
}

/* --bond PORT,PORT: a bit per port. */
static int
option_bond(struct mlxemu_run *run, const char *value)
{
	uint64_t first, second;
	const char *at = emu_number_scan(value, &first);

	if (at == NULL || *at != ',' || !emu_number(at + 1, 0, EMU_MAX_PORTS - 1, &second) || first >= EMU_MAX_PORTS ||
	    first == second)
		return mlxemu_fail(MLXEMU_USAGE, "--bond '%s': two ports from 0 to %d are needed", value,
				   EMU_MAX_PORTS - 1);
	if (run->bond != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--bond: there is only one bond");
	run->bond = 1u << first | 1u << second;
	return MLXEMU_OK;
}

/* --switchdev PORT[,NAME=VALUE]...: as --vf, one character per port. */
static int
option_switchdev(struct mlxemu_run *run, const char *value)
{
	uint64_t port, vfs = 0;
	bool metadata = true;
	const char *at;

	at = emu_number_scan(value, &port);
	if (at == NULL || (*at != '\0' && *at != ',') || port >= EMU_MAX_PORTS)
		return mlxemu_fail(MLXEMU_USAGE, "--switchdev '%s': a port from 0 to %d is needed", value,
				   EMU_MAX_PORTS - 1);
	while (*at == ',') {
		size_t len = strcspn(++at, ",");

		if (len > 4 && memcmp(at, "vfs=", 4) == 0 && emu_number_scan(at + 4, &vfs) == at + len &&
		    vfs <= EMU_ESWITCH_VFS_MAX)
			at += len;
		else if ((len == 11 && memcmp(at, "metadata=on", 11) == 0) ||
			 (len == 12 && memcmp(at, "metadata=off", 12) == 0)) {
			metadata = len == 11;
			at += len;
		} else
			return mlxemu_fail(MLXEMU_USAGE, "--switchdev '%s': not known: '%.*s' (vfs=0 to %u, "
					   "metadata=on|off)", value, (int)len, at, EMU_ESWITCH_VFS_MAX);
	}
	run->switchdev[port] = emu_eswitch_mode(metadata, (unsigned)vfs);
	return MLXEMU_OK;
}

static int
option_mpfs(struct mlxemu_run *run, const char *value)
{
	return option_port("--mpfs", value, &run->mpfs);
}

/* A card model, or name or path of a recorded one. Messages name `from`, where the value comes from. */
static int
profile_set(struct mlxemu_run *run, const char *from, const char *value)
{
	const struct emu_profile *const *p;
	char names[256] = "";
	size_t n = 0;
	int status;

	run->profile = emu_profile_find(value);
	run->recorded[0] = '\0';
	if (run->profile != NULL)
		return MLXEMU_OK;
	status = mlxemu_profile_load(from, value, run);
	if (status >= 0)
		return status;
	for (p = emu_profiles; *p != NULL && n < sizeof(names); p++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s", n != 0 ? ", " : "", (*p)->name);
	return mlxemu_fail(MLXEMU_USAGE, "%s '%s': not known (%s)", from, value, names);
}

static int
option_profile(struct mlxemu_run *run, const char *value)
{
	return profile_set(run, "--profile", value);
}

/* Without --profile. */
static int
default_profile(struct mlxemu_run *run)
{
	const char *name = getenv("MLXEMU_DEFAULT_PROFILE");

	if (run->profile != NULL)
		return MLXEMU_OK;
	run->profile = emu_profile_default();
	return name != NULL && name[0] != '\0' ? profile_set(run, "MLXEMU_DEFAULT_PROFILE", name) : MLXEMU_OK;
}

static int
option_cap(struct mlxemu_run *run, const char *value)
{
	if (run->ncaps == MLXEMU_MAX_SPECS)
		return mlxemu_fail(MLXEMU_USAGE, "--cap given more than %d times", MLXEMU_MAX_SPECS);
	run->caps[run->ncaps++] = value;
	return MLXEMU_OK;
}

static int
option_wire(struct mlxemu_run *run, const char *value)
{
	if (run->nspecs == MLXEMU_MAX_SPECS)
		return mlxemu_fail(MLXEMU_USAGE, "--wire given more than %d times",
				   MLXEMU_MAX_SPECS);
	/* Handed on to the program's processes line by line. */
	if (strchr(value, '\n') != NULL)
		return mlxemu_fail(MLXEMU_USAGE, "--wire with a line break in it");
	run->specs[run->nspecs++] = value;
	return MLXEMU_OK;
}

static int
option_fault(struct mlxemu_run *run, const char *value)
{
	char err[512] = "";

	(void)run;
	/* Handed on to the program's processes line by line, as the engine keeps them. */
	if (strchr(value, '\n') != NULL)
		return mlxemu_fail(MLXEMU_USAGE, "--fault with a line break in it");
	if (emu_fault_add(value, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--fault '%s': %s", value, err);
	return MLXEMU_OK;
}

static int
option_fault_file(struct mlxemu_run *run, const char *value)
{
	char err[PATH_MAX + 512] = "";

	(void)run;
	if (emu_fault_add_file(value, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--fault-file %s", err);
	return MLXEMU_OK;
}

static int
option_seed(struct mlxemu_run *run, const char *value)
{
	if (!emu_number(value, 0, UINT64_MAX, &run->seed))
		return mlxemu_fail(MLXEMU_USAGE, "--seed '%s': a number is needed", value);
	run->seeded = true;
	return MLXEMU_OK;
}

static int
option_mac(struct mlxemu_run *run, const char *value)
{
	char err[256] = "";

	if (run->nmacs == MLXEMU_MAX_SPECS)
		return mlxemu_fail(MLXEMU_USAGE, "--mac given more than %d times", MLXEMU_MAX_SPECS);
	if (emu_identity_mac(value, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--mac %s", err);
	run->macs[run->nmacs++] = value;
	return MLXEMU_OK;
}

static int
option_net_raw(struct mlxemu_run *run, const char *value)
{
	if (strcmp(value, "process") != 0 && strcmp(value, "grant") != 0 && strcmp(value, "deny") != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--net-raw '%s': process, grant or deny", value);
	run->net_raw = value;
	return MLXEMU_OK;
}

static int
option_check(struct mlxemu_run *run, const char *value)
{
	if (strcmp(value, "buffers") != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--check '%s': buffers", value);
	run->check = value;
	return MLXEMU_OK;
}

static int
option_order(struct mlxemu_run *run, const char *value)
{
	if (strcmp(value, "strict") != 0 && strcmp(value, "relaxed") != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--order '%s': strict or relaxed", value);
	run->order = value;
	return MLXEMU_OK;
}

static int
option_clock(struct mlxemu_run *run, const char *value)
{
	if (strcmp(value, "host") != 0 && strcmp(value, "real") != 0 &&
	    strcmp(value, "virtual") != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--clock '%s': host or virtual", value);
	run->virtual_time = strcmp(value, "virtual") == 0;
	return MLXEMU_OK;
}

/* --clock-NAME: kept as typed for the program's processes, which set their clocks by it. */
static int
option_clock_plan(struct mlxemu_run *run, const char *option, const char *value)
{
	const char *name = option + strlen("--clock-");
	char err[256] = "";

	if (run->nclock == MLXEMU_MAX_SPECS)
		return mlxemu_fail(MLXEMU_USAGE, "%s: --clock-... given more than %d times", option,
				   MLXEMU_MAX_SPECS);
	if (emu_clock_plan_set(name, value, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "%s %s", option, err);
	snprintf(run->clock[run->nclock], sizeof(run->clock[0]), "%s %s", name, value);
	run->nclock++;
	return MLXEMU_OK;
}

/* A file that the program's processes append to: whether it can be written; it is made when all options are known. */
static int
option_file(const char *option, const char *value, char *out)
{
	const char *slash;
	char folder[PATH_MAX];
	struct stat st;
	int err = 0;

	if (!mlxemu_absolute(value, out, PATH_MAX))
		return mlxemu_fail(MLXEMU_USAGE, "%s '%s': name too long", option, value);
	slash = strrchr(out, '/');
	snprintf(folder, sizeof(folder), "%.*s", slash == out ? 1 : (int)(slash - out), out);
	if (slash[1] == '\0')
		err = EISDIR;
	else if (stat(out, &st) != 0)
		err = access(folder, W_OK | X_OK) != 0 ? errno : 0;
	else if (S_ISDIR(st.st_mode))
		err = EISDIR;
	else if (access(out, W_OK) != 0)
		err = errno;
	if (err != 0)
		return mlxemu_fail(MLXEMU_FAILED, "%s '%s': %s", option, value, strerror(err));
	return MLXEMU_OK;
}

static int
option_capture(struct mlxemu_run *run, const char *value)
{
	static char specs[EMU_MAX_PORTS][PATH_MAX + 16];
	char path[PATH_MAX], err[512] = "";
	struct emu_capture plan;

	if (run->ncaptures == EMU_MAX_PORTS)
		return mlxemu_fail(MLXEMU_USAGE, "--capture given more than %d times",
				   EMU_MAX_PORTS);
	if (strchr(value, '\n') != NULL ||
	    emu_capture_parse(value, EMU_MAX_PORTS, &plan, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--capture %s", err);
	for (unsigned i = 0; i < run->ncaptures; i++)
		if (strtoul(specs[i], NULL, 10) == plan.port)
			return mlxemu_fail(MLXEMU_USAGE, "--capture '%s': the port has one already",
					   value);
	if (option_file("--capture", plan.path, path) != MLXEMU_OK)
		return MLXEMU_FAILED;
	snprintf(specs[run->ncaptures], sizeof(specs[0]), "%u=%s%s", plan.port, path,
		 emu_capture_suffix(&plan));
	run->captures[run->ncaptures] = specs[run->ncaptures];
	run->ncaptures++;
	return MLXEMU_OK;
}

static int
option_trace(struct mlxemu_run *run, const char *value)
{
	return option_file("--trace", value, run->trace);
}

static int
option_report(struct mlxemu_run *run, const char *value)
{
	return option_file("--report", value, run->report);
}

static int
option_join(struct mlxemu_run *run, const char *value)
{
	run->join = value;
	return MLXEMU_OK;
}

static const struct option_row {
	const char *name;
	int (*set)(struct mlxemu_run *run, const char *value); /* NULL: of a clock. */
} option_rows[] = {
	{"--vf", option_vf},	     {"--cap", option_cap},
	{"--bond", option_bond},	     {"--mpfs", option_mpfs},	     {"--switchdev", option_switchdev},
	{"--sf", mlxemu_sf_option},
	{"--open", option_open},
	{"--ports", option_ports},   {"--profile", option_profile}, {"--wire", option_wire},
	{"--trace", option_trace},   {"--report", option_report},   {"--fault", option_fault},
	{"--fault-file", option_fault_file}, {"--seed", option_seed}, {"--mac", option_mac},
	{"--net-raw", option_net_raw}, {"--order", option_order},
	{"--clock", option_clock},   {"--check", option_check},	    {"--capture", option_capture},
	{"--join", option_join},
	{"--clock-hz", NULL},	     {"--clock-start", NULL},	    {"--clock-drift", NULL},
	{"--clock-wander", NULL},    {"--clock-kernel", NULL},	    {"--clock-format", NULL},
};

static int
option_set(struct mlxemu_run *run, const struct option_row *row, const char *value)
{
	return row->set != NULL ? row->set(run, value) : option_clock_plan(run, row->name, value);
}

/* One option with its value, `--x V` or `--x=V`; *used becomes the words it took. */
static int
option_value(struct mlxemu_run *run, int argc, char **argv, int *used)
{
	unsigned i;

	for (i = 0; i < sizeof(option_rows) / sizeof(option_rows[0]); i++) {
		size_t n = strlen(option_rows[i].name);

		if (strncmp(argv[0], option_rows[i].name, n) != 0)
			continue;
		*used = argv[0][n] == '=' ? 1 : 2;
		if (argv[0][n] == '=')
			return option_set(run, &option_rows[i], argv[0] + n + 1);
		if (argv[0][n] != '\0')
			continue;
		if (argc < 2)
			return mlxemu_fail(MLXEMU_USAGE, "%s needs a value", argv[0]);
		return option_set(run, &option_rows[i], argv[1]);
	}
	*used = 0;
	return mlxemu_fail(MLXEMU_USAGE, "unknown option '%s' (mlxemu run --help lists them)",
			   argv[0]);
}

/* Checks that need all options. */
static int
options_check(struct mlxemu_run *run)
{
	char err[256] = "";

	for (unsigned i = 0; i < run->ncaps; i++) {
		run->profile = emu_profile_change(run->profile, run->caps[i], err, sizeof(err));
		if (run->profile == NULL)
			return mlxemu_fail(MLXEMU_USAGE, "--cap %s", err);
	}
	if (emu_clock_plan_check(run->ports, run->profile, err, sizeof(err)) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "%s", err);
	for (unsigned i = 0; i < EMU_MAX_PORTS; i++) {
		if (run->switchdev[i] != '0' && i >= run->ports)
			return mlxemu_fail(MLXEMU_USAGE, "--switchdev: there are only %u ports", run->ports);
		if (run->switchdev[i] != '0' && (run->vfs[i] != '0' || run->fronts[i] != '0' + EMU_FRONT_VERBS ||
						 (run->mpfs >> i & 1) != 0 || run->profile->mlx4))
			return mlxemu_fail(MLXEMU_USAGE, "--switchdev: the port is a PF with the kernel's mlx5 driver, without "
					   "--vf, --mpfs and --open vfio|both");
		if ((run->bond >> i & 1) != 0 && (i >= run->ports || run->vfs[i] != '0' || run->switchdev[i] != '0' ||
						  run->fronts[i] != '0' + EMU_FRONT_VERBS || !run->profile->lag_master))
			return mlxemu_fail(MLXEMU_USAGE, "--bond: ports are PFs with the capability lag_master and the kernel's "
					   "mlx5 driver, without --vf, --switchdev and --open vfio|both");
		if (run->vfs[i] == '0')
			continue;
		if (i >= run->ports)
			return mlxemu_fail(MLXEMU_USAGE, "--vf: there are only %u ports", run->ports);
		if ((run->mpfs >> i & 1) != 0)
			return mlxemu_fail(MLXEMU_USAGE, "--mpfs: a virtual function (--vf) is no manager");
	}
	if (run->mpfs >> run->ports != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--mpfs: there are only %u ports", run->ports);
	if (emu_identity_beyond(run->ports))
		return mlxemu_fail(MLXEMU_USAGE, "--mac: there %s only %u port%s", run->ports == 1 ? "is" : "are", run->ports,
				   run->ports == 1 ? "" : "s");
	if (run->opened >> run->ports != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--open: there %s only %u port%s", run->ports == 1 ? "is" : "are",
				   run->ports, run->ports == 1 ? "" : "s");
	for (unsigned i = 0; run->profile->mlx4 && i < run->ports; i++)
		if (run->fronts[i] != '0' + EMU_FRONT_VERBS)
			return mlxemu_fail(MLXEMU_USAGE, "--open: a %s can be opened through verbs only",
					   run->profile->card);
	for (unsigned i = 0; i < run->ncaptures; i++)
		if (strtoul(run->captures[i], NULL, 10) >= run->ports)
			return mlxemu_fail(MLXEMU_USAGE, "--capture %s: there is no such port",
					   run->captures[i]);
	return mlxemu_sfs_check(run);
}

/* Create or truncate a file. */
static int
file_make(const char *option, const char *path)
{
	FILE *f = path[0] != '\0' ? fopen(path, "w") : NULL;

	if (path[0] != '\0' && f == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "%s '%s': %s", option, path, strerror(errno));
	if (f != NULL)
		fclose(f);
	return MLXEMU_OK;
}

int
mlxemu_files_make(const struct mlxemu_run *run)
{
	int status = file_make("--trace", run->trace);

	if (status == MLXEMU_OK)
		status = file_make("--report", run->report);
	for (unsigned i = 0; i < run->ncaptures && status == MLXEMU_OK; i++) {
		struct emu_capture plan;
		char err[512];

		/* The text that option_capture() has stored. */
		if (emu_capture_parse(run->captures[i], EMU_MAX_PORTS, &plan, err, sizeof(err)) == 0)
			status = file_make("--capture", plan.path);
	}
	return status;
}

int
mlxemu_options_parse(int argc, char **argv, struct mlxemu_run *run)
{
	int i = 0, used, status;

	run->ports = 1;
	run->profile = NULL;
	memset(run->fronts, '0' + EMU_FRONT_VERBS, EMU_MAX_PORTS);
	memset(run->vfs, '0', EMU_MAX_PORTS);
	memset(run->switchdev, '0', EMU_MAX_PORTS);
	for (; i < argc && argv[i][0] == '-'; run->given++) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			run->help = true;
			return MLXEMU_OK;
		}
		if (strcmp(argv[i], "--audit") == 0) {
			run->audit = true;
			i++;
			continue;
		}
		status = option_value(run, argc - i, argv + i, &used);
		if (status != MLXEMU_OK)
			return status;
		i += used;
	}
	if (i >= argc)
		return mlxemu_fail(MLXEMU_USAGE,
				   "no program given (mlxemu run [options] -- PROGRAM)");
	run->program = argv + i;
	if (run->join != NULL)
		return run->given == 1 ? MLXEMU_OK :
			mlxemu_fail(MLXEMU_USAGE, "--join: no other option is allowed: the devices are those of the other run");
	status = default_profile(run);
	return status == MLXEMU_OK ? options_check(run) : status;
}
