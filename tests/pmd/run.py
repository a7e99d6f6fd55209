# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Run one test program on two emulated ports that are connected; the audit must be clean.

Usage: run.py [--fault RULE]... [--emu OPTIONS] [--devargs DEVARGS] [--lcores LIST] [--bad-states N] [--left N]
       [--once TEXT] [--never TEXT] PROGRAM [ARGUMENT...]

--fault RULE      a fault rule of the emulator
--emu OPTIONS     further options of `mlxemu run`, as one argument
--devargs, --lcores  as for EAL
--bad-states N    the audit must have exactly N violations "bad state", that is MODIFY commands whose current
                  state the queue has already left, and no other violation
--once TEXT       the program's output has this text exactly once
--never TEXT      it does not have this text
--left N          N devices must still be open at the end: libmlx5 closes a removed device only after minutes
"""
import pmdlib
import sys

from e2e import MLXEMU, PLUGIN, check, emu, main


def run():
    args, faults, extra, bad_states, left, once, never, eal = sys.argv[1:], [], [], 0, 0, None, None, {"lcores": "0"}
    while args[0].startswith("--"):
        if args[0] == "--fault":
            faults.append(args[1])
        elif args[0] == "--emu":
            extra = args[1].split()
        elif args[0] == "--bad-states":
            bad_states = int(args[1])
        elif args[0] == "--left":
            left = int(args[1])
        elif args[0] == "--once":
            once = args[1]
        elif args[0] == "--never":
            never = args[1]
        else:
            eal[args[0][2:]] = args[1]
        args = args[2:]
    result = emu([args[0], *pmdlib.eal(**eal), *args[1:]], faults=faults, timeout=600,
                 extra=extra)
    # The emulator prints a line for each hit of a rule; omit them.
    lines = [line for line in result.out.splitlines() if not line.startswith("fault ")]
    print("\n".join(lines)[-20000:])
    if bad_states:
        check(result.status == 3 and result.report["violation total bad state"] == bad_states and
              result.report["audit"] == f"0 left, {bad_states} violations",
              f"exit status {result.status}, audit {result.report['audit']}")
    elif left:
        opened = sum(result.report.get(f"ledger end port {n} open_devices", 0) for n in (0, 1))
        check(result.status == 3 and opened == left and result.report["audit"] == f"{left} left, 0 violations",
              f"exit status {result.status}, {opened} open, audit {result.report['audit']}")
    else:
        check(result.status == 0, f"exit status {result.status}")
    check(once is None or result.out.count(once) == 1, f"{result.out.count(once or '')} times: {once}")
    check(never is None or never not in result.out, f"output has: {never}")
    # A program that used no device would have a clean audit as well.
    check(result.report.port(0, "rx_frames") > 0, "port 0 received nothing")


main(run, needs=[MLXEMU, PLUGIN])
