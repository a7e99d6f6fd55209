/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The physical port: flow control, also of priorities, forward error correction, module, UDP ports of tunnels,
 * loopback.
 * "-- vf": of a virtual function; "-- fec": forward error correction at 200 Gb/s.
 */

#include <rte_cycles.h>
#include <rte_errno.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define TYPE_MAC_CONTROL 0x8808
#define OPCODE_PAUSE 0x0001
#define OPCODE_PFC 0x0101
/* The longest pause: 65535 quanta of 512 bits at 100 Gb/s. */
#define PAUSE_QUANTA 65535
#define PAUSE_NS (PAUSE_QUANTA * 512.0 / 100)

static int
fc_set(enum rte_eth_fc_mode mode)
{
	struct rte_eth_fc_conf conf = { .mode = mode, .high_water = 80, .low_water = 60, .pause_time = 100 };

	return rte_eth_dev_flow_ctrl_set(PORT_A, &conf);
}

static enum rte_eth_fc_mode
fc_get(void)
{
	struct rte_eth_fc_conf conf = { .mode = RTE_ETH_FC_NONE };

	CHECK_OK(rte_eth_dev_flow_ctrl_get(PORT_A, &conf));
	CHECK(conf.autoneg == 0, "autoneg");
	return conf.mode;
}

static void
refused(struct rte_eth_fc_conf conf, int err)
{
	const enum rte_eth_fc_mode before = fc_get();

	rte_errno = 0;
	CHECK(rte_eth_dev_flow_ctrl_set(PORT_A, &conf) == -err && rte_errno == err, "%d, rte_errno %d", -err, rte_errno);
	CHECK(fc_get() == before, "changed");
}

/* PORT_B sends a pause frame, as a MAC does: for these priorities, 0: for the port. */
static void
pause_send(uint8_t priorities, uint16_t quanta)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 0);
	struct rte_mbuf *m;
	rte_be16_t *data;

	f.dst = (struct rte_ether_addr){ { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 } };
	f.ether_type = TYPE_MAC_CONTROL;
	m = pmd_frame_make(&f, 0);
	CHECK(m != NULL, "no mbuf");
	data = rte_pktmbuf_mtod_offset(m, rte_be16_t *, RTE_ETHER_HDR_LEN);
	*data++ = rte_cpu_to_be_16(priorities != 0 ? OPCODE_PFC : OPCODE_PAUSE);
	if (priorities != 0)
		*data++ = rte_cpu_to_be_16(priorities);
	for (unsigned int i = 0; i < (priorities != 0 ? 8 : 1); i++)
		data[i] = rte_cpu_to_be_16(quanta);
	CHECK(AWAIT(rte_eth_tx_burst(PORT_B, 0, &m, 1) == 1, 1000), "not sent");
}

/*
 * How long a frame of PORT_A takes from before a pause frame on. A frame that follows the pause frame shows that it has
 * arrived.
 */
static double
way_ns(uint8_t priorities, uint16_t quanta)
{
	struct pmd_frame there = pmd_frame_udp(PORT_A, PORT_B, 1), behind = pmd_frame_udp(PORT_B, PORT_A, 1);
	const uint64_t begin = rte_rdtsc_precise();

	pause_send(priorities, quanta);
	CHECK(pmd_send(PORT_B, 0, &behind) == 1 && pmd_drain(PORT_A, 1, 5000, NULL) == 1, "no frame behind");
	CHECK(pmd_send(PORT_A, 0, &there) == 1, "not sent");
	CHECK(pmd_drain(PORT_B, 1, 5000, NULL) == 1, "not received");
	return (double)(rte_rdtsc_precise() - begin) * 1e9 / (double)rte_get_tsc_hz();
}

