/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A machine with one or two ports, a context, memory, and builders of lawful commands. */
#ifndef FW_FIXTURE_H
#define FW_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "core/emu_audit.h"
#include "core/emu_obj.h"
#include "dp/emu_dp.h"
#include "fw/fw.h"
#include "../await.h"
#include "../check.h"

#define FIX_MEM_BYTES (1u << 20)
/* Where builders put things in the umem. */
#define FIX_DBREC_OFFSET 0u
#define FIX_CQ_OFFSET 0x10000u
#define FIX_SQ_OFFSET 0x20000u
#define FIX_RQ_OFFSET 0x30000u
#define FIX_DATA_OFFSET 0x40000u

struct fix {
	struct emu_machine m;
	struct emu_dev *dev;
	struct emu_ctx *ctx;
	void *file;
	uint8_t *mem;
	struct emu_umem *umem;
	struct emu_uar *uar;
	uint32_t pd, td, eqn;
	struct emu_obj *created; /**< By the last command. */
	int ret;		 /**< Of the last command. */
	uint32_t out[FW_OUT_BYTES / 4];
};

/**
 * The card of `devtools/test --profile`. The process ends with 77, skipped, if it has not the capabilities that the
 * tests use.
 */
const struct emu_profile *fix_profile(void);
/** A machine of 2 ports with a context on port 0, umem over mem, UAR, PD and TD. */
void fix_open(struct fix *f);
void fix_close(struct fix *f);
/** A second user of the same device with its own file. */
struct emu_ctx *fix_other_user(struct fix *f, void **file);

/** Executes for ctx and returns the syndrome, 0 for success; 0xffffffff: -EINVAL. */
uint32_t fix_exec_as(struct fix *f, struct emu_ctx *ctx, const void *in, size_t in_len,
		     size_t out_len);
/** The same for the fixture's context with the outbox that the command needs. */
uint32_t fix_exec(struct fix *f, const void *in, size_t in_len);
uint32_t fix_code(enum fw_syndrome s); /**< The number behind a name. */
uint32_t fix_id(const struct fix *f);  /**< Id in the last outbox. */

/* Inboxes that succeed as they are; the caller changes what it wants to see refused. */
void fix_cq_in(const struct fix *f, struct prm_create_cq_in *in);
void fix_sq_in(const struct fix *f, struct prm_create_sq_in *in, uint32_t cqn, uint32_t tisn);
void fix_rq_in(const struct fix *f, struct prm_create_rq_in *in, uint32_t cqn);
void fix_tis_in(const struct fix *f, struct prm_create_tis_in *in);
void fix_tir_in(const struct fix *f, struct prm_create_tir_in *in, uint32_t rqn);
void fix_mkey_in(const struct fix *f, struct prm_create_mkey_in *in);
/** Inbox of a list of n RQs; returns its length. buf holds at least 272 + 4 n bytes. */
size_t fix_rqt_in(void *buf, uint32_t max_size, const uint32_t *rqn, unsigned n);

#define FIX_KINDS 6u
/** Inbox of kind 0 .. FIX_KINDS - 1 (CQ, SQ, RQ, mkey, TIR, TIS), a and b the ids it refers to. */
size_t fix_kind_in(const struct fix *f, void *buf, unsigned kind, uint32_t a, uint32_t b);

/* The same, executed: the id, or 0 (with a failure noted). */
uint32_t fix_cq(struct fix *f);
uint32_t fix_sq(struct fix *f, uint32_t cqn, uint32_t tisn);
uint32_t fix_rq(struct fix *f, uint32_t cqn);
uint32_t fix_tis(struct fix *f);
uint32_t fix_tir(struct fix *f, uint32_t rqn);
uint32_t fix_mkey(struct fix *f);
uint32_t fix_rqt(struct fix *f, const uint32_t *rqn, unsigned n);
/** A command of 16 bytes with an id in dword 2. */
uint32_t fix_simple(struct fix *f, uint16_t opcode, uint32_t id);
/** MODIFY_SQ / MODIFY_RQ from one state to another. */
uint32_t fix_sq_go(struct fix *f, uint32_t sqn, unsigned claimed, unsigned wanted);
uint32_t fix_rq_go(struct fix *f, uint32_t rqn, unsigned claimed, unsigned wanted);

/** Ends a test program. */
int fix_result(const char *name);

#endif /* FW_FIXTURE_H */
