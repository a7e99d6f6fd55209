/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The common layer on a device, emulated or real.
 *
 * mdv_device all            every constructor and destructor; the device refuses nothing
 * mdv_device host           each call to the host and to rdma-core fails once
 * mdv_device lost           each kind of object cannot be destroyed
 * mdv_device refused COMMAND STATUS ERRNO   a fault rule refuses COMMAND once with STATUS
 * mdv_device reopen         opens three times; one of them may fail
 * mdv_device query          a command that only reads is refused: QUERY_ISSI with RESOURCE_BUSY
 * mdv_device uplink LINE    of a PF in switchdev mode; the opening fails with that line, or succeeds if it is empty
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include <mdv_rule.h>

#include "mdv_test.h"

/* With MDV_TEST_HUGE=1 the test uses hugepages, whose memory EAL can return to the system. */
#define NEEDED_HUGE_MIB 80u
#define SKIPPED 77

static const struct {
	const char *name;
	void (*run)(struct mdv_dev *dev);
} tests[] = {
	{ "queues", test_queues },
	{ "rss", test_rss },
	{ "rules", test_rules },
	{ "changes", test_changes },
	{ "memory", test_memory },
	{ "external memory", test_external_memory },
	{ "hotplug", test_hotplug },
	{ "port", test_port },
	{ "counters", test_counters },
	{ "clock", test_clock },
	{ "vector", test_vector },
	{ "devx", test_devx },
};

static void
check_opened(const struct mdv_dev *dev, const struct rte_pci_addr *pci)
{
	const struct mdv_caps *caps = &dev->caps;

	CHECK(rte_pci_addr_cmp(&dev->pci, pci) == 0);
	CHECK(strncmp(dev->ibdev_name, "mlx5_", 5) == 0);
	CHECK(dev->fw_version[0] != '\0');
	CHECK(dev->pdn != 0);
	CHECK_EQ(dev->refused, 0);
	CHECK(caps->pci_device_id >= 0x1013);
	CHECK(caps->log_max_cq_sz >= 6 && caps->log_max_cq_sz <= 22);
	CHECK(caps->log_max_wq_sz >= 6 && caps->log_max_wq_sz <= 15);
	CHECK(caps->max_sq_desc_ds >= 4 && caps->max_sq_desc_ds <= 63);
	CHECK(caps->csum && caps->vlan_strip && caps->rss_ipv4_ipv6);
	/* A ConnectX-4 Lx wants headers inline, has no VLAN insertion, and sends no enhanced multi-packet WQEs. */
	CHECK_EQ(caps->vlan_insert, caps->pci_device_id != 0x1015);
	CHECK_EQ(caps->mpw, caps->pci_device_id != 0x1015);
	CHECK_EQ(caps->sq_inline_mode, caps->pci_device_id == 0x1015);
	CHECK(caps->q_counters && caps->vport_counters);
	CHECK(caps->log_min_strides == 3 || caps->log_min_strides == 9);
	CHECK_EQ(caps->rx_hash_fields, 0xf);
}

/** Two ports can be open at the same time, and repeatedly. */
static void
test_open(void)
{
	struct rte_pci_addr pci[2];
	struct mdv_dev *dev[2];

	REQUIRE(test_device(0, &pci[0]) == 0 && test_device(1, &pci[1]) == 0);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 2; i++) {
			REQUIRE(mdv_open(&pci[i], MDV_OPEN_VERBS, &dev[i]) == 0);
			check_opened(dev[i], &pci[i]);
		}
		CHECK(strcmp(dev[0]->ibdev_name, dev[1]->ibdev_name) != 0);
		CHECK(strcmp(dev[0]->netdev_name, dev[1]->netdev_name) != 0);
		mdv_close(dev[round % 2]);
		mdv_close(dev[1 - round % 2]);
	}
}

