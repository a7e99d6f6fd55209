/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Registers a ring of buffers and makes a raw Ethernet queue pair on the first RDMA device.
 * With RING_LEAKS its cleanup has a defect that `mlxemu sweep` finds: see README.md.
 */
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

#define BUFFERS 64
#define BUFFER_BYTES 2048

struct ring {
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char *memory;
};

/* Each pointer is NULL if its object was not created. Returns 0, or -1 if something could not be destroyed. */
static int
ring_close(struct ring *ring)
{
	int failed = 0;

	failed |= ring->qp != NULL && ibv_destroy_qp(ring->qp) != 0;
	failed |= ring->cq != NULL && ibv_destroy_cq(ring->cq) != 0;
	failed |= ring->mr != NULL && ibv_dereg_mr(ring->mr) != 0;
#ifdef RING_LEAKS
	/* The defect: the PD is kept if the MR was refused. */
	if (ring->mr != NULL)
#endif
	failed |= ring->pd != NULL && ibv_dealloc_pd(ring->pd) != 0;
	failed |= ring->device != NULL && ibv_close_device(ring->device) != 0;
	free(ring->memory);
	return failed ? -1 : 0;
}

static const char *
ring_open(struct ring *ring, struct ibv_device *device)
{
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = BUFFERS, .max_recv_wr = BUFFERS, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	ring->memory = calloc(BUFFERS, BUFFER_BYTES);
	if (ring->memory == NULL)
		return "memory";
	ring->device = ibv_open_device(device);
	if (ring->device == NULL)
		return "ibv_open_device";
	ring->pd = ibv_alloc_pd(ring->device);
	if (ring->pd == NULL)
		return "ibv_alloc_pd";
	ring->mr = ibv_reg_mr(ring->pd, ring->memory, BUFFERS * BUFFER_BYTES, IBV_ACCESS_LOCAL_WRITE);
	if (ring->mr == NULL)
		return "ibv_reg_mr";
	ring->cq = ibv_create_cq(ring->device, 2 * BUFFERS, NULL, NULL, 0);
	if (ring->cq == NULL)
		return "ibv_create_cq";
	qp.send_cq = qp.recv_cq = ring->cq;
	ring->qp = ibv_create_qp(ring->pd, &qp);
	return ring->qp != NULL ? NULL : "ibv_create_qp";
}

int
main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ring ring = { 0 };
	const char *failed;

	if (devices == NULL || devices[0] == NULL) {
		fprintf(stderr, "no RDMA device\n");
		if (devices != NULL)
			ibv_free_device_list(devices);
		return EXIT_FAILURE;
	}
	failed = ring_open(&ring, devices[0]);
	if (failed != NULL)
		perror(failed);
	else
		printf("queue pair 0x%x, %u buffers, key 0x%x\n", ring.qp->qp_num, BUFFERS, ring.mr->lkey);
	if (ring_close(&ring) != 0 && failed == NULL)
		failed = "close";
	ibv_free_device_list(devices);
	return failed == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
