/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Configuration space: its capabilities, the gateway's lock and spaces, and what processes share. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "core/emu_pci.h"
#include "fw_fixture.h"

static struct emu_machine m;
static struct emu_dev *dev;

static uint32_t
get(struct emu_dev *d, uint32_t off)
{
	uint32_t v = 0;

	CHECK_EQ(emu_pci_read(d, off, &v, sizeof(v)), 0);
	return v;
}

static void
set(struct emu_dev *d, uint32_t off, uint32_t v)
{
	CHECK_EQ(emu_pci_write(d, off, &v, sizeof(v)), 0);
}

#define VSC(reg) (EMU_PCI_CAP_VSC + EMU_VSC_##reg)

/* Offset of a capability, found as every driver finds it; 0: there is none. */
static uint8_t
capability(struct emu_dev *d, uint8_t id)
{
	uint8_t at, head[2];
	int n = 0;

	CHECK_EQ(emu_pci_read(d, 0x34, &at, 1), 0);
	while (at != 0 && n++ < 48) {
		CHECK_EQ(emu_pci_read(d, at, head, 2), 0);
		if (head[0] == id)
			return at;
		at = head[1];
	}
	CHECK(n < 48);
	return 0;
}

static void
test_capabilities(void)
{
	uint8_t whole[EMU_PCI_CONFIG_BYTES], control[2];

	CHECK_EQ(get(dev, 0), 0x101d15b3);
	CHECK_EQ(capability(dev, 0x10), EMU_PCI_CAP_EXPRESS);
	CHECK_EQ(capability(dev, 0x11), EMU_PCI_CAP_MSIX);
	CHECK_EQ(capability(dev, 0x01), EMU_PCI_CAP_PM);
	CHECK_EQ(capability(dev, 0x09), EMU_PCI_CAP_VSC);
	CHECK_EQ(capability(dev, 0x05), 0);
	CHECK_EQ(emu_pci_read(dev, EMU_PCI_CAP_MSIX + 2, control, 2), 0);
	CHECK_EQ((control[0] | control[1] << 8) + 1, EMU_PCI_MSIX_VECTORS);
	CHECK_EQ(emu_pci_read(dev, 0, whole, sizeof(whole)), 0);
	CHECK_EQ(whole[EMU_PCI_CAP_VSC + 2], EMU_VSC_BYTES);
	CHECK_EQ(-emu_pci_read(dev, 4093, whole, 4), EINVAL);
	CHECK_EQ(-emu_pci_write(dev, UINT32_MAX, whole, 4), EINVAL);
	/* A word within: bus master off and on; an id cannot be written. */
	CHECK_EQ(emu_pci_write(dev, 4, (const uint8_t[2]){0x02, 0x04}, 2), 0);
	CHECK_EQ(get(dev, 4), 0x00100402);
	CHECK_EQ(emu_pci_write(dev, 4, (const uint8_t[2]){0x06, 0x04}, 2), 0);
	set(dev, 0, 0);
	CHECK_EQ(get(dev, 0), 0x101d15b3);
}

static void
test_lock(void)
{
	uint32_t a = get(dev, VSC(COUNTER)), b = get(dev, VSC(COUNTER));

	CHECK(a != 0 && a != b);
	CHECK_EQ(get(dev, VSC(SEMAPHORE)), 0);
	set(dev, VSC(SEMAPHORE), a);
	set(dev, VSC(SEMAPHORE), b);
	CHECK_EQ(get(dev, VSC(SEMAPHORE)), a);
	set(dev, VSC(SEMAPHORE), 0);
	set(dev, VSC(SEMAPHORE), b);
	CHECK_EQ(get(dev, VSC(SEMAPHORE)), b);
	set(dev, VSC(SEMAPHORE), 0);
	/* Half a register is none. */
	CHECK_EQ(emu_pci_write(dev, VSC(SEMAPHORE), (const uint8_t[2]){1, 0}, 2), 0);
	CHECK_EQ(get(dev, VSC(SEMAPHORE)), 0);
}

static bool
space(struct emu_dev *d, uint32_t number)
{
	set(d, VSC(CONTROL), number);
	return get(d, VSC(CONTROL)) >> EMU_VSC_STATUS_SHIFT != 0;
}

