/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* VFIO: settings of the port through port registers and the NIC vport context, and its entry in the L2 table. */

#include <string.h>

#include "mdv_vfio.h"

#define MDV_MTU_MIN 68
/** Largest multicast list: log_max_current_mc_list is at least 7 on all supported cards (assumed). */
#define MDV_MCAST_MAX 128
#define MDV_LOCAL_PORT 1
#define MDV_PORT_RATE_MBPS 100

/* ------------------------------------------------------------------ port registers */

/*
 * The link of the function is the state of its vport, on physical and virtual functions (as Linux, mlx5/core/en_main.c,
 * mlx5e_update_carrier()). Logs nothing.
 */
static int
vport_state(struct mdv_dev *dev, struct prm_query_vport_state_out *out)
{
	struct prm_query_vport_state_in in = { 0 };

	prm_query_vport_state_in_set_opcode(&in, PRM_CMD_OP_QUERY_VPORT_STATE);
	prm_query_vport_state_in_set_op_mod(&in, PRM_VPORT_STATE_OP_VNIC_VPORT);
	return mdv_cmd_try(dev, &in, sizeof(in), out, sizeof(*out));
}

static int
paos_access(struct mdv_dev *dev, uint8_t op, struct prm_paos_reg *paos)
{
	prm_paos_reg_set_local_port(paos, MDV_LOCAL_PORT);
	return mdv_register_access(dev, PRM_REG_PAOS, op, paos, sizeof(*paos), true);
}

/* The port's own state; a virtual function, which controls no physical port, has that of its vport. */
static int
vfio_up_get(struct mdv_dev *dev, bool *up)
{
	struct prm_query_vport_state_out vport;
	struct prm_paos_reg paos = { 0 };
	int ret;

	if (!dev->caps.vf && paos_access(dev, PRM_ACCESS_REG_OP_READ, &paos) == 0) {
		*up = prm_paos_reg_get_admin_status(&paos) == PRM_PORT_STATUS_UP;
		return 0;
	}
	ret = vport_state(dev, &vport);
	if (ret != 0)
		return MDV_FAIL_DEV(dev, -ret, "cannot read the state of the port: %s", mdv_errno_name(-ret));
	*up = prm_query_vport_state_out_get_admin_state(&vport) == PRM_VPORT_ADMIN_STATE_UP;
	return 0;
}

static int
admin_status_write(struct mdv_dev *dev, bool up)
{
	struct prm_paos_reg paos = { 0 };

	prm_paos_reg_set_admin_status(&paos, up ? PRM_PORT_STATUS_UP : PRM_PORT_STATUS_DOWN);
	prm_paos_reg_set_ase(&paos, 1);
	return paos_access(dev, PRM_ACCESS_REG_OP_WRITE, &paos);
}

/* The port of a virtual function stays as it is (as Linux, mlx5/core/en_main.c, mlx5e_modify_admin_state()). */
static int
vfio_up_set(struct mdv_dev *dev, bool up)
{
	int ret;

	if (dev->caps.vf) {
		MDV_LOG(INFO, dev->name, "a virtual function cannot set the port %s", up ? "up" : "down");
		return 0;
	}
	ret = admin_status_write(dev, up);
	if (ret != 0)
		return MDV_FAIL_DEV(dev, -ret, "cannot set the port %s: %s", up ? "up" : "down", mdv_errno_name(-ret));
	return 0;
}

/* One refusal does not leave a port down that was set down for a moment only. */
int
mdv_vfio_up_again(struct mdv_dev *dev)
{
	return !dev->caps.vf && admin_status_write(dev, true) == 0 ? 0 : vfio_up_set(dev, true);
}

static int
pfcc_access(struct mdv_dev *dev, uint8_t op, struct prm_pfcc_reg *pfcc, const char *what)
{
	int ret;

	prm_pfcc_reg_set_local_port(pfcc, MDV_LOCAL_PORT);
	ret = mdv_register_access(dev, PRM_REG_PFCC, op, pfcc, sizeof(*pfcc), true);
	return ret == 0 ? 0 : MDV_FAIL_DEV(dev, -ret, "cannot %s flow control: %s", what, mdv_errno_name(-ret));
}

