/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Replies of telemetry, field by field, of a port in memory; and what a reply has when memory or room is short.
 */

#include <rte_telemetry.h>

#include <mdv_inspect.h>
#include <mdv_mlx4.h>

#include "host_sim.h"
#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_mprq.h"
#include "telemetry_sim.h"

/* ------------------------------------------------------------------ the device */

static struct mdv_dev mdv;
static struct rte_eth_dev eth_dev;
static struct rte_eth_dev_data data;
static struct rte_device device;
static struct mlxpmd_clock clock_;
static struct mlxpmd_rxq rxq;
static struct mlxpmd_txq txq;
static bool removed;

bool
mdv_removed(const struct mdv_dev *dev)
{
	CHECK(dev == &mdv);
	CHECK(locks > 0, "the port may be closed meanwhile");
	return removed;
}

bool
mdv_memory_kept(const struct mdv_dev *dev)
{
	CHECK(dev == &mdv);
	return true;
}

void
mlxpmd_queue_stats_get(const struct mlxpmd_queue *q, struct mlxpmd_queue_stats *out)
{
	const bool tx = q->kind == MLXPMD_TX;

	CHECK(pthread_mutex_trylock(&port.lock) != 0);
	*out = (struct mlxpmd_queue_stats){
		.errors = 11 + tx, .cqe_bad = 21 + tx, .resets = 31 + tx, .stalls = 41 + tx, .packets = 51 + tx,
		.bytes = 61 + tx, .nombuf = 71,
	};
}

unsigned int
mlxpmd_mprq_held(const struct mlxpmd_rxq *q)
{
	CHECK(q == &rxq);
	return 72;
}

void
mlxpmd_clock_info_get(const struct mlxpmd_clock *clock, struct mlxpmd_clock_info *info)
{
	CHECK(clock == &clock_);
	*info = (struct mlxpmd_clock_info){
		.state = { .source = MDV_CLOCK_PAGE, .unit = "ns", .epoch = "none", .frequency_hz = 51, .offset_ns = -52,
			   .drift_ppm = -1.5, .uncertainty_ns = 54, .steps = 55, .slews = 56, .busy = 57, .failed = 58,
			   .rejected = 59, .refreshes = 60, .next_us = 61 },
		.quality = MDV_CLOCK_GOOD, .age_ns = 62, .generation = 63, .expired = 64, .attempts = 65,
	};
}

const char *
mdv_clock_quality_name(enum mdv_clock_quality quality)
{
	return quality == MDV_CLOCK_GOOD ? "good" : "other";
}

const char *
mdv_clock_source_name(enum mdv_clock_source source)
{
	return source == MDV_CLOCK_PAGE ? "page" : "other";
}

static bool async;

void
mlxpmd_counts_get(struct mlxpmd_port *p, enum mlxpmd_counts_of which, struct mlxpmd_counts *counts)
{
	CHECK(p == &port);
	if (which == MLXPMD_MISSED)
		counts->missed = 71;
	else
		for (unsigned int i = 0; i < MDV_COUNTERS_MAX; i++)
			counts->counters[i] = 80 + i;
	counts->queried_ns[which] = 72 + which;
}

void
mlxpmd_counts_info_get(struct mlxpmd_port *p, struct mlxpmd_counts_info *info)
{
	CHECK(p == &port);
	*info = (struct mlxpmd_counts_info){
		.readings = { 73, 74 }, .failures = { 75, 76 }, .outstanding = 77, .async = async,
	};
}

uint64_t
mlxpmd_counts_age_us(const struct mlxpmd_counts *counts, enum mlxpmd_counts_of which)
{
	return 1000 + counts->queried_ns[which];
}

unsigned int
mdv_counters_count(const struct mdv_dev *dev)
{
	CHECK(dev == &mdv);
	return 2;
}

const char *
mdv_counter_name(const struct mdv_dev *dev, unsigned int i)
{
	CHECK(dev == &mdv && i < 2);
	return i == 0 ? "rx_first" : "rx_second";
}

#define NOW_NS (UINT64_C(1000) * 1000 * 1000)

