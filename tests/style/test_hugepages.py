#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Programs that reserve hugepages at the same time: each has its own, and at the end the number is as before.

Usage: test_hugepages.py FOLDER: of hugepages.py. The kernel's numbers are files here, of which none is free.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import hugepages  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = "import sys, pathlib\nsys.path.insert(0, sys.argv[1])\nimport hugepages\n" \
          "hugepages.NUMBERS, hugepages.LOCKS = pathlib.Path(sys.argv[2]), sys.argv[3]\n" \
          "sys.argv[1:] = sys.argv[4:]\nsys.exit(hugepages.main())\n"


def main():
    """All files are in a folder of the test's own."""
    wrong = []

    def expect(what, found, wanted):
        if found != wanted:
            wrong.append(f"{what}: {found}, not {wanted}")

    with tempfile.TemporaryDirectory(prefix="mlxpmd-hugepages.") as work:
        hugepages.NUMBERS, hugepages.LOCKS = pathlib.Path(work), f"{work}/lock."
        for name, value in (("nr_hugepages", 7), ("free_hugepages", 7)):
            (hugepages.NUMBERS / name).write_text(str(value))

        def start(pages):
            return subprocess.Popen([sys.executable, "-c", PROGRAM, sys.argv[1], work, hugepages.LOCKS, str(pages)],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        # The first one needs 3 more; the others do not rely on the free ones, which are the first one's.
        first = start(10)
        expect("first", first.stdout.readline(), "reserved\n")
        expect("pages of the first", hugepages.number("nr_hugepages"), 10)
        expect("in use", hugepages.in_use(), True)
        rest = [start(pages) for pages in (20, 30, 40, 50)]
        expect("others", [program.stdout.readline() for program in rest], ["reserved\n"] * 4)
        expect("pages of all", hugepages.number("nr_hugepages"), 150)
        first.communicate()
        expect("pages without the first", hugepages.number("nr_hugepages"), 147)
        # Ended at the same time, in any order.
        random.shuffle(rest)
        for program in rest:
            program.stdin.close()
        expect("exit codes", [program.wait(60) for program in rest], [0] * 4)
        expect("pages at the end", hugepages.number("nr_hugepages"), 7)
        expect("in use at the end", hugepages.in_use(), False)
        # A lock ends with its program, also killed.
        killed = start(1)
        killed.stdout.readline()
        killed.kill()
        killed.communicate()
        expect("in use after a kill", hugepages.in_use(), False)
        (hugepages.NUMBERS / "nr_hugepages").unlink()
        refused = start(100)
        expect("not permitted", (refused.communicate()[0], refused.returncode), ("not permitted\n", 1))
    for line in wrong:
        print("FAILED:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
