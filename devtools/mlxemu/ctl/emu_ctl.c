/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Control commands: looks up the command of a request, runs it, composes the reply. */
#include "emu_ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emu_fault.h"
#include "dp/emu_dp.h"

/* Release the lock after this many polls, so that programs can make calls. */
#define STEPS_PER_LOCK 64u

static int
ctl_engine(struct emu_ctl *c)
{
	const json_t *run = json_object_get(c->in, "run");

	if (run != NULL && !json_is_boolean(run))
		return emu_ctl_fail(c, -EINVAL, "\"run\": true or false is needed");
	if (run != NULL)
		emu_engine_pause(c->m, json_is_false(run));
	json_object_set_new(c->out, "run", json_boolean(!emu_engine_paused(c->m)));
	return 0;
}

static int
ctl_engine_step(struct emu_ctl *c)
{
	uint64_t polls = 1, work = 0;
	int ret = emu_ctl_number(c, "polls", true, 1, 1000000, &polls);

	if (ret != 0)
		return ret;
	if (!emu_engine_paused(c->m))
		return emu_ctl_fail(c, -EBUSY, "the engine runs: pause it first");
	for (uint64_t i = 0; i < polls; i++) {
		work += emu_dp_poll(c->m);
		if (i % STEPS_PER_LOCK == STEPS_PER_LOCK - 1) {
			emu_unlock(c->m);
			emu_lock(c->m);
		}
	}
	emu_ctl_set(c->out, "work", work);
	return 0;
}

/* EMU_VF_LINK_*: as `ip link set PF vf N state ...`. 0 or -errno. */
static int
vf_link(struct emu_ctl *c, struct emu_dev *dev, const char *state)
{
	static const struct {
		const char *name;
		unsigned int vf;
	} states[] = { { "auto", 0 }, { "enable", EMU_VF_LINK_UP }, { "disable", EMU_VF_LINK_DOWN } };

	if (dev->vf == 0)
		return emu_ctl_fail(c, -EINVAL, "the port is no virtual function (--vf)");
	for (unsigned int i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (strcmp(state, states[i].name) == 0) {
			emu_port_vf_link(dev, states[i].vf);
			return 0;
		}
	}
	return emu_ctl_fail(c, -EINVAL, "\"vf\": \"auto\", \"enable\" or \"disable\" is needed");
}

static int
ctl_link(struct emu_ctl *c)
{
	const char *state = NULL, *vf = NULL;
	struct emu_dev *dev;
	uint64_t ms = 0;
	int ret = emu_ctl_port(c, &dev);

	if (ret == 0)
		ret = emu_ctl_string(c, "state", true, &state);
	if (ret == 0)
		ret = emu_ctl_string(c, "vf", true, &vf);
	if (ret == 0)
		ret = emu_ctl_number(c, "ms", true, 0, 1000000, &ms);
	if (ret == 0 && vf != NULL)
		ret = vf_link(c, dev, vf);
	if (ret != 0)
		return ret;
	if (state != NULL && strcmp(state, "up") != 0 && strcmp(state, "down") != 0)
		return emu_ctl_fail(c, -EINVAL, "\"state\": \"up\" or \"down\" is needed");
	if (state != NULL)
		emu_port_cable(dev, strcmp(state, "up") == 0, ms);
	json_object_set_new(c->out, "link", json_string(dev->link_up ? "up" : "down"));
	return 0;
}

/* As the kernel's DCB, mlx5_set_port_pfc(): pause frames of the port end. */
static int
ctl_pfc(struct emu_ctl *c)
{
	uint64_t rx = UINT64_MAX, tx = UINT64_MAX;
	struct emu_dev *dev;
	int ret = emu_ctl_port(c, &dev);

	if (ret == 0)
		ret = emu_ctl_number(c, "rx", true, 0, UINT8_MAX, &rx);
	if (ret == 0)
		ret = emu_ctl_number(c, "tx", true, 0, UINT8_MAX, &tx);
	if (ret == 0 && dev->vf != 0)
		ret = emu_ctl_fail(c, -EOPNOTSUPP, "a virtual function does not set pause frames");
	if (ret != 0)
		return ret;
	if (rx != UINT64_MAX || tx != UINT64_MAX)
		dev->pause_rx = dev->pause_tx = false;
	dev->pfc_rx = rx != UINT64_MAX ? (uint8_t)rx : dev->pfc_rx;
	dev->pfc_tx = tx != UINT64_MAX ? (uint8_t)tx : dev->pfc_tx;
	emu_ctl_set(c->out, "rx", dev->pfc_rx);
	emu_ctl_set(c->out, "tx", dev->pfc_tx);
	return 0;
}

