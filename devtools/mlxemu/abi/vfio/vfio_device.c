/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* VFIO devices: open, close, information, interrupts (kernel: drivers/vfio/pci/vfio_pci_core.c). */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/uverbs/uverbs.h"
#include "abi/trap_pages.h"
#include "vfio.h"

#define MIN_OF(type, field) (offsetof(struct type, field) + sizeof(((struct type *)0)->field))
#define REGION_OFFSET(index) ((uint64_t)(index) << ABI_VFIO_REGION_SHIFT)

static void
device_release(struct abi_fdobj *obj)
{
	struct abi_vfio_device *d = (struct abi_vfio_device *)obj;
	const bool inside = abi_inside != 0;

	/* The device was closed at the end of the model; its memory may still be mapped. */
	if (inside || abi_enter() != NULL) {
		abi_vfio_device_shut(d, false);
		if (!inside)
			abi_leave();
	}
	abi_fd_unhide_close(d->file);
	munmap(d->bar, ABI_VFIO_BAR_BYTES);
	abi_fd_put(&d->group->fo);
	free(d);
}

/* BAR 0 as a sparse file that the program shares. */
static int
file_make(struct abi_vfio_device *d)
{
	int fd = memfd_create(d->dev->pci_addr, MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, ABI_VFIO_BAR_BYTES) == 0) {
		d->bar = mmap(NULL, ABI_VFIO_BAR_BYTES, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (d->bar != MAP_FAILED)
			return fd;
	}
	abi_real_close(fd);
	return -ENOMEM;
}

/* vfio-pci clears bus mastering at open and restores config space at close. */
static void
command_set(struct abi_vfio_device *d, uint8_t on)
{
	uint8_t command[2] = {PCI_COMMAND_MEMORY | on, 0};

	if (emu_pci_write(d->dev, PCI_COMMAND, command, sizeof(command)) != 0)
		emu_trace_note(d->dev, "the PCI command register cannot be set");
}

static int
device_new(struct abi_vfio_group *g, int fd, struct abi_vfio_device *d)
{
	int ret;

	/* Descriptor of the model; descriptors of the program are duplicates of it. */
	d->file = ABI_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, 0);
	if (d->file < 0)
		return -errno;
	d->file = abi_fd_hide(d->file);
	abi_vfio_bar_reset(d);
	ret = emu_ctx_open_vfio(d->dev, d->bar, ABI_VFIO_BAR_BYTES, g->container->iommu, &d->ctx);
	if (ret == 0)
		ret = abi_fd_add(fd, &d->fo);
	if (ret != 0) {
		if (d->ctx != NULL)
			(void)emu_ctx_close(d->ctx);
		abi_fd_unhide_close(d->file);
	}
	return ret;
}

int
abi_vfio_device_open(struct abi_vfio_group *g, int *fd)
{
	struct abi_vfio_device *d = calloc(1, sizeof(*d));
	int ret;

	if (d == NULL)
		return -ENOMEM;
	d->fo.kind = ABI_FD_VFIO_DEVICE;
	d->fo.release = device_release;
	d->dev = g->dev;
	d->group = g;
	d->err_fd = d->req_fd = -1;
	for (unsigned i = 0; i < EMU_PCI_MSIX_VECTORS; i++)
		d->irq_fds[i] = -1;
	*fd = file_make(d);
	ret = *fd < 0 ? *fd : device_new(g, *fd, d);
	if (ret != 0) {
		if (*fd >= 0) {
			munmap(d->bar, ABI_VFIO_BAR_BYTES);
			abi_real_close(*fd);
		}
		free(d);
		return ret;
	}
	d->ctx->priv = d;
	command_set(d, 0);
	abi_fd_ref(&g->fo);
	abi_vfio_device_set(d->dev, d);
	emu_trace_note(d->dev, "%s opened through VFIO", d->dev->pci_addr);
	return 0;
}

