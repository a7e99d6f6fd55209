/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Sockets of netlink.h. The program gets a socket of NETLINK_USERSOCK, which has addresses, options,
 * polling and a receive queue of the kernel; replies are sent to it from another such socket. A socket of
 * NETLINK_ROUTE stays the kernel's; replies to requests that are answered here are sent to it from another one.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/emu_bond.h"
#include "core/emu_fault.h"
#include "netlink.h"
#include "sysfs.h"

/* Largest request that is accepted. */
#define REQUEST_BYTES 8192

/** A netlink socket of the program. */
struct nl_socket {
	struct abi_fdobj fo; /* first */
	int protocol;
	bool ours;	/* a NETLINK_USERSOCK: requests are answered here */
	uint32_t known; /* address before the socket was replaced; 0: that of the socket */
};

static void
nl_release(struct abi_fdobj *obj)
{
	free(obj);
}

static int
nl_user_socket(int type)
{
	return ABI_REAL(socket)(AF_NETLINK, type, NETLINK_USERSOCK);
}

bool
abi_netlink_socket(int type, int protocol, int *fd)
{
	struct nl_socket *s;

	if ((protocol != NETLINK_RDMA && protocol != NETLINK_GENERIC && protocol != NETLINK_ROUTE) ||
	    abi_inside != 0 || abi_run_dir() == NULL)
		return false;
	*fd = protocol == NETLINK_RDMA ? nl_user_socket(type) : ABI_REAL(socket)(AF_NETLINK, type, protocol);
	if (*fd < 0) {
		*fd = -errno;
		return true;
	}
	s = calloc(1, sizeof(*s));
	if (s == NULL) {
		abi_real_close(*fd);
		*fd = -ENOMEM;
		return true;
	}
	s->fo.kind = ABI_FD_NETLINK;
	s->fo.release = nl_release;
	s->protocol = protocol;
	s->ours = protocol == NETLINK_RDMA;
	if (abi_fd_add(*fd, &s->fo) != 0)
		free(s);
	return true;
}

void
abi_nl_put(struct abi_nl *nl, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (struct nlattr *)(nl->buf + nl->len);

	if (nl->len + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(nl->buf)) {
		nl->lost = true;
		return;
	}
	memset(a, 0, NLA_HDRLEN + NLA_ALIGN(len));
	a->nla_type = type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	if (len != 0)
		memcpy((uint8_t *)a + NLA_HDRLEN, data, len);
	if (nl->dev != NULL && emu_fault_set_at(EMU_ON_IOCTL_OUT)) {
		const struct emu_fault_event e = {
			.kind = EMU_ON_IOCTL_OUT, .dev = nl->dev, .attr = type, .name = nl->name,
		};

		emu_fault_set_out(&e, (uint8_t *)a + NLA_HDRLEN, len);
	}
	nl->len += (uint32_t)(NLA_HDRLEN + NLA_ALIGN(len));
}

uint32_t
abi_nl_nest(struct abi_nl *nl, uint16_t type)
{
	uint32_t at = nl->len;

	abi_nl_put(nl, type, NULL, 0);
	return at;
}

void
abi_nl_nested(struct abi_nl *nl, uint32_t at)
{
	((struct nlattr *)(nl->buf + at))->nla_len = (uint16_t)(nl->len - at);
}

void
abi_nl_begin(struct abi_nl *nl, struct emu_dev *dev, uint16_t type, int cmd)
{
	struct nlmsghdr *h = (struct nlmsghdr *)nl->buf;
	struct genlmsghdr *g = NLMSG_DATA(h);

	memset(nl->buf, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	h->nlmsg_type = type;
	h->nlmsg_seq = nl->req->nlmsg_seq;
	h->nlmsg_pid = nl->known;
	nl->len = NLMSG_HDRLEN;
	nl->lost = false;
	nl->dev = dev;
	if (cmd < 0)
		return;
	g->cmd = (uint8_t)cmd;
	/* Each family replies with its own version; that of devlink and of the controller differ. */
	g->version = type == GENL_ID_CTRL ? 2 : 1;
	nl->len += GENL_HDRLEN;
}

void
abi_nl_end(struct abi_nl *nl, uint16_t flags)
{
	struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = nl->portid};
	struct nlmsghdr *h = (struct nlmsghdr *)nl->buf;

	h->nlmsg_len = nl->len;
	h->nlmsg_flags = flags;
	/* As from the kernel, a reply is lost if the receive queue is full. */
	if (!nl->lost)
		(void)ABI_REAL(sendto)(nl->sock, nl->buf, nl->len, MSG_DONTWAIT, (const struct sockaddr *)&to,
				       sizeof(to));
}

