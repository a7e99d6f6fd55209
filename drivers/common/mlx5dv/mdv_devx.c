/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Looking at a device: its objects, questions to its firmware, and what refusals mean. */

#include <stdlib.h>
#include <string.h>

#include "mdv_devx.h"
#include "mdv_devx_gate.h"
#include "mdv_private.h"

/** Room behind the fixed part of an answer that ends with a list. */
#define LIST_BYTES 1024
/** Where an inbox has what its caller gives: behind opcode and uid. */
#define REST_OFFSET 4
/** Bits 16 to 23 of every syndrome of the emulator; its own tool explains them. */
#define EMULATOR_SYNDROME 0xe5

/* ------------------------------------------------------------------ objects */

/** The verb of a create command does not belong to the object's name. */
static const char *
without_verb(const char *command)
{
	static const char *const verbs[] = { "CREATE_", "ALLOC_", "QUERY_", "SET_" };

	for (size_t i = 0; i < RTE_DIM(verbs); i++)
		if (strncmp(command, verbs[i], strlen(verbs[i])) == 0)
			return command + strlen(verbs[i]);
	return command;
}

void
mdv_objects_add(struct mdv_obj *obj)
{
	struct mdv_dev *dev = obj->dev;

	pthread_mutex_lock(&dev->objects_lock);
	LIST_INSERT_HEAD(&dev->objects, obj, next);
	pthread_mutex_unlock(&dev->objects_lock);
}

void
mdv_objects_remove(struct mdv_obj *obj)
{
	struct mdv_dev *dev = obj->dev;

	pthread_mutex_lock(&dev->objects_lock);
	LIST_REMOVE(obj, next);
	pthread_mutex_unlock(&dev->objects_lock);
}

unsigned int
mdv_objects_get(struct mdv_dev *dev, struct mdv_obj_info *info, unsigned int n)
{
	const struct mdv_obj *obj;
	unsigned int count = 0;

	pthread_mutex_lock(&dev->objects_lock);
	LIST_FOREACH(obj, &dev->objects, next) {
		if (count < n) {
			info[count].type = without_verb(prm_command_name(obj->create_opcode));
			info[count].id = obj->id;
			info[count].create_opcode = obj->create_opcode;
		}
		count++;
	}
	pthread_mutex_unlock(&dev->objects_lock);
	return count;
}

/** The object that a question is about; the list's lock is held, and keeps it. */
static struct mdv_obj *
object_of(struct mdv_dev *dev, const struct prm_command *cmd, const void *in)
{
	const char *type = without_verb(cmd->name);
	uint32_t id = prm_field_ref_get(in, cmd->in_id);
	struct mdv_obj *obj;

	LIST_FOREACH(obj, &dev->objects, next)
		if (obj->id == id &&
		    strcmp(without_verb(prm_command_name(obj->create_opcode)), type) == 0)
			return obj;
	return NULL;
}

/* ------------------------------------------------------------------ questions */

static const struct prm_command *
command_find(const char *text)
{
	const struct prm_command *cmd;
	char *end;
	unsigned long opcode = strtoul(text, &end, 0);

	if (text[0] != '\0' && *end == '\0')
		return opcode <= UINT16_MAX ? prm_command_find(opcode) : NULL;
	for (unsigned int i = 0; (cmd = prm_command_at(i)) != NULL; i++)
		if (strcasecmp(cmd->name, text) == 0)
			return cmd;
	return NULL;
}

/** Both mailboxes as long as the command wants them. */
static void
question_size(const struct prm_command *cmd, struct mdv_request *q)
{
	const struct prm_layout *reg = NULL;

	q->in_bytes = RTE_MAX(q->in_bytes, (size_t)cmd->in->dwords * 4);
	q->out_bytes = (size_t)cmd->out->dwords * 4;
	if (mdv_devx_is_register(cmd->opcode)) {
		reg = prm_register_layout(prm_access_register_in_get_register_id((void *)q->in));
		if (reg != NULL)
			q->in_bytes = RTE_MAX(q->in_bytes, ((size_t)cmd->in->dwords + reg->dwords) * 4);
		q->out_bytes = q->in_bytes;
	} else if (cmd->out->variable) {
		q->out_bytes += LIST_BYTES;
	}
	q->in_bytes = RTE_MIN(q->in_bytes, sizeof(q->in));
	q->out_bytes = RTE_MIN(q->out_bytes, sizeof(q->out));
}

int
mdv_request_make(const char *command, const uint8_t *rest, size_t rest_bytes,
		  struct mdv_request *q)
{
	const struct prm_command *cmd = command_find(command);

