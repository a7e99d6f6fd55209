/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Rules by firmware flow tables: layout of tables, groups and entries, many rules, refusals.
 *
 * mdv_rule_fw verbs             with the kernel's driver, which owns the root table: one of its rules leads
  *                               to the first table of the test
  * mdv_rule_fw vfio ADDRESS      through VFIO
  * mdv_rule_fw refused           with the kernel's driver; a fault rule refuses a command once
  * mdv_rule_fw kept WHAT         with the kernel's driver; destroying a group or an entry is refused three times
  * mdv_rule_fw unset ADDRESS     through VFIO; SET_FLOW_TABLE_ROOT is refused once
  * mdv_rule_fw keeps ADDRESS     through VFIO; a fault rule makes it impossible to reset the root
  * mdv_rule_fw unsupported       with the kernel's driver; a fault rule makes tables by command impossible
  * mdv_rule_fw crowded           with the kernel's driver; a fault rule limits tables to 2^13 entries
 * mdv_rule_fw small LOG         with the kernel's driver; a fault rule limits tables to 2^LOG entries
  */

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include <mdv_inspect.h>
#include <mdv_private.h>
#include <mdv_rule_int.h>

#include "mdv_test.h"

/* One queue that receives all packets. */
static struct mdv_cq cq;
static struct mdv_rq rq;
static struct mdv_obj *tir;

static bool
queue_create(struct mdv_dev *dev)
{
	const struct mdv_cq_attr cq_attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_rq_attr rq_attr = { .log_wqes = 6, .log_stride_bytes = 4, .socket_id = SOCKET_ID_ANY };
	struct mdv_tir_attr tir_attr = { 0 };

	if (mdv_cq_create(dev, &cq_attr, &cq) != 0)
		return false;
	rq_attr.cqn = cq.cqn;
	if (mdv_rq_create(dev, &rq_attr, &rq) != 0)
		return false;
	tir_attr.rqn = rq.wq.number;
	tir = mdv_tir_create(dev, &tir_attr);
	return tir != NULL;
}

static void
queue_destroy(void)
{
	CHECK_EQ(mdv_obj_destroy(tir), 0);
	CHECK_EQ(mdv_wq_destroy(&rq.wq), 0);
	mdv_cq_destroy(&cq);
}

/* ------------------------------------------------------------------ the first table */

static struct mlx5dv_flow_matcher *matcher;
static struct ibv_flow *flow;
static struct mdv_obj *root;
static unsigned int roots;

/* With the kernel's driver: a rule that matches every frame leads to the first table of the test. */
static int
kernel_root_set(struct mdv_dev *dev, bool egress, struct mdv_obj *table)
{
	struct { size_t bytes; uint32_t dw[16]; } nothing = { .bytes = sizeof(nothing.dw) };
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_mask = (struct mlx5dv_flow_match_parameters *)&nothing,
	};
	struct mlx5dv_flow_action_attr to = { .type = MLX5DV_FLOW_ACTION_DEST_DEVX };

	RTE_SET_USED(egress);
	roots++;
	root = table;
	if (flow != NULL && ibv_destroy_flow(flow) != 0)
		return mdv_fail(EIO);
	flow = NULL;
	if (matcher != NULL && mlx5dv_destroy_flow_matcher(matcher) != 0)
		return mdv_fail(EIO);
	matcher = NULL;
	if (table == NULL)
		return 0;
	to.obj = table->devx;
	matcher = mlx5dv_create_flow_matcher(dev->ibv, &attr);
	if (matcher != NULL)
		flow = mlx5dv_create_flow(matcher, attr.match_mask, 1, &to);
	return flow != NULL ? 0 : mdv_fail(errno);
}

/* Through VFIO: makes the table the root, as the driver does. */
static int
root_set(struct mdv_dev *dev, bool egress, struct mdv_obj *table)
{
	roots++;
	root = table;
	return mdv_rules_fw_root(dev, egress, table);
}

/* From now on the rules of the device are installed in flow tables. */
static void
switch_to_tables(struct mdv_dev *dev)
{
	mdv_rules_close(dev);
	dev->rules = mdv_rules_fw_new(dev, false, dev->mode == MDV_OPEN_VFIO ? root_set : kernel_root_set);
	if (dev->rules == NULL)
		exit(EXIT_FAILURE);
	pthread_mutex_init(&dev->rules->lock, NULL);
}

/* ------------------------------------------------------------------ state of the device */

