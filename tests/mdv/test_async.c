/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Asynchronous queries, through the common layer and through the calls of the library.
 *
 * mdv_async all       replies of a device without faults, except that the first QUERY_TIS takes 700 ms
 * mdv_async many      11,565 queries (PMD_TEST_LONG: 100,230), all issued before the first reply
 * mdv_async library   return values of the library; the emulator's audit lists the refused calls
 * mdv_async refused   the device refuses the first QUERY_Q_COUNTER
 * mdv_async lost      the event of the first reply is lost
 * mdv_async nomem     the kernel has no memory for the first asynchronous query
 * mdv_async removal   the device is removed by the first QUERY_CQ
 */

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>

#include <mdv_async.h>

#include "../pmd/emu_ctl.h"
#include "mdv_test.h"

#define OUT_BYTES sizeof(struct prm_query_q_counter_out)
#define REPLY_BYTES MDV_ASYNC_REPLY_BYTES(OUT_BYTES)
/* Queries per channel in test_many(). */
#define CQ_BYTES sizeof(struct prm_query_cq_out)
#define PER_CHANNEL (MDV_ASYNC_OUTBOXES_BYTES / CQ_BYTES)
/* Number of channels: 100,230 queries in flight with PMD_TEST_LONG, fewer without. */
#define CHANNELS 26
#define CHANNELS_SHORT 3
/* Queries with which many_query_us() measures the time per query. */
#define TRIAL 500
#define ATTEMPTS 5
/* Number of CQs, so that replies differ. */
#define CQS 8
#define WAIT_MS 60000

static uint64_t buf[(64 * 1024) / 8];

static bool
readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN) != 0;
}

static void
query_fill(const struct mdv_obj *counter, struct prm_query_q_counter_in *in)
{
	memset(in, 0, sizeof(*in));
	prm_query_q_counter_in_set_opcode(in, PRM_CMD_OP_QUERY_Q_COUNTER);
	prm_query_q_counter_in_set_counter_set_id(in, counter->id);
}

static int
query_issue(struct mdv_async *async, struct mdv_obj *counter, uint64_t wr_id)
{
	struct prm_query_q_counter_in in;

	query_fill(counter, &in);
	return mdv_async_query(async, counter, &in, sizeof(in), OUT_BYTES, wr_id);
}

/* ------------------------------------------------------------------ the common layer */

static void
test_one(struct mdv_dev *dev)
{
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	struct mdv_async_reply reply;
	struct mdv_async *async;

	REQUIRE(counter != NULL);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), -EAGAIN);
	CHECK(!readable(mdv_async_fd(async), 0));
	CHECK_EQ(query_issue(async, counter, UINT64_MAX), 0);
	CHECK_EQ(mdv_async_outstanding(async), 1);
	CHECK(readable(mdv_async_fd(async), WAIT_MS));
	/* A buffer that is too small does not lose the reply; one of the exact size is sufficient. */
	CHECK_EQ(mdv_async_take(async, buf, 8, &reply), -EINVAL);
	CHECK_EQ(mdv_async_take(async, buf, REPLY_BYTES - 1, &reply), -ENOSPC);
	CHECK(readable(mdv_async_fd(async), 0));
	CHECK_EQ(mdv_async_take(async, buf, REPLY_BYTES, &reply), 0);
	CHECK(reply.wr_id == UINT64_MAX);
	CHECK_EQ(reply.rc, 0);
	CHECK_EQ(reply.out_bytes, OUT_BYTES);
	CHECK(reply.out == &buf[1]);
	CHECK(!readable(mdv_async_fd(async), 0));
	CHECK_EQ(mdv_async_outstanding(async), 0);
	/* The object is destroyed before the reply is taken. */
	CHECK_EQ(query_issue(async, counter, 5), 0);
	CHECK_EQ(mdv_obj_destroy(counter), 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), 0);
	CHECK_EQ(reply.wr_id, 5);
	mdv_async_close(async);
	mdv_async_close(NULL);
}

