/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What mmap() of a verbs device permits. A process that received the descriptor has no model: the file has a table. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/abi.h"
#include "core/emu_dev.h"

/* Page offsets below EMU_UAR_OFFSET are a command and an index. */
#define COMMAND(page) ((unsigned)((page) >> 8))
#define INDEX(page) ((unsigned)((page) & 0xff))
#define DEVICE_MEMORY 8u

/* Counter and clock page; the order of the checks is the kernel's. */
static int
clock_may_map(uint64_t page, uint64_t pages, int prot, bool shared)
{
	const bool info = COMMAND(page) == EMU_CLOCK_INFO_OFFSET / EMU_PAGE_BYTES >> 8;

	if (pages != 1 || (info && !shared))
		return -EINVAL;
	if (info && INDEX(page) != 0)
		return -EOPNOTSUPP;
	if ((prot & (info ? PROT_WRITE | PROT_EXEC : PROT_WRITE)) != 0)
		return -EPERM;
	return shared ? 0 : -EINVAL;
}

int
abi_uverbs_may_map(const struct emu_dev *dev, int fd, size_t len, int prot, int flags, off64_t offset)
{
	const uint64_t page = (uint64_t)offset / EMU_PAGE_BYTES, pages = (len + EMU_PAGE_BYTES - 1) / EMU_PAGE_BYTES;
	const bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
	uint8_t have = 0;
	uint64_t at;

	/* Its UAR page; there is no BlueFlame page and no counter. */
	if (dev->profile->mlx4)
		return page == 0 && pages == 1 && shared ? 0 : -EINVAL;
	if (offset >= EMU_UAR_OFFSET)
		at = EMU_MAP_TABLE_UAR + page - EMU_UAR_OFFSET / EMU_PAGE_BYTES;
	else if (COMMAND(page) == DEVICE_MEMORY)
		at = EMU_MAP_TABLE_DM + INDEX(page);
	else if (COMMAND(page) == EMU_CLOCK_INFO_OFFSET / EMU_PAGE_BYTES >> 8 ||
		 COMMAND(page) == EMU_CORE_CLOCK_OFFSET / EMU_PAGE_BYTES >> 8)
		return clock_may_map(page, pages, prot, shared);
	else
		return -EINVAL;
	if (at < EMU_UAR_OFFSET - EMU_MAP_TABLE_OFFSET && pread(fd, &have, 1, (off_t)(EMU_MAP_TABLE_OFFSET + at)) != 1)
		have = 0;
	return have != 0 && have == pages && shared ? 0 : -EINVAL;
}
