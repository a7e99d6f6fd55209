# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Steering cases of the stock PMD: rules of rte_flow on the root table, receive-side scaling."""
import re

import pmdlib
import rss
import stocklib
from conform import Case
from e2e import check
from frames import repeats, tcp_flows, udp6_flows, udp_flows

MILLION = 1_000_000
QUEUES = 4
# Nothing is received but by the rules of the test.
ISOLATED = [*stocklib.queues(QUEUES), "--forward-mode=rxonly", "--flow-isolate-all"]


def create(t, port, rule):
    text = t.cmd(f"flow create {port} ingress {rule}")
    made = re.search(r"Flow rule #(\d+) created", text)
    check(made is not None, text)
    return int(made.group(1))


def hits(t, rule):
    text = t.cmd(f"flow query 0 {rule} count")
    return {k: int(v) for k, v in re.findall(r"(hits|bytes): (\d+)", text)}


def per_queue(t):
    x = t.xstats(0)
    return {q: x[f"rx_q{q}_packets"] for q in range(QUEUES)}


def udp_to(port, then):
    return f"pattern eth / ipv4 / udp dst is {port} / end actions {then} / end"


RULES = [
    # destination port, actions, the queues it may go to
    (1000, "queue index 2", [2]),
    (1001, "rss queues 1 3 end types ipv4-udp end", [1, 3]),
    (1002, "drop", []),
    (1003, "mark id 77 / queue index 1", [1]),
    (1004, "count / queue index 0", [0]),
    (1005, "count / drop", []),
]


def root_rules(setup, devargs=""):
    """Frames of seven kinds, one without a rule: queues and counters take exactly theirs."""
    kinds = {port: udp_flows(32, 60, dport=port) for port in [*(r[0] for r in RULES), 1006]}
    frames = [f for flow in zip(*kinds.values()) for f in flow]
    total = setup.packets(1.4 * MILLION)
    counts = dict(zip(frames, repeats(frames, total)))
    sent = {port: sum(counts[f] for f in kind) for port, kind in kinds.items()}
    expected = dict.fromkeys(range(QUEUES), 0)
    for port, _, queues in RULES:
        if queues:
            taken = rss.spread(kinds[port], [counts[f] for f in kinds[port]], rss.KEY_MLX5, queues)
            for q, n in taken.items():
                expected[q] += n
    with stocklib.Replay(frames, total) as replay:
        with stocklib.testpmd(setup, devargs, ISOLATED, wires=replay.wires) as t:
            stocklib.took_device(t)
            made = {port: create(t, 0, udp_to(port, actions)) for port, actions, _ in RULES}
            t.cmd("start")
            stocklib.settle(lambda: stocklib.rx_packets(t), sum(expected.values()))
            counted = {port: hits(t, made[port]) for port in (1004, 1005)}
            queues = per_queue(t)
            t.cmd("stop")
            stats = pmdlib.check_statistics(t, 0)
            flushed = t.cmd("flow flush 0")
            check("rror" not in flushed, flushed)
            report = t.quit()
    check(queues == expected, f"queues took {queues}, not {expected}")
    for port, found in counted.items():
        check(found == {"hits": sent[port], "bytes": 60 * sent[port]},
              f"rule of port {port} counted {found}, sent were {sent[port]}")
    for name, value in (("rx_dropped_by_rule", sent[1002] + sent[1005]),
                        ("rx_kernel", sent[1006]), ("rx_frames", total)):
        check(report.port(0, name) == value, f"{name} {report.port(0, name)}, not {value}")
    pmdlib.check_report(report, 0, stats, [("RX-packets", "rx_delivered_frames")])
    return total


# Of a line of verbose rxonly: mark, hash and queue, as far as they are printed.
PRINTED = re.compile(r"src=.*?length=\d+(?=.*Receive queue)(?:.*? RSS hash=0x([0-9a-f]+))?"
                  r"(?:.*? FDIR matched ID=0x([0-9a-f]+))?")


def printed(text):
    """(hash, mark) of each frame, None for what is not printed."""
    return [tuple(g and int(g, 16) for g in m.groups()) for m in PRINTED.finditer(text)]


def watched(setup, devargs, rules, frames, count):
    """(hash, mark) of a few frames, in their order."""
    with stocklib.Replay(frames, count) as replay:
        with stocklib.testpmd(setup, devargs, ISOLATED, wires=replay.wires) as t:
            t.cmd("set verbose 1")
            for rule in rules:
                create(t, 0, rule)
            text = t.watch("start", lambda text: text.count(stocklib.VERBOSE) >= count)
            t.watch("stop", lambda text: "Done." in text)
            t.quit()
    lines = printed(text)
    check(len(lines) == count, f"{devargs}: {len(lines)} of {count} frames printed")
    return lines


