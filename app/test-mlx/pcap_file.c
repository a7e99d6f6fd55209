/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Capture files: open one for reading; write the packets that a port receives.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "tm.h"

pcap_t *
tm_pcap_open(const char *path)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	pcap_t *p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);

	if (p == NULL) {
		/* The messages of libpcap do not always contain the file name. */
		tm_error("cannot read capture '%s': %s", path, why);
		return NULL;
	}
	if (pcap_datalink(p) != DLT_EN10MB) {
		tm_error("capture '%s' is not of Ethernet frames (link type %s)", path,
			 pcap_datalink_val_to_name(pcap_datalink(p)));
		pcap_close(p);
		return NULL;
	}
	return p;
}

int
tm_pcap_check(const char *path)
{
	pcap_t *p = tm_pcap_open(path);

	if (p == NULL)
		return -EINVAL;
	pcap_close(p);
	return 0;
}

static int
pcap_sink_write(struct tm_sink *k, const struct tm_app *app, const struct tm_stream *s,
		struct rte_mbuf *m, uint64_t host_ns)
{
	uint64_t ns = tm_stamp_ns(app, s->rx_port, m, host_ns);
	struct pcap_pkthdr h = {
		/* The precision of the file is ns: tv_usec holds nanoseconds. */
		.ts = { .tv_sec = ns / TM_NS_PER_S, .tv_usec = ns % TM_NS_PER_S },
		.caplen = m->pkt_len, .len = m->pkt_len,
	};
	const void *data = tm_sink_flat(k, m);

	if (data == NULL)
		return -EMSGSIZE;
	pcap_dump(k->file, &h, data);
	return ferror(pcap_dump_file(k->file)) ? -EIO : 0;
}

static int
pcap_sink_close(struct tm_sink *k)
{
	int ret = pcap_dump_flush(k->file) != 0 ? -EIO : 0;

	pcap_dump_close(k->file);
	return ret;
}

static const struct tm_sink_ops pcap_sink_ops = {
	.write = pcap_sink_write, .close = pcap_sink_close,
};

int
tm_pcap_sink_open(struct tm_sink *k)
{
	pcap_t *p = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, TM_SINK_FLAT_BYTES,
							 PCAP_TSTAMP_PRECISION_NANO);

	if (p == NULL)
		return -ENOMEM;
	k->ops = &pcap_sink_ops;
	k->file = pcap_dump_open(p, k->path);
	if (k->file == NULL)
		tm_error("cannot write capture '%s': %s", k->path, pcap_geterr(p));
	pcap_close(p);
	return k->file != NULL ? 0 : -EIO;
}
