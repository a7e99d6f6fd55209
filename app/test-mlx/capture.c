/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `capture`: options, EAL as secondary process, progress, and the end.
 */

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "capture.h"
#include "tm.h"

#define STEP_US 50000
#define CLOCK_NS (TM_NS_PER_S / 2)
#define PROGRESS_AFTER_NS (2 * TM_NS_PER_S)

static volatile int stop_signal;

static void
on_signal(int number)
{
	stop_signal = number;
	/* A second signal ends the program at once, also if the reader of a pipe does not read. */
	signal(number, SIG_DFL);
}

void
tm_capture_help(FILE *out)
{
	fputs("       dpdk-test-mlx capture --help | PORT FILE [OPTIONS]      write packets of a running program (pcapng)\n",
	      out);
}

static const char usage[] =
"Usage: dpdk-test-mlx capture PORT FILE [OPTIONS]\n"
"\n"
"Writes the packets of a port of a running DPDK program to FILE (pcapng; - is the standard output), with the device's\n"
"timestamps in nanoseconds where packets have one (Rx offload timestamp). The program must have called\n"
"rte_pdump_init(), as dpdk-testpmd and dpdk-test-mlx do, have telemetry, and use hugepages. It copies the packets.\n"
"\n"
"  --file-prefix PREFIX   the program that was started with this --file-prefix (default: the only one that runs)\n"
"  --filter EXPRESSION    only packets that match, as tcpdump's; the program does not copy the others\n"
"  --snaplen BYTES        write so many bytes of a packet (all)\n"
"  --direction rx|tx|both received packets, sent ones, or both (rx)\n"
"  --queue N              only this queue (all)\n"
"  --count N              end after N packets (no limit)\n"
"  --duration SECONDS     end after this time (no limit)\n"
"  --buffers N            packets between program and file (65536, less if they take more than 128 MiB of hugepages\n"
"                         or there are fewer)\n"
"  --quiet                no progress and no summary\n"
"  --runtime-dir DIR      folder of EAL's run-time folders (/var/run/dpdk; $XDG_RUNTIME_DIR/dpdk of a user)\n"
"\n"
"Examples:\n"
"  dpdk-test-mlx capture 0 port0.pcapng --duration 10\n"
"  dpdk-test-mlx capture 0 ptp.pcapng --file-prefix fw --filter 'ether proto 0x88f7' --count 100\n"
"  dpdk-test-mlx capture 0 - --quiet --direction both | tshark -r -\n";

static const struct option options[] = {
	{ "file-prefix", required_argument, NULL, 'f' }, { "filter", required_argument, NULL, 'e' },
	{ "snaplen", required_argument, NULL, 's' }, { "direction", required_argument, NULL, 'd' },
	{ "queue", required_argument, NULL, 'q' }, { "count", required_argument, NULL, 'n' },
	{ "duration", required_argument, NULL, 't' }, { "buffers", required_argument, NULL, 'b' },
	{ "quiet", no_argument, NULL, 'Q' }, { "runtime-dir", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
};

static int
direction(const char *text, uint32_t *directions)
{
	if (strcmp(text, "rx") == 0)
		*directions = RTE_PDUMP_FLAG_RX;
	else if (strcmp(text, "tx") == 0)
		*directions = RTE_PDUMP_FLAG_TX;
	else if (strcmp(text, "both") == 0)
		*directions = RTE_PDUMP_FLAG_RXTX;
	else {
		tm_error("capture: --direction: bad value '%s', allowed: rx tx both", text);
		return -EINVAL;
	}
	return 0;
}

static int
option_take(struct capture *c, int option)
{
	switch (option) {
	case 'f':
		c->prefix = optarg;
		return 0;
	case 'e':
		c->filter = optarg;
		return 0;
	case 'r':
		c->folder = optarg;
		return 0;
	case 'Q':
		c->quiet = true;
		return 0;
	case 's':
		return tm_parse_number("capture: --snaplen", optarg, 1, UINT16_MAX, &c->snaplen);
	case 'd':
		return direction(optarg, &c->directions);
	case 'q':
		c->all_queues = false;
		return tm_parse_number("capture: --queue", optarg, 0, RTE_MAX_QUEUES_PER_PORT - 1, &c->queue);
	case 'n':
		return tm_parse_number("capture: --count", optarg, 1, INT64_MAX, &c->count);
	case 'b':
		return tm_parse_number("capture: --buffers", optarg, 512, 1 << 24, &c->buffers);
	case 't':
		if (tm_parse_seconds(optarg, &c->duration_s) == 0 && c->duration_s > 0)
			return 0;
		tm_error("capture: --duration: bad value '%s', allowed: seconds, such as 10 or 0.5", optarg);
		return -EINVAL;
	default:
		return -EINVAL;
	}
}

/* 0, 1 for --help, or -EINVAL after a message. */
static int
args_parse(struct capture *c, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "hn:", options, NULL)) != -1) {
		if (option == 'h')
			return 1;
		if (option_take(c, option) != 0)
			return -EINVAL;
	}
	if (argc - optind != 2) {
		tm_error("capture: give PORT and FILE, see --help");
		return -EINVAL;
	}
	c->path = argv[optind + 1];
	return tm_parse_number("capture: PORT", argv[optind], 0, RTE_MAX_ETHPORTS - 1, &c->port);
}

