/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Command trace: one line per command with everything named.
 *
 *   0.001234 port 0 uid 1 CREATE_CQ (0x400) OK in: cq_context.log_cq_size=6 ... out: cqn=0x403
 *
 * Times are seconds of CLOCK_MONOTONIC since the trace was opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu_audit.h"
#include "prm.h"

#define LINE_BYTES 16384u

static int trace_fd = -1; /* -1: no trace, or a write has failed */
static char trace_path[PATH_MAX];
static uint64_t trace_start_ns;

/** A line being composed; text that does not fit is cut off and marked. */
struct line {
	size_t len;
	char text[LINE_BYTES];
};
static struct line line; /* guarded by the machine's lock */

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void __attribute__((format(printf, 1, 0)))
line_vadd(const char *fmt, va_list ap)
{
	size_t room = sizeof(line.text) - 8 - line.len;
	int n = vsnprintf(line.text + line.len, room, fmt, ap);

	if (n < 0)
		return;
	line.len += (size_t)n < room ? (size_t)n : room - 1;
}

static void __attribute__((format(printf, 1, 2)))
line_add(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line_vadd(fmt, ap);
	va_end(ap);
}

static void
line_begin(const struct emu_dev *dev)
{
	uint64_t us = (now_ns() - trace_start_ns) / 1000;

	line.len = 0;
	line_add("%" PRIu64 ".%06u port %u", us / 1000000, (unsigned)(us % 1000000), dev->index);
}

static void
line_end(void)
{
	int ret;

	if (line.len >= sizeof(line.text) - 9)
		line.len += (size_t)sprintf(line.text + line.len, " ...");
	line.text[line.len++] = '\n';
	/* Append mode: lines of several processes do not mix. */
	ret = emu_file_write(trace_fd, line.text, line.len);
	if (ret == 0)
		return;
	emu_audit_lost("the trace cannot be written to %s: %s", trace_path, strerror(-ret));
	syscall(SYS_close, trace_fd);
	trace_fd = -1;
}

int
emu_trace_open(const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path,
			      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	if (trace_fd >= 0)
		syscall(SYS_close, trace_fd);
	trace_fd = fd;
	snprintf(trace_path, sizeof(trace_path), "%s", path);
	trace_start_ns = now_ns();
	return 0;
}

static void
trace_field(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	(void)arg;
	/* These are in the head of the line. */
	if (strcmp(path, "opcode") == 0 || strcmp(path, "uid") == 0 ||
	    strcmp(path, "status") == 0 || strcmp(path, "syndrome") == 0)
		return;
	if (enum_name != NULL)
		line_add(" %s=%s", path, enum_name);
	else if (value < 10)
		line_add(" %s=%" PRIu64, path, value);
	else
		line_add(" %s=0x%" PRIx64, path, value);
}

static uint16_t
be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t
be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

void
emu_trace_command(struct emu_ctx *ctx, const void *in, size_t in_len, const void *out,
		  size_t out_len)
{
	uint16_t opcode;

	if (trace_fd < 0 || in_len < 2)
		return;
	opcode = be16(in);
	line_begin(ctx->dev);
	line_add(" uid %u %s (0x%03x)", ctx->uid, prm_command_name(opcode), opcode);
	if (out_len >= 8) {
		uint8_t status = *(const uint8_t *)out;

		line_add(" %s", prm_status_name(status));
		if (status != 0)
			line_add(" (0x%02x) syndrome 0x%06x", status,
				 be32((const uint8_t *)out + 4));
	}
	line_add(" in:");
	prm_decode_in(in, in_len, true, trace_field, NULL);
	line_add(" out:");
	prm_decode_out(in, in_len, out, out_len, true, trace_field, NULL);
	line_end();
}

void
emu_trace_note(struct emu_dev *dev, const char *fmt, ...)
{
	va_list ap;

	if (trace_fd < 0)
		return;
	line_begin(dev);
	line_add(" ");
	va_start(ap, fmt);
	line_vadd(fmt, ap);
	va_end(ap);
	line_end();
}