static int
ctl_remove(struct emu_ctl *c)
{
	struct emu_dev *dev;
	uint64_t ms = 0;
	int ret = emu_ctl_port(c, &dev);

	if (ret == 0)
		ret = emu_ctl_number(c, "ms", true, 0, 1000000, &ms);
	if (ret == 0)
		emu_dev_remove(dev, ms);
	return ret;
}

static int
ctl_fault_add(struct emu_ctl *c)
{
	const char *rule = NULL;
	int ret = emu_ctl_string(c, "rule", false, &rule);

	return ret != 0 ? ret : emu_fault_add(rule, c->err, sizeof(c->err));
}

static int
ctl_fault_clear(struct emu_ctl *c)
{
	(void)c;
	emu_fault_clear();
	return 0;
}

static int
ctl_fault_list(struct emu_ctl *c)
{
	json_t *rules = json_array();
	struct emu_fault_info info;

	for (unsigned i = 0; emu_fault_info(i, &info); i++) {
		json_t *rule = json_object();

		json_object_set_new(rule, "rule", json_string(info.text));
		emu_ctl_set(rule, "seen", info.seen);
		emu_ctl_set(rule, "hits", info.hits);
		json_object_set_new(rule, "last", json_string(info.last));
		json_array_append_new(rules, rule);
	}
	json_object_set_new(c->out, "rules", rules);
	emu_ctl_set(c->out, "commands", emu_fault_commands());
	emu_ctl_set(c->out, "hits", emu_fault_hits());
	return 0;
}

static int
ctl_fault_log(struct emu_ctl *c)
{
	json_t *lines = json_array();
	const char *line;

	for (unsigned i = 0; (line = emu_fault_log(i)) != NULL; i++)
		json_array_append_new(lines, json_string(line));
	json_object_set_new(c->out, "lines", lines);
	return 0;
}

static int
inject_types(struct emu_ctl *c, struct emu_inject *spec)
{
	json_t *types = json_object_get(c->in, "ptypes");
	const char *known;
	size_t i;

	if (types == NULL)
		return 0;
	if (!json_is_array(types) || json_array_size(types) == 0 ||
	    json_array_size(types) > EMU_INJECT_TYPES)
		return emu_ctl_fail(c, -EINVAL, "\"ptypes\": a list of 1 to %u names is needed",
				    EMU_INJECT_TYPES);
	for (i = 0; i < json_array_size(types); i++) {
		const char *name = json_string_value(json_array_get(types, i));

		spec->type[i] = name != NULL ? emu_inject_type(name, &known) : -EINVAL;
		if (name == NULL || spec->type[i] < 0)
			return emu_ctl_fail(c, -EINVAL, "\"ptypes\": '%s' is none of %s",
					    name != NULL ? name : "?",
					    name != NULL ? known : "the names");
	}
	spec->types = (unsigned)i;
	return 0;
}

