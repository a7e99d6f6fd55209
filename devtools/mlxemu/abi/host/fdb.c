/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Address lists of a network interface by rtnetlink, as `bridge fdb` uses it: RTM_NEWNEIGH, RTM_DELNEIGH and
 * RTM_GETNEIGH of the family AF_BRIDGE. mlx5e has no ndo_fdb_add, so that the kernel's default applies: the address
 * enters the interface's own list (Linux, net/core/rtnetlink.c, rtnl_fdb_add() and ndo_dflt_fdb_add()). Requests about
 * other interfaces and other requests are the kernel's.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "netlink.h"

#define HEADER sizeof(struct ndmsg)

static struct emu_dev *
fdb_port(struct emu_machine *m, int ifindex)
{
	unsigned i = (unsigned)ifindex - ABI_IFINDEX_BASE;

	return i < m->ports && abi_nl_port(&m->dev[i]) ? &m->dev[i] : NULL;
}

/* ndo_dflt_fdb_dump(): one message per address. */
static void
fdb_put(struct abi_nl *nl, struct emu_dev *dev, const uint8_t (*list)[6], unsigned count)
{
	const struct ndmsg ndm = {
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = (int)(ABI_IFINDEX_BASE + dev->index),
		.ndm_state = NUD_PERMANENT,
		.ndm_flags = NTF_SELF,
	};

	for (unsigned i = 0; i < count; i++) {
		abi_nl_begin(nl, dev, RTM_NEWNEIGH, -1);
		memcpy(nl->buf + nl->len, &ndm, sizeof(ndm));
		nl->len += NLMSG_ALIGN(sizeof(ndm));
		abi_nl_put(nl, NDA_LLADDR, list[i], 6);
		abi_nl_end(nl, NLM_F_MULTI);
	}
}

/* dev_uc_add_excl() and dev_mc_add_excl(), dev_uc_del() and dev_mc_del() */
static int
fdb_change(struct emu_dev *dev, const uint8_t *mac, bool add)
{
	unsigned before = dev->vport.mc_count;
	int ret;

	if ((mac[0] & 1) == 0)
		return emu_port_ucast(dev, mac, add);
	ret = emu_port_mcast(dev, mac, add);
	return ret == 0 && add && dev->vport.mc_count == before ? -EEXIST : ret;
}

int
abi_fdb_request(struct abi_nl *nl)
{
	bool add = nl->req->nlmsg_type == RTM_NEWNEIGH;
	const struct nlattr *a;
	const uint8_t *mac;
	struct emu_dev *dev;
	struct ndmsg ndm;
	int ret;

	memcpy(&ndm, NLMSG_DATA(nl->req), sizeof(ndm));
	dev = fdb_port(nl->m, ndm.ndm_ifindex);
	if (dev == NULL)
		return -ENODEV;
	if (nl->req->nlmsg_type == RTM_GETNEIGH) {
		fdb_put(nl, dev, dev->vport.uc, dev->vport.uc_count);
		fdb_put(nl, dev, dev->vport.mc, dev->vport.mc_count);
		return -EINTR;
	}
	mac = abi_nl_attr(nl->req, HEADER, NDA_LLADDR, 6);
	a = mac != NULL ? (const struct nlattr *)(mac - NLA_HDRLEN) : NULL;
	if (a == NULL || a->nla_len != NLA_HDRLEN + 6)
		return -EINVAL;
	/* Without NTF_SELF the request is for the bridge that the interface is a port of: it is none. */
	if ((ndm.ndm_flags & NTF_SELF) == 0)
		return -EOPNOTSUPP;
	if (add ? ndm.ndm_state != 0 && (ndm.ndm_state & NUD_PERMANENT) == 0 : (ndm.ndm_state & NUD_PERMANENT) == 0)
		return -EINVAL;
	ret = fdb_change(dev, mac, add);
	emu_trace_note(dev, "%s: address list -> %d", dev->netdev_name, ret);
	return ret == -EEXIST && (nl->req->nlmsg_flags & NLM_F_EXCL) == 0 ? 0 : ret;
}

bool
abi_fdb_is_ours(const struct nlmsghdr *req, size_t len)
{
	struct ndmsg ndm;

	if (len < NLMSG_LENGTH(sizeof(ndm)) || req->nlmsg_len > len || req->nlmsg_len < NLMSG_LENGTH(sizeof(ndm)) ||
	    req->nlmsg_type < RTM_NEWNEIGH || req->nlmsg_type > RTM_GETNEIGH)
		return false;
	memcpy(&ndm, NLMSG_DATA(req), sizeof(ndm));
	/* Without the right to change interfaces the kernel refuses the request (rtnetlink_rcv_msg()). */
	return ndm.ndm_family == AF_BRIDGE && abi_netdev_name((unsigned)ndm.ndm_ifindex) != NULL && abi_nl_admin();
}
