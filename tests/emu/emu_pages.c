/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * What mlx5dv_devx_obj_create(3), mlx5dv_get_clock_info(3) and mlx5dv_devx_alloc_msi_vector(3) say that is
 * returned (the last of contexts that are not of VFIO; tests/mdv has the rest), from the unmodified
 * library, each failure brought about by a fault rule; the caller of this program has them. Everything is
 * destroyed in the end, so the audit has to be empty.
 */

#include <unistd.h>

#include "client.h"

#define STATUS PRM_STATUS_NO_RESOURCES
#define SYNDROME 0x2a3d5cu

/** The outbox has status and syndrome, and nothing else. */
static void
check_refusal(const uint8_t *out)
{
	CHECK_EQ(out[0], STATUS);
	CHECK_EQ((uint32_t)out[4] << 24 | out[5] << 16 | out[6] << 8 | out[7], SYNDROME);
}

/** A call that the kernel refuses itself leaves the outbox alone. */
static void
check_untouched(const uint8_t *out)
{
	CHECK_EQ(out[0] | out[4] | out[5] | out[6] | out[7], 0);
}

static struct mlx5dv_devx_obj *
td_create(struct client *c)
{
	struct prm_alloc_transport_domain_in in = {{0}};

	memset(c->out, 0, sizeof(c->out));
	errno = 0;
	prm_alloc_transport_domain_in_set_opcode(&in, PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	return mlx5dv_devx_obj_create(c->ctx, &in, sizeof(in), c->out, 16);
}

static struct mlx5dv_devx_obj *
tis_create(struct client *c, uint32_t tdn, uint32_t *tisn)
{
	struct prm_create_tis_in in = {{0}};
	struct mlx5dv_devx_obj *obj;

	prm_create_tis_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIS);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(&in), tdn);
	obj = mlx5dv_devx_obj_create(c->ctx, &in, sizeof(in), c->out, 16);
	*tisn = prm_create_tis_out_get_tisn((void *)c->out);
	return obj;
}

/** NULL and errno: the firmware's refusal is EREMOTEIO, the kernel's its own. Then it works. */
static struct mlx5dv_devx_obj *
test_create(struct client *c)
{
	struct mlx5dv_devx_obj *obj;

	CHECK(td_create(c) == NULL && errno == EREMOTEIO);
	check_refusal(c->out);
	CHECK(td_create(c) == NULL && errno == ENOMEM);
	check_untouched(c->out);
	obj = td_create(c);
	CHECK(obj != NULL);
	CHECK_EQ(c->out[0], PRM_STATUS_OK);
	return obj;
}

static void
test_query(struct client *c, struct mlx5dv_devx_obj *tis, uint32_t tisn)
{
	struct prm_query_tis_in in = {{0}};
	const size_t out_bytes = sizeof(struct prm_query_tis_out);

	prm_query_tis_in_set_opcode(&in, PRM_CMD_OP_QUERY_TIS);
	prm_query_tis_in_set_tisn(&in, tisn);
	memset(c->out, 0, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_obj_query(tis, &in, sizeof(in), c->out, out_bytes), EREMOTEIO);
	check_refusal(c->out);
	memset(c->out, 0, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_obj_query(tis, &in, sizeof(in), c->out, out_bytes), ENOMEM);
	check_untouched(c->out);
	CHECK_EQ(mlx5dv_devx_obj_query(tis, &in, sizeof(in), c->out, out_bytes), 0);
}

static void
test_modify(struct client *c, struct mlx5dv_devx_obj *tis, uint32_t tisn)
{
	struct prm_modify_tis_in in = {{0}};

	prm_modify_tis_in_set_opcode(&in, PRM_CMD_OP_MODIFY_TIS);
	prm_modify_tis_in_set_tisn(&in, tisn);
	memset(c->out, 0, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_obj_modify(tis, &in, sizeof(in), c->out, 16), EREMOTEIO);
	check_refusal(c->out);
	memset(c->out, 0, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_obj_modify(tis, &in, sizeof(in), c->out, 16), ENOMEM);
	check_untouched(c->out);
	CHECK_EQ(mlx5dv_devx_obj_modify(tis, &in, sizeof(in), c->out, 16), 0);
}

