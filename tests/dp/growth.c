/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The model does not grow: objects of every kind made and destroyed, frames sent and received, and
 * the process as large afterwards as after the first few. `growth --long`: 10^6 and 10^9 of them.
 */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define LOG_RING 8u
#define RING (1u << LOG_RING)
/* What the allocator may need to find its pace; a leak of one object per cycle is far above. */
#define SLACK_BYTES (192u << 10)

/* slow_cycles: of objects that need system calls or whose ids are reused late. */
static uint64_t cycles = 50000, slow_cycles = 5000, packets = 5000000;

static uint64_t
status_kib(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	CHECK(at != NULL);
	return at != NULL ? strtoull(at + strlen(field), NULL, 10) : 0;
}

/* Without the pages of programs and libraries, which come in as they are used. */
static uint64_t
rss_bytes(void)
{
	char text[4096] = "";
	int fd = open("/proc/self/status", O_RDONLY);

	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return (status_kib(text, "RssAnon:") + status_kib(text, "RssShmem:")) << 10;
}

/* Runs step n times; what the process grew by behind the first part of them. */
static void
measure(const char *name, uint64_t n, bool (*step)(void *arg), void *arg)
{
	uint64_t first = n / 20 > 2000 ? n / 20 : 2000, before, after;
	struct timespec from, to;
	bool ok = true;

	for (uint64_t i = 0; i < first && ok; i++)
		ok = step(arg);
	before = rss_bytes();
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (uint64_t i = 0; i < n && ok; i++)
		ok = step(arg);
	clock_gettime(CLOCK_MONOTONIC, &to);
	after = rss_bytes();
	CHECK(ok);
	CHECK(after <= before + SLACK_BYTES);
	printf("%-22s %10llu times, %7.2f s, grew by %lld KiB\n", name, (unsigned long long)n,
	       (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9,
	       ((long long)after - (long long)before) / 1024);
}

/** An object that a command makes. */
struct maker {
	struct rig_port *p;
	uint8_t in[RIG_MADE_BYTES];
	size_t bytes;
	const struct prm_command *make, *destroy;
};

static bool
command_cycle(void *arg)
{
	struct maker *m = arg;
	struct emu_obj *obj = NULL;
	uint8_t in[64] = {0};

	if (rig_fw(m->p, m->in, m->bytes, &obj) != 0 || obj == NULL)
		return false;
	in[0] = (uint8_t)(m->destroy->opcode >> 8);
	in[1] = (uint8_t)m->destroy->opcode;
	prm_set32(prm_dw(in, m->destroy->in_id.dword), m->destroy->in_id.hi, m->destroy->in_id.lo, obj->id);
	return rig_fw(m->p, in, m->destroy->in_bytes_min, NULL) == 0;
}

/* in NULL: as the rig made its last object. */
static void
command_cycles(struct rig_port *p, const void *in, size_t bytes)
{
	struct maker m = {.p = p, .bytes = in != NULL ? bytes : rig_made_bytes};

	memcpy(m.in, in != NULL ? in : rig_made, m.bytes);
	m.make = prm_command_find((uint16_t)(m.in[0] << 8 | m.in[1]));
	m.destroy = m.make != NULL ? prm_command_find(m.make->destroy_opcode) : NULL;
	CHECK(m.destroy != NULL);
	if (m.destroy != NULL)
		measure(m.make->name, cycles, command_cycle, &m);
}

static void
simple_cycles(struct rig_port *p, uint16_t opcode)
{
	uint32_t in[16] = {htobe32((uint32_t)opcode << 16)};

	command_cycles(p, in, prm_command_find(opcode)->in_bytes_min);
}

static void
mkey_cycles(struct rig_port *p)
{
	struct prm_create_mkey_in in = {0};
	struct prm_mkc *mkc = prm_create_mkey_in_memory_key_mkey_entry(&in);

	prm_create_mkey_in_set_opcode(&in, PRM_CMD_OP_CREATE_MKEY);
	prm_create_mkey_in_set_mkey_umem_id(&in, p->umem);
	prm_create_mkey_in_set_mkey_umem_valid(&in, 1);
	prm_create_mkey_in_set_translations_octword_actual_size(&in, RIG_ARENA_BYTES / 4096 / 2);
	prm_mkc_set_access_mode_1_0(mkc, PRM_MKC_ACCESS_MODE_MTT);
	prm_mkc_set_lr(mkc, 1);
	prm_mkc_set_lw(mkc, 1);
	prm_mkc_set_qpn(mkc, 0xffffff);
	prm_mkc_set_mkey_7_0(mkc, 0x42);
	prm_mkc_set_pd(mkc, p->pd);
	prm_mkc_set_start_addr(mkc, rig_addr(p->arena));
	prm_mkc_set_len(mkc, RIG_ARENA_BYTES);
	prm_mkc_set_log_page_size(mkc, 12);
	prm_mkc_set_translations_octword_size(mkc, RIG_ARENA_BYTES / 4096 / 2);
	command_cycles(p, &in, sizeof(in));
}

static void
tis_cycles(struct rig_port *p)
{
	struct prm_create_tis_in in = {0};

	prm_create_tis_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIS);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(&in), p->td);
	command_cycles(p, &in, sizeof(in));
}

