/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Loads of a page by instructions with a memory operand, each with its result and flags written to a buffer.
 *
 * void *loads_NAME(void *out, const void *page, uint64_t operand, uint64_t flags): the end of the output.
 * rax: operand and result; rsi, r10 to r15, rbx: the page in the forms of an address.
 */
	.section .note.GNU-stack, "", @progbits
	.text

/* CF, PF, AF, ZF, SF, OF */
#define FLAGS 0x8d5

	.macro begin name
	.globl \name
	.type \name, @function
\name:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rcx, %r8
	mov $2, %r9d
	lea 8(%rsi), %r10
	lea -0x1000(%rsi), %r11
	mov %rsi, %r12
	mov %rsi, %r13
	mov %rsi, %r14
	mov %rsi, %r15
	mov %rsi, %rbx
	sub %fs:0, %rbx
	.endm

	.macro end
	mov %rdi, %rax
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.endm

	.macro flags_out
	pushf
	pop %rbp
	and $FLAGS, %ebp
	mov %rbp, (%rdi)
	.endm

	/* Copies of 16 bytes, and the registers after it. */
	.macro string count, insn:vararg
	push %rdi
	push %rsi
	lea 24(%rdi), %rdi
	mov $\count, %ecx
	\insn
	mov %rdi, %rax
	mov %rsi, %rbp
	pop %rsi
	pop %rdi
	sub %rdi, %rax
	sub %rsi, %rbp
	mov %rax, (%rdi)
	mov %rbp, 8(%rdi)
	mov %rcx, 16(%rdi)
	lea 40(%rdi), %rdi
	.endm

	.macro gp insn:vararg
	mov %rdx, %rax
	push %r8
	popf
	\insn
	flags_out
	mov %rax, 8(%rdi)
	lea 16(%rdi), %rdi
	.endm

	/* Division: the quotient fits, and remainder as well as quotient are results. */
	.macro divide insn:vararg
	push %rdx
	mov $0x7f, %eax
	xor %edx, %edx
	\insn
	mov %rax, (%rdi)
	mov %rdx, 8(%rdi)
	lea 16(%rdi), %rdi
	pop %rdx
	.endm

	.macro xmm insn:vararg
	pxor %xmm0, %xmm0
	pxor %xmm9, %xmm9
	movq %rdx, %xmm0
	movq %rdx, %xmm9
	push %r8
	popf
	\insn
	flags_out
	mov %rax, 8(%rdi)
	movups %xmm0, 16(%rdi)
	movups %xmm9, 32(%rdi)
	lea 48(%rdi), %rdi
	.endm

	.macro ymm insn:vararg
	vmovq %rdx, %xmm0
	vmovq %rdx, %xmm9
	vmovq %rdx, %xmm1
	push %r8
	popf
	\insn
	flags_out
	vmovups %ymm0, 16(%rdi)
	vmovups %ymm9, 48(%rdi)
	lea 80(%rdi), %rdi
	.endm

	.macro zmm insn:vararg
	vmovq %rdx, %xmm0
	vmovq %rdx, %xmm17
	vmovq %rdx, %xmm1
	\insn
	kmovq %k1, (%rdi)
	vmovups %zmm0, 8(%rdi)
	vmovups %zmm17, 72(%rdi)
	lea 136(%rdi), %rdi
	.endm

	begin loads_base
	.irp insn, add, or, adc, sbb, and, sub, xor, cmp, test, mov
	gp \insn\()b (%rsi), %al
	gp \insn\()b 1(%rsi), %ah
	gp \insn\()w 2(%rsi), %ax
	gp \insn\()l 4(%rsi), %eax
	gp \insn\()q (%rsi), %rax
	gp \insn\()q -8(%r10), %rax
	gp \insn\()l 0x1004(%r11), %eax
	gp \insn\()l (%rsi,%r9,2), %eax
	gp \insn\()w 2(%rsi,%r9,1), %ax
	gp \insn\()q (%r12), %rax
	gp \insn\()l (%r13), %eax
	gp \insn\()q 0(,%r14,1), %rax
	gp \insn\()l 4(%r15), %eax
	gp \insn\()q %fs:(%rbx), %rax
	gp \insn\()b 0x40(%r10,%r9,8), %al
	.endr
	.irp insn, cmp, test
	gp \insn\()b %al, (%rsi)
	gp \insn\()w %ax, 2(%rsi)
	gp \insn\()l %eax, 4(%rsi)
	gp \insn\()q %rax, (%r12)
	gp \insn\()b $0x55, 7(%rsi)
	gp \insn\()w $0x1234, (%rsi,%r9,1)
	gp \insn\()w $0x12, 6(%r13)
	gp \insn\()l $0x12345678, 4(%rsi)
	gp \insn\()l $5, 4(%rsi)
	gp \insn\()q $-7, (%r12)
	gp \insn\()q $0x12345678, (%rsi)
	.endr
	gp imull 4(%rsi), %eax
	gp imulq (%r12), %rax
	gp imulw $0x123, 4(%rsi), %ax
	gp imull $0x12345, 4(%rsi), %eax
	gp imulq $3, (%r12), %rax
	gp imulb 7(%rsi)
	gp mulb 7(%rsi)
	divide mull 4(%rsi)
	divide mulq (%rsi)
	divide divl 4(%rsi)
	divide idivl 4(%rsi)
	divide divq (%r12)
	gp movzbw 7(%rsi), %ax
	gp movzbl 7(%rsi), %eax
	gp movzbq 7(%rsi), %rax
	gp movzwl 6(%r12), %eax
	gp movzwq 6(%r13), %rax
	gp movsbw 7(%rsi), %ax
	gp movsbl 7(%rsi), %eax
	gp movsbq 7(%rsi,%r9,1), %rax
	gp movswl 6(%rsi), %eax
	gp movswq 6(%r12), %rax
	gp movslq 4(%rsi), %rax
	gp bsfq (%rsi), %rax
	gp bsrl 4(%rsi), %eax
	gp btl $3, 4(%rsi)
	gp btq $40, (%r12)
	.irp cc, e, ne, b, ae, s, ns, o, l, g
	gp cmov\cc\()l 4(%rsi), %eax
	gp cmov\cc\()q (%r12), %rax
	.endr
	gp pushq (%rsi); pop %rax; mov %rax, -8(%rdi)
	.irp insn, fildq, fildl, filds, fldl, flds, fldt
	\insn 4(%rsi)
	fstpt (%rdi)
	movq $0, 10(%rdi)
	lea 16(%rdi), %rdi
	.endr
	.irp insn, faddl, fmuls, fsubl, fiaddl, fimuls
	fld1
	\insn 4(%rsi)
	fstpt (%rdi)
	movq $0, 10(%rdi)
	lea 16(%rdi), %rdi
	.endr
	.irp insn, movups, movaps, movupd, movdqu, movdqa, lddqu
	xmm \insn (%rsi), %xmm0
	xmm \insn 16(%r12,%r9,8), %xmm9
	.endr
	.irp insn, movd, movss, addss, mulss, subss, divss, sqrtss, minss, maxss, cvtss2sd, ucomiss, comiss
	xmm \insn 4(%rsi), %xmm0
	.endr
	.irp insn, movq, movsd, movlps, movhps, addsd, cvtsd2ss, cvtdq2pd, cvtps2pd, ucomisd, comisd, movddup
	xmm \insn (%r13), %xmm9
	.endr
	.irp insn, paddb, paddw, paddd, paddq, psubd, pmullw, pmuludq, pand, pandn, por, pxor, pcmpeqd, pcmpgtw, pminub, \
		pavgb, psadbw, punpckhdq, packuswb, addps, mulpd, andps, xorpd, unpcklps, cvtdq2ps, cvttps2dq, psllq, psrad
	xmm \insn (%rsi), %xmm0
	.endr
	xmm pshufd $0x1b, (%rsi), %xmm0
	xmm pshuflw $0x1b, (%rsi), %xmm9
	xmm shufps $0x1b, (%rsi), %xmm9
	xmm cmpps $1, (%rsi), %xmm0
	xmm pinsrw $3, 6(%rsi), %xmm9
	xmm cvtsi2sdl 4(%rsi), %xmm0
	xmm cvtsi2ssq (%rsi), %xmm9
	xmm cvttsd2si (%rsi), %rax
	xmm cvttss2si 4(%rsi), %eax
	string 16, rep movsb
	string 8, rep movsw
	string 4, rep movsl
	string 2, rep movsq
	string 1, movsl; movsl; movsq
	string 1, movsb; movsb; movsw; movsl; movsq
	end

	begin loads_v3
	gp movbew 6(%rsi), %ax
	gp movbel 4(%rsi), %eax
	gp movbeq (%r12), %rax
	gp popcntl 4(%rsi), %eax
	gp lzcntq (%rsi), %rax
	gp tzcntw 6(%rsi), %ax
	gp crc32b 7(%rsi), %eax
	gp crc32l 4(%rsi), %eax
	gp crc32q (%r12), %rax
	gp andnl 4(%rsi), %eax, %eax
	gp blsrq (%rsi), %rax
	gp bextrl %eax, 4(%rsi), %eax
	gp bzhiq %rax, (%r12), %rax
	gp pextq (%rsi), %rax, %rax
	gp pdepl 4(%rsi), %eax, %eax
	gp rorxq $13, (%rsi), %rax
	gp shlxl %eax, 4(%rsi), %eax
	gp sarxq %rax, (%r13), %rax
	gp mulxq (%rsi), %rax, %rbp
	.irp insn, pshufb, phaddd, pabsd, pmulld, pminsd, pmaxuw, pcmpeqq, pmovzxbw, pmovsxwd, packusdw, ptest, movntdqa
	xmm \insn (%rsi), %xmm0
	.endr
	xmm palignr $5, (%rsi), %xmm0
	xmm pblendw $0x55, (%rsi), %xmm9
	xmm pinsrb $3, 7(%rsi), %xmm0
	xmm pinsrd $2, 4(%rsi), %xmm9
	xmm pinsrq $1, (%r12), %xmm9
	xmm roundsd $1, (%rsi), %xmm0
	xmm insertps $0x10, 4(%rsi), %xmm0
	.irp insn, vmovups, vmovaps, vmovdqu, vmovdqa, vlddqu, vptest, vtestps, vpabsd, vsqrtps
	ymm \insn (%rsi), %ymm0
	ymm \insn 16(%r12,%r9,8), %ymm9
	.endr
	.irp insn, vpaddb, vpaddq, vpand, vpxor, vpcmpeqd, vpmulld, vpshufb, vaddps, vmulpd, vpunpckldq, vpermd, vpsllvd
	ymm \insn (%rsi), %ymm1, %ymm0
	ymm \insn 0x20(%r12), %ymm9, %ymm9
	.endr
	.irp insn, vmovd, vmovss, vbroadcastss, vucomiss, vpbroadcastd
	ymm \insn 4(%rsi), %xmm0
	.endr
	ymm vmovq (%r12), %xmm9
	ymm vmovsd (%r12), %xmm9
	ymm vbroadcastsd (%r12), %ymm9
	ymm vbroadcasti128 (%rsi), %ymm9
	ymm vbroadcastf128 (%rsi), %ymm0
	ymm vpbroadcastb 7(%rsi), %ymm0
	ymm vpbroadcastw 6(%r13), %ymm9
	ymm vpbroadcastq (%r13), %ymm9
	ymm vinserti128 $1, (%rsi), %ymm1, %ymm0
	ymm vperm2i128 $0x20, (%rsi), %ymm1, %ymm9
	ymm vpermq $0x1b, (%rsi), %ymm0
	ymm vpblendd $0x55, (%rsi), %ymm1, %ymm0
	ymm vpinsrd $1, 4(%rsi), %xmm1, %xmm0
	ymm vpalignr $3, (%rsi), %ymm1, %ymm9
	ymm vblendvps %ymm1, (%rsi), %ymm0, %ymm0
	ymm vpmovzxbw (%rsi), %ymm0
	ymm vpmovsxdq (%r12), %ymm9
	ymm vcvtdq2pd (%rsi), %ymm0
	ymm vcvtph2ps (%rsi), %ymm0
	ymm vfmadd231sd (%rsi), %xmm1, %xmm0
	ymm vfmadd213ps (%rsi), %ymm1, %ymm9
	ymm vpshufd $0x1b, (%rsi), %ymm9
	ymm vcmpps $1, (%rsi), %ymm1, %ymm0
	vzeroupper
	end

	begin loads_v4
	kxorq %k1, %k1, %k1
	.irp insn, vmovdqu8, vmovdqu16, vmovdqu32, vmovdqu64, vmovdqa32, vmovups, vpabsd
	zmm \insn (%rsi), %zmm0
	zmm \insn 0x40(%r12), %zmm17
	zmm \insn 0x10(%rsi,%r9,8), %ymm17
	zmm \insn 0x10(%r13), %xmm17
	.endr
	.irp insn, vpaddb, vpaddd, vpandq, vpxord, vaddps, vpmulld, vpermd, vpsllvd, vpunpckldq, vpminuq
	zmm \insn (%rsi), %zmm1, %zmm0
	zmm \insn 0x80(%r12), %zmm17, %zmm17
	.endr
	zmm vpaddd 4(%rsi){1to16}, %zmm1, %zmm0
	zmm vpaddq 8(%rsi){1to8}, %zmm17, %zmm17
	zmm vpbroadcastd 4(%rsi), %zmm17
	zmm vpbroadcastq (%r12), %zmm0
	zmm vbroadcasti64x4 (%rsi), %zmm17
	zmm vinserti32x4 $2, (%rsi), %zmm1, %zmm0
	zmm vpternlogd $0x96, (%rsi), %zmm1, %zmm0
	zmm vpcmpub $1, (%rsi), %zmm1, %k1
	zmm vpcmpeqd (%rsi), %zmm1, %k1
	zmm vptestmq (%rsi), %zmm1, %k1
	zmm vprold $7, (%rsi), %zmm0
	zmm vpsrld $3, (%rsi), %zmm17
	zmm vpmovzxbw (%rsi), %zmm17
	zmm vcvtuqq2pd (%rsi), %zmm17
	zmm vmovq (%rsi), %xmm17
	zmm vmovss 4(%r12), %xmm17
	zmm vmovd 4(%r13), %xmm17
	zmm vfmadd231pd (%rsi), %zmm1, %zmm17
	kmovq (%rsi), %k1
	kmovq %k1, (%rdi)
	kmovd 4(%rsi), %k1
	kmovq %k1, 8(%rdi)
	lea 16(%rdi), %rdi
	vzeroupper
	end
