/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Plays a script of flows and packets on two connected ports of any driver, and prints what the driver makes of them.
 * Arguments after EAL's: the driver, the group of the flows, the script. Its lines:
 *
 * set: all flows are destroyed.
 * flow PRIORITY QUEUE MARK N [ACTION CONF]... [ITEM SPEC MASK]...: QUEUE -1: dropped; MARK -1: none; N actions that
 *   change packets; - for no CONF, SPEC, MASK.
 * packet BYTES: a packet; the last two bytes are its number in the set.
 * play: sends the packets of the set.
 *
 * In hexadecimal: CONF, SPEC and MASK, as the structure of the action or item is in memory, and BYTES; CONF of
 * modify_field is a structure of this program. Every flow has a counter. The output has a line for each flow, `flow
 * created` or `flow refused REASON`, and after `play` one for each packet, `packet QUEUE MARK META BYTES` or `packet
 * lost`, and one for each flow, `count PACKETS BYTES`.
 */

#include <rte_flow.h>

#include "../pmd/pmd_test.h"

#define QUEUES 4
#define ITEMS_MAX 8
#define ITEM_BYTES 64
#define CHANGES_MAX 4
#define FRAME_BYTES 256
#define PACKETS_MAX 64
#define FLOWS_MAX 8
#define MARKER_TYPE 0x88b6
/* Behind all flows of the script. */
#define LAST_PRIORITY 21000

static const struct {
	const char *name;
	enum rte_flow_item_type type;
} kinds[] = {
	{ "eth", RTE_FLOW_ITEM_TYPE_ETH },   { "vlan", RTE_FLOW_ITEM_TYPE_VLAN }, { "ipv4", RTE_FLOW_ITEM_TYPE_IPV4 },
	{ "ipv6", RTE_FLOW_ITEM_TYPE_IPV6 }, { "udp", RTE_FLOW_ITEM_TYPE_UDP },	  { "tcp", RTE_FLOW_ITEM_TYPE_TCP },
	{ "icmp", RTE_FLOW_ITEM_TYPE_ICMP }, { "sctp", RTE_FLOW_ITEM_TYPE_SCTP },
};

static const struct {
	const char *name;
	enum rte_flow_action_type type;
} changes[] = {
	{ "set_mac_src", RTE_FLOW_ACTION_TYPE_SET_MAC_SRC }, { "set_mac_dst", RTE_FLOW_ACTION_TYPE_SET_MAC_DST },
	{ "set_ipv4_src", RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC }, { "set_ipv4_dst", RTE_FLOW_ACTION_TYPE_SET_IPV4_DST },
	{ "set_ipv6_src", RTE_FLOW_ACTION_TYPE_SET_IPV6_SRC }, { "set_ipv6_dst", RTE_FLOW_ACTION_TYPE_SET_IPV6_DST },
	{ "set_ipv4_dscp", RTE_FLOW_ACTION_TYPE_SET_IPV4_DSCP }, { "set_ipv6_dscp", RTE_FLOW_ACTION_TYPE_SET_IPV6_DSCP },
	{ "set_tp_src", RTE_FLOW_ACTION_TYPE_SET_TP_SRC }, { "set_tp_dst", RTE_FLOW_ACTION_TYPE_SET_TP_DST },
	{ "set_ttl", RTE_FLOW_ACTION_TYPE_SET_TTL }, { "dec_ttl", RTE_FLOW_ACTION_TYPE_DEC_TTL },
	{ "inc_tcp_seq", RTE_FLOW_ACTION_TYPE_INC_TCP_SEQ }, { "dec_tcp_ack", RTE_FLOW_ACTION_TYPE_DEC_TCP_ACK },
	{ "set_meta", RTE_FLOW_ACTION_TYPE_SET_META }, { "modify_field", RTE_FLOW_ACTION_TYPE_MODIFY_FIELD },
};

