/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Kernel calls from bytes: the front end's own dispatcher is called as the interposed ioctl()
 * calls it. Whatever the attributes hold, the call returns 0 or an errno, writes nothing beyond
 * the space of an attribute, and closing the device leaves no object behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/mlx5-abi.h>

#include "abi/uverbs/uverbs.h"
#include "dp/emu_dp.h"
#include "fz.h"
#include "rundir.h"
#include "prm.h"

#define MAX_CALLS 48u
#define MAX_ATTRS 12u
#define MAX_OUT 8192u
#define ARENA_BYTES (1u << 20)
#define CANARY 0xc7
#define GUARD_BYTES 64u
/* An 8-byte word of input whose high half is this becomes an address in the arena. */
#define ARENA_MARK 0xa7a7a7a7u

struct attr_mem {
	uint8_t *data; /**< Pointed to by the attribute, GUARD_BYTES longer than its length. */
	uint32_t len;
	bool out;
};

/* Header and attributes in one piece, as the kernel wants them. */
struct ioctl_call {
	struct {
		uint16_t length, object_id, method_id, num_attrs;
		uint64_t reserved1;
		uint32_t driver_id, reserved2;
	} hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};
_Static_assert(sizeof(((struct ioctl_call *)NULL)->hdr) == sizeof(struct ib_uverbs_ioctl_hdr),
	       "header as in rdma_user_ioctl_cmds.h");

static struct abi_file *file;
static uint8_t *arena;
static int fds[MAX_CALLS];
static unsigned nfds, nmethods;

/* The run directory and a looped port; the engine's thread runs beside the calls. */
static void
world(void)
{
	if (arena != NULL)
		return;
	(void)fz_dir();
	setenv("MLXEMU_PORTS", "1", 1);
	setenv("MLXEMU_WIRES", "loop", 1);
	arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FZ_MUST(arena != MAP_FAILED);
	while (abi_method_at(nmethods) != NULL)
		nmethods++;
}

static uint64_t
word_of(uint64_t w)
{
	return w >> 32 == ARENA_MARK ? (uintptr_t)arena + (uint32_t)w % ARENA_BYTES : w;
}

static void
mark_pointers(uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0; i + 8 <= len; i += 8) {
		uint64_t w;

		memcpy(&w, data + i, 8);
		w = word_of(w);
		memcpy(data + i, &w, 8);
	}
}

/* Input data of a likely length: what the row demands, give or take. */
static void
data_in(struct fz_in *in, const struct abi_attr_spec *spec, struct ib_uverbs_attr *a,
	struct attr_mem *m)
{
	uint8_t how = fz_u8(in);
	uint32_t len = how & 1 ? fz_u16(in) % 1024 : how & 2 ? spec->max : spec->min;

	a->len = (uint16_t)len;
	if (len <= 8) {
		fz_bytes(in, &a->data, 8);
		a->data = word_of(a->data);
		return;
	}
	m->data = calloc(1, len + GUARD_BYTES);
	FZ_MUST(m->data != NULL);
	m->len = len;
	fz_bytes(in, m->data, len < 512 ? len : fz_u16(in) % len);
	mark_pointers(m->data, len);
	/* A mailbox of a command that exists. */
	if (how & 4 && len >= 16) {
		uint16_t op = prm_command_at(fz_u8(in) % prm_command_count())->opcode;

		m->data[0] = (uint8_t)(op >> 8);
		m->data[1] = (uint8_t)op;
	}
	a->data = (uintptr_t)m->data;
}

static void
data_out(struct fz_in *in, const struct abi_attr_spec *spec, struct ib_uverbs_attr *a,
	 struct attr_mem *m)
{
	uint8_t how = fz_u8(in);

	m->len = how & 1 ? fz_u16(in) % MAX_OUT : spec->min + (how >> 1) * 8u;
	m->out = true;
	m->data = malloc(m->len + GUARD_BYTES);
	FZ_MUST(m->data != NULL);
	memset(m->data, CANARY, m->len + GUARD_BYTES);
	a->len = (uint16_t)m->len;
	a->data = (uintptr_t)m->data;
}

static void
attribute(struct fz_in *in, const struct abi_attr_spec *spec, struct ib_uverbs_attr *a,
	  struct attr_mem *m)
{
	a->attr_id = spec->id;
	a->flags = UVERBS_ATTR_F_MANDATORY;
	switch (spec->kind) {
	case ABI_ATTR_IN:
		data_in(in, spec, a, m);
		break;
	case ABI_ATTR_ENUM:
		a->attr_data.enum_data.elem_id = fz_u8(in) & 3;
		data_in(in, spec, a, m);
		break;
	case ABI_ATTR_OUT:
		data_out(in, spec, a, m);
		break;
	case ABI_ATTR_HANDLES:
		a->len = (uint16_t)((fz_u8(in) & 1) * 4 + 4);
		fz_bytes(in, &a->data, 8);
		break;
	case ABI_ATTR_FD:
		a->data = nfds != 0 ? (uint64_t)fds[fz_u8(in) % nfds] : fz_u8(in);
		break;
	case ABI_ATTR_HANDLE:
		a->data = fz_u8(in);
		break;
	default:
		break;
	}
}