int
mlxpmd_tasks_visit(uint16_t port_id, struct mlxpmd_sched *worker,
		   int (*visit)(void *arg, const char *thread, const struct mlxpmd_task *task), void *arg)
{
	static const struct mlxpmd_task task[] = {
		{ .name = "due", .period_ns = 2000000, .due_ns = NOW_NS + 3000000, .runs = 4, .total_ns = 400,
		  .last_ns = 90, .max_ns = 150, .late_max_ns = 5000000 },
		{ .name = "late", .period_ns = 7000, .due_ns = NOW_NS - 1 },
		{ .name = "idle", .period_ns = MLXPMD_TASK_IDLE, .due_ns = MLXPMD_TASK_IDLE },
	};
	int rc = 0;

	CHECK(port_id == port.port_id && worker == &port.worker);
	for (size_t i = 0; rc == 0 && i < RTE_DIM(task); i++)
		rc = visit(arg, "thread", &task[i]);
	return rc;
}

/* What a request does, and what the reply has: so many fields, then names and values that are special. */
static struct {
	int make_rc, run_rc;
	uint8_t status;
	const char *refused;
	unsigned int fields;
	size_t out_bytes, rest_bytes;
	uint8_t rest[4];
	unsigned int made;
} fw;

int
mdv_request_run(struct mdv_dev *dev, struct mdv_request *q)
{
	CHECK(dev == &mdv);
	q->status = fw.status;
	q->syndrome = fw.status != 0 ? 0xabcdef : 0;
	return fw.run_rc;
}

int
mdv_request_make(const char *command, const uint8_t *rest, size_t rest_bytes, struct mdv_request *q)
{
	fw.made++;
	CHECK_STR(command, "QUERY");
	memset(q, 0, sizeof(*q));
	q->name = "QUERY_IT";
	q->opcode = 0x101;
	q->out_bytes = fw.out_bytes;
	memset(q->out, 0xa1, fw.out_bytes / 2);
	fw.rest_bytes = rest_bytes;
	memcpy(fw.rest, rest, RTE_MIN(rest_bytes, sizeof(fw.rest)));
	snprintf(q->refused, sizeof(q->refused), "%s", fw.refused);
	return fw.make_rc;
}

int
mdv_request_caps(const char *page, struct mdv_request *q)
{
	fw.made++;
	memset(q, 0, sizeof(*q));
	return strcmp(page, "GENERAL") == 0 || strcmp(page, "ROCE") == 0 ? 0 : -ENOENT;
}

const char *
mdv_caps_page_name(unsigned int i)
{
	return i == 0 ? "GENERAL" : i == 1 ? "ROCE" : NULL;
}

void
mdv_reply_fields(const struct mdv_request *q, mdv_field_cb cb, void *arg)
{
	char path[32];

	CHECK(q != NULL);
	cb(arg, "status", 1, NULL);
	cb(arg, "syndrome", 1, NULL);
	cb(arg, "capability.general.log_max", 5, NULL);
	cb(arg, "pas[2].low", INT64_MAX, NULL);
	cb(arg, "guid", (uint64_t)INT64_MAX + 1, NULL);
	cb(arg, "state", 3, "RDY");
	if (fw.fields == 0) {
		cb(arg, "refused", 1, NULL);
		cb(arg, "capability.name_of_an_array_element_of_a_long_structure_of_a_reply_that_is_longer_than_names_of_telemetry"
			"_may_be_in_any_of_the_releases", 1, NULL);
	}
	for (unsigned int i = 4; i < fw.fields; i++) {
		snprintf(path, sizeof(path), "capability.f%u", i);
		cb(arg, path, i, NULL);
	}
}

static unsigned int nb_objects;

unsigned int
mdv_objects_get(struct mdv_dev *dev, struct mdv_obj_info *info, unsigned int n)
{
	static const struct mdv_obj_info some[] = { { "CQ", 5, 0 }, { "pas[1]", 6, 0 }, { "CQ", 7, 0 } };

	CHECK(dev == &mdv && n == 4096);
	memcpy(info, some, sizeof(some));
	for (unsigned int i = RTE_DIM(some); i < RTE_MIN(n, nb_objects); i++)
		info[i] = (struct mdv_obj_info){ "TIR", i, 0 };
	return nb_objects;
}

static int mlx4_rc;

int
mdv_mlx4_query(const struct rte_pci_addr *pci, struct mdv_mlx4 *out)
{
	CHECK(pci->bus == 3 && pci->devid == 0 && out->comp_mask == 0);
	*out = (struct mdv_mlx4){ "mlx4_0", "2.42", "ConnectX-3", 0x1003, 2, 7, 704, 0 };
	return mlx4_rc;
}

