/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs objects: made, used and destroyed by libibverbs alone; refusals; what is left behind. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define GID_INDEX 1
#define MESSAGE_BYTES 256u

/** Two RC QPs of one process, a CQ with a completion channel. */
struct pair {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp[2];
};

static struct ibv_qp *
make_qp(struct client *c, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = type,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(c->pd, &attr);

	CHECK(qp != NULL);
	return qp;
}

static void
connect_qp(struct client *c, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS), 0);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = peer;
	a.min_rnr_timer = 12;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.sgid_index = GID_INDEX;
	a.ah_attr.grh.hop_limit = 1;
	CHECK_EQ(ibv_query_gid(c->ctx, 1, GID_INDEX, &a.ah_attr.grh.dgid), 0);
	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), 0);
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 14;
	a.retry_cnt = a.rnr_retry = 7;
	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC), 0);
}

static void
pair_open(struct client *c, struct pair *p)
{
	p->channel = ibv_create_comp_channel(c->ctx);
	CHECK(p->channel != NULL);
	p->cq = ibv_create_cq(c->ctx, 16, p, p->channel, 0);
	CHECK(p->cq != NULL);
	p->mr = ibv_reg_mr(c->pd, c->mem, CLIENT_MEM_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(p->mr != NULL);
	for (unsigned i = 0; i < 2; i++)
		p->qp[i] = make_qp(c, p->cq, IBV_QPT_RC);
	for (unsigned i = 0; i < 2; i++)
		connect_qp(c, p->qp[i], p->qp[!i]->qp_num);
}

static void
pair_post(struct pair *p, struct ibv_sge from, struct ibv_sge to)
{
	struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &to, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {
		.wr_id = 2, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad_send;

	CHECK_EQ(ibv_post_recv(p->qp[1], &recv, &bad_recv), 0);
	CHECK_EQ(ibv_post_send(p->qp[0], &send, &bad_send), 0);
}

static void
pair_send(struct client *c, struct pair *p)
{
	struct ibv_sge from = {(uintptr_t)c->mem, MESSAGE_BYTES, p->mr->lkey}, to = from;

	to.addr += MESSAGE_BYTES;
	pair_post(p, from, to);
}

/* One event, then both completions. */
static void
pair_complete(struct pair *p)
{
	struct pollfd pfd = {.fd = p->channel->fd, .events = POLLIN};
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *context;
	int n, got = 0;

	CHECK_EQ(poll(&pfd, 1, 5000), 1);
	CHECK_EQ(ibv_get_cq_event(p->channel, &cq, &context), 0);
	CHECK(cq == p->cq && context == p);
	ibv_ack_cq_events(cq, 1);
	for (unsigned i = 0; i < 50000000 && got < 2; i++) {
		n = ibv_poll_cq(p->cq, 1, &wc);
		if (n <= 0)
			continue;
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		got++;
	}
	CHECK_EQ(got, 2);
}

static void
pair_close(struct pair *p)
{
	for (unsigned i = 0; i < 2; i++)
		CHECK_EQ(ibv_destroy_qp(p->qp[i]), 0);
	CHECK_EQ(ibv_destroy_cq(p->cq), 0);
	CHECK_EQ(poll(&(struct pollfd){.fd = p->channel->fd, .events = POLLIN}, 1, 0), 0);
	CHECK_EQ(ibv_destroy_comp_channel(p->channel), 0);
	CHECK_EQ(ibv_dereg_mr(p->mr), 0);
}

/* One message there and back to the program, with its event. */
static void
pair_exchange(struct client *c, struct pair *p, uint8_t fill)
{
	memset(c->mem, fill, MESSAGE_BYTES);
	memset(c->mem + MESSAGE_BYTES, 0, MESSAGE_BYTES);
	CHECK_EQ(ibv_req_notify_cq(p->cq, 0), 0);
	pair_send(c, p);
	pair_complete(p);
	CHECK(memcmp(c->mem, c->mem + MESSAGE_BYTES, MESSAGE_BYTES) == 0);
}

/* An event that was not read does not block ibv_destroy_cq(). */
static void
check_pair(struct client *c)
{
	struct pair p;

	pair_open(c, &p);
	pair_exchange(c, &p, 0x5a);
	CHECK_EQ(ibv_req_notify_cq(p.cq, 0), 0);
	pair_send(c, &p);
	CHECK_EQ(poll(&(struct pollfd){.fd = p.channel->fd, .events = POLLIN}, 1, 5000), 1);
	pair_close(&p);
}

/* Nothing is posted: the limit is reached as soon as it is set, and then set no more. */
static void
check_srq(struct client *c)
{
	struct pollfd pfd = {.fd = c->ctx->async_fd, .events = POLLIN};
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(c->pd, &init);
	struct ibv_srq_attr attr = {.srq_limit = 2};
	struct ibv_async_event event;

	CHECK(srq != NULL);
	if (srq == NULL)
		return;
	CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	CHECK_EQ(poll(&pfd, 1, 5000), 1);
	CHECK_EQ(ibv_get_async_event(c->ctx, &event), 0);
	CHECK_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK(event.element.srq == srq);
	ibv_ack_async_event(&event);
	CHECK_EQ(ibv_query_srq(srq, &attr), 0);
	CHECK_EQ(attr.srq_limit, 0);
	CHECK(attr.max_wr >= 8);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

/* A raw packet QP, with a flow to it, and the objects it needs. */
static void
check_raw(struct client *c, struct ibv_cq *cq)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} __attribute__((packed)) rule = {
		.attr = {.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .num_of_specs = 1,
			 .port = 1},
		.eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth),
			.val = {.dst_mac = {2, 0, 0, 0, 0, 1}},
			.mask = {.dst_mac = {255, 255, 255, 255, 255, 255}}},
	};
	struct ibv_qp *qp = make_qp(c, cq, IBV_QPT_RAW_PACKET);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp_init_attr init;
	struct ibv_flow *flow;

	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PORT), 0);
	a.qp_state = IBV_QPS_RTR;
	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	a.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	CHECK_EQ(ibv_query_qp(qp, &a, IBV_QP_STATE, &init), 0);
	CHECK_EQ(a.qp_state, IBV_QPS_RTS);
	flow = ibv_create_flow(qp, &rule.attr);
	CHECK(flow != NULL);
	if (flow != NULL)
		CHECK_EQ(ibv_destroy_flow(flow), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static void
check_rss(struct client *c, struct ibv_cq *cq)
{
	static uint8_t key[40];
	struct ibv_wq_init_attr wq_attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = c->pd, .cq = cq};
	struct ibv_wq *wq = ibv_create_wq(c->ctx, &wq_attr);
	struct ibv_wq_attr ready = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	struct ibv_rwq_ind_table_init_attr tbl_attr = {.ind_tbl = &wq};
	struct ibv_rwq_ind_table *tbl;
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH |
			     IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = c->pd,
		.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, sizeof(key), key,
				 IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4},
	};
	struct ibv_qp *qp;

	CHECK(wq != NULL);
	CHECK_EQ(ibv_modify_wq(wq, &ready), 0);
	tbl = ibv_create_rwq_ind_table(c->ctx, &tbl_attr);
	CHECK(tbl != NULL);
	attr.rwq_ind_tbl = tbl;
	qp = ibv_create_qp_ex(c->ctx, &attr);
	CHECK(qp != NULL);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_rwq_ind_table(tbl), 0);
	CHECK_EQ(ibv_destroy_wq(wq), 0);
}

