# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's examples that need features which the driver does not have: they exit, and a line has the reason.

Usage: refused.py ip_reassembly|ipv4_multicast PROGRAM [MODE]...
"""
import dataclasses
import sys

import exlib
from exlib import Example, e2e


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


def run():
    name, program, *given = sys.argv[1:]
    for mode in exlib.modes(given, "verbs"):
        refused(name, program, mode)


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
