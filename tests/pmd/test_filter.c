/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Rx filters: a port receives only the frames that its addresses, promiscuous mode and VLAN filter select. */

/*
 * With -- untrusted, PORT_A is a virtual function that its PF does not trust: promiscuous and all-multicast mode have
 * no effect, and addresses work by the lists of the vport.
 */

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pmd_test.h"

static bool trusted = true, vf_by_vfio;

static const struct rte_ether_addr foreign = { { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 } };
static const struct rte_ether_addr second = { { 0x02, 0x00, 0x00, 0x00, 0x00, 0x02 } };
static const struct rte_ether_addr third = { { 0x02, 0x00, 0x00, 0x00, 0x00, 0x03 } };
static const struct rte_ether_addr group_a = { { 0x01, 0x00, 0x5e, 0x00, 0x00, 0x0a } };
static const struct rte_ether_addr group_b = { { 0x33, 0x33, 0x00, 0x00, 0x00, 0x0b } };
static const struct rte_ether_addr broadcast = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };

/* Whether PORT_A receives frames to dst (NULL: its own address) with this VLAN. Each kind has own steering rules. */
static bool
arrives(const struct rte_ether_addr *dst, int vlan)
{
	static const struct { uint16_t type; uint8_t proto; } kinds[] = {
		{ RTE_ETHER_TYPE_IPV4, IPPROTO_UDP }, { RTE_ETHER_TYPE_IPV4, IPPROTO_TCP },
		{ RTE_ETHER_TYPE_IPV4, IPPROTO_ICMP }, { RTE_ETHER_TYPE_IPV6, IPPROTO_UDP },
		{ RTE_ETHER_TYPE_IPV6, IPPROTO_TCP }, { RTE_ETHER_TYPE_IPV6, 99 }, { 0x88b5, 0 },
	};
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 7);
	unsigned int i, n = 0;

	if (dst != NULL)
		f.dst = *dst;
	f.vlan = vlan;
	f.bytes = 80;
	for (i = 0; i < RTE_DIM(kinds); i++) {
		f.ether_type = kinds[i].type;
		f.proto = kinds[i].proto;
		n += pmd_arrives(&f);
	}
	CHECK(n == 0 || n == RTE_DIM(kinds), "%u of %zu kinds received", n, RTE_DIM(kinds));
	return n == RTE_DIM(kinds);
}

