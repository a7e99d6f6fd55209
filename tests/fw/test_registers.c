/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Access registers and counters: what the port's sums say is what the registers say. */
#include "fw_fixture.h"

static struct fix f;

struct access {
	struct prm_access_register_in head;
	uint32_t reg[PRM_PPCNT_REG_BYTES / 4];
};

static uint32_t
access_reg(uint16_t opcode, unsigned op, unsigned id, const void *reg, size_t bytes)
{
	struct access in = {0};

	prm_access_register_in_set_opcode(&in.head, opcode);
	prm_access_register_in_set_op_mod(&in.head, op);
	prm_access_register_in_set_register_id(&in.head, id);
	if (bytes != 0)
		memcpy(in.reg, reg, bytes);
	return fix_exec_as(&f, f.ctx, &in, sizeof(in.head) + bytes, 16 + PRM_PPCNT_REG_BYTES);
}

/* Reads by the user's command and leaves the answer in the outbox. */
static uint32_t
read_reg(unsigned id, const void *reg, size_t bytes)
{
	return access_reg(PRM_CMD_OP_ACCESS_REGISTER_USER, PRM_ACCESS_REG_OP_READ, id, reg, bytes);
}

static uint32_t
write_reg(unsigned id, const void *reg, size_t bytes)
{
	return access_reg(PRM_CMD_OP_ACCESS_REGISTER, PRM_ACCESS_REG_OP_WRITE, id, reg, bytes);
}

static void *
answer(void)
{
	return &f.out[4];
}

static void
test_paos(void)
{
	struct prm_paos_reg reg = {0};

	CHECK_EQ(read_reg(PRM_REG_PAOS, &reg, sizeof(reg)), fix_code(FW_REG_PORT));
	CHECK_EQ(((const uint8_t *)f.out)[0], PRM_STATUS_BAD_PARAM); /* as a card, not BAD_INDEX */
	prm_paos_reg_set_local_port(&reg, 1);
	CHECK_EQ(read_reg(PRM_REG_PAOS, &reg, sizeof(reg)), 0);
	CHECK_EQ(prm_paos_reg_get_admin_status(answer()), PRM_PORT_STATUS_UP);
	CHECK_EQ(prm_paos_reg_get_oper_status(answer()), PRM_PORT_STATUS_DOWN);
	emu_port_set_carrier(f.dev, true);
	CHECK_EQ(read_reg(PRM_REG_PAOS, &reg, sizeof(reg)), 0);
	CHECK_EQ(prm_paos_reg_get_oper_status(answer()), PRM_PORT_STATUS_UP);
	prm_paos_reg_set_ase(&reg, 1);
	prm_paos_reg_set_admin_status(&reg, PRM_PORT_STATUS_DOWN);
	CHECK_EQ(access_reg(PRM_CMD_OP_ACCESS_REGISTER_USER, PRM_ACCESS_REG_OP_WRITE, PRM_REG_PAOS,
			    &reg, sizeof(reg)), fix_code(FW_REG_USER));
	CHECK(f.dev->link_up);
	CHECK_EQ(write_reg(PRM_REG_PAOS, &reg, sizeof(reg) - 4), fix_code(FW_REG_LEN));
	CHECK_EQ(write_reg(PRM_REG_PAOS, &reg, sizeof(reg)), 0);
	CHECK(!f.dev->link_up && !f.dev->admin_up);
	/* A write is answered by the register; without ase it is no more than that. */
	CHECK_EQ(prm_paos_reg_get_oper_status(answer()), PRM_PORT_STATUS_DOWN);
	prm_paos_reg_set_ase(&reg, 0);
	prm_paos_reg_set_admin_status(&reg, PRM_PORT_STATUS_UP);
	CHECK_EQ(write_reg(PRM_REG_PAOS, &reg, sizeof(reg)), 0);
	CHECK(!f.dev->admin_up);
	CHECK_EQ(prm_paos_reg_get_admin_status(answer()), PRM_PORT_STATUS_DOWN);
	prm_paos_reg_set_ase(&reg, 1);
	prm_paos_reg_set_admin_status(&reg, PRM_PORT_STATUS_DISABLED);
	CHECK_EQ(write_reg(PRM_REG_PAOS, &reg, sizeof(reg)), fix_code(FW_REG_VALUE));
	emu_port_set_admin(f.dev, true);
	CHECK(f.dev->link_up);
	/* A virtual function has no say over the port, and a link of its own. */
	f.dev->vf = EMU_VF;
	CHECK_EQ(read_reg(PRM_REG_PAOS, &reg, sizeof(reg)), fix_code(FW_REG_PORT));
	CHECK_EQ(write_reg(PRM_REG_PAOS, &reg, sizeof(reg)), fix_code(FW_REG_PORT));
	f.dev->vf = EMU_VF | EMU_VF_LINK_DOWN;
	emu_port_set_carrier(f.dev, true);
	CHECK(!f.dev->link_up);
	f.dev->vf = EMU_VF | EMU_VF_LINK_UP;
	emu_port_set_carrier(f.dev, false);
	CHECK(f.dev->link_up);
	f.dev->vf = 0;
	emu_port_set_carrier(f.dev, true);
}

