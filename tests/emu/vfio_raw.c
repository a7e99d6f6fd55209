/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * VFIO by its own ioctls, as the kernel's documentation and header have them: what is refused and
 * with which errno, and that a refusal changes nothing.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "vfio.h"

#define PAGE 4096u

/* The call fails with this errno. */
#define CHECK_ERRNO(call, want)                                                                    \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK_EQ((call), -1);                                                              \
		CHECK_EQ(errno, want);                                                             \
	} while (0)

/** Container, group and device of a port. */
struct raw {
	int container, group, device;
	uint8_t *memory; /* 16 pages */
};

static const char *
group_node(unsigned port)
{
	static char name[32];

	snprintf(name, sizeof(name), "/dev/vfio/%u", 40 + port);
	return name;
}

static void
nodes(unsigned port)
{
	struct stat st;

	CHECK_EQ(stat("/dev/vfio/vfio", &st), 0);
	CHECK(S_ISCHR(st.st_mode));
	CHECK_EQ(minor(st.st_rdev), 196);
	CHECK_EQ(stat(group_node(port), &st), 0);
	CHECK(S_ISCHR(st.st_mode));
	CHECK_ERRNO(open("/dev/vfio/39", O_RDWR), ENOENT);
	/* No entry point of the kernel's driver. */
	CHECK_ERRNO(open("/dev/infiniband/uverbs0", O_RDWR), ENOENT);
	CHECK_ERRNO(stat("/sys/class/infiniband/mlx5_0", &st), ENOENT);
}

static void
container_alone(struct raw *r)
{
	struct vfio_iommu_type1_info info = {.argsz = sizeof(info)};

	CHECK_EQ(ioctl(r->container, VFIO_GET_API_VERSION), VFIO_API_VERSION);
	CHECK_EQ(ioctl(r->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU), 1);
	CHECK_EQ(ioctl(r->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1_IOMMU), 1);
	CHECK_EQ(ioctl(r->container, VFIO_CHECK_EXTENSION, VFIO_SPAPR_TCE_IOMMU), 0);
	CHECK_EQ(ioctl(r->container, VFIO_CHECK_EXTENSION, VFIO_NOIOMMU_IOMMU), 0);
	/* Neither group nor IOMMU. */
	CHECK_ERRNO(ioctl(r->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), EINVAL);
	CHECK_ERRNO(ioctl(r->container, VFIO_IOMMU_GET_INFO, &info), EINVAL);
}

/* From another process too, and after the first has closed it not any more. */
static void
group_busy(struct raw *r, unsigned port)
{
	CHECK_ERRNO(open(group_node(port), O_RDWR), EBUSY);
	vfio_elsewhere("busy");
	CHECK_EQ(close(r->group), 0);
	r->group = open(group_node(port), O_RDWR | O_CLOEXEC);
	CHECK(r->group >= 0);
}

/* What the other process finds. */
void
case_vfio_busy(unsigned port)
{
	CHECK_ERRNO(open(group_node(port), O_RDWR), EBUSY);
}

