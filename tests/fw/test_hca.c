/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The function as its owner starts and ends it: order of commands, pages, event queues, umems. */
#include <errno.h>

#include "vfio_fixture.h"

static struct vfix v;

static void
test_order(void)
{
	struct prm_set_issi_in issi = {0};
	struct prm_teardown_hca_in down = {0};

	/* Nothing before ENABLE_HCA, little before INIT_HCA. */
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_QUERY_ISSI, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ENABLE_HCA, 0), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ENABLE_HCA, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_TEARDOWN_HCA, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_QUERY_ISSI, 0), 0);
	CHECK_EQ(prm_query_issi_out_get_current_issi((void *)v.out), 0);
	prm_set_issi_in_set_opcode(&issi, PRM_CMD_OP_SET_ISSI);
	prm_set_issi_in_set_current_issi(&issi, 2);
	CHECK_EQ(vfix_exec(&v, &issi, sizeof(issi)), fix_code(FW_ISSI));
	/* INIT_HCA misses the interface version, then the pages. */
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), fix_code(FW_ISSI));
	prm_set_issi_in_set_current_issi(&issi, 1);
	CHECK_EQ(vfix_exec(&v, &issi, sizeof(issi)), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_QUERY_ISSI, 0), 0);
	CHECK_EQ(prm_query_issi_out_get_current_issi((void *)v.out), 1);
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), fix_code(FW_NO_PAGES));
	CHECK_EQ(vfix_pages_wanted(&v, VFIX_QUERY_BOOT), v.dev->profile->boot_pages);
	CHECK_EQ(vfix_give(&v, v.dev->profile->boot_pages), 0);
	CHECK_EQ(vfix_pages_wanted(&v, VFIX_QUERY_BOOT), 0);
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), fix_code(FW_NO_PAGES));
	CHECK_EQ(vfix_give(&v, vfix_pages_wanted(&v, VFIX_QUERY_INIT)), 0);
	CHECK_EQ(vfix_pages_wanted(&v, VFIX_QUERY_INIT), 0);
	v.dev->admin_up = false;
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), 0);
	CHECK(v.dev->admin_up);
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_DISABLE_HCA, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0), 0);
	/* The end: what is left goes with it, pages come back, and it can start again. */
	prm_teardown_hca_in_set_opcode(&down, PRM_CMD_OP_TEARDOWN_HCA);
	prm_teardown_hca_in_set_profile(&down, 2);
	CHECK_EQ(vfix_exec(&v, &down, sizeof(down)), fix_code(FW_TEARDOWN));
	prm_teardown_hca_in_set_profile(&down, 0);
	CHECK_EQ(vfix_exec(&v, &down, sizeof(down)), 0);
	CHECK(!v.dev->admin_up);
	CHECK_EQ(emu_audit_left_total(), 1);
	CHECK_EQ(emu_obj_count(v.dev, EMU_OBJ_PD), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0), fix_code(FW_HCA_STATE));
	CHECK_EQ(vfix_take(&v, 1000), fix_code(FW_PAGE_COUNT));
	CHECK_EQ(vfix_take(&v, 200), 0);
	CHECK_EQ(v.got, v.given);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_DISABLE_HCA, 0), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_QUERY_ISSI, 0), fix_code(FW_HCA_STATE));
}

/* The capability page: what the owner may choose, and nothing else. */
static void
test_set_caps(void)
{
	static struct prm_set_hca_cap_in in;
	struct prm_query_hca_cap_in q = {0};
	struct prm_cmd_hca_cap *cap = (void *)prm_set_hca_cap_in_capability(&in);

	vfix_boot_until(&v, VFIX_ENABLED);
	prm_query_hca_cap_in_set_opcode(&q, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&q, PRM_HCA_CAP_TYPE_GENERAL << 1 | PRM_HCA_CAP_MODE_CUR);
	CHECK_EQ(vfix_exec(&v, &q, sizeof(q)), 0);
	memcpy(cap, (uint8_t *)v.out + 16, PRM_CMD_HCA_CAP_BYTES);
	CHECK_EQ(prm_cmd_hca_cap_get_umem_uid_0(cap), 1);
	CHECK_EQ(prm_cmd_hca_cap_get_disable_link_up(cap), 0);
	prm_set_hca_cap_in_set_opcode(&in, PRM_CMD_OP_SET_HCA_CAP);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), 0);
	prm_cmd_hca_cap_set_log_uar_page_sz(cap, 4);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), fix_code(FW_CAP_VALUE));
	prm_cmd_hca_cap_set_log_uar_page_sz(cap, 0);
	prm_cmd_hca_cap_set_log_max_qp(cap, v.dev->profile->log_max_qp + 1u);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), fix_code(FW_CAP_VALUE));
	/* Less is possible, and shows. */
	prm_cmd_hca_cap_set_log_max_qp(cap, 3);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), 0);
	CHECK_EQ(vfix_exec(&v, &q, sizeof(q)), 0);
	CHECK_EQ(prm_cmd_hca_cap_get_log_max_qp((void *)((uint8_t *)v.out + 16)), 3);
	prm_cmd_hca_cap_set_log_max_qp(cap, v.dev->profile->log_max_qp);
	prm_set_hca_cap_in_set_op_mod(&in, PRM_HCA_CAP_TYPE_ROCE << 1);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), fix_code(FW_CAP_TYPE));
	/* A link that stays down shows in the current page. */
	prm_set_hca_cap_in_set_op_mod(&in, 0);
	prm_cmd_hca_cap_set_disable_link_up(cap, 1);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), 0);
	CHECK_EQ(vfix_exec(&v, &q, sizeof(q)), 0);
	CHECK_EQ(prm_cmd_hca_cap_get_disable_link_up((void *)((uint8_t *)v.out + 16)), 1);
	v.dev->admin_up = true;
	vfix_boot_until(&v, VFIX_UP);
	CHECK(!v.dev->admin_up);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), fix_code(FW_HCA_STATE));
	/* The end puts back what was. */
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_TEARDOWN_HCA, 0), 0);
	CHECK(v.dev->admin_up);
}

