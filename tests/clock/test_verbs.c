/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Readings through rdma-core, the device's registers and the host's clocks: what they return, and each way to fail. */

#include <errno.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include <mdv_private.h>

#include "sim.h"

#define MASK ((1ull << MDV_CLOCK_BITS) - 1)
/* From internal_timer_h to real_time_h (PRM, initialization segment). */
#define REAL_TIME_AT 0x40

/** What the functions below return. */
static struct {
	unsigned int calls, busy; /**< Of mlx5dv_get_clock_info(); so many of them are busy. */
	int page_ret, counter_ret;
	struct mlx5dv_clock_info info;
	bool no_host_clock;
	int timex_ret, timex_status, tai;
	uint32_t registers[(REAL_TIME_AT + 8) / 4];
	bool unmapped;
} fake;

int __wrap_mlx5dv_get_clock_info(struct ibv_context *ctx, struct mlx5dv_clock_info *info);
int __wrap_adjtimex(struct timex *t);
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

int
__wrap_mlx5dv_get_clock_info(struct ibv_context *ctx, struct mlx5dv_clock_info *info)
{
	(void)ctx;
	/* A call that fails may have written something. */
	*info = fake.info;
	return ++fake.calls <= fake.busy ? EBUSY : fake.page_ret;
}

int
__wrap_adjtimex(struct timex *t)
{
	CHECK(t->modes == 0);
	t->status = fake.timex_status;
	t->tai = fake.tai;
	return fake.timex_ret;
}

int
__wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	if (fake.no_host_clock && id == CLOCK_REALTIME) {
		errno = EPERM;
		return -1;
	}
	return __real_clock_gettime(id, ts);
}

static int
counter_read(struct mdv_dev *dev, uint64_t *cycles)
{
	(void)dev;
	*cycles = (rte_rdtsc() >> 4) & MASK;
	return fake.counter_ret;
}

static const volatile void *
core_clock_map(struct mdv_dev *dev)
{
	(void)dev;
	return fake.unmapped ? NULL : fake.registers;
}

static const struct mdv_backend backend = { .counter = counter_read, .core_clock = core_clock_map };

/* A device whose counter is a sixteenth of the TSC. */
static void
device_init(struct mdv_dev *dev)
{
	struct timespec now;

	memset(&fake, 0, sizeof(fake));
	memset(dev, 0, sizeof(*dev));
	dev->backend = &backend;
	dev->caps.ts_free_running = true;
	dev->caps.ts_realtime = true;
	dev->caps.device_frequency_khz = (uint32_t)(rte_get_tsc_hz() / 16000);
	__real_clock_gettime(CLOCK_REALTIME, &now);
	fake.info = (struct mlx5dv_clock_info){
		.nsec = (uint64_t)now.tv_sec * MDV_NS_PER_S + (uint64_t)now.tv_nsec, .mask = MASK, .shift = 24,
		.last_cycles = (rte_rdtsc() >> 4) & MASK, .frac = 12345,
		.mult = (uint32_t)((16.0 * MDV_NS_PER_S / rte_get_tsc_hz()) * (1 << 24)),
	};
}

