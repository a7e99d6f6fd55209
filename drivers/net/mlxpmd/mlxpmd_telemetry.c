/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Telemetry of ports: the list of ports, and the commands of the table at the end of this file.
 *
 * Runs in telemetry's own threads, under the lock of the list: a port that is found there is not closed meanwhile.
 * No command of this file waits for the device, except /mlxpmd/stats with stats_age_ms=0.
 */

#include <stdarg.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "mlxpmd_clock_refresh.h"
#include "mlxpmd_ctrl.h"
#include "mlxpmd_mprq.h"

static TAILQ_HEAD(, mlxpmd_port) telemetry_ports = TAILQ_HEAD_INITIALIZER(telemetry_ports);
static pthread_mutex_t telemetry_lock = PTHREAD_MUTEX_INITIALIZER;

static struct mlxpmd_port *
port_find(uint16_t port_id)
{
	struct mlxpmd_port *port;

	TAILQ_FOREACH(port, &telemetry_ports, next)
		if (port->port_id == port_id)
			return port;
	return NULL;
}

int
mlxpmd_telemetry_up(struct mlxpmd_port *port)
{
	pthread_mutex_lock(&telemetry_lock);
	TAILQ_INSERT_TAIL(&telemetry_ports, port, next);
	pthread_mutex_unlock(&telemetry_lock);
	return 0;
}

void
mlxpmd_telemetry_down(struct mlxpmd_port *port)
{
	pthread_mutex_lock(&telemetry_lock);
	if (port_find(port->port_id) == port)
		TAILQ_REMOVE(&telemetry_ports, port, next);
	pthread_mutex_unlock(&telemetry_lock);
}

int
mlxpmd_words_split(struct mlxpmd_words *words, const char *params)
{
	char *next = words->text;

	words->n = 0;
	if (params == NULL || strlcpy(words->text, params, sizeof(words->text)) >= sizeof(words->text))
		return -EINVAL;
	while (next != NULL) {
		if (words->n == RTE_DIM(words->w))
			return -EINVAL;
		words->w[words->n++] = strsep(&next, ",");
	}
	return 0;
}

int
mlxpmd_telemetry_port(const char *params, struct rte_tel_data *d, mlxpmd_telemetry_fill_t fill, void *arg)
{
	struct mlxpmd_port *port;
	unsigned long port_id;
	int rc = mlxpmd_number_parse(params, 10, RTE_MAX_ETHPORTS - 1, &port_id);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&telemetry_lock);
	port = port_find(port_id);
	if (port != NULL) {
		rte_tel_data_start_dict(d);
		rc = fill(d, port, arg);
		/* DPDK frees the children of a reply only: return those there are, with the reason for the rest. */
		if (rc < 0)
			(void)rte_tel_data_add_dict_string(d, "errno", strerrorname_np(-rc));
	}
	pthread_mutex_unlock(&telemetry_lock);
	return port != NULL ? 0 : -ENODEV;
}

int
mlxpmd_telemetry_add(struct rte_tel_data *d, const char *name, struct rte_tel_data *child)
{
	int rc = rte_tel_data_add_dict_container(d, name, child, 0);

	if (rc != 0)
		rte_tel_data_free(child);
	return rc;
}

struct rte_tel_data *
mlxpmd_telemetry_dict(struct rte_tel_data *d, const char *name)
{
	struct rte_tel_data *c = rte_tel_data_alloc();

	if (c == NULL)
		return NULL;
	rte_tel_data_start_dict(c);
	return mlxpmd_telemetry_add(d, name, c) == 0 ? c : NULL;
}

static int
telemetry_list(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct mlxpmd_port *port;

	RTE_SET_USED(cmd);
	if (params != NULL && params[0] != '\0')
		return -EINVAL;
	rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
	pthread_mutex_lock(&telemetry_lock);
	TAILQ_FOREACH(port, &telemetry_ports, next)
		rte_tel_data_add_array_int(d, port->port_id);
	pthread_mutex_unlock(&telemetry_lock);
	return 0;
}

