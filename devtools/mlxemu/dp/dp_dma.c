/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Access to host memory by queues, which cache the last key. */
#include "dp_int.h"

void *
dp_dma_find(struct dp_key *k, struct emu_dev *dev, uint32_t pd, uint32_t key, uint64_t addr,
	    uint32_t len, enum emu_dma_dir dir)
{
	void *at = emu_dma(dev, pd, key, addr, len, dir);
	const struct emu_mkey *m;

	/* emu_dma() refused the access and reported it to the audit: keep the cached key. */
	if (at == NULL)
		return NULL;
	m = emu_obj_find(dev, EMU_OBJ_MKEY, key >> 8);
	/* A key with unmapped pages is not cached: emu_dma() checks each access. */
	if (DP_UNLIKELY(m->pages != NULL && !m->whole))
		*k = (struct dp_key){0};
	else
		*k = (struct dp_key){.key = key, .changes = dev->mkey_changes, .pd = m->pd, .read = m->local_read,
				     .write = m->local_write, .start = m->start, .len = m->len, .host = m->host};
	return at;
}