void
abi_vfio_device_shut(struct abi_vfio_device *d, bool exiting)
{
	unsigned maps = exiting || emu_dev_unusable(d->dev) ? 0 : abi_vfio_mappings(d->dev);

	if (d->ctx == NULL)
		return;
	abi_vfio_device_set(d->dev, NULL);
	if (!emu_dev_disassociated(d->dev))
		command_set(d, PCI_COMMAND_MASTER);
	if (maps != 0)
		emu_audit_left(d->dev, "mapping", maps);
	if (exiting)
		emu_audit_left(d->dev, "open device", 1);
	for (unsigned i = 0; i < ABI_VFIO_SLOTS; i++) {
		free(d->late[i].out);
		d->late[i].out = NULL;
	}
	(void)emu_ctx_close(d->ctx);
	d->ctx = NULL;
	abi_vfio_irqs_close(d);
	abi_vfio_trap_forget(d->dev);
	abi_pages_forget(d->bar, ABI_VFIO_BAR_BYTES);
	emu_trace_note(d->dev, "%s closed", d->dev->pci_addr);
}

static int
get_info(struct abi_vfio_device *d, void *arg)
{
	struct vfio_device_info info = {0};
	size_t room;
	int ret = abi_vfio_in(&info, arg, MIN_OF(vfio_device_info, num_irqs));

	if (ret != 0)
		return abi_vfio_refuse(d->dev, ret, "VFIO_DEVICE_GET_INFO", "argsz");
	room = info.argsz < sizeof(info) ? info.argsz : sizeof(info);
	info.argsz = sizeof(info);
	info.flags = VFIO_DEVICE_FLAGS_PCI;
	info.num_regions = VFIO_PCI_NUM_REGIONS;
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	info.cap_offset = 0;
	return abi_copy_to((uintptr_t)arg, &info, room);
}

static int
get_region_info(struct abi_vfio_device *d, void *arg)
{
	struct vfio_region_info info = {0};
	int ret = abi_vfio_in(&info, arg, sizeof(info));

	if (ret != 0)
		return abi_vfio_refuse(d->dev, ret, "VFIO_DEVICE_GET_REGION_INFO", "argsz");
	if (info.index >= VFIO_PCI_VGA_REGION_INDEX)
		return abi_vfio_refuse(d->dev, -EINVAL, "VFIO_DEVICE_GET_REGION_INFO",
				       "there is no region %u", info.index);
	info.argsz = sizeof(info);
	info.flags = 0;
	info.cap_offset = 0;
	info.size = 0;
	info.offset = REGION_OFFSET(info.index);
	if (info.index == VFIO_PCI_BAR0_REGION_INDEX) {
		info.size = ABI_VFIO_BAR_BYTES;
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE |
			     VFIO_REGION_INFO_FLAG_MMAP;
	} else if (info.index == VFIO_PCI_CONFIG_REGION_INDEX) {
		info.size = EMU_PCI_CONFIG_BYTES;
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	}
	return abi_copy_to((uintptr_t)arg, &info, sizeof(info));
}

/* Number of interrupts of an index. */
static unsigned
irq_count(unsigned index)
{
	if (index == VFIO_PCI_MSIX_IRQ_INDEX)
		return EMU_PCI_MSIX_VECTORS;
	return index == VFIO_PCI_ERR_IRQ_INDEX || index == VFIO_PCI_REQ_IRQ_INDEX;
}

static int
get_irq_info(struct abi_vfio_device *d, void *arg)
{
	struct vfio_irq_info info;
	int ret = abi_vfio_in(&info, arg, sizeof(info));

	if (ret != 0)
		return abi_vfio_refuse(d->dev, ret, "VFIO_DEVICE_GET_IRQ_INFO", "argsz");
	if (info.index >= VFIO_PCI_NUM_IRQS)
		return abi_vfio_refuse(d->dev, -EINVAL, "VFIO_DEVICE_GET_IRQ_INFO",
				       "there is no interrupt index %u", info.index);
	info.argsz = sizeof(info);
	info.flags = VFIO_IRQ_INFO_EVENTFD;
	info.flags |= info.index == VFIO_PCI_INTX_IRQ_INDEX
			      ? VFIO_IRQ_INFO_MASKABLE | VFIO_IRQ_INFO_AUTOMASKED
			      : VFIO_IRQ_INFO_NORESIZE;
	info.count = irq_count(info.index);
	return abi_copy_to((uintptr_t)arg, &info, sizeof(info));
}