static int
vfio_pause_get(struct mdv_dev *dev, struct mdv_pause *pause)
{
	struct prm_pfcc_reg pfcc = { 0 };
	int ret = pfcc_access(dev, PRM_ACCESS_REG_OP_READ, &pfcc, "read");

	if (ret == 0)
		*pause = (struct mdv_pause){ .rx = prm_pfcc_reg_get_pprx(&pfcc), .tx = prm_pfcc_reg_get_pptx(&pfcc) };
	return ret;
}

/* As Linux, mlx5/core/port.c, mlx5_set_port_pause(): priority flow control ends. */
static int
vfio_pause_set(struct mdv_dev *dev, const struct mdv_pause *pause)
{
	struct prm_pfcc_reg pfcc = { 0 };

	prm_pfcc_reg_set_pprx(&pfcc, pause->rx);
	prm_pfcc_reg_set_pptx(&pfcc, pause->tx);
	return pfcc_access(dev, PRM_ACCESS_REG_OP_WRITE, &pfcc, "set");
}

/* As Linux, mlx5/core/port.c, mlx5_set_port_pfc(), which masks all priorities: pause frames of the port end. */
static int
vfio_pfc_set(struct mdv_dev *dev, unsigned int priority, const struct mdv_pause *on)
{
	struct prm_pfcc_reg pfcc = { 0 };

	prm_pfcc_reg_set_prio_mask_rx(&pfcc, 1u << priority);
	prm_pfcc_reg_set_prio_mask_tx(&pfcc, 1u << priority);
	prm_pfcc_reg_set_pfcrx(&pfcc, on->rx << priority);
	prm_pfcc_reg_set_pfctx(&pfcc, on->tx << priority);
	return pfcc_access(dev, PRM_ACCESS_REG_OP_WRITE, &pfcc, "set");
}

static int
pplr_access(struct mdv_dev *dev, uint8_t op, struct prm_pplr_reg *pplr)
{
	prm_pplr_reg_set_local_port(pplr, MDV_LOCAL_PORT);
	return mdv_register_access(dev, PRM_REG_PPLR, op, pplr, sizeof(*pplr), false);
}

/* The mode is in effect when the port is set up the next time (mstflint, mlxlink_commander.cpp). */
static int
vfio_loopback_set(struct mdv_dev *dev, bool on)
{
	struct prm_pplr_reg pplr = { 0 };
	int ret, up;

	if (dev->caps.vf)
		return MDV_FAIL(dev->name, ENOTSUP, "a virtual function cannot set loopback of the port");
	ret = pplr_access(dev, PRM_ACCESS_REG_OP_READ, &pplr);
	if (ret != 0)
		return ret;
	if ((prm_pplr_reg_get_lb_cap(&pplr) & PRM_PPLR_LB_PHY_LOCAL) == 0)
		return MDV_FAIL(dev->name, ENOTSUP, "the PHY has no local loopback, only 0x%x",
				prm_pplr_reg_get_lb_cap(&pplr));
	ret = vfio_up_set(dev, false);
	if (ret != 0)
		return ret;
	prm_pplr_reg_set_lb_en(&pplr, on ? PRM_PPLR_LB_PHY_LOCAL : 0);
	ret = pplr_access(dev, PRM_ACCESS_REG_OP_WRITE, &pplr);
	up = mdv_vfio_up_again(dev);
	return ret != 0 ? ret : up;
}

