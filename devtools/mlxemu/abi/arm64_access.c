/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Loads from the counter page and stores to registers of a device (arm64). The instruction that faults is decoded
 * and executed here, with the registers of the signal context; the program continues behind it. Encodings: Arm ARM
 * (DDI 0487), C4.1, loads and stores. Not listed: exclusive and atomic accesses, gathers, SVE.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <asm/sigcontext.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#include "abi/vfio/vfio.h"
#include "trap_pages.h"

#define NO_REG 31u /* as data the zero register, as base the stack pointer */
#define SIGN_NONE 0u
/* ESR_EL1.ISS.WnR of a data abort */
#define ESR_WNR 0x40u

/** A load or store of one to four registers. */
struct access {
	bool load, vector;
	uint8_t bytes;	/* of one register in memory */
	uint8_t sign;	/* bytes to extend the sign to; SIGN_NONE: zeros */
	uint8_t regs;	/* number */
	uint8_t reg[4];
	uint8_t base;
	int64_t move; /* of the base register, afterwards */
};

static unsigned
bits(uint32_t insn, unsigned low, unsigned n)
{
	return insn >> low & ((1u << n) - 1);
}

static int64_t
signed_bits(uint32_t insn, unsigned low, unsigned n)
{
	return (int32_t)(insn << (32 - low - n)) >> (32 - n);
}

/* Fields opc and size of single accesses. False: a prefetch, or not allocated. */
static bool
size_of(struct access *a, unsigned size, unsigned opc, bool vector)
{
	a->vector = vector;
	if (vector) {
		a->load = (opc & 1) != 0;
		size |= (opc & 2) << 1;
		a->bytes = 1u << size;
		return size <= 4;
	}
	a->load = opc != 0;
	a->bytes = 1u << size;
	a->sign = opc < 2 ? SIGN_NONE : opc == 2 ? 8 : 4;
	return opc < 2 || size + opc < 5;
}

/* ldp, stp, ldnp, stnp, ldpsw */
static bool
pair(uint32_t insn, struct access *a)
{
	const unsigned opc = bits(insn, 30, 2), mode = bits(insn, 23, 2);

	a->vector = bits(insn, 26, 1) != 0;
	a->load = bits(insn, 22, 1) != 0;
	a->bytes = a->vector ? 4u << opc : opc == 2 ? 8 : 4;
	a->sign = !a->vector && opc == 1 ? 8 : SIGN_NONE;
	a->regs = 2;
	a->reg[1] = bits(insn, 10, 5);
	/* Modes: 1 moves the base after the access, 3 before it. */
	if (mode == 1 || mode == 3)
		a->move = signed_bits(insn, 15, 7) * a->bytes;
	return opc != 3 && (a->sign == SIGN_NONE || a->load);
}

/* ldr and str with an immediate that is not scaled, and with a register */
static bool
single(uint32_t insn, struct access *a)
{
	const unsigned mode = bits(insn, 10, 2);

	if (bits(insn, 21, 1) != 0 && mode != 2)
		return false; /* atomic */
	if (bits(insn, 21, 1) == 0 && (mode == 1 || mode == 3))
		a->move = signed_bits(insn, 12, 9);
	return size_of(a, bits(insn, 30, 2), bits(insn, 22, 2), bits(insn, 26, 1) != 0);
}

/* ld1 and st1 of whole registers */
static bool
whole(uint32_t insn, const uint64_t *x, struct access *a)
{
	static const uint8_t regs_of[16] = {[2] = 4, [6] = 3, [7] = 1, [10] = 2};
	const unsigned rm = bits(insn, 16, 5);

	a->vector = true;
	a->load = bits(insn, 22, 1) != 0;
	a->bytes = bits(insn, 30, 1) != 0 ? 16 : 8;
	a->regs = regs_of[bits(insn, 12, 4)];
	for (unsigned i = 1; i < a->regs; i++)
		a->reg[i] = (a->reg[0] + i) % 32;
	if (bits(insn, 23, 1) != 0)
		a->move = rm == NO_REG ? a->bytes * a->regs : (int64_t)x[rm];
	return a->regs != 0;
}

