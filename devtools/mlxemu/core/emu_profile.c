/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Profiles: data of the card models. */
#include <string.h>

#include "emu_dev.h"

/* Limits common to all generations. */
#define COMMON_LIMITS \
	.log_max_cq = 20, .log_max_cq_sz = 22, .log_max_wq_sz = 15, .log_max_sq = 20, \
	.log_max_rq = 20, .log_max_rqt = 18, .log_max_rqt_size = 11, .log_max_tir = 18, \
	.log_max_tis = 16, .log_max_td = 12, .log_max_pd = 18, .log_max_mkey = 22, \
	.max_mtu = 9978

static const struct emu_profile cx4lx = {
	.name = "cx4lx",
	.card = "ConnectX-4 Lx",
	.board_id = "MT_2420110034",
	.pci_device_id = 0x1015,
	.fw_major = 14, .fw_minor = 32, .fw_subminor = 1010,
	.clock_hz = 156250000,
	.speed_mbps = 25000,
	COMMON_LIMITS,
};

static const struct emu_profile cx5 = {
	.name = "cx5",
	.card = "ConnectX-5",
	.board_id = "MT_0000000008",
	.pci_device_id = 0x1017,
	.fw_major = 16, .fw_minor = 35, .fw_subminor = 2000,
	.clock_hz = 78125000,
	.speed_mbps = 100000,
	COMMON_LIMITS,
};

static const struct emu_profile cx6dx = {
	.name = "cx6dx",
	.card = "ConnectX-6 Dx",
	.board_id = "MT_0000000359",
	.pci_device_id = 0x101d,
	.fw_major = 22, .fw_minor = 35, .fw_subminor = 2000,
	.clock_hz = 156250000,
	.real_time = true,
	.speed_mbps = 100000,
	COMMON_LIMITS,
};

static const struct emu_profile cx7 = {
	.name = "cx7",
	.card = "ConnectX-7",
	.board_id = "MT_0000000838",
	.pci_device_id = 0x1021,
	.fw_major = 28, .fw_minor = 35, .fw_subminor = 2000,
	.clock_hz = 312500000,
	.real_time = true,
	.wait_on_time = true,
	.speed_mbps = 200000,
	COMMON_LIMITS,
};

/* Another architecture: only the queries of libmlx4 at device open are supported. */
static const struct emu_profile cx3 = {
	.name = "cx3",
	.card = "ConnectX-3",
	.board_id = "MT_1170110023",
	.pci_device_id = 0x1003,
	.fw_major = 2, .fw_minor = 42, .fw_subminor = 5000,
	.clock_hz = 427000000,
	.mlx4 = true,
	.speed_mbps = 10000,
	.log_max_pd = 15,
	.max_mtu = 9978,
};

const struct emu_profile *const emu_profiles[] = {&cx6dx, &cx7, &cx5, &cx4lx, &cx3, NULL};

const struct emu_profile *
emu_profile_find(const char *name)
{
	for (unsigned i = 0; emu_profiles[i] != NULL; i++)
		if (strcmp(emu_profiles[i]->name, name) == 0)
			return emu_profiles[i];
	return NULL;
}
