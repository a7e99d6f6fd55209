/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The recorder: lanes, records by several threads while it is written, and where files are written. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_byteorder.h>

#include "mdv_test.h"

static struct mdv_recorder ring;
static struct mdv_dev dev = { .name = "0000:c1:00.0", .ibdev_name = "mlx5_0", .recorder = &ring };
static struct mdv_recorder_owner owner = { .driver = "driver", .port_id = 5 };
static char folder[] = "/tmp/mlxrecorder.XXXXXX";

/** A file in memory. */
static struct {
	struct mdv_recorder_head head;
	struct mdv_record records[MDV_RECORDS_MAX];
} file;

static void
file_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW);
	struct stat st = { 0 };

	memset(&file, 0, sizeof(file));
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0600, "%s", path);
	CHECK_EQ(read(fd, &file, sizeof(file)), st.st_size);
	CHECK_EQ((size_t)st.st_size, sizeof(file.head) + file.head.records * sizeof(file.records[0]));
	close(fd);
}

/* Writes the ring to a new file and reads it. */
static void
taken(void)
{
	char path[64], written[MDV_RECORDER_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/taken", folder);
	(void)unlink(path);
	CHECK_EQ(mdv_recorder_write(&dev, MDV_RECORDER_REQUEST, &owner, path, written), 0);
	CHECK(strcmp(written, path) == 0);
	file_read(path);
}

static unsigned int
count(uint8_t kind, uint16_t op)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < file.head.records; i++)
		n += file.records[i].kind == kind && file.records[i].op == op;
	return n;
}

/* ------------------------------------------------------------------ lanes */

static void
command(uint16_t opcode, uint8_t status, int err, bool quiet)
{
	uint32_t in[16] = { rte_cpu_to_be_32((uint32_t)opcode << 16) }, out[16] = { 0 };

	in[2] = rte_cpu_to_be_32(0x41);
	out[2] = rte_cpu_to_be_32(0x42);
	out[0] = rte_cpu_to_be_32((uint32_t)status << 24);
	out[1] = rte_cpu_to_be_32(status != 0 ? 0x2a3d5c : 0);
	mdv_record_mailboxes(&dev, in, sizeof(in), out, err, quiet, mdv_now_ns());
}

static void
test_lanes(void)
{
	const struct mdv_record *r;

	memset(&ring, 0, sizeof(ring));
	command(PRM_CMD_OP_CREATE_SQ, PRM_STATUS_NO_RESOURCES, 0, false);
	command(PRM_CMD_OP_CREATE_SQ, 0, 0, false);
	command(PRM_CMD_OP_CREATE_CQ, 0, ENODEV, false);
	for (unsigned int i = 0; i < 300; i++) {
		command(PRM_CMD_OP_QUERY_SQ, 0, 0, false);
		command(PRM_CMD_OP_QUERY_RQ, PRM_STATUS_BAD_RES, 0, true);
		/* A query that is refused again and again counts as an event once. */
		command(PRM_CMD_OP_QUERY_Q_COUNTER, PRM_STATUS_BAD_RES, 0, false);
	}
	taken();
	CHECK(file.head.magic == MDV_RECORDER_MAGIC && file.head.version == MDV_RECORDER_VERSION &&
	      file.head.port_id == 5 && strcmp(file.head.device, "0000:c1:00.0") == 0 &&
	      strcmp(file.head.driver, "driver") == 0);
	CHECK(file.head.noted[MDV_LANE_QUERIES] == 899 && file.head.noted[MDV_LANE_COMMANDS] == 1 &&
	      file.head.noted[MDV_LANE_EVENTS] == 3);
	CHECK_EQ(file.head.records, 128 + 1 + 3);
	CHECK(count(MDV_RECORD_COMMAND, PRM_CMD_OP_CREATE_SQ) == 2 &&
	      count(MDV_RECORD_COMMAND_ERRNO, PRM_CMD_OP_CREATE_CQ) == 1);
	for (r = file.records; r < file.records + file.head.records; r++) {
		if (r->op == PRM_CMD_OP_CREATE_SQ)
			CHECK(r->object == (r->status == 0 ? 0x42 : 0) && r->value == (r->status == 0 ? 0 : 0x2a3d5c));
		CHECK(r->op != PRM_CMD_OP_QUERY_RQ || ((r->flags & MDV_RECORD_QUIET) != 0 && r->object == 0x41));
	}
	/* What fails because the device was removed does not displace why. */
	dev.removed = true;
	for (unsigned int i = 0; i < 300; i++) {
		command(PRM_CMD_OP_DESTROY_CQ, 0, ENODEV, false);
		mdv_record_call(&dev, "MDV_RUN(dev, __ibv_reg_mr(pd))", EIO);
	}
	dev.removed = false;
	taken();
	CHECK(count(MDV_RECORD_COMMAND, PRM_CMD_OP_CREATE_SQ) == 1 && file.head.noted[MDV_LANE_EVENTS] == 3);
	CHECK_EQ(count(MDV_RECORD_CALL, 3), 64);
	CHECK(strcmp(mdv_call_name(3), "ibv_reg_mr") == 0 && strcmp(mdv_call_name(9999), "a call") == 0);
}

