/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs backend: opens a context with DEVX through mlx5_ib, next to the kernel driver; events and vectors. */

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mdv_private.h"

#define MDV_PATH_BYTES 512
/** Descriptors that libibverbs has open at a time while it looks for devices, and some more (assumed). */
#define LIBRARY_FDS 8
/** Events taken per call; more than are expected between two calls (assumed). */
#define MDV_EVENTS_MAX 256

int
mdv_uevent_read(const char *path, const char *name, char *value, size_t bytes)
{
	size_t name_len = strlen(name);
	char line[256];
	FILE *file = fopen(path, "re");
	int ret = -ENOENT;

	if (file == NULL)
		return -errno;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, name, name_len) != 0 || line[name_len] != '=')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(value, bytes, "%s", line + name_len + 1);
		ret = 0;
		break;
	}
	fclose(file);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_sysfs_number)
int
mdv_sysfs_number(const char *path, long *number)
{
	FILE *file = fopen(path, "re");
	int ret;

	if (file == NULL)
		return -errno;
	ret = fscanf(file, "%li", number) == 1 ? 0 : -EINVAL;
	fclose(file);
	return ret;
}

/* Soft RDMA devices (rxe, siw) have no PCI function: -ENOENT. */
int
mdv_ibdev_pci(const struct ibv_device *ibdev, struct rte_pci_addr *pci)
{
	char path[MDV_PATH_BYTES], slot[PCI_PRI_STR_SIZE + 1];
	int ret;

	snprintf(path, sizeof(path), "%s/device/uevent", ibdev->ibdev_path);
	ret = mdv_uevent_read(path, "PCI_SLOT_NAME", slot, sizeof(slot));
	if (ret != 0)
		return ret;
	return rte_pci_addr_parse(slot, pci) == 0 ? 0 : -ENOENT;
}

void
mdv_pci_link(const struct rte_pci_addr *pci, const char *file, char *name, size_t bytes)
{
	char path[128], target[256];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/%s", pci->domain, pci->bus,
		 pci->devid, pci->function, file);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	slash = strrchr(target, '/');
	snprintf(name, bytes, "%.*s", (int)bytes - 1, slash != NULL ? slash + 1 : target);
}

int
mdv_sf_pci(const char *name, struct rte_pci_addr *pci)
{
	char path[MDV_PATH_BYTES], real[PATH_MAX];
	const char *pf;

	/* .../0000:c1:00.0/mlx5_core.sf.4 */
	snprintf(path, sizeof(path), MDV_SF_FOLDER "/%s/..", name);
	if (realpath(path, real) == NULL)
		return MDV_FAIL(name, ENODEV, "no such sub-function: %s: %s", path, mdv_errno_name(errno));
	pf = strrchr(real, '/') + 1;
	if (rte_pci_addr_parse(pf, pci) != 0)
		return MDV_FAIL(name, ENODEV, "the sub-function is not one of a PCI function: %s", real);
	return 0;
}

/* Whether the RDMA device is that of the device: 1, 0, or -errno if this cannot be read. */
static int
ibdev_fits(const struct mdv_dev *dev, struct ibv_device *ibdev)
{
	char path[MDV_PATH_BYTES];
	struct rte_pci_addr found;
	int ret;

	if (dev->sf) {
		snprintf(path, sizeof(path), MDV_SF_FOLDER "/%s/infiniband/%s", dev->name,
			 ibv_get_device_name(ibdev));
		return access(path, F_OK) == 0 ? 1 : errno == ENOENT ? 0 : -errno;
	}
	ret = mdv_ibdev_pci(ibdev, &found);
	return ret == -ENOENT ? 0 : ret != 0 ? ret : rte_pci_addr_cmp(&found, &dev->pci) == 0;
}

/** Why the device has no RDMA device, n of which there are. */
static const char *
no_ibdev_reason(const struct mdv_dev *dev, int n)
{
	char driver[64];

	if (dev->sf)
		return "is mlx5_ib loaded, is its parameter enable_rdma on (devlink dev param show auxiliary/...)?";
	mdv_pci_link(&dev->pci, "driver", driver, sizeof(driver));
	if (strcmp(driver, "vfio-pci") == 0)
		return "it is bound to vfio-pci: devarg open=vfio";
	return n == 0 ? "nor any other (are mlx5_ib and ib_uverbs loaded?)" :
	       "though there are others (a bonded port may have none)";
}

