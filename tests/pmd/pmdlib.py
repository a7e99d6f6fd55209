# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What the PMD's tests with other people's programs share: an interactive dpdk-testpmd."""
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
PREFIX = f"mlxpmd{os.getpid()}"


def long_run():
    """Whether the whole of a test is asked for, or its quick form."""
    return "--long" in sys.argv


def eal(devargs="", memory_mb=1024, lcores="0,1", telemetry=False):
    args = [a for a in e2e.eal(2, devargs, memory_mb, lcores) if not telemetry or a != "--no-telemetry"]
    return [*args, "--file-prefix", PREFIX]


class Testpmd:
    """Debian's dpdk-testpmd on two emulated ports, driven through its prompt."""

    def __init__(self, args=(), wires=(), eal_args=None):
        self.work = tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.")
        self.report_path = pathlib.Path(self.work.name) / "report"
        command = [str(e2e.MLXEMU), "run", "--ports", "2", "--audit", "--report",
                   str(self.report_path)]
        for wire in wires:
            command += ["--wire", wire]
        command += ["--", "dpdk-testpmd", *(eal_args or eal()), "--", "-i", "--no-mlockall",
                    "--total-num-mbufs=60000", *args]
        self.log = ""
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                                        close_fds=True)
        os.close(theirs)
        self.fd = ours
        self.started = self._until_prompt()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
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

    def stats(self, port):
        """RX-packets and so on of `show port stats`."""
        text = self.cmd(f"show port stats {port}")
        return {k: int(v) for k, v in re.findall(r"([RT]X-\w+):\s+(\d+)", text)}

    def xstats(self, port):
        text = self.cmd(f"show port xstats {port}")
        return {k: int(v) for k, v in re.findall(r"^(\w+): (\d+)$", text, re.M)}

    def quit(self):
        """Ends it; exit status (of the audit as well) and the emulator's report."""
        os.write(self.fd, b"quit\n")
        end = time.monotonic() + WAIT_S
        while self._read(end) is not None:
            pass
        status = self.process.wait(timeout=WAIT_S)
        report = e2e.Report(self.report_path)
        check(status == 0, f"exit status {status}\n{report.text}")
        check(report.get("audit") == "clean", report.text)
        return report
