/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The mbuf pool. Its default size is what queues, bursts and caches can hold at the same time.
 */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "tm.h"

#define CACHE_MBUFS 256u
#define SPARE_MBUFS 4096u	/* for software rings and captures */

static uint32_t
segments_max(const struct tm_app *app)
{
	uint32_t data_room = app->cfg.mbuf_size - RTE_PKTMBUF_HEADROOM;
	uint32_t frame = RTE_MAX((uint32_t)app->cfg.len_max, (uint32_t)RTE_ETHER_MAX_LEN);

	if (app->cfg.mtu != 0)
		frame = RTE_MAX(frame, app->cfg.mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN);
	frame = RTE_MAX(frame, app->cfg.max_pkt_len);
	return (frame + data_room - 1) / data_room;
}

static uint32_t
mbufs_needed(const struct tm_app *app)
{
	const struct tm_config *cfg = &app->cfg;
	uint32_t segs = segments_max(app);
	uint64_t n;

	/* A descriptor of an Rx ring holds a buffer, a descriptor of a Tx ring a packet with all its segments. */
	n = (uint64_t)app->nb_ports * cfg->rxq * cfg->rxd * (segs > 1 ? 2 : 1);
	n += (uint64_t)app->nb_ports * cfg->txq * cfg->txd * segs;
	n += (uint64_t)app->nb_ports * RTE_MAX(cfg->rxq, cfg->txq) * cfg->burst * segs * 2;
	n += rte_lcore_count() * CACHE_MBUFS * 2 + SPARE_MBUFS;
	return RTE_MIN(n, UINT64_C(0x7fffffff));
}

int
tm_pool_create(struct tm_app *app)
{
	uint32_t n = app->cfg.mbufs != 0 ? app->cfg.mbufs : mbufs_needed(app);
	uint32_t cache = RTE_MIN(CACHE_MBUFS, n / 4);
	int socket = rte_eth_dev_socket_id(app->port_ids[0]);

	app->pool = rte_pktmbuf_pool_create("tm_mbufs", n, cache, 0, app->cfg.mbuf_size,
					    socket < 0 ? SOCKET_ID_ANY : socket);
	if (app->pool == NULL) {
		tm_error("cannot allocate %u packet buffers of %u bytes (%" PRIu64
			 " MiB): %s; give more memory (hugepages, -m) or smaller --mbufs, --rxd, "
			 "--txd",
			 n, app->cfg.mbuf_size,
			 (uint64_t)n * (app->cfg.mbuf_size + sizeof(struct rte_mbuf)) >> 20,
			 rte_strerror(rte_errno));
		return -ENOMEM;
	}
	tm_note(app, "packet buffers: %u of %u bytes", n, app->cfg.mbuf_size);
	return 0;
}
