/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rule files from bytes: each line is taken or refused with one line that names what is wrong,
 * and accepted rules can be listed and removed.
 */
#include <errno.h>

#include "core/emu_fault.h"
#include "fz.h"

#define MAX_RULE 4096u

static void
one_line(const char *text, size_t len)
{
	char err[128], *rule = malloc(len + 1); /* on the heap: reading beyond it is seen */
	int ret;

	FZ_MUST(rule != NULL);
	memcpy(rule, text, len);
	rule[len] = '\0';
	memset(err, 0x7e, sizeof(err));
	err[0] = '\0';
	ret = emu_fault_add(rule, err, sizeof(err));
	FZ_MUST(ret == 0 || ret == -EINVAL || ret == -ENOMEM);
	FZ_MUST(ret != -EINVAL || (err[0] != '\0' && memchr(err, '\0', sizeof(err)) != NULL &&
				   strchr(err, '\n') == NULL));
	free(rule);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = text + size, *nl;
	uint32_t syndrome;
	uint8_t status;

	for (; text < end; text = nl + 1) {
		nl = memchr(text, '\n', (size_t)(end - text));
		if (nl == NULL)
			nl = end;
		if (nl - text < MAX_RULE)
			one_line(text, (size_t)(nl - text));
	}
	for (unsigned op = 0x100; op < 0x140; op++)
		(void)emu_fault_command(NULL, (uint16_t)op, &status, &syndrome);
	emu_fault_clear();
	return 0;
}
