/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Command line: the table of options, for the parser and --help.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tm.h"

static int
bad(const char *option, const char *value, const char *allowed)
{
	tm_error("--%s: bad value '%s', allowed: %s", option, value, allowed);
	return -EINVAL;
}

/* Setter of a number: option, field, minimum, maximum. */
#define NUMBER(func, option, field, min, max)						\
	NUMBER_UP_TO(func, option, field, min, max, #max)
/* The same with the maximum as text: the macro UINT64_MAX has a suffix. */
#define NUMBER_UP_TO(func, option, field, min, max, max_text)				\
static int										\
func(struct tm_config *cfg, const char *value)						\
{											\
	uint64_t v;									\
											\
	if (tm_parse_u64(value, min, max, &v) != 0)					\
		return bad(option, value, #min " to " max_text);		\
	cfg->field = v;									\
	return 0;									\
}

/* The number is also text of messages. */
static_assert(TM_MAX_QUEUES == 1024, "limit of --rxq and --txq");
NUMBER(set_rxq, "rxq", rxq, 1, 1024)
NUMBER(set_txq, "txq", txq, 1, 1024)
NUMBER(set_rxd, "rxd", rxd, 1, 32768)
NUMBER(set_txd, "txd", txd, 1, 32768)
NUMBER(set_burst, "burst", burst, 1, 512)
NUMBER(set_mbufs, "mbufs", mbufs, 64, 1000000000)
NUMBER(set_mbuf_size, "mbuf-size", mbuf_size, 192, 65535)
NUMBER(set_mtu, "mtu", mtu, 68, 65535)
NUMBER(set_max_pkt_len, "max-pkt-len", max_pkt_len, 64, 65535)
NUMBER_UP_TO(set_count, "count", count, 0, UINT64_MAX, "18446744073709551615")
NUMBER(set_rate, "rate", rate, 0, 10000000000)
NUMBER(set_window, "window", window, 0, 1000000000)
NUMBER(set_flows, "flows", flows, 1, 65536)
NUMBER(set_vlan, "vlan", vlan, 0, 4094)
NUMBER_UP_TO(set_seed, "seed", seed, 0, UINT64_MAX, "18446744073709551615")
NUMBER(set_retries, "tx-retries", tx_retries, 0, 1000000)
NUMBER(set_portmask, "portmask", portmask, 1, 0xffffffff)
NUMBER(set_genmask, "gen-ports", genmask, 0, 0xffffffff)

#define SECONDS(func, option, field)							\
static int										\
func(struct tm_config *cfg, const char *value)						\
{											\
	if (tm_parse_seconds(value, &cfg->field) != 0)					\
		return bad(option, value, "seconds, such as 10 or 0.5");		\
	return 0;									\
}

SECONDS(set_run, "run", run_s)
SECONDS(set_drain, "drain", drain_s)
SECONDS(set_period, "stats-period", stats_period_s)

#define SWITCH(func, field, on)								\
static int										\
func(struct tm_config *cfg, const char *value __rte_unused)				\
{											\
	cfg->field = on;								\
	return 0;									\
}

SWITCH(set_interactive, interactive, true)
SWITCH(set_auto_start, auto_start, true)
SWITCH(set_strict, strict, true)
SWITCH(set_quiet, quiet, true)
SWITCH(set_no_promisc, promisc, false)
SWITCH(set_promisc, promisc, true)

static int
set_fwd(struct tm_config *cfg, const char *value)
{
	const struct tm_engine *e = tm_engine_find(value);

	if (e == NULL)
		return bad("fwd", value, "io mac macswap rxonly txonly gen");
	cfg->engine = e;
	return 0;
}

static int
set_topology(struct tm_config *cfg, const char *value)
{
	static const char *const names[] = { "paired", "chained", "loop" };

	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		if (strcmp(value, names[i]) == 0) {
			cfg->topology = (enum tm_topology)i;
			return 0;
		}
	}
	return bad("topology", value, "paired chained loop");
}

static int
set_pkt_len(struct tm_config *cfg, const char *value)
{
	if (tm_parse_len(value, &cfg->len_min, &cfg->len_max) != 0)
		return bad("pkt-len", value, "N or A-B with 60 <= A <= B <= 65000");
	return 0;
}

static int
set_rx_offloads(struct tm_config *cfg, const char *value)
{
	cfg->rx_offloads_given = true;
	return tm_offloads_parse(true, value, &cfg->rx_offloads);
}

static int
set_tx_offloads(struct tm_config *cfg, const char *value)
{
	return tm_offloads_parse(false, value, &cfg->tx_offloads);
}

/* Split PORT=REST; returns REST, or NULL after tm_error(). */
static const char *
port_value(const char *option, const char *value, uint16_t *port)
{
	const char *eq = strchr(value, '=');
	char num[8];
	uint64_t v;

	if (eq == NULL || eq[1] == '\0' || (size_t)(eq - value) >= sizeof(num))
		goto wrong;
	memcpy(num, value, eq - value);
	num[eq - value] = '\0';
	if (tm_parse_u64(num, 0, RTE_MAX_ETHPORTS - 1, &v) != 0)
		goto wrong;
	*port = v;
	return eq + 1;
wrong:
	bad(option, value, "PORT=VALUE, such as 0=file.pcap");
	return NULL;
}

static int
set_file(const char *option, const char *value, struct tm_port_files *files, size_t field)
{
	const char *path;
	uint16_t port;
	char **slot;

	path = port_value(option, value, &port);
	if (path == NULL)
		return -EINVAL;
	slot = RTE_PTR_ADD(&files[port], field);
	free(*slot);
	*slot = strdup(path);
	return *slot == NULL ? -ENOMEM : 0;
}

static int
set_pcap_in(struct tm_config *cfg, const char *value)
{
	return set_file("pcap-in", value, cfg->files, offsetof(struct tm_port_files, pcap_in));
}

static int
set_pcap_out(struct tm_config *cfg, const char *value)
{
	return set_file("pcap-out", value, cfg->files, offsetof(struct tm_port_files, pcap_out));
}

static int
set_meta_out(struct tm_config *cfg, const char *value)
{
	return set_file("meta-out", value, cfg->files, offsetof(struct tm_port_files, meta_out));
}

static int
set_peer_mac(struct tm_config *cfg, const char *value)
{
	const char *text;
	uint16_t port;

	text = port_value("peer-mac", value, &port);
	if (text == NULL)
		return -EINVAL;
	if (rte_ether_unformat_addr(text, &cfg->peer_mac[port]) != 0)
		return bad("peer-mac", value, "PORT=02:00:00:00:00:01");
	cfg->has_peer_mac[port] = true;
	return 0;
}

static int
set_cmds(struct tm_config *cfg, const char *value)
{
	if (access(value, R_OK) != 0) {
		tm_error("--cmds: cannot read '%s': %s", value, strerror(errno));
		return -EINVAL;
	}
	cfg->cmds_path = value;
	return 0;
}

static int
set_json(struct tm_config *cfg, const char *value)
{
	cfg->json_path = value;
	return 0;
}

static int
set_rx_intr(struct tm_config *cfg, const char *value __rte_unused)
{
	cfg->rx_intr = true;
	return 0;
}

const struct tm_arg tm_args[] = {
	{ "fwd", "MODE", "forwarding mode, see below: io mac macswap rxonly txonly gen (io)",
	  set_fwd },
	{ "run", "SECONDS", "stop after this time (no limit)", set_run },
	{ "count", "N", "stop after N packets: sent per port (gen, txonly), or received in total",
	  set_count },
	{ "rxq", "N", "Rx queues per port, 1 to 1024 (1)", set_rxq },
	{ "txq", "N", "Tx queues per port, 1 to 1024 (1)", set_txq },
	{ "rxd", "N", "Rx descriptors per queue (1024)", set_rxd },
	{ "txd", "N", "Tx descriptors per queue (1024)", set_txd },
	{ "burst", "N", "packets per burst, 1 to 512 (32)", set_burst },
	{ "mbufs", "N", "number of packet buffers (computed from the queues)", set_mbufs },
	{ "mbuf-size", "BYTES", "size of a buffer with its 128 bytes of headroom (2176)",
	  set_mbuf_size },
	{ "mtu", "N", "MTU of all ports (that of the device)", set_mtu },
	{ "max-pkt-len", "N", "largest frame with FCS; alternative to --mtu", set_max_pkt_len },
	{ "portmask", "MASK", "ports to use, a bit each (all)", set_portmask },
	{ "topology", "KIND", "paired 0<->1 2<->3, chained 0->1->2->0, loop 0->0 (paired)",
	  set_topology },
	{ "rx-offloads", "LIST", "checksum ipv4-cksum udp-cksum tcp-cksum vlan-strip timestamp "
	  "rss-hash scatter ... none (timestamp where offered)", set_rx_offloads },
	{ "tx-offloads", "LIST", "checksum vlan-insert multi-segs mbuf-fast-free ... (none)",
	  set_tx_offloads },
	{ "rx-intr", NULL, "sleep until an Rx interrupt if there are no packets (io, mac, macswap, rxonly)",
	  set_rx_intr },
	{ "promisc", NULL, "enable promiscuous mode (default)", set_promisc },
	{ "no-promisc", NULL, "do not enable promiscuous mode", set_no_promisc },
	{ "peer-mac", "PORT=MAC", "destination address of packets that PORT sends (mac, txonly, gen)",
	  set_peer_mac },
	{ "tx-retries", "N", "retries before packets that the Tx queue does not accept are dropped (256)",
	  set_retries },
	{ "pkt-len", "A[-B]", "length of generated frames without FCS (60)", set_pkt_len },
	{ "flows", "N", "flows per sending queue (8)", set_flows },
	{ "rate", "PPS", "packets per second and sending port (as fast as possible)", set_rate },
	{ "window", "N", "at most N packets in flight per sending queue (no limit)", set_window },
	{ "vlan", "ID", "VLAN id of generated packets (no tag)", set_vlan },
	{ "seed", "N", "seed of lengths and payloads (1)", set_seed },
	{ "gen-ports", "MASK", "ports that generate packets, a bit each (all)", set_genmask },
	{ "drain", "SECONDS", "at the end, receive until no packet came for this time (1)",
	  set_drain },
	{ "pcap-in", "PORT=FILE", "send the packets of capture FILE from PORT", set_pcap_in },
	{ "pcap-out", "PORT=FILE", "write the packets that PORT receives to capture FILE", set_pcap_out },
	{ "meta-out", "PORT=FILE", "write the metadata of each received packet, as JSON lines",
	  set_meta_out },
	{ "strict", NULL, "fail if any drop or error counter is not 0", set_strict },
	{ "cmds", "FILE", "run the commands in FILE", set_cmds },
	{ "interactive", NULL, "read commands from the terminal", set_interactive },
	{ "auto-start", NULL, "start forwarding before the first command", set_auto_start },
	{ "stats-period", "SECONDS", "print counters at this interval", set_period },
	{ "json", "FILE", "write the final statistics as JSON", set_json },
	{ "quiet", NULL, "print only errors and results", set_quiet },
	{ NULL, NULL, NULL, NULL },
};

void
tm_config_defaults(struct tm_config *cfg)
{
	*cfg = (struct tm_config) {
		.engine = &tm_engine_io, .topology = TM_TOPOLOGY_PAIRED,
		.rxq = 1, .txq = 1, .rxd = 1024, .txd = 1024, .burst = 32,
		.mbuf_size = RTE_MBUF_DEFAULT_BUF_SIZE,
		.len_min = TM_MIN_FRAME, .len_max = TM_MIN_FRAME,
		.run_s = -1, .flows = 8, .seed = 1, .drain_s = 1, .tx_retries = 256,
		.promisc = true,
	};
}

static const struct tm_arg *
arg_find(const char *name, size_t len)
{
	for (const struct tm_arg *a = tm_args; a->name != NULL; a++)
		if (strncmp(a->name, name, len) == 0 && a->name[len] == '\0')
			return a;
	return NULL;
}

/* Process argv[i] and its value; returns the number of arguments, or negative errno. */
static int
arg_take(struct tm_config *cfg, int argc, char **argv, int i)
{
	const char *text = argv[i], *eq = NULL, *value = NULL;
	const struct tm_arg *a = NULL;
	int used = 1, ret;

	if (strncmp(text, "--", 2) == 0) {
		eq = strchr(text, '=');
		a = arg_find(text + 2, eq != NULL ? (size_t)(eq - text - 2) : strlen(text + 2));
	}
	if (a == NULL) {
		tm_error("unknown option '%s', see --help", text);
		return -EINVAL;
	}
	if (a->value == NULL && eq != NULL) {
		tm_error("--%s takes no value", a->name);
		return -EINVAL;
	}
	if (a->value != NULL) {
		value = eq != NULL ? eq + 1 : i + 1 < argc ? argv[i + 1] : NULL;
		used = eq != NULL ? 1 : 2;
		if (value == NULL || value[0] == '\0') {
			tm_error("--%s needs a value: --%s %s", a->name, a->name, a->value);
			return -EINVAL;
		}
	}
	ret = a->set(cfg, value);
	return ret != 0 ? ret : used;
}

static int
args_agree(const struct tm_config *cfg)
{
	if (cfg->mtu != 0 && cfg->max_pkt_len != 0) {
		tm_error("--mtu and --max-pkt-len are alternatives, give one of them");
		return -EINVAL;
	}
	if (cfg->mbufs != 0 && cfg->mbufs < 2u * cfg->burst) {
		tm_error("--mbufs %u is too few for --burst %u", cfg->mbufs, cfg->burst);
		return -EINVAL;
	}
	if (cfg->vlan != 0 && cfg->len_min < TM_MIN_FRAME + RTE_VLAN_HLEN) {
		tm_error("--vlan needs --pkt-len of %u or more", TM_MIN_FRAME + RTE_VLAN_HLEN);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (cfg->files[i].pcap_in != NULL && tm_pcap_check(cfg->files[i].pcap_in) != 0)
			return -EINVAL;
	/* Commands can select another mode before the first start. */
	return (cfg->cmds_path == NULL && !cfg->interactive) || cfg->auto_start ? tm_intr_check(cfg) : 0;
}

int
tm_args_parse(struct tm_config *cfg, int argc, char **argv)
{
	int i = 0, used;

	while (i < argc) {
		used = arg_take(cfg, argc, argv, i);
		if (used < 0)
			return used;
		i += used;
	}
	return args_agree(cfg);
}

void
tm_config_free(struct tm_config *cfg)
{
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++) {
		free(cfg->files[i].pcap_in);
		free(cfg->files[i].pcap_out);
		free(cfg->files[i].meta_out);
		cfg->files[i] = (struct tm_port_files) { NULL, NULL, NULL };
	}
}