static void
pauses(void)
{
	const unsigned int tries = 20;
	uint64_t pauses, delivered;
	double ns;

	CHECK_OK(fc_set(RTE_ETH_FC_RX_PAUSE));
	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	pmd_counts_settle(PORT_A);
	pauses = pmd_xstat(PORT_A, "rx_phy_pause_packets");
	delivered = pmd_xstat(PORT_A, "rx_good_packets");
	for (unsigned int i = 0; i < tries; i++) {
		ns = way_ns(0, PAUSE_QUANTA);
		CHECK(ns >= PAUSE_NS, "sent after %.0f of %.0f ns", ns, PAUSE_NS);
	}
	CHECK(pmd_xstat(PORT_A, "rx_good_packets") == delivered + tries, "a pause frame was delivered");
	pmd_counts_settle(PORT_A);
	pauses = pmd_xstat(PORT_A, "rx_phy_pause_packets") - pauses;
	CHECK(pauses == tries, "%" PRIu64 " of %u pause frames", pauses, tries);
	/* A time of 0 ends a pause; without one a frame is faster, sooner or later also on a busy machine. */
	CHECK(AWAIT(way_ns(0, 0) < PAUSE_NS, 20000), "not faster without a pause");
	/* Not obeyed: an ordinary multicast frame. */
	CHECK_OK(fc_set(RTE_ETH_FC_TX_PAUSE));
	pause_send(0, PAUSE_QUANTA);
	CHECK(pmd_drain(PORT_A, 1, 5000, NULL) == 1, "not delivered");
	CHECK_OK(rte_eth_promiscuous_disable(PORT_A));
}

static void
flow_control(void)
{
	static const enum rte_eth_fc_mode modes[] = {
		RTE_ETH_FC_RX_PAUSE, RTE_ETH_FC_TX_PAUSE, RTE_ETH_FC_FULL, RTE_ETH_FC_NONE,
	};

	CHECK(fc_get() == RTE_ETH_FC_NONE, "mode %d", fc_get());
	for (unsigned int i = 0; i < RTE_DIM(modes); i++) {
		CHECK_OK(fc_set(modes[i]));
		CHECK(fc_get() == modes[i], "%d instead of %d", fc_get(), modes[i]);
	}
	refused((struct rte_eth_fc_conf){ .mode = RTE_ETH_FC_FULL, .autoneg = 1 }, EINVAL);
	refused((struct rte_eth_fc_conf){ .mode = RTE_ETH_FC_FULL, .mac_ctrl_frame_fwd = 1 }, ENOTSUP);
	pauses();
	CHECK_OK(fc_set(RTE_ETH_FC_NONE));
}

static int
pfc_set(uint8_t priority, enum rte_eth_fc_mode mode)
{
	struct rte_eth_pfc_conf conf = { .fc = { .mode = mode, .pause_time = 100 }, .priority = priority };

	return rte_eth_dev_priority_flow_ctrl_set(PORT_A, &conf);
}

/* The card has no pause frames for the fill of a receive queue. */
static void
by_queue(void)
{
	struct rte_eth_pfc_queue_conf conf = { .mode = RTE_ETH_FC_RX_PAUSE };
	struct rte_eth_pfc_queue_info info;

	CHECK_EQ(rte_eth_dev_priority_flow_ctrl_queue_info_get(PORT_A, &info), -ENOTSUP);
	CHECK_EQ(rte_eth_dev_priority_flow_ctrl_queue_configure(PORT_A, &conf), -ENOTSUP);
}

