/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Interrupts of a device in /proc/interrupts, in the forms of mlx5_core and vfio-pci.
 */

#include <string.h>

#include "../check.h"
#include "top.h"

static const char text[] =
"            CPU0       CPU1       \n"
"   0:         33          0   IO-APIC   2-edge      timer\n"
" 120:          7   40000000   PCI-MSI 4194304-edge      mlx5_async0@pci:0000:08:00.0\n"
" 121:          0 4294967296   IR-PCI-MSIX-0000:08:00.0    1-edge      mlx5_comp0@pci:0000:08:00.0\n"
" 122:          5          6   PCI-MSI 4196352-edge      mlx5_comp0@pci:0000:08:00.1\n"
" 123:          2          3   PCI-MSI 6291456-edge      vfio-msix[0](0000:41:00.0)\n"
" NMI:          9          9   Non-maskable interrupts\n"
" ERR:          1\n";

static void
counted(const char *pci, uint64_t vectors, uint64_t interrupts)
{
	uint64_t v = 99, n = 99;
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	CHECK(in != NULL);
	top_interrupts_count(in, pci, &v, &n);
	fclose(in);
	CHECK_EQ(v, vectors);
	CHECK_EQ(n, interrupts);
}

int
main(void)
{
	counted("0000:08:00.0", 2, 7 + UINT64_C(40000000) + UINT64_C(4294967296));
	counted("0000:08:00.1", 1, 11);
	counted("0000:41:00.0", 1, 5);
	counted("0000:42:00.0", 0, 0);
	counted("", 0, 0);
	return check_exit("top_interrupts");
}
