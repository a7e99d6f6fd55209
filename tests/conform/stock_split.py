# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Buffer split of the stock PMD beside mlxpmd's: the segments of each packet, and that all bytes are forwarded."""
import copy
import re

import pmdlib
import stocklib
from conform import Case
from e2e import BUILD, check, emu, testlib
from frames import tcp_flows, udp6_flows, udp_flows

# Scatter, which this PMD requires, and buffer split; multi-segment.
OFFLOADS = ["--rx-offloads=0x102000", "--tx-offloads=0x8000"]
HEADROOM = 128
# Sizes of the mbufs of testpmd's mempools, and the description: lengths (0: the rest), offsets.
PLANS = [
    ((256, 2176), (64, 0), (0, 0)),
    ((256, 2176), (14, 20, 1480), (2, 100, 7)),
    ((2176,), (34, 100, 100, 1400), (0, 9, 0, 9)),
    ((200, 600, 2176), (42, 600, 1000), (30, 0, 0)),
]
LINE = re.compile(r"src=(\S+) - dst=(\S+) - pool=(\S+) - type=(\S+) - length=(\d+) - nb_segs=(\d+)"
                  r".*? - hw ptype: (.*?) - sw ptype", re.S)


def frames_of(lengths):
    """Frames that end at, before and after each boundary, and others."""
    ends = [sum(lengths[:n + 1]) for n in range(len(lengths))]
    sizes = sorted({size for end in ends for size in (end - 1, end, end + 1) if 60 <= size <= 1514} |
                   {60, 61, 77, 300, 999, 1513, 1514})
    return [make(1, size)[0] for size in sizes for make in (udp_flows, tcp_flows)] + udp6_flows(8, 400)


def segments(size, mbufs, lengths):
    """Number of mbufs of a packet; those that are not described are whole ones of the last mempool."""
    n = 0
    while size > 0:
        room = mbufs[min(n, len(mbufs) - 1)]
        size -= lengths[n] if n < len(lengths) and lengths[n] else room
        n += 1
    return n


def by_testpmd(setup, plan, frames):
    """[(addresses, mempool, type, length, segments, packet type)] of the packets; what they are, forwarded."""
    mbufs, lengths, offsets = plan
    with stocklib.Replay(frames, len(frames), record=True) as replay:
        with stocklib.testpmd(setup, "", ["--forward-mode=io", "--no-flush-rx", *OFFLOADS,
                                          "--mbuf-size=" + ",".join(map(str, mbufs)),
                                          "--rxpkts=" + ",".join(map(str, lengths)),
                                          "--rxoffs=" + ",".join(map(str, offsets))], wires=replay.wires) as t:
            if not setup.own:
                stocklib.took_device(t)
            t.cmd("set verbose 1")
            text = t.watch("start", lambda text: text.count(stocklib.VERBOSE) >= len(frames))
            testlib.await_until(lambda: t.ctl("counters")["ports"][1]["tx_frames"] >= len(frames), 20)
            t.watch("stop", lambda text: "Done." in text)
            t.quit()
        sent = replay.sent()
    found = [m.groups() for m in LINE.finditer(text)]
    check(sent == frames, f"{plan}: {len(sent)} of {len(frames)} frames left, or their order or data are others")
    check(len(found) == len(frames), f"{plan}: {len(found)} packets of {len(frames)}")
    return found


def by_program(own):
    """What our program found of each packet: mempool, begin and length of each segment, packet type, flags."""
    args = pmdlib.eal(lcores="0") if own else stocklib.eal()
    result = emu([BUILD / "tests/pmd/test_pmd_split", *args, "--", "both" if own else "stock"], timeout=200)
    check(result.status == 0, result.out[-3000:])
    lines = [line for line in result.out.splitlines() if re.match(r".*: \d+ bytes: split", line)]
    check(len(lines) > 4000, f"{len(lines)} packets")
    return lines


def buffer_split(setup):
    count = 0
    ours = copy.copy(setup)
    ours.own = True
    for plan in PLANS:
        frames = frames_of(plan[1])
        stock = by_testpmd(setup, plan, frames)
        for line in stock:
            wanted = segments(int(line[4]), *plan[:2])
            check(int(line[5]) == wanted, f"{plan}: {line[4]} bytes in {line[5]} segments, not {wanted}")
        mine = by_testpmd(ours, plan, frames)
        check(mine == stock, f"{plan}: {[pair for pair in zip(stock, mine) if pair[0] != pair[1]][:1]}")
        count += 2 * len(frames)
    stock, mine = by_program(False), by_program(True)
    differ = [pair for pair in zip(stock, mine) if pair[0] != pair[1]]
    check(len(stock) == len(mine) and not differ, f"{len(stock)} and {len(mine)} packets; {differ[:1]}")
    return count + len(stock) + len(mine)


CASES = [
    Case("rx-split", "rxonly: buffer split, segment by segment as mlxpmd's", buffer_split,
         "on cqe.write do set field=byte_cnt"),
]
