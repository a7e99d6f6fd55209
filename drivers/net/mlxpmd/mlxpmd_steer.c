/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Steering of a started port: one RQT over the queues, one of the first queue alone for classes without a hash, one
 * TIR per traffic class, and rules in the NIC's root table for received frames.
 *
 * The rules are the product of match keys (a destination address, a VLAN) and traffic classes. Frames that match no
 * rule go on to the kernel's own tables.
 */

#include <stdlib.h>

#include <mdv_rule.h>

#include "mlxpmd_tirs.h"

/* Keys are addresses times VLANs: limits the rules that one call creates. */
#define STEER_MAX_KEYS 1024
/* First of the priorities of the classes: the last of the root, behind those of the application's rules. */
#define STEER_PRIORITY (MDV_ROOT_PRIORITIES - 3)

struct steer_entry {
	struct mdv_rule_attr key;	/* Address and VLAN; the rest is 0. Compared as bytes. */
	struct mdv_rule *rule[MLXPMD_NB_RSS_CLASSES];
};

struct steer_list {
	unsigned int n;
	struct steer_entry *entry;
};

struct mlxpmd_steer {
	struct mlxpmd_tirs tirs;
	uint32_t rqn[MLXPMD_RETA_MAX]; /**< Entries of the RQTs. */
	bool rss;
	struct steer_list list;
};

/* ------------------------------------------------------------------ RQT and TIRs */

static void
rqt_entries(const struct mlxpmd_port *port, uint32_t *rqn)
{
	const struct mlxpmd_rxq *rxq;
	uint16_t i;

	for (i = 0; i < port->reta_size; i++) {
		rxq = port->eth_dev->data->rx_queues[port->reta[i]];
		rqn[i] = rxq->q.hw.rq.wq.number;
	}
}

int
mlxpmd_steer_reta(struct mlxpmd_port *port)
{
	struct mlxpmd_steer *steer = port->steer;
	uint32_t rqn[MLXPMD_RETA_MAX];
	int rc = 0;

	rqt_entries(port, rqn);
	if (steer->tirs.rqt != NULL)
		rc = mdv_rqt_modify(steer->tirs.rqt, rqn, port->reta_size);
	if (rc == 0 && rqn[0] != steer->rqn[0]) {
		rc = mdv_rqt_modify(steer->tirs.rqt_first, rqn, 1);
		if (rc != 0 && steer->tirs.rqt != NULL)
			(void)mdv_rqt_modify(steer->tirs.rqt, steer->rqn, port->reta_size);
	}
	if (rc == 0)
		memcpy(steer->rqn, rqn, port->reta_size * sizeof(rqn[0]));
	return rc;
}

static struct mlxpmd_tirs_conf
tirs_conf(const struct mlxpmd_port *port, const uint8_t *key, uint64_t rss_hf)
{
	const bool rss = port->steer->rss;
	struct mlxpmd_tirs_conf conf = { .rss_hf = rss ? rss_hf : 0, .all_classes = rss };

	memcpy(conf.key, key, sizeof(conf.key));
	return conf;
}

int
mlxpmd_steer_hash(struct mlxpmd_port *port, const uint8_t *key, uint64_t rss_hf)
{
	const struct mlxpmd_tirs_conf old = tirs_conf(port, port->rss_key, port->rss_hf);
	const struct mlxpmd_tirs_conf conf = tirs_conf(port, key, rss_hf);

	return port->steer->rss ? mlxpmd_tirs_hash(port, &old, &conf, &port->steer->tirs) : 0;
}

static void
lro_us_log(const struct mlxpmd_port *port)
{
	const unsigned int wanted_us = port->args.lro_timeout_usec;
	const uint16_t *periods = port->mdv->caps.lro_us;

	if (wanted_us == 0 || wanted_us == mlxpmd_rxq_lro_us(port) || mlxpmd_rxq_lro_size(port) == 0)
		return;
	MLXPMD_LOG(NOTICE, "port %u: lro_timeout_usec=%u: LRO sessions end after %u us, the device has %u, %u, %u and %u",
		   port->port_id, wanted_us, mlxpmd_rxq_lro_us(port), periods[0], periods[1], periods[2], periods[3]);
}

/* ------------------------------------------------------------------ keys of the filter */

/* Of the first byte of a destination address: multicast. */
#define GROUP_BIT 0x01

