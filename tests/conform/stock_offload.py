# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Offload cases of the stock PMD: checksums, segmentation, VLAN, timestamps; and stop and start.

What leaves port 1 is recorded. Few frames are sent many times, so that the record consists of few
different ones, which are compared with what scapy makes of them.
"""
import collections
import re
import time

import lro
import pmdlib
import stocklib
import tso
from conform import Case
from e2e import MLXEMU, check, testlib
from frames import repeats, tcp_flows, udp6_flows, udp_flows
from scapy.all import IP, TCP, Dot1Q, Ether
from stock_wire import compare, readdressed, through, with_checksums

MILLION = 1_000_000
HW_CSUM = [f"csum set {what} hw {port}" for port in (0, 1) for what in ("ip", "udp", "tcp")]


def damaged(frames, offset):
    """The byte there, of a checksum, is wrong."""
    return [f[:offset] + bytes([f[offset] ^ 0x55]) + f[offset + 1:] for f in frames]


def checksum_counts(setup, frames):
    """How many frames were found good, by IP and by TCP or UDP; the PMD never reports a bad one."""
    with stocklib.Replay(frames, len(frames)) as replay:
        with stocklib.testpmd(setup, "", ["--forward-mode=rxonly", "--enable-rx-cksum",
                                          "--no-flush-rx"], wires=replay.wires) as t:
            t.cmd("set verbose 1")
            text = t.watch("start", lambda text: text.count(stocklib.VERBOSE) >= len(frames))
            t.watch("stop", lambda text: "Done." in text)
            t.quit()
    return [len(re.findall(rf"\bRTE_MBUF_F_RX_{layer}_CKSUM_GOOD", text)) for layer in ("IP", "L4")]


def checksums(setup):
    """Wrong checksums are detected on receive, and all are right on transmit."""
    total = setup.packets(MILLION)
    good = udp_flows(64, 90) + tcp_flows(64, 90) + udp6_flows(64, 90)
    bad_ip, bad_l4 = damaged(udp_flows(64, 90), 24), damaged(tcp_flows(64, 90), 50)
    for kind, wanted in ((good, [192, 192]), (bad_ip, [0, 64]), (bad_l4, [64, 0])):
        found = checksum_counts(setup, kind)
        check(found == wanted, f"{found} frames good by IP and L4, not {wanted}")
    frames = good + bad_ip + bad_l4
    expected = collections.Counter()
    for frame, n in zip(frames, repeats(frames, total)):
        expected[with_checksums(readdressed(frame))] += n
    _, report, sent = through(
        setup, frames, total, ["--forward-mode=csum", "--enable-rx-cksum"], [], before=HW_CSUM)
    compare(sent, expected)
    # Not the PMD's own sum: it counts bytes of a frame again that is offered to a full ring again.
    check(report.port(1, "tx_bytes") == 90 * total, f"{report.port(1, 'tx_bytes')} bytes sent")
    return total


MSS = 200


def segments(frame):
    """TCP segmentation of one frame, done here."""
    p = readdressed(frame)
    payload, head = bytes(p[TCP].payload), bytes(p)[:-len(bytes(p[TCP].payload))]
    out = []
    for n, at in enumerate(range(0, len(payload), MSS)):
        part = payload[at:at + MSS]
        q = Ether(head + part)
        q[IP].len = len(q) - 14
        q[IP].id = (p[IP].id + n) & 0xffff
        q[TCP].seq = (p[TCP].seq + at) & 0xffffffff
        if at + MSS < len(payload):
            q[TCP].flags = q[TCP].flags & ~0x09  # FIN and PSH are the last one's.
        out.append(with_checksums(q))
    return out


def segmentation(setup):
    """TSO: every segment as TCP would have made it, byte for byte."""
    total = setup.packets(0.2 * MILLION)
    frames = []
    for n, frame in enumerate(tcp_flows(64, 1014)):
        p = Ether(frame)
        p[IP].id, p[TCP].flags = 65530 + n % 6, "PA"
        frames.append(with_checksums(p)[:54] + bytes((n + i) & 255 for i in range(960)))
    counts, expected = repeats(frames, total), collections.Counter()
    for frame, n in zip(frames, counts):
        for segment in segments(frame):
            expected[segment] += n
    _, _, sent = through(setup, frames, total, ["--forward-mode=csum"], [],
                         before=[*HW_CSUM, f"tso set {MSS} 1"], out_per_in=5)
    compare(sent, expected)
    return 5 * total


def vlan(setup):
    """The tag is stripped on receive and another one inserted on transmit."""
    total = setup.packets(MILLION)
    frames = udp_flows(128, 64, vlan=5)
    expected = collections.Counter()
    for frame, n in zip(frames, repeats(frames, total)):
        p = readdressed(frame)
        p[Dot1Q].vlan = 99
        expected[bytes(p)] += n
    stats, report, sent = through(
        setup, frames, total, ["--forward-mode=mac", "--rx-offloads=0x1"], [],
        before=["vlan set strip on 0", "tx_vlan set 1 99"])
    compare(sent, expected)
    check(stats[0]["RX-bytes"] == 60 * total and report.port(0, "rx_bytes") == 64 * total,
          f"{stats[0]['RX-bytes']} bytes received of {report.port(0, 'rx_bytes')}")
    return total


def merged(setup):
    """LRO on a striding and on an ordinary queue; the packets leave as the segments of which they were made."""
    frames = lro.frames_in()
    for devargs in ("mprq_en=1,rxqs_min_mprq=1", ""):
        with stocklib.Replay(frames, len(frames), record=True) as replay:
            with stocklib.testpmd(setup, devargs, ["--no-flush-rx", "--disable-device-start", *lro.LRO],
                                  wires=replay.wires) as t:
                received, report, mac = lro.forward(t, len(frames))
            lro.compare(replay.out, mac, received, report)
    return 2 * len(frames)


def tunnels(setup):
    """TSO and checksums in tunnels: outer and inner headers of each frame."""
    count = 0
    for kind in ("VXLAN", "GRE", "GENEVE"):
        packets, frames = tso.packets_for(stocklib.MAC[0], 1000, kind)
        with stocklib.Replay(frames, len(frames), record=True) as replay:
            with stocklib.testpmd(setup, "", tso.ARGS, wires=replay.wires) as t:
                wanted = tso.segment(t, packets, 1000, kind)
                t.quit()
            sent = collections.Counter(replay.sent())
        tso.compare(sent, wanted)
        count += sum(wanted.values())
    return count


def stamps_of(t, frames):
    """Timestamps of frames that are injected while testpmd is stopped."""
    t.ctl("inject", "port=0", f"frames={frames}", "len=60")
    text = t.watch("start", lambda text: text.count(stocklib.VERBOSE) >= frames)
    t.watch("stop", lambda text: "Done." in text)
    return [int(s) for s in re.findall(r" - timestamp (\d+)", text)]


def timestamps(setup):
    """Raw timestamps: on every frame, never falling (a slow clock has one for two frames), as fast as the device's."""
    total = setup.packets(MILLION)
    offload = ["--rx-offloads=0x4000", "--forward-mode=rxonly", "--no-flush-rx"]
    with stocklib.Replay(udp_flows(256, 60), total) as replay:
        with stocklib.testpmd(setup, "", offload, wires=replay.wires) as t:
            t.cmd("start")
            stocklib.settle(lambda: stocklib.rx_packets(t), total)
            t.cmd("stop")
            stats = pmdlib.check_statistics(t, 0, stocklib.VPORT)
            t.cmd("set verbose 1")
            begin = time.monotonic()
            first = stamps_of(t, 64)
            testlib.pass_time(begin + 2 - time.monotonic(), "the timestamps must advance by this time")
            seconds, begin = time.monotonic() - begin, time.monotonic()
            second = stamps_of(t, 64)
            late = time.monotonic() - begin
            t.quit()
    check(stats["RX-packets"] == total, f"{stats['RX-packets']} of {total} received")
    stamps = first + second
    check(len(stamps) == 128, f"{len(stamps)} of 128 frames have a timestamp")
    check(all(a <= b for a, b in zip(stamps, stamps[1:])) and len(set(stamps)) > 1, "timestamps fall")
    measured = (second[0] - first[0]) / testlib.default_card(MLXEMU).clock_hz
    check(abs(measured - seconds) < 0.1 + late,
          f"{measured:.3f} s by timestamps, {seconds:.3f} s by the host")
    return total


