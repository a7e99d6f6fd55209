/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Access registers of the port: one row per register. */
#include <endian.h>
#include <string.h>

#include "fw.h"

#define LOCAL_PORT 1u
#define SPEED_25G 25000u
#define SPEED_100G 100000u

struct reg_row {
	uint16_t id;
	uint16_t bytes;
	int (*read)(struct fw_cmd *c, void *reg); /* in: the index fields of the request */
	int (*write)(struct fw_cmd *c, void *reg); /* NULL: read-only */
	bool owner; /* only for the owner of the function */
	bool clock; /* only where the card has a real-time clock (MCAM; Linux, mlx5_is_mtutc_time_capable()) */
};

static int
port_check(struct fw_cmd *c, unsigned local_port)
{
	return local_port == LOCAL_PORT ? 0 : fw_refuse(c, FW_REG_PORT, "%u", local_port);
}

/*
 * assumed: PAOS, PPLR, PPLM and writes of PFCC are refused to a virtual function, which controls no physical port; of
 * PAOS the kernel ignores the result of the write and takes the link from QUERY_VPORT_STATE (Linux,
 * mlx5/core/en_main.c, mlx5e_modify_admin_state() and mlx5e_update_carrier()). Other reading: reads succeed, writes
 * have no effect. Test: fw/test_registers.c.
 */
static int
paos_check(struct fw_cmd *c, unsigned local_port)
{
	return c->dev->vf != 0 ? fw_refuse(c, FW_REG_PORT, "%s", "of a virtual function") : port_check(c, local_port);
}

