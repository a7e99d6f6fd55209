/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Ownership of CQEs, doorbell records, and a 64-bit type that may alias.
 */
#ifndef MLXPMD_BURST_CQE_H
#define MLXPMD_BURST_CQE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>
#include <prm_base.h>
#include <prm_enums.h>
#include <prm_wqe.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_io.h>

/** 64 bits of memory that is accessed by another type elsewhere: ring entries, mbuf fields. */
typedef uint64_t mlxpmd_u64 __attribute__((__may_alias__));

/** The last 8 bytes of a CQE: sop_drop_qpn, wqe_counter, signature, op_own. */
#define MLXPMD_CQE_TAIL offsetof(struct mlx5_cqe64, sop_drop_qpn)
static_assert(MLXPMD_CQE_TAIL + sizeof(uint64_t) == sizeof(struct mlx5_cqe64), "CQE layout");

/* The tail as a host-order word: op_own 7:0, signature 15:8, wqe_counter 31:16, sop_drop_qpn 63:32. */
#define MLXPMD_TAIL_OWNER ((uint32_t)MLX5_CQE_OWNER_MASK)
#define MLXPMD_TAIL_PASS 0xff00u /**< Pass of the ring modulo 256, if compressed CQEs have the enhanced layout. */
#define MLXPMD_TAIL_PASS_SHIFT 8
#define MLXPMD_TAIL_FORMAT PRM_CQE64_OP_OWN_CQE_FORMAT_MASK /**< 0 in a CQE of its own (no mini-CQEs, no data). */
#define MLXPMD_TAIL_OPCODE PRM_CQE64_OP_OWN_OPCODE_MASK
#define MLXPMD_TAIL_OPCODE_SHIFT PRM_CQE64_OP_OWN_OPCODE_SHIFT
#define MLXPMD_TAIL_COUNTER_SHIFT 16

/** Loads the last 8 bytes of a CQE at once, so that owner bit, opcode and counter belong to the same CQE. */
static __rte_always_inline uint64_t
mlxpmd_cqe_tail(const void *cqe)
{
	const mlxpmd_u64 *tail = (const mlxpmd_u64 *)((const uint8_t *)cqe + MLXPMD_CQE_TAIL);

	return rte_be_to_cpu_64(__atomic_load_n(tail, __ATOMIC_RELAXED));
}

/**
 * What CQEs of a pass of the ring have. validity: MLXPMD_TAIL_OWNER, or MLXPMD_TAIL_PASS if compressed CQEs have the
 * enhanced layout.
 */
static __rte_always_inline uint32_t
mlxpmd_cqe_pass(uint32_t pass, uint32_t validity)
{
	return (pass << MLXPMD_TAIL_PASS_SHIFT | (pass & MLXPMD_TAIL_OWNER)) & validity;
}

/** Has the CQE another pass than `like`, which is the tail of a CQE, or mlxpmd_cqe_pass(); or is it INVALID? */
static __rte_always_inline bool
mlxpmd_cqe_unlike(uint64_t tail, uint32_t like, uint32_t validity)
{
	return (((uint32_t)tail ^ like) & validity) ||
	       ((uint32_t)tail & MLXPMD_TAIL_OPCODE) == (uint32_t)MLX5_CQE_INVALID << MLXPMD_TAIL_OPCODE_SHIFT;
}

/** Has the device not written the CQE in this pass of the ring yet? validity: as for mlxpmd_cqe_pass(). */
static __rte_always_inline bool
mlxpmd_cqe_absent(uint64_t tail, uint32_t pass, uint32_t validity)
{
	return mlxpmd_cqe_unlike(tail, mlxpmd_cqe_pass(pass, validity), validity);
}

static __rte_always_inline uint8_t
mlxpmd_cqe_opcode(uint64_t tail)
{
	return ((uint32_t)tail & MLXPMD_TAIL_OPCODE) >> MLXPMD_TAIL_OPCODE_SHIFT;
}

/**
 * Writes an index to a doorbell record. The device may overwrite CQEs and read WQEs up to that index: all loads
 * from CQEs and all stores to WQEs before this call are ordered before the store of the index.
 */
static __rte_always_inline void
mlxpmd_dbrec_write(volatile uint32_t *dbrec, uint32_t index)
{
	/*
	 * The fence orders earlier loads before the store, which the write barrier does not do on arm64;
	 * rte_io_wmb() orders earlier stores as the device sees them. Both are compiler barriers on x86.
	 * Review of all barriers: mdv_barrier.h.
	 */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	rte_io_wmb();
	*dbrec = rte_cpu_to_be_32(index);
}

#endif /* MLXPMD_BURST_CQE_H */
