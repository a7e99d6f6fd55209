# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The fault matrix: runs the sweep's kinds, two at a time, and writes down how the cells came out.

Usage: sweep.py PROGRAM [--vfio] [KIND...]
       sweep.py PROGRAM --once OPERATION[,OPERATION...] [FEATURES]

--vfio: the device is opened through VFIO.
--once: these operations alone, or `all`, each request refused once, in ways that take turns; no tables.
FEATURES: plain, or `lro`, `compressed` or `vfio`: devargs and offloads that sweep_ops.c lists.
The tables go to fault-matrix.rst and fault-matrix.json (fault-matrix-vfio.*) in the folder of the program. In the short
form of the tests (MLXPMD_SHORT) each way of refusing takes every fourth request, all eight of them
together each request twice.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import e2e  # noqa: E402
from e2e import check  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1])
VFIO = sys.argv[2:3] == ["--vfio"] or sys.argv[-1] == "vfio"
KINDS = sys.argv[2 + (sys.argv[2:3] == ["--vfio"]):] or ["ioctl", "command", "host", "value", "destroy"] + (
    [] if VFIO else ["interface"])
SHORT = bool(os.environ.get("MLXPMD_SHORT"))
# Short, it runs on machines of which nothing is known.
LIMIT_S = 500 if SHORT else 300
# Rows of the matrix as the report calls them.
MEANING = {
    "command": "firmware commands refused, eight statuses",
    "ioctl": "system calls refused, six errnos",
    "interface": "requests to the kernel's interface refused, five errnos",
    "host": "memory, descriptors, mappings and callbacks refused",
    "destroy": "each destroy command is refused permanently",
    "value": "replies with wrong values",
}
# The other driver with our PCI ids is there, and must not be given the device.
LIBRARIES = subprocess.run(["pkg-config", "--variable=libdir", "libdpdk"], check=True, capture_output=True,
                           text=True).stdout.strip()
STOCK = sorted(pathlib.Path(LIBRARIES).glob("dpdk/pmds-*/librte_net_mlx5.so"))


def sweep(kind, name=None, operations=()):
    name = name or kind + ("-vfio" if VFIO else "")
    rows = PROGRAM.parent / f"sweep-{name}.json"
    rows.unlink(missing_ok=True)
    args = e2e.eal(ports=0) + ["-a", "0000:ff:1f.7", "--file-prefix",
                               e2e.testlib.runtime_dir_removed(f"sweep{name}{os.getpid()}")]
    args = ["-d", str(STOCK[0])] + args
    result = e2e.emu([PROGRAM, *args, "--", kind, rows, *operations], ports=1, wires=["loop"], audit=False,
                     extra=["--open", "vfio"] if VFIO else [], timeout=LIMIT_S)
    text = rows.read_text() if rows.exists() else ""
    return result, [json.loads(line) for line in text.splitlines()]


def table(headings, lines):
    """A simple table in reStructuredText."""
    cells = [headings] + [[str(c) for c in line] for line in lines]
    widths = [max(len(line[i]) for line in cells) for i in range(len(headings))]
    rule = "  ".join("=" * w for w in widths)
    text = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in cells]
    return "\n".join([rule, text[0], rule, *text[1:], rule, ""])


def report(rows, seconds):
    by_kind = collections.OrderedDict()
    for row in rows:
        total = by_kind.setdefault(row["kind"], collections.Counter())
        total.update({key: row[key] for key in ("cells", "passed", "errors", "ms")})
    summary = [(kind, MEANING[kind], total["cells"], total["passed"], total["errors"],
                f"{total['ms'] / 1000:.1f}") for kind, total in by_kind.items()]
    cells, passed = (sum(row[key] for row in rows) for key in ("cells", "passed"))
    summary.append(("all", "", cells, passed, sum(row["errors"] for row in rows), f"{seconds:.1f}"))
    short = table(["kind", "what", "cells", "passed", "clean errors", "s"], summary)
    detail = table(["kind", "operation", "requests", "cells", "passed", "ms"],
                   [[row[key] for key in ("kind", "operation", "requests", "cells", "passed", "ms")]
                    for row in rows if row["cells"]])
    matrix = PROGRAM.parent / ("fault-matrix-vfio" if VFIO else "fault-matrix")
    matrix.with_suffix(".rst").write_text(
        "Fault matrix\n============\n\n" + short + "\nBy operation\n------------\n\n" + detail)
    matrix.with_suffix(".json").write_text(json.dumps(rows, indent=1))
    print(short)
    return cells, passed


def once(operations):
    os.environ["SWEEP_STRIDE"] = "0"
    name = f"once-{os.environ['SWEEP_FEATURES']}-" + operations.partition(",")[0].replace(" ", "-")
    some = [] if operations == "all" else operations.split(",")
    kinds = [kind for kind in MEANING if kind != "value" and not (VFIO and kind == "interface")]
    result, rows = sweep(",".join(kinds), name, [",".join(some)] if some else [])
    check(result.status == 0, f"exit status {result.status}\n{result.out[-8000:]}")
    cells, passed = (sum(row[key] for row in rows) for key in ("cells", "passed"))
    check(not some or {row["operation"] for row in rows} == set(some), f"not all of {operations}")
    check(cells == passed > 0, f"{passed} of {cells} cells passed")
    print(f"{cells} cells")


def run():
    check(STOCK, "DPDK's own mlx5 plugin (librte_net_mlx5.so) is not installed")
    start = time.monotonic()
    rows, bad = [], []
    # The emulated sysfs is written again at each change of an interface: memory, not a disk.
    if os.path.isdir("/dev/shm"):
        os.environ["TMPDIR"] = "/dev/shm"
    if KINDS[0] == "--once":
        os.environ["SWEEP_FEATURES"] = (KINDS[2:] or ["plain"])[0]
        once(KINDS[1])
        return
    os.environ["SWEEP_FEATURES"] = "vfio" if VFIO else "plain"
    if SHORT:
        os.environ["SWEEP_STRIDE"] = "4"
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for kind, (result, some) in zip(KINDS, pool.map(sweep, KINDS)):
            rows += some
            bad += [f"{kind}: exit status {result.status}\n{result.out[-8000:]}"] * (
                result.status != 0)
    seconds = time.monotonic() - start
    cells, passed = report(rows, seconds)
    check(not bad, "\n".join(bad))
    check(cells == passed > 0, f"{passed} of {cells} cells passed")
    silent = [kind for kind in KINDS if sum(r["errors"] for r in rows if r["kind"] == kind) == 0]
    check(not set(silent) - {"destroy"}, f"no operation failed: {silent}")
    check(seconds < LIMIT_S, f"{seconds:.0f} s: allowed are {LIMIT_S}")
    print(f"0 leaks; the other driver was not given the device; {seconds:.0f} s")


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN, PROGRAM])
