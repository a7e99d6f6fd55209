/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Addresses, RSS, steering, link and MTU on a device in memory (control_sim.h): each request of an operation fails in
 * turn, and then device and port are as they were before. Limits, and what reaches the device.
 */

#include "control_sim.h"

static struct rte_ether_addr own = { { 0x02, 0, 0, 0, 0, 0x0a } };
static struct rte_ether_addr second = { { 0x02, 0, 0, 0, 0, 0x0b } };
static struct rte_ether_addr third = { { 0x02, 0, 0, 0, 0, 0x0c } };
static struct rte_ether_addr groups[4] = {
	{ { 0x01, 0, 0x5e, 0, 0, 1 } }, { { 0x01, 0, 0x5e, 0, 0, 2 } }, { { 0x01, 0, 0x5e, 0, 0, 3 } },
	{ { 0x01, 0, 0x5e, 0, 0, 4 } },
};
static const struct rte_ether_addr broadcast = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };

/* ------------------------------------------------------------------ what an operation may not change if it fails */

struct state {
	struct sim_device device;
	struct mlxpmd_filter filter;
	struct rte_ether_addr mac;
	uint8_t rss_key[MLXPMD_RSS_KEY_BYTES];
	uint64_t rss_hf, offloads[SIM_QUEUES];
	uint16_t reta[MLXPMD_RETA_MAX];
	bool steer;
	int allocated;
};

static void
state_take(struct state *s)
{
	memset(s, 0, sizeof(*s));
	s->device = device;
	s->filter = port.filter;
	s->mac = port.mac;
	memcpy(s->rss_key, port.rss_key, sizeof(s->rss_key));
	s->rss_hf = port.rss_hf;
	for (unsigned int i = 0; i < SIM_QUEUES; i++)
		s->offloads[i] = rxqs[i].q.offloads;
	memcpy(s->reta, port.reta, sizeof(s->reta));
	s->steer = port.steer != NULL;
	s->allocated = allocated;
}

