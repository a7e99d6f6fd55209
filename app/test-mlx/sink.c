/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Files to which every received packet of a port is written: opened at start, closed at stop.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tm_clock.h"

static void
sink_free(struct tm_sink *k)
{
	if (k == NULL)
		return;
	free(k->path);
	free(k->flat);
	free(k);
}

static struct tm_sink *
sink_open(const char *path, int (*open)(struct tm_sink *k))
{
	struct tm_sink *k = calloc(1, sizeof(*k));

	if (k != NULL) {
		k->path = strdup(path);
		k->flat = malloc(TM_SINK_FLAT_BYTES);
		rte_spinlock_init(&k->lock);
	}
	if (k == NULL || k->path == NULL || k->flat == NULL || open(k) != 0) {
		sink_free(k);
		return NULL;
	}
	return k;
}

static int
port_sinks_open(struct tm_app *app, unsigned int port_id)
{
	const struct tm_port_files *f = &app->cfg.files[port_id];
	struct tm_port *p = &app->ports[port_id];

	if (f->pcap_out == NULL && f->meta_out == NULL && !p->record)
		return 0;
	if (!tm_port_used(app, port_id)) {
		tm_error("--pcap-out, --meta-out: port %u does not exist or is not used", port_id);
		return -ENODEV;
	}
	if (f->pcap_out != NULL)
		p->pcap_out = sink_open(f->pcap_out, tm_pcap_sink_open);
	if (f->meta_out != NULL)
		p->meta_out = sink_open(f->meta_out, tm_meta_sink_open);
	if (p->record)
		p->stamps_out = sink_open("timestamps", tm_stamps_sink_open);
	return (f->pcap_out != NULL && p->pcap_out == NULL) ||
		(f->meta_out != NULL && p->meta_out == NULL) ||
		(p->record && p->stamps_out == NULL) ? -EIO : 0;
}

int
tm_sinks_open(struct tm_app *app)
{
	int ret = 0;

	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS && ret == 0; i++)
		ret = port_sinks_open(app, i);
	return ret;
}

static uint64_t
sink_close(struct tm_app *app, struct tm_sink **slot)
{
	struct tm_sink *k = *slot;
	uint64_t packets;
	int ret;

	if (k == NULL)
		return 0;
	ret = k->ops->close(k);
	if (k->error == 0)
		k->error = ret;
	if (k->error != 0)
		tm_fail(app, "cannot write '%s': %s", k->path, strerror(-k->error));
	packets = k->packets;
	*slot = NULL;
	sink_free(k);
	return packets;
}

void
tm_sinks_close(struct tm_app *app)
{
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		struct tm_port *p = &app->ports[app->port_ids[i]];

		p->written_pcap = sink_close(app, &p->pcap_out);
		p->written_meta = sink_close(app, &p->meta_out);
		if (p->stamps_out == NULL)
			continue;
		tm_stamps_free(p->recorded);
		p->recorded = p->stamps_out->file;
		(void)sink_close(app, &p->stamps_out);
	}
}

static void
burst_write(struct tm_sink *k, struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts,
	    uint16_t n)
{
	uint64_t now = tm_realtime_ns();

	rte_spinlock_lock(&k->lock);
	for (uint16_t i = 0; i < n && k->error == 0; i++) {
		k->error = k->ops->write(k, app, s, pkts[i], now);
		k->packets += k->error == 0;
	}
	rte_spinlock_unlock(&k->lock);
}

void
tm_sink_write(struct tm_app *app, struct tm_stream *s, struct rte_mbuf **pkts, uint16_t n)
{
	const struct tm_port *p = &app->ports[s->rx_port];

	if (p->pcap_out != NULL)
		burst_write(p->pcap_out, app, s, pkts, n);
	if (p->meta_out != NULL)
		burst_write(p->meta_out, app, s, pkts, n);
	if (p->stamps_out != NULL)
		burst_write(p->stamps_out, app, s, pkts, n);
}