/* All that is sent has priority 0. The frames of priorities and those of the port exclude each other. */
static void
priorities(void)
{
	const bool possible = pmd_devarg(PORT_A, "open=vfio");
	double ns;

	rte_errno = 0;
	if (!possible) {
		CHECK(pfc_set(0, RTE_ETH_FC_RX_PAUSE) == -ENOTSUP && rte_errno == ENOTSUP, "rte_errno %d", rte_errno);
		return;
	}
	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	CHECK_OK(fc_set(RTE_ETH_FC_FULL));
	CHECK_OK(pfc_set(3, RTE_ETH_FC_RX_PAUSE));
	CHECK(fc_get() == RTE_ETH_FC_NONE, "mode %d", fc_get());
	CHECK(AWAIT(way_ns(0x09, PAUSE_QUANTA) < PAUSE_NS, 20000), "stopped by priority 0, which is not set");
	CHECK_OK(pfc_set(0, RTE_ETH_FC_FULL));
	for (unsigned int i = 0; i < 5; i++) {
		ns = way_ns(0x01, PAUSE_QUANTA);
		CHECK(ns >= PAUSE_NS, "sent after %.0f of %.0f ns", ns, PAUSE_NS);
	}
	CHECK(AWAIT(way_ns(0x01, 0) < PAUSE_NS, 20000), "not faster without a pause");
	CHECK(AWAIT(way_ns(0x08, PAUSE_QUANTA) < PAUSE_NS, 20000), "stopped by priority 3");
	CHECK_OK(pfc_set(3, RTE_ETH_FC_NONE));
	CHECK(AWAIT(way_ns(0x01, 0) < PAUSE_NS && way_ns(0x01, PAUSE_QUANTA) >= PAUSE_NS, 20000), "priority 0 ended");
	CHECK_OK(fc_set(RTE_ETH_FC_RX_PAUSE));
	pause_send(0x01, PAUSE_QUANTA);
	CHECK(pmd_drain(PORT_A, 1, 5000, NULL) == 1, "not delivered");
	CHECK_OK(fc_set(RTE_ETH_FC_NONE));
	CHECK_OK(rte_eth_promiscuous_disable(PORT_A));
}

static uint64_t
pauses_of(unsigned int priority, const char *direction, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_prio%u_%s", direction, priority, what);
	return pmd_xstat(PORT_A, name);
}

struct pauses {
	uint64_t frames, us, ends;
};

static struct pauses
pauses_read(unsigned int priority)
{
	return (struct pauses){
		.frames = pauses_of(priority, "rx", "pause"),
		.us = pauses_of(priority, "rx", "pause_duration"),
		.ends = pauses_of(priority, "rx", "pause_transition"),
	};
}

/* Three pauses of priorities 0 and 3, one that a time of 0 ends, and frames for priority 5, which is not set. */
static void
pauses_arrive(void)
{
	const uint64_t most_us = 4 * (uint64_t)(PAUSE_NS / 1000 + 1), least_us = 3 * (uint64_t)(PAUSE_NS / 1000 - 1);
	static const unsigned int priority[] = { 0, 3 };
	struct pauses before[RTE_DIM(priority)];

	pmd_counts_settle(PORT_A);
	for (unsigned int i = 0; i < RTE_DIM(priority); i++)
		before[i] = pauses_read(priority[i]);
	for (unsigned int i = 0; i < 3; i++)
		CHECK(way_ns(0x29, PAUSE_QUANTA) >= PAUSE_NS, "not stopped");
	pause_send(0x29, PAUSE_QUANTA);
	(void)way_ns(0x29, 0);
	pmd_counts_settle(PORT_A);
	for (unsigned int i = 0; i < RTE_DIM(priority); i++) {
		const struct pauses after = pauses_read(priority[i]);
		const uint64_t us = after.us - before[i].us;

		CHECK_EQ(after.frames - before[i].frames, 5);
		CHECK_EQ(after.ends - before[i].ends, 4);
		CHECK(us >= least_us && us <= most_us, "%" PRIu64 " us of %" PRIu64 " to %" PRIu64, us, least_us, most_us);
		CHECK(pauses_of(priority[i], "tx", "pause") == 0 && pauses_of(priority[i], "tx", "pause_duration") == 0,
		      "sent");
	}
}

/* A port has the counters of the priorities that have pause frames when it is probed. */
static void
pauses_count(const struct pmd_conf *conf)
{
	if (pmd_devarg(PORT_A, "open=vfio")) {
		CHECK_OK(pfc_set(0, RTE_ETH_FC_FULL));
		CHECK_OK(pfc_set(3, RTE_ETH_FC_RX_PAUSE));
	} else {
		/* Of the kernel, by an administrator. */
		CHECK_OK(emu_ctl("{\"cmd\":\"pfc\",\"port\":0,\"rx\":9,\"tx\":1}"));
	}
	CHECK_EQ(pauses_of(0, "rx", "pause"), UINT64_MAX);
	CHECK_OK(rte_eth_dev_reset(PORT_A));
	CHECK_OK(pmd_port_up(PORT_A, conf));
	CHECK_EQ(pauses_of(5, "rx", "pause"), UINT64_MAX);
	pauses_arrive();
	/* The counters stay when pause frames are turned off. */
	CHECK_OK(fc_set(RTE_ETH_FC_RX_PAUSE));
	CHECK_OK(fc_set(RTE_ETH_FC_NONE));
	pmd_counts_settle(PORT_A);
	CHECK(pauses_of(3, "rx", "pause") >= 5 && pauses_of(3, "rx", "pause") != UINT64_MAX, "not kept");
}

