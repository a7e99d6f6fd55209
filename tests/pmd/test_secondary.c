/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A secondary process for secondary.py. Without an argument it has mempools of its own: the primary process registers
 * them, and the packets are sent. With "flows" it calls functions of rte_flow, one for each line of its standard input.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mbuf.h>
#include <rte_time.h>

#include "../await.h"
#include "../check.h"

#define PORT 0
#define QUEUE 1
#define PACKETS 256u
#define LENGTH 100
#define ROUNDS 3

/* Sends packets of a new mempool, which is not freed: the last ones may wait for a completion. */
static void
round_run(unsigned int n)
{
	struct rte_mempool *mp;
	struct rte_mbuf *m[32];
	unsigned int sent = 0;
	char name[16];

	snprintf(name, sizeof(name), "round%u", n);
	mp = rte_pktmbuf_pool_create(name, 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	REQUIRE(mp != NULL, "%s", rte_strerror(rte_errno));
	while (sent < PACKETS) {
		uint16_t k = 0;

		REQUIRE(rte_pktmbuf_alloc_bulk(mp, m, RTE_DIM(m)) == 0);
		for (unsigned int i = 0; i < RTE_DIM(m); i++)
			memset(rte_pktmbuf_append(m[i], LENGTH), 0xff, LENGTH);
		CHECK(AWAIT((k += rte_eth_tx_burst(PORT, QUEUE, m + k, RTE_DIM(m) - k)) == RTE_DIM(m), 10000));
		sent += k;
	}
	/* A completion is requested at intervals: those of the next packets complete these. */
	CHECK(AWAIT(rte_eth_tx_burst(PORT, QUEUE, NULL, 0) == 0 &&
		    rte_mempool_avail_count(mp) + 64 >= mp->populated_size, 10000), "%u", rte_mempool_avail_count(mp));
}

/* The PTP clock: that of the port, as long as no process has set it. The rest of timesync belongs to the primary. */
static void
time_test(void)
{
	struct timespec ts = { .tv_sec = -1 };
	uint64_t before, after, ns;

	CHECK_OK(rte_eth_read_clock(PORT, &before));
	CHECK_OK(rte_eth_timesync_read_time(PORT, &ts));
	CHECK_OK(rte_eth_read_clock(PORT, &after));
	ns = rte_timespec_to_ns(&ts);
	CHECK(before > 0 && ns >= before && ns <= after, "%" PRIu64 " is not from %" PRIu64 " to %" PRIu64, ns, before,
	      after);
	CHECK_EQ(rte_eth_timesync_adjust_time(PORT, 1), -ENOTSUP);
	CHECK_EQ(rte_eth_timesync_write_time(PORT, &ts), -ENOTSUP);
	CHECK_EQ(rte_eth_timesync_enable(PORT), -ENOTSUP);
	CHECK_EQ(rte_eth_timesync_read_tx_timestamp(PORT, &ts), -ENOTSUP);
	CHECK_EQ(rte_eth_timesync_read_rx_timestamp(PORT, &ts, 0), -ENOTSUP);
}

static void
mempools_test(void)
{
	struct rte_eth_stats stats = { .opackets = 0 };

	for (unsigned int n = 0; n < ROUNDS; n++)
		round_run(n);
	CHECK_OK(rte_eth_stats_get(PORT, &stats));
	CHECK(stats.opackets >= ROUNDS * PACKETS && stats.oerrors == 0);
	time_test();
	/* The primary process configures the port. */
	CHECK_EQ(rte_eth_dev_stop(PORT), -ENOTSUP);
	CHECK_EQ(rte_eth_dev_set_mtu(PORT, 1400), -ENOTSUP);
	CHECK_EQ(rte_eth_promiscuous_disable(PORT), -ENOTSUP);
}

/* ------------------------------------------------------------------ rte_flow */

/* A query of a count, with a list of two actions, the first of which is void. Prints what it answers. */
static int
count_query(struct rte_flow *flow, bool reset, struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_VOID }, { .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_query_count count = { .reset = reset };
	int rc = rte_flow_query(PORT, flow, actions, &count, error);

	if (rc == 0)
		printf("set %u %u hits %" PRIu64 " bytes %" PRIu64 " ", count.hits_set, count.bytes_set, count.hits,
		       count.bytes);
	return rc;
}

static int
age_query(struct rte_flow *flow, struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_AGE }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_query_age age = { .aged = 1 };
	int rc = rte_flow_query(PORT, flow, actions, &age, error);

	if (rc == 0)
		printf("valid %u aged %u ", age.sec_since_last_hit_valid, age.aged);
	return rc;
}

static int
rss_query(struct rte_flow *flow, struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_RSS }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_action_rss rss = { .queue_num = 0 };

	return rte_flow_query(PORT, flow, actions, &rss, error);
}

static int
handle_query(const struct rte_flow_action_handle *handle, bool reset, struct rte_flow_error *error)
{
	struct rte_flow_query_count count = { .reset = reset };
	int rc = rte_flow_action_handle_query(PORT, handle, &count, error);

	if (rc == 0)
		printf("hits %" PRIu64 " bytes %" PRIu64 " ", count.hits, count.bytes);
	return rc;
}

