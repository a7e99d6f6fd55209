# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's bonding, unmodified, in LACP mode with dedicated queues: a flow of its own takes slow protocols to them."""
import copy
import os

import stocklib
from conform import Case
from e2e import check, testlib
from frames import udp_flows
from scapy.all import Ether

# Fewer than the bond has descriptors for.
LACPS = 20
QUEUES = 2  # The bond has these; the next one is that of LACP.
# IEEE 802.3, 57A: slow protocols, subtype 1 LACP, and one that the bond leaves alone.
LACP = bytes(Ether(dst="01:80:c2:00:00:02", src="02:00:00:00:00:01", type=0x8809) / bytes([1, 1] + [0] * 108))
# testpmd's words before and since DPDK 23.11.
WORDS = [("bonded", "slave"), ("bonding", "member")]


def bond_made(t):
    """A bond of ports 0 and 1 as port 2, started."""
    for port in (0, 1):
        t.cmd(f"port stop {port}")
    for bonding, member in WORDS:
        text = t.cmd(f"create {bonding} device 4 0")
        if "Created new" in text:
            break
    check("Created new" in text, text)
    for port in (0, 1):
        text = t.cmd(f"add bonding {member} {port} 2")
        check("ailed" not in text and "Bad" not in text, text)
    text = t.cmd("set bonding lacp dedicated_queues 2 enable")
    check("queues for LACP control packets enabled" in text, text)
    text = t.cmd("port start 2")
    check("Port 2: " in text and "ail" not in text, text)


def injected(t, frames):
    path = os.path.join(t.work.name, "frames.pcap")
    stocklib.pcap_repeat(path, frames, len(frames))
    sent = t.ctl("inject", "port=0", f"frames={len(frames)}", f"file={path}")
    check(sent["frames"] == len(frames), sent)


def taken(t):
    """Packets that port 0 received: at the queue of LACP, at others."""
    x = t.xstats(0)
    of = [x[f"rx_q{q}_packets"] for q in range(QUEUES + 1)]
    return of[QUEUES], sum(of[:QUEUES])


def lacp(setup, own, isolated):
    these = copy.copy(setup)
    these.own = own
    frames = udp_flows(200, 60)
    with stocklib.testpmd(these, "", [f"--rxq={QUEUES}", f"--txq={QUEUES}", "--forward-mode=rxonly",
                                      *["--flow-isolate-all"] * isolated], wires=["0=loop", "1=loop"]) as t:
        bond_made(t)
        t.cmd("set portlist 2")
        t.cmd("start")
        before = taken(t)
        injected(t, frames + [LACP] * LACPS)
        others = 0 if isolated else len(frames)
        testlib.await_until(lambda: sum(taken(t)) - sum(before) >= LACPS + others, 20)
        found = [b - a for a, b in zip(before, taken(t))]
        t.cmd("stop")
        t.quit()
    # The bond's own packets come back, too.
    check(LACPS <= found[0] < LACPS + 20 and found[1] == others,
          f"own {own}, isolated {isolated}: {found} packets at the queue of LACP and others, not {LACPS} and {others}")
    print(f"own {own}, isolated {isolated}: {found[0]} packets at the queue of LACP, {found[1]} at others")
    return sum(found)


def dedicated_queues(setup):
    return sum(lacp(setup, own, isolated) for isolated in (False, True) for own in (False, True))


CASES = [
    Case("flow-bond", "bonding in LACP mode: dedicated queues, by the bond's flow", dedicated_queues,
         "on wire.rx do corrupt off=13 xor=1"),
]
