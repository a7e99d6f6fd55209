/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Transport interface send: properties that SQs share. */
#include "fw.h"

static void
tis_release(struct emu_obj *obj)
{
	fw_holds_drop(&((struct fw_tis *)obj)->holds);
}

static int
tis_features_check(struct fw_cmd *c, const struct prm_tisc *tisc)
{
	if (prm_tisc_get_tls_en(tisc) || prm_tisc_get_lag_tx_port_affinity(tisc) ||
	    prm_tisc_get_strict_lag_tx_port_affinity(tisc) || prm_tisc_get_underlay_qpn(tisc))
		return fw_refuse(c, FW_TIS_FEATURE, "%s", "TLS, LAG affinity or underlay QP");
	return 0;
}

int
fw_create_tis(struct fw_cmd *c)
{
	const struct prm_tisc *tisc = prm_create_tis_in_ctx(c->in);
	struct emu_obj *td, *pd = NULL;
	struct fw_tis *tis;
	int ret = tis_features_check(c, tisc);

	if (ret == 0)
		ret = fw_need(c, EMU_OBJ_TD, prm_tisc_get_transport_domain(tisc), FW_NO_TD, &td);
	if (ret == 0 && prm_tisc_get_pd(tisc) != 0)
		ret = fw_need(c, EMU_OBJ_PD, prm_tisc_get_pd(tisc), FW_NO_PD, &pd);
	if (ret == 0)
		ret = fw_create(c, EMU_OBJ_TIS, sizeof(*tis), tis_release, &tis);
	if (ret != 0)
		return ret;
	fw_hold(&tis->holds, td);
	fw_hold(&tis->holds, pd);
	tis->tisc = *tisc;
	tis->tis.td = td->id;
	return 0;
}

int
fw_modify_tis(struct fw_cmd *c)
{
	const struct prm_tisc *tisc = prm_modify_tis_in_ctx(c->in);
	const struct prm_modify_tis_bitmask *fields = prm_modify_tis_in_bitmask(c->in);
	struct fw_tis *tis = (struct fw_tis *)c->obj;

	if (prm_modify_tis_bitmask_get_lag_tx_port_affinity(fields) ||
	    prm_modify_tis_bitmask_get_strict_lag_tx_port_affinity(fields))
		return fw_refuse(c, FW_TIS_FEATURE, "%s", "LAG affinity");
	if (prm_modify_tis_bitmask_get_prio(fields))
		prm_tisc_set_prio(&tis->tisc, prm_tisc_get_prio(tisc));
	return 0;
}

int
fw_query_tis(struct fw_cmd *c)
{
	*prm_query_tis_out_tis_context(c->out) = ((const struct fw_tis *)c->obj)->tisc;
	return 0;
}
