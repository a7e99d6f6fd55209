# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Forwarding by Debian's dpdk-testpmd on two ports: no frame is lost or altered, and all counters agree.

Usage: testpmd.py [--long]

Two kinds of run. round_trip(): a burst circulates between the two connected ports, forwarded by io or macswap; at the
end testpmd's statistics, the PMD's extended statistics and the emulator's report are equal. through(): frames from a
capture arrive at port 0 and must be sent by port 1 unchanged. --long forwards 10 million packets in each mode.
"""
import collections
import itertools
import pathlib
import random
import tempfile

import pmdlib
from e2e import check, main, testlib
from scapy.utils import RawPcapReader, RawPcapWriter

LONG = pmdlib.long_run()
SECONDS_MAX = 3000 if LONG else 120
STALL_S = 20
# Frames of round_trip(); testpmd builds them from segments of these lengths.
ROUND_FRAMES = [
    # name, --txpkts, MTU
    ("60 bytes", "60", 1500),
    ("1514 bytes", "1514", 1500),
    ("300 bytes in 3 segments", "60,140,100", 1500),
    ("9000 bytes in 5 segments", "1800,1800,1800,1800,1800", 9000),
]
PACKETS = {"60 bytes": 10_500_000 if LONG else 40_000}
PACKETS_OTHER = 200_000 if LONG else 4_000


# Striding receive queues: queues, MTU, sizes of strides and of what is copied.
STRIDING = [
    (1, 1500, "mprq_log_stride_num=3"),
    (4, 1500, "mprq_log_stride_num=6,mprq_log_stride_size=8"),
    (1, 1500, "mprq_max_memcpy_len=0"),
    (1, 1500, "mprq_max_memcpy_len=65535,mprq_log_stride_num=9,mprq_log_stride_size=6"),
    (4, 9000, "mprq_log_stride_size=11,mprq_log_stride_num=4"),
]


def arguments(mode, queues, mtu):
    # A descriptor holds one mbuf, and a frame of 9000 bytes takes eight: the ring must hold 512 frames.
    args = [f"--forward-mode={mode}", f"--rxq={queues}", f"--txq={queues}", "--txd=1024",
            f"--rxd={4096 if mtu > 1500 else 1024}"]
    if mtu > 1500:
        # Plus Ethernet header, one VLAN tag and FCS.
        args += ["--enable-scatter", f"--max-pkt-len={mtu + 22}"]
    return args


# All frames of these tests are unicast, so the firmware's vport counters are equal to testpmd's.
VPORT = [("RX-packets", "rx_unicast_packets"), ("TX-packets", "tx_unicast_packets")]


def equal_counters(testpmd):
    """Check all counters after everything was received, and end testpmd; the statistics of both ports."""
    stats = [pmdlib.check_statistics(testpmd, p, VPORT) for p in (0, 1)]
    for port in (0, 1):
        check(stats[port]["RX-packets"] == stats[1 - port]["TX-packets"],
              f"port {port} received {stats[port]['RX-packets']} of "
              f"{stats[1 - port]['TX-packets']}")
    report = testpmd.quit()
    for port in (0, 1):
        pmdlib.check_report(report, port, stats[port])
    return stats


def round_trip(mode, queues, name, txpkts, mtu):
    """Forward a burst in a loop until enough packets were received, empty the cable, compare the counters."""
    target = PACKETS.get(name, PACKETS_OTHER)
    with pmdlib.Testpmd(arguments(mode, queues, mtu), wires=["pair:lossless"]) as testpmd:
        testpmd.cmd(f"set txpkts {txpkts}")
        # All bursts of 32 packets (one per queue and port) must fit into one ring: RSS may select one queue for all.
        seconds = pmdlib.circulate(testpmd, 1 if mtu > 1500 else 2, target, SECONDS_MAX)
        stats = equal_counters(testpmd)
    total = sum(s["RX-packets"] for s in stats)
    print(f"{mode}, {queues} queues, {name}: {total} packets, {total / seconds / 1e3:.0f} k/s, "
          "none lost", flush=True)


def frames_random(count, longest):
    """Frames of random lengths and contents: UDP, TCP, other IP protocols, and not IP."""
    rng = random.Random(count)
    frames = []
    for n in range(count):
        size = rng.choice([60, 61, 64, 127, 128, 1514, longest, rng.randint(60, longest)])
        size = min(size, longest)
        head = bytes.fromhex("0c42a14ed000020000000001")
        if n % 4 == 0:
            frames.append(head + b"\x88\xb5" + n.to_bytes(4, "big") + rng.randbytes(size - 18))
            continue
        # Different addresses and ports select all queues; the checksum fields are random.
        ip = bytes([0x45, 0]) + (size - 14).to_bytes(2, "big") + n.to_bytes(4, "big")[2:] + b"\0\0" \
            + bytes([64, (17, 6, 1)[n % 3]]) + b"\0\0" + bytes([10, 0, n >> 8 & 255, n & 255]) \
            + bytes([10, 1, 0, 1])
        frames.append(head + b"\x08\x00" + ip + rng.randbytes(size - 34))
    return frames


def through(queues, mtu, devargs="", more=()):
    """Forward frames from a capture file to another one, and compare the files."""
    frames = frames_random(20_000 if LONG else 1_500, mtu + 14)
    with tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.") as work:
        inp, out = pathlib.Path(work) / "in.pcap", pathlib.Path(work) / "out.pcap"
        writer = RawPcapWriter(str(inp), linktype=1, sync=True)
        writer.write_header(None)
        for frame in frames:
            writer.write_packet(frame, sec=0, usec=0)
        writer.close()
        # `start` of testpmd discards what was received before it, and the replay begins by itself.
        with pmdlib.Testpmd([*arguments("io", queues, mtu), "--no-flush-rx", *more],
                            wires=[f"0=pcap:{inp}", f"1=pcap:,{out}"], eal_args=pmdlib.eal(devargs),
                            emu_args=["--seed", "0"]) as testpmd:
            # Retry if the send queue is full: by default testpmd drops the packets.
            testpmd.cmd("set fwd io retry")
            testpmd.cmd("set burst tx delay 20 retry 50000")
            testpmd.cmd("start")
            # TX-packets counts what was posted: wait for what the device has sent.
            testlib.await_progress(lambda: testpmd.ctl("counters")["ports"][1]["tx_frames"],
                                   lambda sent: sent >= len(frames), STALL_S)
            testpmd.cmd("stop")
            testpmd.quit()
        got = [bytes(data) for data, _ in RawPcapReader(str(out))]
    check(len(got) == len(frames), f"{len(frames)} frames in, {len(got)} out")
    if queues == 1:
        for n, (a, b) in enumerate(zip(frames, got)):
            check(a == b, f"frame {n} of {len(a)} bytes was altered")
    else:  # The order is kept within each queue only.
        check(collections.Counter(frames) == collections.Counter(got), "frames were altered")
    print(f"through, {queues} queues, up to {mtu + 14} bytes, {' '.join((devargs, *more)) or 'no devargs'}: "
          f"{len(frames)} frames, "
          "none altered", flush=True)


def run():
    for queues, mtu in itertools.product((1, 4), (1500, 9000)):
        through(queues, mtu)
    for queues, mtu, devargs in STRIDING:
        through(queues, mtu, f"mprq_en=1,rxqs_min_mprq=0,{devargs}")
    # Pinned external buffers, which testpmd does not map for the port.
    through(1, 1500, more=("--mp-alloc=xbuf",))
    for mode, queues, frame in itertools.product(("io", "macswap"), (1, 4), ROUND_FRAMES):
        round_trip(mode, queues, *frame)


main(run)
