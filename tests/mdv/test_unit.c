/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Functions that need no device: checks of replies, limits, merging, clock windows, an absent device. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_byteorder.h>

#include <mdv_mr.h>
#include <mdv_rule.h>
#include <mdv_vfio.h>

#include "mdv_test.h"

static struct mdv_dev fake = {
	.name = "0000:c1:00.0",
};

/* ------------------------------------------------------------------ replies */

static void
fill_reply(struct prm_create_sq_out *out, uint8_t status, uint32_t syndrome)
{
	memset(out, 0, sizeof(*out));
	prm_create_sq_out_set_status(out, status);
	prm_create_sq_out_set_syndrome(out, syndrome);
}

static void
fill_create_sq(struct prm_create_sq_in *in)
{
	memset(in, 0, sizeof(*in));
	prm_create_sq_in_set_opcode(in, PRM_CMD_OP_CREATE_SQ);
	prm_sqc_set_cqn(prm_create_sq_in_ctx(in), 0x41);
}

/** The complete log line of a refusal. */
static void
test_refusal_line(void)
{
	struct prm_create_sq_in in;
	struct prm_create_sq_out out;
	const char *text;
	int ret;

	fill_create_sq(&in);
	fill_reply(&out, PRM_STATUS_BAD_RES_STATE, 0x2a3d5c);
	fake.refused = 0;
	log_begin();
	ret = mdv_cmd_result(&fake, &in, sizeof(in), &out, EREMOTEIO, false, 0);
	text = log_end();
	CHECK_EQ(ret, -EINVAL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(fake.refused, 1);
	CHECK(strcmp(text, "mlx5dv: 0000:c1:00.0: CREATE_SQ (0x904) refused: BAD_RES_STATE "
			   "(0x09), syndrome 0x2a3d5c, cqn 0x41 -> EINVAL\n") == 0);
}

/** Each status has the errno that Linux returns for it; status 99 does not exist. */
static void
test_status_errno(void)
{
	static const struct {
		uint8_t status;
		int err;
	} row[] = {
		{ PRM_STATUS_INTERNAL_ERR, EIO }, { PRM_STATUS_BAD_OP, EINVAL },
		{ PRM_STATUS_BAD_PARAM, EINVAL }, { PRM_STATUS_BAD_SYS_STATE, EIO },
		{ PRM_STATUS_BAD_RES, EINVAL }, { PRM_STATUS_RESOURCE_BUSY, EBUSY },
		{ PRM_STATUS_EXCEED_LIM, ENOMEM }, { PRM_STATUS_BAD_RES_STATE, EINVAL },
		{ PRM_STATUS_BAD_INDEX, EINVAL }, { PRM_STATUS_NO_RESOURCES, EAGAIN },
		{ PRM_STATUS_BAD_INPUT_LEN, EIO }, { PRM_STATUS_BAD_OUTPUT_LEN, EIO }, { 0x99, EIO },
	};
	struct prm_create_sq_in in;
	struct prm_create_sq_out out;

	fill_create_sq(&in);
	for (size_t i = 0; i < RTE_DIM(row); i++) {
		fill_reply(&out, row[i].status, 1);
		/* Kernels of different versions: EREMOTEIO, an errno of their own, none. */
		CHECK_EQ(mdv_cmd_result(&fake, &in, sizeof(in), &out, EREMOTEIO, true, 0), -row[i].err);
		CHECK_EQ(mdv_cmd_result(&fake, &in, sizeof(in), &out, EFAULT, true, 0), -row[i].err);
		CHECK_EQ(mdv_cmd_result(&fake, &in, sizeof(in), &out, 0, true, 0), -row[i].err);
	}
}

static void
test_kernel_refusal(void)
{
	struct prm_create_sq_in in;
	struct prm_create_sq_out out;
	const char *text;

	fill_create_sq(&in);
	fill_reply(&out, PRM_STATUS_OK, 0);
	CHECK_EQ(mdv_cmd_result(&fake, &in, sizeof(in), &out, 0, false, 0), 0);
	log_begin();
	CHECK_EQ(mdv_cmd_result(&fake, &in, sizeof(in), &out, ENODEV, false, 0), -ENODEV);
	text = log_end();
	CHECK_EQ(lines_of(text), 1);
	CHECK_EQ(lines_with(text, "CREATE_SQ (0x904) failed without a status of the device, "
				  "cqn 0x41 -> ENODEV"), 1);
}

static void
test_quiet_refusal(void)
{
	struct prm_create_sq_in in;
	struct prm_create_sq_out out;
	uint64_t before = fake.refused;

	fill_create_sq(&in);
	fill_reply(&out, PRM_STATUS_BAD_OP, 7);
	log_begin();
	CHECK_EQ(mdv_cmd_result(&fake, &in, sizeof(in), &out, EREMOTEIO, true, 0), -EINVAL);
	CHECK_EQ(lines_of(log_end()), 0);
	CHECK_EQ(fake.refused, before);
}

/** The line of a mailbox full of numbers ends after 159 characters of them: the last one lacks a digit. */
static void
test_long_refusal(void)
{
	struct prm_modify_rq_in in;
	struct prm_create_sq_out out;
	const char *text;

	memset(&in, 0xff, sizeof(in));
	prm_modify_rq_in_set_opcode(&in, PRM_CMD_OP_MODIFY_RQ);
	fill_reply(&out, PRM_STATUS_BAD_PARAM, 0xffffffff);
	log_begin();
	mdv_cmd_result(&fake, &in, sizeof(in), &out, EREMOTEIO, false, 0);
	text = log_end();
	CHECK(strcmp(text, "mlx5dv: 0000:c1:00.0: MODIFY_RQ (0x909) refused: BAD_PARAM (0x03), syndrome 0xffffffff, "
			   "op_mod 0xffff, rq_state 0xf, rqn 0xffffff, state 0xf, cqn 0xffffff, counter_set_id 0xff, "
			   "pd 0xffffff, uar_page 0xffffff, log_wq_sz 0x1f, wq_umem_id 0xfffffff -> EINVAL\n") == 0,
	      "%s", text);
	/* A state has a name. */
	prm_modify_rq_in_set_rq_state(&in, PRM_RQC_STATE_ERR);
	log_begin();
	mdv_cmd_result(&fake, &in, sizeof(in), &out, EREMOTEIO, false, 0);
	CHECK_EQ(lines_with(log_end(), ", op_mod 0xffff, rq_state ERR, rqn 0xffffff"), 1);
}

/** The errno of a call: of those that own the function (VFIO) it is ENODEV once the device was removed. */
static void
test_run_errno(void)
{
	static const struct {
		bool exclusive, removed;
		int ret, err;
	} row[] = {
		{ false, false, 0, 0 },	     { false, false, EINVAL, EINVAL }, { false, false, -EINVAL, EINVAL },
		{ false, true, EIO, EIO },   { true, false, EIO, EIO },	       { true, true, EIO, ENODEV },
		{ true, true, 0, 0 },	     { true, true, -1, ENODEV },       { true, false, -1, EACCES },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		const struct mdv_backend backend = { .exclusive = row[i].exclusive };
		struct mdv_dev dev = { .backend = &backend, .removed = row[i].removed };

		errno = EACCES;
		CHECK_EQ(mdv_run_errno(&dev, row[i].ret), row[i].err);
	}
	errno = 0;
	CHECK_EQ(mdv_positive_errno(-1), EIO);
}

/** A command is not interrupted by a signal, but by a fault of the program; the mask is restored. */
static void
test_signals(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	struct mdv_backend backend = { .exclusive = true };
	struct mdv_dev dev = { .backend = &backend };
	sigset_t before, was, now;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	mdv_run_begin(&dev, &was);
	CHECK_EQ(dev.calls_begun, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (size_t i = 0; i < RTE_DIM(faults); i++)
		CHECK(!sigismember(&now, faults[i]), "signal %d", faults[i]);
	CHECK(sigismember(&now, SIGALRM) && sigismember(&now, SIGINT) && sigismember(&now, SIGTERM));
	errno = EACCES;
	mdv_run_end(&dev, &was);
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(dev.calls_ended, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	CHECK(!sigismember(&now, SIGALRM) && sigismember(&now, SIGINT) == sigismember(&before, SIGINT));
	/* Of a removed device every error is ENODEV. */
	dev.removed = true;
	mdv_run_begin(&dev, &was);
	mdv_run_end(&dev, &was);
	CHECK_EQ(errno, ENODEV);
	/* The kernel interrupts the commands of its users itself. */
	backend.exclusive = false;
	mdv_run_begin(&dev, &was);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	CHECK(!sigismember(&now, SIGALRM));
	errno = EACCES;
	mdv_run_end(&dev, &was);
	CHECK_EQ(errno, EACCES);
	CHECK(dev.calls_begun == 2 && dev.calls_ended == 2);
}

/* ------------------------------------------------------------------ limits */

static void
test_cap_limits(void)
{
	static const struct mdv_cap_limit limit = { "log_max_cq_sz", 6, 22 };
	static const struct {
		uint32_t reported, taken;
		int ret;
		unsigned int lines;
	} row[] = {
		{ 0, 0, -ENOTSUP, 1 }, { 5, 5, -ENOTSUP, 1 }, { 6, 6, 0, 0 }, { 22, 22, 0, 0 },
		{ 31, 22, 0, 1 }, { 255, 22, 0, 1 },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		uint32_t value = row[i].reported;
		const char *text;

		log_begin();
		CHECK_EQ(mdv_cap_check(fake.name, &limit, &value), row[i].ret);
		text = log_end();
		CHECK_EQ(value, row[i].taken);
		CHECK_EQ(lines_of(text), row[i].lines);
		CHECK_EQ(lines_with(text, "log_max_cq_sz"), row[i].lines);
	}
}

/** Any state but 0 is a bond; other fields of the reply do not matter. */
static void
test_lag(void)
{
	struct prm_query_lag_out out;

	for (unsigned int state = 0; state <= 7; state++) {
		const char *text;
		int ret;

		memset(&out, 0xff, sizeof(out));
		prm_lagc_set_lag_state(prm_query_lag_out_ctx(&out), state);
		log_begin();
		ret = mdv_lag_reply_check(fake.name, &out);
		text = log_end();
		CHECK_EQ(ret, state == 0 ? 0 : -ENOTSUP);
		CHECK_EQ(lines_of(text), state != 0);
		CHECK_EQ(lines_with(text, "mlx5dv: 0000:c1:00.0: the port is bonded with another of its "
					  "card, bonded ports are not supported: take its interface "
					  "out of the bond"), state != 0);
	}
	/* Position in the mailbox: bits 2..0 of the third dword, big-endian (PRM: LAGC). */
	memset(&out, 0, sizeof(out));
	((uint8_t *)&out)[11] = 1;
	log_begin();
	CHECK_EQ(mdv_lag_reply_check(fake.name, &out), -ENOTSUP);
	CHECK_EQ(lines_of(log_end()), 1);
	/* Without the capability no command is issued; it would fail, because there is no device behind fake. */
	fake.caps.num_lag_ports = 0;
	CHECK_EQ(mdv_lag_check(&fake), 0);
}

/** Doorbell record and doorbell of an arming (PRM, CQ doorbell): two bits of number, command 0, 24 bits of index. */
static void
test_arm(void)
{
	static uint64_t page[4096 / sizeof(uint64_t)];
	struct mlx5dv_devx_uar uar = { .base_addr = page };
	struct mdv_dev dev = { .uar = &uar };
	struct mdv_obj obj = { .dev = &dev };
	uint32_t dbrec[2] = { 0 }, word = 0;
	struct mdv_cq cq = { .obj = &obj, .dbrec = dbrec, .cqn = 0x123456 };

	for (uint32_t i = 1; i < 10; i++) {
		CHECK(mdv_cq_arm(&cq, 0xff000000 | i));
		word = (i % 4) << 28 | i;
		CHECK_EQ(rte_be_to_cpu_32(dbrec[1]), word);
		CHECK_EQ(rte_be_to_cpu_64(page[0x20 / sizeof(page[0])]), (uint64_t)word << 32 | 0x123456);
	}
	/* Without an event the number stays; after one it is incremented. */
	CHECK(!mdv_cq_arm(&cq, 9));
	CHECK_EQ(rte_be_to_cpu_32(dbrec[1]), word);
	cq.arm_event = true;
	CHECK(mdv_cq_arm(&cq, 9));
	CHECK_EQ(rte_be_to_cpu_32(dbrec[1]), 2u << 28 | 9);
	CHECK(!cq.arm_event);
	CHECK_EQ(dbrec[0], 0);
}

/* ------------------------------------------------------------------ removal */

/** Results of the health check, one after the other, and what the backend knows about DMA. */
static struct {
	int err[2];
	unsigned int checks;
	bool event, folder_removed;
} health;

static int
health_check(struct mdv_dev *dev)
{
	RTE_SET_USED(dev);
	return health.err[health.checks++ % 2];
}

static uint32_t
events_take(struct mdv_dev *dev)
{
	if (health.event)
		mdv_quiesced_set(dev);
	return 0;
}

static bool
quiesced(struct mdv_dev *dev)
{
	RTE_SET_USED(dev);
	return health.folder_removed;
}

static const struct mdv_backend watched = {
	.health_check = health_check, .events_take = events_take, .quiesced = quiesced,
};

/** Two errors of a removal in a row make a device removed; those of a fatal error, failed. */
static void
test_alive(void)
{
	static const struct {
		int err[2];
		unsigned int checks;
		bool removed, failed;
	} row[] = {
		{ { 0, EIO }, 1, false, false },	 { { EINVAL, EIO }, 1, false, false },
		{ { EIO, 0 }, 2, false, false },	 { { EIO, EINVAL }, 2, false, false },
		{ { EIO, EIO }, 2, true, false },	 { { ENODEV, EIO }, 2, true, false },
		{ { EIO, ENODEV }, 2, true, false },	 { { ENOLINK, ENOLINK }, 2, true, true },
		{ { EIO, ENXIO }, 2, true, true },	 { { ENXIO, EIO }, 2, true, false },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		struct mdv_dev dev = { .backend = &watched, .suspect = true };

		memset(&health, 0, sizeof(health));
		memcpy(health.err, row[i].err, sizeof(health.err));
		log_begin();
		CHECK_EQ(mdv_alive(&dev), !row[i].removed);
		CHECK_EQ(lines_with(log_end(), "fatal error: the kernel resets the device"), row[i].failed);
		CHECK(mdv_removed(&dev) == row[i].removed && dev.failed == row[i].failed, "row %zu", i);
		CHECK(!mdv_suspect(&dev));
		CHECK_EQ(health.checks, row[i].checks);
		/* A removed device is not checked again. */
		CHECK_EQ(mdv_alive(&dev), !row[i].removed);
		CHECK(!row[i].removed || health.checks == 2);
	}
}

/** Errors after which the device is checked. */
static void
test_suspect(void)
{
	static const struct {
		int err;
		bool suspect;
	} row[] = {
		{ 0, false }, { EINVAL, false }, { EIO, true }, { ENODEV, true }, { ENOLINK, true }, { ENXIO, true },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		struct mdv_dev dev = { .backend = &watched };

		mdv_suspect_if(&dev, row[i].err);
		CHECK(mdv_suspect(&dev) == row[i].suspect, "errno %d", row[i].err);
	}
}

/** A device that works is not waited for; a removed one is quiesced by its event, or when its folder is removed. */
static void
test_quiesce(void)
{
	static const struct {
		bool removed, suspect, event, folder_removed, want;
	} row[] = {
		{ false, false, true, true, false }, { true, false, true, false, true },
		{ true, false, false, true, true },  { false, true, true, false, true },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		struct mdv_dev dev = { .backend = &watched, .removed = row[i].removed, .suspect = row[i].suspect };

		memset(&health, 0, sizeof(health));
		health.err[0] = health.err[1] = row[i].suspect ? EIO : 0;
		health.event = row[i].event;
		health.folder_removed = row[i].folder_removed;
		CHECK(mdv_quiesce_wait(&dev) == row[i].want, "row %zu", i);
		CHECK_EQ(mdv_quiesced(&dev), row[i].want);
		CHECK(!mdv_memory_kept(&dev));
		/* Memory of a destroyed object may be reused, unless the destruction only seemed to succeed. */
		CHECK(mdv_may_release(&dev, 0), "row %zu", i);
		CHECK(mdv_may_release(&dev, EINVAL) == row[i].want, "row %zu", i);
	}
}

static void
test_transitions(void)
{
	static const enum mdv_queue_state state[] = { MDV_QS_RST, MDV_QS_RDY, MDV_QS_ERR };
	static const bool permitted[3][3] = {
		/* to: RST    RDY    ERR */
		{ false, true, false },
		{ true, false, true },
		{ true, false, false },
	};

	for (int from = 0; from < 3; from++) {
		for (int to = 0; to < 3; to++) {
			int ret;

			log_begin();
			ret = mdv_wq_transition(&fake, "SQ", 7, state[from], state[to]);
			CHECK_EQ(lines_of(log_end()), permitted[from][to] ? 0 : 1);
			CHECK_EQ(ret, permitted[from][to] ? 0 : -EINVAL);
		}
	}
}

static void
test_clock_window(void)
{
	struct mdv_clock_point p = { .mask = (1ull << 41) - 1, .mult = 1, .shift = 0 };

	/* With mult 1 the mask is the limit. */
	CHECK_EQ(mdv_clock_window(&p), p.mask / 2);
	/* 156.25 MHz, 6.4 ns per cycle, with the shift of kernels since 6.7: overflows after 34.4 s. */
	p.mult = 3435973837u;
	p.shift = 29;
	CHECK_EQ(mdv_clock_window(&p), UINT64_MAX / p.mult);
	CHECK(mdv_clock_window(&p) < 35ull * 156250000);
	CHECK(mdv_clock_window(&p) > 34ull * 156250000);
	/* The fraction counts: the last cycle that fits, and the first that does not. */
	p.frac = UINT64_MAX / 2;
	CHECK(mdv_clock_window(&p) * p.mult <= UINT64_MAX - p.frac);
	CHECK((mdv_clock_window(&p) + 1) > (UINT64_MAX - p.frac) / p.mult);
}

/* ------------------------------------------------------------------ memory */

static void
test_merge(void)
{
	struct mr_chunk c[] = {
		{ 0x40000, 0x41000, 0x1000 }, /* separate */
		{ 0x10000, 0x12000, 0x1000 },
		{ 0x12000, 0x14000, 0x1000 }, /* adjacent to the previous one */
		{ 0x14800, 0x14900, 0x1000 }, /* same page as the end, after a gap */
		{ 0x15000, 0x15080, 0x1000 }, /* page after one that is not full */
		{ 0x17000, 0x17001, 0x1000 }, /* next page but one */
	};
	unsigned int n = mdv_mr_chunks_merge(c, RTE_DIM(c));

	CHECK_EQ(n, 3);
	CHECK_EQ(c[0].start, 0x10000);
	CHECK_EQ(c[0].end, 0x15080);
	CHECK_EQ(c[1].start, 0x17000);
	CHECK_EQ(c[1].end, 0x17001);
	CHECK_EQ(c[2].start, 0x40000);
	CHECK_EQ(mdv_mr_chunks_merge(c, 0), 0);
	CHECK_EQ(mdv_mr_chunks_merge(c, 1), 1);
}

/** A chunk inside another one must not shorten it. */
static void
test_merge_contained(void)
{
	struct mr_chunk c[] = {
		{ 0x200000, 0x600000, 0x200000 },
		{ 0x300000, 0x301000, 0x1000 },
	};

	CHECK_EQ(mdv_mr_chunks_merge(c, 2), 1);
	CHECK_EQ(c[0].start, 0x200000);
	CHECK_EQ(c[0].end, 0x600000);
}

/* ------------------------------------------------------------------ sysfs, absence */

static void
test_uevent(void)
{
	char path[] = "/tmp/mdv_uevent_XXXXXX", value[16];
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	REQUIRE(file != NULL);
	fprintf(file, "DRIVER=mlx5_core\nPCI_SLOT_NAME_NOT=x\nPCI_SLOT_NAME=0000:c1:00.0\n"
		      "LONG=0123456789012345678901234567890\n");
	fclose(file);
	CHECK_EQ(mdv_uevent_read(path, "PCI_SLOT_NAME", value, sizeof(value)), 0);
	CHECK(strcmp(value, "0000:c1:00.0") == 0);
	CHECK_EQ(mdv_uevent_read(path, "LONG", value, sizeof(value)), 0);
	CHECK_EQ(strlen(value), sizeof(value) - 1);
	CHECK_EQ(mdv_uevent_read(path, "NONE", value, sizeof(value)), -ENOENT);
	unlink(path);
	CHECK_EQ(mdv_uevent_read(path, "DRIVER", value, sizeof(value)), -ENOENT);
}

/** An address without a device: one line. */
static void
test_absent(void)
{
	const struct rte_pci_addr pci = { .domain = 0xfffe, .bus = 0xfe, .devid = 0x1f,
					  .function = 7 };
	struct mdv_dev *dev = &fake;
	const char *text;

	log_begin();
	/* Standard input is closed, so that descriptor 0 is taken and given back. */
	close(STDIN_FILENO);
	CHECK_EQ(mdv_open(&pci, MDV_OPEN_VERBS, &dev), -ENODEV);
	CHECK_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
	text = log_end();
	CHECK(dev == NULL);
	CHECK_EQ(rte_errno, ENODEV);
	CHECK_EQ(lines_of(text), 1);
	CHECK_EQ(lines_with(text, "mlx5dv: fffe:fe:1f.7: no RDMA device at this PCI address"), 1);
	mdv_close(NULL);
}

/** Names that are no device on either bus: one line each. */
static void
test_names(void)
{
	static const struct {
		const char *name, *line;
		enum mdv_open_mode mode;
		int ret;
	} row[] = {
		{ "mlx5_core.sf.4095", ": no such sub-function: /sys/bus/auxiliary/devices/mlx5_core.sf.4095/..: ENOENT",
		  MDV_OPEN_VERBS, -ENODEV },
		{ "mlx5_core.sf.4095", ": a sub-function cannot be opened through VFIO", MDV_OPEN_VFIO, -ENOTSUP },
		{ "mlx5_core.eth.0", ": neither a PCI address nor a sub-function mlx5_core.sf.N", MDV_OPEN_VERBS, -EINVAL },
	};

	for (size_t i = 0; i < RTE_DIM(row); i++) {
		struct mdv_dev *dev = &fake;
		char line[128];
		const char *text;

		snprintf(line, sizeof(line), "mlx5dv: %s%s", row[i].name, row[i].line);
		log_begin();
		CHECK_EQ(mdv_open_device(row[i].name, row[i].mode, NULL, &dev), row[i].ret);
		text = log_end();
		CHECK(dev == NULL);
		CHECK_EQ(rte_errno, -row[i].ret);
		CHECK_EQ(lines_of(text), 1);
		CHECK_EQ(lines_with(text, line), 1);
	}
}

static void
test_zeroed_destructors(void)
{
	struct mdv_cq cq = { 0 };
	struct mdv_sq sq = { 0 };
	struct mdv_rq rq = { 0 };

	mdv_cq_destroy(&cq);
	mdv_wq_destroy(&sq.wq);
	mdv_wq_destroy(&rq.wq);
	CHECK_EQ(mdv_obj_destroy(NULL), 0);
	CHECK_EQ(mdv_rule_destroy(NULL), 0);
}

/** Each counter is at the offset of the layout, and each name is in a layout. */
static void
test_counter_table(void)
{
	CHECK_EQ(mdv_counters_unknown(), 0);
}

/** What the registers of the initialization segment say about the device. */
static void
test_fatal_registers(void)
{
	struct prm_initial_seg seg = { 0 };
	struct prm_health_buffer *health = prm_initial_seg_health_buffer(&seg);
	struct mdv_vfio vfio = { .seg = &seg };
	struct mdv_dev dev = { .vfio = &vfio };

	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_NONE);
	/* A removed device answers reads by all ones; a register alone may have this value. */
	seg.dw[0] = UINT32_MAX;
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_NONE);
	seg.dw[1] = UINT32_MAX;
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_NO_RESPONSE);
	CHECK(mdv_vfio_quiesced(&dev));
	seg.dw[0] = 0;
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_NONE);
	seg.dw[1] = 0;
	/* The health buffer counts if firmware has set both request for reset and syndrome. */
	prm_health_buffer_set_fw_version(health, UINT32_MAX);
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_HEALTH_BUFFER);
	prm_health_buffer_set_fw_version(health, UINT32_MAX - 1);
	prm_health_buffer_set_rfr(health, 1);
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_NONE);
	prm_health_buffer_set_synd(health, PRM_HEALTH_SYND_ASYNC_EQ_OVERRUN_ERR);
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_EQ_OVERRUN);
	prm_health_buffer_set_synd(health, 1);
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_FIRMWARE);
	prm_health_buffer_set_rfr(health, 0);
	/* mlx5_get_nic_state() of Linux: bits 10..8 of this dword; 1 and 7 are disabled and in reset. */
	for (uint32_t state = 0; state < 16; state++) {
		seg.dw[PRM_INITIAL_SEG_NIC_INTERFACE_DW] = rte_cpu_to_be_32(state << 8 | 0xfffff0ff);
		CHECK_EQ(mdv_vfio_fatal_reason(&dev) == MDV_FATAL_DISABLED, state % 8 == 1 || state % 8 == 7);
	}
	vfio.seg = NULL;
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_NONE);
	dev.vfio = NULL;
	CHECK_EQ(mdv_vfio_fatal_reason(&dev), MDV_FATAL_NONE);
}

int
main(void)
{
	test_fatal_registers();
	test_counter_table();
	test_refusal_line();
	test_status_errno();
	test_kernel_refusal();
	test_quiet_refusal();
	test_long_refusal();
	test_run_errno();
	test_signals();
	test_cap_limits();
	test_caps();
	test_lag();
	test_arm();
	test_match();
	test_recorder();
	test_alive();
	test_suspect();
	test_quiesce();
	test_transitions();
	test_clock_window();
	test_merge();
	test_merge_contained();
	test_uevent();
	CHECK(test_eal());
	test_absent();
	test_names();
	test_zeroed_destructors();
	return check_exit("unit");
}
