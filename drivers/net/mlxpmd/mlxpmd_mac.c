/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Frames that the application requested: addresses, promiscuous, all-multicast, VLANs.
 *
 * Two places must agree: the rules, which steer frames to the queues, and the kernel interface, whose address lists
 * the kernel writes into the vport's context. The interface follows the filter while the port is started. Afterwards
 * its previous state is restored.
 */

#include <rte_malloc.h>

#include "mlxpmd_ctrl.h"

static bool
addr_listed(const struct rte_ether_addr *list, uint16_t n, const struct rte_ether_addr *addr)
{
	uint16_t i;

	for (i = 0; i < n; i++)
		if (rte_is_same_ether_addr(&list[i], addr))
			return true;
	return false;
}

/* The unicast addresses of a filter without the first, which is that of the interface. Returns their number. */
static uint16_t
filter_ucast(const struct mlxpmd_filter *filter, struct rte_ether_addr list[MLXPMD_MAX_MAC_ADDRS])
{
	uint16_t n = 0;
	unsigned int i;

	for (i = 1; i < MLXPMD_MAX_MAC_ADDRS; i++)
		if (!rte_is_zero_ether_addr(&filter->mac[i]))
			list[n++] = filter->mac[i];
	return n;
}

/*
 * Follows the further unicast addresses. Where the interface takes none, it becomes promiscuous: it receives all, the
 * rules select. 0; 1 it has to; -errno nothing was tried, for lack of descriptors or memory.
 */
static int
netdev_ucast(struct mlxpmd_port *port, const struct mlxpmd_filter *want)
{
	struct rte_ether_addr list[MLXPMD_MAX_MAC_ADDRS];
	struct mlxpmd_netdev *nd = &port->netdev;
	uint16_t n = filter_ucast(want, list), i;
	int rc = 0;

	/* Removed before others are added: the number of addresses is that of the filter. */
	for (i = 0; i < nd->nb_uc;)
		if (addr_listed(list, n, &nd->uc[i])) {
			i++;
		} else {
			(void)port->mdv->port->ucast(port->mdv, nd->uc[i].addr_bytes, false);
			nd->uc[i] = nd->uc[--nd->nb_uc];
		}
	for (i = 0; i < n && rc == 0; i++) {
		if (addr_listed(nd->uc, nd->nb_uc, &list[i]))
			continue;
		rc = port->mdv->port->ucast(port->mdv, list[i].addr_bytes, true);
		if (rc == 0)
			nd->uc[nd->nb_uc++] = list[i];
	}
	if (rc == 0)
		return 0;
	if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM)
		return MLXPMD_FAIL(-rc, "port %u: cannot add an address to the interface's list: %s", port->port_id,
				   rte_strerror(-rc));
	if (!nd->uc_refused)
		MLXPMD_LOG(NOTICE, "port %u: no further address in the interface's list (%s): promiscuous mode instead",
			   port->port_id, rte_strerror(-rc));
	nd->uc_refused = true;
	return 1;
}

static uint32_t
mcast_max(const struct mlxpmd_port *port)
{
	uint32_t max = port->mdv->mcast_max;

	return max != 0 ? RTE_MIN(max, (uint32_t)MLXPMD_MAX_MC_ADDRS) : MLXPMD_MAX_MC_ADDRS;
}

static int
netdev_mcast(struct mlxpmd_port *port, const struct mlxpmd_filter *want)
{
	struct mlxpmd_netdev *nd = &port->netdev;
	uint16_t i;
	int rc;

	for (i = 0; i < want->nb_mc; i++) {
		if (addr_listed(nd->mc, nd->nb_mc, &want->mc[i]))
			continue;
		if (nd->nb_mc == mcast_max(port))
			break; /* Full of addresses that are removed below: the caller repeats the call. */
		rc = port->mdv->port->mcast(port->mdv, want->mc[i].addr_bytes, true);
		if (rc != 0)
			return rc;
		nd->mc[nd->nb_mc++] = want->mc[i];
	}
	for (i = 0; i < nd->nb_mc;) {
		if (addr_listed(want->mc, want->nb_mc, &nd->mc[i])) {
			i++;
			continue;
		}
		rc = port->mdv->port->mcast(port->mdv, nd->mc[i].addr_bytes, false);
		if (rc != 0)
			return rc;
		nd->mc[i] = nd->mc[--nd->nb_mc];
	}
	return 0;
}

