/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The L2 table of the MPFS, the switch between the functions of a card: it has the unicast addresses of
 * this function. The owner of the function, normally the kernel's driver, writes the entries: index,
 * address, optional VLAN.
 */
#include <string.h>

#include "fw.h"

static int
entry_of(struct fw_cmd *c, unsigned index, struct emu_l2_entry **entry)
{
	*entry = NULL;
	if (!c->dev->l2.on)
		return fw_refuse(c, FW_L2_NONE, "%s", "log_max_l2_table is 0");
	if (index >= EMU_L2_ENTRIES)
		return fw_refuse(c, FW_L2_INDEX, "table_index %u of %u", index, EMU_L2_ENTRIES);
	*entry = &c->dev->l2.entry[index];
	return 0;
}

int
fw_set_l2_table_entry(struct fw_cmd *c)
{
	struct emu_l2_entry *entry;
	const uint8_t *mac =
		(uint8_t *)prm_set_l2_table_entry_in_mac_address(c->in)->dw + 2;
	int ret = entry_of(c, prm_set_l2_table_entry_in_get_table_index(c->in), &entry);

	if (ret != 0)
		return ret;
	if ((mac[0] & 1) != 0)
		return fw_refuse(c, FW_L2_ADDRESS, "%02x:...", mac[0]);
	if (prm_set_l2_table_entry_in_get_silent_mode_valid(c->in))
		return fw_refuse(c, FW_L2_FEATURE, "%s", "silent_mode");
	entry->used = true;
	entry->vlan_valid = prm_set_l2_table_entry_in_get_vlan_valid(c->in);
	entry->vlan = (uint16_t)prm_set_l2_table_entry_in_get_vlan(c->in);
	memcpy(entry->mac, mac, sizeof(entry->mac));
	return 0;
}

int
fw_query_l2_table_entry(struct fw_cmd *c)
{
	struct emu_l2_entry *entry;
	int ret = entry_of(c, prm_query_l2_table_entry_in_get_table_index(c->in), &entry);

	if (ret != 0)
		return ret;
	if (!entry->used)
		return fw_refuse(c, FW_L2_EMPTY, "table_index %u",
				 prm_query_l2_table_entry_in_get_table_index(c->in));
	prm_query_l2_table_entry_out_set_vlan_valid(c->out, entry->vlan_valid);
	prm_query_l2_table_entry_out_set_vlan(c->out, entry->vlan);
	memcpy((uint8_t *)prm_query_l2_table_entry_out_mac_address(c->out)->dw + 2, entry->mac,
	       sizeof(entry->mac));
	return 0;
}

int
fw_delete_l2_table_entry(struct fw_cmd *c)
{
	struct emu_l2_entry *entry;
	int ret = entry_of(c, prm_delete_l2_table_entry_in_get_table_index(c->in), &entry);

	if (ret != 0)
		return ret;
	if (!entry->used)
		return fw_refuse(c, FW_L2_EMPTY, "table_index %u",
				 prm_delete_l2_table_entry_in_get_table_index(c->in));
	memset(entry, 0, sizeof(*entry));
	return 0;
}

void
fw_l2_clear(struct fw_cmd *c)
{
	struct emu_l2_table *t = &c->dev->l2;
	unsigned left = 0;

	for (unsigned i = 0; i < EMU_L2_ENTRIES; i++)
		left += t->entry[i].used;
	if (left != 0)
		emu_audit_left(c->dev, "L2 table entry", left);
	memset(t->entry, 0, sizeof(t->entry));
}
