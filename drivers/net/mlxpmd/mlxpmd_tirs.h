/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/** @file RQTs and TIRs that lead packets to queues. Under the port's lock. */
#ifndef MLXPMD_TIRS_H
#define MLXPMD_TIRS_H

#include "mlxpmd_ctrl.h"

/** To which queues, and how packets are spread over them. */
struct mlxpmd_tirs_conf {
	const uint16_t *queues;
	uint16_t nb_queues;
	uint64_t rss_hf;	/**< 0: no hash, all packets go to the first queue. */
	bool all_classes;	/**< TIRs also for classes without a hash, which mlxpmd_tirs_hash() may give one. */
	bool symmetric;
	bool inner;		/**< By the headers in a tunnel, which packets have. */
	bool varies;		/**< The queues can become others, of any number: the RQT has room for them. */
	uint8_t key[MLXPMD_RSS_KEY_BYTES];
};

struct mlxpmd_tirs {
	struct mdv_obj *rqt;	   /**< NULL without a hash and all_classes. */
	struct mdv_obj *rqt_first; /**< Its first entry, for classes without a hash. */
	struct mdv_obj *tir[MLXPMD_NB_RSS_CLASSES]; /**< NULL: no hash of its own, the last one serves. */
};

/** Creates what conf needs for the queues as they are. 0; -errno, logged, with nothing left. */
int mlxpmd_tirs_create(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, struct mlxpmd_tirs *tirs);
/** The same over n RQs, a power of 2, by their numbers; the queues of conf are not read. */
int mlxpmd_tirs_create_over(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, const uint32_t *rqn,
			    uint32_t n, struct mlxpmd_tirs *tirs);
/**
 * Queues have new RQs, or conf, which varies, has other queues: writes their numbers into the RQTs. 0; -errno, logged:
 * one of two may have them.
 */
int mlxpmd_tirs_replaced(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *conf, struct mlxpmd_tirs *tirs);
/**
 * With all_classes: changes key and hash of the TIRs from those of old to those of conf. 0; -errno, logged, and the
 * TIRs are as before.
 */
int mlxpmd_tirs_hash(struct mlxpmd_port *port, const struct mlxpmd_tirs_conf *old, const struct mlxpmd_tirs_conf *conf,
		     struct mlxpmd_tirs *tirs);
void mlxpmd_tirs_destroy(struct mlxpmd_tirs *tirs);

#endif /* MLXPMD_TIRS_H */
