/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Replay: send the packets of a capture from a port.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <pcap/pcap.h>

#include "tm.h"

/** A capture that is sent from a port. */
struct tm_replay {
	char *path;
	pcap_t *pcap;
	struct tm_pacer pacer;
	const uint8_t *held;		/* record that is not yet in buffers; owned by libpcap */
	uint32_t held_len;
	struct rte_mbuf *next;		/* in buffers, not yet accepted by the device */
	uint64_t read, sent, truncated, too_long;
	uint64_t base_rx;		/* for the window */
	uint64_t stall_tsc, stall_rx, written_off;
	bool ended, done;
	char error[PCAP_ERRBUF_SIZE];	/* of the file, "" = none */
};

static int
replay_open(struct tm_app *app, struct tm_port *p)
{
	struct tm_replay *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return -ENOMEM;
	p->replay = r;
	r->path = strdup(app->cfg.files[p->port_id].pcap_in);
	r->pcap = r->path != NULL ? tm_pcap_open(r->path) : NULL;
	if (r->pcap == NULL)
		return -EINVAL;
	tm_pacer_start(&r->pacer, app->cfg.rate);
	/* Queue 0 of a port is the Tx queue of exactly one stream. */
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		struct tm_stream *s = &app->streams[i];

		if (s->tx_port == p->port_id && s->tx_queue == 0 && s->has_tx)
			s->replay = r;
	}
	return 0;
}

int
tm_replays_open(struct tm_app *app)
{
	int ret = 0;

	tm_replays_free(app);
	for (uint16_t i = 0; i < app->nb_ports && ret == 0; i++)
		if (app->cfg.files[app->port_ids[i]].pcap_in != NULL)
			ret = replay_open(app, &app->ports[app->port_ids[i]]);
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS && ret == 0; i++) {
		if (app->cfg.files[i].pcap_in != NULL && !tm_port_used(app, i)) {
			tm_error("--pcap-in: port %u does not exist or is not used", i);
			ret = -ENODEV;
		}
	}
	return ret;
}

void
tm_replays_close(struct tm_app *app)
{
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		struct tm_replay *r = app->ports[app->port_ids[i]].replay;

		if (r == NULL)
			continue;
		if (r->pcap != NULL)
			pcap_close(r->pcap);
		r->pcap = NULL;
		rte_pktmbuf_free(r->next);
		r->next = NULL;
	}
	for (uint16_t i = 0; i < app->nb_streams; i++)
		app->streams[i].replay = NULL;
}

void
tm_replays_free(struct tm_app *app)
{
	tm_replays_close(app);
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		struct tm_port *p = &app->ports[app->port_ids[i]];

		if (p->replay != NULL)
			free(p->replay->path);
		free(p->replay);
		p->replay = NULL;
	}
}

/* Copy the record into mbufs; NULL if the pool is empty. */
static struct rte_mbuf *
record_mbuf(struct tm_app *app, const uint8_t *data, uint32_t len)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(app->pool), *tail = head;

	if (head == NULL)
		return NULL;
	head->pkt_len = len;
	for (;;) {
		uint32_t n = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(tail));

		memcpy(rte_pktmbuf_mtod(tail, void *), data, n);
		tail->data_len = n;
		data += n;
		len -= n;
		if (len == 0)
			return head;
		tail->next = rte_pktmbuf_alloc(app->pool);
		if (tail->next == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		tail = tail->next;
		head->nb_segs++;
	}
}

/* Read the next record that fits the port's MTU into r->held; false at the end of the file. */
static bool
record_read(struct tm_replay *r, const struct tm_port *p)
{
	struct pcap_pkthdr *h;
	const uint8_t *data;
	int ret;

	while (!r->ended) {
		ret = pcap_next_ex(r->pcap, &h, &data);
		if (ret != 1) {
			r->ended = true;
			if (ret == PCAP_ERROR)
				snprintf(r->error, sizeof(r->error), "%s", pcap_geterr(r->pcap));
			return false;
		}
		r->read++;
		if (h->caplen < h->len)
			r->truncated++;
		if (h->caplen > 0 && h->caplen <= tm_port_frame_max(p) + RTE_VLAN_HLEN) {
			r->held = data;
			r->held_len = h->caplen;
			return true;
		}
		r->too_long++;
	}
	return false;
}

