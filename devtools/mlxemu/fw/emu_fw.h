/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Firmware: executes commands of contexts. */
#ifndef EMU_FW_H
#define EMU_FW_H

#include "../core/emu_obj.h"
#include "../dp/emu_dp_table.h"

/**
 * Executes a command mailbox. Call with the lock held.
 *
 * The inbox's uid is taken from ctx. out is zeroed and filled; status and syndrome are set.
 * @param created receives the new object for create commands, else NULL. May be NULL.
 * @return 0 when status is OK, -EREMOTEIO when the firmware refused (status and syndrome in out),
 *   -EINVAL when the mailboxes are too short to hold a command.
 */
int emu_fw_exec(struct emu_ctx *ctx, const void *in, size_t in_len, void *out, size_t out_len,
		struct emu_obj **created);
/** The same for a command of the kernel's driver itself, with the uid in the inbox. */
int emu_fw_exec_kernel(struct emu_ctx *ctx, const void *in, size_t in_len, void *out, size_t out_len);
/** Destroys a firmware object by its destroy command (traced). 0 or -EREMOTEIO. */
int emu_fw_destroy(struct emu_ctx *ctx, struct emu_obj *obj, void *out, size_t out_len);
/**
 * Reports completed entries of a VFIO context's command queue by a CMD event; one bit per slot. False: no
 * EQ takes the event, so the program has to poll.
 */
bool emu_fw_command_done(struct emu_ctx *ctx, uint32_t slots);
/** emu_dp_group_at() of a program's table. */
bool emu_fw_group_at(const struct emu_flow_table *t, unsigned i, const struct dp_rule *rule, struct dp_group_info *g);
/** The index in its table of a rule that is an entry of a program's table. */
uint32_t emu_fw_rule_index(const struct dp_rule *rule);
/** True when the page of event capabilities allows programs to subscribe to the event. */
bool emu_fw_event_raised(uint16_t type, bool affiliated);

#endif /* EMU_FW_H */