/* ------------------------------------------------------------------ /mlxpmd/info */

static int
add_capabilities(struct rte_tel_data *d, const struct mdv_caps *caps)
{
	struct rte_tel_data *c = mlxpmd_telemetry_dict(d, "capabilities");

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_int(c, "pci_device_id", caps->pci_device_id);
	rte_tel_data_add_dict_int(c, "vport", caps->vport_num);
	rte_tel_data_add_dict_int(c, "log_max_cq_sz", caps->log_max_cq_sz);
	rte_tel_data_add_dict_int(c, "log_max_wq_sz", caps->log_max_wq_sz);
	rte_tel_data_add_dict_int(c, "log_max_rqt_size", caps->log_max_rqt_size);
	rte_tel_data_add_dict_int(c, "max_sq_desc_bytes", 16 * caps->max_sq_desc_ds);
	rte_tel_data_add_dict_int(c, "min_inline_mode", caps->min_inline_mode);
	rte_tel_data_add_dict_int(c, "log_min_strides", caps->log_min_strides);
	rte_tel_data_add_dict_int(c, "max_mtu", caps->max_mtu);
	rte_tel_data_add_dict_uint(c, "device_frequency_khz", caps->device_frequency_khz);
	rte_tel_data_add_dict_int(c, "checksum", caps->csum);
	rte_tel_data_add_dict_int(c, "vlan_insert", caps->vlan_insert);
	rte_tel_data_add_dict_int(c, "vlan_strip", caps->vlan_strip);
	rte_tel_data_add_dict_int(c, "scatter_fcs", caps->scatter_fcs);
	rte_tel_data_add_dict_int(c, "rss", caps->rss_ipv4_ipv6);
	rte_tel_data_add_dict_int(c, "rx_hash_fields", caps->rx_hash_fields);
	rte_tel_data_add_dict_int(c, "multi_packet_wqe", caps->mpw);
	rte_tel_data_add_dict_int(c, "tunnel_vxlan", caps->tunnel_vxlan);
	rte_tel_data_add_dict_int(c, "tunnel_gre", caps->tunnel_gre);
	rte_tel_data_add_dict_int(c, "tunnel_geneve", caps->tunnel_geneve);
	rte_tel_data_add_dict_int(c, "tunnel_ipip", caps->tunnel_ipip);
	rte_tel_data_add_dict_int(c, "software_parser", caps->swp_csum);
	rte_tel_data_add_dict_int(c, "software_parser_tso", caps->swp_lso);
	rte_tel_data_add_dict_int(c, "mini_cqe_formats", caps->mini_cqes);
	rte_tel_data_add_dict_int(c, "mini_cqe_enhanced", caps->mini_cqes_enhanced);
	rte_tel_data_add_dict_int(c, "rate_limits", caps->num_rates);
	rte_tel_data_add_dict_int(c, "timestamp_free_running", caps->ts_free_running);
	rte_tel_data_add_dict_int(c, "timestamp_real_time", caps->ts_realtime);
	rte_tel_data_add_dict_int(c, "queue_counters", caps->q_counters);
	rte_tel_data_add_dict_int(c, "vport_counters", caps->vport_counters);
	return 0;
}

static int
add_burst(struct rte_tel_data *d, const char *direction, const char *name, const char *why)
{
	struct rte_tel_data *c = mlxpmd_telemetry_dict(d, direction);

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_string(c, "name", name != NULL ? name : "none");
	rte_tel_data_add_dict_string(c, "why", why != NULL ? why : "the port was not started yet");
	return 0;
}