/* The function cannot read whether its PF trusts it (Linux, mlx5/core/eswitch.c, esw_update_vport_rx_mode()). */
static void
vf_notice(struct mlxpmd_port *port)
{
	struct mlxpmd_netdev *nd = &port->netdev;

	if (!port->mdv->caps.vf || nd->vf_noted)
		return;
	nd->vf_noted = true;
	if (port->mdv->sf)
		MLXPMD_LOG(NOTICE, "port %u: promiscuous and all-multicast mode of a sub-function do not change what the "
			   "switch of its PF sends to it", port->port_id);
	else
		MLXPMD_LOG(NOTICE, "port %u: promiscuous and all-multicast mode have an effect on a virtual function "
			   "only if its PF trusts it: ip link set dev PF vf N trust on", port->port_id);
}

static int
netdev_flags(struct mlxpmd_port *port, bool promisc, bool allmulti)
{
	int rc;

	if ((promisc && !port->netdev.promisc) || (allmulti && !port->netdev.allmulti))
		vf_notice(port);
	if (promisc != port->netdev.promisc) {
		rc = port->mdv->port->promisc_set(port->mdv, promisc);
		if (rc != 0)
			return rc;
		port->netdev.promisc = promisc;
	}
	if (allmulti != port->netdev.allmulti) {
		rc = port->mdv->port->allmulti_set(port->mdv, allmulti);
		if (rc != 0)
			return rc;
		port->netdev.allmulti = allmulti;
	}
	return 0;
}

static int
netdev_follow(struct mlxpmd_port *port, const struct mlxpmd_filter *want)
{
	int rc;

	/* Rules alone: enough if no e-switch filters frames before they match the rules. */
	if (!mdv_port_owned(port->mdv))
		return 0;
	rc = netdev_ucast(port, want);
	if (rc >= 0)
		rc = netdev_flags(port, rc != 0 || want->promisc, want->allmulti);
	if (rc == 0)
		rc = netdev_mcast(port, want);
	if (rc == 0 && port->netdev.nb_mc < want->nb_mc)
		rc = netdev_mcast(port, want);
	return rc;
}

/* An interface that is down keeps the link down and its address lists out of the device. */
static int
netdev_raise(struct mlxpmd_port *port)
{
	bool up;
	int rc;

	if (!mdv_port_owned(port->mdv)) {
		MLXPMD_LOG(INFO, "port %u: no kernel interface here: its owner controls link and filters",
			   port->port_id);
		return 0;
	}
	rc = port->mdv->port->up_get(port->mdv, &up);
	if (rc != 0 || up)
		return rc;
	rc = port->mdv->port->up_set(port->mdv, true);
	if (rc == 0)
		port->netdev.raised = true;
	return rc;
}

int
mlxpmd_netdev_up(struct mlxpmd_port *port)
{
	int rc;

	rc = netdev_raise(port);
	if (rc == 0)
		rc = netdev_follow(port, &port->filter);
	if (rc != 0)
		mlxpmd_netdev_down(port);
	return rc;
}

void
mlxpmd_netdev_down(struct mlxpmd_port *port)
{
	static const struct mlxpmd_filter nothing;

	(void)netdev_follow(port, &nothing);
}

int
mlxpmd_filter_set(struct mlxpmd_port *port, const struct mlxpmd_filter *want)
{
	struct mlxpmd_filter old = port->filter;
	int rc;

	port->filter = *want;
	if (port->steer == NULL)
		return 0; /* dev_start applies it. */
	rc = netdev_follow(port, want);
	if (rc == 0)
		rc = mlxpmd_steer_sync(port);
	if (rc != 0) {
		port->filter = old;
		(void)netdev_follow(port, &old);
	}
	return rc;
}

/* ethdev calls a different function for each flag and value. */
#define FLAG_FUNCTION(name, flag, value) \
	int mlxpmd_##name(struct rte_eth_dev *eth_dev) \
	{ \
		struct mlxpmd_filter want = MLXPMD_PORT(eth_dev)->filter; \
\
		want.flag = value; \
		return mlxpmd_filter_set(MLXPMD_PORT(eth_dev), &want); \
	}
