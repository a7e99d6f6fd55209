/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Loads from the counter page (x86-64). The page is not readable. The instruction that faults is
 * copied, with the mapping of the model as its memory operand, and the program continues at the copy:
 * the processor itself executes the instruction, with its registers, width and flags. Only the length
 * of the instruction must be known. Stores: x86_store.c.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "trap_pages.h"

/*
 * Instructions that load by a ModRM operand, by opcode map: 0 is one byte, 1 is 0f, 2 0f 38, 3 0f 3a, 5 and
 * 6 those of AVX512-FP16 (Intel SDM volume 2, appendix A). Not listed: calls, strings other than movs
 * (string_move()), and instructions whose address is not the operand's alone (bt with a register, gather,
 * vmaskmov).
 */
static const struct form {
	uint8_t map, first, last, regs; /* opcodes; values of ModRM.reg, 0: all */
	uint8_t imm;			/* bytes of the immediate; 4 is 2 with prefix 66 */
} forms[] = {
	/* add, or, adc, sbb, and, sub, xor, cmp */
	{0, 0x02, 0x03, 0, 0}, {0, 0x0a, 0x0b, 0, 0}, {0, 0x12, 0x13, 0, 0}, {0, 0x1a, 0x1b, 0, 0},
	{0, 0x22, 0x23, 0, 0}, {0, 0x2a, 0x2b, 0, 0}, {0, 0x32, 0x33, 0, 0}, {0, 0x38, 0x3b, 0, 0},
	/* movsxd, imul, cmp with an immediate, test, mov */
	{0, 0x63, 0x63, 0, 0}, {0, 0x69, 0x69, 0, 4}, {0, 0x6b, 0x6b, 0, 1}, {0, 0x80, 0x80, 0x80, 1},
	{0, 0x81, 0x81, 0x80, 4}, {0, 0x83, 0x83, 0x80, 1}, {0, 0x84, 0x85, 0, 0}, {0, 0x8a, 0x8b, 0, 0},
	/* x87: arithmetic, fld, fild */
	{0, 0xd8, 0xd8, 0, 0}, {0, 0xd9, 0xd9, 0x01, 0}, {0, 0xda, 0xda, 0, 0}, {0, 0xdb, 0xdb, 0x21, 0},
	{0, 0xdc, 0xdc, 0, 0}, {0, 0xdd, 0xdd, 0x01, 0}, {0, 0xde, 0xde, 0, 0}, {0, 0xdf, 0xdf, 0x21, 0},
	/* test with an immediate; mul, imul, div, idiv; push */
	{0, 0xf6, 0xf6, 0x03, 1}, {0, 0xf7, 0xf7, 0x03, 4}, {0, 0xf6, 0xf7, 0xf0, 0}, {0, 0xff, 0xff, 0x40, 0},
	/* SSE moves and conversions, cmov, arithmetic */
	{1, 0x10, 0x16, 0, 0}, {1, 0x28, 0x2f, 0, 0}, {1, 0x40, 0x6f, 0, 0}, {1, 0x70, 0x73, 0, 1},
	{1, 0x74, 0x76, 0, 0}, {1, 0x78, 0x7f, 0, 0},
	/* kmov, imul, movzx, popcnt, bt with an immediate, bsf, bsr, movsx */
	{1, 0x90, 0x90, 0, 0}, {1, 0xaf, 0xaf, 0, 0}, {1, 0xb6, 0xb8, 0, 0}, {1, 0xba, 0xba, 0x10, 1},
	{1, 0xbc, 0xbf, 0, 0},
	/* cmpps, pinsrw, shufps; integer vectors */
	{1, 0xc2, 0xc2, 0, 1}, {1, 0xc4, 0xc4, 0, 1}, {1, 0xc6, 0xc6, 0, 1}, {1, 0xd0, 0xfe, 0, 0},
	{2, 0x00, 0x2b, 0, 0}, {2, 0x30, 0x8b, 0, 0}, {2, 0x8d, 0x8d, 0, 0}, {2, 0x96, 0x9f, 0, 0},
	{2, 0xa6, 0xaf, 0, 0}, {2, 0xb4, 0xc5, 0, 0}, {2, 0xc8, 0xdf, 0, 0},
	/* movbe, crc32, BMI */
	{2, 0xf0, 0xf7, 0, 0},
	{3, 0x00, 0xff, 0, 1},
	{5, 0x10, 0x7e, 0, 0}, {6, 0x10, 0xd7, 0, 0},
};

