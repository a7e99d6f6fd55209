/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Decodes the store instructions that compilers and libraries use on registers of a device: plain
 * and non-temporal moves from general and vector registers, and xchg. x86-64.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <string.h>
#include <ucontext.h>

#include "abi/vfio/vfio.h"
#include "trap_pages.h"

/** Position of the decoder. */
struct decode {
	const uint8_t *p, *start;
	const ucontext_t *uc;
	uint8_t rex;
	bool operand16, repeat; /* prefixes 66; f2 or f3 */
	unsigned reg;		/* of ModRM, extended */
};

/* Skip ModRM, SIB and displacement; false for a register operand, which is no store to memory. */
static bool
modrm(struct decode *d)
{
	unsigned len = abi_operand_len(d->p);

	d->reg = (*d->p >> 3 & 7) | ((d->rex & ABI_REX_R) != 0 ? 8 : 0);
	d->p += len != 0 ? len : 1;
	return len != 0;
}

static bool
done(struct decode *d, struct abi_store *s)
{
	s->len = (unsigned)(d->p - d->start);
	return true;
}

static unsigned
operand_bytes(const struct decode *d)
{
	return (d->rex & ABI_REX_W) != 0 ? 8 : d->operand16 ? 2 : 4;
}

/* Value of a general register; byte registers 4 to 7 without REX are ah to bh. */
static bool
general(struct decode *d, struct abi_store *s, unsigned bytes)
{
	uint64_t value;

	if (!modrm(d))
		return false;
	value = (uint64_t)d->uc->uc_mcontext.gregs[abi_greg_of[d->reg]];
	if (bytes == 1 && d->rex == 0 && d->reg >= 4)
		value = (uint64_t)d->uc->uc_mcontext.gregs[abi_greg_of[d->reg - 4]] >> 8;
	memcpy(s->data, &value, sizeof(value));
	s->bytes = bytes;
	return done(d, s);
}

static bool
immediate(struct decode *d, struct abi_store *s, unsigned bytes)
{
	unsigned n = bytes == 8 ? 4 : bytes;
	int64_t value = 0;
	int32_t low;

	if (!modrm(d) || (d->reg & 7) != 0)
		return false;
	memcpy(&value, d->p, n);
	if (bytes == 8) {
		memcpy(&low, d->p, sizeof(low));
		value = low;
	}
	d->p += n;
	memcpy(s->data, &value, sizeof(value));
	s->bytes = bytes;
	return done(d, s);
}

static bool
swapped(struct decode *d, struct abi_store *s)
{
	if (!general(d, s, operand_bytes(d)))
		return false;
	s->swap = abi_greg_of[d->reg];
	return true;
}

/* Value of an xmm register; wider ones are not in the fpregs of a signal context. */
static bool
vector(struct decode *d, struct abi_store *s, unsigned bytes)
{
	if (!modrm(d) || d->uc->uc_mcontext.fpregs == NULL)
		return false;
	memcpy(s->data, &d->uc->uc_mcontext.fpregs->_xmm[d->reg], bytes);
	s->bytes = bytes;
	return done(d, s);
}

/* Stores among the opcodes that begin with 0f, by VEX too. */
static bool
two_bytes(struct decode *d, struct abi_store *s, uint8_t opcode)
{
	switch (opcode) {
	case 0x11: /* movups, movupd, movss, movsd */
		return !d->repeat && vector(d, s, 16);
	case 0x29: /* movaps, movapd */
	case 0x2b: /* movntps, movntpd */
	case 0xe7: /* movntdq */
		return vector(d, s, 16);
	case 0x7f: /* movdqa, movdqu */
		return (d->operand16 || d->repeat) && vector(d, s, 16);
	case 0x13: /* movlps, movlpd */
	case 0xd6: /* movq */
		return vector(d, s, 8);
	case 0x7e: /* movd, movq from a vector register */
		return d->operand16 && vector(d, s, (d->rex & ABI_REX_W) != 0 ? 8 : 4);
	case 0xc3: /* movnti */
		return general(d, s, (d->rex & ABI_REX_W) != 0 ? 8 : 4);
	default:
		return false;
	}
}

