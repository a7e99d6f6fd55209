/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A device of two processes: "give" opens it and passes the file and the place of a doorbell page on (SCM_RIGHTS), as
 * the primary process of a DPDK driver does; "take", under --join, maps the page and stores into the register. The
 * device clears it, also if it slept.
 *
 * usage: emu_join give|take|open SOCKET
 */
#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"

/* Arms a CQ (PRM, UAR page format): command and number. */
#define REGISTER 0x20u
/* Longer than an idle engine polls before it sleeps, and than one sleep. */
#define IDLE_US 300000u
/* The engine polls at least every 50 us while a process has joined; it would sleep for up to 100 ms. */
#define TAKEN_US 20000u
#define STORES 10u

/** What the process with the device sends beside the descriptor. */
struct place {
	uint64_t offset;
	uint32_t cqn;
};

static int
local_socket(const char *path, struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	addr->sun_family = AF_UNIX;
	snprintf(addr->sun_path, sizeof(addr->sun_path), "%s", path);
	CHECK(fd >= 0);
	return fd;
}

static void
descriptor_send(int peer, int fd, const struct place *place)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)(uintptr_t)place, sizeof(*place)};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};

	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	REQUIRE(sendmsg(peer, &msg, 0) == sizeof(*place));
}

static int
descriptor_receive(int peer, struct place *place)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {place, sizeof(*place)};
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	CHECK(recvmsg(peer, &msg, 0) == sizeof(*place) && CMSG_FIRSTHDR(&msg) != NULL);
	if (CMSG_FIRSTHDR(&msg) != NULL)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void
refused(int fd, size_t len, int prot, int flags, uint64_t offset, int err)
{
	errno = 0;
	CHECK(mmap(NULL, len, prot, flags, fd, (off_t)offset) == MAP_FAILED, "0x%" PRIx64, offset);
	CHECK_EQ(errno, err);
}

/* mmap() permits what the kernel does, in both processes (Linux, mlx5_ib_mmap()); uar: an offset that is permitted. */
static void
check_refused(int fd, uint64_t uar)
{
	const int rw = PROT_READ | PROT_WRITE;

	refused(fd, 4096, rw, MAP_PRIVATE, uar, EINVAL);
	refused(fd, 8192, rw, MAP_SHARED, uar, EINVAL);
	/* A page that no object has; a range of the file that has none; the first page, of another kind of context. */
	refused(fd, 4096, rw, MAP_SHARED, uar + (1u << 20), EINVAL);
	refused(fd, 4096, rw, MAP_SHARED, 0x3fff0000, EINVAL);
	refused(fd, 4096, rw, MAP_SHARED, 1ull << 40, EINVAL);
	refused(fd, 4096, rw, MAP_SHARED, 0, EINVAL);
	/* No device memory was allocated. */
	refused(fd, 4096, rw, MAP_SHARED, 0x800000, EINVAL);
	/* Counter and clock page. */
	refused(fd, 4096, rw, MAP_SHARED, 0x500000, EPERM);
	refused(fd, 8192, PROT_READ, MAP_SHARED, 0x500000, EINVAL);
	refused(fd, 4096, PROT_READ, MAP_PRIVATE, 0x500000, EINVAL);
	refused(fd, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, 0x700000, EPERM);
	refused(fd, 4096, PROT_READ, MAP_SHARED, 0x701000, EOPNOTSUPP);
	refused(fd, 4096, PROT_READ, MAP_PRIVATE, 0x700000, EINVAL);
}

static void
give(const char *path)
{
	struct sockaddr_un addr;
	int fd = local_socket(path, &addr), peer;
	struct client_obj cq;
	struct client c;
	char byte;

	client_open(&c, 0);
	cq = client_cq(&c);
	check_refused(c.ctx->cmd_fd, (uint64_t)c.uar->mmap_off);
	REQUIRE(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 && listen(fd, 1) == 0);
	/* Each process that connects takes the device. */
	for (int n = 0; n < 2; n++) {
		peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		REQUIRE(peer >= 0);
		/* The engine sleeps after that. */
		pass_us(IDLE_US);
		descriptor_send(peer, c.ctx->cmd_fd, &(struct place){(uint64_t)c.uar->mmap_off, cq.id});
		CHECK(recv(peer, &byte, 1, 0) == 0);
		close(peer);
	}
	close(fd);
	CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
	client_close(&c);
}

static void
take(const char *path)
{
	struct sockaddr_un addr;
	int peer = local_socket(path, &addr), fd;
	volatile uint64_t *page;
	unsigned fast = 0;
	struct place place = {0};

	REQUIRE(connect(peer, (const struct sockaddr *)&addr, sizeof(addr)) == 0);
	fd = descriptor_receive(peer, &place);
	check_refused(fd, place.offset);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)place.offset);
	REQUIRE((void *)(uintptr_t)page != MAP_FAILED);
	for (unsigned i = 0; i < STORES; i++) {
		uint64_t begin_ns;

		/* The engine would sleep again meanwhile, were this process not there. */
		if (i != 0)
			pass_us(i == 1 ? IDLE_US : TAKEN_US);
		begin_ns = await_now_ns();
		page[REGISTER / 8] = htobe64(place.cqn);
		CHECK(AWAIT(page[REGISTER / 8] == 0, 5000));
		fast += await_now_ns() - begin_ns < TAKEN_US * 1000ull;
	}
	/* A busy machine delays some. */
	CHECK(fast > STORES / 2, "%u of %u", fast, STORES);
	close(fd);
	close(peer);
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "give") == 0) {
		give(argv[2]);
	} else if (strcmp(argv[1], "take") == 0) {
		take(argv[2]);
	} else {
		/* The device is that of the other process. */
		CHECK(open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC) < 0);
		CHECK_EQ(errno, EBUSY);
	}
	return check_exit(argv[1]);
}
