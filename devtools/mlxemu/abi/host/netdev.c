/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Socket ioctls on the network interfaces of the ports. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "abi/abi.h"
#include "sysfs.h"

/* Prefix of all emulated names: other names are rejected without a search. */
static bool
abi_netdev_maybe(const char *name)
{
	return abi_inside == 0 && name != NULL && strncmp(name, "mlxemu", 6) == 0 &&
	       abi_run_dir() != NULL;
}

/* Index of the port whose interface has this name; -1: none. */
static int
abi_netdev_find(const struct emu_machine *m, const char *name)
{
	unsigned i;

	for (i = 0; i < m->ports; i++)
		if ((m->dev[i].fronts & EMU_FRONT_VERBS) != 0 &&
		    strncmp(m->dev[i].netdev_name, name, IFNAMSIZ) == 0)
			return (int)i;
	return -1;
}

/* Names are set before any thread starts: no lock is needed to compare them. */
unsigned
abi_netdev_index(const char *name)
{
	struct emu_machine *m;
	int i;

	if (!abi_netdev_maybe(name))
		return 0;
	m = abi_machine();
	i = m != NULL ? abi_netdev_find(m, name) : -1;
	return i >= 0 ? ABI_IFINDEX_BASE + (unsigned)i : 0;
}

const char *
abi_netdev_name(unsigned index)
{
	struct emu_machine *m;

	if (index < ABI_IFINDEX_BASE || index >= ABI_IFINDEX_BASE + EMU_MAX_PORTS ||
	    abi_inside != 0 || abi_run_dir() == NULL)
		return NULL;
	m = abi_machine();
	if (m == NULL || index - ABI_IFINDEX_BASE >= m->ports ||
	    (m->dev[index - ABI_IFINDEX_BASE].fronts & EMU_FRONT_VERBS) == 0)
		return NULL;
	return m->dev[index - ABI_IFINDEX_BASE].netdev_name;
}

static short
abi_netdev_flags(const struct emu_dev *dev)
{
	short flags = IFF_BROADCAST | IFF_MULTICAST;

	if (dev->admin_up)
		flags |= IFF_UP;
	if (dev->admin_up && dev->link_up)
		flags |= IFF_RUNNING;
	if (dev->vport.promisc_all)
		flags |= IFF_PROMISC;
	if (dev->vport.promisc_mc)
		flags |= IFF_ALLMULTI;
	return flags;
}

static int
abi_netdev_set_flags(struct emu_dev *dev, short flags)
{
	emu_port_set_promisc(dev, (flags & IFF_PROMISC) != 0, (flags & IFF_ALLMULTI) != 0);
	emu_port_set_admin(dev, (flags & IFF_UP) != 0);
	return 0;
}

static int
abi_ethtool_drvinfo(const struct emu_dev *dev, void *arg)
{
	const struct emu_profile *p = dev->profile;
	struct ethtool_drvinfo *info = arg;
	const uint32_t cmd = info->cmd;

	memset(info, 0, sizeof(*info));
	info->cmd = cmd;
	snprintf(info->driver, sizeof(info->driver), p->mlx4 ? "mlx4_en" : "mlx5_core");
	snprintf(info->version, sizeof(info->version), "emulated");
	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u.%u", p->fw_major, p->fw_minor,
		 p->fw_subminor);
	snprintf(info->bus_info, sizeof(info->bus_info), "%s", dev->name);
	info->n_stats = abi_ethtool_stats_count(dev);
	return 0;
}

static int
abi_ethtool_gset(const struct emu_dev *dev, void *arg)
{
	struct ethtool_cmd *c = arg;
	const uint32_t cmd = c->cmd;

	memset(c, 0, sizeof(*c));
	c->cmd = cmd;
	ethtool_cmd_speed_set(c, dev->link_up ? dev->profile->speed_mbps : (uint32_t)SPEED_UNKNOWN);
	c->duplex = dev->link_up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	c->port = PORT_DA;
	c->supported = c->advertising = SUPPORTED_Pause;
	return 0;
}

/*
 * Reports speed, duplex, and of the link mode masks supported forward error correction. A request with another number
 * of words returns the negative number of words (linux/ethtool.h, struct ethtool_link_settings).
 */
