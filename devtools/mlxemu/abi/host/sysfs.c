/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Emulated entries of /sys and /dev, as files in the run directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/abi.h"
#include "core/emu_bond.h"
#include "core/emu_fault.h"
#include "core/emu_pci.h"
#include "sysfs.h"
#include "abi/vfio/vfio.h"

#define PCI_SLOT_PARENT "/sys/devices/mlxemu"
/* Linux, auxiliary_driver_register(): module and name of the driver. */
#define SF_DRIVER "mlx5_core.sf"

/** Directory in which files are created; keeps the first error. */
struct tree {
	const char *dir;
	char base[PATH_MAX]; /* prefix of the names given to tree_*() */
	char failed[PATH_MAX];
	int err;
};

static void
tree_base(struct tree *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->base, sizeof(t->base), fmt, ap);
	va_end(ap);
}

static bool
tree_path(struct tree *t, const char *name, char *path)
{
	int n = snprintf(path, PATH_MAX, "%s/root%s%s%s", t->dir, t->base, *name ? "/" : "", name);

	if (t->err == 0 && n >= PATH_MAX)
		t->err = -ENAMETOOLONG;
	return t->err == 0;
}

static void
tree_fail(struct tree *t, const char *path)
{
	t->err = -errno;
	snprintf(t->failed, sizeof(t->failed), "%s", path);
}

/* Create all missing directories of path; with last_too path itself too. */
static void
tree_mkdirs(struct tree *t, char *path, bool last_too)
{
	char *p = path + strlen(t->dir);

	while ((p = strchr(p + 1, '/')) != NULL) {
		*p = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			tree_fail(t, path);
		*p = '/';
	}
	if (last_too && mkdir(path, 0755) != 0 && errno != EEXIST)
		tree_fail(t, path);
}

static void
tree_dir(struct tree *t, const char *name)
{
	char path[PATH_MAX];

	if (tree_path(t, name, path))
		tree_mkdirs(t, path, true);
}

