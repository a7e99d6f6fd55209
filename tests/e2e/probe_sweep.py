#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Fails each firmware command in turn, from probe to close, and looks at what is left.

For each k the k-th command is refused. Then either the program ends with an error and a line that
names command and status, or it did not need that command; in both cases nothing is left on the
device, nothing unlawful was done, and the stock driver did not take the device. Arguments: the
statuses to refuse with. INTERNAL_ERR is not among the defaults: it comes out as EIO, and libibverbs
takes EIO of a destroy for a device that was removed, so that the caller never learns of it.
"""
import sys
import time

import e2e

STATUSES = sys.argv[1:] or ["NO_RESOURCES", "BAD_RES_STATE"]
LIMIT = 400


def run(k, status):
    rule = f"on cmd.entry after {k} count 1 do fail status={status}"
    program = [e2e.TEST_MLX, *e2e.eal(ports=1, memory_mb=256), "--",
               "--fwd", "rxonly", "--mbufs", "4096", "--run", "0"]
    return e2e.emu(program, ports=1, wires=["loop"], faults=[rule], timeout=60)


def judge(k, status, result):
    log = result.out[-3000:]
    e2e.check(result.status >= 0 and result.status < 128, f"k={k}: died: {result.status}\n{log}")
    e2e.check("net_mlx5" not in result.out, f"k={k}: the stock driver took the device\n{log}")
    e2e.check(result.report.get("audit") == "clean",
              f"k={k}: audit: {result.report.get('audit')}\n{result.report.text}\n{log}")
    if result.status != 0:
        # A command that the kernel gives itself comes back as the errno of the verbs call.
        named = [line for line in result.out.splitlines() if line.startswith("mlx5dv: ") and
                 (("refused" in line and status in line) or " failed: E" in line)]
        e2e.check(len(named) == 1, f"k={k}: {len(named)} lines name the refusal\n{log}")


def sweep(status):
    start = time.monotonic()
    failed = survived = 0
    for k in range(LIMIT):
        result = run(k, status)
        judge(k, status, result)
        if result.report.get("fault_hits", 0) == 0:
            e2e.check(result.status == 0, f"no fault, but it failed\n{result.out[-3000:]}")
            break
        failed += result.status != 0
        survived += result.status == 0
    else:
        e2e.check(False, f"still hit after {LIMIT} commands")
    e2e.check(failed > 10, f"only {failed} runs failed: the rule does not bite")
    print(f"{status}: {failed + survived} commands refused in turn: {failed} clean errors, "
          f"{survived} not needed or done again, 0 left, {time.monotonic() - start:.0f} s")


def test():
    for status in STATUSES:
        sweep(status)


e2e.main(test)