/* Addresses in the list of PORT_A's interface, as `bridge fdb show` reads them; -1: no interface, or no reply. */
static int
interface_addresses(void)
{
	struct {
		struct nlmsghdr hdr;
		struct ndmsg ndm;
	} request = {
		.hdr = { .nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETNEIGH,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.ndm.ndm_family = AF_BRIDGE,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), n = 0;
	struct rte_eth_dev_info info;
	struct nlmsghdr *hdr;
	char buf[16384];
	ssize_t bytes;

	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	request.ndm.ndm_ifindex = info.if_index;
	if (info.if_index == 0 || send(fd, &request, sizeof(request), 0) != sizeof(request))
		n = -1;
	for (bool done = n < 0; !done;) {
		bytes = recv(fd, buf, sizeof(buf), 0);
		done = bytes <= 0;
		for (hdr = (struct nlmsghdr *)buf; NLMSG_OK(hdr, bytes); hdr = NLMSG_NEXT(hdr, bytes)) {
			done |= hdr->nlmsg_type == NLMSG_DONE || hdr->nlmsg_type == NLMSG_ERROR;
			n += hdr->nlmsg_type == RTM_NEWNEIGH;
		}
	}
	close(fd);
	return n;
}

static void
unicast(void)
{
	struct rte_ether_addr own, addr;
	int before = interface_addresses(), added = before < 0 ? 0 : 1;

	CHECK(before >= 0 || pmd_devarg(PORT_A, "open=vfio"), "the interface's list cannot be read");
	CHECK(arrives(NULL, -1), "own address");
	CHECK(!arrives(&foreign, -1), "foreign address");
	CHECK(arrives(&broadcast, -1), "broadcast");

	addr = second;
	CHECK_OK(rte_eth_dev_mac_addr_add(PORT_A, &addr, 0));
	CHECK(arrives(&second, -1), "second address");
	CHECK_EQ(interface_addresses(), before + added);
	CHECK(!arrives(&foreign, -1), "foreign address with a second one set");
	CHECK_OK(rte_eth_dev_mac_addr_remove(PORT_A, &addr));
	CHECK_EQ(interface_addresses(), before);
	CHECK(!arrives(&second, -1), "second address, removed");

	CHECK_OK(rte_eth_macaddr_get(PORT_A, &own));
	addr = third;
	CHECK_OK(rte_eth_dev_default_mac_addr_set(PORT_A, &addr));
	CHECK(arrives(&third, -1), "new default address");
	CHECK(!arrives(&own, -1), "old default address");
	CHECK_OK(rte_eth_dev_default_mac_addr_set(PORT_A, &own));
	CHECK(arrives(&own, -1), "own address again");
	CHECK(!arrives(&third, -1), "previous default address");
	addr = group_a;
	CHECK(rte_eth_dev_default_mac_addr_set(PORT_A, &addr) < 0, "group address as default");
	CHECK_EQ(rte_eth_dev_mac_addr_add(PORT_A, &addr, 0), -EINVAL);
	addr = second;
	CHECK_EQ(rte_eth_dev_mac_addr_add(PORT_A, &addr, 3), -EINVAL);
	/* As many as there is room for, and not one more. */
	for (int i = 1; i <= 128; i++) {
		addr = (struct rte_ether_addr){ { 0x02, 0, 0, 0, 2, i } };
		CHECK_EQ(rte_eth_dev_mac_addr_add(PORT_A, &addr, 0), i < 128 ? 0 : -ENOSPC);
	}
	CHECK_EQ(interface_addresses(), before + 127 * added);
	addr.addr_bytes[5] = 127;
	CHECK(arrives(&addr, -1), "last of 128 addresses");
	for (int i = 1; i < 128; i++) {
		addr = (struct rte_ether_addr){ { 0x02, 0, 0, 0, 2, i } };
		CHECK_OK(rte_eth_dev_mac_addr_remove(PORT_A, &addr));
	}
	CHECK_EQ(interface_addresses(), before);
	CHECK(!arrives(&addr, -1), "last address, removed");
}

static void
multicast(void)
{
	struct rte_ether_addr list[2] = { group_a, group_b }, many[200];
	unsigned int i, max = vf_by_vfio ? 127 : 128; /* The list of a virtual function has broadcast, too. */

	CHECK(!arrives(&group_a, -1), "group not in the list");
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, list, 2));
	CHECK(arrives(&group_a, -1), "first group");
	CHECK(arrives(&group_b, -1), "second group");
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, &list[1], 1));
	CHECK(!arrives(&group_a, -1), "first group, removed");
	CHECK(arrives(&group_b, -1), "second group, kept");
	CHECK_OK(rte_eth_allmulticast_enable(PORT_A));
	CHECK(arrives(&group_a, -1) == trusted, "all multicast");
	CHECK(arrives(&broadcast, -1), "broadcast with all multicast");
	CHECK(!arrives(&foreign, -1), "foreign address with all multicast");
	CHECK_OK(rte_eth_allmulticast_disable(PORT_A));
	CHECK(!arrives(&group_a, -1), "all multicast off");
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, NULL, 0));
	CHECK(!arrives(&group_b, -1), "list emptied");
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, &list[1], 1));
	CHECK(arrives(&group_b, -1), "the same group again");
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, NULL, 0));

	list[0] = second;
	CHECK_EQ(rte_eth_dev_set_mc_addr_list(PORT_A, list, 1), -EINVAL); /* Unicast. */
	for (i = 0; i < RTE_DIM(many); i++)
		many[i] = (struct rte_ether_addr){ { 0x01, 0, 0x5e, 1, 1, i } };
	CHECK_EQ(rte_eth_dev_set_mc_addr_list(PORT_A, many, RTE_DIM(many)), -ENOSPC);
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, many, max));
	CHECK(arrives(&many[max - 1], -1), "last of %u groups", max);
	for (i = 0; i < max; i++)
		many[i].addr_bytes[3] = 2;
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, many, max));
	CHECK(arrives(&many[max - 1], -1), "last of %u others", max);
	CHECK_OK(rte_eth_dev_set_mc_addr_list(PORT_A, NULL, 0));
}

static void
promiscuous(void)
{
	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	CHECK(rte_eth_promiscuous_get(PORT_A) == 1, "state");
	CHECK(arrives(&foreign, -1) == trusted, "foreign address");
	CHECK(arrives(&group_a, -1) == trusted, "group");
	CHECK(arrives(NULL, 100), "VLAN");
	CHECK_OK(rte_eth_promiscuous_disable(PORT_A));
	CHECK(!arrives(&foreign, -1), "foreign address afterwards");
}

/* The configuration is kept across a stop and start. */
static void
restart(void)
{
	struct rte_ether_addr addr = second;

	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK(arrives(&foreign, -1) == trusted, "promiscuous after a restart");
	CHECK_OK(rte_eth_promiscuous_disable(PORT_A));
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_mac_addr_add(PORT_A, &addr, 0));
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK(arrives(&second, -1), "address added while stopped");
	CHECK(!arrives(&foreign, -1), "foreign address after a restart");
	CHECK_OK(rte_eth_dev_mac_addr_remove(PORT_A, &addr));
}

