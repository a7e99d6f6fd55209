/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * --rx-intr: lcores without packets to receive sleep until an interrupt of one of their queues.
 */

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_interrupts.h>

#include "tm.h"

/* A sleeping lcore notices the end of the run after this time. */
#define SLEEP_MS 20
#define EVENTS 64 /* that one call takes; later ones take the rest */

int
tm_intr_check(const struct tm_config *cfg)
{
	bool sends = cfg->engine->generates;

	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		sends |= cfg->files[i].pcap_in != NULL;
	if (!cfg->rx_intr || !sends)
		return 0;
	tm_error("--rx-intr: %s sends packets without receiving any, and cannot sleep",
		 cfg->engine->generates ? cfg->engine->name : "a port with a capture");
	return -EINVAL;
}

static int
stream_add(struct tm_app *app, struct tm_stream *s)
{
	int *epfd = &app->intr_epfd[s->lcore], ret;

	if (*epfd < 0)
		*epfd = epoll_create1(EPOLL_CLOEXEC);
	if (*epfd < 0) {
		tm_error("--rx-intr: no epoll descriptor: %s", strerror(errno));
		return -errno;
	}
	ret = rte_eth_dev_rx_intr_ctl_q(s->rx_port, s->rx_queue, *epfd, RTE_INTR_EVENT_ADD, s);
	if (ret != 0)
		tm_error("port %u queue %u: no Rx interrupts: %s", s->rx_port, s->rx_queue,
			 rte_strerror(-ret));
	return ret;
}

int
tm_intr_open(struct tm_app *app)
{
	int ret;

	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		app->intr_epfd[i] = -1;
	if (!app->cfg.rx_intr)
		return 0;
	ret = tm_intr_check(&app->cfg);
	for (uint16_t i = 0; i < app->nb_streams && ret == 0; i++)
		if (app->streams[i].has_rx)
			ret = stream_add(app, &app->streams[i]);
	if (ret != 0)
		tm_intr_close(app);
	return ret;
}

void
tm_intr_close(struct tm_app *app)
{
	for (uint16_t i = 0; i < app->nb_streams && app->cfg.rx_intr; i++) {
		struct tm_stream *s = &app->streams[i];

		if (s->has_rx && app->intr_epfd[s->lcore] >= 0)
			(void)rte_eth_dev_rx_intr_ctl_q(s->rx_port, s->rx_queue,
							app->intr_epfd[s->lcore],
							RTE_INTR_EVENT_DEL, s);
	}
	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++) {
		if (app->intr_epfd[i] >= 0)
			close(app->intr_epfd[i]);
		app->intr_epfd[i] = -1;
	}
}

/* Enable or disable the interrupts of all queues of the lcore; *first is set to one of its streams. */
static int
intr_enable(struct tm_app *app, unsigned int lcore, bool on, struct tm_stream **first)
{
	int ret = 0;

	for (uint16_t i = 0; i < app->nb_streams && ret == 0; i++) {
		struct tm_stream *s = &app->streams[i];

		if (s->lcore != lcore || !s->has_rx)
			continue;
		if (on)
			ret = rte_eth_dev_rx_intr_enable(s->rx_port, s->rx_queue);
		else
			(void)rte_eth_dev_rx_intr_disable(s->rx_port, s->rx_queue);
		*first = s;
	}
	return ret;
}

void
tm_intr_sleep(struct tm_app *app, unsigned int lcore)
{
	struct rte_epoll_event events[EVENTS];
	struct tm_stream *first = NULL;
	uint64_t begin;
	int n;

	/* If interrupts cannot be enabled, for example because the device was removed, poll. */
	if (app->intr_epfd[lcore] < 0 || intr_enable(app, lcore, true, &first) != 0)
		return;
	begin = tm_now_ns();
	n = rte_epoll_wait(app->intr_epfd[lcore], events, RTE_DIM(events), SLEEP_MS);
	first->stats.rx_sleeps++;
	first->stats.rx_slept_ns += tm_now_ns() - begin;
	for (int i = 0; i < n; i++)
		((struct tm_stream *)events[i].epdata.data)->stats.rx_wakes++;
	(void)intr_enable(app, lcore, false, &first);
}
