/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Verbs objects: handles with parts, and the firmware commands of the kernel for them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dp/emu_dp.h"
#include "fw/emu_fw.h"
#include "uverbs_obj.h"

#define REPLY_BYTES 64

int
abi_kernel_cmd(struct abi_call *call, const void *in, size_t in_len, void *out, size_t out_len,
	       struct emu_obj **created)
{
	int ret = emu_fw_exec(call->ctx, in, in_len, out, out_len, created);

	if (ret == -ENXIO && call->dev->internal_error) {
		const uint16_t opcode = abi_devx_opcode(in);

		return opcode == PRM_CMD_OP_2ERR_QP || opcode == PRM_CMD_OP_2RST_QP ? 0 : -ENOLINK;
	}
	return ret == -EREMOTEIO ? -prm_status_errno(*(const uint8_t *)out) : ret;
}

struct abi_handle *
abi_verbs_new(struct abi_call *call, uint16_t object, uint64_t user_handle)
{
	struct abi_verbs *v = calloc(1, sizeof(*v));
	struct abi_handle *h = v != NULL ? abi_handle_new(call->file, object, NULL) : NULL;

	if (h == NULL) {
		free(v);
		return NULL;
	}
	v->user_handle = user_handle;
	h->verbs = v;
	return h;
}

void
abi_verbs_use(struct abi_handle *h, struct abi_handle *other)
{
	if (other == NULL)
		return;
	h->verbs->uses[h->verbs->nuses++] = other;
	other->users++;
}

void
abi_verbs_part(struct abi_handle *h, struct emu_obj *obj)
{
	h->verbs->part[h->verbs->nparts++].obj = obj;
}

void
abi_verbs_part_last(struct abi_handle *h, struct emu_obj *obj, struct emu_obj *old)
{
	struct abi_verbs *v = h->verbs;

	if (old != NULL) {
		(void)emu_obj_destroy(old);
		v->nparts--;
		memmove(&v->part[0], &v->part[1], v->nparts * sizeof(v->part[0]));
	}
	if (obj != NULL) {
		memmove(&v->part[1], &v->part[0], v->nparts * sizeof(v->part[0]));
		v->part[0] = (struct abi_part){.obj = obj};
		v->nparts++;
	}
}

void
abi_verbs_drop_newest(struct abi_handle *h, int index)
{
	struct abi_verbs *v = h->verbs;
	const struct abi_part newest = v->part[v->nparts - 1];

	if (index >= 0) {
		v->part[v->nparts - 1] = v->part[index];
		v->part[index] = newest;
	}
	(void)emu_obj_destroy(v->part[--v->nparts].obj);
}

int
abi_verbs_pin(struct abi_call *call, struct abi_handle *h, uint64_t addr, uint64_t len,
	      uint32_t *umem_id)
{
	struct emu_umem *umem;
	int ret = emu_umem_create(call->ctx, addr, len, IB_UVERBS_ACCESS_LOCAL_WRITE, &umem);

	if (ret != 0)
		return ret;
	abi_verbs_part(h, &umem->obj);
	*umem_id = umem->obj.id;
	return 0;
}

int
abi_verbs_pin_dbrec(struct abi_call *call, struct abi_handle *h, uint64_t addr, uint32_t *umem_id,
		    uint64_t *offset)
{
	const uint64_t page = addr & ~(uint64_t)(EMU_PAGE_BYTES - 1);

	*offset = addr - page;
	return abi_verbs_pin(call, h, page, EMU_PAGE_BYTES, umem_id);
}

int
abi_verbs_create(struct abi_call *call, struct abi_handle *h, const void *in, size_t in_len,
		 struct emu_obj **obj)
{
	uint8_t out[REPLY_BYTES] = {0};
	struct emu_obj *made = NULL;
	int ret = abi_kernel_cmd(call, in, in_len, out, sizeof(out), &made);

