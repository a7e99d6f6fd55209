/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Queues, transport objects and rules on a device: each is created, queried and compared with its attributes. */

#include <errno.h>
#include <string.h>

#include "mdv_test.h"

static uint32_t
sq_state(struct mdv_sq *sq)
{
	struct prm_query_sq_in in;
	struct prm_query_sq_out out;

	memset(&in, 0, sizeof(in));
	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_QUERY_SQ);
	prm_query_sq_in_set_sqn(&in, sq->wq.number);
	if (mdv_obj_query(sq->wq.obj, &in, sizeof(in), &out, sizeof(out)) != 0)
		return UINT32_MAX;
	return prm_sqc_get_state(prm_query_sq_out_sq_context_c(&out));
}

/** Reads the context of the RQ from the device. */
static bool
rq_query(struct mdv_rq *rq, struct prm_rqc *rqc)
{
	struct prm_query_rq_in in;
	struct prm_query_rq_out out;

	memset(&in, 0, sizeof(in));
	prm_query_rq_in_set_opcode(&in, PRM_CMD_OP_QUERY_RQ);
	prm_query_rq_in_set_rqn(&in, rq->wq.number);
	if (mdv_obj_query(rq->wq.obj, &in, sizeof(in), &out, sizeof(out)) != 0)
		return false;
	*rqc = *prm_query_rq_out_rq_context_c(&out);
	return true;
}

static void
check_cq(struct mdv_dev *dev, uint8_t log_cqes)
{
	const struct mdv_cq_attr attr = { .log_cqes = log_cqes, .socket_id = SOCKET_ID_ANY };
	struct mdv_cq cq;
	unsigned int invalid = 0;

	REQUIRE(mdv_cq_create(dev, &attr, &cq) == 0);
	for (unsigned int i = 0; i < 1u << log_cqes; i++)
		invalid += cq.cqes[i].op_own >> 4 == MLX5_CQE_INVALID;
	CHECK_EQ(invalid, 1u << log_cqes);
	CHECK_EQ((uintptr_t)cq.ring.addr % 4096, 0);
	CHECK((uintptr_t)cq.dbrec >= (uintptr_t)(cq.cqes + (1u << log_cqes)));
	CHECK((uintptr_t)(cq.dbrec + 2) <= (uintptr_t)cq.ring.addr + cq.ring.bytes);
	CHECK_EQ(cq.cqn, cq.obj->id);
	mdv_cq_destroy(&cq);
	CHECK(cq.obj == NULL && cq.ring.addr == NULL);
	mdv_cq_destroy(&cq);
}

static void
check_too_large(struct mdv_dev *dev)
{
	const struct mdv_cq_attr cq_attr = { .log_cqes = dev->caps.log_max_cq_sz + 1 };
	const struct mdv_sq_attr sq_attr = { .log_wqebbs = dev->caps.log_max_wq_sz + 1 };
	const struct mdv_rq_attr rq_attr = { .log_wqes = dev->caps.log_max_wq_sz + 1,
					     .log_stride_bytes = 4 };
	const struct mdv_rq_attr stride_attr = { .log_wqes = 6, .log_stride_bytes = 3 };
	struct mdv_cq cq;
	struct mdv_sq sq;
	struct mdv_rq rq;

	log_begin();
	CHECK_EQ(mdv_cq_create(dev, &cq_attr, &cq), -EINVAL);
	CHECK_EQ(mdv_sq_create(dev, &sq_attr, &sq), -EINVAL);
	CHECK_EQ(mdv_rq_create(dev, &rq_attr, &rq), -EINVAL);
	CHECK_EQ(mdv_rq_create(dev, &stride_attr, &rq), -EINVAL);
	CHECK_EQ(lines_of(log_end()), 4);
}

