/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Many threads on the devices of a process, each with a queue pair of its own, exchange frames with
 * as many threads at the far ends of the cables. Every frame has its sender, receiver, round and
 * sequence number, which determine its bytes: a frame that is misdirected, duplicated, late, out of
 * order or damaged is detected. Plain verbs, raw packet QPs.
 *
 *   crosstalk --me N --peers LEFT,RIGHT [--threads T] [--rounds R] [--frames F]
 *
 * Device 0 leads to process LEFT, device 1 to process RIGHT; half of the threads use each.
 */
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../await.h"

#define RING 128u
#define BUF_BYTES 2048u
#define WINDOW 32u
#define HELLO_NS 20000000ull
#define LIMIT_NS 50000000000ull
#define ETHERTYPE 0x88b5u /* local experimental, IEEE 802 */
#define MAGIC 0x6d6c7865u

enum kind { KIND_HELLO = 1, KIND_DATA, KIND_ACK };

/** The head of a frame; all in network order. */
struct head {
	uint8_t to[6], from[6];
	uint16_t ethertype;
	uint16_t kind;
	uint32_t magic, round, turn, seq, ack, len; /**< turn counts all kinds, seq the data. */
} __attribute__((packed));

struct worker {
	pthread_t thread;
	unsigned id;
	struct ibv_device *device;
	uint8_t mac[6], peer[6];
	/* Of the round. */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_flow *flow;
	uint8_t *mem; /**< RING buffers to receive, RING to send. */
	uint32_t round, sent, acked, got, flying, next_buf, turn, peer_turn;
	bool met, owe_ack;
	uint64_t hello_ns;
};

static unsigned rounds = 3, frames = 1000, threads = 24;
static atomic_uint failures;
static uint64_t started_ns;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool
fail(const struct worker *w, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "thread %u round %u: %s\n", w->id, w->round, text);
	atomic_fetch_add(&failures, 1);
	return false;
}

static uint8_t
pattern(const struct head *h, uint32_t i)
{
	return (uint8_t)(h->from[1] * 31 + h->from[3] * 7 + be32toh(h->seq) * 13 +
			 be32toh(h->round) + i);
}

static bool
post_receive(struct worker *w, unsigned buf)
{
	struct ibv_sge sge = {(uintptr_t)w->mem + buf * BUF_BYTES, BUF_BYTES, w->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = buf, .sg_list = &sge, .num_sge = 1}, *bad;
	int ret = ibv_post_recv(w->qp, &wr, &bad);

	return ret == 0 || fail(w, "post_recv: %s", strerror(ret));
}

/* In the order of making, and undone in the reverse one. */
static bool
set_up(struct worker *w)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {.attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .num_of_specs = 1,
			   .port = 1},
		  .eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth)}};
	struct ibv_qp_init_attr init = {.cap = {RING, RING, 1, 1, 0},
					.qp_type = IBV_QPT_RAW_PACKET};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	w->ctx = ibv_open_device(w->device);
	w->pd = w->ctx != NULL ? ibv_alloc_pd(w->ctx) : NULL;
	w->scq = w->pd != NULL ? ibv_create_cq(w->ctx, RING, NULL, NULL, 0) : NULL;
	w->rcq = w->scq != NULL ? ibv_create_cq(w->ctx, RING, NULL, NULL, 0) : NULL;
	w->mr = w->rcq != NULL ? ibv_reg_mr(w->pd, w->mem, 2 * RING * BUF_BYTES,
					    IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (w->mr == NULL)
		return fail(w, "set-up: %s", strerror(errno));
	init.send_cq = w->scq;
	init.recv_cq = w->rcq;
	w->qp = ibv_create_qp(w->pd, &init);
	if (w->qp == NULL)
		return fail(w, "create_qp: %s", strerror(errno));
	if (ibv_modify_qp(w->qp, &attr, IBV_QP_STATE | IBV_QP_PORT) != 0)
		return fail(w, "QP to INIT: %s", strerror(errno));
	for (unsigned i = 0; i < RING; i++)
		if (!post_receive(w, i))
			return false;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(w->qp, &attr, IBV_QP_STATE) != 0)
		return fail(w, "QP to RTR: %s", strerror(errno));
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(w->qp, &attr, IBV_QP_STATE) != 0)
		return fail(w, "QP to RTS: %s", strerror(errno));
	memcpy(rule.eth.val.dst_mac, w->mac, 6);
	memset(rule.eth.mask.dst_mac, 0xff, 6);
	w->flow = ibv_create_flow(w->qp, &rule.attr);
	return w->flow != NULL || fail(w, "create_flow: %s", strerror(errno));
}

