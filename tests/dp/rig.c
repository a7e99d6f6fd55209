/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The bench: machine, memory, commands. */
#include <sys/mman.h>

#include "core/emu_iommu.h"
#include "rig_vfio.h"

int
rig_main(int argc, char **argv, const struct rig_test *tests)
{
	const char *only = argc > 1 ? argv[argc - 1] : NULL;
	unsigned ran = 0, failed = 0;

	rig_vfio = argc > 1 && strcmp(argv[1], "--vfio") == 0;
	if (rig_vfio && argc == 2)
		only = NULL;
	for (; tests->name != NULL; tests++) {
		unsigned before = check_failures;

		if (only != NULL && strstr(tests->name, only) == NULL)
			continue;
		tests->run();
		ran++;
		failed += check_failures != before;
		printf("%s %s\n", check_failures == before ? "ok  " : "FAIL", tests->name);
		fflush(stdout);
	}
	printf("%u of %u failed\n", failed, ran);
	return failed != 0 || ran == 0;
}

void
rig_die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(2);
}

void
rig_event(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, const void *eqe)
{
	struct rig_port *p = ctx->priv;
	const struct prm_eqe *e = eqe;

	if (type == PRM_EVENT_TYPE_COMP) {
		p->comp_events++;
		CHECK_EQ(be32toh(e->comp_cqn), obj->id);
	}
	if (type == PRM_EVENT_TYPE_CQ_ERROR) {
		p->cq_err_events++;
		CHECK_EQ(be32toh(e->cq_err_cqn), obj->id);
	}
	if (type < sizeof(p->events) / sizeof(p->events[0]))
		p->events[type]++;
	p->last_event_obj = obj != NULL ? obj->id : 0;
}
static const struct emu_ctx_ops ops = {.event = rig_event};

int
rig_fw(struct rig_port *p, const void *in, size_t in_len, struct emu_obj **created)
{
	uint8_t out[4096];

	return emu_fw_exec(p->ctx, in, in_len, out, sizeof(out), created);
}

uint8_t rig_made[RIG_MADE_BYTES];
size_t rig_made_bytes;

void *
rig_make(struct rig_port *p, const void *in, size_t in_len, const char *what)
{
	struct emu_obj *obj = NULL;

	if (in_len > sizeof(rig_made))
		rig_die(what);
	memcpy(rig_made, in, in_len);
	rig_made_bytes = in_len;
	if (rig_fw(p, in, in_len, &obj) != 0 || obj == NULL)
		rig_die(what);
	return obj;
}

static uint32_t
alloc_simple(struct rig_port *p, uint16_t opcode, size_t len, const char *what)
{
	uint32_t in[16] = {htobe32((uint32_t)opcode << 16)};

	return ((struct emu_obj *)rig_make(p, in, len, what))->id;
}

uint32_t
rig_key(struct rig_port *p, uint32_t pd, uint32_t access)
{
	struct emu_mkey *mkey;

	if (rig_vfio)
		return rig_vfio_key(p, pd, access);
	if (emu_mr_create(p->ctx, pd, rig_addr(p->arena), RIG_ARENA_BYTES, rig_addr(p->arena),
			  access, &mkey) != 0)
		rig_die("mkey");
	return emu_mkey_key(mkey);
}

