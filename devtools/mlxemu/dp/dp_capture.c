/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Captures of a port in pcapng: frames with direction, the true time at which the last bit passed the
 * connector (nanoseconds since 1970), and the values of the port's clocks at that time.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/emu_number.h"
#include "dp_time.h"

/* draft-ietf-opsawg-pcapng: blocks, and options of sections, interfaces and packets. */
#define BLOCK_SECTION 0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINKTYPE_ETHERNET 1u
#define OPT_END 0u
#define OPT_COMMENT 1u
#define OPT_IF_NAME 2u
#define OPT_IF_TSRESOL 9u
#define OPT_PACKET_FLAGS 2u
#define TSRESOL_NS 9u
#define BUFFER_BYTES (1u << 18)
/* Largest block of a frame. */
#define BLOCK_BYTES (DP_MAX_FRAME + 1024u)
#define FLUSH_NS 100000000ull

struct dp_capture {
	int fd;
	unsigned directions; /* Bits of enum dp_direction. */
	size_t used;
	uint64_t flushed_ns;
	bool failed; /* No more is written. */
	char path[sizeof(((struct emu_capture *)0)->path)];
	uint8_t buffer[BUFFER_BYTES];
};

bool dp_capture_on;

static void
flush(struct dp_capture *c)
{
	int ret = c->failed ? 0 : emu_file_write(c->fd, c->buffer, c->used);

	c->used = 0;
	if (ret == 0)
		return;
	/* A full disk ends the capture; the launcher fails when the program has ended. */
	c->failed = true;
	emu_audit_lost("the capture cannot be written to %s: %s", c->path, strerror(-ret));
}

static void
put(struct dp_capture *c, const void *bytes, size_t n)
{
	memcpy(c->buffer + c->used, bytes, n);
	c->used += n;
	while (c->used % 4 != 0)
		c->buffer[c->used++] = 0;
}

static void
put32(struct dp_capture *c, uint32_t v)
{
	put(c, &v, sizeof(v));
}

/* A block begins with its type and a length that block_end() fills in. */
static size_t
block_begin(struct dp_capture *c, uint32_t type)
{
	size_t at;

	if (BUFFER_BYTES - c->used < BLOCK_BYTES)
		flush(c);
	at = c->used;
	put32(c, type);
	put32(c, 0);
	return at;
}

static void
block_end(struct dp_capture *c, size_t at)
{
	uint32_t len = (uint32_t)(c->used - at + 4);

	memcpy(c->buffer + at + 4, &len, sizeof(len));
	put32(c, len);
}

static void
option(struct dp_capture *c, uint16_t code, const void *value, uint16_t len)
{
	put32(c, (uint32_t)len << 16 | code);
	if (len != 0)
		put(c, value, len);
}

static void
header(struct dp_capture *c, const struct emu_dev *dev)
{
	static const char comment[] =
		"mlxemu: packet times are true, in ns since 1970-01-01 UTC, when the last bit "
		"passed the connector; comments: the device's counter, the kernel's PTP clock and, "
		"in real-time mode, the device's own clock at that moment";
	const uint8_t resolution = TSRESOL_NS;
	size_t at = block_begin(c, BLOCK_SECTION);

	put32(c, BYTE_ORDER_MAGIC);
	put32(c, 1); /* version 1.0 */
	put32(c, UINT32_MAX);
	put32(c, UINT32_MAX); /* section length: not specified */
	option(c, OPT_COMMENT, comment, sizeof(comment) - 1);
	option(c, OPT_END, NULL, 0);
	block_end(c, at);
	at = block_begin(c, BLOCK_INTERFACE);
	put32(c, LINKTYPE_ETHERNET);
	put32(c, 0); /* snaplen 0: no limit */
	option(c, OPT_IF_NAME, dev->ibdev_name, (uint16_t)strlen(dev->ibdev_name));
	option(c, OPT_IF_TSRESOL, &resolution, 1);
	option(c, OPT_END, NULL, 0);
	block_end(c, at);
}