/* In the order of enum mdv_mini_cqe. */
static int
add_compression(struct rte_tel_data *d, const struct mlxpmd_port *port)
{
	static const char *const formats[] = { "none", "hash", "flow tag", "checksum", "L3/L4 header" };
	char name[32];

	snprintf(name, sizeof(name), "%s%s", formats[port->mini_cqe],
		 port->mini_cqe_enhanced ? ", enhanced layout" : "");
	return add_burst(d, "rx_compression", name, port->mini_cqe_why);
}

static int
add_devargs(struct rte_tel_data *d, const struct mlxpmd_devargs *args)
{
	struct rte_tel_data *c = mlxpmd_telemetry_dict(d, "devargs");

	if (c == NULL)
		return -ENOMEM;
	mlxpmd_devargs_show(args, c);
	return 0;
}

static void
add_device(struct rte_tel_data *d, const struct mlxpmd_port *port)
{
	const struct mdv_dev *mdv = port->mdv;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(mac, sizeof(mac), &port->mac);
	rte_tel_data_add_dict_int(d, "port", port->port_id);
	rte_tel_data_add_dict_string(d, "pci", port->eth_dev->device->name);
	rte_tel_data_add_dict_string(d, "device", mdv->ibdev_name);
	rte_tel_data_add_dict_string(d, "interface", mdv->netdev_name);
	rte_tel_data_add_dict_string(d, "firmware", mdv->fw_version);
	rte_tel_data_add_dict_string(d, "mac", mac);
	rte_tel_data_add_dict_int(d, "started", port->eth_dev->data->dev_started);
	rte_tel_data_add_dict_int(d, "removed", mdv_removed(mdv));
	rte_tel_data_add_dict_int(d, "memory_kept", mdv_memory_kept(mdv));
	rte_tel_data_add_dict_uint(d, "commands_refused",
				  __atomic_load_n(&mdv->refused, __ATOMIC_RELAXED));
	rte_tel_data_add_dict_string(d, "timestamp_unit", port->clock == NULL ? "none" :
				     port->clock->kind == MDV_CLOCK_TICKS ? "ticks" : "ns");
}

static int
add_info(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg __rte_unused)
{
	int rc;

	add_device(d, port);
	rc = add_devargs(d, &port->args);
	if (rc == 0)
		rc = add_capabilities(d, &port->mdv->caps);
	if (rc == 0)
		rc = add_burst(d, "rx_burst", port->rx_burst_name, port->rx_burst_why);
	if (rc == 0)
		rc = add_compression(d, port);
	if (rc == 0)
		rc = add_burst(d, "tx_burst", port->tx_burst_name, port->tx_burst_why);
	return rc;
}

/* ------------------------------------------------------------------ /mlxpmd/queues */

static int
add_striding(struct rte_tel_data *d, const struct mlxpmd_rxq *rxq)
{
	const struct mlxpmd_striding *s = &rxq->striding;
	const bool lro = (rxq->q.offloads & RTE_ETH_RX_OFFLOAD_TCP_LRO) != 0;
	struct rte_tel_data *c = mlxpmd_telemetry_dict(d, "striding");

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_int(c, "strides", 1 << s->log_strides);
	rte_tel_data_add_dict_int(c, "stride_bytes", s->pool == NULL ? 0 : 1 << s->log_stride_size);
	rte_tel_data_add_dict_int(c, "buffers", s->pool == NULL ? 0 : s->pool->mp->size);
	rte_tel_data_add_dict_int(c, "buffers_held", mlxpmd_mprq_held(rxq));
	rte_tel_data_add_dict_uint(c, "packets_attached", s->attached + s->given);
	rte_tel_data_add_dict_int(c, "lro", lro);
	rte_tel_data_add_dict_int(c, "lro_timeout_us", lro ? mlxpmd_rxq_lro_us(rxq->q.port) : 0);
	rte_tel_data_add_dict_uint(c, "lro_packets", s->lro_packets);
	rte_tel_data_add_dict_uint(c, "lro_segments", s->lro_segments);
	return 0;
}