static int
ctl_inject(struct emu_ctl *c)
{
	struct emu_inject spec = {.types = 1};
	uint64_t frames = 1, len = 64, flows = 1;
	struct emu_inject_result result = {0};
	const json_t *demote = json_object_get(c->in, "demote");
	struct emu_dev *dev;
	int ret = emu_ctl_port(c, &dev);

	if (ret == 0)
		ret = emu_ctl_number(c, "frames", true, 0, 1u << 24, &frames);
	if (ret == 0)
		ret = emu_ctl_number(c, "len", true, 60, 16000, &len);
	if (ret == 0)
		ret = emu_ctl_number(c, "flows", true, 1, 65536, &flows);
	if (ret == 0)
		ret = emu_ctl_string(c, "file", true, &spec.file);
	if (ret == 0)
		ret = inject_types(c, &spec);
	if (ret == 0 && demote != NULL && !json_is_boolean(demote))
		ret = emu_ctl_fail(c, -EINVAL, "\"demote\": true or false is needed");
	if (ret != 0)
		return ret;
	spec.demote = json_is_true(demote);
	spec.frames = frames;
	spec.len = (uint32_t)len;
	spec.flows = (uint32_t)flows;
	ret = emu_dp_inject(dev, &spec, &result, c->err, sizeof(c->err));
	emu_ctl_set(c->out, "frames", result.frames);
	emu_ctl_set(c->out, "delivered", result.delivered);
	emu_ctl_set(c->out, "dropped", result.frames - result.delivered);
	return ret;
}

static int ctl_help(struct emu_ctl *c);

static const struct emu_ctl_command ctl_commands[] = {
	{"help", "", "the commands", ctl_help},
	{"ledger", "", "resources held by programs: objects by type and port, memory, descriptors",
	 emu_ctl_ledger},
	{"audit", "", "objects left behind and violations so far", emu_ctl_audit},
	{"counters", "", "frames, bytes, losses and PCIe traffic of each port", emu_ctl_counters},
	{"drops", "", "the end of each frame of each port: place by place, and queue by queue", emu_ctl_drops},
	{"fault.add", "rule=RULE", "adds a fault rule", ctl_fault_add},
	{"fault.list", "", "the rules with their events and hits", ctl_fault_list},
	{"fault.clear", "", "removes all rules", ctl_fault_clear},
	{"fault.log", "", "the hits so far, the first 1024 of them", ctl_fault_log},
	{"link", "[port=N] [state=up|down] [ms=N] [vf=auto|enable|disable]",
	 "unplugs the cable or plugs it in, for N milliseconds if given; sets a VF's state; returns the link state",
	 ctl_link},
	{"pfc", "[port=N] [rx=BITS] [tx=BITS]",
	 "sets the priorities whose pause frames the port obeys and sends, as `dcb pfc set`; returns them", ctl_pfc},
	{"remove", "[port=N] [ms=N]", "unplugs the device from the bus", ctl_remove},
	{"register", "[port=N] addr=N [value=N]",
	 "reads or writes a register of the CR space", emu_ctl_register},
	{"health", "[port=N] [syndrome=N] [ms=N] [counter=stop|go]",
	 "sets the health syndrome (0: healthy), the device is quiesced after N milliseconds; or stops the health "
	 "counter; returns the syndrome",
	 emu_ctl_health},
	{"clock", "[ns=N]", "advances virtual time; returns the true time and the time of each clock",
	 emu_ctl_clock},
	{"clock.step", "ns=N [port=N]", "steps the PTP clock, also back", emu_ctl_clock_step},
	{"clock.slew", "ppb=N [port=N]", "changes the rate of the PTP clock by N ppb", emu_ctl_clock_slew},
	{"clock.drift", "ppm=X [port=N]", "sets the drift of the oscillator to X ppm", emu_ctl_clock_drift},
	{"engine", "[run=true|false]", "pauses or resumes the data path", ctl_engine},
	{"engine.step", "[polls=N]", "polls all queues N times while paused", ctl_engine_step},
	{"inject", "[port=N] [frames=N] [len=N] [flows=N] [ptypes=[..]] [file=PCAP] [demote=true|false]",
	 "delivers frames to the port", ctl_inject},
	{"why", "[port=N] [frame=HEX] [file=CAPTURE] [number=N] [sq=N]",
	 "what would become of a frame that arrives, or that the SQ sends: tables, groups and rules that it meets, and "
	 "its end; of a file frame N, from 1", emu_ctl_why},
};

