/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * The table of forwarding modes.
 */

#include <string.h>

#include "tm.h"

static const struct tm_engine *const engines[] = {
	&tm_engine_io, &tm_engine_mac, &tm_engine_macswap,
	&tm_engine_rxonly, &tm_engine_txonly, &tm_engine_gen,
};

const struct tm_engine *
tm_engine_at(unsigned int i)
{
	return i < RTE_DIM(engines) ? engines[i] : NULL;
}

const struct tm_engine *
tm_engine_find(const char *name)
{
	for (unsigned int i = 0; i < RTE_DIM(engines); i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}
