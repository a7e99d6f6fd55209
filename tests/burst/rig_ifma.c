/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Emulates AVX512-IFMA on CPUs that have AVX-512 without it: VPMADD52LUQ and VPMADD52HUQ raise SIGILL; the handler
 * decodes them and changes the registers that the kernel saved. The CPU executes all other instructions.
 */

#include "rig_ifma.h"

unsigned long rig_ifma_done;

#ifdef __x86_64__
#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>

/* Intel SDM vol. 1, 13.4: XSAVE area, standard form. State components, and where the first two always are. */
#define XSAVE_SSE_AT 160
#define XCOMP_AVX 2
#define XCOMP_OPMASK 5
#define XCOMP_ZMM_HI256 6
#define XCOMP_HI16_ZMM 7
#define XSTATE_BV_AT 512

static uint32_t component_at[XCOMP_HI16_ZMM + 1];

/* One 64-bit lane of a vector register in the saved area. */
static uint64_t *
lane(uint8_t *area, unsigned int reg, unsigned int i)
{
	if (reg >= 16)
		return (uint64_t *)(area + component_at[XCOMP_HI16_ZMM] + (reg - 16) * 64) + i;
	if (i < 2)
		return (uint64_t *)(area + XSAVE_SSE_AT + reg * 16) + i;
	if (i < 4)
		return (uint64_t *)(area + component_at[XCOMP_AVX] + reg * 16) + i - 2;
	return (uint64_t *)(area + component_at[XCOMP_ZMM_HI256] + reg * 32) + i - 4;
}

static uint64_t
general(const ucontext_t *uc, unsigned int reg)
{
	static const int order[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				     REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	return uc->uc_mcontext.gregs[order[reg]];
}

/* Fields of an EVEX-encoded instruction (SDM vol. 2, 2.7). */
struct evex {
	unsigned int dest, first, second, length, mask_reg, lanes;
	bool zeroing, broadcast, memory, upper;
	const uint8_t *address;
};

/* ModRM.rm, SIB and displacement; disp8 counts whole operands. @return Bytes used after ModRM. */
static unsigned int
address_decode(const uint8_t *modrm, uint8_t p0, const ucontext_t *uc, struct evex *e)
{
	const unsigned int mod = modrm[0] >> 6, rm = modrm[0] & 7;
	const unsigned int unit = e->broadcast ? 8 : e->lanes * 8;
	const uint8_t *next = modrm + 1;
	uint64_t base;
	int32_t disp;

	if (rm == 4) {
		unsigned int index = (modrm[1] >> 3 & 7) | (p0 & 0x40 ? 0 : 8);
		unsigned int b = (modrm[1] & 7) | (p0 & 0x20 ? 0 : 8);

		next++;
		base = mod == 0 && (b & 7) == 5 ? 0 : general(uc, b);
		if (index != 4)
			base += general(uc, index) << (modrm[1] >> 6);
		if (mod == 0 && (b & 7) == 5) {
			memcpy(&disp, next, 4);
			e->address = (const uint8_t *)(base + (int64_t)disp);
			return next + 4 - modrm - 1;
		}
	} else if (mod == 0 && rm == 5) { /* From the next instruction. */
		memcpy(&disp, next, 4);
		e->address = next + 4 + disp;
		return 4;
	} else {
		base = general(uc, rm | (p0 & 0x20 ? 0 : 8));
	}
	disp = 0;
	if (mod == 1)
		disp = (int8_t)*next++ * (int32_t)unit;
	if (mod == 2) {
		memcpy(&disp, next, 4);
		next += 4;
	}
	e->address = (const uint8_t *)(base + (int64_t)disp);
	return next - modrm - 1;
}

/* EVEX.66.0F38.W1 B4 (lower half) and B5 (upper). */
static bool
decode(const uint8_t *at, const ucontext_t *uc, struct evex *e)
{
	const uint8_t p0 = at[1], p1 = at[2], p2 = at[3], modrm = at[5];

	if (at[0] != 0x62 || (p0 & 7) != 2 || (p1 & 0x83) != 0x81 || (at[4] & 0xfe) != 0xb4)
		return false;
	e->upper = at[4] & 1;
	e->dest = (modrm >> 3 & 7) | (p0 & 0x80 ? 0 : 8) | (p0 & 0x10 ? 0 : 16);
	e->first = (~p1 >> 3 & 15) | (p2 & 8 ? 0 : 16);
	e->lanes = 2u << (p2 >> 5 & 3);
	e->zeroing = p2 & 0x80;
	e->broadcast = p2 & 0x10;
	e->mask_reg = p2 & 7;
	e->memory = modrm >> 6 != 3;
	e->second = (modrm & 7) | (p0 & 0x20 ? 0 : 8) | (p0 & 0x40 ? 0 : 16);
	e->length = 6 + (e->memory ? address_decode(at + 5, p0, uc, e) : 0);
	return e->lanes <= 8;
}

static void
carry_out(const struct evex *e, uint8_t *area)
{
	uint64_t mask = e->mask_reg != 0 ? *(uint64_t *)(area + component_at[XCOMP_OPMASK] + e->mask_reg * 8) : ~0ull;
	unsigned __int128 product;
	uint64_t second;
	unsigned int i;

	for (i = 0; i < 8; i++) {
		uint64_t *dest = lane(area, e->dest, i);

		if (i >= e->lanes || (!(mask >> i & 1) && e->zeroing)) {
			*dest = 0;
			continue;
		}
		if (!(mask >> i & 1))
			continue;
		second = e->memory ? ((const uint64_t *)e->address)[e->broadcast ? 0 : i] : *lane(area, e->second, i);
		product = (unsigned __int128)(*lane(area, e->first, i) & (RTE_BIT64(52) - 1)) *
			  (second & (RTE_BIT64(52) - 1));
		*dest += (uint64_t)(e->upper ? product >> 52 : product & (RTE_BIT64(52) - 1));
	}
}

static void
handler(int sig, siginfo_t *info __rte_unused, void *context)
{
	ucontext_t *uc = context;
	uint8_t *area = (uint8_t *)uc->uc_mcontext.fpregs;
	struct evex e = { 0 };

	if (area == NULL || !decode((const uint8_t *)uc->uc_mcontext.gregs[REG_RIP], uc, &e)) {
		signal(sig, SIG_DFL); /* Another instruction: raise the signal again. */
		return;
	}
	carry_out(&e, area);
	/* Components in their initial state are not restored from the area unless they are marked. */
	*(uint64_t *)(area + XSTATE_BV_AT) |= 1u << 1 | 1u << XCOMP_AVX | 1u << XCOMP_ZMM_HI256 | 1u << XCOMP_HI16_ZMM;
	uc->uc_mcontext.gregs[REG_RIP] += e.length;
	rig_ifma_done++;
}

bool
rig_ifma_emulate(void)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	uint32_t a, b, c, d, i;

	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
	    !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
		return false;
	for (i = XCOMP_AVX; i <= XCOMP_HI16_ZMM; i++) {
		__cpuid_count(0xd, i, a, b, c, d);
		component_at[i] = b;
	}
	return sigaction(SIGILL, &action, NULL) == 0;
}
#else
bool
rig_ifma_emulate(void)
{
	return false;
}
#endif
