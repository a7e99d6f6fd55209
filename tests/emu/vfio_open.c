/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A device through VFIO as unmodified libmlx5 opens it. */
#include <poll.h>

#include "vfio.h"

static void
events(struct ibv_context *ctx)
{
	struct pollfd p = {.fd = mlx5dv_vfio_get_events_fd(ctx), .events = POLLIN};

	CHECK(p.fd >= 0);
	/* Every command's event was taken by the command. */
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK_EQ(mlx5dv_vfio_process_events(ctx), 0);
}

/* The library's flag is kept whatever the port was before. */
static void
link_after_open(unsigned port, uint32_t flags, unsigned state)
{
	struct ibv_context *ctx = vfio_open_flags(port, flags);
	struct prm_query_vport_state_out out = {0};
	struct prm_query_vport_state_in in = {0};

	CHECK(ctx != NULL);
	if (ctx == NULL)
		return;
	prm_query_vport_state_in_set_opcode(&in, PRM_CMD_OP_QUERY_VPORT_STATE);
	CHECK_EQ(mlx5dv_devx_general_cmd(ctx, &in, sizeof(in), &out, sizeof(out)), 0);
	CHECK_EQ(prm_query_vport_state_out_get_state(&out), state);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Again and again: what a close leaves behind would be in the way of the next open. */
void
case_vfio_open(unsigned port)
{
	for (unsigned i = 0; i < 3; i++) {
		struct ibv_context *ctx = vfio_open(port);

		CHECK(ctx != NULL);
		if (ctx == NULL)
			return;
		CHECK_EQ(ctx->num_comp_vectors, 32);
		CHECK_EQ(vfio_query_caps(ctx), 0);
		events(ctx);
		/* The group is this program's until it closes it. */
		CHECK(vfio_open(port) == NULL);
		CHECK_EQ(errno, EBUSY);
		CHECK_EQ(vfio_query_caps(ctx), 0);
		CHECK_EQ(ibv_close_device(ctx), 0);
	}
	link_after_open(port, MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN, PRM_VPORT_STATE_DOWN);
	link_after_open(port, 0, PRM_VPORT_STATE_UP);
}
