/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A port in a secondary process: attaching, bursts, operations that read, and the end of the primary process.
 *
 * The burst functions of a secondary process look up the port's present set of features, which the primary process
 * changes when it starts the port, and call the same functions as there, by addresses of this process. That costs an
 * indirect call per burst, and only here.
 */

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_string_fns.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"
#include "mlxpmd_rx.h"
#include "mlxpmd_secondary.h"
#include "mlxpmd_tx.h"

/* How often a change of the queues is looked for. */
#define LOOK_NS (10 * MLXPMD_NS_PER_MS)
/* For bursts that have begun when the primary process closes a port. It waits longer: MLXPMD_LEAVE_MS. */
#define LEAVE_NS (100 * MLXPMD_NS_PER_MS)

/** What this process has of a port. rte_eth_dev.process_private. */
struct secondary {
	struct rte_eth_dev *eth_dev;
	struct mlxpmd_port *port; /**< Shared, as all that it points to and is used here. */
	uint16_t port_id;
	bool ended;	/**< The primary process ended, or closes the port. Atomic. */
	int alive_fd;	/**< MLXPMD_FD_ALIVE; the primary process waits until it is closed. */
	struct mlxpmd_task task; /**< Its descriptor is alive_fd until the end. */
	const struct mlxpmd_template *rx[MLXPMD_RX_TEMPLATES], *tx[MLXPMD_TX_TEMPLATES];
	struct mlxpmd_pages pages;
};

/** By port id, for bursts. */
static struct secondary *secondaries[RTE_MAX_ETHPORTS];
/** ethdev's data of ports after the end: the primary process frees those that are shared. */
static struct rte_eth_dev_data last_data[RTE_MAX_ETHPORTS];
static struct rte_ether_addr last_macs[RTE_MAX_ETHPORTS][MLXPMD_MAX_MAC_ADDRS];
/** The queues of a port that is not configured yet, or that ended. */
static void *no_queues[RTE_MAX_QUEUES_PER_PORT];

static struct secondary *
secondary_of(const struct rte_eth_dev *eth_dev)
{
	return eth_dev->process_private;
}