const struct emu_ctl_command *
emu_ctl_command_at(unsigned i)
{
	return i < sizeof(ctl_commands) / sizeof(ctl_commands[0]) ? &ctl_commands[i] : NULL;
}

static int
ctl_help(struct emu_ctl *c)
{
	const struct emu_ctl_command *cmd;
	json_t *list = json_object();
	char text[256];

	for (unsigned i = 0; (cmd = emu_ctl_command_at(i)) != NULL; i++) {
		snprintf(text, sizeof(text), "%s%s%s", cmd->args, cmd->args[0] != '\0' ? ": " : "",
			 cmd->help);
		json_object_set_new(list, cmd->name, json_string(text));
	}
	json_object_set_new(c->out, "commands", list);
	return 0;
}

/* The next key that the text of a command's arguments names, "[port=N] addr=N"; NULL after the last. */
static const char *
known_key(const char **args, size_t *len)
{
	const char *word = *args + strspn(*args, " [");

	*len = strcspn(word, "=");
	*args = word + strcspn(word, " ");
	return word[0] != '\0' ? word : NULL;
}

static bool
key_known(const struct emu_ctl_command *cmd, const char *key)
{
	const char *args = cmd->args, *word;
	size_t len;

	while ((word = known_key(&args, &len)) != NULL)
		if (strlen(key) == len && strncmp(word, key, len) == 0)
			return true;
	return strcmp(key, "cmd") == 0;
}

/* Refuse keys that the command does not have. */
static int
ctl_keys(struct emu_ctl *c, const struct emu_ctl_command *cmd)
{
	const char *args = cmd->args, *word;
	char known[128] = "";
	size_t len, n = 0;
	void *at;

	for (at = json_object_iter(c->in); at != NULL; at = json_object_iter_next(c->in, at)) {
		const char *key = json_object_iter_key(at);

		if (key_known(cmd, key))
			continue;
		while ((word = known_key(&args, &len)) != NULL && n < sizeof(known))
			n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%.*s",
					      n != 0 ? ", " : "", (int)len, word);
		return emu_ctl_fail(c, -EINVAL, "%s: no key '%.64s' (%s)", cmd->name, key,
				    n != 0 ? known : "it takes none");
	}
	return 0;
}

static int
ctl_unknown(struct emu_ctl *c, const char *name)
{
	const struct emu_ctl_command *cmd;
	char known[320] = "";
	size_t n = 0;

	for (unsigned i = 0; (cmd = emu_ctl_command_at(i)) != NULL && n < sizeof(known); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i != 0 ? ", " : "",
				      cmd->name);
	return emu_ctl_fail(c, -ENOENT, "no command '%.64s' (%s)", name, known);
}

static int
ctl_run(struct emu_ctl *c)
{
	const struct emu_ctl_command *cmd;
	const char *name = NULL;
	int ret = emu_ctl_string(c, "cmd", false, &name);

	if (ret != 0)
		return ret;
	for (unsigned i = 0; (cmd = emu_ctl_command_at(i)) != NULL; i++) {
		if (strcmp(cmd->name, name) != 0)
			continue;
		ret = ctl_keys(c, cmd);
		if (ret != 0)
			return ret;
		emu_lock(c->m);
		ret = cmd->run(c);
		emu_unlock(c->m);
		return ret;
	}
	return ctl_unknown(c, name);
}

char *
emu_ctl_execute(struct emu_machine *m, const char *request, size_t len)
{
	struct emu_ctl c = {.m = m, .out = json_object()};
	json_error_t error;
	char *text;
	int ret;

	c.in = json_loadb(request, len, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(c.in))
		ret = emu_ctl_fail(&c, -EINVAL, "the request is no JSON object: %s",
				   c.in != NULL ? "another type" : error.text);
	else
		ret = ctl_run(&c);
	if (ret != 0) {
		json_object_clear(c.out);
		json_object_set_new(c.out, "error", json_string(c.err));
	}
	json_object_set_new(c.out, "ok", json_boolean(ret == 0));
	text = json_dumps(c.out, JSON_COMPACT);
	json_decref(c.in);
	json_decref(c.out);
	return text;
}
