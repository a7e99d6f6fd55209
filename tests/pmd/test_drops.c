/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * /mlxpmd/drops: packets are lost at one place after the other. Each is in its row, with the exact number, in no other
 * row, and where the emulator counts it; and the rows add up.
 */

#include <unistd.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <rte_flow.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define NB_DESC 256
#define WAIT_MS 20000
/* Frames of a case that are not lost. */
#define OTHERS 5
#define RULE_PORT 4660

static struct rte_mempool *rx_pool;
static struct pmd_conf conf_a = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = NB_DESC };
static const struct pmd_conf conf_b = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = NB_DESC };
static bool vfio, vf;
static char too_long[] = "/tmp/mlxpmd-drops.XXXXXX";

/* ------------------------------------------------------------------ accounts */

struct row {
	char name[32], is[8];
	uint64_t packets;
};

/* Received packets of port A, then sent ones of port B. */
enum direction { RX, TX, NB_DIRECTIONS };
static const char *const directions[NB_DIRECTIONS] = { "rx", "tx" };
struct account {
	unsigned int n[NB_DIRECTIONS];
	struct row row[NB_DIRECTIONS][64];
	uint64_t epoch[NB_DIRECTIONS], mbufs_missing;
};

static int
telemetry_connect(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char hello[1024];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/dpdk_telemetry.v2", rte_eal_get_runtime_dir());
	CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0, "%s", to.sun_path);
	CHECK(recv(fd, hello, sizeof(hello), 0) > 0, "%s", to.sun_path);
	return fd;
}

static uint64_t
number_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at != NULL ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

/* The rows of one direction, which begin at text. */
static unsigned int
rows_parse(const char *text, struct row *row)
{
	unsigned int n = 0;

	while (text != NULL && sscanf(text, "\"%31[^\"]\":{\"packets\":%" SCNu64 ",\"is\":\"%7[^\"]\"", row[n].name,
				      &row[n].packets, row[n].is) == 3) {
		n++;
		text = strchr(text, '}');
		text += text != NULL ? strspn(text, "}, ") : 0;
	}
	return n;
}

static void
account_read(struct account *a)
{
	static char reply[32768];
	static int fd = -1;
	char text[32];
	const char *at;
	ssize_t n;

	if (fd < 0)
		fd = telemetry_connect();
	memset(a, 0, sizeof(*a));
	for (int d = 0; d < NB_DIRECTIONS; d++) {
		snprintf(text, sizeof(text), "/mlxpmd/drops,%u", d == RX ? PORT_A : PORT_B);
		REQUIRE(send(fd, text, strlen(text), MSG_NOSIGNAL) > 0, "%s", text);
		n = recv(fd, reply, sizeof(reply) - 1, 0);
		REQUIRE(n > 0, "%s", text);
		reply[n] = '\0';
		CHECK(strstr(reply, "\"errno\"") == NULL, "%s", reply);
		a->epoch[d] = number_of(reply, "\"epoch\":");
		if (d == RX)
			a->mbufs_missing = number_of(reply, "\"rx_mbufs_missing\":");
		snprintf(text, sizeof(text), "\"%s\":{", directions[d]);
		at = strstr(reply, text);
		a->n[d] = rows_parse(at != NULL ? at + strlen(text) : NULL, a->row[d]);
		CHECK(a->n[d] > 10, "%s", reply);
	}
}

/* 0 if there is no such row: a rule's row exists while the rule does. */
static uint64_t
packets(const struct account *a, enum direction d, const char *name)
{
	for (unsigned int i = 0; i < a->n[d]; i++)
		if (strcmp(a->row[d][i].name, name) == 0)
			return a->row[d][i].packets;
	return 0;
}