static int
add_queue(struct rte_tel_data *d, const struct mlxpmd_queue *q)
{
	const struct mlxpmd_rxq *rxq = container_of(q, const struct mlxpmd_rxq, q);
	const struct mlxpmd_txq *txq = container_of(q, const struct mlxpmd_txq, q);
	const bool tx = q->kind == MLXPMD_TX;
	struct mlxpmd_queue_stats stats;
	struct rte_tel_data *c;
	char name[16];

	snprintf(name, sizeof(name), "%s%u", tx ? "tx" : "rx", q->queue_id);
	c = mlxpmd_telemetry_dict(d, name);
	if (c == NULL)
		return -ENOMEM;
	mlxpmd_queue_stats_get(q, &stats);
	rte_tel_data_add_dict_string(c, "state", mlxpmd_qstate_name(mlxpmd_queue_state(q)));
	rte_tel_data_add_dict_uint(c, "packets", stats.packets);
	rte_tel_data_add_dict_uint(c, "bytes", stats.bytes);
	if (!tx)
		rte_tel_data_add_dict_uint(c, "mbuf_missing", stats.nombuf);
	rte_tel_data_add_dict_uint(c, tx ? "packets_lost" : "completion_errors", stats.errors);
	rte_tel_data_add_dict_uint(c, "completions_refused", stats.cqe_bad);
	rte_tel_data_add_dict_uint(c, "resets", stats.resets);
	if (tx)
		rte_tel_data_add_dict_uint(c, "stalls", stats.stalls);
	rte_tel_data_add_dict_string(c, "last_syndrome",
				     q->syndrome != 0 ? mdv_syndrome_name(q->syndrome) : "none");
	rte_tel_data_add_dict_int(c, "last_vendor_syndrome", q->vendor_syndrome);
	if (!tx && rxq->striding.log_strides != 0)
		return add_striding(c, rxq);
	if (!tx)
		return 0;
	rte_tel_data_add_dict_uint(c, "rate_limit_mbps", txq->rate_mbps);
	rte_tel_data_add_dict_int(c, "inline_mpw", txq->inline_mpw);
	rte_tel_data_add_dict_int(c, "inline_max", txq->inline_send);
	rte_tel_data_add_dict_string(c, "inline_why", txq->inline_why != NULL ? txq->inline_why :
				     "the port was not started yet");
	return 0;
}

/* A reply has 16 KiB at most: so many numbers of queues. */
#define QUEUES_SHOWN 16u

/* Receive and send queues from number *arg on; "next" is the first of those that are left. */
static int
add_queues(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	const unsigned long first = *(const unsigned long *)arg;
	const struct mlxpmd_queue *q;
	unsigned int kind;
	bool more = false;
	int rc = 0;

	pthread_mutex_lock(&port->lock);
	for (kind = 0; kind < MLXPMD_NB_KINDS; kind++) {
		TAILQ_FOREACH(q, &port->queues[kind], next) {
			more |= q->queue_id >= first + QUEUES_SHOWN;
			if (rc == 0 && q->queue_id >= first && q->queue_id < first + QUEUES_SHOWN)
				rc = add_queue(d, q);
		}
	}
	pthread_mutex_unlock(&port->lock);
	if (rc == 0 && more)
		rte_tel_data_add_dict_uint(d, "next", first + QUEUES_SHOWN);
	return rc;
}

int
mlxpmd_telemetry_from(const char *params, unsigned long most, struct rte_tel_data *d, mlxpmd_telemetry_fill_t fill)
{
	struct mlxpmd_words words;
	unsigned long first = 0;
	int rc = mlxpmd_words_split(&words, params);

	if (rc == 0 && words.n > 2)
		rc = -EINVAL;
	if (rc == 0 && words.n == 2)
		rc = mlxpmd_number_parse(words.w[1], 10, most, &first);
	return rc != 0 ? rc : mlxpmd_telemetry_port(words.w[0], d, fill, &first);
}

