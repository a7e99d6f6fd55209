# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A bug that shipped, live: receive recovery of DPDK 22.11's own mlx5 PMD with an empty mempool.

Usage: s1_recovery.py [stock|lawful|mlxpmd]

The rules in s1.rules let a receive queue fail while its mempool is nearly empty. To refill the
queue the stock PMD takes what mbufs there are, finds too few, and puts them back by indices that it
computes with `& elts_n` where `& mask` was meant: all but one are lost, and that one is freed once
for each. The mempool counts the right number and hands out one buffer many times. The emulator sees
that buffer posted again while it is posted (`mlxemu run --check buffers`). Releases with DPDK's 7b3add5540 put back
what they took, and no buffer is posted twice.
"""
import pathlib
import re
import sys
import time

import conform
import pmdlib
import stock_bugs
import stocklib
from e2e import check, testlib

RULES = pathlib.Path(__file__).with_suffix("").parent / "s1.rules"
RING = 512
# Two receive queues and what goes to the transmit ring until the receive index is at a ring's end;
# the rest is less than the PMD takes at once.
REST = 37
MBUFS = 2 * RING + RING + REST
GOOD = 640
# At the failure GOOD are in the transmit ring. All that were posted come back, and are too few.
FREE = MBUFS - RING - GOOD


# The first releases with 7b3add5540 that were examined.
FIXED = {"24.11": 8, "25.11": 4, stock_bugs.MAINLINE: "26.07"}

ALL_RULES = ["--fault-file", str(RULES)]


def first_rule():
    """Doorbells are lost, but nothing fails."""
    return ["--fault", next(line for line in RULES.read_text(encoding="utf-8").splitlines()
                            if line.startswith("on "))]


class Run:
    """testpmd that forwards what is injected, a piece at a time."""

    def __init__(self, eal_args, faults):
        self.t = pmdlib.Testpmd(
            [f"--rxd={RING}", "--txd=2048", "--mbcache=0", "--forward-mode=io", "--no-flush-rx"],
            wires=["0=pcap:,/dev/null", "1=pcap:,/dev/null"], eal_args=eal_args,
            emu_args=["--check", "buffers", *faults], mbufs=MBUFS)

    def __enter__(self):
        self.t.__enter__()
        return self

    def __exit__(self, *args):
        self.t.__exit__(*args)

    def free_mbufs(self):
        text = self.t.cmd("dump mempool mb_pool_0")
        if "common_pool_count" not in text:
            text = self.t.cmd("dump_mempool mb_pool_0")  # until DPDK 25.07
        return int(re.search(r"common_pool_count=(\d+)", text).group(1))

    def piece(self, frames):
        """Frames arrive while testpmd is stopped, then are forwarded. Returns what was received so far."""
        self.t.ctl("inject", "port=0", f"frames={frames}", "len=60")
        self.t.watch("start", lambda text: "TX offloads" in text)
        testlib.pass_time(0.5, "testpmd forwards; frames that meet a failed queue cause no event to wait for")
        self.t.watch("stop", lambda text: "Done." in text)
        return self.t.stats(0)["RX-packets"]

    def until_failure(self):
        self.piece(RING)
        check(self.piece(GOOD - RING) == GOOD, f"{GOOD} frames were to be received first")
        free = self.free_mbufs()
        check(free <= REST, f"{free} mbufs are left, {REST} at most were planned")
        self.piece(4)

    def restart(self):
        self.t.cmd("port stop all")
        free = self.free_mbufs()
        self.t.cmd("port start all")
        testlib.pass_time(0.3, "the restarted queues poll: a buffer posted twice must be seen")
        return free


def violations(report, kind):
    """How often: the texts that were kept and `N more`."""
    kept = re.findall(rf"^violation {kind}: (?!\d+ more)", report.text, re.M)
    more = re.findall(rf"^violation {kind}: (\d+) more", report.text, re.M)
    return len(kept) + sum(map(int, more))


def stock():
    """The bug: seen by the emulator, not by the mempool's own count; absent in the releases with the correction."""
    with Run(stocklib.eal("rxq_cqe_comp_en=0,max_dump_files_num=0"), ALL_RULES) as run:
        stocklib.check_burst_mode(run.t, "rx", "Vector SSE")
        run.until_failure()
        free = run.restart()
        check(free == MBUFS, f"the mempool counts {free} mbufs of {MBUFS}")
        status, report = run.t.end()
    twice = violations(report, "bad buffer")
    expected = 0 if stock_bugs.has_fix(FIXED) else FREE - 1
    check(twice == expected and status == 3,
          f"{twice} buffers posted twice, {expected} were expected; status {status}\n{report.text}")
    check(violations(report, "bad state") > 0, "the second way to RDY was lawful?")
    if expected == 0:
        return "this release has the correction: no buffer posted twice"
    return f"one mbuf freed {FREE} times, {twice} postings of a posted buffer"


def lawful():
    """The same traffic without the failure: nothing is found."""
    with Run(stocklib.eal("rxq_cqe_comp_en=0,max_dump_files_num=0"), first_rule()) as run:
        run.until_failure()
        free = run.restart()
        report = run.t.quit()
    check(free == MBUFS, f"the mempool counts {free} mbufs of {MBUFS}")
    check(report.port(0, "rx_errors") == 0, "there was a failure")
    return "nothing found"


def mlxpmd():
    """The same rules under mlxpmd: mbufs conserved, no buffer posted twice, traffic goes on."""
    with Run(pmdlib.eal(), ALL_RULES) as run:
        run.until_failure()
        run.t.ctl("fault", "clear")
        before = run.t.stats(0)["RX-packets"]
        after = run.piece(128)
        check(after - before == 128, f"{after - before} of 128 frames received after the failure")
        free = run.restart()
        report = run.t.quit()
    check(report.port(0, "rx_errors") > 0, "there was no failure")
    check(free == MBUFS, f"the mempool counts {free} mbufs of {MBUFS}")
    return "recovered, all mbufs home"


PARTS = {
    "stock": (stock, "receive recovery: stock PMD frees a posted mbuf"),
    "lawful": (lawful, "receive recovery: stock PMD, the same without the failure"),
    "mlxpmd": (mlxpmd, "receive recovery: mlxpmd under the same rules"),
}


def run():
    for name in sys.argv[1:] or PARTS:
        test, shows = PARTS[name]
        begin, result = time.monotonic(), "failed"
        try:
            shows = f"{shows}: {test()}"
            result = "passed"
        finally:
            conform.row(f"s1 {name}", shows, 0, result, time.monotonic() - begin)


conform.e2e.main(run, needs=[conform.e2e.MLXEMU])
