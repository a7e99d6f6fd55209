/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Handles: numbers of a program's objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dp/emu_dp.h"
#include "uverbs_obj.h"

static bool
abi_handles_grow(struct abi_file *file)
{
	unsigned n = file->nhandles != 0 ? 2 * file->nhandles : 64;
	struct abi_handle **p = realloc(file->handles, n * sizeof(*p));

	if (p == NULL)
		return false;
	memset(p + file->nhandles, 0, (n - file->nhandles) * sizeof(*p));
	file->handles = p;
	file->nhandles = n;
	return true;
}

struct abi_handle *
abi_handle_new(struct abi_file *file, uint16_t object, struct emu_obj *obj)
{
	struct abi_handle *h = calloc(1, sizeof(*h));
	unsigned i;

	if (h == NULL)
		return NULL;
	for (i = file->handle_free; i < file->nhandles && (i == 0 || file->handles[i] != NULL); i++)
		;
	if (i >= file->nhandles && !abi_handles_grow(file)) {
		free(h);
		return NULL;
	}
	if (i == 0)
		i = 1;
	h->id = i;
	h->object = object;
	h->obj = obj;
	if (obj != NULL)
		obj->abi = h;
	file->handles[i] = h;
	file->handle_free = i + 1;
	return h;
}

int
abi_handle_out(struct abi_call *call, uint16_t attr, uint16_t object, struct emu_obj *obj)
{
	struct abi_handle *h = abi_handle_new(call->file, object, obj);

	if (h == NULL) {
		(void)emu_obj_destroy(obj);
		return -ENOMEM;
	}
	abi_attr(call, attr)->data = h->id;
	return 0;
}

struct abi_handle *
abi_handle_find(const struct abi_file *file, uint32_t id)
{
	return id < file->nhandles ? file->handles[id] : NULL;
}

/* After an internal error objects stay in the device, and the kernel gives back the memory that it pinned for them. */
static void
objects_stay(const struct abi_file *file, const struct abi_handle *handle)
{
	struct emu_obj *obj;

	if (!file->dev->internal_error || file->ctx == NULL)
		return;
	TAILQ_FOREACH(obj, &file->ctx->owned, owned) {
		if (obj->abi != handle)
			continue;
		obj->abi = NULL;
		if (obj->type == EMU_OBJ_UMEM || obj->type == EMU_OBJ_MKEY)
			emu_dp_given_back(obj);
	}
}

void
abi_handle_free(struct abi_file *file, struct abi_handle *handle)
{
	unsigned i;

	objects_stay(file, handle);
	abi_subs_drop(file, NULL, handle);
	for (i = 0; handle->verbs != NULL && i < handle->verbs->nuses; i++)
		handle->verbs->uses[i]->users--;
	free(handle->verbs);
	file->handles[handle->id] = NULL;
	if (handle->id < file->handle_free)
		file->handle_free = handle->id;
	free(handle);
}

/* Kernel objects are in no table of the device: count them here. */
static void
abi_handles_left(const struct abi_file *file, uint16_t object, const char *name)
{
	unsigned i, left = 0;

	for (i = 0; i < file->nhandles; i++)
		left += file->handles[i] != NULL && file->handles[i]->object == object;
	if (left != 0)
		emu_audit_left(file->dev, name, left);
}

void
abi_handles_fini(struct abi_file *file)
{
	unsigned i;

	abi_handles_left(file, UVERBS_OBJECT_AH, "AH");
	abi_handles_left(file, UVERBS_OBJECT_DM, "device memory");
	abi_handles_left(file, UVERBS_OBJECT_COUNTERS, "counters");
	for (i = 0; i < file->nhandles; i++) {
		if (file->handles[i] != NULL)
			free(file->handles[i]->verbs);
		free(file->handles[i]);
	}
	free(file->handles);
	file->handles = NULL;
	file->nhandles = 0;
}
