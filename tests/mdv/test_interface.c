/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A network interface that changes at run time: statistics appear and disappear, reading fails, another interface
  * takes its name.
 *
 * The program's own ioctl() replaces that of libc and modifies the kernel's reply. A fault rule refuses the
  * registers, so that the physical counters come from the interface.
 */

#include <dlfcn.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <rte_eal.h>

#include "mdv_test.h"

/** Modifications of the interface. */
static struct {
	bool more;		/**< One more statistic, before all others. */
	const char *without;	/**< The statistic of this name gets another name. */
	int fails;		/**< errno of each request for statistics. */
	bool replaced;		/**< Another interface has taken the name. */
	bool absent;		/**< The interface is in another network namespace. */
} changes;

static void
change_names(struct ethtool_gstrings *s)
{
	char *names = (char *)s->data;

	for (uint32_t i = 0; changes.without != NULL && i < s->len; i++)
		if (strcmp(&names[i * ETH_GSTRING_LEN], changes.without) == 0)
			names[i * ETH_GSTRING_LEN] = 'X';
	if (!changes.more)
		return;
	memmove(names + ETH_GSTRING_LEN, names, (size_t)s->len * ETH_GSTRING_LEN);
	memset(names, 0, ETH_GSTRING_LEN);
	strcpy(names, "ptp_cq0_something");
	s->len++;
}

static void
change_values(struct ethtool_stats *s)
{
	if (!changes.more)
		return;
	memmove(&s->data[1], &s->data[0], s->n_stats * sizeof(s->data[0]));
	s->data[0] = 0xdeadbeef;
	s->n_stats++;
}

static void
change(unsigned long request, struct ifreq *ifr)
{
	uint32_t *cmd = (uint32_t *)ifr->ifr_data;

	if (request == SIOCGIFINDEX && changes.replaced)
		ifr->ifr_ifindex++;
	if (request != SIOCETHTOOL)
		return;
	if (*cmd == ETHTOOL_GSSET_INFO)
		((struct ethtool_sset_info *)(void *)cmd)->data[0] += changes.more;
	else if (*cmd == ETHTOOL_GSTRINGS)
		change_names((struct ethtool_gstrings *)(void *)cmd);
	else if (*cmd == ETHTOOL_GSTATS)
		change_values((struct ethtool_stats *)(void *)cmd);
}

int
ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	const bool netdev = request == SIOCETHTOOL || request == SIOCGIFINDEX;
	va_list ap;
	void *arg;
	int rc;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == SIOCETHTOOL && changes.fails != 0) {
		errno = changes.fails;
		return -1;
	}
	if (request == SIOCGIFINDEX && changes.absent) {
		errno = ENODEV;
		return -1;
	}
	rc = next(fd, request, arg);
	if (rc == 0 && netdev)
		change(request, arg);
	return rc;
}

static unsigned int
counter_at(struct mdv_dev *dev, const char *name)
{
	unsigned int i;

	for (i = 0; i < mdv_counters_count(dev) && strcmp(mdv_counter_name(dev, i), name) != 0; i++)
		;
	CHECK(i < mdv_counters_count(dev));
	return i;
}

static void
statistics_move(struct mdv_dev *dev)
{
	uint64_t before[MDV_COUNTERS_MAX] = { 0 }, after[MDV_COUNTERS_MAX] = { 0 };
	unsigned int n = mdv_counters_count(dev), symbols = counter_at(dev, "rx_phy_symbol_errors");

	CHECK_EQ(mdv_counters_read(dev, before, n), 0);
	log_begin();
	changes.more = true;
	CHECK_EQ(mdv_counters_read(dev, after, n), 0);
	CHECK(memcmp(before, after, n * sizeof(before[0])) == 0);
	/* One of the statistics that are read disappears. */
	changes.more = false;
	changes.without = "rx_symbol_err_phy";
	CHECK_EQ(mdv_counters_read(dev, after, n), 0);
	CHECK_EQ(after[symbols], before[symbols]);
	CHECK(memcmp(before, after, n * sizeof(before[0])) == 0);
	changes.without = NULL;
	changes.more = true;
	CHECK_EQ(mdv_counters_read(dev, after, n), 0);
	changes.more = false;
	CHECK_EQ(mdv_counters_read(dev, after, n), 0);
	CHECK(memcmp(before, after, n * sizeof(before[0])) == 0);
	CHECK_EQ(lines_of(log_end()), 0);
}

/* The last values stay, and one line is logged. */
static void
statistics_fail(struct mdv_dev *dev)
{
	uint64_t before[MDV_COUNTERS_MAX] = { 0 }, after[MDV_COUNTERS_MAX] = { 0 };
	unsigned int n = mdv_counters_count(dev);

	CHECK_EQ(mdv_counters_read(dev, before, n), 0);
	log_begin();
	changes.fails = ENODEV;
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(mdv_counters_read(dev, after, n), -ENODEV);
		CHECK(memcmp(before, after, n * sizeof(before[0])) == 0);
	}
	CHECK_EQ(lines_with(log_end(), "ENODEV"), 1);
	changes.fails = 0;
	log_begin();
	CHECK_EQ(mdv_counters_read(dev, after, n), 0);
	changes.fails = EOPNOTSUPP;
	CHECK_EQ(mdv_counters_read(dev, after, n), -EOPNOTSUPP);
	CHECK_EQ(lines_with(log_end(), "EOPNOTSUPP"), 1);
	changes.fails = 0;
}