static uint32_t
roce_set(unsigned index, uint8_t first, unsigned version)
{
	struct prm_set_roce_address_in in = {0};
	struct prm_roce_addr_layout *to = prm_set_roce_address_in_roce_address(&in);

	prm_set_roce_address_in_set_opcode(&in, PRM_CMD_OP_SET_ROCE_ADDRESS);
	prm_set_roce_address_in_set_roce_address_index(&in, index);
	memset(prm_roce_addr_layout_source_l3_address(to), first, 16);
	prm_roce_addr_layout_set_roce_version(to, version);
	prm_roce_addr_layout_set_source_mac_47_32(to, first != 0 ? 0x0211 : 0);
	prm_roce_addr_layout_set_source_mac_31_0(to, first != 0 ? 0x22334455 : 0);
	return vfix_exec(&v, &in, sizeof(in));
}

static const struct prm_roce_addr_layout *
roce_get(unsigned index)
{
	struct prm_query_roce_address_in in = {0};

	prm_query_roce_address_in_set_opcode(&in, PRM_CMD_OP_QUERY_ROCE_ADDRESS);
	prm_query_roce_address_in_set_roce_address_index(&in, index);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), 0);
	return prm_query_roce_address_out_roce_address((void *)v.out);
}

/* Who has the function writes the addresses that a kernel would. */
static void
test_roce_addresses(void)
{
	static const uint8_t mac[6] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};
	uint8_t gid[16], other[16];

	vfix_boot_until(&v, VFIX_UP);
	CHECK_EQ(prm_roce_addr_layout_get_roce_version(roce_get(1)), PRM_ROCE_VERSION_V2);
	CHECK(emu_port_gid(v.dev, 1, other) && other[0] == 0xfe);
	CHECK_EQ(roce_set(EMU_ROCE_ADDRESSES, 1, PRM_ROCE_VERSION_V2), fix_code(FW_ROCE_INDEX));
	CHECK_EQ(roce_set(0, 1, PRM_ROCE_VERSION_V1_5), fix_code(FW_ROCE_VERSION));
	CHECK_EQ(roce_set(5, 0x20, PRM_ROCE_VERSION_V2), 0);
	CHECK_EQ(roce_set(1, 0, 0), 0);
	CHECK_EQ(prm_roce_addr_layout_get_source_mac_31_0(roce_get(5)), 0x22334455);
	CHECK_EQ(*(const uint8_t *)prm_roce_addr_layout_source_l3_address_c(roce_get(5)), 0x20);
	CHECK_EQ(prm_roce_addr_layout_get_roce_version(roce_get(1)), 0);
	CHECK(emu_port_gid(v.dev, 5, gid) && !emu_port_gid(v.dev, 1, other));
	CHECK(emu_port_is_gid(v.dev, gid, mac) && !emu_port_is_gid(v.dev, gid, v.dev->vport.mac));
	/* The next owner starts from the beginning. */
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_TEARDOWN_HCA, 0), 0);
	CHECK(!emu_port_gid(v.dev, 5, gid) && emu_port_gid(v.dev, 1, other));
}