def marks(setup):
    """Marks arrive with the frames, also in compressed completions of each format."""
    count = 0
    frames = udp_flows(64, 60, dport=1003) + udp_flows(64, 60, dport=1004)
    rules = [udp_to(1003, "mark id 77 / queue index 1"),
             udp_to(1004, "mark id 12345 / queue index 1")]
    for form in (0, 1, 2, 3, 4):
        found = [mark for _, mark in watched(setup, f"rxq_cqe_comp_en={form}", rules, frames, 512)]
        wanted = ([77] * 64 + [12345] * 64) * 4
        check(found == wanted, f"format {form}: marks {found[:4]}... {found.count(None)} without")
        count += 512 + marked_many(setup, f"rxq_cqe_comp_en={form}", rules, frames)
    return count


def marked_many(setup, devargs, rules, frames):
    total = setup.packets(0.2 * MILLION)
    with stocklib.Replay(frames, total) as replay:
        with stocklib.testpmd(setup, devargs, ISOLATED, wires=replay.wires) as t:
            for rule in rules:
                create(t, 0, rule)
            t.cmd("start")
            stocklib.settle(lambda: stocklib.rx_packets(t), total)
            t.cmd("stop")
            stats = pmdlib.check_statistics(t, 0, stocklib.VPORT)
            report = t.quit()
    check(stats["RX-packets"] == total, f"{devargs}: {stats['RX-packets']} of {total} received")
    pmdlib.check_report(report, 0, stats)
    return total


TYPES = [
    # what frames, pattern, RSS types of testpmd, what is hashed
    (lambda: udp_flows(256, 60), "eth / ipv4 / udp", "ipv4-udp", {}),
    (lambda: tcp_flows(256, 60), "eth / ipv4 / tcp", "ipv4-tcp", {}),
    (lambda: udp6_flows(256, 80), "eth / ipv6 / udp", "ipv6-udp", {}),
    (lambda: udp_flows(256, 60), "eth / ipv4", "ipv4", {"l4": ()}),
    (lambda: udp_flows(256, 60), "eth / ipv4 / udp", "ipv4 l3-src-only",
     {"l3": ("src",), "l4": ()}),
    (lambda: tcp_flows(256, 60), "eth / ipv4 / tcp", "ipv4-tcp l4-src-only",
     {"l3": (), "l4": ("src",)}),
]
TABLE = [3, 1, 0, 2]


def rss_types(setup):
    """Fields, key and table of RSS: each queue receives exactly the frames that the Toeplitz hash selects."""
    count = 0
    for make, pattern, types, which in TYPES:
        frames, total = make(), setup.packets(0.2 * MILLION)
        rule = (f"pattern {pattern} / end actions rss queues {' '.join(map(str, TABLE))} end "
                f"key_len 40 key {rss.KEY_MICROSOFT.hex()} types {types} end / end")
        expected = rss.spread(frames, repeats(frames, total), rss.KEY_MICROSOFT, TABLE, **which)
        with stocklib.Replay(frames, total) as replay:
            with stocklib.testpmd(setup, "", ISOLATED, wires=replay.wires) as t:
                create(t, 0, rule)
                t.cmd("start")
                stocklib.settle(lambda: stocklib.rx_packets(t), total)
                queues = per_queue(t)
                t.cmd("stop")
                t.quit()
        check(queues == expected, f"{types}: queues took {queues}, not {expected}")
        count += total
    hash_values(setup, udp_flows(256, 60), (0, 1))
    return count


def hash_values(setup, frames, formats):
    """The hash in the mbuf is the one that Toeplitz gives, with completions compressed in each of the formats."""
    rule = ("pattern eth / ipv4 / udp / end actions rss queues 0 1 2 3 end key_len 40 key "
            f"{rss.KEY_MICROSOFT.hex()} types ipv4-udp end / end")
    wanted = sorted(rss.toeplitz(rss.KEY_MICROSOFT, rss.hash_input(f)) for f in frames)
    for form in formats:
        lines = watched(setup, f"rxq_cqe_comp_en={form}", [rule], frames, len(frames))
        found = sorted(hash_ or 0 for hash_, _ in lines)
        check(found == wanted, f"format {form}: hashes {list(map(hex, found[:4]))}..., not "
                               f"{list(map(hex, wanted[:4]))}...")


CASES = [
    Case("flow", "rte_flow: queue, rss, drop, count on the root table", root_rules,
         "on cmd.exit match op=QUERY_FLOW_COUNTER do set field=packets value=7"),
    Case("flow-mark", "rte_flow: mark, in plain and compressed completions", marks,
         "on cqe.write do set field=sop_drop_qpn"),
    Case("rss", "RSS: types, key, table and hash against Toeplitz", rss_types,
         "on cqe.write do set field=rx_hash_result"),
]
