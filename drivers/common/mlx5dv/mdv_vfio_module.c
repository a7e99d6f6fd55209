/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * VFIO: memory of the module in the port, by register MCIA. Pages and addresses are arranged as by Linux
 * (mlx5/core/port.c, mlx5_query_module_eeprom()) and `ethtool -m`.
 */
#include <string.h>

#include <linux/ethtool.h>

#include "mdv_vfio.h"

/** Bytes of one access; without MCAM.mcia_32dwords no more (Linux, mlx5_mcia_max_bytes()). */
#define MCIA_BYTES_MAX 48u
#define I2C_LOW 0x50u
#define PAGE_BYTES 128u
/** SFF-8024, table 4-1. */
#define ID_SFP 0x03
#define ID_QSFP 0x0c
#define ID_QSFP_PLUS 0x0d
#define ID_QSFP28 0x11

static int
module_number(struct mdv_dev *dev, uint32_t *number)
{
	struct prm_lane_2_module_mapping lane;
	struct prm_pmlp_reg pmlp = { 0 };
	int ret;

	prm_pmlp_reg_set_local_port(&pmlp, 1);
	ret = mdv_register_access(dev, PRM_REG_PMLP, PRM_ACCESS_REG_OP_READ, &pmlp, sizeof(pmlp), true);
	if (ret != 0)
		return MDV_FAIL_DEV(dev, -ret, "cannot read which module the port has: %s", mdv_errno_name(-ret));
	memcpy(&lane, &pmlp.dw[1], sizeof(lane));
	*number = prm_lane_2_module_mapping_get_module(&lane);
	return 0;
}

/** One access. offset: as `ethtool -m` counts. */
static int
mcia_read(struct mdv_dev *dev, uint32_t module, bool sfp, uint32_t offset, uint32_t bytes, uint8_t *data)
{
	struct prm_mcia_reg mcia = { 0 };
	uint32_t page = 0;
	int ret;

	if (!sfp && offset >= 2 * PAGE_BYTES) {
		page = offset / PAGE_BYTES - 1;
		offset -= page * PAGE_BYTES;
	}
	prm_mcia_reg_set_module(&mcia, module);
	prm_mcia_reg_set_i2c_device_address(&mcia, I2C_LOW + offset / (2 * PAGE_BYTES));
	prm_mcia_reg_set_page_number(&mcia, page);
	prm_mcia_reg_set_device_address(&mcia, offset % (2 * PAGE_BYTES));
	prm_mcia_reg_set_size(&mcia, bytes);
	ret = mdv_register_access(dev, PRM_REG_MCIA, PRM_ACCESS_REG_OP_READ, &mcia, sizeof(mcia), true);
	if (ret != 0)
		return MDV_FAIL_DEV(dev, -ret, "cannot read the module: %s", mdv_errno_name(-ret));
	if (prm_mcia_reg_get_status(&mcia) != 0)
		return MDV_FAIL(dev->name, EIO, "the module does not answer: status %u of MCIA",
				prm_mcia_reg_get_status(&mcia));
	memcpy(data, prm_mcia_reg_dwords(&mcia), bytes);
	return 0;
}

int
mdv_vfio_module_info(struct mdv_dev *dev, struct mdv_module *module)
{
	uint32_t number;
	uint8_t id[2];
	int ret = module_number(dev, &number);

	if (ret == 0)
		ret = mcia_read(dev, number, false, 0, sizeof(id), id);
	if (ret != 0)
		return ret;
	switch (id[0]) {
	case ID_SFP:
		*module = (struct mdv_module){ ETH_MODULE_SFF_8472, ETH_MODULE_SFF_8472_LEN };
		return 0;
	case ID_QSFP:
		*module = (struct mdv_module){ ETH_MODULE_SFF_8436, ETH_MODULE_SFF_8436_MAX_LEN };
		return 0;
	case ID_QSFP_PLUS:
	case ID_QSFP28:
		*module = (struct mdv_module){ ETH_MODULE_SFF_8636, ETH_MODULE_SFF_8636_MAX_LEN };
		if (id[0] == ID_QSFP_PLUS && id[1] < 3)
			module->type = ETH_MODULE_SFF_8436;
		return 0;
	default:
		return MDV_FAIL(dev->name, ENOTSUP, "the module has the unknown identifier 0x%02x", id[0]);
	}
}

int
mdv_vfio_module_read(struct mdv_dev *dev, uint32_t offset, uint32_t bytes, uint8_t *data)
{
	struct mdv_module module;
	uint32_t number, part;
	int ret = mdv_vfio_module_info(dev, &module);

	if (ret == 0)
		ret = module_number(dev, &number);
	for (; ret == 0 && bytes != 0; offset += part, data += part, bytes -= part) {
		/* Not across the end of a page. */
		part = RTE_MIN(RTE_MIN(bytes, MCIA_BYTES_MAX), PAGE_BYTES - offset % PAGE_BYTES);
		ret = mcia_read(dev, number, module.type == ETH_MODULE_SFF_8472, offset, part, data);
	}
	return ret;
}