/* The functions that create; -ENOENT: none of that name. */
static int
create_call(const char *name, struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item pattern[] = { { .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT }, { .type = RTE_FLOW_ACTION_TYPE_END },
	};
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };

	if (strcmp(name, "create") == 0)
		return rte_flow_create(PORT, &attr, pattern, actions, error) != NULL ? 0 : -rte_errno;
	if (strcmp(name, "validate") == 0)
		return rte_flow_validate(PORT, &attr, pattern, actions, error);
	if (strcmp(name, "handle_create") == 0)
		return rte_flow_action_handle_create(PORT, &conf, actions, error) != NULL ? 0 : -rte_errno;
	return -ENOENT;
}

/* The functions of flow queues; -ENOENT: none of that name. */
static int
queue_call(const char *name, void *address, struct rte_flow_error *error)
{
	const struct rte_flow_op_attr attr = { .postpone = 0 };
	const struct rte_flow_item pattern[] = { { .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct rte_flow_action actions[] = { { .type = RTE_FLOW_ACTION_TYPE_END } };
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };
	struct rte_flow_op_result result;
	struct rte_flow_query_count count;

	if (strcmp(name, "queue_create") == 0)
		return rte_flow_async_create(PORT, 0, &attr, NULL, pattern, 0, actions, 0, NULL, error) != NULL ?
		       0 : -rte_errno;
	if (strcmp(name, "queue_destroy") == 0)
		return rte_flow_async_destroy(PORT, 0, &attr, address, NULL, error);
	if (strcmp(name, "queue_push") == 0)
		return rte_flow_push(PORT, 0, error);
	if (strcmp(name, "queue_pull") == 0)
		return rte_flow_pull(PORT, 0, &result, 1, error);
	if (strcmp(name, "queue_handle_create") == 0)
		return rte_flow_async_action_handle_create(PORT, 0, &attr, &conf, actions, NULL, error) != NULL ?
		       0 : -rte_errno;
	if (strcmp(name, "queue_handle_destroy") == 0)
		return rte_flow_async_action_handle_destroy(PORT, 0, &attr, address, NULL, error);
	if (strcmp(name, "queue_handle_update") == 0)
		return rte_flow_async_action_handle_update(PORT, 0, &attr, address, &conf, NULL, error);
	if (strcmp(name, "queue_handle_query") == 0)
		return rte_flow_async_action_handle_query(PORT, 0, &attr, address, &count, NULL, error);
	return -ENOENT;
}

/* Into a file that takes nothing, by way of the stream's buffer. */
static int
dump_full(struct rte_flow *flow, struct rte_flow_error *error)
{
	FILE *file = fopen("/dev/full", "w");
	int rc = file != NULL ? rte_flow_dev_dump(PORT, flow, file, error) : -ENOENT;

	if (file != NULL)
		fclose(file);
	return rc;
}

static int
call(const char *name, void *address, struct rte_flow_error *error)
{
	void *contexts[1];

	if (strcmp(name, "count") == 0 || strcmp(name, "reset") == 0)
		return count_query(address, name[0] == 'r', error);
	if (strcmp(name, "age") == 0)
		return age_query(address, error);
	if (strcmp(name, "rss") == 0)
		return rss_query(address, error);
	if (strcmp(name, "handle") == 0 || strcmp(name, "handle_reset") == 0)
		return handle_query(address, name[6] == '_', error);
	if (strcmp(name, "dump") == 0)
		return rte_flow_dev_dump(PORT, address, stdout, error);
	if (strcmp(name, "dump_full") == 0)
		return dump_full(address, error);
	if (strcmp(name, "destroy") == 0)
		return rte_flow_destroy(PORT, address, error);
	if (strcmp(name, "flush") == 0)
		return rte_flow_flush(PORT, error);
	if (strcmp(name, "isolate") == 0)
		return rte_flow_isolate(PORT, 1, error);
	if (strcmp(name, "aged") == 0)
		return rte_flow_get_aged_flows(PORT, contexts, 1, error);
	if (strcmp(name, "handle_destroy") == 0)
		return rte_flow_action_handle_destroy(PORT, address, error);
	if (strcmp(name, "handle_update") == 0)
		return rte_flow_action_handle_update(PORT, address, contexts, error);
	if (strncmp(name, "queue_", strlen("queue_")) == 0)
		return queue_call(name, address, error);
	return create_call(name, error);
}

/* Lines "FUNCTION ADDRESS"; the answer is a line that begins with the values and ends with result and message. */
static void
flows_test(void)
{
	struct rte_flow_error error;
	uint64_t address;
	char name[32];
	int rc;

	printf("attached\n");
	fflush(stdout);
	while (scanf("%31s %" SCNx64, name, &address) == 2) {
		error = (struct rte_flow_error){ .message = NULL };
		rc = call(name, (void *)(uintptr_t)address, &error);
		printf("%d %s\n", rc, error.message != NULL ? error.message : "");
		fflush(stdout);
	}
}

int
main(int argc, char **argv)
{
	const int n = rte_eal_init(argc, argv);

	if (n < 0 || rte_eal_process_type() != RTE_PROC_SECONDARY)
		return 2;
	CHECK_EQ(rte_eth_dev_count_avail(), 2);
	if (n + 1 < argc && strcmp(argv[n + 1], "flows") == 0)
		flows_test();
	else
		mempools_test();
	return check_exit("secondary");
}