/* What walks through space 7 and then reads in space 6 finds each register once, and nothing else. */
static void
test_walk(struct emu_dev *d)
{
	uint32_t n = 0, addr = 0, at, size, expected;

	CHECK(space(d, EMU_VSC_SPACE_SCAN));
	size = get(d, VSC(ADDRESS));
	CHECK_EQ(size, emu_cr_end(d));
	for (; n <= emu_cr_count(d); n++) {
		if (n < emu_cr_count(d))
			CHECK_EQ(addr, emu_cr_address(d, n));
		set(d, VSC(ADDRESS), addr);
		at = get(d, VSC(ADDRESS));
		CHECK((at & EMU_VSC_FLAG) != 0);
		addr = at & ~(EMU_VSC_FLAG | EMU_VSC_SYNDROME);
		if (addr >= size || addr == 0)
			break;
	}
	CHECK_EQ(n + 1, emu_cr_count(d));
	CHECK(space(d, EMU_VSC_SPACE_PROTECTED));
	for (n = 0; n < emu_cr_count(d); n++) {
		set(d, VSC(ADDRESS), emu_cr_address(d, n));
		CHECK(emu_cr_read(d, emu_cr_address(d, n), &expected));
		CHECK_EQ(get(d, VSC(DATA)), expected);
		CHECK_EQ(expected, emu_cr_initial(d, n));
	}
}

static void
test_spaces(void)
{
	uint32_t v = 0;

	CHECK(!space(dev, 1) && !space(dev, 0xffff));
	CHECK(space(dev, EMU_VSC_SPACE_CR));
	CHECK((get(dev, VSC(CONTROL)) & EMU_VSC_SIZE_VALID) != 0);
	/* A hole. */
	set(dev, VSC(ADDRESS), 0xf0048);
	CHECK_EQ(get(dev, VSC(ADDRESS)), EMU_VSC_FLAG | EMU_VSC_SYNDROME | 0xf0048);
	CHECK_EQ(get(dev, VSC(DATA)), EMU_CR_NOTHING);
	/* A write, and none where it is not allowed. */
	set(dev, VSC(DATA), 0x12345678);
	set(dev, VSC(ADDRESS), EMU_VSC_FLAG | 0xf0000);
	CHECK_EQ(get(dev, VSC(ADDRESS)), 0xf0000);
	CHECK(emu_cr_read(dev, 0xf0000, &v));
	CHECK_EQ(v, 0x12345678);
	CHECK(space(dev, EMU_VSC_SPACE_PROTECTED));
	set(dev, VSC(DATA), 0);
	set(dev, VSC(ADDRESS), EMU_VSC_FLAG | 0xf0000);
	CHECK_EQ(get(dev, VSC(ADDRESS)), EMU_VSC_SYNDROME | 0xf0000);
	CHECK(emu_cr_read(dev, 0xf0000, &v) && v == 0x12345678);
	CHECK(!emu_cr_read(dev, 0xf0002, &v) && !emu_cr_write(dev, 0xf0048, 1));
	CHECK(emu_cr_write(dev, 0xf0000, emu_cr_initial(dev, emu_cr_find(dev, 0xf0000))));
	CHECK(emu_cr_read(dev, EMU_CR_HW_ID, &v));
	CHECK_EQ(v, 0x212);
}

/* The semaphore of firmware resets is one of the card: its first function's holder excludes the second's. */
static void
test_sw_reset(void)
{
	CHECK(space(dev, EMU_VSC_SPACE_SEMAPHORES));
	CHECK_EQ(get(dev, VSC(CONTROL)) & EMU_VSC_SIZE_VALID, 0);
	set(dev, VSC(DATA), 0x77);
	set(dev, VSC(ADDRESS), EMU_VSC_FLAG | EMU_VSC_SW_RESET);
	CHECK_EQ(get(dev, VSC(ADDRESS)), EMU_VSC_SW_RESET);
	set(dev, VSC(DATA), 0x78);
	set(dev, VSC(ADDRESS), EMU_VSC_FLAG | EMU_VSC_SW_RESET);
	set(dev, VSC(ADDRESS), EMU_VSC_SW_RESET);
	CHECK_EQ(get(dev, VSC(DATA)), 0x77);
	set(dev, VSC(DATA), 0);
	set(dev, VSC(ADDRESS), EMU_VSC_FLAG | EMU_VSC_SW_RESET);
	set(dev, VSC(ADDRESS), EMU_VSC_SW_RESET);
	CHECK_EQ(get(dev, VSC(DATA)), 0);
	/* No other semaphore is known. */
	set(dev, VSC(ADDRESS), 0x24);
	CHECK((get(dev, VSC(ADDRESS)) & EMU_VSC_SYNDROME) != 0);
}

