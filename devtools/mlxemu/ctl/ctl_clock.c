/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Control commands of the clocks: true time, PTP, drift. */
#include <errno.h>
#include <inttypes.h>

#include "core/emu_clock.h"
#include "emu_ctl.h"

#define MAX_STEP_NS (INT64_MAX / 4)

/* Range of ports: the one of the request, or all. */
static int
ports_named(struct emu_ctl *c, unsigned *first, unsigned *last)
{
	struct emu_dev *dev = NULL;
	int ret = emu_ctl_port(c, &dev);

	if (ret != 0)
		return ret;
	*first = *last = dev->index;
	if (json_object_get(c->in, "port") == NULL)
		*last = c->m->ports - 1;
	return 0;
}

static int
signed_number(struct emu_ctl *c, const char *key, int64_t max, int64_t *value)
{
	const json_t *v = json_object_get(c->in, key);

	*value = json_integer_value(v);
	if (!json_is_integer(v) || *value > max || *value < -max)
		return emu_ctl_fail(c, -EINVAL,
				    "\"%s\": a number from -%" PRId64 " to %" PRId64 " is needed",
				    key, max, max);
	return 0;
}

static json_t *
clock_json(const struct emu_dev *dev, uint64_t mono_ns)
{
	static const char *const formats[] = {"free", "realtime", "both"};
	const struct emu_clock *c = &dev->clock;
	uint64_t cycles = emu_clock_cycles_at(c, mono_ns);
	json_t *o = json_object();

	emu_ctl_set(o, "port", dev->index);
	emu_ctl_set(o, "hz", c->hz);
	json_object_set_new(o, "format", json_string(formats[c->format]));
	json_object_set_new(o, "kernel", json_string(c->old_kernel ? "old" : "new"));
	emu_ctl_set(o, "cycles", cycles);
	json_object_set_new(o, "drift_ppb", json_integer(c->drift_ppb));
	/* Present sum of drift and wander. */
	json_object_set_new(o, "error_ppb", json_integer(emu_clock_error_ppb(c, mono_ns)));
	json_object_set_new(o, "slew_ppb", json_integer(c->slew_ppb));
	emu_ctl_set(o, "ptp_ns", emu_clock_ptp_ns(c, cycles));
	if (emu_clock_real(c))
		emu_ctl_set(o, "real_ns", emu_clock_real_ns(c, cycles));
	emu_ctl_set(o, "mult", c->mult);
	emu_ctl_set(o, "shift", c->shift);
	emu_ctl_set(o, "page_cycles", c->page_cycles & c->mask);
	emu_ctl_set(o, "page_ns", c->page_ns);
	emu_ctl_set(o, "page_frac", c->page_frac);
	emu_ctl_set(o, "mask", c->mask);
	return o;
}

int
emu_ctl_clock(struct emu_ctl *c)
{
	json_t *list = json_array();
	uint64_t ns = 0, now;
	int ret = emu_ctl_number(c, "ns", true, 0, UINT64_MAX >> 2, &ns);

	json_object_set_new(c->out, "ports", list);
	if (ret != 0)
		return ret;
	if (ns != 0 && !emu_time_is_virtual())
		return emu_ctl_fail(c, -EINVAL, "only virtual time can be advanced (--clock virtual)");
	emu_time_pass(ns);
	/* Process timed events before the reply. */
	for (unsigned i = 0; i < c->m->ports && ns != 0; i++)
		emu_clock_tick(&c->m->dev[i]);
	now = emu_mono_ns();
	for (unsigned i = 0; i < c->m->ports; i++)
		json_array_append_new(list, clock_json(&c->m->dev[i], now));
	emu_ctl_set(c->out, "now_ns", now);
	emu_ctl_set(c->out, "utc_ns", emu_time_utc(now));
	return 0;
}

static int
change(struct emu_ctl *c, int64_t value, void (*apply)(struct emu_dev *dev, int64_t value))
{
	unsigned first = 0, last = 0;
	int ret = ports_named(c, &first, &last);

	for (unsigned i = first; i <= last && ret == 0; i++) {
		apply(&c->m->dev[i], value);
		emu_clock_tick(&c->m->dev[i]);
	}
	return ret;
}

static void
drift(struct emu_dev *dev, int64_t ppb)
{
	emu_clock_hold(dev);
	emu_clock_drift(&dev->clock, ppb);
	emu_clock_release(dev);
}

int
emu_ctl_clock_step(struct emu_ctl *c)
{
	int64_t ns = 0;
	int ret = signed_number(c, "ns", MAX_STEP_NS, &ns);

	return ret != 0 ? ret : change(c, ns, emu_clock_step);
}

int
emu_ctl_clock_slew(struct emu_ctl *c)
{
	int64_t ppb = 0;
	int ret = signed_number(c, "ppb", EMU_CLOCK_MAX_PPB, &ppb);

	return ret != 0 ? ret : change(c, ppb, emu_clock_slew);
}

int
emu_ctl_clock_drift(struct emu_ctl *c)
{
	const json_t *v = json_object_get(c->in, "ppm");
	double ppm = json_number_value(v);

	if (!json_is_number(v) || !(ppm >= -EMU_CLOCK_MAX_PPB / 1000) ||
	    !(ppm <= EMU_CLOCK_MAX_PPB / 1000))
		return emu_ctl_fail(c, -EINVAL, "\"ppm\": a number from -%d to %d is needed",
				    EMU_CLOCK_MAX_PPB / 1000, EMU_CLOCK_MAX_PPB / 1000);
	return change(c, (int64_t)(ppm * 1000 + (ppm < 0 ? -.5 : .5)), drift);
}
