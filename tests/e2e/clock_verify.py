#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Compare every timestamp with the true time, from a capture and from port to port.

The frequency of the device's counter deviates from the host's clock, and the clock page converts it as in the
kernel. The remaining error is a tick of the counter, and the rounding of the page's factor.
"""
import csv
import pathlib
import re
import tempfile

from e2e import TEST_MLX, check, eal, emu, main

FRAMES = 20000
# The kernel makes no correction of its page during the run.
WORST_NS = 20

SCRIPT = """
set fwd gen
set count {frames}
set rate 20000
clock record 1 on
start
wait 30
check
clock verify 1 truth {work}/truth.pcapng {work}/error
clock verify 1 from 0 200 {work}/peer
"""


def figures(out, against):
    text = re.search(rf"port 1 against {re.escape(against)}: (\d+) packets, (\d+) compared, (\d+) without a "
                     r"timestamp, (\d+) lost.*\n +error: min ([-+]\d+) ns, median ([-+]\d+) .*max ([-+]\d+) ns\n"
                     r".*worst (\d+) ns", out)
    check(text, f"no figures against {against}:\n{out[-3000:]}")
    return map(int, text.groups())


def written(work, name, count):
    with open(f"{work}/{name}.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    check(len(rows) == count, f"{name}.csv: {len(rows)} rows of {count}")
    for row in rows:
        check(int(row["stamp_ns"]) - int(row["truth_ns"]) == int(row["error_ns"]), f"{row}")
    svg = pathlib.Path(f"{work}/{name}.svg").read_text(encoding="utf-8")
    check(svg.startswith("<?xml") and "</svg>" in svg, f"{name}.svg is not an SVG file")


def one(profile):
    with tempfile.TemporaryDirectory(prefix="mlxpmd-verify.") as work:
        script = pathlib.Path(work) / "script"
        script.write_text(SCRIPT.format(frames=FRAMES, work=work))
        done = emu([TEST_MLX, *eal(devargs="clock=page"), "--", "--cmds", script],
                   wires=["pair:lossless"], timeout=90,
                   extra=["--profile", profile, "--clock-drift", "0",
                          "--capture", f"1={work}/truth.pcapng:rx"])
        check(done.status == 0, f"{profile}: exit {done.status}:\n{done.out[-3000:]}")
        check(done.report.get("audit") == "clean", f"audit {done.report.get('audit')}")
        packets, compared, absent, lost, least, median, most, worst = figures(
            done.out, f"{work}/truth.pcapng")
        check((packets, compared, absent, lost) == (FRAMES, FRAMES, 0, 0), f"{profile}:\n{done.out[-3000:]}")
        check(-WORST_NS <= least and most <= WORST_NS, f"{profile}: errors of {least} to {most} ns")
        written(work, "error", FRAMES)
        print(f"{profile}: {FRAMES} stamps, error {least:+d} to {most:+d} ns, median {median:+d}")
        packets, compared, absent, lost, least, median, most, worst = figures(done.out, "sending by port 0")
        check((packets, compared, absent, lost) == (200, 200, 0, 0), f"{profile}:\n{done.out[-3000:]}")
        check(worst <= WORST_NS, f"{profile}: port to port, errors of {least} to {most} ns")
        written(work, "peer", 200)
        print(f"{profile}: port to port {least:+d} to {most:+d} ns, median {median:+d}")


def test():
    for profile in ("cx4lx", "cx6dx", "cx7"):
        one(profile)


main(test)
