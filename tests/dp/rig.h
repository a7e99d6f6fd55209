/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A bench for the data path: a machine without threads, queues in plain memory. */
#ifndef DP_RIG_H
#define DP_RIG_H

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <prm.h>

#include "core/emu_audit.h"
#include "dp/emu_dp.h"
#include "fw/emu_fw.h"
#include "wire/emu_wire.h"
#include "../check.h"

struct rig_test {
	const char *name;
	void (*run)(void);
};
/** All contexts come through VFIO (rig_vfio.h): argument --vfio of a test. */
extern bool rig_vfio;
/** Runs all tests, or those whose names contain the last argument. 0 when none failed. */
int rig_main(int argc, char **argv, const struct rig_test *tests);

#ifndef RIG_ARENA_BYTES /* a fuzz target makes thousands a second: smaller */
#define RIG_ARENA_BYTES (8u << 20)
#endif
struct rig;
struct rig_port {
	struct rig *rig;
	struct emu_dev *dev;
	struct emu_ctx *ctx;
	void *file;
	uint8_t *arena;
	size_t used;
	uint32_t umem, pd, td, tis, lkey, ro_lkey;
	struct emu_uar *uar;
	unsigned comp_events, cq_err_events; /**< Raised so far. */
	unsigned events[0x30]; /**< By PRM event type. */
	uint32_t last_event_obj;
	/* VFIO */
	struct emu_iommu *iommu;
	uint32_t eqn, eq_ci;
	struct prm_eqe *eq_ring;
	unsigned interrupts;
	bool eq_asleep; /**< Interrupts are counted and nothing else. */
};
/** An event for the port's context. */
void rig_event(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, const void *eqe);
/** A key over the arena in a PD; access as for MRs. */
uint32_t rig_key(struct rig_port *p, uint32_t pd, uint32_t access);
struct rig {
	struct emu_machine m;
	unsigned ports;
	struct rig_port port[4];
};
/** Profile of the machines made next; NULL: that of MLXEMU_DEFAULT_PROFILE, else cx6dx. */
extern const struct emu_profile *rig_profile;
/** specs: as for --wire, separated by blanks; NULL: pairs. The process ends when it cannot. */
struct rig *rig_new(unsigned ports, const char *specs);
/** Checks that nothing leaks and frees. */
void rig_free(struct rig *r);
/** Polls until a pass does nothing; number of passes with work. */
unsigned rig_run(struct rig *r);
/* Lets virtual time pass on all ports, and the engine run. */
void rig_pass(struct rig *r, uint64_t ns);
/** Zeroed, aligned memory of the port's arena, registered under lkey. */
void *rig_mem(struct rig_port *p, size_t bytes, size_t align);
static inline uint64_t
rig_addr(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

struct rig_cq {
	struct rig_port *port;
	struct emu_cq *cq;
	uint8_t *ring;
	uint32_t *dbrec;
	unsigned log_size, log_cqe;
	uint32_t ci;
};
struct rig_cq *rig_cq_new(struct rig_port *p, unsigned log_size, unsigned log_cqe);
/** One that may compress; format as emu_cq.mini_format. */
struct rig_cq *rig_cq_new_comp(struct rig_port *p, unsigned log_size, unsigned mini_format, bool enhanced);
/** The next completion, consumed; NULL when there is none. */
const struct prm_cqe64 *rig_cqe(struct rig_cq *c);
const struct prm_err_cqe *rig_cqe_error(struct rig_cq *c, unsigned opcode);
void rig_cq_arm(struct rig_cq *c, unsigned sn, bool solicited_only, bool ring);

struct rig_sq {
	struct rig_port *port;
	struct rig_cq *cq;
	struct emu_sq *sq;
	uint8_t *ring;
	uint32_t *dbrec;
	unsigned log_size;
	uint16_t pi;
	uint64_t db; /**< First words of the last WQE: what a doorbell carries. */
	/* The WQE being written. */
	uint8_t wqe[1024];
	unsigned len;
};
struct rig_sq *rig_sq_new(struct rig_port *p, struct rig_cq *c, unsigned log_size);
int rig_sq_modify(struct rig_sq *s, unsigned from, unsigned to);
#define RIG_CE_CQE 0x08u /* fm_ce_se: completion wanted */
void rig_wqe(struct rig_sq *s, uint8_t opcode, uint8_t fm_ce_se);
struct rig_eth {
	uint8_t cs_flags;
	uint16_t mss;
	int vlan; /**< TCI to insert, or -1. */
	const void *inl;
	unsigned inl_len;
	uint8_t swp[5]; /**< Offsets of outer L4, L3, inner L4, L3; swp_flags. */
};
void rig_wqe_eth(struct rig_sq *s, const struct rig_eth *eth);
void rig_wqe_ptr(struct rig_sq *s, const void *data, uint32_t len, uint32_t lkey);
void rig_wqe_inline(struct rig_sq *s, const void *data, uint32_t len);
/** Copies the WQE into the ring and moves pi; returns its index. */
uint16_t rig_wqe_end(struct rig_sq *s);
void rig_sq_record(struct rig_sq *s); /**< Doorbell record only. */
void rig_sq_bell(struct rig_sq *s);   /**< The UAR register only. */
/** A whole frame by pointer, completion wanted, doorbell rung. */
uint16_t rig_send(struct rig_sq *s, const void *frame, uint32_t len);

struct rig_rq {
	struct rig_port *port;
	struct rig_cq *cq;
	struct emu_rq *rq;
	uint8_t *ring;
	uint32_t *dbrec;
	unsigned log_size, log_stride;
	uint16_t pi;
};
struct rig_rq *rig_rq_new(struct rig_port *p, struct rig_cq *c, unsigned log_size,
			  unsigned log_stride, unsigned flags);
#define RIG_RQ_VSD 1u
#define RIG_RQ_FCS 2u
#define RIG_RQ_STRIDING 4u /**< With RIG_RQ_STRIDES; log_stride of the ring is 5 then. */
#define RIG_RQ_SHIFT 8u	   /**< Two-byte shift. */
#define RIG_RQ_PADDING 16u /**< end_padding_mode ALIGN. */
#define RIG_RQ_STRIDES(log_number, log_bytes) \
	(RIG_RQ_STRIDING | (unsigned)(log_number) << 8 | (unsigned)(log_bytes) << 16)
int rig_rq_modify(struct rig_rq *q, unsigned from, unsigned to);
/** Posts one WQE of one segment. */
void rig_post(struct rig_rq *q, const void *buf, uint32_t len, uint32_t lkey);
void rig_post_segs(struct rig_rq *q, const struct prm_rq_wqe *segs, unsigned n);

struct emu_obj *rig_rqt_new(struct rig_port *p, struct rig_rq **rqs, unsigned n);
struct rig_hash {
	unsigned l3, l4, fields; /**< PRM_RX_HASH_* */
	bool symmetric, tunneled;
	unsigned inner_fields;
	const uint8_t *key;
	bool xor8; /**< Instead of Toeplitz. */
};
/** Direct when rqt is NULL. */
struct emu_tir *rig_tir_new(struct rig_port *p, struct rig_rq *rq, struct emu_obj *rqt,
			    const struct rig_hash *hash);
/** A rule for everything, at a low priority, with a tag unless it is 0. */
struct emu_obj *rig_flow_all(struct rig_port *p, struct emu_tir *tir, uint32_t tag);
/** Dwords of fte_match_set_lyr_2_4 that tests set. */
enum { RIG_SMAC_HI, RIG_SMAC_LO_TYPE, RIG_DMAC_HI, RIG_DMAC_LO_VLAN, RIG_PROTO, RIG_TCP, RIG_TTL, RIG_UDP };
/** A rule by mask and value in host order. 0 or -errno. */
int rig_flow_try(struct rig_port *p, unsigned priority, const uint32_t mask[16], const uint32_t value[16],
		 const struct emu_flow_attr *attr, struct emu_obj **flow);
/** As rig_flow_try(), which must work. */
struct emu_obj *rig_flow(struct rig_port *p, unsigned priority, const uint32_t mask[16],
			 const uint32_t value[16], const struct emu_flow_attr *attr);
int rig_fw(struct rig_port *p, const void *in, size_t in_len, struct emu_obj **created);
/** A command that must work and makes an object; the object. */
void *rig_make(struct rig_port *p, const void *in, size_t in_len, const char *what);
/** The bench itself does not work: ends the program. */
void rig_die(const char *what) __attribute__((noreturn));
/** The command that made an object last. */
#define RIG_MADE_BYTES 1024u
extern uint8_t rig_made[RIG_MADE_BYTES];
extern size_t rig_made_bytes;

/** CQ, RQ with bufs buffers of 2 KB posted, direct TIR and a rule for everything. */
struct rig_rx {
	struct rig_cq *cq;
	struct rig_rq *rq;
	struct emu_tir *tir;
	struct emu_obj *flow;
	uint8_t *buf[256];
};
#define RIG_BUF_BYTES 2048u
struct rig_rx *rig_rx_new(struct rig_port *p, unsigned log_size);
/** Number of new CQEs, whose buffers are posted again. tag (may be NULL): flow tag of the last one. */
unsigned rig_taken(struct rig_rx *rx, uint32_t *tag);

/* Frames. */
struct rig_frame {
	uint8_t data[16384];
	unsigned len;
};
/** The frame arrives from the wire. */
void rig_arrive(struct rig_port *p, const struct rig_frame *f);
/** kind: 4 or 6; proto 6 or 17; options: bytes of IPv4 options or IPv6 extension headers. */
void rig_ip_frame(struct rig_frame *f, const struct emu_dev *to, unsigned version, unsigned proto,
		  unsigned payload, unsigned options, int vlan);
/** Writes right checksums, computed by the test's own arithmetic. */
void rig_fix_checksums(struct rig_frame *f, unsigned l3_off);
uint16_t rig_sum16(const uint8_t *p, unsigned len, uint32_t start);
uint64_t rig_audit(struct rig *r);

#endif /* DP_RIG_H */
