/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The way to host memory for queues: the key used last is kept at hand. */
#include "dp_int.h"

void *
dp_dma_find(struct dp_key *k, struct emu_dev *dev, uint32_t pd, uint32_t key, uint64_t addr,
	    uint32_t len, enum emu_dma_dir dir)
{
	void *at = emu_dma(dev, pd, key, addr, len, dir);

	/* emu_dma() refused the access and reported it to the audit: keep the cached key. */
	if (at == NULL)
		return NULL;
	k->mkey = emu_obj_find(dev, EMU_OBJ_MKEY, key >> 8);
	/* Its memory is not all there: each access is looked up. */
	if (DP_UNLIKELY(k->mkey->pages != NULL && !k->mkey->whole))
		k->mkey = NULL;
	k->key = key;
	k->changes = dev->mkey_changes;
	return at;
}
