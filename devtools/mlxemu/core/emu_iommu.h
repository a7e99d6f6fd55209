/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * IOMMU of a VFIO container: which addresses of the device's bus are which memory of the process.
 *
 * A device that stands behind VFIO gives and takes IOVAs only; what is not mapped it cannot reach.
 * All functions need the machine's lock.
 */
#ifndef EMU_IOMMU_H
#define EMU_IOMMU_H

#include "emu_dev.h"

/* Rights of a mapping; same values as VFIO_DMA_MAP_FLAG_READ and _WRITE. */
#define EMU_IOMMU_READ 1u  /**< The device may read. */
#define EMU_IOMMU_WRITE 2u /**< The device may write. */
/** First address of the range that interrupts take on x86, and the first behind it. */
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
/** What looks on: mapped says which way it goes; before an unmapping, behind a mapping. */
typedef void (*emu_iommu_cb)(void *arg, uint64_t iova, const void *va, uint64_t len, bool mapped);
/** One at a time; NULL: nobody. */
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
 * Takes away every mapping inside [iova, iova + len).
 * @param unmapped bytes taken away, 0 when nothing was mapped there; may be NULL.
 * @return 0; -EINVAL: not aligned, empty, wraps around, or it would cut a mapping in two (then
 *   nothing was taken away).
 */
int emu_iommu_unmap(struct emu_iommu *iommu, uint64_t iova, uint64_t len, uint64_t *unmapped);
/**
 * Memory at [iova, iova + len), valid until the lock is dropped or the generation moves.
 * @return NULL when it is not mapped whole, lacks the right or is not contiguous in the process;
 *   this was noted in the audit then.
 */
void *emu_iommu_at(struct emu_iommu *iommu, uint64_t iova, uint64_t len, bool write);
/** Bytes from iova on that are contiguous in the process and have the right; 0: not mapped. */
uint64_t emu_iommu_span(struct emu_iommu *iommu, uint64_t iova, bool write);
/** Counts up whenever a mapping is taken away: what emu_iommu_at() gave is to be asked for again. */
uint32_t emu_iommu_generation(const struct emu_iommu *iommu);
/** The device behind it. */
struct emu_dev *emu_iommu_dev(const struct emu_iommu *iommu);
/** The mapping to which an address of the process belongs. False: none. */
bool emu_iommu_of(const struct emu_iommu *iommu, uint64_t addr, uint64_t *start, uint64_t *len);
/** Mappings held. */
unsigned emu_iommu_count(const struct emu_iommu *iommu);

#endif /* EMU_IOMMU_H */
