/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Each way to store into BAR 0 that a compiler or a library may take. The upper half of the
 * command queue's address is a register that keeps what is written. And the ways to load the
 * counter, which is another one each time.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vfio_store.h"

#define BAR_BYTES (32u << 20)

volatile uint32_t *vfio_store_bar;

/* What the register holds, in the program's order. */
uint32_t
vfio_store_held(void)
{
	return ntohl(vfio_store_bar[CMDQ_HI]);
}

/* The present value, for any time between two loads. */
static void
counter_moves(void)
{
	const volatile uint64_t *timer = (const volatile uint64_t *)&vfio_store_bar[TIMER_HI];
	uint64_t last = be64toh(*timer), now;

	for (unsigned i = 0; i < 1000; i++) {
		now = be64toh(*timer);
		CHECK(now > last);
		last = now;
	}
}

/* An instruction that is not known: from then on the page is memory, which still moves. */
static void
odd_load(void)
{
	const volatile uint64_t *timer = (const volatile uint64_t *)&vfio_store_bar[TIMER_HI];
	uint64_t first, sum = 1;

#ifdef __x86_64__
	__asm__ volatile("addq (%1), %0" : "+r"(sum) : "r"(timer) : "memory");
#else
	uint64_t loaded;

	__asm__ volatile("ldxr %0, [%1]" : "=r"(loaded) : "r"(timer) : "memory");
	sum += loaded;
#endif
	CHECK(sum != 1);
	first = *timer;
	AWAIT_CERTAIN(*timer != first);
	CHECK(be64toh(*timer) > be64toh(first));
}

void
case_vfio_stores(unsigned port)
{
	int container = open("/dev/vfio/vfio", O_RDWR), group, device;
	char node[32];

	snprintf(node, sizeof(node), "/dev/vfio/%u", 40 + port);
	group = open(node, O_RDWR);
	CHECK_EQ(ioctl(group, VFIO_GROUP_SET_CONTAINER, &container), 0);
	CHECK_EQ(ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), 0);
	device = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, vfio_address(port));
	/* As DPDK's bus does (pci_rte_vfio_setup_device()); it expects EINVAL, which is no violation. */
	CHECK_EQ(ioctl(device, VFIO_DEVICE_RESET), -1);
	CHECK_EQ(errno, EINVAL);
	vfio_store_bar = mmap(NULL, BAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
	CHECK(vfio_store_bar != MAP_FAILED);
	if (vfio_store_bar == MAP_FAILED)
		return;
	vfio_store_words(0x12345678);
	vfio_store_wide(0x9abcdef0);
	vfio_store_loads();
	counter_moves();
	odd_load();
	CHECK_EQ(munmap((void *)(uintptr_t)vfio_store_bar, BAR_BYTES), 0);
	CHECK_EQ(close(device), 0);
	CHECK_EQ(close(group), 0);
	CHECK_EQ(close(container), 0);
}