static int
telemetry_queues(const char *cmd __rte_unused, const char *params, struct rte_tel_data *d)
{
	return mlxpmd_telemetry_from(params, MLXPMD_MAX_QUEUES - 1, d, add_queues);
}

/* ------------------------------------------------------------------ /mlxpmd/clock: what the last refresh found */

/* As text: DPDK 22.11 has no signed numbers of 64 bits and no fractions. */
static void __rte_format_printf(3, 4)
add_text(struct rte_tel_data *d, const char *name, const char *format, ...)
{
	char text[32];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rte_tel_data_add_dict_string(d, name, text);
}

static int
add_clock(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg __rte_unused)
{
	struct mlxpmd_clock_info info;
	const struct mdv_clock_state *state = &info.state;

	rte_tel_data_add_dict_int(d, "port", port->port_id);
	if (port->clock == NULL)
		return rte_tel_data_add_dict_string(d, "source", "none");
	mlxpmd_clock_info_get(port->clock, &info);
	rte_tel_data_add_dict_string(d, "quality", mdv_clock_quality_name(info.quality));
	rte_tel_data_add_dict_string(d, "source", mdv_clock_source_name(state->source));
	rte_tel_data_add_dict_string(d, "unit", state->unit);
	rte_tel_data_add_dict_string(d, "epoch", state->epoch);
	rte_tel_data_add_dict_uint(d, "frequency_hz", state->frequency_hz);
	add_text(d, "offset_ns", "%+" PRId64, state->offset_ns);
	add_text(d, "drift_ppm", "%+.4f", state->drift_ppm);
	rte_tel_data_add_dict_uint(d, "uncertainty_ns", state->uncertainty_ns);
	rte_tel_data_add_dict_uint(d, "age_ns", info.age_ns);
	rte_tel_data_add_dict_uint(d, "generation", info.generation);
	rte_tel_data_add_dict_uint(d, "steps", state->steps);
	rte_tel_data_add_dict_uint(d, "slews", state->slews);
	rte_tel_data_add_dict_uint(d, "busy", state->busy);
	rte_tel_data_add_dict_uint(d, "expired", info.expired);
	rte_tel_data_add_dict_uint(d, "failed", state->failed);
	rte_tel_data_add_dict_uint(d, "rejected", state->rejected);
	rte_tel_data_add_dict_uint(d, "refreshes", state->refreshes);
	rte_tel_data_add_dict_uint(d, "refresh_us", state->next_us);
	rte_tel_data_add_dict_uint(d, "attempts", info.attempts);
	return 0;
}

/* ------------------------------------------------------------------ /mlxpmd/stats */

/* Totals since the device was initialized (missed: since the probe): a reset of statistics does not change them. */
static int
add_stats(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg __rte_unused)
{
	struct mlxpmd_counts missed, counters;
	struct mlxpmd_counts_info info;
	struct rte_tel_data *c;

	mlxpmd_counts_get(port, MLXPMD_MISSED, &missed);
	mlxpmd_counts_get(port, MLXPMD_COUNTERS, &counters);
	mlxpmd_counts_info_get(port, &info);
	rte_tel_data_add_dict_int(d, "stats_age_ms", port->args.stats_age_ms);
	rte_tel_data_add_dict_string(d, "missed_by", port->args.stats_age_ms == 0 ? "caller" :
				     info.async ? "asynchronous query" : "worker");
	rte_tel_data_add_dict_uint(d, "missed", missed.missed);
	rte_tel_data_add_dict_uint(d, "missed_age_us", mlxpmd_counts_age_us(&missed, MLXPMD_MISSED));
	rte_tel_data_add_dict_uint(d, "missed_readings", info.readings[MLXPMD_MISSED]);
	rte_tel_data_add_dict_uint(d, "missed_failures", info.failures[MLXPMD_MISSED]);
	rte_tel_data_add_dict_int(d, "unanswered", info.outstanding);
	rte_tel_data_add_dict_uint(d, "counters_age_us", mlxpmd_counts_age_us(&counters, MLXPMD_COUNTERS));
	rte_tel_data_add_dict_uint(d, "counters_readings", info.readings[MLXPMD_COUNTERS]);
	rte_tel_data_add_dict_uint(d, "counters_failures", info.failures[MLXPMD_COUNTERS]);
	c = mlxpmd_telemetry_dict(d, "counters");
	if (c == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < mdv_counters_count(port->mdv); i++)
		rte_tel_data_add_dict_uint(c, mdv_counter_name(port->mdv, i), counters.counters[i]);
	return 0;
}

