/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Requests of secondary processes: the primary process answers each, whatever it contains, and uses nothing of it
 * unchecked. A secondary one takes no late answer. EAL's messages and mempools are replaced.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <mdv_compat.h>

/* EAL, which starts control threads, is not initialised here. */
static int thread_create(pthread_t *thread, const char *name, mdv_thread_ret (*run)(void *arg), void *arg);
#define mdv_thread_create thread_create
#include "../../drivers/net/mlxpmd/mlxpmd_primary.c"
#include "../../drivers/net/mlxpmd/mlxpmd_request.c"
#include "../await.h"
#include "../check.h"

#define RANDOM 1000000u
#define WAIT_MS 60000
/** More requests than the queue takes. */
#define FLOOD 10000u

int mlxpmd_logtype;
static rte_mp_t handler;
static _Atomic unsigned int answers, refused_again;
static unsigned int existing, registered, forgotten, dumped;
/** The port is busy: a dump of its flows waits. */
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static struct rte_mp_msg answer;
static char dump[16];
static const struct rte_flow *dumped_flow;
static int queried;
static struct rte_mempool pools[3]; /* The last one has pinned buffers. */
static struct mlxpmd_port port = { .port_id = 3 };
static struct rte_device device = { .name = "0000:c1:00.0" };
static struct rte_eth_dev eth_dev = { .device = &device };
static struct mdv_dev mdv;

static mdv_thread_ret (*thread_run)(void *arg);

static void *
thread_main(void *arg)
{
	(void)thread_run(arg);
	return NULL;
}

static int thread_rc;

static int
thread_create(pthread_t *thread, const char *name, mdv_thread_ret (*run)(void *arg), void *arg)
{
	CHECK_STR(name, "mlxpmd-mp");
	thread_run = run;
	return thread_rc != 0 ? thread_rc : -pthread_create(thread, NULL, thread_main, arg);
}

int __wrap_rte_mp_action_register(const char *name, rte_mp_t action);
int
__wrap_rte_mp_action_register(const char *name, rte_mp_t action)
{
	CHECK_STR(name, "mlxpmd");
	handler = action;
	return 0;
}

void __wrap_rte_mp_action_unregister(const char *name);
void
__wrap_rte_mp_action_unregister(const char *name)
{
	CHECK_STR(name, "mlxpmd");
	handler = NULL;
}

int __wrap_rte_mp_reply(struct rte_mp_msg *msg, const char *peer);
int
__wrap_rte_mp_reply(struct rte_mp_msg *msg, const char *peer)
{
	CHECK_STR(peer, "peer");
	answer = *msg;
	refused_again += ((const struct mlxpmd_message *)msg->param)->rc == -EAGAIN;
	/* It is closed afterwards. */
	if (msg->num_fds == 1 && dumped == 1)
		CHECK(pread(msg->fds[0], dump, sizeof(dump), 0) == 10);
	answers++;
	return 0;
}

void __wrap_rte_mempool_walk(void (*func)(struct rte_mempool *, void *), void *arg);
void
__wrap_rte_mempool_walk(void (*func)(struct rte_mempool *, void *), void *arg)
{
	func(&pools[0], arg);
	func(&pools[1], arg);
	func(&pools[2], arg);
}

int __wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...);
int
__wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...)
{
	(void)level, (void)type, (void)format;
	return 0;
}

/* The primary process is this one, too. EAL duplicates the descriptors of the answer. */
static bool late;
int __wrap_rte_mp_request_sync(struct rte_mp_msg *msg, struct rte_mp_reply *reply, const struct timespec *ts);
int
__wrap_rte_mp_request_sync(struct rte_mp_msg *msg, struct rte_mp_reply *reply, const struct timespec *ts)
{
	const unsigned int before = answers;

	CHECK(ts->tv_sec > 0 && strcmp(msg->name, "mlxpmd") == 0);
	if (!late) {
		CHECK_OK(handler(msg, "peer"));
		CHECK(AWAIT(answers == before + 1, WAIT_MS));
	}
	reply->nb_sent = reply->nb_received = 1;
	reply->msgs = malloc(sizeof(answer));
	CHECK(reply->msgs != NULL);
	*reply->msgs = answer;
	for (int i = 0; i < answer.num_fds; i++)
		reply->msgs->fds[i] = dup(STDERR_FILENO);
	return 0;
}

