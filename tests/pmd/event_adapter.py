# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's own test of event adapters that sleep on the interrupts of queues, with 64 queues of a port of mlxpmd."""
import re

import pmdlib
from e2e import MLXEMU, PCI, PLUGIN, check, emu, main

# The test creates 524,288 mbufs for a port.
MEMORY_MB = 3072
TEST, CASES = "event_eth_rx_intr_adapter_autotest", 2


def run():
    args = pmdlib.eal(memory_mb=MEMORY_MB, lcores="0")
    # One port only: each has mbufs of its own.
    at = next(i for i, word in enumerate(args) if word.startswith(PCI[1]))
    result = emu(["dpdk-test", *args[:at - 1], *args[at + 1:], TEST], ports=1, wires=["0=loop"], timeout=120)
    print(result.out[-6000:])
    counts = {word: int(n) for word, n in re.findall(r"Tests (\w+) *: *(\d+)", result.out)}
    check(counts.get("Failed") == 0 and counts.get("Passed", 0) >= CASES, counts)
    check("net_mlxpmd" in result.out, "no port of mlxpmd")
    check(result.status == 0 and result.report["audit"] == "clean", f"{result.status}, {result.report.get('audit')}")


main(run, needs=[MLXEMU, PLUGIN])