static void
test_pmtu(void)
{
	struct prm_pmtu_reg reg = {0};

	prm_pmtu_reg_set_local_port(&reg, 1);
	CHECK_EQ(read_reg(PRM_REG_PMTU, &reg, sizeof(reg)), 0);
	CHECK_EQ(prm_pmtu_reg_get_admin_mtu(answer()), 1522);
	CHECK_EQ(prm_pmtu_reg_get_max_mtu(answer()), 10000);
	prm_pmtu_reg_set_admin_mtu(&reg, 9022);
	CHECK_EQ(write_reg(PRM_REG_PMTU, &reg, sizeof(reg)), 0);
	CHECK_EQ(f.dev->vport.mtu, 9000);
	prm_pmtu_reg_set_admin_mtu(&reg, 10001);
	CHECK_EQ(write_reg(PRM_REG_PMTU, &reg, sizeof(reg)), fix_code(FW_REG_VALUE));
	prm_pmtu_reg_set_admin_mtu(&reg, 20);
	CHECK_EQ(write_reg(PRM_REG_PMTU, &reg, sizeof(reg)), fix_code(FW_REG_VALUE));
	CHECK_EQ(f.dev->vport.mtu, 9000);
	CHECK_EQ(emu_port_set_mtu(f.dev, 1500), 0);
}

static void
test_ptys(void)
{
	struct prm_ptys_reg reg = {0};

	prm_ptys_reg_set_local_port(&reg, 1);
	CHECK_EQ(read_reg(PRM_REG_PTYS, &reg, sizeof(reg)), fix_code(FW_REG_VALUE));
	prm_ptys_reg_set_proto_mask(&reg, PRM_PTYS_PROTO_ETH);
	CHECK_EQ(read_reg(PRM_REG_PTYS, &reg, sizeof(reg)), 0);
	CHECK_EQ(prm_ptys_reg_get_eth_proto_oper(answer()), PRM_PTYS_ETH_100GBASE_CR4);
	CHECK_EQ(prm_ptys_reg_get_ext_eth_proto_oper(answer()), PRM_PTYS_EXT_ETH_100GAUI_4);
	CHECK_EQ(prm_ptys_reg_get_data_rate_oper(answer()), 1000);
	emu_port_set_carrier(f.dev, false);
	CHECK_EQ(read_reg(PRM_REG_PTYS, &reg, sizeof(reg)), 0);
	CHECK_EQ(prm_ptys_reg_get_eth_proto_oper(answer()), 0);
	CHECK_EQ(prm_ptys_reg_get_eth_proto_admin(answer()), PRM_PTYS_ETH_100GBASE_CR4);
	CHECK_EQ(write_reg(PRM_REG_PTYS, &reg, sizeof(reg)), fix_code(FW_REG_READ_ONLY));
	emu_port_set_carrier(f.dev, true);
}

