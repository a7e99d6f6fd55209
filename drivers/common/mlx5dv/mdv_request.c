/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Requests of a user: commands that only read. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mdv_inspect.h"
#include "mdv_private.h"

/** Space for the list at the end of a reply of variable length. */
#define LIST_BYTES 1024
/** Bytes of opcode and uid, before the part of the inbox that the caller supplies. */
#define REST_OFFSET 4

/* ------------------------------------------------------------------ requests that only read */

/*
 * Commands, registers and the fields that may be set in them are listed here; everything else is refused, because
 * the PRM has reads with side effects: counters that are cleared when read, snapshots, replies that the device
 * writes to memory.
 */

/** A command or register that can be read without side effects, and the fields that select what. */
struct reader {
	uint16_t number;
	const char *fields; /**< Separated and surrounded by blanks. */
};

/** Fields of every command. */
#define ANY " opcode op_mod uid vhca_tunnel_id "
#define VPORT " other_vport vport_number port_num "

static const struct reader commands[] = {
	{ PRM_CMD_OP_NOP, "" },
	{ PRM_CMD_OP_QUERY_HCA_CAP, " other_function ec_vf_function function_id " },
	{ PRM_CMD_OP_QUERY_ADAPTER, "" },
	{ PRM_CMD_OP_QUERY_PAGES, " embedded_cpu_function function_id " },
	{ PRM_CMD_OP_QUERY_ISSI, "" },
	{ PRM_CMD_OP_QUERY_MKEY, " mkey_index pg_access " },
	{ PRM_CMD_OP_QUERY_SPECIAL_CONTEXTS, "" },
	{ PRM_CMD_OP_QUERY_EQ, " eq_number " },
	{ PRM_CMD_OP_QUERY_CQ, " cqn " },
	{ PRM_CMD_OP_QUERY_QP, " qpc_ext qpn " },
	{ PRM_CMD_OP_QUERY_ESW_FUNCTIONS, "" },
	{ PRM_CMD_OP_QUERY_VPORT_STATE, VPORT },
	{ PRM_CMD_OP_QUERY_ESW_VPORT_CONTEXT, VPORT },
	{ PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT, VPORT " allowed_list_type " },
	{ PRM_CMD_OP_QUERY_ROCE_ADDRESS, " roce_address_index vhca_port_num " },
	{ PRM_CMD_OP_QUERY_HCA_VPORT_CONTEXT, VPORT },
	{ PRM_CMD_OP_QUERY_HCA_VPORT_GID, VPORT " gid_index " },
	{ PRM_CMD_OP_QUERY_HCA_VPORT_PKEY, VPORT " pkey_index " },
	{ PRM_CMD_OP_QUERY_VNIC_ENV, VPORT },
	{ PRM_CMD_OP_QUERY_VPORT_COUNTER, VPORT },
	{ PRM_CMD_OP_QUERY_Q_COUNTER, VPORT " aggregate counter_set_id " },
	{ PRM_CMD_OP_QUERY_SCHEDULING_ELEMENT, " scheduling_hierarchy scheduling_element_id " },
	{ PRM_CMD_OP_QUERY_CONG_STATUS, " priority cong_protocol " },
	{ PRM_CMD_OP_QUERY_CONG_PARAMS, " cong_protocol " },
	{ PRM_CMD_OP_QUERY_CONG_STATISTICS, "" },
	{ PRM_CMD_OP_QUERY_L2_TABLE_ENTRY, " table_index " },
	{ PRM_CMD_OP_QUERY_LAG, "" },
	{ PRM_CMD_OP_QUERY_TIR, " tirn " },
	{ PRM_CMD_OP_QUERY_SQ, " sqn " },
	{ PRM_CMD_OP_QUERY_RQ, " rqn " },
	{ PRM_CMD_OP_QUERY_RMP, " rmpn " },
	{ PRM_CMD_OP_QUERY_TIS, " tisn " },
	{ PRM_CMD_OP_QUERY_RQT, " rqtn " },
	{ PRM_CMD_OP_QUERY_FLOW_TABLE, VPORT " table_type table_id " },
	{ PRM_CMD_OP_QUERY_FLOW_GROUP, VPORT " table_type table_id group_id " },
	{ PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY, VPORT " table_type table_id flow_index " },
	{ PRM_CMD_OP_QUERY_FLOW_COUNTER, " num_of_counters flow_counter_id " },
	{ PRM_CMD_OP_QUERY_PACKET_REFORMAT_CONTEXT, " packet_reformat_id " },
	{ PRM_CMD_OP_QUERY_GENERAL_OBJECT, " obj_type obj_id " },
};

