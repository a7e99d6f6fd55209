/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * What --help prints.
 */

#include "explain.h"
#include "fwdump.h"
#include "tm.h"

static const char intro[] =
"dpdk-test-mlx: verify an Ethernet port and its driver with real packets.\n"
"\n"
"Usage: dpdk-test-mlx [EAL OPTIONS] -- [OPTIONS]\n"
"       dpdk-test-mlx --doctor     what stands between this machine and a running port; no device needed\n";

static const char eal[] =
"\n"
"EAL options name the devices and the memory, for example -a 0000:08:00.0,\n"
"-d librte_net_mlxpmd.so, -l 0-1, --no-huge, --vdev net_ring0.\n"
"All streams are polled by the lcores after the first, or by the first if it is the only one.\n"
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
"  Send a million packets each way over a cable, verify each of them, lose none:\n"
"    dpdk-test-mlx -d librte_net_mlxpmd.so -a 0000:08:00.0 -a 0000:08:00.1 -- \\\n"
"      --fwd gen --count 1000000 --window 256 --pkt-len 60-1514 \\\n"
"      --rx-offloads checksum,timestamp --tx-offloads checksum\n"
"  Replay a capture out of port 0, write what port 1 receives and what it says of it:\n"
"    dpdk-test-mlx ... -- --fwd rxonly --pcap-in 0=in.pcap --pcap-out 1=out.pcap \\\n"
"      --meta-out 1=out.jsonl --rx-offloads checksum,rss-hash,timestamp\n"
"  No device at all, one software ring:\n"
"    dpdk-test-mlx --no-huge -m 512 --no-pci --vdev net_ring0 -- \\\n"
"      --fwd gen --count 100000 --topology loop\n"
"  Commands instead of options (help lists them):\n"
"    dpdk-test-mlx ... -- --interactive\n"
"  What the firmware can, which objects a port has, what one of them looks like (commands, as above):\n"
"    devx caps ethernet_offloads; devx objects; devx cmd QUERY_SQ 00000000000010a7\n"
"  What a refusal in the log means; no device needed:\n"
"    dpdk-test-mlx devx explain BAD_RES_STATE 0x2a3d5c\n"
"\n"
"Exit code: 0 all is well, 1 a check or a command failed, 2 wrong arguments or set-up failed.\n";

void
tm_help_print(FILE *out)
{
	const struct tm_engine *e;
	char left[64];

	fputs(intro, out);
	tm_fwdump_help(out);
	tm_explain_help(out);
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