static bool
link_is_up(void)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(PORT_A, &link) == 0 && link.link_status;
}

static void
fec_refused(uint32_t capa, int err)
{
	rte_errno = 0;
	CHECK(rte_eth_fec_set(PORT_A, capa) == -err && rte_errno == err, "0x%x: rte_errno %d", capa, rte_errno);
}

/* The mode that the port has after a mode was set, which also makes a new link. */
static uint32_t
fec_after(uint32_t capa)
{
	uint32_t mode = 0;

	CHECK_OK(rte_eth_fec_set(PORT_A, capa));
	CHECK(AWAIT(link_is_up(), 5000), "no link");
	CHECK_OK(rte_eth_fec_get(PORT_A, &mode));
	return mode;
}

/* Modes by speed; through verbs those of all speeds, with the speed of the link. */
static uint32_t
fec_capabilities(uint32_t mbps)
{
	const bool vfio = pmd_devarg(PORT_A, "open=vfio");
	struct rte_eth_fec_capa capa[16] = { { 0 } };
	uint32_t all = 0;
	int n = rte_eth_fec_get_capability(PORT_A, NULL, 0), i;

	CHECK(vfio ? n > 1 : n == 1, "%d speeds", n);
	CHECK_EQ(rte_eth_fec_get_capability(PORT_A, capa, n - 1), n);
	CHECK_EQ(capa[0].capa, 0);
	CHECK_EQ(rte_eth_fec_get_capability(PORT_A, capa, RTE_DIM(capa)), n);
	for (i = 0; i < n; i++) {
		CHECK(i == 0 || capa[i].speed > capa[i - 1].speed, "%u Mb/s again", capa[i].speed);
		CHECK((capa[i].capa & RTE_ETH_FEC_MODE_CAPA_MASK(AUTO)) != 0, "no selection");
		all |= capa[i].capa;
	}
	CHECK_EQ(capa[n - 1].speed, mbps);
	CHECK_EQ(all, 0xf);
	return capa[n - 1].capa;
}

/*
 * The link of 100 Gb/s has lanes of 25 Gb/s, with RS or without; that of 200 Gb/s always has RS. BASER is one of slower
 * links: this one then selects by itself.
 */
static void
fec(uint32_t mbps)
{
	const uint32_t off = RTE_ETH_FEC_MODE_CAPA_MASK(NOFEC), rs = RTE_ETH_FEC_MODE_CAPA_MASK(RS);
	const uint32_t all = RTE_ETH_FEC_MODE_CAPA_MASK(AUTO), baser = RTE_ETH_FEC_MODE_CAPA_MASK(BASER);
	const uint32_t modes = fec_capabilities(mbps), without = mbps == 100000 ? off : rs;
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 0);
	uint32_t mode = 0;

	CHECK(!pmd_devarg(PORT_A, "open=vfio") || modes == (all | rs | without), "0x%x", modes);
	CHECK_EQ(fec_after(all), rs);
	CHECK_EQ(fec_after(off), without);
	CHECK(pmd_arrives(&f), "no traffic");
	CHECK_EQ(fec_after(baser), rs);
	CHECK_EQ(fec_after(off), without);
	CHECK_EQ(fec_after(rs), rs);
	CHECK_EQ(rte_eth_fec_set(PORT_A, 0), -EINVAL);
	fec_refused(off | rs, EINVAL);
	fec_refused(RTE_BIT32(9), EINVAL);
	fec_refused(all | rs, ENOTSUP);
	/* Of a link that is down what was set; a set does not bring it up. */
	CHECK_OK(rte_eth_dev_set_link_down(PORT_A));
	CHECK_OK(rte_eth_fec_set(PORT_A, baser));
	CHECK_OK(rte_eth_fec_get(PORT_A, &mode));
	CHECK_EQ(mode, baser);
	CHECK_OK(rte_eth_fec_set(PORT_A, all));
	CHECK_OK(rte_eth_fec_get(PORT_A, &mode));
	CHECK_EQ(mode, all);
	CHECK(!link_is_up(), "a link");
	CHECK_OK(rte_eth_dev_set_link_up(PORT_A));
	CHECK(AWAIT(link_is_up(), 5000), "no link");
	CHECK(pmd_arrives(&f), "no traffic");
}