/** Mb/s of the operational protocol, of which one bit is set (PRM, PTYS, eth_proto, ext_eth_proto). */
static uint32_t
speed_of(uint32_t eth, uint32_t ext)
{
	static const struct {
		uint32_t eth, ext, mbps;
	} speeds[] = {
		{ 0, PRM_PTYS_EXT_ETH_800GAUI_8, 800000 },
		{ 0, PRM_PTYS_EXT_ETH_400GAUI_8 | PRM_PTYS_EXT_ETH_400GAUI_4, 400000 },
		{ 0, PRM_PTYS_EXT_ETH_200GAUI_4 | PRM_PTYS_EXT_ETH_200GAUI_2, 200000 },
		{ PRM_PTYS_ETH_100GBASE_CR4 | PRM_PTYS_ETH_100GBASE_SR4 |
			  PRM_PTYS_ETH_100GBASE_KR4 | PRM_PTYS_ETH_100GBASE_LR4,
		  PRM_PTYS_EXT_ETH_100GAUI_4 | PRM_PTYS_EXT_ETH_100GAUI_2 |
			  PRM_PTYS_EXT_ETH_100GAUI_1, 100000 },
		{ PRM_PTYS_ETH_56GBASE_R4, 0, 56000 },
		{ PRM_PTYS_ETH_50GBASE_SR2 | PRM_PTYS_ETH_50GBASE_CR2 | PRM_PTYS_ETH_50GBASE_KR2,
		  PRM_PTYS_EXT_ETH_50GAUI_2 | PRM_PTYS_EXT_ETH_50GAUI_1, 50000 },
		{ PRM_PTYS_ETH_40GBASE_CR4 | PRM_PTYS_ETH_40GBASE_KR4 | PRM_PTYS_ETH_40GBASE_SR4 |
			  PRM_PTYS_ETH_40GBASE_LR4, PRM_PTYS_EXT_ETH_40GBASE_XLAUI_4, 40000 },
		{ PRM_PTYS_ETH_25GBASE_CR | PRM_PTYS_ETH_25GBASE_KR | PRM_PTYS_ETH_25GBASE_SR,
		  PRM_PTYS_EXT_ETH_25GAUI_1, 25000 },
		{ PRM_PTYS_ETH_20GBASE_KR2, 0, 20000 },
		{ PRM_PTYS_ETH_10GBASE_CX4 | PRM_PTYS_ETH_10GBASE_KX4 | PRM_PTYS_ETH_10GBASE_KR |
			  PRM_PTYS_ETH_10GBASE_CR | PRM_PTYS_ETH_10GBASE_SR |
			  PRM_PTYS_ETH_10GBASE_ER | PRM_PTYS_ETH_10GBASE_T,
		  PRM_PTYS_EXT_ETH_10GBASE_XFI_XAUI_1, 10000 },
		{ 0, PRM_PTYS_EXT_ETH_5GBASE_R, 5000 },
		{ PRM_PTYS_ETH_1000BASE_CX_SGMII | PRM_PTYS_ETH_1000BASE_KX |
			  PRM_PTYS_ETH_1000BASE_T, PRM_PTYS_EXT_ETH_1000BASE_X_SGMII, 1000 },
		{ PRM_PTYS_ETH_100BASE_TX, 0, 100 },
	};

	for (size_t i = 0; i < RTE_DIM(speeds); i++)
		if ((eth & speeds[i].eth) != 0 || (ext & speeds[i].ext) != 0)
			return speeds[i].mbps;
	return 0;
}

static int
vfio_link(struct mdv_dev *dev, struct mdv_link *link)
{
	struct prm_query_vport_state_out vport;
	struct prm_ptys_reg ptys = { 0 };
	int ret = vport_state(dev, &vport);

	if (ret != 0)
		return MDV_FAIL_DEV(dev, -ret, "cannot read the state of the link: %s", mdv_errno_name(-ret));
	link->up = prm_query_vport_state_out_get_state(&vport) == PRM_VPORT_STATE_UP;
	link->speed_mbps = 0;
	prm_ptys_reg_set_local_port(&ptys, MDV_LOCAL_PORT);
	prm_ptys_reg_set_proto_mask(&ptys, PRM_PTYS_PROTO_ETH);
	ret = link->up ? mdv_register_access(dev, PRM_REG_PTYS, PRM_ACCESS_REG_OP_READ, &ptys, sizeof(ptys), false) : 0;
	if (ret != 0 || !link->up)
		return ret;
	/* Prefer the rate to the protocol bits. A virtual function reports neither. */
	link->speed_mbps = prm_ptys_reg_get_data_rate_oper(&ptys) * MDV_PORT_RATE_MBPS;
	if (link->speed_mbps == 0)
		link->speed_mbps = speed_of(prm_ptys_reg_get_eth_proto_oper(&ptys),
					    prm_ptys_reg_get_ext_eth_proto_oper(&ptys));
	return 0;
}

/* Without a kernel interface this takes a command. It is not logged: statistics poll it. */
static int
vfio_running(struct mdv_dev *dev, bool *running)
{
	struct prm_query_vport_state_out vport;
	int ret;

	if (mdv_removed(dev))
		return -ENODEV;
	ret = vport_state(dev, &vport);
	if (ret == 0)
		*running = prm_query_vport_state_out_get_state(&vport) == PRM_VPORT_STATE_UP;
	return ret;
}

/* ------------------------------------------------------------------ L2 table */

/*
 * The L2 table (MPFS) assigns unicast addresses to the physical functions of a card that several functions share.
 * In verbs mode the kernel writes it; here the port writes its own entry. As in Linux (mlx5_core, lib/mpfs.c),
 * only the manager of the eswitch may write the table.
 */

