/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Opens a device by its PCI address, in stages that are unwound backwards. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mdv_private.h"

#define MDV_PATH_BYTES 512

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

/** The PCI function behind an RDMA device; -ENOENT for a device that has none. */
static int
ibdev_pci(const struct ibv_device *ibdev, struct rte_pci_addr *pci)
{
	char path[MDV_PATH_BYTES], slot[PCI_PRI_STR_SIZE + 1];
	int ret;

	snprintf(path, sizeof(path), "%s/device/uevent", ibdev->ibdev_path);
	ret = mdv_uevent_read(path, "PCI_SLOT_NAME", slot, sizeof(slot));
	if (ret != 0)
		return ret;
	return rte_pci_addr_parse(slot, pci) == 0 ? 0 : -ENOENT;
}

/** The RDMA device at the address; without one NULL, one line, and rte_errno. */
static struct ibv_device *
find_ibdev(struct ibv_device **list, int n, const struct rte_pci_addr *pci)
{
	struct rte_pci_addr found;
	int ret, unread = 0;

	for (int i = 0; i < n; i++) {
		ret = ibdev_pci(list[i], &found);
		if (ret == 0 && rte_pci_addr_cmp(&found, pci) == 0)
			return list[i];
		if (ret != 0 && ret != -ENOENT)
			unread = -ret;
	}
	rte_errno = unread != 0 ? unread : ENODEV;
	if (unread != 0)
		MDV_LOG(ERR, pci, "no RDMA device found: some do not tell their address: %s",
			mdv_errno_name(unread));
	else
		MDV_LOG(ERR, pci, "no RDMA device at this PCI address, %s",
			n == 0 ? "nor any other (are mlx5_ib and ib_uverbs loaded?)" :
				 "though there are others (a bonded port may have none)");
	return NULL;
}

/* ------------------------------------------------------------------ stages */

static int
open_ibdev(struct mdv_dev *dev, struct ibv_device *ibdev)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	int err;

	if (!mlx5dv_is_supported(ibdev)) {
		MDV_LOG(ERR, &dev->pci, "%s is not an mlx5 device", ibv_get_device_name(ibdev));
		return mdv_fail(ENOTSUP);
	}
	snprintf(dev->ibdev_name, sizeof(dev->ibdev_name), "%s", ibv_get_device_name(ibdev));
	errno = 0;
	dev->ibv = MDV_MAKE(mlx5dv_open_device(ibdev, &attr));
	if (dev->ibv != NULL)
		return 0;
	err = errno != 0 ? errno : EIO;
	MDV_LOG(ERR, &dev->pci, "cannot open %s with DEVX: %s%s", dev->ibdev_name,
		mdv_errno_name(err),
		err == EACCES || err == EPERM ? " (permission for /dev/infiniband?)" : "");
	/* The kernel says EINVAL or EOPNOTSUPP when it, or the firmware, has no DEVX. */
	return mdv_fail(err == EINVAL || err == EOPNOTSUPP ? ENOTSUP : err);
}

static int
context_up(struct mdv_dev *dev)
{
	struct ibv_device **list, *ibdev;
	int n = 0, ret;

	errno = 0;
	list = ibv_get_device_list(&n);
	/* ENOSYS: the kernel's part is not loaded, there is nothing to list. */
	if (list == NULL && errno != 0 && errno != ENOSYS) {
		int err = errno;

		MDV_LOG(ERR, &dev->pci, "cannot list RDMA devices: %s", mdv_errno_name(err));
		return mdv_fail(err);
	}
	ibdev = find_ibdev(list, n, &dev->pci);
	ret = ibdev != NULL ? open_ibdev(dev, ibdev) : -rte_errno;
	if (list != NULL)
		ibv_free_device_list(list);
	return ret;
}

static void
context_down(struct mdv_dev *dev)
{
	ibv_close_device(dev->ibv);
}

static int
pd_up(struct mdv_dev *dev)
{
	struct mlx5dv_pd dv_pd = { 0 };
	struct mlx5dv_obj obj = { .pd = { .out = &dv_pd } };
	int err;

	errno = 0;
	dev->pd = MDV_MAKE(ibv_alloc_pd(dev->ibv));
	if (dev->pd == NULL) {
		err = errno != 0 ? errno : EIO;
		MDV_LOG(ERR, &dev->pci, "ibv_alloc_pd failed: %s", mdv_errno_name(err));
		return mdv_fail(err);
	}
	obj.pd.in = dev->pd;
	err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);
	if (err != 0) {
		MDV_LOG(ERR, &dev->pci, "mlx5dv_init_obj of the PD failed: %s",
			mdv_errno_name(err < 0 ? EIO : err));
		ibv_dealloc_pd(dev->pd);
		return mdv_fail(err < 0 ? EIO : err);
	}
	dev->pdn = dv_pd.pdn;
	return 0;
}