/* CONF of modify_field: a value for a part of a field, which is one of the following. */
struct modify {
	uint8_t operation, field, offset, width, value[16];
};
static const enum rte_flow_field_id fields[] = {
	RTE_FLOW_FIELD_MAC_SRC, RTE_FLOW_FIELD_MAC_DST, RTE_FLOW_FIELD_IPV4_SRC, RTE_FLOW_FIELD_IPV4_DST,
	RTE_FLOW_FIELD_IPV6_SRC, RTE_FLOW_FIELD_IPV6_DST, RTE_FLOW_FIELD_IPV4_TTL, RTE_FLOW_FIELD_IPV6_HOPLIMIT,
	RTE_FLOW_FIELD_UDP_PORT_SRC, RTE_FLOW_FIELD_UDP_PORT_DST, RTE_FLOW_FIELD_TCP_PORT_SRC,
	RTE_FLOW_FIELD_TCP_PORT_DST,
};

static struct rte_flow_error error;
static uint32_t group;
static struct rte_flow *flows[FLOWS_MAX];
static unsigned int nb_flows;
static struct rte_mbuf *packets[PACKETS_MAX];
static unsigned int nb_packets;
/* What became of them. */
static struct {
	int queue;
	int64_t mark;
	uint32_t meta;
	char bytes[2 * FRAME_BYTES + 1];
} result[PACKETS_MAX];

/* Bytes of a word in hexadecimal, or of "-": 0. */
static unsigned int
hex_read(const char *word, uint8_t *to, unsigned int room)
{
	unsigned int n = 0, byte;

	while (n < room && sscanf(word + 2 * n, "%2x", &byte) == 1)
		to[n++] = (uint8_t)byte;
	return n;
}

static int64_t
number_next(char **rest)
{
	const char *word = strtok_r(NULL, " \n", rest);

	return word != NULL ? strtoll(word, NULL, 0) : -1;
}

/* Reads items until the end of the line. false: a word is not known. */
static bool
items_read(char **rest, struct rte_flow_item *items, uint8_t (*bytes)[2][ITEM_BYTES])
{
	const char *word, *spec, *mask;
	unsigned int n = 0, i;

	while ((word = strtok_r(NULL, " \n", rest)) != NULL) {
		spec = strtok_r(NULL, " \n", rest);
		mask = strtok_r(NULL, " \n", rest);
		for (i = 0; i < RTE_DIM(kinds) && strcmp(kinds[i].name, word) != 0; i++)
			;
		if (i == RTE_DIM(kinds) || spec == NULL || mask == NULL || n == ITEMS_MAX)
			return false;
		items[n].type = kinds[i].type;
		if (hex_read(spec, bytes[n][0], ITEM_BYTES) != 0)
			items[n].spec = bytes[n][0];
		if (hex_read(mask, bytes[n][1], ITEM_BYTES) != 0)
			items[n].mask = bytes[n][1];
		n++;
	}
	items[n].type = RTE_FLOW_ITEM_TYPE_END;
	return true;
}

/* What actions of a line point to. */
union conf {
	uint8_t bytes[ITEM_BYTES];
	struct rte_flow_action_modify_field modify;
};

static void
modify_make(union conf *conf)
{
	struct modify m;

	memcpy(&m, conf, sizeof(m));
	REQUIRE(m.field < RTE_DIM(fields), "field %u", m.field);
	memset(conf, 0, sizeof(*conf));
	conf->modify.operation = m.operation;
	conf->modify.width = m.width;
	conf->modify.dst.field = fields[m.field];
	conf->modify.dst.offset = m.offset;
	conf->modify.src.field = RTE_FLOW_FIELD_VALUE;
	memcpy(conf->modify.src.value, m.value, sizeof(m.value));
}

/* Reads actions that change packets. false: a word is not known. */
static bool
changes_read(char **rest, struct rte_flow_action *actions, union conf *confs)
{
	const int64_t n = number_next(rest);
	const char *word, *conf;
	unsigned int i;

	for (int64_t k = 0; k < n && k < CHANGES_MAX; k++, actions++, confs++) {
		word = strtok_r(NULL, " \n", rest);
		conf = strtok_r(NULL, " \n", rest);
		for (i = 0; i < RTE_DIM(changes) && word != NULL && strcmp(changes[i].name, word) != 0; i++)
			;
		if (conf == NULL || i == RTE_DIM(changes))
			return false;
		actions->type = changes[i].type;
		if (hex_read(conf, confs->bytes, ITEM_BYTES) != 0)
			actions->conf = confs;
		if (actions->type == RTE_FLOW_ACTION_TYPE_MODIFY_FIELD)
			modify_make(confs);
	}
	return n >= 0 && n <= CHANGES_MAX;
}