static void
check_device_memory(struct client *c)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};
	struct ibv_dm *dm = ibv_alloc_dm(c->ctx, &attr);
	uint32_t word = 0x600df00d, back = 0;
	struct ibv_mr *mr;

	CHECK(dm != NULL);
	if (dm == NULL)
		return;
	CHECK_EQ(ibv_memcpy_to_dm(dm, 64, &word, sizeof(word)), 0);
	CHECK_EQ(ibv_memcpy_from_dm(&back, dm, 64, sizeof(back)), 0);
	CHECK_EQ(back, word);
	mr = ibv_reg_dm_mr(c->pd, dm, 0, 4096, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr != NULL);
	/* In use by the region. */
	CHECK_EQ(ibv_free_dm(dm), EBUSY);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
}

void
case_verbs(unsigned port)
{
	struct ibv_cq *cq;
	struct client c;

	client_open(&c, port);
	check_pair(&c);
	check_srq(&c);
	cq = ibv_create_cq(c.ctx, 16, NULL, NULL, 0);
	CHECK(cq != NULL);
	check_raw(&c, cq);
	check_rss(&c, cq);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	client_close(&c);
}

/* A child that touches nothing: it ends in one way or another, or becomes another program. */
static void
child_main(unsigned way, int fd)
{
	struct rlimit cpu = {5, 5};

	/* One that hangs ends by a signal, which the parent sees. */
	setrlimit(RLIMIT_CPU, &cpu);
	alarm(20);
	if (way % 4 == 0)
		_exit(0);
	if (way % 4 == 1)
		exit(0);
	if (way % 4 == 2)
		execlp("true", "true", (char *)NULL);
	close(fd);
	fclose(stdin);
	_exit(system("true"));
}