/* Where in the port's umem a ring or record of so many bytes is. */
static uint64_t
room(struct rig_port *p, size_t bytes)
{
	return (uint64_t)((uint8_t *)rig_mem(p, bytes, 4096) - p->arena);
}

static void
rmp_cycles(struct rig_port *p)
{
	struct prm_create_rmp_in in = {0};
	struct prm_rmpc *rmpc = prm_create_rmp_in_ctx(&in);
	struct prm_wq *wq = prm_rmpc_wq(rmpc);

	prm_create_rmp_in_set_opcode(&in, PRM_CMD_OP_CREATE_RMP);
	prm_rmpc_set_state(rmpc, PRM_RMPC_STATE_RDY);
	prm_wq_set_wq_type(wq, PRM_WQ_TYPE_CYCLIC);
	prm_wq_set_pd(wq, p->pd);
	prm_wq_set_log_wq_stride(wq, 5);
	prm_wq_set_log_wq_sz(wq, 4);
	prm_wq_set_dbr_umem_id(wq, p->umem);
	prm_wq_set_dbr_addr(wq, room(p, 64));
	prm_wq_set_wq_umem_id(wq, p->umem);
	prm_wq_set_wq_umem_offset(wq, room(p, 32 << 4));
	command_cycles(p, &in, sizeof(in));
}

static void
qp_cycles(struct rig_port *p, uint32_t cqn)
{
	struct prm_create_qp_in in = {0};
	struct prm_qpc *q = prm_create_qp_in_qpc(&in);

	prm_create_qp_in_set_opcode(&in, PRM_CMD_OP_CREATE_QP);
	prm_create_qp_in_set_wq_umem_id(&in, p->umem);
	prm_create_qp_in_set_wq_umem_offset(&in, room(p, (16 << 4) + (64 << 5)));
	prm_qpc_set_pm_state(q, PRM_QPC_PM_STATE_MIGRATED);
	prm_qpc_set_pd(q, p->pd);
	prm_qpc_set_log_rq_size(q, 4);
	prm_qpc_set_log_sq_size(q, 5);
	prm_qpc_set_uar_page(q, p->uar->obj.id);
	prm_qpc_set_cqn_snd(q, cqn);
	prm_qpc_set_cqn_rcv(q, cqn);
	prm_qpc_set_dbr_umem_id(q, p->umem);
	prm_qpc_set_dbr_addr(q, room(p, 64));
	command_cycles(p, &in, sizeof(in));
}

static bool
umem_cycle(void *arg)
{
	struct rig_port *p = arg;
	struct emu_umem *umem;

	return emu_umem_create(p->ctx, rig_addr(p->arena), 65536, 1, &umem) == 0 &&
	       emu_obj_destroy(&umem->obj) == 0;
}

static bool
uar_cycle(void *arg)
{
	struct rig_port *p = arg;
	struct emu_uar *uar;

	return emu_uar_create(p->ctx, &uar) == 0 && emu_obj_destroy(&uar->obj) == 0;
}

static bool
mr_cycle(void *arg)
{
	struct rig_port *p = arg;
	struct emu_mkey *mkey;

	return emu_mr_create(p->ctx, p->pd, rig_addr(p->arena), 65536, 0, 1, &mkey) == 0 &&
	       emu_obj_destroy(&mkey->obj) == 0;
}

static bool
context_cycle(void *arg)
{
	struct rig_port *p = arg;
	struct emu_uar *uar;
	struct emu_ctx *ctx;

	/* Left to the context to clean up. */
	return emu_ctx_open(p->dev, p->file, true, NULL, &ctx) == 0 &&
	       emu_uar_create(ctx, &uar) == 0 && emu_ctx_close(ctx) == 1;
}

struct ruled {
	struct rig_port *p;
	struct emu_tir *tir;
};

static bool
rule_cycle(void *arg)
{
	static const uint32_t mask[16] = {[2] = 0xffffffff};
	struct ruled *r = arg;
	struct emu_flow_attr a = {.dest = &r->tir->obj};
	uint32_t m[16], v[16] = {[2] = htobe32(0x02000001)};
	struct emu_matcher_attr ma = {.mask = m, .mask_len = sizeof(m), .criteria = 1};
	struct emu_obj *matcher, *flow;

	for (unsigned i = 0; i < 16; i++)
		m[i] = htobe32(mask[i]);
	a.value = v;
	a.value_len = sizeof(v);
	return emu_matcher_create(r->p->ctx, &ma, &matcher) == 0 &&
	       emu_flow_create(r->p->ctx, matcher, &a, &flow) == 0 && emu_obj_destroy(flow) == 0 &&
	       emu_obj_destroy(matcher) == 0;
}