static void
test_pages(void)
{
	uint64_t iova, audit;

	vfix_boot_until(&v, VFIX_UP);
	/* A page that is not mapped, not aligned, or given before. */
	iova = VFIX_IOVA + VFIX_MEM_BYTES;
	audit = emu_audit_count(EMU_AUDIT_IOMMU);
	CHECK_EQ(vfix_give_at(&v, &iova, 1), fix_code(FW_PAGE));
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), audit + 1);
	iova = v.page_iova + 8;
	CHECK_EQ(vfix_give_at(&v, &iova, 1), fix_code(FW_PAGE));
	iova = v.page_iova;
	CHECK_EQ(vfix_give_at(&v, &iova, 1), fix_code(FW_PAGE));
	CHECK_EQ(vfix_manage(&v, 7, 0), fix_code(FW_OP_MOD));
	/* More objects than the pages are good for: the device requests pages and waits. */
	CHECK(vfix_eq(&v, 1ull << PRM_EVENT_TYPE_PAGE_REQUEST, 3) != 0);
	while (vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0) == 0)
		;
	CHECK_EQ(PRM_BE32(v.out[1]), fix_code(FW_NO_PAGES));
	CHECK_EQ(vfix_eqe_type(&v, 0), PRM_EVENT_TYPE_PAGE_REQUEST);
	CHECK_EQ(PRM_BE32(vfix_eqe(&v, 0)->page_req_num_pages), 32);
	/* One request for several failures; another one only if the owner has no pages. */
	CHECK_EQ(vfix_eqe_owner(&v, 1), 1);
	CHECK_EQ(vfix_manage(&v, 0, 0), 0);
	CHECK_EQ(vfix_eqe_owner(&v, 1), 1);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0), fix_code(FW_NO_PAGES));
	CHECK_EQ(vfix_eqe_owner(&v, 1), 0);
	CHECK_EQ(vfix_give(&v, 32), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0), 0);
	/* It returns pages after the objects were destroyed. */
	while (vfix_free_a_pd(&v) && vfix_eqe_owner(&v, 2) != 0)
		;
	CHECK_EQ(vfix_eqe_owner(&v, 2), 1);
	CHECK_EQ(vfix_give(&v, 64), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_NOP, 0), 0);
	CHECK_EQ(vfix_eqe_owner(&v, 2), 0);
	CHECK_EQ((int)PRM_BE32(vfix_eqe(&v, 2)->page_req_num_pages), -32);
	audit = emu_audit_count(EMU_AUDIT_IOMMU);
	/* One of them was written to meanwhile. */
	memset(vfix_at(&v, v.page_iova_last), 0x5a, 16);
	CHECK_EQ(vfix_take(&v, 32), 0);
	CHECK_EQ(v.got, 32);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_IOMMU), audit + 1);
}

static void
test_uid(void)
{
	struct prm_alloc_pd_in in = {0};

	vfix_boot_until(&v, VFIX_UP);
	prm_alloc_pd_in_set_opcode(&in, PRM_CMD_OP_ALLOC_PD);
	prm_alloc_pd_in_set_uid(&in, 3);
	CHECK_EQ(vfix_exec(&v, &in, sizeof(in)), fix_code(FW_UID));
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_UAR, 0), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_DEALLOC_UAR, vfix_id(&v)), 0);
}

static void
test_registers(void)
{
	uint32_t in[8] = {0};

	vfix_boot_until(&v, VFIX_ENABLED);
	prm_access_register_in_set_opcode((void *)in, PRM_CMD_OP_ACCESS_REGISTER);
	prm_access_register_in_set_register_id((void *)in, PRM_REG_HOST_ENDIANNESS);
	CHECK_EQ(vfix_exec(&v, in, sizeof(in)), 0);
	in[4] = PRM_BE32(0x80u << 24);
	CHECK_EQ(vfix_exec(&v, in, sizeof(in)), fix_code(FW_REG_SETTING));
}

static uint32_t
l2_set(uint32_t index, uint8_t first, bool vlan)
{
	struct prm_set_l2_table_entry_in in = {0};

	prm_set_l2_table_entry_in_set_opcode(&in, PRM_CMD_OP_SET_L2_TABLE_ENTRY);
	prm_set_l2_table_entry_in_set_table_index(&in, index);
	prm_set_l2_table_entry_in_set_vlan_valid(&in, vlan);
	prm_set_l2_table_entry_in_set_vlan(&in, vlan ? 5 : 0);
	prm_mac_address_layout_set_mac_addr_47_32(prm_set_l2_table_entry_in_mac_address(&in),
						  (uint32_t)first << 8 | 0xaa);
	prm_mac_address_layout_set_mac_addr_31_0(prm_set_l2_table_entry_in_mac_address(&in),
						 0xbbccddee);
	return vfix_exec(&v, &in, sizeof(in));
}

static uint32_t
l2_other(uint16_t opcode, uint32_t index)
{
	struct prm_query_l2_table_entry_in in = {0};

	prm_query_l2_table_entry_in_set_opcode(&in, opcode);
	prm_query_l2_table_entry_in_set_table_index(&in, index);
	return vfix_exec(&v, &in, sizeof(in));
}