static bool
decode(const ucontext_t *uc, struct access *a)
{
	uint32_t insn;

	memcpy(&insn, (const void *)(uintptr_t)uc->uc_mcontext.pc, sizeof(insn));
	*a = (struct access){.regs = 1, .reg = {bits(insn, 0, 5)}, .base = bits(insn, 5, 5)};
	if ((insn & 0x3a000000) == 0x28000000)
		return pair(insn, a);
	if ((insn & 0x3b000000) == 0x39000000)
		return size_of(a, bits(insn, 30, 2), bits(insn, 22, 2), bits(insn, 26, 1) != 0);
	/* ldar, stlr, ldlar, stllr; ldapr; ldapur, stlur */
	if ((insn & 0x3fa00000) == 0x08800000)
		return size_of(a, bits(insn, 30, 2), bits(insn, 22, 1), false);
	if ((insn & 0x3ffffc00) == 0x38bfc000)
		return size_of(a, bits(insn, 30, 2), 1, false);
	if ((insn & 0x3f200c00) == 0x19000000)
		return size_of(a, bits(insn, 30, 2), bits(insn, 22, 2), false);
	if ((insn & 0x3b000000) == 0x38000000)
		return single(insn, a);
	if ((insn & 0xbf800000) == 0x0c000000 ? bits(insn, 16, 6) == 0 : (insn & 0xbfa00000) == 0x0c800000)
		return whole(insn, (const uint64_t *)uc->uc_mcontext.regs, a);
	return false;
}

/* A record of a signal context; NULL: it has none of this kind. */
static void *
record(const ucontext_t *uc, uint32_t magic)
{
	const struct _aarch64_ctx *head = (const void *)uc->uc_mcontext.__reserved;

	for (; head->magic != 0 && head->size != 0; head = (const void *)((const uint8_t *)head + head->size))
		if (head->magic == magic)
			return (void *)(uintptr_t)head;
	return NULL;
}

/* The vector registers; NULL: unknown. */
static __uint128_t *
vectors(const ucontext_t *uc)
{
	struct fpsimd_context *fpsimd = record(uc, FPSIMD_MAGIC);

	return fpsimd == NULL ? NULL : fpsimd->vregs;
}

/*
 * Set a vector register. The kernel restores these from the FPSIMD record, qemu-user from that of SVE, if there is
 * one. The rest of an SVE register becomes 0.
 */
static void
vector_set(const ucontext_t *uc, unsigned n, const uint8_t *from, unsigned bytes)
{
	struct sve_context *sve = record(uc, SVE_MAGIC);
	__uint128_t value = 0;
	uint8_t *z;

	memcpy(&value, from, bytes);
	vectors(uc)[n] = value;
	if (sve == NULL || sve->head.size < SVE_SIG_CONTEXT_SIZE(sve_vq_from_vl(sve->vl)))
		return;
	z = (uint8_t *)sve + SVE_SIG_ZREG_OFFSET(sve_vq_from_vl(sve->vl), n);
	memset(z, 0, sve->vl);
	memcpy(z, &value, sizeof(value));
}

static void
end(ucontext_t *uc, const struct access *a)
{
	if (a->base == NO_REG)
		uc->uc_mcontext.sp += (uint64_t)a->move;
	else
		uc->uc_mcontext.regs[a->base] += (uint64_t)a->move;
	uc->uc_mcontext.pc += sizeof(uint32_t);
}

uint64_t
abi_pc(const void *context)
{
	return ((const ucontext_t *)context)->uc_mcontext.pc;
}

bool
abi_fault_is_write(const void *context)
{
	const struct esr_context *esr = record(context, ESR_MAGIC);
	struct access a;

	/* qemu-user gives no ESR. */
	return esr != NULL ? (esr->esr & ESR_WNR) != 0 : decode(context, &a) && !a.load;
}

