/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * mlx4dv_query_device(3): what the library does, and what the common layer returns.
 *
 * mdv_mlx4 cx3            on a ConnectX-3
 * mdv_mlx4 mlx5           on an mlx5 device: the library is not called
 * mdv_mlx4 fails ERRNO    a fault rule refuses opening or the query
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx4dv.h>
#include <mdv_mlx4.h>

#include "mdv_test.h"

/* Receive WQEs of 32 segments of 16 bytes. */
#define INLINE_BYTES 512

/**
 * Unmodified libmlx4 always returns 0. It overwrites comp_mask, which mlx4dv_query_device(3) documents as input and
 * output.
 */
static void
test_library(void)
{
	struct mlx4dv_context attrs;
	struct ibv_device **list, *device;
	struct ibv_context *ibv;
	struct ibv_pd *pd;
	int n = 0;

	list = ibv_get_device_list(&n);
	REQUIRE(list != NULL && n == 2);
	/* The order of the list differs between releases of libibverbs. */
	device = strcmp(ibv_get_device_name(list[0]), "mlx4_0") == 0 ? list[0] : list[1];
	CHECK(strcmp(ibv_get_device_name(device), "mlx4_0") == 0);
	CHECK(!mlx5dv_is_supported(device));
	ibv = ibv_open_device(device);
	REQUIRE(ibv != NULL);
	memset(&attrs, 0xff, sizeof(attrs));
	CHECK_EQ(mlx4dv_query_device(ibv, &attrs), 0);
	CHECK_EQ(attrs.version, 0);
	CHECK_EQ(attrs.comp_mask, 0);
	CHECK_EQ(attrs.max_inl_recv_sz, INLINE_BYTES);
	/* What the device does not support is refused. */
	pd = ibv_alloc_pd(ibv);
	REQUIRE(pd != NULL);
	errno = 0;
	CHECK(ibv_reg_mr(pd, list, 8, 0) == NULL && errno == EOPNOTSUPP);
	errno = 0;
	CHECK(ibv_create_cq(ibv, 16, NULL, NULL, 0) == NULL && errno == EOPNOTSUPP);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ibv), 0);
	ibv_free_device_list(list);
}

static void
test_common_layer(const struct rte_pci_addr *pci)
{
	struct mdv_mlx4 mlx4 = { .comp_mask = UINT64_MAX };
	struct mdv_dev *dev = NULL;

	CHECK_EQ(mdv_mlx4_query(pci, &mlx4), 0);
	CHECK(strcmp(mlx4.ibdev_name, "mlx4_0") == 0 && strcmp(mlx4.card, "ConnectX-3") == 0);
	CHECK(strcmp(mlx4.fw_version, "2.42.5000") == 0);
	CHECK_EQ(mlx4.pci_device_id, 0x1003);
	CHECK_EQ(mlx4.ports, 1);
	CHECK_EQ(mlx4.version, 0);
	CHECK_EQ(mlx4.comp_mask, 0);
	CHECK_EQ(mlx4.max_inl_recv_sz, INLINE_BYTES);
	/* Opening the device to drive it fails with one line. */
	log_begin();
	CHECK_EQ(mdv_open(pci, MDV_OPEN_VERBS, &dev), -ENOTSUP);
	CHECK_EQ(lines_with(log_end(), "mlx4_0 is not an mlx5 device"), 1);
}

static void
test_absent(struct rte_pci_addr pci)
{
	struct mdv_mlx4 mlx4 = { .comp_mask = 1, .ports = 7 };

	pci.bus ^= 0xff;
	CHECK_EQ(mdv_mlx4_query(&pci, &mlx4), -ENODEV);
	CHECK(mlx4.ports == 0 && mlx4.comp_mask == 0);
}

/** mlx4dv_query_device() would misinterpret an mlx5 context, so it must not be called. */
static void
test_mlx5(const struct rte_pci_addr *pci)
{
	struct mdv_mlx4 mlx4 = { .comp_mask = 0 };

	CHECK_EQ(mdv_mlx4_query(pci, &mlx4), -ENOTSUP);
	CHECK(mlx4.ibdev_name[0] == '\0');
}

int
main(int argc, char **argv)
{
	struct mdv_mlx4 mlx4 = { .comp_mask = 0 };
	struct rte_pci_addr pci;

	if (argc < 2 || !test_eal() || test_device(0, &pci) != 0)
		return 2;
	CHECK(mdv_mlx4_card(0x1007) != NULL && mdv_mlx4_card(0x1013) == NULL);
	if (strcmp(argv[1], "cx3") == 0) {
		test_library();
		test_common_layer(&pci);
		test_absent(pci);
	} else if (strcmp(argv[1], "mlx5") == 0) {
		test_mlx5(&pci);
	} else if (strcmp(argv[1], "fails") == 0 && argc == 3) {
		int ret = mdv_mlx4_query(&pci, &mlx4);

		CHECK(ret < 0 && strcmp(mdv_errno_name(-ret), argv[2]) == 0);
		printf("%s\n", mdv_errno_name(-ret));
		CHECK_EQ(mdv_mlx4_query(&pci, &mlx4), 0);
	} else {
		CHECK(false, "no case '%s'", argv[1]);
	}
	return check_exit("mlx4");
}