/** The largest queues that the capabilities permit, and larger ones; those of the true limits need much memory. */
static void
check_limits(struct mdv_dev *dev, struct mdv_obj *tis)
{
	const struct mdv_caps was = dev->caps;
	struct mdv_cq_attr cq_attr = { .log_cqes = 7, .socket_id = SOCKET_ID_ANY };
	struct mdv_sq_attr sq_attr = { .log_wqebbs = 8, .socket_id = SOCKET_ID_ANY, .tisn = tis->id };
	struct mdv_rq_attr rq_attr = { .log_wqes = 8, .log_stride_bytes = MDV_LOG_RQ_STRIDE_MIN,
				       .socket_id = SOCKET_ID_ANY };
	struct mdv_cq cq, large;
	struct mdv_sq sq;
	struct mdv_rq rq;

	dev->caps.log_max_cq_sz = 7;
	dev->caps.log_max_wq_sz = 8;
	REQUIRE(mdv_cq_create(dev, &cq_attr, &cq) == 0);
	sq_attr.cqn = rq_attr.cqn = cq.cqn;
	for (; rq_attr.log_stride_bytes <= MDV_LOG_RQ_STRIDE_MAX; rq_attr.log_stride_bytes++) {
		CHECK_EQ(mdv_rq_create(dev, &rq_attr, &rq), 0);
		mdv_wq_destroy(&rq.wq);
	}
	CHECK_EQ(mdv_sq_create(dev, &sq_attr, &sq), 0);
	mdv_wq_destroy(&sq.wq);
	log_begin();
	CHECK_EQ(mdv_rq_create(dev, &rq_attr, &rq), -EINVAL);
	CHECK(memcmp(&rq, &(struct mdv_rq){ 0 }, sizeof(rq)) == 0);
	rq_attr.log_stride_bytes = MDV_LOG_RQ_STRIDE_MAX;
	rq_attr.log_wqes++;
	CHECK_EQ(mdv_rq_create(dev, &rq_attr, &rq), -EINVAL);
	sq_attr.log_wqebbs++;
	CHECK_EQ(mdv_sq_create(dev, &sq_attr, &sq), -EINVAL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK(memcmp(&sq, &(struct mdv_sq){ 0 }, sizeof(sq)) == 0);
	cq_attr.log_cqes++;
	CHECK_EQ(mdv_cq_create(dev, &cq_attr, &large), -EINVAL);
	CHECK_EQ(lines_of(log_end()), 4);
	mdv_cq_destroy(&cq);
	dev->caps = was;
}

/** What the device does not have is refused without a command. */
static void
check_missing(struct mdv_dev *dev, const struct mdv_cq *cq)
{
	const struct mdv_caps was = dev->caps;
	struct mdv_rq_attr attr = { .log_wqes = 6, .log_stride_bytes = 4, .socket_id = SOCKET_ID_ANY, .cqn = cq->cqn };
	uint64_t refused = dev->refused;
	struct mdv_rq rq, plain;

	REQUIRE(mdv_rq_create(dev, &attr, &plain) == 0 && mdv_wq_modify(&plain.wq, MDV_QS_RDY) == 0);
	dev->caps.vlan_strip = dev->caps.scatter_fcs = false;
	log_begin();
	attr.vlan_strip = true;
	CHECK_EQ(mdv_rq_create(dev, &attr, &rq), -ENOTSUP);
	attr.vlan_strip = false;
	attr.scatter_fcs = true;
	CHECK_EQ(mdv_rq_create(dev, &attr, &rq), -ENOTSUP);
	CHECK_EQ(mdv_rq_set_vlan_strip(&plain, true), -ENOTSUP);
	CHECK_EQ(lines_with(log_end(), "the device cannot strip VLAN tags on"), 2);
	CHECK_EQ(mdv_rq_set_vlan_strip(&plain, false), 0);
	CHECK_EQ(dev->refused, refused);
	dev->caps = was;
	CHECK_EQ(mdv_wq_destroy(&plain.wq), 0);
}

static void
check_sq(struct mdv_dev *dev, const struct mdv_cq *cq, struct mdv_obj *tis)
{
	static const enum mdv_queue_state way[] = { MDV_QS_RDY, MDV_QS_ERR, MDV_QS_RST, MDV_QS_RDY,
						    MDV_QS_RST };
	const struct mdv_sq_attr attr = { .log_wqebbs = 8, .socket_id = SOCKET_ID_ANY,
					  .cqn = cq->cqn, .tisn = tis->id };
	const struct mdv_sq_attr wc_attr = { .log_wqebbs = 8, .socket_id = SOCKET_ID_ANY,
					     .cqn = cq->cqn, .tisn = tis->id, .db_wc = true };
	struct mdv_sq sq, other;

	memset(&sq, 0xa5, sizeof(sq));
	REQUIRE(mdv_sq_create(dev, &attr, &sq) == 0);
	CHECK(!sq.db_wc);
	CHECK_EQ(mdv_sq_create(dev, &wc_attr, &other), 0);
	CHECK(other.db_wc == (dev->mode == MDV_OPEN_VERBS) && other.db_wc == (sq.db_reg != other.db_reg));
	CHECK_EQ((uintptr_t)sq.db_reg % 8, 0);
	CHECK_EQ((uintptr_t)sq.wq.dbrec % 8, 4);
	CHECK_EQ(sq_state(&sq), MDV_QS_RST);
	for (size_t i = 0; i < RTE_DIM(way); i++) {
		CHECK_EQ(mdv_wq_modify(&sq.wq, way[i]), 0);
		CHECK_EQ(sq.wq.state, way[i]);
		CHECK_EQ(sq_state(&sq), way[i]);
	}
	/* Prohibited changes are refused without a command. */
	log_begin();
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_ERR), -EINVAL);
	CHECK_EQ(lines_with(log_end(), "cannot go from state RST to ERR"), 1);
	CHECK_EQ(sq.wq.state, MDV_QS_RST);
	mdv_wq_destroy(&other.wq);
	mdv_wq_destroy(&sq.wq);
}

