/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Event channels, eventfds, asynchronous queries, port events. */
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

#define EVENT_PORT_CHANGE 9
#define EVENT_COMP 0
#define EVENT_WORDS 4 /* of 64 bits in the page of event capabilities */

static bool
readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN) != 0;
}

/* The kernel's interface goes down or up: the port follows. */
static void
interface_set(unsigned port, bool up)
{
	struct ifreq ifr = {0};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "mlxemu%unp0", port);
	CHECK_EQ(ioctl(s, SIOCGIFFLAGS, &ifr), 0);
	if (up)
		ifr.ifr_flags |= IFF_UP;
	else
		ifr.ifr_flags &= ~IFF_UP;
	CHECK_EQ(ioctl(s, SIOCSIFFLAGS, &ifr), 0);
	close(s);
}

static void
check_subscribe_refusals(struct mlx5dv_devx_event_channel *ch, struct client_obj cq)
{
	uint16_t comp = EVENT_COMP, port_change = EVENT_PORT_CHANGE;

	/* Completion belongs to an object, port change to the device. */
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(comp), &comp, 1), EINVAL);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, cq.obj, 2, &port_change, 1), EINVAL);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event_fd(ch, 9999, cq.obj, comp), EBADF);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event_fd(ch, ch->fd, cq.obj, comp), EINVAL);
}

static bool
page_has(const uint64_t *words, uint16_t type)
{
	return (words[type / 64] >> type % 64 & 1) != 0;
}

/* The kernel lets a program subscribe to what the device's event page names, and to nothing else. */
static void
check_event_page(struct client *c, struct mlx5dv_devx_event_channel *ch, struct client_obj cq)
{
	struct prm_query_hca_cap_in in = {0};
	uint64_t object[EVENT_WORDS], device[EVENT_WORDS];
	const struct prm_device_event_cap *cap;
	unsigned named = 0;

	prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&in, PRM_HCA_CAP_TYPE_DEV_EVENT << 1 | 1);
	memset(c->out, 0, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_general_cmd(c->ctx, &in, sizeof(in), c->out,
					 sizeof(struct prm_query_hca_cap_out)), 0);
	cap = (const void *)prm_query_hca_cap_out_capability((void *)c->out);
	for (unsigned i = 0; i < EVENT_WORDS; i++) {
		object[i] = prm_device_event_cap_get_user_affiliated_events(cap, i);
		device[i] = prm_device_event_cap_get_user_unaffiliated_events(cap, i);
		named += (unsigned)__builtin_popcountll(object[i] | device[i]);
	}
	CHECK(named > 2 && page_has(object, EVENT_COMP) && page_has(device, EVENT_PORT_CHANGE));
	CHECK(!page_has(object, PRM_EVENT_TYPE_PATH_MIG));
	for (uint16_t type = 0; type < EVENT_WORDS * 64; type++) {
		CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, cq.obj, sizeof(type), &type, 1),
			 page_has(object, type) ? 0 : EINVAL);
		CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(type), &type, 1),
			 page_has(device, type) ? 0 : EINVAL);
	}
}

/* Port events with their data: cookie and event queue entry. */
static void
check_data_channel(struct client *c, unsigned port)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(c->ctx, 0);
	union {
		struct mlx5dv_devx_async_event_hdr hdr;
		uint8_t bytes[sizeof(struct mlx5dv_devx_async_event_hdr) + 64];
	} ev;
	const uint8_t *eqe = ev.hdr.out_data;
	uint16_t type = EVENT_PORT_CHANGE;

	CHECK(ch != NULL);
	if (ch == NULL)
		return;
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(type), &type, 0x1234), 0);
	CHECK(!readable(ch->fd, 0));
	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	CHECK_EQ(mlx5dv_devx_get_event(ch, &ev.hdr, sizeof(ev)), -1);
	CHECK_EQ(errno, EAGAIN);
	interface_set(port, false);
	interface_set(port, true);
	CHECK(readable(ch->fd, 1000));
	/* A buffer that is too small costs nothing. */
	for (unsigned i = 0; i < 3; i++) {
		static const size_t too_small[] = {0, sizeof(ev.hdr), sizeof(ev) - 1};

		CHECK_EQ(mlx5dv_devx_get_event(ch, &ev.hdr, too_small[i]), -1);
		CHECK_EQ(errno, EINVAL);
	}
	CHECK_EQ(mlx5dv_devx_get_event(ch, &ev.hdr, sizeof(ev)), sizeof(ev));
	CHECK_EQ(ev.hdr.cookie, 0x1234);
	CHECK_EQ(eqe[1], EVENT_PORT_CHANGE);
	CHECK_EQ(eqe[3], 1); /* down */
	CHECK_EQ(mlx5dv_devx_get_event(ch, &ev.hdr, sizeof(ev)), sizeof(ev));
	CHECK_EQ(eqe[3], 4); /* active */
	CHECK(!readable(ch->fd, 0));
	mlx5dv_devx_destroy_event_channel(ch);
}