/** Of one query at a time, any number takes the memory of the first one. */
static void
test_series(struct mdv_dev *dev)
{
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	struct mallinfo2 before = { 0 }, after;
	struct mdv_async_reply reply;
	struct mdv_async *async;

	REQUIRE(counter != NULL);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	for (unsigned int i = 0; i <= 1000; i++) {
		REQUIRE(query_issue(async, counter, i) == 0);
		REQUIRE(readable(mdv_async_fd(async), WAIT_MS));
		REQUIRE(mdv_async_take(async, buf, sizeof(buf), &reply) == 0);
		CHECK_EQ(reply.wr_id, i);
		if (i == 0)
			before = mallinfo2();
	}
	after = mallinfo2();
	CHECK(after.uordblks < before.uordblks + 16384, "%zu bytes, then %zu", before.uordblks, after.uordblks);
	mdv_async_close(async);
	mdv_obj_destroy(counter);
}

/** Each call is refused by the common layer with one log line, and nothing stays outstanding. */
static void
test_misuse(struct mdv_dev *dev)
{
	struct mdv_obj *a = mdv_q_counter_create(dev), *b = mdv_q_counter_create(dev);
	struct prm_query_q_counter_in in, other;
	struct mdv_async *async;
	const char *text;

	REQUIRE(a != NULL && b != NULL);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	query_fill(a, &in);
	query_fill(b, &other);
	log_begin();
	CHECK_EQ(mdv_async_query(async, a, &in, sizeof(in), 15, 1), -EINVAL);
	CHECK_EQ(mdv_async_query(async, a, &in, sizeof(in), 65536, 1), -EINVAL);
	CHECK_EQ(mdv_async_query(async, a, &in, sizeof(in) - 1, OUT_BYTES, 1), -EINVAL);
	CHECK_EQ(mdv_async_query(async, a, &other, sizeof(other), OUT_BYTES, 1), -EINVAL);
	prm_query_q_counter_in_set_opcode(&in, PRM_CMD_OP_DEALLOC_Q_COUNTER);
	CHECK_EQ(mdv_async_query(async, a, &in, sizeof(in), OUT_BYTES, 1), -EINVAL);
	text = log_end();
	CHECK_EQ(lines_of(text), 5);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(mdv_async_outstanding(async), 0);
	mdv_async_close(async);
	mdv_obj_destroy(a);
	mdv_obj_destroy(b);
}

static int
query_cq(struct mdv_async *async, struct mdv_cq *cq, uint64_t wr_id)
{
	struct prm_query_cq_in in = { 0 };

	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_CQ);
	prm_query_cq_in_set_cqn(&in, cq->cqn);
	return mdv_async_query(async, cq->obj, &in, sizeof(in), CQ_BYTES, wr_id);
}

/** The device's reply to a synchronous query of a CQ. */
static void
cq_query_wait(struct mdv_cq *cq, struct prm_query_cq_out *out)
{
	struct prm_query_cq_in in = { 0 };

	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_CQ);
	prm_query_cq_in_set_cqn(&in, cq->cqn);
	CHECK_EQ(mdv_obj_query(cq->obj, &in, sizeof(in), out, sizeof(*out)), 0);
}

/** Index of the CQ that the i-th query of a channel reads. */
static unsigned int
cq_of(uint64_t i, unsigned int channel)
{
	return (unsigned int)(i * 5 + i / CQS + channel) % CQS;
}

static unsigned int
many_query(struct mdv_async **async, unsigned int channels, struct mdv_cq *cqs)
{
	unsigned int sent = 0;

	for (uint64_t i = 0; i < PER_CHANNEL; i++)
		for (unsigned int c = 0; c < channels; c++)
			sent += query_cq(async[c], &cqs[cq_of(i, c)], i << 8 | c) == 0;
	return sent;
}

