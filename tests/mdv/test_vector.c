/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Interrupts: vectors, arming, and wake-ups that must not be lost. NOP WQEs generate the completions. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_io.h>
#include <rte_pause.h>

#include <mdv_vector.h>

#include "mdv_test.h"

#define LOG_WQEBBS 6
/* A wake-up that has not come within this time is lost, however busy the machine is. */
#define WAKE_MS 20000
/* An unexpected wake-up comes within this time. */
#define QUIET_MS 20

struct intr_queue {
	struct mdv_vector *vector;
	struct mdv_cq cq;
	struct mdv_sq sq;
	uint16_t pi;
	uint32_t ci;
};

static int
intr_queue_create(struct mdv_dev *dev, struct mdv_obj *tis, struct intr_queue *b)
{
	struct mdv_cq_attr cq_attr = { .log_cqes = LOG_WQEBBS, .socket_id = SOCKET_ID_ANY };
	struct mdv_sq_attr sq_attr = { .log_wqebbs = LOG_WQEBBS, .socket_id = SOCKET_ID_ANY,
				       .tisn = tis->id };
	int ret;

	memset(b, 0, sizeof(*b));
	ret = mdv_vector_alloc(dev, &b->vector);
	cq_attr.vector = b->vector;
	if (ret == 0)
		ret = mdv_cq_create(dev, &cq_attr, &b->cq);
	if (ret == 0)
		ret = mdv_vector_attach(b->vector, &b->cq);
	sq_attr.cqn = b->cq.cqn;
	if (ret == 0)
		ret = mdv_sq_create(dev, &sq_attr, &b->sq);
	if (ret == 0)
		ret = mdv_wq_modify(&b->sq.wq, MDV_QS_RDY);
	return ret;
}

static void
intr_queue_destroy(struct intr_queue *b)
{
	(void)mdv_wq_destroy(&b->sq.wq);
	mdv_cq_destroy(&b->cq);
	mdv_vector_free(b->vector);
	memset(b, 0, sizeof(*b));
}

/* Generates one completion, after some time. */
static void
nop_post(struct intr_queue *b)
{
	struct mlx5_wqe_ctrl_seg *ctrl =
		RTE_PTR_ADD(b->sq.wq.wqes, (size_t)(b->pi & ((1u << LOG_WQEBBS) - 1)) * 64);

	mlx5dv_set_ctrl_seg(ctrl, b->pi, MLX5_OPCODE_NOP, 0, b->sq.wq.number, MLX5_WQE_CTRL_CQ_UPDATE, 1,
			    0, 0);
	b->pi++;
	rte_io_wmb();
	*b->sq.wq.dbrec = rte_cpu_to_be_32(b->pi);
	rte_io_wmb();
	*b->sq.db_reg = *(uint64_t *)ctrl;
	rte_wmb();
}

/* Consumes a completion if there is one. */
static bool
cqe_take(struct intr_queue *b)
{
	const struct mlx5_cqe64 *cqe = &b->cq.cqes[b->ci & ((1u << LOG_WQEBBS) - 1)];
	const uint8_t op_own = *(const volatile uint8_t *)&cqe->op_own;

	if (op_own >> 4 == MLX5_CQE_INVALID ||
	    (op_own & MLX5_CQE_OWNER_MASK) != ((b->ci >> LOG_WQEBBS) & 1))
		return false;
	b->ci++;
	b->cq.dbrec[0] = rte_cpu_to_be_32(b->ci & 0xffffff);
	return true;
}

static bool
wakes(const struct intr_queue *b, int ms)
{
	struct pollfd fd = { .fd = b->vector->fd, .events = POLLIN };
	int n;

	do
		n = poll(&fd, 1, ms);
	while (n < 0 && errno == EINTR);
	return n == 1 && (fd.revents & POLLIN);
}

/* The sequence of an application between its polls. */
static bool
arm_and_wait(struct intr_queue *b)
{
	(void)mdv_vector_ack(b->vector);
	mdv_cq_arm(&b->cq, b->ci);
	return wakes(b, WAKE_MS);
}

static void
check_one(struct intr_queue *b)
{
	/* Not armed: completions do not wake. */
	nop_post(b);
	while (!cqe_take(b))
		;
	CHECK(!wakes(b, QUIET_MS));
	CHECK_EQ(mdv_vector_ack(b->vector), 0);
	/* Armed before the completion: one event for two completions. */
	mdv_cq_arm(&b->cq, b->ci);
	CHECK(!wakes(b, QUIET_MS));
	nop_post(b);
	nop_post(b);
	CHECK(wakes(b, WAKE_MS));
	CHECK_EQ(mdv_vector_ack(b->vector), 1);
	CHECK_EQ(mdv_vector_ack(b->vector), 0);
	/* Armed again while two completions are pending: wakes at once. */
	CHECK(arm_and_wait(b));
	while (!cqe_take(b))
		;
	CHECK(arm_and_wait(b));
	while (!cqe_take(b))
		;
	/* No completion pending. Arming twice is the same as arming once. */
	(void)mdv_vector_ack(b->vector);
	mdv_cq_arm(&b->cq, b->ci);
	mdv_cq_arm(&b->cq, b->ci);
	CHECK(!wakes(b, QUIET_MS));
	nop_post(b);
	CHECK(wakes(b, WAKE_MS));
	while (!cqe_take(b))
		;
	CHECK_EQ(mdv_vector_ack(b->vector), 1);
}

