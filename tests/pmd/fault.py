# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Each firmware command after probe is refused once, all in turn: see test_fault.c.

Usage: fault.py PROGRAM [--long]

Only each fifth command, beginning at another one each day; all of them with --long. A refused destroy or a refused
mkey leaves an object to the kernel, which the audit then counts; everything else must be clean.
"""
import re
import sys
import time

import pmdlib
from e2e import check, emu, main

PROGRAM = sys.argv[1]
EVERY = 1 if pmdlib.long_run() else 5
TOTAL = re.compile(r"^fault_commands (\d+)", re.M)


def once(fault):
    return emu([PROGRAM, *pmdlib.eal(lcores="0")], faults=[fault] if fault else [], timeout=60)


def run():
    plain = once(None)
    check(plain.status == 0, plain.out[-3000:])
    total = int(TOTAL.search(plain.out).group(1))
    failed = took = 0
    begin = int(time.time() / 86400) % EVERY
    for k in range(begin, total, EVERY):
        result = once(f"on cmd.entry after {k} count 1 do fail status=NO_RESOURCES")
        refused = re.findall(r"(\w+) \(0x\w+\) refused", result.out)
        ended = re.search(r"operations failed: (\d)", result.out)
        took += 1
        if ended is None:
            # A refusal during probe: no two ports, and nothing else is asked of it here.
            check("FAILED" in result.out and "two are needed" in result.out,
                  f"command {k} {refused}: {result.out[-3000:]}")
            continue
        failed += int(ended.group(1))
        destroys = [name for name in refused if name.startswith(("DESTROY", "DEALLOC"))]
        check(result.status == 0 or (result.status == 3 and destroys),
              f"command {k} {refused}: status {result.status}\n{result.out[-3000:]}")
    check(failed > 0, "no refusal made an operation fail")
    print(f"{took} of {total} commands refused in turn, {failed} made an operation fail")


main(run)
