/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The primary process: answers the requests of secondary processes. They are not trusted. */

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_string_fns.h>

#include "mlxpmd_ctrl.h"
#include "mlxpmd_flow.h"
#include "mlxpmd_secondary.h"

static struct {
	/** Held while a request is answered: a port is not closed meanwhile. */
	pthread_mutex_t lock;
	struct mlxpmd_port *ports[RTE_MAX_ETHPORTS];
	unsigned int nb_ports;
	int alive[2];	/**< Pipe. Nothing is written: the read end is at its end when this process ends. */
	int made;	/**< Descriptor that is closed when the answer was sent; -1: none. */
	uint64_t refused;	/**< Malformed requests. */
} primary = { .lock = PTHREAD_MUTEX_INITIALIZER, .alive = { -1, -1 }, .made = -1 };

uint32_t
mlxpmd_message_layout(void)
{
	static const size_t sizes[] = {
		sizeof(struct mlxpmd_message), sizeof(struct mlxpmd_port), sizeof(struct mlxpmd_rxq),
		sizeof(struct mlxpmd_txq), sizeof(struct mdv_dev), sizeof(struct mlxpmd_counts),
	};
	uint32_t sum = 0;

	for (unsigned int i = 0; i < RTE_DIM(sizes); i++)
		sum = sum * 0x10001 + (uint32_t)sizes[i];
	return sum;
}

/* ------------------------------------------------------------------ requests; the lock is held */

static struct mlxpmd_port *
port_of(const struct mlxpmd_message *request)
{
	return request->port_id < RTE_MAX_ETHPORTS ? primary.ports[request->port_id] : NULL;
}

static struct mlxpmd_port *
port_named(const char *name)
{
	for (unsigned int i = 0; i < RTE_MAX_ETHPORTS; i++)
		if (primary.ports[i] != NULL && strcmp(primary.ports[i]->eth_dev->device->name, name) == 0)
			return primary.ports[i];
	return NULL;
}

static int
attach(const struct mlxpmd_message *request, struct rte_mp_msg *reply)
{
	struct mlxpmd_message *answer = (struct mlxpmd_message *)reply->param;
	struct mlxpmd_port *port = port_named(request->name);

	if (request->layout != mlxpmd_message_layout())
		return -EPROTO;
	if (port == NULL)
		return -ENODEV;
	answer->port_id = port->port_id;
	/* Those that processes created before they had this driver. */
	mdv_mr_existing(port->mdv);
	reply->fds[reply->num_fds++] = primary.alive[0];
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
	struct mempool_search search = { .wanted = (void *)(uintptr_t)request->mempool };
	struct mlxpmd_port *port = port_of(request);

	if (port == NULL)
		return -ENODEV;
	rte_mempool_walk(mempool_compare, &search);
	if (search.found == NULL)
		return -ENOENT;
	return mdv_mr_mempool(port->mdv, search.found) != NULL ? 0 : -rte_errno;
}

static int
mempool_forget(const struct mlxpmd_message *request, struct rte_mp_msg *reply __rte_unused)
{
	struct mlxpmd_port *port = port_of(request);

	if (port == NULL)
		return -ENODEV;
	/* Only compared: a mempool that is freed is in no list any more. */
	mdv_mr_forget(port->mdv, (const struct rte_mempool *)(uintptr_t)request->mempool);
	return 0;
}

/* Into memory of this process: a file of the other one could block this thread. */
static int
flows_dump(const struct mlxpmd_message *request, struct rte_mp_msg *reply)
{
	struct mlxpmd_port *port = port_of(request);
	struct rte_flow_error error;
	FILE *file;
	int rc;

	if (port == NULL)
		return -ENODEV;
	primary.made = memfd_create("mlxpmd_flows", MFD_CLOEXEC);
	file = primary.made >= 0 ? fdopen(dup(primary.made), "w") : NULL;
	if (file == NULL)
		return -errno;
	rc = mlxpmd_flow_dump(port->eth_dev, NULL, file, &error);
	if (fclose(file) != 0 && rc == 0)
		rc = -errno;
	reply->fds[reply->num_fds++] = primary.made;
	return rc;
}

