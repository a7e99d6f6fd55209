/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Receive queue tables: the hash of a packet selects an entry. */
#include <errno.h>
#include <stdlib.h>

#include "fw.h"

static void
rqt_list_drop(struct emu_rqt *rqt)
{
	for (uint32_t i = 0; i < rqt->size; i++)
		emu_obj_unref(&rqt->rq[i]->obj);
	free(rqt->rq);
	rqt->rq = NULL;
	rqt->size = 0;
}

static void
rqt_release(struct emu_obj *obj)
{
	emu_dp_forget(obj);
	rqt_list_drop((struct emu_rqt *)obj);
}

/* Checks the list against maximum size and length of the inbox. */
static int
rqt_list_check(struct fw_cmd *c, const struct prm_rqtc *rqtc, uint32_t max_size)
{
	uint32_t size = prm_rqtc_get_rqt_actual_size(rqtc);

	if (prm_rqtc_get_list_q_type(rqtc) != PRM_RQTC_LIST_Q_TYPE_RQ ||
	    prm_rqtc_get_rq_vhca_id_format(rqtc))
		return fw_refuse(c, FW_RQT_TYPE, "list_q_type %u", prm_rqtc_get_list_q_type(rqtc));
	if (size == 0 || size > max_size || (size & (size - 1)) != 0)
		return fw_refuse(c, FW_RQT_SIZE, "%u of at most %u", size, max_size);
	if (!fw_in_ends_at(c, c->desc->in_bytes_min + 4ull * size))
		return fw_refuse(c, FW_RQT_LIST, "%zu bytes for %u entries", c->in_len, size);
	return 0;
}

/* Replaces the list; nothing changes when one of the RQs does not exist. */
static int
rqt_list_set(struct fw_cmd *c, struct emu_rqt *rqt, const struct prm_rqtc *rqtc)
{
	uint32_t size = prm_rqtc_get_rqt_actual_size(rqtc);
	struct emu_rq **list = calloc(size, sizeof(*list));

	if (list == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "RQT with %u entries", size);
	for (uint32_t i = 0; i < size; i++) {
		uint32_t rqn = prm_rq_num_get_rq_num(prm_rqtc_rq_num_c(rqtc, i));

		if (fw_need(c, EMU_OBJ_RQ, rqn, FW_NO_RQ, &list[i]) != 0) {
			free(list);
			return -EREMOTEIO;
		}
	}
	for (uint32_t i = 0; i < size; i++)
		emu_obj_ref(&list[i]->obj);
	rqt_list_drop(rqt);
	rqt->rq = list;
	rqt->size = size;
	return 0;
}

int
fw_create_rqt(struct fw_cmd *c)
{
	struct prm_rqtc *rqtc = prm_create_rqt_in_rqt_context(c->in);
	uint32_t max_size = prm_rqtc_get_rqt_max_size(rqtc);
	struct fw_rqt *rqt;
	int ret = 0;

	if (max_size > 1u << c->dev->profile->log_max_rqt_size)
		ret = fw_refuse(c, FW_RQT_MAX_SIZE, "%u", max_size);
	if (ret == 0)
		ret = rqt_list_check(c, rqtc, max_size);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_RQT, sizeof(*rqt), rqt_release, &rqt);
	if (ret != 0)
		return ret;
	ret = rqt_list_set(c, &rqt->rqt, rqtc);
	if (ret != 0) {
		emu_obj_destroy(&rqt->rqt.obj);
		c->created = NULL;
		return ret;
	}
	rqt->rqt.max_size = max_size;
	return 0;
}

int
fw_modify_rqt(struct fw_cmd *c)
{
	struct prm_rqtc *rqtc = prm_modify_rqt_in_ctx(c->in);
	struct emu_rqt *rqt = (struct emu_rqt *)c->obj;
	int ret;

	if (!prm_rqt_bitmask_get_rqn_list(prm_modify_rqt_in_bitmask(c->in)))
		return 0;
	ret = rqt_list_check(c, rqtc, rqt->max_size);
	return ret != 0 ? ret : rqt_list_set(c, rqt, rqtc);
}

int
fw_query_rqt(struct fw_cmd *c)
{
	const struct emu_rqt *rqt = (const struct emu_rqt *)c->obj;
	struct prm_rqtc *rqtc = prm_query_rqt_out_rqt_context(c->out);
	size_t room = (c->out_len - c->desc->out_bytes_min) / 4;

	prm_rqtc_set_list_q_type(rqtc, PRM_RQTC_LIST_Q_TYPE_RQ);
	prm_rqtc_set_rqt_max_size(rqtc, rqt->max_size);
	prm_rqtc_set_rqt_actual_size(rqtc, rqt->size);
	for (uint32_t i = 0; i < rqt->size && i < room; i++)
		if (c->desc->out_bytes_min + 4 * (i + 1) <= FW_OUT_BYTES)
			prm_rq_num_set_rq_num(prm_rqtc_rq_num(rqtc, i), rqt->rq[i]->obj.id);
	return 0;
}
