#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Loads of the live counter by every instruction that compilers make for it.

usage: test_loads.py MLXEMU LOADS

Builds loads_c.c and loads_asm.S with each compiler found, at several -O and -march, and
gives the objects to LOADS under `mlxemu run`.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = ["gcc", "clang"]
LEVELS = ["-O0", "-O1", "-O2", "-Os", "-O3"]
MACHINES = {"x86-64": "sse2", "x86-64-v3": "avx2", "x86-64-v4": "avx512bw"}
JOBS = 2


def commands(directory, flags):
    for cc in filter(shutil.which, COMPILERS):
        for level in LEVELS:
            for machine, flag in MACHINES.items():
                if flag in flags:
                    out = directory / f"{cc}{level}-{machine}.so"
                    yield out, [cc, level, "-march=" + machine, "-fPIC", "-shared", "-Wno-psabi", "-o", out,
                                HERE / "loads_c.c", HERE / "loads_asm.S"]


def build(directory):
    flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1].split())
    objects, running = [], []
    for out, command in commands(directory, flags):
        if len(running) == JOBS:
            wait(running.pop(0))
        running.append(subprocess.Popen(command))
        objects.append(out)
    for process in running:
        wait(process)
    return objects


def wait(process):
    if process.wait() != 0:
        sys.exit(f"{' '.join(map(str, process.args))}: exit status {process.returncode}")


def main():
    mlxemu, loads = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="loads-") as directory:
        objects = build(pathlib.Path(directory))
        if not objects:
            print("no compiler")
            sys.exit(77)
        trace = pathlib.Path(directory) / "trace"
        done = subprocess.run([mlxemu, "run", "--audit", "--trace", trace, "--clock", "virtual", "--", loads, *objects])
        # Instructions without a copy, by address and first bytes.
        print(*re.findall(r".*the counter moves.*", trace.read_text()), sep="\n")
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
