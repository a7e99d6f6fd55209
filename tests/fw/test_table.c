/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Every command refuses what no command may accept: wrong lengths, reserved bits, unknown ids. */
#include <errno.h>

#include "fw_fixture.h"

static struct fix f;
static uint32_t mbox[FW_IN_BYTES / 4 + 16];

static void *
inbox(uint16_t opcode)
{
	memset(mbox, 0, sizeof(mbox));
	mbox[0] = PRM_BE32((uint32_t)opcode << 16);
	return mbox;
}

static const struct prm_command *
desc_of(const struct fw_row *row)
{
	const struct prm_command *desc = prm_command_find(row->opcode);

	CHECK(desc != NULL);
	return desc;
}

/* Each refusal is answered with its status, nothing else, and is one violation unless it is the emulator's limit. */
static void
refused(uint32_t got, enum fw_syndrome want, const char *name)
{
	if (got != fix_code(want))
		fprintf(stderr, "%s: syndrome 0x%x instead of 0x%x (%s)\n", name, got,
			fix_code(want), fw_syndrome_info(want)->cause);
	CHECK_EQ(got, fix_code(want));
	CHECK_EQ(*(uint8_t *)f.out, fw_syndrome_info(want)->status);
	CHECK_EQ(f.out[2], 0);
	CHECK_EQ(f.out[3], 0);
	CHECK(f.created == NULL);
	CHECK_EQ(emu_audit_total(), !fw_syndrome_is_limit(want));
	emu_audit_reset();
}

static void
test_lengths(void)
{
	const struct fw_row *row;

	for (unsigned i = 0; (row = fw_row_at(i)) != NULL; i++) {
		const struct prm_command *d = desc_of(row);
		size_t len = d->in_bytes_min;

		for (size_t cut = 4; cut <= len; cut += 4) {
			uint32_t got = fix_exec(&f, inbox(row->opcode), len - cut);

			if (len - cut >= 16)
				refused(got, FW_IN_SHORT, d->name);
			else
				CHECK_EQ(f.ret, -EINVAL);
		}
		if (!d->in_variable) {
			inbox(row->opcode);
			mbox[len / 4] = PRM_BE32(1);
			refused(fix_exec(&f, mbox, len + 4), FW_IN_LONG, d->name);
		}
		if (d->out_bytes_min > 16)
			refused(fix_exec_as(&f, f.ctx, inbox(row->opcode), len,
					    d->out_bytes_min - 4u), FW_OUT_SHORT, d->name);
	}
	refused(fix_exec(&f, inbox(PRM_CMD_OP_CREATE_RQT), FW_IN_BYTES + 4), FW_IN_LONG, "RQT");
	/* Zeros behind a command say nothing. */
	CHECK_EQ(fix_exec(&f, inbox(PRM_CMD_OP_NOP), 256), 0);
	CHECK_EQ(fix_exec_as(&f, f.ctx, inbox(PRM_CMD_OP_NOP), 16, 12), 0xffffffffu);
}

static void
test_reserved_bits(void)
{
	const struct fw_row *row;
	unsigned tried = 0;

	for (unsigned i = 0; (row = fw_row_at(i)) != NULL; i++) {
		const struct prm_command *d = desc_of(row);

		for (unsigned dw = 1; dw < d->in->dwords && 4 * dw < d->in_bytes_min; dw++) {
			for (unsigned bit = 0; bit < 32; bit++) {
				if ((d->in->valid[dw] & 1u << bit) != 0)
					continue;
				inbox(row->opcode);
				mbox[dw] = PRM_BE32(1u << bit);
				refused(fix_exec(&f, mbox, d->in_bytes_min), FW_RESERVED, d->name);
				tried++;
			}
		}
	}
	CHECK(tried > 1000);
}

static void
test_unknown_ids(void)
{
	const struct fw_row *row;

	for (unsigned i = 0; (row = fw_row_at(i)) != NULL; i++) {
		const struct prm_command *d = desc_of(row);

		if (row->type == EMU_OBJ_NONE || d->cls == PRM_CMD_CREATE)
			continue;
		CHECK(d->in_id.hi >= d->in_id.lo);
		for (int all = 0; all < 2; all++) {
			unsigned width = d->in_id.hi - d->in_id.lo + 1u;
			uint32_t max = width >= 32 ? 0xffffffffu : (1u << width) - 1;

			inbox(row->opcode);
			mbox[d->in_id.dword] |= PRM_BE32((all ? max : 0) << d->in_id.lo);
			refused(fix_exec(&f, mbox, d->in_bytes_min),
				(row->flags & FW_OWNER) != 0 ? FW_KERNEL_ONLY : FW_NO_OBJECT,
				d->name);
		}
	}
}

/* Every other opcode there is. */
static void
test_unknown_opcodes(void)
{
	for (unsigned op = 0; op < 0x10000; op += op < 0x1000 ? 1 : 257) {
		const struct prm_command *d = prm_command_find((uint16_t)op);

		if (d == NULL)
			refused(fix_exec(&f, inbox((uint16_t)op), 64),
				fw_is_published((uint16_t)op) ? FW_NOT_MODELLED : FW_UNKNOWN_OP, "?");
		else if (fw_row_find((uint16_t)op) == NULL)
			refused(fix_exec(&f, inbox((uint16_t)op), d->in_bytes_min),
				FW_NOT_MODELLED, d->name);
	}
}

static void
test_syndromes(void)
{
	for (unsigned i = FW_OK + 1; i < FW_SYNDROME_COUNT; i++) {
		const struct fw_syndrome_info *a = fw_syndrome_info(i);

		CHECK(a->code != 0 && a->status != 0 && a->cause[0] != '\0');
		CHECK(fw_syndrome_explain(a->code) == a);
		for (unsigned j = i + 1; j < FW_SYNDROME_COUNT; j++)
			CHECK(fw_syndrome_info(j)->code != a->code);
	}
	CHECK(fw_syndrome_explain(0x123456) == NULL);
}

/* Every row leads somewhere and its type has a destroy command when it has a create command. */
static void
test_rows(void)
{
	const struct fw_row *row;

	for (unsigned i = 0; (row = fw_row_at(i)) != NULL; i++) {
		const struct prm_command *d = desc_of(row);

		CHECK(fw_row_find(row->opcode) == row);
		CHECK(row->handler != NULL ||
		      (d->cls == PRM_CMD_DESTROY && row->type != EMU_OBJ_NONE));
		if (d->cls == PRM_CMD_CREATE && row->type != EMU_OBJ_NONE) {
			const struct fw_row *destroy = fw_row_find(d->destroy_opcode);

			CHECK(destroy != NULL && destroy->type == row->type);
		}
	}
}

int
main(void)
{
	fix_open(&f);
	test_rows();
	test_syndromes();
	test_lengths();
	test_reserved_bits();
	test_unknown_ids();
	test_unknown_opcodes();
	fix_close(&f);
	return fix_result("table");
}
