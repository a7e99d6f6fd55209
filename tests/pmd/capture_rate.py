# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""dpdk-test-mlx capture at a rate: every frame is that of the emulator's own capture, and none is lost.

dpdk-test-mlx generates the frames on a port in a loop and checks them. Both captures are named pipes, which
pcapng_equal compares while they are written. For figures, by hand, on a machine that does nothing else; needs
hugepages, which it reserves.

examples:
  MLXPMD_BUILD=build python3 tests/pmd/capture_rate.py                1.1 million packets/s for 20 s
  MLXPMD_BUILD=build python3 tests/pmd/capture_rate.py --rate 500000 --seconds 5
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import pmdlib
from pmdlib import check, e2e

HUGE_MB = 1536
MEMORY_MB = 1024
# A primary process that others attach to has hugepages, run-time files and telemetry.
NOT_OF_PRIMARY = ("--no-huge", "--no-shconf", "--no-telemetry")
BEGIN_S = 60 * e2e.PATIENCE
EQUAL = e2e.BUILD / "tests/pmd/pcapng_equal"
# A tick of the device's counter, and the rounding of its conversion.
TIME_NS = 20
# Enough packets in flight for the rate although program, emulator and capture share two processors.
GENERATOR = ("--fwd", "gen", "--topology", "loop", "--rxd", "8192", "--txd", "8192", "--burst", "128",
             "--window", "8000", "--interactive")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rate", type=int, default=1_100_000, help="packets per second (default %(default)s)")
    p.add_argument("--seconds", type=int, default=20, help="how long to send (default %(default)s)")
    return p.parse_args()


class Run:
    """The program on the emulator, whose output is a file."""

    def __init__(self, o, work, true):
        words = [w for w in e2e.eal(1, "clock=page", MEMORY_MB) if w not in NOT_OF_PRIMARY]
        command = [e2e.MLXEMU, "run", "--ports", "1", "--wire", "0=loop", "--clock-drift", "0",
                   "--capture", f"0={true}:rx", "--", e2e.TEST_MLX, *words, "--file-prefix", pmdlib.PREFIX, "--",
                   "--rate", o.rate, *GENERATOR]
        self.path = work / "out"
        with open(self.path, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=out,
                                            stderr=subprocess.STDOUT, text=True)

    def send(self, *lines):
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def text(self):
        return self.path.read_text(encoding="utf-8")


def begun(process):
    """A capture prints nothing before there are packets: it has begun when the program serves its request."""
    state = pathlib.Path(f"/proc/{process.pid}/fd")
    return any(os.readlink(fd).endswith("got.pcapng") for fd in state.iterdir())


def measure(o, work):
    got, true = work / "got.pcapng", work / "true.pcapng"
    for path in (got, true):
        os.mkfifo(path)
    with subprocess.Popen([EQUAL, got, true], stdout=subprocess.PIPE, text=True) as equal:
        run = Run(o, work, true)
        capture = None
        try:
            socket = pathlib.Path(f"/run/dpdk/{pmdlib.PREFIX}/dpdk_telemetry.v2")
            check(e2e.testlib.await_until(lambda: socket.exists() and "test-mlx> " in run.text(), BEGIN_S), run.text())
            capture = subprocess.Popen([e2e.TEST_MLX, "capture", "0", got, "--file-prefix", pmdlib.PREFIX],
                                       stderr=subprocess.PIPE, text=True)
            check(e2e.testlib.await_until(lambda: capture.poll() is not None or begun(capture), BEGIN_S), "no capture")
            run.send("start", f"sleep {o.seconds}", "stop", "show port stats all")
            check(e2e.testlib.await_until(lambda: "result: " in run.text(), BEGIN_S + 2 * o.seconds), run.text())
            capture.send_signal(signal.SIGINT)
            printed = capture.stderr.read()
            _, status, usage = os.wait4(capture.pid, 0)
            capture.returncode = os.waitstatus_to_exitcode(status)
            run.send("quit")
            run.process.wait(BEGIN_S)
            return run.text(), printed, usage, json.loads(equal.communicate(timeout=BEGIN_S)[0])
        finally:
            for process in (capture, run.process, equal):
                if process is not None:
                    e2e.end(process)


def report(o, out, printed, usage, found):
    """The figures; what has to hold."""
    sent = re.search(r"sent (\d+) = received (\d+) \+ lost (\d+)", out)
    check(sent, out[-2000:])
    written = int(re.search(r"^(\d+) packets, \d+ bytes written", printed, re.M)[1])
    rate = found["packets"] / (found["ns"] / 1e9)
    print(printed.strip())
    print(f"{found['packets']} frames in {found['ns'] / 1e9:.1f} s, {rate:.0f} per second (requested: {o.rate})")
    print(f"the program received {sent[2]}, the file has {written}; not equal to the emulator's {found['different']}, "
          f"only in the file {found['only_first']}, only the emulator's {found['only_second']}, "
          f"times within {found['worst_ns']} ns")
    print(f"processor time of the capture: {1e6 * (usage.ru_utime + usage.ru_stime) / written:.2f} us per packet")
    check(found["different"] == found["only_first"] == found["only_second"] == 0, "the captures differ")
    check(written == int(sent[2]), "the capture has other packets than the program")
    check(found["worst_ns"] <= TIME_NS, f"times differ by more than {TIME_NS} ns")


def test():
    o = arguments()
    if not e2e.testlib.hugepages_taken(HUGE_MB):
        e2e.skip(f"processes can share memory only with hugepages, and {HUGE_MB} MiB of them cannot be reserved")
    with tempfile.TemporaryDirectory(prefix="mlxpmd-capture.") as folder:
        report(o, *measure(o, pathlib.Path(folder)))


if "--help" in sys.argv:
    arguments()
e2e.main(test, needs=(e2e.MLXEMU, e2e.TEST_MLX, e2e.PLUGIN, EQUAL))