static int
abi_ethtool_link_settings(const struct emu_dev *dev, void *arg)
{
	struct ethtool_link_settings *s = arg;
	const int8_t words = s->link_mode_masks_nwords;

	memset(s, 0, sizeof(*s));
	s->cmd = ETHTOOL_GLINKSETTINGS;
	s->link_mode_masks_nwords = words == 3 ? 3 : -3;
	if (words == 3) {
		memset(s->link_mode_masks, 0, 3 * 3 * sizeof(uint32_t));
		abi_ethtool_fec_supported(dev, s->link_mode_masks);
	}
	s->speed = dev->link_up ? dev->profile->speed_mbps : (uint32_t)SPEED_UNKNOWN;
	s->duplex = dev->link_up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	s->port = PORT_DA;
	s->autoneg = AUTONEG_ENABLE;
	return 0;
}

static int
abi_ethtool_pause(const struct emu_dev *dev, void *arg)
{
	struct ethtool_pauseparam *p = arg;

	p->autoneg = 0;
	p->rx_pause = dev->pause_rx;
	p->tx_pause = dev->pause_tx;
	return 0;
}

/* mlx5e_ethtool_set_pauseparam(): of physical functions, and without negotiation. */
static int
abi_ethtool_set_pause(struct emu_dev *dev, const void *arg)
{
	const struct ethtool_pauseparam *p = arg;

	if (dev->vf != 0)
		return -EOPNOTSUPP;
	if (p->autoneg != 0)
		return -EINVAL;
	dev->pause_rx = p->rx_pause != 0;
	dev->pause_tx = p->tx_pause != 0;
	dev->pfc_rx = dev->pause_rx ? 0 : dev->pfc_rx;
	dev->pfc_tx = dev->pause_tx ? 0 : dev->pfc_tx;
	emu_trace_note(dev, "%s: pause frames: rx %d tx %d", dev->netdev_name, dev->pause_rx, dev->pause_tx);
	return 0;
}

/* mlx5e_get_module_info(): mlx5_query_mcia() fails with EIO if the firmware reports no module. */
static int
abi_ethtool_module_info(const struct emu_dev *dev, void *arg)
{
	uint8_t image[EMU_MODULE_BYTES_MAX];
	unsigned bytes = emu_module_image(dev, image);
	struct ethtool_modinfo *info = arg;

	if (bytes == 0)
		return -EIO;
	info->type = bytes == ETH_MODULE_SFF_8636_MAX_LEN ? ETH_MODULE_SFF_8636 : ETH_MODULE_SFF_8472;
	info->eeprom_len = bytes;
	return 0;
}

/* net/ethtool/ioctl.c, ethtool_get_any_eeprom() */
static int
abi_ethtool_module_eeprom(const struct emu_dev *dev, void *arg)
{
	uint8_t image[EMU_MODULE_BYTES_MAX];
	unsigned bytes = emu_module_image(dev, image);
	struct ethtool_eeprom *e = arg;

	if (bytes == 0)
		return -EIO;
	if (e->len == 0 || e->offset > bytes || e->len > bytes - e->offset)
		return -EINVAL;
	memcpy(e->data, image + e->offset, e->len);
	return 0;
}