/* ------------------------------------------------------------------ /mlxpmd/tasks */

static int
add_task(void *arg, const char *thread, const struct mlxpmd_task *task)
{
	struct rte_tel_data *t = mlxpmd_telemetry_dict(arg, task->name);
	uint64_t now_ns = mlxpmd_now_ns();

	if (t == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_string(t, "thread", thread);
	/* 0: runs on request only. */
	rte_tel_data_add_dict_uint(t, "period_us", task->period_ns == MLXPMD_TASK_IDLE ? 0 :
				  task->period_ns / MLXPMD_NS_PER_US);
	if (task->due_ns == MLXPMD_TASK_IDLE)
		rte_tel_data_add_dict_string(t, "due_in_us", "never");
	else
		rte_tel_data_add_dict_uint(t, "due_in_us", task->due_ns > now_ns ?
					  (task->due_ns - now_ns) / MLXPMD_NS_PER_US : 0);
	rte_tel_data_add_dict_uint(t, "runs", task->runs);
	rte_tel_data_add_dict_uint(t, "last_ns", task->last_ns);
	rte_tel_data_add_dict_uint(t, "mean_ns", task->runs != 0 ? task->total_ns / task->runs : 0);
	rte_tel_data_add_dict_uint(t, "max_ns", task->max_ns);
	rte_tel_data_add_dict_uint(t, "late_max_us", task->late_max_ns / MLXPMD_NS_PER_US);
	return 0;
}

static int
add_tasks(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg __rte_unused)
{
	return mlxpmd_tasks_visit(port->port_id, &port->worker, add_task, d);
}

/* ------------------------------------------------------------------ commands with a port id as their only parameter */

static const struct {
	const char *name;
	mlxpmd_telemetry_fill_t fill;
	const char *help;
} commands[] = {
	{ "/mlxpmd/info", add_info,
	  "Device, firmware, capabilities used, burst functions and why. Parameters: port id" },
	{ "/mlxpmd/clock", add_clock, "Source of timestamps, its quality and history. Parameters: port id" },
	{ "/mlxpmd/stats", add_stats, "The device's counters, their age and source. Parameters: port id" },
	{ "/mlxpmd/tasks", add_tasks,
	  "Scheduled tasks, their threads, due times and measured cost. Parameters: port id" },
};

static int
telemetry_port(const char *cmd, const char *params, struct rte_tel_data *d)
{
	unsigned int i = 0;

	while (strcmp(commands[i].name, cmd) != 0)
		i++;
	return mlxpmd_telemetry_port(params, d, commands[i].fill, NULL);
}

RTE_INIT(mlxpmd_telemetry_init)
{
	rte_telemetry_register_cmd("/mlxpmd/list", telemetry_list,
				   "Ports that mlxpmd drives. Takes no parameters");
	rte_telemetry_register_cmd("/mlxpmd/queues", telemetry_queues,
				   "State of 16 queues each way, their packets, errors, resets and stalls. Parameters: port id, first queue (0)");
	for (unsigned int i = 0; i < RTE_DIM(commands); i++)
		rte_telemetry_register_cmd(commands[i].name, telemetry_port, commands[i].help);
}