/* Processors that this process may use, as EAL's --lcores has them: lcore 0 on all of them. */
static void
lcores_text(char *buf, size_t size)
{
	size_t n = snprintf(buf, size, "0@(");
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE && n + 8 < size; i++)
		if (CPU_ISSET(i, &set))
			n += snprintf(buf + n, size - n, "%s%d", buf[n - 1] == '(' ? "" : ",", i);
	snprintf(buf + n, size - n, ")");
}

/* No device is probed. "auxiliary:" has that bus skip its scan (auxiliary_parse()). */
static int
eal_start(const struct capture *c)
{
	char prefix[sizeof(c->program.name)], lcores[4096];
	char name[] = TM_NAME, type[] = "--proc-type=secondary", prefix_name[] = "--file-prefix";
	char lcores_name[] = "--lcores", no_pci[] = "--no-pci", no_telemetry[] = "--no-telemetry";
	char allow[] = "-a", auxiliary[] = "auxiliary:";
	char log[] = "--log-level=*:warning", log_pdump[] = "--log-level=lib.pdump:critical";
	char *argv[] = { name, type, prefix_name, prefix, lcores_name, lcores, no_pci, allow, auxiliary, no_telemetry,
			 log, log_pdump };

	if (strchr(c->program.name, ':') != NULL) {
		tm_error("capture: the program was started with --in-memory, and shares no memory");
		return -ENOTSUP;
	}
	snprintf(prefix, sizeof(prefix), "%s", c->program.name);
	lcores_text(lcores, sizeof(lcores));
	if (rte_eal_init(RTE_DIM(argv), argv) >= 0)
		return 0;
	tm_error("capture: cannot attach to the program: %s (it must use hugepages, and not --no-shconf)",
		 rte_strerror(rte_errno));
	return -ENODEV;
}

static void
progress(const struct capture *c, uint64_t now_ns, uint64_t begin_ns)
{
	struct rte_pdump_stats s;

	capture_counts(c, &s);
	fprintf(stderr, "%s%" PRIu64 " packets, %.1f MB, %" PRIu64 " not copied, %.0f s%s", isatty(2) ? "\r" : "",
		c->packets, (double)c->bytes / 1e6, s.nombuf + s.ringfull, (double)(now_ns - begin_ns) / 1e9,
		isatty(2) ? " " : "\n");
	fflush(stderr);
}