static bool
table_query(uint32_t id, struct prm_flow_table_context *ctx)
{
	struct prm_query_flow_table_in in = { 0 };
	struct prm_query_flow_table_out out = { 0 };

	prm_query_flow_table_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_TABLE);
	prm_query_flow_table_in_set_table_id(&in, id);
	if (mdv_obj_query(root, &in, sizeof(in), &out, sizeof(out)) != 0)
		return false;
	*ctx = *prm_query_flow_table_out_flow_table_context(&out);
	return true;
}

/* First entry of a group. */
static uint32_t
group_first(struct mdv_dev *dev, uint32_t id)
{
	struct prm_query_flow_group_in in = { 0 };
	struct prm_query_flow_group_out out = { 0 };

	prm_query_flow_group_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_GROUP);
	prm_query_flow_group_in_set_table_id(&in, root->id);
	prm_query_flow_group_in_set_group_id(&in, id);
	CHECK_EQ(mdv_objects_query(dev, prm_command_find(PRM_CMD_OP_QUERY_FLOW_GROUP), &in, sizeof(in), &out,
				   sizeof(out)), 0);
	return prm_query_flow_group_out_get_start_flow_index(&out);
}

/* Entry of the group that was created last. */
static uint32_t
newest_first(struct mdv_dev *dev)
{
	struct mdv_obj_info info[64];
	unsigned int n = RTE_MIN(mdv_objects_get(dev, info, RTE_DIM(info)), RTE_DIM(info));

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(info[i].type, "FLOW_GROUP") == 0)
			return group_first(dev, info[i].id);
	return UINT32_MAX;
}

/* Flow tables of the device, and their groups. */
static unsigned int
tables_count(struct mdv_dev *dev)
{
	struct mdv_obj_info info[64];
	unsigned int count = 0, n = RTE_MIN(mdv_objects_get(dev, info, RTE_DIM(info)), RTE_DIM(info));

	for (unsigned int i = 0; i < n; i++)
		count += strncmp(info[i].type, "FLOW_", strlen("FLOW_")) == 0;
	return count;
}

/* One table, in which the groups stand in the order of the priorities. */
static void
test_priorities(struct mdv_dev *dev)
{
	static const uint16_t order[] = { 3, 5, 0, 15, 1, 16, UINT16_MAX, 300, 4 };
	struct mdv_rule_attr attr = { .tir = tir };
	struct mdv_rule *rule[RTE_DIM(order)];
	uint32_t first[RTE_DIM(order)];
	struct prm_flow_table_context ctx = { { 0 } };

	for (size_t i = 0; i < RTE_DIM(order); i++) {
		attr.priority = order[i];
		rule[i] = mdv_rule_create(dev, &attr);
		REQUIRE(rule[i] != NULL);
		CHECK_EQ(roots, 1);
		first[i] = newest_first(dev);
		for (size_t j = 0; j < i; j++)
			CHECK((first[j] < first[i]) == (order[j] < order[i]), "priority %u at %u, priority %u at %u",
			      order[j], first[j], order[i], first[i]);
	}
	CHECK(table_query(root->id, &ctx));
	CHECK_EQ(prm_flow_table_context_get_level(&ctx), 1);
	CHECK_EQ(prm_flow_table_context_get_table_miss_action(&ctx), 0);
	CHECK_EQ(prm_flow_table_context_get_log_size(&ctx), 20);
	for (size_t i = 0; i < RTE_DIM(order); i++)
		CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
	CHECK_EQ(tables_count(dev), 0);
}

/* A table of 2^13 entries: a priority uses all entries between its neighbours, and not one more. */
static void
test_crowded(struct mdv_dev *dev)
{
	/* Priority n is to start at n * 2^13 / 32; the neighbours have one group of 64. */
	const uint32_t room = 5 * 256 - (3 * 256 + 64);
	struct mdv_rule_attr attr = { .tir = tir };
	struct mdv_rule *neighbour[2], *rule[512];
	static const uint16_t order[] = { 3, 5 };

	REQUIRE(room < RTE_DIM(rule));
	for (size_t i = 0; i < RTE_DIM(order); i++) {
		attr.priority = order[i];
		neighbour[i] = mdv_rule_create(dev, &attr);
		CHECK(neighbour[i] != NULL);
	}
	attr.priority = 4;
	attr.match_dmac = true;
	memset(attr.dmac_mask, 0xff, sizeof(attr.dmac_mask));
	for (uint32_t i = 0; i <= room; i++) {
		attr.dmac[4] = i >> 8;
		attr.dmac[5] = i & 0xff;
		log_begin();
		rule[i] = mdv_rule_create(dev, &attr);
		CHECK((rule[i] != NULL) == (i < room), "rule %u of %u", i, room);
		CHECK_EQ(lines_with(log_end(), "no room for more rules of priority 4"), i == room);
	}
	for (uint32_t i = 0; i <= room; i++)
		CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
	for (size_t i = 0; i < RTE_DIM(order); i++)
		CHECK_EQ(mdv_rule_destroy(neighbour[i]), 0);
}