/* NLMSG_ERROR, which also acknowledges: kernel, net/netlink/af_netlink.c, netlink_ack(). */
static void
nl_ack(struct abi_nl *nl, int error)
{
	struct nlmsgerr *e;
	int capped = 0;
	socklen_t len = sizeof(capped);
	uint32_t bytes;

	(void)getsockopt(nl->program, SOL_NETLINK, NETLINK_CAP_ACK, &capped, &len);
	capped |= error == 0;
	abi_nl_begin(nl, NULL, NLMSG_ERROR, -1);
	e = NLMSG_DATA((struct nlmsghdr *)nl->buf);
	bytes = capped ? sizeof(*nl->req) : nl->req->nlmsg_len;
	if (bytes > sizeof(nl->buf) - NLMSG_HDRLEN - sizeof(e->error))
		bytes = sizeof(*nl->req);
	e->error = error;
	memcpy(&e->msg, nl->req, bytes);
	nl->len += (uint32_t)sizeof(e->error) + NLMSG_ALIGN(bytes);
	abi_nl_end(nl, capped ? NLM_F_CAPPED : 0);
}

static void
nl_done(struct abi_nl *nl)
{
	const int error = 0;

	abi_nl_begin(nl, NULL, NLMSG_DONE, -1);
	memcpy(nl->buf + nl->len, &error, sizeof(error));
	nl->len += sizeof(error);
	abi_nl_end(nl, NLM_F_MULTI);
}

/* Kernel: drivers/infiniband/core/netlink.c, rdma_nl_rcv_skb(), and net/netlink/af_netlink.c, netlink_rcv_skb(). */
static void
nl_messages(struct abi_nl *nl, const uint8_t *at, size_t left, int (*request)(struct abi_nl *))
{
	while (left >= sizeof(struct nlmsghdr)) {
		size_t len;
		int ret = 0;

		nl->req = (const struct nlmsghdr *)at;
		if (nl->req->nlmsg_len < sizeof(struct nlmsghdr) || nl->req->nlmsg_len > left)
			return;
		if ((nl->req->nlmsg_flags & NLM_F_REQUEST) != 0 && nl->req->nlmsg_type >= NLMSG_MIN_TYPE)
			ret = request(nl);
		if (ret == -EINTR)
			nl_done(nl);
		else if (ret != 0 || (nl->req->nlmsg_flags & NLM_F_ACK) != 0)
			nl_ack(nl, ret);
		len = NLMSG_ALIGN(nl->req->nlmsg_len);
		if (len >= left)
			return;
		at += len;
		left -= len;
	}
}

/* The address of the program's socket; the kernel assigns one at the first message. */
static int
nl_portid(int fd, uint32_t *portid)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &len) != 0)
		return -errno;
	if (a.nl_pid == 0 &&
	    (bind(fd, (const struct sockaddr *)&(struct sockaddr_nl){.nl_family = AF_NETLINK}, sizeof(a)) != 0 ||
	     getsockname(fd, (struct sockaddr *)&a, &len) != 0))
		return -errno;
	*portid = a.nl_pid;
	return 0;
}

/*
 * A socket for generic netlink is the kernel's until its program looks up the family devlink; from then on its
 * requests are answered here. The options that change replies stay, and so does the address in replies.
 */
static int
nl_replace(struct nl_socket *s, int fd)
{
	static const int options[] = {NETLINK_CAP_ACK, NETLINK_EXT_ACK};
	struct sockaddr_nl a = {.nl_family = AF_NETLINK};
	int flags = ABI_REAL(fcntl)(fd, F_GETFL), on, new;
	socklen_t len = sizeof(a);
	struct stat st;

	new = nl_user_socket(SOCK_RAW | SOCK_CLOEXEC | ((flags & O_NONBLOCK) != 0 ? SOCK_NONBLOCK : 0));
	if (new < 0)
		return -errno;
	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		socklen_t bytes = sizeof(on);

		if (getsockopt(fd, SOL_NETLINK, options[i], &on, &bytes) == 0 && on != 0)
			(void)setsockopt(new, SOL_NETLINK, options[i], &on, sizeof(on));
	}
	/* Another protocol has other addresses: the same one may be in use. */
	if (getsockname(fd, (struct sockaddr *)&a, &len) == 0)
		s->known = a.nl_pid;
	flags = (ABI_REAL(fcntl)(fd, F_GETFD) & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
	if (ABI_REAL(dup3)(new, fd, flags) < 0 || abi_real_fstat(fd, &st) != 0) {
		abi_real_close(new);
		return -errno;
	}
	abi_real_close(new);
	s->fo.st_dev = st.st_dev;
	s->fo.st_ino = st.st_ino;
	s->ours = true;
	return 0;
}

/*
 * Fault rules are read when the first device is opened, which is later. Read them now only if some are about these
 * replies: others, as those on allocations, must not apply before.
 */
static void
nl_rules(void)
{
	const char *rules = getenv("MLXEMU_FAULTS");

	if (rules != NULL && (strstr(rules, "method=nldev_") != NULL || strstr(rules, "method=devlink_") != NULL))
		(void)abi_model_faults();
}