static void
flow_line(char **rest)
{
	union conf confs[CHANGES_MAX] = { 0 };
	uint8_t bytes[ITEMS_MAX][2][ITEM_BYTES] = { 0 };
	struct rte_flow_item items[ITEMS_MAX + 1] = { 0 };
	struct rte_flow_attr attr = { .ingress = 1, .group = group, .priority = (uint32_t)number_next(rest) };
	int64_t to = number_next(rest), id = number_next(rest);
	const struct rte_flow_action_queue queue = { .index = (uint16_t)to };
	const struct rte_flow_action_mark mark = { .id = (uint32_t)id };
	/* Those that change packets are between the others. */
	struct rte_flow_action actions[CHANGES_MAX + 4] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = id >= 0 ? RTE_FLOW_ACTION_TYPE_MARK : RTE_FLOW_ACTION_TYPE_VOID, .conf = &mark },
		[CHANGES_MAX + 2] = { .type = to >= 0 ? RTE_FLOW_ACTION_TYPE_QUEUE : RTE_FLOW_ACTION_TYPE_DROP,
				      .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};

	for (unsigned int i = 0; i < CHANGES_MAX; i++)
		actions[2 + i].type = RTE_FLOW_ACTION_TYPE_VOID;
	REQUIRE(changes_read(rest, actions + 2, confs), "an action of the script");
	REQUIRE(items_read(rest, items, bytes) && nb_flows < FLOWS_MAX, "a line of the script");
	memset(&error, 0, sizeof(error));
	flows[nb_flows] = rte_flow_create(PORT_A, &attr, items, actions, &error);
	if (flows[nb_flows] == NULL) {
		printf("flow refused %s\n", error.message != NULL ? error.message : "without a message");
		return;
	}
	nb_flows++;
	printf("flow created\n");
}

static void
set_line(void)
{
	while (nb_flows > 0)
		CHECK_OK(rte_flow_destroy(PORT_A, flows[--nb_flows], &error));
}

static void
packet_line(char **rest)
{
	const char *word = strtok_r(NULL, " \n", rest);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pmd_pool);

	REQUIRE(word != NULL && m != NULL && nb_packets < PACKETS_MAX, "a packet of the script");
	m->data_len = (uint16_t)hex_read(word, rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_tailroom(m));
	m->pkt_len = m->data_len;
	packets[nb_packets++] = m;
}

static void
packet_arrived(const struct rte_mbuf *m, uint16_t queue)
{
	const uint8_t *end = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len);
	unsigned int n = end[-2] << 8 | end[-1];

	REQUIRE(n < nb_packets && result[n].queue < 0 && m->data_len <= FRAME_BYTES, "packet %u", n);
	for (unsigned int i = 0; i < m->data_len; i++)
		snprintf(result[n].bytes + 2 * i, 3, "%02x", *rte_pktmbuf_mtod_offset(m, const uint8_t *, i));
	result[n].meta = m->ol_flags & RTE_MBUF_DYNFLAG_RX_METADATA ? *RTE_FLOW_DYNF_METADATA(m) : 0;
	result[n].queue = queue;
	result[n].mark = m->ol_flags & RTE_MBUF_F_RX_FDIR_ID ? (int64_t)m->hash.fdir.hi : -1;
}

/* Polls all queues once; true: the marker came. */
static bool
poll_queues(void)
{
	const struct rte_ether_hdr *eth;
	struct rte_mbuf *pkts[32];
	bool marker = false;

	for (uint16_t q = 0; q < QUEUES; q++) {
		unsigned int n = rte_eth_rx_burst(PORT_A, q, pkts, RTE_DIM(pkts));

		for (unsigned int i = 0; i < n; i++) {
			eth = rte_pktmbuf_mtod(pkts[i], const struct rte_ether_hdr *);
			if (eth->ether_type == RTE_BE16(MARKER_TYPE))
				marker = true;
			else
				packet_arrived(pkts[i], q);
		}
		rte_pktmbuf_free_bulk(pkts, n);
	}
	return marker;
}

