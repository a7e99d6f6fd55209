/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Requests to the control socket from bytes, a line each: every one gets an answer that is a JSON
 * object with "ok", a refusal has its reason in one line, and the machine continues.
 */
#include "../dp/rig.h"
#include "ctl/emu_ctl.h"
#include "core/emu_fault.h"
#include "fz.h"

#define MAX_REQUESTS 32u

static struct rig *r;

static void
one_request(const char *text, size_t len)
{
	char *copy = malloc(len != 0 ? len : 1); /* on the heap: reading beyond it is seen */
	char *answer;
	json_t *json, *ok;
	const char *error;

	FZ_MUST(copy != NULL);
	memcpy(copy, text, len);
	answer = emu_ctl_execute(&r->m, copy, len);
	free(copy);
	FZ_MUST(answer != NULL && strchr(answer, '\n') == NULL);
	json = json_loads(answer, JSON_ALLOW_NUL, NULL);
	ok = json_object_get(json, "ok");
	FZ_MUST(json_is_boolean(ok));
	error = json_string_value(json_object_get(json, "error"));
	FZ_MUST(json_is_true(ok) || (error != NULL && error[0] != '\0'));
	json_decref(json);
	free(answer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = text + size, *nl;
	struct rig_rx *rx;

	r = rig_new(2, "pair");
	rx = rig_rx_new(&r->port[0], 4);
	(void)rig_sq_new(&r->port[0], rx->cq, 4);
	emu_unlock(&r->m);
	for (unsigned i = 0; text < end && i < MAX_REQUESTS; text = nl + 1, i++) {
		nl = memchr(text, '\n', (size_t)(end - text));
		if (nl == NULL)
			nl = end;
		one_request(text, (size_t)(nl - text));
	}
	emu_fault_clear();
	emu_lock(&r->m);
	rig_free(r);
	emu_audit_reset();
	return 0;
}
