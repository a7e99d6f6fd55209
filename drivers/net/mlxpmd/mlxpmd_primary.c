/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The primary process: answers the requests of secondary processes. They may be faulty.
 *
 * EAL's thread for messages only stores a request: a thread of this file answers it, because registering memory, or an
 * operation that has the port, takes long. EAL needs its thread meanwhile, as to allocate memory or to attach a device
 * in all processes; an alarm is no place either, for the hotplug of EAL waits for secondary processes in one.
 */

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_string_fns.h>

#include <mdv_compat.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_flow.h"
#include "mlxpmd_secondary.h"
#include "mlxpmd_sources.h"

/** Ends of the socket of a port. */
enum { OTHERS, OURS };
/** Ends of the queue of requests. */
enum { PUT, TAKE };

/** A request that waits for its answer. */
struct request {
	bool valid;
	struct mlxpmd_message message;
	char peer[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

static struct {
	/** Serializes beginning and end of ports. Taken before the other one. */
	pthread_mutex_t stage_lock;
	unsigned int nb_ports;
	/** Held while a request is answered: a port is not closed meanwhile. */
	pthread_mutex_t lock;
	struct {
		struct mlxpmd_port *port;
		/** Socket: each side notices when the other one is closed in all processes that have it. */
		int alive[2];
	} ports[RTE_MAX_ETHPORTS];
	int made;	/**< Descriptor that is closed when the answer was sent; -1: none. */
	uint64_t refused;	/**< Malformed requests. */
	/** Socket of requests, which keeps their borders; -1: none is answered. Its lock is held for moments only. */
	int queue[2];
	pthread_mutex_t queue_lock;
	pthread_t thread;
} primary = {
	.stage_lock = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .made = -1, .queue = { -1, -1 },
	.queue_lock = PTHREAD_MUTEX_INITIALIZER,
};

uint64_t
mlxpmd_message_layout(void)
{
	static const size_t sizes[] = {
		sizeof(struct mlxpmd_message), sizeof(struct mlxpmd_port), sizeof(struct mlxpmd_rxq),
		sizeof(struct mlxpmd_txq), sizeof(struct mdv_dev), sizeof(struct mlxpmd_counts),
	};
	/* In memory, and volatile: what is in the file can be read and compared (strings). */
	static const char sources[] = "mlxpmd sources " MLXPMD_SOURCES_HASH;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
		sum = sum * 0x10001 + sizes[i];
	for (unsigned int i = 0; i < sizeof(sources); i++)
		sum = sum * 0x100000001b3 + ((const volatile char *)sources)[i];
	return sum;
}

/* ------------------------------------------------------------------ requests; the lock is held */

static struct mlxpmd_port *
port_of(const struct mlxpmd_message *request)
{
	return request->port_id < RTE_MAX_ETHPORTS ? primary.ports[request->port_id].port : NULL;
}

static struct mlxpmd_port *
port_named(const char *name)
{
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (primary.ports[i].port != NULL && strcmp(primary.ports[i].port->eth_dev->device->name, name) == 0)
			return primary.ports[i].port;
	return NULL;
}

static int
attach(const struct mlxpmd_message *request, struct rte_mp_msg *reply)
{
	struct mlxpmd_message *answer = (struct mlxpmd_message *)reply->param;
	struct mlxpmd_port *port = port_named(request->name);

	if (port == NULL)
		return -ENODEV;
	answer->port_id = port->port_id;
	/* Those that processes created before they had this driver. */
	mdv_mr_existing(port->mdv);
	reply->fds[reply->num_fds++] = primary.ports[port->port_id].alive[OTHERS];
	if (mdv_device_fd(port->mdv) >= 0)
		reply->fds[reply->num_fds++] = mdv_device_fd(port->mdv);
	return 0;
}

struct mempool_search {
	const void *wanted;
	struct rte_mempool *found;
};

static void
mempool_compare(struct rte_mempool *mp, void *arg)
{
	struct mempool_search *search = arg;

	if (mp == search->wanted)
		search->found = mp;
}

static int
mempool_register(const struct mlxpmd_message *request, struct rte_mp_msg *reply __rte_unused)
{
	struct mempool_search search = { .wanted = (void *)(uintptr_t)request->object };
	struct mlxpmd_port *port = port_of(request);

	if (port == NULL)
		return -ENODEV;
	rte_mempool_walk(mempool_compare, &search);
	if (search.found == NULL)
		return -ENOENT;
	/* It is ready, but its external buffers are pinned only now. A queue that uses it registers them. */
	if (mdv_mr_pinned(search.found))
		return 0;
	return mdv_mr_mempool(port->mdv, search.found) != NULL ? 0 : -rte_errno;
}

static int
mempool_forget(const struct mlxpmd_message *request, struct rte_mp_msg *reply __rte_unused)
{
	struct mlxpmd_port *port = port_of(request);

	if (port == NULL)
		return -ENODEV;
	/* Only compared: a mempool that is freed is in no list any more. */
	mdv_mr_forget(port->mdv, (const struct rte_mempool *)(uintptr_t)request->object);
	return 0;
}

/* Into memory of this process: a file of the other one could block this thread. */
static int
flows_dump(const struct mlxpmd_message *request, struct rte_mp_msg *reply)
{
	struct mlxpmd_port *port = port_of(request);
	struct rte_flow_error error;
	int fd, rc;
	FILE *file;

	if (port == NULL)
		return -ENODEV;
	primary.made = memfd_create("mlxpmd_flows", MFD_CLOEXEC);
	fd = primary.made >= 0 ? fcntl(primary.made, F_DUPFD_CLOEXEC, 0) : -1;
	file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (file == NULL) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	/* Only compared with the flows that there are. */
	rc = mlxpmd_flow_dump(port->eth_dev, (struct rte_flow *)(uintptr_t)request->object, file, &error);
	if (fclose(file) != 0 && rc == 0)
		rc = -errno;
	reply->fds[reply->num_fds++] = primary.made;
	return rc;
}

/* Of a flow or of an indirect action. */
static int
flow_query(const struct mlxpmd_message *request, struct rte_mp_msg *reply)
{
	struct mlxpmd_message *answer = (struct mlxpmd_message *)reply->param;
	const struct rte_flow_action action = { .type = request->action };
	struct mlxpmd_port *port = port_of(request);
	struct rte_flow_error error;
	int rc;

	if (port == NULL)
		return -ENODEV;
	memset(answer->why, 0, sizeof(answer->why));
	if (request->type == MLXPMD_MESSAGE_FLOW_QUERY)
		rc = mlxpmd_flow_query_other(port, request->object, &action, &answer->count, &error);
	else
		rc = mlxpmd_flow_handle_query_other(port, request->object, &answer->count, &error);
	if (rc != 0)
		strlcpy(answer->why, error.message, sizeof(answer->why));
	return rc;
}

static int (*const requests[MLXPMD_NB_MESSAGES])(const struct mlxpmd_message *, struct rte_mp_msg *) = {
	[MLXPMD_MESSAGE_ATTACH] = attach,
	[MLXPMD_MESSAGE_REGISTER] = mempool_register,
	[MLXPMD_MESSAGE_FORGET] = mempool_forget,
	[MLXPMD_MESSAGE_FLOWS] = flows_dump,
	[MLXPMD_MESSAGE_FLOW_QUERY] = flow_query,
	[MLXPMD_MESSAGE_HANDLE_QUERY] = flow_query,
};

static void
reply_send(struct rte_mp_msg *reply, const char *peer)
{
	strlcpy(reply->name, MLXPMD_MESSAGE_NAME, sizeof(reply->name));
	reply->len_param = sizeof(struct mlxpmd_message);
	/* The descriptors are duplicated before the call returns. */
	if (rte_mp_reply(reply, peer) != 0)
		MLXPMD_LOG(NOTICE, "another process cannot be answered: %s", rte_strerror(rte_errno));
}

static void
request_answer(const struct request *request)
{
	struct rte_mp_msg reply = { .num_fds = 0 };
	struct mlxpmd_message *answer = (struct mlxpmd_message *)reply.param;

	pthread_mutex_lock(&primary.lock);
	if (request->valid) {
		*answer = request->message;
		answer->rc = answer->layout != mlxpmd_message_layout() ? -EPROTO :
			     requests[answer->type](&request->message, &reply);
	} else {
		answer->rc = -EINVAL;
		if (primary.refused++ == 0)
			MLXPMD_LOG(WARNING, "a request of another process is malformed: refused, further ones are not logged");
	}
	reply_send(&reply, request->peer);
	if (primary.made >= 0)
		close(primary.made);
	primary.made = -1;
	pthread_mutex_unlock(&primary.lock);
}

static mdv_thread_ret
requests_answer(void *arg __rte_unused)
{
	struct request request;
	ssize_t n;

	/* 0: the other end is closed. EINTR: a signal of the application. */
	while ((n = recv(primary.queue[TAKE], &request, sizeof(request), 0)) > 0 || (n < 0 && errno == EINTR))
		if (n == sizeof(request))
			request_answer(&request);
	return 0;
}

static bool
is_request(const struct rte_mp_msg *msg, struct mlxpmd_message *request)
{
	if (msg->len_param != sizeof(*request))
		return false;
	memcpy(request, msg->param, sizeof(*request));
	return request->type < MLXPMD_NB_MESSAGES && memchr(request->name, '\0', sizeof(request->name)) != NULL;
}

/* Runs in EAL's thread for messages. */
static int
request_store(const struct rte_mp_msg *msg, const void *peer)
{
	struct rte_mp_msg reply = { .num_fds = 0 };
	struct mlxpmd_message *answer = (struct mlxpmd_message *)reply.param;
	struct request request = { .valid = false };
	bool stored;

	/* No request has any. */
	for (int i = 0; i < msg->num_fds && i < RTE_MP_MAX_FD_NUM; i++)
		close(msg->fds[i]);
	request.valid = is_request(msg, &request.message);
	strlcpy(request.peer, peer, sizeof(request.peer));
	pthread_mutex_lock(&primary.queue_lock);
	stored = primary.queue[PUT] >= 0 &&
		 send(primary.queue[PUT], &request, sizeof(request), MSG_DONTWAIT) == sizeof(request);
	pthread_mutex_unlock(&primary.queue_lock);
	if (stored)
		return 0;
	/* The queue is full, or being closed. */
	*answer = request.message;
	answer->rc = -EAGAIN;
	reply_send(&reply, request.peer);
	return 0;
}

/* ------------------------------------------------------------------ stage of probe */

/* The end of the queue ends the thread, after the requests that are in it. */
static void
queue_close(void)
{
	pthread_mutex_lock(&primary.queue_lock);
	close(primary.queue[PUT]);
	primary.queue[PUT] = -1;
	pthread_mutex_unlock(&primary.queue_lock);
}

/* 0 or -errno. */
static int
queue_open(void)
{
	int rc, ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	primary.queue[TAKE] = ends[TAKE];
	rc = mdv_thread_create(&primary.thread, "mlxpmd-mp", requests_answer, NULL);
	if (rc != 0) {
		close(ends[PUT]);
		close(ends[TAKE]);
		return rc;
	}
	pthread_mutex_lock(&primary.queue_lock);
	primary.queue[PUT] = ends[PUT];
	pthread_mutex_unlock(&primary.queue_lock);
	return 0;
}

/* 0; 1 there are no other processes; or -errno, logged. */
static int
requests_begin(uint16_t port_id)
{
	int rc;

	if (primary.nb_ports != 0)
		return 0;
	if (rte_mp_action_register(MLXPMD_MESSAGE_NAME, request_store) != 0) {
		/* EAL shares nothing (--no-shconf, --in-memory). */
		if (rte_errno == ENOTSUP)
			return 1;
		return MLXPMD_FAIL(rte_errno, "port %u: no messages of secondary processes: %s", port_id,
				   rte_strerror(rte_errno));
	}
	rc = queue_open();
	if (rc == 0)
		return 0;
	rte_mp_action_unregister(MLXPMD_MESSAGE_NAME);
	return MLXPMD_FAIL(-rc, "port %u: no thread for requests of secondary processes: %s", port_id,
			   rte_strerror(-rc));
}

static void
requests_end(void)
{
	if (primary.nb_ports != 0)
		return;
	rte_mp_action_unregister(MLXPMD_MESSAGE_NAME);
	queue_close();
	pthread_join(primary.thread, NULL);
	close(primary.queue[TAKE]);
}

static int
port_begin(struct mlxpmd_port *port)
{
	int alive[2], rc = requests_begin(port->port_id);

	if (rc != 0)
		return RTE_MIN(rc, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, alive) != 0) {
		rc = MLXPMD_FAIL(errno, "port %u: no socket for secondary processes: %s", port->port_id,
				 rte_strerror(errno));
		requests_end();
		return rc;
	}
	primary.nb_ports++;
	pthread_mutex_lock(&primary.lock);
	primary.ports[port->port_id].port = port;
	memcpy(primary.ports[port->port_id].alive, alive, sizeof(alive));
	pthread_mutex_unlock(&primary.lock);
	return 0;
}

/* Secondary processes leave the port: until then they use what is freed next, and have the device open. */
static void
leave_wait(uint16_t port_id, int ours)
{
	struct pollfd end = { .fd = ours };
	int rc;

	/* A byte and then the end: the port is closed, not the process (mlxpmd_secondary.c). */
	(void)send(ours, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)shutdown(ours, SHUT_WR);
	do
		rc = poll(&end, 1, MLXPMD_LEAVE_MS);
	while (rc < 0 && errno == EINTR);
	if (rc <= 0)
		MLXPMD_LOG(WARNING, "port %u: a secondary process has not left the port after %u ms, as if it were stopped: "
			   "it may crash when it goes on", port_id, MLXPMD_LEAVE_MS);
	close(ours);
}

int
mlxpmd_primary_up(struct mlxpmd_port *port)
{
	int rc;

	pthread_mutex_lock(&primary.stage_lock);
	rc = port_begin(port);
	pthread_mutex_unlock(&primary.stage_lock);
	return rc;
}

void
mlxpmd_primary_down(struct mlxpmd_port *port)
{
	int *alive = primary.ports[port->port_id].alive;
	bool was_up;

	pthread_mutex_lock(&primary.stage_lock);
	pthread_mutex_lock(&primary.lock);
	was_up = primary.ports[port->port_id].port == port;
	primary.ports[port->port_id].port = NULL;
	pthread_mutex_unlock(&primary.lock);
	if (was_up) {
		close(alive[OTHERS]);
		leave_wait(port->port_id, alive[OURS]);
		primary.nb_ports--;
		/* Without the lock of requests, which the one that is being answered needs. */
		requests_end();
	}
	pthread_mutex_unlock(&primary.stage_lock);
}
