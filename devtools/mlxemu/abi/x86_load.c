/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Decodes the load instructions that compilers use for device registers: moves to a general
 * register, with zero or sign extension, or with byte swap (x86-64). Stores: x86_store.c.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <string.h>
#include <ucontext.h>

#include "trap_pages.h"

const uint8_t abi_greg_of[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

unsigned
abi_operand_len(const uint8_t *p)
{
	unsigned mod = p[0] >> 6, rm = p[0] & 7, len = rm == 4 ? 2 : 1;

	if (mod == 3)
		return 0;
	if (mod == 0 && (rm == 5 || (rm == 4 && (p[1] & 7) == 5)))
		return len + 4;
	return len + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Decode by opcode; the default is a plain move of `whole` bytes. */
static bool
kind_of(const uint8_t **p, unsigned whole, struct abi_load *l)
{
	uint8_t opcode = *(*p)++;

	*l = (struct abi_load){.bytes = whole, .to = whole};
	if (opcode == 0x8b)
		return true;
	if (opcode == 0x8a) {
		l->bytes = l->to = 1;
		return true;
	}
	if (opcode == 0x63 && whole == 8) { /* movsxd */
		l->bytes = 4;
		l->sign = true;
		return true;
	}
	if (opcode != 0x0f)
		return false;
	opcode = *(*p)++;
	if (opcode == 0x38) { /* movbe */
		l->swap = true;
		return *(*p)++ == 0xf0;
	}
	if ((opcode & 0xf6) != 0xb6) /* movzx b6, b7; movsx be, bf */
		return false;
	l->bytes = (opcode & 1) != 0 ? 2 : 1;
	l->sign = (opcode & 8) != 0;
	return true;
}

bool
abi_load_decode(const void *context, struct abi_load *l)
{
	const ucontext_t *uc = context;
	const uint8_t *start = (const uint8_t *)(uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
	const uint8_t *p = start;
	bool half = *p == 0x66;
	unsigned reg, len;
	uint8_t rex;

	p += half;
	rex = (*p & 0xf0) == 0x40 ? *p++ : 0;
	if (!kind_of(&p, (rex & ABI_REX_W) != 0 ? 8 : half ? 2 : 4, l))
		return false;
	reg = (*p >> 3 & 7) | ((rex & ABI_REX_R) != 0 ? 8 : 0);
	len = abi_operand_len(p);
	/* Byte registers 4 to 7 without REX are ah to bh. */
	if (len == 0 || (l->to == 1 && rex == 0 && reg >= 4))
		return false;
	l->reg = abi_greg_of[reg];
	l->len = (unsigned)(p - start) + len;
	return true;
}

void
abi_load_do(const struct abi_load *l, const uint8_t *from, long long *regs)
{
	uint64_t value = 0, keep = 0;

	memcpy(&value, from, l->bytes);
	if (l->swap)
		value = __builtin_bswap64(value) >> (64 - 8 * l->bytes);
	if (l->sign && (value >> (8 * l->bytes - 1)) != 0)
		value |= UINT64_MAX << (8 * l->bytes);
	/* A write of less than four bytes keeps the other bytes; one of four clears the upper half. */
	if (l->to < 4)
		keep = UINT64_MAX << (8 * l->to);
	else if (l->to == 4)
		value = (uint32_t)value;
	regs[l->reg] = (long long)(((uint64_t)regs[l->reg] & keep) | (value & ~keep));
	regs[REG_RIP] += l->len;
}