static uint32_t
sq_rate(struct mdv_sq *sq)
{
	struct prm_query_sq_in in = { 0 };
	struct prm_query_sq_out out;

	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_QUERY_SQ);
	prm_query_sq_in_set_sqn(&in, sq->wq.number);
	if (mdv_obj_query(sq->wq.obj, &in, sizeof(in), &out, sizeof(out)) != 0)
		return UINT32_MAX;
	return prm_sqc_get_packet_pacing_rate_limit_index(prm_query_sq_out_sq_context_c(&out));
}

/** Entries of the table of rates: shared by equal rates, of which the last user frees them; as many as there are. */
static void
check_rates(struct mdv_dev *dev)
{
	static struct mdv_rate all[UINT8_MAX + 1];
	struct mdv_rate a, same, b;
	uint16_t n = 0;

	CHECK_EQ(mdv_rate_alloc(dev, 1000, &a), 0);
	CHECK_EQ(mdv_rate_alloc(dev, 1000, &same), 0);
	CHECK_EQ(mdv_rate_alloc(dev, dev->caps.max_rate_kbps, &b), 0);
	CHECK(a.index != 0 && a.index == same.index && b.index != 0 && b.index != a.index);
	CHECK((a.pp != NULL) == (dev->mode == MDV_OPEN_VERBS));
	mdv_rate_free(dev, &a);
	CHECK(a.index == 0 && a.pp == NULL);
	mdv_rate_free(dev, &a);
	CHECK_EQ(mdv_rate_alloc(dev, 2000, &a), 0);
	CHECK(a.index != same.index && a.index != b.index);
	mdv_rate_free(dev, &a);
	mdv_rate_free(dev, &same);
	mdv_rate_free(dev, &b);
	log_begin();
	CHECK_EQ(mdv_rate_alloc(dev, dev->caps.max_rate_kbps + 1ull, &a), -EINVAL);
	CHECK_EQ(mdv_rate_alloc(dev, 0, &a), -EINVAL);
	CHECK_EQ(lines_with(log_end(), "allowed are 1 to"), 2);
	log_begin();
	while (n < RTE_DIM(all) && mdv_rate_alloc(dev, 1000 + n, &all[n]) == 0)
		n++;
	CHECK_EQ(n, dev->caps.num_rates);
	CHECK_EQ(rte_errno, ENOSPC);
	CHECK_EQ(lines_with(log_end(), "127 different rates are in use"), 1);
	while (n != 0)
		mdv_rate_free(dev, &all[--n]);
}

/** The limit of an SQ is written when it becomes ready, also after a reset, and at once while it is. */
static void
check_sq_rate(struct mdv_dev *dev, const struct mdv_cq *cq, const struct mdv_obj *tis)
{
	struct mdv_sq_attr attr = { .log_wqebbs = 8, .socket_id = SOCKET_ID_ANY, .cqn = cq->cqn, .tisn = tis->id };
	struct mdv_rate first, second;
	struct mdv_sq sq;

	REQUIRE(mdv_rate_alloc(dev, 1000, &first) == 0 && mdv_rate_alloc(dev, 2000, &second) == 0);
	attr.rate_index = first.index;
	REQUIRE(mdv_sq_create(dev, &attr, &sq) == 0);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_RDY), 0);
	CHECK_EQ(sq_rate(&sq), first.index);
	CHECK_EQ(mdv_sq_set_rate(&sq, second.index), 0);
	CHECK_EQ(sq_rate(&sq), second.index);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_ERR), 0);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_RST), 0);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_RDY), 0);
	CHECK_EQ(sq_rate(&sq), second.index);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_RST), 0);
	CHECK_EQ(mdv_sq_set_rate(&sq, first.index), 0);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_RDY), 0);
	CHECK_EQ(sq_rate(&sq), first.index);
	CHECK_EQ(mdv_sq_set_rate(&sq, 0), 0);
	CHECK_EQ(sq_rate(&sq), 0);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_RST), 0);
	CHECK_EQ(mdv_wq_modify(&sq.wq, MDV_QS_RDY), 0);
	CHECK_EQ(sq_rate(&sq), 0);
	mdv_wq_destroy(&sq.wq);
	mdv_rate_free(dev, &first);
	mdv_rate_free(dev, &second);
}