/** The page is read up to four times while it is busy; and what it must contain. */
static void
test_page_read(void)
{
	static const struct {
		unsigned int busy;
		int page_ret;
		uint32_t mult, shift;
		uint64_t mask;
		int ret;
		unsigned int calls;
	} rows[] = {
		{ 0, 0, 7, 20, MASK, 0, 1 }, { 3, 0, 7, 20, MASK, 0, 4 }, { 4, 0, 7, 20, MASK, -EAGAIN, 4 },
		{ 0, EINVAL, 7, 20, MASK, -ENOTSUP, 1 }, { 2, EINVAL, 7, 20, MASK, -ENOTSUP, 3 },
		{ 0, 0, 0, 20, MASK, -ENOTSUP, 1 }, { 0, 0, 1, 20, MASK, 0, 1 }, { 0, 0, 7, 63, MASK, 0, 1 },
		{ 0, 0, 7, 64, MASK, -ENOTSUP, 1 }, { 0, 0, 7, 20, 0, -ENOTSUP, 1 }, { 0, 0, 7, 20, 1, 0, 1 },
		{ 0, 0, 7, 20, MASK - 1, -ENOTSUP, 1 }, { 0, 0, 7, 20, UINT64_MAX, 0, 1 },
	};
	struct mdv_clock_point point;
	struct mdv_dev dev;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		device_init(&dev);
		fake.busy = rows[i].busy;
		fake.page_ret = rows[i].page_ret;
		fake.info.mult = rows[i].mult;
		fake.info.shift = rows[i].shift;
		fake.info.mask = rows[i].mask;
		memset(&point, 0x55, sizeof(point));
		rte_errno = 0;
		CHECK(mdv_clock_read(&dev, &point) == rows[i].ret && rte_errno == -rows[i].ret, "row %u", i);
		CHECK(fake.calls == rows[i].calls, "row %u: %u calls", i, fake.calls);
		if (rows[i].ret != 0)
			continue;
		CHECK(point.ns == fake.info.nsec && point.cycles == fake.info.last_cycles);
		CHECK(point.frac == fake.info.frac);
		CHECK(point.mult == rows[i].mult && point.shift == rows[i].shift && point.mask == rows[i].mask);
		CHECK(point.window_cycles == RTE_MIN((UINT64_MAX - point.frac) / point.mult, point.mask / 2));
	}
}

/** Opens a source and refreshes it, until a busy machine lets readings be taken. */
static int
opened(struct mdv_dev *dev, enum mdv_clock_source source, struct mdv_clock_state *state)
{
	struct mdv_clock *clock;
	char why[200];
	int ret = -EAGAIN;

	for (int i = 0; i < 1000 && (ret == -EAGAIN || ret == -ERANGE || ret == -ENODATA); i++)
		ret = mdv_clock_open(dev, source, &clock, why, sizeof(why));
	if (ret != 0)
		return ret;
	for (int i = 0; i < 1000; i++) {
		ret = mdv_clock_refresh(clock, state);
		if (ret == 0 && (state->offset_ns != 0 || source != MDV_CLOCK_PAGE))
			break;
	}
	mdv_clock_close(clock);
	return ret;
}

static void
test_removed(void)
{
	struct mdv_clock_state state;
	struct mdv_dev dev;
	uint64_t cycles;

	device_init(&dev);
	CHECK(mdv_clock_raw(&dev, &cycles) == 0);
	fake.counter_ret = EIO;
	CHECK(mdv_clock_raw(&dev, &cycles) == -EIO && rte_errno == EIO);
	CHECK(opened(&dev, MDV_CLOCK_HOST, &state) == -EIO);
	fake.counter_ret = 0;
	dev.removed = true;
	CHECK(opened(&dev, MDV_CLOCK_HOST, &state) == -ENODEV);
	CHECK(opened(&dev, MDV_CLOCK_PAGE, &state) == -ENODEV && fake.calls == 0);
	dev.removed = false;
	fake.no_host_clock = true;
	CHECK(opened(&dev, MDV_CLOCK_HOST, &state) == -EPERM);
}

/** Whether CLOCK_REALTIME is synchronised (adjtimex(2)). */
static void
test_synced(void)
{
	static const struct {
		int ret, status;
		enum mdv_clock_quality quality;
	} rows[] = {
		{ TIME_OK, 0, MDV_CLOCK_GOOD }, { TIME_INS, STA_PLL, MDV_CLOCK_GOOD }, { TIME_WAIT, 0, MDV_CLOCK_GOOD },
		{ TIME_ERROR, 0, MDV_CLOCK_UNSYNCED }, { TIME_OK, STA_UNSYNC, MDV_CLOCK_UNSYNCED },
		{ TIME_OK, STA_UNSYNC | STA_PLL, MDV_CLOCK_UNSYNCED }, { -1, 0, MDV_CLOCK_UNSYNCED },
	};
	struct mdv_clock_state state;
	struct mdv_dev dev;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		device_init(&dev);
		fake.timex_ret = rows[i].ret;
		fake.timex_status = rows[i].status;
		CHECK(opened(&dev, MDV_CLOCK_HOST, &state) == 0 && state.quality == rows[i].quality, "row %u", i);
		CHECK(!dev.clock_real_time);
	}
}