static void
port_make(void)
{
	static pthread_mutexattr_t checked;

	memset(&port, 0, sizeof(port));
	snprintf(mdv.ibdev_name, sizeof(mdv.ibdev_name), "mlx5_3");
	snprintf(mdv.netdev_name, sizeof(mdv.netdev_name), "eth3");
	snprintf(mdv.fw_version, sizeof(mdv.fw_version), "22.1.2");
	mdv.refused = 13;
	mdv.lost = 14;
	mdv.caps = (struct mdv_caps){
		.pci_device_id = 0x101d, .vport_num = 1, .log_max_cq_sz = 2, .log_max_wq_sz = 3, .log_max_rqt_size = 4,
		.max_sq_desc_ds = 5, .min_inline_mode = 6, .log_min_strides = 3, .max_mtu = 7, .rx_hash_fields = 9,
		.device_frequency_khz = 8, .tunnel_vxlan = true, .tunnel_geneve = true, .swp_csum = true,
		.csum = true, .vlan_strip = true, .rss_ipv4_ipv6 = true, .ts_free_running = true, .q_counters = true,
	};
	device.name = "0000:c1:00.3";
	data.dev_started = 1;
	eth_dev.device = &device;
	eth_dev.data = &data;
	port.eth_dev = &eth_dev;
	port.port_id = 3;
	port.mdv = &mdv;
	port.clock = &clock_;
	port.mac = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, 0xab } };
	port.args = (struct mlxpmd_devargs){
		.rx_burst = MLXPMD_BURST_AVX2, .stats_age_ms = 100, .open = MDV_OPEN_VFIO,
	};
	port.rx_burst_name = "fast";
	port.rx_burst_why = "best";
	pthread_mutexattr_init(&checked);
	pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&port.lock, &checked);
	rxq.q = (struct mlxpmd_queue){ .kind = MLXPMD_RX, .queue_id = 15, .state = MLXPMD_QS_READY, .syndrome = 4,
					  .vendor_syndrome = 0x51 };
	txq.q = (struct mlxpmd_queue){ .kind = MLXPMD_TX, .queue_id = 0, .state = MLXPMD_QS_FAILED };
	rxq.q.hw.wq.obj = txq.q.hw.wq.obj = (struct mdv_obj *)&mdv;
	TAILQ_INIT(&port.queues[MLXPMD_RX]);
	TAILQ_INIT(&port.queues[MLXPMD_TX]);
	TAILQ_INSERT_HEAD(&port.queues[MLXPMD_RX], &rxq.q, next);
	TAILQ_INSERT_HEAD(&port.queues[MLXPMD_TX], &txq.q, next);
	fw.fields = 6, fw.out_bytes = 96, fw.refused = "";
	nb_objects = 5;
}

/* ------------------------------------------------------------------ tests */