static void
check_rq(struct mdv_dev *dev, const struct mdv_cq *cq)
{
	struct mdv_rq_attr attr = { .log_wqes = 7, .log_stride_bytes = 6,
				    .socket_id = SOCKET_ID_ANY, .cqn = cq->cqn };
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	uint32_t out_of_buffer = UINT32_MAX;
	struct prm_rqc rqc;
	struct mdv_rq rq;

	REQUIRE(counter != NULL);
	attr.counter_set_id = counter->id;
	CHECK_EQ(mdv_rq_create(dev, &attr, &rq), 0);
	REQUIRE(rq.wq.obj != NULL && rq_query(&rq, &rqc));
	CHECK_EQ(prm_rqc_get_vsd(&rqc), 1);
	CHECK_EQ(prm_rqc_get_cqn(&rqc), cq->cqn);
	CHECK_EQ(prm_rqc_get_counter_set_id(&rqc), counter->id);
	/* Not ready: refused without a command. */
	log_begin();
	CHECK_EQ(mdv_rq_set_vlan_strip(&rq, true), -EINVAL);
	CHECK_EQ(lines_with(log_end(), "VLAN stripping changes on ready queues only"), 1);
	CHECK(rq_query(&rq, &rqc));
	CHECK_EQ(prm_rqc_get_vsd(&rqc), 1);
	CHECK_EQ(mdv_wq_modify(&rq.wq, MDV_QS_RDY), 0);
	CHECK_EQ(mdv_rq_set_vlan_strip(&rq, true), 0);
	CHECK(rq_query(&rq, &rqc));
	CHECK_EQ(prm_rqc_get_vsd(&rqc), 0);
	CHECK_EQ(prm_rqc_get_state(&rqc), MDV_QS_RDY);
	CHECK_EQ(mdv_rq_set_vlan_strip(&rq, false), 0);
	CHECK(rq_query(&rq, &rqc));
	CHECK_EQ(prm_rqc_get_vsd(&rqc), 1);
	CHECK_EQ(mdv_wq_modify(&rq.wq, MDV_QS_ERR), 0);
	CHECK_EQ(mdv_wq_modify(&rq.wq, MDV_QS_RST), 0);
	CHECK_EQ(mdv_q_counter_read(counter, &out_of_buffer, false), 0);
	CHECK_EQ(out_of_buffer, 0);
	mdv_wq_destroy(&rq.wq);
	CHECK_EQ(mdv_obj_destroy(counter), 0);
}

static void
check_strides_refused(struct mdv_dev *dev, struct mdv_rq_attr attr)
{
	static const struct {
		uint8_t log_strides, log_stride_size, log_stride_bytes;
	} wrong[] = {
		{ 2, 12, 5 }, { 17, 6, 5 }, { 9, 5, 5 }, { 9, 14, 5 }, { 9, 4, 5 }, { 9, 6, 4 }, { 9, 6, 6 },
	};
	const struct mdv_caps was = dev->caps;
	const uint64_t refused = dev->refused;
	struct mdv_rq rq;

	log_begin();
	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		attr.log_strides = wrong[i].log_strides;
		attr.log_stride_size = wrong[i].log_stride_size;
		attr.log_stride_bytes = wrong[i].log_stride_bytes;
		CHECK_EQ(mdv_rq_create(dev, &attr, &rq), -EINVAL);
	}
	/* A buffer of less than 2^14 bytes. */
	attr.log_strides = 3;
	attr.log_stride_size = 10;
	attr.log_stride_bytes = 5;
	CHECK_EQ(mdv_rq_create(dev, &attr, &rq), -EINVAL);
	CHECK_EQ(lines_with(log_end(), "striding RQ with"), RTE_DIM(wrong) + 1);
	/* The least number of strides is that of the device. */
	attr.log_strides = 8;
	attr.log_stride_size = 8;
	dev->caps.log_min_strides = 9;
	log_begin();
	CHECK_EQ(mdv_rq_create(dev, &attr, &rq), -EINVAL);
	dev->caps.log_min_strides = 0;
	CHECK_EQ(mdv_rq_create(dev, &attr, &rq), -ENOTSUP);
	CHECK_EQ(lines_of(log_end()), 2);
	CHECK_EQ(dev->refused, refused);
	dev->caps = was;
}

