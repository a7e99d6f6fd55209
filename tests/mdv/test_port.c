/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The port's interface and clock. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "mdv_test.h"

void
test_port_mac(struct mdv_dev *dev)
{
	static const uint8_t other[6] = { 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee };
	uint8_t mac[6], seen[6];

	REQUIRE(dev->port->mac_get(dev, mac) == 0);
	CHECK((mac[0] & 1) == 0);
	CHECK(memcmp(mac, "\0\0\0\0\0\0", 6) != 0);
	CHECK_EQ(dev->port->mac_set(dev, other), 0);
	CHECK_EQ(dev->port->mac_get(dev, seen), 0);
	CHECK(memcmp(seen, other, 6) == 0);
	CHECK_EQ(dev->port->mac_set(dev, mac), 0);
	CHECK_EQ(dev->port->mac_get(dev, seen), 0);
	CHECK(memcmp(seen, mac, 6) == 0);
}

static void
check_mtu(struct mdv_dev *dev)
{
	uint16_t mtu, seen;

	REQUIRE(dev->port->mtu_get(dev, &mtu) == 0);
	CHECK_EQ(dev->port->mtu_set(dev, 9000), 0);
	CHECK_EQ(dev->port->mtu_get(dev, &seen), 0);
	CHECK_EQ(seen, 9000);
	log_begin();
	CHECK(dev->port->mtu_set(dev, 60000) < 0);
	CHECK_EQ(lines_with(log_end(), dev->netdev_name), 1);
	CHECK_EQ(dev->port->mtu_set(dev, mtu), 0);
	CHECK(dev->caps.max_mtu >= 9000);
}

static void
check_modes(struct mdv_dev *dev)
{
	static const uint8_t group[6] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };

	for (int on = 1; on >= 0; on--) {
		CHECK_EQ(dev->port->promisc_set(dev, on), 0);
		CHECK_EQ(dev->port->promisc_set(dev, on), 0);
		CHECK_EQ(dev->port->allmulti_set(dev, on), 0);
	}
	CHECK_EQ(dev->port->mcast(dev, group, true), 0);
	CHECK_EQ(dev->port->mcast(dev, group, false), 0);
}

/** Ports 0 and 1 are a pair: the link is up if both are. */
static void
check_link(struct mdv_dev *dev)
{
	struct mdv_link link = { 0 };

	CHECK_EQ(dev->port->up_set(dev, true), 0);
	CHECK_EQ(dev->port->link(dev, &link), 0);
	CHECK_EQ(link.speed_mbps, test_speed_mbps(dev));
	CHECK(link.up);
	CHECK_EQ(dev->port->up_set(dev, false), 0);
	CHECK_EQ(dev->port->link(dev, &link), 0);
	CHECK(!link.up);
	CHECK_EQ(dev->port->up_set(dev, true), 0);
	CHECK_EQ(dev->port->link(dev, &link), 0);
	CHECK(link.up);
}

/** A device whose interface is out of reach: each call logs one line and returns -ENOTSUP. */
static void
check_no_interface(struct mdv_dev *dev)
{
	int sock = dev->netdev_sock;
	uint8_t mac[6], permanent[6] = { 0 };
	uint16_t mtu;

	CHECK_EQ(dev->port->mac_get(dev, mac), 0);
	dev->netdev_sock = -1;
	log_begin();
	CHECK_EQ(dev->port->mtu_get(dev, &mtu), -ENOTSUP);
	CHECK_EQ(dev->port->promisc_set(dev, true), -ENOTSUP);
	CHECK_EQ(dev->port->mac_set(dev, mac), -ENOTSUP);
	CHECK_EQ(dev->port->mac_get(dev, permanent), 0);
	CHECK_EQ(lines_with(log_end(), "the port has no interface here"), 3);
	dev->netdev_sock = sock;
	/* No permanent change of the address was made, so the vport has the address of the interface. */
	CHECK(memcmp(mac, permanent, 6) == 0);
}

void
test_port(struct mdv_dev *dev)
{
	REQUIRE(dev->netdev_name[0] != '\0' && dev->netdev_sock >= 0);
	test_port_mac(dev);
	check_mtu(dev);
	check_modes(dev);
	check_link(dev);
	check_no_interface(dev);
}

/* ------------------------------------------------------------------ clock */

/** Independent reference: 128 bits, before and after the point. */
static uint64_t
reference_ns(const struct mdv_clock_point *p, uint64_t cycles)
{
	uint64_t delta = (cycles - p->cycles) & p->mask;
	__uint128_t scaled;

	if (delta <= p->mask / 2) {
		scaled = (__uint128_t)delta * p->mult + p->frac;
		return p->ns + (uint64_t)(scaled >> p->shift);
	}
	delta = (p->cycles - cycles) & p->mask;
	scaled = (__uint128_t)delta * p->mult - p->frac;
	return p->ns - (uint64_t)(scaled >> p->shift);
}

/** Over the whole window the point and mlx5dv_ts_to_ns() agree to the nanosecond. */
static void
check_point(struct mdv_dev *dev)
{
	struct mlx5dv_clock_info info;
	struct mdv_clock_point p;

	REQUIRE(mdv_clock_read(dev, &p) == 0);
	CHECK(p.window_cycles > 0);
	CHECK(p.window_cycles <= p.mask / 2);
	CHECK(p.window_cycles <= (UINT64_MAX - p.frac) / p.mult);
	info = (struct mlx5dv_clock_info){ .nsec = p.ns, .last_cycles = p.cycles, .frac = p.frac,
					   .mult = p.mult, .shift = p.shift, .mask = p.mask };
	for (uint64_t d = 1; d <= p.window_cycles; d = d * 3 + 1) {
		CHECK_EQ(mlx5dv_ts_to_ns(&info, p.cycles + d), reference_ns(&p, p.cycles + d));
		CHECK_EQ(mlx5dv_ts_to_ns(&info, p.cycles - d), reference_ns(&p, p.cycles - d));
	}
}

/** The counter runs at the reported frequency, and the page converts it to wall time. */
static void
check_running(struct mdv_dev *dev)
{
	const double cycles_per_s = dev->caps.device_frequency_khz * 1e3;
	uint64_t a, b, tsc_a, tsc_b;
	struct mdv_clock_point p;
	struct timespec now;
	double seconds;
	int64_t off_ns;

	REQUIRE(mdv_clock_raw(dev, &a) == 0);
	tsc_a = rte_get_tsc_cycles();
	pass_us(200 * 1000); /* The period in which the rate is measured. */
	REQUIRE(mdv_clock_raw(dev, &b) == 0);
	tsc_b = rte_get_tsc_cycles();
	seconds = (double)(tsc_b - tsc_a) / rte_get_tsc_hz();
	CHECK(b > a);
	/* A fifth is enough for the tick of a page and a busy machine; a wrong unit is far outside. */
	CHECK((b - a) / seconds > cycles_per_s * 0.8);
	CHECK((b - a) / seconds < cycles_per_s * 1.2);
	REQUIRE(mdv_clock_read(dev, &p) == 0);
	clock_gettime(CLOCK_REALTIME, &now);
	off_ns = (int64_t)(now.tv_sec * 1000000000ull + now.tv_nsec - reference_ns(&p, b));
	CHECK(off_ns > -1000000000ll && off_ns < 1000000000ll);
}

void
test_clock(struct mdv_dev *dev)
{
	CHECK(dev->caps.ts_free_running);
	CHECK(dev->caps.device_frequency_khz > 0);
	for (int i = 0; i < 100; i++)
		check_point(dev);
	check_running(dev);
}
