/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Operations that differ between a verbs and a VFIO context. */
#ifndef MDV_BACKEND_H
#define MDV_BACKEND_H

#include "mdv.h"
#include "mdv_vector.h"

struct mdv_backend {
	const char *name;
	/** ACCESS_REGISTER or, for users of mlx5_ib, ACCESS_REGISTER_USER. */
	uint16_t register_opcode;
	/**
	 * No kernel driver uses the function. libmlx5 then waits for the completion of a command
	 * without limit, also if the device was removed, and a signal that interrupts the wait
	 * leaves the command outstanding in the device (libmlx5, mlx5_vfio.c).
	 */
	bool exclusive;
	/** Finds and opens the device: dev->ibv, ibdev_name. 0 or -errno, logged. */
	int (*open)(struct mdv_dev *dev);
	void (*close)(struct mdv_dev *dev);
	/** caps.pci_device_id, caps.vport_num, fw_version. 0 or -errno, logged. */
	int (*identify)(struct mdv_dev *dev);
	/** Finds the interface of the port (verbs) or writes its MPFS entry (VFIO). 0 or -errno, logged. */
	int (*port_up)(struct mdv_dev *dev);
	void (*port_down)(struct mdv_dev *dev);
	/** Sets dev->event_fd; called after the UAR was allocated. 0 or -errno, logged. */
	int (*events_up)(struct mdv_dev *dev);
	void (*events_down)(struct mdv_dev *dev); /**< May be NULL. */
	uint32_t (*events_take)(struct mdv_dev *dev);
	/** 0; EIO or ENODEV: the device was removed or failed; other positive errno. */
	int (*health_check)(struct mdv_dev *dev);
	/** Returns whether a removed device certainly does no DMA any more. */
	bool (*quiesced)(const struct mdv_dev *dev);
	/** Reads the free-running counter. 0 or a positive errno; logs nothing. */
	int (*counter)(struct mdv_dev *dev, uint64_t *cycles);
	/** Mapped registers from internal_timer_h on; NULL: not mapped. */
	const volatile void *(*core_clock)(struct mdv_dev *dev);
	/** Sets fd and eqn. 0 or -errno, logged. */
	int (*vector_up)(struct mdv_vector *vector);
	void (*vector_down)(struct mdv_vector *vector);
	/** 0 or -errno, logged. NULL: the EQ in the CQ context is enough. */
	int (*vector_attach)(struct mdv_vector *vector, struct mdv_cq *cq);
	/** Consumes pending events and re-arms the descriptor. Returns whether there were any. NULL: none. */
	bool (*vector_drain)(struct mdv_vector *vector);
	const struct mdv_port_ops *port;
};

extern const struct mdv_backend mdv_backend_verbs, mdv_backend_vfio;

/* ------------------------------------------------------------------ mdv_verbs*.c */

extern const struct mdv_port_ops mdv_verbs_port;
int mdv_verbs_port_up(struct mdv_dev *dev);
void mdv_verbs_port_down(struct mdv_dev *dev);

#endif /* MDV_BACKEND_H */