/** Fields of ACCESS_REGISTER itself. */
#define ANY_REGISTER ANY " register_id argument "
#define PORT " swid local_port pnat plane_ind "
#define GROUPS " feature_group access_reg_group "

/** MCIA is missing because reading a cable module clears its alarm flags (SFF-8636, CMIS). */
static const struct reader registers[] = {
	{ PRM_REG_QPTS, PORT },
	{ PRM_REG_QTCT, " port_number prio " },
	{ PRM_REG_QCAM, GROUPS },
	{ PRM_REG_QSHR, PORT },
	{ PRM_REG_PCAP, PORT },
	{ PRM_REG_PMLP, PORT },
	{ PRM_REG_PMTU, PORT },
	{ PRM_REG_PTYS, PORT " proto_mask " },
	{ PRM_REG_PPAD, PORT },
	{ PRM_REG_PAOS, PORT },
	{ PRM_REG_PFCC, PORT },
	{ PRM_REG_PPCNT, PORT " grp prio_tc " },
	{ PRM_REG_PUDE, PORT },
	{ PRM_REG_PLIB, PORT },
	{ PRM_REG_PPTB, PORT },
	{ PRM_REG_PBMC, PORT },
	{ PRM_REG_PELC, PORT },
	{ PRM_REG_PVLC, PORT },
	{ PRM_REG_PMPE, " module " },
	{ PRM_REG_PMAOS, " module " },
	{ PRM_REG_PPLM, PORT },
	{ PRM_REG_PDDR, PORT " page_select " },
	{ PRM_REG_PCMR, PORT },
	{ PRM_REG_PCAM, GROUPS },
	{ PRM_REG_HOST_ENDIANNESS, "" },
	{ PRM_REG_MTCAP, "" },
	{ PRM_REG_MTMP, " sensor_index " },
	{ PRM_REG_MFRL, "" },
	{ PRM_REG_MLCR, PORT },
	{ PRM_REG_MRTC, "" },
	{ PRM_REG_MPEIN, " depth pcie_index node " },
	{ PRM_REG_MPCNT, " pcie_index grp " },
	{ PRM_REG_MTPPS, " pin " },
	{ PRM_REG_MTPPSE, " pin " },
	{ PRM_REG_MTUTC, "" },
	{ PRM_REG_MPEGC, "" },
	{ PRM_REG_MPIR, PORT " sdm " },
	{ PRM_REG_MCQS, " component_index " },
	{ PRM_REG_MCQI, " read_pending_component component_index info_type info_size offset data_size " },
	{ PRM_REG_MCAM, GROUPS },
	{ PRM_REG_MIRC, "" },
	{ PRM_REG_SBPR, " desc dir pool " },
	{ PRM_REG_SBCM, PORT " desc pg_buff dir " },
	{ PRM_REG_SBCAM, GROUPS },
	{ PRM_REG_DTOR, "" },
};

static const struct reader *
find(const struct reader *list, size_t n, uint16_t number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].number == number)
			return &list[i];
	return NULL;
}

