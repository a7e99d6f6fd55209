/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * A client of libmlx5 as others write them: what the cases of emu_client share.
 *
 * Commands are composed with the generated accessors and passed through mlx5dv_devx_*() of the
 * installed library; the emulator is reached by nothing else.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <prm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../await.h"
#include "../check.h"

#define CLIENT_MEM_BYTES (1u << 20)
/* Where in the memory things are. */
#define CLIENT_DBREC 0u
#define CLIENT_CQ 0x10000u
#define CLIENT_SQ 0x20000u
#define CLIENT_RQ 0x30000u
#define CLIENT_DATA 0x40000u

/** An open device with what every queue needs. */
struct client {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	uint32_t pdn, eqn;
	uint8_t *mem;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	uint8_t out[8192]; /**< The last command's reply. */
};

/** A created object with the id that its reply gave. */
struct client_obj {
	struct mlx5dv_devx_obj *obj;
	uint32_t id;
};

/** Opens port by index with DEVX; exits the program when that fails. */
void client_open(struct client *c, unsigned port);
void client_close(struct client *c);
/** mlx5_PORT of a list, whose order differs between releases of libibverbs; NULL if it is not there. */
struct ibv_device *client_device(struct ibv_device **list, unsigned port);
struct ibv_context *client_open_bare(unsigned port, uint32_t flags);

/** Creates; id comes from dword 2 of the reply. obj is NULL and errno set when refused. */
struct client_obj client_create(struct client *c, const void *in, size_t in_len);
/** Replies are big-endian dwords. */
uint32_t client_dword(const void *reply, unsigned dword);
uint8_t client_status(const struct client *c);
uint32_t client_syndrome(const struct client *c);

/* Lawful objects; the program ends with status 1 when one of these is refused. */
struct client_obj client_td(struct client *c);
struct client_obj client_tis(struct client *c, uint32_t td);
void client_cq_in(const struct client *c, struct prm_create_cq_in *in);
struct client_obj client_cq(struct client *c);
void client_sq_in(const struct client *c, struct prm_create_sq_in *in, uint32_t cqn, uint32_t tisn);
struct client_obj client_sq(struct client *c, uint32_t cqn, uint32_t tisn);
struct client_obj client_rq(struct client *c, uint32_t cqn);
struct client_obj client_rqt(struct client *c, uint32_t rqn);
struct client_obj client_tir(struct client *c, uint32_t rqn, uint32_t td);
struct client_obj client_mkey(struct client *c);
int client_sq_to(struct client *c, struct client_obj sq, unsigned from, unsigned to);
int client_rq_to(struct client *c, struct client_obj rq, unsigned from, unsigned to);

/* The cases. */
void case_device(unsigned port);
void case_clock(unsigned port);
void case_objects(unsigned port);
void case_memory(unsigned port);
void case_refusals(unsigned port);
void case_kernel_refusals(unsigned port);
void case_no_devx(unsigned port);
void case_events(unsigned port);
void case_async(unsigned port);
void case_link(unsigned port);
void case_flow(unsigned port);
void case_flow_change(unsigned port);
void case_flow_inner(unsigned port);
void case_flow_refusals(unsigned port);
void case_flow_tables(unsigned port);
void case_verbs(unsigned port);
void case_fork_busy(unsigned port);
void case_unmapped(unsigned port);
void case_verbs_refusals(unsigned port);
void case_verbs_leave(unsigned port);
void case_queue_refusals(unsigned port);
void case_pacing(unsigned port);
void case_no_pacing(unsigned port);
void case_pacing_kept(unsigned port);

#endif /* CLIENT_H */
