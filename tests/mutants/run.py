#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Puts bugs that other drivers, or ours before, had into a copy of ours and sees which test catches each.

A test is run on the copy as it is before it runs on a mutant: it has to pass there. A change that
no longer fits the source, or that does not compile, is an error and not a catch, and so is a test
that takes too long, but for bugs of which that is the sign (`hangs`).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import yaml

from tree import HERE, ROOT, Broken, changed, copy_tree, must, run

# A test that takes so many times as long as it does on the driver as it is, hangs.
HANG_TIMES, HANG_S = 4, 20
EXAMPLES = """examples:
  tests/mutants/run.py                 all of mutants.yaml
  tests/mutants/run.py --only S1 S2    two of them
  tests/mutants/run.py --list          what there is
"""


class Runner:
    """The tests of one build folder: what they need, and how long they take on the driver as it is."""

    def __init__(self, build):
        self.build, self.seconds = build, {}
        self.tests = {test["name"]: test for test in self.introspect("--tests")}
        self.files = {target["id"]: target["filename"] for target in self.introspect("--targets")}

    def introspect(self, what):
        done = subprocess.run(["meson", "introspect", str(self.build), what], check=True,
                              stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def compile(self, test, what):
        """What the test and the programs that it starts are made of."""
        name = test.partition(":")[0]
        if name not in self.tests:
            raise Broken(f"there is no test '{name}'")
        files = [name for target in self.tests[name]["depends"] for name in self.files[target]]
        must(["ninja", "-C", str(self.build), *(os.path.relpath(f, self.build) for f in files)],
             f"{what}: compiling")

    def run(self, test, limit):
        """OK, FAIL, TIMEOUT or another result of meson."""
        name, _, case = test.partition(":")
        log = self.build / "meson-logs/testlog.json"
        log.unlink(missing_ok=True)
        env = dict(os.environ, CHECK_STOP="1", **({"PMD_TEST_ONLY": case} if case else {}))
        times = limit / self.tests[name]["timeout"]
        subprocess.run(["meson", "test", "-C", str(self.build), "--no-rebuild", "-t", f"{times:.3f}",
                        name], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        results = [json.loads(line)["result"] for line in log.read_text().splitlines()]
        return next((r for r in results if r != "OK"), "OK" if results else "nothing")

    def honest(self, test):
        """It passes on the driver as it is; run once."""
        if test in self.seconds:
            return
        self.compile(test, "the driver as it is")
        print(f"mutants: {test} on the driver as it is", flush=True)
        start = time.monotonic()
        result = self.run(test, 600)
        if result != "OK":
            raise Broken(f"test '{test}' on the driver without any bug put in: {result}")
        self.seconds[test] = time.monotonic() - start

    def catches(self, test, mutant):
        limit = max(HANG_S, HANG_TIMES * self.seconds[test])
        result = self.run(test, limit if mutant.get("hangs") else 10 * limit)
        if result not in ("OK", "FAIL", "ERROR") and not (result == "TIMEOUT"
                                                           and mutant.get("hangs")):
            raise Broken(f"{mutant['id']}: {test}: {result}, which proves nothing")
        return result != "OK"


def one(mutant, tree, runner):
    """Name of the test that caught it, or None."""
    texts = changed(mutant, tree)
    before = {path: path.read_text(encoding="utf-8") for path in texts}
    for test in mutant["tests"]:
        runner.honest(test)
        try:
            for path, text in texts.items():
                path.write_text(text, encoding="utf-8")
            runner.compile(test, mutant["id"])
            if runner.catches(test, mutant):
                return test
        finally:
            for path, text in before.items():
                path.write_text(text, encoding="utf-8")
    return None


def prepare(mutants, tree):
    """The runner of a copy; its build folder is inside, at the usual place, so that ccache finds both."""
    copy_tree(tree)
    for mutant in mutants:
        changed(mutant, tree)
    build = tree / "build"
    if not (build / "build.ninja").exists():
        print("mutants: configuring", flush=True)
        must(["meson", "setup", str(build), str(tree)], "configuring")
    return Runner(build)


def report(rows, work):
    caught = sum(row["caught_by"] is not None for row in rows)
    print(f"\n{'bug':4} {'caught by':22} {'s':>5}  what was done to the driver")
    for row in rows:
        print(f"{row['id']:4} {row['caught_by'] or 'NOTHING':22} {row['seconds']:5.0f}  {row['here']}")
    (work / "mutants.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(f"\nmutants: {caught} of {len(rows)} caught")
    return caught == len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutants",
                        help="copy and build go there (build-mutants)")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these bugs only")
    parser.add_argument("--check", action="store_true",
                        help="only see whether each change still has its place in the source")
    parser.add_argument("--list", action="store_true", help="print the bugs and stop")
    args = parser.parse_args()
    mutants = yaml.safe_load((HERE / "mutants.yaml").read_text(encoding="utf-8"))
    if args.only:
        unknown = set(args.only) - {m["id"] for m in mutants}
        if unknown:
            sys.exit(f"mutants: no such bug: {' '.join(sorted(unknown))} (see --list)")
        mutants = [m for m in mutants if m["id"] in args.only]
    if args.list:
        for m in mutants:
            print(f"{m['id']:4} {m['shipped']}")
        return 0
    work = args.work.resolve()
    rows = []
    try:
        if args.check:
            for m in mutants:
                changed(m, ROOT)
            print(f"mutants: {len(mutants)} changes have their place")
            return 0
        runner = prepare(mutants, work / "tree")
        for m in mutants:
            start = time.monotonic()
            caught = one(m, work / "tree", runner)
            rows.append({"id": m["id"], "here": m["here"], "shipped": m["shipped"],
                         "caught_by": caught, "seconds": time.monotonic() - start})
            print(f"mutants: {m['id']}: {'caught by ' + caught if caught else 'NOT CAUGHT'}",
                  flush=True)
    except Broken as err:
        print(f"mutants: {err}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mutants: interrupted", file=sys.stderr)
        return 130
    return 0 if report(rows, work) else 1


sys.exit(main())
