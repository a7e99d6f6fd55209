# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Receive-side scaling worked out once more: headers by scapy, Toeplitz here."""
import ipaddress
import struct

import conform  # noqa: F401  (puts the shared modules on the path)
from scapy.all import IP, TCP, UDP, Ether, IPv6

# The keys of DPDK's mlx5 and of Microsoft's RSS verification suite.
KEY_MLX5 = bytes.fromhex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59"
                         "063c25f3fc1fdc2a")
KEY_MICROSOFT = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c"
                              "6a42b73bbeac01fa")


def toeplitz(key, data):
    """32 bits: for each bit of the input that is 1, the key's 32 bits that begin there."""
    bits = int.from_bytes(key, "big")
    width, result = len(key) * 8, 0
    for n in range(len(data) * 8):
        if data[n // 8] >> (7 - n % 8) & 1:
            result ^= bits >> (width - 32 - n) & 0xffffffff
    return result


assert toeplitz(KEY_MICROSOFT, bytes.fromhex("420995bba18e64500aea06e6")) == 0x51ccc178


def hash_input(frame, l3=("src", "dst"), l4=("src", "dst")):
    """Addresses and ports of a frame as they are hashed; b"" for what has none."""
    p = Ether(frame)
    ip = p.getlayer(IP) or p.getlayer(IPv6)
    if ip is None:
        return b""
    data = b"".join(ipaddress.ip_address(getattr(ip, which)).packed for which in l3)
    ports = p.getlayer(UDP) or p.getlayer(TCP)
    if ports is not None:
        data += b"".join(struct.pack(">H", {"src": ports.sport, "dst": ports.dport}[which])
                         for which in l4)
    return data


def spread(frames, counts, key, queues, **which):
    """How many of the frames each queue gets; counts[n] is how often frame n is sent."""
    out = dict.fromkeys(range(max(queues) + 1), 0)
    for frame, count in zip(frames, counts):
        out[queues[toeplitz(key, hash_input(frame, **which)) % len(queues)]] += count
    return out
