/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The virtual port: what the kernel's interface sets is what commands read, and the reverse. */
#include <errno.h>

#include "fw_fixture.h"

static struct fix f;

#define MODIFY_BYTES (PRM_MODIFY_NIC_VPORT_CONTEXT_IN_BYTES + 8 * 160)
static uint32_t modify[MODIFY_BYTES / 4];

static const struct prm_nic_vport_context *
context(unsigned list)
{
	struct prm_query_nic_vport_context_in in = {0};

	prm_query_nic_vport_context_in_set_opcode(&in, PRM_CMD_OP_QUERY_NIC_VPORT_CONTEXT);
	prm_query_nic_vport_context_in_set_allowed_list_type(&in, list);
	CHECK_EQ(fix_exec_as(&f, f.ctx, &in, sizeof(in),
			     PRM_QUERY_NIC_VPORT_CONTEXT_OUT_BYTES + 64), 0);
	return prm_query_nic_vport_context_out_nic_vport_context((void *)f.out);
}

static struct prm_nic_vport_context *
modify_in(struct prm_modify_nic_vport_field_select **fields)
{
	struct prm_modify_nic_vport_context_in *in = (void *)modify;

	memset(modify, 0, sizeof(modify));
	prm_modify_nic_vport_context_in_set_opcode(in, PRM_CMD_OP_MODIFY_NIC_VPORT_CONTEXT);
	*fields = prm_modify_nic_vport_context_in_field_select(in);
	return prm_modify_nic_vport_context_in_nic_vport_context(in);
}

static uint32_t
modify_run(unsigned entries)
{
	return fix_exec(&f, modify, PRM_MODIFY_NIC_VPORT_CONTEXT_IN_BYTES + 8 * entries);
}

static void
test_read(void)
{
	static const uint8_t mac[6] = {0x02, 1, 2, 3, 4, 5}, group[6] = {1, 0, 0x5e, 0, 0, 9};
	const struct prm_nic_vport_context *ctx = context(PRM_NIC_VPORT_LIST_TYPE_UC);

	CHECK_EQ(prm_nic_vport_context_get_mtu(ctx), 1522);
	CHECK_EQ(prm_nic_vport_context_get_min_wqe_inline_mode(ctx), 0);
	CHECK_EQ(prm_nic_vport_context_get_node_guid(ctx), f.dev->node_guid);
	CHECK_EQ(prm_mac_address_layout_get_mac_addr_47_32(
			 prm_nic_vport_context_permanent_address_c(ctx)), 0x0c42);
	CHECK(emu_port_set_mac(f.dev, mac) == 0);
	CHECK(emu_port_set_mac(f.dev, group) == -EADDRNOTAVAIL);
	CHECK(emu_port_set_mac(f.dev, (const uint8_t[6]){0}) == -EADDRNOTAVAIL);
	CHECK(emu_port_set_mtu(f.dev, 9978) == 0);
	CHECK(emu_port_set_mtu(f.dev, 9979) == -EINVAL);
	CHECK(emu_port_set_mtu(f.dev, 67) == -EINVAL);
	emu_port_set_promisc(f.dev, true, false);
	CHECK(emu_port_mcast(f.dev, group, true) == 0);
	CHECK(emu_port_mcast(f.dev, group, true) == 0);
	CHECK(emu_port_mcast(f.dev, mac, true) == -EINVAL);
	ctx = context(PRM_NIC_VPORT_LIST_TYPE_MC);
	CHECK_EQ(prm_nic_vport_context_get_mtu(ctx), 10000);
	CHECK_EQ(prm_nic_vport_context_get_promisc_all(ctx), 1);
	CHECK_EQ(prm_nic_vport_context_get_promisc_mc(ctx), 0);
	CHECK_EQ(prm_nic_vport_context_get_allowed_list_size(ctx), 1);
	CHECK(memcmp((const uint8_t *)(ctx + 1) + 2, group, 6) == 0);
	CHECK_EQ(prm_mac_address_layout_get_mac_addr_31_0(
			 prm_nic_vport_context_permanent_address_c(ctx)), 0x02030405);
	CHECK(emu_port_mcast(f.dev, group, false) == 0);
	CHECK(emu_port_mcast(f.dev, group, false) == -ENOENT);
}

