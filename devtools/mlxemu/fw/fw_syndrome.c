/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Reasons of refusals by syndrome. */
#include "emu_fw_syndrome.h"

#include <stddef.h>

#include "prm.h"

static const struct fw_syndrome_info infos[FW_SYNDROME_COUNT] = {
	[FW_OK] = {"OK", 0, PRM_STATUS_OK, "no refusal"},
#define ROW(name_, code_, status_, cause_) \
	[FW_##name_] = {#name_, code_, PRM_STATUS_##status_, cause_},
	FW_SYNDROMES(ROW)
#undef ROW
};

const struct fw_syndrome_info *
fw_syndrome_info(enum fw_syndrome s)
{
	return &infos[(unsigned)s < FW_SYNDROME_COUNT ? s : FW_OK];
}

const struct fw_syndrome_info *
fw_syndrome_explain(uint32_t code)
{
	for (unsigned i = FW_OK + 1; i < FW_SYNDROME_COUNT; i++)
		if (infos[i].code == code)
			return &infos[i];
	return NULL;
}