static void
test_info(void)
{
	CHECK_OK(run("/mlxpmd/info", "3"));
	CHECK_STR(text,
		  "port=3\npci=0000:c1:00.3\ndevice=mlx5_3\ninterface=eth3\nfirmware=22.1.2\nmac=02:00:00:00:00:AB\nstarted=1\n"
		  "removed=0\nmemory_kept=1\ncommands_refused=13\ntimestamp_unit=ns\n"
		  "devargs/rx_burst=avx2\ndevargs/tx_burst=auto\ndevargs/clock=auto\ndevargs/rxq_cqe_comp_en=0\n"
		  "devargs/stats_age_ms=100\ndevargs/txq_inline_mpw=0\ndevargs/txq_inline_max=0\ndevargs/txqs_min_inline=0\ndevargs/open=vfio\n"
		  "devargs/doorbell=auto\ndevargs/mprq_en=0\ndevargs/mprq_log_stride_num=0\ndevargs/mprq_log_stride_size=0\n"
		  "devargs/mprq_max_memcpy_len=0\ndevargs/rxqs_min_mprq=0\ndevargs/lro_timeout_usec=0\ndevargs/recorder=off\n"
		  "capabilities/pci_device_id=4125\ncapabilities/vport=1\ncapabilities/log_max_cq_sz=2\ncapabilities/log_max_wq_sz=3\n"
		  "capabilities/log_max_rqt_size=4\ncapabilities/max_sq_desc_bytes=80\ncapabilities/min_inline_mode=6\ncapabilities/log_min_strides=3\n"
		  "capabilities/max_mtu=7\ncapabilities/device_frequency_khz=8\ncapabilities/checksum=1\ncapabilities/vlan_insert=0\n"
		  "capabilities/vlan_strip=1\ncapabilities/scatter_fcs=0\ncapabilities/rss=1\ncapabilities/rx_hash_fields=9\ncapabilities/multi_packet_wqe=0\n"
		  "capabilities/tunnel_vxlan=1\ncapabilities/tunnel_gre=0\ncapabilities/tunnel_geneve=1\ncapabilities/tunnel_ipip=0\n"
		  "capabilities/software_parser=1\ncapabilities/software_parser_tso=0\ncapabilities/mini_cqe_formats=0\ncapabilities/mini_cqe_enhanced=0\ncapabilities/rate_limits=0\ncapabilities/timestamp_free_running=1\n"
		  "capabilities/timestamp_real_time=0\ncapabilities/queue_counters=1\ncapabilities/vport_counters=0\nrx_burst/name=fast\nrx_burst/why=best\n"
		  "rx_compression/name=none\nrx_compression/why=the port was not started yet\ntx_burst/name=none\ntx_burst/why=the port was not started yet\n");
	clock_.kind = MDV_CLOCK_TICKS;
	removed = true;
	CHECK_OK(run("/mlxpmd/info", "3"));
	CHECK(has("timestamp_unit=ticks") && has("removed=1"));
	port.clock = NULL;
	removed = false;
	CHECK_OK(run("/mlxpmd/info", "3"));
	CHECK(has("timestamp_unit=none"));
	CHECK_OK(run("/mlxpmd/clock", "3"));
	CHECK_STR(text, "port=3\nsource=none\n");
	clock_.kind = MDV_CLOCK_LINE;
	port.clock = &clock_;
}

static void
test_queues(void)
{
	CHECK_OK(run("/mlxpmd/queues", "3"));
	CHECK_STR(text, "rx15/state=ready\nrx15/packets=51\nrx15/bytes=61\nrx15/mbuf_missing=71\nrx15/completion_errors=11\nrx15/completions_refused=21\nrx15/resets=31\n"
			"rx15/last_syndrome=PROT\nrx15/last_vendor_syndrome=81\n"
			"tx0/state=failed\ntx0/packets=52\ntx0/bytes=62\ntx0/packets_lost=12\ntx0/completions_refused=22\ntx0/resets=32\ntx0/stalls=42\n"
			"tx0/last_syndrome=none\ntx0/last_vendor_syndrome=0\ntx0/rate_limit_mbps=0\ntx0/inline_mpw=0\ntx0/inline_max=0\n"
			"tx0/inline_why=the port was not started yet\n");
	rxq.striding = (struct mlxpmd_striding){ .log_strides = 6, .attached = 70, .given = 1, .lro_packets = 5 };
	CHECK_OK(run("/mlxpmd/queues", "3"));
	CHECK(has("rx15/striding/strides=64\nrx15/striding/stride_bytes=0\nrx15/striding/buffers=0") &&
	      has("rx15/striding/buffers_held=72\nrx15/striding/packets_attached=71\nrx15/striding/lro=0") &&
	      has("rx15/striding/lro_timeout_us=0\nrx15/striding/lro_packets=5"));
	rxq.striding = (struct mlxpmd_striding){ .log_strides = 0 };
}

static void
test_clock(void)
{
	CHECK_OK(run("/mlxpmd/clock", "3"));
	CHECK_STR(text, "port=3\nquality=good\nsource=page\nunit=ns\nepoch=none\nfrequency_hz=51\noffset_ns=-52\n"
			"drift_ppm=-1.5000\nuncertainty_ns=54\nage_ns=62\ngeneration=63\nsteps=55\nslews=56\nbusy=57\n"
			"expired=64\nfailed=58\nrejected=59\nrefreshes=60\nrefresh_us=61\nattempts=65\n");
}