static void
fd_close(int fd)
{
	abi_fd_put(abi_fd_take(fd));
	abi_real_close(fd);
}

/* Descriptors that a call handed out are the program's to close. */
static void
collect(const struct abi_method *method, const struct ib_uverbs_attr *attrs, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned s = 0; method->attrs[s].kind != ABI_ATTR_NONE; s++)
			if (method->attrs[s].id == attrs[i].attr_id &&
			    method->attrs[s].kind == ABI_ATTR_FD_NEW && nfds < MAX_CALLS)
				fds[nfds++] = (int)attrs[i].data;
}

static void
one_call(struct fz_in *in)
{
	struct ioctl_call call = {0};
	struct attr_mem mem[MAX_ATTRS] = {0};
	const struct abi_method *method = abi_method_at(fz_u8(in) % nmethods);
	uint16_t leave_out = fz_u16(in);
	unsigned n = 0;
	int ret;

	for (unsigned s = 0; method->attrs[s].kind != ABI_ATTR_NONE && n < MAX_ATTRS; s++) {
		/* Mandatory ones are left out one time in four, optional ones every other. */
		bool out = leave_out >> s & 1 && (!method->attrs[s].mandatory || leave_out & 0x8000);

		if (!out) {
			attribute(in, &method->attrs[s], &call.attrs[n], &mem[n]);
			n++;
		}
	}
	call.hdr.object_id = method->object;
	call.hdr.method_id = method->method;
	call.hdr.driver_id = 1;
	call.hdr.num_attrs = (uint16_t)n;
	call.hdr.length = (uint16_t)(sizeof(call.hdr) + n * sizeof(call.attrs[0]));
	ret = abi_uverbs_ioctl(&file->fo, &call.hdr);
	FZ_MUST(ret <= 0 && ret > -4096);
	if (ret == 0)
		collect(method, call.attrs, n);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned g = 0; mem[i].out && g < GUARD_BYTES; g++)
			FZ_MUST(mem[i].data[mem[i].len + g] == CANARY);
		free(mem[i].data);
	}
}

/* What every program does first. */
static void
get_context(bool devx)
{
	struct ioctl_call call = {0};
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 16, .num_low_latency_bfregs = 4, .max_cqe_version = 1,
		.flags = devx ? MLX5_IB_ALLOC_UCTX_DEVX : 0, .lib_caps = MLX5_LIB_CAP_DYN_UAR,
	};
	struct mlx5_ib_alloc_ucontext_resp resp;

	call.hdr.length = sizeof(call.hdr) + 2 * sizeof(call.attrs[0]);
	call.hdr.object_id = UVERBS_OBJECT_DEVICE;
	call.hdr.method_id = UVERBS_METHOD_GET_CONTEXT;
	call.hdr.num_attrs = 2;
	call.attrs[0] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_UHW_IN, .len = sizeof(req),
						.data = (uintptr_t)&req};
	call.attrs[1] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_UHW_OUT, .len = sizeof(resp),
						.data = (uintptr_t)&resp};
	FZ_MUST(abi_uverbs_ioctl(&file->fo, &call.hdr) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz_in in = {data, size};
	struct emu_machine *m;
	unsigned left = 0;
	uint8_t first;
	int fd;

	world();
	fd = abi_uverbs_open(0, O_RDWR | O_CLOEXEC);
	FZ_MUST(fd >= 0);
	file = (struct abi_file *)abi_fd_get(fd, ABI_FD_UVERBS);
	FZ_MUST(file != NULL);
	nfds = 0;
	first = fz_u8(&in);
	if ((first & 7) != 7)
		get_context((first & 8) == 0);
	for (unsigned i = 0; i < MAX_CALLS && in.left != 0; i++)
		one_call(&in);
	abi_fd_put(&file->fo);
	fd_close(fd);
	while (nfds != 0)
		fd_close(fds[--nfds]);
	m = abi_enter();
	for (unsigned t = 0; t < EMU_OBJ_TYPES; t++)
		if (t != EMU_OBJ_EQ)
			left += emu_obj_count(&m->dev[0], t);
	emu_audit_reset();
	abi_leave();
	FZ_MUST(left == 0);
	return 0;
}