static void
group_attach(struct raw *r, unsigned port)
{
	struct vfio_group_status s = {.argsz = sizeof(s)};
	int null = open("/dev/null", O_RDWR), none = -1;

	CHECK_EQ(ioctl(r->group, VFIO_GROUP_GET_STATUS, &s), 0);
	CHECK_EQ(s.flags, VFIO_GROUP_FLAGS_VIABLE);
	s.argsz = 4;
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_GET_STATUS, &s), EINVAL);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_UNSET_CONTAINER), EINVAL);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_GET_DEVICE_FD, vfio_address(port)), EINVAL);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_SET_CONTAINER, &none), EBADF);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_SET_CONTAINER, &null), EINVAL);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_SET_CONTAINER, &r->group), EINVAL);
	CHECK_EQ(ioctl(r->group, VFIO_GROUP_SET_CONTAINER, &r->container), 0);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_SET_CONTAINER, &r->container), EINVAL);
	s.argsz = sizeof(s);
	CHECK_EQ(ioctl(r->group, VFIO_GROUP_GET_STATUS, &s), 0);
	CHECK_EQ(s.flags, VFIO_GROUP_FLAGS_VIABLE | VFIO_GROUP_FLAGS_CONTAINER_SET);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_GET_DEVICE_FD, vfio_address(port)), EINVAL);
	CHECK_ERRNO(ioctl(r->group, 0x12345678, 0), ENOTTY);
	/* Out and in again, then with an IOMMU. */
	CHECK_EQ(ioctl(r->group, VFIO_GROUP_UNSET_CONTAINER), 0);
	CHECK_EQ(ioctl(r->group, VFIO_GROUP_SET_CONTAINER, &r->container), 0);
	CHECK_ERRNO(ioctl(r->container, VFIO_SET_IOMMU, VFIO_SPAPR_TCE_IOMMU), ENODEV);
	CHECK_EQ(ioctl(r->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), 0);
	CHECK_ERRNO(ioctl(r->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), EINVAL);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_GET_DEVICE_FD, "0000:00:00.0"), ENODEV);
	CHECK_ERRNO(ioctl(r->container, 0x12345678, 0), ENOTTY);
	close(null);
}

