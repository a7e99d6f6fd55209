/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `--doctor`: PCI devices, their kernel drivers, and whether this user may open them.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/vfio.h>

#include <infiniband/mlx5dv.h>

#include "doctor.h"

#define PCI "/sys/bus/pci/devices"
#define AUXILIARY "/sys/bus/auxiliary/devices"
#define SF "mlx5_core.sf."
#define VENDOR 0x15b3
#define NAME_BYTES 256	/* d_name of struct dirent */

/** PCI device ids (linux/drivers/net/ethernet/mellanox/mlx5/core/main.c, mlx5_core_pci_table). */
static const struct {
	unsigned int id;
	const char *name, *served_by;	/**< served_by: another PMD, NULL = mlxpmd */
} cards[] = {
	{ 0x1003, "ConnectX-3", "net_mlx4" }, { 0x1007, "ConnectX-3 Pro", "net_mlx4" },
	{ 0x1013, "ConnectX-4", NULL }, { 0x1014, "ConnectX-4 VF", NULL },
	{ 0x1015, "ConnectX-4 Lx", NULL }, { 0x1016, "ConnectX-4 Lx VF", NULL },
	{ 0x1017, "ConnectX-5", NULL }, { 0x1018, "ConnectX-5 VF", NULL },
	{ 0x1019, "ConnectX-5 Ex", NULL }, { 0x101a, "ConnectX-5 Ex VF", NULL },
	{ 0x101b, "ConnectX-6", NULL }, { 0x101c, "ConnectX-6 VF", NULL },
	{ 0x101d, "ConnectX-6 Dx", NULL }, { 0x101e, "ConnectX family VF", NULL },
	{ 0x101f, "ConnectX-6 Lx", NULL }, { 0x1021, "ConnectX-7", NULL },
	{ 0xa2d2, "BlueField", NULL }, { 0xa2d6, "BlueField-2", NULL }, { 0xa2dc, "BlueField-3", NULL },
};

static const char *
card_name(unsigned int id, const char **served_by)
{
	*served_by = NULL;
	for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
		if (cards[i].id == id) {
			*served_by = cards[i].served_by;
			return cards[i].name;
		}
	}
	return "unknown card";
}

static bool
is_sf(const char *device)
{
	return strncmp(device, SF, strlen(SF)) == 0;
}

static const char *
bus_of(const char *device)
{
	return is_sf(device) ? AUXILIARY : PCI;
}

/* PCI address of the device; of a sub-function: that of its PF, above it in sysfs. */
static const char *
pci_of(const char *device, char real[PATH_MAX])
{
	char path[512];

	if (!is_sf(device))
		return device;
	snprintf(path, sizeof(path), AUXILIARY "/%s/..", device);
	return realpath(path, real) != NULL ? strrchr(real, '/') + 1 : "PCI";
}

/* Find the first entry with this prefix in a folder below the device. */
static bool
child(const char *pci, const char *folder, const char *prefix, char name[NAME_BYTES])
{
	struct dirent *e;
	char path[512];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s/%s", bus_of(pci), pci, folder);
	dir = opendir(path);
	while (dir != NULL && !found && (e = readdir(dir)) != NULL) {
		found = e->d_name[0] != '.' && strncmp(e->d_name, prefix, strlen(prefix)) == 0;
		if (found)
			snprintf(name, NAME_BYTES, "%s", e->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

static bool
node_check(struct doctor *d, const char *pci, const char *uverbs)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", uverbs);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		dr_print(d, DR_GOOD, pci, NULL, "%s can be opened", path);
		return true;
	}
	dr_print(d, DR_BAD, pci, errno == ENOENT ?
	       "let udev create it, or pass it to the container (--device, an SR-IOV device plugin)" :
	       "run as root, or give this user access to the node (a udev rule, group rdma)",
	       "%s cannot be opened: %s", path, strerror(errno));
	return false;
}

/* libibverbs returns EOPNOTSUPP or mlx5_ib's EINVAL when the firmware has no user contexts. */
static void
devx_check(struct doctor *d, const char *pci, const char *ibdev)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	char advice[160], real[PATH_MAX];
	int err = ENODEV;

	for (int i = 0; list != NULL && list[i] != NULL; i++) {
		if (strcmp(ibv_get_device_name(list[i]), ibdev) != 0)
			continue;
		ctx = mlx5dv_open_device(list[i], &attr);
		err = errno;
	}
	if (list != NULL)
		ibv_free_device_list(list);
	if (ctx != NULL) {
		ibv_close_device(ctx);
		dr_print(d, DR_GOOD, pci, NULL, "%s opens with DEVX", ibdev);
	} else if (err == EINVAL || err == EOPNOTSUPP) {
		const char *at = pci_of(pci, real);

		snprintf(advice, sizeof(advice), "mlxconfig -d %.16s set UCTX_EN=1, then reset the firmware: "
			 "mlxfwreset -d %.16s reset", at, at);
		dr_print(d, DR_BAD, pci, advice, "%s does not open with DEVX: %s", ibdev, strerror(err));
	}
}