static int
list_add(struct steer_list *list, const struct mdv_rule_attr *key)
{
	if (list->n == STEER_MAX_KEYS)
		return -ENOSPC;
	list->entry[list->n++].key = *key;
	return 0;
}

/* One address: alone, or with a VLAN filter once without a tag and once for each allowed VLAN. */
static int
list_add_addr(struct steer_list *list, const struct mlxpmd_filter *filter,
	      const struct rte_ether_addr *addr, const struct rte_ether_addr *mask)
{
	struct mdv_rule_attr key;
	unsigned int id;
	int rc;

	memset(&key, 0, sizeof(key)); /* Padding too: keys are compared as bytes. */
	key.match_dmac = true;
	memcpy(key.dmac, addr->addr_bytes, sizeof(key.dmac));
	memcpy(key.dmac_mask, mask->addr_bytes, sizeof(key.dmac_mask));
	key.match_vlan = filter->vlan_on;
	key.vlan_id = MDV_MATCH_UNTAGGED; /* Not read without match_vlan. */
	rc = list_add(list, &key);
	for (id = 0; rc == 0 && filter->vlan_on && id <= RTE_ETHER_MAX_VLAN_ID; id++) {
		if (!(filter->vlan_ids[id / 64] & RTE_BIT64(id % 64)))
			continue;
		key.vlan_id = id;
		rc = list_add(list, &key);
	}
	return rc;
}

static int
list_add_multicast(struct steer_list *list, const struct mlxpmd_filter *filter,
		   const struct rte_ether_addr *exact)
{
	static const struct rte_ether_addr group = { { GROUP_BIT } };
	static const struct rte_ether_addr broadcast = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
	unsigned int i;
	int rc;

	if (filter->allmulti)
		return list_add_addr(list, filter, &group, &group);
	rc = list_add_addr(list, filter, &broadcast, exact);
	for (i = 0; rc == 0 && i < filter->nb_mc; i++)
		if (!rte_is_broadcast_ether_addr(&filter->mc[i]))
			rc = list_add_addr(list, filter, &filter->mc[i], exact);
	return rc;
}

/*
 * All frames. One rule would come before the kernel's table for multicast, whatever its priority, and with it before
 * flows in that table: while there are such flows, multicast has a rule of its own, which is in the table too.
 */
static int
list_add_everything(struct steer_list *list, bool apart)
{
	struct mdv_rule_attr key;
	int rc;

	memset(&key, 0, sizeof(key));
	key.match_dmac = apart;
	key.dmac_mask[0] = apart ? GROUP_BIT : 0;
	rc = list_add(list, &key);
	if (rc != 0 || !apart)
		return rc;
	key.dmac[0] = GROUP_BIT;
	return list_add(list, &key);
}

/* Promiscuous overrides the address lists and the VLAN filter. */
static int
list_build(const struct mlxpmd_port *port, struct steer_list *list)
{
	static const struct rte_ether_addr exact = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
	const struct mlxpmd_filter *filter = &port->filter;
	unsigned int i;
	int rc = 0;

	if (port->isolated)
		return 0;
	if (filter->promisc)
		return list_add_everything(list, mlxpmd_flows_multicast(port));
	for (i = 0; rc == 0 && i < MLXPMD_MAX_MAC_ADDRS; i++)
		if (!rte_is_zero_ether_addr(&filter->mac[i]))
			rc = list_add_addr(list, filter, &filter->mac[i], &exact);
	if (rc == 0)
		rc = list_add_multicast(list, filter, &exact);
	return rc;
}

/* ------------------------------------------------------------------ rules */

static void
entry_destroy(struct steer_entry *entry)
{
	int class;

	for (class = 0; class < MLXPMD_NB_RSS_CLASSES; class++) {
		if (entry->rule[class] != NULL)
			(void)mdv_rule_destroy(entry->rule[class]);
		entry->rule[class] = NULL;
	}
}