/* Set r->next, if there are a record and buffers. */
static void
replay_read(struct tm_app *app, struct tm_replay *r, const struct tm_port *p)
{
	if (r->next != NULL || (r->held == NULL && !record_read(r, p)))
		return;
	r->next = record_mbuf(app, r->held, r->held_len);
	if (r->next != NULL)
		r->held = NULL;
}

/* Packets that the peer port has received. */
static uint64_t
peer_rx(const struct tm_app *app, const struct tm_port *p)
{
	struct tm_stats st;

	tm_stats_sum(app, p->peer, -1, &st);
	return st.rx_packets;
}

static uint32_t
replay_window(struct tm_app *app, struct tm_replay *r, const struct tm_port *p, uint32_t max)
{
	uint64_t back, out, now;

	if (app->cfg.window == 0)
		return max;
	back = peer_rx(app, p) + r->written_off;
	out = r->sent > back ? r->sent - back : 0;
	if (out < app->cfg.window) {
		r->stall_tsc = 0;
		return RTE_MIN((uint64_t)max, app->cfg.window - out);
	}
	now = rte_get_tsc_cycles();
	if (r->stall_tsc == 0 || back != r->stall_rx) {
		r->stall_tsc = now;
		r->stall_rx = back;
	} else if (now - r->stall_tsc > rte_get_tsc_hz() / 2) {
		r->written_off += out;
	}
	return 0;
}

uint32_t
tm_replay_poll(struct tm_app *app, struct tm_stream *s)
{
	const struct tm_port *p = &app->ports[s->tx_port];
	struct tm_replay *r = s->replay;
	uint32_t n, sent = 0;

	if (r->done || tm_phase_get(app) != TM_PHASE_RUN)
		return 0;
	n = tm_pacer_allow(&r->pacer, app->cfg.burst);
	n = n > 0 ? replay_window(app, r, p, n) : 0;
	while (sent < n) {
		replay_read(app, r, p);
		if (r->next == NULL || tm_tx(app, s, &r->next, 1) != 1)
			break;
		r->next = NULL;
		sent++;
	}
	r->sent += sent;
	r->pacer.used += sent;
	if (r->ended && r->held == NULL && r->next == NULL)
		__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	return sent;
}

bool
tm_replay_done(const struct tm_replay *r)
{
	return __atomic_load_n(&r->done, __ATOMIC_ACQUIRE);
}

void
tm_replay_report(const struct tm_port *p, FILE *out)
{
	const struct tm_replay *r = p->replay;

	if (r == NULL)
		return;
	fprintf(out, "port %u sent %" PRIu64 " of %" PRIu64 " records of %s", p->port_id, r->sent,
		r->read, r->path);
	if (r->truncated > 0)
		fprintf(out, ", %" PRIu64 " of them truncated in the capture", r->truncated);
	fputc('\n', out);
}

void
tm_replay_json(const struct tm_port *p, FILE *out)
{
	const struct tm_replay *r = p->replay;

	fprintf(out, "{\"file\": ");
	tm_json_string(out, r->path);
	fprintf(out, ", \"read\": %" PRIu64 ", \"sent\": %" PRIu64 ", \"too_long\": %" PRIu64
		", \"truncated\": %" PRIu64 ", \"done\": %s}", r->read, r->sent, r->too_long,
		r->truncated, r->done ? "true" : "false");
}

void
tm_replay_check(struct tm_app *app, struct tm_port *p)
{
	const struct tm_replay *r = p->replay;

	if (r == NULL)
		return;
	if (r->error[0] != '\0')
		tm_fail(app, "capture '%s' ends early, after record %" PRIu64 ": %s", r->path,
			r->read, r->error);
	if (r->too_long > 0)
		tm_fail(app, "capture '%s': %" PRIu64 " records do not fit port %u's MTU %u",
			r->path, r->too_long, p->port_id, p->mtu);
	if (!r->done && app->signal == 0)
		tm_fail(app, "capture '%s': only %" PRIu64 " packets were sent", r->path, r->sent);
}