static void
test_others(void)
{
	struct prm_pmlp_reg pmlp = {0};
	struct prm_pfcc_reg pfcc = {0};

	prm_pmlp_reg_set_local_port(&pmlp, 1);
	CHECK_EQ(read_reg(PRM_REG_PMLP, &pmlp, sizeof(pmlp)), 0);
	CHECK_EQ(prm_pmlp_reg_get_width(answer()), 4);
	prm_pfcc_reg_set_local_port(&pfcc, 1);
	CHECK_EQ(read_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), 0);
	CHECK_EQ(prm_pfcc_reg_get_local_port(answer()), 1);
	CHECK_EQ(write_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), 0);
	prm_pfcc_reg_set_pptx(&pfcc, 1);
	prm_pfcc_reg_set_pprx_mask_n(&pfcc, 1);
	f.dev->pause_rx = true;
	CHECK_EQ(write_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), 0);
	CHECK(f.dev->pause_tx && f.dev->pause_rx);
	CHECK_EQ(read_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), 0);
	CHECK(prm_pfcc_reg_get_pptx(answer()) && prm_pfcc_reg_get_pprx(answer()));
	f.dev->vf = EMU_VF;
	CHECK_EQ(write_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), fix_code(FW_REG_PORT));
	f.dev->vf = 0;
	/* Of priorities only those of the mask are changed; not both kinds of pause frames. */
	prm_pfcc_reg_set_pfctx(&pfcc, 0x81);
	prm_pfcc_reg_set_prio_mask_tx(&pfcc, 0x80);
	CHECK_EQ(write_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), fix_code(FW_REG_VALUE));
	prm_pfcc_reg_set_pptx(&pfcc, 0);
	prm_pfcc_reg_set_pprx_mask_n(&pfcc, 0);
	CHECK_EQ(write_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), 0);
	CHECK(!f.dev->pause_tx && !f.dev->pause_rx && f.dev->pfc_tx == 0x80 && f.dev->pfc_rx == 0);
	prm_pfcc_reg_set_pfcrx(&pfcc, 0x03);
	prm_pfcc_reg_set_prio_mask_rx(&pfcc, 0x03);
	prm_pfcc_reg_set_prio_mask_tx(&pfcc, 0x01);
	CHECK_EQ(write_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), 0);
	CHECK_EQ(prm_pfcc_reg_get_pfctx(answer()), 0x81);
	CHECK_EQ(prm_pfcc_reg_get_pfcrx(answer()), 0x03);
	memset(&pfcc, 0, sizeof(pfcc));
	prm_pfcc_reg_set_local_port(&pfcc, 1);
	prm_pfcc_reg_set_pprx(&pfcc, 1);
	CHECK_EQ(write_reg(PRM_REG_PFCC, &pfcc, sizeof(pfcc)), 0);
	CHECK(f.dev->pfc_tx == 0x81 && f.dev->pfc_rx == 0 && f.dev->pause_rx);
	f.dev->pfc_tx = 0;
	f.dev->pause_rx = false;
	/* The time register may be read without register data. */
	CHECK_EQ(read_reg(PRM_REG_MTUTC, NULL, 0), 0);
	CHECK_EQ(prm_mtutc_reg_get_time_stamp_mode(answer()), 0);
	CHECK_EQ(read_reg(0xffff, NULL, 0), fix_code(FW_REG_UNKNOWN));
}

