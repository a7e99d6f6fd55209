/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Start and end of a function whose owner came through VFIO. Order as mlx5_core has it:
 * ENABLE_HCA, SET_ISSI, boot pages, SET_HCA_CAP, init pages, INIT_HCA ... TEARDOWN_HCA, DISABLE_HCA.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../core/emu_iommu.h"
#include "fw.h"

#define ISSI_MODELLED 1u
/* teardown_hca_in.profile (Linux, mlx5_ifc.h). */
#define TEARDOWN_GRACEFUL 0u
#define TEARDOWN_FORCE 1u

static void
on_iommu(void *arg, uint64_t iova, const void *va, uint64_t len, bool mapped)
{
	if (mapped)
		emu_dp_mapped(arg, iova, len);
	else
		emu_dp_unmapping(arg, iova, va, len);
}

int
fw_enable_hca(struct fw_cmd *c)
{
	struct emu_hca *hca = &c->ctx->hca;

	if (prm_enable_hca_in_get_function_id(c->in) ||
	    prm_enable_hca_in_get_embedded_cpu_function(c->in))
		return fw_refuse(c, FW_OTHER_FUNCTION, "function %u",
				 prm_enable_hca_in_get_function_id(c->in));
	if (hca->state != EMU_HCA_DISABLED)
		return fw_refuse(c, FW_HCA_STATE, "%s", "it is enabled already");
	hca->state = EMU_HCA_ENABLED;
	emu_iommu_watch(c->ctx->iommu, on_iommu, c->ctx);
	return 0;
}

int
fw_disable_hca(struct fw_cmd *c)
{
	struct emu_hca *hca = &c->ctx->hca;

	if (prm_disable_hca_in_get_function_id(c->in) ||
	    prm_disable_hca_in_get_embedded_cpu_function(c->in))
		return fw_refuse(c, FW_OTHER_FUNCTION, "function %u",
				 prm_disable_hca_in_get_function_id(c->in));
	if (hca->state != EMU_HCA_ENABLED)
		return fw_refuse(c, FW_HCA_STATE, "%s", "TEARDOWN_HCA comes first");
	hca->state = EMU_HCA_DISABLED;
	hca->issi = 0;
	hca->link_down = false;
	free(hca->caps);
	hca->caps = NULL;
	return 0;
}

int
fw_query_issi(struct fw_cmd *c)
{
	/* The kernel selected the ISSI when it initialized the function. */
	prm_query_issi_out_set_current_issi(c->out, c->ctx->iommu != NULL ? c->ctx->hca.issi
									   : ISSI_MODELLED);
	prm_query_issi_out_set_supported_issi_dw0(c->out, 1u << ISSI_MODELLED | 1u);
	return 0;
}

int
fw_set_issi(struct fw_cmd *c)
{
	unsigned issi = prm_set_issi_in_get_current_issi(c->in);

	if (issi > ISSI_MODELLED)
		return fw_refuse(c, FW_ISSI, "%u", issi);
	c->ctx->hca.issi = (uint8_t)issi;
	return 0;
}

int
fw_set_driver_version(struct fw_cmd *c)
{
	emu_trace_note(c->dev, "driver version %.64s",
		       (const char *)prm_set_driver_version_in_driver_version(c->in));
	return 0;
}

/* The fields of the general page that the owner may choose; all others are the device's. */
static void
free_fields_clear(struct prm_cmd_hca_cap *cap)
{
	prm_cmd_hca_cap_set_disable_link_up(cap, 0);
	prm_cmd_hca_cap_set_log_uar_page_sz(cap, 0);
}

/** A page as set by the owner, or the maxima if it was not set. */
void
fw_hca_cap_current(const struct emu_ctx *ctx, unsigned type, void *page)
{
	if (type != PRM_HCA_CAP_TYPE_GENERAL)
		return;
	if (ctx->hca.caps != NULL)
		memcpy(page, ctx->hca.caps, PRM_CMD_HCA_CAP_BYTES);
	prm_cmd_hca_cap_set_disable_link_up(page, ctx->hca.link_down);
	prm_cmd_hca_cap_set_log_uar_page_sz(page, 0);
}

/* Each value must not exceed that of the device. */
static int
caps_check(struct fw_cmd *c, const uint32_t *wanted, const uint32_t *most)
{
	const struct prm_layout *l = &prm_layout_cmd_hca_cap;

	for (unsigned i = 0; i < l->field_count; i++) {
		const struct prm_field *f = &l->fields[i];
		uint32_t want, can;

		if (f->kind != PRM_FIELD_SCALAR || f->array || f->hi > 31)
			continue;
		want = prm_get32(wanted + f->dword, f->hi, f->lo);
		can = prm_get32(most + f->dword, f->hi, f->lo);
		if (want > can)
			return fw_refuse(c, FW_CAP_VALUE, "%s %u, at most %u", f->name, want, can);
	}
	return 0;
}

