/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Attributes of a device, and its clock. */
#include <stdlib.h>
#include <time.h>

#include "client.h"

static void
check_dv(struct ibv_context *ctx)
{
	struct mlx5dv_context dv = {
		.comp_mask = MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE |
			     MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK | MLX5DV_CONTEXT_MASK_DYN_BFREGS |
			     MLX5DV_CONTEXT_MASK_STRIDING_RQ | MLX5DV_CONTEXT_MASK_CQE_COMPRESION,
	};

	CHECK_EQ(mlx5dv_query_device(ctx, &dv), 0);
	CHECK((dv.flags & MLX5DV_CONTEXT_FLAGS_DEVX) != 0);
	CHECK((dv.flags & MLX5DV_CONTEXT_FLAGS_CQE_V1) != 0);
	CHECK((dv.comp_mask & MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE) != 0);
	CHECK(dv.max_clock_info_update_nsec != 0);
	CHECK((dv.comp_mask & MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK) != 0);
	CHECK_EQ(dv.cqe_comp_caps.max_num, 64);
	CHECK((dv.cqe_comp_caps.supported_format & MLX5DV_CQE_RES_FORMAT_HASH) != 0);
	CHECK_EQ(dv.striding_rq_caps.supported_qpts, 1u << IBV_QPT_RAW_PACKET);
	/* Not implemented, so not offered. */
	CHECK_EQ(dv.flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP, 0);
}

static void
check_attributes(struct ibv_context *ctx)
{
	struct ibv_query_device_ex_input in = {0};
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;

	CHECK_EQ(ibv_query_device(ctx, &attr), 0);
	CHECK(strncmp(attr.fw_ver, "22.", 3) == 0);
	CHECK_EQ(attr.vendor_id, 0x2c9);
	CHECK_EQ(attr.vendor_part_id, 0x101d);
	CHECK_EQ(attr.phys_port_cnt, 1);
	/* As ibv_devinfo -v of such cards. */
	CHECK_EQ(attr.max_qp, 262144);
	CHECK_EQ(attr.max_res_rd_atom, 16 * attr.max_qp);
	CHECK_EQ(attr.max_pkeys, 128);
	CHECK(attr.node_guid == ibv_get_device_guid(ctx->device));
	CHECK_EQ(ibv_query_device_ex(ctx, &in, &ex), 0);
	CHECK_EQ(ex.hca_core_clock, 156250);
	CHECK(ex.completion_timestamp_mask != 0);
	CHECK((ex.raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM) != 0);
	CHECK((ex.raw_packet_caps & IBV_RAW_PACKET_CAP_CVLAN_STRIPPING) != 0);
	CHECK_EQ(ctx->num_comp_vectors, 16);
}

static void
check_port(struct ibv_context *ctx)
{
	struct ibv_port_attr port;
	union ibv_gid gid, zero;
	uint16_t pkey;

	memset(&zero, 0, sizeof(zero));
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(port.max_vl_num, 0);
	CHECK_EQ(port.state, IBV_PORT_ACTIVE);
	CHECK_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	CHECK_EQ(port.active_mtu, IBV_MTU_1024);
	CHECK_EQ(ibv_query_port(ctx, 2, &port), EINVAL);
	CHECK_EQ(ibv_query_gid(ctx, 1, 0, &gid), 0);
	CHECK(memcmp(&gid, &zero, sizeof(gid)) != 0);
	CHECK_EQ(ibv_query_gid(ctx, 1, 9, &gid), 0);
	CHECK(memcmp(&gid, &zero, sizeof(gid)) == 0);
	CHECK_EQ(ibv_query_pkey(ctx, 1, 0, &pkey), 0);
	CHECK_EQ(pkey, 0xffff);
}

void
case_device(unsigned port)
{
	struct ibv_context *ctx = client_open_bare(port, MLX5DV_CONTEXT_FLAGS_DEVX);
	struct ibv_context *second;
	struct ibv_gid_entry table[16];

	if (ctx == NULL) {
		CHECK(ctx != NULL);
		return;
	}
	CHECK(mlx5dv_is_supported(ctx->device));
	check_dv(ctx);
	check_attributes(ctx);
	check_port(ctx);
	CHECK_EQ(ibv_query_gid_table(ctx, table, 16, 0), 2);
	CHECK_EQ(table[1].gid_type, IBV_GID_TYPE_ROCE_V2);
	/* A second user of the same device, at the same time. */
	second = client_open_bare(port, MLX5DV_CONTEXT_FLAGS_DEVX);
	CHECK(second != NULL);
	if (second != NULL)
		CHECK_EQ(ibv_close_device(second), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static int64_t
now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* Raw counter of the device, by the core clock page that libmlx5 maps. */
static uint64_t
raw_cycles(struct ibv_context *ctx)
{
	struct ibv_values_ex v = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

	CHECK_EQ(ibv_query_rt_values_ex(ctx, &v), 0);
	return (uint64_t)v.raw_clock.tv_nsec;
}

void
case_clock(unsigned port)
{
	struct ibv_context *ctx = client_open_bare(port, MLX5DV_CONTEXT_FLAGS_DEVX);
	uint64_t raw, raw_before, ns, ns_before = 0;
	struct mlx5dv_clock_info info;
	int64_t host, off;
	unsigned i;

	if (ctx == NULL) {
		CHECK(ctx != NULL);
		return;
	}
	raw_before = raw_cycles(ctx);
	for (i = 0; i < 200; i++) {
		CHECK_EQ(mlx5dv_get_clock_info(ctx, &info), 0);
		raw = raw_cycles(ctx);
		host = now_ns(CLOCK_REALTIME);
		ns = mlx5dv_ts_to_ns(&info, raw);
		CHECK(raw >= raw_before);
		CHECK(ns >= ns_before);
		off = (int64_t)ns - host;
		/* The counter page moves by a thread's hand: late by the scheduler's. */
		CHECK(off < 1000000 && off > -500000000);
		raw_before = raw;
		ns_before = ns;
		pass_us(2000); /* The clock is compared with the host's over 400 ms. */
	}
	/* 400 ms or more have passed: at 156.25 MHz that is more than 60 million cycles. */
	CHECK(raw_cycles(ctx) > raw_before - 1);
	CHECK_EQ(ibv_close_device(ctx), 0);
}
