/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Register dumps through the kernel's devlink, the whole exchange: the program's own socket() replaces that of libc
  * and returns one end of a socket pair. At the other end a thread checks each request and replies like a kernel.
 */

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "test_fwdump.h"

#define FAMILY 0x1a
#define BYTES 4096

/** How the kernel replies. */
struct kernel {
	int family_error;	/**< there is no such family */
	bool family_missing;	/**< only an acknowledgement */
	int dump_error;		/**< the reporter refuses the dump, or fails after its first message */
	unsigned int messages;	/**< number of messages of the dump */
	bool no_end;		/**< shuts the socket down after them, without the end of the dump */
	bool bad_length;		/**< a message whose length field exceeds the received bytes */
	int ret;		/**< expected result */
	unsigned int words;
	const char *why;	/**< a part of the expected reason */
};

static int kernel_fd = -1;

int
socket(int domain, int type, int protocol)
{
	static int (*next)(int, int, int);
	int pair[2];

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "socket");
	if (domain != AF_NETLINK || protocol != NETLINK_GENERIC || kernel_fd != -2)
		return next(domain, type, protocol);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	__atomic_store_n(&kernel_fd, pair[1], __ATOMIC_RELEASE);
	return pair[0];
}

static size_t
attr_add(uint8_t *message, uint16_t type, const void *data, size_t bytes)
{
	struct nlmsghdr *nl = (struct nlmsghdr *)message;
	struct nlattr a = { .nla_len = NLA_HDRLEN + bytes, .nla_type = type };

	memcpy(message + nl->nlmsg_len, &a, sizeof(a));
	memcpy(message + nl->nlmsg_len + NLA_HDRLEN, data, bytes);
	nl->nlmsg_len += NLA_ALIGN(a.nla_len);
	return nl->nlmsg_len;
}

static uint8_t *
message_begin(uint8_t *buf, uint16_t type, uint16_t flags, size_t bytes)
{
	struct nlmsghdr *nl = (struct nlmsghdr *)buf;

	memset(buf, 0, BYTES);
	nl->nlmsg_type = type;
	nl->nlmsg_flags = flags;
	nl->nlmsg_len = NLMSG_HDRLEN + bytes;
	return buf + NLMSG_HDRLEN;
}

/* An error; the end of a dump; or, with error 0, an acknowledgement. */
static void
reply_status(uint16_t type, int error)
{
	uint8_t buf[BYTES];

	memcpy(message_begin(buf, type, 0, sizeof(int)), &error, sizeof(error));
	CHECK(send(kernel_fd, buf, NLMSG_HDRLEN + sizeof(int), 0) > 0);
}

/* Whether an attribute of the request has this text. */
static bool
attr_is(const uint8_t *buf, uint16_t type, const char *text)
{
	const struct nlmsghdr *nl = (const struct nlmsghdr *)buf;
	const struct nlattr *a;

	for (size_t at = NLMSG_HDRLEN + GENL_HDRLEN; at + NLA_HDRLEN <= nl->nlmsg_len; at += NLA_ALIGN(a->nla_len)) {
		a = (const struct nlattr *)(buf + at);
		if (a->nla_type == type)
			return a->nla_len == NLA_HDRLEN + strlen(text) + 1 &&
			       strcmp((const char *)a + NLA_HDRLEN, text) == 0;
	}
	return false;
}

static bool
request_get(uint8_t *buf, uint16_t family, uint8_t cmd)
{
	const struct nlmsghdr *nl = (const struct nlmsghdr *)buf;
	const struct genlmsghdr *genl = (const struct genlmsghdr *)(buf + NLMSG_HDRLEN);
	ssize_t n = recv(kernel_fd, buf, BYTES, 0);

	CHECK(n >= (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN) && nl->nlmsg_len == n);
	CHECK_EQ(nl->nlmsg_type, family);
	CHECK((nl->nlmsg_flags & NLM_F_REQUEST) != 0);
	CHECK_EQ(genl->cmd, cmd);
	return n > 0;
}