static void
entry_delete(struct mdv_dev *dev, int index)
{
	struct prm_delete_l2_table_entry_in in = { 0 };
	struct prm_delete_l2_table_entry_out out;

	prm_delete_l2_table_entry_in_set_opcode(&in, PRM_CMD_OP_DELETE_L2_TABLE_ENTRY);
	prm_delete_l2_table_entry_in_set_table_index(&in, index);
	(void)mdv_cmd(dev, &in, sizeof(in), &out, sizeof(out));
}

/** A refusal is only logged: the port works, in promiscuous mode also for unicast. */
static int
entry_set(struct mdv_dev *dev, int index, const uint8_t mac[6])
{
	struct prm_set_l2_table_entry_in in = { 0 };
	struct prm_set_l2_table_entry_out out;
	int ret;

	prm_set_l2_table_entry_in_set_opcode(&in, PRM_CMD_OP_SET_L2_TABLE_ENTRY);
	prm_set_l2_table_entry_in_set_table_index(&in, index);
	mdv_mac_fill(prm_set_l2_table_entry_in_mac_address(&in), mac);
	ret = mdv_cmd_try(dev, &in, sizeof(in), &out, sizeof(out));
	if (ret != 0)
		MDV_LOG(WARNING, dev->name, "SET_L2_TABLE_ENTRY refused (status 0x%02x, syndrome "
			"0x%x): the card may keep unicast frames from the port unless it is "
			"promiscuous", prm_set_l2_table_entry_out_get_status(&out),
			prm_set_l2_table_entry_out_get_syndrome(&out));
	return ret;
}

/** Writes the new address of the port into the MPFS table, before the old entry is deleted. */
static void
l2_move(struct mdv_dev *dev, const uint8_t mac[6])
{
	int old = dev->vfio->l2_index, index = old == 0;

	/* As Linux: log_max_l2_table 0 means that there is no table (lib/mpfs.c, mlx5_mpfs_init). */
	if (dev->caps.log_max_l2_table == 0 || dev->vfio->l2_refused)
		return;
	if (entry_set(dev, index, mac) != 0) {
		dev->vfio->l2_refused = true;
		return;
	}
	dev->vfio->l2_index = index;
	if (old != MDV_L2_NONE)
		entry_delete(dev, old);
}

void
mdv_vfio_port_down(struct mdv_dev *dev)
{
	if (dev->vfio->l2_index != MDV_L2_NONE && !mdv_removed(dev))
		entry_delete(dev, dev->vfio->l2_index);
	dev->vfio->l2_index = MDV_L2_NONE;
}

/* ------------------------------------------------------------------ NIC vport context */

/** Entry of an address list, which follows the fixed part of the mailbox. */
struct vport_addr {
	uint8_t reserved[2], mac[6];
};
struct vport_modify {
	struct prm_modify_nic_vport_context_in in;
	struct vport_addr list[MDV_MCAST_MAX];
};
struct vport_reply {
	struct prm_query_nic_vport_context_out out;
	struct vport_addr list[MDV_MCAST_MAX];
};