int
fw_set_hca_cap(struct fw_cmd *c)
{
	unsigned type = prm_set_hca_cap_in_get_op_mod(c->in) >> 1;
	void *wanted = prm_set_hca_cap_in_capability(c->in);
	uint32_t page[PRM_CMD_HCA_CAP_BYTES / 4] = {0};
	struct emu_hca *hca = &c->ctx->hca;
	bool link_down;

	if (prm_set_hca_cap_in_get_other_function(c->in) ||
	    prm_set_hca_cap_in_get_function_id(c->in))
		return fw_refuse(c, FW_OTHER_FUNCTION, "function %u",
				 prm_set_hca_cap_in_get_function_id(c->in));
	if (hca->state != EMU_HCA_ENABLED)
		return fw_refuse(c, FW_HCA_STATE, "%s", "INIT_HCA was before");
	if (type != PRM_HCA_CAP_TYPE_GENERAL)
		return fw_refuse(c, FW_CAP_TYPE, "%s (0x%x) has nothing to choose",
				 prm_hca_cap_type_name(type), type);
	fw_cap_page(c->dev, type, page);
	link_down = prm_cmd_hca_cap_get_disable_link_up(wanted);
	if (prm_cmd_hca_cap_get_log_uar_page_sz(wanted))
		return fw_refuse(c, FW_CAP_VALUE, "log_uar_page_sz %u: pages have 4 KiB",
				 prm_cmd_hca_cap_get_log_uar_page_sz(wanted));
	free_fields_clear((struct prm_cmd_hca_cap *)page);
	free_fields_clear(wanted);
	if (caps_check(c, wanted, page) != 0)
		return -EREMOTEIO;
	if (hca->caps == NULL)
		hca->caps = malloc(PRM_CMD_HCA_CAP_BYTES);
	if (hca->caps == NULL)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "capabilities");
	memcpy(hca->caps, wanted, PRM_CMD_HCA_CAP_BYTES);
	hca->link_down = link_down;
	return 0;
}

int
fw_init_hca(struct fw_cmd *c)
{
	struct emu_hca *hca = &c->ctx->hca;
	int ret;

	if (hca->state != EMU_HCA_ENABLED)
		return fw_refuse(c, FW_HCA_STATE, "%s", "INIT_HCA was before");
	if (hca->issi != ISSI_MODELLED)
		return fw_refuse(c, FW_ISSI, "%u, the commands of %u are modelled", hca->issi,
				 ISSI_MODELLED);
	ret = fw_pages_init_check(c);
	if (ret != 0)
		return ret;
	hca->state = EMU_HCA_UP;
	c->dev->l2.owned = true;
	hca->admin_before = c->dev->admin_up;
	memset(c->dev->vport.roce, 0, sizeof(c->dev->vport.roce));
	c->dev->vport.uc_count = c->dev->vport.mc_count = 0;
	/* The link is administratively down since the previous owner left, until this command. */
	emu_port_set_admin(c->dev, !hca->link_down);
	return 0;
}

int
fw_teardown_hca(struct fw_cmd *c)
{
	struct emu_hca *hca = &c->ctx->hca;
	unsigned profile = prm_teardown_hca_in_get_profile(c->in);

	if (profile != TEARDOWN_GRACEFUL && profile != TEARDOWN_FORCE)
		return fw_refuse(c, FW_TEARDOWN, "%u", profile);
	/* The function ends: remaining objects are released and reported. */
	emu_ctx_sweep(c->ctx);
	fw_l2_clear(c);
	fw_pp_clear(c);
	c->dev->l2.owned = false;
	hca->state = EMU_HCA_ENABLED;
	hca->requested = false;
	hca->roce = false;
	memset(c->dev->vport.roce, 0, sizeof(c->dev->vport.roce));
	emu_port_set_admin(c->dev, hca->admin_before);
	return 0;
}

int
fw_alloc_uar(struct fw_cmd *c)
{
	struct emu_uar *uar;
	uint32_t id;
	int ret = emu_uar_create(c->ctx, &uar);

	if (ret != 0)
		return fw_refuse(c, FW_NO_RESOURCES, "%s", "UAR");
	id = htobe32(uar->obj.id);
	memcpy((uint8_t *)c->out + 4 * FW_OUT_ID_DW, &id, sizeof(id));
	c->created = &uar->obj;
	return 0;
}
