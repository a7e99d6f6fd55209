/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Faults by rule: the device, not the driver, is told to fail.
 *
 *   on cmd.entry [match op=NAME] [after N] [every K] [count C] do fail status=NAME [syndrome=0xN]
 *
 * after N: the first N matching commands pass. every K: of the rest each K-th (default 1).
 * count C: at most C times (default: no limit). The command is refused before it has any effect.
 */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Adds a rule. 0; -EINVAL with one line in err that names the word; -ENOMEM. */
int emu_fault_add(const char *rule, char *err, size_t err_len);
/** Removes all rules. */
void emu_fault_clear(void);
/** Asked once per command, lock held. True: refuse it with *status and *syndrome. */
bool emu_fault_command(uint16_t opcode, uint8_t *status, uint32_t *syndrome);
/** Commands asked about so far, and rules' hits. */
uint64_t emu_fault_commands(void);
uint64_t emu_fault_hits(void);

/** What a rule has done so far. */
struct emu_fault_info {
	const char *text; /**< As it was added. */
	uint64_t seen, hits;
	const char *last; /**< Name of what it hit last: a command, a call; "". */
};
/** The i-th rule; false behind the last. */
bool emu_fault_info(unsigned i, struct emu_fault_info *info);

#endif /* EMU_FAULT_H */
