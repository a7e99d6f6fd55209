#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""An inconsistent clock page: programs start and end in time, and no timestamp is wrong.

The page is torn (the kernel never finishes an update), changes at each read, or never changes. Then a packet has
either no timestamp, or a correct one from a read that succeeded.
"""
import time

from e2e import TEST_MLX, check, eal, emu, main

FRAMES = 100000
SECONDS = 40


def one(action, clock):
    start = time.monotonic()
    program = [TEST_MLX, *eal(devargs=f"clock={clock}"), "--", "--fwd", "gen", "--count", str(FRAMES),
               "--window", "256"]
    done = emu(program, wires=["pair:lossless"], faults=[f"on clock.page do {action}"],
               timeout=SECONDS)
    seconds = time.monotonic() - start
    check(done.status == 0, f"{clock}, {action}: exit {done.status}:\n{done.out[-3000:]}")
    check(done.report.get("audit") == "clean", f"{clock}, {action}: audit {done.report.get('audit')}")
    print(f"clock={clock}, page {action}: {FRAMES} frames a port, {seconds:.1f} s")


def test():
    # auto reads the page once, and then uses the host's clock
    for clock in ("page", "auto"):
        for action in ("tear", "flip", "freeze"):
            one(action, clock)


main(test)