static void
objects(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_port *p = &r->port[0];
	struct rig_hash hash = {.l4 = 1, .fields = 0xf};
	struct rig_cq *cq, *comp;
	struct ruled ruled = {.p = p};
	struct rig_rq *rq;

	simple_cycles(p, PRM_CMD_OP_ALLOC_PD);
	simple_cycles(p, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	simple_cycles(p, PRM_CMD_OP_ALLOC_Q_COUNTER);
	simple_cycles(p, PRM_CMD_OP_ALLOC_FLOW_COUNTER);
	tis_cycles(p);
	mkey_cycles(p);
	measure("umem", slow_cycles, umem_cycle, p);
	measure("MR", slow_cycles, mr_cycle, p);
	measure("UAR", cycles, uar_cycle, p);
	measure("context", slow_cycles, context_cycle, p);
	cq = rig_cq_new(p, LOG_RING, 6);
	command_cycles(p, NULL, 0);
	comp = rig_cq_new_comp(p, LOG_RING, 0, false);
	command_cycles(p, NULL, 0);
	qp_cycles(p, cq->cq->obj.id);
	rmp_cycles(p);
	rig_sq_new(p, cq, LOG_RING);
	command_cycles(p, NULL, 0);
	rq = rig_rq_new(p, comp, LOG_RING, 4, 0);
	command_cycles(p, NULL, 0);
	rig_rq_new(p, comp, 4, 5, RIG_RQ_STRIDES(6, 11));
	command_cycles(p, NULL, 0);
	ruled.tir = rig_tir_new(p, NULL, rig_rqt_new(p, &rq, 1), &hash);
	command_cycles(p, NULL, 0);
	rig_rqt_new(p, &rq, 1);
	command_cycles(p, NULL, 0);
	measure("matcher, flow", cycles, rule_cycle, &ruled);
	CHECK_EQ(rig_audit(r), 0);
	rig_free(r);
}

/** Two ports, one sends to the other. */
struct traffic {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	uint8_t *frame[RING / 2];
	uint32_t number;
};

static bool
batch(void *arg)
{
	struct traffic *t = arg;
	const struct prm_cqe64 *cqe;
	unsigned n = 0;

	for (unsigned i = 0; i < RING / 2; i += 8) {
		rig_wqe(t->sq, PRM_WQE_OPCODE_ENHANCED_MPSW, i + 8 == RING / 2 ? RIG_CE_CQE : 0);
		rig_wqe_eth(t->sq, &(struct rig_eth){.vlan = -1});
		for (unsigned k = 0; k < 8; k++)
			rig_wqe_ptr(t->sq, t->frame[i + k], 64, t->sq->port->lkey);
		rig_wqe_end(t->sq);
	}
	rig_sq_record(t->sq);
	rig_sq_bell(t->sq);
	rig_run(t->r);
	while ((cqe = rig_cqe(t->rx->cq)) != NULL) {
		rig_post(t->rx->rq, t->rx->buf[be16toh(cqe->wqe_counter) & (RING - 1)],
			 RIG_BUF_BYTES, t->rx->rq->port->lkey);
		n++;
	}
	return rig_cqe(t->sq->cq) != NULL && n == RING / 2;
}

static void
traffic(void)
{
	struct traffic t = {.r = rig_new(2, "pair:lossless")};
	struct rig_frame f;

	t.sq = rig_sq_new(&t.r->port[0], rig_cq_new(&t.r->port[0], LOG_RING, 6), LOG_RING);
	t.rx = rig_rx_new(&t.r->port[1], LOG_RING);
	rig_ip_frame(&f, t.r->port[1].dev, 4, 17, 22, 0, -1);
	for (unsigned i = 0; i < RING / 2; i++) {
		t.frame[i] = rig_mem(&t.r->port[0], 64, 64);
		memcpy(t.frame[i], f.data, 64);
	}
	measure("batch of 128", packets / (RING / 2), batch, &t);
	CHECK(t.r->port[1].dev->stats.rx_delivered_frames >= packets / (RING / 2) * (RING / 2));
	CHECK_EQ(t.r->port[1].dev->stats.rx_delivered_frames, t.r->port[0].dev->stats.tx_frames);
	CHECK_EQ(rig_audit(t.r), 0);
	rig_free(t.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"objects", objects}, {"traffic", traffic}, {NULL, NULL},
	};

	if (argc > 1 && strcmp(argv[1], "--long") == 0) {
		cycles = slow_cycles = 1000000;
		packets = 1000000000;
		argc--;
		argv++;
	}
	return rig_main(argc, argv, tests);
}