/* Without data: one record a subscription, however often it happened. */
static void
check_omit_channel(struct client *c, unsigned port)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(
		c->ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	struct mlx5dv_devx_async_event_hdr hdr;
	uint16_t type = EVENT_PORT_CHANGE;
	unsigned i;

	CHECK(ch != NULL);
	if (ch == NULL)
		return;
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(type), &type, 7), 0);
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(type), &type, 8), 0);
	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	for (i = 0; i < 3; i++) {
		interface_set(port, false);
		interface_set(port, true);
	}
	CHECK_EQ(mlx5dv_devx_get_event(ch, &hdr, sizeof(hdr)), sizeof(hdr));
	CHECK_EQ(hdr.cookie, 7);
	/* The first may come again while the second still waits. */
	interface_set(port, false);
	CHECK_EQ(mlx5dv_devx_get_event(ch, &hdr, sizeof(hdr)), sizeof(hdr));
	CHECK_EQ(hdr.cookie, 8);
	CHECK_EQ(mlx5dv_devx_get_event(ch, &hdr, sizeof(hdr)), sizeof(hdr));
	CHECK_EQ(hdr.cookie, 7);
	CHECK_EQ(mlx5dv_devx_get_event(ch, &hdr, sizeof(hdr)), -1);
	CHECK_EQ(errno, EAGAIN);
	interface_set(port, true);
	CHECK_EQ(mlx5dv_devx_get_event(ch, &hdr, sizeof(hdr)), sizeof(hdr));
	mlx5dv_devx_destroy_event_channel(ch);
}

static void
check_eventfd(struct client *c, unsigned port)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(c->ctx, 0);
	int efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	uint64_t count = 0;

	CHECK(ch != NULL);
	if (ch == NULL)
		return;
	CHECK_EQ(mlx5dv_devx_subscribe_devx_event_fd(ch, efd, NULL, EVENT_PORT_CHANGE), 0);
	interface_set(port, false);
	interface_set(port, true);
	CHECK_EQ(read(efd, &count, sizeof(count)), sizeof(count));
	CHECK_EQ(count, 2);
	CHECK(!readable(ch->fd, 0));
	mlx5dv_devx_destroy_event_channel(ch);
	/* The channel took its subscriptions along. */
	interface_set(port, false);
	interface_set(port, true);
	CHECK_EQ(read(efd, &count, sizeof(count)), -1);
	close(efd);
}

void
case_events(unsigned port)
{
	struct client c;

	client_open(&c, port);
	check_data_channel(&c, port);
	check_omit_channel(&c, port);
	check_eventfd(&c, port);
	client_close(&c);
}

/* Who waits for edges is woken by each answer, also while older ones wait to be read. */
static void
check_async_edges(struct mlx5dv_devx_obj *obj, const struct prm_query_cq_in *in,
		  struct mlx5dv_devx_cmd_comp *comp, void *buf, size_t bytes)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	int ep = epoll_create1(EPOLL_CLOEXEC);

	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, comp->fd, &ev), 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(epoll_wait(ep, &ev, 1, 0), 0);
		CHECK_EQ(mlx5dv_devx_obj_query_async(obj, in, sizeof(*in),
						     sizeof(struct prm_query_cq_out), i, comp),
			 0);
		CHECK_EQ(epoll_wait(ep, &ev, 1, 1000), 1);
	}
	close(ep);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, buf, bytes), 0);
	CHECK(!readable(comp->fd, 0));
}

void
case_async(unsigned port)
{
	struct mlx5dv_devx_cmd_comp *comp;
	struct prm_query_cq_in in = {0};
	uint8_t buf[sizeof(struct mlx5dv_devx_async_cmd_hdr) + sizeof(struct prm_query_cq_out)];
	struct mlx5dv_devx_async_cmd_hdr *hdr = (void *)buf;
	struct client_obj cq;
	struct client c;

	client_open(&c, port);
	cq = client_cq(&c);
	comp = mlx5dv_devx_create_cmd_comp(c.ctx);
	CHECK(comp != NULL && cq.obj != NULL);
	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_CQ);
	prm_query_cq_in_set_cqn(&in, cq.id);
	CHECK_EQ(mlx5dv_devx_obj_query_async(cq.obj, &in, sizeof(in),
					     sizeof(struct prm_query_cq_out), 77, comp),
		 0);
	CHECK(readable(comp->fd, 1000));
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, hdr, sizeof(buf)), 0);
	CHECK_EQ(hdr->wr_id, 77);
	CHECK_EQ(hdr->out_data[0], 0);
	CHECK_EQ(prm_cqc_get_log_cq_size(prm_query_cq_out_cq_context(
			 (struct prm_query_cq_out *)hdr->out_data)),
		 6);
	check_async_edges(cq.obj, &in, comp, buf, sizeof(buf));
	mlx5dv_devx_destroy_cmd_comp(comp);
	CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
	client_close(&c);
}

/* Link events of ibv_get_async_event(), and subscriptions that are refused. */
void
case_link(unsigned port)
{
	struct mlx5dv_devx_event_channel *ch;
	struct ibv_async_event ev;
	struct ibv_port_attr attr;
	struct client_obj cq;
	struct client c;

	client_open(&c, port);
	interface_set(port, false);
	CHECK_EQ(ibv_query_port(c.ctx, 1, &attr), 0);
	CHECK_EQ(attr.state, IBV_PORT_DOWN);
	CHECK(readable(c.ctx->async_fd, 1000));
	CHECK_EQ(ibv_get_async_event(c.ctx, &ev), 0);
	CHECK_EQ(ev.event_type, IBV_EVENT_PORT_ERR);
	CHECK_EQ(ev.element.port_num, 1);
	ibv_ack_async_event(&ev);
	interface_set(port, true);
	CHECK_EQ(ibv_get_async_event(c.ctx, &ev), 0);
	CHECK_EQ(ev.event_type, IBV_EVENT_PORT_ACTIVE);
	ibv_ack_async_event(&ev);
	ch = mlx5dv_devx_create_event_channel(c.ctx, 0);
	cq = client_cq(&c);
	CHECK(ch != NULL && cq.obj != NULL);
	check_subscribe_refusals(ch, cq);
	check_event_page(&c, ch, cq);
	CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
	mlx5dv_devx_destroy_event_channel(ch);
	client_close(&c);
}
