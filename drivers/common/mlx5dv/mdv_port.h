/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Settings of a port and its link, by mode of access.
 */
#ifndef MDV_PORT_H
#define MDV_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_dev;

/** State of the link. */
struct mdv_link {
	bool up;
	/** 0: unknown. Without interface 2500 for a link of 1 Gb/s: the slowest lane that verbs has. */
	uint32_t speed_mbps;
};

/** Flow control by pause frames (IEEE 802.3, annex 31B). */
struct mdv_pause {
	bool rx;	/**< The port obeys the frames of its peer, */
	bool tx;	/**< and sends some when its buffers fill. */
};

/** Forward error correction, in bits as those of ethdev (RTE_ETH_FEC_MODE_TO_CAPA()). */
#define MDV_FEC_OFF 1u
#define MDV_FEC_AUTO 2u
#define MDV_FEC_BASER 4u
#define MDV_FEC_RS 8u
#define MDV_FEC_LLRS 16u
struct mdv_fec_cap {
	uint32_t speed_mbps; /**< 0: the link is down, and the kernel reports the modes of all speeds together. */
	uint32_t modes;
};
#define MDV_FEC_SPEEDS 9 /**< Entries at most. */

/** Memory of a module, in the order of `ethtool -m`. */
struct mdv_module {
	uint32_t type;	/**< ETH_MODULE_* of linux/ethtool.h, which are DPDK's RTE_ETH_MODULE_*. */
	uint32_t bytes;
};

/**
 * Operations of the port: dev->port->mtu_get(dev, &mtu). In verbs mode the settings are ioctls on the kernel
 * interface (netdevice(7)) and return its error, or -ENOTSUP without an interface in this network namespace.
 * In VFIO mode they are firmware commands.
 */
struct mdv_port_ops {
	/** Reads the state (ibv_query_port(3)) and the speed (ETHTOOL_GLINKSETTINGS, else ibv_query_port()). */
	int (*link)(struct mdv_dev *dev, struct mdv_link *link);
	/**
	 * Reads IFF_RUNNING of the kernel interface, which takes no firmware command. 0; -ENOTSUP no interface
	 * here; -ENODEV the interface was deleted; other -errno. Logs nothing.
	 */
	int (*running)(struct mdv_dev *dev, bool *running);
	/**
	 * Reads the MAC address: of the interface, which is the one that the vport accepts; without interface
	 * the permanent address of the vport (QUERY_NIC_VPORT_CONTEXT).
	 */
	int (*mac_get)(struct mdv_dev *dev, uint8_t mac[6]);
	int (*mac_set)(struct mdv_dev *dev, const uint8_t mac[6]);
	int (*mtu_get)(struct mdv_dev *dev, uint16_t *mtu);
	int (*mtu_set)(struct mdv_dev *dev, uint16_t mtu);
	int (*promisc_set)(struct mdv_dev *dev, bool on);
	int (*allmulti_set)(struct mdv_dev *dev, bool on);
	int (*mcast)(struct mdv_dev *dev, const uint8_t mac[6], bool add); /**< Joins or leaves a group. */
	/**
	 * Adds or removes a further unicast address of the interface (RTM_NEWNEIGH and RTM_DELNEIGH with NTF_SELF,
	 * as `bridge fdb`), or of the vport. 0, also if it was so before; -errno, logs nothing: the caller can
	 * receive the address by promiscuous mode.
	 */
	int (*ucast)(struct mdv_dev *dev, const uint8_t mac[6], bool add);
	int (*up_get)(struct mdv_dev *dev, bool *up);
	int (*up_set)(struct mdv_dev *dev, bool up);
	/** Pause frames: ETHTOOL_GPAUSEPARAM and ETHTOOL_SPAUSEPARAM, or register PFCC. */
	int (*pause_get)(struct mdv_dev *dev, struct mdv_pause *pause);
	int (*pause_set)(struct mdv_dev *dev, const struct mdv_pause *pause);
	/**
	 * Pause frames of one priority (register PFCC); those of the port end. NULL: the kernel's DCB sets them.
	 * @param on
	 *   The direction has the priority's bit, or not.
	 */
	int (*pfc_set)(struct mdv_dev *dev, unsigned int priority, const struct mdv_pause *on);
	/**
	 * The PHY returns what the port sends, and receives nothing from its cable (register PPLR); sets the port down
	 * and up. NULL: the kernel owns the link. -ENOTSUP: the device or a virtual function cannot do it.
	 */
	int (*loopback_set)(struct mdv_dev *dev, bool on);
	/**
	 * Forward error correction by speed: register PPLM; ETHTOOL_GLINKSETTINGS, in one entry for the link's speed.
	 * Not of virtual functions.
	 *
	 * @return
	 *   Number of entries; -ENOTSUP: the card has none to choose from; other -errno.
	 */
	int (*fec_caps)(struct mdv_dev *dev, struct mdv_fec_cap caps[MDV_FEC_SPEEDS]);
	/** The mode of a link that is up, else what was set: PPLM, or ETHTOOL_GFECPARAM. */
	int (*fec_get)(struct mdv_dev *dev, uint32_t *mode);
	/**
	 * Sets one mode, at all speeds that have it, and automatic selection at the others; sets the port down and up.
	 * PPLM, or ETHTOOL_SFECPARAM.
	 */
	int (*fec_set)(struct mdv_dev *dev, uint32_t mode);
	/** The module: ETHTOOL_GMODULEINFO and ETHTOOL_GMODULEEEPROM, or register MCIA. -EIO: there is none. */
	int (*module_info)(struct mdv_dev *dev, struct mdv_module *module);
	int (*module_read)(struct mdv_dev *dev, uint32_t offset, uint32_t bytes, uint8_t *data);
};

#endif /* MDV_PORT_H */
