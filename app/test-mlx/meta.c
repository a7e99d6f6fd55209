/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * --meta-out: the mbuf metadata of each received packet as JSON lines, for comparison with an
 * independent parser of the same packets.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf_dyn.h>
#include <rte_mbuf_ptype.h>

#include "tm.h"

/* RTE_MBUF_F_RX_IP_CKSUM_* and RTE_MBUF_F_RX_L4_CKSUM_* have four values each. */
static const char *
cksum_str(uint64_t flags, uint64_t good, uint64_t bad)
{
	uint64_t mask = good | bad;

	if ((flags & mask) == good)
		return "good";
	if ((flags & mask) == bad)
		return "bad";
	return (flags & mask) == mask ? "none" : "unknown";
}

static void
flags_print(FILE *f, uint64_t flags)
{
	const char *comma = "";

	fprintf(f, ", \"flags\": [");
	for (unsigned int i = 0; i < 64; i++) {
		const char *name = flags & RTE_BIT64(i) ?
			rte_get_rx_ol_flag_name(RTE_BIT64(i)) : NULL;

		if (name == NULL)
			continue;
		fprintf(f, "%s\"%s\"", comma, name);
		comma = ", ";
	}
	fputc(']', f);
}

static int
meta_write(struct tm_sink *k, const struct tm_app *app, const struct tm_stream *s,
	   struct rte_mbuf *m, uint64_t host_ns)
{
	const struct tm_clock *c = &app->ports[s->rx_port].clock;
	char ptype[128];
	FILE *f = k->file;

	if (rte_get_ptype_name(m->packet_type, ptype, sizeof(ptype)) != 0)
		snprintf(ptype, sizeof(ptype), "?");
	fprintf(f, "{\"n\": %" PRIu64 ", \"port\": %u, \"queue\": %u, \"len\": %u, \"segs\": %u, "
		"\"ptype\": \"%s\", \"ptype_value\": %u", k->packets, s->rx_port, s->rx_queue,
		m->pkt_len, m->nb_segs, ptype, m->packet_type);
	flags_print(f, m->ol_flags);
	fprintf(f, ", \"ip_cksum\": \"%s\", \"l4_cksum\": \"%s\"",
		cksum_str(m->ol_flags, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_IP_CKSUM_BAD),
		cksum_str(m->ol_flags, RTE_MBUF_F_RX_L4_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_BAD));
	if (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH)
		fprintf(f, ", \"rss_hash\": %u", m->hash.rss);
	if (m->ol_flags & RTE_MBUF_F_RX_FDIR_ID)
		fprintf(f, ", \"mark\": %u", m->hash.fdir.hi);
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN)
		fprintf(f, ", \"vlan_tci\": %u, \"vlan_stripped\": %s", m->vlan_tci,
			m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ? "true" : "false");
	if (app->ts_flag != 0 && (m->ol_flags & app->ts_flag) != 0)
		fprintf(f, ", \"timestamp\": %" PRIu64 ", \"timestamp_unit\": \"%s\"",
			*RTE_MBUF_DYNFIELD(m, app->ts_offset, rte_mbuf_timestamp_t *),
			tm_clock_unit_str(c));
	fprintf(f, ", \"host_ns\": %" PRIu64 "}\n", host_ns);
	return ferror(f) ? -EIO : 0;
}

static int
meta_close(struct tm_sink *k)
{
	return fclose(k->file) != 0 ? -errno : 0;
}

static const struct tm_sink_ops meta_ops = { .write = meta_write, .close = meta_close };

int
tm_meta_sink_open(struct tm_sink *k)
{
	k->ops = &meta_ops;
	k->file = fopen(k->path, "w");
	if (k->file == NULL) {
		int ret = -errno;

		tm_error("cannot write '%s': %s", k->path, strerror(errno));
		return ret;
	}
	return 0;
}
