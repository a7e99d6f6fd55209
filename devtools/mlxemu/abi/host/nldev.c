/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Requests of NETLINK_RDMA, as the kernel's drivers/infiniband/core/nldev.c answers them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_netlink.h>

#include "abi/uverbs/uverbs.h"
#include "core/emu_bond.h"
#include "netlink.h"
#include "sysfs.h"

#define NODE_CA 1 /* enum rdma_node_type */
/* Minor numbers have 8 bits in the kernel's encoding below 256: huge_encode_dev(), kdev_t.h. */
#define CHARDEV(major, minor) ((uint64_t)(major) << 8 | ((minor) & 0xff) | ((uint64_t)(minor) & ~0xffull) << 12)

static void
put_handle(struct abi_nl *nl, const struct emu_dev *dev)
{
	ABI_NL_PUT(nl, uint32_t, RDMA_NLDEV_ATTR_DEV_INDEX, dev->index);
	abi_nl_put_string(nl, RDMA_NLDEV_ATTR_DEV_NAME, dev->ibdev_name);
}

/* fill_dev_info() */
static void
put_device(struct abi_nl *nl, const struct emu_dev *dev)
{
	const struct emu_profile *p = dev->profile;
	char fw[32];

	snprintf(fw, sizeof(fw), "%u.%u.%04u", p->fw_major, p->fw_minor, p->fw_subminor);
	put_handle(nl, dev);
	ABI_NL_PUT(nl, uint32_t, RDMA_NLDEV_ATTR_PORT_INDEX, emu_ib_ports(dev));
	ABI_NL_PUT(nl, uint64_t, RDMA_NLDEV_ATTR_CAP_FLAGS, abi_device_cap_flags(dev));
	abi_nl_put_string(nl, RDMA_NLDEV_ATTR_FW_VERSION, fw);
	ABI_NL_PUT(nl, uint64_t, RDMA_NLDEV_ATTR_NODE_GUID, dev->node_guid);
	ABI_NL_PUT(nl, uint64_t, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, dev->sys_image_guid);
	ABI_NL_PUT(nl, uint8_t, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_CA);
	ABI_NL_PUT(nl, uint8_t, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	abi_nl_put_string(nl, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
}

/* fill_port_info() of a RoCE port. The state is that of sysfs, which all processes of the run share. */
static void
put_port(struct abi_nl *nl, const struct emu_dev *dev, uint32_t port)
{
	put_handle(nl, dev);
	ABI_NL_PUT(nl, uint32_t, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	ABI_NL_PUT(nl, uint8_t, RDMA_NLDEV_ATTR_PORT_STATE, emu_sysfs_port(dev, abi_run_dir(), port, "state"));
	ABI_NL_PUT(nl, uint8_t, RDMA_NLDEV_ATTR_PORT_PHYS_STATE,
		   emu_sysfs_port(dev, abi_run_dir(), port, "phys_state"));
	/* Interfaces of representors are in sysfs only. */
	if (port != emu_ib_port(dev))
		return;
	ABI_NL_PUT(nl, uint32_t, RDMA_NLDEV_ATTR_NDEV_INDEX, ABI_IFINDEX_BASE + dev->index);
	abi_nl_put_string(nl, RDMA_NLDEV_ATTR_NDEV_NAME, dev->netdev_name);
}

/* nldev_get_chardev(); ib_uverbs_get_nl_info() */
static void
put_chardev(struct abi_nl *nl, const struct emu_dev *dev)
{
	const bool mlx4 = dev->profile->mlx4;

	ABI_NL_PUT(nl, uint32_t, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, mlx4 ? RDMA_DRIVER_MLX4 : RDMA_DRIVER_MLX5);
	ABI_NL_PUT(nl, uint64_t, RDMA_NLDEV_ATTR_CHARDEV, CHARDEV(ABI_UVERBS_MAJOR, ABI_UVERBS_MINOR + dev->index));
	ABI_NL_PUT(nl, uint64_t, RDMA_NLDEV_ATTR_CHARDEV_ABI,
		   mlx4 ? MLX4_IB_UVERBS_ABI_VERSION : MLX5_IB_UVERBS_ABI_VERSION);
	abi_nl_put_string(nl, RDMA_NLDEV_ATTR_CHARDEV_NAME, dev->uverbs_name);
}

/* nldev_sys_get_doit() */
static void
put_system(struct abi_nl *nl)
{
	ABI_NL_PUT(nl, uint8_t, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
	ABI_NL_PUT(nl, uint8_t, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
}

static uint16_t
type_of(unsigned op)
{
	return RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op);
}

static bool
has_ibdev(const struct emu_dev *dev)
{
	return emu_bond(dev) != EMU_BOND_MEMBER && abi_nl_port(dev);
}

/* The device of DEV_INDEX; NULL: no attribute, or no such device. */
static struct emu_dev *
device(const struct abi_nl *nl)
{
	const uint32_t *index = abi_nl_attr(nl->req, 0, RDMA_NLDEV_ATTR_DEV_INDEX, sizeof(*index));

	return index != NULL && *index < nl->m->ports && has_ibdev(&nl->m->dev[*index]) ? &nl->m->dev[*index] : NULL;
}

/* The port of PORT_INDEX; 0: no attribute, or no such port. */
static uint32_t
port_of(const struct abi_nl *nl, const struct emu_dev *dev)
{
	const uint32_t *port = abi_nl_attr(nl->req, 0, RDMA_NLDEV_ATTR_PORT_INDEX, sizeof(*port));

	return port != NULL && *port <= emu_ib_ports(dev) ? *port : 0;
}

/* nldev_get_doit(), nldev_get_dumpit() */
static int
get(struct abi_nl *nl)
{
	struct emu_dev *dev = device(nl);

	if (!abi_nl_is_dump(nl)) {
		if (dev == NULL)
			return -EINVAL;
		abi_nl_begin(nl, dev, type_of(RDMA_NLDEV_CMD_GET), -1);
		put_device(nl, dev);
		abi_nl_end(nl, 0);
		return 0;
	}
	for (unsigned i = 0; i < nl->m->ports; i++) {
		if (!has_ibdev(&nl->m->dev[i]))
			continue;
		abi_nl_begin(nl, &nl->m->dev[i], type_of(RDMA_NLDEV_CMD_GET), -1);
		put_device(nl, &nl->m->dev[i]);
		abi_nl_end(nl, NLM_F_MULTI);
	}
	return -EINTR;
}

/* nldev_port_get_doit(), whose reply has the type of GET, and nldev_port_get_dumpit() */
static int
port_get(struct abi_nl *nl)
{
	struct emu_dev *dev = device(nl);
	const bool dump = abi_nl_is_dump(nl);
	uint32_t first, last;

	if (dev == NULL)
		return -EINVAL;
	first = dump ? 1 : port_of(nl, dev);
	last = dump ? emu_ib_ports(dev) : first;
	if (first == 0)
		return -EINVAL;
	for (uint32_t port = first; port <= last; port++) {
		abi_nl_begin(nl, dev, type_of(dump ? RDMA_NLDEV_CMD_PORT_GET : RDMA_NLDEV_CMD_GET), -1);
		put_port(nl, dev, port);
		abi_nl_end(nl, dump ? NLM_F_MULTI : 0);
	}
	return dump ? -EINTR : 0;
}

static int
sys_get(struct abi_nl *nl)
{
	abi_nl_begin(nl, NULL, type_of(RDMA_NLDEV_CMD_SYS_GET), -1);
	put_system(nl);
	abi_nl_end(nl, 0);
	return 0;
}

/* There are no other character devices than uverbs: ib_get_client_nl_info(). */
static int
get_chardev(struct abi_nl *nl)
{
	const char *what = abi_nl_attr_string(nl->req, 0, RDMA_NLDEV_ATTR_CHARDEV_TYPE);
	const bool indexed = abi_nl_attr(nl->req, 0, RDMA_NLDEV_ATTR_DEV_INDEX, 4) != NULL;
	struct emu_dev *dev = device(nl);

	if (what == NULL || (indexed && dev == NULL))
		return -EINVAL;
	if (!indexed || strcmp(what, "uverbs") != 0)
		return -EOPNOTSUPP;
	abi_nl_begin(nl, dev, type_of(RDMA_NLDEV_CMD_GET_CHARDEV), -1);
	put_chardev(nl, dev);
	abi_nl_end(nl, 0);
	return 0;
}

/* Commands of nldev_cb_table; those without a function are not modelled. */
static const struct command {
	int (*run)(struct abi_nl *nl);
	const char *name; /* for fault rules */
	bool exists, admin, no_dump;
} commands[] = {
	[RDMA_NLDEV_CMD_GET] = {.run = get, .name = "nldev_get", .exists = true},
	[RDMA_NLDEV_CMD_PORT_GET] = {.run = port_get, .name = "nldev_port_get", .exists = true},
	[RDMA_NLDEV_CMD_SYS_GET] = {.run = sys_get, .name = "nldev_sys_get", .exists = true, .no_dump = true},
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {.run = get_chardev, .name = "nldev_get_chardev", .exists = true,
					.no_dump = true},
	[RDMA_NLDEV_CMD_SET] = {.exists = true, .admin = true, .no_dump = true},
	[RDMA_NLDEV_CMD_NEWLINK] = {.exists = true, .admin = true, .no_dump = true},
	[RDMA_NLDEV_CMD_DELLINK] = {.exists = true, .admin = true, .no_dump = true},
	[RDMA_NLDEV_CMD_SYS_SET] = {.exists = true, .admin = true, .no_dump = true},
	[RDMA_NLDEV_CMD_RES_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_RES_QP_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_RES_CQ_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_RES_MR_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_RES_PD_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_STAT_SET] = {.exists = true, .admin = true, .no_dump = true},
	[RDMA_NLDEV_CMD_STAT_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_STAT_DEL] = {.exists = true, .admin = true, .no_dump = true},
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = {.exists = true, .admin = true},
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = {.exists = true, .admin = true},
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = {.exists = true, .admin = true},
	[RDMA_NLDEV_CMD_RES_CTX_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = {.exists = true},
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = {.exists = true, .no_dump = true},
};

/* rdma_nl_rcv_msg(); clients other than nldev are modules that are not loaded. */
int
abi_nldev_request(struct abi_nl *nl)
{
	const unsigned client = RDMA_NL_GET_CLIENT(nl->req->nlmsg_type), op = RDMA_NL_GET_OP(nl->req->nlmsg_type);
	const struct command *c = op < sizeof(commands) / sizeof(commands[0]) ? &commands[op] : NULL;

	if (client != RDMA_NL_NLDEV || c == NULL || !c->exists)
		return -EINVAL;
	if (c->admin && !abi_nl_admin())
		return -EPERM;
	if (abi_nl_is_dump(nl) && c->no_dump)
		return -EINVAL;
	nl->name = c->name;
	if (c->run != NULL)
		return c->run(nl);
	emu_trace_note(&nl->m->dev[0], "RDMA netlink command %u is not modelled", op);
	return -EOPNOTSUPP;
}
