/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The options --clock-...: one plan per port. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu_dev.h"
#include "emu_number.h"

#define MIN_HZ 1000000ull
#define MAX_HZ 4000000000ull
#define MAX_PERIOD_S 1000000ull

static struct emu_clock_plan plans[EMU_MAX_PORTS];
static unsigned named; /* Ports up to the highest one that an option named. */

static int
refuse(char *err, size_t err_len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, err_len, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Parses parts per million with up to 3 decimals into parts per billion; false: no such number. */
static bool
parse_ppb(const char *ppm, int64_t *ppb)
{
	bool negative = *ppm == '-';
	const char *s = ppm + (*ppm == '-' || *ppm == '+');
	int64_t v = 0;
	int decimals = -1;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s != '\0'; s++) {
		if (*s == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*s < '0' || *s > '9' || decimals == 3 || v > EMU_CLOCK_MAX_PPB)
			return false;
		v = v * 10 + (*s - '0');
		decimals += decimals >= 0;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		v *= 10;
	if (v > EMU_CLOCK_MAX_PPB)
		return false;
	*ppb = negative ? -v : v;
	return true;
}

static bool
set_hz(struct emu_clock_plan *p, const char *value)
{
	return emu_number(value, MIN_HZ, MAX_HZ, &p->hz);
}

static bool
set_start(struct emu_clock_plan *p, const char *value)
{
	p->start = strcmp(value, "wrap") == 0 ? EMU_CLOCK_START_WRAP : EMU_CLOCK_START_AT;
	return p->start == EMU_CLOCK_START_WRAP ||
	       emu_number(value, 0, UINT64_MAX >> 2, &p->start_cycles);
}

static bool
set_drift(struct emu_clock_plan *p, const char *value)
{
	return parse_ppb(value, &p->drift_ppb);
}

/* PPM[:PERIOD_S] */
static bool
set_wander(struct emu_clock_plan *p, const char *value)
{
	const char *colon = strchr(value, ':');
	size_t n = colon != NULL ? (size_t)(colon - value) : strlen(value);
	uint64_t period_s = 60;
	char ppm[32];
	int64_t ppb;

	if (n >= sizeof(ppm))
		return false;
	snprintf(ppm, sizeof(ppm), "%.*s", (int)n, value);
	if (!parse_ppb(ppm, &ppb) || ppb < 0 ||
	    (colon != NULL && !emu_number(colon + 1, 1, MAX_PERIOD_S, &period_s)))
		return false;
	p->wander_ppb = (uint64_t)ppb;
	p->wander_period_ns = period_s * EMU_NS_PER_S;
	return true;
}

static bool
set_kernel(struct emu_clock_plan *p, const char *value)
{
	p->old_kernel = strcmp(value, "old") == 0;
	return p->old_kernel || strcmp(value, "new") == 0;
}

static bool
set_format(struct emu_clock_plan *p, const char *value)
{
	static const char *const names[] = {"free", "realtime", "both"};

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(names[i], value) == 0) {
			p->format = (enum emu_clock_format)i;
			return true;
		}
	return false;
}

static const struct {
	const char *name, *allowed;
	bool (*set)(struct emu_clock_plan *p, const char *value);
} rows[] = {
	{"hz", "[PORT=]N, a frequency from 1000000 to 4000000000", set_hz},
	{"start", "[PORT=]N|wrap, N below 2^62", set_start},
	{"drift", "[PORT=]PPM, from -10000 to 10000 with up to 3 decimals", set_drift},
	{"wander", "[PORT=]PPM[:PERIOD_S], PPM up to 10000, PERIOD_S from 1 to 1000000",
	 set_wander},
	{"kernel", "[PORT=]old|new", set_kernel},
	{"format", "[PORT=]free|realtime|both", set_format},
};

int
emu_clock_plan_set(const char *option, const char *value, char *err, size_t err_len)
{
	const char *equals = strchr(value, '=');
	unsigned first = 0, last = EMU_MAX_PORTS - 1, i = 0;
	uint64_t port = 0;
	char number[8];

	while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, option) != 0)
		i++;
	if (i == sizeof(rows) / sizeof(rows[0]))
		return refuse(err, err_len, "clock: no option '%.32s'", option);
	if (equals != NULL) {
		snprintf(number, sizeof(number), "%.*s", (int)(equals - value), value);
		if (equals - value >= (ptrdiff_t)sizeof(number) ||
		    !emu_number(number, 0, EMU_MAX_PORTS - 1, &port))
			return refuse(err, err_len, "'%.64s': %s", value, rows[i].allowed);
		first = last = (unsigned)port;
		named = first + 1 > named ? first + 1 : named;
		value = equals + 1;
	}
	for (unsigned p = first; p <= last; p++)
		if (!rows[i].set(&plans[p], value))
			return refuse(err, err_len, "'%.64s': %s", value, rows[i].allowed);
	return 0;
}

int
emu_clock_plan_line(const char *line, char *err, size_t err_len)
{
	const char *blank = strchr(line, ' ');
	char option[16];

	if (blank == NULL || blank - line >= (ptrdiff_t)sizeof(option))
		return refuse(err, err_len, "clock: '%.64s' is not OPTION VALUE", line);
	snprintf(option, sizeof(option), "%.*s", (int)(blank - line), line);
	return emu_clock_plan_set(option, blank + 1, err, err_len);
}

int
emu_clock_plan_check(unsigned ports, const struct emu_profile *profile, char *err, size_t err_len)
{
	if (named > ports)
		return refuse(err, err_len, "--clock-...: there is no port %u", named - 1);
	for (unsigned i = 0; i < ports; i++)
		if (plans[i].format != EMU_CLOCK_FREE && !profile->real_time)
			return refuse(err, err_len,
				      "--clock-format: %s has no clock of its own, only free",
				      profile->card);
	return 0;
}

const struct emu_clock_plan *
emu_clock_plan_of(unsigned port)
{
	return &plans[port];
}