static void
kick(int fd)
{
	const uint64_t one = 1;

	if (fd >= 0 && abi_real_write(fd, &one, sizeof(one)) < 0)
		return;
}

void
abi_vfio_msix(struct emu_ctx *ctx, unsigned vector)
{
	struct abi_vfio_device *d = ctx->priv;

	if (d != NULL && d->msix && vector < d->msix_max)
		kick(d->irq_fds[vector]);
}

void
abi_vfio_irqs_going(struct abi_vfio_device *d)
{
	kick(d->err_fd);
	kick(d->req_fd);
}

static void
irq_drop(int *fd)
{
	abi_fd_unhide_close(*fd);
	*fd = -1;
}

static void
msix_disable(struct abi_vfio_device *d)
{
	for (unsigned i = 0; i < EMU_PCI_MSIX_VECTORS; i++)
		irq_drop(&d->irq_fds[i]);
	d->msix = false;
	d->msix_max = 0;
}

void
abi_vfio_irqs_close(struct abi_vfio_device *d)
{
	msix_disable(d);
	irq_drop(&d->err_fd);
	irq_drop(&d->req_fd);
}

/* Duplicate an eventfd for the model; fd < 0: none. 0 or -errno. */
static int
eventfd_take(int fd, int *copy)
{
	*copy = fd < 0 ? -1 : abi_eventfd_take(fd);
	return fd < 0 || *copy >= 0 ? 0 : *copy;
}

/* Set the eventfds of vectors from start on; on an error those already set stay set. */
static int
msix_set(struct abi_vfio_device *d, unsigned start, unsigned count, const int32_t *fds)
{
	for (unsigned i = 0; i < count; i++) {
		int copy, ret = eventfd_take(fds[i], &copy);

		if (ret != 0)
			return ret;
		irq_drop(&d->irq_fds[start + i]);
		d->irq_fds[start + i] = copy;
	}
	return 0;
}

/* The first call sets the number of vectors. */
static int
msix_eventfds(struct abi_vfio_device *d, const struct vfio_irq_set *set, const int32_t *fds)
{
	bool first = !d->msix;
	int ret;

	if (!first && set->start + set->count > d->msix_max)
		return -EINVAL;
	if (first) {
		d->msix = true;
		d->msix_max = set->start + set->count;
	}
	ret = msix_set(d, set->start, set->count, fds);
	if (ret != 0 && first)
		msix_disable(d);
	return ret;
}

static int
msix_trigger(struct abi_vfio_device *d, const struct vfio_irq_set *set, const void *data)
{
	const unsigned type = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	const uint8_t *on = data;

	if (set->count == 0 && type == VFIO_IRQ_SET_DATA_NONE) {
		if (!d->msix)
			return -EINVAL;
		msix_disable(d);
		return 0;
	}
	if (type == VFIO_IRQ_SET_DATA_EVENTFD)
		return msix_eventfds(d, set, data);
	if (!d->msix || set->start + set->count > d->msix_max)
		return -EINVAL;
	for (unsigned i = 0; i < set->count; i++)
		if (type == VFIO_IRQ_SET_DATA_NONE || on[i] != 0)
			kick(d->irq_fds[set->start + i]);
	return 0;
}

/* Error and request interrupts: one eventfd each. */
static int
single_trigger(int *fd, const struct vfio_irq_set *set, const int32_t *fds)
{
	const unsigned type = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	int copy, ret;

	if (type == VFIO_IRQ_SET_DATA_EVENTFD && set->count == 1) {
		ret = eventfd_take(fds[0], &copy);
		if (ret != 0)
			return ret;
		irq_drop(fd);
		*fd = copy;
		return 0;
	}
	if (type != VFIO_IRQ_SET_DATA_NONE || *fd < 0)
		return -EINVAL;
	if (set->count != 0)
		kick(*fd);
	else
		irq_drop(fd);
	return 0;
}