static void
tree_write(struct tree *t, const char *name, const void *data, size_t len)
{
	char path[PATH_MAX];
	int fd;

	if (!tree_path(t, name, path))
		return;
	/* The folders exist, except at the first write. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 && errno == ENOENT) {
		tree_mkdirs(t, path, false);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	}
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		tree_fail(t, path);
	if (fd >= 0)
		close(fd);
}

__attribute__((format(printf, 3, 4))) static void
tree_file(struct tree *t, const char *name, const char *fmt, ...)
{
	char text[2048], path[2 * PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (emu_fault_set_at(EMU_ON_SYSFS_WRITE)) {
		const struct emu_fault_event e = {.kind = EMU_ON_SYSFS_WRITE, .name = path};

		snprintf(path, sizeof(path), "%s/%s", t->base, name);
		emu_fault_set_file(&e, text, sizeof(text));
	}
	tree_write(t, name, text, strlen(text));
}

static void
tree_link(struct tree *t, const char *name, const char *target)
{
	char path[PATH_MAX];

	if (!tree_path(t, name, path))
		return;
	tree_mkdirs(t, path, false);
	if (symlink(target, path) != 0 && errno != EEXIST)
		tree_fail(t, path);
}

/* Initial content; accesses by descriptor go to the model (pci_config.c). */
static void
tree_pci_config(struct tree *t, const struct emu_dev *dev)
{
	uint8_t config[EMU_PCI_CONFIG_BYTES];

	emu_pci_image(dev, config);
	tree_write(t, "config", config, sizeof(config));
}

/* Thirteen lines "start end flags"; only BAR 0 is in use (32 MiB per function). */
static void
tree_pci_resource(struct tree *t, unsigned index)
{
	char text[1024];
	uint64_t bar = EMU_PCI_BAR_BASE + (uint64_t)index * EMU_PCI_BAR_BYTES;
	int n = snprintf(text, sizeof(text), "0x%016" PRIx64 " 0x%016" PRIx64 " 0x%016x\n", bar,
			 bar + EMU_PCI_BAR_BYTES - 1, 0x14220c);
	unsigned i;

	for (i = 1; i < 13; i++)
		n += snprintf(text + n, sizeof(text) - n, "0x%016x 0x%016x 0x%016x\n", 0, 0, 0);
	tree_write(t, "resource", text, n);
}

/* IOMMU group, with this device only, and the nodes of VFIO. */
static void
tree_iommu(struct tree *t, const struct emu_dev *dev)
{
	unsigned group = ABI_VFIO_GROUP_BASE + dev->index;
	char name[160], link[160];

	tree_base(t, PCI_SLOT_PARENT "/%s", dev->pci_addr);
	snprintf(link, sizeof(link), "../../../kernel/iommu_groups/%u", group);
	tree_link(t, "iommu_group", link);
	tree_base(t, "/sys/kernel/iommu_groups/%u", group);
	tree_file(t, "type", "DMA-FQ\n");
	snprintf(name, sizeof(name), "devices/%s", dev->pci_addr);
	snprintf(link, sizeof(link), "../../../../devices/mlxemu/%s", dev->pci_addr);
	tree_link(t, name, link);
	tree_base(t, "/dev/vfio");
	tree_file(t, "vfio", "%s", "");
	snprintf(name, sizeof(name), "%u", group);
	tree_file(t, name, "%s", "");
}

/* With both front ends, sysfs shows the kernel's driver as bound. */
static const char *
tree_driver(const struct emu_dev *dev)
{
	if ((dev->fronts & EMU_FRONT_VERBS) == 0)
		return "vfio-pci";
	return dev->profile->mlx4 ? "mlx4_core" : "mlx5_core";
}

static void
tree_pci(struct tree *t, const struct emu_dev *dev)
{
	uint16_t id = emu_pci_device_id(dev);
	const char *driver = tree_driver(dev);
	char alias[64], link[128];

	snprintf(alias, sizeof(alias), "pci:v000015B3d%08Xsv000015B3sd00000016bc02sc00i00", id);
	tree_base(t, PCI_SLOT_PARENT "/%s", dev->pci_addr);
	tree_file(t, "vendor", "0x15b3\n");
	tree_file(t, "device", "0x%04x\n", id);
	tree_file(t, "subsystem_vendor", "0x15b3\n");
	tree_file(t, "subsystem_device", "0x0016\n");
	tree_file(t, "class", "0x020000\n");
	tree_file(t, "revision", "0x00\n");
	tree_file(t, "irq", "0\n");
	tree_file(t, "enable", "1\n");
	/* No NUMA node, as on machines with one node. */
	tree_file(t, "numa_node", "-1\n");
	tree_file(t, "local_cpus", "ffffffff\n");
	tree_file(t, "current_link_speed", "16.0 GT/s PCIe\n");
	tree_file(t, "current_link_width", "16\n");
	tree_file(t, "max_link_speed", "16.0 GT/s PCIe\n");
	tree_file(t, "max_link_width", "16\n");
	tree_file(t, "modalias", "%s\n", alias);
	tree_file(t, "uevent",
		  "DRIVER=%s\nPCI_CLASS=20000\nPCI_ID=15B3:%04X\nPCI_SUBSYS_ID=15B3:0016\n"
		  "PCI_SLOT_NAME=%s\nMODALIAS=%s\n",
		  driver, id, dev->pci_addr, alias);
	tree_pci_resource(t, dev->index);
	tree_pci_config(t, dev);
	snprintf(link, sizeof(link), "../../../bus/pci/drivers/%s", driver);
	tree_link(t, "driver", link);
	if ((dev->fronts & EMU_FRONT_VFIO) != 0)
		tree_iommu(t, dev);
	tree_base(t, PCI_SLOT_PARENT "/%s", dev->pci_addr);
	tree_link(t, "subsystem", "../../../bus/pci");
	snprintf(link, sizeof(link), "../../../devices/mlxemu/%s", dev->pci_addr);
	tree_base(t, "/sys/bus/pci/devices");
	tree_link(t, dev->pci_addr, link);
	tree_base(t, "/sys/bus/pci/drivers/%s", driver);
	snprintf(link, sizeof(link), "../../../../devices/mlxemu/%s", dev->pci_addr);
	tree_link(t, dev->pci_addr, link);
}

/*
 * A device on the auxiliary bus: no PCI_SLOT_NAME, no modalias and no numa_node, which are of the PCI bus (Linux,
 * drivers/base/auxiliary.c, auxiliary_uevent(); mlx5/core/sf/dev/dev.c, sf_device_attrs).
 */
static void
tree_auxiliary(struct tree *t, const struct emu_dev *dev)
{
	char link[128];

	tree_base(t, PCI_SLOT_PARENT "/%s", dev->folder);
	tree_file(t, "uevent", "DRIVER=" SF_DRIVER "\nMODALIAS=auxiliary:mlx5_core.sf\n");
	tree_file(t, "sfnum", "%u\n", dev->sfnum);
	tree_link(t, "subsystem", "../../../../bus/auxiliary");
	tree_link(t, "driver", "../../../../bus/auxiliary/drivers/" SF_DRIVER);
	snprintf(link, sizeof(link), "../../../devices/mlxemu/%s", dev->folder);
	tree_base(t, "/sys/bus/auxiliary/devices");
	tree_link(t, dev->name, link);
	tree_base(t, "/sys/bus/auxiliary/drivers/" SF_DRIVER);
	snprintf(link, sizeof(link), "../../../../devices/mlxemu/%s", dev->folder);
	tree_link(t, dev->name, link);
}

static void
tree_gids(struct tree *t, const struct emu_dev *dev)
{
	char name[64];
	uint8_t g[16];
	unsigned i;

	for (i = 0; i < ABI_GID_TABLE_LEN; i++) {
		bool used = emu_port_gid(dev, i, g);

		snprintf(name, sizeof(name), "ports/1/gids/%u", i);
		tree_file(t, name,
			  "%02x%02x:%02x%02x:%02x%02x:%02x%02x:"
			  "%02x%02x:%02x%02x:%02x%02x:%02x%02x\n",
			  g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8], g[9], g[10], g[11],
			  g[12], g[13], g[14], g[15]);
		/* In the kernel reading an empty entry fails; here the file does not exist. */
		if (!used)
			continue;
		snprintf(name, sizeof(name), "ports/1/gid_attrs/types/%u", i);
		tree_file(t, name, "%s\n", i == 0 ? "IB/RoCE v1" : "RoCE v2");
		snprintf(name, sizeof(name), "ports/1/gid_attrs/ndevs/%u", i);
		tree_file(t, name, "%s\n", dev->netdev_name);
	}
}

