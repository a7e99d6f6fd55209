# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Compiles all chosen faults into one copy of the sources, each behind a switch (see mutant_switch.h)."""
import os
import re
import subprocess

from tree import HERE, copy_tree

INCLUDE = '#include "mutant_switch.h"\n'
SWITCH = "mutant_switch.h"


def rendered(text, numbered):
    """The text with the faults in: [(number, site)]."""
    numbered = sorted(numbered, key=lambda item: (item[1].start, -item[1].end))
    return INCLUDE + _range(text, 0, len(text), numbered)


def _range(text, start, end, numbered):
    out, at = [], start
    while numbered:
        first = numbered[0][1]
        if first.start < at or first.end > end:
            # It overlaps with the one before it; the caller sees that its number is missing.
            numbered = numbered[1:]
            continue
        span = (first.start, first.end)
        same = [item for item in numbered if (item[1].start, item[1].end) == span]
        inner = [item for item in numbered if item not in same and item[1].start < first.end]
        numbered = [item for item in numbered if item[1].start >= first.end]
        body = _range(text, *span, inner)
        if first.form == "statement":
            body = f"{{ if (!mutant_on({same[0][0]})) {{ {body} }} }}"
        else:
            if {site.new for _, site in same} & {"0", "1"} and first.kind in ("condition", "error check"):
                body = f"!!({body})"
            choices = " : ".join(f"mutant_on({number}) ? ({site.new})" for number, site in same)
            body = f"({choices} : ({body}))"
        out += [text[at:first.start], body]
        at = first.end
    return "".join([*out, text[at:end]])


def planted(root, numbered):
    """{file name: bytes} of the files that faults are in, and the header."""
    files = {}
    for number, site in numbered:
        files.setdefault(site.file, []).append((number, site))
    out = {name: rendered((root / name).read_bytes().decode("latin-1"), items).encode("latin-1")
           for name, items in files.items()}
    header = (HERE / SWITCH).read_bytes()
    for folder in {os.path.dirname(name) for name in files}:
        out[f"{folder}/{SWITCH}"] = header
    return out


def guilty(log, tree, build):
    """Numbers of the faults on the lines of compiler errors. RuntimeError if an error is on none."""
    numbers, strange = set(), []
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", log)
    for name, line in set(re.findall(r"^([^\s:]+):(\d+):\d+: (?:fatal )?error:", plain, re.MULTILINE)):
        path = os.path.normpath(os.path.join(build, name))
        lines = open(path, encoding="latin-1").read().split("\n") if os.path.isfile(path) else []
        for near in (0, -1, 1, -2, 2, -3, -4):
            at = int(line) - 1 + near
            here = re.findall(r"mutant_on\((\d+)\)", lines[at]) if 0 <= at < len(lines) else []
            if here:
                numbers.update(int(n) for n in here)
                break
        else:
            strange.append(f"{path}:{line}")
    if not numbers:
        raise RuntimeError(f"compiling: errors at {strange}\n{log[-3000:]}")
    return numbers


def build_all(root, tree, build, numbered, targets, say):
    """Plants and compiles; drops the faults that do not compile. @return the numbers that are in."""
    numbered = dict(numbered)
    while True:
        files = planted(root, numbered.items())
        present = {int(n) for data in files.values() for n in re.findall(rb"mutant_on\((\d+)\)", data)}
        numbered = {n: site for n, site in numbered.items() if n in present}
        copy_tree(tree, files)
        say(f"compiling {len(numbered)} faults")
        done = subprocess.run(["ninja", "-k", "0", "-C", str(build), *targets], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode == 0:
            return set(numbered)
        bad = guilty(done.stdout.decode(errors="replace"), tree, build)
        say(f"{len(bad)} do not compile as switches")
        numbered = {n: site for n, site in numbered.items() if n not in bad}
