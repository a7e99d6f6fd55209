# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What leaves a port, frame by frame: recorded, and compared with what it should have been."""
import collections

import stocklib
from e2e import check, testlib
from scapy.all import IP, TCP, UDP, Ether

PEER = "02:00:00:00:00:01"  # Whom testpmd sends to from port 1.


def readdressed(frame):
    """As testpmd's csum and mac modes forward it from port 1."""
    p = Ether(frame)
    p.dst, p.src = PEER, stocklib.MAC[1]
    return p


def with_checksums(p):
    """All checksums worked out by scapy."""
    for layer in (IP, TCP, UDP):
        if layer in p:
            del p[layer].chksum
    return bytes(p)


def through(setup, frames, total, args, cmds, devargs="", before=(), out_per_in=1):
    """Frames from a capture at port 0; statistics, the report, and what left port 1.

    args begin with the --forward-mode.
    """
    with stocklib.Replay(frames, total, record=True) as replay:
        with stocklib.testpmd(setup, devargs, ["--disable-device-start", "--no-flush-rx", *args],
                              wires=replay.wires) as t:
            for cmd in [*before, "port start all", *cmds]:
                t.cmd(cmd)
            t.cmd(f"set fwd {args[0].partition('=')[2]} retry")
            t.cmd("set burst tx delay 20 retry 50000")
            t.cmd("start")
            stocklib.settle(lambda: t.stats(1)["TX-packets"], total * out_per_in)
            # TX-packets counts what was posted: wait until the device has sent it.
            testlib.await_until(lambda: t.ctl("counters")["ports"][1]["tx_frames"] >= total * out_per_in, 20)
            t.cmd("stop")
            stats = [t.stats(p) for p in (0, 1)]
            report = t.quit()
        sent = collections.Counter(replay.sent())
    check(stats[0]["RX-packets"] == total, f"{stats[0]['RX-packets']} of {total} received")
    check(stats[1]["TX-packets"] == total * out_per_in,
          f"{stats[1]['TX-packets']} of {total * out_per_in} sent")
    for name, value in (("tx_frames", total * out_per_in), ("tx_errors", 0)):
        check(report.port(1, name) == value, f"{name} is {report.port(1, name)}, not {value}")
    return stats, report, sent


def compare(sent, expected):
    """Two counters of frames; the first difference in words."""
    if sent == expected:
        return
    extra, missing = sent - expected, expected - sent
    for what, some in (("not expected", extra), ("missing", missing)):
        if some:
            frame, count = some.most_common(1)[0]
            print(f"{what}, {count} times: {Ether(frame)!r}")
    check(False, f"{sum(extra.values())} frames not as expected, {sum(missing.values())} missing")
