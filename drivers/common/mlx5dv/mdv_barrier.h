/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Ordering towards the device, and two barriers that DPDK does not have. Reviewed for arm64 against rdma-core
 * (util/udma_barrier.h), DPDK (lib/eal/arm/include/rte_atomic_64.h) and its net/mlx5 (mlx5_doorbell_ring()):
 *
 *     order of                                  here                        arm64              rdma-core
 *     owner bit of a CQE or EQE, its fields     rte_io_rmb()                dmb oshld          dmb oshld
 *     WQEs, doorbell record                     rte_io_wmb()                dmb oshst          dmb oshst
 *     loads from CQEs, doorbell record          release fence, rte_io_wmb() dmb ish, dmb oshst nothing
 *     loads from EQEs, doorbell                 rte_io_mb()                 dmb osh            dmb oshst
 *     doorbell record, non-cached register      rte_io_wmb()                dmb oshst          dsb st
 *     doorbell record, register that may be WC  rte_wmb(), as net/mlx5      dmb oshst          dsb st
 *     register that may be WC, what follows     mdv_wc_flush()              dsb st             dsb st
 *
 * On x86 rte_io_wmb() is no instruction: stores to write-back memory and then to a non-cached register stay in order
 * (Intel SDM, volume 3, "Memory Ordering"), on which writel() of Linux relies.
 *
 * Assumed: the device is coherent with the memory of the rings, which Linux maps Inner Shareable, so that `dmb ish`
 * orders loads for it too; rdma-core and net/mlx5 rely on less.
 */
#ifndef MDV_BARRIER_H
#define MDV_BARRIER_H

#include <stdint.h>

#include <rte_atomic.h>
#include <rte_cycles.h>

/**
 * After a store to a register that may be write-combining: makes it leave the processor now. On arm64 rte_wmb()
 * orders only, and the store could stay in a merge buffer; `dsb st` waits for it, as in rdma-core.
 */
static inline void
mdv_wc_flush(void)
{
#ifdef RTE_ARCH_ARM64
	__asm__ volatile("dsb st" : : : "memory");
#else
	rte_wmb();
#endif
}

/**
 * The TSC, read after all earlier loads have completed and before later ones: to compare it with registers of the
 * device. On arm64 the counter is a system register, which data barriers do not order: `isb` does, once `dsb` has
 * waited for the loads (Arm ARM, CNTVCT_EL0).
 */
static inline uint64_t
mdv_rdtsc_ordered(void)
{
	uint64_t tsc;

#ifdef RTE_ARCH_ARM64
	__asm__ volatile("dsb ld\n\tisb" : : : "memory");
	tsc = rte_rdtsc();
	__asm__ volatile("isb" : : : "memory");
#else
	rte_rmb();
	tsc = rte_rdtsc();
	rte_rmb();
#endif
	return tsc;
}

#endif /* MDV_BARRIER_H */