/* Wait for the end; read the clock meanwhile. @return True if the program has ended. */
static bool
wait_end(struct capture *c)
{
	uint64_t begin = tm_now_ns(), now = begin, clock_ns = begin + CLOCK_NS, progress_ns = begin + PROGRESS_AFTER_NS;

	while (stop_signal == 0 && !__atomic_load_n(&c->done, __ATOMIC_RELAXED) &&
	       (c->duration_s == 0 || (double)(now - begin) < c->duration_s * 1e9)) {
		usleep(STEP_US);
		now = tm_now_ns();
		if (now >= clock_ns) {
			if (rte_eal_primary_proc_alive(NULL) != 1)
				return true;
			/* The statistics in the middle of a file have the clock of this moment. */
			if (capture_clock_read(c))
				capture_stats_write(c);
			clock_ns = now + CLOCK_NS;
		}
		if (now >= progress_ns && !c->quiet) {
			progress(c, now, begin);
			progress_ns = now + (isatty(2) ? TM_NS_PER_S : 10 * TM_NS_PER_S);
		}
	}
	return rte_eal_primary_proc_alive(NULL) != 1;
}

static void
summary(const struct capture *c, const struct rte_pdump_stats *s)
{
	char clock[512];

	if (isatty(2))
		fputc('\n', stderr);
	fprintf(stderr, "%" PRIu64 " packets, %" PRIu64 " bytes written to %s, %" PRIu64 " with a timestamp of the device\n"
		"not copied: %" PRIu64 " without a buffer, %" PRIu64 " with the ring full; filtered out: %" PRIu64
		"; missed by the device: %" PRIu64 "\n%s\n", c->packets, c->bytes, c->path, c->stamped_packets, s->nombuf,
		s->ringfull, s->filtered, c->missed, capture_clock_str(c, clock, sizeof(clock)));
}

/* EAL runs. */
static int
run(struct capture *c)
{
	struct rte_pdump_stats counts;
	pthread_t writer;
	bool ended;
	int ret;

	/* A wrong filter must not overwrite the file. */
	ret = capture_enable(c);
	if (ret == 0)
		ret = capture_file_open(c);
	if (ret != 0)
		return ret;
	ret = -pthread_create(&writer, NULL, capture_write, c);
	if (ret != 0) {
		tm_error("capture: no thread: %s", strerror(-ret));
		return ret;
	}
	ended = wait_end(c);
	if (!ended)
		(void)capture_clock_read(c);
	capture_disable(c, ended);
	__atomic_store_n(&c->draining, true, __ATOMIC_RELEASE);
	pthread_join(writer, NULL);
	capture_stats_write(c);
	capture_counts(c, &counts);
	ret = capture_file_close(c);
	if (!c->quiet)
		summary(c, &counts);
	if (ended)
		tm_error("capture: the program has ended");
	return ret != 0 || ended ? -EIO : 0;
}

int
tm_capture(int argc, char **argv)
{
	char folder[108];
	struct capture c = {
		.folder = tm_telemetry_folder(folder, sizeof(folder)), .snaplen = UINT16_MAX,
		.directions = RTE_PDUMP_FLAG_RX, .all_queues = true, .telemetry.fd = -1, .lock = -1,
		.interfaces = { -1, -1 }, .mutex = PTHREAD_MUTEX_INITIALIZER,
	};
	struct sigaction act = { .sa_handler = on_signal };
	int ret = args_parse(&c, argc, argv);

	if (ret > 0) {
		fputs(usage, stdout);
		return TM_EXIT_OK;
	}
	if (ret != 0 || tm_program_choose("capture", c.folder, c.prefix, &c.program) != 0 ||
	    capture_program_read(&c) != 0 || capture_lock(&c) != 0)
		return TM_EXIT_SETUP;
	if (!c.quiet && (!c.stamped || !c.clock.ns))
		tm_error("capture: note: port %u has no timestamps in ns (Rx offload timestamp): times are the host's",
			 (unsigned int)c.port);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	ret = eal_start(&c);
	if (ret == 0) {
		ret = run(&c);
		capture_disable(&c, false);
		capture_free(&c);
		rte_eal_cleanup();
	}
	capture_unlock(&c);
	tm_telemetry_close(&c.telemetry);
	return ret == 0 ? TM_EXIT_OK : TM_EXIT_FAILED;
}
