# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs one test program on two emulated ports and one cable; the audit must be clean.

Usage: run.py [--fault RULE]... PROGRAM [ARGUMENT...]
"""
import pmdlib
import sys

from e2e import check, emu, main


def run():
    args, faults = sys.argv[1:], []
    while args[0] == "--fault":
        faults.append(args[1])
        args = args[2:]
    result = emu([args[0], *pmdlib.eal(lcores="0"), *args[1:]], faults=faults, timeout=600)
    # The emulator's report has a line for each hit of a rule.
    lines = [line for line in result.out.splitlines() if not line.startswith("fault ")]
    print("\n".join(lines)[-20000:])
    check(result.status == 0, f"exit status {result.status}")
    # A program that opened no device would be clean as well.
    check(result.report.port(0, "rx_frames") > 0, "port 0 received nothing")


main(run)
