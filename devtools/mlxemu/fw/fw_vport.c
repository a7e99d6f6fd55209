/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The port's own virtual port: state, addresses, modes, counters. */
#include <errno.h>
#include <string.h>

#include "fw.h"

#define LIST_MAX (sizeof(((struct emu_vport *)0)->uc) / 6)
/* One entry of an address list: two reserved bytes, six of address. */
#define LIST_ENTRY_BYTES 8u

static int
own_vport(struct fw_cmd *c, unsigned other, unsigned number)
{
	return other == 0 && number == 0 ? 0
					 : fw_refuse(c, FW_OTHER_FUNCTION, "vport %u", number);
}

int
fw_query_vport_state(struct fw_cmd *c)
{
	unsigned op = prm_query_vport_state_in_get_op_mod(c->in);
	int ret = own_vport(c, prm_query_vport_state_in_get_other_vport(c->in),
			    prm_query_vport_state_in_get_vport_number(c->in));

	if (ret != 0)
		return ret;
	if (op != PRM_VPORT_STATE_OP_VNIC_VPORT && op != PRM_VPORT_STATE_OP_UPLINK)
		return fw_refuse(c, FW_OP_MOD, "%u", op);
	prm_query_vport_state_out_set_admin_state(c->out, c->dev->admin_up
								  ? PRM_VPORT_ADMIN_STATE_UP
								  : PRM_VPORT_ADMIN_STATE_DOWN);
	prm_query_vport_state_out_set_state(c->out, c->dev->link_up ? PRM_VPORT_STATE_UP
								     : PRM_VPORT_STATE_DOWN);
	return 0;
}

int
fw_modify_vport_state(struct fw_cmd *c)
{
	unsigned state = prm_modify_vport_state_in_get_admin_state(c->in);
	int ret = own_vport(c, prm_modify_vport_state_in_get_other_vport(c->in),
			    prm_modify_vport_state_in_get_vport_number(c->in));

	if (ret != 0)
		return ret;
	if (prm_modify_vport_state_in_get_op_mod(c->in) != PRM_VPORT_STATE_OP_VNIC_VPORT)
		return fw_refuse(c, FW_OP_MOD, "%u", prm_modify_vport_state_in_get_op_mod(c->in));
	if (state != PRM_VPORT_ADMIN_STATE_UP && state != PRM_VPORT_ADMIN_STATE_DOWN)
		return fw_refuse(c, FW_VPORT_FIELD, "admin_state %u", state);
	emu_port_set_admin(c->dev, state == PRM_VPORT_ADMIN_STATE_UP);
	return 0;
}

/* A MAC address is split into high 16 and low 32 bits. */
static void
mac_put(struct prm_mac_address_layout *to, const uint8_t mac[6])
{
	memcpy((uint8_t *)to->dw + 2, mac, 6);
}

static void
list_put(struct fw_cmd *c, struct prm_nic_vport_context *ctx, const uint8_t (*list)[6],
	 unsigned count)
{
	uint8_t *to = (uint8_t *)ctx + PRM_NIC_VPORT_CONTEXT_BYTES;
	size_t room = c->out_len - c->desc->out_bytes_min;

	prm_nic_vport_context_set_allowed_list_size(ctx, count);
	for (unsigned i = 0; i < count && (i + 1) * LIST_ENTRY_BYTES <= room; i++)
		memcpy(to + i * LIST_ENTRY_BYTES + 2, list[i], 6);
}

int
fw_query_nic_vport_context(struct fw_cmd *c)
{
	const struct emu_vport *v = &c->dev->vport;
	struct prm_nic_vport_context *ctx =
		prm_query_nic_vport_context_out_nic_vport_context(c->out);
	unsigned type = prm_query_nic_vport_context_in_get_allowed_list_type(c->in);
	int ret = own_vport(c, prm_query_nic_vport_context_in_get_other_vport(c->in),
			    prm_query_nic_vport_context_in_get_vport_number(c->in));

	if (ret != 0)
		return ret;
	if (type > PRM_NIC_VPORT_LIST_TYPE_MC)
		return fw_refuse(c, FW_VPORT_LIST_TYPE, "%u", type);
	prm_nic_vport_context_set_min_wqe_inline_mode(ctx, c->dev->profile->min_wqe_inline_mode);
	prm_nic_vport_context_set_mtu(ctx, v->mtu + EMU_L2_OVERHEAD_BYTES);
	prm_nic_vport_context_set_system_image_guid(ctx, c->dev->sys_image_guid);
	prm_nic_vport_context_set_port_guid(ctx, c->dev->node_guid);
	prm_nic_vport_context_set_node_guid(ctx, c->dev->node_guid);
	prm_nic_vport_context_set_promisc_uc(ctx, v->promisc_uc);
	prm_nic_vport_context_set_promisc_mc(ctx, v->promisc_mc);
	prm_nic_vport_context_set_promisc_all(ctx, v->promisc_all);
	prm_nic_vport_context_set_roce_en(ctx, c->ctx->hca.roce);
	prm_nic_vport_context_set_allowed_list_type(ctx, type);
	mac_put(prm_nic_vport_context_permanent_address(ctx), v->mac);
	if (type == PRM_NIC_VPORT_LIST_TYPE_UC)
		list_put(c, ctx, v->uc, v->uc_count);
	else
		list_put(c, ctx, v->mc, v->mc_count);
	return 0;
}

