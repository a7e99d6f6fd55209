/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Reports on frames: texts of what the parser found and of what became of a frame. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>

#include "dp_int.h"

const char *
emu_why_end_text(enum emu_why_end end)
{
	static const char *const texts[] = {
#define END(name, text) [EMU_WHY_##name] = (text),
		EMU_WHY_ENDS(END)
#undef END
	};

	return texts[end];
}

struct text {
	char *to;
	size_t n, room;
};

static __attribute__((format(printf, 2, 3))) void
put(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->to + t->n, t->room - t->n, fmt, ap);
	va_end(ap);
	if (t->n >= t->room)
		t->n = t->room - 1;
}

static void
put_mac(struct text *t, const uint8_t *mac)
{
	put(t, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static void
put_l2(struct text *t, const uint8_t *d, const struct dp_layers *l)
{
	put(t, "eth ");
	put_mac(t, d + l->l2_off + 6);
	put(t, " > ");
	put_mac(t, d + l->l2_off);
	if (l->tags != 0)
		put(t, " / vlan %u tpid 0x%x tci 0x%x", l->tci & 0xfffu, l->tpid, l->tci);
	if (l->tags == 2)
		put(t, " / vlan");
	put(t, " type 0x%04x", l->ethertype);
}

static void
put_l3(struct text *t, const uint8_t *d, const struct dp_layers *l)
{
	bool v4 = l->l3 == DP_L3_IPV4;
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];

	inet_ntop(v4 ? AF_INET : AF_INET6, d + l->l3_off + (v4 ? 12 : 8), from, sizeof(from));
	inet_ntop(v4 ? AF_INET : AF_INET6, d + l->l3_off + (v4 ? 16 : 24), to, sizeof(to));
	put(t, "ipv%u %s > %s protocol %u%s", v4 ? 4 : 6, from, to, l->ip_proto, l->frag ? " fragment" : "");
	if (l->l4 != DP_L4_NONE)
		put(t, " / %s %u > %u", l->l4 == DP_L4_TCP ? "tcp" : "udp", dp_rd16(d + l->l4_off),
		    dp_rd16(d + l->l4_off + 2));
}

/* Inside of a tunnel there may be no Ethernet header. */
static void
layers_text(const struct dp_pkt *pkt, const struct dp_layers *l, char *to, size_t room)
{
	struct text t = {to, 0, room};

	if (l->l2_off != l->l3_off || l->l3 == DP_L3_NONE)
		put_l2(&t, pkt->data, l);
	if (l->l3 == DP_L3_NONE)
		return;
	put(&t, "%s", t.n != 0 ? " / " : "");
	put_l3(&t, pkt->data, l);
}

void
dp_why_headers(struct emu_why *why, const struct dp_pkt *pkt)
{
	layers_text(pkt, &pkt->outer, why->outer, sizeof(why->outer));
	if (pkt->tunneled)
		layers_text(pkt, &pkt->inner, why->inner, sizeof(why->inner));
}

void
dp_why_changed(struct emu_why *why, const struct dp_pkt *pkt)
{
	layers_text(pkt, &pkt->outer, why->changed, sizeof(why->changed));
}