/* ---- the common layer ---- */

int
mdv_device_fd(const struct mdv_dev *dev)
{
	CHECK(dev == &mdv);
	return 77;
}

void
mdv_mr_existing(struct mdv_dev *dev)
{
	CHECK(dev == &mdv);
	existing++;
}

const struct mdv_mr_set *
mdv_mr_mempool(struct mdv_dev *dev, struct rte_mempool *mp)
{
	static const struct mdv_mr_set set;

	CHECK(dev == &mdv && (mp == &pools[0] || mp == &pools[1]));
	registered++;
	rte_errno = EFAULT;
	return mp == &pools[0] ? &set : NULL;
}

bool
mdv_mr_pinned(struct rte_mempool *mp)
{
	return mp == &pools[2];
}

void
mdv_mr_forget(struct mdv_dev *dev, const struct rte_mempool *mp)
{
	CHECK(dev == &mdv);
	(void)mp;
	forgotten++;
}

int
mlxpmd_flow_dump(struct rte_eth_dev *dev, struct rte_flow *flow, FILE *file, struct rte_flow_error *error)
{
	CHECK(dev == &eth_dev && error != NULL);
	dumped_flow = flow;
	pthread_mutex_lock(&busy);
	pthread_mutex_unlock(&busy);
	dumped++;
	fprintf(file, "two flows\n");
	return 0;
}

#define COUNTED 0x1230u
#define HITS 77

static int
query_answer_make(const struct mlxpmd_port *p, uint64_t address, struct rte_flow_query_count *count,
		  struct rte_flow_error *error)
{
	CHECK(p == &port && count->reset == 0);
	if (address != COUNTED)
		return rte_flow_error_set(error, ENOENT, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "no such one");
	count->hits = HITS;
	return 0;
}

int
mlxpmd_flow_query_other(struct mlxpmd_port *p, uint64_t address, const struct rte_flow_action *action, void *data,
			struct rte_flow_error *error)
{
	CHECK(action->conf == NULL);
	queried = action->type;
	return query_answer_make(p, address, data, error);
}

int
mlxpmd_flow_handle_query_other(struct mlxpmd_port *p, uint64_t address, void *data, struct rte_flow_error *error)
{
	queried = -1;
	return query_answer_make(p, address, data, error);
}

/* ---- requests ---- */

static const struct mlxpmd_message *
send_request(const void *param, int len)
{
	struct rte_mp_msg msg = { .name = "mlxpmd", .len_param = len };
	const unsigned int before = answers;

	memcpy(msg.param, param, sizeof(struct mlxpmd_message));
	CHECK_OK(handler(&msg, "peer"));
	CHECK(AWAIT(answers == before + 1, WAIT_MS));
	CHECK(answer.len_param == sizeof(struct mlxpmd_message) && strcmp(answer.name, "mlxpmd") == 0);
	return (const struct mlxpmd_message *)answer.param;
}

static int
send_values(uint16_t type, uint16_t port_id, const void *mempool, const char *name)
{
	struct mlxpmd_message message = {
		.layout = mlxpmd_message_layout(), .type = type, .port_id = port_id, .object = (uintptr_t)mempool,
	};

	snprintf(message.name, sizeof(message.name), "%s", name);
	return send_request(&message, sizeof(message))->rc;
}

