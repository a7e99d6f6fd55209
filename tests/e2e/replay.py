#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Packets of a capture that are received on port 0 are sent from port 1 unchanged, with correct metadata.

Two captures: frames of all kinds made by scapy, and a real TCP connection captured between two network namespaces
(if these are permitted). Packet type, checksum flags and RSS hash are compared with those that scapy computes.
"""
import collections
import json
import pathlib
import tempfile

from scapy.utils import PcapReader, RawPcapReader, RawPcapWriter

import e2e
import packets
import tapnet
from expected_metadata import Expected


WHOLE = "rxq_cqe_comp_en=0"  # No compressed completions, which are the default.


def write_capture(path, frames):
    writer = RawPcapWriter(str(path), linktype=1, sync=True)
    writer.write_header(None)
    for n, frame in enumerate(frames):
        writer.write_packet(frame, sec=1700000000 + n // 1000, usec=n % 1000 * 1000)
    writer.close()


def read_capture(path):
    return [bytes(data) for data, _ in RawPcapReader(str(path))]


def replay(work, capture, queues, devargs):
    """Send the capture; returns the frames sent from port 1, the metadata lines, and the RSS key."""
    out, meta, final = work / "out.pcap", work / "meta", work / "json"
    count = len(read_capture(capture))
    program = [e2e.TEST_MLX, *e2e.eal(devargs=devargs), "--", "--fwd", "io", "--promisc",
               "--rxq", queues, "--txq", queues, "--max-pkt-len", "9600",
               "--rx-offloads", "checksum,rss-hash", "--meta-out", f"0={meta}",
               "--json", final, "--run", "30", "--count", count]
    result = e2e.emu(program, wires=[f"0=pcap:{capture}", f"1=pcap:,{out}"])
    e2e.check(result.status == 0, f"exit code {result.status}\n{result.out[-3000:]}")
    e2e.check(result.report.get("audit") == "clean", result.report.text)
    e2e.check(result.report.port(1, "tx_frames") == count,
              f"{count} frames in, {result.report.port(1, 'tx_frames')} out")
    # Those of port 0; port 1 receives nothing.
    cqes = result.report.port(0, "cqes")
    if devargs == WHOLE:
        e2e.check(cqes == count, f"{cqes} completions written for {count} frames")
    elif devargs:
        e2e.check(cqes < 0.7 * count, f"{devargs}: {cqes} completions written for {count} frames")
    lines = [json.loads(line) for line in meta.read_text().splitlines()]
    key = bytes.fromhex(json.loads(final.read_text())["ports"][0]["rss_key"])
    return read_capture(out), lines, key


FLAGS = {True: ("good",), False: ("bad",), None: ("unknown", "none")}
# mlx5 drivers report good for IPv6 headers, which have no checksum.
IP_FLAGS = {**FLAGS, None: ("unknown", "none", "good")}


def compare(frame, line, key, hashes):
    """Differences between the metadata from the device and the contents of the packet."""
    want = Expected(frame)
    bad = []

    def differ(what, device, expected):
        bad.append(f"{what}: device {device}, expected {expected}")

    if line["len"] != len(frame):
        differ("length", line["len"], len(frame))
    ptype = line["ptype"]
    for name in ("IPV4", "IPV6"):
        if (f"L3_{name}" in ptype) != (want.l3_name == name):
            differ("L3 type", ptype, want.l3_name)
    for name in ("TCP", "UDP", "FRAG"):
        if (f"L4_{name}" in ptype) != (want.l4_name == name):
            differ("L4 type", ptype, want.l4_name)
    if line["ip_cksum"] not in IP_FLAGS[want.ip_checksum_good]:
        differ("IP checksum", line["ip_cksum"], want.ip_checksum_good)
    # A wrong UDP checksum and none look the same in the CQE.
    good = None if want.l4_name == "UDP" and not want.l4_checksum_good else want.l4_checksum_good
    if line["l4_cksum"] not in FLAGS[good]:
        differ("L4 checksum", line["l4_cksum"], good)
    if (hashes or "rss_hash" in line) and line.get("rss_hash") != want.rss_hash(key):
        differ("RSS hash", line.get("rss_hash"), want.rss_hash(key))
    return bad


def replay_and_check(name, work, capture, queues, devargs="", hashes=True):
    frames = read_capture(capture)
    out, lines, key = replay(work, capture, queues, devargs)
    if queues == 1:
        e2e.check(out == frames, f"{name}: frames sent and received differ")
    # Several queues may change the order, but frames must not be lost, duplicated or modified.
    e2e.check(collections.Counter(out) == collections.Counter(frames), f"{name}: frames differ")
    e2e.check(len(lines) == len(frames), f"{name}: {len(lines)} metadata lines")
    if queues > 1:
        used = {line["queue"] for line in lines}
        e2e.check(len(used) == queues, f"{name}: of {queues} queues only {sorted(used)} were used")
        print(f"{name}, {queues} queues: {len(frames)} frames in and out")
        return
    wrong = 0
    for n, (frame, line) in enumerate(zip(frames, lines)):
        for text in compare(frame, line, key, hashes):
            wrong += 1
            if wrong <= 10:
                print(f"{name}: frame {n}: {text}: {Expected(frame).ether.summary()}")
    e2e.check(wrong == 0, f"{name}: {wrong} differences in {len(frames)} frames")
    print(f"{name}: {len(frames)} frames unchanged, metadata as computed by scapy")


def real_capture(work):
    """A TCP connection between two namespaces, captured by tcpdump."""
    with tapnet.TapNet(work) as net:
        net.capture()
        net.tcp(2, "50M")
        net.stop()
    return work / "side0.pcap"


def test():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-e2e.") as folder:
        work = pathlib.Path(folder)
        made = work / "made.pcap"
        write_capture(made, packets.frames())
        replay_and_check("made by scapy", work, made, 1, WHOLE)
        replay_and_check("made by scapy", work, made, 4, WHOLE)
        replay_and_check("made by scapy, default", work, made, 4)
        # Completions can be compressed when frames of one kind follow each other.
        alike = work / "alike.pcap"
        write_capture(alike, [f for f in packets.frames() for _ in range(6)])
        for form in (1, 2, 3, 4):
            for striding in ("", ",mprq_en=1,rxqs_min_mprq=0"):
                replay_and_check(f"mini CQE format {form}{striding}", work, alike, 1,
                                 f"rxq_cqe_comp_en={form}{striding}", hashes=form == 1)
        if not tapnet.permitted():
            print("real TCP: not tested, TAP devices are not permitted here")
            return
        real = real_capture(work)
        with PcapReader(str(real)) as reader:
            e2e.check(reader.linktype == 1, "the capture is not Ethernet")
        replay_and_check("real TCP", work, real, 1)


e2e.main(test)
