/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Requests of the generic netlink family devlink, as the kernel (net/devlink) answers them for mlx5_core
 * (drivers/net/ethernet/mellanox/mlx5/core/devlink.c, en/devlink.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/devlink.h>

#include "netlink.h"

/* Family ids are assigned when modules are loaded. */
#define FAMILY_ID 0x1c
#define CONFIG_GROUP 0x1d
/* Types of parameters are those of attributes: enum nla_type (include/net/netlink.h). */
#define TYPE_U32 3
#define TYPE_STRING 5
#define TYPE_FLAG 6
#define VPORT_UPLINK 0xffff

static const char *
attr_string(const struct abi_nl *nl, uint16_t type)
{
	return abi_nl_attr_string(nl->req, GENL_HDRLEN, type);
}

static const char *
bus(const struct emu_dev *dev)
{
	return dev->parent != NULL ? "auxiliary" : "pci";
}

static void
put_handle(struct abi_nl *nl, const struct emu_dev *dev)
{
	abi_nl_put_string(nl, DEVLINK_ATTR_BUS_NAME, bus(dev));
	abi_nl_put_string(nl, DEVLINK_ATTR_DEV_NAME, dev->name);
}

/* devlink_nl_fill(); counters of reloads are left out. */
static int
put_device(struct abi_nl *nl, struct emu_dev *dev)
{
	abi_nl_begin(nl, dev, FAMILY_ID, DEVLINK_CMD_NEW);
	put_handle(nl, dev);
	ABI_NL_PUT(nl, uint8_t, DEVLINK_ATTR_RELOAD_FAILED, 0);
	return 0;
}

static void
put_version(struct abi_nl *nl, uint16_t type, const char *name, const char *value)
{
	uint32_t nest = abi_nl_nest(nl, type);

	abi_nl_put_string(nl, DEVLINK_ATTR_INFO_VERSION_NAME, name);
	abi_nl_put_string(nl, DEVLINK_ATTR_INFO_VERSION_VALUE, value);
	abi_nl_nested(nl, nest);
}

/* mlx5_devlink_info_get(). mlx4_core has no such operation. */
static int
put_info(struct abi_nl *nl, struct emu_dev *dev)
{
	const struct emu_profile *p = dev->profile;
	char fw[32];

	if (p->mlx4)
		return -EOPNOTSUPP;
	snprintf(fw, sizeof(fw), "%u.%u.%04u", p->fw_major, p->fw_minor, p->fw_subminor);
	abi_nl_begin(nl, dev, FAMILY_ID, DEVLINK_CMD_INFO_GET);
	put_handle(nl, dev);
	abi_nl_put_string(nl, DEVLINK_ATTR_INFO_DRIVER_NAME, "mlx5_core");
	put_version(nl, DEVLINK_ATTR_INFO_VERSION_FIXED, "fw.psid", p->board_id);
	put_version(nl, DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw.version", fw);
	put_version(nl, DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw", fw);
	put_version(nl, DEVLINK_ATTR_INFO_VERSION_STORED, "fw.version", fw);
	put_version(nl, DEVLINK_ATTR_INFO_VERSION_STORED, "fw", fw);
	return 0;
}

/* mlx5_esw_vport_to_devlink_port_index() of the uplink, or of the function itself; mlx4_init_port_info(). */
static uint32_t
port_index(const struct emu_dev *dev)
{
	const uint32_t vhca_id = dev->index + 1;

	return dev->profile->mlx4 ? 1 : vhca_id << 16 | (dev->vf ? 0 : VPORT_UPLINK);
}

/* devlink_nl_port_fill(), mlx5e_devlink_port_register() */
static int
put_port(struct abi_nl *nl, struct emu_dev *dev)
{
	abi_nl_begin(nl, dev, FAMILY_ID, DEVLINK_CMD_PORT_NEW);
	put_handle(nl, dev);
	ABI_NL_PUT(nl, uint32_t, DEVLINK_ATTR_PORT_INDEX, port_index(dev));
	ABI_NL_PUT(nl, uint16_t, DEVLINK_ATTR_PORT_TYPE, DEVLINK_PORT_TYPE_ETH);
	ABI_NL_PUT(nl, uint32_t, DEVLINK_ATTR_PORT_NETDEV_IFINDEX, ABI_IFINDEX_BASE + dev->index);
	abi_nl_put_string(nl, DEVLINK_ATTR_PORT_NETDEV_NAME, dev->netdev_name);
	ABI_NL_PUT(nl, uint8_t, DEVLINK_ATTR_PORT_SPLITTABLE, 0);
	ABI_NL_PUT(nl, uint16_t, DEVLINK_ATTR_PORT_FLAVOUR,
		   dev->vf ? DEVLINK_PORT_FLAVOUR_VIRTUAL : DEVLINK_PORT_FLAVOUR_PHYSICAL);
	if (!dev->vf)
		ABI_NL_PUT(nl, uint32_t, DEVLINK_ATTR_PORT_NUMBER, dev->index & 1);
	return 0;
}

/** Parameters of mlx5_core with the values that the kernel's driver begins with (mlx5_devlink_params). */
static const struct param {
	const char *name, *string;
	uint32_t number;
	uint8_t type, mode;
	bool generic;
} params[] = {
	{"flow_steering_mode", "dmfs", 0, TYPE_STRING, DEVLINK_PARAM_CMODE_RUNTIME, false},
	{"enable_roce", NULL, true, TYPE_FLAG, DEVLINK_PARAM_CMODE_DRIVERINIT, true},
	{"io_eq_size", NULL, 1024, TYPE_U32, DEVLINK_PARAM_CMODE_DRIVERINIT, true},
	{"event_eq_size", NULL, 4096, TYPE_U32, DEVLINK_PARAM_CMODE_DRIVERINIT, true},
	{"enable_eth", NULL, true, TYPE_FLAG, DEVLINK_PARAM_CMODE_DRIVERINIT, true},
	{"enable_rdma", NULL, true, TYPE_FLAG, DEVLINK_PARAM_CMODE_DRIVERINIT, true},
};
#define PARAMS (sizeof(params) / sizeof(params[0]))

/* devlink_nl_param_fill(). A flag is there if it is set. */
static void
put_param(struct abi_nl *nl, struct emu_dev *dev, const struct param *p)
{
	uint32_t param, list, value;

	abi_nl_begin(nl, dev, FAMILY_ID, DEVLINK_CMD_PARAM_GET);
	put_handle(nl, dev);
	param = abi_nl_nest(nl, DEVLINK_ATTR_PARAM);
	abi_nl_put_string(nl, DEVLINK_ATTR_PARAM_NAME, p->name);
	if (p->generic)
		abi_nl_put(nl, DEVLINK_ATTR_PARAM_GENERIC, NULL, 0);
	ABI_NL_PUT(nl, uint8_t, DEVLINK_ATTR_PARAM_TYPE, p->type);
	list = abi_nl_nest(nl, DEVLINK_ATTR_PARAM_VALUES_LIST);
	value = abi_nl_nest(nl, DEVLINK_ATTR_PARAM_VALUE);
	ABI_NL_PUT(nl, uint8_t, DEVLINK_ATTR_PARAM_VALUE_CMODE, p->mode);
	if (p->type == TYPE_STRING)
		abi_nl_put_string(nl, DEVLINK_ATTR_PARAM_VALUE_DATA, p->string);
	else if (p->type == TYPE_U32)
		ABI_NL_PUT(nl, uint32_t, DEVLINK_ATTR_PARAM_VALUE_DATA, p->number);
	else if (p->number != 0)
		abi_nl_put(nl, DEVLINK_ATTR_PARAM_VALUE_DATA, NULL, 0);
	abi_nl_nested(nl, value);
	abi_nl_nested(nl, list);
	abi_nl_nested(nl, param);
}

/* devlink_nl_eswitch_fill() in switchdev mode; in legacy mode there is no E-Switch: mlx5_devlink_eswitch_get(). */
static int
put_eswitch(struct abi_nl *nl, struct emu_dev *dev)
{
	if (!dev->eswitch.on)
		return -EOPNOTSUPP;
	abi_nl_begin(nl, dev, FAMILY_ID, DEVLINK_CMD_ESWITCH_GET);
	put_handle(nl, dev);
	ABI_NL_PUT(nl, uint16_t, DEVLINK_ATTR_ESWITCH_MODE, DEVLINK_ESWITCH_MODE_SWITCHDEV);
	ABI_NL_PUT(nl, uint8_t, DEVLINK_ATTR_ESWITCH_INLINE_MODE, DEVLINK_ESWITCH_INLINE_MODE_NONE);
	ABI_NL_PUT(nl, uint8_t, DEVLINK_ATTR_ESWITCH_ENCAP_MODE, DEVLINK_ESWITCH_ENCAP_MODE_BASIC);
	return 0;
}

static int
params_get(struct abi_nl *nl, struct emu_dev *dev, bool dump)
{
	const char *name = attr_string(nl, DEVLINK_ATTR_PARAM_NAME);

	for (unsigned i = 0; i < PARAMS && !dev->profile->mlx4; i++)
		if (dump || (name != NULL && strcmp(name, params[i].name) == 0)) {
			put_param(nl, dev, &params[i]);
			abi_nl_end(nl, dump ? NLM_F_MULTI : 0);
			if (!dump)
				return 0;
		}
	return dump ? 0 : -EINVAL;
}

/** Requests with one reply for a device, which may be dumped. */
static const struct command {
	uint8_t cmd;
	bool dump;
	const char *name; /* for fault rules */
	int (*put)(struct abi_nl *nl, struct emu_dev *dev);
} commands[] = {
	{DEVLINK_CMD_GET, true, "devlink_dev_get", put_device},
	{DEVLINK_CMD_PORT_GET, true, "devlink_port_get", put_port},
	{DEVLINK_CMD_INFO_GET, true, "devlink_info_get", put_info},
	{DEVLINK_CMD_PARAM_GET, true, "devlink_param_get", NULL},
	{DEVLINK_CMD_ESWITCH_GET, false, "devlink_eswitch_get", put_eswitch},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int
command_for(struct abi_nl *nl, const struct command *c, struct emu_dev *dev, bool dump)
{
	int ret;

	nl->name = c->name;
	if (c->put == NULL)
		return params_get(nl, dev, dump);
	ret = c->put(nl, dev);
	if (ret == 0)
		abi_nl_end(nl, dump ? NLM_F_MULTI : 0);
	return ret;
}

/* A dump may name a device too: devlink_nl_dumpit(). */
static bool
selected(const struct abi_nl *nl, const struct emu_dev *dev)
{
	const char *on = attr_string(nl, DEVLINK_ATTR_BUS_NAME), *name = attr_string(nl, DEVLINK_ATTR_DEV_NAME);

	return abi_nl_port(dev) && (on == NULL || strcmp(on, bus(dev)) == 0) &&
	       (name == NULL || strcmp(name, dev->name) == 0);
}

static int
command_run(struct abi_nl *nl, const struct command *c)
{
	const bool dump = (nl->req->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	if (dump && !c->dump)
		return -EOPNOTSUPP;
	if (!dump && (attr_string(nl, DEVLINK_ATTR_BUS_NAME) == NULL || attr_string(nl, DEVLINK_ATTR_DEV_NAME) == NULL))
		return -EINVAL;
	for (unsigned i = 0; i < nl->m->ports; i++) {
		if (!selected(nl, &nl->m->dev[i]))
			continue;
		/* A device without the operation is left out of a dump. */
		if (!dump)
			return command_for(nl, c, &nl->m->dev[i], false);
		(void)command_for(nl, c, &nl->m->dev[i], true);
	}
	return dump ? -EINTR : -ENODEV;
}

static void
put_operations(struct abi_nl *nl)
{
	uint32_t ops = abi_nl_nest(nl, CTRL_ATTR_OPS);

	for (unsigned i = 0; i < COMMANDS; i++) {
		uint32_t op = abi_nl_nest(nl, (uint16_t)(i + 1));

		ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_OP_ID, commands[i].cmd);
		ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_OP_FLAGS,
			   GENL_CMD_CAP_DO | (commands[i].dump ? GENL_CMD_CAP_DUMP : 0) | GENL_CMD_CAP_HASPOL);
		abi_nl_nested(nl, op);
	}
	abi_nl_nested(nl, ops);
}

/* ctrl_getfamily() (net/netlink/genetlink.c): the family by name or number. */
static int
family_get(struct abi_nl *nl)
{
	const char *name = attr_string(nl, CTRL_ATTR_FAMILY_NAME);
	const uint16_t *id = abi_nl_attr(nl->req, GENL_HDRLEN, CTRL_ATTR_FAMILY_ID, sizeof(*id));
	uint32_t groups, group;

	if (name == NULL && id == NULL)
		return -EINVAL;
	if ((name != NULL && strcmp(name, DEVLINK_GENL_NAME) != 0) || (id != NULL && *id != FAMILY_ID))
		return -ENOENT;
	abi_nl_begin(nl, NULL, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	abi_nl_put_string(nl, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
	ABI_NL_PUT(nl, uint16_t, CTRL_ATTR_FAMILY_ID, FAMILY_ID);
	ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_VERSION, DEVLINK_GENL_VERSION);
	ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_HDRSIZE, 0);
	ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_MAXATTR, DEVLINK_ATTR_MAX);
	put_operations(nl);
	groups = abi_nl_nest(nl, CTRL_ATTR_MCAST_GROUPS);
	group = abi_nl_nest(nl, 1);
	ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_MCAST_GRP_ID, CONFIG_GROUP);
	abi_nl_put_string(nl, CTRL_ATTR_MCAST_GRP_NAME, DEVLINK_GENL_MCGRP_CONFIG_NAME);
	abi_nl_nested(nl, group);
	abi_nl_nested(nl, groups);
	abi_nl_end(nl, 0);
	return 0;
}

/* ctrl_dumppolicy_prep() */
static void
policy_begin(struct abi_nl *nl)
{
	abi_nl_begin(nl, NULL, GENL_ID_CTRL, CTRL_CMD_GETPOLICY);
	ABI_NL_PUT(nl, uint16_t, CTRL_ATTR_FAMILY_ID, FAMILY_ID);
}

/*
 * ctrl_dumppolicy(): a message for each command, or for that of CTRL_ATTR_OP, with the numbers of its policies (0 is
 * that of one reply, 1 that of a dump), then one for each attribute of a policy. Programs look here whether a dump can
 * be limited to a device.
 */
static int
policy_get(struct abi_nl *nl)
{
	static const uint16_t handle[] = {DEVLINK_ATTR_BUS_NAME, DEVLINK_ATTR_DEV_NAME};
	const uint32_t *op = abi_nl_attr(nl->req, GENL_HDRLEN, CTRL_ATTR_OP, sizeof(*op));
	uint32_t outer, inner, attr;

	for (unsigned i = 0; i < COMMANDS; i++) {
		if (op != NULL && *op != commands[i].cmd)
			continue;
		policy_begin(nl);
		outer = abi_nl_nest(nl, CTRL_ATTR_OP_POLICY);
		inner = abi_nl_nest(nl, commands[i].cmd);
		ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_POLICY_DO, 0);
		if (commands[i].dump)
			ABI_NL_PUT(nl, uint32_t, CTRL_ATTR_POLICY_DUMP, 1);
		abi_nl_nested(nl, inner);
		abi_nl_nested(nl, outer);
		abi_nl_end(nl, NLM_F_MULTI);
	}
	for (unsigned i = 0; i < 4; i++) {
		policy_begin(nl);
		outer = abi_nl_nest(nl, CTRL_ATTR_POLICY);
		inner = abi_nl_nest(nl, (uint16_t)(i / 2));
		attr = abi_nl_nest(nl, handle[i % 2]);
		ABI_NL_PUT(nl, uint32_t, NL_POLICY_TYPE_ATTR_TYPE, NL_ATTR_TYPE_NUL_STRING);
		abi_nl_nested(nl, attr);
		abi_nl_nested(nl, inner);
		abi_nl_nested(nl, outer);
		abi_nl_end(nl, NLM_F_MULTI);
	}
	return -EINTR;
}

