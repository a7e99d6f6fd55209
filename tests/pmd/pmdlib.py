# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What the PMD's tests with other people's programs share: an interactive dpdk-testpmd."""
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
WAIT_S = 60
# DPDK programs that run at the same time keep their files apart by this.
PREFIX = e2e.testlib.runtime_dir_removed(f"mlxpmd{os.getpid()}")


def long_run():
    """Whether the whole of a test is asked for, or its quick form."""
    return "--long" in sys.argv


def eal(devargs="", memory_mb=1024, lcores="0,1", telemetry=False):
    args = [a for a in e2e.eal(2, devargs, memory_mb, lcores) if not telemetry or a != "--no-telemetry"]
    return [*args, "--file-prefix", PREFIX]


class Testpmd:
    """Debian's dpdk-testpmd on two emulated ports, driven through its prompt.

    emu_args are further options of `mlxemu run`; eal_args None is our PMD on both ports.
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
        self.log = ""
        ours, theirs = pty.openpty()
        # A folder of its own for temporary files: that is how ctl() finds this run and no other.
        self.env = {**os.environ, "TMPDIR": self.work.name}
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
        """What came, as far as there is something; None at the end of the terminal."""
        ready = select.select([self.fd], [], [], max(0.0, end - time.monotonic()))[0]
        check(ready, f"testpmd is silent for {WAIT_S} s after: {self.log[-500:]}")
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # The far end is closed.
            return None
        text = data.decode(errors="replace").replace("\r", "")
        self.log += text
        return text

    def _until_prompt(self):
        text, end = "", time.monotonic() + WAIT_S
        while not text.endswith(PROMPT):
            part = self._read(end)
            check(part is not None, f"testpmd ended: {self.log[-3000:]}")
            text += part
        return text

    def cmd(self, command):
        """One command; what it printed."""
        os.write(self.fd, command.encode() + b"\n")
        # The terminal echoes the line behind a prompt of its own; the next prompt ends the answer.
        return self._until_prompt()

    def watch(self, command, done, seconds=30):
        """One command whose output has no end; what it printed until done(text), or the time is up.

        The other thread's lines come between everything, the prompt included.
        """
        os.write(self.fd, command.encode() + b"\n")
        text, end = "", time.monotonic() + seconds
        while not done(text) and select.select([self.fd], [], [],
                                               max(0.0, end - time.monotonic()))[0]:
            text += self._read(end) or ""
        # What still comes belongs to this command, the prompt above all; but a thread that complains
        # all the time is not waited for.
        end = min(end, time.monotonic() + 2)
        while select.select([self.fd], [], [], 0.2)[0] and time.monotonic() < end:
            text += self._read(end) or ""
        return text

    def ctl(self, *words):
        """`mlxemu ctl` to the emulator below; what it answered."""
        done = subprocess.run([str(e2e.MLXEMU), "ctl", "--json", *words], env=self.env, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        text = done.stdout.decode(errors="replace")
        check(done.returncode == 0, f"mlxemu ctl {' '.join(words)}: {text}")
        return json.loads(text)

    def stats(self, port):
        """RX-packets and so on of `show port stats`."""
        text = self.cmd(f"show port stats {port}")
        return {k: int(v) for k, v in re.findall(r"([RT]X-\w+):\s+(\d+)", text)}

    def xstats(self, port):
        """Extended statistics, the device's counts among them read since the call."""
        begin = time.monotonic()
        while True:
            text = self.cmd(f"show port xstats {port}")
            x = {k: int(v) for k, v in re.findall(r"^(\w+): (\d+)$", text, re.M)}
            passed = time.monotonic() - begin
            ages = [x.get("rx_missed_age_us", 0), x.get("device_counters_age_us", 0)]
            if max(ages) < 1e6 * passed or passed > WAIT_S:
                return x
            time.sleep(0.02)

    def end(self):
        """Ends it; exit status (3: the audit found something) and the emulator's report."""
        os.write(self.fd, b"quit\n")
        end = time.monotonic() + WAIT_S
        while self._read(end) is not None:
            pass
        status = self.process.wait(timeout=WAIT_S)
        return status, e2e.Report(self.report_path)

    def quit(self):
        """Ends it, which must be clean; the emulator's report."""
        status, report = self.end()
        check(status == 0, f"exit status {status}\n{report.text}")
        check(report.get("audit") == "clean", report.text)
        return report


# Of testpmd's basic statistics: the name in extended statistics, the same in every PMD.
GOOD = [("RX-packets", "rx_good_packets"), ("TX-packets", "tx_good_packets"),
        ("RX-bytes", "rx_good_bytes"), ("TX-bytes", "tx_good_bytes")]
# What the emulator counts for them while a port is lossless.
EMULATOR = [("RX-packets", "rx_frames"), ("RX-packets", "rx_delivered_frames"),
            ("TX-packets", "tx_frames"), ("RX-bytes", "rx_bytes"), ("TX-bytes", "tx_bytes")]
BAD_WORDS = ("error", "discard", "drop", "missing", "refused", "oversize", "crc")


def check_statistics(testpmd, port, pairs=()):
    """One port's statistics agree among themselves, and nothing was lost; the basic ones."""
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
    """Waits until both ports have what the other sent, as far as that happens at all."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        stats = [testpmd.stats(p) for p in (0, 1)]
        if all(stats[p]["RX-packets"] == stats[1 - p]["TX-packets"] for p in (0, 1)):
            return
        time.sleep(0.05)


def circulate(testpmd, bursts, target, seconds_max):
    """A burst goes round until target packets were received; the cable is emptied. Seconds."""
    begin = time.monotonic()
    testpmd.cmd(f"start tx_first {bursts}")
    while True:
        time.sleep(0.1)
        moved = sum(testpmd.stats(p)["RX-packets"] for p in (0, 1))
        if moved >= target:
            break
        check(time.monotonic() - begin < seconds_max, f"{moved} packets in {seconds_max} s")
    seconds = time.monotonic() - begin
    stopped = testpmd.cmd("stop")
    check("Done." in stopped, stopped)
    testpmd.cmd("set fwd rxonly")
    testpmd.cmd("start")
    empty_cable(testpmd)
    testpmd.cmd("stop")
    return seconds