/* A marker has come to its queue after all packets came to theirs: they are there when all are polled once more. */
static void
play_line(void)
{
	struct pmd_frame marker = pmd_frame_udp(PORT_B, PORT_A, 1);
	struct rte_flow_query_count count;
	unsigned int i, sent = 0;

	marker.ether_type = MARKER_TYPE;
	marker.dst = marker.src = (struct rte_ether_addr){ { 6 } };
	for (i = 0; i < nb_packets; i++)
		result[i].queue = -1;
	CHECK(AWAIT((sent += rte_eth_tx_burst(PORT_B, 0, packets + sent, nb_packets - sent)) == nb_packets, 5000),
	      "%u packets of %u sent", sent, nb_packets);
	CHECK_EQ(pmd_send(PORT_B, 0, &marker), 1);
	CHECK(AWAIT(poll_queues(), 5000), "no marker");
	for (i = 0; i < 4; i++)
		(void)poll_queues();
	for (i = 0; i < nb_packets; i++)
		if (result[i].queue < 0)
			printf("packet lost\n");
		else
			printf("packet %d %" PRId64 " 0x%x %s\n", result[i].queue, result[i].mark, result[i].meta,
			       result[i].bytes);
	nb_packets = 0;
	for (i = 0; i < nb_flows; i++) {
		const struct rte_flow_action action[] = { { .type = RTE_FLOW_ACTION_TYPE_COUNT },
							  { .type = RTE_FLOW_ACTION_TYPE_END } };

		memset(&count, 0, sizeof(count));
		CHECK_OK(rte_flow_query(PORT_A, flows[i], action, &count, &error));
		printf("count %" PRIu64 " %" PRIu64 "\n", count.hits, count.bytes);
	}
}

/* Without flows all packets go to queue 0; a group above 0 is given all, and does the same. */
static void
ports_up(void)
{
	static const struct rte_flow_item all[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
						    { .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct pmd_conf conf = { .nb_rxq = QUEUES, .nb_txq = 1, .rss_hf = RTE_ETH_RSS_IP };
	const struct rte_flow_action_jump jump = { .group = group };
	const struct rte_flow_action_queue first = { .index = 0 };
	const struct rte_flow_action to_group[] = { { .type = RTE_FLOW_ACTION_TYPE_JUMP, .conf = &jump },
						    { .type = RTE_FLOW_ACTION_TYPE_END } };
	const struct rte_flow_action to_first[] = { { .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &first },
						    { .type = RTE_FLOW_ACTION_TYPE_END } };
	struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_eth_rss_reta_entry64 reta[512 / RTE_ETH_RETA_GROUP_SIZE] = { { 0 } };
	struct rte_eth_dev_info info;

	CHECK_OK(rte_flow_dynf_metadata_register());
	pmd_ports_up(&conf);
	CHECK_OK(rte_eth_promiscuous_enable(PORT_A));
	CHECK_OK(rte_eth_dev_info_get(PORT_A, &info));
	REQUIRE(info.reta_size <= RTE_DIM(reta) * RTE_ETH_RETA_GROUP_SIZE);
	for (unsigned int i = 0; i < RTE_DIM(reta); i++)
		reta[i].mask = UINT64_MAX;
	CHECK_OK(rte_eth_dev_rss_reta_update(PORT_A, reta, info.reta_size));
	if (group == 0)
		return;
	CHECK(rte_flow_create(PORT_A, &attr, all, to_group, &error) != NULL, "%s", error.message);
	attr.group = group;
	attr.priority = LAST_PRIORITY;
	CHECK(rte_flow_create(PORT_A, &attr, all, to_first, &error) != NULL, "%s", error.message);
}

int
main(int argc, char **argv)
{
	FILE *script = fopen(argv[argc - 1], "r");
	char *line = NULL, *rest, *word;
	size_t room = 0;

	if (script == NULL)
		return 2;
	pmd_init_driver(argc, argv, argv[argc - 3]);
	group = (uint32_t)atoi(argv[argc - 2]);
	ports_up();
	while (getline(&line, &room, script) > 0) {
		word = strtok_r(line, " \n", &rest);
		if (strcmp(word, "set") == 0)
			set_line();
		else if (strcmp(word, "flow") == 0)
			flow_line(&rest);
		else if (strcmp(word, "packet") == 0)
			packet_line(&rest);
		else
			play_line();
	}
	CHECK_OK(rte_flow_flush(PORT_A, &error));
	free(line);
	fclose(script);
	pmd_ports_down();
	return pmd_fini();
}