/**
 * Whether less than n file descriptors are left, so that libibverbs may have found no device: it then returns an empty
 * list, not an error. 0, or the errno of the open that failed.
 */
static int
descriptors_short(unsigned int n)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return errno;
	err = n > 1 ? descriptors_short(n - 1) : 0;
	close(fd);
	return err;
}

/**
 * Under an active LAG of the hardware all ports of the card have the RDMA device of the first one (mlx5_core, lag.c,
 * mlx5_activate_lag()). False: the interfaces of the function are in no bond, or in another network namespace.
 */
static bool
in_bond(const struct rte_pci_addr *pci, char *netdev, char *bond, size_t bytes)
{
	char path[128];
	struct dirent *entry;
	DIR *dir;

	bond[0] = '\0';
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/net", pci->domain, pci->bus, pci->devid,
		 pci->function);
	dir = opendir(path);
	while (dir != NULL && bond[0] == '\0' && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= bytes)
			continue;
		snprintf(path, sizeof(path), "net/%.*s/master", (int)bytes, entry->d_name);
		mdv_pci_link(pci, path, bond, bytes);
		snprintf(netdev, bytes, "%.*s", (int)bytes - 1, entry->d_name);
	}
	if (dir != NULL)
		closedir(dir);
	return bond[0] != '\0';
}

/** The RDMA device of the device. NULL with rte_errno, logged. */
static struct ibv_device *
find_ibdev(const struct mdv_dev *dev, struct ibv_device **list, int n)
{
	char netdev[IFNAMSIZ], bond[IFNAMSIZ];
	int ret, unread = 0;

	for (int i = 0; i < n; i++) {
		ret = ibdev_fits(dev, list[i]);
		if (ret == 1)
			return list[i];
		if (ret != 0)
			unread = -ret;
	}
	if (unread == 0 && n == 0)
		unread = descriptors_short(LIBRARY_FDS);
	rte_errno = unread != 0 ? unread : ENODEV;
	if (unread != 0)
		MDV_LOG(ERR, dev->name, "no RDMA device found, cannot read %s: %s",
			n == 0 ? "their list (limit of open files)" : "the address of some",
			mdv_errno_name(unread));
	else if (!dev->sf && in_bond(&dev->pci, netdev, bond, sizeof(bond)))
		MDV_LOG(ERR, dev->name, "no RDMA device at this PCI address: interface %s is in the bond %s, whose ports have "
			"the RDMA device of the first one; bonded ports are not supported: ip link set %s nomaster",
			netdev, bond, netdev);
	else
		MDV_LOG(ERR, dev->name, "no RDMA device %s, %s",
			dev->sf ? "of this sub-function" : "at this PCI address", no_ibdev_reason(dev, n));
	return NULL;
}

/* ------------------------------------------------------------------ opening */

/** The errno of opening the device node: libibverbs then tries others and returns the last errno. */
static int
node_errno(const struct ibv_device *ibdev, int err)
{
	char path[MDV_PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", ibdev->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return err;
}

static int
open_ibdev(struct mdv_dev *dev, struct ibv_device *ibdev)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	int err;

	if (!mlx5dv_is_supported(ibdev))
		return MDV_FAIL(dev->name, ENOTSUP, "%s is not an mlx5 device", ibv_get_device_name(ibdev));
	snprintf(dev->ibdev_name, sizeof(dev->ibdev_name), "%s", ibv_get_device_name(ibdev));
	dev->ibv = MDV_RETRY_PTR(dev, mlx5dv_open_device(ibdev, &attr));
	if (dev->ibv != NULL)
		return 0;
	err = node_errno(ibdev, errno);
	/*
	 * Firmware without user contexts (log_max_uctx 0): EINVAL of mlx5_ib (mlx5_ib_devx_create()), which
	 * libibverbs can turn into the EOPNOTSUPP of another provider.
	 */
	if (err == EINVAL || err == EOPNOTSUPP)
		return MDV_FAIL(dev->name, ENOTSUP, "cannot open %s with DEVX: %s: firmware parameter UCTX_EN may be off: "
				"mlxconfig -d " PCI_PRI_FMT " set UCTX_EN=1, then reset the firmware: "
				"mlxfwreset -d " PCI_PRI_FMT " reset", dev->ibdev_name, mdv_errno_name(err),
				dev->pci.domain, dev->pci.bus, dev->pci.devid, dev->pci.function,
				dev->pci.domain, dev->pci.bus, dev->pci.devid, dev->pci.function);
	MDV_LOG(ERR, dev->name, "cannot open %s with DEVX: %s%s", dev->ibdev_name,
		mdv_errno_name(err),
		err == EACCES || err == EPERM ? " (permission for /dev/infiniband?)" :
		err == EBUSY ? " (does another program have it through VFIO?)" : "");
	return mdv_fail(err);
}

