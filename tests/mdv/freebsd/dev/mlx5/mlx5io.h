/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What mlx5io(4) says of FreeBSD's <dev/mlx5/mlx5io.h>, for building our side of it elsewhere. */
#ifndef TEST_MLX5IO_H
#define TEST_MLX5IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

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

#define MLX5_FWDUMP_GET _IOWR('m', 1, struct mlx5_fwdump_get)
#define MLX5_FWDUMP_RESET _IOW('m', 2, struct mlx5_tool_addr)
#define MLX5_FWDUMP_FORCE _IOW('m', 3, struct mlx5_tool_addr)

#define MLX5_DEV_PATH "/dev/mlx5ctl"

#endif
