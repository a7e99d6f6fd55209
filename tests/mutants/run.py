#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Puts bugs that other drivers shipped into a copy of ours and sees which test catches each.

The tests are run on the copy as it is first: they have to pass there. A change that no longer
fits the source, or that does not compile, is an error and not a catch.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# What tests of whole programs run beside what a mutant changes.
PROGRAMS = ["devtools/mlxemu/mlxemu", "devtools/mlxemu/libmlxemu.so", "app/dpdk-test-mlx",
            "drivers/librte_net_mlxpmd.so", "tests/pmd/test_pmd_recover"]
EXAMPLES = """examples:
  tests/mutants/run.py                 all of mutants.yaml
  tests/mutants/run.py --only S1 S2    two of them
  tests/mutants/run.py --list          what there is
"""


class Broken(Exception):
    """The mutants cannot be judged."""


def run(command, timeout=900):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def must(command, what):
    status, out = run(command)
    if status != 0:
        raise Broken(f"{what} failed:\n{out[-3000:]}")


def copy_tree(tree):
    """The files that git knows, as they stand; unchanged ones keep their time for ninja."""
    tree.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"],
                           stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    known = set()
    for name in filter(None, names):
        source, copy = ROOT / name, tree / name
        if not source.is_file():
            continue
        known.add(copy)
        data = source.read_bytes()
        if copy.is_file() and copy.read_bytes() == data:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data)
        copy.chmod(source.stat().st_mode)
    for copy in tree.rglob("*"):
        if copy.is_file() and copy not in known and ".dpdk-src" not in copy.parts:
            copy.unlink()
    if not (tree / ".dpdk-src").exists():
        (tree / ".dpdk-src").symlink_to(ROOT / ".dpdk-src")


def changed(mutant, tree):
    """{path: text with the bug in}; each old text has to be there once."""
    texts = {}
    for change in mutant["change"]:
        path = tree / change["file"]
        text = texts.get(path, path.read_text(encoding="utf-8"))
        found = text.count(change["old"])
        if found != 1:
            raise Broken(f"{mutant['id']}: its place stands {found} times in {change['file']}")
        texts[path] = text.replace(change["old"], change["new"])
    return texts


def judge(build, test, seconds):
    """OK, FAIL or TIMEOUT."""
    log = build / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    try:
        run(["meson", "test", "-C", str(build), "--no-rebuild", test], seconds)
    except subprocess.TimeoutExpired:
        return "TIMEOUT"
    results = [json.loads(line)["result"] for line in log.read_text().splitlines()]
    if not results:
        raise Broken(f"there is no test '{test}'")
    if "SKIP" in results:
        raise Broken(f"test '{test}' was skipped and can catch nothing")
    return next((r for r in results if r != "OK"), "OK")


def one(mutant, tree, build):
    """Name of the test that caught it, or None."""
    texts = changed(mutant, tree)
    before = {path: path.read_text(encoding="utf-8") for path in texts}
    try:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        must(["ninja", "-C", str(build), *mutant["needs"]], f"{mutant['id']}: compiling")
        for test in mutant["tests"]:
            verdict = judge(build, test, 400)
            if verdict == "TIMEOUT" and not mutant.get("hangs"):
                raise Broken(f"{mutant['id']}: {test} took too long, which proves nothing")
            if verdict != "OK":
                return test
        return None
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")


def prepare(mutants, tree, build):
    copy_tree(tree)
    for mutant in mutants:
        changed(mutant, tree)
    if not (build / "build.ninja").exists():
        must(["meson", "setup", str(build), str(tree), "-Dwerror=false"], "configuring")
    print("mutants: building the driver as it is", flush=True)
    needs = {target for mutant in mutants for target in mutant["needs"]}
    must(["ninja", "-C", str(build), *sorted(needs.union(PROGRAMS))], "compiling")
    for test in dict.fromkeys(t for m in mutants for t in m["tests"]):
        print(f"mutants: {test} on the driver as it is", flush=True)
        if judge(build, test, 900) != "OK":
            raise Broken(f"test '{test}' fails without any bug put in")


def report(rows, work):
    caught = sum(row["caught_by"] is not None for row in rows)
    print(f"\n{'bug':4} {'caught by':14} {'s':>5}  what was done to the driver")
    for row in rows:
        print(f"{row['id']:4} {row['caught_by'] or 'NOBODY':14} {row['seconds']:5.0f}  {row['here']}")
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
        prepare(mutants, work / "tree", work / "build")
        for m in mutants:
            start = time.monotonic()
            caught = one(m, work / "tree", work / "build")
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