/** Estimates the time in microseconds that n queries take to issue, from a few of them. */
static uint64_t
many_query_us(struct mdv_dev *dev, struct mdv_cq *cq, unsigned int n)
{
	struct mdv_async *async;
	uint64_t begin_us;

	CHECK_EQ(mdv_async_open(dev, &async), 0);
	CHECK_EQ(emu_fault("on cmd.entry match op=QUERY_CQ do delay us=1000000"), 0);
	begin_us = now_us();
	for (unsigned int i = 0; i < TRIAL; i++)
		CHECK_EQ(query_cq(async, cq, i), 0);
	begin_us = now_us() - begin_us;
	emu_fault_clear();
	mdv_async_close(async);
	return begin_us * n / TRIAL;
}

/** Each reply is the next one of its channel, and equal to the synchronous reply for that CQ. */
static unsigned int
many_take(struct mdv_async **async, unsigned int channels, const struct prm_query_cq_out *expected)
{
	unsigned int taken = 0, misplaced = 0, wrong = 0;
	struct mdv_async_reply reply;
	int rc;

	for (uint64_t i = 0; i < PER_CHANNEL; i++)
		for (unsigned int c = 0; c < channels; c++) {
			rc = mdv_async_take(async[c], buf, MDV_ASYNC_REPLY_BYTES(CQ_BYTES), &reply);
			if (rc == -EAGAIN && readable(mdv_async_fd(async[c]), WAIT_MS))
				rc = mdv_async_take(async[c], buf, MDV_ASYNC_REPLY_BYTES(CQ_BYTES), &reply);
			if (rc != 0)
				continue;
			taken++;
			misplaced += reply.wr_id != (i << 8 | c);
			wrong += reply.rc != 0 || reply.out_bytes != CQ_BYTES ||
				 memcmp(reply.out, &expected[cq_of(i, c)], CQ_BYTES) != 0;
		}
	CHECK_EQ(misplaced, 0);
	CHECK_EQ(wrong, 0);
	return taken;
}

/** Issues all queries before the first reply. @return false: it took longer than the delay of the replies. */
static bool
many_round(struct mdv_async **async, unsigned int channels, struct mdv_cq *cqs, const struct prm_query_cq_out *expected,
	   uint64_t late_us)
{
	uint64_t begin_us = now_us(), us;
	unsigned int sent, early = 0;

	CHECK_EQ(emu_fault("on cmd.entry match op=QUERY_CQ do delay us=%" PRIu64, late_us), 0);
	sent = many_query(async, channels, cqs);
	CHECK_EQ(sent, channels * PER_CHANNEL);
	log_begin();
	for (unsigned int c = 0; c < channels; c++) {
		CHECK_EQ(mdv_async_outstanding(async[c]), PER_CHANNEL);
		CHECK_EQ(query_cq(async[c], &cqs[0], 0), -EAGAIN);
	}
	CHECK_EQ(lines_of(log_end()), 0);
	/* Replies arrive in order: without the first there is none. */
	for (unsigned int c = 0; c < channels; c++)
		early += readable(mdv_async_fd(async[c]), 0);
	us = now_us() - begin_us;
	emu_fault_clear();
	/* No reply is early. */
	CHECK(early == 0 || us > late_us);
	CHECK_EQ(many_take(async, channels, expected), sent);
	printf("%u queries on %u channels, issued within %" PRIu64 " ms, replies after %" PRIu64 " ms: %s; "
	       "in order and complete\n", sent, channels, us / 1000, late_us / 1000,
	       early == 0 ? "none early" : "some early");
	return early == 0;
}

/**
 * Issues as many queries as the kernel permits, on many channels, before the first reply; the replies of
 * each channel are complete and in order.
 */
