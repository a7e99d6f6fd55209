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
	static void (*const questions[])(struct doctor *d) = {
		dr_versions, dr_devices, dr_modules, dr_memlock, dr_hugepages, dr_netns, dr_iommu,
		dr_lockdown, dr_host_clock,
	};
	struct doctor d = { .good = 0 };

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		questions[i](&d);
	printf("%u good, %u to know, %u bad: %s\n", d.good, d.notes, d.bad,
	       d.bad > 0 ? "mend what is BAD" : d.verbs + d.openable > 0 ? "ready" :
	       d.devices > 0 ? "no device here can be opened" :
	       "no device for mlxpmd here; mlxemu run -- PROGRAM gives a program emulated ones");
	return d.bad > 0 ? 1 : 0;
}
