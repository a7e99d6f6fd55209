# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Packet type, checksum state and RSS hash of a packet, computed with scapy.

Independent of driver and emulator: hash and checksums follow their public definitions.
"""
import ipaddress

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, in6_chksum
from scapy.layers.l2 import Dot1Q, Ether
from scapy.utils import checksum


def toeplitz(key, data):
    """Toeplitz hash (Microsoft, "RSS Hashing Functions"): XOR of the key's windows at the set bits of the input."""
    window = int.from_bytes(key, "big")
    bits = len(key) * 8
    result = 0
    for i in range(len(data) * 8):
        if data[i // 8] & (0x80 >> (i % 8)):
            result ^= (window >> (bits - 32 - i)) & 0xffffffff
    return result


class Expected:
    """The expected metadata of a frame that was received without VLAN stripping."""

    def __init__(self, frame):
        self.frame = frame
        self.ether = Ether(frame)
        self.vlan = Dot1Q in self.ether
        inner = self.ether
        while isinstance(inner, (Ether, Dot1Q)):
            inner = inner.payload
        self.l3 = inner if isinstance(inner, (IP, IPv6)) else None
        self.fragment = self._fragment()
        self.l4 = None if self.l3 is None or self.fragment else self._l4()

    def _fragment(self):
        if isinstance(self.l3, IP):
            return bool(self.l3.flags.MF) or self.l3.frag != 0
        return isinstance(self.l3, IPv6) and IPv6ExtHdrFragment in self.l3

    def _l4(self):
        for layer in (TCP, UDP):
            if layer in self.l3 and isinstance(self.l3.payload, layer):
                return self.l3[layer]
        return None

    @property
    def l3_name(self):
        return {IP: "IPV4", IPv6: "IPV6"}.get(type(self.l3))

    @property
    def l4_name(self):
        if self.fragment:
            return "FRAG"
        return {TCP: "TCP", UDP: "UDP"}.get(type(self.l4))

    @property
    def ip_checksum_good(self):
        """None: the packet has no IP header checksum."""
        if not isinstance(self.l3, IP):
            return None
        return checksum(bytes(self.l3)[:self.l3.ihl * 4]) == 0

    @property
    def l4_checksum_good(self):
        """None: no complete TCP or UDP segment, or a UDP checksum of 0, which means none (RFC 768)."""
        if self.l4 is None or (isinstance(self.l4, UDP) and self.l4.chksum == 0):
            return None
        if isinstance(self.l3, IP):
            segment = bytes(self.l3)[self.l3.ihl * 4:self.l3.len]
            pseudo = (ipaddress.ip_address(self.l3.src).packed +
                      ipaddress.ip_address(self.l3.dst).packed +
                      bytes([0, self.l3.proto]) + len(segment).to_bytes(2, "big"))
            return checksum(pseudo + segment) == 0
        segment = bytes(self.l3)[40:40 + self.l3.plen]
        return in6_chksum(self.l3.nh, self.l3, segment) == 0

    def rss_hash(self, key):
        """None: not IP, no hash."""
        if self.l3 is None:
            return None
        data = (ipaddress.ip_address(self.l3.src).packed +
                ipaddress.ip_address(self.l3.dst).packed)
        if self.l4 is not None:
            data += self.l4.sport.to_bytes(2, "big") + self.l4.dport.to_bytes(2, "big")
        return toeplitz(key, data)
