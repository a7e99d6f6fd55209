/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Requests of a secondary process to the primary one. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_string_fns.h>

#include "mlxpmd_secondary.h"

/* Waiting for an answer: the primary process may be registering memory. */
#define ANSWER_S 5

static int
answer_take(const struct rte_mp_reply *reply, struct mlxpmd_message *message)
{
	struct mlxpmd_message answer;

	if (reply->nb_received != 1 || reply->msgs[0].len_param != sizeof(answer))
		return -EPROTO;
	memcpy(&answer, reply->msgs[0].param, sizeof(answer));
	if (answer.type != message->type)
		return -EPROTO;
	/* EAL takes a late answer for that of the present request of the name. */
	if (answer.sequence != message->sequence)
		return -ESTALE;
	*message = answer;
	return answer.rc;
}

const char *
mlxpmd_request_reason(int rc)
{
	static const struct {
		int rc;
		const char *why;
	} reasons[] = {
		{ -ENODEV, "the primary process does not drive this device with mlxpmd" },
		{ -ETIMEDOUT, "the primary process does not answer, or has not loaded mlxpmd" },
		{ -EHOSTDOWN, "there is no primary process" },
		{ -ECONNREFUSED, "the primary process has ended" },
		{ -EAGAIN, "too many requests wait in the primary process" },
		{ -ESTALE, "the primary process answered an earlier request, late" },
		{ -EPROTO, "the primary process has another build of mlxpmd: load the same file in both" },
	};

	for (unsigned int i = 0; i < RTE_DIM(reasons); i++)
		if (reasons[i].rc == rc)
			return reasons[i].why;
	return rte_strerror(-rc);
}

/* Keeps the first n descriptors of an answer, for this process alone, and closes the others. */
static void
fds_take(const struct rte_mp_msg *answer, int *fds, int n)
{
	for (int i = 0; i < answer->num_fds; i++) {
		if (i >= n) {
			close(answer->fds[i]);
			continue;
		}
		fds[i] = answer->fds[i];
		(void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
	}
}

int
mlxpmd_request(struct mlxpmd_message *message, int *fds)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	static uint32_t sequence;
	const struct timespec limit = { .tv_sec = ANSWER_S };
	struct rte_mp_msg msg = { .len_param = sizeof(*message) };
	struct rte_mp_reply reply = { .msgs = NULL };
	int rc;

	message->layout = mlxpmd_message_layout();
	strlcpy(msg.name, MLXPMD_MESSAGE_NAME, sizeof(msg.name));
	pthread_mutex_lock(&one_at_a_time);
	message->sequence = ++sequence;
	memcpy(msg.param, message, sizeof(*message));
	rc = rte_mp_request_sync(&msg, &reply, &limit) == 0 ? 0 : -rte_errno;
	pthread_mutex_unlock(&one_at_a_time);
	if (rc == 0 && reply.nb_sent == 0)
		rc = -EHOSTDOWN;
	if (rc == 0)
		rc = answer_take(&reply, message);
	if (reply.nb_received == 1)
		fds_take(&reply.msgs[0], fds, rc == 0 && fds != NULL ? MLXPMD_NB_FDS : 0);
	free(reply.msgs);
	return rc;
}
