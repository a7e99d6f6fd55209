/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The ioctls of a container's address space (VFIO type 1 v2). */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <linux/vfio.h>
#include <stddef.h>
#include <string.h>

#include "abi/uverbs/uverbs.h"
#include "vfio.h"

/* 4 KiB, 2 MiB and 1 GiB, as on Intel IOMMUs. */
#define PAGE_SIZES 0x40201000ull
#define MIN_OF(type, field) (offsetof(struct type, field) + sizeof(((struct type *)0)->field))

/** Information followed by its capabilities, in the kernel's layout. */
struct info {
	struct vfio_iommu_type1_info info;
	struct {
		struct vfio_info_cap_header header;
		uint32_t nr_iovas, reserved;
		struct vfio_iova_range range[2];
	} iova;
	struct {
		struct vfio_info_cap_header header;
		uint32_t avail, reserved;
	} dma;
};

static void
info_fill(const struct abi_vfio_container *c, struct info *i)
{
	i->iova.header.id = VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE;
	i->iova.header.version = 1;
	i->iova.header.next = offsetof(struct info, dma);
	i->iova.nr_iovas = 2;
	i->iova.range[0] = (struct vfio_iova_range){0, EMU_IOMMU_MSI_FIRST - 1};
	i->iova.range[1] = (struct vfio_iova_range){EMU_IOMMU_MSI_END, EMU_IOMMU_END - 1};
	i->dma.header.id = VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL;
	i->dma.header.version = 1;
	i->dma.avail = EMU_IOMMU_MAX_MAPS - emu_iommu_count(c->iommu);
}

static int
get_info(struct abi_vfio_container *c, void *arg)
{
	const size_t min = MIN_OF(vfio_iommu_type1_info, iova_pgsizes);
	struct info i = {0};
	size_t room;
	int ret = abi_vfio_in(&i.info, arg, min);

	if (ret != 0)
		return abi_vfio_refuse(c->dev, ret, "VFIO_IOMMU_GET_INFO", "argsz");
	room = i.info.argsz;
	i.info.flags = VFIO_IOMMU_INFO_PGSIZES | VFIO_IOMMU_INFO_CAPS;
	i.info.iova_pgsizes = PAGE_SIZES;
	info_fill(c, &i);
	if (room >= sizeof(i)) {
		i.info.cap_offset = offsetof(struct info, iova);
		return abi_copy_to((uintptr_t)arg, &i, sizeof(i));
	}
	/* Report the size that the capabilities need. */
	i.info.argsz = sizeof(i);
	return abi_copy_to((uintptr_t)arg, &i, room < sizeof(i.info) ? room : sizeof(i.info));
}

static const char *
map_reason(int err)
{
	switch (err) {
	case -EEXIST:
		return "overlaps a mapping";
	case -EFAULT:
		return "no such memory";
	case -ENOSPC:
		return "too many mappings";
	case -ENOMEM:
		return "no memory";
	default:
		return "not whole pages, outside the usable ranges, or no right";
	}
}

static int
map_dma(struct abi_vfio_container *c, void *arg)
{
	static const char call[] = "VFIO_IOMMU_MAP_DMA";
	struct vfio_iommu_type1_dma_map map;
	int ret = abi_vfio_in(&map, arg, MIN_OF(vfio_iommu_type1_dma_map, size));

	if (ret != 0)
		return abi_vfio_refuse(c->dev, ret, call, "argsz");
	if ((map.flags & ~(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)) != 0)
		return abi_vfio_refuse(c->dev, -EINVAL, call, "flags 0x%x", map.flags);
	ret = emu_iommu_map(c->iommu, map.iova, (void *)(uintptr_t)map.vaddr, map.size, map.flags);
	if (ret == 0)
		return 0;
	return abi_vfio_refuse(c->dev, ret, call, "0x%" PRIx64 "+0x%" PRIx64 " at 0x%" PRIx64 ": %s",
			       (uint64_t)map.iova, (uint64_t)map.size, (uint64_t)map.vaddr,
			       map_reason(ret));
}

/* VFIO_DMA_UNMAP_FLAG_ALL: unmap the whole range. */
static int
unmap_all(struct abi_vfio_container *c, struct vfio_iommu_type1_dma_unmap *u)
{
	uint64_t bytes;
	int ret;

	if (u->iova != 0 || u->size != 0)
		return -EINVAL;
	ret = emu_iommu_unmap(c->iommu, 0, EMU_IOMMU_END, &bytes);
	u->size = bytes;
	return ret;
}

static int
unmap_dma(struct abi_vfio_container *c, void *arg)
{
	static const char call[] = "VFIO_IOMMU_UNMAP_DMA";
	struct vfio_iommu_type1_dma_unmap u;
	uint64_t bytes = 0;
	int ret = abi_vfio_in(&u, arg, MIN_OF(vfio_iommu_type1_dma_unmap, size));

	if (ret != 0)
		return abi_vfio_refuse(c->dev, ret, call, "argsz");
	if ((u.flags & ~(uint32_t)VFIO_DMA_UNMAP_FLAG_ALL) != 0)
		return abi_vfio_refuse(c->dev, -EINVAL, call, "flags 0x%x", u.flags);
	if (u.flags != 0) {
		ret = unmap_all(c, &u);
	} else {
		ret = emu_iommu_unmap(c->iommu, u.iova, u.size, &bytes);
		if (ret == 0)
			u.size = bytes;
	}
	if (ret != 0)
		return abi_vfio_refuse(c->dev, ret, call,
				       "0x%" PRIx64 "+0x%" PRIx64
				       ": not whole pages, or cuts a mapping in two",
				       (uint64_t)u.iova, (uint64_t)u.size);
	return abi_copy_to((uintptr_t)arg, &u, MIN_OF(vfio_iommu_type1_dma_unmap, size));
}

int
abi_vfio_iommu_ioctl(struct abi_vfio_container *c, unsigned long request, void *arg)
{
	switch (request) {
	case VFIO_IOMMU_GET_INFO:
		return get_info(c, arg);
	case VFIO_IOMMU_MAP_DMA:
		return map_dma(c, arg);
	case VFIO_IOMMU_UNMAP_DMA:
		return unmap_dma(c, arg);
	default:
		return abi_vfio_refuse(c->dev, -ENOTTY, "ioctl", "0x%lx of a container", request);
	}
}
