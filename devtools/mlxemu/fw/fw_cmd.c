/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the handlers of commands have in common: refusal, objects and references between them. */
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fw.h"

static const struct fw_syndrome_info infos[FW_SYNDROME_COUNT] = {
	[FW_OK] = {"OK", 0, PRM_STATUS_OK, "no refusal"},
#define ROW(name_, code_, status_, cause_) \
	[FW_##name_] = {#name_, code_, PRM_STATUS_##status_, cause_},
	FW_SYNDROMES(ROW)
#undef ROW
};

const struct fw_syndrome_info *
fw_syndrome_info(enum fw_syndrome s)
{
	return &infos[(unsigned)s < FW_SYNDROME_COUNT ? s : FW_OK];
}

const struct fw_syndrome_info *
fw_syndrome_explain(uint32_t code)
{
	for (unsigned i = FW_OK + 1; i < FW_SYNDROME_COUNT; i++)
		if (infos[i].code == code)
			return &infos[i];
	return NULL;
}

bool
fw_syndrome_is_limit(enum fw_syndrome s)
{
	switch (s) {
#define LIMIT(name) case FW_##name:
	FW_LIMITS(LIMIT)
#undef LIMIT
		return true;
	default:
		return false;
	}
}

int
fw_refuse(struct fw_cmd *c, enum fw_syndrome syndrome, const char *fmt, ...)
{
	const struct fw_syndrome_info *info = fw_syndrome_info(syndrome);
	bool state = info->status == PRM_STATUS_BAD_RES || info->status == PRM_STATUS_BAD_RES_STATE;
	uint16_t opcode = fw_opcode(c->in);
	uint32_t code = htobe32(info->code);
	char detail[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	memset(c->out, 0, FW_OUT_BYTES);
	*(uint8_t *)c->out = info->status;
	memcpy((uint8_t *)c->out + 4, &code, sizeof(code));
	c->refused = syndrome;
	if (fw_syndrome_is_limit(syndrome))
		emu_trace_note(c->dev, "%s (0x%x): %s: %s: not modelled -> %s", prm_command_name(opcode), opcode,
			       info->cause, detail, prm_status_name(info->status));
	else
		emu_audit(c->dev, state ? EMU_AUDIT_BAD_STATE : EMU_AUDIT_BAD_COMMAND,
			  "%s (0x%x): %s, syndrome 0x%x: %s%s%s", prm_command_name(opcode), opcode,
			  prm_status_name(info->status), info->code, info->cause,
			  detail[0] != '\0' ? ": " : "", detail);
	return -EREMOTEIO;
}

int
fw_need(struct fw_cmd *c, enum emu_obj_type type, uint32_t id, enum fw_syndrome syndrome,
	void *out)
{
	struct emu_obj *obj = emu_obj_find(c->dev, type, id);

	/* All users of the kernel's driver can use its event queues. */
	if (obj == NULL ||
	    (obj->ctx != c->ctx && !(type == EMU_OBJ_EQ && c->ctx->iommu == NULL && !obj->ctx)))
		return fw_refuse(c, syndrome, "%s 0x%x%s", emu_obj_type_name(type), id,
				 obj != NULL ? " is another user's" : "");
	*(struct emu_obj **)out = obj;
	return 0;
}

void
fw_hold(struct fw_holds *h, struct emu_obj *obj)
{
	if (obj == NULL)
		return;
	emu_obj_ref(obj);
	h->held[h->count++] = obj;
}

void
fw_holds_drop(struct fw_holds *h)
{
	while (h->count != 0)
		emu_obj_unref(h->held[--h->count]);
}

int
fw_create(struct fw_cmd *c, enum emu_obj_type type, size_t size,
	  void (*release)(struct emu_obj *), void *out)
{
	struct emu_obj *obj = emu_obj_new(c->dev, c->ctx, type, size, release);
	uint32_t id;

	if (obj == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", emu_obj_type_name(type));
	id = htobe32(obj->id);
	memcpy((uint8_t *)c->out + 4 * FW_OUT_ID_DW, &id, sizeof(id));
	c->created = obj;
	*(struct emu_obj **)out = obj;
	return 0;
}

int
fw_destroy_object(struct fw_cmd *c)
{
	if (c->obj->refs != 0)
		return fw_refuse(c, FW_BUSY, "%s 0x%x has %u users",
				 emu_obj_type_name(c->obj->type), c->obj->id, c->obj->refs);
	return emu_obj_destroy(c->obj);
}

bool
fw_in_ends_at(const struct fw_cmd *c, size_t bytes)
{
	const uint8_t *in = c->in;
	size_t i;

	if (c->in_len < bytes)
		return false;
	for (i = bytes; i < c->in_len; i++)
		if (in[i] != 0)
			return false;
	return true;
}
