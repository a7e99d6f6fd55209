/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The common layer on a device opened through VFIO.
 *
 * mdv_vfio all ADDRESS       everything that works without the kernel's driver
 * mdv_vfio closed ADDRESS    the function is not bound to vfio-pci: opening fails and logs the reason
 * mdv_vfio host ADDRESS      each call that takes a descriptor or a thread fails in turn while it is opened, and closed
 * mdv_vfio reopen ADDRESS    opens three times; one of them may fail
 * mdv_vfio refused ADDRESS   fault rules refuse the third CREATE_EQ, and DESTROY_EQ once
 * mdv_vfio busy ADDRESS      while one mode has it open, the other fails, also in another process
 * mdv_vfio held ADDRESS      another process has it open: both modes fail
 * mdv_vfio table ADDRESS     the card refuses the entry in its table of addresses
 * mdv_vfio ordering ADDRESS  a card with relaxed ordering of writes, but not of reads
 * mdv_vfio removal ADDRESS COMMAND   the shell command removes the device, or makes it fail
 * mdv_vfio waiting ADDRESS [COMMAND]   the same while commands are under way; by a fault rule without COMMAND
 * mdv_vfio overrun ADDRESS COMMAND   the shell command generates more events than the queue can hold
 * mdv_vfio closing ADDRESS   a fault rule removes the device while it is closed
 */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>

#include <mdv_async.h>

#include <mdv_vfio.h>

#include "mdv_test.h"

/* A wake-up that has not come within this time is lost, however busy the machine is. */
#define WAKE_MS 20000

static struct mdv_dev *
open_vfio(const char *address)
{
	return test_open_by(address, MDV_OPEN_VFIO);
}

/* ------------------------------------------------------------------ properties */

static void
test_opened(struct mdv_dev *dev)
{
	unsigned int major, minor, sub;

	CHECK_EQ(dev->mode, MDV_OPEN_VFIO);
	CHECK(strcmp(dev->ibdev_name, "mlx5_vfio") == 0);
	CHECK_EQ(dev->netdev_name[0], '\0');
	CHECK_EQ(sscanf(dev->fw_version, "%u.%u.%u", &major, &minor, &sub), 3);
	CHECK(dev->caps.pci_device_id >= 0x1013);
	CHECK_EQ(dev->caps.num_ports, 1);
	CHECK(dev->caps.access_reg_user);
	CHECK(dev->caps.max_mtu >= 9000);
	CHECK(mdv_port_owned(dev));
	CHECK_EQ(dev->refused, 0);
	CHECK(mdv_alive(dev));
}

/* ------------------------------------------------------------------ the port */

/** Creating a channel for asynchronous queries fails without a log line, because the driver has an alternative. */
static void
test_no_async(struct mdv_dev *dev)
{
	struct mdv_async *async = (void *)dev;

	log_begin();
	CHECK_EQ(mdv_async_open(dev, &async), -EOPNOTSUPP);
	CHECK_EQ(lines_of(log_end()), 0);
	CHECK(async == NULL);
}

static void
check_mtu(struct mdv_dev *dev)
{
	uint16_t mtu, seen;

	REQUIRE(dev->port->mtu_get(dev, &mtu) == 0);
	CHECK(mtu >= 1500);
	CHECK_EQ(dev->port->mtu_set(dev, 9000), 0);
	CHECK_EQ(dev->port->mtu_get(dev, &seen), 0);
	CHECK_EQ(seen, 9000);
	log_begin();
	CHECK_EQ(dev->port->mtu_set(dev, 60000), -EINVAL);
	CHECK_EQ(dev->port->mtu_set(dev, 60), -EINVAL);
	CHECK_EQ(lines_with(log_end(), "out of range"), 2);
	CHECK_EQ(dev->port->mtu_set(dev, mtu), 0);
}

static void
vport(struct mdv_dev *dev, bool *all, bool *mc)
{
	struct prm_query_nic_vport_context_out out = {0};
	const struct prm_nic_vport_context *ctx =
		prm_query_nic_vport_context_out_nic_vport_context_c(&out);

	REQUIRE(mdv_vport_query(dev, &out) == 0);
	*all = prm_nic_vport_context_get_promisc_all(ctx);
	*mc = prm_nic_vport_context_get_promisc_mc(ctx);
}

static void
check_modes(struct mdv_dev *dev)
{
	bool all = true, mc = true;

	CHECK_EQ(dev->port->promisc_set(dev, true), 0);
	vport(dev, &all, &mc);
	CHECK(all && !mc);
	CHECK_EQ(dev->port->allmulti_set(dev, true), 0);
	vport(dev, &all, &mc);
	CHECK(all && mc);
	CHECK_EQ(dev->port->promisc_set(dev, false), 0);
	vport(dev, &all, &mc);
	CHECK(!all && mc);
	CHECK_EQ(dev->port->allmulti_set(dev, false), 0);
	vport(dev, &all, &mc);
	CHECK(!all && !mc);
}