/* The table of addresses of a card that functions share. */
static void
test_l2_table(void)
{
	static const uint8_t mac[6] = {0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee};
	const struct prm_query_l2_table_entry_out *out = (const void *)v.out;
	struct prm_cmd_hca_cap cap;

	vfix_boot_until(&v, VFIX_UP);
	memset(&cap, 0, sizeof(cap));
	CHECK(fw_cap_page(v.dev, PRM_HCA_CAP_TYPE_GENERAL, &cap));
	CHECK_EQ(prm_cmd_hca_cap_get_log_max_l2_table(&cap), 0);
	CHECK_EQ(prm_cmd_hca_cap_get_eswitch_manager(&cap), 0);
	CHECK(!fw_cap_page(v.dev, PRM_HCA_CAP_TYPE_ESWITCH, &cap));
	CHECK_EQ(l2_set(0, 2, false), fix_code(FW_L2_NONE));
	v.dev->l2.on = true;
	memset(&cap, 0, sizeof(cap));
	CHECK(fw_cap_page(v.dev, PRM_HCA_CAP_TYPE_GENERAL, &cap));
	CHECK_EQ(1u << prm_cmd_hca_cap_get_log_max_l2_table(&cap), EMU_L2_ENTRIES);
	CHECK_EQ(prm_cmd_hca_cap_get_eswitch_manager(&cap), 1);
	CHECK_EQ(l2_set(EMU_L2_ENTRIES, 2, false), fix_code(FW_L2_INDEX));
	CHECK_EQ(l2_set(3, 1, false), fix_code(FW_L2_ADDRESS));
	CHECK_EQ(l2_other(PRM_CMD_OP_QUERY_L2_TABLE_ENTRY, 3), fix_code(FW_L2_EMPTY));
	CHECK_EQ(l2_set(3, 2, true), 0);
	CHECK_EQ(l2_other(PRM_CMD_OP_QUERY_L2_TABLE_ENTRY, 3), 0);
	CHECK_EQ(prm_query_l2_table_entry_out_get_vlan_valid(out), 1);
	CHECK_EQ(prm_query_l2_table_entry_out_get_vlan(out), 5);
	CHECK(memcmp((const uint8_t *)v.out + 34, mac, sizeof(mac)) == 0);
	CHECK(memcmp(v.dev->l2.entry[3].mac, mac, sizeof(mac)) == 0);
	/* Written over, and taken away once. */
	CHECK_EQ(l2_set(3, 4, false), 0);
	CHECK_EQ(v.dev->l2.entry[3].vlan_valid, false);
	CHECK_EQ(l2_other(PRM_CMD_OP_DELETE_L2_TABLE_ENTRY, 3), 0);
	CHECK_EQ(l2_other(PRM_CMD_OP_DELETE_L2_TABLE_ENTRY, 3), fix_code(FW_L2_EMPTY));
	/* Entries left at the end of the function are reported and removed. */
	CHECK_EQ(l2_set(5, 2, false), 0);
	CHECK_EQ(emu_audit_left_total(), 0);
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_TEARDOWN_HCA, 0), 0);
	CHECK_EQ(emu_audit_left_total(), 1);
	CHECK(!v.dev->l2.entry[5].used && !v.dev->l2.owned);
}

/* A ConnectX-4 Lx requests 12,868 pages for INIT_HCA and takes them in one command. */
static void
test_many_pages(void)
{
	v.dev->profile = emu_profile_find("cx4lx");
	vfix_boot_until(&v, VFIX_ENABLED);
	CHECK_EQ(v.given, 6);
	CHECK_EQ(vfix_pages_wanted(&v, VFIX_QUERY_INIT), 12868);
	CHECK_EQ(vfix_give(&v, 12867), 0);
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), fix_code(FW_NO_PAGES));
	/* Each is the device's now. */
	CHECK_EQ(vfix_give_at(&v, &v.page_iova_last, 1), fix_code(FW_PAGE));
	CHECK_EQ(vfix_give(&v, 1), 0);
	CHECK_EQ(vfix_op(&v, PRM_CMD_OP_INIT_HCA, 0), 0);
	CHECK_EQ(vfix_simple(&v, PRM_CMD_OP_ALLOC_PD, 0), 0);
	/* It returns none of them by itself. */
	CHECK(!v.ctx->hca.requested);
}

static void
run(void (*test)(void))
{
	vfix_open(&v);
	test();
	vfix_close(&v);
}

int
main(void)
{
	run(test_order);
	run(test_set_caps);
	run(test_roce_addresses);
	run(test_pages);
	run(test_many_pages);
	run(test_uid);
	run(test_registers);
	run(test_l2_table);
	return fix_result("hca");
}