static void
adds_up(const char *what, const struct account *a)
{
	uint64_t sum, begin;

	for (int d = 0; d < NB_DIRECTIONS; d++) {
		sum = begin = 0;
		for (unsigned int i = 0; i < a->n[d]; i++) {
			const struct row *l = &a->row[d][i];

			begin += strcmp(l->is, "begin") == 0 ? l->packets : 0;
			sum += strcmp(l->is, "begin") != 0 && strcmp(l->is, "passed") != 0 ? l->packets : 0;
		}
		CHECK(begin == sum, "%s: %s: %" PRIu64 " came in, the rows have %" PRIu64, what, directions[d], begin,
		      sum);
		CHECK(packets(a, d, "unexplained") == 0, "%s: %s: unexplained %" PRIu64, what, directions[d],
		      packets(a, d, "unexplained"));
	}
}

/* ------------------------------------------------------------------ traffic */

/* Sends frames from port B to port A, or elsewhere, and waits until the device has executed them. */
static void
send_to(const struct rte_ether_addr *dst, uint16_t udp_port, uint16_t bytes, unsigned int n)
{
	const uint64_t executed = emu_drops(PORT_B, "sent", "executed");
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);

	if (dst != NULL)
		f.dst = *dst;
	if (udp_port != 0)
		f.dst_port = udp_port;
	f.bytes = RTE_MAX(f.bytes, bytes);
	for (unsigned int i = 0; i < n; i++)
		CHECK(pmd_send(PORT_B, 0, &f) == 1, "frame %u", i);
	CHECK(AWAIT(emu_drops(PORT_B, "sent", "executed") - executed == n, WAIT_MS), "%u not executed", n);
}

static void
send_some(unsigned int n)
{
	send_to(NULL, 0, 0, n);
}

static void
receive(unsigned int n)
{
	unsigned int got = pmd_drain(PORT_A, n, WAIT_MS, NULL);

	CHECK(got == n, "%u of %u received", got, n);
}

static void
link_set(uint16_t port, bool up)
{
	struct rte_eth_link link;

	CHECK_OK(emu_ctl("{\"cmd\":\"link\",\"port\":%u,\"state\":\"%s\"}", port, up ? "up" : "down"));
	for (port = PORT_A; up && port <= PORT_B; port++)
		CHECK(AWAIT(rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP, WAIT_MS),
		      "port %u has no link", port);
}

/* A queue may be repaired twice in a second, and a start forgets what was before. */
static void
restart(uint16_t port)
{
	pmd_port_down(port);
	CHECK_OK(rte_eth_dev_start(port));
}

/* ------------------------------------------------------------------ cases: each returns how many packets it lost */

struct loss {
	const char *what;
	unsigned int (*lose)(const struct loss *l);
	const char *rule;	/* Of the emulator; %u: packets. */
	unsigned int n;
	enum direction d;
	const char *row;	/* NULL: lost outside of the card. */
	const char *vfio_row;	/* In VFIO mode; NULL: the same. */
	uint16_t place_port;	/* Where the emulator has them: port, direction, place; NULL: it has not. */
	const char *place_d, *place, *vfio_place;
	const char *also;	/* A second place, with BEHIND packets. */
	const char *vf_row, *vf_place; /* Of virtual functions; NULL: the same. */
	bool vf_only;
};

static unsigned int
by_rule(const struct loss *l)
{
	char rule[256];

	snprintf(rule, sizeof(rule), l->rule, l->n);
	CHECK_OK(emu_fault("%s", rule));
	send_some(l->n + OTHERS);
	receive(OTHERS);
	emu_fault_clear();
	return l->n;
}

static unsigned int
by_length(const struct loss *l)
{
	char rule[256];

	snprintf(rule, sizeof(rule), "on wire.rx match port=0 count %u do replace file=%s", l->n, too_long);
	CHECK_OK(emu_fault("%s", rule));
	send_some(l->n + OTHERS);
	receive(OTHERS);
	emu_fault_clear();
	return l->n;
}

/* The port that loses the packets. */
static uint16_t
loss_port(const struct loss *l)
{
	return l->d == TX ? PORT_B : PORT_A;
}

