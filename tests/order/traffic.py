#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Traffic with `--order relaxed`: nothing is lost or changed, the audit is clean, and no doorbell is late.

usage: traffic.py [--simd BITS] [--vfio] [--devargs ARGS] [--emu OPTIONS] CASE...
"""
import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pmd"))
import pmdlib  # noqa: E402
from e2e import MLXEMU, PLUGIN, check, emu, main  # noqa: E402

PROGRAM = pathlib.Path(os.environ.get("MLXPMD_BUILD", "build")) / "tests/order/test_order_traffic"


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simd", help="limit of the vector instructions, in bits")
    parser.add_argument("--vfio", action="store_true", help="open the devices through VFIO")
    parser.add_argument("--devargs", default="", help="further devargs of both ports")
    parser.add_argument("--emu", default="", help="further options of `mlxemu run`")
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    devargs = ["open=vfio"] * args.vfio + [args.devargs] * bool(args.devargs)
    # Whole completions, unless the test is about compressed ones.
    devargs += ["rxq_cqe_comp_en=0"] * ("rxq_cqe_comp_en" not in args.devargs)
    eal = pmdlib.eal(devargs=",".join(devargs), lcores="0")
    eal += ["--force-max-simd-bitwidth", args.simd] if args.simd else []
    result = emu([PROGRAM, *eal, "--", *args.cases], wires=["pair:lossless"], timeout=120,
                 extra=["--order", "relaxed", *(["--open", "vfio"] if args.vfio else []), *args.emu.split()])
    print("\n".join(line for line in result.out.splitlines() if not line.startswith("fault "))[-8000:])
    check(result.status == 0, f"exit status {result.status}, audit {result.report['audit']}")
    check(result.report.port(0, "doorbells") > 0, "port 0 sent nothing")
    late = sum(result.report.port(n, "late_doorbells") for n in (0, 1))
    check(late == 0, f"{late} doorbells stayed in a write-combining buffer")


main(run, needs=[MLXEMU, PLUGIN, PROGRAM])
