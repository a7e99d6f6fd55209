# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What the tests with other people's software share: a case, its row of the table, and its fault rule.

A case is a function that drives a program that is not part of this project and checks its result. Its row is
printed as one line `case: {JSON}`, which devtools/conform-table gathers. Each case names one
fault rule (`mlxemu run --fault`) that makes a value wrong: with it the same checks have to fail.
"""
import json
import os
import pathlib
import sys
import time
from dataclasses import dataclass, field
from typing import Callable

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "e2e"), str(TESTS / "pmd")]
import e2e  # noqa: E402
from e2e import check  # noqa: E402


# The short form of the tests moves fewer packets.
SHORT = bool(os.environ.get("MLXPMD_SHORT"))


@dataclass
class Case:
    """run(setup) returns how many packets were moved; shows: one line for the table."""
    name: str
    shows: str
    run: Callable
    rule: str


@dataclass
class Setup:
    """How a case is to be run: further options of `mlxemu run`, and how much of it."""
    emu_args: list = field(default_factory=list)
    scale: float = 1.0

    def packets(self, full):
        return max(1, int(full * self.scale))


def row(name, shows, packets, result, seconds):
    print("case: " + json.dumps({"name": name, "shows": shows, "packets": packets,
                                 "result": result, "seconds": round(seconds, 1)}), flush=True)


def run_case(case):
    """The truth: the case has to pass."""
    begin, result, packets = time.monotonic(), "failed", 0
    try:
        packets = case.run(Setup(scale=0.1 if SHORT else 1.0))
        result = "passed"
    finally:
        row(case.name, case.shows, packets, result, time.monotonic() - begin)


def run_wrong(case):
    """With the rule: the case has to fail, by one of its own checks. A tenth of the packets will do."""
    begin, result, why = time.monotonic(), "not noticed", ""
    try:
        case.run(Setup(emu_args=["--fault", case.rule], scale=0.1))
    except e2e.Failed as err:
        result, why = "noticed", str(err).strip().splitlines()[0]
        check(not why.startswith("testpmd ended:"), f"{case.rule}: nothing ran: {err}")
    finally:
        row(f"{case.name}, wrong value", f"--fault '{case.rule}'", 0, result, time.monotonic() - begin)
    check(result == "noticed", f"{case.name} passes with --fault '{case.rule}'")
    print(f"noticed: {why}")


def main(cases):
    """NAME [--wrong]: runs one case."""
    by_name = {case.name: case for case in cases}
    args = [a for a in sys.argv[1:] if a != "--wrong"]
    if len(args) != 1 or args[0] not in by_name:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(by_name)} [--wrong]")
    runner = run_wrong if "--wrong" in sys.argv else run_case
    e2e.main(lambda: runner(by_name[args[0]]), needs=[e2e.MLXEMU])