/* An application that reads the descriptor itself, and one that only polls CQEs. */
static void
check_readers(struct intr_queue *b)
{
	uint64_t count;
	int i;

	for (i = 0; i < 9; i++) {
		mdv_cq_arm(&b->cq, b->ci);
		nop_post(b);
		CHECK(wakes(b, WAKE_MS));
		CHECK_EQ(read(b->vector->fd, &count, sizeof(count)), (ssize_t)sizeof(count));
		CHECK_EQ(count, 1);
		while (!cqe_take(b))
			;
	}
	for (i = 0; i < 9; i++) {
		mdv_cq_arm(&b->cq, b->ci);
		nop_post(b);
		while (!cqe_take(b))
			;
	}
	CHECK(wakes(b, WAKE_MS));
	nop_post(b);
	CHECK(arm_and_wait(b));
	while (!cqe_take(b))
		;
	/* mdv_vector_kick() wakes without an event; the CQ stays armed. */
	(void)mdv_vector_ack(b->vector);
	mdv_cq_arm(&b->cq, b->ci);
	for (i = 0; i < 9; i++) {
		mdv_vector_kick(b->vector);
		CHECK(wakes(b, 0));
		CHECK_EQ(mdv_vector_ack(b->vector), 1);
	}
	nop_post(b);
	CHECK(wakes(b, WAKE_MS));
	while (!cqe_take(b))
		;
	(void)mdv_vector_ack(b->vector);
}

/* The completion comes before, during and after arming: it wakes in each case. */
static void
check_races(struct intr_queue *b, unsigned int rounds)
{
	unsigned int i, spins, lost = 0;

	for (i = 0; i < rounds && lost == 0; i++) {
		(void)mdv_vector_ack(b->vector);
		if (i % 3 == 0) {
			nop_post(b);
			for (spins = i / 3 % 512; spins > 0; spins--)
				rte_pause();
		}
		mdv_cq_arm(&b->cq, b->ci);
		if (i % 3 != 0)
			nop_post(b);
		if (i % 3 == 2)
			mdv_cq_arm(&b->cq, b->ci);
		lost += !wakes(b, WAKE_MS);
		while (!cqe_take(b))
			;
	}
	CHECK_EQ(lost, 0);
	(void)mdv_vector_ack(b->vector);
}

static void
check_many(struct mdv_dev *dev, struct mdv_obj *tis)
{
	struct intr_queue b[4];
	unsigned int i, round;

	memset(b, 0, sizeof(b));
	for (i = 0; i < RTE_DIM(b); i++)
		CHECK_EQ(intr_queue_create(dev, tis, &b[i]), 0);
	/* Each has an EQ, and so a processor, of its own. */
	for (i = 1; i < RTE_DIM(b); i++)
		CHECK(b[i].vector->eqn != b[i - 1].vector->eqn);
	/* All CQs share a doorbell page and are armed one after the other with the same first words. */
	for (round = 0; round < 20; round++) {
		for (i = 0; i < RTE_DIM(b); i++)
			mdv_cq_arm(&b[i].cq, b[i].ci);
		for (i = 0; i < RTE_DIM(b); i++) {
			nop_post(&b[i]);
			CHECK(wakes(&b[i], WAKE_MS));
			while (!cqe_take(&b[i]))
				;
			CHECK_EQ(mdv_vector_ack(b[i].vector), 1);
		}
	}
	for (i = 0; i < RTE_DIM(b); i++)
		intr_queue_destroy(&b[i]);
}

/* An error of the descriptor is returned, and is no event. */
static void
check_unreadable(struct mdv_vector *v)
{
	int fd = v->fd;

	v->fd = -1;
	CHECK_EQ(mdv_vector_ack(v), -EBADF);
	CHECK_EQ(rte_errno, EBADF);
	v->fd = fd;
	CHECK_EQ(mdv_vector_ack(v), 0);
}

/* Without a free descriptor no vector is created, one line is logged, and nothing is left. */
static void
check_refused(struct mdv_dev *dev)
{
	struct rlimit was, none;
	struct mdv_vector *v = (void *)dev;

	REQUIRE(getrlimit(RLIMIT_NOFILE, &was) == 0);
	none = was;
	none.rlim_cur = 3;
	REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
	log_begin();
	CHECK_EQ(mdv_vector_alloc(dev, &v), -EMFILE);
	CHECK_EQ(lines_with(log_end(), "no interrupt vector: "), 1);
	CHECK(v == NULL);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	mdv_vector_free(NULL);
}

void
test_vector(struct mdv_dev *dev)
{
	const char *rounds = getenv("MDV_TEST_RACES");
	struct mdv_obj *tis = mdv_tis_create(dev);
	struct intr_queue b;

	REQUIRE(tis != NULL);
	REQUIRE(intr_queue_create(dev, tis, &b) == 0);
	/* In verbs mode the EQ belongs to the kernel, which counts its vectors from 0; through VFIO to the vector. */
	CHECK_EQ(b.vector->eqn == dev->eqn, dev->mode == MDV_OPEN_VERBS);
	check_one(&b);
	check_readers(&b);
	check_races(&b, rounds != NULL ? (unsigned int)atoi(rounds) : 3000);
	check_unreadable(b.vector);
	intr_queue_destroy(&b);
	check_many(dev, tis);
	check_refused(dev);
	CHECK_EQ(mdv_obj_destroy(tis), 0);
}
