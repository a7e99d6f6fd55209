/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Events: descriptors that become readable.
 *
 * A channel is a pair of sequenced-packet sockets: one record a read, poll, epoll and O_NONBLOCK
 * work as on the kernel's descriptors. Differences: a read with too small a buffer cuts the
 * record instead of failing, and after the device is closed reads end with 0 instead of EIO.
 * DEVX channels, for events and for replies of commands, behave like the kernel's: uverbs_async.c.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "core/emu_fault.h"
#include "fw/emu_fw.h"
#include "prm.h"
#include "uverbs.h"

/* enum ibv_event_type */
#define IBV_EVENT_DEVICE_FATAL 8
#define IBV_EVENT_PORT_ACTIVE 9
#define IBV_EVENT_PORT_ERR 10
#define MAX_EVENTS 16
/* Limit of unread events. */
#define CHANNEL_BYTES (1u << 20)

static void
abi_channel_unlink(struct abi_channel *ch)
{
	struct abi_sub *sub, *next;

	for (sub = TAILQ_FIRST(&ch->file->subs); sub != NULL; sub = next) {
		next = TAILQ_NEXT(sub, next);
		if (sub->channel != ch)
			continue;
		TAILQ_REMOVE(&ch->file->subs, sub, next);
		abi_fd_unhide_close(sub->eventfd);
		free(sub);
	}
	abi_verbs_channel_removed(ch);
	abi_async_close(ch);
	TAILQ_REMOVE(&ch->file->channels, ch, next);
	abi_fd_unhide_close(ch->model_fd);
	abi_fd_unhide_close(ch->peer_fd);
	ch->model_fd = ch->peer_fd = -1;
	ch->file = NULL;
	free(ch->sent);
	ch->sent = NULL;
	ch->nsent = ch->sent_room = 0;
}

/* The program closed its last descriptor of the channel. */
static void
abi_channel_release(struct abi_fdobj *obj)
{
	struct abi_channel *ch = (struct abi_channel *)obj;
	/* The last reference may have been held by a call inside the model. */
	const bool inside = abi_inside != 0;

	if (!inside && abi_enter() == NULL)
		return;
	if (ch->file != NULL)
		abi_channel_unlink(ch);
	if (!inside)
		abi_leave();
	free(ch);
}

/*
 * Unread records of a verbs object are removed when the object is destroyed, and the mark
 * of a command channel with the last reply.
 */
static int
abi_channel_peer(uint16_t object, int fd)
{
	int copy;

	if (object != UVERBS_OBJECT_COMP_CHANNEL && object != UVERBS_OBJECT_ASYNC_EVENT &&
	    object != MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD)
		return -1;
	copy = ABI_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, 0);
	return copy >= 0 ? abi_fd_hide(copy) : -1;
}

int
abi_channel_open(struct abi_file *file, uint16_t object, bool omit_data)
{
	struct abi_channel *ch = calloc(1, sizeof(*ch));
	int fds[2], ret, room = CHANNEL_BYTES;

	if (ch == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
		ret = -errno;
		free(ch);
		return ret;
	}
	(void)setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	ch->fo.kind = ABI_FD_CHANNEL;
	ch->fo.release = abi_channel_release;
	ch->object = object;
	ch->omit_data = omit_data;
	ret = object == MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD ? abi_async_open(ch) : 0;
	if (ret == 0)
		ret = abi_fd_add(fds[0], &ch->fo);
	if (ret != 0) {
		abi_async_close(ch);
		abi_real_close(fds[0]);
		abi_real_close(fds[1]);
		free(ch);
		return ret;
	}
	ch->model_fd = abi_fd_hide(fds[1]);
	ch->peer_fd = abi_channel_peer(object, fds[0]);
	ch->file = file;
	TAILQ_INSERT_TAIL(&file->channels, ch, next);
	return fds[0];
}

void
abi_channels_orphan(struct abi_file *file, bool exiting)
{
	struct abi_channel *ch, *next;

	for (ch = TAILQ_FIRST(&file->channels); ch != NULL; ch = next) {
		next = TAILQ_NEXT(ch, next);
		/* libibverbs closes the device before its event descriptor: no leftover. */
		if (ch->object != UVERBS_OBJECT_ASYNC_EVENT)
			emu_audit_left(file->dev, "event channel", 1);
		/* Process exit must not wake threads that wait for events. */
		if (!exiting)
			abi_channel_unlink(ch);
	}
}