static unsigned int
by_link(const struct loss *l)
{
	link_set(loss_port(l), false);
	send_some(l->n);
	link_set(loss_port(l), true);
	return l->n;
}

/* The link of the virtual function is down, that of its port is not. */
static unsigned int
by_vf_state(const struct loss *l)
{
	CHECK_OK(emu_ctl("{\"cmd\":\"link\",\"port\":%u,\"vf\":\"disable\"}", loss_port(l)));
	send_some(l->n);
	CHECK_OK(emu_ctl("{\"cmd\":\"link\",\"port\":%u,\"vf\":\"auto\"}", loss_port(l)));
	link_set(loss_port(l), true);
	send_some(OTHERS);
	receive(OTHERS);
	return l->n;
}

static unsigned int
by_address(const struct loss *l)
{
	const struct rte_ether_addr unicast = { { 0x02, 0xee, 0, 0, 0, 1 } }, group = { { 0x01, 0, 0x5e, 1, 2, 3 } };

	send_to(l->rule == NULL ? &unicast : &group, 0, 0, l->n);
	send_some(OTHERS);
	receive(OTHERS);
	return l->n;
}

static unsigned int
by_stopped_port(const struct loss *l)
{
	pmd_port_down(PORT_A);
	send_some(l->n);
	CHECK_OK(rte_eth_dev_start(PORT_A));
	return l->n;
}

static struct rte_flow *rule;

static unsigned int
by_flow(const struct loss *l)
{
	const struct rte_flow_attr attr = { .ingress = l->d == RX, .egress = l->d == TX };
	const struct rte_flow_item_udp spec = { .hdr.dst_port = RTE_BE16(RULE_PORT) },
				       mask = { .hdr.dst_port = RTE_BE16(UINT16_MAX) };
	const struct rte_flow_item items[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH }, { .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &spec, .mask = &mask }, { .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_count count = { .id = 0 };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT, .conf = &count }, { .type = RTE_FLOW_ACTION_TYPE_DROP },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error;

	rule = rte_flow_create(loss_port(l), &attr, items, actions, &error);
	CHECK(rule != NULL, "%s", error.message);
	send_to(NULL, RULE_PORT, 0, l->n);
	send_some(OTHERS);
	receive(OTHERS);
	return l->n;
}

/* The packets of the case before, and some more: what a rule counted is not lost with it. */
static unsigned int
by_flow_destroyed(const struct loss *l)
{
	struct rte_flow_error error;
	struct account a;

	account_read(&a);
	send_to(NULL, RULE_PORT, 0, l->n);
	CHECK_OK(rte_flow_destroy(loss_port(l), rule, &error));
	return packets(&a, l->d, "rule_0") + l->n;
}

static unsigned int
by_full_ring(const struct loss *l)
{
	unsigned int got = 0, n;

	send_some(NB_DESC + l->n);
	while ((n = pmd_drain(PORT_A, NB_DESC, 0, NULL)) != 0)
		got += n;
	CHECK(got <= NB_DESC && got >= NB_DESC / 2, "%u received", got);
	return NB_DESC + l->n - got;
}

static unsigned int
by_empty_pool(const struct loss *l)
{
	static struct rte_mbuf *held[1024], *got[2 * NB_DESC];
	unsigned int n = 0, received = 0, k, i;

	while (n < RTE_DIM(held) && (held[n] = rte_pktmbuf_alloc(rx_pool)) != NULL)
		n++;
	for (i = 0; i < 2; i++) {
		send_some((NB_DESC + l->n) / 2);
		while ((k = pmd_recv(PORT_A, 0, got + received, RTE_DIM(got) - received, 0)) != 0)
			received += k;
	}
	rte_pktmbuf_free_bulk(held, n);
	rte_pktmbuf_free_bulk(got, received);
	/* A burst posts the mbufs again. */
	send_some(OTHERS);
	i = pmd_drain(PORT_A, OTHERS, 0, NULL);
	send_some(OTHERS);
	receive(OTHERS);
	return (NB_DESC + l->n) / 2 * 2 - received + OTHERS - i;
}