static void
tree_guid(struct tree *t, const char *name, uint64_t guid)
{
	tree_file(t, name, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48),
		  (unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
		  (unsigned)guid & 0xffff);
}

static void
tree_ibdev_state(struct tree *t, const struct emu_dev *dev)
{
	for (unsigned port = 1; port <= emu_ib_ports(dev); port++) {
		/*
		 * assumed: the interfaces of representors are down. Other reading: an administrator has set them up.
		 * Test: emu/test_switchdev.py.
		 */
		bool up = dev->link_up && port == emu_ib_port(dev);

		tree_base(t, PCI_SLOT_PARENT "/%s/infiniband/%s/ports/%u", dev->folder, dev->ibdev_name, port);
		tree_file(t, "state", "%s\n", up ? "4: ACTIVE" : "1: DOWN");
		tree_file(t, "phys_state", "%s\n", up ? "5: LinkUp" : "3: Disabled");
	}
	tree_base(t, PCI_SLOT_PARENT "/%s/infiniband/%s", dev->folder, dev->ibdev_name);
	if (!dev->eswitch.on)
		tree_gids(t, dev);
}

static void
tree_port(struct tree *t, const struct emu_dev *dev, unsigned port)
{
	tree_base(t, PCI_SLOT_PARENT "/%s/infiniband/%s/ports/%u", dev->folder, dev->ibdev_name, port);
	tree_file(t, "rate", "%u Gb/sec (4X EDR)\n", dev->profile->speed_mbps / 1000);
	tree_file(t, "lid", "0x0\n");
	tree_file(t, "sm_lid", "0x0\n");
	tree_file(t, "sm_sl", "0\n");
	tree_file(t, "lid_mask_count", "0\n");
	tree_file(t, "cap_mask", dev->eswitch.on ? "0x00000000\n" : "0x04010000\n");
	tree_file(t, "link_layer", "Ethernet\n");
	tree_file(t, "pkeys/0", "0xffff\n");
	tree_file(t, "hw_counters/out_of_buffer", "0\n");
}

