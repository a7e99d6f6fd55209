/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* PCI config space, and the registers of the vendor specific capability (VSC). */
#include "emu_pci.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu_fault.h"

/** Layout of the file that the processes of a run share. */
struct emu_pci {
	_Atomic uint32_t config[EMU_PCI_CONFIG_BYTES / 4]; /* little endian, as PCI */
	_Atomic uint32_t sw_reset;			   /* of the card: that of its first function counts */
	_Atomic uint32_t reg[];
};

static size_t
pci_bytes(const struct emu_dev *dev)
{
	return sizeof(struct emu_pci) + emu_cr_count(dev) * sizeof(uint32_t);
}

static void
put16(uint8_t *to, uint32_t v)
{
	to[0] = (uint8_t)v;
	to[1] = (uint8_t)(v >> 8);
}

static void
put32(uint8_t *to, uint32_t v)
{
	put16(to, v);
	put16(to + 2, v >> 16);
}

uint16_t
emu_pci_device_id(const struct emu_dev *dev)
{
	uint16_t id = dev->profile->pci_device_id;

	if (!dev->vf || dev->parent != NULL)
		return id;
	/* From ConnectX-6 Dx on virtual functions have a common id; before, the id of the card + 1. */
	return id >= 0x101d ? 0x101e : id + 1;
}

/* True if the function has the VSC: virtual functions have none. */
static bool
has_vsc(const struct emu_dev *dev)
{
	return !dev->vf && !dev->profile->mlx4;
}

/* Capabilities, each with the offset of the next. */
static void
image_caps(const struct emu_dev *dev, uint8_t *config)
{
	uint8_t *express = config + EMU_PCI_CAP_EXPRESS, *msix = config + EMU_PCI_CAP_MSIX;
	uint8_t *vsc = config + EMU_PCI_CAP_VSC, *pm = config + EMU_PCI_CAP_PM;

	config[0x34] = EMU_PCI_CAP_EXPRESS;
	express[0] = 0x10;
	express[1] = EMU_PCI_CAP_MSIX;
	put16(express + 2, 0x0002);		/* version 2, endpoint */
	put32(express + 4, 0x10008fe2);		/* function level reset, payload up to 512 */
	put16(express + 8, 0x2930);		/* payload 256, reads up to 512, relaxed ordering */
	put32(express + 12, 0x00000104);	/* x16, 16 GT/s */
	put16(express + 18, 0x0104);
	msix[0] = 0x11;
	msix[1] = has_vsc(dev) ? EMU_PCI_CAP_VSC : EMU_PCI_CAP_PM;
	put16(msix + 2, EMU_PCI_MSIX_VECTORS - 1);
	put32(msix + 4, EMU_PCI_MSIX_TABLE_OFFSET);
	put32(msix + 8, EMU_PCI_MSIX_PBA_OFFSET);
	pm[0] = 0x01;
	put16(pm + 2, 0x0003);
	if (!has_vsc(dev))
		return;
	vsc[0] = 0x09;
	vsc[1] = EMU_PCI_CAP_PM;
	vsc[2] = EMU_VSC_BYTES;
}

void
emu_pci_image(const struct emu_dev *dev, uint8_t config[EMU_PCI_CONFIG_BYTES])
{
	memset(config, 0, EMU_PCI_CONFIG_BYTES);
	put16(config, 0x15b3);
	put16(config + 0x02, emu_pci_device_id(dev));
	put16(config + 0x04, 0x0406); /* memory, bus master, no INTx */
	put16(config + 0x06, 0x0010); /* capability list present */
	put16(config + 0x0a, 0x0200); /* Ethernet controller */
	config[0x0c] = 0x10;	      /* cache line of 64 bytes */
	config[0x0e] = 0x80;	      /* multi-function */
	put32(config + 0x10, (EMU_PCI_BAR_BASE + dev->index * EMU_PCI_BAR_BYTES) | 0xc);
	put16(config + 0x2c, 0x15b3);
	put16(config + 0x2e, 0x0016);
	image_caps(dev, config);
}

static void
pci_fill(const struct emu_dev *dev, struct emu_pci *pci)
{
	uint8_t config[EMU_PCI_CONFIG_BYTES];

	emu_pci_image(dev, config);
	memcpy((void *)pci->config, config, sizeof(config));
	for (uint32_t i = 0; i < emu_cr_count(dev); i++)
		pci->reg[i] = emu_cr_initial(dev, i);
	pci->config[(EMU_PCI_CAP_VSC + EMU_VSC_COUNTER) / 4] = has_vsc(dev);
}