static void
check_mcast(struct mdv_dev *dev)
{
	uint8_t group[6] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x00 };

	for (group[5] = 0; group[5] < 8; group[5]++)
		CHECK_EQ(dev->port->mcast(dev, group, true), 0);
	group[5] = 3;
	CHECK_EQ(dev->port->mcast(dev, group, true), 0);
	CHECK_EQ(dev->port->mcast(dev, group, false), 0);
	log_begin();
	CHECK_EQ(dev->port->mcast(dev, group, false), -EADDRNOTAVAIL);
	CHECK_EQ(lines_with(log_end(), "is not in the list"), 1);
	for (group[5] = 0; group[5] < 8; group[5]++)
		if (group[5] != 3)
			CHECK_EQ(dev->port->mcast(dev, group, false), 0);
}

/* On a card that functions share: the port's entry of its table has the address of the port. */
static void
check_table(struct mdv_dev *dev)
{
	struct prm_query_l2_table_entry_in in = { 0 };
	struct prm_query_l2_table_entry_out out;
	uint8_t mac[6];

	if (dev->caps.log_max_l2_table == 0)
		return;
	CHECK_EQ(dev->port->mac_get(dev, mac), 0);
	prm_query_l2_table_entry_in_set_opcode(&in, PRM_CMD_OP_QUERY_L2_TABLE_ENTRY);
	prm_query_l2_table_entry_in_set_table_index(&in, dev->vfio->l2_index);
	CHECK_EQ(mlx5dv_devx_general_cmd(dev->ibv, &in, sizeof(in), &out, sizeof(out)), 0);
	CHECK(memcmp((uint8_t *)prm_query_l2_table_entry_out_mac_address(&out)->dw + 2, mac, 6) == 0);
}

static void
check_addresses(struct mdv_dev *dev)
{
	static const uint8_t other[6] = { 0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee };
	uint8_t mac[6];

	check_table(dev);
	CHECK_EQ(dev->port->mac_get(dev, mac), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(dev->port->mac_set(dev, i % 2 == 0 ? other : mac), 0);
		check_table(dev);
	}
}

static void
test_vfio_port(struct mdv_dev *dev)
{
	test_port_mac(dev);
	check_addresses(dev);
	check_mtu(dev);
	check_modes(dev);
	check_mcast(dev);
}

/* ------------------------------------------------------------------ link and events */

static bool
readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, ms);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* The descriptor becomes readable, an event is reported, and the state agrees with it. */
static void
check_link_to(struct mdv_dev *dev, bool up)
{
	struct mdv_link link = { 0 };
	bool running = !up, admin = !up;

	CHECK_EQ(dev->port->up_set(dev, up), 0);
	CHECK(readable(mdv_event_fd(dev), WAKE_MS));
	CHECK_EQ(mdv_events_take(dev), MDV_EVENT_LINK);
	CHECK_EQ(mdv_events_take(dev), 0);
	CHECK(!readable(mdv_event_fd(dev), 0));
	CHECK_EQ(dev->port->up_get(dev, &admin), 0);
	CHECK_EQ(admin, up);
	CHECK_EQ(dev->port->link(dev, &link), 0);
	CHECK_EQ(link.up, up);
	CHECK_EQ(link.speed_mbps, up ? test_speed_mbps(dev) : 0);
	CHECK_EQ(dev->port->running(dev, &running), 0);
	CHECK_EQ(running, up);
}

/* More changes than the event queue has entries, taken one by one: none is lost. */
static void
test_link(struct mdv_dev *dev)
{
	bool up;

	REQUIRE(dev->port->up_get(dev, &up) == 0);
	if (!up) {
		CHECK_EQ(dev->port->up_set(dev, true), 0);
		CHECK(readable(mdv_event_fd(dev), WAKE_MS));
	}
	(void)mdv_events_take(dev);
	for (int i = 0; i < 150; i++) {
		check_link_to(dev, false);
		check_link_to(dev, true);
	}
	/* Several changes at once are one wake-up. */
	for (int i = 0; i < 40; i++)
		CHECK_EQ(dev->port->up_set(dev, i & 1), 0);
	CHECK(readable(mdv_event_fd(dev), WAKE_MS));
	CHECK_EQ(mdv_events_take(dev), MDV_EVENT_LINK);
	check_link_to(dev, false);
	check_link_to(dev, true);
}