/* NULL: it was closed here, but ethdev could not release it, because the primary process has freed its table. */
bool
mlxpmd_secondary_ended(const struct rte_eth_dev *eth_dev)
{
	const struct secondary *s = secondary_of(eth_dev);

	return s == NULL || __atomic_load_n(&s->ended, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ bursts */

/* Of a queue. NULL: the primary process has not configured the port, or closes it, or ended. */
static inline const struct secondary *
secondary_alive(const struct mlxpmd_queue *q)
{
	const struct secondary *s = q != NULL ? secondaries[q->port_id] : NULL;

	return s != NULL && !__atomic_load_n(&s->ended, __ATOMIC_RELAXED) ? s : NULL;
}

/*
 * Attached packets name a function of the process that has the queue's buffers, at its address there: here all are
 * copied. If this process is killed meanwhile, the queue goes on copying until the port is started again.
 */
static uint16_t
rx_burst_striding(struct mlxpmd_rxq *rxq, const struct mlxpmd_template *template, struct rte_mbuf **pkts, uint16_t n)
{
	const uint32_t copy_max = rxq->striding.copy_max;

	rxq->striding.copy_max = UINT32_MAX;
	n = template->burst(rxq, pkts, n);
	rxq->striding.copy_max = copy_max;
	return n;
}

static uint16_t
rx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct mlxpmd_rxq *rxq = queue;
	const struct secondary *s = secondary_alive(queue);
	uint16_t set;

	if (unlikely(s == NULL))
		return 0;
	if (unlikely(mlxpmd_qstate_load(&rxq->q.state) != MLXPMD_QS_READY))
		return mlxpmd_rx_not_ready(rxq);
	set = __atomic_load_n(&s->port->rx_set, __ATOMIC_ACQUIRE);
	if (unlikely(set >= RTE_DIM(s->rx) || s->rx[set] == NULL))
		return 0;
	if (rxq->striding.log_strides != 0)
		return rx_burst_striding(rxq, s->rx[set], pkts, n);
	return s->rx[set]->burst(rxq, pkts, n);
}

/*
 * A READY queue is replaced only after its burst gave it away, or when the port is stopped. Thus the state is loaded
 * first: the doorbell page of a queue that is READY was announced by an epoch before.
 */
static uint16_t
tx_burst(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct mlxpmd_txq *txq = queue;
	const struct secondary *s = secondary_alive(queue);
	uint32_t epoch;
	uint16_t set;

	if (unlikely(s == NULL))
		return 0;
	if (unlikely(mlxpmd_qstate_load(&txq->q.state) != MLXPMD_QS_READY))
		return mlxpmd_tx_refuse(txq, n);
	set = __atomic_load_n(&s->port->tx_set, __ATOMIC_ACQUIRE);
	epoch = __atomic_load_n(&s->port->epoch, __ATOMIC_ACQUIRE);
	if (unlikely(set >= RTE_DIM(s->tx) || s->tx[set] == NULL ||
		     epoch != __atomic_load_n(&s->pages.epoch, __ATOMIC_ACQUIRE) || txq->q.hw.sq.db == NULL ||
		     __atomic_load_n(&s->pages.mute, __ATOMIC_RELAXED)))
		return 0;
	return s->tx[set]->burst(txq, pkts, n);
}

static uint16_t
tx_prepare(void *queue, struct rte_mbuf **pkts, uint16_t n)
{
	const struct secondary *s = secondary_alive(queue);

	return s != NULL && s->port->tx_prepares ? mlxpmd_tx_prepare(queue, pkts, n) : n;
}

static int
tx_descriptor_status(void *queue, uint16_t offset)
{
	return secondary_alive(queue) != NULL ? mlxpmd_tx_descriptor_status(queue, offset) : -EIO;
}

static int
rx_descriptor_status(void *queue, uint16_t offset)
{
	return secondary_alive(queue) != NULL ? mlxpmd_rx_descriptor_status(queue, offset) : -EIO;
}

static mdv_rx_queue_count
rx_queue_count(void *queue)
{
	return secondary_alive(queue) != NULL ? mlxpmd_rx_queue_count(queue) : (mdv_rx_queue_count)-EIO;
}

static void
templates_choose(struct secondary *s)
{
	const char *why;

	for (unsigned int f = 0; f < RTE_DIM(s->rx); f++)
		s->rx[f] = mlxpmd_variant_choose(false, f, s->port->args.rx_burst, &why);
	for (unsigned int f = 0; f < RTE_DIM(s->tx); f++)
		s->tx[f] = mlxpmd_variant_choose(true, f, s->port->args.tx_burst, &why);
}

/* ------------------------------------------------------------------ the task of a port */

static void
fp_queues_set(const struct secondary *s, void **rx, void **tx)
{
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[s->port_id];

	__atomic_store_n(&ops->rxq.data, rx != NULL ? rx : no_queues, __ATOMIC_RELEASE);
	__atomic_store_n(&ops->txq.data, tx != NULL ? tx : no_queues, __ATOMIC_RELEASE);
}

/* The application may poll before the primary process has configured the port: its bursts find the queues now. */
static void
queues_follow(const struct secondary *s)
{
	fp_queues_set(s, s->eth_dev->data->rx_queues, s->eth_dev->data->tx_queues);
}

/* ethdev and its bursts use nothing any more that the primary process frees. */
static void
data_replace(struct secondary *s)
{
	struct rte_eth_dev_data *last = &last_data[s->port_id];

	*last = *s->eth_dev->data;
	/* NULL: the primary process has not waited, because this one did not run. */
	if (last->mac_addrs != NULL)
		memcpy(last_macs[s->port_id], last->mac_addrs, sizeof(last_macs[0]));
	last->mac_addrs = last_macs[s->port_id];
	last->rx_queues = last->tx_queues = no_queues;
	__atomic_store_n(&s->eth_dev->data, last, __ATOMIC_RELEASE);
	fp_queues_set(s, no_queues, no_queues);
}

/* The end of the primary process or of its port: this one gives up what it has of the port. */
static uint64_t
end_begin(struct secondary *s)
{
	char closed;

	__atomic_store_n(&s->ended, true, __ATOMIC_RELAXED);
	data_replace(s);
	s->task.fd = -1;
	/* The byte stays for the other secondary processes. */
	if (recv(s->alive_fd, &closed, 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
		MLXPMD_LOG(NOTICE, "port %u: the primary process closed the port", s->port_id);
		return LEAVE_NS;
	}
	MLXPMD_LOG(ERR, "port %u: the primary process ended: nothing is received or sent any more; start this process "
		   "again when there is a primary process", s->port_id);
	return 0;
}

static uint64_t
look(void *arg)
{
	struct secondary *s = arg;

	if (s->ended) {
		mlxpmd_pages_replace(&s->pages);
		close(s->alive_fd);
		s->alive_fd = -1;
		return MLXPMD_TASK_IDLE;
	}
	if (s->task.revents != 0)
		return end_begin(s);
	if (s->pages.epoch != __atomic_load_n(&s->port->epoch, __ATOMIC_ACQUIRE)) {
		queues_follow(s);
		(void)mlxpmd_pages_sync(&s->pages, s->port);
	}
	return LOOK_NS;
}

/* ------------------------------------------------------------------ mempools of this process */

static void
on_mempool_event(enum rte_mempool_event event, struct rte_mempool *mp, void *arg)
{
	struct secondary *s = arg;
	struct mlxpmd_message message = {
		.type = event == RTE_MEMPOOL_EVENT_READY ? MLXPMD_MESSAGE_REGISTER : MLXPMD_MESSAGE_FORGET,
		.port_id = s->port_id, .object = (uintptr_t)mp,
	};
	int rc;

	if (mlxpmd_secondary_ended(s->eth_dev) || (mp->flags & RTE_MEMPOOL_F_NON_IO) != 0 || mp->nb_mem_chunks == 0)
		return;
	rc = mlxpmd_request(&message, NULL);
	if (rc == 0)
		return;
	if (event == RTE_MEMPOOL_EVENT_READY)
		MLXPMD_LOG(ERR, "port %u: the primary process has not registered mempool %s: %s: its mbufs cannot be sent",
			   s->port_id, mp->name, rte_strerror(-rc));
	else
		MLXPMD_LOG(WARNING, "port %u: the primary process has not released mempool %s: %s: its memory stays "
			   "registered", s->port_id, mp->name, rte_strerror(-rc));
}

/* ------------------------------------------------------------------ operations */

/* Defines an operation that fails with EIO after the end of the primary process. */
#define ALIVE(name, call, ...) \
static int \
name(struct rte_eth_dev *eth_dev, ##__VA_ARGS__) \
{ \
	return mlxpmd_secondary_ended(eth_dev) ? -EIO : call; \
}

static int
stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats, struct eth_queue_stats *queues)
{
	return mlxpmd_secondary_ended(eth_dev) ? -EIO : mlxpmd_stats_get(eth_dev, stats, queues);
}

MDV_STATS_GET_OP(stats_get_op, stats_get)
MDV_PTYPES_GET_OP(ptypes_get_op, mlxpmd_ptypes_get)
ALIVE(xstats_get, mlxpmd_xstats_get(eth_dev, xstats, n), struct rte_eth_xstat *xstats, unsigned int n)
ALIVE(xstats_get_names, mlxpmd_xstats_get_names(eth_dev, names, n), struct rte_eth_xstat_name *names, unsigned int n)
ALIVE(infos_get, mlxpmd_dev_infos_get(eth_dev, info), struct rte_eth_dev_info *info)
ALIVE(fw_version_get, mlxpmd_fw_version_get(eth_dev, version, size), char *version, size_t size)
ALIVE(hash_conf_get, mlxpmd_rss_hash_conf_get(eth_dev, conf), struct rte_eth_rss_conf *conf)
ALIVE(reta_query, mlxpmd_reta_query(eth_dev, conf, size), struct rte_eth_rss_reta_entry64 *conf, uint16_t size)
ALIVE(read_clock, mlxpmd_read_clock(eth_dev, value), uint64_t *value)
ALIVE(timesync_read_time, mlxpmd_timesync_read_time(eth_dev, ts), struct timespec *ts)
/* The primary process keeps the link in memory that ethdev shares. */
ALIVE(link_update, 0, int wait __rte_unused)

static int
is_removed(struct rte_eth_dev *eth_dev)
{
	return mlxpmd_secondary_ended(eth_dev) || mdv_removed(MLXPMD_PORT(eth_dev)->mdv);
}

static int
mode_get(const struct mlxpmd_template *template, struct rte_eth_burst_mode *mode)
{
	if (template == NULL)
		return -EINVAL; /* Not started. */
	mode->flags = 0;
	strlcpy(mode->info, template->name, sizeof(mode->info));
	return 0;
}

static int
rx_mode_get(struct rte_eth_dev *eth_dev, uint16_t queue_id __rte_unused, struct rte_eth_burst_mode *mode)
{
	const struct secondary *s = secondary_of(eth_dev);
	uint16_t set;

	if (mlxpmd_secondary_ended(eth_dev))
		return -EIO;
	set = __atomic_load_n(&s->port->rx_set, __ATOMIC_ACQUIRE);
	return mode_get(set < RTE_DIM(s->rx) ? s->rx[set] : NULL, mode);
}

static int
tx_mode_get(struct rte_eth_dev *eth_dev, uint16_t queue_id __rte_unused, struct rte_eth_burst_mode *mode)
{
	const struct secondary *s = secondary_of(eth_dev);
	uint16_t set;

	if (mlxpmd_secondary_ended(eth_dev))
		return -EIO;
	set = __atomic_load_n(&s->port->tx_set, __ATOMIC_ACQUIRE);
	return mode_get(set < RTE_DIM(s->tx) ? s->tx[set] : NULL, mode);
}

static int
secondary_dev_close(struct rte_eth_dev *eth_dev)
{
	mlxpmd_secondary_close(eth_dev);
	return 0;
}

/* What is not here ethdev refuses with ENOTSUP before it changes anything: the primary process configures the port. */
static const struct eth_dev_ops secondary_ops = {
	.dev_close = secondary_dev_close,
	.is_removed = is_removed,
	.link_update = link_update,
	.stats_get = stats_get_op,
	.xstats_get = xstats_get,
	.xstats_get_names = xstats_get_names,
	.dev_infos_get = infos_get,
	.rxq_info_get = mlxpmd_rxq_info_get,
	.txq_info_get = mlxpmd_txq_info_get,
	.rx_burst_mode_get = rx_mode_get,
	.tx_burst_mode_get = tx_mode_get,
	.fw_version_get = fw_version_get,
	.eth_dev_priv_dump = mlxpmd_priv_dump,
	.dev_supported_ptypes_get = ptypes_get_op,
	.rss_hash_conf_get = hash_conf_get,
	.reta_query = reta_query,
	.read_clock = read_clock,
	.timesync_read_time = timesync_read_time,
	.flow_ops_get = mlxpmd_secondary_flow_ops_get,
};

/* ------------------------------------------------------------------ probe and close */

static int
refused(const struct rte_device *device, int rc)
{
	return MLXPMD_FAIL(-rc, "%s: cannot be used in this secondary process: %s", device->name,
			   mlxpmd_request_reason(rc));
}

static void
ops_set(struct rte_eth_dev *eth_dev)
{
	eth_dev->dev_ops = &secondary_ops;
	eth_dev->rx_pkt_burst = rx_burst;
	eth_dev->tx_pkt_burst = tx_burst;
	eth_dev->tx_pkt_prepare = tx_prepare;
	eth_dev->rx_queue_count = rx_queue_count;
	eth_dev->rx_descriptor_status = rx_descriptor_status;
	eth_dev->tx_descriptor_status = tx_descriptor_status;
	mlxpmd_secondary_flow_up(eth_dev);
}

static void
secondary_free(struct secondary *s)
{
	mlxpmd_pages_unmap(&s->pages);
	if (s->alive_fd >= 0)
		close(s->alive_fd);
	free(s);
}

static struct secondary *
secondary_alloc(const struct rte_device *device, uint16_t port_id, const int *fds)
{
	struct secondary *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		close(fds[MLXPMD_FD_ALIVE]);
		if (fds[MLXPMD_FD_DEVICE] >= 0)
			close(fds[MLXPMD_FD_DEVICE]);
		(void)MLXPMD_FAIL(ENOMEM, "%s: no memory for a port", device->name);
		return NULL;
	}
	s->port_id = port_id;
	s->pages.device_fd = fds[MLXPMD_FD_DEVICE];
	s->alive_fd = fds[MLXPMD_FD_ALIVE];
	s->task = (struct mlxpmd_task){
		.name = "primary", .port_id = port_id, .run = look, .arg = s, .fd = s->alive_fd,
	};
	return s;
}

/* The port of the primary process becomes usable here. 0 or -errno, logged. */
static int
secondary_up(struct secondary *s)
{
	int rc;

	templates_choose(s);
	rc = mlxpmd_pages_sync(&s->pages, s->port);
	if (rc != 0)
		return rc;
	if (s->pages.device_fd < 0)
		MLXPMD_LOG(NOTICE, "port %u: the descriptor of the device is unknown: this process receives, but cannot send", s->port_id);
	rc = mlxpmd_task_add(NULL, &s->task, LOOK_NS);
	if (rc != 0)
		return rc;
	if (rte_mempool_event_callback_register(on_mempool_event, s) == 0)
		return 0;
	rc = MLXPMD_FAIL(rte_errno, "port %u: cannot follow mempools: %s", s->port_id, rte_strerror(rte_errno));
	mlxpmd_task_remove(&s->task);
	return rc;
}

void
mlxpmd_secondary_close(struct rte_eth_dev *eth_dev)
{
	struct secondary *s = secondary_of(eth_dev);

	if (s == NULL)
		return;
	(void)rte_mempool_event_callback_unregister(on_mempool_event, s);
	mlxpmd_task_remove(&s->task);
	/* Until alive_fd is closed the primary process does not free what it shares. */
	if (!s->ended)
		MDV_RECORD(s->port->mdv, .kind = MDV_RECORD_SECONDARY, .object = getpid());
	eth_dev->process_private = NULL;
	secondaries[s->port_id] = NULL;
	secondary_free(s);
}

/* The port of a device, also after the primary process closed it, when ethdev does not find it by name. */
static struct rte_eth_dev *
eth_dev_of(const struct rte_device *device)
{
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (secondaries[i] != NULL && secondaries[i]->eth_dev->device == device)
			return secondaries[i]->eth_dev;
	return NULL;
}

int
mlxpmd_secondary_remove(const struct rte_device *device)
{
	struct rte_eth_dev *eth_dev = eth_dev_of(device);

	if (eth_dev == NULL)
		return 0;
	mlxpmd_secondary_close(eth_dev);
	/* It fails if the primary process has freed the table of ports. */
	if (rte_eth_dev_release_port(eth_dev) != 0)
		eth_dev->state = RTE_ETH_DEV_UNUSED;
	return 0;
}

int
mlxpmd_secondary_probe(struct rte_device *device, struct rte_intr_handle *intr_handle)
{
	struct mlxpmd_message message = { .type = MLXPMD_MESSAGE_ATTACH };
	int fds[MLXPMD_NB_FDS] = { -1, -1 };
	struct rte_eth_dev *eth_dev;
	struct secondary *s;
	int rc;

	/* The primary process has closed its port, and probes the device again in all processes. */
	eth_dev = eth_dev_of(device);
	if (eth_dev != NULL && !mlxpmd_secondary_ended(eth_dev))
		return -EEXIST;
	(void)mlxpmd_secondary_remove(device);
	strlcpy(message.name, device->name, sizeof(message.name));
	rc = mlxpmd_request(&message, fds);
	if (rc != 0)
		return refused(device, rc);
	s = secondary_alloc(device, message.port_id, fds);
	if (s == NULL)
		return -ENOMEM;
	eth_dev = rte_eth_dev_attach_secondary(device->name);
	if (eth_dev == NULL || eth_dev->data->port_id != message.port_id) {
		secondary_free(s);
		return refused(device, -ENODEV);
	}
	s->eth_dev = eth_dev;
	s->port = MLXPMD_PORT(eth_dev);
	eth_dev->device = device;
	eth_dev->intr_handle = intr_handle;
	eth_dev->process_private = s;
	secondaries[s->port_id] = s;
	ops_set(eth_dev);
	rc = secondary_up(s);
	if (rc == 0) {
		MDV_RECORD(s->port->mdv, .kind = MDV_RECORD_SECONDARY, .op = 1, .object = getpid());
		rte_eth_dev_probing_finish(eth_dev);
		queues_follow(s);
		return 0;
	}
	secondaries[s->port_id] = NULL;
	rte_eth_dev_release_port(eth_dev);
	secondary_free(s);
	return rc;
}
