/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The list of checks of --doctor, and its summary.
 */

#include <stdio.h>

#include "doctor.h"

int
tm_doctor(void)
{
	static void (*const checks[])(struct doctor *d) = {
		dr_versions, dr_devices, dr_modules, dr_net_raw, dr_memlock, dr_hugepages, dr_netns, dr_iommu,
		dr_lockdown, dr_host_clock,
	};
	struct doctor d = { .good = 0 };

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&d);
	printf("%u good, %u note%s, %u bad: %s\n", d.good, d.notes, d.notes == 1 ? "" : "s", d.bad,
	       d.bad > 0 ? "fix what is BAD" : d.verbs + d.openable > 0 ? "ready" :
	       d.devices > 0 ? "no device can be opened" :
	       "no device for mlxpmd; mlxemu run -- PROGRAM emulates devices");
	return d.bad > 0 ? 1 : 0;
}