static void
tree_ibdev(struct tree *t, const struct emu_dev *dev)
{
	const struct emu_profile *p = dev->profile;
	char link[160];

	tree_ibdev_state(t, dev);
	tree_file(t, "node_type", "1: CA\n");
	tree_guid(t, "node_guid", dev->node_guid);
	tree_guid(t, "sys_image_guid", dev->sys_image_guid);
	tree_file(t, "fw_ver", "%u.%u.%u\n", p->fw_major, p->fw_minor, p->fw_subminor);
	tree_file(t, "board_id", "%s\n", p->board_id);
	tree_file(t, "hca_type", "MT%u\n", emu_pci_device_id(dev));
	tree_file(t, "hw_rev", "0\n");
	tree_file(t, "node_desc", "%s %s\n", "mlxemu", dev->ibdev_name);
	tree_file(t, "uevent", "NAME=%s\n", dev->ibdev_name);
	tree_link(t, "device", "../..");
	for (unsigned port = 1; port <= emu_ib_ports(dev); port++)
		tree_port(t, dev, port);
	tree_base(t, "/sys/class/infiniband");
	snprintf(link, sizeof(link), "../../devices/mlxemu/%s/infiniband/%s", dev->folder,
		 dev->ibdev_name);
	tree_link(t, dev->ibdev_name, link);
}

static void
tree_uverbs(struct tree *t, const struct emu_dev *dev)
{
	char link[160];

	tree_base(t, PCI_SLOT_PARENT "/%s/infiniband_verbs/%s", dev->folder, dev->uverbs_name);
	tree_file(t, "ibdev", "%s\n", dev->ibdev_name);
	tree_file(t, "dev", "%u:%u\n", ABI_UVERBS_MAJOR, ABI_UVERBS_MINOR + dev->index);
	tree_file(t, "abi_version", "%u\n", dev->profile->mlx4 ? 4 : 1);
	tree_file(t, "uevent", "MAJOR=%u\nMINOR=%u\nDEVNAME=infiniband/%s\n", ABI_UVERBS_MAJOR,
		  ABI_UVERBS_MINOR + dev->index, dev->uverbs_name);
	tree_link(t, "device", "../..");
	tree_base(t, "/sys/class/infiniband_verbs");
	tree_file(t, "abi_version", "6\n");
	snprintf(link, sizeof(link), "../../devices/mlxemu/%s/infiniband_verbs/%s", dev->folder,
		 dev->uverbs_name);
	tree_link(t, dev->uverbs_name, link);
	tree_base(t, "/dev/infiniband");
	tree_file(t, dev->uverbs_name, "%s", "");
}

static void
tree_netdev_state(struct tree *t, const struct emu_dev *dev)
{
	const uint8_t *mac = dev->vport.mac;

	tree_base(t, PCI_SLOT_PARENT "/%s/net/%s", dev->folder, dev->netdev_name);
	tree_file(t, "address", "%02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2], mac[3],
		  mac[4], mac[5]);
	tree_file(t, "mtu", "%u\n", dev->vport.mtu);
	/* IFF_BROADCAST and IFF_MULTICAST always, IFF_UP, IFF_ALLMULTI and IFF_PROMISC by state. */
	tree_file(t, "flags", "0x%x\n",
		  0x1002 | dev->admin_up | dev->vport.promisc_all << 8 |
			  dev->vport.promisc_mc << 9);
	tree_file(t, "operstate", "%s\n", dev->link_up ? "up" : "down");
	tree_file(t, "carrier", "%u\n", dev->link_up);
}