/* An interface of another device is neither changed nor read. */
static void
replaced(struct mdv_dev *dev)
{
	static const char *const what[] = {
		"set the MTU", "set the address", "read the flags", "join a multicast address", "read the flags",
		"leave a multicast address", "read the flags",
	};
	uint32_t speed, modes[MDV_LINK_MODE_WORDS];
	uint16_t mtu = 0, seen = 0;
	const char *text;
	uint8_t mac[6];
	bool up = false, was_up;

	REQUIRE(dev->port->mtu_get(dev, &mtu) == 0 && dev->port->up_get(dev, &was_up) == 0);
	REQUIRE(dev->port->mac_get(dev, mac) == 0);
	changes.replaced = true;
	log_begin();
	CHECK_EQ(dev->port->mtu_set(dev, mtu + 100), -ENODEV);
	CHECK_EQ(dev->port->mac_set(dev, (const uint8_t[6]) { 2, 0, 0, 0, 0, 1 }), -ENODEV);
	CHECK_EQ(dev->port->promisc_set(dev, true), -ENODEV);
	CHECK_EQ(dev->port->mcast(dev, (const uint8_t[6]) { 1, 0, 0x5e, 0, 0, 1 }, true), -ENODEV);
	CHECK_EQ(dev->port->up_set(dev, !was_up), -ENODEV);
	CHECK_EQ(dev->port->mcast(dev, (const uint8_t[6]) { 1, 0, 0x5e, 0, 0, 1 }, false), -ENODEV);
	CHECK_EQ(dev->port->up_set(dev, was_up), -ENODEV);
	text = log_end();
	CHECK_EQ(lines_of(text), RTE_DIM(what));
	for (size_t i = 0; i < RTE_DIM(what); i++) {
		char line[128];

		snprintf(line, sizeof(line), "interface %s refused to %s: ENODEV", dev->netdev_name, what[i]);
		CHECK(lines_with(text, line) == 1 + (strcmp(what[i], "read the flags") == 0) * 2, "%s: %s", line, text);
	}
	CHECK_EQ(dev->port->running(dev, &up), -ENODEV);
	CHECK_EQ(mdv_ethtool_link(dev, &speed, modes), -ENODEV);
	changes.replaced = false;
	CHECK_EQ(dev->port->mtu_get(dev, &seen), 0);
	CHECK_EQ(seen, mtu);
	CHECK(dev->port->up_get(dev, &up) == 0 && up == was_up);
	CHECK(mdv_alive(dev));
}

/* Without an interface the device opens; what needs the interface is not supported. */
static void
absent(const struct rte_pci_addr *pci)
{
	uint32_t speed, modes[MDV_LINK_MODE_WORDS];
	struct mdv_dev *dev;
	uint16_t mtu;
	bool up;

	changes.absent = true;
	log_begin();
	REQUIRE(mdv_open(pci, MDV_OPEN_VERBS, &dev) == 0);
	changes.absent = false;
	CHECK_EQ(dev->netdev_name[0], '\0');
	CHECK_EQ(dev->port->mtu_get(dev, &mtu), -ENOTSUP);
	CHECK_EQ(dev->port->running(dev, &up), -ENOTSUP);
	CHECK_EQ(dev->port->ucast(dev, (const uint8_t[6]) { 2, 0, 0, 0, 0, 1 }, true), -ENOTSUP);
	CHECK_EQ(mdv_ethtool_link(dev, &speed, modes), -ENOTSUP);
	/* At level notice the default is not to log it. */
	CHECK_EQ(lines_with(log_end(), "the port has no interface here"), 1);
	mdv_close(dev);
}

int
main(void)
{
	char *eal[] = { (char[]) { "mdv_interface" }, (char[]) { "--no-huge" }, (char[]) { "-m128" },
			(char[]) { "--no-pci" }, (char[]) { "--no-shconf" }, (char[]) { "--no-telemetry" },
			(char[]) { "-l0" }, NULL };
	struct rte_pci_addr pci, other;
	struct mdv_dev *dev;

	if (rte_eal_init(RTE_DIM(eal) - 1, eal) < 0 || test_device(0, &pci) != 0 || test_device(1, &other) != 0 ||
	    mdv_open(&pci, MDV_OPEN_VERBS, &dev) != 0) {
		fprintf(stderr, "no device\n");
		return 2;
	}
	statistics_move(dev);
	statistics_fail(dev);
	replaced(dev);
	absent(&other);
	mdv_close(dev);
	rte_eal_cleanup();
	return check_exit("interface");
}
