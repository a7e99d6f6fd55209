# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Bugs of DPDK's own mlx5 PMD that its maintainers fixed: present in the releases before, absent in those after.

Each case observes the behaviour and compares it with what the installed release has to show. A case fails if a
release with the commit still shows the bug, and also if a release without it does not: then the emulator hides it.
"""
import re
import subprocess

import stocklib
from conform import Case
from e2e import check
from scapy.all import IP, TCP, UDP, Ether, IPv6

MAINLINE = "main"


def dpdk_version():
    """The installed DPDK, as (series, patch): ("24.11", 4)."""
    text = subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True, text=True,
                          check=True).stdout.strip()
    match = re.match(r"(\d+\.\d+)\.(\d+)", text)
    check(match is not None, f"libdpdk has version {text!r}")
    return match.group(1), int(match.group(2))


def has_fix(fixed):
    """Whether the installed release has a commit; fixed: first release of each series, MAINLINE: first of all."""
    series, patch = dpdk_version()
    if [int(n) for n in series.split(".")] >= [int(n) for n in fixed[MAINLINE].split(".")]:
        return True
    return series in fixed and patch >= fixed[series]


def stacks():
    """64 frames, 16 of a kind: completions of one kind after the other share a session."""
    four, six = IP(src="10.0.0.1", dst="10.0.0.2"), IPv6(src="fc00::1", dst="fc00::2")
    kinds = [four / UDP(sport=1, dport=2), four / TCP(sport=1, dport=2), six / UDP(sport=1, dport=2),
             six / TCP(sport=1, dport=2)]
    return [bytes(Ether(dst=stocklib.MAC[0], src="02:00:00:00:00:01") / kind / bytes(20))
            for kind in kinds for _ in range(16)]


def packet_types(setup, form, vector):
    """Packet types that testpmd prints for stacks(), and how many CQEs the device wrote."""
    frames = stacks()
    with stocklib.Replay(frames, len(frames)) as replay:
        with stocklib.testpmd(setup, f"rxq_cqe_comp_en={form},rx_vec_en={vector}",
                              ["--forward-mode=rxonly", "--no-flush-rx"], wires=replay.wires) as t:
            stocklib.took_device(t)
            t.cmd("set verbose 1")
            text = t.watch("start", lambda text: text.count("hw ptype") >= len(frames))
            t.watch("stop", lambda text: "Done." in text)
            report = t.quit()
    return re.findall(r"hw ptype: (.*?)\s+- sw ptype", text), report.port(0, "cqes")


def compressed_types(setup):
    """5654f38eba: the scalar receive function read the header byte of a mini CQE from the byte beside it."""
    fixed = {"23.11": 7, "24.11": 5, "25.11": 1, MAINLINE: "26.03"}
    right, _ = packet_types(setup, 0, 0)
    check(len(right) == 64 and len(set(right)) == 4, f"without compression: {right}")
    for form in (1, 2, 3, 4):
        for vector in (0, 1):
            found, cqes = packet_types(setup, form, vector)
            check(cqes < 64, f"format {form}: {cqes} CQEs for 64 packets")
            bug = form == 4 and vector == 0 and not has_fix(fixed)
            check((found == right) != bug, f"format {form}, rx_vec_en={vector}: {found}, without compression {right}")
    return 9 * 64


CASES = [
    Case("bug-comp-types", "packet types of compressed completions (5654f38eba)", compressed_types,
         "on cqe.write do set field=l4_hdr_type value=0"),
]
