# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's examples that need features which the driver does not have: they exit, and a line has the reason.

Usage: refused.py ip_reassembly|ipv4_multicast PROGRAM [MODE]...
       refused.py secondary SYMMETRIC_MP [MODE]...: needs 384 MiB of free hugepages
"""
import dataclasses
import os
import pathlib
import subprocess
import sys

import exlib
from exlib import WAIT_S, Example, check, e2e


@dataclasses.dataclass
class Refused:
    args: list
    line: str
    options: dict = dataclasses.field(default_factory=dict)


# They set the largest MTU with mbufs of 2048 bytes, without Rx offload scatter.
NO_SCATTER = r"^.*mlxpmd: port 0 Rx queue 0: frames of up to 9728 bytes \(MTU 9710\) do not fit into 2048: " \
             r"allowed with Rx offload scatter or larger mbufs$"
REFUSED = {
    "ip_reassembly": Refused(["-p", "3", "-q", "1", "--maxflows=100", "--flowttl=10s"], NO_SCATTER,
                             {"memory_mb": 768}),
    "ipv4_multicast": Refused(["-p", "3", "-q", "1"], NO_SCATTER, {"memory_mb": 768}),
}


def refused(name, program, mode):
    case = REFUSED[name]
    with Example(program, case.args, mode, connect=False, **case.options) as example:
        example.wait(case.line)
        example.stop(None, status=1)
    print(f"{name}, {mode}: refused, nothing left")


HUGE_MB = 384


def huge_pages_free():
    words = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return int(words.get("HugePages_Free", "0")) * int(words.get("Hugepagesize", "0 kB").split()[0]) // 1024


def secondary(program, mode):
    """The second process of symmetric_mp prints the reason; the first one continues to run."""
    if huge_pages_free() < HUGE_MB or "hugetlbfs" not in pathlib.Path("/proc/mounts").read_text():
        e2e.skip(f"processes can share memory only with hugepages, and {HUGE_MB} MiB are not free and mounted")
    args = ["-p", "3", "--num-procs=2"]
    first_args = [*args, "--proc-id=0"]
    with Example(program, first_args, mode, lcores="0", memory_mb=HUGE_MB - 64, shared=True) as first:
        first.wait("Lcore 0 using ports")
        again = first.again("--proc-type=secondary", [*args, "--proc-id=1"])
        done = subprocess.run(again, env={**os.environ, "TMPDIR": first.work.name}, timeout=WAIT_S, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = done.stdout.decode(errors="replace")
        for address in e2e.PCI[:2]:
            check(f"mlxpmd: {address}: secondary processes are not supported" in output, output)
        check(done.returncode == 1, f"exit status {done.returncode}\n{output}")
        check(first.process.poll() is None, "the first process ended")
    print(f"secondary, {mode}: refused")


def run():
    name, program, *given = sys.argv[1:]
    for mode in exlib.modes(given, "verbs"):
        if name == "secondary":
            secondary(program, mode)
        else:
            refused(name, program, mode)


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
