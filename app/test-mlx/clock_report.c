/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Report of a port's clock: rte_eth_read_clock(), the driver's telemetry, the Rx timestamps.
 */

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>

#include "telemetry.h"
#include "tm_clock.h"

#define TIMEOUT_MS 2000

json_t *
tm_telemetry_request(const char *command)
{
	struct tm_telemetry t = { .fd = -1 };
	char path[sizeof(((struct tm_program *)NULL)->path)];
	json_t *value = NULL;
	int n;

	/* EAL appends ":1", ":2", ... if the socket of another process exists (lib/telemetry/telemetry.c). */
	for (unsigned int i = 0; i < 4 && value == NULL; i++) {
		n = snprintf(path, sizeof(path), "%s/dpdk_telemetry.v2:%u", rte_eal_get_runtime_dir(), i);
		if (i == 0 && n < (int)sizeof(path))
			path[n - 2] = '\0';
		if (tm_telemetry_open(&t, path, TIMEOUT_MS) == 0 && t.pid == getpid())
			value = tm_telemetry_query(&t, command);
		tm_telemetry_close(&t);
	}
	return value;
}

json_t *
tm_clock_driver_read(uint16_t port_id)
{
	char command[32];
	json_t *clock;

	snprintf(command, sizeof(command), "/mlxpmd/clock,%u", port_id);
	clock = tm_telemetry_request(command);
	if (json_is_object(clock))
		return clock;
	json_decref(clock);
	return NULL;
}

const char *
tm_clock_value_str(const json_t *v, char *buf, size_t size)
{
	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_integer(v))
		snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, size, "%.4f", json_real_value(v));
	else
		snprintf(buf, size, "-");
	return buf;
}

static void
driver_print(uint16_t port_id, FILE *out)
{
	json_t *clock = tm_clock_driver_read(port_id), *value;
	const char *key, *comma = "  driver: ";
	unsigned int n = 0;
	char buf[32];

	if (clock == NULL)
		return;
	json_object_foreach(clock, key, value) {
		fprintf(out, "%s%s %s", comma, key, tm_clock_value_str(value, buf, sizeof(buf)));
		comma = ++n % 5 == 0 ? ",\n          " : ", ";
	}
	if (n > 0)
		fputc('\n', out);
	json_decref(clock);
}

static void
stamp_print(FILE *out, const struct tm_clock *c, const char *what, uint64_t stamp)
{
	uint64_t ns = c->unit == TM_CLOCK_US ? stamp * 1000 : stamp;
	time_t s = ns / TM_NS_PER_S;
	struct tm when;
	char day[32];

	if (c->unit == TM_CLOCK_NONE || c->unit == TM_CLOCK_TICKS) {
		fprintf(out, "  %s RX timestamp: %" PRIu64 " (raw)\n", what, stamp);
		return;
	}
	fprintf(out, "  %s RX timestamp: %" PRIu64 " ns", what, ns);
	if (c->utc && gmtime_r(&s, &when) != NULL &&
	    strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &when) != 0)
		fprintf(out, " (%s.%09" PRIu64 " UTC)", day, ns % TM_NS_PER_S);
	fputc('\n', out);
}

void
tm_report_clock(const struct tm_app *app, uint16_t port_id, FILE *out)
{
	const struct tm_port *p = &app->ports[port_id];
	const struct tm_clock *c = &p->clock;
	struct tm_stamps s;
	uint64_t now, mono, real;

	tm_stamps_sum(app, port_id, &s);
	fprintf(out, "port %u clock: unit %s, epoch %s\n", port_id, tm_clock_unit_str(c),
		tm_clock_epoch_str(c));
	if (p->started && tm_clock_read(port_id, &now, &mono, &real) == 0) {
		fprintf(out, "  device clock now: %" PRIu64 ", rate %.6f MHz", now, c->hz / 1e6);
		if (c->unit == TM_CLOCK_NS && c->utc)
			fprintf(out, ", %+" PRId64 " ns from this host's CLOCK_REALTIME",
				(int64_t)(now - real));
		fputc('\n', out);
	} else if (!c->readable) {
		fprintf(out, "  device clock cannot be read (rte_eth_read_clock)\n");
	}
	driver_print(port_id, out);
	if (s.count == 0) {
		fprintf(out, "  no RX timestamps\n");
		return;
	}
	stamp_print(out, c, "first", s.first);
	stamp_print(out, c, "last ", s.last);
	fprintf(out, "  packets with a timestamp: %" PRIu64 ", timestamps lower than the one before in their "
		"queue: %" PRIu64 "\n", s.count, s.backwards);
}