/* Memory, aligned to its size as huge pages are. */
static uint8_t *
arena_map(void)
{
	uint8_t *at = mmap(NULL, 2 * RIG_ARENA_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (at == MAP_FAILED)
		rig_die("arena");
	before = -(uintptr_t)at & (RIG_ARENA_BYTES - 1);
	if (before != 0)
		munmap(at, before);
	munmap(at + before + RIG_ARENA_BYTES, RIG_ARENA_BYTES - before);
	return at + before;
}

static void
port_open(struct rig *r, unsigned i)
{
	struct rig_port *p = &r->port[i];
	struct prm_create_tis_in tis = {0};
	struct emu_umem *umem;

	p->rig = r;
	p->dev = &r->m.dev[i];
	p->file = emu_file_map();
	p->arena = arena_map();
	/* As a program's packet memory is; without, a bench measures page walks. */
	madvise(p->arena, RIG_ARENA_BYTES, MADV_HUGEPAGE);
	if (p->file == NULL || emu_ctx_open(p->dev, p->file, true, &ops, &p->ctx) != 0)
		rig_die("context");
	p->ctx->priv = p;
	if (rig_vfio) {
		rig_vfio_open(p);
	} else {
		if (emu_umem_create(p->ctx, rig_addr(p->arena), RIG_ARENA_BYTES, 1, &umem) != 0 ||
		    emu_uar_create(p->ctx, &p->uar) != 0)
			rig_die("umem or UAR");
		p->umem = umem->obj.id;
		p->eqn = (uint32_t)emu_eqn_of_vector(p->dev, 0);
	}
	p->pd = alloc_simple(p, PRM_CMD_OP_ALLOC_PD, 16, "PD");
	p->td = alloc_simple(p, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 16, "TD");
	p->lkey = rig_key(p, p->pd, 1);
	p->ro_lkey = rig_key(p, p->pd, 0);
	prm_create_tis_in_set_opcode(&tis, PRM_CMD_OP_CREATE_TIS);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(&tis), p->td);
	p->tis = ((struct emu_obj *)rig_make(p, &tis, sizeof(tis), "TIS"))->id;
}

const struct emu_profile *rig_profile;

static const struct emu_profile *
rig_card(void)
{
	const struct emu_profile *p = rig_profile != NULL ? rig_profile : emu_profile_default();

	if (p == rig_profile || p->wqe_inline_mode == PRM_WQE_INLINE_MODE_CAP_NOT_REQUIRED)
		return p;
	printf("skipped: %s needs headers inline, which these tests do not send\n", p->card);
	exit(77);
}

struct rig *
rig_new(unsigned ports, const char *specs)
{
	struct rig *r = calloc(1, sizeof(*r));
	static struct emu_wire_plan plan[4];
	char copy[512] = "", err[512], *list[8];
	unsigned n = 0;

	if (specs != NULL)
		snprintf(copy, sizeof(copy), "%s", specs);
	for (char *s = strtok(copy, " "); s != NULL && n < 8; s = strtok(NULL, " "))
		list[n++] = s;
	if (r == NULL ||
	    emu_machine_init(&r->m, ports, rig_card()) != 0 ||
	    emu_dp_init(&r->m) != 0)
		rig_die("machine");
	if (emu_wire_parse((const char *const *)list, n, ports, plan, err, sizeof(err)) != 0 ||
	    emu_wire_open(plan, ports, err, sizeof(err)) != 0 ||
	    emu_wire_attach(&r->m, plan, err, sizeof(err)) != 0)
		rig_die(err);
	r->ports = ports;
	emu_lock(&r->m);
	for (unsigned i = 0; i < ports; i++)
		port_open(r, i);
	return r;
}

void
rig_free(struct rig *r)
{
	for (unsigned i = 0; i < r->ports; i++) {
		emu_ctx_close(r->port[i].ctx);
		emu_iommu_free(r->port[i].iommu);
		for (unsigned t = 0; t < EMU_OBJ_TYPES; t++)
			if (t != EMU_OBJ_EQ)
				CHECK_EQ(emu_obj_count(r->port[i].dev, t), 0);
	}
	emu_unlock(&r->m);
	emu_dp_stop(&r->m);
	emu_wire_detach(&r->m);
	emu_machine_fini(&r->m);
	for (unsigned i = 0; i < r->ports; i++) {
		emu_file_unmap(r->port[i].file);
		munmap(r->port[i].arena, RIG_ARENA_BYTES);
	}
	free(r);
}

unsigned
rig_run(struct rig *r)
{
	unsigned passes = 0;

	while (emu_dp_poll(&r->m) != 0)
		passes++;
	return passes;
}

void
rig_pass(struct rig *r, uint64_t ns)
{
	emu_time_pass(ns);
	for (unsigned i = 0; i < r->ports; i++)
		emu_clock_tick(r->port[i].dev);
	rig_run(r);
}

void *
rig_mem(struct rig_port *p, size_t bytes, size_t align)
{
	size_t at = (p->used + align - 1) & ~(align - 1);

	if (at + bytes > RIG_ARENA_BYTES)
		rig_die("arena used up");
	p->used = at + bytes;
	return p->arena + at;
}

uint64_t
rig_audit(struct rig *r)
{
	(void)r;
	return emu_audit_total();
}