#define DIRECTION_FLAG 0x400

/* Longest copy: the longest instruction, a longer displacement, and the jump behind it. */
#define COPY_MAX 36u
enum copy_state { COPY_FREE, COPY_BEING_MADE, COPY_READY };

/** A copy of an instruction. Immutable once READY: other threads may be executing it. */
struct copy {
	uint64_t rip;
	uint8_t original[15], len;
	uint16_t off; /* of the operand in the page */
	_Atomic uint8_t state;
	uint8_t code[COPY_MAX + 1];
};

#define COPIES 4032u
/** Executable memory of one mapping of a counter page, and the page for the copies to load from. */
struct abi_load_area {
	struct copy copies[COPIES];
	uint8_t page[EMU_PAGE_BYTES];
};
_Static_assert(sizeof(struct copy) == 64, "a cache line");
_Static_assert(offsetof(struct abi_load_area, page) % EMU_PAGE_BYTES == 0, "a page");

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

/* Bits of the page fault error code. */
#define FAULT_WRITE 2u

uint64_t
abi_pc(const void *context)
{
	return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
}

bool
abi_fault_is_write(const void *context)
{
	return (((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & FAULT_WRITE) != 0;
}

/** Writes a copy while it reads the original. */
struct reader {
	const uint8_t *p;
	uint8_t *to;
	bool operand16, wide;
};

static uint8_t
take(struct reader *r)
{
	return *r->to++ = *r->p++;
}

/* Legacy prefixes. The copy has no segment and a 64-bit address. */
static void
prefixes(struct reader *r)
{
	for (;; r->p++) {
		switch (*r->p) {
		case 0x66:
			r->operand16 = true;
			/* fall through */
		case 0xf2:
		case 0xf3:
			*r->to++ = *r->p;
			break;
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x26:
		case 0x64:
		case 0x65:
		case 0x67:
			break;
		default:
			return;
		}
	}
}

/* The opcode map; -1: not supported. */
static int
opcode_map(struct reader *r)
{
	uint8_t b;

	if ((*r->p & 0xf0) == 0x40)
		r->wide = (take(r) & ABI_REX_W) != 0;
	switch (*r->p) {
	case 0xc5: /* VEX */
		take(r);
		take(r);
		return 1;
	case 0xc4:
		take(r);
		b = take(r) & 0x1f;
		take(r);
		return b;
	case 0x62: /* EVEX. With a mask the address of the fault need not be that of the operand. */
		take(r);
		b = take(r) & 0xf;
		take(r);
		return (take(r) & 7) == 0 ? b : -1;
	case 0x0f:
		take(r);
		if (*r->p != 0x38 && *r->p != 0x3a)
			return 1;
		return take(r) == 0x38 ? 2 : 3;
	default:
		return 0;
	}
}

/* Bytes of the immediate; -1: no load that is supported. */
static int
immediate(const struct reader *r, int map, uint8_t opcode)
{
	const uint8_t reg = 1u << (*r->p >> 3 & 7);

	for (const struct form *f = forms; f < forms + sizeof(forms) / sizeof(forms[0]); f++)
		if (map == f->map && opcode >= f->first && opcode <= f->last &&
		    (f->regs == 0 || (f->regs & reg) != 0))
			return f->imm == 4 && r->operand16 && !r->wide ? 2 : f->imm;
	return -1;
}

/* Copy the instruction with `page` as operand, relative to the program counter; jump behind the original. */
static bool
copy_make(struct copy *c, const uint8_t *page)
{
	const uint8_t *start = (const uint8_t *)(uintptr_t)c->rip;
	struct reader r = {.p = start, .to = c->code};
	static const uint8_t jump[6] = {0xff, 0x25};
	unsigned operand;
	int map, imm;
	int32_t disp;
	uint64_t next;

	prefixes(&r);
	map = opcode_map(&r);
	if (map < 0)
		return false;
	imm = immediate(&(struct reader){.p = r.p + 1, .operand16 = r.operand16, .wide = r.wide}, map, *r.p);
	take(&r);
	operand = abi_operand_len(r.p);
	if (imm < 0 || operand == 0)
		return false;
	c->len = (unsigned)(r.p - start) + operand + imm;
	if (c->len > sizeof(c->original))
		return false;
	memcpy(c->original, start, c->len);
	*r.to++ = (*r.p & 0x38) | 5;
	disp = (int32_t)(page + c->off - (r.to + sizeof(disp) + imm));
	memcpy(r.to, &disp, sizeof(disp));
	memcpy(r.to + sizeof(disp), r.p + operand, imm);
	r.to += sizeof(disp) + imm;
	next = c->rip + c->len;
	memcpy(r.to, jump, sizeof(jump));
	memcpy(r.to + sizeof(jump), &next, sizeof(next));
	return true;
}

static bool
copy_is(const struct copy *c, uint64_t rip, unsigned off)
{
	return c->rip == rip && c->off == off && memcmp(c->original, (const void *)(uintptr_t)rip, c->len) == 0;
}

/* The copy of the instruction at rip, made at the first load; NULL: not supported, or no room. */
static struct copy *
copy_of(struct abi_load_area *a, uint64_t rip, unsigned off)
{
	for (unsigned i = 0; i < COPIES; i++) {
		struct copy *c = &a->copies[(rip + off + i) % COPIES];
		uint8_t state = COPY_FREE;

		/* Without a lock: a signal handler may load from the counter too. One being made is passed over. */
		if (!atomic_compare_exchange_strong(&c->state, &state, COPY_BEING_MADE)) {
			if (state == COPY_READY && copy_is(c, rip, off))
				return c;
			continue;
		}
		c->rip = rip;
		c->off = off;
		if (!copy_make(c, a->page)) {
			atomic_store(&c->state, COPY_FREE);
			return NULL;
		}
		atomic_store(&c->state, COPY_READY);
		return c;
	}
	return NULL;
}

/*
 * movs, with or without rep: compilers copy structures by it. An instruction whose count goes beyond the page is
 * restarted there, as after any interruption.
 */
static bool
string_move(const struct abi_load_area *a, unsigned off, greg_t *regs)
{
	const uint8_t *start = (const uint8_t *)(uintptr_t)regs[REG_RIP];
	uint8_t prefix[16], rex;
	struct reader r = {.p = start, .to = prefix};
	unsigned bytes;
	uint64_t count;
	bool rep;

	prefixes(&r);
	rep = r.to - prefix > r.operand16;
	rex = (*r.p & 0xf0) == 0x40 ? *r.p++ : 0;
	if ((*r.p & 0xfe) != 0xa4 || (regs[REG_EFL] & DIRECTION_FLAG) != 0)
		return false;
	bytes = *r.p == 0xa4 ? 1 : (rex & ABI_REX_W) != 0 ? 8 : r.operand16 ? 2 : 4;
	count = rep ? (uint64_t)regs[REG_RCX] : 1;
	if (count > (EMU_PAGE_BYTES - off) / bytes)
		count = (EMU_PAGE_BYTES - off) / bytes;
	if (count == 0)
		return false;
	memcpy((void *)(uintptr_t)regs[REG_RDI], a->page + off, count * bytes);
	regs[REG_RSI] += (greg_t)(count * bytes);
	regs[REG_RDI] += (greg_t)(count * bytes);
	if (rep)
		regs[REG_RCX] -= (greg_t)count;
	if (!rep || regs[REG_RCX] == 0)
		regs[REG_RIP] += r.p + 1 - start;
	return true;
}

bool
abi_load_move(struct abi_load_area *a, unsigned off, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct copy *c;

	if (string_move(a, off, regs))
		return true;
	/* The copies read one page, and no load is longer than 64 bytes. */
	if (off > EMU_PAGE_BYTES - 64)
		return false;
	c = copy_of(a, (uint64_t)regs[REG_RIP], off);
	if (c == NULL)
		return false;
	regs[REG_RIP] = (greg_t)(uintptr_t)c->code;
	return true;
}

bool
abi_load_area_set(struct abi_load_area **area, uint8_t *mem)
{
	if (*area == NULL) {
		/* By system call: mmap() of libc is interposed. */
		long at = syscall(SYS_mmap, NULL, sizeof(**area), PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == -1)
			return false;
		*area = (struct abi_load_area *)at;
	} else if (mem != NULL && madvise((*area)->copies, sizeof((*area)->copies), MADV_DONTNEED) != 0) {
		/* Locked memory (mlockall) is not discarded. Zeros are COPY_FREE: no copy of the mapping before. */
		memset((*area)->copies, 0, sizeof((*area)->copies));
	}
	/* An old size of 0 makes a second mapping of shared memory: mremap(2). */
	return mem == NULL ? syscall(SYS_mmap, (*area)->page, EMU_PAGE_BYTES, PROT_READ,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != -1
			   : mremap(mem, 0, EMU_PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, (*area)->page) != MAP_FAILED;
}
