/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A device behind VFIO from bytes: ioctls of container, group and device with any structure, stores
 * into BAR 0, command queue entries with any mailboxes, and memory that changes under the device.
 * For any input, calls return a result or an errno, write nothing beyond the space they were given,
 * and closing everything leaves nothing behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/host/sysfs.h"
#include "rundir.h"
#include "vfio_card.h"

#define MAX_RECORDS 96u
#define CANARY 0xc7
#define GUARD_BYTES 64u
/* A dword of a mailbox whose first byte is this becomes an IOVA, or the number of an object. */
#define MARK_IOVA 0xa7u
#define MARK_ID 0xa8u
#define FDS 8u

/* What is wrong with a command; the bits of its record. */
enum { BAD_TOKEN = 1, BAD_NUMBER = 2, BAD_NEXT = 4, BAD_IN_PTR = 8, BAD_OUT_PTR = 0x10,
       BAD_IN_LEN = 0x20, BAD_OUT_LEN = 0x40, BAD_TYPE = 0x80, NOT_OWNED = 0x100,
       OTHER_SLOT = 0x200, SELF_LOOP = 0x400, SHORT_CHAIN = 0x800 };

static uint8_t *region;
static int container, group, fds[FDS], events[3];
static unsigned nfds;

/* What the launcher makes: the tree with the group's node, the configuration space. */
static void
rundir(void)
{
	static struct emu_machine machine;
	const char *dir = fz_dir();
	char failed[512];

	FZ_MUST(emu_machine_init(&machine, 1, emu_profile_find("cx6dx")) == 0);
	machine.dev[0].fronts = EMU_FRONT_VFIO;
	FZ_MUST(emu_sysfs_build(&machine, dir, failed, sizeof(failed)) == 0);
	FZ_MUST(emu_pci_create(&machine.dev[0], dir) == 0);
	emu_machine_fini(&machine);
	setenv("MLXEMU_PORTS", "1", 1);
	setenv("MLXEMU_OPEN", "2", 1);
	setenv("MLXEMU_WIRES", "loop", 1);
}

