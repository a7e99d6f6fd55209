#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""TCP between two network namespaces through two TAP wires, segmented by the device in between.

The host's TCP stacks send frames of up to 9000 bytes, which testpmd's csum engine hands to the other port for
segmentation (TSO). The other stack verifies checksums and reassembles. First at full speed, where the receiver's
stack must find no segment damaged; then slowly and captured: both directions of the stream must be the same on both
sides, and no frame of more than one segment may arrive. A TAP wire itself takes no GSO packets.
Arguments: seconds (default 5, in the short form of the tests 3), rate while captured (default 60M).
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import e2e
import tapnet

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3 if os.environ.get("MLXPMD_SHORT") else 5
# Slow enough for tcpdump to capture all packets.
RATE = sys.argv[2] if len(sys.argv) > 2 else "60M"
MSS = 1448


def testpmd(work):
    """The command of a testpmd that segments on both ports, and which starts by itself."""
    lines = [f"tso set {MSS} {port}" for port in (0, 1)]
    lines += [f"csum set {what} hw {port}" for what in ("ip", "tcp") for port in (0, 1)]
    lines += [f"set eth-peer {port} 02:00:00:00:aa:{port:02x}" for port in (0, 1)]
    lines += ["port start all", "set promisc all on", "set fwd csum", "start"]
    script = pathlib.Path(work) / "commands"
    script.write_text("".join(line + "\n" for line in lines))
    return ["dpdk-testpmd", *e2e.eal(memory_mb=768, lcores="0,1"), "--", "-i", "--no-mlockall",
            "--total-num-mbufs=40000", "--enable-scatter", "--max-pkt-len=9022", "--rxd=2048", "--txd=1024",
            "--disable-device-start", f"--cmdline-file={script}"]


def stream(frames):
    """The bytes of a TCP stream by their sequence numbers, relative to the first frame of each connection."""
    streams = {}
    for frame in frames:
        if frame[23] != 6:
            continue
        tcp = 14 + (frame[14] & 15) * 4
        ports, seq = frame[tcp:tcp + 4], int.from_bytes(frame[tcp + 4:tcp + 8], "big")
        data = frame[tcp + (frame[tcp + 12] >> 4) * 4:14 + int.from_bytes(frame[16:18], "big")]
        base, have = streams.setdefault(ports, (seq, {}))
        if data:
            have[seq - base & 0xffffffff] = data
    out = {}
    for ports, (_, have) in streams.items():
        joined, at = bytearray(), None
        for offset in sorted(have):
            at = offset if at is None else at
            if offset + len(have[offset]) <= at:
                continue  # Sent again.
            e2e.check(offset <= at, f"bytes {at} to {offset} were not captured")
            joined += have[offset][at - offset:]
            at = offset + len(have[offset])
        out[ports] = bytes(joined)
    return out


def counters(net, side):
    """A namespace's counters of IP and TCP."""
    done = subprocess.run([*tapnet.inside(net.sides[side][0]), "nstat", "-asz"], stdout=subprocess.PIPE, text=True,
                          check=True)
    return {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines() if line[0] != "#"}


def full_speed(net):
    """As fast as both stacks, the emulator and testpmd can."""
    before = counters(net, 1)
    result = net.tcp(SECONDS, "0")
    got = {name: value - before[name] for name, value in counters(net, 1).items()}
    sent, received = result["end"]["sum_sent"], result["end"]["sum_received"]
    print(f"full speed: {received['bits_per_second'] / 1e9:.2f} Gbit/s, {got['TcpInSegs']} segments, "
          f"{sent['retransmits']} sent again")
    e2e.check(all(i["sum"]["bytes"] for i in result["intervals"]), "a second without progress")
    damaged = {name: got[name] for name in ("IpInHdrErrors", "TcpInErrs", "TcpInCsumErrors") if got[name]}
    e2e.check(not damaged, f"damaged packets: {damaged}")
    e2e.check(got["TcpInSegs"] * MSS >= received["bytes"], "a segment of more than the MSS arrived")


def compare(net):
    longest = []
    for sender in (0, 1):
        here, there = net.frames(sender, sender), net.frames(1 - sender, sender)
        e2e.check(stream(here) == stream(there), f"the streams of side {sender} differ")
        longest.append((max(map(len, here)), max(map(len, there))))
        print(f"side {sender}: {len(here)} frames of up to {longest[-1][0]} bytes sent, "
              f"{len(there)} of up to {longest[-1][1]} received, the same streams")
    e2e.check(longest[0][0] > 4 * MSS, "the sender's frames need no segmentation")
    e2e.check(longest[0][1] <= 14 + 20 + 32 + MSS, "a frame of more than one segment arrived")


def test():
    if not tapnet.permitted():
        e2e.skip("network namespaces or TAP devices are not permitted here")
    with tempfile.TemporaryDirectory(prefix="mlxpmd-e2e.") as work:
        with tapnet.TapNet(work, program=testpmd(work), mtu=9000) as net:
            full_speed(net)
            net.captured_tcp(SECONDS, RATE)
            compare(net)


e2e.main(test)
