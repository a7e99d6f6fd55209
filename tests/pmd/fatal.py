# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Fatal errors of a device under traffic; the audit must be clean: no DMA to memory that was given back.

Usage: fatal.py [--long] [--devargs DEVARGS] verbs|vfio PROGRAM [CASE]

Runs the case, or all of them, a few times, moved in time from run to run; --long: 100 times each.
"""
import sys
import time

import pmdlib
from e2e import MLXEMU, PLUGIN, check, emu, main

# Runs of each case in the short form.
ROUNDS = {"notified": 2, "closed": 3, "during": 5}
# The application's memory stays with the device: so does its context.
KEEPS = "never"


def one(mode, devargs, program, case, variant):
    vfio = mode == "vfio"
    devargs = ",".join(["open=vfio"] * vfio + [devargs] * bool(devargs))
    result = emu([program, *pmdlib.eal(devargs, lcores="0"), "--", case, str(variant)], timeout=120,
                 extra=["--open", "vfio"] if vfio else [])
    print("\n".join(line for line in result.out.splitlines() if not line.startswith("fault "))[-8000:])
    opened = sum(result.report.get(f"ledger end port {n} open_devices", 0) for n in (0, 1))
    keeps = case == KEEPS
    want = f"{opened} left, 0 violations" if opened else "clean"
    audit = result.report.get("audit", "none: the program was killed")
    check(result.status == (3 if opened else 0) and opened <= 1 and (opened or not keeps) and
          audit == want, f"{case} {variant}: exit status {result.status}, {opened} open, audit {audit}: "
          f"{[v for k, v in result.report.items() if k.startswith('violation')]}")
    return result.out


def never_check(out, mode):
    """Memory that is kept is named once, after the time that the kernel, or the card by itself, has for a reset."""
    limit = "after 10000 ms" if mode == "verbs" else "after 2000 ms"
    lines = [line for line in out.splitlines() if "is not quiesced" in line]
    check(len(lines) == 1 and limit in lines[0], f"lines about the memory: {lines}")


def run():
    args = [a for a in sys.argv[1:] if a != "--long"]
    devargs = args[1] if args[0] == "--devargs" else ""
    mode, program, *cases = args[2:] if devargs else args
    for case in cases or ROUNDS:
        begin, rounds = time.monotonic(), 100 if pmdlib.long_run() else ROUNDS.get(case, 1)
        for variant in range(rounds):
            out = one(mode, devargs, program, case, variant)
            if case == KEEPS:
                never_check(out, mode)
            print(f"{mode} {case} {variant + 1} of {rounds}, {time.monotonic() - begin:.0f} s", flush=True)


main(run, needs=[MLXEMU, PLUGIN])
