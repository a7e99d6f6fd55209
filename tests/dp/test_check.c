/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* --check buffers: a buffer that is posted twice is reported, one that was consumed in between is not. */
#include "rig.h"

#define LOG_SIZE 4
#define WQES (1u << LOG_SIZE)

/* Number of reports since the last call. */
static uint64_t
reports(struct rig *r)
{
	uint64_t n;

	rig_run(r);
	n = emu_audit_count(EMU_AUDIT_BAD_BUFFER);
	emu_audit_reset();
	return n;
}

static void
arrive(struct rig *r, struct rig_rx *rx, unsigned n)
{
	struct rig_frame f;

	rig_ip_frame(&f, r->port[0].dev, 4, 17, 33, 0, -1);
	while (n-- != 0) {
		emu_dp_ingress(r->port[0].dev, f.data, f.len);
		CHECK(rig_cqe(rx->cq) != NULL);
	}
}

static void
post(struct rig_rx *rx, unsigned buf)
{
	rig_post(rx->rq, rx->buf[buf], RIG_BUF_BYTES, rx->rq->port->lkey);
}

static void
used_and_posted_again(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], LOG_SIZE);

	for (unsigned i = 0; i < 5 * WQES; i++) {
		arrive(r, rx, 1);
		/* Posting, using and posting between two looks of the engine is lawful too. */
		post(rx, i % WQES);
		if (i % 3 == 0)
			CHECK_EQ(reports(r), 0);
	}
	CHECK_EQ(reports(r), 0);
	rig_free(r);
}

static void
posted_twice(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], LOG_SIZE);

	CHECK_EQ(reports(r), 0);
	arrive(r, rx, 3);
	post(rx, 0);
	post(rx, 0);
	post(rx, 2);
	CHECK_EQ(reports(r), 1);
	/* Reported again after one of the two was consumed: the other one is still posted. */
	arrive(r, rx, WQES - 3);
	arrive(r, rx, 1);
	post(rx, 0);
	CHECK_EQ(reports(r), 1);
	rig_free(r);
}

static void
posted_in_another_queue(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_rx *rx = rig_rx_new(&r->port[0], LOG_SIZE);
	struct rig_cq *cq = rig_cq_new(&r->port[0], LOG_SIZE, 6);
	struct rig_rq *other = rig_rq_new(&r->port[0], cq, LOG_SIZE, 4, 0);

	arrive(r, rx, 1);
	rig_post(other, rx->buf[0], RIG_BUF_BYTES, r->port[0].lkey);
	CHECK_EQ(reports(r), 0);
	rig_post(other, rx->buf[1], RIG_BUF_BYTES, r->port[0].lkey);
	CHECK_EQ(reports(r), 1);
	rig_free(r);
}

static void
reset_forgets(void)
{
	struct rig *r = rig_new(1, "loop");
	struct rig_rx *rx = rig_rx_new(&r->port[0], LOG_SIZE);

	CHECK_EQ(reports(r), 0);
	CHECK_EQ(rig_rq_modify(rx->rq, EMU_QS_RDY, EMU_QS_RST), 0);
	rx->rq->pi = 0;
	rx->rq->dbrec[0] = 0;
	CHECK_EQ(rig_rq_modify(rx->rq, EMU_QS_RST, EMU_QS_RDY), 0);
	for (unsigned i = 0; i < WQES; i++)
		post(rx, i);
	CHECK_EQ(reports(r), 0);
	rig_free(r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"used_and_posted_again", used_and_posted_again},
		{"posted_twice", posted_twice},
		{"posted_in_another_queue", posted_in_another_queue},
		{"reset_forgets", reset_forgets},
		{NULL, NULL},
	};

	if (!emu_dp_check_buffers(true))
		return 1;
	return rig_main(argc, argv, tests);
}