/* ------------------------------------------------------------------ clock */

/** A change of the counter, and the TSC before the last reading of the old value and after the first of the new one. */
struct change {
	uint64_t raw, before, after;
};

/*
 * The emulator's counter is memory that a thread writes, and is old when the thread did not run; but not when it just
 * changed.
 */
static bool
change_await(struct mdv_dev *dev, struct change *c)
{
	const uint64_t end = rte_get_tsc_cycles() + WAKE_MS * rte_get_tsc_hz() / 1000;
	uint64_t old, before = rte_get_tsc_cycles();

	if (mdv_clock_raw(dev, &old) != 0)
		return false;
	do {
		c->before = before;
		before = rte_get_tsc_cycles();
		if (mdv_clock_raw(dev, &c->raw) != 0 || before > end)
			return false;
		c->after = rte_get_tsc_cycles();
	} while (c->raw == old);
	return true;
}

/* The thread may be preempted between the readings, so the brackets give lower and upper bounds of the time. */
static void
check_rate(struct mdv_dev *dev)
{
	const double hz = dev->caps.device_frequency_khz * 1e3, tsc_hz = rte_get_tsc_hz();
	struct change a, b;
	double ticks;

	REQUIRE(change_await(dev, &a));
	pass_us(200 * 1000); /* The period in which the rate is measured. */
	REQUIRE(change_await(dev, &b));
	ticks = b.raw - a.raw;
	CHECK(ticks > hz * 0.8 * ((b.before - a.after) / tsc_hz));
	CHECK(ticks < hz * 1.2 * ((b.after - a.before) / tsc_hz));
}

static void
test_vfio_clock(struct mdv_dev *dev)
{
	struct mdv_clock_state state;
	struct mdv_clock_point point;
	struct mdv_clock *clock = NULL;
	char why[256];

	CHECK_EQ(mdv_clock_read(dev, &point), -ENOTSUP);
	check_rate(dev);
	/* By default the source is the host's clock, calibrated with the counter. */
	CHECK_EQ(mdv_clock_open(dev, MDV_CLOCK_PAGE, &clock, why, sizeof(why)), -ENOTSUP);
	CHECK(strstr(why, "no clock page") != NULL);
	for (int i = 0; i < 10 && clock == NULL; i++)
		(void)mdv_clock_open(dev, MDV_CLOCK_AUTO, &clock, why, sizeof(why));
	printf("%s\n", why);
	REQUIRE(clock != NULL);
	CHECK(strstr(why, "clock host: there is no clock page") != NULL);
	for (int i = 0; i < 5; i++)
		(void)mdv_clock_refresh(clock, &state);
	CHECK_EQ(state.source, MDV_CLOCK_HOST);
	mdv_clock_close(clock);
}

/* ------------------------------------------------------------------ running */

static const struct {
	const char *name;
	void (*run)(struct mdv_dev *dev);
} tests[] = {
	{ "opened", test_opened },
	{ "no asynchronous queries", test_no_async },
	{ "queues", test_queues },
	{ "rss", test_rss },
	{ "rules", test_rules },
	{ "changes", test_changes },
	{ "memory", test_memory },
	{ "external memory", test_external_memory },
	{ "port", test_vfio_port },
	{ "link", test_link },
	{ "counters", test_counters },
	{ "clock", test_vfio_clock },
	{ "vector", test_vector },
	{ "eq", test_eq },
};

/** Opening through verbs fails, and the log names the devarg to use. */
static void
verbs_hint(const char *address)
{
	struct mdv_dev *dev = NULL;
	struct rte_pci_addr pci;

	REQUIRE(rte_pci_addr_parse(address, &pci) == 0);
	log_begin();
	CHECK_EQ(mdv_open(&pci, MDV_OPEN_VERBS, &dev), -ENODEV);
	CHECK_EQ(lines_with(log_end(), "bound to vfio-pci: devarg open=vfio"), 1);
}

static void
run_all(const char *address)
{
	struct rte_mempool *early = rte_pktmbuf_pool_create("early", 511, 32, 0, 2048, SOCKET_ID_ANY);
	struct mdv_dev *dev, *second;

	REQUIRE(early != NULL);
	verbs_hint(address);
	dev = open_vfio(address);
	REQUIRE(dev != NULL);
	for (size_t i = 0; i < RTE_DIM(tests); i++) {
		unsigned int before = check_failures;

		tests[i].run(dev);
		printf("%s: %s\n", tests[i].name, check_failures == before ? "ok" : "FAILED");
		fflush(stdout);
	}
	/* A second opening fails. */
	log_begin();
	second = open_vfio(address);
	CHECK(second == NULL);
	CHECK_EQ(lines_of(log_end()), 1);
	CHECK_EQ(dev->refused, 0);
	mdv_close(dev);
	/* After close a mempool may be freed: the event callback is unregistered. */
	rte_mempool_free(early);
	for (int i = 0; i < 3; i++) {
		dev = open_vfio(address);
		CHECK(dev != NULL);
		mdv_close(dev);
	}
}

