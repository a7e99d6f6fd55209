# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Frames that the cases send in, made with scapy and addressed to port 0."""
import conform  # noqa: F401  (puts the shared modules on the path)
from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw

DST, SRC = "0c:42:a1:4e:d0:00", "02:00:00:00:00:01"


def _fill(packet, size):
    return bytes(packet / Raw(b"\x5a" * max(0, size - len(packet))))


def udp_flows(count, size=60, vlan=None, dport=9):
    """UDP over IPv4; addresses and ports differ from frame to frame."""
    out = []
    for n in range(count):
        p = Ether(dst=DST, src=SRC)
        if vlan is not None:
            p /= Dot1Q(vlan=vlan)
        p /= IP(src=f"10.{n >> 8 & 255}.{n & 255}.1", dst="10.1.0.1") / \
            UDP(sport=1024 + n, dport=dport)
        out.append(_fill(p, size))
    return out


def tcp_flows(count, size=60):
    return [_fill(Ether(dst=DST, src=SRC) / IP(src=f"10.2.{n >> 8 & 255}.{n & 255}",
                                               dst="10.1.0.1") /
                  TCP(sport=2048 + n, dport=80, seq=n * 1000, flags="A"), size)
            for n in range(count)]


def udp6_flows(count, size=80):
    return [_fill(Ether(dst=DST, src=SRC) / IPv6(src=f"2001:db8::{n:x}", dst="2001:db8:1::1") /
                  UDP(sport=3072 + n, dport=9), size) for n in range(count)]


def repeats(frames, total):
    """How often each frame is sent when these are repeated until there are total."""
    whole, rest = divmod(total, len(frames))
    return [whole + (n < rest) for n in range(len(frames))]