/* Fault rule: the wake-up is lost. */
bool
abi_event_lost(struct emu_dev *dev)
{
	const struct emu_fault_event q = {.kind = EMU_ON_EVENT_FD, .dev = dev};

	return emu_fault_at(EMU_ON_EVENT_FD) && emu_fault_hit(&q) != NULL;
}

bool
abi_channel_send(struct abi_channel *ch, const void *data, size_t len)
{
	if (abi_event_lost(ch->file->dev))
		return true;
	return send(ch->model_fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

/*
 * At the start of the handling of a fatal error: mlx5_ib sends the event with port 1, which is the argument of
 * MLX5_DEV_EVENT_SYS_ERROR (core/health.c, mlx5_enter_error_state(); hw/mlx5/main.c, mlx5_ib_handle_event(), since
 * 6.12 mlx5_ib_handle_sys_error_event()).
 */
void
abi_channels_failing(struct abi_file *file)
{
	const struct ib_uverbs_async_event_desc fatal = {.element = 1, .event_type = IBV_EVENT_DEVICE_FATAL};
	struct abi_channel *ch;

	TAILQ_FOREACH(ch, &file->channels, next)
		if (ch->object == UVERBS_OBJECT_ASYNC_EVENT)
			(void)abi_channel_send(ch, &fatal, sizeof(fatal));
}

/* At disassociation the element is 0 (core/uverbs_std_types_async_fd.c, uverbs_async_event_destroy_uobj()). */
void
abi_channels_removed(struct abi_file *file)
{
	const struct ib_uverbs_async_event_desc fatal = {.event_type = IBV_EVENT_DEVICE_FATAL};
	struct abi_channel *ch;

	while ((ch = TAILQ_FIRST(&file->channels)) != NULL) {
		if (ch->object == UVERBS_OBJECT_ASYNC_EVENT)
			(void)abi_channel_send(ch, &fatal, sizeof(fatal));
		abi_channel_unlink(ch);
	}
}

/* Unread bytes as counted by the socket, with its overhead. */
static int
abi_channel_queued(const struct abi_channel *ch)
{
	int bytes = 0;

	return abi_real_ioctl(ch->model_fd, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

/* Subscriptions whose record has been read may send another one. */
static void
abi_channel_reap(struct abi_channel *ch)
{
	unsigned unread = ch->record_bytes != 0 ? abi_channel_queued(ch) / ch->record_bytes : 0;
	unsigned done = unread < ch->nsent ? ch->nsent - unread : 0;
	unsigned i;

	for (i = 0; i < done; i++)
		if (ch->sent[i] != NULL)
			ch->sent[i]->pending = false;
	ch->nsent -= done;
	memmove(ch->sent, ch->sent + done, ch->nsent * sizeof(*ch->sent));
}

static bool
abi_channel_note_sent(struct abi_channel *ch, struct abi_sub *sub)
{
	if (ch->nsent == ch->sent_room) {
		unsigned room = ch->sent_room != 0 ? 2 * ch->sent_room : 16;
		struct abi_sub **p = realloc(ch->sent, room * sizeof(*p));

		if (p == NULL)
			return false;
		ch->sent = p;
		ch->sent_room = room;
	}
	ch->sent[ch->nsent++] = sub;
	return true;
}

/* omit_data: only the cookie, and one record per subscription at a time. */
static void
abi_sub_deliver_cookie(struct abi_sub *sub)
{
	struct abi_channel *ch = sub->channel;

	if (ch->nsent != 0)
		abi_channel_reap(ch);
	if (sub->pending || !abi_channel_note_sent(ch, sub))
		return;
	if (!abi_channel_send(ch, &sub->cookie, sizeof(sub->cookie))) {
		ch->nsent--;
		return;
	}
	sub->pending = true;
	/* All records have the same size: measure it with the first one in an empty socket. */
	if (ch->nsent == 1 && ch->record_bytes == 0)
		ch->record_bytes = abi_channel_queued(ch);
}

static void
abi_sub_deliver(struct abi_sub *sub, const void *eqe)
{
	struct {
		uint64_t cookie;
		uint8_t eqe[sizeof(struct prm_eqe)];
	} rec;
	const uint64_t one = 1;

	if (sub->eventfd >= 0) {
		if (abi_event_lost(sub->channel->file->dev))
			return;
		/* The counter of an eventfd saturates, as with eventfd_signal(). */
		if (abi_real_write(sub->eventfd, &one, sizeof(one)) < 0)
			return;
		return;
	}
	if (sub->channel->omit_data) {
		abi_sub_deliver_cookie(sub);
		return;
	}
	rec.cookie = sub->cookie;
	memcpy(rec.eqe, eqe, sizeof(struct prm_eqe));
	if (!abi_channel_send(sub->channel, &rec, sizeof(rec)))
		emu_trace_note(sub->channel->file->dev, "event channel is full: event lost");
}

/* Port events are also sent to the device's event descriptor, as verbs events. */
static void
abi_port_event(struct abi_file *file, const uint8_t *eqe)
{
	struct ib_uverbs_async_event_desc desc = {
		.element = emu_ib_port(file->dev),
		.event_type = eqe[offsetof(struct prm_eqe, sub_type)] == PRM_PORT_CHANGE_SUBTYPE_ACTIVE ?
				      IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR,
	};
	struct abi_channel *ch;

	TAILQ_FOREACH(ch, &file->channels, next)
		if (ch->object == UVERBS_OBJECT_ASYNC_EVENT)
			(void)abi_channel_send(ch, &desc, sizeof(desc));
}

static void
abi_event_deliver(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, const void *eqe)
{
	struct abi_file *file = ctx->priv;
	struct abi_handle *handle = obj != NULL ? obj->abi : NULL;
	struct abi_sub *sub;

	if (obj != NULL && handle == NULL)
		return;
	TAILQ_FOREACH(sub, &file->subs, next)
		if (sub->handle == handle && sub->type == type)
			abi_sub_deliver(sub, eqe);
	if (handle != NULL && handle->verbs != NULL)
		abi_verbs_event(file, handle, type);
	if (obj == NULL && type == PRM_EVENT_TYPE_PORT_CHANGE)
		abi_port_event(file, eqe);
}

static void
abi_ctx_event(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, const void *eqe)
{
	const struct emu_fault_event q = {.kind = EMU_ON_EQE_WRITE, .dev = ctx->dev, .type = type};
	const struct emu_fault_action *a =
		emu_fault_at(EMU_ON_EQE_WRITE) ? emu_fault_hit(&q) : NULL;
	enum emu_fault_act act = a != NULL ? a->act : EMU_ACT_NONE;
	uint8_t changed[sizeof(struct prm_eqe)];

	if (act == EMU_ACT_DROP || ctx->dev->removed)
		return;
	if (emu_fault_set_at(EMU_ON_EQE_WRITE)) {
		memcpy(changed, eqe, sizeof(changed));
		emu_fault_set_eqe(&q, changed);
		eqe = changed;
	}
	abi_event_deliver(ctx, obj, type, eqe);
	if (act == EMU_ACT_DUP)
		abi_event_deliver(ctx, obj, type, eqe);
}

const struct emu_ctx_ops abi_ctx_ops = {.event = abi_ctx_event};

void
abi_subs_drop(struct abi_file *file, const struct abi_channel *channel,
	      const struct abi_handle *handle)
{
	struct abi_sub *sub, *next;
	unsigned i;

	for (sub = TAILQ_FIRST(&file->subs); sub != NULL; sub = next) {
		next = TAILQ_NEXT(sub, next);
		if ((channel != NULL && sub->channel != channel) ||
		    (handle != NULL && sub->handle != handle))
			continue;
		for (i = 0; i < sub->channel->nsent; i++)
			if (sub->channel->sent[i] == sub)
				sub->channel->sent[i] = NULL;
		TAILQ_REMOVE(&file->subs, sub, next);
		abi_fd_unhide_close(sub->eventfd);
		free(sub);
	}
}

static int
abi_sub_add(struct abi_call *call, struct abi_channel *ch, struct abi_handle *h, uint16_t type)
{
	struct abi_sub *sub = calloc(1, sizeof(*sub));
	int fd, ret;

	if (sub == NULL)
		return -ENOMEM;
	sub->eventfd = -1;
	if (abi_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM) != NULL) {
		fd = (int)abi_in_u64(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM);
		sub->eventfd = abi_eventfd_take(fd);
		if (sub->eventfd < 0) {
			ret = sub->eventfd;
			free(sub);
			return abi_refuse(call, ret, "descriptor %d is no eventfd", fd);
		}
	}
	sub->channel = ch;
	sub->handle = h;
	sub->type = type;
	sub->cookie = abi_in_u64(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE);
	TAILQ_INSERT_TAIL(&call->file->subs, sub, next);
	if (h != NULL)
		h->obj->subscribed = true;
	return 0;
}

static int
abi_subscribe_check(struct abi_call *call, const uint16_t *types, size_t n, bool affiliated)
{
	size_t i;

	if (!call->ctx->devx)
		return abi_refuse(call, -EINVAL, "the context was opened without DEVX");
	if (abi_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM) != NULL &&
	    abi_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE) != NULL)
		return abi_refuse(call, -EINVAL, "both an eventfd and a cookie");
	for (i = 0; i < n; i++)
		/* mlx5_ib checks the event capabilities of the device. */
		if (!emu_fw_event_raised(types[i], affiliated))
			return abi_refuse(call, -EINVAL, "event 0x%x is none of %s", types[i],
					  affiliated ? "an object's" : "the device's");
	return 0;
}

static int
abi_subscribe_on(struct abi_call *call, struct abi_channel *ch)
{
	struct abi_handle *h = abi_in_handle(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	uint16_t types[MAX_EVENTS];
	size_t bytes = abi_len(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST), i;
	int ret;

	if (bytes % sizeof(types[0]) != 0 || bytes > sizeof(types))
		return abi_refuse(call, -EINVAL, "list of %zu bytes", bytes);
	ret = abi_in(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, types, sizeof(types));
	if (ret == 0)
		ret = abi_subscribe_check(call, types, bytes / sizeof(types[0]), h != NULL);
	for (i = 0; ret == 0 && i < bytes / sizeof(types[0]); i++)
		ret = abi_sub_add(call, ch, h, types[i]);
	return ret;
}

static int
abi_subscribe(struct abi_call *call)
{
	int fd = (int)abi_attr(call, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE)->data_s64;
	struct abi_fdobj *fo = abi_fd_get(fd, ABI_FD_CHANNEL);
	struct abi_channel *ch = (struct abi_channel *)fo;
	int ret;

	if (fo == NULL)
		return abi_refuse(call, -EBADF, "descriptor %d is no event channel", fd);
	if (ch->object != MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD || ch->file != call->file)
		ret = abi_refuse(call, -EINVAL, "descriptor %d is another kind of channel", fd);
	else
		ret = abi_subscribe_on(call, ch);
	abi_fd_put(fo);
	return ret;
}

static int
abi_channel_method(struct abi_call *call, uint16_t attr, uint16_t object, bool omit_data)
{
	int fd = abi_channel_open(call->file, object, omit_data);

	if (fd < 0)
		return fd;
	abi_attr(call, attr)->data_s64 = fd;
	return 0;
}

static int
abi_async_event_alloc(struct abi_call *call)
{
	return abi_channel_method(call, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
				  UVERBS_OBJECT_ASYNC_EVENT, false);
}

static int
abi_cmd_channel_alloc(struct abi_call *call)
{
	return abi_channel_method(call, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE,
				  MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, false);
}

static int
abi_event_channel_alloc(struct abi_call *call)
{
	uint64_t flags = abi_in_u64(call, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS);

	if ((flags & ~(uint64_t)MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA) != 0)
		return abi_refuse(call, -EINVAL, "flags 0x%x", (unsigned)flags);
	return abi_channel_method(call, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE,
				  MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, flags != 0);
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, "ASYNC_EVENT_ALLOC",
	 abi_async_event_alloc, true, {ABI_FD_NEW(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)}},
	{MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
	 "DEVX_CMD_FD_ALLOC", abi_cmd_channel_alloc, true,
	 {ABI_FD_NEW(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE)}},
	{MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
	 "DEVX_EVENT_FD_ALLOC", abi_event_channel_alloc, true,
	 {ABI_FD_NEW(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE),
	  ABI_IN(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 4, 8)}},
	{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, "DEVX_SUBSCRIBE_EVENT",
	 abi_subscribe, true,
	 {ABI_FD(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD),
	  ABI_HANDLE_OPT(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, MLX5_IB_OBJECT_DEVX_OBJ),
	  ABI_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2, 0),
	  ABI_IN_OPT(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, 4, 8),
	  ABI_IN_OPT(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 8, 8)}},
};

const struct abi_method_table abi_event_methods = ABI_METHODS(abi_methods);
