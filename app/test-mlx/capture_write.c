/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `capture`: from the ring to the file. The program copies a packet as a pcapng block, without interface and time.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_version.h>

#include "capture.h"
#include "tm.h"

#define BURST 128
/* Stays in the processor's second cache. */
#define FILE_BUFFER_BYTES (256 << 10)
/*
 * How long to sleep when the ring is empty. Waking costs as much as writing twenty packets: as long as a 64th of the
 * buffers fills at a million packets per second, within these limits.
 */
#define SLEEP_MIN_US 100u
#define SLEEP_MAX_US 1000u
#define BUFFERS_PER_US 64u
/* Without packets for this time, what is in the buffer is written. */
#define FLUSH_US 50000u
/* Copies are in the caches of another processor: so many packets ahead of the one that is written, first the mbuf. */
#define AHEAD_MBUF 8u
#define AHEAD_DATA 4u

/* First option of a block that rte_pcapng_copy() makes: epb_flags, of which two bits are the direction. */
#define EPB_FLAGS 2
#define EPB_DIRECTION 3u
#define EPB_RECEIVED 1u

/** Numbers in interfaces[]. */
enum { DEVICE_TIME, HOST_TIME };

static int
interface_add(struct capture *c, unsigned int kind)
{
	char name[48], description[256], comment[768], clock[512];
	struct tm_pcapng_interface i = {
		.name = name, .description = description, .hardware = c->pci, .comment = comment, .filter = c->filter,
		.bits_per_s = c->mbits_per_s * 1000000, .snaplen = c->snaplen,
	};

	memcpy(i.mac, c->mac, sizeof(i.mac));
	snprintf(name, sizeof(name), "%s", c->interface);
	if (name[0] == '\0')
		snprintf(name, sizeof(name), "port %u", (unsigned int)c->port);
	snprintf(description, sizeof(description), "port %u of %s: %s", (unsigned int)c->port, c->comm,
		 kind == DEVICE_TIME ? "timestamps of the device" : "times of the host");
	if (kind == DEVICE_TIME)
		snprintf(comment, sizeof(comment), "Timestamps of the device. %s",
			 capture_clock_str(c, clock, sizeof(clock)));
	else
		snprintf(comment, sizeof(comment), "Packets without a timestamp of the device: the time is the host's "
			 "CLOCK_REALTIME when the packet was written, which is later than its arrival.");
	c->interfaces[kind] = c->nb_interfaces++;
	return tm_pcapng_interface(c->file, &i);
}

int
capture_file_open(struct capture *c)
{
	char hardware[128], system[256], program[128], comment[256];
	struct utsname u;
	int ret;

	c->file = strcmp(c->path, "-") == 0 ? stdout : fopen(c->path, "wbe");
	if (c->file == NULL) {
		tm_error("capture: cannot write '%s': %s", c->path, strerror(errno));
		return -errno;
	}
	(void)setvbuf(c->file, NULL, _IOFBF, FILE_BUFFER_BYTES);
	c->ts_offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
	ret = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);
	c->ts_flag = c->ts_offset >= 0 && ret >= 0 && c->clock.ns ? RTE_BIT64(ret) : 0;
	c->start_ns = tm_realtime_ns();
	snprintf(hardware, sizeof(hardware), "%s %s", c->pci, c->interface);
	uname(&u);
	snprintf(system, sizeof(system), "%s %s", u.sysname, u.release);
	snprintf(program, sizeof(program), TM_NAME " capture, %s", rte_version());
	snprintf(comment, sizeof(comment), "Port %u of %s, process %d, %s", (unsigned int)c->port, c->comm,
		 c->telemetry.pid, c->telemetry.version);
	ret = tm_pcapng_section(c->file, hardware, system, program, comment);
	if (ret == 0)
		ret = interface_add(c, c->ts_flag != 0 && c->stamped ? DEVICE_TIME : HOST_TIME);
	if (ret != 0)
		tm_error("capture: cannot write '%s': %s", c->path, strerror(-ret));
	return ret;
}

/* Of a packet that was sent the timestamp is that of its reception, if it has one. */
static bool
is_received(const struct capture *c, const struct rte_mbuf *m, const struct tm_pcapng_packet *b)
{
	struct { uint16_t code, bytes; uint32_t flags; } buf;
	const typeof(buf) *first = rte_pktmbuf_read(m, sizeof(*b) + RTE_ALIGN_CEIL(b->captured_bytes, 4),
						    sizeof(buf), &buf);

	if (c->directions == RTE_PDUMP_FLAG_RX || first == NULL || first->code != EPB_FLAGS)
		return c->directions == RTE_PDUMP_FLAG_RX;
	return (first->flags & EPB_DIRECTION) == EPB_RECEIVED;
}

