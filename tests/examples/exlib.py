# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Common classes of the tests of DPDK's examples: a program on emulated ports, and the other ends of their cables."""
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import e2e  # noqa: E402
from e2e import check  # noqa: E402

HELLO = b"mlxemu wire 1\n"
WAIT_S = 60 * e2e.PATIENCE
MODES = ("verbs", "vfio")


def modes(given, short):
    """The given modes; without any both, in the short form of the tests only one."""
    return given or ([short] if os.environ.get("MLXPMD_SHORT") else MODES)


def main_of_two(both, huge_mb):
    """Test of two processes, both(program, mode): arguments are the program and modes; needs hugepages."""
    def run():
        program, *given = sys.argv[1:]
        if not e2e.testlib.hugepages_taken(huge_mb):
            e2e.skip(f"processes can share memory only with hugepages, and {huge_mb} MiB of them cannot be reserved")
        for mode in modes(given, "verbs"):
            both(program, mode)

    e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])


MAC = [bytes.fromhex(f"0c42a14ed00{n}") for n in range(2)]  # With --seed 0.
PEER_MAC = bytes.fromhex("020000000001")


class Cable:
    """The other end of a port's `sock:` wire."""

    def __init__(self, path):
        self.path = str(path)
        self.sock = None
        self.data = b""

    def plug_in(self):
        """Connect; the port has carrier from now on."""
        end = time.monotonic() + WAIT_S
        check(e2e.testlib.await_until(self._connected, WAIT_S), f"no listener at {self.path}")
        self.sock.sendall(HELLO)
        self.data = b""
        while len(self.data) < len(HELLO):
            check(self._more(end - time.monotonic()), f"no hello at {self.path}")
        check(self.data.startswith(HELLO), f"wrong hello {self.data[:20]}")
        self.data = self.data[len(HELLO):]

    def _connected(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.connect(self.path)
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
            self.sock.close()
            return False
        return True

    def pull_out(self):
        """Close; the port loses carrier."""
        self.sock.close()
        self.sock = None

    def send(self, *frames):
        self.sock.sendall(b"".join(struct.pack("<I", len(f)) + f for f in frames))

    def _more(self, seconds):
        if not select.select([self.sock], [], [], max(0.0, seconds))[0]:
            return False
        data = self.sock.recv(1 << 18)
        self.data += data
        return len(data) > 0

    def _frame(self):
        if len(self.data) < 4:
            return None
        length = struct.unpack_from("<I", self.data)[0]
        if len(self.data) < 4 + length:
            return None
        frame, self.data = self.data[4:4 + length], self.data[4 + length:]
        return frame

    def receive(self, count, seconds=WAIT_S):
        """The next frames: count, or fewer after the time."""
        frames, end = [], time.monotonic() + seconds
        while len(frames) < count:
            frame = self._frame()
            if frame is not None:
                frames.append(frame)
            elif not self._more(end - time.monotonic()):
                break
        return frames

    def quiet(self, seconds=0.2):
        """All frames that arrive within the time."""
        return self.receive(1 << 30, seconds)


class Example:
    """A program on emulated ports, each connected to a Cable.

    with Example(program, arguments, ...) as x: x.wait("text"), x.cables[0].send(...), x.stop()

    up: the ports have carrier even if no cable is connected. connect: connect the cables when the program starts.
    shared: use hugepages, so that a second process can share memory; again() is the command of such a process.
    """

    def __init__(self, program, arguments, mode="verbs", ports=2, lcores="0,1", eal=(), emu=(), devargs="",
                 up=True, memory_mb=512, stdin=subprocess.DEVNULL, connect=True, shared=False):
        self.work = tempfile.TemporaryDirectory(prefix="mlxpmd-ex.", ignore_cleanup_errors=True)
        folder = pathlib.Path(self.work.name)
        self.report_path, self.log_path = folder / "report", folder / "log"
        self.env = {**os.environ, "TMPDIR": self.work.name}
        self.cables = [Cable(folder / f"cable{n}") for n in range(ports)]
        command = [str(e2e.MLXEMU), "run", "--seed", "0", "--ports", str(ports), "--audit", "--report",
                   str(self.report_path), *emu]
        command += ["--open", "vfio"] if mode == "vfio" else []
        devargs = ",".join(([devargs] if devargs else []) + (["open=vfio"] if mode == "vfio" else []))
        for n in range(ports):
            command += ["--wire", f"{n}=sock:{folder}/cable{n}{':up' if up else ''}"]
        eal = [*e2e.eal(ports, devargs, memory_mb, lcores), "--file-prefix",
               e2e.testlib.runtime_dir_removed(folder.name), *eal]
        if shared:
            eal = [word for word in eal if word not in ("--no-huge", "--no-shconf")]
        self.again = lambda extra, args: [str(e2e.MLXEMU), "run", "--join", str(self.pid()), "--",
                                          str(program), *eal, *extra, "--", *args]
        self.command = [*command, "--", str(program), *eal, *(["--", *arguments] if arguments is not None else [])]
        self.stdin = stdin
        self.connect = connect
        self.process = None

    def __enter__(self):
        with open(self.log_path, "wb") as log:
            # Line-buffered output, although it goes to a file.
            self.process = subprocess.Popen(["stdbuf", "-oL", *self.command], stdin=self.stdin, stdout=log,
                                            stderr=subprocess.STDOUT, env=self.env)
        try:
            for cable in self.cables if self.connect else []:
                cable.plug_in()
        except BaseException as err:
            self.__exit__(type(err), err, None)
            raise
        return self

    def __exit__(self, kind, value, trace):
        e2e.end(self.process)
        if kind is not None:
            print(f"{' '.join(self.command)}\nexit status {self.process.returncode}\n{self.log()[-3000:]}")
        self.work.cleanup()

    def log(self):
        return self.log_path.read_text(errors="replace")

    def wait(self, pattern, seconds=WAIT_S, after=0):
        """Wait until the output matches; returns the match."""
        def printed():
            ended = self.process.poll()
            match = re.compile(pattern, re.M).search(self.log(), after)
            check(match or ended is None, f"ended with {ended} before it printed '{pattern}'")
            return match

        match = e2e.testlib.await_until(printed, seconds)
        check(match, f"has not printed '{pattern}' in {seconds} s")
        return match

    def ctl(self, *words):
        """Run `mlxemu ctl` for this program."""
        done = subprocess.run([str(e2e.MLXEMU), "ctl", *words], env=self.env, timeout=WAIT_S, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.decode(errors="replace")
        check(done.returncode == 0, f"mlxemu ctl {' '.join(words)}: {text}")
        return text

    def pid(self):
        """The pid of the program, a child of the launcher."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else self.process.pid

    def stop(self, by=signal.SIGINT, status=0, audit="clean"):
        """Send the signal; checks exit code and audit, returns the emulator's report."""
        if by is not None:
            self.process.send_signal(by)
        try:
            ended = self.process.wait(timeout=WAIT_S)
        except subprocess.TimeoutExpired:
            raise e2e.Failed(f"still running {WAIT_S} s after signal {by}") from None
        report = e2e.Report(self.report_path)
        check(ended == status, f"exit status {ended}\n{report.text}")
        check(audit is None or report.get("audit") == audit, report.text)
        return report