/* Bytes of data for one interrupt; -EINVAL: not one of the three types. */
static int
irq_data_bytes(uint32_t flags)
{
	switch (flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		return 0;
	case VFIO_IRQ_SET_DATA_BOOL:
		return 1;
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return sizeof(int32_t);
	default:
		return -EINVAL;
	}
}

static int
irq_set_check(const struct vfio_irq_set *set, int bytes)
{
	const uint32_t known = VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK;
	unsigned max;

	if (set->index >= VFIO_PCI_NUM_IRQS || (set->flags & ~known) != 0 || bytes < 0)
		return -EINVAL;
	max = irq_count(set->index);
	if (set->count >= UINT32_MAX - set->start || set->start >= max ||
	    set->start + set->count > max)
		return -EINVAL;
	return set->argsz - offsetof(struct vfio_irq_set, data) < set->count * (unsigned)bytes
		       ? -EINVAL : 0;
}

static int
irq_set_run(struct abi_vfio_device *d, const struct vfio_irq_set *set, const void *data)
{
	/* Not supported: masking of MSI-X vectors, INTx, MSI. */
	if ((set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER)
		return -ENOTTY;
	switch (set->index) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		return msix_trigger(d, set, data);
	case VFIO_PCI_ERR_IRQ_INDEX:
		return single_trigger(&d->err_fd, set, data);
	case VFIO_PCI_REQ_IRQ_INDEX:
		return single_trigger(&d->req_fd, set, data);
	default:
		return -ENOTTY;
	}
}

static int
set_irqs(struct abi_vfio_device *d, const void *arg)
{
	const size_t min = offsetof(struct vfio_irq_set, data);
	int32_t data[EMU_PCI_MSIX_VECTORS] = {0};
	struct vfio_irq_set set;
	int bytes, ret = abi_vfio_in(&set, arg, min);

	if (ret != 0)
		return abi_vfio_refuse(d->dev, ret, "VFIO_DEVICE_SET_IRQS", "argsz");
	bytes = irq_data_bytes(set.flags);
	ret = irq_set_check(&set, bytes);
	if (ret == 0 && bytes > 0)
		ret = abi_copy_from(data, (uintptr_t)arg + min, set.count * (unsigned)bytes);
	if (ret == 0)
		ret = irq_set_run(d, &set, data);
	if (ret != 0)
		return abi_vfio_refuse(d->dev, ret, "VFIO_DEVICE_SET_IRQS",
				       "index %u, flags 0x%x, vectors %u+%u", set.index, set.flags,
				       set.start, set.count);
	return 0;
}

int
abi_vfio_device_ioctl(struct abi_vfio_device *d, unsigned long request, void *arg)
{
	if (d->ctx == NULL)
		return -EIO;
	switch (request) {
	case VFIO_DEVICE_GET_INFO:
		return get_info(d, arg);
	case VFIO_DEVICE_GET_REGION_INFO:
		return get_region_info(d, arg);
	case VFIO_DEVICE_GET_IRQ_INFO:
		return get_irq_info(d, arg);
	case VFIO_DEVICE_SET_IRQS:
		return set_irqs(d, arg);
	case VFIO_DEVICE_RESET:
		/*
		 * VFIO_DEVICE_FLAGS_RESET is not set. No violation: DPDK's bus calls it all the same
		 * (bus/pci/linux/pci_vfio.c, pci_rte_vfio_setup_device()).
		 */
		emu_trace_note(d->dev, "VFIO_DEVICE_RESET: not modelled -> EINVAL");
		return -EINVAL;
	default:
		return abi_vfio_refuse(d->dev, -ENOTTY, "ioctl", "0x%lx of a device", request);
	}
}
