/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* RQTs and TIRs that lead packets to queues. */

#include <stdlib.h>

#include "mlxpmd_tirs.h"

/*
 * As many as queues if that is a power of two; else as many as the port's own table would have for them, which is
 * uneven by less than a percent for a few queues. Never fewer than queues: a table of the device can hold them.
 */
static uint32_t
rqt_entries(const struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf)
{
	const uint32_t queues = rte_align32pow2(conf->nb_queues);

	return queues == conf->nb_queues ? queues :
	       RTE_MAX(queues, (uint32_t)mlxpmd_rss_reta_size(&port->mdv->caps, conf->nb_queues));
}

/** Numbers of the queues' RQs, repeated until the RQT is full. free() them. NULL: no memory, logged. */
static uint32_t *
rqns_get(const struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, uint32_t n)
{
	const struct rte_eth_dev_data *data = port->eth_dev->data;
	uint32_t *rqn = calloc(n, sizeof(*rqn));

	if (rqn == NULL) {
		rte_errno = -MLXPMD_FAIL(ENOMEM, "port %u: no memory for an RQT of %u entries", port->port_id, n);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		rqn[i] = mlxpmd_queue_at(data, MLXPMD_RX, conf->queues[i % conf->nb_queues])->hw.rq.wq.number;
	return rqn;
}

/* The result of a hash over no field is not documented: classes without a hash use a table of one entry. */
static int
rqts_create(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, const uint32_t *rqn, uint32_t n,
	    struct mlxpmd_tirs *tirs)
{
	tirs->rqt_first = mdv_rqt_create(port->mdv, 0, rqn, 1);
	if (tirs->rqt_first == NULL)
		return -rte_errno;
	if (conf->rss_hf == 0 && !conf->all_classes)
		return 0;
	tirs->rqt = mdv_rqt_create(port->mdv, conf->varies ? port->mdv->caps.log_max_rqt_size : rte_log2_u32(n), rqn,
				   n);
	return tirs->rqt != NULL ? 0 : -rte_errno;
}

static struct mdv_tir_attr
tir_attr(const struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, const struct mlxpmd_tirs *tirs,
	 enum mlxpmd_rss_class class)
{
	const uint32_t fields = mlxpmd_rss_class_fields(conf->rss_hf, class);

	return (struct mdv_tir_attr){
		.rqtn = fields != 0 ? tirs->rqt->id : tirs->rqt_first->id,
		.ipv6 = mlxpmd_rss_classes[class].ip_version == 6,
		.udp = mlxpmd_rss_classes[class].ip_proto == IPPROTO_UDP,
		.hash_fields = fields,
		.symmetric = conf->symmetric && fields != 0,
		.inner = conf->inner,
		.key = conf->key,
		.lro_size = mlxpmd_rxq_lro_size(port),
		.lro_us = mlxpmd_rxq_lro_us(port),
	};
}

int
mlxpmd_tirs_create_over(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, const uint32_t *rqn, uint32_t n,
			struct mlxpmd_tirs *tirs)
{
	int rc;

	memset(tirs, 0, sizeof(*tirs));
	rc = rqts_create(port, conf, rqn, n, tirs);
	for (unsigned int class = 0; rc == 0 && class < MLXPMD_NB_RSS_CLASSES; class++) {
		const struct mdv_tir_attr attr = tir_attr(port, conf, tirs, class);

		if (attr.hash_fields == 0 && !conf->all_classes && class != MLXPMD_RSS_CLASS_OTHER)
			continue;
		tirs->tir[class] = mdv_tir_create(port->mdv, &attr);
		rc = tirs->tir[class] != NULL ? 0 : -rte_errno;
	}
	if (rc != 0)
		mlxpmd_tirs_destroy(tirs);
	return rc;
}

int
mlxpmd_tirs_create(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, struct mlxpmd_tirs *tirs)
{
	const uint32_t n = rqt_entries(port, conf);
	uint32_t *rqn = rqns_get(port, conf, n);
	int rc;

	if (rqn == NULL)
		return -rte_errno;
	rc = mlxpmd_tirs_create_over(port, conf, rqn, n, tirs);
	free(rqn);
	return rc;
}

int
mlxpmd_tirs_replaced(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, struct mlxpmd_tirs *tirs)
{
	const uint32_t n = rqt_entries(port, conf);
	uint32_t *rqn = rqns_get(port, conf, n);
	int rc;

	if (rqn == NULL)
		return -rte_errno;
	rc = mdv_rqt_modify(tirs->rqt_first, rqn, 1);
	if (rc == 0 && tirs->rqt != NULL)
		rc = mdv_rqt_modify(tirs->rqt, rqn, n);
	free(rqn);
	return rc;
}

/* The command also changes the table, for a class that gets its first hash field or loses its last. */
static int
tir_modify(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *old, const struct mlxpmd_tirs_conf *conf,
	   struct mlxpmd_tirs *tirs, enum mlxpmd_rss_class class)
{
	struct mdv_tir_attr attr = tir_attr(port, conf, tirs, class);

	if ((mlxpmd_rss_class_fields(old->rss_hf, class) != 0) == (attr.hash_fields != 0))
		attr.rqtn = 0;
	return mdv_tir_modify_hash(tirs->tir[class], &attr);
}

int
mlxpmd_tirs_hash(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *old, const struct mlxpmd_tirs_conf *conf,
		 struct mlxpmd_tirs *tirs)
{
	int class, rc = 0;

	for (class = 0; class < MLXPMD_RSS_CLASS_OTHER; class++) {
		rc = tir_modify(port, old, conf, tirs, class);
		if (rc != 0)
			break;
	}
	while (rc != 0 && class-- > 0)
		(void)tir_modify(port, conf, old, tirs, class);
	return rc;
}

void
mlxpmd_tirs_destroy(struct mlxpmd_tirs *tirs)
{
	for (unsigned int class = 0; class < MLXPMD_NB_RSS_CLASSES; class++)
		(void)mdv_obj_destroy(tirs->tir[class]);
	(void)mdv_obj_destroy(tirs->rqt);
	(void)mdv_obj_destroy(tirs->rqt_first);
	memset(tirs, 0, sizeof(*tirs));
}