static void
tear_down(struct worker *w)
{
	bool ok = true;

	ok &= w->flow == NULL || ibv_destroy_flow(w->flow) == 0;
	ok &= w->qp == NULL || ibv_destroy_qp(w->qp) == 0;
	ok &= w->mr == NULL || ibv_dereg_mr(w->mr) == 0;
	ok &= w->rcq == NULL || ibv_destroy_cq(w->rcq) == 0;
	ok &= w->scq == NULL || ibv_destroy_cq(w->scq) == 0;
	ok &= w->pd == NULL || ibv_dealloc_pd(w->pd) == 0;
	ok &= w->ctx == NULL || ibv_close_device(w->ctx) == 0;
	if (!ok)
		fail(w, "something could not be destroyed: %s", strerror(errno));
}

static bool
reap_sent(struct worker *w)
{
	struct ibv_wc wc[16];
	int n;

	while ((n = ibv_poll_cq(w->scq, 16, wc)) > 0) {
		for (int i = 0; i < n; i++)
			if (wc[i].status != IBV_WC_SUCCESS)
				return fail(w, "send: %s", ibv_wc_status_str(wc[i].status));
		w->flying -= (uint32_t)n;
	}
	return n == 0 || fail(w, "poll_cq: %d", n);
}

static bool
send_frame(struct worker *w, enum kind kind)
{
	uint32_t buf = RING + w->next_buf++ % RING;
	uint32_t len = kind == KIND_DATA ? 64 + (w->sent * 97 + w->id * 11) % 1400 : 64;
	uint8_t *d = w->mem + (size_t)buf * BUF_BYTES;
	struct ibv_sge sge = {(uintptr_t)d, len, w->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED}, *bad;
	struct head h = {.ethertype = htobe16(ETHERTYPE), .kind = htobe16((uint16_t)kind),
			 .magic = htobe32(MAGIC), .round = htobe32(w->round),
			 .turn = htobe32(w->turn), .seq = htobe32(w->sent),
			 .ack = htobe32(w->got), .len = htobe32(len)};
	int ret;

	if (w->flying == RING)
		return true;
	memcpy(h.to, w->peer, 6);
	memcpy(h.from, w->mac, 6);
	memcpy(d, &h, sizeof(h));
	for (uint32_t i = sizeof(h); i < len; i++)
		d[i] = pattern(&h, i);
	ret = ibv_post_send(w->qp, &wr, &bad);
	if (ret != 0)
		return fail(w, "post_send: %s", strerror(ret));
	w->flying++;
	w->turn++;
	w->sent += kind == KIND_DATA;
	w->owe_ack = false;
	return true;
}

static bool
check_frame(struct worker *w, const uint8_t *d, uint32_t len)
{
	struct head h;
	uint32_t i;

	if (len < sizeof(h))
		return fail(w, "frame of %u bytes", len);
	memcpy(&h, d, sizeof(h));
	if (memcmp(h.to, w->mac, 6) != 0 || memcmp(h.from, w->peer, 6) != 0)
		return fail(w, "cross-talk: frame from %02x:%02x to %02x:%02x", h.from[1],
			    h.from[3], h.to[1], h.to[3]);
	if (be32toh(h.magic) != MAGIC || be32toh(h.len) != len)
		return fail(w, "frame of %u bytes has length %u in its header", len, be32toh(h.len));
	for (i = sizeof(h); i < len && d[i] == pattern(&h, i); i++)
		;
	if (i != len)
		return fail(w, "byte %u of frame %u is damaged", i, be32toh(h.seq));
	/* The peer may be a round ahead, or have sent a surplus hello in the last one. */
	if (be32toh(h.round) != w->round)
		return be16toh(h.kind) == KIND_HELLO ||
		       fail(w, "kind %u of round %u", be16toh(h.kind), be32toh(h.round));
	/* Frames sent before this end was ready are lost; later ones are neither lost nor repeated. */
	if (w->met && be32toh(h.turn) != w->peer_turn)
		return fail(w, "turn %u where %u was to come", be32toh(h.turn), w->peer_turn);
	w->peer_turn = be32toh(h.turn) + 1;
	w->met = true;
	if (be32toh(h.ack) > w->acked)
		w->acked = be32toh(h.ack);
	if (be16toh(h.kind) != KIND_DATA)
		return true;
	if (be32toh(h.seq) != w->got)
		return fail(w, "frame %u where %u was to come", be32toh(h.seq), w->got);
	w->got++;
	w->owe_ack = true;
	return true;
}