static bool
state_same(const struct state *a, const struct state *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* ------------------------------------------------------------------ each request fails in turn */

static int
mac_add(void)
{
	return mlxpmd_mac_addr_add(&eth_dev, &third, 2, 0);
}

static int
mac_set(void)
{
	return mlxpmd_mac_addr_set(&eth_dev, &third);
}

static int
promisc(void)
{
	return mlxpmd_promiscuous_enable(&eth_dev);
}

static int
promisc_off(void)
{
	return mlxpmd_promiscuous_disable(&eth_dev);
}

static int
allmulti(void)
{
	return mlxpmd_allmulticast_enable(&eth_dev);
}

static int
allmulti_off(void)
{
	return mlxpmd_allmulticast_disable(&eth_dev);
}

/* The interface's list is full: the first two make room for the others. */
static int
mc_list(void)
{
	return mlxpmd_set_mc_addr_list(&eth_dev, &groups[2], 2);
}

static int
vlan_filter(void)
{
	data.dev_conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	return mlxpmd_vlan_offload_set(&eth_dev, RTE_ETH_VLAN_FILTER_MASK);
}

static int
vlan_strip(void)
{
	data.dev_conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	return mlxpmd_vlan_offload_set(&eth_dev, RTE_ETH_VLAN_STRIP_MASK);
}

static int
vlan_id(void)
{
	return mlxpmd_vlan_filter_set(&eth_dev, 7, 1);
}

static int
mtu(void)
{
	return mlxpmd_mtu_set(&eth_dev, 1400);
}

static int
link_down(void)
{
	return mlxpmd_link_down(&eth_dev);
}

static int
restart(void)
{
	port_stop();
	return port_start();
}

static int
mac_up(void)
{
	data.mac_addrs = NULL;
	return mlxpmd_mac_up(&port);
}

/* What an application requested before. */
static void
prepare_lists(void)
{
	mdv.mcast_max = 2;
	CHECK_OK(mlxpmd_mac_addr_add(&eth_dev, &second, 1, 0));
	CHECK_OK(mlxpmd_set_mc_addr_list(&eth_dev, groups, 2));
}

static void
prepare_vlan(void)
{
	prepare_lists();
	CHECK_OK(vlan_filter());
}

static void
prepare_modes(void)
{
	prepare_lists();
	CHECK_OK(promisc());
	CHECK_OK(allmulti());
}

static const struct operation {
	const char *name;
	void (*prepare)(void);
	int (*run)(void);
	unsigned int rss, no_rss;	/**< Requests. */
} operations[] = {
	/* A set of rules: one for each class that has a TIR. The others are requests of the interface, and memory. */
	{ "mac add", prepare_lists, mac_add, 1 + 1 + 7, 1 + 1 + 1 },
	{ "mac set", prepare_lists, mac_set, 1 + 1 + 7, 1 + 1 + 1 },
	{ "promiscuous", prepare_lists, promisc, 1 + 1 + 7, 1 + 1 + 1 },
	{ "promiscuous off", prepare_modes, promisc_off, 1 + 1 + 3 * 7, 1 + 1 + 3 },
	{ "allmulticast", prepare_lists, allmulti, 1 + 1 + 7, 1 + 1 + 1 },
	{ "allmulticast off", prepare_modes, allmulti_off, 1 + 1, 1 + 1 },
	{ "multicast list", prepare_lists, mc_list, 4 + 1 + 2 * 7, 4 + 1 + 2 },
	{ "VLAN filter", prepare_lists, vlan_filter, 1 + 5 * 7, 1 + 5 },
	{ "VLAN strip", prepare_lists, vlan_strip, 2 * SIM_QUEUES, 2 * SIM_QUEUES },
	{ "VLAN id", prepare_vlan, vlan_id, 1 + 5 * 7, 1 + 5 },
	{ "hash", prepare_lists, port_hash, 6, 0 },
	{ "RETA", prepare_lists, port_reta, 2, 1 },
	{ "MTU", prepare_lists, mtu, 1, 1 },
	{ "link down", prepare_lists, link_down, 1, 1 },
};

static int
failing(const struct operation *op, bool rss, unsigned int k, struct state *before)
{
	int rc;

	port_up(rss);
	op->prepare();
	state_take(before);
	log_begin();
	rte_errno = 0;
	sim_arm(k, ENOMEM);
	rc = op->run();
	sim_disarm();
	port_unlocked();
	return rc;
}

static void
each_request(const struct operation *op, bool rss)
{
	const unsigned int requests = rss ? op->rss : op->no_rss;
	static struct state before, after, done;
	int rc;

	(void)failing(op, rss, requests, &before);
	CHECK(sim_hit == NULL && sim_requests == requests, "%s: %u requests", op->name, sim_requests);
	state_take(&done);
	port_down();
	for (unsigned int k = 0; k < requests; k++) {
		rc = failing(op, rss, k, &before);
		CHECK(rc == -ENOMEM && rte_errno == ENOMEM && sim_hit != NULL, "%s, %s: %d", op->name, sim_hit, rc);
		state_take(&after);
		CHECK(state_same(&before, &after), "%s, %s %u: not as before", op->name, sim_hit, k);
		/* The driver's own failures; those of the common layer are logged there. */
		CHECK(log_lines == (strcmp(sim_hit, "ucast") == 0 || strcmp(sim_hit, "calloc") == 0), "%s: %s", sim_hit,
		      log_text);
		CHECK_OK(op->run());
		state_take(&after);
		CHECK(state_same(&done, &after), "%s, %s: the second time", op->name, sim_hit);
		port_down();
	}
}

static void
test_failures(void)
{
	for (size_t i = 0; i < RTE_DIM(operations); i++) {
		each_request(&operations[i], true);
		each_request(&operations[i], false);
	}
}

/* A start that fails leaves nothing, and the interface as it was; it may stay up. */
static void
test_start_failures(void)
{
	static struct state before, after;
	unsigned int k = 0;
	int rc;

	do {
		port_up(true);
		prepare_lists();
		CHECK_OK(allmulti());
		port_stop();
		device.up = false;
		state_take(&before);
		log_begin();
		sim_arm(k, ENOMEM);
		rc = port_start();
		sim_disarm();
		CHECK(rc == (sim_hit != NULL ? -ENOMEM : 0) && (rc == 0 || rte_errno == ENOMEM), "%s: %d", sim_hit, rc);
		state_take(&after);
		CHECK_EQ(port.netdev.raised, after.device.up);
		after.device.up = false;
		CHECK_EQ(state_same(&before, &after), rc != 0);
		if (rc != 0)
			CHECK(log_lines == (strcmp(sim_hit, "ucast") == 0 || strcmp(sim_hit, "calloc") == 0), "%s: %s",
			      sim_hit, log_text);
		port_down();
		/* It goes down again with the port that brought it up. */
		CHECK(!device.up);
	} while (sim_hit != NULL && k++ < 100);
	/* The interface's six; memory, two tables, seven TIRs; memory, the rules of three addresses. */
	CHECK_EQ(k, 6 + 1 + 2 + 7 + 1 + 3 * 7);
	port_up(true);
	CHECK(!port.netdev.raised);
	CHECK_OK(restart());
	port_down();
	CHECK(device.up);
}

static void
test_probe_failures(void)
{
	for (unsigned int k = 0; k < 2; k++) {
		sim_reset();
		sim_arm(k, ENOMEM);
		CHECK_EQ(mac_up(), -ENOMEM);
		sim_disarm();
		CHECK(data.mac_addrs == NULL && allocated == 0);
		CHECK_EQ(log_errors, k);
	}
	CHECK(strstr(log_text, "no memory for 768 bytes of MAC addresses") != NULL, "%s", log_text);
	sim_arm(0, EIO);
	CHECK_EQ(mlxpmd_mtu_remember(&port), -EIO);
	sim_disarm();
	CHECK(!port.netdev.mtu_known);
}

/* ------------------------------------------------------------------ addresses */

static void
test_addresses(void)
{
	struct rte_ether_addr many[MLXPMD_MAX_MC_ADDRS + 1], addr = second;

	port_up(true);
	CHECK(rte_is_same_ether_addr(&data.mac_addrs[0], &own) && rte_is_zero_ether_addr(&data.mac_addrs[127]));
	CHECK(sim_matches(own.addr_bytes, UNTAGGED) == 7 && sim_matches(own.addr_bytes, 7) == 7);
	CHECK(sim_matches(second.addr_bytes, UNTAGGED) == 0 && sim_matches(groups[0].addr_bytes, UNTAGGED) == 0);
	CHECK_EQ(sim_matches(broadcast.addr_bytes, UNTAGGED), 7);
	/* The last place, and one beyond. */
	CHECK_OK(mlxpmd_mac_addr_add(&eth_dev, &second, 127, 0));
	CHECK(sim_matches(second.addr_bytes, UNTAGGED) == 7 && device.uc.n == 1);
	CHECK_EQ(mlxpmd_mac_addr_add(&eth_dev, &third, 128, 0), -EINVAL);
	CHECK(strstr(log_text, "address 02:00:00:00:00:0C at 128, pool 0: allowed are unicast, below 128, pool 0") != NULL,
	      "%s", log_text);
	CHECK_EQ(mlxpmd_mac_addr_add(&eth_dev, &third, 2, 1), -EINVAL);
	CHECK_EQ(mlxpmd_mac_addr_add(&eth_dev, &groups[0], 2, 0), -EINVAL);
	CHECK(rte_errno == EINVAL && log_errors == 3 && sim_matches(third.addr_bytes, UNTAGGED) == 0);
	/* The first address and places beyond the last are not removed. */
	CHECK_OK(mlxpmd_set_mc_addr_list(&eth_dev, groups, 1));
	mlxpmd_mac_addr_remove(&eth_dev, 0);
	mlxpmd_mac_addr_remove(&eth_dev, 128);
	CHECK(sim_matches(own.addr_bytes, UNTAGGED) == 7 && sim_matches(second.addr_bytes, UNTAGGED) == 7);
	CHECK(device.mc.n == 1 && sim_matches(groups[0].addr_bytes, UNTAGGED) == 7);
	CHECK_OK(mlxpmd_set_mc_addr_list(&eth_dev, NULL, 0));
	/* Without memory it is removed with the next change. */
	sim_arm(1, ENOMEM);
	mlxpmd_mac_addr_remove(&eth_dev, 127);
	sim_disarm();
	CHECK_STR(sim_hit, "calloc");
	CHECK_EQ(sim_matches(second.addr_bytes, UNTAGGED), 7);
	CHECK_OK(allmulti());
	CHECK(sim_matches(second.addr_bytes, UNTAGGED) == 0 && device.uc.n == 0);
	CHECK(sim_matches(groups[3].addr_bytes, UNTAGGED) == 7 && sim_matches(broadcast.addr_bytes, UNTAGGED) == 7);
	CHECK(device.allmulti && !device.promisc);
	CHECK_OK(allmulti_off());
	CHECK_OK(promisc());
	CHECK(device.promisc && !device.allmulti && sim_matches(third.addr_bytes, 7) == 7 && device.rules == 7);
	CHECK_OK(promisc_off());
	/* The address that is set already: no request. */
	sim_arm(0, EIO);
	CHECK_OK(mlxpmd_mac_addr_set(&eth_dev, &own));
	CHECK(sim_hit == NULL);
	sim_disarm();
	CHECK_OK(mlxpmd_mac_addr_set(&eth_dev, &addr));
	CHECK(sim_matches(second.addr_bytes, UNTAGGED) == 7 && sim_matches(own.addr_bytes, UNTAGGED) == 0);
	CHECK(memcmp(device.mac, &second, 6) == 0 && rte_is_same_ether_addr(&port.mac, &second));
	/* Groups: up to the limit of the interface, each once. */
	log_begin();
	for (unsigned int i = 0; i < RTE_DIM(many); i++)
		many[i] = (struct rte_ether_addr){ { 0x01, 0, 0x5e, 0, 1, i } };
	for (mdv.mcast_max = 0; mdv.mcast_max < 400; mdv.mcast_max += 127) {
		unsigned int max = mdv.mcast_max == 127 ? 127 : 128;

		CHECK_OK(mlxpmd_set_mc_addr_list(&eth_dev, many, max));
		CHECK_EQ(device.mc.n, max);
		CHECK_EQ(mlxpmd_set_mc_addr_list(&eth_dev, many, max + 1), -ENOSPC);
		CHECK_EQ(rte_errno, ENOSPC);
		CHECK(strstr(log_text, max == 127 ? "128 multicast addresses: allowed are up to 127" :
				       "129 multicast addresses: allowed are up to 128") != NULL, "%s", log_text);
	}
	CHECK_OK(mlxpmd_set_mc_addr_list(&eth_dev, NULL, 0));
	many[1] = many[0];
	many[2] = broadcast;
	CHECK_OK(mlxpmd_set_mc_addr_list(&eth_dev, many, 3));
	CHECK(device.mc.n == 2 && sim_matches(broadcast.addr_bytes, UNTAGGED) == 7 && device.rules == 3 * 7);
	CHECK_EQ(mlxpmd_set_mc_addr_list(&eth_dev, &second, 1), -EINVAL);
	CHECK(strstr(log_text, "02:00:00:00:00:0B is no multicast address") != NULL, "%s", log_text);
	CHECK_EQ(device.mc.n, 2);
	port_down();
}

/* An interface that takes no further address becomes promiscuous; the rules still select. */
static void
test_refused_address(void)
{
	static const int fatal[] = { EMFILE, ENFILE, ENOMEM };

	for (size_t i = 0; i < RTE_DIM(fatal); i++) {
		port_up(true);
		sim_arm(0, fatal[i]);
		CHECK_EQ(mac_add(), -fatal[i]);
		CHECK_EQ(rte_errno, fatal[i]);
		CHECK(log_errors == 1 && strstr(log_text, "cannot add an address to the interface's list") != NULL, "%s",
		      log_text);
		CHECK(!device.promisc && device.uc.n == 0 && sim_matches(third.addr_bytes, UNTAGGED) == 0);
		port_down();
	}
	port_up(true);
	for (unsigned int round = 1; round <= 2; round++) {
		sim_arm(0, EOPNOTSUPP);
		CHECK_OK(mac_add());
		CHECK_STR(sim_hit, "ucast");
		sim_disarm();
		CHECK(device.promisc && device.uc.n == 0 && sim_matches(third.addr_bytes, UNTAGGED) == 7);
		CHECK_EQ(sim_matches(second.addr_bytes, UNTAGGED), 0);
		CHECK(log_lines == 1 && log_notices == 1, "%s", log_text);
		mlxpmd_mac_addr_remove(&eth_dev, 2);
		CHECK(!device.promisc && sim_matches(third.addr_bytes, UNTAGGED) == 0);
	}
	/* An address that is there is not added again. */
	CHECK_OK(mac_add());
	CHECK_OK(mlxpmd_mac_addr_add(&eth_dev, &second, 1, 0));
	CHECK(device.uc.n == 2 && !device.promisc);
	mlxpmd_mac_addr_remove(&eth_dev, 2);
	CHECK_EQ(device.uc.n, 1);
	CHECK(memcmp(device.uc.addr[0], &second, 6) == 0);
	port_down();
}

/* What a virtual function cannot know is logged once. */
static void
test_vf_notice(void)
{
	static const struct {
		bool vf, sf;
		int (*run)(void);
		const char *line;
	} row[] = {
		{ false, false, promisc, NULL }, { false, true, promisc, NULL },
		{ true, false, promisc, "only if its PF trusts it: ip link set dev PF vf N trust on" },
		{ true, false, allmulti, "only if its PF trusts it: ip link set dev PF vf N trust on" },
		{ true, true, promisc, "of a sub-function do not change" },
		{ true, true, allmulti, "of a sub-function do not change" },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		port_up(true);
		mdv.caps.vf = row[i].vf;
		mdv.sf = row[i].sf;
		CHECK_OK(mac_add());
		CHECK_EQ(log_lines, 0);
		CHECK_OK(row[i].run());
		CHECK(log_notices == (row[i].line != NULL) && log_lines == log_notices, "row %zu: %s", i, log_text);
		if (row[i].line != NULL)
			CHECK(strstr(log_text, row[i].line) != NULL, "%s", log_text);
		CHECK_OK(promisc_off());
		CHECK_OK(allmulti_off());
		CHECK_OK(promisc());
		CHECK_OK(allmulti());
		CHECK_EQ(log_lines, row[i].line != NULL);
		port_down();
	}
}

/* Its owner controls an interface of another network namespace. */
static void
test_not_owned(void)
{
	sim_reset();
	owned = false;
	CHECK_OK(mlxpmd_mac_up(&port));
	CHECK_OK(mlxpmd_mtu_remember(&port));
	CHECK_OK(mlxpmd_rss_configure(&port));
	CHECK_OK(port_start());
	CHECK(log_lines == 1 && strstr(log_text, "no kernel interface here: its owner controls link and filters") != NULL,
	      "%s", log_text);
	prepare_lists();
	CHECK_OK(promisc());
	CHECK(device.rules == 7 && sim_matches(third.addr_bytes, UNTAGGED) == 7);
	log_begin();
	data.mtu = 1400;
	CHECK_OK(mlxpmd_mtu_apply(&port));
	CHECK(log_lines == 1 && strstr(log_text, "MTU 1400 is not enforced by the device") != NULL, "%s", log_text);
	CHECK_EQ(mlxpmd_mtu_set(&eth_dev, 1400), -ENOTSUP);
	CHECK(rte_errno == ENOTSUP && log_errors == 1);
	port_down();
}

/* ------------------------------------------------------------------ VLANs */

static void
test_vlans(void)
{
	port_up(true);
	prepare_vlan();
	CHECK(sim_matches(own.addr_bytes, UNTAGGED) == 7 && sim_matches(own.addr_bytes, 0) == 0);
	for (unsigned int id = 0; id <= 4095; id += 4095) {
		CHECK_OK(mlxpmd_vlan_filter_set(&eth_dev, id, 1));
		CHECK(sim_matches(own.addr_bytes, id) == 7 && sim_matches(own.addr_bytes, 1) == 0);
		CHECK_EQ(sim_matches(third.addr_bytes, id), 0);
	}
	CHECK_OK(mlxpmd_vlan_filter_set(&eth_dev, 0, 0));
	CHECK(sim_matches(own.addr_bytes, 0) == 0 && sim_matches(own.addr_bytes, 4095) == 7);
	CHECK_EQ(mlxpmd_vlan_filter_set(&eth_dev, 4096, 1), -EINVAL);
	CHECK(rte_errno == EINVAL && strstr(log_text, "VLAN id 4096: allowed are 0..4095") != NULL, "%s", log_text);
	/* Stripping alone leaves the filter, and the filter alone leaves stripping. */
	data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	CHECK_OK(mlxpmd_vlan_offload_set(&eth_dev, RTE_ETH_VLAN_STRIP_MASK));
	CHECK(device.strip[0] && device.strip[3] && sim_matches(own.addr_bytes, 1) == 0);
	data.dev_conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	CHECK_OK(mlxpmd_vlan_offload_set(&eth_dev, RTE_ETH_VLAN_FILTER_MASK));
	CHECK(device.strip[0] && device.strip[3] && sim_matches(own.addr_bytes, 1) == 7);
	data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	CHECK_OK(mlxpmd_vlan_offload_set(&eth_dev, RTE_ETH_VLAN_STRIP_MASK));
	CHECK(!device.strip[0] && !device.strip[3]);
	port_down();
}

/* Addresses times VLANs: the last set that is allowed, and one more. */
static void
test_keys_limit(void)
{
	struct rte_ether_addr list[2] = { groups[0], groups[1] };

	port_up(false);
	CHECK_OK(vlan_filter());
	/* Own address and broadcast, each without a tag and with 511 VLANs. */
	port_stop();
	for (unsigned int id = 0; id < 511; id++)
		CHECK_OK(mlxpmd_vlan_filter_set(&eth_dev, 4095 - id, 1));
	CHECK_OK(port_start());
	CHECK_EQ(device.rules, 1024);
	CHECK_EQ(mlxpmd_vlan_filter_set(&eth_dev, 1, 1), -ENOSPC);
	CHECK(log_lines == 1 && log_errors == 1 && strstr(log_text, "addresses times VLANs: allowed are up to 1024") != NULL,
	      "%s", log_text);
	CHECK_EQ(device.rules, 1024);
	CHECK_EQ(sim_matches(own.addr_bytes, 1), 0);
	/* 5 addresses times 205 are one more than allowed. */
	port_stop();
	for (unsigned int id = 0; id < 511 - 203; id++)
		CHECK_OK(mlxpmd_vlan_filter_set(&eth_dev, 4095 - id, 0));
	CHECK_OK(port_start());
	CHECK_OK(mlxpmd_set_mc_addr_list(&eth_dev, list, 2));
	CHECK_OK(mlxpmd_mac_addr_add(&eth_dev, &second, 1, 0));
	CHECK_EQ(device.rules, 5 * 204);
	CHECK_EQ(mlxpmd_vlan_filter_set(&eth_dev, 1, 1), -ENOSPC);
	CHECK_EQ(device.rules, 5 * 204);
	CHECK_OK(allmulti());
	CHECK_EQ(device.rules, 3 * 204);
	port_down();
}

/* Stripping of a queue, by its state and by the state that the device reports. */
static void
test_strip(void)
{
	static const struct {
		uint8_t state;
		enum mdv_queue_state wq;
		bool written;
	} row[] = {
		{ MLXPMD_QS_READY, MDV_QS_RDY, true },	   { MLXPMD_QS_READY, MDV_QS_ERR, false },
		{ MLXPMD_QS_QUIESCING, MDV_QS_RDY, true }, { MLXPMD_QS_RESET, MDV_QS_RDY, false },
		{ MLXPMD_QS_ERROR, MDV_QS_RDY, false },	   { MLXPMD_QS_QUIESCED, MDV_QS_RDY, false },
		{ MLXPMD_QS_REPAIR, MDV_QS_RDY, false },   { MLXPMD_QS_FAILED, MDV_QS_RDY, false },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		port_up(true);
		rxqs[1].q.state = row[i].state;
		rxqs[1].q.hw.rq.wq.state = row[i].wq;
		rxqs[1].q.offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
		for (int on = 1; on >= 0; on--) {
			device.strip[1] = !on;
			mlxpmd_vlan_strip_queue_set(&eth_dev, 1, on);
			CHECK(device.strip[1] == (row[i].written ? on : !on), "row %zu", i);
			CHECK_EQ(rxqs[1].q.offloads,
				 RTE_ETH_RX_OFFLOAD_TIMESTAMP | (on ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0));
			port_unlocked();
		}
		CHECK_EQ(log_lines, 0);
		port_down();
	}
	port_up(true);
	/* A failure keeps the offload, and a queue that is not set up is passed over. */
	for (unsigned int k = 0; k < 2; k++) {
		sim_arm(k, EIO);
		mlxpmd_vlan_strip_queue_set(&eth_dev, 2, 1);
		CHECK(sim_hit != NULL && rxqs[2].q.offloads == 0 && !device.strip[2]);
		sim_disarm();
	}
	data.rx_queues[1] = NULL;
	mlxpmd_vlan_strip_queue_set(&eth_dev, 1, 1);
	sim_arm(4, EIO);
	CHECK_EQ(vlan_strip(), -EIO);
	sim_disarm();
	CHECK(!device.strip[0] && !device.strip[2] && !device.strip[3]);
	CHECK(rxqs[0].q.offloads == 0 && rxqs[2].q.offloads == 0 && rxqs[3].q.offloads == 0);
	CHECK_OK(vlan_strip());
	CHECK(device.strip[0] && !device.strip[1] && device.strip[2] && device.strip[3]);
	CHECK_EQ(log_lines, 0);
	mdv.caps.vlan_strip = false;
	mlxpmd_vlan_strip_queue_set(&eth_dev, 0, 0);
	CHECK(!device.strip[0] && log_lines == 0);
	mlxpmd_vlan_strip_queue_set(&eth_dev, 0, 1);
	CHECK(!device.strip[0] && log_errors == 1 && strstr(log_text, "the device cannot strip VLAN tags") != NULL, "%s",
	      log_text);
	data.rx_queues[1] = &rxqs[1];
	port_down();
}

int
main(void)
{
	test_probe_failures();
	test_failures();
	test_start_failures();
	test_addresses();
	test_refused_address();
	test_vf_notice();
	test_not_owned();
	test_vlans();
	test_keys_limit();
	test_strip();
	tests_rss();
	return check_exit("control");
}