static void
test_many(struct mdv_dev *dev)
{
	unsigned int channels = getenv("PMD_TEST_LONG") != NULL ? CHANNELS : CHANNELS_SHORT;
	struct prm_query_cq_out expected[CQS];
	struct mdv_async *async[CHANNELS];
	struct mdv_async_reply reply;
	struct mdv_cq cqs[CQS];
	bool none_early = false;
	uint64_t late_us;

	for (unsigned int i = 0; i < CQS; i++) {
		const struct mdv_cq_attr attr = { .log_cqes = 6 + i, .socket_id = SOCKET_ID_ANY };

		REQUIRE(mdv_cq_create(dev, &attr, &cqs[i]) == 0);
		cq_query_wait(&cqs[i], &expected[i]);
		for (unsigned int k = 0; k < i; k++)
			CHECK(memcmp(&expected[i], &expected[k], CQ_BYTES) != 0);
	}
	for (unsigned int c = 0; c < channels; c++)
		REQUIRE(mdv_async_open(dev, &async[c]) == 0);
	late_us = 500000 + 3 * many_query_us(dev, &cqs[0], channels * PER_CHANNEL);
	for (unsigned int i = 0; i < ATTEMPTS && !none_early; i++, late_us *= 2)
		none_early = many_round(async, channels, cqs, expected, late_us);
	CHECK(none_early);
	for (unsigned int c = 0; c < channels; c++) {
		CHECK_EQ(mdv_async_take(async[c], buf, REPLY_BYTES, &reply), -EAGAIN);
		/* The outboxes are free again. */
		CHECK_EQ(query_cq(async[c], &cqs[0], 1), 0);
		mdv_async_close(async[c]);
	}
	for (unsigned int i = 0; i < CQS; i++)
		mdv_cq_destroy(&cqs[i]);
}

/** A slow command blocks no thread; later commands overtake it, and its number identifies its reply. */
static void
test_slow(struct mdv_dev *dev)
{
	struct prm_query_tis_in in;
	struct mdv_obj *counter = mdv_q_counter_create(dev), *tis = mdv_tis_create(dev);
	struct mdv_async_reply reply;
	struct mdv_async *async;
	uint64_t t0, hz = rte_get_tsc_hz();

	REQUIRE(counter != NULL && tis != NULL);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	memset(&in, 0, sizeof(in));
	prm_query_tis_in_set_opcode(&in, PRM_CMD_OP_QUERY_TIS);
	prm_query_tis_in_set_tisn(&in, tis->id);
	t0 = rte_rdtsc();
	CHECK_EQ(mdv_async_query(async, tis, &in, sizeof(in), sizeof(struct prm_query_tis_out), 1), 0);
	CHECK_EQ(query_issue(async, counter, 2), 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), 0);
	CHECK_EQ(reply.wr_id, 2);
	CHECK_EQ(reply.out_bytes, OUT_BYTES);
	CHECK_EQ(mdv_async_outstanding(async), 1);
	CHECK(readable(mdv_async_fd(async), WAIT_MS));
	CHECK(rte_rdtsc() - t0 > hz / 2); /* The fault rule delays by 700 ms. */
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), 0);
	CHECK_EQ(reply.wr_id, 1);
	CHECK_EQ(reply.rc, 0);
	CHECK_EQ(reply.out_bytes, sizeof(struct prm_query_tis_out));
	mdv_async_close(async);
	mdv_obj_destroy(counter);
	mdv_obj_destroy(tis);
}

/* ------------------------------------------------------------------ calls of the library */

static void
nothing(int sig)
{
	RTE_SET_USED(sig);
}

/** A signal interrupts a blocking read(), which then returns the next reply. */
static void
test_waiting(struct mlx5dv_devx_cmd_comp *comp)
{
	struct sigaction act = { .sa_handler = nothing };
	struct mlx5dv_devx_async_cmd_hdr *head = (void *)buf;

	fcntl(comp->fd, F_SETFL, fcntl(comp->fd, F_GETFL) & ~O_NONBLOCK);
	sigaction(SIGALRM, &act, NULL);
	ualarm(20000, 0);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, sizeof(buf)), EINTR);
	fcntl(comp->fd, F_SETFL, fcntl(comp->fd, F_GETFL) | O_NONBLOCK);
}