/* System calls: the functions of libc are interposed. */
static int
pci_open(const struct emu_dev *dev, const char *dir, int flags)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%.4096s/pci.%u", dir, dev->index);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd >= 0 ? fd : -errno;
}

static struct emu_pci *
pci_map(const struct emu_dev *dev, int fd)
{
	void *p = mmap(NULL, pci_bytes(dev), PROT_READ | PROT_WRITE,
		       fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);

	return p != MAP_FAILED ? p : NULL;
}

int
emu_pci_create(struct emu_dev *dev, const char *dir)
{
	int fd = pci_open(dev, dir, O_RDWR | O_CREAT | O_EXCL), ret = 0;
	struct emu_pci *pci;

	if (fd < 0)
		return fd;
	if (ftruncate(fd, (off_t)pci_bytes(dev)) != 0)
		ret = -errno;
	pci = ret == 0 ? pci_map(dev, fd) : NULL;
	if (pci != NULL) {
		pci_fill(dev, pci);
		munmap(pci, pci_bytes(dev));
	} else if (ret == 0) {
		ret = -ENOMEM;
	}
	syscall(SYS_close, fd);
	return ret;
}

int
emu_pci_attach(struct emu_dev *dev, const char *dir)
{
	int fd = pci_open(dev, dir, O_RDWR);
	struct emu_pci *pci, *none = NULL;

	if (fd < 0)
		return fd;
	pci = pci_map(dev, fd);
	syscall(SYS_close, fd);
	if (pci == NULL)
		return -ENOMEM;
	if (!atomic_compare_exchange_strong(&dev->pci, &none, pci))
		munmap(pci, pci_bytes(dev)); /* another thread has attached it meanwhile */
	return 0;
}

void
emu_pci_detach(struct emu_dev *dev)
{
	struct emu_pci *pci = atomic_exchange(&dev->pci, NULL);

	if (pci != NULL)
		munmap(pci, pci_bytes(dev));
}

/* The space; private to this process if no shared one is attached. NULL: no memory. */
static struct emu_pci *
pci_of(struct emu_dev *dev)
{
	struct emu_pci *pci = atomic_load(&dev->pci), *none = NULL;

	if (pci != NULL)
		return pci;
	pci = pci_map(dev, -1);
	if (pci == NULL)
		return NULL;
	pci_fill(dev, pci);
	if (atomic_compare_exchange_strong(&dev->pci, &none, pci))
		return pci;
	munmap(pci, pci_bytes(dev));
	return none;
}

bool
emu_cr_read(struct emu_dev *dev, uint32_t addr, uint32_t *value)
{
	uint32_t i = emu_cr_find(dev, addr);
	struct emu_pci *pci = pci_of(dev);

	if (pci == NULL || i == emu_cr_count(dev) || emu_cr_address(dev, i) != addr)
		return false;
	*value = pci->reg[i];
	return true;
}

bool
emu_cr_write(struct emu_dev *dev, uint32_t addr, uint32_t value)
{
	uint32_t i = emu_cr_find(dev, addr);
	struct emu_pci *pci = pci_of(dev);

	if (pci == NULL || i == emu_cr_count(dev) || emu_cr_address(dev, i) != addr)
		return false;
	pci->reg[i] = value;
	return true;
}

static bool
space_known(uint32_t space)
{
	return space == EMU_VSC_SPACE_CR || space == EMU_VSC_SPACE_PROTECTED ||
	       space == EMU_VSC_SPACE_SCAN || space == EMU_VSC_SPACE_SEMAPHORES;
}

/* Select a space: status 0 if it does not exist, else the address register returns its size. */
static void
vsc_control(struct emu_dev *dev, _Atomic uint32_t *vsc, uint32_t value)
{
	uint32_t space = value & 0xffff;

	if (!space_known(space)) {
		vsc[EMU_VSC_CONTROL / 4] = space;
		return;
	}
	vsc[EMU_VSC_CONTROL / 4] = space | 1u << EMU_VSC_STATUS_SHIFT;
	if (space == EMU_VSC_SPACE_SEMAPHORES)
		return;
	vsc[EMU_VSC_ADDRESS / 4] = emu_cr_end(dev);
	vsc[EMU_VSC_CONTROL / 4] |= EMU_VSC_SIZE_VALID;
}

/* Next address of a walk: the next register; after the last one the end, and from there 0. */
static uint32_t
scan_next(struct emu_dev *dev, uint32_t addr)
{
	uint32_t i = emu_cr_find(dev, addr + 4);

	if (addr >= emu_cr_end(dev))
		return 0;
	return i < emu_cr_count(dev) ? emu_cr_address(dev, i) : emu_cr_end(dev);
}