static void
tree_netdev(struct tree *t, const struct emu_dev *dev)
{
	char link[160];

	tree_netdev_state(t, dev);
	tree_file(t, "ifindex", "%u\n", ABI_IFINDEX_BASE + dev->index);
	tree_file(t, "type", "1\n");
	tree_file(t, "addr_len", "6\n");
	tree_file(t, "dev_port", "0\n");
	tree_file(t, "dev_id", "0x0\n");
	/* devlink port of flavour physical (net/devlink); reading the file of a virtual function fails. */
	if (dev->eswitch.on) {
		tree_file(t, "phys_port_name", "p%u\n", dev->index & 1);
		tree_file(t, "phys_switch_id", "%016" PRIx64 "\n", dev->node_guid);
	}
	tree_file(t, "speed", "%u\n", dev->profile->speed_mbps);
	tree_file(t, "duplex", "full\n");
	tree_file(t, "tx_queue_len", "1000\n");
	tree_file(t, "uevent", "INTERFACE=%s\nIFINDEX=%u\n", dev->netdev_name,
		  ABI_IFINDEX_BASE + dev->index);
	tree_link(t, "device", "../..");
	tree_base(t, "/sys/class/net");
	snprintf(link, sizeof(link), "../../devices/mlxemu/%s/net/%s", dev->folder,
		 dev->netdev_name);
	tree_link(t, dev->netdev_name, link);
}

/*
 * Interfaces of the representors of virtual functions belong to the PF's PCI function, too (Linux, en_rep.c,
 * mlx5e_vport_vf_rep_load()). Only their names are there: nothing is sent or received by them.
 */
static void
tree_representors(struct tree *t, const struct emu_dev *dev)
{
	char name[16], link[160];

	for (unsigned vf = 0; vf < dev->eswitch.vfs; vf++) {
		snprintf(name, sizeof(name), "mlxemu%ur%u", dev->index, vf);
		tree_base(t, PCI_SLOT_PARENT "/%s/net/%s", dev->pci_addr, name);
		tree_file(t, "address", "02:00:00:00:%02x:%02x\n", dev->index, vf);
		tree_file(t, "operstate", "down\n");
		tree_file(t, "dev_port", "0\n");
		tree_file(t, "ifindex", "%u\n", ABI_IFINDEX_BASE + EMU_MAX_PORTS + 32 * dev->index + vf);
		tree_file(t, "phys_port_name", "pf%uvf%u\n", dev->index & 1, vf);
		tree_file(t, "phys_switch_id", "%016" PRIx64 "\n", dev->node_guid);
		tree_base(t, "/sys/class/net");
		snprintf(link, sizeof(link), "../../devices/mlxemu/%s/net/%s", dev->pci_addr, name);
		tree_link(t, name, link);
	}
}

/* PCI functions of the host stay visible next to the emulated ones. */
static void
tree_real_pci(struct tree *t)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir("/sys/bus/pci/devices");

	tree_base(t, "/sys/bus/pci/devices");
	tree_dir(t, "");
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(from, sizeof(from), "/sys/bus/pci/devices/%s", e->d_name);
		if (realpath(from, to) != NULL)
			tree_link(t, e->d_name, to);
	}
	if (d != NULL)
		closedir(d);
}

/* The bond above the interfaces (drivers/net/bonding), in a folder of the emulated tree. Only its name is there. */
static void
tree_bond(struct tree *t, const struct emu_machine *m)
{
	char slaves[16 * EMU_MAX_PORTS] = "";
	size_t n = 0;

	for (unsigned i = 0; i < m->ports; i++) {
		if (emu_bond(&m->dev[i]) == EMU_BOND_NONE)
			continue;
		n += (size_t)snprintf(slaves + n, sizeof(slaves) - n, "%s%s", n != 0 ? " " : "", m->dev[i].netdev_name);
		tree_base(t, PCI_SLOT_PARENT "/%s/net/%s", m->dev[i].pci_addr, m->dev[i].netdev_name);
		tree_link(t, "master", "../../../virtual/net/" EMU_BOND_NETDEV);
	}
	if (n == 0)
		return;
	tree_base(t, PCI_SLOT_PARENT "/virtual/net/" EMU_BOND_NETDEV);
	tree_file(t, "bonding/slaves", "%s\n", slaves);
	tree_file(t, "operstate", "up\n");
	tree_base(t, "/sys/class/net");
	tree_link(t, EMU_BOND_NETDEV, "../../devices/mlxemu/virtual/net/" EMU_BOND_NETDEV);
}

