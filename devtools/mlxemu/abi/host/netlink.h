/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Netlink sockets whose requests are answered here in place of the kernel: NETLINK_RDMA (nldev.c), the
 * generic netlink family devlink (devlink.c), and of NETLINK_ROUTE those on address lists (fdb.c).
 */
#ifndef ABI_NETLINK_H
#define ABI_NETLINK_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/uio.h>

#include "abi/abi.h"

/** A request and the reply under construction. */
struct abi_nl {
	const struct nlmsghdr *req;
	struct emu_machine *m; /**< Locked. */
	int sock;	       /**< Socket that replies are sent by. */
	int program;	       /**< The program's socket. */
	uint32_t portid;       /**< Its address, */
	uint32_t known;	       /**< and the one that the program knows. */
	const char *name;      /**< Of the command, for fault rules; */
	struct emu_dev *dev;   /**< the device that the message is about, or NULL. */
	uint32_t len;	       /**< Bytes of the message in buf. */
	bool lost;	       /**< An attribute did not fit. */
	uint8_t buf[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/** Begins a message about dev (or NULL) of a type; with cmd >= 0 it is one of generic netlink. */
void abi_nl_begin(struct abi_nl *nl, struct emu_dev *dev, uint16_t type, int cmd);
/** Sends it. flags: NLM_F_MULTI for a part of a dump. */
void abi_nl_end(struct abi_nl *nl, uint16_t flags);
void abi_nl_put(struct abi_nl *nl, uint16_t type, const void *data, size_t len);
static inline void
abi_nl_put_string(struct abi_nl *nl, uint16_t type, const char *s)
{
	abi_nl_put(nl, type, s, __builtin_strlen(s) + 1);
}
#define ABI_NL_PUT(nl, ctype, type, value)                                                         \
	do {                                                                                       \
		ctype nl_value_ = (ctype)(value);                                                  \
                                                                                                   \
		abi_nl_put(nl, type, &nl_value_, sizeof(nl_value_));                               \
	} while (0)
/** Begins an attribute that contains others; returns the place for abi_nl_nested(), which ends it. */
uint32_t abi_nl_nest(struct abi_nl *nl, uint16_t type);
void abi_nl_nested(struct abi_nl *nl, uint32_t at);

/** An attribute of the request with at least len bytes; header: bytes after struct nlmsghdr. NULL: there is none. */
const void *abi_nl_attr(const struct nlmsghdr *req, unsigned header, uint16_t type, unsigned len);
/** The same for a string that ends within the attribute. */
const char *abi_nl_attr_string(const struct nlmsghdr *req, unsigned header, uint16_t type);

/** Answers a request: 0 (acknowledged if requested), -EINTR (a dump, ended by NLMSG_DONE) or -errno. */
int abi_nldev_request(struct abi_nl *nl);
int abi_devlink_request(struct abi_nl *nl);
int abi_fdb_request(struct abi_nl *nl);
/** Whether a request on a NETLINK_ROUTE socket, of which len bytes are there, is for abi_fdb_request(). */
bool abi_fdb_is_ours(const struct nlmsghdr *req, size_t len);
/** Whether a request on a NETLINK_GENERIC socket is for the family devlink: its name is looked up. */
bool abi_devlink_lookup(const struct nlmsghdr *req);

/** The port is visible: its kernel driver is mlx5_core or mlx4_core, and it is not removed. */
bool abi_nl_port(const struct emu_dev *dev);
/** Whether the thread has CAP_NET_ADMIN: netlink_capable(). */
bool abi_nl_admin(void);
/** The dump flag is set (both bits of NLM_F_DUMP are, or one: as the kernel tests it). */
static inline bool
abi_nl_is_dump(const struct abi_nl *nl)
{
	return (nl->req->nlmsg_flags & NLM_F_DUMP) != 0;
}

/** socket(AF_NETLINK): true if the protocol is answered here; *fd is the result, or -errno. */
bool abi_netlink_socket(int type, int protocol, int *fd);
/** A message that the program sends on fd. True: answered, *ret is the result of the call or -errno. */
bool abi_netlink_send(int fd, const struct iovec *iov, size_t n, const void *to, size_t to_len, ssize_t *ret);
/** The source of a received message: the kernel has the address 0. */
void abi_netlink_from(int fd, void *from, size_t len);

#endif /* ABI_NETLINK_H */