static void
test_vf(void)
{
	struct emu_dev *vf = &m.dev[1];

	vf->vf = true;
	emu_pci_detach(vf);
	CHECK_EQ(get(vf, 0), 0x101e15b3);
	CHECK_EQ(capability(vf, 0x11), EMU_PCI_CAP_MSIX);
	CHECK_EQ(capability(vf, 0x09), 0);
	CHECK_EQ(get(vf, VSC(COUNTER)), 0);
	set(vf, VSC(SEMAPHORE), 1);
	CHECK_EQ(get(vf, VSC(SEMAPHORE)), 0);
	vf->vf = false;
	emu_pci_detach(vf);
}

static void
test_rules(void)
{
	char err[256] = "";
	uint32_t v = 1;

	emu_lock(&m);
	CHECK_EQ(emu_fault_add("on pci.read match reg=semaphore count 2 do set value=0x77", err,
			       sizeof(err)), 0);
	CHECK_EQ(get(dev, VSC(COUNTER)) == 0x77, 0);
	CHECK_EQ(get(dev, VSC(SEMAPHORE)), 0x77);
	CHECK_EQ(get(dev, VSC(SEMAPHORE)), 0x77);
	CHECK_EQ(get(dev, VSC(SEMAPHORE)), 0);
	CHECK_EQ(emu_fault_add("on pci.write match reg=address do drop", err, sizeof(err)), 0);
	CHECK(space(dev, EMU_VSC_SPACE_CR));
	set(dev, VSC(ADDRESS), 0xf0000);
	CHECK_EQ(get(dev, VSC(ADDRESS)), emu_cr_end(dev));
	CHECK_EQ(emu_fault_add("on pci.write do fail errno=EPERM", err, sizeof(err)), 0);
	CHECK_EQ(-emu_pci_write(dev, VSC(SEMAPHORE), &v, 4), EPERM);
	emu_fault_clear();
	emu_unlock(&m);
	CHECK_EQ(-emu_fault_add("on pci.read match reg=lock do set value=1", err, sizeof(err)), EINVAL);
	CHECK_EQ(-emu_fault_add("on pci.read do drop", err, sizeof(err)), EINVAL);
}

/* A process that is killed leaves the semaphore as it was; registers are everybody's. */
static void
test_processes(void)
{
	char dir[] = "/tmp/test_pci.XXXXXX", path[64];
	uint32_t v = 0;
	int status;
	pid_t pid;

	CHECK(mkdtemp(dir) != NULL);
	CHECK_EQ(-emu_pci_attach(dev, dir), ENOENT);
	CHECK_EQ(emu_pci_create(dev, dir), 0);
	CHECK_EQ(-emu_pci_create(dev, dir), EEXIST);
	emu_pci_detach(dev);
	CHECK_EQ(emu_pci_attach(dev, dir), 0);
	CHECK_EQ(emu_pci_attach(dev, dir), 0);
	pid = fork();
	if (pid == 0) {
		set(dev, VSC(SEMAPHORE), get(dev, VSC(COUNTER)));
		emu_dev_health(dev, 0x10, 0);
		kill(getpid(), SIGKILL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	CHECK(get(dev, VSC(SEMAPHORE)) != 0);
	CHECK(emu_cr_read(dev, EMU_CR_HEALTH_SYNDROME, &v));
	CHECK_EQ(v, 0x10);
	emu_pci_detach(dev);
	CHECK_EQ(emu_pci_attach(dev, dir), 0);
	CHECK(get(dev, VSC(SEMAPHORE)) != 0);
	emu_pci_detach(dev);
	snprintf(path, sizeof(path), "%s/pci.0", dir);
	CHECK(unlink(path) == 0 && rmdir(dir) == 0);
}

int
main(void)
{
	for (unsigned p = 0; emu_profiles[p] != NULL; p++) {
		/* The generation before has no such gateway. */
		if (emu_profiles[p]->mlx4)
			continue;
		CHECK_EQ(emu_machine_init(&m, 2, emu_profiles[p]), 0);
		test_walk(&m.dev[0]);
		test_walk(&m.dev[1]);
		emu_machine_fini(&m);
	}
	CHECK_EQ(emu_machine_init(&m, 2, emu_profile_find("cx6dx")), 0);
	dev = &m.dev[0];
	test_capabilities();
	test_lock();
	test_spaces();
	test_sw_reset();
	test_vf();
	test_rules();
	test_processes();
	dev->removed = true;
	CHECK_EQ(get(dev, 0), UINT32_MAX);
	emu_machine_fini(&m);
	return fix_result("pci");
}