static unsigned int
by_rx_error(const struct loss *l)
{
	const uint64_t resets = pmd_xstat(PORT_A, "rx_resets");
	char text[256];

	snprintf(text, sizeof(text), l->rule, l->n);
	CHECK_OK(emu_fault("%s", text));
	send_some(l->n);
	CHECK(AWAIT((pmd_drain(PORT_A, 1, 0, NULL), pmd_xstat(PORT_A, "rx_resets")) > resets, WAIT_MS), "no reset");
	emu_fault_clear();
	send_some(OTHERS);
	receive(OTHERS);
	restart(PORT_A);
	return l->n;
}

/* The packets whose completions are behind the missing one are lost with the completion queue. */
#define BEHIND 3
static unsigned int
by_lost_completion(const struct loss *l)
{
	const uint64_t resets = pmd_xstat(PORT_A, "rx_resets");

	CHECK_OK(emu_fault("%s", l->rule));
	send_some(1 + BEHIND);
	CHECK(AWAIT((pmd_drain(PORT_A, 1, 0, NULL), pmd_xstat(PORT_A, "rx_resets")) > resets, WAIT_MS), "no reset");
	emu_fault_clear();
	send_some(OTHERS);
	receive(OTHERS);
	restart(PORT_A);
	return 1;
}

static unsigned int
by_stop(const struct loss *l)
{
	struct account a;

	send_some(l->n);
	CHECK(AWAIT((account_read(&a), packets(&a, RX, "waiting")) == l->n, WAIT_MS), "waiting: %" PRIu64,
	      packets(&a, RX, "waiting"));
	adds_up("waiting", &a);
	restart(PORT_A);
	return l->n;
}

static unsigned int
by_full_send_ring(const struct loss *l)
{
	const uint64_t executed = emu_drops(PORT_B, "sent", "executed");
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_mbuf *pkts[32];
	unsigned int refused = 0, sent = 0;
	struct account a;
	uint16_t i, n;

	(void)l;
	CHECK_OK(emu_ctl("{\"cmd\":\"engine\",\"run\":false}"));
	while (refused == 0) {
		for (i = 0; i < RTE_DIM(pkts); i++)
			pkts[i] = pmd_frame_make(&f, 0);
		n = rte_eth_tx_burst(PORT_B, 0, pkts, RTE_DIM(pkts));
		sent += n;
		refused += RTE_DIM(pkts) - n;
		rte_pktmbuf_free_bulk(pkts + n, RTE_DIM(pkts) - n);
	}
	account_read(&a);
	CHECK(packets(&a, TX, "in_flight") == sent, "in flight %" PRIu64 " of %u", packets(&a, TX, "in_flight"), sent);
	adds_up("in flight", &a);
	CHECK_OK(emu_ctl("{\"cmd\":\"engine\",\"run\":true}"));
	CHECK(AWAIT(emu_drops(PORT_B, "sent", "executed") - executed == sent, WAIT_MS), "not executed");
	receive(sent);
	return refused;
}

static unsigned int
by_tx_error(const struct loss *l)
{
	const uint64_t resets = pmd_xstat(PORT_B, "tx_resets");
	struct pmd_frame f = pmd_frame_udp(PORT_B, PORT_A, 1);
	char text[256];

	snprintf(text, sizeof(text), l->rule, 1);
	CHECK_OK(emu_fault("%s", text));
	CHECK(pmd_send(PORT_B, 0, &f) == 1, "not sent");
	CHECK(AWAIT((rte_eth_tx_done_cleanup(PORT_B, 0, 0), pmd_xstat(PORT_B, "tx_resets")) > resets, WAIT_MS),
	      "no reset");
	emu_fault_clear();
	send_some(OTHERS);
	receive(OTHERS);
	restart(PORT_B);
	return 1;
}