static int
list_set(struct fw_cmd *c, const struct prm_nic_vport_context *ctx)
{
	struct emu_vport *v = &c->dev->vport;
	unsigned type = prm_nic_vport_context_get_allowed_list_type(ctx);
	unsigned count = prm_nic_vport_context_get_allowed_list_size(ctx);
	const uint8_t *from = (const uint8_t *)ctx + PRM_NIC_VPORT_CONTEXT_BYTES + 2;
	bool group = type == PRM_NIC_VPORT_LIST_TYPE_MC;

	if (type > PRM_NIC_VPORT_LIST_TYPE_MC)
		return fw_refuse(c, FW_VPORT_LIST_TYPE, "%u", type);
	if (count > LIST_MAX)
		return fw_refuse(c, FW_VPORT_LIST_SIZE, "%u of at most %zu", count, LIST_MAX);
	if (c->in_len < c->desc->in_bytes_min + count * LIST_ENTRY_BYTES)
		return fw_refuse(c, FW_VPORT_LIST_LEN, "%zu bytes for %u", c->in_len, count);
	for (unsigned i = 0; i < count; i++)
		if (((from[i * LIST_ENTRY_BYTES] & 1) != 0) != group)
			return fw_refuse(c, FW_VPORT_ADDRESS, "entry %u", i);
	for (unsigned i = 0; i < count; i++)
		memcpy(group ? v->mc[i] : v->uc[i], from + i * LIST_ENTRY_BYTES, 6);
	if (group)
		v->mc_count = count;
	else
		v->uc_count = count;
	return 0;
}

/* Checks everything before it changes anything. */
static int
context_check(struct fw_cmd *c, const struct prm_modify_nic_vport_field_select *f,
	      const struct prm_nic_vport_context *ctx)
{
	unsigned mtu = prm_nic_vport_context_get_mtu(ctx);

	if (prm_modify_nic_vport_field_select_get_affiliation(f) ||
	    prm_modify_nic_vport_field_select_get_node_guid(f) ||
	    prm_modify_nic_vport_field_select_get_port_guid(f) ||
	    prm_modify_nic_vport_field_select_get_min_inline(f) ||
	    prm_modify_nic_vport_field_select_get_change_event(f) ||
	    (prm_modify_nic_vport_field_select_get_roce_en(f) && c->ctx->iommu == NULL))
		return fw_refuse(c, FW_VPORT_FIELD, "field_select 0x%x",
				 __builtin_bswap32(f->dw[0]));
	if (prm_modify_nic_vport_field_select_get_mtu(f) &&
	    (mtu < 68 + EMU_L2_OVERHEAD_BYTES ||
	     mtu > c->dev->profile->max_mtu + EMU_L2_OVERHEAD_BYTES))
		return fw_refuse(c, FW_VPORT_MTU, "%u", mtu);
	return 0;
}

int
fw_modify_nic_vport_context(struct fw_cmd *c)
{
	struct prm_modify_nic_vport_context_in *in = c->in;
	const struct prm_modify_nic_vport_field_select *f =
		prm_modify_nic_vport_context_in_field_select(in);
	struct prm_nic_vport_context *ctx = prm_modify_nic_vport_context_in_nic_vport_context(in);
	struct emu_vport *v = &c->dev->vport;
	int ret = own_vport(c, prm_modify_nic_vport_context_in_get_other_vport(in),
			    prm_modify_nic_vport_context_in_get_vport_number(in));

	if (ret == 0)
		ret = context_check(c, f, ctx);
	if (ret == 0 && prm_modify_nic_vport_field_select_get_permanent_address(f) &&
	    emu_port_set_mac(c->dev, (const uint8_t *)
			     prm_nic_vport_context_permanent_address(ctx)->dw + 2) != 0)
		ret = fw_refuse(c, FW_VPORT_ADDRESS, "%s", "permanent_address");
	if (ret == 0 && prm_modify_nic_vport_field_select_get_addresses_list(f))
		ret = list_set(c, ctx);
	if (ret != 0)
		return ret;
	if (prm_modify_nic_vport_field_select_get_promisc(f)) {
		v->promisc_uc = prm_nic_vport_context_get_promisc_uc(ctx);
		v->promisc_mc = prm_nic_vport_context_get_promisc_mc(ctx);
		v->promisc_all = prm_nic_vport_context_get_promisc_all(ctx);
	}
	/* Only the owner enables RoCE; for users of the kernel's driver it has a fixed state. */
	if (prm_modify_nic_vport_field_select_get_roce_en(f))
		c->ctx->hca.roce = prm_nic_vport_context_get_roce_en(ctx);
	if (prm_modify_nic_vport_field_select_get_mtu(f))
		v->mtu = (uint16_t)(prm_nic_vport_context_get_mtu(ctx) - EMU_L2_OVERHEAD_BYTES);
	return 0;
}

