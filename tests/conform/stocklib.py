# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Debian's dpdk-testpmd with DPDK's own mlx5 PMD: how it is started, and its traffic."""
import pathlib
import re
import struct
import tempfile

import conform  # noqa: F401  (puts the shared modules on the path)
import e2e
import pmdlib
from e2e import check, testlib

SECONDS_MAX = 120
# With --seed 0.
MAC = ["0c:42:a1:4e:d0:00", "0c:42:a1:4e:d0:01"]
# In DPDK's mlx5 the vport counters are those of the kernel's interface.
VPORT = [("RX-packets", "rx_unicast_packets"), ("TX-packets", "tx_unicast_packets"),
         ("RX-packets", "rx_phy_packets"), ("TX-packets", "tx_phy_packets"),
         ("RX-bytes", "rx_unicast_bytes"), ("TX-bytes", "tx_unicast_bytes")]


# EAL's line on each probe names the driver.
LOG = "--log-level=bus.pci:info"


def eal(devargs=""):
    """The stock PMD only: our plugin is not loaded."""
    args = pmdlib.eal(devargs, simd=None)
    at = args.index("-d")
    return [*args[:at], *args[at + 2:], LOG]


# For rings of 1024 at both sides of four queues of two ports; memory that is touched costs time.
MBUFS = 24_000


# Once in the lines that testpmd prints for a packet (set verbose 1), in every release.
VERBOSE = " - sw ptype:"


def testpmd(setup, devargs="", args=(), wires=("pair:lossless",)):
    return pmdlib.Testpmd(["--rxd=1024", "--txd=1024", *args], wires=wires, mbufs=MBUFS,
                          emu_args=["--seed", "0", *setup.emu_args],
                          eal_args=[*pmdlib.eal(devargs), LOG] if setup.own else eal(devargs))


def check_burst_mode(t, direction, mode):
    """The PMD chose the burst function that the case is about (None: any)."""
    text = t.cmd(f"show {direction}q info 0 0")
    match = re.search(r"Burst mode: (.+)", text)
    check(match is not None, text)
    check(mode is None or match.group(1).split(" + ")[0].strip() == mode,
          f"burst mode is {match.group(1)!r}, not {mode!r}")


def caps():
    """{name: value} of the emulated card's capabilities."""
    return testlib.default_caps(e2e.MLXEMU)


def mini_cqe_formats():
    """Values of rxq_cqe_comp_en with which net_mlx5 compresses completions: formats that the card has."""
    have = caps()
    return [1, 3] + [2] * have["mini_cqe_resp_flow_tag"] + [4] * have["mini_cqe_resp_l3_l4_tag"]


def queues(n):
    return [f"--rxq={n}", f"--txq={n}", "--txonly-multi-flow"]


def took_device(t):
    check(t.started.count("mlx5_pci") >= 2, f"the stock PMD did not take both ports: {t.started}")


def forwarded(setup, mode, count, devargs="", args=(), bursts=2, txpkts=None, cmds=()):
    """Packets go round a cable of two ports; every counter agrees. How many were received."""
    target = setup.packets(count)
    with testpmd(setup, devargs, [f"--forward-mode={mode}", *args]) as t:
        took_device(t)
        if txpkts:
            t.cmd(f"set txpkts {txpkts}")
        for cmd in cmds:
            t.cmd(cmd)
        pmdlib.circulate(t, bursts, target, SECONDS_MAX)
        stats = [pmdlib.check_statistics(t, p, VPORT) for p in (0, 1)]
        for port in (0, 1):
            check(stats[port]["RX-packets"] == stats[1 - port]["TX-packets"],
                  f"port {port} received {stats[port]['RX-packets']} of "
                  f"{stats[1 - port]['TX-packets']}")
        report = t.quit()
    for port in (0, 1):
        pmdlib.check_report(report, port, stats[port])
    return sum(s["RX-packets"] for s in stats)


def pcap_repeat(path, frames, count):
    """A capture of count frames: these, again and again. The times are of no account."""
    records = [struct.pack("<IIII", 0, 0, len(f), len(f)) + f for f in frames]
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        whole = b"".join(records)
        for _ in range(count // len(frames)):
            out.write(whole)
        out.write(b"".join(records[:count % len(frames)]))


def pcap_frames(path):
    """The frames of a capture as the emulator writes it."""
    data = pathlib.Path(path).read_bytes()
    at, frames = 24, []
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


class Replay:
    """A capture for port 0, in a folder that vanishes: `with Replay(frames, count) as wires`."""

    def __init__(self, frames, count, record=False):
        self.frames, self.count, self.record = frames, count, record

    def __enter__(self):
        self.work = tempfile.TemporaryDirectory(prefix="mlxpmd-conform.")
        self.inp = f"{self.work.name}/in.pcap"
        self.out = f"{self.work.name}/out.pcap"
        pcap_repeat(self.inp, self.frames, self.count)
        return self

    def __exit__(self, *_):
        self.work.cleanup()

    @property
    def wires(self):
        return [f"0=pcap:{self.inp}", f"1=pcap:,{self.out}" if self.record else "1=loop"]

    def sent(self):
        return pcap_frames(self.out)


def settle(value, target, seconds=SECONDS_MAX, quiet=10.0):
    """Waits until value() reaches target, or has not changed for a while; the last one."""
    return e2e.testlib.await_progress(value, lambda last: last >= target, quiet, seconds)


def rx_packets(t, port=0):
    return t.stats(port)["RX-packets"]
