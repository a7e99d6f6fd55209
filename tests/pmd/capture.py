# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""dpdk-test-mlx capture next to a program on two emulated ports: frames and times are those of the emulator's capture.

Needs hugepages, which it reserves.
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile

import pmdlib
import telemetry_client
from pmdlib import check, e2e

HUGE_MB = 768
WAIT_S = 60 * e2e.PATIENCE
# Beside the uncertainty that the clock states: a tick of the device's counter, and the rounding of its conversion.
TICK_NS = 20


def eal():
    """EAL's arguments of a primary process."""
    words = [w for w in e2e.eal(2, "clock=page", 384, "0,1") if w not in ("--no-huge", "--no-shconf", "--no-telemetry")]
    return [*words, "--file-prefix", pmdlib.PREFIX]


class Pcapng:
    """A pcapng file: comment, interfaces, packets (interface, ns, flags, data, original length), statistics."""

    def __init__(self, path):
        self.comment, self.interfaces, self.packets, self.stats = "", [], [], []
        data, at = pathlib.Path(path).read_bytes(), 0
        while at < len(data):
            kind, size = struct.unpack_from("<II", data, at)
            check(size % 4 == 0 and data[at + size - 4:at + size] == data[at + 4:at + 8], f"{path}: block at {at}")
            self._block(kind, data[at + 8:at + size - 4])
            at += size

    @staticmethod
    def options(data):
        found = {}
        while len(data) >= 4:
            code, size = struct.unpack_from("<HH", data)
            if code == 0:
                break
            found[code] = data[4:4 + size]
            data = data[4 + (size + 3) // 4 * 4:]
        return found

    def _block(self, kind, body):
        if kind == 0x0A0D0D0A:
            self.comment = self.options(body[16:]).get(1, b"").decode()
        elif kind == 1:
            self.interfaces.append((struct.unpack_from("<HHI", body)[2], self.options(body[8:])))
        elif kind == 6:
            number, high, low, captured, original = struct.unpack_from("<IIIII", body)
            options = self.options(body[20 + (captured + 3) // 4 * 4:])
            flags = struct.unpack("<I", options.get(2, bytes(4)))[0]
            self.packets.append((number, high << 32 | low, flags & 3, body[20:20 + captured], original))
        elif kind == 5:
            options = self.options(body[12:])
            self.stats.append((struct.unpack_from("<I", body)[0], options.get(1, b"").decode(),
                               {code: struct.unpack("<Q", options[code])[0] for code in (4, 5, 6, 8)}))


def command(*args):
    return [str(e2e.TEST_MLX), "capture", *args]


def size(path):
    return pathlib.Path(path).stat().st_size if pathlib.Path(path).exists() else 0


def run(*args, status=0):
    done = subprocess.run(command(*args), text=True, capture_output=True, timeout=WAIT_S, stdin=subprocess.DEVNULL,
                          check=False)
    check(done.returncode == status, f"capture {args}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


@contextlib.contextmanager
def running(path, *args, port="0", end=signal.SIGINT, status=0):
    """A capture that has begun, and is ended by a signal; what it prints is added to the list that is returned."""
    out = []
    pathlib.Path(path).unlink(missing_ok=True)
    with subprocess.Popen(command(port, str(path), "--file-prefix", pmdlib.PREFIX, *args), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            # The section is written when the program copies.
            begun = e2e.testlib.await_until(lambda: process.poll() is not None or size(path) > 0, WAIT_S)
            check(begun and process.poll() is None, f"no capture: {process.poll() and process.stdout.read()}")
            yield out
            if end:
                process.send_signal(end)
            out.append(process.stdout.read())
            check(process.wait(WAIT_S) == status, f"capture: {process.returncode}\n{out[0]}")
        finally:
            e2e.end(process)


class Rig:
    """testpmd, whose port 0 the emulator captures too."""

    def __init__(self, work):
        self.true = pathlib.Path(work) / "true.pcapng"
        self.testpmd = pmdlib.Testpmd(("--rxq=2", "--txq=2", "--rxd=2048", "--enable-rx-timestamp"), eal_args=eal(),
                                      mbufs=16384, emu_args=("--capture", f"0={self.true}", "--clock-drift", "0"))
        self.client = telemetry_client.Client()

    def inject(self, frames, **how):
        """Frames that port 0 receives."""
        before = self.testpmd.stats(0)["RX-packets"]
        self.testpmd.ctl("inject", "port=0", f"frames={frames}", "flows=16", *(f"{k}={v}" for k, v in how.items()))
        arrived = e2e.testlib.await_until(lambda: self.testpmd.stats(0)["RX-packets"] == before + frames, WAIT_S)
        check(arrived, f"{self.testpmd.stats(0)}: not {frames} more than {before}")


def matched(got, true, quality_ns):
    """Every packet is one of the emulator's, bytes and time; the largest difference of times in ns."""
    times = {}
    for _, ns, flags, data, _ in true:
        times.setdefault((flags, data), []).append(ns)
    worst = 0
    for _, ns, flags, data, _ in sorted(got, key=lambda packet: packet[1]):
        of = times.get((flags, data))
        check(of, f"a packet that the emulator has not captured: {data[:40].hex()}")
        worst = max(worst, abs(ns - of.pop(0)))
    check(not any(times.values()), "packets of the emulator's capture are missing")
    check(worst <= quality_ns, f"timestamps differ by {worst} ns, more than {quality_ns} ns")
    return worst


def reader(*command):
    """What a program that reads captures prints; None: it is not installed."""
    if not shutil.which(command[0]):
        print(f"{command[0]} is not installed: not checked")
        return None
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=True)
    return done.stdout


def comments(path):
    """All comments of a file as Wireshark reads them: of the section, the interfaces, the statistics."""
    # As packets it shows those of packets alone.
    text = reader("tshark", "-X", "read_format:MIME Files Format", "-r", path, "-T", "fields", "-E", "aggregator=|",
                  "-e", "pcapng.options.option.data.comment")
    return text and text.strip().split("|")


def readers(got, g):
    """tcpdump, tshark and capinfos: packets, times to the nanosecond, and the quality of the clock."""
    text = reader("tcpdump", "-nr", got)
    check(text is None or len(text.splitlines()) == len(g.packets), f"tcpdump: {text and text[:500]}")
    text = reader("tshark", "-r", got, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.interface_name")
    expected = [f"{ns // 10**9}.{ns % 10**9:09d}\tmlxemu0np0" for _, ns, _, _, _ in g.packets]
    check(text is None or text.splitlines() == expected, f"tshark: {text and text[:500]}, not {expected[:10]}")
    quality = g.interfaces[0][1][1].decode()
    text = reader("capinfos", got)
    words = ("File timestamp precision:  nanoseconds (9)", "Time resolution = 0x09", f"Comment = {quality}",
             f"Capture comment:     {g.comment}", f"Number of packets:   {len(g.packets)}")
    check(text is None or all(word in text for word in words), f"capinfos: {words}\n{text}")
    check(comments(got) in (None, [g.comment, quality, *(comment for _, comment, _ in g.stats)]), comments(got))


def equal(rig, work):
    """Frames, times and statistics of a capture that a signal ends; other programs read it."""
    got = work / "got.pcapng"
    rig.testpmd.cmd("set fwd rxonly")
    rig.testpmd.cmd("start")
    with running(got) as out:
        rig.inject(1)
        rig.inject(2000)
    rig.testpmd.cmd("stop")
    clock = rig.client.query("/mlxpmd/clock,0")
    g, t = Pcapng(got), Pcapng(rig.true)
    check("2001 packets" in out[0] and "2001 with a timestamp of the device" in out[0], out[0])
    worst = matched(g.packets, [p for p in t.packets if p[2] == 1], clock["uncertainty_ns"] + TICK_NS)
    check(len(g.interfaces) == 1 and g.interfaces[0][1][9] == b"\x09", f"{g.interfaces}")
    options = g.interfaces[0][1]
    check(options[2] == b"mlxemu0np0" and b"clock " in options[1] and b"source page" in options[1], f"{options}")
    number, comment, counts = g.stats[-1]
    check(number == 0 and counts == {4: 2001, 5: 0, 6: 2001, 8: 2001} and "uncertainty" in comment, f"{g.stats}")
    check(f"Port 0 of dpdk-testpmd, process {rig.client.hello['pid']}, DPDK" in g.comment, g.comment)
    readers(got, g)
    print(f"2001 frames equal to the emulator's, times within {worst} ns, stated {clock['uncertainty_ns']} ns")


def options(rig, work):
    """Filter, snaplen, count, directions, queue, duration, standard output."""
    t, got = rig.testpmd, work / "options.pcapng"
    t.cmd("set fwd rxonly")
    t.cmd("start")
    # The flows of `mlxemu ctl inject` have the source ports from 1024 on, and addresses from 198.18.0.0 on.
    expression = "arp or udp and (src portrange 1024-1026 or src host 198.18.0.9)"
    with running(got, "--filter", expression, "--snaplen", "50", "--buffers", "2048") as out:
        rig.inject(500)
    g = Pcapng(got)
    check(re.search(r"filtered out: (\d+)", out[0])[1] == "373" and len(g.packets) == 127, out[0])
    check({p[3][35] for p in g.packets} == {0, 1, 2, 9}, g.packets)
    check(all(len(p[3]) == 50 and p[4] == 64 for p in g.packets) and g.interfaces[0][0] == 50, g.packets[:1])
    check(g.interfaces[0][1][11] == b"\0" + expression.encode(), g.interfaces)
    check(g.stats[-1][2] == {4: 500, 5: 0, 6: 127, 8: 127}, g.stats)
    with running(got, "--count", "100", end=None):
        rig.inject(300)
    check(len(Pcapng(got).packets) == 100, "--count")
    run("0", str(got), "--file-prefix", pmdlib.PREFIX, "--duration", "0.2")
    check(not Pcapng(got).packets, "--duration")
    t.cmd("stop")
    t.cmd("set fwd io")
    with running(got, "--direction", "both", port="1") as out:
        before = rig.client.query("/mlxpmd/queues,1")
        pmdlib.circulate(t, 1, 1000, WAIT_S)
        after = rig.client.query("/mlxpmd/queues,1")
    ways = [sum(q["packets"] - before[name]["packets"] for name, q in after.items() if name[:2] == way)
            for way in ("rx", "tx")]
    g = Pcapng(got)
    # What is sent has no time of the device: the mbuf may still have that of its reception.
    check([sum(p[2] == flags for p in g.packets) for flags in (1, 2)] == ways, f"{ways}\n{out}")
    check(all((p[0] == 0) == (p[2] == 1) for p in g.packets) and len(g.interfaces) == 2, g.interfaces)
    check(b"CLOCK_REALTIME when the packet was written" in g.interfaces[1][1][1], g.interfaces)


def step(rig, work):
    """A step of the clock in the middle of a capture: statistics with the clock of that moment."""
    got = work / "step.pcapng"
    rig.testpmd.cmd("set fwd rxonly")
    rig.testpmd.cmd("start")
    with running(got) as out:
        before = size(got)
        rig.testpmd.ctl("clock", "step", "ns=1000000000")
        check(e2e.testlib.await_until(lambda: size(got) > before, WAIT_S), "the step is not in the file")
        rig.inject(5)
    rig.testpmd.cmd("stop")
    texts = [comment for _, comment, _ in Pcapng(got).stats]
    check(len(texts) >= 2 and all(" 1 steps and " in text for text in texts[-2:]), texts)
    check(comments(got) is None or comments(got)[-2:] == texts[-2:], comments(got))
    check(" 1 steps and " in out[0] and ", 0 steps" in Pcapng(got).interfaces[0][1][1].decode(), out[0])


def ends(rig, work):
    """A killed capture is cleaned up by the next one; two at once; the program ends."""
    t, got = rig.testpmd, work / "ends.pcapng"
    t.cmd("set fwd rxonly")
    t.cmd("start")
    with running(got, end=signal.SIGKILL, status=-signal.SIGKILL):
        rig.inject(10)
        text = run("0", str(work / "second.pcapng"), "--file-prefix", pmdlib.PREFIX, status=2)
        check("port 0 is being captured by another process" in text, text)
    rig.inject(100)
    with running(got) as out:
        rig.inject(50)
    check("what an earlier capture of port 0 has left" in out[0] and len(Pcapng(got).packets) == 50, out[0])
    text = run("0", "/dev/full", "--file-prefix", pmdlib.PREFIX, status=1)
    check("cannot write '/dev/full': No space left" in text, text)
    with running(got, status=1, end=None) as out:
        rig.inject(20)
        t.quit()
    check("the program has ended" in out[0] and len(Pcapng(got).packets) == 20, out[0])


def mistakes(_rig, work):
    got = str(work / "no.pcapng")
    for args, message in (((), "give PORT and FILE"), (("x", got), "PORT: bad value 'x'"),
                          (("7", got), "no port 7 of mlxpmd"), (("0", got, "--queue", "9"), "port 0 has no queue 9"),
                          (("0", got, "--direction", "up"), "allowed: rx tx both"),
                          (("0", got, "--count", "0"), "--count: bad value"),
                          (("0", got, "--duration", "0"), "--duration: bad value")):
        text = run("--file-prefix", pmdlib.PREFIX, *args, status=2)
        check(message in text, f"{args}: {text}")
    for args, message in (((got, "--filter", "no such thing"), "--filter: "), (("/nonexistent/x",), "cannot write"),
                          ((got, "--buffers", "16777216"), "no memory for 16777216 copies")):
        text = run("0", *args, "--file-prefix", pmdlib.PREFIX, status=1)
        check(message in text, f"{args}: {text}")
    check("no program with --file-prefix none" in run("0", got, "--file-prefix", "none", status=2), "prefix")


# In this order: the first compares all that the emulator has captured, the last ends the program.
CASES = (equal, options, mistakes, step, ends)


def test():
    if not e2e.testlib.hugepages_taken(HUGE_MB):
        e2e.skip(f"processes can share memory only with hugepages, and {HUGE_MB} MiB of them cannot be reserved")
    with tempfile.TemporaryDirectory(prefix="mlxpmd-capture.") as folder:
        rig = Rig(folder)
        with rig.testpmd:
            for case in CASES:
                case(rig, pathlib.Path(folder))
                print(f"{case.__name__}: passed", flush=True)


e2e.main(test)
