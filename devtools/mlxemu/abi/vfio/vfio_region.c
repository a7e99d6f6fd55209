/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Access to regions of a VFIO device by mmap(), pread() and pwrite(). */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "core/emu_pci.h"
#include "abi/trap_pages.h"
#include "vfio.h"

#define REGION_OF(off) ((unsigned)((uint64_t)(off) >> ABI_VFIO_REGION_SHIFT))
#define OFFSET_IN(off) ((uint64_t)(off) & ((1ull << ABI_VFIO_REGION_SHIFT) - 1))

/* The kernel accesses registers in units of at most 8 bytes; each unit is one register write. */
static void
bar_write(struct abi_vfio_device *d, uint64_t off, const uint8_t *bytes, size_t len)
{
	while (len != 0) {
		size_t n = (off & 3) == 0 && len >= 4 ? 4 : 1;

		if ((off & 7) == 0 && len >= 8)
			n = 8;
		abi_vfio_bar_store(d, off, bytes, (unsigned)n);
		off += n;
		bytes += n;
		len -= n;
	}
}

static void
bar_read(struct abi_vfio_device *d, uint64_t off, void *buf, size_t len)
{
	if (off < EMU_BAR_COUNTER_OFFSET + EMU_PAGE_BYTES && off + len > EMU_BAR_COUNTER_OFFSET)
		(void)emu_clock_registers(d->dev);
	memcpy(buf, d->bar + off, len);
}

/* Bytes moved, fewer at the end of a region; or -errno. */
static ssize_t
region_access(struct abi_vfio_device *d, bool write, void *buf, size_t len, off64_t off)
{
	const unsigned region = REGION_OF(off);
	const uint64_t at = OFFSET_IN(off);
	uint64_t size = 0;
	int ret = 0;

	if (region == VFIO_PCI_BAR0_REGION_INDEX)
		size = ABI_VFIO_BAR_BYTES;
	else if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		size = EMU_PCI_CONFIG_BYTES;
	if (d->ctx == NULL || at >= size)
		return abi_vfio_refuse(d->dev, -EINVAL, write ? "pwrite" : "pread",
				       "region %u, offset 0x%" PRIx64, region, at);
	if (len > size - at)
		len = size - at;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		ret = write ? emu_pci_write(d->dev, (uint32_t)at, buf, (uint32_t)len)
			    : emu_pci_read(d->dev, (uint32_t)at, buf, (uint32_t)len);
	else if (write)
		bar_write(d, at, buf, len);
	else
		bar_read(d, at, buf, len);
	return ret != 0 ? ret : (ssize_t)len;
}

/* The device of a descriptor, with a reference; NULL: another descriptor, or a call of the model. */
static struct abi_fdobj *
device_get(int fd)
{
	if (abi_inside != 0 || abi_fd_kind(fd) != ABI_FD_VFIO_DEVICE)
		return NULL;
	return abi_fd_get(fd, ABI_FD_VFIO_DEVICE);
}

bool
abi_vfio_access(int fd, bool write, void *buf, size_t len, off64_t off, ssize_t *done)
{
	struct abi_fdobj *obj = device_get(fd);

	if (obj == NULL)
		return false;
	*done = -ENODEV;
	if (abi_enter() != NULL) {
		*done = region_access((struct abi_vfio_device *)obj, write, buf, len, off);
		abi_leave();
	}
	abi_fd_put(obj);
	if (*done < 0) {
		errno = (int)-*done;
		*done = -1;
	}
	return true;
}

int
abi_vfio_may_map(size_t len, int flags, off64_t off)
{
	const uint64_t at = OFFSET_IN(off);

	if (REGION_OF(off) != VFIO_PCI_BAR0_REGION_INDEX || (flags & MAP_TYPE) == MAP_PRIVATE)
		return -EINVAL;
	return at < ABI_VFIO_BAR_BYTES && len <= ABI_VFIO_BAR_BYTES - at ? 0 : -EINVAL;
}

static int
mmap_check(struct abi_vfio_device *d, size_t len, int flags, off64_t off)
{
	const uint64_t at = OFFSET_IN(off);

	if (d->ctx == NULL)
		return -ENODEV;
	if (abi_vfio_may_map(len, flags, off) != 0)
		return abi_vfio_refuse(d->dev, -EINVAL, "mmap",
				       "region %u, 0x%" PRIx64 "+0x%zx: BAR 0 only, shared",
				       REGION_OF(off), at, len);
	return emu_fault_errno(EMU_ON_MMAP, d->dev, "bar");
}

/* Map read-only also if PROT_WRITE is requested: stores must fault. */
static int
mmap_run(struct abi_vfio_device *d, void *addr, size_t len, int prot, int flags, int fd,
	 off64_t off, void **at)
{
	int ret = mmap_check(d, len, flags, off);

	if (ret != 0)
		return ret;
	*at = (void *)syscall(SYS_mmap, addr, len, prot & ~PROT_WRITE, flags, fd, off);
	if (*at == MAP_FAILED)
		return -errno;
	abi_vfio_unmapped((uintptr_t)*at, len);
	if ((prot & PROT_WRITE) != 0)
		abi_vfio_mapped(d, (uintptr_t)*at, len, OFFSET_IN(off));
	if (OFFSET_IN(off) <= EMU_BAR_COUNTER_OFFSET &&
	    EMU_BAR_COUNTER_OFFSET + EMU_PAGE_BYTES <= OFFSET_IN(off) + len)
		abi_pages_counter(d->dev, (uintptr_t)*at + EMU_BAR_COUNTER_OFFSET - OFFSET_IN(off),
				  prot & ~PROT_WRITE, d->bar + EMU_BAR_COUNTER_OFFSET);
	return 0;
}

bool
abi_vfio_mmap(void *addr, size_t len, int prot, int flags, int fd, off64_t off, void **at)
{
	struct abi_fdobj *obj = device_get(fd);
	int ret = -ENODEV;

	if (obj == NULL)
		return false;
	if (abi_enter() != NULL) {
		ret = mmap_run((struct abi_vfio_device *)obj, addr, len, prot, flags, fd,
			       off, at);
		abi_leave();
	}
	abi_fd_put(obj);
	if (ret != 0) {
		errno = -ret;
		*at = MAP_FAILED;
	}
	return true;
}