/** Each return value of mlx5dv_devx_obj_query_async(3) and mlx5dv_devx_get_async_cmd_comp(3). */
static void
test_library(struct mdv_dev *dev)
{
	struct mdv_obj *counter = mdv_q_counter_create(dev), *other = mdv_q_counter_create(dev);
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(dev->ibv);
	struct mlx5dv_devx_cmd_comp none = { .fd = STDIN_FILENO };
	struct mlx5dv_devx_async_cmd_hdr *head = (void *)buf;
	struct prm_query_q_counter_in in;
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t big = 64 * 1024 - 16, n;

	REQUIRE(counter != NULL && other != NULL && comp != NULL && hole != MAP_FAILED);
	test_waiting(comp);
	query_fill(counter, &in);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, sizeof(buf)), EAGAIN);
	CHECK_EQ(mlx5dv_devx_obj_query_async(other->devx, &in, sizeof(in), OUT_BYTES, 1, comp), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), OUT_BYTES, 1, &none), EBADF);
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), 65536, 1, comp), EINVAL);
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, 8, OUT_BYTES, 1, comp), EINVAL);
	prm_query_q_counter_in_set_opcode(&in, PRM_CMD_OP_DEALLOC_Q_COUNTER);
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), OUT_BYTES, 1, comp), EINVAL);
	query_fill(counter, &in);
	/* A refusal by the firmware is a reply. */
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), 16, 2, comp), 0);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, 8), ENOSPC);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, 23), ENOSPC);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, 24), 0);
	CHECK(head->wr_id == 2 && head->out_data[0] == PRM_STATUS_BAD_OUTPUT_LEN);
	/* An invalid address loses the reply. */
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), OUT_BYTES, 3, comp), 0);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, hole, 4096), EFAULT);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, sizeof(buf)), EAGAIN);
	/* The limit is 1 MiB of outboxes exactly; a smaller outbox can still use the remainder. */
	for (n = 0; mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), big, n, comp) == 0; n++)
		;
	CHECK_EQ(n, MDV_ASYNC_OUTBOXES_BYTES / big);
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), big, n, comp), EAGAIN);
	big = MDV_ASYNC_OUTBOXES_BYTES - n * big;
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), big, n, comp), 0);
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), 16, n, comp), EAGAIN);
	for (size_t i = 0; i <= n; i++) {
		CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, sizeof(buf)), 0);
		CHECK_EQ(head->wr_id, i);
	}
	CHECK_EQ(mlx5dv_devx_obj_query_async(counter->devx, &in, sizeof(in), 16, n, comp), 0);
	mlx5dv_devx_destroy_cmd_comp(comp);
	munmap(hole, 4096);
	mdv_obj_destroy(counter);
	mdv_obj_destroy(other);
}

/* ------------------------------------------------------------------ fault rules */

static void
test_refused(struct mdv_dev *dev)
{
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	struct mdv_async_reply reply;
	struct mdv_async *async;
	const char *text;

	REQUIRE(counter != NULL);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	log_begin();
	CHECK_EQ(query_issue(async, counter, 9), 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), 0);
	text = log_end();
	CHECK_EQ(reply.wr_id, 9);
	CHECK_EQ(reply.rc, -EAGAIN);
	CHECK_EQ(dev->refused, 1);
	CHECK_EQ(lines_of(text), 1);
	CHECK_EQ(lines_with(text, "QUERY_Q_COUNTER (0x773) refused: NO_RESOURCES (0x0f), syndrome 0x2a3d5c"), 1);
	fputs(text, stdout);
	CHECK_EQ(query_issue(async, counter, 10), 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), 0);
	CHECK_EQ(reply.rc, 0);
	mdv_async_close(async);
	mdv_obj_destroy(counter);
}

static void
test_lost(struct mdv_dev *dev)
{
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	struct mdv_async_reply reply;
	struct mdv_async *async;

	REQUIRE(counter != NULL);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	CHECK_EQ(query_issue(async, counter, 1), 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), -EAGAIN);
	CHECK_EQ(query_issue(async, counter, 2), 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), 0);
	CHECK_EQ(reply.wr_id, 2);
	CHECK_EQ(mdv_async_outstanding(async), 1);
	mdv_async_close(async);
	mdv_obj_destroy(counter);
}