/* A further table: rules in it, and one of the root that leads to it and counts. */
static void
test_table(struct mdv_dev *dev)
{
	struct mdv_rule_table *table = mdv_rule_table_create(dev, false, MDV_TABLE_LEVEL_MIN);
	struct mdv_obj *counter = mdv_flow_counters_create(dev, 1);
	struct mdv_rule_attr lead = { .jump = table, .counter = counter, .priority = 2, .tag = 7 };
	struct mdv_rule_attr attr = { .table = table, .tir = tir, .ethertype = 0x800, .counter = counter };
	struct mdv_rule_attr drop = { .table = table, .priority = 40000, .counter = counter };
	struct mdv_rule *rule[3];
	struct mdv_flow_count count = { 1, 1 };

	REQUIRE(table != NULL && counter != NULL);
	rule[0] = mdv_rule_create(dev, &attr);
	rule[1] = mdv_rule_create(dev, &drop);
	rule[2] = mdv_rule_create(dev, &lead);
	for (size_t i = 0; i < RTE_DIM(rule); i++)
		CHECK(rule[i] != NULL);
	CHECK_EQ(mdv_flow_counters_read(counter, 1, &count), 0);
	CHECK_EQ(count.packets, 0);
	CHECK_EQ(count.bytes, 0);
	for (size_t i = RTE_DIM(rule); i-- > 0;)
		CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
	CHECK_EQ(mdv_obj_destroy(counter), 0);
	mdv_rule_table_destroy(table);
	log_begin();
	CHECK(mdv_rule_table_create(dev, false, MDV_TABLE_LEVEL_MIN + MDV_TABLE_LEVELS) == NULL);
	CHECK_EQ(rte_errno, ENOTSUP);
	CHECK_EQ(lines_with(log_end(), "max_ft_level 64, needed is more than 64"), 1);
}

/* Counters that are created and read at once: rules of tables count in each of them. */
static void
test_flow_counters(struct mdv_dev *dev)
{
	struct mdv_rule_table *table = mdv_rule_table_create(dev, false, MDV_TABLE_LEVEL_MIN);
	struct mdv_obj *bulk = mdv_flow_counters_create(dev, 512);
	struct mdv_rule_attr attr = { .table = table, .tir = tir, .counter = bulk, .counter_offset = 511 };
	struct mdv_flow_count counts[512];
	struct mdv_rule *rule;

	REQUIRE(table != NULL && bulk != NULL);
	rule = mdv_rule_create(dev, &attr);
	CHECK(rule != NULL);
	memset(counts, 0xff, sizeof(counts));
	CHECK_EQ(mdv_flow_counters_read(bulk, 512, counts), 0);
	CHECK_EQ(counts[0].packets | counts[511].bytes, 0);
	log_begin();
	CHECK_EQ(mdv_flow_counters_read(bulk, 5, counts), -EINVAL);
	CHECK(mdv_flow_counters_create(dev, 3) == NULL && rte_errno == EINVAL);
	CHECK(mdv_flow_counters_create(dev, 384) == NULL && rte_errno == EINVAL);
	CHECK(mdv_flow_counters_create(dev, 1024) == NULL && rte_errno == EINVAL);
	CHECK_EQ(lines_with(log_end(), "counters"), 4);
	CHECK_EQ(mdv_rule_destroy(rule), 0);
	mdv_rule_table_destroy(table);
	CHECK_EQ(mdv_obj_destroy(bulk), 0);
}

