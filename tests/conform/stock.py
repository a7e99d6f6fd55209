# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Debian's dpdk-testpmd with DPDK's own mlx5 PMD, unmodified, on the emulator.

Usage: stock.py CASE [--lie]
"""
import conform
import stock_flow
import stock_forward

conform.main([*stock_forward.CASES, *stock_flow.CASES])
