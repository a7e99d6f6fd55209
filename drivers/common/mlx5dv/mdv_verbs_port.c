/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs: the kernel interface of the port, its settings, link and statistics. */

#include <ctype.h>
#include <dirent.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include "mdv_private.h"

/** Largest number of statistics that is accepted, and space for new ones between two calls: assumed. */
#define MDV_ETHTOOL_STATS_MAX 16384u
#define MDV_ETHTOOL_STATS_SLACK 4096u
/** Largest link_mode_masks_nwords, a signed byte (linux/ethtool.h), for each of three masks. */
#define MDV_LINK_MODE_WORDS_MAX 128

/* ------------------------------------------------------------------ finding the interface */

/**
 * Interfaces of representors belong to the same PCI function, and have names as pf0vf1 in phys_port_name; that of the
 * uplink has p0 (Linux, mlx5/core/esw/devlink_port.c and net/devlink). 1: the uplink; 0: not; -errno.
 */
static int
is_uplink(const char *net_dir, const char *name)
{
	char path[512], port[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/phys_port_name", net_dir, name);
	file = fopen(path, "re");
	if (file == NULL)
		return errno == ENOENT ? 0 : -errno;
	if (fgets(port, sizeof(port), file) == NULL)
		port[0] = '\0';
	fclose(file);
	return port[0] == 'p' && isdigit((unsigned char)port[1]);
}

/** Compares dev_port, which counts from 0, with the only RDMA port. 1: equal; 0: not; -errno. */
static int
is_our_port(const struct mdv_dev *dev, const char *net_dir, const char *name)
{
	char path[512];
	long port;
	int ret;

	if (mdv_own(dev)->switchdev)
		return is_uplink(net_dir, name);
	snprintf(path, sizeof(path), "%s/%s/dev_port", net_dir, name);
	ret = mdv_sysfs_number(path, &port);
	if (ret != 0)
		return ret == -ENOENT || ret == -EINVAL ? 0 : ret;
	return port == 0;
}

/** Finds the interface of the port. 0, also without one; negative errno if sysfs cannot be read. */
static int
find_netdev(struct mdv_dev *dev)
{
	char net_dir[sizeof(dev->ibv->device->ibdev_path) + 16];
	struct dirent *entry;
	int ours = 0;
	DIR *dir;

	snprintf(net_dir, sizeof(net_dir), "%s/device/net", dev->ibv->device->ibdev_path);
	dir = opendir(net_dir);
	if (dir == NULL)
		return errno == ENOENT ? 0 : -errno;
	while (ours == 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= IFNAMSIZ)
			continue;
		ours = is_our_port(dev, net_dir, entry->d_name);
		if (ours > 0)
			snprintf(dev->netdev_name, sizeof(dev->netdev_name), "%.*s", IFNAMSIZ - 1,
				 entry->d_name);
	}
	closedir(dir);
	return ours < 0 ? ours : 0;
}

/** Reads the interface index, which Linux does not reuse soon. 0 or a positive errno. */
static int
netdev_index(const struct mdv_dev *dev, int *index)
{
	struct ifreq ifr = { 0 };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev->netdev_name);
	if (ioctl(dev->netdev_sock, SIOCGIFINDEX, &ifr) != 0)
		return errno;
	*index = ifr.ifr_ifindex;
	return 0;
}

/*
 * Runs an ioctl on the interface; fills in ifr_name. Logs nothing. 0 or a positive errno: ENOTSUP no interface
 * here; ENODEV it was deleted. After a removal another device may get an interface of the same name. Compare the
 * index, so that only the interface found by mdv_verbs_port_up() is read or changed.
 */
static int
netdev_try(const struct mdv_dev *dev, unsigned long request, struct ifreq *ifr)
{
	int index = 0, err;

	if (dev->netdev_sock < 0)
		return ENOTSUP;
	err = netdev_index(dev, &index);
	if (err != 0)
		return err;
	if (index != dev->netdev_index)
		return ENODEV;
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", dev->netdev_name);
	return ioctl(dev->netdev_sock, request, ifr) == 0 ? 0 : errno;
}

