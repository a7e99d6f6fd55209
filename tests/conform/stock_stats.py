# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Extended statistics of DPDK's own mlx5 PMD beside mlxpmd's: equal names have equal values after the same traffic."""
import pathlib
import re

import stocklib
from conform import Case, Setup
from e2e import check, testlib
from frames import udp_flows

PAGE = pathlib.Path(__file__).resolve().parents[2] / "doc/guide/net-mlx5.md"
BROADCAST, MULTICAST = bytes([0xff] * 6), bytes([0x33, 0x33, 0, 0, 0, 1])
RING = 1024


def addressed():
    """64 frames: to port 0, to a group and to all, short and long."""
    frames = [frame for size in (60, 700) for frame in udp_flows(32, size)]
    return [(frame[:6], MULTICAST, frame[:6], BROADCAST)[n % 4] + frame[6:] for n, frame in enumerate(frames)]


def missed(t, frames):
    """Frames arrive that nothing receives: a ring is filled, and the rest finds no buffer."""
    t.ctl("inject", "port=0", f"frames={frames}", "len=60")
    counters = {}

    def counted():
        counters.update(t.ctl("counters")["ports"][0])
        return counters["rx_out_of_buffer"] >= frames - RING

    check(testlib.await_until(counted, stocklib.SECONDS_MAX), f"rx_out_of_buffer {counters['rx_out_of_buffer']}")
    x = t.xstats(0)
    check(x["rx_out_of_buffer"] == x["rx_missed_errors"] == counters["rx_out_of_buffer"],
          f"missed: {x['rx_out_of_buffer']}, {x['rx_missed_errors']}, emulator {counters['rx_out_of_buffer']}")


def observed(setup, total):
    """Extended statistics of both ports after the traffic, and after each kind of reset."""
    with stocklib.Replay(addressed(), total, record=True) as replay:
        with stocklib.testpmd(setup, args=["--no-flush-rx", *stocklib.queues(2)], wires=replay.wires) as t:
            t.cmd("start")
            stocklib.settle(lambda: t.ctl("counters")["ports"][1]["tx_frames"], total)
            t.cmd("stop")
            seen = [t.xstats(port) for port in (0, 1)]
            missed(t, 3 * RING)
            t.cmd("clear port stats 0")
            x = t.xstats(0)
            check(x["rx_missed_errors"] == 0 < x["rx_out_of_buffer"], f"after clear port stats: {x}")
            t.cmd("clear port xstats 0")
            seen.append(t.xstats(0))
            t.quit()
    check(seen[0]["rx_good_packets"] == seen[1]["tx_good_packets"] == total, f"{seen} of {total} packets")
    return seen


def lacking():
    """Names that the page explains."""
    table = re.search(r"^\| net_mlx5's \|.*?\n\n", PAGE.read_text(encoding="utf-8"), re.M | re.S).group(0)
    rows = re.findall(r"^\| (`.*?) \|", table, re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def same_statistics(setup):
    total = setup.packets(20_000)
    theirs, ours = observed(setup, total), observed(Setup(own=True), total)
    for when, (a, b) in zip(("port 0", "port 1", "port 0, reset"), zip(theirs, ours)):
        differ = {name: (a[name], b[name]) for name in a.keys() & b.keys() if a[name] != b[name]}
        check(not differ, f"{when}: net_mlx5's and mlxpmd's {differ}")
        check(a.keys() - b.keys() == lacking(), f"{when}: {PAGE.name} explains {lacking()}, not {a.keys() - b.keys()}")
        check("reset" not in when or not any(a[name] for name in a.keys() & b.keys()), f"{when}: {a}")
    print(f"{len(theirs[0].keys() & ours[0].keys())} names in common")
    return 2 * total


CASES = [
    Case("xstats", "extended statistics: names and values that mlxpmd has, too", same_statistics,
         "on cmd.exit match op=QUERY_Q_COUNTER do set field=out_of_buffer value=7"),
]