static uint8_t
sum(const uint8_t *from, unsigned int bytes)
{
	uint8_t total = 0;

	while (bytes-- != 0)
		total += *from++;
	return total;
}

static void
module_part(const uint8_t *whole, uint32_t offset, uint32_t length)
{
	uint8_t part[RTE_ETH_MODULE_SFF_8636_MAX_LEN + 1];
	struct rte_dev_eeprom_info info = { .data = part, .offset = offset, .length = length };

	memset(part, 0xa5, sizeof(part));
	CHECK_OK(rte_eth_dev_get_module_eeprom(PORT_A, &info));
	CHECK(memcmp(part, whole + offset, length) == 0 && part[length] == 0xa5, "%u bytes at %u", length, offset);
}

/* The emulated cable: fields of SFF-8636, table 6-14, and their sums. */
static void
module(void)
{
	uint8_t whole[RTE_ETH_MODULE_SFF_8636_MAX_LEN] = { 0 };
	struct rte_dev_eeprom_info info = { .data = whole, .length = sizeof(whole) };
	struct rte_eth_dev_module_info type;

	CHECK_OK(rte_eth_dev_get_module_info(PORT_A, &type));
	CHECK(type.type == RTE_ETH_MODULE_SFF_8636 && type.eeprom_len == sizeof(whole), "type %u, %u bytes", type.type,
	      type.eeprom_len);
	CHECK_OK(rte_eth_dev_get_module_eeprom(PORT_A, &info));
	CHECK(whole[0] == 0x11 && whole[128] == 0x11, "identifiers 0x%02x, 0x%02x", whole[0], whole[128]);
	CHECK(memcmp(whole + 148, "mlxemu          ", 16) == 0, "vendor %.16s", whole + 148);
	CHECK(memcmp(whole + 196, "EMU00000000     ", 16) == 0, "serial number %.16s", whole + 196);
	CHECK(sum(whole + 128, 63) == whole[191] && sum(whole + 192, 31) == whole[223], "sums");
	module_part(whole, 130, 61);
	module_part(whole, 0, 640);
	module_part(whole, 100, 300);
	module_part(whole, 639, 1);
	info = (struct rte_dev_eeprom_info){ .data = whole, .offset = 600, .length = 41 };
	CHECK(rte_eth_dev_get_module_eeprom(PORT_A, &info) == -EINVAL, "beyond the end");
}

/* A frame that PORT_A sends comes back, whatever its address; the cable carries nothing. */
static void
loopback_traffic(void)
{
	struct pmd_frame own = pmd_frame_udp(PORT_A, PORT_A, 0), other = pmd_frame_udp(PORT_A, PORT_B, 0);
	struct pmd_frame there = pmd_frame_udp(PORT_B, PORT_A, 0);
	const uint64_t sent = pmd_xstat(PORT_B, "rx_good_packets");

	CHECK(pmd_send(PORT_B, 0, &there) == 1 && pmd_send(PORT_A, 0, &own) == 1, "not sent");
	CHECK(pmd_drain(PORT_A, 1, 5000, NULL) == 1, "did not come back");
	CHECK(pmd_send(PORT_A, 0, &other) == 1 && pmd_send(PORT_A, 0, &own) == 1, "not sent");
	CHECK(pmd_drain(PORT_A, 1, 5000, NULL) == 1, "did not come back");
	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	CHECK(pmd_send(PORT_A, 0, &other) == 1, "not sent");
	CHECK(pmd_drain(PORT_A, 1, 5000, NULL) == 1, "did not come back");
	CHECK(pmd_drain(PORT_A, 1, 0, NULL) == 0, "a frame of the cable");
	CHECK_OK(rte_eth_promiscuous_disable(PORT_A));
	CHECK(pmd_xstat(PORT_B, "rx_good_packets") == sent, "arrived at the other end");
}