/* The PHY's loopback: in effect from the next time that the port is set up, with a link that needs no cable. */
static void
test_loopback(void)
{
	struct prm_pplr_reg pplr = {0};

	prm_pplr_reg_set_local_port(&pplr, 1);
	CHECK_EQ(read_reg(PRM_REG_PPLR, &pplr, sizeof(pplr)), 0);
	CHECK_EQ(prm_pplr_reg_get_lb_cap(answer()), PRM_PPLR_LB_PHY_LOCAL);
	CHECK_EQ(prm_pplr_reg_get_lb_en(answer()), 0);
	prm_pplr_reg_set_lb_en(&pplr, PRM_PPLR_LB_EXTERNAL_LOCAL);
	CHECK_EQ(write_reg(PRM_REG_PPLR, &pplr, sizeof(pplr)), fix_code(FW_REG_SETTING));
	prm_pplr_reg_set_lb_en(&pplr, PRM_PPLR_LB_PHY_LOCAL);
	CHECK_EQ(write_reg(PRM_REG_PPLR, &pplr, sizeof(pplr)), 0);
	CHECK_EQ(prm_pplr_reg_get_lb_en(answer()), PRM_PPLR_LB_PHY_LOCAL);
	emu_port_set_carrier(f.dev, false);
	emu_port_set_admin(f.dev, true);
	CHECK(!f.dev->loop_on && !f.dev->link_up);
	emu_port_set_admin(f.dev, false);
	CHECK(!f.dev->loop_on && !f.dev->link_up);
	emu_port_set_admin(f.dev, true);
	CHECK(f.dev->loop_on && f.dev->link_up);
	f.dev->vf = EMU_VF;
	CHECK_EQ(read_reg(PRM_REG_PPLR, &pplr, sizeof(pplr)), fix_code(FW_REG_PORT));
	CHECK_EQ(write_reg(PRM_REG_PPLR, &pplr, sizeof(pplr)), fix_code(FW_REG_PORT));
	f.dev->vf = 0;
	prm_pplr_reg_set_lb_en(&pplr, 0);
	CHECK_EQ(write_reg(PRM_REG_PPLR, &pplr, sizeof(pplr)), 0);
	CHECK(f.dev->loop_on);
	emu_port_set_admin(f.dev, false);
	emu_port_set_admin(f.dev, true);
	CHECK(!f.dev->loop_on && !f.dev->link_up);
	emu_port_set_carrier(f.dev, true);
}

/* Modes of a link mode are checked; a new one is in effect from the next time that the port is set up. */
static void
test_fec(void)
{
	struct prm_pplm_reg pplm = {0};
	struct prm_pcam_reg pcam = {0};

	CHECK_EQ(read_reg(PRM_REG_PCAM, &pcam, sizeof(pcam)), 0);
	CHECK_EQ(prm_pcam_regs_5000_to_507f_get_pplm(prm_pcam_reg_regs_5000_to_507f(answer())), 1);
	CHECK_EQ(prm_pcam_regs_5000_to_507f_get_ppcnt(prm_pcam_reg_regs_5000_to_507f(answer())), 1);
	CHECK_EQ(prm_pcam_regs_5000_to_507f_get_pbmc(prm_pcam_reg_regs_5000_to_507f(answer())), 0);
	CHECK_EQ(prm_pcam_enhanced_features_get_fec_50G_per_lane_in_pplm(prm_pcam_reg_enhanced_features(answer())), 0);
	prm_pcam_reg_set_feature_group(&pcam, 1);
	CHECK_EQ(read_reg(PRM_REG_PCAM, &pcam, sizeof(pcam)), fix_code(FW_REG_VALUE));

	CHECK_EQ(read_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), fix_code(FW_REG_PORT));
	prm_pplm_reg_set_local_port(&pplm, 1);
	CHECK_EQ(read_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), 0);
	CHECK_EQ(prm_pplm_reg_get_fec_override_cap_25g(answer()), 7);
	CHECK_EQ(prm_pplm_reg_get_fec_override_cap_100g(answer()), 5);
	CHECK_EQ(prm_pplm_reg_get_fec_override_cap_100g_2x(answer()), 0);
	CHECK_EQ(prm_pplm_reg_get_fec_override_admin_100g(answer()), 0);
	CHECK_EQ(prm_pplm_reg_get_fec_mode_active(answer()), PRM_PPLM_FEC_RS_528_514);
	prm_pplm_reg_set_fec_override_admin_100g(&pplm, PRM_PPLM_FEC_NOFEC);
	prm_pplm_reg_set_fec_override_admin_25g(&pplm, PRM_PPLM_FEC_FIRECODE);
	CHECK_EQ(write_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), 0);
	CHECK_EQ(prm_pplm_reg_get_fec_override_admin_100g(answer()), PRM_PPLM_FEC_NOFEC);
	CHECK_EQ(prm_pplm_reg_get_fec_mode_active(answer()), PRM_PPLM_FEC_RS_528_514);
	emu_port_set_admin(f.dev, false);
	CHECK_EQ(emu_fec_active(f.dev), 0);
	emu_port_set_admin(f.dev, true);
	CHECK_EQ(emu_fec_active(f.dev), PRM_PPLM_FEC_NOFEC);
	prm_pplm_reg_set_fec_override_admin_100g(&pplm, PRM_PPLM_FEC_FIRECODE);
	CHECK_EQ(write_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), fix_code(FW_REG_VALUE));
	prm_pplm_reg_set_fec_override_admin_100g(&pplm, PRM_PPLM_FEC_NOFEC | PRM_PPLM_FEC_RS_528_514);
	CHECK_EQ(write_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), fix_code(FW_REG_VALUE));
	prm_pplm_reg_set_fec_override_admin_100g(&pplm, 0);
	prm_pplm_reg_set_rs_fec_correction_bypass_admin(&pplm, 1);
	CHECK_EQ(write_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), fix_code(FW_REG_SETTING));
	prm_pplm_reg_set_rs_fec_correction_bypass_admin(&pplm, 0);
	CHECK_EQ(f.dev->fec_admin[EMU_FEC_25G], PRM_PPLM_FEC_FIRECODE);
	f.dev->vf = EMU_VF;
	CHECK_EQ(read_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), fix_code(FW_REG_PORT));
	CHECK_EQ(write_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), fix_code(FW_REG_PORT));
	f.dev->vf = 0;
	/* Lanes of 50 Gb/s: the number of a bit. */
	f.dev->profile = emu_profile_find("cx7");
	emu_fec_begin(f.dev);
	CHECK_EQ(read_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), 0);
	CHECK_EQ(prm_pplm_reg_get_fec_override_cap_200g_4x(answer()), PRM_PPLM_FEC_RS_544_514);
	CHECK_EQ(prm_pplm_reg_get_fec_mode_active(answer()), PRM_PPLM_FEC_RS_544_514);
	prm_pplm_reg_set_fec_override_admin_200g_4x(&pplm, PRM_PPLM_FEC_RS_544_514);
	CHECK_EQ(write_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), fix_code(FW_REG_VALUE));
	prm_pplm_reg_set_fec_override_admin_200g_4x(&pplm, 7);
	CHECK_EQ(write_reg(PRM_REG_PPLM, &pplm, sizeof(pplm)), 0);
	CHECK_EQ(prm_pplm_reg_get_fec_override_admin_200g_4x(answer()), 7);
	CHECK_EQ(f.dev->fec_admin[EMU_FEC_200G_4X], PRM_PPLM_FEC_RS_544_514);
	memset(f.dev->fec_admin, 0, sizeof(f.dev->fec_admin));
	f.dev->profile = emu_profile_find("cx6dx");
	emu_port_set_admin(f.dev, false);
	emu_port_set_admin(f.dev, true);
}