static void
modify_begin(struct vport_modify *m)
{
	memset(m, 0, sizeof(*m));
	prm_modify_nic_vport_context_in_set_opcode(&m->in, PRM_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
}

static int
modify_run(struct mdv_dev *dev, const struct vport_modify *m, unsigned int listed)
{
	struct prm_modify_nic_vport_context_out out;

	return mdv_cmd(dev, m, sizeof(m->in) + listed * sizeof(m->list[0]), &out, sizeof(out));
}

/* One field_select bit covers all three flags: read them and write the unchanged ones back. */
static int
promisc_change(struct mdv_dev *dev, const bool *all, const bool *multicast)
{
	struct prm_query_nic_vport_context_out now;
	const struct prm_nic_vport_context *was;
	struct prm_nic_vport_context *will;
	struct vport_modify m;

	if (mdv_vport_query(dev, &now) != 0)
		return -rte_errno;
	was = prm_query_nic_vport_context_out_nic_vport_context_c(&now);
	modify_begin(&m);
	will = prm_modify_nic_vport_context_in_nic_vport_context(&m.in);
	prm_modify_nic_vport_field_select_set_promisc(
		prm_modify_nic_vport_context_in_field_select(&m.in), 1);
	prm_nic_vport_context_set_promisc_uc(will, prm_nic_vport_context_get_promisc_uc(was));
	prm_nic_vport_context_set_promisc_mc(will, multicast != NULL ? *multicast :
					     prm_nic_vport_context_get_promisc_mc(was));
	prm_nic_vport_context_set_promisc_all(will, all != NULL ? *all :
					      prm_nic_vport_context_get_promisc_all(was));
	return modify_run(dev, &m, 0);
}

static int
vfio_promisc_set(struct mdv_dev *dev, bool on)
{
	return promisc_change(dev, &on, NULL);
}

static int
vfio_allmulti_set(struct mdv_dev *dev, bool on)
{
	return promisc_change(dev, NULL, &on);
}

/** Reads an address list into the inbox of a modify command. Number of addresses, or -errno. */
static int
list_read(struct mdv_dev *dev, unsigned int type, struct vport_modify *m)
{
	struct prm_query_nic_vport_context_in in = { 0 };
	struct prm_nic_vport_context *ctx;
	struct vport_reply now;
	unsigned int n;

	prm_query_nic_vport_context_in_set_opcode(&in, PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT);
	prm_query_nic_vport_context_in_set_allowed_list_type(&in, type);
	if (mdv_cmd(dev, &in, sizeof(in), &now, sizeof(now)) != 0)
		return -rte_errno;
	n = prm_nic_vport_context_get_allowed_list_size(
		prm_query_nic_vport_context_out_nic_vport_context_c(&now.out));
	n = RTE_MIN(n, (unsigned int)MDV_MCAST_MAX);
	modify_begin(m);
	ctx = prm_modify_nic_vport_context_in_nic_vport_context(&m->in);
	prm_modify_nic_vport_field_select_set_addresses_list(
		prm_modify_nic_vport_context_in_field_select(&m->in), 1);
	prm_nic_vport_context_set_allowed_list_type(ctx, type);
	memcpy(m->list, now.list, n * sizeof(m->list[0]));
	return (int)n;
}

static int
list_change(struct mdv_dev *dev, unsigned int type, const uint8_t mac[6], bool add)
{
	struct vport_modify m;
	int n = list_read(dev, type, &m), i;

	if (n < 0)
		return n;
	for (i = 0; i < n && memcmp(m.list[i].mac, mac, 6) != 0; i++)
		;
	if (add && i < n)
		return 0;
	if (add ? n == MDV_MCAST_MAX : i == n)
		return MDV_FAIL(dev->name, add ? ENOSPC : EADDRNOTAVAIL, "%s",
				add ? "the address list is full" : "the address is not in the list");
	if (add)
		memcpy(m.list[n++].mac, mac, 6);
	else
		m.list[i] = m.list[--n];
	prm_nic_vport_context_set_allowed_list_size(
		prm_modify_nic_vport_context_in_nic_vport_context(&m.in), n);
	return modify_run(dev, &m, n);
}

static int
vfio_mcast(struct mdv_dev *dev, const uint8_t mac[6], bool add)
{
	return list_change(dev, PRM_NIC_VPORT_LIST_TYPE_MC, mac, add);
}

/* The L2 table does not follow the list of a physical function: the caller uses promiscuous mode. */
static int
vfio_ucast(struct mdv_dev *dev, const uint8_t mac[6], bool add)
{
	return dev->caps.vf ? list_change(dev, PRM_NIC_VPORT_LIST_TYPE_UC, mac, add) : -ENOTSUP;
}

static int
vfio_mac_set(struct mdv_dev *dev, const uint8_t mac[6])
{
	struct vport_modify m;
	uint8_t old[6];
	int ret;

	if (mdv_vport_mac(dev, old) != 0 || (dev->caps.vf && vfio_ucast(dev, mac, true) != 0))
		return -rte_errno;
	modify_begin(&m);
	prm_modify_nic_vport_field_select_set_permanent_address(
		prm_modify_nic_vport_context_in_field_select(&m.in), 1);
	mdv_mac_fill(prm_nic_vport_context_permanent_address(
			     prm_modify_nic_vport_context_in_nic_vport_context(&m.in)), mac);
	ret = modify_run(dev, &m, 0);
	if (ret == 0)
		l2_move(dev, mac);
	if (dev->caps.vf && memcmp(old, mac, 6) != 0)
		MDV_UNDO(vfio_ucast(dev, ret == 0 ? old : mac, false));
	return ret;
}

/*
 * The eswitch forwards frames to a virtual function by its lists alone: own address and broadcast are in them, as in
 * those of the kernel's driver (Linux, mlx5/core/en_fs.c, mlx5e_fill_addr_array()). The reset at the end clears them.
 */
static int
vf_lists_begin(struct mdv_dev *dev, const uint8_t mac[6])
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	return vfio_ucast(dev, mac, true) != 0 || vfio_mcast(dev, broadcast, true) != 0 ? -rte_errno : 0;
}