/* What /proc has of the descriptor, cut off or not. */
static void
device_link(int fd)
{
	char path[32], text[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(readlink(path, text, sizeof(text)), 24);
	CHECK_STR(text, "anon_inode:[vfio-device]");
	CHECK(readlink(path, text, 4) == 4);
}

static void
iommu_info(struct raw *r)
{
	union {
		struct vfio_iommu_type1_info info;
		uint8_t bytes[512];
	} u = {.info.argsz = sizeof(u.info)};
	const struct vfio_iommu_type1_info_cap_iova_range *range;
	uint32_t need;

	CHECK_EQ(ioctl(r->container, VFIO_IOMMU_GET_INFO, &u), 0);
	need = u.info.argsz;
	CHECK(need > sizeof(u.info) && need <= sizeof(u));
	CHECK((u.info.flags & VFIO_IOMMU_INFO_PGSIZES) != 0);
	CHECK((u.info.iova_pgsizes & PAGE) != 0);
	CHECK_EQ(ioctl(r->container, VFIO_IOMMU_GET_INFO, &u), 0);
	CHECK_EQ(u.info.argsz, need);
	range = (const void *)(u.bytes + u.info.cap_offset);
	CHECK_EQ(range->header.id, VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE);
	CHECK_EQ(range->nr_iovas, 2);
	CHECK_EQ(range->iova_ranges[0].end, 0xfedfffff);
	CHECK_EQ(range->iova_ranges[1].start, 0xfef00000);
	u.info.argsz = 8;
	CHECK_ERRNO(ioctl(r->container, VFIO_IOMMU_GET_INFO, &u), EINVAL);
}

static int
map(struct raw *r, uint64_t iova, uint64_t offset, uint64_t size, uint32_t flags)
{
	struct vfio_iommu_type1_dma_map m = {
		.argsz = sizeof(m), .flags = flags, .vaddr = (uintptr_t)r->memory + offset,
		.iova = iova, .size = size,
	};

	return ioctl(r->container, VFIO_IOMMU_MAP_DMA, &m);
}

/* Bytes taken away, or -1. */
static int64_t
unmap(struct raw *r, uint64_t iova, uint64_t size, uint32_t flags)
{
	struct vfio_iommu_type1_dma_unmap u = {
		.argsz = sizeof(u), .flags = flags, .iova = iova, .size = size,
	};

	return ioctl(r->container, VFIO_IOMMU_UNMAP_DMA, &u) == 0 ? (int64_t)u.size : -1;
}

static void
mappings(struct raw *r)
{
	const uint32_t rw = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
	const uint64_t at = 0x100000;

	CHECK_EQ(map(r, at, 0, 4 * PAGE, rw), 0);
	CHECK_ERRNO(map(r, at + 3 * PAGE, 8 * PAGE, 2 * PAGE, rw), EEXIST);
	CHECK_ERRNO(map(r, at - PAGE, 8 * PAGE, 2 * PAGE, rw), EEXIST);
	CHECK_ERRNO(map(r, at + 8 * PAGE + 1, 8 * PAGE, PAGE, rw), EINVAL);
	CHECK_ERRNO(map(r, at + 8 * PAGE, 8 * PAGE + 8, PAGE, rw), EINVAL);
	CHECK_ERRNO(map(r, at + 8 * PAGE, 8 * PAGE, 100, rw), EINVAL);
	CHECK_ERRNO(map(r, at + 8 * PAGE, 8 * PAGE, 0, rw), EINVAL);
	CHECK_ERRNO(map(r, at + 8 * PAGE, 8 * PAGE, PAGE, 0), EINVAL);
	CHECK_ERRNO(map(r, at + 8 * PAGE, 8 * PAGE, PAGE, rw | 0x80), EINVAL);
	/* The interrupts' range, beyond 48 bits, wrapping around, and memory that is not there. */
	CHECK_ERRNO(map(r, 0xfee00000, 8 * PAGE, PAGE, rw), EINVAL);
	CHECK_ERRNO(map(r, 1ull << 48, 8 * PAGE, PAGE, rw), EINVAL);
	CHECK_ERRNO(map(r, -(uint64_t)PAGE, 8 * PAGE, 2 * PAGE, rw), EINVAL);
	CHECK_ERRNO(map(r, at + 8 * PAGE, 64 * (uint64_t)(1u << 30), PAGE, rw), EFAULT);
	/* Not a part of a mapping; nothing; all that is inside. */
	CHECK_ERRNO(unmap(r, at, 2 * PAGE, 0), EINVAL);
	CHECK_ERRNO(unmap(r, at + PAGE, 4 * PAGE, 0), EINVAL);
	CHECK_ERRNO(unmap(r, at, 10, 0), EINVAL);
	CHECK_ERRNO(unmap(r, at, 4 * PAGE, 0x80), EINVAL);
	CHECK_EQ(unmap(r, at + 16 * PAGE, PAGE, 0), 0);
	CHECK_EQ(map(r, at + 6 * PAGE, 8 * PAGE, 2 * PAGE, VFIO_DMA_MAP_FLAG_READ), 0);
	CHECK_EQ(unmap(r, at - PAGE, 16 * PAGE, 0), 6 * PAGE);
	CHECK_EQ(map(r, at, 0, PAGE, rw), 0);
	CHECK_EQ(map(r, 0, PAGE, PAGE, rw), 0);
	CHECK_ERRNO(unmap(r, at, PAGE, VFIO_DMA_UNMAP_FLAG_ALL), EINVAL);
	CHECK_EQ(unmap(r, 0, 0, VFIO_DMA_UNMAP_FLAG_ALL), 2 * PAGE);
}

static void
device_info(struct raw *r)
{
	struct vfio_device_info info = {.argsz = sizeof(info)};
	struct vfio_region_info region = {.argsz = sizeof(region), .index = 0};
	struct vfio_irq_info irq = {.argsz = sizeof(irq), .index = VFIO_PCI_MSIX_IRQ_INDEX};
	uint8_t config[PAGE];

	CHECK_EQ(ioctl(r->device, VFIO_DEVICE_GET_INFO, &info), 0);
	CHECK_EQ(info.flags, VFIO_DEVICE_FLAGS_PCI);
	CHECK_EQ(info.num_regions, VFIO_PCI_NUM_REGIONS);
	CHECK_EQ(ioctl(r->device, VFIO_DEVICE_GET_REGION_INFO, &region), 0);
	CHECK_EQ(region.size, 32u << 20);
	CHECK((region.flags & VFIO_REGION_INFO_FLAG_MMAP) != 0);
	region.index = 1;
	CHECK_EQ(ioctl(r->device, VFIO_DEVICE_GET_REGION_INFO, &region), 0);
	CHECK_EQ(region.size, 0);
	region.index = VFIO_PCI_NUM_REGIONS;
	CHECK_ERRNO(ioctl(r->device, VFIO_DEVICE_GET_REGION_INFO, &region), EINVAL);
	region.index = VFIO_PCI_CONFIG_REGION_INDEX;
	CHECK_EQ(ioctl(r->device, VFIO_DEVICE_GET_REGION_INFO, &region), 0);
	CHECK_EQ(pread(r->device, config, sizeof(config), (off_t)region.offset), PAGE);
	CHECK_EQ(config[0] | config[1] << 8, 0x15b3);
	CHECK_ERRNO(pread(r->device, config, 4, (off_t)region.offset + PAGE), EINVAL);
	CHECK_EQ(pread(r->device, config, 8, (off_t)region.offset + PAGE - 4), 4);
	CHECK_EQ(ioctl(r->device, VFIO_DEVICE_GET_IRQ_INFO, &irq), 0);
	CHECK_EQ(irq.count, 32);
	CHECK((irq.flags & VFIO_IRQ_INFO_EVENTFD) != 0);
	irq.index = VFIO_PCI_NUM_IRQS;
	CHECK_ERRNO(ioctl(r->device, VFIO_DEVICE_GET_IRQ_INFO, &irq), EINVAL);
	CHECK_ERRNO(ioctl(r->device, VFIO_DEVICE_RESET), EINVAL);
	CHECK_ERRNO(ioctl(r->device, 0x12345678, 0), ENOTTY);
}

/** Room for vectors behind the header. */
union irqs {
	struct vfio_irq_set set;
	uint8_t bytes[sizeof(struct vfio_irq_set) + 40 * sizeof(int32_t)];
};

static int
irqs_set(struct raw *r, uint32_t flags, unsigned start, unsigned count, int fd)
{
	union irqs u = {.set = {.argsz = sizeof(u.set) + count * sizeof(int32_t), .flags = flags,
				.index = VFIO_PCI_MSIX_IRQ_INDEX, .start = start, .count = count}};
	int32_t *fds = (int32_t *)(u.bytes + sizeof(u.set));

	for (unsigned i = 0; i < count && i < 40; i++)
		fds[i] = fd;
	return ioctl(r->device, VFIO_DEVICE_SET_IRQS, &u);
}

static void
interrupts(struct raw *r)
{
	const uint32_t fds = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	const uint32_t now = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;
	int ev = eventfd(0, EFD_NONBLOCK), null = open("/dev/null", O_RDWR);
	uint64_t kicks = 0;

	/* Nothing is enabled. */
	CHECK_ERRNO(irqs_set(r, now, 0, 1, 0), EINVAL);
	CHECK_ERRNO(irqs_set(r, fds, 0, 33, -1), EINVAL);
	CHECK_ERRNO(irqs_set(r, fds, 32, 1, -1), EINVAL);
	CHECK_ERRNO(irqs_set(r, fds | VFIO_IRQ_SET_DATA_BOOL, 0, 1, -1), EINVAL);
	CHECK_ERRNO(irqs_set(r, fds | 0x100, 0, 1, -1), EINVAL);
	CHECK_ERRNO(irqs_set(r, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK, 0, 1, 0), ENOTTY);
	CHECK_ERRNO(irqs_set(r, fds, 0, 1, null), EINVAL);
	CHECK_ERRNO(irqs_set(r, fds, 0, 1, 1000), EBADF);
	/* The first call returns the number. */
	CHECK_EQ(irqs_set(r, fds, 0, 4, -1), 0);
	CHECK_ERRNO(irqs_set(r, fds, 4, 1, ev), EINVAL);
	CHECK_EQ(irqs_set(r, fds, 3, 1, ev), 0);
	CHECK_EQ(irqs_set(r, now, 0, 4, 0), 0);
	CHECK_EQ(read(ev, &kicks, sizeof(kicks)), 8);
	CHECK_EQ(kicks, 1);
	CHECK_EQ(irqs_set(r, fds, 3, 1, -1), 0);
	CHECK_EQ(irqs_set(r, now, 3, 1, 0), 0);
	CHECK_ERRNO(read(ev, &kicks, sizeof(kicks)), EAGAIN);
	/* Off, and on with all. */
	CHECK_EQ(irqs_set(r, now, 0, 0, 0), 0);
	CHECK_ERRNO(irqs_set(r, now, 0, 0, 0), EINVAL);
	CHECK_EQ(irqs_set(r, fds, 0, 32, ev), 0);
	CHECK_EQ(irqs_set(r, now, 0, 32, 0), 0);
	CHECK_EQ(read(ev, &kicks, sizeof(kicks)), 8);
	CHECK_EQ(kicks, 32);
	close(null);
	close(ev);
}

/* The thread that increments the health counter reads the doorbell before, each time. */
static void
bell_seen(const volatile uint32_t *b)
{
	for (unsigned ticks = 0; ticks < 2; ticks++) {
		uint32_t before = b[0x1010 / 4];

		(void)AWAIT(b[0x1010 / 4] != before, 5000);
	}
}

/* Stores that cannot be: outside of BAR 0, and into what is only to be read. */
static void
bar(struct raw *r)
{
	volatile uint32_t *b;

	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, r->device, 0) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	CHECK(mmap(NULL, 64u << 20, PROT_READ, MAP_SHARED, r->device, 0) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, r->device, 7ll << 40) == MAP_FAILED);
	CHECK_EQ(errno, EINVAL);
	b = mmap(NULL, 32u << 20, PROT_READ | PROT_WRITE, MAP_SHARED, r->device, 0);
	CHECK(b != MAP_FAILED);
	if (b == MAP_FAILED)
		return;
	CHECK_EQ(ntohl(b[1]) >> 16, 5);
	CHECK_EQ(ntohl(b[5]) & 0xff, 0x56);
	b[1] = 0;
	CHECK_EQ(ntohl(b[1]) >> 16, 5);
	b[4] = htonl(0x11);
	b[5] = htonl(0x22222333);
	CHECK_EQ(ntohl(b[4]), 0x11);
	CHECK_EQ(ntohl(b[5]), 0x22222356);
	/* No doorbell page yet; and a command queue that is not mapped. */
	b[0x10000 / 4] = 1;
	CHECK_EQ(b[0x10000 / 4], 0);
	b[6] = htonl(1);
	bell_seen(b);
	CHECK_EQ(munmap((void *)(uintptr_t)b, 32u << 20), 0);
}