static void
traffic_put(struct prm_traffic_counter *to, uint64_t packets, uint64_t octets)
{
	prm_traffic_counter_set_packets(to, packets);
	prm_traffic_counter_set_octets(to, octets);
}

int
fw_query_vport_counter(struct fw_cmd *c)
{
	const struct emu_port_stats *s = &c->dev->stats;
	struct prm_query_vport_counter_out *out = c->out;
	int ret = own_vport(c, prm_query_vport_counter_in_get_other_vport(c->in),
			    prm_query_vport_counter_in_get_vport_number(c->in));

	if (ret != 0)
		return ret;
	if (prm_query_vport_counter_in_get_clear(c->in) ||
	    prm_query_vport_counter_in_get_port_num(c->in) > 1)
		return fw_refuse(c, FW_COUNTER_SCOPE, "%s", "clear or port_num");
	traffic_put(prm_query_vport_counter_out_received_errors(out), 0, 0);
	traffic_put(prm_query_vport_counter_out_transmit_errors(out), 0, 0);
	traffic_put(prm_query_vport_counter_out_received_eth_broadcast(out),
		    s->rx_bcast_frames - s->rx_away_bcast_frames, s->rx_bcast_bytes - s->rx_away_bcast_bytes);
	traffic_put(prm_query_vport_counter_out_transmitted_eth_broadcast(out),
		    s->tx_bcast_frames, s->tx_bcast_bytes);
	traffic_put(prm_query_vport_counter_out_received_eth_multicast(out),
		    s->rx_mcast_frames - s->rx_away_mcast_frames, s->rx_mcast_bytes - s->rx_away_mcast_bytes);
	traffic_put(prm_query_vport_counter_out_transmitted_eth_multicast(out),
		    s->tx_mcast_frames, s->tx_mcast_bytes);
	traffic_put(prm_query_vport_counter_out_received_eth_unicast(out),
		    s->rx_frames - s->rx_bcast_frames - s->rx_mcast_frames - s->rx_away_ucast_frames,
		    s->rx_bytes - s->rx_bcast_bytes - s->rx_mcast_bytes - s->rx_away_ucast_bytes);
	traffic_put(prm_query_vport_counter_out_transmitted_eth_unicast(out),
		    s->tx_frames - s->tx_bcast_frames - s->tx_mcast_frames,
		    s->tx_bytes - s->tx_bcast_bytes - s->tx_mcast_bytes);
	return 0;
}

/*
 * assumed: nic_receive_steering_discard has the packets that no rule of the last table matches, as the kernel's
 * rx_steer_missed_packets (Linux, en_stats.c, counters.rst), and not those that a rule drops. Other reading: all that
 * steering drops. Test: fw/test_vport.c.
 */
int
fw_query_vnic_env(struct fw_cmd *c)
{
	const struct emu_port_stats *s = &c->dev->stats;
	struct prm_vnic_diagnostic_statistics *env = prm_query_vnic_env_out_vport_env(c->out);
	int ret = own_vport(c, prm_query_vnic_env_in_get_other_vport(c->in),
			    prm_query_vnic_env_in_get_vport_number(c->in));

	if (ret != 0)
		return ret;
	prm_vnic_diagnostic_statistics_set_nic_receive_steering_discard(env, s->rx_missed + s->rx_filtered);
	prm_vnic_diagnostic_statistics_set_async_eq_overrun(env, s->async_eq_overruns);
	prm_vnic_diagnostic_statistics_set_comp_eq_overrun(env, s->comp_eq_overruns);
	/* Without a cable nothing arrives, and of a virtual function the vport is down, too. */
	prm_vnic_diagnostic_statistics_set_receive_discard_vport_down(env, s->rx_vport_down);
	prm_vnic_diagnostic_statistics_set_transmit_discard_vport_down(env, s->tx_vport_down);
	return 0;
}