static uint64_t
mcia(uint32_t i2c, uint32_t page, uint32_t address, uint32_t size)
{
	struct prm_mcia_reg reg = {0};

	prm_mcia_reg_set_module(&reg, f.dev->index);
	prm_mcia_reg_set_i2c_device_address(&reg, i2c);
	prm_mcia_reg_set_page_number(&reg, page);
	prm_mcia_reg_set_device_address(&reg, address);
	prm_mcia_reg_set_size(&reg, size);
	return read_reg(PRM_REG_MCIA, &reg, sizeof(reg));
}

static void
test_module(void)
{
	uint8_t image[EMU_MODULE_BYTES_MAX];
	struct prm_mcia_reg reg = {0};

	CHECK_EQ(emu_module_image(f.dev, image), 640);
	CHECK_EQ(mcia(0x50, 0, 0, 48), 0);
	CHECK(memcmp(prm_mcia_reg_dwords(answer()), image, 48) == 0);
	CHECK_EQ(mcia(0x50, 0, 196, 16), 0);
	CHECK_EQ(prm_mcia_reg_get_status(answer()), 0);
	CHECK(memcmp(prm_mcia_reg_dwords(answer()), "EMU00000000     ", 16) == 0);
	/* Upper bytes of page 3, lower ones of any page. */
	CHECK_EQ(mcia(0x50, 3, 208, 48), 0);
	CHECK_EQ(mcia(0x50, 3, 0, 1), 0);
	CHECK_EQ(prm_mcia_reg_dwords(answer())[0], image[0]);
	CHECK_EQ(mcia(0x50, 4, 128, 1), fix_code(FW_REG_VALUE));
	CHECK_EQ(mcia(0x51, 0, 0, 1), fix_code(FW_REG_VALUE));
	CHECK_EQ(mcia(0x50, 0, 0, 0), fix_code(FW_REG_VALUE));
	CHECK_EQ(mcia(0x50, 0, 0, 49), fix_code(FW_REG_VALUE));
	CHECK_EQ(mcia(0x50, 0, 250, 7), fix_code(FW_REG_VALUE));
	prm_mcia_reg_set_module(&reg, 99);
	CHECK_EQ(read_reg(PRM_REG_MCIA, &reg, sizeof(reg)), fix_code(FW_REG_MODULE));
	emu_port_set_carrier(f.dev, false);
	CHECK_EQ(mcia(0x50, 0, 0, 1), 0);
	CHECK_EQ(prm_mcia_reg_get_status(answer()), 3);
	emu_port_set_carrier(f.dev, true);
}

