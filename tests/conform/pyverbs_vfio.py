#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""rdma-core's VFIO test on Ethernet ports (vfio_ethernet.py), and once more per fault rule."""
import os
import pathlib
import subprocess
import sys
import tempfile

import pyverbs

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = ["--seed", "0", "--ports", "2", "--wire", "loop", "--open", "vfio", "--audit"]
CASES = ["test_event", "test_traffic"]
# With the rule the named cases have to fail.
RULES = [
    ("on dma.read do set off=0", ["test_traffic"]),
    ("on cmd.exit match op=CREATE_EQ after 1 do fail status=NO_RESOURCES", ["test_event"]),
]


def run(mlxemu, tests, extra=()):
    """Output of a run, its exit status."""
    done = subprocess.run([mlxemu, "run", *OPTIONS, *extra, "--", pyverbs.PYTHON,
                           str(HERE / "vfio_ethernet.py"), str(tests)], timeout=120, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout, done.returncode


def main():
    if os.geteuid() != 0 or not pyverbs.TESTS.is_dir():
        print("needs root and the tests of python3-pyverbs")
        sys.exit(77)
    mlxemu = os.path.join(os.environ["MLXPMD_BUILD"], "devtools/mlxemu/mlxemu")
    with tempfile.TemporaryDirectory(prefix="pyverbs-") as directory:
        tests = pyverbs.Runner(mlxemu, directory).tests
        out, status = run(mlxemu, tests)
        missing = [c for c in CASES if f"VfioEthernet.{c}) ... ok" not in out]
        if status != 0 or missing or "audit: clean" not in out:
            sys.exit(f"status {status}, not passed: {missing}\n{out[-4000:]}")
        for rule, cases in RULES:
            out, status = run(mlxemu, tests, ["--fault", rule])
            passed = [c for c in cases if f"VfioEthernet.{c}) ... ok" in out]
            if status == 0 or passed or "Ran 2 tests" not in out:
                sys.exit(f"{rule}: not noticed by {passed}\n{out[-4000:]}")
    print(f"{len(CASES)} cases passed, {len(RULES)} rules noticed")


main()