static int
verbs_open(struct mdv_dev *dev)
{
	struct ibv_device **list, *ibdev;
	int n = 0, ret;

	errno = 0;
	list = ibv_get_device_list(&n);
	/* ENOSYS: ib_uverbs is not loaded (ibv_get_device_list(3)). */
	if (list == NULL && errno != 0 && errno != ENOSYS)
		return MDV_FAIL(dev->name, errno, "cannot list RDMA devices: %s", mdv_errno_name(errno));
	ibdev = find_ibdev(dev, list, n);
	ret = ibdev != NULL ? open_ibdev(dev, ibdev) : -rte_errno;
	if (list != NULL)
		ibv_free_device_list(list);
	return ret;
}

static void
verbs_close(struct mdv_dev *dev)
{
	/* The kernel would release the memory that the device may still write to: it does so when the process ends. */
	if (!dev->failed || !mdv_memory_kept(dev))
		ibv_close_device(dev->ibv);
	else
		MDV_LEFT(dev->ibv);
}

/* ------------------------------------------------------------------ identification */

static int
verbs_identify(struct mdv_dev *dev)
{
	struct ibv_device_attr attr;
	int err = MDV_RETRY_ERR(dev, ibv_query_device(dev->ibv, &attr));

	if (err != 0)
		return MDV_FAIL(dev->name, err, "ibv_query_device failed: %s", mdv_errno_name(err));
	if (mdv_uplink_find(dev, attr.phys_port_cnt) != 0)
		return -rte_errno;
	mdv_pci_id_set(dev, attr.vendor_part_id);
	snprintf(dev->fw_version, sizeof(dev->fw_version), "%s", attr.fw_ver);
	return 0;
}

/* ------------------------------------------------------------------ free-running counter */

/* libmlx5 returns raw cycles in tv_nsec and 0 in tv_sec (libmlx5, verbs.c, mlx5_query_rt_values). */
static int
verbs_counter(struct mdv_dev *dev, uint64_t *cycles)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int err = ibv_query_rt_values_ex(dev->ibv, &values);

	if (err != 0)
		return err < 0 ? EIO : err;
	if ((values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK) == 0)
		return ENOTSUP;
	*cycles = values.raw_clock.tv_nsec;
	return 0;
}

static const volatile void *
verbs_core_clock(struct mdv_dev *dev)
{
	struct mlx5dv_context attr = { .comp_mask = MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK };

	if (mlx5dv_query_device(dev->ibv, &attr) != 0 ||
	    (attr.comp_mask & MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK) == 0)
		return NULL;
	return attr.hca_core_clock;
}

/* ------------------------------------------------------------------ events and health */

/** Inode of the device's sysfs directory; 0 and *err if it does not exist or cannot be read. */
static uint64_t
folder_inode(const struct mdv_dev *dev, int *err)
{
	struct stat st;

	*err = stat(dev->ibv->device->ibdev_path, &st) == 0 ? 0 : errno;
	return *err == 0 ? st.st_ino : 0;
}

static int
verbs_events_up(struct mdv_dev *dev)
{
	int err;

	dev->event_fd = dev->ibv->async_fd;
	dev->ibdev_inode = folder_inode(dev, &err);
	return mdv_fd_nonblock(dev, dev->event_fd, "event");
}

static int
verbs_health_check(struct mdv_dev *dev)
{
	struct ibv_port_attr attr;

	return MDV_RETRY_ERR(dev, ibv_query_port(dev->ibv, mdv_own(dev)->ib_port, &attr));
}

static uint32_t
event_bit(struct mdv_dev *dev, const struct ibv_async_event *event)
{
	MDV_RECORD(dev, .kind = MDV_RECORD_EVENT, .op = event->event_type, .object = event->element.port_num,
		   .value = event->event_type == IBV_EVENT_PORT_ACTIVE ? MDV_EVENT_PORT_UP :
			    event->event_type == IBV_EVENT_PORT_ERR ? MDV_EVENT_PORT_DOWN : MDV_EVENT_OTHER);
	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
		return event->element.port_num == mdv_own(dev)->ib_port ? MDV_EVENT_LINK : 0;
	case IBV_EVENT_DEVICE_FATAL:
		/* See mdv_quiesced(): the event of a port comes first, from mlx5_ib, the other one from uverbs. */
		if (event->element.port_num != 0)
			mdv_failed_set(dev);
		else
			mdv_quiesced_set(dev);
		return MDV_EVENT_REMOVED;
	default:
		return 0;
	}
}