static void
test_nomem(struct mdv_dev *dev)
{
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	struct mdv_async_reply reply;
	struct mdv_async *async;
	const char *text;

	REQUIRE(counter != NULL);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	log_begin();
	CHECK_EQ(query_issue(async, counter, 1), -ENOMEM);
	text = log_end();
	CHECK_EQ(lines_of(text), 1);
	CHECK_EQ(lines_with(text, "QUERY_Q_COUNTER (0x773) failed without a status"), 1);
	CHECK_EQ(mdv_async_outstanding(async), 0);
	CHECK_EQ(query_issue(async, counter, 2), 0);
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), 0);
	mdv_async_close(async);
	mdv_obj_destroy(counter);
}

/** Removal of the device loses replies that were not taken, and wakes a blocked reader. */
static void
test_removal(struct mdv_dev *dev)
{
	const struct mdv_cq_attr attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(dev->ibv);
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	struct mlx5dv_devx_async_cmd_hdr *head = (void *)buf;
	struct prm_query_cq_in in = { 0 };
	struct prm_query_cq_out out;
	struct mdv_async_reply reply;
	struct mdv_async *async;
	struct mdv_cq cq;

	REQUIRE(counter != NULL && comp != NULL);
	REQUIRE(mdv_cq_create(dev, &attr, &cq) == 0);
	REQUIRE(mdv_async_open(dev, &async) == 0);
	CHECK_EQ(query_issue(async, counter, 1), 0);
	prm_query_cq_in_set_opcode(&in, PRM_CMD_OP_QUERY_CQ);
	prm_query_cq_in_set_cqn(&in, cq.cqn);
	CHECK_EQ(mdv_obj_query(cq.obj, &in, sizeof(in), &out, sizeof(out)), -EIO);
	CHECK(readable(mdv_async_fd(async), 0));
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), -EIO);
	CHECK_EQ(query_issue(async, counter, 2), -EIO);
	/* As on Linux, a blocking reader gets EIO, a non-blocking one EAGAIN. */
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, sizeof(buf)), EIO);
	fcntl(comp->fd, F_SETFL, O_NONBLOCK);
	CHECK_EQ(mlx5dv_devx_get_async_cmd_comp(comp, head, sizeof(buf)), EAGAIN);
	CHECK(mdv_suspect(dev));
	CHECK(!mdv_alive(dev));
	CHECK_EQ(mdv_async_take(async, buf, sizeof(buf), &reply), -EIO);
	CHECK(mlx5dv_devx_create_cmd_comp(dev->ibv) == NULL);
	mlx5dv_devx_destroy_cmd_comp(comp);
	mdv_async_close(async);
	mdv_cq_destroy(&cq);
	mdv_obj_destroy(counter);
}

static const struct {
	const char *mode;
	void (*run)(struct mdv_dev *dev);
} tests[] = {
	{ "all", test_one },	   { "all", test_misuse },	{ "all", test_series },
	{ "all", test_slow },	   { "many", test_many },	{ "library", test_library },
	{ "refused", test_refused }, { "lost", test_lost },	{ "nomem", test_nomem },
	{ "removal", test_removal },
};

int
main(int argc, char **argv)
{
	char *eal[] = { argv[0], "--no-huge", "--no-shconf", "-m", "64", "--no-pci",
			"-l", "0", "--no-telemetry", "--iova-mode=va" };
	struct rte_pci_addr pci;
	struct mdv_dev *dev;

	if (argc != 2 || rte_eal_init(RTE_DIM(eal), eal) < 0)
		return EXIT_FAILURE;
	if (test_device(0, &pci) != 0 || mdv_open(&pci, MDV_OPEN_VERBS, &dev) != 0)
		return EXIT_FAILURE;
	for (size_t i = 0; i < RTE_DIM(tests); i++)
		if (strcmp(tests[i].mode, argv[1]) == 0)
			tests[i].run(dev);
	mdv_close(dev);
	rte_eal_cleanup();
	return check_exit("async");
}