static void
test_mcast_limit(void)
{
	for (unsigned i = 0; i < 129; i++) {
		const uint8_t mac[6] = {1, 0, 0x5e, 0, 0, (uint8_t)i};

		CHECK(emu_port_mcast(f.dev, mac, true) == (i < 128 ? 0 : -ENOSPC));
	}
	for (unsigned i = 0; i < 128; i++) {
		const uint8_t mac[6] = {1, 0, 0x5e, 0, 0, (uint8_t)(127 - i)};

		CHECK(emu_port_mcast(f.dev, mac, false) == 0);
	}
	CHECK_EQ(f.dev->vport.mc_count, 0);
}

static void
test_write(void)
{
	struct prm_modify_nic_vport_field_select *fields;
	struct prm_nic_vport_context *ctx = modify_in(&fields);
	uint8_t *list = (uint8_t *)(ctx + 1);

	prm_modify_nic_vport_field_select_set_promisc(fields, 1);
	prm_nic_vport_context_set_promisc_mc(ctx, 1);
	prm_modify_nic_vport_field_select_set_addresses_list(fields, 1);
	prm_nic_vport_context_set_allowed_list_type(ctx, PRM_NIC_VPORT_LIST_TYPE_UC);
	prm_nic_vport_context_set_allowed_list_size(ctx, 2);
	memcpy(list + 2, "\x02\x11\x22\x33\x44\x55", 6);
	memcpy(list + 10, "\x02\xaa\xbb\xcc\xdd\xee", 6);
	CHECK_EQ(modify_run(1), fix_code(FW_VPORT_LIST_LEN));
	CHECK_EQ(modify_run(2), 0);
	CHECK_EQ(f.dev->vport.uc_count, 2);
	CHECK(memcmp(f.dev->vport.uc[1], list + 10, 6) == 0);
	CHECK(f.dev->vport.promisc_mc && !f.dev->vport.promisc_all);
	/* A group address among stations: nothing of the command takes effect. */
	prm_nic_vport_context_set_promisc_all(ctx, 1);
	list[10] = 0x03;
	CHECK_EQ(modify_run(2), fix_code(FW_VPORT_ADDRESS));
	CHECK(memcmp(f.dev->vport.uc[1], "\x02\xaa\xbb\xcc\xdd\xee", 6) == 0);
	CHECK(!f.dev->vport.promisc_all);
	prm_nic_vport_context_set_allowed_list_size(ctx, 129);
	CHECK_EQ(modify_run(129), fix_code(FW_VPORT_LIST_SIZE));
	prm_nic_vport_context_set_allowed_list_type(ctx, PRM_NIC_VPORT_LIST_TYPE_VLAN);
	CHECK_EQ(modify_run(129), fix_code(FW_VPORT_LIST_TYPE));

	ctx = modify_in(&fields);
	prm_modify_nic_vport_field_select_set_mtu(fields, 1);
	prm_nic_vport_context_set_mtu(ctx, 10001);
	CHECK_EQ(modify_run(0), fix_code(FW_VPORT_MTU));
	prm_nic_vport_context_set_mtu(ctx, 2022);
	CHECK_EQ(modify_run(0), 0);
	CHECK_EQ(f.dev->vport.mtu, 2000);
	prm_modify_nic_vport_field_select_set_node_guid(fields, 1);
	CHECK_EQ(modify_run(0), fix_code(FW_VPORT_FIELD));
}

static unsigned events, last_sub_type;

static void
on_event(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, const void *eqe)
{
	const uint8_t *p = eqe;

	CHECK(ctx != NULL && obj == NULL);
	CHECK_EQ(type, PRM_EVENT_TYPE_PORT_CHANGE);
	CHECK_EQ(p[1], PRM_EVENT_TYPE_PORT_CHANGE);
	CHECK_EQ(p[0x28] >> 4, 1);
	last_sub_type = p[3];
	events++;
}