static uint64_t
counter_at(unsigned dword)
{
	const uint32_t *set = (uint32_t *)answer() + 2;

	return (uint64_t)PRM_BE32(set[dword]) << 32 | PRM_BE32(set[dword + 1]);
}

static uint32_t
ppcnt(unsigned grp, unsigned prio)
{
	struct prm_ppcnt_reg reg = {0};

	prm_ppcnt_reg_set_local_port(&reg, 1);
	prm_ppcnt_reg_set_grp(&reg, grp);
	prm_ppcnt_reg_set_prio_tc(&reg, prio);
	return read_reg(PRM_REG_PPCNT, &reg, sizeof(reg));
}

/* Dwords from IEEE 802.3 clause 30, RFC 2863, RFC 2819 as the PRM orders them. */
static void
test_ppcnt(void)
{
	f.dev->stats = (struct emu_port_stats){
		.tx_frames = 0x100000005ull, .tx_bytes = 1000, .rx_frames = 77, .rx_bytes = 7000,
		.tx_mcast_frames = 2, .tx_bcast_frames = 1, .rx_mcast_frames = 5,
		.rx_bcast_frames = 4, .rx_oversize = 3, .tx_discards = 6, .rx_fcs_errors = 8,
		.rx_undersize = 11, .rx_damaged_bytes = 900, .rx_port_discards = 13, .rx_link_down = 17,
	};
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_IEEE_802_3, 0), 0);
	CHECK_EQ(counter_at(0), 0x100000005ull);
	CHECK_EQ(counter_at(2), 77);
	CHECK_EQ(counter_at(4), 8);
	CHECK_EQ(counter_at(8), 1000 + 4 * 0x100000005ull);
	CHECK_EQ(counter_at(10), 7000 + 4 * 77);
	CHECK_EQ(counter_at(12), 2);
	CHECK_EQ(counter_at(14), 1);
	CHECK_EQ(counter_at(16), 5);
	CHECK_EQ(counter_at(18), 4);
	CHECK_EQ(counter_at(24), 3);
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_RFC_2863, 0), 0);
	CHECK_EQ(counter_at(0), 7000 + 4 * 77);
	CHECK_EQ(counter_at(2), 77 - 9);
	CHECK_EQ(counter_at(4), 13);
	CHECK_EQ(counter_at(6), 3 + 8 + 11);
	CHECK_EQ(counter_at(12), 0x100000005ull - 3);
	CHECK_EQ(counter_at(14), 6);
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_RFC_2819, 0), 0);
	/* With damaged frames. */
	CHECK_EQ(counter_at(2), 7000 + 900 + 4 * (77 + 22));
	CHECK_EQ(counter_at(4), 77 + 22);
	CHECK_EQ(counter_at(10), 8);
	CHECK_EQ(counter_at(12), 11);
	CHECK_EQ(counter_at(14), 3);
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_PER_PRIORITY, 0), 0);
	CHECK_EQ(counter_at(8), 77);
	CHECK_EQ(counter_at(20), 0);
	f.dev->stats.rx_pfc_frames[3] = 21;
	f.dev->stats.rx_pfc_ends[3] = 19;
	f.dev->pfc_since_ns[3] = 2500;
	f.dev->pfc_until_ns[3] = 7000;
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_PER_PRIORITY, 3), 0);
	CHECK_EQ(counter_at(8), 0);
	CHECK_EQ(counter_at(20), 21);
	CHECK_EQ(counter_at(22), 4);
	CHECK_EQ(counter_at(28), 20);
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_PHYSICAL_LAYER, 0), 0);
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_INFINIBAND_PORT, 0), fix_code(FW_REG_GROUP));
	CHECK_EQ(ppcnt(PRM_PPCNT_GRP_PER_PRIORITY, 8), fix_code(FW_REG_VALUE));
}