static int
controller(struct abi_nl *nl, const struct genlmsghdr *g)
{
	const bool dump = (nl->req->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;

	if (g->cmd == CTRL_CMD_GETFAMILY && !dump)
		return family_get(nl);
	return g->cmd == CTRL_CMD_GETPOLICY && dump ? policy_get(nl) : -EOPNOTSUPP;
}

static const struct genlmsghdr *
genl(const struct nlmsghdr *req)
{
	return req->nlmsg_len >= NLMSG_HDRLEN + GENL_HDRLEN ? NLMSG_DATA(req) : NULL;
}

bool
abi_devlink_lookup(const struct nlmsghdr *req)
{
	const struct genlmsghdr *g = req->nlmsg_type == GENL_ID_CTRL ? genl(req) : NULL;
	const char *name = g != NULL && g->cmd == CTRL_CMD_GETFAMILY
				   ? abi_nl_attr_string(req, GENL_HDRLEN, CTRL_ATTR_FAMILY_NAME)
				   : NULL;

	return name != NULL && strcmp(name, DEVLINK_GENL_NAME) == 0;
}

/* genl_rcv_msg(), genl_family_rcv_msg() */
int
abi_devlink_request(struct abi_nl *nl)
{
	const struct genlmsghdr *g = genl(nl->req);

	if (nl->req->nlmsg_type != GENL_ID_CTRL && nl->req->nlmsg_type != FAMILY_ID)
		return -ENOENT;
	if (g == NULL)
		return -EINVAL;
	if (nl->req->nlmsg_type == GENL_ID_CTRL)
		return controller(nl, g);
	for (unsigned i = 0; i < COMMANDS; i++)
		if (commands[i].cmd == g->cmd)
			return command_run(nl, &commands[i]);
	emu_trace_note(&nl->m->dev[0], "devlink command %u is not modelled", g->cmd);
	return -EOPNOTSUPP;
}