/** A page in TAI: by the kernel's offset, and by the one since 2017 if the kernel has none or no answer. */
static void
test_tai(void)
{
	static const struct {
		int ret, tai;
		unsigned int page_s;
		const char *epoch;
	} rows[] = {
		{ 0, 38, 38, "tai" }, { 0, 38, 37, "device" }, { 0, 0, 37, "tai" }, { -1, 38, 37, "tai" }, { 0, 38, 0, "utc" },
	};
	struct mdv_clock_state state;
	struct mdv_dev dev;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		device_init(&dev);
		fake.timex_ret = rows[i].ret;
		fake.tai = rows[i].tai;
		fake.info.nsec += (uint64_t)rows[i].page_s * MDV_NS_PER_S;
		CHECK(opened(&dev, MDV_CLOCK_PAGE, &state) == 0);
		CHECK_STR(state.epoch, rows[i].epoch);
	}
}

/**
 * The real-time clock's registers. They do not change here: a time that can be read is no reading, and that is counted;
 * of one that cannot be read there is nothing to count.
 */
static void
test_registers(void)
{
	static const struct {
		uint32_t s, ns;
		bool unmapped, removed, readable;
	} rows[] = {
		{ 1, 5, false, false, true }, { 1700000000, 999999999, false, false, true },
		{ 1700000000, 1000000000, false, false, false }, { 0, 5, false, false, false },
		{ 1, 5, true, false, false }, { 1, 5, false, true, false },
	};
	struct mdv_clock_state state;
	struct mdv_clock *clock;
	struct mdv_dev dev;
	char why[200];

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		device_init(&dev);
		fake.counter_ret = EIO;
		fake.unmapped = rows[i].unmapped;
		dev.removed = rows[i].removed;
		fake.registers[REAL_TIME_AT / 4] = rte_cpu_to_be_32(rows[i].s);
		fake.registers[REAL_TIME_AT / 4 + 1] = rte_cpu_to_be_32(rows[i].ns);
		CHECK(mdv_clock_open(&dev, MDV_CLOCK_REALTIME, &clock, why, sizeof(why)) == 0 && dev.clock_real_time);
		CHECK(mdv_clock_refresh(clock, &state) == 0 && (state.rejected != 0) == rows[i].readable, "row %u", i);
		mdv_clock_close(clock);
		/* Queues use the format of the clock that is open. */
		CHECK(mdv_clock_open(&dev, MDV_CLOCK_RAW, &clock, why, sizeof(why)) == 0 && !dev.clock_real_time);
		mdv_clock_close(clock);
	}
	dev.clock_real_time = true;
	fake.page_ret = EINVAL;
	CHECK(mdv_clock_open(&dev, MDV_CLOCK_PAGE, &clock, why, sizeof(why)) != 0 && !dev.clock_real_time);
}

void
test_verbs(void)
{
	char *eal[] = { (char[]){ "clock" }, (char[]){ "--no-huge" }, (char[]){ "--no-pci" }, (char[]){ "--no-telemetry" },
			(char[]){ "--no-shconf" }, (char[]){ "-m64" }, (char[]){ "--iova-mode=va" },
			(char[]){ "--log-level=error" } };

	REQUIRE(rte_eal_init(RTE_DIM(eal), eal) >= 0);
	test_page_read();
	test_removed();
	test_synced();
	test_tai();
	test_registers();
	rte_eal_cleanup();
}