	if (ret != 0)
		return ret;
	if (made == NULL)
		return -EOPNOTSUPP;
	abi_verbs_part(h, made);
	h->verbs->part[h->verbs->nparts - 1].devx_id = abi_devx_created(in, out);
	made->abi = h;
	if (h->obj == NULL)
		h->obj = made;
	if (obj != NULL)
		*obj = made;
	return 0;
}

int
abi_verbs_td(struct abi_call *call, struct abi_handle *h, uint32_t *tdn)
{
	struct prm_alloc_transport_domain_in in = {0};
	struct prm_alloc_transport_domain_out out = {0};
	struct abi_file *file = call->file;
	int ret;

	if (file->td == NULL) {
		prm_alloc_transport_domain_in_set_opcode(&in, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
		ret = abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), &file->td);
		if (ret != 0)
			return ret;
	}
	if (!h->verbs->td)
		file->td_users++;
	h->verbs->td = true;
	*tdn = file->td->id;
	return 0;
}

/* Firmware objects are destroyed by a command; memory and rules without one. */
static int
part_destroy(struct abi_call *call, const struct abi_part *part)
{
	uint8_t reply[REPLY_BYTES] = {0};
	int ret;

	if (call->dev->internal_error && part->obj->type == EMU_OBJ_UMEM)
		emu_dp_given_back(part->obj);
	if (call->dev->internal_error)
		return 0;
	if (part->devx_id == 0)
		return emu_obj_destroy(part->obj);
	ret = emu_fw_destroy(call->ctx, part->obj, reply, sizeof(reply));
	return ret == -EREMOTEIO ? -prm_status_errno(reply[0]) : ret;
}

static void
td_put(struct abi_call *call)
{
	struct abi_file *file = call->file;
	uint8_t reply[REPLY_BYTES];

	if (--file->td_users != 0)
		return;
	if (emu_fw_destroy(call->ctx, file->td, reply, sizeof(reply)) == 0)
		file->td = NULL;
}

/* Destroy parts from the newest on; stop at one that cannot be destroyed. */
static int
parts_destroy(struct abi_call *call, struct abi_handle *h)
{
	struct abi_verbs *v = h->verbs;
	int ret;

	for (; v->nparts != 0; v->nparts--) {
		ret = part_destroy(call, &v->part[v->nparts - 1]);
		if (ret != 0)
			return ret;
	}
	if (v->td)
		td_put(call);
	v->td = false;
	if (h->object == UVERBS_OBJECT_DM)
		abi_dm_give(call->file, &v->dm);
	return 0;
}

int
abi_verbs_destroy(struct abi_call *call, struct abi_handle *h)
{
	int ret;

	if (h->users != 0)
		return abi_refuse(call, -EBUSY, "handle %u has %u users", h->id, h->users);
	ret = parts_destroy(call, h);
	if (ret == 0)
		abi_handle_free(call->file, h);
	return ret;
}

int
abi_verbs_undo(struct abi_call *call, struct abi_handle *h, int err)
{
	(void)parts_destroy(call, h);
	abi_handle_free(call->file, h);
	return err;
}

bool
abi_verbs_is(const struct abi_handle *h, uint64_t devx_id)
{
	unsigned i;

	for (i = 0; h->verbs != NULL && i < h->verbs->nparts; i++)
		if (h->verbs->part[i].devx_id == devx_id)
			return true;
	return false;
}

struct abi_handle *
abi_handle_of(const struct abi_call *call, uint32_t id, uint16_t object)
{
	struct abi_handle *h = abi_handle_find(call->file, id);

	if (h != NULL && h->object == object)
		return h;
	(void)abi_refuse(call, -EINVAL, "handle %u does not name such an object", id);
	return NULL;
}

struct abi_verbs *
abi_verbs_in(const struct abi_call *call, uint16_t attr)
{
	struct abi_handle *h = abi_in_handle(call, attr);

	return h != NULL ? h->verbs : NULL;
}
