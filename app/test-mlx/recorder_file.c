/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Reads files of the recorder. Nothing in them is trusted.
 */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder.h"

#define BYTES_MAX (sizeof(struct mdv_recorder_head) + MDV_RECORDS_MAX * sizeof(struct mdv_record))

static int
refuse(char *why, size_t bytes, const char *text)
{
	snprintf(why, bytes, "%s", text);
	return -EINVAL;
}

static bool
is_text(const char *text, size_t bytes)
{
	const char *end = memchr(text, '\0', bytes);

	for (; end != NULL && text < end; text++)
		if (!isprint((unsigned char)*text))
			return false;
	return end != NULL;
}

static int
head_check(const struct mdv_recorder_head *h, size_t bytes, char *why, size_t why_bytes)
{
	if (h->magic == __builtin_bswap64(MDV_RECORDER_MAGIC))
		return refuse(why, why_bytes, "it was written on a host of the other byte order: explain it there");
	if (h->magic != MDV_RECORDER_MAGIC)
		return refuse(why, why_bytes, "it is not a file of the recorder");
	if (h->version != MDV_RECORDER_VERSION) {
		snprintf(why, why_bytes, "it has version %u, this program reads %u: use the dpdk-test-mlx of the driver "
			 "that wrote it", h->version, MDV_RECORDER_VERSION);
		return -EINVAL;
	}
	if (h->records > MDV_RECORDS_MAX || bytes != sizeof(*h) + h->records * sizeof(struct mdv_record))
		return refuse(why, why_bytes, "it is damaged: its length is not that of its records");
	if (!is_text(h->device, sizeof(h->device)) || !is_text(h->ibdev, sizeof(h->ibdev)) ||
	    !is_text(h->netdev, sizeof(h->netdev)) || !is_text(h->firmware, sizeof(h->firmware)) ||
	    !is_text(h->driver, sizeof(h->driver)) || h->reason >= MDV_RECORDER_REASONS ||
	    h->mode > MDV_OPEN_VFIO)
		return refuse(why, why_bytes, "it is damaged: its header makes no sense");
	return 0;
}

static int
by_time(const void *a, const void *b)
{
	const struct mdv_record *ra = a, *rb = b;

	if (ra->time_ns != rb->time_ns)
		return ra->time_ns < rb->time_ns ? -1 : 1;
	return (ra->number > rb->number) - (ra->number < rb->number);
}

int
recorder_parse(const void *data, size_t bytes, struct recorder *r, char *why, size_t why_bytes)
{
	int ret;

	memset(r, 0, sizeof(*r));
	if (bytes < sizeof(r->head))
		return refuse(why, why_bytes, bytes >= 8 && memcmp(data, &(uint64_t){ MDV_RECORDER_MAGIC }, 8) == 0 ?
			      "it is damaged: it ends within its header" : "it is not a file of the recorder");
	memcpy(&r->head, data, sizeof(r->head));
	ret = head_check(&r->head, bytes, why, why_bytes);
	if (ret != 0)
		return ret;
	r->n = r->head.records;
	r->records = calloc(r->n + 1, sizeof(*r->records));
	if (r->records == NULL) {
		snprintf(why, why_bytes, "no memory");
		return -ENOMEM;
	}
	memcpy(r->records, (const uint8_t *)data + sizeof(r->head), r->n * sizeof(*r->records));
	qsort(r->records, r->n, sizeof(*r->records), by_time);
	return 0;
}

static ssize_t
read_all(int fd, void *to, size_t bytes)
{
	size_t have = 0;
	ssize_t n;

	do {
		n = read(fd, (uint8_t *)to + have, bytes - have);
		if (n > 0)
			have += n;
	} while ((n > 0 && have < bytes) || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : (ssize_t)have;
}

int
recorder_read(const char *path, struct recorder *r, char *why, size_t why_bytes)
{
	/* Not blocked by a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;
	uint8_t *data = NULL;
	struct stat st;
	ssize_t n = 0;

	memset(r, 0, sizeof(*r));
	if (fd < 0 || fstat(fd, &st) != 0) {
		ret = -errno;
		snprintf(why, why_bytes, "%s", strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		ret = refuse(why, why_bytes, "it is not a file of the recorder");
	} else {
		data = malloc(BYTES_MAX + 1);
		n = data != NULL ? read_all(fd, data, BYTES_MAX + 1) : -ENOMEM;
		if (n < 0)
			snprintf(why, why_bytes, "%s", strerror((int)-n));
		ret = n < 0 ? (int)n : recorder_parse(data, n, r, why, why_bytes);
	}
	free(data);
	if (fd >= 0)
		close(fd);
	return ret;
}

void
recorder_free(struct recorder *r)
{
	free(r->records);
	memset(r, 0, sizeof(*r));
}