/* ---- stores ---- */

bool
abi_store_decode(const void *context, struct abi_store *s)
{
	const ucontext_t *uc = context;
	const __uint128_t *v = vectors(uc);
	struct access a;

	if (!decode(uc, &a) || a.load || (a.vector && v == NULL))
		return false;
	s->len = sizeof(uint32_t);
	s->bytes = a.bytes * a.regs;
	s->swap = -1;
	for (unsigned i = 0; i < a.regs; i++) {
		uint64_t x = a.vector || a.reg[i] == NO_REG ? 0 : uc->uc_mcontext.regs[a.reg[i]];

		memcpy(s->data + i * a.bytes, a.vector ? (const void *)&v[a.reg[i]] : &x, a.bytes);
	}
	return true;
}

void
abi_store_end(void *context, const struct abi_store *s, uint64_t before)
{
	struct access a;

	(void)s;
	(void)before;
	if (decode(context, &a))
		end(context, &a);
}

/* ---- loads ---- */

/* As many as mappings (trap_pages.c). */
#define AREAS 1024u
/** The page that loads are executed on. It is the model's own: qemu-user cannot map it a second time. */
struct abi_load_area {
	const uint8_t *_Atomic page;
};

/* One load of the size of the program's: the engine and other threads write the page. */
static uint64_t
load_once(const uint8_t *from, unsigned bytes)
{
	switch ((uintptr_t)from % bytes == 0 ? bytes : 0) {
	case 1:
		return *(const volatile uint8_t *)from;
	case 2:
		return *(const volatile uint16_t *)(const void *)from;
	case 4:
		return *(const volatile uint32_t *)(const void *)from;
	case 8:
		return *(const volatile uint64_t *)(const void *)from;
	default: {
		uint64_t value = 0;

		memcpy(&value, from, bytes);
		return value;
	}
	}
}

static uint64_t
extended(uint64_t value, const struct access *a)
{
	const unsigned unused = 64 - 8 * a->bytes;

	if (a->sign == SIGN_NONE)
		return value;
	value = (uint64_t)((int64_t)(value << unused) >> unused);
	return a->sign == 4 ? (uint32_t)value : value;
}

bool
abi_load_move(struct abi_load_area *area, unsigned off, void *context)
{
	ucontext_t *uc = context;
	const uint8_t *page = atomic_load(&area->page);
	struct access a;

	if (!decode(uc, &a) || !a.load || off + a.bytes * a.regs > EMU_PAGE_BYTES || (a.vector && vectors(uc) == NULL))
		return false;
	/* Before the data, which may go to the same register: then the program does not depend on the base. */
	end(uc, &a);
	for (unsigned i = 0; i < a.regs; i++) {
		const uint8_t *from = page + off + i * a.bytes;

		if (a.vector) {
			vector_set(uc, a.reg[i], from, a.bytes);
		} else if (a.reg[i] != NO_REG) {
			uc->uc_mcontext.regs[a.reg[i]] = extended(load_once(from, a.bytes), &a);
		}
	}
	return true;
}

bool
abi_load_area_set(struct abi_load_area **area, uint8_t *mem)
{
	static struct abi_load_area areas[AREAS];
	static const uint8_t zeros[EMU_PAGE_BYTES];
	static unsigned used;

	if (*area == NULL) {
		if (used == AREAS)
			return false;
		*area = &areas[used++];
	}
	atomic_store(&(*area)->page, mem == NULL ? zeros : mem);
	return true;
}

/*
 * assumed: stores to doorbell pages are visible at once. Other reading: they can stay in a merge buffer, which a
 * process cannot observe by steps of single instructions. Test: order/traffic.py.
 */
bool
abi_step_begin(void *context)
{
	(void)context;
	return false;
}

void
abi_step_end(void *context)
{
	(void)context;
}

bool
abi_drains(const void *context)
{
	(void)context;
	return true;
}