static void
test_stats(void)
{
	CHECK_OK(run("/mlxpmd/stats", "3"));
	CHECK_STR(text, "stats_age_ms=100\nmissed_by=worker\nmissed=71\nmissed_age_us=1072\nmissed_readings=73\n"
			"missed_failures=75\nunanswered=77\ncounters_age_us=1073\ncounters_readings=74\n"
			"counters_failures=76\ncounters/rx_first=80\ncounters/rx_second=81\n");
	async = true;
	CHECK_OK(run("/mlxpmd/stats", "3"));
	CHECK(has("missed_by=asynchronous query"));
	port.args.stats_age_ms = 0;
	CHECK_OK(run("/mlxpmd/stats", "3"));
	CHECK(has("missed_by=caller") && has("stats_age_ms=0"));
	port.args.stats_age_ms = 100;
}

static void
test_tasks(void)
{
	CHECK_OK(run("/mlxpmd/tasks", "3"));
	CHECK_STR(text, "due/thread=thread\ndue/period_us=2000\ndue/due_in_us=3000\ndue/runs=4\ndue/last_ns=90\n"
			"due/mean_ns=100\ndue/max_ns=150\ndue/late_max_us=5000\n"
			"late/thread=thread\nlate/period_us=7\nlate/due_in_us=0\nlate/runs=0\nlate/last_ns=0\nlate/mean_ns=0\n"
			"late/max_ns=0\nlate/late_max_us=0\n"
			"idle/thread=thread\nidle/period_us=0\nidle/due_in_us=never\nidle/runs=0\nidle/last_ns=0\nidle/mean_ns=0\n"
			"idle/max_ns=0\nidle/late_max_us=0\n");
}

