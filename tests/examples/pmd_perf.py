#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's measurement of a driver, pmd_perf_autotest, on a port whose PHY returns what it sends (lpbk_mode).

The test runs until the port has received what its link carries in 2 s. Its signal SIGUSR1 ends it earlier.

Usage: pmd_perf.py [--packets N]

--packets N  packets to wait for (default 200,000)
"""
import json
import re
import signal
import sys

import exlib
from e2e import MLXEMU, PLUGIN, check, main, testlib

PACKETS = int(sys.argv[sys.argv.index("--packets") + 1]) if "--packets" in sys.argv else 200_000
SECONDS = max(exlib.WAIT_S, PACKETS / 10_000)


def sent(test):
    return json.loads(test.ctl("--json", "counters"))["ports"][0]["tx_frames"]


def run():
    # No cable: the link is that of the PHY alone.
    with exlib.Example("dpdk-test", ["pmd_perf_autotest"], mode="vfio", ports=1, up=False, connect=False,
                       memory_mb=1024) as test:
        test.wait("Test will stop after at least")
        check(testlib.await_until(lambda: sent(test) >= PACKETS, SECONDS, pause=0.1), f"{sent(test)} packets")
        report = test.stop(signal.SIGUSR1)
        log = test.log()
    check("Test OK" in log, log[-2000:])
    packets = int(re.search(r"^(\d+) packet, ", log, re.M)[1])
    cycles = int(re.search(r"^Result: (\d+) cycles per packet", log, re.M)[1])
    check(packets >= PACKETS / 2, f"{packets} packets received")
    check(report["port 0 rx_delivered_frames"] >= packets, report.text)
    print(f"{packets} packets, {cycles} cycles per packet")


main(run, needs=[MLXEMU, PLUGIN])
