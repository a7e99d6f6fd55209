# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's example ptpclient, unmodified, synchronises with a master in another process whose clock is 1.5 s ahead.

Usage: ptpclient.py CLIENT MASTER [--show]. Each runs on a port of its own emulator; a socket connects the ports.
"""
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from exlib import check, e2e

AHEAD_NS = 1_500_000_000
ROUNDS = 40
# More, ten a second, only until ROUNDS / 2 exchanges were good.
ROUNDS_MAX = 600
# On a busy machine frames wait in the socket until the other process runs.
OFF_MAX_NS = 20_000_000


def start(program, wire, prefix, arguments, log):
    command = [str(e2e.MLXEMU), "run", "--ports", "1", "--wire", f"0=sock:{wire}", "--", program,
               *e2e.eal(1, "clock=page"), "--file-prefix", e2e.testlib.runtime_dir_removed(prefix), "--", *arguments]
    with open(log, "wb") as stream:
        return subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)


def exchanges(text):
    """The sum of the corrections of the clock after each good exchange, and the number of all exchanges.

    The client waits 1 ms for the Tx timestamp of its request. On a busy machine the device may take longer: then
    the client uses 0 as timestamp, and the next exchange corrects the error. A response that comes after the next
    Follow_Up changes nothing, but the client prints everything again, with the same T4.
    """
    good, corrected, total, last = [], 0, 0, None
    # DPDK up to 23.11 has other words than later releases.
    line = (r"T3 - (?:Slave  Clock|time receiver clock)\.  (-?\d+s -?\d+ns)\s+"
            r"T4 - (?:Master Clock|time transmitter clock)\.  (\d+s \d+ns).*?(?:slave|receiver) clocks:(-?\d+)ns")
    for t3, t4, delta in re.findall(line, text, re.S):
        if t4 == last:
            continue
        last = t4
        corrected += int(delta)
        total += 1
        if t3 != "0s 0ns":
            good.append(corrected)
    return good, total


def enough(text):
    """Whether all rounds that a quiet machine needs were made, and half as many exchanges were good."""
    good, total = exchanges(text)
    return total >= ROUNDS - 5 and len(good) >= ROUNDS // 2


def run():
    client_program, master_program = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix="mlxpmd-ptp.") as work:
        wire, logs = pathlib.Path(work) / "cable", [pathlib.Path(work) / name for name in ("client", "master")]
        client = start(client_program, wire, f"ptpc{time.time_ns()}", ["-p", "1", "-T", "0"], logs[0])
        e2e.testlib.pass_time(3, "the client starts; it prints nothing that could be waited for before it has a frame")
        master = start(master_program, wire, f"ptpm{time.time_ns()}",
                       ["--ahead-ns", str(AHEAD_NS), "--rounds", str(ROUNDS_MAX)], logs[1])
        try:
            e2e.testlib.await_until(lambda: master.poll() is not None or enough(logs[0].read_text(errors="replace")),
                                    90, pause=0.2)
        finally:
            e2e.end(master)
            e2e.end(client)
        client_output, master_output = (log.read_text(errors="replace") for log in logs)
    if "--show" in sys.argv:
        print(client_output)
    check(master.returncode == 0, f"master: {master_output[-2000:]}")
    good, total = exchanges(client_output)
    check(len(good) >= ROUNDS // 8, f"{len(good)} good exchanges of {total}: {client_output[-2000:]}")
    wrong = [corrected - AHEAD_NS for corrected in good]
    print(f"{len(good)} good exchanges of {total}; after the first the clock is {wrong[0]} ns off, "
          f"in the median {int(statistics.median(wrong))} ns")
    check(abs(statistics.median(wrong)) < OFF_MAX_NS, f"not set: {wrong}")


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
