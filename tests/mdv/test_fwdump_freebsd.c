/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The FreeBSD backend of register dumps, built from the source that FreeBSD uses, against a model of
 * the kernel: open, close and ioctl are functions of this file.
 *
 * The model returns what mlx5_ctl_ioctl() of freebsd-src, sys/dev/mlx5/mlx5_core/mlx5_fwdump.c
 * returns, in the same order of checks: ENOTTY, EBADF for the access mode, ENOENT and EINVAL of
 * mlx5_dbsf_to_core(), then the state of the dump (EIO and ENOENT without buffer, EEXIST).
 */

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <dev/mlx5/mlx5io.h>

#include <mdv_fwdump_int.h>

#include "../check.h"

/*
 * The binary interface of a 64-bit FreeBSD, computed from freebsd-src 7648bc9fee8d: sizes and offsets
 * of struct mlx5_tool_addr, mlx5_fwdump_reg and mlx5_fwdump_get, and the ioctl numbers.
 */
_Static_assert(sizeof(struct mlx5_tool_addr) == 8 && offsetof(struct mlx5_tool_addr, bus) == 4 &&
	       offsetof(struct mlx5_tool_addr, slot) == 5 && offsetof(struct mlx5_tool_addr, func) == 6,
	       "struct mlx5_tool_addr");
_Static_assert(sizeof(struct mlx5_fwdump_reg) == 8 && offsetof(struct mlx5_fwdump_reg, val) == 4,
	       "struct mlx5_fwdump_reg");
_Static_assert(sizeof(void *) != 8 ||
	       (sizeof(struct mlx5_fwdump_get) == 32 && offsetof(struct mlx5_fwdump_get, buf) == 8 &&
		offsetof(struct mlx5_fwdump_get, reg_cnt) == 16 &&
		offsetof(struct mlx5_fwdump_get, reg_filled) == 24), "struct mlx5_fwdump_get");
_Static_assert(sizeof(void *) != 8 || MLX5_FWDUMP_GET == 0xc0206d01, "MLX5_FWDUMP_GET");
_Static_assert(MLX5_FWDUMP_RESET == 0x80086d02, "MLX5_FWDUMP_RESET");
_Static_assert(MLX5_FWDUMP_FORCE == 0x80086d03, "MLX5_FWDUMP_FORCE");

int fake_open(const char *path, int flags, ...);
int fake_close(int fd);
int fake_ioctl(int fd, unsigned long request, ...);

int mdv_logtype;

#define CTL_FD 77
#define REGISTERS 5

/** The kernel: one mlx5 device, at 1:2:3.4; prepared: it has a buffer for a dump. */
static struct {
	int flags, opens, closes;
	bool prepared, held;
	int force_errno;
	unsigned long last;
} kernel;

int
fake_open(const char *path, int flags, ...)
{
	if (strcmp(path, "/dev/mlx5ctl") != 0 || kernel.opens == -1) {
		errno = ENOENT;
		return -1;
	}
	kernel.flags = flags & O_ACCMODE;
	kernel.opens++;
	return CTL_FD;
}

int
fake_close(int fd)
{
	CHECK_EQ(fd, CTL_FD);
	kernel.closes++;
	return 0;
}

static int
kernel_get(struct mlx5_fwdump_get *get)
{
	size_t n = get->reg_cnt < REGISTERS ? get->reg_cnt : REGISTERS;

	if (get->buf == NULL) {
		get->reg_filled = REGISTERS;
		return 0;
	}
	if (!kernel.held)
		return ENOENT;
	for (size_t i = 0; i < n; i++)
		get->buf[i] = (struct mlx5_fwdump_reg){ 4 * i, 0x1000 + i };
	get->reg_filled = n;
	return 0;
}

static int
kernel_does(unsigned long request, void *arg)
{
	const bool get = request == MLX5_FWDUMP_GET;
	const struct mlx5_tool_addr *addr = get ? &((struct mlx5_fwdump_get *)arg)->devaddr : arg;

	if (request != MLX5_FWDUMP_GET && request != MLX5_FWDUMP_FORCE && request != MLX5_FWDUMP_RESET)
		return ENOTTY;
	if (kernel.flags == (get ? O_WRONLY : O_RDONLY))
		return EBADF;
	if (addr->domain != 1 || addr->bus != 2 || addr->slot != 3)
		return ENOENT;
	if (addr->func != 4)
		return EINVAL; /* bound to another driver */
	if (get)
		return kernel_get(arg);
	if (request == MLX5_FWDUMP_RESET) {
		if (!kernel.prepared)
			return ENOENT;
		kernel.held = false;
		return 0;
	}
	if (!kernel.prepared)
		return EIO;
	if (kernel.held)
		return EEXIST;
	kernel.held = true;
	return kernel.force_errno;
}

