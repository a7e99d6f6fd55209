#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A clock page that cannot be trusted: programs start and end in time, and no stamp is wrong.

The page is torn (the kernel seems to be writing for ever) or changes at each look. Then there is
either no timestamp at all or, where a look succeeded, a right one.
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
    # auto asks the page once and goes by the host's clock after that
    for clock in ("page", "auto"):
        for action in ("tear", "flip", "freeze"):
            one(action, clock)


main(test)
