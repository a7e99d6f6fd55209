/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Register dumps: rte_eth_dev_get_reg_info() on a running port and after a firmware failure, and the dump that the
 * driver writes to a file when the firmware fails.
 *
 * Usage: test_pmd_fwdump EAL-ARGUMENTS [-- held]; held: the register gateway is locked during the failure.
 */

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_dev_info.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define MAX_REGS 4096
#define HEALTH 0x1f0200u

struct reg {
	uint32_t addr, val;
};

static struct reg regs[MAX_REGS], part[MAX_REGS];
static char folder[] = "/tmp/mlxfwdump.XXXXXX";

static uint32_t
value_of(const struct reg *r, uint32_t n, uint32_t addr)
{
	for (uint32_t i = 0; i < n; i++)
		if (r[i].addr == addr)
			return r[i].val;
	CHECK(false, "there is no register 0x%x", addr);
	return 0;
}

static uint32_t
read_all(struct reg *to)
{
	struct rte_dev_reg_info info = { .data = NULL };

	CHECK_OK(rte_eth_dev_get_reg_info(PORT_A, &info));
	CHECK(info.width == sizeof(*to) && info.length > 900 && info.length <= MAX_REGS, "%u of %u bytes",
	      info.length, info.width);
	if (info.length > MAX_REGS)
		return 0;
	info.data = to;
	CHECK_OK(rte_eth_dev_get_reg_info(PORT_A, &info));
	return info.length;
}

static void
whole_and_parts(void)
{
	uint32_t n = read_all(regs);
	struct rte_dev_reg_info info = { .data = part, .offset = 10, .length = 5 };

	for (uint32_t i = 1; i < n; i++)
		CHECK(regs[i].addr > regs[i - 1].addr, "register %u", i);
	CHECK_OK(rte_eth_dev_get_reg_info(PORT_A, &info));
	CHECK(info.length == 5 && memcmp(part, &regs[10], 5 * sizeof(part[0])) == 0, "%u", info.length);
	info = (struct rte_dev_reg_info) { .data = part, .offset = n - 1, .length = 5 };
	CHECK_OK(rte_eth_dev_get_reg_info(PORT_A, &info));
	CHECK(info.length == 1 && part[0].addr == regs[n - 1].addr, "%u", info.length);
	info = (struct rte_dev_reg_info) { .data = part, .offset = n + 1 };
	info.length = 1;
	CHECK_EQ(rte_eth_dev_get_reg_info(PORT_A, &info), -EINVAL);
	/* DPDK's example application ethtool passes length 0 and an uninitialized offset. */
	memset(part, 0, sizeof(part));
	info = (struct rte_dev_reg_info) { .data = part, .offset = 0xdeadbeef };
	CHECK_OK(rte_eth_dev_get_reg_info(PORT_A, &info));
	CHECK(info.length == n && memcmp(part, regs, n * sizeof(part[0])) == 0, "%u", info.length);
	/* Each call reads the registers again. */
	CHECK_OK(emu_ctl("{\"cmd\":\"register\",\"addr\":%u,\"value\":%u}", 0x100004u, 0x5a5a5a5au));
	CHECK(value_of(part, read_all(part), 0x100004) == 0x5a5a5a5a, "0x%x",
	      value_of(part, n, 0x100004));
	CHECK(value_of(regs, n, HEALTH) == 0, "a syndrome");
}

static _Atomic unsigned int removals;

static int
on_rmv(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	removals++;
	return 0;
}

static unsigned int
files(char *first, size_t bytes)
{
	DIR *dir = opendir(folder);
	unsigned int n = 0;
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.' || strstr(e->d_name, ".new") != NULL)
			continue;
		snprintf(first, bytes, "%s/%s", folder, e->d_name);
		n++;
	}
	if (dir != NULL)
		closedir(dir);
	return n;
}

/* The firmware fails: one removal event, one dump file, and the registers can still be read. */
static void
failure(void)
{
	char path[400] = "";

	CHECK_OK(rte_eth_dev_callback_register(PORT_A, RTE_ETH_EVENT_INTR_RMV, on_rmv, NULL));
	CHECK_OK(emu_ctl("{\"cmd\":\"health\",\"syndrome\":%u}", 0x10u));
	(void)AWAIT(removals != 0 && files(path, sizeof(path)) != 0, 20000);
	CHECK(removals == 1, "%u removal events", removals);
	CHECK(files(path, sizeof(path)) == 1 && strstr(path, "fwdump-0000:c1:00.0-") != NULL, "%s", path);
	CHECK(value_of(regs, read_all(regs), HEALTH) == 0x10, "no syndrome");
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	CHECK_OK(unlink(path));
	CHECK_OK(rmdir(folder));
}

/* Another process holds the lock of the register gateway: no dump is taken, and the close does not wait for it. */
static void
held(void)
{
	int fd = open("/sys/bus/pci/devices/0000:c1:00.0/config", O_RDWR | O_CLOEXEC);
	char path[400] = "";
	uint64_t begin;

	CHECK_OK(flock(fd, LOCK_EX));
	CHECK_OK(rte_eth_dev_callback_register(PORT_A, RTE_ETH_EVENT_INTR_RMV, on_rmv, NULL));
	CHECK_OK(emu_ctl("{\"cmd\":\"health\",\"syndrome\":%u}", 0x10u));
	(void)AWAIT(removals != 0, 20000);
	CHECK(removals == 1, "%u removal events", removals);
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	begin = now_us();
	CHECK_OK(rte_eth_dev_close(PORT_A));
	/* The close waits for a dump for 1 s, the dump for the lock for 30 s. */
	CHECK(now_us() - begin < 15000000, "closed after %" PRIu64 " us", now_us() - begin);
	printf("closed after %" PRIu64 " us\n", now_us() - begin);
	close(fd);
	CHECK(files(path, sizeof(path)) == 0, "%s", path);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	CHECK_OK(rmdir(folder));
}

static void
ports_up(void)
{
	struct rte_eth_conf eth = { .intr_conf = { .rmv = 1 } };
	struct pmd_frame to_a = pmd_frame_udp(PORT_B, PORT_A, 1);
	uint16_t port;

	for (port = PORT_A; port <= PORT_B; port++) {
		CHECK_OK(rte_eth_dev_configure(port, 1, 1, &eth));
		CHECK_OK(rte_eth_rx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL, pmd_pool));
		CHECK_OK(rte_eth_tx_queue_setup(port, 0, 256, SOCKET_ID_ANY, NULL));
		CHECK_OK(rte_eth_dev_start(port));
	}
	CHECK(pmd_send(PORT_B, 0, &to_a) == 1 && pmd_drain(PORT_A, 1, 2000, NULL) == 1, "no frame");
}

int
main(int argc, char **argv)
{
	alarm(100);
	if (mkdtemp(folder) == NULL)
		return 2;
	setenv("MLXPMD_FWDUMP_DIR", folder, 1);
	pmd_init(argc, argv);
	ports_up();
	if (strcmp(argv[argc - 1], "held") == 0) {
		held();
		return pmd_fini();
	}
	whole_and_parts();
	failure();
	return pmd_fini();
}
