/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Files of the driver's recorder from bytes: each is refused with one line, or explained as text and as JSON. An input
 * whose header is not one gets a right one in front of it, so that its bytes are records.
 */
#include <errno.h>

#include <recorder.h>

#include "fz.h"

static FILE *fz_null;

static void
explain(const void *data, size_t size)
{
	struct recorder_cause cause;
	struct recorder r;
	char why[128];
	int ret;

	memset(why, 0x7e, sizeof(why));
	ret = recorder_parse(data, size, &r, why, sizeof(why));
	if (ret != 0) {
		FZ_MUST(ret == -EINVAL || ret == -ENOMEM);
		FZ_MUST(memchr(why, '\0', sizeof(why)) != NULL && why[0] != '\0' && strchr(why, '\n') == NULL);
		return;
	}
	recorder_cause_find(&r, &cause);
	FZ_MUST(cause.what[0] != '\0' && cause.likely != NULL && cause.todo != NULL);
	FZ_MUST((cause.command[0] != '\0') != (cause.no_command != NULL));
	FZ_MUST(cause.at == NULL || (cause.at >= r.records && cause.at < r.records + r.n));
	if (fz_null == NULL)
		fz_null = fopen("/dev/null", "we");
	FZ_MUST(fz_null != NULL);
	recorder_print(fz_null, &r);
	FZ_MUST(recorder_print_json(fz_null, &r) == 0);
	recorder_free(&r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t n = size / sizeof(struct mdv_record);
	struct mdv_recorder_head head = {
		.magic = MDV_RECORDER_MAGIC, .version = MDV_RECORDER_VERSION, .records = (uint32_t)n,
		.mode = size & 1, .device = "0000:c1:00.0",
	};
	uint8_t *file;

	explain(data, size);
	if (n > MDV_RECORDS_MAX)
		return 0;
	file = malloc(sizeof(head) + n * sizeof(struct mdv_record) + 1);
	FZ_MUST(file != NULL);
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), data, n * sizeof(struct mdv_record));
	explain(file, sizeof(head) + n * sizeof(struct mdv_record));
	free(file);
	return 0;
}
