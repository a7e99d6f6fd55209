#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Takes each barrier out of a copy of the drivers and sees that a test with `--order relaxed` then fails.

The tests run on the copy as it is first and have to pass there. The rows are in barriers.yaml.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/mutants"))
from tree import Broken, changed, copy_tree, must  # noqa: E402

PAGE = ROOT / "doc/design/barriers.md"
BARRIER = re.compile(r"\b(rte_(?:smp_|io_)?(?:r|w|)mb|rte_compiler_barrier|__atomic_thread_fence|"
                     r"rte_atomic_thread_fence|mdv_wc_flush)\(")
HELPER = """
#include <stdint.h>
#include <time.h>
#include <rte_atomic.h>
/* Of tests/order/barriers.py: a sleep, so that the emulator runs meanwhile on a busy machine too. */
#define PAUSE(us) do { \\
	const struct timespec pause_ = { .tv_nsec = (us) * 1000 }; \\
	rte_compiler_barrier(); \\
	nanosleep(&pause_, NULL); \\
} while (0)
extern uint64_t order_early;
__attribute__((weak)) uint64_t order_early;
"""
TARGETS = ["drivers/librte_net_mlxpmd.so", "devtools/mlxemu/mlxemu", "devtools/mlxemu/libmlxemu.so",
           "tests/order/test_order_traffic"]
# A random order does not show a fault each time.
SEEDS = range(1, 13)
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright 2026 The mlxpmd Authors -->
<!-- Made by tests/order/barriers.py --write from tests/order/barriers.yaml. Do not edit. -->

# Barriers of the drivers

What each barrier orders, and the test that fails without it: `tests/order/barriers.py` takes one after the other out of
a copy and runs `tests/order/traffic.py` with the arguments of the last column, with
[`--order relaxed`](../guide/mlxemu-order.md). A barrier without a test has the reason there.
Loads and stores with memory order (`__atomic_*`) between threads are not listed. What the barriers are on arm64:
`mdv_barrier.h`.

| barrier | in | orders | without it fails |
|---|---|---|---|
"""
EXAMPLES = """examples:
  tests/order/barriers.py                      all of barriers.yaml
  tests/order/barriers.py --only tx-wqe        one of them
  tests/order/barriers.py --write              doc/design/barriers.md
"""


def page(rows):
    lines = []
    for row in rows:
        name = row["file"].rpartition("/")[2]
        proof = f"`{row['test']}`" if "test" in row else "not tested: " + row["why"]
        lines.append(f"| `{row['barrier']}()` | `{name}`, `{row['function']}()` | {row['orders']} | {proof} |\n")
    return HEAD + "".join(lines)


def calls(path):
    """Barriers of a file, without comments and definitions."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    found = BARRIER.findall(text)
    if path.name == "mdv_barrier.h":
        found.remove("mdv_wc_flush")
    return found


def check(rows):
    for path in sorted((ROOT / "drivers").rglob("*.[ch]")):
        name = str(path.relative_to(ROOT))
        listed = sorted(row["barrier"] for row in rows if row["file"] == name)
        if sorted(calls(path)) != listed:
            raise Broken(f"{name} has the barriers {sorted(calls(path))}, barriers.yaml {listed}")
    for row in rows:
        without(row, ROOT)
    if PAGE.read_text(encoding="utf-8") != page(rows):
        raise Broken(f"{PAGE.relative_to(ROOT)} is not up to date: tests/order/barriers.py --write")
    print(f"barriers: {len(rows)}, {sum('test' in row for row in rows)} with a test")


def without(row, tree):
    """{path: text without the barrier}"""
    texts = changed(row, tree)
    for path, text in texts.items():
        end = text.index("\n", text.rindex("\n#include") + 1)
        texts[path] = text[:end] + HELPER + text[end:]
    return texts


def passes(build, test, seed):
    env = dict(os.environ, MLXPMD_BUILD=str(build), CHECK_STOP="1")
    done = subprocess.run([sys.executable, HERE / "traffic.py", "--emu", f"--seed {seed}", *test.split()], env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode == 0, done.stdout.decode(errors="replace")


def failure_of(out):
    lines = [line.strip() for line in out.splitlines() if "FAILED" in line or "violation" in line]
    return lines[0][-110:] if lines else "no message"


def prepare(work):
    tree, build = work / "tree", work / "tree/build"
    copy_tree(tree)
    if not (build / "build.ninja").exists():
        print("barriers: configuring", flush=True)
        must(["meson", "setup", str(build), str(tree)], "configuring")
    compiled(build, "the drivers as they are")
    return tree, build


def compiled(build, what):
    must(["ninja", "-C", str(build), *TARGETS], f"{what}: compiling", None)


def one(row, tree, build, good):
    """The first line of the failure, or None."""
    if row["test"] not in good:
        ok, out = passes(build, row["test"], SEEDS[0])
        if not ok:
            raise Broken(f"'{row['test']}' fails on the drivers as they are: {failure_of(out)}")
        good.add(row["test"])
    texts = without(row, tree)
    before = {path: path.read_text(encoding="utf-8") for path in texts}
    try:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        compiled(build, row["id"])
        for seed in SEEDS:
            ok, out = passes(build, row["test"], seed)
            if not ok:
                return failure_of(out)
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")
    return None


def attempt(rows, work):
    tree, build = prepare(work)
    good, missed = set(), []
    for row in rows:
        start = time.monotonic()
        failure = one(row, tree, build, good)
        compiled(build, "the drivers as they are")
        print(f"{row['id']:14} {time.monotonic() - start:4.0f} s  {failure or 'NO TEST FAILED'}", flush=True)
        if failure is None:
            missed.append(row["id"])
    print(f"barriers: {len(rows) - len(missed)} of {len(rows)} shown")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-order",
                        help="copy and build go there (build-order)")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these rows only")
    parser.add_argument("--check", action="store_true", help="only see whether table, drivers and page fit each other")
    parser.add_argument("--write", action="store_true", help="write doc/design/barriers.md")
    args = parser.parse_args()
    rows = yaml.safe_load((HERE / "barriers.yaml").read_text(encoding="utf-8"))
    for change in (change for row in rows for change in row.get("change", [])):
        change.update((k, change[k].rstrip("\n")) for k in ("old", "new"))
    try:
        if args.write:
            PAGE.write_text(page(rows), encoding="utf-8")
        if args.write or args.check:
            check(rows)
            return 0
        rows = [row for row in rows if "test" in row and (not args.only or row["id"] in args.only)]
        if not rows:
            raise Broken("no such row with a test")
        return attempt(rows, args.work.resolve())
    except Broken as err:
        print(f"barriers: {err}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("barriers: interrupted", file=sys.stderr)
        return 130


sys.exit(main())