/* Twice: a stop ends the mode. The kernel's driver and a PF keep the link for themselves. */
static void
loopback(struct pmd_conf conf, bool possible)
{
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 0);

	for (unsigned int i = 0; i < 2; i++) {
		pmd_port_down(PORT_A);
		conf.loopback = true;
		if (!possible) {
			CHECK_EQ(pmd_port_configure(PORT_A, &conf), -ENOTSUP);
		} else {
			CHECK_OK(pmd_port_up(PORT_A, &conf));
			CHECK(AWAIT(link_is_up(), 5000), "no link");
			loopback_traffic();
			pmd_port_down(PORT_A);
		}
		conf.loopback = false;
		CHECK_OK(pmd_port_up(PORT_A, &conf));
		CHECK(AWAIT(link_is_up(), 5000), "no link");
		CHECK(pmd_arrives(&f), "no traffic after loopback");
	}
}

static int
tunnel_add(uint8_t type, uint16_t udp_port)
{
	struct rte_eth_udp_tunnel tunnel = { .udp_port = udp_port, .prot_type = type };

	return rte_eth_dev_udp_tunnel_port_add(PORT_A, &tunnel);
}

static void
tunnels(void)
{
	CHECK_OK(tunnel_add(RTE_ETH_TUNNEL_TYPE_VXLAN, 4789));
	CHECK_OK(tunnel_add(RTE_ETH_TUNNEL_TYPE_VXLAN_GPE, 4790));
	CHECK_OK(tunnel_add(RTE_ETH_TUNNEL_TYPE_GENEVE, 6081));
	CHECK(tunnel_add(RTE_ETH_TUNNEL_TYPE_VXLAN, 4790) == -ENOTSUP && rte_errno == ENOTSUP, "VXLAN at 4790");
	CHECK(tunnel_add(RTE_ETH_TUNNEL_TYPE_TEREDO, 3544) == -ENOTSUP && rte_errno == ENOTSUP, "TEREDO");
}

static void
virtual_function(void)
{
	uint32_t mode;

	CHECK_EQ(pfc_set(0, RTE_ETH_FC_FULL), -ENOTSUP);
	CHECK_EQ(pauses_of(0, "rx", "pause"), UINT64_MAX);
	refused((struct rte_eth_fc_conf){ .mode = RTE_ETH_FC_FULL }, ENOTSUP);
	CHECK(fc_get() == RTE_ETH_FC_NONE, "mode %d", fc_get());
	fec_refused(RTE_ETH_FEC_MODE_CAPA_MASK(AUTO), ENOTSUP);
	CHECK_EQ(rte_eth_fec_get_capability(PORT_A, NULL, 0), -ENOTSUP);
	CHECK_EQ(rte_eth_fec_get(PORT_A, &mode), -ENOTSUP);
}

int
main(int argc, char **argv)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = 256 };
	struct pmd_frame f;

	pmd_init(argc, argv);
	pmd_ports_up(&conf);
	f = pmd_frame_udp(PORT_B, PORT_A, 0);
	CHECK(pmd_arrives(&f), "no traffic");
	if (strcmp(argv[argc - 1], "fec") == 0) {
		fec(200000);
		pmd_ports_down();
		return pmd_fini();
	}
	if (strcmp(argv[argc - 1], "vf") == 0) {
		virtual_function();
	} else {
		flow_control();
		by_queue();
		priorities();
		pauses_count(&conf);
		fec(100000);
		module();
		tunnels();
	}
	loopback(conf, strcmp(argv[argc - 1], "vf") != 0 && pmd_devarg(PORT_A, "open=vfio"));
	pmd_ports_down();
	return pmd_fini();
}
