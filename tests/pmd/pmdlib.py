# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Common functions of the PMD's Python tests: an interactive dpdk-testpmd on the emulator, and checks of statistics."""
import json
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import e2e  # noqa: E402
from e2e import check  # noqa: E402

PROMPT = "testpmd> "
# Events are reported at any time, also behind the prompt.
PROMPT_LAST = re.compile(PROMPT + r"(\nPort \d+: [^\n]+ event\n)*\Z")
WAIT_S = 60
# --file-prefix: separates the run-time files of DPDK programs that run at the same time.
PREFIX = e2e.testlib.runtime_dir_removed(f"mlxpmd{os.getpid()}")


def long_run():
    """Whether the long form of a test was requested."""
    return "--long" in sys.argv


def eal(devargs="", memory_mb=1024, lcores="0,1", telemetry=False, simd=e2e.SIMD_BITS):
    args = [a for a in e2e.eal(2, devargs, memory_mb, lcores, simd) if not telemetry or a != "--no-telemetry"]
    return [*args, "--file-prefix", PREFIX]


class Testpmd:
    """Debian's dpdk-testpmd on two emulated ports, controlled through its prompt.

    emu_args are further options of `mlxemu run`; without eal_args mlxpmd drives both ports.
    """

    def __init__(self, args=(), wires=(), eal_args=None, emu_args=(), mbufs=60000):
        self.work = tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.",
                                                ignore_cleanup_errors=True)
        self.report_path = pathlib.Path(self.work.name) / "report"
        command = [str(e2e.MLXEMU), "run", "--ports", "2", "--audit", "--report",
                   str(self.report_path), *emu_args]
        for wire in wires:
            command += ["--wire", wire]
        command += ["--", "dpdk-testpmd", *(eal_args or eal()), "--", "-i", "--no-mlockall",
                    f"--total-num-mbufs={mbufs}", *args]
        # A private TMPDIR: ctl() finds the control socket of this run and no other.
        self._start(command, {**os.environ, "TMPDIR": self.work.name})

    def _start(self, command, env):
        """Run a command that gives the prompt."""
        self.log, self.env = "", env
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                                        close_fds=True, env=self.env)
        os.close(theirs)
        self.fd = ours
        self.started = self._until_prompt()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        e2e.end(self.process)
        os.close(self.fd)
        self.work.cleanup()
        if kind is not None:
            print(f"exit status {self.process.returncode}")
            print(self.log[-6000:])

    def _read(self, end):
        """Wait for output and return it; None at the end of the terminal."""
        ready = select.select([self.fd], [], [], max(0.0, end - time.monotonic()))[0]
        check(ready, f"no output of testpmd for {WAIT_S} s after: {self.log[-500:]}")
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # testpmd has closed the terminal.
            return None
        text = data.decode(errors="replace").replace("\r", "")
        self.log += text
        return text

    def _until_prompt(self):
        text, end = "", time.monotonic() + WAIT_S
        while not PROMPT_LAST.search(text):
            part = self._read(end)
            check(part is not None, f"testpmd ended: {self.log[-3000:]}")
            text += part
        return text

    def cmd(self, command):
        """Run a command; its output."""
        os.write(self.fd, command.encode() + b"\n")
        # The output ends with the next prompt.
        return self._until_prompt()

    def watch(self, command, done, seconds=30):
        """Run a command whose output has no recognizable end; the output until done(text) or the time limit.

        Lines of other threads may come at any place, even within the prompt.
        """
        os.write(self.fd, command.encode() + b"\n")
        text, end = "", time.monotonic() + seconds
        while not done(text) and select.select([self.fd], [], [],
                                               max(0.0, end - time.monotonic()))[0]:
            text += self._read(end) or ""
        # Read the rest of the output, in particular the prompt, but for at most 2 s: a thread may log continuously.
        end = min(end, time.monotonic() + 2)
        while select.select([self.fd], [], [], 0.2)[0] and time.monotonic() < end:
            text += self._read(end) or ""
        return text

    def watch_log(self, done):
        """Read output that other threads print, without a command, until done(self.log)."""
        end = time.monotonic() + WAIT_S
        while not done(self.log):
            check(self._read(end) is not None, f"testpmd ended: {self.log[-3000:]}")

    def ctl(self, *words):
        """Run `mlxemu ctl` for this emulator; its reply."""
        done = subprocess.run([str(e2e.MLXEMU), "ctl", "--json", *words], env=self.env, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        text = done.stdout.decode(errors="replace")
        check(done.returncode == 0, f"mlxemu ctl {' '.join(words)}: {text}")
        return json.loads(text)

    def stats(self, port):
        """The values of `show port stats` (RX-packets and so on)."""
        text = self.cmd(f"show port stats {port}")
        return {k: int(v) for k, v in re.findall(r"([RT]X-\w+):\s+(\d+)", text)}

    def xstats(self, port):
        """Extended statistics; the device counters in them were read after this call."""
        begin, x = time.monotonic(), {}

        def young():
            text = self.cmd(f"show port xstats {port}")
            x.clear()
            x.update((k, int(v)) for k, v in re.findall(r"^(\w+): (\d+)$", text, re.M))
            ages = [x.get("rx_missed_age_us", 0), x.get("device_counters_age_us", 0)]
            return max(ages) < 1e6 * (time.monotonic() - begin)

        e2e.testlib.await_until(young, WAIT_S)
        return x

    def end(self):
        """End testpmd; exit status (3: the audit is not clean) and the emulator's report."""
        os.write(self.fd, b"quit\n")
        end = time.monotonic() + WAIT_S
        while self._read(end) is not None:
            pass
        status = self.process.wait(timeout=WAIT_S)
        return status, e2e.Report(self.report_path)

    def quit(self):
        """End testpmd and check that status and audit are clean; the emulator's report."""
        status, report = self.end()
        check(status == 0, f"exit status {status}\n{report.text}")
        check(report.get("audit") == "clean", report.text)
        return report


# Name of testpmd's basic statistics, and of the same values in the extended statistics of any PMD.
GOOD = [("RX-packets", "rx_good_packets"), ("TX-packets", "tx_good_packets"),
        ("RX-bytes", "rx_good_bytes"), ("TX-bytes", "tx_good_bytes")]
# The emulator's counters that are equal to them on a lossless cable.
EMULATOR = [("RX-packets", "rx_frames"), ("RX-packets", "rx_delivered_frames"),
            ("TX-packets", "tx_frames"), ("RX-bytes", "rx_bytes"), ("TX-bytes", "tx_bytes")]
BAD_WORDS = ("error", "discard", "drop", "missing", "refused", "oversize", "crc")


def check_statistics(testpmd, port, pairs=()):
    """Check that a port's basic and extended statistics agree and that nothing was lost; the basic ones."""
    s, x = testpmd.stats(port), testpmd.xstats(port)
    for a, b in [*GOOD, *pairs]:
        check(s[a] == x.get(b), f"port {port}: {a} {s[a]}, xstat {b} {x.get(b)}")
    for name in ("RX-missed", "RX-errors", "RX-nombuf", "TX-errors"):
        check(s[name] == 0, f"port {port}: {name} {s[name]}")
    bad = {k: v for k, v in x.items() if v and any(word in k for word in BAD_WORDS)}
    check(not bad, f"port {port}: {bad}")
    for direction in "rt":
        per_queue = sum(v for k, v in x.items()
                        if re.fullmatch(direction + r"x_q\d+_packets", k))
        total = x[f"{direction}x_good_packets"]
        check(per_queue == total, f"port {port}: queues {per_queue}, {direction}x {total}")
    return s


def check_report(report, port, stats, pairs=tuple(EMULATOR)):
    for a, b in pairs:
        check(stats[a] == report.port(port, b),
              f"port {port}: {a} {stats[a]}, emulator's {b} {report.port(port, b)}")


def empty_cable(testpmd, seconds=20):
    """Wait until each port has received all packets that the other has sent, or until the time limit."""
    def empty():
        stats = [testpmd.stats(p) for p in (0, 1)]
        return all(stats[p]["RX-packets"] == stats[1 - p]["TX-packets"] for p in (0, 1))

    e2e.testlib.await_until(empty, seconds, pause=0.05)


def circulate(testpmd, bursts, target, seconds_max):
    """Forward bursts in a loop until `target` packets were received, then empty the cable. Seconds of forwarding."""
    begin = time.monotonic()
    testpmd.cmd(f"start tx_first {bursts}")
    moved = e2e.testlib.await_progress(lambda: sum(testpmd.stats(p)["RX-packets"] for p in (0, 1)),
                                       lambda packets: packets >= target, seconds_max, seconds_max)
    check(moved >= target, f"{moved} packets in {seconds_max} s")
    seconds = time.monotonic() - begin
    stopped = testpmd.cmd("stop")
    check("Done." in stopped, stopped)
    testpmd.cmd("set fwd rxonly")
    testpmd.cmd("start")
    empty_cable(testpmd)
    testpmd.cmd("stop")
    return seconds
