# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Forwarding cases of the stock PMD: modes, queues, receive and transmit variants."""
import collections
import itertools

import pmdlib
import stocklib
from conform import Case
from e2e import check, testlib
from frames import repeats, udp_flows
from stock_wire import compare, readdressed, through
from stocklib import forwarded, queues

MILLION = 1_000_000


def io_one_queue(setup):
    return forwarded(setup, "io", 2 * MILLION)


def io_four_queues(setup):
    return forwarded(setup, "io", 1.2 * MILLION, args=queues(4))


def swapped(frame):
    """As testpmd's macswap mode forwards it."""
    return frame[6:12] + frame[:6] + frame[12:]


# The mode, what it makes of a frame, and the segments of the frames that go round.
MAC_MODES = [("mac", lambda frame: bytes(readdressed(frame)), "64"),
             ("macswap", swapped, "60,140,100")]


def mac_modes(setup):
    """Headers rewritten: what leaves is compared, byte for byte; in one mbuf and in three."""
    count, frames = 0, udp_flows(128, 64)
    for mode, rewritten, txpkts in MAC_MODES:
        total = setup.packets(0.25 * MILLION)
        expected = collections.Counter()
        for frame, n in zip(frames, repeats(frames, total)):
            expected[rewritten(frame)] += n
        sent_frames = through(setup, frames, total, [f"--forward-mode={mode}"], [])[2]
        compare(sent_frames, expected)
        count += total + forwarded(setup, mode, 0.4 * MILLION, txpkts=txpkts)
    return count


def received_only(setup, devargs="", args=(), count=MILLION, size=60, mode=None):
    """A capture is replayed into port 0, and nothing is sent. How much, and the report."""
    total = setup.packets(count)
    with stocklib.Replay(udp_flows(256, size), total) as replay:
        with stocklib.testpmd(setup, devargs, ["--forward-mode=rxonly", *args],
                              wires=replay.wires) as t:
            stocklib.took_device(t)
            stocklib.check_burst_mode(t, "rx", mode)
            t.cmd("start")
            stocklib.settle(lambda: stocklib.rx_packets(t), total)
            t.cmd("stop")
            stats = pmdlib.check_statistics(t, 0, stocklib.VPORT)
            report = t.quit()
    check(stats["RX-packets"] == total, f"{stats['RX-packets']} of {total} received")
    pmdlib.check_report(report, 0, stats)
    return total, report


# Device arguments, testpmd's arguments, length of the frames, and the receive function to be used.
RX_VARIANTS = [
    ("rx_vec_en=0", queues(1), 60, "Scalar"),
    ("rx_vec_en=1", queues(1), 60, "Vector SSE"),
    ("rx_vec_en=0", queues(4), 60, "Scalar"),
    ("rx_vec_en=1", queues(4), 60, "Vector SSE"),
]
MPRQ = "mprq_en=1,rxqs_min_mprq=1"
MPRQ_VARIANTS = [
    (MPRQ, queues(1), 60, "MPRQ Vector SSE"),
    (MPRQ, queues(4), 60, "MPRQ Vector SSE"),
    (f"{MPRQ},rx_vec_en=0", queues(1), 60, "Multi-Packet RQ"),
    (f"{MPRQ},mprq_max_memcpy_len=0", queues(1), 1514, "MPRQ Vector SSE"),
    (f"{MPRQ},mprq_log_stride_num=6,rxq_cqe_comp_en=0", queues(4), 300, "MPRQ Vector SSE"),
]
SMALL_MBUFS = ["--enable-scatter", "--mbuf-size=512", "--rxd=2048"]
LARGE = ["--enable-scatter", "--max-pkt-len=9018", "--rxd=2048"]


def received_variants(setup, variants, count):
    return sum(received_only(setup, devargs, args, count / len(variants), size, mode)[0]
               for devargs, args, size, mode in variants)


def rx_variants(setup):
    return received_variants(setup, RX_VARIANTS, 1.2 * MILLION)


def mprq_variants(setup):
    return received_variants(setup, MPRQ_VARIANTS, 1.25 * MILLION)


def rx_scattered(setup):
    """Frames of 9000 bytes into five mbufs, of 400 into two, and of 1514 into one large one."""
    return received_only(setup, "", LARGE, 0.02 * MILLION, 9000, "Scalar")[0] + \
        received_only(setup, "", SMALL_MBUFS, 0.9 * MILLION, 400, "Scalar")[0] + \
        received_only(setup, "", ["--mbuf-size=9216"], 0.1 * MILLION, 1514, "Vector SSE")[0]


