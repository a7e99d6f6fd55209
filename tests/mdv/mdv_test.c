/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Capture of the log and look-up of devices, for the tests of the common layer. */

#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include "mdv_test.h"

static char *log_text;
static size_t log_bytes;
static FILE *log_stream;

void
log_begin(void)
{
	free(log_text);
	log_text = NULL;
	log_stream = open_memstream(&log_text, &log_bytes);
	rte_openlog_stream(log_stream);
}

const char *
log_end(void)
{
	rte_openlog_stream(NULL);
	fclose(log_stream);
	return log_text;
}

unsigned int
lines_with(const char *text, const char *what)
{
	unsigned int n = 0;

	for (const char *line = text; *line != '\0';) {
		const char *end = strchrnul(line, '\n');
		const char *hit = strstr(line, what);

		n += hit != NULL && hit < end;
		line = *end == '\0' ? end : end + 1;
	}
	return n;
}

unsigned int
lines_of(const char *text)
{
	return lines_with(text, "");
}

uint32_t
test_speed_mbps(const struct mdv_dev *dev)
{
	return dev->caps.pci_device_id == 0x1015 ? 25000 : dev->caps.pci_device_id == 0x1021 ? 200000 : 100000;
}

int
test_device(unsigned int i, struct rte_pci_addr *pci)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **device;
	char path[512], slot[32], suffix[16];
	int ret = -ENODEV;

	/* mlx5_I or mlx4_I: the order of the list differs between releases of libibverbs. */
	snprintf(suffix, sizeof(suffix), "_%u", i);
	for (device = list; device != NULL && *device != NULL; device++) {
		if (strcmp(strrchr(ibv_get_device_name(*device), '_'), suffix) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/device/uevent", (*device)->ibdev_path);
		if (mdv_uevent_read(path, "PCI_SLOT_NAME", slot, sizeof(slot)) == 0)
			ret = rte_pci_addr_parse(slot, pci);
	}
	if (list != NULL)
		ibv_free_device_list(list);
	return ret;
}

struct mdv_dev *
test_open_by(const char *address, enum mdv_open_mode mode)
{
	struct mdv_dev *dev = NULL;
	struct rte_pci_addr pci;

	if (rte_pci_addr_parse(address, &pci) == 0)
		(void)mdv_open(&pci, mode, &dev);
	return dev;
}

bool
test_eal(void)
{
	static char words[][20] = { "mdv", "--no-huge", "--no-shconf", "-m16", "--no-pci", "-l0", "--no-telemetry" };
	char *argv[RTE_DIM(words)];

	for (size_t i = 0; i < RTE_DIM(words); i++)
		argv[i] = words[i];
	return rte_eal_init(RTE_DIM(words), argv) >= 0;
}