FLAG_FUNCTION(promiscuous_enable, promisc, true)
FLAG_FUNCTION(promiscuous_disable, promisc, false)
FLAG_FUNCTION(allmulticast_enable, allmulti, true)
FLAG_FUNCTION(allmulticast_disable, allmulti, false)

static int
netdev_mac_set(struct mlxpmd_port *port, const struct rte_ether_addr *addr)
{
	int rc;

	if (rte_is_same_ether_addr(addr, &port->mac))
		return 0;
	rc = port->mdv->port->mac_set(port->mdv, addr->addr_bytes);
	if (rc == 0)
		port->mac = *addr;
	return rc;
}

int
mlxpmd_mac_addr_set(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct rte_ether_addr old = port->mac;
	struct mlxpmd_filter want = port->filter;
	int rc;

	/* ethdev sets the address again at each start, and ignores the result. */
	if (rte_is_same_ether_addr(addr, &old))
		return 0;
	rc = netdev_mac_set(port, addr);
	if (rc != 0)
		return rc;
	want.mac[0] = *addr;
	rc = mlxpmd_filter_set(port, &want);
	if (rc != 0)
		(void)netdev_mac_set(port, &old);
	return rc;
}

int
mlxpmd_mac_addr_add(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr, uint32_t index,
		    uint32_t pool)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_filter want = port->filter;

	if (pool != 0 || index >= MLXPMD_MAX_MAC_ADDRS || rte_is_multicast_ether_addr(addr))
		return MLXPMD_FAIL(EINVAL,
				   "port %u: address " RTE_ETHER_ADDR_PRT_FMT " at %u, pool %u: allowed are unicast, below %d, pool 0",
				   port->port_id, RTE_ETHER_ADDR_BYTES(addr), index, pool,
				   MLXPMD_MAX_MAC_ADDRS);
	want.mac[index] = *addr;
	return mlxpmd_filter_set(port, &want);
}

void
mlxpmd_mac_addr_remove(struct rte_eth_dev *eth_dev, uint32_t index)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_filter want = port->filter;

	if (index == 0 || index >= MLXPMD_MAX_MAC_ADDRS)
		return;
	memset(&want.mac[index], 0, sizeof(want.mac[index]));
	/* ethdev gets no error: what could not be removed is removed with the next change. */
	if (mlxpmd_filter_set(port, &want) != 0)
		port->filter = want;
}

int
mlxpmd_set_mc_addr_list(struct rte_eth_dev *eth_dev, struct rte_ether_addr *list, uint32_t n)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_filter want = port->filter;
	uint32_t i;

	if (n > mcast_max(port))
		return MLXPMD_FAIL(ENOSPC, "port %u: %u multicast addresses: allowed are up to %u",
				   port->port_id, n, mcast_max(port));
	want.nb_mc = 0;
	for (i = 0; i < n; i++) {
		if (!rte_is_multicast_ether_addr(&list[i]))
			return MLXPMD_FAIL(EINVAL,
					   "port %u: " RTE_ETHER_ADDR_PRT_FMT " is no multicast address",
					   port->port_id, RTE_ETHER_ADDR_BYTES(&list[i]));
		if (!addr_listed(want.mc, want.nb_mc, &list[i]))
			want.mc[want.nb_mc++] = list[i];
	}
	return mlxpmd_filter_set(port, &want);
}

/* ------------------------------------------------------------------ VLAN filter and stripping */

int
mlxpmd_vlan_filter_set(struct rte_eth_dev *eth_dev, uint16_t vlan_id, int on)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_filter want = port->filter;
	uint64_t bit = RTE_BIT64(vlan_id % 64);

	if (vlan_id > RTE_ETHER_MAX_VLAN_ID)
		return MLXPMD_FAIL(EINVAL, "port %u: VLAN id %u: allowed are 0..%d", port->port_id, vlan_id,
				   RTE_ETHER_MAX_VLAN_ID);
	if (on)
		want.vlan_ids[vlan_id / 64] |= bit;
	else
		want.vlan_ids[vlan_id / 64] &= ~bit;
	return mlxpmd_filter_set(port, &want);
}

