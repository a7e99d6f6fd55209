/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Commands set, pcap and meta: options of the next run, port modes, files of a port.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds.h"

/* These options take effect at the next start, so they may change between runs. */
#define SETTABLE "fwd#burst#count#rate#window#pkt-len#flows#seed#vlan#gen-ports#peer-mac#" \
	"tx-retries#drain#stats-period"

static int
set_run(struct tm_app *app, struct tm_words *words)
{
	int ret = tm_cmd_idle(app, "set");

	if (ret != 0)
		return ret;
	for (const struct tm_arg *a = tm_args; a->name != NULL; a++)
		if (strcmp(a->name, words->w[1]) == 0)
			return a->set(&app->cfg, words->w[2]);
	return -EINVAL;
}

TM_WORD(set_word, 0, "set");
TM_WORD(set_what, 1, SETTABLE);
TM_WORD(set_value, 2, NULL);
TM_CMD(tm_cmd_set, set_run, "set fwd|burst|count|rate|window|pkt-len|flows|seed|vlan|gen-ports|"
       "peer-mac|tx-retries|drain|stats-period VALUE: as the option of this name",
       TM_TOKEN(set_word), TM_TOKEN(set_what), TM_TOKEN(set_value));

static int
mode_one(struct tm_app *app __rte_unused, uint16_t port_id, const void *arg)
{
	const struct tm_words *words = arg;
	bool on = strcmp(words->w[3], "on") == 0;
	int ret;

	if (strcmp(words->w[1], "promisc") == 0)
		ret = on ? rte_eth_promiscuous_enable(port_id) :
			rte_eth_promiscuous_disable(port_id);
	else
		ret = on ? rte_eth_allmulticast_enable(port_id) :
			rte_eth_allmulticast_disable(port_id);
	if (ret != 0)
		tm_error("port %u: %s %s refused: %s", port_id, words->w[1], words->w[3],
			 rte_strerror(-ret));
	return ret;
}

static int
set_mode_run(struct tm_app *app, struct tm_words *words)
{
	return tm_cmd_ports(app, words->w[2], mode_one, words);
}

TM_WORD(set_mode_word, 0, "set");
TM_WORD(set_mode_what, 1, "promisc#allmulti");
TM_WORD(set_mode_which, 2, NULL);
TM_WORD(set_mode_on, 3, "on#off");
TM_CMD(tm_cmd_set_mode, set_mode_run, "set promisc|allmulti P|all on|off",
       TM_TOKEN(set_mode_word), TM_TOKEN(set_mode_what), TM_TOKEN(set_mode_which),
       TM_TOKEN(set_mode_on));

static int
mtu_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	const uint64_t *mtu = arg;
	int ret = rte_eth_dev_set_mtu(port_id, *mtu);

	if (ret != 0)
		tm_error("port %u: MTU %" PRIu64 " refused: %s", port_id, *mtu,
			 rte_strerror(-ret));
	else
		app->ports[port_id].mtu = *mtu;
	return ret;
}

static int
set_mtu_run(struct tm_app *app, struct tm_words *words)
{
	int ret = tm_cmd_idle(app, "set mtu");
	uint64_t mtu;

	if (ret != 0)
		return ret;
	if (tm_parse_u64(words->w[3], 68, UINT16_MAX, &mtu) != 0) {
		tm_error("'%s' is not an MTU", words->w[3]);
		return -EINVAL;
	}
	return tm_cmd_ports(app, words->w[2], mtu_one, &mtu);
}

TM_WORD(set_mtu_word, 0, "set");
TM_WORD(set_mtu_what, 1, "mtu");
TM_WORD(set_mtu_which, 2, NULL);
TM_WORD(set_mtu_value, 3, NULL);
TM_CMD(tm_cmd_set_mtu, set_mtu_run, "set mtu P|all N", TM_TOKEN(set_mtu_word),
       TM_TOKEN(set_mtu_what), TM_TOKEN(set_mtu_which), TM_TOKEN(set_mtu_value));