/** With too few descriptors to find, or to open, a device the error is EMFILE and one line names it. */
static void
test_descriptors(void)
{
	struct rte_pci_addr pci;
	struct rlimit was, few;
	struct mdv_dev *dev;
	unsigned int n = 0;
	const char *text;
	int ret, first;

	REQUIRE(test_device(0, &pci) == 0 && getrlimit(RLIMIT_NOFILE, &was) == 0);
	first = open("/", O_RDONLY | O_CLOEXEC);
	REQUIRE(first >= 0);
	close(first);
	do {
		few = was;
		few.rlim_cur = (rlim_t)first + n;
		REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
		log_begin();
		ret = mdv_open(&pci, MDV_OPEN_VERBS, &dev);
		text = log_end();
		REQUIRE(setrlimit(RLIMIT_NOFILE, &was) == 0);
		if (ret == 0)
			mdv_close(dev);
		else
			CHECK(ret == -EMFILE && lines_with(text, "EMFILE") == 1, "%u free: %d, %s", n, ret, text);
	} while (ret != 0 && ++n < 64);
	CHECK(ret == 0 && n > 2, "opened with %u free", n);
	printf("descriptors to open a device: %u\n", n);
}

static void
run_all(void)
{
	struct rte_mempool *early;
	struct rte_pci_addr pci;
	struct mdv_dev *dev;

	early = rte_pktmbuf_pool_create("early", 511, 32, 0, 2048, SOCKET_ID_ANY);
	REQUIRE(early != NULL);
	test_open();
	test_descriptors();
	REQUIRE(test_device(0, &pci) == 0);
	REQUIRE(mdv_open(&pci, MDV_OPEN_VERBS, &dev) == 0);
	for (size_t i = 0; i < RTE_DIM(tests); i++) {
		unsigned int before = check_failures;

		tests[i].run(dev);
		printf("%s: %s\n", tests[i].name, check_failures == before ? "ok" : "FAILED");
	}
	CHECK_EQ(dev->refused, 0);
	mdv_close(dev);
	/* After close a mempool may be freed: the event callback is unregistered. */
	rte_mempool_free(early);
}

/* ------------------------------------------------------------------ refusals */

/** What a rule changes of packets, by command. */
static int
changes_make(struct mdv_dev *dev)
{
	const struct prm_set_add_copy_action_in_auto a = test_change_action(PRM_ACTION_IN_FIELD_OUT_SIPV4, 32, 1);
	static const uint8_t l2[14];
	struct mdv_change_caps caps;
	struct mdv_change *modify = NULL, *l3 = NULL;
	int ret = mdv_change_caps(dev, false, &caps);

	if (ret == 0 && caps.max_modify != 0 &&
	    (modify = mdv_change_get(dev, MDV_CHANGE_MODIFY, false, &a, sizeof(a))) == NULL)
		ret = -rte_errno;
	if (ret == 0 && caps.decap_l3 &&
	    (l3 = mdv_change_get(dev, MDV_CHANGE_DECAP_L3, false, l2, sizeof(l2))) == NULL)
		ret = -rte_errno;
	mdv_change_put(modify);
	mdv_change_put(l3);
	return ret;
}