def restarts(setup):
    """Ports stopped and started, closed and attached again; each time traffic flows."""
    count = 0
    with stocklib.testpmd(setup, "", stocklib.queues(2)) as t:
        for n in range(4):
            t.cmd("set fwd io")
            t.cmd("clear port stats all")
            pmdlib.circulate(t, 2, setup.packets(0.25 * MILLION), stocklib.SECONDS_MAX)
            stats = [t.stats(p) for p in (0, 1)]
            for port in (0, 1):
                check(stats[port]["RX-packets"] == stats[1 - port]["TX-packets"],
                      f"cycle {n}: port {port} received {stats[port]['RX-packets']} of "
                      f"{stats[1 - port]['TX-packets']}")
                check(stats[port]["RX-bytes"] == 64 * stats[port]["RX-packets"],
                      f"cycle {n}: port {port} received {stats[port]['RX-bytes']} bytes in "
                      f"{stats[port]['RX-packets']} frames of 64")
            count += sum(s["RX-packets"] for s in stats)
            text = t.cmd("port stop all")
            if n == 2:
                text += t.cmd("port close all")
                for address in pmdlib.e2e.PCI[:2]:
                    text += t.cmd(f"device detach {address}")
                for address in pmdlib.e2e.PCI[:2]:
                    text += t.cmd(f"port attach {address}")
                for port in (0, 1):
                    for direction in "rt":
                        t.cmd(f"port config {port} {direction}xq 2")
            text += t.cmd("port start all")
            check("rror" not in text and "Fail" not in text, text)
        report = t.quit()
    moved = sum(report.port(p, "rx_frames") for p in (0, 1))
    check(moved == count, f"{count} packets by testpmd, {moved} by the emulator")
    return count


CASES = [
    Case("csum", "checksums verified and inserted, byte for byte", checksums, "on cqe.write do set field=l4_ok"),
    Case("tso", "TSO: segments byte for byte", segmentation, "on rx.deliver do set off=last"),
    Case("tunnels", "TSO and checksums in VXLAN, GRE, GENEVE, byte for byte", tunnels, "on rx.deliver do set off=last"),
    Case("lro", "LRO: packets of segments, byte for byte", merged, "on cqe.write do set field=lro_min_ttl value=5"),
    Case("vlan", "VLAN strip and insert", vlan, "on rx.deliver do set off=last"),
    Case("timestamp", "raw timestamps rise at the clock's rate", timestamps,
         "on cqe.write do set field=timestamp value=5"),
    Case("restart", "ports stopped, started, closed, attached", restarts, "on cqe.write do set field=byte_cnt"),
]
