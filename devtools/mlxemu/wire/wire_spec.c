/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Parses the --wire options into one plan per port. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/emu_number.h"
#include "wire_int.h"

#define ALLOWED \
	"pair[:lossless], loop[:lossless], none, A=pair:B[:lossless], PORT=loop[:lossless], " \
	"PORT=tap:IFNAME[@NETNS], PORT=pcap:IN[,OUT], PORT=sock:PATH[:up][:lossless], " \
	"PORT=none"

struct parse {
	struct emu_wire_plan *plan;
	unsigned ports;
	bool named[EMU_MAX_PORTS];
	char *err;
	size_t err_len;
};

static int
bad(struct parse *p, const char *spec, const char *why)
{
	snprintf(p->err, p->err_len, "--wire %s: %s; allowed: " ALLOWED, spec, why);
	return -EINVAL;
}

/* A port number that is followed by one of the characters in ends, or by the end of the string. */
static bool
read_port(const char **s, unsigned *port)
{
	uint64_t v;
	const char *end = emu_number_scan(*s, &v);

	if (end == NULL || v >= EMU_MAX_PORTS)
		return false;
	*port = (unsigned)v;
	*s = end;
	return true;
}

/* "", or ":lossless". */
static bool
read_lossless(const char *s, bool *lossless)
{
	*lossless = strcmp(s, ":lossless") == 0;
	return *s == '\0' || *lossless;
}

static void
plug_pair(struct parse *p, unsigned a, unsigned b, bool lossless)
{
	for (unsigned i = 0; i < 2; i++) {
		unsigned port = i == 0 ? a : b;

		p->plan[port].kind = a == b ? EMU_WIRE_LOOP : EMU_WIRE_PAIR;
		p->plan[port].peer = i == 0 ? b : a;
		p->plan[port].lossless = lossless;
		p->named[port] = true;
	}
}

/* Pair the ports without a wire; loop a single one. */
static void
pair_rest(struct parse *p, bool lossless)
{
	unsigned first = EMU_MAX_PORTS;

	for (unsigned i = 0; i < p->ports; i++) {
		if (p->named[i])
			continue;
		if (first == EMU_MAX_PORTS) {
			first = i;
			continue;
		}
		plug_pair(p, first, i, lossless);
		first = EMU_MAX_PORTS;
	}
	if (first != EMU_MAX_PORTS)
		plug_pair(p, first, first, lossless);
}

static void
plug_rest(struct parse *p, enum emu_wire_kind kind, bool lossless)
{
	for (unsigned i = 0; i < p->ports; i++) {
		if (p->named[i])
			continue;
		p->plan[i].kind = kind;
		p->plan[i].peer = i;
		p->plan[i].lossless = lossless;
		p->named[i] = true;
	}
}

static int
parse_all_ports(struct parse *p, const char *spec)
{
	bool lossless;

	if (strncmp(spec, "pair", 4) == 0 && read_lossless(spec + 4, &lossless))
		pair_rest(p, lossless);
	else if (strncmp(spec, "loop", 4) == 0 && read_lossless(spec + 4, &lossless))
		plug_rest(p, EMU_WIRE_LOOP, lossless);
	else if (strcmp(spec, "none") == 0)
		plug_rest(p, EMU_WIRE_NONE, false);
	else
		return bad(p, spec, "not a wire");
	return 0;
}

static int
parse_pair(struct parse *p, const char *spec, unsigned port, const char *rest)
{
	bool lossless;
	unsigned peer;

	if (!read_port(&rest, &peer) || !read_lossless(rest, &lossless))
		return bad(p, spec, "pair needs the number of the other port");
	if (peer >= p->ports)
		return bad(p, spec, "there is no such port");
	if (peer == port)
		return bad(p, spec, "a port cannot be paired with itself (loop does that)");
	if (p->named[peer])
		return bad(p, spec, "the other port has a wire already");
	plug_pair(p, port, peer, lossless);
	return 0;
}

