/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The text of --help.
 */

#include "capture.h"
#include "drops.h"
#include "explain.h"
#include "fwdump.h"
#include "tm.h"
#include "top.h"

static const char intro[] =
"dpdk-test-mlx: test an Ethernet port and its driver with real packets.\n"
"\n"
"Usage: dpdk-test-mlx [EAL OPTIONS] -- [OPTIONS]\n"
"       dpdk-test-mlx --doctor                                  check this machine for what a port needs\n";

static const char eal[] =
"\n"
"EAL options select devices, memory and lcores, for example -a 0000:08:00.0,\n"
"-d librte_net_mlxpmd.so, -l 0-1, --no-huge, --vdev net_ring0.\n"
"The lcores after the first poll the queues; a single lcore polls them itself.\n"
"\n"
"Options:\n";

static const char modes[] =
"\n"
"Modes:\n";

static const char examples[] =
"\n"
"Examples:\n"
"  Forward between two ports for 10 seconds, with counters each second:\n"
"    dpdk-test-mlx -d librte_net_mlxpmd.so -a 0000:08:00.0 -a 0000:08:00.1 -- \\\n"
"      --fwd io --run 10 --stats-period 1\n"
"  Send a million packets in each direction over a cable, and check each of them:\n"
"    dpdk-test-mlx -d librte_net_mlxpmd.so -a 0000:08:00.0 -a 0000:08:00.1 -- \\\n"
"      --fwd gen --count 1000000 --window 256 --pkt-len 60-1514 \\\n"
"      --rx-offloads checksum,timestamp --tx-offloads checksum\n"
"  Send a capture from port 0; write the packets that port 1 receives, and their metadata:\n"
"    dpdk-test-mlx ... -- --fwd rxonly --pcap-in 0=in.pcap --pcap-out 1=out.pcap \\\n"
"      --meta-out 1=out.jsonl --rx-offloads checksum,rss-hash,timestamp\n"
"  Without a device, with a software ring:\n"
"    dpdk-test-mlx --no-huge -m 512 --no-pci --vdev net_ring0 -- \\\n"
"      --fwd gen --count 100000 --topology loop\n"
"  Read commands from the terminal; command help lists them:\n"
"    dpdk-test-mlx ... -- --interactive\n"
"  Commands that query capabilities, objects, and one object of the firmware:\n"
"    devx caps ethernet_offloads; devx objects; devx cmd QUERY_SQ 00000000000010a7\n"
"  Explain a refused firmware command in the log; needs no device:\n"
"    dpdk-test-mlx devx explain BAD_RES_STATE 0x2a3d5c\n"
"\n"
"Exit code: 0 success, 1 a check or a command failed, 2 wrong arguments or set-up failed.\n";

void
tm_help_print(FILE *out)
{
	const struct tm_engine *e;
	char left[64];

	fputs(intro, out);
	tm_fwdump_help(out);
	tm_explain_help(out);
	tm_top_help(out);
	tm_capture_help(out);
	tm_drops_help(out);
	fputs(eal, out);
	for (const struct tm_arg *a = tm_args; a->name != NULL; a++) {
		snprintf(left, sizeof(left), "--%s%s%s", a->name, a->value ? " " : "",
			 a->value ? a->value : "");
		fprintf(out, "  %-24s %s\n", left, a->help);
	}
	fputs(modes, out);
	for (unsigned int i = 0; (e = tm_engine_at(i)) != NULL; i++)
		fprintf(out, "  %-24s %s\n", e->name, e->help);
	fputs(examples, out);
}