static unsigned int
by_mtu(const struct loss *l)
{
	send_to(NULL, 0, RTE_ETHER_MAX_LEN + 100, l->n);
	send_some(OTHERS);
	receive(OTHERS);
	return l->n;
}

static unsigned int
by_empty_packets(const struct loss *l)
{
	struct rte_mbuf *m;

	for (unsigned int i = 0; i < l->n; i++) {
		m = rte_pktmbuf_alloc(pmd_pool);
		CHECK(m != NULL && rte_eth_tx_burst(PORT_B, 0, &m, 1) == 1, "not taken");
	}
	send_some(OTHERS);
	receive(OTHERS);
	return l->n;
}

#define RECEIVED 0, "received"
#define SENT 1, "sent"
static const struct loss losses[] = {
	{ "lost on the cable", by_rule, "on wire.tx match port=1 count %u do drop", 3, RX, NULL, NULL,
	  SENT, "wire_lost" },
	{ "cable of the receiver unplugged", by_link, NULL, 4, RX, NULL, NULL, RECEIVED, "link_down" },
	{ "wrong FCS", by_rule, "on wire.rx match port=0 count %u do fcs", 5, RX, "crc_errors", NULL,
	  RECEIVED, "fcs_error" },
	{ "longer than the MTU", by_length, NULL, 6, RX, "too_long", NULL, RECEIVED, "oversize" },
	{ "shorter than a frame", by_rule, "on wire.rx match port=0 count %u do truncate len=10", 7, RX, "too_short",
	  NULL, RECEIVED, "undersize" },
	{ "no room in the port", by_rule, "on wire.rx match port=0 count %u do discard", 8, RX, "port_discards", NULL,
	  RECEIVED, "port_discard" },
	{ "unicast address of another", by_address, NULL, 9, RX, "no_rule", NULL, RECEIVED, "address_unknown",
	  "steering_missed", .vf_row = "elsewhere", .vf_place = "elsewhere" },
	{ "group that was not joined", by_address, "group", 10, RX, "no_rule", NULL, RECEIVED, "address_unknown",
	  "steering_missed", .vf_row = "elsewhere", .vf_place = "elsewhere" },
	{ "receiver's VF disabled", by_vf_state, NULL, 22, RX, "vport_down", NULL, RECEIVED, "vport_down", .vf_only = true },
	{ "sender's VF disabled", by_vf_state, NULL, 23, TX, "vport_down", NULL, SENT, "link_down", .vf_only = true },
	{ "port stopped", by_stopped_port, NULL, 11, RX, "kernel", "no_rule", RECEIVED, "kernel", "steering_missed" },
	{ "flow rule", by_flow, NULL, 12, RX, "rule_0", NULL, RECEIVED, "rule" },
	{ "flow rule, destroyed", by_flow_destroyed, NULL, 13, RX, "rules_others", NULL },
	{ "application does not poll", by_full_ring, NULL, 14, RX, "no_buffer", NULL, RECEIVED, "no_buffer" },
	{ "mempool empty", by_empty_pool, NULL, 40, RX, "no_buffer", NULL, RECEIVED, "no_buffer" },
	{ "buffers too small", by_rule,
	  "on wqe.fetch match port=0 q=rx0 count %u do error syndrome=LOCAL_LENGTH_ERR", 15, RX, "error_length", NULL,
	  RECEIVED, "error_completion" },
	{ "buffer not registered", by_rx_error,
	  "on wqe.fetch match port=0 q=rx0 count %u do error syndrome=LOCAL_PROT_ERR", 1, RX, "error_protection", NULL,
	  RECEIVED, "error_completion" },
	{ "receive WQE refused", by_rx_error,
	  "on wqe.fetch match port=0 q=rx0 count %u do error syndrome=LOCAL_QP_OP_ERR", 1, RX, "error_operation", NULL,
	  RECEIVED, "error_completion" },
	{ "completion invalid", by_rx_error, "on cqe.write match port=0 q=rx0 count %u do corrupt off=63 xor=0x10", 1, RX,
	  "refused_completions", NULL },
	{ "completion lost", by_lost_completion, "on cqe.write match port=0 q=rx0 count 1 do drop", 1, RX,
	  "refused_completions", NULL, RECEIVED, "completion_lost", NULL, "discarded" },
	{ "queue stopped before the poll", by_stop, NULL, 16, RX, "discarded", NULL },
	{ "send ring full", by_full_send_ring, NULL, 0, TX, "refused", NULL },
	{ "packets without data", by_empty_packets, NULL, 17, TX, "unsendable", NULL },
	{ "sent memory not registered", by_tx_error,
	  "on wqe.fetch match port=1 q=tx0 count %u do error syndrome=LOCAL_PROT_ERR", 1, TX, "error_protection", NULL },
	{ "send WQE refused", by_tx_error,
	  "on wqe.fetch match port=1 q=tx0 count %u do error syndrome=LOCAL_QP_OP_ERR", 1, TX, "error_operation", NULL },
	{ "cable of the sender unplugged", by_link, NULL, 18, TX, "port_discards", NULL, SENT, "link_down",
	  .vf_row = "vport_down" },
	{ "sent, longer than the MTU", by_mtu, NULL, 19, TX, "port_discards", NULL, SENT, "oversize" },
	{ "flow rule of sent packets", by_flow, NULL, 20, TX, "rule_0", NULL, SENT, "rule" },
	{ "the same, destroyed", by_flow_destroyed, NULL, 21, TX, "rules_others", NULL },
};