#define MANY 5000u
/* As many rules as the addresses and VLANs of a port need; free entries are used before a group is created. */
static void
test_many(struct mdv_dev *dev)
{
	struct mdv_rule_attr attr = { .match_dmac = true, .dmac_mask = { 255, 255, 255, 255, 255, 255 },
				      .ip_version = 4, .ip_proto = 17, .match_frag = true,
				      .match_vlan = true, .vlan_id = 7, .tir = tir };
	struct mdv_rule **rule = calloc(MANY, sizeof(*rule));
	unsigned int i, made = 0;

	REQUIRE(rule != NULL);
	for (int round = 0; round < 2; round++) {
		for (i = 0; i < MANY; i++) {
			if (rule[i] != NULL)
				continue;
			attr.dmac[4] = i >> 8;
			attr.dmac[5] = i & 0xff;
			rule[i] = mdv_rule_create(dev, &attr);
			made += rule[i] != NULL;
		}
		for (i = 0; i < MANY && round == 0; i += 3) {
			CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
			rule[i] = NULL;
		}
	}
	CHECK_EQ(made, MANY + (MANY + 2) / 3);
	for (i = MANY; i-- > 0;)
		CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
	free(rule);
}

/* Sixteen masks of one priority: each has a group of its own. */
static void
test_masks(struct mdv_dev *dev)
{
	struct mdv_rule *rule[16];

	for (unsigned int i = 0; i < 16; i++) {
		struct mdv_rule_attr attr = {
			.match_dmac = i & 1, .dmac_mask = { 1 }, .ethertype = i & 2 ? 0x800 : 0,
			.match_vlan = i & 4, .vlan_id = 0xffff, .match_frag = i & 8,
			.tir = i & 1 ? tir : NULL, .tag = 0x123,
		};

		rule[i] = mdv_rule_create(dev, &attr);
		CHECK(rule[i] != NULL);
	}
	for (unsigned int i = 0; i < 16; i++)
		CHECK_EQ(mdv_rule_destroy(rule[i * 7 % 16]), 0);
}

/* A rule that the device refuses leaves nothing, and the next one succeeds. */
static void
test_refused(struct mdv_dev *dev)
{
	struct mdv_rule_attr attr = { .priority = 2, .ethertype = 0x800, .tir = tir };
	struct mdv_rule *rule;

	log_begin();
	CHECK(mdv_rule_create(dev, &attr) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(lines_with(log_end(), "refused: BAD_RES_STATE (0x09), syndrome 0x2a3d5c"), 1);
	CHECK_EQ(tables_count(dev), 0);
	rule = mdv_rule_create(dev, &attr);
	CHECK(rule != NULL);
	CHECK_EQ(mdv_rule_destroy(rule), 0);
	CHECK_EQ(tables_count(dev), 0);
}

/* What the device refuses to destroy stays, and with it the table: further rules are created beside it. */
static void
test_kept(struct mdv_dev *dev, bool entry)
{
	/* An entry that stays would keep the TIR, too. */
	struct mdv_rule_attr attr = { .priority = 2, .ethertype = 0x800, .tir = entry ? NULL : tir };
	struct mdv_rule *rule = mdv_rule_create(dev, &attr), *other;

	REQUIRE(rule != NULL);
	log_begin();
	CHECK_EQ(mdv_rule_destroy(rule), entry ? -EINVAL : 0);
	CHECK_EQ(lines_with(log_end(), entry ? "DELETE_FLOW_TABLE_ENTRY (0x938) refused" :
					       "DESTROY_FLOW_GROUP (0x934) refused"), 1);
	CHECK_EQ(tables_count(dev), entry ? 2 : 1);
	log_begin();
	for (int i = 0; i < 2; i++) {
		rule = mdv_rule_create(dev, &attr);
		attr.match_vlan = true;
		other = mdv_rule_create(dev, &attr);
		attr.match_vlan = false;
		CHECK(rule != NULL && other != NULL);
		CHECK_EQ(mdv_rule_destroy(rule), 0);
		CHECK_EQ(mdv_rule_destroy(other), 0);
	}
	CHECK_EQ(roots, 1);
	CHECK_EQ(lines_of(log_end()), 0);
}

/* The device cannot make the tables: no rule, and one line that has the capabilities. */
static void
test_unsupported(struct mdv_dev *dev)
{
	struct mdv_rule_attr attr = { .ethertype = 0x800, .tir = tir };
	size_t before = 0;

	log_begin();
	CHECK(mdv_rule_create(dev, &attr) == NULL);
	CHECK_EQ(rte_errno, ENOTSUP);
	CHECK_EQ(lines_with(log_end(), "no rules: the device's receive tables cannot be made by command"), 1);
	CHECK_EQ(roots, 0);
	/* Each try reads the capabilities, and leaves nothing allocated. */
	log_begin();
	for (int i = 0; i < 128; i++) {
		if (i == 64)
			before = mallinfo2().uordblks;
		CHECK(mdv_rule_create(dev, &attr) == NULL);
	}
	CHECK(mallinfo2().uordblks < before + sizeof(struct prm_query_hca_cap_out) * 32);
	CHECK_EQ(lines_of(log_end()), 128);
}

/* A table of the smallest sizes: each entry is used, also after those of a group were freed; then it is full. */
static void
test_small(struct mdv_dev *dev, unsigned int entries)
{
	struct mdv_rule_attr attr = { .match_dmac = true, .dmac_mask = { 255, 255, 255, 255, 255, 255 }, .tir = tir };
	struct mdv_rule_attr other = { .ethertype = 0x800, .tir = tir };
	struct mdv_rule *rule[256], *first;
	struct prm_flow_table_context ctx = { { 0 } };

	REQUIRE(entries < RTE_DIM(rule));
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < entries; i++) {
			attr.dmac[5] = i;
			rule[i] = mdv_rule_create(dev, &attr);
			CHECK(rule[i] != NULL);
		}
		CHECK(table_query(root->id, &ctx));
		CHECK_EQ(1u << prm_flow_table_context_get_log_size(&ctx), entries);
		attr.dmac[5] = entries;
		for (int i = 0; i < 2; i++) {
			log_begin();
			CHECK(mdv_rule_create(dev, i == 0 ? &attr : &other) == NULL);
			CHECK_EQ(rte_errno, ENOSPC);
			CHECK_EQ(lines_with(log_end(), "no room for more rules of priority 0"), 1);
		}
		/* The first group is free: another mask gets its entries. */
		for (unsigned int i = 0; i < 64; i++)
			CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
		first = mdv_rule_create(dev, &other);
		CHECK(first != NULL);
		CHECK_EQ(mdv_rule_destroy(first), 0);
		for (unsigned int i = 64; i < entries; i++)
			CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
	}
}