/* Set interface and time of the block, and write it. 0, -EPROTO it is no block, or -EIO. */
static int
packet_write(struct capture *c, struct rte_mbuf *m, uint64_t host_ns)
{
	struct tm_pcapng_packet *b = rte_pktmbuf_mtod(m, struct tm_pcapng_packet *);
	bool stamped = (m->ol_flags & c->ts_flag) != 0;
	uint64_t ns = host_ns;
	int kind;

	if (m->data_len < sizeof(*b) || b->type != TM_PCAPNG_PACKET || b->length != m->pkt_len)
		return -EPROTO;
	stamped = stamped && is_received(c, m, b);
	kind = stamped ? DEVICE_TIME : HOST_TIME;
	if (stamped)
		ns = *RTE_MBUF_DYNFIELD(m, c->ts_offset, rte_mbuf_timestamp_t *);
	if (c->interfaces[kind] < 0 && interface_add(c, kind) != 0)
		return -EIO;
	b->interface = c->interfaces[kind];
	b->time_high = ns >> 32;
	b->time_low = (uint32_t)ns;
	/* A VLAN tag that the device had removed is in the data again. */
	b->original_bytes = RTE_MAX(b->original_bytes, b->captured_bytes);
	c->bytes += b->original_bytes;
	c->packets++;
	c->stamped_packets += stamped;
	for (; m != NULL; m = m->next)
		if (fwrite_unlocked(rte_pktmbuf_mtod(m, void *), 1, m->data_len, c->file) != m->data_len)
			return -EIO;
	return 0;
}

/* The block of a short packet. */
static void
data_prefetch(const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);

	rte_prefetch0(data);
	rte_prefetch0(data + RTE_CACHE_LINE_SIZE);
}

static void
burst_write(struct capture *c, struct rte_mbuf **pkts, unsigned int n)
{
	uint64_t now = tm_realtime_ns();

	pthread_mutex_lock(&c->mutex);
	for (unsigned int i = 0; i < n && c->error == 0 && (c->count == 0 || c->packets < c->count); i++) {
		if (i + AHEAD_MBUF < n)
			rte_prefetch0(pkts[i + AHEAD_MBUF]);
		if (i + AHEAD_DATA < n)
			data_prefetch(pkts[i + AHEAD_DATA]);
		c->error = packet_write(c, pkts[i], now);
	}
	if (c->error != 0 || (c->count != 0 && c->packets >= c->count))
		__atomic_store_n(&c->done, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&c->mutex);
}

void *
capture_write(void *arg)
{
	struct capture *c = arg;
	const unsigned int fill_us = c->buffers / BUFFERS_PER_US;
	const unsigned int sleep_us = RTE_MIN(RTE_MAX(fill_us, SLEEP_MIN_US), SLEEP_MAX_US);
	struct rte_mbuf *pkts[BURST];
	unsigned int n, idle_us = 0;

	for (;;) {
		/* Read before the ring: what was copied before it was set is then taken. */
		bool draining = __atomic_load_n(&c->draining, __ATOMIC_ACQUIRE);

		n = rte_ring_dequeue_burst(c->ring, (void **)pkts, BURST, NULL);
		if (n > 0) {
			burst_write(c, pkts, n);
			rte_pktmbuf_free_bulk(pkts, n);
			idle_us = 0;
			continue;
		}
		if (draining)
			return NULL;
		if (idle_us < FLUSH_US && (idle_us += sleep_us) >= FLUSH_US) {
			pthread_mutex_lock(&c->mutex);
			if (fflush(c->file) != 0 && c->error == 0) {
				c->error = -errno;
				__atomic_store_n(&c->done, true, __ATOMIC_RELAXED);
			}
			pthread_mutex_unlock(&c->mutex);
		}
		rte_delay_us_sleep(sleep_us);
	}
}

void
capture_stats_write(struct capture *c)
{
	char comment[900], clock[512];
	struct rte_pdump_stats counts;
	struct tm_pcapng_stats s = { .start_ns = c->start_ns, .end_ns = tm_realtime_ns(), .comment = comment };
	int ret = 0;

	capture_missed_read(c);
	capture_counts(c, &counts);
	s.received = counts.accepted + counts.nombuf + counts.filtered;
	s.accepted = counts.accepted + counts.nombuf;
	s.dropped = counts.nombuf + counts.ringfull;
	snprintf(comment, sizeof(comment), "%s. Not copied: %" PRIu64 " without a buffer, %" PRIu64 " with the ring full. "
		 "Missed by the device: %" PRIu64, capture_clock_str(c, clock, sizeof(clock)), counts.nombuf,
		 counts.ringfull, c->missed);
	pthread_mutex_lock(&c->mutex);
	s.delivered = c->packets;
	for (unsigned int i = 0; i < c->nb_interfaces && ret == 0; i++)
		ret = tm_pcapng_stats(c->file, i, &s);
	if (ret == 0 && fflush(c->file) != 0)
		ret = -errno;
	if (c->error == 0)
		c->error = ret;
	pthread_mutex_unlock(&c->mutex);
}

int
capture_file_close(struct capture *c)
{
	if (c->file != NULL && fclose(c->file) != 0 && c->error == 0)
		c->error = -errno;
	c->file = NULL;
	if (c->error == 0)
		return 0;
	tm_error("capture: cannot write '%s': %s", c->path, c->error == -EPROTO ?
		 "a copy is not a pcapng block: the program has another release of DPDK" : strerror(-c->error));
	return c->error;
}
