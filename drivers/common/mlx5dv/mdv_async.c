/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Asynchronous queries. A completion contains only the wr_id of the query, not its length or object. Each
 * outstanding query therefore has a slot, and the wr_id given to the kernel is slot and use count.
 */

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "mdv_async.h"
#include "mdv_private.h"

/** Most outstanding queries: the kernel limits the sum of their outboxes, each at least a header. */
#define SLOTS_MAX (MDV_ASYNC_OUTBOXES_BYTES / MDV_MAILBOX_BYTES_MIN)
#define SLOTS_FIRST 64
#define NO_SLOT UINT32_MAX
/** Part of an inbox that is kept for the log line of a refusal. */
#define IN_KEPT_BYTES 48

struct slot {
	uint64_t wr_id, begin_ns;
	uint32_t use;		/**< Incremented when freed, to recognise late replies. */
	uint32_t next_free;	/**< Next free slot, or NO_SLOT. */
	uint16_t out_bytes;	/**< 0: free. */
	uint16_t in_bytes;
	uint32_t in[IN_KEPT_BYTES / 4];
};

struct mdv_async {
	struct mdv_dev *dev;
	struct mlx5dv_devx_cmd_comp *comp;
	struct slot *slots;
	uint32_t nb_slots, free_head;
	unsigned int outstanding;
	bool quiet;
};

RTE_EXPORT_INTERNAL_SYMBOL(mdv_async_open)
int
mdv_async_open(struct mdv_dev *dev, struct mdv_async **out)
{
	struct mdv_async *async = mdv_zalloc(dev->name, sizeof(*async), "asynchronous queries");
	int err;

	*out = NULL;
	if (async == NULL)
		return -ENOMEM;
	async->dev = dev;
	async->free_head = NO_SLOT;
	async->comp = MDV_RETRY_PTR(dev, mlx5dv_devx_create_cmd_comp(dev->ibv));
	err = async->comp == NULL ? errno : -mdv_fd_nonblock(dev, async->comp->fd, "completion");
	if (err == 0) {
		*out = async;
		return 0;
	}
	if (async->comp == NULL && err != EOPNOTSUPP)
		MDV_LOG_ERR(dev, "no channel for asynchronous queries: %s", mdv_errno_name(err));
	mdv_suspect_if(dev, err);
	mdv_async_close(async);
	return mdv_fail(err);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_async_close)
void
mdv_async_close(struct mdv_async *async)
{
	if (async == NULL)
		return;
	if (async->comp != NULL)
		mlx5dv_devx_destroy_cmd_comp(async->comp);
	free(async->slots);
	free(async);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_async_fd)
int
mdv_async_fd(const struct mdv_async *async)
{
	return async->comp->fd;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_async_outstanding)
unsigned int
mdv_async_outstanding(const struct mdv_async *async)
{
	return async->outstanding;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_async_quiet)
void
mdv_async_quiet(struct mdv_async *async, bool quiet)
{
	async->quiet = quiet;
}

/* ------------------------------------------------------------------ slots */

static int
slots_grow(struct mdv_async *async)
{
	uint32_t n = async->nb_slots != 0 ? 2 * async->nb_slots : SLOTS_FIRST;
	struct slot *slots;

	if (async->nb_slots >= SLOTS_MAX)
		return -EAGAIN;
	slots = realloc(async->slots, n * sizeof(*slots));
	if (slots == NULL)
		return MDV_FAIL(async->dev->name, ENOMEM, "no memory for %u asynchronous queries", n);
	for (uint32_t i = async->nb_slots; i < n; i++)
		slots[i] = (struct slot){ .next_free = i + 1 < n ? i + 1 : NO_SLOT };
	async->free_head = async->nb_slots;
	async->slots = slots;
	async->nb_slots = n;
	return 0;
}

static void
slot_free(struct mdv_async *async, uint32_t i)
{
	struct slot *s = &async->slots[i];

	s->use++;
	s->out_bytes = 0;
	s->next_free = async->free_head;
	async->free_head = i;
	async->outstanding--;
}