/* Three values per message; only the first one contains the name. */
static void
reply_dump(const struct kernel *k, unsigned int i)
{
	const uint32_t words[] = { 3 * i, 3 * i + 1, 3 * i + 2 };
	uint8_t buf[BYTES], nest[256], *at = nest;
	struct nlattr a = { .nla_type = DEVLINK_ATTR_FMSG_OBJ_NAME, .nla_len = NLA_HDRLEN + 12 };

	if (i == 0) {
		memcpy(at, &a, sizeof(a));
		memcpy(at + NLA_HDRLEN, "crdump_data", 12);
		at += NLA_ALIGN(a.nla_len);
	}
	a = (struct nlattr){ .nla_type = DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA, .nla_len = NLA_HDRLEN + sizeof(words) };
	memcpy(at, &a, sizeof(a));
	memcpy(at + NLA_HDRLEN, words, sizeof(words));
	at += NLA_ALIGN(a.nla_len);
	(void)message_begin(buf, FAMILY, NLM_F_MULTI, GENL_HDRLEN);
	attr_add(buf, DEVLINK_ATTR_FMSG | NLA_F_NESTED, nest, at - nest);
	if (k->bad_length)
		((struct nlmsghdr *)buf)->nlmsg_len += 64;
	CHECK(send(kernel_fd, buf, ((struct nlmsghdr *)buf)->nlmsg_len - (k->bad_length ? 64 : 0), 0) > 0);
}

static void
serve(const struct kernel *k)
{
	const uint16_t family = FAMILY;
	uint8_t buf[BYTES];

	if (!request_get(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY))
		return;
	CHECK(attr_is(buf, CTRL_ATTR_FAMILY_NAME, "devlink"));
	if (k->family_error != 0) {
		reply_status(NLMSG_ERROR, -k->family_error);
		return;
	}
	(void)message_begin(buf, GENL_ID_CTRL, 0, GENL_HDRLEN);
	attr_add(buf, CTRL_ATTR_FAMILY_NAME, "devlink", 8);
	if (!k->family_missing)
		CHECK(send(kernel_fd, buf, attr_add(buf, CTRL_ATTR_FAMILY_ID, &family, sizeof(family)), 0) > 0);
	reply_status(NLMSG_ERROR, 0);
	if (k->family_missing)
		return;
	if (!request_get(buf, FAMILY, DEVLINK_CMD_HEALTH_REPORTER_DUMP_GET))
		return;
	CHECK((((struct nlmsghdr *)buf)->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP);
	CHECK(attr_is(buf, DEVLINK_ATTR_BUS_NAME, "pci") && attr_is(buf, DEVLINK_ATTR_DEV_NAME, "0000:c1:00.0") &&
	      attr_is(buf, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw_fatal"));
	for (unsigned int i = 0; i < k->messages; i++)
		reply_dump(k, i);
	if (k->dump_error != 0)
		reply_status(NLMSG_ERROR, -k->dump_error);
	else if (!k->no_end && !k->bad_length)
		reply_status(NLMSG_DONE, 0);
}

static void *
kernel_thread(void *arg)
{
	AWAIT_CERTAIN(__atomic_load_n(&kernel_fd, __ATOMIC_ACQUIRE) >= 0);
	serve(arg);
	shutdown(kernel_fd, SHUT_WR);
	return NULL;
}

void
test_devlink_exchange(void)
{
	static struct kernel kernels[] = {
		{ .messages = 1, .words = 3 },
		{ .messages = 5, .words = 15 },
		{ .messages = 0, .ret = -ENODATA, .why = "has no registers" },
		{ .family_error = ENOENT, .ret = -ENOENT, .why = "no devlink" },
		{ .family_missing = true, .ret = -EPROTO, .why = "Protocol error" },
		{ .dump_error = ENODEV, .ret = -ENODEV, .why = "no such device" },
		{ .dump_error = EOPNOTSUPP, .ret = -EOPNOTSUPP, .why = "not supported" },
		{ .messages = 2, .dump_error = EIO, .ret = -EIO, .why = "Input/output" },
		{ .messages = 2, .no_end = true, .ret = -ETIMEDOUT, .why = "timed out" },
		{ .messages = 1, .bad_length = true, .ret = -EPROTO, .why = "Protocol error" },
	};

	for (size_t i = 0; i < RTE_DIM(kernels); i++) {
		const struct kernel *k = &kernels[i];
		struct mdv_fwdump_set set = { 0 };
		char why[MDV_FWDUMP_WHY] = "";
		pthread_t thread;

		kernel_fd = -2;
		CHECK_EQ(pthread_create(&thread, NULL, kernel_thread, &kernels[i]), 0);
		CHECK_EQ(mdv_fwdump_by_devlink(&pf, &set, why), k->ret);
		pthread_join(thread, NULL);
		close(kernel_fd);
		kernel_fd = -1;
		CHECK_EQ(set.count, k->words);
		CHECK_EQ(set.route, MDV_FWDUMP_DEVLINK);
		for (size_t n = 0; n < set.count; n++)
			CHECK(set.regs[n].addr == 4 * n && set.regs[n].val == n);
		CHECK(k->why == NULL || strstr(why, k->why) != NULL);
		if (k->why != NULL && strstr(why, k->why) == NULL)
			fprintf(stderr, "case %zu: '%s'\n", i, why);
		free(set.regs);
	}
}
