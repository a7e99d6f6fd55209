#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""No AVX instruction outside of the objects that are built for it: a CPU that has none would raise SIGILL there.

usage: baseline.py BUILD [--self-test]
"""
import json
import os
import re
import subprocess
import sys

FOLDERS = ("drivers/", "app/", "devtools/mlxemu/")
# Built with __attribute__((target("avx2"))), and called after __builtin_cpu_supports().
SELECTED = {"dp_csum.c": "sum_long"}
AVX = re.compile(r"%[yz]mm\d|\tv[a-z0-9]+ .*%xmm")


def found(path):
    """Functions of an object that contain such an instruction."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True,
                          text=True).stdout
    names, name = set(), "?"
    for line in text.split("\n"):
        if line.endswith(">:"):
            name = line.split("<")[1][:-2]
        elif AVX.search(line):
            names.add(name.split(".")[0])
    return names


def main():
    """0: none. 1: some, or nothing was examined."""
    build, planted = sys.argv[1], sys.argv[2:] == ["--self-test"]
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    examined, wrong = 0, []
    for entry in commands:
        path, source = os.path.join(build, entry["output"]), os.path.basename(entry["file"])
        if not entry["output"].startswith(FOLDERS) or not os.path.exists(path):
            continue
        # A planted fault: what is built for AVX counts as not.
        if "-mavx" in entry["command"] and not planted:
            continue
        examined += 1
        names = found(path) - {SELECTED.get(source)}
        wrong += [f"{entry['output']}: {name} uses AVX" for name in sorted(names)]
    print("\n".join(wrong[:20]))
    print(f"{examined} objects examined, {len(wrong)} functions use AVX")
    return 0 if examined > 50 and bool(wrong) == planted else 1


if __name__ == "__main__":
    sys.exit(main())