int
mdv_verbs_port_up(struct mdv_dev *dev)
{
	int ret = find_netdev(dev);

	if (ret != 0)
		return MDV_FAIL(dev->name, -ret, "cannot find the interface of %s: %s", dev->ibdev_name,
				mdv_errno_name(-ret));
	if (dev->netdev_name[0] == '\0')
		return 0;
	dev->netdev_sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (dev->netdev_sock < 0)
		return MDV_FAIL(dev->name, errno, "no socket for interface %s: %s", dev->netdev_name,
				mdv_errno_name(errno));
	/* sysfs may show an interface that is in another network namespace: ENODEV. */
	ret = netdev_index(dev, &dev->netdev_index);
	if (ret == 0)
		return 0;
	if (ret == ENODEV)
		MDV_LOG(NOTICE, dev->name, "interface %s is not in this network namespace", dev->netdev_name);
	else
		MDV_LOG(ERR, dev->name, "cannot read the index of interface %s: %s", dev->netdev_name,
			mdv_errno_name(ret));
	mdv_verbs_port_down(dev);
	return ret == ENODEV ? 0 : mdv_fail(ret);
}

void
mdv_verbs_port_down(struct mdv_dev *dev)
{
	if (dev->netdev_sock >= 0)
		close(dev->netdev_sock);
	dev->netdev_sock = -1;
	dev->netdev_name[0] = '\0';
}

/* ------------------------------------------------------------------ ethtool: logs nothing */

static int
ethtool_ioctl(struct mdv_dev *dev, void *request)
{
	struct ifreq ifr = { .ifr_data = request };

	return -netdev_try(dev, SIOCETHTOOL, &ifr);
}

/* Number of statistics; 0 if it cannot be read. */
static uint32_t
stats_count(struct mdv_dev *dev)
{
	struct ethtool_sset_info *info = calloc(1, sizeof(*info) + sizeof(info->data[0]));
	uint32_t count = 0;

	if (info == NULL)
		return 0;
	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ULL << ETH_SS_STATS;
	/* The kernel writes no number for a set that the interface does not have (net/ethtool/ioctl.c). */
	if (ethtool_ioctl(dev, info) == 0)
		count = info->data[0];
	free(info);
	return count <= MDV_ETHTOOL_STATS_MAX ? count : 0;
}

uint32_t
mdv_ethtool_find(struct mdv_dev *dev, const char *const *names, unsigned int n, int *index)
{
	struct ethtool_gstrings *strings;
	uint32_t count = stats_count(dev);
	unsigned int i, k;

	for (k = 0; k < n; k++)
		index[k] = -1;
	strings = count != 0 ? calloc(1, sizeof(*strings) + (size_t)ETH_GSTRING_LEN *
				      (count + MDV_ETHTOOL_STATS_SLACK)) : NULL;
	if (strings == NULL)
		return 0;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = count;
	if (ethtool_ioctl(dev, strings) != 0 || strings->len != count)
		count = 0;
	for (i = 0; i < count; i++)
		for (k = 0; k < n; k++)
			if (names[k] != NULL && strncmp((const char *)&strings->data[i * ETH_GSTRING_LEN],
							names[k], ETH_GSTRING_LEN) == 0)
				index[k] = (int)i;
	free(strings);
	return count;
}

int
mdv_ethtool_read(struct mdv_dev *dev, uint32_t count, const int *index, unsigned int n,
		 uint64_t *values)
{
	struct ethtool_stats *stats;
	int rc;

	/* The kernel writes as many values as it has now and ignores n_stats on input. */
	stats = calloc(1, sizeof(*stats) + sizeof(uint64_t) * (count + MDV_ETHTOOL_STATS_SLACK));
	if (stats == NULL)
		return -ENOMEM;
	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = count;
	rc = ethtool_ioctl(dev, stats);
	if (rc == 0 && stats->n_stats != count)
		rc = -ESTALE; /* The indices are no longer valid. */
	for (unsigned int k = 0; rc == 0 && k < n; k++)
		values[k] = index[k] >= 0 ? stats->data[index[k]] : 0;
	free(stats);
	return rc;
}

/* The first call returns the number of mask words, negated; the second one the settings. */
static int
settings_read(struct mdv_dev *dev, struct ethtool_link_settings *s)
{
	int words, ret;

	s->cmd = ETHTOOL_GLINKSETTINGS;
	ret = ethtool_ioctl(dev, s);
	if (ret != 0)
		return ret;
	words = -s->link_mode_masks_nwords;
	if (words <= 0)
		return -EPROTO;
	memset(s, 0, sizeof(*s));
	s->cmd = ETHTOOL_GLINKSETTINGS;
	s->link_mode_masks_nwords = words;
	ret = ethtool_ioctl(dev, s);
	return ret == 0 && s->link_mode_masks_nwords != words ? -EPROTO : ret;
}

