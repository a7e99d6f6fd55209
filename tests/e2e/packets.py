# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Frames for the metadata test: packet types, sizes, good and bad checksums, VLAN tags."""
import random

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, fragment
from scapy.layers.inet6 import (ICMPv6EchoRequest, IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                                PadN, fragment6)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

DST, SRC = "02:00:00:00:00:02", "02:00:00:00:00:01"


def _payload(rng, size):
    return Raw(rng.randbytes(size))


def _l3l4(rng):
    """Every (network layer, transport layer) pair with random addresses and ports."""
    def v4(**kw):
        return IP(src=f"10.{rng.randrange(256)}.{rng.randrange(256)}.1",
                  dst=f"192.0.2.{rng.randrange(1, 255)}", **kw)

    def v6():
        return IPv6(src=f"2001:db8::{rng.randrange(1, 65535):x}",
                    dst=f"2001:db8:1::{rng.randrange(1, 65535):x}")

    def ports():
        return {"sport": rng.randrange(1024, 65535), "dport": rng.randrange(1024, 65535)}

    yield v4() / TCP(**ports())
    yield v4() / UDP(**ports())
    yield v4() / ICMP()
    yield v4(options=[IPOption_NOP()] * 4) / TCP(**ports())
    yield v4(options=[IPOption_NOP()] * 8) / UDP(**ports())
    yield v6() / TCP(**ports())
    yield v6() / UDP(**ports())
    yield v6() / ICMPv6EchoRequest()
    yield v4(proto=253)
    yield v6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0\0\0\0")])


def _spoil(frame, layer, field):
    frame = Ether(bytes(frame))
    frame[layer].setfieldval(field, frame[layer].getfieldval(field) ^ 0x1234)
    return frame


def _fragments(rng):
    big = IP(src="10.1.1.1", dst="192.0.2.9", id=7) / UDP(sport=1, dport=2) / _payload(rng, 3000)
    yield from (Ether(dst=DST, src=SRC) / f for f in fragment(big, fragsize=1000))
    big6 = (IPv6(src="2001:db8::1", dst="2001:db8::2") / IPv6ExtHdrFragment(id=9) /
            UDP(sport=1, dport=2) / _payload(rng, 3000))
    yield from (Ether(dst=DST, src=SRC) / f for f in fragment6(big6, 1280))


def frames(seed=1):
    """A list of frames as bytes, each at least 60 bytes long."""
    rng = random.Random(seed)
    out = []
    for size in (0, 1, 7, 18, 64, 200, 511, 512, 1000, 1400):
        for stack in _l3l4(rng):
            plain = Ether(dst=DST, src=SRC) / stack / _payload(rng, size)
            out.append(plain)
            out.append(Ether(dst=DST, src=SRC) / Dot1Q(vlan=rng.randrange(1, 4095)) / stack /
                       _payload(rng, size))
            if IP in plain:
                out.append(_spoil(plain, IP, "chksum"))
            for layer in (TCP, UDP):
                if layer in plain:
                    out.append(_spoil(plain, layer, "chksum"))
    out += _fragments(rng)
    out.append(Ether(dst="ff:ff:ff:ff:ff:ff", src=SRC) / ARP(pdst="192.0.2.1"))
    out.append(Ether(dst=DST, src=SRC, type=0x88cc) / _payload(rng, 50))
    out.append(Ether(dst=DST, src=SRC) / IP(src="10.0.0.1", dst="10.0.0.2") /
               UDP(sport=5, dport=6, chksum=0) / _payload(rng, 100))
    return [bytes(f).ljust(60, b"\0") for f in out]