static void
world(void)
{
	if (arena != NULL)
		return;
	rundir();
	region = mmap(NULL, REGION_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FZ_MUST(region != MAP_FAILED);
	arena = region + CHUNK_BYTES;
	FZ_MUST(mprotect(arena, ARENA_BYTES, PROT_READ | PROT_WRITE) == 0);
	events[0] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	events[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	events[2] = open("/dev/null", O_RDWR | O_CLOEXEC);
	FZ_MUST(events[0] >= 0 && events[1] >= 0 && events[2] >= 0);
}

static uint64_t
iova_any(struct fz_in *in)
{
	return IOVA - CHUNK_BYTES + fz_u32(in) % (REGION_BYTES + CHUNK_BYTES);
}

/* ---- calls ---- */

static void
fd_close(int fd)
{
	abi_fd_put(abi_fd_take(fd));
	abi_real_close(fd);
}

static void
fd_keep(int fd)
{
	if (nfds < FDS)
		fds[nfds++] = fd;
	else
		fd_close(fd);
}

static int
fd_any(struct fz_in *in)
{
	uint8_t which = fz_u8(in);

	if (which % 4 == 0)
		return container;
	if (which % 4 == 1)
		return group;
	return nfds != 0 ? fds[which / 4 % nfds] : -1;
}

static enum abi_fd_kind
kind_of(int fd)
{
	enum abi_fd_kind kind = fd >= 0 ? abi_fd_kind(fd) : ABI_FD_NONE;

	return abi_fd_is_vfio(kind) ? kind : ABI_FD_NONE;
}

static const unsigned long requests[] = {
	VFIO_GET_API_VERSION, VFIO_CHECK_EXTENSION, VFIO_SET_IOMMU, VFIO_GROUP_GET_STATUS,
	VFIO_GROUP_SET_CONTAINER, VFIO_GROUP_UNSET_CONTAINER, VFIO_GROUP_GET_DEVICE_FD,
	VFIO_DEVICE_GET_INFO, VFIO_DEVICE_GET_REGION_INFO, VFIO_DEVICE_GET_IRQ_INFO,
	VFIO_DEVICE_SET_IRQS, VFIO_DEVICE_RESET, VFIO_IOMMU_GET_INFO, VFIO_IOMMU_MAP_DMA,
	VFIO_IOMMU_UNMAP_DMA,
};

/* An address that may be given to the device: never memory of the fuzzer's own. */
static void
memory_only(uint8_t *arg, size_t len)
{
	uint64_t addr;

	if (len < sizeof(struct vfio_iommu_type1_dma_map))
		return;
	memcpy(&addr, arg + offsetof(struct vfio_iommu_type1_dma_map, vaddr), 8);
	addr = (uintptr_t)region + addr % REGION_BYTES;
	memcpy(arg + offsetof(struct vfio_iommu_type1_dma_map, vaddr), &addr, 8);
}

/* Descriptors that exist, where SET_IRQS has them. */
static void
eventfds(uint8_t *arg, size_t len, uint8_t which)
{
	for (size_t i = offsetof(struct vfio_irq_set, data); i + 4 <= len; i += 4) {
		int fd = which % 8 == 7 ? -1 : which % 8 == 6 ? 9999 : events[which % 8 % 3];

		memcpy(arg + i, &fd, 4);
		which = (uint8_t)(which * 5 + 1);
	}
}

static int
call(int fd, unsigned long request, void *arg)
{
	int ret = abi_vfio_ioctl(fd, kind_of(fd), request, arg);

	FZ_MUST(ret > -4096);
	return ret;
}

/* Any structure, of the length in its header, or shorter: then the bytes after it are not touched. */
static void
any_ioctl(struct fz_in *in)
{
	int fd = fd_any(in);
	uint8_t which = fz_u8(in), how = fz_u8(in);
	unsigned long request = requests[which % (sizeof(requests) / sizeof(requests[0]))];
	uint32_t len = how & 0x80 ? fz_u16(in) % 2048 : how & 0x7c, room = len < 4 ? 4 : len;
	uint8_t *arg = malloc(room + GUARD_BYTES);

	FZ_MUST(arg != NULL);
	memset(arg, CANARY, room + GUARD_BYTES);
	fz_bytes(in, arg, room);
	memcpy(arg, &len, 4);
	if (how & 1)
		eventfds(arg, room, fz_u8(in));
	if (request == VFIO_GROUP_SET_CONTAINER)
		memcpy(arg, &(int){how & 1 ? container : fd}, 4);
	if (request == VFIO_IOMMU_MAP_DMA)
		memory_only(arg, room);
	if (kind_of(fd) == ABI_FD_NONE)
		free(arg);
	else if (how & 2) {
		free(arg);
		(void)call(fd, request, (void *)(uintptr_t)(how >> 2));
	} else {
		int ret = call(fd, request, arg);

		if (ret >= 0 && request == VFIO_GROUP_GET_DEVICE_FD && kind_of(fd) == ABI_FD_VFIO_GROUP)
			fd_keep(ret);
		for (unsigned i = 0; i < GUARD_BYTES; i++)
			FZ_MUST(arg[room + i] == CANARY);
		free(arg);
	}
}

static int
map(unsigned first, unsigned pages, uint32_t rw, unsigned from)
{
	struct vfio_iommu_type1_dma_map m = {
		.argsz = sizeof(m), .flags = rw, .iova = IOVA + (uint64_t)first * PAGE,
		.vaddr = (uintptr_t)region + (uint64_t)from * PAGE, .size = (uint64_t)pages * PAGE,
	};

	return call(container, VFIO_IOMMU_MAP_DMA, &m);
}

static void
any_map(struct fz_in *in)
{
	uint8_t first = fz_u8(in), pages = fz_u8(in) % 32, from = fz_u8(in), rw = fz_u8(in) & 3;

	if (kind_of(container) != ABI_FD_NONE)
		(void)map(first, pages, rw, from % (REGION_BYTES / PAGE));
}

static void
any_unmap(struct fz_in *in)
{
	uint8_t first = fz_u8(in), pages = fz_u8(in);
	struct vfio_iommu_type1_dma_unmap u = {.argsz = sizeof(u),
		.iova = IOVA + (uint64_t)first * PAGE, .size = (uint64_t)pages * PAGE};

	if (pages == 255) {
		u.iova = u.size = 0;
		u.flags = VFIO_DMA_UNMAP_FLAG_ALL;
	}
	if (kind_of(container) != ABI_FD_NONE)
		(void)call(container, VFIO_IOMMU_UNMAP_DMA, &u);
}

/* Regions by pread() and pwrite(). */
static void
any_access(struct fz_in *in)
{
	uint8_t how = fz_u8(in), bytes[300];
	uint32_t at = fz_u32(in);
	size_t len = how & 2 ? fz_u16(in) % 256 : how >> 4;
	int fd = nfds != 0 ? fds[0] : -1;
	ssize_t done;

	memset(bytes, CANARY, sizeof(bytes));
	fz_bytes(in, bytes, len);
	/* Region 0 is BAR 0, 7 configuration space. */
	if (fd < 0 || !abi_vfio_access(fd, how & 1, bytes, len,
				       (off64_t)((uint64_t)(how & 4 ? 7 : how & 8 ? at >> 28 : 0)
						 << ABI_VFIO_REGION_SHIFT) +
				       (at & (how & 4 ? 0x1fff : 0x0fffffff)), &done))
		return;
	FZ_MUST(done <= (ssize_t)len);
	for (size_t i = len; i < sizeof(bytes); i++)
		FZ_MUST(bytes[i] == CANARY);
}

/* ---- BAR 0 ---- */

/* Stores as instructions make them: they do not cross the end of the BAR, which pages do not. */
static void
any_store(struct fz_in *in)
{
	static const uint16_t registers[] = {0x10, 0x14, 0x18, 0x238, 0x1010, 0, 0x40, 0x48, 0x800, 0x20};
	uint8_t how = fz_u8(in), bytes[64];
	unsigned len = 1u << (how & 7) % 7;
	uint64_t off = registers[how >> 4 & 15 ? (how >> 4) % 10 : 0];

	if ((how & 8) != 0)
		off += (uint64_t)uar * PAGE;
	if (how >> 4 == 15)
		off = fz_u32(in) % ABI_VFIO_BAR_BYTES;
	fz_bytes(in, bytes, len);
	store(off, bytes, len);
	run();
}

/* ---- commands ---- */

static void
spoil(struct fz_in *in, struct entry *e, uint16_t how)
{
	struct block *b = (void *)(arena + (how & 0x8000 ? AT_OUT : AT_IN) +
				   (size_t)(how >> 12 & 7) * BLOCK_STRIDE);

	if (how & BAD_TOKEN)
		b->token ^= fz_u8(in);
	if (how & BAD_NUMBER)
		b->number = fz_u32(in);
	if (how & BAD_NEXT)
		b->next = htobe64(iova_any(in));
	if (how & SELF_LOOP)
		b->next = htobe64(iova_of((uint32_t)((uint8_t *)b - arena)));
	if (how & SHORT_CHAIN)
		b->next = 0;
	if (how & BAD_IN_PTR)
		e->in_ptr = htobe64(iova_any(in));
	if (how & BAD_OUT_PTR)
		e->out_ptr = htobe64(iova_any(in));
	if (how & BAD_IN_LEN)
		e->in_len = fz_u32(in);
	if (how & BAD_OUT_LEN)
		e->out_len = fz_u32(in);
	if (how & BAD_TYPE)
		e->type = fz_u8(in);
	if (how & NOT_OWNED)
		e->status_own = fz_u8(in);
}

/* Marks become what a fuzzer does not guess: addresses the device can reach, numbers of objects. */
static void
resolve(uint8_t *data, size_t len)
{
	for (size_t i = 0; i + 8 <= len; i += 4) {
		if (data[i] == MARK_ID)
			put_word(data + i, ids[data[i + 3] % IDS] | (uint32_t)data[i + 1] << 24);
		if (data[i] != MARK_IOVA)
			continue;
		put_word(data + i, 0);
		put_word(data + i + 4, (uint32_t)IOVA + (get_word(data + i + 4) % ARENA_BYTES & ~0xfffu) +
					       (data[i + 7] & 3));
	}
}

static void
any_command(struct fz_in *in)
{
	const struct prm_command *c = prm_command_at(fz_u8(in) % prm_command_count());
	uint16_t how = fz_u16(in);
	unsigned slot = how & OTHER_SLOT ? fz_u8(in) % ABI_VFIO_SLOTS : 0, n = fz_u8(in) * 4u;
	size_t in_len = c->in_bytes_min + (c->in_variable ? fz_u8(in) * 8u : 0);
	size_t out_len = c->out_bytes_min;
	struct entry *e;

	memset(mbox, 0, sizeof(mbox));
	fz_bytes(in, mbox, n < in_len ? n : in_len);
	put_word(mbox, (uint32_t)c->opcode << 16);
	resolve(mbox + 4, in_len);
	if (in_len > sizeof(mbox))
		in_len = sizeof(mbox);
	e = entry_make(slot, in_len, out_len);
	spoil(in, e, how & ~(unsigned)OTHER_SLOT);
	store32(0x18, 1u << slot | (how & OTHER_SLOT ? fz_u32(in) : 0));
	run();
	remember(e);
}

/* The arena changes: rings, mailboxes, doorbell records, pages of the firmware. */
static void
scribble(struct fz_in *in)
{
	uint32_t at = fz_u32(in) % ARENA_BYTES;
	size_t len = fz_u8(in);

	fz_bytes(in, arena + at, len < ARENA_BYTES - at ? len : ARENA_BYTES - at);
}

/* Arms or rings the queue, with a counter that need not be its. */
static void
event_queue(struct fz_in *in)
{
	uint8_t how = fz_u8(in);

	store32((uint64_t)uar * PAGE + (how & 1 ? 0x40 : 0x48),
		(how & 2 ? ids[how >> 4] : eqn) << 24 | fz_u8(in));
	run();
}

/* The port goes down or comes up: an event. */
static void
link_event(struct fz_in *in)
{
	struct emu_machine *m = abi_enter();

	if (m == NULL)
		return;
	emu_port_cable(&m->dev[0], fz_u8(in) & 1, 0);
	abi_leave();
	run();
}

static void
another_device(void)
{
	char name[] = "0000:c1:00.0";
	int fd = kind_of(group) != ABI_FD_NONE ? call(group, VFIO_GROUP_GET_DEVICE_FD, name) : -1;

	if (fd >= 0)
		fd_keep(fd);
}

static void
give_up(struct fz_in *in)
{
	uint8_t which = fz_u8(in);

	if (which % 4 == 0 && group >= 0) {
		fd_close(group);
		group = -1;
	} else if (which % 4 == 1 && container >= 0) {
		fd_close(container);
		container = -1;
	} else if (nfds != 0) {
		unsigned i = which / 4 % nfds;

		fd_close(fds[i]);
		fds[i] = fds[--nfds];
	}
}

static void
one_record(struct fz_in *in)
{
	switch (fz_u8(in) % 16) {
	case 0:
	case 1:
		any_ioctl(in);
		break;
	case 2:
		any_map(in);
		break;
	case 3:
		any_unmap(in);
		break;
	case 4:
		any_access(in);
		break;
	case 5:
		any_store(in);
		break;
	case 6:
		scribble(in);
		break;
	case 7:
		event_queue(in);
		break;
	case 8:
		link_event(in);
		break;
	case 9:
		another_device();
		break;
	case 10:
		give_up(in);
		break;
	default:
		any_command(in);
		break;
	}
}

/* ---- beginning and end ---- */

static void
attach(void)
{
	FZ_MUST(call(group, VFIO_GROUP_SET_CONTAINER, &container) == 0);
	FZ_MUST(call(container, VFIO_SET_IOMMU, (void *)(uintptr_t)VFIO_TYPE1v2_IOMMU) == 0);
	for (unsigned i = 0; i < ARENA_BYTES / CHUNK_BYTES; i++)
		FZ_MUST(map(i * (CHUNK_BYTES / PAGE), CHUNK_BYTES / PAGE, 3,
			    (i + 1) * (CHUNK_BYTES / PAGE)) == 0);
	another_device();
	FZ_MUST(nfds == 1);
}

static void
begin(uint8_t first)
{
	memset(arena, 0, ARENA_BYTES);
	memset(ids, 0, sizeof(ids));
	nids = nfds = 0;
	uar = eqn = 0;
	container = abi_vfio_open(ABI_NODE_VFIO, O_RDWR | O_CLOEXEC);
	group = abi_vfio_open(ABI_NODE_GROUP + (int)ABI_VFIO_GROUP_BASE, O_RDWR | O_CLOEXEC);
	FZ_MUST(container >= 0 && group >= 0);
	if ((first & 7) == 7)
		return;
	attach();
	if ((first & 7) != 6)
		boot(fds[0]);
}

static void
end(void)
{
	struct emu_machine *m;
	unsigned left = 0;

	while (nfds != 0)
		fd_close(fds[--nfds]);
	if (group >= 0)
		fd_close(group);
	if (container >= 0)
		fd_close(container);
	m = abi_enter();
	FZ_MUST(m != NULL && device() == NULL);
	/* The kernel's event queues are always there. */
	left -= EMU_COMP_VECTORS;
	for (unsigned t = 0; t < EMU_OBJ_TYPES; t++)
		left += emu_obj_count(&m->dev[0], t);
	emu_audit_reset();
	/* Firmware that failed is reset before the next input. */
	m->dev[0].removed = m->dev[0].failed = m->dev[0].internal_error = false;
	m->dev[0].fatal = 0;
	m->dev[0].remove_ns = 0;
	emu_port_set_carrier(&m->dev[0], true);
	emu_port_cable(&m->dev[0], true, 0);
	abi_leave();
	FZ_MUST(left == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz_in in = {data, size};

	world();
	begin(fz_u8(&in));
	for (unsigned i = 0; i < MAX_RECORDS && in.left != 0; i++)
		one_record(&in);
	end();
	return 0;
}