static void
test_state(void)
{
	static const struct emu_ctx_ops ops = {.event = on_event};
	struct prm_modify_vport_state_in in = {0};

	f.ctx->ops = &ops;
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_VPORT_STATE, 0), 0);
	CHECK_EQ(prm_query_vport_state_out_get_state((void *)f.out), PRM_VPORT_STATE_DOWN);
	emu_port_set_carrier(f.dev, true);
	CHECK_EQ(events, 1);
	CHECK_EQ(last_sub_type, PRM_PORT_CHANGE_SUBTYPE_ACTIVE);
	emu_port_set_carrier(f.dev, true);
	CHECK_EQ(events, 1);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_VPORT_STATE, 0), 0);
	CHECK_EQ(prm_query_vport_state_out_get_state((void *)f.out), PRM_VPORT_STATE_UP);
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_VPORT_STATE, 1), fix_code(FW_OTHER_FUNCTION));
	prm_modify_vport_state_in_set_opcode(&in, PRM_CMD_OP_MODIFY_VPORT_STATE);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	CHECK_EQ(events, 2);
	CHECK_EQ(last_sub_type, PRM_PORT_CHANGE_SUBTYPE_DOWN);
	CHECK(!f.dev->admin_up);
	prm_modify_vport_state_in_set_admin_state(&in, PRM_VPORT_ADMIN_STATE_AUTO);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_VPORT_FIELD));
	f.ctx->ops = NULL;
}

static void
test_counters(void)
{
	struct prm_vnic_diagnostic_statistics *env;
	struct prm_query_vport_counter_in in = {0};
	struct prm_query_vport_counter_out *out = (void *)f.out;
	const struct prm_traffic_counter *unicast;

	f.dev->stats = (struct emu_port_stats){
		.rx_frames = 10, .rx_bytes = 1000, .rx_mcast_frames = 2, .rx_mcast_bytes = 200,
		.rx_bcast_frames = 3, .rx_bcast_bytes = 300, .tx_frames = 5, .tx_bytes = 500,
		.rx_away_bcast_frames = 1, .rx_away_bcast_bytes = 60, .rx_away_ucast_frames = 2,
		.rx_away_ucast_bytes = 120, .rx_missed = 20, .rx_filtered = 3, .rx_dropped_by_rule = 7,
		.rx_link_down = 17, .rx_vport_down = 9, .tx_link_down = 6, .tx_vport_down = 4,
	};
	prm_query_vport_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_VPORT_COUNTER);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), 0);
	unicast = prm_query_vport_counter_out_received_eth_unicast(out);
	CHECK_EQ(prm_traffic_counter_get_packets(unicast), 3);
	CHECK_EQ(prm_traffic_counter_get_octets(unicast), 380);
	CHECK_EQ(prm_traffic_counter_get_packets(
			 prm_query_vport_counter_out_received_eth_broadcast(out)), 2);
	CHECK_EQ(prm_traffic_counter_get_octets(
			 prm_query_vport_counter_out_transmitted_eth_unicast(out)), 500);
	prm_query_vport_counter_in_set_other_vport(&in, 1);
	CHECK_EQ(fix_exec(&f, &in, sizeof(in)), fix_code(FW_OTHER_FUNCTION));
	/* Without what a rule drops; the vport of a virtual function can be down by itself. */
	CHECK_EQ(fix_simple(&f, PRM_CMD_OP_QUERY_VNIC_ENV, 0), 0);
	env = prm_query_vnic_env_out_vport_env((void *)f.out);
	CHECK_EQ(prm_vnic_diagnostic_statistics_get_nic_receive_steering_discard(env), 23);
	CHECK_EQ(prm_vnic_diagnostic_statistics_get_receive_discard_vport_down(env), 9);
	CHECK_EQ(prm_vnic_diagnostic_statistics_get_transmit_discard_vport_down(env), 4);
}

int
main(void)
{
	fix_open(&f);
	test_read();
	test_mcast_limit();
	test_write();
	test_state();
	test_counters();
	fix_close(&f);
	return fix_result("vport");
}
