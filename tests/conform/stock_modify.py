# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Actions of rte_flow that change packets, by the bytes of the packets, with mlxpmd and net_mlx5.

The flows are in flow_modify.txt. A frame is injected into port 0 and forwarded to port 1, whose wire records it: flows
of received packets are those of port 0, flows of sent packets (egress) those of port 1. The
expected frame is scapy's, with its checksums. A flow that the stock PMD refuses is skipped by its name.
"""
import copy
import re
import time

import scapy.all
import stock_items
import stocklib
from conform import Case
from e2e import check

NAMES = {**stock_items.NAMES, "pay": scapy.all.Raw(bytes(range(64))),
         "vxlan": stock_items.NAMES["eth"] / scapy.all.IP(src="1.1.1.1", dst="2.2.2.2") /
         scapy.all.UDP(sport=9, dport=4789, chksum=0) / scapy.all.VXLAN(vni=7)}
VARIANTS = [
    stock_items.Variant("net_mlx5", False),
    stock_items.Variant("net_mlxpmd", True),
    stock_items.Variant("net_mlxpmd, group 3", True, group3=True),
    stock_items.Variant("net_mlxpmd open=vfio", True, "open=vfio", ("--open", "vfio"), kernel=False),
]
DEADLINE_S = 20
# flow_dv_get_item_hdr_len() has 4 bytes for NVGRE: its virtual subnet is missing.
STOCK_WRONG = ("nvgre_encap",)


def frame(expression):
    return bytes(eval(expression, NAMES))  # pylint: disable=eval-used


def lines():
    """(name, whether group 0 refuses it, commands, frame, what it becomes)."""
    for name, flows, before, after in stock_items.rows("flow_modify.txt"):
        yield name.lstrip("+"), name.startswith("+"), stock_items.parts(flows), frame(before), frame(after)


def create(t, flows, group3):
    """(port, id) of the flows, or why one is refused."""
    ids = []
    for flow in flows:
        if flow.startswith("set "):
            t.cmd(flow)
            continue
        port = 1 if "egress" in flow.split(" pattern ")[0] else 0
        text = t.cmd(f"flow create {port} {'group 3 ' * group3}{flow}")
        made = re.search(r"Flow rule #(\d+) created", text)
        if not made:
            why = re.search(r"Caught PMD error.*?: (?:cause: 0x[0-9a-f]+, )?(.*)|Bad arguments", text)
            check(why is not None, text)
            return ids, (why.group(1) or "testpmd has no such word").strip()
        ids.append((port, made.group(1)))
    return ids, None


def sent(t):
    """Frames that the device of port 1 has sent: flows of sent packets have done their work by then."""
    return t.ctl("counters")["ports"][1]["tx_frames"]


def forward(t, ports, data):
    """Injects a frame, and waits until port 1 has sent it."""
    before, deadline = sent(t), time.monotonic() + DEADLINE_S
    stocklib.pcap_repeat(ports.capture, [data], 1)
    t.ctl("inject", "port=0", "frames=1", f"file={ports.capture}")
    while sent(t) == before:
        check(time.monotonic() < deadline, "the frame is not forwarded")


def difference(got, want):
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    return f"{len(got)} bytes, not {len(want)}" if len(got) != len(want) else \
        f"byte {at} is 0x{got[at]:02x}, not 0x{want[at]:02x}"


def play(t, ports, variant):
    """Plays all lines; (names of those played, what frames have to be, refusals)."""
    played, wanted, refused, wrong = [], [], {}, []
    for name, root_refuses, flows, before, after in lines():
        if variant.group3 and any("group" in flow for flow in flows):
            continue
        ids, why = create(t, flows, variant.group3)
        may = not variant.own or (root_refuses and variant.kernel and not variant.group3)
        if why is None:
            forward(t, ports, before)
            played.append(name)
            wanted.append(after if variant.own or name not in STOCK_WRONG else None)
        else:
            refused[name] = why
        if (why is not None and not may) or (why is None and variant.own and may):
            wrong.append(f"{variant.name}: {name}: {why or 'is accepted'}")
        for port, rule in reversed(ids):
            check("destroyed" in t.cmd(f"flow destroy {port} rule {rule}"), name)
    return played, wanted, refused, wrong


def variant_run(setup, variant):
    these = copy.copy(setup)
    these.own, these.emu_args = variant.own, [*setup.emu_args, *variant.emu_args]
    with stocklib.Replay([stock_items.MARKER], 1, record=True) as replay:
        with stocklib.testpmd(these, variant.devargs, ["--forward-mode=io"], wires=["0=loop", replay.wires[1]]) as t:
            if not variant.own:
                stocklib.took_device(t)
            if variant.group3:
                # What no other flow of received packets matches arrives unchanged: frames of lines of sent ones.
                for flow in ("0 ingress pattern eth / end actions jump group 3 / end",
                             "1 egress pattern eth / end actions jump group 3 / end",
                             "0 group 3 priority 1 ingress pattern eth / end actions queue index 0 / end"):
                    check("created" in t.cmd(f"flow create {flow}"), flow)
            t.cmd("start")
            played, wanted, refused, wrong = play(t, stock_items.Ports(t), variant)
            t.cmd("stop")
            t.cmd("flow flush 0")
            t.cmd("flow flush 1")
            _, report = t.end()
        got = replay.sent()
    check("audit: 0 left" in report.text or "audit: clean" in report.text, report.text)
    check(len(got) == len(wanted), f"{variant.name}: {len(got)} of {len(wanted)} frames are forwarded")
    wrong += [f"{variant.name}: {name}: {difference(g, w)}"
              for name, g, w in zip(played, got, wanted) if w not in (None, g)]
    print(f"{variant.name}: {len(played)} lines, {len(refused)} refused")
    for name, why in refused.items():
        print(f"  refused: {name}: {why}")
    return len(played), wrong


def modified(setup):
    results = [variant_run(setup, variant) for variant in VARIANTS]
    wrong = [text for _, texts in results for text in texts]
    for text in wrong:
        print(text)
    check(not wrong, f"{len(wrong)} frames are wrong: {wrong[:1]}")
    return sum(n for n, _ in results)


CASES = [
    Case("flow-modify", "rte_flow: actions that change packets, by their bytes", modified,
         "on cqe.write do set field=byte_cnt value=60"),
]
