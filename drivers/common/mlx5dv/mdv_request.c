/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Requests of a user: commands that only read. */

#include <stdlib.h>
#include <string.h>

#include "mdv_inspect.h"
#include "mdv_private.h"
#include "mdv_request_check.h"

/** Space for the list at the end of a reply of variable length. */
#define LIST_BYTES 1024
/** Bytes of opcode and uid, before the part of the inbox that the caller supplies. */
#define REST_OFFSET 4

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

/** Sets the sizes of both mailboxes to what the command requires. */
static void
request_size(const struct prm_command *cmd, struct mdv_request *req)
{
	const struct prm_layout *reg = NULL;

	req->in_bytes = RTE_MAX(req->in_bytes, (size_t)cmd->in->dwords * 4);
	req->out_bytes = (size_t)cmd->out->dwords * 4;
	if (mdv_request_is_register(cmd->opcode)) {
		reg = prm_register_layout(prm_access_register_in_get_register_id((void *)req->in));
		if (reg != NULL)
			req->in_bytes = RTE_MAX(req->in_bytes, ((size_t)cmd->in->dwords + reg->dwords) * 4);
		req->out_bytes = req->in_bytes;
	} else if (cmd->out->variable) {
		req->out_bytes += LIST_BYTES;
	}
	req->in_bytes = RTE_MIN(req->in_bytes, sizeof(req->in));
	req->out_bytes = RTE_MIN(req->out_bytes, sizeof(req->out));
}

int
mdv_request_make(const char *command, const uint8_t *rest, size_t rest_bytes,
		  struct mdv_request *req)
{
	const struct prm_command *cmd = command_find(command);

	memset(req, 0, sizeof(*req));
	if (cmd == NULL)
		return -ENOENT;
	if (rest_bytes > sizeof(req->in) - REST_OFFSET ||
	    (!cmd->in_variable && rest_bytes > (size_t)cmd->in->dwords * 4 - REST_OFFSET))
		return -EMSGSIZE;
	req->name = cmd->name;
	req->opcode = cmd->opcode;
	prm_nop_in_set_opcode((void *)req->in, cmd->opcode);
	if (rest_bytes > 0)
		memcpy((uint8_t *)req->in + REST_OFFSET, rest, rest_bytes);
	req->in_bytes = RTE_ALIGN_CEIL(REST_OFFSET + rest_bytes, 4);
	request_size(cmd, req);
	return mdv_request_reads_only(req->in, req->in_bytes, req->refused) ? 0 : -EPERM;
}

int
mdv_request_caps(const char *page, struct mdv_request *req)
{
	const char *name;
	int ret = mdv_request_make("QUERY_HCA_CAP", NULL, 0, req);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; (name = mdv_caps_page_name(i)) != NULL; i++) {
		if (strcasecmp(name, page) != 0)
			continue;
		for (unsigned int type = 0; type <= UINT8_MAX; type++)
			if (strcmp(prm_hca_cap_type_name(type), name) == 0)
				prm_query_hca_cap_in_set_op_mod((void *)req->in,
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

int
mdv_request_run(struct mdv_dev *dev, struct mdv_request *req)
{
	const struct prm_command *cmd = prm_command_find(req->opcode);
	const uint8_t *out = (const uint8_t *)req->out;
	int ret;

	req->status = PRM_STATUS_OK;
	req->syndrome = 0;
	if (cmd == NULL || !mdv_request_reads_only(req->in, req->in_bytes, req->refused))
		return -EPERM;
	memset(req->out, 0, sizeof(req->out));
	if (cmd->cls == PRM_CMD_QUERY && cmd->in_id.hi >= cmd->in_id.lo)
		ret = mdv_objects_query(dev, cmd, req->in, req->in_bytes, req->out, req->out_bytes);
	else
		ret = mdv_cmd_try(dev, req->in, req->in_bytes, req->out, req->out_bytes);
	req->status = out[0];
	req->syndrome = PRM_BE32(req->out[1]);
	return ret;
}

void
mdv_reply_fields(const struct mdv_request *req, mdv_field_cb cb, void *arg)
{
	prm_decode_out(req->in, req->in_bytes, req->out, req->out_bytes, true, cb, arg);
}