static void
test_q_counter(void)
{
	struct prm_query_q_counter_in in = {0};
	struct emu_q_counter *counter;

	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_ALLOC_Q_COUNTER, 0), 0);
	counter = (struct emu_q_counter *)f.created;
	CHECK(counter->obj.id > 0 && counter->obj.id <= 0xff);
	counter->out_of_buffer = 0x100000007ull;
	prm_query_q_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_Q_COUNTER);
	prm_query_q_counter_in_set_counter_set_id(&in, counter->obj.id);
	prm_query_q_counter_in_set_clear(&in, 1);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK_EQ(prm_query_q_counter_out_get_out_of_buffer((void *)f.out), 7);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK_EQ(prm_query_q_counter_out_get_out_of_buffer((void *)f.out), 0);
	prm_query_q_counter_in_set_aggregate(&in, 1);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_COUNTER_SCOPE));
}

static void
test_flow_counter(void)
{
	struct prm_alloc_flow_counter_in alloc = {0};
	struct prm_query_flow_counter_in in = {0};
	struct emu_flow_counter *counter;

	prm_alloc_flow_counter_in_set_opcode(&alloc, PRM_CMD_OP_ALLOC_FLOW_COUNTER);
	CHECK_EQ(fix_exec(&f, &alloc, sizeof(alloc)), 0);
	counter = (struct emu_flow_counter *)f.created;
	counter->counts[0] = (struct emu_counts){12, 0x1234567890ull};
	prm_query_flow_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_COUNTER);
	prm_query_flow_counter_in_set_flow_counter_id(&in, counter->obj.id);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK_EQ(prm_traffic_counter_get_packets(answer()), 12);
	CHECK_EQ(prm_traffic_counter_get_octets(answer()), 0x1234567890ull);
	CHECK_EQ(fix_exec_as(&f, f.ctx, &in, sizeof(in), 16), fix_code(FW_OUT_SHORT));
	prm_query_flow_counter_in_set_num_of_counters(&in, 2);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_COUNTER_BULK));
	prm_alloc_flow_counter_in_set_flow_counter_bulk_log_size(&alloc, 7);
	CHECK_EQ(fix_exec(&f, &alloc, sizeof(alloc)), fix_code(FW_COUNTER_BULK));
}