static void
end(struct raw *r, unsigned port)
{
	int second = ioctl(r->group, VFIO_GROUP_GET_DEVICE_FD, vfio_address(port));

	CHECK(second >= 0);
	CHECK_EQ(close(r->device), 0);
	CHECK_ERRNO(ioctl(r->group, VFIO_GROUP_UNSET_CONTAINER), EBUSY);
	/* The device keeps its group, the group its container. */
	CHECK_EQ(close(r->group), 0);
	CHECK_ERRNO(open(group_node(port), O_RDWR), EBUSY);
	CHECK_EQ(close(r->container), 0);
	r->device = second;
	interrupts(r);
	CHECK_EQ(close(second), 0);
	r->group = open(group_node(port), O_RDWR);
	CHECK(r->group >= 0);
	CHECK_EQ(close(r->group), 0);
}

void
case_vfio_raw(unsigned port)
{
	struct raw r = {0};

	nodes(port);
	r.memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	r.container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	r.group = open(group_node(port), O_RDWR | O_CLOEXEC);
	CHECK(r.memory != MAP_FAILED && r.container >= 0 && r.group >= 0);
	container_alone(&r);
	group_busy(&r, port);
	group_attach(&r, port);
	iommu_info(&r);
	mappings(&r);
	r.device = ioctl(r.group, VFIO_GROUP_GET_DEVICE_FD, vfio_address(port));
	CHECK(r.device >= 0);
	device_link(r.device);
	device_info(&r);
	bar(&r);
	interrupts(&r);
	/* What the first open has set up is still there for the second descriptor. */
	CHECK_EQ(irqs_set(&r, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 0, 0), 0);
	end(&r, port);
	munmap(r.memory, 16 * PAGE);
}