static int
mac_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	struct rte_ether_addr mac = *(const struct rte_ether_addr *)arg;
	int ret = rte_eth_dev_default_mac_addr_set(port_id, &mac);

	if (ret != 0)
		tm_error("port %u: address refused: %s", port_id, rte_strerror(-ret));
	else
		app->ports[port_id].mac = mac;
	return ret;
}

static int
set_mac_run(struct tm_app *app, struct tm_words *words)
{
	int ret = tm_cmd_idle(app, "set mac");
	struct rte_ether_addr mac;

	if (ret != 0)
		return ret;
	if (rte_ether_unformat_addr(words->w[3], &mac) != 0) {
		tm_error("'%s' is not an Ethernet address", words->w[3]);
		return -EINVAL;
	}
	return tm_cmd_ports(app, words->w[2], mac_one, &mac);
}

TM_WORD(set_mac_word, 0, "set");
TM_WORD(set_mac_what, 1, "mac");
TM_WORD(set_mac_which, 2, NULL);
TM_WORD(set_mac_value, 3, NULL);
TM_CMD(tm_cmd_set_mac, set_mac_run, "set mac P ADDRESS", TM_TOKEN(set_mac_word),
       TM_TOKEN(set_mac_what), TM_TOKEN(set_mac_which), TM_TOKEN(set_mac_value));

static int
slot_set(char **slot, const char *path)
{
	char *copy = path != NULL ? strdup(path) : NULL;

	if (path != NULL && copy == NULL)
		return -ENOMEM;
	free(*slot);
	*slot = copy;
	return 0;
}

static int
file_one(struct tm_app *app, uint16_t port_id, const void *arg)
{
	struct tm_port_files *f = &app->cfg.files[port_id];
	const struct tm_words *words = arg;

	if (strcmp(words->w[0], "meta") == 0)
		return slot_set(&f->meta_out, words->rest);
	if (strcmp(words->w[1], "out") == 0)
		return slot_set(&f->pcap_out, words->rest);
	if (tm_pcap_check(words->rest) != 0)
		return -EINVAL;
	return slot_set(&f->pcap_in, words->rest);
}

static int
file_run(struct tm_app *app, struct tm_words *words)
{
	int ret = tm_cmd_idle(app, words->w[0]);

	if (ret != 0)
		return ret;
	if (strcmp(words->w[0], "meta") == 0 && strcmp(words->w[1], "in") == 0) {
		tm_error("meta: only out is possible");
		return -EINVAL;
	}
	return tm_cmd_ports(app, words->w[2], file_one, words);
}

TM_WORD(file_word, 0, "pcap#meta");
TM_WORD(file_way, 1, "in#out");
TM_WORD(file_which, 2, NULL);
TM_REST(file_path);
TM_CMD(tm_cmd_file, file_run, "pcap in|out P FILE, meta out P FILE: from the next start",
       TM_TOKEN(file_word), TM_TOKEN(file_way), TM_TOKEN(file_which), TM_TOKEN(file_path));

static int
file_off_one(struct tm_app *app, uint16_t port_id, const void *arg __rte_unused)
{
	struct tm_port_files *f = &app->cfg.files[port_id];

	slot_set(&f->pcap_in, NULL);
	slot_set(&f->pcap_out, NULL);
	return slot_set(&f->meta_out, NULL);
}

static int
file_off_run(struct tm_app *app, struct tm_words *words)
{
	int ret = tm_cmd_idle(app, "pcap off");

	return ret != 0 ? ret : tm_cmd_ports(app, words->w[2], file_off_one, NULL);
}

TM_WORD(file_off_word, 0, "pcap");
TM_WORD(file_off_off, 1, "off");
TM_WORD(file_off_which, 2, NULL);
TM_CMD(tm_cmd_file_off, file_off_run, "pcap off P|all: no more captures",
       TM_TOKEN(file_off_word), TM_TOKEN(file_off_off), TM_TOKEN(file_off_which));
