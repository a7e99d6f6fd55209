/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive-side scaling: key, hash functions per traffic class, redirection table. */

#include "mlxpmd_ctrl.h"

/* The key of the verification suite of Microsoft's RSS specification. */
static const uint8_t rss_default_key[MLXPMD_RSS_KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

#define RSS_IPV4_HF (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER)
#define RSS_IPV6_HF (RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER | \
		     RTE_ETH_RSS_IPV6_EX)
#define RSS_IPV6_TCP_HF (RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX)
#define RSS_IPV6_UDP_HF (RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX)
#define RSS_IP_FIELDS (MDV_HASH_SRC_IP | MDV_HASH_DST_IP)
#define RSS_PORT_FIELDS (MDV_HASH_SRC_PORT | MDV_HASH_DST_PORT)

/** Hash functions by which a class is hashed over addresses and ports (l4), or over addresses (l3). */
static const struct {
	uint64_t l4, l3;
} rss_class_hf[MLXPMD_NB_RSS_CLASSES] = {
	[MLXPMD_RSS_CLASS_IPV4_TCP] = { RTE_ETH_RSS_NONFRAG_IPV4_TCP, RTE_ETH_RSS_IPV4 },
	[MLXPMD_RSS_CLASS_IPV4_UDP] = { RTE_ETH_RSS_NONFRAG_IPV4_UDP, RTE_ETH_RSS_IPV4 },
	[MLXPMD_RSS_CLASS_IPV4] = { 0, RSS_IPV4_HF },
	[MLXPMD_RSS_CLASS_IPV6_TCP] = { RSS_IPV6_TCP_HF, RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_IPV6_EX },
	[MLXPMD_RSS_CLASS_IPV6_UDP] = { RSS_IPV6_UDP_HF, RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_IPV6_EX },
	[MLXPMD_RSS_CLASS_IPV6] = { 0, RSS_IPV6_HF },
	[MLXPMD_RSS_CLASS_OTHER] = { 0, 0 },
};

/**
 * Match of a class. A fragment belongs to the class that hashes addresses only, because not every fragment has the
 * ports: all fragments of a datagram reach one queue.
 *
 * Rules are created in this order, which must stay from narrow to wide: the kernel puts all rules that match only
 * multicast into one table whatever their priority. There each mask gets a group in the first gap of the table
 * (mlx5_core, fs_core.c, alloc_auto_flow_group()), and the first matching group applies. The groups of one port keep
 * this order. If another program adds and removes multicast rules, the wide group can get a gap in front of the narrow
 * one: packets of these classes then reach the first queue, or are hashed by addresses only.
 */
const struct mlxpmd_rss_class_match mlxpmd_rss_classes[MLXPMD_NB_RSS_CLASSES] = {
	[MLXPMD_RSS_CLASS_IPV4_TCP] = { 0, 4, IPPROTO_TCP },
	[MLXPMD_RSS_CLASS_IPV4_UDP] = { 0, 4, IPPROTO_UDP },
	[MLXPMD_RSS_CLASS_IPV4] = { 1, 4, 0 },
	[MLXPMD_RSS_CLASS_IPV6_TCP] = { 0, 6, IPPROTO_TCP },
	[MLXPMD_RSS_CLASS_IPV6_UDP] = { 0, 6, IPPROTO_UDP },
	[MLXPMD_RSS_CLASS_IPV6] = { 1, 6, 0 },
	[MLXPMD_RSS_CLASS_OTHER] = { 2, 0, 0 },
};

static uint32_t
rss_fields_narrow(uint64_t rss_hf, uint32_t fields)
{
	if (rss_hf & RTE_ETH_RSS_L3_SRC_ONLY)
		fields &= ~MDV_HASH_DST_IP;
	if (rss_hf & RTE_ETH_RSS_L3_DST_ONLY)
		fields &= ~MDV_HASH_SRC_IP;
	if (rss_hf & RTE_ETH_RSS_L4_SRC_ONLY)
		fields &= ~MDV_HASH_DST_PORT;
	if (rss_hf & RTE_ETH_RSS_L4_DST_ONLY)
		fields &= ~MDV_HASH_SRC_PORT;
	return fields;
}

uint32_t
mlxpmd_rss_class_fields(uint64_t rss_hf, enum mlxpmd_rss_class class)
{
	if (rss_hf & rss_class_hf[class].l4)
		return rss_fields_narrow(rss_hf, RSS_IP_FIELDS | RSS_PORT_FIELDS);
	if (rss_hf & rss_class_hf[class].l3)
		return rss_fields_narrow(rss_hf, RSS_IP_FIELDS);
	return 0;
}

