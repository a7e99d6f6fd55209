/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* TAP wires in a network namespace of the test's own: frames both ways, errors, loss. */
#include <errno.h>
#include <linux/if.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.h"

#define SKIP 77 /* what meson takes for a skipped test */
#define TAP "dptap0"

static int
open_packet(void)
{
	struct ifreq ifr = {.ifr_name = TAP};
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htobe16(ETH_P_ALL)};
	int one = 1, fd = socket(AF_PACKET, SOCK_RAW, htobe16(ETH_P_ALL));

	if (fd < 0 || ioctl(fd, SIOCGIFINDEX, &ifr) != 0)
		return -1;
	at.sll_ifindex = ifr.ifr_ifindex;
	setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one));
	return bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ? fd : -1;
}

static int
set_up(bool up)
{
	struct ifreq ifr = {.ifr_name = TAP};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), ret;

	ret = ioctl(fd, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags = (short)(up ? ifr.ifr_flags | IFF_UP : ifr.ifr_flags & ~IFF_UP);
	if (ret == 0)
		ret = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return ret;
}

static void
frames_both_ways(void)
{
	struct rig *r = rig_new(1, "0=tap:" TAP);
	struct rig_port *p = &r->port[0];
	struct rig_sq *sq = rig_sq_new(p, rig_cq_new(p, 8, 6), 8);
	struct rig_rx *rx = rig_rx_new(p, 5);
	struct rig_frame *f = rig_mem(p, sizeof(*f), 64);
	const struct emu_wire_stats *w = emu_wire_stats(p->dev);
	unsigned arrived = 0, n;
	uint8_t buf[2000];
	int fd;

	/* Down: the interface refuses, the port counts. */
	rig_ip_frame(f, p->dev, 4, 17, 100, 0, -1);
	rig_send(sq, f->data, f->len);
	rig_run(r);
	CHECK_EQ(p->dev->stats.tx_discards, 1);
	CHECK_EQ(w->write_errors, 1);
	CHECK_EQ(set_up(true), 0);
	fd = open_packet();
	CHECK(fd >= 0);
	/* Out: what the port sends is what the host sees. */
	for (n = 0; n < 50; n++) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};
		ssize_t len;

		rig_ip_frame(f, p->dev, 4, 17, 20 + n * 27, 0, -1);
		rig_send(sq, f->data, f->len);
		rig_run(r);
		do {
			len = poll(&pfd, 1, 1000) == 1 ? recv(fd, buf, sizeof(buf), 0) : -1;
		} while (len > 0 && memcmp(buf + 6, f->data + 6, 6) != 0);
		CHECK(len == (ssize_t)f->len && memcmp(buf, f->data, f->len) == 0);
		rig_cqe(sq->cq);
	}
	CHECK_EQ(p->dev->stats.tx_frames, 50);
	/* In: more than the RQ has buffers for; the rest waits in the interface. */
	for (n = 0; n < 60; n++) {
		rig_ip_frame(f, p->dev, 4, 6, 20 + n * 20, 0, -1);
		f->data[50] = (uint8_t)n;
		CHECK(send(fd, f->data, f->len, 0) == (ssize_t)f->len);
	}
	for (unsigned tries = 0; tries < 100000 && arrived < 60; tries++) {
		const struct prm_cqe64 *cqe;

		emu_dp_poll(&r->m);
		while ((cqe = rig_cqe(rx->cq)) != NULL) {
			unsigned at = be16toh(cqe->wqe_counter) & 31;

			/* The host's own stack speaks up too (IPv6). */
			if (memcmp(rx->buf[at] + 6, f->data + 6, 6) == 0) {
				CHECK_EQ(rx->buf[at][50], arrived);
				CHECK_EQ(be32toh(cqe->byte_cnt), 54 + 20 + arrived * 20);
				arrived++;
			}
			rig_post(rx->rq, rx->buf[at], RIG_BUF_BYTES, p->lkey);
		}
	}
	CHECK_EQ(arrived, 60);
	CHECK_EQ(p->dev->stats.rx_out_of_buffer, 0);
	close(fd);
	rig_free(r);
}

/* The launcher: its error message if a TAP cannot be created. */
static void
bad_taps(void)
{
	static struct emu_wire_plan plan[2];
	const char *specs[] = {"0=tap:lo", "1=loop"}, *ns[] = {"0=tap:x@dp-no-such-namespace", "1=loop"};
	char err[512];

	CHECK_EQ(emu_wire_parse(specs, 2, 2, plan, err, sizeof(err)), 0);
	CHECK(emu_wire_open(plan, 2, err, sizeof(err)) < 0);
	CHECK(strstr(err, "tap:lo") != NULL && strchr(err, '\n') == NULL);
	CHECK_EQ(emu_wire_parse(ns, 2, 2, plan, err, sizeof(err)), 0);
	CHECK_EQ(emu_wire_open(plan, 2, err, sizeof(err)), -ENOENT);
	CHECK(strstr(err, "dp-no-such-namespace") != NULL);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"frames_both_ways", frames_both_ways},
		{"bad_taps", bad_taps},
		{NULL, NULL},
	};
	static struct emu_wire_plan plan[1];
	const char *spec = "0=tap:" TAP;
	char err[512];

	if (unshare(CLONE_NEWNET) != 0) {
		printf("skipped: no network namespace of one's own: %s\n", strerror(errno));
		return SKIP;
	}
	if (emu_wire_parse(&spec, 1, 1, plan, err, sizeof(err)) != 0 ||
	    emu_wire_open(plan, 1, err, sizeof(err)) != 0) {
		printf("skipped: %s\n", err);
		return SKIP;
	}
	close(plan[0].fd);
	return rig_main(argc, argv, tests);
}