/* A semaphore takes a ticket while it is 0, and 0 at any time; the writer reads it to see whether it has it. */
static bool
semaphore_write(_Atomic uint32_t *semaphore, uint32_t value)
{
	uint32_t unlocked = 0;

	if (value == 0)
		*semaphore = 0;
	else
		atomic_compare_exchange_strong(semaphore, &unlocked, value);
	return true;
}

/* Linux, mlx5_vsc_sem_set_space(). Only one semaphore is known. */
static bool
semaphore_access(struct emu_dev *dev, uint32_t addr, bool write, _Atomic uint32_t *data)
{
	struct emu_pci *pci = pci_of(dev - dev->index);

	if (addr != EMU_VSC_SW_RESET || pci == NULL)
		return false;
	if (write)
		return semaphore_write(&pci->sw_reset, *data);
	*data = pci->sw_reset;
	return true;
}

static bool
space_access(struct emu_dev *dev, uint32_t space, uint32_t addr, bool write, _Atomic uint32_t *data)
{
	uint32_t value = EMU_CR_NOTHING;
	bool done = false;

	if (space == EMU_VSC_SPACE_SEMAPHORES)
		return semaphore_access(dev, addr, write, data);
	if (write)
		return space == EMU_VSC_SPACE_CR && emu_cr_write(dev, addr, *data);
	if (space_known(space))
		done = emu_cr_read(dev, addr, &value);
	*data = value;
	return done;
}

/* Writing the address starts an access: a read ends with the flag set, a write with it clear. */
static void
vsc_address(struct emu_dev *dev, _Atomic uint32_t *vsc, uint32_t value)
{
	uint32_t space = vsc[EMU_VSC_CONTROL / 4] & 0xffff, addr = value & ~(3u << 30);
	bool write = (value & EMU_VSC_FLAG) != 0;
	bool done = space_access(dev, space, addr, write, &vsc[EMU_VSC_DATA / 4]);

	if (!write && space == EMU_VSC_SPACE_SCAN)
		addr = scan_next(dev, addr);
	vsc[EMU_VSC_ADDRESS / 4] = addr | (write ? 0 : EMU_VSC_FLAG) |
				   (done ? 0 : EMU_VSC_SYNDROME);
}

/* Next ticket, never 0. */
static uint32_t
vsc_ticket(_Atomic uint32_t *vsc)
{
	uint32_t ticket = atomic_fetch_add(&vsc[EMU_VSC_COUNTER / 4], 1);

	return ticket != 0 ? ticket : atomic_fetch_add(&vsc[EMU_VSC_COUNTER / 4], 1);
}

/** Name of a dword in fault rules: a register of the VSC, or "other". */
static const char *
dword_name(const struct emu_dev *dev, uint32_t off)
{
	static const char *const names[] = {
		[EMU_VSC_CONTROL / 4] = "control", [EMU_VSC_COUNTER / 4] = "counter",
		[EMU_VSC_SEMAPHORE / 4] = "semaphore", [EMU_VSC_ADDRESS / 4] = "address",
		[EMU_VSC_DATA / 4] = "data",
	};
	uint32_t in = off - EMU_PCI_CAP_VSC;

	return has_vsc(dev) && in >= EMU_VSC_CONTROL && in < EMU_VSC_BYTES ? names[in / 4]
										   : "other";
}

static const struct emu_fault_action *
fault_of(struct emu_dev *dev, enum emu_fault_kind kind, uint32_t off)
{
	struct emu_fault_event q = {.kind = kind, .dev = dev, .name = dword_name(dev, off)};

	if (!emu_fault_at(kind) || !emu_lock_is_mine(emu_machine_of(dev)))
		return NULL;
	return emu_fault_hit(&q);
}

static int
dword_read(struct emu_dev *dev, struct emu_pci *pci, uint32_t off, uint32_t *value)
{
	const struct emu_fault_action *fault = fault_of(dev, EMU_ON_PCI_READ, off);
	_Atomic uint32_t *vsc = &pci->config[EMU_PCI_CAP_VSC / 4];

	if (fault != NULL && fault->act == EMU_ACT_FAIL)
		return -fault->err;
	if (has_vsc(dev) && off == EMU_PCI_CAP_VSC + EMU_VSC_COUNTER)
		*value = vsc_ticket(vsc);
	else
		*value = pci->config[off / 4];
	if (emu_fault_set_at(EMU_ON_PCI_READ) && emu_lock_is_mine(emu_machine_of(dev))) {
		const struct emu_fault_event e = {
			.kind = EMU_ON_PCI_READ, .dev = dev, .name = dword_name(dev, off),
		};

		*value = (uint32_t)emu_fault_set_value(&e, *value);
	}
	return 0;
}