/** The wr_id for the kernel: slot and use. */
static uint64_t
slot_number(const struct mdv_async *async, uint32_t i)
{
	return (uint64_t)async->slots[i].use << 32 | i;
}

static struct slot *
slot_of(struct mdv_async *async, uint64_t number)
{
	uint32_t i = (uint32_t)number;

	if (i >= async->nb_slots || async->slots[i].out_bytes == 0 ||
	    slot_number(async, i) != number)
		return NULL;
	return &async->slots[i];
}

/* ------------------------------------------------------------------ query and reply */

RTE_EXPORT_INTERNAL_SYMBOL(mdv_async_query)
int
mdv_async_query(struct mdv_async *async, struct mdv_obj *obj, const void *in, size_t in_bytes,
		size_t out_bytes, uint64_t wr_id)
{
	struct slot *s;
	uint32_t i;
	int rc;

	if (out_bytes < MDV_MAILBOX_BYTES_MIN || out_bytes > UINT16_MAX)
		return MDV_FAIL(async->dev->name, EINVAL, "outbox of %zu bytes is out of range: %d to %d",
				out_bytes, MDV_MAILBOX_BYTES_MIN, UINT16_MAX);
	if (mdv_obj_query_check(obj, in, in_bytes) != 0)
		return -rte_errno;
	rc = async->free_head == NO_SLOT ? slots_grow(async) : 0;
	if (rc != 0)
		return mdv_fail(-rc);
	i = async->free_head;
	s = &async->slots[i];
	s->begin_ns = mdv_now_ns();
	rc = mdv_exec_query_async(obj, in, in_bytes, out_bytes, slot_number(async, i),
				  async->comp, async->quiet);
	if (rc != 0)
		return rc;
	async->free_head = s->next_free;
	async->outstanding++;
	s->wr_id = wr_id;
	s->out_bytes = (uint16_t)out_bytes;
	s->in_bytes = RTE_MIN(in_bytes, sizeof(s->in));
	memcpy(s->in, in, s->in_bytes);
	return 0;
}

/* The kernel returns EAGAIN also after a removal; then the descriptor reports POLLHUP or POLLERR. */
static int
nothing_there(struct mdv_async *async)
{
	struct pollfd p = { .fd = async->comp->fd, .events = POLLIN | POLLRDHUP };

	if (mdv_removed(async->dev))
		return mdv_fail(EIO);
	if (poll(&p, 1, 0) <= 0 || (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0)
		return mdv_fail(EAGAIN);
	mdv_suspect_if(async->dev, EIO);
	return mdv_fail(EIO);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_async_take)
int
mdv_async_take(struct mdv_async *async, void *buf, size_t bytes, struct mdv_async_reply *reply)
{
	struct mlx5dv_devx_async_cmd_hdr *head = buf;
	struct slot *s;
	int err;

	if (bytes < MDV_ASYNC_REPLY_BYTES(MDV_MAILBOX_BYTES_MIN))
		return mdv_fail(EINVAL);
	/* Without a device: EAGAIN is no failure. */
	err = MDV_RETRY_ERR(NULL, mlx5dv_devx_get_async_cmd_comp(async->comp, head, bytes));
	if (err == EAGAIN)
		return nothing_there(async);
	if (err != 0) {
		mdv_suspect_if(async->dev, err);
		if (err != ENOSPC)
			MDV_LOG_ERR(async->dev, "cannot read replies: %s", mdv_errno_name(err));
		return mdv_fail(err);
	}
	s = slot_of(async, head->wr_id);
	if (s == NULL)
		return MDV_FAIL(async->dev->name, EPROTO, "reply with unknown number 0x%" PRIx64,
				(uint64_t)head->wr_id);
	reply->wr_id = s->wr_id;
	reply->out = head->out_data;
	reply->out_bytes = s->out_bytes;
	reply->rc = mdv_cmd_result(async->dev, s->in, s->in_bytes, head->out_data, 0, async->quiet, s->begin_ns);
	slot_free(async, (uint32_t)(s - async->slots));
	return 0;
}
