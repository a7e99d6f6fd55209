/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Reads the values of a control request and composes its reply. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "emu_ctl.h"

int
emu_ctl_fail(struct emu_ctl *c, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->err, sizeof(c->err), fmt, ap);
	va_end(ap);
	return ret;
}

void
emu_ctl_set(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

int
emu_ctl_number(struct emu_ctl *c, const char *key, bool optional, uint64_t min, uint64_t max,
	       uint64_t *value)
{
	const json_t *v = json_object_get(c->in, key);
	json_int_t n;

	if (v == NULL && optional)
		return 0;
	n = json_integer_value(v);
	if (!json_is_integer(v) || n < 0 || (uint64_t)n < min || (uint64_t)n > max)
		return emu_ctl_fail(c, -EINVAL,
				    "\"%s\": a number from %" PRIu64 " to %" PRIu64 " is needed",
				    key, min, max);
	*value = (uint64_t)n;
	return 0;
}

int
emu_ctl_string(struct emu_ctl *c, const char *key, bool optional, const char **value)
{
	const json_t *v = json_object_get(c->in, key);

	if (v == NULL && optional)
		return 0;
	if (!json_is_string(v))
		return emu_ctl_fail(c, -EINVAL, "\"%s\": a string is needed", key);
	*value = json_string_value(v);
	return 0;
}

int
emu_ctl_port(struct emu_ctl *c, struct emu_dev **dev)
{
	uint64_t port = 0;
	int ret = emu_ctl_number(c, "port", true, 0, c->m->ports - 1, &port);

	if (ret == 0)
		*dev = &c->m->dev[port];
	return ret;
}