static ssize_t
nl_answer(const struct nl_socket *s, int fd, const uint8_t *request, size_t len)
{
	struct abi_nl nl = {.program = fd};
	int ret = nl_portid(fd, &nl.portid);

	if (ret != 0)
		return ret;
	nl.known = s->known != 0 ? s->known : nl.portid;
	nl_rules();
	nl.m = abi_enter();
	if (nl.m == NULL)
		return -ECONNREFUSED;
	nl.sock = s->protocol == NETLINK_ROUTE ? ABI_REAL(socket)(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)
					       : nl_user_socket(SOCK_RAW | SOCK_CLOEXEC);
	if (nl.sock >= 0) {
		nl_messages(&nl, request, len, s->protocol == NETLINK_RDMA    ? abi_nldev_request
					       : s->protocol == NETLINK_ROUTE ? abi_fdb_request
									      : abi_devlink_request);
		abi_real_close(nl.sock);
	}
	abi_leave();
	return nl.sock >= 0 ? (ssize_t)len : -ENOBUFS;
}

static size_t
nl_gather(const struct iovec *iov, size_t n, uint8_t *to, size_t max)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (iov[i].iov_len > max - len)
			return max + 1;
		if (iov[i].iov_len != 0)
			memcpy(to + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	return len;
}

bool
abi_netlink_send(int fd, const struct iovec *iov, size_t n, const void *to, size_t to_len, ssize_t *ret)
{
	uint8_t request[REQUEST_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct sockaddr_nl a = {0};
	struct nl_socket *s;
	bool here;
	size_t len;

	if (abi_inside != 0 || abi_fd_kind(fd) != ABI_FD_NETLINK)
		return false;
	s = (struct nl_socket *)abi_fd_get(fd, ABI_FD_NETLINK);
	if (s == NULL)
		return false;
	len = nl_gather(iov, n, request, sizeof(request));
	*ret = 0;
	if (s->protocol == NETLINK_GENERIC && !s->ours && len >= sizeof(struct nlmsghdr) && len <= sizeof(request) &&
	    ((const struct nlmsghdr *)request)->nlmsg_len <= len &&
	    abi_devlink_lookup((const struct nlmsghdr *)request))
		*ret = nl_replace(s, fd);
	if (to != NULL)
		memcpy(&a, to, to_len < sizeof(a) ? to_len : sizeof(a));
	here = s->ours || (s->protocol == NETLINK_ROUTE && len <= sizeof(request) &&
			   abi_fdb_is_ours((const struct nlmsghdr *)request, len));
	/* To another process: no program listens there. */
	if (*ret == 0 && here && a.nl_pid != 0)
		*ret = -ECONNREFUSED;
	else if (*ret == 0 && here)
		*ret = len > sizeof(request) ? -EMSGSIZE : nl_answer(s, fd, request, len);
	n = here || *ret != 0;
	abi_fd_put(&s->fo);
	return n != 0;
}

void
abi_netlink_from(int fd, void *from, size_t len)
{
	struct sockaddr_nl *a = from;
	int saved = errno;
	struct nl_socket *s;

	if (from == NULL || len < sizeof(*a) || abi_inside != 0 || abi_fd_kind(fd) != ABI_FD_NETLINK)
		return;
	s = (struct nl_socket *)abi_fd_get(fd, ABI_FD_NETLINK);
	if (s != NULL && (s->ours || s->protocol == NETLINK_ROUTE))
		a->nl_pid = 0;
	if (s != NULL)
		abi_fd_put(&s->fo);
	errno = saved;
}

const void *
abi_nl_attr(const struct nlmsghdr *req, unsigned header, uint16_t type, unsigned len)
{
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(header);

	while (at + NLA_HDRLEN <= req->nlmsg_len) {
		const struct nlattr *a = (const struct nlattr *)((const uint8_t *)req + at);

		if (a->nla_len < NLA_HDRLEN || at + a->nla_len > req->nlmsg_len)
			return NULL;
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a->nla_len >= NLA_HDRLEN + len ? (const uint8_t *)a + NLA_HDRLEN : NULL;
		at += NLA_ALIGN(a->nla_len);
	}
	return NULL;
}

const char *
abi_nl_attr_string(const struct nlmsghdr *req, unsigned header, uint16_t type)
{
	const char *s = abi_nl_attr(req, header, type, 1);
	uint16_t len;

	if (s == NULL)
		return NULL;
	memcpy(&len, s - NLA_HDRLEN, sizeof(len)); /* nla_len */
	return memchr(s, 0, len - NLA_HDRLEN) != NULL ? s : NULL;
}

bool
abi_nl_admin(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_NET_ADMIN & 1) != 0;
}

bool
abi_nl_port(const struct emu_dev *dev)
{
	return (dev->fronts & EMU_FRONT_VERBS) != 0 && !dev->removed &&
	       (emu_bond(dev) == EMU_BOND_MEMBER || emu_sysfs_has(dev, abi_run_dir()));
}