def cqe_compressed(setup):
    """Every format of compressed completions that the device has; it must have written fewer than frames."""
    formats = stocklib.mini_cqe_formats()
    count = 0
    for form, vector, n in itertools.product((0, 1, 2, 3, 4), (0, 1), (1,)):
        devargs = f"rxq_cqe_comp_en={form},rx_vec_en={vector}"
        got, report = received_only(setup, devargs, queues(n), 0.12 * MILLION)
        count += got
        cqes = report.port(0, "cqes")
        check(cqes == got if form not in formats else cqes < 0.7 * got,
              f"{devargs}: {cqes} completions written for {got} frames")
    return count


def sent_only(setup, devargs="", count=MILLION, mode=None):
    """testpmd sends and never polls: what the other side has no room for is counted there."""
    target = setup.packets(count)
    with stocklib.testpmd(setup, devargs, ["--forward-mode=txonly"], wires=["pair"]) as t:
        stocklib.took_device(t)
        stocklib.check_burst_mode(t, "tx", mode)
        t.cmd("start")
        stocklib.settle(lambda: t.stats(0)["TX-packets"], target)
        t.cmd("stop")
        # What was rung for is still sent.
        testlib.await_until(lambda: all(
            t.xstats(p)["rx_unicast_packets"] == t.stats(1 - p)["TX-packets"] for p in (0, 1)), 20)
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


MPW, NO_MPW = "Enhanced MPW", "No MPW"
# Device arguments, the transmit function to be used, and how many bytes of a frame of 64 are read
# by pointer: all, none, or what is left behind the inlined headers.
TX_VARIANTS = [
    ("txq_inline_max=256,txqs_min_inline=0", MPW, 0),
    ("txqs_min_inline=8", MPW, 64),
    ("txq_mpw_en=0,txq_inline_max=128,txqs_min_inline=0", NO_MPW, 0),
    ("txq_inline_mpw=128,txqs_min_inline=0", MPW, 0),
    ("txq_mpw_en=0,txq_inline_max=0", NO_MPW, 64),
    ("txq_inline_max=0,txq_inline_mpw=0", MPW, 64),
]


def tx_variants(setup):
    """Enhanced multi-packet write and inline data: what the device reads by pointer shows it."""
    caps, count = stocklib.caps(), 0
    # The device's least inline header.
    header = 18 if caps["min_wqe_inline_mode"] == 1 else 0
    for devargs, mode, by_pointer in TX_VARIANTS:
        mode = mode if caps["enhanced_multi_pkt_send_wqe"] else NO_MPW
        by_pointer = max(by_pointer - header, 0)
        got, report = sent_only(setup, devargs, 0.2 * MILLION, mode)
        count += got
        frames, reads = report.port(0, "tx_frames"), report.port(0, "dma_read_bytes")
        check(reads == by_pointer * frames,
              f"{devargs}: {reads} bytes read by pointer for {frames} frames")
    return count


CASES = [
    # With the lowest bit flipped the bytes of frames that are a byte longer and shorter may add up to the true sum.
    Case("io", "io forwarding, one queue", io_one_queue, "on cqe.write do set field=byte_cnt value=61"),
    Case("io-4", "io forwarding, four queues", io_four_queues, "on rx.deliver do set off=0"),
    Case("mac", "mac and macswap, one and three segments", mac_modes, "on rx.deliver do set off=0"),
    Case("rx", "rxonly: scalar and vector, one queue and four", rx_variants, "on cqe.write do set field=byte_cnt"),
    Case("rx-mprq", "rxonly: multi-packet receive queue, scalar and vector", mprq_variants,
         "on cqe.write do set field=byte_cnt"),
    Case("rx-comp", "rxonly: completions compressed, each format", cqe_compressed,
         "on cqe.write do set field=byte_cnt"),
    Case("rx-scatter", "rxonly: frames in chains of mbufs, and large", rx_scattered,
         "on cqe.write do set field=byte_cnt"),
    Case("tx", "txonly; what the peer misses", sent,
         "on cmd.exit match op=QUERY_Q_COUNTER do set field=out_of_buffer value=7"),
    Case("tx-inline", "txonly: multi-packet write, inline", tx_variants,
         "on ioctl.out match method=ex_query_device attr=uhw do set off=56 value=0"),
]