/*
 * A queue that is not ready has the request in its offloads: a start creates the RQ by them, and a repair writes them
 * to the device at its end.
 */
static int
strip_set(struct mlxpmd_rxq *rxq, bool on)
{
	enum mlxpmd_qstate state;
	int rc = 0;

	pthread_mutex_lock(&rxq->q.port->lock);
	state = mlxpmd_queue_state(&rxq->q);
	if (state == MLXPMD_QS_READY || state == MLXPMD_QS_QUIESCING) {
		/* The device may have stopped the RQ, which the burst has not found yet. */
		rc = mdv_wq_state_read(&rxq->q.hw.rq.wq);
		if (rc == 0 && rxq->q.hw.rq.wq.state == MDV_QS_RDY)
			rc = mdv_rq_set_vlan_strip(&rxq->q.hw.rq, on);
	}
	if (rc == 0 && on)
		rxq->q.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	else if (rc == 0)
		rxq->q.offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	pthread_mutex_unlock(&rxq->q.port->lock);
	return rc;
}

void
mlxpmd_vlan_strip_queue_set(struct rte_eth_dev *eth_dev, uint16_t queue_id, int on)
{
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_rxq *rxq = eth_dev->data->rx_queues[queue_id];

	if (rxq == NULL)
		return;
	if (on && !port->mdv->caps.vlan_strip) {
		MLXPMD_LOG(ERR, "port %u: the device cannot strip VLAN tags", port->port_id);
		return;
	}
	(void)strip_set(rxq, on != 0);
}

static int
strip_set_all(struct rte_eth_dev *eth_dev, bool on)
{
	struct mlxpmd_rxq *rxq;
	uint16_t i, k;
	int rc;

	for (i = 0; i < eth_dev->data->nb_rx_queues; i++) {
		rxq = eth_dev->data->rx_queues[i];
		rc = rxq != NULL ? strip_set(rxq, on) : 0;
		if (rc == 0)
			continue;
		for (k = 0; k < i; k++)
			if (eth_dev->data->rx_queues[k] != NULL)
				(void)strip_set(eth_dev->data->rx_queues[k], !on);
		return rc;
	}
	return 0;
}

int
mlxpmd_vlan_offload_set(struct rte_eth_dev *eth_dev, int mask)
{
	uint64_t offloads = eth_dev->data->dev_conf.rxmode.offloads;
	struct mlxpmd_port *port = MLXPMD_PORT(eth_dev);
	struct mlxpmd_filter want = port->filter;
	int rc = 0;

	if (mask & RTE_ETH_VLAN_STRIP_MASK)
		rc = strip_set_all(eth_dev, (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0);
	if (rc == 0 && (mask & RTE_ETH_VLAN_FILTER_MASK)) {
		want.vlan_on = (offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0;
		rc = mlxpmd_filter_set(port, &want);
	}
	return rc;
}

/* ------------------------------------------------------------------ stage of probe */

int
mlxpmd_mac_up(struct mlxpmd_port *port)
{
	struct rte_eth_dev_data *data = port->eth_dev->data;
	int rc;

	rc = port->mdv->port->mac_get(port->mdv, port->mac.addr_bytes);
	if (rc != 0)
		return rc;
	data->mac_addrs = rte_zmalloc("mlxpmd_mac", sizeof(port->filter.mac), 0);
	if (data->mac_addrs == NULL)
		return MLXPMD_FAIL(ENOMEM, "port %u: no memory for %zu bytes of MAC addresses", port->port_id,
				   sizeof(port->filter.mac));
	port->netdev.mac_found = port->mac;
	port->filter.mac[0] = port->mac;
	data->mac_addrs[0] = port->mac;
	return 0;
}

void
mlxpmd_mac_down(struct mlxpmd_port *port)
{
	(void)netdev_mac_set(port, &port->netdev.mac_found);
	if (port->netdev.raised)
		(void)port->mdv->port->up_set(port->mdv, false);
	rte_free(port->eth_dev->data->mac_addrs);
	port->eth_dev->data->mac_addrs = NULL;
}