static int
paos_read(struct fw_cmd *c, void *reg)
{
	const struct emu_dev *dev = c->dev;
	int ret = paos_check(c, prm_paos_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	prm_paos_reg_set_admin_status(reg, dev->admin_up ? PRM_PORT_STATUS_UP
							 : PRM_PORT_STATUS_DOWN);
	prm_paos_reg_set_oper_status(reg, dev->link_up ? PRM_PORT_STATUS_UP
						       : PRM_PORT_STATUS_DOWN);
	return 0;
}

static int
paos_write(struct fw_cmd *c, void *reg)
{
	unsigned status = prm_paos_reg_get_admin_status(reg);
	int ret = paos_check(c, prm_paos_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	if (prm_paos_reg_get_ase(reg) == 0)
		return 0;
	if (status != PRM_PORT_STATUS_UP && status != PRM_PORT_STATUS_DOWN)
		return fw_refuse(c, FW_REG_VALUE, "admin_status %u", status);
	emu_port_set_admin(c->dev, status == PRM_PORT_STATUS_UP);
	return 0;
}

/* Copper cable of the profile's speed, as eth_proto and ext_eth_proto bits. */
static void
ptys_speed(uint32_t mbps, uint32_t *eth, uint32_t *ext)
{
	switch (mbps) {
	case SPEED_25G:
		*eth = PRM_PTYS_ETH_25GBASE_CR;
		*ext = PRM_PTYS_EXT_ETH_25GAUI_1;
		break;
	case SPEED_100G:
		*eth = PRM_PTYS_ETH_100GBASE_CR4;
		*ext = PRM_PTYS_EXT_ETH_100GAUI_4;
		break;
	default: /* no eth_proto bit for this speed */
		*eth = 0;
		*ext = PRM_PTYS_EXT_ETH_200GAUI_4;
		break;
	}
}

static int
ptys_read(struct fw_cmd *c, void *reg)
{
	uint32_t eth, ext;
	int ret = port_check(c, prm_ptys_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	if ((prm_ptys_reg_get_proto_mask(reg) & PRM_PTYS_PROTO_ETH) == 0)
		return fw_refuse(c, FW_REG_VALUE, "proto_mask 0x%x",
				 prm_ptys_reg_get_proto_mask(reg));
	ptys_speed(c->dev->profile->speed_mbps, &eth, &ext);
	prm_ptys_reg_set_eth_proto_capability(reg, eth);
	prm_ptys_reg_set_ext_eth_proto_capability(reg, ext);
	prm_ptys_reg_set_eth_proto_admin(reg, eth);
	prm_ptys_reg_set_ext_eth_proto_admin(reg, ext);
	prm_ptys_reg_set_eth_proto_oper(reg, c->dev->link_up ? eth : 0);
	prm_ptys_reg_set_ext_eth_proto_oper(reg, c->dev->link_up ? ext : 0);
	/* Rate in units of 100 Mb/s. */
	prm_ptys_reg_set_data_rate_oper(reg, c->dev->link_up
					? c->dev->profile->speed_mbps / 100 : 0);
	return 0;
}

static int
pmtu_read(struct fw_cmd *c, void *reg)
{
	unsigned mtu = c->dev->vport.mtu + EMU_L2_OVERHEAD_BYTES;
	int ret = port_check(c, prm_pmtu_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	prm_pmtu_reg_set_max_mtu(reg, c->dev->profile->max_mtu + EMU_L2_OVERHEAD_BYTES);
	prm_pmtu_reg_set_admin_mtu(reg, mtu);
	prm_pmtu_reg_set_oper_mtu(reg, mtu);
	return 0;
}

static int
pmtu_write(struct fw_cmd *c, void *reg)
{
	unsigned mtu = prm_pmtu_reg_get_admin_mtu(reg);
	int ret = port_check(c, prm_pmtu_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	if (mtu < EMU_L2_OVERHEAD_BYTES ||
	    emu_port_set_mtu(c->dev, mtu - EMU_L2_OVERHEAD_BYTES) != 0)
		return fw_refuse(c, FW_REG_VALUE, "admin_mtu %u", mtu);
	return 0;
}

static int
pfcc_read(struct fw_cmd *c, void *reg)
{
	unsigned local_port = prm_pfcc_reg_get_local_port(reg);
	int ret = port_check(c, local_port);

	memset(reg, 0, PRM_PFCC_REG_BYTES);
	prm_pfcc_reg_set_local_port(reg, local_port);
	prm_pfcc_reg_set_pptx(reg, c->dev->pause_tx);
	prm_pfcc_reg_set_pprx(reg, c->dev->pause_rx);
	prm_pfcc_reg_set_pfctx(reg, c->dev->pfc_tx);
	prm_pfcc_reg_set_pfcrx(reg, c->dev->pfc_rx);
	return ret;
}

/*
 * Linux writes either pause frames of the port or those of priorities: mlx5_set_port_pause() and mlx5_set_port_pfc(),
 * which masks the priorities that it changes.
 *
 * assumed: the former end the latter, and both in one write are refused. Other reading: the last write is valid for
 * its direction alone. Test: fw/test_registers.c.
 */
static int
pfcc_write(struct fw_cmd *c, void *reg)
{
	bool tx = !prm_pfcc_reg_get_pptx_mask_n(reg), rx = !prm_pfcc_reg_get_pprx_mask_n(reg);
	unsigned mask_tx = prm_pfcc_reg_get_prio_mask_tx(reg), mask_rx = prm_pfcc_reg_get_prio_mask_rx(reg);
	struct emu_dev *dev = c->dev;
	int ret = paos_check(c, prm_pfcc_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	if ((tx && prm_pfcc_reg_get_pptx(reg) && (prm_pfcc_reg_get_pfctx(reg) & mask_tx) != 0) ||
	    (rx && prm_pfcc_reg_get_pprx(reg) && (prm_pfcc_reg_get_pfcrx(reg) & mask_rx) != 0))
		return fw_refuse(c, FW_REG_VALUE, "%s", "pause frames of the port and of priorities");
	if (tx)
		dev->pause_tx = prm_pfcc_reg_get_pptx(reg);
	if (rx)
		dev->pause_rx = prm_pfcc_reg_get_pprx(reg);
	dev->pfc_tx = dev->pause_tx ? 0 : (dev->pfc_tx & ~mask_tx) | (prm_pfcc_reg_get_pfctx(reg) & mask_tx);
	dev->pfc_rx = dev->pause_rx ? 0 : (dev->pfc_rx & ~mask_rx) | (prm_pfcc_reg_get_pfcrx(reg) & mask_rx);
	return 0;
}

/* One of the modes can be modelled: the PHY returns what the port sends. */
static int
pplr_read(struct fw_cmd *c, void *reg)
{
	unsigned local_port = prm_pplr_reg_get_local_port(reg);
	int ret = paos_check(c, local_port);

	memset(reg, 0, PRM_PPLR_REG_BYTES);
	prm_pplr_reg_set_local_port(reg, local_port);
	prm_pplr_reg_set_lb_cap(reg, PRM_PPLR_LB_PHY_LOCAL);
	prm_pplr_reg_set_lb_en(reg, c->dev->loop_set ? PRM_PPLR_LB_PHY_LOCAL : 0);
	return ret;
}

static int
pplr_write(struct fw_cmd *c, void *reg)
{
	unsigned mode = prm_pplr_reg_get_lb_en(reg);
	int ret = paos_check(c, prm_pplr_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	if (mode != 0 && mode != PRM_PPLR_LB_PHY_LOCAL)
		return fw_refuse(c, FW_REG_SETTING, "lb_en 0x%x", mode);
	c->dev->loop_set = mode != 0;
	return 0;
}

static int
pplm_read(struct fw_cmd *c, void *reg)
{
	int ret = paos_check(c, prm_pplm_reg_get_local_port(reg));

	if (ret == 0)
		fw_pplm_read(c->dev, reg);
	return ret;
}

static int
pplm_write(struct fw_cmd *c, void *reg)
{
	int ret = paos_check(c, prm_pplm_reg_get_local_port(reg));

	return ret != 0 ? ret : fw_pplm_write(c, reg);
}

/* Four lanes (one up to 25 Gb/s) to one module, numbered like the port. */
static int
pmlp_read(struct fw_cmd *c, void *reg)
{
	unsigned width = c->dev->profile->speed_mbps > SPEED_25G ? 4 : 1;
	struct prm_pmlp_reg *pmlp = reg;
	int ret = port_check(c, prm_pmlp_reg_get_local_port(reg));

	if (ret != 0)
		return ret;
	prm_pmlp_reg_set_width(reg, width);
	for (unsigned lane = 0; lane < width; lane++) {
		struct prm_lane_2_module_mapping *m = (void *)&pmlp->dw[1 + lane];

		prm_lane_2_module_mapping_set_module(m, c->dev->index);
		prm_lane_2_module_mapping_set_tx_lane(m, lane);
		prm_lane_2_module_mapping_set_rx_lane(m, lane);
	}
	return 0;
}

static int
pmaos_read(struct fw_cmd *c, void *reg)
{
	if (prm_pmaos_reg_get_module(reg) != c->dev->index)
		return fw_refuse(c, FW_REG_MODULE, "%u", prm_pmaos_reg_get_module(reg));
	prm_pmaos_reg_set_admin_status(reg, 1);
	/* 1 plugged, 2 unplugged */
	prm_pmaos_reg_set_oper_status(reg, c->dev->carrier ? 1 : 2);
	return 0;
}

#define MCIA_BYTES_MAX 48u /* without MCAM.mcia_32dwords */
#define MCIA_I2C_LOW 0x50u
#define MCIA_I2C_HIGH 0x51u
#define MCIA_PAGE_BYTES 128u
#define MCIA_NOT_CONNECTED 3u /* Linux, mlxsw/reg.h, MCIA status */

/*
 * Where a byte of the module's memory is in its image: of a QSFP28 bytes 0 to 127 are of all pages; an SFP28 has two
 * addresses. Linux: mlx5/core/port.c, mlx5_qsfp_eeprom_params_set() and mlx5_sfp_eeprom_params_set().
 */
static unsigned
mcia_offset(unsigned bytes, unsigned i2c, unsigned page, unsigned address)
{
	if (bytes == 2 * 2 * MCIA_PAGE_BYTES)
		return page == 0 ? (i2c - MCIA_I2C_LOW) * 2 * MCIA_PAGE_BYTES + address : bytes;
	return i2c != MCIA_I2C_LOW ? bytes : address < MCIA_PAGE_BYTES ? address : page * MCIA_PAGE_BYTES + address;
}

static int
mcia_read(struct fw_cmd *c, void *reg)
{
	unsigned i2c = prm_mcia_reg_get_i2c_device_address(reg), address = prm_mcia_reg_get_device_address(reg);
	unsigned size = prm_mcia_reg_get_size(reg), page = prm_mcia_reg_get_page_number(reg), bytes, from;
	uint8_t image[EMU_MODULE_BYTES_MAX];

	if (prm_mcia_reg_get_module(reg) != c->dev->index)
		return fw_refuse(c, FW_REG_MODULE, "%u", prm_mcia_reg_get_module(reg));
	if (size == 0 || size > MCIA_BYTES_MAX || address + size > 2 * MCIA_PAGE_BYTES)
		return fw_refuse(c, FW_REG_VALUE, "size %u at %u", size, address);
	bytes = emu_module_image(c->dev, image);
	if (bytes == 0) {
		prm_mcia_reg_set_status(reg, MCIA_NOT_CONNECTED);
		return 0;
	}
	from = i2c == MCIA_I2C_LOW || i2c == MCIA_I2C_HIGH ? mcia_offset(bytes, i2c, page, address) : bytes;
	if (from + size > bytes)
		return fw_refuse(c, FW_REG_VALUE, "i2c address 0x%x, page %u", i2c, page);
	prm_mcia_reg_set_status(reg, 0);
	memcpy(prm_mcia_reg_dwords(reg), image + from, size);
	return 0;
}

/* time_stamp_mode: 0 the internal timer, 1 real time (reader: DPDK's mlx5). */
static int
mtutc_read(struct fw_cmd *c, void *reg)
{
	memset(reg, 0, PRM_MTUTC_REG_BYTES);
	prm_mtutc_reg_set_time_stamp_mode(reg, emu_clock_real(&c->dev->clock));
	return 0;
}

/* HOST_ENDIANNESS sets the byte order of DMA data, not of mailboxes; x86 needs no swap. */
static int
host_endianness_read(struct fw_cmd *c, void *reg)
{
	(void)c;
	memset(reg, 0, PRM_HOST_ENDIANNESS_REG_BYTES);
	return 0;
}

static int
host_endianness_write(struct fw_cmd *c, void *reg)
{
	unsigned he = prm_host_endianness_reg_get_he(reg);

	return he == 0 ? 0 : fw_refuse(c, FW_REG_SETTING, "he 0x%x", he);
}

static int
ppcnt_read(struct fw_cmd *c, void *reg)
{
	int ret = port_check(c, prm_ppcnt_reg_get_local_port(reg));

	return ret != 0 ? ret : fw_ppcnt(c, reg);
}

static int pcam_read(struct fw_cmd *c, void *reg);

static const struct reg_row reg_rows[] = {
	{PRM_REG_PAOS, PRM_PAOS_REG_BYTES, paos_read, paos_write},
	{PRM_REG_PTYS, PRM_PTYS_REG_BYTES, ptys_read, NULL},
	{PRM_REG_PMTU, PRM_PMTU_REG_BYTES, pmtu_read, pmtu_write},
	{PRM_REG_PFCC, PRM_PFCC_REG_BYTES, pfcc_read, pfcc_write},
	{PRM_REG_PPLR, PRM_PPLR_REG_BYTES, pplr_read, pplr_write},
	{PRM_REG_PPLM, PRM_PPLM_REG_BYTES, pplm_read, pplm_write},
	{PRM_REG_PCAM, PRM_PCAM_REG_BYTES, pcam_read, NULL},
	{PRM_REG_PMLP, PRM_PMLP_REG_BYTES, pmlp_read, NULL},
	{PRM_REG_PMAOS, PRM_PMAOS_REG_BYTES, pmaos_read, NULL},
	{PRM_REG_MCIA, PRM_MCIA_REG_BYTES, mcia_read, NULL},
	{PRM_REG_PPCNT, PRM_PPCNT_REG_BYTES, ppcnt_read, NULL},
	{PRM_REG_MTUTC, PRM_MTUTC_REG_BYTES, mtutc_read, NULL, .clock = true},
	{PRM_REG_HOST_ENDIANNESS, PRM_HOST_ENDIANNESS_REG_BYTES, host_endianness_read,
	 host_endianness_write, .owner = true},
};

#define PCAM_FIRST 0x5000u
#define PCAM_REGISTERS 128u

/* Which port registers there are, and features of theirs (reader: Linux, mlx5_get_pcam_reg()). */
static int
pcam_read(struct fw_cmd *c, void *reg)
{
	struct prm_pcam_enhanced_features *features;
	uint32_t *mask;

	if (prm_pcam_reg_get_feature_group(reg) != 0 || prm_pcam_reg_get_access_reg_group(reg) != 0)
		return fw_refuse(c, FW_REG_VALUE, "groups %u and %u", prm_pcam_reg_get_feature_group(reg),
				 prm_pcam_reg_get_access_reg_group(reg));
	memset(reg, 0, PRM_PCAM_REG_BYTES);
	mask = prm_pcam_reg_regs_5000_to_507f(reg)->dw;
	for (unsigned i = 0; i < sizeof(reg_rows) / sizeof(reg_rows[0]); i++) {
		unsigned bit = reg_rows[i].id - PCAM_FIRST;

		if (bit < PCAM_REGISTERS)
			mask[3 - bit / 32] |= htobe32(1u << bit % 32);
	}
	features = prm_pcam_reg_enhanced_features(reg);
	prm_pcam_enhanced_features_set_pfcc_mask(features, 1);
	prm_pcam_enhanced_features_set_ptys_extended_ethernet(features, 1);
	prm_pcam_enhanced_features_set_fec_50G_per_lane_in_pplm(features, emu_fec_lanes_50g(c->dev->profile));
	return 0;
}

static const struct reg_row *
reg_find(unsigned id)
{
	for (unsigned i = 0; i < sizeof(reg_rows) / sizeof(reg_rows[0]); i++)
		if (reg_rows[i].id == id)
			return &reg_rows[i];
	return NULL;
}

/* Reads and writes return the present register. */
static int
reg_write_back(struct fw_cmd *c, const struct reg_row *row, uint32_t *reg)
{
	size_t room = c->out_len - c->desc->out_bytes_min;
	int ret = row->read(c, reg);

	if (ret == 0)
		memcpy((uint8_t *)c->out + c->desc->out_bytes_min, reg,
		       room < row->bytes ? room : row->bytes);
	return ret;
}

/* A read without register data has index fields 0, and port 1. */
static int
reg_get(struct fw_cmd *c, const struct reg_row *row, uint32_t *reg)
{
	size_t given = c->in_len - c->desc->in_bytes_min;

	memcpy(reg, (uint8_t *)c->in + c->desc->in_bytes_min,
	       given < row->bytes ? given : row->bytes);
	return reg_write_back(c, row, reg);
}

static int
reg_set(struct fw_cmd *c, const struct reg_row *row, uint32_t *reg)
{
	size_t given = c->in_len - c->desc->in_bytes_min;
	int ret;

	if (row->write == NULL)
		return fw_refuse(c, FW_REG_READ_ONLY, "%s", prm_reg_name(row->id));
	if (given < row->bytes)
		return fw_refuse(c, FW_REG_LEN, "%zu of %u bytes", given, row->bytes);
	memcpy(reg, (uint8_t *)c->in + c->desc->in_bytes_min, row->bytes);
	ret = row->write(c, reg);
	return ret == 0 ? reg_write_back(c, row, reg) : ret;
}

static int
reg_access(struct fw_cmd *c, bool user)
{
	unsigned id = prm_access_register_in_get_register_id(c->in);
	bool read = prm_access_register_in_get_op_mod(c->in) == PRM_ACCESS_REG_OP_READ;
	const struct reg_row *row = reg_find(id);
	uint32_t reg[PRM_PPCNT_REG_BYTES / 4] = {0}; /* the largest */

	/*
	 * assumed: ACCESS_REGISTER_USER is refused with BAD_OP without access_register_user; mlx5_ib passes it on.
	 * Other reading: BAD_PARAM, or some registers can be read. Test: fw/test_caps.c.
	 */
	if (user && !c->dev->profile->access_register_user)
		return fw_refuse(c, FW_REG_NO_USER, "%s", prm_reg_name(id));
	if (row == NULL || (row->owner && c->ctx->iommu == NULL) ||
	    (row->clock && !c->dev->profile->real_time))
		return fw_refuse(c, FW_REG_UNKNOWN, "%s (0x%x)", prm_reg_name(id), id);
	if (read)
		return reg_get(c, row, reg);
	if (user)
		return fw_refuse(c, FW_REG_USER, "%s", prm_reg_name(id));
	return reg_set(c, row, reg);
}

int
fw_access_register(struct fw_cmd *c)
{
	return reg_access(c, false);
}

int
fw_access_register_user(struct fw_cmd *c)
{
	return reg_access(c, true);
}
