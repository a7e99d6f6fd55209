# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs one test program on two emulated ports and one cable; the audit must be clean.

Usage: run.py PROGRAM [ARGUMENT...]
"""
import pmdlib
import sys

from e2e import check, emu, main


def run():
    result = emu([sys.argv[1], *pmdlib.eal(lcores="0"), *sys.argv[2:]], timeout=600)
    print(result.out[-20000:])
    check(result.status == 0, f"exit status {result.status}")
    # A program that opened no device would be clean as well.
    check(result.report.port(0, "rx_frames") > 0, "port 0 received nothing")


main(run)
