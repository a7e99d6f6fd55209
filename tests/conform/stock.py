# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Debian's dpdk-testpmd with DPDK's own mlx5 PMD, unmodified, on the emulator.

Usage: stock.py CASE [--wrong | --mlxpmd]
"""
import conform
import stock_bond
import stock_bugs
import stock_enhanced
import stock_flow
import stock_forward
import stock_items
import stock_modify
import stock_offload
import stock_random
import stock_split
import stock_stats
import stock_verbs

conform.main([*stock_forward.CASES, *stock_enhanced.CASES, *stock_flow.CASES, *stock_items.CASES, *stock_modify.CASES,
              *stock_random.CASES, *stock_bond.CASES, *stock_offload.CASES, *stock_split.CASES,
              *stock_verbs.CASES, *stock_stats.CASES, *stock_bugs.CASES])
