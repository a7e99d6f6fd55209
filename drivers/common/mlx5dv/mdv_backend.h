/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What differs from one door to a device to the other, and the two tables of it. */
#ifndef MDV_BACKEND_H
#define MDV_BACKEND_H

#include "mdv.h"
#include "mdv_vector.h"

/** The port's settings; each as the function of mdv.h that it stands behind. */
struct mdv_port_ops {
	int (*link)(struct mdv_dev *dev, struct mdv_link *link);
	int (*running)(struct mdv_dev *dev, bool *running);
	int (*mac_get)(struct mdv_dev *dev, uint8_t mac[6]);
	int (*mac_set)(struct mdv_dev *dev, const uint8_t mac[6]);
	int (*mtu_get)(struct mdv_dev *dev, uint16_t *mtu);
	int (*mtu_set)(struct mdv_dev *dev, uint16_t mtu);
	int (*promisc_set)(struct mdv_dev *dev, bool on);
	int (*allmulti_set)(struct mdv_dev *dev, bool on);
	int (*mcast)(struct mdv_dev *dev, const uint8_t mac[6], bool add);
	int (*up_get)(struct mdv_dev *dev, bool *up);
	int (*up_set)(struct mdv_dev *dev, bool up);
};

struct mdv_backend {
	const char *name;
	/** ACCESS_REGISTER, or what a user of the kernel's driver has of it. */
	uint16_t register_opcode;
	/**
	 * The process has the function to itself: no kernel driver runs commands beside it, and none
	 * answers in place of a device that went. Then the library waits for a completion for ever,
	 * and a signal that ends its wait leaves the command with the device.
	 */
	bool alone;
	/** Finds and opens the device: dev->ibv, ibdev_name. 0 or -errno, logged. */
	int (*open)(struct mdv_dev *dev);
	void (*close)(struct mdv_dev *dev);
	/** caps.pci_device_id, caps.vport_num, fw_version. 0 or -errno, logged. */
	int (*identify)(struct mdv_dev *dev);
	/** Looks for the port's interface, or puts the port in order. 0 or -errno, logged. */
	int (*port_up)(struct mdv_dev *dev);
	void (*port_down)(struct mdv_dev *dev);
	/** There is a UAR by now. 0 or -errno, logged. */
	int (*events_up)(struct mdv_dev *dev);
	void (*events_down)(struct mdv_dev *dev);
	int (*event_fd)(const struct mdv_dev *dev);
	uint32_t (*events_take)(struct mdv_dev *dev);
	/** A question that every device answers. 0, or a positive errno: EIO, ENODEV it went. */
	int (*health_check)(struct mdv_dev *dev);
	/** Is it certain that a device which is gone writes nothing any more? */
	bool (*quiesced)(const struct mdv_dev *dev);
	/** The device's counter. 0 or a positive errno; logs nothing. */
	int (*counter)(struct mdv_dev *dev, uint64_t *cycles);
	/** Registers from internal_timer_h on, NULL: out of reach. */
	const volatile void *(*core_clock)(struct mdv_dev *dev);
	/** Fills in fd and eqn. 0 or -errno, logged. */
	int (*vector_up)(struct mdv_vector *vector);
	void (*vector_down)(struct mdv_vector *vector);
	/** 0 or -errno, logged. */
	int (*vector_attach)(struct mdv_vector *vector, struct mdv_cq *cq);
	/** Takes what raises the descriptor, and lets it be raised again. Was there any? */
	bool (*vector_drain)(struct mdv_vector *vector);
	const struct mdv_port_ops *port;
};

extern const struct mdv_backend mdv_backend_verbs, mdv_backend_vfio;

/* ------------------------------------------------------------------ mdv_verbs*.c */

extern const struct mdv_port_ops mdv_verbs_port;
int mdv_verbs_port_up(struct mdv_dev *dev);
void mdv_verbs_port_down(struct mdv_dev *dev);
int mdv_verbs_events_up(struct mdv_dev *dev);
void mdv_verbs_events_down(struct mdv_dev *dev);
int mdv_verbs_event_fd(const struct mdv_dev *dev);
uint32_t mdv_verbs_events_take(struct mdv_dev *dev);
int mdv_verbs_health_check(struct mdv_dev *dev);
bool mdv_verbs_quiesced(const struct mdv_dev *dev);
int mdv_verbs_vector_up(struct mdv_vector *v);
void mdv_verbs_vector_down(struct mdv_vector *v);
int mdv_verbs_vector_attach(struct mdv_vector *v, struct mdv_cq *cq);
bool mdv_verbs_vector_drain(struct mdv_vector *v);

#endif /* MDV_BACKEND_H */