static void
check_child(pid_t pid)
{
	int status = -1;

	CHECK(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

static _Atomic bool busy_stop;

/* Inside the model as often as can be, so that a fork finds its locks held. */
static void *
busy_main(void *arg)
{
	struct client *c = arg;
	struct ibv_port_attr attr;

	while (!busy_stop) {
		struct client_obj cq = client_cq(c);

		CHECK_EQ(mlx5dv_devx_obj_destroy(cq.obj), 0);
		CHECK_EQ(ibv_query_port(c->ctx, 1, &attr), 0);
	}
	return NULL;
}

/* The parent's messages go on before, while and after children live; nothing is left. */
void
case_fork_busy(unsigned port)
{
	struct client c, other;
	pthread_t busy;
	struct pair p;

	client_open(&c, port);
	client_open(&other, port);
	pair_open(&c, &p);
	busy_stop = false;
	CHECK_EQ(pthread_create(&busy, NULL, busy_main, &other), 0);
	for (unsigned i = 0; i < 40; i++) {
		pid_t pid;

		CHECK_EQ(ibv_req_notify_cq(p.cq, 0), 0);
		pair_send(&c, &p);
		pid = fork();
		if (pid == 0)
			child_main(i, c.ctx->cmd_fd);
		pair_complete(&p);
		pair_exchange(&c, &p, (uint8_t)i);
		check_child(pid);
	}
	pair_exchange(&c, &p, 0xa5);
	busy_stop = true;
	pthread_join(busy, NULL);
	pair_close(&p);
	client_close(&other);
	client_close(&c);
}

static sigjmp_buf fault_out;

static void
on_own_fault(int sig)
{
	siglongjmp(fault_out, sig);
}

/* The program's own faults stay its own: it finds its handler, and the handler is called. */
static void
check_own_fault(volatile uint8_t *unmapped)
{
	struct sigaction act;

	CHECK(signal(SIGSEGV, on_own_fault) == SIG_DFL);
	CHECK_EQ(sigaction(SIGSEGV, NULL, &act), 0);
	CHECK(act.sa_handler == on_own_fault);
	switch (sigsetjmp(fault_out, 1)) {
	case 0:
		*unmapped = 1;
		CHECK(!"reached");
		break;
	case SIGSEGV:
		break;
	default:
		CHECK(!"another signal");
	}
	CHECK(signal(SIGSEGV, SIG_DFL) == on_own_fault);
}

/*
 * Memory that is unmapped while it is registered, and then sent from and received into: a card
 * would go on with the pages that the kernel pinned. Who did nothing wrong notices nothing.
 */
void
case_unmapped(unsigned port)
{
	const size_t bytes = 8 * 4096;
	struct pair wrong, good;
	struct ibv_sge from, to;
	struct ibv_mr *mr;
	struct client c;
	uint8_t *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	client_open(&c, port);
	pair_open(&c, &wrong);
	pair_open(&c, &good);
	mr = ibv_reg_mr(c.pd, mem, bytes, IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr != NULL);
	pair_exchange(&c, &good, 1);
	CHECK_EQ(munmap(mem, bytes), 0);
	check_own_fault(mem);
	from = (struct ibv_sge){(uintptr_t)mem, MESSAGE_BYTES, mr->lkey};
	to = (struct ibv_sge){(uintptr_t)mem + 4096, MESSAGE_BYTES, mr->lkey};
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(ibv_req_notify_cq(wrong.cq, 0), 0);
		pair_post(&wrong, from, to);
		pair_complete(&wrong);
		pair_exchange(&c, &good, (uint8_t)i);
	}
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&wrong);
	pair_close(&good);
	client_close(&c);
}

/* Each is one note in the audit. */
void
case_verbs_refusals(unsigned port)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS};
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct client c;

	client_open(&c, port);
	check_device_memory(&c);
	cq = ibv_create_cq(c.ctx, 16, NULL, NULL, 0);
	CHECK(cq != NULL);
	CHECK(ibv_create_cq(c.ctx, 16, NULL, NULL, c.ctx->num_comp_vectors) == NULL);
	CHECK_EQ(errno, EINVAL);
	CHECK(ibv_reg_mr(c.pd, c.mem, 4096, IBV_ACCESS_REMOTE_WRITE) == NULL);
	CHECK_EQ(errno, EINVAL);
	qp = make_qp(&c, cq, IBV_QPT_RC);
	CHECK_EQ(ibv_destroy_cq(cq), EBUSY);
	CHECK_EQ(ibv_modify_qp(qp, &a, IBV_QP_STATE), EINVAL);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	client_close(&c);
}

/* The end of the process destroys what is left, and the report counts it. */
void
case_verbs_leave(unsigned port)
{
	struct client c;
	struct ibv_cq *cq;

	client_open(&c, port);
	cq = ibv_create_cq(c.ctx, 16, NULL, NULL, 0);
	CHECK(cq != NULL);
	(void)make_qp(&c, cq, IBV_QPT_RAW_PACKET);
	(void)make_qp(&c, cq, IBV_QPT_UD);
}
