/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Counters of streams: sums over ports, and reset.
 */

#include <string.h>

#include "tm.h"

void
tm_stats_sum(const struct tm_app *app, int rx_port, int tx_port, struct tm_stats *sum)
{
	uint64_t *to = (uint64_t *)sum;

	_Static_assert(sizeof(*sum) % sizeof(*to) == 0, "all counters are 64 bits");
	memset(sum, 0, sizeof(*sum));
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		const struct tm_stream *s = &app->streams[i];
		const uint64_t *from = (const uint64_t *)&s->stats;

		if ((rx_port >= 0 && s->rx_port != rx_port) ||
		    (tx_port >= 0 && s->tx_port != tx_port))
			continue;
		for (size_t k = 0; k < sizeof(*sum) / sizeof(*to); k++)
			to[k] += __atomic_load_n(&from[k], __ATOMIC_RELAXED);
	}
}

void
tm_stats_clear(struct tm_app *app)
{
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		memset(&app->streams[i].stats, 0, sizeof(app->streams[i].stats));
		memset(&app->streams[i].stamps, 0, sizeof(app->streams[i].stamps));
	}
}
