/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Replaced libc functions on sockets: requests on netlink sockets that are answered by host/netlink.c. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "abi/host/netlink.h"
#include "preload.h"

ssize_t __recvfrom_chk(int fd, void *buf, size_t len, size_t size, int flags, struct sockaddr *from,
		       socklen_t *from_len);

static ssize_t
abi_result(ssize_t ret)
{
	if (ret >= 0)
		return ret;
	errno = (int)-ret;
	return -1;
}

ABI_EXPORT int
socket(int domain, int type, int protocol)
{
	int fd;

	if (domain == AF_NETLINK && abi_netlink_socket(type, protocol, &fd))
		return (int)abi_result(fd);
	return ABI_REAL(socket)(domain, type, protocol);
}

ABI_EXPORT ssize_t
sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *to, socklen_t to_len)
{
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)buf, .iov_len = len};
	ssize_t ret;

	return abi_netlink_send(fd, &iov, 1, to, to_len, &ret) ? abi_result(ret)
							       : ABI_REAL(sendto)(fd, buf, len, flags, to, to_len);
}

ABI_EXPORT ssize_t
send(int fd, const void *buf, size_t len, int flags)
{
	const struct iovec iov = {.iov_base = (void *)(uintptr_t)buf, .iov_len = len};
	ssize_t ret;

	return abi_netlink_send(fd, &iov, 1, NULL, 0, &ret) ? abi_result(ret) : ABI_REAL(send)(fd, buf, len, flags);
}

ABI_EXPORT ssize_t
sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t ret;

	return abi_netlink_send(fd, msg->msg_iov, msg->msg_iovlen, msg->msg_name, msg->msg_namelen, &ret)
		       ? abi_result(ret)
		       : ABI_REAL(sendmsg)(fd, msg, flags);
}

ABI_EXPORT ssize_t
recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t ret = ABI_REAL(recvmsg)(fd, msg, flags);

	if (ret >= 0)
		abi_netlink_from(fd, msg->msg_name, msg->msg_namelen);
	return ret;
}

static ssize_t
abi_received(int fd, ssize_t ret, struct sockaddr *from, const socklen_t *from_len)
{
	if (ret >= 0 && from != NULL && from_len != NULL)
		abi_netlink_from(fd, from, *from_len);
	return ret;
}

ABI_EXPORT ssize_t
recvfrom(int fd, void *buf, size_t len, int flags, struct sockaddr *from, socklen_t *from_len)
{
	return abi_received(fd, ABI_REAL(recvfrom)(fd, buf, len, flags, from, from_len), from, from_len);
}

ABI_EXPORT ssize_t
__recvfrom_chk(int fd, void *buf, size_t len, size_t size, int flags, struct sockaddr *from, socklen_t *from_len)
{
	return abi_received(fd, ABI_REAL(__recvfrom_chk)(fd, buf, len, size, flags, from, from_len), from, from_len);
}
