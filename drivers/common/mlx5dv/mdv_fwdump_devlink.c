/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Registers from the kernel: the health reporter fw_fatal of mlx5_core reads them through the gateway
 * (diag/crdump.c) and keeps the dump until `devlink health dump clear`.
 *
 * The dump is the space from address 0 as an array of words, with a filler for missing registers.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <rte_common.h>

#include "mdv_fwdump_int.h"

#define MESSAGE_BYTES 65536
/* The kernel may have to read all registers first: assumed. */
#define REPLY_TIMEOUT_S 30
#define REPORTER "fw_fatal"
#define PAYLOAD_NAME "crdump_data"

/** A request under construction. */
struct request {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	uint8_t attrs[256];
};

static void
request_string(struct request *r, uint16_t type, const char *text)
{
	struct nlattr *a = (struct nlattr *)((uint8_t *)r + NLMSG_ALIGN(r->nl.nlmsg_len));
	size_t len = strlen(text) + 1;

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((uint8_t *)a + NLA_HDRLEN, text, len);
	r->nl.nlmsg_len = NLMSG_ALIGN(r->nl.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

static void
request_begin(struct request *r, uint16_t family, uint16_t flags, uint8_t cmd, uint8_t version)
{
	memset(r, 0, sizeof(*r));
	r->nl.nlmsg_type = family;
	r->nl.nlmsg_flags = NLM_F_REQUEST | flags;
	r->nl.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	r->genl.cmd = cmd;
	r->genl.version = version;
}

/* Returns the attribute at *at and advances; NULL at the end or for an invalid length. */
static const struct nlattr *
attr_next(const uint8_t **at, size_t *left)
{
	const struct nlattr *a = (const struct nlattr *)*at;
	size_t step;

	if (*left < NLA_HDRLEN || a->nla_len < NLA_HDRLEN || a->nla_len > *left)
		return NULL;
	step = RTE_MIN((size_t)NLA_ALIGN(a->nla_len), *left);
	*at += step;
	*left -= step;
	return a;
}

static const void *
attr_data(const struct nlattr *a, size_t *len)
{
	*len = a->nla_len - NLA_HDRLEN;
	return (const uint8_t *)a + NLA_HDRLEN;
}

static int
words_add(struct mdv_fwdump_devlink *p, const void *data, size_t len)
{
	int ret = 0;
	uint32_t val;

	for (size_t at = 0; ret == 0 && at + sizeof(val) <= len; at += sizeof(val)) {
		memcpy(&val, (const uint8_t *)data + at, sizeof(val));
		if (val != MDV_FWDUMP_UNREADABLE)
			ret = mdv_fwdump_add(p->set, p->addr, val);
		p->addr += sizeof(val);
	}
	return ret;
}

int
mdv_fwdump_devlink_parse(struct mdv_fwdump_devlink *p, const void *attrs, size_t len)
{
	const struct nlattr *a;
	const uint8_t *at = attrs;
	int ret = 0;

	while (ret == 0 && (a = attr_next(&at, &len)) != NULL) {
		size_t bytes;
		const void *data = attr_data(a, &bytes);

		switch (a->nla_type & NLA_TYPE_MASK) {
		case DEVLINK_ATTR_FMSG:
			ret = mdv_fwdump_devlink_parse(p, data, bytes);
			break;
		case DEVLINK_ATTR_FMSG_OBJ_NAME:
			p->inside = bytes == sizeof(PAYLOAD_NAME) &&
				    memcmp(data, PAYLOAD_NAME, bytes) == 0;
			break;
		case DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA:
			if (p->inside)
				ret = words_add(p, data, bytes);
			break;
		}
	}
	return ret;
}

/* Parses a datagram. 1: end of the reply; 0: more follows; -errno. */
static int
messages(struct mdv_fwdump_devlink *p, const void *buf, size_t len, uint16_t *family)
{
	const uint8_t *next = buf, *end = next + len;

	while ((size_t)(end - next) >= NLMSG_HDRLEN) {
		const struct nlmsghdr *m = (const struct nlmsghdr *)next;
		const uint8_t *at = next + NLMSG_HDRLEN + GENL_HDRLEN;
		const struct nlattr *a;
		size_t left, bytes;
		int ret = 0;

		if (m->nlmsg_len < NLMSG_HDRLEN || m->nlmsg_len > (size_t)(end - next))
			return -EPROTO;
		left = m->nlmsg_len - NLMSG_HDRLEN;
		next += RTE_MIN((size_t)NLMSG_ALIGN(m->nlmsg_len), (size_t)(end - next));
		if (m->nlmsg_type == NLMSG_ERROR || m->nlmsg_type == NLMSG_DONE) {
			if (left >= sizeof(int))
				memcpy(&ret, NLMSG_DATA(m), sizeof(ret));
			return ret < 0 ? ret : 1;
		}
		if (left < GENL_HDRLEN)
			return -EPROTO;
		left -= GENL_HDRLEN;
		if (p != NULL)
			ret = mdv_fwdump_devlink_parse(p, at, left);
		while (p == NULL && (a = attr_next(&at, &left)) != NULL)
			if (a->nla_type == CTRL_ATTR_FAMILY_ID && a->nla_len >= NLA_HDRLEN + 2)
				memcpy(family, attr_data(a, &bytes), sizeof(*family));
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
request_run(int sock, const struct request *r, struct mdv_fwdump_devlink *p, uint16_t *family)
{
	uint8_t *buf = malloc(MESSAGE_BYTES);
	ssize_t n;
	int ret = buf != NULL ? 0 : -ENOMEM;

	if (ret == 0 && send(sock, r, r->nl.nlmsg_len, 0) < 0)
		ret = -errno;
	while (ret == 0) {
		n = recv(sock, buf, MESSAGE_BYTES, 0);
		ret = n > 0 ? messages(p, buf, n, family) : n == 0 || errno == EAGAIN ? -ETIMEDOUT :
									      errno == EINTR ? 0 : -errno;
	}
	free(buf);
	return ret < 0 ? ret : 0;
}

static int
dump_read(int sock, const struct rte_pci_addr *pci, struct mdv_fwdump_set *set)
{
	struct mdv_fwdump_devlink p = { .set = set };
	uint16_t family = 0;
	char name[PCI_PRI_STR_SIZE];
	struct request r;
	int ret;

	request_begin(&r, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, 1);
	request_string(&r, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
	ret = request_run(sock, &r, NULL, &family);
	if (ret == 0 && family == 0)
		ret = -EPROTO;
	if (ret != 0)
		return ret;
	snprintf(name, sizeof(name), PCI_PRI_FMT, pci->domain, pci->bus, pci->devid, pci->function);
	request_begin(&r, family, NLM_F_DUMP, DEVLINK_CMD_HEALTH_REPORTER_DUMP_GET,
		      DEVLINK_GENL_VERSION);
	request_string(&r, DEVLINK_ATTR_BUS_NAME, "pci");
	request_string(&r, DEVLINK_ATTR_DEV_NAME, name);
	request_string(&r, DEVLINK_ATTR_HEALTH_REPORTER_NAME, REPORTER);
	ret = request_run(sock, &r, &p, &family);
	return ret == 0 && set->count == 0 ? -ENODATA : ret;
}

int
mdv_fwdump_by_devlink(const struct rte_pci_addr *pci, struct mdv_fwdump_set *set,
		      char why[MDV_FWDUMP_WHY])
{
	const struct timeval timeout = { .tv_sec = REPLY_TIMEOUT_S };
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), ret;

	ret = sock >= 0 ? 0 : -errno;
	if (ret == 0)
		(void)setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (ret == 0)
		ret = dump_read(sock, pci, set);
	if (sock >= 0)
		close(sock);
	set->route = MDV_FWDUMP_DEVLINK;
	if (ret == 0)
		return 0;
	set->count = 0;
	snprintf(why, MDV_FWDUMP_WHY, "%s",
		 ret == -ENOENT || ret == -EPROTONOSUPPORT ? "this kernel has no devlink" :
		 ret == -ENODEV ? "the kernel has no such device there" :
		 ret == -ENODATA ? "the health reporter " REPORTER " has no registers" :
		 rte_strerror(-ret));
	return ret;
}
