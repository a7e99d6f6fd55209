/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Firmware objects of any type: one create, modify, query, destroy, driven by the command table. */

#include <stdlib.h>
#include <string.h>

#include "mdv_private.h"

/** Replies of create and modify commands are a head and an id; general objects stay below this. */
#define MDV_OUT_BYTES_MAX 256

/** One command makes entries of flow tables and changes them: it has a counterpart that destroys. */
static bool
makes(const struct prm_command *cmd, enum prm_command_class cls)
{
	return cls == PRM_CMD_CREATE && cmd->cls == PRM_CMD_MODIFY && cmd->destroy_opcode != 0;
}

/** The table's row for an inbox, if it is of the class asked for and long enough. */
static const struct prm_command *
command_of(struct mdv_dev *dev, const void *in, size_t in_bytes, enum prm_command_class cls)
{
	const uint8_t *bytes = in;
	const struct prm_command *cmd;
	uint16_t opcode = 0;

	if (in_bytes >= 2)
		opcode = (uint16_t)(bytes[0] << 8 | bytes[1]);
	cmd = prm_command_find(opcode);
	if (cmd == NULL || (cmd->cls != cls && !makes(cmd, cls))) {
		MDV_LOG(ERR, &dev->pci, "%s (0x%x) is not a command of this kind",
			prm_command_name(opcode), opcode);
		rte_errno = EINVAL;
		return NULL;
	}
	if (in_bytes < cmd->in_bytes_min) {
		MDV_LOG(ERR, &dev->pci, "%s (0x%x) needs %u bytes, not %zu", cmd->name, opcode,
			cmd->in_bytes_min, in_bytes);
		rte_errno = EINVAL;
		return NULL;
	}
	return cmd;
}

/** Modify and query commands name their object; the kernel refuses a mismatch without a word. */
static int
check_id(const struct mdv_obj *obj, const struct prm_command *cmd, const void *in)
{
	uint32_t id;

	if (cmd->in_id.hi < cmd->in_id.lo)
		return 0;
	id = prm_field_ref_get(in, cmd->in_id);
	if (id == obj->id)
		return 0;
	MDV_LOG(ERR, &obj->dev->pci, "%s (0x%x) names object 0x%x, the handle is of 0x%x",
		cmd->name, cmd->opcode, id, obj->id);
	return mdv_fail(EINVAL);
}

struct mdv_obj *
mdv_obj_create(struct mdv_dev *dev, const void *in, size_t in_bytes)
{
	const struct prm_command *cmd = command_of(dev, in, in_bytes, PRM_CMD_CREATE);
	uint32_t out[MDV_OUT_BYTES_MAX / 4];
	struct mdv_obj *obj;

	if (cmd == NULL || cmd->out_bytes_min > sizeof(out))
		return NULL;
	obj = calloc(1, sizeof(*obj));
	if (obj == NULL) {
		MDV_LOG(ERR, &dev->pci, "no memory for the handle of %s", cmd->name);
		rte_errno = ENOMEM;
		return NULL;
	}
	obj->devx = mdv_exec_create(dev, in, in_bytes, out, cmd->out_bytes_min);
	if (obj->devx == NULL) {
		free(obj);
		return NULL;
	}
	obj->dev = dev;
	obj->create_opcode = cmd->opcode;
	/* Where the device gives no number, the caller chose one: an entry's index. */
	obj->id = cmd->cls == PRM_CMD_CREATE ? prm_field_ref_get(out, cmd->out_id)
					     : prm_field_ref_get(in, cmd->in_id);
	mdv_objects_add(obj);
	MDV_LOG(DEBUG, &dev->pci, "%s (0x%x) -> 0x%x", cmd->name, cmd->opcode, obj->id);
	return obj;
}

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

int
mdv_obj_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	if (mdv_obj_query_check(obj, in, in_bytes) != 0)
		return -rte_errno;
	return mdv_exec_query(obj, in, in_bytes, out, out_bytes);
}

int
mdv_obj_destroy(struct mdv_obj *obj)
{
	const struct prm_command *cmd;
	int ret;

	if (obj == NULL)
		return 0;
	mdv_objects_remove(obj);
	cmd = prm_command_find(obj->create_opcode);
	ret = mdv_exec_destroy(obj, cmd->destroy_opcode);
	free(obj);
	return ret;
}