/*
 * Writes outside the VSC: command, status and MSI-X control are writable for the kernel, all other
 * bits are read-only.
 */
static void
plain_write(struct emu_pci *pci, uint32_t off, uint32_t value, uint32_t mask)
{
	static const struct {
		uint32_t off, writable;
	} rows[] = {
		{0x04, 0x00000547}, {0x0c, 0x000000ff}, {0x3c, 0x000000ff},
		{EMU_PCI_CAP_EXPRESS + 8, 0x0000ffff}, {EMU_PCI_CAP_MSIX, 0xc0000000},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].off != off)
			continue;
		mask &= rows[i].writable;
		pci->config[off / 4] = (pci->config[off / 4] & ~mask) | (value & mask);
	}
}

static int
dword_write(struct emu_dev *dev, struct emu_pci *pci, uint32_t off, uint32_t value, uint32_t mask)
{
	const struct emu_fault_action *fault = fault_of(dev, EMU_ON_PCI_WRITE, off);
	_Atomic uint32_t *vsc = &pci->config[EMU_PCI_CAP_VSC / 4];
	uint32_t in = off - EMU_PCI_CAP_VSC;

	if (fault != NULL && fault->act == EMU_ACT_FAIL)
		return -fault->err;
	if (fault != NULL && fault->act == EMU_ACT_DROP)
		return 0;
	if (!has_vsc(dev) || in >= EMU_VSC_BYTES) {
		plain_write(pci, off, value, mask);
		if (off == PCI_COMMAND)
			emu_pci_mastering(dev, (pci->config[off / 4] & PCI_COMMAND_MASTER) != 0);
		return 0;
	}
	/* The registers of the VSC are accessed as dwords only. */
	if (mask != UINT32_MAX)
		return 0;
	if (in == EMU_VSC_CONTROL)
		vsc_control(dev, vsc, value);
	else if (in == EMU_VSC_SEMAPHORE)
		semaphore_write(&vsc[EMU_VSC_SEMAPHORE / 4], value);
	else if (in == EMU_VSC_ADDRESS)
		vsc_address(dev, vsc, value);
	else if (in == EMU_VSC_DATA)
		vsc[EMU_VSC_DATA / 4] = value;
	return 0;
}

/* The part of the access within one dword: first byte and number of bytes. */
static uint32_t
part_of(uint32_t off, uint32_t len, uint32_t *first)
{
	uint32_t room = 4 - off % 4;

	*first = off % 4;
	return len < room ? len : room;
}

int
emu_pci_read(struct emu_dev *dev, uint32_t off, void *buf, uint32_t len)
{
	uint32_t first, n, value;
	struct emu_pci *pci = pci_of(dev);
	uint8_t *to = buf;

	if (off > EMU_PCI_CONFIG_BYTES || len > EMU_PCI_CONFIG_BYTES - off)
		return -EINVAL;
	if (pci == NULL || (dev->removed && !dev->failed)) {
		memset(buf, 0xff, len);
		return 0;
	}
	for (; len != 0; off += n, to += n, len -= n) {
		int ret = dword_read(dev, pci, off & ~3u, &value);

		if (ret != 0)
			return ret;
		n = part_of(off, len, &first);
		memcpy(to, (const uint8_t *)&value + first, n);
	}
	return 0;
}

int
emu_pci_write(struct emu_dev *dev, uint32_t off, const void *buf, uint32_t len)
{
	struct emu_pci *pci = pci_of(dev);
	const uint8_t *from = buf;
	uint32_t first, n;

	if (off > EMU_PCI_CONFIG_BYTES || len > EMU_PCI_CONFIG_BYTES - off)
		return -EINVAL;
	if (pci == NULL || (dev->removed && !dev->failed))
		return 0;
	for (; len != 0; off += n, from += n, len -= n) {
		uint32_t value = 0, mask = 0;
		int ret;

		n = part_of(off, len, &first);
		memcpy((uint8_t *)&value + first, from, n);
		memset((uint8_t *)&mask + first, 0xff, n);
		ret = dword_write(dev, pci, off & ~3u, value, mask);
		if (ret != 0)
			return ret;
	}
	return 0;
}
