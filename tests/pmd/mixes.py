# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Mixes of compressed completions, striding, inline data, TSO, LRO, KEEP_CRC: program, driver and device agree.

Usage: mixes.py [--long] PROGRAM

Each run sends 100,000 frames, half of them in each direction, nine tenths without a loss and the last tenth with an
overflow of the receive queues. The short form takes half of the mixes, in which each three of format, striding, inline
data and TSO occur in all combinations but for formats of the same parity; --long takes all, with ten million frames.
Each third one has KEEP_CRC, which must not show in any length.
"""
import itertools
import re
import sys
import time

import pmdlib
from e2e import MLXEMU, PLUGIN, check, emu, main

LONG = pmdlib.long_run()
FRAMES = 10_000_000 if LONG else 100_000
LIMIT_S = 1200 if LONG else 120
STRIDING = "mprq_en=1,rxqs_min_mprq=0"
# 256: packets of 128 to 256 bytes are inline in one of the two devargs only.
INLINE = "txq_inline_mpw=128,txq_inline_max=256,txqs_min_inline=0"
WIDTHS = (512, 256, 128, 64)


def mixes():
    """(format of compressed completions, striding, inline, TSO, LRO)."""
    for form, *flags in itertools.product(range(1, 5), *[(False, True)] * 3):
        if LONG or (form + sum(flags)) % 2:
            yield (form, *flags, False)
    # LRO is for striding queues, and its completions are not compressed.
    for inline, tso in itertools.product((False, True), repeat=2):
        if LONG or tso:
            yield (0, True, inline, tso, True)


def name(form, striding, inline, tso, lro):
    words = [f"format {form}" if form else "not compressed", striding and "striding", inline and "inline",
             tso and "TSO", lro and "LRO"]
    return ", ".join(w for w in words if w)


def bursts_check(out, form, striding, inline, tso, _):
    """The functions are those of the mix. Inline data without fast free, which striding excludes, has all offloads."""
    receive, send = re.search(r"^mix: receive (.*); send (.*)$", out, re.M).groups()
    for word, wanted, info in (("Compressed", form, receive), ("Striding", striding, receive),
                               ("Inline-data", inline, send), ("TSO", tso or inline and striding, send)):
        check((word in info) == bool(wanted), f"{word}: {info}")


LINE = (r"^mix: port (\d) sent (\d+) (\d+) segmented (\d+) received (\d+) (\d+) packets (\d+) missed (\d+) "
        r"external (\d+)$")
FIELDS = ("port", "sent", "sent_bytes", "segmented", "frames", "bytes", "packets", "missed", "external")


def ports_check(result, fcs, form, striding, inline, tso, lro):
    """The program's numbers, which it has compared with the driver's, and the device's. fcs: its bytes."""
    rows = [dict(zip(FIELDS, map(int, m))) for m in re.findall(LINE, result.out, re.M)]
    check([r["port"] for r in rows] == [0, 1], result.out[-3000:])
    for own, peer in (rows, rows[::-1]):
        device = {k[7:]: v for k, v in result.report.items() if k.startswith(f"port {own['port']} ")}
        wanted = {"tx_frames": own["sent"], "tx_bytes": own["sent_bytes"], "rx_frames": peer["sent"],
                  "rx_bytes": peer["sent_bytes"], "rx_delivered_frames": own["packets"],
                  "rx_out_of_buffer": own["missed"], "tx_errors": 0, "rx_errors": 0, "tx_discards": 0,
                  "rx_lro_segments": own["frames"] - own["packets"] + device["rx_lro_packets"]}
        if not lro:  # A packet of LRO has the headers of its segments once.
            wanted["rx_delivered_bytes"] = own["bytes"] + fcs * own["packets"]
        differ = {k: (device.get(k), v) for k, v in wanted.items() if device.get(k) != v}
        check(not differ, f"port {own['port']}: device and program: {differ}")
        check(own["missed"] > 0, f"port {own['port']}: no overflow")
        check((own["segmented"] > 0) == tso, f"{own['segmented']} packets of TSO")
        check((own["external"] > 0) == striding, f"{own['external']} attached packets")
        check((device["rx_lro_packets"] > 0) == (lro and tso), f"{device['rx_lro_packets']} packets of LRO")
        check((device["dma_read_bytes"] < 0.99 * own["sent_bytes"]) == (inline or tso), "inline data")
        check(not form or device["cqes"] < own["frames"], f"{device['cqes']} completions for {own}")
    return rows


def run():
    total = 0
    for i, mix in enumerate(mixes()):
        form, striding, inline, tso, lro = mix
        devargs = ",".join([f"stats_age_ms=10,rxq_cqe_comp_en={form}"] + [STRIDING] * striding + [INLINE] * inline)
        fcs = 4 if i % 3 == 0 and not lro else 0  # The device writes none with LRO.
        words = ["tso"] * tso + ["lro"] * lro + ["fcs"] * (fcs != 0)
        begin = time.monotonic()
        result = emu([sys.argv[-1], *pmdlib.eal(devargs, lcores="0", simd=WIDTHS[i // 2 % 4]), "--",
                      *words, str(FRAMES // 2)], timeout=LIMIT_S)
        check(result.status == 0 and result.report.get("audit") == "clean",
              f"{name(*mix)}: exit status {result.status}\n{result.out[-6000:]}")
        bursts_check(result.out, *mix)
        rows = ports_check(result, fcs, *mix)
        seconds = time.monotonic() - begin
        sent = sum(r["sent"] for r in rows)
        print(f"{name(*mix)}{', KEEP_CRC' * (fcs != 0)}: {sent} frames sent, "
              f"{sum(r['frames'] for r in rows)} received, "
              f"{sum(r['missed'] for r in rows)} missed, {sum(r['segmented'] for r in rows)} packets segmented, "
              f"{sum(r['external'] for r in rows)} attached; {seconds:.1f} s", flush=True)
        total += sent
    print(f"{total} frames, each received or counted as missed")


main(run, needs=[MLXEMU, PLUGIN])
