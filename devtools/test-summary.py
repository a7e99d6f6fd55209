#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Summarise meson's testlog.json: skipped tests with reasons, and one line: N passed, N failed, N skipped."""
import collections
import json
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def reason(test):
    """The last line that a skipped test printed: why it was skipped."""
    lines = test.get("stdout", "").split("\n")
    return next((line.strip().removeprefix("SKIP: ") for line in reversed(lines) if line.strip()), "no reason given")


def main(path):
    count = collections.Counter()
    skipped = []
    try:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                result = test["result"]
                if result in PASSED:
                    count["passed"] += 1
                elif result in SKIPPED:
                    count["skipped"] += 1
                    skipped.append(f"{test['name']}: {reason(test)}")
                else:
                    count["failed"] += 1
    except (OSError, ValueError, KeyError) as err:
        print(f"test-summary: {path}: {err}", file=sys.stderr)
        return 1
    for name in skipped:
        print(f"skipped: {name}")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(
        **{k: count[k] for k in ("passed", "failed", "skipped")}))
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: test-summary.py testlog.json")
    sys.exit(main(sys.argv[1]))