static int
parse_tap(struct parse *p, const char *spec, struct emu_wire_plan *plan, const char *rest)
{
	const char *ns = strchr(rest, '@');
	size_t len = ns != NULL ? (size_t)(ns - rest) : strlen(rest);

	if (len == 0 || len >= sizeof(plan->ifname) || memchr(rest, '/', len) != NULL)
		return bad(p, spec, "an interface name has 1 to 15 characters and no slash");
	if (ns != NULL && (ns[1] == '\0' || strlen(ns + 1) >= sizeof(plan->netns) ||
			   strchr(ns, '/') != NULL))
		return bad(p, spec, "a namespace name has 1 to 63 characters and no slash");
	memcpy(plan->ifname, rest, len);
	if (ns != NULL)
		strcpy(plan->netns, ns + 1);
	plan->kind = EMU_WIRE_TAP;
	return 0;
}

static int
parse_pcap(struct parse *p, const char *spec, struct emu_wire_plan *plan, const char *rest)
{
	const char *comma = strchr(rest, ',');
	size_t in = comma != NULL ? (size_t)(comma - rest) : strlen(rest);
	const char *out = comma != NULL ? comma + 1 : "";

	if (in == 0 && *out == '\0')
		return bad(p, spec, "pcap needs a file to replay or a file to write");
	if (in >= sizeof(plan->in) || strlen(out) >= sizeof(plan->out))
		return bad(p, spec, "a file name is too long");
	memcpy(plan->in, rest, in);
	strcpy(plan->out, out);
	plan->kind = EMU_WIRE_PCAP;
	return 0;
}

/* Remove a suffix from the first len characters. */
static bool
drop_suffix(const char *s, size_t *len, const char *suffix)
{
	size_t n = strlen(suffix);

	if (*len < n || memcmp(s + *len - n, suffix, n) != 0)
		return false;
	*len -= n;
	return true;
}

static int
parse_sock(struct parse *p, const char *spec, struct emu_wire_plan *plan, const char *rest)
{
	size_t len = strlen(rest);

	plan->lossless = drop_suffix(rest, &len, ":lossless");
	plan->up = drop_suffix(rest, &len, ":up");
	/* sockaddr_un has 108 bytes, and the name of the lock file is longer. */
	if (len == 0 || len > 100)
		return bad(p, spec, "the name of a socket has 1 to 100 characters");
	memcpy(plan->in, rest, len);
	plan->kind = EMU_WIRE_SOCK;
	return 0;
}

static int
parse_one_port(struct parse *p, const char *spec, unsigned port, const char *wire)
{
	struct emu_wire_plan *plan = &p->plan[port];
	bool lossless;

	if (port >= p->ports)
		return bad(p, spec, "there is no such port");
	if (p->named[port])
		return bad(p, spec, "the port has a wire already");
	if (strncmp(wire, "pair:", 5) == 0)
		return parse_pair(p, spec, port, wire + 5);
	p->named[port] = true;
	if (strncmp(wire, "tap:", 4) == 0)
		return parse_tap(p, spec, plan, wire + 4);
	if (strncmp(wire, "pcap:", 5) == 0)
		return parse_pcap(p, spec, plan, wire + 5);
	if (strncmp(wire, "sock:", 5) == 0)
		return parse_sock(p, spec, plan, wire + 5);
	if (strcmp(wire, "none") == 0)
		return 0;
	if (strncmp(wire, "loop", 4) != 0 || !read_lossless(wire + 4, &lossless))
		return bad(p, spec, "not a wire");
	plug_pair(p, port, port, lossless);
	return 0;
}

int
emu_wire_parse(const char *const *specs, unsigned n, unsigned ports, struct emu_wire_plan *plan,
	       char *err, size_t err_len)
{
	struct parse p = {.plan = plan, .ports = ports, .err = err, .err_len = err_len};
	int ret = 0;

	if (ports > EMU_MAX_PORTS)
		return bad(&p, "", "too many ports");
	memset(plan, 0, ports * sizeof(*plan));
	for (unsigned i = 0; i < ports; i++)
		plan[i].fd = -1;
	for (unsigned i = 0; i < n && ret == 0; i++) {
		const char *at = specs[i];
		unsigned port;

		if (strchr(at, '=') == NULL)
			continue;
		if (read_port(&at, &port) && *at == '=')
			ret = parse_one_port(&p, specs[i], port, at + 1);
		else
			ret = bad(&p, specs[i], "there is no such port");
	}
	/* A SPEC without port applies to the remaining ports, in any order on the command line. */
	for (unsigned i = 0; i < n && ret == 0; i++)
		if (strchr(specs[i], '=') == NULL)
			ret = parse_all_ports(&p, specs[i]);
	if (ret == 0)
		pair_rest(&p, false);
	return ret;
}
