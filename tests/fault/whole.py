# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A whole program with the driver: each firmware command and registration of testpmd's life is refused in turn.

The matrix (sweep.py) checks operations one by one; here the process goes on, or ends, as testpmd does. Nothing may
crash, hang or be left behind.
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import e2e  # noqa: E402
from e2e import check  # noqa: E402

TESTPMD = shutil.which("dpdk-testpmd")
JOBS = len(os.sched_getaffinity(0))


def run():
    if TESTPMD is None:
        e2e.skip("dpdk-testpmd is not installed")
    prefix = f"whole{os.getpid()}."
    for slot in range(JOBS):
        e2e.testlib.runtime_dir_removed(f"{prefix}{slot}")
    command = [e2e.MLXEMU, "sweep", "--short", "--of", "commands,registrations", "--jobs", str(JOBS), "--",
               TESTPMD, *e2e.eal(ports=1, memory_mb=128, lcores="0@0,1@0"), "--file-prefix", f"{prefix}@SLOT@",
               "--log-level=1", "--", "--total-num-mbufs=2048", "--tx-first"]
    status, out = e2e.finish(command, 1500)
    print(out)
    check(status == 0, f"exit status {status}")
    check(" CREATE_SQ " in out, "no queue was created")


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
