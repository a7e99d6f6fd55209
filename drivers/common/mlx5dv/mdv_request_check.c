/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Check that a command only reads. Commands, registers and the fields that may be set in them are
 * listed here; everything else is refused, because the PRM has reads with side effects: counters that
 * are cleared when read, snapshots, replies that the device writes to memory.
 */

#include <stdio.h>
#include <string.h>

#include "mdv_private.h"
#include "mdv_request_check.h"

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

bool
mdv_request_reads_only(const uint32_t *in, size_t in_bytes, char refused[MDV_REFUSED_BYTES])
{
	const uint16_t opcode = prm_cmd_in_get_opcode((const void *)in);
	const struct prm_access_register_in *access = (const void *)in;
	struct walk w = { .any = ANY, .refused = refused };
	const struct reader *r = find(commands, RTE_DIM(commands), opcode);

	refused[0] = '\0';
	if (mdv_request_is_register(opcode)) {
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

bool
mdv_request_is_register(uint16_t opcode)
{
	return opcode == PRM_CMD_OP_ACCESS_REGISTER || opcode == PRM_CMD_OP_ACCESS_REGISTER_USER;
}