static void
test_requests(void)
{
	struct mlxpmd_message other = { .layout = mlxpmd_message_layout() + 1, .type = MLXPMD_MESSAGE_ATTACH };

	CHECK_EQ(send_values(MLXPMD_MESSAGE_ATTACH, 0, NULL, "0000:c1:00.0"), 0);
	CHECK_EQ(((const struct mlxpmd_message *)answer.param)->port_id, 3);
	CHECK(answer.num_fds == MLXPMD_NB_FDS && answer.fds[MLXPMD_FD_DEVICE] == 77 && existing == 1);
	CHECK_EQ(fcntl(answer.fds[MLXPMD_FD_ALIVE], F_GETFD), FD_CLOEXEC);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_ATTACH, 0, NULL, "0000:c1:00.1"), -ENODEV);
	CHECK_EQ(answer.num_fds, 0);
	snprintf(other.name, sizeof(other.name), "0000:c1:00.0");
	for (other.type = 0; other.type < MLXPMD_NB_MESSAGES; other.type++) {
		CHECK_EQ(send_request(&other, sizeof(other))->rc, -EPROTO);
		CHECK_EQ(answer.num_fds, 0);
	}
	CHECK_EQ(send_values(MLXPMD_MESSAGE_REGISTER, 3, &pools[0], ""), 0);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_REGISTER, 3, &pools[1], ""), -EFAULT);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_REGISTER, 3, &pools[2], ""), 0);
	/* Neither a mempool nor a port of this driver. */
	CHECK_EQ(send_values(MLXPMD_MESSAGE_REGISTER, 3, &other, ""), -ENOENT);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_REGISTER, 2, &pools[0], ""), -ENODEV);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_REGISTER, UINT16_MAX, &pools[0], ""), -ENODEV);
	CHECK_EQ(registered, 2);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_FORGET, 3, &other, ""), 0);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_FORGET, 4, &other, ""), -ENODEV);
	CHECK_EQ(forgotten, 1);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_FLOWS, 3, NULL, ""), 0);
	CHECK(answer.num_fds == 1 && strcmp(dump, "two flows\n") == 0);
	CHECK(AWAIT(fcntl(answer.fds[0], F_GETFD) < 0 && errno == EBADF, WAIT_MS));
	CHECK_EQ(send_values(MLXPMD_MESSAGE_FLOWS, 4, NULL, ""), -ENODEV);
	CHECK_EQ(answer.num_fds, 0);
}

/* Of a flow's address the primary process gives the flows that it has, and the reason why it has none. */
static void
test_queries(void)
{
	static const uint16_t types[] = { MLXPMD_MESSAGE_FLOW_QUERY, MLXPMD_MESSAGE_HANDLE_QUERY };
	struct mlxpmd_message message;

	for (unsigned int i = 0; i < RTE_DIM(types); i++) {
		message = (struct mlxpmd_message){
			.type = types[i], .port_id = 3, .object = COUNTED, .action = RTE_FLOW_ACTION_TYPE_COUNT,
		};
		CHECK_OK(mlxpmd_request(&message, NULL));
		CHECK(message.count.hits == HITS && queried == (i == 0 ? RTE_FLOW_ACTION_TYPE_COUNT : -1));
		message.object++;
		CHECK_EQ(mlxpmd_request(&message, NULL), -ENOENT);
		CHECK_STR(message.why, "no such one");
		message = (struct mlxpmd_message){ .type = types[i], .port_id = 2, .object = COUNTED };
		CHECK_EQ(mlxpmd_request(&message, NULL), -ENODEV);
		CHECK_STR(message.why, "");
	}
	/* A late answer explains nothing about this request. */
	CHECK_EQ(send_values(MLXPMD_MESSAGE_ATTACH, 0, NULL, "0000:c1:00.0"), 0);
	late = true;
	message = (struct mlxpmd_message){ .type = MLXPMD_MESSAGE_ATTACH };
	CHECK_EQ(mlxpmd_request(&message, NULL), -ESTALE);
	CHECK_STR(message.why, "");
	message.type = MLXPMD_MESSAGE_FLOW_QUERY;
	CHECK_EQ(mlxpmd_request(&message, NULL), -EPROTO);
	CHECK_STR(message.why, "");
	late = false;
	CHECK_EQ(send_values(MLXPMD_MESSAGE_FLOWS, 3, &port, ""), 0);
	CHECK((const void *)dumped_flow == &port);
	CHECK_STR(mlxpmd_request_reason(-ETIMEDOUT), "the primary process does not answer, or has not loaded mlxpmd");
	CHECK_STR(mlxpmd_request_reason(-ENOMEM), rte_strerror(ENOMEM));
}

