/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Work queue elements from bytes, on the bench of tests/dp: for targets that drive queues. */
#ifndef FZ_RIG_H
#define FZ_RIG_H

#include "../dp/rig.h"
#include "fz.h"

/**
 * A fuzzer does not guess 64-bit addresses and keys: a segment gets ones that are in the arena,
 * or begin so near its end that they leave it.
 */
static inline void
fz_pointer(struct rig_port *p, uint8_t *seg, uint32_t key)
{
	uint32_t off;
	uint64_t addr;

	memcpy(&off, seg + 12, 4);
	addr = htobe64(rig_addr(p->arena) + off % RIG_ARENA_BYTES);
	memcpy(seg + 4, &(uint32_t){htobe32(key)}, 4);
	memcpy(seg + 8, &addr, 8);
}

/** A WQE whose control segment is right; the rest from the input, pointers made valid or not. */
static inline void
fz_wqe(struct fz_in *in, struct rig_sq *sq, uint32_t key)
{
	unsigned segs = fz_u8(in) % 64, fixed = fz_u16(in), limit = 64u << sq->log_size;

	rig_wqe(sq, fz_u8(in), fz_u8(in));
	for (unsigned i = 0; i < segs && sq->len + 16 <= sizeof(sq->wqe); i++) {
		fz_bytes(in, sq->wqe + sq->len, 16);
		if (fixed >> (i & 15) & 1)
			fz_pointer(sq->port, sq->wqe + sq->len, key);
		sq->len += 16;
	}
	if (sq->len > limit)
		sq->len = limit;
	rig_wqe_end(sq);
}

/** Polls until nothing moves. */
static inline void
fz_run(struct rig *r)
{
	for (unsigned i = 0; i < 100000; i++)
		if (emu_dp_poll(&r->m) == 0)
			return;
	FZ_MUST(!"the engine comes to rest");
}

#endif /* FZ_RIG_H */