static int (*const requests[MLXPMD_NB_MESSAGES])(const struct mlxpmd_message *, struct rte_mp_msg *) = {
	[MLXPMD_MESSAGE_ATTACH] = attach,
	[MLXPMD_MESSAGE_REGISTER] = mempool_register,
	[MLXPMD_MESSAGE_FORGET] = mempool_forget,
	[MLXPMD_MESSAGE_FLOWS] = flows_dump,
};

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
request_answer(const struct rte_mp_msg *msg, const void *peer)
{
	struct rte_mp_msg reply = { .len_param = sizeof(struct mlxpmd_message) };
	struct mlxpmd_message request, *answer = (struct mlxpmd_message *)reply.param;

	/* No request has any. */
	for (int i = 0; i < msg->num_fds && i < RTE_MP_MAX_FD_NUM; i++)
		close(msg->fds[i]);
	strlcpy(reply.name, MLXPMD_MESSAGE_NAME, sizeof(reply.name));
	pthread_mutex_lock(&primary.lock);
	if (is_request(msg, &request)) {
		*answer = request;
		answer->rc = requests[request.type](&request, &reply);
	} else {
		answer->rc = -EINVAL;
		if (primary.refused++ == 0)
			MLXPMD_LOG(WARNING, "a request of another process is malformed: refused, further ones are not logged");
	}
	/* The descriptors are duplicated before the call returns. */
	if (rte_mp_reply(&reply, peer) != 0)
		MLXPMD_LOG(NOTICE, "another process cannot be answered: %s", rte_strerror(rte_errno));
	if (primary.made >= 0)
		close(primary.made);
	primary.made = -1;
	pthread_mutex_unlock(&primary.lock);
	return 0;
}

/* ------------------------------------------------------------------ stage of probe */

static int
requests_begin(uint16_t port_id)
{
	if (pipe2(primary.alive, O_CLOEXEC) != 0)
		return MLXPMD_FAIL(errno, "port %u: no pipe for secondary processes: %s", port_id, rte_strerror(errno));
	if (rte_mp_action_register(MLXPMD_MESSAGE_NAME, request_answer) == 0)
		return 0;
	/* ENOTSUP: EAL shares nothing (--no-shconf, --in-memory): there are no other processes. */
	close(primary.alive[0]);
	close(primary.alive[1]);
	primary.alive[0] = primary.alive[1] = -1;
	if (rte_errno == ENOTSUP)
		return 0;
	return MLXPMD_FAIL(rte_errno, "port %u: no messages of secondary processes: %s", port_id,
			   rte_strerror(rte_errno));
}

static void
requests_end(void)
{
	if (primary.alive[0] < 0)
		return;
	rte_mp_action_unregister(MLXPMD_MESSAGE_NAME);
	close(primary.alive[0]);
	close(primary.alive[1]);
	primary.alive[0] = primary.alive[1] = -1;
}

int
mlxpmd_primary_up(struct mlxpmd_port *port)
{
	int rc = 0;

	pthread_mutex_lock(&primary.lock);
	if (primary.nb_ports == 0)
		rc = requests_begin(port->port_id);
	if (rc == 0) {
		primary.nb_ports++;
		primary.ports[port->port_id] = port;
	}
	pthread_mutex_unlock(&primary.lock);
	return rc;
}

void
mlxpmd_primary_down(struct mlxpmd_port *port)
{
	bool last;

	pthread_mutex_lock(&primary.lock);
	primary.ports[port->port_id] = NULL;
	last = --primary.nb_ports == 0;
	pthread_mutex_unlock(&primary.lock);
	/* Without the lock, which a request that is being answered waits for. */
	if (last)
		requests_end();
}