int
test_queues_make(struct mdv_dev *dev)
{
	const struct mdv_cq_attr cq_attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_sq_attr sq_attr = { .log_wqebbs = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_rq_attr rq_attr = { .log_wqes = 6, .log_stride_bytes = 4,
				       .socket_id = SOCKET_ID_ANY };
	struct mdv_tir_attr tir_attr = { 0 };
	struct mdv_rule_attr rule_attr = { .ethertype = 0x800 };
	struct mdv_obj *tis = NULL, *rqt = NULL, *tir = NULL;
	struct mdv_cq cq = { 0 };
	struct mdv_sq sq = { 0 };
	struct mdv_rq rq = { 0 };
	struct mdv_rule *rule = NULL;
	int ret;

	/* What a queue's structure has before does not matter. */
	memset(&cq, 0xff, sizeof(cq));
	ret = mdv_cq_create(dev, &cq_attr, &cq);
	if (ret == 0 && (tis = mdv_tis_create(dev)) == NULL)
		ret = -rte_errno;
	sq_attr.cqn = rq_attr.cqn = cq.cqn;
	sq_attr.tisn = tis != NULL ? tis->id : 0;
	if (ret == 0) {
		memset(&sq, 0xff, sizeof(sq));
		ret = mdv_sq_create(dev, &sq_attr, &sq);
	}
	if (ret == 0)
		ret = mdv_wq_modify(&sq.wq, MDV_QS_RDY);
	if (ret == 0) {
		memset(&rq, 0xff, sizeof(rq));
		ret = mdv_rq_create(dev, &rq_attr, &rq);
	}
	if (ret == 0)
		ret = mdv_wq_modify(&rq.wq, MDV_QS_RDY);
	if (ret == 0 && (rqt = mdv_rqt_create(dev, 1, &rq.wq.number, 1)) == NULL)
		ret = -rte_errno;
	tir_attr.rqtn = rqt != NULL ? rqt->id : 0;
	if (ret == 0 && (tir = mdv_tir_create(dev, &tir_attr)) == NULL)
		ret = -rte_errno;
	rule_attr.tir = tir;
	if (ret == 0 && (rule = mdv_rule_create(dev, &rule_attr)) == NULL)
		ret = -rte_errno;
	if (ret == 0)
		ret = changes_make(dev);
	mdv_rule_destroy(rule);
	mdv_obj_destroy(tir);
	mdv_obj_destroy(rqt);
	mdv_wq_destroy(&rq.wq);
	mdv_wq_destroy(&sq.wq);
	mdv_obj_destroy(tis);
	mdv_cq_destroy(&cq);
	return ret;
}

/** For each command that a data path needs: the refusal logs one line with its errno, and a second try succeeds. */
static void
run_refused(const char *command, const char *status, const char *err)
{
	struct rte_pci_addr pci;
	struct mdv_dev *dev;
	const char *text;
	char head[64];
	int ret;

	REQUIRE(test_device(0, &pci) == 0);
	REQUIRE(mdv_open(&pci, MDV_OPEN_VERBS, &dev) == 0);
	log_begin();
	ret = test_queues_make(dev);
	text = log_end();
	CHECK(ret < 0);
	CHECK(strcmp(mdv_errno_name(-ret), err) == 0);
	CHECK_EQ(dev->refused, 1);
	CHECK_EQ(lines_of(text), 1);
	snprintf(head, sizeof(head), ": %s (0x", command);
	CHECK_EQ(lines_with(text, head), 1);
	CHECK_EQ(lines_with(text, status), 1);
	CHECK_EQ(lines_with(text, "syndrome 0x2a3d5c"), 1);
	snprintf(head, sizeof(head), "-> %s", err);
	CHECK_EQ(lines_with(text, head), 1);
	fputs(text, stdout);
	CHECK_EQ(test_queues_make(dev), 0);
	mdv_close(dev);
}

/** Opens and closes once; a failure logs one line and leaves nothing. Returns whether it opened. */
static bool
open_once(const struct rte_pci_addr *pci)
{
	struct mdv_dev *dev = NULL;
	const char *text;
	int ret;

	log_begin();
	ret = mdv_open(pci, MDV_OPEN_VERBS, &dev);
	text = log_end();
	fputs(text, stdout);
	CHECK(lines_of(text) <= 1);
	if (ret != 0) {
		CHECK(ret < 0 && ret > -4096);
		CHECK_EQ(rte_errno, -ret);
		CHECK(dev == NULL);
		CHECK_EQ(lines_of(text), 1);
	}
	mdv_close(dev);
	return ret == 0;
}

/** A command of any of the three openings is refused once: that opening fails or continues without it. */
static void
run_reopen(void)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create("reopen", 511, 0, 0, 2048, SOCKET_ID_ANY);
	struct rte_pci_addr pci;
	unsigned int opened = 0;

	REQUIRE(mp != NULL);
	REQUIRE(test_device(0, &pci) == 0);
	for (int i = 0; i < 3; i++)
		opened += open_once(&pci);
	CHECK(opened >= 2);
	printf("opened %u of 3\n", opened);
	rte_mempool_free(mp);
}

