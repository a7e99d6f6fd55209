/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Damaged commands by the thousand: whatever comes, the answer has a status, refusals are noted,
 * queues that were made by luck run on garbage, and closing leaves nothing behind.
 *
 *   test_fw_fuzz [SEED [ROUNDS]]
 */
#include <errno.h>
#include <stdlib.h>

#include "fw_fixture.h"

#define IDS 64u

static struct fix f;
static uint64_t state;
static uint32_t mbox[FW_IN_BYTES / 4];
static uint32_t ids[IDS]; /* ids seen, of any type: material for references */
static uint32_t cqn, tisn, rqn;

/* xorshift64*: the same sequence for the same seed everywhere. */
static uint32_t
rnd(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32) % below;
}

/* A lawful command of one of the kinds with context. */
static size_t
lawful(void)
{
	uint32_t list[4] = {rqn, rqn, rqn, rqn};
	const unsigned kind = rnd(FIX_KINDS + 1);

	if (kind < FIX_KINDS)
		return fix_kind_in(&f, mbox, kind, kind == 4 ? rqn : cqn, tisn);
	return fix_rqt_in(mbox, 4, list, 1u << rnd(3));
}

/* Any opcode of the table with an id that was seen, or with noise. */
static size_t
any_command(void)
{
	const struct prm_command *d = prm_command_at(rnd(prm_command_count()));

	memset(mbox, 0, sizeof(mbox));
	mbox[0] = PRM_BE32((uint32_t)d->opcode << 16);
	if (rnd(2) != 0)
		mbox[2] = PRM_BE32(ids[rnd(IDS)]);
	else
		mbox[rnd(d->in_bytes_min / 4)] ^= PRM_BE32(rnd(0xffffffff));
	return d->in_bytes_min;
}

/* MODIFY_SQ and MODIFY_RQ: queues change state at random. */
static size_t
state_change(void)
{
	bool sq = rnd(2) != 0;

	memset(mbox, 0, sizeof(mbox));
	mbox[0] = PRM_BE32((sq ? PRM_CMD_OP_MODIFY_SQ : PRM_CMD_OP_MODIFY_RQ) << 16);
	mbox[2] = PRM_BE32((uint32_t)(rnd(4) << 28) | ids[rnd(IDS)]);
	mbox[8] = PRM_BE32((uint32_t)(rnd(4) << 20));
	return PRM_MODIFY_SQ_IN_BYTES;
}

static size_t
damage(size_t len)
{
	for (unsigned n = rnd(4); n != 0; n--)
		mbox[rnd((uint32_t)(len / 4))] ^= PRM_BE32(1u << rnd(32));
	switch (rnd(16)) {
	case 0:
		return rnd((uint32_t)len + 64);
	case 1:
		mbox[rnd((uint32_t)(len / 4))] = PRM_BE32(ids[rnd(IDS)]);
		return len;
	default:
		return len;
	}
}

/* The program scribbles over its rings, doorbell records and doorbell page. */
static void
scribble(void)
{
	for (unsigned i = 0; i < 64; i++)
		f.mem[rnd(FIX_MEM_BYTES)] = (uint8_t)rnd(256);
	f.mem[FIX_DBREC_OFFSET + rnd(128)] = (uint8_t)rnd(256);
	f.uar->page[0x800 + rnd(8)] = (uint8_t)rnd(256);
	f.uar->page[0x20 + rnd(8)] = (uint8_t)rnd(256);
}

/* First word of the record that all queues of the fixture share. */
static uint32_t
get_dbrec(void)
{
	uint32_t word;

	memcpy(&word, &f.mem[FIX_DBREC_OFFSET + 64], sizeof(word));
	return word;
}

/* A refusal that is the emulator's limit. */
static bool
is_limit(uint32_t syndrome)
{
	const struct fw_syndrome_info *info = fw_syndrome_explain(syndrome);

	return info != NULL && fw_syndrome_is_limit((enum fw_syndrome)(info - fw_syndrome_info(FW_OK)));
}

static void
one_round(void)
{
	static size_t (*const makers[])(void) = {lawful, lawful, lawful, any_command, state_change};
	uint64_t before = emu_audit_total(), noted;
	size_t len = damage(makers[rnd(5)]()), out_len = rnd(8) == 0 ? rnd(64) : 4200;
	uint32_t syndrome = fix_exec_as(&f, f.ctx, mbox, len, out_len);

	if (syndrome == 0xffffffffu) {
		CHECK(len < 16 || out_len < 16);
		return;
	}
	CHECK((syndrome != 0) == (f.ret != 0));
	/* An RQ that scribble() left a doorbell record goes to RDY, but not without a note. */
	noted = emu_audit_total() - before;
	CHECK(noted == (f.ret != 0 && !is_limit(syndrome)) || (noted == 1 && get_dbrec() != 0));
	CHECK(f.ret == 0 || fw_syndrome_explain(syndrome) != NULL);
	if (f.created != NULL)
		ids[rnd(IDS)] = f.created->id;
	if (rnd(8) == 0) {
		scribble();
		emu_lock(&f.m);
		emu_dp_poll(&f.m);
		emu_unlock(&f.m);
	}
}

static unsigned
objects(void)
{
	unsigned n = 0;

	for (unsigned t = 0; t < EMU_OBJ_TYPES; t++)
		if (t != EMU_OBJ_EQ)
			n += emu_obj_count(f.dev, t);
	return n;
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 40000;

	state = seed * 0x9e3779b97f4a7c15ull + 1;
	fix_open(&f);
	cqn = ids[0] = fix_cq(&f);
	tisn = ids[1] = fix_tis(&f);
	rqn = ids[2] = fix_rq(&f, cqn);
	for (unsigned long i = 0; i < rounds && check_failures == 0; i++)
		one_round();
	if (check_failures != 0)
		fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
	CHECK(objects() > 100);
	emu_ctx_close(f.ctx);
	f.ctx = NULL;
	CHECK_EQ(objects(), 0);
	fix_close(&f);
	return fix_result("fuzz");
}