static void
firmware_check(struct doctor *d, const char *pci, const char *ibdev)
{
	char fw[64], layer[32];

	if (!dr_readf(fw, sizeof(fw), "%s/%s/infiniband/%s/fw_ver", bus_of(pci), pci, ibdev))
		snprintf(fw, sizeof(fw), "of unknown version");
	if (!dr_readf(layer, sizeof(layer), "%s/%s/infiniband/%s/ports/1/link_layer", bus_of(pci), pci, ibdev))
		snprintf(layer, sizeof(layer), "unknown");
	dr_print(d, DR_GOOD, pci, NULL, "firmware %s (%s), port type %s", fw, ibdev, layer);
	if (strcmp(layer, "Ethernet") != 0 && strcmp(layer, "unknown") != 0)
		dr_print(d, DR_BAD, pci, "set the type to Ethernet: mlxconfig -d PCI set LINK_TYPE_P1=2, then reset the card",
		       "port 1 has type %s", layer);
}

/* Whether an interface of the device is in a bond. */
static bool
bond_of(const char *pci, const char *netdev, char bond[NAME_BYTES])
{
	char path[512], target[512];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), PCI "/%s/net/%s/master", pci, netdev);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	slash = strrchr(target, '/');
	snprintf(bond, NAME_BYTES, "%.*s", NAME_BYTES - 1, slash != NULL ? slash + 1 : target);
	return true;
}

static bool
bond_check(struct doctor *d, const char *pci, const char *ibdev)
{
	char netdev[NAME_BYTES], bond[NAME_BYTES], advice[2 * NAME_BYTES];

	if (!child(pci, "net", "", netdev) || !bond_of(pci, netdev, bond))
		return false;
	/* A bond of the kernel alone leaves each port its RDMA device. */
	if (ibdev != NULL && strstr(ibdev, "bond") == NULL)
		return false;
	snprintf(advice, sizeof(advice), "ip link set %s nomaster; bond with DPDK's bonding over the two ports", netdev);
	dr_print(d, DR_BAD, pci, advice, ibdev != NULL ?
		 "interface %s is in the bond %s, and the RDMA device is that of all its ports: not supported" :
		 "interface %s is in the bond %s, and the RDMA device is that of another of its ports: not supported",
		 netdev, bond);
	return true;
}

/* In switchdev mode the RDMA device has ports for representors, too, and so has the PCI function interfaces. */
static void
ports_check(struct doctor *d, const char *pci, const char *ibdev)
{
	unsigned int ports = 0;
	char path[512];

	do
		snprintf(path, sizeof(path), PCI "/%s/infiniband/%s/ports/%u", pci, ibdev, ++ports);
	while (access(path, F_OK) == 0);
	ports--;
	if (ports > 1)
		dr_print(d, DR_GOOD, pci, NULL, "%s has %u ports: switchdev mode, of which the uplink is used", ibdev, ports);
}

/* The uplink has the name p0 or p1, a representor as pf0vf1. */
static bool
is_representor(const char *pci, const char *netdev)
{
	char port[32];

	return dr_readf(port, sizeof(port), PCI "/%s/net/%s/phys_port_name", pci, netdev) &&
	       (port[0] != 'p' || port[1] < '0' || port[1] > '9');
}