/** The longer of two names of calls is not taken for the shorter one. */
static void
test_calls(void)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{ "mlx5dv_create_flow(m, v)", "mlx5dv_create_flow" },
		{ "__mlx5dv_create_flow(m, v)", "mlx5dv_create_flow" },
		{ "mlx5dv_create_flow_matcher(c, a)", "mlx5dv_create_flow_matcher" }, { "ibv_frob(c)", "a call" },
	};

	memset(&ring, 0, sizeof(ring));
	for (unsigned int i = 0; i < RTE_DIM(rows); i++)
		mdv_record_call(&dev, rows[i].text, EPERM);
	taken();
	CHECK_EQ(file.head.records, RTE_DIM(rows));
	for (unsigned int i = 0; i < file.head.records; i++)
		CHECK(strcmp(mdv_call_name(file.records[i].op), rows[i].name) == 0, "%s", rows[i].text);
}

/* ------------------------------------------------------------------ threads */

#define THREADS 4
static bool stop;

static void *
writer(void *arg)
{
	uint32_t n = (uint32_t)(uintptr_t)arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		n += THREADS;
		mdv_record_lane(&dev, MDV_LANE_EVENTS,
				(struct mdv_record){ .kind = MDV_RECORD_DROPS, .time_ns = n, .object = n, .value = ~n,
						     .duration_ns = n, .op = (uint16_t)n, .arg = (uint16_t)n });
	}
	return NULL;
}

/** Each record in a file is one that was added, in whole. */
static void
test_threads(void)
{
	unsigned int torn = 0, files;
	pthread_t thread[THREADS];

	memset(&ring, 0, sizeof(ring));
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, writer, (void *)i), 0);
	/* On a busy host the threads may start late. */
	for (files = 0; files < 200 || __atomic_load_n(&ring.noted[MDV_LANE_EVENTS], __ATOMIC_RELAXED) < 256; files++) {
		taken();
		for (const struct mdv_record *r = file.records; r < file.records + file.head.records; r++)
			torn += r->kind != MDV_RECORD_DROPS || r->time_ns != r->object || r->value != ~r->object ||
				r->duration_ns != r->object || r->op != (uint16_t)r->object || r->arg != r->op;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(torn, 0);
	taken();
	CHECK_EQ(file.head.records, 256);
}

/* ------------------------------------------------------------------ files */

static unsigned int
files_count(uint32_t *pids)
{
	char path[128];
	unsigned int n = 0;

	*pids = 0;
	for (unsigned int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "%s/recorder-0000:c1:00.0-%u", folder, i);
		if (access(path, F_OK) != 0)
			continue;
		file_read(path);
		n++;
		*pids |= 1u << file.head.port_id;
		(void)unlink(path);
	}
	return n;
}

/* As if the file, or link, had been written at that time. */
static void
written_at(const char *path, time_t seconds)
{
	const struct timespec times[] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

	CHECK_EQ(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void
test_files(void)
{
	char path[64], target[64], written[MDV_RECORDER_PATH_BYTES];
	uint32_t ports;

	snprintf(path, sizeof(path), "%s/taken", folder);
	snprintf(target, sizeof(target), "%s/target", folder);
	taken();
	CHECK_EQ(mdv_recorder_write(&dev, MDV_RECORDER_REQUEST, &owner, path, written), -EEXIST);
	/* A link is neither followed nor replaced. */
	CHECK(unlink(path) == 0 && symlink(target, path) == 0);
	CHECK_EQ(mdv_recorder_write(&dev, MDV_RECORDER_REQUEST, &owner, path, written), -EEXIST);
	CHECK(access(target, F_OK) != 0 && unlink(path) == 0);
	CHECK_EQ(mdv_recorder_write(&dev, MDV_RECORDER_REQUEST, &owner, "/nonexistent/file", written), -ENOENT);
	/* Of a device so many files are kept: the oldest ones are replaced. A link among them is not followed. */
	snprintf(path, sizeof(path), "%s/recorder-0000:c1:00.0-1", folder);
	CHECK(symlink(target, path) == 0);
	written_at(path, 0);
	for (uint16_t port = 0; port < 7; port++) {
		owner.port_id = port;
		CHECK_EQ(mdv_recorder_write(&dev, MDV_RECORDER_DEVICE, &owner, NULL, written), 0);
		CHECK(strncmp(written, folder, strlen(folder)) == 0);
		written_at(written, 1000 + port);
	}
	CHECK(access(target, F_OK) != 0, "a link was followed");
	CHECK_EQ(files_count(&ports), MDV_RECORDER_FILES);
	CHECK(ports == 0x78, "0x%x", ports);
	CHECK_EQ(chmod(folder, 0777), 0);
	log_begin();
	CHECK_EQ(mdv_recorder_write(&dev, MDV_RECORDER_DEVICE, &owner, NULL, written), -EACCES);
	CHECK_EQ(lines_of(log_end()), 1);
	CHECK_EQ(chmod(folder, 0700), 0);
}

void
test_recorder(void)
{
	char path[64];

	CHECK(mkdtemp(folder) != NULL);
	setenv("MLXPMD_FWDUMP_DIR", folder, 1);
	test_lanes();
	test_calls();
	test_threads();
	test_files();
	/* Without a recorder nothing is recorded. */
	dev.recorder = NULL;
	command(PRM_CMD_OP_CREATE_SQ, 0, 0, false);
	snprintf(path, sizeof(path), "%s/taken", folder);
	(void)unlink(path);
	CHECK_EQ(rmdir(folder), 0);
}