/* No other row of those that are losses may change. */
static void
others_check(const struct loss *l, const char *name, const struct account *before, const struct account *after)
{
	for (int d = 0; d < NB_DIRECTIONS; d++) {
		for (unsigned int i = 0; i < after->n[d]; i++) {
			const struct row *row = &after->row[d][i];
			const uint64_t was = packets(before, d, row->name);

			if (strcmp(row->is, "lost") != 0 || (name != NULL && strcmp(row->name, name) == 0))
				continue;
			if (l->also != NULL && strcmp(row->name, l->also) == 0) {
				CHECK(row->packets - was == BEHIND, "%s: %s %" PRIu64, l->what, l->also, row->packets - was);
				continue;
			}
			CHECK(row->packets == was, "%s: %s %s: %" PRIu64 " more", l->what, directions[d], row->name,
			      row->packets - was);
		}
	}
}

static void
loss_run(const struct loss *l)
{
	const char *name = vf && l->vf_row != NULL ? l->vf_row : vfio && l->vfio_row != NULL ? l->vfio_row : l->row;
	const char *place = vf && l->vf_place != NULL ? l->vf_place :
			    vfio && l->vfio_place != NULL ? l->vfio_place : l->place;
	struct account before, after;
	uint64_t was = 0, is = 0;
	unsigned int n;

	account_read(&before);
	adds_up(l->what, &before);
	if (place != NULL)
		was = emu_drops(l->place_port, l->place_d, place);
	n = l->lose(l);
	if (place != NULL)
		is = emu_drops(l->place_port, l->place_d, place);
	account_read(&after);
	adds_up(l->what, &after);
	CHECK(n > 0, "%s: nothing was lost", l->what);
	CHECK(place == NULL || is - was == n, "%s: the emulator has %" PRIu64 ", not %u", l->what, is - was, n);
	if (name != NULL)
		CHECK(packets(&after, l->d, name) - packets(&before, l->d, name) == n, "%s: %s %s has %" PRIu64 " more, not %u",
		      l->what, directions[l->d], name, packets(&after, l->d, name) - packets(&before, l->d, name), n);
	else
		CHECK(packets(&after, TX, "wire") - packets(&before, TX, "wire") ==
		      packets(&after, RX, "wire") - packets(&before, RX, "wire") + n, "%s: not between the ports", l->what);
	others_check(l, name, &before, &after);
	CHECK(after.epoch[RX] > before.epoch[RX], "epoch %" PRIu64, after.epoch[RX]);
	printf("%-32s %3u packets: %s%s%s\n", l->what, n, name != NULL ? directions[l->d] : "tx wire less rx wire",
	       name != NULL ? " " : "", name != NULL ? name : "");
}

