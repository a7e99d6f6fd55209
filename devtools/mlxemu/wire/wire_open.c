/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Opens and checks the wires in the launcher, before the program starts. */
#include <unistd.h>

#include "wire_int.h"

static void
close_all(struct emu_wire_plan *plan, unsigned ports)
{
	for (unsigned i = 0; i < ports; i++) {
		if (plan[i].kind != EMU_WIRE_TAP || plan[i].fd < 0)
			continue;
		close(plan[i].fd);
		plan[i].fd = -1;
	}
}

int
emu_wire_open(struct emu_wire_plan *plan, unsigned ports, char *err, size_t err_len)
{
	for (unsigned i = 0; i < ports; i++) {
		int ret = 0;

		if (plan[i].kind == EMU_WIRE_TAP) {
			ret = wire_tap_open(plan[i].ifname, plan[i].netns, err, err_len);
			plan[i].fd = ret;
		} else if (plan[i].kind == EMU_WIRE_PCAP) {
			ret = wire_pcap_check(&plan[i], err, err_len);
		} else if (plan[i].kind == EMU_WIRE_SOCK) {
			ret = wire_sock_check(&plan[i], err, err_len);
		}
		if (ret < 0) {
			close_all(plan, ports);
			return ret;
		}
	}
	return 0;
}