static int
abi_ethtool(struct emu_dev *dev, void *arg)
{
	struct ethtool_value *v = arg;

	if (arg == NULL)
		return -EFAULT;
	switch (v->cmd) {
	case ETHTOOL_GDRVINFO:
		return abi_ethtool_drvinfo(dev, arg);
	case ETHTOOL_GSET:
		return abi_ethtool_gset(dev, arg);
	case ETHTOOL_GLINKSETTINGS:
		return abi_ethtool_link_settings(dev, arg);
	case ETHTOOL_GSSET_INFO:
		return abi_ethtool_sset_info(dev, arg);
	case ETHTOOL_GSTRINGS:
		return abi_ethtool_strings(dev, arg);
	case ETHTOOL_GSTATS:
		return abi_ethtool_stats(dev, arg);
	case ETHTOOL_GPAUSEPARAM:
		return abi_ethtool_pause(dev, arg);
	case ETHTOOL_SPAUSEPARAM:
		return abi_ethtool_set_pause(dev, arg);
	case ETHTOOL_GFECPARAM:
		return abi_ethtool_fec(dev, arg);
	case ETHTOOL_SFECPARAM:
		return abi_ethtool_set_fec(dev, arg);
	case ETHTOOL_GMODULEINFO:
		return abi_ethtool_module_info(dev, arg);
	case ETHTOOL_GMODULEEEPROM:
		return abi_ethtool_module_eeprom(dev, arg);
	case ETHTOOL_GLINK:
		v->data = dev->link_up;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int
abi_netdev_get(struct emu_dev *dev, unsigned long request, struct ifreq *ifr)
{
	switch (request) {
	case SIOCGIFINDEX:
		ifr->ifr_ifindex = ABI_IFINDEX_BASE + dev->index;
		return 0;
	case SIOCGIFMTU:
		ifr->ifr_mtu = dev->vport.mtu;
		return 0;
	case SIOCGIFFLAGS:
		ifr->ifr_flags = abi_netdev_flags(dev);
		return 0;
	case SIOCGIFTXQLEN:
		ifr->ifr_qlen = 1000;
		return 0;
	case SIOCGIFHWADDR:
		memset(&ifr->ifr_hwaddr, 0, sizeof(ifr->ifr_hwaddr));
		ifr->ifr_hwaddr.sa_family = ARPHRD_ETHER;
		memcpy(ifr->ifr_hwaddr.sa_data, dev->vport.mac, 6);
		return 0;
	case SIOCETHTOOL:
		return abi_ethtool(dev, ifr->ifr_data);
	default:
		return -EOPNOTSUPP;
	}
}

static int
abi_netdev_set(struct emu_dev *dev, unsigned long request, const struct ifreq *ifr)
{
	const uint8_t *mac = (const uint8_t *)ifr->ifr_hwaddr.sa_data;

	switch (request) {
	case SIOCSIFMTU:
		return ifr->ifr_mtu > 0 ? emu_port_set_mtu(dev, ifr->ifr_mtu) : -EINVAL;
	case SIOCSIFFLAGS:
		return abi_netdev_set_flags(dev, ifr->ifr_flags);
	case SIOCSIFHWADDR:
		if (ifr->ifr_hwaddr.sa_family != ARPHRD_ETHER)
			return -EINVAL;
		return emu_port_set_mac(dev, mac);
	case SIOCADDMULTI:
		return emu_port_mcast(dev, mac, true);
	case SIOCDELMULTI:
		return emu_port_mcast(dev, mac, false);
	default:
		return -EOPNOTSUPP;
	}
}

static bool
abi_netdev_is_set(unsigned long request)
{
	return request == SIOCSIFMTU || request == SIOCSIFFLAGS || request == SIOCSIFHWADDR ||
	       request == SIOCADDMULTI || request == SIOCDELMULTI;
}

static bool
abi_netdev_is_get(unsigned long request)
{
	return request == SIOCGIFINDEX || request == SIOCGIFMTU || request == SIOCGIFFLAGS ||
	       request == SIOCGIFHWADDR || request == SIOCGIFTXQLEN || request == SIOCETHTOOL;
}

static int
abi_netdev_request(struct emu_machine *m, int port, unsigned long request, struct ifreq *ifr)
{
	struct emu_dev *dev = &m->dev[port];
	bool set = abi_netdev_is_set(request);
	int ret;

	/* The interface was removed with its device. */
	if (dev->removed)
		return -ENODEV;
	(void)abi_enter();
	ret = set ? abi_netdev_set(dev, request, ifr) : abi_netdev_get(dev, request, ifr);
	if (set) {
		emu_trace_note(dev, "%s: request 0x%lx -> %d", dev->netdev_name, request, ret);
		/* Multicast lists are not in sysfs. */
		if (request != SIOCADDMULTI && request != SIOCDELMULTI)
			emu_sysfs_refresh(dev, abi_run_dir());
	}
	abi_leave();
	return ret;
}

int
abi_netdev_ioctl(unsigned long request, void *arg, int *ret)
{
	struct ifreq *ifr = arg;
	struct emu_machine *m;
	const char *name;
	int port;

	if (arg == NULL)
		return 0;
	if (request == SIOCGIFNAME) {
		name = abi_netdev_name(ifr->ifr_ifindex);
		if (name == NULL)
			return 0;
		snprintf(ifr->ifr_name, IFNAMSIZ, "%s", name);
		*ret = 0;
		return 1;
	}
	if ((!abi_netdev_is_get(request) && !abi_netdev_is_set(request)) ||
	    !abi_netdev_maybe(ifr->ifr_name))
		return 0;
	m = abi_machine();
	port = m != NULL ? abi_netdev_find(m, ifr->ifr_name) : -1;
	if (port < 0)
		return 0;
	*ret = abi_netdev_request(m, port, request, ifr);
	return 1;
}