static bool
interface_of(const char *pci, char name[NAME_BYTES])
{
	struct dirent *e;
	char path[512];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), PCI "/%s/net", pci);
	dir = opendir(path);
	while (dir != NULL && !found && (e = readdir(dir)) != NULL) {
		found = e->d_name[0] != '.' && !is_representor(pci, e->d_name);
		if (found)
			snprintf(name, NAME_BYTES, "%s", e->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

/* sysfs shows the network interface only in its own network namespace. */
static void
interface_check(struct doctor *d, const char *pci)
{
	char name[NAME_BYTES], state[32];

	if (!interface_of(pci, name)) {
		dr_print(d, DR_NOTE, pci, "run there, or move the interface here (ip link set IF netns): MTU, "
		       "MAC, promiscuous mode and port counters need it",
		       "the network interface is not in this namespace");
		return;
	}
	if (!dr_readf(state, sizeof(state), "/sys/class/net/%s/operstate", name))
		snprintf(state, sizeof(state), "unknown");
	dr_print(d, DR_GOOD, pci, NULL, "interface %s, link %s", name, state);
}

static void
ptp_check(struct doctor *d, const char *pci)
{
	char name[NAME_BYTES];

	if (child(pci, "ptp", "ptp", name))
		dr_print(d, DR_GOOD, pci, NULL, "PTP clock /dev/%s: timestamps are in its time", name);
	else
		dr_print(d, DR_NOTE, pci, "use devarg clock=host; clock=page needs a kernel with "
		       "CONFIG_PTP_1588_CLOCK", "no PTP clock in the kernel");
}

static void
bound_check(struct doctor *d, const char *pci)
{
	char ibdev[NAME_BYTES], uverbs[NAME_BYTES];

	if (!child(pci, "infiniband", "", ibdev) ||
	    !child(pci, "infiniband_verbs", "uverbs", uverbs)) {
		if (bond_check(d, pci, NULL))
			return;
		dr_print(d, DR_BAD, pci, "modprobe mlx5_ib ib_uverbs; see dmesg for errors",
		       "the kernel has no verbs device for it");
		return;
	}
	d->verbs++;
	if (node_check(d, pci, uverbs))
		devx_check(d, pci, ibdev);
	firmware_check(d, pci, ibdev);
	ports_check(d, pci, ibdev);
	if (!bond_check(d, pci, ibdev))
		interface_check(d, pci);
	/* The PTP clock belongs to the PCI function (Linux, mlx5/core/lib/clock.c, ptp_clock_register()). */
	if (!is_sf(pci))
		ptp_check(d, pci);
}

/* Open a VFIO node; -1 after printing a line. EBUSY: another program has opened the group, so it is usable. */
static int
vfio_node_open(struct doctor *d, const char *pci, const char *path, bool *usable)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	*usable = fd >= 0 || errno == EBUSY;
	if (fd >= 0)
		return fd;
	if (errno == EBUSY)
		dr_print(d, DR_NOTE, pci, "only one program can open a group", "%s is in use", path);
	else
		dr_print(d, DR_BAD, pci, errno == ENOENT ?
		       "modprobe vfio-pci, or pass the node to the container (--device)" :
		       "run as root, or give this user the node: chown USER NODE", "%s cannot be opened: %s",
		       path, strerror(errno));
	return -1;
}

static bool
vfio_container_check(struct doctor *d, const char *pci)
{
	bool usable;
	int fd = vfio_node_open(d, pci, "/dev/vfio/vfio", &usable);

	if (fd < 0)
		return usable;
	/* The ioctl fails on a file that is not a VFIO node: report no error. */
	usable = ioctl(fd, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 0;
	close(fd);
	if (usable)
		dr_print(d, DR_GOOD, pci, NULL, "/dev/vfio/vfio can be opened");
	else
		dr_print(d, DR_BAD, pci, "modprobe vfio_iommu_type1", "VFIO has no IOMMU of type 1, "
		       "which libmlx5 requires");
	return usable;
}

static bool
vfio_group_check(struct doctor *d, const char *pci, const char *group)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	char path[NAME_BYTES + 16];
	bool usable;
	int fd;

	snprintf(path, sizeof(path), "/dev/vfio/%s", group);
	fd = vfio_node_open(d, pci, path, &usable);
	if (fd < 0)
		return usable;
	usable = ioctl(fd, VFIO_GROUP_GET_STATUS, &status) != 0 ||
		 (status.flags & VFIO_GROUP_FLAGS_VIABLE) != 0;
	close(fd);
	if (usable)
		dr_print(d, DR_GOOD, pci, NULL, "%s can be opened", path);
	else
		dr_print(d, DR_BAD, pci, "bind all devices in " DR_IOMMU_GROUPS "/GROUP/devices to vfio-pci, or to no driver",
		       "group %s has other devices, which are bound to kernel drivers", group);
	return usable;
}

static void
vfio_check(struct doctor *d, const char *pci, const char *name, unsigned int id)
{
	static const char instead[] = "enable the IOMMU (BIOS, kernel command line; in a virtual machine a "
				      "virtual IOMMU), or dpdk-devbind.py -b mlx5_core PCI";
	char path[512], group[64];
	bool container;

	d->vfio++;
	dr_print(d, DR_GOOD, pci, NULL, "%s (15b3:%04x), driver vfio-pci: devarg open=vfio", name, id);
	snprintf(path, sizeof(path), PCI "/%s/iommu_group", pci);
	if (!dr_link(path, group, sizeof(group))) {
		dr_print(d, DR_BAD, pci, instead, "no IOMMU group");
		return;
	}
	if (dr_noiommu(group)) {
		dr_print(d, DR_BAD, pci, instead, "in VFIO's no-IOMMU mode (/dev/vfio/noiommu-%s): libmlx5 "
		       "requires an IOMMU of type 1", group);
		return;
	}
	d->grouped++;
	/* Check both nodes, even if the first one fails. */
	container = vfio_container_check(d, pci);
	d->openable += vfio_group_check(d, pci, group) && container;
}

static void
device_check(struct doctor *d, const char *pci, unsigned int id)
{
	const char *served_by, *name = card_name(id, &served_by);
	char path[512], driver[64];

	snprintf(path, sizeof(path), PCI "/%s/driver", pci);
	if (!dr_link(path, driver, sizeof(driver)))
		snprintf(driver, sizeof(driver), "none");
	if (served_by != NULL) {
		dr_print(d, DR_NOTE, pci, NULL, "%s (15b3:%04x): supported by DPDK's %s, not by mlxpmd", name, id,
		       served_by);
		d->others++;
		return;
	}
	d->devices++;
	if (strcmp(driver, "mlx5_core") == 0) {
		dr_print(d, DR_GOOD, pci, NULL, "%s (15b3:%04x), driver mlx5_core", name, id);
		bound_check(d, pci);
		return;
	}
	if (strcmp(driver, "vfio-pci") == 0) {
		vfio_check(d, pci, name, id);
		return;
	}
	dr_print(d, DR_BAD, pci, "modprobe mlx5_core, or dpdk-devbind.py -b mlx5_core PCI",
	       "%s (15b3:%04x), driver %s: mlxpmd requires mlx5_core or vfio-pci", name, id,
	       driver);
}

/* Sub-functions are usable like other devices, but only if they are named. */
static void
sf_check(struct doctor *d, const char *name)
{
	char sfnum[32], real[PATH_MAX];

	if (!dr_readf(sfnum, sizeof(sfnum), AUXILIARY "/%s/sfnum", name))
		snprintf(sfnum, sizeof(sfnum), "unknown");
	d->devices++;
	dr_print(d, DR_GOOD, name, NULL, "sub-function (sfnum %s) of %s: -a auxiliary:%s", sfnum, pci_of(name, real),
		 name);
	bound_check(d, name);
}

static void
sfs_check(struct doctor *d)
{
	struct dirent **e = NULL;
	int n = scandir(AUXILIARY, &e, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (is_sf(e[i]->d_name))
			sf_check(d, e[i]->d_name);
		free(e[i]);
	}
	free(e);
}

void
dr_devices(struct doctor *d)
{
	struct dirent **e = NULL;
	int n = scandir(PCI, &e, NULL, alphasort);
	char text[32];

	for (int i = 0; i < n; i++) {
		const char *pci = e[i]->d_name;

		if (dr_readf(text, sizeof(text), PCI "/%s/vendor", pci) &&
		    strtoul(text, NULL, 16) == VENDOR &&
		    /* network controllers only: cards have other functions as well */
		    dr_readf(text, sizeof(text), PCI "/%s/class", pci) &&
		    strtoul(text, NULL, 16) >> 16 == 0x02 &&
		    dr_readf(text, sizeof(text), PCI "/%s/device", pci))
			device_check(d, pci, strtoul(text, NULL, 16));
		free(e[i]);
	}
	free(e);
	sfs_check(d);
	if (d->devices == 0)
		dr_print(d, DR_NOTE, "devices", "mlxemu run -- PROGRAM ... emulates devices",
		       d->others > 0 ? "none on PCI that mlxpmd supports" :
		       "no ConnectX or BlueField on PCI");
}

void
dr_modules(struct doctor *d)
{
	static const char *const names[] = { "mlx5_core", "mlx5_ib", "ib_uverbs" };
	char missing[64] = "", path[64];

	/* If all verbs devices exist, the modules are loaded or built in; vfio-pci needs none of them. */
	if (d->devices > 0 && d->verbs + d->vfio == d->devices) {
		dr_print(d, DR_GOOD, "modules", NULL, "the devices above need no other modules");
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s", names[i]);
		if (access(path, F_OK) != 0) {
			strcat(missing, " ");
			strcat(missing, names[i]);
		}
	}
	if (missing[0] != '\0' && d->devices == 0)
		dr_print(d, DR_NOTE, "modules", NULL, "not loaded, and no device needs them:%s", missing);
	else if (missing[0] != '\0')
		dr_print(d, DR_BAD, "modules", "modprobe mlx5_core mlx5_ib ib_uverbs", "not loaded:%s",
		       missing);
	else
		dr_print(d, DR_GOOD, "modules", NULL, "mlx5_core, mlx5_ib, ib_uverbs are loaded");
}
