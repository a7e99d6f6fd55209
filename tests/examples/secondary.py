# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's symmetric_mp as two processes: each forwards what arrives on its queue, together all frames.

Usage: secondary.py SYMMETRIC_MP [MODE]...: needs hugepages, which it reserves
"""
import signal
import subprocess

import exlib
from exlib import WAIT_S, Example, check, e2e
from forwarding import as_it_is, exactly, frames_udp

HUGE_MB = 384


def both(program, mode):
    args = ["-p", "3", "--num-procs=2"]
    with Example(program, [*args, "--proc-id=0"], mode, lcores="0", memory_mb=HUGE_MB - 64, shared=True) as first:
        first.wait("Lcore 0 using ports")
        # With lcores of their own, as DPDK requires: the memory pools have a cache for each.
        command = first.again(["--proc-type=secondary"], [*args, "--proc-id=1"])
        command[command.index("-l") + 1:command.index("-l") + 2] = ["1"]
        with subprocess.Popen(["stdbuf", "-oL", *command], env=first.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as second:
            try:
                line = ""
                while "using ports" not in line:
                    line = second.stdout.readline().decode(errors="replace")
                    check(line, f"the second process ended: {second.poll()}")
                sent = [frames_udp(port, ["10.0.0.1", "10.0.0.2"]) for port in (0, 1)]
                for port in (0, 1):
                    first.cables[port].send(*sent[port])
                got = [first.cables[port].receive(len(sent[1 - port])) + first.cables[port].quiet() for port in (0, 1)]
                exactly(as_it_is, in_order=False)(sent, got)
                second.send_signal(signal.SIGINT)
                second.communicate(timeout=WAIT_S)
            finally:
                e2e.end(second)
        report = first.stop(status=3, audit=None)
        check(report.get("audit", "").endswith(" left, 0 violations"), report.text)
    print(f"symmetric_mp, {mode}: {sum(map(len, sent))} frames forwarded by two processes")


exlib.main_of_two(both, HUGE_MB)
