/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Marks in arm64 programs between which count_plugin.c counts. They are hints that no architecture version assigns, and
 * which every processor executes as NOP (Arm ARM, HINT).
 */
#ifndef PERF_MARK_H
#define PERF_MARK_H

#define PERF_MARK_BEGIN 100
#define PERF_MARK_END 101
/** HINT #number. */
#define PERF_MARK_OPCODE(number) (0xd503201fu | (number) << 5)

#endif /* PERF_MARK_H */