/** The kernel's own refusals of general commands are among those of emu_client. */
static void
test_general(struct client *c)
{
	struct prm_query_issi_in in = {{0}};
	const size_t out_bytes = sizeof(struct prm_query_issi_out);

	prm_query_issi_in_set_opcode(&in, PRM_CMD_OP_QUERY_ISSI);
	memset(c->out, 0, sizeof(c->out));
	CHECK_EQ(mlx5dv_devx_general_cmd(c->ctx, &in, sizeof(in), c->out, out_bytes), EREMOTEIO);
	check_refusal(c->out);
	CHECK_EQ(mlx5dv_devx_general_cmd(c->ctx, &in, sizeof(in), c->out, out_bytes), 0);
}

/** A positive errno; the handle is the caller's until it succeeds. */
static void
test_destroy(struct mlx5dv_devx_obj *tis, struct mlx5dv_devx_obj *td)
{
	CHECK_EQ(mlx5dv_devx_obj_destroy(tis), ENOMEM);
	CHECK(mlx5dv_devx_obj_destroy(td) > 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(tis), 0);
	CHECK_EQ(mlx5dv_devx_obj_destroy(td), 0);
}

static void
test_objects(void)
{
	struct mlx5dv_devx_obj *td, *tis;
	struct client c;
	uint32_t tisn, tdn;

	client_open(&c, 0);
	td = test_create(&c);
	tdn = prm_alloc_transport_domain_out_get_transport_domain((void *)c.out);
	tis = tis_create(&c, tdn, &tisn);
	CHECK(tis != NULL);
	if (td != NULL && tis != NULL) {
		test_query(&c, tis, tisn);
		test_modify(&c, tis, tisn);
		test_general(&c);
		test_destroy(tis, td);
	}
	client_close(&c);
}

static struct ibv_context *
verbs_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;

	if (list != NULL)
		ibv_free_device_list(list);
	CHECK(ctx != NULL);
	return ctx;
}

/** 0, or the value of errno on failure. */
static void
test_clock(int want)
{
	struct ibv_context *ctx = verbs_open();
	struct mlx5dv_clock_info info;
	int got = 0;

	if (ctx == NULL)
		return;
	/* The page is refreshed, and torn, once a millisecond: the first look may be earlier. */
	(void)AWAIT((got = mlx5dv_get_clock_info(ctx, &info)) == want || got != 0, 5000);
	CHECK_EQ(got, want);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/** A context of VFIO has no clock page, nor a function for it. */
static void
test_clock_vfio(void)
{
	struct mlx5dv_vfio_context_attr attr = {.pci_name = "0000:c1:00.0"};
	struct ibv_device **list = mlx5dv_get_vfio_device_list(&attr);
	struct mlx5dv_clock_info info;
	struct ibv_context *ctx;

	CHECK(list != NULL && list[0] != NULL);
	if (list == NULL || list[0] == NULL)
		return;
	ctx = ibv_open_device(list[0]);
	CHECK(ctx != NULL);
	if (ctx != NULL) {
		CHECK_EQ(mlx5dv_get_clock_info(ctx, &info), EOPNOTSUPP);
		CHECK_EQ(ibv_close_device(ctx), 0);
	}
	ibv_free_device_list(list);
}

/** MSI vectors and event queues are for contexts of VFIO: with the kernel's there is no function for them. */
static void
test_vectors_verbs(void)
{
	uint8_t in[PRM_CREATE_EQ_IN_BYTES] = {0}, out[PRM_CREATE_EQ_OUT_BYTES];
	struct ibv_context *ctx = verbs_open();

	if (ctx == NULL)
		return;
	errno = 0;
	CHECK(mlx5dv_devx_alloc_msi_vector(ctx) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	errno = 0;
	CHECK(mlx5dv_devx_create_eq(ctx, in, sizeof(in), out, sizeof(out)) == NULL);
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int
main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";

	if (strcmp(name, "objects") == 0)
		test_objects();
	else if (strcmp(name, "clock") == 0)
		test_clock(0);
	else if (strcmp(name, "clock-busy") == 0)
		test_clock(EBUSY);
	else if (strcmp(name, "clock-none") == 0)
		test_clock(EINVAL);
	else if (strcmp(name, "clock-vfio") == 0)
		test_clock_vfio();
	else if (strcmp(name, "vectors-verbs") == 0)
		test_vectors_verbs();
	else
		CHECK(false, "no case '%s'", name);
	return check_exit("emu_pages");
}
