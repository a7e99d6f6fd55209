/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * IOMMU of a VFIO container: translation of IOVAs to memory of the process.
 *
 * A device in VFIO mode uses IOVAs only, and cannot access what is not mapped. All functions need
 * the machine's lock.
 */
#ifndef EMU_IOMMU_H
#define EMU_IOMMU_H

#include "emu_dev.h"

/* Rights of a mapping; same values as VFIO_DMA_MAP_FLAG_READ and _WRITE. */
#define EMU_IOMMU_READ 1u  /**< The device may read. */
#define EMU_IOMMU_WRITE 2u /**< The device may write. */
/** The range reserved for interrupts on x86 (intel_iommu_get_resv_regions()), begin and end. */
#define EMU_IOMMU_MSI_FIRST 0xfee00000ull
#define EMU_IOMMU_MSI_END 0xfef00000ull
/** First address that cannot be mapped: 48 bits, as with four levels of tables. */
#define EMU_IOMMU_END (1ull << 48)
/** Mappings that a container may hold: the kernel's default. */
#define EMU_IOMMU_MAX_MAPS 65535u

struct emu_iommu;

/** An empty address space; dev is named in the audit. NULL: no memory. */
struct emu_iommu *emu_iommu_new(struct emu_dev *dev);
/** NULL is allowed. */
void emu_iommu_free(struct emu_iommu *iommu);
/** Observer: called before an unmapping (mapped false) and after a mapping (mapped true). */
typedef void (*emu_iommu_cb)(void *arg, uint64_t iova, const void *va, uint64_t len, bool mapped);
/** Sets the only observer; NULL: none. */
void emu_iommu_watch(struct emu_iommu *iommu, emu_iommu_cb cb, void *arg);
/**
 * Maps [iova, iova + len) to process memory from va on; all three are multiples of 4096.
 * @param rw EMU_IOMMU_READ | EMU_IOMMU_WRITE
 * @return 0; -EEXIST: overlaps a mapping; -EINVAL: not aligned, empty, wraps around, no right, or
 *   an address that cannot be mapped; -EFAULT: no such memory in the process; -ENOSPC: too many
 *   mappings; -ENOMEM.
 */
int emu_iommu_map(struct emu_iommu *iommu, uint64_t iova, void *va, uint64_t len, unsigned rw);
/**
 * Removes every mapping inside [iova, iova + len).
 * @param unmapped bytes removed, 0 if nothing was mapped there; may be NULL.
 * @return 0; -EINVAL: not aligned, empty, wraps around, or it would cut a mapping in two (then
 *   nothing is removed).
 */
int emu_iommu_unmap(struct emu_iommu *iommu, uint64_t iova, uint64_t len, uint64_t *unmapped);
/**
 * Memory at [iova, iova + len), valid until the lock is released or a mapping is removed.
 * @return NULL if a part is not mapped, lacks the right or is not contiguous in the process; this
 *   is a violation.
 */
void *emu_iommu_at(struct emu_iommu *iommu, uint64_t iova, uint64_t len, bool write);
/** Bytes from iova on that are contiguous in the process and have the right; 0: not mapped. */
uint64_t emu_iommu_span(struct emu_iommu *iommu, uint64_t iova, bool write);
/** The device of this address space. */
struct emu_dev *emu_iommu_dev(const struct emu_iommu *iommu);
/** Finds the mapping of an address of the process. False: none. */
bool emu_iommu_of(const struct emu_iommu *iommu, uint64_t addr, uint64_t *start, uint64_t *len);
/** Mappings held. */
unsigned emu_iommu_count(const struct emu_iommu *iommu);

#endif /* EMU_IOMMU_H */
