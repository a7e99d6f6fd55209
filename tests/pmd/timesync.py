# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Run a test program of PTP timestamps on two emulated ports, with the clock page as clock source.

Usage: timesync.py [--emu OPTION]... PROGRAM [-- ARGUMENT...]

--emu OPTION  a further option of `mlxemu run`
"""
import sys

import pmdlib
from e2e import check, emu, main


def run():
    args, extra = sys.argv[1:], []
    while args[0] == "--emu":
        extra.append(args[1])
        args = args[2:]
    # With the clock page timestamps are exact: no calibration by the driver.
    result = emu([args[0], *pmdlib.eal("clock=page", lcores="0"), *args[1:]], timeout=120, extra=extra)
    print(result.out[-20000:])
    check(result.status == 0, f"exit status {result.status}")
    check(result.report.port(0, "rx_frames") > 0, "port 0 received nothing")


main(run)