/* Requests of a secondary process: descriptors, and the late answer to an earlier request. */
static void
test_answers(void)
{
	struct mlxpmd_message message = { .type = MLXPMD_MESSAGE_ATTACH };
	int fds[MLXPMD_NB_FDS] = { -1, -1 }, unused;

	snprintf(message.name, sizeof(message.name), "0000:c1:00.0");
	CHECK_OK(mlxpmd_request(&message, fds));
	CHECK_EQ(message.port_id, 3);
	for (unsigned int i = 0; i < RTE_DIM(fds); i++) {
		CHECK_EQ(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
		close(fds[i]);
	}
	late = true;
	CHECK_EQ(mlxpmd_request(&message, fds), -ESTALE);
	late = false;
	/* Its descriptors were closed. */
	unused = dup(STDERR_FILENO);
	CHECK_EQ(unused, RTE_MIN(fds[0], fds[1]));
	close(unused);
	CHECK_OK(mlxpmd_request(&message, NULL));
	unused = dup(STDERR_FILENO);
	CHECK_EQ(unused, RTE_MIN(fds[0], fds[1]));
	close(unused);
}

/* While the port is busy EAL's thread is not: each request is stored, or answered with EAGAIN, at once. */
static void
test_busy(void)
{
	struct mlxpmd_message message = {
		.layout = mlxpmd_message_layout(), .type = MLXPMD_MESSAGE_FLOWS, .port_id = 3,
	};
	struct rte_mp_msg msg = { .len_param = sizeof(message) };
	const unsigned int before = answers;

	pthread_mutex_lock(&busy);
	for (unsigned int i = 0; i < FLOOD; i++) {
		memcpy(msg.param, &message, sizeof(message));
		CHECK_OK(handler(&msg, "peer"));
		/* None of the others is answered before the first one. */
		CHECK_EQ(answers - before, refused_again);
		message.type = MLXPMD_MESSAGE_FORGET;
	}
	CHECK(refused_again > 0 && refused_again < FLOOD - 16, "%u of %u refused", refused_again, FLOOD);
	pthread_mutex_unlock(&busy);
	CHECK(AWAIT(answers == before + FLOOD, WAIT_MS), "%u of %u answered", answers - before, FLOOD);
	CHECK_EQ(send_values(MLXPMD_MESSAGE_FORGET, 3, NULL, ""), 0);
}

static _Atomic unsigned int signals;

static void
on_signal(int number __rte_unused)
{
	signals++;
}

/* A signal of the application that is delivered to the thread does not end it. */
static void
test_signal(void)
{
	const struct sigaction action = { .sa_handler = on_signal };

	CHECK_OK(sigaction(SIGUSR1, &action, NULL));
	CHECK_OK(pthread_kill(primary.thread, SIGUSR1));
	CHECK(AWAIT(signals == 1, WAIT_MS));
	CHECK_EQ(send_values(MLXPMD_MESSAGE_FORGET, 3, NULL, ""), 0);
}

static void
test_malformed(void)
{
	struct mlxpmd_message message = { .layout = mlxpmd_message_layout(), .type = MLXPMD_MESSAGE_ATTACH };
	const uint64_t before = primary.refused;
	struct rte_mp_msg msg = { .len_param = 1, .num_fds = 1 };
	unsigned int last;

	for (int len = -1; len <= (int)sizeof(message) + 1; len++)
		CHECK_EQ(send_request(&message, len)->rc, len == sizeof(message) ? -ENODEV : -EINVAL);
	message.type = MLXPMD_NB_MESSAGES;
	CHECK_EQ(send_request(&message, sizeof(message))->rc, -EINVAL);
	message.type = MLXPMD_MESSAGE_ATTACH;
	memset(message.name, 'x', sizeof(message.name));
	CHECK_EQ(send_request(&message, sizeof(message))->rc, -EINVAL);
	/* A descriptor, which no request has, is closed. */
	msg.fds[0] = open("/dev/null", O_RDONLY);
	last = answers;
	CHECK_OK(handler(&msg, "peer"));
	CHECK(fcntl(msg.fds[0], F_GETFD) < 0 && errno == EBADF);
	CHECK(AWAIT(answers == last + 1, WAIT_MS));
	CHECK_EQ(primary.refused, before + sizeof(message) + 2 + 3);
}

/* Without the queue, whose thread is idle. */
static int
answer_random(const void *param, int len)
{
	struct rte_mp_msg msg = { .len_param = len };
	struct request request = { .peer = "peer" };

	memcpy(msg.param, param, sizeof(struct mlxpmd_message));
	request.valid = is_request(&msg, &request.message);
	request_answer(&request);
	return ((const struct mlxpmd_message *)answer.param)->rc;
}

/* Random bytes, most of them in a message of the right size and type. */
static void
test_random(void)
{
	uint64_t words[sizeof(struct mlxpmd_message) / sizeof(uint64_t)], state = 88172645463325252u;
	unsigned int bad = 0;

	for (unsigned int i = 0; i < RANDOM; i++) {
		struct mlxpmd_message *message = (struct mlxpmd_message *)words;

		for (unsigned int k = 0; k < RTE_DIM(words); k++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			words[k] = state;
		}
		message->type %= MLXPMD_NB_MESSAGES + 1;
		message->port_id = state % 8 < 4 ? 3 : message->port_id;
		/* Of another build, most of them. */
		if (state % 4 != 0)
			message->layout = mlxpmd_message_layout();
		bad += answer_random(words, state % 16 == 0 ? (int)(state % 256) : (int)sizeof(*message)) > 0;
	}
	CHECK_EQ(bad, 0);
	CHECK_EQ(registered, 2);
}

/* A secondary process that does not run: the primary one waits, not forever, and has announced the end of the port. */
static void
test_close(void)
{
	char closed;
	int alive;

	CHECK_EQ(send_values(MLXPMD_MESSAGE_ATTACH, 0, NULL, "0000:c1:00.0"), 0);
	alive = dup(answer.fds[MLXPMD_FD_ALIVE]);
	CHECK(recv(alive, &closed, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	mlxpmd_primary_down(&port);
	CHECK(handler == NULL);
	CHECK_EQ(recv(alive, &closed, 1, MSG_DONTWAIT), 1);
	CHECK_EQ(recv(alive, &closed, 1, MSG_DONTWAIT), 0);
	close(alive);
	mlxpmd_primary_down(&port);
	/* No thread. */
	thread_rc = -EAGAIN;
	CHECK_EQ(mlxpmd_primary_up(&port), -EAGAIN);
	CHECK(handler == NULL);
	thread_rc = 0;
	/* Another port. */
	CHECK_OK(mlxpmd_primary_up(&port));
	CHECK(handler != NULL);
	mlxpmd_primary_down(&port);
	CHECK(handler == NULL);
}

int
main(void)
{
	port.eth_dev = &eth_dev;
	port.mdv = &mdv;
	CHECK_OK(mlxpmd_primary_up(&port));
	test_requests();
	test_answers();
	test_queries();
	test_busy();
	test_signal();
	test_malformed();
	test_random();
	test_close();
	return check_exit("primary");
}