/* On failure the caller destroys the rules that were created. */
static int
entry_create(struct mlxpmd_port *port, struct steer_entry *entry)
{
	struct mdv_rule_attr attr;
	struct mdv_match match;
	int class;

	for (class = 0; class < MLXPMD_NB_RSS_CLASSES; class++) {
		if (port->steer->tirs.tir[class] == NULL)
			continue;
		attr = entry->key;
		attr.priority = STEER_PRIORITY + mlxpmd_rss_classes[class].depth;
		attr.ip_version = mlxpmd_rss_classes[class].ip_version;
		attr.ip_proto = mlxpmd_rss_classes[class].ip_proto;
		attr.match_frag = attr.ip_proto != 0;
		attr.tir = port->steer->tirs.tir[class];
		mdv_rule_match(&attr, &match);
		if (mlxpmd_flows_have(port, &match))
			continue;
		entry->rule[class] = mdv_rule_create(port->mdv, &attr);
		if (entry->rule[class] == NULL)
			return -rte_errno;
	}
	return 0;
}

static void
list_destroy(struct steer_list *list)
{
	while (list->n > 0)
		entry_destroy(&list->entry[--list->n]);
	free(list->entry);
}

static struct steer_entry *
list_find(const struct steer_list *list, const struct mdv_rule_attr *key)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (memcmp(&list->entry[i].key, key, sizeof(*key)) == 0)
			return &list->entry[i];
	return NULL;
}

/* Creates the rules of new keys; destroys them again on failure. */
static int
list_create_missing(struct mlxpmd_port *port, struct steer_list *list)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; rc == 0 && i < list->n; i++)
		if (list_find(&port->steer->list, &list->entry[i].key) == NULL)
			rc = entry_create(port, &list->entry[i]);
	while (rc != 0 && i-- > 0)
		entry_destroy(&list->entry[i]);
	return rc;
}

/* Makes list the port's list: moves the rules of keys that are in both, destroys the others. */
static void
list_replace(struct mlxpmd_port *port, struct steer_list *list)
{
	struct steer_list *old = &port->steer->list;
	struct steer_entry *same;
	unsigned int i;

	for (i = 0; i < list->n; i++) {
		same = list_find(old, &list->entry[i].key);
		if (same == NULL)
			continue;
		memcpy(list->entry[i].rule, same->rule, sizeof(same->rule));
		memset(same->rule, 0, sizeof(same->rule));
	}
	list_destroy(old);
	*old = *list;
}

int
mlxpmd_steer_sync(struct mlxpmd_port *port)
{
	struct steer_list list = { 0 };
	int rc;

	list.entry = calloc(STEER_MAX_KEYS, sizeof(*list.entry));
	if (list.entry == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for %d steering keys", port->port_id,
				   STEER_MAX_KEYS);
	rc = list_build(port, &list);
	if (rc != 0)
		MLXPMD_LOG(ERR, "port %u: addresses times VLANs: allowed are up to %d",
			   port->port_id, STEER_MAX_KEYS);
	else
		rc = list_create_missing(port, &list);
	if (rc != 0) {
		free(list.entry);
		return rc;
	}
	list_replace(port, &list);
	return 0;
}

void
mlxpmd_steer_suspend(struct mlxpmd_port *port)
{
	if (port->steer == NULL)
		return;
	list_destroy(&port->steer->list);
	port->steer->list = (struct steer_list){ 0 };
}

int
mlxpmd_steer_resume(struct mlxpmd_port *port)
{
	return port->steer != NULL ? mlxpmd_steer_sync(port) : 0;
}

/* ------------------------------------------------------------------ up and down */

int
mlxpmd_steer_up(struct mlxpmd_port *port)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;
	struct mlxpmd_tirs_conf conf;
	int rc;

	if (data->nb_rx_queues == 0)
		return 0; /* A port that only sends takes no traffic from the kernel. */
	port->steer = calloc(1, sizeof(*port->steer));
	if (port->steer == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for steering", port->port_id);
	port->steer->rss = (data->dev_conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) != 0;
	lro_us_log(port);
	conf = tirs_conf(port, port->rss_key, port->rss_hf);
	rqt_entries(port, port->steer->rqn);
	rc = mlxpmd_tirs_create_over(port, &conf, port->steer->rqn, port->reta_size, &port->steer->tirs);
	if (rc == 0)
		rc = mlxpmd_steer_sync(port);
	if (rc != 0)
		mlxpmd_steer_down(port);
	return rc;
}

void
mlxpmd_steer_down(struct mlxpmd_port *port)
{
	struct mlxpmd_steer *steer = port->steer;

	if (steer == NULL)
		return;
	list_destroy(&steer->list);
	mlxpmd_tirs_destroy(&steer->tirs);
	free(steer);
	port->steer = NULL;
}