int
mdv_ethtool_link(struct mdv_dev *dev, uint32_t *speed_mbps, uint32_t supported[MDV_LINK_MODE_WORDS])
{
	/* The settings, followed by three masks. */
	uint32_t buffer[sizeof(struct ethtool_link_settings) / sizeof(uint32_t) +
		      3 * MDV_LINK_MODE_WORDS_MAX] = { 0 };
	struct ethtool_link_settings *s = (struct ethtool_link_settings *)(void *)buffer;
	int ret = settings_read(dev, s);

	if (ret != 0)
		return ret;
	*speed_mbps = s->speed == (uint32_t)SPEED_UNKNOWN ? 0 : s->speed;
	memset(supported, 0, MDV_LINK_MODE_WORDS * sizeof(*supported));
	memcpy(supported, s->link_mode_masks,
	       RTE_MIN(s->link_mode_masks_nwords, MDV_LINK_MODE_WORDS) * sizeof(*supported));
	return 0;
}

/* ------------------------------------------------------------------ settings */

int
mdv_netdev_ioctl(struct mdv_dev *dev, unsigned long request, const char *what, struct ifreq *ifr)
{
	int err;

	if (dev->netdev_sock < 0)
		return MDV_FAIL(dev->name, ENOTSUP, "cannot %s: the port has no interface here", what);
	err = netdev_try(dev, request, ifr);
	if (err == 0)
		return 0;
	mdv_suspect_if(dev, err);
	return MDV_FAIL_DEV(dev, err, "interface %s refused to %s: %s%s", dev->netdev_name, what,
			    mdv_errno_name(err), err == EPERM ? " (CAP_NET_ADMIN?)" : "");
}

static int
verbs_mtu_get(struct mdv_dev *dev, uint16_t *mtu)
{
	struct ifreq ifr = { 0 };

	if (mdv_netdev_ioctl(dev, SIOCGIFMTU, "read the MTU", &ifr) != 0)
		return -rte_errno;
	*mtu = RTE_MIN(ifr.ifr_mtu, UINT16_MAX);
	return 0;
}

static int
verbs_mtu_set(struct mdv_dev *dev, uint16_t mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };

	return mdv_netdev_ioctl(dev, SIOCSIFMTU, "set the MTU", &ifr);
}

static int
verbs_mac(struct mdv_dev *dev, uint8_t mac[6])
{
	struct ifreq ifr = { 0 };

	if (dev->netdev_sock < 0)
		return mdv_vport_mac(dev, mac);
	if (mdv_netdev_ioctl(dev, SIOCGIFHWADDR, "read the address", &ifr) != 0)
		return -rte_errno;
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return 0;
}

static int
verbs_mac_set(struct mdv_dev *dev, const uint8_t mac[6])
{
	struct ifreq ifr = { 0 };

	ifr.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(ifr.ifr_hwaddr.sa_data, mac, 6);
	return mdv_netdev_ioctl(dev, SIOCSIFHWADDR, "set the address", &ifr);
}

/** Changes one flag of the interface. */
static int
netdev_flag(struct mdv_dev *dev, short flag, bool on, const char *what)
{
	struct ifreq ifr = { 0 };

	if (mdv_netdev_ioctl(dev, SIOCGIFFLAGS, "read the flags", &ifr) != 0)
		return -rte_errno;
	if (((ifr.ifr_flags & flag) != 0) == on)
		return 0;
	ifr.ifr_flags ^= flag;
	return mdv_netdev_ioctl(dev, SIOCSIFFLAGS, what, &ifr);
}

static int
verbs_promisc_set(struct mdv_dev *dev, bool on)
{
	return netdev_flag(dev, IFF_PROMISC, on, "change promiscuous mode");
}

static int
verbs_allmulti_set(struct mdv_dev *dev, bool on)
{
	return netdev_flag(dev, IFF_ALLMULTI, on, "change all-multicast mode");
}