static void
vlans(const struct pmd_conf *conf)
{
	struct pmd_conf vlan_conf = *conf;

	CHECK(arrives(NULL, 100), "VLAN without a filter");
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	vlan_conf.rx_offloads |= RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	CHECK_OK(pmd_port_up(PORT_A, &vlan_conf));
	CHECK(!arrives(NULL, 100), "VLAN not in the filter");
	CHECK_OK(rte_eth_dev_vlan_filter(PORT_A, 100, 1));
	CHECK_OK(rte_eth_dev_vlan_filter(PORT_A, 4095, 1));
	CHECK(arrives(NULL, 100), "VLAN 100 in the filter");
	CHECK(arrives(NULL, 4095), "VLAN 4095 in the filter");
	CHECK(arrives(&broadcast, 100), "broadcast in VLAN 100");
	CHECK(!arrives(NULL, 101), "VLAN 101 not in the filter");
	CHECK(!arrives(&foreign, 100), "foreign address in VLAN 100");
	CHECK(arrives(NULL, -1), "untagged");
	CHECK_OK(rte_eth_dev_vlan_filter(PORT_A, 100, 0));
	CHECK(!arrives(NULL, 100), "VLAN 100 removed");
	CHECK(rte_eth_dev_vlan_filter(PORT_A, 4096, 1) < 0, "VLAN 4096");
	CHECK_OK(rte_eth_dev_set_vlan_offload(PORT_A, 0));
	CHECK(arrives(NULL, 101), "filter switched off");
	CHECK_OK(rte_eth_dev_set_vlan_offload(PORT_A, RTE_ETH_VLAN_FILTER_OFFLOAD));
	CHECK(!arrives(NULL, 101), "filter switched on again");
	CHECK(arrives(NULL, 4095), "VLAN 4095 still in the filter");
}

/* A tagged frame is received without its tag if stripping is on, else unchanged. */
static void
strip_check(int on)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 7);
	struct rte_mbuf *m;

	f.vlan = 0x6123;
	CHECK(pmd_send(PORT_B, 0, &f) == 1, "not sent");
	if (pmd_recv(PORT_A, 0, &m, 1, 2000) != 1) {
		CHECK(false, "frame not received, strip %d", on);
		return;
	}
	CHECK(((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) == on, "flags %#" PRIx64, m->ol_flags);
	CHECK(m->pkt_len == f.bytes - (on ? 4u : 0u), "%u bytes", m->pkt_len);
	CHECK(!on || m->vlan_tci == f.vlan, "tci %#x", m->vlan_tci);
	rte_pktmbuf_free(m);
}

static void
strip(void)
{
	int on;

	CHECK_OK(rte_eth_dev_set_vlan_offload(PORT_A, 0));
	for (on = 0; on < 3; on++) {
		CHECK_OK(rte_eth_dev_set_vlan_strip_on_queue(PORT_A, 0, on & 1));
		strip_check(on & 1);
	}
	/* A change while the queue or the port is stopped takes effect at the start. */
	for (on = 1; on >= 0; on--) {
		CHECK_OK(rte_eth_dev_rx_queue_stop(PORT_A, 0));
		CHECK_OK(rte_eth_dev_set_vlan_strip_on_queue(PORT_A, 0, on));
		CHECK_OK(rte_eth_dev_rx_queue_start(PORT_A, 0));
		strip_check(on);
	}
	for (on = 1; on >= 0; on--) {
		CHECK_OK(rte_eth_dev_stop(PORT_A));
		CHECK_OK(rte_eth_dev_set_vlan_strip_on_queue(PORT_A, 0, on));
		CHECK_OK(rte_eth_dev_start(PORT_A));
		strip_check(on);
	}
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP |
				 RTE_ETH_RSS_TCP };
	unsigned int round;

	pmd_init(argc, argv);
	trusted = strcmp(argv[argc - 1], "untrusted") != 0;
	for (int i = 1; i < argc && !trusted; i++)
		vf_by_vfio |= strstr(argv[i], "open=vfio") != NULL;
	/* With RSS each traffic class has its own TIR; without RSS all share one. */
	for (round = 0; round < 2; round++) {
		pmd_ports_up(&conf);
		unicast();
		multicast();
		promiscuous();
		restart();
		vlans(&conf);
		strip();
		pmd_ports_down();
		conf.rss_hf = 0;
	}
	return pmd_fini();
}
