/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Stand-in for FreeBSD's <dev/mlx5/mlx5io.h>, so that the FreeBSD backend can be built on Linux.
 *
 * Declared from mlx5io(4) and checked against freebsd-src, sys/dev/mlx5/mlx5io.h at 7648bc9fee8d:
 * names, order and types of the members, and ioctl group and numbers are equal. Revision
 * 030d867c43c0 (FreeBSD 12.0) still calls struct mlx5_tool_addr mlx5_fwdump_addr; the values are
 * the same. ioctl numbers are encoded as in sys/sys/ioccom.h, which differs from Linux.
 */
#ifndef TEST_MLX5IO_H
#define TEST_MLX5IO_H

#include <stddef.h>
#include <stdint.h>

struct mlx5_fwdump_reg {
	uint32_t addr;
	uint32_t val;
};

struct mlx5_tool_addr {
	uint32_t domain;
	uint8_t bus;
	uint8_t slot;
	uint8_t func;
};

struct mlx5_fwdump_get {
	struct mlx5_tool_addr devaddr;
	struct mlx5_fwdump_reg *buf;
	size_t reg_cnt;
	size_t reg_filled;
};

/* sys/sys/ioccom.h: direction in the upper three bits, then 13 bits of size, group, number. */
#define FREEBSD_IOC_OUT 0x40000000ul
#define FREEBSD_IOC_IN 0x80000000ul
#define FREEBSD_IOC(dir, group, nr, type) \
	((dir) | (sizeof(type) & 0x1ffful) << 16 | (unsigned long)(group) << 8 | (nr))

#define MLX5_FWDUMP_GET \
	FREEBSD_IOC(FREEBSD_IOC_IN | FREEBSD_IOC_OUT, 'm', 1, struct mlx5_fwdump_get)
#define MLX5_FWDUMP_RESET FREEBSD_IOC(FREEBSD_IOC_IN, 'm', 2, struct mlx5_tool_addr)
#define MLX5_FWDUMP_FORCE FREEBSD_IOC(FREEBSD_IOC_IN, 'm', 3, struct mlx5_tool_addr)

#define MLX5_DEV_PATH "/dev/mlx5ctl"

#endif /* TEST_MLX5IO_H */
