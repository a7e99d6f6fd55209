/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Information about mlx4 devices (ConnectX-3), which this layer does not drive. */

#include <stdio.h>
#include <string.h>

#include <infiniband/mlx4dv.h>

#include "mdv_mlx4.h"
#include "mdv_private.h"

#define PATH_BYTES 512
#define VENDOR 0x15b3

/* pci.ids, vendor 15b3. libmlx4 also supports older cards, which DPDK's net_mlx4 does not. */
static const struct {
	uint16_t pci_device_id;
	const char *card;
} cards[] = {
	{ 0x1002, "ConnectX-2 VF" }, { 0x1003, "ConnectX-3" }, { 0x1004, "ConnectX-3 VF" },
	{ 0x1007, "ConnectX-3 Pro" },
};

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mlx4_card)
const char *
mdv_mlx4_card(uint16_t pci_device_id)
{
	for (size_t i = 0; i < RTE_DIM(cards); i++)
		if (cards[i].pci_device_id == pci_device_id)
			return cards[i].card;
	return NULL;
}

/** Reads a number from the device's sysfs directory; 0 if it cannot be read. */
static long
pci_number(const struct ibv_device *ibdev, const char *name)
{
	char path[PATH_BYTES];
	long number = 0;

	snprintf(path, sizeof(path), "%s/device/%s", ibdev->ibdev_path, name);
	(void)mdv_sysfs_number(path, &number);
	return number;
}

/**
 * mlx4dv_query_device() does not check that a context belongs to libmlx4, and libmlx4 has no function
 * like mlx5dv_is_supported(). Check the PCI ids that libmlx4 matches, and that libmlx5 does not
 * claim the device.
 */
static bool
is_mlx4(struct ibv_device *ibdev, uint16_t *pci_device_id)
{
	long id = pci_number(ibdev, "device");

	if (pci_number(ibdev, "vendor") != VENDOR || id < 0 || id > UINT16_MAX ||
	    mdv_mlx4_card(id) == NULL || mlx5dv_is_supported(ibdev))
		return false;
	*pci_device_id = id;
	return true;
}

static int
attributes_read(struct ibv_context *ibv, struct mdv_mlx4 *out)
{
	const uint64_t wanted = out->comp_mask;
	struct mlx4dv_context attrs = { .comp_mask = wanted };
	struct ibv_device_attr device;
	int err = MDV_RETRY_ERR(NULL, ibv_query_device(ibv, &device));

	/* Compare the id of the context with that of sysfs. */
	if (err == 0 && device.vendor_part_id != out->pci_device_id)
		err = ENOTSUP;
	if (err == 0)
		err = MDV_RETRY_ERR(NULL, mlx4dv_query_device(ibv, &attrs));
	if (err != 0)
		return -err;
	snprintf(out->fw_version, sizeof(out->fw_version), "%s", device.fw_ver);
	out->ports = device.phys_port_cnt;
	out->version = attrs.version;
	out->max_inl_recv_sz = attrs.max_inl_recv_sz;
	out->comp_mask = attrs.comp_mask & wanted;
	return 0;
}

static int
query(struct ibv_device *ibdev, struct mdv_mlx4 *out)
{
	struct ibv_context *ibv;
	int ret;

	if (!is_mlx4(ibdev, &out->pci_device_id))
		return -ENOTSUP;
	snprintf(out->ibdev_name, sizeof(out->ibdev_name), "%s", ibv_get_device_name(ibdev));
	out->card = mdv_mlx4_card(out->pci_device_id);
	ibv = MDV_RETRY_PTR(NULL, ibv_open_device(ibdev));
	if (ibv == NULL)
		return -errno;
	ret = attributes_read(ibv, out);
	ibv_close_device(ibv);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_mlx4_query)
int
mdv_mlx4_query(const struct rte_pci_addr *pci, struct mdv_mlx4 *out)
{
	const uint64_t wanted = out->comp_mask;
	struct rte_pci_addr found;
	struct ibv_device **list;
	int n = 0, ret = -ENODEV;

	memset(out, 0, sizeof(*out));
	out->comp_mask = wanted;
	list = ibv_get_device_list(&n);
	for (int i = 0; list != NULL && i < n; i++) {
		if (mdv_ibdev_pci(list[i], &found) != 0 || rte_pci_addr_cmp(&found, pci) != 0)
			continue;
		ret = query(list[i], out);
		break;
	}
	if (list != NULL)
		ibv_free_device_list(list);
	if (ret != 0)
		memset(out, 0, sizeof(*out));
	return ret;
}