static int
verbs_up_get(struct mdv_dev *dev, bool *up)
{
	struct ifreq ifr = { 0 };

	if (mdv_netdev_ioctl(dev, SIOCGIFFLAGS, "read the flags", &ifr) != 0)
		return -rte_errno;
	*up = (ifr.ifr_flags & IFF_UP) != 0;
	return 0;
}

static int
verbs_up_set(struct mdv_dev *dev, bool up)
{
	return netdev_flag(dev, IFF_UP, up, up ? "set the link up" : "set the link down");
}

static int
verbs_mcast(struct mdv_dev *dev, const uint8_t mac[6], bool add)
{
	struct ifreq ifr = { 0 };

	ifr.ifr_hwaddr.sa_family = AF_UNSPEC;
	memcpy(ifr.ifr_hwaddr.sa_data, mac, 6);
	return mdv_netdev_ioctl(dev, add ? SIOCADDMULTI : SIOCDELMULTI,
			    add ? "join a multicast address" : "leave a multicast address", &ifr);
}

/* The kernel's driver of a virtual function refuses the write, and reads zeros (mlx5e_ethtool_set_pauseparam()). */
static int
verbs_pause_get(struct mdv_dev *dev, struct mdv_pause *pause)
{
	struct ethtool_pauseparam param = { .cmd = ETHTOOL_GPAUSEPARAM };
	struct ifreq ifr = { .ifr_data = (void *)&param };

	if (mdv_netdev_ioctl(dev, SIOCETHTOOL, "read flow control", &ifr) != 0)
		return -rte_errno;
	*pause = (struct mdv_pause){ .rx = param.rx_pause != 0, .tx = param.tx_pause != 0 };
	return 0;
}

static int
verbs_pause_set(struct mdv_dev *dev, const struct mdv_pause *pause)
{
	struct ethtool_pauseparam param = {
		.cmd = ETHTOOL_SPAUSEPARAM, .rx_pause = pause->rx, .tx_pause = pause->tx,
	};
	struct ifreq ifr = { .ifr_data = (void *)&param };

	return mdv_netdev_ioctl(dev, SIOCETHTOOL, "set flow control", &ifr);
}

static int
verbs_module_info(struct mdv_dev *dev, struct mdv_module *module)
{
	struct ethtool_modinfo info = { .cmd = ETHTOOL_GMODULEINFO };
	struct ifreq ifr = { .ifr_data = (void *)&info };

	if (mdv_netdev_ioctl(dev, SIOCETHTOOL, "describe the module", &ifr) != 0)
		return -rte_errno;
	*module = (struct mdv_module){ .type = info.type, .bytes = info.eeprom_len };
	return 0;
}

static int
verbs_module_read(struct mdv_dev *dev, uint32_t offset, uint32_t bytes, uint8_t *data)
{
	struct ethtool_eeprom *eeprom = calloc(1, sizeof(*eeprom) + bytes);
	struct ifreq ifr = { .ifr_data = (void *)eeprom };
	int ret;

	if (eeprom == NULL)
		return MDV_FAIL(dev->name, ENOMEM, "no memory for %u bytes of the module", bytes);
	eeprom->cmd = ETHTOOL_GMODULEEEPROM;
	eeprom->offset = offset;
	eeprom->len = bytes;
	ret = mdv_netdev_ioctl(dev, SIOCETHTOOL, "read the module", &ifr);
	if (ret == 0)
		memcpy(data, eeprom->data, bytes);
	free(eeprom);
	return ret;
}

/** Sends a request to rtnetlink, which acknowledges it before send() returns. 0 or a positive errno. */
static int
rtnl_request(const struct nlmsghdr *request)
{
	struct {
		struct nlmsghdr nl;
		struct nlmsgerr error;
		uint8_t rest[1024]; /* the request, and a message on the error */
	} reply;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), err = 0;
	ssize_t len;

	if (fd < 0)
		return errno;
	len = send(fd, request, request->nlmsg_len, 0);
	if (len >= 0)
		len = recv(fd, &reply, sizeof(reply), MSG_DONTWAIT);
	if (len < 0)
		err = errno;
	else if ((size_t)len < sizeof(reply.nl) + sizeof(reply.error) || reply.nl.nlmsg_type != NLMSG_ERROR)
		err = EPROTO;
	else
		err = -reply.error.error;
	close(fd);
	return err;
}

