/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Firmware objects of any type: one create, modify, query, destroy, driven by the command table. */

#include <stdlib.h>
#include <string.h>

#include "mdv_inspect.h"
#include "mdv_private.h"

/** Largest outbox of a create or modify command, general objects included. */
#define MDV_OUT_BYTES_MAX 256

/* ------------------------------------------------------------------ list of the device's objects */

/** Name of the object type: the name of its create or query command without the verb. */
static const char *
without_verb(const char *command)
{
	static const char *const verbs[] = { "CREATE_", "ALLOC_", "QUERY_", "SET_" };

	for (size_t i = 0; i < RTE_DIM(verbs); i++)
		if (strncmp(command, verbs[i], strlen(verbs[i])) == 0)
			return command + strlen(verbs[i]);
	return command;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_objects_get)
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

/** The object that a query command names; the caller holds objects_lock. */
static struct mdv_obj *
objects_find(struct mdv_dev *dev, const struct prm_command *cmd, const void *in)
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

int
mdv_objects_query(struct mdv_dev *dev, const struct prm_command *cmd, const void *in,
		  size_t in_bytes, void *out, size_t out_bytes)
{
	struct mdv_obj *obj;
	int ret = -ENOENT;

	/* mdv_obj_destroy() removes the object from the list first, so the lock keeps it alive. */
	pthread_mutex_lock(&dev->objects_lock);
	obj = objects_find(dev, cmd, in);
	if (obj != NULL)
		ret = mdv_exec_query(obj, in, in_bytes, out, out_bytes, true);
	pthread_mutex_unlock(&dev->objects_lock);
	return ret;
}

/* ------------------------------------------------------------------ create, modify, query, destroy */

/** SET_FLOW_TABLE_ENTRY both creates and modifies; it is the modify command that has a destroy command. */
static bool
also_creates(const struct prm_command *cmd, enum prm_command_class cls)
{
	return cls == PRM_CMD_CREATE && cmd->cls == PRM_CMD_MODIFY && cmd->destroy_opcode != 0;
}

/** Looks up an inbox in the command table. NULL with EINVAL if its class or length is wrong. */
static const struct prm_command *
command_of(struct mdv_dev *dev, const void *in, size_t in_bytes, enum prm_command_class cls)
{
	const uint8_t *bytes = in;
	const struct prm_command *cmd;
	uint16_t opcode = 0;

	if (in_bytes >= 2)
		opcode = (uint16_t)(bytes[0] << 8 | bytes[1]);
	cmd = prm_command_find(opcode);
	if (cmd == NULL || (cmd->cls != cls && !also_creates(cmd, cls)))
		return MDV_FAIL_NULL(dev->name, EINVAL, "%s (0x%x) is not a command of this kind",
				     prm_command_name(opcode), opcode);
	if (in_bytes < cmd->in_bytes_min)
		return MDV_FAIL_NULL(dev->name, EINVAL, "%s (0x%x) needs %u bytes, not %zu", cmd->name, opcode,
				     cmd->in_bytes_min, in_bytes);
	return cmd;
}

/** The inbox must carry the object's own id: for any other the kernel returns EINVAL without a log line. */
static int
check_id(const struct mdv_obj *obj, const struct prm_command *cmd, const void *in)
{
	uint32_t id;

	if (cmd->in_id.hi < cmd->in_id.lo)
		return 0;
	id = prm_field_ref_get(in, cmd->in_id);
	if (id == obj->id)
		return 0;
	return MDV_FAIL(obj->dev->name, EINVAL, "%s (0x%x) has object id 0x%x, the handle has 0x%x", cmd->name,
			cmd->opcode, id, obj->id);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_obj_create)
struct mdv_obj *
mdv_obj_create(struct mdv_dev *dev, const void *in, size_t in_bytes)
{
	const struct prm_command *cmd = command_of(dev, in, in_bytes, PRM_CMD_CREATE);
	uint32_t out[MDV_OUT_BYTES_MAX / 4];
	struct mdv_obj *obj;

	if (cmd == NULL || cmd->out_bytes_min > sizeof(out))
		return NULL;
	obj = calloc(1, sizeof(*obj));
	if (obj == NULL)
		return MDV_FAIL_NULL(dev->name, ENOMEM, "no memory for the handle of %s", cmd->name);
	obj->devx = mdv_exec_create(dev, in, in_bytes, out, cmd->out_bytes_min);
	if (obj->devx == NULL) {
		free(obj);
		return NULL;
	}
	obj->dev = dev;
	obj->create_opcode = cmd->opcode;
	/* A flow table entry has no id of the device's choice: its index is in the inbox. */
	obj->id = cmd->cls == PRM_CMD_CREATE ? prm_field_ref_get(out, cmd->out_id)
					     : prm_field_ref_get(in, cmd->in_id);
	pthread_mutex_lock(&dev->objects_lock);
	LIST_INSERT_HEAD(&dev->objects, obj, next);
	pthread_mutex_unlock(&dev->objects_lock);
	MDV_LOG(DEBUG, dev->name, "%s (0x%x) -> 0x%x", cmd->name, cmd->opcode, obj->id);
	return obj;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_obj_modify)
int
mdv_obj_modify(struct mdv_obj *obj, const void *in, size_t in_bytes)
{
	const struct prm_command *cmd = command_of(obj->dev, in, in_bytes, PRM_CMD_MODIFY);
	uint32_t out[MDV_OUT_BYTES_MAX / 4];

	if (cmd == NULL || check_id(obj, cmd, in) != 0)
		return -rte_errno;
	if (cmd->out_bytes_min > sizeof(out))
		return mdv_fail(EINVAL);
	return mdv_exec_modify(obj, in, in_bytes, out, cmd->out_bytes_min);
}

int
mdv_obj_query_check(const struct mdv_obj *obj, const void *in, size_t in_bytes)
{
	const struct prm_command *cmd = command_of(obj->dev, in, in_bytes, PRM_CMD_QUERY);

	return cmd == NULL || check_id(obj, cmd, in) != 0 ? -rte_errno : 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_obj_query)
int
mdv_obj_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	if (mdv_obj_query_check(obj, in, in_bytes) != 0)
		return -rte_errno;
	return mdv_exec_query(obj, in, in_bytes, out, out_bytes, false);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_obj_destroy)
int
mdv_obj_destroy(struct mdv_obj *obj)
{
	const struct prm_command *cmd;
	int ret;

	if (obj == NULL)
		return 0;
	pthread_mutex_lock(&obj->dev->objects_lock);
	LIST_REMOVE(obj, next);
	pthread_mutex_unlock(&obj->dev->objects_lock);
	cmd = prm_command_find(obj->create_opcode);
	ret = mdv_exec_destroy(obj, cmd->destroy_opcode);
	free(obj);
	return ret;
}
