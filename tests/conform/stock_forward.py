# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Forwarding cases of the stock PMD: modes, queues, receive and transmit variants."""
import itertools
import time

import pmdlib
import stocklib
from conform import Case
from e2e import check
from frames import udp_flows
from stocklib import forwarded, queues

MILLION = 1_000_000


def io_one_queue(setup):
    return forwarded(setup, "io", 2 * MILLION)


def io_four_queues(setup):
    return forwarded(setup, "io", 1.2 * MILLION, args=queues(4))


def mac_modes(setup):
    """Headers rewritten, in one mbuf and in three."""
    count = 0
    for mode, txpkts in (("mac", "64"), ("macswap", "60,140,100")):
        count += forwarded(setup, mode, 0.6 * MILLION, txpkts=txpkts)
    return count


def received_only(setup, devargs="", args=(), count=MILLION, size=60):
    """A capture is replayed into port 0, and nothing is sent."""
    total = setup.packets(count)
    with stocklib.Replay(udp_flows(256, size), total) as replay:
        with stocklib.testpmd(setup, devargs, ["--forward-mode=rxonly", *args],
                              wires=replay.wires) as t:
            stocklib.took_device(t)
            t.cmd("start")
            stocklib.settle(lambda: stocklib.rx_packets(t), total)
            t.cmd("stop")
            stats = pmdlib.check_statistics(t, 0, stocklib.VPORT)
            report = t.quit()
    check(stats["RX-packets"] == total, f"{stats['RX-packets']} of {total} received")
    pmdlib.check_report(report, 0, stats)
    return total


def rx_variants(setup):
    """Scalar and vector receive, each with one queue and with four."""
    count = 0
    for vector, n in itertools.product((0, 1), (1, 4)):
        count += received_only(setup, f"rx_vec_en={vector}", queues(n), 0.3 * MILLION)
    return count


def rx_scattered(setup):
    """Frames of 9000 bytes into chains of five mbufs; lengths add up."""
    return received_only(setup, "rx_vec_en=0", ["--enable-scatter", "--max-pkt-len=9018",
                                                "--rxd=2048"], 0.12 * MILLION, 9000) + \
        received_only(setup, "", ["--mbuf-size=9216"], MILLION, 1514)


def sent_only(setup, devargs="", count=MILLION, cmds=(), args=()):
    """testpmd sends and never polls: what the other side has no room for is counted there."""
    target = setup.packets(count)
    with stocklib.testpmd(setup, devargs, ["--forward-mode=txonly", *args],
                          wires=["pair"]) as t:
        stocklib.took_device(t)
        for cmd in cmds:
            t.cmd(cmd)
        t.cmd("start")
        stocklib.settle(lambda: t.stats(0)["TX-packets"], target)
        t.cmd("stop")
        time.sleep(0.2)  # What was rung for is still sent.
        stats = [t.stats(p) for p in (0, 1)]
        xstats = [t.xstats(p) for p in (0, 1)]
        report = t.quit()
    for port in (0, 1):
        s, x, peer = stats[port], xstats[port], 1 - port
        check(s["TX-packets"] >= target, f"port {port} sent {s['TX-packets']} of {target}")
        check(s["RX-missed"] == x["rx_out_of_buffer"] == report.port(port, "rx_out_of_buffer"),
              f"port {port}: RX-missed {s['RX-missed']}, xstat {x['rx_out_of_buffer']}, "
              f"emulator's {report.port(port, 'rx_out_of_buffer')}")
        for a, b in (("TX-packets", "tx_frames"), ("TX-bytes", "tx_bytes")):
            check(s[a] == report.port(port, b),
                  f"port {port}: {a} {s[a]}, emulator's {b} {report.port(port, b)}")
        check(x["rx_unicast_packets"] == stats[peer]["TX-packets"],
              f"port {port}: {x['rx_unicast_packets']} arrived of {stats[peer]['TX-packets']}")
    return sum(s["TX-packets"] for s in stats), report


def sent(setup):
    return sent_only(setup)[0]


# Device arguments, and what of the frame is read by pointer: "all" of it, or none of it.
TX_VARIANTS = [
    ("txq_inline_max=256,txqs_min_inline=0", 0),
    ("txqs_min_inline=8", None),
    ("txq_mpw_en=0", None),
    ("txq_mpw_en=0,txq_inline_max=128,txqs_min_inline=0", 0),
    ("txq_inline_mpw=128,txqs_min_inline=0", 0),
    ("txq_inline_max=0,txq_inline_mpw=0", 64),
]


def tx_variants(setup):
    """Enhanced multi-packet write and inline data: what the device reads by pointer shows it."""
    count = 0
    for devargs, by_pointer in TX_VARIANTS:
        got, report = sent_only(setup, devargs, 0.2 * MILLION)
        count += got
        frames, reads = report.port(0, "tx_frames"), report.port(0, "dma_read_bytes")
        check(by_pointer is None or reads == by_pointer * frames,
              f"{devargs}: {reads} bytes read for {frames} frames")
    return count


CASES = [
    Case("io", "io forwarding, one queue", io_one_queue, "cqe.byte_cnt"),
    Case("io-4", "io forwarding, four queues", io_four_queues, "counter.rx_frames"),
    Case("mac", "mac and macswap, one and three segments", mac_modes, "counter.tx_frames"),
    Case("rx", "rxonly: scalar and vector, one queue and four", rx_variants, "cqe.byte_cnt"),
    Case("rx-scatter", "rxonly: frames in chains of mbufs, and large", rx_scattered,
         "cqe.byte_cnt"),
    Case("tx", "txonly; what the peer misses", sent, "counter.rx_out_of_buffer"),
    Case("tx-inline", "txonly: multi-packet write, inline", tx_variants, "counter.tx_frames"),
]