static void
test_list(void)
{
	static struct mlxpmd_port other = { .port_id = 1 };
	char last[8];

	CHECK_OK(mlxpmd_telemetry_up(&other));
	CHECK_OK(run("/mlxpmd/list", NULL));
	CHECK_STR(text, "=3\n=1\n");
	CHECK_OK(run("/mlxpmd/list", ""));
	CHECK_EQ(run("/mlxpmd/list", "3"), -EINVAL);
	mlxpmd_telemetry_down(&other);
	/* A port that is not listed may have the same id as one that is. */
	other.port_id = 3;
	mlxpmd_telemetry_down(&other);
	CHECK_OK(run("/mlxpmd/list", NULL));
	CHECK_STR(text, "=3\n");
	CHECK_EQ(run("/mlxpmd/info", "1"), -ENODEV);
	CHECK_EQ(run("/mlxpmd/info", NULL), -EINVAL);
	CHECK_EQ(run("/mlxpmd/info", "3x"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/info", RTE_STR(RTE_MAX_ETHPORTS)), -EINVAL);
	snprintf(last, sizeof(last), "%d", RTE_MAX_ETHPORTS - 1);
	CHECK_EQ(run("/mlxpmd/info", last), -ENODEV);
}

static void
test_words(void)
{
	static char params[MLXPMD_WORDS_BYTES + 1];
	struct mlxpmd_words words;

	CHECK_EQ(mlxpmd_words_split(&words, NULL), -EINVAL);
	CHECK_OK(mlxpmd_words_split(&words, "a,,c,d"));
	CHECK(words.n == 4 && strcmp(words.w[0], "a") == 0 && words.w[1][0] == '\0' && strcmp(words.w[3], "d") == 0);
	CHECK_EQ(mlxpmd_words_split(&words, "a,b,c,d,e"), -EINVAL);
	CHECK_OK(mlxpmd_words_split(&words, ""));
	CHECK_EQ(words.n, 1);
	memset(params, 'x', MLXPMD_WORDS_BYTES - 1);
	CHECK_OK(mlxpmd_words_split(&words, params));
	CHECK_EQ(strlen(words.w[0]), MLXPMD_WORDS_BYTES - 1);
	params[MLXPMD_WORDS_BYTES - 1] = 'x';
	CHECK_EQ(mlxpmd_words_split(&words, params), -EINVAL);
}

#define FIELDS "fields/log_max=5\nfields/pas/2/low=9223372036854775807\nfields/guid=0x8000000000000000\n" \
	       "fields/state=RDY\nfields/f4=4\nfields/f5=5\n"
#define PAGES "pages/=GENERAL\npages/=ROCE\n"
#define REFUSED "answer=refused\nerrno=EIO\nstatus=NINE\nmeaning=meaning\nsyndrome=11259375\n" \
		"syndrome_meaning=syndrome 0xabcdef\n"

static void
test_caps(void)
{
	char line[2 * RTE_TEL_MAX_STRING_LEN];

	CHECK_OK(run("/mlxpmd/caps", "3"));
	CHECK_STR(text, "port=3\ndevice=mlx5_3\ndriver=mlx5\nanswer=done\n" FIELDS PAGES);
	CHECK_OK(run("/mlxpmd/caps", "3,ROCE"));
	CHECK(has("answer=done"));
	CHECK_OK(run("/mlxpmd/caps", "3,NONE"));
	CHECK_STR(text, "answer=not issued: there is no such page\n" PAGES);
	CHECK_EQ(run("/mlxpmd/caps", "3,ROCE,1"), -EINVAL);
	fw.made = 0;
	CHECK_EQ(run("/mlxpmd/caps", NULL), -EINVAL);
	CHECK_EQ(fw.made, 0);
	/* A name that DPDK refuses, and one that is too long for it. */
	fw.fields = 0;
	CHECK_OK(run("/mlxpmd/caps", "3"));
	CHECK(has("left_out=1") && strstr(text, "refused") == NULL);
	snprintf(line, sizeof(line), "fields/%.*s=1", RTE_TEL_MAX_STRING_LEN - 1, "name_of_an_array_element_of_a_long_structure_of"
		 "_a_reply_that_is_longer_than_names_of_telemetry_may_be_in_any_of_the_releases");
	CHECK(has(line), "%s", text);
	fw.fields = 6;
	CHECK_EQ(run("/mlxpmd/caps", "2"), -ENODEV);
	fw.status = 9;
	fw.run_rc = -EIO;
	CHECK_OK(run("/mlxpmd/caps", "3"));
	CHECK_STR(text, "port=3\ndevice=mlx5_3\ndriver=mlx5\n" REFUSED PAGES);
	fw.status = 0;
	fw.run_rc = 0;
	/* More fields than a dictionary of DPDK has room for. */
	for (fw.fields = 240; fw.fields <= 242; fw.fields++) {
		CHECK_OK(run("/mlxpmd/caps", "3"));
		CHECK(has("fields/f239=239") && !has("fields/f240=240"));
		CHECK_EQ(has("left_out=1"), fw.fields == 241);
		CHECK_EQ(has("left_out=2"), fw.fields == 242);
	}
	fw.fields = 6;
}

static void
test_mlx4(void)
{
	static const struct {
		int rc;
		const char *want;
	} row[] = {
		{ 0, "pci=0000:03:00.0\ndevice=mlx4_0\ndriver=mlx4\nanswer=done\ncard=ConnectX-3\nserved_by=net_mlx4\n"
		     "firmware=2.42\nports=2\nversion=7\nmax_inl_recv_sz=704\ncomp_mask=0\n" },
		{ -ENOTSUP, "pci=0000:03:00.0\nanswer=no mlx4 device: a port of mlxpmd is given by its id\nerrno=EOPNOTSUPP\n" },
		{ -ENODEV, "pci=0000:03:00.0\nanswer=no RDMA device there\nerrno=ENODEV\n" },
		{ -EIO, "pci=0000:03:00.0\nanswer=the device does not answer\nerrno=EIO\n" },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		mlx4_rc = row[i].rc;
		CHECK_OK(run("/mlxpmd/caps", "0000:03:00.0"));
		CHECK_STR(text, row[i].want);
	}
	CHECK_EQ(run("/mlxpmd/caps", "0000:zz"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/caps", "0000:03:00.0,ROCE"), -EINVAL);
}

static void
test_objects(void)
{
	CHECK_OK(run("/mlxpmd/objects", "3"));
	CHECK_STR(text, "port=3\nobjects=5\nlost=14\ncommands_refused=13\ntypes/CQ/=5\ntypes/CQ/=7\ntypes/pas/1/=6\n"
			"types/TIR/=3\ntypes/TIR/=4\n");
	/* More than are listed. */
	nb_objects = 5000;
	CHECK_OK(run("/mlxpmd/objects", "3"));
	CHECK(has("objects=5000") && has("types/CQ/=7") && has("types/TIR/=3") && !has("types/TIR/=4096"));
	nb_objects = 5;
	CHECK_EQ(run("/mlxpmd/objects", "2"), -ENODEV);
}

/* The first half of the reply is 0xa1. */
static void
test_cmd(void)
{
#define BYTES8 "a1a1a1a1a1a1a1a1"
#define BYTES32 BYTES8 BYTES8 BYTES8 BYTES8
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY,0Aff10"));
	CHECK_STR(text, "port=3\ncommand=QUERY_IT\nopcode=257\nanswer=done\n" FIELDS "hex/=" BYTES32 "\nhex/=" BYTES8 BYTES8
			"00000000000000000000000000000000\n");
	CHECK(fw.rest_bytes == 3 && fw.rest[0] == 0x0a && fw.rest[1] == 0xff && fw.rest[2] == 0x10);
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
	CHECK_EQ(fw.rest_bytes, 0);
	fw.out_bytes = 64;
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
	CHECK_STR(strstr(text, "hex"), "hex/=" BYTES32 "\n");
	/* As many lines as there is room for; nothing but zeros. */
	fw.out_bytes = 2 * 32 * 65;
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
	CHECK_EQ(strlen(strstr(text, "hex")), 64 * (strlen("hex/=") + 64 + 1));
	/* A line and one byte, one byte, and zeros alone. */
	fw.out_bytes = 66;
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
	CHECK(strstr(text, "hex/=" BYTES32 "\nhex/=a100") != NULL, "%s", text);
	fw.out_bytes = 2;
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
	CHECK(strstr(text, "hex/=a100") != NULL, "%s", text);
	for (fw.out_bytes = 0; fw.out_bytes < 2; fw.out_bytes++) {
		CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
		CHECK(strstr(text, "hex") == NULL);
	}
	fw.out_bytes = 96;
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY,0"));
	CHECK_STR(text, "answer=not issued: HEX is two digits a byte and nothing else\nerrno=EINVAL\n");
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY,0g"));
	CHECK(has("errno=EINVAL"));
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY,g0"));
	CHECK(has("errno=EINVAL"));
	CHECK_EQ(run("/mlxpmd/cmd", "3"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/cmd", "3,QUERY,00,1"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/cmd", NULL), -EINVAL);
	CHECK_EQ(run("/mlxpmd/cmd", "4,QUERY"), -ENODEV);
}

static void
test_cmd_refused(void)
{
	static const struct {
		int rc;
		bool removed;
		const char *answer;
	} failed[] = {
		{ -ENOENT, false, "answer=no such object of this port" }, { -EIO, true, "answer=the device was removed" },
		{ -ENOENT, true, "answer=no such object of this port" }, { -ENODEV, false, "answer=the device was removed" },
		{ -EINVAL, false, "answer=not permitted by the kernel" }, { -EPERM, false, "answer=not permitted by the kernel" },
		{ -EACCES, false, "answer=not permitted by the kernel" },
		{ -EOPNOTSUPP, false, "answer=not permitted by the kernel" },
		{ -EIO, false, "answer=the device does not answer" },
	};
	static const struct {
		int rc;
		const char *refused, *want;
	} not_issued[] = {
		{ -EPERM, "", "answer=not issued: this command changes something, or may\nerrno=EPERM\n" },
		{ -EPERM, "clear", "answer=not issued: this changes something, or may: clear\nerrno=EPERM\n" },
		{ -EPERM, "c", "answer=not issued: this changes something, or may: c\nerrno=EPERM\n" },
		{ -EMSGSIZE, "", "answer=not issued: too many bytes for this command\nerrno=EMSGSIZE\n" },
		{ -ENOENT, "", "answer=not issued: there is no such command\nerrno=ENOENT\n" },
	};
	char line[64];

	for (size_t i = 0; i < RTE_DIM(failed); i++) {
		fw.run_rc = failed[i].rc;
		removed = failed[i].removed;
		CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
		snprintf(line, sizeof(line), "errno=%s", strerrorname_np(-failed[i].rc));
		CHECK(has(failed[i].answer) && has(line) && strstr(text, "status") == NULL, "row %zu: %s", i, text);
	}
	removed = false;
	fw.status = 9;
	fw.run_rc = -EIO;
	CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
	CHECK(strstr(text, REFUSED) != NULL, "%s", text);
	fw.status = 0;
	fw.run_rc = 0;
	for (size_t i = 0; i < RTE_DIM(not_issued); i++) {
		fw.make_rc = not_issued[i].rc;
		fw.refused = not_issued[i].refused;
		CHECK_OK(run("/mlxpmd/cmd", "3,QUERY"));
		CHECK_STR(text, not_issued[i].want);
	}
	fw.make_rc = 0;
	fw.refused = "";
}

static void
test_explain(void)
{
	CHECK_OK(run("/mlxpmd/explain", "9"));
	CHECK_STR(text, "status=NINE\nerrno=EINVAL\nmeaning=meaning\n");
	CHECK_OK(run("/mlxpmd/explain", "NINE,0x12"));
	CHECK_STR(text, "status=NINE\nerrno=EINVAL\nmeaning=meaning\nsyndrome_meaning=syndrome 0x12\n");
	CHECK_OK(run("/mlxpmd/explain", "255,4294967295"));
	CHECK(has("status=UNKNOWN") && has("syndrome_meaning=syndrome 0xffffffff"));
	CHECK_EQ(run("/mlxpmd/explain", "256"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/explain", "9,4294967296"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/explain", "9,1,2"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/explain", "TEN"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/explain", NULL), -EINVAL);
	CHECK_OK(run("/mlxpmd/explain", "cqe,4"));
	CHECK_STR(text, "completion=PROT\nmeaning=memory key\n");
	CHECK_OK(run("/mlxpmd/explain", "cqe,255"));
	CHECK_EQ(run("/mlxpmd/explain", "cqe,256"), -EINVAL);
	CHECK_EQ(run("/mlxpmd/explain", "cqe"), -EINVAL);
}

/* A reply has what was added before memory or room was short, and reports it; without a reply the error is returned. */
static void
test_short(void)
{
	static const struct {
		const char *name, *params;
		unsigned int calls;
	} row[] = {
		{ "/mlxpmd/info", "3", 2 * 5 }, { "/mlxpmd/queues", "3", 2 * 2 }, { "/mlxpmd/clock", "3", 0 },
		{ "/mlxpmd/stats", "3", 2 }, { "/mlxpmd/tasks", "3", 2 * 3 }, { "/mlxpmd/caps", "3", 1 + 2 * 2 },
		{ "/mlxpmd/objects", "3", 1 + 2 * 4 }, { "/mlxpmd/cmd", "3,QUERY", 1 + 2 * 2 },
		{ "/mlxpmd/caps", "3,NONE", 1 + 2 },
	};
	static char full[sizeof(text)];

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		CHECK_OK(run(row[i].name, row[i].params));
		memcpy(full, text, sizeof(full));
		for (unsigned int k = 0; k < row[i].calls; k++) {
			int rc = run_failing(row[i].name, row[i].params, k);
			char *end = strstr(text, "errno=");

			CHECK(hit != NULL && (rc == 0 || rc == (strcmp(hit, "container") == 0 ? -E2BIG : -ENOMEM)), "%s %u: %d",
			      row[i].name, k, rc);
			if (rc != 0)
				continue;
			CHECK(end != NULL && (strcmp(end, "errno=ENOMEM\n") == 0 ||
					      (strcmp(hit, "container") == 0 && strcmp(end, "errno=E2BIG\n") == 0)), "%s %u: %s",
			      row[i].name, k, text);
			if (end != NULL)
				*end = '\0';
			CHECK(strlen(text) < strlen(full) && strncmp(text, full, strlen(text)) == 0, "%s %u: %s", row[i].name,
			      k, text);
		}
		CHECK_OK(run_failing(row[i].name, row[i].params, row[i].calls));
		CHECK(hit == NULL && strcmp(text, full) == 0, "%s", row[i].name);
	}
}

int
main(void)
{
	now_ns = NOW_NS;
	port_make();
	check_help();
	CHECK_OK(run("/mlxpmd/list", NULL));
	CHECK_STR(text, "");
	CHECK_EQ(run("/mlxpmd/info", "3"), -ENODEV);
	CHECK_OK(mlxpmd_telemetry_up(&port));
	CHECK_EQ(locks, 0);
	test_info();
	test_queues();
	test_clock();
	test_stats();
	test_tasks();
	test_list();
	test_words();
	test_caps();
	test_mlx4();
	test_objects();
	test_cmd();
	test_cmd_refused();
	test_explain();
	test_short();
	mlxpmd_telemetry_down(&port);
	CHECK_EQ(locks, 0);
	CHECK_EQ(run("/mlxpmd/info", "3"), -ENODEV);
	return check_exit("telemetry data");
}