int
mdv_vfio_port_up(struct mdv_dev *dev)
{
	uint8_t mac[6];

	/* The list of a virtual function has broadcast, too. */
	dev->mcast_max = dev->caps.vf ? MDV_MCAST_MAX - 1 : MDV_MCAST_MAX;
	if (dev->caps.log_max_l2_table == 0 && !dev->caps.vf)
		return 0;
	if (mdv_vport_mac(dev, mac) != 0 || (dev->caps.vf && vf_lists_begin(dev, mac) != 0))
		return -rte_errno;
	l2_move(dev, mac);
	return 0;
}

/* ------------------------------------------------------------------ MTU: of the vport and the port */

static int
vfio_mtu_get(struct mdv_dev *dev, uint16_t *mtu)
{
	struct prm_query_nic_vport_context_out out;
	uint32_t bytes;

	if (mdv_vport_query(dev, &out) != 0)
		return -rte_errno;
	bytes = prm_nic_vport_context_get_mtu(
		prm_query_nic_vport_context_out_nic_vport_context_c(&out));
	*mtu = bytes > MDV_L2_OVERHEAD_BYTES ? bytes - MDV_L2_OVERHEAD_BYTES : 0;
	return 0;
}

static int
vport_mtu_set(struct mdv_dev *dev, uint32_t bytes)
{
	struct vport_modify m;

	modify_begin(&m);
	prm_modify_nic_vport_field_select_set_mtu(
		prm_modify_nic_vport_context_in_field_select(&m.in), 1);
	prm_nic_vport_context_set_mtu(prm_modify_nic_vport_context_in_nic_vport_context(&m.in),
				      bytes);
	return modify_run(dev, &m, 0);
}

/*
 * Set the MTU of the port, which limits received frames, and then that of the vport, which the eswitch
 * uses (same order as Linux: drivers/net/ethernet/mellanox/mlx5/core/en_main.c, mlx5e_set_mtu()).
 */
static int
vfio_mtu_set(struct mdv_dev *dev, uint16_t mtu)
{
	uint32_t bytes = (uint32_t)mtu + MDV_L2_OVERHEAD_BYTES;
	struct prm_pmtu_reg pmtu = { 0 };
	int ret;

	if (mtu < MDV_MTU_MIN || mtu > dev->caps.max_mtu)
		return MDV_FAIL(dev->name, EINVAL, "MTU of %u bytes is out of range: %d to %u", mtu,
				MDV_MTU_MIN, dev->caps.max_mtu);
	prm_pmtu_reg_set_local_port(&pmtu, MDV_LOCAL_PORT);
	prm_pmtu_reg_set_admin_mtu(&pmtu, bytes);
	ret = mdv_register_access(dev, PRM_REG_PMTU, PRM_ACCESS_REG_OP_WRITE, &pmtu, sizeof(pmtu), false);
	return ret != 0 ? ret : vport_mtu_set(dev, bytes);
}

const struct mdv_port_ops mdv_vfio_port = {
	.link = vfio_link,
	.running = vfio_running,
	.mac_get = mdv_vport_mac,
	.mac_set = vfio_mac_set,
	.mtu_get = vfio_mtu_get,
	.mtu_set = vfio_mtu_set,
	.promisc_set = vfio_promisc_set,
	.allmulti_set = vfio_allmulti_set,
	.mcast = vfio_mcast,
	.ucast = vfio_ucast,
	.up_get = vfio_up_get,
	.up_set = vfio_up_set,
	.pause_get = vfio_pause_get,
	.pause_set = vfio_pause_set,
	.pfc_set = vfio_pfc_set,
	.loopback_set = vfio_loopback_set,
	.fec_caps = mdv_vfio_fec_caps,
	.fec_get = mdv_vfio_fec_get,
	.fec_set = mdv_vfio_fec_set,
	.module_info = mdv_vfio_module_info,
	.module_read = mdv_vfio_module_read,
};