int
fake_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	CHECK_EQ(fd, CTL_FD);
	kernel.last = request;
	errno = kernel_does(request, arg);
	return errno == 0 ? 0 : -1;
}

static void
test_states(void)
{
	const struct rte_pci_addr pci = { 1, 2, 3, 4 };
	struct mdv_fwdump_reg regs[8] = { 0 };
	struct mdv_fwdump_info info;
	struct mdv_fwdump *h;
	size_t n = 99;

	CHECK_EQ(mdv_fwdump_open(&pci, MDV_FWDUMP_READ | MDV_FWDUMP_WRITE, &h), 0);
	CHECK_EQ(kernel.flags, O_RDWR);
	CHECK_EQ(mdv_fwdump_take(h), -EIO);
	kernel.prepared = true;
	CHECK_EQ(mdv_fwdump_get(h, NULL, 0, &n), 0);
	CHECK_EQ(n, REGISTERS);
	CHECK_EQ(mdv_fwdump_get(h, regs, 8, &n), -ENOENT);
	CHECK_EQ(n, 0);
	CHECK_EQ(mdv_fwdump_info(h, &info), -ENOENT);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(kernel.last, MLX5_FWDUMP_FORCE);
	CHECK_EQ(mdv_fwdump_take(h), -EEXIST);
	CHECK_EQ(rte_errno, EEXIST);
	CHECK_EQ(mdv_fwdump_get(h, regs, 3, &n), 0);
	CHECK_EQ(n, 3);
	CHECK_EQ(regs[2].val, 0x1002);
	CHECK_EQ(regs[3].val, 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, 8, &n), 0);
	CHECK_EQ(n, REGISTERS);
	CHECK_EQ(mdv_fwdump_info(h, &info), 0);
	CHECK_EQ(info.count, REGISTERS);
	CHECK_EQ(info.route, MDV_FWDUMP_MLX5CTL);
	CHECK_EQ(mdv_fwdump_get_current(h, regs, 8, &n, NULL), -ENOTSUP);
	CHECK_EQ(mdv_fwdump_get(h, regs, 8, NULL), -EINVAL);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	CHECK_EQ(mdv_fwdump_get(h, regs, 8, &n), -ENOENT);
	kernel.prepared = false;
	CHECK_EQ(mdv_fwdump_reset(h), -ENOENT);
	mdv_fwdump_close(h);
	CHECK_EQ(kernel.opens, kernel.closes);
}

static void
test_modes(void)
{
	const struct rte_pci_addr pci = { 1, 2, 3, 4 };
	struct mdv_fwdump *h;
	size_t n;

	CHECK_EQ(mdv_fwdump_open(&pci, MDV_FWDUMP_READ, &h), 0);
	CHECK_EQ(mdv_fwdump_take(h), -EBADF);
	CHECK_EQ(mdv_fwdump_reset(h), -EBADF);
	/* The kernel refuses the access mode as well. */
	h->access |= MDV_FWDUMP_WRITE;
	CHECK_EQ(mdv_fwdump_take(h), -EBADF);
	mdv_fwdump_close(h);
	CHECK_EQ(mdv_fwdump_open(&pci, MDV_FWDUMP_WRITE, &h), 0);
	CHECK_EQ(kernel.flags, O_WRONLY);
	CHECK_EQ(mdv_fwdump_get(h, NULL, 0, &n), -EBADF);
	mdv_fwdump_close(h);
}

static void
test_devices(void)
{
	struct rte_pci_addr pci = { 1, 2, 3, 5 };
	struct mdv_fwdump *h;

	CHECK_EQ(mdv_fwdump_open(&pci, MDV_FWDUMP_READ, &h), -EINVAL);
	CHECK_EQ(h != NULL, false);
	pci.devid = 9;
	CHECK_EQ(mdv_fwdump_open(&pci, MDV_FWDUMP_READ, &h), -ENOENT);
	CHECK_EQ(mdv_fwdump_open(&pci, 0, &h), -EINVAL);
	CHECK_EQ(mdv_fwdump_open(&pci, 8, &h), -EINVAL);
	CHECK_EQ(kernel.opens, kernel.closes);
	kernel.opens = -1;
	CHECK_EQ(mdv_fwdump_open(&pci, MDV_FWDUMP_READ, &h), -ENOENT);
	CHECK_EQ(fake_ioctl(CTL_FD, 0x1234, NULL), -1);
	CHECK_EQ(errno, ENOTTY);
}

int
main(void)
{
	test_states();
	test_modes();
	test_devices();
	return check_exit("fwdump_freebsd");
}