/* Resets, a stop and a start, and new queues change no row. */
static void
stays(void)
{
	struct account before, after;

	account_read(&before);
	CHECK(before.mbufs_missing > 0, "the empty mempool is not among the causes");
	CHECK_OK(rte_eth_stats_reset(PORT_A));
	CHECK_OK(rte_eth_xstats_reset(PORT_A));
	pmd_ports_down();
	CHECK_OK(pmd_port_up(PORT_A, &conf_a));
	CHECK_OK(pmd_port_up(PORT_B, &conf_b));
	account_read(&after);
	adds_up("after resets", &after);
	for (int d = 0; d < NB_DIRECTIONS; d++)
		for (unsigned int i = 0; i < before.n[d]; i++)
			CHECK(packets(&after, d, before.row[d][i].name) == before.row[d][i].packets, "%s %s: %" PRIu64
			      ", was %" PRIu64, directions[d], before.row[d][i].name,
			      packets(&after, d, before.row[d][i].name), before.row[d][i].packets);
}

/* rte_eth_dev_priv_dump() prints the same account: the rows that have packets. */
static void
dumped(void)
{
	struct account a;
	char line[96], *text;
	size_t bytes;
	FILE *file;

	account_read(&a);
	for (int d = 0; d < NB_DIRECTIONS; d++) {
		file = open_memstream(&text, &bytes);
		REQUIRE(file != NULL, "no memory");
		CHECK_OK(rte_eth_dev_priv_dump(d == RX ? PORT_A : PORT_B, file));
		fclose(file);
		CHECK(strstr(text, "rx0: ready, ") != NULL && strstr(text, "tx0: ready, ") != NULL &&
		      strstr(text, "\nclock: ") != NULL && strstr(text, "\nflows: ") != NULL, "%s", text);
		for (unsigned int i = 0; i < a.n[d]; i++) {
			snprintf(line, sizeof(line), "\n  %-20s %20" PRIu64 "  ", a.row[d][i].name, a.row[d][i].packets);
			CHECK((strstr(text, line) != NULL) == (a.row[d][i].packets != 0), "%s:\n%s", line, text);
		}
		free(text);
	}
}

/* A file whose bytes are a frame that is too long. */
static void
too_long_make(void)
{
	static const uint8_t bytes[1600] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 0, 0, 0, 2, 0x88, 0xb5 };
	int fd = mkstemp(too_long);

	REQUIRE(fd >= 0 && write(fd, bytes, sizeof(bytes)) == sizeof(bytes), "%s", too_long);
	close(fd);
}

int
main(int argc, char **argv)
{
	pmd_init(argc, argv);
	vfio = pmd_devarg(PORT_A, "open=vfio");
	vf = strcmp(argv[argc - 1], "vf") == 0;
	rx_pool = rte_pktmbuf_pool_create("drops_rx", 2 * NB_DESC - 1, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	conf_a.pool = rx_pool;
	too_long_make();
	CHECK_OK(pmd_port_up(PORT_A, &conf_a));
	CHECK_OK(pmd_port_up(PORT_B, &conf_b));
	link_set(PORT_A, true);
	for (unsigned int i = 0; i < RTE_DIM(losses); i++)
		if (vf || !losses[i].vf_only)
			loss_run(&losses[i]);
	stays();
	dumped();
	pmd_ports_down();
	unlink(too_long);
	CHECK(rte_mempool_in_use_count(rx_pool) == 0, "%u mbufs", rte_mempool_in_use_count(rx_pool));
	return pmd_fini();
}
