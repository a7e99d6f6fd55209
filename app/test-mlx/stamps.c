/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Lists of packets with their timestamps: received by a port, or of a capture.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_jhash.h>
#include <rte_mbuf_dyn.h>

#include <pcap/pcap.h>

#include "tm_clock.h"

#define INITIAL_CAPACITY 4096

int
tm_stamps_add(struct tm_stamp_list *l, uint64_t key, uint64_t ns, bool present)
{
	if (l->n == l->room) {
		size_t room = l->room > 0 ? 2 * l->room : INITIAL_CAPACITY;
		struct tm_stamp *items = realloc(l->items, room * sizeof(*items));

		if (items == NULL)
			return -ENOMEM;
		l->items = items;
		l->room = room;
	}
	l->items[l->n] = (struct tm_stamp) { .key = key, .ns = ns, .n = l->n, .present = present };
	l->n++;
	return 0;
}

void
tm_stamps_free(struct tm_stamp_list *l)
{
	if (l == NULL)
		return;
	free(l->items);
	free(l);
}

uint64_t
tm_stamp_key(const void *bytes, uint32_t len)
{
	uint32_t a = 0, b = len;

	rte_jhash_2hashes(bytes, len, &a, &b);
	return (uint64_t)a << 32 | b;
}

int
tm_stamps_load(struct tm_stamp_list *l, const char *path)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;
	pcap_t *p = tm_pcap_open(path);
	int got = 0, ret = 0;

	if (p == NULL)
		return -EINVAL;
	while (ret == 0 && (got = pcap_next_ex(p, &h, &bytes)) == 1)
		/* The precision is ns: tv_usec holds nanoseconds. */
		ret = tm_stamps_add(l, tm_stamp_key(bytes, h->caplen),
				    (uint64_t)h->ts.tv_sec * TM_NS_PER_S + h->ts.tv_usec, true);
	if (got == PCAP_ERROR) {
		tm_error("capture '%s' ends early: %s", path, pcap_geterr(p));
		ret = -EIO;
	}
	pcap_close(p);
	return ret;
}

static int
stamps_write(struct tm_sink *k, const struct tm_app *app, const struct tm_stream *s __rte_unused,
	     struct rte_mbuf *m, uint64_t host_ns __rte_unused)
{
	const void *bytes = tm_sink_flat(k, m);
	bool present = app->ts_flag != 0 && (m->ol_flags & app->ts_flag) != 0;
	uint64_t v = present ? *RTE_MBUF_DYNFIELD(m, app->ts_offset, rte_mbuf_timestamp_t *) : 0;

	if (bytes == NULL)
		return -EMSGSIZE;
	return tm_stamps_add(k->file, tm_stamp_key(bytes, m->pkt_len), v, present);
}

/* Keep the list: the caller that closes the sink owns it. */
static int
stamps_close(struct tm_sink *k __rte_unused)
{
	return 0;
}

static const struct tm_sink_ops stamps_sink_ops = {
	.write = stamps_write, .close = stamps_close,
};

int
tm_stamps_sink_open(struct tm_sink *k)
{
	k->ops = &stamps_sink_ops;
	k->file = calloc(1, sizeof(struct tm_stamp_list));
	return k->file != NULL ? 0 : -ENOMEM;
}
