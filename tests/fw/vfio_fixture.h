/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A context as VFIO gives it, without a front end: an address space of its own, and its commands. */
#ifndef VFIO_FIXTURE_H
#define VFIO_FIXTURE_H

#include "core/emu_iommu.h"
#include "fw_fixture.h"

#define VFIX_IOVA 0x10000000ull /* of the first byte of memory */
#define VFIX_MEM_BYTES (64u << 20)
/* Layout of the memory: pages for the firmware from 2 MiB on. */
#define VFIX_EQ_OFFSET 0x100000u
#define VFIX_PAGES_OFFSET 0x200000u
#define VFIX_QUERY_BOOT 1u
#define VFIX_QUERY_INIT 2u
#define VFIX_PAGES_MAX 13000u /* of a MANAGE_PAGES command */
#define VFIX_LOG_EQ 4u

enum vfix_stage { VFIX_ENABLED, VFIX_UP };

struct vfix {
	struct emu_machine m;
	struct emu_front_ops front;
	struct emu_dev *dev;
	struct emu_ctx *ctx;
	struct emu_iommu *iommu;
	uint8_t *mem; /* mapped at VFIX_IOVA */
	void *bar;
	uint32_t out[FW_OUT_BYTES / 4];
	unsigned given, got;		     /* pages */
	uint64_t page_iova, page_iova_last;  /* first and last page given */
	uint32_t uar, eqn;
	unsigned eqs;			     /* made so far */
	unsigned interrupts[EMU_MSIX_VECTORS];
};

/** Card of the machines made next; NULL: fix_profile(). */
extern const struct emu_profile *vfix_profile;
/** A machine of 2 ports, a VFIO context on port 0 that is not started, all memory mapped. */
void vfix_open(struct vfix *v);
void vfix_close(struct vfix *v);
/** Runs the boot commands up to a stage. */
void vfix_boot_until(struct vfix *v, enum vfix_stage stage);

/** Syndrome of a command, 0 for success. */
uint32_t vfix_exec(struct vfix *v, const void *in, size_t in_len);
uint32_t vfix_simple(struct vfix *v, uint16_t opcode, uint32_t id);
/** A command of its full length with an op_mod and nothing else. */
uint32_t vfix_op(struct vfix *v, uint16_t opcode, uint16_t op_mod);
uint32_t vfix_id(const struct vfix *v);
/** Address of an IOVA in the fixture's memory. */
void *vfix_at(struct vfix *v, uint64_t iova);

uint32_t vfix_pages_wanted(struct vfix *v, unsigned op);
uint32_t vfix_give(struct vfix *v, unsigned n);
uint32_t vfix_give_at(struct vfix *v, const uint64_t *iova, unsigned n);
/** MANAGE_PAGES, take: v->got is how many came back. */
uint32_t vfix_take(struct vfix *v, unsigned n);
uint32_t vfix_manage(struct vfix *v, uint16_t op_mod, unsigned n);
/** Destroys one PD; false when there is none. */
bool vfix_free_a_pd(struct vfix *v);

/** A UAR, and an EQ on it for these events, not armed: its number, or 0. */
uint32_t vfix_eq(struct vfix *v, uint64_t events, unsigned vector);
/** Inbox of CREATE_EQ with one page. Returns its length. */
size_t vfix_eq_in(struct vfix *v, void *buf, uint64_t events, unsigned vector, uint64_t iova);
/** Entry of the EQ made last. */
const struct prm_eqe *vfix_eqe(struct vfix *v, unsigned index);
unsigned vfix_eqe_type(struct vfix *v, unsigned index);
unsigned vfix_eqe_owner(struct vfix *v, unsigned index);

#endif /* VFIO_FIXTURE_H */
