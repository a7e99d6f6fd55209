/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Compares the received packets of two pcapng streams, named pipes or files, while they are written:
 * `pcapng_equal A B`.
 * Prints a JSON object; the exit status is 0 if the packets are the same, whatever their times.
 * A file would need fresh pages at the rate of the packets; a pipe uses a few of them again and again.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../await.h"

#define BUFFER_BYTES (256u << 20)
#define PIPE_BYTES (1u << 20)
/* Waking up costs as much as comparing many packets. */
#define PAUSE_US 1000u
#define BLOCK_PACKET 6u
#define BLOCK_BYTES_MIN 12u
#define OPTION_FLAGS 2u
#define FLAG_RECEIVED 1u
#define FLAG_DIRECTION 3u

/* Head of an Enhanced Packet Block; data, options and the length again follow. */
struct packet_head {
	uint32_t type, length, interface, ns_high, ns_low, captured, original;
};

struct stream {
	int fd;
	uint8_t *buf;
	size_t from, to;
	bool begun, ended;
	const uint8_t *packet;	/* the block of a received packet that is not compared yet */
	struct packet_head head;
};

static const char *
stream_open(struct stream *s, const char *path)
{
	s->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0)
		return strerror(errno);
	(void)fcntl(s->fd, F_SETPIPE_SZ, PIPE_BYTES);
	s->buf = malloc(BUFFER_BYTES);
	if (s->buf == NULL)
		return "no memory";
	memset(s->buf, 1, BUFFER_BYTES);
	return NULL;
}

/* Room for more: what is compared goes. */
static void
stream_compact(struct stream *s)
{
	size_t start = s->packet != NULL ? (size_t)(s->packet - s->buf) : s->from;

	if (start < BUFFER_BYTES / 2 && s->to != BUFFER_BYTES)
		return;
	memmove(s->buf, s->buf + start, s->to - start);
	s->packet = s->packet != NULL ? s->buf : NULL;
	s->from -= start;
	s->to -= start;
}

static void
stream_read(struct stream *s)
{
	ssize_t n;

	stream_compact(s);
	if (s->to == BUFFER_BYTES)
		return;
	n = read(s->fd, s->buf + s->to, BUFFER_BYTES - s->to);
	/* Before the writer opens a pipe, it reads as one that has ended. */
	s->ended = s->begun && n == 0;
	s->begun = s->begun || n > 0;
	s->to += n > 0 ? (size_t)n : 0;
}

static bool
is_received(const uint8_t *block, const struct packet_head *h)
{
	size_t at = sizeof(*h) + ((h->captured + 3) & ~3u), end = h->length - sizeof(uint32_t);
	uint16_t option[2];
	uint32_t flags;

	for (; at + sizeof(option) <= end; at += sizeof(option) + ((option[1] + 3u) & ~3u)) {
		memcpy(option, block + at, sizeof(option));
		if (option[0] != OPTION_FLAGS || at + sizeof(option) + sizeof(flags) > end)
			continue;
		memcpy(&flags, block + at + sizeof(option), sizeof(flags));
		return (flags & FLAG_DIRECTION) == FLAG_RECEIVED;
	}
	return false;
}

/* Goes on to the next received packet. False: there is none yet. */
static bool
stream_next(struct stream *s)
{
	struct packet_head h;

	while (s->packet == NULL && s->to - s->from >= sizeof(h)) {
		const uint8_t *block = s->buf + s->from;

		memcpy(&h, block, sizeof(h));
		if (h.length < BLOCK_BYTES_MIN || h.length > s->to - s->from)
			break;
		s->from += h.length;
		if (h.type == BLOCK_PACKET && h.captured <= h.length - sizeof(h) && is_received(block, &h)) {
			s->packet = block;
			s->head = h;
		}
	}
	return s->packet != NULL;
}

static uint64_t
time_ns(const struct stream *s)
{
	return (uint64_t)s->head.ns_high << 32 | s->head.ns_low;
}

static uint64_t
rest(struct stream *s)
{
	uint64_t n = 0;

	for (; stream_next(s); n++)
		s->packet = NULL;
	return n;
}

struct result {
	uint64_t packets, different, worst_ns, first_ns, last_ns;
};

static void
compare(struct stream s[2], struct result *r)
{
	while (stream_next(&s[0]) && stream_next(&s[1])) {
		uint64_t a = time_ns(&s[0]), b = time_ns(&s[1]), apart = a > b ? a - b : b - a;

		r->first_ns = r->packets++ == 0 ? b : r->first_ns;
		r->last_ns = b;
		r->worst_ns = apart > r->worst_ns ? apart : r->worst_ns;
		r->different += s[0].head.captured != s[1].head.captured ||
				memcmp(s[0].packet + sizeof(s[0].head), s[1].packet + sizeof(s[1].head),
				       s[0].head.captured) != 0;
		s[0].packet = s[1].packet = NULL;
	}
}

int
main(int argc, char **argv)
{
	struct result r = { 0 };
	struct stream s[2] = { 0 };
	uint64_t more[2];
	int i;

	if (argc != 3) {
		fprintf(stderr, "usage: pcapng_equal FILE FILE\n");
		return 2;
	}
	for (i = 0; i < 2; i++) {
		const char *why = stream_open(&s[i], argv[1 + i]);

		if (why != NULL) {
			fprintf(stderr, "pcapng_equal: %s: %s\n", argv[1 + i], why);
			return 2;
		}
	}
	while (!s[0].ended || !s[1].ended) {
		struct pollfd fds[2] = { { s[0].ended ? -1 : s[0].fd, POLLIN, 0 },
					 { s[1].ended ? -1 : s[1].fd, POLLIN, 0 } };

		(void)poll(fds, 2, -1);
		pass_us(PAUSE_US);
		for (i = 0; i < 2; i++)
			if (fds[i].revents != 0)
				stream_read(&s[i]);
		compare(s, &r);
	}
	for (i = 0; i < 2; i++)
		more[i] = rest(&s[i]);
	printf("{\"packets\": %" PRIu64 ", \"different\": %" PRIu64 ", \"only_first\": %" PRIu64
	       ", \"only_second\": %" PRIu64 ", \"worst_ns\": %" PRIu64 ", \"ns\": %" PRIu64 "}\n",
	       r.packets, r.different, more[0], more[1], r.worst_ns, r.last_ns - r.first_ns);
	return r.different != 0 || more[0] != 0 || more[1] != 0;
}