static void
pd_down(struct mdv_dev *dev)
{
	int err;

	/* What was lost still belongs to the PD: the kernel takes both when the context closes. */
	if (dev->lost != 0) {
		if (!mdv_gone(dev))
			MDV_LOG(WARNING, &dev->pci,
				"PD 0x%x is left to the kernel with %u lost objects", dev->pdn,
				dev->lost);
		return;
	}
	err = MDV_UNDO(dev, ibv_dealloc_pd(dev->pd));
	if (err != 0)
		MDV_LOG_ERR(dev, "PD 0x%x stays behind -> %s", dev->pdn, mdv_errno_name(err));
}

static int
uar_up(struct mdv_dev *dev)
{
	int err;

	errno = 0;
	dev->uar = MDV_MAKE(mlx5dv_devx_alloc_uar(dev->ibv, MLX5DV_UAR_ALLOC_TYPE_NC));
	if (dev->uar == NULL)
		dev->uar = MDV_MAKE(mlx5dv_devx_alloc_uar(dev->ibv, MLX5DV_UAR_ALLOC_TYPE_BF));
	if (dev->uar != NULL)
		return 0;
	err = errno != 0 ? errno : EIO;
	MDV_LOG(ERR, &dev->pci, "mlx5dv_devx_alloc_uar failed: %s", mdv_errno_name(err));
	return mdv_fail(err);
}

static void
uar_down(struct mdv_dev *dev)
{
	mlx5dv_devx_free_uar(dev->uar);
}

static int
eqn_up(struct mdv_dev *dev)
{
	int err = MDV_ASK(mlx5dv_devx_query_eqn(dev->ibv, 0, &dev->eqn));

	if (err == 0)
		return 0;
	MDV_LOG(ERR, &dev->pci, "mlx5dv_devx_query_eqn of vector 0 failed: %s",
		mdv_errno_name(err));
	return mdv_fail(err);
}

static int
td_up(struct mdv_dev *dev)
{
	struct prm_alloc_transport_domain_in in;

	memset(&in, 0, sizeof(in));
	prm_alloc_transport_domain_in_set_opcode(&in, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	dev->td = mdv_obj_create(dev, &in, sizeof(in));
	if (dev->td == NULL)
		return -rte_errno;
	dev->tdn = dev->td->id;
	return 0;
}

static void
td_down(struct mdv_dev *dev)
{
	mdv_obj_destroy(dev->td);
}

/** Order matters: each stage may use what stands above it. */
static const struct {
	const char *name;
	int (*up)(struct mdv_dev *dev);
	void (*down)(struct mdv_dev *dev);
} stages[] = {
	{ "context", context_up, context_down },
	{ "events", mdv_events_open, NULL },
	{ "capabilities", mdv_caps_read, NULL },
	{ "LAG", mdv_lag_check, NULL },
	{ "PD", pd_up, pd_down },
	{ "UAR", uar_up, uar_down },
	{ "EQ number", eqn_up, NULL },
	{ "transport domain", td_up, td_down },
	{ "port", mdv_port_open, mdv_port_close },
	{ "counters", mdv_counters_open, mdv_counters_close },
	{ "rules", mdv_rules_open, mdv_rules_close },
	{ "memory", mdv_mr_open, mdv_mr_close },
};

static void
stages_down(struct mdv_dev *dev, size_t n)
{
	while (n-- > 0)
		if (stages[n].down != NULL)
			stages[n].down(dev);
}

int
mdv_open(const struct rte_pci_addr *pci, enum mdv_open_mode mode, struct mdv_dev **out)
{
	struct mdv_dev *dev;
	int ret;

	*out = NULL;
	if (mode != MDV_OPEN_VERBS) {
		MDV_LOG(ERR, pci, "no way to open a device in mode %d", (int)mode);
		return mdv_fail(mode == MDV_OPEN_VFIO ? ENOTSUP : EINVAL);
	}
	dev = calloc(1, sizeof(*dev));
	if (dev == NULL) {
		MDV_LOG(ERR, pci, "no memory for a device");
		return mdv_fail(ENOMEM);
	}
	dev->pci = *pci;
	dev->mode = mode;
	dev->netdev_sock = -1;
	for (size_t i = 0; i < RTE_DIM(stages); i++) {
		ret = stages[i].up(dev);
		if (ret == 0)
			continue;
		MDV_LOG(DEBUG, pci, "open stopped at stage \"%s\"", stages[i].name);
		stages_down(dev, i);
		free(dev);
		return mdv_fail(-ret);
	}
	*out = dev;
	MDV_LOG(INFO, pci, "%s open, firmware %s, interface %s", dev->ibdev_name, dev->fw_version,
		dev->netdev_name[0] != '\0' ? dev->netdev_name : "none");
	return 0;
}

void
mdv_close(struct mdv_dev *dev)
{
	if (dev == NULL)
		return;
	stages_down(dev, RTE_DIM(stages));
	free(dev);
}
