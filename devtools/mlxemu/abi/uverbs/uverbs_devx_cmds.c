/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Firmware commands that the kernel allows per DEVX method, and the position of the object number in
 * them: facts of drivers/infiniband/hw/mlx5/devx.c (devx_is_obj_create_cmd() and others) and of the
 * PRM. Positions are independent of the generated layouts, so that an error in those is detected.
 */
#include <endian.h>
#include <string.h>

#include "prm.h"
#include "uverbs.h"

/* Commands on an object: method, creating command, position and bits of the id. */
static const struct devx_row {
	uint16_t opcode;
	enum abi_devx_class cls;
	uint16_t creator; /* query, modify */
	uint8_t id_dword; /* in the inbox; CREATE: in the outbox */
	uint8_t id_bits;
} devx_rows[] = {
	/* create; the id is in the outbox */
	{PRM_CMD_OP_CREATE_GENERAL_OBJECT, ABI_DEVX_CREATE, 0, 2, 32},
	{PRM_CMD_OP_CREATE_MKEY, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_CQ, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_ALLOC_PD, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_RMP, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_SQ, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_RQ, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_RQT, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_TIR, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_TIS, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_ALLOC_Q_COUNTER, ABI_DEVX_CREATE, 0, 2, 8},
	{PRM_CMD_OP_CREATE_FLOW_TABLE, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_FLOW_GROUP, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_SET_FLOW_TABLE_ENTRY, ABI_DEVX_CREATE, 0, 8, 32}, /* id: flow_index of the inbox */
	{PRM_CMD_OP_ALLOC_FLOW_COUNTER, ABI_DEVX_CREATE, 0, 2, 32},
	{PRM_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT, ABI_DEVX_CREATE, 0, 2, 32},
	{PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, ABI_DEVX_CREATE, 0, 2, 32},
	{0x782, ABI_DEVX_CREATE, 0, 2, 32}, /* SCHEDULING_ELEMENT */
	{0x827, ABI_DEVX_CREATE, 0, 2, 16}, /* VXLAN_UDP_DPORT */
	{PRM_CMD_OP_SET_L2_TABLE_ENTRY, ABI_DEVX_CREATE, 0, 2, 24},
	{PRM_CMD_OP_CREATE_QP, ABI_DEVX_CREATE, 0, 2, 24},
	{0x700, ABI_DEVX_CREATE, 0, 2, 24}, /* SRQ */
	{0x705, ABI_DEVX_CREATE, 0, 2, 24}, /* XRC_SRQ */
	{0x710, ABI_DEVX_CREATE, 0, 2, 24}, /* DCT */
	{0x717, ABI_DEVX_CREATE, 0, 2, 24}, /* XRQ */
	{0x806, ABI_DEVX_CREATE, 0, 2, 24}, /* ATTACH_TO_MCG */
	{0x80e, ABI_DEVX_CREATE, 0, 2, 24}, /* XRCD */
	/* query */
	{PRM_CMD_OP_QUERY_GENERAL_OBJECT, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_GENERAL_OBJECT, 2, 32},
	{PRM_CMD_OP_QUERY_MKEY, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_MKEY, 2, 24},
	{PRM_CMD_OP_QUERY_CQ, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_CQ, 2, 24},
	{PRM_CMD_OP_QUERY_RMP, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_RMP, 2, 24},
	{PRM_CMD_OP_QUERY_SQ, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_SQ, 2, 24},
	{PRM_CMD_OP_QUERY_RQ, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_RQ, 2, 24},
	{PRM_CMD_OP_QUERY_RQT, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_RQT, 2, 24},
	{PRM_CMD_OP_QUERY_TIR, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_TIR, 2, 24},
	{PRM_CMD_OP_QUERY_TIS, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_TIS, 2, 24},
	{PRM_CMD_OP_QUERY_Q_COUNTER, ABI_DEVX_QUERY, PRM_CMD_OP_ALLOC_Q_COUNTER, 7, 8},
	{PRM_CMD_OP_QUERY_FLOW_TABLE, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_FLOW_TABLE, 5, 24},
	{PRM_CMD_OP_QUERY_FLOW_GROUP, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_FLOW_GROUP, 6, 32},
	{PRM_CMD_OP_QUERY_FLOW_TABLE_ENTRY, ABI_DEVX_QUERY, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY, 8, 32},
	{PRM_CMD_OP_QUERY_FLOW_COUNTER, ABI_DEVX_QUERY, PRM_CMD_OP_ALLOC_FLOW_COUNTER, 7, 32},
	{PRM_CMD_OP_QUERY_PACKET_REFORMAT_CONTEXT, ABI_DEVX_QUERY, PRM_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT, 2, 32},
	{0x942, ABI_DEVX_QUERY, PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT, 2, 32},
	{PRM_CMD_OP_QUERY_SCHEDULING_ELEMENT, ABI_DEVX_QUERY, 0x782, 3, 32},
	{PRM_CMD_OP_QUERY_L2_TABLE_ENTRY, ABI_DEVX_QUERY, PRM_CMD_OP_SET_L2_TABLE_ENTRY, 5, 24},
	{PRM_CMD_OP_QUERY_QP, ABI_DEVX_QUERY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{0x702, ABI_DEVX_QUERY, 0x700, 2, 24},
	{0x707, ABI_DEVX_QUERY, 0x705, 2, 24},
	{0x713, ABI_DEVX_QUERY, 0x710, 2, 24},
	{0x719, ABI_DEVX_QUERY, 0x717, 2, 24},
	{0x725, ABI_DEVX_QUERY, 0x717, 2, 24}, /* XRQ_DC_PARAMS_ENTRY */
	{0x727, ABI_DEVX_QUERY, 0x717, 2, 24}, /* XRQ_ERROR_PARAMS */
	/* modify */
	{PRM_CMD_OP_MODIFY_GENERAL_OBJECT, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_GENERAL_OBJECT, 2, 32},
	{PRM_CMD_OP_MODIFY_CQ, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_CQ, 2, 24},
	{PRM_CMD_OP_MODIFY_RMP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_RMP, 2, 24},
	{PRM_CMD_OP_MODIFY_SQ, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_SQ, 2, 24},
	{PRM_CMD_OP_MODIFY_RQ, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_RQ, 2, 24},
	{PRM_CMD_OP_MODIFY_RQT, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_RQT, 2, 24},
	{PRM_CMD_OP_MODIFY_TIR, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_TIR, 2, 24},
	{PRM_CMD_OP_MODIFY_TIS, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_TIS, 2, 24},
	{PRM_CMD_OP_SET_FLOW_TABLE_ENTRY, ABI_DEVX_MODIFY, PRM_CMD_OP_SET_FLOW_TABLE_ENTRY, 8, 32},
	{PRM_CMD_OP_MODIFY_FLOW_TABLE, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_FLOW_TABLE, 5, 24},
	{0x785, ABI_DEVX_MODIFY, 0x782, 3, 32},
	{0x827, ABI_DEVX_MODIFY, 0x827, 2, 16},
	{PRM_CMD_OP_SET_L2_TABLE_ENTRY, ABI_DEVX_MODIFY, PRM_CMD_OP_SET_L2_TABLE_ENTRY, 5, 24},
	{PRM_CMD_OP_RST2INIT_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{PRM_CMD_OP_INIT2RTR_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{PRM_CMD_OP_RTR2RTS_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{PRM_CMD_OP_RTS2RTS_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{PRM_CMD_OP_SQERR2RTS_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{PRM_CMD_OP_2ERR_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{PRM_CMD_OP_2RST_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{PRM_CMD_OP_INIT2INIT_QP, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_QP, 2, 24},
	{0x703, ABI_DEVX_MODIFY, PRM_CMD_OP_CREATE_RQ, 2, 24}, /* ARM_RQ */
	{0x708, ABI_DEVX_MODIFY, 0x705, 2, 24}, /* ARM_XRC_SRQ */
	{0x714, ABI_DEVX_MODIFY, 0x710, 2, 24}, /* ARM_DCT_FOR_KEY_VIOLATION */
	{0x71a, ABI_DEVX_MODIFY, 0x717, 2, 24}, /* ARM_XRQ */
	{0x726, ABI_DEVX_MODIFY, 0x717, 2, 24}, /* SET_XRQ_DC_PARAMS_ENTRY */
	{0x729, ABI_DEVX_MODIFY, 0x717, 2, 24}, /* RELEASE_XRQ_ERROR */
	{0x72a, ABI_DEVX_MODIFY, 0x717, 2, 24}, /* MODIFY_XRQ */
};

/* Commands without object, outside the range of opcodes that is always allowed. */
static const uint16_t devx_general[] = {
	0x100, /* QUERY_HCA_CAP */
	0x101, /* QUERY_ADAPTER */
	0x10a, /* QUERY_ISSI */
	0x750, /* QUERY_VPORT_STATE */
	0x752, /* QUERY_ESW_VPORT_CONTEXT */
	0x754, /* QUERY_NIC_VPORT_CONTEXT */
	0x760, /* QUERY_ROCE_ADDRESS */
	0x762, /* QUERY_HCA_VPORT_CONTEXT */
	0x76f, /* QUERY_VNIC_ENV */
	0x770, /* QUERY_VPORT_COUNTER */
	0x80a, /* GET_DROPPED_PACKET_LOG */
	0x80d, /* NOP */
	0x822, /* QUERY_CONG_STATUS */
	0x824, /* QUERY_CONG_PARAMS */
	0x826, /* QUERY_CONG_STATISTICS */
	0x842, /* QUERY_LAG */
};
#define DEVX_GENERAL_START 0xb00
#define DEVX_GENERAL_END 0xd00

static uint32_t
mbox_dword(const void *mbox, unsigned dword)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)mbox + 4 * dword, sizeof(v));
	return be32toh(v);
}

uint16_t
abi_devx_opcode(const void *in)
{
	return mbox_dword(in, 0) >> 16;
}

static const struct devx_row *
devx_row_find(uint16_t opcode, enum abi_devx_class cls)
{
	unsigned i;

	for (i = 0; i < sizeof(devx_rows) / sizeof(devx_rows[0]); i++)
		if (devx_rows[i].opcode == opcode && devx_rows[i].cls == cls)
			return &devx_rows[i];
	return NULL;
}

bool
abi_devx_allowed(enum abi_devx_class cls, const void *in)
{
	uint16_t opcode = abi_devx_opcode(in);
	uint16_t op_mod = mbox_dword(in, 1) & 0xffff;
	unsigned i;

	if (cls != ABI_DEVX_GENERAL) {
		/* New entries are made, existing ones changed, by the same command. */
		if (opcode == PRM_CMD_OP_SET_FLOW_TABLE_ENTRY)
			return cls == (op_mod == 0 ? ABI_DEVX_CREATE : ABI_DEVX_MODIFY);
		return devx_row_find(opcode, cls) != NULL;
	}
	if (opcode >= DEVX_GENERAL_START && opcode < DEVX_GENERAL_END)
		return true;
	for (i = 0; i < sizeof(devx_general) / sizeof(devx_general[0]); i++)
		if (devx_general[i] == opcode)
			return true;
	return false;
}

static uint32_t
devx_id(const struct devx_row *row, const void *mbox)
{
	uint32_t v = mbox_dword(mbox, row->id_dword);

	return row->id_bits == 32 ? v : v & ((1u << row->id_bits) - 1);
}

/* The type of a general object is part of its encoded id. */
static uint64_t
devx_encode(uint32_t creator, const void *in, uint32_t id)
{
	if (creator == PRM_CMD_OP_CREATE_GENERAL_OBJECT)
		creator |= (mbox_dword(in, 1) & 0xffff) << 16;
	return (uint64_t)creator << 32 | id;
}

uint64_t
abi_devx_object(const void *in)
{
	uint16_t opcode = abi_devx_opcode(in);
	const struct devx_row *row = devx_row_find(opcode, ABI_DEVX_QUERY);

	if (row == NULL)
		row = devx_row_find(opcode, ABI_DEVX_MODIFY);
	return row != NULL ? devx_encode(row->creator, in, devx_id(row, in)) : 0;
}

uint64_t
abi_devx_created(const void *in, const void *out)
{
	uint16_t opcode = abi_devx_opcode(in);
	const struct devx_row *row = devx_row_find(opcode, ABI_DEVX_CREATE);
	/* The program chooses the index of an entry: the outbox has none. */
	const void *mbox = opcode == PRM_CMD_OP_SET_FLOW_TABLE_ENTRY ? in : out;

	return row != NULL ? devx_encode(row->opcode, in, devx_id(row, mbox)) : 0;
}

/* Positions of the umem_valid bits in create and modify commands. */
static const struct umem_row {
	uint16_t opcode;
	struct {
		uint8_t dword, bit;
	} at[2];
} umem_rows[] = {
	{PRM_CMD_OP_CREATE_MKEY, {{3, 30}}}, /* mkey_umem_valid */
	{PRM_CMD_OP_CREATE_CQ, {{23, 31}, {4, 25}}}, /* cq_umem_valid, cqc.dbr_umem_valid */
	{PRM_CMD_OP_MODIFY_CQ, {{23, 31}}}, /* cq_umem_valid */
	/* In these the WQ begins 12 dwords into the context at dword 8. */
	{PRM_CMD_OP_CREATE_SQ, {{29, 31}, {29, 30}}}, /* dbr_umem_valid, wq_umem_valid */
	{PRM_CMD_OP_CREATE_RQ, {{29, 31}, {29, 30}}},
	{PRM_CMD_OP_CREATE_RMP, {{29, 31}, {29, 30}}},
};

/* Access modes of an mkey that refer to other mkeys have no umem: KLMS, KSM. */
#define MKC_DWORD 4
static bool
mkey_is_indirect(const void *in)
{
	uint32_t w = mbox_dword(in, MKC_DWORD);
	unsigned mode = (w >> 8 & 3) | (w >> 26 & 7) << 2;

	return mode == 2 || mode == 3;
}

bool
abi_devx_indirect_mkey(const void *in, size_t len)
{
	return abi_devx_opcode(in) == 0x200 && len > 4 * MKC_DWORD + 4 && mkey_is_indirect(in);
}

void
abi_devx_set_umem_valid(void *in, size_t len)
{
	uint16_t opcode = abi_devx_opcode(in);
	unsigned i, k;
	uint32_t v;

	for (i = 0; i < sizeof(umem_rows) / sizeof(umem_rows[0]); i++) {
		if (umem_rows[i].opcode != opcode)
			continue;
		if (opcode == 0x200 && len > 4 * MKC_DWORD && mkey_is_indirect(in))
			return;
		for (k = 0; k < 2; k++) {
			unsigned at = 4 * umem_rows[i].at[k].dword;

			if (at == 0 || at + 4 > len)
				continue;
			v = mbox_dword(in, at / 4) | 1u << umem_rows[i].at[k].bit;
			v = htobe32(v);
			memcpy((uint8_t *)in + at, &v, sizeof(v));
		}
	}
}