uint64_t
mlxpmd_rss_supported(const struct mdv_caps *caps)
{
	uint64_t hf;

	if (!caps->rss_ipv4_ipv6 || (caps->rx_hash_fields & RSS_IP_FIELDS) != RSS_IP_FIELDS)
		return 0;
	hf = RSS_IPV4_HF | RSS_IPV6_HF | RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY;
	if ((caps->rx_hash_fields & RSS_PORT_FIELDS) == RSS_PORT_FIELDS)
		hf |= RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
		      RSS_IPV6_TCP_HF | RSS_IPV6_UDP_HF | RTE_ETH_RSS_L4_SRC_ONLY |
		      RTE_ETH_RSS_L4_DST_ONLY;
	return hf;
}

/* Programs read the size before they configure the port: it is the usual one but for very many queues. */
uint16_t
mlxpmd_rss_reta_size(const struct mdv_caps *caps, uint16_t nb_queues)
{
	const uint32_t most = RTE_MIN(RTE_BIT32(caps->log_max_rqt_size), (uint32_t)MLXPMD_RETA_MAX);

	return RTE_MIN(most, RTE_MAX(rte_align32pow2(2u * nb_queues), (uint32_t)MLXPMD_RETA_USUAL));
}

static int
key_check(const struct mlxpmd_port *port, uint8_t bytes)
{
	if (bytes == MLXPMD_RSS_KEY_BYTES)
		return 0;
	return MLXPMD_FAIL(EINVAL, "port %u: RSS key of %u bytes: allowed is %d", port->port_id, bytes,
			   MLXPMD_RSS_KEY_BYTES);
}

int
mlxpmd_rss_configure(struct mlxpmd_port *port)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;
	const struct rte_eth_rss_conf *conf = &data->dev_conf.rx_adv_conf.rss_conf;
	uint16_t i;

	if (conf->rss_key != NULL && conf->rss_key_len != 0 && key_check(port, conf->rss_key_len) != 0)
		return -EINVAL;
	memcpy(port->rss_key, conf->rss_key != NULL ? conf->rss_key : rss_default_key,
	       sizeof(port->rss_key));
	port->rss_hf = (data->dev_conf.rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) ? conf->rss_hf : 0;
	port->reta_size = mlxpmd_rss_reta_size(&port->mdv->caps, data->nb_rx_queues);
	for (i = 0; i < port->reta_size; i++)
		port->reta[i] = data->nb_rx_queues != 0 ? i % data->nb_rx_queues : 0;
	return 0;
}

int
mlxpmd_rss_hash_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *conf)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	const uint8_t *key = conf->rss_key != NULL ? conf->rss_key : port->rss_key;
	int rc = 0;

	if (conf->rss_key != NULL && key_check(port, conf->rss_key_len) != 0)
		return -EINVAL;
	pthread_mutex_lock(&port->lock);
	if (port->steer != NULL)
		rc = mlxpmd_steer_hash(port, key, conf->rss_hf);
	if (rc == 0) {
		memmove(port->rss_key, key, sizeof(port->rss_key));
		port->rss_hf = conf->rss_hf;
	}
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_rss_hash_conf_get(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *conf)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);

	if (conf->rss_key != NULL && conf->rss_key_len >= MLXPMD_RSS_KEY_BYTES)
		memcpy(conf->rss_key, port->rss_key, MLXPMD_RSS_KEY_BYTES);
	conf->rss_key_len = MLXPMD_RSS_KEY_BYTES;
	conf->rss_hf = port->rss_hf;
	return 0;
}

static int
reta_size_check(const struct mlxpmd_port *port, uint16_t size)
{
	if (size == port->reta_size)
		return 0;
	return MLXPMD_FAIL(EINVAL, "port %u: redirection table of %u entries: allowed is %u", port->port_id,
			   size, port->reta_size);
}

int
mlxpmd_reta_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *conf,
		   uint16_t size)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	uint16_t old[MLXPMD_RETA_MAX], i;
	int rc;

	rc = reta_size_check(port, size);
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&port->lock);
	memcpy(old, port->reta, sizeof(old));
	for (i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64 *group = &conf[i / RTE_ETH_RETA_GROUP_SIZE];
		unsigned int slot = i % RTE_ETH_RETA_GROUP_SIZE;

		if (group->mask & RTE_BIT64(slot))
			port->reta[i] = group->reta[slot];
	}
	if (port->steer != NULL)
		rc = mlxpmd_steer_reta(port);
	if (rc != 0)
		memcpy(port->reta, old, sizeof(old));
	pthread_mutex_unlock(&port->lock);
	return rc;
}

int
mlxpmd_reta_query(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *conf,
		  uint16_t size)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	uint16_t i;
	int rc;

	/* Programs may read the entries that they know: testpmd has room for 512. */
	rc = size < port->reta_size ? 0 : reta_size_check(port, size);
	for (i = 0; rc == 0 && i < size; i++) {
		struct rte_eth_rss_reta_entry64 *group = &conf[i / RTE_ETH_RETA_GROUP_SIZE];

		if (group->mask & RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE))
			group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = port->reta[i];
	}
	return rc;
}