/* A bulk has consecutive ids, and is read in pieces of four. */
static void
test_counter_bulk(void)
{
	const struct prm_traffic_counter *first = answer();
	struct prm_dealloc_flow_counter_in dealloc = {0};
	struct prm_alloc_flow_counter_in alloc = {0};
	struct prm_query_flow_counter_in in = {0};
	struct emu_flow_counter *counter;
	uint32_t id;

	prm_alloc_flow_counter_in_set_opcode(&alloc, PRM_CMD_OP_ALLOC_FLOW_COUNTER);
	prm_alloc_flow_counter_in_set_flow_counter_bulk(&alloc, 3);
	CHECK_EQ(fix_exec(&f, &alloc, sizeof(alloc)), fix_code(FW_COUNTER_BULK));
	prm_alloc_flow_counter_in_set_flow_counter_bulk(&alloc, 2);
	CHECK_EQ(fix_exec(&f, &alloc, sizeof(alloc)), 0);
	counter = (struct emu_flow_counter *)f.created;
	id = fix_id(&f);
	CHECK_EQ(counter->obj.ids, 256);
	CHECK_EQ(id % 4, 0);
	CHECK(emu_obj_find(f.dev, EMU_OBJ_FLOW_COUNTER, id + 255) == counter);
	CHECK(emu_obj_find(f.dev, EMU_OBJ_FLOW_COUNTER, id + 256) == NULL);
	for (unsigned i = 0; i < 256; i++)
		counter->counts[i] = (struct emu_counts){i, 1000 + i};
	prm_query_flow_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_COUNTER);
	prm_query_flow_counter_in_set_flow_counter_id(&in, id + 8);
	prm_query_flow_counter_in_set_num_of_counters(&in, 12);
	prm_query_flow_counter_in_set_clear(&in, 1);
	CHECK_EQ(fix_exec_as(&f, f.ctx, &in, sizeof(in), 16 + 11 * PRM_TRAFFIC_COUNTER_BYTES), fix_code(FW_OUT_SHORT));
	CHECK_EQ(fix_exec_as(&f, f.ctx, &in, sizeof(in), 16 + 12 * PRM_TRAFFIC_COUNTER_BYTES), 0);
	CHECK_EQ(prm_traffic_counter_get_packets(first), 8);
	CHECK_EQ(prm_traffic_counter_get_octets(first + 11), 1019);
	CHECK_EQ(counter->counts[7].packets, 7);
	CHECK_EQ(counter->counts[8].packets, 0);
	CHECK_EQ(counter->counts[19].bytes, 0);
	CHECK_EQ(counter->counts[20].packets, 20);
	prm_query_flow_counter_in_set_num_of_counters(&in, 6);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_COUNTER_BULK));
	prm_query_flow_counter_in_set_num_of_counters(&in, 252);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_NO_FLOW_COUNTER));
	prm_query_flow_counter_in_set_num_of_counters(&in, 8);
	prm_query_flow_counter_in_set_flow_counter_id(&in, id + 9);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_COUNTER_BULK));
	prm_dealloc_flow_counter_in_set_opcode(&dealloc, PRM_CMD_OP_DEALLOC_FLOW_COUNTER);
	prm_dealloc_flow_counter_in_set_flow_counter_id(&dealloc, id + 4);
	CHECK_EQ(fix_exec(&f, &dealloc, sizeof(dealloc)), fix_code(FW_NO_FLOW_COUNTER));
	prm_dealloc_flow_counter_in_set_flow_counter_id(&dealloc, id);
	CHECK_EQ(fix_exec(&f, &dealloc, sizeof(dealloc)), 0);
	CHECK(emu_obj_find(f.dev, EMU_OBJ_FLOW_COUNTER, id + 200) == NULL);
	/* As many as the card reads at once. */
	prm_alloc_flow_counter_in_set_flow_counter_bulk(&alloc, 32);
	CHECK_EQ(fix_exec(&f, &alloc, sizeof(alloc)), 0);
	counter = (struct emu_flow_counter *)f.created;
	CHECK_EQ(counter->obj.ids, 4096);
	counter->counts[2047].packets = 5;
	prm_query_flow_counter_in_set_flow_counter_id(&in, counter->obj.id);
	prm_query_flow_counter_in_set_num_of_counters(&in, 2048);
	CHECK_EQ(fix_exec_as(&f, f.ctx, &in, sizeof(in), 16 + 2048 * PRM_TRAFFIC_COUNTER_BYTES), 0);
	CHECK_EQ(prm_traffic_counter_get_packets(first + 2047), 5);
	prm_query_flow_counter_in_set_num_of_counters(&in, 2052);
	CHECK_EQ(fix_exec_as(&f, f.ctx, &in, sizeof(in), 16 + 2052 * PRM_TRAFFIC_COUNTER_BYTES),
		 fix_code(FW_COUNTER_BULK));
	/* A card that has no bulks. */
	f.dev->profile = emu_profile_find("cx4lx");
	CHECK_EQ(fix_exec(&f, &alloc, sizeof(alloc)), fix_code(FW_COUNTER_BULK));
	f.dev->profile = emu_profile_find("cx6dx");
}

int
main(void)
{
	fix_open(&f);
	f.dev->profile = emu_profile_find("cx6dx"); /* its speed and clock */
	test_paos();
	test_pmtu();
	test_ptys();
	test_others();
	test_loopback();
	test_fec();
	test_module();
	test_ppcnt();
	test_q_counter();
	test_flow_counter();
	test_counter_bulk();
	fix_close(&f);
	return fix_result("registers");
}
