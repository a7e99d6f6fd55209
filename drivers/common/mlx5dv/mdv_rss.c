/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Transport objects: TIS, RQT, TIR and queue counters. */

#include <stdlib.h>
#include <string.h>

#include "mdv_async.h"
#include "mdv_private.h"

#define MDV_TOEPLITZ_KEY_BYTES 40

RTE_EXPORT_INTERNAL_SYMBOL(mdv_tis_create)
struct mdv_obj *
mdv_tis_create(struct mdv_dev *dev)
{
	struct prm_create_tis_in in = { 0 };

	prm_create_tis_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIS);
	prm_tisc_set_transport_domain(prm_create_tis_in_ctx(&in), dev->tdn);
	return mdv_obj_create(dev, &in, sizeof(in));
}

static int
check_rqt_size(struct mdv_dev *dev, uint8_t log_max_size, unsigned int n)
{
	if (log_max_size > dev->caps.log_max_rqt_size)
		return MDV_FAIL(dev->name, EINVAL, "an RQ table of 2^%u is too large, the device has 2^%u",
				log_max_size, dev->caps.log_max_rqt_size);
	if (n == 0 || n > 1u << log_max_size)
		return MDV_FAIL(dev->name, EINVAL, "an RQ table of 2^%u cannot hold %u", log_max_size, n);
	return 0;
}

/** Allocates a zeroed inbox with n RQ numbers after the fixed part. NULL with rte_errno. */
static void *
rqt_inbox(struct mdv_dev *dev, size_t fixed_bytes, unsigned int n, size_t *bytes)
{
	void *in;

	*bytes = fixed_bytes + (size_t)n * PRM_RQ_NUM_BYTES;
	in = calloc(1, *bytes);
	return in != NULL ? in : MDV_FAIL_NULL(dev->name, ENOMEM, "no memory for an RQ table of %u entries", n);
}

static void
rqt_fill(struct prm_rqtc *rqtc, const uint32_t *rqn, unsigned int n)
{
	prm_rqtc_set_rqt_actual_size(rqtc, n);
	for (unsigned int i = 0; i < n; i++)
		prm_rq_num_set_rq_num(prm_rqtc_rq_num(rqtc, i), rqn[i]);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rqt_create)
struct mdv_obj *
mdv_rqt_create(struct mdv_dev *dev, uint8_t log_max_size, const uint32_t *rqn, unsigned int n)
{
	struct prm_create_rqt_in *in;
	struct mdv_obj *obj;
	size_t bytes;

	if (check_rqt_size(dev, log_max_size, n) != 0)
		return NULL;
	in = rqt_inbox(dev, sizeof(*in), n, &bytes);
	if (in == NULL)
		return NULL;
	prm_create_rqt_in_set_opcode(in, PRM_CMD_OP_CREATE_RQT);
	prm_rqtc_set_rqt_max_size(prm_create_rqt_in_rqt_context(in), 1u << log_max_size);
	rqt_fill(prm_create_rqt_in_rqt_context(in), rqn, n);
	obj = mdv_obj_create(dev, in, bytes);
	free(in);
	return obj;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_rqt_modify)
int
mdv_rqt_modify(struct mdv_obj *rqt, const uint32_t *rqn, unsigned int n)
{
	struct prm_modify_rqt_in *in;
	size_t bytes;
	int ret;

	if (check_rqt_size(rqt->dev, rqt->dev->caps.log_max_rqt_size, n) != 0)
		return -rte_errno;
	in = rqt_inbox(rqt->dev, sizeof(*in), n, &bytes);
	if (in == NULL)
		return -rte_errno;
	prm_modify_rqt_in_set_opcode(in, PRM_CMD_OP_MODIFY_RQT);
	prm_modify_rqt_in_set_rqtn(in, rqt->id);
	prm_rqt_bitmask_set_rqn_list(prm_modify_rqt_in_bitmask(in), 1);
	rqt_fill(prm_modify_rqt_in_ctx(in), rqn, n);
	ret = mdv_obj_modify(rqt, in, bytes);
	free(in);
	return ret;
}

static int
check_tir(struct mdv_dev *dev, const struct mdv_tir_attr *attr)
{
	if (attr->hash_fields == 0)
		return 0;
	if (attr->key == NULL)
		return MDV_FAIL(dev->name, EINVAL, "a TIR that hashes needs a key of %d bytes",
				MDV_TOEPLITZ_KEY_BYTES);
	if ((attr->hash_fields & ~dev->caps.rx_hash_fields) != 0)
		return MDV_FAIL(dev->name, ENOTSUP, "the device cannot hash fields 0x%x, only 0x%x",
				attr->hash_fields, dev->caps.rx_hash_fields);
	if (attr->lro_size != 0 && dev->caps.lro_us[0] == 0)
		return MDV_FAIL(dev->name, ENOTSUP, "the device has no LRO");
	return 0;
}

/*
 * With an RQT the hash function is always Toeplitz, even without fields, as in DPDK's mlx5. The PRM does
 * not document the hash of no fields, so such a TIR requires an RQT of one entry.
 */
static void
tir_fill_hash(struct prm_tirc *tirc, const struct mdv_tir_attr *attr)
{
	struct prm_rx_hash_field_select *select = attr->inner ? prm_tirc_rx_hash_field_selector_inner(tirc) :
								prm_tirc_rx_hash_field_selector_outer(tirc);

	prm_tirc_set_rx_hash_fn(tirc, PRM_RX_HASH_FN_TOEPLITZ);
	if (attr->key != NULL)
		memcpy(prm_tirc_rx_hash_toeplitz_key(tirc), attr->key, MDV_TOEPLITZ_KEY_BYTES);
	if (attr->hash_fields == 0)
		return;
	prm_tirc_set_rx_hash_symmetric(tirc, attr->symmetric);
	prm_rx_hash_field_select_set_l3_prot_type(select, attr->ipv6 ? PRM_RX_HASH_L3_TYPE_IPV6 :
								       PRM_RX_HASH_L3_TYPE_IPV4);
	prm_rx_hash_field_select_set_l4_prot_type(select, attr->udp ? PRM_RX_HASH_L4_TYPE_UDP :
								      PRM_RX_HASH_L4_TYPE_TCP);
	prm_rx_hash_field_select_set_selected_fields(select, attr->hash_fields);
}

