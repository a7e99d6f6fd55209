#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Print the table of conformance cases of a test run, from the lines `case: {...}` in meson's testlog.json."""
import json
import re
import sys

MARK = "case: "
COLUMNS = [("name", "case", "<"), ("shows", "what it shows", "<"), ("packets", "packets", ">"),
           ("result", "result", "<"), ("seconds", "s", ">")]


def rows(path):
    with open(path, encoding="utf-8") as log:
        for line in log:
            test = json.loads(line)
            cases = [json.loads(text[len(MARK):]) for text in test.get("stdout", "").splitlines()
                     if text.startswith(MARK)]
            yield from cases
            # A test that timed out or was killed prints no case. Its name: "mlxpmd:conform / NAME", with newer meson
            # "conform - mlxpmd:NAME".
            if "conform" in test.get("suite", test["name"]) and not cases:
                yield {"name": re.split(" / |:", test["name"])[-1], "shows": "", "packets": 0,
                       "result": test["result"], "seconds": round(test["duration"], 1)}


def text_of(key, value):
    return f"{value:,}" if key == "packets" and value else "" if value in (0, "") else str(value)


def main(path):
    try:
        found = list(rows(path))
        cells = [[text_of(key, row.get(key, "")) for key, _, _ in COLUMNS] for row in found]
    except (OSError, ValueError, KeyError) as err:
        print(f"conform-table: {path}: {err}", file=sys.stderr)
        return 1
    if not cells:
        return 0
    titles = [title for _, title, _ in COLUMNS]
    widths = [max(len(row[i]) for row in [titles, *cells]) for i in range(len(COLUMNS))]
    for row in [titles, ["-" * w for w in widths], *cells]:
        print("  ".join(f"{cell:{align}{width}}"
                        for cell, width, (_, _, align) in zip(row, widths, COLUMNS)).rstrip())
    print(f"{len(found)} rows, {sum(row['packets'] for row in found):,} packets, "
          f"{sum(row['seconds'] for row in found):.0f} s\n")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: conform-table.py testlog.json")
    sys.exit(main(sys.argv[1]))
