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
    """run(setup) returns how many packets were moved; shows: one line for the table; own: for mlxpmd, too."""
    name: str
    shows: str
    run: Callable
    rule: str
    own: bool = False


@dataclass
class Setup:
    """How a case is to be run: further options of `mlxemu run`, how much of it, and whether with mlxpmd."""
    emu_args: list = field(default_factory=list)
    scale: float = 1.0
    own: bool = False

    def packets(self, full):
        return max(1, int(full * self.scale))


def row(name, shows, packets, result, seconds):
    print("case: " + json.dumps({"name": name, "shows": shows, "packets": packets,
                                 "result": result, "seconds": round(seconds, 1)}), flush=True)


def run_case(case, own=False):
    """The truth: the case has to pass."""
    begin, result, packets = time.monotonic(), "failed", 0
    try:
        packets = case.run(Setup(scale=0.1 if SHORT else 1.0, own=own))
        result = "passed"
    except SystemExit:  # e2e.skip(), whose reason is the last line
        result = None
        raise
    finally:
        if result:
            row(case.name + (", mlxpmd" if own else ""), case.shows, packets, result, time.monotonic() - begin)


def run_own(case):
    """The same with mlxpmd, which has to behave as a release with the correction."""
    check(case.own, f"{case.name} is not for mlxpmd")
    run_case(case, own=True)


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
    """NAME [--wrong | --mlxpmd]: runs one case."""
    by_name = {case.name: case for case in cases}
    runners = {"": run_case, "--wrong": run_wrong, "--mlxpmd": run_own}
    name, runner = (sys.argv[1:] + ["", ""])[:2]
    if len(sys.argv) > 3 or name not in by_name or runner not in runners:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(by_name)} [--wrong | --mlxpmd]")
    e2e.main(lambda: runners[runner](by_name[name]), needs=[e2e.MLXEMU])