/** Size of free 2 MiB hugepages in MiB. */
static unsigned int
free_huge_mib(void)
{
	FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "re");
	unsigned int pages = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%u", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * 2;
}

static int
eal_start(const char *program)
{
	const char *const huge[] = { program, "--in-memory", "--no-pci", "--no-telemetry", "-l", "0",
				     "--iova-mode=va", "-m", "16" };
	const char *const no_huge[] = { program, "--no-huge", "--no-pci", "--no-telemetry", "-l",
					"0", "--iova-mode=va", "-m", "128", "--no-shconf" };
	const char *wanted = getenv("MDV_TEST_HUGE");
	bool with_huge = wanted != NULL && wanted[0] == '1';
	static char text[RTE_DIM(no_huge)][256];
	char *argv[RTE_DIM(no_huge)];
	int argc = with_huge ? RTE_DIM(huge) : RTE_DIM(no_huge);

	if (with_huge && free_huge_mib() < NEEDED_HUGE_MIB) {
		fprintf(stderr, "not %u MiB of free hugepages: skipped\n", NEEDED_HUGE_MIB);
		exit(SKIPPED);
	}
	for (int i = 0; i < argc; i++) {
		snprintf(text[i], sizeof(text[i]), "%s", with_huge ? huge[i] : no_huge[i]);
		argv[i] = text[i];
	}
	return rte_eal_init(argc, argv);
}

static void
run_query(void)
{
	struct rte_pci_addr pci;
	struct mdv_dev *dev;

	REQUIRE(test_device(0, &pci) == 0);
	REQUIRE(mdv_open(&pci, MDV_OPEN_VERBS, &dev) == 0);
	test_devx_refused(dev);
	mdv_close(dev);
}

/** Each call to the host fails in turn; the second port stays as it is. */
static void
run_host(void)
{
	struct rte_pci_addr pci[2];
	struct mdv_dev *dev;

	REQUIRE(test_device(0, &pci[0]) == 0 && test_device(1, &pci[1]) == 0);
	REQUIRE(mdv_open(&pci[1], MDV_OPEN_VERBS, &dev) == 0);
	test_host(dev, &pci[0]);
	mdv_close(dev);
}

/** Tables, rules and their limits in the eswitch; the audit demands that a failed opening leaves none of them. */
static void
run_uplink(const char *line)
{
	struct rte_pci_addr pci;
	struct mdv_dev *dev;
	const char *text;

	REQUIRE(test_device(0, &pci) == 0);
	log_begin();
	CHECK_EQ(mdv_open(&pci, MDV_OPEN_VERBS, &dev) == 0, line[0] == '\0');
	mdv_close(dev);
	text = log_end();
	CHECK(line[0] == '\0' || lines_with(text, line) == 1, "%s", text);
	CHECK_EQ(lines_of(text), line[0] != '\0');
}

/** Objects that cannot be destroyed: they are left until the process ends. */
static void
run_lost(void)
{
	struct rte_pci_addr pci;

	REQUIRE(test_device(0, &pci) == 0);
	test_objects_lost(&pci);
}

int
main(int argc, char **argv)
{
	if (argc < 2 || eal_start(argv[0]) < 0) {
		fprintf(stderr, "usage: %s all|host|lost|reopen|query|refused COMMAND STATUS ERRNO\n", argv[0]);
		return 2;
	}
	if (strcmp(argv[1], "host") == 0)
		run_host();
	else if (strcmp(argv[1], "lost") == 0)
		run_lost();
	else if (strcmp(argv[1], "all") == 0)
		run_all();
	else if (strcmp(argv[1], "reopen") == 0)
		run_reopen();
	else if (strcmp(argv[1], "query") == 0)
		run_query();
	else if (strcmp(argv[1], "uplink") == 0 && argc == 3)
		run_uplink(argv[2]);
	else if (strcmp(argv[1], "refused") == 0 && argc == 5)
		run_refused(argv[2], argv[3], argv[4]);
	else
		CHECK(false, "no case '%s'", argv[1]);
	rte_eal_cleanup();
	return check_exit("device");
}