int
emu_sysfs_build(const struct emu_machine *m, const char *dir, char *path, size_t path_len)
{
	struct tree t = {.dir = dir};
	unsigned i;

	for (i = 0; i < m->ports && t.err == 0; i++) {
		if (m->dev[i].parent != NULL)
			tree_auxiliary(&t, &m->dev[i]);
		else
			tree_pci(&t, &m->dev[i]);
		if ((m->dev[i].fronts & EMU_FRONT_VERBS) == 0)
			continue;
		if (emu_bond(&m->dev[i]) != EMU_BOND_MEMBER) {
			tree_ibdev(&t, &m->dev[i]);
			tree_uverbs(&t, &m->dev[i]);
		}
		tree_netdev(&t, &m->dev[i]);
		tree_representors(&t, &m->dev[i]);
	}
	tree_bond(&t, m);
	tree_real_pci(&t);
	if (t.err != 0)
		snprintf(path, path_len, "%s", t.failed);
	return t.err;
}

void
emu_sysfs_refresh(const struct emu_dev *dev, const char *dir)
{
	struct tree t = {.dir = dir};

	if ((dev->fronts & EMU_FRONT_VERBS) == 0)
		return;
	if (emu_bond(dev) != EMU_BOND_MEMBER)
		tree_ibdev_state(&t, dev);
	t.err = 0;
	tree_netdev_state(&t, dev);
}

/* Rename the target of the links; the launcher removes it with the run directory. */
static void
tree_away(const struct emu_dev *dev, const char *dir, const char *name)
{
	char path[PATH_MAX], removed[PATH_MAX];

	snprintf(path, sizeof(path), "%s/root" PCI_SLOT_PARENT "/%s%s%s", dir, dev->folder,
		 name[0] != '\0' ? "/" : "", name);
	snprintf(removed, sizeof(removed), "%s/removed.%s.%s", dir, dev->name, name);
	(void)rename(path, removed);
}

void
emu_sysfs_remove(const struct emu_dev *dev, const char *dir)
{
	static const struct {
		const char *folder;
		size_t name; /* offset in struct emu_dev */
		bool pci;    /* kept if only the firmware has failed */
	} entries[] = {
		{"/dev/infiniband", offsetof(struct emu_dev, uverbs_name), false},
		{"/sys/class/infiniband_verbs", offsetof(struct emu_dev, uverbs_name), false},
		{"/sys/class/infiniband", offsetof(struct emu_dev, ibdev_name), false},
		{"/sys/class/net", offsetof(struct emu_dev, netdev_name), false},
		{"/sys/bus/pci/drivers/mlx5_core", offsetof(struct emu_dev, name), true},
		{"/sys/bus/pci/drivers/vfio-pci", offsetof(struct emu_dev, name), true},
		{"/sys/bus/pci/drivers/mlx4_core", offsetof(struct emu_dev, name), true},
		{"/sys/bus/auxiliary/drivers/" SF_DRIVER, offsetof(struct emu_dev, name), true},
		{"/sys/bus/auxiliary/devices", offsetof(struct emu_dev, name), true},
		{"/sys/bus/pci/devices", offsetof(struct emu_dev, name), true},
	};
	char path[PATH_MAX];
	unsigned i;

	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (entries[i].pci && dev->failed)
			continue;
		snprintf(path, sizeof(path), "%s/root%s/%s", dir, entries[i].folder,
			 (const char *)dev + entries[i].name);
		(void)unlink(path);
	}
	if (!dev->failed) {
		tree_away(dev, dir, "");
		return;
	}
	tree_away(dev, dir, "infiniband");
	tree_away(dev, dir, "infiniband_verbs");
	tree_away(dev, dir, "net");
}

bool
emu_sysfs_has(const struct emu_dev *dev, const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/root/sys/class/infiniband/%s", dir, dev->ibdev_name);
	return lstat(path, &st) == 0;
}

unsigned
emu_sysfs_port(const struct emu_dev *dev, const char *dir, unsigned port, const char *name)
{
	char path[PATH_MAX], digit = '0';
	int fd;

	snprintf(path, sizeof(path), "%s/root" PCI_SLOT_PARENT "/%s/infiniband/%s/ports/%u/%s", dir, dev->folder,
		 dev->ibdev_name, port, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, &digit, 1) != 1)
		digit = '0';
	close(fd);
	return (unsigned)(digit - '0');
}
