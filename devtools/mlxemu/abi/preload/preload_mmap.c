/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * mmap() of a device, for fault rules and for traps on register pages (trap_pages.c, vfio_trap.c).
 * The mapping itself is done by the kernel: the descriptor is a file that program and model share.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "abi/trap_pages.h"
#include "preload.h"

/* Name of the page at an offset of a device: clock page, counter, doorbells. */
static const char *
abi_mmap_page(off64_t offset)
{
	if (offset == EMU_CLOCK_INFO_OFFSET)
		return "clock";
	if (offset == EMU_CORE_CLOCK_OFFSET)
		return "core";
	return offset >= EMU_UAR_OFFSET ? "doorbell" : "other";
}

/* 0; -errno: the mapping is refused, by the kernel, by a fault rule, or because the device was removed. */
static int
abi_mmap_check(int fd, size_t len, int prot, int flags, off64_t offset)
{
	struct abi_fdobj *obj;
	struct emu_machine *m;
	int ret = 0;

	if (abi_inside != 0)
		return 0;
	if (abi_fd_kind(fd) != ABI_FD_UVERBS)
		return abi_joined_may_map(fd, len, prot, flags, offset);
	obj = abi_fd_get(fd, ABI_FD_UVERBS);
	m = obj != NULL ? abi_enter() : NULL;
	if (m != NULL) {
		struct emu_dev *dev = &m->dev[abi_uverbs_index(obj)];

		ret = emu_dev_disassociated(dev) ? -EIO : abi_uverbs_may_map(dev, fd, len, prot, flags, offset);
		if (ret != 0)
			emu_trace_note(dev, "mmap: offset 0x%llx, 0x%zx bytes -> errno %d", (unsigned long long)offset,
				       len, -ret);
		else
			ret = emu_fault_errno(EMU_ON_MMAP, dev, abi_mmap_page(offset));
		abi_leave();
	}
	abi_fd_put(obj);
	return ret;
}

static void
abi_mmap_watch(void *at, size_t len, int prot, int fd, off64_t offset)
{
	struct abi_fdobj *obj;

	if (abi_inside != 0 || abi_fd_kind(fd) != ABI_FD_UVERBS)
		return;
	obj = abi_fd_get(fd, ABI_FD_UVERBS);
	if (obj != NULL && abi_enter() != NULL) {
		abi_uverbs_mapped(obj, at, len, prot, offset);
		abi_leave();
	}
	abi_fd_put(obj);
}

/*
 * A system call instead of the next definition: loaders and sanitizers map memory before symbols can
 * be looked up.
 */
static void *
abi_mmap(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	int ret = fd >= 0 ? abi_mmap_check(fd, len, prot, flags, offset) : 0;
	void *at;

	if (ret != 0) {
		errno = -ret;
		return MAP_FAILED;
	}
	if (fd >= 0 && abi_vfio_mmap(addr, len, prot, flags, fd, offset, &at))
		return at;
	if ((flags & MAP_FIXED) != 0)
		abi_pages_unmapped((uintptr_t)addr, len);
	at = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
	if (at == MAP_FAILED)
		return at;
	if ((flags & MAP_FIXED) != 0)
		abi_vfio_unmapped((uintptr_t)at, len);
	if (fd >= 0)
		abi_mmap_watch(at, len, prot, fd, offset);
	if (fd >= 0 && (flags & MAP_TYPE) != MAP_PRIVATE && (prot & PROT_WRITE) != 0 && abi_inside == 0)
		abi_joined_mapped(fd);
	return at;
}

ABI_EXPORT int
munmap(void *addr, size_t len)
{
	/* Before the system call: afterwards another thread may map something there. */
	if (abi_inside == 0) {
		abi_vfio_unmapped((uintptr_t)addr, len);
		abi_pages_unmapped((uintptr_t)addr, len);
	}
	return (int)syscall(SYS_munmap, addr, len);
}

ABI_EXPORT void *
mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return abi_mmap(addr, len, prot, flags, fd, offset);
}

ABI_EXPORT void *
mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	return abi_mmap(addr, len, prot, flags, fd, offset);
}