/* Returns frames taken, or -1. */
static int
receive(struct worker *w)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(w->rcq, 16, wc);

	for (int i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS) {
			fail(w, "receive: %s", ibv_wc_status_str(wc[i].status));
			return -1;
		}
		if (!check_frame(w, w->mem + wc[i].wr_id * BUF_BYTES, wc[i].byte_len) ||
		    !post_receive(w, (unsigned)wc[i].wr_id))
			return -1;
	}
	return n;
}

/* The cable is plugged in at both ends: what is sent before is a discard. */
static bool
link_is_up(const struct worker *w)
{
	struct ibv_port_attr attr;

	return ibv_query_port(w->ctx, 1, &attr) == 0 && attr.state == IBV_PORT_ACTIVE;
}

static bool
say_something(struct worker *w)
{
	uint64_t now = now_ns();

	if (!w->met) {
		if (now - w->hello_ns < HELLO_NS)
			return true;
		w->hello_ns = now;
		return !link_is_up(w) || send_frame(w, KIND_HELLO);
	}
	while (w->sent < frames && w->sent - w->acked < WINDOW && w->flying < RING)
		if (!send_frame(w, KIND_DATA))
			return false;
	return !w->owe_ack || send_frame(w, KIND_ACK);
}

static bool
talk(struct worker *w)
{
	bool replied = false;

	while (w->got < frames || w->acked < frames || w->flying != 0 || w->owe_ack) {
		int n = receive(w);

		if (n < 0 || !reap_sent(w))
			return false;
		/* A peer that starts late did not receive the former hello. */
		if (w->met && !replied)
			replied = send_frame(w, KIND_HELLO);
		if (!say_something(w))
			return false;
		if (now_ns() - started_ns > LIMIT_NS || atomic_load(&failures) != 0)
			return fail(w, "stopped: sent %u, acknowledged %u, got %u of %u", w->sent,
				    w->acked, w->got, frames);
		if (n == 0)
			pass_us(200); /* Between two polls of all queues. */
	}
	return true;
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	bool ok = true;

	for (unsigned r = 0; r < rounds && ok; r++) {
		w->round = r;
		w->sent = w->acked = w->got = w->flying = w->turn = 0;
		w->met = w->owe_ack = false;
		w->hello_ns = 0;
		w->ctx = NULL;
		w->pd = NULL;
		w->scq = w->rcq = NULL;
		w->qp = NULL;
		w->mr = NULL;
		w->flow = NULL;
		ok = set_up(w) && talk(w);
		tear_down(w);
	}
	return NULL;
}

/* Process, cable and place at the cable make the address. */
static void
address(uint8_t *mac, unsigned process, unsigned device, unsigned place)
{
	const uint8_t a[6] = {0x02, (uint8_t)process, (uint8_t)device, (uint8_t)place, 0, 1};

	memcpy(mac, a, sizeof(a));
}

static int
run(unsigned me, const unsigned peer[2])
{
	struct worker *w = calloc(threads, sizeof(*w));
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (w == NULL || list == NULL || n < 2) {
		fprintf(stderr, "two devices are needed, there are %d\n", n);
		return 2;
	}
	started_ns = now_ns();
	for (unsigned i = 0; i < threads; i++) {
		unsigned device = i & 1;

		w[i].id = i;
		w[i].device = list[device];
		w[i].mem = aligned_alloc(4096, 2 * RING * BUF_BYTES);
		memset(w[i].mem, 0, 2 * RING * BUF_BYTES);
		address(w[i].mac, me, device, i / 2);
		address(w[i].peer, peer[device], !device, i / 2);
	}
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			return 2;
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		free(w[i].mem);
	}
	ibv_free_device_list(list);
	free(w);
	printf("process %u: %u threads, %u rounds of %u frames, %u failures, %.1f s\n", me, threads,
	       rounds, frames, atomic_load(&failures), (double)(now_ns() - started_ns) / 1e9);
	return atomic_load(&failures) == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{"me", 1, NULL, 'm'}, {"peers", 1, NULL, 'p'}, {"threads", 1, NULL, 't'},
		{"rounds", 1, NULL, 'r'}, {"frames", 1, NULL, 'f'}, {NULL, 0, NULL, 0},
	};
	unsigned me = 0, peer[2] = {0, 0};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'm')
			me = (unsigned)atoi(optarg);
		else if (c == 't')
			threads = (unsigned)atoi(optarg);
		else if (c == 'r')
			rounds = (unsigned)atoi(optarg);
		else if (c == 'f')
			frames = (unsigned)atoi(optarg);
		else if (c != 'p' || sscanf(optarg, "%u,%u", &peer[0], &peer[1]) != 2)
			return 2;
	}
	return run(me, peer);
}
