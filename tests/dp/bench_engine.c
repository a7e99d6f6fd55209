/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the engine spends on a frame, in processor ticks; queues in plain memory, no program. */

#include "core/emu_cpu.h"
#include "rig.h"

#define LOG_RING 8u
#define RING (1u << LOG_RING)
#define ROUNDS 4000u

static double cost[ROUNDS];

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median: other programs may have the processor now and then. */
static double
median(void)
{
	qsort(cost, ROUNDS, sizeof(cost[0]), compare);
	return cost[ROUNDS / 2];
}

/* Takes completions and posts their buffers again. */
static unsigned
drain(struct rig_rx *rx)
{
	const struct prm_cqe64 *cqe;
	unsigned n = 0;

	while ((cqe = rig_cqe(rx->cq)) != NULL) {
		rig_post(rx->rq, rx->buf[be16toh(cqe->wqe_counter) & (RING - 1)], RIG_BUF_BYTES,
			 rx->rq->port->lkey);
		n++;
	}
	return n;
}

static void
fill(struct rig_sq *sq, uint8_t **frames, unsigned n, unsigned len, unsigned per_wqe)
{
	for (unsigned i = 0; i < n; i += per_wqe) {
		bool multi = per_wqe > 1;

		rig_wqe(sq, multi ? PRM_WQE_OPCODE_ENHANCED_MPSW : PRM_WQE_OPCODE_SEND,
			i + per_wqe >= n ? RIG_CE_CQE : 0);
		rig_wqe_eth(sq, &(struct rig_eth){.vlan = -1});
		for (unsigned k = 0; k < per_wqe; k++)
			rig_wqe_ptr(sq, frames[i + k], len, sq->port->lkey);
		rig_wqe_end(sq);
	}
	rig_sq_record(sq);
	rig_sq_bell(sq);
}

/* Port 0 sends to port 1, or unmapped_page; ticks per frame. */
static double
sending(bool far_end, unsigned len, unsigned per_wqe)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], LOG_RING, 6), LOG_RING);
	struct rig_rx *rx = rig_rx_new(&r->port[1], LOG_RING);
	uint8_t *frames[RING];
	uint64_t n = 0;
	struct rig_frame f;

	emu_port_set_admin(r->port[1].dev, far_end);
	rig_ip_frame(&f, r->port[1].dev, 4, 17, len - 42, 0, -1);
	for (unsigned i = 0; i < RING; i++) {
		frames[i] = rig_mem(&r->port[0], RIG_BUF_BYTES, 64);
		memcpy(frames[i], f.data, len);
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t t;

		fill(sq, frames, RING, len, per_wqe);
		t = emu_cpu_ticks();
		rig_run(r);
		cost[i] = (double)(emu_cpu_ticks() - t) / RING;
		n += RING;
		while (rig_cqe(sq->cq) != NULL)
			;
		drain(rx);
	}
	if (r->port[0].dev->stats.tx_frames != n)
		fprintf(stderr, "only %llu of %llu frames went out\n",
			(unsigned long long)r->port[0].dev->stats.tx_frames, (unsigned long long)n);
	rig_free(r);
	return median();
}

/* Frames that arrive from outside; with RSS over 4 queues when spread. */
static double
receiving(unsigned len, bool spread)
{
	struct rig *r = rig_new(1, "0=none");
	struct rig_port *p = &r->port[0];
	struct rig_rx *rx[4];
	struct rig_rq *rqs[4];
	uint64_t n = 0;
	uint8_t *frames[RING];
	struct rig_frame f;

	emu_port_set_carrier(p->dev, true);
	for (unsigned i = 0; i < (spread ? 4u : 1u); i++) {
		rx[i] = rig_rx_new(p, LOG_RING);
		rqs[i] = rx[i]->rq;
	}
	if (spread) {
		static const uint8_t key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2};
		struct rig_hash h = {.l4 = 1, .fields = 0xf, .key = key};
		struct emu_flow_attr a = {
			.dest = &rig_tir_new(p, NULL, rig_rqt_new(p, rqs, 4), &h)->obj};
		uint32_t mask[16] = {[2] = 0xffffffff, [3] = 0xffff0000, [4] = 0xff001e00};
		uint32_t value[16] = {[2] = 0x0c42a14e, [3] = 0xd0000000, [4] = 0x11000800};

		rig_flow(p, 1, mask, value, &a);
	}
	for (unsigned i = 0; i < RING; i++) {
		rig_ip_frame(&f, p->dev, 4, 17, len - 42, 0, -1);
		f.data[36] = (uint8_t)i;
		rig_fix_checksums(&f, 14);
		frames[i] = malloc(len);
		memcpy(frames[i], f.data, len);
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t t = emu_cpu_ticks();

		for (unsigned i = 0; i < RING / 2; i++)
			emu_dp_ingress(p->dev, frames[i], len);
		cost[round] = (double)(emu_cpu_ticks() - t) / (RING / 2);
		n += RING / 2;
		for (unsigned i = 0; i < (spread ? 4u : 1u); i++)
			drain(rx[i]);
	}
	if (p->dev->stats.rx_delivered_frames != n)
		fprintf(stderr, "only %llu of %llu frames were delivered\n",
			(unsigned long long)p->dev->stats.rx_delivered_frames,
			(unsigned long long)n);
	rig_free(r);
	for (unsigned i = 0; i < RING; i++)
		free(frames[i]);
	return median();
}

int
main(int argc, char **argv)
{
	static const unsigned sizes[] = {64, 256, 1500};

	printf("ticks per frame         64     256    1500\n");
	for (unsigned way = 0; way < 6; way++) {
		static const char *const names[] = {
			"send, no far end ", "multi-packet send", "receive, 1 queue ",
			"receive, RSS of 4", "pair, send       ", "pair, multi      ",
		};

		if (argc > 1 && strstr(names[way], argv[1]) == NULL)
			continue;
		printf("%s ", names[way]);
		for (unsigned s = 0; s < 3; s++) {
			unsigned len = sizes[s];
			double t = way == 0   ? sending(false, len, 1)
				   : way == 1 ? sending(false, len, 8)
				   : way == 2 ? receiving(len, false)
				   : way == 3 ? receiving(len, true)
				   : way == 4 ? sending(true, len, 1)
					      : sending(true, len, 8);

			printf(" %7.1f", t);
			fflush(stdout);
		}
		printf("\n");
	}
	return 0;
}