void
dp_capture_frame(struct dp_port *port, enum dp_direction direction, const struct dp_instant *t,
		 const uint8_t *frame, uint32_t len)
{
	struct dp_capture *c = port->capture;
	const struct emu_clock *clock = &port->dev->clock;
	uint64_t utc = emu_time_utc(t->ns), cycles;
	uint32_t flags = direction;
	char comment[128];
	size_t at;
	int n;

	if ((c->directions & direction) == 0 || len > DP_MAX_FRAME)
		return;
	cycles = dp_time_stamp(port, t, false);
	n = snprintf(comment, sizeof(comment), "cycles %" PRIu64 " ptp %" PRIu64, cycles,
		     emu_clock_ptp_ns(clock, cycles));
	if (emu_clock_real(clock))
		n += snprintf(comment + n, sizeof(comment) - (size_t)n, " real %" PRIu64,
			      emu_clock_real_ns(clock, cycles));
	comment[n++] = '\n'; /* scapy expects a complete line */
	at = block_begin(c, BLOCK_PACKET);
	put32(c, 0); /* interface */
	put32(c, (uint32_t)(utc >> 32));
	put32(c, (uint32_t)utc);
	put32(c, len);
	put32(c, len);
	put(c, frame, len);
	option(c, OPT_PACKET_FLAGS, &flags, sizeof(flags));
	option(c, OPT_COMMENT, comment, (uint16_t)n);
	option(c, OPT_END, NULL, 0);
	block_end(c, at);
}

void
dp_capture_tick(struct dp_shared *shared)
{
	struct emu_machine *m = shared->machine;

	for (unsigned i = 0; i < m->ports; i++) {
		struct dp_port *port = dp_port_of(&m->dev[i]);
		struct dp_capture *c = port != NULL ? port->capture : NULL;

		if (c == NULL || c->used == 0 || shared->mono_ns - c->flushed_ns < FLUSH_NS)
			continue;
		flush(c);
		c->flushed_ns = shared->mono_ns;
	}
}

void
dp_capture_close(struct dp_port *port)
{
	struct dp_capture *c = port->capture;

	if (c == NULL)
		return;
	flush(c);
	syscall(SYS_close, c->fd);
	free(c);
	port->capture = NULL;
}

int
emu_capture_parse(const char *spec, unsigned ports, struct emu_capture *out, char *err,
		  size_t err_len)
{
	static const struct {
		const char *suffix;
		unsigned directions;
	} rows[] = {{":rx", DP_ARRIVED}, {":tx", DP_LEFT}};
	size_t len = strlen(spec);
	uint64_t port;
	const char *end = emu_number_scan(spec, &port);

	out->directions = DP_ARRIVED | DP_LEFT;
	for (unsigned i = 0; i < 2; i++)
		if (len > 3 && strcmp(spec + len - 3, rows[i].suffix) == 0) {
			out->directions = rows[i].directions;
			len -= 3;
			break;
		}
	if (end == NULL || *end != '=' || end + 1 >= spec + len ||
	    len - (size_t)(end + 1 - spec) >= sizeof(out->path)) {
		snprintf(err, err_len, "'%.200s': PORT=FILE[:rx|:tx] is needed", spec);
		return -EINVAL;
	}
	if (port >= ports) {
		snprintf(err, err_len, "'%.200s': there is no such port", spec);
		return -EINVAL;
	}
	out->port = (unsigned)port;
	snprintf(out->path, sizeof(out->path), "%.*s", (int)(len - (size_t)(end + 1 - spec)),
		 end + 1);
	return 0;
}

const char *
emu_capture_suffix(const struct emu_capture *plan)
{
	return plan->directions == DP_ARRIVED ? ":rx" : plan->directions == DP_LEFT ? ":tx" : "";
}

int
emu_dp_capture(struct emu_machine *m, const char *spec, char *err, size_t err_len)
{
	struct emu_capture plan;
	int ret = emu_capture_parse(spec, m->ports, &plan, err, err_len);
	struct dp_port *port;
	struct dp_capture *c;

	if (ret != 0)
		return ret;
	port = dp_port_of(&m->dev[plan.port]);
	if (port == NULL || port->capture != NULL) {
		snprintf(err, err_len, "'%.200s': the port is captured already", spec);
		return -EEXIST;
	}
	c = calloc(1, sizeof(*c));
	if (c == NULL) {
		snprintf(err, err_len, "'%.200s': no memory", spec);
		return -ENOMEM;
	}
	c->directions = plan.directions;
	memcpy(c->path, plan.path, sizeof(c->path));
	c->fd = (int)syscall(SYS_openat, AT_FDCWD, plan.path,
			     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (c->fd < 0) {
		ret = -errno;
		snprintf(err, err_len, "%.200s: %s", plan.path, strerror(-ret));
		free(c);
		return ret;
	}
	header(c, port->dev);
	port->capture = c;
	dp_capture_on = true;
	return 0;
}