/*
 * Linux has no ndo_fdb_add for mlx5: rtnl_fdb_add() writes the address to the interface's own list
 * (net/core/rtnetlink.c, ndo_dflt_fdb_add()), which mlx5e writes into the context of the vport.
 */
static int
verbs_ucast(struct mdv_dev *dev, const uint8_t mac[6], bool add)
{
	struct {
		struct nlmsghdr nl;
		struct ndmsg ndm;
		struct nlattr attr;
		uint8_t mac[8];
	} request = {
		.nl = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg)) + NLA_HDRLEN + NLA_ALIGN(6),
			.nlmsg_type = add ? RTM_NEWNEIGH : RTM_DELNEIGH,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (add ? NLM_F_CREATE | NLM_F_EXCL : 0),
		},
		.ndm = {
			.ndm_family = AF_BRIDGE,
			.ndm_ifindex = dev->netdev_index,
			.ndm_state = NUD_NOARP | NUD_PERMANENT,
			.ndm_flags = NTF_SELF,
		},
		.attr = { .nla_len = NLA_HDRLEN + 6, .nla_type = NDA_LLADDR },
	};
	int err;

	if (dev->netdev_sock < 0)
		return -ENOTSUP;
	memcpy(request.mac, mac, 6);
	err = rtnl_request(&request.nl);
	return err == (add ? EEXIST : ENOENT) ? 0 : -err;
}

/* ------------------------------------------------------------------ link */

/** Lanes by ibv_port_attr.active_width (IBTA PortInfo, LinkWidthActive). */
static const uint8_t lanes_of_width[] = { [1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2 };
/** Mb/s of a lane by ibv_port_attr.active_speed (LinkSpeedActive: SDR, DDR, QDR, FDR10, ...). */
static const uint32_t mbps_of_speed[] = {
	[1] = 2500, [2] = 5000, [4] = 10000, [8] = 10000, [16] = 14000, [32] = 25000, [64] = 50000,
	[128] = 100000,
};

static int
verbs_link(struct mdv_dev *dev, struct mdv_link *link)
{
	struct ibv_port_attr attr;
	int err = MDV_RETRY_ERR(dev, ibv_query_port(dev->ibv, mdv_own(dev)->ib_port, &attr));
	uint32_t supported[MDV_LINK_MODE_WORDS];

	if (err != 0) {
		mdv_suspect_if(dev, err);
		return MDV_FAIL_DEV(dev, err, "ibv_query_port failed: %s", mdv_errno_name(err));
	}
	link->up = attr.state == IBV_PORT_ACTIVE;
	/* Prefer the speed of the interface: verbs have no lane of 1 Gb/s. */
	if (!link->up || mdv_ethtool_link(dev, &link->speed_mbps, supported) != 0)
		link->speed_mbps = 0;
	if (link->speed_mbps == 0 && attr.active_width < RTE_DIM(lanes_of_width) &&
	    attr.active_speed < RTE_DIM(mbps_of_speed))
		link->speed_mbps = lanes_of_width[attr.active_width] * mbps_of_speed[attr.active_speed];
	return 0;
}

static int
verbs_running(struct mdv_dev *dev, bool *running)
{
	struct ifreq ifr = { 0 };
	int err = netdev_try(dev, SIOCGIFFLAGS, &ifr);

	if (err == 0)
		*running = (ifr.ifr_flags & IFF_RUNNING) != 0;
	return -err;
}

const struct mdv_port_ops mdv_verbs_port = {
	.link = verbs_link,
	.running = verbs_running,
	.mac_get = verbs_mac,
	.mac_set = verbs_mac_set,
	.mtu_get = verbs_mtu_get,
	.mtu_set = verbs_mtu_set,
	.promisc_set = verbs_promisc_set,
	.allmulti_set = verbs_allmulti_set,
	.mcast = verbs_mcast,
	.ucast = verbs_ucast,
	.up_get = verbs_up_get,
	.up_set = verbs_up_set,
	.pause_get = verbs_pause_get,
	.pause_set = verbs_pause_set,
	.fec_caps = mdv_verbs_fec_caps,
	.fec_get = mdv_verbs_fec_get,
	.fec_set = mdv_verbs_fec_set,
	.module_info = verbs_module_info,
	.module_read = verbs_module_read,
};
