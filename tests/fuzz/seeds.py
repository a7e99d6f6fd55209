#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Writes first inputs for the fuzz targets that a fuzzer would not find soon by itself.

Usage: tests/fuzz/seeds.py DIR      (folders DIR/frame, DIR/rules, DIR/cmd, DIR/wqe, DIR/qp, DIR/ctl)
"""
import struct
import sys
from pathlib import Path

from scapy.all import (ARP, Dot1Q, Ether, GRE, ICMP, ICMPv6EchoRequest, IP, IPv6, IPv6ExtHdrDestOpt,
                       IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPOption_NOP, Raw, SCTP, TCP, UDP)
from scapy.layers.vxlan import VXLAN

RULES = """\
on cmd.entry match op=CREATE_SQ after 3 count 1 do fail status=NO_RESOURCES syndrome=0x12345
on cmd.exit match op=QUERY_HCA_CAP do set field=capability.cmd_hca_cap.log_max_cq value=0
on cqe.write match q=rx0 every 1000 do corrupt off=0x3f xor=0x01
on cqe.write match q=tx1 port=1 count 1 do error syndrome=0x05 vendor=0x12
on wqe.fetch match sqn=0x41 opcode=0x0a do error syndrome=2
on doorbell match q=tx1 count 1 do drop
on wire.rx do truncate len=40
on wire.tx chance=0.5 do delay us=20
on ioctl match method=DEVX_OBJ_CREATE do fail errno=EINTR
on clock.page do jump ns=-1000000000
on umem.reg after 1 do fail errno=ENOMEM
on eqe.write match type=9 do dup
on cqe.write match q=rx0 after 1000 count 1 do remove
on wire.rx after 10 do link state=down port=0 ms=5
# a comment

on event.fd do drop
"""

REQUESTS = """\
{"cmd": "ledger"}
{"cmd": "audit"}
{"cmd": "counters"}
{"cmd": "fault.add", "rule": "on cqe.write match q=rx0 do drop"}
{"cmd": "fault.list"}
{"cmd": "fault.clear"}
{"cmd": "engine", "run": false}
{"cmd": "engine.step", "polls": 4}
{"cmd": "inject", "port": 0, "frames": 3, "len": 60}
{"cmd": "link", "port": 1, "state": "down"}
{"cmd": "remove", "port": 1}
"""


def frames():
    mac = Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01")
    inner = Ether() / IP() / UDP() / Raw(b"x" * 20)
    return [
        mac / ARP(),
        mac / IP() / TCP() / Raw(b"a" * 10),
        mac / IP(options=[IPOption_NOP()] * 8) / UDP() / Raw(b"b" * 30),
        mac / IP(frag=3) / Raw(b"c" * 30),
        mac / IP() / ICMP(),
        mac / IP() / SCTP(),
        mac / Dot1Q(vlan=5) / IP() / TCP(),
        mac / Dot1Q(vlan=5) / Dot1Q(vlan=6) / IPv6() / UDP(),
        mac / IPv6() / ICMPv6EchoRequest(),
        mac / IPv6() / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / TCP() / Raw(b"d"),
        mac / IPv6() / IPv6ExtHdrFragment(offset=9) / UDP(),
        mac / IP() / UDP(dport=4789) / VXLAN(vni=9) / inner,
        mac / IPv6() / UDP(dport=4789) / VXLAN(vni=9) / Ether() / IPv6() / TCP(),
        mac / IP() / GRE() / IP() / TCP(),
        mac / IP() / IP() / UDP(),
        mac / IP() / IPv6() / UDP(),
        mac / Raw(b"\x00" * 1500),
    ]


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    top = Path(sys.argv[1])
    for i, frame in enumerate(frames()):
        raw = bytes(frame)
        write(top / "frame", f"seed-{i}", bytes([i & 15]) + struct.pack("<H", len(raw)) + raw)
    write(top / "rules", "seed-all", RULES.encode())
    for i, line in enumerate(RULES.splitlines()):
        write(top / "rules", f"seed-{i}", line.encode())
    write(top / "ctl", "seed-all", REQUESTS.encode())
    for i, line in enumerate(REQUESTS.splitlines()):
        write(top / "ctl", f"seed-{i}", line.encode())
    # PD, TIS, CQ, SQ, RQ, TIR of each other: records of kind 1 (lawful) without changes.
    chain = b"".join(bytes([1, kind, a, b, 0]) for kind, a, b in
                     [(0, 0, 0), (5, 0, 0), (1, 4, 5), (2, 4, 0), (4, 7, 0), (3, 0, 0), (6, 7, 7)])
    write(top / "cmd", "seed-chain", chain)
    segment = struct.pack("<IIII", 60 << 24, 0, 0, 0x1000)
    wqe = bytes([0, 2]) + struct.pack("<H", 2) + bytes([0x0A, 8]) + bytes(16) + segment
    for kind in range(4):
        write(top / "wqe", f"seed-send-{kind}", bytes([kind, 4, 1, 0]) + wqe + bytes([2, 6]))
    # A posted buffer on each side, then a SEND of 60 bytes from QP 0 to QP 1.
    write(top / "qp", "seed-send", bytes([0, 3, 1, 0, 3, 0, 0]) + b"\0\0" + bytes([1]) +
          struct.pack("<H", 1) + bytes([0x0A, 8]) + segment + bytes([2, 0, 6]))
    print(f"seeds in {top}")


main()