/* Unmap the command queue's page while the device uses it: a kernel pins it, the emulator reports it. */
void
case_vfio_lost(unsigned port)
{
	struct raw r = {0};
	volatile uint32_t *b;
	const uint16_t master = 6;

	r.memory = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	r.container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	r.group = open(group_node(port), O_RDWR | O_CLOEXEC);
	CHECK_EQ(ioctl(r.group, VFIO_GROUP_SET_CONTAINER, &r.container), 0);
	CHECK_EQ(ioctl(r.container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), 0);
	r.device = ioctl(r.group, VFIO_GROUP_GET_DEVICE_FD, vfio_address(port));
	b = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, r.device, 0);
	CHECK(b != MAP_FAILED);
	if (b == MAP_FAILED)
		return;
	CHECK_EQ(map(&r, 0x5000, 0, PAGE, VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE), 0);
	b[5] = htonl(0x5000);
	/* Bus mastering is off: nothing is reached yet. */
	b[6] = htonl(1);
	bell_seen(b);
	CHECK_EQ(pwrite(r.device, &master, sizeof(master), (7ll << 40) + 4), 2);
	CHECK_EQ(munmap(r.memory, 16 * PAGE), 0);
	b[6] = htonl(1);
	bell_seen(b);
	CHECK_EQ(unmap(&r, 0x5000, PAGE, 0), PAGE);
	CHECK_EQ(munmap((void *)(uintptr_t)b, 2 * PAGE), 0);
	CHECK_EQ(close(r.device), 0);
	CHECK_EQ(close(r.group), 0);
	CHECK_EQ(close(r.container), 0);
}

