/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The flight recorder of a port: packets lost are noted, the file is written after a failure, and on request of
 * telemetry's /mlxpmd/recorder. All else is recorded where it happens.
 */

#include <rte_telemetry.h>
#include <rte_version.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_recorder.h"

/* Files because of queues are written once in so long: of many queues that fail together the first one matters. */
#define WRITE_NS (10000 * MLXPMD_NS_PER_MS)
/* Time from one record of lost packets to the next, doubled each time while packets are lost. */
#define DROPS_MIN_NS (1000 * MLXPMD_NS_PER_MS)
#define DROPS_MAX_NS (64 * DROPS_MIN_NS)

static_assert(RTE_DIM(((struct mlxpmd_recorder *)0)->drops) == MDV_NB_DROPS, "a counter for each kind");

/* ------------------------------------------------------------------ lost packets */

static void
drops_sum(struct mlxpmd_port *port, uint64_t sum[MDV_NB_DROPS])
{
	const struct mlxpmd_queue *q;

	memset(sum, 0, MDV_NB_DROPS * sizeof(sum[0]));
	sum[MDV_DROPS_MISSED] = mlxpmd_counts_missed(port);
	TAILQ_FOREACH(q, &port->queues[MLXPMD_RX], next) {
		sum[MDV_DROPS_NOMBUF] += MLXPMD_SHARED_GET(q->stats.nombuf);
		sum[MDV_DROPS_RX_ERRORS] += MLXPMD_SHARED_GET(q->stats.errors);
	}
	TAILQ_FOREACH(q, &port->queues[MLXPMD_TX], next)
		sum[MDV_DROPS_TX] += MLXPMD_SHARED_GET(q->stats.dropped) + MLXPMD_SHARED_GET(q->stats.errors);
}

void
mlxpmd_recorder_watch(struct mlxpmd_port *port, uint64_t now_ns)
{
	struct mlxpmd_recorder *r = &port->recorder;
	uint64_t sum[MDV_NB_DROPS];
	bool lost = false;

	if (now_ns < r->drops_due_ns)
		return;
	drops_sum(port, sum);
	for (unsigned int i = 0; i < MDV_NB_DROPS; i++) {
		/* Queues that were released took their counters along. */
		if (sum[i] > r->drops[i] && r->drops_wait_ns != 0) {
			MDV_RECORD(port->mdv, .kind = MDV_RECORD_DROPS, .op = i,
				   .value = RTE_MIN(sum[i] - r->drops[i], (uint64_t)UINT32_MAX));
			lost = true;
		}
		r->drops[i] = sum[i];
	}
	r->drops_wait_ns = lost ? RTE_MIN(2 * r->drops_wait_ns, DROPS_MAX_NS) : DROPS_MIN_NS;
	r->drops_due_ns = now_ns + r->drops_wait_ns;
}

/* ------------------------------------------------------------------ the file */

struct mdv_recorder_owner
mlxpmd_recorder_owner(const struct mlxpmd_port *port)
{
	struct mdv_recorder_owner owner = { .port_id = port->port_id };

	snprintf(owner.driver, sizeof(owner.driver), "%s, %s", MLXPMD_DRIVER_NAME, rte_version());
	return owner;
}

static int
recorder_write(const struct mlxpmd_port *port, enum mdv_recorder_reason reason, const char *path, char *written)
{
	const struct mdv_recorder_owner owner = mlxpmd_recorder_owner(port);

	return mdv_recorder_write(port->mdv, reason, &owner, path, written);
}

void
mlxpmd_recorder_failed(struct mlxpmd_port *port, enum mdv_recorder_reason reason)
{
	struct mlxpmd_recorder *r = &port->recorder;
	char written[MDV_RECORDER_PATH_BYTES];
	const uint64_t now_ns = mlxpmd_now_ns();

	if (!port->args.recorder || (reason == MDV_RECORDER_QUEUE && r->written_ns != 0 &&
				     now_ns - r->written_ns < WRITE_NS))
		return;
	r->written_ns = now_ns;
	if (recorder_write(port, reason, NULL, written) == 0)
		MLXPMD_LOG(NOTICE, "port %u: the last commands and events are recorded: dpdk-test-mlx explain %s",
			   port->port_id, written);
}

void
mlxpmd_recorder_given_up(struct mlxpmd_port *port)
{
	if (port->recorder.given_up)
		mlxpmd_recorder_failed(port, MDV_RECORDER_QUEUE);
	port->recorder.given_up = false;
}

/* ------------------------------------------------------------------ telemetry */

static int
add_recorder(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	char written[MDV_RECORDER_PATH_BYTES];
	int rc = recorder_write(port, MDV_RECORDER_REQUEST, arg, written);

	rte_tel_data_add_dict_int(d, "port", port->port_id);
	if (rc != 0)
		return rc;
	return rte_tel_data_add_dict_string(d, "file", written);
}

static int
telemetry_recorder(const char *cmd __rte_unused, const char *params, struct rte_tel_data *d)
{
	struct mlxpmd_words words;
	const char *path = NULL;

	if (mlxpmd_words_split(&words, params) != 0 || words.n > 2)
		return -EINVAL;
	if (words.n == 2)
		path = words.w[1];
	/* The client does not know this process's folder. */
	if (path != NULL && (path[0] != '/' || strlen(path) >= MDV_RECORDER_PATH_BYTES))
		return -EINVAL;
	return mlxpmd_telemetry_port(words.w[0], d, add_recorder, (void *)(uintptr_t)path);
}

RTE_INIT(mlxpmd_telemetry_recorder_init)
{
	rte_telemetry_register_cmd("/mlxpmd/recorder", telemetry_recorder,
				   "Writes the last commands and events to a new file. Parameters: port id[,absolute path]");
}
