/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The bench with contexts that came through VFIO. */
#ifndef DP_RIG_VFIO_H
#define DP_RIG_VFIO_H

#include "rig.h"

#define RIG_VFIO_IOVA 0x40000000ull /* of the first port's arena; each port has its own */

#define RIG_VFIO_LOG_EQ 6u

/** Starts the function, maps the arena, makes umem, UAR and EQ. Its context is open. */
void rig_vfio_open(struct rig_port *p);
/** A key over the arena by its own table; addresses are those of the process. access as for MRs. */
uint32_t rig_vfio_key(struct rig_port *p, uint32_t pd, uint32_t access);
void rig_mtt(struct prm_mtt *mtt, uint64_t iova);
/** Rings the EQ's doorbell with the consumer index. */
void rig_eq_ring(struct rig_port *p, bool arm);
/** The next event, consumed; NULL when there is none. */
const struct prm_eqe *rig_eqe(struct rig_port *p);

#endif /* DP_RIG_VFIO_H */
