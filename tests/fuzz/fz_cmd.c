/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Firmware commands from bytes: whatever a mailbox holds, the answer has a status, a refusal is explained and, if no
 * limit of the emulator, a violation, and closing the context leaves no object behind.
 */
#include <errno.h>

#include "../fw/fw_fixture.h"
#include "fz.h"

#define MAX_COMMANDS 64u
#define IDS 32u

static struct fix f;
static uint32_t mbox[FW_IN_BYTES / 4];
static uint32_t ids[IDS]; /* of objects made so far, of any type: material for references */
static unsigned nids;

enum record { REC_RAW, REC_LAWFUL, REC_BY_TABLE, REC_SCRIBBLE, REC_DOORBELL, REC_KINDS };

static uint32_t
an_id(uint8_t which)
{
	return ids[which % IDS];
}

/* A command that succeeds with a fresh fixture; the records behind it change single dwords. */
static size_t
lawful(struct fz_in *in)
{
	uint8_t kind = fz_u8(in);
	uint32_t a = an_id(fz_u8(in)), b = an_id(fz_u8(in)), list[8] = {a, b, a, b, b, a, a, b};

	if (kind % (FIX_KINDS + 1) < FIX_KINDS)
		return fix_kind_in(&f, mbox, kind % (FIX_KINDS + 1), a, b);
	return fix_rqt_in(mbox, kind & 0x80 ? 4 : 8, list, 1u << (kind >> 4 & 3));
}

static size_t
by_table(struct fz_in *in)
{
	const struct prm_command *d = prm_command_at(fz_u8(in) % prm_command_count());

	memset(mbox, 0, sizeof(mbox));
	mbox[0] = PRM_BE32((uint32_t)d->opcode << 16);
	mbox[2] = PRM_BE32(an_id(fz_u8(in)));
	return d->in_bytes_min;
}

static size_t
changed(struct fz_in *in, size_t len)
{
	for (unsigned n = fz_u8(in) & 7; n != 0; n--) {
		uint16_t at = fz_u16(in);
		uint32_t value = fz_u32(in);

		mbox[at % (len / 4)] = at & 0x8000 ? PRM_BE32(an_id((uint8_t)value)) : value;
	}
	return len;
}

static bool
is_limit(uint32_t code)
{
	const struct fw_syndrome_info *info = fw_syndrome_explain(code);

	return info != NULL && fw_syndrome_is_limit((enum fw_syndrome)(info - fw_syndrome_info(FW_OK)));
}

static void
execute(size_t len, size_t out_len)
{
	uint64_t before = emu_audit_total();
	uint32_t syndrome = fix_exec_as(&f, f.ctx, mbox, len, out_len);

	if (syndrome == 0xffffffffu) {
		FZ_MUST(len < 16 || out_len < 16);
		return;
	}
	FZ_MUST((syndrome != 0) == (f.ret != 0));
	FZ_MUST(f.ret == 0 || emu_audit_total() > before || is_limit(syndrome));
	FZ_MUST(f.ret == 0 || fw_syndrome_explain(syndrome) != NULL);
	FZ_MUST(f.created == NULL || f.ret == 0);
	if (f.created != NULL)
		ids[nids++ % IDS] = f.created->id;
}

static void
scribble(struct fz_in *in)
{
	uint32_t at = fz_u32(in) % FIX_MEM_BYTES;
	size_t len = fz_u8(in);

	fz_bytes(in, f.mem + at, len < FIX_MEM_BYTES - at ? len : FIX_MEM_BYTES - at);
}

/* The engine looks at what the program wrote into rings and doorbell page. */
static void
doorbell(struct fz_in *in)
{
	fz_bytes(in, (void *)(uintptr_t)(f.uar->page + (fz_u8(in) & 1 ? 0x800 : 0x20)), 8);
	emu_lock(&f.m);
	emu_dp_poll(&f.m);
	emu_unlock(&f.m);
}

static void
one_record(struct fz_in *in)
{
	uint8_t kind = fz_u8(in);

	switch (kind % REC_KINDS) {
	case REC_RAW:
		execute(fz_bytes(in, mbox, fz_u16(in) % sizeof(mbox)), kind & 0x80 ? 16 : 4200);
		break;
	case REC_LAWFUL:
		execute(changed(in, lawful(in)), 4200);
		break;
	case REC_BY_TABLE:
		execute(changed(in, by_table(in)), 4200);
		break;
	case REC_SCRIBBLE:
		scribble(in);
		break;
	default:
		doorbell(in);
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
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz_in in = {data, size};

	fix_open(&f);
	nids = 0;
	memset(ids, 0, sizeof(ids));
	ids[nids++] = f.pd;
	ids[nids++] = f.td;
	ids[nids++] = f.umem->obj.id;
	ids[nids++] = f.uar->obj.id;
	for (unsigned i = 0; i < MAX_COMMANDS && in.left != 0; i++)
		one_record(&in);
	emu_ctx_close(f.ctx);
	f.ctx = NULL;
	FZ_MUST(objects() == 0);
	fix_close(&f);
	FZ_MUST(check_failures == 0);
	return 0;
}