/* movbe: 0f 38 f1 */
static bool
three_bytes(struct decode *d, struct abi_store *s)
{
	uint8_t swap[8];

	if (*d->p++ != 0xf1 || d->repeat || !general(d, s, operand_bytes(d)))
		return false;
	memcpy(swap, s->data, sizeof(swap));
	for (unsigned i = 0; i < s->bytes; i++)
		s->data[i] = swap[s->bytes - 1 - i];
	return true;
}

/* Vector extensions of the same stores, 16 bytes wide: c5 and, with the 0f map, c4. */
static bool
vex(struct decode *d, struct abi_store *s, bool three)
{
	uint8_t b = *d->p++;

	d->rex = (b & 0x80) == 0 ? ABI_REX_R : 0;
	if (three) {
		if ((b & 0x1f) != 1)
			return false;
		b = *d->p++;
		d->rex |= (b & 0x80) != 0 ? ABI_REX_W : 0;
	}
	if ((b & 4) != 0) /* 32 bytes */
		return false;
	d->operand16 = (b & 3) == 1;
	d->repeat = (b & 3) >= 2;
	b = *d->p++;
	/* With f3 7f is a whole register, 11 a part of one. */
	return b != 0xc3 && two_bytes(d, s, b);
}

static bool
prefix(struct decode *d)
{
	switch (*d->p) {
	case 0x66:
		d->operand16 = true;
		break;
	case 0xf2:
	case 0xf3:
		d->repeat = true;
		break;
	case 0xf0: /* lock: no effect on the decoding */
	case 0x2e:
	case 0x3e:
	case 0x64:
	case 0x65: /* fs, gs: si_addr has the address */
		break;
	default:
		return false;
	}
	d->p++;
	return true;
}

bool
abi_store_decode(const void *context, struct abi_store *s)
{
	const ucontext_t *uc = context;
	struct decode d = {.uc = uc};
	uint8_t opcode;

	d.start = d.p = (const uint8_t *)(uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
	s->swap = -1;
	while (prefix(&d))
		;
	if ((*d.p & 0xf0) == 0x40)
		d.rex = *d.p++;
	opcode = *d.p++;
	switch (opcode) {
	case 0x88:
		return general(&d, s, 1);
	case 0x89:
		return general(&d, s, operand_bytes(&d));
	case 0xc6:
		return immediate(&d, s, 1);
	case 0xc7:
		return immediate(&d, s, operand_bytes(&d));
	case 0x87:
		return swapped(&d, s);
	case 0x0f:
		opcode = *d.p++;
		return opcode == 0x38 ? three_bytes(&d, s) : two_bytes(&d, s, opcode);
	case 0xc5:
		return vex(&d, s, false);
	case 0xc4:
		return vex(&d, s, true);
	default:
		return false;
	}
}

void
abi_store_end(void *context, const struct abi_store *s, uint64_t before)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	/* A store to a 32-bit register clears the upper half. */
	if (s->swap >= 0 && s->bytes <= sizeof(before))
		memcpy(&regs[s->swap], &before, s->bytes == 4 ? 8 : s->bytes);
	regs[REG_RIP] += s->len;
}

#define TRAP_FLAG 0x100

bool
abi_step_begin(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	return true;
}

void
abi_step_end(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* pushf and popf, which would see or change the trap flag, end the steps as well. */
bool
abi_drains(const void *context)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)abi_pc(context);

	while (*p == 0x66 || *p == 0xf2 || *p == 0xf3 || *p == 0x2e || *p == 0x3e || *p == 0x64 || *p == 0x65)
		p++;
	if ((*p & 0xf0) == 0x40)
		p++;
	switch (*p) {
	case 0xf0: /* lock */
	case 0x9c: /* pushf, popf */
	case 0x9d:
	case 0xcd: /* int, iret */
	case 0xcf:
		return true;
	case 0x86: /* xchg */
	case 0x87:
		return p[1] < 0xc0;
	case 0x0f: /* syscall, cpuid, mfence, sfence */
		return p[1] == 0x05 || p[1] == 0xa2 || (p[1] == 0xae && p[2] >= 0xf0);
	default:
		return false;
	}
}
