# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The enhanced layout of compressed completions, which the stock PMD reads from DPDK 23.11 on."""
import collections
import itertools

import e2e
import stock_bugs
import stocklib
from conform import Case
from e2e import check
from frames import repeats, udp_flows
from stock_flow import hash_values
from stock_forward import MILLION, MPRQ, received_only
from stock_wire import compare, through
from stocklib import queues

FIRST = {stock_bugs.MAINLINE: "23.11"}
CARD = ["--cap", "enhanced_cqe_compression=1"]
# Without the vector reader of multi-packet receive queues. In 26.07 its rxq_burst_mprq_v() skips places of the array
# that it returns, if a burst starts with packets that are left of a block and another block follows. testpmd frees the
# stale pointers in these places, the last mbufs leak, and the port stops receiving.
READERS = ["rx_vec_en=0", "rx_vec_en=1", f"rx_vec_en=0,{MPRQ}"]
ENHANCED = 0x80     # Beside the format in rxq_cqe_comp_en.
# Passes of a ring of 1024 after which the number of the pass in the CQEs begins again, and some.
ALL_PASSES = 280 * 1024


def forwarded_as_they_are(setup, devargs):
    """Frames of many lengths, which only their mini CQEs have."""
    frames = [frame for size in range(60, 188) for frame in udp_flows(2, size)]
    total = setup.packets(0.1 * MILLION)
    expected = collections.Counter()
    for frame, n in zip(frames, repeats(frames, total)):
        expected[frame] += n
    compare(through(setup, frames, total, ["--forward-mode=io"], [], devargs=devargs)[2], expected)
    return total


def enhanced_layout(setup):
    """Each format by each reader; the device must have written fewer CQEs than frames."""
    if not setup.own and not stock_bugs.has_fix(FIRST):
        e2e.skip("net_mlx5 has no enhanced layout before DPDK 23.11")
    setup.emu_args += CARD
    count = 0
    for form, reader in itertools.product(stocklib.mini_cqe_formats(), READERS):
        devargs = f"rxq_cqe_comp_en={ENHANCED + form:#x},{reader}"
        got, report = received_only(setup, devargs, queues(1), 0.12 * MILLION)
        cqes = report.port(0, "cqes")
        check(cqes < 0.7 * got, f"{devargs}: {cqes} completions written for {got} frames")
        count += got
    for reader in READERS:
        devargs = f"rxq_cqe_comp_en={ENHANCED + 1:#x},{reader}"
        count += received_only(setup, devargs, queues(1), ALL_PASSES / setup.scale)[0]
        count += forwarded_as_they_are(setup, devargs)
    hash_values(setup, udp_flows(256, 60), [ENHANCED + 1])
    return count


CASES = [
    Case("rx-comp-enhanced", "completions compressed in the enhanced layout, each format", enhanced_layout,
         "on cqe.write do set field=byte_cnt"),
]