	memset(q, 0, sizeof(*q));
	if (cmd == NULL)
		return -ENOENT;
	if (rest_bytes > sizeof(q->in) - REST_OFFSET ||
	    (!cmd->in_variable && rest_bytes > (size_t)cmd->in->dwords * 4 - REST_OFFSET))
		return -EMSGSIZE;
	q->name = cmd->name;
	q->opcode = cmd->opcode;
	prm_nop_in_set_opcode((void *)q->in, cmd->opcode);
	if (rest_bytes > 0)
		memcpy((uint8_t *)q->in + REST_OFFSET, rest, rest_bytes);
	q->in_bytes = RTE_ALIGN_CEIL(REST_OFFSET + rest_bytes, 4);
	question_size(cmd, q);
	return mdv_devx_read_only(q->in, q->in_bytes, q->refused) ? 0 : -EPERM;
}

int
mdv_request_caps(const char *page, struct mdv_request *q)
{
	const char *name;
	int ret = mdv_request_make("QUERY_HCA_CAP", NULL, 0, q);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; (name = mdv_caps_page_name(i)) != NULL; i++) {
		if (strcasecmp(name, page) != 0)
			continue;
		for (unsigned int type = 0; type <= UINT8_MAX; type++)
			if (strcmp(prm_hca_cap_type_name(type), name) == 0)
				prm_query_hca_cap_in_set_op_mod((void *)q->in,
								type << 1 | PRM_HCA_CAP_MODE_CUR);
		return 0;
	}
	return -ENOENT;
}

const char *
mdv_caps_page_name(unsigned int i)
{
	for (unsigned int type = 0; type <= UINT8_MAX; type++) {
		const char *name = prm_hca_cap_type_name(type);

		if (strcmp(name, "UNKNOWN") != 0 && i-- == 0)
			return name;
	}
	return NULL;
}

static int
ask_object(struct mdv_dev *dev, const struct prm_command *cmd, struct mdv_request *q)
{
	struct mdv_obj *obj;
	int ret = -ENOENT;

	/* Who destroys the object takes it off the list first, and waits here for that. */
	pthread_mutex_lock(&dev->objects_lock);
	obj = object_of(dev, cmd, q->in);
	if (obj != NULL)
		ret = mdv_exec_query_try(obj, q->in, q->in_bytes, q->out, q->out_bytes);
	pthread_mutex_unlock(&dev->objects_lock);
	return ret;
}

int
mdv_request_run(struct mdv_dev *dev, struct mdv_request *q)
{
	const struct prm_command *cmd = prm_command_find(q->opcode);
	const uint8_t *out = (const uint8_t *)q->out;
	int ret;

	q->status = PRM_STATUS_OK;
	q->syndrome = 0;
	if (cmd == NULL || !mdv_devx_read_only(q->in, q->in_bytes, q->refused))
		return -EPERM;
	memset(q->out, 0, sizeof(q->out));
	if (cmd->cls == PRM_CMD_QUERY && cmd->in_id.hi >= cmd->in_id.lo)
		ret = ask_object(dev, cmd, q);
	else
		ret = mdv_cmd_try(dev, q->in, q->in_bytes, q->out, q->out_bytes);
	q->status = out[0];
	q->syndrome = PRM_BE32(q->out[1]);
	return ret;
}

void
mdv_reply_fields(const struct mdv_request *q, mdv_field_cb cb, void *arg)
{
	prm_decode_out(q->in, q->in_bytes, q->out, q->out_bytes, true, cb, arg);
}

/* ------------------------------------------------------------------ refusals */

void
mdv_explain(uint8_t status, uint32_t syndrome, struct mdv_explanation *e)
{
	int err = prm_status_errno(status);

	e->name = prm_status_name(status);
	e->errno_name = err == 0 ? "0" : mdv_errno_name(err);
	e->meaning = prm_status_text(status);
	if (e->meaning == NULL)
		e->meaning = "no status that this driver knows: the firmware may be newer";
	e->syndrome = prm_syndrome_text(syndrome);
	if (e->syndrome != NULL)
		return;
	if (syndrome == 0)
		e->syndrome = "the firmware gives no reason of its own";
	else if (syndrome >> 16 == EMULATOR_SYNDROME)
		e->syndrome = "a number of the emulator: mlxemu explain tells it";
	else
		e->syndrome = "the firmware's own reason, which is not published: NVIDIA support "
			      "reads it, with the firmware's version";
}

int
mdv_status_find(const char *name, uint8_t *status)
{
	for (unsigned int i = 0; i <= UINT8_MAX; i++) {
		if (strcasecmp(prm_status_name(i), name) == 0 && prm_status_text(i) != NULL) {
			*status = i;
			return 0;
		}
	}
	return -ENOENT;
}

const char *
mdv_syndrome_meaning(uint8_t syndrome)
{
	const char *text = prm_cqe_syndrome_text(syndrome);

	return text != NULL ? text : "no syndrome of an error completion that this driver knows";
}