/** A function that is not bound to vfio-pci: one line with the remedy. */
static void
run_closed(const char *address)
{
	struct mdv_dev *dev;
	const char *text;

	log_begin();
	dev = open_vfio(address);
	text = log_end();
	fputs(text, stdout);
	CHECK(dev == NULL);
	CHECK_EQ(lines_of(text), 1);
	CHECK_EQ(lines_with(text, "not to vfio-pci"), 1);
	test_vfio_links(address);
}

/** The card refuses the entry in its table of addresses: one line that recommends promiscuous mode. */
static void
run_table(const char *address)
{
	struct mdv_dev *dev;
	const char *text;
	uint8_t mac[6];

	log_begin();
	dev = open_vfio(address);
	REQUIRE(dev != NULL);
	CHECK_EQ(dev->port->mac_get(dev, mac), 0);
	CHECK_EQ(dev->port->mac_set(dev, mac), 0);
	mdv_close(dev);
	text = log_end();
	fputs(text, stdout);
	CHECK_EQ(lines_with(text, "SET_L2_TABLE_ENTRY refused"), 1);
	CHECK_EQ(lines_with(text, "refused"), 1);
}

static void
check_unavailable(const char *address, enum mdv_open_mode mode, const char *line)
{
	const char *text;

	log_begin();
	CHECK(test_open_by(address, mode) == NULL);
	CHECK_EQ(rte_errno, EBUSY);
	text = log_end();
	fputs(text, stdout);
	CHECK_EQ(lines_of(text), 1);
	CHECK_EQ(lines_with(text, line), 1);
}

static void
run_held(const char *address)
{
	check_unavailable(address, MDV_OPEN_VFIO, "the function is in use");
}