static uint32_t
verbs_events_take(struct mdv_dev *dev)
{
	struct ibv_async_event event;
	uint32_t events = 0;

	for (int i = 0; i < MDV_EVENTS_MAX; i++) {
		errno = 0;
		if (ibv_get_async_event(dev->ibv, &event) != 0) {
			/* After a removal, as after its event, reading the descriptor fails with EIO. */
			if (errno != EAGAIN && errno != EINTR && !mdv_alive(dev)) {
				events |= MDV_EVENT_REMOVED;
				mdv_quiesced_set(dev);
			}
			break;
		}
		events |= event_bit(dev, &event);
		ibv_ack_async_event(&event);
	}
	if (events & MDV_EVENT_REMOVED)
		mdv_removed_set(dev);
	return events;
}

/* The sysfs directory is deleted after all objects; another device gets another inode. */
static bool
verbs_quiesced(struct mdv_dev *dev)
{
	int err;

	return dev->ibdev_inode != 0 && folder_inode(dev, &err) != dev->ibdev_inode &&
	       (err == 0 || err == ENOENT);
}

/* ------------------------------------------------------------------ interrupt vectors */

static void
verbs_vector_down(struct mdv_vector *v)
{
	if (v->channel != NULL)
		mlx5dv_devx_destroy_event_channel(v->channel);
	if (v->fd >= 0)
		close(v->fd);
}

static int
verbs_vector_up(struct mdv_vector *v)
{
	struct mdv_dev *dev = v->dev;
	/* The kernel spreads the interrupts of completion vectors over the processors (mlx5_core, pci_irq.c). */
	const uint32_t vector = dev->vectors_taken % RTE_MAX(dev->ibv->num_comp_vectors, 1);
	int err = MDV_RETRY_ERR(dev, mlx5dv_devx_query_eqn(dev->ibv, vector, &v->eqn));

	if (err != 0)
		return MDV_FAIL(dev->name, err, "no interrupt vector: mlx5dv_devx_query_eqn failed: %s",
				mdv_errno_name(err));
	dev->vectors_taken++;
	v->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (v->fd < 0)
		return MDV_FAIL(dev->name, errno, "no interrupt vector: cannot create an eventfd: %s",
				mdv_errno_name(errno));
	v->channel = MDV_RETRY_PTR(dev, mlx5dv_devx_create_event_channel(dev->ibv,
			MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA));
	if (v->channel != NULL)
		return 0;
	(void)MDV_FAIL(dev->name, errno, "no interrupt vector: cannot create an event channel: %s",
		       mdv_errno_name(errno));
	close(v->fd);
	return -rte_errno;
}

static int
verbs_vector_attach(struct mdv_vector *v, struct mdv_cq *cq)
{
	struct mdv_dev *dev = v->dev;
	int err = MDV_RETRY_ERR(dev, mlx5dv_devx_subscribe_devx_event_fd(v->channel, v->fd, cq->obj->devx,
							      PRM_EVENT_TYPE_COMP));

	if (err == 0)
		return 0;
	mdv_suspect_if(dev, err);
	return MDV_FAIL_DEV(dev, err, "no interrupts of CQ 0x%x: subscription refused: %s", cq->cqn,
			    mdv_errno_name(err));
}

const struct mdv_backend mdv_backend_verbs = {
	.name = "verbs",
	.register_opcode = PRM_CMD_OP_ACCESS_REGISTER_USER,
	.open = verbs_open,
	.close = verbs_close,
	.identify = verbs_identify,
	.port_up = mdv_verbs_port_up,
	.port_down = mdv_verbs_port_down,
	.events_up = verbs_events_up,
	.events_take = verbs_events_take,
	.health_check = verbs_health_check,
	.quiesced = verbs_quiesced,
	.counter = verbs_counter,
	.core_clock = verbs_core_clock,
	.vector_up = verbs_vector_up,
	.vector_down = verbs_vector_down,
	.vector_attach = verbs_vector_attach,
	.port = &mdv_verbs_port,
};