/* The request eventfd signals the removal; registers read as ones afterwards. */
void
case_vfio_request(unsigned port)
{
	static const uint32_t index[2] = {VFIO_PCI_ERR_IRQ_INDEX, VFIO_PCI_REQ_IRQ_INDEX};
	const char *mlxemu = getenv("MLXEMU");
	struct raw r = {.container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC)};
	char line[512];
	uint64_t kicks;
	uint32_t word = 0;
	int ev[2];

	r.group = open(group_node(port), O_RDWR | O_CLOEXEC);
	CHECK_EQ(ioctl(r.group, VFIO_GROUP_SET_CONTAINER, &r.container), 0);
	CHECK_EQ(ioctl(r.container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), 0);
	r.device = ioctl(r.group, VFIO_GROUP_GET_DEVICE_FD, vfio_address(port));
	for (unsigned i = 0; i < 2; i++) {
		union irqs u = {.set = {.argsz = sizeof(u.set) + 4, .index = index[i], .count = 1,
					.flags = VFIO_IRQ_SET_DATA_EVENTFD |
						 VFIO_IRQ_SET_ACTION_TRIGGER}};

		ev[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		memcpy(u.bytes + sizeof(u.set), &ev[i], sizeof(ev[i]));
		CHECK_EQ(ioctl(r.device, VFIO_DEVICE_SET_IRQS, &u), 0);
	}
	CHECK_EQ(pread(r.device, &word, sizeof(word), 0x230), 4);
	CHECK(word != 0xffffffff);
	snprintf(line, sizeof(line), "exec %s ctl remove >/dev/null",
		 mlxemu != NULL ? mlxemu : "mlxemu");
	CHECK_EQ(system(line), 0);
	for (unsigned i = 0; i < 2; i++) {
		CHECK_EQ(read(ev[i], &kicks, sizeof(kicks)), 8);
		CHECK_EQ(close(ev[i]), 0);
	}
	CHECK_EQ(pread(r.device, &word, sizeof(word), 0x230), 4);
	CHECK_EQ(word, 0xffffffff);
	CHECK_ERRNO(open(group_node(port), O_RDWR), ENOENT);
	CHECK_EQ(close(r.device), 0);
	CHECK_EQ(close(r.group), 0);
	CHECK_EQ(close(r.container), 0);
}