/** The same in another process. */
static void
held_elsewhere(const char *address)
{
	char self[256] = "", command[320];

	REQUIRE(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(command, sizeof(command), "'%s' held %s", self, address);
	CHECK_EQ(system(command), 0);
}

static void
run_busy(const char *address)
{
	struct mdv_dev *dev = open_vfio(address);

	REQUIRE(dev != NULL);
	check_unavailable(address, MDV_OPEN_VERBS, "through VFIO");
	held_elsewhere(address);
	mdv_close(dev);
	dev = test_open_by(address, MDV_OPEN_VERBS);
	REQUIRE(dev != NULL);
	check_unavailable(address, MDV_OPEN_VFIO, "the function is in use");
	held_elsewhere(address);
	mdv_close(dev);
	dev = open_vfio(address);
	CHECK(dev != NULL);
	mdv_close(dev);
}

/** A command of any of the three openings is refused once: that opening fails or continues without it. */
static void
run_reopen(const char *address)
{
	struct mdv_dev *dev;
	const char *text;
	int opened = 0;

	for (int i = 0; i < 3; i++) {
		log_begin();
		dev = open_vfio(address);
		text = log_end();
		fputs(text, stdout);
		CHECK(dev != NULL || lines_of(text) >= 1);
		opened += dev != NULL;
		mdv_close(dev);
	}
	CHECK(opened >= 2);
	printf("opened %d of 3\n", opened);
}

static void
run_refused(const char *address)
{
	struct mdv_dev *dev = open_vfio(address);

	struct mdv_rate rate, again;

	REQUIRE(dev != NULL);
	test_eq_refused(dev);
	/* An entry whose command is refused is free; one that cannot be freed keeps its rate and is used again. */
	log_begin();
	CHECK(mdv_rate_alloc(dev, 1000, &rate) < 0 && rate.index == 0);
	CHECK_EQ(lines_with(log_end(), "SET_PP_RATE_LIMIT"), 1);
	CHECK_EQ(mdv_rate_alloc(dev, 1000, &rate), 0);
	mdv_rate_free(dev, &rate);
	CHECK_EQ(mdv_rate_alloc(dev, 1000, &again), 0);
	CHECK_EQ(again.index, 1);
	mdv_rate_free(dev, &again);
	mdv_close(dev);
}

/*
 * A removed device: the event comes, every call fails at once, and everything can be destroyed. The library
 * alone would wait without limit, or end the process.
 */
static void
run_removal(const char *address, const char *command)
{
	const struct mdv_cq_attr attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_dev *dev = open_vfio(address);
	uint64_t tsc, hz = rte_get_tsc_hz();
	struct mdv_cq cq, other;
	uint16_t mtu;
	bool up;

	REQUIRE(dev != NULL);
	REQUIRE(mdv_cq_create(dev, &attr, &cq) == 0);
	REQUIRE(system(command) == 0);
	CHECK(readable(mdv_event_fd(dev), WAKE_MS));
	CHECK((mdv_events_take(dev) & MDV_EVENT_REMOVED) != 0);
	CHECK(mdv_removed(dev) && !mdv_alive(dev));
	tsc = rte_get_tsc_cycles();
	CHECK_EQ(dev->port->mtu_get(dev, &mtu), -ENODEV);
	CHECK_EQ(dev->port->running(dev, &up), -ENODEV);
	CHECK(mdv_cq_create(dev, &attr, &other) < 0);
	CHECK(rte_get_tsc_cycles() - tsc < hz * 10);
	CHECK(mdv_quiesce_wait(dev));
	mdv_cq_destroy(&cq);
	mdv_close(dev);
}

static void
run_waiting(const char *address, const char *command)
{
	struct mdv_dev *dev = open_vfio(address);

	REQUIRE(dev != NULL);
	test_wait_removed(dev, command);
}

/** The events of the port are not taken: the firmware fails, and the log states the reason. */
static void
run_overrun(const char *address, const char *command)
{
	struct mdv_dev *dev = open_vfio(address);
	uint32_t events = 0;
	const char *text;

	REQUIRE(dev != NULL);
	log_begin();
	REQUIRE(system(command) == 0);
	while ((events & MDV_EVENT_REMOVED) == 0 && readable(mdv_event_fd(dev), WAKE_MS))
		events |= mdv_events_take(dev);
	CHECK((events & MDV_EVENT_REMOVED) != 0);
	mdv_close(dev);
	text = log_end();
	fputs(text, stdout);
	CHECK_EQ(lines_with(text, "fatal firmware error: event queue overrun"), 1);
}

/* libmlx5 requests relaxed ordering of both or of none. */
static void
run_ordering(const char *address)
{
	struct mdv_dev *dev = open_vfio(address);

	REQUIRE(dev != NULL);
	CHECK(!dev->caps.umr_relaxed_ordering);
	mdv_close(dev);
}

static void
run_closing(const char *address)
{
	struct mdv_dev *dev = open_vfio(address);

	REQUIRE(dev != NULL);
	test_close_removed(dev);
}

static const struct {
	const char *name;
	void (*run)(const char *address, const char *command);
} removal_modes[] = {
	{ "removal", run_removal },
	{ "waiting", run_waiting },
	{ "overrun", run_overrun },
};

int
main(int argc, char **argv)
{
	char *eal[] = { (char[]) { "mdv_vfio" }, (char[]) { "--no-huge" }, (char[]) { "-m128" },
			(char[]) { "--no-pci" }, (char[]) { "--no-shconf" },
			(char[]) { "--no-telemetry" }, (char[]) { "-l0" },
			(char[]) { "--iova-mode=va" }, NULL };
	static const struct {
		const char *name;
		void (*run)(const char *address);
	} runs[] = {
		{ "all", run_all }, { "closed", run_closed }, { "host", test_vfio_host },
		{ "reopen", run_reopen },
		{ "refused", run_refused }, { "busy", run_busy }, { "held", run_held },
		{ "closing", run_closing }, { "table", run_table },
		{ "ordering", run_ordering },
	};
	void (*run_with)(const char *address, const char *command) = NULL;
	void (*run)(const char *address) = NULL;

	for (size_t i = 0; argc == 3 && i < RTE_DIM(runs); i++)
		if (strcmp(argv[1], runs[i].name) == 0)
			run = runs[i].run;
	for (size_t i = 0; argc >= 3 && i < RTE_DIM(removal_modes); i++)
		if (strcmp(argv[1], removal_modes[i].name) == 0)
			run_with = removal_modes[i].run;
	if ((run == NULL && run_with == NULL) || rte_eal_init(RTE_DIM(eal) - 1, eal) < 0) {
		fprintf(stderr, "usage: %s all|closed|reopen|refused|busy|held|table|ordering|closing ADDRESS, or\n"
			"       %s removal|waiting|overrun ADDRESS COMMAND\n", argv[0], argv[0]);
		return 2;
	}
	if (run != NULL)
		run(argv[2]);
	else
		run_with(argv[2], argv[3]);
	rte_eal_cleanup();
	return check_exit("vfio");
}
