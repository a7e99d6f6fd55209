/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Events of verbs objects: completion channels and the device's event descriptor. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "uverbs_obj.h"

/* Longest record: struct ib_uverbs_async_event_desc. */
#define RECORD_BYTES sizeof(struct ib_uverbs_async_event_desc)

static struct abi_channel *
channel_of(const struct abi_call *call, int fd, uint16_t object)
{
	struct abi_fdobj *fo = abi_fd_get(fd, ABI_FD_CHANNEL);
	struct abi_channel *ch = (struct abi_channel *)fo;
	bool ok = fo != NULL && ch->object == object && ch->file == call->file;

	abi_fd_put(fo);
	if (!ok)
		(void)abi_refuse(call, -EBADF, "descriptor %d is no such channel here", fd);
	return ok ? ch : NULL;
}

struct abi_channel *
abi_comp_channel(const struct abi_call *call, int fd)
{
	return channel_of(call, fd, UVERBS_OBJECT_COMP_CHANNEL);
}

int
abi_verbs_async(const struct abi_call *call, struct abi_handle *h, uint16_t attr)
{
	const struct ib_uverbs_attr *a = abi_attr(call, attr);

	if (a == NULL)
		return 0;
	h->verbs->async = channel_of(call, (int)a->data_s64, UVERBS_OBJECT_ASYNC_EVENT);
	return h->verbs->async != NULL ? 0 : -EBADF;
}

/* The kernel's default is the first event descriptor of the open file. */
static struct abi_channel *
async_channel(const struct abi_file *file, const struct abi_verbs *v)
{
	struct abi_channel *ch = v->async;

	if (ch != NULL)
		return ch;
	TAILQ_FOREACH(ch, &file->channels, next)
		if (ch->object == UVERBS_OBJECT_ASYNC_EVENT)
			break;
	return ch;
}

/* PRM event types of queues and their enum ibv_event_type. */
static const struct {
	uint16_t object, prm;
	uint32_t ibv;
} event_rows[] = {
	{UVERBS_OBJECT_CQ, PRM_EVENT_TYPE_CQ_ERROR, 0},	 /* CQ_ERR */
	{UVERBS_OBJECT_QP, 0x05, 1},			 /* WQ_CATAS_ERROR: QP_FATAL */
	{UVERBS_OBJECT_QP, 0x10, 2},			 /* WQ_INVAL_REQ_ERROR: QP_REQ_ERR */
	{UVERBS_OBJECT_QP, 0x11, 3},			 /* WQ_ACCESS_ERROR: QP_ACCESS_ERR */
	{UVERBS_OBJECT_QP, 0x02, 4},			 /* COMM_EST */
	{UVERBS_OBJECT_QP, 0x03, 5},			 /* SQ_DRAINED */
	{UVERBS_OBJECT_SRQ, 0x12, 14},			 /* SRQ_CATAS_ERROR: SRQ_ERR */
	{UVERBS_OBJECT_SRQ, 0x14, 15},			 /* SRQ_RQ_LIMIT: SRQ_LIMIT_REACHED */
	{UVERBS_OBJECT_QP, 0x13, 16},			 /* SRQ_LAST_WQE: QP_LAST_WQE_REACHED */
	{UVERBS_OBJECT_WQ, 0x05, 19},			 /* WQ_FATAL */
};

static void
async_event(struct abi_file *file, struct abi_verbs *v, uint32_t type)
{
	struct ib_uverbs_async_event_desc desc = {
		.element = v->user_handle,
		.event_type = type,
	};
	struct abi_channel *ch = async_channel(file, v);

	if (ch != NULL && abi_channel_send(ch, &desc, sizeof(desc)))
		v->async_events++;
}

static void
comp_event(struct abi_verbs *v)
{
	struct ib_uverbs_comp_event_desc desc = {.cq_handle = v->user_handle};

	if (v->cq.channel != NULL && abi_channel_send(v->cq.channel, &desc, sizeof(desc)))
		v->comp_events++;
}

void
abi_verbs_event(struct abi_file *file, struct abi_handle *h, uint16_t type)
{
	unsigned i;

	if (h->object == UVERBS_OBJECT_CQ && type == PRM_EVENT_TYPE_COMP) {
		comp_event(h->verbs);
		return;
	}
	for (i = 0; i < sizeof(event_rows) / sizeof(event_rows[0]); i++)
		if (event_rows[i].object == h->object && event_rows[i].prm == type)
			async_event(file, h->verbs, event_rows[i].ibv);
}

/* Removes unread records of an element from a channel; returns their number. */
static unsigned
channel_purge(struct abi_channel *ch, uint64_t element)
{
	uint8_t (*kept)[RECORD_BYTES] = NULL, (*p)[RECORD_BYTES];
	unsigned n = 0, i, removed = 0;
	uint8_t rec[RECORD_BYTES];
	ssize_t len = 0, got;

	while ((got = recv(ch->peer_fd, rec, sizeof(rec), MSG_DONTWAIT)) > 0) {
		len = got;
		if (memcmp(rec, &element, sizeof(element)) == 0) {
			removed++;
			continue;
		}
		p = realloc(kept, (n + 1) * sizeof(*kept));
		if (p == NULL)
			break;
		kept = p;
		memcpy(kept[n++], rec, sizeof(rec));
	}
	for (i = 0; i < n; i++)
		(void)abi_channel_send(ch, kept[i], (size_t)len);
	free(kept);
	return removed;
}

void
abi_events_reported(struct abi_file *file, struct abi_verbs *v, uint32_t *comp, uint32_t *async)
{
	struct abi_channel *ch = async_channel(file, v);

	if (comp != NULL) {
		if (v->comp_events != 0 && v->cq.channel != NULL)
			v->comp_events -= channel_purge(v->cq.channel, v->user_handle);
		*comp = v->comp_events;
	}
	if (ch != NULL && v->async_events != 0)
		v->async_events -= channel_purge(ch, v->user_handle);
	*async = v->async_events;
}

void
abi_verbs_channel_removed(struct abi_channel *ch)
{
	unsigned i;

	for (i = 0; i < ch->file->nhandles; i++) {
		struct abi_handle *h = ch->file->handles[i];

		if (h == NULL || h->verbs == NULL)
			continue;
		if (h->verbs->async == ch)
			h->verbs->async = NULL;
		if (h->object == UVERBS_OBJECT_CQ && h->verbs->cq.channel == ch)
			h->verbs->cq.channel = NULL;
	}
}