static struct mdv_dev *
device_open(const char *mode, const char *argument)
{
	bool vfio = strcmp(mode, "vfio") == 0 || strcmp(mode, "unset") == 0 || strcmp(mode, "keeps") == 0;
	struct mdv_dev *dev = NULL;
	struct rte_pci_addr pci;

	if (vfio && rte_pci_addr_parse(argument, &pci) == 0)
		(void)mdv_open(&pci, MDV_OPEN_VFIO, &dev);
	else if (!vfio && test_device(0, &pci) == 0)
		(void)mdv_open(&pci, MDV_OPEN_VERBS, &dev);
	return dev;
}

static void
run(struct mdv_dev *dev, const char *mode, const char *argument)
{
	if (strcmp(mode, "refused") == 0) {
		test_refused(dev);
	} else if (strcmp(mode, "kept") == 0) {
		test_kept(dev, strcmp(argument, "entry") == 0);
	} else if (strcmp(mode, "unsupported") == 0) {
		test_unsupported(dev);
	} else if (strcmp(mode, "small") == 0) {
		test_small(dev, 1u << atoi(argument));
	} else if (strcmp(mode, "crowded") == 0) {
		test_crowded(dev);
	} else if (strcmp(mode, "unset") == 0) {
		test_refused(dev);
	} else {
		test_priorities(dev);
		test_table(dev);
	test_flow_counters(dev);
		test_masks(dev);
		test_many(dev);
		CHECK_EQ(dev->refused, 0);
	}
}

int
main(int argc, char **argv)
{
	char *eal[] = { argv[0], "--no-huge", "--no-shconf", "-m", "64", "--no-pci",
			"-l", "0", "--no-telemetry", "--iova-mode=va" };
	const char *argument = argc > 2 ? argv[2] : "";
	struct mdv_dev *dev;

	if (argc < 2 || rte_eal_init(RTE_DIM(eal), eal) < 0)
		return EXIT_FAILURE;
	dev = device_open(argv[1], argument);
	if (dev == NULL)
		return EXIT_FAILURE;
	switch_to_tables(dev);
	CHECK(queue_create(dev));
	run(dev, argv[1], argument);
	queue_destroy();
	mdv_close(dev);
	CHECK(flow == NULL && matcher == NULL);
	CHECK_EQ(root == NULL, strcmp(argv[1], "keeps") != 0);
	(void)rte_eal_cleanup();
	return check_exit("rule_fw");
}