static bool
listed(const char *fields, const char *name, size_t len)
{
	for (const char *at = fields; (at = strstr(at, name)) != NULL; at += len)
		if (at > fields && at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

/** ACCESS_REGISTER or ACCESS_REGISTER_USER. */
static bool
is_register(uint16_t opcode)
{
	return opcode == PRM_CMD_OP_ACCESS_REGISTER || opcode == PRM_CMD_OP_ACCESS_REGISTER_USER;
}

/** State of the walk over the fields of an inbox. */
struct walk {
	const char *any, *fields;
	const char *reg;	/**< Prefix of the register's field paths, NULL without register. */
	unsigned int bits;	/**< Set bits that belong to known fields. */
	char *refused;
};

static void
walk_field(void *arg, const char *path, uint64_t value, const char *name)
{
	struct walk *w = arg;
	size_t of_register = w->reg != NULL ? strlen(w->reg) : 0, len;
	const char *fields = w->any;

	RTE_SET_USED(name);
	w->bits += __builtin_popcountll(value);
	if (of_register != 0 && strncmp(path, w->reg, of_register) == 0 && path[of_register] == '.') {
		path += of_register + 1;
		fields = w->fields;
	} else if (of_register == 0 && listed(w->fields, path, strlen(path))) {
		return;
	}
	len = strlen(path);
	if (!listed(fields, path, len) && w->refused[0] == '\0')
		snprintf(w->refused, MDV_REFUSED_BYTES, "%s", path);
}

/** Only listed fields are set, and every set bit belongs to a field of the layout. */
static bool
only_selects(struct walk *w, const uint32_t *in, size_t in_bytes)
{
	unsigned int bits = 0;

	prm_decode_in(in, in_bytes, true, walk_field, w);
	for (size_t i = 0; i < in_bytes / 4; i++)
		bits += __builtin_popcount(in[i]);
	if (bits != w->bits && w->refused[0] == '\0')
		snprintf(w->refused, MDV_REFUSED_BYTES, "bits of no known field");
	return w->refused[0] == '\0';
}

/**
 * Checks that a command changes nothing in the device.
 *
 * @param[out] refused
 *   If false is returned: the first field that may change something; empty: the command or register.
 */
static bool
reads_only(const uint32_t *in, size_t in_bytes, char refused[MDV_REFUSED_BYTES])
{
	const uint16_t opcode = prm_cmd_in_get_opcode((const void *)in);
	const struct prm_access_register_in *access = (const void *)in;
	struct walk w = { .any = ANY, .refused = refused };
	const struct reader *r = find(commands, RTE_DIM(commands), opcode);

	refused[0] = '\0';
	if (is_register(opcode)) {
		r = find(registers, RTE_DIM(registers), prm_access_register_in_get_register_id(access));
		if (prm_access_register_in_get_op_mod(access) != PRM_ACCESS_REG_OP_READ || r == NULL)
			return false;
		w.any = ANY_REGISTER;
		w.reg = prm_register_layout(r->number)->name;
	}
	if (r == NULL)
		return false;
	w.fields = r->fields;
	return only_selects(&w, in, in_bytes);
}

/* ------------------------------------------------------------------ building and running */

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
	if (is_register(cmd->opcode)) {
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_request_make)
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
	return reads_only(req->in, req->in_bytes, req->refused) ? 0 : -EPERM;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_request_caps)
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_caps_page_name)
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_request_run)
int
mdv_request_run(struct mdv_dev *dev, struct mdv_request *req)
{
	const struct prm_command *cmd = prm_command_find(req->opcode);
	const uint8_t *out = (const uint8_t *)req->out;
	int ret;

	req->status = PRM_STATUS_OK;
	req->syndrome = 0;
	if (cmd == NULL || !reads_only(req->in, req->in_bytes, req->refused))
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

RTE_EXPORT_INTERNAL_SYMBOL(mdv_reply_fields)
void
mdv_reply_fields(const struct mdv_request *req, mdv_field_cb cb, void *arg)
{
	prm_decode_out(req->in, req->in_bytes, req->out, req->out_bytes, true, cb, arg);
}
