#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Summarise meson's testlog.json: failed and skipped tests with reasons; one line: N passed, N failed, N skipped."""
import collections
import json
import re
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP"}


def printed(test):
    """The lines that a test printed, those of stderr last."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    return [line.strip() for line in text.split("\n") if line.strip()]


def why_skipped(test):
    """The last line that a skipped test printed."""
    return next((line.removeprefix("SKIP: ") for line in reversed(printed(test))), "no reason given")


def why_failed(test):
    """The first line with the reason, else the last line; before it meson's result, such as TIMEOUT."""
    lines = printed(test)
    found = [line for line in lines if re.search(r"\bFAILED\b|ERROR: |^Traceback|ThreadSanitizer", line)]
    return f"{test['result']}: {(found[:1] or lines[-1:] or ['nothing printed'])[0][:300]}"


def main(path):
    count = collections.Counter()
    notes = []
    try:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                result = test["result"]
                if result in PASSED:
                    count["passed"] += 1
                elif result in SKIPPED:
                    count["skipped"] += 1
                    notes.append(f"skipped: {test['name']}: {why_skipped(test)}")
                else:
                    count["failed"] += 1
                    notes.append(f"failed: {test['name']}: {why_failed(test)}")
    except (OSError, ValueError, KeyError) as err:
        print(f"test-summary: {path}: {err}", file=sys.stderr)
        return 1
    for note in sorted(notes):
        print(note)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(
        **{k: count[k] for k in ("passed", "failed", "skipped")}))
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: test-summary.py testlog.json")
    sys.exit(main(sys.argv[1]))