static void
tir_fill_lro(struct prm_tirc *tirc, const struct mdv_tir_attr *attr)
{
	if (attr->lro_size == 0)
		return;
	prm_tirc_set_packet_merge_mask(tirc, PRM_TIRC_PACKET_MERGE_IPV4_LRO | PRM_TIRC_PACKET_MERGE_IPV6_LRO);
	prm_tirc_set_lro_max_ip_payload_size(tirc, attr->lro_size);
	prm_tirc_set_lro_timeout_period_usecs(tirc, attr->lro_us);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_tir_create)
struct mdv_obj *
mdv_tir_create(struct mdv_dev *dev, const struct mdv_tir_attr *attr)
{
	struct prm_create_tir_in in = { 0 };
	struct prm_tirc *tirc = prm_create_tir_in_ctx(&in);

	if (check_tir(dev, attr) != 0)
		return NULL;
	prm_create_tir_in_set_opcode(&in, PRM_CMD_OP_CREATE_TIR);
	prm_tirc_set_transport_domain(tirc, dev->tdn);
	prm_tirc_set_tunneled_offload_en(tirc, attr->inner);
	tir_fill_lro(tirc, attr);
	if (attr->rqtn != 0) {
		prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_INDIRECT);
		prm_tirc_set_indirect_table(tirc, attr->rqtn);
		tir_fill_hash(tirc, attr);
	} else {
		prm_tirc_set_disp_type(tirc, PRM_TIRC_DISP_TYPE_DIRECT);
		prm_tirc_set_inline_rqn(tirc, attr->rqn);
		if (attr->hash_fields != 0)
			tir_fill_hash(tirc, attr);
	}
	return mdv_obj_create(dev, &in, sizeof(in));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_tir_modify_hash)
int
mdv_tir_modify_hash(struct mdv_obj *tir, const struct mdv_tir_attr *attr)
{
	struct prm_modify_tir_in in = { 0 };

	if (check_tir(tir->dev, attr) != 0)
		return -rte_errno;
	prm_modify_tir_in_set_opcode(&in, PRM_CMD_OP_MODIFY_TIR);
	prm_modify_tir_in_set_tirn(&in, tir->id);
	prm_modify_tir_bitmask_set_hash(prm_modify_tir_in_bitmask(&in), 1);
	if (attr->rqtn != 0) {
		prm_modify_tir_bitmask_set_indirect_table(prm_modify_tir_in_bitmask(&in), 1);
		prm_tirc_set_indirect_table(prm_modify_tir_in_ctx(&in), attr->rqtn);
	}
	tir_fill_hash(prm_modify_tir_in_ctx(&in), attr);
	return mdv_obj_modify(tir, &in, sizeof(in));
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_q_counter_create)
struct mdv_obj *
mdv_q_counter_create(struct mdv_dev *dev)
{
	struct prm_alloc_q_counter_in in = { 0 };

	prm_alloc_q_counter_in_set_opcode(&in, PRM_CMD_OP_ALLOC_Q_COUNTER);
	return mdv_obj_create(dev, &in, sizeof(in));
}

static void
q_counter_fill(const struct mdv_obj *counter, struct prm_query_q_counter_in *in)
{
	memset(in, 0, sizeof(*in));
	prm_query_q_counter_in_set_opcode(in, PRM_CMD_OP_QUERY_Q_COUNTER);
	prm_query_q_counter_in_set_counter_set_id(in, counter->id);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_q_counter_read)
int
mdv_q_counter_read(struct mdv_obj *counter, uint32_t *out_of_buffer, bool quiet)
{
	struct prm_query_q_counter_in in;
	struct prm_query_q_counter_out out;
	int rc;

	q_counter_fill(counter, &in);
	rc = mdv_exec_query(counter, &in, sizeof(in), &out, sizeof(out), quiet);
	if (rc != 0)
		return rc;
	*out_of_buffer = prm_query_q_counter_out_get_out_of_buffer(&out);
	return 0;
}

_Static_assert(MDV_Q_COUNTER_REPLY_BYTES >=
	       MDV_ASYNC_REPLY_BYTES(sizeof(struct prm_query_q_counter_out)), "size of the reply");

RTE_EXPORT_INTERNAL_SYMBOL(mdv_q_counter_read_async)
int
mdv_q_counter_read_async(struct mdv_async *async, struct mdv_obj *counter, uint64_t wr_id)
{
	struct prm_query_q_counter_in in;

	q_counter_fill(counter, &in);
	return mdv_async_query(async, counter, &in, sizeof(in),
			       sizeof(struct prm_query_q_counter_out), wr_id);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_q_counter_read_result)
int
mdv_q_counter_read_result(const struct mdv_async_reply *reply, uint32_t *out_of_buffer)
{
	const struct prm_query_q_counter_out *out = reply->out;

	if (reply->rc != 0)
		return mdv_fail(-reply->rc);
	if (reply->out_bytes < sizeof(*out))
		return mdv_fail(EINVAL);
	*out_of_buffer = prm_query_q_counter_out_get_out_of_buffer(out);
	return 0;
}