/** Striding RQs: the context has the sizes as the PRM encodes them. */
static void
check_striding(struct mdv_dev *dev, const struct mdv_cq *cq)
{
	static const struct {
		uint8_t log_strides, log_stride_size, number, size; /* The last two as the context has them. */
	} sizes[] = {
		{ 3, 11, 10, 5 }, { 6, 11, 13, 5 }, { 8, 6, 15, 0 }, { 9, 6, 0, 0 }, { 12, 7, 3, 1 }, { 16, 13, 7, 7 },
	};
	struct mdv_rq_attr attr = { .log_wqes = 4, .log_stride_bytes = MDV_LOG_STRIDING_WQE_BYTES,
				    .socket_id = SOCKET_ID_ANY, .cqn = cq->cqn };
	const struct prm_wq *wq;
	struct prm_rqc rqc;
	struct mdv_rq rq;

	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		attr.log_strides = sizes[i].log_strides;
		attr.log_stride_size = sizes[i].log_stride_size;
		if (attr.log_strides < dev->caps.log_min_strides)
			continue;
		CHECK_EQ(mdv_rq_create(dev, &attr, &rq), 0);
		REQUIRE(rq.wq.obj != NULL && rq_query(&rq, &rqc));
		wq = prm_rqc_wq_c(&rqc);
		CHECK_EQ(prm_wq_get_wq_type(wq), PRM_WQ_TYPE_CYCLIC_STRIDING);
		CHECK_EQ(prm_wq_get_log_wqe_num_of_strides(wq), sizes[i].number);
		CHECK_EQ(prm_wq_get_log_wqe_stride_size(wq), sizes[i].size);
		CHECK_EQ(prm_wq_get_two_byte_shift_en(wq), 0);
		CHECK_EQ(prm_wq_get_log_wq_stride(wq), MDV_LOG_STRIDING_WQE_BYTES);
		CHECK_EQ(mdv_wq_modify(&rq.wq, MDV_QS_RDY), 0);
		CHECK_EQ(mdv_wq_destroy(&rq.wq), 0);
	}
	check_strides_refused(dev, attr);
}

/** A mailbox of the wrong command, or for another object, is refused without a command. */
static void
check_engine(struct mdv_dev *dev, const struct mdv_cq *cq, struct mdv_obj *tis)
{
	struct prm_query_sq_in in;
	struct prm_query_sq_out out;
	uint64_t refused = dev->refused;

	memset(&in, 0, sizeof(in));
	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_QUERY_SQ);
	log_begin();
	CHECK(mdv_obj_create(dev, &in, sizeof(in)) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(mdv_obj_modify(cq->obj, &in, sizeof(in)), -EINVAL);
	prm_query_sq_in_set_sqn(&in, tis->id + 1);
	CHECK_EQ(mdv_obj_query(tis, &in, sizeof(in), &out, sizeof(out)), -EINVAL);
	prm_query_sq_in_set_opcode(&in, PRM_CMD_OP_CREATE_CQ);
	CHECK(mdv_obj_create(dev, &in, sizeof(in)) == NULL);
	CHECK_EQ(mdv_cmd(dev, &in, 8, &out, sizeof(out)), -EINVAL);
	CHECK_EQ(lines_of(log_end()), 5);
	CHECK_EQ(dev->refused, refused);
}

void
test_queues(struct mdv_dev *dev)
{
	const struct mdv_cq_attr attr = { .log_cqes = 8, .socket_id = SOCKET_ID_ANY };
	struct mdv_obj *tis;
	struct mdv_cq cq;

	for (uint8_t log_cqes = 0; log_cqes <= 14; log_cqes += 2)
		check_cq(dev, log_cqes);
	check_too_large(dev);
	check_rates(dev);
	REQUIRE(mdv_cq_create(dev, &attr, &cq) == 0);
	tis = mdv_tis_create(dev);
	CHECK(tis != NULL);
	if (tis != NULL) {
		check_sq(dev, &cq, tis);
		check_sq_rate(dev, &cq, tis);
		check_limits(dev, tis);
		check_engine(dev, &cq, tis);
	}
	check_rq(dev, &cq);
	check_striding(dev, &cq);
	check_missing(dev, &cq);
	CHECK_EQ(mdv_obj_destroy(tis), 0);
	mdv_cq_destroy(&cq);
}
