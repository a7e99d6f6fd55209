/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * VFIO of an emulated device: containers, groups, devices.
 *
 * vfio.c implements containers and groups, vfio_iommu.c the address space, vfio_device.c devices with
 * their interrupts, vfio_region.c access to regions. vfio_cmd.c is BAR 0 in the device:
 * initialization segment and command queue. vfio_trap.c traps stores of the program to BAR 0, which
 * x86_store.c decodes. All structures are protected by the machine's lock.
 */
#ifndef ABI_VFIO_H
#define ABI_VFIO_H

#include "abi/abi.h"
#include "core/emu_iommu.h"
#include "core/emu_pci.h"

#define ABI_VFIO_BAR_BYTES EMU_PCI_BAR_BYTES
/** Offsets of regions as in the kernel (VFIO_PCI_OFFSET_SHIFT). */
#define ABI_VFIO_REGION_SHIFT 40
#define ABI_VFIO_SLOTS 32u /**< Entries of the command queue. */

struct abi_vfio_container {
	struct abi_fdobj fo;
	struct emu_dev *dev;	 /**< Device of the first group, named in the audit. NULL: none. */
	struct emu_iommu *iommu; /**< NULL until VFIO_SET_IOMMU. */
	unsigned groups;	 /**< Attached. */
	TAILQ_ENTRY(abi_vfio_container) next;
};

struct abi_vfio_group {
	struct abi_fdobj fo;
	struct emu_dev *dev;
	struct abi_vfio_container *container; /**< A reference, or NULL. */
	int lock; /**< Of abi_driver_lock(). */
};

/** A command whose reply is delayed by a fault rule. */
struct abi_vfio_late {
	uint8_t *out; /**< NULL: none. */
	size_t out_len;
	uint8_t delivery;
	uint64_t due_ns;
};

struct abi_vfio_device {
	struct abi_fdobj fo;
	struct emu_dev *dev;
	struct abi_vfio_group *group; /**< A reference. */
	struct emu_ctx *ctx;	      /**< NULL: closed. */
	int file;		      /**< Descriptor of BAR 0 in the model; the program has a duplicate. */
	uint8_t *bar;
	uint64_t cmdq; /**< IOVA of the command queue; 0 until both halves were written. */
	uint32_t doorbells; /**< Slots with a pending doorbell. */
	uint32_t health; /**< Counter. */
	struct abi_vfio_late late[ABI_VFIO_SLOTS];
	bool msix; /**< Enabled, for msix_max vectors. */
	unsigned msix_max;
	int irq_fds[EMU_PCI_MSIX_VECTORS]; /**< The model's copies; -1: none. */
	int err_fd, req_fd;
};

/** The open device of a port, or NULL. */
struct abi_vfio_device *abi_vfio_of(const struct emu_dev *dev);
/** Sets or clears the open device of a port. */
void abi_vfio_device_set(struct emu_dev *dev, struct abi_vfio_device *d);
/** Reports a refused call: program errors in the audit, others in the trace. Returns err. */
int abi_vfio_refuse(struct emu_dev *dev, int err, const char *call, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/** Copies at most len of argsz-prefixed struct; -EFAULT, or -EINVAL when argsz is below min. */
int abi_vfio_in(void *out, const void *arg, size_t min);

/** VFIO_IOMMU_*; lock held. 0 or -errno; -ENOTTY: none of these. */
int abi_vfio_iommu_ioctl(struct abi_vfio_container *c, unsigned long request, void *arg);
/** VFIO_DEVICE_*; lock held. */
int abi_vfio_device_ioctl(struct abi_vfio_device *d, unsigned long request, void *arg);
/** Opens the device of a group: BAR, context. 0 or -errno; *fd is the descriptor for the program. */
int abi_vfio_device_open(struct abi_vfio_group *g, int *fd);
/** Closes it; exiting: at process exit. */
void abi_vfio_device_shut(struct abi_vfio_device *d, bool exiting);
/** Releases the interrupts. */
void abi_vfio_irqs_close(struct abi_vfio_device *d);
/** The device is being removed: signals the eventfds of the error and request interrupts. */
void abi_vfio_irqs_going(struct abi_vfio_device *d);

/* ---- BAR 0 (vfio_cmd.c) ---- */

/** Sets the content after reset. */
void abi_vfio_bar_reset(struct abi_vfio_device *d);
/** Failed firmware: the health buffer has the syndrome and stays as it is. */
void abi_vfio_bar_failing(struct abi_vfio_device *d);
/** Removed: reads return ones, unless the firmware failed. */
void abi_vfio_bar_removed(struct abi_vfio_device *d);
/** A store of the program at an offset of BAR 0; lock held. */
void abi_vfio_bar_store(struct abi_vfio_device *d, uint64_t off, const uint8_t *bytes,
			unsigned len);
/**
 * Executes commands with a pending doorbell and delivers delayed replies that are due; tick:
 * the health counter increments. Reduces *due_ns to the time of the next delayed reply. Lock held.
 */
void abi_vfio_device_run(struct abi_vfio_device *d, bool tick, uint64_t *due_ns);
/** Starts the thread that does so, at the first open. 0 or -errno. */
int abi_vfio_thread_start(void);

/* ---- stores (vfio_trap.c; x86_store.c or arm64_access.c) ---- */

/** The program mapped [addr, addr + len) at an offset of BAR 0. */
void abi_vfio_mapped(struct abi_vfio_device *d, uint64_t addr, uint64_t len, uint64_t off);
/** Mappings of BAR 0 by the program. */
unsigned abi_vfio_mappings(const struct emu_dev *dev);
/** The device was removed: its mappings have no effect any more. */
void abi_vfio_trap_forget(const struct emu_dev *dev);
/** A store instruction. */
struct abi_store {
	unsigned len;	   /**< Bytes of the instruction. */
	unsigned bytes;	   /**< Bytes stored, at most 64. */
	uint8_t data[64];
	int swap; /**< xchg: gregs index of the register that gets the old value; -1: none. */
};
/** Decodes the instruction at the program counter of context. False: not supported. */
bool abi_store_decode(const void *context, struct abi_store *out);
/** Lets context continue behind the instruction. before: what xchg loads. */
void abi_store_end(void *context, const struct abi_store *s, uint64_t before);

#endif /* ABI_VFIO_H */
